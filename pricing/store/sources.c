/* What is known of each source: its last run, state and the conditional-request fields. */
#include "gputier/units.h"
#include "store_impl.h"
#include <stdlib.h>
#include <string.h>

/* Prices older than this are called stale. */
#define FRESH_S ((int64_t)7 * 86400)

static char *dup_column(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);
    return text != NULL && text[0] != '\0' ? strdup(text) : NULL;
}

int store_http_state(struct store *s, const char *source_id, const char *scope, char **etag,
                     char **last_modified, struct gt_error *err)
{
    *etag = NULL;
    *last_modified = NULL;
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc =
        db_prepare(&s->db,
                   "SELECT r.etag, r.last_modified, r.parser IS ?3 FROM fetch_run r JOIN feed f"
                   " ON f.id = r.feed JOIN source s ON s.id = f.source"
                   " WHERE s.name = ?1 AND f.scope = ?2 AND f.bundled = 0"
                   " AND r.state = 'published' ORDER BY r.id DESC LIMIT 1",
                   &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, source_id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, scope != NULL ? scope : "", -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 3, parsers_digest(), -1, SQLITE_STATIC);
        rc = db_step(&s->db, st, &row, err);
    }
    if (row && sqlite3_column_int(st, 2) != 0) { /* rows of other readers are read again */
        *etag = dup_column(st, 0);
        *last_modified = dup_column(st, 1);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_last_fetch(struct store *s, const char *source_id, const char *scope, int64_t *when,
                     struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc = db_prepare(&s->db,
                        "SELECT max(r.started) FROM fetch_run r JOIN feed f ON f.id = r.feed"
                        " JOIN source s ON s.id = f.source WHERE s.name = ?1 AND f.scope = ?2"
                        " AND r.origin = 1 AND r.state IN ('published', 'unchanged')",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, source_id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, scope, -1, SQLITE_STATIC);
        rc = db_step(&s->db, st, &row, err);
    }
    *when = row ? column_time(st, 0) : GT_TIME_NONE;
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

/* The feed of a source's published part, 0 when nothing was published yet. */
static int published_feed(const struct db *d, const char *source_id, const char *scope,
                          int64_t *feed, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc = db_prepare(d,
                        "SELECT f.id FROM feed f JOIN source s ON s.id = f.source"
                        " WHERE s.name = ?1 AND f.scope = ?2 AND f.bundled = 0 AND EXISTS ("
                        "SELECT 1 FROM fetch_run r WHERE r.feed = f.id AND r.state = 'published')",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, source_id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, scope != NULL ? scope : "", -1, SQLITE_STATIC);
        rc = db_step(d, st, &row, err);
    }
    *feed = row ? sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return rc;
}

int store_touch_source(struct store *s, const char *source_id, const char *scope, int64_t when,
                       struct gt_error *err)
{
    const struct db *d = &s->db;
    int64_t feed = 0, step;
    int rc = store_writable(s, err);
    if (rc != 0) {
        return rc;
    }
    store_lock(s);
    step = observed_step(s, source_id);
    rc = db_begin(d, err);
    rc = rc ? rc : published_feed(d, source_id, scope, &feed, err);
    if (rc == 0 && feed == 0) {
        rc = gt_fail(err, GT_ENOTFOUND, source_id, "nothing of this source was published yet");
    }
    if (rc == 0) {
        rc = db_execf(d, err,
                      "INSERT INTO fetch_run(feed, origin, state, url, started, ended, rows)"
                      " SELECT feed, origin, 'unchanged', url, %lld, %lld, rows FROM fetch_run"
                      " WHERE feed = %lld AND state = 'published' ORDER BY id DESC LIMIT 1",
                      (long long)when, (long long)when, (long long)feed);
    }
    rc = rc ? rc : observed_add(d, feed, when, when, step, err);
    if (rc == 0 && step > 0) {
        rc = runs_compact(d, feed, err);
    }
    rc = rc ? rc : db_commit(d, err);
    if (rc != 0) {
        db_rollback(d);
    }
    store_unlock(s);
    return rc;
}

/* Per feed: the last run decides the state; rows, bytes and dates are those of what is published.
 */
