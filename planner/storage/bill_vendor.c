/* Bills made of ordered steps or with a vendor's own rounding: Azure Blob (R-AZ-…), Google Cloud
 * Storage (R-GCS-…), Cloudflare R2 (R-R2-…), Alibaba OSS (R-OSS-01), Wasabi (R-WAS-01). */
#include "gputier/billing.h"
#include <string.h>

static struct rat azure_amount(const struct azure_step *s)
{
    if (s->has_gb) {
        return s->gb;
    }
    return rat_gib(rat_mul(s->blobs, rat_max(s->blob_bytes, s->tier->min_bytes)));
}

static void azure_step(const struct azure_step *s, struct bill *out)
{
    const struct azure_tier *t = s->tier;
    struct rat ten = rat_int(10000), month = rat_int(30);
    switch (s->op) {
    case AZ_PUT:
        bill_add(out, "write_ops",
                 rat_div(rat_mul(rat_mul(s->blobs, s->ops_per_blob), t->write_10000), ten));
        break;
    case AZ_STORE:
        bill_add2(out, "storage_", t->name,
                  rat_mul(bracket_cost(t->brackets, azure_amount(s)), rat_div(s->days, month)));
        break;
    case AZ_READ:
        bill_add(out, "read_ops", rat_div(rat_mul(s->ops, t->read_10000), ten));
        bill_add(out, "retrieval", rat_mul(s->gb, t->retrieval_gb));
        break;
    case AZ_TIER_DOWN:
        bill_add(out, "tier_change_write_ops", rat_div(rat_mul(s->blobs, t->write_10000), ten));
        break;
    case AZ_TIER_UP:
        bill_add(out, "tier_change_read_ops",
                 rat_div(rat_mul(s->blobs, s->high ? t->read_high_10000 : t->read_10000), ten));
        bill_add(out, "retrieval",
                 rat_mul(azure_amount(s), s->high ? t->retrieval_high_gb : t->retrieval_gb));
        break;
    case AZ_EARLY_DELETE: {
        struct rat left = rat_pos(rat_sub(t->min_days, s->stayed_days));
        bill_add(out, "early_delete",
                 rat_mul(bracket_cost(t->brackets, azure_amount(s)), rat_div(left, month)));
        break;
    }
    case AZ_OTHER:
        bill_add(out, "other_ops", rat_div(rat_mul(s->ops, t->other_10000), ten));
        break;
    }
}

void bill_azure(const struct azure_step *step, size_t n, struct bill *out)
{
    for (size_t i = 0; i < n; i++) {
        azure_step(&step[i], out);
    }
}

void bill_gcs(const struct gcs_step *step, size_t n, struct bill *out)
{
    struct rat day = rat_int(24), k = rat_int(1000);
    for (size_t i = 0; i < n; i++) {
        const struct gcs_step *s = &step[i];
        const struct gcs_class *c = s->class_of;
        switch (s->op) {
        case GCS_STORE:
            bill_add2(out, "storage_", c->name,
                      rat_mul(rat_mul(s->gib, c->per_gib_hour), rat_mul(day, s->days)));
            break;
        case GCS_CLASS_A:
            bill_add(out, "class_a", rat_div(rat_mul(s->ops, c->class_a_1000), k));
            break;
        case GCS_CLASS_B:
            bill_add(out, "class_b", rat_div(rat_mul(s->ops, c->class_b_1000), k));
            break;
        case GCS_RETRIEVE:
            bill_add(out, "retrieval", rat_mul(s->gib, c->retrieval_gib));
            break;
        case GCS_EARLY_DELETE: {
            struct rat left = rat_pos(rat_sub(c->min_days, s->counted_days));
            bill_add(out, "early_delete",
                     rat_mul(rat_mul(s->gib, c->per_gib_hour), rat_mul(day, left)));
            break;
        }
        case GCS_AUTOCLASS:
            bill_add(out, "autoclass_management",
                     rat_mul(rat_div(rat_mul(s->objects, s->autoclass_1000), k),
                             rat_div(s->days, rat_int(30))));
            break;
        }
    }
}

void bill_r2(const struct r2_bill *in, struct bill *out)
{
    struct rat q = rat_int(0), million = rat_int(1000000);
    for (size_t i = 0; i < in->n_gb_days; i++) {
        struct rat days = rat_max(in->gb_days[i].b, in->min_days);
        q = rat_add(q, rat_div(rat_mul(in->gb_days[i].a, days), rat_int(30)));
    }
    /* Every billable quantity is rounded up in its own unit (R-R2-01). */
    struct rat gb = rat_ceil(rat_pos(rat_sub(q, in->free_gb_month)));
    struct rat a = rat_ceil(rat_div(rat_pos(rat_sub(in->class_a, in->free_a)), million));
    struct rat b = rat_ceil(rat_div(rat_pos(rat_sub(in->class_b, in->free_b)), million));
    struct rat r = rat_ceil(rat_pos(rat_sub(in->retrieved_gb, in->free_retrieval)));
    bill_add(out, "storage", rat_mul(gb, in->per_gb));
    bill_add(out, "class_a", rat_mul(a, in->a_million));
    bill_add(out, "class_b", rat_mul(b, in->b_million));
    bill_add(out, "retrieval", rat_mul(r, in->retrieval_gb));
}

void bill_oss(const struct oss_stay *stay, size_t n, struct rat gb, struct rat days_in_month,
              struct bill *out)
{
    struct rat age = rat_int(0); /* days since the object was written */
    for (size_t i = 0; i < n; i++) {
        const struct oss_stay *s = &stay[i];
        struct rat month = rat_div(rat_mul(gb, s->per_gb), days_in_month);
        bill_add2(out, "storage_", s->class_name, rat_mul(month, s->days));
        age = rat_add(age, s->days);
        struct rat counted = s->from_last_modified ? age : s->days;
        struct rat left = rat_pos(rat_sub(s->min_days, counted));
        if (rat_sign(s->min_days) > 0) {
            bill_add2(out, "shortfall_", s->class_name, rat_mul(month, left));
        }
    }
}

void bill_wasabi(const struct wasabi_bill *in, struct bill *out)
{
    struct rat tib = rat_int((int64_t)1 << 40), month = rat_int(30);
    struct rat v = rat_div(rat_mul(in->objects, rat_max(in->size, rat_int(4096))), tib);
    struct rat active = rat_div(rat_mul(v, in->days), month);
    struct rat left = rat_pos(rat_sub(in->min_days, in->days));
    struct rat deleted = rat_div(rat_mul(v, left), month);
    bill_quantity(out, "tb_months", rat_add(active, deleted));
    bill_add(out, "storage", rat_mul(rat_max(active, in->min_tb_months), in->per_tb));
    bill_add(out, "early_delete", rat_mul(deleted, in->per_tb));
}
