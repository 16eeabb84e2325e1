/* Automatic tiering by idle days: S3 Intelligent-Tiering, GCS Autoclass, Azure Smart Tier
 * (R-S3-04, R-S3-05, R-GCS-08, R-AZ-12), as a day loop. */
#include "gputier/billing.h"

static size_t step_at(const struct auto_bill *in, int idle)
{
    size_t s = 0;
    for (size_t i = 1; i < in->n_steps; i++) {
        if (in->step[i].idle_days <= idle) {
            s = i;
        }
    }
    return s;
}

static int accesses_on(const struct auto_bill *in, int day)
{
    for (size_t i = 0; i < in->n_access; i++) {
        if (in->access_day[i] == day) {
            return 1;
        }
    }
    return 0;
}

void bill_auto(const struct auto_bill *in, struct bill *out)
{
    bool tiered = rat_cmp(in->size, in->min_bytes) >= 0;
    struct rat thousands = rat_div(in->objects, rat_int(1000));
    struct rat bytes = rat_mul(in->objects, in->size);
    int last = 0, reads = 0;
    /* Days in each step are counted first, so that each amount is one product. */
    for (size_t s = 0; s < in->n_steps; s++) {
        const struct auto_step *st = &in->step[s];
        int days = 0, reheats = 0;
        last = 0;
        reads = 0;
        for (int d = 0; d < in->days; d++) {
            size_t now = tiered ? step_at(in, d - last) : 0;
            if (accesses_on(in, d)) {
                reads++;
                reheats += now == s;
                last = d;
                now = 0;
            }
            days += now == s;
        }
        struct rat months = rat_div(rat_int(days), in->days_in_month);
        struct rat own = rat_add(bytes, rat_mul(in->objects, st->overhead_tier));
        bill_add2(out, "storage_", st->name, rat_mul(rat_mul(rat_gib(own), st->price), months));
        struct rat hot = rat_mul(rat_gib(rat_mul(in->objects, st->overhead_hot)), in->hot_price);
        bill_add(out, "storage_overhead_hot", rat_mul(hot, months));
        struct rat heat = rat_mul(thousands, rat_mul(st->reheat_1000, rat_int(reheats)));
        bill_add(out, "reheat_operations", heat);
    }
    bill_add(out, "get_requests", rat_mul(thousands, rat_mul(in->get_1000, rat_int(reads))));
    struct rat months = rat_div(rat_int(in->days), in->days_in_month);
    bill_add(out, "monitoring",
             tiered ? rat_mul(rat_mul(thousands, in->monitor_1000), months) : rat_int(0));
    if (in->transition_in) {
        bill_add(out, "transition_requests", rat_mul(thousands, in->transition_1000));
    }
}
