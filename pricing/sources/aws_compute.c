/* EC2 instances of the AWS price list: which products count (docs/pricing-sources.md section 1.1,
 * the filter table) and the offers that they give, on demand and reserved. */
#include "aws_offer.h"
#include "gpu_names.h"
#include "gputier/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that only the end of the list can judge. Bare metal is listed as Dedicated in some lists and
 * as Shared in others; where a list knows shared metal, its dedicated rows are the dearer option.
 */
struct aws_held_offer {
    struct aws_held_offer *next;
    struct offer_row row;
};

static bool is(const struct aws_product *p, enum aws_attr a, const char *text)
{
    return strcmp(p->v[a], text) == 0;
}

/* "NA", "NA " and "" all mean none. */
static bool none(const char *s)
{
    return strncmp(s, "NA", 2) == 0 ? s[2 + strspn(s + 2, " ")] == '\0' : *s == '\0';
}

bool aws_ruled_out(enum aws_attr a, const char *value)
{
    switch (a) {
    case A_OS:
        return strcmp(value, "Linux") != 0;
    case A_CAPACITY:
        return strcmp(value, "Used") != 0;
    case A_SOFTWARE:
        return !none(value);
    case A_LICENSE:
        return *value != '\0' && strcmp(value, "No License required") != 0 && !none(value);
    default:
        return false;
    }
}

enum aws_out aws_out_of(enum aws_attr a)
{
    return a == A_OS         ? OUT_SYSTEM
           : a == A_SOFTWARE ? OUT_SOFTWARE
           : a == A_CAPACITY ? OUT_CAPACITY
                             : OUT_LICENCE;
}

static bool is_metal(const char *family)
{
    return strcmp(family, "Compute Instance (bare metal)") == 0;
}

void aws_saw_metal(struct aws_offer *o, const char *family, const char *tenancy)
{
    o->shared_metal = o->shared_metal || (is_metal(family) && strcmp(tenancy, "Shared") == 0);
}

/* The usage type's word is BoxUsage (t3.micro: "EU-BoxUsage:t3.micro"), not HostBoxUsage. */
const char *aws_usage_detail(const char *usage, const char *word)
{
    const char *u = aws_usage(usage);
    size_t n = strlen(word);
    return strncmp(u, word, n) != 0 ? NULL : u[n] == ':' ? u + n + 1 : u[n] == '\0' ? "" : NULL;
}

static bool usage_word(const struct aws_product *p, const char *word)
{
    return aws_usage_detail(p->v[A_USAGE], word) != NULL;
}

bool aws_is_compute(struct aws_offer *o, const struct aws_product *p, enum aws_out *why)
{
    static const enum aws_attr ruling[] = {A_OS, A_CAPACITY, A_SOFTWARE, A_LICENSE};
    bool metal = is_metal(p->v[A_FAMILY]), shared = is(p, A_TENANCY, "Shared");
    *why = OUT_OPERATION;
    if (!metal && !is(p, A_FAMILY, "Compute Instance")) {
        return false;
    }
    aws_saw_metal(o, p->v[A_FAMILY], p->v[A_TENANCY]);
    for (size_t i = 0; i < sizeof ruling / sizeof *ruling; i++) {
        if (aws_ruled_out(ruling[i], p->v[ruling[i]])) {
            *why = aws_out_of(ruling[i]);
            return false;
        }
    }
    if (!shared && !(metal && is(p, A_TENANCY, "Dedicated"))) {
        *why = OUT_TENANCY;
        return false;
    }
    bool block = is(p, A_MARKET, "CapacityBlock");
    if (!block && !is(p, A_MARKET, "OnDemand") && *p->v[A_MARKET] != '\0') {
        return false;
    }
    if (!block && !is(p, A_OPERATION, "RunInstances") && *p->v[A_OPERATION] != '\0') {
        return false;
    }
    return usage_word(p, "BoxUsage") || (metal && usage_word(p, "DedicatedUsage"));
}

/* "8 x 1000 NVMe SSD" -> 8000; "EBS only" and disks of other kinds -> -1. */
static double local_nvme(const char *storage)
{
    char *end;
    if (!strstr(storage, "NVMe")) {
        return -1;
    }
    double count = (double)strtoul(storage, &end, 10);
    const char *x = strstr(end, "x ");
    double size = x ? src_figure(x + 2) : -1;
    if (!x) { /* "1900 GB NVMe SSD" */
        return src_figure(storage);
    }
    return size > 0 && count > 0 && count < 1000 ? count * size : -1;
}

