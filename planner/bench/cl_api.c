/* Loads the OpenCL loader at run time (cl_api.h). */
#include "cl_api.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t offset;
};
#define S(x)                                                                                       \
    {                                                                                              \
        "cl" #x, offsetof(struct cl_api, x)                                                        \
    }
static const struct symbol symbols[] = {S(GetPlatformIDs),       S(GetPlatformInfo),
                                        S(GetDeviceIDs),         S(GetDeviceInfo),
                                        S(CreateContext),        S(CreateCommandQueue),
                                        S(CreateBuffer),         S(CreateProgramWithSource),
                                        S(BuildProgram),         S(GetProgramBuildInfo),
                                        S(CreateKernel),         S(SetKernelArg),
                                        S(EnqueueNDRangeKernel), S(EnqueueWriteBuffer),
                                        S(EnqueueReadBuffer),    S(Finish),
                                        S(EnqueueMapBuffer),     S(EnqueueUnmapMemObject),
                                        S(ReleaseMemObject),     S(ReleaseKernel),
                                        S(ReleaseProgram),       S(ReleaseCommandQueue),
                                        S(ReleaseContext)};
#undef S

int cl_api_open(struct cl_api *api, struct gt_error *err)
{
    memset(api, 0, sizeof *api);
    api->lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!api->lib) {
        return gt_fail(err, GT_EDEVICE, "OpenCL",
                       "no OpenCL loader (libOpenCL.so.1); Debian: ocl-icd-libopencl1 and the "
                       "vendor's driver");
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(api->lib, symbols[i].name);
        if (!p) {
            cl_api_close(api);
            return gt_fail(err, GT_EDEVICE, "OpenCL", "libOpenCL.so.1 lacks %s", symbols[i].name);
        }
        memcpy((char *)api + symbols[i].offset, &p, sizeof p);
    }
    return 0;
}

/* The library stays loaded: drivers leave threads and exit handlers behind. */
void cl_api_close(struct cl_api *api)
{
    memset(api, 0, sizeof *api);
}

const char *cl_error_name(int32_t code)
{
    static const struct {
        int32_t code;
        const char *name;
    } names[] = {{-1, "device not found"},
                 {-2, "device not available"},
                 {-4, "device memory exhausted"},
                 {-5, "out of resources"},
                 {-6, "out of host memory"},
                 {-11, "kernel source does not build"},
                 {-36, "invalid command queue"},
                 {-54, "invalid work group size"},
                 {-61, "invalid buffer size"},
                 {-1001, "no driver is registered with the loader (/etc/OpenCL/vendors)"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "driver error";
}
