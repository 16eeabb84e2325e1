/* AWS spot price history (docs/pricing-sources.md section 1.6): the answer of the EC2 API (XML),
 * the same as the command line prints it (JSON), and the tables that people keep of it. Rows are
 * changes, not samples, and the first of a pool may be older than the time asked for: each stands
 * at its own time and holds until the next. Only Linux/UNIX. A zone's name is per account and its
 * id is not: each is kept as it comes, the two are never joined. */
#include "../http/http.h"
#include "aws_zone.h"
#include "ec2_answer.h"
#include "gputier/arena.h"
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZONE, TYPE, PRODUCT, PRICE, TIME, FIELDS };
static const char *const json_keys[FIELDS] = {"AvailabilityZone", "InstanceType",
                                              "ProductDescription", "SpotPrice", "Timestamp"};
static const char *const xml_names[FIELDS] = {"availabilityZone", "instanceType",
                                              "productDescription", "spotPrice", "timestamp"};
static const struct ec2_shape shape = {"SpotPriceHistory", "DescribeSpotPriceHistoryResponse",
                                       json_keys, xml_names, FIELDS};
/* Column names of the tables; the first set is the command line's own. */
static const char *const headers[][FIELDS] = {
    {"AvailabilityZone", "InstanceType", "ProductDescription", "SpotPrice", "Timestamp"},
    {"availability_zone", "instance_type", NULL, "spot_usd_per_hour", "timestamp_utc"},
    {"az_id", "instance_type", NULL, "spot_usd_per_hour", "timestamp_utc"},
};
#define HEADERS (sizeof headers / sizeof *headers)

#define PLAIN    "Linux/UNIX"
#define VPC      "Linux/UNIX (Amazon VPC)"
#define HELD_MAX (1U << 20)

/* A change under the product name of a VPC: most often it repeats the one under the plain name. */
struct held {
    uint32_t pool, zone, type;
    money price;
    int64_t when;
};
struct spot_history {
    struct parse_context *ctx;
    struct ec2_answer *answer;
    struct csv_reader *csv;
    bool tabs; /* an archive's .tsv: no header, columns in the order of the enumeration */
    bool header;
    int column[FIELDS];
    struct bad_rows bad;
    struct arena *arena;
    struct intern *strings;
    unsigned char *plain; /* by string: the pool has changes under the plain name */
    size_t plain_cap;
    struct held *held;
    size_t n_held, held_cap;
    size_t head_len;
    char head[4096]; /* of a table, until its first line is whole */
};

static int no_memory(const struct spot_history *h, struct gt_error *err)
{
    return gt_fail(err, GT_ENOMEM, h->ctx->name, "out of memory");
}

static int put_point(struct spot_history *h, const char *zone, const char *type, money price,
                     int64_t when, struct gt_error *err)
{
    char region[64];
    if (!aws_zone_region(zone, region)) {
        return gt_fail(err, GT_EPARSE, h->ctx->name, "no zone");
    }
    bool china = strncmp(region, "cn-", 3) == 0;
    struct spot_point_row r = {
        .vendor = china ? "aws-cn" : "aws",
        .region = region,
        .zone = zone,
        .instance_type = type,
        .when = when,
        .price = price,
        .currency = china ? "CNY" : "USD",
        .available = -1,
    };
    int rc = staging_put_spot_point(h->ctx->staging, &r, err);
    h->ctx->rows += rc == 0;
    return rc;
}

/* Remembers that a pool has changes under the plain name. */
static int mark_plain(struct spot_history *h, uint32_t pool, struct gt_error *err)
{
    if (pool >= h->plain_cap) {
        size_t cap = 2 * (size_t)pool + 1024;
        unsigned char *more = realloc(h->plain, cap);
        if (!more) {
            return no_memory(h, err);
        }
        memset(more + h->plain_cap, 0, cap - h->plain_cap);
        h->plain = more;
        h->plain_cap = cap;
    }
    h->plain[pool] = 1;
    return 0;
}

static int hold(struct spot_history *h, const struct held *row, struct gt_error *err)
{
    if (h->n_held == HELD_MAX) {
        return gt_fail(err, GT_ELIMIT, h->ctx->name, "more than %u changes named '%s'", HELD_MAX,
                       VPC);
    }
    if (h->n_held == h->held_cap) {
        size_t cap = h->held_cap ? 2 * h->held_cap : 256;
        struct held *more = realloc(h->held, cap * sizeof *more);
        if (!more) {
            return no_memory(h, err);
        }
        h->held = more;
        h->held_cap = cap;
    }
    h->held[h->n_held++] = *row;
    return 0;
}

