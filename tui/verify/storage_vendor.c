/* Storage cases of vendors billed by steps or with their own rounding (Azure, GCS, R2, OSS,
 * Wasabi), and cases whose result is values: load time, break-even, online bound. */
#include "storage_in.h"
#include <string.h>

static int finish(struct storage_in *in, cJSON *computed, const struct bill *b)
{
    return in->rc < 0 ? in->rc : out_bill(computed, b, in->err);
}

/* Index of text in a NULL-terminated list; an error names what was found. */
static int choose(struct storage_in *in, const char *text, const char *const *names,
                  const char *where)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    if (in->rc == 0) {
        in->rc = gt_fail(in->err, GT_EUNSUPPORTED, where, "'%.60s' is not known", text);
    }
    return 0;
}

static const struct azure_tier *azure_tier(struct storage_in *in, const cJSON *prices,
                                           const char *name)
{
    const cJSON *p = in_object(in, prices, name);
    struct azure_tier *t = in_alloc(in, 1, sizeof *t);
    if (in->rc == 0) {
        *t = (struct azure_tier){
            .name = name,
            .write_10000 = in_rat(in, p, "write_per_10000", "0"),
            .read_10000 = in_rat(in, p, "read_per_10000", "0"),
            .read_high_10000 = in_rat(in, p, "read_high_per_10000", "0"),
            .other_10000 = in_rat(in, p, "other_per_10000", "0"),
            .retrieval_gb = in_rat(in, p, "retrieval_per_gb", "0"),
            .retrieval_high_gb = in_rat(in, p, "retrieval_high_per_gb", "0"),
            .min_days = in_rat(in, p, "min_days", "0"),
            .min_bytes = in_rat(in, p, "min_billable_bytes", "0"),
            .brackets = in_brackets(in, p, "brackets_gb"),
        };
    }
    return t;
}

int storage_azure(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    static const char *const ops[] = {"put",     "store",        "read",  "tier_down",
                                      "tier_up", "early_delete", "other", NULL};
    struct bill b;
    bill_init(&b);
    size_t n, i = 0;
    const cJSON *prices = in_object(in, o, "prices");
    const cJSON *list = in_array(in, o, "steps", true, &n), *row;
    struct azure_step *s = in_alloc(in, n, sizeof *s);
    cJSON_ArrayForEach(row, list)
    {
        enum azure_op op = (enum azure_op)choose(in, in_text(in, row, "op", NULL), ops, "op");
        const char *key = op == AZ_TIER_DOWN ? "to" : op == AZ_TIER_UP ? "from" : "tier";
        const char *name = in_text(in, row, key, NULL);
        if (in->rc < 0) {
            break;
        }
        s[i++] = (struct azure_step){
            .op = op,
            .tier = azure_tier(in, prices, name),
            .blobs = in_rat(in, row, "blobs", "0"),
            .ops_per_blob = in_rat(in, row, "ops_per_blob", "1"),
            .gb = in_rat(in, row, "gb", "0"),
            .has_gb = cJSON_HasObjectItem(row, "gb"),
            .blob_bytes = in_rat(in, row, "blob_bytes", "0"),
            .days = in_rat(in, row, "days", "0"),
            .ops = in_rat(in, row, "ops", "0"),
            .stayed_days = in_rat(in, row, "stayed_days", "0"),
            .high = strcmp(in_text(in, row, "priority", ""), "high") == 0,
        };
    }
    if (in->rc == 0) {
        bill_azure(s, n, &b);
    }
    return finish(in, computed, &b);
}

