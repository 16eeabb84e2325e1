/* What gcp_skus.c and gcp_rates.c know of each other. */
#ifndef GPUTIER_GCP_RATES_H
#define GPUTIER_GCP_RATES_H
#include "records.h"

/* units + nanos, exactly; GT_EPARSE when they are none. */
int gcp_money(const struct rec *price, money *out) GT_CHECK;
/* The last pricingInfo of a SKU, NULL if it has none. */
const struct rec *gcp_pricing(const struct rec *sku);
/* Puts the storage or egress rates that a SKU is; anything else is counted as left out: why, NULL =
 * it is a part of nothing that is known. */
int gcp_put_rates(struct records *r, const struct rec *e, const struct rec *expression,
                  const char *why, struct gt_error *err) GT_CHECK;

#endif
