/* Exchange rates of the European Central Bank (docs/pricing-sources.md section 7), units for one
 * EUR, in each of its forms: the XML of a day or of many (nested Cube elements), its CSV (a column
 * a currency, blanks behind commas, an empty last column, "09 July 2026" or 2026-07-09), and the
 * data portal's csvdata (a row a rate). "N/A" and "" are no rate. There is none on weekends and
 * TARGET holidays: the last one stands. Kept are units for one USD: the rate over that day's of
 * USD, the euro itself one over it. Informational rates. */
#include "gputier/text.h"
#include "source.h"
#include "xml_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATES_MAX (1U << 20) /* every day since 1999 has 260,000 */
#define DAY_MAX   200        /* currencies; the bank quotes about 30 */

struct rate {
    int64_t day;
    size_t order;
    char currency[4];
    money per_eur;
};
enum { PORTAL_FREQ, PORTAL_CURRENCY, PORTAL_BASE, PORTAL_TYPE, PORTAL_DAY, PORTAL_VALUE, PORTAL };
static const char *const portal_columns[PORTAL] = {"FREQ",     "CURRENCY",    "CURRENCY_DENOM",
                                                   "EXR_TYPE", "TIME_PERIOD", "OBS_VALUE"};
struct ecb {
    struct parse_context *ctx;
    struct xml_reader *xml;
    struct csv_reader *csv;
    int64_t day;   /* of the Cube that is open */
    int day_depth; /* its depth, 0 = none */
    int column[PORTAL];
    bool header, portal;
    char (*currency)[4]; /* of the columns; "" = none */
    size_t columns;
    struct rate *rate;
    size_t n, cap;
};

static int add(struct ecb *e, int64_t day, const char *currency, money per_eur,
               struct gt_error *err)
{
    if (e->n == e->cap) {
        size_t cap = e->cap ? 2 * e->cap : 1024;
        struct rate *more = cap > RATES_MAX ? NULL : realloc(e->rate, cap * sizeof *more);
        if (!more) {
            return gt_fail(err, cap > RATES_MAX ? GT_ELIMIT : GT_ENOMEM, e->ctx->name,
                           cap > RATES_MAX ? "more than a million rates" : "out of memory");
        }
        e->rate = more;
        e->cap = cap;
    }
    struct rate *r = &e->rate[e->n];
    *r = (struct rate){.day = day, .order = e->n++, .per_eur = per_eur};
    memcpy(r->currency, currency, sizeof r->currency);
    return 0;
}

static bool is_code(const char *s)
{
    return strlen(s) == 3 && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static bool rate_of(const char *text, money *out)
{
    return src_price(text, out) == 0 && *out > 0;
}

/* "2026-07-09" or "09 July 2026". */
static bool day_of(const char *text, int64_t *day)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    char name[16], iso[40], end;
    int d, y;
    if (sscanf(text, "%2d %15[A-Za-z] %4d%c", &d, name, &y, &end) != 3) {
        return time_parse(text, 0, day, NULL) == 0;
    }
    for (int m = 0; m < 12; m++) {
        if (text_ieq(name, months[m]) && d >= 1 && y >= 1999) {
            snprintf(iso, sizeof iso, "%04d-%02d-%02d", y, m + 1, d);
            return time_parse(iso, 0, day, NULL) == 0;
        }
    }
    return false;
}

static int on_xml(void *ctx, struct xml_reader *r, enum xml_event event, const char *name,
                  const char *text, struct gt_error *err)
{
    struct ecb *e = ctx;
    (void)text;
    if (strcmp(name, "Cube") != 0) {
        return 0;
    }
    if (event == XML_END) {
        e->day_depth = xml_depth(r) == e->day_depth ? 0 : e->day_depth;
        return 0;
    }
    const char *time = xml_attribute(r, "time"), *currency = xml_attribute(r, "currency");
    const char *rate = xml_attribute(r, "rate");
    money m;
    if (time) {
        e->day_depth = xml_depth(r);
        return day_of(time, &e->day) ? 0 : xml_fail(r, GT_EPARSE, err, "'%.20s' is no date", time);
    }
    if (!currency) {
        return 0;
    }
    if (e->day_depth == 0) {
        return xml_fail(r, GT_EPARSE, err, "a rate of no day");
    }
    return is_code(currency) && rate && rate_of(rate, &m)
               ? add(e, e->day, currency, m, err)
               : xml_fail(r, GT_EPARSE, err, "the rate of '%.8s' can not be read", currency);
}

