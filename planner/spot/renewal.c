/* Expected makespan under Weibull lives by the renewal recursion of checkpoint-model.md, kind
 * makespan_weibull, and the lower incomplete gamma function that its integral needs (series for
 * x < a + 1, Lentz's continued fraction beyond: Abramowitz and Stegun 6.5.29, 6.5.31). */
#include "internal.h"
#include <math.h>
#include <stdlib.h>

#define MAX_SEGMENTS 20000 /* the recursion is quadratic */

static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int k = 1; k < 10000 && term > sum * 1e-17; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return exp(-x + a * log(x)) * sum;
}

static double gamma_upper_fraction(double a, double x)
{
    const double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + an / c;
        c = fabs(c) < tiny ? tiny : c;
        double delta = d * c;
        h *= delta;
        if (fabs(delta - 1) < 1e-16) {
            break;
        }
    }
    return exp(-x + a * log(x)) * h;
}

double ckpt_gamma_lower(double a, double x)
{
    if (x <= 0) {
        return 0;
    }
    return x < a + 1 ? gamma_series(a, x) : tgamma(a) - gamma_upper_fraction(a, x);
}

struct renewal {
    const struct ckpt_job *job;
    struct ckpt_segments seg;
    double shape, scale;
    size_t n;
    double *time, *count; /* V_i, U_i for i = 0..n */
    double *survive;      /* S(d + j s), j = 1..n-1 */
};

static double hazard(const struct renewal *r, double x)
{
    return pow(x / r->scale, r->shape);
}

static double survival(const struct renewal *r, double x)
{
    return exp(-hazard(r, x));
}

static double survival_integral(const struct renewal *r, double upto)
{
    return r->scale / r->shape * ckpt_gamma_lower(1 / r->shape, hazard(r, upto));
}

/* Time and interruptions of an attempt that starts with i segments saved and lead hours of
 * restart, but for what follows when nothing more is saved (chance 1 - S(a_1)). */
static void attempt(const struct renewal *r, size_t i, double lead, double *time, double *count)
{
    const struct ckpt_job *job = r->job;
    size_t m = r->n - i;
    double end = lead + (job->work_h - (double)i * job->tau_h) + (double)(m - 1) * job->delta_h;
    double wait = job->wait_h, last = survival(r, end);
    double lost = -expm1(-hazard(r, m > 1 ? lead + r->seg.full_h : end));
    *time = survival_integral(r, end) + lost * wait;
    *count = lost;
    for (size_t j = 1; j < m; j++) {
        double p = r->survive[j] - (j + 1 < m ? r->survive[j + 1] : last);
        *time += p * (wait + r->time[i + j]);
        *count += p * (1 + r->count[i + j]);
    }
}

static void fill_survival(struct renewal *r, double lead)
{
    for (size_t j = 1; j < r->n; j++) {
        r->survive[j] = survival(r, lead + (double)j * r->seg.full_h);
    }
}

static void solve(struct renewal *r, struct ckpt_result *out)
{
    double restart = r->job->restart_h, time, count;
    r->time[r->n] = r->count[r->n] = 0;
    fill_survival(r, restart);
    double first = survival(r, restart + r->seg.full_h);
    for (size_t i = r->n; i-- > 0;) {
        bool final = i + 1 == r->n;
        double kept = final ? survival(r, restart + r->seg.last_h) : first;
        attempt(r, i, restart, &time, &count);
        r->time[i] = time / kept;
        r->count[i] = count / kept;
    }
    out->makespan_h = r->time[0];
    out->interruptions = r->count[0];
    if (!r->job->cold_start) {
        /* the first node is up: a life without the restart, then state 0 as before */
        double need = r->n > 1 ? r->seg.full_h : r->seg.last_h;
        double lost = -expm1(-hazard(r, need));
        fill_survival(r, 0);
        attempt(r, 0, 0, &time, &count);
        out->makespan_h = time + lost * r->time[0];
        out->interruptions = count + lost * r->count[0];
    }
    out->billed_h = out->makespan_h - out->interruptions * r->job->wait_h;
    out->writes = (double)(r->n - 1);
}

int ckpt_weibull(const struct ckpt_job *job, double shape, double scale_h, struct ckpt_result *out,
                 struct gt_error *err)
{
    struct renewal r = {.job = job, .shape = shape, .scale = scale_h};
    int rc = ckpt_segments(job, &r.seg, err);
    if (rc) {
        return rc;
    }
    if (!(shape >= 0.05 && shape <= 100)) {
        return gt_fail(err, GT_ERANGE, "shape", "%g is not from 0.05 to 100", shape);
    }
    if (!(scale_h > 0) || !isfinite(scale_h)) {
        return gt_fail(err, GT_ERANGE, "scale_h", "%g is not a number of hours above 0", scale_h);
    }
    if (r.seg.n > MAX_SEGMENTS) {
        return gt_fail(err, GT_ELIMIT, "tau_h", "%.0f segments, at most %d are computed", r.seg.n,
                       MAX_SEGMENTS);
    }
    r.n = (size_t)r.seg.n;
    double *memory = malloc(3 * (r.n + 1) * sizeof *memory);
    if (!memory) {
        return gt_fail(err, GT_ENOMEM, "tau_h", "out of memory for %zu segments", r.n);
    }
    r.time = memory;
    r.count = memory + r.n + 1;
    r.survive = memory + 2 * (r.n + 1);
    solve(&r, out);
    free(memory);
    if (!isfinite(out->makespan_h)) {
        return gt_fail(err, GT_ERANGE, "scale_h",
                       "lives of scale %g h never last for a segment of %g h and its restart",
                       scale_h, r.seg.full_h);
    }
    return 0;
}
