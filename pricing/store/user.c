/* What the user keeps: saved plans and bench results. */
#include "gputier/text.h"
#include "store_impl.h"
#include <stdlib.h>
#include <string.h>

/* A name that lists show and commands can be given. */
static bool name_usable(const char *name)
{
    size_t len = name != NULL ? strlen(name) : 0;
    bool seen = false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7f || c == '#') {
            return false;
        }
        seen = seen || c != ' ';
    }
    return seen && len <= 200 && utf8_valid(name, len);
}

int store_save_plan(struct store *s, const char *name, const char *plan_json, const char *scenario,
                    int64_t when, struct gt_error *err)
{
    int rc = store_writable(s, err);
    if (rc != 0) {
        return rc;
    }
    if (!name_usable(name)) {
        return gt_fail(err, GT_EINVALID, "",
                       "a plan's name has 1 to 200 bytes of text, not only spaces, and no \"#\" "
                       "(which selects a rank)");
    }
    store_lock(s);
    sqlite3_stmt *st = NULL;
    /* OR REPLACE gives a fresh id: the plan saved again is the one saved last. */
    rc = db_prepare(&s->db,
                    "INSERT OR REPLACE INTO saved_plan(name, plan, scenario, saved)"
                    " VALUES(?1, ?2, ?3, ?4)",
                    &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, plan_json, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 3, scenario, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(st, 4, when);
        rc = db_run(&s->db, st, err);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_load_plan(struct store *s, const char *name, char **json, char **scenario,
                    struct gt_error *err)
{
    *json = NULL;
    *scenario = NULL;
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool row = false;
    int rc = db_prepare(&s->db,
                        "SELECT plan, scenario FROM saved_plan WHERE ?1 IS NULL OR name = ?1"
                        " ORDER BY id DESC LIMIT 1",
                        &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
        rc = db_step(&s->db, st, &row, err);
    }
    if (rc == 0 && !row) {
        rc = name != NULL ? gt_fail(err, GT_ENOTFOUND, "", "no saved plan \"%.100s\"", name)
                          : gt_fail(err, GT_ENOTFOUND, "", "no plan is saved yet");
    } else if (rc == 0) {
        *json = strdup(column_str(st, 0));
        *scenario = strdup(column_str(st, 1));
        if (*json == NULL || *scenario == NULL) {
            free(*json);
            free(*scenario);
            *json = *scenario = NULL;
            rc = gt_fail(err, GT_ENOMEM, s->path, "out of memory");
        }
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_list_plans(struct store *s, int (*row)(void *ctx, const char *name, int64_t when),
                     void *ctx, struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(&s->db, "SELECT name, saved FROM saved_plan ORDER BY id DESC", &st, err);
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        rc = row(ctx, column_str(st, 0), sqlite3_column_int64(st, 1));
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

int store_delete_plan(struct store *s, const char *name, struct gt_error *err)
{
    int rc = store_writable(s, err);
    if (rc != 0) {
        return rc;
    }
    store_lock(s);
    sqlite3_stmt *st = NULL;
    rc = db_prepare(&s->db, "DELETE FROM saved_plan WHERE name = ?1", &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
        rc = db_run(&s->db, st, err);
    }
    if (rc == 0 && sqlite3_changes64(s->db.h) == 0) {
        rc = gt_fail(err, GT_ENOTFOUND, "", "no saved plan \"%.100s\"", name);
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}

static int insert_results(struct store *s, sqlite3_int64 run, const struct bench_row *rows,
                          size_t n, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = db_prepare(&s->db, "INSERT INTO bench_result VALUES(?,?,?,?,?,?,?,?)", &st, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        (void)sqlite3_bind_int64(st, 1, run);
        (void)sqlite3_bind_text(st, 2, rows[i].metric, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 3, rows[i].unit, -1, SQLITE_STATIC);
        bind_real(st, 4, rows[i].median);
        bind_real(st, 5, rows[i].min);
        bind_real(st, 6, rows[i].p95);
        bind_real(st, 7, rows[i].spread);
        (void)sqlite3_bind_int(st, 8, rows[i].checked);
        rc = db_run(&s->db, st, err);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

int store_save_bench(struct store *s, const char *device, const char *backend, bool is_gpu,
                     const char *json, const struct bench_row *rows, size_t n, int64_t when,
                     struct gt_error *err)
{
    int rc = store_writable(s, err);
    if (rc != 0) {
        return rc;
    }
    store_lock(s);
    sqlite3_stmt *st = NULL;
    rc = db_begin(&s->db, err);
    if (rc == 0) {
        rc = db_prepare(&s->db,
                        "INSERT INTO bench_run(device, backend, is_gpu, document, time)"
                        " VALUES(?,?,?,?,?)",
                        &st, err);
    }
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, device, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, backend, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int(st, 3, is_gpu);
        (void)sqlite3_bind_text(st, 4, json, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(st, 5, when);
        rc = db_run(&s->db, st, err);
    }
    (void)sqlite3_finalize(st);
    if (rc == 0) {
        rc = insert_results(s, sqlite3_last_insert_rowid(s->db.h), rows, n, err);
    }
    if (rc == 0) {
        rc = db_commit(&s->db, err);
    } else {
        db_rollback(&s->db);
    }
    store_unlock(s);
    return rc;
}

int store_list_bench(struct store *s, int most,
                     int (*row)(void *ctx, int64_t id, int64_t when, const char *json), void *ctx,
                     struct gt_error *err)
{
    store_lock(s);
    sqlite3_stmt *st = NULL;
    bool more = true;
    int rc = db_prepare(
        &s->db, "SELECT id, time, document FROM bench_run ORDER BY id DESC LIMIT ?1", &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_int(st, 1, most);
    }
    while (rc == 0 && (rc = db_step(&s->db, st, &more, err)) == 0 && more) {
        rc = row(ctx, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1), column_str(st, 2));
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}
