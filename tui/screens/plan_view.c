/* Drawing of plans (plan_view.h). */
#include "plan_view.h"
#include "../widgets/draw.h"
#include "../widgets/plot.h"
#include "../widgets/term.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One unit a column: hours, but minutes below two of them. */
static void hours_text(double s, char out[24])
{
    if (!isfinite(s)) {
        snprintf(out, 24, "-");
    } else if (s < 7200) {
        snprintf(out, 24, s < 600 ? "%.1f min" : "%.0f min", s / 60);
    } else {
        snprintf(out, 24, "%.1f h", s / 3600);
    }
}

static void chance_text(const struct plan *p, char out[16])
{
    double v = p->deadline_probability;
    if (isnan(v)) {
        snprintf(out, 16, "-");
    } else if (v < 1 && v > 0.9995) {
        snprintf(out, 16, ">.999");
    } else {
        snprintf(out, 16, "%.3f", v);
    }
}

static const char *words(const char *name, char out[48])
{
    snprintf(out, 48, "%s", name);
    for (char *s = out; *s; s++) {
        *s = *s == '_' ? ' ' : *s;
    }
    return out;
}

/* Columns to the right of the plan's name, by the room there is. */
struct table_layout {
    int right;          /* first of them */
    bool epoch, spread; /* epoch time and bound; cost from p5 to p95 */
};

static struct table_layout layout(int width)
{
    struct table_layout t = {.epoch = width >= 100, .spread = width >= 124};
    t.right = width - 38 - (t.epoch ? 29 : 0) - (t.spread ? 20 : 0);
    return t;
}

static void draw_plan(const struct plan *p, size_t index, bool selected, int y, int width)
{
    char cost[MONEY_TEXT], lo[MONEY_TEXT], hi[MONEY_TEXT], mean[24], p95[24], chance[16], epoch[24];
    char buy[48], bound[48];
    struct table_layout t = layout(width);
    enum element e = selected ? EL_SELECTED : EL_TEXT;
    money_format_fixed(p->total, 2, true, cost);
    hours_text(p->makespan_mean_s, mean);
    hours_text(p->makespan_p95_s, p95);
    hours_text(p->epoch_s, epoch);
    chance_text(p, chance);
    draw_fill(y, 0, width, e);
    draw_format(y, 0, 3, -1, e, "%s%c", selected ? glyph("▶", ">") : " ",
                index < 26 ? 'A' + (int)index : ' ');
    draw_format(y, 3, t.right - 4, -1, e, "%d x %s %s/%s %s", p->instances, p->instance_type,
                p->vendor, p->region, words(purchase_name(p->purchase), buy));
    draw_format(y, t.right, 12, 1, e, "%s%s", p->at_least ? ">=" : "", cost);
    draw_text(y, t.right + 13, 9, 1, e, mean);
    draw_text(y, t.right + 23, 9, 1, e, p95);
    draw_text(y, t.right + 33, 5, 1, e, chance);
    int x = t.right + 39;
    if (t.spread) {
        draw_format(y, x, 19, 1, e, "%s-%s", money_format_fixed(p->p5, 0, true, lo),
                    money_format_fixed(p->p95, 0, true, hi));
        x += 20;
    }
    if (t.epoch) {
        draw_text(y, x, 9, 1, e, epoch);
        draw_text(y, x + 10, 17, -1, e, words(bound_name(p->rate.bound), bound));
    }
}

void plan_view_table(const struct plan_set *set, const struct list *l, bool focused, int y,
                     int rows, int width)
{
    struct table_layout t = layout(width);
    draw_text(y, 3, t.right - 4, -1, EL_HEADER, "PLAN");
    draw_text(y, t.right, 12, 1, EL_HEADER, set && set->currency ? set->currency : "COST");
    draw_text(y, t.right + 13, 9, 1, EL_HEADER, "TIME");
    draw_text(y, t.right + 23, 9, 1, EL_HEADER, "95 % BY");
    draw_text(y, t.right + 33, 5, 1, EL_HEADER, "P");
    int x = t.right + 39;
    if (t.spread) {
        draw_text(y, x, 19, 1, EL_HEADER, "COST 5-95 %");
        x += 20;
    }
    if (t.epoch) {
        draw_text(y, x, 9, 1, EL_HEADER, "EPOCH");
        draw_text(y, x + 10, 17, -1, EL_HEADER, "BOUND BY");
    }
    for (int r = 0; set && r < rows - 1; r++) {
        size_t i = l->top + (size_t)r;
        if (i >= set->n) {
            break;
        }
        draw_plan(&set->plan[i], i, focused && i == l->at, y + 1 + r, width);
    }
}

void plan_view_rejected(const struct plan_set *set, size_t top, int y, int x, int rows, int width)
{
    for (int r = 0; r < rows && top + (size_t)r < set->n_rejected; r++) {
        const struct plan_rejected *j = &set->rejected[top + (size_t)r];
        char buy[48];
        draw_format(y + r, x, width, -1, EL_TEXT, "%s/%s %s %s: %s", j->vendor, j->region,
                    j->instance_type, words(j->purchase, buy), j->reason);
    }
}

