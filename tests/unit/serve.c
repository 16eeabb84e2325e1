/* Serving: the clairvoyant fleet against a search over every schedule, the base commitment against
 * the full scan, shapes against published savings, and what a demand file may hold. */
#include "gputier/serve.h"
#include "gputier/rng.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t below(struct rng *r, int64_t n)
{
    return (int64_t)(rng_u64(r) % (uint64_t)n);
}

#define STEPS 7
#define NODES 3
#define WARM  3
#define AGES  (WARM + 1)

/* Every schedule: at each step any nodes may go and any may come; state = nodes by steps of warm-up
 * left. Needs are met by ready nodes only. */
static int cheapest(const int64_t *need, int t, const int *by_wait, int warm, int sofar, int best)
{
    if (sofar >= best) {
        return best;
    }
    if (t == STEPS) {
        return sofar;
    }
    int keep[AGES], total = by_wait[0] + by_wait[1] + by_wait[2] + by_wait[3];
    for (int code = 0; code < 4 * 4 * 4 * 4 * 4; code++) {
        int c = code, ok = 1, n = 0, add = c % 4;
        c /= 4;
        for (int w = 0; w < AGES; w++, c /= 4) {
            keep[w] = c % 4;
            ok = ok && keep[w] <= by_wait[w];
            n += keep[w];
        }
        if (!ok || n + add > NODES || n > total) {
            continue;
        }
        int now[AGES] = {keep[0], keep[1], keep[2], keep[3]};
        now[warm] += add;
        if (now[0] < need[t]) {
            continue;
        }
        int next[AGES] = {now[0] + now[1], now[2], now[3], 0};
        best = cheapest(need, t + 1, next, warm, sofar + n + add, best);
    }
    return best;
}

static void clairvoyant_is_the_least(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 7, 0);
    for (int i = 0; i < 60; i++) {
        double load[STEPS];
        int64_t need[STEPS], got = 0;
        int warm = (int)below(&r, WARM + 1), n0 = (int)below(&r, NODES + 1);
        for (int t = 0; t < STEPS; t++) {
            /* what is asked before anything new can be ready must be there from the start */
            need[t] = below(&r, t < warm ? n0 + 1 : NODES + 1);
            load[t] = 4.0 * (double)need[t];
        }
        struct autoscale a = {.load = load,
                              .steps = STEPS,
                              .mu = 4,
                              .theta = 0.7,
                              .max = NODES,
                              .n0 = n0,
                              .warm = warm};
        int start[AGES] = {n0, 0, 0, 0};
        assert_int_equal(serve_clairvoyant(&a, &got, NULL), 0);
        assert_int_equal(got, cheapest(need, 0, start, warm, 0, 1000));
    }
}

/* A policy that misses nothing pays at least as much. */
static void nothing_beats_hindsight(void **state)
{
    (void)state;
    struct rng r;
    int held = 0;
    rng_init(&r, 8, 0);
    for (int i = 0; i < 3000; i++) {
        double load[40], level = 1 + 40 * rng_unit(&r);
        for (int t = 0; t < 40; t++) {
            level = below(&r, 4) ? level : 1 + 40 * rng_unit(&r);
            load[t] = level;
        }
        struct autoscale a = {.load = load,
                              .steps = 40,
                              .mu = 3,
                              .theta = 0.3 + 0.7 * rng_unit(&r),
                              .min = below(&r, 3),
                              .max = 60,
                              .n0 = below(&r, 20),
                              .win = 1 + below(&r, 6),
                              .out_cd = below(&r, 3),
                              .in_cd = below(&r, 6),
                              .warm = below(&r, 4)};
        struct autoscale_result got;
        int64_t least = 0;
        assert_int_equal(autoscale_run(&a, &got, NULL), 0);
        assert_int_equal(serve_clairvoyant(&a, &least, NULL), 0);
        held += got.dropped == 0;
        assert_true(got.dropped > 0 || got.node_steps >= least);
    }
    assert_true(held > 300);
}

