/* Monte Carlo of a job with checkpoints, event by event (checkpoint-model.md, kind quantiles_mc):
 * draw the life of the node; if it covers what is still needed the job ends there, else the run
 * pays life + wait and keeps the segments that were written. Runs are divided into fixed blocks,
 * each with its own random stream, so that the result does not depend on who computes which. */
#include "exponential.h"
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK    4096U
#define MAX_RUNS 50000000U
/* More interruptions than this in all runs together would take minutes. */
#define MAX_EVENTS 2e10

struct sampler {
    struct expo expo;
    double need0_h;            /* work and writes after a launch with nothing saved */
    double full_h, per_full;   /* segment and its inverse */
    double most_saved;         /* n - 1 */
    double restart_h, first_h; /* lead of a launch, of the first one */
    double wait_h, scale_h, power;
    bool restart_at_risk;
};

/* One trajectory of exponential lives. */
static inline void run_exponential(const struct sampler *s, struct rng *r, double *billed,
                                   double *interruptions)
{
    double time = 0, failures = 0, saved = 0, lead = s->first_h;
    for (;;) {
        double life = s->scale_h * expo_draw(&s->expo, r);
        double risky = s->restart_at_risk ? lead : 0;
        double need = risky + s->need0_h - saved * s->full_h;
        time += lead - risky;
        if (life >= need) {
            *billed = time + need;
            *interruptions = failures;
            return;
        }
        time += life;
        failures += 1;
        if (life > risky) {
            saved += (double)(int64_t)((life - risky) * s->per_full);
            saved = saved > s->most_saved ? s->most_saved : saved;
        }
        lead = s->restart_h;
    }
}

static void run_weibull(const struct sampler *s, struct rng *r, double *billed,
                        double *interruptions)
{
    double time = 0, failures = 0, saved = 0, lead = s->first_h;
    for (;;) {
        double life = s->scale_h * pow(expo_draw(&s->expo, r), s->power);
        double need = lead + s->need0_h - saved * s->full_h;
        if (life >= need) {
            *billed = time + need;
            *interruptions = failures;
            return;
        }
        time += life;
        failures += 1;
        if (life > lead) {
            saved += (double)(int64_t)((life - lead) * s->per_full);
            saved = saved > s->most_saved ? s->most_saved : saved;
        }
        lead = s->restart_h;
    }
}

static int sampler_init(struct sampler *s, const struct ckpt_job *job, double shape, double scale_h,
                        uint32_t runs, struct gt_error *err)
{
    struct ckpt_segments seg;
    struct ckpt_result expected;
    int rc = ckpt_segments(job, &seg, err);
    if (rc) {
        return rc;
    }
    if (runs < 1 || runs > MAX_RUNS) {
        return gt_fail(err, GT_ERANGE, "runs", "%u is not from 1 to %u", runs, MAX_RUNS);
    }
    rc = shape != 0 ? ckpt_weibull(job, shape, scale_h, &expected, err)
                    : ckpt_expected(job, &expected, err);
    if (rc) {
        return rc;
    }
    if (expected.interruptions * runs > MAX_EVENTS) {
        return gt_fail(err, GT_ELIMIT, "runs",
                       "%g interruptions are expected in each of %u runs; write checkpoints more "
                       "often or ask for fewer runs",
                       expected.interruptions, runs);
    }
    expo_init(&s->expo);
    s->need0_h = job->work_h + (seg.n - 1) * job->delta_h;
    s->full_h = seg.full_h;
    s->per_full = 1 / seg.full_h;
    s->most_saved = seg.n - 1;
    s->restart_h = job->restart_h;
    s->first_h = job->cold_start ? job->restart_h : 0;
    s->wait_h = job->wait_h;
    s->restart_at_risk = job->restart_interruptible;
    s->power = shape != 0 ? 1 / shape : 1;
    s->scale_h = shape != 0 ? scale_h : job->lambda_per_h > 0 ? 1 / job->lambda_per_h : HUGE_VAL;
    return 0;
}

struct sampling {
    struct sampler s;
    bool weibull;
    uint64_t seed;
    uint32_t runs;
    double *makespan_h, *billed_h;
};

static void sample_block(void *ctx, size_t block)
{
    const struct sampling *a = ctx;
    uint32_t start = (uint32_t)block * BLOCK;
    uint32_t stop = a->runs - start < BLOCK ? a->runs : start + BLOCK;
    struct rng r;
    rng_init(&r, a->seed, block);
    for (uint32_t i = start; i < stop; i++) {
        double billed, interruptions;
        if (a->weibull) {
            run_weibull(&a->s, &r, &billed, &interruptions);
        } else {
            run_exponential(&a->s, &r, &billed, &interruptions);
        }
        a->makespan_h[i] = billed + interruptions * a->s.wait_h;
        if (a->billed_h) {
            a->billed_h[i] = billed;
        }
    }
}

