/* One pass over the declared search space: every offer x number of machines x placement. Pairs of
 * offer and number stand in the order of their lower bound; what cannot come into the ranking nor
 * onto the Pareto front (cost x 95 % quantile of time x exposure) is left out, which is proved by
 * the bound alone. */
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bound is a sum in double precision: this much it may be off. */
#define SLACK     1e-9
#define MAX_FRONT 200

struct pair {
    const struct machine *m;
    const struct kind *k;
    int n;
    bool at_least;
    double usd, time_h, risk;
};

/* -1, 0, 1: an "at least" total never stands before one that is whole. */
static int cost_order(double a, bool a_at_least, double b, bool b_at_least)
{
    return a_at_least != b_at_least ? (a_at_least ? 1 : -1) : (a > b) - (a < b);
}

static bool region_at_least(const struct region *r)
{
    bool all = r->common.at_least;
    if (!all) {
        all = true;
        for (size_t i = 0; i < r->n_places; i++) {
            all = all && r->place[i].charges.at_least;
        }
    }
    return all;
}

static int by_bound(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = cost_order(x->usd, x->at_least, y->usd, y->at_least);
    if (order != 0) {
        return order;
    }
    if (x->m != y->m) {
        return x->m < y->m ? -1 : 1;
    }
    return (x->n > y->n) - (x->n < y->n);
}

static void count_range(const struct scenario *s, const struct machine *m, int *lo, int *hi)
{
    *lo = (int)fmax(1, ceil(s->gpus_min / m->gpus - 1e-9));
    *hi = (int)fmin(SEARCH_MAX_INSTANCES, floor(s->gpus_max / m->gpus + 1e-9));
    if (m->gpus < 1) { /* a slice does not gang up */
        *hi = s->gpus_min <= 1 && *lo == 1 ? 1 : 0;
    }
}

/* Numbers of machines that are considered: all up to 32, above that eight for each doubling, and
 * the least and the most that the scenario allows. */
int search_next_count(int n, int hi)
{
    int step = 1;
    while (n >= 32 * step) {
        step *= 2;
    }
    step = step > 1 ? step * 2 : 1;
    int next = (n / step + 1) * step;
    return next > hi && n < hi ? hi : next;
}

static size_t count_pairs(const struct search *q)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_machines; i++) {
        int lo, hi;
        count_range(q->s, &q->machine[i], &lo, &hi);
        for (int k = lo; k <= hi; k = search_next_count(k, hi)) {
            n++;
        }
    }
    return n;
}

static void note_reject(struct search *q, struct outcome *o, const struct machine *m, int kind,
                        const char *reason, double usd)
{
    struct rejected *r = ledger_find(q, &o->ledger, m);
    o->rejected_by[kind]++;
    if (r != NULL && !r->accepted && r->reason == NULL) {
        r->machine = m;
        r->reason = reason;
        r->kind = kind;
        r->usd = usd;
    }
}

/* A maximum price under the price of now: no such machine starts. */
static bool capped_out(struct search *q, struct outcome *o, const struct pair *p)
{
    if (!(q->s->spot_max_price_factor > 0 && p->m->cap_usd < p->m->usd_h)) {
        return false;
    }
    note_reject(q, o, p->m, REJECT_RISK,
                arena_printf(q->arena,
                             "maximum price %.4f USD/h (spot.max_price_factor) is below the price "
                             "of now, %.4f: no machine starts",
                             p->m->cap_usd, p->m->usd_h),
                p->usd);
    return true;
}

