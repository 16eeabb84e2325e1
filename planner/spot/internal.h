/* Shared inside planner/spot. */
#ifndef GPUTIER_SPOT_INTERNAL_H
#define GPUTIER_SPOT_INTERNAL_H
#include "gputier/spot.h"

/* The omniscient bound of spot-policies.md section 4; the case has been validated. */
int spot_optimal(const struct spot_case *c, struct spot_replay *out, struct gt_error *err) GT_CHECK;

/* Segments of a job: n - 1 of tau + delta, the last without a write. */
struct ckpt_segments {
    double n, full_h, last_h;
};
/* Validates the job and divides its work; a quotient within 1e-9 of an integer is that integer. */
int ckpt_segments(const struct ckpt_job *job, struct ckpt_segments *out,
                  struct gt_error *err) GT_CHECK;
/* Lower incomplete gamma function; a > 0, x >= 0. */
double ckpt_gamma_lower(double a, double x);

#endif
