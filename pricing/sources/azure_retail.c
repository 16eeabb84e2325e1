/* Azure Retail Prices (docs/pricing-sources.md section 2): {"Items": [{…}], "NextPageLink": …}.
 * Rows are told apart by names only. Rows not yet or no longer in force do not count; zero is not a
 * price. Only US dollars are priced: other currencies are conversions for reference. */
#include "azure_retail.h"
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_REGIONS 6

static const char *const keys[Z_FIELDS] = {
    [Z_CURRENCY] = "currencyCode",
    [Z_TIER_MIN] = "tierMinimumUnits",
    [Z_PRICE] = "retailPrice",
    [Z_REGION] = "armRegionName",
    [Z_LOCATION] = "location",
    [Z_START] = "effectiveStartDate",
    [Z_END] = "effectiveEndDate",
    [Z_METER] = "meterName",
    [Z_PRODUCT] = "productName",
    [Z_SKU] = "skuName",
    [Z_SERVICE] = "serviceName",
    [Z_UNIT] = "unitOfMeasure",
    [Z_TYPE] = "type",
    [Z_ARM_SKU] = "armSkuName",
    [Z_TERM] = "reservationTerm",
    [Z_METER_ID] = "meterId",
};

struct azure {
    struct azure_item item;
    struct azure_rates rates;
    struct azure_vms vms;
    struct cloud_error refused;
    uint64_t foreign, abroad; /* rows in another currency; of other clouds' regions */
    char currency[4], apart[SHOWN_REGIONS][48];
    size_t n_apart;
    bool lower_case;
};

