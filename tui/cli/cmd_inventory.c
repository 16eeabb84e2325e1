/* inventory import|aggregate|savings|sql: listings and vendor inventories to the histogram R-IM-02
 * of the storage rules. `import` reads and checks, and keeps the histogram in a file; `aggregate`
 * prints it; `savings` says what to do before tiering; `sql` prints the query that makes the
 * histogram in another engine, or has it carried out there. */
#include "gputier/csvw.h"
#include "gputier/inventory_sql.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "inventory_args.h"
#include "savings_view.h"
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DOCUMENT_MAX (1UL << 30)

static const struct cli_option options[] = {
    INVENTORY_CLI_OPTIONS,
    {"output", 'o', OPT_VALUE, "FILE", "write the histogram as CSV, for `tier FILE` later"},
    {"engine", 0, OPT_VALUE, "ENGINE",
     "sql: duckdb, clickhouse, athena, spark, trino or postgresql; with --depth, --as-of"},
    {"horizon", 0, OPT_VALUE, "DURATION", "savings: how long the data are kept (36mo)"},
    {"vendor", 0, OPT_VALUE, "VENDOR", "savings: whose tiers (aws, or the one of --from)"},
    {"region", 0, OPT_VALUE, "REGION",
     "savings: where, when the input does not say, e.g. us-east-1 or aws/us-east-1"},
    {"pack-size", 0, OPT_VALUE, "SIZE",
     "savings: of the files that small objects are packed into (128MiB)"},
    {"from", 0, OPT_VALUE, "TABLE|FILE|TIER",
     "savings: the tier or product that the data live in, as `tier` takes it; sql: the table "
     "(inventory), or Parquet or CSV files of duckdb and clickhouse; --columns maps "
     "key=,size=,last_modified=,storage_class=,is_latest=,is_delete_marker= to columns or "
     "expressions (default: those of S3 Inventory with all versions), --access names a table of "
     "key, last_access"},
    {"run", 0, OPT_VALUE, "WHERE",
     "sql: have the engine carry it out and print the rows of `aggregate`. clickhouse: "
     "http://HOST:8123/?database=NAME, with CLICKHOUSE_USER and CLICKHOUSE_PASSWORD from the "
     "environment; duckdb: a database file or :memory:, by the command duckdb; "
     "postgresql: postgresql://HOST/DATABASE, by libpq, which takes PGPASSWORD and ~/.pgpass"},
    {"max-time", 0, OPT_VALUE, "DURATION", "sql --run: give up after so long (2h)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static const char *const columns[] = {"prefix",  "storage_class", "is_latest",
                                      "size_lo", "age_lo_days",   "idle_lo_days",
                                      "objects", "bytes",         "bytes_min128k"};

/* Reads, written so that they are read back as they were; empty when not recorded. */
static void csv_reads(struct csvw *w, double v)
{
    char text[40] = "";
    if (v >= 0) {
        snprintf(text, sizeof text, v < 9e15 && v == (double)(int64_t)v ? "%.0f" : "%.17g", v);
    }
    csvw_text(w, text);
}

static int write_csv(const struct inventory_row *row, size_t n, struct buf *out)
{
    struct csvw w;
    bool reads = false;
    csvw_init(&w, out);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        csvw_text(&w, columns[i]);
    }
    for (size_t i = 0; i < n && !reads; i++) {
        reads = row[i].gets_30d >= 0 || row[i].bytes_read_30d >= 0;
    }
    if (reads) {
        csvw_text(&w, "gets_30d");
        csvw_text(&w, "bytes_read_30d");
    }
    csvw_end_row(&w);
    for (size_t i = 0; i < n; i++) {
        const struct inventory_row *r = &row[i];
        const uint64_t counts[] = {r->objects, r->bytes, r->bytes_min128k};
        csvw_text(&w, r->prefix);
        csvw_text(&w, r->storage_class);
        csvw_text(&w, r->is_latest ? "true" : "false");
        csvw_int(&w, (int64_t)r->size_lo);
        csvw_int(&w, r->age_lo_days);
        csvw_int(&w, r->idle_lo_days);
        for (size_t k = 0; k < 3; k++) {
            char text[24];
            snprintf(text, sizeof text, "%llu", (unsigned long long)counts[k]);
            csvw_text(&w, text);
        }
        if (reads) {
            csv_reads(&w, r->gets_30d);
            csv_reads(&w, r->bytes_read_30d);
        }
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}

static void json_row(struct jsonw *w, const struct inventory_row *r)
{
    jsonw_object(w);
    jsonw_kstring(w, "prefix", r->prefix);
    jsonw_kstring(w, "storage_class", r->storage_class);
    jsonw_kbool(w, "is_latest", r->is_latest);
    jsonw_kint(w, "size_lo", (int64_t)r->size_lo);
    jsonw_kint(w, "age_lo_days", r->age_lo_days);
    jsonw_kint(w, "idle_lo_days", r->idle_lo_days);
    jsonw_key(w, "objects");
    jsonw_uint(w, r->objects);
    jsonw_key(w, "bytes");
    jsonw_uint(w, r->bytes);
    jsonw_key(w, "bytes_min128k");
    jsonw_uint(w, r->bytes_min128k);
    if (r->gets_30d >= 0) {
        jsonw_kdouble(w, "gets_30d", r->gets_30d);
    }
    if (r->bytes_read_30d >= 0) {
        jsonw_kdouble(w, "bytes_read_30d", r->bytes_read_30d);
    }
    jsonw_end_object(w);
}

static int write_json(struct app *app, int depth, const struct inventory *inv,
                      const struct inventory_row *row, size_t n, struct buf *out)
{
    const struct inventory_stats *s = inventory_stats(inv);
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/inventory/1");
    jsonw_ktime(&w, "as_of", app->as_of == GT_TIME_NONE ? app->now : app->as_of);
    jsonw_kint(&w, "depth", depth);
    jsonw_key(&w, "rows");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        json_row(&w, &row[i]);
    }
    jsonw_end_array(&w);
    jsonw_kint(&w, "skipped_delete_markers", (int64_t)s->delete_markers);
    jsonw_kint(&w, "bad_rows", (int64_t)s->bad_rows);
    jsonw_kint(&w, "objects", (int64_t)s->objects);
    jsonw_key(&w, "bytes");
    jsonw_uint(&w, s->bytes);
    jsonw_kint(&w, "skipped_not_files", (int64_t)s->not_files);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int write_table(struct app *app, const struct inventory_row *row, size_t n, struct buf *out)
{
    static const char *const titles[] = {"prefix", "class",    "latest", ">size", ">age",
                                         ">idle",  ">objects", ">bytes", NULL};
    struct text_table t;
    table_init(&t, titles);
    for (size_t i = 0; i < n; i++) {
        const struct inventory_row *r = &row[i];
        char lo[32], bytes[32], text[4][32], from[48];
        snprintf(from, sizeof from, "from %s", size_format(r->size_lo, lo));
        snprintf(text[0], sizeof text[0], "%d d+", r->age_lo_days);
        snprintf(text[1], sizeof text[1], "%d d+", r->idle_lo_days);
        snprintf(text[2], sizeof text[2], "%llu", (unsigned long long)r->objects);
        const char *cells[] = {r->prefix[0] ? r->prefix : "(top level)",
                               r->storage_class[0] ? r->storage_class : NULL,
                               r->is_latest ? "yes" : "old",
                               from,
                               text[0],
                               text[1],
                               text[2],
                               size_format(r->bytes, bytes)};
        table_row(&t, cells);
    }
    return table_write(&t, out, app->plain);
}

static int write_summary(struct app *app, const struct inventory *inv, size_t cells,
                         struct buf *out)
{
    const struct inventory_stats *s = inventory_stats(inv);
    char bytes[32];
    (void)app;
    return buf_addf(out,
                    "%llu objects, %s in %zu cells; left out: %llu delete markers, %llu entries "
                    "that are no files, %llu bad rows\n",
                    (unsigned long long)s->objects, size_format(s->bytes, bytes), cells,
                    (unsigned long long)s->delete_markers, (unsigned long long)s->not_files,
                    (unsigned long long)s->bad_rows);
}

static int save(const char *path, const struct inventory_row *row, size_t n, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, DOCUMENT_MAX);
    int rc = write_csv(row, n, &b);
    rc = rc ? gt_fail(err, rc, path, "the histogram is too large")
            : app_write_file(path, b.data ? b.data : "", b.len, err);
    buf_release(&b);
    return rc;
}

