/* changes: what rose, fell, appeared, vanished since the last fetch or since a date (product.md
 * section 2). Prices are compared in the vendor's own currency; with --currency what the exchange
 * rate did to a changed price is a figure of its own. */
#include "changes.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "prices_filter.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)1 << 30)

static const struct cli_option options[] = {
    {"since", 0, OPT_VALUE, "DATE", "what changed after this instant (default: the last fetch)"},
    {"vendor", 0, OPT_LIST, "NAME", "only this vendor; may be given several times"},
    {"region", 'r', OPT_LIST, "[VENDOR/]CODE", "only this region; may be given several times"},
    {"gpu", 0, OPT_LIST, "NAME",
     "only machines with this GPU: whole leading parts, A100, H100-SXM"},
    {"limit", 'n', OPT_VALUE, "N", "show at most N rows; all are counted"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

struct collector {
    const struct cli_args *args;
    struct change_list *list;
};

static bool given(const struct cli_args *a, const char *option)
{
    return cli_list(a, option, 0) != NULL;
}

static bool wanted(const struct cli_args *a, const struct price_change *c)
{
    const char *v;
    bool vendor = !given(a, "vendor"), region = !given(a, "region"), gpu = !given(a, "gpu");
    for (size_t i = 0; (v = cli_list(a, "vendor", i)) != NULL; i++) {
        vendor = vendor || strcmp(vendor_canonical(v), c->vendor) == 0;
    }
    for (size_t i = 0; (v = cli_list(a, "region", i)) != NULL; i++) {
        region = region || price_filter_region_is(v, c->vendor, c->region);
    }
    for (size_t i = 0; (v = cli_list(a, "gpu", i)) != NULL; i++) {
        gpu = gpu || (*c->gpu && text_leading_parts(v, c->gpu));
    }
    return vendor && region && gpu;
}

/* Texts of the store's callback, kept for the list. */
static bool keep(struct change_list *l, const char **text)
{
    uint32_t id = intern_add(l->strings, *text, strlen(*text));
    *text = id == UINT32_MAX ? "" : intern_text(l->strings, id);
    return id != UINT32_MAX;
}

static int on_change(void *ctx, const struct price_change *given_change)
{
    struct collector *k = ctx;
    struct change_list *l = k->list;
    struct change_row r = {.c = *given_change};
    if (!wanted(k->args, given_change)) {
        return 0;
    }
    const char **texts[] = {
        &r.c.vendor,     &r.c.region,          &r.c.zone,          &r.c.item,      &r.c.component,
        &r.c.gpu,        &r.c.source_id,       &r.c.before.sku,    &r.c.after.sku, &r.c.before.unit,
        &r.c.after.unit, &r.c.before.currency, &r.c.after.currency};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!keep(l, texts[i])) {
            return GT_ENOMEM;
        }
    }
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 256;
        struct change_row *grown = realloc(l->row, cap * sizeof *grown);
        if (!grown) {
            return GT_ENOMEM;
        }
        l->row = grown;
        l->cap = cap;
    }
    l->row[l->n++] = r;
    l->count[r.c.kind]++;
    return 0;
}

/* The rates of one currency at both ends; --fx stands for every day. NULL when the table is full.
 */
static const struct change_rate *rate_of(struct app *app, struct change_list *l, struct store *s,
                                         const char *currency)
{
    for (size_t i = 0; i < l->n_rates; i++) {
        if (strcmp(l->rate[i].currency, currency) == 0) {
            return &l->rate[i];
        }
    }
    if (l->n_rates == CHANGE_RATES) {
        return NULL;
    }
    struct change_rate *r = &l->rate[l->n_rates++];
    *r = (struct change_rate){.date = {GT_TIME_NONE, GT_TIME_NONE}};
    snprintf(r->currency, sizeof r->currency, "%s", currency);
    const int64_t when[2] = {l->result.since,
                             l->result.until == GT_TIME_NONE ? app->now : l->result.until};
    for (int end = 0; end < 2; end++) {
        r->known[end] = store_fx_on(s, currency, when[end], &r->per_usd[end], &r->date[end],
                                    r->source[end], NULL) == 0;
        for (size_t i = 0; i < app->n_fx; i++) {
            if (strcmp(app->fx[i].code, currency) == 0) {
                r->known[end] = true;
                r->per_usd[end] = app->fx[i].rate;
                r->date[end] = app->fx[i].date;
                snprintf(r->source[end], sizeof r->source[end], "--fx");
            }
        }
    }
    return r;
}

