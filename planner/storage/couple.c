/* Drives prices, plan and proof of coupling constraints, and says which cannot be kept (couple.h).
 */
#include "couple.h"
#include <stdlib.h>
#include <string.h>

#define PROVE_GROUPS 2000
#define TRIES        24

static int found(void *ctx, size_t i, const struct tm_segment *s, size_t n)
{
    struct couple *c = ctx;
    return couple_pool_add(c, i, s, n, &c->trial[i]);
}

/* Every group for itself: if that keeps the limits it is the answer. */
static int alone(struct couple *c, struct gt_error *err)
{
    int rc = tier_search(c->m, c->q, c->n, c->horizon, NULL, found, c, err);
    if (rc < 0) {
        return rc;
    }
    c->bound = 0;
    for (size_t g = 0; g < c->n; g++) {
        c->bound += c->trial[g]->cost;
    }
    couple_usage(c, c->trial, c->used);
    if (couple_keeps(c, c->used)) {
        c->cost = c->bound;
        memcpy(c->pick, c->trial, c->n * sizeof *c->pick);
    }
    return 0;
}

static bool has_plan(const struct couple *c)
{
    return c->cost < (double)INFINITY;
}

/* Largest use of a block by the plan in hand. */
static double peak(struct couple *c, int block)
{
    const struct couple_block *b = &c->block[block];
    double most = 0;
    couple_usage(c, c->pick, c->used);
    for (int t = 0; t < b->months; t++) {
        most = c->used[b->row + t] > most ? c->used[b->row + t] : most;
    }
    return most;
}

static bool plan_with(struct couple *c, int block, double limit)
{
    for (int t = 0; t < c->block[block].months; t++) {
        c->limit[c->block[block].row + t] = limit;
    }
    c->cost = (double)INFINITY;
    return couple_primal(c, c->price);
}

/* How far the constraint in the way would have to be relaxed, the others as they are. */
static int explain(struct couple *c, struct couple_answer *out, struct gt_error *err)
{
    double most = -1;
    for (int b = 0; b < c->n_blocks; b++) {
        double weight = 0;
        for (int t = 0; t < c->block[b].months; t++) {
            weight += c->price[c->block[b].row + t] * c->limit[c->block[b].row + t];
        }
        if (weight > most) {
            most = weight;
            out->block = b;
        }
    }
    double limit = c->block[out->block].limit;
    memset(c->price, 0, (size_t)c->n_rows * sizeof *c->price);
    int rc = couple_dual(c, out->block, 1, err);
    if (rc < 0) {
        return rc;
    }
    double lo = limit * (1 + (c->bound > 0 ? c->bound : 0)), hi = lo;
    out->least = lo;
    out->enough = (double)INFINITY;
    memset(c->price, 0, (size_t)c->n_rows * sizeof *c->price);
    for (int i = 0; i < TRIES && !plan_with(c, out->block, hi); i++) {
        hi = i == 0 ? lo * 1.001 : lo + (hi - lo) * 2.5;
    }
    for (int i = 0; i < TRIES && has_plan(c); i++) {
        double use = peak(c, out->block), middle = lo + (use - lo) / 2;
        out->enough = use < out->enough ? use : out->enough;
        if (use - lo <= 1e-9 * use || plan_with(c, out->block, middle)) {
            continue;
        }
        lo = middle;
        plan_with(c, out->block, out->enough);
    }
    c->cost = (double)INFINITY;
    return 0;
}

static int prove(struct couple *c, bool *proved, struct gt_error *err)
{
    *proved = has_plan(c) && c->cost - c->bound <= 1e-13 * fabs(c->cost);
    return *proved || c->n > PROVE_GROUPS ? 0 : couple_exact(c, proved, err);
}

