/* calibrate: one measured rate (or this machine's stored bench) -> how every GPU compares, and what
 * a pass over the data costs on it. Rules: throughput-model.md section 6. */
#include "gputier/jsonw.h"
#include "gputier/model.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"measured", 0, OPT_VALUE, "SAMPLES/S", "rate you measured, of all --gpus together"},
    {"gpu", 0, OPT_VALUE, "NAME", "the GPU it was measured on; default: the stored bench's device"},
    {"gpus", 0, OPT_VALUE, "N", "how many of them (1)"},
    {"model", 0, OPT_VALUE, "NAME", "what is trained (resnet50)"},
    {"precision", 0, OPT_VALUE, "fp32|tf32|amp|bf16|fp8", "arithmetic (amp)"},
    {"batch", 0, OPT_VALUE, "N", "samples per GPU and step"},
    {"stack", 0, OPT_VALUE, "tuned|stock|NAME", "software (tuned)"},
    {"samples", 0, OPT_VALUE, "N", "samples of one epoch (1281167)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

struct calibration {
    const struct catalog *catalog;
    struct model_job job;      /* of one GPU; gpu set per row */
    const struct gpu_spec *on; /* measured there, NULL = none */
    double factor;             /* measured / predicted */
    bool that_gpu_only;        /* a bench says nothing of other GPUs */
    double samples;
    const char *basis;
};
struct row {
    const struct gpu_spec *gpu;
    struct model_rate rate;
    size_t offer; /* cheapest on demand per GPU-hour */
    double usd_per_gpu_hour, epoch_usd;
};

/* One GPU by its name; a name of several ("A100") is refused, since their rates differ. */
static int find_gpu(const struct catalog *c, const char *name, const struct gpu_spec **out,
                    struct gt_error *err)
{
    char others[160] = "";
    size_t n = 0, len = 0;
    for (size_t i = 0; i < c->n_gpus; i++) {
        if (!text_leading_parts(name, c->gpus[i].model)) {
            continue;
        }
        if (strlen(name) == strlen(c->gpus[i].model)) {
            *out = &c->gpus[i];
            return 0;
        }
        *out = &c->gpus[i];
        if (n++ < 6 && len < sizeof others) {
            len += (size_t)snprintf(others + len, sizeof others - len, "%s%s", n > 1 ? ", " : "",
                                    c->gpus[i].model);
        }
    }
    return n == 1  ? 0
           : n > 1 ? gt_fail(err, GT_EUSAGE, "", "--gpu: found '%.60s', which may be %s: name one",
                             name, others)
                   : gt_fail(err, GT_EUSAGE, "",
                             "no GPU '%.60s' in the table; gputier prices lists the names", name);
}

/* The stored bench of a GPU holds for that GPU alone. */
static void from_bench(struct calibration *k)
{
    k->on = model_bench_factor(k->catalog, &k->factor);
    k->that_gpu_only = true;
    k->basis = k->on != NULL         ? "stored bench: memory bandwidth against the sheet"
               : k->catalog->bench.n ? "the stored bench is of a CPU, not a GPU: spec sheets only"
                                     : "no bench is stored: spec sheets only";
}

static int from_measured(struct calibration *k, const struct cli_args *args, struct gt_error *err)
{
    const char *name = cli_value(args, "gpu"), *count = cli_value(args, "gpus");
    double measured, gpus = 1;
    struct model_job job = k->job;
    struct model_rate rate;
    int rc = number_parse(cli_value(args, "measured"), &measured, err);
    rc = rc ? rc : count ? number_parse(count, &gpus, err) : 0;
    if (rc || measured <= 0 || gpus < 1 || gpus > 65536) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--measured wants a rate above 0, --gpus a number from 1 to 65536");
    }
    if (!name) {
        return gt_fail(err, GT_EUSAGE, "", "--measured needs --gpu: on which GPU was it measured");
    }
    if (find_gpu(k->catalog, name, &k->on, err) != 0) {
        return GT_EUSAGE;
    }
    job.gpu = k->on;
    job.gpus = job.gpus_per_node = gpus;
    rc = model_throughput(&job, &rate, err);
    if (!rc) {
        k->factor = measured / rate.samples_per_s;
        k->basis = "measured rate";
    }
    return rc;
}

static int by_cost(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    bool nx = isnan(x->epoch_usd), ny = isnan(y->epoch_usd);
    if (nx || ny) {
        return nx == ny ? strcmp(x->gpu->model, y->gpu->model) : nx ? 1 : -1;
    }
    return (x->epoch_usd > y->epoch_usd) - (x->epoch_usd < y->epoch_usd);
}

