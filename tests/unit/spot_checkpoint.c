/* Checkpoint formulas and their sampler: the incomplete gamma function against closed forms, the
 * exact interval against its own equation and a scan, expectations against each other and against
 * simulation, the same result whatever is computed beside it, refusals. The oracle's 32 cases run
 * in tests/cli/verify_cases.py. */
#include "../../planner/spot/internal.h"
#include "gputier/rng.h"
#include "gputier/spot.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool near(double a, double b, double rel)
{
    return fabs(a - b) <= rel * fabs(b);
}

static void gamma_closed_forms(void **state)
{
    (void)state;
    for (double x = 1e-6; x < 60; x = x * 1.3 + 1e-3) {
        assert_true(near(ckpt_gamma_lower(1, x), -expm1(-x), 1e-13));
        assert_true(near(ckpt_gamma_lower(0.5, x), sqrt(acos(-1)) * erf(sqrt(x)), 1e-13));
        assert_true(near(ckpt_gamma_lower(2, x), -expm1(-x) - x * exp(-x), 1e-9));
        /* recurrence: g(a + 1, x) = a g(a, x) - x^a e^-x, for the shapes that occur */
        for (double a = 0.2; a < 6; a += 0.37) {
            double left = ckpt_gamma_lower(a + 1, x);
            double right = a * ckpt_gamma_lower(a, x) - pow(x, a) * exp(-x);
            assert_true(fabs(left - right) <= 1e-13 * a * ckpt_gamma_lower(a, x) + 1e-300);
        }
    }
    assert_true(ckpt_gamma_lower(3, 0) == 0);
}

/* (x - 1) e^(x - 1) = -e^(-1 - delta/M) for x = tau/M: written so that nothing cancels, and no
 * neighbour has a smaller cost (e^((tau + delta)/M) - 1)/tau. */
static void interval_is_optimal(void **state)
{
    (void)state;
    for (double r = 1e-9; r < 30; r *= 1.7) {
        struct ckpt_interval i;
        double mtbf = 8;
        assert_int_equal(ckpt_interval(r * mtbf, mtbf, &i, NULL), 0);
        double x = i.exact_h / mtbf;
        assert_true(x > 0 && x < 1);
        if (x > 0.01 && x < 0.999) {
            assert_true(fabs(log1p(-x) + x + r) < 1e-13 * (1 + r));
        }
        double h = 1e-3 * i.exact_h;
        double at = expm1((i.exact_h + r * mtbf) / mtbf) / i.exact_h;
        assert_true(at <= expm1((i.exact_h + h + r * mtbf) / mtbf) / (i.exact_h + h));
        assert_true(at <= expm1((i.exact_h - h + r * mtbf) / mtbf) / (i.exact_h - h));
        if (r < 1e-4) { /* Young and Daly are its expansions */
            assert_true(near(i.exact_h, i.young_h, 0.01));
            assert_true(near(i.exact_h, i.daly_h, 1e-6));
        }
    }
    struct ckpt_interval zero;
    assert_int_equal(ckpt_interval(0, 5, &zero, NULL), 0);
    assert_true(zero.exact_h == 0 && zero.young_h == 0);
}

static struct ckpt_job job_of(struct rng *r)
{
    struct ckpt_job j = {.work_h = 1 + 60 * rng_unit(r),
                         .tau_h = 0.1 + 3 * rng_unit(r),
                         .delta_h = 0.2 * rng_unit(r),
                         .restart_h = 0.5 * rng_unit(r),
                         .wait_h = rng_unit(r),
                         .lambda_per_h = 0.01 + 0.3 * rng_unit(r)};
    j.cold_start = rng_u64(r) & 1;
    j.restart_interruptible = rng_u64(r) & 1;
    return j;
}

/* Shape 1 is the exponential: two programs of different form agree. */
static void weibull_of_shape_one(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3, 0);
    for (int i = 0; i < 300; i++) {
        struct ckpt_job j = job_of(&r);
        struct ckpt_result a, b;
        j.restart_interruptible = true;
        assert_int_equal(ckpt_expected(&j, &a, NULL), 0);
        assert_int_equal(ckpt_weibull(&j, 1, 1 / j.lambda_per_h, &b, NULL), 0);
        assert_true(near(b.makespan_h, a.makespan_h, 1e-9));
        assert_true(near(b.interruptions, a.interruptions, 1e-9));
        assert_true(near(b.billed_h, a.billed_h, 1e-9));
    }
}

static void mean_and_error(const double *v, size_t n, double *mean, double *error)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
    }
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (v[i] - *mean) * (v[i] - *mean);
    }
    *error = sqrt(squares / (double)n / (double)(n - 1));
}

/* The sampler's mean lies within 5 standard errors of the exact expectation, for both kinds of
 * restart and for Weibull lives. */
