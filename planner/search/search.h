/* The search's own structures. First file to read: search.c (enumeration, bounds, ranking).
 *
 *   names.c     scenario names checked against the catalog, with the nearest ones
 *   machines.c  offers as machines; select.c  which of them pass the filters
 *   number.c    what machines have in common, in numbers
 *   work.c      rate, memory and work of n machines of one kind, remembered per kind
 *   tiers.c     what a storage tier can do (shared/docs/storage-throughput.md)
 *   charge.c    priced quantities: one price row each, and what they depend on
 *   place.c     where training data may lie: every placement of a region with its charges
 *   evaluate.c  one candidate: time, cost, risk
 *   risk.c      chance of the deadline: closed forms, bounds, trajectories
 *   mixed.c     spot with on demand as the safety net; fallback.c  with patience
 *   spread.c    where a spot machine may be started again
 *   build.c     a candidate as a plan with its exact bill
 *   notes.c, notes_spot.c, notes_model.c  what a person must know beside the figures
 *   commitments.c  what a term's commitment costs beside renting by the hour
 *   sensitivity.c  what the first plan hinges on
 *   pairs.c     offers with numbers of machines in the order of their bound
 *   pass.c      one pass over them: ranking, Pareto front; ledger.c  what was rejected
 *   search.c    the entry; relax.c  what would have to give when nothing is found */
#ifndef GPUTIER_SEARCH_H
#define GPUTIER_SEARCH_H
#include "gputier/arena.h"
#include "gputier/planner.h"
#include "gputier/spot.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest a fleet of this size is considered: machines of one plan. */
#define SEARCH_MAX_INSTANCES 512
/* Ten years: no longer plan is made, as no later deadline is taken. */
#define SEARCH_MAX_HOURS 87600.0
/* Deviations within which 95 % of a normal lie below. */
#define SEARCH_Z95 1.6448536269514722
/* Interruptions of one spot machine per hour when nobody knows better: product.md section 5. */
#define SEARCH_ASSUMED_LAMBDA 0.05

enum tier_class { TIER_OBJECT, TIER_FILE, TIER_BLOCK, TIER_LOCAL, TIER_UNKNOWN };
enum tier_class tier_class_of(const char *tier);
const char *tier_default_object(const char *vendor); /* NULL = none known */
const char *tier_default_block(const char *vendor);
/* Hours that a vendor's storage month has (storage-tiers.md section 1): 720 for EBS, else 730. */
double tier_month_hours(const char *tier);
/* Bytes billed for `bytes` in `files` alike files: the vendor's steps, minimum sizes and metadata
 * of each (storage_rule). What is billed at the rate of the product's hot tier is in *hot_bytes,
 * *hot its tier; files = 0: not known, bytes as they are. */
double tier_billed_bytes(const char *tier, double bytes, double files, double *hot_bytes,
                         const char **hot);
/* Bytes per second one machine can write and read back checkpoints at. */
double tier_checkpoint_bps(const char *tier);

/* What the quantity of a charge is multiplied by. */
enum basis {
    BASIS_PLAN,          /* once */
    BASIS_RUN_HOUR,      /* hours of the run */
    BASIS_NODE_RUN_HOUR, /* hours of the run x machines */
    BASIS_EPOCH,         /* epochs that are read from storage */
    BASIS_LAUNCH,        /* launches of a machine, the first and after interruptions */
    BASIS_WRITE,         /* checkpoints written */
    BASIS_COUNT
};
struct charge {
    enum component component;
    enum basis basis;
    bool transfer; /* row in the transfer table, else in the storage table */
    size_t row;
    double quantity; /* of the row's unit, for one of the basis */
    const char *text, *formula;
};
struct charges {
    struct charge *item;
    size_t n, cap;
    double usd[BASIS_COUNT]; /* for one of each basis */
    bool at_least;
    const char *missing; /* first price that nobody publishes, for the note */
};

