/* What each schedule of a lifecycle policy saves in one cell (policy.h): its path is priced from
 * sums of months, each different path once. */
#include "policy.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VIEWS 64 /* starts and ages kept at a time */
#define SLOTS 8192

/* What the schedules do with objects of one start and age. */
struct view {
    bool used;
    int start;
    double age, rate;
    size_t n;
    struct schedule path[POLICY_SCHEDULES]; /* days: months */
    uint16_t path_of[POLICY_SCHEDULES];
};
struct policy_pricer {
    const struct policy_search *s;
    struct view *view[VIEWS];
    double saved[POLICY_SCHEDULES];
    /* The cell at hand: a month without reads by phase, from min_size_month on, one read, one byte
     * read; 30 days of a minimum before and after; moves. */
    const struct cell *c;
    double still[TM_TIERS][STORAGE_STEPS + 1], later[TM_TIERS], per_read[TM_TIERS],
        per_byte[TM_TIERS];
    double rent[TM_TIERS][2], move[TM_TIERS][TM_TIERS];
    double *reads, *bytes; /* before month t */
    /* The automatic tier with a forecast: month t by phase, the last phase: before t. */
    double *young[STORAGE_STEPS + 1];
};

struct policy_pricer *policy_pricer_new(const struct policy_search *s)
{
    struct policy_pricer *p = calloc(1, sizeof *p);
    size_t months = (size_t)s->horizon + 1;
    if (!p) {
        return NULL;
    }
    p->s = s;
    p->reads = calloc(months * (3 + STORAGE_STEPS), sizeof *p->reads);
    p->bytes = p->reads + months;
    for (size_t i = 0; i <= STORAGE_STEPS && p->reads; i++) {
        p->young[i] = p->reads + (2 + i) * months;
    }
    if (!p->reads) {
        free(p);
        return NULL;
    }
    return p;
}

