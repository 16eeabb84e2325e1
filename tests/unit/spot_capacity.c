/* Commitment mix and autoscaling: hand-made answers, and a second program that keeps a list of
 * single nodes and follows the rules word by word, on random loads. The oracle's 18 cases run in
 * tests/cli/verify_cases.py. */
#include "gputier/capacity.h"
#include "gputier/rng.h"
#include "unit.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

static int64_t below(struct rng *r, int64_t n)
{
    return (int64_t)(rng_u64(r) % (uint64_t)n);
}

/* Four hours of 10, 10, 10, 2 nodes: the 3rd to 10th node runs 3 hours of 4, so a commitment at
 * 0.7 of on demand pays for them, one at 0.8 does not. */
static void break_even(void **state)
{
    (void)state;
    static const int64_t demand[] = {10, 10, 10, 2}, none[] = {0, 0, 0, 0};
    struct capacity_mix m = {demand, demand, none, 4, 0.7, 0.3, 1};
    struct capacity_mix_result r;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), 0);
    assert_int_equal(r.reserved, 10);
    assert_int_equal(r.od_hours, 0);
    assert_true(fabs(r.cost - 28) < 1e-12);
    m.p_commit = 0.8;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), 0);
    assert_int_equal(r.reserved, 2);
    assert_int_equal(r.od_hours, 24);
    assert_true(fabs(r.cost - (0.8 * 8 + 24)) < 1e-12);
    m.p_commit = 0.75; /* both cost the same: the smaller one */
    assert_int_equal(capacity_mix_best(&m, &r, NULL), 0);
    assert_int_equal(r.reserved, 2);
    /* spot takes what need not be certain, up to its limit */
    static const int64_t must[] = {4, 4, 4, 2}, cap[] = {1000, 3, 0, 1000};
    m.must_run = must;
    m.spot_cap = cap;
    assert_int_equal(capacity_mix_at(&m, 1, &r, NULL), 0);
    assert_int_equal(r.spot_hours, 6 + 3);
    assert_int_equal(r.od_hours, 27 + 1 - 9);
}

#define STEPS 60
#define NODES 4000

/* spot-policies.md section 6, with a ready time for each node. */
static void word_by_word(const struct autoscale *a, struct autoscale_result *out)
{
    static int64_t ready[NODES];
    int64_t want[STEPS], n = a->n0, last_out = -1000000, last_in = -1000000, previous = 0;
    int sign_before = 0;
    memset(ready, 0, sizeof ready);
    memset(out, 0, sizeof *out);
    for (int64_t t = 0; t < (int64_t)a->steps; t++) {
        int64_t w = (int64_t)ceil(a->load[t] / (a->theta * a->mu) - 1e-9), hist = 0;
        w = w < a->min ? a->min : w;
        want[t] = w > a->max ? a->max : w;
        for (int64_t k = t - a->win + 1 > 0 ? t - a->win + 1 : 0; k <= t; k++) {
            hist = want[k] > hist ? want[k] : hist;
        }
        int sign = 0;
        if (want[t] > n && t - last_out >= a->out_cd) {
            while (n < want[t]) {
                ready[n++] = t + a->warm;
            }
            last_out = t;
            sign = 1;
        } else if (hist < n && t - last_in >= a->in_cd && t - last_out >= a->in_cd) {
            n = hist; /* ready times rise with the index */
            last_in = t;
            sign = -1;
        }
        if (sign) {
            out->changes++;
            out->flaps += sign_before == -sign && t - previous < a->flap_win;
            sign_before = sign;
            previous = t;
        }
        int64_t serving = 0;
        for (int64_t i = 0; i < n; i++) {
            serving += ready[i] <= t;
        }
        double served = fmin(a->load[t], (double)serving * a->mu);
        out->node_steps += n;
        out->served += served;
        out->dropped += a->load[t] - served;
        out->peak_nodes = n > out->peak_nodes ? n : out->peak_nodes;
    }
}

static void autoscale_word_by_word(void **state)
{
    (void)state;
    struct rng r;
    int64_t flaps = 0, changes = 0;
    rng_init(&r, 21, 0);
    for (int i = 0; i < 3000; i++) {
        double load[STEPS], level = 40 * rng_unit(&r);
        for (size_t t = 0; t < STEPS; t++) {
            level = below(&r, 6) ? level : 80 * rng_unit(&r);
            load[t] = level * (0.8 + 0.4 * rng_unit(&r));
        }
        struct autoscale a = {.load = load,
                              .steps = STEPS,
                              .mu = 0.5 + rng_unit(&r),
                              .theta = 0.5 + 0.5 * rng_unit(&r)};
        a.min = below(&r, 5);
        a.max = a.min + below(&r, 150);
        a.n0 = a.min + below(&r, 10);
        a.win = 1 + below(&r, 8);
        a.out_cd = below(&r, 5);
        a.in_cd = below(&r, 8);
        a.warm = below(&r, 6);
        a.flap_win = below(&r, 15);
        struct autoscale_result got, want;
        assert_int_equal(autoscale_run(&a, &got, NULL), 0);
        word_by_word(&a, &want);
        assert_int_equal(got.node_steps, want.node_steps);
        assert_int_equal(got.peak_nodes, want.peak_nodes);
        assert_int_equal(got.changes, want.changes);
        assert_int_equal(got.flaps, want.flaps);
        assert_true(fabs(got.served - want.served) < 1e-9 * (1 + want.served));
        assert_true(fabs(got.dropped - want.dropped) < 1e-9 * (1 + want.dropped));
        flaps += got.flaps;
        changes += got.changes;
    }
    assert_true(flaps > 1000 && changes > 10000);
}

static void refusals(void **state)
{
    (void)state;
    static const int64_t demand[] = {3}, more[] = {4}, negative[] = {-1};
    struct capacity_mix m = {demand, demand, demand, 1, 1, 1, 1};
    struct capacity_mix_result r;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), 0);
    m.must_run = more;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), GT_ERANGE);
    m.must_run = demand;
    m.spot_cap = negative;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), GT_ERANGE);
    m.spot_cap = demand;
    m.p_od = (double)NAN;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), GT_ERANGE);
    m.p_od = 1;
    m.hours = 0;
    assert_int_equal(capacity_mix_best(&m, &r, NULL), GT_ERANGE);
    double load = 5;
    struct autoscale a = {.load = &load, .steps = 1, .mu = 1, .theta = 1, .max = 9, .win = 1};
    struct autoscale_result s;
    assert_int_equal(autoscale_run(&a, &s, NULL), 0);
    assert_int_equal(s.node_steps, 5);
    a.win = 0;
    assert_int_equal(autoscale_run(&a, &s, NULL), GT_ERANGE);
    a.win = 1;
    a.theta = 0;
    assert_int_equal(autoscale_run(&a, &s, NULL), GT_ERANGE);
    a.theta = 1;
    load = -1;
    assert_int_equal(autoscale_run(&a, &s, NULL), GT_ERANGE);
    load = 1;
    a.min = 10;
    assert_int_equal(autoscale_run(&a, &s, NULL), GT_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(break_even),
        cmocka_unit_test(autoscale_word_by_word),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("spot_capacity", tests, NULL, NULL);
}
