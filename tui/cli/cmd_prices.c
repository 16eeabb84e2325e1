/* prices: lists offers by filters and order (product.md section 2). */
#include "gputier/text.h"
#include "gputier/units.h"
#include "prices.h"
#include <fnmatch.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)2 << 30)
#define SORT_KEYS    8

static const struct cli_option options[] = {
    {"vendor", 0, OPT_LIST, "NAME", "only this vendor; may be given several times"},
    {"region", 'r', OPT_LIST, "[VENDOR/]CODE", "only this region; may be given several times"},
    {"gpu", 0, OPT_LIST, "NAME", "only this GPU: whole leading parts, A100, A100-80GB, H100-SXM"},
    {"gpus", 0, OPT_VALUE, "N|MIN-MAX", "GPUs per machine (1/6 is a count too)"},
    {"gpu-mem", 0, OPT_VALUE, "SIZE|MIN-MAX", "memory of one GPU, at least (GiB without a unit)"},
    {"vcpus", 0, OPT_VALUE, "N|MIN-MAX", "virtual CPUs, at least"},
    {"mem", 0, OPT_VALUE, "SIZE|MIN-MAX", "memory of the machine, at least (GiB without a unit)"},
    {"instance", 'i', OPT_LIST, "NAME", "instance type, a leading part of it, or a pattern with *"},
    {"purchase", 'p', OPT_LIST, "NAME[,NAME]", "on_demand, spot, reserved_1y, …"},
    {"max-price", 0, OPT_VALUE, "AMOUNT", "highest price per unit of --per, in --currency or USD"},
    {"sort", 's', OPT_VALUE, "KEY[,-KEY]",
     "price, vendor, region, zone, instance, gpu, gpus, gpu-mem, vcpus, mem, purchase, as-of"},
    {"limit", 'n', OPT_VALUE, "N", "at most N rows"},
    {"per", 0, OPT_VALUE, "hour|gpu-hour|month", "the unit of price, --max-price and --sort price"},
    {"tier", 0, OPT_LIST, "NAME", "storage: only this tier"},
    {"to", 0, OPT_LIST, "PLACE", "transfer: a region's code, internet, other_region, other_az"},
    {"amount", 0, OPT_VALUE, "SIZE", "storage, transfer: also what this much costs (a month)"},
    {"reads", 0, OPT_VALUE, "N", "storage: the amount is read back N times a month (0)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

enum sort_by {
    BY_PRICE,
    BY_VENDOR,
    BY_REGION,
    BY_ZONE,
    BY_INSTANCE,
    BY_GPU,
    BY_GPUS,
    BY_GPU_MEM,
    BY_VCPUS,
    BY_MEM,
    BY_PURCHASE,
    BY_AS_OF
};
static const char *const sort_names[] = {"price", "vendor",  "region", "zone", "instance", "gpu",
                                         "gpus",  "gpu-mem", "vcpus",  "mem",  "purchase", "as-of"};

struct range {
    bool set;
    double lo, hi;
};
struct filter {
    const struct cli_args *args;
    struct range gpus, gpu_mem, vcpus, mem;
    uint32_t purchases; /* bit set, 0 = all */
    double max_price;   /* USD, NAN = none */
    enum price_per per;
    size_t limit;
    struct {
        enum sort_by by;
        bool down;
    } key[SORT_KEYS];
    size_t n_keys;
};
struct sorter {
    const struct catalog *c;
    const struct filter *f;
};

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
    char *dash = strchr(text, '-');
    if (dash) {
        *dash = '\0';
    }
    r->set = one_value(text, size, &r->lo);
    if (dash) {
        r->set = r->set && one_value(dash + 1, size, &r->hi) && r->hi >= r->lo;
    } else {
        r->hi = exact ? r->lo : (double)INFINITY;
    }
    return r->set ? 0 : bad(err, name, v, size ? "a size such as 80GB, or 40-80" : "N or MIN-MAX");
}

static int take_purchases(const struct cli_args *a, struct filter *f, struct gt_error *err)
{
    const char *v;
    for (size_t i = 0; (v = cli_list(a, "purchase", i)) != NULL; i++) {
        for (const char *p = v; *p != '\0';) {
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
            p += n + (p[n] == ',');
        }
    }
    return 0;
}

static int take_sort(const struct cli_args *a, struct filter *f, struct gt_error *err)
{
    const char *p = cli_value(a, "sort");
    for (p = p ? p : "price"; *p != '\0';) {
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
        p += n + (p[n] == ',');
    }
    return 0;
}

static int take_price(struct app *app, const struct catalog *c, const struct cli_args *a,
                      struct filter *f, struct gt_error *err)
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

static int take_filter(struct app *app, const struct catalog *c, const struct cli_args *a,
                       struct filter *f, struct gt_error *err)
{
    const char *per = cli_value(a, "per"), *limit = cli_value(a, "limit"), *v;
    uint64_t n = 0;
    *f = (struct filter){.args = a, .limit = SIZE_MAX};
    int rc = take_range(a, "gpus", false, true, &f->gpus, err);
    rc = rc ? rc : take_range(a, "gpu-mem", true, false, &f->gpu_mem, err);
    rc = rc ? rc : take_range(a, "vcpus", false, false, &f->vcpus, err);
    rc = rc ? rc : take_range(a, "mem", true, false, &f->mem, err);
    rc = rc ? rc : take_purchases(a, f, err);
    rc = rc ? rc : take_sort(a, f, err);
    rc = rc ? rc : take_price(app, c, a, f, err);
    if (rc == 0 && per) {
        f->per = strcmp(per, "gpu-hour") == 0 ? PER_GPU_HOUR
                 : strcmp(per, "month") == 0  ? PER_MONTH
                                              : PER_HOUR;
        if (f->per == PER_HOUR && strcmp(per, "hour") != 0) {
            return bad(err, "--per", per, "hour, gpu-hour or month");
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

static double gpu_count(const struct catalog_offers *o, size_t i)
{
    return (double)o->gpu_num[i] / (double)(o->gpu_den[i] ? o->gpu_den[i] : 1);
}

/* USD per unit of --per; NAN when unknown. */
static double price_of(const struct catalog *c, const struct filter *f, size_t i)
{
    const struct catalog_offers *o = &c->offers;
    double usd = o->price_state[i] == PRICE_KNOWN ? o->usd_per_hour[i] : (double)NAN;
    return f->per == PER_MONTH      ? usd * GT_HOURS_PER_MONTH
           : f->per == PER_GPU_HOUR ? usd / gpu_count(o, i)
                                    : usd;
}

static bool in_range(const struct range *r, double v)
{
    return !r->set || (v >= r->lo - 1e-3 && v <= r->hi + 1e-3);
}

static bool region_is(const char *asked, const char *vendor, const char *region)
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

/* p5.48xlarge, p5 (all sizes), g?.*large */
static bool instance_is(const char *asked, const char *type)
{
    size_t n = strlen(asked);
    return text_leading_parts(asked, type) ||
           (strncasecmp(asked, type, n) == 0 && type[n] == '.') ||
           (strpbrk(asked, "*?[") && fnmatch(asked, type, FNM_CASEFOLD) == 0);
}

/* Whether a row meets one list option; true when the option is not given. */
static bool list_holds(const struct catalog *c, const struct filter *f, const char *option,
                       size_t i)
{
    const struct catalog_offers *o = &c->offers;
    const char *v = cli_list(f->args, option, 0);
    bool hit = v == NULL;
    for (size_t k = 0; !hit && (v = cli_list(f->args, option, k)) != NULL; k++) {
        const char *vendor = catalog_text(c, o->vendor[i]);
        hit = strcmp(option, "vendor") == 0   ? strcmp(vendor_canonical(v), vendor) == 0
              : strcmp(option, "region") == 0 ? region_is(v, vendor, catalog_text(c, o->region[i]))
              : strcmp(option, "gpu") == 0
                  ? o->gpu[i] != 0 && text_leading_parts(v, catalog_text(c, o->gpu[i]))
                  : instance_is(v, catalog_text(c, o->instance_type[i]));
    }
    return hit;
}

static bool wanted(const struct catalog *c, const struct filter *f, size_t i)
{
    const struct catalog_offers *o = &c->offers;
    if (f->purchases != 0 && !(f->purchases >> o->purchase[i] & 1)) {
        return false;
    }
    if (!in_range(&f->gpus, gpu_count(o, i)) || !in_range(&f->vcpus, (double)o->vcpus[i]) ||
        !in_range(&f->mem, (double)o->memory_gib[i]) ||
        !in_range(&f->gpu_mem, o->gpu_num[i] ? (double)o->gpu_memory_gib[i] : (double)NAN)) {
        return false;
    }
    /* a price that nobody publishes passes no price filter */
    if (!isnan(f->max_price) && !(price_of(c, f, i) <= f->max_price * (1 + 1e-12))) {
        return false;
    }
    return list_holds(c, f, "vendor", i) && list_holds(c, f, "region", i) &&
           list_holds(c, f, "gpu", i) && list_holds(c, f, "instance", i);
}

static int by_double(double x, double y)
{
    if (isnan(x) || isnan(y)) {
        return isnan(x) - isnan(y);
    }
    return x < y ? -1 : x > y;
}

static int by_text(const struct catalog *c, const uint32_t *ids, size_t a, size_t b)
{
    return ids[a] == ids[b] ? 0 : strcmp(catalog_text(c, ids[a]), catalog_text(c, ids[b]));
}

static int by_key(const struct sorter *s, enum sort_by by, size_t a, size_t b)
{
    const struct catalog_offers *o = &s->c->offers;
    switch (by) {
    case BY_PRICE:
        return by_double(price_of(s->c, s->f, a), price_of(s->c, s->f, b));
    case BY_VENDOR:
        return by_text(s->c, o->vendor, a, b);
    case BY_REGION:
        return by_text(s->c, o->region, a, b);
    case BY_ZONE:
        return by_text(s->c, o->zone, a, b);
    case BY_INSTANCE:
        return by_text(s->c, o->instance_type, a, b);
    case BY_GPU:
        return by_text(s->c, o->gpu, a, b);
    case BY_GPUS:
        return by_double(gpu_count(o, a), gpu_count(o, b));
    case BY_GPU_MEM:
        return by_double((double)o->gpu_memory_gib[a], (double)o->gpu_memory_gib[b]);
    case BY_VCPUS:
        return by_double((double)o->vcpus[a], (double)o->vcpus[b]);
    case BY_MEM:
        return by_double((double)o->memory_gib[a], (double)o->memory_gib[b]);
    case BY_PURCHASE:
        return (int)o->purchase[a] - (int)o->purchase[b];
    case BY_AS_OF:
        return o->as_of[a] < o->as_of[b] ? -1 : o->as_of[a] > o->as_of[b];
    }
    return 0;
}

static int compare(const void *x, const void *y, void *ctx)
{
    static const enum sort_by ties[] = {BY_VENDOR, BY_INSTANCE, BY_REGION, BY_ZONE, BY_PURCHASE};
    const struct sorter *s = ctx;
    size_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    for (size_t i = 0; i < s->f->n_keys; i++) {
        int d = by_key(s, s->f->key[i].by, a, b);
        bool unknown = s->f->key[i].by == BY_PRICE &&
                       (isnan(price_of(s->c, s->f, a)) || isnan(price_of(s->c, s->f, b)));
        if (d != 0) { /* what has no price comes last in either direction */
            return s->f->key[i].down && !unknown ? -d : d;
        }
    }
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        int d = by_key(s, ties[i], a, b);
        if (d != 0) {
            return d;
        }
    }
    return a < b ? -1 : a > b;
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

/* A name that matches no offer at all is a mistake: the three nearest are told. */
static int unknown_name(const struct catalog *c, const char *option, const uint32_t *ids,
                        const char *asked, struct gt_error *err)
{
    struct near best[3] = {{NULL, SIZE_MAX}, {NULL, SIZE_MAX}, {NULL, SIZE_MAX}};
    uint32_t last = 0;
    const char *slash = strcmp(option, "--region") == 0 ? strchr(asked, '/') : NULL;
    for (size_t i = 0; i < c->offers.n; i++) {
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
    return gt_fail(err, GT_EUSAGE, option, "found '%.60s', which no offer has%s%.60s%s%.60s%s%.60s",
                   asked, best[0].name ? "; the nearest are " : "",
                   best[0].name ? best[0].name : "", best[1].name ? ", " : "",
                   best[1].name ? best[1].name : "", best[2].name ? ", " : "",
                   best[2].name ? best[2].name : "");
}

static int check_names(const struct catalog *c, const struct filter *f, struct gt_error *err)
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
                found = n == 0   ? region_is(v, catalog_text(c, o->vendor[i]), text)
                        : n == 1 ? ids[n][i] != 0 && text_leading_parts(v, text)
                                 : instance_is(v, text);
            }
            if (!found) {
                char option[32];
                snprintf(option, sizeof option, "--%s", names[n]);
                return unknown_name(c, option, ids[n], v, err);
            }
        }
    }
    return 0;
}

/* The JSON rows name the other prices in their notes; a table has no room for them. */
static void say_conflicts(const struct catalog *c, const uint32_t *row, size_t n)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    size_t found = 0, first;
    if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR)) {
        return; /* nobody reads any longer (| head) */
    }
    for (size_t i = 0; i < n && c->others.n > 0; i++) {
        found += catalog_others(c, row[i], &first) > 0;
    }
    if (found > 0) {
        fprintf(stderr,
                "%zu of these offers ha%s another price in another source; `gputier prices check` "
                "shows both\n",
                found, found == 1 ? "s" : "ve");
    }
}

