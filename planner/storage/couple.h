/* Inside planner/storage: constraints that bind groups together (R-OPT-03), solved over the path
 * search of tier_dp.c.
 *
 * A path of a group uses an amount of each row: money of a month, bytes in a tier in a month, money
 * if reads are so many times the forecast; rows are sums over groups and have a limit. With a price
 * l >= 0 on each row the groups fall apart, and for any prices
 *   sum over groups of (least cost + l x amounts of one path) - l x limits
 * is a lower bound of every plan that keeps the limits (R-OPT-04 b). couple_dual.c looks for the
 * prices with the highest bound, couple_primal.c makes a plan from the paths met on the way, and
 * couple_exact.c lists every path that a better plan could contain (cost at these prices above the
 * group's least by no more than the gap) and searches their combinations: gap 0, or it was too
 * much work and the gap is told. couple.c drives them and explains what cannot be kept. */
#ifndef GPUTIER_COUPLE_H
#define GPUTIER_COUPLE_H
#include "tier_model.h"

#define COUPLE_BLOCKS (TM_TIERS + 2)

enum couple_kind { COUPLE_MONEY, COUPLE_BYTES, COUPLE_OTHER };
struct couple_block { /* one constraint: a row a month, or one row */
    enum couple_kind kind;
    int tier;     /* of COUPLE_BYTES */
    int months;   /* 1 for COUPLE_OTHER */
    double limit; /* bytes, or money in 10^-12 */
    int row;      /* its first row */
};
struct couple_run { /* `amount` of each of a block's rows [from, to) */
    int block, from, to;
    double amount;
};
struct couple_path {
    struct couple_path *next;
    double cost; /* 10^-12 */
    const struct tm_segment *segment;
    const struct couple_run *run;
    int n_segments, n_runs;
};
struct couple {
    const struct tier_model *m;
    const struct tm_group *q, *other; /* other: with the reads of COUPLE_OTHER; NULL = none */
    size_t n;
    int horizon, n_blocks, n_rows;
    struct couple_block block[COUPLE_BLOCKS];
    /* Below: set by couple_solve. */
    struct arena *arena;
    struct couple_path **pool; /* [n]: paths met so far */
    struct couple_path **pick; /* [n]: the best plan so far; all NULL = none */
    double *limit;             /* [n_rows] */
    double *price;             /* [n_rows]: of the best bound so far, money per unit of a row */
    double cost, bound;        /* of the plan and of the bound, 10^-12 */
    double *diff, *used;       /* [n_rows + n_blocks], [n_rows]: scratch */
    struct couple_path **trial;
    struct couple_run *runs; /* scratch: those of one path */
};
enum couple_end { COUPLE_EXACT, COUPLE_GAP, COUPLE_NONE };
struct couple_answer {
    enum couple_end end;
    /* COUPLE_NONE: the constraint to relax, no plan below `least`, one was found at `enough`
     * (either may be its limit where nothing better is known; enough = INFINITY: none found). */
    int block;
    double least, enough;
    bool proven; /* COUPLE_NONE: there is no plan, not only none found */
};
/* Fills c->pick, cost, bound, price. The arena holds the paths. */
int couple_solve(struct couple *c, struct arena *arena, struct couple_answer *out,
                 struct gt_error *err);
void couple_release(struct couple *c);

/* couple_path.c */
/* A path's bill in lines of months that are alike, [from, to): each costs `month`, the first one
 * `once` more (a move), the last one `end` more (the rest of a minimum when data are deleted). */
typedef void couple_line(void *ctx, int from, int to, money month, money once, money end);
int couple_months(const struct tier_model *m, const struct tm_group *g, const struct tm_segment *s,
                  size_t n, couple_line *line, void *ctx);
int couple_path_make(struct couple *c, size_t group, const struct tm_segment *s, size_t n,
                     struct couple_path **out);
/* Keeps a path in the pool of its group unless it is there; *out = the one that is. */
int couple_pool_add(struct couple *c, size_t group, const struct tm_segment *s, size_t n,
                    struct couple_path **out);
/* Amounts of a plan, row by row; sign -1 takes back. */
void couple_use(const struct couple *c, const struct couple_path *p, double sign, double *used);
void couple_usage(const struct couple *c, struct couple_path *const *pick, double *used);
/* Price of a path's amounts; sum[row + block]: prices summed up before each row of its block. */
double couple_priced(const struct couple *c, const struct couple_path *p, const double *sum);
void couple_sums(const struct couple *c, const double *price, double *sum);
bool couple_keeps(const struct couple *c, const double *used);

/* couple_dual.c: raises the bound by path searches; `elastic` >= 0 looks for the least excess of
 * that block (-2: of all blocks together) instead of the least cost. The value is c->bound (scaled:
 * excess as a share of the limit) and c->price. */
#define COUPLE_COST -1
#define COUPLE_ALL  -2
int couple_dual(struct couple *c, int elastic, int rounds, struct gt_error *err);

/* couple_primal.c: a plan out of the pool at the prices in hand; true if a better one was found. */
bool couple_primal(struct couple *c, const double *price);

/* couple_exact.c: true when the plan in hand is proved best (or that there is none). */
int couple_exact(struct couple *c, bool *proved, struct gt_error *err);

#endif
