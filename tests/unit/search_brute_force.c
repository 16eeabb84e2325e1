/* The planner against brute force: on random small catalogs the pass that leaves out what its
 * bounds rule out gives the same ranking and the same front as the one that evaluates everything,
 * and no evaluated candidate costs less than the first plan or than its own lower bound. */
#include "../../planner/search/search.h"
#include "gputier/rng.h"
#include "support/tiny_catalog.h"
#include "unit.h"
#include <stdio.h>

#define CATALOGS 300
#define NOW      1796169600

static const struct gpu_spec gpus[] = {
    {.model = "A100-80GB SXM4",
     .maker = "NVIDIA",
     .arch = "Ampere",
     .form = "SXM4",
     .compute_capability = 8.0,
     .fp32_tflops = 19.5,
     .tf32_tflops = 156,
     .fp16_tflops = 312,
     .bf16_tflops = 312,
     .fp8_tflops = NAN,
     .mem_gb = 80,
     .bandwidth_gbs = 2039,
     .nvlink_gbs = 600,
     .tdp_w = 400,
     .launch_year = 2020},
    {.model = "T4",
     .maker = "NVIDIA",
     .arch = "Turing",
     .form = "",
     .compute_capability = 7.5,
     .fp32_tflops = 8.1,
     .tf32_tflops = NAN,
     .fp16_tflops = 65,
     .bf16_tflops = NAN,
     .fp8_tflops = NAN,
     .mem_gb = 16,
     .bandwidth_gbs = 320,
     .nvlink_gbs = 0,
     .tdp_w = 70,
     .launch_year = 2018},
    {.model = "H100 SXM",
     .maker = "NVIDIA",
     .arch = "Hopper",
     .form = "SXM",
     .compute_capability = 9.0,
     .fp32_tflops = 67,
     .tf32_tflops = 495,
     .fp16_tflops = 989,
     .bf16_tflops = 989,
     .fp8_tflops = 1979,
     .mem_gb = 80,
     .bandwidth_gbs = 3350,
     .nvlink_gbs = 900,
     .tdp_w = 700,
     .launch_year = 2022},
};
static const struct model_profile models[] = {
    {.name = "resnet50",
     .family = "resnet",
     .task = "image-classification",
     .parameters = 25560000,
     .active_parameters = 25560000,
     .layers = 50,
     .hidden = NAN,
     .heads = NAN,
     .kv_heads = NAN,
     .ffn = NAN,
     .vocab = NAN,
     .seq_len = NAN,
     .image_px = 224,
     .head_dim = NAN,
     .bytes_per_sample_in = 114660,
     .flops_per_sample_fwd = 8.2e9,
     .activation_elements = 11.1e6,
     .source = "test"},
};

static const char *pick(struct rng *r, const char *const *list, size_t n)
{
    return list[rng_u64(r) % n];
}

static double between(struct rng *r, double lo, double hi)
{
    return lo + (hi - lo) * rng_unit(r);
}

static const char *const vendors[] = {"aws", "gcp", "lambda"};
static const char *const regions[] = {"us-east-1", "eu-west-1"};

