/* tier_optimise for what is bought as volumes, disks and file systems, against brute force: every
 * sequence of tiers over a short horizon is billed month by month with the vendors' rules written
 * out here a second time. */
#include "gputier/rng.h"
#include "gputier/tier.h"
#include "storage_catalog.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>

#define GIB   1073741824.0
#define MOST  8
#define SIZES 5
#define HDD   1048576.0 /* hard disks: objects of this mean size at least, where any are read */
#define NEVER 1e300     /* nothing that is read may go there */
enum fee { FREE, DAY_OF_BOTH, WRITES };
struct kind {
    const char *tier;
    double least, step;       /* GiB */
    double iops, volume;      /* IOPS paid for each volume of so many GiB */
    double reads;             /* mean bytes of an object that is read at least */
    int days;                 /* minimum */
    bool pays_reads, no_goal; /* reads and leaving cost by the GiB; nobody may move there */
};
struct product {
    int n;
    struct kind k[MOST];
    enum fee fee;
    bool requests, sizes;
    double month; /* of 30 days, in the vendor's months */
};
static const struct product ebs = {
    .n = 8,
    .month = 1,
    .k = {{"ebs_gp3", 1, 1, 0, 0, 0, 0, 0, 0},
          {"ebs_gp2", 1, 1, 0, 0, 0, 0, 0, 0},
          {"ebs_io1", 4, 1, 100, 16384, 0, 0, 0, 0},
          {"ebs_io2", 4, 1, 100, 65536, 0, 0, 0, 0},
          {"ebs_st1", 125, 1, 0, 0, HDD, 0, 0, 0},
          {"ebs_sc1", 125, 1, 0, 0, NEVER, 0, 0, 0},
          {"ebs_snapshot", 0, 0, 0, 0, NEVER, 0, 0, 0},
          {"ebs_snapshot_archive", 0, 0, 0, 0, NEVER, 90, true, 0}},
};
static const struct product disks = {
    .n = 3,
    .month = 720.0 / 730,
    .sizes = true,
    .k = {{"azure_disk_premium", 0, 0, 0, 0, 0, 0, 0, 0},
          {"azure_disk_standard_ssd", 0, 0, 0, 0, 0, 0, 0, 0},
          {"azure_disk_standard_hdd", 0, 0, 0, 0, HDD, 0, 0, 0}},
};
static const struct product google = {
    .n = 7,
    .month = 720.0 / 730,
    .fee = DAY_OF_BOTH,
    .k = {{"gcp_pd_balanced", 10, 1, 0, 0, 0, 0, 0, 0},
          {"gcp_pd_standard", 10, 1, 0, 0, HDD, 0, 0, 0},
          {"gcp_pd_ssd", 10, 1, 0, 0, 0, 0, 0, 0},
          {"gcp_hyperdisk_balanced", 4, 1, 0, 0, 0, 0, 0, 0},
          {"gcp_hyperdisk_extreme", 64, 1, 128, 65536, 0, 0, 0, 0},
          {"gcp_hyperdisk_throughput", 2048, 1, 0, 0, HDD, 0, 0, 0},
          {"gcp_hyperdisk_ml", 4, 1, 0, 0, 0, 0, 0, true}},
};
static const struct product filestore = {
    .n = 4,
    .month = 720.0 / 730,
    .fee = DAY_OF_BOTH,
    .k = {{"gcp_filestore_zonal", 1024, 256, 0, 0, 0, 0, 0, 0},
          {"gcp_filestore_regional", 100, 1, 0, 0, 0, 0, 0, 0},
          {"gcp_filestore_basic_ssd", 2560, 1, 0, 0, 0, 0, 0, 0},
          {"gcp_filestore_basic_hdd", 1024, 1, 0, 0, HDD, 0, 0, 0}},
};
static const struct product files = {
    .n = 3,
    .month = 1,
    .fee = WRITES,
    .requests = true,
    .k = {{"azure_files_transaction_optimized_lrs", 0, 0, 0, 0, 0, 0, true, 0},
          {"azure_files_hot_lrs", 0, 0, 0, 0, 0, 0, true, 0},
          {"azure_files_cool_lrs", 0, 0, 0, 0, 0, 0, true, 0}},
};
static const struct product oracle_block = {
    .n = 1, .month = 1, .k = {{"oci_block", 50, 1, 0, 0, 0, 0, 0, 0}}};

