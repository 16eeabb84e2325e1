/* Loads the NVIDIA driver at run time (cuda_api.h) and says what its codes mean. */
#include "cuda_api.h"
#include <dlfcn.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define S(name, field)                                                                             \
    {                                                                                              \
        name, offsetof(struct cuda_api, field)                                                     \
    }
    S("cuInit", Init),
    S("cuDriverGetVersion", DriverGetVersion),
    S("cuDeviceGetCount", DeviceGetCount),
    S("cuDeviceGet", DeviceGet),
    S("cuDeviceGetName", DeviceGetName),
    S("cuDeviceTotalMem_v2", DeviceTotalMem),
    S("cuDeviceGetAttribute", DeviceGetAttribute),
    S("cuDeviceGetPCIBusId", DeviceGetPCIBusId),
    S("cuDevicePrimaryCtxRetain", PrimaryCtxRetain),
    S("cuDevicePrimaryCtxRelease_v2", PrimaryCtxRelease),
    S("cuCtxSetCurrent", CtxSetCurrent),
    S("cuModuleLoadDataEx", ModuleLoadDataEx),
    S("cuModuleUnload", ModuleUnload),
    S("cuModuleGetFunction", ModuleGetFunction),
    S("cuMemAlloc_v2", MemAlloc),
    S("cuMemFree_v2", MemFree),
    S("cuMemGetInfo_v2", MemGetInfo),
    S("cuMemHostAlloc", MemHostAlloc),
    S("cuMemFreeHost", MemFreeHost),
    S("cuMemcpyHtoDAsync_v2", MemcpyHtoDAsync),
    S("cuMemcpyDtoHAsync_v2", MemcpyDtoHAsync),
    S("cuStreamCreate", StreamCreate),
    S("cuStreamDestroy_v2", StreamDestroy),
    S("cuStreamSynchronize", StreamSynchronize),
    S("cuLaunchKernel", LaunchKernel),
#undef S
};

int cuda_api_open(struct cuda_api *api, struct gt_error *err)
{
    memset(api, 0, sizeof *api);
    /* The unversioned name may be the toolkit's stub; drivers leave threads and exit handlers
     * behind, so that the library stays loaded. */
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        return gt_fail(err, GT_EDEVICE, "CUDA",
                       "no NVIDIA driver (libcuda.so.1); a container needs --gpus and the "
                       "compute,utility capabilities");
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(lib, symbols[i].name);
        if (!p) {
            return gt_fail(err, GT_EDEVICE, "CUDA",
                           "libcuda.so.1 lacks %s: the driver is too old, or no driver",
                           symbols[i].name);
        }
        memcpy((char *)api + symbols[i].offset, &p, sizeof p);
    }
    api->lib = lib;
    return 0;
}

int cuda_fail(struct gt_error *err, const char *call, int code)
{
    static const struct {
        int code;
        const char *text;
    } known[] = {
        {1, "invalid value"},
        {2, "device memory exhausted; end other programs on the GPU (nvidia-smi lists them)"},
        {3, "the driver is not initialised"},
        {34, "this is the toolkit's stub library, not a driver; take it off LD_LIBRARY_PATH"},
        {36, "the call needs a newer driver"},
        {46, "the GPU is taken (exclusive mode, or MIG on without an instance)"},
        {100, "no NVIDIA GPU here (or CUDA_VISIBLE_DEVICES hides it)"},
        {101, "no such device"},
        {200, "the kernel text was refused"},
        {201, "no current context"},
        {209, "no code for this GPU"},
        {218, "the kernel text does not assemble"},
        {221, "the driver's JIT compiler is missing; a container needs the compute,utility "
              "capabilities"},
        {222, "the kernel text is newer than the driver"},
        {223, "JIT is switched off (CUDA_DISABLE_PTX_JIT)"},
        {400, "invalid handle"},
        {500, "not found"},
        {700, "the kernel touched memory that is not its own"},
        {701, "out of resources for the launch"},
        {702, "the kernel ran longer than the desktop's watchdog allows"},
        {719, "the launch failed; the GPU may need a reset (nvidia-smi)"},
        {802, "the fabric manager is not running (systemctl start nvidia-fabricmanager)"},
        {803, "kernel and user parts of the driver differ; restart the machine"},
        {804, "this driver does not support the GPU"},
        {999, "the driver does not say why; look at dmesg for Xid lines"}};
    const char *text = "driver error";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        text = known[i].code == code ? known[i].text : text;
    }
    return gt_fail(err, GT_EDEVICE, "CUDA", "%s: %s (%d)", call, text, code);
}
