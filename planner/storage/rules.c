/* Vendor rules of storage tiers as data (storage-tiers.md, rule codes in the last column). Prices
 * come from the catalog; nothing here is a price. */
#include "rules.h"
#include "gputier/units.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { S_STD, S_IA, S_IT, S_ZIA, S_GIR, S_GFR, S_GDA, S_EXPRESS };

/* One tier of AWS: its archives ask for a restore, which is paid and leaves a copy (R-S3-17, 18).
 */
#define RULE(name_, p, class_, days, least, own, hot, age, wait, archive_, zone, down_, rule_)     \
    {                                                                                              \
        .tier = name_, .product = p, .class_name = class_, .min_days = days, .min_bytes = least,   \
        .overhead_tier = own, .overhead_hot = hot, .min_age_days = age, .latency_s = wait,         \
        .archive = archive_, .single_zone = zone, .down = down_, .rule = rule_,                    \
        .restore_fee = archive_, .restore_copy = archive_,                                         \
        .object_step = (p) == PRODUCT_EFS ? 4096 : 0                                               \
    }

/* S3 (R-S3-04 … R-S3-16). Latency: first byte, for the archives the standard retrieval. */
static const struct storage_rule s3[] = {
    [S_STD] =
        RULE("s3_standard", PRODUCT_S3, "STANDARD", 0, 0, 0, 0, 0, 0.1, false, false,
             BIT(S_IA) | BIT(S_IT) | BIT(S_ZIA) | BIT(S_GIR) | BIT(S_GFR) | BIT(S_GDA), "R-S3-01"),
    [S_IA] = RULE("s3_standard_ia", PRODUCT_S3, "STANDARD_IA", 30, 131072, 0, 0, 30, 0.1, false,
                  false, BIT(S_IT) | BIT(S_ZIA) | BIT(S_GIR) | BIT(S_GFR) | BIT(S_GDA), "R-S3-06"),
    [S_IT] = {.tier = "s3_intelligent_tiering",
              .product = PRODUCT_S3,
              .class_name = "INTELLIGENT_TIERING",
              .latency_s = 0.1,
              .automatic = true,
              .price = {"s3_intelligent_tiering", "storage_frequent"},
              .step = {{1, "s3_intelligent_tiering", "storage_infrequent"},
                       {3, "s3_intelligent_tiering", "storage_archive_instant"}},
              .down = BIT(S_ZIA) | BIT(S_GIR) | BIT(S_GFR) | BIT(S_GDA),
              .rule = "R-S3-05"},
    [S_ZIA] = RULE("s3_onezone_ia", PRODUCT_S3, "ONEZONE_IA", 30, 131072, 0, 0, 30, 0.1, false,
                   true, BIT(S_GFR) | BIT(S_GDA), "R-S3-07"),
    [S_GIR] = RULE("s3_glacier_ir", PRODUCT_S3, "GLACIER_IR", 90, 131072, 0, 0, 0, 0.1, false,
                   false, BIT(S_GFR) | BIT(S_GDA), "R-S3-09"),
    [S_GFR] = RULE("s3_glacier_flexible", PRODUCT_S3, "GLACIER", 90, 0, 32768, 8192, 0, 18000, true,
                   false, BIT(S_GDA), "R-S3-11"),
    [S_GDA] = RULE("s3_deep_archive", PRODUCT_S3, "DEEP_ARCHIVE", 180, 0, 32768, 8192, 0, 43200,
                   true, false, 0, "R-S3-12"),
    [S_EXPRESS] = RULE("s3_express", PRODUCT_S3, "EXPRESS_ONEZONE", 0, 0, 0, 0, 0, 0.005, false,
                       true, 0, "R-S3-14"),
};

/* EFS (R-EFS-02, R-EFS-03): sizes step by 4 KiB, 2 KiB of metadata always at the Standard rate. */
enum { E_STD, E_IA, E_ARCHIVE };
static const struct storage_rule efs[] = {
    [E_STD] = RULE("efs_standard", PRODUCT_EFS, "STANDARD", 0, 0, 0, 2048, 0, 0.003, false, false,
                   BIT(E_IA) | BIT(E_ARCHIVE), "R-EFS-02"),
    [E_IA] = RULE("efs_ia", PRODUCT_EFS, "IA", 0, 131072, 0, 2048, 1, 0.03, false, false,
                  BIT(E_ARCHIVE), "R-EFS-03"),
    [E_ARCHIVE] = RULE("efs_archive", PRODUCT_EFS, "ARCHIVE", 90, 131072, 0, 2048, 1, 0.03, false,
                       false, 0, "R-EFS-03"),
};

