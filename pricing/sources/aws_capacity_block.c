/* Capacity blocks of AWS: machines for some days to come, paid at once when they are booked. Their
 * price is in no list: the EC2 API offers blocks that are free (DescribeCapacityBlockOfferings, AWS
 * EC2 API reference), one start and one zone each. Kept is, for each zone and type, the block whose
 * hour is cheapest (of the same, the first to start), until it starts. The fee is of all machines
 * for the whole block: here by the machine and hour. */
#include "../http/http.h"
#include "aws_zone.h"
#include "ec2_answer.h"
#include "gpu_names.h"
#include "gputier/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES_MAX 10000
#define HOURS_MAX    (366 * 24)
#define BLOCKS_MAX   10000

enum { ID, TYPE, ZONE, COUNT, START, END, HOURS, MINUTES, FEE, CURRENCY, ULTRA, FIELDS };
static const char *const json_keys[FIELDS] = {"CapacityBlockOfferingId",
                                              "InstanceType",
                                              "AvailabilityZone",
                                              "InstanceCount",
                                              "StartDate",
                                              "EndDate",
                                              "CapacityBlockDurationHours",
                                              "CapacityBlockDurationMinutes",
                                              "UpfrontFee",
                                              "CurrencyCode",
                                              "UltraserverType"};
static const char *const xml_names[FIELDS] = {"capacityBlockOfferingId",
                                              "instanceType",
                                              "availabilityZone",
                                              "instanceCount",
                                              "startDate",
                                              "endDate",
                                              "capacityBlockDurationHours",
                                              "capacityBlockDurationMinutes",
                                              "upfrontFee",
                                              "currencyCode",
                                              "ultraserverType"};
static const struct ec2_shape shape = {"CapacityBlockOfferings",
                                       "DescribeCapacityBlockOfferingsResponse", json_keys,
                                       xml_names, FIELDS};

struct block {
    char zone[EC2_TEXT], type[EC2_TEXT], id[EC2_TEXT], currency[4];
    money fee, per_hour;
    uint32_t machines, minutes;
    int64_t start;
    struct block *next;
};
struct blocks {
    struct parse_context *ctx;
    struct ec2_answer *answer;
    struct arena *arena;
    struct intern *pools; /* "zone type" */
    struct block **best;  /* by pool */
    struct block *first, **last;
    struct bad_rows bad;
    bool may_be_none; /* a fetch: nothing offered means sold out */
};

/* A whole number from lo to hi; hi + 1 when it is none. */
static uint32_t whole(const char *text, uint32_t lo, uint32_t hi)
{
    size_t n = strlen(text);
    unsigned long v = n > 0 && n < 9 && strspn(text, "0123456789") == n ? strtoul(text, NULL, 10)
                                                                        : (unsigned long)hi + 1;
    return v < lo || v > hi ? hi + 1 : (uint32_t)v;
}

/* What is wrong with an item, NULL = nothing; *found names the text. */
static const char *read_block(const char *const f[FIELDS], struct block *b, const char **found)
{
    char region[64];
    uint32_t hours = whole(f[HOURS], 0, HOURS_MAX);
    uint32_t minutes = *f[MINUTES] ? whole(f[MINUTES], 0, 59) : 0;
    int64_t end;
    b->machines = whole(f[COUNT], 1, MACHINES_MAX);
    b->minutes = hours * 60 + minutes;
    bool length = hours <= HOURS_MAX && minutes <= 59 && b->minutes > 0;
    const struct {
        const char *what, *text;
        bool right;
    } checks[] = {
        {"zone", f[ZONE], src_name_ok(f[ZONE]) && aws_zone_region(f[ZONE], region)},
        {"instance type", f[TYPE], src_name_ok(f[TYPE])},
        {"offering", f[ID], src_name_ok(f[ID])},
        {"number of machines", f[COUNT], b->machines <= MACHINES_MAX},
        {"length in hours", f[HOURS], length},
        {"fee", f[FEE], src_price(f[FEE], &b->fee) == 0 && b->fee > 0},
        {"currency", f[CURRENCY],
         strlen(f[CURRENCY]) == 3 && strspn(f[CURRENCY], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3},
        {"start", f[START], time_parse(f[START], 0, &b->start, NULL) == 0},
        {"end", f[END],
         *f[END] == '\0' || (time_parse(f[END], 0, &end, NULL) == 0 && end > b->start)},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].right) {
            *found = checks[i].text;
            return checks[i].what;
        }
    }
    return NULL;
}

