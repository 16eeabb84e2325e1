/* Constraints of tier_options.limits as rows of couple.h, what the plan uses of them, and the words
 * for those that cannot be kept. */
#include "couple.h"
#include "gputier/units.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks: the month's bill, the reads, then the capacities; -1 = not there. */
struct blocks {
    int month, reads, capacity[TM_TIERS];
};

static int tier_at(const struct tier_model *m, const char *name)
{
    for (int k = 0; k < m->n; k++) {
        if (strcmp(m->tier[k].rule->tier, name) == 0) {
            return k;
        }
    }
    return -1;
}

void limits_need(const struct tier_model *m, const struct tier_options *o, const char *name,
                 struct tm_group *g)
{
    uint64_t objects = (uint64_t)g->objects, bytes = (uint64_t)g->bytes;
    for (size_t i = 0; i < o->n_needs; i++) {
        const struct tier_need *need = &o->need[i];
        if (strncmp(name, need->prefix, strlen(need->prefix)) != 0) {
            continue;
        }
        for (int k = 0; k < m->n; k++) {
            const struct storage_rule *r = m->tier[k].rule;
            bool late = r->latency_s > need->max_wait_s;
            bool slow = need->min_bps > 0 && storage_read_bps(r, objects, bytes) < need->min_bps;
            g->enter[k] = late || slow ? INT_MAX : g->enter[k];
            g->must_leave = g->must_leave || ((late || slow) && k == g->start);
        }
    }
}

bool limits_way_out(const struct tier_model *m, const struct tm_group *g)
{
    bool out = !g->must_leave;
    for (int k = 0; k < m->n && !out; k++) {
        out = k != g->start && m->tier[k].usable && m->move[g->start][k] != MOVE_NONE &&
              g->enter[k] < m->horizon;
    }
    return out;
}

static int add_block(struct couple *c, enum couple_kind kind, int tier, int months, double limit)
{
    c->block[c->n_blocks] =
        (struct couple_block){.kind = kind, .tier = tier, .months = months, .limit = limit};
    return c->n_blocks++;
}

/* The tightest of several capacities of a tier counts. Tiers of other products hold none of these
 * data. */
static void add_capacities(const struct tier_model *m, const struct tier_limits *l,
                           struct couple *c, struct blocks *x)
{
    for (int k = 0; k < TM_TIERS; k++) {
        x->capacity[k] = -1;
    }
    for (size_t i = 0; i < l->n_capacities; i++) {
        int k = tier_at(m, l->capacity[i].tier);
        double bytes = (double)l->capacity[i].bytes;
        if (k >= 0 && x->capacity[k] < 0) {
            x->capacity[k] = add_block(c, COUPLE_BYTES, k, c->horizon, bytes);
        } else if (k >= 0 && bytes < c->block[x->capacity[k]].limit) {
            c->block[x->capacity[k]].limit = bytes;
        }
    }
}

/* Minor units below and above: what is told as not enough and as enough is true as printed. */
static const char *amount(const struct couple *c, int block, double v, bool up, char *out,
                          size_t size)
{
    char text[MONEY_TEXT], bytes[32];
    if (c->block[block].kind == COUPLE_BYTES) {
        uint64_t n = v < 0 ? 0 : v >= 1.8e19 ? UINT64_MAX : (uint64_t)(up ? ceil(v) : floor(v));
        snprintf(out, size, "%llu bytes (%s)", (unsigned long long)n, size_format(n, bytes));
        return out;
    }
    int digits = money_minor_digits(c->m->currency);
    double unit = (double)MONEY_SCALE;
    for (int i = 0; i < digits; i++) {
        unit /= 10;
    }
    money m = 0;
    v = (up ? ceil(v / unit - 1e-9) : floor(v / unit + 1e-9)) * unit;
    if (v < 0 || money_from_double(v / (double)MONEY_SCALE, &m) < 0) {
        m = 0;
    }
    snprintf(out, size, "%s %s", money_format_fixed(m, digits, false, text), c->m->currency);
    return out;
}

static const char *constraint(const struct couple *c, int block, const struct tier_limits *l,
                              money off, char *out, size_t size)
{
    char text[96];
    const struct couple_block *b = &c->block[block];
    amount(c, block, b->limit + (b->kind == COUPLE_MONEY ? (double)off : 0), false, text,
           sizeof text);
    if (b->kind == COUPLE_MONEY) {
        snprintf(out, size, "every month's bill within %s", text);
    } else if (b->kind == COUPLE_BYTES) {
        snprintf(out, size, "%s within %s in every month", c->m->tier[b->tier].rule->tier, text);
    } else {
        snprintf(out, size, "the cost of %.4g times the reads within %s", l->reads, text);
    }
    return out;
}