int storage_gcs(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    static const char *const ops[] = {"store",        "class_a",   "class_b", "retrieve",
                                      "early_delete", "autoclass", NULL};
    struct bill b;
    bill_init(&b);
    size_t n, i = 0;
    const cJSON *prices = in_object(in, o, "prices");
    const cJSON *list = in_array(in, o, "steps", true, &n), *row;
    struct gcs_step *s = in_alloc(in, n, sizeof *s);
    cJSON_ArrayForEach(row, list)
    {
        enum gcs_op op = (enum gcs_op)choose(in, in_text(in, row, "op", NULL), ops, "op");
        struct gcs_class *c = in_alloc(in, 1, sizeof *c);
        if (in->rc == 0 && op != GCS_AUTOCLASS) {
            c->name = in_text(in, row, "class", NULL);
            const cJSON *p = in_object(in, prices, c->name);
            c->per_gib_hour = in_rat(in, p, "per_gib_hour", "0");
            c->class_a_1000 = in_rat(in, p, "class_a_per_1000", "0");
            c->class_b_1000 = in_rat(in, p, "class_b_per_1000", "0");
            c->retrieval_gib = in_rat(in, p, "retrieval_per_gib", "0");
            c->min_days = in_rat(in, p, "min_days", "0");
        }
        if (in->rc < 0) {
            break;
        }
        s[i++] = (struct gcs_step){
            .op = op,
            .class_of = c,
            .gib = in_rat(in, row, "gib", "0"),
            .days = in_rat(in, row, "days", "0"),
            .ops = in_rat(in, row, "ops", "0"),
            .counted_days = in_rat(in, row, "counted_days", "0"),
            .objects = in_rat(in, row, "objects", "0"),
            .autoclass_1000 = in_rat(in, prices, "autoclass_per_1000_30d", "0"),
        };
    }
    if (in->rc == 0) {
        bill_gcs(s, n, &b);
    }
    return finish(in, computed, &b);
}

int storage_r2(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    const cJSON *free_tier = cJSON_GetObjectItemCaseSensitive(o, "free");
    struct r2_bill x = {
        .min_days = in_rat(in, o, "min_days", "0"),
        .class_a = in_rat(in, o, "class_a_ops", "0"),
        .class_b = in_rat(in, o, "class_b_ops", "0"),
        .per_gb = in_rat(in, o, "per_gb_month", NULL),
        .a_million = in_rat(in, o, "class_a_per_million", "0"),
        .b_million = in_rat(in, o, "class_b_per_million", "0"),
        .retrieved_gb = in_rat(in, o, "retrieved_gb", "0"),
        .retrieval_gb = in_rat(in, o, "retrieval_per_gb", "0"),
        .free_gb_month = in_rat(in, free_tier, "gb_month", "0"),
        .free_a = in_rat(in, free_tier, "class_a_ops", "0"),
        .free_b = in_rat(in, free_tier, "class_b_ops", "0"),
        .free_retrieval = in_rat(in, free_tier, "retrieved_gb", "0"),
    };
    x.gb_days = in_pairs(in, o, "gb_days", &x.n_gb_days);
    if (in->rc == 0) {
        bill_r2(&x, &b);
    }
    return finish(in, computed, &b);
}

int storage_oss(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    size_t n, i = 0;
    const cJSON *prices = in_object(in, o, "prices");
    const cJSON *list = in_array(in, o, "stays", true, &n), *row;
    struct oss_stay *s = in_alloc(in, n, sizeof *s);
    cJSON_ArrayForEach(row, list)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 0);
        if (!s || !cJSON_IsString(name) || cJSON_GetArraySize(row) != 2) {
            in_fail(in, GT_EPARSE, "stays", "stays are [class, days]");
            break;
        }
        const cJSON *p = in_object(in, prices, name->valuestring);
        s[i++] = (struct oss_stay){
            .class_name = name->valuestring,
            .days = in_value(in, cJSON_GetArrayItem(row, 1), "stays"),
            .per_gb = in_rat(in, p, "per_gb_month", NULL),
            .min_days = in_rat(in, p, "min_days", "0"),
            .from_last_modified = strcmp(in_text(in, p, "count_from", ""), "last_modified") == 0,
        };
    }
    struct rat gb = in_rat(in, o, "gb", NULL), month = in_rat(in, o, "days_in_month", "30");
    if (in->rc == 0) {
        bill_oss(s, n, gb, month, &b);
    }
    return finish(in, computed, &b);
}

int storage_wasabi(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct wasabi_bill x = {
        .objects = in_rat(in, o, "objects", NULL),
        .size = in_rat(in, o, "size_bytes", NULL),
        .days = in_rat(in, o, "days", NULL),
        .min_days = in_rat(in, o, "min_days", "90"),
        .per_tb = in_rat(in, o, "per_tb_month", NULL),
        .min_tb_months = in_rat(in, o, "min_tb_months", "0"),
    };
    if (in->rc == 0) {
        bill_wasabi(&x, &b);
    }
    return finish(in, computed, &b);
}

