/* Time to load a data set (R-THR-01 … R-THR-06) and break-even points (R-S3-04, -06, -11, -22;
 * R-OPT-05). Results are named values, not money, and share struct bill as a list. */
#include "gputier/billing.h"

static struct rat mib(struct rat bytes)
{
    return rat_div(bytes, rat_int(1024 * 1024));
}

static int positive(struct rat r, const char *what, struct gt_error *err)
{
    return rat_sign(r) > 0 ? 0 : gt_fail(err, GT_ERANGE, what, "must be above zero");
}

static int flat(const struct load_time *in, struct rat size, struct rat *seconds, struct bill *out,
                struct gt_error *err)
{
    if (in->n_rates == 0) {
        return gt_fail(err, GT_EINVALID, "limits_mibps", "no limit given");
    }
    struct rat rate = in->rate[0];
    for (size_t i = 1; i < in->n_rates; i++) {
        rate = rat_min(rate, in->rate[i]);
    }
    bill_quantity(out, "rate_mibps", rate);
    *seconds = rat_div(size, rate);
    return positive(rate, "limits_mibps", err);
}

static int burst(const struct load_time *in, struct rat size, struct rat *seconds, struct bill *out,
                 struct gt_error *err)
{
    int rc = positive(in->burst, "burst_mibps", err);
    if (rc < 0) {
        return rc;
    }
    struct rat net = rat_sub(in->burst, in->base);
    if (rat_sign(net) <= 0) {
        *seconds = rat_div(size, in->burst); /* the bucket never empties */
        return 0;
    }
    struct rat t = rat_div(in->credits, net), moved = rat_mul(in->burst, t);
    if (rat_cmp(moved, size) >= 0) {
        *seconds = rat_div(size, in->burst);
        return 0;
    }
    bill_quantity(out, "burst_seconds", t);
    *seconds = rat_add(t, rat_div(rat_sub(size, moved), in->base));
    return positive(in->base, "base_mibps", err);
}

static int requests(const struct load_time *in, struct rat size, struct rat *seconds,
                    struct bill *out, struct gt_error *err)
{
    struct rat o = mib(in->object_bytes);
    int rc = positive(o, "object_bytes", err);
    if (rc == 0) {
        rc = positive(in->stream, "stream_mibps", err);
    }
    if (rc < 0) {
        return rc;
    }
    struct rat one = rat_add(in->first_byte_s, rat_div(o, in->stream));
    struct rat rate = rat_min(in->nic, rat_div(rat_mul(in->streams, o), one));
    rate = rat_min(rate, rat_mul(in->get_per_s, o));
    struct rat count = rat_ceil(rat_div(in->bytes, in->object_bytes));
    bill_quantity(out, "rate_mibps", rate);
    bill_quantity(out, "requests", count);
    bill_quantity(out, "request_cost", rat_div(rat_mul(count, in->get_1000), rat_int(1000)));
    *seconds = rat_div(size, rate);
    return positive(rate, "rate", err);
}

int load_time_values(const struct load_time *in, struct bill *out, struct gt_error *err)
{
    struct rat size = mib(in->bytes), seconds = rat_int(0);
    int rc = 0;
    switch (in->model) {
    case LOAD_FLAT:
        rc = flat(in, size, &seconds, out, err);
        break;
    case LOAD_BURST:
        rc = burst(in, size, &seconds, out, err);
        break;
    case LOAD_REQUESTS:
        rc = requests(in, size, &seconds, out, err);
        break;
    case LOAD_STAGES:
        seconds = in->fixed_s;
        for (size_t i = 0; i < in->n_rates && rc == 0; i++) {
            rc = positive(in->rate[i], "stages_mibps", err);
            seconds = rat_add(seconds, rat_div(size, in->rate[i]));
        }
        break;
    }
    if (rc == 0) {
        bill_quantity(out, "seconds", seconds);
        struct rat hours = rat_div(seconds, rat_int(3600));
        bill_quantity(out, "stall_cost", rat_mul(rat_mul(hours, in->gpus), in->gpu_hour));
    }
    return rc;
}

static void payback(const struct break_even *in, struct bill *out)
{
    struct rat hot = rat_mul(rat_sub(in->size, in->overhead_hot), in->hot);
    struct rat cold = rat_mul(rat_add(in->size, in->overhead_tier), in->cold);
    struct rat saving = rat_gib(rat_sub(hot, cold));
    bill_quantity(out, "monthly_saving_per_object", saving);
    if (rat_sign(saving) > 0) {
        struct rat fee = rat_div(in->transition_1000, rat_int(1000));
        bill_quantity(out, "months", rat_div(fee, saving));
    } else {
        bill_quantity(out, "never", rat_int(1));
    }
}

void break_even_values(const struct break_even *in, struct bill *out)
{
    struct rat gib = rat_int((int64_t)1 << 30), k = rat_int(1000);
    switch (in->model) {
    case BE_IT_SIZE:
        bill_quantity(
            out, "bytes",
            rat_div(rat_mul(rat_div(in->monitor_1000, k), gib), rat_sub(in->hot, in->cool)));
        break;
    case BE_MIN_SIZE:
        bill_quantity(out, "bytes", rat_div(rat_mul(in->min_bytes, in->cool), in->hot));
        break;
    case BE_OVERHEAD_SIZE: {
        struct rat over =
            rat_add(rat_mul(in->overhead_tier, in->cold), rat_mul(in->overhead_hot, in->hot));
        bill_quantity(out, "bytes", rat_div(over, rat_sub(in->hot, in->cold)));
        break;
    }
    case BE_PAYBACK:
        payback(in, out);
        break;
    case BE_READS: {
        struct rat g = rat_gib(in->size);
        struct rat gets = rat_div(rat_sub(in->cool_get_1000, in->hot_get_1000), k);
        struct rat per_read = rat_add(rat_mul(g, in->retrieval_gb), gets);
        bill_quantity(out, "reads_per_month",
                      rat_div(rat_mul(g, rat_sub(in->hot, in->cool)), per_read));
        break;
    }
    }
}

void online_bound_values(struct rat rent, struct rat move, struct rat idle, struct bill *out)
{
    struct rat threshold = rat_ceil(rat_div(move, rent));
    struct rat online = rat_cmp(idle, threshold) <= 0 ? rat_mul(idle, rent)
                                                      : rat_add(rat_mul(threshold, rent), move);
    struct rat offline = rat_min(rat_mul(idle, rent), move);
    bill_quantity(out, "threshold_periods", threshold);
    bill_quantity(out, "online_cost", online);
    bill_quantity(out, "offline_cost", offline);
    bill_quantity(out, "ratio", rat_sign(offline) ? rat_div(online, offline) : rat_int(1));
}
