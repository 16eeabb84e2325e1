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
static void hours_text(double s, char out[64])
{
    if (!isfinite(s)) {
        snprintf(out, 64, "-");
    } else if (s < 7200) {
        snprintf(out, 64, s < 600 ? "%.1f min" : "%.0f min", s / 60);
    } else {
        snprintf(out, 64, "%.1f h", s / 3600);
    }
}

static void chance_text(const struct plan *p, char out[64])
{
    double v = p->deadline_probability;
    if (isnan(v)) {
        snprintf(out, 64, "-");
    } else if (v < 1 && v > 0.9995) {
        snprintf(out, 64, ">.999");
    } else {
        snprintf(out, 64, "%.3f", v);
    }
}

static const char *words(const char *name, char out[64])
{
    snprintf(out, 64, "%s", name);
    for (char *s = out; *s; s++) {
        *s = *s == '_' ? ' ' : *s;
    }
    return out;
}

/* Purchase options in ten cells. */
static const char *const buy_short[PURCHASE_COUNT] = {
    [PURCHASE_ON_DEMAND] = "on demand",        [PURCHASE_SPOT] = "spot",
    [PURCHASE_LOW_PRIORITY] = "low prio",      [PURCHASE_MONTHLY] = "monthly",
    [PURCHASE_RESERVED_1Y] = "reserve 1y",     [PURCHASE_RESERVED_3Y] = "reserve 3y",
    [PURCHASE_SAVINGS_PLAN_1Y] = "savings 1y", [PURCHASE_SAVINGS_PLAN_3Y] = "savings 3y",
    [PURCHASE_COMMITTED_USE_1Y] = "commit 1y", [PURCHASE_COMMITTED_USE_3Y] = "commit 3y",
    [PURCHASE_CAPACITY_BLOCK] = "block",       [PURCHASE_DEV_TEST] = "dev/test",
};

/* Columns, each with the screen width from which it is shown; the plan's name takes the rest. */
enum { T_BUY, T_COST, T_MEAN, T_P95, T_CHANCE, T_SPREAD, T_EPOCH, T_BOUND, T_END };
static const struct {
    const char *title;
    int width, min_screen, align;
} columns[T_END] = {{"BUY", 10, 64, -1},   {"COST", 11, 0, 1},       {"TIME", 9, 0, 1},
                    {"95 % BY", 9, 92, 1}, {"P", 5, 56, 1},          {"COST 5-95 %", 17, 130, 1},
                    {"EPOCH", 8, 102, 1},  {"BOUND BY", 16, 118, -1}};

static int name_width(int width)
{
    int left = width - 3;
    for (int i = 0; i < T_END; i++) {
        left -= width >= columns[i].min_screen ? columns[i].width + 1 : 0;
    }
    return left;
}

static void cell(const struct plan *p, int column, char out[64])
{
    char a[MONEY_TEXT], b[MONEY_TEXT];
    switch (column) {
    case T_BUY:
        snprintf(out, 64, "%s", buy_short[p->purchase]);
        break;
    case T_COST:
        snprintf(out, 64, "%s%s", p->at_least ? ">=" : "",
                 money_format_fixed(p->total, 2, true, a));
        break;
    case T_MEAN:
        hours_text(p->makespan_mean_s, out);
        break;
    case T_P95:
        hours_text(p->makespan_p95_s, out);
        break;
    case T_CHANCE:
        chance_text(p, out);
        break;
    case T_SPREAD:
        snprintf(out, 64, "%.28s-%.28s", money_format_fixed(p->p5, 0, true, a),
                 money_format_fixed(p->p95, 0, true, b));
        break;
    case T_EPOCH:
        hours_text(p->epoch_s, out);
        break;
    default:
        words(bound_name(p->rate.bound), out);
        break;
    }
}

