/* history: what one offer, or one spot pool, cost over time (product.md section 2). Each price with
 * the day it was first seen and its change against the one before from the same source, and what
 * each series sums up to: least, most, last, and the mean weighted by time. */
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "history.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)512 << 20)
#define PLOT_CELLS   40

static const struct cli_option options[] = {
    {"instance", 'i', OPT_VALUE, "NAME", "instance type"},
    {"region", 'r', OPT_VALUE, "VENDOR/CODE", "region"},
    {"vendor", 0, OPT_VALUE, "NAME", "vendor, when --region does not name it"},
    {"zone", 0, OPT_VALUE, "CODE", "only this zone"},
    {"purchase", 'p', OPT_VALUE, "NAME", "on_demand (default), spot, reserved_1y, …"},
    {"since", 0, OPT_VALUE, "DATE", "from this instant; the price then in force stands at it"},
    {"until", 0, OPT_VALUE, "DATE", "up to this instant (now)"},
    {"plot", 0, OPT_FLAG, NULL, "bars beside the prices"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

struct question {
    const char *vendor, *region, *zone, *instance_type;
    enum purchase purchase;
    int64_t since, until; /* since: GT_TIME_NONE = from the first */
};

static const char *keep(struct series *s, const char *text)
{
    uint32_t id = intern_add(s->strings, text ? text : "", strlen(text ? text : ""));
    return id == UINT32_MAX ? NULL : intern_text(s->strings, id);
}

static int on_point(void *ctx, const struct price_point *pt)
{
    struct series *s = ctx;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        struct point *p = realloc(s->p, cap * sizeof *p);
        if (!p) {
            return GT_ENOMEM;
        }
        s->p = p;
        s->cap = cap;
    }
    struct point *p = &s->p[s->n++];
    *p = (struct point){.when = pt->when,
                        .since = pt->when,
                        .ends = pt->valid_to,
                        .price = pt->price,
                        .change_pct = (double)NAN};
    if (pt->known_to != GT_TIME_NONE && (p->ends == GT_TIME_NONE || pt->known_to < p->ends)) {
        p->ends = pt->known_to;
    }
    snprintf(p->currency, sizeof p->currency, "%s", pt->currency ? pt->currency : "");
    p->source = keep(s, pt->source_id);
    p->sku = keep(s, pt->sku);
    p->zone = keep(s, pt->zone);
    return p->source && p->sku && p->zone ? 0 : GT_ENOMEM;
}

/* Against the last price of the same source, zone and currency: two sources round differently. */
static void compare(struct series *s)
{
    for (size_t i = 1; i < s->n; i++) {
        for (size_t k = i; k-- > 0;) {
            if (s->p[k].source == s->p[i].source && s->p[k].zone == s->p[i].zone &&
                strcmp(s->p[k].currency, s->p[i].currency) == 0) {
                double old = money_to_double(s->p[k].price);
                s->p[i].change_pct =
                    old > 0 ? 100 * (money_to_double(s->p[i].price) - old) / old : (double)NAN;
                break;
            }
        }
    }
}

static void json_summary(struct jsonw *w, const struct summary *m)
{
    jsonw_object(w);
    jsonw_key(w, "zone");
    jsonw_string_or_null(w, m->first->zone);
    jsonw_kstring(w, "source_id", m->first->source);
    jsonw_key(w, "sku");
    jsonw_string_or_null(w, m->first->sku);
    jsonw_kstring(w, "currency", m->first->currency);
    jsonw_ktime(w, "from", m->from);
    jsonw_ktime(w, "until", m->until);
    jsonw_kint(w, "changes", (int64_t)m->changes);
    jsonw_kmoney(w, "min", m->min);
    jsonw_kmoney(w, "max", m->max);
    jsonw_kmoney(w, "last", m->last);
    jsonw_kmoney(w, "mean", m->mean);
    jsonw_end_object(w);
}

static int write_json(const struct question *q, const struct series *s, const struct summary *m,
                      size_t n, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/history/1");
    jsonw_kstring(&w, "vendor", q->vendor);
    jsonw_kstring(&w, "region", q->region);
    jsonw_kstring(&w, "zone", q->zone);
    jsonw_kstring(&w, "instance_type", q->instance_type);
    jsonw_kstring(&w, "purchase", purchase_name(q->purchase));
    jsonw_ktime(&w, "since", q->since);
    jsonw_ktime(&w, "until", q->until);
    jsonw_key(&w, "points");
    jsonw_array(&w);
    for (size_t i = 0; i < s->n; i++) {
        const struct point *p = &s->p[i];
        jsonw_object(&w);
        jsonw_ktime(&w, "when", p->since);
        jsonw_key(&w, "zone");
        jsonw_string_or_null(&w, p->zone);
        jsonw_kmoney(&w, "price_per_hour", p->price);
        jsonw_kstring(&w, "currency", p->currency);
        /* hundredths of a percent are what prices of five digits tell */
        jsonw_kdouble(&w, "change_pct", round(p->change_pct * 100) / 100);
        jsonw_kstring(&w, "source_id", p->source);
        jsonw_key(&w, "sku");
        jsonw_string_or_null(&w, p->sku);
        jsonw_ktime(&w, "as_of", p->when);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "summary");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        json_summary(&w, &m[i]);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int write_csv(const struct series *s, struct buf *b)
{
    static const char *const titles[] = {
        "when", "price_per_hour", "currency", "change_pct", "source_id", "sku", "zone"};
    struct csvw w;
    char when[32];
    csvw_init(&w, b);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < s->n; i++) {
        csvw_text(&w, time_format(s->p[i].since, when));
        csvw_money(&w, s->p[i].price);
        csvw_text(&w, s->p[i].currency);
        csvw_double(&w, round(s->p[i].change_pct * 100) / 100);
        csvw_text(&w, s->p[i].source);
        csvw_text(&w, s->p[i].sku);
        csvw_text(&w, s->p[i].zone);
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}

static int write_table(const struct series *s, bool plot, bool ascii, struct buf *b)
{
    const char *head[] = {
        "when", "zone", ">per hour", "", ">change", "source", plot ? "relative" : NULL, NULL};
    struct text_table t;
    double top = 0;
    for (size_t i = 0; i < s->n; i++) {
        top = fmax(top, money_to_double(s->p[i].price));
    }
    table_init(&t, head);
    for (size_t i = 0; i < s->n; i++) {
        char when[32], price[MONEY_TEXT], change[24] = "", bar[PLOT_CELLS * 3 + 1] = "";
        int cells = top > 0 ? (int)round(PLOT_CELLS * money_to_double(s->p[i].price) / top) : 0;
        for (size_t k = 0, n = 0; k < (size_t)cells; k++) {
            n += (size_t)snprintf(bar + n, sizeof bar - n, "%s", ascii ? "#" : "\xe2\x96\x88");
        }
        if (!isnan(s->p[i].change_pct)) {
            snprintf(change, sizeof change, "%+.2f %%", s->p[i].change_pct);
        }
        table_row(&t, (const char *const[]){time_format(s->p[i].since, when),
                                            *s->p[i].zone ? s->p[i].zone : "-",
                                            money_format_fixed(s->p[i].price, 6, true, price),
                                            s->p[i].currency, change, s->p[i].source, bar});
    }
    return table_write(&t, b, ascii);
}

static int write_summary(const struct summary *m, size_t n, bool ascii, struct buf *b)
{
    struct text_table t;
    table_init(&t, (const char *const[]){"zone", "source", "from", "until", ">changes", ">least",
                                         ">most", ">last", ">mean", "", NULL});
    for (size_t i = 0; i < n; i++) {
        char from[32], until[32], changes[24], price[4][MONEY_TEXT];
        const money shown[] = {m[i].min, m[i].max, m[i].last, m[i].mean};
        snprintf(changes, sizeof changes, "%zu", m[i].changes);
        for (int k = 0; k < 4; k++) {
            money_format_fixed(shown[k], 6, true, price[k]);
        }
        table_row(&t, (const char *const[]){*m[i].first->zone ? m[i].first->zone : "-",
                                            m[i].first->source, time_format(m[i].from, from),
                                            time_format(m[i].until, until), changes, price[0],
                                            price[1], price[2], price[3], m[i].first->currency});
    }
    int rc = n > 0 ? buf_add(b, "\n", 1) : 0;
    return rc || n == 0 ? rc : table_write(&t, b, ascii);
}

static int write_all(struct app *app, const struct question *q, const struct series *s, bool plot,
                     struct buf *b, struct gt_error *err)
{
    struct summary *m = NULL;
    size_t n = 0;
    int rc = history_summary(s, q->until, &m, &n);
    if (rc == GT_ERANGE) {
        return gt_fail(err, rc, "", "the sum of these prices is out of range");
    }
    if (rc == 0 && app->format == OUT_JSON) {
        rc = write_json(q, s, m, n, b);
    } else if (rc == 0 && app->format == OUT_CSV) {
        rc = write_csv(s, b);
    } else if (rc == 0) {
        rc = write_table(s, plot, app->plain, b);
        rc = rc ? rc : write_summary(m, n, app->plain, b);
    }
    free(m);
    return rc ? gt_fail(err, rc, "", "out of memory") : app_put(b, err);
}

static int take_time(const struct app *app, const struct cli_args *a, const char *name,
                     int64_t *out, struct gt_error *err)
{
    const char *v = cli_value(a, name);
    if (v && time_parse(v, app->local_offset_s, out, NULL) != 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--%s: found '%.40s', expected a date such as 2026-09-01", name, v);
    }
    return 0;
}

/* The window of time; until = now where nothing is said. */
static int take_window(const struct app *app, const struct cli_args *a, struct question *q,
                       struct gt_error *err)
{
    q->since = GT_TIME_NONE;
    q->until = app->as_of != GT_TIME_NONE ? app->as_of : app->now;
    int rc = take_time(app, a, "since", &q->since, err);
    rc = rc ? rc : take_time(app, a, "until", &q->until, err);
    if (rc == 0 && q->since != GT_TIME_NONE && q->since >= q->until) {
        rc = gt_fail(err, GT_EUSAGE, "--since", "is not before %s",
                     cli_value(a, "until") ? "--until" : "now");
    }
    return rc;
}

static int take_question(const struct cli_args *a, struct question *q, char vendor[48],
                         struct gt_error *err)
{
    const char *region = cli_value(a, "region"), *v = cli_value(a, "vendor");
    const char *purchase = cli_value(a, "purchase");
    q->instance_type = cli_value(a, "instance");
    q->zone = cli_value(a, "zone");
    if (a->n_positional > 0 || !q->instance_type || !region) {
        return gt_fail(err, GT_EUSAGE, "history",
                       "expected --instance NAME and --region VENDOR/CODE");
    }
    if (cli_value(a, "currency")) {
        return gt_fail(err, GT_EUSAGE, "--currency",
                       "history shows each price in the currency it was listed in, as it has no "
                       "exchange rate of each day; leave it out");
    }
    const char *slash = strchr(region, '/');
    if (slash) {
        snprintf(vendor, 48, "%.*s", (int)(slash - region), region);
        v = vendor;
    }
    q->region = slash ? slash + 1 : region;
    q->vendor = v ? vendor_canonical(v) : NULL;
    if (!q->vendor || !*q->region) {
        return gt_fail(err, GT_EUSAGE, "--region",
                       "found '%.60s', expected VENDOR/CODE such as aws/us-east-1", region);
    }
    if (purchase && purchase_from_name(purchase, &q->purchase) != 0) {
        return gt_fail(err, GT_EUSAGE, "--purchase",
                       "found '%.40s', expected on_demand, spot, reserved_1y, …", purchase);
    }
    return 0;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct question q = {.purchase = PURCHASE_ON_DEMAND};
    struct series s = {.n = 0};
    struct store *store = NULL;
    struct buf b;
    char vendor[48];
    int rc = take_question(args, &q, vendor, err);
    rc = rc ? rc : take_window(app, args, &q, err);
    rc = rc ? rc : app_store(app, &store, err);
    if (rc != 0) {
        return rc;
    }
    s.arena = arena_new(0);
    s.strings = s.arena ? intern_new(s.arena) : NULL;
    rc = s.strings ? store_history(store, q.vendor, q.region, q.zone, q.instance_type, q.purchase,
                                   on_point, &s, err)
                   : gt_fail(err, GT_ENOMEM, "", "out of memory");
    compare(&s);
    history_clip(&s, q.since, cli_value(args, "until") ? q.until : GT_TIME_NONE);
    buf_init(&b, DOCUMENT_MAX);
    if (rc == 0) {
        if (s.n == 0 && !app->quiet) {
            fputs("no price of this machine was ever known here\n", stderr);
        }
        rc = write_all(app, &q, &s, cli_flag(args, "plot"), &b, err);
    }
    buf_release(&b);
    free(s.p);
    arena_free(s.arena);
    return rc;
}

const struct command command_history = {
    .name = "history",
    .usage = "--instance NAME --region VENDOR/CODE",
    .summary = "what an offer or a spot pool cost over time",
    .options = options,
    .example = "gputier history --instance p5.48xlarge --region aws/us-east-1",
    .run = run,
};
