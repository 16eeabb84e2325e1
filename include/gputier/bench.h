/* GPU microbenchmark: this machine's device, measured. Device work runs in a child process
 * (the binary re-executed), so a driver crash or hang costs a message, not the terminal. */
#ifndef GPUTIER_BENCH_H
#define GPUTIER_BENCH_H
#include "gputier/arena.h"
#include "gputier/buf.h"
#include "gputier/error.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct bench_result {
    const char *metric; /* copy, triad, fma_fp32, h2d, launch … */
    const char *unit;   /* GB/s, GFLOP/s, us */
    double value, median, min, p95, spread;
    bool checked; /* output compared with the CPU's */
};
struct bench_device {
    const char *name, *backend, *driver, *vendor;
    bool is_gpu; /* false: CPU fallback or a CPU behind OpenCL; labelled everywhere */
    double memory_gib;
};
struct bench_report {
    struct bench_device device;
    struct bench_result *result;
    size_t n;
    const char *note[8];
    size_t n_notes;
};
struct bench_options {
    const char *device; /* auto | opencl | cpu | cuda */
    bool quick, list_only;
    const volatile sig_atomic_t *cancel;
    void (*progress)(void *ctx, const char *metric, int done, int total);
    void *ctx;
    const char *self; /* path of this binary, for the child */
};
/* Everything in arena a. */
int bench_run(const struct bench_options *o, struct arena *a, struct bench_report *out,
              struct gt_error *err) GT_CHECK;
int bench_list(const struct bench_options *o, struct arena *a, struct bench_device **out, size_t *n,
               struct gt_error *err) GT_CHECK;
/* Entry of the child process: writes its results to stdout as JSON, returns the exit status. */
int bench_child(int argc, char **argv);
int bench_write_json(const struct bench_report *r, struct buf *out); /* schema gputier/bench/1 */

#endif
