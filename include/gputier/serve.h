/* Serving: what a fleet that follows the demand costs, what it misses, and how far it is from the
 * best that hindsight could do. Pure. The scaling rule is autoscale_run (capacity.h; rules:
 * shared/docs/spot-policies.md section 6, background: spot-model.md sections 8 and 9). */
#ifndef GPUTIER_SERVE_H
#define GPUTIER_SERVE_H
#include "gputier/capacity.h"
#include "gputier/catalog.h"
#include "gputier/scenario.h"
#include <signal.h>
#include <stdbool.h>

/* Requests/s in each step of a built-in shape. sine: base to peak and back once a period, from the
 * trough. promotion: base, and once a period a peak that begins at half the period, climbs for 1/48
 * of it, stays for 1/12 and falls for 1/24. caller frees *load. */
int serve_shape(const struct scenario *s, double **load, size_t *steps,
                struct gt_error *err) GT_CHECK;
/* A CSV trace with the header t_s,requests_per_s, as the mean rate of each step of step_s; a row
 * holds until the next one, the last as long as the one before it. caller frees *load. */
int serve_demand(const char *text, size_t len, const char *file, double step_s, double **load,
                 size_t *steps, struct gt_error *err) GT_CHECK;
/* The scenario's policy in steps: durations are rounded up, a window is at least the present step;
 * a reversal within the longest of cooldown and window counts as a flap. Starts with the nodes
 * that the first step wants. */
void serve_policy(const struct scenario *s, const double *load, size_t steps,
                  struct autoscale *out);

/* Node-steps of the cheapest fleet that knows the future and misses nothing that `max` nodes can
 * serve at full utilisation: each node is kept over a gap or warmed up anew, whichever is less, so
 * no policy that misses nothing pays less. */
int serve_clairvoyant(const struct autoscale *a, int64_t *node_steps,
                      struct gt_error *err) GT_CHECK;

/* The policy of least node-steps whose missed share stays within max_miss, over a grid of target
 * (0.4 to 0.9), window and cooldowns, on the demand as given and again with seeded white noise of
 * +-10 % on every step; among those within 1 % of it the one with the fewest flaps under noise,
 * then changes. When none is within, the one that misses least (met = false). */
struct serve_policy_found {
    struct autoscale policy; /* its load is the caller's */
    struct autoscale_result run, noisy;
    bool met;
};
int serve_recommend(const struct autoscale *a, double step_s, double max_miss,
                    struct serve_policy_found *out, const volatile sig_atomic_t *cancel,
                    struct gt_error *err) GT_CHECK;

/* One machine that may be a node, with its bill over the whole demand. */
struct serve_machine {
    const char *vendor, *region, *zone, *instance_type, *gpu;
    double gpu_count;
    const char *price_currency, *source_id, *sku;
    money price_per_hour; /* one node, discount applied, in price_currency */
    int64_t as_of, row_id;
    enum origin origin;
    money cost, fixed_cost, clairvoyant_cost, recommended_cost; /* in the answer's currency */
    double usd_per_hour;                                        /* the order */
    /* Best commitment for the base of the same machine, when one is sold; nodes 0 = none pays. */
    struct serve_commitment {
        bool offered;
        enum purchase purchase;
        enum payment payment;
        int64_t nodes;
        double usd_per_hour; /* one node, up-front payment spread over the term */
        double usd;          /* committed base and the rest on demand, over the demand's length */
        money cost;          /* the same in the answer's currency */
    } commitment;
};
struct serve_answer {
    struct arena *arena;
    struct autoscale policy; /* as asked; load borrowed */
    struct autoscale_result run;
    struct serve_policy_found best;
    const char *currency;
    double step_s, max_miss, mean_over_peak, peak_over_trough, offered;
    int64_t clairvoyant_steps;
    const struct serve_machine *machine; /* cheapest first, at most `top` */
    size_t n, candidates;
    const char *const *note;
    size_t n_notes;
};
struct serve_options {
    size_t top;
    double max_miss;      /* share of the requests, 0..1 */
    const char *currency; /* of the bills, "" = USD */
    int64_t now;
    const volatile sig_atomic_t *cancel; /* may be NULL */
};
/* load is borrowed by the answer. GT_EINFEASIBLE when no machine with a price passes the
 * constraints (*out NULL). serve_free in every other case. */
int serve_search(const struct scenario *s, const struct catalog *c, const double *load,
                 size_t steps, const struct serve_options *o, struct serve_answer **out,
                 struct gt_error *err) GT_CHECK;
void serve_free(struct serve_answer *a);

#endif
