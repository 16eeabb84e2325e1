/* What a scenario says of spot: a maximum price as it works today, the vendor's notice, steps
 * between checkpoints, the rate that sensitivity turns. */
#include "../../planner/search/search.h"
#include "gputier/rng.h"
#include "support/tiny_tables.h"
#include "unit.h"
#include <stdio.h>

#define JOB(size, every)                                                                           \
    "workload: {gpu_hours: {gpu: A100-80GB, hours: 100}, setup: 12min, checkpoint: {size: " size   \
    ", every: " every "}}\nconstraints: {gpus: {count: 1}}\n"

static struct catalog *two_prices(const char *vendor)
{
    struct catalog *c = tiny_new(gpus, 1, models, 1);
    struct tiny_offer o[2] = {{.vendor = vendor,
                               .region = "r",
                               .type = "m",
                               .gpu = "A100-80GB SXM4",
                               .purchase = PURCHASE_SPOT,
                               .price = "1"}};
    o[1] = o[0];
    o[1].purchase = PURCHASE_ON_DEMAND;
    o[1].price = "3";
    tiny_offers(c, o, 2);
    const char *tier = tier_default_object(vendor);
    struct tiny_rate rate[] = {{vendor, "r", tier, "storage", SU_GIB_MONTH, 1, 0, 0, "0.0000001"},
                               {vendor, "r", tier, "put", SU_REQUEST, 1000, 0, 0, "0.0000001"}};
    tiny_storage(c, rate, 2);
    return c;
}

static struct plan_set *plan(const struct catalog *c, const char *text, bool sensitivity)
{
    struct gt_error err = {0};
    struct scenario *s = NULL;
    struct plan_set *set = NULL;
    struct plan_options o = {.top = 10,
                             .seed = 1,
                             .runs = 500,
                             .now = NOW,
                             .currency = "USD",
                             .sensitivity = sensitivity};
    if (scenario_parse(text, strlen(text), "t", NULL, 0, NOW, 0, &s, &err) != 0 ||
        plan_search(s, c, &o, &set, &err) != 0) {
        fail_msg("%s: %s", err.where, err.text);
    }
    scenario_free(s);
    return set;
}

static const char *note(const struct plan_set *set, const char *begins)
{
    const struct plan *p = &set->plan[0];
    for (size_t i = 0; i < p->n_notes; i++) {
        if (strncmp(p->note[i], begins, strlen(begins)) == 0) {
            return p->note[i];
        }
    }
    return "";
}

/* The price paid is the market's whatever the cap; above on demand it is no cap at all, below the
 * price of now nothing starts, and some vendors know no caps. */
static void caps_work_as_today(void **state)
{
    (void)state;
    static const struct {
        const char *vendor, *factor, *begins, *has;
        bool spot;
    } row[] = {
        {"aws", "3", "maximum price 3 x", "the same as none", true},
        {"aws", "1", "maximum price 1 x", "the same as none", true},
        {"aws", "0.5", "maximum price 0.5 x", "paid all the same", true},
        {"aws", "0.35", "WARNING: maximum price", "leave the cap out", true},
        {"aws", "0.3", "", "", false},
        {"azure", "0.3", "", "", false},
        {"gcp", "0.3", "spot.max_price_factor does nothing", "takes no maximum", true},
    };
    char total[MONEY_TEXT], first[MONEY_TEXT] = "";
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[400];
        struct catalog *c = two_prices(row[i].vendor);
        snprintf(text, sizeof text, JOB("1GB", "30min") "spot: {max_price_factor: %s}\n",
                 row[i].factor);
        struct plan_set *set = plan(c, text, false);
        const struct plan *p = &set->plan[0];
        assert_int_equal(p->purchase, row[i].spot ? PURCHASE_SPOT : PURCHASE_ON_DEMAND);
        if (row[i].spot) {
            assert_non_null(strstr(note(set, row[i].begins), row[i].has));
            money_format(p->total, i == 0 ? first : total);
            assert_string_equal(i == 0 ? first : total, first);
        } else {
            assert_int_equal(set->n, 1);
            assert_non_null(strstr(set->rejected[0].reason, "below the price of now, 1.0000"));
        }
        plan_set_free(set);
        catalog_free(c);
    }
}

