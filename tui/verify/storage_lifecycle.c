/* Storage cases about S3 lifecycle documents: JSON into struct lifecycle_rule, checks, effect. */
#include "gputier/units.h"
#include "storage_in.h"
#include <math.h>
#include <string.h>

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static double number(const cJSON *item)
{
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static struct lifecycle_when when_of(const cJSON *o, const char *days_key)
{
    const cJSON *days = get(o, days_key), *date = get(o, "Date");
    struct lifecycle_when w = {.has_days = days != NULL,
                               .has_date = date != NULL,
                               .days = number(days),
                               .date = GT_TIME_NONE};
    if (cJSON_IsString(date) && time_parse(date->valuestring, 0, &w.date, NULL) < 0) {
        w.date = GT_TIME_NONE;
    }
    return w;
}

static const struct lifecycle_transition *transitions_of(struct storage_in *in, const cJSON *rule,
                                                         const char *key, const char *days_key,
                                                         size_t *n)
{
    const cJSON *list = get(rule, key), *row;
    *n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    struct lifecycle_transition *t = in_alloc(in, *n, sizeof *t);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        if (in->rc == 0 && i < *n) {
            const cJSON *c = get(row, "StorageClass");
            t[i].when = when_of(row, days_key);
            t[i++].storage_class = cJSON_IsString(c) ? c->valuestring : NULL;
        }
    }
    return t;
}

/* Criteria of a Filter or of its And. */
static int criteria(const cJSON *o, struct lifecycle_rule *r)
{
    const cJSON *greater = get(o, "ObjectSizeGreaterThan"), *less = get(o, "ObjectSizeLessThan");
    const cJSON *tags = get(o, "Tags");
    int n = (get(o, "Prefix") != NULL) + (get(o, "Tag") != NULL);
    n += cJSON_IsArray(tags) ? cJSON_GetArraySize(tags) : 0;
    r->tag = r->tag || get(o, "Tag") || (cJSON_IsArray(tags) && cJSON_GetArraySize(tags) > 0);
    if (greater) {
        r->has_greater = true;
        r->greater = number(greater);
        n++;
    }
    if (less) {
        r->has_less = true;
        r->less = number(less);
        n++;
    }
    return n;
}

static void rule_of(struct storage_in *in, const cJSON *o, struct lifecycle_rule *r)
{
    const cJSON *id = get(o, "ID"), *status = get(o, "Status"), *filter = get(o, "Filter");
    const cJSON *expire = get(o, "Expiration");
    r->id = cJSON_IsString(id) ? id->valuestring : NULL;
    r->status = cJSON_IsString(status) ? status->valuestring : NULL;
    r->has_filter = filter != NULL;
    r->has_prefix = get(o, "Prefix") != NULL;
    r->has_and = get(filter, "And") != NULL;
    r->criteria_outside_and = criteria(filter, r);
    r->criteria_inside_and = r->has_and ? criteria(get(filter, "And"), r) : 0;
    r->transition = transitions_of(in, o, "Transitions", "Days", &r->n_transitions);
    r->noncurrent =
        transitions_of(in, o, "NoncurrentVersionTransitions", "NoncurrentDays", &r->n_noncurrent);
    r->expiration = expire != NULL;
    r->expired_marker = get(expire, "ExpiredObjectDeleteMarker") != NULL;
    r->noncurrent_expiration = get(o, "NoncurrentVersionExpiration") != NULL;
    r->abort_mpu = get(o, "AbortIncompleteMultipartUpload") != NULL;
    r->expire = when_of(expire, "Days");
}

int storage_lifecycle_validate(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    const cJSON *doc = in_object(in, o, "configuration"), *row;
    size_t n = 0, i = 0;
    const cJSON *rules = in->rc < 0 ? NULL : in_array(in, doc, "Rules", false, &n);
    struct lifecycle_rule *r = in_alloc(in, n, sizeof *r);
    cJSON_ArrayForEach(row, rules)
    {
        if (in->rc == 0) {
            rule_of(in, row, &r[i++]);
        }
    }
    if (in->rc < 0) {
        return in->rc;
    }
    const cJSON *count = get(o, "rule_count_override");
    bool violated[LIFECYCLE_CODES];
    lifecycle_check(r, n, cJSON_IsNumber(count) ? count->valuedouble : (double)n, violated);
    bool valid = true;
    cJSON *errors = cJSON_CreateArray();
    for (int c = 1; c <= LIFECYCLE_CODES; c++) {
        if (violated[c - 1]) {
            valid = false;
            cJSON_AddItemToArray(errors, cJSON_CreateString(lifecycle_code_text(c)));
        }
    }
    cJSON_AddBoolToObject(computed, "valid", valid);
    return cJSON_AddItemToObject(computed, "errors", errors)
               ? 0
               : gt_fail(in->err, GT_ENOMEM, "", "out of memory");
}

int storage_lifecycle_effect(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct lifecycle_effect e = {0};
    const cJSON *greater = get(o, "object_size_greater_than"),
                *less = get(o, "object_size_less_than");
    const char *created = in_text(in, o, "created_utc", NULL);
    if (in->rc == 0) {
        in->rc = time_parse(created, 0, &e.created, in->err);
    }
    e.days = (int)in_int(in, o, "days", 0, 0, 1000000);
    e.size = rat_double(in_rat(in, o, "size_bytes", NULL));
    e.storage_class = in_text(in, o, "storage_class", NULL);
    e.legacy_default = strcmp(in_text(in, o, "default_minimum", "all_storage_classes_128K"),
                              "varies_by_storage_class") == 0;
    e.has_greater = cJSON_IsNumber(greater);
    e.greater = number(greater);
    e.has_less = cJSON_IsNumber(less);
    e.less = number(less);
    if (in->rc < 0) {
        return in->rc;
    }
    char text[32];
    cJSON_AddStringToObject(computed, "transition_utc",
                            time_format(lifecycle_instant(e.created, e.days), text));
    cJSON_AddBoolToObject(computed, "moved", lifecycle_moves(&e));
    return 0;
}
