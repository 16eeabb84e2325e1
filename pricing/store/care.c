/* The database's care: check, prune, backup. */
#include "store_impl.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends "label: first column" for each row of sql; *found counts them. */
static int findings(const struct db *d, const char *label, const char *sql, struct buf *report,
                    size_t *found, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool row = true;
    int rc = db_prepare(d, sql, &st, err);
    while (rc == 0 && (rc = db_step(d, st, &row, err)) == 0 && row) {
        const char *text = column_str(st, 0);
        if (strcmp(text, "ok") != 0) {
            ++*found;
            rc = buf_addf(report, "%s: %.300s\n", label, text);
        }
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* Domains that the schema's own constraints cannot state. */
static const struct {
    const char *label, *sql;
} checks[] = {
    {"integrity", "PRAGMA integrity_check(20)"},
    {"reference", "SELECT \"table\" || ' row ' || rowid || ' refers to a missing ' || parent"
                  " FROM pragma_foreign_key_check LIMIT 20"},
    {"interval", "SELECT 'offer ' || id || ' ends before it begins' FROM offer"
                 " WHERE known_to < known_from OR valid_to <= valid_from LIMIT 20"},
    {"interval", "SELECT 'storage_rate ' || id || ' ends before it begins' FROM storage_rate"
                 " WHERE known_to < known_from OR valid_to <= valid_from LIMIT 20"},
    {"vendor", "SELECT 'offer ' || o.id || ' pairs a place of ' || p.vendor || ' with a type of '"
               " || t.vendor FROM offer o JOIN place p ON p.id = o.place JOIN instance_type t"
               " ON t.id = o.instance_type WHERE p.vendor <> t.vendor LIMIT 20"},
    {"state", "SELECT 'offer ' || id || ' has a price that its state denies' FROM offer"
              " WHERE price_state <> 0 AND (price IS NOT NULL OR upfront IS NOT NULL"
              " OR price_month IS NOT NULL) LIMIT 20"},
    {"zero", "SELECT 'offer ' || id || ' is known and costs nothing' FROM offer"
             " WHERE price_state = 0 AND coalesce(price, '0') = '0'"
             " AND upfront IS NULL AND price_month IS NULL LIMIT 20"},
    {"gpu", "SELECT 'instance type ' || vendor || '/' || name || ' counts GPUs it does not name'"
            " FROM instance_type WHERE gpu_num > 0 AND gpu IS NULL LIMIT 20"},
    {"run", "SELECT 'feed ' || f.id || ' has open offers and no published run' FROM feed f"
            " WHERE EXISTS (SELECT 1 FROM offer WHERE feed = f.id AND known_to IS NULL)"
            " AND NOT EXISTS (SELECT 1 FROM fetch_run WHERE feed = f.id"
            " AND state = 'published') LIMIT 20"},
};

/* Amounts must read back to the same text: canonical decimals, within range. */
static int check_amounts(const struct db *d, const char *table, const char *column,
                         struct buf *report, size_t *found, struct gt_error *err)
{
    char sql[160];
    (void)snprintf(sql, sizeof(sql), "SELECT id, %s FROM %s WHERE %s IS NOT NULL", column, table,
                   column);
    sqlite3_stmt *st = NULL;
    bool row = true;
    size_t shown = 0;
    int rc = db_prepare(d, sql, &st, err);
    while (rc == 0 && shown < 20 && (rc = db_step(d, st, &row, err)) == 0 && row) {
        char back[MONEY_TEXT];
        money m = 0;
        const char *text = column_str(st, 1);
        if (money_parse(text, strlen(text), &m, NULL) != 0 || m < 0 ||
            strcmp(money_format(m, back), text) != 0) {
            shown++;
            rc = buf_addf(report, "amount: %s %lld has %s \"%.60s\"\n", table,
                          (long long)sqlite3_column_int64(st, 0), column, text);
        }
    }
    *found += shown;
    (void)sqlite3_finalize(st);
    return rc;
}

/* The numbers of the purchase options must be this program's. */
static int check_options(const struct db *d, struct buf *report, size_t *found,
                         struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool row = true;
    int rc = db_prepare(d, "SELECT id, name FROM purchase_option", &st, err);
    while (rc == 0 && (rc = db_step(d, st, &row, err)) == 0 && row) {
        enum purchase p = PURCHASE_COUNT;
        if (purchase_from_name(column_str(st, 1), &p) != 0 || (int)p != sqlite3_column_int(st, 0)) {
            ++*found;
            rc = buf_addf(report, "option: %d is \"%.40s\"\n", sqlite3_column_int(st, 0),
                          column_str(st, 1));
        }
    }
    (void)sqlite3_finalize(st);
    return rc;
}

int store_check(struct store *s, struct buf *report, struct gt_error *err)
{
    static const struct {
        const char *table, *column;
    } amounts[] = {{"offer", "price"},           {"offer", "upfront"},
                   {"offer", "price_month"},     {"storage_rate", "rate"},
                   {"storage_rate", "from_qty"}, {"storage_rate", "to_qty"},
                   {"transfer_rate", "rate"},    {"transfer_rate", "from_gb"},
                   {"transfer_rate", "to_gb"},   {"fx", "per_usd"}};
    size_t found = 0;
    int rc = 0;
    store_lock(s);
    for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(checks[0]); i++) {
        rc = findings(&s->db, checks[i].label, checks[i].sql, report, &found, err);
    }
    for (size_t i = 0; rc == 0 && i < sizeof(amounts) / sizeof(amounts[0]); i++) {
        rc = check_amounts(&s->db, amounts[i].table, amounts[i].column, report, &found, err);
    }
    if (rc == 0) {
        rc = check_options(&s->db, report, &found, err);
    }
    store_unlock(s);
    if (rc == 0 && found > 0) {
        rc = gt_fail(err, GT_EDB, s->path, "%zu finding%s; restore a backup or fetch again", found,
                     found == 1 ? "" : "s");
    }
    return rc;
}

int store_size(struct store *s, struct store_size *out, struct gt_error *err)
{
    const struct fact_table *t;
    struct buf sql;
    int64_t pages = 0, page = 0;
    *out = (struct store_size){0};
    buf_init(&sql, 8192);
    for (size_t i = 0; (t = fact_table_at(i)) != NULL; i++) {
        (void)buf_addf(&sql,
                       "%sSELECT feed, count(*) - count(known_to) AS now, count(known_to) AS old"
                       " FROM %s GROUP BY feed",
                       i > 0 ? " UNION ALL " : "SELECT s.name, sum(x.now), sum(x.old) FROM (",
                       t->name);
    }
    (void)buf_adds(&sql, ") x JOIN feed f ON f.id = x.feed JOIN source s ON s.id = f.source"
                         " GROUP BY s.id ORDER BY 3 DESC, 1");
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool row = true;
    int rc = sql.failed ? gt_fail(err, GT_ENOMEM, s->path, "out of memory")
                        : db_prepare(&s->db, sql.data, &st, err);
    while (rc == 0 && (rc = db_step(&s->db, st, &row, err)) == 0 && row) {
        uint64_t old = (uint64_t)sqlite3_column_int64(st, 2);
        if (out->replaced == 0 && old > 0) {
            (void)snprintf(out->most_source, sizeof out->most_source, "%s", column_str(st, 0));
            out->most = old;
        }
        out->in_force += (uint64_t)sqlite3_column_int64(st, 1);
        out->replaced += old;
    }
    (void)sqlite3_finalize(st);
    rc = rc ? rc : db_int(&s->db, "PRAGMA page_count", &pages, err);
    rc = rc ? rc : db_int(&s->db, "PRAGMA page_size", &page, err);
    store_unlock(s);
    buf_release(&sql);
    out->bytes = (uint64_t)pages * (uint64_t)page;
    return rc;
}

/* Adds every (source, sku) of "provenance" arrays anywhere in the document to temp.cited. */
static int cite(const struct db *d, sqlite3_stmt *in, const cJSON *plans, struct gt_error *err)
{
    int rc = 0;
    const cJSON *plan, *p;
    cJSON_ArrayForEach(plan, plans)
    {
        cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(plan, "provenance"))
        {
            const cJSON *source = cJSON_GetObjectItemCaseSensitive(p, "source_id");
            const cJSON *sku = cJSON_GetObjectItemCaseSensitive(p, "sku");
            if (rc == 0 && cJSON_IsString(source) && cJSON_IsString(sku)) {
                (void)sqlite3_bind_text(in, 1, source->valuestring, -1, SQLITE_STATIC);
                (void)sqlite3_bind_text(in, 2, sku->valuestring, -1, SQLITE_STATIC);
                rc = db_run(d, in, err);
            }
        }
    }
    return rc;
}