enum place_mode { PLACE_NONE, PLACE_IN_PLACE, PLACE_COPIED, PLACE_LOCAL };
struct place {
    enum place_mode mode;
    const char *tier;      /* what the machines read from */
    const char *home_tier; /* where the set is kept */
    const char *source;    /* where it comes from: "aws/us-east-1 s3_standard", "" = same */
    const char *option;    /* "bursting", "elastic", "500 MiB/s", "" */
    enum tier_class class;
    double shared_bps, node_bps;   /* INFINITY = no limit of its own */
    double burst_bps, burst_bytes; /* faster until so many bytes were read; 0 = never */
    double local_bytes;            /* NVMe needed on each machine, 0 = none */
    int max_nodes;                 /* a volume that is not shared: 1; else SEARCH_MAX_INSTANCES */
    bool stage_far;                /* staged from another region or vendor */
    enum tier_class stage_class;
    struct charges charges;
};
/* All that a region's candidates share. */
struct region {
    const char *vendor, *region;
    uint32_t vendor_id, region_id;
    struct charges common;    /* checkpoints, logs, other data */
    bool checkpoint_unpriced; /* no price for keeping them: counts where machines are taken away */
    const char *checkpoint_tier;
    double checkpoint_bps;
    struct place *place;
    size_t n_places;
    double min_usd; /* no placement costs less (search's own double) */
    bool placed;    /* place and common are there */
};

struct machine {
    size_t row;
    const struct gpu_spec *spec; /* NULL = not in the table */
    double gpus;
    const char *vendor, *region, *type, *gpu;
    enum purchase purchase;
    double term_h; /* of a commitment, else 0 */
    double usd_h;  /* one machine, one hour, discount applied; commitments: per term / term */
    double upfront_usd, month_usd;
    double factor; /* discount */
    double vcpus, memory_gib, nvme_bytes, network_gbps;
    double lambda_per_h;                 /* of one machine, 0 = not interruptible */
    const struct catalog_hazard *hazard; /* what it was counted from, NULL = assumed or given */
    double band_lo_pct, band_hi_pct;     /* advisor, NAN = none */
    size_t region_index;
    uint32_t group, shape;      /* number.c */
    int pools;                  /* zones and types it may be started in again: spot.spread */
    double cap_usd;             /* maximum price an hour, NAN = none; set with max_price_factor */
    const struct machine *twin; /* the same machine on demand: read by twin_of */
};

/* What a pass reads of every machine, close together. */
struct brief {
    double usd_h;
    uint32_t shape, region, cell;
    uint8_t purchase;
    bool spot;   /* lambda_per_h > 0 */
    bool hourly; /* nothing is paid but usd_h */
};

/* Rate of n machines of one kind with nothing but the machine as the limit. */
struct kind {
    const struct gpu_spec *spec;
    const char *gpu;
    double gpus, vcpus, network_gbps;
    int n;
    bool ok;            /* a rate is known and it fits */
    const char *reason; /* why not */
    bool memory_reason;
    struct model_rate rate; /* samples_per_s of the gang */
    struct model_memory memory;
    bool has_memory;
    double work_h;                 /* all the work at that rate */
    double sigma;                  /* of ln(time), from the 90 % interval */
    double slow_spot, slow_demand; /* the run's 95 % quantile is at least so many times its work */
    double batch, checkpoint_bytes;
    bool network_assumed;
    const char *note;
    struct kind *next;
};

struct candidate {
    const struct machine *machine;
    const struct kind *kind;
    const struct place *place;
    int n;
    /* result */
    const char *reason; /* NULL = meets every constraint */
    enum {
        REJECT_NONE,
        REJECT_FIT,
        REJECT_DEADLINE,
        REJECT_BUDGET,
        REJECT_RISK,
        REJECT_LONG, /* nobody can plan for so long: SEARCH_MAX_HOURS */
        REJECT_CAP,  /* spot.max_price_factor is under the price of now */
        REJECT_KINDS
    } reject;
    double samples_per_s, work_h, epoch_s;
    double read_bps; /* what the placement gives, INFINITY = no limit */
    bool cached;     /* the data stay in memory after the first epoch */
    bool storage_bound;
    double epochs_read;
    struct ckpt_job job;
    bool checkpoints;
    double wait_h, makespan_h, billed_h, writes, interruptions;
    bool hopeless; /* too late even when nothing is interrupted */
    bool mixed;    /* spot first, on demand once the deadline asks for it */
    bool fallback; /* mixed by patience: wait_before_fallback */
    double spot_useful_h, spot_waste_h, demand_useful_h, demand_waste_h;
    double cost_usd, risk; /* risk: chance of at least one interruption */
    bool at_least;
    double p_deadline; /* NAN until asked */
    double p95_h;      /* NAN until asked: evaluate_p95 */
};

/* One figure of the catalog or the model changed, for the sensitivity of the answer. */
struct search_tweak {
    int64_t price_row; /* store id of the row whose price is multiplied; 0 = none */
    double price, spot, rate, hazard;
};

