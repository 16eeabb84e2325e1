/* A plan month by month: what lies in every tier and what that costs, rent apart from moves. The
 * bill rounds a run of alike months once; here the run's amount is dealt out to its months so that
 * no two differ by more than 10^-12 and all months together are the plan's total to the last digit.
 * Runs are kept as differences, so a group costs the number of its steps and not of its months. */
#include "tier_model.h"
#include <limits.h>

struct series_work {
    const struct tier_model *m;
    int months;
    /* [tier][month], differences until `settle`: bytes, rent */
    gt_u128 *bytes;
    money *rent, *moves;
    gt_u128 *hot; /* [month], differences: billed in the hot tier */
    bool used[TM_TIERS];
    int rc;
};

static void plus(struct series_work *w, money *sum, money amount)
{
    int rc = money_add(*sum, amount, sum);
    w->rc = w->rc ? w->rc : rc;
}

/* `amount` over months [from, from + n): the first ones carry one unit more where it does not
 * divide. */
static void deal(struct series_work *w, money *diff, int from, int n, money amount)
{
    money each = amount / n;
    int more = (int)(amount % n);
    plus(w, &diff[from], each + (more > 0));
    if (more > 0) {
        plus(w, &diff[from + more], -1);
    }
    plus(w, &diff[from + n], -each);
}

static void stay(struct series_work *w, const struct tm_group *g, int k, int since, int from,
                 int to)
{
    const size_t row = (size_t)k * (size_t)(w->months + 1);
    w->used[k] = true;
    w->bytes[row + (size_t)from] += g->bytes;
    w->bytes[row + (size_t)to] -= g->bytes; /* differences wrap */
    if (k == w->m->hot) {
        w->hot[from] += g->billed[k];
        w->hot[to] -= g->billed[k];
    }
    for (int t = from; t < to && w->rc == 0;) {
        int run = tm_alike(w->m, k, since + t - from, t, to - t);
        money line;
        w->rc = cost_stay(w->m, g, k, since + t - from, t, (gt_u128)run, &line);
        if (w->rc == 0) {
            deal(w, &w->rent[row], t, run, line);
        }
        t += run;
    }
}

static void move(struct series_work *w, const struct tm_group *g, int from, int to, int served,
                 int age, int t)
{
    money *at = &w->moves[(size_t)to * (size_t)(w->months + 1) + (size_t)t];
    money line;
    int rc = cost_leave(w->m, g, from, to, served, age, t, &line);
    if (rc == 0) {
        plus(w, at, line);
        rc = cost_move(w->m, g, from, to, &line);
    }
    if (rc == 0) {
        plus(w, at, line);
    }
    w->rc = w->rc ? w->rc : rc;
}

static int tier_index(const struct tier_model *m, const char *tier)
{
    int k = 0;
    while (m->tier[k].rule->tier != tier) {
        k++;
    }
    return k;
}

/* One group on its path, the same walk as cost_path. */
static void group(struct series_work *w, const struct tm_group *g, const struct tier_step *s,
                  size_t n)
{
    int at = g->start, served = g->served, born = -g->served;
    for (size_t i = 0; i < n && w->rc == 0; i++) {
        int k = tier_index(w->m, s[i].tier), from = s[i].from_month, to = s[i].to_month;
        if (k != at) {
            move(w, g, at, k, served, from - born, from);
            born = w->m->move[at][k] == MOVE_COPY ? from : born;
            at = k;
            served = 0;
        }
        stay(w, g, k, served, from, to);
        served += to - from;
    }
    if (w->m->delete_at_end && n > 0 && w->rc == 0) {
        int end = s[n - 1].to_month;
        money line;
        w->rc = cost_penalty(w->m, g, at, served, end - born, end, &line);
        if (w->rc == 0) {
            plus(w, &w->moves[(size_t)at * (size_t)(w->months + 1) + (size_t)(end - 1)], line);
        }
    }
}

/* Differences become amounts; the account's brackets or least size change the hot tier's rent. */
static void settle(struct series_work *w, bool account)
{
    const int hot = w->m->hot;
    money *rent = &w->rent[(size_t)hot * (size_t)(w->months + 1)];
    for (int k = 0; k < w->m->n && w->rc == 0; k++) {
        size_t row = (size_t)k * (size_t)(w->months + 1);
        for (int t = 1; t < w->months; t++) {
            w->bytes[row + (size_t)t] += w->bytes[row + (size_t)t - 1];
            plus(w, &w->rent[row + (size_t)t], w->rent[row + (size_t)t - 1]);
        }
    }
    for (int t = 0; t < w->months && w->rc == 0; t++) {
        w->hot[t] += t > 0 ? w->hot[t - 1] : 0;
        money off = 0;
        w->rc = account ? tm_discount(w->m, w->hot[t], &off) : 0;
        w->used[hot] = w->used[hot] || off != 0;
        plus(w, &rent[t], -off);
    }
}

static bool make(struct series_work *w, const struct tier_model *m, int months, struct arena *a)
{
    size_t all = (size_t)m->n * (size_t)(months + 1);
    *w = (struct series_work){.m = m,
                              .months = months,
                              .bytes = arena_array(a, all, sizeof *w->bytes),
                              .rent = arena_array(a, all, sizeof *w->rent),
                              .moves = arena_array(a, all, sizeof *w->moves),
                              .hot = arena_array(a, (size_t)months + 1, sizeof *w->hot)};
    return w->bytes && w->rent && w->moves && w->hot;
}

