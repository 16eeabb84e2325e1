/* The measurements of a GPU behind either driver: which kernel, how much of it, what counts as work
 * and whether the result is right. Counting rules: gpu-bench.md 2.6. */
#include "device.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES    100
#define WARPS_ITEMS (1U << 18)
#define SHORTEST_S  0.005 /* a launch lasts at least this long, where its length can be chosen */
#define MOST_STEPS  (1U << 15)
#define SLOTS       (1U << 20) /* counters that atomics_random spreads over */

enum metric {
    M_COPY,
    M_SCALE,
    M_ADD,
    M_TRIAD,
    M_ADD_NAIVE,
    M_ADD_STAGED,
    M_STRIDED_2,
    M_STRIDED_8,
    M_STRIDED_32,
    M_GATHER,
    M_TRANSPOSE,
    M_TRANSPOSE_CONFLICTS,
    M_DIVERGENCE,
    M_FMA32,
    M_FMA64,
    M_FMA16,
    M_MMA_F16,
    M_MMA_BF16,
    M_MMA_TF32,
    M_MMA_F64,
    M_MMA_S8,
    M_MMA_E4M3,
    M_L2,
    M_ATOMICS_SAME,
    M_ATOMICS_RANDOM,
    M_H2D,
    M_D2H,
    M_H2D_PINNED,
    M_D2H_PINNED,
    M_LAUNCH,
    M_COUNT
};
static const struct backend_metric metrics[M_COUNT] = {
    [M_COPY] = {"copy", "GB/s"},
    [M_SCALE] = {"scale", "GB/s"},
    [M_ADD] = {"add", "GB/s"},
    [M_TRIAD] = {"triad", "GB/s"},
    [M_ADD_NAIVE] = {"add_naive", "GB/s"},
    [M_ADD_STAGED] = {"add_staged", "GB/s"},
    [M_STRIDED_2] = {"strided_2", "GB/s"},
    [M_STRIDED_8] = {"strided_8", "GB/s"},
    [M_STRIDED_32] = {"strided_32", "GB/s"},
    [M_GATHER] = {"gather", "GB/s"},
    [M_TRANSPOSE] = {"transpose", "GB/s"},
    [M_TRANSPOSE_CONFLICTS] = {"transpose_conflicts", "GB/s"},
    [M_DIVERGENCE] = {"divergence_32", "x"},
    [M_FMA32] = {"fma_fp32", "GFLOP/s"},
    [M_FMA64] = {"fma_fp64", "GFLOP/s"},
    [M_FMA16] = {"fma_fp16", "GFLOP/s"},
    [M_MMA_F16] = {"mma_sync_fp16", "GFLOP/s"},
    [M_MMA_BF16] = {"mma_sync_bf16", "GFLOP/s"},
    [M_MMA_TF32] = {"mma_sync_tf32", "GFLOP/s"},
    [M_MMA_F64] = {"mma_sync_fp64", "GFLOP/s"},
    [M_MMA_S8] = {"mma_sync_int8", "GOP/s"},
    [M_MMA_E4M3] = {"mma_sync_fp8", "GFLOP/s"},
    [M_L2] = {"cache", "GB/s"},
    [M_ATOMICS_SAME] = {"atomics_same", "Mop/s"},
    [M_ATOMICS_RANDOM] = {"atomics_random", "Mop/s"},
    [M_H2D] = {"h2d", "GB/s"},
    [M_D2H] = {"d2h", "GB/s"},
    [M_H2D_PINNED] = {"h2d_pinned", "GB/s"},
    [M_D2H_PINNED] = {"d2h_pinned", "GB/s"},
    [M_LAUNCH] = {"launch", "us"}};

/* How a metric uses its kernel: items = n >> shift, or `items` where the work does not depend on n;
 * moved: bytes (or operations) of one item. */