struct task {
    const struct product *p;
    double storage[MOST], iops[MOST], put[MOST], get[MOST], read[MOST];
    double size[SIZES], price[MOST][SIZES]; /* GiB of a disk, its price in each kind */
    struct tier_group g;
    int horizon;
    bool delete;
};

static money micro(double v)
{
    return (money)llround(v * 1e6) * 1000000;
}

static double price(struct rng *r, double hi)
{
    return (double)llround(hi * rng_unit(r) * 1e6 + 1) / 1e6;
}

static int row_order(const void *a, const void *b)
{
    const struct test_rate *x = a, *y = b;
    int c = strcmp(x->tier, y->tier);
    c = c ? c : strcmp(x->component, y->component);
    return c ? c : (x->from_qty > y->from_qty) - (x->from_qty < y->from_qty);
}

static size_t storage_rows(const struct task *x, int k, struct test_rate *r)
{
    const char *t = x->p->k[k].tier;
    if (strcmp(t, "ebs_snapshot") == 0) { /* the vendor lists it beside the volumes */
        r[0] =
            (struct test_rate){"ebs_gp3", "snapshot", SU_GIB_MONTH, 1, 0, -1, micro(x->storage[k])};
        return 1;
    }
    if (!x->p->sizes) {
        r[0] = (struct test_rate){t, "storage", SU_GIB_MONTH, 1, 0, -1, micro(x->storage[k])};
        return 1;
    }
    for (int i = 0; i < SIZES; i++) {
        money from = i ? (money)x->size[i - 1] * MONEY_SCALE : 0;
        r[i] = (struct test_rate){t,
                                  "storage",
                                  SU_DISK_MONTH,
                                  1,
                                  from,
                                  (money)x->size[i] * MONEY_SCALE,
                                  micro(x->price[k][i])};
    }
    return SIZES;
}

static struct catalog *catalog_of(const struct task *x)
{
    struct test_rate r[TEST_ROWS];
    size_t n = 0;
    for (int k = 0; k < x->p->n; k++) {
        const struct kind *kind = &x->p->k[k];
        const char *t = kind->tier;
        n += storage_rows(x, k, r + n);
        if (kind->iops > 0) {
            r[n++] = (struct test_rate){t,  "provisioned_iops", SU_IOPS_MONTH, 1, 0,
                                        -1, micro(x->iops[k])};
        }
        if (kind->pays_reads) {
            r[n++] = (struct test_rate){t, "retrieval", SU_GIB, 1, 0, -1, micro(x->read[k])};
        }
        if (x->p->requests) {
            r[n++] = (struct test_rate){t, "put", SU_REQUEST, 1000, 0, -1, micro(x->put[k])};
            r[n++] = (struct test_rate){t, "get", SU_REQUEST, 1000, 0, -1, micro(x->get[k])};
        }
    }
    qsort(r, n, sizeof *r, row_order);
    return test_catalog(r, n);
}

/* Rent of one of the vendor's months. */
static double rent(const struct task *x, int k)
{
    const struct kind *kind = &x->p->k[k];
    double gib = (double)x->g.bytes / GIB;
    if (x->p->sizes) {
        double sum = 0, left = fmax(1, ceil(gib));
        for (; left > x->size[SIZES - 1]; left -= x->size[SIZES - 1]) {
            sum += x->price[k][SIZES - 1];
        }
        int i = 0;
        while (x->size[i] < left) {
            i++;
        }
        return sum + x->price[k][i];
    }
    double volumes = kind->iops > 0 ? fmax(1, ceil(gib / kind->volume)) : 0;
    double bought = kind->step > 0 ? ceil(gib / kind->step) * kind->step : gib;
    bought = gib <= kind->least ? kind->least : fmax(bought, kind->least);
    return bought * x->storage[k] + volumes * kind->iops * x->iops[k];
}

