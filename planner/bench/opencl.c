/* OpenCL driver: the first GPU of any platform, else any device (PoCL's CPU is labelled as such).
 * Every call's status is looked at; a failure names the call. Facts and pitfalls: gpu-bench.md 3.
 */
#include "cl_api.h"
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SUCH_KERNEL (-46) /* CL_INVALID_KERNEL_NAME: its extension is not there */

struct device {
    struct cl_api cl;
    cl_handle device, context, queue, program, kernel[KERNEL_COUNT], mem[BUF_COUNT], pin;
    void *pinned;
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

static void ocl_close(struct device *d)
{
    if (d->pinned) {
        d->cl.EnqueueUnmapMemObject(d->queue, d->pin, d->pinned, 0, NULL, NULL);
        d->cl.Finish(d->queue);
    }
    if (d->pin) {
        d->cl.ReleaseMemObject(d->pin);
    }
    for (int i = 0; i < BUF_COUNT; i++) {
        if (d->mem[i]) {
            d->cl.ReleaseMemObject(d->mem[i]);
        }
    }
    for (int i = 0; i < KERNEL_COUNT; i++) {
        if (d->kernel[i]) {
            d->cl.ReleaseKernel(d->kernel[i]);
        }
    }
    if (d->program) {
        d->cl.ReleaseProgram(d->program);
    }
    if (d->queue) {
        d->cl.ReleaseCommandQueue(d->queue);
    }
    if (d->context) {
        d->cl.ReleaseContext(d->context);
    }
    cl_api_close(&d->cl);
    free(d);
}

/* NVIDIA's OpenCL tells the board's place; the domain only newer ones do. */
static void bus_id(const struct cl_api *cl, cl_handle d, char *out, size_t size)
{
    uint32_t bus = 0, slot = 0, domain = 0;
    if (cl->GetDeviceInfo(d, CL_PCI_BUS_NV_, sizeof bus, &bus, NULL) != 0 ||
        cl->GetDeviceInfo(d, CL_PCI_SLOT_NV_, sizeof slot, &slot, NULL) != 0) {
        return;
    }
    if (cl->GetDeviceInfo(d, CL_PCI_DOMAIN_NV_, sizeof domain, &domain, NULL) != 0) {
        domain = 0;
    }
    snprintf(out, size, "%08x:%02x:%02x.0", (unsigned)domain, (unsigned)bus & 0xFF,
             (unsigned)slot >> 3 & 0x1F);
}

static int ocl_open(struct arena *a, struct device **out, struct bench_device *about,
                    struct device_facts *facts, struct gt_error *err)
{
    struct device *d = calloc(1, sizeof *d);
    cl_handle found[64];
    size_t n = 0;
    uint64_t most = 0, cache = 0;
    if (!d) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = cl_api_open(&d->cl, err);
    rc = rc ? rc : devices(&d->cl, found, 64, &n, err);
    if (rc) {
        ocl_close(d);
        return rc;
    }
    d->device = found[0];
    describe(a, &d->cl, found[0], about);
    d->cl.GetDeviceInfo(found[0], CL_DEVICE_MAX_ALLOC_, sizeof most, &most, NULL);
    d->cl.GetDeviceInfo(found[0], CL_DEVICE_CACHE_, sizeof cache, &cache, NULL);
    *facts = (struct device_facts){.most_bytes = (size_t)most, .cache_bytes = (size_t)cache};
    if (about->is_gpu && strstr(about->vendor, "NVIDIA")) {
        bus_id(&d->cl, found[0], facts->bus_id, sizeof facts->bus_id);
    }
    *out = d;
    return 0;
}

static int build(struct device *d, struct gt_error *err)
{
    const char *source = kernel_source;
    size_t len = strlen(source);
    int32_t rc = 0;
    d->program = d->cl.CreateProgramWithSource(d->context, 1, &source, &len, &rc);
    if (!d->program) {
        return fail(err, "clCreateProgramWithSource", rc);
    }
    rc = d->cl.BuildProgram(d->program, 1, &d->device, "", NULL, NULL);
    if (rc != 0) {
        char log[300] = "";
        d->cl.GetProgramBuildInfo(d->program, d->device, CL_BUILD_LOG_, sizeof log - 1, log, NULL);
        return gt_fail(err, GT_EDEVICE, "OpenCL", "clBuildProgram: %s (%d): %.200s",
                       cl_error_name(rc), (int)rc, log);
    }
    for (int i = 0; i < KERNEL_COUNT; i++) {
        d->kernel[i] = d->cl.CreateKernel(d->program, kernel_names[i], &rc);
        if (!d->kernel[i] && rc != NO_SUCH_KERNEL) {
            return fail(err, "clCreateKernel", rc);
        }
        for (uint32_t arg = 0; d->kernel[i] && arg < BUF_COUNT; arg++) {
            rc = d->cl.SetKernelArg(d->kernel[i], arg, sizeof(cl_handle), &d->mem[arg]);
            if (rc != 0) {
                return fail(err, "clSetKernelArg", rc);
            }
        }
    }
    return 0;
}

/* Memory of the host that the device reads without a copy in between. */
static int pin(struct device *d, size_t bytes, struct gt_error *err)
{
    int32_t rc = 0;
    d->pin =
        d->cl.CreateBuffer(d->context, CL_MEM_READ_WRITE_ | CL_MEM_HOST_PTR_, bytes, NULL, &rc);
    if (!d->pin) {
        return fail(err, "clCreateBuffer", rc);
    }
    d->pinned = d->cl.EnqueueMapBuffer(d->queue, d->pin, 1, CL_MAP_READ_WRITE_, 0, bytes, 0, NULL,
                                       NULL, &rc);
    return d->pinned ? 0 : fail(err, "clEnqueueMapBuffer", rc);
}

static int ocl_prepare(struct device *d, size_t bytes, void **pinned, struct gt_error *err)
{
    int32_t rc = 0;
    d->context = d->cl.CreateContext(NULL, 1, &d->device, NULL, NULL, &rc);
    if (!d->context) {
        return fail(err, "clCreateContext", rc);
    }
    d->queue = d->cl.CreateCommandQueue(d->context, d->device, 0, &rc);
    if (!d->queue) {
        return fail(err, "clCreateCommandQueue", rc);
    }
    for (int i = 0; i < BUF_COUNT; i++) {
        d->mem[i] = d->cl.CreateBuffer(d->context, CL_MEM_READ_WRITE_, bytes, NULL, &rc);
        if (!d->mem[i]) {
            return fail(err, "clCreateBuffer", rc);
        }
    }
    int code = build(d, err);
    code = code ? code : pin(d, bytes, err);
    *pinned = d->pinned;
    return code;
}

static bool ocl_has(const struct device *d, enum kernel_id k)
{
    return d->kernel[k] != NULL;
}

static int ocl_launch(struct device *d, enum kernel_id k, size_t items, uint32_t n, uint32_t p,
                      struct gt_error *err)
{
    const uint32_t values[2] = {n, p};
    size_t group = KERNEL_GROUP;
    for (uint32_t i = 0; i < 2; i++) {
        int32_t rc = d->cl.SetKernelArg(d->kernel[k], BUF_COUNT + i, sizeof *values, &values[i]);
        if (rc != 0) {
            return fail(err, "clSetKernelArg", rc);
        }
    }
    int32_t rc =
        d->cl.EnqueueNDRangeKernel(d->queue, d->kernel[k], 1, NULL, &items, &group, 0, NULL, NULL);
    return rc == 0 ? 0 : fail(err, "clEnqueueNDRangeKernel", rc);
}

static int ocl_finish(struct device *d, struct gt_error *err)
{
    int32_t rc = d->cl.Finish(d->queue);
    return rc == 0 ? 0 : fail(err, "clFinish", rc);
}

static int ocl_upload(struct device *d, int buffer, const void *host, size_t bytes,
                      struct gt_error *err)
{
    int32_t rc =
        d->cl.EnqueueWriteBuffer(d->queue, d->mem[buffer], 1, 0, bytes, host, 0, NULL, NULL);
    return rc == 0 ? 0 : fail(err, "clEnqueueWriteBuffer", rc);
}

static int ocl_download(struct device *d, int buffer, void *host, size_t bytes,
                        struct gt_error *err)
{
    int32_t rc =
        d->cl.EnqueueReadBuffer(d->queue, d->mem[buffer], 1, 0, bytes, host, 0, NULL, NULL);
    return rc == 0 ? 0 : fail(err, "clEnqueueReadBuffer", rc);
}

static bool ocl_tensor(const struct device *d, enum kernel_id k, double *ops, double *depth)
{
    (void)d, (void)k, (void)ops, (void)depth;
    return false;
}

const struct device_ops device_opencl = {.id = "opencl",
                                         .list = ocl_list,
                                         .open = ocl_open,
                                         .prepare = ocl_prepare,
                                         .has = ocl_has,
                                         .launch = ocl_launch,
                                         .finish = ocl_finish,
                                         .upload = ocl_upload,
                                         .download = ocl_download,
                                         .tensor = ocl_tensor,
                                         .close = ocl_close};