struct use {
    enum kernel_id kernel;
    int shift;
    uint32_t items;
    double moved;
    uint32_t p;
    bool steps; /* p is chosen for the time it takes, `moved` is that of one step */
};
static const struct use uses[M_COUNT] = {
    [M_COPY] = {KERNEL_copy, 2, 0, 32, 0, false},
    [M_SCALE] = {KERNEL_scale, 2, 0, 32, 0, false},
    [M_ADD] = {KERNEL_add, 2, 0, 48, 0, false},
    [M_TRIAD] = {KERNEL_triad, 2, 0, 48, 0, false},
    [M_ADD_NAIVE] = {KERNEL_add_naive, 0, 0, 12, 0, false},
    [M_ADD_STAGED] = {KERNEL_add_staged, 0, 0, 12, 0, false},
    [M_STRIDED_2] = {KERNEL_strided, 0, 0, 8, 2, false},
    [M_STRIDED_8] = {KERNEL_strided, 0, 0, 8, 8, false},
    [M_STRIDED_32] = {KERNEL_strided, 0, 0, 8, 32, false},
    [M_GATHER] = {KERNEL_gather, 0, 0, 12, 0, false},
    [M_TRANSPOSE] = {KERNEL_transpose, 0, 0, 32, 0, false}, /* an item moves four elements */
    [M_TRANSPOSE_CONFLICTS] = {KERNEL_transpose_conflicts, 0, 0, 32, 0, false},
    [M_DIVERGENCE] = {KERNEL_diverge, 0, WARPS_ITEMS, 1, 32, false},
    [M_FMA32] = {KERNEL_fma32, 0, WARPS_ITEMS, 32, 0, true},
    [M_FMA64] = {KERNEL_fma64, 0, WARPS_ITEMS, 16, 0, true},
    [M_FMA16] = {KERNEL_fma16, 0, WARPS_ITEMS, 16, 0, true},
    [M_MMA_F16] = {KERNEL_mma_f16, 0, WARPS_ITEMS, 0, 0, true},
    [M_MMA_BF16] = {KERNEL_mma_bf16, 0, WARPS_ITEMS, 0, 0, true},
    [M_MMA_TF32] = {KERNEL_mma_tf32, 0, WARPS_ITEMS, 0, 0, true},
    [M_MMA_F64] = {KERNEL_mma_f64, 0, WARPS_ITEMS, 0, 0, true},
    [M_MMA_S8] = {KERNEL_mma_s8, 0, WARPS_ITEMS, 0, 0, true},
    [M_MMA_E4M3] = {KERNEL_mma_e4m3, 0, WARPS_ITEMS, 0, 0, true},
    [M_L2] = {KERNEL_cached, 0, WARPS_ITEMS, 64 * 16, 0, false},
    [M_ATOMICS_SAME] = {KERNEL_count, 0, WARPS_ITEMS, 1e3, 1, false}, /* 1e3/1e9: in millions */
    [M_ATOMICS_RANDOM] = {KERNEL_count, 0, WARPS_ITEMS, 1e3, SLOTS, false},
    [M_H2D] = {KERNEL_empty, 0, 0, 4, 0, false},
    [M_D2H] = {KERNEL_empty, 0, 0, 4, 0, false},
    [M_H2D_PINNED] = {KERNEL_empty, 0, 0, 4, 0, false},
    [M_D2H_PINNED] = {KERNEL_empty, 0, 0, 4, 0, false},
    [M_LAUNCH] = {KERNEL_empty, 0, KERNEL_GROUP, 1, 0, false},
};

struct backend {
    const struct device_ops *ops;
    struct device *d;
    struct device_facts facts;
    uint32_t n, bits; /* elements of a buffer, a power of two */
    uint32_t side;    /* of the transposed matrix */
    uint32_t steps[M_COUNT];
    uint32_t paths_items; /* work items of the divergence metric */
    float *host;          /* n elements */
    void *pinned;
};

static void gpu_close(struct backend *b)
{
    if (b->d) {
        b->ops->close(b->d);
    }
    free(b->host);
    free(b);
}

static float in_x(uint32_t i)
{
    return (float)(i % 1000);
}

/* What is sent to the device. */
static void pattern(struct backend *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->host[i] = in_x(i);
    }
    if (b->pinned) {
        memcpy(b->pinned, b->host, (size_t)b->n * sizeof *b->host);
    }
}

