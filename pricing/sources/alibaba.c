/* Alibaba Cloud ECS: answers of DescribePrice and DescribeSpotPriceHistory, in any order
 * (docs/pricing-sources.md section 6). A price does not say of what it is: the question stands
 * before it, as {"RegionId": …, "InstanceType": …, "PriceUnit": "Hour" | "Month"}. Prices are the
 * list's (OriginalPrice); TradePrice is what the account pays. Where the answer tells the instance
 * from its disk, the instance alone is taken. Of a spot history each change is kept, and the last
 * one is the price of now. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <string.h>

#define POOLS 16384

struct change { /* a row of a spot history, until its currency is known */
    struct change *next;
    char zone[48], type[72];
    money price;
    int64_t when;
};
struct pool { /* the last change of a type in a zone */
    const char *zone, *type;
    char currency[4];
    money price;
    int64_t when;
};
struct alibaba {
    /* of the question */
    char region[48], type[72], unit[12];
    /* of the answer */
    char price[48], currency[4];
    struct cloud_error error;
    bool priced, with_disk;
    struct change *change, *unused;
    struct intern *key; /* of pools */
    struct pool *pool;
    char last_region[48], last_type[72];
    bool regions, types; /* more than one of them */
    unsigned kinds;      /* bits by the way to buy */
};

static struct alibaba *state(struct records *r, struct gt_error *err)
{
    struct alibaba *a = r->state ? r->state : arena_alloc(r->arena, sizeof *a);
    if (a && !a->key) {
        a->key = intern_new(r->arena);
        a->pool = arena_array(r->arena, POOLS, sizeof *a->pool);
    }
    if (!a || !a->key || !a->pool) {
        (void)gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
        return NULL;
    }
    r->state = a;
    return a;
}

/* The instance's own price where the answer has one; else that of all. */
static const char *list_price(struct alibaba *a, const struct rec *e)
{
    const struct rec *parts = rec_get(e, "DetailInfos.DetailInfo");
    a->with_disk = true;
    for (const struct rec *p = parts ? parts->child : NULL; p; p = p->next) {
        const char *price = rec_text(p, "OriginalPrice");
        if (strcmp(rec_text(p, "Resource"), "instanceType") == 0 && *price != '\0') {
            a->with_disk = false;
            return price;
        }
    }
    return rec_text(e, "OriginalPrice");
}

static int take_change(struct records *r, struct alibaba *a, const struct rec *e,
                       struct gt_error *err)
{
    struct change *c = a->unused ? a->unused : arena_alloc(r->arena, sizeof *c);
    const char *kind = rec_text(e, "NetworkType");
    if (!c) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    if (*kind != '\0' && strcmp(kind, "vpc") != 0) {
        src_skip(r->ctx, "classic network", 1);
        return 0;
    }
    src_copy(c->zone, sizeof c->zone, rec_text(e, "ZoneId"));
    src_copy(c->type, sizeof c->type, rec_text(e, "InstanceType"));
    if (src_price(rec_text(e, "SpotPrice"), &c->price) != 0) {
        return records_bad(r, "SpotPrice", rec_text(e, "SpotPrice"), err);
    }
    if (time_parse(rec_text(e, "Timestamp"), 0, &c->when, NULL) != 0) {
        return records_bad(r, "Timestamp", rec_text(e, "Timestamp"), err);
    }
    if (!src_name_ok(c->zone) || strlen(c->zone) < 3 || !src_name_ok(c->type)) {
        return records_bad(r, "zone or instance type", rec_text(e, "ZoneId"), err);
    }
    a->unused = a->unused ? a->unused->next : NULL;
    c->next = a->change;
    a->change = c;
    return 0;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    struct alibaba *a = state(r, err);
    if (!a) {
        return GT_ENOMEM;
    }
    if (list == 1) {
        return take_change(r, a, e, err);
    }
    if (strcmp(e->key, "Price") == 0) {
        a->priced = true;
        src_copy(a->price, sizeof a->price, list_price(a, e));
        src_copy(a->currency, sizeof a->currency, rec_text(e, "Currency"));
    }
    return 0;
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    struct alibaba *a = state(r, err);
    if (!a) {
        return GT_ENOMEM;
    }
    const struct {
        const char *path;
        char *to;
        size_t size;
    } known[] = {{"RegionId", a->region, sizeof a->region},
                 {"InstanceType", a->type, sizeof a->type},
                 {"PriceUnit", a->unit, sizeof a->unit},
                 {"Currency", a->currency, sizeof a->currency}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].path, path) == 0) {
            src_copy(known[i].to, known[i].size, text);
        }
    }
    if (strcmp(path, "NextOffset") == 0) {
        bool more = *text >= '1' && *text <= '9' && strspn(text, "0123456789") == strlen(text);
        src_copy(r->ctx->next, 16, more ? text : "");
    }
    cloud_error_field(&a->error, path, text, "Code", "Message");
    return 0;
}

