/* SQLite calls with errors as gt_error (db.h). */
#include "db.h"
#include "gputier/units.h"
#include <math.h>
#include <string.h>

int db_fail(const struct db *d, struct gt_error *err, const char *doing)
{
    int rc = d->h != NULL ? sqlite3_extended_errcode(d->h) : SQLITE_NOMEM;
    const char *why = d->h != NULL ? sqlite3_errmsg(d->h) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return gt_fail(err, GT_ENOMEM, d->path, "%s: out of memory", doing);
    case SQLITE_FULL:
        return gt_fail(err, GT_EIO, d->path, "%s: disk is full; nothing was changed", doing);
    case SQLITE_READONLY:
        return gt_fail(err, GT_EIO, d->path, "%s: the file or its folder is read-only", doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return gt_fail(err, GT_EDB, d->path, "%s: another program keeps the database locked",
                       doing);
    case SQLITE_NOTADB:
        return gt_fail(err, GT_EDB, d->path, "%s: this file is not a database", doing);
    case SQLITE_CORRUPT:
        return gt_fail(err, GT_EDB, d->path, "%s: the database is damaged (%s); restore a backup",
                       doing, why);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: {
        int os = d->h != NULL ? sqlite3_system_errno(d->h) : 0;
        return gt_fail(err, GT_EIO, d->path, "%s: %s%s%s", doing, why, os ? ": " : "",
                       os ? strerror(os) : "");
    }
    case SQLITE_INTERRUPT:
        return gt_fail(err, GT_ECANCELLED, d->path, "%s: interrupted", doing);
    default:
        return gt_fail(err, GT_EDB, d->path, "%s: %s", doing, why);
    }
}

int db_open(struct db *d, const char *path, int flags, struct gt_error *err)
{
    d->path = path;
    d->h = NULL;
    /* No mutex inside SQLite: the store's own lock, or a staging's single owner, keeps threads
     * apart, and a catalog load makes some 20 calls a row. */
    if (sqlite3_open_v2(path, &d->h, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        int rc = db_fail(d, err, "opening the database");
        db_close(d);
        return rc;
    }
    (void)sqlite3_extended_result_codes(d->h, 1);
    return 0;
}

void db_close(struct db *d)
{
    (void)sqlite3_close_v2(d->h);
    d->h = NULL;
}

int db_exec(const struct db *d, const char *sql, struct gt_error *err)
{
    return sqlite3_exec(d->h, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(d, err, "writing");
}

int db_prepare(const struct db *d, const char *sql, sqlite3_stmt **st, struct gt_error *err)
{
    *st = NULL;
    return sqlite3_prepare_v2(d->h, sql, -1, st, NULL) == SQLITE_OK ? 0
                                                                    : db_fail(d, err, "querying");
}

int db_execf(const struct db *d, struct gt_error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    if (sql == NULL) {
        return gt_fail(err, GT_ENOMEM, d->path, "out of memory");
    }
    int rc = db_exec(d, sql, err);
    sqlite3_free(sql);
    return rc;
}

int db_step(const struct db *d, sqlite3_stmt *st, bool *row, struct gt_error *err)
{
    int rc = sqlite3_step(st);
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_fail(d, err, "reading");
}

int db_run(const struct db *d, sqlite3_stmt *st, struct gt_error *err)
{
    int rc;
    do {
        rc = sqlite3_step(st);
    } while (rc == SQLITE_ROW);
    int out = rc == SQLITE_DONE ? 0 : db_fail(d, err, "writing");
    (void)sqlite3_reset(st);
    return out;
}

int db_int(const struct db *d, const char *sql, int64_t *out, struct gt_error *err)
{
    *out = 0;
    sqlite3_stmt *st = NULL;
    int rc = db_prepare(d, sql, &st, err);
    bool row = false;
    if (rc == 0) {
        rc = db_step(d, st, &row, err);
    }
    if (row) {
        *out = sqlite3_column_int64(st, 0);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

int db_begin(const struct db *d, struct gt_error *err)
{
    return db_exec(d, "BEGIN IMMEDIATE", err);
}

int db_commit(const struct db *d, struct gt_error *err)
{
    int rc = db_exec(d, "COMMIT", err);
    if (rc != 0) {
        db_rollback(d);
    }
    return rc;
}

void db_rollback(const struct db *d)
{
    if (d->h != NULL && sqlite3_get_autocommit(d->h) == 0) {
        (void)sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
    }
}

void bind_text(sqlite3_stmt *st, int i, const char *s)
{
    if (s == NULL || s[0] == '\0') {
        (void)sqlite3_bind_null(st, i);
    } else {
        (void)sqlite3_bind_text(st, i, s, -1, SQLITE_STATIC);
    }
}

void bind_time(sqlite3_stmt *st, int i, int64_t t)
{
    if (t == GT_TIME_NONE) {
        (void)sqlite3_bind_null(st, i);
    } else {
        (void)sqlite3_bind_int64(st, i, t);
    }
}

void bind_real(sqlite3_stmt *st, int i, double v)
{
    if (isfinite(v) && v >= 0) {
        (void)sqlite3_bind_double(st, i, v);
    } else {
        (void)sqlite3_bind_null(st, i);
    }
}

void bind_money(sqlite3_stmt *st, int i, money m)
{
    char text[MONEY_TEXT];
    if (m < 0) {
        (void)sqlite3_bind_null(st, i);
    } else {
        (void)sqlite3_bind_text(st, i, money_format(m, text), -1, SQLITE_TRANSIENT);
    }
}

int64_t column_time(sqlite3_stmt *st, int i)
{
    int64_t v = sqlite3_column_int64(st, i); /* 0 for NULL too */
    return v == 0 && sqlite3_column_type(st, i) == SQLITE_NULL ? GT_TIME_NONE : v;
}

double column_real(sqlite3_stmt *st, int i)
{
    return sqlite3_column_type(st, i) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(st, i);
}

int column_money(const struct db *d, sqlite3_stmt *st, int i, money *out, struct gt_error *err)
{
    *out = 0;
    const char *text = (const char *)sqlite3_column_text(st, i);
    if (text == NULL) {
        return 0;
    }
    size_t len = (size_t)sqlite3_column_bytes(st, i);
    if (money_parse(text, len, out, NULL) != 0) {
        return gt_fail(err, GT_EDB, d->path, "column %s holds \"%.40s\", which is no amount",
                       sqlite3_column_name(st, i), text);
    }
    return 0;
}

const char *column_str(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);
    return text != NULL ? text : "";
}
