/* Runs of very many interruptions are not walked event by event: their parts' means and variances
 * against the exact expectation and against walked samples, the safety net against one that is
 * walked, a plan's quantiles against the sampler; and what no plan is made for. */
#include "../../planner/search/search.h"
#include "gputier/rng.h"
#include "support/tiny_tables.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>

static struct ckpt_job job_of(struct rng *r)
{
    return (struct ckpt_job){.work_h = 40 + 60 * rng_unit(r),
                             .tau_h = 0.1 + 3 * rng_unit(r),
                             .delta_h = 0.2 * rng_unit(r),
                             .restart_h = 0.5 * rng_unit(r),
                             .wait_h = rng_unit(r),
                             .lambda_per_h = pow(10, -5 + 5 * rng_unit(r)),
                             .cold_start = true,
                             .restart_interruptible = true};
}

static double variance(const double *v, size_t n, double *mean)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        square += (v[i] - sum) * (v[i] - sum) / (double)(n - 1);
    }
    *mean = sum;
    return square;
}

/* Standard error of a sample's variance, from its fourth moment. */
static double variance_error(const double *v, size_t n, double mean, double var)
{
    double fourth = 0;
    for (size_t i = 0; i < n; i++) {
        fourth += pow(v[i] - mean, 4) / (double)n;
    }
    return sqrt(fabs(fourth - var * var) / (double)n);
}

static void parts_add_up(void **state)
{
    (void)state;
    enum { RUNS = 20000 };
    static double t[RUNS], billed[RUNS];
    struct rng r;
    rng_init(&r, 11, 0);
    for (uint64_t i = 0; i < 40; i++) {
        struct ckpt_job j = job_of(&r);
        struct ckpt_result want;
        struct ckpt_span sum, part;
        double n = ceil(j.work_h / j.tau_h), mean;
        assert_int_equal(ckpt_expected(&j, &want, NULL), 0);
        ckpt_launch_moments(&j, &sum);
        ckpt_segment_moments(&j, j.tau_h + j.delta_h, &part);
        ckpt_span_add(&sum, n - 1, &part);
        ckpt_segment_moments(&j, j.work_h - (n - 1) * j.tau_h, &part);
        ckpt_span_add(&sum, 1, &part);
        assert_true(fabs(sum.mean_h - want.makespan_h) < 1e-8 * want.makespan_h);
        assert_true(fabs(sum.billed_mean_h - want.billed_h) < 1e-8 * want.billed_h);
        assert_true(fabs(sum.interruptions - want.interruptions) < 1e-9 * want.interruptions);
        if (want.interruptions < 0.05 || want.interruptions > 300) {
            continue; /* too few to see a variance, or long to walk */
        }
        assert_int_equal(ckpt_sample(&j, 0, 0, i, RUNS, t, billed, NULL), 0);
        double var = variance(t, RUNS, &mean), error = variance_error(t, RUNS, mean, var);
        assert_true(fabs(var - sum.var_h2) < 5 * error);
        var = variance(billed, RUNS, &mean);
        error = variance_error(billed, RUNS, mean, var);
        assert_true(fabs(var - sum.billed_var_h2) < 5 * error);
    }
}

/* The same policy, launch by launch. */
static void walk_net(const struct ckpt_job *j, double deadline, struct rng *rng,
                     struct mixed_run *out)
{
    double s = j->tau_h + j->delta_h, n = ceil(j->work_h / j->tau_h - 1e-9), d = j->restart_h;
    double rest = (n - 1) * s + j->work_h - (n - 1) * j->tau_h, new = d;
    double last = rest - (n - 1) * s;
    *out = (struct mixed_run){0};
    for (;; new = 0) {
        if (deadline - out->t - d - rest < d + s + j->wait_h) {
            out->t += d + rest;
            out->demand_useful += new + rest;
            out->demand_waste += d - new;
            return;
        }
        double up = rng_exponential(rng, j->lambda_per_h);
        double end = fmin(up, d + rest), kept = rest;
        if (up < d + rest) {
            kept = up < d ? 0 : fmin(floor((up - d) / s), (rest - last) / s + 1e-6);
            kept = floor(kept) * s;
        }
        out->t += end;
        rest -= kept;
        out->spot_useful += fmin(end, new) + kept;
        out->spot_waste += end - fmin(end, new) - kept;
        if (up >= d + rest + kept) {
            return;
        }
        out->t += j->wait_h;
        out->interruptions++;
    }
}