/* Azure Blob (R-AZ-01 … R-AZ-11), one product a redundancy; Archive only where it exists. Lifecycle
 * moves down; up is Set Blob Tier. Cool, Cold and Archive bill 128 KiB at least from R-AZ-11 on. */
#define AZURE(p, red, name_, days, latency, archive_, down_, rule_)                                \
    {                                                                                              \
        .tier = "azure_blob_" name_ "_" red, .product = p, .class_name = name_, .min_days = days,  \
        .latency_s = latency, .archive = archive_, .restore_copy = archive_,                       \
        .later_min_bytes = (days) > 0 ? 131072 : 0, .down = down_, .rule = rule_                   \
    }
#define AZURE_ONLINE(p, red, coldest)                                                              \
    AZURE(p, red, "hot", 0, 0.05, false, BIT(1) | BIT(2) | (coldest), "R-AZ-01"),                  \
        AZURE(p, red, "cool", 30, 0.05, false, BIT(2) | (coldest), "R-AZ-03"),                     \
        AZURE(p, red, "cold", 90, 0.05, false, coldest, "R-AZ-03")
static const struct storage_rule azure_lrs[] = {
    AZURE_ONLINE(PRODUCT_AZURE_LRS, "lrs", BIT(3)),
    AZURE(PRODUCT_AZURE_LRS, "lrs", "archive", 180, 54000, true, 0, "R-AZ-04"),
};
static const struct storage_rule azure_zrs[] = {AZURE_ONLINE(PRODUCT_AZURE_ZRS, "zrs", 0)};
static const struct storage_rule azure_grs[] = {
    AZURE_ONLINE(PRODUCT_AZURE_GRS, "grs", BIT(3)),
    AZURE(PRODUCT_AZURE_GRS, "grs", "archive", 180, 54000, true, 0, "R-AZ-04"),
};

/* GCS (R-GCS-01 … R-GCS-07): time served in the warmer class counts, lifecycle moves are free of
 * early deletion, every class answers at once. */
#define GCS(name_, class_, days, down_)                                                            \
    {                                                                                              \
        .tier = "gcs_" name_, .product = PRODUCT_GCS, .class_name = class_, .min_days = days,      \
        .latency_s = 0.05, .down = down_, .from_creation = (days) > 0,                             \
        .rule = (days) > 0 ? "R-GCS-03" : "R-GCS-01"                                               \
    }
static const struct storage_rule gcs[] = {
    GCS("standard", "STANDARD", 0, BIT(1) | BIT(2) | BIT(3)),
    GCS("nearline", "NEARLINE", 30, BIT(2) | BIT(3)),
    GCS("coldline", "COLDLINE", 90, BIT(3)),
    GCS("archive", "ARCHIVE", 365, 0),
    /* R-GCS-08, with Archive as the last class: idle 30, 90 and 365 days. */
    {.tier = "gcs_autoclass",
     .product = PRODUCT_GCS,
     .class_name = "AUTOCLASS",
     .latency_s = 0.05,
     .automatic = true,
     .whole_bucket = true,
     .step = {{1, "gcs_nearline", "storage"},
              {3, "gcs_coldline", "storage"},
              {13, "gcs_archive", "storage"}},
     .rule = "R-GCS-08"},
};

/* OCI (R-OCI-01): what is in Archive cannot be re-tiered in place, only restored and copied; that
 * takes an hour at most (oracle.com/cloud/storage/archive-storage/faq). */
