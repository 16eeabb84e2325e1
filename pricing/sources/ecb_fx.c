/* Exchange rates of the European Central Bank (docs/pricing-sources.md section 7): nested Cube
 * elements, a day with `time`, a currency with `currency` and `rate`, units for one EUR. Read by
 * their attributes alone, quotes of both kinds, never by position. Units for one USD are the rate
 * over USD's; the euro itself is one over it. Informational rates. */
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)1024 * 1024) /* the daily file has 2 KB, the 90 days' 150 KB */
#define RATES_MAX    64

struct rate {
    char currency[4];
    money per_eur;
};
struct ecb {
    struct parse_context *ctx;
    char *text;
    size_t len;
};

/* The value of an attribute within one element's text; false when it has none. */
static bool attribute(const char *tag, const char *end, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    for (const char *p = tag; p + n + 3 < end; p++) {
        if ((p == tag || p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\n') &&
            strncmp(p, name, n) == 0 && p[n] == '=' && (p[n + 1] == '\'' || p[n + 1] == '"')) {
            const char *v = p + n + 2, *q = memchr(v, p[n + 1], (size_t)(end - v));
            if (!q || (size_t)(q - v) >= size) {
                return false;
            }
            memcpy(out, v, (size_t)(q - v));
            out[q - v] = '\0';
            return true;
        }
    }
    return false;
}

static int put_day(struct ecb *e, const struct rate *r, size_t n, int64_t day, struct gt_error *err)
{
    money usd = 0;
    for (size_t i = 0; i < n; i++) {
        usd = strcmp(r[i].currency, "USD") == 0 ? r[i].per_eur : usd;
    }
    if (usd <= 0) {
        return gt_fail(err, GT_EPARSE, e->ctx->name, "a day without a rate of USD");
    }
    e->ctx->as_of = day;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i <= n; i++) { /* the last is the euro */
        struct fx_row f = {.currency = i < n ? r[i].currency : "EUR", .date = day};
        money per_eur = i < n ? r[i].per_eur : MONEY_SCALE;
        if (strcmp(f.currency, "USD") == 0) {
            continue;
        }
        if (money_mul_ratio(per_eur, (gt_u128)MONEY_SCALE, (gt_u128)usd, &f.per_usd) != 0) {
            return gt_fail(err, GT_ERANGE, e->ctx->name, "rate of %s out of range", f.currency);
        }
        rc = staging_put_fx(e->ctx->staging, &f, err);
        e->ctx->rows += rc == 0;
    }
    return rc;
}

static int parse(struct ecb *e, struct gt_error *err)
{
    struct rate rates[RATES_MAX];
    size_t n = 0;
    int64_t day = GT_TIME_NONE;
    int rc = 0;
    const char *p = e->text;
    while (rc == 0 && (p = strstr(p, "<Cube")) != NULL) {
        const char *end = strchr(p, '>');
        char time[24], currency[8], rate[32];
        if (!end) {
            break;
        }
        if (attribute(p, end, "time", time, sizeof time)) {
            if (n > 0) { /* the history has newer days first: only the first is wanted */
                break;
            }
            if (time_parse(time, 0, &day, NULL) != 0) {
                return gt_fail(err, GT_EPARSE, e->ctx->name, "'%.20s' is no date", time);
            }
        } else if (attribute(p, end, "currency", currency, sizeof currency)) {
            struct rate *r = &rates[n];
            if (n == RATES_MAX || strlen(currency) != 3 || !src_name_ok(currency) ||
                !attribute(p, end, "rate", rate, sizeof rate) ||
                src_price(rate, &r->per_eur) != 0 || r->per_eur == 0) {
                return gt_fail(err, GT_EPARSE, e->ctx->name, "the rate of '%.8s' can not be read",
                               currency);
            }
            memcpy(r->currency, currency, 4);
            n++;
        }
        p = end;
    }
    if (day == GT_TIME_NONE || !strstr(e->text, "</gesmes:Envelope>")) {
        return gt_fail(err, GT_EPARSE, e->ctx->name,
                       day == GT_TIME_NONE ? "no Cube element with a time"
                                           : "the document ends before its time: a cut file");
    }
    return rc ? rc : put_day(e, rates, n, day, err);
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    return memmem(head, len < 4096 ? len : 4096, "eurofxref", 9) &&
           memmem(head, len < 4096 ? len : 4096, "<Cube", 5);
}

static void ecb_abort(struct parser *p)
{
    struct ecb *e = (struct ecb *)(void *)p;
    if (e) {
        free(e->text);
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
    if (len > DOCUMENT_MAX - e->len) {
        return gt_fail(err, GT_ELIMIT, e->ctx->name, "more than 1 MiB of exchange rates");
    }
    char *t = realloc(e->text, e->len + len + 1);
    if (!t) {
        return gt_fail(err, GT_ENOMEM, e->ctx->name, "out of memory");
    }
    e->text = t;
    memcpy(t + e->len, data, len);
    e->len += len;
    t[e->len] = '\0';
    return memchr(data, '\0', len) ? gt_fail(err, GT_EPARSE, e->ctx->name, "a NUL byte in XML") : 0;
}

static int ecb_close(struct parser *p, struct gt_error *err)
{
    struct ecb *e = (struct ecb *)(void *)p;
    int rc = e->text ? parse(e, err) : gt_fail(err, GT_EPARSE, e->ctx->name, "an empty file");
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
