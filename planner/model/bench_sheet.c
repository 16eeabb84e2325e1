/* A measured device beside its spec sheet: what the sheet says of a metric, and why a figure lies
 * far below it. What counts as far: published honest runs (measured-peaks) reach 0.66 to 1.0 of the
 * sheet's memory bandwidth, 0.43 to 1.01 of its FP32 rate (the low ones held by their power limit),
 * 0.75 to 0.88 of a PCIe link's. Telling never refuses. */
#include "gputier/bench.h"
#include "gputier/gpu.h"
#include "gputier/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum family { MEMORY, ARITHMETIC, TENSOR, LINK, FAMILIES };
static const struct {
    const char *metric;
    enum family family;
    size_t offset; /* in struct gpu_spec; the link is not on the sheet */
    double to_unit;
} sheet[] = {
#define G(field) offsetof(struct gpu_spec, field)
    {"copy", MEMORY, G(bandwidth_gbs), 1},          {"scale", MEMORY, G(bandwidth_gbs), 1},
    {"add", MEMORY, G(bandwidth_gbs), 1},           {"triad", MEMORY, G(bandwidth_gbs), 1},
    {"fma_fp32", ARITHMETIC, G(fp32_tflops), 1e3},  {"fma_fp64", ARITHMETIC, G(fp64_tflops), 1e3},
    {"mma_sync_fp16", TENSOR, G(fp16_tflops), 1e3}, {"mma_sync_bf16", TENSOR, G(bf16_tflops), 1e3},
    {"mma_sync_tf32", TENSOR, G(tf32_tflops), 1e3}, {"mma_sync_fp8", TENSOR, G(fp8_tflops), 1e3},
    {"mma_sync_int8", TENSOR, G(int8_tops), 1e3},
#undef G
};
static const double far_below[FAMILIES] = {
    [MEMORY] = 0.65, [ARITHMETIC] = 0.75, [TENSOR] = 0.6, [LINK] = 0.6};
/* mma.sync reaches half to two thirds of the sheet on Hopper and data-centre Blackwell
 * (gpu-bench.md 2.5): a third there is as far below as 0.6 elsewhere. */
#define FAR_BELOW_HOPPER 0.35

double model_bench_sheet(const struct gpu_spec *g, const char *metric)
{
    for (size_t i = 0; i < sizeof sheet / sizeof *sheet; i++) {
        if (strcmp(sheet[i].metric, metric) == 0) {
            double v;
            memcpy(&v, (const char *)g + sheet[i].offset, sizeof v);
            return isfinite(v) && v > 0 ? v * sheet[i].to_unit : 0;
        }
    }
    return 0;
}

/* GB/s of one direction: lanes x transfers x coding (PCIe base specifications 1 to 6). */
static double link_gbs(double generation, double lanes)
{
    static const double lane[] = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
    int g = (int)generation;
    return g >= 1 && g <= 6 && lanes >= 1 ? lane[g] * lanes : 0;
}

static const struct bench_result *find(const struct bench_report *r, const char *metric)
{
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->result[i].metric, metric) == 0) {
            return &r->result[i];
        }
    }
    return NULL;
}

struct reasons {
    struct buf text;
};
#define WHY(s, ...)                                                                                \
    do {                                                                                           \
        buf_adds(&(s)->text, (s)->text.len ? "; " : "");                                           \
        buf_addf(&(s)->text, __VA_ARGS__);                                                         \
    } while (0)

static void why_shared(const struct bench_conditions *c, struct reasons *s)
{
    if (c->others > 0) {
        WHY(s, "%.0f other process%s on it", c->others, c->others > 1 ? "es were" : " was");
    }
    if (c->busy_before > 0.05) {
        WHY(s, "it was %.0f %% busy before", 100 * c->busy_before);
    }
    if (c->mig > 0) {
        WHY(s, "MIG is on: a slice has a part of the board");
    }
}

