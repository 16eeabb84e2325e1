/* tier_optimise for Azure Blob, Cloud Storage and OSS, with reads that change and a rule that
 * begins within the horizon, against brute force: every sequence of tiers over a short horizon is
 * billed month by month with the vendors' rules written out here a second time. */
#include "gputier/rng.h"
#include "gputier/tier.h"
#include "storage_catalog.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>

#define GIB  1073741824.0
#define MOST 5
enum clock { ENTRY, CREATION };
struct vendor {
    enum storage_product product;
    int n;
    const char *tier[MOST];
    int days[MOST];
    enum clock clock[MOST];
    double least[MOST], later[MOST]; /* bytes an object */
    bool restore[MOST], copy[MOST];  /* reads pay a restore; leave a copy in the hot tier */
    bool lifecycle_pays_rest, source_put, writes_up;
    int automatic,
        idle[3];  /* tier that stores what is idle for so many months at the next prices */
    double month; /* of 30 days, in the vendor's months */
};
static const struct vendor azure = {
    .product = PRODUCT_AZURE_LRS,
    .n = 4,
    .tier = {"azure_blob_hot_lrs", "azure_blob_cool_lrs", "azure_blob_cold_lrs",
             "azure_blob_archive_lrs"},
    .days = {0, 30, 90, 180},
    .later = {0, 131072, 131072, 131072},
    .copy = {false, false, false, true},
    .lifecycle_pays_rest = true,
    .month = 1,
};
static const struct vendor google = {
    .product = PRODUCT_GCS,
    .n = 5,
    .tier = {"gcs_standard", "gcs_nearline", "gcs_coldline", "gcs_archive", "gcs_autoclass"},
    .days = {0, 30, 90, 365},
    .clock = {CREATION, CREATION, CREATION, CREATION},
    .writes_up = true,
    .automatic = 4,
    .idle = {1, 3, 13},
    .month = 720.0 / 730,
};
static const struct vendor alibaba = {
    .product = PRODUCT_OSS,
    .n = 5,
    .tier = {"oss_standard", "oss_ia", "oss_archive", "oss_cold_archive", "oss_deep_cold_archive"},
    .days = {0, 30, 60, 180, 180},
    .clock = {ENTRY, CREATION, CREATION, ENTRY, ENTRY},
    .least = {0, 65536, 65536, 65536, 65536},
    .restore = {false, false, false, true, true},
    .copy = {false, false, false, true, true},
    .lifecycle_pays_rest = true,
    .source_put = true,
    .writes_up = true,
    .month = 1,
};

struct prices { /* per GiB-month, 1,000 requests, GiB */
    double storage[MOST], put[MOST], get[MOST], transition[MOST], retrieval[MOST], restore[MOST];
    double monitoring; /* of 1,000 objects */
};
struct task {
    const struct vendor *v;
    struct prices p;
    struct tier_group g;
    int horizon, small_from; /* month; < 0 = never */
    bool delete;
    bool varying; /* else no forecast is given */
    double factor[24];
};

static money micro(double v)
{
    return (money)llround(v * 1e6) * 1000000;
}

static double price(struct rng *r, double hi)
{
    return (double)llround(hi * rng_unit(r) * 1e6) / 1e6;
}

static int row_order(const void *a, const void *b)
{
    const struct test_rate *x = a, *y = b;
    int c = strcmp(x->tier, y->tier);
    return c ? c : strcmp(x->component, y->component);
}

static struct catalog *catalog_of(const struct vendor *v, const struct prices *p)
{
    struct test_rate r[TEST_ROWS];
    size_t n = 0;
    for (int k = 0; k < v->n; k++) {
        const char *t = v->tier[k];
        r[n++] = (struct test_rate){t, "storage", SU_GIB_MONTH, 1, 0, -1, micro(p->storage[k])};
        r[n++] = (struct test_rate){t, "put", SU_REQUEST, 1000, 0, -1, micro(p->put[k])};
        r[n++] = (struct test_rate){t, "get", SU_REQUEST, 1000, 0, -1, micro(p->get[k])};
        r[n++] = (struct test_rate){t, "retrieval", SU_GIB, 1, 0, -1, micro(p->retrieval[k])};
        if (k > 0 && k == v->automatic) {
            r[n++] = (struct test_rate){t, "monitoring", SU_OBJECT_MONTH,     1000,
                                        0, -1,           micro(p->monitoring)};
        } else if (!v->source_put) {
            r[n++] = (struct test_rate){t,  "transition",           SU_REQUEST, 1000, 0,
                                        -1, micro(p->transition[k])};
        }
        if (v->restore[k]) {
            r[n++] = (struct test_rate){t,  "retrieval_request", SU_REQUEST, 1000, 0,
                                        -1, micro(p->restore[k])};
        }
    }
    qsort(r, n, sizeof *r, row_order);
    return test_catalog(r, n);
}

