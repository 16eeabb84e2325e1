/* Inventories and listings of stored objects, aggregated while they stream to the histogram of
 * R-IM-02 (shared/docs/storage-tiers.md section 12): one row per non-empty cell of prefix, storage
 * class, version state, size, age and idle time. Memory grows with the cells, never with the
 * objects. Names are hostile bytes: any byte but NUL may occur in a prefix. */
#ifndef GPUTIER_INVENTORY_H
#define GPUTIER_INVENTORY_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include "gputier/team.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INVENTORY_EDGES 16
enum inventory_format {
    INVENTORY_AUTO,
    INVENTORY_FIND,      /* find -printf: size, mtime[, atime][, type or blocks], path */
    INVENTORY_S3,        /* S3 Inventory: manifest.json, or its CSV with file_schema */
    INVENTORY_AZURE,     /* Azure blob inventory: manifest, or its CSV with a header */
    INVENTORY_GCS,       /* GCS inventory report: manifest, or its CSV, best with a header */
    INVENTORY_RCLONE,    /* rclone lsjson */
    INVENTORY_S3API,     /* aws s3api list-objects-v2 or list-object-versions, JSON */
    INVENTORY_HISTOGRAM, /* the histogram itself, CSV with a header line */
};
/* As people write it ("s3"); NULL past the last. */
const char *inventory_format_name(int format);
/* What is known of reads. */
struct inventory_accesses;
struct duplicates;
struct inventory_progress {
    uint64_t rows, bytes, total_bytes; /* bytes of the files as they lie; total 0 = unknown */
};
struct inventory_options {
    enum inventory_format format;
    int depth;               /* directory components in a prefix */
    int64_t as_of;           /* ages count back from here */
    uint64_t max_bad;        /* bad rows accepted before giving up */
    size_t max_cells;        /* 0 = 1 million */
    const char *file_schema; /* columns of a CSV without a header, NULL = unknown */
    const uint64_t *size_edge;
    size_t n_size_edges; /* 0 = R-IM-02 */
    const int *age_edge;
    size_t n_age_edges;
    const struct inventory_accesses *access; /* NULL = nothing is known */
    struct duplicates *duplicates;           /* duplicates.h; NULL = not looked for */
    const volatile int *cancel;              /* NULL = never */
    /* These need live only while files are read. progress: called from time to time, by one
     * thread at a time; NULL = never. */
    void (*progress)(void *ctx, const struct inventory_progress *p);
    void *progress_ctx;
    const struct team *team; /* reads several files at once; NULL: one */
};
struct inventory_row {
    const char *prefix; /* NUL-terminated; bytes as they came */
    const char *storage_class;
    bool is_latest;
    uint64_t size_lo;
    int age_lo_days, idle_lo_days;
    uint64_t objects, bytes, bytes_min128k;
    double gets_30d, bytes_read_30d; /* < 0 = not recorded */
};
struct inventory_stats {
    uint64_t rows, objects, bytes, bad_rows, not_files, delete_markers;
    char first_bad_where[160], first_bad_text[200];
};
struct inventory_access_stats {
    uint64_t rows, reads, bad_rows;
    int64_t first, last; /* requests seen in logs */
    bool log, analysed;
    const char *first_bad_where, *first_bad_text;
};
int inventory_accesses_new(int64_t as_of, uint64_t max_bad, struct inventory_accesses **out,
                           struct gt_error *err) GT_CHECK;
void inventory_accesses_free(struct inventory_accesses *a); /* NULL is fine */
/* A file ("-" = stdin), packed or not, or a folder of them, told by their content: S3 server access
 * logs (gets and bytes of 30 days before as_of, last access), Storage Class Analysis (gets and
 * bytes by class and age), CSV with a header key,last_access (ISO 8601 or epoch seconds) or
 * prefix,gets (reads in 30 days, shared out over the prefix's current objects). */
int inventory_access_read(struct inventory_accesses *a, const char *path,
                          const volatile int *cancel, struct gt_error *err) GT_CHECK;
int inventory_access_read_text(struct inventory_accesses *a, const char *name, const char *text,
                               size_t len, struct gt_error *err) GT_CHECK;
/* When a key (decoded) was last read. */
int inventory_access_put(struct inventory_accesses *a, const char *key, size_t len, int64_t when,
                         struct gt_error *err) GT_CHECK;
const struct inventory_access_stats *inventory_access_stats(struct inventory_accesses *a);
struct inventory;
int inventory_new(const struct inventory_options *o, struct inventory **out,
                  struct gt_error *err) GT_CHECK;
void inventory_free(struct inventory *inv); /* NULL is fine */
/* A file ("-" = stdin), packed or not. A manifest reads the data files it names: by its key beside
 * the manifest, then by the last two parts of the key beside it and in its parent folder. */
int inventory_read(struct inventory *inv, const char *path, struct gt_error *err) GT_CHECK;
/* Several files, as many at once as the team has threads: the same result for any number. */
int inventory_read_files(struct inventory *inv, const char *const *paths, size_t n,
                         struct gt_error *err) GT_CHECK;
/* Text already in memory; `name` is for messages. */
int inventory_read_text(struct inventory *inv, const char *name, const char *text, size_t len,
                        struct gt_error *err) GT_CHECK;
/* Rows sorted by prefix, class, version state, size, age, idle; borrowed until inventory_free.
 * options.access must live until the first call after the last read. */
int inventory_rows(struct inventory *inv, const struct inventory_row **rows, size_t *n,
                   struct gt_error *err) GT_CHECK;
const struct inventory_stats *inventory_stats(const struct inventory *inv);

#endif