static void why_slow(const struct bench_conditions *c, struct reasons *s)
{
    if (c->slowed_power_cap > 0.1 || c->power_limit_w < 0.95 * c->power_default_w) {
        WHY(s, "power limit %.0f W", c->power_limit_w);
        if (c->power_limit_w < 0.95 * c->power_default_w) {
            buf_addf(&s->text, " (the board's own is %.0f W)", c->power_default_w);
        }
        if (c->slowed_power_cap > 0) {
            buf_addf(&s->text, ", which held it for %.0f %% of the time",
                     100 * c->slowed_power_cap);
        }
    }
    if (c->slowed_power_brake > 0.02) {
        WHY(s, "the supply's power brake for %.0f %% of the time", 100 * c->slowed_power_brake);
    }
    if (c->slowed_thermal > 0.02) {
        WHY(s, "too hot for %.0f %% of the time (%.0f degrees)", 100 * c->slowed_thermal,
            c->temperature_c);
    }
    if (c->slowed_hardware > 0.02) {
        WHY(s, "the hardware slowed itself for %.0f %% of the time", 100 * c->slowed_hardware);
    }
    if (c->slowed_app_clocks > 0.1) {
        WHY(s, "clocks are set lower by nvidia-smi (application clocks)");
    }
    if (c->sm_mhz < 0.85 * c->sm_max_mhz) {
        WHY(s, "clock %.0f of %.0f MHz", c->sm_mhz, c->sm_max_mhz);
    }
}

static void why_link(const struct bench_conditions *c, struct reasons *s)
{
    if (c->pcie_width < c->pcie_width_max || c->pcie_gen < c->pcie_gen_max) {
        WHY(s, "PCIe %.0f x%.0f, where board and slot can do %.0f x%.0f", c->pcie_gen,
            c->pcie_width, c->pcie_gen_max, c->pcie_width_max);
    }
}

static const char *line(struct arena *a, const struct bench_result *m, double of, const char *what,
                        const struct bench_conditions *c, enum family family)
{
    struct reasons s;
    const char *note = NULL;
    buf_init(&s.text, 4096);
    if (c->known) {
        why_shared(c, &s);
        if (family == LINK) {
            why_link(c, &s);
        } else {
            why_slow(c, &s);
        }
        if (family == MEMORY && c->ecc > 0) {
            WHY(&s, "ECC is on, which costs GDDR boards about a tenth");
        }
    }
    const char *why = s.text.len ? s.text.data
                      : c->known ? "nothing that NVML tells explains it"
                                 : "NVML, which could explain it, is not there";
    note = arena_printf(a, "%s reaches %.0f %% of the %.4g %s of %s: %s", m->metric,
                        100 * m->median / of, of, m->unit, what, why);
    buf_release(&s.text);
    return note;
}

static bool slice(const struct bench_report *r)
{
    return strstr(r->device.name, "MIG") != NULL;
}

/* The lowest of a family speaks for it. */
static void explain_family(const struct gpu_spec *g, struct bench_report *r, struct arena *a,
                           enum family family)
{
    const struct bench_result *worst = NULL;
    bool hopper = g->compute_capability >= 9 && g->compute_capability < 12;
    double share = family == TENSOR && hopper ? FAR_BELOW_HOPPER : far_below[family], of = 0;
    for (size_t i = 0; i < sizeof sheet / sizeof *sheet; i++) {
        const struct bench_result *m = find(r, sheet[i].metric);
        double v = m ? model_bench_sheet(g, sheet[i].metric) : 0;
        if (sheet[i].family == family && v > 0 && m->median < share * v) {
            share = m->median / v;
            worst = m;
            of = v;
        }
    }
    if (worst) {
        bench_note(r, line(a, worst, of, g->model, &r->conditions, family));
    }
}

void model_bench_explain(const struct gpu_spec *g, struct bench_report *r, struct arena *a)
{
    const struct bench_conditions *c = &r->conditions;
    const struct bench_result *up = find(r, "h2d_pinned"), *down = find(r, "d2h_pinned");
    if (!r->device.is_gpu || slice(r)) {
        return;
    }
    for (int f = MEMORY; g != NULL && f < LINK; f++) {
        explain_family(g, r, a, (enum family)f);
    }
    double link = link_gbs(c->pcie_gen_max, c->pcie_width_max);
    const struct bench_result *m = up && down && down->median < up->median ? down : up;
    if (c->known && m && link > 0 && m->median < far_below[LINK] * link) {
        bench_note(r, line(a, m, link, "the PCIe link", c, LINK));
    }
}