static struct catalog *random_catalog(struct rng *r)
{
    static char price[64][24], type[64][16];
    struct tiny_offer offer[64];
    struct catalog *c = tiny_new(gpus, 3, models, 1);
    size_t n = 4 + rng_u64(r) % 20;
    memset(offer, 0, sizeof offer);
    for (size_t i = 0; i < n; i++) {
        struct tiny_offer *o = &offer[i];
        snprintf(price[i], sizeof price[i], "%.4f", between(r, 0.2, 40));
        snprintf(type[i], sizeof type[i], "m%u", (unsigned)(rng_u64(r) % 6));
        o->vendor = pick(r, vendors, 3);
        o->region = pick(r, regions, 2);
        o->type = type[i];
        o->gpu = gpus[rng_u64(r) % 3].model;
        o->num = 1u << rng_u64(r) % 4;
        o->purchase = rng_u64(r) % 2 ? PURCHASE_SPOT : PURCHASE_ON_DEMAND;
        o->state = rng_u64(r) % 9 ? PRICE_KNOWN : PRICE_NONE;
        o->price = price[i];
        o->vcpus = rng_u64(r) % 5 ? 8.0 * o->num : 0;
        o->memory_gib = 64.0 * o->num;
        o->nvme_gb = rng_u64(r) % 2 ? 900 : 0;
        o->network_gbps = rng_u64(r) % 3 ? 25 : 0;
    }
    for (size_t i = 0, m = n; i < m; i++) { /* some spot machines have an on-demand twin */
        if (offer[i].purchase == PURCHASE_SPOT && rng_u64(r) % 2) {
            snprintf(price[n], sizeof price[n], "%.4f", between(r, 0.2, 60));
            offer[n] = offer[i];
            offer[n].purchase = PURCHASE_ON_DEMAND;
            offer[n].price = price[n];
            n++;
        }
    }
    tiny_offers(c, offer, n);
    struct tiny_rate rate[] = {
        {"aws", "us-east-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 0, 100, "0.023"},
        {"aws", "us-east-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 100, 0, "0.021"},
        {"aws", "us-east-1", "s3_standard", "get", SU_REQUEST, 1000, 0, 0, "0.0004"},
        {"aws", "us-east-1", "s3_standard", "put", SU_REQUEST, 1000, 0, 0, "0.005"},
        {"aws", "us-east-1", "efs_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.3"},
        {"aws", "us-east-1", "efs_standard", "read", SU_GIB, 1, 0, 0, "0.03"},
        {"aws", "us-east-1", "ebs_gp3", "storage", SU_GIB_MONTH, 1, 0, 0, "0.08"},
        {"aws", "us-east-1", "ebs_gp3", "throughput", SU_MIBPS_MONTH, 1, 0, 125, "0"},
        {"aws", "us-east-1", "ebs_gp3", "throughput", SU_MIBPS_MONTH, 1, 125, 0, "0.04"},
        {"aws", "eu-west-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.025"},
        {"aws", "eu-west-1", "s3_standard", "put", SU_REQUEST, 1000, 0, 0, "0.006"},
        {"gcp", "us-east-1", "gcs_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.02"},
        {"gcp", "us-east-1", "gcs_standard", "get", SU_REQUEST, 1000, 0, 0, "0.0004"},
        {"gcp", "us-east-1", "gcs_standard", "put", SU_REQUEST, 1000, 0, 0, "0.005"},
        {"gcp", "us-east-1", "gcp_pd_balanced", "storage", SU_GIB_MONTH, 1, 0, 0, "0.1"},
    };
    tiny_storage(c, rate, sizeof rate / sizeof rate[0]);
    struct tiny_transfer move[] = {
        {"aws", "us-east-1", "internet", "0.09", 0, 100},
        {"aws", "us-east-1", "internet", "0.085", 100, 0},
        {"aws", "us-east-1", "eu-west-1", "0.02", 0, 0},
        {"gcp", "us-east-1", "internet", "0.12", 0, 0},
    };
    tiny_transfers(c, move, sizeof move / sizeof move[0]);
    return c;
}

static struct scenario *random_scenario(struct rng *r)
{
    static const char *const homes[] = {"", ", lives_in: aws/us-east-1",
                                        ", lives_in: aws/us-east-1, tier: s3_standard",
                                        ", lives_in: gcp/us-east-1"};
    static const char *const every[] = {"auto", "30min", "500 steps", "off"};
    char text[1500];
    int n = snprintf(text, sizeof text,
                     "workload: {model: resnet50, epochs: %d, samples: %d, batch_per_gpu: 64, "
                     "checkpoint: {size: %dMB, every: %s}, setup: %dmin}\n"
                     "constraints: {gpus: {count: 1-%d}",
                     1 + (int)(rng_u64(r) % 30), 20000 + (int)(rng_u64(r) % 500000),
                     50 + (int)(rng_u64(r) % 4000), pick(r, every, 4), 1 + (int)(rng_u64(r) % 40),
                     1 + (int)(rng_u64(r) % 16));
    if (rng_u64(r) % 2) {
        n += snprintf(text + n, sizeof text - (size_t)n, ", deadline: %.1fh, confidence: %.2f",
                      between(r, 0.5, rng_u64(r) % 2 ? 8 : 30), between(r, 0.5, 0.99));
    }
    if (rng_u64(r) % 2) {
        n += snprintf(text + n, sizeof text - (size_t)n, ", budget: %.2f USD", between(r, 5, 400));
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "}\nspot: {interruption: %.3f}\n",
                  between(r, 0.001, rng_u64(r) % 2 ? 2 : 0.6));
    if (rng_u64(r) % 3 == 0) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "start_wait: {spot: %dmin}\nwait_before_fallback: %dmin\n",
                      1 + (int)(rng_u64(r) % 90), (int)(rng_u64(r) % 120));
    }
    if (rng_u64(r) % 4) {
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            "data: [{name: d, role: training_data, size: %dGiB, files: %d, keep: 2mo%s}]\n",
            1 + (int)(rng_u64(r) % 300), 1 + (int)(rng_u64(r) % 2000000), pick(r, homes, 4));
    }
    struct scenario *s = NULL;
    struct gt_error err = {0};
    if (scenario_parse(text, (size_t)n, "random", NULL, 0, NOW, 0, &s, &err) != 0) {
        fail_msg("%s: %s\n%s", err.where, err.text, text);
    }
    return s;
}

