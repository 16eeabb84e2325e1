/* Cheapest path of many groups at once: R-OPT-01 with reads that are the same every month, which
 * lets the states "served a periods" collapse. Per tier k and month t:
 *   E = entering k at t:  min over d < M of (stay d, pay the rest of M, leave), or stay M
 *   G = being in k at t with M served:  min(leave, stay a month)
 *   L = leaving k at t:  min over k' of move(k, k') + E(t, k')
 * M is the minimum duration, or the months until Intelligent-Tiering's steps are settled. Exact for
 * any prices; O(months x (moves + sum of M)) a group. Groups go in blocks of LANES so that the
 * inner loops are vectors. tests/unit/storage_tier.c compares with brute force. */
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
    struct lane move[MOVES];
    struct lane month[TM_TIERS];              /* steady monthly cost */
    struct lane stay[TM_TIERS][TM_PHASES];    /* cost of the first d months, d = 0 .. M */
    struct lane penalty[TM_TIERS][TM_PHASES]; /* of leaving after d months */
    int enter[TM_TIERS][LANES];
    struct lane *E, *L, *G; /* [t * TM_TIERS + k], t = 0 .. horizon */
};

static double as_double(int rc, money m)
{
    return rc < 0 ? (double)INFINITY : (double)m;
}

/* Costs of one group into its lane, in units of 10^-12 as doubles. */
static void fill_lane(struct block *b, int lane)
{
    const struct tier_model *m = b->m;
    const struct tm_group *g = &b->g[lane];
    money c;
    double fee[TM_TIERS]; /* of entering by lifecycle: the same from everywhere (R-S3-15) */
    for (int k = 0; k < TM_TIERS; k++) {
        fee[k] = -1;
    }
    for (int i = 0; i < b->n_pairs; i++) {
        int from = b->pair[i].from, to = b->pair[i].to;
        if (!b->target[from] && from != g->start) {
            continue; /* this group is never there */
        }
        bool lifecycle = m->move[from][to] == MOVE_LIFECYCLE;
        if (!lifecycle || fee[to] < 0) {
            int rc = cost_move(m, g, from, to, &c);
            double cost = as_double(rc, c);
            b->move[i].v[lane] = cost;
            fee[to] = lifecycle ? cost : fee[to];
        } else {
            b->move[i].v[lane] = fee[to];
        }
    }
    for (int k = 0; k < m->n; k++) {
        if (!b->target[k] && k != g->start) {
            continue;
        }
        int M = b->steady[k];
        double sum = 0;
        b->stay[k][0].v[lane] = 0;
        bool automatic = m->tier[k].rule->automatic;
        int rc = cost_stay(m, g, k, automatic ? M : 0, 1, &c);
        double steady = as_double(rc, c);
        b->month[k].v[lane] = steady;
        for (int d = 0; d < M; d++) {
            double one = steady;
            if (automatic) {
                rc = cost_stay(m, g, k, d, 1, &c);
                one = as_double(rc, c);
            }
            sum += one;
            b->stay[k][d + 1].v[lane] = sum;
        }
        rc = cost_penalty(m, g, k, m->tier[k].periods - 1, &c);
        double rent = as_double(rc, c);
        for (int d = 0; d <= M; d++) {
            int left = m->tier[k].periods - d;
            b->penalty[k][d].v[lane] = left > 0 ? rent * left : 0;
        }
        b->enter[k][lane] = g->enter[k];
    }
}

static void min_sum(struct lane *out, const struct lane *a, const struct lane *b)
{
    for (int i = 0; i < LANES; i++) {
        double s = a->v[i] + b->v[i];
        out->v[i] = s < out->v[i] ? s : out->v[i];
    }
}

static void min_sum3(struct lane *out, const struct lane *a, const struct lane *b,
                     const struct lane *c)
{
    for (int i = 0; i < LANES; i++) {
        double s = a->v[i] + b->v[i] + c->v[i];
        out->v[i] = s < out->v[i] ? s : out->v[i];
    }
}

static void enter_tier(struct block *b, int t, int k)
{
    int T = b->horizon, M = b->steady[k];
    struct lane *e = &b->E[t * TM_TIERS + k];
    if (t + M >= T) {
        *e = b->stay[k][T - t]; /* the horizon comes first */
        for (int i = 0; i < LANES && b->m->delete_at_end; i++) {
            e->v[i] += b->penalty[k][T - t].v[i];
        }
    } else {
        const struct lane *g = &b->G[(t + M) * TM_TIERS + k];
        for (int i = 0; i < LANES; i++) {
            e->v[i] = b->stay[k][M].v[i] + g->v[i];
        }
    }
    for (int d = 1; d < M && t + d < T; d++) {
        min_sum3(e, &b->stay[k][d], &b->penalty[k][d], &b->L[(t + d) * TM_TIERS + k]);
    }
    for (int i = 0; i < LANES; i++) {
        if (t < b->enter[k][i]) {
            e->v[i] = (double)INFINITY;
        }
    }
}

