/* The scenario's filters (vendors, regions, GPUs, purchase): which offers of a catalog pass, and
 * which machines of a list that was made for any filter. A machine passes by its region, its shape
 * and how it is bought, so a changed filter is decided once for each region and shape. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "search.h"
#include <stdlib.h>
#include <string.h>

/* At most this many machines without a price are named. */
#define MAX_UNPRICED 64

static bool place_wanted(const struct scenario *s, const char *vendor, const char *region)
{
    bool ok = s->n_vendors == 0;
    for (size_t i = 0; i < s->n_vendors && !ok; i++) {
        ok = strcmp(s->vendors[i], vendor) == 0;
    }
    if (!ok || s->n_regions == 0) {
        return ok;
    }
    for (size_t i = 0; i < s->n_regions; i++) {
        if (strcmp(s->regions[i].vendor, vendor) == 0 &&
            strcmp(s->regions[i].region, region) == 0) {
            return true;
        }
    }
    return false;
}

/* Accelerators that are no GPUs (Inferentia, TPU …) stand in price lists too; they run other
 * software than the model speaks of, so they are taken only when the scenario names them. */
static bool is_gpu(const struct scenario *s, const struct gpu_spec *g)
{
    static const char *const makers[] = {"NVIDIA", "AMD", "Intel"};
    for (size_t i = 0; g != NULL && i < sizeof makers / sizeof makers[0]; i++) {
        if (g->maker != NULL && text_ieq(g->maker, makers[i])) {
            return true;
        }
    }
    return g == NULL || s->n_gpu_models > 0;
}

static bool gpu_wanted(const struct scenario *s, const struct gpu_spec *spec, const char *gpu,
                       double gpus)
{
    if (!(gpus <= s->gpus_max) || !is_gpu(s, spec)) {
        return false;
    }
    for (size_t i = 0; i < s->n_gpu_models; i++) {
        if (text_leading_parts(s->gpu_models[i], gpu)) {
            return true;
        }
    }
    return s->n_gpu_models == 0;
}

bool search_row_counts(const struct search *q, size_t row)
{
    const struct catalog_offers *f = &q->c->offers;
    /* a block begins at a time of its own, which the run waits for (block.c) */
    return f->gpu_num[row] != 0 && f->gpu_den[row] != 0 && f->gpu[row] != 0 &&
           (f->purchase[row] == PURCHASE_CAPACITY_BLOCK || f->valid_from[row] == GT_TIME_NONE ||
            f->valid_from[row] <= q->o->now);
}

bool search_row_passes(const struct search *q, const struct scenario *s, size_t row)
{
    const struct catalog_offers *f = &q->c->offers;
    return (s->purchase_mask & 1u << f->purchase[row]) != 0 && search_row_counts(q, row) &&
           gpu_wanted(s, search_spec_of(q, row), catalog_text(q->c, f->gpu[row]),
                      (double)f->gpu_num[row] / f->gpu_den[row]) &&
           place_wanted(s, catalog_text(q->c, f->vendor[row]), catalog_text(q->c, f->region[row]));
}

bool search_net(const struct scenario *s)
{
    bool net = s->deadline_s > 0 && strcmp(s->spot_policy, "spot_only") != 0;
    bool patience = s->wait_before_fallback_s >= 0 && s->start_wait_spot_s > 0;
    return (net || patience) && (s->purchase_mask & 1u << PURCHASE_ON_DEMAND) != 0;
}

/* The first of those without a price that pass. One that nothing is sold with has a group of its
 * own: the ledger has an entry for it. */
static int name_unpriced(struct search *q)
{
    q->n_unpriced = 0;
    q->unpriced =
        q->n_no_price > 0 ? arena_array(q->arena, MAX_UNPRICED, sizeof *q->unpriced) : NULL;
    if (q->n_no_price > 0 && q->unpriced == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < q->n_no_price && q->n_unpriced < MAX_UNPRICED; i++) {
        if (search_row_passes(q, q->s, q->no_price[i])) {
            search_fill(q, q->no_price[i], &q->unpriced[q->n_unpriced++]);
        }
    }
    return search_number_unpriced(q);
}

int search_select(struct search *q)
{
    const struct scenario *s = q->s;
    q->region_ok = arena_array(q->arena, q->n_regions + 1, sizeof *q->region_ok);
    q->shape_ok = arena_array(q->arena, q->n_shapes + 1, sizeof *q->shape_ok);
    if (q->region_ok == NULL || q->shape_ok == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < q->n_regions; i++) {
        q->region_ok[i] = place_wanted(s, q->region[i].vendor, q->region[i].region);
    }
    for (size_t i = 0; i < q->n_shapes; i++) {
        const struct machine *m = q->shape[i];
        q->shape_ok[i] = gpu_wanted(s, m->spec, m->gpu, m->gpus);
    }
    q->net = search_net(s);
    int rc = q->net && !q->twins ? search_twins(q) : 0;
    return rc == 0 ? name_unpriced(q) : rc;
}
