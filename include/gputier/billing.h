/* Storage billing, one small exact calculation per family of shared/oracles/storage-examples.md
 * (rules R-… of shared/docs/storage-tiers.md). Inputs carry their own unit prices; nothing here
 * knows a catalog. The tiering planner and `gputier verify` share these rules.
 *
 * GB = 2^30 bytes unless a field says otherwise. Optional inputs are zero when absent. */
#ifndef GPUTIER_BILLING_H
#define GPUTIER_BILLING_H
#include "gputier/error.h"
#include "gputier/rational.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BILL_ITEMS 32
struct bill {
    struct bill_item {
        char name[56];
        struct rat value;
        bool quantity; /* shown, not money: stays out of the total */
    } item[BILL_ITEMS];
    size_t n;
    bool full; /* more than BILL_ITEMS components were added */
};
void bill_init(struct bill *b);
void bill_add(struct bill *b, const char *name, struct rat value); /* same name: adds up */
/* prefix + suffix, for "storage_<class>". */
void bill_add2(struct bill *b, const char *prefix, const char *suffix, struct rat value);
void bill_quantity(struct bill *b, const char *name, struct rat value);
struct rat bill_total(const struct bill *b);
int bill_check(const struct bill *b, struct gt_error *err) GT_CHECK; /* GT_ERANGE on overflow */

struct rat_pair {
    struct rat a, b;
};
/* Cumulative upper bounds with their price; `open` has no upper bound. */
struct bracket {
    struct rat upto, price;
    bool open;
};
struct bracket_list {
    const struct bracket *at;
    size_t n;
};
struct rat bracket_cost(struct bracket_list l, struct rat quantity);
struct rat rat_gib(struct rat bytes); /* / 2^30 */

/* ---- object-storage, small-objects, early-delete -------------------------------------------- */
struct tier_price {
    struct rat storage, put_1000, get_1000, retrieval_gb, upload_gb, transition_1000;
    struct rat min_bytes, overhead_tier, overhead_hot, min_days;
    struct rat monitor_1000, monitor_min_bytes;
    /* path problems only */
    struct rat latency_s, throughput, restore_1000, copy_days, min_age_periods;
};
struct object_bill {
    struct tier_price tier;
    struct rat objects, size, hot_price, months, days, days_in_month, reads, retrieved_gb,
        uploaded_gb, puts_per_object;
    const struct rat_pair *request; /* count, price per 1,000 */
    size_t n_requests;
    bool put, transition_in, delete_at_end;
};
void bill_objects(const struct object_bill *in, struct bill *out);

/* ---- volume-tier, versioning, retrieval ------------------------------------------------------ */
struct volume_bill {
    const struct rat_pair *usage; /* bytes, hours */
    size_t n_usage;
    struct rat hours_in_month;
    struct bracket_list brackets;
};
void bill_volume(const struct volume_bill *in, struct bill *out);
struct retrieval_bill {
    struct rat objects, gb, request_1000, per_gb, hot_price, copy_days, days_in_month, get_1000,
        units, unit_price, egress_gb;
    struct bracket_list egress;
};
void bill_retrieval(const struct retrieval_bill *in, struct bill *out);

/* ---- auto-tiering ---------------------------------------------------------------------------- */
struct auto_step {
    int idle_days;
    const char *name;
    struct rat price, reheat_1000, overhead_tier, overhead_hot;
};
struct auto_bill {
    const struct auto_step *step; /* by idle_days */
    size_t n_steps;
    const int *access_day; /* any order */
    size_t n_access;
    int days;
    struct rat objects, size, days_in_month, get_1000, monitor_1000, transition_1000, min_bytes,
        hot_price;
    bool transition_in;
};
void bill_auto(const struct auto_bill *in, struct bill *out);

/* ---- block, snapshot-archive, managed-disk --------------------------------------------------- */
struct block_bill {
    struct rat gib, per_gb, iops, iops_included, throughput, throughput_included, throughput_price,
        seconds, count, snapshot_per_gb, days_in_month;
    struct bracket_list iops_brackets;
    const struct rat_pair *snapshot; /* GB, days */
    size_t n_snapshots;
};
void bill_block(const struct block_bill *in, struct bill *out);
struct snapshot_archive_bill {
    struct rat gb, days, days_in_month, per_gb, min_days, restored_gb, restore_per_gb;
    bool removed;
};
void bill_snapshot_archive(const struct snapshot_archive_bill *in, struct bill *out);
struct managed_disk_bill {
    const struct rat_pair *size; /* GiB, price per month */
    size_t n_sizes;
    struct rat provisioned_gib, hours, hours_in_month, count;
};
int bill_managed_disk(const struct managed_disk_bill *in, struct bill *out,
                      struct gt_error *err) GT_CHECK;

