/* Stored benches: `bench export` and `bench import` move them between machines, `bench history`
 * lists them and tells drift: the latest run of a device against the median of its earlier ones. */
#include "bench_stored.h"
#include "gputier/jsonw.h"
#include "gputier/model.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX (1 << 20)
#define OUTPUT_MAX   (16UL << 20)
#define LEAST_DRIFT  0.03 /* clocks and temperature alone do that */

/* A figure above the sheet is a measuring fault, not a fast card (gpu-bench.md 2.7); one far below
 * it is explained. */
int bench_against_sheet(struct app *app, struct arena *a, struct bench_report *r,
                        struct gt_error *err)
{
    const struct catalog *c;
    int rc = r->device.is_gpu ? app_catalog(app, &c, err) : 0;
    if (rc || !r->device.is_gpu) {
        return rc;
    }
    const struct gpu_spec *g = model_bench_spec(c, r->device.name);
    for (size_t i = 0; g && i < r->n; i++) {
        double most = model_bench_sheet(g, r->result[i].metric);
        if (most > 0 && r->result[i].median > 1.05 * most) {
            return gt_fail(err, GT_EDEVICE, r->device.name,
                           "%s measured %.4g %s, more than the %.4g of the sheet (%s): a measuring "
                           "error, not stored",
                           r->result[i].metric, r->result[i].median, r->result[i].unit, most,
                           g->model);
        }
    }
    model_bench_explain(g, r, a);
    return 0;
}

int bench_save(struct app *app, const struct bench_report *r, struct gt_error *err)
{
    struct store *s;
    struct buf json;
    struct bench_row *rows = calloc(r->n ? r->n : 1, sizeof *rows);
    int rc = rows ? app_store(app, &s, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    for (size_t i = 0; !rc && i < r->n; i++) {
        const struct bench_result *m = &r->result[i];
        rows[i] = (struct bench_row){m->metric, m->unit,   m->median, m->min,
                                     m->p95,    m->spread, m->checked};
    }
    buf_init(&json, DOCUMENT_MAX);
    if (!rc && bench_write_json(r, &json)) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    rc = rc ? rc
            : store_save_bench(s, r->device.name, r->device.backend, r->device.is_gpu, json.data,
                               rows, r->n, app->now, err);
    buf_release(&json);
    free(rows);
    return rc;
}

/* A document that a later version wrote may not be readable: it is left out. */
static int take_run(void *ctx, int64_t id, int64_t when, const char *json)
{
    struct bench_runs *l = ctx;
    struct bench_kept *r = &l->run[l->n];
    r->id = id;
    if (l->n < BENCH_RUNS_MAX &&
        bench_read_json(json, strlen(json), "database", l->a, &r->report, NULL) == 0) {
        if (r->report.measured_at == GT_TIME_NONE) {
            r->report.measured_at = when;
        }
        l->n++;
    }
    return 0;
}

int bench_load(struct app *app, struct bench_runs *l, struct arena *a, struct gt_error *err)
{
    struct store *s;
    *l = (struct bench_runs){.a = a, .run = arena_array(a, BENCH_RUNS_MAX + 1, sizeof *l->run)};
    int rc = l->run ? app_store(app, &s, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    return rc ? rc : store_list_bench(s, BENCH_RUNS_MAX, take_run, l, err);
}

/* The run asked for, else the newest of a GPU, else the newest. */
static const struct bench_kept *choose(const struct bench_runs *l, const char *wanted)
{
    const struct bench_kept *newest = l->n ? &l->run[0] : NULL;
    for (size_t i = 0; i < l->n; i++) {
        char id[32];
        snprintf(id, sizeof id, "%lld", (long long)l->run[i].id);
        if (wanted ? strcmp(id, wanted) == 0 : l->run[i].report.device.is_gpu) {
            return &l->run[i];
        }
    }
    return wanted ? NULL : newest;
}

static int export_run(struct app *app, const struct cli_args *args, struct arena *a,
                      struct gt_error *err)
{
    const char *wanted = args->n_positional > 1 ? args->positional[1] : NULL;
    const char *file = cli_value(args, "output");
    struct bench_runs l;
    struct buf json;
    int rc = bench_load(app, &l, a, err);
    if (rc) {
        return rc;
    }
    const struct bench_kept *r = choose(&l, wanted);
    if (!r) {
        return wanted ? gt_fail(err, GT_ENOTFOUND, "",
                                "no stored run '%.40s'; gputier bench history lists them", wanted)
                      : gt_fail(err, GT_ENOTFOUND, "", "no bench is stored yet");
    }
    buf_init(&json, DOCUMENT_MAX);
    rc = bench_write_json(&r->report, &json) ? gt_fail(err, GT_ENOMEM, "", "out of memory")
         : file                              ? app_write_file(file, json.data, json.len, err)
                                             : app_put(&json, err);
    buf_release(&json);
    return rc;
}

static int import_run(struct app *app, const struct cli_args *args, struct arena *a,
                      struct gt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    struct bench_report r;
    if (args->n_positional != 2) {
        return gt_fail(err, GT_EUSAGE, "", "bench import wants one file");
    }
    const char *file = args->positional[1], *slash = strrchr(file, '/');
    int rc = app_read_file(file, DOCUMENT_MAX, &text, &len, err);
    rc = rc ? rc : bench_read_json(text, len, file, a, &r, err);
    free(text);
    if (!rc && r.measured_at != GT_TIME_NONE && r.measured_at > app->now + 86400) {
        rc = gt_fail(err, GT_EPARSE, file, "measured_at lies in the future");
    }
    rc = rc ? rc : bench_against_sheet(app, a, &r, err);
    if (!rc) {
        r.origin = slash ? slash + 1 : file;
        rc = bench_save(app, &r, err);
    }
    if (!rc && !app->quiet) {
        struct buf b;
        buf_init(&b, 4096);
        buf_addf(&b, "imported: %s (%s, %s), %zu results\n", r.device.name, r.device.backend,
                 r.device.is_gpu ? "GPU" : "CPU, not a GPU", r.n);
        rc = app_put(&b, err);
        buf_release(&b);
    }
    return rc;
}

const struct bench_result *bench_find(const struct bench_report *r, const char *metric)
{
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->result[i].metric, metric) == 0) {
            return &r->result[i];
        }
    }
    return NULL;
}