static int show(struct app *app, const struct cli_args *args, const struct inventory *inv,
                const struct inventory_row *row, size_t n, bool summary, struct gt_error *err)
{
    struct buf b;
    int depth = 0;
    buf_init(&b, DOCUMENT_MAX);
    int rc = inventory_depth(args, &depth, err);
    if (rc == 0) {
        rc = app->format == OUT_JSON  ? write_json(app, depth, inv, row, n, &b)
             : app->format == OUT_CSV ? write_csv(row, n, &b)
             : summary                ? write_summary(app, inv, n, &b)
                                      : write_table(app, row, n, &b);
        rc = rc ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
    }
    buf_release(&b);
    return rc;
}

static int max_time(const struct cli_args *args, int64_t *out, struct gt_error *err)
{
    const char *text = cli_value(args, "max-time");
    double s = 0;
    *out = 0;
    if (text && (duration_parse(text, false, &s, NULL) || !(s >= 1 && s <= 1e6))) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--max-time: found '%.40s', expected a duration such as 90s or 2h, from 1s "
                       "to 11d",
                       text);
    }
    *out = (int64_t)s;
    return 0;
}

/* Who asks; a password that anybody on the way could read is worth a word. */
static int credentials(struct app *app, struct inventory_run *how, struct gt_error *err)
{
    static const char *const here[] = {"http://localhost", "http://127.", "http://[::1]"};
    bool near = strncasecmp(how->where, "http://", 7) != 0;
    if (app->offline && strcmp(how->engine, "duckdb") != 0) {
        return gt_fail(err, GT_EUSAGE, "", "--offline is set: no server is asked");
    }
    if (strcmp(how->engine, "clickhouse") != 0) {
        return 0; /* libpq knows where to look */
    }
    how->user = getenv("CLICKHOUSE_USER");
    how->password = getenv("CLICKHOUSE_PASSWORD");
    for (size_t i = 0; i < sizeof here / sizeof *here && !near; i++) {
        near = strncasecmp(how->where, here[i], strlen(here[i])) == 0;
    }
    if (how->password && *how->password && !near) {
        log_line(&app->log, LOG_WARNING, "inventory",
                 "the password goes to the server unencrypted: its address begins with http://");
    }
    return 0;
}

