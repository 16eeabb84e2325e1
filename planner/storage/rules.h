/* Inside planner/storage: the tables of rules that rules.c lists by product. */
#ifndef GPUTIER_RULES_H
#define GPUTIER_RULES_H
#include "gputier/tier.h"

#define BIT(i) (1u << (i))

struct product_rules {
    const struct storage_rule *rule;
    int n;
    struct storage_terms terms;
};
/* Volumes, disks and file systems, in the order of enum storage_product from
 * PRODUCT_FIRST_VOLUME on. */
const struct product_rules *volume_product(enum storage_product p);

#endif
