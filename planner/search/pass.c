/* One pass over the declared search space: every offer x number of machines x placement. Pairs of
 * offer and number stand in the order of their lower bound; what cannot come into the ranking nor
 * onto the Pareto front (cost x 95 % quantile of time x exposure) is left out, which is proved by
 * the bound alone. */
#include "pass.h"
#include <stdlib.h>
#include <string.h>

void note_reject(struct outcome *o, const struct machine *m, int kind, const char *reason,
                 double usd)
{
    struct rejected *r = &o->ledger.slot[m->group];
    o->rejected_by[kind]++;
    if (!r->accepted && r->reason == NULL) {
        r->machine = m;
        r->reason = reason;
        r->kind = kind;
        r->usd = usd;
    }
}

static bool no_worse(const struct steps *a, const struct steps *b)
{
    return a->usd <= b->usd && a->time <= b->time && a->risk <= b->risk &&
           a->at_least <= b->at_least;
}

static bool covered(const struct outcome *o, const struct steps *v)
{
    for (size_t i = 0; i < o->n_front; i++) {
        if (no_worse(&o->front_steps[i], v)) {
            return true;
        }
    }
    return false;
}

/* The time from which on a plan of this cost and exposure is covered. */
static double covered_from(const struct outcome *o, const struct steps *v)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < o->n_front; i++) {
        const struct steps *w = &o->front_steps[i];
        if (w->usd <= v->usd && w->risk <= v->risk && w->at_least <= v->at_least) {
            least = fmin(least, w->time);
        }
    }
    return least;
}

static bool grow_front(struct arena *arena, struct outcome *o)
{
    size_t cap = o->cap_front == 0 ? 64 : 2 * o->cap_front;
    struct candidate *grown = arena_array(arena, cap, sizeof *grown);
    struct steps *beside = arena_array(arena, cap, sizeof *beside);
    if (grown == NULL || beside == NULL) {
        return false;
    }
    if (o->n_front > 0) {
        memcpy(grown, o->front, o->n_front * sizeof *grown);
        memcpy(beside, o->front_steps, o->n_front * sizeof *beside);
    }
    o->front = grown;
    o->front_steps = beside;
    o->cap_front = cap;
    return true;
}