/* A field without the blanks around it. */
static const char *trimmed(const struct csv_row *row, size_t i, char buf[64])
{
    const char *s = csv_field(row, (int)i);
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t')) {
        n--;
    }
    snprintf(buf, 64, "%.*s", (int)(n < 63 ? n : 63), s);
    return buf;
}

static int take_header(struct ecb *e, const struct csv_row *row, struct gt_error *err)
{
    char text[64];
    e->header = e->portal = true;
    for (int i = 0; i < PORTAL; i++) {
        e->column[i] = csv_column(row, portal_columns[i]);
        e->portal = e->portal && e->column[i] >= 0;
    }
    if (e->portal) {
        return 0;
    }
    if (strcmp(trimmed(row, 0, text), "Date") != 0) {
        return csv_fail(err, GT_EPARSE, e->ctx->name, row,
                        "expected the columns Date, USD, … or those of csvdata");
    }
    e->currency = calloc(row->n, sizeof *e->currency);
    if (!e->currency) {
        return gt_fail(err, GT_ENOMEM, e->ctx->name, "out of memory");
    }
    e->columns = row->n;
    for (size_t i = 1; i < row->n; i++) {
        if (*trimmed(row, i, text) != '\0' && !is_code(text)) {
            return csv_fail(err, GT_EPARSE, e->ctx->name, row, "'%.20s' is no currency", text);
        }
        memcpy(e->currency[i], text, strlen(text) + 1);
    }
    return 0;
}

static bool is_none(const char *text)
{
    return *text == '\0' || strcmp(text, "N/A") == 0;
}

static int portal_row(struct ecb *e, const struct csv_row *row, struct gt_error *err)
{
    char f[PORTAL][64];
    int64_t day;
    money m;
    for (int i = 0; i < PORTAL; i++) {
        trimmed(row, (size_t)e->column[i], f[i]);
    }
    if (strcmp(f[PORTAL_FREQ], "D") != 0 || strcmp(f[PORTAL_BASE], "EUR") != 0 ||
        strcmp(f[PORTAL_TYPE], "SP00") != 0 || is_none(f[PORTAL_VALUE]) ||
        strcmp(f[PORTAL_VALUE], "NaN") == 0) {
        src_skip(e->ctx, "means, other bases, holidays", 1);
        return 0;
    }
    if (!is_code(f[PORTAL_CURRENCY]) || !day_of(f[PORTAL_DAY], &day) ||
        !rate_of(f[PORTAL_VALUE], &m)) {
        return csv_fail(err, GT_EPARSE, e->ctx->name, row, "no rate: '%.10s' of '%.20s' at '%.30s'",
                        f[PORTAL_CURRENCY], f[PORTAL_DAY], f[PORTAL_VALUE]);
    }
    return add(e, day, f[PORTAL_CURRENCY], m, err);
}

static int on_row(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    struct ecb *e = ctx;
    char text[64];
    int64_t day;
    int rc = 0;
    if (!e->header) {
        return take_header(e, row, err);
    }
    if (e->portal) {
        return portal_row(e, row, err);
    }
    if (!day_of(trimmed(row, 0, text), &day)) {
        return csv_fail(err, GT_EPARSE, e->ctx->name, row, "'%.30s' is no date", text);
    }
    for (size_t i = 1; rc == 0 && i < row->n; i++) {
        money m;
        if (is_none(trimmed(row, i, text))) {
            continue;
        }
        rc = i < e->columns && e->currency[i][0] && rate_of(text, &m)
                 ? add(e, day, e->currency[i], m, err)
                 : csv_fail(err, GT_EPARSE, e->ctx->name, row, "'%.30s' is no rate of '%.4s'", text,
                            i < e->columns ? e->currency[i] : "");
    }
    return rc;
}

