/* Priced quantities. Each charge is one price row; brackets make one charge each. A price that
 * nobody publishes is never 0: it makes the total "at least" and is named. */
#include "search.h"
#include <math.h>
#include <string.h>

static int no_memory(struct search *q)
{
    return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
}

static int push(struct search *q, struct charges *c, struct charge item, double usd)
{
    if (c->n == c->cap) {
        size_t cap = c->cap == 0 ? 8 : c->cap * 2;
        struct charge *grown = arena_array(q->arena, cap, sizeof *grown);
        if (grown == NULL) {
            return no_memory(q);
        }
        if (c->n > 0) {
            memcpy(grown, c->item, c->n * sizeof *grown);
        }
        c->item = grown;
        c->cap = cap;
    }
    c->item[c->n++] = item;
    c->usd[item.basis] += usd;
    return 0;
}

static double row_usd(const struct search *q, uint32_t currency, money rate)
{
    money usd = 0;
    return catalog_to_usd(q->c, catalog_text(q->c, currency), rate, &usd) == 0
               ? money_to_double(usd)
               : (double)NAN;
}

static void missing(struct search *q, struct charges *c, const char *what, const char *vendor,
                    const char *region)
{
    c->at_least = true;
    if (c->missing == NULL) {
        c->missing = arena_printf(q->arena, "no price known for %s in %s/%s", what, vendor, region);
    }
}

/* A charge whose currency has no rate on that day is missing as one without a price is. */
static int push_rate(struct search *q, struct charges *c, struct charge one, uint32_t currency,
                     money rate, const struct region *r)
{
    double usd = row_usd(q, currency, rate);
    if (!isfinite(usd)) {
        const char *what = arena_printf(q->arena, "%.90s (%s has no exchange rate on that day)",
                                        one.text, catalog_text(q->c, currency));
        if (what == NULL) {
            return no_memory(q);
        }
        missing(q, c, what, r->vendor, r->region);
        return 0;
    }
    return push(q, c, one, usd * one.quantity);
}

bool storage_known(const struct search *q, uint32_t vendor, uint32_t region, const char *tier,
                   const char *component)
{
    size_t first;
    uint32_t id = catalog_id(q->c, tier);
    return id != 0 && catalog_storage_rates(q->c, vendor, region, id, component, &first) > 0;
}

/* A disk sold by size: the smallest step that holds `amount` GiB; SIZE_MAX when none does. */
static size_t disk_step(const struct catalog_storage *t, size_t first, size_t n, double amount)
{
    size_t best = SIZE_MAX;
    for (size_t i = first; i < first + n; i++) {
        double to = money_to_double(t->to_qty[i]);
        if (to >= amount && (best == SIZE_MAX || to < money_to_double(t->to_qty[best]))) {
            best = i;
        }
    }
    return best;
}

/* Units of a row's own unit in `amount`, which is bytes for the byte units. */
static double in_unit(enum storage_unit unit, double amount)
{
    switch (unit) {
    case SU_GIB_MONTH:
    case SU_GIB:
    case SU_DISK_MONTH:
        return amount / 1073741824.0;
    case SU_GB_MONTH:
    case SU_GB:
        return amount / 1e9;
    default:
        return amount;
    }
}

