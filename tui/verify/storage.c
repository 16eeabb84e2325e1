/* Worked storage cases (shared/oracles/storage-examples.md): one table row per calculation family;
 * the calculation itself lives in planner/storage and pricing/inventory. */
#include "storage_in.h"
#include "verify.h"
#include <string.h>

static const struct {
    const char *kind;
    storage_family *compute;
} families[] = {
    {"object-storage", storage_objects},
    {"small-objects", storage_objects},
    {"early-delete", storage_objects},
    {"volume-tier", storage_volume},
    {"versioning", storage_volume},
    {"retrieval", storage_retrieval},
    {"auto-tiering", storage_auto},
    {"block", storage_block},
    {"snapshot-archive", storage_snapshot_archive},
    {"managed-disk", storage_managed_disk},
    {"file", storage_file},
    {"azure-blob", storage_azure},
    {"gcs", storage_gcs},
    {"r2", storage_r2},
    {"oss", storage_oss},
    {"wasabi", storage_wasabi},
    {"load-time", storage_load_time},
    {"break-even", storage_break_even},
    {"path-optimum", storage_path},
    {"joint-optimum", storage_joint},
    {"online-bound", storage_online},
    {"savings-target", storage_savings},
    {"lifecycle-validate", storage_lifecycle_validate},
    {"lifecycle-effect", storage_lifecycle_effect},
    {"import-histogram", storage_import},
};

static const char *text_of(const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static storage_family *family_of(const cJSON *kase)
{
    const char *kind = text_of(kase, "kind");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].kind, kind) == 0) {
            return families[i].compute;
        }
    }
    return NULL;
}

/* By format, or by shape: a known kind with an inputs object. */
static bool matches(const cJSON *file, const cJSON *kase)
{
    bool inputs = cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(kase, "inputs"));
    return strncmp(text_of(file, "format"), "storage-cases/", 14) == 0 ||
           (inputs && family_of(kase));
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    (void)ctx;
    storage_family *family = family_of(kase);
    if (!family) {
        return gt_fail(err, GT_EUNSUPPORTED, "kind", "no calculation named '%.60s'",
                       text_of(kase, "kind"));
    }
    const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(kase, "inputs");
    if (!cJSON_IsObject(inputs)) {
        return gt_fail(err, GT_EPARSE, "inputs", "an object is needed");
    }
    struct storage_in in = {.arena = arena_new(0), .err = err};
    if (!in.arena) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = family(&in, inputs, computed);
    arena_free(in.arena);
    return rc;
}

static const cJSON *expected(const cJSON *kase, cJSON **owned)
{
    *owned = NULL;
    const cJSON *e = cJSON_GetObjectItemCaseSensitive(kase, "expected");
    e = e ? e : cJSON_GetObjectItemCaseSensitive(kase, "expect");
    return cJSON_IsObject(e) ? e : NULL;
}

/* A path is compared only when it is the one optimum; `unique` itself is a remark on the case. */
static bool agrees(const struct verify_context *ctx, const cJSON *kase, const cJSON *want,
                   const cJSON *computed, char *reason, size_t reason_size)
{
    cJSON *copy = cJSON_Duplicate(want, true);
    if (!copy) {
        return false;
    }
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(copy, "unique"))) {
        cJSON_DeleteItemFromObjectCaseSensitive(copy, "path");
    }
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "unique");
    bool ok = verify_values_agree(ctx, kase, copy, computed, reason, reason_size);
    cJSON_Delete(copy);
    return ok;
}

const struct verify_kind verify_storage = {
    .name = "storage",
    .matches = matches,
    .compute = compute,
    .expected = expected,
    .agrees = agrees,
};
