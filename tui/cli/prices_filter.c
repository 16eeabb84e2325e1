/* The filters and order that `prices` takes from the command line. */
#include "prices_filter.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sort_names[] = {"price", "vendor",  "region", "zone", "instance", "gpu",
                                         "gpus",  "gpu-mem", "vcpus",  "mem",  "purchase", "as-of"};

static int bad(struct gt_error *err, const char *option, const char *found, const char *allowed)
{
    return gt_fail(err, GT_EUSAGE, option, "found '%.60s', expected %s", found, allowed);
}

/* One end of a range: a count, or a size whose plain number is GiB. */
static bool one_value(const char *text, bool size, double *v)
{
    uint64_t bytes;
    char *slash = strchr(text, '/');
    if (slash && !size) {
        double a, b;
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
        if (number_parse(first, &a, NULL) != 0 || number_parse(slash + 1, &b, NULL) != 0 ||
            a <= 0 || b <= 0) {
            return false;
        }
        *v = a / b;
        return true;
    }
    if (number_parse(text, v, NULL) == 0) {
        return *v >= 0;
    }
    if (size && size_parse(text, &bytes, NULL) == 0) {
        *v = (double)bytes / (double)GT_GIB;
        return true;
    }
    return false;
}

static int take_range(const struct cli_args *a, const char *option, bool size, bool exact,
                      struct range *r, struct gt_error *err)
{
    const char *v = cli_value(a, option);
    if (!v) {
        return 0;
    }
    char text[64], name[32];
    snprintf(text, sizeof text, "%s", v);
    snprintf(name, sizeof name, "--%s", option);
    char *dots = strstr(text, ".."), *dash = dots ? dots : strchr(text, '-');
    const char *high = dots ? dots + 2 : dash ? dash + 1 : NULL;
    if (dash) {
        *dash = '\0';
    }
    r->set = one_value(text, size, &r->lo);
    r->hi = exact && !high ? r->lo : (double)INFINITY;
    if (high && *high != '\0') { /* "4-" has no upper end */
        r->set = r->set && one_value(high, size, &r->hi) && r->hi >= r->lo;
    }
    return r->set
               ? 0
               : bad(err, name, v, size ? "a size such as 80GB, or 40-80" : "N, MIN- or MIN-MAX");
}

static int take_purchases(const struct cli_args *a, struct price_filter *f, struct gt_error *err)
{
    const char *v;
    for (size_t i = 0; (v = cli_list(a, "purchase", i)) != NULL; i++) {
        const char *p = v;
        do {
            char name[40];
            size_t n = strcspn(p, ",");
            enum purchase kind;
            snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), p);
            if (purchase_from_name(name, &kind) != 0) {
                return bad(err, "--purchase", name,
                           "on_demand, spot, low_priority, monthly, reserved_1y, reserved_3y, "
                           "savings_plan_1y, savings_plan_3y, committed_use_1y, committed_use_3y, "
                           "capacity_block or dev_test");
            }
            f->purchases |= 1u << kind;
            p += n;
        } while (*p++ == ',');
    }
    return 0;
}

static int take_sort(const struct cli_args *a, struct price_filter *f, struct gt_error *err)
{
    const char *p = cli_value(a, "sort");
    p = p ? p : "price";
    do {
        size_t n, k, count = sizeof sort_names / sizeof *sort_names;
        bool down = *p == '-';
        p += down;
        n = strcspn(p, ",");
        for (k = 0; k < count; k++) {
            if (strlen(sort_names[k]) == n && strncmp(sort_names[k], p, n) == 0) {
                break;
            }
        }
        if (k == count || f->n_keys == SORT_KEYS) {
            return bad(err, "--sort", p,
                       "price, vendor, region, zone, instance, gpu, gpus, gpu-mem, vcpus, mem, "
                       "purchase or as-of");
        }
        f->key[f->n_keys].by = (enum sort_by)k;
        f->key[f->n_keys++].down = down;
        p += n;
    } while (*p++ == ',');
    return 0;
}

