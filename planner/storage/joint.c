/* R-OPT-03: one tier per group under shared capacity, shared throughput with bought units, and a
 * budget; exact branch and bound in integers of 10^-12. R-OPT-06: what a savings target needs. */
#include "gputier/billing.h"
#include <stdlib.h>

#define JOINT_NODES 200000000LL

struct joint {
    const struct joint_problem *p;
    int *order, *tier_of, *best_of;
    money (*cost)[JOINT_TIERS];
    money (*need)[JOINT_TIERS]; /* throughput - earned, at 10^-12 */
    money *gb, *least_after;    /* least_after[i]: least cost of order[i..) */
    money capacity[JOINT_TIERS], included[JOINT_TIERS], unit[JOINT_TIERS], price[JOINT_TIERS],
        most[JOINT_TIERS];
    money used_gb[JOINT_TIERS], used_need[JOINT_TIERS];
    money best, budget;
    bool found;
    long long nodes;
};

/* Cost of the units that the finished assignment needs, -1 when a tier cannot deliver. */
static money units_cost(const struct joint *j)
{
    money sum = 0;
    for (int k = 0; k < j->p->n_tiers; k++) {
        const struct joint_tier *t = &j->p->tier[k];
        money missing = j->used_need[k] - j->included[k];
        if (!t->has_throughput || missing <= 0) {
            continue;
        }
        if (!t->has_unit || j->unit[k] <= 0) {
            return -1;
        }
        money units = (missing + j->unit[k] - 1) / j->unit[k];
        if (t->has_max && units * MONEY_SCALE > j->most[k]) {
            return -1;
        }
        sum += units * j->price[k];
    }
    return sum;
}

static void search(struct joint *j, int depth, money spent)
{
    const struct joint_problem *p = j->p;
    if (++j->nodes > JOINT_NODES || spent + j->least_after[depth] > j->budget ||
        (j->found && spent + j->least_after[depth] >= j->best)) {
        return;
    }
    if (depth == p->n_groups) {
        money units = units_cost(j);
        if (units < 0 || spent + units > j->budget || (j->found && spent + units >= j->best)) {
            return;
        }
        j->best = spent + units;
        j->found = true;
        for (int g = 0; g < p->n_groups; g++) {
            j->best_of[g] = j->tier_of[g];
        }
        return;
    }
    int g = j->order[depth];
    bool tried[JOINT_TIERS] = {false};
    for (int round = 0; round < p->n_tiers; round++) {
        int k = -1; /* cheapest tier first: a good plan early prunes the rest */
        for (int i = 0; i < p->n_tiers; i++) {
            if (!tried[i] && p->group[g].allowed[i] && (k < 0 || j->cost[g][i] < j->cost[g][k])) {
                k = i;
            }
        }
        if (k < 0) {
            return;
        }
        tried[k] = true;
        if (p->tier[k].has_capacity && j->used_gb[k] + j->gb[g] > j->capacity[k]) {
            continue;
        }
        j->used_gb[k] += j->gb[g];
        j->used_need[k] += j->need[g][k];
        j->tier_of[g] = k;
        search(j, depth + 1, spent + j->cost[g][k]);
        j->used_gb[k] -= j->gb[g];
        j->used_need[k] -= j->need[g][k];
    }
}

static int exact(struct rat r, money *out)
{
    int rc = rat_money(r, out);
    return rc < 0 ? rc : rat_cmp(rat_of_money(*out), r) == 0 ? 0 : GT_ERANGE;
}

static int fill(struct joint *j)
{
    const struct joint_problem *p = j->p;
    int rc = p->has_budget ? exact(p->budget, &j->budget) : 0;
    for (int k = 0; k < p->n_tiers && rc == 0; k++) {
        const struct joint_tier *t = &p->tier[k];
        rc = exact(t->capacity_gb, &j->capacity[k]);
        rc = rc < 0 ? rc : exact(t->included, &j->included[k]);
        rc = rc < 0 ? rc : exact(t->unit, &j->unit[k]);
        rc = rc < 0 ? rc : exact(t->unit_price, &j->price[k]);
        rc = rc < 0 ? rc : exact(t->max_units, &j->most[k]);
    }
    for (int g = 0; g < p->n_groups && rc == 0; g++) {
        const struct joint_group *x = &p->group[g];
        rc = exact(x->gb, &j->gb[g]);
        j->order[g] = g;
        for (int k = 0; k < p->n_tiers && rc == 0; k++) {
            if (x->allowed[k]) {
                struct rat earned = rat_mul(p->tier[k].per_gb, x->gb);
                rc = exact(x->cost[k], &j->cost[g][k]);
                rc = rc < 0 ? rc : exact(rat_sub(x->throughput, earned), &j->need[g][k]);
            }
        }
    }
    return rc;
}

/* Groups whose choice matters most first; then the least cost of every tail of that order. */
static bool arrange(struct joint *j)
{
    const struct joint_problem *p = j->p;
    for (int i = 1; i < p->n_groups; i++) {
        int g = j->order[i], at = i;
        for (; at > 0 && j->gb[j->order[at - 1]] < j->gb[g]; at--) {
            j->order[at] = j->order[at - 1];
        }
        j->order[at] = g;
    }
    j->least_after[p->n_groups] = 0;
    for (int i = p->n_groups - 1; i >= 0; i--) {
        int g = j->order[i], best = -1;
        for (int k = 0; k < p->n_tiers; k++) {
            if (p->group[g].allowed[k] && (best < 0 || j->cost[g][k] < j->cost[g][best])) {
                best = k;
            }
        }
        if (best < 0) {
            return false;
        }
        j->least_after[i] = j->least_after[i + 1] + j->cost[g][best];
    }
    return true;
}

