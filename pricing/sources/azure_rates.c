/* Brackets of Azure's storage and transfer meters. A row states where its bracket begins
 * (tierMinimumUnits) and never where it ends: rows are sorted at the end of the list, and each ends
 * where the next begins. GB is 2^30 bytes. */
#include "azure_retail.h"
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX        1000000
#define HOURS_PER_MONTH 730 /* of Azure's price pages */

struct azure_rate {
    const char *region, *tier, *component, *sku, *note;
    enum storage_unit unit;
    uint32_t unit_qty;
    money from, to, rate; /* to: of a step, else 0 */
    int64_t valid_from;
    int rank;
    bool primary;
};

void *azure_grown(struct arena *a, void *row, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) {
        return row;
    }
    size_t more = *cap ? 2 * *cap : 256;
    void *grown = more > 2 * (size_t)ROWS_MAX ? NULL : arena_array(a, more, size);
    if (grown) {
        if (n > 0) {
            memcpy(grown, row, n * size);
        }
        *cap = more;
    }
    return grown;
}

static int no_room(const struct azure_rates *r, struct gt_error *err)
{
    return r->n >= ROWS_MAX ? gt_fail(err, GT_ELIMIT, "", "more than %d rates", ROWS_MAX)
                            : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int push(struct azure_rates *r, const struct azure_rate *x, struct gt_error *err)
{
    struct azure_rate *row = azure_grown(r->arena, r->row, r->n, &r->cap, sizeof *row);
    if (!row || r->n >= ROWS_MAX) {
        return no_room(r, err);
    }
    r->row = row;
    row[r->n++] = *x;
    return 0;
}

int azure_rates_add(struct azure_rates *r, const struct azure_item *item,
                    const struct azure_meter *m, struct gt_error *err)
{
    const char *sku = item->f[Z_METER_ID];
    struct azure_rate x = {.region = item->region,
                           .tier = m->tier ? arena_strdup(r->arena, m->tier) : NULL,
                           .component = m->component,
                           .sku = arena_strdup(r->arena, src_name_ok(sku) ? sku : ""),
                           .note = m->note,
                           .unit = m->unit,
                           .unit_qty = m->sold.qty,
                           .rate = item->price,
                           .valid_from = item->from,
                           .rank = m->rank,
                           .primary = item->primary};
    if ((m->tier && !x.tier) || !x.sku) {
        return no_room(r, err);
    }
    if (m->step_gib > 0) {
        x.from = m->from_gib;
        x.to = m->step_gib;
    } else if (item->f[Z_TIER_MIN][0] && src_price(item->f[Z_TIER_MIN], &x.from) != 0) {
        return GT_EPARSE;
    }
    x.from *= m->step_gib > 0 ? 1 : x.unit_qty; /* the bracket counts what the price is for */
    if (m->sold.per == AZURE_HOUR &&
        money_mul_ratio(x.rate, HOURS_PER_MONTH, 1, &x.rate) != 0) { /* rates are by the month */
        return GT_EPARSE;
    }
    int rc = push(r, &x, err);
    if (rc == 0 && m->also) {
        x.component = m->also;
        rc = push(r, &x, err);
    }
    return rc;
}

static int text_order(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int same_rate(const struct azure_rate *a, const struct azure_rate *b)
{
    int d = strcmp(a->region, b->region);
    d = d ? d : text_order(a->tier, b->tier);
    return d ? d : strcmp(a->component, b->component);
}

static int same_bracket(const struct azure_rate *a, const struct azure_rate *b)
{
    int d = same_rate(a, b);
    d = d ? d : a->rank - b->rank;
    return d ? d : a->from < b->from ? -1 : a->from > b->from;
}

/* Of one bracket's rows the one that took effect last comes first, of equals the primary one; what
 * follows only makes the order a total one. */
static int by_bracket(const void *x, const void *y)
{
    const struct azure_rate *a = x, *b = y;
    int d = same_bracket(a, b);
    d = d ? d : a->valid_from < b->valid_from ? 1 : a->valid_from > b->valid_from ? -1 : 0;
    d = d ? d : (int)b->primary - (int)a->primary;
    d = d ? d : a->rate > b->rate ? -1 : a->rate < b->rate;
    return d ? d : strcmp(a->sku, b->sku);
}

static int put(const struct azure_rate *a, money to, struct parse_context *ctx,
               struct gt_error *err)
{
    int rc;
    if (a->tier) {
        struct storage_rate_row s = {.vendor = "azure",
                                     .region = a->region,
                                     .tier = a->tier,
                                     .component = a->component,
                                     .unit = a->unit,
                                     .unit_qty = a->unit_qty,
                                     .from_qty = a->from,
                                     .to_qty = a->to > 0 ? a->to : to,
                                     .rate = a->rate,
                                     .currency = "USD",
                                     .sku = a->sku,
                                     .note = a->note,
                                     .valid_from = a->valid_from,
                                     .valid_to = GT_TIME_NONE,
                                     .as_of = ctx->as_of};
        rc = staging_put_storage(ctx->staging, &s, err);
    } else {
        struct transfer_rate_row t = {.vendor = "azure",
                                      .from = a->region,
                                      .to = a->component,
                                      .from_gb = a->from,
                                      .to_gb = to,
                                      .gb_bytes = (uint64_t)1 << 30,
                                      .rate = a->rate,
                                      .currency = "USD",
                                      .sku = a->sku,
                                      .note = a->note,
                                      .valid_from = a->valid_from,
                                      .valid_to = GT_TIME_NONE,
                                      .as_of = ctx->as_of};
        rc = staging_put_transfer(ctx->staging, &t, err);
    }
    ctx->rows += rc == 0;
    return rc;
}

/* The rows of one rate, sorted: n of them, of which those of the first product count. */
static int put_rate(struct azure_rate *a, size_t n, struct parse_context *ctx, struct gt_error *err)
{
    size_t kept = 0;
    money most = 0;
    for (size_t i = 0; i < n && a[i].rank == a[0].rank; i++) {
        if (kept == 0 || same_bracket(&a[kept - 1], &a[i]) != 0) { /* pages may repeat a row */
            a[kept++] = a[i];
        }
    }
    for (size_t i = 0; i < kept; i++) {
        most = a[i].rate > most ? a[i].rate : most;
    }
    src_skip(ctx, most == 0 ? "price 0" : "told again", most == 0 ? n : n - kept);
    int rc = 0;
    for (size_t i = 0; rc == 0 && most > 0 && i < kept; i++) { /* zero throughout is no price */
        rc = put(&a[i], i + 1 < kept ? a[i + 1].from : -1, ctx, err);
    }
    return rc;
}

int azure_rates_end(struct azure_rates *r, struct parse_context *ctx, struct gt_error *err)
{
    int rc = 0;
    if (r->n > 0) {
        qsort(r->row, r->n, sizeof *r->row, by_bracket);
    }
    for (size_t i = 0, k; rc == 0 && i < r->n; i = k) {
        for (k = i + 1; k < r->n && same_rate(&r->row[i], &r->row[k]) == 0; k++) {
        }
        rc = put_rate(&r->row[i], k - i, ctx, err);
    }
    return rc;
}
