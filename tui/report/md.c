/* Markdown writer: GitHub tables; characters that would be markup are escaped. */
#include "doc.h"
#include "gputier/text.h"
#include <string.h>

/* Backslashes before markup, before the colon of an address (no links from names) and before what
 * would begin a list or a heading at the start of a line. */
static void escaped(struct buf *out, const char *s)
{
    struct buf safe;
    buf_init(&safe, 0x7fffffff);
    text_safe(&safe, s, strlen(s), false);
    const char *text = safe.data ? safe.data : "";
    size_t digits = strspn(text, "0123456789");
    for (const char *p = text; *p; p++) {
        bool start = p == text && strchr("-+=~", *p);
        bool number = digits > 0 && p == text + digits && (*p == '.' || *p == ')') &&
                      (p[1] == ' ' || p[1] == '\0');
        bool address = (*p == ':' && p[1] == '/' && p[2] == '/') ||
                       (*p == '.' && p >= text + 3 && strncmp(p - 3, "www", 3) == 0);
        if (start || number || address || strchr("|*_`<>[]\\#&@$", *p)) {
            buf_addc(out, '\\');
        }
        buf_addc(out, *p);
    }
    out->failed = out->failed || safe.failed;
    buf_release(&safe);
}

static void table(struct buf *out, const struct doc_block *b)
{
    buf_adds(out, "\n|");
    for (size_t i = 0; i < b->columns; i++) {
        buf_addc(out, ' ');
        escaped(out, doc_title(b, i));
        buf_adds(out, " |");
    }
    buf_adds(out, "\n|");
    for (size_t i = 0; i < b->columns; i++) {
        buf_adds(out, b->title[i][0] == '>' ? "---:|" : "---|");
    }
    for (size_t r = 0; r < b->rows; r++) {
        buf_adds(out, "\n|");
        for (size_t i = 0; i < b->columns; i++) {
            const char *text = b->cell[r * b->columns + i];
            const char *bold = b->mark[r] != ROW_PLAIN && text[0] ? "**" : "";
            buf_addf(out, " %s", bold);
            escaped(out, text);
            buf_addf(out, "%s |", bold);
        }
    }
    buf_adds(out, "\n\n");
}

int report_md(const struct doc *d, struct buf *out)
{
    bool in_list = false;
    if (d->failed) {
        return GT_ENOMEM;
    }
    for (const struct doc_block *b = d->first; b; b = b->next) {
        if (in_list && b->kind != DOC_ITEM) {
            buf_addc(out, '\n');
        }
        in_list = b->kind == DOC_ITEM;
        switch (b->kind) {
        case DOC_HEADING:
            for (int i = 0; i < b->level; i++) {
                buf_addc(out, '#');
            }
            buf_addc(out, ' ');
            escaped(out, b->text);
            buf_adds(out, "\n\n");
            break;
        case DOC_LEAD:
            buf_adds(out, "**");
            escaped(out, b->text);
            buf_adds(out, "**\n\n");
            break;
        case DOC_SMALL:
        case DOC_PARAGRAPH:
            escaped(out, b->text);
            buf_adds(out, "\n\n");
            break;
        case DOC_ITEM:
            buf_adds(out, "- ");
            escaped(out, b->text);
            buf_addc(out, '\n');
            break;
        case DOC_FACTS:
        case DOC_TABLE:
            escaped(out, b->text);
            buf_addc(out, '\n');
            table(out, b);
            break;
        case DOC_FIGURE: /* text has no picture; the table beside it carries the figures */
            break;
        }
    }
    return out->failed ? GT_ELIMIT : 0;
}
