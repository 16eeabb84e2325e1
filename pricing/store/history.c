/* Prices over time: what this database believed and what the vendors dated, one offer key or spot
 * pool at a time; shipped traces and allowances. */
#include "store_impl.h"

/* A price's time is the vendor's date, else the bundled row's date, else when it was fetched. A
 * spot price repeating the one before from the same source says nothing new and is left out. */
static const char history_sql[] =
    "SELECT coalesce(o.valid_from, iif(f.bundled, o.as_of, NULL), o.known_from) AS time,"
    " coalesce(o.price, '0'), o.price_month, o.currency, s.name, o.sku, o.id, f.bundled, "
    "o.known_to,"
    " p.zone, o.valid_to"
    " FROM offer o JOIN instance_type t ON t.id = o.instance_type JOIN place p ON p.id = o.place"
    " JOIN feed f ON f.id = o.feed JOIN source s ON s.id = f.source"
    " WHERE t.vendor = ?1 AND t.name = ?4 AND p.vendor = ?1 AND p.region = ?2"
    " AND (?3 IS NULL OR p.zone = ?3) AND o.purchase = ?5 AND o.price_state = 0"
    " UNION ALL"
    " SELECT x.time, x.price, NULL, x.currency, s.name, NULL, 0, 0, NULL, x.zone, NULL"
    " FROM (SELECT x.time, x.price, x.currency, x.source, p.zone, lag(x.price || x.currency) OVER ("
    "   PARTITION BY x.place, x.source ORDER BY x.time) AS last"
    "  FROM spot_point x JOIN instance_type t ON t.id = x.instance_type"
    "  JOIN place p ON p.id = x.place"
    "  WHERE ?5 = 1 AND t.vendor = ?1 AND t.name = ?4 AND p.vendor = ?1 AND p.region = ?2"
    "  AND (?3 IS NULL OR p.zone = ?3) AND x.price IS NOT NULL) x JOIN source s ON s.id = x.source"
    " WHERE x.last IS NOT x.price || x.currency"
    " ORDER BY 1, 5, 10, 7";

int store_history(struct store *s, const char *vendor, const char *region, const char *zone,
                  const char *instance_type, enum purchase p,
                  int (*row)(void *ctx, const struct price_point *pt), void *ctx,
                  struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db, history_sql, &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, vendor, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, region, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 3, zone, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 4, instance_type, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int(st, 5, (int)p);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        struct price_point pt = {.when = sqlite3_column_int64(st, 0),
                                 .currency = column_str(st, 3),
                                 .source_id = column_str(st, 4),
                                 .sku = column_str(st, 5),
                                 .bundled = sqlite3_column_int(st, 7) != 0,
                                 .known_to = column_time(st, 8),
                                 .zone = column_str(st, 9),
                                 .valid_to = column_time(st, 10)};
        bool monthly = sqlite3_column_type(st, 2) != SQLITE_NULL;
        rc = column_money(&s->db, st, monthly ? 2 : 1, &pt.price, err);
        if (rc == 0) {
            rc = row(ctx, &pt);
        }
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

/* Rows of one value that follow one another are one point; until is then the last one's. */
static const char series_sql[] =
    "SELECT region, zone, name, time, price, currency, available, until, source FROM ("
    " SELECT *, lag(value) OVER w AS last, max(stated) OVER (PARTITION BY place, type, sid, run)"
    "   AS until FROM ("
    "  SELECT *, sum(fresh) OVER w AS run FROM ("
    "   SELECT *, lag(value) OVER w IS NOT value AS fresh FROM ("
    "    SELECT p.id AS place, t.id AS type, s.id AS sid, s.name AS source, p.region, p.zone,"
    "     t.name, x.time, x.until AS stated, x.price, x.currency, x.available,"
    "     coalesce(x.price, '') || ' ' || coalesce(x.currency, '') || ' '"
    "     || coalesce(x.available, '') AS value"
    "    FROM place p JOIN spot_point x ON x.place = p.id"
    "    JOIN instance_type t ON t.id = x.instance_type JOIN source s ON s.id = x.source"
    "    WHERE p.vendor = ?1 AND p.region = ?2 AND (?3 IS NULL OR p.zone = ?3)"
    "    AND (?4 IS NULL OR t.name = ?4))"
    "   WINDOW w AS (PARTITION BY place, type, sid ORDER BY time))"
    "  WINDOW w AS (PARTITION BY place, type, sid ORDER BY time))"
    " WINDOW w AS (PARTITION BY place, type, sid ORDER BY time))"
    " WHERE last IS NOT value ORDER BY name, zone, source, time";

int store_spot_series(struct store *s, const char *vendor, const char *region, const char *zone,
                      const char *instance_type,
                      int (*row)(void *ctx, const struct spot_series_point *pt), void *ctx,
                      struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db, series_sql, &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, vendor, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, region, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 3, zone, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 4, instance_type, -1, SQLITE_STATIC);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        struct spot_series_point pt = {.region = column_str(st, 0),
                                       .zone = column_str(st, 1),
                                       .instance_type = column_str(st, 2),
                                       .when = sqlite3_column_int64(st, 3),
                                       .price = -1,
                                       .currency = column_str(st, 5),
                                       .available = -1,
                                       .until = sqlite3_column_int64(st, 7),
                                       .source_id = column_str(st, 8)};
        if (sqlite3_column_type(st, 6) != SQLITE_NULL) {
            pt.available = sqlite3_column_int(st, 6);
        }
        if (sqlite3_column_type(st, 4) != SQLITE_NULL) {
            rc = column_money(&s->db, st, 4, &pt.price, err);
        }
        if (rc == 0) {
            rc = row(ctx, &pt);
        }
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_traces(struct store *s, const char *vendor,
                 int (*row)(void *ctx, const struct store_trace *t), void *ctx,
                 struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db,
                        "SELECT name, vendor, region, zone, instance_type, path,"
                        " coalesce(gap_s, 0), coalesce(nodes_probed, 0) FROM trace"
                        " WHERE ?1 IS NULL OR vendor = ?1 ORDER BY name",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, vendor, -1, SQLITE_STATIC);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        struct store_trace t = {.name = column_str(st, 0),
                                .vendor = column_str(st, 1),
                                .region = column_str(st, 2),
                                .zone = column_str(st, 3),
                                .instance_type = column_str(st, 4),
                                .path = column_str(st, 5),
                                .gap_s = sqlite3_column_int64(st, 6),
                                .nodes_probed = sqlite3_column_int(st, 7)};
        rc = row(ctx, &t);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_allowances(struct store *s, const char *vendor,
                     int (*row)(void *ctx, const struct store_allowance *a), void *ctx,
                     struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db,
                        "SELECT vendor, product, rule, value, unit, valid_from, source, confidence"
                        " FROM allowance WHERE ?1 IS NULL OR vendor = ?1 ORDER BY id",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, vendor, -1, SQLITE_STATIC);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        struct store_allowance a = {column_str(st, 0), column_str(st, 1), column_str(st, 2),
                                    column_str(st, 3), column_str(st, 4), column_str(st, 5),
                                    column_str(st, 6), column_str(st, 7)};
        rc = row(ctx, &a);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}
