/* Chance of the deadline. Two things are uncertain: the model's rate (log-normal with its 90 %
 * interval) and, on spot, when machines are taken (exponential). On demand the chance is a closed
 * form. On spot: the run without any interruption bounds it from above, a Chernoff bound on the
 * exact moment generating function of the run from below; only what neither decides is run. */
#include "gputier/rng.h"
#include "search.h"
#include <math.h>
#include <stdlib.h>

#define Z95 SEARCH_Z95

static double normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static double normal_quantile(double p)
{
    double lo = -9, hi = 9;
    for (int i = 0; i < 60; i++) {
        double mid = (lo + hi) / 2;
        if (normal_cdf(mid) < p) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return (lo + hi) / 2;
}

/* P(work x f <= room) for ln f normal with deviation sigma. */
static double chance_of_room(double work, double room, double sigma)
{
    if (room <= 0) {
        return 0;
    }
    if (sigma <= 0) {
        return work <= room * (1 + 1e-12) ? 1 : 0;
    }
    return normal_cdf(log(room / work) / sigma);
}

/* What the run takes beside work when nothing is interrupted. */
static double fixed_hours(const struct candidate *c)
{
    return c->wait_h + c->job.restart_h + c->writes * c->job.delta_h;
}

static double chance_undisturbed(const struct search *q, const struct candidate *c)
{
    return chance_of_room(c->work_h, q->s->deadline_s / 3600 - fixed_hours(c), c->kind->sigma);
}

/* ln E[e^(theta T)] of getting through `s` hours in one piece, each failure costing the wait and a
 * new start of d + s; INFINITY where it has no mean. */
static double log_mgf(double lambda, double theta, double s, double d, double w)
{
    double r = lambda - theta, l = s + d, ew = exp(theta * w);
    double fail_again = lambda * -expm1(-r * l) / r * ew;
    if (fail_again >= 1) {
        return (double)INFINITY;
    }
    double through = exp(-r * s), fail = lambda * -expm1(-r * s) / r * ew;
    return log(through + fail * exp(-r * l) / (1 - fail_again));
}

/* Upper bound of P(T > room) for the job with its work stretched by f; the first one found that is
 * small enough. */
static double chernoff(const struct ckpt_job *j, double f, double room, double enough)
{
    static const double share[] = {0.5, 0.35, 0.7, 0.2, 0.85, 0.1, 0.05, 0.02};
    double work = j->work_h * f, tau = fmin(j->tau_h, work);
    double n = fmax(1, ceil(work / tau - 1e-9)), best = 0, wanted = log(enough);
    for (size_t i = 0; i < sizeof share / sizeof share[0] && best > wanted; i++) {
        double theta = share[i] * j->lambda_per_h;
        double r = j->lambda_per_h - theta;
        double again = j->lambda_per_h * -expm1(-r * j->restart_h) / r * exp(theta * j->wait_h);
        if (again >= 1) {
            continue;
        }
        double cold = -r * j->restart_h - log(1 - again);
        double sum =
            cold +
            (n - 1) * log_mgf(j->lambda_per_h, theta, tau + j->delta_h, j->restart_h, j->wait_h) +
            log_mgf(j->lambda_per_h, theta, work - (n - 1) * tau, j->restart_h, j->wait_h);
        best = fmin(best, sum - theta * room);
    }
    return exp(best);
}

/* What is the same in run i of every candidate: its rate, its interruptions as they come. Few runs
 * need more lives than are drawn beforehand. */
#define LIVES 6
struct luck {
    double z;          /* deviation of ln(rate) */
    double far;        /* deviation of a run that is too long to be walked */
    double up[LIVES];  /* lives of its machines at one interruption an hour */
    struct rng before; /* those draws, for runs that draw themselves */
    struct rng after;
};
struct lucks {
    double sigma, *factor; /* e^(sigma z) of each run, for the last sigma */
    struct luck run[];
};

static void run_once(const struct ckpt_job *j, double work, const struct luck *luck, double *t,
                     double *billed);

static uint32_t run_count(const struct search *q)
{
    return q->o->runs > 0 ? q->o->runs : 2000;
}

static const double *factors(const struct search *q, double sigma)
{
    struct lucks *l = q->luck;
    uint32_t runs = run_count(q);
    for (uint32_t i = 0; i < runs && l->sigma != sigma; i++) {
        l->factor[i] = exp(sigma * l->run[i].z);
    }
    l->sigma = sigma;
    return l->factor;
}

/* Trajectory i: the same luck for every candidate. *billed is USD of machines for mixed runs. */
static void run_number(const struct search *q, const struct candidate *c, double factor, uint32_t i,
                       double *t, double *billed)
{
    const struct luck *luck = &q->luck->run[i];
    double work = c->job.work_h * factor;
    if (c->mixed) {
        struct mixed_run r;
        struct rng rng = luck->before;
        if (c->fallback) {
            fallback_once(&c->job, work, q->s->wait_before_fallback_s / 3600, &rng, &r);
        } else {
            mixed_once(&c->job, work, q->s->deadline_s / 3600 - c->wait_h, &rng, &r);
        }
        *t = r.t;
        *billed = c->n * (c->machine->usd_h * (r.spot_useful + r.spot_waste) +
                          c->machine->twin->usd_h * (r.demand_useful + r.demand_waste));
    } else {
        run_once(&c->job, work, luck, t, billed);
    }
    *t += c->wait_h;
}

/* The chance by runs; with q->terse only whether it is enough, NAN then if it is. */
static double chance_by_runs(const struct search *q, const struct candidate *c)
{
    uint32_t runs = run_count(q), met = 0;
    double enough = ceil(q->s->confidence * runs - 1e-9);
    const double *factor = factors(q, c->kind->sigma);
    for (uint32_t i = 0; i < runs; i++) {
        double t, billed;
        run_number(q, c, factor[i], i, &t, &billed);
        met += t <= q->s->deadline_s / 3600;
        if (q->terse && met >= enough) {
            return (double)NAN;
        }
        if (q->terse && runs - (i + 1 - met) < enough) {
            return 0;
        }
    }
    return (double)met / runs;
}

int deadline_bounds(struct search *q, struct candidate *c)
{
    double confidence = q->s->confidence;
    c->p_deadline = chance_undisturbed(q, c); /* on demand exact, on spot at most */
    c->hopeless = c->p_deadline < confidence;
    if (c->job.lambda_per_h <= 0 || c->hopeless) {
        return c->p_deadline >= confidence ? 1 : -1;
    }
    double tail = (1 - confidence) / 2;
    if (q->accept_z == 0) {
        q->accept_z = normal_quantile(1 - tail);
    }
    double f = exp(c->kind->sigma * q->accept_z);
    if (!c->fallback && chernoff(&c->job, f, q->s->deadline_s / 3600 - c->wait_h, tail) <= tail) {
        c->p_deadline = (double)NAN; /* enough, but not known exactly */
        return 1;
    }
    return 0;
}

bool deadline_meets(struct search *q, struct candidate *c)
{
    int sure = deadline_bounds(q, c);
    if (sure == 0) {
        c->p_deadline = chance_by_runs(q, c);
        sure = c->p_deadline < q->s->confidence ? -1 : 1;
    }
    return sure > 0;
}

/* Very many interruptions: their sum is normal (moments.c). */
static bool run_far(const struct ckpt_job *j, double n, double s, double last, double far,
                    double *t, double *billed)
{
    struct ckpt_span sum, part;
    ckpt_segment_moments(j, s, &part);
    if (!(n * part.interruptions >= CKPT_MANY)) {
        return false;
    }
    ckpt_launch_moments(j, &sum);
    ckpt_span_add(&sum, n - 1, &part);
    ckpt_segment_moments(j, last, &part);
    ckpt_span_add(&sum, 1, &part);
    *t = sum.mean_h + far * sqrt(sum.var_h2);
    *billed = sum.billed_mean_h + far * sqrt(sum.billed_var_h2);
    return true;
}

/* One trajectory: hours until done and hours billed. */
static void run_once(const struct ckpt_job *j, double work, const struct luck *luck, double *t,
                     double *billed)
{
    struct rng rng;
    double tau = j->tau_h < work ? j->tau_h : work;
    double n = ceil(work / tau - 1e-9);
    n = n > 1 ? n : 1;
    double s = tau + j->delta_h, last = work - (n - 1) * tau, to_write = n - 1;
    /* a run that is offered has some interruptions more than in its work alone, not many times */
    if (work * j->lambda_per_h > CKPT_MANY / 4 && run_far(j, n, s, last, luck->far, t, billed)) {
        return;
    }
    *t = *billed = 0;
    for (long life = 0; life < 1000000; life++) {
        double up;
        if (life < LIVES) {
            up = luck->up[life] / j->lambda_per_h;
        } else {
            rng = life == LIVES ? luck->after : rng;
            up = rng_exponential(&rng, j->lambda_per_h);
        }
        double left = up - j->restart_h;
        if (left >= 0) {
            double whole = floor(left / s);
            whole = whole < to_write ? whole : to_write;
            to_write -= whole;
            left -= whole * s;
            if (to_write <= 0 && left >= last) {
                *t += up - left + last;
                *billed += up - left + last;
                return;
            }
        }
        *t += up + j->wait_h;
        *billed += up;
    }
    *t = *billed = (double)INFINITY;
}

/* The value that a share p of them does not pass. Reorders v. */
static double at(double *v, uint32_t n, double p)
{
    return ckpt_quantile(v, n, (fmax(1, ceil(p * n)) - 0.5) / n);
}

/* 95 % Wilson interval of k of n. */
static void wilson(double k, double n, double *lo, double *hi)
{
    double z = 1.959963984540054, p = k / n, d = 1 + z * z / n;
    double mid = (p + z * z / (2 * n)) / d;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d;
    *lo = k <= 0 ? 0 : fmax(0, mid - half);
    *hi = k >= n ? 1 : fmin(1, mid + half);
}

/* On demand: quantiles in closed form. */
static void closed_form(const struct search *q, const struct candidate *c, struct risk_result *out)
{
    double fixed = fixed_hours(c), f = exp(Z95 * c->kind->sigma);
    out->p5_h = fixed + c->work_h / f;
    out->p50_h = fixed + c->work_h;
    out->p95_h = fixed + c->work_h * f;
    out->billed_p5_h = out->p5_h - c->wait_h;
    out->billed_p50_h = out->p50_h - c->wait_h;
    out->billed_p95_h = out->p95_h - c->wait_h;
    out->confident_h = fixed + c->work_h * exp(c->kind->sigma * normal_quantile(q->s->confidence));
    if (q->s->deadline_s > 0) {
        out->p = out->lo = out->hi = chance_undisturbed(q, c);
    }
}

/* Draws what all candidates share. Every run takes at least its work at its own rate, so its 95 %
 * quantile is at least that of the deviations that were drawn. */
int search_luck(struct search *q)
{
    uint32_t runs = run_count(q);
    q->luck = arena_alloc(q->arena, sizeof *q->luck + runs * sizeof q->luck->run[0]);
    double *z = arena_array(q->arena, runs, sizeof *z);
    if (z == NULL || q->luck == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (uint32_t i = 0; i < runs; i++) {
        struct luck *l = &q->luck->run[i];
        struct rng rng;
        rng_init(&rng, q->o->seed, i);
        z[i] = l->z = rng_normal(&rng);
        l->before = rng;
        for (size_t k = 0; k < LIVES; k++) {
            l->up[k] = rng_exponential(&rng, 1);
        }
        l->after = rng;
        l->far = rng_normal(&rng);
    }
    q->slow_z = at(z, runs, 0.95);
    q->luck->factor = z; /* its use as a list of deviations is over */
    q->luck->sigma = (double)NAN;
    return 0;
}

double least_p95(const struct candidate *c)
{
    /* the last set-up, nothing lost; a run that is interrupted writes no less */
    return c->wait_h + c->job.restart_h +
           c->job.work_h *
               (c->machine->lambda_per_h > 0 ? c->kind->slow_spot : c->kind->slow_demand);
}

int evaluate_p95(struct search *q, struct candidate *c, double enough_steps)
{
    uint32_t runs = run_count(q), late = 0;
    uint32_t most = runs - (uint32_t)ceil(0.95 * runs); /* runs that may be later than p95 */
    if (!isnan(c->p95_h)) {
        return 0;
    }
    if (c->job.lambda_per_h <= 0) {
        struct risk_result r;
        closed_form(q, c, &r);
        c->p95_h = r.p95_h;
        return 0;
    }
    double *t = malloc(runs * sizeof *t);
    if (t == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    const double *factor = factors(q, c->kind->sigma);
    for (uint32_t i = 0; i < runs; i++) {
        double billed;
        run_number(q, c, factor[i], i, &t[i], &billed);
        late += search_time_steps(t[i]) >= enough_steps;
        if (late > most) {
            free(t);
            return 0;
        }
    }
    c->p95_h = at(t, runs, 0.95);
    free(t);
    return 0;
}

int risk_runs(const struct search *q, const struct candidate *c, struct risk_result *out)
{
    uint32_t runs = run_count(q);
    double deadline = q->s->deadline_s > 0 ? q->s->deadline_s / 3600 : (double)NAN, met = 0;
    double nan = (double)NAN;
    *out = (struct risk_result){.mean_h = c->makespan_h, .p = nan, .lo = nan, .hi = nan};
    if (c->job.lambda_per_h <= 0) {
        closed_form(q, c, out);
        return 0;
    }
    double *t = calloc(runs, 2 * sizeof *t), *billed = t + runs;
    if (t == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    const double *factor = factors(q, c->kind->sigma);
    for (uint32_t i = 0; i < runs; i++) {
        run_number(q, c, factor[i], i, &t[i], &billed[i]);
        met += t[i] <= deadline;
    }
    out->p5_h = at(t, runs, 0.05);
    out->p50_h = at(t, runs, 0.5);
    out->confident_h = at(t, runs, q->s->confidence);
    out->p95_h = at(t, runs, 0.95);
    out->billed_p5_h = at(billed, runs, 0.05);
    out->billed_p50_h = at(billed, runs, 0.5);
    out->billed_p95_h = at(billed, runs, 0.95);
    out->machine_p5_usd = out->billed_p5_h;
    out->machine_p50_usd = out->billed_p50_h;
    out->machine_p95_usd = out->billed_p95_h;
    if (q->s->deadline_s > 0) {
        out->p = met / runs;
        wilson(met, runs, &out->lo, &out->hi);
    }
    free(t);
    return 0;
}