static int run(struct joint *j, struct joint_result *r, struct gt_error *err)
{
    const struct joint_problem *p = j->p;
    int rc = fill(j);
    if (rc < 0) {
        return gt_fail(err, rc, "joint-optimum", "values need at most 12 decimals");
    }
    r->feasible = arrange(j);
    if (!r->feasible) {
        return 0;
    }
    search(j, 0, 0);
    if (j->nodes > JOINT_NODES) {
        return gt_fail(err, GT_ELIMIT, "joint-optimum", "more than %lld nodes", JOINT_NODES);
    }
    r->feasible = j->found;
    r->total = rat_of_money(j->best);
    r->lower_bound = rat_of_money(j->least_after[0]);
    for (int g = 0; g < p->n_groups; g++) {
        r->tier_of[g] = j->best_of[g];
    }
    return 0;
}

int joint_optimum(const struct joint_problem *p, struct joint_result *r, struct gt_error *err)
{
    if (p->n_groups < 1 || p->n_groups > 1000 || p->n_tiers < 1 || p->n_tiers > JOINT_TIERS) {
        return gt_fail(err, GT_ERANGE, "joint-optimum", "1 to 1000 groups and 1 to %d tiers",
                       JOINT_TIERS);
    }
    struct joint j = {.p = p, .budget = (money)1 << 120};
    size_t n = (size_t)p->n_groups;
    j.order = calloc(n, sizeof *j.order);
    j.tier_of = calloc(n, sizeof *j.tier_of);
    j.best_of = calloc(n, sizeof *j.best_of);
    j.cost = calloc(n, sizeof *j.cost);
    j.need = calloc(n, sizeof *j.need);
    j.gb = calloc(n, sizeof *j.gb);
    j.least_after = calloc(n + 1, sizeof *j.least_after);
    int rc = GT_ENOMEM;
    if (j.order && j.tier_of && j.best_of && j.cost && j.need && j.gb && j.least_after) {
        rc = run(&j, r, err);
    }
    free(j.order);
    free(j.tier_of);
    free(j.best_of);
    free(j.cost);
    free(j.need);
    free(j.gb);
    free(j.least_after);
    return rc;
}

static struct rat savings_cost(const struct savings_problem *p, const struct savings_group *g,
                               int k)
{
    const struct tier_price *t = &p->tier[k];
    struct rat each = rat_add(rat_max(g->size, t->min_bytes), t->overhead_tier);
    struct rat k1000 = rat_int(1000);
    struct rat month = rat_mul(rat_gib(rat_mul(g->objects, each)), t->storage);
    struct rat hot = rat_gib(rat_mul(g->objects, t->overhead_hot));
    month = rat_add(month, rat_mul(hot, p->hot_price));
    if (rat_cmp(g->size, t->monitor_min_bytes) >= 0) {
        month = rat_add(month, rat_div(rat_mul(g->objects, t->monitor_1000), k1000));
    }
    month = rat_add(month, rat_mul(g->read_gb, t->retrieval_gb));
    struct rat request = rat_add(t->get_1000, t->restore_1000);
    month = rat_add(month, rat_div(rat_mul(g->reads, request), k1000));
    struct rat total = rat_mul(month, p->months);
    if (k != p->hot_tier) {
        total = rat_add(total, rat_div(rat_mul(g->objects, t->transition_1000), k1000));
    }
    return total;
}

int savings_target(const struct savings_problem *p, struct savings_result *r, struct gt_error *err)
{
    r->all_hot = rat_int(0);
    r->best = rat_int(0);
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct savings_group *g = &p->group[i];
        r->pick[i] = -1;
        for (int k = 0; k < p->n_tiers; k++) {
            if (g->forbidden >> k & 1) {
                continue;
            }
            struct rat c = savings_cost(p, g, k);
            if (!rat_ok(c)) {
                return gt_fail(err, GT_ERANGE, "savings-target", "does not fit exact arithmetic");
            }
            if (r->pick[i] < 0 || rat_cmp(c, r->cost[i]) < 0) {
                r->pick[i] = k;
                r->cost[i] = c;
            }
        }
        if (r->pick[i] < 0) {
            return gt_fail(err, GT_EINFEASIBLE, "savings-target", "a group may live in no tier");
        }
        r->all_hot = rat_add(r->all_hot, savings_cost(p, g, p->hot_tier));
        r->best = rat_add(r->best, r->cost[i]);
    }
    if (!rat_ok(r->all_hot) || !rat_ok(r->best) || rat_sign(r->all_hot) <= 0) {
        return gt_fail(err, GT_ERANGE, "savings-target", "no cost in the hot tier to compare with");
    }
    struct rat share = rat_sub(rat_int(1), rat_div(r->best, r->all_hot));
    r->percent = rat_mul(rat_int(100), share);
    r->reached = rat_cmp(r->percent, p->target_percent) >= 0;
    return 0;
}
