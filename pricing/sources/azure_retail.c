/* Azure Retail Prices, saved pages (docs/pricing-sources.md section 2): {"Items": [{…}], …}. One
 * virtual machine's size has rows for Linux and Windows, spot, low priority, DevTest, reservations
 * (the price of the whole term under the unit "1 Hour") and savings plans, told apart by names
 * only. Rows not yet or no longer in force do not count; zero is not a price. */
#include "azure_retail.h"
#include "gpu_names.h"
#include "json_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 200
#define PLANS    8

static const char *const keys[Z_FIELDS] = {
    [Z_CURRENCY] = "currencyCode", [Z_TIER_MIN] = "tierMinimumUnits", [Z_PRICE] = "retailPrice",
    [Z_REGION] = "armRegionName",  [Z_START] = "effectiveStartDate",  [Z_END] = "effectiveEndDate",
    [Z_METER] = "meterName",       [Z_PRODUCT] = "productName",       [Z_SKU] = "skuName",
    [Z_SERVICE] = "serviceName",   [Z_UNIT] = "unitOfMeasure",        [Z_TYPE] = "type",
    [Z_ARM_SKU] = "armSkuName",    [Z_TERM] = "reservationTerm",      [Z_METER_ID] = "meterId",
};

/* A row of a meter that is not the region's primary one: it counts where no primary row prices the
 * same purchase (for some sizes there is none). */
struct held {
    struct held *next;
    struct offer_row row;
};
struct azure {
    struct parse_context *ctx;
    struct intern *primary; /* keys that a primary row has priced */
    struct held *held;
    bool not_primary, primary_key;
    struct json_reader *json;
    struct azure_rates rates;
    struct bad_rows bad;
    int field;
    bool items;
    char text[Z_FIELDS][TEXT_MAX];
    struct {
        char term[24], price[40];
    } plan[PLANS];
    size_t n_plans;
    char *plan_field;
};

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

static bool names(const struct azure *a, const char *mark)
{
    return ends(a->text[Z_METER], mark) || ends(a->text[Z_SKU], mark);
}

/* Trims the blanks that some rows carry at both ends. */
static void trim(char *s)
{
    size_t lead = strspn(s, " "), n = strlen(s + lead);
    memmove(s, s + lead, n + 1);
    while (n > 0 && s[n - 1] == ' ') {
        s[--n] = '\0';
    }
}

static bool in_force(const struct azure *a, int64_t *from)
{
    int64_t to;
    *from = GT_TIME_NONE;
    if (time_parse(a->text[Z_START], 0, from, NULL) == 0 && *from > a->ctx->now) {
        return false;
    }
    return a->text[Z_END][0] == '\0' || time_parse(a->text[Z_END], 0, &to, NULL) != 0 ||
           to > a->ctx->now;
}

/* A Linux machine by the hour that anybody may rent. */
static bool is_linux_vm(const struct azure *a)
{
    const char *product = a->text[Z_PRODUCT];
    return strcmp(a->text[Z_SERVICE], "Virtual Machines") == 0 &&
           strcmp(a->text[Z_UNIT], "1 Hour") == 0 && a->text[Z_ARM_SKU][0] != '\0' &&
           !strstr(product, "Windows") && !ends(product, " Win") &&
           !strstr(product, "CloudServices") && !strstr(product, "Cloud Services") &&
           !strstr(product, "Dedicated Host") && !names(a, " Expired");
}

static int put_row(struct azure *a, const struct offer_row *o, struct gt_error *err)
{
    int rc = staging_put_offer(a->ctx->staging, o, err);
    a->ctx->rows += rc == 0;
    return rc;
}

/* Puts a primary row, holds another. */
static int put(struct azure *a, struct offer_row *o, struct gt_error *err)
{
    char key[3 * TEXT_MAX];
    int n = snprintf(key, sizeof key, "%s|%s|%d", o->region, o->instance_type, (int)o->purchase);
    if (!a->not_primary) {
        if (intern_add(a->primary, key, (size_t)n) == UINT32_MAX) {
            return gt_fail(err, GT_ENOMEM, a->ctx->name, "out of memory");
        }
        return put_row(a, o, err);
    }
    struct arena *m = a->rates.arena;
    struct held *h = arena_alloc(m, sizeof *h);
    char *region = arena_strdup(m, o->region), *type = arena_strdup(m, o->instance_type);
    char *currency = arena_strdup(m, o->currency), *sku = arena_strdup(m, o->sku);
    if (!h || !region || !type || !currency || !sku) {
        return gt_fail(err, GT_ENOMEM, a->ctx->name, "out of memory");
    }
    h->row = *o;
    h->row.region = region;
    h->row.instance_type = type;
    h->row.currency = currency;
    h->row.sku = sku;
    h->next = a->held;
    a->held = h;
    return 0;
}

