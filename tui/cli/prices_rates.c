/* prices storage | transfer | interruption: the other rates of the catalog, with their brackets;
 * with an amount also what it costs. Brackets are marginal: each part of the amount at its own
 * rate. */
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "prices.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)256 << 20)

struct rate_query {
    const struct catalog *c;
    const struct cli_args *args;
    bool has_amount;
    money amount;   /* in the unit of the rate: GiB or GB as the vendor bills */
    bool as_vendor; /* amount given without a suffix: in the vendor's own GB */
    uint64_t bytes;
    double reads; /* of the whole amount a month */
};

/* Any value of a list option is a case-blind match of text ("vendor/code" for regions). */
static bool listed(const struct cli_args *a, const char *option, const char *vendor,
                   const char *text)
{
    const char *v;
    bool any = false;
    for (size_t i = 0; (v = cli_list(a, option, i)) != NULL; i++) {
        const char *slash = vendor != NULL ? strchr(v, '/') : NULL;
        any = true;
        if (slash != NULL
                ? strlen(vendor) == (size_t)(slash - v) &&
                      strncasecmp(v, vendor, (size_t)(slash - v)) == 0 && text_ieq(slash + 1, text)
                : text_ieq(v, text)) {
            return true;
        }
    }
    return !any;
}

static bool vendor_listed(const struct cli_args *a, const char *vendor)
{
    const char *v;
    bool any = false;
    for (size_t i = 0; (v = cli_list(a, "vendor", i)) != NULL; i++) {
        const char *name = vendor_canonical(v);
        any = true;
        if (text_ieq(name != NULL ? name : v, vendor)) {
            return true;
        }
    }
    return !any;
}

/* The amount in units of `unit_bytes`, as a decimal of 12 places. */
static int amount_in(const struct rate_query *q, uint64_t unit_bytes, money *out)
{
    *out = q->amount;
    return q->as_vendor ? 0 : money_mul_ratio(MONEY_SCALE, q->bytes, unit_bytes, out);
}

/* One bracket's share of `quantity` x rate / per. */
static int share(money quantity, money from, money to, money rate, uint32_t per, money *out)
{
    money top = to >= 0 && to < quantity ? to : quantity, part = top - from;
    *out = 0;
    if (part <= 0) {
        return 0;
    }
    return money_mul_ratio(rate, (gt_u128)part, (gt_u128)MONEY_SCALE * (per > 0 ? per : 1), out);
}

static void bracket(struct jsonw *w, const char *key, money v)
{
    if (v < 0) {
        jsonw_knull(w, key);
    } else {
        jsonw_kmoney(w, key, v);
    }
}

static void provenance(struct jsonw *w, const struct catalog *c, uint32_t source, uint32_t sku,
                       int64_t as_of, enum origin origin)
{
    jsonw_kstring(w, "source_id", catalog_text(c, source));
    jsonw_key(w, "sku");
    jsonw_string_or_null(w, catalog_text(c, sku));
    jsonw_ktime(w, "as_of", as_of);
    jsonw_kstring(w, "origin", origin_name(origin));
}

struct cost {
    uint32_t vendor, region, what; /* tier or destination */
    const char *currency;
    money total;
};
struct costs {
    struct cost *item;
    size_t n;
};

static int add_cost(struct costs *k, const struct cost *x)
{
    struct cost *last = k->n > 0 ? &k->item[k->n - 1] : NULL;
    if (last != NULL && last->vendor == x->vendor && last->region == x->region &&
        last->what == x->what) {
        return money_add(last->total, x->total, &last->total);
    }
    struct cost *p = realloc(k->item, (k->n + 1) * sizeof *p);
    if (p == NULL) {
        return GT_ENOMEM;
    }
    k->item = p;
    k->item[k->n++] = *x;
    return 0;
}

