/* Amounts over months, stacked, as SVG text: one stepped area a part. A part is told by its colour,
 * its order and its letter, which stands in the area wherever there is room. */
#include "doc.h"
#include "gputier/units.h"
#include <math.h>
#include <string.h>

#define W      960
#define H      300
#define LEFT   84
#define RIGHT  14
#define BOTTOM 40
#define LEGEND 20 /* height of a row of it */

struct stack {
    struct doc *d;
    struct buf b;
    const struct stack_figure *f;
    double most, step, top; /* at the upper end; between ticks; where the areas begin */
    double *under;          /* [month]: the parts drawn so far */
};

static double x_of(const struct stack *s, double month)
{
    return LEFT + month / s->f->months * (W - LEFT - RIGHT);
}
static double y_of(const struct stack *s, double v)
{
    return H + s->top - BOTTOM - v / s->most * (H - BOTTOM - 12);
}

static double part_at(const struct stack *s, size_t k, int t)
{
    double v = s->f->value[k * (size_t)s->f->months + (size_t)t];
    return v > 0 ? v : 0; /* a discount above the rent would leave nothing to draw */
}

/* The largest column, and ticks of 1, 2 or 5 of the unit that people read there. */
static void scale(struct stack *s)
{
    double most = 0, unit = 1;
    for (int t = 0; t < s->f->months; t++) {
        double sum = 0;
        for (size_t k = 0; k < s->f->n; k++) {
            sum += part_at(s, k, t);
        }
        most = fmax(most, fmax(sum, s->f->line ? s->f->line[t] : 0));
    }
    while (!s->f->currency && most >= 1024 * unit) {
        unit *= 1024;
    }
    most = most > 0 ? most : 1;
    s->step = svg_step(most / unit) * unit;
    s->most = ceil(most / s->step - 1e-9) * s->step;
}

static const char *tick(const struct stack *s, double v)
{
    char text[MONEY_TEXT];
    if (s->f->currency) {
        return doc_printf(s->d, "%s", svg_tick(v, text));
    }
    return v > 0 && v < 1.8e19 ? doc_printf(s->d, "%s", size_format((uint64_t)v, text)) : "0";
}

