/* OpenCL back end: the first GPU of any platform, else any device (PoCL's CPU is labelled as such).
 * Every call's status is looked at; a failure names the call. Facts and pitfalls: gpu-bench.md 3.
 */
#include "backend.h"
#include "cl_api.h"
#include "kernels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M_COPY, M_TRIAD, M_FMA32, M_H2D, M_D2H, M_LAUNCH, M_COUNT };
enum { K_COPY, K_TRIAD, K_FMA32, K_EMPTY, K_FILL, K_COUNT };
static const struct backend_metric metrics[M_COUNT] = {{"copy", "GB/s"},        {"triad", "GB/s"},
                                                       {"fma_fp32", "GFLOP/s"}, {"h2d", "GB/s"},
                                                       {"d2h", "GB/s"},         {"launch", "us"}};
#define FMA_ITEMS (1U << 16)
#define LAUNCHES  100

struct backend {
    struct cl_api cl;
    cl_handle device, context, queue, program, kernel[K_COUNT], mem[3];
    size_t bytes;
    float *host;
};

static int fail(struct gt_error *err, const char *call, int32_t code)
{
    return gt_fail(err, GT_EDEVICE, "OpenCL", "%s: %s (%d)", call, cl_error_name(code), (int)code);
}

static const char *text_of(struct arena *a, const struct cl_api *cl, cl_handle d, uint32_t what)
{
    char text[512] = "";
    size_t n = 0;
    if (cl->GetDeviceInfo(d, what, sizeof text - 1, text, &n) != 0) {
        snprintf(text, sizeof text, "unknown");
    }
    text[sizeof text - 1] = '\0';
    const char *copy = arena_strdup(a, text);
    return copy ? copy : "unknown";
}

static void describe(struct arena *a, const struct cl_api *cl, cl_handle d,
                     struct bench_device *out)
{
    uint64_t type = 0, memory = 0;
    cl->GetDeviceInfo(d, CL_DEVICE_TYPE_, sizeof type, &type, NULL);
    cl->GetDeviceInfo(d, CL_DEVICE_GLOBAL_MEM_, sizeof memory, &memory, NULL);
    *out = (struct bench_device){.backend = "opencl",
                                 .name = text_of(a, cl, d, CL_DEVICE_NAME_),
                                 .driver = text_of(a, cl, d, CL_DRIVER_VERSION_),
                                 .is_gpu = (type & CL_TYPE_GPU) != 0,
                                 .memory_gib = (double)memory / (1 << 30)};
    out->vendor =
        out->is_gpu ? text_of(a, cl, d, CL_DEVICE_VENDOR_) : "CPU behind OpenCL, not a GPU";
}

/* All devices, GPUs first. */
static int devices(const struct cl_api *cl, cl_handle *out, size_t max, size_t *n,
                   struct gt_error *err)
{
    cl_handle platform[16];
    uint32_t n_platforms = 0;
    int32_t rc = cl->GetPlatformIDs(16, platform, &n_platforms);
    if (rc != 0) {
        return fail(err, "clGetPlatformIDs", rc);
    }
    *n = 0;
    static const uint64_t types[] = {CL_TYPE_GPU, CL_TYPE_ALL};
    for (int t = 0; t < 2; t++) {
        for (uint32_t p = 0; p < n_platforms && p < 16; p++) {
            cl_handle found[16];
            uint32_t count = 0;
            if (cl->GetDeviceIDs(platform[p], types[t], 16, found, &count) != 0) {
                continue;
            }
            for (uint32_t i = 0; i < count && i < 16; i++) {
                bool known = false;
                for (size_t k = 0; k < *n; k++) {
                    known = known || out[k] == found[i];
                }
                if (!known && *n < max) {
                    out[(*n)++] = found[i];
                }
            }
        }
    }
    if (*n == 0) {
        return gt_fail(
            err, GT_EDEVICE, "OpenCL",
            "no device; a HOME that cannot be written looks the same to PoCL (set POCL_CACHE_DIR)");
    }
    return 0;
}

static int ocl_list(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err)
{
    struct cl_api cl;
    cl_handle d[64];
    int rc = cl_api_open(&cl, err);
    if (rc) {
        return rc;
    }
    rc = devices(&cl, d, 64, n, err);
    if (!rc) {
        *out = arena_array(a, *n, sizeof **out);
        rc = *out ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
        for (size_t i = 0; !rc && i < *n; i++) {
            describe(a, &cl, d[i], &(*out)[i]);
        }
    }
    cl_api_close(&cl);
    return rc;
}

