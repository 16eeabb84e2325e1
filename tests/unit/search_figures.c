/* Figures of plans against values worked out by hand: hours, brackets, vendors' months, transfer,
 * commitments, discounts, missing prices; and the chance of a deadline against its closed form and
 * against many trajectories. */
#include "../../planner/search/search.h"
#include "gputier/rng.h"
#include "gputier/text.h"
#include "support/tiny_catalog.h"
#include "unit.h"
#include <stdio.h>

#define NOW 1796169600

static const struct gpu_spec gpus[] = {
    {.model = "A100-80GB SXM4",
     .maker = "NVIDIA",
     .form = "SXM4",
     .fp16_tflops = 312,
     .bf16_tflops = 312,
     .fp32_tflops = 19.5,
     .mem_gb = 80,
     .bandwidth_gbs = 2039},
    {.model = "A100-80GB PCIe",
     .maker = "NVIDIA",
     .form = "PCIe",
     .fp16_tflops = 312,
     .bf16_tflops = 312,
     .fp32_tflops = 19.5,
     .mem_gb = 80,
     .bandwidth_gbs = 1935},
    {.model = "H100 SXM",
     .maker = "NVIDIA",
     .form = "SXM",
     .fp16_tflops = 936,
     .bf16_tflops = 936,
     .fp32_tflops = 67,
     .mem_gb = 80,
     .bandwidth_gbs = 3350},
};

static struct plan_set *plan(struct catalog *c, const char *text, int expected,
                             struct gt_error *err)
{
    struct scenario *s = NULL;
    struct plan_set *set = NULL;
    struct plan_options o = {.top = 10, .seed = 1, .runs = 4000, .now = NOW, .currency = "USD"};
    if (scenario_parse(text, strlen(text), "t", NULL, 0, NOW, 0, &s, err) != 0) {
        fail_msg("%s: %s", err->where, err->text);
    }
    int rc = plan_search(s, c, &o, &set, err);
    if (rc != expected) {
        fail_msg("%d: %s", rc, err->text);
    }
    scenario_free(s); /* plans outlive their scenario */
    return set;
}

/* Total in 10^-12 as text, so that a failure shows digits. */
static void assert_total(money m, const char *expected)
{
    char buf[MONEY_TEXT];
    assert_string_equal(money_format(m, buf), expected);
}

static struct catalog *one_machine(enum purchase p, const char *price, const char *upfront,
                                   const char *month)
{
    struct catalog *c = tiny_new(gpus, 3, NULL, 0);
    struct tiny_offer o = {.vendor = "aws",
                           .region = "us-east-1",
                           .type = "big",
                           .num = 4,
                           .gpu = "A100-80GB SXM4",
                           .purchase = p,
                           .price = price,
                           .upfront = upfront,
                           .month = month};
    tiny_offers(c, &o, 1);
    return c;
}

#define JOB                                                                                        \
    "workload: {gpu_hours: {gpu: A100-80GB, hours: 340}, setup: 30min, checkpoint: {every: "       \
    "off}}\n"

static void hours_are_exact(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = one_machine(PURCHASE_ON_DEMAND, "12.3", NULL, NULL);
    struct plan_set *set = plan(c, JOB "start_wait: {on_demand: 2h}\n", 0, &err);
    const struct plan *p = &set->plan[0];
    assert_int_equal(p->instances, 1);
    assert_total(p->total, "1051.65"); /* (340 / 4 + 0.5) x 12.3; waiting is not billed */
    assert_total(p->component[COMP_COMPUTE_ON_DEMAND], "1051.65");
    assert_true(p->makespan_mean_s == (85 + 0.5 + 2) * 3600);
    assert_true(p->makespan_p5_s == p->makespan_p95_s); /* the same GPU: nothing is uncertain */
    plan_set_free(set);
    set = plan(c, JOB "discounts: [{vendor: aws, factor: 0.9}]\n", 0, &err);
    assert_total(set->plan[0].total, "946.485");
    assert_total(set->plan[0].line[0].rate, "11.07");
    plan_set_free(set);
    catalog_free(c);
}

