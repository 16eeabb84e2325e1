/* Storage cases that are plain bills: objects, volumes, retrieval, automatic tiering, block
 * volumes, disks, file systems. Fields: shared/oracles/storage-examples.md. */
#include "storage_in.h"

static int finish(struct storage_in *in, cJSON *computed, const struct bill *b)
{
    return in->rc < 0 ? in->rc : out_bill(computed, b, in->err);
}

/* months | days/days_in_month | hours/hours_in_month */
static struct rat months_of(struct storage_in *in, const cJSON *o)
{
    if (cJSON_GetObjectItemCaseSensitive(o, "months")) {
        return in_rat(in, o, "months", NULL);
    }
    if (cJSON_GetObjectItemCaseSensitive(o, "hours")) {
        return rat_div(in_rat(in, o, "hours", NULL), in_rat(in, o, "hours_in_month", NULL));
    }
    return rat_div(in_rat(in, o, "days", NULL), in_rat(in, o, "days_in_month", NULL));
}

int storage_objects(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct object_bill x = {
        .tier = in_tier(in, in_object(in, o, "tier")),
        .objects = in_rat(in, o, "objects", NULL),
        .size = in_rat(in, o, "size_bytes", NULL),
        .hot_price = in_rat(in, o, "hot_price_per_gb_month", "0"),
        .months = months_of(in, o),
        .days = in_rat(in, o, "days", "0"),
        .days_in_month = in_rat(in, o, "days_in_month", "30"),
        .reads = in_rat(in, o, "reads", "0"),
        .retrieved_gb = in_rat(in, o, "retrieved_gb", "0"),
        .uploaded_gb = in_rat(in, o, "uploaded_gb", "0"),
        .puts_per_object = in_rat(in, o, "put_requests_per_object", "1"),
        .put = in_bool(o, "put"),
        .transition_in = in_bool(o, "transition_in"),
        .delete_at_end = in_bool(o, "delete_at_end"),
    };
    x.request = in_pairs(in, o, "request_list", &x.n_requests);
    if (in->rc == 0) {
        bill_objects(&x, &b);
    }
    return finish(in, computed, &b);
}

int storage_volume(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct volume_bill x = {.hours_in_month = in_rat(in, o, "hours_in_month", NULL),
                            .brackets = in_brackets(in, o, "brackets_gb")};
    x.usage = in_pairs(in, o, "usage_bytes_hours", &x.n_usage);
    if (in->rc == 0) {
        bill_volume(&x, &b);
    }
    return finish(in, computed, &b);
}

int storage_retrieval(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct retrieval_bill x = {
        .objects = in_rat(in, o, "objects", "0"),
        .gb = in_rat(in, o, "gb", "0"),
        .request_1000 = in_rat(in, o, "request_per_1000", "0"),
        .per_gb = in_rat(in, o, "per_gb", "0"),
        .hot_price = in_rat(in, o, "hot_price_per_gb_month", "0"),
        .copy_days = in_rat(in, o, "copy_days", "0"),
        .days_in_month = in_rat(in, o, "days_in_month", "30"),
        .get_1000 = in_rat(in, o, "get_per_1000", "0"),
        .units = in_rat(in, o, "provisioned_units", "0"),
        .unit_price = in_rat(in, o, "provisioned_unit_price", "0"),
        .egress_gb = in_rat(in, o, "egress_gb", "0"),
        .egress = in_brackets(in, o, "egress_brackets_gb"),
    };
    if (in->rc == 0) {
        bill_retrieval(&x, &b);
    }
    return finish(in, computed, &b);
}

