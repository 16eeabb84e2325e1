/* CPU fallback, NOT a GPU: STREAM-like loops and FMA chains on every allowed core. It serves
 * data-loader and host-memory estimates, and lets the report path run anywhere. */
#include "backend.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_THREADS 256
#define FMA_LANES   64 /* independent accumulators of a thread: hides the latency of an FMA */
#define FMA_STEPS   400000

enum { M_COPY, M_SCALE, M_ADD, M_TRIAD, M_FMA32, M_FMA64, M_COUNT };
static const struct backend_metric metrics[M_COUNT] = {
    {"copy", "GB/s"},  {"scale", "GB/s"},       {"add", "GB/s"},
    {"triad", "GB/s"}, {"fma_fp32", "GFLOP/s"}, {"fma_fp64", "GFLOP/s"}};

struct worker {
    struct backend *b;
    pthread_t thread;
    size_t from, to; /* elements of the arrays that this thread owns */
    double sink;
};
struct backend {
    float *x, *y, *z;
    size_t bytes, n;
    int threads, started;
    struct worker worker[MAX_THREADS];
    pthread_barrier_t go, done;
    int job; /* metric, or -1 to end, -2 to touch the pages first */
};

/* Versions for wider vectors, chosen at load time; gcc only, and not under the sanitizers, whose
 * start-up comes after the loader's choice. */
#if defined(__clang__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((noinline))
#else
#define CLONES __attribute__((target_clones("avx512f", "avx2,fma", "default"), noinline))
#endif

CLONES static void loop_copy(float *restrict z, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        z[i] = x[i];
    }
}
CLONES static void loop_scale(float *restrict z, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        z[i] = 3.0F * x[i];
    }
}
CLONES static void loop_add(float *restrict z, const float *restrict x, const float *restrict y,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        z[i] = x[i] + y[i];
    }
}
CLONES static void loop_triad(float *restrict z, const float *restrict x, const float *restrict y,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        z[i] = x[i] + 3.0F * y[i];
    }
}
/* v = v * a + c with a fixed point at 1: the result is known, and nothing can be left out. */
CLONES static double loop_fma32(size_t steps)
{
    float v[FMA_LANES];
    double sum = 0;
    for (int k = 0; k < FMA_LANES; k++) {
        v[k] = (float)k;
    }
    for (size_t i = 0; i < steps; i++) {
        for (int k = 0; k < FMA_LANES; k++) {
            v[k] = v[k] * 0.5F + 0.5F;
        }
    }
    for (int k = 0; k < FMA_LANES; k++) {
        sum += (double)v[k];
    }
    return sum;
}
CLONES static double loop_fma64(size_t steps)
{
    double v[FMA_LANES], sum = 0;
    for (int k = 0; k < FMA_LANES; k++) {
        v[k] = k;
    }
    for (size_t i = 0; i < steps; i++) {
        for (int k = 0; k < FMA_LANES; k++) {
            v[k] = v[k] * 0.5 + 0.5;
        }
    }
    for (int k = 0; k < FMA_LANES; k++) {
        sum += v[k];
    }
    return sum;
}

static void run_job(struct worker *w, int job)
{
    struct backend *b = w->b;
    float *z = b->z + w->from, *x = b->x + w->from, *y = b->y + w->from;
    size_t n = w->to - w->from;
    switch (job) {
    case -2: /* first touch by the owner, so that memory lies near its core */
        for (size_t i = 0; i < n; i++) {
            x[i] = (float)((w->from + i) % 1000);
            y[i] = (float)((w->from + i) % 7);
            z[i] = 0;
        }
        break;
    case M_COPY:
        loop_copy(z, x, n);
        break;
    case M_SCALE:
        loop_scale(z, x, n);
        break;
    case M_ADD:
        loop_add(z, x, y, n);
        break;
    case M_TRIAD:
        loop_triad(z, x, y, n);
        break;
    case M_FMA32:
        w->sink = loop_fma32(FMA_STEPS);
        break;
    default:
        w->sink = loop_fma64(FMA_STEPS / 2);
        break;
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (;;) {
        pthread_barrier_wait(&w->b->go);
        int job = w->b->job;
        if (job == -1) {
            return NULL;
        }
        run_job(w, job);
        pthread_barrier_wait(&w->b->done);
    }
}

static void post(struct backend *b, int job)
{
    b->job = job;
    pthread_barrier_wait(&b->go);
    if (job != -1) {
        pthread_barrier_wait(&b->done);
    }
}

static int allowed_cpus(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

static void cpu_name(char *out, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[512];
    snprintf(out, size, "CPU");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(out, size, "%s", colon + 2);
            out[strcspn(out, "\n")] = '\0';
            break;
        }
    }
    if (f) {
        fclose(f);
    }
}

