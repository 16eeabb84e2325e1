/* Proof (couple.h): in any plan that is cheaper than the one in hand, no group's path costs more at
 * the prices found than its least one plus the gap between plan and bound, because all others cost
 * their least at least. Those paths are listed per group, a month at a time, as long as what they
 * cost so far plus a bound of the rest stays within; one that costs and uses no less than another
 * is dropped. Then branch and bound over the groups: the bound of a node is what the chosen paths
 * cost above their groups' least, and a row that even the least uses of the others overfill ends
 * it. */
#include "couple.h"
#include <stdlib.h>
#include <string.h>

#define LISTED_GROUP 20000
#define LISTED_ALL   120000
#define THINNING     200000000UL /* rows compared; more would take longer than it saves */
#define VISITS       4000000L
#define WORK         120000000L /* rows looked at in nodes */

struct option { /* a listed path: above = cost at the prices beyond the group's least */
    struct couple_path *path;
    double above;
};
struct proof {
    struct couple *c;
    double *sum;      /* of prices */
    double gap;       /* paths further above their group's least are in no better plan */
    struct option *o; /* all groups in a row */
    size_t *first;    /* [n + 1]: of c->pool order g */
    size_t n_options, room;
    long visits;
    bool complete;
    /* one group's search */
    size_t group;
    double *rest, *month; /* [(t * TM_TIERS + k)]: bound from t on in k; [phase][t][k] */
    double move[TM_TIERS][TM_TIERS], least;
    struct tm_segment *s;
    /* branch and bound */
    size_t *order;
    double *least_use, *used; /* [depth * n_rows]: of the groups from there on */
    struct couple_path **chosen;
    long nodes, most_nodes;
};

static double money_factor(const struct proof *p, int t)
{
    const struct couple *c = p->c;
    double f = 1;
    t = t < c->horizon ? t : c->horizon - 1;
    for (int b = 0; b < c->n_blocks; b++) {
        int row = c->block[b].row;
        f += c->block[b].kind == COUPLE_MONEY   ? c->price[row + t]
             : c->block[b].kind == COUPLE_OTHER ? c->price[row]
                                                : 0;
    }
    return f;
}

static double *month_at(const struct proof *p, int phase, int t, int k)
{
    return &p->month[((size_t)phase * (size_t)p->c->horizon + (size_t)t) * TM_TIERS + (size_t)k];
}

static double stay_cost(const struct couple *c, const struct tm_group *g, int k, int since, int t)
{
    money m;
    return cost_stay(c->m, g, k, since, t, 1, &m) < 0 ? (double)INFINITY : (double)m;
}

/* What every month costs at the prices, and the least that is still to come from it on. */
static void prepare(struct proof *p)
{
    struct couple *c = p->c;
    const struct tm_group *g = &c->q[p->group];
    for (int i = 0; i < c->m->n; i++) {
        for (int k = 0; k < c->m->n; k++) {
            money fee;
            bool way = c->m->move[i][k] != MOVE_NONE && cost_move(c->m, g, i, k, &fee) == 0;
            p->move[i][k] = way ? (double)fee : (double)INFINITY;
        }
    }
    for (int t = c->horizon - 1; t >= 0; t--) {
        double f = 1, other = 0;
        for (int b = 0; b < c->n_blocks; b++) {
            int row = c->block[b].row;
            f += c->block[b].kind == COUPLE_MONEY ? c->price[row + t] : 0;
            other += c->block[b].kind == COUPLE_OTHER ? c->price[row] : 0;
        }
        for (int k = 0; k < c->m->n; k++) {
            for (int phase = 0; phase <= c->m->n_steps; phase++) {
                int since = tm_phase_from(c->m, phase);
                double v = stay_cost(c, g, k, since, t) * f;
                v += other > 0 ? stay_cost(c, &c->other[p->group], k, since, t) * other : 0;
                for (int b = 0; b < c->n_blocks; b++) {
                    bool here = c->block[b].kind == COUPLE_BYTES && c->block[b].tier == k;
                    v += here ? c->price[c->block[b].row + t] * (double)g->bytes : 0;
                }
                *month_at(p, phase, t, k) = v;
            }
        }
        for (int k = 0; k < c->m->n; k++) {
            double *m[3] = {month_at(p, 0, t, k), month_at(p, 1, t, k), month_at(p, 2, t, k)};
            double least = *m[0] < *m[1] ? *m[0] : *m[1], then = p->rest[(t + 1) * TM_TIERS + k];
            double next = money_factor(p, t + 1);
            least = least < *m[2] ? least : *m[2];
            for (int to = 0; to < c->m->n && t + 1 < c->horizon; to++) {
                double v = p->move[k][to] * next + p->rest[(t + 1) * TM_TIERS + to];
                then = v < then ? v : then;
            }
            p->rest[t * TM_TIERS + k] = least + then;
        }
    }
}

