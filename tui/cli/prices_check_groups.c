/* Rules of `prices check` that look at offers beside each other: machines with one GPU model in a
 * region, types of a region, regions of a type. */
#include "gputier/units.h"
#include "prices_check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool priced_on_demand(const struct check *k, size_t i)
{
    return k->c->offers.purchase[i] == PURCHASE_ON_DEMAND && check_usd(k->c, i) > 0;
}

/* Offers i..end of one GPU in one region, by count. Twice the GPUs for the price of one is a price
 * per GPU that was taken for the machine's; many times the price a GPU is the reverse. */
static void scaling(struct check *k, const struct keyed *v, size_t first, size_t end)
{
    const struct catalog_offers *o = &k->c->offers;
    size_t cheapest = first, small = SIZE_MAX, next = first;
    for (size_t i = first; i < end; i++) {
        size_t r = v[i].row, best = v[cheapest].row;
        if (check_usd(k->c, r) / o->gpu_num[r] < check_usd(k->c, best) / o->gpu_num[best]) {
            cheapest = i;
        }
    }
    for (size_t i = first; i < end; i++) {
        size_t r = v[i].row, lo = v[cheapest].row, against = SIZE_MAX;
        /* the cheapest machine with at most half of the GPUs */
        for (; next < i && 2 * o->gpu_num[v[next].row] <= o->gpu_num[r]; next++) {
            if (small == SIZE_MAX || check_usd(k->c, v[next].row) < check_usd(k->c, small)) {
                small = v[next].row;
            }
        }
        double price = check_usd(k->c, r);
        if (small != SIZE_MAX && price < TWICE_COSTS * check_usd(k->c, small) * (1 - CHECK_SLACK) &&
            !(o->vcpus[small] > o->vcpus[r])) {
            against = small;
        } else if (o->gpu_num[r] > 1 && price / o->gpu_num[r] > PER_GPU_FACTOR * (1 + CHECK_SLACK) *
                                                                    check_usd(k->c, lo) /
                                                                    o->gpu_num[lo]) {
            against = lo;
        }
        char name[CHECK_NAME], a[64], b[64];
        if (against != SIZE_MAX &&
            check_add(k, RULE_NOT_SCALING, CHECK_WARNING, r,
                      "%s with %d x %s costs %s an hour, %s with %d costs %s",
                      check_name(k->c, r, name), o->gpu_num[r], catalog_text(k->c, o->gpu[r]),
                      check_price(k->c, r, a), catalog_text(k->c, o->instance_type[against]),
                      o->gpu_num[against], check_price(k->c, against, b))) {
            check_row(k, r);
            check_row(k, against);
        }
    }
}

static void check_scaling(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    struct keyed *v = check_keys(k);
    size_t n = 0;
    for (size_t i = 0; v && i < o->n; i++) {
        if (priced_on_demand(k, i) && o->gpu_num[i] > 0 && o->gpu_den[i] == 1) {
            v[n++] =
                (struct keyed){key_pair(o->vendor[i], o->region[i]),
                               key_pair(o->gpu[i], o->currency[i]), o->gpu_num[i], (uint32_t)i};
        }
    }
    if (v) {
        check_sort(v, n);
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].hi == v[i].hi && v[end].lo == v[i].lo; end++) {
        }
        scaling(k, v, i, end);
    }
    free(v);
}

