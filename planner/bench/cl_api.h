/* OpenCL 1.2 as far as it is used, declared here: no vendor header at build time, the loader is
 * opened at run time. Constants and signatures: Khronos OpenCL 1.2 specification. */
#ifndef GPUTIER_CL_API_H
#define GPUTIER_CL_API_H
#include "gputier/error.h"
#include <stddef.h>
#include <stdint.h>

typedef struct cl_object
    *cl_handle; /* platform, device, context, queue, program, kernel, mem, event */
enum {
    CL_TYPE_CPU = 2,
    CL_TYPE_GPU = 4,
    CL_PLATFORM_VERSION_ = 0x0901,
    CL_PLATFORM_NAME_ = 0x0902,
    CL_DEVICE_TYPE_ = 0x1000,
    CL_DEVICE_MAX_ALLOC_ = 0x1010,
    CL_DEVICE_GLOBAL_MEM_ = 0x101F,
    CL_DEVICE_NAME_ = 0x102B,
    CL_DEVICE_VENDOR_ = 0x102C,
    CL_DRIVER_VERSION_ = 0x102D,
    CL_DEVICE_COMPUTE_UNITS_ = 0x1002,
    CL_MEM_READ_WRITE_ = 1,
    CL_MEM_HOST_PTR_ = 16, /* CL_MEM_ALLOC_HOST_PTR */
    CL_MAP_READ_WRITE_ = 3,
    CL_DEVICE_CACHE_ = 0x101E, /* CL_DEVICE_GLOBAL_MEM_CACHE_SIZE */
    CL_BUILD_LOG_ = 0x1183,
    CL_PCI_BUS_NV_ = 0x4008, /* cl_nv_device_attribute_query */
    CL_PCI_SLOT_NV_ = 0x4009,
    CL_PCI_DOMAIN_NV_ = 0x400A
};
#define CL_TYPE_ALL 0xFFFFFFFFULL

struct cl_api {
    void *lib;
    int32_t (*GetPlatformIDs)(uint32_t, cl_handle *, uint32_t *);
    int32_t (*GetPlatformInfo)(cl_handle, uint32_t, size_t, void *, size_t *);
    int32_t (*GetDeviceIDs)(cl_handle, uint64_t, uint32_t, cl_handle *, uint32_t *);
    int32_t (*GetDeviceInfo)(cl_handle, uint32_t, size_t, void *, size_t *);
    cl_handle (*CreateContext)(const intptr_t *, uint32_t, const cl_handle *, void *, void *,
                               int32_t *);
    cl_handle (*CreateCommandQueue)(cl_handle, cl_handle, uint64_t, int32_t *);
    cl_handle (*CreateBuffer)(cl_handle, uint64_t, size_t, void *, int32_t *);
    cl_handle (*CreateProgramWithSource)(cl_handle, uint32_t, const char **, const size_t *,
                                         int32_t *);
    int32_t (*BuildProgram)(cl_handle, uint32_t, const cl_handle *, const char *, void *, void *);
    int32_t (*GetProgramBuildInfo)(cl_handle, cl_handle, uint32_t, size_t, void *, size_t *);
    cl_handle (*CreateKernel)(cl_handle, const char *, int32_t *);
    int32_t (*SetKernelArg)(cl_handle, uint32_t, size_t, const void *);
    int32_t (*EnqueueNDRangeKernel)(cl_handle, cl_handle, uint32_t, const size_t *, const size_t *,
                                    const size_t *, uint32_t, const cl_handle *, cl_handle *);
    int32_t (*EnqueueWriteBuffer)(cl_handle, cl_handle, uint32_t, size_t, size_t, const void *,
                                  uint32_t, const cl_handle *, cl_handle *);
    int32_t (*EnqueueReadBuffer)(cl_handle, cl_handle, uint32_t, size_t, size_t, void *, uint32_t,
                                 const cl_handle *, cl_handle *);
    void *(*EnqueueMapBuffer)(cl_handle, cl_handle, uint32_t, uint64_t, size_t, size_t, uint32_t,
                              const cl_handle *, cl_handle *, int32_t *);
    int32_t (*EnqueueUnmapMemObject)(cl_handle, cl_handle, void *, uint32_t, const cl_handle *,
                                     cl_handle *);
    int32_t (*Finish)(cl_handle);
    int32_t (*ReleaseMemObject)(cl_handle);
    int32_t (*ReleaseKernel)(cl_handle);
    int32_t (*ReleaseProgram)(cl_handle);
    int32_t (*ReleaseCommandQueue)(cl_handle);
    int32_t (*ReleaseContext)(cl_handle);
};
/* Opens libOpenCL.so.1 and resolves every entry; GT_EDEVICE says what is missing. */
int cl_api_open(struct cl_api *api, struct gt_error *err) GT_CHECK;
void cl_api_close(struct cl_api *api);
const char *cl_error_name(int32_t code);

#endif
