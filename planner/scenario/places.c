/* Readers of constraints: places, GPUs, ways to pay, deadline, budget, tiers. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "keys.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const struct node *n)
{
    return n->kind == NODE_SCALAR && n->text[0] != '\0';
}

static int no_memory(const struct reader *r)
{
    return gt_fail(r->err, GT_ENOMEM, "", "out of memory");
}

READER(deadline)
{
    struct scenario *s = r->s;
    (void)field;
    double v = 0;
    int64_t when = 0;
    if (is_word(n) && duration_parse(n->text, false, &v, NULL) == 0) {
        if (v < 60 || v > 315360000) {
            return key_refuse(r, n, k, path);
        }
        s->deadline_s = v;
        return 0;
    }
    if (!is_word(n) || time_parse(n->text, r->local_offset_s, &when, NULL) != 0) {
        return key_refuse(r, n, k, path);
    }
    if (when <= r->now) {
        char where[160], a[32], b[32];
        return gt_fail(r->err, GT_EPARSE, tree_where(n, where),
                       "%s: %s has passed (now is %s), allowed: %s", path, time_format(when, a),
                       time_format(r->now, b), key_doc(k)->allowed);
    }
    s->deadline_at = when;
    s->deadline_s = (double)(when - r->now);
    return 0;
}

READER(budget)
{
    struct scenario *s = r->s;
    (void)field;
    if (!is_word(n)) {
        return key_refuse(r, n, k, path);
    }
    size_t digits = strspn(n->text, "0123456789.");
    const char *currency = n->text + digits + strspn(n->text + digits, " ");
    money m = 0;
    if (digits == 0 || digits > 24 || money_parse(n->text, digits, &m, NULL) != 0 || m <= 0) {
        return key_refuse(r, n, k, path);
    }
    size_t len = strlen(currency);
    if (len != 0 &&
        (len != 3 || !isupper((unsigned char)currency[0]) || !isupper((unsigned char)currency[1]) ||
         !isupper((unsigned char)currency[2]))) {
        return key_refuse(r, n, k, path);
    }
    s->budget = m;
    s->budget_currency = len == 0 ? "USD" : arena_strdup(r->arena, currency);
    return s->budget_currency == NULL ? no_memory(r) : 0;
}

/* Fails with the nearest known name. */
static int unknown_name(const struct reader *r, const struct node *n, const char *path,
                        const char *what, const char *nearest)
{
    char where[160];
    return gt_fail(r->err, GT_EPARSE, tree_where(n, where),
                   "%s: unknown %s \"%.60s\"; did you mean %s?", path, what, n->text, nearest);
}

static int read_vendor(struct reader *r, const struct node *n, const struct key_spec *k,
                       const char *path, const char **out)
{
    if (!is_word(n)) {
        return key_refuse(r, n, k, path);
    }
    *out = vendor_canonical(n->text);
    if (*out != NULL) {
        return 0;
    }
    return unknown_name(r, n, path, "vendor", vendor_nearest(n->text));
}

READER(vendor)
{
    return read_vendor(r, n, k, path, field);
}

/* A list of at least one scalar. */
static int list_of(const struct reader *r, const struct node *n, const struct key_spec *k,
                   const char *path, size_t max)
{
    if (n->kind != NODE_LIST || n->n == 0 || n->n > max) {
        return key_refuse(r, n, k, path);
    }
    for (const struct node_entry *e = n->first; e != NULL; e = e->next) {
        if (!is_word(e->value)) {
            return key_refuse(r, e->value, k, path);
        }
    }
    return 0;
}

READER(vendors)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = list_of(r, n, k, path, 64);
    if (rc != 0) {
        return rc;
    }
    const char **v = arena_array(r->arena, n->n, sizeof *v);
    if (v == NULL) {
        return no_memory(r);
    }
    size_t i = 0;
    for (const struct node_entry *e = n->first; e != NULL; e = e->next) {
        rc = read_vendor(r, e->value, k, path, &v[i++]);
        if (rc != 0) {
            return rc;
        }
    }
    s->vendors = v;
    s->n_vendors = i;
    return 0;
}