/* Bits of a positive double order as the number does. */
static uint64_t bits(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static void check_one_price(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    struct keyed *v = check_keys(k);
    size_t n = 0;
    for (size_t i = 0; v && i < o->n; i++) {
        if (priced_on_demand(k, i)) {
            v[n++] = (struct keyed){key_pair(o->vendor[i], o->region[i]), bits(check_usd(k->c, i)),
                                    o->instance_type[i], (uint32_t)i};
        }
    }
    if (v) {
        check_sort(v, n);
    }
    for (size_t i = 0, end; i < n; i = end) {
        size_t types = 1;
        for (end = i + 1; end < n && v[end].hi == v[i].hi && v[end].lo == v[i].lo; end++) {
            types += v[end].sub != v[end - 1].sub;
        }
        char price[64];
        size_t r = v[i].row;
        if (types >= SAME_PRICE_TYPES &&
            check_add(k, RULE_ONE_PRICE, CHECK_ERROR, r,
                      "%zu instance types of %s/%s cost %s an hour, all of them", types,
                      catalog_text(k->c, o->vendor[r]), catalog_text(k->c, o->region[r]),
                      check_price(k->c, r, price))) {
            for (size_t j = i; j < end; j++) {
                check_row(k, v[j].row);
            }
        }
    }
    free(v);
}

/* The currency that a figure is really in, when the ratio to what was expected is that of two
 * exchange rates; NULL if none that the catalog's vendors use. */
static const char *mistaken_for(const struct check *k, size_t row, double ratio)
{
    static const char *const billed[] = {"USD", "CNY"};
    const char *own = catalog_text(k->c, k->c->offers.currency[row]);
    double rate = money_to_double(catalog_fx_rate(k->c, own, NULL));
    for (size_t i = 0; i < sizeof billed / sizeof *billed; i++) {
        double other = money_to_double(catalog_fx_rate(k->c, billed[i], NULL));
        if (strcmp(billed[i], own) != 0 && rate > 0 && other > 0 &&
            fabs(ratio / (other / rate) - 1) <= FX_SLACK) {
            return billed[i];
        }
    }
    return NULL;
}

static int by_usd(const void *x, const void *y, void *ctx)
{
    const struct catalog *c = ctx;
    double a = check_usd(c, ((const struct keyed *)x)->row),
           b = check_usd(c, ((const struct keyed *)y)->row);
    return a < b ? -1 : a > b;
}

/* One way to buy one type, all regions: v[first..end), ordered by region; order is lost. */
static void outliers(struct check *k, struct keyed *v, size_t n)
{
    const struct catalog_offers *o = &k->c->offers;
    size_t regions = 1;
    for (size_t i = 1; i < n; i++) {
        regions += v[i].sub != v[i - 1].sub;
    }
    if (regions < OUTLIER_REGIONS) {
        return;
    }
    qsort_r(v, n, sizeof *v, by_usd, (void *)(size_t)k->c);
    size_t mid = v[n / 2].row;
    uint8_t purchase = o->purchase[mid];
    bool spot = purchase == PURCHASE_SPOT || purchase == PURCHASE_LOW_PRIORITY;
    double median = check_usd(k->c, mid), factor = spot ? OUTLIER_SPOT : OUTLIER_LIST;
    for (size_t i = 0; i < n; i++) {
        size_t r = v[i].row;
        double ratio = check_usd(k->c, r) / median;
        if (ratio <= factor * (1 + CHECK_SLACK) && ratio >= (1 - CHECK_SLACK) / factor) {
            continue;
        }
        const char *real = spot ? NULL : mistaken_for(k, r, ratio);
        char name[CHECK_NAME], price[64];
        bool add = real ? check_add(k, RULE_CURRENCY, CHECK_ERROR, r,
                                    "%s costs %s an hour, %.2f times the median of %zu regions: a "
                                    "figure in %s, by the exchange rate",
                                    check_name(k->c, r, name), check_price(k->c, r, price), ratio,
                                    regions, real)
                        : check_add(k, RULE_OUTLIER, CHECK_WARNING, r,
                                    "%s costs %s an hour, %.2f times the median of %zu regions",
                                    check_name(k->c, r, name), check_price(k->c, r, price), ratio,
                                    regions);
        if (add) {
            check_row(k, r);
            check_row(k, mid);
        }
    }
}

static void check_regions(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    /* China's partition sells the same types for its own currency */
    uint32_t aws = catalog_id(k->c, "aws"), china = catalog_id(k->c, "aws-cn");
    struct keyed *v = check_keys(k);
    size_t n = 0;
    for (size_t i = 0; v && i < o->n; i++) {
        if (check_usd(k->c, i) > 0) {
            uint32_t vendor = o->vendor[i] == china && aws != 0 ? aws : o->vendor[i];
            v[n++] = (struct keyed){key_pair(vendor, o->instance_type[i]),
                                    (uint64_t)o->purchase[i] << 16 | (uint64_t)o->payment[i] << 8 |
                                        o->offering_class[i],
                                    o->region[i], (uint32_t)i};
        }
    }
    if (v) {
        check_sort(v, n);
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].hi == v[i].hi && v[end].lo == v[i].lo; end++) {
        }
        outliers(k, v + i, end - i);
    }
    free(v);
}