/* All pairs that fit, in the order of their bound; NULL = out of memory. */
static struct pair *make_pairs(struct search *q, struct outcome *o, size_t *n_out)
{
    size_t n = 0, cap = count_pairs(q);
    struct pair *pair = malloc((cap + 1) * sizeof *pair);
    for (size_t i = 0; pair != NULL && i < q->n_machines; i++) {
        const struct machine *m = &q->machine[i];
        int lo, hi;
        count_range(q->s, m, &lo, &hi);
        for (int k = lo; k <= hi; k = search_next_count(k, hi)) {
            const struct kind *kind = search_kind(q, m, k);
            if (kind == NULL) {
                free(pair);
                return NULL;
            }
            size_t places = q->region[m->region_index].n_places;
            o->candidates += places;
            if (!kind->ok) {
                note_reject(q, o, m, REJECT_FIT, kind->reason, 0);
                o->pruned += places;
                continue;
            }
            struct pair *p = &pair[n];
            *p = (struct pair){.m = m, .k = kind, .n = k};
            p->at_least = region_at_least(&q->region[m->region_index]) ||
                          (q->region[m->region_index].checkpoint_unpriced && m->lambda_per_h > 0);
            lower_bound(q, m, kind, k, &p->usd, &p->time_h, &p->risk);
            if (capped_out(q, o, p)) {
                o->pruned += places;
            } else {
                n++;
            }
        }
    }
    if (pair != NULL) {
        qsort(pair, n, sizeof *pair, by_bound);
    }
    *n_out = n;
    return pair;
}

/* Dominance is asked in steps that a person can tell apart; rounding down keeps bounds bounds. */
static void steps(double usd, bool at_least, double time_h, double risk, double out[4])
{
    out[0] = floor(usd * 100);
    out[1] = search_time_steps(time_h);
    out[2] = floor(risk * 100);
    out[3] = at_least;
}

static bool no_worse(const double a[4], const double b[4])
{
    return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2] && a[3] <= b[3];
}

static bool covered(const struct outcome *o, const double v[4])
{
    for (size_t i = 0; i < o->n_front; i++) {
        const struct candidate *f = &o->front[i];
        double w[4];
        steps(f->cost_usd, f->at_least, f->p95_h, f->risk, w);
        if (no_worse(w, v)) {
            return true;
        }
    }
    return false;
}

/* The time from which on a plan of this cost and exposure is covered. */
static double covered_from(const struct outcome *o, const double v[4])
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < o->n_front; i++) {
        const struct candidate *f = &o->front[i];
        double w[4];
        steps(f->cost_usd, f->at_least, f->p95_h, f->risk, w);
        if (w[0] <= v[0] && w[2] <= v[2] && w[3] <= v[3]) {
            least = fmin(least, w[1]);
        }
    }
    return least;
}

static int put_front(struct search *q, struct outcome *o, const struct candidate *c)
{
    double v[4], w[4];
    struct candidate timed = *c;
    steps(c->cost_usd, c->at_least, least_p95(c), c->risk, v);
    if (q->prune && covered(o, v)) {
        return 0;
    }
    int rc = evaluate_p95(q, &timed, q->prune ? covered_from(o, v) : (double)INFINITY);
    if (rc != 0 || isnan(timed.p95_h)) {
        return rc;
    }
    steps(c->cost_usd, c->at_least, timed.p95_h, c->risk, v);
    if (covered(o, v)) {
        return 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < o->n_front; i++) {
        const struct candidate *f = &o->front[i];
        steps(f->cost_usd, f->at_least, f->p95_h, f->risk, w);
        if (!no_worse(v, w)) {
            o->front[kept++] = *f;
        }
    }
    o->n_front = kept;
    if (o->n_front == o->cap_front) {
        size_t cap = o->cap_front == 0 ? 64 : 2 * o->cap_front;
        struct candidate *grown = arena_array(q->arena, cap, sizeof *grown);
        if (grown == NULL) {
            return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
        }
        if (o->n_front > 0) {
            memcpy(grown, o->front, o->n_front * sizeof *grown);
        }
        o->front = grown;
        o->cap_front = cap;
    }
    o->front[o->n_front++] = timed;
    return 0;
}

static bool same_group(const struct candidate *a, const struct candidate *b)
{
    return a->machine->purchase == b->machine->purchase && a->mixed == b->mixed &&
           a->fallback == b->fallback && strcmp(a->machine->type, b->machine->type) == 0 &&
           strcmp(a->machine->vendor, b->machine->vendor) == 0 &&
           strcmp(a->machine->gpu, b->machine->gpu) == 0;
}

