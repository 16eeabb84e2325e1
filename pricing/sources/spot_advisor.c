/* AWS spot advisor: how often instances of a type were interrupted in the last month, in bands,
 * and the saving in whole percent (docs/pricing-sources.md section 1.6). The vendor's JSON
 * {ranges, instance_types, spot_advisor: {REGION: {Linux: {TYPE: {s, r}}}}}, and the flat table
 * that people keep of it (region, instance_type, savings_pct, interruption_range_index). Only
 * Linux. The saving is rounded: it is no price and none is made of it. */
#include "json_read.h"
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The published bands by index: <5, 5-10, 10-15, 15-20, >20 % of instances a month. */
static const double band_lo[] = {0, 5, 10, 15, 20}, band_hi[] = {5, 10, 15, 20, -1};
static const char *const band_label[] = {"<5%", "5-10%", "10-15%", "15-20%", ">20%"};
#define BANDS 5

struct advisor {
    struct parser *table; /* of the flat form, else NULL */
    struct parse_context *ctx;
    struct json_reader *json;
    bool in_ranges;
    char label[16];
    char region[64], type[64], key[32];
    int savings, band; /* -1 = not stated */
};

static int put(struct parse_context *ctx, const char *region, const char *type, int band,
               double savings, struct gt_error *err)
{
    struct interruption_row r = {
        .vendor = strncmp(region, "cn-", 3) == 0 ? "aws-cn" : "aws",
        .region = region,
        .instance_type = type,
        .band_lo_pct = band_lo[band],
        .band_hi_pct = band_hi[band],
        .savings_pct = savings,
        .as_of = ctx->as_of,
    };
    int rc = staging_put_interruption(ctx->staging, &r, err);
    ctx->rows += rc == 0;
    return rc;
}

/* depth: 1 document, 2 spot_advisor, 3 region, 4 system, 5 instance type */
static int on_key(struct advisor *a, struct json_reader *r, const char *text, size_t len)
{
    int depth = json_depth(r);
    if (depth == 1) {
        a->in_ranges = strcmp(text, "ranges") == 0;
        if (!a->in_ranges && strcmp(text, "spot_advisor") != 0) {
            json_skip_value(r);
        }
    } else if (a->in_ranges && len < sizeof a->key) {
        memcpy(a->key, text, len + 1);
    } else if (depth == 2 && len < sizeof a->region) {
        memcpy(a->region, text, len + 1);
    } else if (depth == 4 && len < sizeof a->type) {
        memcpy(a->type, text, len + 1);
        a->savings = a->band = -1;
    } else if (depth == 5 && len < sizeof a->key) {
        memcpy(a->key, text, len + 1);
    } else if (depth != 3 || strcmp(text, "Linux") != 0) {
        json_skip_value(r);
    }
    return 0;
}

/* ranges: [{index, label}]: the bands have to be those that are known. */
static int on_range(struct advisor *a, struct json_reader *r, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    if (e == JSON_OBJECT) {
        a->band = -1;
        a->label[0] = '\0';
    } else if (e == JSON_NUMBER && strcmp(a->key, "index") == 0) {
        a->band = len == 1 && *text >= '0' && *text < '0' + BANDS ? *text - '0' : BANDS;
    } else if (e == JSON_STRING && strcmp(a->key, "label") == 0) {
        snprintf(a->label, sizeof a->label, "%s", text);
    } else if (e == JSON_END_OBJECT &&
               (a->band < 0 || a->band >= BANDS || strcmp(a->label, band_label[a->band]) != 0)) {
        return json_fail(r, GT_EPARSE, err, "band %d is '%.15s'; known are <5%% to >20%%", a->band,
                         a->label);
    }
    return 0;
}