static const struct auto_step *auto_steps(struct storage_in *in, const cJSON *o, size_t *n)
{
    const cJSON *list = in_array(in, o, "idle_steps", true, n), *row;
    const cJSON *reheat = cJSON_GetObjectItemCaseSensitive(o, "reheat_per_1000");
    const cJSON *over = cJSON_GetObjectItemCaseSensitive(o, "step_overheads");
    struct auto_step *s = in_alloc(in, *n, sizeof *s);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 1);
        if (!s || cJSON_GetArraySize(row) != 3 || !cJSON_IsString(name)) {
            in_fail(in, GT_EPARSE, "idle_steps", "steps are [days, name, price]");
            return NULL;
        }
        struct rat days = in_value(in, cJSON_GetArrayItem(row, 0), "idle_steps");
        if (days.d != 1 || days.n < 0 || days.n > 100000) {
            in_fail(in, GT_ERANGE, "idle_steps", "a threshold is a whole number of days");
            return NULL;
        }
        const cJSON *extra = cJSON_GetObjectItemCaseSensitive(over, name->valuestring);
        s[i++] = (struct auto_step){
            .idle_days = (int)days.n,
            .name = name->valuestring,
            .price = in_value(in, cJSON_GetArrayItem(row, 2), "idle_steps"),
            .reheat_1000 = in_rat(in, reheat, name->valuestring, "0"),
            .overhead_tier = in_rat(in, extra, "overhead_tier_bytes", "0"),
            .overhead_hot = in_rat(in, extra, "overhead_hot_bytes", "0"),
        };
    }
    return s;
}

int storage_auto(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct auto_bill x = {
        .days = (int)in_int(in, o, "days", 0, 0, 100000),
        .objects = in_rat(in, o, "objects", NULL),
        .size = in_rat(in, o, "size_bytes", NULL),
        .days_in_month = in_rat(in, o, "days_in_month", "30"),
        .get_1000 = in_rat(in, o, "get_per_1000", "0"),
        .monitor_1000 = in_rat(in, o, "monitor_per_1000_month", "0"),
        .transition_1000 = in_rat(in, o, "transition_in_per_1000", "0"),
        .min_bytes = in_rat(in, o, "min_auto_bytes", "131072"),
        .hot_price = in_rat(in, o, "hot_price_per_gb_month", "0"),
        .transition_in = cJSON_HasObjectItem(o, "transition_in_per_1000"),
    };
    x.step = auto_steps(in, o, &x.n_steps);
    const cJSON *days = in_array(in, o, "access_days", false, &x.n_access), *d;
    int *at = in_alloc(in, x.n_access, sizeof *at);
    size_t i = 0;
    cJSON_ArrayForEach(d, days)
    {
        struct rat r = in_value(in, d, "access_days");
        if (at && rat_ok(r) && r.d == 1 && r.n >= 0 && r.n <= 100000) {
            at[i++] = (int)r.n;
        }
    }
    x.n_access = i;
    x.access_day = at;
    if (in->rc == 0) {
        bill_auto(&x, &b);
    }
    return finish(in, computed, &b);
}

int storage_block(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct block_bill x = {
        .gib = in_rat(in, o, "gib", "0"),
        .per_gb = in_rat(in, o, "per_gb_month", "0"),
        .iops = in_rat(in, o, "iops", "0"),
        .iops_included = in_rat(in, o, "iops_included", "0"),
        .throughput = in_rat(in, o, "throughput", "0"),
        .throughput_included = in_rat(in, o, "throughput_included", "0"),
        .throughput_price = in_rat(in, o, "throughput_price", "0"),
        .seconds = in_rat(in, o, "seconds", "0"),
        .count = in_rat(in, o, "count", "1"),
        .snapshot_per_gb = in_rat(in, o, "snapshot_per_gb_month", "0"),
        .days_in_month = in_rat(in, o, "days_in_month", "30"),
        .iops_brackets = in_brackets(in, o, "iops_brackets"),
    };
    x.snapshot = in_pairs(in, o, "snapshots", &x.n_snapshots);
    if (in->rc == 0) {
        bill_block(&x, &b);
    }
    return finish(in, computed, &b);
}

