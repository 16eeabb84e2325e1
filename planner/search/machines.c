/* Offers that pass the scenario's filters, as machines with what the search needs at hand. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool vendor_wanted(const struct scenario *s, const char *vendor, const char *region)
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

static bool gpu_wanted(const struct scenario *s, const char *gpu)
{
    for (size_t i = 0; i < s->n_gpu_models; i++) {
        if (text_leading_parts(s->gpu_models[i], gpu)) {
            return true;
        }
    }
    return s->n_gpu_models == 0;
}

static double discount(const struct scenario *s, const char *vendor, enum purchase p)
{
    double factor = 1;
    for (size_t i = 0; i < s->n_discounts; i++) {
        if (s->discounts[i].purchase == p && strcmp(s->discounts[i].vendor, vendor) == 0) {
            factor *= s->discounts[i].factor;
        }
    }
    return factor;
}

static double in_usd(const struct search *q, size_t row, money amount)
{
    money usd = 0;
    const char *currency = catalog_text(q->c, q->c->offers.currency[row]);
    return catalog_to_usd(q->c, currency, amount, &usd) == 0 ? money_to_double(usd) : (double)NAN;
}

/* Spec of a machine's GPU; the whole name first, so that forms are never mixed. */
static const struct gpu_spec *spec_of(const struct search *q, size_t row)
{
    int i = q->c->offers.gpu_spec[row];
    return i >= 0 && (size_t)i < q->c->n_gpus ? &q->c->gpus[i] : NULL;
}

/* Accelerators that are no GPUs (Inferentia, TPU …) stand in price lists too; they run other
 * software than the model speaks of, so they are taken only when the scenario names them. */
static bool is_gpu(const struct search *q, size_t row)
{
    static const char *const makers[] = {"NVIDIA", "AMD", "Intel"};
    const struct gpu_spec *g = spec_of(q, row);
    for (size_t i = 0; g != NULL && i < sizeof makers / sizeof makers[0]; i++) {
        if (g->maker != NULL && text_ieq(g->maker, makers[i])) {
            return true;
        }
    }
    return g == NULL || q->s->n_gpu_models > 0;
}

static bool row_usable(const struct search *q, size_t row)
{
    const struct catalog_offers *f = &q->c->offers;
    const struct scenario *s = q->s;
    enum purchase p = (enum purchase)f->purchase[row];
    if (f->gpu_num[row] == 0 || f->gpu_den[row] == 0 || f->gpu[row] == 0 ||
        (s->purchase_mask & 1u << p) == 0) {
        return false;
    }
    /* a block begins at a time of its own, which the run waits for (block.c) */
    if (p != PURCHASE_CAPACITY_BLOCK && f->valid_from[row] != GT_TIME_NONE &&
        f->valid_from[row] > q->o->now) {
        return false;
    }
    double gpus = (double)f->gpu_num[row] / f->gpu_den[row];
    return gpus <= s->gpus_max && is_gpu(q, row) &&
           vendor_wanted(s, catalog_text(q->c, f->vendor[row]),
                         catalog_text(q->c, f->region[row])) &&
           gpu_wanted(s, catalog_text(q->c, f->gpu[row]));
}

bool search_row_passes(const struct search *q, const struct scenario *s, size_t row)
{
    struct search other = {.c = q->c, .o = q->o, .s = s};
    return row_usable(&other, row);
}

/* SIZE_MAX = out of memory. */
static size_t region_index(struct search *q, uint32_t vendor, uint32_t region)
{
    for (size_t i = q->n_regions; i-- > 0;) { /* rows of one region stand together */
        if (q->region[i].vendor_id == vendor && q->region[i].region_id == region) {
            return i;
        }
    }
    if (q->n_regions == q->cap_regions) {
        size_t cap = q->cap_regions == 0 ? 128 : 2 * q->cap_regions;
        struct region *grown = arena_array(q->arena, cap, sizeof *grown);
        if (grown == NULL) {
            return SIZE_MAX;
        }
        if (q->n_regions > 0) {
            memcpy(grown, q->region, q->n_regions * sizeof *grown);
        }
        q->region = grown;
        q->cap_regions = cap;
    }
    struct region *r = &q->region[q->n_regions];
    r->vendor_id = vendor;
    r->region_id = region;
    r->vendor = catalog_text(q->c, vendor);
    r->region = catalog_text(q->c, region);
    return q->n_regions++;
}

