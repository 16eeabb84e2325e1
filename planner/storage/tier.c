/* tier_optimise: groups to plan. The hot tier's volume brackets couple the groups (R-S3-03): the
 * search prices it at one bracket, the account's true bracket bill is made month by month and its
 * discount shared out, and the bracket whose plan is cheapest wins. The lower bound prices every
 * byte at the lowest bracket (R-OPT-04). Above 600 lines: everything that bills the account's hot
 * tier as a whole (free search, limits, bound, baseline, policy) works on the same sums by month.
 */
#include "gputier/units.h"
#include "tier_model.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct work {
    const struct tier_group *group;
    size_t n;
    const struct tier_options *o;
    struct tier_model m;
    struct tm_group *q;
    struct arena *arena;
    struct tier_path *path; /* of the try in hand */
    gt_u128 *hot_bytes;     /* billed in the hot tier, per month */
    gt_u128 *weight;        /* hot byte-months of each group */
    struct tm_group *more;  /* q with the reads of limits.reads; NULL = none */
    money *off;             /* discount of each month */
    money total;
    bool account;    /* the hot tier's bill depends on all groups together */
    bool must_leave; /* some group has to be copied back, which no rule does */
};

static const struct tm_rate *hot_rate(const struct tier_model *m)
{
    return &m->tier[m->hot].storage;
}

/* Keeps the path of one group; its cost stands at the first bracket's price. */
static int keep_path(void *ctx, size_t i, const struct tm_segment *s, size_t n)
{
    struct work *w = ctx;
    struct tier_path *p = &w->path[i];
    struct tier_step *step = arena_array(w->arena, n, sizeof *step);
    if (!step) {
        return GT_ENOMEM;
    }
    struct tm_rate own = w->m.tier[w->m.hot].storage;
    w->m.tier[w->m.hot].storage.rate = w->m.n_brackets ? w->m.bracket[0].rate : own.rate;
    int rc = cost_path(&w->m, &w->q[i], s, n, &p->cost);
    w->m.tier[w->m.hot].storage = own;
    w->weight[i] = 0;
    for (size_t k = 0; k < n; k++) {
        step[k] = (struct tier_step){w->m.tier[s[k].tier].rule->tier, s[k].from, s[k].to};
        if (s[k].tier == w->m.hot) {
            gt_u128 months = (gt_u128)(s[k].to - s[k].from);
            w->weight[i] += w->q[i].billed[w->m.hot] * months;
            for (int t = s[k].from; t < s[k].to && w->account; t++) {
                w->hot_bytes[t] += w->q[i].billed[w->m.hot];
            }
        }
    }
    p->group = &w->group[i];
    p->step = step;
    p->n_steps = n;
    return rc;
}

/* Discount of the account's brackets against the first one, all months. */
static int discount(struct work *w, money *out)
{
    *out = 0;
    for (int t = 0; t < w->o->horizon_months; t++) {
        if (tm_discount(&w->m, w->hot_bytes[t], &w->off[t]) < 0 ||
            money_add(*out, w->off[t], out) < 0) {
            return GT_ERANGE;
        }
    }
    return 0;
}

/* Shares the discount by hot byte-months, so that the groups add up to the total. */
static int share_out(struct work *w, money amount, bool baseline)
{
    gt_u128 all = 0;
    for (size_t i = 0; i < w->n; i++) {
        all += w->weight[i];
    }
    money left = amount;
    size_t last = w->n;
    for (size_t i = 0; i < w->n && amount != 0 && all > 0; i++) {
        money part;
        if (w->weight[i] == 0) {
            continue;
        }
        if (money_mul_ratio(amount, w->weight[i], all, &part) < 0) {
            return GT_ERANGE;
        }
        part = (amount > 0) == (part < left) ? part : left;
        left -= part;
        last = i;
        *(baseline ? &w->path[i].baseline_cost : &w->path[i].cost) -= part;
    }
    if (last < w->n && left != 0) {
        *(baseline ? &w->path[last].baseline_cost : &w->path[last].cost) -= left;
    }
    return 0;
}

static void clear(struct work *w)
{
    memset(w->hot_bytes, 0, (size_t)w->o->horizon_months * sizeof *w->hot_bytes);
    w->total = 0;
}

/* What the hot tier costs more than at the price of bracket b, once that is reached: with it the
 * price of b is never too low, since brackets only get cheaper. */
