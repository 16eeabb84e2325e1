/* Worked cases of the model kinds: names of fields and values as in the lists that people share
 * (throughput/1, memory-fit/1). Never reads throughput, utilisation, fits or reported peaks. */
#include "model_case.h"
#include "gputier/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double case_number(const cJSON *kase, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(kase, key);
    char *end;
    double x;

    if (cJSON_IsNumber(v)) {
        return v->valuedouble;
    }
    if (cJSON_IsString(v) && v->valuestring[0] != '\0') {
        x = strtod(v->valuestring, &end);
        if (*end == '\0' && isfinite(x)) {
            return x;
        }
    }
    return (double)NAN;
}

const char *case_text(const cJSON *kase, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(kase, key);

    return cJSON_IsString(v) ? v->valuestring : "";
}

bool case_format(const cJSON *file, const char *prefix)
{
    return strncmp(case_text(file, "format"), prefix, strlen(prefix)) == 0;
}

void case_remark(struct gt_error *err, const char *text)
{
    if (err != NULL && text[0] != '\0') {
        err->code = GT_OK;
        snprintf(err->text, sizeof err->text, "%s", text);
    }
}

static void guessed(struct model_case *c, const char *what, const char *value, const char *as)
{
    size_t n = strlen(c->remark);

    snprintf(c->remark + n, sizeof c->remark - n, "%s%s \"%.40s\" is unknown: computed as %s",
             n > 0 ? "; " : "", what, value, as);
    c->widen *= 1.25;
}

static const struct gpu_spec *find_gpu(const struct catalog *cat, const char *name)
{
    int i = catalog_gpu(cat, name);

    if (i >= 0) {
        return &cat->gpus[i];
    }
    for (size_t k = 0; k < cat->n_gpus && name[0] != '\0'; k++) {
        if (text_leading_parts(name, cat->gpus[k].model)) {
            return &cat->gpus[k];
        }
    }
    return NULL;
}

static double given(double x, double fallback)
{
    return isfinite(x) && x > 0 ? x : fallback;
}

/* A model that the table does not have: parameters or FLOPs of the case make a profile. */
static int own_model(const cJSON *kase, struct model_case *c, bool tokens, struct gt_error *err)
{
    double flops = case_number(kase, "train_flops_per_unit");
    double n = given(case_number(kase, "params"), case_number(kase, "parameters"));
    bool adapters = c->job.method != METHOD_FULL;
    struct model_profile *m = &c->own;

    m->name = case_text(kase, "model");
    m->family = "custom";
    m->task = tokens ? "causal-lm" : "custom";
    m->layers = m->hidden = m->heads = m->kv_heads = m->ffn = m->vocab = m->head_dim = (double)NAN;
    m->image_px = m->activation_elements = m->active_parameters = m->bytes_per_sample_in =
        (double)NAN;
    m->flops_per_sample_fwd = (double)NAN;
    m->seq_len = case_number(kase, "seq_len");
    m->parameters = n;
    if (!(n > 0) && flops > 0 && tokens) {
        m->parameters = flops / (adapters ? 4 : 6);
    } else if (!tokens && flops > 0) {
        m->flops_per_sample_fwd = flops / (adapters ? 2 : 3);
        m->parameters = given(n, m->flops_per_sample_fwd / 300);
    }
    if (!(m->parameters > 0)) {
        return gt_fail(err, GT_ENOTFOUND, m->name,
                       "model \"%.60s\" is not in the table and the case gives neither params nor "
                       "train_flops_per_unit",
                       m->name);
    }
    guessed(c, "model", m->name, "its parameters and FLOPs say");
    c->job.model = m;
    return 0;
}

struct word {
    const char *text;
    int value;
};

/* Index of the first word that text begins with, -1 if none. */
static int word_value(const struct word *w, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (strncmp(text, w[i].text, strlen(w[i].text)) == 0) {
            return w[i].value;
        }
    }
    return -1;
}
#define WORD(table, text) word_value(table, sizeof table / sizeof table[0], text)

static void read_precision(const cJSON *kase, struct model_case *c)
{
    static const struct word words[] = {
        {"fp32", PRECISION_FP32}, {"float32", PRECISION_FP32}, {"tf32", PRECISION_TF32},
        {"fp8", PRECISION_FP8},   {"bf16", PRECISION_BF16},    {"pure bf16", PRECISION_BF16},
        {"amp", PRECISION_AMP},   {"fp16", PRECISION_AMP},     {"mixed", PRECISION_AMP}};
    const char *text = case_text(kase, "precision");
    int v = WORD(words, text);

    c->job.precision = v >= 0 ? (enum precision)v : PRECISION_AMP;
    if (v < 0 && text[0] != '\0') {
        guessed(c, "precision", text, "amp");
    }
}