static int put_held(struct azure *a, struct gt_error *err)
{
    int rc = 0;
    for (struct held *h = a->held; rc == 0 && h; h = h->next) {
        char key[3 * TEXT_MAX];
        int n = snprintf(key, sizeof key, "%s|%s|%d", h->row.region, h->row.instance_type,
                         (int)h->row.purchase);
        if (intern_find(a->primary, key, (size_t)n) != 0) {
            a->ctx->skipped++;
        } else {
            rc = put_row(a, &h->row, err);
        }
    }
    return rc;
}

static int put_plans(struct azure *a, struct offer_row o, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < a->n_plans; i++) {
        bool one = strcmp(a->plan[i].term, "1 Year") == 0;
        if ((!one && strcmp(a->plan[i].term, "3 Years") != 0) ||
            src_price(a->plan[i].price, &o.price_per_hour) != 0 || o.price_per_hour == 0) {
            a->ctx->skipped++;
            continue;
        }
        o.purchase = one ? PURCHASE_SAVINGS_PLAN_1Y : PURCHASE_SAVINGS_PLAN_3Y;
        o.payment = PAYMENT_NONE;
        rc = put(a, &o, err);
    }
    return rc;
}

/* What the row's type and names make of it; false for none. */
static bool take_purchase(const struct azure *a, struct offer_row *o, money price)
{
    const char *type = a->text[Z_TYPE];
    if (strcmp(type, "Reservation") == 0) {
        bool one = strcmp(a->text[Z_TERM], "1 Year") == 0;
        o->purchase = one ? PURCHASE_RESERVED_1Y : PURCHASE_RESERVED_3Y;
        o->payment = PAYMENT_ALL;
        o->upfront = price; /* of the whole term */
        return one || strcmp(a->text[Z_TERM], "3 Years") == 0;
    }
    o->price_per_hour = price;
    if (strcmp(type, "DevTestConsumption") == 0) {
        o->purchase = PURCHASE_DEV_TEST;
        return !names(a, " Spot") && !names(a, " Low Priority");
    }
    o->purchase = names(a, " Spot")           ? PURCHASE_SPOT
                  : names(a, " Low Priority") ? PURCHASE_LOW_PRIORITY
                                              : PURCHASE_ON_DEMAND;
    return strcmp(type, "Consumption") == 0;
}

static int end_item(struct azure *a, struct gt_error *err)
{
    struct offer_row o = src_offer(a->ctx);
    const char *f[Z_FIELDS];
    money price;
    bool taken = false;
    for (int i = 0; i < Z_FIELDS; i++) {
        trim(a->text[i]);
        f[i] = a->text[i];
    }
    a->bad.seen++;
    if (!in_force(a, &o.valid_from)) {
        a->ctx->skipped++;
        return 0;
    }
    int rc = azure_blob_row(&a->rates, a->ctx, f, &taken, err);
    if (rc != 0 || taken) {
        return rc;
    }
    if (!is_linux_vm(a)) {
        a->ctx->skipped++;
        return 0;
    }
    if (src_price(f[Z_PRICE], &price) != 0) {
        return src_bad_row(&a->bad, a->ctx, 0, "price", f[Z_PRICE], err);
    }
    if (!src_name_ok(f[Z_REGION]) || !src_name_ok(f[Z_ARM_SKU]) || strlen(f[Z_CURRENCY]) != 3) {
        return src_bad_row(&a->bad, a->ctx, 0, "region or size", f[Z_ARM_SKU], err);
    }
    if (price == 0 || strtod(f[Z_TIER_MIN], NULL) > 0 || !take_purchase(a, &o, price)) {
        a->ctx->skipped++;
        return 0;
    }
    o.vendor = "azure";
    o.region = f[Z_REGION];
    o.instance_type = f[Z_ARM_SKU];
    o.currency = f[Z_CURRENCY];
    o.sku = src_name_ok(f[Z_METER_ID]) ? f[Z_METER_ID] : "";
    const struct gpu_instance *g = gpu_of_instance("azure", o.instance_type);
    if (g) {
        o.gpu = g->model;
        o.gpu_num = g->num;
        o.gpu_den = g->den;
        o.gpu_memory_gib = (double)g->memory_gib;
    }
    rc = put(a, &o, err);
    return rc == 0 && o.purchase == PURCHASE_ON_DEMAND ? put_plans(a, o, err) : rc;
}