static double quantile_of(double *v, size_t n, double p)
{
    return ckpt_quantile(v, n, p);
}

static void net_leaps_as_it_walks(void **state)
{
    (void)state;
    enum { RUNS = 1500 };
    /* expected 3.9 h of each 3.4 h; time for all, nearly all, half, a little of it on spot */
    static const double deadlines[] = {1e6, 7800, 7100, 6650, 6450};
    const struct ckpt_job j = {.work_h = 6000,
                               .tau_h = 2.5,
                               .delta_h = 0.1,
                               .restart_h = 0.15,
                               .wait_h = 0.1,
                               .lambda_per_h = 0.25,
                               .cold_start = true,
                               .restart_interruptible = true};
    static double value[2][6][RUNS];
    size_t shared = 0;
    for (size_t k = 0; k < sizeof deadlines / sizeof deadlines[0]; k++) {
        for (int leaps = 0; leaps < 2; leaps++) {
            for (uint64_t i = 0; i < RUNS; i++) {
                struct rng rng;
                struct mixed_run m;
                rng_init(&rng, 40 + (uint64_t)leaps, i);
                if (leaps != 0) {
                    mixed_once(&j, j.work_h, deadlines[k], &rng, &m);
                } else {
                    walk_net(&j, deadlines[k], &rng, &m);
                }
                assert_true(m.t <= deadlines[k] + 1e-6);
                const double v[6] = {m.t,
                                     m.spot_useful,
                                     m.spot_waste,
                                     m.demand_useful,
                                     m.demand_waste,
                                     m.interruptions};
                for (int f = 0; f < 6; f++) {
                    value[leaps][f][i] = v[f];
                }
                shared += leaps != 0 && m.spot_useful > 100 && m.demand_useful > 100;
            }
        }
        for (int f = 0; f < 6; f++) {
            double mean[2], var[2];
            for (int leaps = 0; leaps < 2; leaps++) {
                var[leaps] = variance(value[leaps][f], RUNS, &mean[leaps]);
            }
            double error = sqrt((var[0] + var[1]) / RUNS) + 1e-6 * fabs(mean[0]);
            if (!(fabs(mean[0] - mean[1]) <= 4.5 * error)) {
                fail_msg("deadline %g, figure %d: %g walked, %g in leaps, error %g", deadlines[k],
                         f, mean[0], mean[1], error);
            }
            for (double p = 0.05; f < 5 && p < 1; p += 0.45) {
                double a = quantile_of(value[0][f], RUNS, p), b = quantile_of(value[1][f], RUNS, p);
                /* waits are drawn as if they were as long as the rest is: 0.2 % for that */
                double sd = sqrt(var[0]);
                if (!(fabs(a - b) <= 0.25 * sd + 0.002 * fabs(mean[0]))) {
                    fail_msg("deadline %g, figure %d, quantile %g: %g walked, %g in leaps, sd %g",
                             deadlines[k], f, p, a, b, sd);
                }
            }
        }
    }
    assert_true(shared > RUNS);
}

static struct catalog *spot_only(void)
{
    struct catalog *c = tiny_new(gpus, 1, models, 1);
    const struct tiny_offer o = {.vendor = "aws",
                                 .region = "r",
                                 .type = "m",
                                 .gpu = "A100-80GB SXM4",
                                 .purchase = PURCHASE_SPOT,
                                 .price = "1"};
    tiny_offers(c, &o, 1);
    return c;
}

