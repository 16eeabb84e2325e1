/* Work and rate: what n machines of one kind do with the scenario's job when storage is no limit.
 * Results are remembered per kind, as thousands of offers share a few hundred of them. */
#include "gputier/text.h"
#include "search.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Quantile of the 90 % interval: +-1.645 standard deviations of ln(rate). */
#define Z90 SEARCH_Z95
/* GPU-hours moved to another GPU by the ratio of sheet rates: band as uncalibrated, section 9. */
#define RATIO_BAND 1.35

/* Between machines whose price list does not say. */
#define ASSUMED_NETWORK_GBPS 10

static void warn(struct search *q, const char *text)
{
    if (text != NULL && q->n_warnings < sizeof q->warning / sizeof q->warning[0]) {
        q->warning[q->n_warnings++] = text;
    }
}

/* Where what is remembered of a kind lives. */
static struct arena *keep_arena(const struct search *q)
{
    return q->keep != NULL ? q->keep : q->arena;
}

static const struct gpu_spec *match_spec(const struct search *q, const char *pattern)
{
    for (size_t i = 0; i < q->c->n_gpus; i++) {
        if (text_leading_parts(pattern, q->c->gpus[i].model)) {
            return &q->c->gpus[i];
        }
    }
    return NULL;
}

static struct model_job job_of(const struct search *q, const struct gpu_spec *spec, double gpus,
                               double per_node)
{
    const struct scenario *s = q->s;
    struct model_job j = {
        .model = q->model,
        .gpu = spec,
        .gpus = gpus,
        .gpus_per_node = per_node,
        .nodes = ceil(gpus / per_node - 1e-9),
        .batch_per_gpu = s->batch_per_gpu,
        .gradient_accumulation = s->gradient_accumulation,
        .seq_len = s->seq_len,
        .precision = s->precision,
        .optimizer = s->optimizer,
        .method = s->method,
        .sharding = s->sharding,
        .recompute = s->recompute,
        .lora_params = s->lora_params,
        .stack = s->stack,
        .vcpus_per_node = (double)NAN,
        .network_gbps = (double)NAN,
        .storage_bytes_per_s = (double)NAN,
        .decode_per_vcpu = s->decode_per_vcpu,
        .gpu_decode = s->gpu_decode,
        .bytes_per_sample = q->bytes_per_sample,
        .calibration =
            q->calibration * (q->bench_spec != NULL && spec == q->bench_spec ? q->bench_factor : 1),
        .calibrated_same_gpu = q->calibration_spec == spec,
    };
    return j;
}

/* Measured rate / predicted rate of the same job on the measured machine. */
static int calibrate(struct search *q)
{
    const struct scenario *s = q->s;
    q->calibration = 1;
    if (q->model == NULL) {
        return 0;
    }
    if (s->measured_gpu[0] == '\0') {
        q->bench_spec = model_bench_factor(q->c, &q->bench_factor);
        if (q->bench_spec != NULL) {
            warn(q, arena_printf(q->arena,
                                 "the stored bench of a %s counts for plans on it: %.3f of its "
                                 "sheet's rate",
                                 q->bench_spec->model, q->bench_factor));
        }
        return 0;
    }
    const struct gpu_spec *spec = match_spec(q, s->measured_gpu);
    if (spec == NULL) {
        return 0;
    }
    struct model_rate rate = {0};
    struct model_job j = job_of(q, spec, s->measured_gpus, s->measured_gpus);
    if (j.batch_per_gpu <= 0) {
        j.batch_per_gpu = 32;
    }
    j.calibrated_same_gpu = false;
    int rc = model_throughput(&j, &rate, q->err);
    if (rc != 0) {
        return rc;
    }
    q->calibration = s->measured_samples_per_s / rate.samples_per_s;
    q->calibration_spec = spec;
    warn(q, arena_printf(q->arena,
                         "calibrated: %.6g samples/s measured on %g %s where the model says %.6g; "
                         "compute times are divided by %.3f",
                         s->measured_samples_per_s, s->measured_gpus, spec->model,
                         rate.samples_per_s, q->calibration));
    return 0;
}