bool azure_ends(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

/* Copies a row's texts without the blanks that some carry at both ends; GT_ELIMIT when one does
 * not fit. */
static int read_texts(const struct rec *e, struct azure_item *item)
{
    for (int i = 0; i < Z_FIELDS; i++) {
        const char *s = rec_text(e, keys[i]);
        s += strspn(s, " ");
        size_t n = strlen(s);
        while (n > 0 && s[n - 1] == ' ') {
            n--;
        }
        if (n >= AZURE_TEXT) {
            return GT_ELIMIT;
        }
        memcpy(item->f[i], s, n);
        item->f[i][n] = '\0';
    }
    const struct rec *primary = rec_get(e, "isPrimaryMeterRegion");
    item->primary = !primary || primary->kind != JSON_FALSE;
    return 0;
}

static bool in_force(struct azure_item *item, int64_t now)
{
    int64_t to;
    if (time_parse(item->f[Z_START], 0, &item->from, NULL) != 0) {
        item->from = GT_TIME_NONE;
    }
    return (item->from == GT_TIME_NONE || item->from <= now) &&
           (item->f[Z_END][0] == '\0' || time_parse(item->f[Z_END], 0, &to, NULL) != 0 || to > now);
}

static void note_apart(struct azure *a, const char *region)
{
    a->abroad++;
    for (size_t i = 0; i < a->n_apart; i++) {
        if (strncmp(a->apart[i], region, sizeof a->apart[i] - 1) == 0) {
            return;
        }
    }
    if (a->n_apart < SHOWN_REGIONS) {
        snprintf(a->apart[a->n_apart++], sizeof a->apart[0], "%.47s", region);
    }
}

/* Finds the row's region. GT_ENOTFOUND: another one than was asked for, or no public one. */
static int place(struct azure *a, const struct parse_context *ctx)
{
    const char *asked = ctx->region, *arm = a->item.f[Z_REGION];
    const char *known = azure_region_of(arm, a->item.f[Z_LOCATION]);
    asked += strncmp(asked, "azure/", 6) == 0 ? 6 : 0;
    if (*asked && strcmp(known ? known : arm, asked) != 0) {
        return GT_ENOTFOUND;
    }
    /* a region of its own name may be newer than the table: asked for, it counts */
    a->item.region = known ? known : *asked && !azure_region_apart(asked) ? asked : NULL;
    if (!a->item.region) {
        note_apart(a, *arm ? arm : a->item.f[Z_LOCATION]);
        return GT_ENOTFOUND;
    }
    return 0;
}

static int take_vm(struct records *r, struct azure *a, const struct rec *e, struct gt_error *err)
{
    const struct azure_item *item = &a->item;
    money from = 0;
    if (!src_name_ok(item->f[Z_ARM_SKU])) {
        return records_bad(r, "size", item->f[Z_ARM_SKU], err);
    }
    if (item->price == 0 ||
        (item->f[Z_TIER_MIN][0] && src_price(item->f[Z_TIER_MIN], &from) != 0) || from > 0) {
        src_skip(r->ctx, "price 0", 1);
        return 0;
    }
    int rc = azure_vm_add(&a->vms, item, err);
    if (rc == GT_ENOTFOUND) {
        src_skip(r->ctx, "other systems and ways to pay", 1);
        return 0;
    }
    const struct rec *plans = rec_get(e, "savingsPlan");
    for (const struct rec *p = plans ? plans->child : NULL; p && rc == 0; p = p->next) {
        money price;
        rc = src_price(rec_text(p, "retailPrice"), &price) != 0
                 ? GT_ENOTFOUND
                 : azure_vm_plan(&a->vms, rec_text(p, "term"), price, err);
        if (rc == GT_ENOTFOUND) {
            src_skip(r->ctx, "savings plans that can not be read", 1);
            rc = 0;
        }
    }
    return rc;
}

static int take_meter(struct records *r, struct azure *a, struct azure_meter *m,
                      struct gt_error *err)
{
    struct azure_unit unit;
    const char *written = a->item.f[Z_UNIT];
    if (azure_unit(written, &unit) != 0 || unit.of != m->sold.of || unit.per != m->sold.per) {
        return records_bad(r, "unit", written, err);
    }
    m->sold.qty = unit.qty;
    int rc = azure_rates_add(&a->rates, &a->item, m, err);
    return rc == GT_EPARSE ? records_bad(r, "bracket", a->item.f[Z_TIER_MIN], err) : rc;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    struct azure *a = r->state;
    struct azure_meter m;
    struct azure_item *item = &a->item;
    a->lower_case |= list == 1;
    if (read_texts(e, item) != 0) {
        return records_bad(r, "a text", rec_text(e, "meterId"), err);
    }
    bool vm = azure_is_vm(item);
    if (!in_force(item, r->ctx->now) ||
        (!vm && (strcmp(item->f[Z_TYPE], "Consumption") != 0 || !azure_meter(item, &m)))) {
        src_skip(r->ctx, "not in force, or meters that no plan has", 1);
        return 0;
    }
    if (strcmp(item->f[Z_CURRENCY], "USD") != 0) {
        if (strlen(item->f[Z_CURRENCY]) != 3 || !src_name_ok(item->f[Z_CURRENCY])) {
            return records_bad(r, "currency", item->f[Z_CURRENCY], err);
        }
        a->foreign++;
        memcpy(a->currency, item->f[Z_CURRENCY], 4);
        src_skip(r->ctx, "other currencies", 1);
        return 0;
    }
    if (src_price(item->f[Z_PRICE], &item->price) != 0) {
        return records_bad(r, "price", item->f[Z_PRICE], err);
    }
    if (!src_name_ok(item->f[Z_REGION][0] ? item->f[Z_REGION] : item->f[Z_LOCATION])) {
        return records_bad(r, "region", item->f[Z_REGION], err);
    }
    if (place(a, r->ctx) != 0) {
        src_skip(r->ctx, "other regions", 1);
        return 0;
    }
    return vm ? take_vm(r, a, e, err) : take_meter(r, a, &m, err);
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    struct azure *a = r->state;
    if (strcmp(path, "NextPageLink") == 0) {
        if (strlen(text) >= sizeof r->ctx->next) {
            return json_fail(r->json, GT_ELIMIT, err, "a NextPageLink of %zu bytes", strlen(text));
        }
        snprintf(r->ctx->next, sizeof r->ctx->next, "%s", text);
    }
    cloud_error_field(&a->refused, path, text, "Error.Code", "Error.Message");
    return 0;
}

static int document(struct records *r, struct gt_error *err)
{
    const struct azure *a = r->state;
    return cloud_error_end(r, &a->refused, err);
}

static void report_apart(const struct azure *a, const struct parse_context *ctx)
{
    char names[SHOWN_REGIONS * 50] = "";
    size_t n = 0;
    for (size_t i = 0; i < a->n_apart; i++) {
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", a->apart[i]);
    }
    log_line(ctx->log, LOG_WARNING, "azure-retail",
             "%llu rows are left out, whose regions are none of the public cloud's: %s%s",
             (unsigned long long)a->abroad, names, a->n_apart == SHOWN_REGIONS ? ", …" : "");
}

static int end(struct records *r, struct gt_error *err)
{
    struct azure *a = r->state;
    int rc = azure_vms_end(&a->vms, r->ctx, err);
    rc = rc ? rc : azure_rates_end(&a->rates, r->ctx, err);
    if (rc != 0) {
        return rc;
    }
    if (a->lower_case) {
        log_line(r->ctx->log, LOG_WARNING, "azure-retail",
                 "%.200s: the rows stand under \"items\", the vendor's pages have \"Items\": "
                 "somebody has rewritten it",
                 r->ctx->name);
    }
    if (a->abroad > 0) {
        report_apart(a, r->ctx);
    }
    if (a->foreign > 0 && r->ctx->rows > 0) {
        log_line(r->ctx->log, LOG_WARNING, "azure-retail",
                 "%llu rows in %s are left out: Azure prices in USD, the others are conversions",
                 (unsigned long long)a->foreign, a->currency);
    } else if (a->foreign > 0) {
        rc = gt_fail(err, GT_EPARSE, r->ctx->name,
                     "the prices are in %s, conversions for reference: expected USD", a->currency);
    }
    return rc;
}

/* "Error.none" only makes the way to the vendor's message. */
static const struct records_shape shape = {.list = {"Items", "items", "Error.none"},
                                           .pages = true,
                                           .entry = entry,
                                           .field = field,
                                           .document = document,
                                           .end = end};

static int open_list(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    int rc = records_open(ctx, &shape, out, err);
    if (rc != 0) {
        return rc;
    }
    struct records *r = (struct records *)(void *)*out;
    struct azure *a = arena_alloc(r->arena, sizeof *a);
    if (a) {
        a->rates.arena = a->vms.arena = r->arena;
        a->vms.names = intern_new(r->arena);
    }
    if (!a || !a->vms.names) {
        records_abort(*out);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    r->state = a;
    return 0;
}

const struct source_def source_azure_retail = {
    .id = "azure-retail",
    .vendor = "azure",
    .default_url = "https://prices.azure.com",
    .default_on = true,
    .per_region = true,
    .has_region = azure_has_region,
    .files_are_parts = true,
    .expected_bytes = 4000000,
    .help = "Azure Retail Prices: GPU machines, blob, files, disks, transfer, one region after "
            "the other",
    .known_by = {{"\"retailPrice\"", "\"meterId\""}},
    .parse_open = open_list,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = azure_retail_fetch,
};
