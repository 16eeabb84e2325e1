/* Prices of the rows with the highest bound (couple.h), by subgradient steps: each is a search of
 * every group's path at the prices in hand; rows used above their limit become dearer, others
 * cheaper, by a step towards a target that lies a little above the best value so far and comes
 * nearer when it is not reached. With many groups most steps are made on a sample of them whose
 * limits are scaled down, then on the paths met so far; only searches of all groups make a bound.
 */
#include "couple.h"
#include <stdlib.h>
#include <string.h>

#define SAMPLE        1500
#define STEPS_FEW     400 /* up to 50 groups */
#define STEPS_MIDDLE  160 /* up to SAMPLE */
#define STEPS_SAMPLE  70
#define STEPS_KNOWN   40 /* on known paths, between two searches of all groups */
#define FULL_SEARCHES 5
#define LONG          60 /* months; fewer steps for more of them */

struct dual {
    struct couple *c;
    int elastic;
    const struct tm_group *q, *other;
    const size_t *index; /* groups of the set in hand; NULL = all */
    size_t n;
    double *limit, *mu, *best_mu, *h, *dir, *used, *price, *sum;
    double *month;      /* [horizon + 1]: factors of money */
    double value, best; /* of this step, of the set in hand */
};

static bool is_elastic(const struct dual *d, int block)
{
    return d->elastic == COUPLE_ALL || d->elastic == block;
}

static void use_diff(struct couple *c, const struct couple_path *p)
{
    for (int i = 0; i < p->n_runs; i++) {
        const struct couple_run *r = &p->run[i];
        double *x = &c->diff[c->block[r->block].row + r->block];
        x[r->from] += r->amount;
        x[r->to] -= r->amount;
    }
}

static void take(struct dual *d, size_t group, struct couple_path *p, double priced)
{
    d->value += priced + (d->elastic == COUPLE_COST ? p->cost : 0);
    d->c->trial[group] = p;
    use_diff(d->c, p);
}

static int found(void *ctx, size_t i, const struct tm_segment *s, size_t n)
{
    struct dual *d = ctx;
    size_t group = d->index ? d->index[i] : i;
    struct couple_path *p;
    int rc = couple_pool_add(d->c, group, s, n, &p);
    if (rc == 0) {
        take(d, group, p, couple_priced(d->c, p, d->sum));
    }
    return rc;
}

/* Least of each group's known paths. */
static void known_paths(struct dual *d)
{
    double own = d->elastic == COUPLE_COST ? 1 : 0;
    for (size_t g = 0; g < d->c->n; g++) {
        struct couple_path *best = NULL;
        double least = 0, its = 0;
        for (struct couple_path *p = d->c->pool[g]; p; p = p->next) {
            double priced = couple_priced(d->c, p, d->sum), v = priced + own * p->cost;
            if (!best || v < least) {
                best = p;
                least = v;
                its = priced;
            }
        }
        take(d, g, best, its);
    }
}

static int search_paths(struct dual *d, struct gt_error *err)
{
    struct couple *c = d->c;
    struct tm_prices x = {.money = d->month, .other = d->other};
    for (int t = 0; t <= c->horizon; t++) {
        d->month[t] = d->elastic == COUPLE_COST ? 1 : 0;
    }
    for (int b = 0; b < c->n_blocks; b++) {
        const double *price = &d->price[c->block[b].row];
        if (c->block[b].kind == COUPLE_BYTES) {
            x.byte[c->block[b].tier] = price;
        } else if (c->block[b].kind == COUPLE_OTHER) {
            x.other_money = price[0];
        } else {
            for (int t = 0; t < c->horizon; t++) {
                d->month[t] += price[t];
            }
        }
    }
    d->month[c->horizon] = d->month[c->horizon - 1];
    return tier_search(c->m, d->q, d->n, c->horizon, &x, found, d, err);
}

/* Value and use of the rows at the prices mu / limit; h: excess as a share of the limit. */
static int evaluate(struct dual *d, bool known, struct gt_error *err)
{
    struct couple *c = d->c;
    d->value = 0;
    memset(c->diff, 0, (size_t)(c->n_rows + c->n_blocks) * sizeof *c->diff);
    for (int i = 0; i < c->n_rows; i++) {
        d->price[i] = d->mu[i] / d->limit[i];
        d->value -= d->mu[i];
    }
    couple_sums(c, d->price, d->sum);
    int rc = 0;
    if (known) {
        known_paths(d);
    } else {
        rc = search_paths(d, err);
    }
    for (int b = 0; b < c->n_blocks && rc == 0; b++) {
        const struct couple_block *x = &c->block[b];
        double u = 0;
        for (int t = 0; t < x->months; t++) {
            u += c->diff[x->row + b + t];
            d->used[x->row + t] = u;
            d->h[x->row + t] = u / d->limit[x->row + t] - 1;
        }
    }
    return rc;
}

