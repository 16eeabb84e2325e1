/* Repetition and statistics of one device: warm-up, >= 9 repetitions, median, min, p95, spread
 * ((p95 - min) / median), every output checked. Rules: gpu-bench.md 2.7. */
#include "backend.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SAMPLES 200
#define MIN_SAMPLES 9

double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void statistics(double *v, size_t n, struct bench_result *r)
{
    qsort(v, n, sizeof *v, by_value);
    r->min = v[0];
    r->median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    r->p95 = v[(size_t)ceil(0.95 * (double)n) - 1];
    r->spread = r->median > 0 ? (r->p95 - r->min) / r->median : 0;
    r->value = r->median;
}

static int measure_one(const struct backend_ops *ops, struct backend *b, size_t m, bool quick,
                       struct bench_result *r, struct gt_error *err)
{
    double v[MAX_SAMPLES];
    double warm = quick ? 0.05 : 0.2, share = quick ? 0.2 : 1.0;
    size_t n = 0;
    double start = bench_seconds();
    int rc;
    do { /* the first launch compiles, clocks ramp from idle: thrown away */
        rc = ops->sample(b, m, &v[0], err);
        if (rc) {
            return rc;
        }
    } while (bench_seconds() - start < warm);
    start = bench_seconds();
    while (n < MIN_SAMPLES || (n < MAX_SAMPLES && bench_seconds() - start < share)) {
        rc = ops->sample(b, m, &v[n], err);
        if (rc) {
            return rc;
        }
        if (!isfinite(v[n]) || v[n] <= 0) {
            return gt_fail(err, GT_EDEVICE, ops->metric[m].name, "the timer gave no usable value");
        }
        n++;
    }
    r->metric = ops->metric[m].name;
    r->unit = ops->metric[m].unit;
    statistics(v, n, r);
    rc = ops->check(b, m, &r->checked, err);
    if (!rc && !r->checked) {
        rc = gt_fail(err, GT_EDEVICE, "bench",
                     "%s: the device computed a wrong result; no number is kept", r->metric);
    }
    return rc;
}

/* What the device cannot do, in one line. */
static int note_missing(const struct backend_ops *ops, const struct backend *b, struct arena *a,
                        struct bench_report *out)
{
    struct buf names;
    int rc = 0;
    buf_init(&names, 4096);
    for (size_t m = 0; ops->has && m < ops->n_metrics && !rc; m++) {
        if (!ops->has(b, m)) {
            rc = buf_addf(&names, "%s%s", names.len ? ", " : "", ops->metric[m].name);
        }
    }
    if (!rc && names.len) {
        bench_note(out, arena_printf(a, "not on this device: %s", names.data));
    }
    buf_release(&names);
    return rc;
}

/* Whether a list of names ("copy,triad") has this one. */
static bool listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Every name asked for must be one that this back end and device have. */
static int known_metrics(const struct backend_ops *ops, const struct backend *b, const char *list,
                         struct gt_error *err)
{
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        size_t n = strcspn(p, ","), m = 0;
        while (m < ops->n_metrics &&
               (strlen(ops->metric[m].name) != n || strncmp(p, ops->metric[m].name, n) != 0)) {
            m++;
        }
        if (m == ops->n_metrics) {
            return gt_fail(err, GT_EUSAGE, "bench",
                           "--metrics: %s measures no '%.*s'; a run without --metrics names all",
                           ops->id, (int)(n < 40 ? n : 40), p);
        }
        if (ops->has && !ops->has(b, m)) {
            return gt_fail(err, GT_EDEVICE, "bench", "--metrics: this device cannot do %s",
                           ops->metric[m].name);
        }
    }
    return 0;
}

int bench_measure(const struct backend_ops *ops, struct backend *b, const struct bench_job *job,
                  struct arena *a, struct bench_report *out, struct gt_error *err)
{
    int rc = known_metrics(ops, b, job->metrics, err);
    out->result = rc ? NULL : arena_array(a, ops->n_metrics, sizeof *out->result);
    if (!out->result) {
        return rc ? rc : gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t m = 0; m < ops->n_metrics; m++) {
        if (job->progress) {
            job->progress(job->ctx, ops->metric[m].name, (int)m, (int)ops->n_metrics);
        }
        if ((ops->has && !ops->has(b, m)) ||
            (job->metrics && !listed(job->metrics, ops->metric[m].name))) {
            continue;
        }
        rc = measure_one(ops, b, m, job->quick, &out->result[out->n], err);
        if (rc) {
            return rc;
        }
        if (job->result) {
            job->result(job->ctx, &out->result[out->n]);
        }
        out->n++;
    }
    for (const char *const *n = ops->notes ? ops->notes(b) : NULL; n && *n; n++) {
        bench_note(out, *n);
    }
    if (!job->metrics && note_missing(ops, b, a, out)) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (job->progress) {
        job->progress(job->ctx, "", (int)ops->n_metrics, (int)ops->n_metrics);
    }
    return 0;
}
