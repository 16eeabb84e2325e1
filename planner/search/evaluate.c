/* One candidate: machines, count and placement -> time, cost, exposure. Expectations are exact for
 * the exponential model (shared/docs/spot-model.md section 3); an independent machine each adds
 * its rate, as any one that is taken stops the gang. */
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <string.h>

#define HOUR 3600.0
/* Without a known size a checkpoint is taken to stall the run this long. */
#define ASSUMED_STALL_S 10.0
/* A run of more than this many times its work is not offered. */
#define MAX_STRETCH 3.0
/* On demand, with nothing to optimise against, one checkpoint an hour. */
#define ON_DEMAND_TAU_H 1.0

double commitment_terms(const struct search *q, enum purchase p)
{
    double term = (double)purchase_term_hours(p);
    return q->s->use_horizon_s > 0 ? ceil(q->s->use_horizon_s / HOUR / term - 1e-9) : 1;
}

double machine_usd(const struct search *q, const struct machine *m, int n, double billed_h,
                   double makespan_h)
{
    double term = m->term_h;
    if (m->purchase == PURCHASE_MONTHLY) {
        return n * m->month_usd * fmax(1, ceil(makespan_h / GT_HOURS_PER_MONTH - 1e-9));
    }
    if (m->purchase == PURCHASE_CAPACITY_BLOCK) {
        return n * m->usd_h * block_hours(billed_h);
    }
    if (term > 0) {
        double full = m->upfront_usd + m->usd_h * term;
        return q->s->use_owned ? n * full / term * billed_h
                               : n * full * commitment_terms(q, m->purchase);
    }
    return n * m->usd_h * billed_h;
}

static double start_wait_h(const struct search *q, const struct machine *m)
{
    return m->purchase == PURCHASE_CAPACITY_BLOCK ? block_wait_h(q, m)
           : m->lambda_per_h > 0                  ? spot_wait_h(q, m)
                                                  : q->s->start_wait_on_demand_s / HOUR;
}

void lower_bound(const struct search *q, const struct machine *m, const struct kind *k, int n,
                 double *usd, double *p95_h, double *risk)
{
    const struct scenario *s = q->s;
    bool spot = m->lambda_per_h > 0;
    double wait = start_wait_h(q, m);
    wait = fallback_applies(q, m) ? 0 : wait; /* random then */
    double run = k->work_h + s->setup_s / HOUR;
    *p95_h = wait + s->setup_s / HOUR + k->work_h * (spot ? k->slow_spot : k->slow_demand);
    *usd = machine_usd(q, m, n, run, wait + run) + q->region[m->region_index].min_usd;
    /* With a twin on demand less of the run may be exposed than all of it. */
    *risk = spot && twin_of(q, m) == NULL ? -expm1(-m->lambda_per_h * n * run) : 0;
}

/* Exposure if any of it runs on spot, and the cost if none does. */
static void set_exposure(const struct search *q, const struct machine *m, int n, double run_h,
                         double other_usd, struct least *l)
{
    l->risk = m->lambda_per_h > 0 ? -expm1(-m->lambda_per_h * n * run_h) : 0;
    l->twin_usd = (double)NAN;
    if (m->lambda_per_h > 0 && twin_of(q, m) != NULL) {
        l->twin_usd = n * m->twin->usd_h * run_h + other_usd;
        if (fallback_applies(q, m)) {
            l->risk *= -expm1(-q->s->wait_before_fallback_s / q->s->start_wait_spot_s);
        }
    }
}

void least_of_pair(const struct search *q, const struct machine *m, const struct kind *k, int n,
                   bool at_least, struct least *l)
{
    double risk;
    lower_bound(q, m, k, n, &l->usd, &l->time_h, &risk);
    l->at_least = at_least;
    set_exposure(q, m, n, k->work_h + q->s->setup_s / HOUR, q->region[m->region_index].min_usd, l);
}

static int reject(struct search *q, struct candidate *c, int kind, const char *reason)
{
    c->reject = kind;
    c->reason = reason;
    return reason == NULL ? gt_fail(q->err, GT_ENOMEM, "", "out of memory") : 0;
}

