/* Vendor rules of storage tiers as data (storage-tiers.md, rule codes in the last column). Prices
 * come from the catalog; nothing here is a price. */
#include "gputier/tier.h"
#include <string.h>

#define BIT(i) (1u << (i))
enum { S_STD, S_IA, S_IT, S_ZIA, S_GIR, S_GFR, S_GDA, S_EXPRESS };

/* S3 (R-S3-04 … R-S3-16). Latency: first byte, for the archives the standard retrieval. */
static const struct storage_rule s3[] = {
    [S_STD] = {"s3_standard", PRODUCT_S3, "STANDARD", 0, 0, 0, 0, 0, 0.1, false, false, false,
               BIT(S_IA) | BIT(S_IT) | BIT(S_ZIA) | BIT(S_GIR) | BIT(S_GFR) | BIT(S_GDA),
               "R-S3-01"},
    [S_IA] = {"s3_standard_ia", PRODUCT_S3, "STANDARD_IA", 30, 131072, 0, 0, 30, 0.1, false, false,
              false, BIT(S_IT) | BIT(S_ZIA) | BIT(S_GIR) | BIT(S_GFR) | BIT(S_GDA), "R-S3-06"},
    [S_IT] = {"s3_intelligent_tiering", PRODUCT_S3, "INTELLIGENT_TIERING", 0, 0, 0, 0, 0, 0.1,
              false, false, true, BIT(S_ZIA) | BIT(S_GIR) | BIT(S_GFR) | BIT(S_GDA), "R-S3-05"},
    [S_ZIA] = {"s3_onezone_ia", PRODUCT_S3, "ONEZONE_IA", 30, 131072, 0, 0, 30, 0.1, false, true,
               false, BIT(S_GFR) | BIT(S_GDA), "R-S3-07"},
    [S_GIR] = {"s3_glacier_ir", PRODUCT_S3, "GLACIER_IR", 90, 131072, 0, 0, 0, 0.1, false, false,
               false, BIT(S_GFR) | BIT(S_GDA), "R-S3-09"},
    [S_GFR] = {"s3_glacier_flexible", PRODUCT_S3, "GLACIER", 90, 0, 32768, 8192, 0, 18000, true,
               false, false, BIT(S_GDA), "R-S3-11"},
    [S_GDA] = {"s3_deep_archive", PRODUCT_S3, "DEEP_ARCHIVE", 180, 0, 32768, 8192, 0, 43200, true,
               false, false, 0, "R-S3-12"},
    [S_EXPRESS] = {"s3_express", PRODUCT_S3, "EXPRESS_ONEZONE", 0, 0, 0, 0, 0, 0.005, false, true,
                   false, 0, "R-S3-14"},
};

/* EFS (R-EFS-02, R-EFS-03): sizes step by 4 KiB, 2 KiB of metadata always at the Standard rate. */
enum { E_STD, E_IA, E_ARCHIVE };
static const struct storage_rule efs[] = {
    [E_STD] = {"efs_standard", PRODUCT_EFS, "STANDARD", 0, 0, 0, 2048, 0, 0.003, false, false,
               false, BIT(E_IA) | BIT(E_ARCHIVE), "R-EFS-02"},
    [E_IA] = {"efs_ia", PRODUCT_EFS, "IA", 0, 131072, 0, 2048, 1, 0.03, false, false, false,
              BIT(E_ARCHIVE), "R-EFS-03"},
    [E_ARCHIVE] = {"efs_archive", PRODUCT_EFS, "ARCHIVE", 90, 131072, 0, 2048, 1, 0.03, false,
                   false, false, 0, "R-EFS-03"},
};

/* EBS (R-EBS-01 …): a volume changes its type in place, in any direction, without a fee. */
#define EBS_ANY 0x3fu
static const struct storage_rule ebs[] = {
    {"ebs_gp3", PRODUCT_EBS, "gp3", 0, 0, 0, 0, 0, 0.001, false, false, false, EBS_ANY, "R-EBS-03"},
    {"ebs_gp2", PRODUCT_EBS, "gp2", 0, 0, 0, 0, 0, 0.001, false, false, false, EBS_ANY, "R-EBS-01"},
    {"ebs_io1", PRODUCT_EBS, "io1", 0, 0, 0, 0, 0, 0.001, false, false, false, EBS_ANY, "R-EBS-04"},
    {"ebs_io2", PRODUCT_EBS, "io2", 0, 0, 0, 0, 0, 0.0005, false, false, false, EBS_ANY,
     "R-EBS-05"},
    {"ebs_st1", PRODUCT_EBS, "st1", 0, 0, 0, 0, 0, 0.01, false, false, false, EBS_ANY, "R-EBS-06"},
    {"ebs_sc1", PRODUCT_EBS, "sc1", 0, 0, 0, 0, 0, 0.02, false, false, false, EBS_ANY, "R-EBS-07"},
};

static const struct {
    const struct storage_rule *at;
    int n;
} products[PRODUCT_COUNT] = {
    [PRODUCT_S3] = {s3, sizeof s3 / sizeof *s3},
    [PRODUCT_EFS] = {efs, sizeof efs / sizeof *efs},
    [PRODUCT_EBS] = {ebs, sizeof ebs / sizeof *ebs},
};

const struct storage_rule *storage_rule_at(enum storage_product p, int i)
{
    return p < PRODUCT_COUNT && i >= 0 && i < products[p].n ? &products[p].at[i] : NULL;
}

const struct storage_rule *storage_rule_find(const char *name)
{
    for (int p = 0; name && p < PRODUCT_COUNT; p++) {
        for (int i = 0; i < products[p].n; i++) {
            const struct storage_rule *r = &products[p].at[i];
            if (strcmp(r->tier, name) == 0) {
                return r;
            }
        }
    }
    for (int i = 0; name && i < products[PRODUCT_S3].n; i++) {
        if (strcmp(s3[i].class_name, name) == 0) {
            return &s3[i];
        }
    }
    return NULL;
}
