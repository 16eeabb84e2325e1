/* The measuring back ends for real: the CPU fallback always, OpenCL on PoCL where it is installed.
 */
#include "../../planner/bench/backend.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES ((size_t)4 << 20)

static void every_metric_checks(const struct backend_ops *ops, bool may_be_missing)
{
    struct arena *a = arena_new(0);
    struct bench_device d;
    struct backend *b = NULL;
    struct gt_error err = {0};
    int rc = ops->open(a, BYTES, &b, &d, &err);
    if (rc && may_be_missing) {
        arena_free(a);
        print_message("SKIPPED: %s\n", err.text);
        skip();
    }
    if (rc) {
        fail_msg("%s", err.text);
    }
    struct bench_report r = {.device = d};
    rc = bench_measure(ops, b, &(struct bench_job){.quick = true}, a, &r, &err);
    if (rc) {
        fail_msg("%s", err.text);
    }
    size_t expected = 0;
    for (size_t m = 0; m < ops->n_metrics; m++) {
        expected += !ops->has || ops->has(b, m);
    }
    assert_int_equal(r.n, expected);
    assert_true(expected >= 6);
    for (size_t i = 0; i < r.n; i++) {
        assert_true(r.result[i].checked);
        assert_true(r.result[i].min > 0 && r.result[i].min <= r.result[i].median);
        assert_true(r.result[i].median <= r.result[i].p95);
    }
    assert_false(d.is_gpu);
    assert_non_null(strstr(d.vendor, "not a GPU"));
    struct buf json;
    buf_init(&json, 1 << 20);
    assert_int_equal(bench_write_json(&r, &json), 0);
    assert_non_null(strstr(json.data, "\"cpu-fallback\""));
    buf_release(&json);
    ops->close(b);
    arena_free(a);
}

static void cpu_fallback_measures_and_checks(void **state)
{
    (void)state;
    every_metric_checks(&backend_cpu, false);
}

static void opencl_measures_and_checks(void **state)
{
    (void)state;
    every_metric_checks(&backend_opencl, true);
}

/* A loader without any driver must be one clear sentence. In a child of its own: the loader reads
 * its list of drivers once. */
static void no_opencl_driver_is_one_sentence(void **state)
{
    int status = 0;
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct arena *a = arena_new(0);
        struct bench_device *d;
        size_t n;
        struct gt_error err = {0};
        setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
        int rc = backend_opencl.list(a, &d, &n, &err);
        arena_free(a);
        _exit(rc == GT_EDEVICE && strlen(err.text) > 10 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    char cache[] = "/tmp/gputier-pocl-XXXXXX";
    if (mkdtemp(cache)) {
        setenv("POCL_CACHE_DIR", cache, 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_fallback_measures_and_checks),
        cmocka_unit_test(no_opencl_driver_is_one_sentence),
        cmocka_unit_test(opencl_measures_and_checks),
    };
    int failed = cmocka_run_group_tests_name("bench", tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command) ? 1 : failed;
}
