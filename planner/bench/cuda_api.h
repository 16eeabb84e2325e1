/* The NVIDIA driver API as far as it is used, declared here: no vendor header at build time, the
 * driver is opened at run time. Symbols carry the suffix of the 64-bit ABI (gpu-bench.md 2.1). */
#ifndef GPUTIER_CUDA_API_H
#define GPUTIER_CUDA_API_H
#include "gputier/error.h"
#include <stddef.h>
#include <stdint.h>

typedef int32_t cu_device;
typedef uint64_t cu_pointer;         /* device memory */
typedef struct cu_object *cu_handle; /* context, module, function, stream */
enum {
    CU_MULTIPROCESSORS = 16,
    CU_KERNEL_TIMEOUT = 17,
    CU_ECC = 32,
    CU_L2_BYTES = 38,
    CU_MAJOR = 75,
    CU_MINOR = 76,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_BYTES = 6,
    CU_STREAM_NON_BLOCKING = 1
};

struct cuda_api {
    void *lib;
    int (*Init)(unsigned);
    int (*DriverGetVersion)(int *);
    int (*DeviceGetCount)(int *);
    int (*DeviceGet)(cu_device *, int);
    int (*DeviceGetName)(char *, int, cu_device);
    int (*DeviceTotalMem)(size_t *, cu_device);
    int (*DeviceGetAttribute)(int *, int, cu_device);
    int (*DeviceGetPCIBusId)(char *, int, cu_device);
    int (*PrimaryCtxRetain)(cu_handle *, cu_device);
    int (*PrimaryCtxRelease)(cu_device);
    int (*CtxSetCurrent)(cu_handle);
    int (*ModuleLoadDataEx)(cu_handle *, const void *, unsigned, int *, void **);
    int (*ModuleUnload)(cu_handle);
    int (*ModuleGetFunction)(cu_handle *, cu_handle, const char *);
    int (*MemAlloc)(cu_pointer *, size_t);
    int (*MemFree)(cu_pointer);
    int (*MemGetInfo)(size_t *, size_t *);
    int (*MemHostAlloc)(void **, size_t, unsigned);
    int (*MemFreeHost)(void *);
    int (*MemcpyHtoDAsync)(cu_pointer, const void *, size_t, cu_handle);
    int (*MemcpyDtoHAsync)(void *, cu_pointer, size_t, cu_handle);
    int (*StreamCreate)(cu_handle *, unsigned);
    int (*StreamDestroy)(cu_handle);
    int (*StreamSynchronize)(cu_handle);
    int (*LaunchKernel)(cu_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, cu_handle, void **, void **);
};
/* Opens libcuda.so.1 and resolves every entry; GT_EDEVICE says what is missing. */
int cuda_api_open(struct cuda_api *api, struct gt_error *err) GT_CHECK;
/* Fails with the call, the driver's code, what it means and what to do. */
int cuda_fail(struct gt_error *err, const char *call, int code);

#endif
