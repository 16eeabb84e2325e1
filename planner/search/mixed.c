/* Spot first with a safety net (policy greedy of spot-policies.md, in continuous time): run on spot
 * as long as a launch that comes to nothing still leaves time to do the rest on demand, then on
 * demand to the end. While nothing is interrupted the slack does not change, so it is looked at
 * only before each launch, and a running spot machine is never left. */
#include "gputier/rng.h"
#include "search.h"
#include <math.h>

/* The parts of a run, where it may hold so many interruptions that they are not walked one by one.
 */
struct leaps {
    bool many;
    double segment_h; /* work and write */
    struct ckpt_span launch, segment;
};

static struct leaps leaps_of(const struct ckpt_job *j, double segment_h, double segments)
{
    struct leaps l = {.segment_h = segment_h};
    ckpt_segment_moments(j, segment_h, &l.segment);
    l.many = segments * l.segment.interruptions >= CKPT_MANY;
    if (l.many) {
        ckpt_launch_moments(j, &l.launch);
    }
    return l;
}

/* From a launch on: as many of `most` segments as lose no more than `room` hours but for one run in
 * 10^15 (8 deviations), as one normal draw. Ends on a running machine at a checkpoint, where the
 * policy decides nothing. The segments; 0 where they would hold few interruptions. */
static double leap(const struct leaps *l, double room, double most, struct rng *rng,
                   struct mixed_run *out)
{
    double lost = l->segment.mean_h - l->segment_h, sd = sqrt(l->segment.var_h2);
    room -= l->launch.mean_h + 8 * sqrt(l->launch.var_h2);
    if (!(room > 0)) {
        return 0;
    }
    /* lost x k + 8 sd x sqrt(k) = room */
    double root = (sqrt(64 * sd * sd + 4 * lost * room) - 8 * sd) / (2 * lost);
    double k = fmin(floor(root * root), most);
    if (!(k * l->segment.interruptions >= CKPT_MANY / 8)) {
        return 0;
    }
    struct ckpt_span sum = l->launch;
    ckpt_span_add(&sum, k, &l->segment);
    double z = rng_normal(rng), billed = sum.billed_mean_h + z * sqrt(sum.billed_var_h2);
    out->t += sum.mean_h + z * sqrt(sum.var_h2);
    out->spot_useful += k * l->segment_h;
    out->spot_waste += fmax(0, billed - k * l->segment_h);
    out->interruptions += (int)sum.interruptions;
    return k;
}

void mixed_once(const struct ckpt_job *j, double work, double deadline_h, struct rng *rng,
                struct mixed_run *out)
{
    double tau = fmin(j->tau_h, work), s = tau + j->delta_h, d = j->restart_h;
    double n = fmax(1, ceil(work / tau - 1e-9)), done = 0, last = work - (n - 1) * tau;
    struct leaps leaps = leaps_of(j, s, n - 1);
    bool running = false; /* after a leap, with nothing to set up */
    *out = (struct mixed_run){0};
    for (long launch = 0; launch < 1000000; launch++) {
        double rest = (n - 1 - done) * s + last; /* hours of work and writes left */
        double slack = deadline_h - out->t - (d + rest), least = d + s + j->wait_h;
        double setup = launch == 0 ? d : 0, again = launch == 0 || running ? 0 : d;
        if (!running && slack < least) {
            out->demand_useful += setup + rest;
            out->demand_waste += again;
            out->t += d + rest;
            return;
        }
        double far = leaps.many && launch > 0 && !running
                         ? leap(&leaps, slack - least, n - 1 - done, rng, out)
                         : 0;
        done += far;
        running = running || far > 0;
        if (far > 0) {
            continue;
        }
        double lead = running ? 0 : d, up = rng_exponential(rng, j->lambda_per_h);
        if (up >= lead + rest) {
            out->spot_useful += setup + rest;
            out->spot_waste += again;
            out->t += lead + rest;
            return;
        }
        double saved = up < lead ? 0 : fmin(floor((up - lead) / s), n - 1 - done);
        double first = fmin(up, setup);
        out->spot_useful += first + saved * s;
        out->spot_waste += up - first - saved * s;
        done += saved;
        out->t += up + j->wait_h;
        out->interruptions++;
        running = false;
    }
    out->t = (double)INFINITY;
}

static double machines(const struct candidate *c, const struct mixed_run *r)
{
    return c->n * (c->machine->usd_h * (r->spot_useful + r->spot_waste) +
                   c->machine->twin->usd_h * (r->demand_useful + r->demand_waste));
}

double mixed_risk(const struct ckpt_job *j, double deadline_h)
{
    double tau = fmin(j->tau_h, j->work_h), s = tau + j->delta_h;
    double writes = fmax(0, ceil(j->work_h / tau - 1e-9) - 1);
    double whole = j->restart_h + j->work_h + writes * j->delta_h;
    bool spot = deadline_h - whole >= j->restart_h + s + j->wait_h;
    return spot ? -expm1(-j->lambda_per_h * whole) : 0;
}

int evaluate_mixed(struct search *q, struct candidate *c)
{
    uint32_t runs = q->o->runs > 0 ? q->o->runs : 2000;
    if (c->fallback) { /* the wait is a fixed one here */
        c->fallback = false;
        c->wait_h = c->job.wait_h;
    }
    c->p95_h = (double)NAN;
    double deadline = q->s->deadline_s / 3600 - c->wait_h;
    struct mixed_run sum = {0};
    double interruptions = 0;
    for (uint32_t i = 0; i < runs; i++) {
        struct rng rng;
        struct mixed_run r;
        rng_init(&rng, q->o->seed, i);
        mixed_once(&c->job, c->job.work_h, deadline, &rng, &r);
        sum.t += r.t;
        sum.spot_useful += r.spot_useful;
        sum.spot_waste += r.spot_waste;
        sum.demand_useful += r.demand_useful;
        sum.demand_waste += r.demand_waste;
        interruptions += r.interruptions;
    }
    c->mixed = true;
    c->reject = REJECT_NONE;
    c->reason = NULL;
    c->spot_useful_h = sum.spot_useful / runs;
    c->spot_waste_h = sum.spot_waste / runs;
    c->demand_useful_h = sum.demand_useful / runs;
    c->demand_waste_h = sum.demand_waste / runs;
    c->billed_h = c->spot_useful_h + c->spot_waste_h + c->demand_useful_h + c->demand_waste_h;
    c->interruptions = interruptions / runs;
    c->makespan_h = c->wait_h + sum.t / runs;
    c->risk = mixed_risk(&c->job, deadline);
    if (c->cached) {
        c->epochs_read = fmin(1, q->epochs) * (1 + c->interruptions);
    }
    struct mixed_run mean = {
        0, c->spot_useful_h, c->spot_waste_h, c->demand_useful_h, c->demand_waste_h, 0};
    c->cost_usd = machines(c, &mean) + shared_usd(q, c);
    struct risk_result r;
    int rc = check_limits(q, c);
    if (rc != 0 || c->reject != REJECT_NONE) {
        return rc;
    }
    rc = risk_runs(q, c, &r);
    c->p_deadline = r.p;
    if (rc == 0 && r.p < q->s->confidence) {
        c->reject = REJECT_DEADLINE;
        c->reason = "deadline: missed too often, even with on demand as the safety net";
    }
    return rc;
}
