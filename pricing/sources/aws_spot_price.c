/* AWS's keyless spot feed (docs/pricing-sources.md section 1.6): what the spot page shows now, one
 * price a region and type, no zones. {config: {rate, regions: [{region, instanceTypes: [{sizes:
 * [{size, valueColumns: [{name, prices: {USD}}]}]}]}]}}, as JSON or within `callback(…);`, with
 * comments before it. Only Linux. "N/A*" is no price; a type that the page lacks has none either:
 * nothing is put for both. The page has no date: its prices are of the time of the fetch. Also the
 * flat table that people keep of it (region_as_published, instance_type, spot_usd_per_hour). */
#include "aws_zone.h"
#include "gpu_names.h"
#include "json_read.h"
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL     "callback("
#define HEAD_MAX 65536U /* comments before the call */

/* Containers open in each place. */
enum { DOCUMENT = 1, CONFIG, REGIONS, REGION, TYPES, TYPE, SIZES, SIZE, COLUMNS, COLUMN, PRICES };

enum wrap { UNDECIDED, BARE, TABLE, BEFORE_CALL, BEFORE_BRACE, INSIDE, BEHIND };
struct spot_price {
    struct parse_context *ctx;
    struct parser *table; /* of the flat form, else NULL */
    struct json_reader *json;
    struct bad_rows bad;
    char region[64], size[64], column[32], price[64], currency[4];
    bool rate;
    enum wrap wrap;
    size_t before, matched; /* bytes before the call; of CALL */
    int braces;
    bool in_string, escaped;
};

static int put(struct parse_context *ctx, const char *region, const char *type, money price,
               const char *currency, struct gt_error *err)
{
    struct offer_row o = src_offer(ctx);
    o.region = aws_feed_region(region);
    o.vendor = strncmp(o.region, "cn-", 3) == 0 ? "aws-cn" : "aws";
    o.instance_type = type;
    o.purchase = PURCHASE_SPOT;
    o.price_state = PRICE_KNOWN;
    o.price_per_hour = price;
    o.currency = currency;
    const struct gpu_instance *g = gpu_of_instance("aws", type);
    if (g) {
        o.gpu = g->model;
        o.gpu_num = g->num;
        o.gpu_den = g->den;
        o.gpu_memory_gib = (double)g->memory_gib;
    }
    int rc = staging_put_offer(ctx->staging, &o, err);
    ctx->rows += rc == 0;
    return rc;
}

static int put_column(struct spot_price *s, struct json_reader *r, struct gt_error *err)
{
    money price;
    if (strcmp(s->column, "linux") != 0) {
        return 0;
    }
    s->bad.seen++;
    if (strncmp(s->price, "N/A", 3) == 0) {
        src_skip(s->ctx, "not offered", 1);
        return 0;
    }
    if (src_price(s->price, &price) != 0 || price == 0) {
        return src_bad_row(&s->bad, s->ctx, json_line(r), "price", s->price, err);
    }
    if (!src_name_ok(s->region) || !src_name_ok(s->size)) {
        return src_bad_row(&s->bad, s->ctx, json_line(r), "region or size", s->size, err);
    }
    if (strspn(s->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
        return src_bad_row(&s->bad, s->ctx, json_line(r), "currency", s->currency, err);
    }
    return put(s->ctx, s->region, s->size, price, s->currency, err);
}

enum { F_REGION, F_TYPE, F_PRICE };

static int flat_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    const char *region = table_text(p, row, F_REGION), *type = table_text(p, row, F_TYPE);
    money price;
    if (!src_name_ok(region) || !src_name_ok(type)) {
        return table_bad(p, row, F_TYPE, err);
    }
    if (strncmp(table_text(p, row, F_PRICE), "N/A", 3) == 0) {
        src_skip(p->ctx, "not offered", 1);
        return 0;
    }
    if (src_price(table_text(p, row, F_PRICE), &price) != 0 || price == 0) {
        return table_bad(p, row, F_PRICE, err);
    }
    return put(p->ctx, region, type, price, "USD", err);
}

