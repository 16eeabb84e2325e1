/* How rates are written: one line for people; the same members as JSON and as CSV. */
#include "gputier/units.h"
#include "prices_rates.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int rate_shown(const struct rate_query *q, money rate, const char **currency, money *out)
{
    *out = rate;
    if (!q->currency || strcmp(q->currency, *currency) == 0) {
        return 0;
    }
    int rc = catalog_convert(q->c, *currency, q->currency, rate, out);
    if (rc == GT_ENOTFOUND) { /* no rate of exchange: it stays in its own */
        *out = rate;
        return 0;
    }
    *currency = rc == 0 ? q->currency : *currency;
    return rc;
}

static void text(struct rate_out *o, const char *key, const char *v)
{
    v = v && *v ? v : NULL;
    if (o->csv) {
        csvw_text(o->csv, v);
    } else {
        jsonw_key(o->json, key);
        jsonw_string_or_null(o->json, v);
    }
}

static void integer(struct rate_out *o, const char *key, int64_t v)
{
    if (o->csv) {
        csvw_int(o->csv, v);
    } else {
        jsonw_kint(o->json, key, v);
    }
}

static void figure(struct rate_out *o, const char *key, double v)
{
    if (o->csv) {
        csvw_double(o->csv, v);
    } else {
        jsonw_kdouble(o->json, key, v);
    }
}

/* Below 0: none. */
static void amount(struct rate_out *o, const char *key, money v)
{
    if (o->csv && v < 0) {
        csvw_empty(o->csv);
    } else if (o->csv) {
        csvw_money(o->csv, v);
    } else if (v < 0) {
        jsonw_knull(o->json, key);
    } else {
        jsonw_kmoney(o->json, key, v);
    }
}

static void instant(struct rate_out *o, const char *key, int64_t when)
{
    char buf[32];
    if (o->csv) {
        csvw_text(o->csv, when == GT_TIME_NONE ? NULL : time_format(when, buf));
    } else {
        jsonw_ktime(o->json, key, when);
    }
}

static void begin(struct rate_out *o)
{
    if (o->json) {
        jsonw_object(o->json);
    }
}

static void end(struct rate_out *o)
{
    if (o->json) {
        jsonw_end_object(o->json);
    } else {
        csvw_end_row(o->csv);
    }
}

static void provenance(struct rate_out *o, uint32_t source, uint32_t sku, int64_t as_of,
                       uint8_t origin)
{
    text(o, "source_id", catalog_text(o->q->c, source));
    text(o, "sku", catalog_text(o->q->c, sku));
    instant(o, "as_of", as_of);
    text(o, "origin", origin_name((enum origin)origin));
}

static const char *range_text(money from, money to, char out[160])
{
    char a[MONEY_TEXT], b[MONEY_TEXT];
    if (from == 0 && to < 0) {
        return "";
    }
    snprintf(out, 160, "%s-%s", money_format(from, a), to < 0 ? "" : money_format(to, b));
    return out;
}

static int put_storage(struct rate_out *o, size_t i)
{
    const struct catalog *c = o->q->c;
    const struct catalog_storage *s = &c->storage;
    const char *vendor = catalog_text(c, s->vendor[i]), *region = catalog_text(c, s->region[i]);
    const char *tier = catalog_text(c, s->tier[i]), *part = catalog_text(c, s->component[i]);
    const char *unit = storage_unit_name((enum storage_unit)s->unit[i]);
    const char *currency = catalog_text(c, s->currency[i]);
    money shown;
    int rc = rate_shown(o->q, s->rate[i], &currency, &shown);
    if (rc == 0 && o->table) {
        char place[200], per[64], rate[MONEY_TEXT], date[16], range[160], times[16] = "";
        snprintf(place, sizeof place, "%s/%s", vendor, region);
        if (s->unit_qty[i] > 1) {
            snprintf(times, sizeof times, "%u ", s->unit_qty[i]);
        }
        snprintf(per, sizeof per, "%s%s", times, unit);
        table_row(o->table, (const char *const[]){
                                place, tier, part, money_format(shown, rate), currency, per,
                                range_text(s->from_qty[i], s->to_qty[i], range),
                                date_format(s->as_of[i], date), catalog_text(c, s->source[i])});
    } else if (rc == 0) {
        begin(o);
        text(o, "vendor", vendor);
        text(o, "region", region);
        text(o, "tier", tier);
        text(o, "component", part);
        text(o, "unit", unit);
        integer(o, "unit_qty", s->unit_qty[i]);
        amount(o, "from_qty", s->from_qty[i]);
        amount(o, "to_qty", s->to_qty[i]);
        amount(o, "rate", shown);
        text(o, "currency", currency);
        provenance(o, s->source[i], s->sku[i], s->as_of[i], s->origin[i]);
        end(o);
    }
    return rc;
}