static void draw_bill(const struct plan *p, int y, int x, int end, int width)
{
    char amount[MONEY_TEXT], name[48];
    money shown[COMP_COUNT];
    int digits = money_minor_digits(p->currency);
    if (money_round_parts(p->component, COMP_COUNT, digits, shown)) {
        memcpy(shown, p->component, sizeof shown);
    }
    for (int c = 0; c < COMP_COUNT && y < end; c++) {
        draw_format(y++, x, width, -1, shown[c] ? EL_TEXT : EL_DIM, "%-20s %12s",
                    words(component_name((enum component)c), name),
                    money_format_fixed(shown[c], digits, true, amount));
    }
    if (y < end) {
        draw_format(y, x, width, -1, EL_BEST, "%-20s %12s %s",
                    p->at_least ? "total, at least" : "total",
                    money_format_fixed(p->total, digits, true, amount), p->currency);
    }
}

struct column {
    int y, end, x, width;
};

static void put(struct column *c, enum element e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void put(struct column *c, enum element e, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->y += draw_wrapped(c->y, c->x, c->end - c->y, c->width, e, text);
}

static void draw_facts(const struct plan *p, struct column c)
{
    char a[32], b[48], d[48];
    hours_text(p->epoch_s, a);
    put(&c, EL_TEXT, "epoch %s, bound by %s", a, words(bound_name(p->rate.bound), b));
    put(&c, EL_TEXT, "without that %.*f samples/s, then %s", p->rate.next_samples_per_s < 10,
        p->rate.next_samples_per_s, words(bound_name(p->rate.next_bound), d));
    put(&c, EL_TEXT, "memory %.1f of %.1f GiB: %s", p->memory.peak_bytes / 1073741824.0,
        p->memory.usable_bytes / 1073741824.0, p->memory.tight ? "tight" : "fits");
    if (p->checkpoint_interval_s > 0) {
        put(&c, EL_TEXT, "checkpoint every %s to %s", duration_format(p->checkpoint_interval_s, a),
            p->checkpoint_tier ? p->checkpoint_tier : "-");
    }
    put(&c, EL_TEXT, "stops expected %.2f (%s)", p->interruptions,
        p->interruption_basis ? p->interruption_basis : "none");
    for (size_t i = 0; i < p->n_placement; i++) {
        const struct plan_placement *l = &p->placement[i];
        put(&c, EL_TEXT, "%s: %s, months %d-%d", l->data_set, l->tier, l->from_month + 1,
            l->to_month);
    }
    for (size_t i = 0; i < p->n_notes; i++) {
        put(&c, EL_DIM, "%s %s", glyph("·", "-"), p->note[i]);
    }
}

void plan_view_details(const struct plan_set *set, size_t at, int y, int x, int height, int width)
{
    const struct plan *p = &set->plan[at];
    int end = y + height, bill = width >= 68 ? 39 : width;
    draw_format(y, x, width, -1, EL_TITLE, "plan %c: %d x %s (%g x %s)  %s/%s",
                at < 26 ? 'A' + (int)at : ' ', p->instances, p->instance_type, p->gpu_count, p->gpu,
                p->vendor, p->region);
    draw_bill(p, y + 1, x, end, bill - 1);
    if (bill < width) {
        draw_facts(p, (struct column){y + 1, end, x + bill, width - bill});
    }
}

static double risk(const struct plan *p)
{
    return isnan(p->deadline_probability) ? 0 : 100 * (1 - p->deadline_probability);
}

void plan_view_plot(const struct plan_set *set, bool risk_axis, double deadline_s, int y, int x,
                    int height, int width)
{
    struct plot_point *points = calloc(set->n + set->n_front + 1, sizeof *points);
    size_t n = 0;
    struct buf text;
    if (!points) {
        return;
    }
    for (size_t i = 0; i < set->n && i < 26; i++) {
        const struct plan *f = &set->plan[i];
        points[n++] = (struct plot_point){risk_axis ? risk(f) : f->makespan_mean_s / 3600,
                                          money_to_double(f->total), (char)('A' + (int)i)};
    }
    for (size_t i = 0; i < set->n_front; i++) {
        const struct plan *f = &set->front[i];
        points[n++] = (struct plot_point){risk_axis ? risk(f) : f->makespan_mean_s / 3600,
                                          money_to_double(f->total), 0};
    }
    buf_init(&text, 1 << 18);
    if (plot_scatter(points, n, risk_axis ? (double)NAN : deadline_s / 3600, width, height,
                     risk_axis ? "% late" : "hours", set->currency ? set->currency : "USD",
                     !term_utf8(), &text) == 0 &&
        text.data) {
        draw_lines(y, x, height, width, EL_TEXT, text.data);
    }
    buf_release(&text);
    free(points);
}