static void commitments_are_charged_as_declared(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = one_machine(PURCHASE_RESERVED_1Y, "2", "8760", NULL);
    struct plan_set *set = plan(c, JOB "purchase: [reserved_1y]\n", 0, &err);
    assert_total(set->plan[0].component[COMP_COMMITMENT], "26280"); /* 8760 + 2 x 8760 */
    assert_total(set->plan[0].total, "26280");
    plan_set_free(set);
    set = plan(c, JOB "purchase: [reserved_1y]\nuse: {owned: true}\n", 0, &err);
    assert_total(set->plan[0].total, "256.50000000348"); /* 85.5 h x (1 + 2), shares of a term */
    plan_set_free(set);
    set = plan(c, JOB "purchase: [reserved_1y]\nuse: {horizon: 18mo}\n", 0, &err);
    assert_total(set->plan[0].total, "52560"); /* two terms begin */
    plan_set_free(set);
    catalog_free(c);
    c = one_machine(PURCHASE_MONTHLY, "0", NULL, "5000");
    set = plan(c, JOB "purchase: [monthly]\n", 0, &err);
    assert_total(set->plan[0].total, "5000"); /* a package, not 85.5 h */
    plan_set_free(set);
    catalog_free(c);
}

static void add_rates(struct catalog *c)
{
    struct tiny_rate rate[] = {
        {"aws", "us-east-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 0, 100, "0.03"},
        {"aws", "us-east-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 100, 0, "0.01"},
        {"aws", "us-east-1", "s3_standard", "get", SU_REQUEST, 1000, 0, 0, "0.0004"},
        {"aws", "us-east-1", "s3_standard", "put", SU_REQUEST, 1000, 0, 0, "0.005"},
        {"aws", "us-east-1", "ebs_gp3", "storage", SU_GIB_MONTH, 1, 0, 0, "0.08"},
        {"aws", "eu-west-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.025"},
        {"aws", "eu-west-1", "s3_standard", "get", SU_REQUEST, 1000, 0, 0, "0.0005"},
        {"aws", "eu-west-1", "s3_standard", "put", SU_REQUEST, 1000, 0, 0, "0.006"},
    };
    tiny_storage(c, rate, sizeof rate / sizeof rate[0]);
    struct tiny_transfer move[] = {{"aws", "eu-west-1", "us-east-1", "0.02", 0, 50},
                                   {"aws", "eu-west-1", "us-east-1", "0.01", 50, 0}};
    tiny_transfers(c, move, 2);
}

static void storage_has_the_vendors_months(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = one_machine(PURCHASE_ON_DEMAND, "10", NULL, NULL);
    add_rates(c);
    /* logs: average 120 GiB over 4 months: 100 x 0.03 + 20 x 0.01 a month; read once a month */
    struct plan_set *set =
        plan(c,
             JOB "data: [{name: l, role: logs, size: 100GiB, growth: 10GiB/mo, keep: 4mo, "
                 "files: 1000000, reads_per_month: 1}]\n",
             0, &err);
    assert_total(set->plan[0].component[COMP_STORAGE], "12.8");
    assert_total(set->plan[0].component[COMP_REQUESTS], "1.6"); /* 4,000,000 GETs */
    plan_set_free(set);
    /* EBS bills 720 h a month: 3 months of 730 h are 3.041666… of them, in whole GiB */
    set = plan(c,
               JOB "data: [{name: k, role: checkpoint, size: 23.5GiB, tier: ebs_gp3, keep: 3mo}]\n",
               0, &err);
    assert_total(set->plan[0].component[COMP_STORAGE], "5.84");
    plan_set_free(set);
    /* 100 GiB from eu-west-1: kept there, copied once by brackets, a copy during 85.5 h + staging
     */
    set = plan(c,
               JOB "data: [{name: d, role: training_data, size: 100GiB, files: 1000, keep: 1mo, "
                   "lives_in: aws/eu-west-1, tier: s3_standard}]\n",
               0, &err);
    assert_total(set->plan[0].component[COMP_DATA_TRANSFER], "1.5"); /* 50 x 0.02 + 50 x 0.01 */
    bool home = false;
    for (size_t i = 0; i < set->plan[0].n_lines; i++) {
        const struct bill_line *l = &set->plan[0].line[i];
        home = home || (strncmp(l->text, "d: kept", 7) == 0 && l->amount == tiny_money("2.5"));
    }
    assert_true(home);
    plan_set_free(set);
    catalog_free(c);
}

static bool placed(const struct plan *p, const char *name, const char *tier)
{
    for (size_t i = 0; i < p->n_placement; i++) {
        if (strcmp(p->placement[i].data_set, name) == 0 &&
            strcmp(p->placement[i].tier, tier) == 0) {
            return true;
        }
    }
    return false;
}

/* local_nvme is where data are read: they are kept (and charged) in the object store, and only
 * machines with a drive large enough are taken. A volume serves one machine where it lies. */
static void placements_are_honoured(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = tiny_new(gpus, 3, NULL, 0);
    struct tiny_offer o[] = {{.vendor = "aws",
                              .region = "us-east-1",
                              .type = "bare",
                              .num = 1,
                              .gpu = "A100-80GB SXM4",
                              .price = "1"},
                             {.vendor = "aws",
                              .region = "us-east-1",
                              .type = "drive",
                              .num = 1,
                              .gpu = "A100-80GB SXM4",
                              .price = "2",
                              .nvme_gb = 900}};
    tiny_offers(c, o, 2);
    add_rates(c);
#define SET                                                                                        \
    "constraints: {gpus: {count: 1-2}}\ndata: [{name: d, role: training_data, size: 100GiB, "      \
    "files: 100, keep: 1mo, tier: "
    struct plan_set *set = plan(c, JOB SET "local_nvme}]\n", 0, &err);
    assert_int_equal(set->n, 1);
    assert_string_equal(set->plan[0].instance_type, "drive");
    assert_true(placed(&set->plan[0], "d", "local_nvme") &&
                placed(&set->plan[0], "d", "s3_standard"));
    assert_total(set->plan[0].component[COMP_STORAGE], "3"); /* 100 GiB x 0.03 x 1 month */
    plan_set_free(set);
    set = plan(c, JOB SET "ebs_gp3}]\n", 0, &err);
    const struct plan *p = &set->plan[0];
    assert_string_equal(p->instance_type, "bare");
    assert_int_equal(p->instances, 1);
    assert_true(placed(p, "d", "ebs_gp3") && p->n_placement == 1);
    assert_total(p->component[COMP_STORAGE], "8.111111111111"); /* 0.08 x 100 x 730/720 */
    plan_set_free(set);
    catalog_free(c);
}

static void missing_prices_come_last(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = tiny_new(gpus, 3, NULL, 0);
    struct tiny_offer o[] = {{.vendor = "aws",
                              .region = "us-east-1",
                              .type = "dear",
                              .num = 1,
                              .gpu = "A100-80GB SXM4",
                              .price = "9"},
                             {.vendor = "lambda",
                              .region = "us-west-1",
                              .type = "cheap",
                              .num = 1,
                              .gpu = "A100-80GB SXM4",
                              .price = "1"},
                             {.vendor = "lambda",
                              .region = "us-west-1",
                              .type = "secret",
                              .num = 1,
                              .gpu = "A100-80GB SXM4",
                              .state = PRICE_NONE,
                              .price = "0"},
                             {.vendor = "lambda",
                              .region = "us-west-1",
                              .type = "block",
                              .num = 1,
                              .gpu = "A100-80GB SXM4",
                              .state = PRICE_SOLD_OTHERWISE,
                              .price = "0"}};
    tiny_offers(c, o, 4);
    add_rates(c);
    struct plan_set *set =
        plan(c,
             JOB "constraints: {gpus: {count: 1}}\n"
                 "data: [{name: d, role: training_data, size: 10GiB, keep: 1mo}]\n",
             0, &err);
    assert_int_equal(set->n, 2);
    assert_string_equal(set->plan[0].instance_type, "dear");
    assert_false(set->plan[0].at_least);
    assert_true(set->plan[1].at_least && set->plan[1].total < set->plan[0].total);
    bool said = false;
    for (size_t i = 0; i < set->plan[1].n_notes; i++) {
        said = said || strstr(set->plan[1].note[i], "no price known for") != NULL;
    }
    assert_true(said);
    size_t unpublished = 0;
    for (size_t i = 0; i < set->n_rejected; i++) {
        unpublished += strcmp(set->rejected[i].instance_type, "secret") == 0 ||
                       strcmp(set->rejected[i].instance_type, "block") == 0;
    }
    assert_int_equal(unpublished, 2);
    plan_set_free(set);
    catalog_free(c);
}

/* Other GPUs count by their dense rate: 936 / 312 = 3, and say so. */
static void other_gpus_count_by_ratio(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = tiny_new(gpus, 3, NULL, 0);
    struct tiny_offer o[] = {
        {.vendor = "aws", .region = "r", .type = "h", .num = 1, .gpu = "H100 SXM", .price = "9"},
        {.vendor = "aws",
         .region = "r",
         .type = "p",
         .num = 1,
         .gpu = "A100-80GB PCIe",
         .price = "9"}};
    tiny_offers(c, o, 2);
    struct plan_set *set = plan(c, JOB "constraints: {gpus: {count: 1}}\n", 0, &err);
    assert_string_equal(set->plan[0].instance_type, "h");
    assert_total(set->plan[0].total, "1024.499999999997"); /* (340 / 3 + 0.5) h x 9 */
    assert_total(set->plan[1].total, "3064.5");            /* A100-80GB names both forms */
    bool said = false;
    for (size_t i = 0; i < set->plan[0].n_notes; i++) {
        said = said || strstr(set->plan[0].note[i], "an assumption") != NULL;
    }
    assert_true(said && set->plan[0].makespan_p95_s > set->plan[0].makespan_p50_s * 1.3);
    plan_set_free(set);
    struct gt_error e2 = {0};
    assert_null(plan(c, "workload: {gpu_hours: {gpu: A101, hours: 1}}\n", GT_EPARSE, &e2));
    assert_non_null(strstr(e2.text, "A100"));
    catalog_free(c);
}

static struct search open_search(struct catalog *c, const char *text, struct plan_options *o,
                                 struct gt_error *err)
{
    struct search q = {.c = c, .o = o, .arena = arena_new(0), .err = err};
    struct scenario *s = NULL;
    assert_int_equal(scenario_parse(text, strlen(text), "t", NULL, 0, NOW, 0, &s, err), 0);
    q.s = s;
    assert_int_equal(search_open(&q), 0);
    return q;
}

static void close_search(struct search *q)
{
    scenario_free((struct scenario *)(uintptr_t)q->s);
    arena_free(q->arena);
}

/* Trajectories agree with the exact expectation; the quick answers never contradict them. */
static void chances_agree(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = one_machine(PURCHASE_SPOT, "5", NULL, NULL);
    size_t accepted = 0, refused = 0;
    for (int hours = 86; hours < 150; hours += 4) {
        char text[400];
        snprintf(text, sizeof text,
                 "workload: {gpu_hours: {gpu: A100-80GB, hours: 340}, setup: 30min, checkpoint: "
                 "{size: 30GB, every: 1h}}\nspot: {interruption: 0.1}\nstart_wait: {spot: 6min}\n"
                 "constraints: {deadline: %dh, confidence: 0.9}\n",
                 hours);
        struct plan_options o = {.top = 1, .seed = 9, .runs = 20000, .now = NOW};
        struct search q = open_search(c, text, &o, &err);
        const struct machine *m = &q.machine[0];
        struct candidate k = {
            .machine = m, .kind = search_kind(&q, m, 1), .n = 1, .place = &q.region[0].place[0]};
        struct risk_result r;
        assert_int_equal(evaluate(&q, &k), 0);
        assert_int_equal(k.reject, REJECT_NONE);
        assert_int_equal(risk_runs(&q, &k, &r), 0);
        struct ckpt_result exact;
        assert_int_equal(ckpt_expected(&k.job, &exact, NULL), 0);
        assert_true(fabs(exact.makespan_h + 0.1 - k.makespan_h) < 1e-9);
        assert_true(fabs(r.p50_h - k.makespan_h) < 0.05 * k.makespan_h);
        assert_true(r.lo <= r.p && r.p <= r.hi);
        bool meets = deadline_meets(&q, &k);
        assert_int_equal(meets, r.p >= 0.9);
        accepted += meets && isnan(k.p_deadline); /* by the bound alone */
        refused += !meets;
        close_search(&q);
    }
    print_message("accepted by the bound: %zu, refused: %zu\n", accepted, refused);
    assert_true(accepted >= 2 && refused >= 3);
    catalog_free(c);
}

/* The safety net: never late when there was time at the start, never cheaper in hours than the
 * work; without a deadline in sight it is spot alone, with none to spare it is on demand alone. */
static void safety_net_holds(void **state)
{
    (void)state;
    struct ckpt_job j = {.work_h = 40,
                         .tau_h = 1,
                         .delta_h = 0.02,
                         .restart_h = 0.3,
                         .wait_h = 0.1,
                         .lambda_per_h = 0.4,
                         .cold_start = true,
                         .restart_interruptible = true};
    double need = 0.3 + 40 + 39 * 0.02, sum = 0;
    struct ckpt_result exact;
    size_t both = 0;
    assert_int_equal(ckpt_expected(&j, &exact, NULL), 0);
    for (uint64_t i = 0; i < 20000; i++) {
        struct rng r;
        struct mixed_run m;
        rng_init(&r, 5, i);
        mixed_once(&j, 40, 50, &r, &m);
        assert_true(m.t <= 50 + 1e-9);
        assert_true(m.spot_useful + m.spot_waste + m.demand_useful + m.demand_waste >= need - 1e-9);
        assert_true(m.spot_useful + m.demand_useful <= need + 1e-9);
        both += m.spot_useful > 1 && m.demand_useful > 1;
        rng_init(&r, 5, i);
        mixed_once(&j, 40, need + 0.3, &r, &m); /* no slack for a launch that fails */
        assert_true(m.spot_useful == 0 && fabs(m.demand_useful - need) < 1e-9 && m.t < need + 1e-9);
        rng_init(&r, 5, i);
        mixed_once(&j, 40, 1e9, &r, &m);
        assert_true(m.demand_useful == 0);
        sum += m.t;
    }
    assert_true(fabs(sum / 20000 - exact.makespan_h) < 0.005 * exact.makespan_h);
    assert_true(both > 1000);
}

/* On demand with an uncertain rate: P(work x f <= room) of a log-normal. */
static void chance_on_demand_is_closed(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct catalog *c = tiny_new(gpus, 3, NULL, 0);
    struct tiny_offer o = {
        .vendor = "aws", .region = "r", .type = "h", .num = 1, .gpu = "H100 SXM", .price = "9"};
    tiny_offers(c, &o, 1);
    /* work 340/3 h, sigma = ln 1.35 / 1.6449; a deadline 1.35 x later than the mean: 95 % */
    char text[300];
    snprintf(text, sizeof text,
             JOB "constraints: {gpus: {count: 1}, deadline: %.6fh, confidence: "
                 "0.9499}\n",
             340.0 / 3 * 1.35 + 0.5);
    struct plan_set *set = plan(c, text, 0, &err);
    assert_true(fabs(set->plan[0].deadline_probability - 0.95) < 1e-4);
    plan_set_free(set);
    snprintf(text, sizeof text,
             JOB "constraints: {gpus: {count: 1}, deadline: %.6fh, confidence: "
                 "0.9502}\n",
             340.0 / 3 * 1.35 + 0.5);
    set = plan(c, text, GT_EINFEASIBLE, &err);
    assert_non_null(strstr(err.text, "the deadline binds"));
    assert_non_null(strstr(err.text, "153.6 h at confidence 0.9502"));
    plan_set_free(set);
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hours_are_exact),
        cmocka_unit_test(commitments_are_charged_as_declared),
        cmocka_unit_test(storage_has_the_vendors_months),
        cmocka_unit_test(placements_are_honoured),
        cmocka_unit_test(missing_prices_come_last),
        cmocka_unit_test(other_gpus_count_by_ratio),
        cmocka_unit_test(chances_agree),
        cmocka_unit_test(safety_net_holds),
        cmocka_unit_test(chance_on_demand_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