int storage_snapshot_archive(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct snapshot_archive_bill x = {
        .gb = in_rat(in, o, "gb", NULL),
        .days = in_rat(in, o, "days", NULL),
        .days_in_month = in_rat(in, o, "days_in_month", "30"),
        .per_gb = in_rat(in, o, "per_gb_month", NULL),
        .min_days = in_rat(in, o, "min_days", "0"),
        .restored_gb = in_rat(in, o, "restored_gb", "0"),
        .restore_per_gb = in_rat(in, o, "restore_per_gb", "0"),
        .removed = in_bool(o, "removed"),
    };
    if (in->rc == 0) {
        bill_snapshot_archive(&x, &b);
    }
    return finish(in, computed, &b);
}

int storage_managed_disk(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct managed_disk_bill x = {
        .provisioned_gib = in_rat(in, o, "provisioned_gib", NULL),
        .hours = in_rat(in, o, "hours", NULL),
        .hours_in_month = in_rat(in, o, "hours_in_month", "730"),
        .count = in_rat(in, o, "count", "1"),
    };
    x.size = in_pairs(in, o, "sizes", &x.n_sizes);
    if (in->rc == 0) {
        in->rc = bill_managed_disk(&x, &b, in->err);
    }
    return finish(in, computed, &b);
}

static void file_parts(struct storage_in *in, const cJSON *o, const cJSON *prices,
                       struct file_bill *x)
{
    const cJSON *list = in_array(in, o, "parts", true, &x->n_parts), *row;
    struct file_part *p = in_alloc(in, x->n_parts, sizeof *p);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        const char *name = in_text(in, row, "class", NULL);
        const cJSON *price = in_object(in, prices, name);
        if (in->rc < 0) {
            return;
        }
        p[i++] = (struct file_part){
            .class_name = name,
            .files = in_rat(in, row, "files", NULL),
            .size = in_rat(in, row, "size_bytes", NULL),
            .months = in_rat(in, row, "months", "1"),
            .per_gb = in_rat(in, price, "per_gb_month", NULL),
            .min_bytes = in_rat(in, price, "min_billable_bytes", "0"),
        };
    }
    x->part = p;
    const cJSON *flows = in_array(in, o, "flows", false, &x->n_flows);
    struct file_flow *f = in_alloc(in, x->n_flows, sizeof *f);
    i = 0;
    cJSON_ArrayForEach(row, flows)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 0);
        if (!f || cJSON_GetArraySize(row) != 3 || !cJSON_IsString(name)) {
            in_fail(in, GT_EPARSE, "flows", "flows are [component, GB, price]");
            return;
        }
        f[i++] = (struct file_flow){
            .name = name->valuestring,
            .gb = in_value(in, cJSON_GetArrayItem(row, 1), "flows"),
            .price = in_value(in, cJSON_GetArrayItem(row, 2), "flows"),
        };
    }
    x->flow = f;
}

int storage_file(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    const cJSON *prices = in_object(in, o, "prices");
    const cJSON *standard = cJSON_GetObjectItemCaseSensitive(prices, "standard");
    struct file_bill x = {
        .standard_per_gb = in_rat(in, standard, "per_gb_month", "0"),
        .metadata_bytes = in_rat(in, o, "metadata_bytes", "2048"),
    };
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(o, "provisioned");
    if (cJSON_IsObject(p)) {
        x.provisioned = true;
        x.mibps = in_rat(in, p, "mibps", NULL);
        x.standard_gib = in_rat(in, p, "standard_gib", "0");
        x.baseline_mibps_per_tib = in_rat(in, p, "baseline_mibps_per_tib", "0");
        x.per_mibps_month = in_rat(in, p, "per_mibps_month", NULL);
        x.provisioned_months = in_rat(in, p, "months", "1");
    }
    file_parts(in, o, prices, &x);
    if (in->rc == 0) {
        bill_file(&x, &b);
    }
    return finish(in, computed, &b);
}
