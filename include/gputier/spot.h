/* Interruption: checkpoint intervals, exact expectations, policies on traces, simulation.
 * Normative rules: shared/docs/spot-policies.md and checkpoint-model.md. Hours where _h. */
#ifndef GPUTIER_SPOT_H
#define GPUTIER_SPOT_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include "gputier/team.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckpt_interval {
    double young_h, daly_first_h, daly_h, exact_h;
};
int ckpt_interval(double delta_h, double mtbf_h, struct ckpt_interval *out,
                  struct gt_error *err) GT_CHECK;

/* Expected run with checkpoints, exponential interruptions (kind makespan_B: an interruption during
 * the restart starts it anew; makespan_A: restarts are safe). */
struct ckpt_job {
    double work_h, tau_h, delta_h, restart_h, wait_h, lambda_per_h;
    bool cold_start, restart_interruptible;
};
struct ckpt_result {
    double makespan_h, interruptions, billed_h, writes;
};
int ckpt_expected(const struct ckpt_job *job, struct ckpt_result *out,
                  struct gt_error *err) GT_CHECK;
/* tau that minimises the expected makespan for this job (whole number of segments); a write that
 * stalls nothing could be made ever more often: then one second, the least interval considered. */
int ckpt_best_tau(const struct ckpt_job *job, double *tau_h, struct gt_error *err) GT_CHECK;

/* The same with Weibull lives, S(x) = exp(-(x/scale)^shape), age 0 at every launch; lambda_per_h
 * and restart_interruptible are not read (restarts count into the life). O(segments^2). */
int ckpt_weibull(const struct ckpt_job *job, double shape, double scale_h, struct ckpt_result *out,
                 struct gt_error *err) GT_CHECK;
/* Every interruption saves the state within its notice, nothing periodic is written. */
int ckpt_notice_fits(double work_h, double restart_h, double wait_h, double lambda_per_h,
                     struct ckpt_result *out, struct gt_error *err) GT_CHECK;
/* Rate per hour of a chance p (0 <= p < 1) to be interrupted within `hours`. */
int ckpt_bucket_lambda(double p, double hours, double *lambda_per_h, struct gt_error *err) GT_CHECK;

/* Monte Carlo of ckpt_job: quantiles of makespan and billed time; trajectories are split into fixed
 * blocks with their own stream, so the result depends on (job, seed, runs) alone. */
struct ckpt_quantiles {
    double mean_h, p5_h, p50_h, p95_h, billed_mean_h, billed_p5_h, billed_p50_h, billed_p95_h;
    double p_deadline, p_lo, p_hi; /* share of runs within deadline_h, 95 % Wilson interval */
};
int ckpt_simulate(const struct ckpt_job *job, double deadline_h, uint64_t seed, uint32_t runs,
                  struct ckpt_quantiles *out, struct gt_error *err) GT_CHECK;
/* The same by a team; the same result. */
int ckpt_simulate_by(const struct team *team, const struct ckpt_job *job, double deadline_h,
                     uint64_t seed, uint32_t runs, struct ckpt_quantiles *out,
                     struct gt_error *err) GT_CHECK;
/* The sampler below it: makespan_h[runs] and, if not NULL, billed_h[runs], in order of the runs.
 * shape 0: exponential with job->lambda_per_h; else Weibull (restarts interruptible). */
int ckpt_sample(const struct ckpt_job *job, double shape, double scale_h, uint64_t seed,
                uint32_t runs, double *makespan_h, double *billed_h, struct gt_error *err) GT_CHECK;
/* Mean and variance of parts of such a job (cold start and restarts at risk), which are independent
 * of one another: a launch until its set-up is done, one segment of `hours` from a running machine.
 * Their sums are near to normal when they hold many interruptions. */
#define CKPT_MANY 1000.0 /* interruptions from which on sums are taken as normal */
struct ckpt_span {
    double mean_h, var_h2, billed_mean_h, billed_var_h2, interruptions;
};
void ckpt_launch_moments(const struct ckpt_job *job, struct ckpt_span *out);
void ckpt_segment_moments(const struct ckpt_job *job, double hours, struct ckpt_span *out);
void ckpt_span_add(struct ckpt_span *to, double times, const struct ckpt_span *s);
/* q-quantile (0..1) of v[n], the value of rank floor(q n); reorders v. NAN if n is 0. */
double ckpt_quantile(double *v, size_t n, double q);

#define SPOT_MAX_ZONES 64
#define SPOT_MAX_TICKS 10000000
struct spot_trace {
    int64_t gap_s;
    size_t n;
    const int32_t *count;
    int64_t unknown; /* samples that nobody took and that count as unavailable, as the file says */
};                   /* expanded series */
int spot_trace_parse(const char *text, size_t len, const char *file, struct arena *a,
                     struct spot_trace *out, struct gt_error *err) GT_CHECK;

struct spot_case {
    const char *policy; /* names of spot-policies.md section 4, and "optimal" */
    const struct spot_trace *traces;
    size_t n_traces;
    int64_t start_tick, work_s, deadline_s, restart_s, ckpt_s, nodes, n_slices, switch_milli;
    const double *p_spot;
    double p_od;
};
struct spot_replay {
    bool finished, deadline_met;
    double cost; /* NAN: no plan (optimal) */
    int64_t finish_s, spot_s, od_s, overhead_s, interruptions, launches;
    int64_t zone_s[SPOT_MAX_ZONES]; /* spot_s by zone: the bill can be recomputed exactly */
};
int spot_replay(const struct spot_case *c, struct spot_replay *out, struct gt_error *err) GT_CHECK;
/* out[n], one replay from each start_tick[n] (c->start_tick is not read), by a team (may be NULL):
 * the same as spot_replay of each; the error is that of the first that has one. */
int spot_replay_many(const struct team *team, const struct spot_case *c, const int64_t *start_tick,
                     size_t n, struct spot_replay *out, struct gt_error *err) GT_CHECK;
bool spot_policy_known(const char *name);
const char *spot_policy_name(size_t i); /* i-th name, NULL past the end */

#endif
