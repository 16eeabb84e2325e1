/* Numbers for what machines have in common, so that a pass over them compares no names: a group is
 * one machine kind of a vendor bought one way (the ledger has one entry for each), a shape is all
 * that the time of a run depends on, a cell is a shape in one region, on spot or not. */
#include "search.h"
#include <stdlib.h>
#include <string.h>

typedef bool same_fn(const struct search *q, const struct machine *a, const struct machine *b);

static bool same_group(const struct search *q, const struct machine *a, const struct machine *b)
{
    const struct catalog_offers *f = &q->c->offers;
    return a->purchase == b->purchase && f->instance_type[a->row] == f->instance_type[b->row] &&
           f->vendor[a->row] == f->vendor[b->row];
}

static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_shape(const struct search *q, const struct machine *a, const struct machine *b)
{
    const struct catalog_offers *f = &q->c->offers;
    return a->spec == b->spec && a->gpus == b->gpus && equal(a->vcpus, b->vcpus) &&
           equal(a->network_gbps, b->network_gbps) && equal(a->memory_gib, b->memory_gib) &&
           a->nvme_bytes == b->nvme_bytes && f->gpu[a->row] == f->gpu[b->row];
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t bits(double x)
{
    uint64_t b;
    x = isnan(x) ? -1 : x;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t group_hash(const struct search *q, const struct machine *m)
{
    const struct catalog_offers *f = &q->c->offers;
    return mix(mix(mix(1, f->instance_type[m->row]), f->vendor[m->row]), (uint64_t)m->purchase);
}

static uint64_t shape_hash(const struct search *q, const struct machine *m)
{
    uint64_t h = mix(mix(2, q->c->offers.gpu[m->row]), bits(m->gpus));
    h = mix(mix(h, bits(m->vcpus)), bits(m->network_gbps));
    return mix(mix(h, bits(m->memory_gib)), bits(m->nvme_bytes));
}

static bool same_cell(const struct search *q, const struct machine *a, const struct machine *b)
{
    (void)q;
    return a->shape == b->shape && a->region_index == b->region_index &&
           (a->lambda_per_h > 0) == (b->lambda_per_h > 0);
}

static uint64_t cell_hash(const struct machine *m)
{
    return mix(mix(mix(3, m->shape), m->region_index), m->lambda_per_h > 0);
}

/* Numbers of one kind, the first machine of each. */
struct table {
    const struct machine **slot;
    uint32_t *number;
    size_t n;
};

static bool table_init(struct table *t, size_t cap)
{
    *t = (struct table){calloc(cap, sizeof *t->slot), malloc(cap * sizeof *t->number), 0};
    return t->slot != NULL && t->number != NULL;
}

static void table_free(struct table *t)
{
    free(t->slot);
    free(t->number);
}

/* The number of m; a new one is put there. */
static uint32_t number_in(struct table *t, const struct search *q, const struct machine *m,
                          uint64_t hash, same_fn *same, size_t mask)
{
    size_t i = (size_t)hash & mask;
    while (t->slot[i] != NULL && !same(q, t->slot[i], m)) {
        i = (i + 1) & mask;
    }
    if (t->slot[i] == NULL) {
        t->slot[i] = m;
        t->number[i] = (uint32_t)t->n++;
    }
    return t->number[i];
}

int search_number(struct search *q)
{
    size_t all = q->n_machines, cap = 16;
    struct table group, shape, cell;
    while (cap < 2 * all) {
        cap *= 2;
    }
    bool ok = table_init(&group, cap);
    ok = table_init(&shape, cap) && ok;
    ok = table_init(&cell, cap) && ok;
    q->shape = arena_array(q->arena, all + 1, sizeof *q->shape);
    q->group = arena_array(q->arena, all + 1, sizeof *q->group);
    q->brief = arena_array(q->arena, all + 1, sizeof *q->brief);
    ok = ok && q->brief != NULL && q->group != NULL && q->shape != NULL;
    for (size_t i = 0; ok && i < all; i++) {
        struct machine *m = &q->machine[i];
        m->group = number_in(&group, q, m, group_hash(q, m), same_group, cap - 1);
        m->shape = number_in(&shape, q, m, shape_hash(q, m), same_shape, cap - 1);
        q->group[m->group] = q->group[m->group] == NULL ? m : q->group[m->group];
        q->shape[m->shape] = q->shape[m->shape] == NULL ? m : q->shape[m->shape];
        q->brief[i] = (struct brief){
            .usd_h = m->usd_h,
            .shape = m->shape,
            .region = (uint32_t)m->region_index,
            .cell = number_in(&cell, q, m, cell_hash(m), same_cell, cap - 1),
            .purchase = (uint8_t)m->purchase,
            .spot = m->lambda_per_h > 0,
            .hourly = m->purchase != PURCHASE_MONTHLY && !(m->term_h > 0),
        };
    }
    q->n_groups = group.n;
    q->n_shapes = shape.n;
    q->n_cells = cell.n;
    table_free(&group);
    table_free(&shape);
    table_free(&cell);
    return ok ? 0 : gt_fail(q->err, GT_ENOMEM, "", "out of memory");
}

/* Few machines against all groups: no table is kept for them. */
int search_number_unpriced(struct search *q)
{
    size_t priced = q->n_groups;
    for (size_t i = 0; i < q->n_unpriced; i++) {
        struct machine *m = &q->unpriced[i];
        size_t at = 0, other = 0;
        while (at < priced && !same_group(q, q->group[at], m)) {
            at++;
        }
        while (at == priced && other < i &&
               (q->unpriced[other].group < priced || !same_group(q, &q->unpriced[other], m))) {
            other++;
        }
        m->group = at < priced ? (uint32_t)at
                   : other < i ? q->unpriced[other].group
                               : (uint32_t)q->n_groups++;
    }
    return 0;
}
