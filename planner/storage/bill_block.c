/* Volumes and disks: EBS (R-EBS-01 … R-EBS-09) and Azure managed disks (R-AZ-10). */
#include "gputier/billing.h"

void bill_block(const struct block_bill *in, struct bill *out)
{
    /* The month is always 30 days and a volume is billed for at least 60 s (R-EBS-01, -02). */
    struct rat part = rat_div(rat_max(in->seconds, rat_int(60)), rat_int(2592000));
    part = rat_mul(part, in->count);
    bill_add(out, "capacity", rat_mul(rat_mul(in->gib, in->per_gb), part));
    struct rat iops = rat_pos(rat_sub(in->iops, in->iops_included));
    bill_add(out, "iops", rat_mul(bracket_cost(in->iops_brackets, iops), part));
    struct rat mb = rat_pos(rat_sub(in->throughput, in->throughput_included));
    bill_add(out, "throughput", rat_mul(rat_mul(mb, in->throughput_price), part));
    for (size_t i = 0; i < in->n_snapshots; i++) {
        struct rat months = rat_div(in->snapshot[i].b, in->days_in_month);
        struct rat amount = rat_mul(rat_mul(in->snapshot[i].a, months), in->snapshot_per_gb);
        bill_add(out, "snapshots", amount);
    }
}

void bill_snapshot_archive(const struct snapshot_archive_bill *in, struct bill *out)
{
    struct rat month = rat_mul(in->gb, in->per_gb);
    bill_add(out, "storage", rat_mul(month, rat_div(in->days, in->days_in_month)));
    if (in->removed) {
        struct rat left = rat_pos(rat_sub(in->min_days, in->days));
        bill_add(out, "early_delete", rat_mul(month, rat_div(left, in->days_in_month)));
    }
    bill_add(out, "restore", rat_mul(in->restored_gb, in->restore_per_gb));
}

int bill_managed_disk(const struct managed_disk_bill *in, struct bill *out, struct gt_error *err)
{
    const struct rat_pair *best = NULL;
    for (size_t i = 0; i < in->n_sizes; i++) {
        const struct rat_pair *s = &in->size[i];
        if (rat_cmp(s->a, in->provisioned_gib) >= 0 && (!best || rat_cmp(s->a, best->a) < 0)) {
            best = s;
        }
    }
    if (!best) {
        return gt_fail(err, GT_ERANGE, "provisioned_gib", "larger than every size of the list");
    }
    struct rat part = rat_mul(rat_div(in->hours, in->hours_in_month), in->count);
    bill_quantity(out, "billed_gib", best->a);
    bill_add(out, "capacity", rat_mul(best->b, part));
    return 0;
}
