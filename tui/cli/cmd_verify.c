/* verify: worked cases through the engines that plan (product.md section 9). */
#include "../verify/driver.h"
#include "cli.h"
#include "gputier/units.h"
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES   (16UL << 20)
#define OUTPUT_BYTES (256UL << 20)
#define MAX_FILES    256

static const struct cli_option options[] = {
    {"traces", 0, OPT_VALUE, "DIR",
     "folder of the trace files; default beside the cases, else traces/ there or next to it"},
    {"max-median", 0, OPT_VALUE, "SHARE", "largest median error of throughputs (0.10)"},
    {"max-p90", 0, OPT_VALUE, "SHARE", "largest 90 % error of throughputs (0.30)"},
    {"calibrate", 0, OPT_VALUE, "same-gpu|other-gpu",
     "predict each throughput from one other case of its list"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static int share(const struct cli_args *args, const char *name, double fallback, double *out,
                 struct gt_error *err)
{
    const char *text = cli_value(args, name);
    *out = fallback;
    if (text && (number_parse(text, out, NULL) || *out < 0)) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected a share such as %.2f",
                       name, text, fallback);
    }
    return 0;
}

static int catalog(void *ctx, const struct catalog **out, struct gt_error *err)
{
    return app_catalog(ctx, out, err);
}

static int read_options(struct app *app, const struct cli_args *args, struct verify_options *o,
                        struct gt_error *err)
{
    *o = (struct verify_options){.traces_dir = cli_value(args, "traces"),
                                 .calibrate = cli_value(args, "calibrate"),
                                 .cancel = app->cancel,
                                 .catalog = catalog,
                                 .catalog_ctx = app};
    if (o->calibrate && strcmp(o->calibrate, "same-gpu") && strcmp(o->calibrate, "other-gpu")) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--calibrate: found '%.40s', expected same-gpu or other-gpu", o->calibrate);
    }
    if (args->n_positional < 1 || args->n_positional > MAX_FILES) {
        return gt_fail(err, GT_EUSAGE, "", "expected 1 to %d files of worked cases, found %zu",
                       MAX_FILES, args->n_positional);
    }
    int rc = share(args, "max-median", 0.10, &o->max_median, err);
    return rc ? rc : share(args, "max-p90", 0.30, &o->max_p90, err);
}

/* A file that cannot be read is a bad input file, exit 4 as one that cannot be understood. */
static int load(const char *path, struct verify_file *f, struct gt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    int rc = app_read_file(path, FILE_BYTES, &text, &len, err);
    if (rc) {
        return rc == GT_ENOMEM || rc == GT_ECANCELLED ? rc : GT_EPARSE;
    }
    rc = verify_file_parse(f, path, text, len, err);
    free(text);
    return rc;
}

static int print(struct app *app, const struct verify_file *files, size_t n,
                 const struct verify_options *o, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    int rc = app->format == OUT_JSON  ? verify_write_json(files, n, o, &b, err)
             : app->format == OUT_CSV ? verify_write_csv(files, n, &b, err)
                                      : verify_write_text(files, n, o, app->plain, &b, err);
    rc = rc ? rc : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int verdict(const struct verify_file *files, size_t n, const struct verify_options *o,
                   struct gt_error *err)
{
    size_t lists = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            lists += !verify_list_passes(&files[i].lists[j], o);
        }
    }
    return lists ? gt_fail(err, GT_EINFEASIBLE, "", "%zu list%s of worked cases not met", lists,
                           lists == 1 ? "" : "s")
                 : 0;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct verify_options o;
    int rc = read_options(app, args, &o, err);
    if (rc) {
        return rc;
    }
    size_t n = args->n_positional, done = 0;
    struct verify_file *files = calloc(n, sizeof *files);
    if (!files) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    /* all are read before the first is computed: a bad file leaves nothing on stdout */
    while (!rc && done < n) {
        rc = load(args->positional[done], &files[done], err);
        done += !rc;
    }
    for (size_t i = 0; !rc && i < n; i++) {
        rc = verify_file_run(&files[i], &o, err);
    }
    rc = rc ? rc : print(app, files, n, &o, err);
    rc = rc ? rc : verdict(files, n, &o, err);
    for (size_t i = 0; i < done; i++) {
        verify_file_release(&files[i]);
    }
    free(files);
    return rc;
}

const struct command command_verify = {
    .name = "verify",
    .usage = "FILE…",
    .summary = "run worked cases through the engines that plan and compare",
    .options = options,
    .example = "gputier verify bills.json --format json",
    .run = run,
};
