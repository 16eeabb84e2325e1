/* S3's tiers for tests: random and list prices as a catalog, random groups, and the rules of a bill
 * written out a second time, in doubles. */
#ifndef GPUTIER_TEST_STORAGE_S3_H
#define GPUTIER_TEST_STORAGE_S3_H
#include "gputier/rng.h"
#include "gputier/tier.h"
#include "storage_catalog.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>

#define GIB 1073741824.0
enum { STD, IA, IT, ZIA, GLI, GFR, GDA, XP, TIERS };
static const char *const names[] = {"s3_standard",     "s3_standard_ia", "s3_intelligent_tiering",
                                    "s3_onezone_ia",   "s3_glacier_ir",  "s3_glacier_flexible",
                                    "s3_deep_archive", "s3_express"};
/* R-S3-16, from row to column, written from the table of the rule page. */
static const char *const waterfall[] = {".11.111.", "..1.111.", "....111.", ".....11.",
                                        ".....11.", "......1.", "........", "........"};
static const int min_months[] = {0, 1, 0, 1, 3, 3, 6, 0};

struct prices { /* per GiB-month, 1,000 requests, GiB */
    double storage[TIERS], put[TIERS], get[TIERS], transition[TIERS], retrieval[TIERS],
        restore[TIERS], infrequent, instant, monitor;
};

static inline money micro(double v) /* a price with 6 decimals */
{
    return (money)llround(v * 1e6) * 1000000;
}

static inline double price(struct rng *r, double lo, double hi)
{
    return (double)llround((lo + (hi - lo) * rng_unit(r)) * 1e6) / 1e6;
}

static inline void random_prices(struct rng *r, struct prices *p)
{
    static const double level[] = {0.023, 0.0125, 0.023, 0.01, 0.004, 0.0036, 0.001, 0.1};
    for (int k = 0; k < TIERS; k++) {
        p->storage[k] = price(r, level[k] * 0.5, level[k] * 2);
        p->put[k] = price(r, 0, 0.06);
        p->get[k] = price(r, 0, 0.01);
        p->transition[k] = price(r, 0, 0.1);
        p->retrieval[k] = k == STD || k == IT ? 0 : price(r, 0, 0.03);
        p->restore[k] = k == GFR || k == GDA ? price(r, 0, 0.1) : 0;
    }
    p->infrequent = price(r, 0.008, 0.016);
    p->instant = price(r, 0.002, 0.006);
    p->monitor = price(r, 0, 0.005);
}

static inline int row_order(const void *a, const void *b)
{
    const struct test_rate *x = a, *y = b;
    int c = strcmp(x->tier, y->tier);
    c = c ? c : strcmp(x->component, y->component);
    return c ? c : (x->from_qty > y->from_qty) - (x->from_qty < y->from_qty);
}

static inline struct catalog *catalog_of(const struct prices *p)
{
    struct test_rate r[TEST_ROWS];
    size_t n = 0;
    for (int k = 0; k < TIERS; k++) {
        const char *t = names[k];
        const char *storage = k == IT ? "storage_frequent" : "storage";
        r[n++] = (struct test_rate){t, storage, SU_GIB_MONTH, 1, 0, -1, micro(p->storage[k])};
        r[n++] = (struct test_rate){t, "put", SU_REQUEST, 1000, 0, -1, micro(p->put[k])};
        r[n++] = (struct test_rate){t, "get", SU_REQUEST, 1000, 0, -1, micro(p->get[k])};
        r[n++] =
            (struct test_rate){t, "transition", SU_REQUEST, 1000, 0, -1, micro(p->transition[k])};
        r[n++] = (struct test_rate){t, "retrieval", SU_GIB, 1, 0, -1, micro(p->retrieval[k])};
        if (k == GFR || k == GDA) {
            r[n++] = (struct test_rate){t,  "retrieval_request", SU_REQUEST, 1000, 0,
                                        -1, micro(p->restore[k])};
        }
    }
    r[n++] = (struct test_rate){names[IT], "storage_infrequent", SU_GIB_MONTH, 1, 0,
                                -1,        micro(p->infrequent)};
    r[n++] = (struct test_rate){names[IT], "storage_archive_instant", SU_GIB_MONTH, 1, 0,
                                -1,        micro(p->instant)};
    r[n++] = (struct test_rate){names[IT], "monitoring", SU_OBJECT_MONTH,  1000,
                                0,         -1,           micro(p->monitor)};
    qsort(r, n, sizeof *r, row_order);
    return test_catalog(r, n);
}

