/* What a GPU sustains, from its sheet and shares of it: matrix rate, memory bandwidth, collective
 * bandwidth. Shares are measured (shared/docs/measured-peaks.csv and measured-peaks.md) except
 * those marked "by hand": chosen with the published throughputs in view, so that they count as
 * seen when the model's errors are judged. Sparse peaks are never used. */
#include "model_internal.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

struct arch_rates {
    const char *arch;
    double capability; /* lowest compute capability of the row, 0 = any */
    double matrix;     /* best matrix product / sheet: MAMF finder, cuBLASLt, PyTorch matmul */
    double bandwidth;  /* stream kernels / sheet */
    /* watts per TFLOP/s of matrix work: a card with a small power limit gets TDP / watts, however
     * large its sheet. Turing is measured (T4 42.7 of 65 TFLOPS at 70 W). GA10x and Ada are by
     * hand: the one matmul of an RTX A6000 (95 TFLOPS at 300 W) asks for 3.2, but training runs on
     * A10 and L40S exceed what 3.2 and 2.6 would allow. 0 = no limit */
    double watt_half, watt_f32;
};
/* Matrix shares by hand: Kepler (base clock, 560 of 875 MHz), Maxwell, CDNA, CDNA3 (measured 0.51
 * to 0.64), TPU, Turing's before its power limit. */
static const struct arch_rates rates[] = {
    {"Kepler", 0, 0.51, 0.75, 0, 0},     {"Maxwell", 0, 0.85, 0.85, 0, 0},
    {"Pascal", 0, 0.90, 0.85, 0, 0},     {"Volta", 0, 0.78, 0.85, 0, 0},
    {"Turing", 0, 0.80, 0.88, 1.64, 16}, {"Ampere", 8.6, 1.00, 0.88, 2.3, 4.6},
    {"Ampere", 0, 0.85, 0.85, 0, 0},     {"Ada", 0, 1.00, 0.88, 1.6, 3.2},
    {"Hopper", 0, 0.81, 0.85, 0, 0},     {"Blackwell", 12.0, 1.00, 0.88, 1.6, 3.2},
    {"Blackwell", 0, 0.78, 0.85, 0, 0},  {"CDNA3", 0, 0.55, 0.77, 0, 0},
    {"CDNA4", 0, 0.68, 0.77, 0, 0},      {"CDNA", 0, 0.60, 0.77, 0, 0},
    {"TPU", 0, 0.90, 0.85, 0, 0},        {"Gaudi2", 0, 0.97, 0.85, 0, 0},
    {"Gaudi3", 0, 0.74, 0.85, 0, 0},
};
static const struct arch_rates other = {"", 0, 0.80, 0.85, 0, 0};
/* PyTorch matmul on V100, P100: 0.89-0.92 of the FP32 sheet */
#define CUDA_CORE_SHARE 0.92
/* torchtitan and llm-foundry on H100: 8-bit linear layers only, 1.28-1.36 x the BF16 step */
#define FP8_OVER_HALF 1.4
/* V100: 10.7 TFLOPS BF16 by emulation against 15.7 FP32 */
#define EMULATED_BF16 0.68

static const struct arch_rates *rates_of(const struct gpu_spec *g)
{
    const char *arch = g->arch != NULL ? g->arch : "";
    double cc = known_or(g->compute_capability, 0);

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        size_t n = strlen(rates[i].arch);
        if (strncmp(arch, rates[i].arch, n) == 0 && cc >= rates[i].capability) {
            return &rates[i];
        }
    }
    return &other;
}

static bool starts(const char *s, const char *prefix)
{
    return s != NULL && strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *s, const char *suffix)
{
    size_t n = s != NULL ? strlen(s) : 0, k = strlen(suffix);

    return n >= k && strcmp(s + n - k, suffix) == 0;
}

static double matrix_share(const struct gpu_spec *g, const struct arch_rates *r)
{
    /* same sheet as SXM, lower sustained clock: 253 against 271 TFLOPS */
    return starts(g->model, "A100") && ends(g->model, "PCIe") ? 0.81 : r->matrix;
}

/* Sheet rate in TFLOP/s and how it is computed. */
static double sheet(const struct gpu_spec *g, enum precision p, struct device *d)
{
    double f32 = known_or(g->fp32_tflops, 0), tf32 = known_or(g->tf32_tflops, 0);
    double bf16 = known_or(g->bf16_tflops, 0), fp16 = known_or(g->fp16_tflops, bf16);

    d->operand = OPERAND_HALF;
    switch (p) {
    case PRECISION_FP32: /* the default of frameworks on cards that have TF32 */
    case PRECISION_TF32:
        d->operand = OPERAND_F32;
        d->tensor_f32 = tf32 > 1.5 * f32;
        return tf32 > f32 ? tf32 : (f32 > 0 ? f32 : known_or(bf16, fp16) / 4);
    case PRECISION_FP8:
        if (known_or(g->fp8_tflops, 0) > 0) {
            d->operand = OPERAND_FP8;
        }
        return bf16 > 0 ? bf16 : fp16;
    case PRECISION_BF16:
        if (bf16 > 0) {
            return bf16;
        }
        return starts(g->maker, "NVIDIA") ? EMULATED_BF16 * f32 : fp16;
    case PRECISION_AMP:
    default:
        return fp16 > 0 ? fp16 : f32;
    }
}

