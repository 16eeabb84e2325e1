/* HTML writer: one self-contained file, inline style and SVG, no script, no network; prints to A4,
 * follows the reader's light or dark setting; every text escaped. */
#include "doc.h"
#include "gputier/text.h"
#include <string.h>

static const char head[] =
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"generator\" content=\"gputier\">\n<style>\n";

void html_escape(struct buf *out, const char *s)
{
    struct buf safe;
    buf_init(&safe, 0x7fffffff);
    text_safe(&safe, s, strlen(s), false);
    for (const char *p = safe.data ? safe.data : ""; *p; p++) {
        switch (*p) {
        case '&':
            buf_adds(out, "&amp;");
            break;
        case '<':
            buf_adds(out, "&lt;");
            break;
        case '>':
            buf_adds(out, "&gt;");
            break;
        case '"':
            buf_adds(out, "&quot;");
            break;
        default:
            buf_addc(out, *p);
        }
    }
    out->failed = out->failed || safe.failed;
    buf_release(&safe);
}

static void element(struct buf *out, const char *tag, const char *class_name, const char *text)
{
    buf_addf(out, class_name ? "<%s class=\"%s\">" : "<%s>", tag, class_name);
    html_escape(out, text);
    buf_addf(out, "</%s>\n", tag);
}

static const char *cell_class(const struct doc_block *b, size_t i)
{
    return b->title[i][0] == '>' ? " class=\"n\"" : b->title[i][0] == '!' ? " class=\"o\"" : "";
}

static void table_head(struct buf *out, const struct doc_block *b)
{
    buf_adds(out, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"");
    html_escape(out, b->text);
    buf_adds(out, "\"><table><caption>");
    html_escape(out, b->text);
    buf_adds(out, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < b->columns; i++) {
        buf_addf(out, "<th scope=\"col\"%s>", cell_class(b, i));
        html_escape(out, doc_title(b, i));
        buf_adds(out, "</th>");
    }
    buf_adds(out, "</tr></thead>\n<tbody>\n");
}

static void table(struct buf *out, const struct doc_block *b)
{
    static const char *const row[] = {"<tr>", "<tr class=\"total\">", "<tr class=\"pick\">"};
    table_head(out, b);
    for (size_t r = 0; r < b->rows; r++) {
        buf_adds(out, row[b->mark[r]]);
        for (size_t i = 0; i < b->columns; i++) {
            const char *tag = i ? "td" : "th";
            buf_addf(out, "<%s%s%s>", tag, i ? "" : " scope=\"row\"", cell_class(b, i));
            html_escape(out, b->cell[r * b->columns + i]);
            buf_addf(out, "</%s>", tag);
        }
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out, "</tbody></table></div>\n");
}

/* Key figures stand beside each other like cards. */
static void facts(struct buf *out, const struct doc_block *b)
{
    buf_adds(out, "<dl class=\"facts\">\n");
    for (size_t r = 0; r < b->rows; r++) {
        const char **cell = &b->cell[r * b->columns];
        buf_adds(out, b->mark[r] == ROW_CHOSEN ? "<div class=\"pick\"><dt>" : "<div><dt>");
        html_escape(out, cell[0]);
        buf_adds(out, "</dt><dd class=\"v\">");
        html_escape(out, cell[1]);
        buf_adds(out, "</dd><dd class=\"w\">");
        html_escape(out, cell[2]);
        buf_adds(out, "</dd></div>\n");
    }
    buf_adds(out, "</dl>\n");
}

static void one_block(struct buf *out, const struct doc_block *b)
{
    static const char *const heading[] = {"h1", "h1", "h2", "h3"};
    switch (b->kind) {
    case DOC_HEADING:
        element(out, heading[b->level], NULL, b->text);
        break;
    case DOC_PARAGRAPH:
        element(out, "p", NULL, b->text);
        break;
    case DOC_LEAD:
        element(out, "p", "lead", b->text);
        break;
    case DOC_SMALL:
        element(out, "p", "small", b->text);
        break;
    case DOC_ITEM:
        element(out, "li", NULL, b->text);
        break;
    case DOC_FACTS:
        facts(out, b);
        break;
    case DOC_TABLE:
        table(out, b);
        break;
    case DOC_FIGURE:
        if (b->svg) {
            buf_addf(out, "<figure>");
            buf_adds(out, b->svg);
            buf_adds(out, "<figcaption>");
            html_escape(out, b->text);
            buf_adds(out, "</figcaption></figure>\n");
        }
        break;
    }
}

static void body(const struct doc *d, struct buf *out)
{
    bool in_list = false;
    for (const struct doc_block *b = d->first; b; b = b->next) {
        if (in_list != (b->kind == DOC_ITEM)) {
            buf_adds(out, in_list ? "</ul>\n" : "<ul>\n");
            in_list = !in_list;
        }
        one_block(out, b);
    }
    buf_adds(out, in_list ? "</ul>\n" : "");
}

int report_html(const struct doc *d, struct buf *out)
{
    if (d->failed) {
        return GT_ENOMEM;
    }
    buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    element(out, "title", NULL, d->title);
    buf_adds(out, head);
    buf_adds(out, report_style);
    buf_adds(out, "</style>\n</head>\n<body>\n<main>\n");
    body(d, out);
    buf_adds(out, "</main>\n<footer>Made by gputier. An estimate before tax from the price rows "
                  "named here; not an offer of any vendor.</footer>\n</body>\n</html>\n");
    return out->failed ? GT_ELIMIT : 0;
}