static int list(struct app *app, struct price_view *v, const struct catalog *c,
                const struct cli_args *args, struct gt_error *err)
{
    struct filter f;
    struct buf b;
    size_t n = 0;
    int rc = take_filter(app, c, args, &f, err);
    rc = rc ? rc : check_names(c, &f, err);
    if (rc != 0) {
        return rc;
    }
    uint32_t *row = malloc((c->offers.n + 1) * sizeof *row);
    if (!row) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < c->offers.n; i++) {
        if (wanted(c, &f, i)) {
            row[n++] = (uint32_t)i;
        }
    }
    struct sorter s = {c, &f};
    qsort_r(row, n, sizeof *row, compare, &s);
    n = n < f.limit ? n : f.limit;
    if (n == 0 && !app->quiet) {
        fputs("no offer passes these filters\n", stderr);
    }
    buf_init(&b, DOCUMENT_MAX);
    v->per = f.per;
    rc = prices_write(v, c, row, n, &b);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    if (rc == 0 && v->format == OUT_TABLE && !app->quiet) {
        say_conflicts(c, row, n);
    }
    free(row);
    return rc;
}

/* An amount in another currency is worth nothing without its rate. */
static void say_rate(const struct catalog *c, const char *currency)
{
    char rate[MONEY_TEXT], date[16];
    int64_t when = 0;
    money m = catalog_fx_rate(c, currency, &when);
    if (strcmp(currency, "USD") != 0) {
        fprintf(stderr, "exchange rate: %s %s for 1 USD, of %s\n", money_format(m, rate), currency,
                date_format(when, date));
    }
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const struct catalog *c = NULL;
    bool check = args->n_positional == 1 && strcmp(args->positional[0], "check") == 0;
    bool rates = args->n_positional == 1 && prices_rates_kind(args->positional[0]);
    if (args->n_positional > 0 && !check && !rates) {
        return bad(err, "prices", args->positional[0],
                   "options only, check, storage, transfer or interruption");
    }
    /* prices are shown in the vendor's currency unless another was asked for */
    struct price_view v = {app->format, app->plain, PER_HOUR, cli_value(args, "currency")};
    int rc = app_catalog(app, &c, err);
    if (!rc && rates) {
        return prices_rates(app, args->positional[0], c, args, err);
    }
    rc = rc ? rc : check ? prices_check(&v, c, err) : list(app, &v, c, args, err);
    if (rc == 0 && v.currency && v.format != OUT_JSON && !app->quiet) {
        say_rate(c, v.currency);
    }
    return rc;
}

const struct command command_prices = {
    .name = "prices",
    .usage = "[check|storage|transfer|interruption]",
    .summary =
        "lists offers, or rates of storage, transfer, interruption; check: the table checks itself",
    .options = options,
    .example =
        "gputier prices --gpu A100-80GB --gpus 1-8 --purchase spot --per gpu-hour --limit 10",
    .run = run,
};