int model_device(const struct gpu_spec *g, enum precision p, struct device *d, struct gt_error *err)
{
    const struct arch_rates *r;
    double peak, watt, share, part;

    memset(d, 0, sizeof *d);
    if (g == NULL) {
        return gt_fail(err, GT_EINVALID, "model", "no GPU given");
    }
    peak = sheet(g, p, d);
    if (!(peak > 0) || !(g->bandwidth_gbs > 0)) {
        return gt_fail(err, GT_EINVALID, g->model != NULL ? g->model : "GPU",
                       "its sheet has no rate for this precision or no bandwidth");
    }
    r = rates_of(g);
    share = matrix_share(g, r);
    if (d->operand == OPERAND_F32 && !d->tensor_f32 && r->watt_f32 <= 0) {
        share = CUDA_CORE_SHARE;
        if (r->matrix < 0.7) {
            share = r->matrix;
        }
    }
    peak *= share;
    watt = d->operand == OPERAND_F32 ? r->watt_f32 : r->watt_half;
    if (watt > 0 && g->tdp_w > 0 && g->tdp_w / watt < peak) {
        peak = g->tdp_w / watt;
    }
    if (d->operand == OPERAND_FP8) {
        peak *= FP8_OVER_HALF;
    }
    /* the sheet of an MI250(X) is the package's, a process drives one of its two dies */
    part = starts(g->model, "MI250") ? 0.5 : 1;
    d->flops = peak * 1e12 * part;
    d->bandwidth = g->bandwidth_gbs * 1e9 * r->bandwidth * part;
    d->nvidia_recent = starts(g->arch, "Hopper") || starts(g->arch, "Blackwell");
    d->recent = d->nvidia_recent || starts(g->arch, "CDNA3") || starts(g->arch, "CDNA4");
    return 0;
}

/* GeForce cards have no peer-to-peer copies: everything passes host memory. */
static bool is_geforce(const struct gpu_spec *g)
{
    return starts(g->model, "RTX 2") || starts(g->model, "RTX 3") || starts(g->model, "RTX 40") ||
           starts(g->model, "RTX 50");
}

/* Collectives over PCIe, by generation: 8-16 GB/s on gen 3-4. Gen 5 (26-31)
 * and GeForce (6-8) are read from how published BERT runs scale; the values inside the ranges are
 * by hand. */
static double pcie_bus(const struct gpu_spec *g)
{
    if (is_geforce(g)) {
        return 6.5e9;
    }
    switch (g->pcie != NULL ? g->pcie[0] : '\0') {
    case '3':
        return 8e9;
    case '5':
        return 28e9;
    case '6':
        return 50e9;
    default:
        return 12e9;
    }
}

double model_bus(const struct gpu_spec *g, double nodes, double network_gbps, bool untuned,
                 bool *hidden)
{
    double link = known_or(g->nvlink_gbs, 0) / 2 * 1e9; /* one direction */
    bool recent = starts(g->arch, "Hopper") || starts(g->arch, "Blackwell");
    bool fabric =
        link >= 75e9 && !ends(g->model, "PCIe") && !ends(g->model, "NVL"); /* not a pair bridge */
    double bus, network;

    /* V100's mesh of links serves only rings laid out for it */
    if (starts(g->arch, "Volta") && untuned) {
        fabric = false;
    }
    /* 0.77 of a direction on A100, 1.06 with in-switch reduction at 8 GB, less at usual sizes */
    bus = fabric ? link * (recent ? 0.95 : 0.78) : pcie_bus(g);
    if (starts(g->maker, "Google")) { /* a pod's links reach across hosts */
        *hidden = true;
        return fmax(link * 0.8, 50e9);
    }
    if (nodes > 1) {
        /* 92-94 of 100 GB/s over four nodes; unknown, by hand: one port of its generation, 200 or
         * 400 Gb/s; cards without a fabric usually sit behind 100 Gb/s */
        network = known_or(network_gbps, 0) > 0 ? 0.92 * network_gbps / 8 * 1e9
                                                : (!fabric  ? 12.5e9
                                                   : recent ? 50e9
                                                            : 25e9);
        bus = fmin(bus, network);
    }
    *hidden = fabric;
    return bus;
}