static bool same(const struct candidate *a, const struct candidate *b)
{
    return a->machine->row == b->machine->row && a->n == b->n && a->cost_usd == b->cost_usd &&
           a->makespan_h == b->makespan_h && a->risk == b->risk &&
           strcmp(a->place->tier, b->place->tier) == 0 &&
           strcmp(a->place->option, b->place->option) == 0;
}

/* Does a plan of the front do as well in all three, to the cent, the 0.01 h and the percent? */
static bool on_or_behind(const struct outcome *o, const struct candidate *c)
{
    for (size_t i = 0; i < o->n_front; i++) {
        const struct candidate *f = &o->front[i];
        if (f->at_least <= c->at_least && floor(f->cost_usd * 100) <= floor(c->cost_usd * 100) &&
            floor(f->p95_h * 100) <= floor(c->p95_h * 100) &&
            floor(f->risk * 100) <= floor(c->risk * 100)) {
            return true;
        }
    }
    return false;
}

/* Every candidate on its own: its bound lies below it, and below no first plan stands another. */
static void check_each(struct search *q, const struct outcome *o)
{
    for (size_t i = 0; i < q->n_machines; i++) {
        const struct machine *m = &q->machine[i];
        for (int n = 1; n * m->gpus <= q->s->gpus_max; n++) {
            const struct kind *k = search_kind(q, m, n);
            const struct region *r = &q->region[m->region_index];
            double usd, hours, risk;
            if (!k->ok || n * m->gpus < q->s->gpus_min) {
                continue;
            }
            lower_bound(q, m, k, n, &usd, &hours, &risk);
            for (size_t p = 0; p < r->n_places; p++) {
                struct candidate c = {.machine = m, .kind = k, .n = n, .place = &r->place[p]};
                if (!place_allows(c.place, m, n) || evaluate(q, &c) != 0) {
                    continue;
                }
                if (c.reject == REJECT_NONE && evaluate_deadline(q, &c) != 0) {
                    continue;
                }
                if (c.makespan_h > 0 && c.cost_usd > 0) {
                    assert_int_equal(evaluate_p95(q, &c, (double)INFINITY), 0);
                    assert_true(usd <= c.cost_usd * (1 + 1e-9));
                    assert_true(hours <= least_p95(&c) * (1 + 1e-9));
                    assert_true(least_p95(&c) <= c.p95_h * (1 + 1e-9));
                    assert_true(risk <= c.risk + 1e-12);
                }
                if (c.reject == REJECT_NONE) {
                    assert_true(o->n_top > 0);
                    assert_true(on_or_behind(o, &c));
                    assert_true(c.at_least >= o->top[0].at_least);
                    assert_true(c.at_least != o->top[0].at_least ||
                                c.cost_usd >= o->top[0].cost_usd);
                }
            }
        }
    }
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    size_t feasible = 0, pruned = 0, all = 0, mixed = 0, fallback = 0;
    for (uint64_t i = 0; i < CATALOGS; i++) {
        struct rng r;
        rng_init(&r, 20261202, i);
        struct catalog *c = random_catalog(&r);
        struct scenario *s = random_scenario(&r);
        struct plan_options options = {
            .top = 4, .seed = 7, .runs = 200, .now = NOW, .currency = ""};
        struct gt_error err = {0};
        struct search q = {.s = s, .c = c, .o = &options, .arena = arena_new(0), .err = &err};
        struct outcome fast, slow;
        assert_int_equal(search_open(&q), 0);
        assert_int_equal(search_pass(&q, 4, &fast), 0);
        q.prune = false;
        assert_int_equal(search_pass(&q, 4, &slow), 0);
        assert_int_equal(fast.n_top, slow.n_top);
        for (size_t j = 0; j < fast.n_top; j++) {
            assert_true(same(&fast.top[j], &slow.top[j]));
        }
        assert_int_equal(fast.n_front, slow.n_front);
        for (size_t j = 0; j < fast.n_front; j++) {
            bool found = false;
            for (size_t k = 0; k < slow.n_front; k++) {
                found = found || (same(&fast.front[j], &slow.front[k]) &&
                                  fast.front[j].p95_h == slow.front[k].p95_h);
            }
            assert_true(found);
        }
        check_each(&q, &slow);
        for (size_t j = 0; j < slow.n_top; j++) {
            const struct candidate *k = &slow.top[j];
            double usd, hours, risk;
            struct candidate timed = *k;
            assert_int_equal(evaluate_p95(&q, &timed, (double)INFINITY), 0);
            lower_bound(&q, k->machine, k->kind, k->n, &usd, &hours, &risk);
            assert_true(usd <= k->cost_usd * (1 + 1e-9) && risk <= k->risk + 1e-12);
            assert_true(hours <= timed.p95_h * (1 + 1e-9));
            mixed += k->mixed && !k->fallback;
            fallback += k->fallback;
        }
        for (size_t j = 0; j < slow.n_front; j++) {
            mixed += slow.front[j].mixed && !slow.front[j].fallback;
        }
        feasible += slow.n_top > 0;
        pruned += fast.evaluated < slow.evaluated;
        all += slow.evaluated;
        arena_free(q.arena);
        scenario_free(s);
        catalog_free(c);
    }
    print_message(
        "%zu of %d catalogs have a plan; %zu candidates; the bounds left some out in %zu\n",
        feasible, CATALOGS, all, pruned);
    assert_true(feasible > CATALOGS / 2 && feasible < CATALOGS);
    assert_true(pruned > CATALOGS / 4);
    print_message("%zu plans have a safety net, %zu fall back\n", mixed, fallback);
    assert_true(mixed > 0 && fallback > 20);
}