/* Has the engine carry the query out; shows and keeps its answer as that of `aggregate`. */
static int run_sql(struct app *app, const struct cli_args *args, const struct inventory_sql *q,
                   const char *text, struct gt_error *err)
{
    struct inventory_options o = {
        .depth = q->depth, .as_of = q->as_of, .cancel = app->cancel, .max_bad = 0};
    struct inventory_run how = {
        .engine = q->engine, .sql = text, .where = cli_value(args, "run"), .cancel = app->cancel};
    const char *output = cli_value(args, "output");
    const struct inventory_row *row;
    struct inventory *inv = NULL;
    struct inventory_bar bar;
    size_t n;
    int rc = max_time(args, &how.max_time_s, err);
    rc = rc ? rc : credentials(app, &how, err);
    rc = rc ? rc : inventory_new(&o, &inv, err);
    if (rc) {
        return rc;
    }
    inventory_bar_begin(app, &bar);
    how.progress = bar.shown ? inventory_bar_draw : NULL;
    how.progress_ctx = &bar;
    rc = inventory_sql_run(&how, inv, err);
    inventory_bar_end(&bar);
    rc = rc ? rc : inventory_rows(inv, &row, &n, err);
    rc = rc || !output ? rc : save(output, row, n, err);
    rc = rc ? rc : show(app, args, inv, row, n, output, err);
    inventory_free(inv);
    return rc;
}

