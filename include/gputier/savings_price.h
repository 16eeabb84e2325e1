/* Prices of what is listed by size alone (planner/storage/savings_price.c). */
#ifndef GPUTIER_SAVINGS_PRICE_H
#define GPUTIER_SAVINGS_PRICE_H
#include "gputier/catalog.h"
#include "gputier/error.h"
#include "gputier/money.h"
#include <stdint.h>

struct saving_item {
    const char *vendor, *region, *tier, *component; /* storage, snapshot */
    uint64_t bytes, iops, mibps;                    /* 0 = none told */
};
/* Cost of a month at the catalog's rates, each line rounded once. *currency: NULL or what all have
 * to be in; set. GT_ENOTFOUND: a price is missing; GT_EUNSUPPORTED: in another currency. */
int savings_price(const struct catalog *c, const struct saving_item *it, money *month,
                  const char **currency) GT_CHECK;

#endif
