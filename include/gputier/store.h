/* Store: the SQLite database of prices, plans and bench results. One writer, WAL, FULL sync.
 * A source writes into a staging database of its own; store_publish checks it (shrink, price
 * jumps, currency: product.md section 7) and merges it in one short transaction with validity
 * intervals, so a kill at any byte leaves the previous prices. */
#ifndef GPUTIER_STORE_H
#define GPUTIER_STORE_H
#include "gputier/buf.h"
#include "gputier/catalog.h"
#include "gputier/offer.h"
#include "gputier/storage.h"
#include <stdbool.h>
#include <stdint.h>

struct store;
struct store_options {
    const char *path;     /* database file */
    const char *data_dir; /* shipped data (snapshot/ below it) */
    bool read_only;
    int64_t now;
};
/* Opens, creating and migrating as needed; a new database is filled from data_dir/snapshot.
 * GT_ENEWER names both versions; nothing is changed then. */
int store_open(const struct store_options *o, struct store **out, struct gt_error *err) GT_CHECK;
void store_close(struct store *s);

struct load_options {
    int64_t as_of;
    bool with_cpu_only;
}; /* as_of GT_TIME_NONE = now */
int store_load_catalog(struct store *s, const struct load_options *o, struct catalog **out,
                       struct gt_error *err) GT_CHECK;

/* Staging: one source's new rows. The importer calls put_* in any order, then publish or discard.
 */
struct staging;
struct staging_options {
    const char *source_id; /* "aws-offer", … */
    const char *scope;  /* part of the source this run replaces: "us-east-1/AmazonEC2", "" = all */
    const char *url;    /* where it came from (redacted) or the file name */
    const char *hash;   /* of the raw bytes: "blake3:" and hex; may be set later, staging_set_raw */
    const char *region; /* "VENDOR/CODE" that a fetch of the same asks for, NULL = none */
    enum origin origin;
    int64_t fetched_at;
    bool accept_large_change;
};
int staging_begin(struct store *s, const struct staging_options *o, struct staging **out,
                  struct gt_error *err) GT_CHECK;
int staging_put_offer(struct staging *st, const struct offer_row *r, struct gt_error *err) GT_CHECK;
int staging_put_storage(struct staging *st, const struct storage_rate_row *r,
                        struct gt_error *err) GT_CHECK;
int staging_put_transfer(struct staging *st, const struct transfer_rate_row *r,
                         struct gt_error *err) GT_CHECK;
int staging_put_interruption(struct staging *st, const struct interruption_row *r,
                             struct gt_error *err) GT_CHECK;
int staging_put_spot_point(struct staging *st, const struct spot_point_row *r,
                           struct gt_error *err) GT_CHECK;
int staging_put_fx(struct staging *st, const struct fx_row *r, struct gt_error *err) GT_CHECK;
void staging_set_raw(struct staging *st, const char *hash, uint64_t bytes, const char *etag,
                     const char *last_modified);
/* Replaces the scope given to staging_begin: a file tells only when it was read which region it
 * holds. Before publish. */
int staging_set_scope(struct staging *st, const char *scope, struct gt_error *err) GT_CHECK;
/* The list names regions that have a free place now, so offers come and go in them: the check for
 * a shrunken list counts instance types instead of each region's rows. */
void staging_regions_vary(struct staging *st);
/* A fetch asks for what can be bought now, type by type, so all of it may be sold out: types, and
 * the whole list, may vanish and come back. True where the list is such a fetch; a file may hold
 * the answers to some of the questions only, and is checked as every list is. */
bool staging_sells_out(struct staging *st);
/* The list goes on behind what was read, so what it lacks has not vanished: it is published only
 * where it closes no row. */
void staging_goes_on(struct staging *st);
/* The spot points are all that the list has: a pool that its feed named before and does not name
 * now has none available at the time of the run. */
void staging_series_complete(struct staging *st);
struct publish_result {
    uint64_t rows, added, changed, closed, unchanged;
    uint64_t repeated; /* rows left out because another of the list has their key */
};
/* 0, GT_EQUARANTINE (nothing published, err says why, recorded in fetch_run) or another error.
 * The staging is released in every case. */
int staging_publish(struct staging *st, struct publish_result *out, struct gt_error *err) GT_CHECK;
void staging_discard(struct staging *st,
                     const char *why); /* records a failed run when why != NULL */

/* Conditional request state of a source + scope: caller frees the strings; NULL when none, also
 * when the rows were made by other readers than this program's (after an upgrade). */
int store_http_state(struct store *s, const char *source_id, const char *scope, char **etag,
                     char **last_modified, struct gt_error *err) GT_CHECK;
/* When a part was last published or confirmed from the network, GT_TIME_NONE: never. */
int store_last_fetch(struct store *s, const char *source_id, const char *scope, int64_t *when,
                     struct gt_error *err) GT_CHECK;
/* A 304: only the fetch time moves. */
int store_touch_source(struct store *s, const char *source_id, const char *scope, int64_t when,
                       struct gt_error *err) GT_CHECK;

