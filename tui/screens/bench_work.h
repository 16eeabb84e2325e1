/* Measuring this machine's devices beside the interface. The device itself is touched by a child
 * process (bench.h): a crash or a hang there is a sentence here. */
#ifndef GPUTIER_BENCH_WORK_H
#define GPUTIER_BENCH_WORK_H
#include "../cli/bench_stored.h"
#include "worker.h"

#define BENCH_ROWS_MAX    64
#define BENCH_DEVICES_MAX 64

struct bench_ask { /* calloc; the worker frees it */
    enum { BENCH_ASK_DEVICES, BENCH_ASK_RUN, BENCH_ASK_STOP } kind;
    char backend[16]; /* of BENCH_ASK_RUN */
    bool quick;
};
struct bench_choice {
    char name[128], backend[16], driver[64];
    bool is_gpu;
    double memory_gib;
};
struct bench_live {
    char metric[32], unit[16];
    double median, spread;
};
/* Where the last job stands, whole: a later one replaces it. */
struct bench_news {
    enum { BENCH_DEVICES, BENCH_RUNNING, BENCH_DONE, BENCH_FAILED, BENCH_STOPPED } state;
    struct gt_error err;                           /* BENCH_FAILED */
    struct bench_choice device[BENCH_DEVICES_MAX]; /* BENCH_DEVICES */
    size_t n_devices;
    struct bench_live row[BENCH_ROWS_MAX]; /* running, done, failed */
    size_t n;
    char now[32]; /* the metric being measured */
    int done, total;
    double seconds;                    /* since it began */
    struct arena *arena;               /* of runs, note and report; NULL when there are none */
    struct bench_runs runs;            /* stored ones, with BENCH_DEVICES and BENCH_DONE */
    const struct bench_report *report; /* BENCH_DONE */
};
struct bench_work_ctx { /* as long as the worker lives */
    struct app *app;
};
extern const struct worker_ops bench_work;
void bench_news_free(void *news);

#endif