static int take_price(struct app *app, const struct catalog *c, const struct cli_args *a,
                      struct price_filter *f, struct gt_error *err)
{
    const char *v = cli_value(a, "max-price");
    money m, usd;
    f->max_price = (double)NAN;
    if (!v) {
        return 0;
    }
    size_t n = strcspn(v, " ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *unit = v + n + strspn(v + n, " ");
    const char *currency = *unit ? unit : app->currency ? app->currency : "USD";
    if (money_parse(v, n, &m, NULL) != 0 || m < 0) {
        return bad(err, "--max-price", v, "an amount such as 2.50 or 2.50EUR");
    }
    if (catalog_to_usd(c, currency, m, &usd) != 0) {
        return bad(err, "--max-price", currency, "a currency with a known exchange rate");
    }
    f->max_price = money_to_double(usd);
    return 0;
}

/* "720h": a month of another length, up to a leap year. */
static bool take_month(const char *text, unsigned *hours)
{
    char number[16];
    size_t n = strspn(text, "0123456789");
    uint64_t v = 0;
    if (n == 0 || n >= sizeof number || strcmp(text + n, "h") != 0) {
        return false;
    }
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    if (count_parse(number, &v, NULL) != 0 || v < 1 || v > 8784) {
        return false;
    }
    *hours = (unsigned)v;
    return true;
}

int price_filter_take(struct app *app, const struct catalog *c, const struct cli_args *a,
                      struct price_filter *f, struct gt_error *err)
{
    const char *per = cli_value(a, "per"), *limit = cli_value(a, "limit"), *v;
    uint64_t n = 0;
    *f = (struct price_filter){.args = a, .limit = SIZE_MAX};
    int rc = take_range(a, "gpus", false, true, &f->gpus, err);
    rc = rc ? rc : take_range(a, "gpu-mem", true, false, &f->gpu_mem, err);
    rc = rc ? rc : take_range(a, "vcpus", false, false, &f->vcpus, err);
    rc = rc ? rc : take_range(a, "mem", true, false, &f->mem, err);
    rc = rc ? rc : take_purchases(a, f, err);
    rc = rc ? rc : take_sort(a, f, err);
    rc = rc ? rc : take_price(app, c, a, f, err);
    f->month_h = GT_HOURS_PER_MONTH;
    if (rc == 0 && per) {
        f->per = strcmp(per, "gpu-hour") == 0                                ? PER_GPU_HOUR
                 : strcmp(per, "month") == 0 || take_month(per, &f->month_h) ? PER_MONTH
                                                                             : PER_HOUR;
        if (f->per == PER_HOUR && strcmp(per, "hour") != 0) {
            return bad(err, "--per", per,
                       "hour, gpu-hour, month (730 hours), or hours such as 720h");
        }
    }
    if (rc == 0 && limit) {
        if (count_parse(limit, &n, NULL) != 0) {
            return bad(err, "--limit", limit, "a number of rows");
        }
        f->limit = n;
    }
    for (size_t i = 0; rc == 0 && (v = cli_list(a, "vendor", i)) != NULL; i++) {
        if (!vendor_canonical(v)) {
            return bad(err, "--vendor", v, "a vendor such as aws, azure, gcp or lambda");
        }
    }
    return rc;
}

double price_filter_gpus(const struct catalog_offers *o, size_t i)
{
    if (o->gpu_num[i] == 0 && o->gpu[i] != 0) {
        return NAN;
    }
    return (double)o->gpu_num[i] / (double)(o->gpu_den[i] ? o->gpu_den[i] : 1);
}

/* USD per unit of --per; NAN when unknown. */
double price_filter_price(const struct catalog *c, const struct price_filter *f, size_t i)
{
    const struct catalog_offers *o = &c->offers;
    double usd = o->price_state[i] == PRICE_KNOWN ? o->usd_per_hour[i] : (double)NAN;
    return f->per == PER_MONTH      ? usd * f->month_h
           : f->per == PER_GPU_HOUR ? usd / price_filter_gpus(o, i)
                                    : usd;
}

static bool in_range(const struct range *r, double v)
{
    if (!r->set || (r->lo <= 0 && isinf(r->hi))) {
        return true; /* nothing is asked of what is not known either */
    }
    return v >= r->lo - 1e-3 && v <= r->hi + 1e-3;
}

bool price_filter_region_is(const char *asked, const char *vendor, const char *region)
{
    const char *slash = strchr(asked, '/');
    if (!slash) {
        return strcmp(asked, region) == 0;
    }
    char name[48];
    snprintf(name, sizeof name, "%.*s", (int)(slash - asked), asked);
    const char *v = vendor_canonical(name);
    return v && strcmp(v, vendor) == 0 && strcmp(slash + 1, region) == 0;
}

bool price_filter_instance_is(const char *asked, const char *type)
{
    size_t n = strlen(asked);
    return text_leading_parts(asked, type) ||
           (strncasecmp(asked, type, n) == 0 && type[n] == '.') ||
           (strpbrk(asked, "*?[") && fnmatch(asked, type, FNM_CASEFOLD) == 0);
}

/* Whether a row meets one list option; true when the option is not given. */
static bool list_holds(const struct catalog *c, const struct price_filter *f, const char *option,
                       size_t i)
{
    const struct catalog_offers *o = &c->offers;
    const char *v = cli_list(f->args, option, 0);
    bool hit = v == NULL;
    for (size_t k = 0; !hit && (v = cli_list(f->args, option, k)) != NULL; k++) {
        const char *vendor = catalog_text(c, o->vendor[i]);
        hit = strcmp(option, "vendor") == 0 ? strcmp(vendor_canonical(v), vendor) == 0
              : strcmp(option, "region") == 0
                  ? price_filter_region_is(v, vendor, catalog_text(c, o->region[i]))
              : strcmp(option, "gpu") == 0
                  ? o->gpu[i] != 0 && text_leading_parts(v, catalog_text(c, o->gpu[i]))
                  : price_filter_instance_is(v, catalog_text(c, o->instance_type[i]));
    }
    return hit;
}

bool price_filter_wants(const struct catalog *c, const struct price_filter *f, size_t i)
{
    const struct catalog_offers *o = &c->offers;
    if (f->purchases != 0 && !(f->purchases >> o->purchase[i] & 1)) {
        return false;
    }
    if (!in_range(&f->gpus, price_filter_gpus(o, i)) || !in_range(&f->vcpus, (double)o->vcpus[i]) ||
        !in_range(&f->mem, (double)o->memory_gib[i]) ||
        !in_range(&f->gpu_mem, o->gpu_num[i] ? (double)o->gpu_memory_gib[i] : 0)) {
        return false;
    }
    /* a price that nobody publishes passes no price filter */
    if (!isnan(f->max_price) && !(price_filter_price(c, f, i) <= f->max_price * (1 + 1e-12))) {
        return false;
    }
    return list_holds(c, f, "vendor", i) && list_holds(c, f, "region", i) &&
           list_holds(c, f, "gpu", i) && list_holds(c, f, "instance", i);
}

struct near {
    const char *name;
    size_t distance;
};

/* To the whole name or to its first word, whichever is nearer: H10 is near "H100 SXM". */
static size_t name_distance(const char *asked, const char *name)
{
    char word[64];
    size_t whole = text_distance(asked, name);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " "), name);
    size_t first = text_distance(asked, word);
    return first < whole ? first : whole;
}