struct search {
    const struct scenario *s;
    const struct catalog *c;
    const struct plan_options *o;
    const struct search_tweak *tweak; /* NULL = none */
    struct arena *arena;              /* of the plan set: what plans point to */
    struct arena *keep;               /* of the rates, as they come; NULL = arena */
    bool prune, use_budget, use_deadline;
    bool terse;         /* reasons are not wanted: no exact chance for what is refused */
    bool cheapest_only; /* no Pareto front: what cannot be ranked is left out by its cost alone */
    double budget_usd;
    /* All that any filter may ask for (any_filter) or what passes; of them those are looked at that
     * search_selected tells. */
    bool any_filter, twins; /* twins: search_twins was there */
    struct machine *machine;
    size_t n_machines;
    struct brief *brief;          /* of each machine */
    const struct machine **shape; /* a machine of each */
    size_t n_shapes;
    size_t n_cells; /* a cell: one shape in one region, on spot or not */
    size_t n_groups;
    const struct machine **group; /* a machine of each */
    size_t *no_price;             /* rows nobody publishes a price of */
    size_t n_no_price;
    /* the selection: select.c */
    bool *region_ok, *shape_ok;
    bool net;                 /* on demand may be the safety net of spot */
    struct machine *unpriced; /* the first of no_price that pass */
    size_t n_unpriced;
    /* Of each cell: hours of the best placement by number of machines, as they come (pairs.c), for
     * this gpus_max; NULL = none yet. */
    double **least_h;
    int least_for;
    struct region *region;
    size_t n_regions, cap_regions;
    struct kind *kinds[1024];
    /* workload */
    const struct model_profile *model; /* NULL with GPU-hours */
    struct model_profile custom;
    double samples, epochs, bytes_per_sample;
    double data_bytes, data_files;
    double checkpoint_hint; /* bytes of one checkpoint, for the number of requests */
    const struct gpu_spec *hours_spec;
    double accept_z;    /* quantile of ln(time) used by the quick acceptance of a deadline */
    struct lucks *luck; /* of the runs: risk.c */
    double slow_z;      /* no 95 % quantile of the runs' rates lies below this deviation */
    double calibration;
    const struct gpu_spec *calibration_spec;
    const struct gpu_spec *bench_spec; /* a stored bench's GPU; no measured rate is given */
    double bench_factor;
    const char *warning[24];
    size_t n_warnings;
    bool no_memory;
    struct gt_error *err;
};

int search_names(struct search *q);
int search_filter_names(const struct search *q); /* of them those of the filters */
int search_number(struct search *q);
int search_machines(struct search *q);
int search_twins(struct search *q);
const struct gpu_spec *search_spec_of(const struct search *q, size_t row); /* NULL = none */
/* Everything of a machine but what its place among the others gives it. */
void search_fill(const struct search *q, size_t row, struct machine *m);
/* Could an offer pass any filter? */
bool search_row_counts(const struct search *q, size_t row);
/* Applies the filters of q->s to a list of machines. */
int search_select(struct search *q);
int search_number_unpriced(struct search *q);
/* May on demand be the safety net of spot? */
bool search_net(const struct scenario *s);
static inline bool search_selected(const struct search *q, size_t machine)
{
    const struct brief *b = &q->brief[machine];
    return q->shape_ok[b->shape] && q->region_ok[b->region] &&
           (q->s->purchase_mask >> b->purchase & 1u) != 0;
}
/* The same machine on demand, for spot with a deadline or patience; NULL = none. */
static inline const struct machine *twin_of(const struct search *q, const struct machine *m)
{
    return q->net ? m->twin : NULL;
}
int search_work(struct search *q);
/* Placements of the selected regions that have none yet; `keep` owns them. */
int search_places(struct search *keep, const bool *region_ok);
/* Does an offer pass the filters of this scenario? */
bool search_row_passes(const struct search *q, const struct scenario *s, size_t row);
/* Remembered; NULL = out of memory. */
const struct kind *search_kind(struct search *q, const struct machine *m, int n);
/* Rate of so many of a kind's GPUs with other software and nothing but GPUs as the limit. */
int search_rate_as(struct search *q, const struct kind *k, double gpus, const char *stack,
                   struct model_rate *out);
bool place_allows(const struct place *p, const struct machine *m, int n);
/* Bytes per second that the gang gets when it reads `bytes` in all. */
double place_bps(const struct search *q, const struct place *p, const struct machine *m, int n,
                 double bytes);