static void read_method(const cJSON *kase, struct model_case *c)
{
    static const struct word words[] = {{"qlora", METHOD_QLORA},    {"lora", METHOD_LORA},
                                        {"dora", METHOD_LORA},      {"full", METHOD_FULL},
                                        {"pretrain", METHOD_FULL},  {"pre-train", METHOD_FULL},
                                        {"train", METHOD_FULL},     {"finetune", METHOD_FULL},
                                        {"fine-tune", METHOD_FULL}, {"sft", METHOD_FULL}};
    const char *method = case_text(kase, "method"), *task = case_text(kase, "task");
    const char *text = method[0] != '\0' ? method : task;
    const char *quantization = case_text(kase, "quantization");
    int v = WORD(words, text);

    c->job.method = v >= 0 ? (enum method)v : METHOD_FULL;
    if (v < 0 && text[0] != '\0') {
        guessed(c, "task", text, "finetune");
    }
    if (c->job.method == METHOD_LORA && quantization[0] != '\0' &&
        strcmp(quantization, "none") != 0) {
        c->job.method = METHOD_QLORA;
    }
}

static void read_sharding(const cJSON *kase, struct model_case *c)
{
    static const struct word words[] = {{"none", SHARDING_NONE},   {"ddp", SHARDING_NONE},
                                        {"dp", SHARDING_NONE},     {"fsdp", SHARDING_ZERO3},
                                        {"zero3", SHARDING_ZERO3}, {"zero-3", SHARDING_ZERO3},
                                        {"zero2", SHARDING_ZERO2}, {"zero-2", SHARDING_ZERO2},
                                        {"zero1", SHARDING_ZERO1}, {"zero-1", SHARDING_ZERO1}};
    const char *text = case_text(kase, "sharding");
    double stage = case_number(kase, "zero_stage");
    int v = WORD(words, text);

    c->job.sharding = v >= 0 ? (enum sharding)v : SHARDING_NONE;
    if (v < 0 && text[0] != '\0') {
        guessed(c, "sharding", text, "data-parallel");
    }
    if (stage >= 0 && stage <= 3) {
        c->job.sharding = (enum sharding)(int)stage;
    }
}

static void read_recompute(const cJSON *kase, struct model_case *c)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(kase, "activation_checkpointing");

    if (cJSON_IsTrue(v) || (cJSON_IsString(v) && strcmp(v->valuestring, "full") == 0)) {
        c->job.recompute = RECOMPUTE_FULL;
    } else if (cJSON_IsString(v) && strcmp(v->valuestring, "selective") == 0) {
        c->job.recompute = RECOMPUTE_SELECTIVE;
    }
}

static void read_optimizer(const cJSON *kase, struct model_case *c)
{
    static const struct word words[] = {
        {"sgd", OPTIMIZER_SGD},           {"adamw_8bit", OPTIMIZER_ADAMW_8BIT},
        {"adamw8", OPTIMIZER_ADAMW_8BIT}, {"adamw", OPTIMIZER_ADAMW},
        {"adam", OPTIMIZER_ADAM},         {"adafactor", OPTIMIZER_ADAFACTOR},
        {"lamb", OPTIMIZER_LAMB}};
    int v = WORD(words, case_text(kase, "optimizer"));

    c->job.optimizer = v >= 0 ? (enum optimizer)v : OPTIMIZER_ADAMW;
}

int model_case_read(const struct verify_context *ctx, const cJSON *kase, struct model_case *c,
                    struct gt_error *err)
{
    const char *gpu = case_text(kase, "gpu"), *name = case_text(kase, "model");
    bool tokens =
        strncmp(case_text(kase, "unit"), "tokens", 6) == 0 || case_number(kase, "seq_len") > 0;
    struct model_job *j = &c->job;

    memset(c, 0, sizeof *c);
    c->widen = 1;
    j->gpu = find_gpu(ctx->catalog, gpu);
    if (j->gpu == NULL) {
        return gt_fail(err, GT_ENOTFOUND, gpu, "GPU \"%.60s\" is not in the table of GPUs", gpu);
    }
    read_precision(kase, c);
    read_method(kase, c);
    read_sharding(kase, c);
    read_recompute(kase, c);
    read_optimizer(kase, c);
    j->model = model_find(ctx->catalog->models, ctx->catalog->n_models, name);
    if (j->model == NULL) {
        int rc = own_model(kase, c, tokens, err);
        if (rc != 0) {
            return rc;
        }
    }
    j->gpus = given(case_number(kase, "n_gpus"), 1);
    j->gpus_per_node = given(case_number(kase, "gpus_per_node"), fmin(8, j->gpus));
    j->nodes = given(case_number(kase, "nodes"), ceil(j->gpus / j->gpus_per_node));
    j->batch_per_gpu =
        given(case_number(kase, "batch_per_gpu"), given(case_number(kase, "micro_batch"), 0));
    j->gradient_accumulation = given(case_number(kase, "grad_accum"), 1);
    j->seq_len = given(case_number(kase, "seq_len"), 0);
    j->lora_params = given(case_number(kase, "trainable_params"), 0);
    j->stack = case_text(kase, "stack");
    j->vcpus_per_node = j->storage_bytes_per_s = (double)NAN;
    j->network_gbps = case_number(kase, "network_gbps");
    j->calibration = 1;
    c->per_unit = 1;
    if (strncmp(case_text(kase, "unit"), "tokens", 6) == 0) {
        c->per_unit = given(j->seq_len, given(j->model->seq_len, 512));
        j->seq_len = c->per_unit;
    }
    return 0;
}