/* "aws/us-east-1" -> the two parts. */
static int read_place(struct reader *r, const struct node *n, const struct key_spec *k,
                      const char *path, const char **vendor, const char **region)
{
    const char *slash = is_word(n) ? strchr(n->text, '/') : NULL;
    if (slash == NULL || slash == n->text || slash[1] == '\0' || strlen(n->text) > 80) {
        return key_refuse(r, n, k, path);
    }
    for (const char *p = slash + 1; *p != '\0'; p++) {
        if (!isalnum((unsigned char)*p) && strchr("-_.", *p) == NULL) {
            return key_refuse(r, n, k, path);
        }
    }
    struct node v = *n;
    v.text = arena_strndup(r->arena, n->text, (size_t)(slash - n->text));
    *region = arena_strdup(r->arena, slash + 1);
    if (v.text == NULL || *region == NULL) {
        return no_memory(r);
    }
    return read_vendor(r, &v, k, path, vendor);
}

READER(regions)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = list_of(r, n, k, path, 512);
    if (rc != 0) {
        return rc;
    }
    struct scenario_region *v = arena_array(r->arena, n->n, sizeof *v);
    if (v == NULL) {
        return no_memory(r);
    }
    size_t i = 0;
    for (const struct node_entry *e = n->first; e != NULL; e = e->next, i++) {
        rc = read_place(r, e->value, k, path, &v[i].vendor, &v[i].region);
        if (rc != 0) {
            return rc;
        }
        bool allowed = s->n_vendors == 0;
        for (size_t j = 0; j < s->n_vendors; j++) {
            allowed = allowed || strcmp(s->vendors[j], v[i].vendor) == 0;
        }
        if (!allowed) {
            char where[160];
            return gt_fail(r->err, GT_EPARSE, tree_where(e->value, where),
                           "%s: %s stands in %s, which constraints.vendors leaves out", path,
                           v[i].region, v[i].vendor);
        }
    }
    s->regions = v;
    s->n_regions = i;
    return 0;
}

READER(lives_in)
{
    struct scenario_data *d = field;
    if (is_word(n) && strcmp(n->text, "anywhere") == 0) {
        return 0;
    }
    return read_place(r, n, k, path, &d->vendor, &d->region);
}

READER(gpu_models)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = list_of(r, n, k, path, 128);
    if (rc != 0) {
        return rc;
    }
    const char **v = arena_array(r->arena, n->n, sizeof *v);
    if (v == NULL) {
        return no_memory(r);
    }
    size_t i = 0;
    for (const struct node_entry *e = n->first; e != NULL; e = e->next) {
        if (strlen(e->value->text) > 80) {
            return key_refuse(r, e->value, k, path);
        }
        v[i++] = e->value->text;
    }
    s->gpu_models = v;
    s->n_gpu_models = i;
    return 0;
}

READER(gpu_count)
{
    struct scenario *s = r->s;
    (void)field;
    double lo = 0, hi = 0;
    if (!is_word(n) || range_parse(n->text, &lo, &hi, NULL) != 0 || lo != floor(lo) ||
        hi != floor(hi) || lo < k->lo || hi > k->hi || lo > hi) {
        return key_refuse(r, n, k, path);
    }
    s->gpus_min = (int)lo;
    s->gpus_max = (int)hi;
    return 0;
}

READER(purchase)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = list_of(r, n, k, path, PURCHASE_COUNT);
    if (rc != 0) {
        return rc;
    }
    s->purchase_mask = 0;
    for (const struct node_entry *e = n->first; e != NULL; e = e->next) {
        enum purchase p = PURCHASE_ON_DEMAND;
        if (purchase_from_name(e->value->text, &p) != 0) {
            return key_refuse(r, e->value, k, path);
        }
        s->purchase_mask |= 1u << p;
    }
    return 0;
}

READER(discount_purchase)
{
    if (!is_word(n) || purchase_from_name(n->text, (enum purchase *)field) != 0) {
        return key_refuse(r, n, k, path);
    }
    return 0;
}

READER(share)
{
    struct scenario *s = r->s;
    (void)field;
    double lo = 0, hi = 0;
    if (!is_word(n) || range_parse(n->text, &lo, &hi, NULL) != 0 || lo <= 0 || hi > k->hi ||
        lo > hi) {
        return key_refuse(r, n, k, path);
    }
    s->use_share_lo = lo;
    s->use_share_hi = hi;
    return 0;
}

