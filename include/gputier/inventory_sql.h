/* The histogram of R-IM-02 as one SQL query for an engine that already holds the inventory. */
#ifndef GPUTIER_INVENTORY_SQL_H
#define GPUTIER_INVENTORY_SQL_H
#include "gputier/buf.h"
#include "gputier/error.h"
#include "gputier/inventory.h"
#include <stdint.h>

struct inventory_sql {
    const char *engine;  /* duckdb, clickhouse, athena, spark, trino, postgresql */
    const char *from;    /* table, or a Parquet or CSV file or glob where the engine reads those;
                            NULL: inventory */
    const char *columns; /* key=NAME,… of a table or Parquet; of a CSV its fileSchema; NULL: those
                            of S3 Inventory in Parquet with all versions */
    const char *access;  /* table with key, last_access; NULL: none */
    int depth;
    int64_t as_of;
};
int inventory_sql(const struct inventory_sql *q, struct buf *out, struct gt_error *err) GT_CHECK;

/* That query, carried out by the engine. */
struct inventory_run {
    const char *engine, *sql;
    const char *where; /* clickhouse: an address http://HOST:8123/?database=NAME; duckdb: a database
                          file, or :memory:; postgresql: a connection string of libpq's */
    const char *user, *password; /* of clickhouse; NULL = none */
    int64_t max_time_s;          /* 0 = 2 h */
    const volatile int *cancel;  /* NULL = never */
    /* From time to time: what the engine has read as far as it tells, else bytes of its answer.
     * NULL = never. */
    void (*progress)(void *ctx, const struct inventory_progress *p);
    void *progress_ctx;
};
/* inv: empty, of the query's depth and as_of. The answer is checked row by row; nothing of inv may
 * be used after an error. GT_EUSAGE: an engine that is not run from here. */
int inventory_sql_run(const struct inventory_run *o, struct inventory *inv,
                      struct gt_error *err) GT_CHECK;
/* Whether PostgreSQL can be asked: libpq was there at build. */
bool inventory_sql_libpq(void);

#endif
