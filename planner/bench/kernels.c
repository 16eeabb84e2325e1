/* The kernels' texts as byte arrays (the Makefile makes them of the files) and their names. */
#include "kernels.h"

const char *const kernel_names[KERNEL_COUNT] = {
#define X(name) #name,
    KERNELS(X)
#undef X
};

const char kernel_source[] = {
#include "planner/bench/kernels.cl.h"
    0};
const char ptx_base[] = {
#include "planner/bench/ptx/base_sm30.ptx.h"
    0};
const char ptx_half[] = {
#include "planner/bench/ptx/half_sm60.ptx.h"
    0};
const char ptx_sm70[] = {
#include "planner/bench/ptx/tensor_sm70.ptx.h"
    0};
const char ptx_sm75[] = {
#include "planner/bench/ptx/tensor_sm75.ptx.h"
    0};
const char ptx_sm80[] = {
#include "planner/bench/ptx/tensor_sm80.ptx.h"
    0};
const char ptx_sm89[] = {
#include "planner/bench/ptx/tensor_sm89.ptx.h"
    0};

uint32_t kernel_scatter(uint32_t v, uint32_t n, uint32_t p)
{
    uint32_t half_bits = (p + 1) / 2;
    v = (v * 2654435761U) & (n - 1);
    v ^= v >> half_bits;
    v = (v * 2246822519U) & (n - 1);
    v ^= v >> half_bits;
    return (v * 3266489917U) & (n - 1);
}