/* ---- file systems ---------------------------------------------------------------------------- */
struct file_part {
    const char *class_name;
    struct rat files, size, months, per_gb, min_bytes;
};
struct file_flow {
    const char *name;
    struct rat gb, price;
};
struct file_bill {
    const struct file_part *part;
    size_t n_parts;
    const struct file_flow *flow;
    size_t n_flows;
    struct rat standard_per_gb, metadata_bytes;
    bool provisioned;
    struct rat mibps, standard_gib, baseline_mibps_per_tib, per_mibps_month, provisioned_months;
};
void bill_file(const struct file_bill *in, struct bill *out);
/* EFS metered size of a file: up to the next 4 KiB, at least one (R-EFS-02). */
struct rat file_metered(struct rat size);

/* ---- vendors billed step by step --------------------------------------------------------------
 */
struct azure_tier {
    const char *name;
    struct rat write_10000, read_10000, read_high_10000, other_10000, retrieval_gb,
        retrieval_high_gb, min_days, min_bytes;
    struct bracket_list brackets;
};
enum azure_op { AZ_PUT, AZ_STORE, AZ_READ, AZ_TIER_DOWN, AZ_TIER_UP, AZ_EARLY_DELETE, AZ_OTHER };
struct azure_step {
    enum azure_op op;
    const struct azure_tier *tier; /* of put/store/read/early_delete/other; `to` or `from` else */
    struct rat blobs, ops_per_blob, gb, blob_bytes, days, ops, stayed_days;
    bool has_gb, high;
};
void bill_azure(const struct azure_step *step, size_t n, struct bill *out);
struct gcs_class {
    const char *name;
    struct rat per_gib_hour, class_a_1000, class_b_1000, retrieval_gib, min_days;
};
enum gcs_op { GCS_STORE, GCS_CLASS_A, GCS_CLASS_B, GCS_RETRIEVE, GCS_EARLY_DELETE, GCS_AUTOCLASS };
struct gcs_step {
    enum gcs_op op;
    const struct gcs_class *class_of;
    struct rat gib, days, ops, counted_days, objects, autoclass_1000;
};
void bill_gcs(const struct gcs_step *step, size_t n, struct bill *out);
struct r2_bill {
    const struct rat_pair *gb_days;
    size_t n_gb_days;
    struct rat min_days, class_a, class_b, per_gb, a_million, b_million, retrieved_gb, retrieval_gb,
        free_gb_month, free_a, free_b, free_retrieval;
};
void bill_r2(const struct r2_bill *in, struct bill *out);
struct oss_stay {
    const char *class_name;
    struct rat days, per_gb, min_days;
    bool from_last_modified;
};
void bill_oss(const struct oss_stay *stay, size_t n, struct rat gb, struct rat days_in_month,
              struct bill *out);
struct wasabi_bill {
    struct rat objects, size, days, min_days, per_tb, min_tb_months;
};
void bill_wasabi(const struct wasabi_bill *in, struct bill *out);

/* ---- results that are not bills: named values --------------------------------------------------
 */
enum load_model { LOAD_FLAT, LOAD_BURST, LOAD_REQUESTS, LOAD_STAGES };
struct load_time {
    enum load_model model;
    struct rat bytes, gpus, gpu_hour, fixed_s;
    const struct rat *rate; /* limits of flat, rates of the stages; MiB/s */
    size_t n_rates;
    struct rat burst, base, credits;
    struct rat object_bytes, streams, first_byte_s, stream, nic, get_per_s, get_1000;
};
int load_time_values(const struct load_time *in, struct bill *out, struct gt_error *err) GT_CHECK;
enum break_even_model { BE_IT_SIZE, BE_MIN_SIZE, BE_OVERHEAD_SIZE, BE_PAYBACK, BE_READS };
struct break_even {
    enum break_even_model model;
    struct rat hot, cool, cold, monitor_1000, min_bytes, overhead_tier, overhead_hot, size,
        transition_1000, retrieval_gb, cool_get_1000, hot_get_1000;
};
void break_even_values(const struct break_even *in, struct bill *out);
void online_bound_values(struct rat rent, struct rat move, struct rat idle, struct bill *out);

