/* A measured device beside its sheet: what is told of figures far below it, and of none other.
 * Honest runs published for A40, L40, K80, H100 and H200 are told nothing wrong. */
#include "gputier/bench.h"
#include "gputier/gpu.h"
#include "gputier/model.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct gpu_spec a100 = {.model = "A100-40GB SXM4",
                                     .compute_capability = 8.0,
                                     .bandwidth_gbs = 1555,
                                     .fp32_tflops = 19.5,
                                     .fp64_tflops = 9.7,
                                     .fp16_tflops = 312,
                                     .fp8_tflops = (double)NAN};
static char all[4096];

/* Notes of one figure, joined. */
static const char *notes(const struct gpu_spec *g, const char *device, const char *metric,
                         double median, const struct bench_conditions *c)
{
    struct bench_result m[2] = {{.metric = metric, .unit = "GB/s", .median = median},
                                {.metric = "d2h_pinned", .unit = "GB/s", .median = 1e9}};
    struct bench_report r = {
        .device = {.name = device, .is_gpu = true}, .result = m, .n = 2, .conditions = *c};
    struct arena *a = arena_new(0);
    size_t len = 0;
    all[0] = '\0';
    model_bench_explain(g, &r, a);
    for (size_t i = 0; i < r.n_notes; i++) {
        len += (size_t)snprintf(all + len, sizeof all - len, "%s\n", r.note[i]);
    }
    arena_free(a);
    return all;
}

static struct bench_conditions healthy(void)
{
    struct bench_conditions c;
    bench_conditions_init(&c);
    c.known = true;
    c.sm_mhz = c.sm_max_mhz = 1410;
    c.power_limit_w = c.power_default_w = 400;
    c.pcie_gen = c.pcie_gen_max = 4;
    c.pcie_width = c.pcie_width_max = 16;
    c.temperature_c = 60;
    c.others = c.ecc = c.mig = c.slowed_power_cap = c.slowed_thermal = 0;
    return c;
}

static void near_the_sheet_nothing_is_told(void **state)
{
    static const struct {
        double fp32, gbs, cc, fp16;
        const char *metric;
        double measured;
    } honest[] = {
        {19.5, 1555, 8.0, 312, "triad", 1375},        {19.5, 1555, 8.0, 312, "fma_fp32", 19002},
        {67, 4800, 9.0, 990, "scale", 3165},          {4.37, 240, 3.7, 0, "triad", 177},
        {67, 3350, 9.0, 990, "mma_sync_fp16", 560e3}, {14, 900, 7.0, 112, "fma_fp32", 14136}};
    struct bench_conditions c = healthy();
    (void)state;
    for (size_t i = 0; i < sizeof honest / sizeof *honest; i++) {
        struct gpu_spec g = {.model = "X",
                             .compute_capability = honest[i].cc,
                             .fp32_tflops = honest[i].fp32,
                             .bandwidth_gbs = honest[i].gbs,
                             .fp16_tflops = honest[i].fp16};
        if (*notes(&g, "X", honest[i].metric, honest[i].measured, &c)) {
            fail_msg("%s", all);
        }
    }
    assert_string_equal(notes(&a100, "A100", "mma_sync_fp8", 1, &c), ""); /* not on the sheet */
    assert_string_equal(notes(NULL, "Voodoo", "triad", 1, &c), "");
    assert_string_equal(notes(&a100, "A100 MIG 3g.20gb", "triad", 600, &c), "");
    assert_string_equal(notes(&a100, "A100", "h2d_pinned", 26.3, &c), "");
}

struct fault {
    const char *metric;
    double measured;
    size_t field;
    double value;
    const char *told;
};
static void what_is_far_below_is_explained(void **state)
{
#define F(field) offsetof(struct bench_conditions, field)
    static const struct fault faults[] = {
        {"fma_fp32", 12000, F(slowed_power_cap), 0.8, "power limit 400 W, which held it for 80 %"},
        {"fma_fp32", 12000, F(power_limit_w), 200, "power limit 200 W (the board's own is 400 W)"},
        {"fma_fp32", 12000, F(slowed_thermal), 0.5, "too hot for 50 % of the time (60 degrees)"},
        {"fma_fp64", 5000, F(slowed_power_brake), 0.5, "power brake"},
        {"triad", 700, F(slowed_hardware), 0.5, "the hardware slowed itself"},
        {"triad", 700, F(sm_mhz), 705, "clock 705 of 1410 MHz"},
        {"mma_sync_fp16", 100e3, F(slowed_app_clocks), 1, "application clocks"},
        {"triad", 700, F(others), 2, "2 other processes were on it"},
        {"triad", 700, F(busy_before), 0.9, "it was 90 % busy before"},
        {"triad", 700, F(mig), 1, "MIG is on"},
        {"triad", 700, F(ecc), 1, "ECC is on"},
        {"h2d_pinned", 6, F(pcie_width), 4, "PCIe 4 x4, where board and slot can do 4 x16"},
        {"h2d_pinned", 6, F(pcie_gen), 1, "PCIe 1 x16, where board and slot can do 4 x16"},
    };
#undef F
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct fault *f = &faults[i];
        struct bench_conditions c = healthy();
        const char *said = notes(&a100, "NVIDIA A100-SXM4-40GB", f->metric, f->measured, &c);
        if (!strstr(said, "nothing that NVML tells explains it")) {
            fail_msg("%s of a healthy board: %s", f->metric, said);
        }
        memcpy((char *)&c + f->field, &f->value, sizeof f->value);
        said = notes(&a100, "NVIDIA A100-SXM4-40GB", f->metric, f->measured, &c);
        if (!strstr(said, f->told) || strstr(said, "nothing") || !strstr(said, f->metric)) {
            fail_msg("'%s' is not said: %s", f->told, said);
        }
    }
}

static void without_nvml_that_is_said(void **state)
{
    struct bench_conditions c;
    (void)state;
    bench_conditions_init(&c);
    const char *said = notes(&a100, "A100", "triad", 777.5, &c);
    assert_non_null(strstr(said, "triad reaches 50 % of the 1555 GB/s of A100-40GB SXM4"));
    assert_non_null(strstr(said, "NVML, which could explain it, is not there"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_the_sheet_nothing_is_told),
        cmocka_unit_test(what_is_far_below_is_explained),
        cmocka_unit_test(without_nvml_that_is_said),
    };
    return cmocka_run_group_tests_name("model_bench_explain", tests, NULL, NULL);
}
