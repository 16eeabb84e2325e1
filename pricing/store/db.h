/* Thin layer over SQLite for this folder: every failure becomes a gt_error with the file's name. */
#ifndef PRICING_STORE_DB_H
#define PRICING_STORE_DB_H
#include "gputier/error.h"
#include "gputier/money.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct db {
    sqlite3 *h;
    const char *path; /* borrowed; for messages */
};
/* Records SQLite's last error of d as "doing: reason"; returns the GT_E* code. */
int db_fail(const struct db *d, struct gt_error *err, const char *doing);
int db_open(struct db *d, const char *path, int flags, struct gt_error *err) GT_CHECK;
void db_close(struct db *d);
int db_exec(const struct db *d, const char *sql, struct gt_error *err) GT_CHECK;
int db_prepare(const struct db *d, const char *sql, sqlite3_stmt **st,
               struct gt_error *err) GT_CHECK;
/* sqlite3_mprintf formats: %w quotes an identifier, %Q a string. */
int db_execf(const struct db *d, struct gt_error *err, const char *fmt, ...) GT_CHECK;
/* *row = a row stands ready; false = done. */
int db_step(const struct db *d, sqlite3_stmt *st, bool *row, struct gt_error *err) GT_CHECK;
/* Runs st to its end and resets it. */
int db_run(const struct db *d, sqlite3_stmt *st, struct gt_error *err) GT_CHECK;
/* First column of the first row, 0 when there is none. */
int db_int(const struct db *d, const char *sql, int64_t *out, struct gt_error *err) GT_CHECK;
int db_begin(const struct db *d, struct gt_error *err) GT_CHECK; /* IMMEDIATE */
int db_commit(const struct db *d, struct gt_error *err) GT_CHECK;
void db_rollback(const struct db *d);

/* Binds that spell this project's nulls: NULL or "" text, GT_TIME_NONE, NAN or negative numbers,
 * negative money. Text must outlive the step. */
void bind_text(sqlite3_stmt *st, int i, const char *s);
void bind_time(sqlite3_stmt *st, int i, int64_t t);
void bind_real(sqlite3_stmt *st, int i, double v);
/* Text is copied; callers on the fast path format into their own buffers instead. */
void bind_money(sqlite3_stmt *st, int i, money m);
int64_t column_time(sqlite3_stmt *st, int i); /* NULL = GT_TIME_NONE */
double column_real(sqlite3_stmt *st, int i);  /* NULL = NAN */
/* NULL = 0; a text that is no amount is GT_EDB. */
int column_money(const struct db *d, sqlite3_stmt *st, int i, money *out,
                 struct gt_error *err) GT_CHECK;
const char *column_str(sqlite3_stmt *st, int i); /* NULL = "" */

#endif
