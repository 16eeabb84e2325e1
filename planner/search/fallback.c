/* wait_before_fallback: spot, and on demand to the end as soon as spot is waited for longer than
 * that. How long spot takes to come is exponential with mean start_wait.spot (a two-state process,
 * spot-model.md section 2), so patience W is not enough with chance e^(-W/w). Expectations are
 * exact: one linear equation for each checkpoint, from the last to the first. */
#include "gputier/rng.h"
#include "search.h"
#include <math.h>
#include <stdlib.h>

#define MAX_SEGMENTS      20000
#define MAX_INTERRUPTIONS 300

bool fallback_applies(const struct search *q, const struct machine *m)
{
    return q->s->wait_before_fallback_s >= 0 && q->s->start_wait_spot_s > 0 &&
           m->lambda_per_h > 0 && twin_of(q, m) != NULL;
}

static void on_demand(struct mixed_run *r, double setup, double again, double rest)
{
    r->demand_useful += setup + rest;
    r->demand_waste += again;
    r->t += setup + again + rest;
}

void fallback_once(const struct ckpt_job *j, double work, double patience_h, struct rng *rng,
                   struct mixed_run *out)
{
    double tau = fmin(j->tau_h, work), s = tau + j->delta_h, d = j->restart_h;
    double n = fmax(1, ceil(work / tau - 1e-9)), done = 0, last = work - (n - 1) * tau;
    *out = (struct mixed_run){0};
    for (long launch = 0; launch < 1000000; launch++) {
        double rest = (n - 1 - done) * s + last;
        double setup = launch == 0 ? d : 0, again = launch == 0 ? 0 : d;
        double wait = rng_exponential(rng, 1 / j->wait_h);
        out->t += fmin(wait, patience_h);
        if (wait > patience_h) {
            on_demand(out, setup, again, rest);
            return;
        }
        double up = rng_exponential(rng, j->lambda_per_h);
        if (up >= d + rest) {
            out->spot_useful += setup + rest;
            out->spot_waste += again;
            out->t += d + rest;
            return;
        }
        double saved = up < d ? 0 : fmin(floor((up - d) / s), n - 1 - done);
        double first = fmin(up, setup);
        out->spot_useful += first + saved * s;
        out->spot_waste += up - first - saved * s;
        done += saved;
        out->t += up;
        out->interruptions++;
    }
    out->t = (double)INFINITY;
}

/* Expected hours from a state to the end, and interruptions. */
struct mean {
    double t, spot_useful, spot_waste, demand_useful, demand_waste, interruptions;
};

static void add(struct mean *to, double times, const struct mean *m)
{
    to->t += times * m->t;
    to->spot_useful += times * m->spot_useful;
    to->spot_waste += times * m->spot_waste;
    to->demand_useful += times * m->demand_useful;
    to->demand_waste += times * m->demand_waste;
    to->interruptions += times * m->interruptions;
}

struct chances {
    double lambda, d, a; /* set-up in one piece */
    double q, wait;      /* patience ends; hours waited */
};

/* A try of `length` hours: useful when it comes to its end. */
static struct mean try_of(double lambda, double length)
{
    double p = exp(-lambda * length), hours = -expm1(-lambda * length) / lambda;
    return (struct mean){.t = hours,
                         .spot_useful = p * length,
                         .spot_waste = hours - p * length,
                         .interruptions = 1 - p};
}

/* up: from checkpoint k on a running machine, given `next`, the same from k + 1. Sets *down, after
 * an interruption there. */
static struct mean from_checkpoint(const struct chances *c, double length, double rest,
                                   const struct mean *next, struct mean *down)
{
    double p = exp(-c->lambda * length), hours = -expm1(-c->lambda * c->d) / c->lambda;
    struct mean work = try_of(c->lambda, length);
    const struct mean waited = {.t = c->wait};
    const struct mean demand = {.t = c->d + rest, .demand_useful = rest, .demand_waste = c->d};
    const struct mean setup = {.t = hours, .spot_waste = hours, .interruptions = 1 - c->a};
    struct mean x = waited;
    add(&x, c->q, &demand);
    add(&x, 1 - c->q, &setup);
    add(&x, (1 - c->q) * c->a, &work);
    add(&x, (1 - c->q) * c->a * p, next);
    double again = (1 - c->q) * (c->a * (1 - p) + 1 - c->a);
    *down = (struct mean){0};
    add(down, 1 / (1 - again), &x);
    add(&work, p, next);
    add(&work, 1 - p, down);
    return work;
}

