/* NVIDIA driver: embedded PTX, one text per level of capability, so that one that the driver does
 * not know costs its own metrics alone. Every call's status is looked at; a failure names the call.
 * Never two processes' worth of it: the parent touches no driver (gpu-bench.md 2.1). */
#include "cuda_api.h"
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULES 4
#define LOG_MAX 400

/* Tensor steps: operations of one instruction of a warp and its depth K, by text (2 x M x N x K;
 * m8n8k4 of Volta works on four quarters of the warp at once). */
struct tensor {
    enum kernel_id kernel;
    double ops, depth;
};
struct text {
    const char *ptx;
    int from, to; /* compute capability, major x 10 + minor: [from, to) */
    struct tensor tensor[5];
};
static const struct text texts[] = {
    {ptx_base, 0, 1000, {{0, 0, 0}}},
    {ptx_half, 60, 1000, {{0, 0, 0}}},
    {ptx_sm70, 70, 75, {{KERNEL_mma_f16, 2048, 4}}},
    {ptx_sm75, 75, 80, {{KERNEL_mma_f16, 2048, 8}, {KERNEL_mma_s8, 2048, 16}}},
    {ptx_sm80,
     80,
     1000,
     {{KERNEL_mma_f16, 4096, 16},
      {KERNEL_mma_bf16, 4096, 16},
      {KERNEL_mma_tf32, 2048, 8},
      {KERNEL_mma_s8, 8192, 32},
      {KERNEL_mma_f64, 512, 4}}},
    {ptx_sm89, 89, 1000, {{KERNEL_mma_e4m3, 8192, 32}}},
};

struct device {
    struct cuda_api cu;
    struct arena *arena; /* of the caller: notes live there */
    struct device_facts *facts;
    cu_device id;
    int capability;
    bool retained;
    cu_handle context, stream, module[MODULES], function[KERNEL_COUNT];
    size_t n_modules, n_notes;
    cu_pointer mem[BUF_COUNT];
    void *pinned;
    struct tensor tensor[KERNEL_COUNT];
};

#define CALL(err, what, code)                                                                      \
    do {                                                                                           \
        int code_ = (code);                                                                        \
        if (code_ != 0) {                                                                          \
            return cuda_fail(err, what, code_);                                                    \
        }                                                                                          \
    } while (0)

static int count_of(const struct cuda_api *cu, int *n, struct gt_error *err)
{
    CALL(err, "cuInit", cu->Init(0));
    CALL(err, "cuDeviceGetCount", cu->DeviceGetCount(n));
    if (*n < 1) {
        return cuda_fail(err, "cuDeviceGetCount", 100);
    }
    return 0;
}

