/* Scenario: what is to be done, with which data, under which constraints (product.md section 5).
 * scenario_parse is pure: text in, validated value out, all strings in the scenario's arena.
 * Every default that was applied is recorded, so that reports can show it. */
#ifndef GPUTIER_SCENARIO_H
#define GPUTIER_SCENARIO_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include "gputier/money.h"
#include "gputier/offer.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum workload_kind { WORKLOAD_TRAINING, WORKLOAD_SERVING };
enum precision { PRECISION_FP32, PRECISION_TF32, PRECISION_AMP, PRECISION_BF16, PRECISION_FP8 };
enum optimizer {
    OPTIMIZER_SGD,
    OPTIMIZER_ADAM,
    OPTIMIZER_ADAMW,
    OPTIMIZER_ADAMW_8BIT,
    OPTIMIZER_ADAFACTOR,
    OPTIMIZER_LAMB
};
enum method { METHOD_FULL, METHOD_LORA, METHOD_QLORA };
enum sharding { SHARDING_NONE, SHARDING_ZERO1, SHARDING_ZERO2, SHARDING_ZERO3 };
enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
enum ckpt_every { CKPT_AUTO, CKPT_STEPS, CKPT_SECONDS, CKPT_OFF };
enum data_role { ROLE_TRAINING_DATA, ROLE_CHECKPOINT, ROLE_LOGS, ROLE_OTHER };
const char *precision_name(enum precision p);
const char *optimizer_name(enum optimizer o);
const char *method_name(enum method m);
const char *sharding_name(enum sharding s);
const char *recompute_name(enum recompute r);
const char *data_role_name(enum data_role r);

struct scenario_data {
    const char *name;
    enum data_role role;
    uint64_t size_bytes, files;
    const char *vendor, *region; /* lives_in; "" = anywhere */
    const char *tier;            /* "" = free to choose */
    double keep_months;
    double growth_bytes_per_month;
    double reads_per_month; /* whole data set read this many times a month, beside the training */
};
struct scenario_region {
    const char *vendor, *region;
};
struct scenario_score { /* spot placement score of the vendor, 1 to 10 */
    const char *vendor, *region;
    int score;
};
struct scenario_discount {
    const char *vendor;
    enum purchase purchase;
    double factor;
};
struct scenario_default {
    const char *key, *value;
};

struct scenario {
    struct arena *arena;
    const char *name, *file;
    enum workload_kind kind;
    /* work: either model + epochs, or GPU-hours of a named GPU */
    const char *gpu_hours_gpu; /* "" when the work is given by model */
    double gpu_hours;
    const char *model; /* "" with gpu_hours; "custom" uses the four fields below */
    double flops_per_sample, parameters, bytes_per_sample, activation_bytes;
    double epochs;
    double samples; /* per epoch; token models: tokens / seq_len */
    double tokens;  /* 0 when given as samples */
    double seq_len; /* 0 = the model's default */
    double batch_per_gpu, gradient_accumulation;
    enum precision precision;
    enum optimizer optimizer;
    enum method method;
    double lora_params;
    enum sharding sharding;
    enum recompute recompute;
    const char *stack;        /* "tuned", "stock" or a stack name */
    const char *measured_gpu; /* "" = none */
    double measured_gpus, measured_samples_per_s;
    double decode_per_vcpu; /* samples/s; 0 = the model family's default, NAN never */
    bool gpu_decode;
    uint64_t checkpoint_bytes; /* 0 = derived from the model */
    enum ckpt_every checkpoint_every;
    double checkpoint_value; /* steps or seconds */
    double setup_s;
    /* constraints */
    double deadline_s;   /* from now; 0 = none */
    int64_t deadline_at; /* GT_TIME_NONE when given as a duration */
    double confidence;
    money budget; /* < 0 = none */
    const char *budget_currency;
    const char *const *vendors;
    size_t n_vendors; /* canonical; none = all */
    const struct scenario_region *regions;
    size_t n_regions;
    const char *const *gpu_models;
    size_t n_gpu_models;    /* patterns, text_leading_parts */
    int gpus_min, gpus_max; /* total GPUs of a plan */
    uint32_t purchase_mask; /* 1 << enum purchase */
    double use_horizon_s, use_share_lo, use_share_hi;
    const int64_t *use_hourly; /* machines wanted in each hour of a day or week, repeated */
    size_t n_use_hourly;
    bool use_owned;
    double spot_max_price_factor;
    const char *spot_policy;   /* "auto" or a policy name */
    double interruption_per_h; /* < 0 = auto */
    bool spread_types, spread_zones;
    const struct scenario_score *scores;
    size_t n_scores;
    double start_wait_on_demand_s, start_wait_spot_s;
    double wait_before_fallback_s; /* < 0 = auto */
    const struct scenario_discount *discounts;
    size_t n_discounts;
    const struct scenario_data *data;
    size_t n_data;
    /* serving */
    const char *demand_file, *demand_shape;
    double demand_base, demand_peak, demand_period_s, demand_length_s;
    double requests_per_s_per_node, target_utilisation;
    int min_nodes, max_nodes;
    double cooldown_out_s, cooldown_in_s, cooldown_window_s, warmup_s, step_s;
    const struct scenario_default *defaults;
    size_t n_defaults;
};

/* One `path.to.key=VALUE` of --set; applied after the file, checked like it. */
struct scenario_set {
    const char *path, *value;
};

/* Parses YAML text (JSON is YAML). `file` is for messages. `now` and local_offset_s serve deadlines
 * given as a time. text may be "" when sets carry everything. On success *out is a new scenario
 * (scenario_free). */
int scenario_parse(const char *text, size_t len, const char *file, const struct scenario_set *sets,
                   size_t n_sets, int64_t now, int32_t local_offset_s, struct scenario **out,
                   struct gt_error *err) GT_CHECK;
void scenario_free(struct scenario *s);
/* The table of keys, for `scenario schema` and help: NULL-terminated by path == NULL. */
struct scenario_key {
    const char *path, *type, *allowed, *fallback, *help;
};
const struct scenario_key *scenario_keys(void);

#endif
