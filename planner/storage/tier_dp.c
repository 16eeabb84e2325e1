/* Cheapest path of many groups at once: R-OPT-01, whose states "served a periods" collapse. Per
 * tier k and month t:
 *   E = entering k at t:  min over d < M of (stay d, pay the rest of M, leave), or stay M
 *   G = being in k at t with M served:  min(leave, stay a month)
 *   L = leaving k at t:  min over k' of move(k, k') + E(t, k')
 * M is the minimum duration, or the months until Intelligent-Tiering's steps are settled. A minimum
 * that counts from creation (R-GCS-06) asks for no states at all: what is left of it depends on the
 * month alone, until a copy up writes the objects anew. F(t) is the best way on from such a copy at
 * t; it is a search of its own for each t, made only if some copy can pay.
 * Exact for any prices; O(months x (moves + sum of M)) a group without copies of that kind, that
 * times the months with them. Groups go in blocks of LANES so that the inner loops are vectors.
 * tests/unit/storage_tier.c and storage_vendors.c compare with brute force. */
#include "tier_model.h"
#include <stdlib.h>
#include <string.h>

#define LANES 8
#define MOVES (TM_TIERS * TM_TIERS)

struct lane {
    double v[LANES];
};
struct pair {
    int from, to;
};
struct block {
    const struct tier_model *m;
    struct tm_group g[LANES];
    int horizon;
    struct pair pair[MOVES];
    int n_pairs, steady[TM_TIERS]; /* M of each tier, at least 1 */
    bool target[TM_TIERS];         /* some move leads there */
    bool exit[TM_TIERS];           /* some move leads away */
    struct lane move[MOVES];
    struct lane month[TM_TIERS];           /* steady monthly cost, where no month differs */
    struct lane stay[TM_TIERS][TM_PHASES]; /* cost of the first d months, d = 0 .. M; the same */
    struct lane rent[2][TM_TIERS]; /* 30 days of a minimum, before and from min_size_month */
    int enter[TM_TIERS][LANES];
    bool varies;
    double per_read[TM_TIERS], per_byte[TM_TIERS]; /* what reads cost in each tier */
    struct lane *at;                               /* steady cost of month t: [t * TM_TIERS + k] */
    /* The automatic tier's cost in month t before its last step is open: [STORAGE_STEPS * t] */
    struct lane *young;
    struct lane *E, *L, *G; /* [t * TM_TIERS + k], t = 0 .. horizon */
    struct lane *F;         /* [t], t = 0 .. horizon: copied up at t */
    int born;               /* month of the copy up that the arrays are for; -1 = none yet */
    const struct tm_prices *prices; /* of coupling constraints; NULL = none */
    struct tm_group other[LANES];   /* prices->other of the lanes */
    double *factor; /* [t], t = 0 .. horizon: of the money of moves and minimums in month t */
};

static double as_double(int rc, money m)
{
    return rc < 0 ? (double)INFINITY : (double)m;
}

static double stay_of(const struct tier_model *m, const struct tm_group *g, int k, int since, int t)
{
    money c;
    int rc = cost_stay(m, g, k, since, t, 1, &c);
    return as_double(rc, c);
}

static void fill_moves(struct block *b, int lane)
{
    const struct tier_model *m = b->m;
    const struct tm_group *g = &b->g[lane];
    double fee[TM_TIERS]; /* of entering by lifecycle: mostly the same from everywhere (R-S3-15) */
    for (int k = 0; k < TM_TIERS; k++) {
        fee[k] = -1;
    }
    for (int i = 0; i < b->n_pairs; i++) {
        int from = b->pair[i].from, to = b->pair[i].to;
        if (!b->target[from] && from != g->start) {
            continue; /* this group is never there */
        }
        bool same = m->move[from][to] == MOVE_LIFECYCLE && m->terms->fee != FEE_SOURCE_PUT;
        if (!same || fee[to] < 0) {
            money c;
            int rc = cost_move(m, g, from, to, &c);
            double cost = as_double(rc, c);
            b->move[i].v[lane] = cost;
            fee[to] = same ? cost : fee[to];
        } else {
            b->move[i].v[lane] = fee[to];
        }
    }
}