static double rate_tweak(const struct search *q)
{
    return q->tweak != NULL ? q->tweak->rate : 1;
}

static int calibrated(struct search *q)
{
    int rc = calibrate(q);
    q->calibration *= rate_tweak(q);
    return rc;
}

static int set_model(struct search *q)
{
    const struct scenario *s = q->s;
    if (strcmp(s->model, "custom") == 0) {
        q->custom = (struct model_profile){
            .name = "custom",
            .family = "custom",
            .task = "custom",
            .parameters = s->parameters,
            .active_parameters = s->parameters,
            .flops_per_sample_fwd = s->flops_per_sample,
            .bytes_per_sample_in = s->bytes_per_sample > 0 ? s->bytes_per_sample : (double)NAN,
            .activation_elements = s->activation_bytes > 0 ? s->activation_bytes / 2 : (double)NAN,
            .source = "scenario",
        };
        struct model_profile *m = &q->custom;
        double nan = (double)NAN;
        m->layers = m->hidden = m->heads = m->kv_heads = m->ffn = m->vocab = nan;
        m->image_px = m->head_dim = nan;
        m->seq_len = s->seq_len > 0 ? s->seq_len : nan;
        q->model = m;
    } else if (s->model[0] != '\0') {
        for (size_t i = 0; i < q->c->n_models; i++) {
            if (text_ieq(q->c->models[i].name, s->model)) {
                q->model = &q->c->models[i];
            }
        }
        if (q->model == NULL) {
            return gt_fail(q->err, GT_ENOTFOUND, s->file, "model %s is not known", s->model);
        }
    }
    return 0;
}

int search_work(struct search *q)
{
    const struct scenario *s = q->s;
    int rc = set_model(q);
    if (rc != 0) {
        return rc;
    }
    q->checkpoint_hint = (double)s->checkpoint_bytes;
    if (q->checkpoint_hint <= 0 && q->model != NULL && q->c->n_gpus > 0) {
        struct model_job j = job_of(q, &q->c->gpus[0], 1, 1);
        q->checkpoint_hint = model_checkpoint_bytes(&j);
    }
    for (size_t i = 0; i < s->n_data; i++) {
        if (s->data[i].role == ROLE_TRAINING_DATA) {
            q->data_bytes += (double)s->data[i].size_bytes;
            q->data_files += (double)s->data[i].files;
        }
    }
    if (s->gpu_hours > 0) {
        q->hours_spec = match_spec(q, s->gpu_hours_gpu);
        q->epochs = 1;
        return calibrated(q);
    }
    q->epochs = s->epochs;
    q->samples = s->samples;
    if (s->tokens > 0) {
        double len = s->seq_len > 0 ? s->seq_len : q->model->seq_len;
        if (!(len > 0)) {
            return gt_fail(q->err, GT_EPARSE, s->file,
                           "workload.tokens needs workload.seq_len for model %s", s->model);
        }
        q->samples = s->tokens / len;
    }
    q->bytes_per_sample = s->bytes_per_sample > 0 ? s->bytes_per_sample
                          : q->data_bytes > 0     ? q->data_bytes / q->samples
                                                  : q->model->bytes_per_sample_in;
    return calibrated(q);
}

/* Largest power of two up to 256 that fits; 1 when none does. */
static double auto_batch(struct model_job *j)
{
    struct model_memory mem;
    for (double b = 256; b >= 1; b /= 2) {
        j->batch_per_gpu = b;
        if (model_memory(j, &mem, NULL) == 0 && mem.fits && !mem.tight) {
            return b;
        }
    }
    return 1;
}

static bool fits(const struct model_job *j)
{
    struct model_memory mem;
    return model_memory(j, &mem, NULL) == 0 && mem.fits;
}

/* The first change that makes the job fit, least loss first: recomputation, sharding, smaller steps
 * (the same batch by accumulation), then all of them. NULL = none does. */