struct node {
    int t, tier, served, born, n; /* n segments so far */
    double cost;
};

static int keep(struct proof *p, const struct node *x)
{
    struct couple_path *path;
    if (p->n_options >= p->room || p->n_options - p->first[p->group] >= LISTED_GROUP) {
        p->complete = false;
        return 0;
    }
    int rc = couple_pool_add(p->c, p->group, p->s, (size_t)x->n, &path);
    if (rc == 0) {
        double above = path->cost + couple_priced(p->c, path, p->sum) - p->least;
        if (above <= p->gap) {
            p->o[p->n_options++] = (struct option){path, above > 0 ? above : 0};
        }
    }
    return rc;
}

static int walk(struct proof *p, struct node x);

/* Month x.t in x.tier, which was entered x.served months before if it counts. */
static int stay_month(struct proof *p, struct node x)
{
    int phase = tm_phase(p->c->m, x.served);
    x.cost += *month_at(p, phase, x.t, x.tier);
    if (x.n > 0 && p->s[x.n - 1].to == x.t && p->s[x.n - 1].tier == x.tier) {
        p->s[x.n - 1].to++;
    } else {
        p->s[x.n++] = (struct tm_segment){x.tier, x.t, x.t + 1};
    }
    x.t++;
    x.served++;
    if (x.cost + p->rest[x.t * TM_TIERS + x.tier] - p->least > p->gap) {
        double best = p->rest[x.t * TM_TIERS + x.tier];
        for (int k = 0; k < p->c->m->n && x.t < p->c->horizon; k++) {
            double v = p->move[x.tier][k] * money_factor(p, x.t) + p->rest[x.t * TM_TIERS + k];
            best = v < best ? v : best;
        }
        if (x.cost + best - p->least > p->gap) {
            return 0;
        }
    }
    return walk(p, x);
}

static int walk(struct proof *p, struct node x)
{
    struct couple *c = p->c;
    const struct tm_group *g = &c->q[p->group];
    if (++p->visits > VISITS) {
        p->complete = false;
    }
    if (!p->complete) {
        return 0;
    }
    if (x.t == c->horizon) {
        return keep(p, &x);
    }
    bool out = false,
         home = x.tier == g->start &&
                (x.n == 0 || (x.n == 1 && p->s[0].from == 0 && p->s[0].tier == g->start));
    int rc = 0;
    struct tm_segment last = x.n > 0 ? p->s[x.n - 1] : (struct tm_segment){0};
    for (int k = 0; k < c->m->n && rc == 0; k++) {
        money rest;
        if (isinf(p->move[x.tier][k]) || x.t < g->enter[k] ||
            cost_leave(c->m, g, x.tier, k, x.served, x.t - x.born, x.t, &rest) < 0) {
            continue;
        }
        out = true;
        struct node y = x;
        y.cost += ((double)rest + p->move[x.tier][k]) * money_factor(p, x.t);
        y.born = c->m->move[x.tier][k] == MOVE_COPY ? x.t : x.born;
        y.tier = k;
        y.served = 0;
        if (y.cost + p->rest[x.t * TM_TIERS + k] - p->least <= p->gap) {
            rc = stay_month(p, y);
        }
        if (x.n > 0) {
            p->s[x.n - 1] = last;
        }
    }
    /* What waits too long is left as soon as there is a way out. */
    if (rc == 0 && !(g->must_leave && home && out)) {
        rc = stay_month(p, x);
    }
    return rc;
}

