/* The source aws-offer: one id for the price lists of every AWS service, in JSON and CSV, told
 * apart by content (aws_offer.h names the parts). */
#include "aws_offer.h"
#include "../http/http.h"
#include "aws_zone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBER_MAX ((size_t)512 * 1024 * 1024)

const struct aws_attr_name aws_attr_names[A_COUNT] = {
    [A_FAMILY] = {NULL, "Product Family"}, /* in JSON it stands beside the attributes */
    [A_SERVICE] = {"servicecode", "serviceCode"},
    [A_LOCATION] = {"location", "Location"},
    [A_REGION] = {"regionCode", "Region Code"},
    [A_INSTANCE] = {"instanceType", "Instance Type"},
    [A_VCPU] = {"vcpu", "vCPU"},
    [A_MEMORY] = {"memory", "Memory"},
    [A_STORAGE] = {"storage", "Storage"},
    [A_NETWORK] = {"networkPerformance", "Network Performance"},
    [A_TENANCY] = {"tenancy", "Tenancy"},
    [A_OS] = {"operatingSystem", "Operating System"},
    [A_LICENSE] = {"licenseModel", "License Model"},
    [A_USAGE] = {"usagetype", "usageType"},
    [A_OPERATION] = {"operation", "operation"},
    [A_CAPACITY] = {"capacitystatus", "CapacityStatus"},
    [A_GPU] = {"gpu", "GPU"},
    [A_MARKET] = {"marketoption", "MarketOption"},
    [A_SOFTWARE] = {"preInstalledSw", "Pre Installed S/W"},
    [A_VOLUME_TYPE] = {"volumeType", "Volume Type"},
    [A_STORAGE_CLASS] = {"storageClass", "Storage Class"},
    [A_TRANSFER_TYPE] = {"transferType", "Transfer Type"},
    [A_FROM] = {"fromLocation", "From Location"},
    [A_TO] = {"toLocation", "To Location"},
    [A_FROM_REGION] = {"fromRegionCode", "From Region Code"},
    [A_TO_REGION] = {"toRegionCode", "To Region Code"},
    [A_ACCESS] = {"accessType", "Access Type"},
    [A_FILE_SYSTEM] = {"fileSystemType", "File System Type"},
    [A_DEPLOYMENT] = {"deploymentOption", "Deployment Option"},
    [A_MEDIA] = {"storageType", "Storage Type"},
    [A_THROUGHPUT] = {"throughputCapacity", "Throughput Capacity"},
};

struct offer_parser {
    struct aws_offer o;
    struct aws_json *json;
    struct aws_csv *csv;
};

enum aws_kind aws_classify(struct aws_offer *o, const struct aws_product *p)
{
    enum aws_out why = OUT_PRODUCT;
    enum aws_kind kind = AWS_NOT_WANTED;
    if (strncmp(p->v[A_FAMILY], "Compute Instance", 16) == 0) {
        kind = aws_is_compute(o, p, &why) ? AWS_COMPUTE : AWS_NOT_WANTED;
    } else {
        kind = aws_is_storage(o, p)    ? AWS_STORAGE
               : aws_is_transfer(o, p) ? AWS_TRANSFER
                                       : AWS_NOT_WANTED;
    }
    o->out[why] += kind == AWS_NOT_WANTED;
    return kind;
}

static void tell_left_out(struct aws_offer *o)
{
    static const char *const reasons[OUT_COUNT] = {
        [OUT_SYSTEM] = "other systems than Linux",
        [OUT_SOFTWARE] = "with software",
        [OUT_CAPACITY] = "capacity reservations",
        [OUT_LICENCE] = "with a licence",
        [OUT_TENANCY] = "dedicated machines and hosts",
        [OUT_OPERATION] = "other operations",
        [OUT_PRODUCT] = "other products",
        [OUT_TERM] = "other terms",
    };
    for (int i = 0; i < OUT_COUNT; i++) {
        src_skip(o->ctx, reasons[i], o->out[i]);
    }
}

int aws_put(struct aws_offer *o, enum aws_kind kind, const struct aws_product *p,
            const struct aws_term *t, struct gt_error *err)
{
    switch (kind) {
    case AWS_COMPUTE:
        return aws_put_compute(o, p, t, err);
    case AWS_STORAGE:
        return aws_put_storage(o, p, t, err);
    case AWS_TRANSFER:
        return aws_put_transfer(o, p, t, err);
    case AWS_NOT_WANTED:
        break;
    }
    return 0;
}