int price_filter_unknown(const struct catalog *c, const char *option, const uint32_t *ids, size_t n,
                         const char *what, const char *asked, struct gt_error *err)
{
    struct near best[3] = {{NULL, SIZE_MAX}, {NULL, SIZE_MAX}, {NULL, SIZE_MAX}};
    uint32_t last = 0;
    const char *slash = strcmp(option, "--region") == 0 ? strchr(asked, '/') : NULL;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == last || ids[i] == 0) {
            continue;
        }
        last = ids[i];
        const char *name = catalog_text(c, last);
        struct near x = {name, name_distance(slash ? slash + 1 : asked, name)};
        for (size_t k = 0; k < 3; k++) {
            if (best[k].name == name) {
                break;
            }
            if (x.distance < best[k].distance) {
                struct near t = best[k];
                best[k] = x;
                x = t;
                if (x.name == name) {
                    break;
                }
            }
        }
    }
    return gt_fail(err, GT_EUSAGE, option, "found '%.60s', which no %s has%s%.60s%s%.60s%s%.60s",
                   asked, what, best[0].name ? "; the nearest are " : "",
                   best[0].name ? best[0].name : "", best[1].name ? ", " : "",
                   best[1].name ? best[1].name : "", best[2].name ? ", " : "",
                   best[2].name ? best[2].name : "");
}

int price_filter_names(const struct catalog *c, const struct price_filter *f, struct gt_error *err)
{
    const struct catalog_offers *o = &c->offers;
    static const char *const names[] = {"region", "gpu", "instance"};
    const uint32_t *const ids[] = {o->region, o->gpu, o->instance_type};
    const char *v;
    for (size_t n = 0; n < 3; n++) {
        for (size_t k = 0; (v = cli_list(f->args, names[n], k)) != NULL; k++) {
            bool found = false;
            for (size_t i = 0; i < o->n && !found; i++) {
                const char *text = catalog_text(c, ids[n][i]);
                found = n == 0   ? price_filter_region_is(v, catalog_text(c, o->vendor[i]), text)
                        : n == 1 ? ids[n][i] != 0 && text_leading_parts(v, text)
                                 : price_filter_instance_is(v, text);
            }
            if (!found) {
                char option[32];
                snprintf(option, sizeof option, "--%s", names[n]);
                return price_filter_unknown(c, option, ids[n], o->n, "offer", v, err);
            }
        }
    }
    return 0;
}