static const char *remedy(struct search *q, struct model_job j)
{
    if (j.recompute != RECOMPUTE_FULL) {
        struct model_job x = j;
        x.recompute = RECOMPUTE_FULL;
        if (fits(&x)) {
            return "activation_checkpointing: full";
        }
    }
    if (j.gpus > 1 && j.sharding != SHARDING_ZERO3) {
        struct model_job x = j;
        x.sharding = SHARDING_ZERO3;
        if (fits(&x)) {
            return "sharding: zero3";
        }
    }
    for (int all = 0; all < 2; all++) {
        struct model_job x = j;
        x.recompute = all ? RECOMPUTE_FULL : x.recompute;
        x.sharding = all && x.gpus > 1 ? SHARDING_ZERO3 : x.sharding;
        for (double b = floor(j.batch_per_gpu / 2); b >= 1; b = floor(b / 2)) {
            x.batch_per_gpu = b;
            if (fits(&x)) {
                return arena_printf(keep_arena(q),
                                    "batch_per_gpu: %.0f with gradient_accumulation: %.0f%s%s", b,
                                    ceil(j.gradient_accumulation * j.batch_per_gpu / b),
                                    all ? ", activation_checkpointing: full" : "",
                                    all && x.gpus > 1 ? ", sharding: zero3" : "");
            }
        }
    }
    return NULL;
}

static double dense_rate(const struct gpu_spec *g)
{
    return g->bf16_tflops > 0   ? g->bf16_tflops
           : g->fp16_tflops > 0 ? g->fp16_tflops
                                : g->fp32_tflops;
}

/* Rate of one such GPU / rate of the GPU whose hours are counted; 0 = the model does not say. */
static double model_ratio(struct search *q, const struct gpu_spec *spec)
{
    struct model_rate a = {0}, b = {0};
    struct model_job x = job_of(q, spec, 1, 1), y = job_of(q, q->hours_spec, 1, 1);
    if (x.batch_per_gpu <= 0) {
        x.batch_per_gpu = y.batch_per_gpu = fmin(auto_batch(&x), auto_batch(&y));
    }
    if (model_throughput(&x, &a, NULL) != 0 || model_throughput(&y, &b, NULL) != 0 ||
        !(b.samples_per_s > 0)) {
        return 0;
    }
    return a.samples_per_s / b.samples_per_s;
}

/* GPU-hours of the named GPU -> hours of this kind. */
static void hours_work(struct search *q, struct kind *k)
{
    const struct scenario *s = q->s;
    double relative = 1;
    if (!text_leading_parts(s->gpu_hours_gpu, k->gpu)) {
        if (k->spec == NULL || q->hours_spec == NULL ||
            !(dense_rate(k->spec) > 0 && dense_rate(q->hours_spec) > 0)) {
            k->reason = arena_printf(keep_arena(q), "how fast %s is against %s is not known",
                                     k->gpu, s->gpu_hours_gpu);
            return;
        }
        relative = dense_rate(k->spec) / dense_rate(q->hours_spec);
        k->sigma = log(RATIO_BAND) / Z90;
        const char *how = "the ratio of their dense BF16 (or FP16) sheet rates: an assumption";
        double by_model = q->model != NULL ? model_ratio(q, k->spec) : 0;
        if (by_model > 0) {
            relative = by_model;
            how = "the throughput model";
        }
        k->note = arena_printf(keep_arena(q),
                               "GPU-hours of %s counted as %.3g on %s by %s, 90 %% band x%.2f",
                               s->gpu_hours_gpu, 1 / relative, k->gpu, how, RATIO_BAND);
    }
    k->work_h = s->gpu_hours / (k->gpus * k->n * relative * rate_tweak(q));
    k->rate.samples_per_s = (double)NAN;
    k->rate.bound = k->rate.next_bound = BOUND_COMPUTE;
    k->checkpoint_bytes = (double)s->checkpoint_bytes;
    k->ok = true;
}

