/* Machines of GPU clouds: see cloud.h. */
#include "cloud.h"
#include "gpu_names.h"
#include "gputier/text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cloud_machine cloud_machine(const struct parse_context *ctx, const char *vendor)
{
    struct cloud_machine m = {
        .o = src_offer(ctx), .gpu = "", .gpu_memory = -1, .price = "", .spot = "", .times = 1};
    m.o.vendor = vendor;
    m.o.instance_type = "";
    return m;
}

double cloud_memory_in(const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        bool begins = p == text || !isalnum((unsigned char)p[-1]);
        if (begins && *p >= '0' && *p <= '9') {
            size_t n = strspn(p, "0123456789.");
            const char *unit = p + n + strspn(p + n, " ");
            bool gb = (*unit == 'G' || *unit == 'g') &&
                      (!isalnum((unsigned char)unit[1]) || unit[1] == 'B' || unit[1] == 'b');
            if (gb || (*unit == '\0' && p == text)) {
                return src_figure(p);
            }
        }
    }
    return -1;
}

/* The words of a GPU's name without "(", ")", amounts of memory and, if asked, the form. */
static void plain_name(const char *name, bool with_form, char out[64])
{
    size_t n = 0;
    for (const char *p = name; *p != '\0' && n < 60;) {
        size_t skip = strspn(p, " ()_-");
        p += skip;
        size_t k = strcspn(p, " ()_-");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(k < 60 ? k : 60), p);
        size_t digits = strspn(word, "0123456789.");
        bool unit = text_ieq(word + digits, "GB") || text_ieq(word + digits, "G");
        bool memory = unit || (digits == k && k > 0 && strncasecmp(p + k, " GB", 3) == 0);
        bool form = strncasecmp(word, "PCI", 3) == 0 || strncasecmp(word, "SXM", 3) == 0 ||
                    text_ieq(word, "OAM");
        if (k > 0 && !memory && (with_form || !form)) {
            n += (size_t)snprintf(out + n, 64 - n, "%s%s", n > 0 ? " " : "", word);
            n = n < 63 ? n : 63;
        }
        p += k;
    }
    out[n] = '\0';
}

void cloud_set_gpu(struct cloud_machine *m)
{
    const struct gpu_instance *known = gpu_of_instance(m->o.vendor, m->o.instance_type);
    if (known) {
        m->o.gpu = known->model;
        m->o.gpu_num = known->num;
        m->o.gpu_den = known->den;
        m->o.gpu_memory_gib = (double)known->memory_gib;
        return;
    }
    if (*m->gpu == '\0' || m->o.gpu_num == 0) {
        m->o.gpu_num = 0;
        return;
    }
    char plain[2][64];
    plain_name(m->gpu, true, plain[0]);
    plain_name(m->gpu, false, plain[1]);
    double gib = m->gpu_memory > 0 ? m->gpu_memory : cloud_memory_in(m->gpu);
    struct gpu_name g = gpu_canonical(m->gpu, gib, m->o.vendor, m->o.instance_type);
    for (int i = 0; i < 2 && !g.known && !g.open; i++) { /* the full name still tells the form */
        g = gpu_canonical(plain[i], gib, m->o.vendor, m->gpu);
    }
    m->o.gpu = g.known || g.open ? g.model : m->gpu;
    double sheet = gpu_model_memory(m->o.gpu);
    m->o.gpu_memory_gib = gpu_nominal_memory(m->o.gpu, gib);
    if (gib <= 0 && sheet > 0 && m->o.gpu_num < m->o.gpu_den) { /* a slice has its share */
        m->o.gpu_memory_gib = sheet * m->o.gpu_num / m->o.gpu_den;
    }
}

void cloud_family_gpu(struct cloud_machine *m, const char *family)
{
    m->o.gpu = family;
    m->o.gpu_num = 0;
    m->o.note = "the vendor does not say which GPUs are in it";
}

