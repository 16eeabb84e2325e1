/* Merging a complete staging into the main tables. Per fact table: pair staged rows with the open
 * rows of their key ("hit"), check the change, close what changed or vanished, insert the rest.
 * The SQL is made from the table of facts.c. */
#include "store_impl.h"
#include <stdio.h>
#include <string.h>

#define BULK_ROWS                                                                                  \
    20000 /* below this the indexes are kept up: they are made in no time either way */

/* Staged rows with an open row of their key, those of them that say the same, rows closed. */
struct pairs {
    uint64_t hits, closed;
    int64_t same;
};

static bool is(const char *column, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(column, name, len) == 0;
}

/* A staged column in the main database's numbers. */
static void add_mapped(struct buf *out, const char *column, size_t len)
{
    if (is(column, len, "place")) {
        (void)buf_adds(out, "pm.main");
    } else if (is(column, len, "instance_type")) {
        (void)buf_adds(out, "tm.main");
    } else {
        (void)buf_adds(out, "s.");
        (void)buf_add(out, column, len);
    }
}

static void add_name(struct buf *out, const char *column, size_t len)
{
    (void)buf_adds(out, ", ");
    (void)buf_add(out, column, len);
}

static void add_value(struct buf *out, const char *column, size_t len)
{
    (void)buf_adds(out, ", ");
    add_mapped(out, column, len);
}

static void add_same(struct buf *out, const char *column, size_t len)
{
    (void)buf_adds(out, " AND o.");
    (void)buf_add(out, column, len);
    (void)buf_adds(out, " IS s.");
    (void)buf_add(out, column, len);
}

static void add_join(struct buf *out, const char *column, size_t len)
{
    (void)buf_adds(out, " AND o.");
    (void)buf_add(out, column, len);
    (void)buf_adds(out, " = ");
    add_mapped(out, column, len);
}

/* "FROM st.TABLE s" with the number maps that its key needs. CROSS JOIN fixes the order. */
static void add_staged(struct buf *out, const struct fact_table *t)
{
    (void)buf_addf(out, " FROM st.%s s CROSS JOIN temp.feed_map fm ON fm.id = s.feed", t->name);
    if (fact_has(t->key, "place")) {
        (void)buf_adds(out, " CROSS JOIN temp.place_map pm ON pm.id = s.place");
    }
    if (fact_has(t->key, "instance_type")) {
        (void)buf_adds(out, " CROSS JOIN temp.type_map tm ON tm.id = s.instance_type");
    }
}

/* Runs the SQL in b (released here); *changed = rows it touched. */
static int run_sql(const struct db *d, struct buf *b, int64_t when, uint64_t *changed,
                   struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = b->failed ? gt_fail(err, GT_ENOMEM, d->path, "out of memory")
                       : db_prepare(d, b->data, &st, err);
    if (rc == 0) {
        if (sqlite3_bind_parameter_count(st) > 0) {
            (void)sqlite3_bind_int64(st, 1, when);
        }
        rc = db_run(d, st, err);
    }
    *changed = rc == 0 ? (uint64_t)sqlite3_changes64(d->h) : 0;
    (void)sqlite3_finalize(st);
    buf_release(b);
    return rc;
}

static int pair_rows(const struct db *d, const struct fact_table *t, uint64_t *hits,
                     struct gt_error *err)
{
    struct buf b;
    buf_init(&b, 16384);
    (void)buf_adds(&b, "INSERT INTO temp.hit SELECT s.rowid, o.id, 1");
    fact_each(t->value, add_same, &b);
    add_staged(&b, t);
    (void)buf_addf(&b, " CROSS JOIN main.%s o ON o.known_to IS NULL AND o.feed = fm.main", t->name);
    fact_each(t->key, add_join, &b);
    return run_sql(d, &b, 0, hits, err);
}

/* Closes rows that changed and, where the table says so, rows that the run no longer has. */
static int close_rows(const struct db *d, const struct fact_table *t, int64_t when,
                      uint64_t *closed, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, 16384);
    (void)buf_addf(&b,
                   "UPDATE main.%s SET known_to = max(?1, known_from) WHERE known_to IS NULL"
                   " AND feed IN (SELECT main FROM temp.feed_map) AND id %s",
                   t->name,
                   t->vanishing ? "NOT IN (SELECT oid FROM temp.hit WHERE same)"
                                : "IN (SELECT oid FROM temp.hit WHERE NOT same)");
    return run_sql(d, &b, when, closed, err);
}

static int insert_rows(const struct db *d, const struct fact_table *t, bool bundled, bool any_hit,
                       int64_t when, uint64_t *added, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, 16384);
    (void)buf_addf(&b, "INSERT INTO main.%s(feed, known_from", t->name);
    fact_each(t->key, add_name, &b);
    fact_each(t->value, add_name, &b);
    fact_each(t->extra, add_name, &b);
    /* A bundled price was known on its own date, whenever this program was installed. */
    (void)buf_addf(&b, ") SELECT fm.main, %s", bundled ? "coalesce(s.as_of, ?1)" : "?1");
    fact_each(t->key, add_value, &b);
    fact_each(t->value, add_value, &b);
    fact_each(t->extra, add_value, &b);
    add_staged(&b, t);
    if (any_hit) {
        (void)buf_adds(&b, " WHERE s.rowid NOT IN (SELECT sid FROM temp.hit WHERE same)");
    }
    return run_sql(d, &b, when, added, err);
}