static void solve(struct block *b)
{
    const struct tier_model *m = b->m;
    for (int k = 0; k < m->n; k++) {
        memset(&b->G[b->horizon * TM_TIERS + k], 0, sizeof *b->G);
    }
    for (int t = b->horizon - 1; t >= 0; t--) {
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
            min_sum(&L[b->pair[p].from], &b->move[p], &b->E[t * TM_TIERS + b->pair[p].to]);
        }
        for (int k = 0; k < m->n; k++) {
            G[k] = L[k];
            min_sum(&G[k], &b->month[k], &b->G[(t + 1) * TM_TIERS + k]);
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
            double c = b->move[p].v[lane] + b->E[t * TM_TIERS + b->pair[p].to].v[lane];
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
        double stay = b->month[k].v[lane] + b->G[(t + 1) * TM_TIERS + k].v[lane];
        if (better(b->L[t * TM_TIERS + k].v[lane], stay)) {
            return t;
        }
    }
    return t;
}

static double end_penalty(const struct block *b, int lane, int k, int served)
{
    return b->m->delete_at_end ? b->penalty[k][served].v[lane] : 0;
}

/* Month at which k, entered at t, is left on the cheapest way. */
static int entered_until(const struct block *b, int lane, int t, int k)
{
    int T = b->horizon, M = b->steady[k], best = -1;
    double cost = t + M >= T ? b->stay[k][T - t].v[lane] + end_penalty(b, lane, k, T - t)
                             : b->stay[k][M].v[lane] + b->G[(t + M) * TM_TIERS + k].v[lane];
    for (int d = 1; d < M && t + d < T; d++) {
        double c =
            b->stay[k][d].v[lane] + b->penalty[k][d].v[lane] + b->L[(t + d) * TM_TIERS + k].v[lane];
        if (better(c, cost)) {
            cost = c;
            best = d;
        }
    }
    if (best > 0) {
        return t + best;
    }
    return t + M >= T ? T : steady_until(b, lane, t + M, k);
}

/* Month at which the start tier is left: like entered_until, with part of M served already. A tier
 * that may not be used any more (it waits too long) is left at once when there is a way out. */
static int start_until(const struct block *b, int lane)
{
    const struct tm_group *g = &b->g[lane];
    int k = g->start, T = b->horizon, M = b->steady[k];
    int left = M - g->served > 0 ? M - g->served : 0, at = M - left;
    for (int t = 0; g->must_leave && t < T; t++) {
        if (isfinite(b->L[t * TM_TIERS + k].v[lane])) {
            return t;
        }
    }
    int best = -1;
    double base = b->stay[k][at].v[lane], cost;
    if (left >= T) {
        cost = b->stay[k][at + T].v[lane] - base + end_penalty(b, lane, k, at + T);
    } else {
        cost = b->stay[k][M].v[lane] - base + b->G[left * TM_TIERS + k].v[lane];
    }
    for (int d = 0; d < left && d < T; d++) {
        double c = b->stay[k][at + d].v[lane] - base + b->penalty[k][at + d].v[lane] +
                   b->L[d * TM_TIERS + k].v[lane];
        if (better(c, cost)) {
            cost = c;
            best = d;
        }
    }
    if (best >= 0) {
        return best;
    }
    return left >= T ? T : steady_until(b, lane, left, k);
}

static size_t trace(const struct block *b, int lane, struct tm_segment *s, size_t max)
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
        int until = entered_until(b, lane, t, to);
        s[n++] = (struct tm_segment){to, t, until};
        t = until;
        k = to;
    }
    return n;
}

static void prepare(struct block *b)
{
    const struct tier_model *m = b->m;
    for (int i = 0; i < m->n; i++) {
        int M = m->tier[i].rule->automatic ? 3 : m->tier[i].periods;
        b->steady[i] = M > 0 ? M : 1;
        for (int k = 0; k < m->n; k++) {
            if (m->move[i][k] != MOVE_NONE) {
                b->pair[b->n_pairs++] = (struct pair){i, k};
                b->target[k] = true;
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
            fill_lane(b, (int)i);
        }
        solve(b);
        for (size_t i = 0; i < used; i++) {
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
                tm_found *found, void *ctx, struct gt_error *err)
{
    struct block *b = calloc(1, sizeof *b);
    size_t cells = ((size_t)horizon + 1) * TM_TIERS;
    int rc = GT_ENOMEM;
    if (b) {
        b->m = m;
        b->horizon = horizon;
        b->E = calloc(cells, sizeof *b->E);
        b->L = calloc(cells, sizeof *b->L);
        b->G = calloc(cells, sizeof *b->G);
        prepare(b);
        if (b->E && b->L && b->G) {
            rc = run(b, g, n, found, ctx);
        }
        free(b->E);
        free(b->L);
        free(b->G);
        free(b);
    }
    return rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory") : rc;
}