static void set_band(const struct search *q, struct machine *m)
{
    const struct catalog_interruption *t = &q->c->interruption;
    const struct catalog_offers *f = &q->c->offers;
    m->band_lo_pct = m->band_hi_pct = (double)NAN;
    if (m->lambda_per_h <= 0) {
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->instance_type[i] == f->instance_type[m->row] && t->region[i] == f->region[m->row] &&
            t->vendor[i] == f->vendor[m->row]) {
            m->band_lo_pct = (double)t->band_lo_pct[i];
            m->band_hi_pct = t->band_hi_pct[i] < 0 ? (double)NAN : (double)t->band_hi_pct[i];
            return;
        }
    }
}

static double tweaked(const struct search *q, size_t row)
{
    const struct search_tweak *t = q->tweak;
    double factor = 1;
    if (t != NULL && t->price_row != 0 && q->c->offers.id[row] == t->price_row) {
        factor *= t->price;
    }
    if (t != NULL && q->c->offers.purchase[row] == PURCHASE_SPOT) {
        factor *= t->spot;
    }
    return factor;
}

static const struct catalog_hazard *hazard_of(const struct search *q, size_t row)
{
    const struct catalog_offers *f = &q->c->offers;
    for (size_t i = 0; i < q->c->n_hazards; i++) {
        const struct catalog_hazard *h = &q->c->hazards[i];
        if (h->instance_type == f->instance_type[row] && h->zone == f->zone[row] &&
            h->region == f->region[row] && h->vendor == f->vendor[row]) {
            return h;
        }
    }
    return NULL;
}

static double or_nan(float f)
{
    return isnan(f) ? (double)NAN : (double)f;
}

static int fill(struct search *q, size_t row, struct machine *m)
{
    const struct catalog_offers *f = &q->c->offers;
    const struct scenario *s = q->s;
    m->row = row;
    m->spec = spec_of(q, row);
    m->gpus = (double)f->gpu_num[row] / f->gpu_den[row];
    m->vendor = catalog_text(q->c, f->vendor[row]);
    m->region = catalog_text(q->c, f->region[row]);
    m->type = catalog_text(q->c, f->instance_type[row]);
    m->gpu = catalog_text(q->c, f->gpu[row]);
    m->purchase = (enum purchase)f->purchase[row];
    m->term_h = (double)purchase_term_hours(m->purchase);
    m->factor = discount(s, m->vendor, m->purchase) * tweaked(q, row);
    m->usd_h = in_usd(q, row, f->price_per_hour[row]) * m->factor;
    m->upfront_usd = in_usd(q, row, f->upfront[row]) * m->factor;
    m->month_usd = in_usd(q, row, f->price_month[row]) * m->factor;
    m->vcpus = or_nan(f->vcpus[row]);
    m->memory_gib = or_nan(f->memory_gib[row]);
    m->nvme_bytes = isnan(f->local_nvme_gb[row]) ? 0 : (double)f->local_nvme_gb[row] * 1e9;
    m->network_gbps = or_nan(f->network_gbps[row]);
    bool spot = m->purchase == PURCHASE_SPOT || m->purchase == PURCHASE_LOW_PRIORITY;
    m->hazard = spot && s->interruption_per_h < 0 ? hazard_of(q, row) : NULL;
    m->lambda_per_h = !spot                        ? 0
                      : s->interruption_per_h >= 0 ? s->interruption_per_h
                      : m->hazard != NULL          ? m->hazard->rate_per_h
                                                   : SEARCH_ASSUMED_LAMBDA;
    m->lambda_per_h *= q->tweak != NULL ? q->tweak->hazard : 1;
    m->pools = 1;
    m->region_index = region_index(q, f->vendor[row], f->region[row]);
    set_band(q, m);
    return m->region_index == SIZE_MAX ? gt_fail(q->err, GT_ENOMEM, "", "out of memory") : 0;
}

/* Same machine in several zones at one price: the first (by zone) stands for all, unless it is
 * known how often each takes it away. */
static bool same_offer(const struct search *q, size_t a, size_t b)
{
    const struct catalog_offers *f = &q->c->offers;
    return f->vendor[a] == f->vendor[b] && f->region[a] == f->region[b] &&
           f->instance_type[a] == f->instance_type[b] && f->purchase[a] == f->purchase[b] &&
           f->payment[a] == f->payment[b] && f->offering_class[a] == f->offering_class[b] &&
           f->gpu[a] == f->gpu[b] && f->usd_per_hour[a] == f->usd_per_hour[b] &&
           f->price_per_hour[a] == f->price_per_hour[b] && f->upfront[a] == f->upfront[b] &&
           f->price_month[a] == f->price_month[b] &&
           (f->purchase[a] != PURCHASE_CAPACITY_BLOCK || f->valid_from[a] == f->valid_from[b]) &&
           hazard_of(q, a) == hazard_of(q, b);
}