/* Rows that stay and carry dates of their own get the new one; a date common to the whole run is
 * kept once, in fetch_run. */
static int refresh_dates(const struct db *d, const struct fact_table *t, struct gt_error *err)
{
    return db_execf(d, err,
                    "UPDATE main.%s AS o SET as_of = s.as_of FROM temp.hit h"
                    " JOIN st.%s s ON s.rowid = h.sid"
                    " WHERE h.same AND o.id = h.oid AND o.as_of IS NOT s.as_of",
                    t->name, t->name);
}

static int one_date(const struct db *d, bool *same, struct gt_error *err)
{
    int64_t dates = 0;
    int rc = db_int(d,
                    "SELECT max(n) FROM (SELECT feed, count(DISTINCT coalesce(a, -1)) AS n FROM ("
                    "SELECT DISTINCT feed, as_of AS a FROM st.offer"
                    " UNION SELECT DISTINCT feed, as_of FROM st.storage_rate"
                    " UNION SELECT DISTINCT feed, as_of FROM st.transfer_rate"
                    " UNION SELECT DISTINCT feed, as_of FROM st.interruption) GROUP BY feed)",
                    &dates, err);
    *same = dates <= 1;
    return rc;
}

/* More rows than there are open ones to be as before: some say one thing twice. */
static int count_twice(const struct db *d, const struct fact_table *t, uint64_t hits, bool *twice,
                       struct gt_error *err)
{
    int64_t open = 0;
    char sql[200];
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM main.%s WHERE known_to IS NULL"
                   " AND feed IN (SELECT main FROM temp.feed_map)",
                   t->name);
    int rc = db_int(d, sql, &open, err);
    *twice = rc == 0 && hits > (uint64_t)open;
    return *twice ? gt_fail(err, GT_EDB, d->path, "rows stand twice in a list") : rc;
}

/* Whether the feeds that are published have open rows in the table: if not, nothing can pair, close
 * or shrink. */
static int any_open(const struct db *d, const struct fact_table *t, int64_t *any,
                    struct gt_error *err)
{
    char sql[200];
    (void)snprintf(sql, sizeof sql,
                   "SELECT EXISTS(SELECT 1 FROM temp.feed_map fm CROSS JOIN main.%s o"
                   " ON o.feed = fm.main AND o.known_to IS NULL)",
                   t->name);
    return db_int(d, sql, any, err);
}

/* Pairs the staged rows with the open ones, checks the change, closes what changed or vanished. */
static int close_old(const struct db *d, const struct staging *st, const struct fact_table *t,
                     struct pairs *p, bool *twice, struct gt_error *err)
{
    int rc = pair_rows(d, t, &p->hits, err);
    if (rc == 0 && p->hits > 0) {
        rc = count_twice(d, t, p->hits, twice, err);
    }
    if (rc == 0 && p->hits > 0) {
        rc = db_int(d, "SELECT count(*) FROM temp.hit WHERE same", &p->same, err);
    }
    if (rc == 0 && !st->accept_large_change && st->snapshot == NULL) {
        rc = quarantine_check(d, t, st, err);
    }
    return rc ? rc : close_rows(d, t, st->fetched_at, &p->closed, err);
}

/* Whether the staged rows outnumber those of the table so far: then its indexes are cheaper to make
 * anew, behind the rows, than to keep up row by row. */
static int is_bulk(const struct db *d, const struct fact_table *t, bool *bulk, struct gt_error *err)
{
    char sql[120];
    int64_t staged = 0, there = 0;
    (void)snprintf(sql, sizeof sql, "SELECT coalesce(max(rowid), 0) FROM st.%s", t->name);
    int rc = db_int(d, sql, &staged, err);
    if (rc == 0 && staged >= BULK_ROWS) {
        (void)snprintf(sql, sizeof sql, "SELECT coalesce(max(id), 0) FROM main.%s", t->name);
        rc = db_int(d, sql, &there, err);
    }
    *bulk = rc == 0 && staged >= BULK_ROWS && staged / 2 >= there;
    return rc;
}

/* Drops the table's indexes; *again: the SQL that makes them. A crash or error on the way rolls
 * back to the indexes as they were. */
