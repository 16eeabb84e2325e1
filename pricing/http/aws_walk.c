/* The way to AWS's price files (docs/pricing-sources.md section 1.1): offer index -> region index
 * of each offer, or of the savings plans -> that region's file. Indexes are small and read with
 * cJSON; the files are CSV (one line has product and term), JSON where a mirror has no CSV. China
 * is a partition with its own host and index. */
#include "gputier/text.h"
#include "http.h"
#include "url.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define GLOBAL_INDEX  "/offers/v1.0/aws/index.json"
#define CHINA_INDEX   "/offers/v1.0/cn/index.json"
#define CHINA_BASE    "https://pricing.cn-north-1.amazonaws.com.cn"
#define SAVINGS_INDEX "/savingsPlan/v1.0/aws/" SAVINGS_PLAN "/current/region_index.json"

/* The list of both kinds of savings plan that machines can have. */
#define SAVINGS_PLAN "AWSComputeSavingsPlan"

/* Offers that hold what gputier compares. Only EC2 has to be there. */
static const char *const offers[] = {
    "AmazonEC2", "AmazonS3",        "AmazonEFS", "AmazonGlacier", "AmazonS3GlacierDeepArchive",
    "AmazonFSx", "AWSDataTransfer",
};
/* Listed as regions, but their files are of no use or not there [ec2instances.info]. */
static const char *const skipped_regions[] = {"cn-north-1-pkx-1", "aws-cn-other"};

struct walk { /* one partition's walk; context of its documents */
    const char *base;
    bool china, savings;
};
struct offer_walk {
    const struct walk *walk;
    const char *code;
};

