/* Changes too large to publish unseen (product.md section 7): a region loses more than half of its
 * rows or of its prices, a kind of price (all of spot, all retrieval fees) or a field vanishes,
 * more than 5 % of the prices move by a factor above 3, or a currency changes. The baseline is what
 * the same source's last fetch or import left open; bundled rows are in other feeds. Where the
 * regions of a list are those with a free place now, its instance types are counted instead. */
#include "gputier/fetch.h"
#include "store_impl.h"
#include <stdio.h>
#include <string.h>

/* sort_price is binary: a price of exactly 3 times another may come out a last bit above it. */
#define MOVE_FACTOR      "3.000000000001"
#define MOVE_SHARE_PARTS 20 /* 1/20 = 5 % */
/* A field that so many rows had, or half of them, does not vanish by chance; of a list that the
 * user writes it takes so many rows, of a kind of price too: who has two rows may drop one; of a
 * list of what is free now as well. */
#define MANY_ROWS 10

/* The first row of sql, NULL in *out: none. The caller finalizes. */
static int first_row(const struct db *d, char *sql, sqlite3_stmt **out, struct gt_error *err)
{
    bool row = false;
    *out = NULL;
    if (sql == NULL) {
        return gt_fail(err, GT_ENOMEM, d->path, "out of memory");
    }
    int rc = db_prepare(d, sql, out, err);
    rc = rc ? rc : db_step(d, *out, &row, err);
    if (!row) {
        (void)sqlite3_finalize(*out);
        *out = NULL;
    }
    sqlite3_free(sql);
    return rc;
}