static int refuse(const struct couple *c, const struct couple_answer *a,
                  const struct tier_limits *l, money off, struct gt_error *err)
{
    char what[192], least[96], enough[96] = "";
    double back = c->block[a->block].kind == COUPLE_MONEY ? (double)off : 0;
    bool known = isfinite(a->enough);
    constraint(c, a->block, l, off, what, sizeof what);
    amount(c, a->block, a->least + back, false, least, sizeof least);
    if (known) {
        amount(c, a->block, a->enough + back, true, enough, sizeof enough);
    }
    return gt_fail(err, GT_EINFEASIBLE, "", "no plan %skeeps %s%s: %s%sless than %s for none",
                   a->proven ? "" : "was found that ", what,
                   c->n_blocks > 1 ? " beside the other limits" : "", enough,
                   known ? " are enough for one, " : "", least);
}

/* Least cost with limits.reads within the capacities. */
static int best_of_reads(const struct tier_model *m, const struct tm_group *more, size_t n,
                         const struct tier_options *o, struct arena *arena, double *best,
                         struct gt_error *err)
{
    struct couple c = {.m = m, .q = more, .n = n, .horizon = o->horizon_months};
    struct blocks x;
    struct couple_answer a;
    add_capacities(m, o->limits, &c, &x);
    int rc = couple_solve(&c, arena, &a, err);
    if (rc == 0 && a.end == COUPLE_NONE) {
        rc = refuse(&c, &a, o->limits, 0, err);
    }
    *best = c.cost;
    couple_release(&c);
    return rc;
}

static void worth(const struct couple *c, struct limits_bound *out, const struct blocks *x)
{
    double sum[COUPLE_BLOCKS] = {0};
    for (int b = 0; b < c->n_blocks; b++) {
        for (int t = 0; t < c->block[b].months; t++) {
            sum[b] += c->price[c->block[b].row + t];
        }
    }
    memset(out->worth, 0, sizeof out->worth);
    out->worth[TM_TIERS] = x->month >= 0 ? sum[x->month] : 0;
    out->worth[TM_TIERS + 1] = x->reads >= 0 ? sum[x->reads] : 0;
    for (int k = 0; k < TM_TIERS; k++) {
        out->worth[k] = x->capacity[k] >= 0 ? sum[x->capacity[k]] : 0;
    }
}

int limits_search(const struct tier_model *m, const struct tm_group *g, const struct tm_group *more,
                  size_t n, const struct tier_options *o, money off, tm_found *found, void *ctx,
                  struct limits_bound *out, struct gt_error *err)
{
    const struct tier_limits *l = o->limits;
    struct couple c = {.m = m, .q = g, .other = more, .n = n, .horizon = o->horizon_months};
    struct blocks x = {-1, -1, {0}};
    struct couple_answer a;
    struct arena *arena = arena_new(0);
    int rc = arena ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc == 0 && more) {
        rc = out->reads_best > 0 ? 0 : best_of_reads(m, more, n, o, arena, &out->reads_best, err);
        x.reads = add_block(&c, COUPLE_OTHER, 0, 1, out->reads_best * (1 + l->within));
    }
    if (rc == 0 && l->has_month) {
        x.month = add_block(&c, COUPLE_MONEY, 0, c.horizon, (double)(l->month - off));
    }
    add_capacities(m, l, &c, &x);
    rc = rc < 0 ? rc : couple_solve(&c, arena, &a, err);
    if (rc == 0 && a.end == COUPLE_NONE) {
        rc = refuse(&c, &a, l, off, err);
    }
    if (rc == 0) {
        out->cost = c.bound;
        out->proven = a.end == COUPLE_EXACT;
        worth(&c, out, &x);
    }
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = found(ctx, i, c.pick[i]->segment, (size_t)c.pick[i]->n_segments);
    }
    couple_release(&c);
    arena_free(arena);
    return rc;
}

struct sums { /* of all groups, by month */
    money *bill;
    gt_u128 *bytes; /* [t * TM_TIERS + k] */
    money reads;
};

static void add_line(void *ctx, int from, int to, money month, money once, money end)
{
    money *bill = ctx;
    for (int t = from; t < to; t++) {
        bill[t] += month + (t == from ? once : 0) + (t + 1 == to ? end : 0);
    }
}

static int add_path(const struct tier_model *m, const struct tm_group *g,
                    const struct tm_group *more, const struct tm_segment *s, size_t n,
                    struct sums *sum)
{
    int rc = couple_months(m, g, s, n, add_line, sum->bill);
    for (size_t i = 0; i < n; i++) {
        for (int t = s[i].from; t < s[i].to; t++) {
            sum->bytes[t * TM_TIERS + s[i].tier] += g->bytes;
        }
    }
    if (rc == 0 && more) {
        money other;
        rc = cost_path(m, more, s, n, &other);
        rc = rc < 0 ? rc : money_add(sum->reads, other, &sum->reads);
    }
    return rc;
}

static money as_money(double v)
{
    money m;
    return money_from_double(v / (double)MONEY_SCALE, &m) < 0 ? 0 : m;
}