/* Nearest prices that are allowed: none below 0, those of elastic rows at most 1 together. */
static void project(struct dual *d)
{
    struct couple *c = d->c;
    double lo = 0, hi = 0, total = 0;
    for (int b = 0; b < c->n_blocks; b++) {
        for (int i = c->block[b].row; i < c->block[b].row + c->block[b].months; i++) {
            d->mu[i] = d->mu[i] > 0 ? d->mu[i] : 0;
            if (is_elastic(d, b)) {
                total += d->mu[i];
                hi = d->mu[i] > hi ? d->mu[i] : hi;
            }
        }
    }
    if (d->elastic == COUPLE_COST || total <= 1) {
        return;
    }
    for (int round = 0; round < 60; round++) {
        double off = (lo + hi) / 2, sum = 0;
        for (int b = 0; b < c->n_blocks; b++) {
            for (int i = c->block[b].row;
                 is_elastic(d, b) && i < c->block[b].row + c->block[b].months; i++) {
                sum += d->mu[i] > off ? d->mu[i] - off : 0;
            }
        }
        *(sum > 1 ? &lo : &hi) = off;
    }
    for (int b = 0; b < c->n_blocks; b++) {
        for (int i = c->block[b].row; is_elastic(d, b) && i < c->block[b].row + c->block[b].months;
             i++) {
            d->mu[i] = d->mu[i] > hi ? d->mu[i] - hi : 0;
        }
    }
}

/* One step of length (target - value) / |direction|^2; false when no direction is left. */
static bool step(struct dual *d, double target)
{
    int n = d->c->n_rows;
    double dot = 0, norm = 0;
    for (int i = 0; i < n; i++) {
        d->h[i] = d->mu[i] <= 0 && d->h[i] < 0 ? 0 : d->h[i];
        dot += d->h[i] * d->dir[i];
        norm += d->dir[i] * d->dir[i];
    }
    double back = norm > 0 && dot < 0 ? -1.5 * dot / norm : 0; /* turns away from a zigzag */
    norm = 0;
    for (int i = 0; i < n; i++) {
        d->dir[i] = d->h[i] + back * d->dir[i];
        norm += d->dir[i] * d->dir[i];
    }
    if (norm <= 0) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        d->mu[i] += (target - d->value) / norm * d->dir[i];
    }
    project(d);
    return true;
}

/* Steps from best_mu on; the best prices stay in best_mu. Every search of all groups is a bound. */
static int climb(struct dual *d, int steps, double delta, bool known, struct gt_error *err)
{
    struct couple *c = d->c;
    size_t size = (size_t)c->n_rows * sizeof *d->mu;
    bool bound = !known && !d->index;
    int idle = 0;
    memcpy(d->mu, d->best_mu, size);
    project(d); /* those of a sample may not be allowed */
    memset(d->dir, 0, size);
    d->best = -(double)INFINITY;
    for (int i = 0; i < steps; i++) {
        int rc = evaluate(d, known, err);
        if (rc < 0) {
            return rc;
        }
        if (bound && d->value > c->bound) {
            c->bound = d->value;
            memcpy(c->price, d->price, size);
        }
        if (bound && d->elastic == COUPLE_COST && (c->n <= 50 || i + 1 == steps)) {
            couple_primal(c, d->price);
        }
        bool first = i == 0, much = d->value > d->best + delta / 2;
        if (d->value > d->best) {
            d->best = d->value;
            memcpy(d->best_mu, d->mu, size);
        }
        delta = first ? delta * (1e-3 + fabs(d->value)) : much ? delta * 1.5 : delta;
        idle = first || much ? 0 : idle + 1;
        if (idle >= 6) {
            idle = 0;
            delta /= 2;
            memcpy(d->mu, d->best_mu, size);
            memset(d->dir, 0, size);
            rc = evaluate(d, known, err);
            if (rc < 0) {
                return rc;
            }
        }
        if (delta < 1e-11 * fabs(d->best) || !step(d, d->best + delta)) {
            break;
        }
    }
    return 0;
}

