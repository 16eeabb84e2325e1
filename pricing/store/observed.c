/* Times in which a feed was looked at (record.h), and the records of rounds that changed nothing.
 */
#include "gputier/record.h"
#include "gputier/units.h"
#include "store_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t observed_step(const struct store *s, const char *source)
{
    for (size_t i = 0; i < s->n_recorded; i++) {
        if (strcmp(s->recorded[i].source, source) == 0) {
            return s->recorded[i].step;
        }
    }
    return 0;
}

int store_record(struct store *s, const char *source_id, int64_t step_s, struct gt_error *err)
{
    size_t i = 0;
    store_lock(s);
    while (i < s->n_recorded && strcmp(s->recorded[i].source, source_id) != 0) {
        i++;
    }
    bool fits = i < STORE_RECORDED && strlen(source_id) < sizeof s->recorded[0].source;
    if (fits) {
        (void)snprintf(s->recorded[i].source, sizeof s->recorded[i].source, "%s", source_id);
        s->recorded[i].step = step_s;
        s->n_recorded += i == s->n_recorded;
    }
    store_unlock(s);
    return fits ? 0 : gt_fail(err, GT_ELIMIT, source_id, "too many sources are recorded at once");
}

static int bind_run(const struct db *d, const char *sql, int64_t a, int64_t b, int64_t c, int64_t e,
                    struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = db_prepare(d, sql, &st, err);
    if (rc == 0) {
        const int64_t v[] = {a, b, c, e};
        for (int i = 0; i < sqlite3_bind_parameter_count(st); i++) {
            (void)sqlite3_bind_int64(st, i + 1, v[i]);
        }
        rc = db_run(d, st, err);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* Joins [first, last] to the time before it when no round is missing between them, then swallows
 * what it reaches (files of a history may come in any order). */
int observed_add(const struct db *d, int64_t feed, int64_t first, int64_t last, int64_t step,
                 struct gt_error *err)
{
    int64_t late = step * RECORD_LATE_PCT / 100;
    int rc =
        bind_run(d,
                 "INSERT INTO main.observed(feed, first, last, step, rounds)"
                 " SELECT ?1, coalesce((SELECT o.first FROM main.observed o WHERE o.feed = ?1"
                 " AND o.first <= ?2 AND o.last + ?4 >= ?2 ORDER BY o.first DESC LIMIT 1), ?2),"
                 " ?3, 0, 1"
                 " WHERE EXISTS (SELECT 1 FROM main.pool WHERE feed = ?1)"
                 " ON CONFLICT(feed, first) DO UPDATE SET last = max(last, excluded.last),"
                 " rounds = rounds + 1",
                 feed, first, last, late, err);
    rc = rc ? rc
            : bind_run(d,
                       "UPDATE main.observed SET step = max(step, ?3),"
                       " last = max(last, coalesce((SELECT max(i.last) FROM main.observed i"
                       "   WHERE i.feed = ?1 AND i.first BETWEEN ?2 AND ?4), last))"
                       " WHERE feed = ?1 AND first = (SELECT max(o.first) FROM main.observed o"
                       "   WHERE o.feed = ?1 AND o.first <= ?2)",
                       feed, first, step, last, err);
    return rc ? rc
              : bind_run(d,
                         "DELETE FROM main.observed AS i WHERE i.feed = ?1 AND EXISTS (SELECT 1"
                         " FROM main.observed o WHERE o.feed = ?1 AND o.first < i.first"
                         " AND o.last >= i.last)",
                         feed, 0, 0, 0, err);
}

int observed_published(struct staging *st, int64_t feed, struct gt_error *err)
{
    const struct db *d = &st->store->db;
    int64_t step = observed_step(st->store, st->source), first = st->fetched_at, last = first;
    if (st->count[ST_SPOT] > 0) { /* a dated history covers the time from its first point on */
        sqlite3_stmt *q = NULL;
        bool row = false;
        int rc = db_prepare(d, "SELECT min(time), max(time) FROM st.spot_point", &q, err);
        rc = rc ? rc : db_step(d, q, &row, err);
        if (row) {
            int64_t newest = sqlite3_column_int64(q, 1); /* a vendor's clock may be ahead */
            first = sqlite3_column_int64(q, 0);
            last = st->origin == ORIGIN_FETCHED && last > newest ? last : newest;
        }
        (void)sqlite3_finalize(q);
        if (rc != 0) {
            return rc;
        }
    }
    return observed_add(d, feed, first, last, step, err);
}

/* Of rounds that changed nothing only those stay that say something: the newest run, the newest
 * that succeeded and the newest that was published (it holds the ETag). */
int runs_compact(const struct db *d, int64_t feed, struct gt_error *err)
{
    return bind_run(d,
                    "DELETE FROM main.fetch_run WHERE feed = ?1"
                    " AND added = 0 AND changed = 0 AND closed = 0 AND id NOT IN ("
                    "SELECT max(id) FROM main.fetch_run WHERE feed = ?1"
                    " UNION SELECT max(id) FROM main.fetch_run WHERE feed = ?1"
                    "  AND state IN ('published', 'unchanged')"
                    " UNION SELECT max(id) FROM main.fetch_run WHERE feed = ?1"
                    "  AND state = 'published')",
                    feed, 0, 0, 0, err);
}

int store_last_run(struct store *s, const char *source_id, int64_t *when, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *when = GT_TIME_NONE;
    store_lock(s);
    int rc = db_prepare(&s->db,
                        "SELECT max(r.started) FROM fetch_run r JOIN feed f ON f.id = r.feed"
                        " JOIN source s ON s.id = f.source WHERE s.name = ?1 AND f.bundled = 0"
                        " AND r.origin = 1",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, source_id, -1, SQLITE_STATIC);
        rc = db_step(&s->db, st, &row, err);
    }
    if (rc == 0 && row) {
        *when = column_time(st, 0);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_round(struct store *s, int64_t when, uint64_t *changed, struct gt_error *err)
{
    char sql[160];
    int64_t n = 0;
    (void)snprintf(sql, sizeof sql,
                   "SELECT sum(added + changed + closed) FROM fetch_run WHERE started = %lld"
                   " AND origin = 1 AND state = 'published'",
                   (long long)when);
    store_lock(s);
    int rc = db_int(&s->db, sql, &n, err);
    store_unlock(s);
    *changed = (uint64_t)n;
    return rc;
}

int store_observed(struct store *s, const char *vendor, const char *region, const char *zone,
                   const char *instance_type, const char *source_id,
                   int (*row)(void *ctx, const struct observed_time *o), void *ctx,
                   struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    struct observed_time at = {0};
    bool more = true, any = false;
    store_lock(s);
    int rc = db_prepare(&s->db,
                        "SELECT DISTINCT o.first, o.last, o.step FROM place p"
                        " JOIN instance_type t ON t.vendor = p.vendor AND t.name = ?4"
                        " JOIN observed o ON o.feed IN ("
                        "  SELECT feed FROM pool WHERE place = p.id AND instance_type = t.id"
                        "  UNION SELECT feed FROM offer WHERE place = p.id"
                        "  AND instance_type = t.id AND purchase = 1)"
                        " JOIN feed f ON f.id = o.feed JOIN source s ON s.id = f.source"
                        " WHERE p.vendor = ?1 AND p.region = ?2 AND p.zone = coalesce(?3, '')"
                        " AND (?5 IS NULL OR s.name = ?5) ORDER BY o.first, o.last",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, vendor, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, region, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 3, zone, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 4, instance_type, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 5, source_id, -1, SQLITE_STATIC);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        struct observed_time next = {sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                                     sqlite3_column_int64(st, 2)};
        if (any && next.first <= at.last) {
            at.last = next.last > at.last ? next.last : at.last;
            at.step_s = next.step_s > at.step_s ? next.step_s : at.step_s;
            continue;
        }
        rc = any ? row(ctx, &at) : 0;
        at = next;
        any = true;
    }
    if (rc == 0 && any) {
        rc = row(ctx, &at);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}
