/* Parts of the model of a training step that planner/model shares between its files.
 *
 *   work.c        what one sample costs: FLOPs, values kept for the backward pass
 *   device.c      what a GPU sustains: FLOP/s, bytes/s, bytes/s between GPUs
 *   stack.c       what the software makes of it
 *   params.c      the fitted parameters (tests/fit/fit_throughput.py)
 *   throughput.c  the step, its bounds and interval
 *   memory.c      bytes per GPU
 *   names.c       other names of models, names of bounds */
#ifndef PLANNER_MODEL_INTERNAL_H
#define PLANNER_MODEL_INTERNAL_H
#include "gputier/model.h"

/* The fitted parameters, at most 12 (params.c says what each means). */
enum param {
    PARAM_GEMM,
    PARAM_WIDTH,
    PARAM_CONV,
    PARAM_RECENT,
    PARAM_CONV_PASSES,
    PARAM_TOKEN_PASSES,
    PARAM_LAYOUT,
    PARAM_DEPTHWISE,
    PARAM_LAUNCH,
    PARAM_TF32_CONV,
    PARAM_HOST_COPY,
    PARAM_RECOMPUTE,
    PARAM_COUNT
};
double param(enum param p);

/* How the arithmetic is done; decides peak, operand width and class of the residuals. */
enum operand { OPERAND_HALF, OPERAND_F32, OPERAND_FP8 };

struct work {
    double samples_len;      /* tokens (or frames) per sample, 1 for images */
    double linear_flops;     /* forward, per sample: matrices and convolutions */
    double attention_flops;  /* forward, per sample: scores and their product with the values */
    double elements;         /* values kept for the backward pass, per sample, without logits */
    double attention_square; /* values of the score matrices if they are materialised */
    double logit_elements;   /* vocabulary-sized values, per sample, in units of 2 bytes */
    double dense_parameters; /* read by every step: all but embedding tables of recommenders */
    double layers;           /* launch sequences of a forward pass */
    double width;            /* inner dimension of the matrices, NAN = unknown */
    double positions_px;     /* edge of the input image, NAN = no image */
    double host_s;           /* host work per sample that the GPU waits for */
    bool tokens;             /* sequence model */
    bool convolution;
    bool decoder, encoder;
    bool depthwise; /* convolutions of low arithmetic intensity */
    bool windowed;  /* window attention: extra copies */
    bool estimated; /* FLOPs or activations follow from the parameter count only */
};
/* seq_len 0 = the model's own. */
int model_work(const struct model_profile *m, double seq_len, struct work *w,
               struct gt_error *err) GT_CHECK;
/* Values kept per token and layer with fused attention (docs/models.md), and whether the MLP is
 * gated, inferred from the parameter count. */
double model_layer_elements(const struct model_profile *m, bool *gated);

struct device {
    double flops;     /* sustained matrix FLOP/s of one GPU in this precision */
    double bandwidth; /* sustained bytes/s of its memory */
    enum operand operand;
    bool tensor_f32; /* FP32 arithmetic on tensor cores (TF32 or matrix FP32) */
    bool recent;     /* Hopper, Blackwell, CDNA3 and later */
    bool nvidia_recent;
};
int model_device(const struct gpu_spec *g, enum precision p, struct device *d,
                 struct gt_error *err) GT_CHECK;
/* Bus bandwidth of a collective in bytes/s; *hidden says whether it runs beside the backward
 * pass. untuned: the stack takes no care of topology. */
double model_bus(const struct gpu_spec *g, double nodes, double network_gbps, bool untuned,
                 bool *hidden);
/* CUDA cores' FP32 rate and other sheet helpers treat NAN as "not there". */
double known_or(double x, double fallback);

enum stack_class { STACK_FUSED, STACK_TUNED, STACK_STOCK };
struct stack {
    const char *name;
    enum stack_class class;
    bool unfused_attention; /* score matrices are written to memory in decoders too */
};
/* NULL if the name is not in the table: the caller takes "stock" and widens the interval. */
const struct stack *model_stack(const char *name);
/* The job's batch per GPU, or a usual one. */
double model_batch(const struct model_job *j, const struct work *w);
/* Sets lo and hi of *out. */
void model_interval(const struct model_job *j, const struct work *w, struct model_rate *out);

#endif
