/* Stored benches: exported, imported, listed. cmd_bench.c measures. */
#ifndef GPUTIER_BENCH_STORED_H
#define GPUTIER_BENCH_STORED_H
#include "cli.h"
#include "gputier/bench.h"

/* Refuses what is above the sheet, explains what is far below it (in r's notes). */
int bench_against_sheet(struct app *app, struct arena *a, struct bench_report *r,
                        struct gt_error *err) GT_CHECK;
int bench_save(struct app *app, const struct bench_report *r, struct gt_error *err) GT_CHECK;
#define BENCH_RUNS_MAX 500
struct bench_kept {
    int64_t id;
    struct bench_report report;
};
struct bench_runs {
    struct arena *a;
    struct bench_kept *run; /* newest first */
    size_t n;
};
int bench_load(struct app *app, struct bench_runs *l, struct arena *a,
               struct gt_error *err) GT_CHECK;
const struct bench_result *bench_find(const struct bench_report *r, const char *metric);
/* The same device by the same back end, from the same machine as far as is known. */
bool bench_same_device(const struct bench_report *x, const struct bench_report *y);
bool bench_latest(const struct bench_runs *l, size_t at); /* of its device */
struct bench_drift {
    const struct bench_kept *run; /* the latest of its device */
    const char *metric, *unit;
    double latest, before, change, spread; /* median of the earlier ones; relative */
    size_t n_before;
};
/* Drift of one metric of run l->run[at]; false: nothing earlier (n_before 0), or within the
 * spread. */
bool bench_drifted(const struct bench_runs *l, size_t at, const struct bench_result *m,
                   struct bench_drift *out);
/* "export", "import" or "history"; GT_EUSAGE for another word. */
int bench_stored(struct app *app, const struct cli_args *args, struct arena *a,
                 struct gt_error *err) GT_CHECK;

#endif
