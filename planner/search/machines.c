/* Offers as machines with what the search needs at hand: those that pass the scenario's filters, or
 * all that any filter may ask for, when the list is to serve changed filters too (select.c). */
#include "gputier/text.h"
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
const struct gpu_spec *search_spec_of(const struct search *q, size_t row)
{
    int i = q->c->offers.gpu_spec[row];
    return i >= 0 && (size_t)i < q->c->n_gpus ? &q->c->gpus[i] : NULL;
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

void search_fill(const struct search *q, size_t row, struct machine *m)
{
    const struct catalog_offers *f = &q->c->offers;
    const struct scenario *s = q->s;
    m->row = row;
    m->spec = search_spec_of(q, row);
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
    set_band(q, m);
}

/* Same machine in several zones at one price: the first (by zone) stands for all, unless it is
 * known how often each takes it away. */
static bool same_offer(const struct search *q, size_t a, size_t b)
{
    const struct catalog_offers *f = &q->c->offers;
    return f->vendor[a] == f->vendor[b] && f->region[a] == f->region[b] &&
           f->instance_type[a] == f->instance_type[b] && f->purchase[a] == f->purchase[b] &&
           f->payment[a] == f->payment[b] && f->offering_class[a] == f->offering_class[b] &&
           f->gpu[a] == f->gpu[b] && f->gpu_num[a] == f->gpu_num[b] &&
           f->gpu_den[a] == f->gpu_den[b] && f->usd_per_hour[a] == f->usd_per_hour[b] &&
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

static int by_machine_and_price(const void *a, const void *b)
{
    const struct machine *x = *(const struct machine *const *)a;
    const struct machine *y = *(const struct machine *const *)b;
    int d = by_machine(a, b);
    d = d != 0 ? d : (x->usd_h > y->usd_h) - (x->usd_h < y->usd_h);
    return d != 0 ? d : (x->row > y->row) - (x->row < y->row);
}

/* The on-demand price of each spot machine, the cheapest, for a safety net before a deadline. */
int search_twins(struct search *q)
{
    const struct machine **demand = malloc((q->n_machines + 1) * sizeof *demand);
    size_t all = 0, n = 0;
    if (demand == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < q->n_machines; i++) {
        if (q->machine[i].purchase == PURCHASE_ON_DEMAND) {
            demand[all++] = &q->machine[i];
        }
    }
    qsort(demand, all, sizeof *demand, by_machine_and_price);
    for (size_t i = 0; i < all; i++) {
        if (n == 0 || by_machine(&demand[n - 1], &demand[i]) != 0) {
            demand[n++] = demand[i];
        }
    }
    for (size_t i = 0; i < q->n_machines && n > 0; i++) {
        struct machine *m = &q->machine[i];
        if (m->lambda_per_h > 0) {
            const struct machine *key = m;
            const struct machine **at = bsearch(&key, demand, n, sizeof *demand, by_machine);
            m->twin = at != NULL && (*at)->usd_h >= m->usd_h ? *at : NULL;
        }
    }
    free(demand);
    q->twins = true;
    return 0;
}

/* Rows that nobody publishes a price of, or in a currency without a rate on that day: select.c
 * names some of them. */
static void keep_unpriced(struct search *q, size_t row)
{
    q->no_price[q->n_no_price++] = row;
}

/* Rows that may be asked for, as machines with a price or without. What stands for what is the same
 * whatever the filters: the rows between count too. */
static int take_rows(struct search *q, const uint8_t *usable)
{
    const struct catalog_offers *f = &q->c->offers;
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < f->n; i++) {
        if (!search_row_counts(q, i)) {
            continue;
        }
        if (f->price_state[i] != PRICE_KNOWN) {
            if (usable[i]) {
                keep_unpriced(q, i);
            }
            continue;
        }
        bool again = usable[i] && before != SIZE_MAX && same_offer(q, before, i);
        before = i;
        if (again || !usable[i]) {
            continue;
        }
        struct machine *m = &q->machine[q->n_machines];
        search_fill(q, i, m);
        if (!isfinite(m->usd_h) || !isfinite(m->upfront_usd) || !isfinite(m->month_usd)) {
            keep_unpriced(q, i);
            continue;
        }
        m->region_index = region_index(q, f->vendor[i], f->region[i]);
        if (m->region_index == SIZE_MAX) {
            return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
        }
        q->n_machines++;
    }
    return 0;
}

int search_machines(struct search *q)
{
    const struct catalog_offers *f = &q->c->offers;
    uint8_t *usable = malloc(f->n + 1);
    size_t cap = 0;
    for (size_t i = 0; usable != NULL && i < f->n; i++) {
        usable[i] = q->any_filter ? search_row_counts(q, i) : search_row_passes(q, q->s, i);
        cap += usable[i];
    }
    q->machine = arena_array(q->arena, cap + 1, sizeof *q->machine);
    q->no_price = arena_array(q->arena, cap + 1, sizeof *q->no_price);
    int rc = usable != NULL && q->machine != NULL && q->no_price != NULL
                 ? take_rows(q, usable)
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
    return search_number(q);
}
