/* AWS spot price history: the answer of describe-spot-price-history as the command line prints it,
 * and the tables that people keep of it (docs/pricing-sources.md section 1.6). Rows are changes,
 * not samples. Only Linux/UNIX. A zone's name is per account and its id is not: each is kept as
 * it comes, the two are never joined. */
#include "json_read.h"
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZONE, TYPE, PRODUCT, PRICE, TIME, FIELDS };
static const char *const json_keys[FIELDS] = {"AvailabilityZone", "InstanceType",
                                              "ProductDescription", "SpotPrice", "Timestamp"};
/* Column names of the tables; the first set is the command line's own. */
static const char *const headers[][FIELDS] = {
    {"AvailabilityZone", "InstanceType", "ProductDescription", "SpotPrice", "Timestamp"},
    {"availability_zone", "instance_type", NULL, "spot_usd_per_hour", "timestamp_utc"},
    {"az_id", "instance_type", NULL, "spot_usd_per_hour", "timestamp_utc"},
};
#define HEADERS (sizeof headers / sizeof *headers)

struct spot_history {
    struct parse_context *ctx;
    struct json_reader *json;
    struct csv_reader *csv;
    bool tabs; /* an archive's .tsv: no header, columns in the order of the enumeration */
    bool header;
    int column[FIELDS], key;
    struct bad_rows bad;
    char field[FIELDS][100];
};

/* "use1-az1" -> us-east-1, "usw2-lax1-az1" -> us-west-2-lax-1. False when it is no zone id. */
static bool region_of_id(const char *zone, char out[64])
{
    static const char *const areas[][2] = {
        {"usg", "us-gov"}, {"us", "us"}, {"eu", "eu"}, {"ap", "ap"}, {"sa", "sa"}, {"ca", "ca"},
        {"me", "me"},      {"af", "af"}, {"il", "il"}, {"mx", "mx"}, {"cn", "cn"}};
    static const char *const winds[][2] = {
        {"ne", "northeast"}, {"nw", "northwest"}, {"se", "southeast"},
        {"sw", "southwest"}, {"n", "north"},      {"e", "east"},
        {"s", "south"},      {"w", "west"},       {"c", "central"}};
    for (size_t a = 0; a < sizeof areas / sizeof *areas; a++) {
        size_t n = strlen(areas[a][0]);
        for (size_t w = 0; w < sizeof winds / sizeof *winds && strncmp(zone, areas[a][0], n) == 0;
             w++) {
            size_t k = strlen(winds[w][0]);
            const char *digit = zone + n + k;
            if (strncmp(zone + n, winds[w][0], k) != 0 || *digit < '0' || *digit > '9' ||
                digit[1] != '-') {
                continue;
            }
            int used = snprintf(out, 64, "%s-%s-%c", areas[a][1], winds[w][1], *digit);
            const char *city = digit + 2, *end = strchr(city, '-');
            if (end && strncmp(city, "az", 2) != 0 && end - city > 1 && end - city < 12) {
                snprintf(out + used, 64 - (size_t)used, "-%.*s-%c", (int)(end - city - 1), city,
                         end[-1]);
            }
            return true;
        }
    }
    return false;
}

/* The region that a zone is in: an id's, else the name without its letter. */
static bool region_of(const char *zone, char out[64])
{
    size_t n = strlen(zone);
    if (region_of_id(zone, out)) {
        return true;
    }
    if (n < 6 || n > 60 || zone[n - 1] < 'a' || zone[n - 1] > 'z' || zone[n - 2] < '0' ||
        zone[n - 2] > '9') {
        return false;
    }
    memcpy(out, zone, n - 1);
    out[n - 1] = '\0';
    return true;
}

