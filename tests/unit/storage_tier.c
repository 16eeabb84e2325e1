/* tier_optimise against brute force: random prices, sizes, ages and read rates; every sequence of
 * tiers over a short horizon is billed month by month with the rules written out here a second
 * time. Then: sums, bounds, brackets, break-even, policy, and the time for 100,000 groups. */
#include "gputier/billing.h"
#include "storage_s3.h"
#include <time.h>

static double brute(const struct prices *p, const struct tier_group *g, int start, int horizon,
                    bool delete, int t, int k, int since, double spent, double best)
{
    if (t == horizon) {
        int left = delete ? min_months[k] - since : 0;
        spent += left > 0 ? left * own_bytes(g, k) / GIB * p->storage[k] : 0;
        return spent < best ? spent : best;
    }
    if (spent >= best) {
        return best;
    }
    for (int to = 0; to < TIERS; to++) {
        double cost = spent;
        int now = since;
        if (to != k) {
            if ((to == IA || to == ZIA) && g->age_days + 30 * t < 30) {
                continue;
            }
            int left = min_months[k] - since;
            cost +=
                move(p, g, k, to) + (left > 0 ? left * own_bytes(g, k) / GIB * p->storage[k] : 0);
            now = 0;
        }
        if (isfinite(cost)) {
            best = brute(p, g, start, horizon, delete, t + 1, to, now + 1,
                         cost + month(p, g, to, now), best);
        }
    }
    return best;
}

static struct tier_options options(int horizon)
{
    return (struct tier_options){.vendor = "aws",
                                 .region = "us-east-1",
                                 .horizon_months = horizon,
                                 .max_wait_s = (double)INFINITY,
                                 .from_tier = "s3_standard",
                                 .search_policy = true,
                                 .over_time = true};
}

/* Rent and moves of all months and tiers are the plan, to the last digit; no byte is lost. */
static void months_add_up(const struct tier_plan *plan)
{
    const struct tier_series *s = plan->series;
    uint64_t all = 0;
    money total = 0, base = 0;
    for (size_t i = 0; i < plan->n_paths; i++) {
        all += plan->path[i].group->bytes;
    }
    for (int t = 0; t < s->months; t++) {
        uint64_t bytes = 0;
        for (size_t k = 0; k < s->n_tiers; k++) {
            bytes += s->bytes[k * (size_t)s->months + (size_t)t];
            assert_true(s->rent[k * (size_t)s->months + (size_t)t] >= 0);
            assert_true(s->moves[k * (size_t)s->months + (size_t)t] >= 0);
        }
        assert_true(bytes == all);
        total += tier_series_month(s, t);
        base += s->baseline[t];
    }
    assert_true(total == plan->total);
    assert_true(base == plan->baseline);
    int pays = tier_series_break_even(s);
    assert_true(pays < s->months && (plan->saving >= 0 || pays == -1));
}

static void no_sequence_of_tiers_is_cheaper(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 7, 1);
    for (int i = 0; i < 1500; i++) {
        struct prices p;
        char name[16];
        random_prices(&r, &p);
        struct catalog *c = catalog_of(&p);
        struct tier_group g = random_group(&r, name, sizeof name);
        struct tier_options o = options(1 + (int)(rng_u64(&r) % 8));
        o.delete_at_end = rng_u64(&r) % 2;
        struct tier_plan *plan = NULL;
        struct gt_error err = {0};
        if (tier_optimise(&g, 1, c, &o, &plan, &err) < 0) {
            fail_msg("case %d: %s %s", i, err.where, err.text);
        }
        int start = index_of(g.tier), served = (int)floor(g.age_days / 30);
        double want =
            brute(&p, &g, start, o.horizon_months, o.delete_at_end, 0, start, served, 0, 1e300);
        double got = money_to_double(plan->path[0].cost);
        if (fabs(want - got) > 1e-9 * fmax(want, 1e-3)) {
            fail_msg("case %d: brute force %.12g, plan %.12g", i, want, got);
        }
        assert_true(plan->lower_bound == plan->total);
        if (!(plan->total <= plan->policy_cost && plan->policy_cost <= plan->baseline)) {
            fail_msg("case %d: total %.15g policy %.15g baseline %.15g", i,
                     money_to_double(plan->total), money_to_double(plan->policy_cost),
                     money_to_double(plan->baseline));
        }
        assert_true(plan->saving == plan->baseline - plan->total && plan->saving >= 0);
        months_add_up(plan);
        tier_plan_free(plan);
        catalog_free(c);
    }
}