static int by_day(const void *a, const void *b)
{
    const struct rate *x = a, *y = b;
    if (x->day != y->day) {
        return x->day < y->day ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static int put(struct ecb *e, int64_t day, const char *currency, money per_eur, money usd,
               struct gt_error *err)
{
    struct fx_row f = {.currency = currency, .date = day};
    if (money_mul_ratio(per_eur, (gt_u128)MONEY_SCALE, (gt_u128)usd, &f.per_usd) != 0 ||
        f.per_usd <= 0) {
        return gt_fail(err, GT_ERANGE, e->ctx->name, "rate of %s out of range", currency);
    }
    int rc = staging_put_fx(e->ctx->staging, &f, err);
    e->ctx->rows += rc == 0;
    return rc;
}

/* The n rates of one day. */
static int put_day(struct ecb *e, const struct rate *r, size_t n, struct gt_error *err)
{
    char day[16];
    money usd = 0;
    date_format(r->day, day);
    if (n > DAY_MAX) {
        return gt_fail(err, GT_ELIMIT, e->ctx->name, "%s has more than %d rates", day, DAY_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        usd = strcmp(r[i].currency, "USD") == 0 ? r[i].per_eur : usd;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(r[i].currency, r[k].currency) == 0) {
                return gt_fail(err, GT_EPARSE, e->ctx->name, "two rates of %s on %s", r[i].currency,
                               day);
            }
        }
    }
    if (usd <= 0) {
        return gt_fail(err, GT_EPARSE, e->ctx->name, "%s has no rate of USD", day);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (strcmp(r[i].currency, "USD") != 0) {
            rc = put(e, r->day, r[i].currency, r[i].per_eur, usd, err);
        }
    }
    e->ctx->as_of = r->day;
    return rc ? rc : put(e, r->day, "EUR", MONEY_SCALE, usd, err);
}

static int put_days(struct ecb *e, struct gt_error *err)
{
    int rc = 0;
    if (e->n == 0) {
        return gt_fail(err, GT_EPARSE, e->ctx->name, "no exchange rate");
    }
    qsort(e->rate, e->n, sizeof *e->rate, by_day);
    for (size_t i = 0, next; rc == 0 && i < e->n; i = next) {
        for (next = i + 1; next < e->n && e->rate[next].day == e->rate[i].day;) {
            next++;
        }
        rc = put_day(e, &e->rate[i], next - i, err);
    }
    return rc;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    size_t n = len < 4096 ? len : 4096;
    (void)name;
    if (n > 0 && *head == '<') {
        return memmem(head, n, "eurofxref", 9) && memmem(head, n, "Cube", 4);
    }
    const char *end = memchr(head, '\n', n);
    size_t line = end ? (size_t)(end - head) : n;
    if (line > 5 && strncmp(head, "Date,", 5) == 0) {
        return memmem(head, line, "USD,", 4) != NULL;
    }
    for (int i = 0; i < PORTAL; i++) {
        if (!memmem(head, line, portal_columns[i], strlen(portal_columns[i]))) {
            return false;
        }
    }
    return true;
}

static void ecb_abort(struct parser *p)
{
    struct ecb *e = (struct ecb *)(void *)p;
    if (e) {
        xml_reader_free(e->xml);
        csv_reader_free(e->csv);
        free(e->currency);
        free(e->rate);
    }
    free(e);
}

static int ecb_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct ecb *e = calloc(1, sizeof *e);
    if (!e) {
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    e->ctx = ctx;
    *out = (struct parser *)(void *)e;
    return 0;
}

static int ecb_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct ecb *e = (struct ecb *)(void *)p;
    if (!e->xml && !e->csv && len > 0) {
        int rc = *data == '<' ? xml_reader_new(e->ctx->name, on_xml, e, &e->xml, err)
                              : csv_reader_new(e->ctx->name, ',', on_row, e, &e->csv, err);
        if (rc != 0) {
            return rc;
        }
    }
    return len == 0 ? 0
           : e->xml ? xml_reader_feed(e->xml, data, len, err)
                    : csv_reader_feed(e->csv, data, len, err);
}

static int ecb_close(struct parser *p, struct gt_error *err)
{
    struct ecb *e = (struct ecb *)(void *)p;
    int rc = e->xml   ? xml_reader_end(e->xml, err)
             : e->csv ? csv_reader_end(e->csv, err)
                      : gt_fail(err, GT_EPARSE, e->ctx->name, "an empty file");
    rc = rc ? rc : put_days(e, err);
    ecb_abort(p);
    return rc;
}

const struct source_def source_ecb_fx = {
    .id = "ecb-fx",
    .vendor = "",
    .default_url = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
    .default_on = true,
    .expected_bytes = 3000,
    .help = "exchange rates of the European Central Bank",
    .recognise = recognise,
    .parse_open = ecb_open,
    .parse_feed = ecb_feed,
    .parse_close = ecb_close,
    .parse_abort = ecb_abort,
};