static int start(struct backend *b, size_t bytes, struct gt_error *err)
{
    size_t most = b->facts.most_bytes / 4; /* four buffers, and room for others */
    bytes = bytes < most ? bytes : most;
    while (b->bits < 30 && ((size_t)8 << b->bits) <= bytes) {
        b->bits++;
    }
    if (b->bits < 18) {
        return gt_fail(err, GT_EDEVICE, b->ops->id, "the device offers only %zu bytes", bytes);
    }
    b->n = 1U << b->bits;
    b->side = 1U << b->bits / 2;
    b->host = malloc((size_t)b->n * sizeof *b->host);
    if (!b->host) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = b->ops->prepare(b->d, (size_t)b->n * sizeof(float), &b->pinned, err);
    pattern(b);
    rc = rc ? rc : b->ops->launch(b->d, KERNEL_fill, b->n, b->n, b->bits, err);
    return rc ? rc : b->ops->finish(b->d, err);
}

static int gpu_open(const struct device_ops *ops, struct arena *a, size_t bytes,
                    struct backend **out, struct bench_device *device, struct gt_error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    if (!b) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    b->ops = ops;
    int rc = ops->open(a, &b->d, device, &b->facts, err);
    rc = rc ? rc : start(b, bytes, err);
    if (rc) {
        gpu_close(b);
        return rc;
    }
    *out = b;
    return 0;
}

static bool gpu_has(const struct backend *b, size_t metric)
{
    if (metric == M_H2D_PINNED || metric == M_D2H_PINNED) {
        return b->pinned != NULL;
    }
    return b->ops->has(b->d, uses[metric].kernel);
}

static uint32_t items_of(const struct backend *b, size_t m)
{
    uint32_t items = uses[m].items ? uses[m].items : b->n >> uses[m].shift;
    if (m == M_TRANSPOSE || m == M_TRANSPOSE_CONFLICTS) {
        return b->side / 32 * (b->side / 32) * KERNEL_GROUP;
    }
    if (m == M_DIVERGENCE) {
        items = b->paths_items;
    }
    return items < b->n ? items : b->n;
}

static uint32_t parameter(const struct backend *b, size_t m)
{
    if (uses[m].steps) {
        return b->steps[m];
    }
    if (m == M_TRANSPOSE || m == M_TRANSPOSE_CONFLICTS) {
        return b->side;
    }
    if (m == M_ATOMICS_RANDOM) {
        return b->n < SLOTS ? b->n : SLOTS;
    }
    if (m == M_L2) { /* at most half of the cache, at least what any device keeps close */
        uint32_t words = 1U << 16;
        while (words * 8ULL <= b->facts.cache_bytes / 2 && words * 2 <= b->n / 4) {
            words *= 2;
        }
        return words;
    }
    return uses[m].p;
}

static int timed(struct backend *b, enum kernel_id k, uint32_t items, uint32_t p, int times,
                 double *s, struct gt_error *err)
{
    double from = bench_seconds();
    int rc = 0;
    for (int i = 0; i < times && !rc; i++) {
        rc = b->ops->launch(b->d, k, items, b->n, p, err);
    }
    rc = rc ? rc : b->ops->finish(b->d, err);
    *s = bench_seconds() - from;
    return rc;
}

/* Whether a launch lasts long beside the clock: thrice, since a machine with other work can make
 * any one of them look long. */
static bool long_enough(struct backend *b, enum kernel_id k, uint32_t items, uint32_t p, int *rc,
                        struct gt_error *err)
{
    double s = SHORTEST_S;
    for (int i = 0; i < 3 && !*rc && s >= SHORTEST_S; i++) {
        *rc = timed(b, k, items, p, 1, &s, err);
    }
    return s >= SHORTEST_S;
}

/* Steps of a loop kernel, doubled until a launch is long beside the clock and the launch itself. */
static int choose_steps(struct backend *b, size_t m, struct gt_error *err)
{
    double s = 0;
    int rc = 0;
    if (b->steps[m]) {
        return 0;
    }
    b->steps[m] = 64;
    rc = timed(b, uses[m].kernel, items_of(b, m), 64, 1, &s, err); /* compiles */
    while (!rc && b->steps[m] < MOST_STEPS &&
           !long_enough(b, uses[m].kernel, items_of(b, m), b->steps[m], &rc, err)) {
        b->steps[m] *= 2;
    }
    return rc;
}