/* Seconds to bring the data to the machine's own disk. */
double place_stage_s(const struct search *q, const struct place *p, const struct machine *m, int n);
/* Everything but the deadline, which may take runs: evaluate_deadline, for what is not rejected. */
int evaluate(struct search *q, struct candidate *c);
int evaluate_deadline(struct search *q, struct candidate *c);
/* Times are told apart in steps of 0.01 h. */
static inline double search_time_steps(double hours)
{
    return floor(hours * 100);
}
/* The time that 95 % of the runs keep within: the Pareto front is of cost, this and exposure. From
 * enough_steps on it is not wanted and stays NAN; INFINITY: always. */
int evaluate_p95(struct search *q, struct candidate *c, double enough_steps);
/* No interruption makes it shorter than this. */
double least_p95(const struct candidate *c);
/* No placement makes (m, n) cheaper, its 95 % quantile of time shorter, or it less exposed. */
void lower_bound(const struct search *q, const struct machine *m, const struct kind *k, int n,
                 double *usd, double *p95_h, double *risk);
/* What a pair, or one placement of it, costs and takes at least before anything of interruptions is
 * looked at. */
struct least {
    double usd, time_h;
    double risk;     /* if any of it runs on spot */
    double twin_usd; /* the cost if none does; NAN where that cannot be */
    bool at_least;
};
void least_of_pair(const struct search *q, const struct machine *m, const struct kind *k, int n,
                   bool at_least, struct least *l);
/* Hours from the start of a machine until 95 % of the runs are done, if nothing is interrupted. */
double least_hours(const struct search *q, const struct candidate *c, bool spot);
void least_of_place(const struct search *q, const struct candidate *c, struct least *l);
/* Cost of machines for this many billed hours. */
double machine_usd(const struct search *q, const struct machine *m, int n, double billed_h,
                   double makespan_h);
/* Terms that are paid for: one, or as many as the declared horizon begins. */
double commitment_terms(const struct search *q, enum purchase p);
double charges_usd(const struct charges *c, const struct candidate *k);
double basis_count(enum basis b, const struct candidate *k);

/* Adds one priced quantity; a missing price sets at_least and says which. */
int charge_storage(struct search *q, struct charges *c, const struct region *r, const char *tier,
                   const char *component, double amount, double months, enum basis basis,
                   enum component comp, const char *text, const char *formula);
int charge_transfer(struct search *q, struct charges *c, const char *from_vendor,
                    const char *from_region, const char *to_vendor, const char *to_region,
                    double bytes, enum basis basis, const char *text);
bool storage_known(const struct search *q, uint32_t vendor, uint32_t region, const char *tier,
                   const char *component);
int charges_append(struct search *q, struct charges *to, const struct charges *from);

/* Chance of the deadline: exact on demand, else bounds and, where they do not decide, runs. */
bool deadline_meets(struct search *q, struct candidate *c);
/* What bounds alone tell: 1 it does, -1 it does not, 0 runs must decide. */
int deadline_bounds(struct search *q, struct candidate *c);
struct risk_result {
    double mean_h, p5_h, p50_h, p95_h, billed_p5_h, billed_p50_h, billed_p95_h;
    double p, lo, hi;
    double machine_p5_usd, machine_p50_usd, machine_p95_usd; /* mixed runs only */
    double confident_h; /* the finish that the asked confidence reaches */
};
/* Spot first with a safety net: fills everything of c as evaluate does, by trajectories at the
 * model's central rate; its chance of the deadline is known then. */
int evaluate_mixed(struct search *q, struct candidate *c);
/* Chance that the net's run at the central rate is interrupted: of its first spot machine. */
double mixed_risk(const struct ckpt_job *j, double deadline_h);
struct mixed_run {
    double t, spot_useful, spot_waste, demand_useful, demand_waste;
    int interruptions;
};
struct rng;
void mixed_once(const struct ckpt_job *j, double work, double deadline_h, struct rng *rng,
                struct mixed_run *out);
/* Does wait_before_fallback say anything of this machine? */
bool fallback_applies(const struct search *q, const struct machine *m);
/* evaluate, for a machine to which it applies; the interval is set. */
int evaluate_fallback(struct search *q, struct candidate *c);
void fallback_once(const struct ckpt_job *j, double work, double patience_h, struct rng *rng,
                   struct mixed_run *out);
