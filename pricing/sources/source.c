/* The table of price sources. A new one is a file that defines its record, and a line here. */
#include "source.h"
#include <string.h>

/* clang-format off */
static const struct source_def *const sources[] = {
    &source_alibaba,
    &source_aws_capacity_block,
    &source_aws_offer,
    &source_aws_savings_plan,
    &source_aws_spot_advisor,
    &source_aws_spot_history,
    &source_aws_spot_price,
    &source_azure_retail,
    &source_coreweave,
    &source_cudo,
    &source_digitalocean,
    &source_ecb_fx,
    &source_fluidstack,
    &source_gcp_skus,
    &source_gpuhunt,
    &source_huawei,
    &source_hyperstack,
    &source_jarvislabs,
    &source_lambda,
    &source_nebius,
    &source_oci,
    &source_runpod,
    &source_skypilot,
    &source_tencent,
    &source_vast,
    &source_verda,
    &source_vultr,
    &source_prices_csv,
};
/* clang-format on */

const struct source_def *source_at(size_t i)
{
    return i < sizeof sources / sizeof *sources ? sources[i] : NULL;
}

const struct source_def *source_find(const char *id)
{
    for (size_t i = 0; id && i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i]->id, id) == 0) {
            return sources[i];
        }
    }
    return NULL;
}