/* Every (n / SAMPLE)th group, with its share of what all use without prices. */
static int on_sample(struct dual *d, struct gt_error *err)
{
    struct couple *c = d->c;
    size_t n = SAMPLE;
    size_t *index = calloc(n, sizeof *index);
    struct tm_group *q = calloc(n, sizeof *q), *other = calloc(n, sizeof *other);
    double *part = calloc((size_t)c->n_rows, sizeof *part);
    const struct tm_group *all = d->q, *all_other = d->other;
    int rc = index && q && other && part ? 0 : GT_ENOMEM;
    if (rc == 0) {
        for (size_t i = 0; i < n; i++) {
            index[i] = i * c->n / n;
            q[i] = c->q[index[i]];
            other[i] = c->other ? c->other[index[i]] : q[i];
            couple_use(c, c->trial[index[i]], 1, part);
        }
        couple_usage(c, c->trial, c->used);
        for (int i = 0; i < c->n_rows; i++) {
            double share = c->used[i] > 0 ? part[i] / c->used[i] : (double)n / (double)c->n;
            d->limit[i] = c->limit[i] * (share > 0 ? share : (double)n / (double)c->n);
        }
        d->q = q;
        d->other = c->other ? other : NULL;
        d->index = index;
        d->n = n;
        rc = climb(d, STEPS_SAMPLE, 0.1, false, err);
        for (int i = 0; i < c->n_rows; i++) { /* the same prices for all */
            d->best_mu[i] *= c->limit[i] / d->limit[i];
            d->limit[i] = c->limit[i];
        }
        memcpy(d->mu, d->best_mu, (size_t)c->n_rows * sizeof *d->mu);
        d->q = all;
        d->other = all_other;
        d->index = NULL;
        d->n = c->n;
    }
    free(index);
    free(q);
    free(other);
    free(part);
    return rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory") : rc;
}

static int run(struct dual *d, int rounds, struct gt_error *err)
{
    struct couple *c = d->c;
    int elastic_rows = 0, rc = 0;
    for (int b = 0; b < c->n_blocks; b++) {
        elastic_rows += is_elastic(d, b) ? c->block[b].months : 0;
    }
    for (int b = 0; b < c->n_blocks; b++) {
        for (int i = c->block[b].row; i < c->block[b].row + c->block[b].months; i++) {
            d->limit[i] = c->limit[i];
            d->best_mu[i] = d->elastic == COUPLE_COST ? c->price[i] * c->limit[i]
                            : is_elastic(d, b)        ? 1.0 / elastic_rows
                                                      : 0;
        }
    }
    c->bound = -(double)INFINITY;
    if (c->n <= SAMPLE) {
        int steps = rounds * (c->n <= 50 ? STEPS_FEW : STEPS_MIDDLE);
        steps = c->horizon > LONG ? steps * LONG / c->horizon : steps;
        return climb(d, steps > STEPS_KNOWN ? steps : STEPS_KNOWN, 0.1, false, err);
    }
    rc = on_sample(d, err);
    for (int i = 0; i < FULL_SEARCHES * rounds && rc == 0; i++) {
        rc = climb(d, 1, 0, false, err);
        rc = rc < 0 ? rc : climb(d, STEPS_KNOWN, i == 0 ? 1e-3 : 3e-4, true, err);
    }
    return rc < 0 ? rc : climb(d, 1, 0, false, err);
}

int couple_dual(struct couple *c, int elastic, int rounds, struct gt_error *err)
{
    size_t rows = (size_t)c->n_rows, sums = rows + (size_t)c->n_blocks;
    struct dual d = {.c = c, .elastic = elastic, .q = c->q, .other = c->other, .n = c->n};
    double *all = calloc(7 * rows + sums + (size_t)c->horizon + 1, sizeof *all);
    if (!all) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    d.limit = all;
    d.mu = d.limit + rows;
    d.best_mu = d.mu + rows;
    d.h = d.best_mu + rows;
    d.dir = d.h + rows;
    d.used = d.dir + rows;
    d.price = d.used + rows;
    d.sum = d.price + rows;
    d.month = d.sum + sums;
    int rc = run(&d, rounds, err);
    free(all);
    return rc;
}