struct source_state { /* one row of `sources`; strings borrowed for the callback */
    const char *source_id, *scope, *state, *why, *url;
    uint64_t rows, bytes;
    int64_t as_of, fetched_at;
    enum origin origin;
};
int store_sources(struct store *s, int (*row)(void *ctx, const struct source_state *st), void *ctx,
                  struct gt_error *err) GT_CHECK;

/* What an audit asks of a source: one row for each part of it that is published. hash is that of
 * the raw bytes, behind its name ("blake3:…", of older runs "sha256:…"), "" for bundled facts;
 * fetched_at GT_TIME_NONE for those. */
struct source_file {
    const char *source_id, *title, *url, *licence, *scope, *hash;
    uint64_t bytes;
    int64_t as_of, fetched_at;
    bool bundled;
};
int store_source_files(struct store *s, const char *source_id,
                       int (*row)(void *ctx, const struct source_file *f), void *ctx,
                       struct gt_error *err) GT_CHECK;

struct price_point {
    int64_t when;
    money price;
    const char *currency, *source_id, *sku, *zone; /* zone "" = the region as a whole */
    int64_t valid_to;                              /* the vendor's date; GT_TIME_NONE = none */
    bool bundled;
    int64_t known_to; /* when its source no longer had it; GT_TIME_NONE = it has, or no offer */
};
/* Price history of one offer key, oldest first. zone NULL = any. */
int store_history(struct store *s, const char *vendor, const char *region, const char *zone,
                  const char *instance_type, enum purchase p,
                  int (*row)(void *ctx, const struct price_point *pt), void *ctx,
                  struct gt_error *err) GT_CHECK;

/* Series of spot pools (changes only), pool by pool and source by source, oldest first; available
 * -1 = not recorded, price -1 = unknown. zone NULL = any, instance_type NULL = any. */
struct spot_series_point {
    const char *region, *zone, *instance_type, *source_id;
    int64_t when;
    money price;
    const char *currency;
    int32_t available;
    int64_t
        until; /* the same was still stated then; == when: at this time alone, as far as known */
};
int store_spot_series(struct store *s, const char *vendor, const char *region, const char *zone,
                      const char *instance_type,
                      int (*row)(void *ctx, const struct spot_series_point *pt), void *ctx,
                      struct gt_error *err) GT_CHECK;
/* Shipped availability traces (spot.h reads the files). vendor NULL = all; path is below data_dir.
 */
struct store_trace {
    const char *name, *vendor, *region, *zone, *instance_type, *path;
    int64_t gap_s;
    int nodes_probed;
};
int store_traces(struct store *s, const char *vendor,
                 int (*row)(void *ctx, const struct store_trace *t), void *ctx,
                 struct gt_error *err) GT_CHECK;
/* What is free, included or bounded (data/snapshot/allowances.csv). vendor NULL = all. */
struct store_allowance {
    const char *vendor, *product, *rule, *value, *unit, *valid_from, *source, *confidence;
};
int store_allowances(struct store *s, const char *vendor,
                     int (*row)(void *ctx, const struct store_allowance *a), void *ctx,
                     struct gt_error *err) GT_CHECK;

/* Saved plans: the JSON document of `plan --format json`, and the scenario text it came from. */
int store_save_plan(struct store *s, const char *name, const char *plan_json, const char *scenario,
                    int64_t when, struct gt_error *err) GT_CHECK;
/* name NULL = saved last. *json, *scenario: caller frees. */
int store_load_plan(struct store *s, const char *name, char **json, char **scenario,
                    struct gt_error *err) GT_CHECK;
int store_list_plans(struct store *s, int (*row)(void *ctx, const char *name, int64_t when),
                     void *ctx, struct gt_error *err) GT_CHECK;
int store_delete_plan(struct store *s, const char *name, struct gt_error *err) GT_CHECK;

/* Bench results: one JSON document per run (bench.h), and its metrics for the catalog. */
struct bench_row {
    const char *metric, *unit;
    double median, min, p95, spread;
    bool checked;
};
int store_save_bench(struct store *s, const char *device, const char *backend, bool is_gpu,
                     const char *json, const struct bench_row *rows, size_t n, int64_t when,
                     struct gt_error *err) GT_CHECK;
/* The newest `most` runs, newest first; json lives until row returns, when is when it was stored.
 */
int store_list_bench(struct store *s, int most,
                     int (*row)(void *ctx, int64_t id, int64_t when, const char *json), void *ctx,
                     struct gt_error *err) GT_CHECK;

/* Integrity, references, domains; one line per finding in report. GT_EDB when there is one. */
int store_check(struct store *s, struct buf *report, struct gt_error *err) GT_CHECK;
/* How large it is and what of it is old: facts in force, facts replaced by later ones, and the
 * source that has the most of those ("" none). */
struct store_size {
    uint64_t bytes, in_force, replaced, most;
    char most_source[64];
};
int store_size(struct store *s, struct store_size *out, struct gt_error *err) GT_CHECK;
/* Removes rows closed before `before`, but none that a saved plan may cite: known at the plan's
 * time, or of a SKU that its provenance names. The file gives much free space back. */
int store_prune(struct store *s, int64_t before, uint64_t *removed, struct gt_error *err) GT_CHECK;
int store_backup(struct store *s, const char *to, struct gt_error *err) GT_CHECK;
int store_version(struct store *s);

#endif
