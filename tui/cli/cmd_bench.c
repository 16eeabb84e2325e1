/* bench: measures this machine's device and stores the result; bench export/import moves it. */
#include "bench_stored.h"
#include "gputier/model.h"
#include "gputier/text.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT_MAX (1 << 20)

static const struct cli_option options[] = {
    {"device", 0, OPT_VALUE, "auto|cuda|opencl|cpu",
     "back end; auto takes a GPU, else the CPU fallback"},
    {"list", 0, OPT_FLAG, NULL, "list the devices"},
    {"quick", 0, OPT_FLAG, NULL, "at most 15 s"},
    {"metrics", 0, OPT_VALUE, "NAME,…", "only these; shown, not stored"},
    {"no-store", 0, OPT_FLAG, NULL, "do not keep the result"},
    {"output", 'o', OPT_VALUE, "FILE", "write the JSON document there too"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static void progress(void *ctx, const char *metric, int done, int total)
{
    const struct app *app = ctx;
    if (!app->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[Kbench: %d/%d %s", done, total, metric);
        if (done == total) {
            fputs("\r\033[K", stderr);
        }
    }
}

/* One line of what the board was in; parts that are not known are left out. */
static void put_conditions(struct buf *b, const struct bench_conditions *c)
{
    const struct {
        double share;
        const char *by;
    } slowed[] = {{c->slowed_power_cap, "power limit"},
                  {c->slowed_thermal, "heat"},
                  {c->slowed_power_brake, "power brake"},
                  {c->slowed_hardware, "hardware"},
                  {c->slowed_app_clocks, "application clocks"}};
    const char *between = "";
    if (!c->known) {
        return;
    }
    buf_adds(b, "while measuring: ");
#define PART(known, ...)                                                                           \
    do {                                                                                           \
        if (known) {                                                                               \
            buf_adds(b, between);                                                                  \
            buf_addf(b, __VA_ARGS__);                                                              \
            between = ", ";                                                                        \
        }                                                                                          \
    } while (0)
    PART(c->sm_mhz + c->sm_max_mhz > 0, "clock %.0f of %.0f MHz", c->sm_mhz, c->sm_max_mhz);
    PART(c->temperature_c > 0, "%.0f degrees", c->temperature_c);
    PART(c->power_w + c->power_limit_w > 0, "%.0f of %.0f W", c->power_w, c->power_limit_w);
    PART(c->pcie_gen + c->pcie_width > 0, "PCIe %.0f x%.0f", c->pcie_gen, c->pcie_width);
    PART(!isnan(c->ecc), "ECC %s", c->ecc > 0 ? "on" : "off");
    PART(c->mig > 0, "MIG on");
    PART(c->others > 0, "%.0f other process%s", c->others, c->others > 1 ? "es" : "");
    for (size_t i = 0; i < sizeof slowed / sizeof *slowed; i++) {
        PART(slowed[i].share > 0, "slowed by %s %.0f %% of the time", slowed[i].by,
             100 * slowed[i].share);
    }
#undef PART
    buf_adds(b, between[0] ? "\n" : "nothing that NVML would tell\n");
}

static int print_table(struct app *app, const struct bench_report *r, struct gt_error *err)
{
    static const char *const titles[] = {"metric", ">median", "unit",    ">min",
                                         ">p95",   ">spread", "checked", NULL};
    struct text_table t;
    struct buf b, name;
    buf_init(&b, DOCUMENT_MAX);
    buf_init(&name, 4096);
    text_safe(&name, r->device.name, strlen(r->device.name), false);
    buf_addf(&b, "%s  (%s, %s)\n", name.data ? name.data : "", r->device.backend,
             r->device.is_gpu ? "GPU" : "CPU, not a GPU");
    buf_release(&name);
    table_init(&t, titles);
    for (size_t i = 0; i < r->n; i++) {
        const struct bench_result *m = &r->result[i];
        char median[32], min[32], p95[32], spread[32];
        snprintf(median, sizeof median, "%.4g", m->median);
        snprintf(min, sizeof min, "%.4g", m->min);
        snprintf(p95, sizeof p95, "%.4g", m->p95);
        snprintf(spread, sizeof spread, "%.1f%%%s", 100 * m->spread,
                 m->spread > 0.05 ? " noisy" : "");
        table_row(&t, (const char *const[]){m->metric, median, m->unit, min, p95, spread,
                                            m->checked ? "yes" : "no"});
    }
    int rc = table_write(&t, &b, app->plain);
    put_conditions(&b, &r->conditions);
    for (size_t i = 0; i < r->n_notes && !rc; i++) {
        rc = buf_addf(&b, "note: %s\n", r->note[i]);
    }
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int list(struct app *app, const struct bench_options *o, struct arena *a,
                struct gt_error *err)
{
    static const char *const titles[] = {"device",      "back end", "class",
                                         ">memory GiB", "driver",   NULL};
    struct bench_device *d = NULL;
    size_t n = 0;
    struct text_table t;
    struct buf b;
    int rc = bench_list(o, a, &d, &n, err);
    if (rc) {
        return rc;
    }
    table_init(&t, titles);
    for (size_t i = 0; i < n; i++) {
        char memory[32];
        snprintf(memory, sizeof memory, "%.1f", d[i].memory_gib);
        table_row(&t, (const char *const[]){d[i].name, d[i].backend,
                                            d[i].is_gpu ? "GPU" : "CPU, not a GPU", memory,
                                            d[i].driver});
    }
    buf_init(&b, DOCUMENT_MAX);
    rc = table_write(&t, &b, app->plain) ? gt_fail(err, GT_ENOMEM, "", "out of memory")
                                         : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int measure(struct app *app, const struct cli_args *args, struct arena *a,
                   struct gt_error *err)
{
    struct bench_report r;
    struct buf json;
    struct bench_options o = {.device = cli_value(args, "device"),
                              .quick = cli_flag(args, "quick"),
                              .metrics = cli_value(args, "metrics"),
                              .cancel = app->cancel,
                              .progress = progress,
                              .ctx = app,
                              .self = app->self};
    o.device = o.device ? o.device : "auto";
    if (cli_flag(args, "list")) {
        return list(app, &o, a, err);
    }
    int rc = bench_run(&o, a, &r, err);
    rc = rc ? rc : bench_against_sheet(app, a, &r, err);
    if (rc) {
        return rc;
    }
    r.measured_at = app->now;
    buf_init(&json, DOCUMENT_MAX);
    rc = bench_write_json(&r, &json) ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
    if (!rc && !o.metrics && !cli_flag(args, "no-store")) {
        rc = bench_save(app, &r, err);
    }
    if (!rc && cli_value(args, "output")) {
        rc = app_write_file(cli_value(args, "output"), json.data, json.len, err);
    }
    rc = rc ? rc : app->format == OUT_JSON ? app_put(&json, err) : print_table(app, &r, err);
    buf_release(&json);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct arena *a = arena_new(0);
    int rc = !a                   ? gt_fail(err, GT_ENOMEM, "", "out of memory")
             : args->n_positional ? bench_stored(app, args, a, err)
                                  : measure(app, args, a, err);
    arena_free(a);
    return rc;
}

const struct command command_bench = {
    .name = "bench",
    .usage =
        "[--device auto|cuda|opencl|cpu] [--list] [--quick] | history | export [RUN] | import FILE",
    .summary = "measures this machine's GPU (or, labelled, its CPU) and stores the result; moves "
               "results between machines",
    .options = options,
    .example = "gputier bench --quick",
    .run = run,
    .no_csv = true,
};