static const struct storage_rule oci[] = {
    {.tier = "oci_standard",
     .product = PRODUCT_OCI,
     .class_name = "Standard",
     .latency_s = 0.1,
     .down = BIT(1) | BIT(2),
     .rule = "R-OCI-01"},
    {.tier = "oci_ia",
     .product = PRODUCT_OCI,
     .class_name = "InfrequentAccess",
     .min_days = 31,
     .latency_s = 0.1,
     .down = BIT(2),
     .rule = "R-OCI-01"},
    {.tier = "oci_archive",
     .product = PRODUCT_OCI,
     .class_name = "Archive",
     .min_days = 90,
     .latency_s = 3600,
     .archive = true,
     .restore_copy = true,
     .rule = "R-OCI-01"},
};

static const struct storage_rule r2[] = {
    {.tier = "r2_standard",
     .product = PRODUCT_R2,
     .class_name = "Standard",
     .latency_s = 0.1,
     .down = BIT(1),
     .rule = "R-R2-01"},
    {.tier = "r2_ia",
     .product = PRODUCT_R2,
     .class_name = "InfrequentAccess",
     .min_days = 30,
     .latency_s = 0.1,
     .rule = "R-R2-02"},
};
static const struct storage_rule wasabi[] = {{.tier = "wasabi",
                                              .product = PRODUCT_WASABI,
                                              .class_name = "STANDARD",
                                              .min_days = 90,
                                              .min_bytes = 4096,
                                              .latency_s = 0.1,
                                              .rule = "R-WAS-01"}};
static const struct storage_rule b2[] = {{.tier = "b2",
                                          .product = PRODUCT_B2,
                                          .class_name = "STANDARD",
                                          .latency_s = 0.1,
                                          .rule = "storage-tiers.md section 7"}};

/* Alibaba OSS (R-OSS-01): a transition is a write at the price of the class left; the minimum of IA
 * and Archive counts from the last change of the object, that of the colder ones from the move.
 * Only the colder ones charge a restored copy as Standard and each restore as a request. Waits of
 * the standard restore: help.aliyun.com/en/oss/user-guide/restore-objects-for-access. */
#define OSS(name_, class_, days, wait, down_, ...)                                                 \
    {                                                                                              \
        .tier = "oss_" name_, .product = PRODUCT_OSS, .class_name = class_, .min_days = days,      \
        .min_bytes = (days) > 0 ? 65536 : 0, .latency_s = wait, .archive = (wait) > 1,             \
        .down = down_, .rule = "R-OSS-01", __VA_ARGS__                                             \
    }
static const struct storage_rule oss[] = {
    OSS("standard", "Standard", 0, 0.1, BIT(1) | BIT(2) | BIT(3) | BIT(4), .from_creation = false),
    OSS("ia", "IA", 30, 0.1, BIT(2) | BIT(3) | BIT(4), .from_creation = true),
    OSS("archive", "Archive", 60, 60, BIT(3) | BIT(4), .from_creation = true),
    OSS("cold_archive", "ColdArchive", 180, 18000, BIT(4), .restore_fee = true,
        .restore_copy = true),
    OSS("deep_cold_archive", "DeepColdArchive", 180, 172800, 0, .restore_fee = true,
        .restore_copy = true),
};

/* Tencent COS (R-COS-01). Waits of the standard restore:
 * tencentcloud.com/document/product/436/30933.
 */
#define COS(name_, class_, days, wait, down_)                                                      \
    {                                                                                              \
        .tier = "cos_" name_, .product = PRODUCT_COS, .class_name = class_, .min_days = days,      \
        .min_bytes = (days) > 0 ? 65536 : 0, .latency_s = wait, .archive = (wait) > 1,             \
        .restore_copy = (wait) > 1, .down = down_, .rule = "R-COS-01"                              \
    }
static const struct storage_rule tencent_cos[] = {
    COS("standard", "STANDARD", 0, 0.1, BIT(1) | BIT(2) | BIT(3)),
    COS("standard_ia", "STANDARD_IA", 30, 0.1, BIT(2) | BIT(3)),
    COS("archive", "ARCHIVE", 90, 18000, BIT(3)),
    COS("deep_archive", "DEEP_ARCHIVE", 180, 86400, 0),
};

/* Huawei OBS: 64 KB at least in every class, a transition is a write of the class moved to
 * (support.huaweicloud.com/intl/en-us/price-obs, obs_42_0009 and obs_42_0016, 2026-02-24). Waits of
 * the standard restore: usermanual-obs, obs_03_0320. */
