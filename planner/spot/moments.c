/* Mean and variance of the parts of a job under exponential interruptions, restarts at risk: the
 * set-up of a launch, and one segment of work. Parts are independent of one another, so a job of
 * very many interruptions is near to normal with the sum of both (central limit theorem), and its
 * trajectories need not be walked event by event. Derived from the process of checkpoint-model.md
 * (kind makespan_B): a try of `l` hours succeeds with chance e^(-lambda l),
 * else it costs a life that is known to end within l, and the wait. */
#include "internal.h"
#include <math.h>

struct moments {
    double mean, var;
};

/* A life that ends within l. Near to uniform where lambda l is small; the exact form cancels there.
 */
static struct moments short_life(double lambda, double l)
{
    double x = lambda * l;
    if (x < 1e-4) {
        return (struct moments){l / 2 * (1 - x / 6), l * l / 12};
    }
    double gone = -expm1(-x), kept = exp(-x);
    double mean = 1 / lambda - l * kept / gone;
    double square = 2 / (lambda * lambda) - kept / gone * (l * l + 2 * l / lambda);
    return (struct moments){mean, fmax(0, square - mean * mean)};
}

/* Tries of l hours from a launch until one is whole, the wait after each that is not. */
static struct moments until_whole(double lambda, double l, double wait)
{
    struct moments lost = short_life(lambda, l);
    double failures = expm1(lambda * l), each = lost.mean + wait;
    return (struct moments){l + failures * each,
                            failures * lost.var + failures * (1 + failures) * each * each};
}

static struct moments segment(double lambda, double s, double restart, double wait)
{
    double kept = exp(-lambda * s), fails = -expm1(-lambda * s);
    struct moments lost = short_life(lambda, s), again = until_whole(lambda, restart + s, wait);
    double if_lost = lost.mean + wait + again.mean, apart = if_lost - s;
    /* the mixture of "whole at once" and "lost first": variance within and between */
    return (struct moments){kept * s + fails * if_lost,
                            fails * (lost.var + again.var) + kept * fails * apart * apart};
}

void ckpt_segment_moments(const struct ckpt_job *job, double hours, struct ckpt_span *out)
{
    double lambda = job->lambda_per_h, restart = job->restart_h;
    struct moments all = segment(lambda, hours, restart, job->wait_h);
    struct moments billed = segment(lambda, hours, restart, 0);
    *out = (struct ckpt_span){.mean_h = all.mean,
                              .var_h2 = all.var,
                              .billed_mean_h = billed.mean,
                              .billed_var_h2 = billed.var,
                              .interruptions = exp(lambda * restart) * expm1(lambda * hours)};
}

void ckpt_launch_moments(const struct ckpt_job *job, struct ckpt_span *out)
{
    struct moments all = until_whole(job->lambda_per_h, job->restart_h, job->wait_h);
    struct moments billed = until_whole(job->lambda_per_h, job->restart_h, 0);
    *out = (struct ckpt_span){.mean_h = all.mean,
                              .var_h2 = all.var,
                              .billed_mean_h = billed.mean,
                              .billed_var_h2 = billed.var,
                              .interruptions = expm1(job->lambda_per_h * job->restart_h)};
}

void ckpt_span_add(struct ckpt_span *to, double times, const struct ckpt_span *s)
{
    to->mean_h += times * s->mean_h;
    to->var_h2 += times * s->var_h2;
    to->billed_mean_h += times * s->billed_mean_h;
    to->billed_var_h2 += times * s->billed_var_h2;
    to->interruptions += times * s->interruptions;
}
