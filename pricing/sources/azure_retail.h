/* Azure Retail Prices: azure_retail.c reads the pages and makes offers of virtual machines,
 * azure_blob.c makes rates of the storage rows. */
#ifndef GPUTIER_AZURE_RETAIL_H
#define GPUTIER_AZURE_RETAIL_H
#include "gputier/arena.h"
#include "source.h"

enum azure_field {
    Z_CURRENCY,
    Z_TIER_MIN,
    Z_PRICE,
    Z_REGION,
    Z_START,
    Z_END,
    Z_METER,
    Z_PRODUCT,
    Z_SKU,
    Z_SERVICE,
    Z_UNIT,
    Z_TYPE,
    Z_ARM_SKU,
    Z_TERM,
    Z_METER_ID,
    Z_FIELDS
};
struct azure_rate;
struct azure_rates { /* storage rows wait for the end: a bracket ends where the next begins */
    struct arena *arena;
    struct azure_rate *row;
    size_t n, cap;
};
/* 0 also when the row is none of these; *taken tells. */
int azure_blob_row(struct azure_rates *rates, const struct parse_context *ctx,
                   const char *const f[Z_FIELDS], bool *taken, struct gt_error *err) GT_CHECK;
int azure_blob_end(struct azure_rates *rates, struct parse_context *ctx,
                   struct gt_error *err) GT_CHECK;

#endif