/* f: the five texts. line: 0 in JSON. */
static int put(struct spot_history *h, const char *const f[FIELDS], uint64_t line,
               struct gt_error *err)
{
    char text[400], region[64];
    struct held r = {0};
    bool vpc = strcmp(f[PRODUCT], VPC) == 0;
    h->bad.seen++;
    if (!vpc && *f[PRODUCT] != '\0' && strcmp(f[PRODUCT], PLAIN) != 0) {
        src_skip(h->ctx, "other systems than Linux", 1);
        return 0;
    }
    if (!src_name_ok(f[ZONE]) || !aws_zone_region(f[ZONE], region)) {
        return src_bad_row(&h->bad, h->ctx, line, "zone", f[ZONE], err);
    }
    if (!src_name_ok(f[TYPE])) {
        return src_bad_row(&h->bad, h->ctx, line, "instance type", f[TYPE], err);
    }
    if (src_price(f[PRICE], &r.price) != 0 || r.price == 0) {
        return src_bad_row(&h->bad, h->ctx, line, "price", f[PRICE], err);
    }
    if (time_parse(f[TIME], 0, &r.when, NULL) != 0) {
        return src_bad_row(&h->bad, h->ctx, line, "time", f[TIME], err);
    }
    int n = snprintf(text, sizeof text, "%.190s %.190s", f[ZONE], f[TYPE]);
    r.pool = intern_add(h->strings, text, (size_t)n);
    r.zone = intern_add(h->strings, f[ZONE], strlen(f[ZONE]));
    r.type = intern_add(h->strings, f[TYPE], strlen(f[TYPE]));
    if (r.pool == UINT32_MAX || r.zone == UINT32_MAX || r.type == UINT32_MAX) {
        return no_memory(h, err);
    }
    if (vpc) {
        return hold(h, &r, err);
    }
    int rc = mark_plain(h, r.pool, err);
    return rc ? rc : put_point(h, f[ZONE], f[TYPE], r.price, r.when, err);
}

/* Pools that are known by the VPC's name only. */
static int put_held(struct spot_history *h, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < h->n_held; i++) {
        const struct held *r = &h->held[i];
        if (r->pool < h->plain_cap && h->plain[r->pool]) {
            src_skip(h->ctx, "told again for the VPC", 1);
        } else {
            rc = put_point(h, intern_text(h->strings, r->zone), intern_text(h->strings, r->type),
                           r->price, r->when, err);
        }
    }
    return rc;
}

static int put_item(void *ctx, const char *const *f, uint64_t line, struct gt_error *err)
{
    return put(ctx, f, line, err);
}

static int take_header(struct spot_history *h, const struct csv_row *row, struct gt_error *err)
{
    for (size_t k = 0; k < HEADERS; k++) {
        bool all = true;
        for (int i = 0; i < FIELDS; i++) {
            h->column[i] = headers[k][i] ? csv_column(row, headers[k][i]) : -1;
            all = all && (h->column[i] >= 0 || i == PRODUCT);
        }
        if (all) {
            h->header = true;
            return 0;
        }
    }
    return csv_fail(err, GT_EPARSE, h->ctx->name, row,
                    "the header has not the columns of a spot price history (AvailabilityZone, "
                    "InstanceType, ProductDescription, SpotPrice, Timestamp)");
}

static int on_row(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    struct spot_history *h = ctx;
    const char *f[FIELDS];
    if (!h->header && !h->tabs) {
        return take_header(h, row, err);
    }
    for (int i = 0; i < FIELDS; i++) {
        f[i] = csv_field(row, h->tabs ? i : h->column[i]);
    }
    return put(h, f, row->line, err);
}