static const struct table_shape flat = {
    .scope = "",
    .column = {"*region_as_published", "*instance_type", "*spot_usd_per_hour", NULL},
    .row = flat_row,
};
static const struct table_shape *const flat_shapes[] = {&flat, NULL};

static int keep(struct json_reader *r, char *to, size_t size, const char *text, size_t len,
                struct gt_error *err)
{
    if (len >= size) {
        return json_fail(r, GT_EPARSE, err, "'%.40s…' is longer than %zu bytes", text, size - 1);
    }
    memcpy(to, text, len + 1);
    return 0;
}

/* Keys on the way to a price; the values of others are passed over. */
static int on_key(struct spot_price *s, struct json_reader *r, const char *text, size_t len,
                  struct gt_error *err)
{
    static const char *const wanted[PRICES][3] = {
        [DOCUMENT] = {"config"},
        [CONFIG] = {"rate", "regions"},
        [REGION] = {"region", "instanceTypes"},
        [TYPE] = {"sizes"},
        [SIZE] = {"size", "valueColumns"},
        [COLUMN] = {"name", "prices"},
    };
    int depth = json_depth(r);
    if (depth == PRICES && s->currency[0] == '\0') {
        return keep(r, s->currency, sizeof s->currency, text, len, err);
    }
    for (int i = 0; depth < PRICES && wanted[depth][i]; i++) {
        if (strcmp(wanted[depth][i], text) == 0) {
            return 0;
        }
    }
    json_skip_value(r);
    return 0;
}

static int on_text(struct spot_price *s, struct json_reader *r, const char *text, size_t len,
                   struct gt_error *err)
{
    switch (json_depth(r)) {
    case CONFIG:
        s->rate = strcmp(text, "perhr") == 0;
        return s->rate ? 0 : json_fail(r, GT_EPARSE, err, "rate '%.20s', expected perhr", text);
    case REGION:
        return keep(r, s->region, sizeof s->region, text, len, err);
    case SIZE:
        return keep(r, s->size, sizeof s->size, text, len, err);
    case COLUMN:
        return keep(r, s->column, sizeof s->column, text, len, err);
    case PRICES:
        return keep(r, s->price, sizeof s->price, text, len, err);
    default:
        return 0;
    }
}

static int on_event(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    struct spot_price *s = ctx;
    int depth = json_depth(r);
    switch (e) {
    case JSON_KEY:
        return on_key(s, r, text, len, err);
    case JSON_STRING:
    case JSON_NUMBER:
        return on_text(s, r, text, len, err);
    case JSON_OBJECT:
        if (depth == REGION || depth == SIZE) {
            *(depth == REGION ? s->region : s->size) = '\0';
        } else if (depth == COLUMN) {
            s->column[0] = s->price[0] = s->currency[0] = '\0';
        }
        return depth > PRICES ? json_fail(r, GT_EPARSE, err, "found an object for a price") : 0;
    case JSON_ARRAY:
        if ((depth == TYPES && !s->region[0]) || (depth == COLUMNS && !s->size[0])) {
            return json_fail(r, GT_EPARSE, err, "prices before the name of what they are for");
        }
        return depth > COLUMNS ? json_fail(r, GT_EPARSE, err, "found a list for a price") : 0;
    case JSON_END_OBJECT:
        return depth == COLUMNS ? put_column(s, r, err) : 0;
    default:
        return 0;
    }
}

