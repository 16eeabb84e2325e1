/* The kernels, once, in OpenCL C. */
#ifndef GPUTIER_KERNELS_H
#define GPUTIER_KERNELS_H
#define KERNEL_FMA_STEPS 4096
static const char kernel_source[] =
    "__kernel void copy(__global float4 *z, __global const float4 *x, __global const float4 *y) {\n"
    "    size_t i = get_global_id(0); z[i] = x[i]; }\n"
    "__kernel void triad(__global float4 *z, __global const float4 *x, __global const float4 *y) "
    "{\n"
    "    size_t i = get_global_id(0); z[i] = x[i] + 3.0f * y[i]; }\n"
    "__kernel void fill(__global float *z, __global float *x, __global float *y) {\n"
    "    size_t i = get_global_id(0); x[i] = (float)(i % 1000); y[i] = (float)(i % 7); z[i] = 0; "
    "}\n"
    /* v = v/2 + 1/2 has its fixed point at 1: the result is known, no step can be left out. */
    "__kernel void fma32(__global float *z, __global const float *x, __global const float *y) {\n"
    "    size_t i = get_global_id(0); float8 a = (float8)(x[i & 1023]), b = a + 1.0f;\n"
    "    float8 h = (float8)(0.5f);\n"
    "    for (int k = 0; k < 4096; k++) { a = fma(a, h, h); b = fma(b, h, h); }\n"
    "    a += b; z[i] = (a.s0 + a.s1 + a.s2 + a.s3 + a.s4 + a.s5 + a.s6 + a.s7) / 16.0f; }\n"
    "__kernel void empty(__global float *z, __global const float *x, __global const float *y) {\n"
    "    if (get_global_id(0) == 0xFFFFFFFFu) z[0] = 1; }\n";
#endif