/* Keeps the `want` cheapest groups, each with its cheapest member, in order. */
static void put_top(struct outcome *o, const struct candidate *c)
{
    size_t at = o->n_top, gone = SIZE_MAX;
    for (size_t i = 0; i < o->n_top; i++) {
        int order = cost_order(o->top[i].cost_usd, o->top[i].at_least, c->cost_usd, c->at_least);
        if (same_group(&o->top[i], c)) {
            if (order <= 0) {
                return;
            }
            gone = i;
        }
        if (order > 0 && at == o->n_top) {
            at = i;
        }
    }
    size_t last = gone != SIZE_MAX ? gone : o->n_top < o->want ? o->n_top++ : o->want - 1;
    if (at > last || o->want == 0) {
        return;
    }
    memmove(&o->top[at + 1], &o->top[at], (last - at) * sizeof *o->top);
    o->top[at] = *c;
}

/* Left out for its cost alone: the bound or the expectation that did it. */
static void note_dearer(struct search *q, struct outcome *o, const struct machine *m, double usd)
{
    struct rejected *r = ledger_find(q, &o->ledger, m);
    if (r != NULL && r->usd <= 0) {
        r->usd = usd;
    }
}

/* Can it come into the ranking or onto the front? */
static bool matters(const struct search *q, const struct outcome *o, const struct candidate *c)
{
    double v[4];
    if (o->n_top < o->want || cost_order(c->cost_usd, c->at_least, o->top[o->want - 1].cost_usd,
                                         o->top[o->want - 1].at_least) < 0) {
        return true;
    }
    steps(c->cost_usd, c->at_least, least_p95(c), c->risk, v);
    return !q->cheapest_only && !covered(o, v);
}

/* Why a pair need not be looked at: 0 = it must. */
static int skip(struct search *q, struct outcome *o, const struct pair *p)
{
    double v[4];
    if (q->use_budget && p->usd * (1 - SLACK) > q->budget_usd) {
        note_reject(q, o, p->m, REJECT_BUDGET,
                    arena_printf(q->arena, "over the budget: at least %.2f USD, %.2f allowed",
                                 p->usd, q->budget_usd),
                    p->usd);
        return 1;
    }
    if (o->n_top == o->want &&
        cost_order(p->usd * (1 - SLACK), p->at_least, o->top[o->want - 1].cost_usd,
                   o->top[o->want - 1].at_least) > 0) {
        steps(p->usd * (1 - SLACK), p->at_least, p->time_h * (1 - SLACK), p->risk * (1 - SLACK), v);
        if (q->cheapest_only || covered(o, v)) {
            note_dearer(q, o, p->m, p->usd);
            return 1;
        }
    }
    return 0;
}

static int take(struct search *q, struct outcome *o, const struct candidate *c)
{
    struct rejected *l = ledger_find(q, &o->ledger, c->machine);
    if (l != NULL) {
        l->accepted = true;
        l->machine = c->machine;
        l->usd = l->usd > 0 ? fmin(l->usd, c->cost_usd) : c->cost_usd;
    }
    put_top(o, c);
    return q->cheapest_only ? 0 : put_front(q, o, c);
}

static bool may_be_mixed(const struct search *q, const struct candidate *c)
{
    return q->use_deadline && c->machine->twin != NULL &&
           strcmp(q->s->spot_policy, "spot_only") != 0;
}

/* With on demand as the safety net it may cost less than alone, where interruptions cost much: no
 * less than a run without any, at the price of spot. */
