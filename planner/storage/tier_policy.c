/* The best plain lifecycle policy of S3, Cloud Storage or Azure: rules by prefix, age and, in S3
 * alone, least size; one or two transitions each. The family searched: for every prefix the best of
 * all (least size, transition days and classes) allowed by the checks of section 11; then either
 * one rule for the whole bucket or the max_rules disjoint prefixes that save most. Costs are linear
 * in a group's quantities, so groups of one prefix, tier, age and size class are summed before
 * anything is tried. Intelligent-Tiering is tried with the reads of the first month; the chosen
 * rules are billed as they are. */
#include "gputier/text.h"
#include "tier_model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int days_of[] = {0, 30, 60, 90, 180, 365};
static const uint64_t size_of[] = {0, 65536, 131072, 1048576, 16777216}; /* classes, lower edge */
enum { DAYS = sizeof days_of / sizeof *days_of, SIZES = sizeof size_of / sizeof *size_of };
#define SCHEDULES 512

struct schedule { /* one or two transitions */
    int tier[2], days[2], n;
};
struct cell {
    const char *prefix;
    double age;
    int size_class;
    struct tm_group q;
    /* A month without reads by phase, from min_size_month on; the first month's reads; 30 days of a
     * minimum before and after. */
    double still[TM_TIERS][3], later[TM_TIERS], reads[TM_TIERS], rent[TM_TIERS][2];
    double move[TM_TIERS][TM_TIERS];
    double possible; /* what the unrestricted plan saves here */
};
struct choice {
    const char *prefix;
    size_t first, n; /* cells whose prefix begins with it */
    double saving;
    int size_class;
    const struct schedule *schedule;
};
struct search {
    const struct tier_model *m;
    int horizon;
    double *factors; /* of the forecast, summed: before month t */
    struct cell *cell;
    size_t n_cells;
    struct schedule schedule[SCHEDULES];
    size_t n_schedules;
};

static int class_of(const struct tier_group *g)
{
    uint64_t size = g->size_lo;
    if (size == 0 && g->bytes_min128k == 0 && g->objects > 0) {
        size = g->bytes / g->objects; /* one size for all */
    }
    int c = SIZES - 1;
    while (c > 0 && size_of[c] > size) {
        c--;
    }
    return c;
}

static int order(const char *pa, const char *pb, const struct cell *a, const struct cell *b)
{
    int c = strcmp(pa, pb);
    c = c ? c : a->q.start - b->q.start;
    c = c ? c : (a->age > b->age) - (a->age < b->age);
    return c ? c : a->size_class - b->size_class;
}

static int by_key(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return order(x->prefix, y->prefix, x, y);
}

static void sum_into(struct tm_group *to, const struct tm_group *g)
{
    to->objects += g->objects;
    to->bytes += g->bytes;
    to->reads += g->reads;
    to->read_bytes += g->read_bytes;
    to->monitored += g->monitored;
    for (int k = 0; k < TM_TIERS; k++) {
        to->billed[k] += g->billed[k];
        to->later[k] += g->later[k];
        to->enter[k] = to->enter[k] > g->enter[k] ? to->enter[k] : g->enter[k];
    }
    for (int p = 0; p < 3; p++) {
        for (int s = 0; s < 3; s++) {
            to->it_bytes[p][s] += g->it_bytes[p][s];
        }
    }
}

static double dbl(int rc, money v)
{
    return rc < 0 ? (double)INFINITY : (double)v;
}

static double month_cost(const struct tier_model *m, const struct tm_group *q, int k, int phase,
                         int t)
{
    money v;
    int rc = cost_stay(m, q, k, phase, t, 1, &v);
    return dbl(rc, v);
}