/* What a month costs at its own prices: v[p] in the automatic tier with p steps open, v[LAST] with
 * all of them and in every other tier. */
#define LAST STORAGE_STEPS
struct plain {
    double base, v[LAST + 1];
};

static void plain_month(const struct block *b, const struct tm_group *g, int k, int t,
                        struct plain *p)
{
    const struct tier_model *m = b->m;
    if (m->tier[k].rule->automatic) {
        for (int phase = 0; phase <= m->n_steps; phase++) {
            p->v[phase == m->n_steps ? LAST : phase] = stay_of(m, g, k, tm_phase_from(m, phase), t);
        }
        return;
    }
    if (t == 0 || t == m->min_size_month) {
        struct tm_group still = *g;
        still.reads = still.read_bytes = 0;
        p->base = stay_of(m, &still, k, 0, t);
    }
    double read = (double)tm_reads(m, g->reads, t) * b->per_read[k];
    double bytes = (double)tm_reads(m, g->read_bytes, t) * b->per_byte[k];
    p->v[LAST] = p->base + read + bytes;
}

/* Costs that differ by month: by the forecast, by a rule that begins, by the constraints' prices.
 */
static void fill_months(struct block *b, int lane, int k)
{
    const struct tier_model *m = b->m;
    const struct tm_prices *x = b->prices;
    const struct tm_group *g = &b->g[lane];
    bool automatic = m->tier[k].rule->automatic, other = x && x->other_money > 0;
    const double *byte = x ? x->byte[k] : NULL;
    double bytes = (double)g->bytes;
    struct plain own = {0}, more = {0};
    for (int t = 0; t < b->horizon; t++) {
        if (t == 0 || m->forecast || t == m->min_size_month) {
            plain_month(b, g, k, t, &own);
            if (other) {
                plain_month(b, &b->other[lane], k, t, &more);
            }
        }
        double f = x ? x->money[t] : 1, extra = byte ? byte[t] * bytes : 0;
        for (int phase = automatic ? 0 : LAST; phase <= LAST; phase++) {
            if (phase < LAST && phase >= m->n_steps) {
                continue;
            }
            double c = own.v[phase] * f + extra;
            c += other ? more.v[phase] * x->other_money : 0;
            (phase == LAST ? &b->at[t * TM_TIERS + k] : &b->young[LAST * t + phase])->v[lane] = c;
        }
    }
}

/* Costs of one group into its lane, in units of 10^-12 as doubles. */
static void fill_lane(struct block *b, int lane)
{
    const struct tier_model *m = b->m;
    const struct tm_group *g = &b->g[lane];
    fill_moves(b, lane);
    for (int k = 0; k < m->n; k++) {
        if (!b->target[k] && k != g->start) {
            continue;
        }
        struct tm_rate period = m->tier[k].storage;
        for (int later = 0; later < 2; later++) {
            money c;
            int rc = tm_amount(&period, later ? g->later[k] : g->billed[k], 1, &c);
            b->rent[later][k].v[lane] = as_double(rc, c);
        }
        b->enter[k][lane] = g->enter[k];
        if (b->varies) {
            fill_months(b, lane, k);
            continue;
        }
        int M = b->steady[k];
        double sum = 0;
        bool automatic = m->tier[k].rule->automatic;
        double steady = stay_of(m, g, k, automatic ? M : 0, 0);
        b->month[k].v[lane] = steady;
        b->stay[k][0].v[lane] = 0;
        for (int d = 0; d < M; d++) {
            sum += automatic ? stay_of(m, g, k, d, 0) : steady;
            b->stay[k][d + 1].v[lane] = sum;
        }
    }
}

