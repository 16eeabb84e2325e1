/* Input-pipeline cases: the smallest of the rates that the case states (product.md section 9,
 * shared/docs/input-pipeline.md). Rates as given, no efficiency factor. */
#include "model_case.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool matches(const cJSON *file, const cJSON *kase)
{
    return case_format(file, "input-pipeline/") || cJSON_HasObjectItem(kase, "loader_workers") ||
           cJSON_HasObjectItem(kase, "decode_rate_per_worker") ||
           cJSON_HasObjectItem(kase, "gpu_rate_per_gpu") ||
           cJSON_HasObjectItem(kase, "gpu_decode_rate_per_gpu");
}

/* MB/s that storage supplies in the epochs after the first, or NAN. */
static double supply(const cJSON *kase)
{
    double warm = case_number(kase, "storage_mb_s");
    double cold = case_number(kase, "storage_cold_mb_s");
    double set = case_number(kase, "dataset_gb"), ram = case_number(kase, "host_ram_gb");

    if (cold > 0 && !(set <= 0.8 * ram)) { /* not cached, or not known to be */
        return fmin(warm, cold);           /* fmin passes over a NAN */
    }
    return warm;
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    double gpus = case_number(kase, "n_gpus");
    const struct {
        const char *name;
        double rate;
    } limits[] = {
        {"gpu", case_number(kase, "gpu_rate_per_gpu") * gpus},
        {"cpu", case_number(kase, "decode_rate_per_worker") * case_number(kase, "loader_workers")},
        {"gpu-decode", case_number(kase, "gpu_decode_rate_per_gpu") * gpus},
        {"storage", supply(kase) * 1e6 / case_number(kase, "bytes_per_sample")},
        {"transfer", case_number(kase, "consumer_mb_s") * 1e6 / case_number(kase, "decoded_bytes")},
    };
    cJSON *object = cJSON_AddObjectToObject(computed, "limits");
    const char *binding = NULL;
    double least = (double)INFINITY;

    (void)ctx;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!isfinite(limits[i].rate)) {
            continue;
        }
        if (!cJSON_AddNumberToObject(object, limits[i].name, limits[i].rate)) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        if (limits[i].rate < least) {
            least = limits[i].rate;
            binding = limits[i].name;
        }
    }
    if (binding == NULL) {
        return gt_fail(err, GT_EINVALID, case_text(kase, "id"),
                       "the case states no complete rate: gpu_rate_per_gpu with n_gpus, "
                       "decode_rate_per_worker with loader_workers, gpu_decode_rate_per_gpu with "
                       "n_gpus, storage_mb_s with bytes_per_sample, or consumer_mb_s with "
                       "decoded_bytes");
    }
    if (!cJSON_AddStringToObject(computed, "binding", binding) ||
        !cJSON_AddNumberToObject(computed, "predicted_throughput", least)) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return 0;
}

static const cJSON *expected(const cJSON *kase, cJSON **owned)
{
    static const char *const keys[] = {"published_throughput", "limits", "binding",
                                       "predicted_throughput", "ratio_published_to_predicted"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(kase, keys[i]);
        if (v == NULL) {
            continue;
        }
        if (*owned == NULL) {
            *owned = cJSON_CreateObject();
        }
        cJSON_AddItemToObject(*owned, keys[i], cJSON_Duplicate(v, 1));
    }
    return *owned;
}

static bool agrees(const struct verify_context *ctx, const cJSON *kase, const cJSON *want,
                   const cJSON *computed, char *reason, size_t reason_size)
{
    const char *binding = case_text(computed, "binding"), *named = case_text(want, "binding");
    double published = case_number(want, "published_throughput");
    double ratio = published / case_number(computed, "predicted_throughput");

    (void)ctx;
    (void)kase;
    if (named[0] != '\0' && strcmp(binding, named) != 0) {
        snprintf(reason, reason_size, "bound by %.20s, expected %.40s", binding, named);
        return false;
    }
    if (published > 0 && !(ratio >= 0.75 && ratio <= 1.35)) {
        snprintf(reason, reason_size, "published is %.3g of predicted, allowed are 0.75 to 1.35",
                 ratio);
        return false;
    }
    return true;
}

const struct verify_kind verify_input_pipeline = {
    .name = "input-pipeline",
    .matches = matches,
    .compute = compute,
    .expected = expected,
    .agrees = agrees,
};
