/* Memory-fit cases: does a training job fit one GPU. Between 90 and 105 % of what is usable the
 * prediction is "tight" and either answer counts as right (product.md section 9). */
#include "model_case.h"
#include <math.h>
#include <stdio.h>

#define GIB (1024.0 * 1024 * 1024)

static bool matches(const cJSON *file, const cJSON *kase)
{
    return case_format(file, "memory-fit/") ||
           (cJSON_HasObjectItem(kase, "micro_batch") && cJSON_HasObjectItem(kase, "usable_gib"));
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    struct model_case c;
    struct model_memory m;
    double usable = case_number(kase, "usable_gib") * GIB;
    int rc = model_case_read(ctx, kase, &c, err);

    if (rc != 0 || (rc = model_memory(&c.job, &m, err)) != 0) {
        return rc;
    }
    if (!(usable > 0)) {
        usable = m.usable_bytes;
    }
    if (!cJSON_AddBoolToObject(computed, "fits", m.peak_bytes <= usable) ||
        !cJSON_AddNumberToObject(computed, "peak_gb_per_gpu", m.peak_bytes / 1e9) ||
        !cJSON_AddBoolToObject(computed, "tight",
                               m.peak_bytes >= 0.90 * usable && m.peak_bytes <= 1.05 * usable)) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    case_remark(err, c.remark);
    return 0;
}

static const cJSON *expected(const cJSON *kase, cJSON **owned)
{
    const cJSON *fits = cJSON_GetObjectItemCaseSensitive(kase, "fits");
    double peak = case_number(kase, "reported_peak_gb_per_gpu");

    if (!cJSON_IsBool(fits)) {
        return NULL;
    }
    *owned = cJSON_CreateObject();
    cJSON_AddBoolToObject(*owned, "fits", cJSON_IsTrue(fits));
    if (peak > 0) {
        cJSON_AddNumberToObject(*owned, "reported_peak_gb_per_gpu", peak);
    } else {
        cJSON_AddNullToObject(*owned, "reported_peak_gb_per_gpu");
    }
    return *owned;
}

static bool agrees(const struct verify_context *ctx, const cJSON *kase, const cJSON *want,
                   const cJSON *computed, char *reason, size_t reason_size)
{
    bool fits = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(computed, "fits"));
    bool reported = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(want, "fits"));

    (void)ctx;
    (void)kase;
    if (fits == reported || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(computed, "tight"))) {
        return true;
    }
    snprintf(reason, reason_size, "predicted %.3g GB per GPU %s, the report says it %s",
             case_number(computed, "peak_gb_per_gpu"), fits ? "fits" : "does not fit",
             reported ? "fits" : "does not");
    return false;
}

const struct verify_kind verify_memory_fit = {
    .name = "memory-fit",
    .matches = matches,
    .compute = compute,
    .expected = expected,
    .agrees = agrees,
    .needs_catalog = true,
    .statistics = true,
};
