/* File systems: EFS (R-EFS-01 … R-EFS-05). */
#include "gputier/billing.h"

struct rat file_metered(struct rat size)
{
    struct rat steps = rat_ceil(rat_div(size, rat_int(4096)));
    return rat_mul(rat_max(steps, rat_int(1)), rat_int(4096));
}

void bill_file(const struct file_bill *in, struct bill *out)
{
    for (size_t i = 0; i < in->n_parts; i++) {
        const struct file_part *p = &in->part[i];
        struct rat each = rat_max(file_metered(p->size), p->min_bytes);
        struct rat gb = rat_mul(rat_gib(rat_mul(p->files, each)), p->months);
        bill_add2(out, "storage_", p->class_name, rat_mul(gb, p->per_gb));
        /* Metadata is billed as Standard whatever the class (R-EFS-02). */
        struct rat meta = rat_mul(rat_gib(rat_mul(p->files, in->metadata_bytes)), p->months);
        bill_add(out, "storage_metadata", rat_mul(meta, in->standard_per_gb));
    }
    for (size_t i = 0; i < in->n_flows; i++) {
        bill_add(out, in->flow[i].name, rat_mul(in->flow[i].gb, in->flow[i].price));
    }
    if (in->provisioned) {
        struct rat tib = rat_div(in->standard_gib, rat_int(1024));
        struct rat extra = rat_pos(rat_sub(in->mibps, rat_mul(tib, in->baseline_mibps_per_tib)));
        struct rat cost = rat_mul(rat_mul(extra, in->per_mibps_month), in->provisioned_months);
        bill_add(out, "throughput_provisioned", cost);
    }
}
