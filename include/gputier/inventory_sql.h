/* The histogram of R-IM-02 as one SQL query for an engine that already holds the inventory. */
#ifndef GPUTIER_INVENTORY_SQL_H
#define GPUTIER_INVENTORY_SQL_H
#include "gputier/buf.h"
#include "gputier/error.h"
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

#endif
