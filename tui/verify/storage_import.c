/* Storage cases of kind import-histogram: inline inventory CSV to the rows of R-IM-02. */
#include "gputier/inventory.h"
#include "gputier/units.h"
#include "storage_in.h"
#include <string.h>

static void read_edges(struct storage_in *in, const cJSON *o, struct inventory_options *opt)
{
    size_t i = 0;
    const cJSON *sizes = in_array(in, o, "size_edges", false, &opt->n_size_edges), *item;
    const cJSON *ages = in_array(in, o, "age_edges_days", false, &opt->n_age_edges);
    uint64_t *size = in_alloc(in, opt->n_size_edges, sizeof *size);
    int *age = in_alloc(in, opt->n_age_edges, sizeof *age);
    cJSON_ArrayForEach(item, sizes)
    {
        struct rat r = in_value(in, item, "size_edges");
        if (size) {
            size[i++] = (uint64_t)r.n;
        }
    }
    i = 0;
    cJSON_ArrayForEach(item, ages)
    {
        struct rat r = in_value(in, item, "age_edges_days");
        if (age) {
            age[i++] = (int)r.n;
        }
    }
    opt->size_edge = size;
    opt->age_edge = age;
}

static void read_access(struct storage_in *in, const cJSON *o, struct inventory_accesses *accesses)
{
    size_t n;
    const cJSON *list = in_array(in, o, "access", false, &n), *row;
    cJSON_ArrayForEach(row, list)
    {
        const cJSON *key = cJSON_GetArrayItem(row, 0), *when = cJSON_GetArrayItem(row, 1);
        int64_t t;
        if (!cJSON_IsString(key) || !cJSON_IsString(when)) {
            in_fail(in, GT_EPARSE, "access", "accesses are [key, instant]");
            return;
        }
        if (in->rc == 0) {
            in->rc = time_parse(when->valuestring, 0, &t, in->err);
        }
        if (in->rc == 0) {
            in->rc = inventory_access_put(accesses, key->valuestring, strlen(key->valuestring), t,
                                          in->err);
        }
    }
}

static int add_row(cJSON *rows, const struct inventory_row *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "prefix", r->prefix);
    cJSON_AddStringToObject(o, "storage_class", r->storage_class);
    cJSON_AddBoolToObject(o, "is_latest", r->is_latest);
    cJSON_AddNumberToObject(o, "size_lo", (double)r->size_lo);
    cJSON_AddNumberToObject(o, "age_lo_days", r->age_lo_days);
    cJSON_AddNumberToObject(o, "idle_lo_days", r->idle_lo_days);
    cJSON_AddNumberToObject(o, "objects", (double)r->objects);
    cJSON_AddNumberToObject(o, "bytes", (double)r->bytes);
    cJSON_AddNumberToObject(o, "bytes_min128k", (double)r->bytes_min128k);
    return cJSON_AddItemToArray(rows, o) ? 0 : GT_ENOMEM;
}

static int write_rows(struct inventory *inv, cJSON *computed, struct gt_error *err)
{
    const struct inventory_row *row;
    size_t n;
    int rc = inventory_rows(inv, &row, &n, err);
    cJSON *rows = rc < 0 ? NULL : cJSON_AddArrayToObject(computed, "rows");
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = add_row(rows, &row[i]);
    }
    if (rc == 0) {
        cJSON_AddNumberToObject(computed, "skipped_delete_markers",
                                (double)inventory_stats(inv)->delete_markers);
    }
    return rc;
}

int storage_import(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct inventory_options opt = {.format = INVENTORY_S3, .max_bad = 0};
    const char *csv = in_text(in, o, "csv", NULL), *as_of = in_text(in, o, "as_of_utc", NULL);
    opt.file_schema = in_text(in, o, "file_schema", NULL);
    opt.depth = (int)in_int(in, o, "prefix_depth", 1, 0, 64);
    if (in->rc == 0) {
        in->rc = time_parse(as_of, 0, &opt.as_of, in->err);
    }
    read_edges(in, o, &opt);
    struct inventory_accesses *accesses = NULL;
    if (in->rc == 0) {
        in->rc = inventory_accesses_new(opt.as_of, 0, &accesses, in->err);
    }
    if (in->rc == 0) {
        read_access(in, o, accesses);
        opt.access = accesses;
    }
    struct inventory *inv = NULL;
    if (in->rc == 0) {
        in->rc = inventory_new(&opt, &inv, in->err);
    }
    if (in->rc == 0) {
        in->rc = inventory_read_text(inv, "csv", csv, strlen(csv), in->err);
    }
    if (in->rc == 0) {
        in->rc = write_rows(inv, computed, in->err);
    }
    inventory_free(inv);
    inventory_accesses_free(accesses);
    return in->rc;
}
