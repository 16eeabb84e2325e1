/* Figures of a report as SVG text: cost against time with the Pareto front, cost by component. */
#include "doc.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define W      640
#define H      300
#define LEFT   70
#define RIGHT  20
#define TOP    15
#define BOTTOM 45

struct axis {
    double lo, hi, step;
};

/* A round step with about five ticks. */
static struct axis axis_for(double lo, double hi)
{
    double span = hi > lo ? hi - lo : fmax(fabs(hi), 1);
    double raw = span / 5, mag = pow(10, floor(log10(raw))), step = mag;
    static const double mult[] = {1, 2, 5, 10};
    for (int i = 0; i < 4 && step * 1.0001 < raw; i++) {
        step = mult[i] * mag;
    }
    struct axis a = {floor(lo / step) * step, ceil(hi / step) * step, step};
    if (a.hi <= a.lo) {
        a.hi = a.lo + step;
    }
    return a;
}

static double x_of(const struct axis *a, double v)
{
    return LEFT + (v - a->lo) / (a->hi - a->lo) * (W - LEFT - RIGHT);
}
static double y_of(const struct axis *a, double v)
{
    return H - BOTTOM - (v - a->lo) / (a->hi - a->lo) * (H - TOP - BOTTOM);
}

static void axes(struct buf *b, const struct axis *x, const struct axis *y, const char *xt,
                 const char *yt)
{
    for (double v = y->lo; v <= y->hi + y->step / 2; v += y->step) {
        double p = y_of(y, v);
        buf_addf(b, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
                 W - RIGHT, p, p);
        buf_addf(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>", LEFT - 6, p + 4, v);
    }
    for (double v = x->lo; v <= x->hi + x->step / 2; v += x->step) {
        buf_addf(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>", x_of(x, v),
                 H - BOTTOM + 16, v);
    }
    buf_addf(b, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", LEFT, W - RIGHT,
             H - BOTTOM, H - BOTTOM);
    buf_addf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", (W + LEFT) / 2, H - 8,
             xt);
    buf_addf(
        b,
        "<text x=\"14\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 14 %d)\">%s</text>",
        H / 2, H / 2, yt);
}

static void range_of(const struct plan *p, size_t n, double *x, double *y)
{
    for (size_t i = 0; i < n; i++) {
        double h = p[i].makespan_mean_s / 3600, c = money_to_double(p[i].total);
        x[0] = fmin(x[0], h);
        x[1] = fmax(x[1], h);
        y[0] = fmin(y[0], c);
        y[1] = fmax(y[1], c);
    }
}

const char *svg_pareto(struct doc *d, const struct plan_set *set, size_t chosen)
{
    double xr[2] = {INFINITY, 0}, yr[2] = {INFINITY, 0};
    struct buf b;
    range_of(set->plan, set->n, xr, yr);
    range_of(set->front, set->n_front, xr, yr);
    if (!(xr[0] <= xr[1])) {
        return NULL;
    }
    struct axis x = axis_for(0, xr[1]), y = axis_for(0, yr[1]);
    char cost_title[32];
    snprintf(cost_title, sizeof cost_title, "cost, %.3s", set->currency ? set->currency : "");
    buf_init(&b, 1 << 20);
    buf_addf(&b, "<svg viewBox=\"0 0 %d %d\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">", W,
             H);
    axes(&b, &x, &y, "expected time to finish, hours", cost_title);
    for (size_t i = 0; i < set->n_front; i++) {
        const struct plan *p = &set->front[i];
        buf_addf(&b, "<circle class=\"s0\" r=\"4\" cx=\"%.1f\" cy=\"%.1f\"/>",
                 x_of(&x, p->makespan_mean_s / 3600), y_of(&y, money_to_double(p->total)));
    }
    for (size_t i = 0; i < set->n; i++) { /* squares: a second cue beside the colour */
        const struct plan *p = &set->plan[i];
        double px = x_of(&x, p->makespan_mean_s / 3600), py = y_of(&y, money_to_double(p->total));
        buf_addf(&b, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"/>",
                 i == chosen ? "s1" : "s2", px - 3.5, py - 3.5);
        if (i == chosen || i < 3) {
            buf_addf(&b, "<text x=\"%.1f\" y=\"%.1f\">%d</text>", px + 7, py - 5, p->rank);
        }
    }
    buf_adds(&b, "</svg>");
    const char *s = b.data ? arena_strdup(d->arena, b.data) : NULL;
    buf_release(&b);
    return s;
}

const char *svg_components(struct doc *d, const struct plan *p)
{
    double most = 0, y = 8;
    int shown = 0;
    struct buf b;
    for (int c = 0; c < COMP_COUNT; c++) {
        most = fmax(most, money_to_double(p->component[c]));
        shown += p->component[c] != 0;
    }
    if (!(most > 0)) {
        return NULL;
    }
    buf_init(&b, 1 << 20);
    buf_addf(&b, "<svg viewBox=\"0 0 %d %d\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">", W,
             shown * 24 + 12);
    for (int c = 0; c < COMP_COUNT; c++) {
        double v = money_to_double(p->component[c]);
        char amount[MONEY_TEXT];
        if (p->component[c] == 0) {
            continue;
        }
        money_format_fixed(p->component[c], money_minor_digits(p->currency), true, amount);
        buf_addf(&b, "<text x=\"150\" y=\"%.0f\" text-anchor=\"end\">%s</text>", y + 13,
                 component_name((enum component)c));
        buf_addf(&b, "<rect class=\"s0\" x=\"158\" y=\"%.0f\" width=\"%.1f\" height=\"16\"/>", y,
                 fmax(1, v / most * 370));
        buf_addf(&b, "<text x=\"%.1f\" y=\"%.0f\">%s</text>", 164 + fmax(1, v / most * 370), y + 13,
                 amount);
        y += 24;
    }
    buf_adds(&b, "</svg>");
    const char *s = b.data ? arena_strdup(d->arena, b.data) : NULL;
    buf_release(&b);
    return s;
}