static int collect_cited(const struct db *d, struct gt_error *err)
{
    sqlite3_stmt *st = NULL, *in = NULL;
    bool row = true;
    int rc = db_exec(d,
                     "CREATE TEMP TABLE cited(source TEXT, sku TEXT, PRIMARY KEY(source, sku))"
                     " WITHOUT ROWID",
                     err);
    if (rc == 0) {
        rc = db_prepare(d, "INSERT OR IGNORE INTO temp.cited VALUES(?1, ?2)", &in, err);
    }
    if (rc == 0) {
        rc = db_prepare(d, "SELECT plan FROM saved_plan", &st, err);
    }
    while (rc == 0 && (rc = db_step(d, st, &row, err)) == 0 && row) {
        cJSON *doc = cJSON_Parse(column_str(st, 0));
        rc = cite(d, in, cJSON_GetObjectItemCaseSensitive(doc, "plans"), err);
        cJSON_Delete(doc);
    }
    (void)sqlite3_finalize(st);
    (void)sqlite3_finalize(in);
    return rc;
}

static int prune_table(const struct db *d, const char *table, bool has_sku, int64_t before,
                       uint64_t *removed, struct gt_error *err)
{
    int rc = db_execf(
        d, err,
        "DELETE FROM %s AS o WHERE known_to IS NOT NULL AND known_to < %lld"
        " AND NOT EXISTS (SELECT 1 FROM saved_plan x WHERE o.known_from <= x.saved"
        "   AND o.known_to > x.saved)%s",
        table, (long long)before,
        has_sku ? " AND NOT EXISTS (SELECT 1 FROM temp.cited c JOIN source s ON s.name = c.source"
                  "   JOIN feed f ON f.source = s.id WHERE f.id = o.feed AND c.sku = o.sku)"
                : "");
    if (rc == 0) {
        *removed += (uint64_t)sqlite3_changes64(d->h);
    }
    return rc;
}