/* f: the five texts. line: 0 in JSON. */
static int put(struct spot_history *h, const char *const f[FIELDS], uint64_t line,
               struct gt_error *err)
{
    char region[64];
    struct spot_point_row r = {
        .zone = f[ZONE], .instance_type = f[TYPE], .currency = "USD", .available = -1};
    h->bad.seen++;
    if (*f[PRODUCT] != '\0' && strcmp(f[PRODUCT], "Linux/UNIX") != 0) {
        h->ctx->skipped++; /* Windows and licences; "(Amazon VPC)" repeats the plain one */
        return 0;
    }
    if (!src_name_ok(f[ZONE]) || !region_of(f[ZONE], region)) {
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
    r.region = region;
    r.vendor = strncmp(region, "cn-", 3) == 0 ? "aws-cn" : "aws";
    if (strcmp(r.vendor, "aws-cn") == 0) {
        r.currency = "CNY";
    }
    int rc = staging_put_spot_point(h->ctx->staging, &r, err);
    h->ctx->rows += rc == 0;
    return rc;
}

/* Depth: 1 document, 2 SpotPriceHistory, 3 one change. */
static int on_event(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    struct spot_history *h = ctx;
    int depth = json_depth(r);
    if (e == JSON_KEY && depth == 1 && strcmp(text, "SpotPriceHistory") != 0) {
        json_skip_value(r);
    } else if (e == JSON_OBJECT && depth == 3) {
        memset(h->field, 0, sizeof h->field);
    } else if (e == JSON_KEY && depth == 3) {
        h->key = -1;
        for (int i = 0; i < FIELDS; i++) {
            h->key = strcmp(text, json_keys[i]) == 0 ? i : h->key;
        }
        if (h->key < 0) {
            json_skip_value(r);
        }
    } else if ((e == JSON_STRING || e == JSON_NUMBER) && depth == 3) {
        if (len >= sizeof h->field[0]) {
            return json_fail(r, GT_EPARSE, err, "%s '%.60s…' is too long", json_keys[h->key], text);
        }
        memcpy(h->field[h->key], text, len + 1);
    } else if (e == JSON_END_OBJECT && depth == 2) {
        const char *const f[FIELDS] = {h->field[ZONE], h->field[TYPE], h->field[PRODUCT],
                                       h->field[PRICE], h->field[TIME]};
        return put(h, f, 0, err);
    } else if ((e == JSON_OBJECT || e == JSON_ARRAY) && depth > 3) {
        return json_fail(r, GT_EPARSE, err, "found a list where a change has texts");
    }
    return 0;
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

static bool is_tsv(const char *head, size_t len)
{
    const char *end = memchr(head, '\n', len);
    size_t tabs = 0;
    for (const char *p = head; end && p < end; p++) {
        tabs += *p == '\t';
    }
    return end && tabs == 4 && memmem(head, len < 4096 ? len : 4096, "Linux/UNIX", 10);
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    size_t n = len < 4096 ? len : 4096;
    if (n > 0 && *head == '{') {
        return memmem(head, n, "\"SpotPriceHistory\"", 18) != NULL;
    }
    const char *end = memchr(head, '\n', n);
    size_t line = end ? (size_t)(end - head) : n;
    bool price = memmem(head, line, "SpotPrice", 9) && memmem(head, line, "AvailabilityZone", 16) &&
                 memmem(head, line, "Timestamp", 9);
    bool kept = memmem(head, line, "spot_usd_per_hour", 17) &&
                memmem(head, line, "timestamp_utc", 13) && memmem(head, line, "instance_type", 13);
    return price || kept || is_tsv(head, len);
}

static void history_abort(struct parser *p)
{
    struct spot_history *h = (struct spot_history *)(void *)p;
    if (h) {
        json_reader_free(h->json);
        csv_reader_free(h->csv);
    }
    free(h);
}

static int history_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct spot_history *h = calloc(1, sizeof *h);
    if (!h) {
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    h->ctx = ctx;
    *out = (struct parser *)(void *)h;
    return 0;
}

static int history_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct spot_history *h = (struct spot_history *)(void *)p;
    if (!h->json && !h->csv && len > 0) {
        h->tabs = is_tsv(data, len);
        int rc = *data == '{'
                     ? json_reader_new(h->ctx->name, on_event, h, &h->json, err)
                     : csv_reader_new(h->ctx->name, h->tabs ? '\t' : ',', on_row, h, &h->csv, err);
        if (rc != 0) {
            return rc;
        }
    }
    return h->json  ? json_reader_feed(h->json, data, len, err)
           : h->csv ? csv_reader_feed(h->csv, data, len, err)
                    : 0;
}

static int history_close(struct parser *p, struct gt_error *err)
{
    struct spot_history *h = (struct spot_history *)(void *)p;
    int rc = h->json  ? json_reader_end(h->json, err)
             : h->csv ? csv_reader_end(h->csv, err)
                      : gt_fail(err, GT_EPARSE, h->ctx->name, "an empty file");
    if (rc == 0 && h->ctx->rows == 0) {
        rc = gt_fail(err, GT_EPARSE, h->ctx->name, "a spot price history without a Linux price");
    }
    history_abort(p);
    return rc;
}

const struct source_def source_aws_spot_history = {
    .id = "aws-spot-history",
    .vendor = "aws",
    .help = "saved answers of describe-spot-price-history, and tables of them",
    .recognise = recognise,
    .parse_open = history_open,
    .parse_feed = history_feed,
    .parse_close = history_close,
    .parse_abort = history_abort,
};
