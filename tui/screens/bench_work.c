/* Measuring beside the interface (bench_work.h): the same way from a device to a stored run as the
 * command's. */
#include "bench_work.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct run_ctx {
    struct worker *w;
    struct bench_news now; /* what is told next */
    double began;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void tell(struct run_ctx *x)
{
    struct bench_news *n = malloc(sizeof *n);
    if (n) { /* without memory the next one tells the same and more */
        x->now.seconds = seconds() - x->began;
        *n = x->now;
        worker_deliver(x->w, n, false);
    }
}

static void progress(void *ctx, const char *metric, int done, int total)
{
    struct run_ctx *x = ctx;
    if (done == 0) { /* another back end begins */
        x->now.n = 0;
    }
    snprintf(x->now.now, sizeof x->now.now, "%s", metric);
    x->now.done = done;
    x->now.total = total;
    tell(x);
}

static void add_row(struct bench_news *n, const struct bench_result *r)
{
    if (n->n < BENCH_ROWS_MAX) {
        struct bench_live *row = &n->row[n->n++];
        snprintf(row->metric, sizeof row->metric, "%s", r->metric);
        snprintf(row->unit, sizeof row->unit, "%s", r->unit);
        row->median = r->median;
        row->spread = r->spread;
    }
}

static void result(void *ctx, const struct bench_result *r)
{
    struct run_ctx *x = ctx;
    add_row(&x->now, r);
    tell(x);
}

static int measure(struct run_ctx *x, struct app *app, const struct bench_ask *ask,
                   struct bench_news *out)
{
    struct bench_report *r = arena_array(out->arena, 1, sizeof *r);
    struct bench_options o = {.device = ask->backend,
                              .quick = ask->quick,
                              .cancel = worker_cancel(x->w),
                              .progress = progress,
                              .result = result,
                              .ctx = x,
                              .self = app->self};
    if (!r) {
        return gt_fail(&out->err, GT_ENOMEM, "", "out of memory");
    }
    tell(x);
    int rc = bench_run(&o, out->arena, r, &out->err);
    rc = rc ? rc : bench_against_sheet(app, out->arena, r, &out->err);
    if (!rc) {
        r->measured_at = app->now;
        rc = bench_save(app, r, &out->err);
    }
    struct arena *a = out->arena;
    struct gt_error err = out->err;
    *out = x->now;
    out->arena = a;
    out->err = err;
    out->seconds = seconds() - x->began;
    if (!rc) {
        out->report = r;
        out->n = 0;
        for (size_t i = 0; i < r->n; i++) {
            add_row(out, &r->result[i]);
        }
    }
    return rc;
}

static int list(struct worker *w, struct app *app, struct bench_news *out)
{
    struct bench_options o = {
        .device = "auto", .list_only = true, .cancel = worker_cancel(w), .self = app->self};
    struct bench_device *d = NULL;
    size_t n = 0;
    int rc = bench_list(&o, out->arena, &d, &n, &out->err);
    for (size_t i = 0; !rc && i < n && i < BENCH_DEVICES_MAX; i++) {
        struct bench_choice *c = &out->device[out->n_devices++];
        snprintf(c->name, sizeof c->name, "%s", d[i].name);
        snprintf(c->backend, sizeof c->backend, "%s", d[i].backend);
        snprintf(c->driver, sizeof c->driver, "%s", d[i].driver);
        c->is_gpu = d[i].is_gpu;
        c->memory_gib = d[i].memory_gib;
    }
    return rc;
}

static void run(struct worker *w, void *ctx, void *job)
{
    struct bench_work_ctx *c = ctx;
    const struct bench_ask *ask = job;
    struct run_ctx x = {.w = w, .now = {.state = BENCH_RUNNING}, .began = seconds()};
    struct bench_news *out = calloc(1, sizeof *out);
    int rc = 0;
    if (!out) {
        return;
    }
    out->arena = ask->kind == BENCH_ASK_STOP ? NULL : arena_new(0);
    if (ask->kind == BENCH_ASK_STOP) {
        out->state = BENCH_STOPPED;
        worker_deliver(w, out, true);
        return;
    }
    if (!out->arena) {
        rc = gt_fail(&out->err, GT_ENOMEM, "", "out of memory");
    } else if (ask->kind == BENCH_ASK_RUN) {
        rc = measure(&x, c->app, ask, out);
        out->state = BENCH_DONE;
    } else {
        rc = list(w, c->app, out);
        out->state = BENCH_DEVICES;
    }
    rc = rc ? rc : bench_load(c->app, &out->runs, out->arena, &out->err);
    out->state = rc ? BENCH_FAILED : out->state;
    worker_deliver(w, out, true);
}

void bench_news_free(void *news)
{
    struct bench_news *n = news;
    if (n) {
        arena_free(n->arena);
    }
    free(n);
}

const struct worker_ops bench_work = {.run = run, .free_job = free, .free_result = bench_news_free};