static struct mean expected(const struct ckpt_job *j, double patience_h)
{
    double tau = fmin(j->tau_h, j->work_h), s = tau + j->delta_h;
    double n = fmax(1, ceil(j->work_h / tau - 1e-9)), last = j->work_h - (n - 1) * tau, rest = last;
    struct chances c = {.lambda = j->lambda_per_h,
                        .d = j->restart_h,
                        .a = exp(-j->lambda_per_h * j->restart_h),
                        .q = exp(-patience_h / j->wait_h)};
    c.wait = j->wait_h * (1 - c.q);
    struct mean next = {0}, down;
    next = from_checkpoint(&c, last, rest, &next, &down);
    for (double k = n - 2; k >= 0; k--) {
        rest += s;
        next = from_checkpoint(&c, s, rest, &next, &down);
    }
    /* the first launch: its set-up is no waste */
    double hours = -expm1(-c.lambda * c.d) / c.lambda;
    struct mean all = {.t = c.wait};
    const struct mean demand = {.t = c.d + rest, .demand_useful = c.d + rest};
    const struct mean setup = {.t = hours, .spot_useful = hours, .interruptions = 1 - c.a};
    add(&all, c.q, &demand);
    add(&all, 1 - c.q, &setup);
    add(&all, (1 - c.q) * c.a, &next);
    add(&all, (1 - c.q) * (1 - c.a), &down);
    return all;
}

/* Beyond these the equations, or walking the runs, would take minutes. */
static int too_long(struct candidate *c, double segments, double interruptions)
{
    if (segments <= MAX_SEGMENTS && interruptions <= MAX_INTERRUPTIONS) {
        return 0;
    }
    c->reject = REJECT_RISK;
    c->reason = "wait_before_fallback is worked out for runs of at most 20,000 checkpoints and "
                "300 interruptions: without it, or on demand";
    return 1;
}

int evaluate_fallback(struct search *q, struct candidate *c)
{
    struct ckpt_job *j = &c->job;
    double patience = q->s->wait_before_fallback_s / 3600, tau = fmin(j->tau_h, j->work_h);
    if (too_long(c, j->work_h / tau, 0) != 0) {
        return 0;
    }
    struct mean m = expected(j, patience);
    if (too_long(c, 0, m.interruptions) != 0) {
        return 0;
    }
    c->mixed = c->fallback = true;
    c->wait_h = 0; /* within the run */
    c->spot_useful_h = m.spot_useful;
    c->spot_waste_h = m.spot_waste;
    c->demand_useful_h = m.demand_useful;
    c->demand_waste_h = m.demand_waste;
    c->billed_h = m.spot_useful + m.spot_waste + m.demand_useful + m.demand_waste;
    c->interruptions = m.interruptions;
    c->makespan_h = m.t;
    c->writes = fmax(1, ceil(j->work_h / tau - 1e-9)) - 1;
    double whole = j->restart_h + j->work_h + c->writes * j->delta_h;
    c->risk = -expm1(-patience / j->wait_h) * -expm1(-j->lambda_per_h * whole);
    if (c->cached) {
        c->epochs_read = fmin(1, q->epochs) * (1 + c->interruptions);
    }
    const struct region *r = &q->region[c->machine->region_index];
    c->at_least = c->place->charges.at_least || r->common.at_least || r->checkpoint_unpriced;
    c->cost_usd = c->n * (c->machine->usd_h * (m.spot_useful + m.spot_waste) +
                          c->machine->twin->usd_h * (m.demand_useful + m.demand_waste)) +
                  shared_usd(q, c);
    return check_limits(q, c);
}
