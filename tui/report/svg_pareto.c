/* Cost against time as SVG text: the Pareto front, the ranked plans, the recommendation. An axis
 * begins at 0 when that costs little room, is logarithmic when the values spread widely, and says
 * where it begins by its ticks. */
#include "doc.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define W          960
#define H          420
#define LEFT       78
#define RIGHT      24
#define TOP        40
#define BOTTOM     52
#define WIDE       12.0 /* largest / smallest from which on an axis is logarithmic */
#define MAX_LABELS 16

struct axis {
    double lo, hi, step;
    bool log;
};
struct label {
    double x, y, w; /* left end of the base line */
    bool end;       /* text-anchor end was used; x is its left end all the same */
};
struct plot {
    struct buf *b;
    struct axis x, y;
    const struct plan_set *set;
    const struct plan *chosen;
    struct label label[MAX_LABELS];
    size_t n_labels;
};

double svg_step(double span)
{
    double raw = span / 5, mag = pow(10, floor(log10(raw)));
    static const double mult[] = {1, 2, 5, 10};
    int i = 0;
    while (i < 3 && mult[i] * mag * 1.0001 < raw) {
        i++;
    }
    return mult[i] * mag;
}

static struct axis axis_for(double lo, double hi)
{
    if (lo > 0 && hi / lo > WIDE) {
        return (struct axis){lo / 1.15, hi * 1.15, 0, true};
    }
    double from = lo < 0.55 * hi ? 0 : lo, span = hi - from;
    span = span > 0 ? span : fmax(fabs(hi) * 0.2, 1e-9);
    double step = svg_step(span);
    struct axis a = {floor(from / step) * step, ceil(hi / step) * step, step, false};
    a.hi += a.hi - hi < 0.1 * step ? step : 0; /* room for labels above the highest point */
    a.lo -= a.lo > 0 && from - a.lo < 0.1 * step ? step : 0;
    return a;
}

static double part(const struct axis *a, double v)
{
    return a->log ? log(v / a->lo) / log(a->hi / a->lo) : (v - a->lo) / (a->hi - a->lo);
}

static double x_of(const struct plot *p, double v)
{
    return LEFT + part(&p->x, v) * (W - LEFT - RIGHT);
}
static double y_of(const struct plot *p, double v)
{
    return H - BOTTOM - part(&p->y, v) * (H - TOP - BOTTOM);
}
static double px(const struct plot *p, const struct plan *q)
{
    return x_of(p, q->makespan_p95_s / 3600);
}
static double py(const struct plot *p, const struct plan *q)
{
    return y_of(p, money_to_double(q->total));
}

/* Next tick after v; 1, 2, 5 of each decade on a logarithmic axis. */
static double tick_after(const struct axis *a, double v)
{
    if (!a->log) {
        return v + a->step;
    }
    double mag = pow(10, floor(log10(v * 1.0001))), lead = v / mag;
    return (lead < 1.5 ? 2 : lead < 3 ? 5 : 10) * mag;
}

static double first_tick(const struct axis *a)
{
    if (!a->log) {
        return a->lo;
    }
    double v = pow(10, floor(log10(a->lo)));
    while (v < a->lo) {
        v = tick_after(a, v);
    }
    return v;
}

const char *svg_tick(double v, char out[MONEY_TEXT])
{
    money m;
    if (fabs(v) < 1000 || money_from_double(v, &m)) {
        snprintf(out, MONEY_TEXT, "%g", v);
        return out;
    }
    return money_format_fixed(m, 0, true, out);
}

static const char *axis_note(const struct axis *a)
{
    return a->log ? " (logarithmic)" : a->lo > 0 ? " (axis does not begin at 0)" : "";
}

