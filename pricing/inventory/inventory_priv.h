/* Inside pricing/inventory: the aggregator and what the formats share. */
#ifndef GPUTIER_INVENTORY_PRIV_H
#define GPUTIER_INVENTORY_PRIV_H
#include "gputier/arena.h"
#include "gputier/inventory.h"

struct cell;
struct inventory {
    struct inventory_options o;
    struct inventory_stats stats;
    struct arena *arena;
    struct intern *classes, *prefixes;
    struct cell *table; /* open addressing */
    size_t n_cells, capacity;
    struct inventory_access *access; /* own, sorted copy */
    struct inventory_row *rows;
    uint64_t made_at; /* objects seen when rows were made */
    /* the last prefix seen: listings come folder by folder */
    char last_prefix[256];
    size_t last_len;
    uint32_t last_id;
};
struct object {
    const char *key; /* decoded */
    size_t key_len;
    const char *storage_class;
    size_t class_len;
    uint64_t size;
    int64_t modified, accessed; /* rounded up to whole seconds; accessed GT_TIME_NONE = unknown */
    bool is_latest;
};
int aggregate_object(struct inventory *inv, const struct object *ob, struct gt_error *err);
int aggregate_row(struct inventory *inv, const struct inventory_row *r, size_t prefix_len,
                  struct gt_error *err);
/* Counts one bad row; an error once more than max_bad were seen. */
int bad_row(struct inventory *inv, const char *file, uint64_t line, const char *text,
            struct gt_error *err);
/* Plain decimal digits only; false on anything else or overflow. */
bool digits_u64(const char *s, size_t len, uint64_t *out);
/* "1796083200.1234" or ISO 8601 UTC, rounded up to whole seconds. */
bool instant(const char *s, size_t len, int64_t *out);
/* In place, `+` = space; the new length, SIZE_MAX on a broken escape. */
size_t url_decode(char *s, size_t len);

/* Streaming readers: bytes in any pieces, one call per file. */
struct reader {
    struct inventory *inv;
    const char *name;
    char *hold; /* incomplete record */
    size_t held, cap;
    uint64_t line;
    int mode;    /* the format's own */
    void *state; /* in an arena or static */
};
#define RECORD_MAX (1u << 20)
int find_feed(struct reader *r, const char *data, size_t len, bool end, struct gt_error *err);

/* CSV (RFC 4180): fields of one record, unquoted in place. */
#define CSV_FIELDS 64
struct csv_record {
    char *field[CSV_FIELDS];
    size_t len[CSV_FIELDS];
    size_t n;
};
typedef int csv_row(struct reader *r, struct csv_record *rec, struct gt_error *err);
int csv_feed(struct reader *r, const char *data, size_t len, bool end, csv_row *row,
             struct gt_error *err);
/* Column numbers of an S3 Inventory file; -1 = absent. */
struct s3_columns {
    int key, size, modified, storage_class, is_latest, delete_marker, count;
};
int s3_schema(const char *schema, struct s3_columns *c, struct gt_error *err);
csv_row s3_row, histogram_row;
struct histogram_columns {
    bool known;
    int at[11];
};
int read_manifest(struct inventory *inv, const char *path, const char *text, size_t len,
                  struct gt_error *err);
int read_file_as(struct inventory *inv, const char *path, int mode, const void *state,
                 struct gt_error *err);
enum { MODE_UNKNOWN, MODE_FIND, MODE_S3, MODE_HISTOGRAM, MODE_MANIFEST };

#endif