static int describe(struct arena *a, const struct cuda_api *cu, cu_device id,
                    struct bench_device *out, struct gt_error *err)
{
    char name[256] = "";
    int version = 0;
    size_t memory = 0;
    CALL(err, "cuDeviceGetName", cu->DeviceGetName(name, sizeof name - 1, id));
    CALL(err, "cuDeviceTotalMem", cu->DeviceTotalMem(&memory, id));
    CALL(err, "cuDriverGetVersion", cu->DriverGetVersion(&version));
    *out = (struct bench_device){
        .name = arena_strdup(a, name[0] ? name : "unknown"),
        .backend = "cuda",
        .driver = arena_printf(a, "CUDA %d.%d", version / 1000, version % 1000 / 10),
        .vendor = "NVIDIA",
        .is_gpu = true,
        .memory_gib = (double)memory / (1 << 30)};
    return out->name && out->driver ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int cu_list(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err)
{
    struct cuda_api cu;
    int count = 0, rc = cuda_api_open(&cu, err);
    rc = rc ? rc : count_of(&cu, &count, err);
    if (rc) {
        return rc;
    }
    count = count < 64 ? count : 64;
    *out = arena_array(a, (size_t)count, sizeof **out);
    if (!*out) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *n = 0;
    for (int i = 0; i < count; i++) {
        cu_device id;
        CALL(err, "cuDeviceGet", cu.DeviceGet(&id, i));
        rc = describe(a, &cu, id, &(*out)[i], err);
        if (rc) {
            return rc;
        }
        ++*n;
    }
    return 0;
}

static void cu_close(struct device *d)
{
    const struct cuda_api *cu = &d->cu;
    for (int i = 0; i < BUF_COUNT; i++) {
        if (d->mem[i]) {
            cu->MemFree(d->mem[i]);
        }
    }
    if (d->pinned) {
        cu->MemFreeHost(d->pinned);
    }
    for (size_t i = 0; i < d->n_modules; i++) {
        cu->ModuleUnload(d->module[i]);
    }
    if (d->stream) {
        cu->StreamDestroy(d->stream);
    }
    if (d->retained) {
        cu->PrimaryCtxRelease(d->id);
    }
    free(d);
}

static int attribute(const struct device *d, int which, int *value, struct gt_error *err)
{
    CALL(err, "cuDeviceGetAttribute", d->cu.DeviceGetAttribute(value, which, d->id));
    return 0;
}

static void note(struct device *d, const char *text)
{
    if (text && d->n_notes + 1 < sizeof d->facts->notes / sizeof *d->facts->notes) {
        d->facts->notes[d->n_notes++] = text;
    }
}

/* Context and facts. The limit of a buffer is what is free now, not what the board has. */
static int connect_to(struct device *d, struct bench_device *about, struct gt_error *err)
{
    int count, major = 0, minor = 0, l2 = 0, watchdog = 0;
    size_t free_bytes = 0, total = 0;
    int rc = cuda_api_open(&d->cu, err);
    rc = rc ? rc : count_of(&d->cu, &count, err);
    if (rc) {
        return rc;
    }
    CALL(err, "cuDeviceGet", d->cu.DeviceGet(&d->id, 0));
    rc = describe(d->arena, &d->cu, d->id, about, err);
    rc = rc ? rc : attribute(d, CU_MAJOR, &major, err);
    rc = rc ? rc : attribute(d, CU_MINOR, &minor, err);
    rc = rc ? rc : attribute(d, CU_L2_BYTES, &l2, err);
    rc = rc ? rc : attribute(d, CU_KERNEL_TIMEOUT, &watchdog, err);
    if (rc) {
        return rc;
    }
    d->capability = 10 * major + minor;
    if (d->cu.DeviceGetPCIBusId(d->facts->bus_id, sizeof d->facts->bus_id - 1, d->id) != 0) {
        d->facts->bus_id[0] = '\0'; /* measured all the same, without NVML beside it */
    }
    CALL(err, "cuDevicePrimaryCtxRetain", d->cu.PrimaryCtxRetain(&d->context, d->id));
    d->retained = true;
    CALL(err, "cuCtxSetCurrent", d->cu.CtxSetCurrent(d->context));
    CALL(err, "cuMemGetInfo", d->cu.MemGetInfo(&free_bytes, &total));
    d->facts->most_bytes = free_bytes / 2;
    d->facts->cache_bytes = l2 > 0 ? (size_t)l2 : 0;
    if (watchdog) {
        note(d, "a desktop runs on this GPU: figures are lower, long kernels are ended");
    }
    if (strstr(about->name, "MIG")) {
        note(d, "a MIG slice: never to be compared with the whole board");
    }
    return 0;
}

static int cu_open(struct arena *a, struct device **out, struct bench_device *about,
                   struct device_facts *facts, struct gt_error *err)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *facts = (struct device_facts){0};
    d->arena = a;
    d->facts = facts;
    int rc = connect_to(d, about, err);
    if (rc) {
        cu_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

/* One text; the base must load, any other one may be unknown to the driver. */
static int load(struct device *d, const struct text *t, struct gt_error *err)
{
    char log[LOG_MAX] = "";
    int option[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    cu_handle module = NULL;
    int code = d->cu.ModuleLoadDataEx(&module, t->ptx, 2, option, value);
    log[sizeof log - 1] = '\0';
    if (code != 0) {
        cuda_fail(err, "cuModuleLoadDataEx", code);
        if (t->ptx == ptx_base) {
            return log[0] ? gt_fail(err, GT_EDEVICE, "CUDA", "cuModuleLoadDataEx (%d): %.300s",
                                    code, log)
                          : GT_EDEVICE;
        }
        note(d, arena_printf(d->arena, "kernels for %d.%d and later are left out: %s", t->from / 10,
                             t->from % 10, log[0] ? log : err->text));
        return 0;
    }
    d->module[d->n_modules++] = module;
    for (int k = 0; k < KERNEL_COUNT; k++) {
        cu_handle f = NULL;
        code = d->cu.ModuleGetFunction(&f, module, kernel_names[k]);
        if (code == 0) {
            d->function[k] = f;
        } else if (code != 500) { /* not in this text */
            return cuda_fail(err, "cuModuleGetFunction", code);
        }
    }
    for (size_t i = 0; i < sizeof t->tensor / sizeof *t->tensor && t->tensor[i].ops > 0; i++) {
        d->tensor[t->tensor[i].kernel] = t->tensor[i];
    }
    return 0;
}

static int cu_prepare(struct device *d, size_t bytes, void **pinned, struct gt_error *err)
{
    CALL(err, "cuStreamCreate", d->cu.StreamCreate(&d->stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < BUF_COUNT; i++) {
        CALL(err, "cuMemAlloc", d->cu.MemAlloc(&d->mem[i], bytes));
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (d->capability >= texts[i].from && d->capability < texts[i].to) {
            int rc = load(d, &texts[i], err);
            if (rc) {
                return rc;
            }
        }
    }
    CALL(err, "cuMemHostAlloc", d->cu.MemHostAlloc(&d->pinned, bytes, 0));
    *pinned = d->pinned;
    if (d->capability >= 90 && d->capability < 120 && d->tensor[KERNEL_mma_f16].ops > 0) {
        note(d, "mma.sync does not reach the sheet's tensor rate on this architecture (about half "
                "to two thirds of it): no sign of a slow GPU");
    }
    return 0;
}

static bool cu_has(const struct device *d, enum kernel_id k)
{
    return d->function[k] != NULL;
}

static int cu_launch(struct device *d, enum kernel_id k, size_t items, uint32_t n, uint32_t p,
                     struct gt_error *err)
{
    void *args[] = {&d->mem[BUF_Z], &d->mem[BUF_X], &d->mem[BUF_Y], &d->mem[BUF_U], &n, &p};
    CALL(err, "cuLaunchKernel",
         d->cu.LaunchKernel(d->function[k], (unsigned)(items / KERNEL_GROUP), 1, 1, KERNEL_GROUP, 1,
                            1, 0, d->stream, args, NULL));
    return 0;
}

static int cu_finish(struct device *d, struct gt_error *err)
{
    CALL(err, "cuStreamSynchronize", d->cu.StreamSynchronize(d->stream));
    return 0;
}

static int cu_upload(struct device *d, int buffer, const void *host, size_t bytes,
                     struct gt_error *err)
{
    CALL(err, "cuMemcpyHtoD", d->cu.MemcpyHtoDAsync(d->mem[buffer], host, bytes, d->stream));
    return cu_finish(d, err);
}

static int cu_download(struct device *d, int buffer, void *host, size_t bytes, struct gt_error *err)
{
    CALL(err, "cuMemcpyDtoH", d->cu.MemcpyDtoHAsync(host, d->mem[buffer], bytes, d->stream));
    return cu_finish(d, err);
}

static bool cu_tensor(const struct device *d, enum kernel_id k, double *ops, double *depth)
{
    *ops = d->tensor[k].ops > 0 ? d->tensor[k].ops : *ops;
    *depth = d->tensor[k].depth;
    return d->tensor[k].ops > 0;
}

const struct device_ops device_cuda = {.id = "cuda",
                                       .list = cu_list,
                                       .open = cu_open,
                                       .prepare = cu_prepare,
                                       .has = cu_has,
                                       .launch = cu_launch,
                                       .finish = cu_finish,
                                       .upload = cu_upload,
                                       .download = cu_download,
                                       .tensor = cu_tensor,
                                       .close = cu_close};