static int above_bracket(const struct work *w, int b, money *out)
{
    struct tm_rate r = *hot_rate(&w->m);
    int rc = 0;
    *out = 0;
    for (int i = 0; i < b && rc == 0; i++) {
        money line = 0;
        r.rate = w->m.bracket[i].rate - w->m.bracket[i + 1].rate;
        rc = r.rate > 0 ? tm_amount(&r, w->m.bracket[i].upto_bytes, 1, &line) : 0;
        rc = rc < 0 ? rc : money_add(*out, line, out);
    }
    return rc;
}

/* Paths kept so far: their costs with what brackets take off. */
static int add_up(struct work *w, struct gt_error *err)
{
    money off;
    int rc = discount(w, &off);
    rc = rc < 0 ? rc : share_out(w, off, false);
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        rc = money_add(w->total, w->path[i].cost, &w->total);
    }
    return rc < 0 ? gt_fail(err, rc, "", "a cost passes the range of money") : 0;
}

/* One search with the hot tier at `rate`; paths, costs and the true total. */
static int attempt(struct work *w, money rate, struct gt_error *err)
{
    clear(w);
    w->m.tier[w->m.hot].storage.rate = rate;
    int rc = tier_search(&w->m, w->q, w->n, w->o->horizon_months, NULL, keep_path, w, err);
    if (rc < 0) {
        return rc == GT_ENOMEM ? rc : gt_fail(err, rc, "", "a cost passes the range of money");
    }
    return add_up(w, err);
}

static int pass_by(void *ctx, size_t i, const struct tm_segment *s, size_t n)
{
    (void)ctx, (void)i, (void)s, (void)n;
    return 0;
}

/* The search within limits with the hot tier at the price of bracket b. */
static int attempt_within(struct work *w, int b, bool only_bound, struct limits_bound *bound,
                          struct gt_error *err)
{
    money off = 0;
    int rc = only_bound ? 0 : above_bracket(w, b, &off);
    clear(w);
    w->m.tier[w->m.hot].storage.rate =
        w->m.n_brackets ? w->m.bracket[b].rate : hot_rate(&w->m)->rate;
    rc = rc < 0 ? gt_fail(err, rc, "", "a cost passes the range of money") : 0;
    rc = rc < 0 ? rc
                : limits_search(&w->m, w->q, w->more, w->n, w->o, off,
                                only_bound ? pass_by : keep_path, w, bound, err);
    return rc < 0 || only_bound ? rc : add_up(w, err);
}

/* Everything stays where it is. */
static int baseline(struct work *w, struct gt_error *err)
{
    clear(w);
    w->m.tier[w->m.hot].storage.rate =
        w->m.n_brackets ? w->m.bracket[0].rate : hot_rate(&w->m)->rate;
    int rc = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        struct tm_segment s = {w->q[i].start, 0, w->o->horizon_months};
        rc = cost_path(&w->m, &w->q[i], &s, 1, &w->path[i].baseline_cost);
        w->weight[i] = 0;
        if (s.tier == w->m.hot) {
            w->weight[i] = w->q[i].billed[w->m.hot];
            w->weight[i] = w->weight[i] * (gt_u128)(unsigned)s.to;
            for (int t = 0; t < s.to && w->account; t++) {
                w->hot_bytes[t] += w->q[i].billed[w->m.hot];
            }
        }
    }
    money off = 0;
    rc = rc < 0 ? rc : discount(w, &off);
    rc = rc < 0 ? rc : share_out(w, off, true);
    return rc < 0 ? gt_fail(err, rc, "", "a cost passes the range of money") : 0;
}

/* Costs of all groups with every hot byte at the lowest bracket price. */
static int lower_bound(struct work *w, money lowest, money *out, struct gt_error *err)
{
    struct tm_rate first = *hot_rate(&w->m);
    money saved = w->m.bracket[0].rate;
    int brackets = w->m.n_brackets;
    w->m.bracket[0].rate = lowest;
    w->m.n_brackets = 1;
    int rc = attempt(w, lowest, err);
    *out = w->total;
    w->m.bracket[0].rate = saved;
    w->m.n_brackets = brackets;
    w->m.tier[w->m.hot].storage = first;
    return rc;
}

