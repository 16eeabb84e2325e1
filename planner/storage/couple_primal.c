/* A plan that keeps the limits, out of paths met while the prices were sought (couple.h): each
 * group's cheapest path at the prices; groups go over to other paths where that lowers the excess
 * for the least money until nothing is above its limit; then to cheaper ones where there is room.
 */
#include "couple.h"
#include <stdlib.h>
#include <string.h>

#define ROUNDS 30

struct change {
    double rank;
    size_t group;
    struct couple_path *to;
};

static int by_rank(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1)
                              : (x->group > y->group) - (x->group < y->group);
}

static double excess(const struct couple *c, const double *used)
{
    double v = 0;
    for (int i = 0; i < c->n_rows; i++) {
        v += used[i] > c->limit[i] ? used[i] / c->limit[i] - 1 : 0;
    }
    return v;
}

static void cheapest(struct couple *c, const double *sum)
{
    for (size_t g = 0; g < c->n; g++) {
        double least = 0;
        c->trial[g] = NULL;
        for (struct couple_path *p = c->pool[g]; p; p = p->next) {
            double v = p->cost + couple_priced(c, p, sum);
            if (!c->trial[g] || v < least) {
                c->trial[g] = p;
                least = v;
            }
        }
    }
}

/* For each group the path that lowers the excess most cheaply; their number. */
static size_t ways_down(struct couple *c, const double *sum, const double *over, struct change *out)
{
    size_t n = 0;
    for (size_t g = 0; g < c->n; g++) {
        const struct couple_path *now = c->trial[g];
        double cost = now->cost + couple_priced(c, now, sum), uses = couple_priced(c, now, over);
        struct change best = {.group = g};
        for (struct couple_path *p = c->pool[g]; p && uses > 0; p = p->next) {
            double relief = uses - couple_priced(c, p, over);
            double rank = relief > 0 ? (p->cost + couple_priced(c, p, sum) - cost) / relief : 0;
            if (relief > 0 && (!best.to || rank < best.rank)) {
                best.to = p;
                best.rank = rank;
            }
        }
        if (best.to) {
            out[n++] = best;
        }
    }
    qsort(out, n, sizeof *out, by_rank);
    return n;
}

static bool repair(struct couple *c, const double *sum, struct change *list, double *over,
                   double *price)
{
    for (int round = 0; round < ROUNDS; round++) {
        couple_usage(c, c->trial, c->used);
        if (couple_keeps(c, c->used)) {
            return true;
        }
        for (int i = 0; i < c->n_rows; i++) {
            price[i] = c->used[i] > c->limit[i] ? 1 / c->limit[i] : 0;
        }
        couple_sums(c, price, over);
        size_t n = ways_down(c, sum, over, list), done = 0;
        double v = excess(c, c->used);
        for (size_t i = 0; i < n && v > 0; i++) {
            struct couple_path *from = c->trial[list[i].group];
            couple_use(c, from, -1, c->used);
            couple_use(c, list[i].to, 1, c->used);
            double then = excess(c, c->used);
            if (then < v) {
                v = then;
                c->trial[list[i].group] = list[i].to;
                done++;
            } else {
                couple_use(c, list[i].to, -1, c->used);
                couple_use(c, from, 1, c->used);
            }
        }
        if (done == 0) {
            return false;
        }
    }
    couple_usage(c, c->trial, c->used);
    return couple_keeps(c, c->used);
}

/* Rows that a path uses are within their limits. */
static bool fits(const struct couple *c, const struct couple_path *p)
{
    for (int i = 0; i < p->n_runs; i++) {
        int row = c->block[p->run[i].block].row;
        for (int t = p->run[i].from; t < p->run[i].to; t++) {
            if (c->used[row + t] > c->limit[row + t]) {
                return false;
            }
        }
    }
    return true;
}

static void improve(struct couple *c, struct change *list)
{
    for (int round = 0; round < 3; round++) {
        size_t n = 0, done = 0;
        for (size_t g = 0; g < c->n; g++) {
            for (struct couple_path *p = c->pool[g]; p; p = p->next) {
                if (p->cost < c->trial[g]->cost && n < 4 * c->n) {
                    list[n++] = (struct change){p->cost - c->trial[g]->cost, g, p};
                }
            }
        }
        qsort(list, n, sizeof *list, by_rank);
        for (size_t i = 0; i < n; i++) {
            struct couple_path *from = c->trial[list[i].group];
            if (list[i].to->cost >= from->cost) {
                continue;
            }
            couple_use(c, from, -1, c->used);
            couple_use(c, list[i].to, 1, c->used);
            if (fits(c, list[i].to)) {
                c->trial[list[i].group] = list[i].to;
                done++;
            } else {
                couple_use(c, list[i].to, -1, c->used);
                couple_use(c, from, 1, c->used);
            }
        }
        couple_usage(c, c->trial, c->used); /* without what rounding left */
        if (done == 0) {
            return;
        }
    }
}

bool couple_primal(struct couple *c, const double *price)
{
    size_t sums = (size_t)(c->n_rows + c->n_blocks);
    double *sum = calloc(2 * sums + (size_t)c->n_rows, sizeof *sum);
    struct change *list = calloc(4 * c->n + 1, sizeof *list);
    bool better = false;
    if (sum && list) {
        couple_sums(c, price, sum);
        cheapest(c, sum);
        if (repair(c, sum, list, sum + sums, sum + 2 * sums)) {
            improve(c, list);
            double cost = 0;
            for (size_t g = 0; g < c->n; g++) {
                cost += c->trial[g]->cost;
            }
            better = couple_keeps(c, c->used) && cost < c->cost;
            if (better) {
                c->cost = cost;
                memcpy(c->pick, c->trial, c->n * sizeof *c->pick);
            }
        }
    }
    free(sum);
    free(list);
    return better;
}