static double billed(const struct task *x, int k, int t)
{
    bool later = x->small_from >= 0 && t >= x->small_from && x->v->later[k] > 0;
    double least = later ? x->v->later[k] : x->v->least[k];
    return fmax((double)x->g.bytes, (double)x->g.objects * least) / GIB * x->p.storage[k] *
           x->v->month;
}

/* Autoclass (R-GCS-08): at most r objects are read in a month and as many more in each before; the
 * rest lies in the coldest class that its idle months allow, from the entry on. */
static double automatic(const struct task *x, int t, int since)
{
    double bytes = (double)x->g.bytes, n = (double)x->g.objects, above = bytes, sum = 0;
    bool managed = floor(bytes / n) >= 131072;
    for (int step = 0; step < 3; step++) {
        double read = 0;
        for (int i = 0; i < x->v->idle[step]; i++) {
            read += x->g.reads_per_month * x->factor[t > i ? t - i : 0];
        }
        bool open = managed && since >= x->v->idle[step] && read < 1;
        double below = open ? fmin(above, round(bytes * (1 - read))) : 0;
        sum += (above - below) * x->p.storage[step];
        above = below;
    }
    sum += above * x->p.storage[3];
    return sum / GIB * x->v->month + (managed ? n / 1000 * x->p.monitoring : 0);
}

static double month(const struct task *x, int k, int t, int since)
{
    double n = (double)x->g.objects, b = (double)x->g.bytes, rate = x->g.reads_per_month;
    double reads = round(round(rate * n) * x->factor[t]);
    double gib = round(round(rate * b) * x->factor[t]) / GIB;
    bool own = k > 0 && k == x->v->automatic;
    double c = own ? automatic(x, t, since) : billed(x, k, t);
    c += reads * x->p.get[k] / 1000 + gib * x->p.retrieval[k];
    c += x->v->restore[k] ? reads * x->p.restore[k] / 1000 : 0;
    return c + (x->v->copy[k] ? gib * x->p.storage[0] * x->v->month * 7 / 30 : 0);
}

static double rest(const struct task *x, int k, int t, int since, int born)
{
    int left = x->v->days[k] - 30 * (x->v->clock[k] == CREATION ? t - born : since);
    return left > 0 ? left / 30.0 * billed(x, k, t) : 0;
}

static double brute(const struct task *x, int t, int k, int since, int born, double spent,
                    double best)
{
    const struct vendor *v = x->v;
    if (t == x->horizon) {
        spent += x->delete ? rest(x, k, t, since, born) : 0;
        return spent < best ? spent : best;
    }
    if (spent >= best) {
        return best;
    }
    double n = (double)x->g.objects, gib = (double)x->g.bytes / GIB;
    for (int to = 0; to < v->n; to++) {
        double cost = spent;
        int now = since, birth = born;
        if (k > 0 && k == v->automatic && to != k) {
            continue; /* nothing leaves */
        }
        if (to > k && to == v->automatic) { /* copied into a bucket of its own */
            cost += rest(x, k, t, since, born) + n / 1000 * (x->p.get[k] + x->p.put[to]);
            cost += gib * x->p.retrieval[k];
            now = 0;
        } else if (to > k) { /* lifecycle moves down, whatever the tiers between */
            cost += v->lifecycle_pays_rest ? rest(x, k, t, since, born) : 0;
            cost += n / 1000 * (v->source_put ? x->p.put[k] : x->p.transition[to]);
            now = 0;
        } else if (to < k && to == 0) {
            cost += rest(x, k, t, since, born) + n / 1000 * x->p.get[k] + gib * x->p.retrieval[k];
            cost += n / 1000 * (v->restore[k] ? x->p.restore[k] : 0);
            cost += n / 1000 * (v->writes_up ? x->p.put[0] : 0);
            birth = v->writes_up ? t : born;
            now = 0;
        } else if (to != k) {
            continue;
        }
        best = brute(x, t + 1, to, now + 1, birth, cost + month(x, to, t, now), best);
    }
    return best;
}

