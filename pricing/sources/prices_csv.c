/* prices-csv: people's own lists (product.md section 7), and the price tables of the same kind
 * that one meets: storage rates, transfer rates, histories. Told apart by their header. It is a
 * person's file: a row that can not be read refuses the file and names the line. */
#include "gpu_names.h"
#include "tables.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    VENDOR,
    REGION,
    ZONE,
    TYPE,
    GPU,
    GPU_COUNT,
    GPU_MEMORY,
    VCPUS,
    MEMORY,
    NVME,
    NETWORK,
    PURCHASE,
    PAYMENT,
    PRICE,
    UPFRONT,
    CURRENCY,
    FROM,
    TO,
    SKU,
    SOURCE,
    NOTE,
    PRICE_MONTH
};

static int take_names(struct parser *p, const struct csv_row *row, struct offer_row *o,
                      struct gt_error *err)
{
    static const int needed[] = {REGION, TYPE, CURRENCY};
    o->vendor = vendor_canonical(table_text(p, row, VENDOR));
    if (!o->vendor) {
        return table_refuse(p, row, VENDOR,
                            "expected a vendor that is known: aws, aws-cn, azure, "
                            "gcp, oci, lambda, runpod, vast, nebius, coreweave, alibaba, …",
                            err);
    }
    for (size_t i = 0; i < 3; i++) {
        if (!src_name_ok(table_text(p, row, needed[i]))) {
            return table_refuse(p, row, needed[i],
                                "expected 1 to 200 bytes without control characters", err);
        }
    }
    static const int optional[] = {ZONE, GPU, SKU, SOURCE, NOTE};
    for (size_t i = 0; i < 5; i++) {
        const char *t = table_text(p, row, optional[i]);
        if (*t != '\0' && !src_name_ok(t)) {
            return table_refuse(p, row, optional[i],
                                "expected at most 200 bytes without control characters", err);
        }
    }
    o->region = table_text(p, row, REGION);
    o->zone = table_text(p, row, ZONE);
    o->instance_type = table_text(p, row, TYPE);
    o->sku = table_text(p, row, SKU);
    o->note = table_text(p, row, NOTE);
    o->currency = table_text(p, row, CURRENCY);
    for (size_t i = 0; i < 4; i++) {
        if (i < 3 ? o->currency[i] < 'A' || o->currency[i] > 'Z' : o->currency[i] != '\0') {
            return table_refuse(p, row, CURRENCY, "expected an ISO 4217 code such as USD", err);
        }
    }
    return 0;
}

static int take_figures(struct parser *p, const struct csv_row *row, struct offer_row *o,
                        struct gt_error *err)
{
    double *out[] = {&o->gpu_memory_gib, &o->vcpus, &o->memory_gib, &o->local_nvme_gb,
                     &o->network_gbps};
    for (int c = GPU_MEMORY; c <= NETWORK; c++) {
        double v;
        const char *t = table_text(p, row, c);
        if (*t == '\0') {
            continue;
        }
        if (number_parse(t, &v, NULL) != 0 || v < 0 || v > 1e9) {
            return table_refuse(p, row, c, "expected a number from 0 to 10^9, or nothing", err);
        }
        *out[c - GPU_MEMORY] = v;
    }
    const char *gpu = table_text(p, row, GPU), *count = table_text(p, row, GPU_COUNT);
    if (*gpu == '\0' && (*count == '\0' || strcmp(count, "0") == 0)) {
        return 0;
    }
    if (*gpu == '\0') {
        return table_refuse(p, row, GPU_COUNT, "a count without the name of the gpu", err);
    }
    o->gpu_num = 1;
    if (*count != '\0' && src_gpu_count(count, &o->gpu_num, &o->gpu_den) != 0) {
        return table_refuse(p, row, GPU_COUNT, "expected a count such as 8, 0.5 or 1/6", err);
    }
    struct gpu_name g = gpu_canonical(gpu, o->gpu_memory_gib, o->vendor, "");
    o->gpu = g.model;
    if (o->gpu_memory_gib < 0 && o->gpu_den == 1) {
        o->gpu_memory_gib = gpu_model_memory(g.model);
    }
    return 0;
}

/* The signs of a currency; "$" is that of any dollar, "¥" of yen and yuan. */
static const struct {
    const char *sign, *currencies;
} signs[] = {{"US$", "USD"},
             {"$", "USD AUD CAD HKD MXN NZD SGD TWD"},
             {"€", "EUR"},
             {"£", "GBP"},
             {"¥", "JPY CNY"}};

/* What people write where there is no price. */
static bool no_price(const char *text)
{
    static const char *const words[] = {"-",    "–",   "—",   "n/a",        "na",
                                        "none", "poa", "tbd", "on request", "contact us"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return true;
        }
    }
    return *text == '\0';
}

/* "$1,234.50" in dollars is 1234.50. A sign of another currency is refused, and so is one comma
 * without a point behind it: half of the world means a decimal by it. */
static int hand_price(const char *text, const char *currency, money *out)
{
    char plain[64];
    size_t n = 0, digits = 0, commas = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t len = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, len) == 0) {
            if (strstr(signs[i].currencies, currency) == NULL) {
                return GT_EPARSE;
            }
            text += len + strspn(text + len, " ");
            break;
        }
    }
    const char *t = text;
    for (; (*t >= '0' && *t <= '9') || *t == ','; t++) {
        if (*t == ',' && (digits == 0 || (commas > 0 ? digits != 3 : digits > 3))) {
            return GT_EPARSE;
        }
        if (n + 1 >= sizeof plain) {
            return GT_EPARSE;
        }
        commas += *t == ',';
        digits = *t == ',' ? 0 : digits + 1;
        if (*t != ',') {
            plain[n++] = *t;
        }
    }
    if (commas > 0 && (digits != 3 || (commas == 1 && *t != '.'))) {
        return GT_EPARSE;
    }
    if (strlen(t) >= sizeof plain - n) {
        return GT_EPARSE;
    }
    memcpy(plain + n, t, strlen(t) + 1);
    return src_price(plain, out);
}