/* Only a figure that always holds: "Up to 10 Gigabit" is a burst. */
static double network(const char *text)
{
    double v = src_figure(text);
    return strstr(text, "Gigabit") ? v : strstr(text, "Megabit") && v > 0 ? v / 1000 : -1;
}

void aws_take_gpu(const char *type, const char *count, struct offer_row *r,
                  char unnamed[AWS_UNNAMED])
{
    const struct gpu_instance *g = gpu_of_instance("aws", type);
    int32_t num = 0, den = 1;
    bool stated = !none(count) && src_gpu_count(count, &num, &den) == 0;
    if (g) {
        if (stated && num * g->den != g->num * den) {
            r->note = "the list states another number of GPUs than this type has";
        }
        r->gpu = g->model;
        r->gpu_num = g->num;
        r->gpu_den = g->den;
        r->gpu_memory_gib = (double)g->memory_gib;
        return;
    }
    if (!stated || num == 0) {
        return;
    }
    const char *model = gpu_of_aws_family(type);
    if (!model) {
        (void)snprintf(unnamed, AWS_UNNAMED, "GPU of %.*s", (int)strcspn(type, "."), type);
        r->note = "has GPUs of a model that the list does not name";
        r->gpu = unnamed;
        r->gpu_num = num;
        r->gpu_den = den;
        return;
    }
    r->gpu = model;
    r->gpu_num = num;
    r->gpu_den = den;
    double whole = gpu_model_memory(model);
    r->gpu_memory_gib = den > 1 && whole > 0 ? whole * num / den : whole;
}

int aws_payment(const char *option, enum payment *out)
{
    static const char *const words[] = {"No", "Partial", "All"};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(option, words[i], n) == 0 &&
            text_ieq(option + n + (option[n] == ' '), "Upfront")) {
            *out = (enum payment)(PAYMENT_NONE + i);
            return 0;
        }
    }
    return GT_EPARSE;
}

/* Purchase, payment and class of a reserved term: "1yr", "3 yr". */
static int take_lease(struct offer_row *r, const struct aws_term *t)
{
    if ((t->lease[0] != '1' && t->lease[0] != '3') ||
        !text_ieq(t->lease + 1 + (t->lease[1] == ' '), "yr") ||
        aws_payment(t->option, &r->payment) != 0) {
        return GT_EPARSE;
    }
    r->purchase = t->lease[0] == '1' ? PURCHASE_RESERVED_1Y : PURCHASE_RESERVED_3Y;
    return offering_class_from_name(t->offering_class, &r->offering_class);
}

/* The hourly and the upfront price among a term's. */
static int take_prices(struct offer_row *r, const struct aws_term *t, const char **bad)
{
    bool hourly = false;
    for (size_t i = 0; i < t->n; i++) {
        money m;
        *bad = t->price[i].price;
        if (src_price(t->price[i].price, &m) != 0) {
            return GT_EPARSE;
        }
        r->currency = t->price[i].currency;
        if (text_ieq(t->price[i].unit, "Hrs") && !hourly) {
            r->price_per_hour = m;
            hourly = true;
        } else if (text_ieq(t->price[i].unit, "Quantity") && r->upfront == 0) {
            r->upfront = m;
        } else {
            *bad = t->price[i].unit;
            return GT_EPARSE;
        }
    }
    return 0;
}

static const char *keep(struct aws_offer *o, const char *s, bool *failed)
{
    const char *k = s ? arena_strdup(o->arena, s) : "";
    *failed = *failed || !k;
    return k;
}

static int hold(struct aws_offer *o, const struct offer_row *r, struct aws_held_offer **list,
                struct gt_error *err)
{
    bool failed = false;
    struct aws_held_offer *h = arena_alloc(o->arena, sizeof *h);
    if (!h) {
        return gt_fail(err, GT_ENOMEM, o->ctx->name, "out of memory");
    }
    h->row = *r; /* vendor and note are static */
    h->row.gpu = r->gpu ? keep(o, r->gpu, &failed) : NULL;
    h->row.region = keep(o, r->region, &failed);
    h->row.instance_type = keep(o, r->instance_type, &failed);
    h->row.sku = keep(o, r->sku, &failed);
    h->row.currency = keep(o, r->currency, &failed);
    h->next = *list;
    *list = h;
    return failed ? gt_fail(err, GT_ENOMEM, o->ctx->name, "out of memory") : 0;
}