/* Rates with the placement's limit, and the work that follows. */
static void set_work(const struct search *q, struct candidate *c)
{
    const struct kind *k = c->kind;
    const struct machine *m = c->machine;
    c->work_h = k->work_h;
    c->samples_per_s = k->rate.samples_per_s;
    c->epochs_read = q->epochs;
    c->read_bps = (double)INFINITY;
    if (q->s->gpu_hours > 0 || c->place->mode == PLACE_NONE) {
        c->epoch_s = q->s->gpu_hours > 0 ? (double)NAN : q->samples / c->samples_per_s;
        return;
    }
    c->cached = c->place->class != TIER_LOCAL && !isnan(m->memory_gib) &&
                q->data_bytes <= 0.8 * m->memory_gib * 1073741824.0;
    double first = c->cached ? fmin(1, q->epochs) : q->epochs;
    c->read_bps = place_bps(q, c->place, m, c->n, first * q->data_bytes);
    double limit = q->bytes_per_sample > 0 ? c->read_bps / q->bytes_per_sample : (double)INFINITY;
    double read = fmin(limit, k->rate.samples_per_s);
    c->work_h = q->samples / HOUR * (first / read + (q->epochs - first) / k->rate.samples_per_s);
    c->samples_per_s = c->cached && q->epochs > 1 ? k->rate.samples_per_s : read;
    c->storage_bound = read < k->rate.samples_per_s && !(c->cached && q->epochs > 1);
    c->epoch_s = q->samples / c->samples_per_s;
}

double least_hours(const struct search *q, const struct candidate *c, bool spot)
{
    struct candidate k = *c;
    set_work(q, &k);
    return q->s->setup_s / HOUR + place_stage_s(q, c->place, c->machine, c->n) / HOUR +
           k.work_h * (spot ? c->kind->slow_spot : c->kind->slow_demand);
}

void least_of_place(const struct search *q, const struct candidate *c, struct least *l)
{
    const struct machine *m = c->machine;
    const struct region *r = &q->region[m->region_index];
    bool spot = m->lambda_per_h > 0;
    struct candidate k = *c; /* the same, if nothing went wrong nor was saved */
    set_work(q, &k);
    k.epochs_read = k.cached ? fmin(1, q->epochs) : k.epochs_read;
    double wait = spot ? spot_wait_h(q, m) : q->s->start_wait_on_demand_s / HOUR;
    double start = q->s->setup_s / HOUR + place_stage_s(q, c->place, m, c->n) / HOUR;
    wait = fallback_applies(q, m) ? 0 : wait; /* random then */
    k.billed_h = start + k.work_h;
    k.makespan_h = wait + k.billed_h;
    double other = shared_usd(q, &k);
    l->usd = machine_usd(q, m, c->n, k.billed_h, k.makespan_h) + other;
    l->time_h = wait + start + k.work_h * (spot ? c->kind->slow_spot : c->kind->slow_demand);
    l->at_least =
        c->place->charges.at_least || r->common.at_least || (r->checkpoint_unpriced && spot);
    set_exposure(q, m, c->n, k.billed_h, other, l);
}

static int set_interval(struct search *q, struct candidate *c)
{
    const struct scenario *s = q->s;
    struct ckpt_job *j = &c->job;
    c->checkpoints = s->checkpoint_every != CKPT_OFF;
    if (!c->checkpoints) {
        j->tau_h = j->work_h;
        j->delta_h = 0;
        return 0;
    }
    if (s->checkpoint_every == CKPT_SECONDS) {
        j->tau_h = s->checkpoint_value / HOUR;
    } else if (s->checkpoint_every == CKPT_STEPS) {
        if (!(c->kind->rate.step_s > 0)) {
            return reject(q, c, REJECT_FIT,
                          "checkpoints are counted in steps, and how long a step "
                          "takes is not known without a model");
        }
        double slower = c->kind->rate.samples_per_s / c->samples_per_s;
        j->tau_h = s->checkpoint_value * c->kind->rate.step_s * slower / HOUR;
    } else if (j->lambda_per_h <= 0) {
        j->tau_h = ON_DEMAND_TAU_H;
    } else if (ckpt_best_tau(j, &j->tau_h, NULL) != 0) {
        return reject(q, c, REJECT_RISK, "interruptions come too often for any interval");
    }
    j->tau_h = fmin(j->tau_h, j->work_h);
    return 0;
}

static int expect(struct search *q, struct candidate *c)
{
    struct ckpt_job *j = &c->job;
    struct ckpt_result r = {0};
    if (j->lambda_per_h * (j->tau_h + j->delta_h + j->restart_h) > 40 ||
        ckpt_expected(j, &r, NULL) != 0 || !isfinite(r.makespan_h)) {
        return reject(q, c, REJECT_RISK,
                      "interruptions come so often that the run would hardly ever end");
    }
    c->writes = r.writes;
    c->billed_h = r.billed_h;
    c->interruptions = r.interruptions;
    c->makespan_h = c->wait_h + r.makespan_h;
    double alone = j->work_h + j->restart_h + c->writes * j->delta_h;
    if (j->lambda_per_h > 0 && r.billed_h > MAX_STRETCH * alone) {
        return reject(q, c, REJECT_RISK,
                      arena_printf(q->arena,
                                   "interruptions would eat the run: expected %.0f h for %.1f h of "
                                   "work%s",
                                   c->makespan_h, j->work_h,
                                   c->checkpoints ? "" : " without checkpoints"));
    }
    return 0;
}