int tier_break_even(const struct tier_model *m, const struct tm_group *g, const struct tier_path *p,
                    int from_month)
{
    money spent = 0, base = 0, line, month = 0, stay = 0;
    bool varies = tm_varies(m);
    int at = g->start, served = g->served, born = -g->served;
    for (size_t k = 0; k < p->n_steps; k++) {
        int tier = 0, from = p->step[k].from_month;
        while (m->tier[tier].rule->tier != p->step[k].tier) {
            tier++;
        }
        if (tier != at) {
            if (cost_leave(m, g, at, tier, served, from - born, from, &line) == 0) {
                spent += line;
            }
            if (cost_move(m, g, at, tier, &line) == 0) {
                spent += line;
            }
            born = m->move[at][tier] == MOVE_COPY ? from : born;
            at = tier;
            served = 0;
        }
        for (int t = from; t < p->step[k].to_month; t++, served++) {
            /* Mostly a month costs the same all along. */
            if (t == from || varies || m->tier[tier].rule->automatic) {
                month = cost_stay(m, g, tier, served, t, 1, &line) == 0 ? line : 0;
            }
            if (t == 0 || varies || m->tier[g->start].rule->automatic) {
                stay = cost_stay(m, g, g->start, g->served + t, t, 1, &line) == 0 ? line : 0;
            }
            spent += month;
            base += stay;
            if (spent <= base && t >= from_month) {
                return t;
            }
        }
    }
    return -1;
}

/* Prices that a touched bracket has; the search is tried at the last one all data would reach and,
 * if the plan leaves less in the hot tier, at the one that is reached then. */
static int bracket_of(const struct work *w, bool all)
{
    gt_u128 most = 0;
    for (size_t i = 0; i < w->n && all; i++) {
        most += w->q[i].billed[w->m.hot];
    }
    for (int t = 0; t < w->o->horizon_months; t++) {
        most = w->hot_bytes[t] > most ? w->hot_bytes[t] : most;
    }
    int b = 0;
    while (b + 1 < w->m.n_brackets && w->m.bracket[b].upto_bytes < most) {
        b++;
    }
    return b;
}

/* Replaces the plan that keeps no limits by one that does. */
static int within_limits(struct work *w, int reached, int lowest, struct tier_path *best,
                         struct tier_plan *plan, struct gt_error *err)
{
    const struct tier_limits *l = w->o->limits;
    struct limits_bound bound = {0}, least = {0};
    plan->unlimited = plan->total;
    plan->proven = plan->total == plan->lower_bound;
    plan->currency = w->m.currency;
    plan->path = best;
    plan->n_paths = w->n;
    int rc = 0;
    if (l->currency && strcmp(l->currency, w->m.currency) != 0) {
        return gt_fail(err, GT_EUNSUPPORTED, "", "a budget in %.8s, but prices in %.8s",
                       l->currency, w->m.currency);
    }
    if (l->has_month || l->n_capacities > 0 || w->more) {
        rc = attempt_within(w, reached, false, &bound, err);
        for (size_t i = 0; i < w->n && rc == 0; i++) {
            w->path[i].baseline_cost = best[i].baseline_cost;
            best[i] = w->path[i];
        }
        plan->total = w->total;
        least.reads_best = bound.reads_best;
        /* A bound for any bracket has every hot byte at the lowest price. */
        if (rc == 0 && lowest > 0 && attempt_within(w, lowest, true, &least, NULL) < 0) {
            least.cost = 0;
        }
        plan->proven = bound.proven && lowest == 0;
        money low = 0;
        double cost = lowest > 0 ? least.cost : bound.cost;
        rc = rc < 0 ? rc : money_from_double(cost / (double)MONEY_SCALE, &low);
        low = plan->proven || low > plan->total ? plan->total : low;
        plan->lower_bound = low > plan->lower_bound ? low : plan->lower_bound;
    }
    return rc < 0 ? rc : limits_use(&w->m, w->q, w->more, w->o, w->off, &bound, plan, err);
}

