/* Offers as a table, JSON (product.md section 10) and CSV. */
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "prices.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What an hour costs, in the offer's own currency. */
static int own_hour(const struct catalog_offers *o, size_t row, money *out)
{
    int64_t hours = purchase_term_hours((enum purchase)o->purchase[row]);
    money part = 0;
    if (o->purchase[row] == PURCHASE_MONTHLY && o->price_month[row] > 0) {
        return money_mul_ratio(o->price_month[row], 1, GT_HOURS_PER_MONTH, out);
    }
    if (hours > 0 && o->upfront[row] > 0) {
        int rc = money_mul_ratio(o->upfront[row], 1, (gt_u128)hours, &part);
        if (rc != 0) {
            return rc;
        }
    }
    return money_add(o->price_per_hour[row], part, out);
}

struct shown_price price_shown(const struct catalog *c, size_t row, const char *currency)
{
    const struct catalog_offers *o = &c->offers;
    struct shown_price s = {.currency = catalog_text(c, o->currency[row])};
    if (o->price_state[row] != PRICE_KNOWN || own_hour(o, row, &s.hour) != 0) {
        return s;
    }
    s.known = true;
    if (currency && catalog_convert(c, s.currency, currency, s.hour, &s.hour) == 0) {
        s.currency = currency;
    }
    s.per_gpu = o->gpu_num[row] > 0 &&
                money_mul_ratio(s.hour, o->gpu_den[row], o->gpu_num[row], &s.gpu_hour) == 0;
    return s;
}

const char *gpu_form(const char *model)
{
    static const char *const forms[] = {"PCIe", "SXM2", "SXM4", "SXM", "NVL"};
    const char *last = strrchr(model, ' ');
    for (size_t i = 0; last && i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(last + 1, forms[i]) == 0) {
            return forms[i];
        }
    }
    return NULL;
}

const char *gpu_count_text(const struct catalog *c, size_t row, char buf[24])
{
    unsigned num = c->offers.gpu_num[row], den = c->offers.gpu_den[row];
    buf[0] = '\0';
    if (num > 0) {
        snprintf(buf, 24, den > 1 ? "%u/%u" : "%u", num, den);
    }
    return buf;
}

static void kfloat(struct jsonw *w, const char *key, float v)
{
    char text[32];
    if (isnan(v)) {
        jsonw_knull(w, key);
        return;
    }
    /* the shortest decimal of the float, not the long one of its double */
    snprintf(text, sizeof text, "%.7g", (double)v);
    double d = 0;
    jsonw_kdouble(w, key, number_parse(text, &d, NULL) == 0 ? d : (double)v);
}

static void ktext(struct jsonw *w, const char *key, const char *text)
{
    jsonw_key(w, key);
    jsonw_string_or_null(w, text);
}

/* The row's own note, and a doubt about its price. */
static void knote(struct jsonw *w, const struct catalog *c, size_t row)
{
    const char *own = catalog_text(c, c->offers.note[row]);
    char text[400];
    if (!catalog_under_floor(c, row)) {
        ktext(w, "note", own);
        return;
    }
    snprintf(text, sizeof text, "WARNING: less than %.2f USD a GPU-hour%s%.300s",
             CATALOG_GPU_FLOOR_USD, *own ? "; " : "", own);
    ktext(w, "note", text);
}