/* A placement score is shown where it was given, a low one as a warning, and moves no figure. */
static void placement_scores_are_shown(void **state)
{
    (void)state;
    struct catalog *c = two_prices("aws");
    struct plan_set *plain = plan(c, JOB("1GB", "30min"), false);
    static const struct {
        const char *scores, *begins;
    } row[] = {{"[aws/elsewhere=2, aws/r=7]", "placement score 7 of 10"},
               {"[aws/r=3]", "WARNING: placement score 3 of 10"},
               {"[gcp/r=9]", ""}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, JOB("1GB", "30min") "spot: {placement_scores: %s}\n",
                 row[i].scores);
        struct plan_set *set = plan(c, text, false);
        assert_true(set->plan[0].total == plain->plan[0].total);
        assert_int_equal(set->plan[0].n_notes, plain->plan[0].n_notes + (row[i].begins[0] != 0));
        assert_true(row[i].begins[0] == '\0' || note(set, row[i].begins)[0] != '\0');
        plan_set_free(set);
    }
    plan_set_free(plain);
    catalog_free(c);
}

/* An object store takes 500 MB/s: 20 GB are 40 s, for which 120 s of notice are enough and 30 s are
 * not. */
static void notices_differ(void **state)
{
    (void)state;
    static const struct {
        const char *vendor, *size;
        bool fits;
    } row[] = {{"aws", "1GB", true},   {"gcp", "1GB", true},     {"aws", "20GB", true},
               {"gcp", "20GB", false}, {"azure", "20GB", false}, {"aws", "60GB", false}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[400];
        struct catalog *c = two_prices(row[i].vendor);
        snprintf(text, sizeof text, JOB("%s", "30min") "spot: {interruption: 0.1}\n", row[i].size);
        struct plan_set *set = plan(c, text, false);
        const char *said = note(set, "notice: ");
        assert_non_null(strstr(said, row[i].fits ? "it fits" : "does not fit"));
        double hours = 0, usd = 0, write = 0;
        if (row[i].fits) {
            /* E = W e^(lambda d)(1 + lambda w) and the cold start (spot-model.md section 3) */
            assert_int_equal(sscanf(strstr(said, "written:"), "written: %lf h, %lf", &hours, &usd),
                             2);
            assert_int_equal(sscanf(strstr(said, "takes"), "takes %lf", &write), 1);
            double d = 0.2 + write / 3600;
            assert_true(fabs(hours - (100 * exp(0.1 * d) + expm1(0.1 * d) / 0.1)) < 0.06);
        }
        plan_set_free(set);
        catalog_free(c);
    }
}

/* 500 and 1000 steps against the interval that was chosen: the figures are those of the exact
 * expectation at these intervals. */
static void steps_are_compared(void **state)
{
    (void)state;
    struct catalog *c = two_prices("aws");
    struct plan_set *set =
        plan(c,
             "workload: {model: resnet50, epochs: 90, samples: 1281167, batch_per_gpu: 64, setup: "
             "12min, checkpoint: {size: 300MB, every: 2h}}\nconstraints: {gpus: {count: 1}}\n"
             "spot: {interruption: 0.3}\n",
             false);
    double steps, step, lo, hi, h500, h1000, usd500, usd1000, best, best_h;
    const char *said = note(set, "checkpoint every");
    assert_int_equal(sscanf(said,
                            "checkpoint every %lf steps of %lf s; the rule of every 500 to 1000 "
                            "steps is %lf to %lf min here: %lf to %lf h and %lf to %lf USD",
                            &steps, &step, &lo, &hi, &h500, &h1000, &usd500, &usd1000),
                     8);
    assert_true(fabs(steps * step / 7200 - 1) < 0.01);
    assert_true(fabs(hi / lo - 2) < 0.1 && fabs(hi * 60 / step / 1000 - 1) < 0.05);
    /* one machine at 1 USD/h: hours cost what they last */
    assert_true(fabs(h500 - usd500) < 0.02 && fabs(h1000 - usd1000) < 0.02);
    const struct plan *p = &set->plan[0];
    struct ckpt_job j = {.work_h = 90 * p->epoch_s / 3600,
                         .tau_h = 1000 * p->rate.step_s / 3600,
                         .delta_h = 0.3 / 500 / 3.6,
                         .lambda_per_h = 0.3,
                         .cold_start = true,
                         .restart_interruptible = true};
    j.restart_h = 0.2 + j.delta_h;
    struct ckpt_result a = {0};
    assert_int_equal(ckpt_expected(&j, &a, NULL), 0);
    assert_true(fabs(a.makespan_h - p->makespan_mean_s / 3600 - h1000) < 0.02);
    said = note(set, "checkpoint: the best interval");
    assert_int_equal(sscanf(strstr(said, "interruptions is"),
                            "interruptions is %lf min (%*f steps): %lf h", &best, &best_h),
                     2);
    assert_true(best < 60 && best_h < 0 && best_h <= h1000 + 0.02);
    plan_set_free(set);
    catalog_free(c);
}

