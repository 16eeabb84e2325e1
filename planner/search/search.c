/* The planner's entry: scenario + catalog -> ranked plans, Pareto front, what was rejected and why,
 * and the lower bound that the pass proved. Pure: no file, clock, environment. */
#include "search.h"
#include "again.h"
#include "gputier/units.h"
#include "place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int search_open_budget(struct search *q)
{
    const struct scenario *s = q->s;
    q->prune = true;
    q->use_deadline = s->deadline_s > 0;
    q->use_budget = s->budget >= 0;
    if (q->use_budget) {
        money usd = 0;
        if (catalog_to_usd(q->c, s->budget_currency, s->budget, &usd) != 0) {
            return gt_fail(q->err, GT_EPARSE, s->file,
                           "constraints.budget: no exchange rate is known for %.10s; another "
                           "currency, or --fx %.10s=RATE@DATE",
                           s->budget_currency, s->budget_currency);
        }
        q->budget_usd = money_to_double(usd);
    }
    return 0;
}

int search_open_work(struct search *q)
{
    const struct scenario *s = q->s;
    int rc = search_open_budget(q);
    if (rc != 0) {
        return rc;
    }
    if (s->kind == WORKLOAD_SERVING) {
        return gt_fail(q->err, GT_EUNSUPPORTED, s->file,
                       "workload.kind is serving: `serve` sizes it, `plan` is for training");
    }
    rc = search_names(q);
    return rc == 0 ? search_work(q) : rc;
}

int search_open_places(struct search *q)
{
    int rc = search_luck(q);
    rc = rc != 0 ? rc : search_select(q);
    return rc != 0 ? rc : search_places(q, q->region_ok);
}

int search_open(struct search *q)
{
    int rc = search_open_work(q);
    rc = rc != 0 ? rc : search_machines(q);
    return rc != 0 ? rc : search_open_places(q);
}

static int by_cost(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->at_least != y->at_least) {
        return x->at_least ? 1 : -1;
    }
    if (x->cost_usd != y->cost_usd) {
        return x->cost_usd < y->cost_usd ? -1 : 1;
    }
    return x->machine != y->machine ? (x->machine < y->machine ? -1 : 1) : x->n - y->n;
}

/* Exact totals may order what doubles could not tell apart. */
static int by_total(const void *a, const void *b)
{
    const struct plan *x = a, *y = b;
    if (x->at_least != y->at_least) {
        return x->at_least ? 1 : -1;
    }
    return x->total != y->total ? (x->total < y->total ? -1 : 1) : x->rank - y->rank;
}

static int build_list(struct search *q, const struct candidate *c, size_t n, bool tiers,
                      const struct plan **out)
{
    struct plan *p = arena_array(q->arena, n + 1, sizeof *p);
    if (p == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        int rc = build_plan(q, &c[i], (int)i + 1, &p[i]);
        rc = rc != 0 || !tiers ? rc : data_tiers(q, &c[i], &p[i]);
        if (rc != 0) {
            return rc;
        }
    }
    qsort(p, n, sizeof *p, by_total);
    for (size_t i = 0; i < n; i++) {
        p[i].rank = (int)i + 1;
    }
    *out = p;
    return 0;
}

static void mark_shown(struct outcome *o, const struct candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        o->ledger.slot[c[i].machine->group].shown = true;
    }
}

/* Ranked plans that stand on the front, and the rank of front plans that are ranked. */
static void mark_front(struct plan *plan, size_t n, struct plan *front, size_t n_front)
{
    for (size_t i = 0; i < n_front; i++) {
        front[i].on_front = true;
        front[i].rank = 0;
        for (size_t j = 0; j < n; j++) {
            if (strcmp(plan[j].id, front[i].id) == 0) {
                plan[j].on_front = true;
                front[i].rank = plan[j].rank;
            }
        }
    }
}

/* Exchange rates that the totals rest on. */
static void warn_rates(struct search *q, const struct plan_set *out)
{
    const char *said[8];
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        for (size_t j = 0; j < out->plan[i].n_lines; j++) {
            const char *pair[2] = {out->plan[i].line[j].currency, out->plan[i].currency};
            for (int k = 0; k < 2 && strcmp(pair[0], pair[1]) != 0; k++) {
                bool known = strcmp(pair[k], "USD") == 0 || n == 8 || q->n_warnings == 24;
                for (size_t l = 0; l < n; l++) {
                    known = known || strcmp(said[l], pair[k]) == 0;
                }
                if (!known) {
                    char rate[MONEY_TEXT], date[16];
                    int64_t when = 0;
                    money m = catalog_fx_rate(q->c, pair[k], &when);
                    said[n++] = pair[k];
                    q->warning[q->n_warnings++] =
                        arena_printf(q->arena, "exchange rate: %s %s for 1 USD, of %s",
                                     money_format(m, rate), pair[k], date_format(when, date));
                }
            }
        }
    }
}