/* The part of data that is JSON: [*from, *from + *len). The call around it is passed over. */
static int unwrap(struct spot_price *s, const char *data, size_t n, size_t *from, size_t *len,
                  struct gt_error *err)
{
    *from = *len = 0;
    for (size_t i = 0; i < n; i++) {
        char c = data[i];
        if (s->wrap == BEFORE_CALL) {
            s->matched = c == CALL[s->matched] ? s->matched + 1 : c == CALL[0];
            if (s->matched == strlen(CALL)) {
                s->wrap = BEFORE_BRACE;
            } else if (++s->before > HEAD_MAX) {
                return gt_fail(err, GT_EPARSE, s->ctx->name, "no %s…) in the first %u bytes", CALL,
                               HEAD_MAX);
            }
        } else if (s->wrap == BEFORE_BRACE && c == '{') {
            s->wrap = INSIDE;
            s->braces = 1;
            *from = i;
            *len = 1;
        } else if (s->wrap == INSIDE) {
            ++*len;
            if (s->in_string) {
                s->in_string = s->escaped || c != '"';
                s->escaped = !s->escaped && c == '\\';
            } else {
                s->in_string = c == '"';
                s->braces += (c == '{') - (c == '}');
                s->wrap = s->braces == 0 ? BEHIND : INSIDE;
            }
        } else if (!strchr(s->wrap == BEHIND ? ");\r\n\t " : "\r\n\t ", c) || c == '\0') {
            return gt_fail(err, GT_EPARSE, s->ctx->name, "found '%c' %s the object of %s…)",
                           c > ' ' && c < 127 ? c : '?', s->wrap == BEHIND ? "behind" : "before",
                           CALL);
        }
    }
    return 0;
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    if (table_recognise(flat_shapes, head, len)) {
        return true;
    }
    return memmem(head, len, "\"valueColumns\"", 14) && memmem(head, len, "\"perhr\"", 7) &&
           memmem(head, len, "\"mswin\"", 7); /* on-demand pages of the same form have no such */
}

static void price_abort(struct parser *p)
{
    struct spot_price *s = (struct spot_price *)(void *)p;
    if (s) {
        json_reader_free(s->json);
        table_abort(s->table);
    }
    free(s);
}

static int price_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct spot_price *s = calloc(1, sizeof *s);
    if (!s) {
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    s->ctx = ctx;
    *out = (struct parser *)(void *)s;
    int rc = json_reader_new(ctx->name, on_event, s, &s->json, err);
    if (rc != 0) {
        price_abort(*out);
    }
    return rc;
}

static int price_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct spot_price *s = (struct spot_price *)(void *)p;
    size_t from = 0;
    while (s->wrap == UNDECIDED && len > 0 && strchr("\r\n\t ", *data) && *data) {
        data++;
        len--;
    }
    if (len == 0) {
        return 0;
    }
    if (s->wrap == UNDECIDED) {
        /* "callback(" or a comment, else the header of a table */
        s->wrap = *data == '{' ? BARE : *data == '/' || *data == 'c' ? BEFORE_CALL : TABLE;
    }
    if (s->wrap == TABLE) {
        int rc = s->table ? 0 : table_open(s->ctx, flat_shapes, ',', &s->table, err);
        return rc ? rc : table_feed(s->table, data, len, err);
    }
    if (s->wrap != BARE) {
        int rc = unwrap(s, data, len, &from, &len, err);
        if (rc != 0) {
            return rc;
        }
    }
    return len > 0 ? json_reader_feed(s->json, data + from, len, err) : 0;
}

static int price_close(struct parser *p, struct gt_error *err)
{
    struct spot_price *s = (struct spot_price *)(void *)p;
    if (s->table) {
        int flat_rc = table_close(s->table, err);
        s->table = NULL;
        price_abort(p);
        return flat_rc;
    }
    int rc = s->wrap == UNDECIDED ? gt_fail(err, GT_EPARSE, s->ctx->name, "an empty file")
             : s->wrap == BEFORE_CALL || s->wrap == BEFORE_BRACE
                 ? gt_fail(err, GT_EPARSE, s->ctx->name, "neither JSON nor %s…)", CALL)
                 : json_reader_end(s->json, err);
    if (rc == 0 && (!s->rate || s->ctx->rows == 0)) {
        rc = gt_fail(err, GT_EPARSE, s->ctx->name, "%s",
                     s->rate ? "no Linux spot price"
                             : "the unit of the prices (rate) is not stated");
    }
    price_abort(p);
    return rc;
}

const struct source_def source_aws_spot_price = {
    .id = "aws-spot-price",
    .vendor = "aws",
    .default_url = "https://website.spot.ec2.aws.a2z.com/spot.json",
    .default_on = true,
    .expected_bytes = 2800000,
    .help = "AWS spot prices now, one for each region",
    .recognise = recognise,
    .parse_open = price_open,
    .parse_feed = price_feed,
    .parse_close = price_close,
    .parse_abort = price_abort,
};