static void cheapest(const struct calibration *k, struct row *r)
{
    const struct catalog_offers *o = &k->catalog->offers;
    r->usd_per_gpu_hour = (double)NAN;
    for (size_t i = 0; i < o->n; i++) {
        if (o->purchase[i] == PURCHASE_ON_DEMAND && o->price_state[i] == PRICE_KNOWN &&
            o->gpu_num[i] && o->gpu_spec[i] >= 0 && &k->catalog->gpus[o->gpu_spec[i]] == r->gpu) {
            double v = o->usd_per_hour[i] * o->gpu_den[i] / o->gpu_num[i];
            if (v > 0 && !(v >= r->usd_per_gpu_hour)) {
                r->usd_per_gpu_hour = v;
                r->offer = i;
            }
        }
    }
    r->epoch_usd = k->samples / r->rate.samples_per_s / 3600 * r->usd_per_gpu_hour;
}

static size_t fill(const struct calibration *k, struct row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < k->catalog->n_gpus; i++) {
        struct model_job job = k->job;
        struct row *r = &rows[n];
        memset(r, 0, sizeof *r);
        r->gpu = job.gpu = &k->catalog->gpus[i];
        job.calibration = k->that_gpu_only && r->gpu != k->on ? 1 : k->factor;
        job.calibrated_same_gpu = !k->that_gpu_only && k->on == r->gpu;
        if (model_throughput(&job, &r->rate, NULL) == 0 && r->rate.samples_per_s > 0) {
            cheapest(k, r);
            n++;
        }
    }
    qsort(rows, n, sizeof *rows, by_cost);
    return n;
}