static int describe(struct arena *a, struct bench_device *d, struct gt_error *err)
{
    char name[256];
    cpu_name(name, sizeof name);
    *d = (struct bench_device){.backend = "cpu", .driver = "none", .vendor = "CPU, not a GPU"};
    d->name = arena_strdup(a, name);
    d->memory_gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (1 << 30);
    return d->name ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static float *map_array(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    madvise(p, bytes, MADV_HUGEPAGE); /* a hint: page faults would dominate the first pass */
    return p;
}

static void cpu_close(struct backend *b)
{
    if (b->started == b->threads && b->threads > 0) {
        post(b, -1);
        for (int i = 0; i < b->started; i++) {
            pthread_join(b->worker[i].thread, NULL);
        }
        pthread_barrier_destroy(&b->go);
        pthread_barrier_destroy(&b->done);
    }
    float *const arrays[] = {b->x, b->y, b->z};
    for (int i = 0; i < 3; i++) {
        if (arrays[i]) {
            munmap(arrays[i], b->bytes);
        }
    }
    free(b);
}

static int cpu_open(struct arena *a, size_t bytes, struct backend **out,
                    struct bench_device *device, struct gt_error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    if (!b || describe(a, device, err)) {
        free(b);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    b->bytes = bytes;
    b->n = bytes / sizeof(float);
    b->x = map_array(bytes);
    b->y = map_array(bytes);
    b->z = map_array(bytes);
    int threads = allowed_cpus();
    if (!b->x || !b->y || !b->z || pthread_barrier_init(&b->go, NULL, (unsigned)threads + 1) ||
        pthread_barrier_init(&b->done, NULL, (unsigned)threads + 1)) {
        cpu_close(b);
        return gt_fail(err, GT_ENOMEM, "", "cannot get 3 arrays of %zu MiB", bytes >> 20);
    }
    b->threads = threads;
    size_t step = (b->n / (size_t)threads) & ~(size_t)1023;
    for (int i = 0; i < threads; i++) {
        struct worker *w = &b->worker[i];
        *w = (struct worker){.b = b,
                             .from = step * (size_t)i,
                             .to = i + 1 == threads ? b->n : step * (size_t)(i + 1)};
        if (pthread_create(&w->thread, NULL, work, w)) {
            /* The started ones wait at the barrier; the process ends with this error. */
            return gt_fail(err, GT_EDEVICE, "", "cannot start thread %d of %d", i + 1, threads);
        }
        b->started++;
    }
    post(b, -2);
    *out = b;
    return 0;
}

static int cpu_sample(struct backend *b, size_t metric, double *value, struct gt_error *err)
{
    static const double arrays_moved[] = {2, 2, 3, 3}; /* BabelStream's convention */
    (void)err;
    double start = bench_seconds();
    post(b, (int)metric);
    double s = bench_seconds() - start;
    if (metric <= M_TRIAD) {
        *value = arrays_moved[metric] * (double)b->bytes / s / 1e9;
    } else {
        double steps = metric == M_FMA32 ? FMA_STEPS : FMA_STEPS / 2;
        *value = 2.0 * FMA_LANES * steps * b->threads / s / 1e9;
    }
    return 0;
}

static int cpu_check(struct backend *b, size_t metric, bool *ok, struct gt_error *err)
{
    (void)err;
    *ok = true;
    if (metric >= M_FMA32) {
        for (int i = 0; i < b->threads; i++) {
            *ok =
                *ok && b->worker[i].sink > FMA_LANES - 1e-3 && b->worker[i].sink < FMA_LANES + 1e-3;
        }
        return 0;
    }
    for (size_t i = 0; i < b->n; i += 997) {
        float x = (float)(i % 1000), y = (float)(i % 7);
        float want = metric == M_COPY    ? x
                     : metric == M_SCALE ? 3 * x
                     : metric == M_ADD   ? x + y
                                         : x + 3 * y;
        *ok = *ok && b->z[i] >= want && b->z[i] <= want; /* small integers: exact in float */
    }
    return 0;
}

static int cpu_list(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err)
{
    *out = arena_array(a, 1, sizeof **out);
    *n = 1;
    return *out ? describe(a, *out, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

const struct backend_ops backend_cpu = {.id = "cpu",
                                        .open = cpu_open,
                                        .list = cpu_list,
                                        .metric = metrics,
                                        .n_metrics = M_COUNT,
                                        .sample = cpu_sample,
                                        .check = cpu_check,
                                        .close = cpu_close};
