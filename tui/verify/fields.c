/* Inputs of a worked case (fields.h). */
#include "fields.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>

static const cJSON *field(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

bool field_number(const cJSON *item, double *out)
{
    if (cJSON_IsNumber(item)) {
        *out = item->valuedouble;
        return isfinite(*out);
    }
    return cJSON_IsString(item) && number_parse(item->valuestring, out, NULL) == 0;
}

static int wrong(const char *name, const cJSON *item, const char *allowed, struct gt_error *err)
{
    char found[48] = "nothing";
    if (cJSON_IsString(item)) {
        snprintf(found, sizeof found, "\"%.40s\"", item->valuestring);
    } else if (cJSON_IsNumber(item)) {
        snprintf(found, sizeof found, "%.17g", item->valuedouble);
    } else if (item) {
        snprintf(found, sizeof found, "%s",
                 cJSON_IsNull(item)     ? "null"
                 : cJSON_IsBool(item)   ? "a truth value"
                 : cJSON_IsArray(item)  ? "a list"
                 : cJSON_IsObject(item) ? "an object"
                                        : "nothing");
    }
    return gt_fail(err, GT_EPARSE, name, "%s is needed, found %s", allowed, found);
}

int field_double(const cJSON *object, const char *name, double fallback, double *out,
                 struct gt_error *err)
{
    const cJSON *item = field(object, name);
    if (!item && !isnan(fallback)) {
        *out = fallback;
        return 0;
    }
    return field_number(item, out) ? 0 : wrong(name, item, "a number", err);
}

static bool whole(const cJSON *item, int64_t *out)
{
    double v;
    if (!field_number(item, &v) || v != floor(v) || fabs(v) > 9007199254740992.0) {
        return false;
    }
    *out = (int64_t)v;
    return true;
}

int field_int(const cJSON *object, const char *name, int64_t fallback, int64_t *out,
              struct gt_error *err)
{
    const cJSON *item = field(object, name);
    if (!item && fallback != FIELD_NEEDED) {
        *out = fallback;
        return 0;
    }
    return whole(item, out) ? 0 : wrong(name, item, "a whole number", err);
}

int field_bool(const cJSON *object, const char *name, bool fallback, bool *out,
               struct gt_error *err)
{
    const cJSON *item = field(object, name);
    int64_t v = 0;
    if (!item) {
        *out = fallback;
        return 0;
    }
    if (cJSON_IsBool(item)) {
        *out = cJSON_IsTrue(item);
        return 0;
    }
    if (!whole(item, &v) || (v != 0 && v != 1)) {
        return wrong(name, item, "0, 1, true or false", err);
    }
    *out = v == 1;
    return 0;
}

const char *field_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(field(object, name));
}

/* The list `name` with room for its numbers of `size` bytes each. */
static int list(const cJSON *object, const char *name, struct arena *a, size_t size, void **out,
                size_t *n, const cJSON **first, struct gt_error *err)
{
    const cJSON *item = field(object, name);
    if (!cJSON_IsArray(item)) {
        return wrong(name, item, "a list of numbers", err);
    }
    *n = (size_t)cJSON_GetArraySize(item);
    *first = item->child;
    *out = arena_array(a, *n ? *n : 1, size);
    return *out ? 0 : gt_fail(err, GT_ENOMEM, name, "out of memory for %zu numbers", *n);
}

int field_doubles(const cJSON *object, const char *name, struct arena *a, double **out, size_t *n,
                  struct gt_error *err)
{
    const cJSON *item = NULL;
    void *room = NULL;
    int rc = list(object, name, a, sizeof **out, &room, n, &item, err);
    *out = room;
    for (size_t i = 0; !rc && item; item = item->next) {
        if (!field_number(item, &(*out)[i++])) {
            rc = wrong(name, item, "a number", err);
        }
    }
    return rc;
}

int field_ints(const cJSON *object, const char *name, struct arena *a, int64_t **out, size_t *n,
               struct gt_error *err)
{
    const cJSON *item = NULL;
    void *room = NULL;
    int rc = list(object, name, a, sizeof **out, &room, n, &item, err);
    *out = room;
    for (size_t i = 0; !rc && item; item = item->next) {
        if (!whole(item, &(*out)[i++])) {
            rc = wrong(name, item, "a whole number", err);
        }
    }
    return rc;
}

bool field_put(cJSON *object, const char *name, double v)
{
    return isfinite(v) ? cJSON_AddNumberToObject(object, name, v) != NULL
                       : cJSON_AddNullToObject(object, name) != NULL;
}
