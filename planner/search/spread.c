/* spot.spread: where an interrupted machine may be started again. A plan then has several pools of
 * capacity: zones of its region, and with instance_types machines of the same GPUs with no fewer
 * vCPUs and no less memory. It goes to the cheapest that has capacity (price-capacity-optimized in
 * spirit, spot-model.md section 6.7), never hops while it runs, and is billed at the dearest of its
 * pools: those dearer than its own row are not used. What is gained is the wait for capacity. */
#include "search.h"
#include <math.h>
#include <string.h>

/* Zones of one region fail together. Unions of 2, 3 and 4 zones in the shared traces were as
 * available as 1.28, 1.41 and 2.17 independent ones (spot-model.md section 6.2): 0.28, 0.20, 0.39
 * for each further one. */
#define POOL_WORTH       0.3
#define POOL_WORTH_LEAST 0.2
#define POOL_WORTH_MOST  0.4

static bool no_less(float a, float b)
{
    return a >= b || (isnan(a) && isnan(b));
}

/* Is row i a pool for the machine of row m? */
static bool is_pool(const struct search *q, size_t m, size_t i)
{
    const struct catalog_offers *f = &q->c->offers;
    bool type = f->instance_type[i] == f->instance_type[m], zone = f->zone[i] == f->zone[m];
    if (i == m) {
        return true;
    }
    return f->purchase[i] == f->purchase[m] && f->price_state[i] == PRICE_KNOWN &&
           f->usd_per_hour[i] > 0 && f->usd_per_hour[i] <= f->usd_per_hour[m] &&
           f->gpu[i] == f->gpu[m] &&
           f->gpu_num[i] * f->gpu_den[m] == f->gpu_num[m] * f->gpu_den[i] &&
           (zone || q->s->spread_zones) && (type || q->s->spread_types) &&
           no_less(f->vcpus[i], f->vcpus[m]) && no_less(f->memory_gib[i], f->memory_gib[m]);
}

void search_region_rows(const struct search *q, size_t m, size_t *first, size_t *end)
{
    const struct catalog_offers *f = &q->c->offers;
    *first = m;
    *end = m + 1;
    while (*first > 0 && f->region[*first - 1] == f->region[m] &&
           f->vendor[*first - 1] == f->vendor[m]) {
        --*first;
    }
    while (*end < f->n && f->region[*end] == f->region[m] && f->vendor[*end] == f->vendor[m]) {
        ++*end;
    }
}

/* A pool is a zone and a type; of several rows for one the first counts. */
static bool seen_before(const struct search *q, size_t m, size_t first, size_t i)
{
    const struct catalog_offers *f = &q->c->offers;
    for (size_t j = first; j < i; j++) {
        if (f->zone[j] == f->zone[i] && f->instance_type[j] == f->instance_type[i] &&
            is_pool(q, m, j)) {
            return true;
        }
    }
    return false;
}

void spread_machine(const struct search *q, struct machine *m)
{
    size_t first, end;
    m->pools = 1;
    if (!(m->lambda_per_h > 0) || !(q->s->spread_zones || q->s->spread_types)) {
        return;
    }
    search_region_rows(q, m->row, &first, &end);
    int n = 0;
    for (size_t i = first; i < end; i++) {
        n += is_pool(q, m->row, i) && !seen_before(q, m->row, first, i);
    }
    m->pools = n;
}

static double wait_h(const struct search *q, const struct machine *m, double worth)
{
    return q->s->start_wait_spot_s / 3600 / (1 + worth * (m->pools - 1));
}

double spot_wait_h(const struct search *q, const struct machine *m)
{
    return wait_h(q, m, POOL_WORTH);
}

/* Names of the pools' zones, each once; *n 0 when the row has no zone and there is but one. */
const char *const *spread_zones(struct search *q, const struct machine *m, size_t *n)
{
    const struct catalog_offers *f = &q->c->offers;
    size_t first, end;
    search_region_rows(q, m->row, &first, &end);
    const char **zone = arena_array(q->arena, m->pools > 1 ? end - first : 1, sizeof *zone);
    *n = 0;
    for (size_t i = first; i < end && zone != NULL; i++) {
        const char *name = catalog_text(q->c, f->zone[i]);
        bool known = name[0] == '\0' || (m->pools == 1 && i != m->row) || !is_pool(q, m->row, i);
        for (size_t j = 0; j < *n && !known; j++) {
            known = strcmp(zone[j], name) == 0;
        }
        if (!known) {
            zone[(*n)++] = search_own(q, name);
        }
    }
    return zone;
}

const char *spread_note(struct search *q, const struct machine *m)
{
    return arena_printf(q->arena,
                        "spread: %d pools of capacity at or below this price; they fail together, "
                        "so they count as %.1f (assumed: each further one %g, in traces %g to %g): "
                        "capacity is waited for %.0f min (%.0f to %.0f) instead of %.0f, each "
                        "machine is billed at the dearest of them",
                        m->pools, 1 + POOL_WORTH * (m->pools - 1), POOL_WORTH, POOL_WORTH_LEAST,
                        POOL_WORTH_MOST, spot_wait_h(q, m) * 60, wait_h(q, m, POOL_WORTH_MOST) * 60,
                        wait_h(q, m, POOL_WORTH_LEAST) * 60, q->s->start_wait_spot_s / 60);
}
