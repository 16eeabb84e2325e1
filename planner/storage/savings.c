/* Savings that a tier plan's groups show: old versions, and small objects to pack.
 *
 * Packs: every object is read once (GET, retrieval, restore), the packs are written to the hot tier
 * (PUT), the originals deleted (free but for what is left of a minimum duration, R-S3-13). A tar
 * entry adds a header of 512 bytes and up to 511 to fill its last block: 1,024 are taken. Later
 * reads stay what they were: one range request an object. The packs then take their own cheapest
 * path; the saving is counted against the cheapest path without packs, so that tiering alone is
 * never called the merit of packing. Cells of the histogram are decided one by one: a pack holds
 * objects of like age and use. */
#include "gputier/savings.h"
#include "gputier/units.h"
#include "tier_model.h"
#include <stdlib.h>
#include <string.h>

#define SMALL      GT_MIB
#define TAR_ENTRY  1024
#define TAR_END    10240
#define FIND_MAX   100000 /* entries; the rest is added up in the last */
#define PACK_BYTES ((uint64_t)128 << 20)

struct finding {
    const struct tier_model *m;
    const struct tm_group *q;
    const struct tier_options *o;
    struct tier_plan *plan;
    struct saving *out;
    size_t n;
    money *month; /* room for a path's costs by month */
};
struct named {
    const char *name;
    size_t group;
};
struct one_path {
    struct tm_segment s[TM_TIERS * 4];
    size_t n;
};

static int keep_one(void *ctx, size_t group, const struct tm_segment *s, size_t n)
{
    struct one_path *p = ctx;
    (void)group;
    if (n > sizeof p->s / sizeof *p->s) {
        return GT_ERANGE;
    }
    memcpy(p->s, s, n * sizeof *s);
    p->n = n;
    return 0;
}

/* Adds sign x the path's cost of each month. */
static int by_month(const struct tier_model *m, const struct tm_group *g,
                    const struct tm_segment *s, size_t n, int sign, money *month)
{
    int at = g->start, served = g->served, born = -g->served, rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        money leave = 0, move = 0;
        if (s[i].tier != at) {
            rc = cost_leave(m, g, at, s[i].tier, served, s[i].from - born, s[i].from, &leave);
            rc = rc < 0 ? rc : cost_move(m, g, at, s[i].tier, &move);
            born = m->move[at][s[i].tier] == MOVE_COPY ? s[i].from : born;
            at = s[i].tier;
            served = 0;
        }
        for (int t = s[i].from; t < s[i].to && rc == 0; t++, served++) {
            money stay;
            rc = cost_stay(m, g, at, served, t, 1, &stay);
            month[t] += sign * (stay + (t == s[i].from ? leave + move : 0));
        }
    }
    return rc;
}

static size_t segments(const struct tier_model *m, const struct tier_path *p, struct one_path *out)
{
    out->n = 0;
    for (size_t k = 0; k < p->n_steps && k < sizeof out->s / sizeof *out->s; k++) {
        int tier = 0;
        while (m->tier[tier].rule->tier != p->step[k].tier) {
            tier++;
        }
        out->s[out->n++] = (struct tm_segment){tier, p->step[k].from_month, p->step[k].to_month};
    }
    return out->n;
}

/* Reading all once, writing the packs, what is left of a minimum duration. */
static int pack_once(const struct tier_model *m, const struct tm_group *g,
                     const struct tm_group *packs, money *out)
{
    money rest, put;
    int rc = cost_read(m, g, g->start, out);
    rc = rc < 0 ? rc : tm_amount(&m->tier[m->hot].put, packs->objects, 1, &put);
    rc = rc < 0 ? rc : money_add(*out, put, out);
    rc = rc < 0 ? rc : cost_penalty(m, g, g->start, g->served, g->served, 0, &rest);
    return rc < 0 ? rc : money_add(*out, rest, out);
}

static void packs_of(const struct finding *f, const struct tier_group *group,
                     const struct tm_group *g, struct tm_group *out)
{
    uint64_t most = f->o->pack_bytes ? f->o->pack_bytes : PACK_BYTES;
    uint64_t bytes = group->bytes + group->objects * TAR_ENTRY;
    uint64_t packs = bytes / most + (bytes % most != 0);
    bytes += packs * TAR_END;
    struct tier_group p = {.name = group->name,
                           .objects = packs,
                           .bytes = bytes,
                           .size_lo = bytes / packs,
                           .reads_per_month = (double)g->reads / (double)packs,
                           .read_fraction = 0};
    model_group(f->m, &p, f->o, f->m->hot, out);
    out->reads = g->reads; /* a range request each */
    out->read_bytes = g->read_bytes;
}