READER(scores)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = list_of(r, n, k, path, 512);
    struct scenario_score *v = rc == 0 ? arena_array(r->arena, n->n, sizeof *v) : NULL;
    if (v == NULL) {
        return rc != 0 ? rc : no_memory(r);
    }
    size_t i = 0;
    for (const struct node_entry *e = n->first; e != NULL; e = e->next, i++) {
        struct node place = *e->value;
        const char *equals = strchr(place.text, '=');
        size_t digits = equals != NULL ? strspn(equals + 1, "0123456789") : 0;
        if (digits == 0 || digits > 2 || equals[1 + digits] != '\0' || atoi(equals + 1) < k->lo ||
            atoi(equals + 1) > k->hi) {
            return key_refuse(r, e->value, k, path);
        }
        place.text = arena_strndup(r->arena, place.text, (size_t)(equals - place.text));
        rc = place.text == NULL ? no_memory(r)
                                : read_place(r, &place, k, path, &v[i].vendor, &v[i].region);
        if (rc != 0) {
            return rc;
        }
        v[i].score = atoi(equals + 1);
    }
    s->scores = v;
    s->n_scores = i;
    return 0;
}

READER(hourly)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = list_of(r, n, k, path, 8784);
    if (rc != 0) {
        return rc;
    }
    int64_t *v = arena_array(r->arena, n->n, sizeof *v);
    if (v == NULL) {
        return no_memory(r);
    }
    size_t i = 0;
    for (const struct node_entry *e = n->first; e != NULL; e = e->next) {
        const char *t = e->value->text;
        if (strlen(t) == 0 || strlen(t) > 6 || strspn(t, "0123456789") != strlen(t) ||
            (double)atol(t) > k->hi) {
            return key_refuse(r, e->value, k, path);
        }
        v[i++] = atol(t);
    }
    s->use_hourly = v;
    s->n_use_hourly = i;
    return 0;
}

READER(spread)
{
    struct scenario *s = r->s;
    (void)field;
    int rc = n->kind == NODE_LIST && n->n == 0 ? 0 : list_of(r, n, k, path, 2);
    if (rc != 0) {
        return rc;
    }
    for (const struct node_entry *e = n->first; e != NULL; e = e->next) {
        if (strcmp(e->value->text, "instance_types") == 0) {
            s->spread_types = true;
        } else if (strcmp(e->value->text, "zones") == 0) {
            s->spread_zones = true;
        } else {
            return key_refuse(r, e->value, k, path);
        }
    }
    return 0;
}

/* Tier names of product.md section 7; one that ends in '*' stands for a family. */
static const char *const tiers[] = {"s3_standard",
                                    "s3_intelligent_tiering",
                                    "s3_standard_ia",
                                    "s3_onezone_ia",
                                    "s3_glacier_ir",
                                    "s3_glacier_flexible",
                                    "s3_deep_archive",
                                    "s3_express",
                                    "efs_standard",
                                    "efs_ia",
                                    "efs_archive",
                                    "ebs_gp2",
                                    "ebs_gp3",
                                    "ebs_io1",
                                    "ebs_io2",
                                    "ebs_st1",
                                    "ebs_sc1",
                                    "fsx_lustre_scratch",
                                    "fsx_lustre_persistent",
                                    "local_nvme",
                                    "azure_blob_hot*",
                                    "azure_blob_cool*",
                                    "azure_blob_cold*",
                                    "azure_blob_archive*",
                                    "azure_disk_premium",
                                    "azure_disk_standard_ssd",
                                    "azure_disk_standard_hdd",
                                    "azure_files_*",
                                    "gcs_standard",
                                    "gcs_nearline",
                                    "gcs_coldline",
                                    "gcs_archive",
                                    "gcs_autoclass",
                                    "gcp_pd_standard",
                                    "gcp_pd_balanced",
                                    "gcp_pd_ssd",
                                    "gcp_hyperdisk_*",
                                    "gcp_filestore_*",
                                    "r2_standard",
                                    "r2_ia",
                                    "b2",
                                    "wasabi",
                                    "oss_*",
                                    "cos_*",
                                    "obs_*"};

READER(tier)
{
    if (!is_word(n) || strlen(n->text) > 60) {
        return key_refuse(r, n, k, path);
    }
    const char *best = tiers[0];
    size_t best_d = SIZE_MAX;
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        size_t len = strlen(tiers[i]);
        bool family = tiers[i][len - 1] == '*';
        if (family ? strncmp(n->text, tiers[i], len - 1) == 0 : strcmp(n->text, tiers[i]) == 0) {
            *(const char **)field = n->text;
            return 0;
        }
        size_t d = text_distance(n->text, tiers[i]);
        if (d < best_d) {
            best_d = d;
            best = tiers[i];
        }
    }
    return unknown_name(r, n, path, "tier", best);
}