/* One run of a candidate by a program of its own: another generator, hour by hour of what is
 * planned, nothing but the scenario's model. */
static double own_run(const struct candidate *c, unsigned short seed[3])
{
    double z = 0, t = c->wait_h, left = 0, rate = c->job.lambda_per_h;
    for (int i = 0; i < 12; i++) {
        z += erand48(seed);
    }
    left = c->job.work_h * exp(c->kind->sigma * (z - 6)); /* a sum of twelve: nearly normal */
    for (int launch = 0; launch < 10000; launch++) {
        double life = rate > 0 ? -log(1 - erand48(seed)) / rate : (double)INFINITY,
               age = c->job.restart_h;
        while (age <= life) {
            double piece = fmin(left, c->job.tau_h);
            double write = piece < left ? c->job.delta_h : 0;
            if (age + piece + write > life) {
                break;
            }
            age += piece + write;
            left -= piece;
            if (left <= 1e-12) {
                return t + age;
            }
        }
        t += life + c->job.wait_h;
    }
    return (double)INFINITY;
}

/* The cheapest plan that reaches the asked confidence: what is first does reach it, and nothing
 * cheaper does, by many runs of that other program. */
static void the_confident_is_the_cheapest(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    size_t asked = 0, cheaper = 0;
    for (uint64_t i = 0; asked < 90 && i < 400; i++) {
        struct rng r;
        rng_init(&r, 77, i);
        struct catalog *c = random_catalog(&r);
        struct scenario *s = random_scenario(&r);
        struct plan_options options = {
            .top = 1, .seed = 7, .runs = RUNS, .now = NOW, .currency = ""};
        struct gt_error err = {0};
        struct search q = {.s = s, .c = c, .o = &options, .arena = arena_new(0), .err = &err};
        struct outcome o;
        s->spot_policy = "spot_only"; /* plans without a net, whose runs are written out above */
        s->wait_before_fallback_s = -1;
        assert_int_equal(search_open(&q), 0);
        assert_int_equal(search_pass(&q, 1, &o), 0);
        if (s->deadline_s <= 0 || o.n_top == 0) {
            goto next;
        }
        asked++;
        for (size_t j = 0; j < q.n_machines; j++) {
            const struct machine *m = &q.machine[j];
            for (int n = 1; n * m->gpus <= s->gpus_max; n++) {
                const struct kind *k = search_kind(&q, m, n);
                const struct region *at = &q.region[m->region_index];
                for (size_t p = 0; p < at->n_places && k->ok && n * m->gpus >= s->gpus_min; p++) {
                    struct candidate one = {
                        .machine = m, .kind = k, .n = n, .place = &at->place[p]};
                    bool first =
                        m == o.top[0].machine && n == o.top[0].n && one.place == o.top[0].place;
                    if (!place_allows(one.place, m, n) || evaluate(&q, &one) != 0 ||
                        one.reject != REJECT_NONE || one.at_least != o.top[0].at_least ||
                        (!first && one.cost_usd >= o.top[0].cost_usd)) {
                        continue;
                    }
                    unsigned short seed[3] = {(unsigned short)i, (unsigned short)j, 99};
                    double met = 0;
                    for (int run = 0; run < RUNS; run++) {
                        met += own_run(&one, seed) <= s->deadline_s / 3600;
                    }
                    /* five deviations of both samples, and the sum of twelve's own error */
                    double slack = 0.01 + 5 * sqrt(2 * s->confidence * (1 - s->confidence) / RUNS);
                    cheaper += !first;
                    assert_true(first ? met / RUNS >= s->confidence - slack
                                      : met / RUNS <= s->confidence + slack);
                }
            }
        }
    next:
        arena_free(q.arena);
        scenario_free(s);
        catalog_free(c);
    }
    print_message("%zu deadlines, %zu cheaper plans are too late\n", asked, cheaper);
    assert_true(asked == 90 && cheaper > 40);
}

