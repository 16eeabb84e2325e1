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

/* {"schema":"gputier/db/1","action":…, number members} or one line of text. */
static int answer(struct app *app, const char *action, const char *text, const char *key,
                  int64_t value, struct gt_error *err)
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

static int check(struct app *app, struct store *s, struct gt_error *err)
{
    struct buf report;
    struct gt_error put = {0};
    buf_init(&report, REPORT_MAX);
    int rc = store_check(s, &report, err);
    int shown = answer(app, "check", report.data ? report.data : "", "ok", rc == 0, &put);
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
    return rc ? rc : answer(app, "backup", text, "version", store_version(s), err);
}

static int prune(struct app *app, const struct cli_args *args, struct store *s,
                 struct gt_error *err)
{
    const char *v = cli_value(args, "older-than");
    double seconds = PRUNE_MONTHS * (double)GT_HOURS_PER_MONTH * 3600;
    char text[200], date[16];
    uint64_t removed = 0;
    if (v && (duration_parse(v, false, &seconds, err) != 0 || seconds < 0)) {
        return gt_fail(err, GT_EUSAGE, "--older-than",
                       "found '%.40s', expected a duration such as 24mo", v);
    }
    int64_t before = app->now - (int64_t)seconds;
    int rc = store_prune(s, before, &removed, err);
    snprintf(text, sizeof text, "removed %llu rows replaced before %s; cited rows are kept\n",
             (unsigned long long)removed, date_format(before, date));
    return rc ? rc : answer(app, "prune", text, "removed", (int64_t)removed, err);
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
    return answer(app, "migrate", text, "version", store_version(s), err);
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
