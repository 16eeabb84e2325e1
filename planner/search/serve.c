/* Demand shapes, the clairvoyant fleet and the search for a better policy (serve.h). */
#include "gputier/serve.h"
#include "gputier/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As autoscale_run takes; a year of seconds fits. */
#define MAX_STEPS 10000000
#define PI        3.14159265358979323846

static double shape_at(const struct scenario *s, double t)
{
    double phase = fmod(t, s->demand_period_s) / s->demand_period_s;
    double high = 0; /* 0 = base, 1 = peak */
    if (strcmp(s->demand_shape, "sine") == 0) {
        high = (1 - cos(2 * PI * phase)) / 2;
    } else if (phase >= 0.5) { /* promotion */
        double climb = (phase - 0.5) * 48, fall = (phase - 0.5 - 1.0 / 48 - 1.0 / 12) * 24;
        high = climb < 1 ? climb : fall < 0 ? 1 : fall < 1 ? 1 - fall : 0;
    }
    return s->demand_base + (s->demand_peak - s->demand_base) * high;
}

int serve_shape(const struct scenario *s, double **load, size_t *steps, struct gt_error *err)
{
    double n = ceil(s->demand_length_s / s->step_s - 1e-9);
    *load = NULL;
    if (!(n >= 1 && n <= MAX_STEPS)) {
        return gt_fail(err, GT_ERANGE, s->file,
                       "serving: demand.length is %.0f steps of `step`, expected 1 to %d", n,
                       MAX_STEPS);
    }
    *steps = (size_t)n;
    *load = malloc(*steps * sizeof **load);
    if (!*load) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory for %zu steps", *steps);
    }
    for (size_t t = 0; t < *steps; t++) {
        (*load)[t] = shape_at(s, (double)t * s->step_s);
    }
    return 0;
}

static int64_t in_steps(double seconds, double step_s)
{
    return (int64_t)ceil(seconds / step_s - 1e-9);
}

static int64_t nodes_for(const struct autoscale *a, double load, double theta)
{
    double n = ceil(load / (theta * a->mu) - 1e-9);
    return n <= (double)a->min ? a->min : n >= (double)a->max ? a->max : (int64_t)n;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void serve_policy(const struct scenario *s, const double *load, size_t steps, struct autoscale *out)
{
    *out = (struct autoscale){.load = load,
                              .steps = steps,
                              .mu = s->requests_per_s_per_node,
                              .theta = s->target_utilisation,
                              .min = s->min_nodes,
                              .max = s->max_nodes,
                              .out_cd = in_steps(s->cooldown_out_s, s->step_s),
                              .in_cd = in_steps(s->cooldown_in_s, s->step_s),
                              .warm = in_steps(s->warmup_s, s->step_s)};
    out->win = larger(1, in_steps(s->cooldown_window_s, s->step_s));
    out->flap_win = larger(out->win, larger(out->in_cd, out->out_cd));
    out->n0 = nodes_for(out, load[0], out->theta);
}

/* Nodes that left at the same step; the top of the stack holds the lowest of them. */
struct gone {
    int64_t nodes;
    size_t since; /* first step without them */
};

/* What it costs beyond the steps of need to have `up` more nodes at step t. */
static int64_t bring_back(struct gone *stack, size_t *depth, int64_t up, size_t t, int64_t warm)
{
    int64_t paid = 0;
    while (up > 0 && *depth > 0) {
        struct gone *g = &stack[*depth - 1];
        int64_t n = g->nodes < up ? g->nodes : up, gap = (int64_t)(t - g->since);
        paid += n * (gap < warm ? gap : warm);
        g->nodes -= n;
        up -= n;
        *depth -= g->nodes == 0;
    }
    /* Never ready before: warmed up once, from the first step at the earliest. */
    return paid + up * ((int64_t)t < warm ? (int64_t)t : warm);
}

int serve_clairvoyant(const struct autoscale *a, int64_t *node_steps, struct gt_error *err)
{
    struct gone *stack = malloc((a->steps + 1) * sizeof *stack);
    size_t depth = 0;
    int64_t have = a->n0;
    if (!stack) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory for %zu steps", a->steps);
    }
    *node_steps = 0;
    for (size_t t = 0; t < a->steps; t++) {
        int64_t need = nodes_for(a, a->load[t], 1);
        if (need < have) {
            stack[depth++] = (struct gone){have - need, t};
        } else if (need > have) {
            *node_steps += bring_back(stack, &depth, need - have, t, a->warm);
        }
        *node_steps += need;
        have = need;
    }
    free(stack);
    return 0;
}

/* The grid: what people set, in seconds. */
static const double grid_theta[] = {0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9};
static const double grid_in_s[] = {0, 300, 600, 900, 1800, 3600};
static const double grid_win_s[] = {0, 300, 900, 1800};
static const double grid_out_s[] = {0, 60, 300};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define GRID     (COUNT(grid_theta) * COUNT(grid_in_s) * COUNT(grid_win_s) * COUNT(grid_out_s))

/* White noise on every step: it decides about flaps and headroom more than the curve does
 * (spot-model.md section 9). */
#define NOISE 0.1

