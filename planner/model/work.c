/* What one sample costs: FLOPs and kept values, counted from the model's dimensions.
 * Formulas: shared/docs/throughput-model.md section 2, shared/docs/models.md. */
#include "model_internal.h"
#include <math.h>
#include <string.h>

double known_or(double x, double fallback)
{
    return isfinite(x) && x > 0 ? x : fallback;
}

static bool is(const char *a, const char *b)
{
    return a != NULL && strcmp(a, b) == 0;
}

/* Heads x head size: not always the hidden size (Gemma, Qwen3). */
static double heads_width(const struct model_profile *m)
{
    double d = known_or(m->head_dim, 0);
    double a = known_or(m->heads, 0);

    return d > 0 && a > 0 ? d * a : known_or(m->hidden, 0);
}

static double kv_width(const struct model_profile *m)
{
    double a = known_or(m->heads, 1);

    return heads_width(m) * known_or(m->kv_heads, a) / a;
}

/* Parameters of the MLP that a token passes, per layer, from the count of active parameters. */
static double mlp_parameters(const struct model_profile *m)
{
    double h = known_or(m->hidden, 0);
    double active = known_or(m->active_parameters, m->parameters);
    double embedding = known_or(m->vocab, 0) * h * (m->tied_embeddings ? 1 : 2);
    double attention = 2 * h * heads_width(m) + 2 * h * kv_width(m);

    return (active - embedding) / m->layers - attention;
}

double model_layer_elements(const struct model_profile *m, bool *gated)
{
    double h = known_or(m->hidden, 0), f = known_or(m->ffn, 4 * h);
    double mlp = mlp_parameters(m);
    bool expert = known_or(m->active_parameters, m->parameters) < 0.9 * m->parameters;
    double base = 8 * h + 4 * heads_width(m) + 4 * kv_width(m);

    if (is(m->family, "phi") || is(m->family, "gptj") || is(m->family, "gpt-neox") ||
        is(m->family, "falcon") || is(m->family, "stablelm-alpha")) {
        base -= 4 * h; /* attention and MLP side by side: one norm, one residual */
    }
    *gated = expert || mlp > 2.5 * h * f;
    if (expert && mlp > 0) {
        f = mlp / (3 * h); /* width of all experts that a token passes */
    }
    return (base + (*gated ? 8 : 4) * f) / 2;
}

static bool is_sequence(const struct model_profile *m)
{
    return is(m->task, "causal-lm") || is(m->task, "masked-lm") || is(m->task, "seq2seq") ||
           is(m->task, "speech-recognition") || is(m->task, "speech-ssl");
}

/* Positions that pass the layers for one sample. */
static double sequence_length(const struct model_profile *m, double seq_len)
{
    double s = seq_len > 0 ? seq_len : known_or(m->seq_len, 512);

    if (is(m->family, "whisper")) {
        return 1500 + s; /* 30 s of audio in the encoder, s text tokens in the decoder */
    }
    if (is(m->family, "wav2vec2")) {
        return s / 320; /* audio samples per frame */
    }
    return s;
}

static void sequence_work(const struct model_profile *m, double seq_len, struct work *w)
{
    double s = sequence_length(m, seq_len);
    double n = known_or(m->active_parameters, m->parameters);
    /* unknown dimensions: N = 12 L h^2 with the usual L = h / 128 */
    double h = known_or(m->hidden, cbrt(128 * n / 12)), L = known_or(m->layers, ceil(h / 128));
    double a = known_or(m->heads, ceil(h / 128));
    bool gated;

    w->tokens = true;
    w->samples_len = s;
    w->layers = L;
    w->width = h;
    w->encoder = is(m->task, "masked-lm");
    w->decoder = is(m->task, "causal-lm");
    /* an encoder's embeddings take no part; a decoder's convention is 2N with all parameters */
    w->linear_flops =
        w->encoder ? 2 * L * (4 * h * h + 2 * h * known_or(m->ffn, 4 * h)) * s : 2 * n * s;
    w->attention_flops = 4 * L * known_or(heads_width(m), h) * s * s;
    w->elements = m->hidden > 0 ? L * model_layer_elements(m, &gated) * s : L * 17 * h * s;
    w->attention_square = 2.5 * a * s * s * L;
    /* logits, their gradient and a copy in FP32: 10 bytes; masked models score 15 % of tokens */
    w->logit_elements = 5 * known_or(m->vocab, 0) * s * (w->encoder ? 0.15 : 1);
    w->estimated = !(m->layers > 0) || !(m->hidden > 0);
}