static bool packable(const struct tier_model *m, const struct tier_group *g,
                     const struct tm_group *q)
{
    return !g->noncurrent && g->objects > 1 && g->size_lo < SMALL && g->bytes > 0 &&
           g->bytes / g->objects < SMALL && g->bytes < UINT64_MAX / 2 &&
           g->objects < UINT64_MAX / 2 / TAR_ENTRY && m->tier[m->hot].put.known &&
           m->tier[q->start].reads_known;
}

/* One cell: what it saves, month by month, added to the entry. */
static int pack_cell(struct finding *f, size_t i, struct saving *s, money *gain, bool *pays)
{
    const struct tier_path *p = &f->plan->path[i];
    const struct tm_group *g = &f->q[i];
    const struct tier_model *m = f->m;
    int horizon = f->o->horizon_months;
    struct tm_group packs;
    struct one_path apart, packed;
    money once, cost, best, now, then;
    packs_of(f, p->group, g, &packs);
    int rc = pack_once(m, g, &packs, &once);
    segments(m, p, &apart);
    rc = rc < 0 ? rc : cost_path(m, g, apart.s, apart.n, &best);
    struct gt_error ignored = {0};
    rc = rc < 0 ? rc : tier_search(m, &packs, 1, horizon, NULL, keep_one, &packed, &ignored);
    rc = rc < 0 ? rc : cost_path(m, &packs, packed.s, packed.n, &cost);
    rc = rc < 0 ? rc : cost_stay(m, g, g->start, g->served, 0, 1, &now);
    if (rc < 0) {
        return rc;
    }
    const struct tm_segment *last = &packed.s[packed.n - 1];
    rc = cost_stay(m, &packs, last->tier, horizon - 1 - last->from, horizon - 1, 1, &then);
    *s = (struct saving){.kind = SAVING_PACK,
                         .objects = p->group->objects,
                         .bytes = p->group->bytes,
                         .packs = (uint64_t)packs.objects,
                         .month_now = now,
                         .month_then = then,
                         .once = once,
                         .horizon = best - cost - once,
                         .priced = true};
    *pays = s->horizon > 0;
    memset(f->month, 0, (size_t)horizon * sizeof *f->month);
    rc = rc < 0 ? rc : by_month(m, g, apart.s, apart.n, 1, f->month);
    rc = rc < 0 ? rc : by_month(m, &packs, packed.s, packed.n, -1, f->month);
    for (int t = 0; t < horizon && rc == 0; t++) {
        gain[t] += f->month[t];
    }
    return rc;
}

static int add_to(struct saving *s, const struct saving *more)
{
    s->objects += more->objects;
    s->bytes += more->bytes;
    s->packs += more->packs;
    int rc = money_add(s->month_now, more->month_now, &s->month_now);
    rc = rc < 0 ? rc : money_add(s->month_then, more->month_then, &s->month_then);
    rc = rc < 0 ? rc : money_add(s->once, more->once, &s->once);
    return rc < 0 ? rc : money_add(s->horizon, more->horizon, &s->horizon);
}

static int break_even(const money *gain, money once, int horizon)
{
    money sum = -once;
    for (int t = 0; t < horizon; t++) {
        sum += gain[t];
        if (sum >= 0) {
            return t;
        }
    }
    return -1;
}

/* Groups [from, to) share a prefix: those that pay in one entry; where none does, all in one. */
static int pack_prefix(struct finding *f, const struct named *order, size_t from, size_t to,
                       money *gain)
{
    int rc = 0, horizon = f->o->horizon_months;
    bool any = false;
    struct saving sum[2] = {{.kind = SAVING_PACK, .priced = true},
                            {.kind = SAVING_PACK, .priced = true}};
    memset(gain, 0, 3 * (size_t)horizon * sizeof *gain);
    money *cell = gain + 2 * horizon;
    for (size_t i = from; i < to && rc == 0; i++) {
        const struct tier_path *p = &f->plan->path[order[i].group];
        struct saving s;
        bool pays = false;
        if (!packable(f->m, p->group, &f->q[order[i].group])) {
            continue;
        }
        memset(cell, 0, (size_t)horizon * sizeof *cell);
        rc = pack_cell(f, order[i].group, &s, cell, &pays);
        rc = rc < 0 ? rc : add_to(&sum[pays], &s);
        for (int t = 0; t < horizon; t++) {
            gain[pays * horizon + t] += cell[t];
        }
        any = any || pays;
    }
    struct saving *s = &sum[any];
    if (rc == 0 && s->objects > 0 && f->n < FIND_MAX) {
        s->place = order[from].name;
        s->break_even_month = any ? break_even(gain + horizon, s->once, horizon) : -1;
        f->out[f->n++] = *s;
    }
    return rc;
}

