/* The shipped snapshot: which files, their stamp, and the two ways their rows go in. */
#ifndef PRICING_STORE_SNAPSHOT_H
#define PRICING_STORE_SNAPSHOT_H
#include "snap_csv.h"
#include "store_impl.h"

enum snapshot_file {
    SNAP_SOURCES,
    SNAP_OFFERS,
    SNAP_TYPES,
    SNAP_STORAGE,
    SNAP_TRANSFER,
    SNAP_INTERRUPTION,
    SNAP_GPUS,
    SNAP_ALIASES,
    SNAP_MODELS,
    SNAP_ALLOWANCES,
    SNAP_FX,
    SNAP_TRACES,
    SNAP_COUNT
};
struct snapshot_source {
    char *name;
    int64_t as_of;
};
struct snapshot {
    struct snap_csv file[SNAP_COUNT]; /* data NULL = not shipped */
    char stamp[40], hash[40];
    struct snapshot_source *source;
    size_t n_sources, last_source;
};
/* Priced rows into the staging (snapshot_rows.c). */
int snapshot_rows(struct snapshot *snap, struct staging *st, struct gt_error *err) GT_CHECK;

#endif
