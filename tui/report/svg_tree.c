/* Two treemaps side by side as SVG text: the area of a group's tile is its share of the bytes in
 * the left one and of the money in the right one. Tiles are laid out squarified (Bruls, Huizing,
 * van Wijk, "Squarified Treemaps", 2000): largest first, in rows along the shorter side of what is
 * left, a row being closed when one more tile would make its worst tile longer. */
#include "doc.h"
#include "gputier/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define W    960
#define GAP  16 /* between the maps */
#define WIDE ((W - GAP) / 2.0)
#define HIGH 300.0
#define HEAD 30  /* the title of a map */
#define CELL 7.4 /* of the font of a tile, a wide letter takes two */
#define LINE 15

struct tile {
    size_t index;
    double area, x, y, w, h;
};

static int by_area(const void *a, const void *b)
{
    const struct tile *x = a, *y = b;
    return x->area != y->area ? (x->area < y->area ? 1 : -1)
                              : (x->index > y->index) - (x->index < y->index);
}

/* Of a row of this sum along `side`, the worse of its largest and its smallest tile: how many times
 * as long as wide. */
static double worst(double sum, double largest, double smallest, double side)
{
    double deep = sum / side;
    return fmax(deep * deep / smallest, largest / (deep * deep));
}

/* Fills the rectangle (x, y, w, h), whose area is that of all tiles. */
static void squarify(struct tile *tile, size_t n, double x, double y, double w, double h)
{
    for (size_t at = 0, end; at < n; at = end) {
        double side = fmin(w, h), sum = tile[at].area, along = 0;
        for (end = at + 1; end < n; end++) {
            double more = sum + tile[end].area;
            if (worst(more, tile[at].area, tile[end].area, side) >
                worst(sum, tile[at].area, tile[end - 1].area, side)) {
                break;
            }
            sum = more;
        }
        double deep = side > 0 ? sum / side : 0;
        for (size_t i = at; i < end; i++) {
            double part = deep > 0 ? tile[i].area / deep : 0;
            bool down = w >= h; /* the row is a column at the left end */
            tile[i].x = down ? x : x + along;
            tile[i].y = down ? y + along : y;
            tile[i].w = down ? deep : part;
            tile[i].h = down ? part : deep;
            along += part;
        }
        if (w >= h) {
            x += deep;
            w = fmax(0, w - deep);
        } else {
            y += deep;
            h = fmax(0, h - deep);
        }
    }
}

static void line(struct buf *b, const struct tile *t, const char *kind, int row, const char *text,
                 size_t cells)
{
    struct buf cut;
    buf_init(&cut, 4096);
    text_fit(&cut, text, cells, 0, false);
    buf_addf(b, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\">", kind, t->x + 6,
             t->y + 16 + row * LINE);
    html_escape(b, cut.data ? cut.data : "");
    buf_adds(b, "</text>");
    b->failed = b->failed || cut.failed;
    buf_release(&cut);
}

/* As much as fits, in this order: the letter of its part, its name, its amount. */
static void labels(struct doc *d, struct buf *b, const struct tree_figure *f, const struct tile *t,
                   const char *amount)
{
    size_t of = f->of[t->index];
    const char *kind = of < f->n_parts ? "in" : "b";
    const char *name = f->name[t->index];
    size_t cells = t->w > 10 ? (size_t)((t->w - 10) / CELL) : 0;
    if (cells < 1 || t->h < 20) {
        return;
    }
    if (cells >= 6) {
        line(b, t, kind, 0, of < f->n_parts ? doc_printf(d, "%c %s", f->letter[of], name) : name,
             cells);
    } else if (of < f->n_parts) {
        line(b, t, kind, 0, doc_printf(d, "%c", f->letter[of]), cells);
    }
    if (t->h >= 20 + LINE && cells >= text_width(amount, strlen(amount))) {
        line(b, t, kind, 1, amount, cells);
    }
}

static void one_map(struct doc *d, struct buf *b, const struct tree_figure *f, int m, double top)
{
    const double x = m * (WIDE + GAP), *value = f->map[m].value;
    struct tile *tile = arena_array(d->arena, f->n + 1, sizeof *tile);
    double sum = 0;
    size_t n = 0;
    if (!tile) {
        d->failed = true;
        return;
    }
    for (size_t i = 0; i < f->n; i++) {
        sum += fmax(0, value[i]);
    }
    for (size_t i = 0; i < f->n; i++) {
        if (value[i] > 0) {
            tile[n++] = (struct tile){.index = i, .area = value[i] / sum * WIDE * HIGH};
        }
    }
    qsort(tile, n, sizeof *tile, by_area);
    squarify(tile, n, x, top + HEAD, WIDE, HIGH);
    buf_addf(b, "<text class=\"b\" x=\"%.2f\" y=\"%.2f\">", x, top + 22);
    html_escape(b, f->map[m].title);
    buf_adds(b, "</text>");
    for (size_t i = 0; i < n; i++) {
        const struct tile *t = &tile[i];
        size_t of = f->of[t->index];
        const char *amount = f->map[m].text[t->index];
        buf_adds(b, "<rect class=\"tile ");
        buf_adds(b, of < f->n_parts ? doc_printf(d, "s%zu", of % SVG_COLOURS) : "none");
        buf_addf(b, "\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>", t->x, t->y,
                 t->w, t->h);
        html_escape(b, doc_printf(d, "%s: %s", f->name[t->index], amount));
        buf_adds(b, "</title></rect>");
        labels(d, b, f, t, amount);
    }
}

const char *svg_tree(struct doc *d, const struct tree_figure *f)
{
    struct buf body, maps;
    buf_init(&body, 1 << 22);
    buf_init(&maps, 1 << 22);
    double top = svg_legend(&maps, 0, f->n_parts, f->part, f->letter, NULL);
    one_map(d, &maps, f, 0, top);
    one_map(d, &maps, f, 1, top);
    buf_addf(&body,
             "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" "
             "aria-label=\"",
             W, top + HEAD + HIGH + 2);
    html_escape(&body, f->title);
    buf_adds(&body, "\">");
    buf_adds(&body, maps.data ? maps.data : "");
    buf_adds(&body, "</svg>");
    const char *text = body.failed || maps.failed ? NULL : arena_strdup(d->arena, body.data);
    d->failed = d->failed || !text;
    buf_release(&body);
    buf_release(&maps);
    return text;
}