static int transfer(struct backend *b, size_t m, double *s, struct gt_error *err)
{
    bool pinned = m == M_H2D_PINNED || m == M_D2H_PINNED;
    void *host = pinned ? b->pinned : b->host;
    size_t bytes = (size_t)b->n * sizeof(float);
    double from = bench_seconds();
    int rc = m == M_H2D || m == M_H2D_PINNED ? b->ops->upload(b->d, BUF_Z, host, bytes, err)
                                             : b->ops->download(b->d, BUF_X, host, bytes, err);
    *s = bench_seconds() - from;
    return rc;
}

/* As many items as make a launch long beside the clock: every one is long, a CPU takes seconds for
 * what fills a GPU. */
static int choose_paths_items(struct backend *b, struct gt_error *err)
{
    double s = 0;
    int rc = 0;
    if (b->paths_items) {
        return 0;
    }
    b->paths_items = 16 * KERNEL_GROUP;
    rc = timed(b, KERNEL_diverge, b->paths_items, 1, 1, &s, err); /* compiles */
    while (!rc && b->paths_items < WARPS_ITEMS && b->paths_items < b->n / 2 &&
           !long_enough(b, KERNEL_diverge, b->paths_items, 1, &rc, err)) {
        b->paths_items *= 2;
    }
    return rc;
}

/* Thirty-two paths against one, of equal length. */
static int diverge(struct backend *b, double *value, struct gt_error *err)
{
    double one = 0, all = 0;
    int rc = choose_paths_items(b, err);
    uint32_t items = items_of(b, M_DIVERGENCE);
    rc = rc ? rc : timed(b, KERNEL_diverge, items, 1, 1, &one, err);
    rc = rc ? rc : timed(b, KERNEL_diverge, items, 32, 1, &all, err);
    *value = all / one;
    return rc;
}

static int gpu_sample(struct backend *b, size_t m, double *value, struct gt_error *err)
{
    double s = 0, moved = uses[m].moved, depth;
    uint32_t items = items_of(b, m);
    int rc = 0;
    switch ((enum metric)m) {
    case M_H2D:
    case M_D2H:
    case M_H2D_PINNED:
    case M_D2H_PINNED:
        rc = transfer(b, m, &s, err);
        break;
    case M_DIVERGENCE:
        return diverge(b, value, err);
    case M_LAUNCH:
        rc = timed(b, KERNEL_empty, items, 0, LAUNCHES, &s, err);
        *value = s / LAUNCHES * 1e6;
        return rc;
    case M_ATOMICS_SAME:
    case M_ATOMICS_RANDOM:
        rc = timed(b, KERNEL_zero, b->n, 0, 1, &s, err);
        rc = rc ? rc : timed(b, KERNEL_count, items, parameter(b, m), 1, &s, err);
        break;
    default:
        rc = uses[m].steps ? choose_steps(b, m, err) : 0;
        rc = rc ? rc : timed(b, uses[m].kernel, items, parameter(b, m), 1, &s, err);
        if (uses[m].steps && b->ops->tensor(b->d, uses[m].kernel, &moved, &depth)) {
            moved = 4 * moved / 32; /* four instructions a warp and step; of one item */
        }
        moved *= uses[m].steps ? b->steps[m] : 1;
    }
    *value = moved * items / s / 1e9;
    return rc;
}

