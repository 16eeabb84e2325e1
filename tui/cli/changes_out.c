/* What `changes` writes: table, JSON (gputier/changes/1), CSV, and the summary in words. */
#include "changes.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static double hundredths(double pct)
{
    return round(pct * 100) / 100; /* what prices of five digits tell */
}

static void kprice(struct jsonw *w, const char *key, const struct change_price *p)
{
    if (p->known) {
        jsonw_kmoney(w, key, p->price);
    } else {
        jsonw_knull(w, key);
    }
}

static void ktext(struct jsonw *w, const char *key, const char *text)
{
    jsonw_key(w, key);
    jsonw_string_or_null(w, text);
}

/* The end that a row's unit, source date and SKU are taken from. */
static const struct change_price *shown_end(const struct price_change *c)
{
    return c->after.known ? &c->after : &c->before;
}

static bool same_unit(const struct price_change *c)
{
    return c->before.known && c->after.known && c->kind != CHANGE_REDENOMINATED &&
           strcmp(c->before.currency, c->after.currency) == 0 &&
           c->before.unit_qty == c->after.unit_qty;
}

static void json_converted(struct jsonw *w, const struct change_list *l, const struct change_row *r)
{
    bool both = r->c.before.known && r->c.after.known;
    jsonw_key(w, "converted");
    if (!r->converted) {
        jsonw_null(w);
        return;
    }
    jsonw_object(w);
    jsonw_kstring(w, "currency", l->currency);
    const struct {
        const char *key;
        bool known;
        money m;
    } part[] = {{"before", r->c.before.known, r->before},
                {"after", r->c.after.known, r->after},
                {"price_effect", both, r->price_effect},
                {"fx_effect", both, r->fx_effect}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].known) {
            jsonw_kmoney(w, part[i].key, part[i].m);
        } else {
            jsonw_knull(w, part[i].key);
        }
    }
    jsonw_end_object(w);
}

static void json_row(struct jsonw *w, const struct change_list *l, const struct change_row *r)
{
    const struct price_change *c = &r->c;
    const struct change_price *end = shown_end(c);
    bool offer = c->table == CHANGE_OFFER;
    jsonw_object(w);
    jsonw_kstring(w, "kind", change_kind_name(c->kind));
    jsonw_kstring(w, "what", change_table_name(c->table));
    jsonw_kstring(w, "vendor", c->vendor);
    jsonw_kstring(w, "region", c->region);
    ktext(w, "zone", c->zone);
    ktext(w, "instance_type", offer ? c->item : "");
    ktext(w, "gpu", c->gpu);
    ktext(w, "purchase", offer ? purchase_name(c->purchase) : "");
    ktext(w, "payment", offer ? payment_name(c->payment) : "");
    ktext(w, "offering_class", offer ? offering_class_name(c->offering_class) : "");
    ktext(w, "tier", c->table == CHANGE_STORAGE ? c->item : "");
    ktext(w, "component", c->component);
    ktext(w, "destination", c->table == CHANGE_TRANSFER ? c->item : "");
    if (offer) {
        jsonw_knull(w, "from_qty");
    } else {
        jsonw_kmoney(w, "from_qty", c->from_qty);
    }
    jsonw_kstring(w, "unit", end->unit);
    jsonw_kint(w, "unit_qty", end->unit_qty);
    kprice(w, "before", &c->before);
    ktext(w, "before_currency", c->before.currency);
    kprice(w, "after", &c->after);
    ktext(w, "currency", c->after.currency);
    if (same_unit(c)) {
        jsonw_kmoney(w, "change", c->after.price - c->before.price);
    } else {
        jsonw_knull(w, "change");
    }
    jsonw_kdouble(w, "change_pct", hundredths(c->change_pct));
    json_converted(w, l, r);
    jsonw_ktime(w, "when", c->when);
    jsonw_ktime(w, "missing_from", c->missing_from);
    jsonw_ktime(w, "missing_to", c->missing_to);
    jsonw_kstring(w, "source_id", c->source_id);
    ktext(w, "sku", end->sku);
    jsonw_ktime(w, "as_of", end->as_of);
    jsonw_end_object(w);
}

