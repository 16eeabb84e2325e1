/* The CUDA back end against the stand-in driver (tests/support/libcuda.c): every number is right,
 * and every call that fails becomes one sentence, with nothing left on the device. The texts it
 * carries are those that kernels_ptx.sh makes, and ptxas takes them, where there is one. */
#include "../../planner/bench/backend.h"
#include "../../planner/bench/kernels.h"
#include "unit.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES ((size_t)2 << 20)

static void (*reset)(void);
static int (*misuses)(void), (*fired)(void);

/* Opens, measures some metrics once each, closes. */
static int session(const char *const *wanted, struct gt_error *err, int *checked)
{
    const struct backend_ops *ops = &backend_cuda;
    struct arena *a = arena_new(0);
    struct bench_device d;
    struct backend *b = NULL;
    int rc = ops->open(a, BYTES, &b, &d, err);
    bool opened = !rc;
    for (size_t m = 0; !rc && m < ops->n_metrics; m++) {
        bool take = !wanted;
        for (const char *const *w = wanted; w && *w; w++) {
            take = take || strcmp(*w, ops->metric[m].name) == 0;
        }
        double value = 0;
        bool ok = false;
        if (!take || !ops->has(b, m)) {
            continue;
        }
        rc = ops->sample(b, m, &value, err);
        rc = rc ? rc : ops->check(b, m, &ok, err);
        if (!rc && (!ok || !(value > 0))) {
            fail_msg("%s: %g, right: %d", ops->metric[m].name, value, ok);
        }
        *checked += !rc;
    }
    if (opened) {
        ops->close(b);
    }
    arena_free(a);
    return rc;
}

static void every_metric_is_right(void **state)
{
    static const struct {
        const char *cc;
        int metrics;
    } boards[] = {{"35", 23}, {"61", 24}, {"70", 25}, {"75", 26}, {"80", 29}, {"90", 30}};
    (void)state;
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
        struct gt_error err = {0};
        int checked = 0;
        setenv("STANDIN_CC", boards[i].cc, 1);
        reset();
        int rc = session(NULL, &err, &checked);
        if (rc) {
            fail_msg("sm_%s: %s", boards[i].cc, err.text);
        }
        assert_int_equal(misuses(), 0);
        assert_int_equal(checked, boards[i].metrics);
    }
    unsetenv("STANDIN_CC");
}

static void every_failing_call_is_one_sentence(void **state)
{
    static const char *const calls[] = {
        "cuInit",          "cuDriverGetVersion",   "cuDeviceGetCount",
        "cuDeviceGet",     "cuDeviceGetName",      "cuDeviceTotalMem_v2",
        "cuMemGetInfo_v2", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent", "cuModuleLoadDataEx",   "cuModuleGetFunction",
        "cuMemAlloc_v2",   "cuMemHostAlloc",       "cuMemcpyHtoDAsync_v2",
        "cuStreamCreate",  "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize",
        "cuLaunchKernel",  "cuMemFree_v2",         "cuMemFreeHost",
        "cuModuleUnload",  "cuStreamDestroy_v2",   "cuDevicePrimaryCtxRelease_v2"};
    static const char *const some[] = {"copy", "fma_fp32", "mma_sync_fp16", "atomics_same", "h2d",
                                       "d2h",  NULL};
    (void)state;
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        int n = 1;
        for (; n <= 64; n = n < 6 ? n + 1 : 2 * n) {
            char fail[80];
            struct gt_error err = {0};
            int checked = 0;
            snprintf(fail, sizeof fail, "%s:%d:%d", calls[c], n, n % 2 ? 999 : 2);
            setenv("STANDIN_FAIL", fail, 1);
            reset();
            int rc = session(some, &err, &checked);
            if (!fired()) {
                assert_int_equal(rc, 0);
                break;
            }
            bool at_end = c >= 19, other_text = strstr(fail, "LoadDataEx") && n > 1;
            /* At the end, and for a text that only some boards need, nothing else is at stake. */
            if ((rc == 0) != (at_end || other_text) || (rc && strlen(err.text) < 10)) {
                fail_msg("%s: %d %s", fail, rc, err.text);
            }
            if (rc) {
                char code[16];
                snprintf(code, sizeof code, "(%d)", n % 2 ? 999 : 2);
                assert_non_null(strstr(err.text, code));
            }
            /* What could not be freed is still there when the context goes. */
            if (misuses() && !at_end) {
                fail_msg("%s: something is left on the device", fail);
            }
        }
        assert_true(n > 1);
    }
    unsetenv("STANDIN_FAIL");
}