static uint32_t machine_id(struct aws_offer *o, const struct offer_row *r, bool add)
{
    char key[320];
    int n = snprintf(key, sizeof key, "%s/%s", r->region, r->instance_type);
    size_t len = n > 0 && (size_t)n < sizeof key ? (size_t)n : 0;
    return add ? intern_add(o->sold, key, len) : intern_find(o->sold, key, len);
}

static int put_row(struct aws_offer *o, const struct offer_row *r, struct gt_error *err)
{
    bool how = r->purchase == PURCHASE_ON_DEMAND || r->purchase == PURCHASE_CAPACITY_BLOCK;
    if (how &&
        ((!o->sold && !(o->sold = intern_new(o->arena))) || machine_id(o, r, true) == UINT32_MAX)) {
        return gt_fail(err, GT_ENOMEM, o->ctx->name, "out of memory");
    }
    int rc = staging_put_offer(o->ctx->staging, r, err);
    o->ctx->rows += rc == 0;
    return rc;
}

int aws_put_compute(struct aws_offer *o, const struct aws_product *p, const struct aws_term *t,
                    struct gt_error *err)
{
    struct offer_row r = src_offer(o->ctx);
    const char *bad = "";
    char unnamed[AWS_UNNAMED];
    r.region = aws_region(p->v[A_REGION], p->v[A_LOCATION]);
    if (!r.region) {
        return aws_bad(o, "location", p->v[A_LOCATION], err);
    }
    r.instance_type = p->v[A_INSTANCE];
    if (!src_name_ok(r.instance_type) || !src_name_ok(p->sku)) {
        return aws_bad(o, "instance type", r.instance_type, err);
    }
    r.vendor = aws_vendor(r.region);
    r.sku = p->sku;
    r.vcpus = src_figure(p->v[A_VCPU]);
    r.memory_gib = src_figure(p->v[A_MEMORY]);
    r.local_nvme_gb = local_nvme(p->v[A_STORAGE]);
    r.network_gbps = network(p->v[A_NETWORK]);
    r.valid_from = aws_time(t->effective);
    aws_take_gpu(p->v[A_INSTANCE], p->v[A_GPU], &r, unnamed);
    if (*t->lease != '\0' && take_lease(&r, t) != 0) {
        return aws_bad(o, "reserved term", t->option, err);
    }
    if (take_prices(&r, t, &bad) != 0) {
        return aws_bad(o, "price", bad, err);
    }
    if (!src_name_ok(r.currency) || strlen(r.currency) != 3) {
        return aws_bad(o, "currency", r.currency, err);
    }
    if (is(p, A_MARKET, "CapacityBlock")) {
        r.purchase = PURCHASE_CAPACITY_BLOCK;
        r.price_state = PRICE_SOLD_OTHERWISE;
        r.price_per_hour = 0;
    } else if (r.price_per_hour == 0 && r.upfront == 0) { /* zero is not a price */
        r.purchase = PURCHASE_CAPACITY_BLOCK;
        r.price_state = PRICE_SOLD_OTHERWISE;
        if (*t->lease == '\0' && is(p, A_TENANCY, "Shared")) {
            return hold(o, &r, &o->zero_offers, err);
        }
        src_skip(o->ctx, "price 0", 1);
        return 0;
    }
    aws_saw_region(o, r.region);
    return is(p, A_TENANCY, "Shared") ? put_row(o, &r, err) : hold(o, &r, &o->held_offers, err);
}

int aws_finish_compute(struct aws_offer *o, struct gt_error *err)
{
    int rc = 0;
    for (struct aws_held_offer *h = o->held_offers; rc == 0 && h; h = h->next) {
        if (o->shared_metal) {
            src_skip(o->ctx, "bare metal that is sold shared too", 1);
        } else {
            rc = put_row(o, &h->row, err);
        }
    }
    /* a machine of which the list has nothing but zeros is there, but not by the hour (p5e) */
    for (struct aws_held_offer *h = o->zero_offers; rc == 0 && h; h = h->next) {
        if (!o->sold || machine_id(o, &h->row, false) == 0) {
            aws_saw_region(o, h->row.region);
            rc = put_row(o, &h->row, err);
        } else {
            src_skip(o->ctx, "price 0", 1);
        }
    }
    return rc;
}
