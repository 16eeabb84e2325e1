/* INPUT of `tier` as groups: an inventory's histogram rows, or a scenario's data sets. */
#ifndef GPUTIER_TIER_INPUT_H
#define GPUTIER_TIER_INPUT_H
#include "cli.h"
#include "gputier/inventory.h"
#include "gputier/tier.h"

struct tier_batch { /* groups that share a horizon, a place and a product */
    size_t first, n;
    const char *vendor, *region; /* NULL = as the options say */
    int horizon;                 /* 0 = as the options say; else deleted then */
};
struct tier_input {
    struct arena *arena;
    struct tier_group *group;
    const char **label; /* one a group: prefix, size, age, idle */
    int *age_lo, *idle_lo;
    size_t n;
    struct tier_batch *batch;
    size_t n_batches;
    const char *note[8];
    size_t n_notes;
};
/* Storage classes of an inventory are read as those of `product`. */
int tier_input_read(struct app *app, const struct cli_args *args, enum storage_product product,
                    const char *path, struct tier_input *in, struct gt_error *err) GT_CHECK;
/* Rows of a histogram, one group each. */
int tier_input_rows(enum storage_product product, const struct inventory_row *row, size_t n,
                    struct tier_input *in, struct gt_error *err) GT_CHECK;
/* The data sets of a scenario, one batch each, in their order. */
int tier_input_scenario(const struct scenario *s, struct tier_input *in,
                        struct gt_error *err) GT_CHECK;
void tier_input_release(struct tier_input *in);

#endif
