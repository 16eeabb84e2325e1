/* Step time of a training job and what bounds it (shared/docs/throughput-model.md section 4).
 *
 *   micro-step = ((compute + memory)^3 + launch^3)^(1/3) + unhidden host copy
 *   step       = accumulation x micro-step + optimiser + exposed communication
 *
 * Compute and memory time are added, not maximised: layers bound by one alternate with layers
 * bound by the other. Launching runs beside the GPU, so the slower of both sets the pace. Input
 * decoding and storage run beside the step: the rate is the smallest of the three. */
#include "model_internal.h"
#include <math.h>
#include <string.h>

/* Constants by hand: set from the reasons given, with the published throughputs in view, not
 * fitted (params.c). */
/* Rate of fused attention against plain matrix products; on Hopper that of kernels written for
 * the generation before (mma.sync against the sheet, throughput-model.md section 6) */
#define ATTENTION        0.85
#define HOPPER_ATTENTION 0.6
/* FP32 on CUDA cores suffers less from shapes than tensor cores do */
#define CUDA_CORE_EFFICIENCY 0.95
/* bytes moved per parameter by one optimiser step: gradients, master weights, two moments */
#define OPTIMIZER_BYTES 30.0
/* eager decoders write norms, rotations and gates in FP32 and one by one */
#define EAGER_DECODER 2.0
/* share of the layout factor left in code that keeps channels last, as an exponent */
#define TUNED_LAYOUT 0.3
/* bytes moved per 4-bit weight unpacked: 1.2-1.5 x the time of LoRA at 7-14 B parameters */
#define UNPACK_BYTES 10.0
/* the GPU's decoder, throughput-model.md */
#define JPEG_PER_GPU 5000.0
/* waiting for the slowest node, per doubling of the nodes */
#define NODE_SKEW 0.01

struct step {
    double compute, memory, launch, copy, optimizer, exposed, total;
    double samples; /* per step, whole gang */
};

static double passes_per_step(const struct work *w, const struct device *d, enum stack_class s)
{
    double passes = w->convolution ? param(PARAM_CONV_PASSES) : param(PARAM_TOKEN_PASSES);

    if (w->depthwise) {
        passes *= param(PARAM_DEPTHWISE);
    }
    if (!w->convolution || d->operand == OPERAND_F32 || s == STACK_FUSED) {
        return passes;
    }
    /* tensor cores want channels last: untuned code transposes around every layer */
    return passes * pow(param(PARAM_LAYOUT), s == STACK_TUNED ? TUNED_LAYOUT : 1);
}

static double efficiency(const struct work *w, const struct device *d)
{
    double e = w->convolution ? param(PARAM_CONV) : param(PARAM_GEMM);

    if (!w->convolution) {
        double h = known_or(w->width, 400);
        e *= h / (h + param(PARAM_WIDTH));
    }
    if (d->recent) {
        e *= param(PARAM_RECENT);
    }
    if (d->operand == OPERAND_F32) {
        if (!d->tensor_f32) {
            e = fmax(e, CUDA_CORE_EFFICIENCY);
        } else if (w->convolution) {
            e *= param(PARAM_TF32_CONV);
        }
    }
    return fmin(e, 1.0);
}

double model_batch(const struct model_job *j, const struct work *w)
{
    if (j->batch_per_gpu > 0) {
        return j->batch_per_gpu;
    }
    if (w->tokens) {
        return fmax(1.0, floor(8192 / w->samples_len));
    }
    return w->linear_flops > 1e11 ? 64 : 256;
}

/* FLOPs of forward, backward and recomputation per sample. */
static double train_flops(const struct model_job *j, const struct work *w, const struct device *d)
{
    double attention = w->attention_flops / (d->nvidia_recent ? HOPPER_ATTENTION : ATTENTION);
    double passes = j->method == METHOD_FULL ? 3 : 2; /* frozen weights need no gradients */

    if (j->recompute == RECOMPUTE_FULL) {
        passes += param(PARAM_RECOMPUTE);
    }
    return passes * (w->linear_flops + attention) +
           (j->recompute == RECOMPUTE_SELECTIVE ? attention : 0);
}

static double traffic(const struct model_job *j, const struct work *w, const struct device *d,
                      const struct stack *s, enum stack_class class)
{
    double elements = w->elements, bytes, recompute;

    if (w->encoder || (s != NULL && s->unfused_attention)) {
        elements += w->attention_square;
    }
    if (w->decoder && class == STACK_STOCK) {
        elements *= EAGER_DECODER;
    }
    recompute = j->recompute == RECOMPUTE_FULL        ? 4.0 / 3
                : j->recompute == RECOMPUTE_SELECTIVE ? 1.1
                                                      : 1;
    bytes = elements * passes_per_step(w, d, class) * recompute + 2 * w->logit_elements;
    return bytes * (d->operand == OPERAND_F32 ? 4 : 2);
}

