/* Expected makespan, interruptions and billed time under exponential interruptions, exact for a
 * finite job (checkpoint-model.md, kinds makespan_A, makespan_B, notice_fits, bucket_lambda). */
#include "internal.h"
#include <math.h>

static int check(const char *name, double v, bool zero_allowed, struct gt_error *err)
{
    if (!isfinite(v) || v < 0 || (v == 0 && !zero_allowed)) {
        return gt_fail(err, GT_ERANGE, name, "%g is not a finite number %s 0", v,
                       zero_allowed ? "from" : "above");
    }
    return 0;
}

int ckpt_segments(const struct ckpt_job *job, struct ckpt_segments *out, struct gt_error *err)
{
    int rc = check("work_h", job->work_h, false, err);
    rc = rc ? rc : check("tau_h", job->tau_h, false, err);
    rc = rc ? rc : check("delta_h", job->delta_h, true, err);
    rc = rc ? rc : check("restart_h", job->restart_h, true, err);
    rc = rc ? rc : check("wait_h", job->wait_h, true, err);
    if (rc) {
        return rc;
    }
    double quotient = job->work_h / job->tau_h, whole = nearbyint(quotient);
    out->n = fabs(quotient - whole) <= 1e-9 ? whole : ceil(quotient);
    out->n = out->n < 1 ? 1 : out->n;
    if (!(out->n < 1e12)) {
        return gt_fail(err, GT_ERANGE, "tau_h", "%g h divides %g h of work into too many segments",
                       job->tau_h, job->work_h);
    }
    out->full_h = job->tau_h + job->delta_h;
    out->last_h = job->work_h - (out->n - 1) * job->tau_h;
    return 0;
}

static int never(const struct ckpt_job *job, struct gt_error *err)
{
    return gt_fail(err, GT_ERANGE, "lambda_per_h",
                   "at %g interruptions per hour a segment of %g h is never finished; write "
                   "checkpoints more often",
                   job->lambda_per_h, job->tau_h + job->delta_h);
}

int ckpt_expected(const struct ckpt_job *job, struct ckpt_result *out, struct gt_error *err)
{
    struct ckpt_segments s;
    int rc = ckpt_segments(job, &s, err);
    rc = rc ? rc : check("lambda_per_h", job->lambda_per_h, true, err);
    if (rc) {
        return rc;
    }
    double lambda = job->lambda_per_h, restart = job->restart_h;
    double cold = job->cold_start ? restart : 0;
    if (lambda == 0) {
        double h = cold + job->work_h + (s.n - 1) * job->delta_h;
        *out = (struct ckpt_result){.makespan_h = h, .billed_h = h, .writes = s.n - 1};
        return 0;
    }
    double failures = (s.n - 1) * expm1(lambda * s.full_h) + expm1(lambda * s.last_h);
    if (job->restart_interruptible) {
        failures *= exp(lambda * restart);
        failures += expm1(lambda * cold);
        out->billed_h = failures / lambda;
    } else {
        out->billed_h = failures * (1 / lambda + restart) + cold;
    }
    out->interruptions = failures;
    out->makespan_h = out->billed_h + failures * job->wait_h;
    out->writes = s.n - 1;
    return isfinite(out->makespan_h) ? 0 : never(job, err);
}

/* Expected failures with n segments, up to factors that do not depend on n. */
static double failures_with(const struct ckpt_job *job, double n)
{
    double piece = job->work_h / n, lambda = job->lambda_per_h;
    return (n - 1) * expm1(lambda * (piece + job->delta_h)) + expm1(lambda * piece);
}

/* As a function of n the failures are concave first, then convex, so the optimum is n = 1 or the
 * bottom of the convex part, which a descent from the asymptotic optimum finds. */
int ckpt_best_tau(const struct ckpt_job *job, double *tau_h, struct gt_error *err)
{
    struct ckpt_job one = *job;
    struct ckpt_interval asymptotic;
    struct ckpt_segments s;
    one.tau_h = job->work_h;
    int rc = ckpt_segments(&one, &s, err);
    rc = rc ? rc : check("lambda_per_h", job->lambda_per_h, true, err);
    if (rc) {
        return rc;
    }
    double most = floor(job->work_h * 3600); /* one second */
    if (job->lambda_per_h == 0 || most < 2) {
        *tau_h = job->work_h;
        return 0;
    }
    rc = ckpt_interval(job->delta_h, 1 / job->lambda_per_h, &asymptotic, err);
    if (rc) {
        return rc;
    }
    double n = asymptotic.exact_h > 0 ? nearbyint(job->work_h / asymptotic.exact_h) : most;
    n = n < 1 ? 1 : n > most ? most : n;
    double best = failures_with(job, n);
    for (double step = fmax(1, floor(n / 4)); step >= 1;) {
        double down = n - step >= 1 ? failures_with(job, n - step) : HUGE_VAL;
        double above = n + step <= most ? failures_with(job, n + step) : HUGE_VAL;
        if (down < best || above < best) {
            n = down <= above ? n - step : n + step;
            best = fmin(down, above);
        } else {
            step = floor(step / 2);
        }
    }
    if (failures_with(job, 1) <= best) {
        n = 1;
    }
    *tau_h = job->work_h / n;
    return 0;
}

int ckpt_notice_fits(double work_h, double restart_h, double wait_h, double lambda_per_h,
                     struct ckpt_result *out, struct gt_error *err)
{
    int rc = check("work_h", work_h, false, err);
    rc = rc ? rc : check("restart_h", restart_h, true, err);
    rc = rc ? rc : check("wait_h", wait_h, true, err);
    rc = rc ? rc : check("lambda_per_h", lambda_per_h, true, err);
    if (rc) {
        return rc;
    }
    double billed = work_h * exp(lambda_per_h * restart_h);
    *out = (struct ckpt_result){.makespan_h = billed * (1 + lambda_per_h * wait_h),
                                .interruptions = billed * lambda_per_h,
                                .billed_h = billed,
                                .writes = billed * lambda_per_h};
    if (!isfinite(out->makespan_h)) {
        return gt_fail(err, GT_ERANGE, "lambda_per_h",
                       "at %g interruptions per hour a restart of %g h is never finished",
                       lambda_per_h, restart_h);
    }
    return 0;
}

int ckpt_bucket_lambda(double p, double hours, double *lambda_per_h, struct gt_error *err)
{
    if (!(p >= 0 && p < 1)) {
        return gt_fail(err, GT_ERANGE, "p_month", "%g is not a chance from 0 to below 1", p);
    }
    int rc = check("hours", hours, false, err);
    if (!rc) {
        *lambda_per_h = -log1p(-p) / hours;
    }
    return rc;
}