static void wrong_numbers_void_their_metric(void **state)
{
    (void)state;
    for (int k = KERNEL_copy; k <= KERNEL_count; k++) {
        const struct backend_ops *ops = &backend_cuda;
        struct arena *a = arena_new(0);
        struct bench_device d;
        struct backend *b = NULL;
        struct gt_error err = {0};
        int wrong = 0;
        setenv("STANDIN_WRONG", kernel_names[k], 1);
        reset();
        assert_int_equal(ops->open(a, BYTES, &b, &d, &err), 0);
        for (size_t m = 0; m < ops->n_metrics; m++) {
            double value;
            bool ok = true;
            if (strncmp(ops->metric[m].name, "mma", 3) == 0 || !ops->has(b, m)) {
                continue;
            }
            assert_int_equal(ops->sample(b, m, &value, &err), 0);
            assert_int_equal(ops->check(b, m, &ok, &err), 0);
            wrong += !ok;
        }
        ops->close(b);
        arena_free(a);
        if (wrong < 1 || wrong > 3) {
            fail_msg("nonsense of %s was seen in %d metrics", kernel_names[k], wrong);
        }
    }
    unsetenv("STANDIN_WRONG");
}

/* An old driver takes what it knows; without the base there is nothing. */
static void texts_too_new_cost_their_own_metrics(void **state)
{
    struct gt_error err = {0};
    int checked = 0;
    (void)state;
    setenv("STANDIN_CC", "90", 1);
    setenv("STANDIN_PTX", "70", 1);
    reset();
    assert_int_equal(session(NULL, &err, &checked), 0);
    assert_int_equal(checked, 29); /* all but fp8 */
    setenv("STANDIN_PTX", "20", 1);
    reset();
    assert_int_not_equal(session(NULL, &err, &checked), 0);
    assert_non_null(strstr(err.text, "stand-in; error: .version")); /* the compiler's own words */
    assert_int_equal(misuses(), 0);
    unsetenv("STANDIN_CC");
    unsetenv("STANDIN_PTX");
}

static void texts_are_those_of_the_kernels(void **state)
{
    (void)state;
    if (system("command -v clang-14 >/dev/null") != 0) {
        print_message("SKIPPED: no clang-14 here\n");
        skip();
    }
    assert_int_equal(system("d=$(mktemp -d) && planner/bench/kernels_ptx.sh $d && "
                            "diff -r $d planner/bench/ptx >&2; rc=$?; rm -rf $d; exit $rc"),
                     0);
}

static void ptxas_takes_every_text(void **state)
{
    static const char *const pairs[] = {
        "base_sm30 75",    "base_sm30 80",    "base_sm30 86",   "base_sm30 89",   "base_sm30 90",
        "base_sm30 100",   "base_sm30 120",   "half_sm60 75",   "half_sm60 120",  "tensor_sm70 75",
        "tensor_sm75 75",  "tensor_sm80 80",  "tensor_sm80 86", "tensor_sm80 89", "tensor_sm80 90",
        "tensor_sm80 100", "tensor_sm80 120", "tensor_sm89 89", "tensor_sm89 90", "tensor_sm89 100",
        "tensor_sm89 120"};
    (void)state;
    if (system("command -v ptxas >/dev/null") != 0) {
        print_message("SKIPPED: no ptxas here\n");
        skip();
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char command[200];
        snprintf(command, sizeof command,
                 "set -- %s; ptxas -arch=sm_$2 planner/bench/ptx/$1.ptx -o /dev/null >&2",
                 pairs[i]);
        if (system(command) != 0) {
            fail_msg("%s does not assemble", pairs[i]);
        }
    }
}

/* The loader reads LD_LIBRARY_PATH once, so that the test starts itself again with the stand-in. */
int main(int argc, char **argv)
{
    char folder[600];
    snprintf(folder, sizeof folder, "%s", argv[0]);
    char *slash = strrchr(folder, '/');
    snprintf(slash ? slash : folder, 40, "/../support");
    if (argc < 2) {
        setenv("LD_LIBRARY_PATH", folder, 1);
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
        return 1;
    }
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&reset = dlsym(lib, "standin_reset");
    *(void **)&misuses = dlsym(lib, "standin_misuses");
    *(void **)&fired = dlsym(lib, "standin_fired");
    if (!reset || !misuses || !fired) {
        fprintf(stderr, "not the stand-in: another libcuda.so.1 came first\n");
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_right),
        cmocka_unit_test(every_failing_call_is_one_sentence),
        cmocka_unit_test(wrong_numbers_void_their_metric),
        cmocka_unit_test(texts_too_new_cost_their_own_metrics),
        cmocka_unit_test(texts_are_those_of_the_kernels),
        cmocka_unit_test(ptxas_takes_every_text),
    };
    return cmocka_run_group_tests_name("bench_cuda", tests, NULL, NULL);
}