/* The exact expectation of wait_before_fallback against trajectories; without patience it is on
 * demand, with all of it the run on spot alone. */
static void fallback_is_exact(void **state)
{
    (void)state;
    static const struct {
        double patience, lambda, wait;
    } row[] = {{0.5, 0.1, 0.5}, {0.1, 0.4, 1}, {3, 0.2, 1}, {0, 0.2, 1}, {400, 0.2, 0.3}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[500];
        struct catalog *c = two_prices("aws");
        struct gt_error err = {0};
        struct plan_options o = {.top = 1, .runs = 100, .now = NOW};
        struct search q = {.c = c, .o = &o, .arena = arena_new(0), .err = &err};
        struct scenario *s = NULL;
        snprintf(text, sizeof text,
                 JOB("20GB", "1h") "spot: {interruption: %g}\nstart_wait: {spot: %gh}\n"
                                   "wait_before_fallback: %gh\n",
                 row[i].lambda, row[i].wait, row[i].patience);
        assert_int_equal(scenario_parse(text, strlen(text), "t", NULL, 0, NOW, 0, &s, &err), 0);
        q.s = s;
        assert_int_equal(search_open(&q), 0);
        const struct machine *m = &q.machine[0];
        assert_int_equal(m->purchase, PURCHASE_SPOT);
        struct candidate k = {
            .machine = m, .kind = search_kind(&q, m, 1), .n = 1, .place = &q.region[0].place[0]};
        assert_int_equal(evaluate(&q, &k), 0);
        assert_true(k.reject == REJECT_NONE && k.fallback);
        enum { RUNS = 60000 };
        double sum[6] = {0}, square[6] = {0}, clean = 0;
        for (uint64_t r = 0; r < RUNS; r++) {
            struct rng rng;
            struct mixed_run one;
            rng_init(&rng, 3, r);
            fallback_once(&k.job, k.job.work_h, row[i].patience, &rng, &one);
            const double v[6] = {one.t,
                                 one.spot_useful,
                                 one.spot_waste,
                                 one.demand_useful,
                                 one.demand_waste,
                                 one.interruptions};
            for (int f = 0; f < 6; f++) {
                sum[f] += v[f];
                square[f] += v[f] * v[f];
            }
            clean += one.interruptions == 0;
        }
        const double exact[6] = {k.makespan_h,      k.spot_useful_h,  k.spot_waste_h,
                                 k.demand_useful_h, k.demand_waste_h, k.interruptions};
        for (int f = 0; f < 6; f++) {
            double mean = sum[f] / RUNS;
            double error = sqrt(fmax(0, square[f] / RUNS - mean * mean) / RUNS);
            assert_true(fabs(mean - exact[f]) <= 4.5 * error + 1e-9 * fabs(mean) + 1e-12);
        }
        assert_true(fabs(1 - clean / RUNS - k.risk) < 0.01);
        if (row[i].patience == 0) {
            assert_true(k.spot_useful_h == 0 && k.demand_waste_h == 0);
        }
        if (row[i].patience == 400) {
            struct ckpt_result alone = {0};
            assert_int_equal(ckpt_expected(&k.job, &alone, NULL), 0);
            assert_true(fabs(alone.makespan_h + row[i].wait - k.makespan_h) < 1e-6);
            assert_true(fabs(alone.billed_h - k.billed_h) < 1e-6);
        }
        scenario_free(s);
        arena_free(q.arena);
        catalog_free(c);
    }
}