static void base_is_the_scan(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 9, 0);
    for (int i = 0; i < 2000; i++) {
        int64_t demand[24], none[24] = {0}, base = 0;
        for (int t = 0; t < 24; t++) {
            demand[t] = below(&r, 12);
        }
        /* quarters: sums are exact, so that ties are ties */
        double commit = (double)below(&r, 9) / 4, demand_price = (double)(1 + below(&r, 8)) / 4;
        struct capacity_mix m = {demand, demand, none, 24, commit, demand_price, demand_price};
        struct capacity_mix_result want;
        assert_int_equal(capacity_mix_best(&m, &want, NULL), 0);
        assert_int_equal(capacity_base(demand, 24, commit, demand_price, &base, NULL), 0);
        assert_int_equal(base, want.reserved);
    }
}

static struct scenario sine(void)
{
    return (struct scenario){.file = "t.yaml",
                             .demand_shape = "sine",
                             .demand_base = 20,
                             .demand_peak = 100,
                             .demand_period_s = 86400,
                             .demand_length_s = 7 * 86400,
                             .requests_per_s_per_node = 4,
                             .target_utilisation = 0.7,
                             .min_nodes = 1,
                             .max_nodes = 1000,
                             .cooldown_out_s = 60,
                             .cooldown_in_s = 60,
                             .warmup_s = 300,
                             .step_s = 60};
}

/* spot-model.md section 9: a week of a sine from 20 to 100; windows of 5 and 15 min save 39 %
 * against the fixed fleet, 30 min 37, 60 min 35, 120 min 32, 240 min 26 %. */
static void published_savings(void **state)
{
    (void)state;
    static const double minutes[] = {5, 15, 30, 60, 120, 240};
    static const double saves[] = {39, 39, 37, 35, 32, 26};
    struct scenario s = sine();
    double *load = NULL;
    size_t steps = 0;
    assert_int_equal(serve_shape(&s, &load, &steps, NULL), 0);
    assert_int_equal(steps, 7 * 1440);
    assert_true(load[0] == 20 && fabs(load[720] - 100) < 1e-9);
    for (int i = 0; i < 6; i++) {
        struct autoscale a;
        struct autoscale_result r;
        s.cooldown_window_s = minutes[i] * 60;
        serve_policy(&s, load, steps, &a);
        assert_int_equal(a.warm, 5);
        assert_int_equal(autoscale_run(&a, &r, NULL), 0);
        assert_true(fabs(100 * r.saving - saves[i]) < 1.0);
    }
    free(load);
}

static void promotion_peaks_once_a_period(void **state)
{
    (void)state;
    struct scenario s = sine();
    double *load = NULL;
    size_t steps = 0, at_peak = 0, at_base = 0;
    s.demand_shape = "promotion";
    s.demand_length_s = 86400;
    assert_int_equal(serve_shape(&s, &load, &steps, NULL), 0);
    for (size_t t = 0; t < steps; t++) {
        at_peak += load[t] == 100;
        at_base += load[t] == 20;
        assert_true(load[t] >= 20 && load[t] <= 100);
    }
    assert_int_equal(load[719], 20);
    assert_int_equal(at_peak, 121); /* 2 h and the end of the climb */
    assert_int_equal(at_base, 720 + 1440 - 720 - 30 - 120 - 60 + 1);
    free(load);
    s.demand_length_s = 1e12;
    assert_int_equal(serve_shape(&s, &load, &steps, NULL), GT_ERANGE);
}