/* Few rows in another currency than the rest of the same list of a region. */
static void check_currencies(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    struct keyed *v = check_keys(k);
    for (size_t i = 0; v && i < o->n; i++) {
        v[i] = (struct keyed){key_pair(o->vendor[i], o->region[i]),
                              key_pair(o->source[i], o->currency[i]), 0, (uint32_t)i};
    }
    if (v) {
        check_sort(v, o->n);
    }
    for (size_t i = 0, end; v && i < o->n; i = end) {
        size_t run = i, best = i, best_n = 0;
        for (end = i; end < o->n && v[end].hi == v[i].hi && v[end].lo >> 32 == v[i].lo >> 32;) {
            for (run = end; end < o->n && v[end].hi == v[i].hi && v[end].lo == v[run].lo; end++) {
            }
            best = end - run > best_n ? run : best;
            best_n = end - run > best_n ? end - run : best_n;
        }
        if (10 * (end - i - best_n) > end - i) {
            continue; /* no minority: such a list bills in several currencies */
        }
        for (size_t j = i; j < end; j++) {
            size_t r = v[j].row, usual = v[best].row;
            char name[CHECK_NAME];
            if (v[j].lo != v[best].lo &&
                check_add(k, RULE_CURRENCY, CHECK_ERROR, r,
                          "%s is in %s; %zu of the %zu rows of that list there are in %s",
                          check_name(k->c, r, name), catalog_text(k->c, o->currency[r]), best_n,
                          end - i, catalog_text(k->c, o->currency[usual]))) {
                check_row(k, r);
                check_row(k, usual);
            }
        }
    }
    free(v);
}

/* The cheapest machine without GPUs that has what GPU machine r has beside them, and hardly more;
 * cpu: rows of the region by vCPUs. */
static size_t same_without(const struct check *k, const struct keyed *cpu, size_t n, size_t r)
{
    const struct catalog_offers *o = &k->c->offers;
    size_t lo = 0, hi = n, best = SIZE_MAX;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (o->vcpus[cpu[mid].row] < o->vcpus[r]) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (; lo < n && o->vcpus[cpu[lo].row] <= 1.5F * o->vcpus[r]; lo++) {
        size_t x = cpu[lo].row;
        if (o->memory_gib[x] >= o->memory_gib[r] && o->memory_gib[x] <= 2 * o->memory_gib[r] &&
            (best == SIZE_MAX || check_usd(k->c, x) < check_usd(k->c, best))) {
            best = x;
        }
    }
    return best;
}

static void check_cpu_price(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    struct keyed *v = check_keys(k);
    size_t n = 0;
    for (size_t i = 0; v && i < o->n; i++) {
        bool whole = o->gpu_num[i] >= o->gpu_den[i];
        bool open = o->gpu_num[i] == 0 && o->gpu[i] != 0; /* GPUs whose number nobody states */
        if (priced_on_demand(k, i) && o->vcpus[i] > 0 && !open && (o->gpu_num[i] == 0 || whole)) {
            v[n++] = (struct keyed){key_pair(o->vendor[i], o->region[i]),
                                    key_pair(o->gpu_num[i] > 0, (uint32_t)(o->vcpus[i] * 16)), 0,
                                    (uint32_t)i};
        }
    }
    if (v) {
        check_sort(v, n);
    }
    for (size_t i = 0, end, cpus; i < n; i = end) {
        for (cpus = i; cpus < n && v[cpus].hi == v[i].hi && v[cpus].lo >> 32 == 0; cpus++) {
        }
        for (end = cpus; end < n && v[end].hi == v[i].hi; end++) {
            size_t r = v[end].row, x = same_without(k, v + i, cpus - i, r);
            char name[CHECK_NAME], a[64], b[64];
            if (x != SIZE_MAX && check_usd(k->c, r) <= check_usd(k->c, x) &&
                check_add(k, RULE_GPU_AT_CPU_PRICE, CHECK_ERROR, r,
                          "%s with %s costs %s an hour, %s without a GPU %s",
                          check_name(k->c, r, name), catalog_text(k->c, o->gpu[r]),
                          check_price(k->c, r, a), catalog_text(k->c, o->instance_type[x]),
                          check_price(k->c, x, b))) {
                check_row(k, r);
                check_row(k, x);
            }
        }
    }
    free(v);
}

void check_groups(struct check *k)
{
    check_scaling(k);
    check_one_price(k);
    check_regions(k);
    check_currencies(k);
    check_cpu_price(k);
}
