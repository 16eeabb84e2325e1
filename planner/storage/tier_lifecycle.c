/* Lifecycle documents of a plan's rules: S3 (R-LC-01, valid by the checks of section 11), EFS
 * (R-LC-06), Cloud Storage (R-LC-05) and Azure (R-LC-04). */
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "tier_model.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool same_rule(const struct tier_rule *a, const struct tier_rule *b)
{
    return strcmp(a->prefix, b->prefix) == 0 && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes;
}

#define ID_MAX 48

/* "gputier-2-logs-2026": a number, which makes it unique, and what of the prefix a name may hold;
 * `dash` 0: letters and digits alone (R-LC-04). */
static void name_of(const struct tier_rule *r, int number, char dash, char name[ID_MAX])
{
    static const char whole[] = "whole bucket";
    const char *from = r->prefix[0] ? r->prefix : whole;
    int n = snprintf(name, ID_MAX, dash ? "gputier-%d" : "gputier%d", number);
    bool gap = true;
    for (; *from && n < ID_MAX - 3; from++) {
        bool plain = isalnum((unsigned char)*from) && (unsigned char)*from < 128;
        if (plain && gap && dash) {
            name[n++] = dash;
        }
        if (plain) {
            name[n++] = *from;
        }
        gap = !plain;
    }
    name[n] = '\0';
}

/* Prefix and sizes; more than one criterion stands inside And (L08); "greater than" is strict. */
static void write_filter(struct jsonw *w, const struct tier_rule *r)
{
    int criteria = (r->prefix[0] != '\0') + (r->min_bytes > 0) + (r->max_bytes > 0);
    jsonw_key(w, "Filter");
    jsonw_object(w);
    if (criteria > 1) {
        jsonw_key(w, "And");
        jsonw_object(w);
    }
    if (r->prefix[0] != '\0' || criteria == 0) {
        jsonw_kstring(w, "Prefix", r->prefix);
    }
    if (r->min_bytes > 0) {
        jsonw_kint(w, "ObjectSizeGreaterThan", (int64_t)r->min_bytes - 1);
    }
    if (r->max_bytes > 0) {
        jsonw_kint(w, "ObjectSizeLessThan", (int64_t)r->max_bytes);
    }
    if (criteria > 1) {
        jsonw_end_object(w);
    }
    jsonw_end_object(w);
}

static size_t end_of_rule(const struct tier_plan *p, size_t i)
{
    size_t end = i;
    while (end < p->n_rules && same_rule(&p->rule[i], &p->rule[end])) {
        end++;
    }
    return end;
}

/* The transitions of one kind of objects among the rules [i, end); nothing if there are none. */
static void write_transitions(struct jsonw *w, const struct tier_plan *p, size_t i, size_t end,
                              bool noncurrent)
{
    bool any = false;
    for (; i < end; i++) {
        const struct tier_rule *r = &p->rule[i];
        if (r->noncurrent != noncurrent) {
            continue;
        }
        if (!any) {
            jsonw_key(w, noncurrent ? "NoncurrentVersionTransitions" : "Transitions");
            jsonw_array(w);
            any = true;
        }
        jsonw_object(w);
        jsonw_kint(w, noncurrent ? "NoncurrentDays" : "Days", r->days);
        jsonw_kstring(w, "StorageClass", storage_rule_find(r->to_tier)->class_name);
        jsonw_end_object(w);
    }
    if (any) {
        jsonw_end_array(w);
    }
}