/* Steady cost of month t. */
static const struct lane *month_of(const struct block *b, int t, int k)
{
    return b->varies ? &b->at[t * TM_TIERS + k] : &b->month[k];
}

/* Adds the months [t, t + n), `since` months after entry. */
static void add_stay(const struct block *b, int t, int k, int since, int n, struct lane *sum)
{
    bool automatic = b->m->tier[k].rule->automatic;
    for (int i = 0; i < n; i++) {
        const struct lane *c = &b->at[(t + i) * TM_TIERS + k];
        int phase = automatic ? tm_phase(b->m, since + i) : LAST;
        if (automatic && phase < b->m->n_steps) {
            c = &b->young[LAST * (t + i) + phase];
        }
        for (int v = 0; v < LANES; v++) {
            sum->v[v] += c->v[v];
        }
    }
}

/* Part of a period of the minimum that is left. */
static double left_of(const struct storage_rule *r, int periods)
{
    int days = r->min_days - 30 * periods;
    return days > 0 ? days / 30.0 : 0;
}

static const struct lane *rent_of(const struct block *b, int t, int k)
{
    return &b->rent[t >= b->m->min_size_month][k];
}

/* Rest of a minimum from entry, d months after it, at month t; none where it counts from creation.
 */
static double penalty(const struct block *b, int lane, int t, int k, int d)
{
    const struct storage_rule *r = b->m->tier[k].rule;
    double left = r->from_creation ? 0 : left_of(r, d);
    return left > 0 ? left * rent_of(b, t, k)->v[lane] * b->factor[t] : 0;
}

/* Rest of a minimum from creation at month t. */
static double unserved(const struct block *b, int lane, int t, int k)
{
    const struct storage_rule *r = b->m->tier[k].rule;
    if (!r->from_creation) {
        return 0;
    }
    double left = left_of(r, b->born < 0 ? t + b->g[lane].served : t - b->born);
    return left > 0 ? left * rent_of(b, t, k)->v[lane] * b->factor[t] : 0;
}

static void min_sum(struct lane *out, const struct lane *a, double factor, const struct lane *b)
{
    for (int i = 0; i < LANES; i++) {
        double s = a->v[i] * factor + b->v[i];
        out->v[i] = s < out->v[i] ? s : out->v[i];
    }
}

/* min over d < M of staying d months, paying the rest of the minimum and leaving. */
static void leave_early(const struct block *b, int t, int k, struct lane *e)
{
    int T = b->horizon, M = b->steady[k];
    struct lane sum = {{0}};
    for (int d = 1; d < M && t + d < T; d++) {
        const struct lane *L = &b->L[(t + d) * TM_TIERS + k], *rent = rent_of(b, t + d, k);
        const struct lane *stay = &b->stay[k][d];
        double left = left_of(b->m->tier[k].rule, d) * b->factor[t + d];
        if (b->varies) {
            add_stay(b, t + d - 1, k, d - 1, 1, &sum);
            stay = &sum;
        }
        for (int i = 0; i < LANES; i++) {
            double s = stay->v[i] + left * rent->v[i] + L->v[i];
            e->v[i] = s < e->v[i] ? s : e->v[i];
        }
    }
}

static void enter_tier(struct block *b, int t, int k)
{
    int T = b->horizon, M = b->steady[k], stay = t + M < T ? M : T - t;
    struct lane *e = &b->E[t * TM_TIERS + k];
    if (b->varies) {
        memset(e, 0, sizeof *e);
        add_stay(b, t, k, 0, stay, e);
    } else {
        *e = b->stay[k][stay];
    }
    const struct lane *g = &b->G[(t + stay) * TM_TIERS + k];
    for (int i = 0; i < LANES; i++) {
        e->v[i] += g->v[i];
        if (t + M >= T && b->m->delete_at_end) { /* the horizon comes first */
            e->v[i] += penalty(b, i, T, k, stay);
        }
    }
    if (b->exit[k]) {
        leave_early(b, t, k, e);
    }
    for (int i = 0; i < LANES; i++) {
        if (t < b->enter[k][i]) {
            e->v[i] = (double)INFINITY;
        }
    }
}