static inline double own_bytes(const struct tier_group *g, int k)
{
    double n = (double)g->objects, b = (double)g->bytes;
    if (k == IA || k == ZIA || k == GLI) {
        return fmax(b, n * 131072);
    }
    return k == GFR || k == GDA ? b + n * 32768 : b;
}

/* One month in k, `since` months after it was entered. */
static inline double month(const struct prices *p, const struct tier_group *g, int k, int since)
{
    double n = (double)g->objects, b = (double)g->bytes, c, rate = g->reads_per_month;
    double reads = round(rate * n),
           read_gib = round((g->read_fraction >= 0 ? g->read_fraction : rate) * b) / GIB;
    if (k == IT) {
        bool small = b / n < 131072;
        double cool = small || since < 1 ? 0 : b * fmax(0, 1 - rate);
        double cold = small || since < 3 ? 0 : b * fmax(0, 1 - 3 * rate);
        c = ((b - cool) * p->storage[IT] + (cool - cold) * p->infrequent + cold * p->instant) / GIB;
        c += small ? 0 : n * p->monitor / 1000;
    } else {
        c = own_bytes(g, k) / GIB * p->storage[k];
    }
    if (k == GFR || k == GDA) {
        c += n * 8192 / GIB * p->storage[STD];
        c += reads * p->restore[k] / 1000 + read_gib * p->storage[STD] * 7 / 30;
    }
    return c + reads * p->get[k] / 1000 + read_gib * p->retrieval[k];
}

static inline double move(const struct prices *p, const struct tier_group *g, int from, int to)
{
    double n = (double)g->objects, gib = (double)g->bytes / GIB;
    if (waterfall[from][to] == '1' && to != ZIA) {
        return n * p->transition[to] / 1000;
    }
    if (to == STD) {
        return n * (p->get[from] + p->restore[from] + p->put[STD]) / 1000 +
               gib * p->retrieval[from];
    }
    return (double)INFINITY;
}

static inline struct tier_group random_group(struct rng *r, char *name, size_t size)
{
    static const int starts[] = {STD, STD, STD, IA, IT, GLI, GFR, GDA, XP, ZIA};
    struct tier_group g = {.name = name, .tier = names[starts[rng_u64(r) % 10]]};
    snprintf(name, size, "p%d/", (int)(rng_u64(r) % 5));
    g.objects = 1 + rng_u64(r) % 100000;
    double each = exp(log(1000) + rng_unit(r) * log(1e7 / 1000.0) * 1.2);
    g.bytes = (uint64_t)(each * (double)g.objects);
    g.age_days = rng_u64(r) % 3 ? (double)(rng_u64(r) % 400) : 0;
    g.idle_days = g.age_days;
    g.reads_per_month = rng_u64(r) % 2 ? 0 : rng_unit(r) * (rng_u64(r) % 2 ? 0.05 : 2);
    g.read_fraction = rng_u64(r) % 4 ? -1 : rng_unit(r) * g.reads_per_month;
    return g;
}

static inline int index_of(const char *tier)
{
    int k = 0;
    while (strcmp(names[k], tier) != 0) {
        k++;
    }
    return k;
}

static inline struct catalog *list_prices(void)
{
    struct prices p = {.storage = {0.023, 0.0125, 0.023, 0.01, 0.004, 0.0036, 0.00099, 0.11},
                       .put = {0.005, 0.01, 0.005, 0.01, 0.02, 0.03, 0.05, 0.00113},
                       .get = {0.0004, 0.001, 0.0004, 0.001, 0.01, 0.0004, 0.0004, 0.00003},
                       .transition = {0, 0.01, 0.01, 0.01, 0.02, 0.03, 0.05, 0},
                       .retrieval = {0, 0.01, 0, 0.01, 0.03, 0.01, 0.02, 0.0006},
                       .restore = {0, 0, 0, 0, 0, 0.05, 0.10, 0},
                       .infrequent = 0.0125,
                       .instant = 0.004,
                       .monitor = 0.0025};
    return catalog_of(&p);
}

#endif
