/* Series of spot pools (price, availability), changes only, one per source. Two kinds of points:
 * those of the very time of the run are looks: one that repeats the last is dropped. Others are a
 * dated history: equal points that follow one another in a file make one interval, and intervals
 * of one value that overlap become one. So the files of a history give the same rows in whatever
 * order they come, with whatever holes between them. */
#include "store_impl.h"
#include <stdio.h>
#include <string.h>

enum { LAST, OVERLAP, PUT, DROP, POOL, N_STATEMENTS };
#define POOL_KEY " WHERE instance_type = ?1 AND place = ?2 AND source = ?3"
static const char *const sql[N_STATEMENTS] = {
    [LAST] = "SELECT time, until, price, currency, available FROM main.spot_point" POOL_KEY
             " AND time <= ?4 ORDER BY time DESC LIMIT 1",
    /* Intervals do not overlap one another: the last that begins by ?5 is the only candidate. */
    [OVERLAP] = "SELECT time, until, price, currency, available FROM main.spot_point" POOL_KEY
                " AND time <= ?5 AND until >= ?4 ORDER BY time DESC LIMIT 1",
    [PUT] = "INSERT OR REPLACE INTO main.spot_point(instance_type, place, source, time, until,"
            " price, currency, available) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [DROP] = "DELETE FROM main.spot_point" POOL_KEY " AND time = ?4",
    [POOL] = "INSERT OR IGNORE INTO main.pool(instance_type, place, feed) VALUES(?1, ?2, ?3)",
};

/* A value and the time in which it holds. */
struct run {
    int64_t type, place, source, feed;
    int64_t time, until;
    char price[MONEY_TEXT], currency[8]; /* "" = null */
    int64_t available;                   /* < 0 = null */
};
struct series {
    const struct db *d;
    sqlite3_stmt *st[N_STATEMENTS];
    struct publish_result *res;
    int64_t round;
    struct gt_error *err;
};

static void read_value(sqlite3_stmt *st, int first, struct run *r)
{
    (void)snprintf(r->price, sizeof r->price, "%s", column_str(st, first));
    (void)snprintf(r->currency, sizeof r->currency, "%s", column_str(st, first + 1));
    bool null = sqlite3_column_type(st, first + 2) == SQLITE_NULL;
    r->available = null ? -1 : sqlite3_column_int64(st, first + 2);
}

static bool same_pool(const struct run *a, const struct run *b)
{
    return a->type == b->type && a->place == b->place && a->source == b->source;
}

static bool same_value(const struct run *a, const struct run *b)
{
    return strcmp(a->price, b->price) == 0 && strcmp(a->currency, b->currency) == 0 &&
           a->available == b->available;
}

static sqlite3_stmt *bind_pool(const struct series *s, int which, const struct run *r)
{
    sqlite3_stmt *st = s->st[which];
    (void)sqlite3_reset(st);
    (void)sqlite3_bind_int64(st, 1, r->type);
    (void)sqlite3_bind_int64(st, 2, r->place);
    (void)sqlite3_bind_int64(st, 3, which == POOL ? r->feed : r->source);
    return st;
}

static int put(const struct series *s, const struct run *r)
{
    sqlite3_stmt *st = bind_pool(s, PUT, r);
    (void)sqlite3_bind_int64(st, 4, r->time);
    (void)sqlite3_bind_int64(st, 5, r->until);
    bind_text(st, 6, r->price);
    bind_text(st, 7, r->currency);
    if (r->available < 0) {
        (void)sqlite3_bind_null(st, 8);
    } else {
        (void)sqlite3_bind_int64(st, 8, r->available);
    }
    return db_run(s->d, st, s->err);
}

static int drop(const struct series *s, const struct run *r)
{
    sqlite3_stmt *st = bind_pool(s, DROP, r);
    (void)sqlite3_bind_int64(st, 4, r->time);
    return db_run(s->d, st, s->err);
}

/* The stored run that LAST or OVERLAP finds for [from, to]; *found says whether there is one. */
static int find(const struct series *s, int which, const struct run *r, int64_t from, int64_t to,
                struct run *out, bool *found)
{
    sqlite3_stmt *st = bind_pool(s, which, r);
    (void)sqlite3_bind_int64(st, 4, from);
    if (which == OVERLAP) {
        (void)sqlite3_bind_int64(st, 5, to);
    }
    int rc = db_step(s->d, st, found, s->err);
    *out = *r;
    if (rc == 0 && *found) {
        out->time = sqlite3_column_int64(st, 0);
        out->until = sqlite3_column_int64(st, 1);
        read_value(st, 2, out);
    }
    (void)sqlite3_reset(st);
    return rc;
}

/* A look of this very moment. */
static int put_look(const struct series *s, const struct run *r)
{
    struct run last;
    bool found = false;
    int rc = find(s, LAST, r, r->time, 0, &last, &found);
    if (rc == 0 && found && same_value(&last, r)) {
        s->res->unchanged++;
        return 0;
    }
    s->res->changed += found && last.time == r->time;
    s->res->added += !found || last.time != r->time;
    return rc ? rc : put(s, r);
}

/* What the stored run says before and after the new one stays: of a contradiction the newer word
 * counts for its own time only. */
