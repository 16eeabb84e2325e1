/* Options of `tier` that bound a plan: waits, speeds, budgets, capacities, more reads
 * (tier_args.h). */
#include "gputier/units.h"
#include "tier_args.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FACTOR_MAX  1e6
#define PERCENT_MAX 1e6

static int waits(const struct cli_args *args, struct tier_request *r, struct gt_error *err)
{
    const char *text;
    for (size_t i = 0; (text = cli_list(args, "max-wait", i)) != NULL; i++) {
        const char *at = strchr(text, '@');
        size_t n = at ? (size_t)(at - text) : strlen(text);
        char duration[64] = "";
        struct gt_error e = {0};
        double s = 0;
        if (n < sizeof duration) {
            memcpy(duration, text, n);
        }
        if (n >= sizeof duration || duration_parse(duration, false, &s, &e)) {
            return gt_fail(err, GT_EUSAGE, "", "--max-wait: %s",
                           e.text[0] ? e.text : "expected DURATION or DURATION@PREFIX");
        }
        if (!at) {
            r->o.max_wait_s = s;
        } else if (r->o.n_needs == TIER_BOUNDS) {
            return gt_fail(err, GT_EUSAGE, "", "--max-wait: more than %d prefixes", TIER_BOUNDS);
        } else {
            r->need[r->o.n_needs++] = (struct tier_need){.prefix = at + 1, .max_wait_s = s};
        }
    }
    r->o.need = r->need;
    return 0;
}

/* 500MB/s, 2GiB/s@train/. */
static int speeds(const struct cli_args *args, struct tier_request *r, struct gt_error *err)
{
    const char *text;
    for (size_t i = 0; (text = cli_list(args, "throughput", i)) != NULL; i++) {
        const char *at = strchr(text, '@');
        size_t n = at ? (size_t)(at - text) : strlen(text);
        char size[64] = "";
        uint64_t bytes = 0;
        if (n > 2 && n < sizeof size && memcmp(text + n - 2, "/s", 2) == 0) {
            memcpy(size, text, n - 2);
        }
        if (!size[0] || size_parse(size, &bytes, NULL) || bytes == 0) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--throughput: found '%.40s', expected a size a second such as 500MB/s "
                           "or 2GiB/s@PREFIX",
                           text);
        }
        if (r->o.n_needs == TIER_BOUNDS) {
            return gt_fail(err, GT_EUSAGE, "", "--throughput, --max-wait: more than %d prefixes",
                           TIER_BOUNDS);
        }
        r->need[r->o.n_needs++] = (struct tier_need){
            .prefix = at ? at + 1 : "", .max_wait_s = (double)INFINITY, .min_bps = (double)bytes};
    }
    return 0;
}

/* 500, 500USD, "500 USD", each with /mo or without. */
static int budget(const char *text, struct tier_request *r, struct gt_error *err)
{
    const char *end = text + strlen(text), *slash = strstr(text, "/mo");
    bool monthly = slash && slash + 3 == end;
    end = monthly ? slash : end;
    const char *letters = end;
    while (letters > text && letters[-1] >= 'A' && letters[-1] <= 'Z') {
        letters--;
    }
    const char *number = letters;
    while (number > text && number[-1] == ' ') {
        number--;
    }
    money m;
    bool coded = end - letters == 3;
    if ((letters != end && !coded) || number == text ||
        money_parse(text, (size_t)(number - text), &m, NULL) || m <= 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--budget: found '%.40s', expected an amount such as 5000USD or 500USD/mo",
                       text);
    }
    if (coded && r->currency[0] && memcmp(r->currency, letters, 3) != 0) {
        return gt_fail(err, GT_EUSAGE, "", "--budget: two currencies, %s and %.3s", r->currency,
                       letters);
    }
    if (coded) {
        memcpy(r->currency, letters, 3);
        r->limits.currency = r->currency;
    }
    *(monthly ? &r->limits.month : &r->limits.total) = m;
    *(monthly ? &r->limits.has_month : &r->limits.has_total) = true;
    r->o.limits = &r->limits;
    return 0;
}

static int capacity(const char *text, struct tier_request *r, struct gt_error *err)
{
    const char *is = strchr(text, '=');
    char name[64] = "";
    struct gt_error e = {0};
    uint64_t bytes = 0;
    if (is && (size_t)(is - text) < sizeof name) {
        memcpy(name, text, (size_t)(is - text));
    }
    const struct storage_rule *rule = storage_rule_find(name);
    if (!is || !rule) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--capacity: found '%.40s', expected TIER=SIZE, e.g. s3_standard=10TiB",
                       text);
    }
    if (size_parse(is + 1, &bytes, &e)) {
        return gt_fail(err, GT_EUSAGE, "", "--capacity: %s", e.text);
    }
    if (r->limits.n_capacities == TIER_BOUNDS) {
        return gt_fail(err, GT_EUSAGE, "", "--capacity: more than %d", TIER_BOUNDS);
    }
    r->capacity[r->limits.n_capacities++] = (struct tier_capacity){rule->tier, bytes};
    r->limits.capacity = r->capacity;
    r->o.limits = &r->limits;
    return 0;
}

static int robust(const char *text, struct tier_request *r, struct gt_error *err)
{
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text), k = colon ? strlen(colon + 1) : 0;
    char factor[32] = "", percent[32] = "10";
    double f, p;
    bool ok = n < sizeof factor && k < sizeof percent && (!colon || (k > 1 && colon[k] == '%'));
    if (ok) {
        memcpy(factor, text, n);
        if (colon) {
            memcpy(percent, colon + 1, k);
            percent[k - 1] = '\0';
        }
    }
    if (!ok || number_parse(factor, &f, NULL) || number_parse(percent, &p, NULL) || f <= 0 ||
        f > FACTOR_MAX || p < 0 || p > PERCENT_MAX) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--robust: found '%.40s', expected a factor of reads and, if not 10%%, how "
                       "much dearer: 10 or 10:5%%",
                       text);
    }
    r->limits.reads = f;
    r->limits.within = p / 100;
    r->o.limits = &r->limits;
    return 0;
}

int tier_bounds_read(const struct cli_args *args, struct tier_request *r, struct gt_error *err)
{
    const char *text;
    int rc = waits(args, r, err);
    rc = rc ? rc : speeds(args, r, err);
    for (size_t i = 0; rc == 0 && (text = cli_list(args, "budget", i)) != NULL; i++) {
        rc = budget(text, r, err);
    }
    for (size_t i = 0; rc == 0 && (text = cli_list(args, "capacity", i)) != NULL; i++) {
        rc = capacity(text, r, err);
    }
    text = cli_value(args, "robust");
    return rc == 0 && text ? robust(text, r, err) : rc;
}
