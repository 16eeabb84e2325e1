/* Every kernel, once: OpenCL C 1.2. OpenCL gets this text; for NVIDIA kernels_ptx.sh compiles it to
 * PTX through kernels_nv.h. All take the same arguments: z is written, x, y and u are read; n is a
 * power of two, the elements of each buffer; p is the kernel's own. Values are small whole numbers,
 * so that the CPU computes the same ones exactly. What counts as work: gpu-bench.md 2.6. */
#define ARGS                                                                                       \
    __global float *z, __global const float *x, __global const float *y, __global uint *u, uint n, \
        uint p
#define GROUP 256

#ifndef HALF_ONLY
/* A permutation of 0 to n-1 (n = 2^p): xor-shifts and odd factors are bijections of p bits. */
static uint scatter(uint v, uint n, uint p)
{
    uint half_bits = (p + 1) / 2;
    v = (v * 2654435761u) & (n - 1);
    v ^= v >> half_bits;
    v = (v * 2246822519u) & (n - 1);
    v ^= v >> half_bits;
    return (v * 3266489917u) & (n - 1);
}

__kernel void fill(__global float *z, __global float *x, __global float *y, __global uint *u,
                   uint n, uint p)
{
    uint i = (uint)get_global_id(0);
    x[i] = (float)(i % 1000);
    y[i] = (float)(i % 7);
    z[i] = 0;
    u[i] = scatter(i, n, p);
}

__kernel void copy(ARGS)
{
    size_t i = get_global_id(0);
    ((__global float4 *)z)[i] = ((__global const float4 *)x)[i];
}

__kernel void scale(ARGS)
{
    size_t i = get_global_id(0);
    ((__global float4 *)z)[i] = 3.0f * ((__global const float4 *)x)[i];
}

__kernel void add(ARGS)
{
    size_t i = get_global_id(0);
    ((__global float4 *)z)[i] = ((__global const float4 *)x)[i] + ((__global const float4 *)y)[i];
}

__kernel void triad(ARGS)
{
    size_t i = get_global_id(0);
    ((__global float4 *)z)[i] =
        ((__global const float4 *)x)[i] + 3.0f * ((__global const float4 *)y)[i];
}

/* The tutorial's vector add, and the same one staged through local memory: every value is used once,
 * so that the copy in between saves nothing and costs a barrier. */
__kernel void add_naive(ARGS)
{
    size_t i = get_global_id(0);
    z[i] = x[i] + y[i];
}

__kernel void add_staged(ARGS)
{
    __local float tile[GROUP];
    size_t i = get_global_id(0);
    uint l = (uint)get_local_id(0);
    tile[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    z[i] = tile[l] + y[i];
}

/* p words between the reads of neighbours; every element is read once. */
__kernel void strided(ARGS)
{
    uint i = (uint)get_global_id(0), j = i * p;
    uint lap = (uint)(((ulong)i * p) / n);
    z[i] = x[(j & (n - 1)) + lap];
}

__kernel void gather(ARGS)
{
    size_t i = get_global_id(0);
    z[i] = x[u[i]];
}

/* A matrix of p x p in tiles of 32 x 32, eight rows at a time. The tile's columns lie in one bank
 * unless a row is one element longer. */
#define TRANSPOSE(name, width)                                                                     \
    __kernel void name(ARGS)                                                                       \
    {                                                                                              \
        __local float tile[32][width];                                                             \
        uint l = (uint)get_local_id(0), tx = l & 31, ty = l >> 5, tiles = p >> 5;                  \
        uint g = (uint)get_group_id(0), gx = g % tiles * 32, gy = g / tiles * 32;                  \
        for (uint r = 0; r < 32; r += 8) {                                                         \
            tile[ty + r][tx] = x[(gy + ty + r) * p + gx + tx];                                     \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint r = 0; r < 32; r += 8) {                                                         \
            z[(gx + ty + r) * p + gy + tx] = tile[tx][ty + r];                                     \
        }                                                                                          \
    }
TRANSPOSE(transpose, 33)
TRANSPOSE(transpose_conflicts, 32)

/* Lanes take p different paths, each with its own loop to the fixed point path + 1. */
#define PATH(k)                                                                                    \
    case k:                                                                                        \
        _Pragma("unroll 4")                                                                        \
        for (uint s = 0; s < 2048; s++) {                                                          \
            a = fma(a, 0.5f, 0.5f * (k + 1));                                                      \
        }                                                                                          \
        break;
#define PATHS4(k) PATH(k) PATH(k + 1) PATH(k + 2) PATH(k + 3)
__kernel void diverge(ARGS)
{
    size_t i = get_global_id(0);
    float a = x[i & 1023];
    switch ((uint)get_local_id(0) % p) {
        PATHS4(0)
        PATHS4(4)
        PATHS4(8)
        PATHS4(12)
        PATHS4(16)
        PATHS4(20)
        PATHS4(24)
        PATHS4(28)
    }
    z[i] = a;
}

/* v = v/2 + 1/2 has its fixed point at 1: the result is known, no step can be left out. */
__kernel void fma32(ARGS)
{
    size_t i = get_global_id(0);
    float8 a = (float8)(x[i & 1023]), b = a + 1.0f, h = (float8)(0.5f);
    for (uint s = 0; s < p; s++) {
        a = fma(a, h, h);
        b = fma(b, h, h);
    }
    a += b;
    z[i] = (a.s0 + a.s1 + a.s2 + a.s3 + a.s4 + a.s5 + a.s6 + a.s7) / 16.0f;
}

#if defined(cl_khr_fp64) || defined(NVIDIA)
#ifndef NVIDIA
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
__kernel void fma64(ARGS)
{
    size_t i = get_global_id(0);
    double8 a = (double8)(x[i & 1023]), h = (double8)(0.5);
    for (uint s = 0; s < p; s++) {
        a = fma(a, h, h);
    }
    z[i] = (float)((a.s0 + a.s1 + a.s2 + a.s3 + a.s4 + a.s5 + a.s6 + a.s7) / 8);
}
#endif

/* The same few KiB to MiB (p elements, a power of two) again and again. */
__kernel void cached(ARGS)
{
    size_t i = get_global_id(0);
    float4 a = (float4)(0);
    for (uint s = 0; s < 64; s++) {
        a += ((__global const float4 *)x)[(i + s * 4099) & (p / 4 - 1)];
    }
    z[i] = a.s0 + a.s1 + a.s2 + a.s3;
}

/* z holds p counters (a power of two); neighbours hit the same one (p = 1) or any. */
__kernel void count(ARGS)
{
    uint i = (uint)get_global_id(0);
    atomic_inc((volatile __global uint *)z + (u[i] & (p - 1)));
}

__kernel void zero(ARGS)
{
    z[get_global_id(0)] = 0;
}

__kernel void empty(ARGS)
{
    if (get_global_id(0) == 0xFFFFFFFFu) {
        z[0] = 1;
    }
}
#endif

#if defined(cl_khr_fp16) || defined(HALF_ONLY)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void fma16(ARGS)
{
    size_t i = get_global_id(0);
    half2 a = (half2)((half)x[i & 15]), b = a + (half2)((half)1), c = b + b, d = a + c;
    half2 h = (half2)((half)0.5f);
    for (uint s = 0; s < p; s++) {
        a = a * h + h;
        b = b * h + h;
        c = c * h + h;
        d = d * h + h;
    }
    a = (a + b + c + d) * (half2)((half)0.25f);
    z[i] = ((float)a.s0 + (float)a.s1) / 2.0f;
}
#endif