/* What the rows of the whole file are of: names the part of the source that they replace. */
static void remember(struct alibaba *a, const char *region, const char *type, enum purchase p)
{
    a->regions |= a->last_region[0] != '\0' && strcmp(a->last_region, region) != 0;
    a->types |= a->last_type[0] != '\0' && strcmp(a->last_type, type) != 0;
    src_copy(a->last_region, sizeof a->last_region, region);
    src_copy(a->last_type, sizeof a->last_type, type);
    a->kinds |= 1U << p;
}

static struct cloud_machine machine(const struct records *r, const char *type, const char *currency)
{
    struct cloud_machine m = cloud_machine(r->ctx, "alibaba");
    m.o.instance_type = type;
    m.o.currency = currency;
    cloud_set_gpu(&m);
    /* "ecs.gn7i-c8g1.2xlarge", "ecs.ebmgn8is.32xlarge", "ecs.sgn7i-vws-m2.xlarge" */
    if (!m.o.gpu && strncmp(type, "ecs.", 4) == 0 && strstr(type, "gn")) {
        cloud_family_gpu(&m, type + 4);
    }
    return m;
}

static int put_price(struct records *r, struct alibaba *a, struct gt_error *err)
{
    const char *region = a->region[0] != '\0' ? a->region : r->ctx->region;
    bool month = strcmp(a->unit, "Month") == 0;
    const char *slash = strchr(region, '/');
    region = slash ? slash + 1 : region;
    if (a->type[0] == '\0' || *region == '\0') {
        return json_fail(r->json, GT_EPARSE, err,
                         "a price that does not say of which instance type it is: put the question "
                         "before it, {\"RegionId\": …, \"InstanceType\": …, \"PriceUnit\": …}");
    }
    if (a->unit[0] != '\0' && !month && strcmp(a->unit, "Hour") != 0) {
        src_skip(r->ctx, "by the week or year", 1);
        return 0;
    }
    struct cloud_machine m = machine(r, a->type, a->currency);
    if (a->with_disk && !m.o.note) {
        m.o.note = "may contain a system disk";
    }
    enum purchase p = month ? PURCHASE_MONTHLY : PURCHASE_ON_DEMAND;
    remember(a, region, a->type, p);
    return cloud_put_as(r, &m, region, p, a->price, err);
}

/* "cn-hangzhou-i" to "cn-hangzhou", "us-east-1a" to "us-east-1". */
static void region_of(const char *zone, char out[48])
{
    size_t n = strlen(zone) - 1;
    snprintf(out, 48, "%.*s", (int)(zone[n - 1] == '-' ? n - 1 : n), zone);
}

