/* Blob storage rates of Azure Retail Prices: product "General Block Blob v2", the class and the
 * redundancy in skuName ("Cool ZRS"), the component in meterName. A row states where its bracket
 * begins (tierMinimumUnits) and never where it ends. GB is 2^30 bytes. */
#include "azure_retail.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000000

struct azure_rate {
    const char *region, *tier, *component, *currency, *sku;
    enum storage_unit unit;
    uint32_t unit_qty;
    money from, rate;
    int64_t valid_from;
};

static const struct {
    const char *meter_end, *component, *unit;
    enum storage_unit as;
    uint32_t qty;
} meters[] = {
    {" Data Stored", "storage", "1 GB/Month", SU_GIB_MONTH, 1},
    {" Write Operations", "put", "10K", SU_REQUEST, 10000},
    {" List and Create Container Operations", "list", "10K", SU_REQUEST, 10000},
    {" Read Operations", "get", "10K", SU_REQUEST, 10000},
    {" Data Retrieval", "retrieval", "1 GB", SU_GIB, 1},
    {" Early Delete", "early_delete", "1 GB", SU_GIB_MONTH, 1},
};

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

/* "Cool ZRS" -> azure_blob_cool_zrs; redundancies without a tier name give NULL. */
static const char *tier_of(const char *sku)
{
    static const char *const tiers[][2] = {
        {"Hot LRS", "azure_blob_hot_lrs"},         {"Hot ZRS", "azure_blob_hot_zrs"},
        {"Hot GRS", "azure_blob_hot_grs"},         {"Cool LRS", "azure_blob_cool_lrs"},
        {"Cool ZRS", "azure_blob_cool_zrs"},       {"Cool GRS", "azure_blob_cool_grs"},
        {"Cold LRS", "azure_blob_cold_lrs"},       {"Cold ZRS", "azure_blob_cold_zrs"},
        {"Cold GRS", "azure_blob_cold_grs"},       {"Archive LRS", "azure_blob_archive_lrs"},
        {"Archive GRS", "azure_blob_archive_grs"},
    };
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        if (strcmp(tiers[i][0], sku) == 0) {
            return tiers[i][1];
        }
    }
    return NULL;
}

static struct azure_rate *add(struct azure_rates *r)
{
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 256;
        struct azure_rate *more = cap > ROWS_MAX ? NULL : arena_array(r->arena, cap, sizeof *more);
        if (!more) {
            return NULL;
        }
        if (r->n > 0) {
            memcpy(more, r->row, r->n * sizeof *more);
        }
        r->row = more;
        r->cap = cap;
    }
    return &r->row[r->n++];
}

int azure_blob_row(struct azure_rates *rates, const struct parse_context *ctx,
                   const char *const f[Z_FIELDS], bool *taken, struct gt_error *err)
{
    struct azure_rate x = {.tier = tier_of(f[Z_SKU])};
    const char *unit = "";
    for (size_t i = 0; i < sizeof meters / sizeof *meters && !x.component; i++) {
        if (ends(f[Z_METER], meters[i].meter_end) && !strstr(f[Z_METER], "Priority")) {
            x.component = meters[i].component;
            unit = meters[i].unit;
            x.unit = meters[i].as;
            x.unit_qty = meters[i].qty;
        }
    }
    *taken = false;
    if (strcmp(f[Z_PRODUCT], "General Block Blob v2") != 0 || !x.tier || !x.component ||
        strcmp(f[Z_TYPE], "Consumption") != 0 || strcmp(f[Z_UNIT], unit) != 0 ||
        !src_name_ok(f[Z_REGION]) || strlen(f[Z_CURRENCY]) != 3 ||
        src_price(f[Z_PRICE], &x.rate) != 0 || x.rate == 0 ||
        (*f[Z_TIER_MIN] && src_price(f[Z_TIER_MIN], &x.from) != 0)) {
        return 0;
    }
    *taken = true;
    x.region = arena_strdup(rates->arena, f[Z_REGION]);
    x.currency = arena_strdup(rates->arena, f[Z_CURRENCY]);
    x.sku = arena_strdup(rates->arena, src_name_ok(f[Z_METER_ID]) ? f[Z_METER_ID] : "");
    if (time_parse(f[Z_START], 0, &x.valid_from, NULL) != 0) {
        x.valid_from = GT_TIME_NONE;
    }
    if (x.unit == SU_REQUEST) {
        x.from *= x.unit_qty;
    }
    struct azure_rate *slot = add(rates);
    if (!slot || !x.region || !x.currency || !x.sku) {
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    *slot = x;
    return 0;
}

static int same_rate(const struct azure_rate *a, const struct azure_rate *b)
{
    int d = strcmp(a->region, b->region);
    d = d ? d : strcmp(a->tier, b->tier);
    d = d ? d : strcmp(a->component, b->component);
    return d ? d : strcmp(a->currency, b->currency);
}

static int by_bracket(const void *x, const void *y)
{
    const struct azure_rate *a = x, *b = y;
    int d = same_rate(a, b);
    return d ? d : a->from < b->from ? -1 : a->from > b->from;
}

int azure_blob_end(struct azure_rates *rates, struct parse_context *ctx, struct gt_error *err)
{
    int rc = 0;
    if (rates->n > 0) {
        qsort(rates->row, rates->n, sizeof *rates->row, by_bracket);
    }
    for (size_t i = 0; rc == 0 && i < rates->n; i++) {
        const struct azure_rate *a = &rates->row[i];
        size_t k = i + 1; /* pages may repeat a row */
        while (k < rates->n && by_bracket(a, &rates->row[k]) == 0) {
            k++;
        }
        bool more = k < rates->n && same_rate(a, &rates->row[k]) == 0;
        struct storage_rate_row s = {
            .vendor = "azure",
            .region = a->region,
            .tier = a->tier,
            .component = a->component,
            .unit = a->unit,
            .unit_qty = a->unit_qty,
            .from_qty = a->from,
            .to_qty = more ? rates->row[k].from : -1,
            .rate = a->rate,
            .currency = a->currency,
            .sku = a->sku,
            .valid_from = a->valid_from,
            .valid_to = GT_TIME_NONE,
            .as_of = ctx->as_of,
        };
        rc = staging_put_storage(ctx->staging, &s, err);
        ctx->rows += rc == 0;
        i = k - 1;
    }
    return rc;
}