bool bench_same_device(const struct bench_report *x, const struct bench_report *y)
{
    return strcmp(x->device.name, y->device.name) == 0 &&
           strcmp(x->device.backend, y->device.backend) == 0 && (!x->origin) == (!y->origin) &&
           (!x->origin || strcmp(x->origin, y->origin) == 0);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool bench_drifted(const struct bench_runs *l, size_t at, const struct bench_result *m,
                   struct bench_drift *out)
{
    double v[BENCH_RUNS_MAX];
    size_t n = 0;
    *out = (struct bench_drift){.run = &l->run[at], .metric = m->metric, .unit = m->unit};
    out->latest = m->median;
    out->spread = fmax(m->spread, LEAST_DRIFT);
    for (size_t i = at + 1; i < l->n; i++) {
        const struct bench_result *b = bench_same_device(&l->run[i].report, &l->run[at].report)
                                           ? bench_find(&l->run[i].report, m->metric)
                                           : NULL;
        if (b && strcmp(b->unit, m->unit) == 0) {
            v[n++] = b->median;
            out->spread = fmax(out->spread, b->spread);
        }
    }
    if (!n) {
        return false;
    }
    qsort(v, n, sizeof *v, by_value);
    out->n_before = n;
    out->before = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    out->change = out->latest / out->before - 1;
    return fabs(out->change) > out->spread;
}

bool bench_latest(const struct bench_runs *l, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (bench_same_device(&l->run[i].report, &l->run[at].report)) {
            return false;
        }
    }
    return true;
}

/* Calls row for each drift there is. */
static void each_drift(const struct bench_runs *l,
                       void (*row)(void *ctx, const struct bench_drift *d), void *ctx)
{
    for (size_t at = 0; at < l->n; at++) {
        for (size_t i = 0; bench_latest(l, at) && i < l->run[at].report.n; i++) {
            struct bench_drift d;
            if (bench_drifted(l, at, &l->run[at].report.result[i], &d)) {
                row(ctx, &d);
            }
        }
    }
}

