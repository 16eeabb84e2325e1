/* The process that touches the device. Its standard output carries one line per metric begun
 * ("progress NAME DONE TOTAL") and one per metric done ("result NAME UNIT MEDIAN SPREAD CHECKED"),
 * then the JSON report; an error is one line "error CODE TEXT". */
#include "backend.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "nvml.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void progress(void *ctx, const char *metric, int done, int total)
{
    (void)ctx;
    printf("progress %s %d %d\n", metric[0] ? metric : "-", done, total);
    fflush(stdout);
}

static void result(void *ctx, const struct bench_result *r)
{
    (void)ctx;
    printf("result %s %s %.17g %.17g %d\n", r->metric, r->unit, r->median, r->spread, r->checked);
    fflush(stdout);
}

static int report_error(const struct gt_error *err)
{
    char text[512];
    snprintf(text, sizeof text, "%s", err->text);
    for (char *p = text; *p; p++) {
        *p = (unsigned char)*p < 0x20 ? ' ' : *p;
    }
    printf("error %d %s\n", err->code, text);
    fflush(stdout);
    return 1;
}

/* Arrays of 256 MiB (quick: 64), at most a sixteenth of the memory each. */
static size_t array_bytes(bool quick)
{
    size_t want = quick ? (size_t)64 << 20 : (size_t)256 << 20;
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    while (want > memory / 16 && want > ((size_t)1 << 20)) {
        want /= 2;
    }
    return want;
}

static int write_list(const struct bench_device *d, size_t n)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, 1 << 20);
    jsonw_init(&w, &b, false);
    jsonw_object(&w);
    jsonw_key(&w, "devices");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        jsonw_object(&w);
        jsonw_kstring(&w, "name", d[i].name);
        jsonw_kstring(&w, "backend", d[i].backend);
        jsonw_kstring(&w, "driver", d[i].driver);
        jsonw_kstring(&w, "vendor", d[i].vendor);
        jsonw_kstring(&w, "class", d[i].is_gpu ? "gpu" : "cpu-fallback");
        jsonw_kdouble(&w, "memory_gib", d[i].memory_gib);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    int rc = jsonw_finish(&w);
    if (!rc) {
        fputs(b.data, stdout);
    }
    buf_release(&b);
    return rc ? 1 : 0;
}

static int measure(const struct backend_ops *ops, const struct bench_job *job, struct arena *a)
{
    struct bench_report r = {.measured_at = GT_TIME_NONE};
    struct gt_error err = {0};
    struct backend *b = NULL;
    struct buf out;
    struct nvml *nvml = ops->bus_id ? nvml_begin() : NULL;
    bench_conditions_init(&r.conditions);
    int rc = ops->open(a, array_bytes(job->quick), &b, &r.device, &err);
    if (!rc) {
        nvml_watch(nvml, ops->bus_id ? ops->bus_id(b) : NULL);
        rc = bench_measure(ops, b, job, a, &r, &err);
        ops->close(b);
    }
    if (ops->bus_id) {
        const char *note = nvml_end(nvml, a, &r.conditions);
        bench_note(&r, r.device.is_gpu ? note : NULL);
    }
    if (rc) {
        return report_error(&err);
    }
    buf_init(&out, 1 << 20);
    rc = bench_write_json(&r, &out);
    if (!rc) {
        fputs(out.data, stdout);
    }
    buf_release(&out);
    return rc ? 1 : 0;
}

int bench_child(int argc, char **argv)
{
    const struct backend_ops *ops = &backend_cpu;
    struct bench_job job = {.progress = progress, .result = result};
    bool list = false;
    for (int i = 1; i < argc; i++) {
        job.quick = job.quick || strcmp(argv[i], "quick") == 0;
        job.metrics = strncmp(argv[i], "metrics=", 8) == 0 ? argv[i] + 8 : job.metrics;
        list = list || strcmp(argv[i], "list") == 0;
        ops = strcmp(argv[i], "opencl") == 0 ? &backend_opencl
              : strcmp(argv[i], "cuda") == 0 ? &backend_cuda
                                             : ops;
    }
    struct arena *a = arena_new(0);
    if (!a) {
        return 1;
    }
    int rc;
    if (list) {
        struct bench_device *d = NULL;
        size_t n = 0;
        struct gt_error err = {0};
        rc = ops->list(a, &d, &n, &err);
        rc = rc ? report_error(&err) : write_list(d, n);
    } else {
        rc = measure(ops, &job, a);
    }
    arena_free(a);
    return rc;
}
