/* Options of `tier` that say whose tiers, for how long, and what is known of the reads to come. */
#ifndef GPUTIER_TIER_ARGS_H
#define GPUTIER_TIER_ARGS_H
#include "cli.h"
#include "gputier/tier.h"

#define TIER_CLI_OPTIONS                                                                           \
    {"horizon", 0, OPT_VALUE, "DURATION",                                                          \
     "how long the data are kept, in months or longer (36mo)"},                                    \
        {"vendor", 0, OPT_VALUE, "VENDOR", "whose tiers (aws, or the one of --from)"},             \
        {"region", 0, OPT_VALUE, "REGION", "where, e.g. us-east-1 or aws/us-east-1"},              \
        {"from", 0, OPT_VALUE, "TIER",                                                             \
         "where the data live when the input does not say: a tier, or a product: s3, efs, ebs, "   \
         "azure_blob_lrs, azure_blob_zrs, azure_blob_grs, gcs, oci, r2, wasabi, b2, oss, cos, "    \
         "obs"},                                                                                   \
        {"max-wait", 0, OPT_VALUE, "DURATION",                                                     \
         "longest acceptable wait for the first byte (any)"},                                      \
        {"forecast", 0, OPT_VALUE, "HOW",                                                          \
         "reads to come: constant, half-life:DURATION, hazard:PERCENT (never read again, a "       \
         "month), or a CSV file month,factor (constant)"},                                         \
        {"account-created", 0, OPT_VALUE, "DATE",                                                  \
         "Azure: accounts from 2026-07-01 on bill 128 KiB at least in Cool, Cold and Archive"},    \
    {                                                                                              \
        "rules", 0, OPT_VALUE, "N", "most rules of the lifecycle policy (10)"                      \
    }

struct tier_request {
    struct tier_options o;
    enum storage_product product;
    char region[128];
    double *forecast; /* what o.forecast points to */
};
/* tier_request_release afterwards, whatever it returns. */
int tier_request_read(const struct app *app, const struct cli_args *args, struct tier_request *r,
                      struct gt_error *err) GT_CHECK;
void tier_request_release(struct tier_request *r);

#endif