static void demand_keeps_the_requests(void **state)
{
    (void)state;
    static const char text[] =
        "# from the load balancer\r\nt_s,requests_per_s\r\n30,10\r\n75,4\r\n\n165,0\n";
    double *load = NULL, sum = 0;
    size_t steps = 0;
    assert_int_equal(serve_demand(text, strlen(text), "d.csv", 60, &load, &steps, NULL), 0);
    /* 45 s of 10, 90 s of 4, 90 s of 0 from the first row on */
    assert_int_equal(steps, 4);
    assert_true(fabs(load[0] - (45 * 10 + 15 * 4) / 60.0) < 1e-9);
    assert_true(fabs(load[1] - 4) < 1e-9);
    assert_true(fabs(load[2] - 15 * 4 / 60.0) < 1e-9);
    for (size_t t = 0; t < 3; t++) {
        sum += 60 * load[t];
    }
    assert_true(fabs(sum - (45 * 10 + 90 * 4)) < 1e-9);
    free(load);
    static const char one[] = "t_s,requests_per_s\n0,7";
    assert_int_equal(serve_demand(one, strlen(one), "d.csv", 60, &load, &steps, NULL), 0);
    assert_int_equal(steps, 1);
    assert_true(load[0] == 7);
    free(load);
}

static void bad_demand_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *word;
    } bad[] = {
        {"", "d.csv:0", "at least one row"},
        {"t_s,requests_per_s\n", "d.csv:1", "at least one row"},
        {"time,rps\n0,1\n", "d.csv:1", "the header"},
        {"t_s,requests_per_s\n0\n", "d.csv:2", "two fields"},
        {"t_s,requests_per_s\n0,1\n0,2\n", "d.csv:3", "above the row before"},
        {"t_s,requests_per_s\n0,1\n60,-2\n", "d.csv:3", "requests_per_s"},
        {"t_s,requests_per_s\n0,nan\n", "d.csv:2", "requests_per_s"},
        {"t_s,requests_per_s\n0,1,2\n", "d.csv:2", "requests_per_s"},
        {"t_s,requests_per_s\nx,1\n", "d.csv:2", "t_s, seconds"},
        {"t_s,requests_per_s\n0,1e13\n", "d.csv:2", "requests_per_s"},
        {"t_s,requests_per_s\n0,1\n1e12,1\n", "d.csv", "more than"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_error err = {0};
        double *load = NULL;
        size_t steps = 0;
        assert_true(
            serve_demand(bad[i].text, strlen(bad[i].text), "d.csv", 60, &load, &steps, &err) < 0);
        assert_string_equal(err.where, bad[i].where);
        assert_non_null(strstr(err.text, bad[i].word));
    }
}

/* More noise or a stricter limit never makes the recommended policy cheaper. */
static void stricter_costs_more(void **state)
{
    (void)state;
    struct scenario s = sine();
    struct serve_policy_found loose, strict;
    struct autoscale a;
    double *load = NULL;
    size_t steps = 0;
    s.demand_length_s = 86400;
    assert_int_equal(serve_shape(&s, &load, &steps, NULL), 0);
    serve_policy(&s, load, steps, &a);
    assert_int_equal(serve_recommend(&a, 60, 0.05, &loose, NULL, NULL), 0);
    assert_int_equal(serve_recommend(&a, 60, 0.0001, &strict, NULL, NULL), 0);
    assert_true(loose.met && strict.met);
    assert_true((double)strict.run.node_steps >= (double)loose.run.node_steps / 1.01);
    assert_true(strict.noisy.dropped <= 0.0001 * (strict.noisy.dropped + strict.noisy.served));
    /* two nodes can never serve it */
    a.max = a.n0 = 2;
    a.min = 0;
    assert_int_equal(serve_recommend(&a, 60, 0.001, &strict, NULL, NULL), 0);
    assert_false(strict.met);
    free(load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clairvoyant_is_the_least),
        cmocka_unit_test(nothing_beats_hindsight),
        cmocka_unit_test(base_is_the_scan),
        cmocka_unit_test(published_savings),
        cmocka_unit_test(promotion_peaks_once_a_period),
        cmocka_unit_test(demand_keeps_the_requests),
        cmocka_unit_test(bad_demand_is_refused),
        cmocka_unit_test(stricter_costs_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
