/* Cost by component as SVG text: horizontal bars with their amounts. */
#include "doc.h"
#include <math.h>
#include <string.h>

#define W      960
#define LABELS 180 /* room of the names on the left */
#define ROOM   580 /* of the longest bar */
#define ROW    28

const char *svg_components(struct doc *d, const struct plan *p)
{
    money shown[COMP_COUNT];
    double most = 0, y = 6;
    int rows = 0;
    struct buf b;
    for (int c = 0; c < COMP_COUNT; c++) {
        most = fmax(most, money_to_double(p->component[c]));
        rows += p->component[c] != 0;
    }
    if (!(most > 0) || plan_shown(p, shown, NULL)) {
        return NULL;
    }
    buf_init(&b, 1 << 20);
    buf_addf(&b,
             "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Cost by component\" "
             "xmlns=\"http://www.w3.org/2000/svg\">",
             W, rows * ROW + 8);
    for (int c = 0; c < COMP_COUNT; c++) {
        double v = money_to_double(p->component[c]), w = fmax(1.5, v / most * ROOM);
        if (p->component[c] == 0) {
            continue;
        }
        buf_addf(&b, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LABELS - 10, y + 15);
        html_escape(&b, doc_words(d, component_name((enum component)c)));
        buf_addf(&b, "</text><rect class=\"s0\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"20\"/>",
                 LABELS, y, v > 0 ? w : 1.5);
        buf_addf(&b, "<text x=\"%.1f\" y=\"%.0f\">", LABELS + w + 8, y + 15);
        html_escape(&b, doc_amount(d, shown[c], p->currency));
        buf_addf(&b, "<tspan class=\"dim\">  %.1f %%</tspan></text>",
                 100 * v / money_to_double(p->total));
        y += ROW;
    }
    buf_adds(&b, "</svg>");
    const char *s = b.data ? arena_strdup(d->arena, b.data) : NULL;
    d->failed = d->failed || !s;
    buf_release(&b);
    return s;
}