/* ---- path-optimum (R-OPT-01), exact ------------------------------------------------------------
 */
struct path_move {
    int from, to;
    struct rat fee_1000, per_gb;
};
struct path_problem {
    int periods, n_tiers, start_tier, start_served, initial_age;
    const struct tier_price *tier;
    const char *const *name;
    const struct path_move *move;
    size_t n_moves;
    struct rat objects, size, hot_price;
    const struct rat *read_gb, *read_requests; /* per period */
    const struct rat *latency_limit;           /* per period; d == 0 = none */
    const struct rat *throughput_need;         /* per period or NULL */
    bool terminal_delete;
};
struct path_result {
    bool feasible, unique; /* unique: no other path costs the same */
    struct rat total;
    int moves;
    int *tier_at;            /* per period; caller's array of `periods` */
    struct rat *static_cost; /* caller's array of n_tiers; d == 0 = not feasible */
};
int path_optimum(const struct path_problem *p, struct path_result *r,
                 struct gt_error *err) GT_CHECK;

/* ---- joint-optimum (R-OPT-03), exact -----------------------------------------------------------
 */
#define JOINT_TIERS 16
struct joint_group {
    struct rat gb, throughput, cost[JOINT_TIERS];
    bool allowed[JOINT_TIERS];
};
struct joint_tier {
    struct rat capacity_gb, included, per_gb, unit, unit_price, max_units;
    bool has_capacity, has_throughput, has_unit, has_max;
};
struct joint_problem {
    const struct joint_group *group;
    const struct joint_tier *tier;
    int n_groups, n_tiers;
    bool has_budget;
    struct rat budget;
};
struct joint_result {
    bool feasible;
    struct rat total, lower_bound;
    int *tier_of; /* caller's, n_groups */
};
int joint_optimum(const struct joint_problem *p, struct joint_result *r,
                  struct gt_error *err) GT_CHECK;

/* ---- savings-target (R-OPT-06) ------------------------------------------------------------------
 */
struct savings_group {
    struct rat objects, size, read_gb, reads; /* reads per month */
    uint64_t forbidden;                       /* bit per tier */
};
struct savings_problem {
    const struct savings_group *group;
    size_t n_groups;
    const struct tier_price *tier;
    int n_tiers, hot_tier;
    struct rat months, hot_price, target_percent;
};
struct savings_result {
    struct rat all_hot, best, percent;
    bool reached;
    int *pick;        /* caller's, n_groups */
    struct rat *cost; /* caller's, n_groups */
};
int savings_target(const struct savings_problem *p, struct savings_result *r,
                   struct gt_error *err) GT_CHECK;

/* ---- S3 lifecycle (section 11) ------------------------------------------------------------------
 */
enum { LC_NONE = -1 }; /* absent number */
struct lifecycle_when {
    bool has_days, has_date;
    double days;
    int64_t date; /* GT_TIME_NONE when it does not parse */
};
struct lifecycle_transition {
    struct lifecycle_when when;
    const char *storage_class;
};
struct lifecycle_rule {
    const char *id, *status; /* NULL = absent */
    bool has_filter, has_prefix, has_and, tag;
    int criteria_outside_and, criteria_inside_and;
    bool has_greater, has_less;
    double greater, less;
    const struct lifecycle_transition *transition;
    size_t n_transitions;
    const struct lifecycle_transition *noncurrent; /* when.days = NoncurrentDays */
    size_t n_noncurrent;
    bool expiration, expired_marker, noncurrent_expiration, abort_mpu;
    struct lifecycle_when expire;
};
#define LIFECYCLE_CODES 22
/* violated[i] = code L(i+1). rule_count counts the document's rules (or stands for them). */
void lifecycle_check(const struct lifecycle_rule *rule, size_t n, double rule_count,
                     bool violated[LIFECYCLE_CODES]);
const char *lifecycle_code_text(int code); /* "L08-…" for code 8 */
/* R-S3-28 and R-S3-21. */
struct lifecycle_effect {
    int64_t created;
    int days;
    double size;
    const char *storage_class;
    bool legacy_default; /* varies_by_storage_class */
    bool has_greater, has_less;
    double greater, less;
};
int64_t lifecycle_instant(int64_t created, int days);
bool lifecycle_moves(const struct lifecycle_effect *e);

#endif