static int search(struct work *w, struct tier_plan *plan, struct gt_error *err)
{
    const size_t n = w->n;
    struct tier_path *best = arena_array(w->arena, n, sizeof *best);
    w->path = arena_array(w->arena, n, sizeof *w->path);
    int rc = best && w->path ? baseline(w, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc < 0) {
        return rc;
    }
    int reached = bracket_of(w, false), lowest = bracket_of(w, true);
    money price = w->m.n_brackets ? w->m.bracket[reached].rate : hot_rate(&w->m)->rate;
    rc = attempt(w, price, err);
    plan->total = w->total;
    memcpy(best, w->path, n * sizeof *best);
    int then = rc < 0 ? 0 : bracket_of(w, false);
    if (rc == 0 && then != reached) {
        rc = attempt(w, w->m.bracket[then].rate, err);
        if (rc == 0 && w->total < plan->total) {
            plan->total = w->total;
            memcpy(best, w->path, n * sizeof *best);
        }
    }
    plan->lower_bound = plan->total;
    if (rc == 0 && lowest > 0) {
        rc = lower_bound(w, w->m.bracket[lowest].rate, &plan->lower_bound, err);
        price = w->m.bracket[then].rate;
    }
    if (rc == 0 && w->o->limits) {
        rc = within_limits(w, then, lowest, best, plan, err);
    }
    w->path = best;
    w->m.tier[w->m.hot].storage.rate = price;
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct tier_path *p = &best[i];
        p->saving = p->baseline_cost - p->cost;
        p->break_even_month = tier_break_even(&w->m, &w->q[i], p, 0);
        rc = money_add(plan->baseline, p->baseline_cost, &plan->baseline);
    }
    plan->saving = plan->baseline - plan->total;
    plan->path = best;
    plan->n_paths = n;
    return rc;
}

/* The true bill of lifecycle rules, as the search's own plan is billed; their paths in w->path. */
static int bill_rules(struct work *w, const struct tier_rule *rule, size_t n_rules, money *total,
                      struct gt_error *err)
{
    w->path = arena_array(w->arena, w->n, sizeof *w->path);
    if (!w->path) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    clear(w);
    int rc = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        struct tm_segment s[POLICY_SEGMENTS];
        size_t k =
            policy_path(&w->m, rule, n_rules, &w->group[i], &w->q[i], w->o->horizon_months, s);
        rc = keep_path(w, i, s, k);
    }
    money off = 0;
    rc = rc < 0 ? rc : discount(w, &off);
    rc = rc < 0 ? rc : share_out(w, off, false);
    *total = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        rc = money_add(*total, w->path[i].cost, total);
    }
    return rc < 0 ? gt_fail(err, rc, "", "a cost passes the range of money") : 0;
}

/* What the rule of thumb "all that is cold into the cheapest class" costs when nobody looks at the
 * objects: the class of the lowest rent, at once. */
static int bill_naive(struct work *w, struct tier_plan *plan, struct gt_error *err)
{
    const struct tier_model *m = &w->m;
    struct tier_path *kept = w->path;
    int to = -1;
    for (int k = 0; k < m->n; k++) {
        bool low = to < 0 || m->tier[k].storage.rate < m->tier[to].storage.rate;
        if (m->move[m->hot][k] == MOVE_LIFECYCLE && !m->tier[k].rule->automatic && low) {
            to = k;
        }
    }
    if (to < 0) {
        return 0;
    }
    struct tier_rule all = {
        .prefix = "", .to_tier = m->tier[to].rule->tier, .max_bytes = UINT64_MAX};
    int rc = bill_rules(w, &all, 1, &plan->naive_cost, err);
    plan->naive_tier = rc == 0 ? all.to_tier : NULL;
    w->path = kept;
    return rc;
}

static int bill_policy(struct work *w, struct tier_plan *plan, struct gt_error *err)
{
    struct tier_path *kept = w->path;
    int rc = bill_rules(w, plan->rule, plan->n_rules, &plan->policy_cost, err);
    plan->policy_gap = plan->policy_cost - plan->total;
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        const struct tier_path *p = &w->path[i];
        const char *start = w->m.tier[w->q[i].start].rule->tier;
        bool moved = strcmp(p->step[p->n_steps - 1].tier, start) != 0;
        bool read = w->q[i].reads > 0 || w->q[i].read_bytes > 0;
        plan->read_there = plan->read_there || (read && moved);
    }
    if (rc == 0 && plan->policy_gap < 0 && !w->must_leave && !w->o->limits) {
        /* The search saw a tie in doubles that the exact bill decides by some 10^-12: the rules'
         * own paths are the better plan. */
        for (size_t i = 0; i < w->n; i++) {
            struct tier_path *p = &w->path[i];
            p->baseline_cost = kept[i].baseline_cost;
            p->saving = p->baseline_cost - p->cost;
            p->break_even_month = tier_break_even(&w->m, &w->q[i], p, 0);
        }
        plan->path = w->path;
        plan->total = plan->policy_cost;
        plan->lower_bound = plan->lower_bound < plan->total ? plan->lower_bound : plan->total;
        plan->saving = plan->baseline - plan->total;
        plan->policy_gap = 0;
    }
    return rc;
}