static int on_event(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    struct advisor *a = ctx;
    if (e == JSON_KEY) {
        return on_key(a, r, text, len);
    }
    if (a->in_ranges) {
        return on_range(a, r, e, text, len, err);
    }
    if (e == JSON_NUMBER && json_depth(r) == 5) {
        double v = src_figure(text);
        if (strcmp(a->key, "r") == 0) {
            if (v < 0 || v >= BANDS || text[1] != '\0') {
                return json_fail(r, GT_EPARSE, err, "interruption band %.20s; known are 0 to 4",
                                 text);
            }
            a->band = (int)v;
        } else if (strcmp(a->key, "s") == 0) {
            if (v < 0 || v > 100) {
                return json_fail(r, GT_EPARSE, err, "a saving of %.20s %%", text);
            }
            a->savings = (int)v;
        }
    }
    if (e == JSON_END_OBJECT && json_depth(r) == 4) {
        if (a->band < 0 || !src_name_ok(a->region) || !src_name_ok(a->type)) {
            return json_fail(r, GT_EPARSE, err, "an entry without its band \"r\"");
        }
        return put(a->ctx, a->region, a->type, a->band, a->savings, err);
    }
    return 0;
}

enum { REGION, TYPE, SAVINGS, BAND };

static int flat_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    const char *region = table_text(p, row, REGION), *type = table_text(p, row, TYPE);
    const char *band = table_text(p, row, BAND);
    double savings = src_figure(table_text(p, row, SAVINGS));
    if (!src_name_ok(region) || !src_name_ok(type)) {
        return table_bad(p, row, TYPE, err);
    }
    if (band[0] < '0' || band[0] > '4' || band[1] != '\0') {
        return table_refuse(p, row, BAND, "known are 0 to 4", err);
    }
    if (savings > 100) {
        return table_refuse(p, row, SAVINGS, "expected 0 to 100", err);
    }
    return put(p->ctx, region, type, band[0] - '0', savings, err);
}

static const struct table_shape flat = {
    .scope = "",
    .column = {"*region", "*instance_type", "*savings_pct", "*interruption_range_index", NULL},
    .row = flat_row,
};
static const struct table_shape *const flat_shapes[] = {&flat, NULL};

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    size_t i = strspn(head, " \t\r\n");
    if (i < len && head[i] == '{') {
        return memmem(head, len, "\"spot_advisor\"", 14) ||
               (memmem(head, len, "\"global_rate\"", 13) && memmem(head, len, "\"ranges\"", 8)) ||
               (memmem(head, len, "\"instance_types\"", 16) && memmem(head, len, "\"emr\"", 5));
    }
    return table_recognise(flat_shapes, head, len);
}

static void advisor_abort(struct parser *p)
{
    struct advisor *a = (struct advisor *)(void *)p;
    if (a) {
        json_reader_free(a->json);
        table_abort(a->table);
    }
    free(a);
}

static int advisor_open(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    struct advisor *a = calloc(1, sizeof *a);
    if (!a) {
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    a->ctx = ctx;
    *out = (struct parser *)(void *)a;
    return 0;
}

static int advisor_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct advisor *a = (struct advisor *)(void *)p;
    if (!a->json && !a->table && len > 0) {
        int rc = *data == '{' || *data == ' ' || *data == '\n'
                     ? json_reader_new(a->ctx->name, on_event, a, &a->json, err)
                     : table_open(a->ctx, flat_shapes, ',', &a->table, err);
        if (rc != 0) {
            return rc;
        }
    }
    return a->json ? json_reader_feed(a->json, data, len, err)
           : len   ? table_feed(a->table, data, len, err)
                   : 0;
}

static int advisor_close(struct parser *p, struct gt_error *err)
{
    struct advisor *a = (struct advisor *)(void *)p;
    int rc;
    if (a->table) {
        rc = table_close(a->table, err);
        a->table = NULL;
    } else if (a->json) {
        rc = json_reader_end(a->json, err);
        if (rc == 0 && a->ctx->rows == 0) {
            rc = gt_fail(err, GT_EPARSE, a->ctx->name, "no Linux entry below spot_advisor");
        }
    } else {
        rc = gt_fail(err, GT_EPARSE, a->ctx->name, "an empty file");
    }
    advisor_abort(p);
    return rc;
}

const struct source_def source_aws_spot_advisor = {
    .id = "aws-spot-advisor",
    .vendor = "aws",
    .default_url = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json",
    .default_on = true,
    .expected_bytes = 950000,
    .help = "how often AWS spot instances are interrupted, in bands",
    .recognise = recognise,
    .parse_open = advisor_open,
    .parse_feed = advisor_feed,
    .parse_close = advisor_close,
    .parse_abort = advisor_abort,
};