static void random_task(struct rng *r, const struct vendor *v, struct task *x)
{
    static const double level[] = {0.02, 0.01, 0.006, 0.002, 0.001};
    memset(x, 0, sizeof *x);
    x->v = v;
    for (int k = 0; k < v->n; k++) {
        x->p.storage[k] = price(r, level[k] * 2) + 0.0001;
        x->p.put[k] = price(r, 0.05);
        x->p.get[k] = price(r, 0.02);
        x->p.transition[k] = price(r, 0.05);
        x->p.retrieval[k] = k ? price(r, 0.03) : 0;
        x->p.restore[k] = price(r, 0.05);
    }
    x->p.monitoring = price(r, 0.005);
    if (v->automatic > 0) { /* the first class's price stands there, too */
        x->p.storage[v->automatic] = x->p.storage[0];
    }
    x->horizon = 1 + (int)(rng_u64(r) % 7);
    x->delete = rng_u64(r) % 2;
    x->small_from = v->later[1] > 0 && rng_u64(r) % 2 ? (int)(rng_u64(r) % 8) : -1;
    x->varying = rng_u64(r) % 2;
    for (int t = 0; t < x->horizon; t++) {
        x->factor[t] = x->varying ? (double)(rng_u64(r) % 3) * rng_unit(r) * 3 : 1;
    }
    x->g = (struct tier_group){.name = "p/", .tier = v->tier[rng_u64(r) % (unsigned)v->n]};
    x->g.objects = 1 + rng_u64(r) % 100000;
    double each = exp(log(1000) + rng_unit(r) * log(1e4));
    x->g.bytes = (uint64_t)(each * (double)x->g.objects);
    x->g.age_days = rng_u64(r) % 3 ? (double)(rng_u64(r) % 400) : 0;
    x->g.reads_per_month = rng_u64(r) % 2 ? 0 : rng_unit(r) * (rng_u64(r) % 2 ? 0.05 : 2);
    x->g.read_fraction = -1;
}

/* Month by month: every tier's rent as reckoned here, and all together the plan to the last digit.
 */
static void check_months(const struct task *x, const struct tier_plan *plan, int number)
{
    const struct tier_series *s = plan->series;
    const struct tier_path *p = &plan->path[0];
    money total = 0, base = 0;
    assert_int_equal(s->months, x->horizon);
    for (int t = 0; t < s->months; t++) {
        size_t in = 0;
        while (t >= p->step[in].to_month) {
            in++;
        }
        bool first = in == 0 && strcmp(p->step[0].tier, x->g.tier) == 0;
        int since = t - p->step[in].from_month + (first ? (int)floor(x->g.age_days / 30) : 0);
        uint64_t bytes = 0;
        for (size_t i = 0; i < s->n_tiers; i++) {
            size_t at = i * (size_t)s->months + (size_t)t;
            bool here = strcmp(s->tier[i], p->step[in].tier) == 0;
            int k = 0;
            while (strcmp(x->v->tier[k], s->tier[i]) != 0) {
                k++;
            }
            double want = here ? month(x, k, t, since) : 0, got = money_to_double(s->rent[at]);
            if (fabs(want - got) > 1e-9 * want + 5e-11) {
                fail_msg("%s case %d month %d: rent %.12g, reckoned %.12g", s->tier[i], number, t,
                         got, want);
            }
            assert_true(s->bytes[at] == (here ? x->g.bytes : 0));
            bytes += s->bytes[at];
            bool entered = here && t == p->step[in].from_month;
            assert_true(entered || t == s->months - 1 || s->moves[at] == 0);
        }
        assert_true(bytes == x->g.bytes);
        total += tier_series_month(s, t);
        base += s->baseline[t];
    }
    assert_true(total == plan->total);
    assert_true(base == plan->baseline);
}

