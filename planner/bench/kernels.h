/* The kernels of kernels.cl and of the hand-made tensor texts, by number. Their arguments, the same
 * for all: z, x, y, u, n, p. */
#ifndef GPUTIER_KERNELS_H
#define GPUTIER_KERNELS_H
#include <stddef.h>
#include <stdint.h>

#define KERNEL_GROUP 256 /* work items of a group, as kernels.cl has them */
/* clang-format off */
#define KERNELS(X)                                                                                 \
    X(fill) X(copy) X(scale) X(add) X(triad) X(add_naive) X(add_staged) X(strided) X(gather)       \
    X(transpose) X(transpose_conflicts) X(diverge) X(fma32) X(fma64) X(fma16) X(cached) X(count)   \
    X(zero) X(empty) X(mma_f16) X(mma_bf16) X(mma_tf32) X(mma_f64) X(mma_s8) X(mma_e4m3)
/* clang-format on */
enum kernel_id {
#define X(name) KERNEL_##name,
    KERNELS(X)
#undef X
        KERNEL_COUNT
};
extern const char *const kernel_names[KERNEL_COUNT];
/* The texts, NUL-terminated. */
extern const char kernel_source[];
extern const char ptx_base[], ptx_half[], ptx_sm70[], ptx_sm75[], ptx_sm80[], ptx_sm89[];

/* What kernels.cl computes, for the checks. */
uint32_t kernel_scatter(uint32_t v, uint32_t n, uint32_t p);

#endif
