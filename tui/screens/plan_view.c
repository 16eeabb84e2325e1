/* Drawing of plans (plan_view.h). */
#include "plan_view.h"
#include "../widgets/draw.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void chance_text(const struct plan *p, char out[16])
{
    if (isnan(p->deadline_probability)) {
        snprintf(out, 16, "-");
    } else {
        snprintf(out, 16, "%.3f", p->deadline_probability);
    }
}

static void draw_plan(const struct plan *p, int index, bool selected, int y, int width)
{
    char cost[MONEY_TEXT], mean[32], p95[32], chance[16], epoch[32];
    enum element e = selected ? EL_SELECTED : EL_TEXT;
    money_format_fixed(p->total, 2, true, cost);
    duration_format(p->makespan_mean_s, mean);
    duration_format(p->makespan_p95_s, p95);
    duration_format(p->epoch_s, epoch);
    chance_text(p, chance);
    draw_fill(y, 0, width, e);
    draw_format(y, 0, 3, -1, e, "%s%c", selected ? glyph("▶", ">") : " ",
                index < 26 ? 'A' + index : ' ');
    int right = width - (width >= 100 ? 62 : 40);
    draw_format(y, 4, right - 5, -1, e, "%d x %s %s/%s %s", p->instances, p->instance_type,
                p->vendor, p->region, purchase_name(p->purchase));
    draw_format(y, right, 12, 1, e, "%s%s", p->at_least ? ">=" : "", cost);
    draw_text(y, right + 13, 10, 1, e, mean);
    draw_text(y, right + 24, 10, 1, e, p95);
    draw_text(y, right + 35, 5, 1, e, chance);
    if (width >= 100) {
        draw_text(y, right + 41, 8, 1, e, epoch);
        draw_text(y, right + 50, 12, -1, e, bound_name(p->rate.bound));
    }
}

void plan_view_table(const struct plan_set *set, const struct list *l, bool focused, int y,
                     int rows, int width)
{
    int right = width - (width >= 100 ? 62 : 40);
    draw_text(y, 4, right - 5, -1, EL_HEADER, "PLAN");
    draw_text(y, right, 12, 1, EL_HEADER, set && set->currency ? set->currency : "COST");
    draw_text(y, right + 13, 10, 1, EL_HEADER, "TIME");
    draw_text(y, right + 24, 10, 1, EL_HEADER, "P95");
    draw_text(y, right + 35, 5, 1, EL_HEADER, "P");
    if (width >= 100) {
        draw_text(y, right + 41, 8, 1, EL_HEADER, "EPOCH");
        draw_text(y, right + 50, 12, -1, EL_HEADER, "BOUND BY");
    }
    for (int r = 0; set && r < rows - 1; r++) {
        size_t i = l->top + (size_t)r;
        if (i >= set->n) {
            break;
        }
        draw_plan(&set->plan[i], (int)i, focused && i == l->at, y + 1 + r, width);
    }
}

void plan_view_rejected(const struct plan_set *set, int y, int rows, int width)
{
    for (int r = 0; r < rows && (size_t)r < set->n_rejected; r++) {
        const struct plan_rejected *x = &set->rejected[r];
        draw_format(y + r, 2, width - 3, -1, EL_TEXT, "%s/%s %s %s: %s", x->vendor, x->region,
                    x->instance_type, x->purchase, x->reason);
    }
}

static int line(int y, int end, int x, int width, enum element e, const char *text)
{
    if (y < end) {
        draw_text(y, x, width, -1, e, text);
    }
    return y + 1;
}

void plan_view_details(const struct plan_set *set, size_t at, int y, int x, int height, int width)
{
    const struct plan *p = &set->plan[at];
    int end = y + height, half = width >= 60 ? width / 2 : width;
    char text[512], amount[MONEY_TEXT], a[32], b[32];
    money shown[COMP_COUNT];
    int digits = money_minor_digits(p->currency), row = y;
    if (money_round_parts(p->component, COMP_COUNT, digits, shown)) {
        memcpy(shown, p->component, sizeof shown);
    }
    draw_format(row++, x, width, -1, EL_TITLE, "%s %d: %d x %s (%s)", "plan", p->rank, p->instances,
                p->instance_type, p->gpu);
    for (int c = 0; c < COMP_COUNT && row < end; c++) {
        draw_format(row++, x, half - 1, -1, shown[c] ? EL_TEXT : EL_DIM, "%-20s %12s",
                    component_name((enum component)c),
                    money_format_fixed(shown[c], digits, true, amount));
    }
    if (row < end) {
        draw_format(row, x, half - 1, -1, EL_BEST, "%-20s %12s %s",
                    p->at_least ? "total, at least" : "total",
                    money_format_fixed(p->total, digits, true, amount), p->currency);
    }
    if (half == width) {
        return;
    }
    x += half;
    row = y + 1;
    snprintf(text, sizeof text, "epoch %s, bound by %s", duration_format(p->epoch_s, a),
             bound_name(p->rate.bound));
    row = line(row, end, x, half, EL_TEXT, text);
    snprintf(text, sizeof text, "without it %.3g/s, then %s", p->rate.next_samples_per_s,
             bound_name(p->rate.next_bound));
    row = line(row, end, x, half, EL_TEXT, text);
    snprintf(text, sizeof text, "memory %.1f of %.1f GiB%s", p->memory.peak_bytes / 1073741824.0,
             p->memory.usable_bytes / 1073741824.0, p->memory.tight ? ", tight" : "");
    row = line(row, end, x, half, EL_TEXT, text);
    snprintf(text, sizeof text, "checkpoint every %s on %s",
             p->checkpoint_interval_s > 0 ? duration_format(p->checkpoint_interval_s, b) : "-",
             p->checkpoint_tier ? p->checkpoint_tier : "-");
    row = line(row, end, x, half, EL_TEXT, text);
    snprintf(text, sizeof text, "stops %.2f (%.3g/h, %s)", p->interruptions, p->interruption_per_h,
             p->interruption_basis ? p->interruption_basis : "");
    row = line(row, end, x, half, EL_TEXT, text);
    for (size_t i = 0; i < p->n_placement; i++) {
        snprintf(text, sizeof text, "%s on %s", p->placement[i].data_set, p->placement[i].tier);
        row = line(row, end, x, half, EL_TEXT, text);
    }
    for (size_t i = 0; i < p->n_notes; i++) {
        row = line(row, end, x, half, EL_DIM, p->note[i]);
    }
}