static void check(const struct task *x, int number)
{
    struct catalog *c = catalog_of(x->v, &x->p);
    struct tier_options o = {.vendor = "aws",
                             .region = "us-east-1",
                             .horizon_months = x->horizon,
                             .max_wait_s = (double)INFINITY,
                             .delete_at_end = x->delete,
                             .search_policy = true,
                             .over_time = true,
                             .forecast = x->varying ? x->factor : NULL,
                             .min_size_from = x->small_from + 1};
    struct tier_plan *plan = NULL;
    struct gt_error err = {0};
    if (tier_optimise(&x->g, 1, c, &o, &plan, &err) < 0) {
        fail_msg("case %d: %s %s", number, err.where, err.text);
    }
    int start = 0, age = (int)floor(x->g.age_days / 30);
    while (strcmp(x->v->tier[start], x->g.tier) != 0) {
        start++;
    }
    double want = brute(x, 0, start, age, -age, 0, 1e300), got = money_to_double(plan->total);
    if (fabs(want - got) > 1e-9 * want + 5e-11) { /* each line is rounded to 1e-12 */
        fail_msg("%s case %d: brute force %.12g, plan %.12g", x->g.tier, number, want, got);
    }
    check_months(x, plan, number);
    if (x->v->product != PRODUCT_OSS) { /* what the rules cost lies between, and is no less */
        assert_true(plan->total <= plan->policy_cost);
        assert_true(plan->policy_cost <= plan->baseline);
    }
    tier_plan_free(plan);
    catalog_free(c);
}

static void compare(const struct vendor *v, uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed, 1);
    for (int i = 0; i < 4000; i++) {
        struct task x;
        random_task(&r, v, &x);
        check(&x, i);
    }
}

static void azure_agrees_with_brute_force(void **state)
{
    (void)state;
    compare(&azure, 11);
}

static void cloud_storage_agrees_with_brute_force(void **state)
{
    (void)state;
    compare(&google, 12);
}

/* Long enough for Autoclass's last step. */
static void autoclass_agrees_over_years(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 14, 1);
    for (int i = 0; i < 1000; i++) {
        struct task x;
        random_task(&r, &google, &x);
        x.horizon = 12 + (int)(rng_u64(&r) % 12);
        x.g.tier = "gcs_autoclass";
        x.g.reads_per_month *= rng_u64(&r) % 2 ? 0.05 : 1;
        for (int t = 0; t < x.horizon; t++) {
            x.factor[t] = x.varying ? (double)(rng_u64(&r) % 3) * rng_unit(&r) : 1;
        }
        check(&x, i);
    }
}

static void oss_agrees_with_brute_force(void **state)
{
    (void)state;
    compare(&alibaba, 13);
}

/* R-WAS-01: below a terabyte the account pays for one. */
static void an_account_pays_its_least_size(void **state)
{
    (void)state;
    struct test_rate r[] = {
        {"wasabi", "get", SU_REQUEST, 1000, 0, -1, 0},
        {"wasabi", "storage", SU_GIB_MONTH, 1024, 0, -1, micro(7.99)},
    };
    struct catalog *c = test_catalog(r, sizeof r / sizeof *r);
    struct tier_group g[2] = {
        {.name = "a/", .objects = 10, .bytes = 1ULL << 35, .read_fraction = -1},
        {.name = "b/", .objects = 10, .bytes = 1ULL << 36, .read_fraction = -1}};
    struct tier_options o = {.vendor = "aws",
                             .region = "us-east-1",
                             .horizon_months = 10,
                             .max_wait_s = (double)INFINITY,
                             .from_tier = "wasabi"};
    struct tier_plan *plan;
    char text[MONEY_TEXT];
    assert_int_equal(tier_optimise(g, 2, c, &o, &plan, NULL), 0);
    assert_string_equal(money_format(plan->total, text), "79.9");
    assert_true(plan->path[0].cost + plan->path[1].cost == plan->total);
    assert_true(plan->baseline == plan->total);
    tier_plan_free(plan);
    g[1].bytes = 3ULL << 40;
    assert_int_equal(tier_optimise(g, 2, c, &o, &plan, NULL), 0);
    assert_string_equal(money_format(plan->total, text), "242.196875");
    tier_plan_free(plan);
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(azure_agrees_with_brute_force),
        cmocka_unit_test(cloud_storage_agrees_with_brute_force),
        cmocka_unit_test(autoclass_agrees_over_years),
        cmocka_unit_test(oss_agrees_with_brute_force),
        cmocka_unit_test(an_account_pays_its_least_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
