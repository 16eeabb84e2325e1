/* db check|backup|migrate|prune: the database's care. */
#include "cli.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include <stdio.h>
#include <string.h>

#define REPORT_MAX   (4 << 20)
#define PRUNE_MONTHS 24

static const struct cli_option options[] = {
    {"older-than", 0, OPT_VALUE, "DURATION", "prune: prices replaced longer ago than this (24mo)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

/* {"schema":"gputier/db/1","action":…, number members} or lines of text. size NULL: not asked. */
static int answer(struct app *app, const char *action, const char *text, const char *key,
                  int64_t value, const struct store_size *size, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, REPORT_MAX);
    if (app->format == OUT_JSON) {
        struct jsonw w;
        jsonw_init(&w, &b, true);
        jsonw_object(&w);
        jsonw_kstring(&w, "schema", "gputier/db/1");
        jsonw_kstring(&w, "action", action);
        jsonw_kstring(&w, "database", app->db_path);
        jsonw_kint(&w, key, value);
        if (size) {
            jsonw_kint(&w, "bytes", (int64_t)size->bytes);
            jsonw_kint(&w, "rows_in_force", (int64_t)size->in_force);
            jsonw_kint(&w, "rows_replaced", (int64_t)size->replaced);
        }
        jsonw_kstring(&w, "text", text);
        jsonw_end_object(&w);
        jsonw_finish(&w);
    } else {
        buf_adds(&b, text);
    }
    int rc = b.failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

/* Replaced rows are history: kept until told otherwise, which one has to know. */
static int describe(const struct store_size *z, struct buf *b)
{
    char bytes[32];
    (void)buf_addf(b, "sound: %s, %llu rows in force, %llu replaced by later ones",
                   size_format(z->bytes, bytes), (unsigned long long)z->in_force,
                   (unsigned long long)z->replaced);
    if (z->most > 0 && z->most < z->replaced) {
        (void)buf_addf(b, " (%llu of %s)", (unsigned long long)z->most, z->most_source);
    } else if (z->most > 0) {
        (void)buf_addf(b, " (all of %s)", z->most_source);
    }
    return buf_adds(b,
                    z->replaced > z->in_force
                        ? "; gputier db prune --older-than 30d forgets what was replaced before\n"
                        : "\n");
}

static int check(struct app *app, struct store *s, struct gt_error *err)
{
    struct buf report;
    struct gt_error put = {0};
    struct store_size size;
    buf_init(&report, REPORT_MAX);
    int rc = store_check(s, &report, err);
    bool sound = rc == 0;
    rc = rc ? rc : store_size(s, &size, err);
    if (rc == 0 && describe(&size, &report) != 0) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int shown = answer(app, "check", report.data ? report.data : "", "ok", sound,
                       rc == 0 ? &size : NULL, &put);
    buf_release(&report);
    if (rc == 0 && shown != 0) {
        *err = put;
    }
    return rc ? rc : shown;
}

static int backup(struct app *app, struct store *s, const char *to, struct gt_error *err)
{
    char text[600];
    int rc = store_backup(s, to, err);
    snprintf(text, sizeof text, "backed up to %.500s\n", to);
    return rc ? rc : answer(app, "backup", text, "version", store_version(s), NULL, err);
}

static int prune(struct app *app, const struct cli_args *args, struct store *s,
                 struct gt_error *err)
{
    const char *v = cli_value(args, "older-than");
    double seconds = PRUNE_MONTHS * (double)GT_HOURS_PER_MONTH * 3600;
    char text[240], date[16], from[32], to[32];
    uint64_t removed = 0;
    struct store_size was = {0}, is = {0};
    if (v && (duration_parse(v, false, &seconds, err) != 0 || seconds < 0)) {
        return gt_fail(err, GT_EUSAGE, "--older-than",
                       "found '%.40s', expected a duration such as 24mo", v);
    }
    int64_t before = app->now - (int64_t)seconds;
    int rc = store_size(s, &was, err);
    rc = rc ? rc : store_prune(s, before, &removed, err);
    rc = rc ? rc : store_size(s, &is, err);
    snprintf(text, sizeof text,
             "removed %llu rows replaced before %s; cited rows are kept; %s before, %s now\n",
             (unsigned long long)removed, date_format(before, date), size_format(was.bytes, from),
             size_format(is.bytes, to));
    return rc ? rc : answer(app, "prune", text, "removed", (int64_t)removed, &is, err);
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const char *what = args->n_positional > 0 ? args->positional[0] : "";
    bool is_backup = strcmp(what, "backup") == 0;
    struct store *s = NULL;
    char text[80];
    if (strcmp(what, "check") != 0 && !is_backup && strcmp(what, "migrate") != 0 &&
        strcmp(what, "prune") != 0) {
        return gt_fail(err, GT_EUSAGE, "db",
                       "found '%.40s', expected check, backup, migrate or prune", what);
    }
    if (args->n_positional != (is_backup ? 2U : 1U)) {
        return gt_fail(err, GT_EUSAGE, "db", "%s takes %s", what,
                       is_backup ? "one FILE" : "no argument");
    }
    int rc = app_store(app, &s, err); /* opening migrates */
    if (rc != 0) {
        return rc;
    }
    if (is_backup) {
        return backup(app, s, args->positional[1], err);
    }
    if (strcmp(what, "check") == 0) {
        return check(app, s, err);
    }
    if (strcmp(what, "prune") == 0) {
        return prune(app, args, s, err);
    }
    snprintf(text, sizeof text, "the database has version %d\n", store_version(s));
    return answer(app, "migrate", text, "version", store_version(s), NULL, err);
}

const struct command command_db = {
    .name = "db",
    .usage = "check|backup FILE|migrate|prune",
    .summary = "checks, copies, updates or trims the database",
    .options = options,
    .example = "gputier db backup prices.db",
    .run = run,
    .no_csv = true,
};