int charge_storage(struct search *q, struct charges *c, const struct region *r, const char *tier,
                   const char *component, double amount, double months, enum basis basis,
                   enum component comp, const char *text, const char *formula)
{
    size_t first = 0;
    const struct catalog_storage *t = &q->c->storage;
    if (strcmp(component, "storage") == 0 && strcmp(tier, "s3_intelligent_tiering") == 0) {
        component = "storage_frequent"; /* what is used stays there */
    }
    uint32_t id = catalog_id(q->c, tier);
    size_t n = id == 0
                   ? 0
                   : catalog_storage_rates(q->c, r->vendor_id, r->region_id, id, component, &first);
    if (amount <= 0 || months <= 0 || tier_class_of(tier) == TIER_LOCAL) {
        return 0; /* the machine's own disk is in its price (R-SCR-01) */
    }
    if (n == 0) {
        const char *what = arena_printf(q->arena, "%.60s %.30s", tier, component);
        if (what == NULL) {
            return no_memory(q);
        }
        missing(q, c, what, r->vendor, r->region);
        return text == NULL ? no_memory(q) : 0;
    }
    if (t->unit[first] == SU_DISK_MONTH) {
        size_t step = disk_step(t, first, n, in_unit(SU_DISK_MONTH, amount));
        if (step == SIZE_MAX) {
            missing(q, c, tier, r->vendor, r->region);
            return 0;
        }
        struct charge one = {comp, basis, false, step, months, text, formula};
        return push_rate(q, c, one, t->currency[step], t->rate[step], r);
    }
    double left = in_unit((enum storage_unit)t->unit[first], amount);
    for (size_t i = first; i < first + n && left > 0; i++) {
        double from = money_to_double(t->from_qty[i]);
        double to = t->to_qty[i] < 0 ? (double)INFINITY : money_to_double(t->to_qty[i]);
        double all = in_unit((enum storage_unit)t->unit[i], amount);
        double part = fmin(all, to) - from;
        if (part <= 0) {
            continue;
        }
        left -= part;
        double quantity = part * months / t->unit_qty[i];
        struct charge one = {comp, basis, false, i, quantity, text, formula};
        int rc = push_rate(q, c, one, t->currency[i], t->rate[i], r);
        if (rc != 0) {
            return rc;
        }
    }
    if (left > 1e-9 * amount) { /* above the last bracket that is known */
        missing(q, c, tier, r->vendor, r->region);
    }
    return text == NULL ? no_memory(q) : 0;
}

int charge_transfer(struct search *q, struct charges *c, const char *from_vendor,
                    const char *from_region, const char *to_vendor, const char *to_region,
                    double bytes, enum basis basis, const char *text)
{
    size_t first = 0;
    const struct catalog_transfer *t = &q->c->transfer;
    const char *to = strcmp(from_vendor, to_vendor) == 0 ? to_region : "internet";
    uint32_t vendor = catalog_id(q->c, from_vendor), from = catalog_id(q->c, from_region);
    size_t n =
        vendor == 0 || from == 0 ? 0 : catalog_transfer_rates(q->c, vendor, from, to, &first);
    if (bytes <= 0) {
        return 0;
    }
    if (n == 0) {
        char what[120] = "moving data to ";
        strncat(what, to, 80);
        missing(q, c, what, from_vendor, from_region);
        return 0;
    }
    const struct region source = {.vendor = from_vendor, .region = from_region};
    double covered = 0, all = 0;
    for (size_t i = first; i < first + n; i++) {
        all = bytes / (double)t->gb_bytes[i];
        double lo = money_to_double(t->from_gb[i]);
        double hi = t->to_gb[i] < 0 ? (double)INFINITY : money_to_double(t->to_gb[i]);
        double part = fmin(all, hi) - lo;
        if (part <= 0) {
            continue;
        }
        covered += part;
        struct charge one = {COMP_DATA_TRANSFER,
                             basis,
                             true,
                             i,
                             part,
                             text,
                             "bytes moved / bytes of the vendor's GB"};
        int rc = push_rate(q, c, one, t->currency[i], t->rate[i], &source);
        if (rc != 0) {
            return rc;
        }
    }
    if (covered < all * (1 - 1e-9)) {
        missing(q, c, "data transfer above the last bracket", from_vendor, from_region);
    }
    return text == NULL ? no_memory(q) : 0;
}

int charges_append(struct search *q, struct charges *to, const struct charges *from)
{
    for (size_t i = 0; i < from->n; i++) {
        int rc = push(q, to, from->item[i], 0);
        if (rc != 0) {
            return rc;
        }
    }
    for (int b = 0; b < BASIS_COUNT; b++) {
        to->usd[b] += from->usd[b];
    }
    to->at_least = to->at_least || from->at_least;
    if (to->missing == NULL) {
        to->missing = from->missing;
    }
    return 0;
}

double basis_count(enum basis b, const struct candidate *k)
{
    switch (b) {
    case BASIS_RUN_HOUR:
        return k->makespan_h;
    case BASIS_NODE_RUN_HOUR:
        return k->makespan_h * k->n;
    case BASIS_EPOCH:
        return k->epochs_read;
    case BASIS_LAUNCH:
        return k->n * (1 + k->interruptions);
    case BASIS_WRITE:
        return k->writes;
    default:
        return 1;
    }
}

double charges_usd(const struct charges *c, const struct candidate *k)
{
    double usd = 0;
    for (int b = 0; b < BASIS_COUNT; b++) {
        if (c->usd[b] != 0) {
            usd += c->usd[b] * basis_count((enum basis)b, k);
        }
    }
    return usd;
}