/* A month of the amount in this row: storage once, retrieval as often as it is read. */
static int storage_cost(const struct rate_query *q, size_t i, struct costs *k)
{
    const struct catalog_storage *s = &q->c->storage;
    const char *component = catalog_text(q->c, s->component[i]);
    bool storage = strcmp(component, "storage") == 0, back = strcmp(component, "retrieval") == 0;
    bool gib = s->unit[i] == SU_GIB_MONTH || s->unit[i] == SU_GIB;
    bool gb = s->unit[i] == SU_GB_MONTH || s->unit[i] == SU_GB;
    money quantity, part;
    struct cost x = {s->vendor[i], s->region[i], s->tier[i], catalog_text(q->c, s->currency[i]), 0};
    if (!q->has_amount || !(gib || gb) || !(storage || back)) {
        return 0;
    }
    int rc = amount_in(q, gib ? GT_GIB : GT_GB, &quantity);
    if (rc == 0 && back) {
        money reads;
        rc = money_from_double(q->reads, &reads);
        rc = rc != 0 ? rc : money_mul_decimal(quantity, reads, &quantity);
    }
    rc = rc != 0 ? rc
                 : share(quantity, s->from_qty[i], s->to_qty[i], s->rate[i], s->unit_qty[i], &part);
    x.total = part;
    return rc != 0 ? rc : add_cost(k, &x);
}