static int give_way(const struct series *s, const struct run *old, const struct run *r)
{
    int rc = 0;
    struct run rest = *old;
    if (old->time < r->time) {
        rest.until = old->time;
        rc = put(s, &rest);
    } else {
        rc = drop(s, old);
    }
    if (rc == 0 && old->until > r->until) {
        rest.time = rest.until = old->until;
        rc = put(s, &rest);
    }
    return rc;
}

static int put_interval(const struct series *s, struct run *r)
{
    struct run old;
    bool found = true, contained = false;
    int rc = 0;
    for (;;) {
        rc = find(s, OVERLAP, r, r->time, r->until, &old, &found);
        if (rc != 0 || !found) {
            break;
        }
        if (!same_value(&old, r)) {
            rc = give_way(s, &old, r);
        } else {
            contained = old.time <= r->time && old.until >= r->until;
            r->time = old.time < r->time ? old.time : r->time;
            r->until = old.until > r->until ? old.until : r->until;
            rc = contained ? 0 : drop(s, &old);
        }
        if (rc != 0 || contained) {
            break;
        }
    }
    s->res->unchanged += rc == 0 && contained;
    s->res->added += rc == 0 && !contained;
    return rc || contained ? rc : put(s, r);
}

static int flush(const struct series *s, struct run *r, bool *open)
{
    if (!*open) {
        return 0;
    }
    *open = false;
    return r->time == s->round && r->until == s->round ? put_look(s, r) : put_interval(s, r);
}

static int put_all(const struct series *s, const char *query)
{
    sqlite3_stmt *in = NULL;
    struct run run = {0}, next = {0};
    bool row = true, open = false;
    int rc = db_prepare(s->d, query, &in, s->err);
    if (rc == 0 && sqlite3_bind_parameter_count(in) > 0) {
        (void)sqlite3_bind_int64(in, 1, s->round);
    }
    while (rc == 0 && (rc = db_step(s->d, in, &row, s->err)) == 0 && row) {
        next.type = sqlite3_column_int64(in, 0);
        next.place = sqlite3_column_int64(in, 1);
        next.source = sqlite3_column_int64(in, 2);
        next.feed = sqlite3_column_int64(in, 3);
        next.time = next.until = sqlite3_column_int64(in, 4);
        read_value(in, 5, &next);
        if (open && same_pool(&run, &next) && same_value(&run, &next)) {
            s->res->unchanged++;
            run.until = next.until;
            continue;
        }
        rc = open && same_pool(&run, &next) ? 0 : db_run(s->d, bind_pool(s, POOL, &next), s->err);
        rc = rc ? rc : flush(s, &run, &open);
        run = next;
        open = true;
    }
    (void)sqlite3_finalize(in);
    return rc ? rc : flush(s, &run, &open);
}

static const char staged_sql[] =
    "SELECT tm.main, pm.main, f.source, fm.main, s.time, s.price, s.currency, s.available"
    " FROM st.spot_point s CROSS JOIN temp.feed_map fm ON fm.id = s.feed"
    " CROSS JOIN main.feed f ON f.id = fm.main"
    " CROSS JOIN temp.place_map pm ON pm.id = s.place"
    " CROSS JOIN temp.type_map tm ON tm.id = s.instance_type ORDER BY 1, 2, 3, 5, 6, 8";
/* Pools that the feed spoke of before and that a complete list no longer names have none now. */
static const char absent_sql[] =
    "SELECT k.instance_type, k.place, f.source, k.feed, ?1, NULL, NULL, 0 FROM temp.feed_map fm"
    " CROSS JOIN main.pool k ON k.feed = fm.main CROSS JOIN main.feed f ON f.id = k.feed"
    " WHERE (SELECT x.available FROM main.spot_point x WHERE x.instance_type = k.instance_type"
    "   AND x.place = k.place AND x.source = f.source AND x.time <= ?1"
    "   ORDER BY x.time DESC LIMIT 1) > 0"
    " AND NOT EXISTS (SELECT 1 FROM temp.named n WHERE n.instance_type = k.instance_type"
    "   AND n.place = k.place) ORDER BY 1, 2, 3";
static const char named_sql[] =
    "CREATE TEMP TABLE named(instance_type INTEGER, place INTEGER,"
    " PRIMARY KEY(instance_type, place)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.named SELECT tm.main, pm.main FROM st.spot_point s"
    " CROSS JOIN temp.place_map pm ON pm.id = s.place"
    " CROSS JOIN temp.type_map tm ON tm.id = s.instance_type";

int series_merge(const struct db *d, const struct staging *staging, struct publish_result *res,
                 struct gt_error *err)
{
    struct series s = {.d = d, .res = res, .round = staging->fetched_at, .err = err};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_STATEMENTS; i++) {
        rc = db_prepare(d, sql[i], &s.st[i], err);
    }
    rc = rc ? rc : put_all(&s, staged_sql);
    if (rc == 0 && staging->series_complete) {
        rc = db_exec(d, named_sql, err);
        rc = rc ? rc : put_all(&s, absent_sql);
        rc = rc ? rc : db_exec(d, "DROP TABLE temp.named", err);
    }
    for (size_t i = 0; i < N_STATEMENTS; i++) {
        (void)sqlite3_finalize(s.st[i]);
    }
    return rc;
}