/* Points of series that a later one had replaced by then, times of looking before it, failed runs;
 * and the types that nothing names any more (a marketplace's single offers). */
static int prune_series(const struct db *d, int64_t before, uint64_t *removed, struct gt_error *err)
{
    static const char *const sql[] = {
        "DELETE FROM spot_point AS x WHERE x.until < %lld AND EXISTS (SELECT 1"
        " FROM spot_point y WHERE y.instance_type = x.instance_type AND y.place = x.place"
        " AND y.source = x.source AND y.time > x.time AND y.time <= %lld)",
        "DELETE FROM observed WHERE last < %lld",
        "DELETE FROM fetch_run AS r WHERE r.ended < %lld AND r.state IN ('failed', 'quarantined')"
        " AND r.id < (SELECT max(id) FROM fetch_run WHERE feed = r.feed)",
        "DELETE FROM instance_type AS t WHERE NOT bundled"
        " AND NOT EXISTS (SELECT 1 FROM offer WHERE instance_type = t.id)"
        " AND NOT EXISTS (SELECT 1 FROM interruption WHERE instance_type = t.id)"
        " AND NOT EXISTS (SELECT 1 FROM pool WHERE instance_type = t.id)"
        " AND NOT EXISTS (SELECT 1 FROM spot_point WHERE instance_type = t.id)"};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(sql) / sizeof(sql[0]); i++) {
        rc = db_execf(d, err, sql[i], (long long)before, (long long)before);
        *removed += rc == 0 ? (uint64_t)sqlite3_changes64(d->h) : 0;
    }
    return rc;
}

