/* Plan: one complete answer, with its exact bill, its time, its risk and where each number comes
 * from (product.md sections 6 and 10). A plan set lives in one arena. */
#ifndef GPUTIER_PLAN_H
#define GPUTIER_PLAN_H
#include "gputier/catalog.h"
#include "gputier/model.h"
#include "gputier/scenario.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every component is listed even when zero; each billed second and byte stands in exactly one. */
enum component {
    COMP_COMPUTE_ON_DEMAND,
    COMP_COMPUTE_SPOT,
    COMP_INTERRUPTION_WASTE,
    COMP_COMMITMENT,
    COMP_STORAGE,
    COMP_REQUESTS,
    COMP_RETRIEVAL,
    COMP_TRANSITIONS,
    COMP_DATA_TRANSFER,
    COMP_OTHER,
    COMP_COUNT
};
const char *component_name(enum component c);

/* One line: amount = rate x quantity, rounded once. */
struct bill_line {
    enum component component;
    const char *text; /* "8 x p4d.24xlarge spot, 12.4 h" */
    money rate;       /* native currency per unit */
    const char *currency, *unit;
    money quantity;      /* decimal, 12 places */
    money amount;        /* plan currency */
    const char *formula; /* how the quantity comes about, for explain */
    /* the price row; source_id "assumption" when none */
    const char *source_id, *sku;
    int64_t as_of, fetched_at;
    enum origin origin;
    int64_t row_id; /* store id, 0 = none */
};
struct plan_placement {
    const char *data_set, *tier;
    int from_month, to_month;
};
/* The same machines with their training data elsewhere. */
struct plan_data_choice {
    const char *kept, *read; /* tier that keeps the set; tier that the machines read */
    const char *how;         /* "in_place"; "copied": to a store or volume; "staged": to own NVMe */
    const char *option, *source;
    double read_bps;               /* of all machines together; INFINITY = no limit */
    double stage_s;                /* filling, at each launch */
    double first_epoch_s, epoch_s; /* the others may come from memory */
    enum bound first_bound, bound;
    double makespan_s;
    money total; /* expected, plan currency; only without reason */
    bool at_least, chosen;
    const char *reason; /* why it cannot be; "" = it can */
};
/* Where a training set waits after the run until its time is over; saving: against staying. */
struct plan_wait {
    const char *data_set;
    const struct plan_placement *step;
    size_t n_steps;
    money cost, stay, saving;
    const char *currency;
    double wait_s; /* longest wait for the first byte on the way */
    bool at_least;
};

struct plan {
    const char *id; /* stable: hash of what the plan fixes */
    int rank;
    const char *vendor, *region, *instance_type, *gpu;
    const char *const *zones;
    size_t n_zones;
    int instances;
    double gpu_count;       /* all instances together */
    enum purchase purchase; /* of the machines */
    const char *policy;     /* "on_demand", "spot_only", … */
    double on_demand_share, spot_share;
    double checkpoint_interval_s;
    const char *checkpoint_tier;
    const struct plan_placement *placement;
    size_t n_placement;
    const struct plan_data_choice *choice; /* ranked plans only */
    size_t n_choices;
    const struct plan_wait *wait;
    size_t n_waits;
    /* time */
    double epoch_s;
    struct model_rate rate;
    double block_wait_s; /* of the makespan: until a capacity block begins; else 0 */
    double makespan_mean_s, makespan_p5_s, makespan_p50_s, makespan_p95_s;
    double deadline_probability, deadline_lo, deadline_hi; /* NAN without a deadline */
    double interruption_per_h;
    const char *interruption_basis;
    double interruptions;
    struct model_memory memory;
    /* cost */
    const char *currency;
    money total, component[COMP_COUNT];
    bool at_least; /* rests on a price nobody publishes */
    money p5, p50, p95;
    money total_per_epoch;
    const struct bill_line *line;
    size_t n_lines;
    const char *const *note;
    size_t n_notes;
    bool on_front; /* Pareto: cost x p95 of time x risk */
};
struct plan_rejected {
    const char *vendor, *region, *instance_type, *purchase, *reason;
};

/* One input of the answer: between lo and hi (in its unit; NAN = not found within a factor of 10)
 * the first plan stays the first; below and above it the named one is. */
struct plan_hinge {
    const char *input, *unit; /* "factor": value is 1, the figure as it stands */
    double value, lo, hi;
    bool lo_found, hi_found;
    const char *below, *above; /* NULL with *_found: no plan meets the constraints there */
};

/* A commitment sold for a machine that passes the filters, beside renting the same machine by the
 * hour. Amounts in the currency of the set, for all `instances` together; -1 = not sold. */
struct plan_commitment {
    const char *vendor, *region, *instance_type, *gpu, *payment; /* payment "" = one way only */
    enum purchase purchase;
    int instances;
    double gpu_count, horizon_h;
    int term_h, terms;                  /* terms that the horizon begins */
    money upfront, term, total;         /* of one term; all of one term; all terms */
    money on_demand_h, spot_h;          /* an hour; spot with what interruptions waste */
    double break_even, break_even_spot; /* share of the hours from which it pays; NAN */
    double share[2];                    /* as declared, low and high */
    money on_demand[2], spot[2];        /* over the horizon at these shares */
    double pays_after_h[2];             /* NAN = not within its term */
    money lost[3]; /* need ends after 1/4, 1/2, 3/4 of a term: more than on demand at the mean share
                    */
    /* use.hourly: how many to commit to, the rest by the hour; mix_nodes -1 = not asked */
    int mix_nodes;
    double mix_on_demand_h, mix_spot_h; /* machine-hours over the horizon */
    money mix;
};

struct plan_kept;
struct plan_set {
    struct arena *arena;
    struct plan_kept *kept; /* what a plan_memory also points to, counted; NULL = nothing */
    const struct plan *plan;
    size_t n; /* ranked, at most the asked number */
    const struct plan *front;
    size_t n_front; /* whole Pareto front, by cost */
    const struct plan_rejected *rejected;
    size_t n_rejected;
    size_t candidates, evaluated, pruned;
    money lower_bound; /* proved: no candidate whose prices are all known costs less */
    const char *currency;
    int64_t now, prices_as_of;
    uint64_t seed;
    const char *const *warning;
    size_t n_warnings; /* "bundled prices, as of …", … */
    const struct plan_hinge *hinge;
    size_t n_hinges;                          /* 0 when it was not asked for */
    const struct plan_commitment *commitment; /* cheapest per GPU first, the best of each kind */
    size_t n_commitments, commitments_found;
};

/* The digits that people see (product.md section 4), the same on screen, in Markdown and HTML:
 * components rounded by largest remainder so that they add up to the shown total, the lines of
 * each component so that they add up to it. `line` has p->n_lines places; NULL = not wanted. */
int plan_shown(const struct plan *p, money component[COMP_COUNT], money *line) GT_CHECK;

#endif