static int by_machine(const void *a, const void *b)
{
    const struct machine *x = *(const struct machine *const *)a;
    const struct machine *y = *(const struct machine *const *)b;
    if (x->region_index != y->region_index) {
        return x->region_index < y->region_index ? -1 : 1;
    }
    /* names are interned: one that is there once needs no comparison with itself */
    int d = x->type == y->type ? 0 : strcmp(x->type, y->type);
    d = d != 0 || x->gpu == y->gpu ? d : strcmp(x->gpu, y->gpu);
    return d != 0 ? d : (x->gpus > y->gpus) - (x->gpus < y->gpus);
}

/* The on-demand price of each spot machine, for a safety net before a deadline. */
static int find_twins(struct search *q)
{
    const struct machine **demand = arena_array(q->arena, q->n_machines + 1, sizeof *demand);
    size_t n = 0;
    if (demand == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < q->n_machines; i++) {
        if (q->machine[i].purchase == PURCHASE_ON_DEMAND) {
            demand[n++] = &q->machine[i];
        }
    }
    qsort(demand, n, sizeof *demand, by_machine);
    for (size_t i = 0; i < q->n_machines && n > 0; i++) {
        struct machine *m = &q->machine[i];
        if (m->lambda_per_h > 0) {
            const struct machine *key = m;
            const struct machine **at = bsearch(&key, demand, n, sizeof *demand, by_machine);
            m->twin = at != NULL && (*at)->usd_h >= m->usd_h ? *at : NULL;
        }
    }
    return 0;
}

/* At most this many machines without a price are named. */
#define MAX_UNPRICED 64

static int keep_unpriced(struct search *q, size_t row)
{
    if (q->unpriced == NULL) {
        q->unpriced = arena_array(q->arena, MAX_UNPRICED, sizeof *q->unpriced);
        if (q->unpriced == NULL) {
            return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
        }
    }
    return q->n_unpriced < MAX_UNPRICED ? fill(q, row, &q->unpriced[q->n_unpriced++]) : 0;
}

/* Rows that pass, as machines with a price or without. */
static int take_rows(struct search *q, const uint8_t *usable)
{
    const struct catalog_offers *f = &q->c->offers;
    for (size_t i = 0; i < f->n; i++) {
        if (!usable[i]) {
            continue;
        }
        int rc = 0;
        if (f->price_state[i] != PRICE_KNOWN) {
            rc = keep_unpriced(q, i);
        } else if (q->n_machines == 0 || !same_offer(q, q->machine[q->n_machines - 1].row, i)) {
            struct machine *m = &q->machine[q->n_machines];
            rc = fill(q, i, m);
            if (isfinite(m->usd_h) && isfinite(m->upfront_usd) && isfinite(m->month_usd)) {
                q->n_machines++;
            } else if (rc == 0) {
                rc = keep_unpriced(q, i); /* no exchange rate on that day */
            }
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int search_machines(struct search *q)
{
    const struct catalog_offers *f = &q->c->offers;
    uint8_t *usable = malloc(f->n + 1);
    size_t cap = 0;
    for (size_t i = 0; usable != NULL && i < f->n; i++) {
        usable[i] = row_usable(q, i);
        cap += usable[i];
    }
    q->machine = arena_array(q->arena, cap + 1, sizeof *q->machine);
    int rc = usable != NULL && q->machine != NULL ? take_rows(q, usable)
                                                  : gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    free(usable);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < q->n_machines; i++) {
        spread_machine(q, &q->machine[i]);
    }
    for (size_t i = 0; i < q->n_machines && q->s->spot_max_price_factor > 0; i++) {
        spot_set_cap(q, &q->machine[i]);
    }
    rc = search_number(q);
    if (rc != 0) {
        return rc;
    }
    bool net = q->s->deadline_s > 0 && strcmp(q->s->spot_policy, "spot_only") != 0;
    bool patience = q->s->wait_before_fallback_s >= 0 && q->s->start_wait_spot_s > 0;
    return net || patience ? find_twins(q) : 0;
}