static double launch_time(const struct model_job *j, const struct work *w, enum stack_class class)
{
    static const double share[] = {[STACK_FUSED] = 0.3, [STACK_TUNED] = 0.6, [STACK_STOCK] = 1};
    double passes = j->method == METHOD_FULL ? 3 : 2;

    if (j->recompute == RECOMPUTE_FULL) {
        passes += param(PARAM_RECOMPUTE);
    }
    if (j->method != METHOD_FULL) {
        passes *= 2; /* adapters double the kernels */
    }
    return param(PARAM_LAUNCH) * w->layers * passes * share[class] * (w->tokens ? 1 : 0.5);
}

/* Parameters that one GPU holds and reduces: a model too large for it is split over several. */
static double held_parameters(const struct model_job *j, const struct work *w)
{
    double room = 0.8 * known_or(j->gpu->mem_gb, 1e9) * 1024 * 1024 * 1024;
    double parts = ceil(16 * w->dense_parameters / room);

    if (j->sharding != SHARDING_NONE) {
        return w->dense_parameters;
    }
    return w->dense_parameters / fmax(1, parts);
}

/* Bytes per GPU that the collectives of one step move, in units of bus bandwidth. */
static double collective_bytes(const struct model_job *j, const struct work *w,
                               const struct device *d, double n, double accumulation)
{
    double ring = (n - 1) / n, p = held_parameters(j, w);
    bool full = j->method == METHOD_FULL;

    if (j->sharding == SHARDING_ZERO3) {
        /* gather for forward and backward, and scatter the gradients, in every micro-step */
        double passes = full ? 3 : 2;
        return passes * ring * p * (j->method == METHOD_QLORA ? 0.6 : 2) * accumulation;
    }
    p = full ? p : known_or(j->lora_params, 0.002 * p);
    return 2 * ring * p * (d->operand == OPERAND_F32 ? 4 : 2);
}

static void communication(const struct model_job *j, const struct work *w, const struct device *d,
                          enum stack_class class, double micro, double accumulation, struct step *s)
{
    double n = j->gpus, nodes, bytes, time, beside;
    bool hidden;

    if (n <= 1) {
        return;
    }
    nodes = known_or(j->nodes, ceil(n / known_or(j->gpus_per_node, 8)));
    bytes = collective_bytes(j, w, d, n, accumulation);
    time = bytes / model_bus(j->gpu, nodes, j->network_gbps, class == STACK_STOCK, &hidden);
    if (!hidden) {
        s->exposed = time;
        return;
    }
    /* gradients travel during the last backward pass, sharded weights during all of the step */
    beside = j->sharding == SHARDING_ZERO3 ? micro * accumulation : 0.6 * micro * accumulation;
    s->exposed = fmax(0, time - beside) + 0.05 * time;
    if (nodes > 1) {
        s->exposed += NODE_SKEW * log2(nodes) * micro * accumulation;
    }
}

static void step_time(const struct model_job *j, const struct work *w, const struct device *d,
                      struct step *s)
{
    const struct stack *stack = model_stack(j->stack);
    enum stack_class class = stack != NULL ? stack->class : STACK_STOCK;
    double part = fmin(1, j->gpus); /* a slice has its part of the rates */
    double b = model_batch(j, w);
    double ga = fmax(1, j->gradient_accumulation), q = known_or(j->calibration, 1);
    double gpu, micro, sharded = 1, launch;

    memset(s, 0, sizeof *s);
    s->compute = b * train_flops(j, w, d) / (efficiency(w, d) * d->flops * part);
    s->memory = b * traffic(j, w, d, stack, class) / (d->bandwidth * part);
    if (j->method == METHOD_QLORA) { /* every pass unpacks the weights */
        double passes = j->recompute == RECOMPUTE_FULL ? 3 : 2;
        s->memory += passes * UNPACK_BYTES * w->dense_parameters / (d->bandwidth * part);
    }
    launch = launch_time(j, w, class);
    gpu = s->compute + s->memory;
    micro = cbrt(gpu * gpu * gpu + launch * launch * launch);
    s->launch = micro - gpu;
    s->copy = b * w->host_s;
    if (class == STACK_STOCK && isfinite(w->positions_px)) {
        s->copy += b * w->positions_px * w->positions_px * 3 * 4 / (param(PARAM_HOST_COPY) * 1e9);
    }
    if (j->sharding != SHARDING_NONE) {
        sharded = fmax(1, j->gpus);
    }
    s->optimizer = (j->method == METHOD_FULL ? held_parameters(j, w) : 0) * OPTIMIZER_BYTES /
                   sharded / (d->bandwidth * part);
    s->compute *= ga / q;
    s->memory *= ga / q;
    s->launch *= ga / q;
    s->copy *= ga / q;
    s->optimizer /= q;
    communication(j, w, d, class, (micro + s->copy / ga * q) / q, ga, s);
    s->total = s->compute + s->memory + s->launch + s->copy + s->optimizer + s->exposed;
    s->samples = b * ga * fmax(1, j->gpus);
}