static int sample_by(const struct team *team, const struct ckpt_job *job, double shape,
                     double scale_h, uint64_t seed, uint32_t runs, double *makespan_h,
                     double *billed_h, struct gt_error *err)
{
    struct sampling a = {.weibull = shape != 0,
                         .seed = seed,
                         .runs = runs,
                         .makespan_h = makespan_h,
                         .billed_h = billed_h};
    int rc = sampler_init(&a.s, job, shape, scale_h, runs, err);
    if (!rc) {
        team_each(team, (runs + BLOCK - 1) / BLOCK, sample_block, &a);
    }
    return rc;
}

int ckpt_sample(const struct ckpt_job *job, double shape, double scale_h, uint64_t seed,
                uint32_t runs, double *makespan_h, double *billed_h, struct gt_error *err)
{
    return sample_by(NULL, job, shape, scale_h, seed, runs, makespan_h, billed_h, err);
}

/* Hoare's selection: afterwards v[k] is the value of rank k, none before it larger and none after
 * it smaller. */
static void select_rank(double *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi];
        double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t i = lo, j = hi;
        for (;;) {
            while (v[i] < pivot) {
                i++;
            }
            while (pivot < v[j]) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        /* v[lo..j] <= pivot <= v[j+1..hi] */
        if (k <= j) {
            hi = j;
        } else {
            lo = j + 1;
        }
    }
}

static size_t rank_of(size_t n, double q)
{
    double rank = floor(q * (double)n);
    return rank < 0 ? 0 : rank >= (double)n ? n - 1 : (size_t)rank;
}

double ckpt_quantile(double *v, size_t n, double q)
{
    if (!n) {
        return nan("");
    }
    size_t k = rank_of(n, q);
    select_rank(v, n, k);
    return v[k];
}

/* Mean, then p5, p50, p95: the outer two are looked for in one half each. */
static void describe(double *v, size_t n, double *mean, double *p5, double *p50, double *p95)
{
    size_t low = rank_of(n, 0.05), middle = rank_of(n, 0.5), high = rank_of(n, 0.95);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
    }
    *mean = sum / (double)n;
    select_rank(v, n, middle);
    *p50 = v[middle];
    select_rank(v, middle + 1, low);
    *p5 = v[low];
    select_rank(v + middle, n - middle, high - middle);
    *p95 = v[high];
}

/* 95 % Wilson score interval of k successes in n. */
static void wilson(double k, double n, double *lo, double *hi)
{
    const double z = 1.959963984540054;
    double p = k / n, z2 = z * z, denominator = 1 + z2 / n;
    double centre = (p + z2 / (2 * n)) / denominator;
    double half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / denominator;
    *lo = k == 0 ? 0 : fmax(0, centre - half);
    *hi = k == n ? 1 : fmin(1, centre + half);
}

int ckpt_simulate(const struct ckpt_job *job, double deadline_h, uint64_t seed, uint32_t runs,
                  struct ckpt_quantiles *out, struct gt_error *err)
{
    return ckpt_simulate_by(NULL, job, deadline_h, seed, runs, out, err);
}

int ckpt_simulate_by(const struct team *team, const struct ckpt_job *job, double deadline_h,
                     uint64_t seed, uint32_t runs, struct ckpt_quantiles *out, struct gt_error *err)
{
    size_t n = runs;
    if (runs < 1 || runs > MAX_RUNS) {
        return gt_fail(err, GT_ERANGE, "runs", "%u is not from 1 to %u", runs, MAX_RUNS);
    }
    bool waits = job->wait_h > 0; /* else what is billed is the makespan */
    double *makespan = malloc((waits ? 2 : 1) * n * sizeof *makespan);
    double *billed = waits && makespan ? makespan + n : NULL;
    if (!makespan) {
        return gt_fail(err, GT_ENOMEM, "runs", "out of memory for %u runs", runs);
    }
    int rc = sample_by(team, job, 0, 0, seed, runs, makespan, billed, err);
    if (!rc) {
        size_t within = 0;
        for (size_t i = 0; i < n; i++) {
            within += makespan[i] <= deadline_h;
        }
        out->p_deadline = (double)within / (double)n;
        wilson((double)within, (double)n, &out->p_lo, &out->p_hi);
        describe(makespan, n, &out->mean_h, &out->p5_h, &out->p50_h, &out->p95_h);
        if (billed) {
            describe(billed, n, &out->billed_mean_h, &out->billed_p5_h, &out->billed_p50_h,
                     &out->billed_p95_h);
        } else {
            out->billed_mean_h = out->mean_h;
            out->billed_p5_h = out->p5_h;
            out->billed_p50_h = out->p50_h;
            out->billed_p95_h = out->p95_h;
        }
    }
    free(makespan);
    return rc;
}
