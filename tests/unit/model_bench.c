/* What a stored bench of a GPU does to the model's rates: that GPU alone, bounded, never from a
 * CPU. */
#include "gputier/catalog.h"
#include "gputier/model.h"
#include "unit.h"
#include <string.h>

struct row {
    const char *device, *metric;
    bool gpu;
    double median;
    int64_t when;
};

/* A catalog of three GPUs and the given bench rows. */
static double factor_of(const struct row *rows, size_t n, const char **gpu)
{
    static const struct gpu_spec gpus[] = {{.model = "A100-40GB SXM4", .bandwidth_gbs = 1555},
                                           {.model = "A100-80GB SXM4", .bandwidth_gbs = 2039},
                                           {.model = "A10", .bandwidth_gbs = 600}};
    uint32_t device[8], metric[8];
    uint8_t is_gpu[8];
    double median[8], factor = 0;
    int64_t when[8];
    struct arena *a = arena_new(0);
    struct catalog c = {.arena = a, .strings = intern_new(a), .gpus = gpus, .n_gpus = 3};
    for (size_t i = 0; i < n; i++) {
        device[i] = intern_add(c.strings, rows[i].device, strlen(rows[i].device));
        metric[i] = intern_add(c.strings, rows[i].metric, strlen(rows[i].metric));
        is_gpu[i] = rows[i].gpu;
        median[i] = rows[i].median;
        when[i] = rows[i].when;
    }
    c.bench = (struct catalog_bench){.n = n,
                                     .device = device,
                                     .metric = metric,
                                     .is_gpu = is_gpu,
                                     .median = median,
                                     .when = when};
    const struct gpu_spec *g = model_bench_factor(&c, &factor);
    *gpu = g != NULL ? g->model : NULL;
    arena_free(a);
    return factor;
}

static void a_gpu_is_recognised_and_its_newest_run_counts(void **state)
{
    struct row rows[] = {{"NVIDIA A100-SXM4-80GB", "triad", true, 1500, 10},
                         {"NVIDIA A100-SXM4-80GB", "triad", true, 1700, 20},
                         {"NVIDIA A100-SXM4-80GB", "copy", true, 10, 30}};
    const char *gpu;
    (void)state;
    double f = factor_of(rows, 3, &gpu);
    assert_string_equal(gpu, "A100-80GB SXM4");
    assert_true(f > 1700 / (0.9 * 2039) - 1e-12 && f < 1700 / (0.9 * 2039) + 1e-12);
}

static void cpus_slices_and_strangers_never_count(void **state)
{
    struct row rows[] = {{"AMD EPYC A100-SXM4-80GB-lookalike", "triad", false, 30, 10},
                         {"NVIDIA A100-SXM4-40GB MIG 3g.20gb", "triad", true, 700, 20},
                         {"Voodoo 2", "triad", true, 2, 30}};
    const char *gpu;
    (void)state;
    assert_true(factor_of(rows, 3, &gpu) >= 1 && factor_of(rows, 3, &gpu) <= 1);
    assert_null(gpu);
    factor_of(rows, 0, &gpu);
    assert_null(gpu);
}

static void absurd_runs_are_bounded(void **state)
{
    struct row low[] = {{"NVIDIA A10", "triad", true, 3, 1}},
               high[] = {{"NVIDIA A10", "triad", true, 9999, 1}};
    const char *gpu;
    (void)state;
    double a = factor_of(low, 1, &gpu), b = factor_of(high, 1, &gpu);
    assert_true(a >= 0.5 && a <= 0.5);
    assert_true(b >= 1.05 && b <= 1.05);
    assert_string_equal(gpu, "A10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_is_recognised_and_its_newest_run_counts),
        cmocka_unit_test(cpus_slices_and_strangers_never_count),
        cmocka_unit_test(absurd_runs_are_bounded),
    };
    return cmocka_run_group_tests_name("bench factor", tests, NULL, NULL);
}