static bool is_china(const char *region)
{
    return strncmp(region, "cn-", 3) == 0;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

static int parse_index(struct fetch_run *run, const char *what, const char *body, size_t len,
                       cJSON **out, struct gt_error *err)
{
    const char *end = NULL;
    *out = cJSON_ParseWithLengthOpts(body, len, &end, 0);
    if (!cJSON_IsObject(*out)) {
        size_t at = end && end >= body && end <= body + len ? (size_t)(end - body) : 0;
        cJSON_Delete(*out);
        *out = NULL;
        return gt_fail(err, GT_EPARSE, fetch_source(run)->id,
                       "the %s is no JSON object (fault near byte %zu of %zu)", what, at, len);
    }
    return 0;
}

static void scope_name(char *buf, size_t size, const char *region, const char *code)
{
    snprintf(buf, size, "%s/%s", region, code);
}

/* Marks every part that was to come from a document that could not be had or read. */
static void parts_failed(struct fetch_run *run, const struct walk *w, const char *code,
                         const struct gt_error *why)
{
    char scope[128];
    const char *r;
    for (size_t i = 0; (r = fetch_region(run, i)) != NULL; i++) {
        if (is_china(r) == w->china) {
            scope_name(scope, sizeof scope, r, code);
            fetch_part_failed(run, scope, why);
        }
    }
}

/* An address of an index: below the partition's base when it is a path. */
static int resolve(struct fetch_run *run, const char *base, const char *ref, char **out,
                   struct gt_error *err)
{
    return url_join(fetch_arena(run), base, ref, out, err);
}

/* ".json" at the end -> ".csv"; NULL when there is none. */
static char *csv_address(struct arena *a, const char *url)
{
    size_t n = strlen(url);
    return n > 5 && strcmp(url + n - 5, ".json") == 0
               ? arena_printf(a, "%.*s.csv", (int)(n - 5), url)
               : NULL;
}

static int plan_file(struct fetch_run *run, const struct offer_walk *o, const char *region,
                     const char *ref, struct gt_error *err)
{
    char scope[128], *json = NULL;
    int rc = resolve(run, o->walk->base, ref, &json, err);
    if (rc != 0) {
        return rc;
    }
    /* the columns' names of FSx's CSV are not known for sure, and its JSON is small */
    char *csv = strcmp(o->code, "AmazonFSx") != 0 ? csv_address(fetch_arena(run), json) : NULL;
    scope_name(scope, sizeof scope, region, o->code);
    struct fetch_request q = {
        .url = csv ? csv : json,
        .alternative = csv ? json : NULL,
        .scope = scope,
        .region = region,
        .listed = true,
    };
    return fetch_rows(run, &q, err);
}

/* The address of one region's file. The offers' index has `regions` as an object keyed by code
 * with currentVersionUrl, the savings plans' as an array with versionUrl: both are accepted. */
static const char *region_ref(const cJSON *entry)
{
    const char *ref = text_of(entry, "currentVersionUrl");
    return ref ? ref : text_of(entry, "versionUrl");
}

static const char *region_code(const cJSON *entry)
{
    const char *code = text_of(entry, "regionCode");
    return code ? code : entry->string;
}

static const cJSON *find_region(const cJSON *regions, const char *code)
{
    for (const cJSON *e = regions->child; e; e = e->next) {
        const char *c = region_code(e);
        if (c && strcmp(c, code) == 0) {
            return e;
        }
    }
    return NULL;
}

static const char *nearest_region(const cJSON *regions, const char *code)
{
    const char *best = "none";
    size_t least = SIZE_MAX;
    for (const cJSON *e = regions->child; e; e = e->next) {
        const char *c = region_code(e);
        size_t d = c ? text_distance(code, c) : SIZE_MAX;
        if (d < least) {
            least = d;
            best = c;
        }
    }
    return best;
}

static bool is_skipped(const char *code)
{
    for (size_t i = 0; i < sizeof skipped_regions / sizeof *skipped_regions; i++) {
        if (strcmp(code, skipped_regions[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Plans one region's file, or marks the part as failed; only running out of memory is an error. */
static int plan_region(struct fetch_run *run, const struct offer_walk *o, const char *code,
                       const cJSON *entry)
{
    struct gt_error why = {0};
    char scope[128];
    const char *ref = region_ref(entry);
    int rc = ref ? plan_file(run, o, code, ref, &why)
                 : gt_fail(&why, GT_EPARSE, o->code, "the region index gives no address for %.60s",
                           code);
    if (rc != 0) {
        scope_name(scope, sizeof scope, code, o->code);
        fetch_part_failed(run, scope, &why);
    }
    return rc == GT_ENOMEM ? rc : 0;
}

static int plan_all_regions(struct fetch_run *run, const struct offer_walk *o, const cJSON *regions)
{
    int rc = 0;
    for (const cJSON *e = regions->child; e && rc == 0; e = e->next) {
        const char *code = region_code(e);
        if (code && *code && !is_skipped(code)) {
            rc = plan_region(run, o, code, e);
        }
    }
    return rc;
}

static int plan_regions(struct fetch_run *run, const struct offer_walk *o, const cJSON *regions)
{
    const char *code;
    char scope[128], text[200];
    int rc = 0;
    if (fetch_all_regions(run)) {
        return plan_all_regions(run, o, regions);
    }
    for (size_t i = 0; rc == 0 && (code = fetch_region(run, i)) != NULL; i++) {
        if (is_china(code) != o->walk->china) {
            continue;
        }
        const cJSON *e = find_region(regions, code);
        if (e) {
            rc = plan_region(run, o, code, e);
        } else if (o->walk->savings || strcmp(o->code, offers[0]) == 0) {
            struct gt_error why = {0};
            gt_fail(&why, GT_ENOTFOUND, code, "%s has no such region; nearest: %.60s", o->code,
                    nearest_region(regions, code));
            scope_name(scope, sizeof scope, code, o->code);
            fetch_part_failed(run, scope, &why);
        } else { /* a Local Zone has no S3 of its own: absence is information, no fault */
            snprintf(text, sizeof text, "%.60s is not offered in %.60s", o->code, code);
            fetch_log(run, LOG_INFO, text);
        }
    }
    return rc;
}

static int on_region_index(struct fetch_run *run, void *ctx, const char *body, size_t len,
                           struct gt_error *err)
{
    const struct offer_walk *o = ctx;
    cJSON *doc = NULL;
    if (!body) {
        parts_failed(run, o->walk, o->code, err);
        return 0;
    }
    int rc = parse_index(run, "region index", body, len, &doc, err);
    const cJSON *regions = cJSON_GetObjectItemCaseSensitive(doc, "regions");
    if (rc == 0 && !cJSON_IsObject(regions) && !cJSON_IsArray(regions)) {
        rc = gt_fail(err, GT_EPARSE, o->code, "the region index has no \"regions\"");
    }
    if (rc == 0) {
        rc = plan_regions(run, o, regions);
    }
    cJSON_Delete(doc);
    return rc;
}

static int plan_offer(struct fetch_run *run, const struct walk *w, const char *code,
                      const char *ref, struct gt_error *err)
{
    char *url = NULL;
    struct offer_walk *o = arena_alloc(fetch_arena(run), sizeof *o);
    if (!o) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    o->walk = w;
    o->code = code;
    int rc = resolve(run, w->base, ref, &url, err);
    struct fetch_request q = {.url = url, .scope = code, .listed = true};
    return rc ? rc : fetch_document(run, &q, on_region_index, o, err);
}

static int no_index(const struct fetch_run *run, const char *code, struct gt_error *err)
{
    return gt_fail(err, GT_EPARSE, fetch_source(run)->id,
                   "the offer index names no region index for %s", code);
}

static int plan_offers(struct fetch_run *run, const struct walk *w, const cJSON *list,
                       struct gt_error *err)
{
    char text[200];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof offers / sizeof *offers; i++) {
        const cJSON *o = cJSON_GetObjectItemCaseSensitive(list, offers[i]);
        const char *ref = text_of(o, "currentRegionIndexUrl");
        if (ref) {
            rc = plan_offer(run, w, offers[i], ref, err);
        } else if (i == 0) {
            rc = no_index(run, offers[i], err);
        } else {
            snprintf(text, sizeof text, "the offer index has no %s", offers[i]);
            fetch_log(run, LOG_INFO, text);
        }
    }
    return rc;
}

static int on_offer_index(struct fetch_run *run, void *ctx, const char *body, size_t len,
                          struct gt_error *err)
{
    const struct walk *w = ctx;
    cJSON *doc = NULL;
    if (!body) {
        parts_failed(run, w, w->savings ? SAVINGS_PLAN : offers[0], err);
        return 0;
    }
    int rc = parse_index(run, "offer index", body, len, &doc, err);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(doc, "offers");
    if (rc == 0 && w->savings) {
        const cJSON *o = cJSON_GetObjectItemCaseSensitive(list, offers[0]);
        const char *ref = text_of(o, "currentSavingsPlanIndexUrl");
        rc = ref ? plan_offer(run, w, SAVINGS_PLAN, ref, err) : no_index(run, SAVINGS_PLAN, err);
    } else if (rc == 0) {
        rc = plan_offers(run, w, list, err);
    }
    cJSON_Delete(doc);
    return rc;
}

static int plan_partition(struct fetch_run *run, const char *base, bool china, bool savings,
                          struct gt_error *err)
{
    struct walk *w = arena_alloc(fetch_arena(run), sizeof *w);
    char *url = NULL;
    if (!w) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *w = (struct walk){base, china, savings};
    if (savings && !china) { /* the address is known without the index */
        return plan_offer(run, w, SAVINGS_PLAN, SAVINGS_INDEX, err);
    }
    int rc = resolve(run, base, china ? CHINA_INDEX : GLOBAL_INDEX, &url, err);
    struct fetch_request q = {.url = url, .scope = china ? "cn" : ""};
    return rc ? rc : fetch_document(run, &q, on_offer_index, w, err);
}

/* Which partitions the regions belong to. */
static void partitions(struct fetch_run *run, bool *global, bool *china)
{
    const char *r;
    *global = *china = fetch_all_regions(run);
    for (size_t i = 0; (r = fetch_region(run, i)) != NULL; i++) {
        *china = *china || is_china(r);
        *global = *global || !is_china(r);
    }
}

static int walk_partitions(struct fetch_run *run, bool savings, struct gt_error *err)
{
    bool global, china;
    const struct source_def *def = fetch_source(run);
    partitions(run, &global, &china);
    /* A mirror has both partitions below one base. */
    bool own = def->default_url && strcmp(fetch_base(run), def->default_url) == 0;
    int rc = global ? plan_partition(run, fetch_base(run), false, savings, err) : 0;
    if (rc == 0 && china) {
        rc = plan_partition(run, own ? CHINA_BASE : fetch_base(run), true, savings, err);
    }
    return rc;
}

int aws_offer_fetch(struct fetch_run *run, struct gt_error *err)
{
    return walk_partitions(run, false, err);
}

int aws_savings_plan_fetch(struct fetch_run *run, struct gt_error *err)
{
    return walk_partitions(run, true, err);
}
