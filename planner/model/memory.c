/* Bytes per GPU of a training job (shared/docs/throughput-model.md section 7, docs/models.md) and
 * bytes of a checkpoint.
 *
 *   peak = weights + gradients + optimiser + activations + logits + workspace
 *
 * It errs to the high side: a false "fits" costs a failed job, a false "does not fit" costs a
 * second look. */
#include "model_internal.h"
#include <math.h>
#include <string.h>

#define GIB (1024.0 * 1024 * 1024)
/* NF4 with its scales 0.56 and what is unpacked at any time */
#define NF4_BYTES 0.6
/* values kept by convolutions, their normalisation and activation: two per counted output */
#define VISION_KEPT 1.9
/* Bytes per logit: half precision, an FP32 copy, its gradient; 10 in lean code, 14 where labels
 * are shifted by a copy; 7 with a fused loss. */
#define LOGIT_BYTES       11.0
#define FUSED_LOGIT_BYTES 7.0
/* allocator blocks and libraries' scratch beside the tensors; the CUDA context stands in usable */
#define SCRATCH_BYTES 0.4e9
#define FRAGMENTATION 0.03

static double moments(enum optimizer o)
{
    switch (o) {
    case OPTIMIZER_SGD:
        return 4;
    case OPTIMIZER_ADAMW_8BIT:
        return 2;
    case OPTIMIZER_ADAFACTOR:
        return 0.1;
    case OPTIMIZER_ADAM:
    case OPTIMIZER_ADAMW:
    case OPTIMIZER_LAMB:
    default:
        return 8;
    }
}

static bool is_f32(const struct model_job *j)
{
    return j->precision == PRECISION_FP32 || j->precision == PRECISION_TF32;
}

/* LoRA of rank 8 on the attention's q and v adds about 0.1 % of the parameters. */
static double trainable(const struct model_job *j)
{
    double n = known_or(j->model->parameters, 0);

    return j->method == METHOD_FULL ? n : known_or(j->lora_params, 0.001 * n);
}

static double embedding_parameters(const struct model_profile *m)
{
    return known_or(m->vocab, 0) * known_or(m->hidden, 0) * (m->tied_embeddings ? 1 : 2);
}

/* Weights, gradients and optimiser state per GPU. */
static void states(const struct model_job *j, struct model_memory *out)
{
    double n = known_or(j->model->parameters, 0), t = trainable(j), gpus = fmax(1, j->gpus);
    double shard = 1 / gpus, layers = known_or(j->model->layers, 16);
    double weight = is_f32(j) ? 4 : 2;
    bool shared = j->sharding == SHARDING_ZERO3 && gpus > 1;

    if (j->method == METHOD_QLORA) {
        double e = fmin(n, embedding_parameters(j->model));
        out->weights = (n - e) * NF4_BYTES + e * 2;
    } else {
        out->weights = n * weight;
    }
    if (j->method == METHOD_FULL) {
        /* mixed: gradients are summed in FP32; the optimiser holds an FP32 copy of the weights */
        out->gradients = n * (shared && !is_f32(j) ? 2 : 4);
        out->optimizer = n * (moments(j->optimizer) + (is_f32(j) ? 0 : 4));
    } else {
        out->gradients = t * 4;
        out->optimizer = t * (moments(j->optimizer) + 4);
    }
    if (j->sharding >= SHARDING_ZERO1) {
        out->optimizer *= shard;
    }
    if (j->sharding >= SHARDING_ZERO2) {
        out->gradients *= shard;
    }
    if (shared) {
        /* two gathered layers in flight; loading a whole copy per GPU first is not counted */
        double whole = out->weights;
        out->weights = whole * shard + fmin(whole * (1 - shard), 2 * whole / layers);
    }
}

static void activations(const struct model_job *j, const struct work *w, double batch,
                        struct model_memory *out)
{
    const struct stack *s = model_stack(j->stack);
    double b = batch, size = is_f32(j) ? 4 : 2, kept = w->elements, layer, boundary;

    if (!w->tokens) {
        out->activations = b * kept * size * (w->convolution ? VISION_KEPT : 1.1);
        if (j->recompute == RECOMPUTE_FULL) {
            out->activations *= 0.35; /* stage borders and one stage */
        } else if (j->recompute == RECOMPUTE_SELECTIVE) {
            out->activations *= 0.6;
        }
        return;
    }
    if (j->method != METHOD_FULL) { /* adapters keep copies of their inputs behind a dropout */
        kept += 2 * w->layers * known_or(j->model->hidden, 0) * w->samples_len;
    }
    if (w->encoder) {
        kept += w->attention_square;
    }
    layer = kept / w->layers;
    boundary = w->layers * known_or(j->model->hidden, 0) * w->samples_len;
    if (j->recompute == RECOMPUTE_FULL) {
        kept = boundary + layer;
    } else if (j->recompute == RECOMPUTE_SELECTIVE) {
        kept = fmax(0.5 * kept, fmin(kept, boundary + layer));
    }
    out->activations = b * kept * size;
    out->logits = b * w->logit_elements / 5 *
                  (s != NULL && s->class == STACK_FUSED ? FUSED_LOGIT_BYTES : LOGIT_BYTES);
}

/* What a job can use of the card: HBM cards give 0.99 of the printed GiB, data-centre GDDR cards
 * with ECC 0.92 (A10G 22.1 of 24, T4 14.6 of 16). */
static double usable(const struct gpu_spec *g, double part)
{
    static const char *const ecc[] = {"T4", "A10", "A16", "A2", "L4", "A40", "RTX A"};
    double share = 0.99;

    for (size_t i = 0; i < sizeof ecc / sizeof ecc[0]; i++) {
        size_t n = strlen(ecc[i]);
        const char *m = g->model != NULL ? g->model : "";
        if (strncmp(m, ecc[i], n) == 0 && strncmp(m, "A100", 4) != 0) {
            share = 0.92;
        }
    }
    return known_or(g->mem_gb, 0) * share * part * GIB;
}

int model_memory(const struct model_job *j, struct model_memory *out, struct gt_error *err)
{
    struct work w;
    double batch;
    int rc;

    memset(out, 0, sizeof *out);
    if (j->gpu == NULL || !(j->gpus > 0)) {
        return gt_fail(err, GT_EINVALID, "model", "no GPU given");
    }
    if ((rc = model_work(j->model, j->seq_len, &w, err)) != 0) {
        return rc;
    }
    batch = model_batch(j, &w);
    states(j, out);
    activations(j, &w, batch, out);
    out->workspace = SCRATCH_BYTES + FRAGMENTATION * (out->activations + out->logits);
    out->peak_bytes = out->weights + out->gradients + out->optimizer + out->activations +
                      out->logits + out->workspace;
    if (!isfinite(out->peak_bytes)) {
        return gt_fail(err, GT_ERANGE, "model", "no finite memory: batch %g, sequence length %g",
                       j->batch_per_gpu, j->seq_len);
    }
    out->usable_bytes = usable(j->gpu, fmin(1, j->gpus));
    out->fits = out->peak_bytes <= out->usable_bytes;
    out->tight =
        out->peak_bytes > 0.90 * out->usable_bytes && out->peak_bytes <= 1.05 * out->usable_bytes;
    return 0;
}

double model_checkpoint_bytes(const struct model_job *j)
{
    /* FP32 weights and the optimiser's moments; adapters only when nothing else is trained */
    return trainable(j) * (4 + moments(j->optimizer));
}
