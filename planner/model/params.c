/* The fitted parameters of the step-time model. tests/fit/fit_throughput.py fits them to published
 * throughputs under a weak prior, prints the residuals and the errors on models and GPUs left out,
 * and checks that this table states what it found.
 *
 * They are not the only numbers that saw those throughputs: the constants at the head of
 * throughput.c, some shares in device.c (marked "by hand"), the activation counts of models without
 * one in work.c, the classes in stack.c and the prior itself were chosen by hand with the same rows
 * in view. Leaving a model or GPU out of the fit does not undo those choices: its errors are a
 * lower estimate of the errors on rows never seen. */
#include "model_internal.h"

static const struct model_parameter params[PARAM_COUNT] = {
    [PARAM_GEMM] = {"gemm", 0.931747, "1",
                    "share of the sustained matrix rate that wide transformer layers reach"},
    [PARAM_WIDTH] = {"width", 100.886, "columns",
                     "inner dimension at which a matrix product reaches half of that share"},
    [PARAM_CONV] = {"conv", 0.806792, "1",
                    "share of the sustained matrix rate that convolutions reach"},
    [PARAM_RECENT] = {"recent", 0.822043, "1",
                      "factor on both for Hopper, Blackwell, CDNA3: kernels trail the hardware"},
    [PARAM_CONV_PASSES] = {"conv_passes", 16.6977, "1",
                           "times a kept activation of a CNN crosses the memory bus in a step"},
    [PARAM_TOKEN_PASSES] = {"token_passes", 9.47884, "1",
                            "the same for transformer layers with fused kernels"},
    [PARAM_LAYOUT] = {"layout", 1.73358, "1",
                      "factor on conv_passes for half-precision CNNs in channels-first code"},
    [PARAM_DEPTHWISE] = {"depthwise", 2.03272, "1",
                         "factor on conv_passes for depthwise-separable networks"},
    [PARAM_LAUNCH] = {"launch", 0.000843774, "s",
                      "host time to launch one layer's forward pass in stock code"},
    [PARAM_TF32_CONV] = {"tf32_conv", 0.465797, "1",
                         "factor on conv for 4-byte operands on tensor cores"},
    [PARAM_HOST_COPY] = {"host_copy", 6.1731, "GB/s",
                         "rate at which stock code copies input to the GPU, not overlapped"},
    [PARAM_RECOMPUTE] = {"recompute", 0.963528, "1",
                         "cost of full recomputation as a share of a forward pass"},
};

double param(enum param p)
{
    return params[p].value;
}

const struct model_parameter *model_parameters(size_t *n)
{
    *n = PARAM_COUNT;
    return params;
}
