/* Numbers for what machines have in common, so that a pass over them compares no names: a group is
 * one machine kind of a vendor bought one way (the ledger has one entry for each), a shape is all
 * that the time of a run depends on. */
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

/* The number of m in a table of the first machine of each; a new one is put there. */
static uint32_t number_of(const struct search *q, const struct machine *m, uint64_t hash,
                          same_fn *same, struct machine const **slot, uint32_t *number, size_t mask,
                          size_t *n)
{
    size_t i = (size_t)hash & mask;
    while (slot[i] != NULL && !same(q, slot[i], m)) {
        i = (i + 1) & mask;
    }
    if (slot[i] == NULL) {
        slot[i] = m;
        number[i] = (uint32_t)(*n)++;
    }
    return number[i];
}

int search_number(struct search *q)
{
    size_t all = q->n_machines + q->n_unpriced, cap = 16;
    while (cap < 2 * all) {
        cap *= 2;
    }
    const struct machine **group = calloc(cap, sizeof *group), **shape = calloc(cap, sizeof *shape);
    uint32_t *g = malloc(cap * sizeof *g), *s = malloc(cap * sizeof *s);
    q->shape = arena_array(q->arena, all + 1, sizeof *q->shape);
    q->brief = arena_array(q->arena, all + 1, sizeof *q->brief);
    bool ok = q->brief != NULL && group != NULL && shape != NULL && g != NULL && s != NULL &&
              q->shape != NULL;
    for (size_t i = 0; ok && i < all; i++) {
        bool priced = i < q->n_machines;
        struct machine *m = priced ? &q->machine[i] : &q->unpriced[i - q->n_machines];
        m->group = number_of(q, m, group_hash(q, m), same_group, group, g, cap - 1, &q->n_groups);
        if (priced) {
            size_t before = q->n_shapes;
            m->shape =
                number_of(q, m, shape_hash(q, m), same_shape, shape, s, cap - 1, &q->n_shapes);
            bool hourly = m->purchase != PURCHASE_MONTHLY && !(m->term_h > 0);
            q->brief[i] = (struct brief){m->usd_h, m->shape, (uint32_t)m->region_index,
                                         m->lambda_per_h > 0, hourly};
            if (q->n_shapes > before) {
                q->shape[before] = m;
            }
        }
    }
    free(group);
    free(shape);
    free(g);
    free(s);
    return ok ? 0 : gt_fail(q->err, GT_ENOMEM, "", "out of memory");
}
