/* Inside planner/storage: one product's prices and rules in one place, ready for the path search.
 * tier_model.c builds it from the catalog, tier_cost.c bills with it, tier_dp.c searches. */
#ifndef GPUTIER_TIER_MODEL_H
#define GPUTIER_TIER_MODEL_H
#include "gputier/billing.h"
#include "gputier/tier.h"
#include <math.h>

#define TM_TIERS    8
#define TM_BRACKETS 4
#define TM_PHASES   14 /* periods until a tier's monthly cost is steady and leaving is free */
#define TM_ROWS     96
#define COPY_DAYS   7 /* a restored copy is kept this long (R-S3-18; as the worked cases do) */

/* rate per qty units; bytes > 0: per that many bytes (2^30 or 10^9) instead of per request. */
struct tm_rate {
    bool known;
    money rate;
    uint64_t qty;
    uint64_t bytes;
};
struct tm_tier {
    const struct storage_rule *rule;
    bool usable; /* may be a target */
    struct tm_rate storage, put, get, transition, retrieval, restore, monitor;
    struct tm_rate step[STORAGE_STEPS]; /* of an automatic tier's rule */
    struct tm_rate iops; /* one of them for a month, where a volume is bought with some */
    /* Disks sold by size: prices and sizes in the catalog; billed[] is then money, storage 1. */
    const struct catalog_storage *size;
    size_t first_size, n_sizes;
    bool reads_known;
    int periods; /* minimum duration in periods of 30 days, as far as it counts from the entry */
};
enum tm_move { MOVE_NONE, MOVE_LIFECYCLE, MOVE_COPY };
struct tier_model {
    enum storage_product product;
    const struct storage_terms *terms;
    bool created;           /* some minimum counts from creation: a copy up starts it anew */
    int min_size_month;     /* first month with later_min_bytes; INT_MAX = never */
    const double *forecast; /* of reads, by month; NULL = 1 */
    int horizon;
    int n, hot;
    const struct storage_step *step; /* of the product's automatic tier */
    int n_steps;                     /* 0 = there is none */
    struct tm_tier tier[TM_TIERS];
    enum tm_move move[TM_TIERS][TM_TIERS];
    /* The hot tier's volume brackets: one account, all groups together (R-S3-03). */
    struct {
        gt_u128 upto_bytes; /* 0 = no end */
        money rate;
    } bracket[TM_BRACKETS];
    int n_brackets;
    bool delete_at_end; /* what is not served of a minimum duration is paid at the horizon */
    const char *currency;
    size_t row[TM_ROWS];
    size_t n_rows;
};
/* Quantities of one group; whole numbers, so that search and bill see the same. */
struct tm_group {
    gt_u128 objects, bytes, billed[TM_TIERS], reads, read_bytes; /* reads: in the first month */
    gt_u128 later[TM_TIERS];                                     /* billed from min_size_month on */
    /* In the automatic tier: bytes in its first place and in each step, by the steps open since the
     * entry (tm_phase), with the reads of the first month; monitored objects. */
    gt_u128 auto_bytes[STORAGE_STEPS + 1][STORAGE_STEPS + 1], monitored;
    double rate;         /* reads an object and month */
    int start, served;   /* tier index; whole periods already served there: the objects' age */
    bool must_leave;     /* the start tier waits longer than allowed */
    int enter[TM_TIERS]; /* first period at which the tier may be entered; INT_MAX = never */
};
int model_build(struct tier_model *m, enum storage_product p, const struct catalog *c,
                const struct tier_options *o, struct arena *a, const char **notes, size_t *n_notes,
                struct gt_error *err);
void model_group(const struct tier_model *m, const struct tier_group *g,
                 const struct tier_options *o, int start, struct tm_group *out);
/* Bytes in the automatic tier's first place and its steps in month t, the first `phase` of them
 * open. */
void model_steps(const struct tier_model *m, const struct tm_group *g, int phase, int t,
                 gt_u128 bytes[STORAGE_STEPS + 1]);
/* How many steps are open so many months after the entry; the month from which on so many are. */
int tm_phase(const struct tier_model *m, int since);
int tm_phase_from(const struct tier_model *m, int phase);
/* rate x quantity x months; exact, rounded once. GT_ERANGE on overflow. */
int tm_amount(const struct tm_rate *r, gt_u128 quantity, gt_u128 months, money *out);

/* Some month differs from the others: the forecast, or a rule that begins within the horizon. */
bool tm_varies(const struct tier_model *m);
/* Reads of month t. */
gt_u128 tm_reads(const struct tier_model *m, gt_u128 first_month, int t);
/* Money of `months` months from t on in tier k, `since` whole months after entering it; all of them
 * must be alike (tm_alike). */
int cost_stay(const struct tier_model *m, const struct tm_group *g, int k, int since, int t,
              gt_u128 months, money *out);