#define OBS(name_, class_, days, wait, down_)                                                      \
    {                                                                                              \
        .tier = "obs_" name_, .product = PRODUCT_OBS, .class_name = class_, .min_days = days,      \
        .min_bytes = 65536, .latency_s = wait, .archive = (wait) > 1, .restore_copy = (wait) > 1,  \
        .down = down_, .rule = "price-obs, obs_42_0009"                                            \
    }
static const struct storage_rule obs[] = {
    OBS("standard", "STANDARD", 0, 0.1, BIT(1) | BIT(2) | BIT(3)),
    OBS("warm", "WARM", 30, 0.1, BIT(2) | BIT(3)),
    OBS("cold", "COLD", 90, 18000, BIT(3)),
    OBS("deep_archive", "DEEP_ARCHIVE", 180, 43200, 0),
};

#define TABLE(t)  .rule = (t), .n = sizeof(t) / sizeof *(t)
#define FREE_NOTE "free allowances of the account are not counted"
static const struct product_rules products[PRODUCT_FIRST_VOLUME] = {
    [PRODUCT_S3] = {TABLE(s3), .terms = {.name = "s3",
                                         .vendor = "aws",
                                         .region = "us-east-1",
                                         .title = "S3",
                                         .lifecycle = LIFECYCLE_S3}},
    [PRODUCT_EFS] = {TABLE(efs), .terms = {.name = "efs",
                                           .vendor = "aws",
                                           .region = "us-east-1",
                                           .title = "EFS",
                                           .up = UP_IN_PLACE,
                                           .lifecycle = LIFECYCLE_EFS}},
#define AZURE_TERMS(red)                                                                           \
    {                                                                                              \
        .name = "azure_blob_" red, .vendor = "azure", .region = "eastus",                          \
        .title = "Azure Blob (" red ")", .up = UP_SET_TIER, .lifecycle = LIFECYCLE_AZURE           \
    }
    [PRODUCT_AZURE_LRS] = {TABLE(azure_lrs), .terms = AZURE_TERMS("lrs")},
    [PRODUCT_AZURE_ZRS] = {TABLE(azure_zrs), .terms = AZURE_TERMS("zrs")},
    [PRODUCT_AZURE_GRS] = {TABLE(azure_grs), .terms = AZURE_TERMS("grs")},
    [PRODUCT_GCS] = {TABLE(gcs),
                     .terms = {.name = "gcs",
                               .vendor = "gcp",
                               .region = "us-central1",
                               .title = "Cloud Storage",
                               .early_free = true,
                               .month = MONTH_730_HOURS,
                               .lifecycle = LIFECYCLE_GCS,
                               .note = "gcs_autoclass is a bucket with Autoclass whose last class "
                                       "is Archive: data are copied into it and stay (idle for 30, "
                                       "90, 365 days: Nearline, Coldline, Archive, unverified)"}},
    [PRODUCT_OCI] = {TABLE(oci), .terms = {.name = "oci",
                                           .vendor = "oci",
                                           .region = "us-ashburn-1",
                                           .title = "OCI Object Storage",
                                           .fee = FEE_TARGET_PUT,
                                           .one_request_price = true,
                                           .note = FREE_NOTE}},
    [PRODUCT_R2] = {TABLE(r2),
                    .terms = {.name = "r2",
                              .vendor = "cloudflare",
                              .region = "*",
                              .title = "R2",
                              .month = MONTH_30_DAYS,
                              .note = FREE_NOTE "; each month's GB and millions of requests are "
                                                "rounded up by the vendor, not here"}},
    [PRODUCT_WASABI] = {TABLE(wasabi), .terms = {.name = "wasabi",
                                                 .vendor = "wasabi",
                                                 .region = "*",
                                                 .title = "Wasabi",
                                                 .month = MONTH_30_DAYS,
                                                 .min_account_bytes = 1ULL << 40}},
    [PRODUCT_B2] = {TABLE(b2), .terms = {.name = "b2",
                                         .vendor = "backblaze",
                                         .region = "*",
                                         .title = "Backblaze B2",
                                         .note = FREE_NOTE}},
    [PRODUCT_OSS] = {TABLE(oss), .terms = {.name = "oss",
                                           .vendor = "alibaba",
                                           .region = "cn-hangzhou",
                                           .title = "OSS",
                                           .fee = FEE_SOURCE_PUT}},
    [PRODUCT_COS] = {TABLE(tencent_cos),
                     .terms = {.name = "cos",
                               .vendor = "tencent",
                               .region = "ap-guangzhou",
                               .title = "COS",
                               .fee = FEE_TARGET_PUT,
                               .note = "COS: the minimum times of the archive classes and the fee "
                                       "of a transition are not verified"}},
    [PRODUCT_OBS] = {TABLE(obs), .terms = {.name = "obs",
                                           .vendor = "huawei",
                                           .region = "cn-north-4",
                                           .title = "OBS",
                                           .fee = FEE_TARGET_PUT}},
};