static bool better(const struct block *a, const struct block *b)
{
    return a->per_hour != b->per_hour ? a->per_hour < b->per_hour : a->start < b->start;
}

static int keep(struct blocks *all, const struct block *b, struct gt_error *err)
{
    char key[2 * EC2_TEXT + 2];
    int n = snprintf(key, sizeof key, "%s %s", b->zone, b->type);
    uint32_t pool = intern_add(all->pools, key, (size_t)n);
    if (pool >= BLOCKS_MAX) {
        return pool == UINT32_MAX ? gt_fail(err, GT_ENOMEM, all->ctx->name, "out of memory")
                                  : gt_fail(err, GT_ELIMIT, all->ctx->name,
                                            "more than %d zones and types", BLOCKS_MAX);
    }
    struct block *kept = all->best[pool];
    if (kept) {
        src_skip(all->ctx, "dearer or later blocks of the same machine", 1);
        struct block *next = kept->next;
        *kept = better(b, kept) ? *b : *kept;
        kept->next = next;
        return 0;
    }
    kept = arena_alloc(all->arena, sizeof *kept);
    if (!kept) {
        return gt_fail(err, GT_ENOMEM, all->ctx->name, "out of memory");
    }
    *kept = *b;
    kept->next = NULL;
    all->best[pool] = kept;
    *all->last = kept;
    all->last = &kept->next;
    return 0;
}

static int item(void *ctx, const char *const *f, uint64_t line, struct gt_error *err)
{
    struct blocks *all = ctx;
    struct block b = {.next = NULL};
    const char *found = "";
    all->bad.seen++;
    if (*f[ULTRA] != '\0') {
        src_skip(all->ctx, "UltraServers, sold by the rack", 1);
        return 0;
    }
    const char *wrong = read_block(f, &b, &found);
    if (wrong) {
        return src_bad_row(&all->bad, all->ctx, line, wrong, found, err);
    }
    if (b.start <= all->ctx->now) { /* nobody can book it now */
        src_skip(all->ctx, "begun", 1);
        return 0;
    }
    if (money_mul_ratio(b.fee, 60, (gt_u128)b.machines * b.minutes, &b.per_hour) != 0 ||
        b.per_hour == 0) {
        return src_bad_row(&all->bad, all->ctx, line, "fee", f[FEE], err);
    }
    src_copy(b.zone, sizeof b.zone, f[ZONE]);
    src_copy(b.type, sizeof b.type, f[TYPE]);
    src_copy(b.id, sizeof b.id, f[ID]);
    src_copy(b.currency, sizeof b.currency, f[CURRENCY]);
    return keep(all, &b, err);
}

