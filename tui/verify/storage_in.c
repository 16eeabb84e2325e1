/* Readers and writers of storage cases (storage_in.h). */
#include "storage_in.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void in_fail(struct storage_in *in, int code, const char *where, const char *text)
{
    if (in->rc == 0) {
        in->rc = gt_fail(in->err, code, where, "%s", text);
    }
}

struct rat in_value(struct storage_in *in, const cJSON *item, const char *what)
{
    struct rat r = rat_int(0);
    char text[64];
    const char *s = text;
    if (cJSON_IsString(item)) {
        s = item->valuestring;
    } else if (cJSON_IsNumber(item)) {
        /* The shortest decimal that reads back as the same double is what the file said. */
        double v = item->valuedouble;
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, v);
            if (strtod(text, NULL) == v) {
                break;
            }
        }
    } else {
        in_fail(in, GT_EPARSE, what, "a number or a decimal string is needed");
        return r;
    }
    if (in->rc == 0) {
        in->rc = rat_parse(s, strlen(s), &r, in->err);
        if (in->rc < 0 && in->err) {
            snprintf(in->err->where, sizeof in->err->where, "%s", what);
        }
    }
    return r;
}

struct rat in_rat(struct storage_in *in, const cJSON *o, const char *key, const char *fallback)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    struct rat r = rat_int(0);
    if (item && !cJSON_IsNull(item)) {
        return in_value(in, item, key);
    }
    if (!fallback) {
        in_fail(in, GT_EPARSE, key, "missing");
    } else if (rat_parse(fallback, strlen(fallback), &r, NULL) < 0) {
        in_fail(in, GT_EINVALID, key, "bad fallback");
    }
    return r;
}

int64_t in_int(struct storage_in *in, const cJSON *o, const char *key, int64_t fallback, int64_t lo,
               int64_t hi)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!item || cJSON_IsNull(item)) {
        return fallback;
    }
    struct rat r = in_value(in, item, key);
    if (in->rc == 0 && (r.d != 1 || r.n < lo || r.n > hi)) {
        in_fail(in, GT_ERANGE, key, "a whole number in range is needed");
    }
    return in->rc == 0 ? (int64_t)r.n : fallback;
}

bool in_bool(const cJSON *o, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, key));
}

const char *in_text(struct storage_in *in, const cJSON *o, const char *key, const char *fallback)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    if (cJSON_IsString(item)) {
        return item->valuestring;
    }
    if (!fallback || (item && !cJSON_IsNull(item))) {
        in_fail(in, GT_EPARSE, key, "a text is needed");
        return "";
    }
    return fallback;
}

const cJSON *in_object(struct storage_in *in, const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!cJSON_IsObject(item)) {
        in_fail(in, GT_EPARSE, key, "an object is needed");
    }
    return item;
}

const cJSON *in_array(struct storage_in *in, const cJSON *o, const char *key, bool required,
                      size_t *n)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    *n = 0;
    if (cJSON_IsArray(item)) {
        *n = (size_t)cJSON_GetArraySize(item);
        return item;
    }
    if (required || (item && !cJSON_IsNull(item))) {
        in_fail(in, GT_EPARSE, key, "a list is needed");
    }
    return NULL;
}

void *in_alloc(struct storage_in *in, size_t n, size_t size)
{
    void *p = arena_array(in->arena, n ? n : 1, size);
    if (!p) {
        in_fail(in, GT_ENOMEM, "", "out of memory");
    }
    return p;
}

const struct rat_pair *in_pairs(struct storage_in *in, const cJSON *o, const char *key, size_t *n)
{
    const cJSON *list = in_array(in, o, key, false, n), *row;
    struct rat_pair *p = in_alloc(in, *n, sizeof *p);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        if (!p || cJSON_GetArraySize(row) != 2) {
            in_fail(in, GT_EPARSE, key, "pairs of two numbers are needed");
            *n = 0;
            return NULL;
        }
        p[i].a = in_value(in, cJSON_GetArrayItem(row, 0), key);
        p[i++].b = in_value(in, cJSON_GetArrayItem(row, 1), key);
    }
    return p;
}