static void most_bytes(const struct sums *s, int horizon, int k, struct tier_limit_use *u)
{
    for (int t = 0; t < horizon; t++) {
        money v = (money)s->bytes[t * TM_TIERS + k];
        if (u->month < 0 || v > u->most) {
            u->most = v;
            u->month = t;
        }
    }
}

static void most_money(const struct sums *s, int horizon, struct tier_limit_use *u)
{
    for (int t = 0; t < horizon; t++) {
        if (u->month < 0 || s->bill[t] > u->most) {
            u->most = s->bill[t];
            u->month = t;
        }
    }
}

static int told(const struct tier_model *m, const struct tier_options *o, const struct sums *s,
                const struct limits_bound *b, struct tier_plan *plan, struct gt_error *err)
{
    const struct tier_limits *l = o->limits;
    struct tier_limit_use *u = arena_array(plan->arena, l->n_capacities + 3, sizeof *u);
    size_t n = 0;
    if (!u) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (l->has_month) {
        u[n] = (struct tier_limit_use){.kind = LIMIT_MONTH, .limit = l->month, .month = -1};
        u[n].worth = as_money(b->worth[TM_TIERS] * (double)MONEY_SCALE);
        most_money(s, o->horizon_months, &u[n++]);
    }
    if (l->has_total) {
        u[n++] = (struct tier_limit_use){
            .kind = LIMIT_TOTAL, .limit = l->total, .most = plan->total, .month = -1};
    }
    for (size_t i = 0; i < l->n_capacities; i++) {
        int k = tier_at(m, l->capacity[i].tier);
        u[n] = (struct tier_limit_use){.kind = LIMIT_CAPACITY,
                                       .tier = storage_rule_find(l->capacity[i].tier)->tier,
                                       .limit = (money)l->capacity[i].bytes,
                                       .month = -1};
        if (k >= 0) {
            u[n].worth = as_money(b->worth[k] * (double)GT_GIB);
            most_bytes(s, o->horizon_months, k, &u[n]);
        }
        n++;
    }
    if (l->reads > 0) {
        u[n++] = (struct tier_limit_use){
            .kind = LIMIT_READS,
            .limit = as_money(b->reads_best * (1 + l->within)),
            .most = s->reads,
            .month = -1,
            .worth = as_money(b->worth[TM_TIERS + 1] * (double)MONEY_SCALE)};
    }
    plan->limit = u;
    plan->n_limits = n;
    return 0;
}

/* The exact bill has the last word. */
static int check(const struct tier_limits *l, struct tier_plan *plan, struct gt_error *err)
{
    char limit[MONEY_TEXT], most[MONEY_TEXT], least[MONEY_TEXT];
    int digits = money_minor_digits(plan->currency);
    for (size_t i = 0; i < plan->n_limits; i++) {
        const struct tier_limit_use *u = &plan->limit[i];
        if (u->kind == LIMIT_READS || u->most <= u->limit) {
            continue;
        }
        money_format(u->limit, limit);
        if (u->kind == LIMIT_TOTAL) {
            return gt_fail(
                err, GT_EINFEASIBLE, "",
                "no plan costs at most %s %s: %s are enough for one%s, less than %s for "
                "none",
                limit, plan->currency, money_format_fixed(u->most, digits, false, most),
                l->n_capacities || l->has_month || l->reads > 0 ? " within the other limits" : "",
                money_format_fixed(plan->lower_bound, digits, false, least));
        }
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "no plan was found that keeps every limit: %s of %s in month %d",
                       money_format(u->most, most), limit, u->month + 1);
    }
    return 0;
}

static size_t segments(const struct tier_model *m, const struct tier_path *p, struct tm_segment *s)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        s[i] = (struct tm_segment){tier_at(m, p->step[i].tier), p->step[i].from_month,
                                   p->step[i].to_month};
    }
    return p->n_steps;
}

int limits_use(const struct tier_model *m, const struct tm_group *g, const struct tm_group *more,
               const struct tier_options *o, const money *discount, const struct limits_bound *b,
               struct tier_plan *plan, struct gt_error *err)
{
    size_t months = (size_t)o->horizon_months;
    struct sums s = {.bill = calloc(months, sizeof *s.bill),
                     .bytes = calloc(months * TM_TIERS, sizeof *s.bytes)};
    struct tm_segment *seg = calloc(months + 1, sizeof *seg);
    int rc = s.bill && s.bytes && seg ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    for (size_t i = 0; i < plan->n_paths && rc == 0; i++) {
        size_t n = segments(m, &plan->path[i], seg);
        rc = add_path(m, &g[i], more ? &more[i] : NULL, seg, n, &s);
    }
    for (size_t t = 0; t < months && rc == 0; t++) {
        s.bill[t] -= discount[t];
    }
    rc = rc < 0 ? rc : told(m, o, &s, b, plan, err);
    rc = rc < 0 ? rc : check(o->limits, plan, err);
    free(s.bill);
    free(s.bytes);
    free(seg);
    return rc;
}
