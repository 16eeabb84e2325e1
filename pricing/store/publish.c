/* Publishing a staging: attach its file, map its numbers to the main ones, check, merge and record
 * the run in one IMMEDIATE transaction. Whatever fails rolls back to the prices before. */
#include "gputier/fetch.h"
#include "gputier/units.h"
#include "store_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t ended(const struct staging *st)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t spent = ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec - st->started_ns) / 1000000000;
    return st->fetched_at + (spent > 0 ? spent : 0);
}

/* The feed of a run, created when new. */
static int feed_id(struct staging *st, int64_t *id, struct gt_error *err)
{
    const struct db *d = &st->store->db;
    sqlite3_stmt *q = NULL;
    int rc =
        db_execf(d, err, "INSERT INTO source(name) VALUES(%Q) ON CONFLICT DO NOTHING", st->source);
    if (rc == 0) {
        rc = db_execf(d, err,
                      "INSERT INTO feed(source, scope, bundled)"
                      " SELECT id, %Q, 0 FROM source WHERE name = %Q ON CONFLICT DO NOTHING",
                      st->scope, st->source);
    }
    if (rc == 0) {
        rc = db_prepare(d,
                        "SELECT f.id FROM feed f JOIN source s ON s.id = f.source"
                        " WHERE s.name = ?1 AND f.scope = ?2 AND f.bundled = 0",
                        &q, err);
    }
    bool row = false;
    if (rc == 0) {
        (void)sqlite3_bind_text(q, 1, st->source, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(q, 2, st->scope, -1, SQLITE_STATIC);
        rc = db_step(d, q, &row, err);
        *id = row ? sqlite3_column_int64(q, 0) : 0;
    }
    (void)sqlite3_finalize(q);
    return rc;
}

static int insert_run(struct staging *st, int64_t feed, const char *state, const char *why,
                      const struct publish_result *res, uint64_t repeated, struct gt_error *err)
{
    const struct db *d = &st->store->db;
    sqlite3_stmt *in = NULL;
    int rc = db_prepare(d,
                        "INSERT INTO fetch_run(feed, origin, state, why, url, hash, bytes, etag,"
                        " last_modified, started, ended, rows, added, changed, closed, same,"
                        " repeated, parser) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                        &in, err);
    if (rc != 0) {
        return rc;
    }
    (void)sqlite3_bind_int64(in, 1, feed);
    (void)sqlite3_bind_int(in, 2, (int)st->origin);
    bind_text(in, 3, state);
    bind_text(in, 4, why);
    bind_text(in, 5, st->url);
    bind_text(in, 6, st->hash);
    (void)sqlite3_bind_int64(in, 7, (sqlite3_int64)st->raw_bytes);
    bind_text(in, 8, st->etag);
    bind_text(in, 9, st->last_modified);
    (void)sqlite3_bind_int64(in, 10, st->fetched_at);
    (void)sqlite3_bind_int64(in, 11, ended(st));
    const uint64_t n[] = {res->rows,   res->added,     res->changed,
                          res->closed, res->unchanged, repeated};
    for (int i = 0; i < 6; i++) {
        (void)sqlite3_bind_int64(in, 12 + i, (sqlite3_int64)n[i]);
    }
    bind_text(in, 18, parsers_digest());
    rc = db_run(d, in, err);
    (void)sqlite3_finalize(in);
    return rc;
}

int run_record(struct staging *st, const char *state, const char *why, struct gt_error *err)
{
    const struct db *d = &st->store->db;
    struct publish_result none = {.rows = st->rows};
    int64_t feed = 0;
    int rc = db_begin(d, err);
    if (rc == 0) {
        rc = feed_id(st, &feed, err);
    }
    if (rc == 0) {
        rc = insert_run(st, feed, state, why, &none, 0, err);
    }
    if (rc == 0 && observed_step(st->store, st->source) > 0) {
        rc = runs_compact(d, feed, err);
    }
    if (rc == 0) {
        return db_commit(d, err);
    }
    db_rollback(d);
    return rc;
}

static const char maps_sql[] =
    "CREATE TEMP TABLE feed_map(id INTEGER PRIMARY KEY, main INTEGER NOT NULL UNIQUE);"
    "CREATE TEMP TABLE place_map(id INTEGER PRIMARY KEY, main INTEGER NOT NULL);"
    "CREATE TEMP TABLE type_map(id INTEGER PRIMARY KEY, main INTEGER NOT NULL);"
    "CREATE TEMP TABLE hit(sid INTEGER PRIMARY KEY, oid INTEGER NOT NULL, same INTEGER NOT NULL);"
    "INSERT INTO main.source(name) SELECT DISTINCT source FROM st.feed WHERE true"
    " ON CONFLICT DO NOTHING;"
    "INSERT INTO main.place(vendor, region, zone) SELECT vendor, region, zone FROM st.place"
    " WHERE true ON CONFLICT DO NOTHING;"
    "INSERT INTO temp.place_map SELECT s.id, m.id FROM st.place s JOIN main.place m"
    " USING (vendor, region, zone);"
    "INSERT INTO main.instance_type(vendor, name) SELECT vendor, name FROM st.instance_type"
    " WHERE true ON CONFLICT DO NOTHING;"
    "INSERT INTO temp.type_map SELECT s.id, m.id FROM st.instance_type s"
    " JOIN main.instance_type m USING (vendor, name);";

/* Facts about types: the own table wins where it speaks (vendors' fields are often wrong,
 * pricing-sources.md section 10, row 10); else the user's own list, then a vendor's, then a third
 * party's catalog, by name among equals: never the order in which they came. Others fill gaps.
 * A GPU whose number nobody states never takes the place of a counted one.
 * ?1 and ?2: the lists of own lists and of catalogs; ?3: the source that is published. */
/* clang-format off */
#define STANDING(name)                                                                             \
    "iif(" name " IS NULL, '', CASE WHEN instr(?1, ' ' || " name " || ' ') THEN '2'"               \
    " WHEN instr(?2, ' ' || " name " || ' ') THEN '0' ELSE '1' END || " name ")"
#define FACT(name)                                                                                 \
    name " = iif(x.fills, coalesce(t." name ", x." name "), coalesce(x." name ", t." name ")), "
static const char facts_sql[] =
    "UPDATE main.instance_type AS t SET"
    " gpu = CASE WHEN t.gpu_num > 0 AND (x.fills OR x.gpu_num = 0) THEN t.gpu"
    "  ELSE coalesce(x.gpu, t.gpu) END,"
    " gpu_num = iif(x.gpu_num > 0 AND NOT (x.fills AND t.gpu_num > 0), x.gpu_num, t.gpu_num),"
    " gpu_den = iif(x.gpu_num > 0 AND NOT (x.fills AND t.gpu_num > 0), x.gpu_den, t.gpu_den), "
    FACT("gpu_memory_gib") FACT("vcpus") FACT("memory_gib") FACT("local_nvme_gb")
    FACT("network_gbps") "source = iif(x.fills, t.source, ?3)"
    " FROM (SELECT o.id AS main, s.*, o.bundled OR " STANDING("?3") " < " STANDING("o.source")
    "   AS fills FROM temp.type_map tm JOIN st.instance_type s ON s.id = tm.id"
    "   JOIN main.instance_type o ON o.id = tm.main) x WHERE t.id = x.main"
    " AND (x.gpu_num > 0 OR x.gpu IS NOT NULL OR x.vcpus IS NOT NULL OR x.memory_gib IS NOT NULL"
    "   OR x.local_nvme_gb IS NOT NULL OR x.network_gbps IS NOT NULL)";
/* clang-format on */

/* " a b ": the sources of a kind, each between blanks. */
static int list_of(enum source_kind kind, struct buf *out)
{
    (void)buf_addc(out, ' ');
    for (size_t i = 0; source_at(i) != NULL; i++) {
        if (source_at(i)->kind == kind) {
            (void)buf_addf(out, "%s ", source_at(i)->id);
        }
    }
    return out->failed ? GT_ENOMEM : 0;
}

static int put_facts(const struct db *d, const struct staging *st, struct gt_error *err)
{
    struct buf own, catalogs;
    sqlite3_stmt *up = NULL;
    buf_init(&own, 65536);
    buf_init(&catalogs, 65536);
    int rc = list_of(SOURCE_OWN, &own);
    rc = rc ? rc : list_of(SOURCE_CATALOG, &catalogs);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : db_prepare(d, facts_sql, &up, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(up, 1, own.data, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(up, 2, catalogs.data, -1, SQLITE_STATIC);
        bind_text(up, 3, st->snapshot == NULL ? st->source : NULL);
        rc = db_run(d, up, err);
    }
    (void)sqlite3_finalize(up);
    buf_release(&own);
    buf_release(&catalogs);
    return rc;
}

static int fill_maps(const struct db *d, const struct staging *st, struct gt_error *err)
{
    int rc = db_exec(d, maps_sql, err);
    if (rc == 0) {
        rc = db_execf(d, err,
                      "INSERT INTO main.feed(source, scope, bundled) SELECT s.id, f.scope, %d"
                      " FROM st.feed f JOIN main.source s ON s.name = f.source WHERE true"
                      " ON CONFLICT DO NOTHING;"
                      "INSERT INTO temp.feed_map SELECT f.id, m.id FROM st.feed f"
                      " JOIN main.source s ON s.name = f.source JOIN main.feed m"
                      " ON m.source = s.id AND m.scope = f.scope AND m.bundled = %d",
                      st->snapshot != NULL, st->snapshot != NULL);
    }
    if (rc == 0 && st->snapshot != NULL) { /* a source that left the snapshot is closed with it */
        rc = db_exec(d,
                     "INSERT INTO temp.feed_map SELECT -id, id FROM main.feed WHERE bundled = 1"
                     " AND id NOT IN (SELECT main FROM temp.feed_map)",
                     err);
    }
    return rc == 0 ? put_facts(d, st, err) : rc;
}

static const char unmap_sql[] =
    "DROP TABLE IF EXISTS temp.feed_map; DROP TABLE IF EXISTS temp.place_map;"
    "DROP TABLE IF EXISTS temp.type_map; DROP TABLE IF EXISTS temp.hit";

/* Dates of a run's rows: the common one, NULL when they differ. */
#define RUN_DATE                                                                                   \
    "(SELECT CASE WHEN min(a) = max(a) THEN max(a) END FROM ("                                     \
    "SELECT DISTINCT as_of AS a FROM st.offer WHERE feed = fm.id"                                  \
    " UNION SELECT DISTINCT as_of FROM st.storage_rate WHERE feed = fm.id"                         \
    " UNION SELECT DISTINCT as_of FROM st.transfer_rate WHERE feed = fm.id"                        \
    " UNION SELECT DISTINCT as_of FROM st.interruption WHERE feed = fm.id"                         \
    " UNION SELECT DISTINCT as_of FROM st.fx WHERE feed = fm.id))"

static int record_published(struct staging *st, const struct publish_result *res, uint64_t repeated,
                            struct gt_error *err)
{
    const struct db *d = &st->store->db;
    if (st->snapshot != NULL) { /* one record per bundled source, counting its rows */
        return db_execf(
            d, err,
            "INSERT INTO fetch_run(feed, origin, state, url, hash, started, ended, as_of, rows)"
            " SELECT fm.main, 0, 'published', (SELECT s.url FROM main.feed f JOIN main.source s"
            " ON s.id = f.source WHERE f.id = fm.main), %Q, %lld, %lld, " RUN_DATE
            ", coalesce(c.n, 0) FROM temp.feed_map fm LEFT JOIN (SELECT feed, sum(n) AS n FROM ("
            "SELECT feed, count(*) AS n FROM st.offer GROUP BY feed UNION ALL"
            " SELECT feed, count(*) FROM st.storage_rate GROUP BY feed UNION ALL"
            " SELECT feed, count(*) FROM st.transfer_rate GROUP BY feed UNION ALL"
            " SELECT feed, count(*) FROM st.interruption GROUP BY feed UNION ALL"
            " SELECT feed, count(*) FROM st.fx GROUP BY feed) GROUP BY feed) c ON c.feed = fm.id",
            st->hash, (long long)st->fetched_at, (long long)ended(st));
    }
    int64_t feed = 0;
    int rc = feed_id(st, &feed, err);
    if (rc == 0) {
        rc = insert_run(st, feed, "published", NULL, res, repeated, err);
    }
    long long run = sqlite3_last_insert_rowid(d->h);
    rc = rc ? rc : observed_published(st, feed, err);
    if (rc == 0 && st->rows == 0 && st->sells_out) {
        rc = db_execf(d, err, "UPDATE main.fetch_run SET as_of = %lld WHERE id = %lld",
                      (long long)st->fetched_at, run);
    } else if (rc == 0 && st->rows == st->count[ST_SPOT]) { /* price rows keep their last date */
        rc = db_execf(d, err,
                      "UPDATE main.fetch_run SET as_of = iif(EXISTS(SELECT 1 FROM main.offer"
                      " WHERE feed = %lld AND known_to IS NULL), (SELECT as_of"
                      " FROM main.fetch_run WHERE feed = %lld AND state = 'published'"
                      " AND id < %lld ORDER BY id DESC LIMIT 1),"
                      " (SELECT max(time) FROM st.spot_point)) WHERE id = %lld",
                      (long long)feed, (long long)feed, run, run);
    } else if (rc == 0) {
        rc = db_execf(d, err,
                      "UPDATE main.fetch_run SET as_of = (SELECT " RUN_DATE
                      " FROM temp.feed_map fm WHERE fm.main = fetch_run.feed)"
                      " WHERE id = %lld",
                      run);
    }
    return rc == 0 && observed_step(st->store, st->source) > 0 ? runs_compact(d, feed, err) : rc;
}

static int merge_once(struct staging *st, struct publish_result *res, uint64_t repeats,
                      bool *repeated, struct gt_error *err)
{
    const struct db *d = &st->store->db;
    memset(res, 0, sizeof(*res));
    *repeated = false;
    res->rows = st->rows - repeats;
    int rc = db_begin(d, err);
    if (rc == 0 && snapshot_loaded(st)) { /* another process was first */
        return db_commit(d, err);
    }
    if (rc == 0) {
        rc = fill_maps(d, st, err);
    }
    /* A run of spot points alone says nothing about the feed's price rows. */
    if (rc == 0 && (st->rows > st->count[ST_SPOT] || st->sells_out)) {
        rc = merge_facts(d, st, res, repeated, err);
    }
    if (rc == 0 && (st->count[ST_SPOT] > 0 || st->series_complete)) {
        rc = series_merge(d, st, res, err);
    }
    if (rc == 0) {
        rc = record_published(st, res, repeats, err);
    }
    if (rc == 0 && st->snapshot != NULL) {
        rc = snapshot_reference(st, err);
    }
    if (rc == 0) {
        rc = db_exec(d, unmap_sql, err);
    }
    if (rc == 0) {
        return db_commit(d, err);
    }
    db_rollback(d);
    return rc;
}

static int attach(struct staging *st, struct gt_error *err)
{
    for (size_t i = 0; i < ST_COUNT; i++) {
        (void)sqlite3_finalize(st->stmt[i]);
        st->stmt[i] = NULL;
    }
    int rc = db_exec(&st->db, "COMMIT", err);
    db_close(&st->db);
    const struct db *d = &st->store->db;
    if (rc == 0) {
        rc = db_execf(d, err, "ATTACH %Q AS st", st->file);
    }
    return rc == 0 ? db_exec(d, "PRAGMA st.journal_mode = OFF; PRAGMA st.synchronous = OFF", err)
                   : rc;
}

/* The numbers of feeds, places and types come from joins with those very tables, so that looking
 * them up again for each row would find them all; reference tables of a snapshot are looked up. */
static int merge_trusted(struct staging *st, struct publish_result *res, uint64_t repeats,
                         bool *repeated, struct gt_error *err)
{
    const struct db *d = &st->store->db;
    bool trusted = st->snapshot == NULL;
    int rc = trusted ? db_exec(d, "PRAGMA foreign_keys = OFF", err) : 0;
    if (rc == 0) {
        rc = merge_once(st, res, repeats, repeated, err);
    }
    if (trusted) {
        (void)sqlite3_exec(d->h, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    }
    return rc;
}

/* Merges; a key that stands twice is only found by the unique index, so that the usual run pays
 * nothing for the search. */
static int merge(struct staging *st, struct publish_result *out, struct gt_error *err)
{
    bool repeated = false;
    uint64_t dropped = 0;
    int rc = merge_trusted(st, out, 0, &repeated, err);
    if (rc != 0 && repeated) {
        rc = merge_unrepeat(&st->store->db, &dropped, err);
        if (rc == 0) {
            rc = merge_trusted(st, out, dropped, &repeated, err);
            out->repeated = dropped;
        }
    }
    return rc;
}

int staging_publish(struct staging *st, struct publish_result *out, struct gt_error *err)
{
    struct gt_error mine = {0};
    struct publish_result scratch;
    struct store *s = st->store;
    struct publish_result *res = out != NULL ? out : &scratch;
    memset(res, 0, sizeof(*res));
    store_lock(s);
    int rc = 0;
    if (st->rows == 0 && st->snapshot == NULL && !st->sells_out) {
        rc = gt_fail(&mine, GT_EPARSE, st->url, "the price list has no rows; nothing is published");
    }
    if (rc == 0) {
        rc = attach(st, &mine);
        if (rc == 0) {
            rc = merge(st, res, &mine);
        }
        (void)sqlite3_exec(s->db.h, "DETACH st", NULL, NULL, NULL);
    }
    if (rc != 0) {
        memset(res, 0, sizeof(*res));
        const char *state = rc == GT_EQUARANTINE ? "quarantined" : "failed";
        if (rc == GT_EQUARANTINE) {
            quarantine_hint(st, &mine);
        }
        if (st->snapshot == NULL && run_record(st, state, mine.text, NULL) != 0) {
            db_rollback(&s->db);
        }
        bool file = rc == GT_EQUARANTINE && st->origin != ORIGIN_FETCHED;
        (void)gt_fail(err, rc, file ? st->url : mine.where, "%s", mine.text);
    }
    store_unlock(s);
    staging_release(st);
    return rc;
}