static const char *ages_text(struct arena *a, const uint64_t bytes[3])
{
    char text[3][32];
    return arena_printf(a, "by age of the version: %s of 30 days and more, %s of 90, %s of 365",
                        size_format(bytes[0], text[0]), size_format(bytes[1], text[1]),
                        size_format(bytes[2], text[2]));
}

static int old_prefix(struct finding *f, const struct named *order, size_t from, size_t to)
{
    static const int days[3] = {30, 90, 365};
    struct saving sum = {.kind = SAVING_VERSIONS, .priced = true};
    uint64_t aged[3] = {0};
    money base = 0;
    int rc = 0;
    for (size_t i = from; i < to && rc == 0; i++) {
        const struct tier_path *p = &f->plan->path[order[i].group];
        const struct tm_group *q = &f->q[order[i].group];
        struct saving s = {.objects = p->group->objects, .bytes = p->group->bytes};
        if (!p->group->noncurrent) {
            continue;
        }
        rc = cost_stay(f->m, q, q->start, q->served, 0, 1, &s.month_now);
        rc = rc < 0 ? rc : cost_penalty(f->m, q, q->start, q->served, q->served, 0, &s.once);
        rc = rc < 0 ? rc : money_add(base, p->baseline_cost, &base);
        rc = rc < 0 ? rc : add_to(&sum, &s);
        for (int k = 0; k < 3; k++) {
            aged[k] += p->group->age_days >= days[k] ? p->group->bytes : 0;
        }
    }
    if (rc < 0 || sum.objects == 0 || f->n >= FIND_MAX) {
        return rc;
    }
    rc = saving_ends(&sum, f->o->horizon_months);
    sum.horizon = base - sum.once; /* as the plan bills them, volume brackets and all */
    sum.place = order[from].name;
    sum.note = ages_text(f->plan->arena, aged);
    f->out[f->n++] = sum;
    return rc < 0 ? rc : sum.note ? 0 : GT_ENOMEM;
}

static int by_prefix(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    return c ? c : (x->group > y->group) - (x->group < y->group);
}

static int by_gain(const void *a, const void *b)
{
    const struct saving *x = a, *y = b;
    int c = (x->horizon < y->horizon) - (x->horizon > y->horizon);
    c = c ? c : (int)x->kind - (int)y->kind;
    return c ? c : strcmp(x->place, y->place);
}

static int find_all(struct finding *f, const struct named *order, money *gain)
{
    size_t n = f->plan->n_paths;
    int rc = 0;
    for (size_t from = 0, to; from < n && rc == 0; from = to) {
        const char *name = order[from].name;
        for (to = from + 1; to < n; to++) {
            if (strcmp(name, order[to].name) != 0) {
                break;
            }
        }
        rc = old_prefix(f, order, from, to);
        rc = rc < 0 ? rc : pack_prefix(f, order, from, to, gain);
    }
    qsort(f->out, f->n, sizeof *f->out, by_gain);
    return rc;
}

int tier_savings(const struct tier_model *m, const struct tm_group *q, const struct tier_options *o,
                 struct tier_plan *plan, struct gt_error *err)
{
    size_t n = plan->n_paths, most = 2 * n < FIND_MAX ? 2 * n : FIND_MAX;
    size_t months = (size_t)o->horizon_months;
    struct finding f = {.m = m, .q = q, .o = o, .plan = plan};
    struct named *order = malloc((n + 1) * sizeof *order);
    money *gain = malloc(4 * months * sizeof *gain);
    f.out = arena_array(plan->arena, most + 1, sizeof *f.out);
    int rc = order && gain && f.out ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc == 0) {
        for (size_t i = 0; i < n; i++) {
            order[i] = (struct named){plan->path[i].group->name, i};
        }
        qsort(order, n, sizeof *order, by_prefix);
        f.month = gain + 3 * months;
        rc = find_all(&f, order, gain);
        rc = rc < 0 ? gt_fail(err, rc, "", "a saving passes the range of money") : 0;
    }
    free(order);
    free(gain);
    plan->savings = f.out;
    plan->n_savings = f.n;
    return rc;
}