static void simulation_meets_expectation(void **state)
{
    (void)state;
    enum { RUNS = 40000 };
    static double makespan[RUNS], billed[RUNS];
    struct rng r;
    rng_init(&r, 5, 0);
    for (int i = 0; i < 24; i++) {
        struct ckpt_job j = job_of(&r);
        struct ckpt_result want;
        double shape = i % 3 == 2 ? 0.6 + rng_unit(&r) : 0, scale = 4 + 10 * rng_unit(&r);
        double mean, error;
        j.restart_interruptible = j.restart_interruptible || shape != 0;
        int rc = shape != 0 ? ckpt_weibull(&j, shape, scale, &want, NULL)
                            : ckpt_expected(&j, &want, NULL);
        assert_int_equal(rc, 0);
        assert_int_equal(ckpt_sample(&j, shape, scale, (uint64_t)i, RUNS, makespan, billed, NULL),
                         0);
        mean_and_error(makespan, RUNS, &mean, &error);
        assert_true(fabs(mean - want.makespan_h) < 5 * error);
        mean_and_error(billed, RUNS, &mean, &error);
        assert_true(fabs(mean - want.billed_h) < 5 * error);
    }
}

/* The ziggurat's variates have the moments and the tail of the exponential: a job of one segment
 * that restarts at once finishes in the time of its first long enough life. */
static void no_failures_share(void **state)
{
    (void)state;
    enum { RUNS = 400000 };
    struct ckpt_job j = {
        .work_h = 10, .tau_h = 10, .lambda_per_h = 0.9, .restart_interruptible = true};
    double *v = malloc(RUNS * sizeof *v);
    assert_non_null(v);
    /* P(no interruption) = e^-9 is in the table's tail (beyond 7.697) */
    assert_int_equal(ckpt_sample(&j, 0, 0, 1, 1000, v, NULL, NULL), 0);
    j.lambda_per_h = 0.25;
    assert_int_equal(ckpt_sample(&j, 0, 0, 2, RUNS, v, NULL, NULL), 0);
    size_t whole = 0;
    for (size_t i = 0; i < RUNS; i++) {
        assert_true(v[i] >= 10);
        whole += v[i] == 10;
    }
    double p = exp(-2.5), sd = sqrt(p * (1 - p) / RUNS);
    assert_true(fabs((double)whole / RUNS - p) < 5 * sd);
    free(v);
}

static void same_seed_same_answer(void **state)
{
    (void)state;
    enum { MANY = 20000, FEW = 9000 };
    struct ckpt_job j = {.work_h = 20,
                         .tau_h = 1,
                         .restart_h = 0.2,
                         .wait_h = 0.3,
                         .lambda_per_h = 0.2,
                         .restart_interruptible = true};
    static double a[MANY], b[MANY];
    struct ckpt_quantiles p, q;
    assert_int_equal(ckpt_sample(&j, 0, 0, 42, MANY, a, NULL, NULL), 0);
    assert_int_equal(ckpt_sample(&j, 0, 0, 42, FEW, b, NULL, NULL), 0);
    /* blocks are independent: more runs do not change those that were there */
    assert_memory_equal(a, b, 8192 * sizeof *a);
    assert_int_equal(ckpt_sample(&j, 0, 0, 43, FEW, b, NULL, NULL), 0);
    assert_memory_not_equal(a, b, FEW * sizeof *a);
    assert_int_equal(ckpt_simulate(&j, 30, 42, MANY, &p, NULL), 0);
    assert_int_equal(ckpt_simulate(&j, 30, 42, MANY, &q, NULL), 0);
    assert_memory_equal(&p, &q, sizeof p);
    for (size_t i = 0; i < 4; i++) { /* whoever computes which block */
        static const size_t threads[] = {1, 2, 3, 8};
        const struct team team = team_threads(threads[i]);
        memset(&q, 0, sizeof q);
        assert_int_equal(ckpt_simulate_by(&team, &j, 30, 42, MANY, &q, NULL), 0);
        assert_memory_equal(&p, &q, sizeof p);
    }
    assert_true(p.p5_h < p.p50_h && p.p50_h < p.p95_h && p.billed_p95_h < p.p95_h);
    assert_true(p.p_lo < p.p_deadline && p.p_deadline < p.p_hi);
    /* without waiting, what is billed is the makespan */
    j.wait_h = 0;
    assert_int_equal(ckpt_simulate(&j, 0.5, 42, MANY, &q, NULL), 0);
    assert_true(q.billed_p95_h == q.p95_h && q.billed_mean_h == q.mean_h);
    assert_true(q.p_deadline == 0 && q.p_lo == 0 && q.p_hi > 0 && q.p_hi < 0.001);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void quantiles_of_lists(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 9, 0);
    for (int i = 0; i < 400; i++) {
        double v[200], sorted[200];
        size_t n = 1 + (size_t)(rng_u64(&r) % 200);
        uint64_t kinds = 1 + rng_u64(&r) % 300; /* many or few equal values */
        for (size_t k = 0; k < n; k++) {
            v[k] = (double)(rng_u64(&r) % kinds);
        }
        memcpy(sorted, v, sizeof v);
        qsort(sorted, n, sizeof *sorted, by_value);
        for (double q = 0; q <= 1; q += 0.125) {
            size_t rank = (size_t)floor(q * (double)n);
            assert_true(ckpt_quantile(v, n, q) == sorted[rank < n ? rank : n - 1]);
        }
    }
    assert_true(isnan(ckpt_quantile(NULL, 0, 0.5)));
}