static double month(const struct task *x, int k)
{
    double reads = round(x->g.reads_per_month * (double)x->g.objects);
    double gib = round(x->g.reads_per_month * (double)x->g.bytes) / GIB;
    double c = rent(x, k) * x->p->month;
    c += x->p->requests ? reads * x->get[k] / 1000 : 0;
    return c + (x->p->k[k].pays_reads ? gib * x->read[k] : 0);
}

static double rest(const struct task *x, int k, int since)
{
    int left = x->p->k[k].days - 30 * since;
    return left > 0 ? left / 30.0 * rent(x, k) * x->p->month : 0;
}

/* What moving costs; below 0: it cannot be done. */
static double move(const struct task *x, int k, int to)
{
    const struct kind *goal = &x->p->k[to];
    bool read = x->g.reads_per_month > 0 && round(x->g.reads_per_month * (double)x->g.objects) > 0;
    double mean = floor((double)x->g.bytes / (double)x->g.objects);
    if (goal->no_goal || (read && mean < goal->reads)) {
        return -1;
    }
    if (x->p->k[k].days > 0) { /* out of an archive: made a volume again, for a fee */
        return to == 0 ? (double)x->g.bytes / GIB * x->read[k] : -1;
    }
    switch (x->p->fee) {
    case DAY_OF_BOTH:
        return (rent(x, to) -
                goal->iops * x->iops[to] *
                    (goal->iops > 0 ? fmax(1, ceil((double)x->g.bytes / GIB / goal->volume)) : 0)) *
               x->p->month / 30;
    case WRITES:
        return (double)x->g.objects / 1000 * x->put[to];
    default:
        return 0;
    }
}

static double brute(const struct task *x, int t, int k, int since, double spent, double best)
{
    if (t == x->horizon) {
        spent += x->delete ? rest(x, k, since) : 0;
        return spent < best ? spent : best;
    }
    if (spent >= best) {
        return best;
    }
    for (int to = 0; to < x->p->n; to++) {
        double fee = to == k ? 0 : move(x, k, to);
        if (fee >= 0) {
            double cost = spent + fee + (to == k ? 0 : rest(x, k, since)) + month(x, to);
            best = brute(x, t + 1, to, to == k ? since + 1 : 1, cost, best);
        }
    }
    return best;
}

static void random_task(struct rng *r, const struct product *p, struct task *x)
{
    memset(x, 0, sizeof *x);
    x->p = p;
    for (int k = 0; k < p->n; k++) {
        x->storage[k] = price(r, 0.1);
        x->iops[k] = price(r, 0.05);
        x->put[k] = price(r, 0.05);
        x->get[k] = price(r, 0.02);
        x->read[k] = price(r, 0.05);
        for (int i = 0; i < SIZES; i++) {
            x->size[i] = i ? x->size[i - 1] * 2 : 4;
            x->price[k][i] = price(r, 2) + (i ? x->price[k][i - 1] : 0);
        }
    }
    x->horizon = 1 + (int)(rng_u64(r) % 4);
    x->delete = rng_u64(r) % 2;
    x->g = (struct tier_group){.name = "p/", .tier = p->k[rng_u64(r) % (unsigned)p->n].tier};
    double gib = exp(rng_unit(r) * log(rng_u64(r) % 8 ? 5000 : 200000));
    x->g.bytes = rng_u64(r) % 4 ? (uint64_t)(gib * GIB) : (uint64_t)gib << 30;
    x->g.objects = 1 + (uint64_t)((double)x->g.bytes / exp(log(1e4) + rng_unit(r) * log(1e4)));
    x->g.age_days = rng_u64(r) % 3 ? (double)(rng_u64(r) % 200) : 0;
    x->g.reads_per_month = rng_u64(r) % 2 ? 0 : rng_unit(r) * (rng_u64(r) % 2 ? 0.05 : 2);
    x->g.read_fraction = -1;
}