static int keep(const struct series_work *w, struct arena *a, struct tier_series *out)
{
    size_t n = 0, months = (size_t)w->months;
    out->months = w->months;
    out->tier = arena_array(a, (size_t)w->m->n, sizeof *out->tier);
    out->bytes = arena_array(a, (size_t)w->m->n * months, sizeof *out->bytes);
    out->rent = arena_array(a, (size_t)w->m->n * months, sizeof *out->rent);
    out->moves = arena_array(a, (size_t)w->m->n * months, sizeof *out->moves);
    if (!out->tier || !out->bytes || !out->rent || !out->moves) {
        return GT_ENOMEM;
    }
    for (int k = 0; k < w->m->n; k++) {
        size_t row = (size_t)k * (months + 1);
        if (!w->used[k]) {
            continue;
        }
        out->tier[n] = w->m->tier[k].rule->tier;
        for (size_t t = 0; t < months; t++) {
            if (w->bytes[row + t] > UINT64_MAX) {
                return GT_ERANGE;
            }
            out->bytes[n * months + t] = (uint64_t)w->bytes[row + t];
            out->rent[n * months + t] = w->rent[row + t];
            out->moves[n * months + t] = w->moves[row + t];
        }
        n++;
    }
    out->n_tiers = n;
    return 0;
}

int tier_series_make(const struct tier_model *model, const struct tm_group *g,
                     const struct tier_plan *p, bool account, struct arena *a,
                     struct tier_series *out)
{
    struct tier_model m = *model;
    struct series_work plan, base;
    const int months = m.horizon;
    m.tier[m.hot].storage.rate =
        m.n_brackets ? m.bracket[0].rate : m.tier[m.hot].storage.rate; /* as bills are made */
    out->baseline = arena_array(a, (size_t)months, sizeof *out->baseline);
    if (!make(&plan, &m, months, a) || !make(&base, &m, months, a) || !out->baseline) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < p->n_paths; i++) {
        group(&plan, &g[i], p->path[i].step, p->path[i].n_steps);
        struct tier_step s = {m.tier[g[i].start].rule->tier, 0, months};
        group(&base, &g[i], &s, 1);
    }
    settle(&plan, account);
    settle(&base, account);
    for (int k = 0; k < m.n; k++) {
        for (int t = 0; t < months; t++) {
            size_t at = (size_t)k * (size_t)(months + 1) + (size_t)t;
            plus(&base, &out->baseline[t], base.rent[at]);
            plus(&base, &out->baseline[t], base.moves[at]);
        }
    }
    int rc = plan.rc ? plan.rc : base.rc;
    return rc ? rc : keep(&plan, a, out);
}

static size_t find(struct tier_series *s, const char *tier)
{
    size_t i = 0;
    while (i < s->n_tiers && s->tier[i] != tier) { /* names live in the rules' tables */
        i++;
    }
    if (i == s->n_tiers) {
        s->tier[s->n_tiers++] = tier;
    }
    return i;
}

int tier_series_sum(struct tier_plan *const *plan, size_t n, int months, struct arena *a,
                    struct tier_series *out)
{
    size_t most = 0, room = (size_t)months;
    for (int p = 0; p < PRODUCT_COUNT; p++) {
        for (int i = 0; storage_rule_at((enum storage_product)p, i); i++) {
            most++;
        }
    }
    *out = (struct tier_series){.months = months,
                                .tier = arena_array(a, most, sizeof *out->tier),
                                .bytes = arena_array(a, most * room, sizeof *out->bytes),
                                .rent = arena_array(a, most * room, sizeof *out->rent),
                                .moves = arena_array(a, most * room, sizeof *out->moves),
                                .baseline = arena_array(a, room, sizeof *out->baseline)};
    if (!out->tier || !out->bytes || !out->rent || !out->moves || !out->baseline) {
        return GT_ENOMEM;
    }
    int rc = 0;
    for (size_t p = 0; p < n; p++) {
        const struct tier_series *s = plan[p] ? plan[p]->series : NULL;
        for (size_t k = 0; s && k < s->n_tiers && rc == 0; k++) {
            size_t to = find(out, s->tier[k]) * room, from = k * (size_t)s->months;
            for (int t = 0; t < s->months && rc == 0; t++, to++, from++) {
                bool over = __builtin_add_overflow(out->bytes[to], s->bytes[from], &out->bytes[to]);
                rc = over ? GT_ERANGE : money_add(out->rent[to], s->rent[from], &out->rent[to]);
                rc = rc ? rc : money_add(out->moves[to], s->moves[from], &out->moves[to]);
            }
        }
        for (int t = 0; s && t < s->months && rc == 0; t++) {
            rc = money_add(out->baseline[t], s->baseline[t], &out->baseline[t]);
        }
    }
    return rc;
}

money tier_series_month(const struct tier_series *s, int t)
{
    money sum = 0;
    for (size_t k = 0; k < s->n_tiers; k++) {
        size_t at = k * (size_t)s->months + (size_t)t;
        sum += s->rent[at] + s->moves[at];
    }
    return sum;
}

int tier_series_break_even(const struct tier_series *s)
{
    money spent = 0, base = 0;
    int last = 0;
    bool moved = false;
    for (int t = 0; t < s->months; t++) {
        spent += tier_series_month(s, t);
        base += s->baseline[t];
        moved = moved || spent != base;
        last = spent > base ? t + 1 : last;
    }
    return !moved ? -1 : last < s->months ? last : -1;
}
