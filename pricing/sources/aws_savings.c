/* The source aws-savings-plan: what a machine costs under AWS's Savings Plans. A rate is an hourly
 * price of one usage type under one plan; the machine is told by the usage type and the operation
 * ("EU-BoxUsage:p4d.24xlarge" + "RunInstances" is Linux, shared), so no EC2 list is needed. */
#include "aws_savings.h"
#include "../http/http.h"
#include "aws_zone.h"
#include "gputier/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBER_MAX   ((size_t)256 * 1024 * 1024)
#define PREAMBLE_LINES 20

enum column {
    C_CODE,
    C_UNIT,
    C_EFFECTIVE,
    C_RATE,
    C_CURRENCY,
    C_SKU,
    C_SERVICE,
    C_USAGE,
    C_OPERATION,
    C_OPTION,
    C_YEARS,
    C_YEARS_UNIT,
    C_FAMILY,
    C_REGION,
    C_TYPE,
    C_COUNT
};
static const char *const columns[C_COUNT] = {
    "RateCode",
    "Unit",
    "EffectiveDate",
    "DiscountedRate",
    "Currency",
    "DiscountedSKU",
    "DiscountedServiceCode",
    "DiscountedUsageType",
    "DiscountedOperation",
    "PurchaseOption",
    "LeaseContractLength",
    "LeaseContractLengthUnit",
    "Product Family",
    "DiscountedRegionCode",
    "DiscountedInstanceType",
};
/* Old lists have no region and type of their own. */
static bool is_needed(int column)
{
    return column != C_REGION && column != C_TYPE;
}

struct savings_parser {
    struct sp_list l;
    struct sp_json *json;
    struct csv_reader *csv;
    bool header;
    int column[C_COUNT];
};