static int do_sql(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct inventory_sql q = {.engine = cli_value(args, "engine"),
                              .from = cli_value(args, "from"),
                              .columns = cli_value(args, "columns"),
                              .access = cli_value(args, "access"),
                              .as_of = app->as_of == GT_TIME_NONE ? app->now : app->as_of};
    struct buf b;
    if (!q.engine || args->n_positional > 1) {
        return gt_fail(err, GT_EUSAGE, "", "sql takes --engine and --from, no file");
    }
    bool run = cli_value(args, "run") != NULL;
    if (!run && (cli_value(args, "output") || cli_value(args, "max-time"))) {
        return gt_fail(err, GT_EUSAGE, "",
                       "sql: --output and --max-time are for --run; the query itself goes to "
                       "standard output");
    }
    buf_init(&b, 1UL << 20);
    int rc = inventory_depth(args, &q.depth, err);
    rc = rc ? rc : inventory_sql(&q, &b, err);
    rc = rc ? rc : run ? run_sql(app, args, &q, b.data, err) : app_put(&b, err);
    buf_release(&b);
    return rc;
}

/* Lists of leftovers and inventories, told apart by their content. */
static int savings(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct savings_answer a;
    struct buf b;
    buf_init(&b, DOCUMENT_MAX);
    int rc = savings_find(app, args, args->positional + 1, args->n_positional - 1, &a, err);
    if (rc == 0) {
        rc = app->format == OUT_JSON  ? savings_json(&a, &b)
             : app->format == OUT_CSV ? savings_csv(&a, &b)
                                      : savings_text_out(app, &a, &b);
        rc = rc ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
    }
    savings_release(&a);
    buf_release(&b);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const char *what = args->n_positional ? args->positional[0] : "";
    bool import = strcmp(what, "import") == 0, save_money = strcmp(what, "savings") == 0;
    if (strcmp(what, "sql") == 0) {
        return do_sql(app, args, err);
    }
    if (!import && !save_money && strcmp(what, "aggregate") != 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "found '%.40s', expected import, aggregate, savings or sql", what);
    }
    if (args->n_positional < 2) {
        return gt_fail(err, GT_EUSAGE, "", "name the files to read, or - for stdin");
    }
    if (save_money) {
        return savings(app, args, err);
    }
    struct inventory *inv;
    const struct inventory_row *row;
    size_t n;
    int rc =
        inventory_from_args(app, args, args->positional + 1, args->n_positional - 1, &inv, err);
    if (rc) {
        return rc;
    }
    inventory_warn(app, inv);
    rc = inventory_rows(inv, &row, &n, err);
    const char *output = cli_value(args, "output");
    if (rc == 0 && output) {
        rc = save(output, row, n, err);
    }
    rc = rc ? rc : show(app, args, inv, row, n, import || output, err);
    inventory_free(inv);
    return rc;
}

const struct command command_inventory = {
    .name = "inventory",
    .usage = "import|aggregate|savings FILE… | sql --engine ENGINE [--run WHERE]",
    .summary =
        "read inventories of S3, Azure and GCS, listings of rclone, aws s3api and find, and "
        "histograms; aggregate them by prefix, size, age and idle time; savings: what to do before "
        "tiering (old versions, packs), and lists of unattached volumes, orphaned snapshots "
        "and unfinished uploads, priced",
    .options = options,
    .example = "find /data -type f -printf '%s\\t%T@\\t%A@\\t%b\\t%p\\0' | gputier inventory "
               "aggregate - --depth 2",
    .run = run,
};
