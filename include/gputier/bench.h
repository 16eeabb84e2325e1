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
#include <stdint.h>

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
/* What the board was in while it was measured, as NVML tells it; NAN: not told. NAME, unit or what
 * it is, the least and the most that can be true (anything else is dropped). The slowed_ ones are
 * shares of the moments looked at. */
/* clang-format off */
#define BENCH_CONDITIONS(X)                                                                        \
    X(samples, "moments looked at", 0, 1e9)                                                        \
    X(sm_mhz, "MHz, median", 1, 10000) X(sm_max_mhz, "MHz", 1, 10000)                              \
    X(memory_mhz, "MHz, median", 1, 50000) X(temperature_c, "degrees, highest", 1, 150)            \
    X(power_w, "W, highest", 0.1, 5000) X(power_limit_w, "W", 1, 5000)                             \
    X(power_default_w, "W", 1, 5000)                                                               \
    X(pcie_gen, "highest", 1, 8) X(pcie_width, "lanes, most", 1, 32)                               \
    X(pcie_gen_max, "of board and slot", 1, 8) X(pcie_width_max, "lanes", 1, 32)                   \
    X(ecc, "1 on, 0 off", 0, 1) X(mig, "1 on, 0 off", 0, 1)                                        \
    X(others, "processes on it before", 0, 64) X(busy_before, "share of time", 0, 1)               \
    X(slowed_app_clocks, "share", 0, 1) X(slowed_power_cap, "share", 0, 1)                         \
    X(slowed_thermal, "share", 0, 1) X(slowed_power_brake, "share", 0, 1)                          \
    X(slowed_hardware, "share", 0, 1)
/* clang-format on */
struct bench_conditions {
    bool known; /* NVML answered */
#define X(name, what, least, most) double name;
    BENCH_CONDITIONS(X)
#undef X
};
#define BENCH_NOTES 16
struct bench_report {
    struct bench_device device;
    struct bench_conditions conditions;
    struct bench_result *result;
    size_t n;
    const char *note[BENCH_NOTES];
    size_t n_notes;
    int64_t measured_at; /* GT_TIME_NONE: not told */
    const char *origin;  /* the file that it was imported from; NULL: measured here */
};
struct bench_options {
    const char *device; /* auto | opencl | cpu | cuda */
    bool quick, list_only;
    const char *metrics; /* names with commas between; NULL: all */
    const volatile sig_atomic_t *cancel;
    void (*progress)(void *ctx, const char *metric, int done, int total);
    /* Each metric as it is done, metric to checked but min and p95; may be NULL. */
    void (*result)(void *ctx, const struct bench_result *r);
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
/* Nothing known. */
void bench_conditions_init(struct bench_conditions *c);
/* Adds it if there is room; NULL adds nothing. */
void bench_note(struct bench_report *r, const char *note);
int bench_write_json(const struct bench_report *r, struct buf *out); /* schema gputier/bench/1 */
/* The other way, strictly: GT_EPARSE with file and place when anything in it cannot be true. */
int bench_read_json(const char *json, size_t len, const char *file, struct arena *a,
                    struct bench_report *out, struct gt_error *err) GT_CHECK;

#endif
