/* A back end measures one device. Entry of this room: bench.c (parent), child.c (the process that
 * touches the device), measure.c (repetition and statistics), cpu.c and gpu.c (back ends; gpu.c
 * over the drivers opencl.c and cuda.c). */
#ifndef GPUTIER_BENCH_BACKEND_H
#define GPUTIER_BENCH_BACKEND_H
#include "gputier/bench.h"

struct backend; /* each back end's own */
struct backend_metric {
    const char *name, *unit;
};
struct backend_ops {
    const char *id;
    /* Opens the device (arrays of `bytes` each) and describes it; strings live in a. */
    int (*open)(struct arena *a, size_t bytes, struct backend **out, struct bench_device *device,
                struct gt_error *err);
    int (*list)(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err);
    const struct backend_metric *metric;
    size_t n_metrics;
    /* Whether this device can do it; NULL: all of them. */
    bool (*has)(const struct backend *b, size_t metric);
    /* What people should know of the device; a NULL ends. May be NULL itself. */
    const char *const *(*notes)(const struct backend *b);
    /* "0000:65:00.0", which NVML knows it by; NULL: not NVIDIA's, or not told. May be NULL itself.
     */
    const char *(*bus_id)(const struct backend *b);
    /* One timed repetition: *value in the metric's unit. */
    int (*sample)(struct backend *b, size_t metric, double *value, struct gt_error *err);
    /* Compares the output of the last repetition with what the CPU computes. */
    int (*check)(struct backend *b, size_t metric, bool *ok, struct gt_error *err);
    void (*close)(struct backend *b);
};
extern const struct backend_ops backend_cpu, backend_opencl, backend_cuda;

double bench_seconds(void); /* monotonic */
/* What the child is asked to do. */
struct bench_job {
    bool quick;
    const char *metrics; /* "copy,triad"; NULL: all */
    void (*progress)(void *ctx, const char *metric, int done, int total);
    void (*result)(void *ctx, const struct bench_result *r); /* may be NULL */
    void *ctx;
};
/* Warm-up, at least 9 repetitions and a share of time each, median and spread (gpu-bench.md 2.7).
 */
int bench_measure(const struct backend_ops *ops, struct backend *b, const struct bench_job *job,
                  struct arena *a, struct bench_report *out, struct gt_error *err);

#endif