static const struct rat *load_rates(struct storage_in *in, const cJSON *o, const char *key,
                                    size_t *n)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key), *item;
    *n = cJSON_IsObject(list) || cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    struct rat *r = in_alloc(in, *n, sizeof *r);
    size_t i = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (r && i < *n) {
            r[i++] = in_value(in, item, key);
        }
    }
    return r;
}

int storage_load_time(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    static const char *const models[] = {"flat", "burst", "requests", "parallel_stages", NULL};
    struct bill b;
    bill_init(&b);
    struct load_time x = {
        .model = (enum load_model)choose(in, in_text(in, o, "model", NULL), models, "model"),
        .bytes = in_rat(in, o, "bytes", NULL),
        .gpus = in_rat(in, o, "gpus", "0"),
        .gpu_hour = in_rat(in, o, "gpu_hour_price", "0"),
        .fixed_s = in_rat(in, o, "fixed_s", "0"),
        .burst = in_rat(in, o, "burst_mibps", "0"),
        .base = in_rat(in, o, "base_mibps", "0"),
        .credits = in_rat(in, o, "credits_mib", "0"),
        .object_bytes = in_rat(in, o, "object_bytes", "0"),
        .streams = in_rat(in, o, "streams", "1"),
        .first_byte_s = in_rat(in, o, "first_byte_s", "0"),
        .stream = in_rat(in, o, "stream_mibps", "0"),
        .nic = in_rat(in, o, "nic_mibps", "0"),
        .get_per_s = in_rat(in, o, "get_per_s", "0"),
        .get_1000 = in_rat(in, o, "get_per_1000", "0"),
    };
    x.rate =
        load_rates(in, o, x.model == LOAD_STAGES ? "stages_mibps" : "limits_mibps", &x.n_rates);
    if (in->rc == 0) {
        in->rc = load_time_values(&x, &b, in->err);
    }
    return in->rc < 0 ? in->rc : out_values(computed, &b, in->err);
}

int storage_break_even(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    static const char *const models[] = {"it_size",         "min_size",
                                         "overhead_size",   "transition_payback_months",
                                         "reads_per_month", NULL};
    struct bill b;
    bill_init(&b);
    struct break_even x = {
        .model = (enum break_even_model)choose(in, in_text(in, o, "model", NULL), models, "model"),
        .hot = in_rat(in, o, "hot_price", "0"),
        .cool = in_rat(in, o, "cool_price", "0"),
        .cold = in_rat(in, o, "cold_price", "0"),
        .monitor_1000 = in_rat(in, o, "monitor_per_1000", "0"),
        .min_bytes = in_rat(in, o, "min_billable_bytes", "0"),
        .overhead_tier = in_rat(in, o, "overhead_tier_bytes", "0"),
        .overhead_hot = in_rat(in, o, "overhead_hot_bytes", "0"),
        .size = in_rat(in, o, "size_bytes", "0"),
        .transition_1000 = in_rat(in, o, "transition_per_1000", "0"),
        .retrieval_gb = in_rat(in, o, "retrieval_per_gb", "0"),
        .cool_get_1000 = in_rat(in, o, "cool_get_per_1000", "0"),
        .hot_get_1000 = in_rat(in, o, "hot_get_per_1000", "0"),
    };
    if (in->rc == 0) {
        break_even_values(&x, &b);
    }
    return in->rc < 0 ? in->rc : out_values(computed, &b, in->err);
}

int storage_online(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct bill b;
    bill_init(&b);
    struct rat rent = in_rat(in, o, "hot_minus_cool_per_period", NULL);
    struct rat move = in_rat(in, o, "move_cost", NULL);
    struct rat idle = in_rat(in, o, "idle_periods", NULL);
    if (in->rc == 0 && rat_sign(rent) <= 0) {
        in_fail(in, GT_ERANGE, "hot_minus_cool_per_period", "must be above zero");
    }
    if (in->rc == 0) {
        online_bound_values(rent, move, idle, &b);
    }
    return in->rc < 0 ? in->rc : out_values(computed, &b, in->err);
}
