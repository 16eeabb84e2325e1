/* prices: lists offers by filters and order (product.md section 2). */
#include "gputier/text.h"
#include "gputier/units.h"
#include "prices_filter.h"
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)2 << 30)

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
    {"limit", 'n', OPT_VALUE, "N", "at most N rows; 0: how many there are"},
    {"per", 0, OPT_VALUE, "hour|gpu-hour|month|Nh",
     "the unit of price, --max-price and --sort price; a month is 730h unless given"},
    {"tier", 0, OPT_LIST, "NAME", "storage: only this tier"},
    {"to", 0, OPT_LIST, "PLACE", "transfer: a region's code, internet, other_region, other_az"},
    {"amount", 0, OPT_VALUE, "SIZE", "storage, transfer: also what this much costs (a month)"},
    {"reads", 0, OPT_VALUE, "N", "storage: the amount is read back N times a month (0)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

struct sorter {
    const struct catalog *c;
    const struct price_filter *f;
};

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
        return by_double(price_filter_price(s->c, s->f, a), price_filter_price(s->c, s->f, b));
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
        return by_double(price_filter_gpus(o, a), price_filter_gpus(o, b));
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
        bool unknown = s->f->key[i].by == BY_PRICE && (isnan(price_filter_price(s->c, s->f, a)) ||
                                                       isnan(price_filter_price(s->c, s->f, b)));
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

/* The JSON rows name the other prices in their notes; a table has no room for them. */
static void say_doubts(const struct catalog *c, const uint32_t *row, size_t n)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    size_t found = 0, low = 0, first;
    if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR)) {
        return; /* nobody reads any longer (| head) */
    }
    for (size_t i = 0; i < n; i++) {
        found += c->others.n > 0 && catalog_others(c, row[i], &first) > 0;
        low += catalog_under_floor(c, row[i]);
    }
    if (low > 0) {
        fprintf(stderr,
                "WARNING: %zu of these offers cost%s less than %.2f USD a GPU-hour: likely another "
                "figure was taken for the price; `gputier prices check` shows %s\n",
                low, low == 1 ? "s" : "", CATALOG_GPU_FLOOR_USD, low == 1 ? "it" : "them");
    }
    if (found > 0) {
        fprintf(stderr,
                "%zu of these offers ha%s another price in another source; `gputier prices check` "
                "shows both\n",
                found, found == 1 ? "s" : "ve");
    }
}

void prices_say_found(uint64_t found, uint64_t limit, const char *what)
{
    if (found == 0) {
        fprintf(stderr, "no %s passes these filters\n", what);
    } else if (limit == 0) { /* whoever asks for no row wants their number */
        fprintf(stderr, "%llu %s%s these filters\n", (unsigned long long)found, what,
                found == 1 ? " passes" : "s pass");
    }
}

static int list(struct app *app, struct price_view *v, const struct catalog *c,
                const struct price_filter *f, struct gt_error *err)
{
    struct buf b;
    size_t n = 0;
    int rc;
    uint32_t *row = malloc((c->offers.n + 1) * sizeof *row);
    if (!row) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < c->offers.n; i++) {
        if (price_filter_wants(c, f, i)) {
            row[n++] = (uint32_t)i;
        }
    }
    struct sorter s = {c, f};
    qsort_r(row, n, sizeof *row, compare, &s);
    size_t found = n;
    n = n < f->limit ? n : f->limit;
    buf_init(&b, DOCUMENT_MAX);
    v->per = f->per;
    v->month_h = f->month_h;
    rc = prices_write(v, c, row, n, &b);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    if (rc == 0 && !app->quiet) {
        prices_say_found(found, f->limit, "offer");
    }
    if (rc == 0 && v->format == OUT_TABLE && !app->quiet) {
        say_doubts(c, row, n);
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
        return gt_fail(err, GT_EUSAGE, "prices",
                       "found '%.60s', expected one of check, storage, transfer, interruption, or "
                       "options only",
                       args->positional[args->n_positional > 1 ? 1 : 0]);
    }
    /* prices are shown in the vendor's currency unless another was asked for */
    struct price_view v = {app->format, app->plain, PER_HOUR, GT_HOURS_PER_MONTH,
                           cli_value(args, "currency")};
    const char *what = args->n_positional > 0 ? args->positional[0] : "";
    int rc = prices_options_fit(what, options, args, err);
    rc = rc ? rc : app_catalog(app, &c, err);
    struct price_filter f;
    if (rates) {
        rc = rc ? rc : prices_rates(app, what, c, args, err);
    } else {
        rc = rc ? rc : price_filter_take(app, c, args, &f, err);
        rc = rc ? rc : price_filter_names(c, &f, err);
        rc = rc ? rc : check ? prices_check(&v, c, &f, err) : list(app, &v, c, &f, err);
    }
    bool amounts = strcmp(what, "interruption") != 0;
    if (rc == 0 && amounts && v.currency && v.format != OUT_JSON && !app->quiet) {
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
