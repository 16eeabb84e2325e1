/* The omniscient bound: the cheapest plan for a trace known in advance (spot-policies.md section
 * 4, policy `optimal`), by an exact dynamic programme over (tick, state, starts, active ticks).
 *
 * With j starts the job needs A = C0 + j d active seconds, so m = ceil(A / g) ticks of which the
 * last is billed for A - (m - 1) g only. For a given number of full active ticks the bill depends
 * on how many of them were spot, so a cell holds that count alone, as an integer: the most when
 * spot is the cheaper, and none ever when it is not (replacing spot by on-demand never adds a
 * start). */
#include "internal.h"
#include <math.h>
#include <stdlib.h>

#define MAX_STARTS 80
#define NEVER      INT32_MIN
#define MAX_CELLS  4000000000LL /* tick x state x starts x active: about ten seconds */

enum { IDLE, SPOT, OD, STATES };

struct dp {
    const struct spot_case *c;
    int64_t gap, ticks;      /* g, T */
    int64_t starts, actives; /* largest j, largest m */
    int32_t *now, *next;     /* [state][j][active], most spot ticks */
    bool spot_pays;
    double best;
    int64_t best_finish, best_spot_s, best_od_s, best_starts;
};

static size_t cell(const struct dp *d, int state, int64_t j)
{
    return (size_t)(((int64_t)state * (d->starts + 1) + j) * (d->actives + 1));
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Active seconds and ticks that j starts need. */
static int64_t active_s(const struct dp *d, int64_t j)
{
    return d->c->work_s + j * d->c->restart_s;
}

static int64_t active_ticks(const struct dp *d, int64_t j)
{
    return (active_s(d, j) + d->gap - 1) / d->gap;
}

/* Plans whose last active tick is `tick`: full = the spot count of the m - 1 ticks before it. */
static void finish(struct dp *d, int64_t tick, int64_t j, int32_t full, bool spot)
{
    if (full < 0) {
        return;
    }
    int64_t m = active_ticks(d, j), last = active_s(d, j) - (m - 1) * d->gap;
    int64_t spot_s = full * d->gap + (spot ? last : 0);
    int64_t od_s = (m - 1 - full) * d->gap + (spot ? 0 : last);
    double bill = (double)spot_s * d->c->p_spot[0] + (double)od_s * d->c->p_od;
    if (isnan(d->best) || bill < d->best) {
        d->best = bill;
        d->best_finish = tick * d->gap + last;
        d->best_spot_s = spot_s;
        d->best_od_s = od_s;
        d->best_starts = j;
    }
}

/* The best predecessor of an active tick in `state` that is the a-th active one, j starts. */
static int32_t before(const struct dp *d, int state, int64_t j, int64_t a)
{
    int other = state == SPOT ? OD : SPOT;
    int32_t stay = d->now[cell(d, state, j) + (size_t)a - 1];
    if (j == 0) {
        return stay;
    }
    return larger(stay, larger(d->now[cell(d, IDLE, j - 1) + (size_t)a - 1],
                               d->now[cell(d, other, j - 1) + (size_t)a - 1]));
}

static void step_row(struct dp *d, int64_t j, int64_t most, bool up)
{
    size_t idle = cell(d, IDLE, j), spot = cell(d, SPOT, j), od = cell(d, OD, j);
    for (int64_t a = 0; a <= most; a++) {
        size_t i = (size_t)a;
        d->next[idle + i] = larger(d->now[idle + i], larger(d->now[spot + i], d->now[od + i]));
    }
    d->next[spot] = d->next[od] = NEVER;
    for (int64_t a = 1; a <= most; a++) {
        int32_t from = up ? before(d, SPOT, j, a) : NEVER;
        d->next[spot + (size_t)a] = from < 0 ? NEVER : from + 1;
        d->next[od + (size_t)a] = before(d, OD, j, a);
    }
}

static void step(struct dp *d, int64_t tick)
{
    bool up = d->spot_pays && d->c->traces[0].count[d->c->start_tick + tick] >= d->c->nodes;
    for (int64_t j = 1; j <= d->starts; j++) {
        int64_t m = active_ticks(d, j);
        if (m <= tick + 1) {
            if (up) {
                finish(d, tick, j, before(d, SPOT, j, m), true);
            }
            finish(d, tick, j, before(d, OD, j, m), false);
        }
    }
    for (int64_t j = 0; j <= d->starts; j++) {
        step_row(d, j, tick + 1 < d->actives ? tick + 1 : d->actives, up);
    }
    int32_t *swap = d->now;
    d->now = d->next;
    d->next = swap;
}

static int run(struct dp *d, struct gt_error *err)
{
    size_t cells = cell(d, STATES, 0);
    d->now = malloc(cells * sizeof *d->now);
    d->next = malloc(cells * sizeof *d->next);
    if (!d->now || !d->next) {
        return gt_fail(err, GT_ENOMEM, "optimal", "out of memory for %zu states", cells);
    }
    for (size_t i = 0; i < cells; i++) {
        d->now[i] = d->next[i] = NEVER;
    }
    d->now[cell(d, IDLE, 0)] = 0;
    for (int64_t tick = 0; tick < d->ticks; tick++) {
        step(d, tick);
    }
    return 0;
}

static void report(const struct dp *d, struct spot_replay *out)
{
    if (isnan(d->best)) {
        out->cost = NAN;
        return;
    }
    out->cost = (double)d->c->nodes * d->best / 3600;
    out->finished = out->deadline_met = true; /* it ends inside the T ticks */
    out->finish_s = d->best_finish;
    out->spot_s = out->zone_s[0] = d->best_spot_s;
    out->od_s = d->best_od_s;
    out->launches = d->best_starts;
    out->overhead_s = d->best_starts * d->c->restart_s;
}

int spot_optimal(const struct spot_case *c, struct spot_replay *out, struct gt_error *err)
{
    struct dp d = {.c = c, .gap = c->traces[0].gap_s, .best = NAN};
    if (c->ckpt_s) {
        return gt_fail(err, GT_EUNSUPPORTED, "ckpt_s",
                       "policy optimal is defined without lost work, found ckpt_s %lld",
                       (long long)c->ckpt_s);
    }
    int64_t rest = (int64_t)c->traces[0].n - c->start_tick, slack = c->deadline_s - c->work_s;
    d.ticks = c->deadline_s / d.gap < rest ? c->deadline_s / d.gap : rest;
    d.starts = slack < 0 ? 0 : c->restart_s ? slack / c->restart_s : d.ticks;
    d.starts = d.starts < d.ticks ? d.starts : d.ticks;
    d.starts = d.starts < MAX_STARTS ? d.starts : MAX_STARTS;
    d.spot_pays = c->p_spot[0] <= c->p_od;
    if (d.starts < 1) {
        report(&d, out);
        return 0;
    }
    d.actives = active_ticks(&d, d.starts);
    d.actives = d.actives < d.ticks ? d.actives : d.ticks;
    if (d.ticks * (d.starts + 1) * STATES > MAX_CELLS / (d.actives + 1)) {
        return gt_fail(err, GT_ELIMIT, "deadline_s",
                       "%lld ticks are too many for the exact optimum; shorten the deadline or use "
                       "a coarser trace",
                       (long long)d.ticks);
    }
    int rc = run(&d, err);
    free(d.now);
    free(d.next);
    if (!rc) {
        report(&d, out);
    }
    return rc;
}