static const char sources_sql[] =
    "SELECT s.name, f.scope, f.bundled, last.state, last.why, coalesce(pub.url, last.url, s.url),"
    " coalesce(pub.rows, 0), coalesce(pub.bytes, 0), coalesce(pub.as_of, (SELECT max(d) FROM ("
    "   SELECT max(as_of) AS d FROM offer WHERE feed = f.id AND known_to IS NULL"
    "   UNION ALL SELECT max(as_of) FROM storage_rate WHERE feed = f.id AND known_to IS NULL"
    "   UNION ALL SELECT max(as_of) FROM transfer_rate WHERE feed = f.id AND known_to IS NULL"
    "   UNION ALL SELECT max(as_of) FROM interruption WHERE feed = f.id AND known_to IS NULL"
    "   UNION ALL SELECT max(date) FROM fx WHERE feed = f.id AND known_to IS NULL))),"
    " (SELECT max(started) FROM fetch_run WHERE feed = f.id AND state IN"
    "   ('published', 'unchanged')), coalesce(pub.origin, last.origin)"
    " FROM feed f JOIN source s ON s.id = f.source"
    " JOIN fetch_run last ON last.id = (SELECT max(id) FROM fetch_run WHERE feed = f.id)"
    " LEFT JOIN fetch_run pub ON pub.id = (SELECT max(id) FROM fetch_run WHERE feed = f.id"
    "   AND state = 'published')"
    " ORDER BY s.name, f.bundled, f.scope";

int store_sources(struct store *s, int (*row)(void *ctx, const struct source_state *st), void *ctx,
                  struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db, sources_sql, &st, err);
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        bool bundled = sqlite3_column_int(st, 2) != 0;
        const char *last = column_str(st, 3);
        struct source_state state = {.source_id = column_str(st, 0),
                                     .scope = column_str(st, 1),
                                     .state = last,
                                     .why = column_str(st, 4),
                                     .url = column_str(st, 5),
                                     .rows = (uint64_t)sqlite3_column_int64(st, 6),
                                     .bytes = (uint64_t)sqlite3_column_int64(st, 7),
                                     .as_of = column_time(st, 8),
                                     .fetched_at = bundled ? GT_TIME_NONE : column_time(st, 9),
                                     .origin = (enum origin)sqlite3_column_int(st, 10)};
        if (bundled) {
            state.state = "bundled";
        } else if (strcmp(last, "published") == 0 || strcmp(last, "unchanged") == 0) {
            state.state = s->now - state.fetched_at <= FRESH_S ? "fresh" : "stale";
        }
        rc = row(ctx, &state);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

/* An unchanged run has no bytes of its own: hash and address are those of what is published. */
static const char files_sql[] =
    "SELECT coalesce(s.title, ''), coalesce(pub.url, s.url, ''), coalesce(s.licence, ''), f.scope,"
    " coalesce(pub.hash, ''), pub.bytes, coalesce(pub.as_of, s.as_of), f.bundled,"
    " (SELECT max(started) FROM fetch_run WHERE feed = f.id AND state IN"
    "   ('published', 'unchanged'))"
    " FROM source s JOIN feed f ON f.source = s.id"
    " JOIN fetch_run pub ON pub.id = (SELECT max(id) FROM fetch_run WHERE feed = f.id"
    "   AND state = 'published')"
    " WHERE s.name = ?1 ORDER BY f.bundled, f.scope";

int store_source_files(struct store *s, const char *source_id,
                       int (*row)(void *ctx, const struct source_file *f), void *ctx,
                       struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db, files_sql, &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, source_id, -1, SQLITE_STATIC);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        bool bundled = sqlite3_column_int(st, 7) != 0;
        struct source_file f = {.source_id = source_id,
                                .title = column_str(st, 0),
                                .url = column_str(st, 1),
                                .licence = column_str(st, 2),
                                .scope = column_str(st, 3),
                                .hash = column_str(st, 4),
                                .bytes = (uint64_t)sqlite3_column_int64(st, 5),
                                .as_of = column_time(st, 6),
                                .fetched_at = bundled ? GT_TIME_NONE : column_time(st, 8),
                                .bundled = bundled};
        rc = row(ctx, &f);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}