static void axes(const struct plot *p, const char *y_title)
{
    struct buf *b = p->b;
    char text[MONEY_TEXT];
    for (double v = first_tick(&p->y); v <= p->y.hi * (1 + 1e-9); v = tick_after(&p->y, v)) {
        buf_addf(b, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
                 W - RIGHT, y_of(p, v), y_of(p, v));
        buf_addf(b, "<text class=\"dim\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                 LEFT - 8, y_of(p, v) + 4, svg_tick(v, text));
    }
    for (double v = first_tick(&p->x); v <= p->x.hi * (1 + 1e-9); v = tick_after(&p->x, v)) {
        buf_addf(b, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>",
                 x_of(p, v), x_of(p, v), TOP, H - BOTTOM);
        buf_addf(b, "<text class=\"dim\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                 x_of(p, v), H - BOTTOM + 18, svg_tick(v, text));
    }
    buf_addf(b, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", LEFT, W - RIGHT,
             H - BOTTOM, H - BOTTOM);
    buf_addf(b,
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">hours to finish, 95 %% of the runs%s"
             "</text>",
             (W + LEFT - RIGHT) / 2, H - 10, axis_note(&p->x));
    buf_addf(b, "<text x=\"%d\" y=\"%d\">expected cost, ", 8, 16);
    html_escape(b, y_title);
    buf_addf(b, "%s</text>", axis_note(&p->y));
}

/* The cheapest plan for each time, from the cheapest to the fastest, as a staircase. */
static void frontier(const struct plot *p)
{
    const struct plan *at = NULL;
    const struct plan *front = p->set->front;
    for (size_t i = 0; i < p->set->n_front; i++) {
        at = !at || front[i].total < at->total ||
                     (front[i].total == at->total && front[i].makespan_p95_s < at->makespan_p95_s)
                 ? &front[i]
                 : at;
    }
    if (!at) {
        return;
    }
    buf_addf(p->b, "<path class=\"front\" d=\"M%d %.1fH%.1f", W - RIGHT, py(p, at), px(p, at));
    for (;;) {
        const struct plan *next = NULL;
        for (size_t i = 0; i < p->set->n_front; i++) {
            const struct plan *q = &front[i];
            if (q->makespan_p95_s < at->makespan_p95_s && (!next || q->total < next->total)) {
                next = q;
            }
        }
        if (!next) {
            break;
        }
        buf_addf(p->b, "V%.1fH%.1f", py(p, next), px(p, next));
        at = next;
    }
    buf_addf(p->b, "V%d\"/>", TOP);
}

static bool hits(const struct label *a, double x, double y, double w)
{
    return x < a->x + a->w + 3 && a->x < x + w + 3 && fabs(a->y - y) < 14;
}

static bool over_point(const struct plot *p, const struct plan *q, const struct plan *own, double x,
                       double y, double w)
{
    double qx = px(p, q), qy = py(p, q);
    bool same = fabs(qx - px(p, own)) < 6 && fabs(qy - py(p, own)) < 6;
    return !same && qx > x - 5 && qx < x + w + 5 && qy > y - 15 && qy < y + 6;
}

/* Free room for a label of width w at (x, y)? */
static bool is_free(const struct plot *p, const struct plan *own, double x, double y, double w)
{
    bool ok = x > LEFT && x + w < W - 2 && y > TOP && y < H - BOTTOM - 3;
    for (size_t i = 0; ok && i < p->n_labels; i++) {
        ok = !hits(&p->label[i], x, y, w);
    }
    for (size_t i = 0; ok && i < p->set->n; i++) {
        ok = !over_point(p, &p->set->plan[i], own, x, y, w);
    }
    for (size_t i = 0; ok && i < p->set->n_front; i++) {
        ok = !over_point(p, &p->set->front[i], own, x, y, w);
    }
    return ok;
}

/* A label beside its point where it hides nothing; otherwise none (the tables name all plans). */
static void add_label(struct plot *p, const struct plan *q, const char *text, bool bold)
{
    static const double dx[] = {9, 9, -9, -9, 0, 0, 0, 14, 14, -14},
                        dy[] = {-6, 15, -6, 15, -11, 21, 34, -20, 30, 30};
    double w = 7.1 * (double)strlen(text) + (bold ? 8 : 0);
    for (size_t i = 0; i < sizeof dx / sizeof *dx && p->n_labels < MAX_LABELS; i++) {
        double x = px(p, q) + dx[i], y = py(p, q) + dy[i];
        double left = dx[i] > 0 ? x : dx[i] < 0 ? x - w : x - w / 2;
        if (is_free(p, q, left, y, w)) {
            p->label[p->n_labels++] = (struct label){left, y, w, dx[i] < 0};
            buf_addf(p->b, "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                     bold ? " class=\"b\"" : "", x, y,
                     dx[i] > 0   ? "start"
                     : dx[i] < 0 ? "end"
                                 : "middle");
            html_escape(p->b, text);
            buf_adds(p->b, "</text>");
            return;
        }
    }
}

static void diamond(struct buf *b, double x, double y)
{
    buf_addf(b, "<path class=\"s1\" d=\"M%.1f %.1fl8 8l-8 8l-8 -8z\"/>", x, y - 8);
}

static void points(struct plot *p)
{
    for (size_t i = 0; i < p->set->n_front; i++) {
        const struct plan *q = &p->set->front[i];
        buf_addf(p->b, "<circle class=\"ring\" r=\"4.5\" cx=\"%.1f\" cy=\"%.1f\"/>", px(p, q),
                 py(p, q));
    }
    for (size_t i = 0; i < p->set->n; i++) {
        const struct plan *q = &p->set->plan[i];
        if (q != p->chosen) {
            buf_addf(p->b, "<rect class=\"s2\" x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"/>",
                     px(p, q) - 3.5, py(p, q) - 3.5);
        }
    }
    diamond(p->b, px(p, p->chosen), py(p, p->chosen));
}

static void legend(struct buf *b)
{
    double y = 16;
    buf_addf(b, "<circle class=\"ring\" r=\"4.5\" cx=\"630\" cy=\"%.1f\"/>", y - 4);
    buf_addf(b, "<text x=\"640\" y=\"%.1f\">Pareto front</text>", y);
    buf_addf(b, "<rect class=\"s2\" x=\"730\" y=\"%.1f\" width=\"7\" height=\"7\"/>", y - 8);
    buf_addf(b, "<text x=\"743\" y=\"%.1f\">ranked</text>", y);
    diamond(b, 806, y - 4);
    buf_addf(b, "<text x=\"819\" y=\"%.1f\">recommended</text>", y);
}

static bool is_near(const struct plot *p, const struct plan *a, const struct plan *b)
{
    return fabs(px(p, a) - px(p, b)) < 6 && fabs(py(p, a) - py(p, b)) < 6;
}

/* Ranks of the plans that lie where plan i lies, in one label; none where an earlier one has them.
 */
static void rank_label(struct plot *p, size_t i)
{
    const struct plan_set *set = p->set;
    char text[48];
    int n = snprintf(text, sizeof text, "%d", set->plan[i].rank), more = 0;
    for (size_t k = 0; k < set->n; k++) {
        if (k == i || &set->plan[k] == p->chosen || !is_near(p, &set->plan[i], &set->plan[k])) {
            continue;
        }
        if (k < i) {
            return;
        }
        if (++more < 4) {
            n += snprintf(text + n, sizeof text - (size_t)n, ", %d", set->plan[k].rank);
        } else if (more == 4) {
            n += snprintf(text + n, sizeof text - (size_t)n, " ...");
        }
    }
    add_label(p, &set->plan[i], text, false);
}

static void labels(struct plot *p)
{
    char text[32];
    const struct plan *fast = NULL;
    snprintf(text, sizeof text, "%d recommended", p->chosen->rank);
    add_label(p, p->chosen, text, true);
    for (size_t i = 0; i < p->set->n_front; i++) {
        const struct plan *q = &p->set->front[i];
        fast = !fast || q->makespan_p95_s < fast->makespan_p95_s ? q : fast;
    }
    if (fast && strcmp(fast->id, p->chosen->id) != 0) {
        add_label(p, fast, "fastest", false);
    }
    for (size_t i = 0; i < p->set->n; i++) {
        if (&p->set->plan[i] != p->chosen) {
            rank_label(p, i);
        }
    }
}

static void range_of(const struct plan *p, size_t n, double *x, double *y)
{
    for (size_t i = 0; i < n; i++) {
        double h = p[i].makespan_p95_s / 3600, c = money_to_double(p[i].total);
        x[0] = fmin(x[0], h);
        x[1] = fmax(x[1], h);
        y[0] = fmin(y[0], c);
        y[1] = fmax(y[1], c);
    }
}

/* NULL for a single point: there is nothing to compare. */
const char *svg_pareto(struct doc *d, const struct plan_set *set, size_t chosen)
{
    double xr[2] = {INFINITY, 0}, yr[2] = {INFINITY, 0};
    struct buf b;
    range_of(set->plan, set->n, xr, yr);
    range_of(set->front, set->n_front, xr, yr);
    if (!(xr[0] < xr[1] || yr[0] < yr[1]) || !isfinite(xr[1]) || !isfinite(yr[1])) {
        return NULL;
    }
    struct plot p = {.b = &b,
                     .x = axis_for(xr[0], xr[1]),
                     .y = axis_for(yr[0], yr[1]),
                     .set = set,
                     .chosen = &set->plan[chosen]};
    buf_init(&b, 4U << 20);
    buf_addf(
        &b,
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Expected cost against expected "
        "time of the ranked plans and the Pareto front\" xmlns=\"http://www.w3.org/2000/svg\">",
        W, H);
    axes(&p, set->currency ? set->currency : "");
    legend(&b);
    frontier(&p);
    points(&p);
    labels(&p);
    buf_adds(&b, "</svg>");
    const char *s = b.data ? arena_strdup(d->arena, b.data) : NULL;
    d->failed = d->failed || !s;
    buf_release(&b);
    return s;
}