/* amount of one end's day in another currency. */
static bool convert(money amount, const struct change_rate *from, const struct change_rate *to,
                    int end, money *out)
{
    return from && to && from->known[end] && to->known[end] &&
           money_mul_ratio(amount, (gt_u128)to->per_usd[end], (gt_u128)from->per_usd[end], out) ==
               0;
}

/* What the rate alone would have done to the price before, and the rest. */
static void split(struct app *app, struct change_list *l, struct store *s, struct change_row *r)
{
    const struct change_price *a = &r->c.before, *b = &r->c.after;
    const struct change_rate *to = rate_of(app, l, s, l->currency);
    const struct change_rate *from = a->known ? rate_of(app, l, s, a->currency) : NULL;
    const struct change_rate *now = b->known ? rate_of(app, l, s, b->currency) : NULL;
    money moved = 0;
    r->converted = (!a->known || convert(a->price, from, to, 0, &r->before)) &&
                   (!b->known || convert(b->price, now, to, 1, &r->after));
    if (r->converted && a->known && b->known) {
        r->converted = convert(a->price, from, to, 1, &moved);
        r->fx_effect = moved - r->before;
        r->price_effect = r->after - moved;
    }
}

static int by_pct(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int find_median(struct change_list *l)
{
    double *v = malloc((l->n + 1) * sizeof *v);
    size_t n = 0;
    if (!v) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < l->n; i++) {
        if (l->row[i].c.kind <= CHANGE_FELL && !isnan(l->row[i].c.change_pct)) {
            v[n++] = l->row[i].c.change_pct;
        }
    }
    qsort(v, n, sizeof *v, by_pct);
    l->median_pct = n == 0 ? (double)NAN : (v[(n - 1) / 2] + v[n / 2]) / 2;
    free(v);
    return 0;
}

/* The largest move first, then what has none by kind; a tie by name, so that runs agree. */
static int by_size(const void *x, const void *y)
{
    const struct price_change *a = &((const struct change_row *)x)->c;
    const struct price_change *b = &((const struct change_row *)y)->c;
    double p = isnan(a->change_pct) ? -1 : fabs(a->change_pct);
    double q = isnan(b->change_pct) ? -1 : fabs(b->change_pct);
    bool move_a = a->kind <= CHANGE_FELL, move_b = b->kind <= CHANGE_FELL;
    if (move_a != move_b) {
        return move_a ? -1 : 1;
    }
    if (!move_a && a->kind != b->kind) {
        return (int)a->kind - (int)b->kind;
    }
    if (p != q) {
        return p > q ? -1 : 1;
    }
    const char *const names[][2] = {{a->vendor, b->vendor}, {a->region, b->region},
                                    {a->item, b->item},     {a->component, b->component},
                                    {a->zone, b->zone},     {a->source_id, b->source_id}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int d = strcmp(names[i][0], names[i][1]);
        if (d != 0) {
            return d;
        }
    }
    int d = (int)a->purchase - (int)b->purchase;
    d = d ? d : (int)a->payment - (int)b->payment;
    d = d ? d : (int)a->offering_class - (int)b->offering_class;
    return d ? d : (a->from_qty > b->from_qty) - (a->from_qty < b->from_qty);
}

static bool has_region(const struct catalog *c, const char *asked)
{
    const struct {
        const uint32_t *vendor, *region;
        size_t n;
    } of[] = {{c->offers.vendor, c->offers.region, c->offers.n},
              {c->storage.vendor, c->storage.region, c->storage.n},
              {c->transfer.vendor, c->transfer.from, c->transfer.n}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        for (size_t i = 0; i < of[k].n; i++) {
            if (price_filter_region_is(asked, catalog_text(c, of[k].vendor[i]),
                                       catalog_text(c, of[k].region[i]))) {
                return true;
            }
        }
    }
    return false;
}

static bool has_gpu(const struct catalog *c, const char *asked)
{
    for (size_t i = 0; i < c->offers.n; i++) {
        if (c->offers.gpu[i] && text_leading_parts(asked, catalog_text(c, c->offers.gpu[i]))) {
            return true;
        }
    }
    return false;
}

/* Where no change meets the filters: a name that no price has is a mistake, not an empty answer.
 * (One whose prices have all vanished has changes.) */