static int print_json(const struct calibration *k, const struct row *rows, size_t n,
                      struct gt_error *err)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, 8U << 20);
    jsonw_init(&w, &b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/calibrate/1");
    jsonw_kstring(&w, "model", k->job.model->name);
    jsonw_kstring(&w, "basis", k->basis);
    jsonw_kdouble(&w, "factor", k->factor);
    jsonw_key(&w, "measured_on");
    jsonw_string_or_null(&w, k->on ? k->on->model : NULL);
    jsonw_key(&w, "gpus");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        const struct catalog_offers *o = &k->catalog->offers;
        bool priced = !isnan(rows[i].epoch_usd);
        size_t at = rows[i].offer;
        jsonw_object(&w);
        jsonw_kstring(&w, "gpu", rows[i].gpu->model);
        jsonw_kdouble(&w, "samples_per_s", rows[i].rate.samples_per_s);
        jsonw_key(&w, "interval");
        jsonw_array(&w);
        jsonw_double(&w, rows[i].rate.lo);
        jsonw_double(&w, rows[i].rate.hi);
        jsonw_end_array(&w);
        jsonw_kstring(&w, "bound", bound_name(rows[i].rate.bound));
        jsonw_kdouble(&w, "usd_per_gpu_hour", rows[i].usd_per_gpu_hour);
        jsonw_kdouble(&w, "epoch_usd", rows[i].epoch_usd);
        jsonw_kstring(&w, "vendor", priced ? catalog_text(k->catalog, o->vendor[at]) : NULL);
        jsonw_kstring(&w, "region", priced ? catalog_text(k->catalog, o->region[at]) : NULL);
        jsonw_kstring(&w, "source_id", priced ? catalog_text(k->catalog, o->source[at]) : NULL);
        jsonw_key(&w, "sku");
        jsonw_string_or_null(&w, priced ? catalog_text(k->catalog, o->sku[at]) : NULL);
        jsonw_ktime(&w, "as_of", priced ? o->as_of[at] : GT_TIME_NONE);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    int rc = jsonw_finish(&w) ? gt_fail(err, GT_ENOMEM, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

/* Three digits without an exponent: 2660, 624, 0.086. */
static const char *three_digits(double v, char buf[32])
{
    double unit = v >= 1000 ? pow(10, floor(log10(v)) - 2) : 1;
    if (v >= 100) {
        snprintf(buf, 32, "%.0f", round(v / unit) * unit);
    } else {
        snprintf(buf, 32, "%.3g", v);
    }
    return buf;
}

static int print_table(struct app *app, const struct calibration *k, const struct row *rows,
                       size_t n, struct gt_error *err)
{
    static const char *const titles[] = {"GPU",      ">samples/s", ">90 % interval", "bound",
                                         ">$/GPU-h", ">$/epoch",   "where",          NULL};
    struct text_table t;
    struct buf b;
    table_init(&t, titles);
    for (size_t i = 0; i < n; i++) {
        const struct catalog_offers *o = &k->catalog->offers;
        char rate[32], interval[64], price[32] = "no price", epoch[32] = "-", where[160] = "-";
        char lo[32], hi[32];
        three_digits(rows[i].rate.samples_per_s, rate);
        snprintf(interval, sizeof interval, "%s-%s", three_digits(rows[i].rate.lo, lo),
                 three_digits(rows[i].rate.hi, hi));
        if (!isnan(rows[i].epoch_usd)) {
            snprintf(price, sizeof price, "%.3f", rows[i].usd_per_gpu_hour);
            snprintf(epoch, sizeof epoch, "%.2g",
                     rows[i].epoch_usd); /* two digits: more would claim too much */
            snprintf(where, sizeof where, "%s/%s",
                     catalog_text(k->catalog, o->vendor[rows[i].offer]),
                     catalog_text(k->catalog, o->region[rows[i].offer]));
        }
        table_row(&t, (const char *const[]){rows[i].gpu->model, rate, interval,
                                            bound_name(rows[i].rate.bound), price, epoch, where});
    }
    buf_init(&b, 8U << 20);
    buf_addf(&b, "%s, one GPU, %.0f samples an epoch; basis: %s", k->job.model->name, k->samples,
             k->basis);
    if (k->on) {
        buf_addf(&b, " on %s, factor %.3g against the model", k->on->model, k->factor);
    }
    buf_adds(&b, "\n");
    int rc = table_write(&t, &b, app->plain);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int read_job(struct calibration *k, const struct cli_args *args, struct gt_error *err)
{
    static const char *const precisions[] = {"fp32", "tf32", "amp", "bf16", "fp8"};
    const char *model = cli_value(args, "model"), *v;
    int rc = 0;
    k->job.model = model_find(k->catalog->models, k->catalog->n_models, model ? model : "resnet50");
    if (!k->job.model) {
        return gt_fail(err, GT_EUSAGE, "", "no model '%.60s' in the table",
                       model ? model : "resnet50");
    }
    k->job.precision = PRECISION_AMP;
    if ((v = cli_value(args, "precision")) != NULL) {
        size_t i = 0;
        while (i < 5 && strcmp(precisions[i], v) != 0) {
            i++;
        }
        if (i == 5) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--precision: found '%.20s', expected fp32, tf32, amp, bf16 or fp8", v);
        }
        k->job.precision = (enum precision)i;
    }
    if ((v = cli_value(args, "batch")) != NULL) {
        rc = number_parse(v, &k->job.batch_per_gpu, err);
    }
    if (!rc && (v = cli_value(args, "samples")) != NULL) {
        uint64_t n = 0;
        rc = count_parse(v, &n, err);
        k->samples = (double)n;
    }
    if (rc || (cli_value(args, "batch") && k->job.batch_per_gpu <= 0) || k->samples < 1) {
        return gt_fail(err, GT_EUSAGE, "", "--batch and --samples want a number above 0");
    }
    k->job.stack = cli_value(args, "stack") ? cli_value(args, "stack") : "tuned";
    return 0;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct calibration k = {.factor = 1, .samples = 1281167};
    k.job = (struct model_job){.gpus = 1,
                               .gpus_per_node = 1,
                               .nodes = 1,
                               .gradient_accumulation = 1,
                               .optimizer = OPTIMIZER_ADAMW,
                               .calibration = 1};
    k.job.vcpus_per_node = k.job.network_gbps = k.job.storage_bytes_per_s = (double)NAN;
    if (args->n_positional) {
        return gt_fail(err, GT_EUSAGE, "", "calibrate takes no argument '%.40s'",
                       args->positional[0]);
    }
    if (!cli_value(args, "measured") && (cli_value(args, "gpu") || cli_value(args, "gpus"))) {
        return gt_fail(err, GT_EUSAGE, "", "--gpu and --gpus say where --measured was measured");
    }
    int rc = app_catalog(app, &k.catalog, err);
    rc = rc ? rc : read_job(&k, args, err);
    if (!rc && cli_value(args, "measured")) {
        rc = from_measured(&k, args, err);
    } else if (!rc) {
        from_bench(&k);
    }
    struct row *rows = rc ? NULL : calloc(k.catalog->n_gpus + 1, sizeof *rows);
    if (!rc && !rows) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (!rc) {
        size_t n = fill(&k, rows);
        rc = app->format == OUT_JSON ? print_json(&k, rows, n, err)
                                     : print_table(app, &k, rows, n, err);
    }
    free(rows);
    return rc;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .usage = "[--measured SAMPLES/S --gpu NAME [--gpus N]] [--model NAME]",
    .summary = "from one measured rate or the stored bench: how every GPU compares, cost per epoch",
    .options = options,
    .example = "gputier calibrate --measured 620 --gpu 'RTX 3090' --model resnet50",
    .run = run,
    .no_csv = true,
};
