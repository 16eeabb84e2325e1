/* Commitments of a plan set for people: what a term costs beside renting the same machine by the
 * hour, when it pays, what is lost when the need ends early. */
#include "gputier/units.h"
#include "plan_ask.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "low-high" in whole units of the currency, "-" = not sold. */
static void span(const money m[2], char *buf, size_t size)
{
    char a[MONEY_TEXT], b[MONEY_TEXT];
    if (m[0] < 0) {
        snprintf(buf, size, "-");
        return;
    }
    money_format_fixed(m[0], 0, true, a);
    money_format_fixed(m[1], 0, true, b);
    snprintf(buf, size, strcmp(a, b) == 0 ? "%s" : "%s-%s", a, b);
}

static const char *percent(double share, char buf[32])
{
    if (isnan(share)) {
        return "-";
    }
    snprintf(buf, 32, "%.0f %%", share * 100);
    return share > 1 ? "never" : buf;
}

/* Months of use after which the term has cost less than on demand. */
static void pays_after(const struct plan_commitment *c, char buf[64])
{
    double month = GT_HOURS_PER_MONTH, fast = c->pays_after_h[1], slow = c->pays_after_h[0];
    if (c->on_demand_h < 0) {
        snprintf(buf, 64, "-");
    } else if (isnan(fast)) {
        snprintf(buf, 64, "never");
    } else if (isnan(slow)) {
        snprintf(buf, 64, "%.1f mo, never", fast / month);
    } else {
        snprintf(buf, 64, fabs(slow - fast) < 1 ? "%.1f mo" : "%.1f-%.1f mo", fast / month,
                 slow / month);
    }
}

static void row(struct text_table *t, const struct plan_commitment *c)
{
    char place[96], machine[112], kind[64], up[MONEY_TEXT], all[MONEY_TEXT], lost[MONEY_TEXT];
    char demand[96], spot[96], even[32], after[64];
    snprintf(place, sizeof place, "%.30s/%.60s", c->vendor, c->region);
    snprintf(machine, sizeof machine, "%d x %.80s", c->instances, c->instance_type);
    snprintf(kind, sizeof kind, "%.30s%s%.20s%s", purchase_name(c->purchase),
             c->payment[0] != '\0' ? " (" : "", c->payment, c->payment[0] != '\0' ? ")" : "");
    money_format_fixed(c->upfront, 0, true, up);
    money_format_fixed(c->total, 0, true, all);
    money_format_fixed(c->lost[1], 0, true, lost);
    span(c->on_demand, demand, sizeof demand);
    span(c->spot, spot, sizeof spot);
    pays_after(c, after);
    const char *cells[] = {place, machine,
                           kind,  up,
                           all,   demand,
                           spot,  percent(c->break_even, even),
                           after, c->on_demand_h < 0 ? "-" : lost};
    table_row(t, cells);
}

static int mix_lines(const struct plan_set *set, struct buf *out)
{
    int rc = 0;
    const struct plan_commitment *best = NULL;
    for (size_t i = 0; i < set->n_commitments; i++) {
        const struct plan_commitment *c = &set->commitment[i];
        best = c->mix_nodes >= 0 && (best == NULL || c->mix < best->mix) ? c : best;
    }
    if (best != NULL) {
        char m[MONEY_TEXT];
        rc = buf_addf(out,
                      "For use.hourly the cheapest of these: commit to %d x %s (%s, %s/%s), %.0f "
                      "machine-hours on demand and %.0f on spot beside it: %s %s over the "
                      "horizon\n",
                      best->mix_nodes, best->instance_type, purchase_name(best->purchase),
                      best->vendor, best->region, best->mix_on_demand_h, best->mix_spot_h,
                      money_format_fixed(best->mix, 2, true, m), set->currency);
    }
    return rc;
}

int plan_commitments(const struct app *app, const struct plan_set *set, struct buf *out)
{
    if (set->n_commitments == 0) {
        return 0;
    }
    const struct plan_commitment *first = &set->commitment[0];
    struct text_table t;
    char share[64];
    snprintf(share, sizeof share, first->share[0] < first->share[1] ? "%.0f-%.0f %%" : "%.0f %%",
             first->share[0] * 100, first->share[1] * 100);
    int rc = buf_addf(
        out,
        "\nCommitments over %.0f months, used %s of the hours, in %s (%zu found; the cheapest "
        "place of each kind)\n",
        first->horizon_h / GT_HOURS_PER_MONTH, share, set->currency, set->commitments_found);
    table_init(&t, (const char *[]){"where", "machines", "commitment", ">up front", ">committed",
                                    ">on demand", ">spot", ">pays above", ">pays after",
                                    ">lost at half", NULL});
    for (size_t i = 0; i < set->n_commitments; i++) {
        row(&t, &set->commitment[i]);
    }
    rc = rc != 0 ? rc : table_write(&t, out, app->plain);
    rc = rc != 0
             ? rc
             : buf_adds(out, "(committed: all terms begun, used or not; pays above: share of the "
                             "hours against on demand; lost at half: need ends after half a term, "
                             "used at the mean share, more than on demand would have cost)\n");
    return rc != 0 ? rc : mix_lines(set, out);
}
