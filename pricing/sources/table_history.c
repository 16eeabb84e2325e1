/* Histories of on-demand prices: region, instance_type, first_seen_generated_at, usd_per_hour. One
 * row per change; each price holds until the next row of the same machine, so `history` and
 * `--as-of` know the old ones. The vendor is named by the file (aws-….csv) or --vendor. */
#include "gpu_names.h"
#include "tables.h"
#include <stdlib.h>
#include <string.h>

enum { REGION, TYPE, WHEN, USD };
#define ROWS_MAX 2000000

struct change {
    uint32_t region, type;
    int64_t when;
    money price;
};
struct history {
    struct change *row;
    size_t n, cap;
};

static int history_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    struct history *h = p->state;
    struct change c = {0};
    const char *region = table_text(p, row, REGION), *type = table_text(p, row, TYPE);
    if (!vendor_canonical(p->vendor)) {
        return csv_fail(err, GT_EINVALID, p->ctx->name, row,
                        "the file does not say whose prices these are; name the vendor "
                        "(--vendor aws)");
    }
    if (!src_name_ok(region) || !src_name_ok(type)) {
        return table_refuse(p, row, TYPE, "expected 1 to 200 bytes without control characters",
                            err);
    }
    if (src_price(table_text(p, row, USD), &c.price) != 0 || c.price == 0) {
        return table_refuse(p, row, USD, "expected a decimal number over 0, up to 10^9", err);
    }
    int rc = table_time(p, row, WHEN, &c.when, err);
    if (rc == 0 && c.when == GT_TIME_NONE) {
        rc = table_refuse(p, row, WHEN, "expected an instant", err);
    }
    if (rc != 0) {
        return rc;
    }
    if (!h && !(h = p->state = arena_alloc(p->arena, sizeof *h))) {
        return gt_fail(err, GT_ENOMEM, p->ctx->name, "out of memory");
    }
    if (h->n == h->cap) {
        size_t cap = h->cap ? 2 * h->cap : 1024;
        struct change *more = cap > ROWS_MAX ? NULL : arena_array(p->arena, cap, sizeof *more);
        if (!more) {
            return gt_fail(err, GT_ELIMIT, p->ctx->name, "a history of more than %d rows",
                           ROWS_MAX);
        }
        if (h->n > 0) {
            memcpy(more, h->row, h->n * sizeof *more);
        }
        h->row = more;
        h->cap = cap;
    }
    c.region = intern_add(p->strings, region, strlen(region));
    c.type = intern_add(p->strings, type, strlen(type));
    if (c.region == UINT32_MAX || c.type == UINT32_MAX) {
        return gt_fail(err, GT_ENOMEM, p->ctx->name, "out of memory");
    }
    h->row[h->n++] = c;
    return 0;
}

static int by_machine(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->region != y->region) {
        return x->region < y->region ? -1 : 1;
    }
    if (x->type != y->type) {
        return x->type < y->type ? -1 : 1;
    }
    return x->when < y->when ? -1 : x->when > y->when;
}

static int history_end(struct parser *p, struct gt_error *err)
{
    struct history *h = p->state;
    int rc = 0;
    if (!h) {
        return 0;
    }
    qsort(h->row, h->n, sizeof *h->row, by_machine);
    for (size_t i = 0; rc == 0 && i < h->n; i++) {
        const struct change *c = &h->row[i];
        bool next =
            i + 1 < h->n && h->row[i + 1].region == c->region && h->row[i + 1].type == c->type;
        struct offer_row o = src_offer(p->ctx);
        o.vendor = vendor_canonical(p->vendor);
        o.region = intern_text(p->strings, c->region);
        o.instance_type = intern_text(p->strings, c->type);
        const struct gpu_instance *g = gpu_of_instance(o.vendor, o.instance_type);
        if (g) {
            o.gpu = g->model;
            o.gpu_num = g->num;
            o.gpu_den = g->den;
            o.gpu_memory_gib = (double)g->memory_gib;
        }
        o.price_per_hour = c->price;
        o.valid_from = c->when;
        o.valid_to = next ? h->row[i + 1].when : GT_TIME_NONE;
        o.as_of = c->when;
        rc = staging_put_offer(p->ctx->staging, &o, err);
        p->ctx->rows += rc == 0;
    }
    return rc;
}

const struct table_shape table_price_history = {
    .met_elsewhere = true,
    .column = {"*region", "*instance_type", "*first_seen_generated_at", "*usd_per_hour", NULL},
    .row = history_row,
    .end = history_end,
};
