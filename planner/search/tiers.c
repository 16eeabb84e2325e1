/* What a storage tier can do for training. Figures: shared/docs/storage-throughput.md sections 2-5,
 * storage-tiers.md sections 1, 3, 4. */
#include "gputier/tier.h"
#include "search.h"
#include <math.h>
#include <string.h>

#define MIB 1048576.0

static const struct {
    const char *prefix;
    enum tier_class class;
} classes[] = {
    {"s3_", TIER_OBJECT},        {"azure_blob_", TIER_OBJECT},
    {"gcs_", TIER_OBJECT},       {"oss_", TIER_OBJECT},
    {"cos_", TIER_OBJECT},       {"obs_", TIER_OBJECT},
    {"oci_block", TIER_BLOCK},   {"oci_file", TIER_FILE},
    {"oci_", TIER_OBJECT},       {"r2_", TIER_OBJECT},
    {"b2", TIER_OBJECT},         {"wasabi", TIER_OBJECT},
    {"efs_", TIER_FILE},         {"fsx_", TIER_FILE},
    {"azure_files_", TIER_FILE}, {"gcp_filestore_", TIER_FILE},
    {"ebs_", TIER_BLOCK},        {"azure_disk_", TIER_BLOCK},
    {"gcp_pd_", TIER_BLOCK},     {"gcp_hyperdisk_", TIER_BLOCK},
    {"local_nvme", TIER_LOCAL},
};

enum tier_class tier_class_of(const char *tier)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(tier, classes[i].prefix, strlen(classes[i].prefix)) == 0) {
            return classes[i].class;
        }
    }
    return TIER_UNKNOWN;
}

static const struct {
    const char *vendor, *object, *block;
} defaults[] = {
    {"aws", "s3_standard", "ebs_gp3"},
    {"aws-cn", "s3_standard", "ebs_gp3"},
    {"azure", "azure_blob_hot_lrs", "azure_disk_premium"},
    {"gcp", "gcs_standard", "gcp_pd_balanced"},
    {"alibaba", "oss_standard", NULL},
    {"tencent", "cos_standard", NULL},
    {"huawei", "obs_standard", NULL},
    {"oci", "oci_standard", "oci_block"},
};

const char *tier_default_object(const char *vendor)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (strcmp(defaults[i].vendor, vendor) == 0) {
            return defaults[i].object;
        }
    }
    return NULL;
}

const char *tier_default_block(const char *vendor)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (strcmp(defaults[i].vendor, vendor) == 0) {
            return defaults[i].block;
        }
    }
    return NULL;
}

double tier_month_hours(const char *tier)
{
    const struct storage_rule *r = storage_rule_find(tier);
    return r != NULL && storage_terms(r->product)->month == MONTH_30_DAYS ? 720 : 730;
}

double tier_billed_bytes(const char *tier, double bytes, double files, double *hot_bytes,
                         const char **hot)
{
    const struct storage_rule *r = storage_rule_find(tier);
    *hot_bytes = 0;
    *hot = tier;
    if (r == NULL || r->volume) {
        return r == NULL ? bytes : storage_bought(r, bytes);
    }
    if (files <= 0) {
        return bytes;
    }
    const struct storage_rule *first = storage_rule_at(r->product, 0);
    double size = bytes / files;
    if (r->object_step > 0) {
        size = fmax(1, ceil(size / r->object_step)) * r->object_step;
    }
    size = fmax(size, r->min_bytes) + r->overhead_tier;
    if (r == first) {
        return files * (size + r->overhead_hot);
    }
    *hot_bytes = files * r->overhead_hot;
    *hot = first->tier;
    return files * size;
}

double tier_checkpoint_bps(const char *tier)
{
    switch (tier_class_of(tier)) {
    case TIER_OBJECT:
        return 500e6; /* several parts at once at 50 MB/s each */
    case TIER_FILE:
        return 100 * MIB;
    case TIER_BLOCK:
        return 125 * MIB; /* what gp3 includes */
    default:
        return 250e6;
    }
}