struct tried {
    struct autoscale a;
    struct autoscale_result r, noisy;
    double missed; /* share: first of r, then the larger of r and noisy */
};
struct trial {
    struct tried *all;
    size_t n;
    const double *noisy_load;
    double max_miss;
    const volatile sig_atomic_t *cancel;
    struct gt_error *err;
};

static double missed(const struct autoscale_result *r)
{
    double offered = r->served + r->dropped;
    return offered > 0 ? r->dropped / offered : 0;
}

static void grid_at(size_t i, double step_s, struct autoscale *a)
{
    a->theta = grid_theta[i % COUNT(grid_theta)];
    i /= COUNT(grid_theta);
    a->in_cd = in_steps(grid_in_s[i % COUNT(grid_in_s)], step_s);
    i /= COUNT(grid_in_s);
    a->win = larger(1, in_steps(grid_win_s[i % COUNT(grid_win_s)], step_s));
    i /= COUNT(grid_win_s);
    a->out_cd = in_steps(grid_out_s[i], step_s);
    a->n0 = nodes_for(a, a->load[0], a->theta);
}

/* The grid and, last, the policy as it was asked, on the demand as given. */
static int try_plain(struct trial *t, const struct autoscale *a, double step_s)
{
    int rc = 0;
    for (size_t i = 0; i < t->n && rc == 0; i++) {
        struct tried *p = &t->all[i];
        p->a = *a;
        p->a.nodes = NULL;
        if (i < GRID) { /* flap_win stays: one measure of a flap for all */
            grid_at(i, step_s, &p->a);
        }
        rc = t->cancel && *t->cancel ? gt_fail(t->err, GT_ECANCELLED, "", "interrupted")
                                     : autoscale_run(&p->a, &p->r, t->err);
        p->missed = missed(&p->r);
    }
    return rc;
}

static int by_cost(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    if (x->r.node_steps != y->r.node_steps) {
        return x->r.node_steps < y->r.node_steps ? -1 : 1;
    }
    if (x->missed != y->missed) {
        return x->missed < y->missed ? -1 : 1;
    }
    int64_t d = x->a.in_cd - y->a.in_cd; /* any order, but always the same */
    d = d ? d : x->a.win - y->a.win;
    d = d ? d : x->a.out_cd - y->a.out_cd;
    return d ? (d < 0 ? -1 : 1) : (x->a.theta > y->a.theta) - (x->a.theta < y->a.theta);
}

static int try_noisy(struct trial *t, struct tried *p)
{
    struct autoscale b = p->a;
    b.load = t->noisy_load;
    b.n0 = nodes_for(&b, b.load[0], b.theta);
    int rc = t->cancel && *t->cancel ? gt_fail(t->err, GT_ECANCELLED, "", "interrupted")
                                     : autoscale_run(&b, &p->noisy, t->err);
    p->missed = fmax(p->missed, missed(&p->noisy));
    return rc;
}

static bool calmer(const struct tried *x, const struct tried *y)
{
    return x->noisy.flaps != y->noisy.flaps ? x->noisy.flaps < y->noisy.flaps
                                            : x->noisy.changes < y->noisy.changes;
}

/* From the cheapest up: the first that holds under noise too, then the calmest within 1 % of it. */
static int choose(struct trial *t, const struct tried **best)
{
    const struct tried *least = NULL, *kindest = NULL;
    qsort(t->all, t->n, sizeof *t->all, by_cost);
    *best = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct tried *p = &t->all[i];
        if (least && (double)p->r.node_steps > 1.01 * (double)least->r.node_steps) {
            return 0;
        }
        if (p->missed > t->max_miss && kindest && p->missed >= kindest->missed) {
            continue; /* neither within the limit nor the one that misses least */
        }
        int rc = try_noisy(t, p);
        if (rc) {
            return rc;
        }
        if (p->missed <= t->max_miss) {
            least = least ? least : p;
            *best = *best && !calmer(p, *best) ? *best : p;
        } else if (!kindest || p->missed < kindest->missed) {
            kindest = p;
        }
    }
    *best = *best ? *best : kindest;
    return 0;
}

int serve_recommend(const struct autoscale *a, double step_s, double max_miss,
                    struct serve_policy_found *out, const volatile sig_atomic_t *cancel,
                    struct gt_error *err)
{
    struct tried *all = malloc((GRID + 1) * sizeof *all);
    double *noisy = malloc(a->steps * sizeof *noisy);
    const struct tried *best = NULL;
    struct rng rng;
    if (!all || !noisy) {
        free(all);
        free(noisy);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    rng_init(&rng, 1, 0);
    for (size_t t = 0; t < a->steps; t++) {
        noisy[t] = a->load[t] * (1 + NOISE * (2 * rng_unit(&rng) - 1));
    }
    struct trial t = {all, GRID + 1, noisy, max_miss, cancel, err};
    int rc = try_plain(&t, a, step_s);
    rc = rc ? rc : choose(&t, &best);
    if (rc == 0) {
        *out = (struct serve_policy_found){best->a, best->r, best->noisy, best->missed <= max_miss};
    }
    free(all);
    free(noisy);
    return rc;
}