void prices_json_row(struct jsonw *w, const struct catalog *c, size_t row, const char *currency)
{
    const struct catalog_offers *o = &c->offers;
    struct shown_price s = price_shown(c, row, currency);
    const char *gpu = catalog_text(c, o->gpu[row]);
    char count[24];
    jsonw_object(w);
    jsonw_kstring(w, "vendor", catalog_text(c, o->vendor[row]));
    jsonw_kstring(w, "region", catalog_text(c, o->region[row]));
    ktext(w, "zone", catalog_text(c, o->zone[row]));
    jsonw_kstring(w, "instance_type", catalog_text(c, o->instance_type[row]));
    ktext(w, "gpu", gpu);
    ktext(w, "gpu_form", gpu_form(gpu));
    jsonw_key(w, "gpu_count");
    if (o->gpu_num[row] > 0 && o->gpu_den[row] == 1) {
        jsonw_int(w, o->gpu_num[row]);
    } else {
        jsonw_string_or_null(w, gpu_count_text(c, row, count));
    }
    kfloat(w, "gpu_memory_gib", o->gpu_memory_gib[row]);
    kfloat(w, "vcpus", o->vcpus[row]);
    kfloat(w, "memory_gib", o->memory_gib[row]);
    kfloat(w, "local_nvme_gb", o->local_nvme_gb[row]);
    kfloat(w, "network_gbps", o->network_gbps[row]);
    jsonw_kstring(w, "purchase", purchase_name((enum purchase)o->purchase[row]));
    ktext(w, "payment", payment_name((enum payment)o->payment[row]));
    ktext(w, "offering_class", offering_class_name((enum offering_class)o->offering_class[row]));
    jsonw_kstring(w, "price_state", price_state_name((enum price_state)o->price_state[row]));
    if (s.known) {
        jsonw_kmoney(w, "price_per_hour", s.hour);
    } else {
        jsonw_knull(w, "price_per_hour");
    }
    if (s.known && s.per_gpu) {
        jsonw_kmoney(w, "price_per_gpu_hour", s.gpu_hour);
    } else {
        jsonw_knull(w, "price_per_gpu_hour");
    }
    jsonw_kstring(w, "currency", s.currency);
    if (o->upfront[row] > 0) { /* in the vendor's own currency, as the bill will say */
        jsonw_kmoney(w, "upfront", o->upfront[row]);
    } else {
        jsonw_knull(w, "upfront");
    }
    jsonw_kstring(w, "source_id", catalog_text(c, o->source[row]));
    ktext(w, "sku", catalog_text(c, o->sku[row]));
    jsonw_ktime(w, "as_of", o->as_of[row]);
    jsonw_ktime(w, "fetched_at",
                o->origin[row] == ORIGIN_BUNDLED ? GT_TIME_NONE : o->fetched_at[row]);
    jsonw_kstring(w, "origin", origin_name((enum origin)o->origin[row]));
    knote(w, c, row);
    jsonw_end_object(w);
}

static int write_json(const struct price_view *v, const struct catalog *c, const uint32_t *row,
                      size_t n, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/prices/1");
    jsonw_ktime(&w, "as_of", c->as_of);
    jsonw_key(&w, "offers");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        prices_json_row(&w, c, row[i], v->currency);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static void csv_float(struct csvw *w, float v)
{
    csvw_double(w, isnan(v) ? (double)NAN : (double)v);
}

static void csv_row(struct csvw *w, const struct catalog *c, size_t i, const char *currency)
{
    const struct catalog_offers *o = &c->offers;
    struct shown_price s = price_shown(c, i, currency);
    char count[24], when[32];
    csvw_text(w, catalog_text(c, o->vendor[i]));
    csvw_text(w, catalog_text(c, o->region[i]));
    csvw_text(w, catalog_text(c, o->zone[i]));
    csvw_text(w, catalog_text(c, o->instance_type[i]));
    csvw_text(w, catalog_text(c, o->gpu[i]));
    csvw_text(w, gpu_form(catalog_text(c, o->gpu[i])));
    csvw_text(w, gpu_count_text(c, i, count));
    csv_float(w, o->gpu_memory_gib[i]);
    csv_float(w, o->vcpus[i]);
    csv_float(w, o->memory_gib[i]);
    csv_float(w, o->local_nvme_gb[i]);
    csv_float(w, o->network_gbps[i]);
    csvw_text(w, purchase_name((enum purchase)o->purchase[i]));
    csvw_text(w, payment_name((enum payment)o->payment[i]));
    csvw_text(w, price_state_name((enum price_state)o->price_state[i]));
    if (s.known) {
        csvw_money(w, s.hour);
    } else {
        csvw_empty(w);
    }
    if (s.known && s.per_gpu) {
        csvw_money(w, s.gpu_hour);
    } else {
        csvw_empty(w);
    }
    csvw_text(w, s.currency);
    csvw_text(w, catalog_text(c, o->source[i]));
    csvw_text(w, catalog_text(c, o->sku[i]));
    csvw_text(w, o->as_of[i] == GT_TIME_NONE ? NULL : time_format(o->as_of[i], when));
    csvw_text(w, o->origin[i] == ORIGIN_BUNDLED ? NULL : time_format(o->fetched_at[i], when));
    csvw_text(w, origin_name((enum origin)o->origin[i]));
    csvw_end_row(w);
}

static int write_csv(const struct price_view *v, const struct catalog *c, const uint32_t *row,
                     size_t n, struct buf *b)
{
    static const char *const titles[] = {"vendor",
                                         "region",
                                         "zone",
                                         "instance_type",
                                         "gpu",
                                         "gpu_form",
                                         "gpu_count",
                                         "gpu_memory_gib",
                                         "vcpus",
                                         "memory_gib",
                                         "local_nvme_gb",
                                         "network_gbps",
                                         "purchase",
                                         "payment",
                                         "price_state",
                                         "price_per_hour",
                                         "price_per_gpu_hour",
                                         "currency",
                                         "source_id",
                                         "sku",
                                         "as_of",
                                         "fetched_at",
                                         "origin"};
    struct csvw w;
    csvw_init(&w, b);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < n; i++) {
        csv_row(&w, c, row[i], v->currency);
    }
    return csvw_finish(&w);
}

