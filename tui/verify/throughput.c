/* Throughput cases: published samples/s or tokens/s against the model of planner/model. With
 * --calibrate a case is predicted from one other case of its list (product.md section 9). */
#include "gputier/text.h"
#include "model_case.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool matches(const cJSON *file, const cJSON *kase)
{
    if (case_format(file, "throughput/")) {
        return true;
    }
    return case_text(kase, "gpu")[0] != '\0' && case_text(kase, "model")[0] != '\0' &&
           case_text(kase, "unit")[0] != '\0' && case_text(kase, "precision")[0] != '\0' &&
           !cJSON_HasObjectItem(kase, "gpu_rate_per_gpu");
}

static bool same_text(const cJSON *a, const cJSON *b, const char *key)
{
    return strcmp(case_text(a, key), case_text(b, key)) == 0;
}

static bool is_scored(const cJSON *kase)
{
    return !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(kase, "scored"));
}

/* How far two cases are apart beside model, stack and precision: 0 = nothing else differs. */
static double distance(const cJSON *a, const cJSON *b)
{
    double d = same_text(a, b, "task") ? 0 : 4;
    double sa = case_number(a, "seq_len"), sb = case_number(b, "seq_len");
    double ba = case_number(a, "batch_per_gpu"), bb = case_number(b, "batch_per_gpu");

    if (sa > 0 && sb > 0) {
        d += 2 * fabs(log2(sa / sb));
    }
    if (ba > 0 && bb > 0) {
        d += 0.25 * fabs(log2(ba / bb));
    }
    return d + 0.5 * fabs(log2(case_number(a, "n_gpus") / case_number(b, "n_gpus")));
}

/* The other case of the list to calibrate from, NULL if none qualifies. */
static const cJSON *measured_case(const struct verify_context *ctx, const cJSON *kase)
{
    bool same = strcmp(ctx->calibrate, "same-gpu") == 0;
    const cJSON *best = NULL, *k;
    double best_distance = (double)INFINITY;

    cJSON_ArrayForEach(k, ctx->list)
    {
        double d;
        if (k == kase || !same_text(k, kase, "model") || !same_text(k, kase, "stack") ||
            !same_text(k, kase, "precision") || !same_text(k, kase, "unit") || !is_scored(k) ||
            !(case_number(k, "throughput") > 0) || same != same_text(k, kase, "gpu")) {
            continue;
        }
        if (same && !(case_number(k, "n_gpus") < case_number(kase, "n_gpus"))) {
            continue;
        }
        d = distance(k, kase);
        if (d < best_distance) {
            best_distance = d;
            best = k;
        }
    }
    return best;
}

/* The id of the case that the prediction starts from, NULL if there is none. */
static const char *calibrate(const struct verify_context *ctx, const cJSON *kase,
                             struct model_case *c)
{
    const cJSON *from = measured_case(ctx, kase);
    struct model_case other;
    struct model_rate r;
    size_t n = strlen(c->remark);

    if (from == NULL || model_case_read(ctx, from, &other, NULL) != 0 ||
        model_throughput(&other.job, &r, NULL) != 0) {
        snprintf(c->remark + n, sizeof c->remark - n, "%sno case to calibrate from",
                 n > 0 ? "; " : "");
        return NULL;
    }
    c->job.calibration = case_number(from, "throughput") / (r.samples_per_s * other.per_unit);
    c->job.calibrated_same_gpu = same_text(from, kase, "gpu");
    snprintf(c->remark + n, sizeof c->remark - n, "%scalibrated from %.40s", n > 0 ? "; " : "",
             case_text(from, "id"));
    return case_text(from, "id");
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    struct model_case c;
    struct model_rate r;
    cJSON *interval;
    const char *from = NULL;
    int rc = model_case_read(ctx, kase, &c, err);

    if (rc != 0) {
        return rc;
    }
    if (c.job.stack[0] != '\0' && !model_stack_known(c.job.stack)) {
        size_t n = strlen(c.remark);
        snprintf(c.remark + n, sizeof c.remark - n,
                 "%sstack \"%.40s\" is unknown: computed as stock", n > 0 ? "; " : "", c.job.stack);
    }
    if (ctx->calibrate != NULL) {
        from = calibrate(ctx, kase, &c);
    }
    if ((rc = model_throughput(&c.job, &r, err)) != 0) {
        return rc;
    }
    interval = cJSON_CreateArray();
    if (interval == NULL ||
        (from != NULL && !cJSON_AddStringToObject(computed, "calibrated_from", from)) ||
        !cJSON_AddNumberToObject(computed, "throughput", r.samples_per_s * c.per_unit) ||
        !cJSON_AddItemToArray(interval, cJSON_CreateNumber(r.lo * c.per_unit / c.widen)) ||
        !cJSON_AddItemToArray(interval, cJSON_CreateNumber(r.hi * c.per_unit * c.widen)) ||
        !cJSON_AddItemToObject(computed, "interval", interval)) {
        cJSON_Delete(interval);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    case_remark(err, c.remark);
    return 0;
}

static const cJSON *expected(const cJSON *kase, cJSON **owned)
{
    double published = case_number(kase, "throughput");

    if (!(published > 0)) {
        return NULL;
    }
    *owned = cJSON_CreateObject();
    cJSON_AddNumberToObject(*owned, "throughput", published);
    return *owned;
}

static bool agrees(const struct verify_context *ctx, const cJSON *kase, const cJSON *want,
                   const cJSON *computed, char *reason, size_t reason_size)
{
    const cJSON *interval = cJSON_GetObjectItemCaseSensitive(computed, "interval");
    const cJSON *lo = cJSON_GetArrayItem(interval, 0), *hi = cJSON_GetArrayItem(interval, 1);
    double published = case_number(want, "throughput");

    (void)ctx;
    (void)kase;
    if (!cJSON_IsNumber(lo) || !cJSON_IsNumber(hi)) {
        snprintf(reason, reason_size, "no interval was computed");
        return false;
    }
    if (published < lo->valuedouble || published > hi->valuedouble) {
        snprintf(reason, reason_size, "published %.6g lies outside %.6g to %.6g", published,
                 lo->valuedouble, hi->valuedouble);
        return false;
    }
    return true;
}

const struct verify_kind verify_throughput = {
    .name = "throughput",
    .matches = matches,
    .compute = compute,
    .expected = expected,
    .agrees = agrees,
    .needs_catalog = true,
    .statistics = true,
};
