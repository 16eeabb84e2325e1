/* Changes too large to publish unseen (product.md section 7): a region loses more than half of its
 * rows, more than 5 % of the prices move by a factor above 3, or a currency changes. The baseline
 * is what the same source's last fetch or import left open; bundled rows are in other feeds. Where
 * the regions of a list are those with a free place now, its instance types are counted instead. */
#include "store_impl.h"
#include <string.h>

#define MOVE_FACTOR      3
#define MOVE_SHARE_PARTS 20 /* 1/20 = 5 % */

static int check_shrink(const struct db *d, const struct fact_table *t, struct gt_error *err)
{
    char *sql = sqlite3_mprintf(
        "WITH old AS (SELECT p.vendor AS v, p.region AS r, count(*) AS n FROM main.%s o"
        "  JOIN main.place p ON p.id = o.place WHERE o.known_to IS NULL"
        "  AND o.feed IN (SELECT main FROM temp.feed_map) GROUP BY 1, 2),"
        " new AS (SELECT p.vendor AS v, p.region AS r, count(*) AS n FROM st.%s s"
        "  JOIN st.place p ON p.id = s.place GROUP BY 1, 2)"
        "SELECT old.v, old.r, old.n, coalesce(new.n, 0) FROM old LEFT JOIN new USING (v, r)"
        " WHERE 2 * coalesce(new.n, 0) < old.n ORDER BY old.n - coalesce(new.n, 0) DESC, 1, 2"
        " LIMIT 1",
        t->name, t->name);
    if (sql == NULL) {
        return gt_fail(err, GT_ENOMEM, d->path, "out of memory");
    }
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc = db_prepare(d, sql, &st, err);
    if (rc == 0) {
        rc = db_step(d, st, &row, err);
    }
    if (rc == 0 && row) {
        rc = gt_fail(err, GT_EQUARANTINE, t->name,
                     "%s/%s shrinks from %lld to %lld rows; more than half may not vanish unseen",
                     column_str(st, 0), column_str(st, 1), (long long)sqlite3_column_int64(st, 2),
                     (long long)sqlite3_column_int64(st, 3));
    }
    (void)sqlite3_finalize(st);
    sqlite3_free(sql);
    return rc;
}

static int check_prices(const struct db *d, const struct fact_table *t, struct gt_error *err)
{
    char *sql =
        sqlite3_mprintf("SELECT count(*), total(max(o.sort_price, s.sort_price) > %d * "
                        "min(o.sort_price, s.sort_price)"
                        " AND o.currency = s.currency),"
                        " total(o.currency <> s.currency), max(CASE WHEN o.currency <> s.currency"
                        " THEN o.currency || ' to ' || s.currency END)"
                        " FROM temp.hit h CROSS JOIN main.%s o ON o.id = h.oid CROSS JOIN st.%s s "
                        "ON s.rowid = h.sid"
                        " WHERE o.sort_price > 0 AND s.sort_price > 0",
                        MOVE_FACTOR, t->name, t->name);
    if (sql == NULL) {
        return gt_fail(err, GT_ENOMEM, d->path, "out of memory");
    }
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc = db_prepare(d, sql, &st, err);
    if (rc == 0) {
        rc = db_step(d, st, &row, err);
    }
    if (rc == 0 && row) {
        long long n = sqlite3_column_int64(st, 0), moved = sqlite3_column_int64(st, 1),
                  currency = sqlite3_column_int64(st, 2);
        if (currency > 0) {
            rc = gt_fail(err, GT_EQUARANTINE, t->name, "%lld of %lld prices change currency (%s)",
                         currency, n, column_str(st, 3));
        } else if (moved * MOVE_SHARE_PARTS > n) {
            rc = gt_fail(err, GT_EQUARANTINE, t->name,
                         "%lld of %lld prices move by a factor above %d; at most 5 %% may", moved,
                         n, MOVE_FACTOR);
        }
    }
    (void)sqlite3_finalize(st);
    sqlite3_free(sql);
    return rc;
}

/* Of a list whose regions are those with a free place now: offers come and go there, but the types
 * that are sold do not vanish by half. */
static int check_types(const struct db *d, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc =
        db_prepare(d,
                   "SELECT (SELECT count(DISTINCT instance_type) FROM main.offer WHERE known_to"
                   " IS NULL AND feed IN (SELECT main FROM temp.feed_map)),"
                   " (SELECT count(DISTINCT instance_type) FROM st.offer)",
                   &st, err);
    if (rc == 0) {
        rc = db_step(d, st, &row, err);
    }
    if (rc == 0 && row && 2 * sqlite3_column_int64(st, 1) < sqlite3_column_int64(st, 0)) {
        rc =
            gt_fail(err, GT_EQUARANTINE, "offer",
                    "the list shrinks from %lld to %lld instance types; more than half may not "
                    "vanish unseen",
                    (long long)sqlite3_column_int64(st, 0), (long long)sqlite3_column_int64(st, 1));
    }
    (void)sqlite3_finalize(st);
    return rc;
}

int quarantine_check(const struct db *d, const struct fact_table *t, bool regions_vary,
                     struct gt_error *err)
{
    int rc = 0;
    if (regions_vary && strcmp(t->name, "offer") == 0) {
        rc = check_types(d, err);
    } else if (fact_has(t->key, "place")) {
        rc = check_shrink(d, t, err);
    }
    return rc == 0 && t->priced ? check_prices(d, t, err) : rc;
}
