/* What a GPU does with a job: throughput with its bounds, and memory fit.
 * Formulas and their sources: shared/docs/throughput-model.md; planner/model/ documents each. */
#ifndef GPUTIER_MODEL_H
#define GPUTIER_MODEL_H
#include "gputier/error.h"
#include "gputier/gpu.h"
#include "gputier/scenario.h"
#include <stdbool.h>
#include <stddef.h>

enum bound {
    BOUND_COMPUTE,
    BOUND_MEMORY_BANDWIDTH,
    BOUND_INPUT_CPU,
    BOUND_INPUT_STORAGE,
    BOUND_INTERCONNECT,
    BOUND_LATENCY,
    BOUND_COUNT
};
const char *bound_name(enum bound b);

/* Images/s that one vCPU decodes when nothing else is said: libjpeg-turbo class, all hyper-threads
 * busy, of the loaders in shared/docs/throughput-model.md. */
#define MODEL_JPEG_PER_VCPU 130.0

struct model_job {
    const struct model_profile *model;
    const struct gpu_spec *gpu;
    double gpus; /* all GPUs of the gang; fractions for slices */
    double gpus_per_node, nodes;
    double batch_per_gpu, gradient_accumulation, seq_len; /* 0 = a usual batch, 1, the model's */
    enum precision precision;
    enum optimizer optimizer;
    enum method method;
    enum sharding sharding;
    enum recompute recompute;
    double lora_params;
    const char *stack; /* "tuned", "stock", or a stack name; unknown = stock, wider interval */
    /* host; NAN = unknown, then the limit is left out and said so */
    double vcpus_per_node, network_gbps, storage_bytes_per_s; /* storage: whole gang */
    double decode_per_vcpu; /* 0 = family default; input-pipeline.md */
    bool gpu_decode;
    double bytes_per_sample;
    double calibration; /* measured / predicted on the same code; 1 = none */
    bool calibrated_same_gpu;
};
struct model_rate {
    double samples_per_s; /* whole gang; token models: sequences/s */
    double lo, hi;        /* 90 % interval */
    enum bound bound, next_bound;
    double next_samples_per_s; /* rate once the present bound is lifted */
    double limit[BOUND_COUNT]; /* samples/s each bound alone would allow; INFINITY = none */
    double step_s;             /* one optimiser step */
    double compute_s, memory_s, latency_s, communication_s; /* parts of the step */
};
int model_throughput(const struct model_job *job, struct model_rate *out,
                     struct gt_error *err) GT_CHECK;

struct model_memory {
    double weights, gradients, optimizer, activations, logits, workspace; /* bytes per GPU */
    double peak_bytes, usable_bytes;
    bool fits, tight; /* tight: 90..105 % of usable */
};
int model_memory(const struct model_job *job, struct model_memory *out,
                 struct gt_error *err) GT_CHECK;
/* Bytes of one checkpoint: weights + optimiser state as the trainer writes them. */
double model_checkpoint_bytes(const struct model_job *job);

/* Table name of a model under another name ("org/Llama-2-7b" -> "llama2-7b"); the name itself
 * (without "org/") when no alias is known. Never NULL. */
const char *model_alias(const char *name);
/* The profile of a name or alias, NULL if none. */
const struct model_profile *model_find(const struct model_profile *models, size_t n,
                                       const char *name);
bool model_stack_known(const char *name);
const char *model_stack_name(size_t i); /* the known ones; NULL after the last */
/* The fitted parameters, for reports. */
struct model_parameter {
    const char *name;
    double value;
    const char *unit, *meaning;
};
const struct model_parameter *model_parameters(size_t *n);

struct catalog;
/* The sheet of a device by its driver's name ("NVIDIA A100-SXM4-80GB"): every word of the model
 * must be in it; the longest such name is the most exact. NULL: none. */
const struct gpu_spec *model_bench_spec(const struct catalog *c, const char *device);
/* The sheet's figure for a metric of a bench, in the metric's unit; 0: the sheet has none. */
double model_bench_sheet(const struct gpu_spec *g, const char *metric);
struct bench_report;
struct arena;
/* Adds a note for what lies far below the sheet (g NULL: no sheet is known) or the link, with the
 * reasons that NVML told. A MIG slice is compared with nothing. */
void model_bench_explain(const struct gpu_spec *g, struct bench_report *r, struct arena *a);
/* The GPU of the newest stored bench and its factor against the sheet; NULL and 1 when only CPUs or
 * unknown devices were measured. It holds for that GPU alone. */
const struct gpu_spec *model_bench_factor(const struct catalog *c, double *factor);

#endif