int tier_write_s3_lifecycle(const struct tier_plan *p, struct buf *out, struct gt_error *err)
{
    if (p->product != PRODUCT_S3 || p->n_rules == 0) {
        return gt_fail(err, GT_EUNSUPPORTED, "s3-lifecycle",
                       p->product == PRODUCT_S3 ? "no rule saves anything: nothing to write"
                                                : "the data do not live in S3");
    }
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_key(&w, "Rules");
    jsonw_array(&w);
    int number = 0;
    for (size_t i = 0, end; i < p->n_rules; i = end) {
        char id[ID_MAX];
        end = end_of_rule(p, i);
        name_of(&p->rule[i], ++number, '-', id);
        jsonw_object(&w);
        jsonw_kstring(&w, "ID", id);
        jsonw_kstring(&w, "Status", "Enabled");
        write_filter(&w, &p->rule[i]);
        write_transitions(&w, p, i, end, false);
        write_transitions(&w, p, i, end, true);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

/* One rule for the whole file system, of days since the last access. What nobody reads comes back
 * at its first read; where the policy is priced with reads of what it moves, files stay there. */
int tier_write_efs_lifecycle(const struct tier_plan *p, struct buf *out, struct gt_error *err)
{
    if (p->product != PRODUCT_EFS || p->n_rules == 0) {
        return gt_fail(err, GT_EUNSUPPORTED, "efs-lifecycle",
                       p->product == PRODUCT_EFS
                           ? "no rule by last access saves anything: nothing to write"
                           : "the data do not live in EFS");
    }
    for (size_t i = 0; i < p->n_rules; i++) {
        bool ia = strcmp(p->rule[i].to_tier, "efs_ia") == 0;
        buf_addf(out, "%s{\"%s\":\"AFTER_%d_DAY%s\"}", i ? "," : "[",
                 ia ? "TransitionToIA" : "TransitionToArchive", p->rule[i].days,
                 p->rule[i].days == 1 ? "" : "S");
    }
    buf_adds(out, p->read_there ? "]\n"
                                : ",{\"TransitionToPrimaryStorageClass\":\"AFTER_1_ACCESS\"}]\n");
    return out->failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}

/* A list of one text. */
static void write_one(struct jsonw *w, const char *key, const char *text)
{
    jsonw_key(w, key);
    jsonw_array(w);
    jsonw_string(w, text);
    jsonw_end_array(w);
}

/* Classes that the rule may find its objects in: those lifecycle moves on to `to`. */
static void write_classes(struct jsonw *w, const struct storage_rule *to)
{
    const struct storage_rule *r;
    int index = (int)(to - storage_rule_at(to->product, 0));
    jsonw_key(w, "matchesStorageClass");
    jsonw_array(w);
    for (int i = 0; (r = storage_rule_at(to->product, i)) != NULL; i++) {
        if (r->down >> index & 1) {
            jsonw_string(w, r->class_name);
        }
    }
    jsonw_end_array(w);
}

static int write_gcs(const struct tier_plan *p, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_key(&w, "lifecycle");
    jsonw_object(&w);
    jsonw_key(&w, "rule");
    jsonw_array(&w);
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct tier_rule *r = &p->rule[i];
        const struct storage_rule *to = storage_rule_find(r->to_tier);
        jsonw_object(&w);
        jsonw_key(&w, "action");
        jsonw_object(&w);
        jsonw_kstring(&w, "type", "SetStorageClass");
        jsonw_kstring(&w, "storageClass", to->class_name);
        jsonw_end_object(&w);
        jsonw_key(&w, "condition");
        jsonw_object(&w);
        jsonw_kint(&w, r->noncurrent ? "daysSinceNoncurrentTime" : "age", r->days);
        jsonw_kbool(&w, "isLive", !r->noncurrent);
        write_classes(&w, to);
        if (r->prefix[0] != '\0') {
            write_one(&w, "matchesPrefix", r->prefix);
        }
        jsonw_end_object(&w);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

/* One move of a rule. "GreaterThan 30" acts on the 31st day; old versions count from their
 * creation. What was brought back from Archive keeps its date: a week of rest before it goes there
 * again (R-AZ-08). */
static void write_azure_move(struct jsonw *w, const struct tier_rule *r)
{
    const char *name = storage_rule_find(r->to_tier)->class_name;
    const char *key = strcmp(name, "cool") == 0   ? "tierToCool"
                      : strcmp(name, "cold") == 0 ? "tierToCold"
                                                  : "tierToArchive";
    jsonw_key(w, key);
    jsonw_object(w);
    jsonw_kint(w,
               r->noncurrent ? "daysAfterCreationGreaterThan" : "daysAfterModificationGreaterThan",
               r->days);
    if (strcmp(key, "tierToArchive") == 0) {
        jsonw_kint(w, "daysAfterLastTierChangeGreaterThan", 7);
    }
    jsonw_end_object(w);
}

static void write_azure_moves(struct jsonw *w, const struct tier_plan *p, size_t i, size_t end,
                              bool noncurrent)
{
    bool any = false;
    for (; i < end; i++) {
        if (p->rule[i].noncurrent == noncurrent) {
            if (!any) {
                jsonw_key(w, noncurrent ? "version" : "baseBlob");
                jsonw_object(w);
                any = true;
            }
            write_azure_move(w, &p->rule[i]);
        }
    }
    if (any) {
        jsonw_end_object(w);
    }
}

static int write_azure(const struct tier_plan *p, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_key(&w, "rules");
    jsonw_array(&w);
    int number = 0;
    for (size_t i = 0, end; i < p->n_rules; i = end) {
        const struct tier_rule *r = &p->rule[i];
        char name[ID_MAX];
        end = end_of_rule(p, i);
        name_of(r, ++number, '\0', name);
        jsonw_object(&w);
        jsonw_kbool(&w, "enabled", true);
        jsonw_kstring(&w, "name", name);
        jsonw_kstring(&w, "type", "Lifecycle");
        jsonw_key(&w, "definition");
        jsonw_object(&w);
        jsonw_key(&w, "filters");
        jsonw_object(&w);
        write_one(&w, "blobTypes", "blockBlob");
        if (r->prefix[0] != '\0') { /* container and path, as the inventory names blobs */
            write_one(&w, "prefixMatch", r->prefix);
        }
        jsonw_end_object(&w);
        jsonw_key(&w, "actions");
        jsonw_object(&w);
        write_azure_moves(&w, p, i, end, false);
        write_azure_moves(&w, p, i, end, true);
        for (int close = 0; close < 3; close++) {
            jsonw_end_object(&w);
        }
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

int tier_write_lifecycle(const struct tier_plan *p, struct buf *out, struct gt_error *err)
{
    enum lifecycle_kind kind = storage_terms(p->product)->lifecycle;
    if (kind == LIFECYCLE_S3 || kind == LIFECYCLE_EFS) {
        return kind == LIFECYCLE_S3 ? tier_write_s3_lifecycle(p, out, err)
                                    : tier_write_efs_lifecycle(p, out, err);
    }
    if (kind == LIFECYCLE_NONE) {
        return gt_fail(err, GT_EUNSUPPORTED, "lifecycle", "no lifecycle file is known for %s",
                       storage_terms(p->product)->title);
    }
    if (p->n_rules == 0) {
        return gt_fail(err, GT_EUNSUPPORTED,
                       kind == LIFECYCLE_GCS ? "gcs-lifecycle" : "azure-lifecycle",
                       "no rule saves anything: nothing to write");
    }
    return kind == LIFECYCLE_GCS ? write_gcs(p, out) : write_azure(p, out);
}

void tier_rule_text(const struct tier_rule *r, struct buf *out)
{
    enum lifecycle_kind kind = storage_terms(storage_rule_find(r->to_tier)->product)->lifecycle;
    const char *where = r->prefix[0]            ? r->prefix
                        : kind == LIFECYCLE_EFS ? "(whole file system)"
                                                : "(whole bucket)";
    const char *since = kind == LIFECYCLE_EFS                      ? "last access"
                        : r->noncurrent && kind != LIFECYCLE_AZURE ? "they were replaced"
                                                                   : "creation";
    char size[32];
    text_safe(out, where, strlen(where), false);
    buf_adds(out, r->noncurrent ? " old versions" : "");
    if (r->min_bytes > 1) {
        buf_addf(out, "%s from %s", r->noncurrent ? "" : " objects",
                 size_format(r->min_bytes, size));
    }
    if (r->max_bytes > 0) {
        buf_addf(out, "%s below %s", r->noncurrent || r->min_bytes > 1 ? "" : " objects",
                 size_format(r->max_bytes, size));
    }
    buf_addf(out, ": to %s %d days after %s", r->to_tier, r->days, since);
}