/* Samples/s that decoding on the host (or the GPUs' decoders) allows. */
static double decode_limit(const struct model_job *j, const struct work *w)
{
    double nodes = known_or(j->nodes, 1), rate;

    if (!isfinite(w->positions_px)) {
        return j->decode_per_vcpu > 0 && j->vcpus_per_node > 0
                   ? j->decode_per_vcpu * j->vcpus_per_node * nodes
                   : (double)INFINITY;
    }
    if (j->gpu_decode) {
        return JPEG_PER_GPU * j->gpus;
    }
    if (!(j->vcpus_per_node > 0)) {
        return (double)INFINITY;
    }
    rate = known_or(j->decode_per_vcpu, MODEL_JPEG_PER_VCPU);
    return rate * j->vcpus_per_node * nodes;
}

static double storage_limit(const struct model_job *j)
{
    double bytes = known_or(j->bytes_per_sample, j->model->bytes_per_sample_in);

    return j->storage_bytes_per_s > 0 && bytes > 0 ? j->storage_bytes_per_s / bytes
                                                   : (double)INFINITY;
}

/* The largest part of the step, or the input limit below it. `lifted` parts are left out. */
static double bounded_rate(const struct model_rate *r, const bool lifted[BOUND_COUNT],
                           double samples, enum bound *bound)
{
    static const enum bound parts[] = {BOUND_COMPUTE, BOUND_MEMORY_BANDWIDTH, BOUND_INTERCONNECT,
                                       BOUND_LATENCY};
    static const enum bound inputs[] = {BOUND_INPUT_CPU, BOUND_INPUT_STORAGE};
    double total = 0, most = -1, rate;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        double time = lifted[parts[i]] ? 0 : samples / r->limit[parts[i]];
        total += time;
        if (time > most) {
            most = time;
            *bound = parts[i];
        }
    }
    rate = total > 0 ? samples / total : (double)INFINITY;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (!lifted[inputs[i]] && r->limit[inputs[i]] < rate) {
            rate = r->limit[inputs[i]];
            *bound = inputs[i];
        }
    }
    return rate;
}

static double limit_of(double samples, double seconds)
{
    return seconds > 0 ? samples / seconds : (double)INFINITY;
}

int model_throughput(const struct model_job *j, struct model_rate *out, struct gt_error *err)
{
    bool lifted[BOUND_COUNT] = {false};
    struct work w;
    struct device d;
    struct step s;
    int rc;

    memset(out, 0, sizeof *out);
    if (!(j->gpus > 0) || !isfinite(j->gpus)) {
        return gt_fail(err, GT_EINVALID, "model", "number of GPUs is not above 0");
    }
    if ((rc = model_work(j->model, j->seq_len, &w, err)) != 0 ||
        (rc = model_device(j->gpu, j->precision, &d, err)) != 0) {
        return rc;
    }
    step_time(j, &w, &d, &s);
    out->step_s = s.total;
    out->compute_s = s.compute;
    out->memory_s = s.memory + s.optimizer;
    out->latency_s = s.launch + s.copy;
    out->communication_s = s.exposed;
    out->limit[BOUND_COMPUTE] = limit_of(s.samples, out->compute_s);
    out->limit[BOUND_MEMORY_BANDWIDTH] = limit_of(s.samples, out->memory_s);
    out->limit[BOUND_LATENCY] = limit_of(s.samples, out->latency_s);
    out->limit[BOUND_INTERCONNECT] = limit_of(s.samples, out->communication_s);
    out->limit[BOUND_INPUT_CPU] = decode_limit(j, &w);
    out->limit[BOUND_INPUT_STORAGE] = storage_limit(j);
    out->samples_per_s = bounded_rate(out, lifted, s.samples, &out->bound);
    if (!isfinite(out->samples_per_s) || !(out->samples_per_s > 0)) {
        return gt_fail(err, GT_ERANGE, "model",
                       "no finite rate: batch %g, %g GPUs, sequence length %g are out of range",
                       j->batch_per_gpu, j->gpus, j->seq_len);
    }
    lifted[out->bound] = true;
    out->next_samples_per_s = bounded_rate(out, lifted, s.samples, &out->next_bound);
    model_interval(j, &w, out);
    return 0;
}