static void ocl_close(struct backend *b)
{
    for (int i = 0; i < 3; i++) {
        if (b->mem[i]) {
            b->cl.ReleaseMemObject(b->mem[i]);
        }
    }
    for (int i = 0; i < K_COUNT; i++) {
        if (b->kernel[i]) {
            b->cl.ReleaseKernel(b->kernel[i]);
        }
    }
    if (b->program) {
        b->cl.ReleaseProgram(b->program);
    }
    if (b->queue) {
        b->cl.ReleaseCommandQueue(b->queue);
    }
    if (b->context) {
        b->cl.ReleaseContext(b->context);
    }
    free(b->host);
    cl_api_close(&b->cl);
    free(b);
}

static int build(struct backend *b, struct gt_error *err)
{
    static const char *const names[K_COUNT] = {"copy", "triad", "fma32", "empty", "fill"};
    const char *source = kernel_source;
    size_t len = sizeof kernel_source - 1;
    int32_t rc = 0;
    b->program = b->cl.CreateProgramWithSource(b->context, 1, &source, &len, &rc);
    if (!b->program) {
        return fail(err, "clCreateProgramWithSource", rc);
    }
    rc = b->cl.BuildProgram(b->program, 1, &b->device, "", NULL, NULL);
    if (rc != 0) {
        char log[300] = "";
        b->cl.GetProgramBuildInfo(b->program, b->device, CL_BUILD_LOG_, sizeof log - 1, log, NULL);
        return gt_fail(err, GT_EDEVICE, "OpenCL", "clBuildProgram: %s (%d): %.200s",
                       cl_error_name(rc), (int)rc, log);
    }
    for (int i = 0; i < K_COUNT; i++) {
        b->kernel[i] = b->cl.CreateKernel(b->program, names[i], &rc);
        if (!b->kernel[i]) {
            return fail(err, "clCreateKernel", rc);
        }
        for (uint32_t arg = 0; arg < 3; arg++) { /* z, x, y */
            rc = b->cl.SetKernelArg(b->kernel[i], arg, sizeof(cl_handle), &b->mem[arg]);
            if (rc != 0) {
                return fail(err, "clSetKernelArg", rc);
            }
        }
    }
    return 0;
}

static int launch(struct backend *b, int kernel, size_t items, struct gt_error *err)
{
    int32_t rc = b->cl.EnqueueNDRangeKernel(b->queue, b->kernel[kernel], 1, NULL, &items, NULL, 0,
                                            NULL, NULL);
    return rc == 0 ? 0 : fail(err, "clEnqueueNDRangeKernel", rc);
}

static int finish(struct backend *b, struct gt_error *err)
{
    int32_t rc = b->cl.Finish(b->queue);
    return rc == 0 ? 0 : fail(err, "clFinish", rc);
}

static int setup(struct backend *b, struct gt_error *err)
{
    int32_t rc = 0;
    b->context = b->cl.CreateContext(NULL, 1, &b->device, NULL, NULL, &rc);
    if (!b->context) {
        return fail(err, "clCreateContext", rc);
    }
    b->queue = b->cl.CreateCommandQueue(b->context, b->device, 0, &rc);
    if (!b->queue) {
        return fail(err, "clCreateCommandQueue", rc);
    }
    for (int i = 0; i < 3; i++) {
        b->mem[i] = b->cl.CreateBuffer(b->context, CL_MEM_READ_WRITE_, b->bytes, NULL, &rc);
        if (!b->mem[i]) {
            return fail(err, "clCreateBuffer", rc);
        }
    }
    b->host = malloc(b->bytes);
    if (!b->host) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    memset(b->host, 0, b->bytes);
    int code = build(b, err);
    code = code ? code : launch(b, K_FILL, b->bytes / sizeof(float), err);
    return code ? code : finish(b, err);
}