/* Space given back to the disk, where it is a quarter of the file: less is soon used again. One who
 * reads or a disk without room for the copy keep it as it is, which harms nothing. */
static void shrink(const struct db *d)
{
    int64_t unused = 0, pages = 0;
    if (db_int(d, "PRAGMA freelist_count", &unused, NULL) == 0 &&
        db_int(d, "PRAGMA page_count", &pages, NULL) == 0 && unused > pages / 4) {
        (void)sqlite3_exec(d->h, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    }
}

int store_prune(struct store *s, int64_t before, uint64_t *removed, struct gt_error *err)
{
    *removed = 0;
    int rc = store_writable(s, err);
    if (rc != 0) {
        return rc;
    }
    store_lock(s);
    rc = db_begin(&s->db, err);
    if (rc == 0) {
        rc = collect_cited(&s->db, err);
    }
    const struct fact_table *t;
    for (size_t i = 0; rc == 0 && (t = fact_table_at(i)) != NULL; i++) {
        rc = prune_table(&s->db, t->name, fact_has(t->value, "sku"), before, removed, err);
    }
    rc = rc ? rc : prune_series(&s->db, before, removed, err);
    if (rc == 0) { /* what is said of days before it is no longer whole */
        rc = db_execf(&s->db, err,
                      "DROP TABLE temp.cited;"
                      "INSERT INTO meta VALUES('pruned_before', '%lld') ON CONFLICT(key) DO UPDATE"
                      " SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
                      (long long)before);
    }
    if (rc == 0) {
        rc = db_commit(&s->db, err);
    } else {
        db_rollback(&s->db);
    }
    if (rc != 0) {
        *removed = 0;
    } else {
        shrink(&s->db);
    }
    store_unlock(s);
    return rc;
}

int store_backup(struct store *s, const char *to, struct gt_error *err)
{
    struct stat from, there;
    if (stat(s->path, &from) == 0 && stat(to, &there) == 0 && from.st_dev == there.st_dev &&
        from.st_ino == there.st_ino) {
        return gt_fail(err, GT_EINVALID, to, "this is the database itself");
    }
    if (stat(to, &there) == 0 && !S_ISREG(there.st_mode)) {
        return gt_fail(err, GT_EINVALID, to, "this is no regular file: a backup would replace it");
    }
    char *tmp = sqlite3_mprintf("%s.tmp-%ld", to, (long)getpid());
    if (tmp == NULL) {
        return gt_fail(err, GT_ENOMEM, to, "out of memory");
    }
    int fd = open(tmp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) {
        int rc = gt_fail(err, GT_EIO, to, "cannot create: %s", strerror(errno));
        sqlite3_free(tmp);
        return rc;
    }
    (void)close(fd);
    struct db out = {0};
    int rc = db_open(&out, tmp, SQLITE_OPEN_READWRITE, err);
    store_lock(s);
    if (rc == 0) {
        sqlite3_backup *b = sqlite3_backup_init(out.h, "main", s->db.h, "main");
        if (b == NULL || sqlite3_backup_step(b, -1) != SQLITE_DONE) {
            (void)sqlite3_backup_finish(b);
            rc = db_fail(&out, err, "backing up");
        } else if (sqlite3_backup_finish(b) != SQLITE_OK) {
            rc = db_fail(&out, err, "backing up");
        }
    }
    store_unlock(s);
    db_close(&out);
    if (rc == 0 && rename(tmp, to) != 0) {
        rc = gt_fail(err, GT_EIO, to, "cannot replace: %s", strerror(errno));
    }
    if (rc != 0) {
        (void)unlink(tmp);
    }
    sqlite3_free(tmp);
    return rc;
}
