/* tier: on which tier every group of objects should live, month by month, what that saves, and the
 * best plain lifecycle policy (planner/storage; product.md sections 2 and 10). */
#include "gputier/units.h"
#include "inventory_args.h"
#include "tier_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX (1UL << 30)

static const struct cli_option options[] = {
    {"horizon", 0, OPT_VALUE, "DURATION", "how long the data are kept, in months or longer (36mo)"},
    {"vendor", 0, OPT_VALUE, "VENDOR", "whose tiers: aws or aws-cn (aws)"},
    {"region", 0, OPT_VALUE, "REGION", "where, e.g. us-east-1 or aws/us-east-1 (us-east-1)"},
    {"from", 0, OPT_VALUE, "TIER",
     "where the data live when the input does not say: a tier, or s3, efs, ebs (s3_standard)"},
    {"max-wait", 0, OPT_VALUE, "DURATION", "longest acceptable wait for the first byte (any)"},
    {"rules", 0, OPT_VALUE, "N", "most rules of the lifecycle policy (10)"},
    {"lifecycle", 0, OPT_VALUE, "FILE", "write the policy as S3 (or EFS) lifecycle JSON"},
    INVENTORY_CLI_OPTIONS,
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static int horizon_of(const struct cli_args *args, int *months, struct gt_error *err)
{
    const char *text = cli_value(args, "horizon");
    double s = 36.0 * GT_HOURS_PER_MONTH * 3600;
    struct gt_error e = {0};
    if (text && duration_parse(text, true, &s, &e)) {
        return gt_fail(err, GT_EUSAGE, "", "--horizon: %s", e.text);
    }
    double m = floor(s / (GT_HOURS_PER_MONTH * 3600.0) + 0.5);
    if (m < 1 || m > 1200) {
        return gt_fail(err, GT_EUSAGE, "", "--horizon: found '%.40s', expected 1mo to 100y", text);
    }
    *months = (int)m;
    return 0;
}

static int from_of(const struct cli_args *args, const char **tier, struct gt_error *err)
{
    const char *text = cli_value(args, "from");
    const struct storage_rule *r = storage_rule_find(text ? text : "s3_standard");
    static const char *const products[] = {"s3", "efs", "ebs"};
    for (int i = 0; text && i < PRODUCT_COUNT; i++) {
        if (strcmp(text, products[i]) == 0) {
            r = storage_rule_at((enum storage_product)i, 0);
        }
    }
    if (!r) {
        return gt_fail(err, GT_EUSAGE, "", "--from: found '%.40s', expected an S3, EFS or EBS tier",
                       text);
    }
    *tier = r->tier;
    return 0;
}

static int place_of(const struct cli_args *args, struct tier_options *o, char region[128],
                    struct gt_error *err)
{
    const char *vendor = cli_value(args, "vendor"), *where = cli_value(args, "region");
    const char *slash = where ? strchr(where, '/') : NULL;
    char name[64] = "aws";
    if (slash && slash - where < (long)sizeof name) {
        memcpy(name, where, (size_t)(slash - where));
        name[slash - where] = '\0';
        where = slash + 1;
    }
    o->vendor = vendor_canonical(vendor ? vendor : name);
    if (!o->vendor || strncmp(o->vendor, "aws", 3) != 0) {
        return gt_fail(err, GT_EUNSUPPORTED, "",
                       "vendor '%.40s': the rules of aws and aws-cn tiers are known so far",
                       vendor ? vendor : name);
    }
    where = where ? where : strcmp(o->vendor, "aws") == 0 ? "us-east-1" : "cn-north-1";
    if (strlen(where) >= 128) {
        return gt_fail(err, GT_EUSAGE, "", "--region: longer than a region's name");
    }
    memcpy(region, where, strlen(where) + 1);
    o->region = region;
    return 0;
}

static int read_options(const struct cli_args *args, struct tier_options *o, char region[128],
                        struct gt_error *err)
{
    const char *wait = cli_value(args, "max-wait"), *rules = cli_value(args, "rules");
    uint64_t n = 10;
    struct gt_error e = {0};
    *o = (struct tier_options){.max_wait_s = (double)INFINITY, .search_policy = true};
    if (wait && duration_parse(wait, false, &o->max_wait_s, &e)) {
        return gt_fail(err, GT_EUSAGE, "", "--max-wait: %s", e.text);
    }
    if (rules && (count_parse(rules, &n, NULL) || n < 1 || n > 1000)) {
        return gt_fail(err, GT_EUSAGE, "", "--rules: found '%.40s', expected 1 to 1000", rules);
    }
    o->max_rules = (int)n;
    int rc = horizon_of(args, &o->horizon_months, err);
    rc = rc ? rc : from_of(args, &o->from_tier, err);
    return rc ? rc : place_of(args, o, region, err);
}

static int show(struct app *app, const struct tier_answer *a, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, DOCUMENT_MAX);
    int rc = app->format == OUT_JSON  ? tier_json(app, a, &b)
             : app->format == OUT_CSV ? tier_csv(a, &b)
                                      : tier_text(app, a, &b);
    rc = rc ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int answer(struct app *app, const struct cli_args *args, const struct tier_options *o,
                  struct tier_answer *a, struct gt_error *err)
{
    int rc = tier_answer_make(o, a, err);
    rc = rc ? rc : show(app, a, err);
    const char *file = cli_value(args, "lifecycle");
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
    struct tier_options o;
    struct tier_input in;
    char region[128];
    if (args->n_positional != 1) {
        return gt_fail(err, GT_EUSAGE, "",
                       "expected one INPUT: a listing, an inventory, a "
                       "histogram or a scenario.yaml");
    }
    int rc = read_options(args, &o, region, err);
    rc = rc ? rc : tier_input_read(app, args, args->positional[0], &in, err);
    if (rc) {
        return rc;
    }
    struct tier_answer a = {.in = &in};
    rc = app_catalog(app, &a.catalog, err);
    rc = rc ? rc : answer(app, args, &o, &a, err);
    tier_answer_release(&a);
    tier_input_release(&in);
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
