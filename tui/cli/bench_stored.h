/* Stored benches: exported, imported, listed. cmd_bench.c measures. */
#ifndef GPUTIER_BENCH_STORED_H
#define GPUTIER_BENCH_STORED_H
#include "cli.h"
#include "gputier/bench.h"

/* Refuses what is above the sheet, explains what is far below it (in r's notes). */
int bench_against_sheet(struct app *app, struct arena *a, struct bench_report *r,
                        struct gt_error *err) GT_CHECK;
int bench_save(struct app *app, const struct bench_report *r, struct gt_error *err) GT_CHECK;
/* "export", "import" or "history"; GT_EUSAGE for another word. */
int bench_stored(struct app *app, const struct cli_args *args, struct arena *a,
                 struct gt_error *err) GT_CHECK;

#endif