static int ocl_open(struct arena *a, size_t bytes, struct backend **out,
                    struct bench_device *device, struct gt_error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    cl_handle d[64];
    size_t n = 0;
    uint64_t max_alloc = 0;
    if (!b) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = cl_api_open(&b->cl, err);
    rc = rc ? rc : devices(&b->cl, d, 64, &n, err);
    if (!rc) {
        b->device = d[0];
        describe(a, &b->cl, d[0], device);
        b->bytes = bytes;
        if (b->cl.GetDeviceInfo(d[0], CL_DEVICE_MAX_ALLOC_, sizeof max_alloc, &max_alloc, NULL) ==
                0 &&
            max_alloc / 4 < b->bytes) {
            b->bytes = (size_t)(max_alloc / 4) & ~(size_t)4095;
        }
        if (b->bytes < (1U << 20)) {
            rc = gt_fail(err, GT_EDEVICE, "OpenCL", "the device offers only %zu bytes", b->bytes);
        }
        rc = rc ? rc : setup(b, err);
    }
    if (rc) {
        ocl_close(b);
        return rc;
    }
    *out = b;
    return 0;
}

static int timed_kernels(struct backend *b, int kernel, size_t items, int times, double *s,
                         struct gt_error *err)
{
    double start = bench_seconds();
    int rc = 0;
    for (int i = 0; i < times && !rc; i++) {
        rc = launch(b, kernel, items, err);
    }
    rc = rc ? rc : finish(b, err);
    *s = bench_seconds() - start;
    return rc;
}

static int ocl_sample(struct backend *b, size_t metric, double *value, struct gt_error *err)
{
    double s = 0, bytes = (double)b->bytes;
    int rc = 0;
    int32_t code;
    switch (metric) {
    case M_COPY:
        rc = timed_kernels(b, K_COPY, b->bytes / 16, 1, &s, err);
        *value = 2 * bytes / s / 1e9;
        return rc;
    case M_TRIAD:
        rc = timed_kernels(b, K_TRIAD, b->bytes / 16, 1, &s, err);
        *value = 3 * bytes / s / 1e9;
        return rc;
    case M_FMA32:
        rc = timed_kernels(b, K_FMA32, FMA_ITEMS, 1, &s, err);
        *value = 2.0 * 16 * KERNEL_FMA_STEPS * FMA_ITEMS / s / 1e9;
        return rc;
    case M_H2D:
    case M_D2H:
        s = bench_seconds();
        code = metric == M_H2D ? b->cl.EnqueueWriteBuffer(b->queue, b->mem[0], 1, 0, b->bytes,
                                                          b->host, 0, NULL, NULL)
                               : b->cl.EnqueueReadBuffer(b->queue, b->mem[0], 1, 0, b->bytes,
                                                         b->host, 0, NULL, NULL);
        *value = bytes / (bench_seconds() - s) / 1e9;
        return code == 0
                   ? 0
                   : fail(err, metric == M_H2D ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer",
                          code);
    default:
        rc = timed_kernels(b, K_EMPTY, 64, LAUNCHES, &s, err);
        *value = s / LAUNCHES * 1e6;
        return rc;
    }
}

static int ocl_check(struct backend *b, size_t metric, bool *ok, struct gt_error *err)
{
    *ok = true;
    if (metric == M_LAUNCH) {
        return 0;
    }
    int32_t rc =
        b->cl.EnqueueReadBuffer(b->queue, b->mem[0], 1, 0, b->bytes, b->host, 0, NULL, NULL);
    if (rc != 0) {
        return fail(err, "clEnqueueReadBuffer", rc);
    }
    size_t n = metric == M_FMA32 ? FMA_ITEMS : b->bytes / sizeof(float);
    for (size_t i = 0; i < n; i += metric == M_FMA32 ? 1 : 997) {
        float x = (float)(i % 1000), y = (float)(i % 7), z = b->host[i];
        if (metric == M_FMA32) {
            *ok = *ok && z > 0.999F && z < 1.001F;
        } else if (metric == M_COPY || metric == M_TRIAD) {
            float want = metric == M_COPY ? x : x + 3 * y;
            *ok = *ok && z >= want && z <= want;
        }
    }
    if (metric == M_FMA32) { /* the transfers that follow carry a known pattern */
        for (size_t i = 0; i < b->bytes / sizeof(float); i++) {
            b->host[i] = (float)(i % 1000);
        }
    } else if (metric == M_H2D || metric == M_D2H) {
        for (size_t i = 0; i < n; i += 997) {
            float want = (float)(i % 1000);
            *ok = *ok && b->host[i] >= want && b->host[i] <= want;
        }
    }
    return 0;
}

const struct backend_ops backend_opencl = {.id = "opencl",
                                           .open = ocl_open,
                                           .list = ocl_list,
                                           .metric = metrics,
                                           .n_metrics = M_COUNT,
                                           .sample = ocl_sample,
                                           .check = ocl_check,
                                           .close = ocl_close};