static bool dominated(const struct proof *p, size_t a, size_t b)
{
    const struct couple *c = p->c;
    const struct couple_path *x = p->o[a].path, *y = p->o[b].path;
    if (y->cost > x->cost) {
        return false;
    }
    memset(c->used, 0, (size_t)c->n_rows * sizeof *c->used);
    couple_use(c, x, 1, c->used);
    couple_use(c, y, -1, c->used);
    bool same = y->cost == x->cost;
    for (int i = 0; i < c->n_rows; i++) {
        if (c->used[i] < 0) {
            return false;
        }
        same = same && c->used[i] == 0;
    }
    return !same || b < a;
}

static int by_above(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    return x->above != y->above ? (x->above < y->above ? -1 : 1)
                                : (x->path->cost > y->path->cost) - (x->path->cost < y->path->cost);
}

/* Of each group: sorted, without those that another one beats in everything. */
static void thin_out(struct proof *p, size_t from)
{
    size_t n = p->n_options - from, left = 0;
    qsort(&p->o[from], n, sizeof *p->o, by_above);
    bool few = n < 3000 && n * n * (size_t)p->c->n_rows < THINNING;
    for (size_t a = 0; a < n && few; a++) {
        bool drop = false;
        for (size_t b = 0; b < left && !drop; b++) {
            drop = dominated(p, from + a, from + b);
        }
        if (!drop) {
            p->o[from + left++] = p->o[from + a];
        }
    }
    p->n_options = from + (few ? left : n);
}

static int list_paths(struct proof *p)
{
    struct couple *c = p->c;
    int rc = 0;
    for (p->group = 0; p->group < c->n && rc == 0 && p->complete; p->group++) {
        const struct tm_group *g = &c->q[p->group];
        p->first[p->group] = p->n_options;
        p->least = (double)INFINITY;
        for (const struct couple_path *x = c->pool[p->group]; x; x = x->next) {
            double v = x->cost + couple_priced(c, x, p->sum);
            p->least = v < p->least ? v : p->least;
        }
        prepare(p);
        rc = walk(p, (struct node){.tier = g->start, .served = g->served, .born = -g->served});
        thin_out(p, p->first[p->group]);
    }
    p->first[c->n] = p->n_options;
    return rc;
}

/* Only what is in the pool: a better plan before the proof makes the proof short. */
static void list_pool(struct proof *p)
{
    struct couple *c = p->c;
    p->n_options = 0;
    for (size_t g = 0; g < c->n; g++) {
        double least = (double)INFINITY;
        p->first[g] = p->n_options;
        for (struct couple_path *x = c->pool[g]; x; x = x->next) {
            double v = x->cost + couple_priced(c, x, p->sum);
            least = v < least ? v : least;
        }
        for (struct couple_path *x = c->pool[g]; x && p->n_options < p->room; x = x->next) {
            double above = x->cost + couple_priced(c, x, p->sum) - least;
            if (above <= p->gap) {
                p->o[p->n_options++] = (struct option){x, above};
            }
        }
        thin_out(p, p->first[g]);
    }
    p->first[c->n] = p->n_options;
}

static bool room_left(const struct proof *p, size_t depth)
{
    const struct couple *c = p->c;
    const double *rest = &p->least_use[depth * (size_t)c->n_rows];
    for (int i = 0; i < c->n_rows; i++) {
        if (p->used[i] + rest[i] > c->limit[i]) {
            return false;
        }
    }
    return true;
}

static void branch(struct proof *p, size_t depth, double above, double cost)
{
    struct couple *c = p->c;
    if (++p->nodes > p->most_nodes || !room_left(p, depth)) {
        return;
    }
    if (depth == c->n) {
        if (cost < c->cost) {
            c->cost = cost;
            memcpy(c->pick, p->chosen, c->n * sizeof *c->pick);
            p->gap = c->cost - c->bound;
        }
        return;
    }
    size_t g = p->order[depth];
    for (size_t i = p->first[g]; i < p->first[g + 1]; i++) {
        if (above + p->o[i].above >= p->gap && c->cost < (double)INFINITY) {
            return; /* the others are further above still */
        }
        p->chosen[g] = p->o[i].path;
        couple_use(c, p->o[i].path, 1, p->used);
        branch(p, depth + 1, above + p->o[i].above, cost + p->o[i].path->cost);
        couple_use(c, p->o[i].path, -1, p->used);
    }
}

