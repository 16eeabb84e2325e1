/* Training and storage in one answer: what the machines of a plan would do with their training data
 * on every other placement, by the same model and bill, and on which tiers the data wait from the
 * end of the run until their time is over, by the storage engine (planner/storage). */
#include "gputier/tier.h"
#include "place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHOICES 12
#define MAX_MONTHS  1200
#define WAIT_S      (12 * 3600.0) /* the next run waits no longer for its data */

struct tried {
    struct candidate c;
    struct plan_data_choice out;
};

static int no_memory(struct search *q)
{
    return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
}

/* As the pass does it: alone, and with on demand as the net where the plan has one. */
static int evaluate_as(struct search *q, const struct candidate *plan, struct candidate *c)
{
    int rc = evaluate(q, c);
    if (rc == 0 && c->reject == REJECT_NONE) {
        rc = evaluate_deadline(q, c);
    }
    if (rc == 0 && c->reject == REJECT_DEADLINE && !c->hopeless && plan->mixed && !plan->fallback) {
        c->reject = REJECT_NONE;
        c->reason = NULL;
        rc = evaluate_mixed(q, c);
    }
    return rc;
}

static int describe(struct search *q, const struct candidate *plan, struct tried *t)
{
    static const char *const how[] = {[PLACE_NONE] = "",
                                      [PLACE_IN_PLACE] = "in_place",
                                      [PLACE_COPIED] = "copied",
                                      [PLACE_LOCAL] = "staged"};
    const struct candidate *c = &t->c;
    const struct place *p = c->place;
    double stage = place_stage_s(q, p, c->machine, c->n);
    double first = isinf(c->read_bps) || q->bytes_per_sample <= 0
                       ? c->kind->rate.samples_per_s
                       : fmin(c->read_bps / q->bytes_per_sample, c->kind->rate.samples_per_s);
    /* Without interruptions and their restarts: what the tier alone changes. */
    t->out = (struct plan_data_choice){
        .kept = search_own(q, p->home_tier),
        .read = search_own(q, p->tier),
        .option = search_own(q, p->option),
        .source = search_own(q, p->source),
        .how = how[p->mode],
        .read_bps = c->read_bps,
        .stage_s = stage,
        .first_epoch_s = q->samples / first,
        .epoch_s = c->epoch_s,
        .bound = c->storage_bound ? BOUND_INPUT_STORAGE : c->kind->rate.bound,
        .first_bound =
            first < c->kind->rate.samples_per_s ? BOUND_INPUT_STORAGE : c->kind->rate.bound,
        .makespan_s = c->makespan_h * 3600,
        .at_least = c->at_least,
        .chosen = p == plan->place,
        .reason = c->reject == REJECT_NONE ? "" : search_own(q, c->reason),
    };
    if (c->reject != REJECT_NONE) {
        return 0;
    }
    struct plan bill = {.rank = 0};
    int rc = build_bill(q, c, &bill);
    t->out.total = bill.total;
    return rc;
}

/* Possible ones first, by cost; then what stands in the way, the nearest first. */
static int by_use(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    bool p = x->c.reject == REJECT_NONE, r = y->c.reject == REJECT_NONE;
    if (p != r) {
        return p ? -1 : 1;
    }
    if (p && x->out.at_least != y->out.at_least) {
        return x->out.at_least ? 1 : -1;
    }
    if (p && x->out.total != y->out.total) {
        return x->out.total < y->out.total ? -1 : 1;
    }
    if (x->out.epoch_s != y->out.epoch_s) {
        return x->out.epoch_s < y->out.epoch_s ? -1 : 1;
    }
    return x->c.place < y->c.place ? -1 : x->c.place > y->c.place;
}

static bool same_way(const struct plan_data_choice *a, const struct plan_data_choice *b)
{
    return strcmp(a->kept, b->kept) == 0 && strcmp(a->read, b->read) == 0 &&
           strcmp(a->how, b->how) == 0 && strcmp(a->source, b->source) == 0;
}

/* Of each way the best option (the speeds of a volume, say) and the plan's own. */
static size_t distinct(struct tried *t, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < kept && !same_way(&t[j].out, &t[i].out)) {
            j++;
        }
        if (j == kept || t[i].out.chosen) {
            t[kept++] = t[i];
        }
    }
    return kept;
}