static int put_change(struct records *r, struct alibaba *a, const struct change *c,
                      struct gt_error *err)
{
    char region[48], key[128];
    region_of(c->zone, region);
    remember(a, region, c->type, PURCHASE_SPOT);
    struct spot_point_row p = {.vendor = "alibaba",
                               .region = region,
                               .zone = c->zone,
                               .instance_type = c->type,
                               .when = c->when,
                               .price = c->price,
                               .currency = a->currency,
                               .available = -1};
    if (c->price == 0) {
        src_skip(r->ctx, "price 0", 1);
        return 0;
    }
    if (strlen(a->currency) != 3 || strspn(a->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
        return records_bad(r, "currency", a->currency, err);
    }
    snprintf(key, sizeof key, "%s %s", c->zone, c->type);
    uint32_t id = intern_add(a->key, key, strlen(key));
    if (id == UINT32_MAX || id >= POOLS) {
        return gt_fail(err, GT_ELIMIT, r->ctx->name, "more than %d types in zones", POOLS);
    }
    struct pool *q = &a->pool[id];
    if (!q->zone || c->when > q->when) {
        q->zone = q->zone ? q->zone : arena_strdup(r->arena, c->zone);
        q->type = q->type ? q->type : arena_strdup(r->arena, c->type);
        if (!q->zone || !q->type) {
            return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
        }
        src_copy(q->currency, sizeof q->currency, a->currency);
        q->price = c->price;
        q->when = c->when;
    }
    int rc = staging_put_spot_point(r->ctx->staging, &p, err);
    r->ctx->rows += rc == 0;
    return rc;
}

/* A question waits for its answer; an answer is put. */
static int document(struct records *r, struct gt_error *err)
{
    struct alibaba *a = r->state;
    int rc = a ? cloud_error_end(r, &a->error, err) : 0;
    if (!a) {
        return 0;
    }
    while (a->change && rc == 0) {
        struct change *c = a->change;
        rc = put_change(r, a, c, err);
        a->change = c->next;
        c->next = a->unused;
        a->unused = c;
    }
    if (rc == 0 && a->priced) {
        rc = put_price(r, a, err);
        a->type[0] = a->region[0] = a->unit[0] = '\0';
    }
    a->priced = false;
    a->currency[0] = '\0';
    return rc;
}

static int end(struct records *r, struct gt_error *err)
{
    const struct alibaba *a = r->state;
    int rc = 0;
    for (uint32_t i = 1; a && i <= intern_count(a->key) && i < POOLS && rc == 0; i++) {
        const struct pool *q = &a->pool[i];
        char region[48], price[MONEY_TEXT];
        if (!q->zone) {
            continue;
        }
        region_of(q->zone, region);
        struct cloud_machine m = machine(r, q->type, q->currency);
        m.o.zone = q->zone;
        m.o.as_of = q->when;
        rc = cloud_put_as(r, &m, region, PURCHASE_SPOT, money_format(q->price, price), err);
    }
    if (a && !a->regions && a->last_region[0] != '\0') {
        int way = 0; /* the only one, as long as no more are in the file */
        while (way < PURCHASE_COUNT && a->kinds != 1U << way) {
            way++;
        }
        bool one = way < PURCHASE_COUNT;
        snprintf(r->ctx->scope, sizeof r->ctx->scope, "%s%s%s%s%s", a->last_region,
                 a->types ? "" : " ", a->types ? "" : a->last_type, one ? " " : "",
                 one ? purchase_name((enum purchase)way) : "");
    }
    return rc;
}

static const struct records_shape shape = {.list = {"PriceInfo", "SpotPrices.SpotPriceType"},
                                           .entry = entry,
                                           .field = field,
                                           .document = document,
                                           .end = end};

const struct source_def source_alibaba = {
    .id = "alibaba",
    .vendor = "alibaba",
    .default_url = "https://ecs.aliyuncs.com",
    .needs_key = true,
    .per_region = true,
    .has_region = alibaba_has_region,
    .expected_bytes = 4000000,
    .help = "Alibaba Cloud's GPU types: by the hour, monthly, spot prices of 30 days",
    .known_by = {{"\"PriceInfo\"", "\"TradePrice\""}, {"\"SpotPriceType\"", "\"SpotPrice\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = alibaba_fetch,
};