/* The price as people read it: all digits (a unit price), or the state in words. */
static const char *price_text(const struct catalog *c, size_t row, const struct price_view *v,
                              const struct shown_price *s, char buf[MONEY_TEXT])
{
    enum price_per per = v->per;
    money m = per == PER_GPU_HOUR ? s->gpu_hour : s->hour;
    if (!s->known) {
        return c->offers.price_state[row] == PRICE_SOLD_OTHERWISE ? "other" : "none";
    }
    if (per == PER_GPU_HOUR && !s->per_gpu) {
        return "-";
    }
    if (per == PER_MONTH && money_mul_ratio(s->hour, v->month_h, 1, &m) != 0) {
        return "-";
    }
    return money_format_fixed(m, per == PER_MONTH ? money_minor_digits(s->currency) : 6, true, buf);
}

static void float_text(float v, char buf[24])
{
    buf[0] = '\0';
    if (!isnan(v)) {
        snprintf(buf, 24, "%.4g", (double)v);
    }
}

static int write_table(const struct price_view *v, const struct catalog *c, const uint32_t *row,
                       size_t n, struct buf *b)
{
    char month[40];
    snprintf(month, sizeof month,
             v->month_h == GT_HOURS_PER_MONTH ? ">per month (%u h)" : ">per %u h", v->month_h);
    const char *const heads[] = {">per hour", ">per GPU-hour", month};
    const char *titles[] = {
        "vendor/region", "zone",     "instance", "GPU",         "form", ">GPUs", ">GiB",   ">vCPUs",
        ">mem GiB",      "purchase", "payment",  heads[v->per], "",     "as of", "source", NULL};
    const struct catalog_offers *o = &c->offers;
    struct text_table t;
    table_init(&t, titles);
    for (size_t k = 0; k < n; k++) {
        size_t i = row[k];
        struct shown_price s = price_shown(c, i, v->currency);
        char place[160], model[80], count[24], gib[24], vcpus[24], mem[24], price[MONEY_TEXT],
            when[16] = "";
        const char *gpu = catalog_text(c, o->gpu[i]), *form = gpu_form(gpu);
        snprintf(place, sizeof place, "%s/%s", catalog_text(c, o->vendor[i]),
                 catalog_text(c, o->region[i]));
        snprintf(model, sizeof model, "%s", gpu);
        if (form) {
            *strrchr(model, ' ') = '\0';
        }
        float_text(o->gpu_num[i] > 0 ? o->gpu_memory_gib[i] : NAN, gib);
        float_text(o->vcpus[i], vcpus);
        float_text(o->memory_gib[i], mem);
        if (o->as_of[i] != GT_TIME_NONE) {
            date_format(o->as_of[i], when);
        }
        table_row(&t, (const char *const[]){
                          place, catalog_text(c, o->zone[i]), catalog_text(c, o->instance_type[i]),
                          model, form ? form : "", gpu_count_text(c, i, count), gib, vcpus, mem,
                          purchase_name((enum purchase)o->purchase[i]),
                          payment_name((enum payment)o->payment[i]), price_text(c, i, v, &s, price),
                          s.currency, when, catalog_text(c, o->source[i])});
    }
    return table_write(&t, b, v->plain);
}

int prices_write(const struct price_view *v, const struct catalog *c, const uint32_t *row, size_t n,
                 struct buf *b)
{
    return v->format == OUT_JSON  ? write_json(v, c, row, n, b)
           : v->format == OUT_CSV ? write_csv(v, c, row, n, b)
                                  : write_table(v, c, row, n, b);
}
