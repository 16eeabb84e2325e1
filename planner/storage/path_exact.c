/* R-OPT-01 in exact rationals: the cheapest tier path of one group as a shortest path over
 * (period, tier, periods served). Ties: fewest moves, then tier order of the input. The planner's
 * own search (tier_dp.c) is the same recurrence in double over many groups. */
#include "gputier/billing.h"
#include <stdlib.h>

struct cost {
    struct rat total; /* d == 0: not feasible */
    int moves;
    int ways; /* optimal paths, 2 = several: ties in money alone, whatever the moves */
};
struct state {
    struct cost value;
    int next; /* tier of the next period, -1 at the end */
};
struct work {
    const struct path_problem *p;
    int *served_max, *offset; /* M_k; first state of tier k in one period */
    int width;                /* states of one period */
    struct rat *own, *stay;   /* monthly own-rate cost; stay cost [t * n_tiers + k], d == 0 no */
    struct rat *move;         /* [from * n_tiers + to], d == 0: not allowed */
    struct state *state;      /* [t * width + offset[k] + a] */
    bool overflow;
};

static struct rat none(void)
{
    return (struct rat){0, 0};
}

static int compare(struct cost a, struct cost b)
{
    int c = rat_cmp(a.total, b.total);
    return c != 0 ? c : (a.moves > b.moves) - (a.moves < b.moves);
}

static int served_max(const struct tier_price *t)
{
    struct rat m = rat_ceil(rat_div(t->min_days, rat_int(30)));
    return rat_ok(m) && m.n > 0 && m.n <= 120 ? (int)m.n : 0;
}

static bool feasible(const struct path_problem *p, int t, int k)
{
    const struct tier_price *tp = &p->tier[k];
    if (rat_cmp(rat_int(p->initial_age + t), tp->min_age_periods) < 0) {
        return false;
    }
    if (rat_ok(p->latency_limit[t]) && rat_cmp(tp->latency_s, p->latency_limit[t]) > 0) {
        return false;
    }
    return !p->throughput_need || rat_cmp(tp->throughput, p->throughput_need[t]) >= 0;
}

static struct rat stay_cost(const struct path_problem *p, int t, int k, struct rat own)
{
    const struct tier_price *tp = &p->tier[k];
    struct rat c = own, k1000 = rat_int(1000);
    struct rat hot = rat_gib(rat_mul(p->objects, tp->overhead_hot));
    c = rat_add(c, rat_mul(hot, p->hot_price));
    if (rat_cmp(p->size, tp->monitor_min_bytes) >= 0) {
        c = rat_add(c, rat_div(rat_mul(p->objects, tp->monitor_1000), k1000));
    }
    struct rat copy = rat_mul(p->hot_price, rat_div(tp->copy_days, rat_int(30)));
    c = rat_add(c, rat_mul(p->read_gb[t], rat_add(tp->retrieval_gb, copy)));
    struct rat request = rat_add(tp->get_1000, tp->restore_1000);
    return rat_add(c, rat_div(rat_mul(p->read_requests[t], request), k1000));
}

static struct rat penalty(const struct work *w, int k, int served)
{
    int left = w->served_max[k] - served;
    return left > 0 ? rat_mul(rat_int(left), w->own[k]) : rat_int(0);
}

static int prepare(struct work *w)
{
    const struct path_problem *p = w->p;
    size_t n = (size_t)p->n_tiers;
    w->served_max = calloc(n, sizeof *w->served_max);
    w->offset = calloc(n, sizeof *w->offset);
    w->own = calloc(n, sizeof *w->own);
    w->stay = calloc(n * (size_t)p->periods, sizeof *w->stay);
    w->move = calloc(n * n, sizeof *w->move);
    if (!w->served_max || !w->offset || !w->own || !w->stay || !w->move) {
        return GT_ENOMEM;
    }
    for (int k = 0; k < p->n_tiers; k++) {
        const struct tier_price *tp = &p->tier[k];
        w->served_max[k] = served_max(tp);
        w->offset[k] = w->width;
        w->width += w->served_max[k] + 1;
        struct rat each = rat_add(rat_max(p->size, tp->min_bytes), tp->overhead_tier);
        w->own[k] = rat_mul(rat_gib(rat_mul(p->objects, each)), tp->storage);
        for (int t = 0; t < p->periods; t++) {
            struct rat *s = &w->stay[t * p->n_tiers + k];
            if (feasible(p, t, k)) {
                *s = stay_cost(p, t, k, w->own[k]);
                w->overflow = w->overflow || !rat_ok(*s);
            }
        }
    }
    struct rat gb = rat_gib(rat_mul(p->objects, p->size));
    for (size_t i = 0; i < p->n_moves; i++) {
        const struct path_move *m = &p->move[i];
        struct rat fee = rat_div(rat_mul(p->objects, m->fee_1000), rat_int(1000));
        struct rat *cell = &w->move[m->from * p->n_tiers + m->to];
        *cell = rat_add(fee, rat_mul(gb, m->per_gb));
        w->overflow = w->overflow || !rat_ok(*cell);
    }
    w->state = calloc((size_t)w->width * (size_t)p->periods, sizeof *w->state);
    return w->state ? 0 : GT_ENOMEM;
}

