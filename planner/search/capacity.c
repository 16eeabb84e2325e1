/* Commitment mix and autoscaling (spot-policies.md section 6). */
#include "gputier/capacity.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_NODES 1000000
#define MAX_STEPS 10000000

static int check_number(const char *name, double v, bool zero_allowed, struct gt_error *err)
{
    if (!isfinite(v) || v < 0 || (v == 0 && !zero_allowed)) {
        return gt_fail(err, GT_ERANGE, name, "%g is not a finite number %s 0", v,
                       zero_allowed ? "from" : "above");
    }
    return 0;
}

static int check_count(const char *name, int64_t v, int64_t least, int64_t most,
                       struct gt_error *err)
{
    if (v < least || v > most) {
        return gt_fail(err, GT_ERANGE, name, "%lld is not a count from %lld to %lld", (long long)v,
                       (long long)least, (long long)most);
    }
    return 0;
}

static int check_mix(const struct capacity_mix *m, struct gt_error *err)
{
    int rc = check_number("p_commit", m->p_commit, true, err);
    rc = rc ? rc : check_number("p_spot_eff", m->p_spot_eff, true, err);
    rc = rc ? rc : check_number("p_od", m->p_od, true, err);
    rc = rc ? rc : check_count("demand", (int64_t)m->hours, 1, MAX_STEPS, err);
    for (size_t t = 0; !rc && t < m->hours; t++) {
        char name[48];
        snprintf(name, sizeof name, "demand[%zu]", t);
        rc = check_count(name, m->demand[t], 0, MAX_NODES, err);
        if (!rc) {
            snprintf(name, sizeof name, "must_run[%zu]", t);
            rc = check_count(name, m->must_run[t], 0, m->demand[t], err);
        }
        if (!rc) {
            snprintf(name, sizeof name, "spot_cap[%zu]", t);
            rc = check_count(name, m->spot_cap[t], 0, INT64_MAX, err);
        }
    }
    return rc;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The bill with `reserved` nodes committed; spot serves what it may where it is the cheaper. */
static struct capacity_mix_result mix_at(const struct capacity_mix *m, int64_t reserved)
{
    struct capacity_mix_result r = {.reserved = reserved};
    bool spot = m->p_spot_eff < m->p_od;
    for (size_t t = 0; t < m->hours; t++) {
        int64_t rest = m->demand[t] > reserved ? m->demand[t] - reserved : 0;
        int64_t q = least(rest, least(m->demand[t] - m->must_run[t], m->spot_cap[t]));
        q = spot ? q : 0;
        r.spot_hours += q;
        r.od_hours += rest - q;
    }
    r.cost = m->p_commit * (double)reserved * (double)m->hours + m->p_od * (double)r.od_hours +
             m->p_spot_eff * (double)r.spot_hours;
    return r;
}

int capacity_mix_at(const struct capacity_mix *m, int64_t reserved, struct capacity_mix_result *out,
                    struct gt_error *err)
{
    int rc = check_mix(m, err);
    rc = rc ? rc : check_count("reserved", reserved, 0, MAX_NODES, err);
    if (!rc) {
        *out = mix_at(m, reserved);
    }
    return rc;
}

int capacity_mix_best(const struct capacity_mix *m, struct capacity_mix_result *out,
                      struct gt_error *err)
{
    int64_t most = 0;
    int rc = check_mix(m, err);
    if (rc) {
        return rc;
    }
    for (size_t t = 0; t < m->hours; t++) {
        most = m->demand[t] > most ? m->demand[t] : most;
    }
    if ((double)most * (double)m->hours > 1e10) {
        return gt_fail(err, GT_ELIMIT, "demand", "%lld nodes over %zu hours are too many to scan",
                       (long long)most, m->hours);
    }
    *out = mix_at(m, 0);
    for (int64_t reserved = 1; reserved <= most; reserved++) {
        struct capacity_mix_result r = mix_at(m, reserved);
        if (r.cost < out->cost) {
            *out = r;
        }
    }
    return 0;
}

int capacity_base(const int64_t *demand, size_t hours, double p_commit, double p_od,
                  int64_t *reserved, struct gt_error *err)
{
    int64_t most = 0;
    int rc = check_number("p_commit", p_commit, true, err);
    rc = rc ? rc : check_number("p_od", p_od, true, err);
    rc = rc ? rc : check_count("demand", (int64_t)hours, 1, MAX_STEPS, err);
    for (size_t t = 0; !rc && t < hours; t++) {
        rc = check_count("demand", demand[t], 0, MAX_NODES, err);
        most = demand[t] > most ? demand[t] : most;
    }
    int64_t *exactly = rc ? NULL : calloc((size_t)most + 1, sizeof *exactly);
    if (!exactly) {
        return rc ? rc
                  : gt_fail(err, GT_ENOMEM, "", "out of memory for %lld nodes", (long long)most);
    }
    for (size_t t = 0; t < hours; t++) {
        exactly[demand[t]]++;
    }
    int64_t used = (int64_t)hours - exactly[0]; /* hours that use node k + 1 */
    int64_t k = 0;
    while (k < most && p_od * (double)used > p_commit * (double)hours) {
        used -= exactly[++k];
    }
    *reserved = k;
    free(exactly);
    return 0;
}

/* Nodes in the order in which they become ready: ready times never fall from batch to batch. */
struct batch {
    int64_t ready_at, nodes;
};
struct fleet {
    struct batch *batch; /* [steps + 1] */
    size_t first_waiting, n_batches;
    int64_t ready, nodes;
    const int64_t *want;
    int64_t *peak; /* queue of steps whose `want` may be the window's largest */
    size_t head, tail;
    int64_t last_out, last_in, last_change;
    int last_sign;
};

static int64_t wanted(const struct autoscale *a, double load)
{
    double n = ceil(load / (a->theta * a->mu) - 1e-9);
    return n <= (double)a->min ? a->min : n >= (double)a->max ? a->max : (int64_t)n;
}

/* Largest want of the last `win` steps, by a queue of falling values. */
static int64_t window_peak(struct fleet *f, int64_t t, int64_t win)
{
    while (f->tail > f->head && f->want[f->peak[f->tail - 1]] <= f->want[t]) {
        f->tail--;
    }
    f->peak[f->tail++] = t;
    while (f->peak[f->head] < t - win + 1) {
        f->head++;
    }
    return f->want[f->peak[f->head]];
}

static void scale_out(struct fleet *f, int64_t nodes, int64_t ready_at)
{
    f->batch[f->n_batches++] = (struct batch){ready_at, nodes};
    f->nodes += nodes;
}

/* The nodes that become ready last leave first. */
static void scale_in(struct fleet *f, int64_t to)
{
    while (f->nodes > to) {
        struct batch *b = &f->batch[f->n_batches - 1];
        int64_t drop = least(b->nodes, f->nodes - to);
        b->nodes -= drop;
        f->nodes -= drop;
        if (f->n_batches <= f->first_waiting) { /* this batch was ready already */
            f->ready -= drop;
        }
        if (!b->nodes) {
            f->n_batches--;
            f->first_waiting = f->first_waiting > f->n_batches ? f->n_batches : f->first_waiting;
        }
    }
}

static int decide(struct fleet *f, const struct autoscale *a, int64_t t)
{
    int64_t want = f->want[t], hist = window_peak(f, t, a->win);
    if (want > f->nodes && t - f->last_out >= a->out_cd) {
        scale_out(f, want - f->nodes, t + a->warm);
        f->last_out = t;
        return 1;
    }
    if (hist < f->nodes && t - f->last_in >= a->in_cd && t - f->last_out >= a->in_cd) {
        scale_in(f, hist);
        f->last_in = t;
        return -1;
    }
    return 0;
}

static void step(struct fleet *f, const struct autoscale *a, int64_t t,
                 struct autoscale_result *out)
{
    int sign = decide(f, a, t);
    if (sign) {
        out->changes++;
        out->flaps += f->last_sign == -sign && t - f->last_change < a->flap_win;
        f->last_sign = sign;
        f->last_change = t;
    }
    while (f->first_waiting < f->n_batches && f->batch[f->first_waiting].ready_at <= t) {
        f->ready += f->batch[f->first_waiting++].nodes;
    }
    double capacity = (double)f->ready * a->mu, load = a->load[t];
    double served = load < capacity ? load : capacity;
    out->node_steps += f->nodes;
    out->served += served;
    out->dropped += load - served;
    out->peak_nodes = f->nodes > out->peak_nodes ? f->nodes : out->peak_nodes;
}

static int check_autoscale(const struct autoscale *a, struct gt_error *err)
{
    int rc = check_number("mu", a->mu, false, err);
    rc = rc ? rc : check_number("theta", a->theta, false, err);
    rc = rc ? rc : check_count("load", (int64_t)a->steps, 1, MAX_STEPS, err);
    rc = rc ? rc : check_count("min", a->min, 0, MAX_NODES, err);
    rc = rc ? rc : check_count("max", a->max, a->min, MAX_NODES, err);
    rc = rc ? rc : check_count("n0", a->n0, 0, MAX_NODES, err);
    rc = rc ? rc : check_count("win", a->win, 1, MAX_STEPS, err);
    rc = rc ? rc : check_count("out_cd", a->out_cd, 0, MAX_STEPS, err);
    rc = rc ? rc : check_count("in_cd", a->in_cd, 0, MAX_STEPS, err);
    rc = rc ? rc : check_count("warm", a->warm, 0, MAX_STEPS, err);
    rc = rc ? rc : check_count("flap_win", a->flap_win, 0, MAX_STEPS, err);
    for (size_t t = 0; !rc && t < a->steps; t++) {
        char name[48];
        snprintf(name, sizeof name, "load[%zu]", t);
        rc = check_number(name, a->load[t], true, err);
    }
    return rc;
}

static void simulate(struct fleet *f, const struct autoscale *a, int64_t *want,
                     struct autoscale_result *out)
{
    double top = 0;
    for (size_t t = 0; t < a->steps; t++) {
        want[t] = wanted(a, a->load[t]);
        top = a->load[t] > top ? a->load[t] : top;
    }
    f->want = want;
    f->last_out = f->last_in = -2 * (int64_t)MAX_STEPS;
    scale_out(f, a->n0, 0);
    for (size_t t = 0; t < a->steps; t++) {
        step(f, a, (int64_t)t, out);
        if (a->nodes) {
            a->nodes[t] = f->nodes;
        }
    }
    out->static_nodes = wanted(a, top);
    double fixed = (double)a->steps * (double)out->static_nodes;
    out->saving = fixed > 0 ? 1 - (double)out->node_steps / fixed : 0;
}

int autoscale_run(const struct autoscale *a, struct autoscale_result *out, struct gt_error *err)
{
    struct fleet f = {.last_sign = 0};
    int rc = check_autoscale(a, err);
    if (rc) {
        return rc;
    }
    int64_t *steps = malloc(2 * a->steps * sizeof *steps);
    f.batch = malloc((a->steps + 1) * sizeof *f.batch);
    if (!steps || !f.batch) {
        free(steps);
        free(f.batch);
        return gt_fail(err, GT_ENOMEM, "load", "out of memory for %zu steps", a->steps);
    }
    f.peak = steps + a->steps;
    *out = (struct autoscale_result){.changes = 0};
    simulate(&f, a, steps, out);
    free(steps);
    free(f.batch);
    return 0;
}
