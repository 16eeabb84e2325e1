/* Series of spot pools (price, availability): kept as changes only. A point that repeats the one
 * before it is dropped, and a point that the new one makes redundant is removed. */
#include "store_impl.h"

enum { PREVIOUS, NEXT, PUT, DROP, N_STATEMENTS };
static const char *const sql[N_STATEMENTS] = {
    [PREVIOUS] = "SELECT price IS ?4 AND currency IS ?5 AND available IS ?6, time = ?3"
                 " FROM main.spot_point WHERE instance_type = ?1 AND place = ?2 AND time <= ?3"
                 " ORDER BY time DESC LIMIT 1",
    [NEXT] = "SELECT time, price IS ?4 AND currency IS ?5 AND available IS ?6"
             " FROM main.spot_point WHERE instance_type = ?1 AND place = ?2 AND time > ?3"
             " ORDER BY time LIMIT 1",
    [PUT] = "INSERT OR REPLACE INTO main.spot_point(instance_type, place, time, price, currency,"
            " available, feed) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [DROP] = "DELETE FROM main.spot_point WHERE instance_type = ?1 AND place = ?2 AND time = ?3",
};

static void bind_point(sqlite3_stmt *to, sqlite3_stmt *from, int n)
{
    (void)sqlite3_reset(to);
    for (int i = 0; i < n; i++) {
        (void)sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
    }
}

static int put_point(const struct db *d, sqlite3_stmt *const *st, sqlite3_stmt *in,
                     struct publish_result *res, struct gt_error *err)
{
    bool row = false, next = false;
    bind_point(st[PREVIOUS], in, 6);
    int rc = db_step(d, st[PREVIOUS], &row, err);
    bool same = row && sqlite3_column_int(st[PREVIOUS], 0) != 0;
    bool replaces = row && sqlite3_column_int(st[PREVIOUS], 1) != 0;
    (void)sqlite3_reset(st[PREVIOUS]);
    if (rc != 0 || same) {
        res->unchanged += rc == 0;
        return rc;
    }
    bind_point(st[NEXT], in, 6);
    rc = db_step(d, st[NEXT], &next, err);
    int64_t after = next ? sqlite3_column_int64(st[NEXT], 0) : 0;
    bool redundant = next && sqlite3_column_int(st[NEXT], 1) != 0;
    (void)sqlite3_reset(st[NEXT]);
    if (rc == 0) {
        bind_point(st[PUT], in, 7);
        rc = db_run(d, st[PUT], err);
    }
    if (rc == 0 && redundant) {
        bind_point(st[DROP], in, 2);
        (void)sqlite3_bind_int64(st[DROP], 3, after);
        rc = db_run(d, st[DROP], err);
    }
    if (replaces) {
        res->changed++;
    } else {
        res->added++;
    }
    return rc;
}

int series_merge(const struct db *d, struct publish_result *res, struct gt_error *err)
{
    sqlite3_stmt *st[N_STATEMENTS] = {NULL}, *in = NULL;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_STATEMENTS; i++) {
        rc = db_prepare(d, sql[i], &st[i], err);
    }
    if (rc == 0) {
        rc = db_prepare(d,
                        "SELECT tm.main, pm.main, s.time, s.price, s.currency, s.available, fm.main"
                        " FROM st.spot_point s"
                        " CROSS JOIN temp.feed_map fm ON fm.id = s.feed"
                        " CROSS JOIN temp.place_map pm ON pm.id = s.place"
                        " CROSS JOIN temp.type_map tm ON tm.id = s.instance_type"
                        " ORDER BY 1, 2, 3",
                        &in, err);
    }
    bool row = rc == 0;
    while (rc == 0 && row) {
        rc = db_step(d, in, &row, err);
        if (rc == 0 && row) {
            rc = put_point(d, st, in, res, err);
        }
    }
    (void)sqlite3_finalize(in);
    for (size_t i = 0; i < N_STATEMENTS; i++) {
        (void)sqlite3_finalize(st[i]);
    }
    return rc;
}