bool sp_wanted(struct sp_list *l, const struct sp_rate *r)
{
    const char *why = NULL;
    if (strcmp(r->service, "AmazonEC2") != 0) {
        why = "other services";
    } else if (!aws_usage_detail(r->usage, "BoxUsage")) { /* dedicated, hosts, unused capacity */
        why = "dedicated or unused machines";
    } else if (strcmp(r->operation, "RunInstances") != 0 && *r->operation != '\0') {
        why = "other systems than Linux";
    } else if (r->sku[strspn(r->sku, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] != '\0') {
        why = "SKU does not resolve"; /* "_not_found_": the price of nothing that is sold */
    }
    if (why) {
        src_skip(l->o.ctx, why, 1);
    }
    return why == NULL;
}

/* What is paid up front and by the hour, of the same total over the term. Half is the least that
 * "partial" asks for (AWS, Savings Plans FAQ). */
static int split(money rate, int64_t hours, struct offer_row *o)
{
    money later = o->payment == PAYMENT_NONE ? rate : o->payment == PAYMENT_PARTIAL ? rate / 2 : 0;
    o->price_per_hour = later;
    return money_mul_ratio(rate - later, (gt_u128)hours, 1, &o->upfront);
}

static int take_plan(const struct sp_plan *p, struct offer_row *o)
{
    bool one = strcmp(p->years, "1") == 0;
    if ((!one && strcmp(p->years, "3") != 0) || (!text_ieq(p->unit, "year") && *p->unit != '\0') ||
        aws_payment(p->option, &o->payment) != 0) {
        return GT_EPARSE;
    }
    o->purchase = one ? PURCHASE_SAVINGS_PLAN_1Y : PURCHASE_SAVINGS_PLAN_3Y;
    bool part = o->payment == PAYMENT_PARTIAL;
    if (strcmp(p->family, "EC2InstanceSavingsPlans") == 0) {
        o->offering_class = OFFERING_STANDARD;
        o->note =
            part ? "EC2 Instance Savings Plan, half of it up front" : "EC2 Instance Savings Plan";
        return 0;
    }
    o->offering_class = OFFERING_CONVERTIBLE;
    o->note = part ? "Compute Savings Plan, half of it up front" : "Compute Savings Plan";
    return strcmp(p->family, "ComputeSavingsPlans") == 0 ? 0 : GT_EPARSE;
}

/* Region and type, from fields of their own where the list has them. */
static int take_place(const struct sp_rate *r, struct offer_row *o)
{
    const char *type = aws_usage_detail(r->usage, "BoxUsage");
    o->instance_type = *r->type != '\0' ? r->type : *type != '\0' ? type : "m1.small";
    o->region = *r->region != '\0' ? aws_region(r->region, "") : aws_region_of_usage(r->usage);
    return o->region && src_name_ok(o->instance_type) &&
                   (*type == '\0' || strcmp(o->instance_type, type) == 0)
               ? 0
               : GT_EPARSE;
}

int sp_put(struct sp_list *l, const struct sp_plan *p, const struct sp_rate *r,
           struct gt_error *err)
{
    struct offer_row o = src_offer(l->o.ctx);
    money rate;
    char unnamed[AWS_UNNAMED];
    if (take_plan(p, &o) != 0) {
        return aws_bad(&l->o, "savings plan", p->option, err);
    }
    if (take_place(r, &o) != 0) {
        return aws_bad(&l->o, "usage type", r->usage, err);
    }
    o.vendor = aws_vendor(o.region);
    o.sku = r->code;
    o.valid_from = aws_time(p->effective);
    aws_take_gpu(o.instance_type, "", &o, unnamed);
    /* a partition has one currency; some lists leave it out */
    o.currency = *r->currency != '\0' ? r->currency : strcmp(o.vendor, "aws") == 0 ? "USD" : "CNY";
    if (strlen(o.currency) != 3 || !src_name_ok(o.currency)) {
        return aws_bad(&l->o, "currency", o.currency, err);
    }
    if (!text_ieq(r->unit, "Hrs") && *r->unit != '\0') {
        return aws_bad(&l->o, "unit", r->unit, err);
    }
    if (!src_name_ok(r->code)) {
        return aws_bad(&l->o, "rate code", r->code, err);
    }
    if (src_price(r->price, &rate) != 0 || split(rate, purchase_term_hours(o.purchase), &o) != 0) {
        return aws_bad(&l->o, "price", r->price, err);
    }
    if (rate == 0) { /* zero is not a price */
        src_skip(l->o.ctx, "price 0", 1);
        return 0;
    }
    aws_saw_region(&l->o, o.region);
    int rc = staging_put_offer(l->o.ctx->staging, &o, err);
    l->o.ctx->rows += rc == 0;
    return rc;
}

static int take_header(struct savings_parser *s, const struct csv_row *row, struct gt_error *err)
{
    for (int i = 0; i < C_COUNT; i++) {
        s->column[i] = csv_column(row, columns[i]);
        if (s->column[i] < 0 && is_needed(i)) {
            return csv_fail(err, GT_EPARSE, s->l.o.ctx->name, row, "the header has no column '%s'",
                            columns[i]);
        }
    }
    s->header = true;
    return 0;
}

static int on_row(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    struct savings_parser *s = ctx;
    const char *f[C_COUNT];
    if (!s->header) {
        int64_t when = strcmp(csv_field(row, 0), "Publication Date") == 0
                           ? aws_time(csv_field(row, 1))
                           : GT_TIME_NONE;
        s->l.o.ctx->as_of = when != GT_TIME_NONE ? when : s->l.o.ctx->as_of;
        if (strcmp(csv_field(row, 0), "SKU") == 0) {
            return take_header(s, row, err);
        }
        return row->line <= PREAMBLE_LINES
                   ? 0
                   : csv_fail(
                         err, GT_EPARSE, s->l.o.ctx->name, row,
                         "no header line among the first %d; expected one that begins with SKU",
                         PREAMBLE_LINES);
    }
    for (int i = 0; i < C_COUNT; i++) {
        f[i] = csv_field(row, s->column[i]);
    }
    s->l.o.line = row->line;
    s->l.o.bad.seen++;
    struct sp_rate r = {f[C_SERVICE], f[C_SKU],  f[C_USAGE], f[C_OPERATION], f[C_REGION],
                        f[C_TYPE],    f[C_CODE], f[C_UNIT],  f[C_RATE],      f[C_CURRENCY]};
    struct sp_plan p = {f[C_FAMILY], f[C_OPTION], f[C_YEARS], f[C_YEARS_UNIT], f[C_EFFECTIVE]};
    return sp_wanted(&s->l, &r) ? sp_put(&s->l, &p, &r, err) : 0;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    size_t n = len < 65536 ? len : 65536;
    size_t i = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < n && (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n')) {
        i++;
    }
    if (i < n && head[i] == '{') {
        return memmem(head, n, "SavingsPlans\"", 13) && memmem(head, n, "\"products\"", 10);
    }
    return memmem(head, n, "DiscountedSKU", 13) && memmem(head, n, "DiscountedUsageType", 19);
}

static void savings_abort(struct parser *p)
{
    struct savings_parser *s = (struct savings_parser *)(void *)p;
    if (s) {
        sp_json_free(s->json);
        csv_reader_free(s->csv);
        arena_free(s->l.o.arena);
    }
    free(s);
}

static int savings_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct savings_parser *s = calloc(1, sizeof *s);
    if (!s || !(s->l.o.arena = arena_new(REMEMBER_MAX))) {
        free(s);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    s->l.o.ctx = ctx;
    snprintf(s->l.o.code, sizeof s->l.o.code, "AWSComputeSavingsPlan"); /* holds both kinds */
    *out = (struct parser *)(void *)s;
    return 0;
}

static int savings_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct savings_parser *s = (struct savings_parser *)(void *)p;
    if (!s->json && !s->csv && len > 0) {
        size_t i = 0;
        while (i < len &&
               (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r')) {
            i++;
        }
        int rc = i < len && data[i] == '{'
                     ? sp_json_open(&s->l, &s->json, err)
                     : csv_reader_new(s->l.o.ctx->name, ',', on_row, s, &s->csv, err);
        if (rc != 0) {
            return rc;
        }
    }
    return s->json  ? sp_json_feed(s->json, data, len, err)
           : s->csv ? csv_reader_feed(s->csv, data, len, err)
                    : 0;
}

/* Says what was left out and why; an error when nothing else was there. */
static int tell_left_out(const struct sp_list *l, struct gt_error *err)
{
    char text[1024];
    left_out_text(l->o.ctx->left_out, l->o.ctx->skipped, text);
    log_line(l->o.ctx->log, LOG_INFO, "import", "%s: %s", l->o.ctx->name, text);
    return l->o.ctx->rows > 0
               ? 0
               : gt_fail(err, GT_EPARSE, l->o.ctx->name,
                         "savings plans without a rate that counts (EC2, Linux, shared): %s", text);
}

static int savings_close(struct parser *p, struct gt_error *err)
{
    struct savings_parser *s = (struct savings_parser *)(void *)p;
    struct sp_list *l = &s->l;
    const char *name = l->o.ctx->name;
    int rc = s->json  ? sp_json_close(s->json, err)
             : s->csv ? csv_reader_end(s->csv, err)
                      : gt_fail(err, GT_EPARSE, name, "an empty file");
    if (rc == 0 && s->csv && !s->header) {
        rc = gt_fail(err, GT_EPARSE, name, "no header line; expected one that begins with SKU");
    }
    if (rc == 0) {
        rc = tell_left_out(l, err);
    }
    if (rc == 0) {
        aws_name_scope(&l->o);
    }
    savings_abort(p);
    return rc;
}

const struct source_def source_aws_savings_plan = {
    .id = "aws-savings-plan",
    .vendor = "aws",
    .default_url = "https://pricing.us-east-1.amazonaws.com",
    .per_region = true,
    .has_region = aws_is_region,
    .expected_bytes = 300000000,
    .help = "AWS Savings Plans: what machines cost under a commitment of 1 or 3 years",
    .recognise = recognise,
    .parse_open = savings_open,
    .parse_feed = savings_feed,
    .parse_close = savings_close,
    .parse_abort = savings_abort,
    .fetch = aws_savings_plan_fetch,
};