static void a_long_wait_is_refused_when_asked(void **state)
{
    (void)state;
    struct catalog *c = list_prices();
    struct tier_group g = {.name = "old/",
                           .tier = "s3_standard",
                           .objects = 1000,
                           .bytes = 1000ULL << 30,
                           .age_days = 400,
                           .read_fraction = -1};
    struct tier_options o = options(36);
    struct tier_plan *plan;
    assert_int_equal(tier_optimise(&g, 1, c, &o, &plan, NULL), 0);
    assert_string_equal(plan->path[0].step[0].tier, "s3_deep_archive");
    assert_int_equal(plan->path[0].n_steps, 1);
    /* 1,000 GiB x 36 x 0.00099 + overheads + 1,000 transitions, to the last digit. */
    char text[MONEY_TEXT];
    assert_string_equal(money_format(plan->total, text), "35.697404785156");
    assert_int_equal(plan->path[0].break_even_month, 0);
    tier_plan_free(plan);
    o.max_wait_s = 60;
    assert_int_equal(tier_optimise(&g, 1, c, &o, &plan, NULL), 0);
    assert_string_equal(plan->path[0].step[0].tier, "s3_glacier_ir");
    tier_plan_free(plan);
    g.tier = "s3_deep_archive"; /* what is there already has to come out */
    assert_int_equal(tier_optimise(&g, 1, c, &o, &plan, NULL), 0);
    assert_string_equal(plan->path[0].step[0].tier, "s3_standard");
    assert_true(plan->path[0].break_even_month == -1 && plan->saving < 0);
    tier_plan_free(plan);
    catalog_free(c);
}

static void small_objects_stay(void **state)
{
    (void)state;
    struct catalog *c = list_prices();
    struct tier_group g = {.name = "tiny/",
                           .tier = "s3_standard",
                           .objects = 1000000,
                           .bytes = 1000000ULL * 16384,
                           .age_days = 400,
                           .read_fraction = -1};
    struct tier_options o = options(36);
    struct tier_plan *plan;
    assert_int_equal(tier_optimise(&g, 1, c, &o, &plan, NULL), 0);
    assert_string_equal(plan->path[0].step[0].tier, "s3_standard");
    assert_true(plan->total == plan->baseline && plan->saving == 0 && plan->n_rules == 0);
    assert_non_null(strstr(plan->first_step[0], "tiny/: leave it in s3_standard"));
    struct buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(tier_write_s3_lifecycle(plan, &b, NULL), GT_EUNSUPPORTED);
    buf_release(&b);
    tier_plan_free(plan);
    catalog_free(c);
}