/* Cost of move p at t, what follows included. */
static double follow(const struct block *b, int lane, int t, int p)
{
    int from = b->pair[p].from, to = b->pair[p].to;
    bool copy = b->m->move[from][to] == MOVE_COPY, up = copy && to == b->m->hot;
    const struct lane *next = up && b->m->created ? &b->F[t] : &b->E[t * TM_TIERS + to];
    double rest = copy || !b->m->terms->early_free ? unserved(b, lane, t, from) : 0;
    return b->move[p].v[lane] * b->factor[t] + rest + next->v[lane];
}

/* The arrays E, L and G down to month `first` for objects written at `born` (-1: long ago). */
static void solve(struct block *b, int born, int first)
{
    const struct tier_model *m = b->m;
    b->born = born;
    for (int k = 0; k < m->n; k++) {
        for (int i = 0; i < LANES; i++) {
            b->G[b->horizon * TM_TIERS + k].v[i] =
                m->delete_at_end ? unserved(b, i, b->horizon, k) : 0;
        }
    }
    for (int t = b->horizon - 1; t >= first; t--) {
        struct lane *L = &b->L[t * TM_TIERS], *G = &b->G[t * TM_TIERS];
        for (int k = 0; k < m->n; k++) {
            if (b->target[k]) {
                enter_tier(b, t, k);
            }
            for (int i = 0; i < LANES; i++) {
                L[k].v[i] = (double)INFINITY;
            }
        }
        for (int p = 0; p < b->n_pairs; p++) {
            struct lane *l = &L[b->pair[p].from];
            if (!m->created) {
                min_sum(l, &b->move[p], b->factor[t], &b->E[t * TM_TIERS + b->pair[p].to]);
                continue;
            }
            for (int i = 0; i < LANES; i++) {
                double c = follow(b, i, t, p);
                l->v[i] = c < l->v[i] ? c : l->v[i];
            }
        }
        for (int k = 0; k < m->n; k++) {
            G[k] = L[k];
            min_sum(&G[k], month_of(b, t, k), 1, &b->G[(t + 1) * TM_TIERS + k]);
        }
    }
}

/* Tiers that lifecycle reaches from k, k itself among them. */
static unsigned reached(const struct tier_model *m, int k)
{
    unsigned set = 1u << k;
    for (int round = 0; round < m->n; round++) {
        for (int i = 0; i < m->n; i++) {
            for (int to = 0; to < m->n && set >> i & 1; to++) {
                set |= m->move[i][to] == MOVE_LIFECYCLE ? 1u << to : 0;
            }
        }
    }
    return set;
}

/* A copy up pays only towards a tier that is cheaper in some month and not reached otherwise. */
static bool copies_may_pay(const struct block *b)
{
    const struct tier_model *m = b->m;
    bool pays = false;
    for (int i = 0; i < LANES; i++) {
        pays = pays || b->g[i].must_leave;
    }
    for (int k = 0; k < m->n && !pays; k++) {
        if (m->tier[k].rule->whole_bucket) {
            continue;
        }
        unsigned set = reached(m, k);
        for (int c = 0; c < m->n && !pays && !m->tier[c].rule->whole_bucket; c++) {
            for (int t = 0; t < (b->varies ? b->horizon : 1) && !(set >> c & 1); t++) {
                for (int i = 0; i < LANES; i++) {
                    bool there = b->target[k] || b->g[i].start == k;
                    pays = pays || (there && (b->target[c] || c == m->hot) &&
                                    month_of(b, t, c)->v[i] < month_of(b, t, k)->v[i]);
                }
            }
        }
    }
    return pays;
}

