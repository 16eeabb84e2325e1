/* tier: on which tier every group of objects should live, month by month, what that saves, and the
 * best plain lifecycle policy (planner/storage; product.md sections 2 and 10). */
#include "gputier/units.h"
#include "inventory_args.h"
#include "tier_args.h"
#include "tier_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX (1UL << 30)

static const struct cli_option options[] = {
    TIER_CLI_OPTIONS,
    {"lifecycle", 0, OPT_VALUE, "FILE",
     "write the policy as the lifecycle file of S3, EFS, Cloud Storage or Azure"},
    {"over-time", 0, OPT_FLAG, NULL,
     "what lies where and what it costs month by month: bars, or with --format csv a row for every "
     "month and tier"},
    {"report", 0, OPT_VALUE, "FILE",
     "write the answer for people too, .html or .md: first steps, charts and tables over time"},
    INVENTORY_CLI_OPTIONS,
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static int show(struct app *app, const struct tier_answer *a, bool over_time, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, DOCUMENT_MAX);
    int rc = app->format == OUT_JSON  ? tier_json(app, a, &b)
             : app->format != OUT_CSV ? tier_text(app, a, &b)
             : over_time              ? tier_csv_over_time(a, &b)
                                      : tier_csv(a, &b);
    rc = rc || !over_time || app->format != OUT_TABLE ? rc : tier_text_over_time(app, a, &b);
    rc = rc ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int write_report(const struct app *app, const struct tier_answer *a, const char *input,
                        const char *file, struct gt_error *err)
{
    const char *slash = strrchr(input, '/');
    bool html;
    struct buf b;
    buf_init(&b, DOCUMENT_MAX);
    (void)tier_report_kind(file, &html);
    int rc = tier_report(a, slash ? slash + 1 : input, app->now, html, &b, err);
    rc = rc ? rc : app_write_file(file, b.data, b.len, err);
    buf_release(&b);
    return rc;
}

static int answer(struct app *app, const struct cli_args *args, const struct tier_options *o,
                  struct tier_answer *a, struct gt_error *err)
{
    int rc = tier_answer_make(o, a, err);
    rc = rc ? rc : show(app, a, cli_flag(args, "over-time"), err);
    const char *file = cli_value(args, "report");
    rc = rc || !file ? rc : write_report(app, a, args->positional[0], file, err);
    file = cli_value(args, "lifecycle");
    if (rc == 0 && file) {
        rc = tier_answer_lifecycle(a, file, err);
        rc = rc == GT_EUNSUPPORTED ? GT_EINFEASIBLE : rc; /* nothing to write: exit 3 */
    }
    if (rc == 0 && a->at_least && app->strict) {
        rc =
            gt_fail(err, GT_EINFEASIBLE, "", "the total is \"at least\": a price is not published");
    }
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct tier_request ask;
    struct tier_input in;
    bool html;
    const char *report = cli_value(args, "report");
    if (report && !tier_report_kind(report, &html)) { /* before an hour of reading */
        return gt_fail(err, GT_EUSAGE, "",
                       "--report: found '%.80s', expected a name that ends in .html or .md",
                       report);
    }
    if (args->n_positional != 1) {
        return gt_fail(err, GT_EUSAGE, "",
                       "expected one INPUT: a listing, an inventory, a "
                       "histogram or a scenario.yaml");
    }
    int rc = tier_request_read(app, args, &ask, err);
    rc = rc ? rc : tier_input_read(app, args, ask.product, args->positional[0], &in, err);
    if (rc) { /* neither keeps anything then but the forecast */
        tier_request_release(&ask);
        return rc;
    }
    struct tier_answer a = {.in = &in};
    ask.o.over_time = cli_flag(args, "over-time") || report || app->format == OUT_JSON;
    rc = app_catalog(app, &a.catalog, err);
    rc = rc ? rc : answer(app, args, &ask.o, &a, err);
    tier_answer_release(&a);
    tier_input_release(&in);
    tier_request_release(&ask);
    return rc;
}

const struct command command_tier = {
    .name = "tier",
    .usage = "INPUT",
    .summary = "cheapest storage tier of every group of objects over time, and the best lifecycle "
               "policy",
    .options = options,
    .example = "gputier tier listing.txt --horizon 36mo --max-wait 12h",
    .run = run,
};
