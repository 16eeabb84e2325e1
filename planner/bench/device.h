/* What a GPU driver must offer for the kernels to run on it; opencl.c and cuda.c are the two. All
 * work is in order on one queue. gpu.c measures with it. */
#ifndef GPUTIER_BENCH_DEVICE_H
#define GPUTIER_BENCH_DEVICE_H
#include "backend.h"
#include "kernels.h"

struct device; /* each driver's own */
enum { BUF_Z, BUF_X, BUF_Y, BUF_U, BUF_COUNT };
struct device_facts {
    size_t most_bytes;    /* of one buffer */
    size_t cache_bytes;   /* last level on the device, 0 = unknown */
    char bus_id[32];      /* "" = unknown */
    const char *notes[4]; /* what people should know; NULL ends */
};
struct device_ops {
    const char *id;
    int (*list)(struct arena *a, struct bench_device **out, size_t *n, struct gt_error *err);
    int (*open)(struct arena *a, struct device **out, struct bench_device *about,
                struct device_facts *facts, struct gt_error *err);
    /* Four buffers of `bytes`, the kernels, and *pinned: as many bytes of host memory that the
     * device reads directly, NULL where there is no such thing. */
    int (*prepare)(struct device *d, size_t bytes, void **pinned, struct gt_error *err);
    bool (*has)(const struct device *d, enum kernel_id k);
    int (*launch)(struct device *d, enum kernel_id k, size_t items, uint32_t n, uint32_t p,
                  struct gt_error *err);
    int (*finish)(struct device *d, struct gt_error *err);
    /* Blocking copies. */
    int (*upload)(struct device *d, int buffer, const void *host, size_t bytes,
                  struct gt_error *err);
    int (*download)(struct device *d, int buffer, void *host, size_t bytes, struct gt_error *err);
    /* Work of one warp's mma step in operations, and its depth K; false: not known. */
    bool (*tensor)(const struct device *d, enum kernel_id k, double *ops, double *depth);
    void (*close)(struct device *d);
};
extern const struct device_ops device_opencl, device_cuda;

#endif