static void json_rates(struct jsonw *w, const struct change_list *l)
{
    static const char *const names[] = {"before", "after"};
    jsonw_key(w, "exchange_rates");
    jsonw_array(w);
    for (size_t i = 0; i < l->n_rates; i++) {
        const struct change_rate *r = &l->rate[i];
        if (strcmp(r->currency, "USD") == 0) {
            continue;
        }
        jsonw_object(w);
        jsonw_kstring(w, "currency", r->currency);
        for (int end = 0; end < 2; end++) {
            jsonw_key(w, names[end]);
            if (!r->known[end]) {
                jsonw_null(w);
                continue;
            }
            jsonw_object(w);
            jsonw_kmoney(w, "per_usd", r->per_usd[end]);
            jsonw_ktime(w, "date", r->date[end]);
            jsonw_kstring(w, "source_id", r->source[end]);
            jsonw_end_object(w);
        }
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

int changes_json(const struct change_list *l, int64_t now, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/changes/1");
    jsonw_ktime(&w, "since", l->result.since);
    jsonw_ktime(&w, "until", l->result.until == GT_TIME_NONE ? now : l->result.until);
    jsonw_key(&w, "summary");
    jsonw_object(&w);
    for (int k = CHANGE_ROSE; k <= CHANGE_EXPIRED; k++) {
        jsonw_kint(&w, change_kind_name((enum change_kind)k), (int64_t)l->count[k]);
    }
    jsonw_kdouble(&w, "median_change_pct", hundredths(l->median_pct));
    jsonw_kint(&w, "first_fetched_parts", (int64_t)l->result.first_feeds);
    jsonw_kint(&w, "spot_points", (int64_t)l->result.series_points);
    jsonw_ktime(&w, "pruned_before", l->result.pruned_before);
    jsonw_end_object(&w);
    json_rates(&w, l);
    jsonw_key(&w, "changes");
    jsonw_array(&w);
    for (size_t i = 0; i < l->shown; i++) {
        json_row(&w, l, &l->row[i]);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static void csv_price(struct csvw *w, bool known, money m)
{
    if (known) {
        csvw_money(w, m);
    } else {
        csvw_empty(w);
    }
}

static void csv_row(struct csvw *w, const struct change_row *r)
{
    const struct price_change *c = &r->c;
    const struct change_price *end = shown_end(c);
    bool offer = c->table == CHANGE_OFFER, both = c->before.known && c->after.known;
    char when[32];
    csvw_text(w, change_kind_name(c->kind));
    csvw_text(w, change_table_name(c->table));
    csvw_text(w, c->vendor);
    csvw_text(w, c->region);
    csvw_text(w, c->zone);
    csvw_text(w, c->item);
    csvw_text(w, c->component);
    csv_price(w, !offer, c->from_qty);
    csvw_text(w, c->gpu);
    csvw_text(w, offer ? purchase_name(c->purchase) : "");
    csvw_text(w, offer ? payment_name(c->payment) : "");
    csvw_text(w, end->unit);
    csvw_int(w, end->unit_qty);
    csv_price(w, c->before.known, c->before.price);
    csvw_text(w, c->before.currency);
    csv_price(w, c->after.known, c->after.price);
    csvw_text(w, c->after.currency);
    csvw_double(w, hundredths(c->change_pct));
    csv_price(w, r->converted && both, r->price_effect);
    csv_price(w, r->converted && both, r->fx_effect);
    const int64_t times[] = {c->when, c->missing_from, c->missing_to, end->as_of};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        csvw_text(w, times[i] == GT_TIME_NONE ? "" : time_format(times[i], when));
    }
    csvw_text(w, c->source_id);
    csvw_text(w, end->sku);
    csvw_end_row(w);
}

int changes_csv(const struct change_list *l, struct buf *b)
{
    static const char *const titles[] = {
        "kind",    "what",         "vendor",     "region",       "zone",
        "item",    "component",    "from_qty",   "gpu",          "purchase",
        "payment", "unit",         "unit_qty",   "before",       "before_currency",
        "after",   "currency",     "change_pct", "price_effect", "fx_effect",
        "when",    "missing_from", "missing_to", "as_of",        "source_id",
        "sku"};
    struct csvw w;
    csvw_init(&w, b);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < l->shown; i++) {
        csv_row(&w, &l->row[i]);
    }
    return csvw_finish(&w);
}

static void item_text(const struct price_change *c, char buf[260])
{
    char from[MONEY_TEXT] = "";
    if (c->from_qty > 0) {
        money_format(c->from_qty, from);
    }
    snprintf(buf, 260, "%s%.100s%s%.60s%s%.60s", c->table == CHANGE_TRANSFER ? "to " : "", c->item,
             *c->component ? " " : "", c->component, *from ? " from " : "", from);
}

/* "hour", "1000 request", "GiB" */
static void unit_text(const struct change_price *p, char buf[60])
{
    if (strcmp(p->unit, "byte") == 0) {
        snprintf(buf, 60, "%s", p->unit_qty == (int64_t)GT_GIB ? "GiB" : "GB");
    } else if (p->unit_qty == 1) {
        snprintf(buf, 60, "%.40s", p->unit);
    } else {
        snprintf(buf, 60, "%lld %.30s", (long long)p->unit_qty, p->unit);
    }
}

static void note_text(const struct price_change *c, char buf[80])
{
    char from[32], to[32];
    buf[0] = '\0';
    if (c->missing_from != GT_TIME_NONE) {
        snprintf(buf, 80, "missing %.20s to %.20s", time_format(c->missing_from, from),
                 time_format(c->missing_to, to));
    }
}

static void table_line(struct text_table *t, const struct change_list *l,
                       const struct change_row *r)
{
    const struct price_change *c = &r->c;
    const struct change_price *end = shown_end(c);
    bool both = r->converted && c->before.known && c->after.known;
    char place[160], item[260], unit[60], before[MONEY_TEXT] = "", after[MONEY_TEXT] = "";
    char currency[16], pct[24] = "", price_effect[MONEY_TEXT] = "", fx_effect[MONEY_TEXT] = "";
    char when[32], note[80];
    snprintf(place, sizeof place, "%.60s/%.90s", c->vendor, *c->zone ? c->zone : c->region);
    item_text(c, item);
    unit_text(end, unit);
    note_text(c, note);
    if (c->before.known) {
        money_format(c->before.price, before);
    }
    if (c->after.known) {
        money_format(c->after.price, after);
    }
    if (c->before.known && c->after.known && strcmp(c->before.currency, c->after.currency) != 0) {
        snprintf(currency, sizeof currency, "%.3s>%.3s", c->before.currency, c->after.currency);
    } else {
        snprintf(currency, sizeof currency, "%.3s", end->currency);
    }
    if (!isnan(c->change_pct)) {
        snprintf(pct, sizeof pct, "%+.2f %%", c->change_pct);
    }
    if (both) {
        money_format_fixed(r->price_effect, 6, true, price_effect);
        money_format_fixed(r->fx_effect, 6, true, fx_effect);
    }
    const char *purchase = c->table == CHANGE_OFFER ? purchase_name(c->purchase) : "";
    time_format(c->when, when);
    if (l->currency) {
        table_row(t, (const char *const[]){change_kind_name(c->kind), place, item, purchase, before,
                                           after, currency, unit, pct, price_effect, fx_effect,
                                           when, c->source_id, note});
    } else {
        table_row(t, (const char *const[]){change_kind_name(c->kind), place, item, purchase, before,
                                           after, currency, unit, pct, when, c->source_id, note});
    }
}

int changes_table(const struct change_list *l, bool ascii, struct buf *b)
{
    char price_effect[40], fx_effect[40];
    snprintf(price_effect, sizeof price_effect, ">by price %.3s", l->currency ? l->currency : "");
    snprintf(fx_effect, sizeof fx_effect, ">by rate %.3s", l->currency ? l->currency : "");
    const char *const plain[] = {"",    "place",   "what", "purchase", ">before", ">after", "",
                                 "per", ">change", "when", "source",   "note",    NULL};
    const char *const split[] = {"",        "place", "what",   "purchase", ">before",
                                 ">after",  "",      "per",    ">change",  price_effect,
                                 fx_effect, "when",  "source", "note",     NULL};
    struct text_table t;
    if (l->shown == 0) {
        return 0;
    }
    table_init(&t, l->currency ? split : plain);
    for (size_t i = 0; i < l->shown; i++) {
        table_line(&t, l, &l->row[i]);
    }
    return table_write(&t, b, ascii);
}

int changes_summary(const struct change_list *l, struct buf *b)
{
    char when[32], from[MONEY_TEXT], to[MONEY_TEXT], day[16], day2[16];
    if (l->result.since == GT_TIME_NONE) {
        return buf_adds(b, "nothing was fetched or imported yet: there is nothing to compare\n");
    }
    (void)buf_addf(b, "since %s:", time_format(l->result.since, when));
    const char *comma = " ";
    for (int k = CHANGE_ROSE; k <= CHANGE_EXPIRED; k++) {
        bool always = k != CHANGE_REDENOMINATED && k != CHANGE_RESTORED && k != CHANGE_EXPIRED;
        if (always || l->count[k] > 0) {
            (void)buf_addf(b, "%s%llu %s", comma, (unsigned long long)l->count[k],
                           change_kind_name((enum change_kind)k));
            comma = ", ";
        }
    }
    if (!isnan(l->median_pct)) {
        (void)buf_addf(b, "; median change %+.2f %%", l->median_pct);
    }
    (void)buf_addc(b, '\n');
    for (size_t i = 0; i < l->n_rates; i++) {
        const struct change_rate *r = &l->rate[i];
        if (strcmp(r->currency, "USD") != 0 && r->known[0] && r->known[1]) {
            (void)buf_addf(b, "1 USD was %s %s on %s (%.60s), %s on %s (%.60s)\n",
                           money_format(r->per_usd[0], from), r->currency,
                           date_format(r->date[0], day), r->source[0],
                           money_format(r->per_usd[1], to), date_format(r->date[1], day2),
                           r->source[1]);
        }
    }
    if (l->result.first_feeds > 0) {
        (void)buf_addf(b,
                       "%llu parts of sources were fetched for the first time: they have nothing"
                       " to be compared with\n",
                       (unsigned long long)l->result.first_feeds);
    }
    if (l->result.has_series) {
        (void)buf_addf(b,
                       "spot series are not compared here: they have %llu points since then;"
                       " history --purchase spot shows them\n",
                       (unsigned long long)l->result.series_points);
    }
    if (l->result.pruned_before != GT_TIME_NONE && l->result.since < l->result.pruned_before) {
        (void)buf_addf(b,
                       "prices replaced before %s were pruned: what is said of earlier days is"
                       " not whole\n",
                       date_format(l->result.pruned_before, day));
    }
    return b->failed ? GT_ENOMEM : 0;
}