static void draw_plan(const struct plan *p, size_t index, bool selected, int y, int width)
{
    enum element e = selected ? EL_SELECTED : EL_TEXT;
    int x = 3, name = name_width(width);
    draw_fill(y, 0, width, e);
    draw_format(y, 0, 3, -1, e, "%s%c", selected ? glyph("▶", ">") : " ",
                index < 26 ? 'A' + (int)index : ' ');
    draw_format(y, x, name, -1, e, "%d x %s %s/%s", p->instances, p->instance_type, p->vendor,
                p->region);
    x += name + 1;
    for (int i = 0; i < T_END; i++) {
        char text[64];
        if (width >= columns[i].min_screen) {
            cell(p, i, text);
            draw_text(y, x, columns[i].width, columns[i].align, e, text);
            x += columns[i].width + 1;
        }
    }
}

void plan_view_table(const struct plan_set *set, const struct list *l, bool focused, int y,
                     int rows, int width)
{
    int x = 3, name = name_width(width);
    draw_text(y, x, name, -1, EL_HEADER, "PLAN");
    x += name + 1;
    for (int i = 0; i < T_END; i++) {
        if (width >= columns[i].min_screen) {
            draw_text(y, x, columns[i].width, columns[i].align, EL_HEADER,
                      i == T_COST && set && set->currency ? set->currency : columns[i].title);
            x += columns[i].width + 1;
        }
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
        char buy[64];
        draw_format(y + r, x, width, -1, EL_TEXT, "%s/%s %s %s: %s", j->vendor, j->region,
                    j->instance_type, words(j->purchase, buy), j->reason);
    }
}

static void draw_bill(const struct plan *p, int y, int x, int end, int width)
{
    char amount[MONEY_TEXT], name[64];
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

struct text_column {
    int y, end, x, width;
};

static void put(struct text_column *c, enum element e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void put(struct text_column *c, enum element e, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->y += draw_wrapped(c->y, c->x, c->end - c->y, c->width, e, text);
}

/* Where the data wait after the run, and the best of the other places to read them from. */
static void draw_data(const struct plan *p, struct text_column *c)
{
    char a[64], b[64], amount[MONEY_TEXT];
    int shown = 0;
    for (size_t i = 0; i < p->n_waits; i++) {
        const struct plan_wait *w = &p->wait[i];
        const struct plan_placement *last = w->n_steps ? &w->step[w->n_steps - 1] : NULL;
        if (last && w->saving > 0) {
            put(c, EL_TEXT, "%s after the run: %s, saves %s %s", w->data_set, last->tier,
                money_format_fixed(w->saving, money_minor_digits(w->currency), true, amount),
                w->currency);
        }
    }
    for (size_t i = 0; i < p->n_choices && shown < 3; i++) {
        const struct plan_data_choice *d = &p->choice[i];
        if (d->chosen || d->reason[0]) {
            continue;
        }
        hours_text(d->epoch_s, a);
        put(c, EL_TEXT, "from %s%s%s: epoch %s, %s; %s%s", d->read, d->option[0] ? ", " : "",
            d->option, a, words(bound_name(d->bound), b), d->at_least ? "at least " : "",
            money_format_fixed(d->total, money_minor_digits(p->currency), true, amount));
        shown++;
    }
}

static void draw_facts(const struct plan *p, struct text_column c)
{
    char a[64], b[64], d[64];
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
    draw_data(p, &c);
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
        draw_facts(p, (struct text_column){y + 1, end, x + bill, width - bill});
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
        points[n++] = (struct plot_point){risk_axis ? risk(f) : f->makespan_p95_s / 3600,
                                          money_to_double(f->total), (char)('A' + (int)i)};
    }
    for (size_t i = 0; i < set->n_front; i++) {
        const struct plan *f = &set->front[i];
        points[n++] = (struct plot_point){risk_axis ? risk(f) : f->makespan_p95_s / 3600,
                                          money_to_double(f->total), 0};
    }
    buf_init(&text, 1 << 18);
    if (plot_scatter(points, n, risk_axis ? (double)NAN : deadline_s / 3600, width, height,
                     risk_axis ? "% late" : "hours (95 %)", set->currency ? set->currency : "USD",
                     !term_utf8(), &text) == 0 &&
        text.data) {
        draw_lines(y, x, height, width, EL_TEXT, text.data);
    }
    buf_release(&text);
    free(points);
}
