/* Planning again after a change. Two parts of a search are kept while what they depend on stays:
 * the machines that any filter may ask for, and the opened search (rates, luck, placements), one
 * for each of two numbers of runs, as a screen asks with few and then with many. A changed filter
 * only selects among the machines (select.c); rates and placements come as they are first wanted.
 * The pass itself is done anew: its order and its bounds belong to the answer. Plan sets point into
 * an opened part, which is therefore counted and lives as long as the last of them.
 *
 * Memory: of the machines one struct machine and one struct brief (some 350 bytes) for each offer
 * of a GPU; of each opened part what one plan needs, and once that is over MAX_OPENED bytes the
 * next plan opens a new one. */
#include "again.h"
#include <stdlib.h>
#include <string.h>

#define OPENED     2
#define MAX_KEY    (16U << 20)
#define MAX_OPENED ((size_t)64 << 20)

struct plan_kept {
    int users; /* __atomic: sets are freed in other threads than they are made in */
    struct arena *arena;
    struct buf key;
    struct search q;
};

struct plan_memory {
    struct plan_kept *machines, *opened[OPENED]; /* the newest first */
};

struct plan_memory *plan_memory_new(void)
{
    return calloc(1, sizeof(struct plan_memory));
}

void kept_release(struct plan_kept *k)
{
    if (k != NULL && __atomic_sub_fetch(&k->users, 1, __ATOMIC_ACQ_REL) == 0) {
        buf_release(&k->key);
        arena_free(k->arena);
        free(k);
    }
}

static struct plan_kept *kept_hold(struct plan_kept *k)
{
    __atomic_add_fetch(&k->users, 1, __ATOMIC_RELAXED);
    return k;
}

void plan_memory_free(struct plan_memory *m)
{
    if (m != NULL) {
        kept_release(m->machines);
        for (size_t i = 0; i < OPENED; i++) {
            kept_release(m->opened[i]);
        }
    }
    free(m);
}

/* A new part with its key, for a search like q; NULL = out of memory. */
static struct plan_kept *kept_new(const struct search *q, enum again_part part)
{
    struct plan_kept *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return NULL;
    }
    k->users = 1;
    k->arena = arena_new(0);
    buf_init(&k->key, MAX_KEY);
    again_key(&k->key, q, part);
    k->q = *q;
    k->q.arena = k->arena;
    k->q.keep = k->arena;
    if (k->arena == NULL || k->key.failed) {
        kept_release(k);
        return NULL;
    }
    return k;
}

static bool same_key(const struct plan_kept *a, const struct plan_kept *b)
{
    return a->key.len == b->key.len && memcmp(a->key.data, b->key.data, a->key.len) == 0;
}

/* The machines that filters select from: those of before, or made now. */
static int machines_for(struct plan_memory *m, const struct search *like)
{
    struct plan_kept *k = kept_new(like, AGAIN_MACHINES);
    if (k == NULL) {
        return gt_fail(like->err, GT_ENOMEM, "", "out of memory");
    }
    if (m->machines != NULL && same_key(m->machines, k)) {
        kept_release(k);
        return 0;
    }
    kept_release(m->machines);
    m->machines = NULL;
    for (size_t i = 0; i < OPENED; i++) { /* they point to the machines */
        kept_release(m->opened[i]);
        m->opened[i] = NULL;
    }
    k->q.any_filter = true;
    int rc = search_machines(&k->q);
    if (rc != 0) {
        kept_release(k);
        return rc;
    }
    m->machines = k;
    return 0;
}