/* Depth: 1 page, 2 Items, 3 one item, 4 its savingsPlan, 5 one plan of it. */
static int on_key(struct azure *a, struct json_reader *r, const char *text, struct gt_error *err)
{
    int depth = json_depth(r);
    a->field = -1;
    a->plan_field = NULL;
    if (depth == 1) {
        a->items = strcmp(text, "Items") == 0 || strcmp(text, "items") == 0;
    } else if (depth == 3) {
        for (int i = 0; i < Z_FIELDS; i++) {
            a->field = strcmp(text, keys[i]) == 0 ? i : a->field;
        }
    } else if (depth == 5 && a->n_plans > 0) {
        a->plan_field = strcmp(text, "term") == 0          ? a->plan[a->n_plans - 1].term
                        : strcmp(text, "retailPrice") == 0 ? a->plan[a->n_plans - 1].price
                                                           : NULL;
    }
    bool plan = depth == 3 && strcmp(text, "savingsPlan") == 0;
    a->primary_key = depth == 3 && strcmp(text, "isPrimaryMeterRegion") == 0;
    if (a->field >= 0 && a->text[a->field][0] != '\0') {
        return json_fail(r, GT_EPARSE, err, "\"%s\" twice in one item", text);
    }
    if (!a->items || (depth == 3 && a->field < 0 && !plan && !a->primary_key) ||
        (depth == 5 && !a->plan_field)) {
        json_skip_value(r);
    }
    return 0;
}

static int on_event(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    struct azure *a = ctx;
    int depth = json_depth(r);
    if (e == JSON_KEY) {
        return on_key(a, r, text, err);
    }
    if (e == JSON_OBJECT && depth == 3) {
        memset(a->text, 0, sizeof a->text);
        a->n_plans = 0;
        a->not_primary = false;
    } else if (e == JSON_OBJECT && depth == 5) {
        if (a->n_plans == PLANS) {
            return json_fail(r, GT_ELIMIT, err, "more than %d savings plans of one item", PLANS);
        }
        memset(&a->plan[a->n_plans++], 0, sizeof a->plan[0]);
    } else if (e == JSON_END_OBJECT && depth == 2) {
        return end_item(a, err);
    } else if (e == JSON_FALSE && depth == 3 && a->primary_key) {
        a->not_primary = true;
    } else if (e == JSON_STRING || e == JSON_NUMBER) {
        size_t room = a->plan_field ? 24 : TEXT_MAX;
        char *to = depth == 5                    ? a->plan_field
                   : depth == 3 && a->field >= 0 ? a->text[a->field]
                                                 : NULL;
        if (to && len >= room) {
            return json_fail(r, GT_EPARSE, err, "'%.60s…' is too long", text);
        }
        if (to) {
            memcpy(to, text, len + 1);
        }
    }
    return 0;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    size_t n = len < 8192 ? len : 8192;
    return n > 0 && memmem(head, n, "\"retailPrice\"", 13) && memmem(head, n, "\"meterId\"", 9);
}

static void azure_abort(struct parser *p)
{
    struct azure *a = (struct azure *)(void *)p;
    if (a) {
        json_reader_free(a->json);
        arena_free(a->rates.arena);
    }
    free(a);
}

static int azure_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct azure *a = calloc(1, sizeof *a);
    if (!a || !(a->rates.arena = arena_new((size_t)256 << 20)) ||
        !(a->primary = intern_new(a->rates.arena))) {
        azure_abort((struct parser *)(void *)a);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    a->ctx = ctx;
    int rc = json_reader_new(ctx->name, on_event, a, &a->json, err);
    if (rc != 0) {
        azure_abort((struct parser *)(void *)a);
        return rc;
    }
    *out = (struct parser *)(void *)a;
    return 0;
}

static int azure_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    return json_reader_feed(((struct azure *)(void *)p)->json, data, len, err);
}

static int azure_close(struct parser *p, struct gt_error *err)
{
    struct azure *a = (struct azure *)(void *)p;
    int rc = json_reader_end(a->json, err);
    rc = rc ? rc : put_held(a, err);
    rc = rc ? rc : azure_blob_end(&a->rates, a->ctx, err);
    if (rc == 0 && a->ctx->rows == 0) {
        rc = gt_fail(err, GT_EPARSE, a->ctx->name,
                     "a page without a price that counts (Linux machines, blob storage)");
    }
    azure_abort(p);
    return rc;
}

/* No address: pages follow one another by links that no walk follows yet; saved pages are
 * imported, each replacing the one of its name. */
const struct source_def source_azure_retail = {
    .id = "azure-retail",
    .vendor = "azure",
    .help = "saved pages of Azure Retail Prices: machines, spot, reservations, blob storage",
    .recognise = recognise,
    .parse_open = azure_open,
    .parse_feed = azure_feed,
    .parse_close = azure_close,
    .parse_abort = azure_abort,
};