static void axes(struct stack *s)
{
    int every = 1;
    for (double v = 0; v <= s->most * (1 + 1e-9); v += s->step) {
        buf_addf(&s->b, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
                 W - RIGHT, y_of(s, v), y_of(s, v));
        buf_addf(&s->b, "<text class=\"dim\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                 LEFT - 8, y_of(s, v) + 4, tick(s, v));
    }
    while (s->f->months / every > 12) { /* 1, 3, 6, 12, 24, 48 … months */
        every = every == 1 ? 3 : every * 2;
    }
    for (int t = 0; t < s->f->months; t += every) {
        buf_addf(&s->b,
                 "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>",
                 x_of(s, t + 0.5), y_of(s, 0) + 17, t + 1);
    }
    buf_addf(&s->b, "<text class=\"dim\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">month</text>",
             W - RIGHT, y_of(s, 0) + 33);
}

/* The letter stands where a part stays as it is for long and is high enough to hold it. */
static void letter(struct stack *s, size_t k)
{
    const double month = (double)(W - LEFT - RIGHT) / s->f->months;
    double best = 0, x = 0, y = 0;
    for (int t = 0, end; t < s->f->months; t = end) {
        double v = part_at(s, k, t), high = v / s->most * (H - BOTTOM - 12);
        for (end = t + 1; end < s->f->months; end++) {
            double moved = fmax(fabs(part_at(s, k, end) - v), fabs(s->under[end] - s->under[t]));
            if (moved > s->most * 0.01) {
                break;
            }
        }
        double wide = month * (end - t), room = fmin(high, 40) * wide;
        if (high >= 13 && wide >= 11 && room > best) {
            best = room;
            x = x_of(s, (t + end) / 2.0);
            y = y_of(s, s->under[t] + v / 2) + 4.5;
        }
    }
    if (best > 0) {
        buf_addf(&s->b, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x, y);
        html_escape(&s->b, (const char[]){s->f->letter[k], '\0'});
        buf_adds(&s->b, "</text>");
    }
}

/* Upper edge from left to right, lower edge back. */
static void area(struct stack *s, size_t k)
{
    const int n = s->f->months;
    buf_addf(&s->b, "<path class=\"s%zu area\" d=\"M%.1f %.1f", k % SVG_COLOURS, x_of(s, 0),
             y_of(s, s->under[0]));
    double at = -1;
    for (int t = 0; t < n; t++) {
        double v = s->under[t] + part_at(s, k, t);
        if (v != at) {
            buf_addf(&s->b, "H%.1fV%.1f", x_of(s, t), y_of(s, v));
            at = v;
        }
    }
    buf_addf(&s->b, "H%.1f", x_of(s, n));
    for (int t = n; t > 0; t--) {
        if (t == n || s->under[t - 1] != s->under[t]) {
            buf_addf(&s->b, "%sV%.1f", t == n ? "" : doc_printf(s->d, "H%.1f", x_of(s, t)),
                     y_of(s, s->under[t - 1]));
        }
    }
    buf_adds(&s->b, "Z\"/>");
    letter(s, k);
    for (int t = 0; t < n; t++) {
        s->under[t] += part_at(s, k, t);
    }
}

static void line(struct stack *s)
{
    double at = s->f->line[0];
    buf_addf(&s->b, "<path class=\"asis\" d=\"M%.1f %.1f", x_of(s, 0), y_of(s, at));
    for (int t = 1; t < s->f->months; t++) {
        if (s->f->line[t] != at) {
            at = s->f->line[t];
            buf_addf(&s->b, "H%.1fV%.1f", x_of(s, t), y_of(s, at));
        }
    }
    buf_addf(&s->b, "H%.1f\"/>", x_of(s, s->f->months));
}

double svg_legend(struct buf *b, int left, size_t n, const char *const *name, const char *letter,
                  const char *line_name)
{
    double x = left, y = 14;
    for (size_t k = 0; k < n + (line_name != NULL); k++) {
        const char *text = k < n ? name[k] : line_name;
        double need = 42 + 7.4 * (double)strlen(text);
        if (x > left && x + need > W - RIGHT) {
            x = left;
            y += LEGEND;
        }
        if (k < n) {
            buf_addf(b,
                     "<rect class=\"s%zu\" x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"14\"/>"
                     "<text class=\"in\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                     k % SVG_COLOURS, x, y - 11, x + 8, y);
            html_escape(b, (const char[]){letter[k], '\0'});
            buf_adds(b, "</text>");
        } else {
            buf_addf(b, "<path class=\"asis\" d=\"M%.1f %.1fH%.1f\"/>", x, y - 4, x + 16);
        }
        buf_addf(b, "<text x=\"%.1f\" y=\"%.1f\">", x + 22, y);
        html_escape(b, text);
        buf_adds(b, "</text>");
        x += need;
    }
    return y + 4;
}

const char *svg_stack(struct doc *d, const struct stack_figure *f)
{
    struct stack s = {.d = d, .f = f};
    struct buf body;
    if (f->months < 1 || f->n == 0) {
        return NULL;
    }
    s.under = arena_array(d->arena, (size_t)f->months + 1, sizeof *s.under);
    if (!s.under) {
        d->failed = true;
        return NULL;
    }
    buf_init(&s.b, 1 << 22);
    buf_init(&body, 1 << 22);
    scale(&s);
    s.top = svg_legend(&s.b, LEFT, f->n, f->name, f->letter, f->line ? f->line_name : NULL);
    axes(&s);
    for (size_t k = 0; k < f->n; k++) {
        area(&s, k);
    }
    if (f->line) {
        line(&s);
    }
    buf_addf(&body,
             "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" "
             "aria-label=\"",
             W, H + s.top);
    html_escape(&body, f->title);
    buf_addf(&body, "\">%s</svg>", s.b.data ? s.b.data : "");
    const char *text =
        body.data && !body.failed && !s.b.failed ? arena_strdup(d->arena, body.data) : NULL;
    d->failed = d->failed || !text;
    buf_release(&s.b);
    buf_release(&body);
    return text;
}