static void price_cell(const struct tier_model *m, struct cell *c)
{
    money v;
    struct tm_group still = c->q;
    still.reads = still.read_bytes = 0;
    struct tier_model flat = *m; /* the first month stands for all */
    flat.forecast = NULL;
    bool dated = m->min_size_month < m->horizon;
    for (int k = 0; k < m->n; k++) {
        static const int phase[] = {0, 1, 3};
        for (int p = 0; p < 3; p++) {
            c->still[k][p] = month_cost(&flat, &still, k, phase[p], 0);
        }
        c->later[k] = dated ? month_cost(&flat, &still, k, 3, m->min_size_month) : c->still[k][2];
        c->reads[k] = month_cost(&flat, &c->q, k, 0, 0) - c->still[k][0];
        for (int later = 0; later < 2; later++) {
            int rc = tm_amount(&m->tier[k].storage, later ? c->q.later[k] : c->q.billed[k], 1, &v);
            c->rent[k][later] = dbl(rc, v);
        }
        for (int to = 0; to < m->n; to++) {
            if (m->move[k][to] == MOVE_LIFECYCLE) {
                int rc = cost_move(m, &c->q, k, to, &v);
                c->move[k][to] = dbl(rc, v);
            }
        }
    }
}

/* Current versions only, summed to cells; sorted by prefix. */
static int make_cells(struct search *s, const struct tier_group *group, const struct tm_group *g,
                      size_t n, const struct tier_plan *plan)
{
    s->cell = malloc((n ? n : 1) * sizeof *s->cell);
    if (!s->cell) {
        return GT_ENOMEM;
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (!group[i].noncurrent && group[i].objects > 0) {
            s->cell[at++] = (struct cell){.prefix = group[i].name,
                                          .age = group[i].age_days,
                                          .size_class = class_of(&group[i]),
                                          .q = g[i],
                                          .possible = (double)plan->path[i].saving};
        }
    }
    qsort(s->cell, at, sizeof *s->cell, by_key);
    for (size_t i = 0; i < at; i++) {
        struct cell *last = s->n_cells ? &s->cell[s->n_cells - 1] : NULL;
        if (last && by_key(last, &s->cell[i]) == 0) {
            sum_into(&last->q, &s->cell[i].q);
            last->possible += s->cell[i].possible;
        } else {
            s->cell[s->n_cells++] = s->cell[i];
        }
    }
    for (size_t i = 0; i < s->n_cells; i++) {
        price_cell(s->m, &s->cell[i]);
    }
    return 0;
}

static bool ia(const struct tier_model *m, int k)
{
    return m->tier[k].rule->min_age_days > 0;
}

/* One transition before two, late before early: of schedules that save the same the first wins,
 * which asks least of objects that are still to come. */
static void make_schedules(struct search *s)
{
    const struct tier_model *m = s->m;
    for (int d = DAYS - 1; d >= 0; d--) {
        for (int k = 0; k < m->n; k++) {
            if (m->move[m->hot][k] == MOVE_LIFECYCLE &&
                days_of[d] >= m->tier[k].rule->min_age_days) {
                s->schedule[s->n_schedules++] = (struct schedule){{k, 0}, {days_of[d], 0}, 1};
            }
        }
    }
    size_t single = s->n_schedules;
    for (size_t i = 0; i < single; i++) {
        int k = s->schedule[i].tier[0], from = s->schedule[i].days[0];
        for (int d = DAYS - 1; d >= 0 && days_of[d] > from; d--) {
            for (int to = 0; to < m->n && s->n_schedules < SCHEDULES; to++) {
                bool close = ia(m, k) && days_of[d] - from < 30; /* L19 */
                if (m->move[k][to] == MOVE_LIFECYCLE && !close) {
                    s->schedule[s->n_schedules++] =
                        (struct schedule){{k, to}, {from, days_of[d]}, 2};
                }
            }
        }
    }
}

static int month_of(int days, double age)
{
    double wait = days - age;
    return wait > 0 ? (int)ceil(wait / 30) : 0;
}

/* Transitions that act, in months: one that cannot be made from where the objects are does nothing;
 * of two that fall on the same month the later one wins (R-S3-23). */
static int acting(const struct tier_model *m, const struct schedule *s, int start, double age,
                  int horizon, int *tier, int *month)
{
    int n = 0, at = start;
    for (int i = 0; i < s->n; i++) {
        int t = month_of(s->days[i], age);
        if (n > 0 && month[n - 1] == t) {
            int before = n > 1 ? tier[n - 2] : start;
            if (m->move[before][s->tier[i]] == MOVE_LIFECYCLE) {
                at = before;
                n--;
            }
        }
        if (t < horizon && m->move[at][s->tier[i]] == MOVE_LIFECYCLE) {
            tier[n] = at = s->tier[i];
            month[n++] = t;
        }
    }
    return n;
}