/* F from the end on: each needs only later ones. */
static void solve_copies(struct block *b)
{
    bool pays = copies_may_pay(b);
    for (int t = b->horizon - 1; t >= 0; t--) {
        if (pays) {
            solve(b, t, t);
            b->F[t] = b->E[t * TM_TIERS + b->m->hot];
        } else {
            for (int i = 0; i < LANES; i++) {
                b->F[t].v[i] = (double)INFINITY;
            }
        }
    }
}

/* Cheaper by more than rounding: ties stay. */
static bool better(double a, double than)
{
    return isinf(than) ? a < than : a < than - 1e-12 * fabs(than);
}

static int leave_to(const struct block *b, int lane, int t, int k)
{
    int best = -1;
    double cost = (double)INFINITY;
    for (int p = 0; p < b->n_pairs; p++) {
        if (b->pair[p].from == k) {
            double c = follow(b, lane, t, p);
            if (best < 0 ? c < cost : better(c, cost)) {
                best = b->pair[p].to;
                cost = c;
            }
        }
    }
    return best;
}

/* First month at which steady k (M served at t) is best left; the horizon = never. */
static int steady_until(const struct block *b, int lane, int t, int k)
{
    for (; t < b->horizon; t++) {
        double stay = month_of(b, t, k)->v[lane] + b->G[(t + 1) * TM_TIERS + k].v[lane];
        if (better(b->L[t * TM_TIERS + k].v[lane], stay)) {
            return t;
        }
    }
    return t;
}

/* Cost of lane's months [t, t + n) in k, `since` months after entry. */
static double stay_cost(const struct block *b, int lane, int t, int k, int since, int n)
{
    struct lane sum = {{0}};
    if (!b->varies) {
        return b->stay[k][since + n].v[lane] - b->stay[k][since].v[lane];
    }
    add_stay(b, t, k, since, n, &sum);
    return sum.v[lane];
}

/* Month at which k is best left from month t on. `left` months of M are still to come; what was
 * entered just now stays one of them at least, what is there already may leave at once. */
static int stay_until(const struct block *b, int lane, int t, int k, int left, bool just_now)
{
    int T = b->horizon, at = b->steady[k] - left, best = -1;
    int stay = t + left < T ? left : T - t;
    double cost = stay_cost(b, lane, t, k, at, stay) + b->G[(t + stay) * TM_TIERS + k].v[lane];
    if (t + left >= T && b->m->delete_at_end) {
        cost += penalty(b, lane, T, k, at + stay);
    }
    for (int d = just_now; d < left && t + d < T; d++) {
        double c = stay_cost(b, lane, t, k, at, d) + penalty(b, lane, t + d, k, at + d) +
                   b->L[(t + d) * TM_TIERS + k].v[lane];
        if (better(c, cost)) {
            cost = c;
            best = d;
        }
    }
    if (best >= 0) {
        return t + best;
    }
    return t + left >= T ? T : steady_until(b, lane, t + left, k);
}

/* Month at which the start tier is left. One that may not be used any more (it waits too long) is
 * left at once when there is a way out. */
static int start_until(const struct block *b, int lane)
{
    const struct tm_group *g = &b->g[lane];
    for (int t = 0; g->must_leave && t < b->horizon; t++) {
        if (isfinite(b->L[t * TM_TIERS + g->start].v[lane])) {
            return t;
        }
    }
    int M = b->steady[g->start];
    bool done = g->served >= M || b->m->tier[g->start].rule->from_creation;
    return stay_until(b, lane, 0, g->start, done ? 0 : M - g->served, false);
}

/* The path of one lane; solves anew where a copy starts the minimums from the beginning. */
static size_t trace(struct block *b, int lane, struct tm_segment *s, size_t max)
{
    int t = start_until(b, lane), k = b->g[lane].start;
    size_t n = 0;
    if (t > 0) {
        s[n++] = (struct tm_segment){k, 0, t};
    }
    while (t < b->horizon && n < max) {
        int to = leave_to(b, lane, t, k);
        if (to < 0) {
            break;
        }
        if (b->m->created && b->m->move[k][to] == MOVE_COPY) {
            solve(b, t, t); /* written anew: another way on than that of the old objects */
        }
        int until = stay_until(b, lane, t, to, b->steady[to], true);
        s[n++] = (struct tm_segment){to, t, until};
        t = until;
        k = to;
    }
    return n;
}

