/* Paths as what they cost and what they use of every row (couple.h). */
#include "couple.h"
#include <string.h>

static void add_run(struct couple_run *r, int *n, int block, int from, int to, double amount)
{
    if (amount == 0 || from >= to) {
        return;
    }
    if (*n > 0 && r[*n - 1].block == block && r[*n - 1].to == from && r[*n - 1].amount == amount) {
        r[*n - 1].to = to;
        return;
    }
    r[(*n)++] = (struct couple_run){block, from, to, amount};
}

static int find_block(const struct couple *c, enum couple_kind kind, int tier)
{
    for (int b = 0; b < c->n_blocks; b++) {
        if (c->block[b].kind == kind && (kind != COUPLE_BYTES || c->block[b].tier == tier)) {
            return b;
        }
    }
    return -1;
}

struct place { /* where a path is, as its bill sees it */
    int tier, served, born;
};

/* Money of the move into s, 0 where it is no move. */
static int enter(const struct tier_model *m, const struct tm_group *g, struct place *at,
                 const struct tm_segment *s, money *out)
{
    money fee = 0, rest = 0;
    *out = 0;
    if (s->tier == at->tier) {
        return 0;
    }
    int rc = cost_leave(m, g, at->tier, s->tier, at->served, s->from - at->born, s->from, &rest);
    rc = rc < 0 ? rc : cost_move(m, g, at->tier, s->tier, &fee);
    at->born = m->move[at->tier][s->tier] == MOVE_COPY ? s->from : at->born;
    at->tier = s->tier;
    at->served = 0;
    return rc < 0 ? rc : money_add(fee, rest, out);
}

int couple_months(const struct tier_model *m, const struct tm_group *g, const struct tm_segment *s,
                  size_t n, couple_line *line, void *ctx)
{
    struct place at = {g->start, g->served, -g->served};
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        money once;
        rc = enter(m, g, &at, &s[i], &once);
        for (int t = s[i].from; t < s[i].to && rc == 0;) {
            int months = tm_alike(m, s[i].tier, at.served, t, s[i].to - t), to = t + months;
            money month, end = 0;
            rc = cost_stay(m, g, s[i].tier, at.served, t, 1, &month);
            at.served += months;
            if (rc == 0 && m->delete_at_end && i + 1 == n && to == s[i].to) {
                rc = cost_penalty(m, g, at.tier, at.served, to - at.born, to, &end);
            }
            if (rc == 0) {
                line(ctx, t, to, month, once, end);
            }
            once = 0;
            t = to;
        }
    }
    return rc;
}

struct own_bill {
    struct couple_run *run;
    int n, block; /* of the monthly bill, -1 = no limit on it */
    money cost;
};

static void add_months(void *ctx, int from, int to, money month, money once, money end)
{
    struct own_bill *b = ctx;
    b->cost += month * (to - from) + once + end;
    if (b->block >= 0) {
        add_run(b->run, &b->n, b->block, from, from + 1, (double)(month + once));
        add_run(b->run, &b->n, b->block, from + 1, to, (double)month);
        if (end != 0) { /* besides the months, not one of their row */
            b->run[b->n++] = (struct couple_run){b->block, to - 1, to, (double)end};
        }
    }
}

int couple_path_make(struct couple *c, size_t group, const struct tm_segment *s, size_t n,
                     struct couple_path **out)
{
    struct own_bill own = {.run = c->runs, .block = find_block(c, COUPLE_MONEY, 0)};
    money other = 0;
    int rc = couple_months(c->m, &c->q[group], s, n, add_months, &own);
    for (size_t i = 0; i < n && rc == 0; i++) {
        int b = find_block(c, COUPLE_BYTES, s[i].tier);
        if (b >= 0) {
            add_run(own.run, &own.n, b, s[i].from, s[i].to, (double)c->q[group].bytes);
        }
    }
    int b = find_block(c, COUPLE_OTHER, 0);
    if (rc == 0 && b >= 0) {
        rc = cost_path(c->m, &c->other[group], s, n, &other);
        add_run(own.run, &own.n, b, 0, 1, (double)other);
    }
    struct couple_path *p = arena_alloc(c->arena, sizeof *p);
    struct tm_segment *copy = arena_array(c->arena, n, sizeof *copy);
    struct couple_run *run = arena_array(c->arena, (size_t)own.n, sizeof *run);
    if (!run || !p || !copy) {
        return GT_ENOMEM;
    }
    memcpy(copy, s, n * sizeof *copy);
    memcpy(run, c->runs, (size_t)own.n * sizeof *run);
    *p = (struct couple_path){.cost = (double)own.cost,
                              .segment = copy,
                              .run = run,
                              .n_segments = (int)n,
                              .n_runs = own.n};
    *out = p;
    return rc;
}

int couple_pool_add(struct couple *c, size_t group, const struct tm_segment *s, size_t n,
                    struct couple_path **out)
{
    for (struct couple_path *p = c->pool[group]; p; p = p->next) {
        bool same = p->n_segments == (int)n;
        for (size_t i = 0; i < n && same; i++) {
            const struct tm_segment *x = &p->segment[i];
            same = x->tier == s[i].tier && x->from == s[i].from && x->to == s[i].to;
        }
        if (same) {
            *out = p;
            return 0;
        }
    }
    int rc = couple_path_make(c, group, s, n, out);
    if (rc == 0) {
        (*out)->next = c->pool[group];
        c->pool[group] = *out;
    }
    return rc;
}

void couple_use(const struct couple *c, const struct couple_path *p, double sign, double *used)
{
    for (int i = 0; i < p->n_runs; i++) {
        const struct couple_run *r = &p->run[i];
        double *u = &used[c->block[r->block].row];
        for (int t = r->from; t < r->to; t++) {
            u[t] += sign * r->amount;
        }
    }
}

void couple_usage(const struct couple *c, struct couple_path *const *pick, double *used)
{
    memset(used, 0, (size_t)c->n_rows * sizeof *used);
    for (size_t g = 0; g < c->n; g++) {
        if (pick[g]) {
            couple_use(c, pick[g], 1, used);
        }
    }
}

void couple_sums(const struct couple *c, const double *price, double *sum)
{
    for (int b = 0; b < c->n_blocks; b++) {
        int row = c->block[b].row;
        double s = 0;
        for (int t = 0; t < c->block[b].months; t++) {
            sum[row + b + t] = s;
            s += price[row + t];
        }
        sum[row + b + c->block[b].months] = s;
    }
}

double couple_priced(const struct couple *c, const struct couple_path *p, const double *sum)
{
    double v = 0;
    for (int i = 0; i < p->n_runs; i++) {
        const struct couple_run *r = &p->run[i];
        const double *s = &sum[c->block[r->block].row + r->block];
        v += r->amount * (s[r->to] - s[r->from]);
    }
    return v;
}

bool couple_keeps(const struct couple *c, const double *used)
{
    for (int i = 0; i < c->n_rows; i++) {
        if (used[i] > c->limit[i]) {
            return false;
        }
    }
    return true;
}