static struct tier_options options(int horizon)
{
    return (struct tier_options){.vendor = "aws",
                                 .region = "us-east-1",
                                 .horizon_months = horizon,
                                 .max_wait_s = (double)INFINITY};
}

static void check(const struct task *x, int number)
{
    struct catalog *c = catalog_of(x);
    struct tier_options o = options(x->horizon);
    o.delete_at_end = x->delete;
    o.max_wait_s = 1e9;
    struct tier_plan *plan = NULL;
    struct gt_error err = {0};
    if (tier_optimise(&x->g, 1, c, &o, &plan, &err) < 0) {
        fail_msg("case %d: %s %s", number, err.where, err.text);
    }
    int start = 0, age = (int)floor(x->g.age_days / 30);
    while (strcmp(x->p->k[start].tier, x->g.tier) != 0) {
        start++;
    }
    double stay = 0, want = brute(x, 0, start, age, 0, 1e300), got = money_to_double(plan->total);
    if (fabs(want - got) > 1e-9 * want + 5e-11) { /* each line is rounded to 1e-12 */
        fail_msg("%s case %d: brute force %.12g, plan %.12g", x->g.tier, number, want, got);
    }
    for (int t = 0; t < x->horizon; t++) {
        stay += month(x, start);
    }
    stay += x->delete ? rest(x, start, age + x->horizon) : 0;
    got = money_to_double(plan->baseline);
    if (fabs(stay - got) > 1e-9 * stay + 5e-11) {
        fail_msg("%s case %d: staying costs %.12g, told %.12g", x->g.tier, number, stay, got);
    }
    tier_plan_free(plan);
    catalog_free(c);
}

static void compare(const struct product *p, uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed, 1);
    for (int i = 0; i < 3000; i++) {
        struct task x;
        random_task(&r, p, &x);
        check(&x, i);
    }
}

static void ebs_agrees_with_brute_force(void **state)
{
    (void)state;
    compare(&ebs, 21);
}

static void azure_disks_agree_with_brute_force(void **state)
{
    (void)state;
    compare(&disks, 22);
}

static void azure_files_agree_with_brute_force(void **state)
{
    (void)state;
    compare(&files, 23);
}

static void google_disks_agree_with_brute_force(void **state)
{
    (void)state;
    compare(&google, 24);
    compare(&filestore, 25);
}

static void oracle_blocks_agree_with_brute_force(void **state)
{
    (void)state;
    compare(&oracle_block, 26);
}

/* Bought for all groups together: FSx as 1,200 GiB, 2,400, 4,800 …; a premium share in GiB, 100 at
 * least; a file system of Oracle's to the byte (R-FSX-01, R-AZ-14). */
static void one_file_system_holds_all_groups(void **state)
{
    (void)state;
    static const struct {
        const char *tier;
        uint64_t least, step;
    } system[] = {{"fsx_lustre_persistent", 1200, 2400},
                  {"azure_files_premium_lrs", 100, 1},
                  {"azure_files_premium_zrs", 100, 1},
                  {"oci_file", 0, 0}};
    struct rng r;
    rng_init(&r, 27, 1);
    for (int i = 0; i < 2000; i++) {
        size_t s = rng_u64(&r) % 4, n = 1 + rng_u64(&r) % 4;
        struct test_rate row[] = {{system[s].tier, "storage", SU_GIB_MONTH, 1, 0, -1, 0}};
        row[0].rate = micro(price(&r, 0.3));
        struct tier_group g[4];
        uint64_t bytes = 0;
        for (size_t k = 0; k < n; k++) {
            g[k] = (struct tier_group){.name = "p/", .objects = 3, .read_fraction = -1};
            g[k].bytes = rng_u64(&r) % 3 ? (rng_u64(&r) % 3000) << 30 : rng_u64(&r) >> 24;
            g[k].tier = system[s].tier;
            bytes += g[k].bytes;
        }
        double gib = (double)bytes / GIB, step = (double)system[s].step;
        double bought = gib <= (double)system[s].least ? (double)system[s].least
                        : step > 0                     ? ceil(gib / step) * step
                                                       : gib;
        struct tier_options o = options(1 + (int)(rng_u64(&r) % 40));
        struct catalog *c = test_catalog(row, 1);
        struct tier_plan *plan;
        assert_int_equal(tier_optimise(g, n, c, &o, &plan, NULL), 0);
        double want = bought * money_to_double(row[0].rate) * o.horizon_months;
        assert_true(fabs(money_to_double(plan->total) - want) <= 1e-9 * want + 1e-10);
        assert_true(plan->baseline == plan->total);
        money sum = 0;
        for (size_t k = 0; k < n; k++) {
            sum += plan->path[k].cost;
        }
        assert_true(sum == plan->total);
        tier_plan_free(plan);
        catalog_free(c);
    }
}