static void write_costs(struct jsonw *w, const struct rate_query *q, const struct costs *k,
                        const char *what)
{
    jsonw_key(w, "costs");
    if (!q->has_amount) {
        jsonw_null(w);
        return;
    }
    jsonw_array(w);
    for (size_t i = 0; i < k->n; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "vendor", catalog_text(q->c, k->item[i].vendor));
        jsonw_kstring(w, "region", catalog_text(q->c, k->item[i].region));
        jsonw_kstring(w, what, catalog_text(q->c, k->item[i].what));
        jsonw_kmoney(w, "cost", k->item[i].total);
        jsonw_kstring(w, "currency", k->item[i].currency);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void cost_rows(const struct rate_query *q, const struct costs *k, struct buf *b)
{
    for (size_t i = 0; i < k->n; i++) {
        char text[MONEY_TEXT];
        buf_addf(b, "%s%s/%s %s: %s %s\n", i == 0 ? "\n" : "",
                 catalog_text(q->c, k->item[i].vendor), catalog_text(q->c, k->item[i].region),
                 catalog_text(q->c, k->item[i].what), money_format(k->item[i].total, text),
                 k->item[i].currency);
    }
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

static int storage(const struct rate_query *q, struct jsonw *w, struct text_table *t,
                   struct costs *k)
{
    const struct catalog *c = q->c;
    const struct catalog_storage *s = &c->storage;
    int rc = 0;
    for (size_t i = 0; i < s->n && rc == 0; i++) {
        const char *vendor = catalog_text(c, s->vendor[i]), *region = catalog_text(c, s->region[i]);
        if (!vendor_listed(q->args, vendor) || !listed(q->args, "region", vendor, region) ||
            !listed(q->args, "tier", NULL, catalog_text(c, s->tier[i]))) {
            continue;
        }
        if (w != NULL) {
            jsonw_object(w);
            jsonw_kstring(w, "vendor", vendor);
            jsonw_kstring(w, "region", region);
            jsonw_kstring(w, "tier", catalog_text(c, s->tier[i]));
            jsonw_kstring(w, "component", catalog_text(c, s->component[i]));
            jsonw_kstring(w, "unit", storage_unit_name((enum storage_unit)s->unit[i]));
            jsonw_kint(w, "unit_qty", s->unit_qty[i]);
            bracket(w, "from_qty", s->from_qty[i]);
            bracket(w, "to_qty", s->to_qty[i]);
            jsonw_kmoney(w, "rate", s->rate[i]);
            jsonw_kstring(w, "currency", catalog_text(c, s->currency[i]));
            provenance(w, c, s->source[i], s->sku[i], s->as_of[i], (enum origin)s->origin[i]);
            jsonw_end_object(w);
        } else {
            char place[200], unit[64], rate[MONEY_TEXT], date[16], range[160];
            snprintf(place, sizeof place, "%s/%s", vendor, region);
            const char *name = storage_unit_name((enum storage_unit)s->unit[i]);
            if (s->unit_qty[i] > 1) {
                snprintf(unit, sizeof unit, "%u %s", s->unit_qty[i], name);
            } else {
                snprintf(unit, sizeof unit, "%s", name);
            }
            table_row(t, (const char *const[]){
                             place, catalog_text(c, s->tier[i]), catalog_text(c, s->component[i]),
                             money_format(s->rate[i], rate), catalog_text(c, s->currency[i]), unit,
                             range_text(s->from_qty[i], s->to_qty[i], range),
                             date_format(s->as_of[i], date), catalog_text(c, s->source[i])});
        }
        rc = storage_cost(q, i, k);
    }
    return rc;
}

static int transfer(const struct rate_query *q, struct jsonw *w, struct text_table *t,
                    struct costs *k)
{
    const struct catalog *c = q->c;
    const struct catalog_transfer *x = &c->transfer;
    int rc = 0;
    for (size_t i = 0; i < x->n && rc == 0; i++) {
        const char *vendor = catalog_text(c, x->vendor[i]), *from = catalog_text(c, x->from[i]);
        if (!vendor_listed(q->args, vendor) || !listed(q->args, "region", vendor, from) ||
            !listed(q->args, "to", vendor, catalog_text(c, x->to[i]))) {
            continue;
        }
        const char *unit = x->gb_bytes[i] == GT_GIB ? "gib" : "gb";
        if (w != NULL) {
            jsonw_object(w);
            jsonw_kstring(w, "vendor", vendor);
            jsonw_kstring(w, "region", from);
            jsonw_kstring(w, "to", catalog_text(c, x->to[i]));
            jsonw_kstring(w, "unit", unit);
            bracket(w, "from_qty", x->from_gb[i]);
            bracket(w, "to_qty", x->to_gb[i]);
            jsonw_kmoney(w, "rate", x->rate[i]);
            jsonw_kstring(w, "currency", catalog_text(c, x->currency[i]));
            provenance(w, c, x->source[i], x->sku[i], x->as_of[i], (enum origin)x->origin[i]);
            jsonw_end_object(w);
        } else {
            char place[200], rate[MONEY_TEXT], date[16], range[160];
            snprintf(place, sizeof place, "%s/%s", vendor, from);
            table_row(t, (const char *const[]){
                             place, catalog_text(c, x->to[i]), money_format(x->rate[i], rate),
                             catalog_text(c, x->currency[i]), unit,
                             range_text(x->from_gb[i], x->to_gb[i], range),
                             date_format(x->as_of[i], date), catalog_text(c, x->source[i])});
        }
        if (q->has_amount) {
            struct cost cost = {x->vendor[i], x->from[i], x->to[i], catalog_text(c, x->currency[i]),
                                0};
            money quantity;
            rc = amount_in(q, x->gb_bytes[i], &quantity);
            rc = rc != 0 ? rc
                         : share(quantity, x->from_gb[i], x->to_gb[i], x->rate[i], 1, &cost.total);
            rc = rc != 0 ? rc : add_cost(k, &cost);
        }
    }
    return rc;
}

static int interruption(const struct rate_query *q, struct jsonw *w, struct text_table *t,
                        struct costs *k)
{
    const struct catalog *c = q->c;
    const struct catalog_interruption *x = &c->interruption;
    (void)k;
    for (size_t i = 0; i < x->n; i++) {
        const char *vendor = catalog_text(c, x->vendor[i]), *region = catalog_text(c, x->region[i]);
        const char *type = catalog_text(c, x->instance_type[i]);
        double lo = (double)x->band_lo_pct[i], hi = (double)x->band_hi_pct[i];
        double savings = (double)x->savings_pct[i];
        if (!vendor_listed(q->args, vendor) || !listed(q->args, "region", vendor, region) ||
            !listed(q->args, "instance", NULL, type)) {
            continue;
        }
        if (w != NULL) {
            jsonw_object(w);
            jsonw_kstring(w, "vendor", vendor);
            jsonw_kstring(w, "region", region);
            jsonw_kstring(w, "instance_type", type);
            jsonw_kdouble(w, "band_lo_pct", lo);
            jsonw_kdouble(w, "band_hi_pct", hi < 0 ? (double)NAN : hi);
            jsonw_kdouble(w, "savings_pct", savings < 0 ? (double)NAN : savings);
            jsonw_kstring(w, "source_id", catalog_text(c, x->source[i]));
            jsonw_knull(w, "sku");
            jsonw_ktime(w, "as_of", x->as_of[i]);
            jsonw_end_object(w);
        } else {
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
            table_row(t, (const char *const[]){place, type, band, saving,
                                               date_format(x->as_of[i], date),
                                               catalog_text(c, x->source[i])});
        }
    }
    return 0;
}

static const struct rate_kind {
    const char *name, *schema, *what;
    const char *titles[10];
    int (*rows)(const struct rate_query *q, struct jsonw *w, struct text_table *t, struct costs *k);
} kinds[] = {
    {"storage",
     "gputier/storage-rates/1",
     "tier",
     {"vendor/region", "tier", "component", ">rate", "", "per", ">bracket", "as of", "source",
      NULL},
     storage},
    {"transfer",
     "gputier/transfer-rates/1",
     "to",
     {"vendor/from", "to", ">rate", "", "per", ">bracket", "as of", "source", NULL},
     transfer},
    {"interruption",
     "gputier/interruption/1",
     "type",
     {"vendor/region", "instance", ">a month", ">saving", "as of", "source", NULL},
     interruption},
};

static int read_query(struct rate_query *q, struct gt_error *err)
{
    const char *amount = cli_value(q->args, "amount"), *reads = cli_value(q->args, "reads");
    int rc = 0;
    if (amount != NULL) {
        q->has_amount = true;
        q->as_vendor = amount[strspn(amount, "0123456789.")] == '\0';
        rc = q->as_vendor ? money_parse(amount, strlen(amount), &q->amount, err)
                          : size_parse(amount, &q->bytes, err);
    }
    if (rc == 0 && reads != NULL) {
        rc = number_parse(reads, &q->reads, err);
    }
    if (rc != 0 || q->reads < 0 || q->reads > 1e9) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--amount wants a size (61440GiB; without a suffix the vendor's own GB), "
                       "--reads a number from 0");
    }
    return 0;
}

bool prices_rates_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int prices_rates(const struct app *app, const char *name, const struct catalog *c,
                 const struct cli_args *args, struct gt_error *err)
{
    struct rate_query q = {.c = c, .args = args};
    const struct rate_kind *kind = &kinds[0];
    struct costs k = {0};
    struct buf b;
    struct jsonw w;
    struct text_table t;
    bool json = app->format == OUT_JSON;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        kind = strcmp(kinds[i].name, name) == 0 ? &kinds[i] : kind;
    }
    if (app->format == OUT_CSV) {
        return gt_fail(err, GT_EUSAGE, "", "prices %s has the formats table and json", name);
    }
    int rc = read_query(&q, err);
    if (rc != 0) {
        return rc;
    }
    buf_init(&b, DOCUMENT_MAX);
    if (json) {
        jsonw_init(&w, &b, true);
        jsonw_object(&w);
        jsonw_kstring(&w, "schema", kind->schema);
        jsonw_key(&w, "rates");
        jsonw_array(&w);
        rc = kind->rows(&q, &w, NULL, &k);
        jsonw_end_array(&w);
        write_costs(&w, &q, &k, kind->what);
        jsonw_end_object(&w);
        rc = rc != 0 ? rc : jsonw_finish(&w);
    } else {
        table_init(&t, kind->titles);
        rc = kind->rows(&q, NULL, &t, &k);
        int written = table_write(&t, &b, app->plain);
        rc = rc != 0 ? rc : written;
        cost_rows(&q, &k, &b);
    }
    rc = rc != 0 ? gt_fail(err, rc, "", "the answer is out of range or memory") : app_put(&b, err);
    free(k.item);
    buf_release(&b);
    return rc;
}