static void dense_work(const struct model_profile *m, struct work *w)
{
    double px = known_or(m->image_px, 224);

    w->samples_len = 1;
    w->layers = known_or(m->layers, 60);
    w->width = m->hidden;
    if (is(m->task, "image-classification") || is(m->task, "detection") ||
        is(m->family, "custom")) {
        w->positions_px = px;
    }
    w->convolution = !(is(m->family, "vit") || is(m->family, "beit") || is(m->family, "swin") ||
                       is(m->family, "mixer") || is(m->task, "diffusion-transformer"));
    w->windowed = is(m->family, "swin");
    w->linear_flops = m->flops_per_sample_fwd;
    if (!(w->linear_flops > 0)) {
        /* each weight of a CNN is used at (px/32)^2 places or more: 3.3 x in ResNets */
        w->linear_flops = 2 * 3.3 * m->parameters * (px / 32) * (px / 32);
        w->estimated = true;
    }
    w->elements = m->activation_elements;
    if (!(w->elements > 0)) {
        /* 1 kept value per 800 FLOPs in ResNets; diffusion U-Nets keep about the same per
         * forward FLOP, FP32 group norms and attention: about
         * 1e-3 for the SD 2 U-Net (0.6e-3 counted, raised by hand after its five published runs) */
        w->elements = w->linear_flops * (is(m->task, "diffusion-unet") ? 1e-3 : 1.25e-3);
        w->estimated = true;
    }
    if (!w->convolution) {
        /* counters list the outputs of matrices only: norms and residuals add 0.3; window
         * shifts copy everything once more */
        w->elements *= w->windowed ? 2.0 : 1.3;
    }
    if (is(m->task, "recommendation")) {
        /* 26 tables (Criteo): rows gathered, their gradients and updates; FLOPs are the MLPs' */
        w->convolution = false;
        w->layers = 10;
        w->elements = 3 * 26 * known_or(m->hidden, 128) * 2;
        w->dense_parameters = fmin(m->parameters, w->linear_flops / 2);
    }
    if (is(m->family, "mask-rcnn") || is(m->family, "faster-rcnn")) {
        /* proposals, suppression and matching run image by image, mostly on the host: the reason
         * why AMP gains 1.0-1.1 x there on A100 (throughput-model.md section 2) */
        w->host_s = 0.04; /* a guess: no published run was at hand */
    }
    if (m->name != NULL && (strstr(m->name, "se-resne") || strstr(m->name, "seresne"))) {
        /* squeeze and excitation read and scale the widest outputs once more: 0.7-0.9 x the
         * speed of the plain network (throughput-model.md section 2); the factor is a guess from
         * that */
        w->elements *= 1.5;
    }
    w->depthwise = w->convolution && w->linear_flops < 300 * w->elements;
}

int model_work(const struct model_profile *m, double seq_len, struct work *w, struct gt_error *err)
{
    memset(w, 0, sizeof *w);
    w->dense_parameters = m != NULL ? known_or(m->parameters, 0) : 0;
    w->positions_px = w->width = (double)NAN;
    if (m == NULL || !(m->parameters > 0 || m->flops_per_sample_fwd > 0)) {
        return gt_fail(err, GT_EINVALID, "model",
                       "%s has neither parameters nor FLOPs per sample; one of them is needed",
                       m != NULL && m->name != NULL ? m->name : "the model");
    }
    if (is_sequence(m) && !(m->flops_per_sample_fwd > 0)) {
        sequence_work(m, seq_len, w);
    } else {
        dense_work(m, w);
    }
    if (!(w->linear_flops > 0)) {
        return gt_fail(err, GT_EINVALID, "model", "%s: no FLOPs per sample can be derived",
                       m->name != NULL ? m->name : "the model");
    }
    return 0;
}
