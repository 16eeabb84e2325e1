/* Markdown writer: GitHub tables; characters that would be markup are escaped. */
#include "doc.h"
#include "gputier/text.h"
#include <string.h>

static void escaped(struct buf *out, const char *s)
{
    struct buf safe;
    buf_init(&safe, 1 << 16);
    text_safe(&safe, s, strlen(s), false);
    for (const char *p = safe.data ? safe.data : ""; *p; p++) {
        if (strchr("|*_`<>[]\\#", *p)) {
            buf_addc(out, '\\');
        }
        buf_addc(out, *p);
    }
    buf_release(&safe);
}

static void table(struct buf *out, const struct doc_block *b)
{
    buf_adds(out, "\n|");
    for (size_t i = 0; i < b->columns; i++) {
        buf_addc(out, ' ');
        escaped(out, b->title[i] + (b->title[i][0] == '>'));
        buf_adds(out, " |");
    }
    buf_adds(out, "\n|");
    for (size_t i = 0; i < b->columns; i++) {
        buf_adds(out, b->title[i][0] == '>' ? "---:|" : "---|");
    }
    for (size_t r = 0; r < b->rows; r++) {
        buf_adds(out, "\n|");
        for (size_t i = 0; i < b->columns; i++) {
            buf_addc(out, ' ');
            escaped(out, b->cell[r * b->columns + i]);
            buf_adds(out, " |");
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
        case DOC_PARAGRAPH:
            escaped(out, b->text);
            buf_adds(out, "\n\n");
            break;
        case DOC_ITEM:
            buf_adds(out, "- ");
            escaped(out, b->text);
            buf_addc(out, '\n');
            break;
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