/* Groups whose choice costs and uses most first; least uses of every tail of that order. */
static void arrange(struct proof *p)
{
    struct couple *c = p->c;
    size_t rows = (size_t)c->n_rows;
    double *weight = p->used;
    for (size_t i = 0; i < c->n; i++) {
        p->order[i] = i;
    }
    for (size_t i = 1; i < c->n; i++) {
        size_t g = p->order[i], at = i;
        for (; at > 0 && c->q[p->order[at - 1]].bytes < c->q[g].bytes; at--) {
            p->order[at] = p->order[at - 1];
        }
        p->order[at] = g;
    }
    memset(&p->least_use[c->n * rows], 0, rows * sizeof *p->least_use);
    for (size_t d = c->n; d-- > 0;) {
        size_t g = p->order[d];
        double *u = &p->least_use[d * rows];
        memset(u, 0, rows * sizeof *u);
        for (size_t i = p->first[g]; i < p->first[g + 1]; i++) {
            memset(weight, 0, rows * sizeof *weight);
            couple_use(c, p->o[i].path, 1, weight);
            for (size_t r = 0; r < rows; r++) {
                u[r] = i == p->first[g] || weight[r] < u[r] ? weight[r] : u[r];
            }
        }
        for (size_t r = 0; r < rows; r++) {
            u[r] += p->least_use[(d + 1) * rows + r];
        }
    }
    memset(p->used, 0, rows * sizeof *p->used);
}

static void search(struct proof *p)
{
    arrange(p);
    p->nodes = 0;
    branch(p, 0, 0, 0);
    p->complete = p->complete && p->nodes <= p->most_nodes;
}

static int prove(struct proof *p)
{
    struct couple *c = p->c;
    couple_sums(c, c->price, p->sum);
    p->gap = c->cost - c->bound;
    list_pool(p);
    search(p);
    p->complete = true;
    p->gap = c->cost - c->bound;
    p->n_options = 0;
    int rc = list_paths(p);
    if (rc == 0 && p->complete) {
        search(p);
    }
    return rc;
}

int couple_exact(struct couple *c, bool *proved, struct gt_error *err)
{
    size_t rows = (size_t)c->n_rows, months = (size_t)c->horizon;
    struct proof p = {.c = c, .room = LISTED_ALL, .complete = true};
    p.most_nodes = WORK / (c->n_rows + 10);
    *proved = false;
    p.sum = calloc(rows + (size_t)c->n_blocks, sizeof *p.sum);
    p.o = calloc(p.room, sizeof *p.o);
    p.first = calloc(c->n + 1, sizeof *p.first);
    p.rest = calloc((months + 1) * TM_TIERS, sizeof *p.rest);
    p.month = calloc((STORAGE_STEPS + 1) * months * TM_TIERS, sizeof *p.month);
    p.s = calloc(months + 1, sizeof *p.s);
    p.order = calloc(c->n, sizeof *p.order);
    p.least_use = calloc((c->n + 1) * rows, sizeof *p.least_use);
    p.used = calloc(rows, sizeof *p.used);
    p.chosen = calloc(c->n, sizeof(struct couple_path *));
    int rc = GT_ENOMEM;
    if (p.sum && p.o && p.first && p.rest && p.month && p.s && p.order && p.least_use && p.used &&
        p.chosen) {
        rc = prove(&p);
        *proved = rc == 0 && p.complete;
    }
    free(p.sum);
    free(p.o);
    free(p.first);
    free(p.rest);
    free(p.month);
    free(p.s);
    free(p.order);
    free(p.least_use);
    free(p.used);
    free(p.chosen);
    return rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory") : rc;
}
