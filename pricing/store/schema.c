/* Schema and its numbered migrations: 00N_*.sql brings a database from version N-1 to N, inside
 * one transaction together with PRAGMA user_version. */
#include "gputier/error.h"
#include "store_impl.h"

#define APPLICATION_ID 0x47505454 /* "GPTT" */

static const char sql_001[] = {
#include "pricing/store/001_prices.sql.h"
    0};
static const char sql_002[] = {
#include "pricing/store/002_user.sql.h"
    0};
static const char sql_003[] = {
#include "pricing/store/003_series.sql.h"
    0};
static const char sql_004[] = {
#include "pricing/store/004_aliases.sql.h"
    0};
static const char sql_005[] = {
#include "pricing/store/005_fields.sql.h"
    0};
static const char sql_006[] = {
#include "pricing/store/006_parser.sql.h"
    0};
static const char sql_007[] = {
#include "pricing/store/007_hash.sql.h"
    0};
static const char sql_staging[] = {
#include "pricing/store/staging.sql.h"
    0};
static const char *const migrations[SCHEMA_VERSION] = {sql_001, sql_002, sql_003, sql_004,
                                                       sql_005, sql_006, sql_007};

const char *schema_staging(void)
{
    return sql_staging;
}

int schema_user_version(const struct db *d, int *version, struct gt_error *err)
{
    int64_t v = 0, app = 0, tables = 0;
    int rc = db_int(d, "PRAGMA user_version", &v, err);
    if (rc == 0) {
        rc = db_int(d, "PRAGMA application_id", &app, err);
    }
    if (rc == 0) {
        rc = db_int(d, "SELECT count(*) FROM sqlite_schema", &tables, err);
    }
    if (rc != 0) {
        return rc;
    }
    if (app != APPLICATION_ID && tables > 0) {
        return gt_fail(err, GT_EDB, d->path, "this is another program's database");
    }
    if (v > SCHEMA_VERSION) {
        return gt_fail(err, GT_ENEWER, d->path,
                       "the database has version %lld, this program knows up to %d", (long long)v,
                       SCHEMA_VERSION);
    }
    *version = v < 0 ? 0 : (int)v;
    return 0;
}

int schema_migrate(const struct db *d, int upto, struct gt_error *err)
{
    int version = 0;
    int rc = db_begin(d, err);
    if (rc != 0) {
        return rc;
    }
    /* Read again under the lock: another process may have migrated meanwhile. */
    rc = schema_user_version(d, &version, err);
    for (int v = version; rc == 0 && v < upto; v++) {
        rc = db_exec(d, migrations[v], err);
    }
    if (rc == 0 && version < upto) {
        rc = db_execf(d, err, "PRAGMA user_version = %d; PRAGMA application_id = %d", upto,
                      APPLICATION_ID);
    }
    if (rc == 0) {
        return db_commit(d, err);
    }
    db_rollback(d);
    return rc;
}