static int price_of(const struct cloud_machine *m, const char *text, money *out)
{
    *out = 0;
    if (*text == '\0') {
        return 0;
    }
    int rc = src_price(text, out);
    gt_u128 den = 1;
    for (int i = 0; i < m->cents; i++) {
        den *= 10;
    }
    return rc ? rc : money_mul_ratio(*out, (gt_u128)(m->times > 0 ? m->times : 1), den, out);
}

static bool currency_ok(const char *c)
{
    return strlen(c) == 3 && strspn(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static int put(struct records *r, struct offer_row *o, enum purchase p, money price,
               struct gt_error *err)
{
    o->purchase = p;
    o->price_state = price > 0 ? PRICE_KNOWN : PRICE_NONE;
    o->price_per_hour = p == PURCHASE_MONTHLY ? 0 : price;
    o->price_month = p == PURCHASE_MONTHLY ? price : 0;
    int rc = staging_put_offer(r->ctx->staging, o, err);
    r->ctx->rows += rc == 0;
    return rc;
}

/* What is wrong with the names in o (*found says where), NULL when nothing is. */
static const char *fault_of(const struct offer_row *o, const char **found)
{
    *found = o->instance_type;
    if (!src_name_ok(o->instance_type) || (o->sku && *o->sku && !src_name_ok(o->sku))) {
        return "instance type";
    }
    *found = o->region;
    if (!src_name_ok(o->region) || (o->zone && *o->zone && !src_name_ok(o->zone))) {
        return "region";
    }
    *found = o->gpu;
    if (o->gpu && *o->gpu && !src_name_ok(o->gpu)) {
        return "GPU";
    }
    *found = o->currency;
    return currency_ok(o->currency) ? NULL : "currency";
}

int cloud_put_as(struct records *r, const struct cloud_machine *m, const char *region,
                 enum purchase p, const char *price, struct gt_error *err)
{
    struct offer_row o = m->o;
    const char *found, *fault;
    money amount;
    o.region = region;
    if ((fault = fault_of(&o, &found)) != NULL) {
        return records_bad(r, fault, found, err);
    }
    if (price_of(m, price, &amount) != 0) {
        return records_bad(r, "price", price, err);
    }
    if (amount == 0 && p != PURCHASE_ON_DEMAND) {
        src_skip(r->ctx, "price 0", 1);
        return 0;
    }
    return put(r, &o, p, amount, err);
}

int cloud_put(struct records *r, const struct cloud_machine *m, const char *region,
              struct gt_error *err)
{
    struct offer_row o = m->o;
    const char *found, *fault;
    money price, spot;
    o.region = region;
    if ((fault = fault_of(&o, &found)) != NULL) {
        return records_bad(r, fault, found, err);
    }
    if (price_of(m, m->price, &price) != 0 || price_of(m, m->spot, &spot) != 0) {
        return records_bad(r, "price", price_of(m, m->price, &price) ? m->price : m->spot, err);
    }
    int rc = put(r, &o, PURCHASE_ON_DEMAND, price, err);
    if (rc == 0 && spot > 0 && (price == 0 || spot < price)) {
        rc = put(r, &o, PURCHASE_SPOT, spot, err);
    }
    return rc;
}

int cloud_put_regions(struct records *r, struct cloud_machine *m, const struct rec *regions,
                      struct gt_error *err)
{
    if (!regions || !regions->child) {
        if (regions && !m->o.note) {
            m->o.note = "in no region when the list was read";
        }
        return cloud_put(r, m, CLOUD_ANY_REGION, err);
    }
    int rc = 0;
    for (const struct rec *e = regions->child; e && rc == 0; e = e->next) {
        rc = cloud_put(r, m, e->kind == JSON_OBJECT ? rec_text(e, "name") : e->text, err);
    }
    return rc;
}

int cloud_put_capacity(struct records *r, const struct cloud_machine *m, const char *region,
                       money price, int32_t available, struct gt_error *err)
{
    if (!src_name_ok(m->o.instance_type) || !src_name_ok(region)) {
        return 0; /* counted where the offer is put */
    }
    struct spot_point_row p = {
        .vendor = m->o.vendor,
        .region = region,
        .zone = m->o.zone ? m->o.zone : "",
        .instance_type = m->o.instance_type,
        .when = r->ctx->as_of,
        .price = price,
        .currency = m->o.currency,
        .available = available,
    };
    return staging_put_spot_point(r->ctx->staging, &p, err);
}

void cloud_error_field(struct cloud_error *e, const char *path, const char *text,
                       const char *code_path, const char *message_path)
{
    if (strcmp(path, code_path) == 0) {
        snprintf(e->code, sizeof e->code, "%s", text);
    } else if (strcmp(path, message_path) == 0) {
        snprintf(e->message, sizeof e->message, "%s", text);
    }
}

int cloud_error_end(struct records *r, const struct cloud_error *e, struct gt_error *err)
{
    return e->code[0] == '\0' ? 0
                              : gt_fail(err, GT_EHTTP, r->ctx->name, "the vendor answers %s: %s",
                                        e->code, e->message);
}

static const char *text_at(const struct rec *e, const char *path)
{
    return path ? rec_text(e, path) : "";
}

static int read_count(const struct cloud_map *map, const struct rec *e, struct cloud_machine *m)
{
    const char *text = text_at(e, map->gpu_count);
    if (*text == '\0' || strcmp(text, "0") == 0) {
        m->o.gpu_num = map->gpu_count ? 0 : *m->gpu != '\0';
        return 0;
    }
    return src_gpu_count(text, &m->o.gpu_num, &m->o.gpu_den);
}

/* "usd" to "USD", in memory that lasts. */
static const char *currency_of(struct records *r, const char *text)
{
    char *c = *text == '\0' ? NULL : arena_strdup(r->arena, text);
    for (char *p = c; p && *p != '\0'; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    return c;
}

int cloud_read(struct records *r, const struct cloud_map *map, const struct rec *e,
               struct cloud_machine *m, struct gt_error *err)
{
    *m = cloud_machine(r->ctx, map->vendor);
    m->o.instance_type = map->type ? rec_text(e, map->type) : e->key;
    m->gpu = text_at(e, map->gpu);
    m->cents = map->cents;
    m->price = text_at(e, map->price);
    m->spot = text_at(e, map->spot);
    m->o.vcpus = src_figure(text_at(e, map->vcpus));
    double memory = src_figure(text_at(e, map->memory));
    m->o.memory_gib = memory < 0 ? -1 : memory / (map->memory_per_gib ? map->memory_per_gib : 1);
    if (read_count(map, e, m) != 0) {
        int rc = records_bad(r, "GPU count", text_at(e, map->gpu_count), err);
        return rc ? rc : GT_ENOTFOUND;
    }
    m->gpu_memory = cloud_memory_in(text_at(e, map->gpu_memory));
    if (map->gpu_memory_total && m->o.gpu_num > 1 && m->o.gpu_den == 1 && m->gpu_memory > 0) {
        m->gpu_memory /= m->o.gpu_num;
    }
    const char *currency = text_at(e, map->currency);
    if (*currency != '\0' && !(m->o.currency = currency_of(r, currency))) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    int rc = map->adjust ? map->adjust(r, e, m, err) : 0;
    if (rc == GT_ENOTFOUND) {
        src_skip(r->ctx, "no machine that can be had", 1);
    }
    if (rc == 0) {
        cloud_set_gpu(m);
    }
    return rc;
}

int cloud_entry(struct records *r, const struct cloud_map *map, const struct rec *e,
                struct gt_error *err)
{
    struct cloud_machine m;
    int rc = cloud_read(r, map, e, &m, err);
    if (rc != 0) {
        return rc == GT_ENOTFOUND ? 0 : rc;
    }
    return cloud_put_regions(r, &m, map->regions ? rec_get(e, map->regions) : NULL, err);
}
