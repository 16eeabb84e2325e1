/* report [PLAN]: the recommendation for people, as Markdown, HTML, CSV or JSON. */
#include "../report/doc.h"
#include "cli.h"
#include "plan_json.h"
#include <string.h>

#define REPORT_MAX (64U << 20)

static const struct cli_option options[] = {
    {"format", 0, OPT_VALUE, "html|md|csv|json",
     "kind of document; default by the file's ending, else md"},
    {"output", 'o', OPT_VALUE, "FILE", "where to write it; - or nothing: standard output"},
    {"audit", 0, OPT_FLAG, NULL, "add each line's formula, quantity, rate, SKU and fetch date"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static const char *choose_format(const struct cli_args *args, const char *path)
{
    const char *given = cli_value(args, "format");
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (given) {
        return given;
    }
    return dot ? dot + 1 : "md";
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    static const char *const known[] = {"html", "md", "csv", "json"};
    const char *path = cli_value(args, "output");
    const char *format = choose_format(args, path);
    bool ok = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ok = ok || strcmp(known[i], format) == 0;
    }
    if (!ok) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--format: found '%.20s', expected html, md, csv or json", format);
    }
    if (args->n_positional > 1) {
        return gt_fail(err, GT_EUSAGE, "", "one plan at most, found '%.40s' too",
                       args->positional[1]);
    }
    struct plan_ref ref = {0};
    struct buf out;
    int rc = app_plan(app, args->n_positional ? args->positional[0] : NULL, &ref, err);
    if (rc) {
        return rc;
    }
    if (strcmp(format, "json") == 0) {
        rc = app_write_file(path ? path : "-", ref.json, strlen(ref.json), err);
    } else {
        struct report_input in = {ref.set, ref.scenario, ref.index, cli_flag(args, "audit")};
        buf_init(&out, REPORT_MAX);
        rc = report_document(&in, format, &out, err);
        rc = rc ? rc : app_write_file(path ? path : "-", out.data, out.len, err);
        buf_release(&out);
    }
    if (!rc && app->strict && ref.set->plan[ref.index].at_least) {
        rc = gt_fail(err, GT_EINFEASIBLE, "",
                     "the plan's total is at least what is shown (--strict)");
    }
    plan_ref_release(&ref);
    return rc;
}

const struct command command_report = {
    .name = "report",
    .usage = "[PLAN] [--format html|md|csv|json] [-o FILE] [--audit]",
    .summary = "writes the recommendation for people: charts, tables, assumptions, price sources",
    .options = options,
    .example = "gputier report demo --format html -o report.html --audit",
    .run = run,
};
