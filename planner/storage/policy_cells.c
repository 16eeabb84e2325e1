/* Cells of a lifecycle policy's search (policy.h) and what each schedule saves in them. Costs are
 * linear in a group's quantities, so groups of one prefix, tier, age, size class and kind are
 * summed before anything is tried; and few of the schedules differ in what they do with objects of
 * one age, so each different path is priced once. Doubles: the chosen rules are billed exactly. */
#include "policy.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const int usual_days[] = {0, 30, 60, 90, 180, 365};
static const int efs_days[] = {1, 7, 14, 30, 60, 90, 180, 270, 365}; /* R-LC-06 */
static const uint64_t size_edge[POLICY_CLASSES] = {1, 65536, 131072, 1048576, 16777216};
enum { USUAL = sizeof usual_days / sizeof *usual_days, EFS = sizeof efs_days / sizeof *efs_days };
#define LAST_DAY 36500

static bool sized(const struct tier_model *m)
{
    return m->terms->lifecycle == LIFECYCLE_S3;
}

int policy_classes(const struct tier_model *m)
{
    return sized(m) ? POLICY_CLASSES : 1;
}

uint64_t policy_edge(const struct tier_model *m, int size_class)
{
    return sized(m) && size_class < POLICY_CLASSES ? size_edge[size_class] : 0;
}

int policy_class(const struct tier_model *m, const struct tier_group *g)
{
    uint64_t size = g->size_lo;
    if (!sized(m)) {
        return 0;
    }
    if (size == 0 && g->bytes_min128k == 0 && g->objects > 0) {
        size = g->bytes / g->objects; /* one size for all */
    }
    int c = POLICY_CLASSES - 1;
    while (c >= 0 && size_edge[c] > size) {
        c--;
    }
    return c;
}

/* S3 and Cloud Storage count an old version's days from when it was replaced, which no listing
 * tells: taken as today, so that it moves no later than said. Azure counts from its creation
 * (R-LC-04), EFS from the last access. */
double policy_age(const struct tier_model *m, const struct tier_group *g)
{
    enum lifecycle_kind kind = m->terms->lifecycle;
    if (kind == LIFECYCLE_EFS) {
        return g->idle_days;
    }
    return g->noncurrent && kind != LIFECYCLE_AZURE ? 0 : g->age_days;
}

static int order(const struct cell *a, const struct cell *b)
{
    int c = strcmp(a->prefix, b->prefix);
    c = c ? c : a->q.start - b->q.start;
    c = c ? c : (a->age > b->age) - (a->age < b->age);
    c = c ? c : a->q.served - b->q.served;
    c = c ? c : a->size_class - b->size_class;
    c = c ? c : a->noncurrent - b->noncurrent;
    c = c ? c : (a->q.monitored > 0) - (b->q.monitored > 0);
    return c ? c : (a->q.rate > b->q.rate) - (a->q.rate < b->q.rate);
}

static int by_key(const void *a, const void *b)
{
    return order(a, b);
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
    for (int p = 0; p <= STORAGE_STEPS; p++) {
        for (int s = 0; s <= STORAGE_STEPS; s++) {
            to->auto_bytes[p][s] += g->auto_bytes[p][s];
        }
    }
}

int policy_make_cells(struct policy_search *s, const struct tier_group *group,
                      const struct tm_group *g, size_t n, const struct tier_plan *plan)
{
    bool efs = s->m->terms->lifecycle == LIFECYCLE_EFS;
    s->cell = malloc((n ? n : 1) * sizeof *s->cell);
    if (!s->cell) {
        return GT_ENOMEM;
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        struct cell c = {.prefix = efs ? "" : group[i].name,
                         .age = policy_age(s->m, &group[i]),
                         .size_class = policy_class(s->m, &group[i]),
                         .noncurrent = group[i].noncurrent,
                         .q = g[i]};
        if (!s->m->forecast && !efs) {
            c.q.rate = 0; /* cells of all rates have the same paths and may be summed */
        }
        /* What has to be copied up, or is kept back by limits, may gain from a rule: unknown counts
         * as possible. */
        bool bound = !g[i].must_leave && plan->n_limits == 0;
        c.possible = bound ? fabs((double)plan->path[i].saving) : 1;
        if (group[i].objects > 0 && c.size_class >= 0) {
            s->cell[at++] = c;
        }
    }
    qsort(s->cell, at, sizeof *s->cell, by_key);
    for (size_t i = 0; i < at; i++) {
        struct cell *last = s->n_cells ? &s->cell[s->n_cells - 1] : NULL;
        if (last && order(last, &s->cell[i]) == 0) {
            sum_into(&last->q, &s->cell[i].q);
            last->possible += s->cell[i].possible;
        } else {
            s->cell[s->n_cells++] = s->cell[i];
        }
    }
    return 0;
}

