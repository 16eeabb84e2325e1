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
         "where the data live when the input does not say: a tier, or a product: s3, efs, gcs, "   \
         "azure_blob_lrs, azure_blob_zrs, azure_blob_grs, oci, r2, wasabi, b2, oss, cos, obs; "    \
         "volumes and file systems: ebs, fsx_lustre, azure_disk, azure_files_lrs (zrs, grs, "      \
         "gzrs, premium_lrs, premium_zrs), gcp_disk, gcp_filestore, oci_block, oci_file"},         \
        {"max-wait", 0, OPT_LIST, "DURATION[@PREFIX]",                                             \
         "longest acceptable wait for the first byte, of everything or of a prefix (any)"},        \
        {"throughput", 0, OPT_LIST, "SIZE/s[@PREFIX]",                                             \
         "speed that each group must be read at where it lies (any)"},                             \
        {"budget", 0, OPT_LIST, "MONEY[/mo]",                                                      \
         "most that everything may cost, over the horizon or (/mo) in any month"},                 \
        {"capacity", 0, OPT_LIST, "TIER=SIZE", "most bytes in a tier in any month"},               \
        {"robust", 0, OPT_VALUE, "FACTOR[:PERCENT%]",                                              \
         "also if reads are FACTOR times the forecast, cost at most 10 % (or PERCENT) more than "  \
         "the cheapest plan for that"},                                                            \
        {"forecast", 0, OPT_VALUE, "HOW",                                                          \
         "reads to come: constant, half-life:DURATION, hazard:PERCENT (never read again, a "       \
         "month), or a CSV file month,factor (constant)"},                                         \
        {"account-created", 0, OPT_VALUE, "DATE",                                                  \
         "Azure: accounts from 2026-07-01 on bill 128 KiB at least in Cool, Cold and Archive"},    \
    {                                                                                              \
        "rules", 0, OPT_VALUE, "N", "most rules of the lifecycle policy (10)"                      \
    }

#define TIER_BOUNDS 32
struct tier_request {
    struct tier_options o;
    struct tier_limits limits; /* what o.limits, o.need point to */
    struct tier_capacity capacity[TIER_BOUNDS];
    struct tier_need need[TIER_BOUNDS];
    char currency[4];
    enum storage_product product;
    char region[128];
    double *forecast; /* what o.forecast points to */
};
/* tier_request_release afterwards, whatever it returns. */
int tier_request_read(const struct app *app, const struct cli_args *args, struct tier_request *r,
                      struct gt_error *err) GT_CHECK;
/* --max-wait, --throughput, --budget, --capacity, --robust (tier_bounds.c). */
int tier_bounds_read(const struct cli_args *args, struct tier_request *r,
                     struct gt_error *err) GT_CHECK;
void tier_request_release(struct tier_request *r);

#endif