static bool matters_mixed(struct search *q, const struct outcome *o, const struct candidate *c)
{
    struct candidate k = *c;
    if (!may_be_mixed(q, c)) {
        return false;
    }
    double tau = fmin(c->job.tau_h, c->job.work_h);
    double writes = fmax(0, ceil(c->job.work_h / tau - 1e-9) - 1);
    k.billed_h = c->job.restart_h + c->job.work_h + writes * c->job.delta_h;
    k.makespan_h = k.billed_h;
    k.interruptions = 0;
    k.risk = mixed_risk(&c->job, q->s->deadline_s / 3600 - c->job.wait_h) * (1 - SLACK);
    k.epochs_read = c->cached ? fmin(1, q->epochs) : c->epochs_read;
    k.cost_usd = (c->n * c->machine->usd_h * k.billed_h + shared_usd(q, &k)) * (1 - SLACK);
    struct candidate alone = *c;
    return matters(q, o, &k) && deadline_bounds(q, &alone) == 0;
}

static int try_candidate(struct search *q, struct outcome *o, struct candidate *c)
{
    int rc = evaluate(q, c);
    o->evaluated++;
    if (rc == 0 && c->reject == REJECT_NONE) {
        if (q->prune && !matters(q, o, c) && !matters_mixed(q, o, c)) {
            note_dearer(q, o, c->machine, c->cost_usd);
            return 0;
        }
        const struct rejected *told = ledger_find(q, &o->ledger, c->machine);
        q->terse = told != NULL && (told->accepted || told->reason != NULL);
        rc = evaluate_deadline(q, c);
        q->terse = false;
    }
    if (rc != 0) {
        return rc;
    }
    if (c->reject == REJECT_NONE) {
        return take(q, o, c);
    }
    note_reject(q, o, c->machine, (int)c->reject, c->reason, c->cost_usd);
    if (c->reject != REJECT_DEADLINE || c->hopeless || !may_be_mixed(q, c)) {
        return 0;
    }
    /* Spot alone is late too often: with on demand as the safety net? */
    rc = evaluate_mixed(q, c);
    if (rc != 0 || c->reject != REJECT_NONE) {
        return rc;
    }
    return take(q, o, c);
}

static int try_pair(struct search *q, struct outcome *o, const struct pair *p)
{
    const struct region *r = &q->region[p->m->region_index];
    bool any = false;
    for (size_t i = 0; i < r->n_places; i++) {
        struct candidate c = {.machine = p->m, .kind = p->k, .n = p->n, .place = &r->place[i]};
        if (!place_allows(c.place, p->m, p->n)) {
            o->pruned++;
            continue;
        }
        any = true;
        int rc = try_candidate(q, o, &c);
        if (rc != 0) {
            return rc;
        }
    }
    if (!any) {
        note_reject(q, o, p->m, REJECT_FIT, "the training data fit on no placement of this machine",
                    p->usd);
    }
    return 0;
}

int search_pass(struct search *q, size_t want, struct outcome *o)
{
    size_t n = 0;
    *o = (struct outcome){.want = want};
    o->top = arena_array(q->arena, want + 1, sizeof *o->top);
    struct pair *pair = o->top != NULL ? make_pairs(q, o, &n) : NULL;
    if (pair == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (q->o->cancel != NULL && __atomic_load_n(q->o->cancel, __ATOMIC_RELAXED) != 0) {
            rc = gt_fail(q->err, GT_ECANCELLED, "", "planning was interrupted");
        } else if (q->prune && skip(q, o, &pair[i])) {
            o->pruned += q->region[pair[i].m->region_index].n_places;
        } else {
            rc = try_pair(q, o, &pair[i]);
        }
    }
    free(pair);
    for (size_t i = 0; i < q->n_unpriced && rc == 0; i++) {
        const uint8_t state = q->c->offers.price_state[q->unpriced[i].row];
        note_reject(q, o, &q->unpriced[i], REJECT_FIT,
                    state == PRICE_SOLD_OTHERWISE
                        ? "sold otherwise: by request or as a capacity block, without a price"
                    : state == PRICE_KNOWN
                        ? "its price is in a currency without an exchange rate on that day: --fx"
                        : "nobody publishes its price",
                    0);
    }
    return rc;
}