static const struct product_rules *rules_of(enum storage_product p)
{
    return p < PRODUCT_FIRST_VOLUME ? &products[p] : volume_product(p);
}

const struct storage_rule *storage_rule_at(enum storage_product p, int i)
{
    return p < PRODUCT_COUNT && i >= 0 && i < rules_of(p)->n ? &rules_of(p)->rule[i] : NULL;
}

const struct storage_terms *storage_terms(enum storage_product p)
{
    return p < PRODUCT_COUNT ? &rules_of(p)->terms : NULL;
}

int storage_product_find(const char *name)
{
    for (int p = 0; name && p < PRODUCT_COUNT; p++) {
        if (strcmp(rules_of((enum storage_product)p)->terms.name, name) == 0) {
            return p;
        }
    }
    return -1;
}

const struct storage_rule *storage_rule_in(enum storage_product p, const char *name)
{
    const struct storage_rule *r;
    for (int i = 0; name && (r = storage_rule_at(p, i)) != NULL; i++) {
        if (strcmp(r->tier, name) == 0 || strcasecmp(r->class_name, name) == 0) {
            return r;
        }
    }
    return NULL;
}

const struct storage_rule *storage_rule_find(const char *name)
{
    for (int p = 0; name && p < PRODUCT_COUNT; p++) {
        const struct product_rules *all = rules_of((enum storage_product)p);
        for (int i = 0; i < all->n; i++) {
            if (strcmp(all->rule[i].tier, name) == 0) {
                return &all->rule[i];
            }
        }
    }
    return storage_rule_in(PRODUCT_S3, name);
}

gt_u128 storage_whole(gt_u128 bytes, uint64_t least, uint64_t step)
{
    if (bytes > least && step > 0) {
        bytes = (bytes + step - 1) / step * step;
    }
    return bytes > least ? bytes : least;
}

double storage_bought(const struct storage_rule *r, double bytes)
{
    if (!r->volume || !(bytes > 0 && bytes < 1e30)) {
        return bytes;
    }
    const struct storage_terms *t = storage_terms(r->product);
    gt_u128 whole = storage_whole((gt_u128)bytes, r->least_bytes, r->step_bytes);
    return (double)storage_whole(whole, t->min_account_bytes, t->account_step);
}

double storage_bps(const struct storage_rule *r, double bytes)
{
    const struct storage_speed *s = &r->speed;
    double gib = storage_bought(r, bytes) / GT_GIB;
    if (s->large_gib > 0 && gib > s->large_gib) {
        return s->large;
    }
    double bps = s->base + s->per_gib * gib;
    return s->most > 0 && bps > s->most ? s->most : bps;
}

double storage_read_bps(const struct storage_rule *r, uint64_t objects, uint64_t bytes)
{
    static const double earned = 150.0 / 1024; /* MiB/s a GiB */
    if (r->archive || r->unmounted) {
        return 0;
    }
    if (r->product == PRODUCT_EFS) { /* bursting, as nothing else is billed: R-EFS-04, R-EFS-05 */
        double base = r == storage_rule_at(PRODUCT_EFS, 0) ? earned * (double)bytes : 0;
        return fmax(base / 1024, 3 * 1048576.0);
    }
    double bps = storage_bps(r, (double)bytes);
    if (bps > 0 || r->volume) {
        return bps;
    }
    return objects > 0 ? STORAGE_GETS_PER_S * (double)bytes / (double)objects : 0;
}