/* The first line has five columns with tabs between. */
static bool is_tsv(const char *head, size_t len)
{
    const char *end = memchr(head, '\n', len);
    size_t tabs = 0;
    for (const char *p = head; end && p < end; p++) {
        tabs += *p == '\t';
    }
    return tabs == 4;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    size_t n = len < 4096 ? len : 4096;
    if (n > 0 && (*head == '{' || *head == '<')) {
        return ec2_recognise(&shape, head, n);
    }
    const char *end = memchr(head, '\n', n);
    size_t line = end ? (size_t)(end - head) : n;
    bool price = memmem(head, line, "SpotPrice", 9) && memmem(head, line, "AvailabilityZone", 16) &&
                 memmem(head, line, "Timestamp", 9);
    bool kept = memmem(head, line, "spot_usd_per_hour", 17) &&
                memmem(head, line, "timestamp_utc", 13) && memmem(head, line, "instance_type", 13);
    return price || kept || (is_tsv(head, n) && memmem(head, n, PLAIN, strlen(PLAIN)));
}

static void history_abort(struct parser *p)
{
    struct spot_history *h = (struct spot_history *)(void *)p;
    if (h) {
        ec2_answer_free(h->answer);
        csv_reader_free(h->csv);
        arena_free(h->arena);
        free(h->plain);
        free(h->held);
    }
    free(h);
}

static int history_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct spot_history *h = calloc(1, sizeof *h);
    struct parser *p = (struct parser *)(void *)h;
    if (h) {
        h->ctx = ctx;
        h->arena = arena_new((size_t)256 << 20);
        h->strings = h->arena ? intern_new(h->arena) : NULL;
    }
    if (!h || !h->strings) {
        history_abort(p);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    *out = p;
    return 0;
}

/* A table is opened once its first line is there: tabs or commas. */
static int begin_table(struct spot_history *h, struct gt_error *err)
{
    h->tabs = is_tsv(h->head, h->head_len);
    int rc = csv_reader_new(h->ctx->name, h->tabs ? '\t' : ',', on_row, h, &h->csv, err);
    return rc ? rc : csv_reader_feed(h->csv, h->head, h->head_len, err);
}

/* The first byte tells the form. */
static int begin(struct spot_history *h, const char *data, size_t *len, struct gt_error *err)
{
    if (h->head_len == 0 && (*data == '<' || *data == '{')) {
        return ec2_answer_new(&shape, h->ctx, *data == '<', put_item, h, &h->answer, err);
    }
    size_t room = sizeof h->head - h->head_len;
    *len = *len < room ? *len : room;
    memcpy(h->head + h->head_len, data, *len);
    h->head_len += *len;
    bool whole = h->head_len == sizeof h->head || memchr(h->head, '\n', h->head_len);
    return whole ? begin_table(h, err) : 0;
}

static int history_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct spot_history *h = (struct spot_history *)(void *)p;
    if (len > 0 && !h->answer && !h->csv) {
        size_t taken = len;
        int rc = begin(h, data, &taken, err);
        if (rc != 0) {
            return rc;
        }
        taken = h->head_len > 0 ? taken : 0; /* else it is still to be read */
        data += taken;
        len -= taken;
    }
    return len == 0    ? 0
           : h->answer ? ec2_answer_feed(h->answer, data, len, err)
                       : csv_reader_feed(h->csv, data, len, err);
}

static int history_close(struct parser *p, struct gt_error *err)
{
    struct spot_history *h = (struct spot_history *)(void *)p;
    int rc = h->answer || h->csv ? 0
             : h->head_len > 0   ? begin_table(h, err)
                                 : gt_fail(err, GT_EPARSE, h->ctx->name, "an empty file");
    if (rc == 0) {
        rc = h->answer ? ec2_answer_end(h->answer, err) : csv_reader_end(h->csv, err);
    }
    rc = rc ? rc : put_held(h, err);
    if (rc == 0 && h->ctx->rows == 0) {
        rc = gt_fail(err, GT_EPARSE, h->ctx->name, "a spot price history without a Linux price");
    }
    history_abort(p);
    return rc;
}

const struct source_def source_aws_spot_history = {
    .id = "aws-spot-history",
    .vendor = "aws",
    .default_url = "https://ec2.REGION.amazonaws.com/",
    .needs_key = true,
    .key_variable = "AWS_ACCESS_KEY_ID",
    .per_region = true,
    .has_region = aws_is_region,
    .expected_bytes = 20000000,
    .help = "AWS spot prices of the last 90 days by zone: the EC2 API, saved answers, tables",
    .recognise = recognise,
    .parse_open = history_open,
    .parse_feed = history_feed,
    .parse_close = history_close,
    .parse_abort = history_abort,
    .fetch = aws_spot_history_fetch,
};