/* Months from t on, up to n, that cost the same in tier k. */
int tm_alike(const struct tier_model *m, int k, int since, int t, int n);
/* Every object read once from tier `from`, restored where it must be. */
int cost_read(const struct tier_model *m, const struct tm_group *g, int from, money *out);
int cost_move(const struct tier_model *m, const struct tm_group *g, int from, int to, money *out);
/* Rest of tier k's minimum at month t, `served` periods after entering it; `age` months after the
 * objects were written. */
int cost_penalty(const struct tier_model *m, const struct tm_group *g, int k, int served, int age,
                 int t, money *out);
/* The same for a move: one by lifecycle may be free of it (R-GCS-05). */
int cost_leave(const struct tier_model *m, const struct tm_group *g, int from, int to, int served,
               int age, int t, money *out);
/* What a month with so many bytes billed in the hot tier costs the account less than at the first
 * bracket's price; negative where it pays for more than it stores (R-S3-03, R-WAS-01). */
int tm_discount(const struct tier_model *m, gt_u128 hot_bytes, money *out);
struct tm_segment {
    int tier, from, to; /* months [from, to) */
};
/* Bill of a path; the first segment may be the start tier (its served time counts on). */
int cost_path(const struct tier_model *m, const struct tm_group *g, const struct tm_segment *s,
              size_t n, money *out);

/* What coupling constraints add to the cost of a path (couple.h). */
struct tm_prices {
    const double
        *money; /* factor of all money of month t, t = 0 .. horizon; the last is of the end */
    const double
        *byte[TM_TIERS]; /* on each byte that lies in the tier in month t; NULL = nothing */
    const struct tm_group *other; /* the same groups with other reads */
    double other_money;           /* factor of what these pay */
};
/* Cheapest paths of n groups (R-OPT-01, terminal keep), `prices` on top of the bill if not NULL.
 * Calls `found` once per group in order. */
typedef int tm_found(void *ctx, size_t group, const struct tm_segment *s, size_t n);
int tier_search(const struct tier_model *m, const struct tm_group *g, size_t n, int horizon,
                const struct tm_prices *prices, tm_found *found, void *ctx, struct gt_error *err);

/* First month from from_month on at whose end the path has cost no more than staying, -1 = never.
 */
int tier_break_even(const struct tier_model *m, const struct tm_group *g, const struct tier_path *p,
                    int from_month);
/* What to do before tiering: plan->savings. */
int tier_savings(const struct tier_model *m, const struct tm_group *q, const struct tier_options *o,
                 struct tier_plan *plan, struct gt_error *err);
/* What to do first, for people: largest savings first, or that nothing pays. */
int tier_first_steps(const struct tier_model *m, const struct tm_group *g, struct tier_plan *plan,
                     struct gt_error *err);
/* Bars a group from the tiers that wait longer, or are read slower, than its needs allow. */
void limits_need(const struct tier_model *m, const struct tier_options *o, const char *name,
                 struct tm_group *g);
/* The group may stay, or there is a tier that it may be moved to. */
bool limits_way_out(const struct tier_model *m, const struct tm_group *g);
/* Plans within tier_options.limits (tier_limits.c). The hot tier's price is that of one bracket;
 * `off`: by how much that makes every month's bill too low; more: the groups with the reads of
 * limits.reads, NULL = none. Calls `found` as tier_search does. GT_EINFEASIBLE names the
 * constraint. */
struct limits_bound {
    double cost;                /* lower bound, 10^-12 */
    bool proven;                /* the paths found are the best */
    double worth[TM_TIERS + 2]; /* money per unit more in every row: month, reads, each capacity */
    /* The cheapest plan's cost with limits.reads; one that is there already (of dearer prices)
     * stays. */
    double reads_best;
};
int limits_search(const struct tier_model *m, const struct tm_group *g, const struct tm_group *more,
                  size_t n, const struct tier_options *o, money off, tm_found *found, void *ctx,
                  struct limits_bound *out, struct gt_error *err);
/* Fills plan->limit from the plan's paths; GT_EINFEASIBLE if one is not kept. discount: taken off
 * each month's bill. */
int limits_use(const struct tier_model *m, const struct tm_group *g, const struct tm_group *more,
               const struct tier_options *o, const money *discount, const struct limits_bound *b,
               struct tier_plan *plan, struct gt_error *err);
/* The plan month by month; `account`: the hot tier's bill depends on all groups together. */
int tier_series_make(const struct tier_model *m, const struct tm_group *g,
                     const struct tier_plan *p, bool account, struct arena *a,
                     struct tier_series *out);
/* Best plain lifecycle policy: at most max_rules rules by prefix, age and size. */
int tier_policy(const struct tier_model *m, const struct tier_group *group,
                const struct tm_group *g, size_t n, const struct tier_options *o,
                struct tier_plan *plan, struct gt_error *err);
/* What the rules do with one group: its path, POLICY_SEGMENTS at most. */
#define POLICY_SEGMENTS 4
size_t policy_path(const struct tier_model *m, const struct tier_rule *rule, size_t n_rules,
                   const struct tier_group *group, const struct tm_group *g, int horizon,
                   struct tm_segment *out);

#endif