static int put_transfer(struct rate_out *o, size_t i)
{
    const struct catalog *c = o->q->c;
    const struct catalog_transfer *x = &c->transfer;
    const char *vendor = catalog_text(c, x->vendor[i]), *from = catalog_text(c, x->from[i]);
    const char *to = catalog_text(c, x->to[i]), *unit = x->gb_bytes[i] == GT_GIB ? "gib" : "gb";
    const char *currency = catalog_text(c, x->currency[i]);
    money shown;
    int rc = rate_shown(o->q, x->rate[i], &currency, &shown);
    if (rc == 0 && o->table) {
        char place[200], rate[MONEY_TEXT], date[16], range[160];
        snprintf(place, sizeof place, "%s/%s", vendor, from);
        table_row(o->table, (const char *const[]){
                                place, to, money_format(shown, rate), currency, unit,
                                range_text(x->from_gb[i], x->to_gb[i], range),
                                date_format(x->as_of[i], date), catalog_text(c, x->source[i])});
    } else if (rc == 0) {
        begin(o);
        text(o, "vendor", vendor);
        text(o, "region", from);
        text(o, "to", to);
        text(o, "unit", unit);
        amount(o, "from_qty", x->from_gb[i]);
        amount(o, "to_qty", x->to_gb[i]);
        amount(o, "rate", shown);
        text(o, "currency", currency);
        provenance(o, x->source[i], x->sku[i], x->as_of[i], x->origin[i]);
        end(o);
    }
    return rc;
}

static int put_interruption(struct rate_out *o, size_t i)
{
    const struct catalog *c = o->q->c;
    const struct catalog_interruption *x = &c->interruption;
    const char *vendor = catalog_text(c, x->vendor[i]), *region = catalog_text(c, x->region[i]);
    const char *type = catalog_text(c, x->instance_type[i]);
    double lo = (double)x->band_lo_pct[i], hi = (double)x->band_hi_pct[i];
    double savings = (double)x->savings_pct[i];
    if (o->table) {
        char place[200], band[48], saving[32] = "", date[16];
        snprintf(place, sizeof place, "%s/%s", vendor, region);
        if (hi < 0) {
            snprintf(band, sizeof band, ">%g%%", lo);
        } else {
            snprintf(band, sizeof band, "%g-%g%%", lo, hi);
        }
        if (savings >= 0) {
            snprintf(saving, sizeof saving, "%g%%", savings);
        }
        table_row(o->table,
                  (const char *const[]){place, type, band, saving, date_format(x->as_of[i], date),
                                        catalog_text(c, x->source[i])});
        return 0;
    }
    begin(o);
    text(o, "vendor", vendor);
    text(o, "region", region);
    text(o, "instance_type", type);
    figure(o, "band_lo_pct", lo);
    figure(o, "band_hi_pct", hi < 0 ? (double)NAN : hi);
    figure(o, "savings_pct", savings < 0 ? (double)NAN : savings);
    text(o, "source_id", catalog_text(c, x->source[i]));
    text(o, "sku", NULL);
    instant(o, "as_of", x->as_of[i]);
    end(o);
    return 0;
}

#define BRACKET                                                                                    \
    "from_qty", "to_qty", "rate", "currency", "source_id", "sku", "as_of", "origin", NULL
const struct rate_shape rate_storage = {
    {"vendor/region", "tier", "component", ">rate", "", "per", ">bracket", "as of", "source", NULL},
    {"vendor", "region", "tier", "component", "unit", "unit_qty", BRACKET},
    put_storage};
const struct rate_shape rate_transfer = {
    {"vendor/from", "to", ">rate", "", "per", ">bracket", "as of", "source", NULL},
    {"vendor", "region", "to", "unit", BRACKET},
    put_transfer};
const struct rate_shape rate_interruption = {
    {"vendor/region", "instance", ">a month", ">saving", "as of", "source", NULL},
    {"vendor", "region", "instance_type", "band_lo_pct", "band_hi_pct", "savings_pct", "source_id",
     "sku", "as_of", NULL},
    put_interruption};