/* What z holds at i after a metric's kernel. */
static double expected(const struct backend *b, size_t m, uint32_t i)
{
    double sum = 0, ops, depth = 0;
    uint32_t p = parameter(b, m), mask = b->n - 1;
    switch ((enum metric)m) {
    case M_COPY:
    case M_H2D:
    case M_H2D_PINNED:
    case M_D2H:
    case M_D2H_PINNED:
        return (double)in_x(i);
    case M_SCALE:
        return 3 * (double)in_x(i);
    case M_ADD:
    case M_ADD_NAIVE:
    case M_ADD_STAGED:
        return (double)in_x(i) + i % 7;
    case M_TRIAD:
        return (double)in_x(i) + 3 * (i % 7);
    case M_STRIDED_2:
    case M_STRIDED_8:
    case M_STRIDED_32:
        return (double)in_x(((i * p) & mask) + (uint32_t)((uint64_t)i * p / b->n));
    case M_GATHER:
        return (double)in_x(kernel_scatter(i, b->n, b->bits));
    case M_TRANSPOSE:
    case M_TRANSPOSE_CONFLICTS:
        return (double)in_x(i % p * p + i / p);
    case M_DIVERGENCE:
        return i % KERNEL_GROUP % p + 1;
    case M_L2:
        for (uint32_t s = 0; s < 64; s++) {
            uint32_t at = ((i + s * 4099) & (p / 4 - 1)) * 4;
            sum += (double)(in_x(at) + in_x(at + 1) + in_x(at + 2) + in_x(at + 3));
        }
        return sum;
    default: /* loops to a fixed point of 1, tensor steps */
        return b->ops->tensor(b->d, uses[m].kernel, &ops, &depth) ? depth * p : 1;
    }
}

static bool counted(const struct backend *b, size_t m)
{
    uint64_t sum = 0;
    uint32_t c, slots = parameter(b, m), items = items_of(b, m);
    for (uint32_t i = 0; i < slots; i++) {
        memcpy(&c, &b->host[i], sizeof c);
        sum += c;
    }
    return sum == items;
}

static int gpu_check(struct backend *b, size_t m, bool *ok, struct gt_error *err)
{
    bool down = m == M_D2H || m == M_D2H_PINNED;
    size_t bytes = (size_t)b->n * sizeof(float);
    *ok = true;
    if (m == M_LAUNCH) {
        return 0;
    }
    if (!down) {
        int rc = b->ops->download(b->d, BUF_Z, b->host, bytes, err);
        if (rc) {
            return rc;
        }
    }
    if (m == M_ATOMICS_SAME || m == M_ATOMICS_RANDOM) {
        *ok = counted(b, m);
    } else {
        bool loops = uses[m].steps || m == M_DIVERGENCE;
        const float *got = m == M_D2H_PINNED ? b->pinned : b->host;
        uint32_t n = uses[m].items ? items_of(b, m) : b->n, step = n > 4096 ? 997 : 1;
        n = m == M_TRANSPOSE || m == M_TRANSPOSE_CONFLICTS ? b->side * b->side : n;
        for (uint32_t i = 0; i < n && *ok; i += step) {
            double want = expected(b, m, i), off = fabs((double)got[i] - want);
            *ok = off <= (loops ? 1e-3 * want : 0);
        }
    }
    pattern(b);
    return 0;
}

static const char *const *gpu_notes(const struct backend *b)
{
    return b->facts.notes;
}

static const char *gpu_bus_id(const struct backend *b)
{
    return b->facts.bus_id[0] ? b->facts.bus_id : NULL;
}

static int opencl_open(struct arena *a, size_t bytes, struct backend **out,
                       struct bench_device *device, struct gt_error *err)
{
    return gpu_open(&device_opencl, a, bytes, out, device, err);
}

static int cuda_open(struct arena *a, size_t bytes, struct backend **out,
                     struct bench_device *device, struct gt_error *err)
{
    return gpu_open(&device_cuda, a, bytes, out, device, err);
}

static int opencl_list(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err)
{
    return device_opencl.list(a, out, n, err);
}

static int cuda_list(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err)
{
    return device_cuda.list(a, out, n, err);
}

#define GPU(driver)                                                                                \
    const struct backend_ops backend_##driver = {.id = #driver,                                    \
                                                 .open = driver##_open,                            \
                                                 .list = driver##_list,                            \
                                                 .metric = metrics,                                \
                                                 .n_metrics = M_COUNT,                             \
                                                 .has = gpu_has,                                   \
                                                 .sample = gpu_sample,                             \
                                                 .check = gpu_check,                               \
                                                 .notes = gpu_notes,                               \
                                                 .bus_id = gpu_bus_id,                             \
                                                 .close = gpu_close}
GPU(opencl);
GPU(cuda);