/* R-SCR-01: what is lost with its machine or server is nobody's home. */
static void scratch_is_no_home(void **state)
{
    (void)state;
    static const char *const scratch[] = {"local_nvme", "fsx_lustre_scratch"};
    for (int i = 0; i < 2; i++) {
        struct test_rate row[] = {{scratch[i], "storage", SU_GIB_MONTH, 1, 0, -1, micro(0.1)}};
        struct tier_group g = {.name = "p/", .objects = 1, .bytes = 5, .tier = scratch[i]};
        struct tier_options o = options(3);
        struct catalog *c = test_catalog(row, 1);
        struct tier_plan *plan;
        struct gt_error err = {0};
        assert_int_equal(tier_optimise(&g, 1, c, &o, &plan, &err), GT_EUNSUPPORTED);
        assert_non_null(strstr(err.text, "no data have their home there"));
        catalog_free(c);
    }
}

/* A wait that is not allowed keeps idle volumes out of snapshots (R-EBS-09: up to 72 hours). */
static void a_snapshot_waits(void **state)
{
    (void)state;
    struct test_rate row[] = {
        {"ebs_gp3", "snapshot", SU_GIB_MONTH, 1, 0, -1, micro(0.05)},
        {"ebs_gp3", "storage", SU_GIB_MONTH, 1, 0, -1, micro(0.08)},
        {"ebs_snapshot_archive", "retrieval", SU_GIB, 1, 0, -1, micro(0.03)},
        {"ebs_snapshot_archive", "storage", SU_GIB_MONTH, 1, 0, -1, micro(0.0125)}};
    static const struct {
        double wait;
        const char *total; /* of 1,000 GiB in 12 months */
    } want[] = {{(double)INFINITY, "960"},
                {1e9, "150"},
                {259200, "150"},
                {259199, "600"},
                {600, "600"},
                {599, "960"},
                {0.001, "960"}};
    struct tier_group g = {.name = "p/", .objects = 9, .bytes = 1000ULL << 30, .tier = "ebs_gp3"};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct tier_options o = options(12);
        o.max_wait_s = want[i].wait;
        struct catalog *c = test_catalog(row, sizeof row / sizeof *row);
        struct tier_plan *plan;
        char text[MONEY_TEXT];
        assert_int_equal(tier_optimise(&g, 1, c, &o, &plan, NULL), 0);
        assert_string_equal(money_format(plan->total, text), want[i].total);
        tier_plan_free(plan);
        catalog_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ebs_agrees_with_brute_force),
        cmocka_unit_test(azure_disks_agree_with_brute_force),
        cmocka_unit_test(azure_files_agree_with_brute_force),
        cmocka_unit_test(google_disks_agree_with_brute_force),
        cmocka_unit_test(oracle_blocks_agree_with_brute_force),
        cmocka_unit_test(one_file_system_holds_all_groups),
        cmocka_unit_test(scratch_is_no_home),
        cmocka_unit_test(a_snapshot_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
