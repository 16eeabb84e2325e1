/* Interruption: checkpoint intervals, exact expectations, policies on traces, simulation.
 * Normative rules: shared/docs/spot-policies.md and checkpoint-model.md. Hours where _h. */
#ifndef GPUTIER_SPOT_H
#define GPUTIER_SPOT_H
#include "gputier/arena.h"
#include "gputier/error.h"
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
/* tau that minimises the expected makespan for this job (whole number of segments). */
int ckpt_best_tau(const struct ckpt_job *job, double *tau_h, struct gt_error *err) GT_CHECK;

/* Monte Carlo of ckpt_job: quantiles of makespan and billed time; trajectories are split into fixed
 * blocks with their own stream, so the result depends on (job, seed, runs) alone. */
struct ckpt_quantiles {
    double mean_h, p5_h, p50_h, p95_h, billed_mean_h, billed_p5_h, billed_p50_h, billed_p95_h;
    double p_deadline, p_lo, p_hi; /* share of runs within deadline_h, 95 % Wilson interval */
};
int ckpt_simulate(const struct ckpt_job *job, double deadline_h, uint64_t seed, uint32_t runs,
                  struct ckpt_quantiles *out, struct gt_error *err) GT_CHECK;

struct spot_trace {
    int64_t gap_s;
    size_t n;
    const int32_t *count;
}; /* expanded series */
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
};
int spot_replay(const struct spot_case *c, struct spot_replay *out, struct gt_error *err) GT_CHECK;
bool spot_policy_known(const char *name);

#endif
