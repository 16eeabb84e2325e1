/* Options of `tier` (tier_args.h). */
#include "tier_args.h"
#include "app.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORECAST_MAX  (1UL << 20)
#define FACTOR_MAX    1e6
#define SMALL_FOR_NEW 1782864000 /* 2026-07-01: accounts made from then on (R-AZ-11) */
#define SMALL_FOR_ALL 1814400000 /* 2027-07-01: every account */
#define PERIOD_S      (30 * 86400)

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

/* aws-cn has AWS's tiers; so may any part of a vendor that is told apart by a dash. */
static bool sells(const struct storage_terms *t, const char *vendor)
{
    size_t n = strlen(t->vendor);
    return strncmp(t->vendor, vendor, n) == 0 && (vendor[n] == '\0' || vendor[n] == '-');
}

static int product_of(const char *from, const char *vendor, struct tier_request *r,
                      struct gt_error *err)
{
    const struct storage_rule *rule = storage_rule_find(from);
    int p = rule ? (int)rule->product : storage_product_find(from);
    if (from && p < 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--from: found '%.40s', expected a tier or a product: see `gputier help "
                       "tier`",
                       from);
    }
    for (int i = 0; !from && vendor && p < 0 && i < PRODUCT_COUNT; i++) {
        p = sells(storage_terms((enum storage_product)i), vendor) ? i : p;
    }
    if (p < 0 && vendor) {
        return gt_fail(err, GT_EUNSUPPORTED, "", "vendor '%.40s': no tiers of it are known",
                       vendor);
    }
    r->product = p < 0 ? PRODUCT_S3 : (enum storage_product)p;
    r->o.from_tier = rule ? rule->tier : storage_rule_at(r->product, 0)->tier;
    return 0;
}

static int place_of(const struct cli_args *args, struct tier_request *r, struct gt_error *err)
{
    const char *vendor = cli_value(args, "vendor"), *where = cli_value(args, "region");
    const char *slash = where ? strchr(where, '/') : NULL;
    char name[64] = "";
    if (slash && slash - where < (long)sizeof name) {
        memcpy(name, where, (size_t)(slash - where));
        name[slash - where] = '\0';
        where = slash + 1;
    }
    vendor = vendor ? vendor : name[0] ? name : NULL;
    const char *known = vendor_canonical(vendor);
    int rc = product_of(cli_value(args, "from"), known ? known : vendor, r, err);
    if (rc) {
        return rc;
    }
    const struct storage_terms *t = storage_terms(r->product);
    bool other = vendor && !sells(t, known ? known : vendor);
    if (other) {
        return gt_fail(err, GT_EUSAGE, "", "%s is not sold by '%.40s', but by %s", t->title, vendor,
                       t->vendor);
    }
    r->o.vendor = known && vendor ? known : t->vendor;
    where = where ? where : strcmp(r->o.vendor, "aws-cn") == 0 ? "cn-north-1" : t->region;
    if (strlen(where) >= sizeof r->region) {
        return gt_fail(err, GT_EUSAGE, "", "--region: longer than a region's name");
    }
    memcpy(r->region, where, strlen(where) + 1);
    r->o.region = r->region;
    return 0;
}

/* Lines month,factor with months ascending from 0; a factor holds until the next line's month. */
static int forecast_file(const char *path, double *f, int n, struct gt_error *err)
{
    char *text = NULL, *rest = NULL;
    size_t len;
    int rc = app_read_file(path, FORECAST_MAX, &text, &len, err), line = 0, next = 0;
    if (rc) {
        return rc == GT_ENOTFOUND ? GT_EPARSE : rc;
    }
    double last = 1;
    for (char *p = strtok_r(text, "\r\n", &rest); p && rc == 0; p = strtok_r(NULL, "\r\n", &rest)) {
        char *comma = strchr(p, ',');
        uint64_t month;
        double v;
        if (++line == 1 && strcmp(p, "month,factor") == 0) {
            continue;
        }
        if (comma) {
            *comma = '\0';
        }
        bool ok = comma && count_parse(p, &month, NULL) == 0 && month <= 1200 &&
                  number_parse(comma + 1, &v, NULL) == 0 && v >= 0 && v <= FACTOR_MAX;
        if (!ok || (int)month < next) {
            rc = gt_fail(err, GT_EPARSE, path,
                         "line %d: expected month,factor with months ascending from 0 and a factor "
                         "of 0 to 1000000",
                         line);
            break;
        }
        for (; next < (int)month && next < n; next++) {
            f[next] = last;
        }
        next = (int)month;
        last = v;
    }
    for (; next < n; next++) {
        f[next] = last;
    }
    free(text);
    return rc;
}

