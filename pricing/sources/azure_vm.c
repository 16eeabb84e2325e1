/* Virtual machines of Azure Retail Prices. One size has rows for on demand, spot, low priority,
 * DevTest, reservations (the price of the whole term under the unit "1 Hour") and savings plans,
 * told apart by type and by the ends of names. Several rows may price one purchase (docs section
 * 10, rows 31, 32, 37): the choice is in by_choice, never which came last. */
#include "azure_retail.h"
#include "gpu_names.h"
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000000

struct azure_vm {
    const char *region, *type, *sku;
    enum purchase purchase;
    money price; /* an hour's; of a reservation that of the term */
    int64_t from;
    bool primary;
};

static bool names(const struct azure_item *i, const char *mark)
{
    return azure_ends(i->f[Z_METER], mark) || azure_ends(i->f[Z_SKU], mark);
}

/* Hours that the price is for (F165: "100 Hours" at 5.0 is 0.05 an hour); 0 = it is for something
 * else. A term's price is for the term. */
static uint32_t hours_of(const struct azure_item *item)
{
    struct azure_unit u;
    bool term = strcmp(item->f[Z_TYPE], "Reservation") == 0;
    if (azure_unit(item->f[Z_UNIT], &u) != 0 || u.of != AZURE_COUNT || u.per != AZURE_HOUR) {
        return 0;
    }
    return term && u.qty != 1 ? 0 : u.qty;
}

bool azure_is_vm(const struct azure_item *item)
{
    const char *product = item->f[Z_PRODUCT];
    return strcmp(item->f[Z_SERVICE], "Virtual Machines") == 0 && hours_of(item) > 0 &&
           item->f[Z_ARM_SKU][0] != '\0' && !strstr(product, "Windows") &&
           !azure_ends(product, " Win") && !strstr(product, "CloudServices") &&
           !strstr(product, "Cloud Services") && !strstr(product, "Dedicated Host") &&
           !names(item, " Expired");
}

static int purchase_of(const struct azure_item *item, enum purchase *out)
{
    const char *type = item->f[Z_TYPE];
    if (strcmp(type, "Reservation") == 0) {
        bool one = strcmp(item->f[Z_TERM], "1 Year") == 0;
        *out = one ? PURCHASE_RESERVED_1Y : PURCHASE_RESERVED_3Y;
        return one || strcmp(item->f[Z_TERM], "3 Years") == 0 ? 0 : GT_ENOTFOUND;
    }
    bool spot = names(item, " Spot"), low = names(item, " Low Priority");
    if (strcmp(type, "DevTestConsumption") == 0) {
        *out = PURCHASE_DEV_TEST;
        return spot || low ? GT_ENOTFOUND : 0;
    }
    *out = spot ? PURCHASE_SPOT : low ? PURCHASE_LOW_PRIORITY : PURCHASE_ON_DEMAND;
    return strcmp(type, "Consumption") == 0 ? 0 : GT_ENOTFOUND;
}

static int push(struct azure_vms *v, const struct azure_vm *x, struct gt_error *err)
{
    struct azure_vm *row = azure_grown(v->arena, v->row, v->n, &v->cap, sizeof *row);
    if (!row) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    v->row = row;
    if (v->n >= ROWS_MAX) {
        return gt_fail(err, GT_ELIMIT, "", "more than %d rows of machines", ROWS_MAX);
    }
    row[v->n++] = *x;
    return 0;
}

static const char *kept(struct azure_vms *v, const char *text)
{
    uint32_t id = intern_add(v->names, text, strlen(text));
    return id == UINT32_MAX ? NULL : intern_text(v->names, id);
}