/* Each opened search has its own regions, as placements belong to the data. */
static int take_machines(struct search *q, const struct search *from)
{
    q->machine = from->machine;
    q->n_machines = from->n_machines;
    q->no_price = from->no_price;
    q->n_no_price = from->n_no_price;
    q->brief = from->brief;
    q->shape = from->shape;
    q->n_shapes = from->n_shapes;
    q->n_cells = from->n_cells;
    q->group = from->group;
    q->n_groups = from->n_groups;
    q->n_regions = q->cap_regions = from->n_regions;
    q->region = arena_array(q->arena, q->n_regions + 1, sizeof *q->region);
    if (q->region == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    if (q->n_regions > 0) {
        memcpy(q->region, from->region, q->n_regions * sizeof *q->region);
    }
    return 0;
}

/* The opened search for `like`: m->opened[0] afterwards. */
static int opened_for(struct plan_memory *m, const struct search *like)
{
    struct plan_kept *k = kept_new(like, AGAIN_OPENED);
    if (k == NULL) {
        return gt_fail(like->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < OPENED; i++) {
        struct plan_kept *found = m->opened[i];
        if (found != NULL && same_key(found, k) && arena_used(found->arena) <= MAX_OPENED) {
            memmove(&m->opened[1], &m->opened[0], i * sizeof m->opened[0]);
            m->opened[0] = found;
            kept_release(k);
            return search_filter_names(like);
        }
    }
    int rc = search_open_work(&k->q);
    rc = rc != 0 ? rc : machines_for(m, like);
    rc = rc != 0 ? rc : take_machines(&k->q, &m->machines->q);
    rc = rc != 0 ? rc : search_luck(&k->q);
    if (rc != 0) {
        kept_release(k);
        return rc;
    }
    kept_release(m->opened[OPENED - 1]);
    memmove(&m->opened[1], &m->opened[0], (OPENED - 1) * sizeof m->opened[0]);
    m->opened[0] = k;
    return 0;
}

/* What this plan selects: q is a copy of the opened part, for one plan. What is made here for the
 * first time stays with what is kept. */
static int select_for(struct plan_memory *m, struct search *q)
{
    struct search *keep = &m->opened[0]->q, *machines = &m->machines->q;
    keep->s = machines->s = q->s; /* the scenario they were made for may be gone */
    keep->o = machines->o = q->o;
    keep->err = machines->err = q->err;
    int rc = search_net(q->s) && !machines->twins ? search_twins(machines) : 0;
    q->twins = machines->twins;
    rc = rc != 0 ? rc : search_select(q);
    rc = rc != 0 ? rc : search_places(keep, q->region_ok);
    if (rc != 0) { /* a region may be half there */
        kept_release(m->opened[0]);
        m->opened[0] = NULL;
    }
    return rc;
}

int plan_search_again(struct plan_memory *m, const struct scenario *s, const struct catalog *c,
                      const struct plan_options *o, struct plan_set **out, struct gt_error *err)
{
    *out = NULL;
    if (m == NULL) {
        return search_with(s, c, o, NULL, out, err);
    }
    struct search like = {.s = s, .c = c, .o = o, .err = err};
    int rc = search_open_budget(&like);
    rc = rc != 0 ? rc : opened_for(m, &like);
    if (rc != 0) {
        return rc;
    }
    struct plan_kept *k = m->opened[0];
    struct search *q = malloc(sizeof *q);
    struct arena *a = arena_new(0);
    if (q == NULL || a == NULL) {
        arena_free(a);
        free(q);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *q = k->q;
    q->model = q->model == &k->q.custom ? &q->custom : q->model;
    q->s = s;
    q->o = o;
    q->err = err;
    q->arena = a;
    q->prune = like.prune;
    q->use_deadline = like.use_deadline;
    q->use_budget = like.use_budget;
    q->budget_usd = like.budget_usd;
    rc = select_for(m, q);
    if (rc != 0) {
        arena_free(a);
        free(q);
        return rc;
    }
    q->no_memory = k->q.no_memory;
    rc = search_finish(q, kept_hold(k), out);
    memcpy(k->q.kinds, q->kinds, sizeof q->kinds); /* what came in between */
    k->q.least_h = q->least_h;
    k->q.least_for = q->least_for;
    free(q);
    return rc;
}
