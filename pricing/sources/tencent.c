/* Tencent Cloud: DescribeZoneInstanceConfigInfos (docs/pricing-sources.md section 6). Each type in
 * each zone, once by the hour, once spot, once by the month. Prices are the list's: UnitPrice by
 * the hour, OriginalPrice a month; an account's discount is the user's to state. A spot price is
 * what its discount leaves of the list price (UnitPriceDiscount): the list price is that of on
 * demand. The list names no currency: the mainland site's are CNY, those of the international one
 * (an address or file name with "intl") USD. What is sold out keeps its price. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tencent {
    struct cloud_error error;
    char region[64];
    bool several; /* regions in one file */
};

static struct tencent *state(struct records *r, struct gt_error *err)
{
    struct tencent *t = r->state ? r->state : arena_alloc(r->arena, sizeof *t);
    if (!t) {
        (void)gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    r->state = t;
    return t;
}

/* "ap-guangzhou-6" to "ap-guangzhou". */
static bool region_of(const char *zone, char out[64])
{
    const char *dash = strrchr(zone, '-');
    if (!dash || dash == zone || dash - zone > 60 || dash[1] == '\0' ||
        dash[1 + strspn(dash + 1, "0123456789")] != '\0') {
        return false;
    }
    snprintf(out, 64, "%.*s", (int)(dash - zone), zone);
    return true;
}

/* Long use by the hour becomes cheaper in two steps. */
static const char *note_of(struct records *r, const struct rec *e)
{
    const char *first = rec_text(e, "Price.UnitPrice");
    const char *second = rec_text(e, "Price.UnitPriceSecondStep");
    const char *third = rec_text(e, "Price.UnitPriceThirdStep");
    money a, b, c;
    if (src_price(first, &a) != 0 || src_price(second, &b) != 0 || src_price(third, &c) != 0 ||
        b == 0 || c == 0 || (a == b && b == c)) {
        return NULL;
    }
    return arena_printf(r->arena, "the price of the first 96 h; then %s, from 360 h on %s an hour",
                        second, third);
}

static int put(struct records *r, struct cloud_machine *m, const struct rec *e, const char *region,
               struct gt_error *err)
{
    const char *charge = rec_text(e, "InstanceChargeType"), *spot;
    if (strcmp(charge, "POSTPAID_BY_HOUR") == 0) {
        m->o.note = m->o.note ? m->o.note : note_of(r, e);
        return cloud_put_as(r, m, region, PURCHASE_ON_DEMAND, rec_text(e, "Price.UnitPrice"), err);
    }
    if (strcmp(charge, "PREPAID") == 0) {
        return cloud_put_as(r, m, region, PURCHASE_MONTHLY, rec_text(e, "Price.OriginalPrice"),
                            err);
    }
    if (strcmp(charge, "SPOTPAID") != 0) {
        src_skip(r->ctx, "other ways to pay", 1); /* dedicated hosts, reserved capacity */
        return 0;
    }
    spot = rec_text(e, "Price.UnitPriceDiscount");
    spot = *spot != '\0' ? spot : rec_text(e, "Price.UnitPrice");
    money price;
    int rc = cloud_put_as(r, m, region, PURCHASE_SPOT, spot, err);
    if (rc == 0 && src_price(spot, &price) == 0 && price > 0) {
        rc = cloud_put_capacity(r, m, region, price, strcmp(rec_text(e, "Status"), "SELL") == 0,
                                err);
    }
    return rc;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    char region[64];
    struct tencent *t = state(r, err);
    struct cloud_machine m = cloud_machine(r->ctx, "tencent");
    if (!t) {
        return GT_ENOMEM;
    }
    m.o.instance_type = rec_text(e, "InstanceType");
    m.o.zone = rec_text(e, "Zone");
    if (!region_of(m.o.zone, region)) {
        return records_bad(r, "zone", m.o.zone, err);
    }
    t->several |= t->region[0] != '\0' && strcmp(t->region, region) != 0;
    snprintf(t->region, sizeof t->region, "%s", region);
    m.o.currency = strstr(r->ctx->name, "intl") ? "USD" : "CNY";
    m.o.vcpus = src_figure(rec_text(e, "Cpu"));
    m.o.memory_gib = src_figure(rec_text(e, "Memory"));
    const char *count = rec_text(e, "GpuCount");
    count = *count != '\0' ? count : rec_text(e, "Gpu");
    if (src_figure(count) > 0) {
        if (src_gpu_count(count, &m.o.gpu_num, &m.o.gpu_den) != 0) {
            return records_bad(r, "GpuCount", count, err);
        }
        m.gpu = rec_text(e, "InstanceFamily"); /* the list names no GPU */
        cloud_set_gpu(&m);
    }
    return put(r, &m, e, region, err);
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    struct tencent *t = state(r, err);
    if (!t) {
        return GT_ENOMEM;
    }
    cloud_error_field(&t->error, path, text, "Response.Error.Code", "Response.Error.Message");
    return 0;
}

static int document(struct records *r, struct gt_error *err)
{
    const struct tencent *t = r->state;
    return t ? cloud_error_end(r, &t->error, err) : 0;
}

static int end(struct records *r, struct gt_error *err)
{
    const struct tencent *t = r->state;
    (void)err;
    if (t && !t->several && src_name_ok(t->region)) {
        snprintf(r->ctx->scope, sizeof r->ctx->scope, "%s", t->region);
    }
    return 0;
}

/* "Response.Error.none" only makes the way to the error. */
static const struct records_shape shape = {
    .list = {"Response.InstanceTypeQuotaSet", "InstanceTypeQuotaSet", "Response.Error.none"},
    .entry = entry,
    .field = field,
    .document = document,
    .end = end};

const struct source_def source_tencent = {
    .id = "tencent",
    .vendor = "tencent",
    .default_url = "https://cvm.tencentcloudapi.com",
    .needs_key = true,
    .per_region = true,
    .has_region = tencent_has_region,
    .expected_bytes = 4000000,
    .help = "Tencent Cloud's instance types by zone: by the hour, spot, monthly",
    .known_by = {{"\"InstanceTypeQuotaSet\"", "\"InstanceChargeType\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = tencent_fetch,
};