/* Factors of each month's reads against those of the first (issue: constant, exponential decay,
 * a hazard of being read for the last time, the user's own). */
static int forecast_of(const struct cli_args *args, struct tier_request *r, struct gt_error *err)
{
    const char *how = cli_value(args, "forecast");
    int n = r->o.horizon_months;
    double base = 1, s = 0;
    struct gt_error e = {0};
    if (!how || strcmp(how, "constant") == 0) {
        return 0;
    }
    r->forecast = calloc((size_t)n, sizeof *r->forecast);
    if (!r->forecast) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    r->o.forecast = r->forecast;
    if (strncmp(how, "half-life:", 10) == 0) {
        if (duration_parse(how + 10, true, &s, &e) || s <= 0) {
            return gt_fail(err, GT_EUSAGE, "", "--forecast half-life: %s",
                           e.text[0] ? e.text : "more than nothing");
        }
        base = exp2(-GT_HOURS_PER_MONTH * 3600.0 / s);
    } else if (strncmp(how, "hazard:", 7) == 0) {
        char number[32];
        size_t len = strcspn(how + 7, "%");
        bool fits = len > 0 && len < sizeof number && strlen(how + 7) <= len + 1;
        memcpy(number, how + 7, fits ? len : 0);
        number[fits ? len : 0] = '\0';
        if (!fits || number_parse(number, &s, NULL) || s < 0 || s > 100) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--forecast: found '%.40s', expected hazard:0%% to hazard:100%%", how);
        }
        base = 1 - s / 100;
    } else {
        int rc = forecast_file(how, r->forecast, n, err);
        if (rc) {
            return rc;
        }
        bool changes = false;
        for (int t = 0; t < n; t++) {
            changes = changes || r->forecast[t] != 1;
        }
        r->o.forecast = changes ? r->forecast : NULL; /* one sum, not one a month, to be rounded */
        return 0;
    }
    for (int t = 0; t < n; t++) {
        r->forecast[t] = t == 0 ? 1 : r->forecast[t - 1] * base;
    }
    return 0;
}

/* Month from which Azure's least size holds for this account. */
static int small_objects(const struct app *app, const struct cli_args *args, struct tier_request *r,
                         struct gt_error *err)
{
    const char *text = cli_value(args, "account-created");
    int64_t when = 0;
    struct gt_error e = {0};
    if (text && time_parse(text, app->local_offset_s, &when, &e)) {
        return gt_fail(err, GT_EUSAGE, "", "--account-created: %s", e.text);
    }
    int64_t wait = when >= SMALL_FOR_NEW ? 0 : SMALL_FOR_ALL - app->now;
    int64_t months = wait > 0 ? (wait + PERIOD_S - 1) / PERIOD_S : 0;
    r->o.min_size_from = months > 1200 ? 0 : (int)months + 1;
    return 0;
}

int tier_request_read(const struct app *app, const struct cli_args *args, struct tier_request *r,
                      struct gt_error *err)
{
    const char *rules = cli_value(args, "rules");
    uint64_t n = 10;
    *r = (struct tier_request){
        .o = {.max_wait_s = (double)INFINITY, .search_policy = true, .find_savings = true}};
    if (rules && (count_parse(rules, &n, NULL) || n < 1 || n > 1000)) {
        return gt_fail(err, GT_EUSAGE, "", "--rules: found '%.40s', expected 1 to 1000", rules);
    }
    r->o.max_rules = (int)n;
    int rc = horizon_of(args, &r->o.horizon_months, err);
    rc = rc ? rc : tier_bounds_read(args, r, err);
    rc = rc ? rc : place_of(args, r, err);
    rc = rc ? rc : small_objects(app, args, r, err);
    return rc ? rc : forecast_of(args, r, err);
}

void tier_request_release(struct tier_request *r)
{
    free(r->forecast);
    r->forecast = NULL;
    r->o.forecast = NULL;
}