void policy_pricer_free(struct policy_pricer *p)
{
    for (int i = 0; p && i < VIEWS; i++) {
        free(p->view[i]);
    }
    if (p) {
        free(p->reads);
        free(p);
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

/* An automatic tier's months by the forecast; without one they are alike. */
static void price_automatic(struct policy_pricer *p, const struct tm_group *still, int k)
{
    const struct tier_model *m = p->s->m;
    double *last = p->young[m->n_steps];
    for (int t = 0; t < p->s->horizon; t++) {
        for (int i = 0; i < m->n_steps; i++) {
            p->young[i][t] = month_cost(m, still, k, tm_phase_from(m, i), t);
        }
        last[t + 1] = last[t] + month_cost(m, still, k, tm_phase_from(m, m->n_steps), t);
    }
}

static void price_tier(struct policy_pricer *p, const struct tier_model *flat,
                       const struct tm_group *still, int k)
{
    const struct tier_model *m = p->s->m;
    const struct tm_group *q = &p->c->q;
    money v;
    int settled = tm_phase_from(m, m->n_steps);
    for (int i = 0; i <= m->n_steps; i++) {
        p->still[k][i] = i > 0 && !m->tier[k].rule->automatic
                             ? p->still[k][0]
                             : month_cost(flat, still, k, tm_phase_from(m, i), 0);
    }
    p->later[k] = m->min_size_month < m->horizon
                      ? month_cost(flat, still, k, settled, m->min_size_month)
                      : p->still[k][m->n_steps];
    if (q->reads > 0 || q->read_bytes > 0) {
        struct tm_group read = *still;
        read.reads = q->reads;
        p->per_read[k] = q->reads > 0 ? month_cost(flat, &read, k, 0, 0) - p->still[k][0] : 0;
        read.reads = 0;
        read.read_bytes = q->read_bytes;
        p->per_byte[k] = q->read_bytes > 0 ? month_cost(flat, &read, k, 0, 0) - p->still[k][0] : 0;
    }
    for (int later = 0; later < 2; later++) {
        int rc = tm_amount(&m->tier[k].storage, later ? q->later[k] : q->billed[k], 1, &v);
        p->rent[k][later] = dbl(rc, v);
    }
    for (int to = 0; to < m->n; to++) {
        if (m->move[k][to] == MOVE_LIFECYCLE) {
            int rc = cost_move(m, q, k, to, &v);
            p->move[k][to] = dbl(rc, v);
        }
    }
    if (m->forecast && m->tier[k].rule->automatic) {
        price_automatic(p, still, k);
    }
}

static void price_cell(struct policy_pricer *p, const struct cell *c)
{
    const struct tier_model *m = p->s->m;
    struct tm_group still = c->q;
    still.reads = still.read_bytes = 0;
    struct tier_model flat = *m; /* the first month stands for all but reads */
    flat.forecast = NULL;
    p->c = c;
    memset(p->per_read, 0, sizeof p->per_read);
    memset(p->per_byte, 0, sizeof p->per_byte);
    for (int k = 0; k < m->n; k++) {
        price_tier(p, &flat, &still, k);
    }
    double reads = (double)c->q.reads, bytes = (double)c->q.read_bytes;
    for (int t = 0; t < p->s->horizon; t++) { /* shares of the first month's */
        p->reads[t + 1] =
            p->reads[t] + (reads > 0 ? (double)tm_reads(m, c->q.reads, t) / reads : 0);
        p->bytes[t + 1] =
            p->bytes[t] + (bytes > 0 ? (double)tm_reads(m, c->q.read_bytes, t) / bytes : 0);
    }
}

/* Months [from, from + n) in k, `since` months after its entry. */
static double stay(const struct policy_pricer *p, int k, int since, int from, int n)
{
    const struct tier_model *m = p->s->m;
    double sum = (p->reads[from + n] - p->reads[from]) * p->per_read[k] +
                 (p->bytes[from + n] - p->bytes[from]) * p->per_byte[k];
    int dated = from + n - m->min_size_month; /* months under the later least size */
    dated = m->min_size_month >= from + n ? 0 : dated < n ? dated : n;
    int last = m->n_steps;
    sum += dated * (p->later[k] - p->still[k][last]);
    if (!m->tier[k].rule->automatic) {
        return sum + p->still[k][0] * n;
    }
    int i = 0;
    for (; i < n && tm_phase(m, since + i) < last; i++) {
        int phase = tm_phase(m, since + i);
        sum += m->forecast ? p->young[phase][from + i] : p->still[k][phase];
    }
    return sum + (m->forecast ? p->young[last][from + n] - p->young[last][from + i]
                              : p->still[k][last] * (n - i));
}

/* Rest of k's minimum at month t. */
static double rest(const struct policy_pricer *p, int k, int served, int t)
{
    const struct storage_rule *r = p->s->m->tier[k].rule;
    int left = r->min_days - 30 * (r->from_creation ? p->c->q.served + t : served);
    return left > 0 ? p->rent[k][t >= p->s->m->min_size_month] * left / 30 : 0;
}

static double path_cost(const struct policy_pricer *p, const struct schedule *path)
{
    const struct tm_group *q = &p->c->q;
    int at = q->start, served = q->served, from = 0;
    double sum = 0;
    for (int i = 0; i < path->n; i++) {
        int to = path->tier[i], t = path->days[i];
        if (q->enter[to] > 1200) {
            return (double)INFINITY; /* reads there have no price */
        }
        sum += stay(p, at, served, from, t - from);
        served += t - from;
        sum += p->s->m->terms->early_free ? 0 : rest(p, at, served, t);
        sum += p->move[at][to];
        at = to;
        served = 0;
        from = t;
    }
    sum += stay(p, at, served, from, p->s->horizon - from);
    served += p->s->horizon - from;
    return sum + (p->s->m->delete_at_end ? rest(p, at, served, p->s->horizon) : 0);
}

static uint64_t key_of(const struct schedule *s)
{
    uint64_t key = (uint64_t)s->n;
    for (int i = 0; i < s->n; i++) {
        key = key << 20 | (uint64_t)s->tier[i] << 12 | (uint64_t)s->days[i];
    }
    return key;
}

static void fill_view(struct view *v, const struct policy_search *s, const struct cell *c)
{
    static const uint16_t empty = UINT16_MAX;
    uint16_t slot[SLOTS];
    v->used = true;
    v->start = c->q.start;
    v->age = c->age;
    v->rate = c->q.rate;
    v->n = 0;
    for (int i = 0; i < SLOTS; i++) {
        slot[i] = empty;
    }
    for (size_t i = 0; i < s->n_schedules; i++) {
        struct schedule path = {.n = 0};
        path.n =
            policy_acting(s->m, &s->schedule[i], &c->q, c->age, s->horizon, path.tier, path.days);
        uint64_t key = key_of(&path);
        size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 51);
        while (slot[at] != empty && key_of(&v->path[slot[at]]) != key) {
            at = (at + 1) % SLOTS;
        }
        if (slot[at] == empty) {
            slot[at] = (uint16_t)v->n;
            v->path[v->n++] = path;
        }
        v->path_of[i] = slot[at];
    }
}

static struct view *view_of(struct policy_pricer *p, const struct cell *c)
{
    uint64_t age, rate;
    memcpy(&age, &c->age, sizeof age);
    memcpy(&rate, &c->q.rate, sizeof rate);
    bool by_rate = p->s->m->terms->lifecycle == LIFECYCLE_EFS;
    uint64_t h = (age ^ (by_rate ? rate * 31 : 0) ^ (uint64_t)c->q.start) * 0x9e3779b97f4a7c15u;
    struct view **v = &p->view[h >> 58];
    if (!*v) {
        *v = calloc(1, sizeof **v);
    }
    bool same = *v && (*v)->used && (*v)->start == c->q.start && (*v)->age == c->age &&
                (!by_rate || (*v)->rate == c->q.rate);
    if (*v && !same) {
        fill_view(*v, p->s, c);
    }
    return *v;
}

bool policy_add_savings(struct policy_pricer *p, const struct cell *c, double *sum)
{
    const struct view *v = view_of(p, c);
    const struct schedule none = {.n = 0};
    if (!v) {
        return false;
    }
    price_cell(p, c);
    double base = path_cost(p, &none);
    for (size_t i = 0; i < v->n; i++) {
        p->saved[i] = base - path_cost(p, &v->path[i]);
    }
    for (size_t i = 0; i < p->s->n_schedules; i++) {
        sum[i] += p->saved[v->path_of[i]];
    }
    return true;
}
