/* What the files of pricing/store share. Read store.h first, then open.c, staging.c, publish.c and
 * catalog_load.c. */
#ifndef PRICING_STORE_IMPL_H
#define PRICING_STORE_IMPL_H
#include "db.h"
#include "gputier/arena.h"
#include "gputier/store.h"
#include <pthread.h>
#include <stddef.h>

/* The connection serves one thread at a time: public functions take `lock` around it. Stagings
 * have connections of their own. */
struct store {
    struct db db;
    char *path, *data_dir;
    bool read_only;
    int64_t now;
    pthread_mutex_t lock;
    unsigned staging_seq;
#define STORE_RECORDED 64
    struct {
        char source[40];
        int64_t step;
    } recorded[STORE_RECORDED]; /* store_record */
    size_t n_recorded;
};
void store_lock(struct store *s);
void store_unlock(struct store *s);
/* GT_EIO when the store was opened without the right or the means to write. */
int store_writable(const struct store *s, struct gt_error *err) GT_CHECK;

/* schema.c: numbered migrations. */
#define SCHEMA_VERSION 7
int schema_migrate(const struct db *d, int upto, struct gt_error *err) GT_CHECK;
int schema_user_version(const struct db *d, int *version, struct gt_error *err) GT_CHECK;
const char *schema_staging(void);

/* Distinct strings -> 1, 2, 3 …; remembers the last one, since rows come in runs. */
struct keymap {
    struct arena *arena;
    struct intern *names;
    char last[3100];
    size_t last_len;
    uint32_t last_id;
};
int keymap_init(struct keymap *k) GT_CHECK;
void keymap_release(struct keymap *k);
/* Number of the tuple of n texts; *fresh when it is new. */
int keymap_add(struct keymap *k, const char *const *text, size_t n, uint32_t *id,
               bool *fresh) GT_CHECK;

struct snapshot;
enum staging_table {
    ST_OFFER,
    ST_STORAGE,
    ST_TRANSFER,
    ST_INTERRUPTION,
    ST_FX,
    ST_SPOT,
    ST_FEED,
    ST_PLACE,
    ST_TYPE,
    ST_TYPE_FILL,
    ST_COUNT
};
struct staging {
    struct store *store;
    struct db db;
    char *file;
    int lock_fd; /* flock: tells other processes that this file is in use */
    char *source, *scope, *region, *url, *hash, *etag, *last_modified;
    enum origin origin;
    int64_t fetched_at;
    uint64_t raw_bytes;
    bool accept_large_change, regions_vary, sells_out, series_complete, goes_on;
    struct snapshot *snapshot; /* all bundled feeds at once (snapshot.c); NULL else */
    int64_t started_ns;
    uint32_t feed; /* of the rows put next */
    sqlite3_stmt *stmt[ST_COUNT];
    struct keymap feeds, places, types;
    unsigned char *type_facts; /* bit set of facts known per type number */
    size_t type_facts_cap;
    uint64_t rows, count[ST_COUNT];
};
/* Names the feed of the rows that follow (snapshot loading puts many). */
int staging_feed(struct staging *st, const char *source, const char *scope,
                 struct gt_error *err) GT_CHECK;
/* Closes and removes the file; frees st. */
void staging_release(struct staging *st);
/* Removes stagings that no living process holds. */
void staging_clean(const char *db_path);

/* facts.c: the tables that a run replaces, as data. Column lists are separated by spaces. */
struct fact_table {
    const char *name;
    const char *key;   /* columns beside feed that make a row's key */
    const char *value; /* columns whose change opens a new row */
    const char *extra; /* columns stored and not compared */
    const char *order; /* of two rows with one key, the first by this SQL order stays */
    bool vanishing;    /* a row missing from a new run is closed */
    bool priced;       /* has sort_price, currency, period and valid_to */
};
const struct fact_table *fact_table_at(size_t i); /* NULL past the end */
bool fact_has(const char *list, const char *column);
/* Calls add for each column of a list. */
void fact_each(const char *list, void (*add)(struct buf *out, const char *column, size_t len),
               struct buf *out);

/* merge.c: inside a transaction, with the staging attached as "st" and temp.feed_map, place_map and
 * type_map filled. *repeated = the staging holds one key twice (GT_EDB then). */
int merge_facts(const struct db *d, const struct staging *st, struct publish_result *res,
                bool *repeated, struct gt_error *err) GT_CHECK;
/* Leaves one row per key in the attached staging; *dropped = rows left out. */
int merge_unrepeat(const struct db *d, uint64_t *dropped, struct gt_error *err) GT_CHECK;
/* quarantine.c: GT_EQUARANTINE and the reason when the change to table t is too large. */
int quarantine_check(const struct db *d, const struct fact_table *t, const struct staging *list,
                     struct gt_error *err) GT_CHECK;
/* The same when a field that the feed's last list had stands in no row now; notes what it has. */
int quarantine_fields(const struct db *d, const struct staging *list,
                      struct gt_error *err) GT_CHECK;