int azure_vm_add(struct azure_vms *v, const struct azure_item *item, struct gt_error *err)
{
    struct azure_vm x = {.region = item->region, .from = item->from, .primary = item->primary};
    v->base = SIZE_MAX;
    v->hours = hours_of(item);
    if (money_mul_ratio(item->price, 1, v->hours, &x.price) != 0) {
        return GT_ERANGE;
    }
    if (purchase_of(item, &x.purchase) != 0) {
        return GT_ENOTFOUND;
    }
    v->base = x.purchase == PURCHASE_ON_DEMAND ? v->n : SIZE_MAX;
    x.type = kept(v, item->f[Z_ARM_SKU]);
    x.sku = kept(v, src_name_ok(item->f[Z_METER_ID]) ? item->f[Z_METER_ID] : "");
    return x.type && x.sku ? push(v, &x, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

int azure_vm_plan(struct azure_vms *v, const char *term, money price, struct gt_error *err)
{
    bool one = strcmp(term, "1 Year") == 0;
    if (v->base >= v->n || price == 0 || (!one && strcmp(term, "3 Years") != 0)) {
        return GT_ENOTFOUND;
    }
    struct azure_vm x = v->row[v->base];
    x.purchase = one ? PURCHASE_SAVINGS_PLAN_1Y : PURCHASE_SAVINGS_PLAN_3Y;
    if (money_mul_ratio(price, 1, v->hours, &x.price) != 0) {
        return GT_ERANGE;
    }
    return push(v, &x, err);
}

static int same_offer(const struct azure_vm *a, const struct azure_vm *b)
{
    int d = strcmp(a->region, b->region);
    d = d ? d : strcmp(a->type, b->type);
    return d ? d : (int)a->purchase - (int)b->purchase;
}

/* First the row of the region's primary meter, then the one that took effect last, then the
 * dearer. (Some sizes have no primary row: they are no worse for it.) */
static int by_choice(const void *x, const void *y)
{
    const struct azure_vm *a = x, *b = y;
    int d = same_offer(a, b);
    d = d ? d : (int)b->primary - (int)a->primary;
    d = d ? d : a->from < b->from ? 1 : a->from > b->from ? -1 : 0;
    d = d ? d : a->price > b->price ? -1 : a->price < b->price;
    return d ? d : strcmp(a->sku, b->sku);
}

/* GPUs by the table of sizes. Sizes of the N families have accelerators: one that the table does
 * not know keeps its name for its GPUs, whose number stays open; nothing is guessed. (NP: FPGAs.)
 */
static void set_gpu(struct offer_row *o)
{
    const struct gpu_instance *g = gpu_of_instance("azure", o->instance_type);
    const char *name = o->instance_type;
    if (g) {
        o->gpu = g->model;
        o->gpu_num = g->num;
        o->gpu_den = g->den;
        o->gpu_memory_gib = (double)g->memory_gib;
    } else if (strncmp(name, "Standard_N", 10) == 0 && strncmp(name, "Standard_NP", 11) != 0) {
        o->gpu = name + strlen("Standard_");
        o->gpu_num = 0;
        o->note = "the vendor does not say which GPUs are in it";
    }
}

static int put(const struct azure_vm *x, struct parse_context *ctx, struct gt_error *err)
{
    struct offer_row o = src_offer(ctx);
    bool reserved = x->purchase == PURCHASE_RESERVED_1Y || x->purchase == PURCHASE_RESERVED_3Y;
    o.vendor = "azure";
    o.region = x->region;
    o.instance_type = x->type;
    o.purchase = x->purchase;
    o.payment = reserved                              ? PAYMENT_ALL
                : purchase_is_commitment(x->purchase) ? PAYMENT_NONE
                                                      : PAYMENT_NULL;
    o.price_per_hour = reserved ? 0 : x->price;
    o.upfront = reserved ? x->price : 0;
    o.currency = "USD";
    o.sku = x->sku;
    o.valid_from = x->from;
    set_gpu(&o);
    int rc = staging_put_offer(ctx->staging, &o, err);
    ctx->rows += rc == 0;
    return rc;
}

int azure_vms_end(struct azure_vms *v, struct parse_context *ctx, struct gt_error *err)
{
    size_t conflicts = 0;
    const struct azure_vm *example = NULL;
    int rc = 0;
    if (v->n > 0) {
        qsort(v->row, v->n, sizeof *v->row, by_choice);
    }
    for (size_t i = 0, k; rc == 0 && i < v->n; i = k) {
        const struct azure_vm *best = &v->row[i];
        rc = put(best, ctx, err);
        for (k = i + 1; k < v->n && same_offer(best, &v->row[k]) == 0; k++) {
            const struct azure_vm *x = &v->row[k];
            src_skip(ctx, "told again", 1);
            if (x->primary == best->primary && x->from == best->from && x->price != best->price) {
                conflicts++;
                example = best;
            }
        }
    }
    if (conflicts > 0) {
        log_line(ctx->log, LOG_WARNING, "azure-retail",
                 "%zu rows of the list state other prices for the same offer and day, among them "
                 "%.80s in %.40s (%s): the dearest counts",
                 conflicts, example->type, example->region, purchase_name(example->purchase));
    }
    return rc;
}
