/* Components of a storage bill, brackets, and the object-storage family (R-S3-01 … R-S3-15). */
#include "gputier/billing.h"
#include <stdio.h>
#include <string.h>

void bill_init(struct bill *b)
{
    b->n = 0;
    b->full = false;
}

static void add(struct bill *b, const char *name, struct rat value, bool quantity)
{
    for (size_t i = 0; i < b->n; i++) {
        if (strcmp(b->item[i].name, name) == 0) {
            b->item[i].value = rat_add(b->item[i].value, value);
            return;
        }
    }
    if (b->n == BILL_ITEMS) {
        b->full = true;
        return;
    }
    struct bill_item *it = &b->item[b->n++];
    snprintf(it->name, sizeof it->name, "%s", name);
    it->value = value;
    it->quantity = quantity;
}

void bill_add(struct bill *b, const char *name, struct rat value)
{
    add(b, name, value, false);
}

void bill_add2(struct bill *b, const char *prefix, const char *suffix, struct rat value)
{
    char name[sizeof b->item[0].name];
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    add(b, name, value, false);
}

void bill_quantity(struct bill *b, const char *name, struct rat value)
{
    add(b, name, value, true);
}

struct rat bill_total(const struct bill *b)
{
    struct rat sum = rat_int(0);
    for (size_t i = 0; i < b->n; i++) {
        if (!b->item[i].quantity) {
            sum = rat_add(sum, b->item[i].value);
        }
    }
    return sum;
}

int bill_check(const struct bill *b, struct gt_error *err)
{
    if (b->full) {
        return gt_fail(err, GT_ELIMIT, "", "more than %d components in one bill", BILL_ITEMS);
    }
    for (size_t i = 0; i < b->n; i++) {
        if (!rat_ok(b->item[i].value)) {
            return gt_fail(err, GT_ERANGE, b->item[i].name,
                           "the amount does not fit exact 128-bit arithmetic");
        }
    }
    return 0;
}

struct rat bracket_cost(struct bracket_list l, struct rat quantity)
{
    struct rat sum = rat_int(0), from = rat_int(0);
    for (size_t i = 0; i < l.n; i++) {
        struct rat to = l.at[i].open ? quantity : rat_min(quantity, l.at[i].upto);
        sum = rat_add(sum, rat_mul(rat_pos(rat_sub(to, from)), l.at[i].price));
        from = l.at[i].open ? quantity : l.at[i].upto;
    }
    return sum;
}

struct rat rat_gib(struct rat bytes)
{
    return rat_div(bytes, rat_int((int64_t)1 << 30));
}

static struct rat per_1000(struct rat count, struct rat price)
{
    return rat_div(rat_mul(count, price), rat_int(1000));
}

void bill_objects(const struct object_bill *in, struct bill *out)
{
    const struct tier_price *t = &in->tier;
    struct rat own = rat_add(rat_max(in->size, t->min_bytes), t->overhead_tier);
    struct rat gb = rat_gib(rat_mul(in->objects, own));
    struct rat month_cost = rat_mul(gb, t->storage);
    bill_add(out, "storage", rat_mul(month_cost, in->months));
    struct rat hot = rat_mul(rat_gib(rat_mul(in->objects, t->overhead_hot)), in->hot_price);
    bill_add(out, "storage_overhead_hot", rat_mul(hot, in->months));
    if (in->put) {
        bill_add(out, "put_requests",
                 per_1000(rat_mul(in->objects, in->puts_per_object), t->put_1000));
    }
    for (size_t i = 0; i < in->n_requests; i++) {
        bill_add(out, "other_requests", per_1000(in->request[i].a, in->request[i].b));
    }
    bill_add(out, "get_requests", per_1000(in->reads, t->get_1000));
    bill_add(out, "retrieval", rat_mul(in->retrieved_gb, t->retrieval_gb));
    bill_add(out, "upload_data", rat_mul(in->uploaded_gb, t->upload_gb));
    if (in->transition_in) {
        bill_add(out, "transition_requests", per_1000(in->objects, t->transition_1000));
    }
    bool monitored = rat_cmp(in->size, t->monitor_min_bytes) >= 0;
    bill_add(out, "monitoring",
             monitored ? rat_mul(per_1000(in->objects, t->monitor_1000), in->months) : rat_int(0));
    if (in->delete_at_end) {
        struct rat left = rat_div(rat_pos(rat_sub(t->min_days, in->days)), in->days_in_month);
        bill_add(out, "early_delete", rat_mul(month_cost, left));
    }
}

void bill_volume(const struct volume_bill *in, struct bill *out)
{
    struct rat byte_hours = rat_int(0);
    for (size_t i = 0; i < in->n_usage; i++) {
        byte_hours = rat_add(byte_hours, rat_mul(in->usage[i].a, in->usage[i].b));
    }
    struct rat gb_months = rat_div(rat_gib(byte_hours), in->hours_in_month);
    bill_quantity(out, "gb_months", gb_months);
    bill_add(out, "storage", bracket_cost(in->brackets, gb_months));
}

void bill_retrieval(const struct retrieval_bill *in, struct bill *out)
{
    bill_add(out, "retrieval_requests", per_1000(in->objects, in->request_1000));
    bill_add(out, "retrieval_data", rat_mul(in->gb, in->per_gb));
    if (rat_sign(in->copy_days) > 0) {
        struct rat months = rat_div(in->copy_days, in->days_in_month);
        bill_add(out, "temporary_copy", rat_mul(rat_mul(in->gb, in->hot_price), months));
    }
    bill_add(out, "get_requests", per_1000(in->objects, in->get_1000));
    bill_add(out, "provisioned_capacity", rat_mul(in->units, in->unit_price));
    bill_add(out, "egress", bracket_cost(in->egress, in->egress_gb));
}
