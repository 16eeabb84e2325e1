/* Inside pricing/inventory: the aggregator and what the formats share. */
#ifndef GPUTIER_INVENTORY_PRIV_H
#define GPUTIER_INVENTORY_PRIV_H
#include "cells.h"
#include "gputier/arena.h"
#include "gputier/inventory.h"
#include <pthread.h>

/* A text and its id, seen lately. */
struct seen {
    const char *text;
    size_t len;
    uint32_t id;
};
#define SEEN_BITS    9
#define SEEN_CLASSES 16
struct inventory {
    struct inventory_options o;
    struct inventory_stats stats;
    struct arena *arena;
    struct intern *classes, *prefixes;
    struct seen seen_prefix[1 << SEEN_BITS], seen_class[SEEN_CLASSES];
    uint64_t size_from[INVENTORY_EDGES - 1];
    int64_t age_from[INVENTORY_EDGES - 1]; /* seconds */
    struct cells cells;
    struct inventory_row *rows;
    uint64_t made_at; /* objects seen when rows were made */
    struct inventory *parent;
    pthread_mutex_t lock; /* on what children give: cells and names */
    /* how far all files together are, in the root */
    uint64_t done, total, rows_done; /* __atomic */
    pthread_mutex_t show;
    struct dup_batch *batch; /* duplicates.h */
    bool ordered;            /* of a child: given only after those of the files before */
};
/* An inventory of one file, and what it holds given to its parent (any thread). The counters are
 * left to the caller. */
int inventory_child(struct inventory *parent, struct inventory **out, struct gt_error *err);
int inventory_give(struct inventory *child, struct gt_error *err);
struct object {
    const char *key; /* decoded */
    size_t key_len;
    const char *storage_class;
    size_t class_len;
    uint64_t size;
    /* Rounded up to whole seconds; GT_TIME_NONE = unknown, but for modified. aged: where the age
     * counts from when that is not the last change. */
    int64_t modified, accessed, aged;
    bool is_latest;
    const char *digest; /* as the list has it */
    size_t digest_len;
    bool opaque;            /* it does not tell the bytes */
    bool encryption_untold; /* it may not */
};
int aggregate_object(struct inventory *inv, const struct object *ob, struct gt_error *err);
int aggregate_row(struct inventory *inv, const struct inventory_row *r, size_t prefix_len,
                  struct gt_error *err);
/* Counts one bad row; an error once more than max_bad were seen. */
int bad_row(struct inventory *inv, const char *file, uint64_t line, const char *text,
            struct gt_error *err);
/* Plain decimal digits only; false on anything else or overflow. */
bool digits_u64(const char *s, size_t len, uint64_t *out);
/* "1796083200.1234", ISO 8601 (UTC unless it has an offset) or RFC 1123, rounded up to whole
 * seconds. */
bool instant(const char *s, size_t len, int64_t *out);
/* "10/Feb/2026:07:28:12 +0000" of access logs. */
bool log_instant(const char *s, size_t len, int64_t *out);
/* `+` = space; the new length, SIZE_MAX on a broken escape. to: room for len bytes. */
size_t url_decode(const char *from, size_t len, char *to);

/* Streaming readers: bytes in any pieces, one call per file. */
struct reader {
    struct inventory *inv;
    const char *name;
    char *hold; /* incomplete record */
    size_t held, cap;
    uint64_t line;
    int mode; /* the format's own */
    struct spare {
        char *at;
        size_t cap;
    } fields, key;  /* of one record: without doubled quotes; URL-decoded */
    char separator; /* CSV: 0 = comma */
    bool skipping;  /* CSV: what is left of a broken row's line */
    void *state;    /* in an arena or static */
};
int spare_room(struct spare *s, size_t size, struct gt_error *err);
/* Adds to r->hold. */
int reader_hold(struct reader *r, const char *data, size_t len, struct gt_error *err);
#define RECORD_MAX (1u << 20)
/* Records that end in `end_byte`, each to `record` without it. */
typedef int record_fn(struct reader *r, const char *p, size_t len, struct gt_error *err);
int split_feed(struct reader *r, char end_byte, const char *data, size_t len, bool end,
               record_fn *record, struct gt_error *err);