/* No plan was found on the way to the prices: is there none? */
static int none_found(struct couple *c, struct couple_answer *out, struct gt_error *err)
{
    size_t rows = (size_t)c->n_rows;
    double bound = c->bound, *price = calloc(rows, sizeof *price);
    if (!price) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    memcpy(price, c->price, rows * sizeof *price);
    int rc = couple_dual(c, COUPLE_ALL, 1, err);
    bool proved = false;
    out->proven = rc == 0 && c->bound > 1e-9;
    if (rc == 0 && !out->proven && !couple_primal(c, price)) { /* the pool has grown */
        double *kept = c->price, excess = c->bound;
        c->price = price;
        c->bound = bound;
        rc = prove(c, &proved, err);
        out->proven = proved && !has_plan(c);
        c->price = kept;
        c->bound = excess;
    }
    if (rc == 0 && has_plan(c)) {
        c->bound = bound;
        memcpy(c->price, price, rows * sizeof *price);
    } else if (rc == 0) {
        out->end = COUPLE_NONE;
        rc = explain(c, out, err);
    }
    free(price);
    return rc;
}

static int solve(struct couple *c, struct couple_answer *out, struct gt_error *err)
{
    int rc = alone(c, err);
    if (rc < 0 || has_plan(c)) {
        return rc;
    }
    double free_cost = c->bound;
    bool proved = false;
    rc = couple_dual(c, COUPLE_COST, 1, err);
    c->bound = c->bound > free_cost ? c->bound : free_cost;
    if (rc == 0 && !has_plan(c)) {
        rc = none_found(c, out, err);
        if (rc < 0 || out->end == COUPLE_NONE) {
            return rc;
        }
    }
    rc = rc < 0 ? rc : prove(c, &proved, err);
    out->end = proved ? COUPLE_EXACT : COUPLE_GAP;
    if (proved || c->bound > c->cost) {
        c->bound = c->cost;
    }
    return rc;
}

/* Sums of whole numbers are exact up to 2^53; above that a limit is kept with room for rounding. */
static double with_room(double limit)
{
    limit = limit > 0.5 ? limit : 0.5; /* 0 lets nothing in, which 1/2 does as well */
    return limit > 9007199254740992.0 ? limit * (1 - 4e-13) : limit;
}

int couple_solve(struct couple *c, struct arena *arena, struct couple_answer *out,
                 struct gt_error *err)
{
    *out = (struct couple_answer){.end = COUPLE_EXACT, .block = -1};
    c->arena = arena;
    c->n_rows = 0;
    for (int b = 0; b < c->n_blocks; b++) {
        c->block[b].row = c->n_rows;
        c->n_rows += c->block[b].months;
    }
    size_t rows = (size_t)c->n_rows;
    c->pool = calloc(c->n + 1, sizeof(struct couple_path *));
    c->pick = calloc(c->n + 1, sizeof(struct couple_path *));
    c->trial = calloc(c->n + 1, sizeof(struct couple_path *));
    c->limit = calloc(rows + 1, sizeof *c->limit);
    c->price = calloc(rows + 1, sizeof *c->price);
    c->used = calloc(rows + 1, sizeof *c->used);
    c->diff = calloc(rows + COUPLE_BLOCKS, sizeof *c->diff);
    c->runs = calloc(5 * (size_t)c->horizon + 8, sizeof *c->runs);
    if (!c->pool || !c->pick || !c->trial || !c->limit || !c->price || !c->used || !c->diff ||
        !c->runs) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (int b = 0; b < c->n_blocks; b++) {
        for (int t = 0; t < c->block[b].months; t++) {
            c->limit[c->block[b].row + t] = with_room(c->block[b].limit);
        }
    }
    c->cost = (double)INFINITY;
    int rc = solve(c, out, err);
    return rc == GT_ENOMEM || rc == GT_ERANGE
               ? gt_fail(err, rc, "",
                         rc == GT_ENOMEM ? "out of memory" : "a cost passes the range of money")
               : rc;
}

void couple_release(struct couple *c)
{
    free(c->pool);
    free(c->pick);
    free(c->trial);
    free(c->limit);
    free(c->price);
    free(c->used);
    free(c->diff);
    free(c->runs);
}