/* The usual days, and those at which groups leave a tier on their own cheapest paths: the six by
 * which most is saved. */
static int days_of(const struct policy_search *s, const struct tier_plan *plan, int *days)
{
    const struct tier_model *m = s->m;
    int n = 0;
    const int *usual = m->terms->lifecycle == LIFECYCLE_EFS ? efs_days : usual_days;
    int count = m->terms->lifecycle == LIFECYCLE_EFS ? EFS : USUAL;
    double *weight = count == USUAL ? calloc(LAST_DAY + 1, sizeof *weight) : NULL;
    for (; n < count; n++) {
        days[n] = usual[n];
    }
    for (size_t i = 0; weight && i < plan->n_paths; i++) {
        const struct tier_path *p = &plan->path[i];
        double age = floor(policy_age(m, p->group));
        for (size_t k = 1; k < p->n_steps; k++) {
            double day = age + 30.0 * p->step[k].from_month;
            if (day > 0 && day <= LAST_DAY && p->saving > 0) {
                weight[(int)day] += (double)p->saving;
            }
        }
    }
    for (int i = 0; weight && i < count; i++) {
        weight[usual[i]] = 0;
    }
    while (weight && n < POLICY_DAYS) {
        int best = 0;
        for (int d = 1; d <= LAST_DAY; d++) {
            best = weight[d] > weight[best] ? d : best;
        }
        if (weight[best] <= 0) {
            break;
        }
        weight[best] = 0;
        int at = n++;
        for (; at > 0 && days[at - 1] > best; at--) {
            days[at] = days[at - 1];
        }
        days[at] = best;
    }
    free(weight);
    return n;
}

/* Whether `to` may follow the schedule's last transition on that day (L13 to L19; EFS: Archive
 * after IA). */
static bool may_follow(const struct tier_model *m, const struct schedule *s, int to, int day)
{
    const struct storage_rule *r = m->tier[to].rule;
    if (s->n == 0) {
        bool first = m->terms->lifecycle != LIFECYCLE_EFS || to == 1;
        return first && m->move[m->hot][to] == MOVE_LIFECYCLE && day >= r->min_age_days;
    }
    int k = s->tier[s->n - 1], from = s->days[s->n - 1];
    bool close = m->terms->lifecycle == LIFECYCLE_S3 && m->tier[k].rule->min_age_days > 0 &&
                 day - from < 30; /* L19 */
    return day > from && m->move[k][to] == MOVE_LIFECYCLE && !close && day >= r->min_age_days;
}

/* Few transitions before many, late before early: of schedules that save the same the first wins,
 * which asks least of objects that are still to come. */
void policy_make_schedules(struct policy_search *s, const struct tier_plan *plan)
{
    int days[POLICY_DAYS], n_days = days_of(s, plan, days);
    size_t from = 0, end = 0;
    const struct schedule none = {.n = 0};
    for (int n = 1; n <= POLICY_STEPS; n++) {
        for (size_t i = from; i < (n == 1 ? 1 : end); i++) {
            struct schedule x = n == 1 ? none : s->schedule[i];
            for (int d = n_days - 1; d >= 0; d--) {
                for (int k = 0; k < s->m->n && s->n_schedules < POLICY_SCHEDULES; k++) {
                    if (may_follow(s->m, &x, k, days[d])) {
                        struct schedule *to = &s->schedule[s->n_schedules++];
                        *to = x;
                        to->tier[x.n] = k;
                        to->days[to->n++] = days[d];
                    }
                }
            }
        }
        from = n == 1 ? 0 : end;
        end = s->n_schedules;
    }
}

/* Month in which a rule of that many days acts. By last access it takes objects that nobody reads
 * for so long: those read every 30 / rate days are idle for less. */
static int month_of(const struct tier_model *m, int days, const struct tm_group *g, double age,
                    int horizon)
{
    double wait = days - age;
    int t = wait > 0 ? (int)fmin(ceil(wait / 30), horizon) : 0;
    if (m->terms->lifecycle == LIFECYCLE_EFS && g->rate > 0) {
        while (t < horizon && g->rate * (m->forecast ? m->forecast[t] : 1) * days >= 30) {
            t++;
        }
    }
    return t;
}

/* One that cannot be made from where the objects are does nothing; of two that fall on the same
 * month the later one wins (R-S3-23). */
int policy_acting(const struct tier_model *m, const struct schedule *s, const struct tm_group *g,
                  double age, int horizon, int *tier, int *month)
{
    int n = 0, at = g->start;
    for (int i = 0; i < s->n; i++) {
        int t = month_of(m, s->days[i], g, age, horizon);
        t = n > 0 && t < month[n - 1] ? month[n - 1] : t;
        if (n > 0 && month[n - 1] == t) {
            int before = n > 1 ? tier[n - 2] : g->start;
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