/* what: what is counted of the rows, "*" or a column that must not be NULL. */
static int check_shrink(const struct db *d, const struct fact_table *t, const char *what,
                        const char *noun, struct gt_error *err)
{
    sqlite3_stmt *st;
    int rc = first_row(
        d,
        sqlite3_mprintf(
            "WITH old AS (SELECT p.vendor AS v, p.region AS r, count(%s) AS n FROM main.%s o"
            "  JOIN main.place p ON p.id = o.place WHERE o.known_to IS NULL"
            "  AND o.feed IN (SELECT main FROM temp.feed_map) GROUP BY 1, 2),"
            " new AS (SELECT p.vendor AS v, p.region AS r, count(%s) AS n FROM st.%s s"
            "  JOIN st.place p ON p.id = s.place GROUP BY 1, 2)"
            "SELECT old.v, old.r, old.n, coalesce(new.n, 0) FROM old LEFT JOIN new USING (v, r)"
            " WHERE 2 * coalesce(new.n, 0) < old.n ORDER BY old.n - coalesce(new.n, 0) DESC, 1, 2"
            " LIMIT 1",
            what, t->name, what, t->name),
        &st, err);
    if (rc == 0 && st != NULL) {
        rc = gt_fail(err, GT_EQUARANTINE, "",
                     "%s/%s shrinks from %lld to %lld %s; more than half may not vanish unseen",
                     column_str(st, 0), column_str(st, 1), (long long)sqlite3_column_int64(st, 2),
                     (long long)sqlite3_column_int64(st, 3), noun);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

static int check_prices(const struct db *d, const struct fact_table *t, struct gt_error *err)
{
    sqlite3_stmt *st;
    int rc = first_row(
        d,
        sqlite3_mprintf("SELECT count(*), total(max(o.sort_price, s.sort_price) > " MOVE_FACTOR
                        " * min(o.sort_price, s.sort_price) AND o.currency = s.currency),"
                        " total(o.currency <> s.currency), max(CASE WHEN o.currency <> s.currency"
                        " THEN o.currency || ' to ' || s.currency END)"
                        " FROM temp.hit h CROSS JOIN main.%s o ON o.id = h.oid CROSS JOIN st.%s s "
                        "ON s.rowid = h.sid"
                        " WHERE o.sort_price > 0 AND s.sort_price > 0",
                        t->name, t->name),
        &st, err);
    if (rc == 0 && st != NULL) {
        long long n = sqlite3_column_int64(st, 0), moved = sqlite3_column_int64(st, 1),
                  currency = sqlite3_column_int64(st, 2);
        if (currency > 0) {
            rc = gt_fail(err, GT_EQUARANTINE, "", "%lld of %lld prices change currency (%s)",
                         currency, n, column_str(st, 3));
        } else if (moved * MOVE_SHARE_PARTS > n) {
            rc =
                gt_fail(err, GT_EQUARANTINE, "",
                        "%lld of %lld prices move by a factor above 3; at most 5 %% may", moved, n);
        }
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* Of a list whose regions are those with a free place now: offers come and go there, but the types
 * that are sold do not vanish by half. */
static int check_types(const struct db *d, struct gt_error *err)
{
    sqlite3_stmt *st;
    int rc =
        first_row(d,
                  sqlite3_mprintf(
                      "SELECT (SELECT count(DISTINCT instance_type) FROM main.offer WHERE known_to"
                      " IS NULL AND feed IN (SELECT main FROM temp.feed_map)),"
                      " (SELECT count(DISTINCT instance_type) FROM st.offer)"),
                  &st, err);
    if (rc == 0 && st != NULL && 2 * sqlite3_column_int64(st, 1) < sqlite3_column_int64(st, 0)) {
        rc = gt_fail(
            err, GT_EQUARANTINE, "",
            "the list shrinks from %lld to %lld instance types; more than half may not vanish "
            "unseen",
            (long long)sqlite3_column_int64(st, 0), (long long)sqlite3_column_int64(st, 1));
    }
    (void)sqlite3_finalize(st);
    return rc;
}

static bool own_list(const char *source)
{
    const struct source_def *def = source_find(source);
    return def != NULL && def->kind == SOURCE_OWN;
}

/* A kind of price that stands nowhere in the new list: its column is gone, or the feed of it.
 * few_may_go: less than MANY_ROWS of it may go by themselves. */
static int check_kinds(const struct db *d, const struct fact_table *t, bool few_may_go,
                       struct gt_error *err)
{
    bool offers = strcmp(t->name, "offer") == 0;
    const char *kind = offers ? "purchase" : "component";
    if (!fact_has(t->key, kind)) {
        return 0;
    }
    sqlite3_stmt *st;
    int rc =
        first_row(d,
                  sqlite3_mprintf(
                      /* the kinds stand in the index: no row is read where none is missing */
                      "SELECT %s, count(*) FROM main.%s WHERE known_to IS NULL"
                      " AND feed IN (SELECT main FROM temp.feed_map)"
                      " AND %s NOT IN (SELECT DISTINCT %s FROM st.%s WHERE sort_price > 0)"
                      " AND sort_price > 0 GROUP BY %s HAVING count(*) >= %d"
                      " ORDER BY 2 DESC, 1 LIMIT 1",
                      offers ? "(SELECT name FROM main.purchase_option WHERE id = purchase)" : kind,
                      t->name, kind, kind, t->name, kind, few_may_go ? MANY_ROWS : 1),
                  &st, err);
    if (rc == 0 && st != NULL) {
        long long n = sqlite3_column_int64(st, 1);
        rc = n == 1 ? gt_fail(err, GT_EQUARANTINE, "",
                              "the only %s price vanishes; no kind of price may vanish unseen",
                              column_str(st, 0))
                    : gt_fail(err, GT_EQUARANTINE, "",
                              "all %lld %s prices vanish; no kind of price may vanish unseen", n,
                              column_str(st, 0));
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* The fields that a list may have or lack, and in how many of its rows they stand. A field that is
 * needed is an error of the reader when it lacks. */
static const struct {
    const char *name, *count, *of;
} fields[] = {
    {"zone", "sum(zone <> '')", "place"},
    {"GPU", "sum(gpu_num > 0)", "instance_type"},
    {"GPU memory", "count(gpu_memory_gib)", "instance_type"},
    {"vCPUs", "count(vcpus)", "instance_type"},
    {"memory", "count(memory_gib)", "instance_type"},
    {"local disk", "count(local_nvme_gb)", "instance_type"},
    {"network rate", "count(network_gbps)", "instance_type"},
    {"SKU", "count(sku)", "offer"},
    {"up-front price", "count(upfront)", "offer"},
    {"SKU of storage", "count(sku)", "storage_rate"},
    {"SKU of transfer", "count(sku)", "transfer_rate"},
    {"savings", "count(savings_pct)", "interruption"},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Per field the rows that have it, and the rows. */
static int count_fields(const struct db *d, int64_t have[FIELDS], int64_t rows[FIELDS],
                        struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0, k; rc == 0 && i < FIELDS; i = k) { /* one pass a table */
        char sql[400] = "SELECT count(*)";
        for (k = i; k < FIELDS && strcmp(fields[k].of, fields[i].of) == 0; k++) {
            size_t len = strlen(sql);
            (void)snprintf(sql + len, sizeof sql - len, ", %s", fields[k].count);
        }
        size_t len = strlen(sql);
        (void)snprintf(sql + len, sizeof sql - len, " FROM st.%s", fields[i].of);
        sqlite3_stmt *st;
        rc = first_row(d, sqlite3_mprintf("%s", sql), &st, err);
        for (size_t c = i; rc == 0 && st != NULL && c < k; c++) {
            rows[c] = sqlite3_column_int64(st, 0);
            have[c] = sqlite3_column_int64(st, (int)(c - i) + 1);
        }
        (void)sqlite3_finalize(st);
    }
    return rc;
}

int quarantine_fields(const struct db *d, const struct staging *list, struct gt_error *err)
{
    int64_t have[FIELDS] = {0}, rows[FIELDS] = {0};
    bool few_may_go = own_list(list->source) || list->regions_vary;
    sqlite3_stmt *st;
    int rc = count_fields(d, have, rows, err);
    if (list->regions_vary || list->series_complete || list->count[ST_SPOT] > 0) {
        rows[0] = 0; /* the zones are those of the spot points of this moment */
    }
    rc = rc ? rc
            : first_row(d,
                        sqlite3_mprintf("SELECT fields FROM main.feed WHERE fields IS NOT NULL AND"
                                        " id IN (SELECT main FROM temp.feed_map)"),
                        &st, err);
    if (rc != 0) {
        return rc;
    }
    int64_t before = st != NULL ? sqlite3_column_int64(st, 0) : 0, now = 0;
    (void)sqlite3_finalize(st);
    for (size_t i = 0; i < FIELDS; i++) {
        bool usual = have[i] >= MANY_ROWS || (!few_may_go && have[i] > 0 && 2 * have[i] >= rows[i]);
        /* a list without rows of that table says nothing about its fields */
        usual = usual || (rows[i] == 0 && (before >> i & 1) != 0);
        if (!list->accept_large_change && (before >> i & 1) != 0 && rows[i] > 0 && have[i] == 0) {
            return gt_fail(err, GT_EQUARANTINE, "",
                           "no row has its %s any more; no field may vanish unseen",
                           fields[i].name);
        }
        now |= (int64_t)usual << i;
    }
    return db_execf(d, err,
                    "UPDATE main.feed SET fields = %lld WHERE fields IS NOT %lld AND"
                    " id IN (SELECT main FROM temp.feed_map)",
                    (long long)now, (long long)now);
}

/* Rows that stand on the pages that were not read look like rows that vanished. */
static int check_goes_on(const struct db *d, const struct fact_table *t, struct gt_error *err)
{
    int64_t n = 0;
    char sql[240];
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM main.%s WHERE known_to IS NULL AND feed IN"
                   " (SELECT main FROM temp.feed_map) AND id NOT IN (SELECT oid FROM temp.hit)",
                   t->name);
    int rc = db_int(d, sql, &n, err);
    return rc || n == 0 ? rc
                        : gt_fail(err, GT_EQUARANTINE, "",
                                  "the list goes on behind its last page here, and %lld rows of"
                                  " before are not in it: import all of its pages together",
                                  (long long)n);
}

int quarantine_check(const struct db *d, const struct fact_table *t, const struct staging *list,
                     struct gt_error *err)
{
    int rc = list->goes_on && t->vanishing ? check_goes_on(d, t, err) : 0;
    if (rc != 0) {
        return rc;
    }
    if (list->regions_vary && strcmp(t->name, "offer") == 0) {
        rc = list->sells_out ? 0 : check_types(d, err);
    } else if (fact_has(t->key, "place")) {
        rc = check_shrink(d, t, "*", "rows", err);
        int64_t unpriced = 0; /* where every row has a price, prices do not vanish by themselves */
        if (rc == 0 && t->priced) {
            char sql[100];
            (void)snprintf(sql, sizeof sql,
                           "SELECT EXISTS(SELECT 1 FROM st.%s WHERE sort_price IS NULL)", t->name);
            rc = db_int(d, sql, &unpriced, err);
        }
        if (rc == 0 && unpriced != 0) {
            rc = check_shrink(d, t, "sort_price", "prices", err);
        }
    }
    if (rc == 0 && t->priced) {
        rc = check_prices(d, t, err);
    }
    /* of hosts that are free now the last one with a bid may be taken by somebody */
    bool few_may_go = own_list(list->source) || list->regions_vary;
    return rc == 0 && t->priced && !list->sells_out ? check_kinds(d, t, few_may_go, err) : rc;
}

void quarantine_hint(const struct staging *st, struct gt_error *err)
{
    size_t len = strlen(err->text);
    bool fetched = st->origin == ORIGIN_FETCHED;
    (void)snprintf(err->text + len, sizeof err->text - len,
                   "; nothing is published. To see the list: gputier --db NEW.db %s %s%s%s%s; to"
                   " take it: the same with your database and --accept-large-change",
                   fetched ? "fetch" : "import", st->source, fetched ? "" : " FILE",
                   *st->region ? " --region " : "", st->region);
}