/* Best way on from period t (exclusive of its stay): enter period t with `served` periods in k. */
static struct state best_entry(struct work *w, int t, int k, int served)
{
    const struct path_problem *p = w->p;
    struct state best = {{none(), 0, 0}, -1};
    struct rat pen = penalty(w, k, served);
    for (int to = 0; to < p->n_tiers; to++) {
        struct cost c;
        if (to == k) {
            c = w->state[t * w->width + w->offset[k] + served].value;
        } else {
            struct rat fee = w->move[k * p->n_tiers + to];
            c = w->state[t * w->width + w->offset[to]].value;
            if (!rat_ok(fee) || !rat_ok(c.total)) {
                continue;
            }
            c.total = rat_add(rat_add(c.total, fee), pen);
            c.moves++;
            w->overflow = w->overflow || !rat_ok(c.total);
        }
        if (!rat_ok(c.total)) {
            continue;
        }
        int tie = best.next < 0 ? -1 : rat_cmp(c.total, best.value.total);
        int ways = tie == 0 ? 2 : tie < 0 ? c.ways : best.value.ways;
        if (best.next < 0 || compare(c, best.value) < 0) {
            best = (struct state){c, to};
        }
        best.value.ways = ways;
    }
    return best;
}

static void solve_state(struct work *w, int t, int k, int a)
{
    const struct path_problem *p = w->p;
    struct state *s = &w->state[t * w->width + w->offset[k] + a];
    struct rat stay = w->stay[t * p->n_tiers + k];
    *s = (struct state){{none(), 0, 0}, -1};
    if (!rat_ok(stay)) {
        return;
    }
    int served = a < w->served_max[k] ? a + 1 : a;
    if (t == p->periods - 1) {
        struct rat end = p->terminal_delete ? penalty(w, k, served) : rat_int(0);
        s->value.total = rat_add(stay, end);
        s->value.ways = 1;
    } else {
        struct state on = best_entry(w, t + 1, k, served);
        if (on.next < 0) {
            return;
        }
        *s = on;
        s->value.total = rat_add(stay, on.value.total);
    }
    w->overflow = w->overflow || !rat_ok(s->value.total);
}

/* Period 0 in k (moved there at once when it is not the start tier), then stay to the end. */
static struct rat static_cost(struct work *w, int k, int start_served)
{
    const struct path_problem *p = w->p;
    int from = p->start_tier, served = k == from ? start_served : 0;
    struct rat c = rat_int(0);
    if (k != from) {
        struct rat fee = w->move[from * p->n_tiers + k];
        if (!rat_ok(fee)) {
            return none();
        }
        c = rat_add(fee, penalty(w, from, start_served));
    }
    for (int t = 0; t < p->periods; t++) {
        if (!rat_ok(w->stay[t * p->n_tiers + k])) {
            return none();
        }
        c = rat_add(c, w->stay[t * p->n_tiers + k]);
    }
    int end = served + p->periods;
    end = end < w->served_max[k] ? end : w->served_max[k];
    return p->terminal_delete ? rat_add(c, penalty(w, k, end)) : c;
}

static void trace(struct work *w, struct path_result *r, struct state first, int start_served)
{
    const struct path_problem *p = w->p;
    int k = first.next, a = first.next == p->start_tier ? start_served : 0;
    for (int t = 0; t < p->periods; t++) {
        r->tier_at[t] = k;
        int next = w->state[t * w->width + w->offset[k] + a].next;
        if (next != k) {
            a = 0;
        } else if (a < w->served_max[k]) {
            a++;
        }
        k = next;
    }
}

static int solve(struct work *w, struct path_result *r, struct gt_error *err)
{
    const struct path_problem *p = w->p;
    int rc = prepare(w);
    if (rc < 0) {
        return gt_fail(err, rc, "path-optimum", "out of memory");
    }
    for (int t = p->periods - 1; t >= 0 && !w->overflow; t--) {
        for (int k = 0; k < p->n_tiers; k++) {
            for (int a = 0; a <= w->served_max[k]; a++) {
                solve_state(w, t, k, a);
            }
        }
    }
    int start = p->start_tier, limit = w->served_max[start];
    int a0 = p->start_served < limit ? p->start_served : limit;
    struct state first = {{none(), 0, 0}, -1};
    if (!w->overflow) {
        first = best_entry(w, 0, start, a0);
    }
    if (w->overflow) {
        return gt_fail(err, GT_ERANGE, "path-optimum", "does not fit exact 128-bit arithmetic");
    }
    r->feasible = first.next >= 0;
    if (r->feasible) {
        r->total = first.value.total;
        r->moves = first.value.moves;
        r->unique = first.value.ways == 1;
        trace(w, r, first, a0);
    }
    for (int k = 0; k < p->n_tiers; k++) {
        r->static_cost[k] = static_cost(w, k, a0);
    }
    return 0;
}

int path_optimum(const struct path_problem *p, struct path_result *r, struct gt_error *err)
{
    if (p->periods < 1 || p->periods > 4096 || p->n_tiers < 1 || p->n_tiers > 64 ||
        p->start_served < 0) {
        return gt_fail(err, GT_ERANGE, "path-optimum", "1 to 4096 periods and 1 to 64 tiers");
    }
    struct work w = {.p = p};
    int rc = solve(&w, r, err);
    free(w.served_max);
    free(w.offset);
    free(w.own);
    free(w.stay);
    free(w.move);
    free(w.state);
    return rc;
}