/* Costs that both kinds of candidates share: placement, checkpoints, other data. */
double shared_usd(const struct search *q, const struct candidate *c);
int check_limits(struct search *q, struct candidate *c);
int search_luck(struct search *q);
int risk_runs(const struct search *q, const struct candidate *c, struct risk_result *out);

/* A copy that lives as long as the plan set: catalog and scenario may go before. NULL stays NULL;
 * out of memory sets q->no_memory. */
const char *search_own(struct search *q, const char *s);
int build_plan(struct search *q, const struct candidate *c, int rank, struct plan *out);
int build_bill(struct search *q, const struct candidate *c, struct plan *out);
/* Rows of one region stand together in a catalog: those of row m's. */
void search_region_rows(const struct search *q, size_t m, size_t *first, size_t *end);
/* Sets pools (spread.c). */
void spread_machine(const struct search *q, struct machine *m);
/* Hours that a spot machine is waited for. */
double spot_wait_h(const struct search *q, const struct machine *m);

/* The same machine on demand there, list price an hour, USD; INFINITY = none known (notes.c). */
double list_on_demand_usd(const struct search *q, size_t row);

/* --- block.c --- */
/* Hours of the shortest capacity block that a run fits into; INFINITY = none is so long. */
double block_hours(double run_h);
double block_wait_h(const struct search *q, const struct machine *m);      /* until it begins */
const char *block_note(const struct search *q, const struct candidate *c); /* NULL = no memory */
const char *const *spread_zones(struct search *q, const struct machine *m, size_t *n);
const char *spread_note(struct search *q, const struct machine *m);
/* Sets cap_usd from spot.max_price_factor. */
void spot_set_cap(const struct search *q, struct machine *m);
int build_notes(struct search *q, const struct candidate *c, struct plan *out);

/* A machine kind bought one way: why it stands in no plan, or that it does. */
struct rejected {
    const struct machine *machine; /* NULL = none that could be tried */
    const char *reason;            /* NULL = only dearer than what is shown */
    int kind;
    double usd;
    bool bound;    /* usd is a lower bound, not an expectation */
    bool unpriced; /* a price of it is not known: usd is "at least" */
    bool accepted, shown;
    bool looked;                        /* a pair of it was tried */
    const struct machine *first, *over; /* the first pair by bound; the first over the budget */
    double first_usd, over_usd;
    int first_n;
    bool first_at_least;
};
struct ledger {
    struct rejected *slot; /* by group */
    size_t n;
};
/* whole: of the plans shown every price is known. */
int ledger_write(struct search *q, const struct ledger *l, bool whole, struct plan_set *out);
/* Fills err with the constraint that binds and the nearest relaxation; returns GT_EINFEASIBLE. */
int search_relax(struct search *q);

/* The outcome of one pass over the candidates. */
struct outcome {
    struct candidate *top; /* best of each (vendor, type, purchase), cheapest first */
    size_t n_top, want;
    struct candidate *front;
    struct steps *front_steps; /* of each: what dominance is asked in */
    size_t n_front, cap_front;
    struct ledger ledger;
    size_t candidates, evaluated, pruned;
    size_t machines;                  /* that pass the filters */
    bool memory_binds;                /* the job does not fit on some of them */
    size_t rejected_by[REJECT_KINDS]; /* by kind of reason */
    double least_long_h;              /* of those that are too long; 0 = none */
    double least_factor;              /* of those under their cap; 0 = none */
};
/* The next number of machines considered after n. */
int search_next_count(int n, int hi);
int search_pass(struct search *q, size_t want, struct outcome *o);
/* With q->prune false every candidate is evaluated: what tests compare with. */
int search_run(struct search *q, struct plan_set *out);
int search_open(struct search *q);
/* search_open in parts: the machines apart, which depend on the filters alone. */
int search_open_budget(struct search *q);
int search_open_work(struct search *q); /* budget included */
/* Filters and placements, with luck for the runs before. */
int search_open_places(struct search *q);
/* Runs an opened search; takes its arena. */
int search_finish(struct search *q, struct plan_kept *kept, struct plan_set **out);
/* plan_search with a figure changed. */
int search_with(const struct scenario *s, const struct catalog *c, const struct plan_options *o,
                const struct search_tweak *tweak, struct plan_set **out, struct gt_error *err);
/* Fills set->commitment (commitments.c). */
int search_commitments(struct search *q, struct plan_set *set);
/* Fills set->hinge (sensitivity.c). */
int search_sensitivity(const struct scenario *s, const struct catalog *c,
                       const struct plan_options *o, struct plan_set *set, struct gt_error *err);

#endif
