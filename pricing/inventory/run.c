/* Runs the query of sql.c in an engine, through the engine's own interface; the answer streams into
 * an inventory. */
#include "result.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_TIME_S 7200
#define LOOK_MS    200

static const struct {
    const char *engine;
    int (*run)(struct sql_running *g, struct gt_error *err);
} engines[] = {
    {"clickhouse", run_clickhouse},
    {"duckdb", run_duckdb},
    {"postgresql", run_postgresql},
};

int64_t running_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int running_look(struct sql_running *g, struct gt_error *err)
{
    int64_t now = running_now_ms();
    if (g->o->cancel && *g->o->cancel) {
        return gt_fail(err, GT_ECANCELLED, g->name, "interrupted");
    }
    if (now > g->deadline_ms) {
        return gt_fail(err, GT_ENET, g->name, "no whole answer within --max-time");
    }
    if (g->o->progress && now - g->shown_ms >= LOOK_MS) {
        g->shown_ms = now;
        g->o->progress(g->o->progress_ctx, &g->progress);
    }
    return 0;
}

int inventory_sql_run(const struct inventory_run *o, struct inventory *inv, struct gt_error *err)
{
    size_t i = 0, n = sizeof engines / sizeof *engines;
    while (i < n && strcmp(engines[i].engine, o->engine) != 0) {
        i++;
    }
    if (i == n) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--run: %.40s is not run from here; give it the query that `inventory sql` "
                       "prints, and `tier` its answer as CSV",
                       o->engine);
    }
    struct sql_running g = {.o = o, .shown_ms = running_now_ms()};
    g.deadline_ms = g.shown_ms + 1000 * (o->max_time_s > 0 ? o->max_time_s : MAX_TIME_S);
    snprintf(g.name, sizeof g.name, "%s", o->engine);
    sql_result_init(&g.result, inv, g.name);
    int rc = engines[i].run(&g, err);
    rc = rc ? rc : sql_result_end(&g.result, err);
    sql_result_release(&g.result);
    return rc;
}
