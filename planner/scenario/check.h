/* Checks between the keys of a scenario, after each key alone was read. */
#ifndef GPUTIER_SCENARIO_CHECK_H
#define GPUTIER_SCENARIO_CHECK_H
#include "keys.h"

/* Needed keys of a list item (data[], discounts[]): refuses the item when one is missing. */
int check_item_key(const struct reader *r, const struct node *item, const char *key, bool is_data,
                   bool seen, const char *shown);
int check_scenario(const struct reader *r, const struct node *root);

#endif