static const struct storage_rule *start_of(const struct tier_group *g, const struct tier_options *o)
{
    const char *name = g->tier && g->tier[0] ? g->tier : o->from_tier;
    return storage_rule_find(name);
}

static int read_groups(struct work *w, struct tier_plan *plan, struct gt_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct tier_group *g = &w->group[i];
        const struct storage_rule *r = start_of(g, w->o);
        if (!r || r->product != w->m.product) {
            return gt_fail(err, GT_EUNSUPPORTED, g->name, "tier '%.60s' is not one of %s",
                           g->tier && g->tier[0] ? g->tier : w->o->from_tier, w->m.terms->title);
        }
        int k = (int)(r - storage_rule_at(r->product, 0));
        if (!w->m.tier[k].storage.known) {
            return gt_fail(err, GT_ENOTFOUND, g->name, "no price of %s in %s/%s", r->tier,
                           w->o->vendor, w->o->region);
        }
        model_group(&w->m, g, w->o, k, &w->q[i]);
        limits_need(&w->m, w->o, g->name ? g->name : "", &w->q[i]);
        if (w->o->n_needs > 0 && !limits_way_out(&w->m, &w->q[i])) {
            return gt_fail(err, GT_EINFEASIBLE, "",
                           "no tier of %s with a price gives '%.80s' the wait or the throughput "
                           "that it needs",
                           w->m.terms->title, g->name ? g->name : "");
        }
        if (w->more) {
            struct tier_group often = *g;
            often.reads_per_month *= w->o->limits->reads;
            often.read_fraction *= g->read_fraction > 0 ? w->o->limits->reads : 1;
            model_group(&w->m, &often, w->o, k, &w->more[i]);
            limits_need(&w->m, w->o, g->name ? g->name : "", &w->more[i]);
            memcpy(w->q[i].enter, w->more[i].enter, sizeof w->q[i].enter); /* the later ones */
        }
        w->must_leave = w->must_leave || w->q[i].must_leave;
        plan->at_least = plan->at_least || (w->q[i].reads > 0 && !w->m.tier[k].reads_known);
    }
    return 0;
}

static enum storage_product product_of(const struct tier_group *group, size_t n,
                                       const struct tier_options *o)
{
    const struct storage_rule *r = n ? start_of(&group[0], o) : NULL;
    r = r ? r : storage_rule_find(o->from_tier);
    return r ? r->product : PRODUCT_S3;
}

static int over_time(const struct work *w, struct tier_plan *plan, struct gt_error *err)
{
    struct tier_series *series = arena_alloc(w->arena, sizeof *series);
    int rc = series ? tier_series_make(&w->m, w->q, plan, w->account, w->arena, series) : GT_ENOMEM;
    plan->series = series;
    return rc == 0           ? 0
           : rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory")
                             : gt_fail(err, rc, "",
                                       "the bytes or the cost of a month pass the "
                                       "range of their numbers");
}

static const char *const assumed[] = {
    "a month is 30 days; prices are before tax and stay as they are today",
    "minimum durations already served count",
    "restored copies are kept 7 days; reads go to as many different objects as they can",
};

