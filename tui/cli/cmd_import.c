/* import: local files through the same importers that a fetch uses (product.md section 2). */
#include "cli.h"
#include "gputier/csvw.h"
#include "gputier/fetch.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)4 << 20)
#define FILES_MAX    4096

static const struct cli_option options[] = {
    {"region", 'r', OPT_VALUE, "VENDOR/CODE",
     "the region that the files are of, if they do not say"},
    {"vendor", 0, OPT_VALUE, "NAME", "whose prices they are, if they do not say"},
    {"accept-large-change", 0, OPT_FLAG, NULL, "publish although much shrank or jumped"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

struct bar {
    bool on;
    uint64_t shown; /* bytes at the last drawing */
};

/* A line on the terminal every few megabytes; nothing elsewhere. */
static void on_progress(void *ctx, uint64_t bytes, uint64_t rows)
{
    struct bar *b = ctx;
    char size[32];
    if (b->on && bytes - b->shown > 8 * GT_MIB) {
        b->shown = bytes;
        fprintf(stderr, "\r%s read, %" PRIu64 " rows\x1b[K", size_format(bytes, size), rows);
    }
}

struct import {       /* of one list */
    const char *file; /* the first */
    size_t files;
    struct import_result result;
};

static void write_row(struct jsonw *w, const struct import *m)
{
    const struct import_result *r = &m->result;
    jsonw_object(w);
    jsonw_kstring(w, "file", m->file);
    jsonw_kint(w, "files", (int64_t)m->files);
    jsonw_kstring(w, "source_id", r->source_id);
    jsonw_kint(w, "bytes", (int64_t)r->bytes);
    jsonw_kint(w, "rows", (int64_t)r->published.rows);
    jsonw_kint(w, "added", (int64_t)r->published.added);
    jsonw_kint(w, "changed", (int64_t)r->published.changed);
    jsonw_kint(w, "closed", (int64_t)r->published.closed);
    jsonw_kint(w, "unchanged", (int64_t)r->published.unchanged);
    jsonw_kint(w, "repeated", (int64_t)r->published.repeated);
    jsonw_kint(w, "skipped", (int64_t)r->skipped);
    jsonw_key(w, "left_out");
    jsonw_array(w);
    for (size_t i = 0; i < LEFT_OUT_REASONS && r->left_out[i].reason; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "reason", r->left_out[i].reason);
        jsonw_kint(w, "rows", (int64_t)r->left_out[i].rows);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static int write_json(const struct import *r, size_t n, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/import/1");
    jsonw_key(&w, "imports");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        write_row(&w, &r[i]);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int write_csv(const struct import *r, size_t n, struct buf *b)
{
    static const char *const titles[] = {"file",      "files",    "source_id", "bytes",
                                         "rows",      "added",    "changed",   "closed",
                                         "unchanged", "repeated", "skipped"};
    struct csvw w;
    csvw_init(&w, b);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < n; i++) {
        const struct import_result *m = &r[i].result;
        const uint64_t figure[] = {m->bytes,
                                   m->published.rows,
                                   m->published.added,
                                   m->published.changed,
                                   m->published.closed,
                                   m->published.unchanged,
                                   m->published.repeated,
                                   m->skipped};
        csvw_text(&w, r[i].file);
        csvw_int(&w, (int64_t)r[i].files);
        csvw_text(&w, m->source_id);
        for (size_t k = 0; k < sizeof figure / sizeof *figure; k++) {
            csvw_int(&w, (int64_t)figure[k]);
        }
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}

static int write_text(const struct import *r, size_t n, struct buf *b)
{
    char size[32], why[1024];
    for (size_t i = 0; i < n; i++) {
        const struct import_result *m = &r[i].result;
        const struct publish_result *p = &m->published;
        buf_addf(b, "%s", r[i].file);
        if (r[i].files > 1) {
            buf_addf(b, " and %zu more", r[i].files - 1);
        }
        buf_addf(b,
                 ": %s, %s, %" PRIu64 " rows: %" PRIu64 " new, %" PRIu64 " changed, %" PRIu64
                 " gone, %" PRIu64 " as before",
                 m->source_id, size_format(m->bytes, size), p->rows, p->added, p->changed,
                 p->closed, p->unchanged);
        if (p->repeated > 0) {
            buf_addf(b, "; %" PRIu64 " repeated", p->repeated);
        }
        if (m->skipped > 0) {
            buf_addf(b, "; %s", left_out_text(m->left_out, m->skipped, why));
        }
        buf_addc(b, '\n');
    }
    return b->failed ? GT_ENOMEM : 0;
}

/* How many of the files from the i-th on are one list (pages; a question and its answer). */
static size_t list_length(const struct cli_args *a, size_t i)
{
    bool is_auto = strcmp(a->positional[0], "auto") == 0;
    size_t left = a->n_positional - i, n = 1;
    if (left == 1) {
        return 1;
    }
    const struct source_def *d =
        is_auto ? import_recognise(a->positional[i]) : source_find(a->positional[0]);
    if (!d || !d->parse_next) {
        return 1;
    }
    while (n < left && (!is_auto || import_recognise(a->positional[i + n]) == d)) {
        n++;
    }
    return n;
}

static int import_all(struct app *app, const struct cli_args *a, struct import *r, size_t *n,
                      struct gt_error *err)
{
    struct bar bar = {.on = isatty(STDERR_FILENO) && !app->quiet};
    struct store *s = NULL;
    int rc = app_store(app, &s, err);
    struct import_options o = {
        .store = s,
        .kind = a->positional[0],
        .region = cli_value(a, "region"),
        .vendor = cli_value(a, "vendor"),
        .accept_large_change = cli_flag(a, "accept-large-change"),
        .cancel = app->cancel,
        .log = &app->log,
        .now = app->now,
        .progress = on_progress,
        .ctx = &bar,
    };
    if (rc == 0 && o.vendor && !vendor_canonical(o.vendor)) {
        return gt_fail(err, GT_EUSAGE, "--vendor", "found '%.60s', expected a vendor such as aws",
                       o.vendor);
    }
    o.vendor = o.vendor ? vendor_canonical(o.vendor) : NULL;
    for (size_t i = 1, k; rc == 0 && i < a->n_positional; i += k) {
        bar.shown = 0;
        k = list_length(a, i);
        rc = import_files(&o, a->positional + i, k, &r[*n].result, err);
        r[*n].file = a->positional[i];
        r[*n].files = k;
        *n += rc == 0;
        if (bar.shown > 0) {
            fputs("\r\x1b[K", stderr);
        }
    }
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct buf b;
    size_t n = 0;
    if (args->n_positional < 2 || args->n_positional > FILES_MAX) {
        return gt_fail(err, GT_EUSAGE, "import",
                       "expected a kind (auto, or a source id) and one file or more");
    }
    struct import *r = calloc(args->n_positional, sizeof *r);
    if (!r) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = import_all(app, args, r, &n, err);
    buf_init(&b, DOCUMENT_MAX);
    if (n > 0 && (rc == 0 || app->format != OUT_JSON)) { /* what was published before a failure */
        int wrote = app->format == OUT_JSON  ? write_json(r, n, &b)
                    : app->format == OUT_CSV ? write_csv(r, n, &b)
                                             : write_text(r, n, &b);
        struct gt_error own;
        wrote = wrote ? gt_fail(&own, wrote, "", "out of memory") : app_put(&b, &own);
        if (rc == 0 && wrote != 0) {
            rc = wrote;
            *err = own;
        }
    }
    buf_release(&b);
    free(r);
    return rc;
}

const struct command command_import = {
    .name = "import",
    .usage = "KIND FILE…",
    .summary = "reads price lists from files: KIND is a source id or auto; - is standard input",
    .options = options,
    .example = "gputier import auto AmazonEC2.json.gz",
    .run = run,
};
