/* What kernels.cl uses of OpenCL C, said in clang's NVPTX builtins (kernels_ptx.sh includes it). */
#define NVIDIA
#define barrier(flags)      __nvvm_bar_sync(0)
#define get_local_id(d)     ((size_t)__nvvm_read_ptx_sreg_tid_x())
#define get_group_id(d)     ((size_t)__nvvm_read_ptx_sreg_ctaid_x())
#define get_global_id(d)    (get_group_id(d) * (uint)__nvvm_read_ptx_sreg_ntid_x() + get_local_id(d))
#define atomic_inc(pointer) __sync_fetch_and_add(pointer, 1u)
#define INLINE              static __attribute__((overloadable, always_inline))

INLINE float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
INLINE float8 fma(float8 a, float8 b, float8 c)
{
    float8 r;
    for (int i = 0; i < 8; i++) {
        r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
    return r;
}
INLINE double8 fma(double8 a, double8 b, double8 c)
{
    double8 r;
    for (int i = 0; i < 8; i++) {
        r[i] = __builtin_fma(a[i], b[i], c[i]);
    }
    return r;
}
