/* What an engine answers to the query of sql.c: rows of the histogram as CSV with a header line,
 * in any pieces, checked and put into an inventory. An engine is as hostile as a file: each row has
 * to be one that the query can yield, and a cell may come once. */
#ifndef GPUTIER_INVENTORY_RESULT_H
#define GPUTIER_INVENTORY_RESULT_H
#include "gputier/inventory_sql.h"
#include "inventory_priv.h"

struct sql_result {
    struct reader r;
    bool header;
};
/* name: of the engine, for messages; borrowed. inv: empty, of the query's depth. */
void sql_result_init(struct sql_result *s, struct inventory *inv, const char *name);
int sql_result_feed(struct sql_result *s, const char *data, size_t len, struct gt_error *err);
/* Nothing more comes. */
int sql_result_end(struct sql_result *s, struct gt_error *err);
void sql_result_release(struct sql_result *s);

/* A run under way (run.c). */
struct sql_running {
    const struct inventory_run *o;
    struct sql_result result;
    char name[160]; /* engine and place, without what may be secret */
    int64_t deadline_ms, shown_ms;
    struct inventory_progress progress;
};
int64_t running_now_ms(void);
/* Whether it has to end: Ctrl-C, or the time is up. Shows the progress, five times a second. */
int running_look(struct sql_running *g, struct gt_error *err) GT_CHECK;
int run_duckdb(struct sql_running *g, struct gt_error *err) GT_CHECK;     /* run_duckdb.c */
int run_clickhouse(struct sql_running *g, struct gt_error *err) GT_CHECK; /* run_clickhouse.c */
int run_postgresql(struct sql_running *g, struct gt_error *err) GT_CHECK; /* run_postgresql.c */

#endif