static int put(struct blocks *all, const struct block *b, struct gt_error *err)
{
    char region[64], note[200], fee[MONEY_TEXT], start[32];
    if (!aws_zone_region(b->zone, region)) {
        return gt_fail(err, GT_EPARSE, all->ctx->name, "no zone");
    }
    struct offer_row o = src_offer(all->ctx);
    snprintf(note, sizeof note,
             "a block of %u h %02u min from %s, %u machine%s, paid at once: %s %s", b->minutes / 60,
             b->minutes % 60, time_format(b->start, start), b->machines,
             b->machines == 1 ? "" : "s", money_format(b->fee, fee), b->currency);
    o.vendor = strncmp(region, "cn-", 3) == 0 ? "aws-cn" : "aws";
    o.region = region;
    o.zone = b->zone;
    o.instance_type = b->type;
    o.purchase = PURCHASE_CAPACITY_BLOCK;
    o.price_state = PRICE_KNOWN;
    o.price_per_hour = b->per_hour;
    o.currency = b->currency;
    o.sku = b->id;
    o.note = note;
    o.valid_from = b->start; /* the machines are there then; it is sold until then */
    o.valid_to = b->start + 1;
    const struct gpu_instance *g = gpu_of_instance("aws", b->type);
    if (g) {
        o.gpu = g->model;
        o.gpu_num = g->num;
        o.gpu_den = g->den;
        o.gpu_memory_gib = (double)g->memory_gib;
    }
    /* a file of one region is that region's list, as a fetch of it is */
    const char *scope = all->ctx->scope;
    src_copy(all->ctx->scope, sizeof all->ctx->scope,
             b == all->first || strcmp(scope, region) == 0 ? region : "");
    int rc = staging_put_offer(all->ctx->staging, &o, err);
    all->ctx->rows += rc == 0;
    return rc;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    return ec2_recognise(&shape, head, len);
}

static void blocks_abort(struct parser *p)
{
    struct blocks *all = (struct blocks *)(void *)p;
    if (all) {
        ec2_answer_free(all->answer);
        arena_free(all->arena);
        free(all->best);
    }
    free(all);
}

static int blocks_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct blocks *all = calloc(1, sizeof *all);
    if (all) {
        all->ctx = ctx;
        all->last = &all->first;
        all->arena = arena_new((size_t)256 << 20);
        all->pools = all->arena ? intern_new(all->arena) : NULL;
        all->best = calloc(BLOCKS_MAX, sizeof(struct block *));
    }
    if (!all || !all->pools || !all->best) {
        blocks_abort((struct parser *)(void *)all);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    all->may_be_none = staging_sells_out(ctx->staging);
    *out = (struct parser *)(void *)all;
    return 0;
}

/* The first byte tells the form. */
static int blocks_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct blocks *all = (struct blocks *)(void *)p;
    int rc = 0;
    if (!all->answer && len > 0) {
        rc = ec2_answer_new(&shape, all->ctx, *data == '<', item, all, &all->answer, err);
    }
    return rc || len == 0 ? rc : ec2_answer_feed(all->answer, data, len, err);
}

static int blocks_close(struct parser *p, struct gt_error *err)
{
    struct blocks *all = (struct blocks *)(void *)p;
    int rc = all->answer ? ec2_answer_end(all->answer, err)
             : all->may_be_none
                 ? gt_fail(err, GT_ENOTFOUND, all->ctx->name,
                           "none of the types that are sold in blocks is known there")
                 : gt_fail(err, GT_EPARSE, all->ctx->name, "an empty file");
    for (const struct block *b = all->first; rc == 0 && b; b = b->next) {
        rc = put(all, b, err);
    }
    all->ctx->sold_out = all->may_be_none && all->bad.n == 0;
    if (rc == 0 && all->ctx->rows == 0 && !all->ctx->sold_out) {
        char why[1024];
        rc = gt_fail(err, GT_ENOTFOUND, all->ctx->name, "no capacity block is offered (%s)",
                     left_out_text(all->ctx->left_out, all->ctx->skipped, why));
    }
    blocks_abort(p);
    return rc;
}

const struct source_def source_aws_capacity_block = {
    .id = "aws-capacity-block",
    .vendor = "aws",
    .default_url = "https://ec2.REGION.amazonaws.com/",
    .needs_key = true,
    .key_variable = "AWS_ACCESS_KEY_ID",
    .per_region = true,
    .expected_bytes = 50000,
    .help = "AWS capacity blocks that are free: one machine for 24 h; saved answers of any length",
    .recognise = recognise,
    .parse_open = blocks_open,
    .parse_feed = blocks_feed,
    .parse_close = blocks_close,
    .parse_abort = blocks_abort,
    .fetch = aws_capacity_block_fetch,
};