/* The numbers of machines that are considered, as keys.def says. */
static void counts_are_as_documented(void **state)
{
    (void)state;
    for (int n = 1; n < 32; n++) {
        assert_int_equal(search_next_count(n, 1000), n + 1);
    }
    for (int lo = 32; lo <= 256; lo *= 2) {
        int seen = 0;
        for (int n = lo; n < 2 * lo; n = search_next_count(n, 100000)) {
            seen++;
        }
        assert_int_equal(seen, 8);
    }
    assert_int_equal(search_next_count(40, 43), 43); /* the most allowed is tried too */
    assert_true(search_next_count(43, 43) > 43);
    assert_int_equal(search_next_count(33, 100), 36);
}

/* The public entry: bills add up exactly, the same input gives the same plans, infeasible says
 * what binds. */
static void bills_add_up(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        struct rng r;
        rng_init(&r, 11, i);
        struct catalog *c = random_catalog(&r);
        struct scenario *s = random_scenario(&r);
        struct plan_options o = {.top = 5, .seed = 3, .runs = 300, .now = NOW, .currency = "USD"};
        struct plan_set *a = NULL, *b = NULL;
        struct gt_error err = {0};
        int rc = plan_search(s, c, &o, &a, &err);
        assert_int_equal(plan_search(s, c, &o, &b, &err), rc);
        assert_true(rc == 0 || rc == GT_EINFEASIBLE);
        assert_true(rc == 0 || strstr(err.text, "nearest") != NULL || err.text[0] != '\0');
        assert_int_equal(a->n, b->n);
        for (size_t k = 0; k < a->n; k++) {
            const struct plan *p = &a->plan[k];
            money lines = 0, parts = 0;
            for (size_t l = 0; l < p->n_lines; l++) {
                lines += p->line[l].amount;
            }
            for (int l = 0; l < COMP_COUNT; l++) {
                parts += p->component[l];
            }
            assert_true(lines == p->total && parts == p->total);
            assert_string_equal(p->id, b->plan[k].id);
            assert_true(p->total == b->plan[k].total);
            assert_true(p->makespan_p95_s == b->plan[k].makespan_p95_s);
            assert_true(p->at_least != a->plan[0].at_least || p->total >= a->lower_bound);
            assert_true(p->makespan_p5_s <= p->makespan_p50_s &&
                        p->makespan_p50_s <= p->makespan_p95_s);
            assert_true(k == 0 || p->at_least != a->plan[k - 1].at_least ||
                        p->total >= a->plan[k - 1].total);
        }
        plan_set_free(a);
        plan_set_free(b);
        scenario_free(s);
        catalog_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_brute_force), cmocka_unit_test(the_confident_is_the_cheapest),
        cmocka_unit_test(counts_are_as_documented), cmocka_unit_test(bills_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