/* What to say of a price that is refused. */
static const char *expected_price(const char *text)
{
    const char *comma = strchr(text, ',');
    return comma && !strchr(comma + 1, ',') && !strchr(text, '.')
               ? "a comma without a point may mean thousands or a decimal; expected it as 1234, "
                 "1,234.00 or 1.234"
               : "expected a decimal number from 0 to 10^9 (a sign of its own currency and commas "
                 "by three before a point may stand in it), or nothing";
}

static int take_price(struct parser *p, const struct csv_row *row, struct offer_row *o,
                      struct gt_error *err)
{
    if (purchase_from_name(table_text(p, row, PURCHASE), &o->purchase) != 0) {
        return table_refuse(p, row, PURCHASE,
                            "expected on_demand, spot, low_priority, monthly, reserved_1y, "
                            "reserved_3y, savings_plan_1y, savings_plan_3y, committed_use_1y, "
                            "committed_use_3y, capacity_block or dev_test",
                            err);
    }
    if (payment_from_name(table_text(p, row, PAYMENT), &o->payment) != 0) {
        return table_refuse(p, row, PAYMENT, "expected none, partial, all or nothing", err);
    }
    const char *price = table_text(p, row, PRICE), *upfront = table_text(p, row, UPFRONT);
    bool priced = !no_price(price);
    if (!no_price(upfront) && hand_price(upfront, o->currency, &o->upfront) != 0) {
        return table_refuse(p, row, UPFRONT, expected_price(upfront), err);
    }
    if (priced && hand_price(price, o->currency, &o->price_per_hour) != 0) {
        return table_refuse(p, row, PRICE, expected_price(price), err);
    }
    if (priced && o->price_per_hour == 0 && o->upfront == 0) {
        return table_refuse(p, row, PRICE,
                            "nothing is free; leave the field empty when no price is published",
                            err);
    }
    o->price_state = !priced && o->upfront == 0 ? PRICE_NONE : PRICE_KNOWN;
    const char *month = table_text(p, row, PRICE_MONTH);
    if (!no_price(month) && (o->purchase != PURCHASE_MONTHLY || priced ||
                             hand_price(month, o->currency, &o->price_month) != 0)) {
        return table_refuse(p, row, PRICE_MONTH,
                            "expected the price of a package whose purchase is monthly, and no "
                            "price_per_hour beside it",
                            err);
    }
    if (o->price_month > 0) {
        o->price_state = PRICE_KNOWN;
    } else if (o->purchase == PURCHASE_MONTHLY && o->price_state == PRICE_KNOWN) {
        /* given per hour; the package is what 730 of them cost */
        if (money_mul_ratio(o->price_per_hour, GT_HOURS_PER_MONTH, 1, &o->price_month) != 0) {
            return table_refuse(p, row, PRICE, expected_price(price), err);
        }
        o->price_per_hour = 0;
    }
    return 0;
}

static int own_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    struct offer_row o = src_offer(p->ctx);
    int rc = take_names(p, row, &o, err);
    rc = rc ? rc : take_figures(p, row, &o, err);
    rc = rc ? rc : take_price(p, row, &o, err);
    rc = rc ? rc : table_time(p, row, FROM, &o.valid_from, err);
    rc = rc ? rc : table_time(p, row, TO, &o.valid_to, err);
    if (rc == 0 && o.valid_from != GT_TIME_NONE && o.valid_to != GT_TIME_NONE &&
        o.valid_to <= o.valid_from) {
        rc = table_refuse(p, row, TO, "expected a date after valid_from", err);
    }
    if (rc == 0 && o.valid_from != GT_TIME_NONE && o.valid_from < p->ctx->now) {
        o.as_of = o.valid_from;
    }
    rc = rc ? rc : staging_put_offer(p->ctx->staging, &o, err);
    p->ctx->rows += rc == 0;
    return rc;
}

static const struct table_shape own_list = {
    .scope = "",
    .column = {"*vendor",
               "*region",
               "zone",
               "*instance_type",
               "gpu",
               "gpu_count",
               "gpu_memory_gib",
               "vcpus",
               "memory_gib",
               "local_nvme_gb",
               "network_gbps",
               "*purchase",
               "payment",
               "*price_per_hour",
               "upfront",
               "*currency",
               "valid_from",
               "valid_to",
               "sku",
               "source",
               "note",
               "price_month",
               NULL},
    .only_these = true,
    .row = own_row,
};

static const struct table_shape *const shapes[] = {
    &own_list, &table_storage_prices, &table_transfer, &table_price_history, NULL,
};

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    return table_recognise(shapes, head, len);
}

static int open_list(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    return table_open(ctx, shapes, ',', out, err);
}

const struct source_def source_prices_csv = {
    .id = "prices-csv",
    .kind = SOURCE_OWN,
    .vendor = "",
    .help =
        "your own prices (columns: product.md), and tables of storage, transfer and past prices",
    .recognise = recognise,
    .parse_open = open_list,
    .parse_feed = table_feed,
    .parse_close = table_close,
    .parse_abort = table_abort,
};