static void drift_json(void *ctx, const struct bench_drift *d)
{
    struct jsonw *w = ctx;
    jsonw_object(w);
    jsonw_kint(w, "run", d->run->id);
    jsonw_kstring(w, "device", d->run->report.device.name);
    jsonw_kstring(w, "metric", d->metric);
    jsonw_kstring(w, "unit", d->unit);
    jsonw_kdouble(w, "latest", d->latest);
    jsonw_kdouble(w, "median_before", d->before);
    jsonw_kint(w, "runs_before", (int64_t)d->n_before);
    jsonw_kdouble(w, "change", d->change);
    jsonw_kdouble(w, "spread", d->spread);
    jsonw_end_object(w);
}

static void drift_text(void *ctx, const struct bench_drift *d)
{
    buf_addf(ctx,
             "drift: run %lld, %s: %s %.4g %s, %+.0f %% against the median of %zu earlier (spread "
             "%.0f %%)\n",
             (long long)d->run->id, d->run->report.device.name, d->metric, d->latest, d->unit,
             100 * d->change, d->n_before, 100 * d->spread);
}

static void history_json(const struct bench_runs *l, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/bench-history/1");
    jsonw_key(&w, "runs");
    jsonw_array(&w);
    for (size_t i = 0; i < l->n; i++) {
        const struct bench_report *r = &l->run[i].report;
        jsonw_object(&w);
        jsonw_kint(&w, "run", l->run[i].id);
        jsonw_ktime(&w, "measured_at", r->measured_at);
        jsonw_kstring(&w, "device", r->device.name);
        jsonw_kstring(&w, "backend", r->device.backend);
        jsonw_kstring(&w, "class", r->device.is_gpu ? "gpu" : "cpu-fallback");
        jsonw_key(&w, "origin");
        jsonw_string_or_null(&w, r->origin);
        jsonw_key(&w, "medians");
        jsonw_object(&w);
        for (size_t k = 0; k < r->n; k++) {
            jsonw_kdouble(&w, r->result[k].metric, r->result[k].median);
        }
        jsonw_end_object(&w);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "drift");
    jsonw_array(&w);
    each_drift(l, drift_json, &w);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    (void)jsonw_finish(&w); /* kept in b */
}

static void history_text(const struct app *app, const struct bench_runs *l, struct buf *b)
{
    static const char *const titles[] = {">run",        "measured",      "device", "back end",
                                         ">triad GB/s", ">FP32 GFLOP/s", "from",   NULL};
    struct text_table t;
    table_init(&t, titles);
    for (size_t i = 0; i < l->n; i++) {
        const struct bench_report *r = &l->run[i].report;
        const struct bench_result *triad = bench_find(r, "triad"), *fma = bench_find(r, "fma_fp32");
        char id[32], when[32], x[32] = "-", y[32] = "-";
        snprintf(id, sizeof id, "%lld", (long long)l->run[i].id);
        if (triad) {
            snprintf(x, sizeof x, "%.4g", triad->median);
        }
        if (fma) {
            snprintf(y, sizeof y, "%.4g", fma->median);
        }
        table_row(&t, (const char *const[]){id, time_format(r->measured_at, when), r->device.name,
                                            r->device.is_gpu ? r->device.backend : "CPU, not a GPU",
                                            x, y, r->origin ? r->origin : "here"});
    }
    if (table_write(&t, b, app->plain) == 0) {
        each_drift(l, drift_text, b);
    } else {
        b->failed = GT_ENOMEM;
    }
}

static int history(struct app *app, const struct cli_args *args, struct arena *a,
                   struct gt_error *err)
{
    struct bench_runs l;
    struct buf b;
    if (args->n_positional != 1) {
        return gt_fail(err, GT_EUSAGE, "", "bench history takes no argument");
    }
    int rc = bench_load(app, &l, a, err);
    if (rc) {
        return rc;
    }
    buf_init(&b, OUTPUT_MAX);
    if (app->format == OUT_JSON) {
        history_json(&l, &b);
    } else {
        history_text(app, &l, &b);
    }
    rc = b.failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

int bench_stored(struct app *app, const struct cli_args *args, struct arena *a,
                 struct gt_error *err)
{
    const char *what = args->positional[0];
    if (strcmp(what, "export") == 0 && args->n_positional <= 2) {
        return export_run(app, args, a, err);
    }
    if (strcmp(what, "import") == 0) {
        return import_run(app, args, a, err);
    }
    if (strcmp(what, "history") == 0) {
        return history(app, args, a, err);
    }
    return gt_fail(err, GT_EUSAGE, "", "bench: found '%.40s', expected export, import or history",
                   what);
}