int aws_bad(struct aws_offer *o, const char *what, const char *found, struct gt_error *err)
{
    if (o->line == 0) {
        o->bad.seen = o->ctx->rows + o->bad.n + 1; /* JSON: no rows of the document to count */
    }
    return src_bad_row(&o->bad, o->ctx, o->line, what, found, err);
}

static bool is_csv(const char *head, size_t len)
{
    static const char *const marks[] = {"SKU,OfferTermCode,RateCode,TermType",
                                        "\"SKU\",\"OfferTermCode\",\"RateCode\",\"TermType\""};
    for (size_t i = 0; i < 2; i++) {
        if (memmem(head, len, marks[i], strlen(marks[i]))) {
            return true;
        }
    }
    return false;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    size_t n = len < 8192 ? len : 8192, i = 0;
    if (n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        i = 3;
    }
    while (i < n && strchr(" \t\r\n", head[i]) && head[i] != '\0') {
        i++;
    }
    if (i < n && head[i] == '{') {
        return memmem(head, n, "\"offerCode\"", 11) && !memmem(head, n, "\"versions\"", 10) &&
               (memmem(head, n, "\"products\"", 10) || memmem(head, n, "\"terms\"", 7));
    }
    return is_csv(head, n);
}

static void offer_abort(struct parser *p)
{
    struct offer_parser *a = (struct offer_parser *)(void *)p;
    if (a) {
        aws_json_free(a->json);
        aws_csv_free(a->csv);
        arena_free(a->o.arena);
    }
    free(a);
}

static int offer_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct offer_parser *a = calloc(1, sizeof *a);
    if (!a || !(a->o.arena = arena_new(REMEMBER_MAX))) {
        free(a);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    a->o.ctx = ctx;
    *out = (struct parser *)(void *)a;
    return 0;
}

static int offer_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct offer_parser *a = (struct offer_parser *)(void *)p;
    if (!a->json && !a->csv && len > 0) {
        size_t i = 0;
        while (i < len &&
               (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r')) {
            i++;
        }
        int rc = i < len && data[i] == '{' ? aws_json_open(&a->o, &a->json, err)
                                           : aws_csv_open(&a->o, &a->csv, err);
        if (rc != 0) {
            return rc;
        }
    }
    return a->json  ? aws_json_feed(a->json, data, len, err)
           : a->csv ? aws_csv_feed(a->csv, data, len, err)
                    : 0;
}

void aws_name_scope(struct aws_offer *o)
{
    const char *region = o->ctx->region && *o->ctx->region ? o->ctx->region
                         : o->many_regions                 ? ""
                                                           : o->region;
    const char *slash = strchr(region, '/'); /* "aws/us-east-1" */
    region = slash ? slash + 1 : region;
    snprintf(o->ctx->scope, sizeof o->ctx->scope, "%s%s%s", region, *region ? "/" : "", o->code);
}

static int offer_close(struct parser *p, struct gt_error *err)
{
    struct offer_parser *a = (struct offer_parser *)(void *)p;
    int rc = a->json  ? aws_json_close(a->json, err)
             : a->csv ? aws_csv_close(a->csv, err)
                      : gt_fail(err, GT_EPARSE, a->o.ctx->name, "an empty file");
    rc = rc ? rc : aws_finish_compute(&a->o, err);
    rc = rc ? rc : aws_finish_storage(&a->o, err);
    tell_left_out(&a->o);
    if (rc == 0 && a->o.ctx->rows == 0) {
        char why[1024];
        rc = gt_fail(err, GT_EPARSE, a->o.ctx->name,
                     "a price list of '%.60s' without a price that counts (Linux, shared, no "
                     "licence; storage; transfer): %s",
                     a->o.code, left_out_text(a->o.ctx->left_out, a->o.ctx->skipped, why));
    }
    if (rc == 0) {
        aws_name_scope(&a->o);
    }
    offer_abort(p);
    return rc;
}

const struct source_def source_aws_offer = {
    .id = "aws-offer",
    .vendor = "aws",
    .default_url = "https://pricing.us-east-1.amazonaws.com",
    .default_on = true,
    .per_region = true,
    .has_region = aws_is_region,
    .expected_bytes = 350000000,
    .help = "AWS price lists: EC2, EBS, S3, Glacier, EFS, FSx for Lustre, data transfer",
    .recognise = recognise,
    .parse_open = offer_open,
    .parse_feed = offer_feed,
    .parse_close = offer_close,
    .parse_abort = offer_abort,
    .fetch = aws_offer_fetch,
};
