/* HTML writer: one self-contained file, inline style and SVG, no script, no network; prints to A4,
 * follows the reader's light or dark setting; every text escaped. */
#include "doc.h"
#include "gputier/text.h"
#include <string.h>

static const char head[] =
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<style>\n"
    ":root{color-scheme:light "
    "dark;--fg:#1b1f24;--bg:#fff;--dim:#5b6570;--line:#d5dae0;--s0:#0b62a8;--s1:#c4570b;"
    "--s2:#2c7a51;--s3:#7a4fa3;--band:#f3f5f8}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#e4e8ec;--bg:#14171b;--dim:#9aa4af;--line:#"
    "343b43;--s0:#6cb4ee;"
    "--s1:#f0a060;--s2:#71c99a;--s3:#c3a1e8;--band:#1d2127}}\n"
    "body{font:15px/1.5 system-ui,'Noto Sans','Noto Sans CJK "
    "SC',sans-serif;color:var(--fg);background:var(--bg);"
    "max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:2rem 0 "
    ".5rem;border-bottom:1px solid "
    "var(--line)}h3{font-size:1rem}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-"
    "numeric:"
    "tabular-nums}\n"
    "caption{text-align:left;color:var(--dim);padding:.3rem 0}th,td{padding:.25rem "
    ".5rem;border-bottom:1px solid "
    "var(--line);text-align:left;vertical-align:top}\n"
    "th{background:var(--band)}.n{text-align:right;white-space:nowrap}figure{margin:1rem 0}"
    "figcaption{color:var(--dim);font-size:.86rem}svg{max-width:100%;height:auto}\n"
    "svg text{fill:var(--fg);font:12px "
    "system-ui,sans-serif}.axis{stroke:var(--dim)}.grid{stroke:var(--line)}"
    ".s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.front{fill:none;"
    "stroke:var(--s0)}\n"
    "@media "
    "print{body{margin:0;max-width:none;font-size:10pt}h2{break-after:avoid}tr,figure{break-inside:"
    "avoid}}"
    "@page{size:A4;margin:15mm}\n"
    "</style>\n";

static void escaped(struct buf *out, const char *s)
{
    struct buf safe;
    buf_init(&safe, 1 << 16);
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
    buf_release(&safe);
}

static void element(struct buf *out, const char *tag, const char *text)
{
    buf_addf(out, "<%s>", tag);
    escaped(out, text);
    buf_addf(out, "</%s>\n", tag);
}

static void table(struct buf *out, const struct doc_block *b)
{
    buf_adds(out, "<div class=\"wide\"><table><caption>");
    escaped(out, b->text);
    buf_adds(out, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < b->columns; i++) {
        bool number = b->title[i][0] == '>';
        buf_adds(out, number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        escaped(out, b->title[i] + number);
        buf_adds(out, "</th>");
    }
    buf_adds(out, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < b->rows; r++) {
        buf_adds(out, "<tr>");
        for (size_t i = 0; i < b->columns; i++) {
            buf_adds(out, b->title[i][0] == '>' ? "<td class=\"n\">" : "<td>");
            escaped(out, b->cell[r * b->columns + i]);
            buf_adds(out, "</td>");
        }
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out, "</tbody></table></div>\n");
}

static void body(const struct doc *d, struct buf *out)
{
    static const char *const tag[] = {"h1", "h1", "h2", "h3"};
    bool in_list = false;
    for (const struct doc_block *b = d->first; b; b = b->next) {
        if (in_list != (b->kind == DOC_ITEM)) {
            buf_adds(out, in_list ? "</ul>\n" : "<ul>\n");
            in_list = !in_list;
        }
        switch (b->kind) {
        case DOC_HEADING:
            element(out, tag[b->level], b->text);
            break;
        case DOC_PARAGRAPH:
            element(out, "p", b->text);
            break;
        case DOC_ITEM:
            element(out, "li", b->text);
            break;
        case DOC_TABLE:
            table(out, b);
            break;
        case DOC_FIGURE:
            buf_addf(out, "<figure>%s<figcaption>", b->svg ? b->svg : "");
            escaped(out, b->text);
            buf_adds(out, "</figcaption></figure>\n");
            break;
        }
    }
    buf_adds(out, in_list ? "</ul>\n" : "");
}

int report_html(const struct doc *d, struct buf *out)
{
    if (d->failed) {
        return GT_ENOMEM;
    }
    buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    element(out, "title", d->title);
    buf_adds(out, head);
    buf_adds(out, "</head>\n<body>\n<main>\n");
    body(d, out);
    buf_adds(out, "</main>\n</body>\n</html>\n");
    return out->failed ? GT_ELIMIT : 0;
}