static int model_work_of(struct search *q, struct kind *k)
{
    const struct scenario *s = q->s;
    if (k->spec == NULL) {
        k->reason = arena_printf(keep_arena(q), "no sheet figures for the GPU %s", k->gpu);
        return 0;
    }
    struct model_job j = job_of(q, k->spec, k->gpus * k->n, k->gpus);
    struct gt_error detail = {0};
    j.nodes = k->n;
    j.vcpus_per_node = k->vcpus;
    k->network_assumed = k->n > 1 && isnan(k->network_gbps);
    j.network_gbps = k->network_assumed ? ASSUMED_NETWORK_GBPS : k->network_gbps;
    if (j.batch_per_gpu <= 0) {
        j.batch_per_gpu = auto_batch(&j);
    }
    k->batch = j.batch_per_gpu;
    int rc = model_memory(&j, &k->memory, &detail);
    k->has_memory = rc == 0;
    if (rc == 0 && !k->memory.fits) {
        k->memory_reason = true;
        const char *change = remedy(q, j);
        k->reason =
            arena_printf(keep_arena(q), "memory: needs %.1f GiB per GPU, %.1f usable%s%s",
                         k->memory.peak_bytes / 1073741824.0, k->memory.usable_bytes / 1073741824.0,
                         change != NULL ? "; would fit with " : "", change != NULL ? change : "");
        return 0;
    }
    if (rc == 0) {
        rc = model_throughput(&j, &k->rate, &detail);
    }
    if (rc == GT_ENOMEM) {
        return rc;
    }
    if (rc != 0 || !(k->rate.samples_per_s > 0)) {
        k->reason = arena_printf(keep_arena(q), "no rate: %.150s", detail.text);
        return 0;
    }
    k->sigma =
        k->rate.hi > k->rate.lo && k->rate.lo > 0 ? log(k->rate.hi / k->rate.lo) / (2 * Z90) : 0;
    k->work_h = q->samples * q->epochs / k->rate.samples_per_s / 3600;
    k->checkpoint_bytes =
        s->checkpoint_bytes > 0 ? (double)s->checkpoint_bytes : model_checkpoint_bytes(&j);
    k->ok = true;
    return 0;
}

int search_rate_as(struct search *q, const struct kind *k, double gpus, const char *stack,
                   struct model_rate *out)
{
    struct model_job j = job_of(q, k->spec, gpus, fmin(gpus, k->gpus));
    j.network_gbps = k->network_assumed ? ASSUMED_NETWORK_GBPS : k->network_gbps;
    j.batch_per_gpu = k->batch;
    j.stack = stack;
    return k->spec == NULL || !k->ok ? GT_ENOTFOUND : model_throughput(&j, out, NULL);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

const struct kind *search_kind(struct search *q, const struct machine *m, int n)
{
    size_t h = (size_t)(uintptr_t)m->spec / 64 + (size_t)n * 131 + (size_t)(m->gpus * 12) * 31;
    h += isnan(m->vcpus) ? 7 : (size_t)m->vcpus * 17;
    struct kind **slot = &q->kinds[h % (sizeof q->kinds / sizeof q->kinds[0])];
    for (struct kind *k = *slot; k != NULL; k = k->next) {
        if (k->spec == m->spec && k->n == n && k->gpus == m->gpus && same(k->vcpus, m->vcpus) &&
            same(k->network_gbps, m->network_gbps) && strcmp(k->gpu, m->gpu) == 0) {
            return k;
        }
    }
    struct kind *k = arena_alloc(keep_arena(q), sizeof *k);
    if (k == NULL) {
        return NULL;
    }
    k->spec = m->spec;
    k->gpu = m->gpu;
    k->gpus = m->gpus;
    k->vcpus = m->vcpus;
    k->network_gbps = m->network_gbps;
    k->n = n;
    k->next = *slot;
    *slot = k;
    if (q->s->gpu_hours > 0) {
        hours_work(q, k);
    } else if (model_work_of(q, k) != 0) {
        return NULL;
    }
    k->slow_spot = exp(q->slow_z * k->sigma);
    k->slow_demand = exp(SEARCH_Z95 * k->sigma);
    return k;
}