/* Months [from, from + n) in k, `since` months after its entry. */
static double stay(const struct search *s, const struct cell *c, int k, int since, int from, int n)
{
    double sum = (s->factors[from + n] - s->factors[from]) * c->reads[k];
    int dated = from + n - s->m->min_size_month; /* months under the later least size */
    dated = s->m->min_size_month >= from + n ? 0 : dated < n ? dated : n;
    sum += dated * (c->later[k] - c->still[k][2]);
    if (!s->m->tier[k].rule->automatic) {
        return sum + c->still[k][0] * n;
    }
    for (int i = 0; i < n && since + i < 3; i++) {
        sum += c->still[k][since + i > 0];
    }
    int steady = since + n - (since > 3 ? since : 3);
    return sum + (steady > 0 ? c->still[k][2] * steady : 0);
}

/* Rest of k's minimum at month t. */
static double rest(const struct search *s, const struct cell *c, int k, int served, int t)
{
    const struct storage_rule *r = s->m->tier[k].rule;
    int left = r->min_days - 30 * (r->from_creation ? c->q.served + t : served);
    return left > 0 ? c->rent[k][t >= s->m->min_size_month] * left / 30 : 0;
}

static double path_cost(const struct search *s, const struct cell *c, const struct schedule *sched)
{
    int tier[2], month[2], at = c->q.start, served = c->q.served, from = 0;
    int n = sched ? acting(s->m, sched, at, c->age, s->horizon, tier, month) : 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (c->q.enter[tier[i]] > month[i] && c->q.enter[tier[i]] > 1200) {
            return (double)INFINITY; /* reads there have no price */
        }
        sum += stay(s, c, at, served, from, month[i] - from);
        served += month[i] - from;
        sum += s->m->terms->early_free ? 0 : rest(s, c, at, served, month[i]);
        sum += c->move[at][tier[i]];
        at = tier[i];
        served = 0;
        from = month[i];
    }
    sum += stay(s, c, at, served, from, s->horizon - from);
    served += s->horizon - from;
    return sum + (s->m->delete_at_end ? rest(s, c, at, served, s->horizon) : 0);
}

/* Best schedule and least size for the cells of one prefix. */
static void choose(const struct search *s, struct choice *c)
{
    double possible = 0;
    for (size_t i = 0; i < c->n; i++) {
        possible += s->cell[c->first + i].possible;
    }
    c->saving = 0;
    for (size_t k = 0; k < s->n_schedules && possible > 0; k++) {
        double saved[SIZES] = {0}, sum = 0;
        for (size_t i = 0; i < c->n; i++) {
            const struct cell *x = &s->cell[c->first + i];
            saved[x->size_class] += path_cost(s, x, NULL) - path_cost(s, x, &s->schedule[k]);
        }
        /* S3: class 0 is below every size filter worth writing; the others know no size. */
        bool sized = s->m->terms->lifecycle == LIFECYCLE_S3;
        for (int z = SIZES - 1; z >= sized; z--) {
            sum += saved[z];
            if (sum > c->saving * (1 + 1e-12) && (sized || z == 0)) {
                c->saving = sum;
                c->size_class = z;
                c->schedule = &s->schedule[k];
            }
        }
    }
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int by_saving(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    int c = (x->saving < y->saving) - (x->saving > y->saving);
    return c ? c : strcmp(x->prefix, y->prefix);
}

/* One choice per prefix (cells are sorted, so a prefix's cells lie together), and one for all. */
static size_t make_choices(const struct search *s, struct choice *list)
{
    size_t n = 0;
    list[n] = (struct choice){.prefix = "", .n = s->n_cells};
    choose(s, &list[n++]);
    for (size_t i = 0; i < s->n_cells;) {
        const char *prefix = s->cell[i].prefix;
        size_t same = i, end = i;
        while (same < s->n_cells && strcmp(s->cell[same].prefix, prefix) == 0) {
            same++;
        }
        for (end = same; end < s->n_cells && begins(s->cell[end].prefix, prefix); end++) {
        }
        /* A lifecycle file is UTF-8: a name that is not cannot be written as a prefix. */
        if (prefix[0] != '\0' && utf8_valid(prefix, strlen(prefix))) {
            list[n] = (struct choice){.prefix = prefix, .first = i, .n = end - i};
            choose(s, &list[n]);
            n += list[n].saving > 0;
        }
        i = same;
    }
    return n;
}

static int write_rules(const struct search *s, const struct choice *const *taken, size_t n,
                       struct tier_plan *plan)
{
    struct tier_rule *rule = arena_array(plan->arena, n * 2 + 1, sizeof *rule);
    if (!rule) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const struct schedule *sched = taken[i]->schedule;
        const char *prefix = arena_strdup(plan->arena, taken[i]->prefix);
        for (int k = 0; k < sched->n; k++) {
            rule[plan->n_rules++] =
                (struct tier_rule){prefix, s->m->tier[sched->tier[k]].rule->tier, sched->days[k],
                                   size_of[taken[i]->size_class], 0};
        }
        if (!prefix) {
            return GT_ENOMEM;
        }
    }
    plan->rule = rule;
    return 0;
}

