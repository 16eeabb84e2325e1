/* Inside pricing/inventory: noting objects for duplicates.c. */
#ifndef GPUTIER_INVENTORY_DUPLICATES_H
#define GPUTIER_INVENTORY_DUPLICATES_H
#include "gputier/duplicates.h"
#include "inventory_priv.h"

/* One object, or several alike. */
struct dup {
    uint8_t digest[16];
    uint64_t size, cell; /* cell_key */
    uint32_t count;
    uint16_t parts; /* 0 = uploaded at once; DUP_KEY */
    uint16_t unused;
};
/* A note of a key, not of bytes: digest is its hash; cell: 1 = of a delete marker that is the
 * latest version, 0 = of what it may hide. */
#define DUP_KEY   UINT16_MAX
#define DUP_BATCH 1024
/* What an inventory noted with its own ids of names. */
struct dup_batch {
    size_t n;
    struct duplicates_stats stats;
    struct dup at[DUP_BATCH];
};
/* Called by aggregate_object with the object's cell. */
int dup_note(struct inventory *inv, const struct object *ob, uint64_t cell, struct gt_error *err);
/* Any delete marker. */
int dup_marker(struct inventory *inv, const char *key, size_t len, bool latest,
               struct gt_error *err);
/* Before ids of names are given up. */
int dup_flush(struct inventory *inv, struct gt_error *err);

#endif