static int check_names(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const struct catalog *c = NULL;
    const char *v;
    int rc = given(args, "gpu") || given(args, "region") ? app_catalog(app, &c, err) : 0;
    for (size_t i = 0; rc == 0 && (v = cli_list(args, "region", i)) != NULL; i++) {
        if (!has_region(c, v)) {
            rc =
                price_filter_unknown(c, "--region", c->offers.region, c->offers.n, "price", v, err);
        }
    }
    for (size_t i = 0; rc == 0 && (v = cli_list(args, "gpu", i)) != NULL; i++) {
        if (!has_gpu(c, v)) {
            rc = price_filter_unknown(c, "--gpu", c->offers.gpu, c->offers.n, "offer", v, err);
        }
    }
    return rc;
}

static int take_options(struct app *app, const struct cli_args *args, struct changes_options *o,
                        uint64_t *limit, struct gt_error *err)
{
    const char *v = cli_value(args, "since");
    *o = (struct changes_options){.since = GT_TIME_NONE, .until = app->as_of};
    *limit = UINT64_MAX;
    if (args->n_positional > 0) {
        return gt_fail(err, GT_EUSAGE, "changes", "found '%.60s', expected options only",
                       args->positional[0]);
    }
    if (v && time_parse(v, 0, &o->since, NULL) != 0) {
        return gt_fail(err, GT_EUSAGE, "--since", "found '%.40s', expected a date such as %s", v,
                       "2026-05-20");
    }
    int64_t until = o->until == GT_TIME_NONE ? app->now : o->until;
    if (v && o->since > until) {
        return gt_fail(err, GT_EUSAGE, "--since", "found '%.40s', expected an instant before %s", v,
                       o->until == GT_TIME_NONE ? "now" : "--as-of");
    }
    for (size_t i = 0; (v = cli_list(args, "vendor", i)) != NULL; i++) {
        if (!vendor_canonical(v)) {
            return gt_fail(err, GT_EUSAGE, "--vendor",
                           "found '%.40s', expected a vendor such as aws, azure, gcp or lambda", v);
        }
    }
    v = cli_value(args, "limit");
    if (v && count_parse(v, limit, NULL) != 0) {
        return gt_fail(err, GT_EUSAGE, "--limit", "found '%.40s', expected a number of rows", v);
    }
    return 0;
}

static int show(struct app *app, struct change_list *l, struct gt_error *err)
{
    struct buf b, text;
    buf_init(&b, DOCUMENT_MAX);
    buf_init(&text, 65536);
    int rc = app->format == OUT_JSON  ? changes_json(l, app->now, &b)
             : app->format == OUT_CSV ? changes_csv(l, &b)
                                      : changes_table(l, app->plain, &b);
    rc = rc ? rc : changes_summary(l, &text);
    if (rc == 0 && app->format == OUT_TABLE) {
        rc = buf_add(&b, text.data, text.len);
    } else if (rc == 0 && app->format == OUT_CSV && !app->quiet) {
        fputs(text.data, stderr);
    }
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    buf_release(&text);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct change_list l = {.currency = cli_value(args, "currency"), .arena = arena_new(0)};
    struct collector k = {args, &l};
    struct changes_options o;
    struct store *s = NULL;
    uint64_t limit = 0;
    l.strings = l.arena ? intern_new(l.arena) : NULL;
    int rc = l.strings ? app_store(app, &s, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    rc = rc ? rc : take_options(app, args, &o, &limit, err);
    rc = rc ? rc : store_changes(s, &o, on_change, &k, &l.result, err);
    rc = rc || l.n > 0 ? rc : check_names(app, args, err);
    if (rc == 0 && l.currency) {
        const struct change_rate *to = rate_of(app, &l, s, l.currency);
        if (l.result.since != GT_TIME_NONE && !to->known[1]) {
            rc = gt_fail(err, GT_EUSAGE, "--currency",
                         "found '%s', of which no exchange rate is known; --fx %s=RATE@DATE gives "
                         "one",
                         l.currency, l.currency);
        }
        for (size_t i = 0; i < l.n && rc == 0; i++) {
            split(app, &l, s, &l.row[i]);
        }
    }
    if (rc == 0 && find_median(&l) != 0) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (rc == 0) {
        if (l.n > 1) {
            qsort(l.row, l.n, sizeof *l.row, by_size);
        }
        l.shown = l.n < limit ? l.n : (size_t)limit;
        rc = show(app, &l, err);
    }
    free(l.row);
    arena_free(l.arena);
    return rc;
}

const struct command command_changes = {
    .name = "changes",
    .usage = "[--since DATE]",
    .summary = "what rose, fell, appeared, vanished since the last fetch or a date",
    .options = options,
    .example = "gputier changes --since 2026-11-01 --gpu H100 --currency EUR",
    .run = run,
};