/* The whole-bucket rule, or the best disjoint prefixes. */
static int pick(const struct search *s, struct choice *list, size_t n, int max_rules,
                struct tier_plan *plan)
{
    const struct choice *taken[1000];
    size_t most = max_rules > 1000 ? 1000 : (size_t)max_rules, k = 0;
    struct choice whole = list[0];
    double sum = 0;
    qsort(list + 1, n - 1, sizeof *list, by_saving);
    for (size_t i = 1; i < n && k < most; i++) {
        bool clash = false;
        for (size_t x = 0; x < k && !clash; x++) {
            clash = begins(list[i].prefix, taken[x]->prefix) ||
                    begins(taken[x]->prefix, list[i].prefix);
        }
        if (!clash) {
            taken[k++] = &list[i];
            sum += list[i].saving;
        }
    }
    if (whole.saving > sum * (1 + 1e-12)) { /* a tie goes to the rules that say where they act */
        taken[0] = &whole;
        k = 1;
    }
    return write_rules(s, taken, k, plan);
}

int tier_policy(const struct tier_model *m, const struct tier_group *group,
                const struct tm_group *g, size_t n, const struct tier_options *o,
                struct tier_plan *plan, struct gt_error *err)
{
    struct search *s = calloc(1, sizeof *s);
    struct choice *list = NULL;
    int rc = GT_ENOMEM;
    if (s) {
        s->m = m;
        s->horizon = o->horizon_months;
        s->factors = calloc((size_t)s->horizon + 1, sizeof *s->factors);
        make_schedules(s);
        rc = s->factors ? make_cells(s, group, g, n, plan) : GT_ENOMEM;
        list = calloc(s->n_cells + 1, sizeof *list);
    }
    for (int t = 0; rc == 0 && t < s->horizon; t++) {
        s->factors[t + 1] = s->factors[t] + (o->forecast ? o->forecast[t] : 1);
    }
    if (rc == 0 && list) {
        size_t choices = make_choices(s, list);
        rc = pick(s, list, choices, o->max_rules > 0 ? o->max_rules : 10, plan);
    }
    if (!list) {
        rc = GT_ENOMEM;
    }
    free(list);
    if (s) {
        free(s->cell);
        free(s->factors);
        free(s);
    }
    return rc < 0 ? gt_fail(err, rc, "", "out of memory") : 0;
}

size_t policy_path(const struct tier_model *m, const struct tier_rule *rule, size_t n_rules,
                   const struct tier_group *group, const struct tm_group *g, int horizon,
                   struct tm_segment *out)
{
    struct schedule s = {.n = 0};
    for (size_t i = 0; i < n_rules && s.n < 2 && !group->noncurrent; i++) {
        if (begins(group->name, rule[i].prefix) && size_of[class_of(group)] >= rule[i].min_bytes) {
            s.tier[s.n] = (int)(storage_rule_find(rule[i].to_tier) - m->tier[0].rule);
            s.days[s.n++] = rule[i].days;
        }
    }
    int tier[2], month[2], k = acting(m, &s, g->start, group->age_days, horizon, tier, month);
    size_t n = 0;
    int at = g->start, from = 0;
    for (int i = 0; i < k; i++) {
        if (month[i] > from) {
            out[n++] = (struct tm_segment){at, from, month[i]};
        }
        at = tier[i];
        from = month[i];
    }
    out[n++] = (struct tm_segment){at, from, horizon};
    return n;
}