struct bracket_list in_brackets(struct storage_in *in, const cJSON *o, const char *key)
{
    struct bracket_list l = {NULL, 0};
    size_t n;
    const cJSON *list = in_array(in, o, key, false, &n), *row;
    struct bracket *b = in_alloc(in, n, sizeof *b);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        if (!b || cJSON_GetArraySize(row) != 2) {
            in_fail(in, GT_EPARSE, key, "brackets are pairs of upper bound and price");
            return l;
        }
        const cJSON *upto = cJSON_GetArrayItem(row, 0);
        b[i].open = cJSON_IsNull(upto);
        b[i].upto = b[i].open ? rat_int(0) : in_value(in, upto, key);
        b[i++].price = in_value(in, cJSON_GetArrayItem(row, 1), key);
    }
    l.at = b;
    l.n = n;
    return l;
}

struct rat *in_rats(struct storage_in *in, const cJSON *o, const char *key, size_t want)
{
    size_t n, i = 0;
    const cJSON *list = in_array(in, o, key, true, &n), *item;
    if (n != want) {
        in_fail(in, GT_EPARSE, key, "one value per period is needed");
    }
    struct rat *r = in_alloc(in, want, sizeof *r);
    cJSON_ArrayForEach(item, list)
    {
        if (in->rc < 0 || i >= want) {
            break;
        }
        r[i++] = in_value(in, item, key);
    }
    return r;
}

struct tier_price in_tier(struct storage_in *in, const cJSON *o)
{
    return (struct tier_price){
        .storage = in_rat(in, o, "storage_per_gb_month", NULL),
        .put_1000 = in_rat(in, o, "put_per_1000", "0"),
        .get_1000 = in_rat(in, o, "get_per_1000", "0"),
        .retrieval_gb = in_rat(in, o, "retrieval_per_gb", "0"),
        .upload_gb = in_rat(in, o, "upload_per_gb", "0"),
        .transition_1000 = in_rat(in, o, "transition_in_per_1000", "0"),
        .min_bytes = in_rat(in, o, "min_billable_bytes", "0"),
        .overhead_tier = in_rat(in, o, "overhead_tier_bytes", "0"),
        .overhead_hot = in_rat(in, o, "overhead_hot_bytes", "0"),
        .min_days = in_rat(in, o, "min_days", "0"),
        .monitor_1000 = in_rat(in, o, "monitor_per_1000_month", "0"),
        .monitor_min_bytes = in_rat(in, o, "monitor_min_bytes", "0"),
        .latency_s = in_rat(in, o, "latency_s", "0"),
        .throughput = in_rat(in, o, "throughput", "0"),
        .restore_1000 = in_rat(in, o, "restore_request_per_1000", "0"),
        .copy_days = in_rat(in, o, "restore_copy_days", "0"),
        .min_age_periods = in_rat(in, o, "min_age_periods", "0"),
    };
}

int out_rat(cJSON *o, const char *key, struct rat r, struct gt_error *err)
{
    money m;
    char text[MONEY_TEXT];
    if (rat_money(r, &m) < 0) {
        return gt_fail(err, GT_ERANGE, key, "the amount does not fit exact arithmetic");
    }
    return cJSON_AddStringToObject(o, key, money_format(m, text))
               ? 0
               : gt_fail(err, GT_ENOMEM, key, "out of memory");
}

static int out_items(cJSON *o, const struct bill *b, struct gt_error *err)
{
    int rc = o ? bill_check(b, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    for (size_t i = 0; i < b->n && rc == 0; i++) {
        rc = out_rat(o, b->item[i].name, b->item[i].value, err);
    }
    return rc;
}

int out_bill(cJSON *computed, const struct bill *b, struct gt_error *err)
{
    int rc = out_items(cJSON_AddObjectToObject(computed, "components"), b, err);
    return rc < 0 ? rc : out_rat(computed, "total", bill_total(b), err);
}

int out_values(cJSON *computed, const struct bill *b, struct gt_error *err)
{
    return out_items(cJSON_AddObjectToObject(computed, "values"), b, err);
}