/* Pools at or below the row's own price; in a region they count as 1 + 0.3 for each further one. */
static void spreading_shortens_the_wait(void **state)
{
    (void)state;
    struct catalog *c = tiny_new(gpus, 1, models, 1);
    static const struct {
        const char *type, *zone, *price;
        double vcpus;
    } row[] = {{"m", "a", "1.0", 8},   {"m", "b", "1.1", 8},    {"m", "c", "1.2", 8},
               {"m", "d", "9", 8},     {"big", "a", "0.9", 16}, {"small", "a", "0.8", 4},
               {"big", "b", "0.9", 16}};
    static const struct {
        const char *spread;
        int pools[7]; /* of each row */
    } want[] = {{"[]", {1, 1, 1, 1, 1, 1, 1}},
                {"[zones]", {1, 2, 3, 4, 2, 1, 2}},
                {"[instance_types]", {2, 2, 1, 1, 1, 1, 1}},
                {"[zones, instance_types]", {3, 4, 5, 6, 2, 1, 2}}};
    struct tiny_offer o[7];
    memset(o, 0, sizeof o);
    for (size_t i = 0; i < 7; i++) {
        o[i] = (struct tiny_offer){.vendor = "aws",
                                   .region = "r",
                                   .type = row[i].type,
                                   .zone = row[i].zone,
                                   .gpu = "A100-80GB SXM4",
                                   .purchase = PURCHASE_SPOT,
                                   .price = row[i].price,
                                   .vcpus = row[i].vcpus,
                                   .memory_gib = 64};
    }
    tiny_offers(c, o, 7);
    for (size_t w = 0; w < sizeof want / sizeof want[0]; w++) {
        char text[500];
        struct gt_error err = {0};
        struct plan_options opt = {.top = 1, .runs = 100, .now = NOW};
        struct search q = {.c = c, .o = &opt, .arena = arena_new(0), .err = &err};
        struct scenario *s = NULL;
        snprintf(text, sizeof text,
                 JOB("1GB", "1h") "spot: {interruption: 0.2, spread: %s}\nstart_wait: {spot: 1h}\n",
                 want[w].spread);
        assert_int_equal(scenario_parse(text, strlen(text), "t", NULL, 0, NOW, 0, &s, &err), 0);
        q.s = s;
        assert_int_equal(search_open(&q), 0);
        for (size_t i = 0; i < q.n_machines; i++) {
            const struct machine *m = &q.machine[i];
            int pools = want[w].pools[m->row];
            assert_int_equal(m->pools, pools);
            struct candidate k = {.machine = m,
                                  .kind = search_kind(&q, m, 1),
                                  .n = 1,
                                  .place = &q.region[0].place[0]};
            assert_int_equal(evaluate(&q, &k), 0);
            assert_true(fabs(k.wait_h - 1 / (1 + 0.3 * (pools - 1))) < 1e-12);
            assert_true(k.job.wait_h == k.wait_h);
            size_t zones = 0;
            const char *const *zone = spread_zones(&q, m, &zones);
            assert_true(zones >= 1 && zones <= (size_t)pools);
            bool own = false;
            for (size_t z = 0; z < zones; z++) {
                own = own || strcmp(zone[z], row[m->row].zone) == 0;
            }
            assert_true(own);
        }
        scenario_free(s);
        arena_free(q.arena);
    }
    catalog_free(c);
}

static const struct plan_hinge *hinge(const struct plan_set *set, const char *input)
{
    for (size_t i = 0; i < set->n_hinges; i++) {
        if (strcmp(set->hinge[i].input, input) == 0) {
            return &set->hinge[i];
        }
    }
    return NULL;
}

/* A machine whose interruptions were counted: sensitivity starts from its own rate, and the edge it
 * names is where on demand becomes the cheaper way. */
static void sensitivity_turns_the_counted_rate(void **state)
{
    (void)state;
    struct catalog *c = two_prices("aws");
    struct catalog_hazard h = {.vendor = c->offers.vendor[0],
                               .region = c->offers.region[0],
                               .zone = c->offers.zone[0],
                               .instance_type = c->offers.instance_type[0],
                               .drops = 30,
                               .up_h = 100,
                               .rate_per_h = 0.3,
                               .lo_per_h = 0.2,
                               .hi_per_h = 0.43};
    c->hazards = &h;
    c->n_hazards = 1;
    struct plan_set *set = plan(c, JOB("1GB", "2h"), true);
    const struct plan_hinge *at = hinge(set, "interruptions of a spot machine");
    assert_non_null(at);
    assert_true(at->value == 0.3 && at->hi_found && at->hi > 0.3 && !at->lo_found);
    double edge = at->hi;
    assert_non_null(strstr(note(set, "other interruption rates"), "at the high end 0.43/h"));
    plan_set_free(set);
    h.rate_per_h = edge * 1.02;
    set = plan(c, JOB("1GB", "2h"), false);
    assert_int_equal(set->plan[0].purchase, PURCHASE_ON_DEMAND);
    plan_set_free(set);
    h.rate_per_h = edge * 0.98;
    set = plan(c, JOB("1GB", "2h"), false);
    assert_int_equal(set->plan[0].purchase, PURCHASE_SPOT);
    plan_set_free(set);
    c->n_hazards = 0;
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caps_work_as_today),
        cmocka_unit_test(placement_scores_are_shown),
        cmocka_unit_test(notices_differ),
        cmocka_unit_test(steps_are_compared),
        cmocka_unit_test(fallback_is_exact),
        cmocka_unit_test(spreading_shortens_the_wait),
        cmocka_unit_test(sensitivity_turns_the_counted_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