static double unit_price(const struct tm_rate *r)
{
    return (double)r->rate / ((double)r->qty * (r->bytes ? (double)r->bytes : 1));
}

static void prepare(struct block *b)
{
    const struct tier_model *m = b->m;
    b->varies = tm_varies(m) || b->prices;
    for (int t = 0; t <= b->horizon; t++) {
        b->factor[t] = b->prices ? b->prices->money[t] + b->prices->other_money : 1;
    }
    for (int k = 0; k < m->n; k++) {
        const struct tm_tier *t = &m->tier[k];
        b->per_read[k] = unit_price(&t->get) + (t->rule->restore_fee ? unit_price(&t->restore) : 0);
        b->per_byte[k] = unit_price(&t->retrieval);
        if (t->rule->restore_copy) {
            b->per_byte[k] += unit_price(&m->tier[m->hot].storage) * COPY_DAYS / 30;
        }
    }
    for (int i = 0; i < m->n; i++) {
        int M = m->tier[i].rule->automatic ? tm_phase_from(m, m->n_steps) : m->tier[i].periods;
        b->steady[i] = M > 0 ? M : 1;
        for (int k = 0; k < m->n; k++) {
            if (m->move[i][k] != MOVE_NONE) {
                b->pair[b->n_pairs++] = (struct pair){i, k};
                b->target[k] = b->exit[i] = true;
            }
        }
    }
}

static int run(struct block *b, const struct tm_group *g, size_t n, tm_found *found, void *ctx)
{
    struct tm_segment segment[64];
    for (size_t first = 0; first < n; first += LANES) {
        size_t used = n - first < LANES ? n - first : LANES;
        for (size_t i = 0; i < LANES; i++) {
            b->g[i] = g[first + (i < used ? i : 0)]; /* idle lanes repeat the first */
            if (b->prices && b->prices->other_money > 0) {
                b->other[i] = b->prices->other[first + (i < used ? i : 0)];
            }
            fill_lane(b, (int)i);
        }
        if (b->m->created) {
            solve_copies(b);
        }
        solve(b, -1, 0);
        for (size_t i = 0; i < used; i++) {
            if (b->born >= 0) {
                solve(b, -1, 0);
            }
            size_t k = trace(b, (int)i, segment, sizeof segment / sizeof *segment);
            int rc = found(ctx, first + i, segment, k);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int tier_search(const struct tier_model *m, const struct tm_group *g, size_t n, int horizon,
                const struct tm_prices *prices, tm_found *found, void *ctx, struct gt_error *err)
{
    struct block *b = calloc(1, sizeof *b);
    size_t cells = ((size_t)horizon + 1) * TM_TIERS;
    int rc = GT_ENOMEM;
    if (b) {
        b->m = m;
        b->horizon = horizon;
        b->prices = prices;
        b->E = calloc(cells, sizeof *b->E);
        b->L = calloc(cells, sizeof *b->L);
        b->G = calloc(cells, sizeof *b->G);
        b->F = calloc((size_t)horizon + 1, sizeof *b->F);
        b->at = calloc(cells, sizeof *b->at);
        b->young = calloc((size_t)horizon * LAST, sizeof *b->young);
        b->factor = calloc((size_t)horizon + 1, sizeof *b->factor);
        if (b->E && b->L && b->G && b->F && b->at && b->young && b->factor) {
            prepare(b);
            rc = run(b, g, n, found, ctx);
        }
        free(b->E);
        free(b->L);
        free(b->G);
        free(b->F);
        free(b->at);
        free(b->young);
        free(b->factor);
        free(b);
    }
    return rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory") : rc;
}