int check_limits(struct search *q, struct candidate *c)
{
    if (q->use_budget && c->cost_usd > q->budget_usd * (1 + 1e-12)) {
        return reject(q, c, REJECT_BUDGET,
                      arena_printf(q->arena, "over the budget: %.2f USD expected, %.2f allowed",
                                   c->cost_usd, q->budget_usd));
    }
    return 0;
}

int evaluate_deadline(struct search *q, struct candidate *c)
{
    if (q->use_deadline && !deadline_meets(q, c)) {
        if (q->terse) {
            return reject(q, c, REJECT_DEADLINE, "deadline");
        }
        return reject(q, c, REJECT_DEADLINE,
                      arena_printf(q->arena,
                                   "deadline: expected %.1f h against %.1f h, chance %.3g where "
                                   "%.3g is asked",
                                   c->makespan_h, q->s->deadline_s / HOUR,
                                   isnan(c->p_deadline) ? 0 : c->p_deadline, q->s->confidence));
    }
    return 0;
}

double shared_usd(const struct search *q, const struct candidate *c)
{
    return charges_usd(&c->place->charges, c) +
           charges_usd(&q->region[c->machine->region_index].common, c);
}

static int check_length(struct search *q, struct candidate *c)
{
    /* nearly its 95 % quantile: what is offered can be asked for as a deadline */
    double slow =
        c->kind->slow_spot > c->kind->slow_demand ? c->kind->slow_spot : c->kind->slow_demand;
    if (c->reject == REJECT_NONE && c->makespan_h * slow > SEARCH_MAX_HOURS) {
        c->makespan_h *= slow;
        return reject(q, c, REJECT_LONG,
                      arena_printf(q->arena,
                                   "would take up to %.4g years; no plan of more than 10 is made",
                                   c->makespan_h / (SEARCH_MAX_HOURS / 10)));
    }
    return 0;
}

int evaluate(struct search *q, struct candidate *c)
{
    const struct scenario *s = q->s;
    const struct machine *m = c->machine;
    const struct region *r = &q->region[m->region_index];
    struct ckpt_job *j = &c->job;
    bool spot = m->lambda_per_h > 0;
    c->p_deadline = c->p95_h = (double)NAN;
    if (!c->kind->ok) {
        return reject(q, c, REJECT_FIT, c->kind->reason);
    }
    set_work(q, c);
    c->wait_h = start_wait_h(q, m);
    j->work_h = c->work_h;
    j->lambda_per_h = m->lambda_per_h * c->n;
    j->wait_h = spot_wait_h(q, m);
    j->cold_start = j->restart_interruptible = true;
    double stall = c->kind->checkpoint_bytes > 0 ? c->kind->checkpoint_bytes / r->checkpoint_bps
                                                 : ASSUMED_STALL_S;
    j->delta_h = s->checkpoint_every == CKPT_OFF ? 0 : stall / HOUR;
    double reload = spot && s->checkpoint_every != CKPT_OFF ? stall / HOUR : 0;
    j->restart_h = s->setup_s / HOUR + place_stage_s(q, c->place, m, c->n) / HOUR + reload;
    int rc = set_interval(q, c);
    if (rc == 0 && c->reject == REJECT_NONE && fallback_applies(q, m)) {
        rc = evaluate_fallback(q, c);
        return rc != 0 ? rc : check_length(q, c);
    }
    rc = rc == 0 && c->reject == REJECT_NONE ? expect(q, c) : rc;
    rc = rc == 0 ? check_length(q, c) : rc;
    if (rc != 0 || c->reject != REJECT_NONE) {
        return rc;
    }
    if (m->purchase == PURCHASE_CAPACITY_BLOCK && isinf(block_hours(c->billed_h))) {
        return reject(q, c, REJECT_DEADLINE, "capacity blocks are sold for at most 26 weeks");
    }
    if (c->cached) {
        c->epochs_read = fmin(1, q->epochs) * (1 + c->interruptions);
    }
    c->at_least =
        c->place->charges.at_least || r->common.at_least || (r->checkpoint_unpriced && spot);
    c->cost_usd = machine_usd(q, m, c->n, c->billed_h, c->makespan_h) + shared_usd(q, c);
    c->risk = spot ? -expm1(-j->lambda_per_h * c->billed_h) : 0;
    return check_limits(q, c);
}