static int optimise(struct work *w, const struct catalog *c, struct tier_plan *plan,
                    struct gt_error *err)
{
    const char **note = arena_array(w->arena, 24, sizeof *note);
    w->q = malloc((w->n ? w->n : 1) * sizeof *w->q);
    w->weight = calloc(w->n ? w->n : 1, sizeof *w->weight);
    w->hot_bytes = calloc((size_t)w->o->horizon_months, sizeof *w->hot_bytes);
    w->off = calloc((size_t)w->o->horizon_months, sizeof *w->off);
    if (w->o->limits && w->o->limits->reads > 0) {
        w->more = malloc((w->n ? w->n : 1) * sizeof *w->more);
    }
    bool others = !w->o->limits || w->o->limits->reads <= 0 || w->more;
    if (!others || !w->off || !note || !w->q || !w->weight || !w->hot_bytes) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < sizeof assumed / sizeof *assumed; i++) {
        note[plan->n_notes++] = assumed[i];
    }
    note[plan->n_notes++] = w->o->delete_at_end
                                ? "everything is deleted at the end of the horizon"
                                : "everything stays stored at the end of the horizon";
    plan->note = note;
    plan->product = product_of(w->group, w->n, w->o);
    size_t left_out = 0;
    int rc =
        model_build(&w->m, plan->product, c, w->o, w->arena, note + plan->n_notes, &left_out, err);
    plan->n_notes += left_out;
    w->account = rc == 0 && (w->m.n_brackets > 1 || w->m.terms->min_account_bytes > 0);
    if (rc == 0 && w->m.min_size_month < w->o->horizon_months) {
        note[plan->n_notes++] =
            arena_printf(w->arena,
                         "objects below 128 KiB are billed as 128 KiB in Cool, Cold and Archive "
                         "from month %d on "
                         "(accounts made since 2026-07-01 at once, all others from 2027-07-01)",
                         w->m.min_size_month + 1);
    }
    if (rc == 0 && w->o->forecast) {
        note[plan->n_notes++] =
            arena_printf(w->arena, "reads change by forecast: in the last month %.4g times as now",
                         w->o->forecast[w->o->horizon_months - 1]);
    }
    if (rc == 0 && w->m.terms->note) {
        note[plan->n_notes++] = w->m.terms->note;
    }
    rc = rc < 0 ? rc : read_groups(w, plan, err);
    if (rc == 0 && w->must_leave) {
        note[plan->n_notes++] =
            "what waits longer or is read slower than allowed has to be copied back: no lifecycle "
            "rule does that, so the policy leaves it where it is";
    }
    rc = rc < 0 ? rc : search(w, plan, err);
    if (rc < 0) {
        return rc;
    }
    plan->currency = arena_strdup(w->arena, w->m.currency);
    size_t *row = arena_array(w->arena, w->m.n_rows, sizeof *row);
    if (!plan->currency || !row) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    memcpy(row, w->m.row, w->m.n_rows * sizeof *row);
    plan->rate_row = row;
    plan->n_rate_rows = w->m.n_rows;
    enum lifecycle_kind file = w->m.terms->lifecycle;
    bool rules = file == LIFECYCLE_S3 || file == LIFECYCLE_GCS || file == LIFECYCLE_AZURE;
    if (w->o->find_savings) {
        rc = tier_savings(&w->m, w->q, w->o, plan, err);
        rc = rc < 0 || !rules ? rc : bill_naive(w, plan, err);
    }
    rc = rc < 0 ? rc : tier_first_steps(&w->m, w->q, plan, err);
    if (rc == 0 && w->o->search_policy && file != LIFECYCLE_NONE) {
        rc = tier_policy(&w->m, w->group, w->q, w->n, w->o, plan, err);
        rc = rc < 0 ? rc : bill_policy(w, plan, err);
    }
    return rc < 0 || !w->o->over_time ? rc : over_time(w, plan, err);
}

int tier_optimise(const struct tier_group *group, size_t n, const struct catalog *c,
                  const struct tier_options *o, struct tier_plan **out, struct gt_error *err)
{
    if (o->horizon_months < 1 || o->horizon_months > 1200) {
        return gt_fail(err, GT_ERANGE, "horizon", "1 to 1200 months");
    }
    struct arena *arena = arena_new(0);
    struct tier_plan *plan = arena ? arena_alloc(arena, sizeof *plan) : NULL;
    if (!plan) {
        arena_free(arena);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    plan->arena = arena;
    struct work w = {.group = group, .n = n, .o = o, .arena = arena};
    int rc = optimise(&w, c, plan, err);
    free(w.q);
    free(w.weight);
    free(w.hot_bytes);
    free(w.more);
    free(w.off);
    if (rc < 0) {
        arena_free(arena);
        return rc;
    }
    *out = plan;
    return 0;
}

void tier_plan_free(struct tier_plan *p)
{
    if (p) {
        arena_free(p->arena);
    }
}