/* Adds to err how a person sees the list that was held back, and publishes it. */
void quarantine_hint(const struct staging *st, struct gt_error *err);
/* series.c: spot points, compacted to changes. */
int series_merge(const struct db *d, const struct staging *staging, struct publish_result *res,
                 struct gt_error *err) GT_CHECK;

/* observed.c: inside a transaction. Seconds between the rounds of a source, 0 = not in rounds. */
int64_t observed_step(const struct store *s, const char *source);
/* The feed was looked at from first to last, as part of rounds `step` apart. Nothing is kept of
 * single looks at feeds without series. */
int observed_add(const struct db *d, int64_t feed, int64_t first, int64_t last, int64_t step,
                 struct gt_error *err) GT_CHECK;
/* The same of a staging just merged, which is still attached. */
int observed_published(struct staging *st, int64_t feed, struct gt_error *err) GT_CHECK;
int runs_compact(const struct db *d, int64_t feed, struct gt_error *err) GT_CHECK;

/* parsers.c: which readers made the rows of a run. */
const char *parsers_digest(void);

/* publish.c: records a run that published nothing ("failed", "quarantined"). */
int run_record(struct staging *st, const char *state, const char *why,
               struct gt_error *err) GT_CHECK;

/* snapshot.c: loads data_dir/snapshot when its content differs from what the database holds. */
int snapshot_refresh(struct store *s, struct gt_error *err) GT_CHECK;
/* The part of it that publish runs inside its transaction: reference tables and the stamp. */
int snapshot_reference(struct staging *st, struct gt_error *err) GT_CHECK;
/* True for a snapshot staging whose content the database has by now. */
bool snapshot_loaded(const struct staging *st);

/* catalog_*.c: parts of store_load_catalog. */
struct feed_info { /* by feed id */
    uint32_t source, scope;
    uint32_t order; /* among all feeds, 0 first (precedence.c) */
    uint8_t origin, standing;
    int64_t fetched_at, as_of; /* as_of: common date of the last run, else GT_TIME_NONE */
};
struct place_info {
    uint32_t vendor, region, zone;
    uint32_t whole_region; /* id of the place without the zone, 0 = none */
};
struct type_info {
    uint32_t vendor, name, gpu;
    int16_t spec;
    uint16_t num, den;
    float gpu_memory_gib, vcpus, memory_gib, local_nvme_gb, network_gbps;
};
struct loader {
    const struct db *db;
    const char *data_dir; /* may be NULL */
    struct catalog *cat;
    bool at; /* prices known at cat->as_of; else those believed now */
    bool with_cpu_only;
    struct feed_info *feeds; /* malloc'd, indexed by row id */
    size_t n_feeds;
    struct place_info *places;
    size_t n_places;
    struct type_info *types;
    size_t n_types;
};
/* Last text of one column: rows come in runs, and a repeated text needs no look-up. */
struct text_cache {
    const char *text;
    size_t len;
    uint32_t id;
    bool single; /* a column whose texts are mostly different, and not compared by id */
};
/* Text column -> id in the catalog's strings. */
int load_text(const struct loader *l, sqlite3_stmt *st, int col, struct text_cache *cache,
              uint32_t *id, struct gt_error *err) GT_CHECK;
/* Prepares "head WHERE <row o was believed and valid at ?1> tail". */
enum load_valid {
    LOAD_ALL,
    LOAD_IN_FORCE, /* by valid_from and valid_to */
    LOAD_OFFERS    /* the same; but capacity blocks, which begin later, are sold now */
};
int load_prepare(const struct loader *l, const char *head, enum load_valid which, const char *tail,
                 sqlite3_stmt **st, struct gt_error *err) GT_CHECK;
int load_nomem(const struct loader *l, struct gt_error *err) GT_CHECK;
/* A row's date: the feed's last run says it for all its rows, or the row for itself. */
int64_t load_date(const struct feed_info *f, int64_t row_date);
/* What a feed says of one thing, as far as precedence.c asks. */
struct claim {
    uint32_t feed;
    uint8_t state; /* enum price_state */
    int64_t date;
};
/* Gives each feed its standing and its place in the order of sources. */
int load_precedence(struct loader *l, struct gt_error *err) GT_CHECK;
/* > 0 when a is shown, < 0 when b is, 0 within one feed. */
int load_prefer(const struct loader *l, const struct claim *a, const struct claim *b);
/* Appends "NAME says TEXT as of DATE" to a note. */
int load_conflict(const struct loader *l, uint32_t *note, uint32_t source, const char *says,
                  int64_t date, struct gt_error *err) GT_CHECK;
int load_dimensions(struct loader *l, struct gt_error *err) GT_CHECK; /* feeds, places, types */
int load_reference(struct loader *l, struct gt_error *err) GT_CHECK;  /* gpus, models, fx, bench */
int load_offers(struct loader *l, struct gt_error *err) GT_CHECK;
int load_storage(struct loader *l, struct gt_error *err) GT_CHECK;
int load_transfer(struct loader *l, struct gt_error *err) GT_CHECK;
int load_interruption(struct loader *l, struct gt_error *err) GT_CHECK;
int load_hazards(struct loader *l, struct gt_error *err) GT_CHECK; /* after the offers */

#endif