static int plan_of(const struct catalog *c, const char *hours, struct plan_set **set,
                   struct gt_error *err)
{
    char text[300];
    struct scenario *s = NULL;
    struct plan_options o = {.top = 1, .seed = 3, .runs = 20000, .now = NOW, .currency = "USD"};
    *set = NULL;
    snprintf(text, sizeof text,
             "workload: {gpu_hours: {gpu: A100-80GB SXM4, hours: %s}, setup: 12min, checkpoint: "
             "{size: 20GB, every: 2h}}\nspot: {interruption: 0.1}\nstart_wait: {spot: 6min}\n"
             "constraints: {gpus: {count: 1}}\n",
             hours);
    if (scenario_parse(text, strlen(text), "t", NULL, 0, NOW, 0, &s, err) != 0) {
        fail_msg("%s: %s", err->where, err->text);
    }
    int rc = plan_search(s, c, &o, set, err);
    scenario_free(s);
    return rc;
}

/* A run with 1,100 interruptions: what the plan says of its time against walked runs of its job. */
static void quantiles_as_sampled(void **state)
{
    (void)state;
    enum { RUNS = 20000 };
    static double t[RUNS];
    struct catalog *c = spot_only();
    struct gt_error err = {0};
    struct plan_set *set;
    assert_int_equal(plan_of(c, "10000", &set, &err), 0);
    const struct plan *p = &set->plan[0];
    struct ckpt_job j = {.work_h = 10000,
                         .tau_h = 2,
                         .restart_h = 0.2,
                         .wait_h = 0.1,
                         .lambda_per_h = 0.1,
                         .cold_start = true,
                         .restart_interruptible = true};
    /* how long a write stalls is the planner's own figure: the one that gives its mean */
    double lo = 0, hi = 0.5, mean;
    for (int i = 0; i < 60; i++) {
        struct ckpt_result r;
        j.delta_h = (lo + hi) / 2;
        assert_int_equal(ckpt_expected(&j, &r, NULL), 0);
        double of_plan = p->makespan_mean_s / 3600;
        *(r.makespan_h + j.wait_h < of_plan ? &lo : &hi) = j.delta_h;
    }
    assert_true(j.delta_h > 0.001 && j.delta_h < 0.1);
    assert_int_equal(ckpt_sample(&j, 0, 0, 77, RUNS, t, NULL, NULL), 0);
    double sd = sqrt(variance(t, RUNS, &mean)), first = j.wait_h;
    const double told[3] = {p->makespan_p5_s / 3600, p->makespan_p50_s / 3600,
                            p->makespan_p95_s / 3600};
    for (int i = 0; i < 3; i++) {
        double want = first + quantile_of(t, RUNS, 0.05 + 0.45 * i);
        if (!(fabs(told[i] - want) < 0.06 * sd)) {
            fail_msg("quantile %d: %g h told, %g h sampled, deviation %g h", i, told[i], want, sd);
        }
    }
    assert_true(told[2] - told[0] > 3 * sd && told[2] - told[0] < 3.6 * sd);
    plan_set_free(set);
    catalog_free(c);
}

/* More than ten years: what binds, and an amount of work that there is a plan for. */
static void too_much_work(void **state)
{
    (void)state;
    struct catalog *c = spot_only();
    static const char *const hours[] = {"90000", "1000000"};
    for (size_t i = 0; i < sizeof hours / sizeof hours[0]; i++) {
        struct gt_error err = {0};
        struct plan_set *set;
        assert_int_equal(plan_of(c, hours[i], &set, &err), GT_EINFEASIBLE);
        plan_set_free(set);
        const char *nearest = strstr(err.text, "nearest: workload.gpu_hours.hours ");
        assert_true(strstr(err.text, "the amount of work binds") != NULL && nearest != NULL);
        const char *less = strrchr(nearest, ' ') + 1;
        assert_true(strtod(less, NULL) > 60000 && strtod(less, NULL) < 87600);
        if (plan_of(c, less, &set, &err) != 0) {
            fail_msg("%s: %s", less, err.text);
        }
        plan_set_free(set);
    }
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(net_leaps_as_it_walks),
        cmocka_unit_test(quantiles_as_sampled),
        cmocka_unit_test(too_much_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