/* R-S3-03: the account's brackets hold for all groups together. */
static void brackets_are_billed_for_the_account(void **state)
{
    (void)state;
    struct test_rate r[] = {
        {"s3_standard", "get", SU_REQUEST, 1000, 0, -1, micro(0.0004)},
        {"s3_standard", "put", SU_REQUEST, 1000, 0, -1, micro(0.005)},
        {"s3_standard", "storage", SU_GIB_MONTH, 1, 0, 51200 * MONEY_SCALE, micro(0.023)},
        {"s3_standard", "storage", SU_GIB_MONTH, 1, 51200 * MONEY_SCALE, 512000 * MONEY_SCALE,
         micro(0.022)},
        {"s3_standard", "storage", SU_GIB_MONTH, 1, 512000 * MONEY_SCALE, -1, micro(0.021)},
    };
    struct catalog *c = test_catalog(r, sizeof r / sizeof *r);
    struct tier_group g[2] = {
        {.name = "a/", .objects = 10, .bytes = 51200ULL << 30, .age_days = 5, .read_fraction = -1},
        {.name = "b/", .objects = 10, .bytes = 1700ULL << 30, .age_days = 5, .read_fraction = -1}};
    struct tier_options o = options(10);
    struct tier_plan *plan;
    assert_int_equal(tier_optimise(g, 2, c, &o, &plan, NULL), 0);
    char text[MONEY_TEXT];
    assert_string_equal(money_format(plan->total, text),
                        "12150"); /* 52,900 GB-months: 1,215 each */
    assert_true(plan->path[0].cost + plan->path[1].cost == plan->total);
    assert_true(plan->lower_bound <= plan->total && plan->lower_bound > 0);
    months_add_up(plan);
    assert_string_equal(money_format(tier_series_month(plan->series, 3), text), "1215");
    tier_plan_free(plan);
    catalog_free(c);
}

static void a_policy_is_a_valid_lifecycle(void **state)
{
    (void)state;
    struct catalog *c = list_prices();
    struct tier_group g[3] = {{.name = "logs/",
                               .objects = 5000,
                               .bytes = 5000ULL << 30,
                               .age_days = 90,
                               .size_lo = 16777216,
                               .read_fraction = -1},
                              {.name = "hot/",
                               .objects = 5000,
                               .bytes = 5000ULL << 30,
                               .age_days = 0,
                               .size_lo = 16777216,
                               .reads_per_month = 4,
                               .read_fraction = -1},
                              {.name = "logs/",
                               .objects = 5000,
                               .bytes = 5000ULL << 30,
                               .age_days = 0,
                               .size_lo = 16777216,
                               .reads_per_month = 1,
                               .read_fraction = -1,
                               .noncurrent = true}};
    struct tier_options o = options(24);
    struct tier_plan *plan;
    o.find_savings = true;
    assert_int_equal(tier_optimise(g, 3, c, &o, &plan, NULL), 0);
    assert_true(plan->n_rules > 0);
    assert_string_equal(plan->rule[0].prefix, "logs/");
    assert_true(plan->policy_cost >= plan->total && plan->policy_cost < plan->baseline);
    assert_true(plan->policy_gap == plan->policy_cost - plan->total);
    struct buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(tier_write_s3_lifecycle(plan, &b, NULL), 0);
    assert_non_null(strstr(b.data, "\"And\""));
    assert_non_null(strstr(b.data, "DEEP_ARCHIVE"));
    buf_release(&b);
    assert_non_null(strstr(plan->first_step[0], "old versions"));
    tier_plan_free(plan);
    catalog_free(c);
}

static void a_hundred_thousand_groups_take_a_quarter_second(void **state)
{
    (void)state;
    enum { N = 100000 };
    static struct tier_group g[N];
    static char name[N][16];
    struct rng r;
    rng_init(&r, 3, 3);
    struct catalog *c = list_prices();
    for (int i = 0; i < N; i++) {
        g[i] = random_group(&r, name[i], sizeof name[i]);
    }
    struct tier_options o = options(36);
    o.over_time = false;
    o.search_policy = false;
    struct tier_plan *plan;
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    assert_int_equal(tier_optimise(g, N, c, &o, &plan, NULL), 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    print_message("100,000 groups x 36 months x 8 tiers: %.3f CPU s\n", s);
    assert_true(s < 5); /* a generous stop for sanitizers; the figure is printed */
    tier_plan_free(plan);
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sequence_of_tiers_is_cheaper),
        cmocka_unit_test(a_long_wait_is_refused_when_asked),
        cmocka_unit_test(small_objects_stay),
        cmocka_unit_test(brackets_are_billed_for_the_account),
        cmocka_unit_test(a_policy_is_a_valid_lifecycle),
        cmocka_unit_test(a_hundred_thousand_groups_take_a_quarter_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