static int put_front(struct search *q, struct outcome *o, const struct candidate *c)
{
    struct candidate timed = *c;
    struct steps v = steps(c->cost_usd, c->at_least, least_p95(c), c->risk);
    if (q->prune && covered(o, &v)) {
        return 0;
    }
    int rc = evaluate_p95(q, &timed, q->prune ? covered_from(o, &v) : (double)INFINITY);
    if (rc != 0 || isnan(timed.p95_h)) {
        return rc;
    }
    v = steps(c->cost_usd, c->at_least, timed.p95_h, c->risk);
    if (covered(o, &v)) {
        return 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < o->n_front; i++) {
        if (!no_worse(&v, &o->front_steps[i])) {
            o->front[kept] = o->front[i];
            o->front_steps[kept++] = o->front_steps[i];
        }
    }
    o->n_front = kept;
    if (o->n_front == o->cap_front && !grow_front(q->arena, o)) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    o->front[o->n_front] = timed;
    o->front_steps[o->n_front++] = v;
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

/* Can it come into the ranking or onto the front? */
static bool matters(const struct search *q, const struct outcome *o, const struct candidate *c)
{
    if (o->n_top < o->want || cost_order(c->cost_usd, c->at_least, o->top[o->want - 1].cost_usd,
                                         o->top[o->want - 1].at_least) < 0) {
        return true;
    }
    const struct steps v = steps(c->cost_usd, c->at_least, least_p95(c), c->risk);
    return !q->cheapest_only && !covered(o, &v);
}

/* Does the ranking end before all that this may become, and the front cover it? Spot with a twin
 * on demand is exposed from its start, or it is not and then all of it runs on the twin. */
static bool nothing_new(const struct search *q, const struct outcome *o, const struct least *l)
{
    if (!behind_top(o, l->usd * (1 - SLACK), l->at_least)) {
        return false;
    }
    struct steps v =
        steps(l->usd * (1 - SLACK), l->at_least, l->time_h * (1 - SLACK), l->risk * (1 - SLACK));
    if (q->cheapest_only) {
        return true;
    }
    if (!covered(o, &v)) {
        return false;
    }
    v.usd = floor(l->twin_usd * (1 - SLACK) * 100);
    v.risk = 0;
    return isnan(l->twin_usd) || covered(o, &v);
}

static int take(struct search *q, struct outcome *o, const struct candidate *c)
{
    struct rejected *l = &o->ledger.slot[c->machine->group];
    if (!l->accepted || cost_order(c->cost_usd, c->at_least, l->usd, l->unpriced) < 0) {
        l->usd = c->cost_usd;
        l->unpriced = c->at_least;
        l->bound = false;
    }
    l->accepted = true;
    l->machine = c->machine;
    put_top(o, c);
    return q->cheapest_only ? 0 : put_front(q, o, c);
}

static bool may_be_mixed(const struct search *q, const struct candidate *c)
{
    return q->use_deadline && twin_of(q, c->machine) != NULL &&
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
    struct least l;
    least_of_place(q, c, &l);
    if (q->prune && nothing_new(q, o, &l)) {
        note_dearer(&o->ledger.slot[c->machine->group], l.usd, l.at_least, true);
        return 0;
    }
    int rc = evaluate(q, c);
    o->evaluated++;
    if (rc == 0 && c->reject == REJECT_NONE) {
        if (q->prune && !matters(q, o, c) && !matters_mixed(q, o, c)) {
            note_dearer(&o->ledger.slot[c->machine->group], c->cost_usd, c->at_least, false);
            return 0;
        }
        const struct rejected *told = &o->ledger.slot[c->machine->group];
        q->terse = told->accepted || told->reason != NULL;
        rc = evaluate_deadline(q, c);
        q->terse = false;
    }
    if (rc != 0) {
        return rc;
    }
    if (c->reject == REJECT_NONE) {
        return take(q, o, c);
    }
    note_reject(o, c->machine, (int)c->reject, c->reason, c->cost_usd);
    if (c->reject == REJECT_LONG && !(o->least_long_h > 0 && o->least_long_h < c->makespan_h)) {
        o->least_long_h = c->makespan_h;
    }
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
    struct rejected *told = &o->ledger.slot[p->m->group];
    bool any = false, first = p->m == told->first && p->n == told->first_n;
    if (!told->looked && !first && q->prune) {
        /* its first pair was left out */
        note_dearer(told, told->first_usd, told->first_at_least, true);
    }
    told->looked = true;
    told->machine = told->machine == NULL ? told->first : told->machine;
    for (size_t i = 0; i < r->n_places; i++) {
        struct candidate c = {.machine = p->m, .kind = p->k, .n = p->n, .place = &r->place[i]};
        if (!place_allows(c.place, p->m, p->n)) {
            continue;
        }
        any = true;
        int rc = try_candidate(q, o, &c);
        if (rc != 0) {
            return rc;
        }
    }
    if (!any) {
        note_reject(o, p->m, REJECT_FIT, "the training data fit on no placement of this machine",
                    p->usd);
    }
    return 0;
}

/* The pairs in the order of their bounds. */
static int try_all(struct search *q, struct outcome *o, struct slate *slate)
{
    const struct pair *pair = NULL;
    size_t n = 0;
    while (slate_next(slate, &pair, &n)) {
        for (size_t i = 0; i < n; i++) {
            if (q->o->cancel != NULL && __atomic_load_n(q->o->cancel, __ATOMIC_RELAXED) != 0) {
                return gt_fail(q->err, GT_ECANCELLED, "", "planning was interrupted");
            }
            struct least l;
            least_of_pair(q, pair[i].m, pair[i].k, pair[i].n, pair[i].at_least, &l);
            int rc = q->prune && nothing_new(q, o, &l) ? 0 : try_pair(q, o, &pair[i]);
            if (rc != 0) {
                return rc;
            }
        }
        if (n == 0) {
            return 0;
        }
    }
    return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
}

int search_pass(struct search *q, size_t want, struct outcome *o)
{
    *o = (struct outcome){.want = want};
    o->top = arena_array(q->arena, want + 1, sizeof *o->top);
    o->ledger.slot = arena_array(q->arena, q->n_groups + 1, sizeof *o->ledger.slot);
    o->ledger.n = q->n_groups;
    struct slate *slate = o->top != NULL && o->ledger.slot != NULL ? slate_open(q, o) : NULL;
    if (slate == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    int rc = try_all(q, o, slate), closed = slate_close(slate);
    if (rc == 0 && closed != 0) {
        return gt_fail(q->err, closed, "", "out of memory");
    }
    o->pruned = o->candidates - o->evaluated;
    for (size_t i = 0; i < q->n_unpriced && rc == 0; i++) {
        const uint8_t state = q->c->offers.price_state[q->unpriced[i].row];
        note_reject(o, &q->unpriced[i], REJECT_FIT,
                    state == PRICE_SOLD_OTHERWISE
                        ? "sold otherwise: by request or as a capacity block, without a price"
                    : state == PRICE_KNOWN
                        ? "its price is in a currency without an exchange rate on that day: --fx"
                        : "nobody publishes its price",
                    0);
    }
    return rc;
}