static int choices(struct search *q, const struct candidate *c, struct plan *out)
{
    const struct region *r = &q->region[c->machine->region_index];
    struct tried *t = calloc(r->n_places + 1, sizeof *t);
    size_t n = 0;
    int rc = t != NULL ? 0 : no_memory(q);
    for (size_t i = 0; i < r->n_places && rc == 0; i++) {
        if (!place_allows(&r->place[i], c->machine, c->n)) {
            continue;
        }
        t[n].c = (struct candidate){
            .machine = c->machine, .kind = c->kind, .place = &r->place[i], .n = c->n};
        rc = &r->place[i] == c->place ? 0 : evaluate_as(q, c, &t[n].c);
        t[n].c = &r->place[i] == c->place ? *c : t[n].c;
        if (rc == 0 && t[n].c.reject != REJECT_FIT) {
            rc = describe(q, c, &t[n++]);
        }
    }
    if (rc == 0 && n > 0) {
        qsort(t, n, sizeof *t, by_use);
        n = distinct(t, n);
        struct plan_data_choice *list = arena_array(q->arena, MAX_CHOICES, sizeof *list);
        size_t shown = 0;
        for (size_t i = 0; list != NULL && i < n; i++) {
            size_t room = MAX_CHOICES - shown;
            if (t[i].out.chosen ? room > 0 : room > 1) { /* the plan's own always has its place */
                list[shown++] = t[i].out;
            }
        }
        rc = list != NULL && !q->no_memory ? 0 : no_memory(q);
        out->choice = list;
        out->n_choices = shown;
    }
    free(t);
    return rc;
}

/* One set from the end of the run on. What the storage engine has no prices or rules for stays
 * where it is, and nothing is said. */
static int one_wait(struct search *q, const struct candidate *c, const struct scenario_data *d,
                    struct plan_wait *w, bool *found)
{
    const struct region *r = &q->region[c->machine->region_index];
    bool placed = d->vendor[0] != '\0';
    int from = (int)fmax(1, ceil(c->makespan_h / 730 - 1e-9));
    int to = (int)fmin(MAX_MONTHS, fmax(1, ceil(d->keep_months - 1e-9)));
    const char *tier = tier_fixed(d) ? d->tier : c->place->home_tier;
    struct tier_group g = {.name = d->name,
                           .tier = tier,
                           .objects = d->files > 0 ? d->files : 1,
                           .bytes = d->size_bytes,
                           .reads_per_month = d->reads_per_month,
                           .read_fraction = -1};
    struct tier_options o = {.vendor = placed ? d->vendor : r->vendor,
                             .region = placed ? d->region : r->region,
                             .horizon_months = to - from,
                             .max_wait_s = WAIT_S,
                             .from_tier = tier,
                             .delete_at_end = true};
    struct tier_plan *p = NULL;
    struct gt_error why = {0};
    *found = false;
    if (to <= from || d->size_bytes == 0 || storage_rule_find(tier) == NULL) {
        return 0;
    }
    int rc = tier_optimise(&g, 1, q->c, &o, &p, &why);
    if (rc == GT_ENOMEM) {
        return no_memory(q);
    }
    if (rc != 0) {
        return 0;
    }
    const struct tier_path *path = &p->path[0];
    struct plan_placement *step = arena_array(q->arena, path->n_steps, sizeof *step);
    *w = (struct plan_wait){.data_set = search_own(q, d->name),
                            .step = step,
                            .n_steps = path->n_steps,
                            .cost = path->cost,
                            .stay = path->baseline_cost,
                            .saving = path->saving,
                            .currency = search_own(q, p->currency),
                            .at_least = p->at_least};
    for (size_t i = 0; step != NULL && i < path->n_steps; i++) {
        const struct storage_rule *rule = storage_rule_find(path->step[i].tier);
        step[i] =
            (struct plan_placement){w->data_set, search_own(q, path->step[i].tier),
                                    from + path->step[i].from_month, from + path->step[i].to_month};
        w->wait_s = rule != NULL ? fmax(w->wait_s, rule->latency_s) : w->wait_s;
    }
    tier_plan_free(p);
    *found = true;
    return step != NULL && !q->no_memory ? 0 : no_memory(q);
}

int data_tiers(struct search *q, const struct candidate *c, struct plan *out)
{
    struct plan_wait *w = arena_array(q->arena, q->s->n_data + 1, sizeof *w);
    size_t n = 0;
    int rc = w != NULL ? 0 : no_memory(q);
    if (rc == 0 && q->s->gpu_hours <= 0 && c->place->mode != PLACE_NONE) {
        rc = choices(q, c, out);
    }
    for (size_t i = 0; i < q->s->n_data && rc == 0; i++) {
        bool found = false;
        if (q->s->data[i].role == ROLE_TRAINING_DATA) {
            rc = one_wait(q, c, &q->s->data[i], &w[n], &found);
            n += found;
        }
    }
    out->wait = w;
    out->n_waits = n;
    return rc;
}