int find_feed(struct reader *r, const char *data, size_t len, bool end, struct gt_error *err);

/* CSV (RFC 4180): fields of one record, without their quotes, borrowed for the call. */
#define CSV_FIELDS 64
struct csv_record {
    const char *field[CSV_FIELDS];
    size_t len[CSV_FIELDS];
    size_t n;         /* may be more than CSV_FIELDS: those behind are not kept */
    uint64_t doubled; /* fields that still hold doubled quotes, while the record is read */
};
typedef int csv_row(struct reader *r, const struct csv_record *rec, struct gt_error *err);
int csv_feed(struct reader *r, const char *data, size_t len, bool end, csv_row *row,
             struct gt_error *err);
bool csv_named(const struct csv_record *rec, size_t i, const char *name); /* case aside */

/* Vendors' inventories in CSV (columns.c): what a column means, by its name. */
enum column {
    COLUMN_KEY,
    COLUMN_SIZE,
    COLUMN_MODIFIED,
    COLUMN_CREATED, /* taken where it is there: the vendor's objects never change */
    COLUMN_CHANGED, /* of the tier: the age counts from there */
    COLUMN_ACCESSED,
    COLUMN_CLASS,
    COLUMN_LATEST,
    COLUMN_VERSION, /* with COLUMN_LATEST empty: an old version */
    COLUMN_MARKER,  /* of a deletion: no object */
    COLUMN_GONE,    /* filled: a snapshot, an old version, or deleted softly; billed all the same */
    COLUMN_DELETED, /* the same when "true" */
    COLUMN_FOLDER,
    COLUMN_DIGEST,
    COLUMN_ENCRYPTION, /* says whether the digest is one of the bytes */
    COLUMNS
};
struct layout {
    const char *vendor;
    const char *name[COLUMNS]; /* NULL: the vendor has none */
    const char *fields;        /* of a file without a header; NULL: there is always one */
    const char *default_class;
    bool url; /* keys are URL-encoded */
};
extern const struct layout layout_s3, layout_azure, layout_gcs;
struct columns {
    const struct layout *layout;
    int at[COLUMNS]; /* -1 = absent */
    int count;       /* 0 = not known yet: the first row is a header, or fields are taken */
    const char *fields;
};
/* Columns by a comma-separated list of names. */
int columns_of(const struct layout *l, const char *list, struct columns *c, struct gt_error *err);
csv_row object_row, histogram_row;
struct histogram_columns {
    bool known;
    int at[11];
};

/* Listings in JSON (json_list.c). */
struct json_list;
int json_list_new(struct reader *r, struct json_list **out, struct gt_error *err);
int json_list_feed(struct json_list *j, const char *data, size_t len, bool end,
                   struct gt_error *err);
void json_list_free(struct json_list *j);

/* Which format the first bytes are of. */
enum mode { MODE_UNKNOWN, MODE_FIND, MODE_COLUMNS, MODE_JSON, MODE_HISTOGRAM, MODE_MANIFEST };
struct told {
    enum mode mode;
    char separator;
    struct columns columns;
};
int tell(const struct inventory_options *o, const char *name, const char *head, size_t len,
         struct told *out, struct gt_error *err);
int read_manifest(struct inventory *inv, const char *path, const char *text, size_t len,
                  struct gt_error *err);
/* told: NULL = by their content. */
int read_files(struct inventory *inv, const char *const *paths, size_t n, const struct told *told,
               struct gt_error *err);
void progress_total(struct inventory *inv, const char *path);
int read_file_as(struct inventory *inv, const char *path, const struct told *told,
                 struct gt_error *err);

#endif