/* ckpt_best_tau against every whole number of segments. */
static void best_interval(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 13, 0);
    for (int i = 0; i < 200; i++) {
        struct ckpt_job j = job_of(&r);
        struct ckpt_result at;
        double tau = 0, least = HUGE_VAL;
        j.delta_h = i % 4 ? 0.01 + j.delta_h : 5 * j.delta_h + 0.2;
        assert_int_equal(ckpt_best_tau(&j, &tau, NULL), 0);
        for (int n = 1; n < 3000; n++) {
            j.tau_h = j.work_h / n;
            if (!ckpt_expected(&j, &at, NULL)) {
                least = fmin(least, at.makespan_h);
            }
        }
        j.tau_h = tau;
        assert_int_equal(ckpt_expected(&j, &at, NULL), 0);
        assert_true(at.makespan_h <= least * (1 + 1e-12));
    }
    struct ckpt_job free_writes = {.work_h = 10, .lambda_per_h = 0.1};
    double tau = 0;
    assert_int_equal(ckpt_best_tau(&free_writes, &tau, NULL), 0);
    assert_true(near(tau, 1.0 / 3600, 1e-9));
    free_writes.lambda_per_h = 0;
    assert_int_equal(ckpt_best_tau(&free_writes, &tau, NULL), 0);
    assert_true(tau == 10);
}

/* A quotient within 1e-9 of an integer is that integer: 0.3 / 0.1 is not four segments. */
static void whole_segments(void **state)
{
    (void)state;
    struct ckpt_job j = {.work_h = 0.3, .tau_h = 0.1, .delta_h = 0.5};
    struct ckpt_result r;
    assert_int_equal(ckpt_expected(&j, &r, NULL), 0);
    assert_true(near(r.makespan_h, 0.3 + 2 * 0.5, 1e-12));
    assert_true(r.interruptions == 0 && r.writes == 2);
    j.tau_h = 7;
    assert_int_equal(ckpt_expected(&j, &r, NULL), 0);
    assert_true(r.makespan_h == 0.3 && r.writes == 0);
}

static void refusals(void **state)
{
    (void)state;
    struct ckpt_job ok = {.work_h = 10, .tau_h = 1, .lambda_per_h = 0.1}, j;
    struct ckpt_result r;
    struct ckpt_interval i;
    struct ckpt_quantiles q;
    double x = 0;
    struct gt_error e = {0};
#define REFUSED(change)                                                                            \
    j = ok;                                                                                        \
    change;                                                                                        \
    assert_int_equal(ckpt_expected(&j, &r, &e), GT_ERANGE)
    REFUSED(j.work_h = 0);
    REFUSED(j.work_h = (double)NAN);
    REFUSED(j.tau_h = 0);
    REFUSED(j.tau_h = 1e-300);
    REFUSED(j.delta_h = -1);
    REFUSED(j.restart_h = HUGE_VAL);
    REFUSED(j.lambda_per_h = -0.1);
    REFUSED((j.lambda_per_h = 2000, j.tau_h = 10)); /* e^20000: never done */
    assert_non_null(strstr(e.text, "never finished"));
    assert_int_equal(ckpt_interval(1, 0, &i, NULL), GT_ERANGE);
    assert_int_equal(ckpt_interval((double)NAN, 1, &i, NULL), GT_ERANGE);
    assert_int_equal(ckpt_weibull(&ok, 0, 1, &r, NULL), GT_ERANGE);
    assert_int_equal(ckpt_weibull(&ok, 1, -1, &r, NULL), GT_ERANGE);
    assert_int_equal(ckpt_weibull(&ok, 1, 1e-6, &r, NULL), GT_ERANGE);
    assert_int_equal(ckpt_bucket_lambda(1, 720, &x, NULL), GT_ERANGE);
    assert_int_equal(ckpt_bucket_lambda(0.5, 0, &x, NULL), GT_ERANGE);
    assert_int_equal(ckpt_notice_fits(1, 1, 1, 1e6, &r, NULL), GT_ERANGE);
    assert_int_equal(ckpt_simulate(&ok, 5, 1, 0, &q, NULL), GT_ERANGE);
    j = ok;
    j.lambda_per_h = 30; /* 10^13 interruptions a run would never return */
    assert_int_equal(ckpt_simulate(&j, 5, 1, 1000, &q, NULL), GT_ELIMIT);
    j.tau_h = 1e-5;
    assert_int_equal(ckpt_weibull(&j, 1, 1, &r, NULL), GT_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_closed_forms),   cmocka_unit_test(interval_is_optimal),
        cmocka_unit_test(weibull_of_shape_one), cmocka_unit_test(simulation_meets_expectation),
        cmocka_unit_test(no_failures_share),    cmocka_unit_test(same_seed_same_answer),
        cmocka_unit_test(quantiles_of_lists),   cmocka_unit_test(best_interval),
        cmocka_unit_test(whole_segments),       cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("spot_checkpoint", tests, NULL, NULL);
}