static void set_dates(struct search *q, struct plan_set *out)
{
    int64_t newest = GT_TIME_NONE, oldest = INT64_MAX;
    bool bundled = false;
    for (size_t i = 0; i < out->n; i++) {
        for (size_t j = 0; j < out->plan[i].n_lines; j++) {
            const struct bill_line *l = &out->plan[i].line[j];
            newest = l->as_of > newest ? l->as_of : newest;
            oldest = l->as_of < oldest ? l->as_of : oldest;
            bundled = bundled || l->origin == ORIGIN_BUNDLED;
        }
    }
    out->prices_as_of = newest;
    char a[16], b[16];
    if (bundled && q->n_warnings < 24) {
        q->warning[q->n_warnings++] =
            strcmp(date_format(oldest, a), date_format(newest, b)) == 0
                ? arena_printf(q->arena,
                               "prices: bundled, as of %s; `gputier fetch` gets newer ones",
                               date_format(newest, b))
                : arena_printf(q->arena,
                               "prices: bundled, as of %s (the oldest row of %s); `gputier fetch` "
                               "gets newer ones",
                               date_format(newest, b), date_format(oldest, a));
    }
    warn_rates(q, out);
    if (q->n_warnings < 24) {
        q->warning[q->n_warnings++] =
            "prices are before tax; a month is 730 h, of block storage 720";
    }
}

int search_run(struct search *q, struct plan_set *out)
{
    struct outcome o;
    size_t want = q->o->top > 0 ? q->o->top : 10;
    int rc = search_pass(q, want, &o);
    if (rc != 0) {
        return rc;
    }
    if (o.n_front > 0) {
        qsort(o.front, o.n_front, sizeof *o.front, by_cost);
    }
    out->candidates = o.candidates;
    out->evaluated = o.evaluated;
    out->pruned = o.pruned;
    out->currency =
        search_own(q, q->o->currency != NULL && q->o->currency[0] != '\0' ? q->o->currency : "USD");
    mark_shown(&o, o.top, o.n_top);
    rc = ledger_write(q, &o.ledger, o.n_top > 0 && !o.top[o.n_top - 1].at_least, out);
    if (rc == 0) {
        rc = build_list(q, o.top, o.n_top, !q->cheapest_only, &out->plan);
        out->n = rc == 0 ? o.n_top : 0;
    }
    if (rc == 0) {
        rc = build_list(q, o.front, o.n_front, false, &out->front);
        out->n_front = rc == 0 ? o.n_front : 0;
    }
    if (rc != 0) {
        return rc;
    }
    /* Both lists are of this arena; plan_set shows them read-only. */
    struct plan *plan = (struct plan *)(uintptr_t)out->plan;
    struct plan *front = (struct plan *)(uintptr_t)out->front;
    mark_front(plan, out->n, front, out->n_front);
    /* Everything dearer was left out by a bound above it, so nothing whose prices are all known
     * costs less than the first; an "at least" total that is shown may lie below. */
    out->lower_bound = out->n > 0 ? out->plan[0].total : 0;
    for (size_t i = 1; i < out->n; i++) {
        out->lower_bound =
            out->plan[i].total < out->lower_bound ? out->plan[i].total : out->lower_bound;
    }
    if (!q->cheapest_only) {
        rc = search_commitments(q, out);
    }
    if (rc != 0) {
        return rc;
    }
    set_dates(q, out);
    const char **warning = arena_array(q->arena, q->n_warnings + 1, sizeof *warning);
    if (warning == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    memcpy(warning, q->warning, q->n_warnings * sizeof *warning);
    out->warning = warning;
    out->n_warnings = q->n_warnings;
    return out->n > 0 ? 0 : search_relax(q);
}

int search_finish(struct search *q, struct plan_kept *kept, struct plan_set **out)
{
    struct plan_set *set = arena_alloc(q->arena, sizeof *set);
    *out = NULL;
    if (set == NULL) {
        kept_release(kept);
        arena_free(q->arena);
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    set->arena = q->arena;
    set->kept = kept;
    set->now = q->o->now;
    set->seed = q->o->seed;
    set->prices_as_of = GT_TIME_NONE;
    int rc = search_run(q, set);
    if (rc != 0 && rc != GT_EINFEASIBLE) {
        plan_set_free(set);
        return rc;
    }
    *out = set;
    return rc;
}

int search_with(const struct scenario *s, const struct catalog *c, const struct plan_options *o,
                const struct search_tweak *tweak, struct plan_set **out, struct gt_error *err)
{
    *out = NULL;
    struct arena *a = arena_new(0);
    struct search *q = a != NULL ? arena_alloc(a, sizeof *q) : NULL;
    if (q == NULL) {
        arena_free(a);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    q->s = s;
    q->c = c;
    q->o = o;
    q->tweak = tweak;
    q->cheapest_only = tweak != NULL;
    q->arena = a;
    q->err = err;
    int rc = search_open(q);
    if (rc != 0) {
        arena_free(a);
        return rc;
    }
    return search_finish(q, NULL, out);
}

int plan_search(const struct scenario *s, const struct catalog *c, const struct plan_options *o,
                struct plan_set **out, struct gt_error *err)
{
    int rc = search_with(s, c, o, NULL, out, err);
    if (rc == 0 && o->sensitivity) {
        rc = search_sensitivity(s, c, o, *out, err);
        if (rc != 0) {
            plan_set_free(*out);
            *out = NULL;
        }
    }
    return rc;
}

int plan_check(const struct scenario *s, const struct catalog *c, struct gt_error *err)
{
    struct search *q = calloc(1, sizeof *q);
    if (q == NULL) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    q->s = s;
    q->c = c;
    q->err = err;
    int rc = search_names(q);
    free(q);
    return rc;
}

void plan_set_free(struct plan_set *p)
{
    if (p != NULL) {
        kept_release(p->kept);
        arena_free(p->arena);
    }
}