static int drop_indexes(const struct db *d, const struct fact_table *t, struct buf *again,
                        struct gt_error *err)
{
    struct buf drop;
    sqlite3_stmt *q = NULL;
    bool row = false;
    buf_init(&drop, 16384);
    int rc = db_prepare(d,
                        "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index'"
                        " AND tbl_name = ?1 AND sql IS NOT NULL",
                        &q, err);
    if (rc == 0) {
        bind_text(q, 1, t->name);
    }
    while (rc == 0 && (rc = db_step(d, q, &row, err)) == 0 && row) {
        (void)buf_addf(&drop, "DROP INDEX main.%s;", column_str(q, 0));
        (void)buf_addf(again, "%s;", column_str(q, 1));
    }
    (void)sqlite3_finalize(q);
    if (rc == 0 && (drop.failed || again->failed)) {
        rc = gt_fail(err, GT_ENOMEM, d->path, "out of memory");
    }
    if (rc == 0 && drop.len > 0) {
        rc = db_exec(d, drop.data, err);
    }
    buf_release(&drop);
    return rc;
}

static int insert_bulk(const struct db *d, const struct staging *st, const struct fact_table *t,
                       bool any_hit, uint64_t *added, struct gt_error *err)
{
    bool bulk = false;
    struct buf again;
    buf_init(&again, 16384);
    int rc = is_bulk(d, t, &bulk, err);
    if (rc == 0 && bulk) {
        rc = drop_indexes(d, t, &again, err);
    }
    if (rc == 0) {
        rc = insert_rows(d, t, st->snapshot != NULL, any_hit, st->fetched_at, added, err);
    }
    if (rc == 0 && again.len > 0) {
        rc = db_exec(d, again.data, err);
    }
    buf_release(&again);
    return rc;
}

static int merge_table(const struct db *d, const struct staging *st, const struct fact_table *t,
                       bool uniform, struct publish_result *res, bool *twice, struct gt_error *err)
{
    uint64_t added = 0;
    struct pairs p = {0};
    int64_t open = 0;
    int rc = db_exec(d, "DELETE FROM temp.hit", err);
    if (rc == 0) {
        rc = any_open(d, t, &open, err);
    }
    if (rc == 0 && open) {
        rc = close_old(d, st, t, &p, twice, err);
    }
    if (rc == 0) {
        rc = insert_bulk(d, st, t, p.hits > 0, &added, err);
    }
    if (rc == 0 && p.same > 0 && !uniform) {
        rc = refresh_dates(d, t, err);
    }
    if (rc == 0) {
        uint64_t changed = p.hits - (uint64_t)p.same;
        res->unchanged += (uint64_t)p.same;
        res->changed += changed;
        res->added += added - changed;
        res->closed += p.closed - changed;
    }
    return rc;
}

int merge_facts(const struct db *d, const struct staging *st, struct publish_result *res,
                bool *repeated, struct gt_error *err)
{
    bool uniform = false;
    int rc = one_date(d, &uniform, err);
    uniform = uniform && st->snapshot == NULL; /* bundled rows keep their own dates */
    if (rc == 0 && st->snapshot == NULL) {
        rc = quarantine_fields(d, st, err);
    }
    const struct fact_table *t;
    for (size_t i = 0; rc == 0 && (t = fact_table_at(i)) != NULL; i++) {
        rc = merge_table(d, st, t, uniform, res, repeated, err);
    }
    *repeated =
        *repeated || (rc != 0 && sqlite3_extended_errcode(d->h) == SQLITE_CONSTRAINT_UNIQUE);
    return rc;
}

static void add_plain(struct buf *out, const char *column, size_t len)
{
    (void)buf_addc(out, ',');
    (void)buf_add(out, column, len);
}

int merge_unrepeat(const struct db *d, uint64_t *dropped, struct gt_error *err)
{
    int rc = 0;
    const struct fact_table *t;
    *dropped = 0;
    for (size_t i = 0; rc == 0 && (t = fact_table_at(i)) != NULL; i++) {
        struct buf b;
        uint64_t n = 0;
        if (t->priced) { /* of two open prices the later start ends the earlier one */
            buf_init(&b, 16384);
            (void)buf_addf(&b,
                           "UPDATE st.%s AS o SET valid_to = n.next,"
                           " period = CASE WHEN coalesce(o.valid_from, 0) = 0 THEN -1"
                           " ELSE o.valid_from END FROM ("
                           "SELECT rowid AS r, min(valid_from) OVER (PARTITION BY feed",
                           t->name);
            fact_each(t->key, add_plain, &b);
            (void)buf_addf(&b,
                           " ORDER BY valid_from GROUPS BETWEEN 1 FOLLOWING AND"
                           " UNBOUNDED FOLLOWING) AS next FROM st.%s WHERE period = 0) n"
                           " WHERE o.rowid = n.r AND n.next IS NOT NULL",
                           t->name);
            rc = run_sql(d, &b, 0, &n, err);
        }
        if (rc == 0) {
            buf_init(&b, 16384);
            (void)buf_addf(&b,
                           "DELETE FROM st.%s WHERE rowid IN (SELECT r FROM ("
                           "SELECT rowid AS r, row_number() OVER (PARTITION BY feed",
                           t->name);
            fact_each(t->key, add_plain, &b);
            (void)buf_addf(&b, " ORDER BY %s) AS n FROM st.%s) WHERE n > 1)", t->order, t->name);
            rc = run_sql(d, &b, 0, &n, err);
            *dropped += n;
        }
    }
    return rc;
}
