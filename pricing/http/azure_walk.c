/* Azure Retail Prices: for each region the machines with GPUs, then storage, then transfer, each
 * page by page along NextPageLink. (Pages of all regions at once would shift while they are read.)
 * Filters: values are case-sensitive in this version; an unknown value gives no rows and no error,
 * so a region without a storage row is a failure (docs/pricing-sources.md section 10, row 35). */
#include "../sources/azure_retail.h"
#include "gputier/text.h"
#include "http.h"
#include "url.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define PATH    "/api/retail/prices"
#define VERSION "2023-01-01-preview" /* with savings plans */

static const struct {
    const char *service, *more;
    bool everywhere; /* sold in each region */
} services[] = {
    {"Virtual Machines", " and contains(armSkuName,'Standard_N')", false},
    {"Storage", " and priceType eq 'Consumption'", true},
    {"Bandwidth", " and priceType eq 'Consumption'", false},
};
#define SERVICES (sizeof services / sizeof *services)

struct followed { /* a link that was followed */
    struct followed *next;
    const char *url;
    size_t service;
};
struct walk {
    const char *region;
    size_t service;
    bool first;
    struct followed *followed;
};

/* {"Error": {"Code", "Message"}}. Nothing of it passes by itself. */
static enum fetch_refusal refused(void *ctx, const char *body, size_t len, char message[256])
{
    (void)ctx;
    cJSON *doc = cJSON_ParseWithLength(body, len);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(doc, "Error");
    const char *code = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(error, "Code"));
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(error, "Message"));
    if (code || text) {
        snprintf(message, 256, "%.60s%s%.180s", code ? code : "", code && text ? ": " : "",
                 text ? text : "");
    }
    cJSON_Delete(doc);
    return REFUSAL_STANDS;
}

static int no_memory(struct gt_error *err)
{
    return gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int after(struct fetch_list *l, void *ctx, const char *body, size_t len,
                 struct gt_error *err);

static int ask(struct fetch_list *l, struct walk *w, const char *url, struct gt_error *err)
{
    struct fetch_request q = {.url = url, .region = w->region, .refusal = refused};
    return fetch_list_ask(l, &q, after, w, err);
}

/* The first page of the walk's service. */
static int ask_service(struct fetch_list *l, struct walk *w, struct gt_error *err)
{
    struct arena *a = fetch_arena(fetch_list_run(l));
    const char *base = fetch_base(fetch_list_run(l));
    size_t n = strlen(base), k = strlen(PATH);
    bool whole = n >= k && strcmp(base + n - k, PATH) == 0; /* as the vendor writes the address */
    char *filter = arena_printf(a, "serviceName eq '%s' and armRegionName eq '%s'%s",
                                services[w->service].service, w->region, services[w->service].more);
    char *escaped = filter ? url_escape(a, filter) : NULL;
    char *url =
        escaped
            ? arena_printf(a, "%s%s?api-version=" VERSION "&currencyCode=%%27USD%%27&$filter=%s",
                           base, whole ? "" : PATH, escaped)
            : NULL;
    w->first = true;
    return url ? ask(l, w, url, err) : no_memory(err);
}

/* Follows a link. *known: an earlier service of this region was led there too, so the server does
 * not look at the filters, and that page was read. */
static int follow(struct fetch_list *l, struct walk *w, const char *link, bool *known,
                  struct gt_error *err)
{
    struct arena *a = fetch_arena(fetch_list_run(l));
    char shown[128];
    if (!url_same_origin(link, fetch_base(fetch_list_run(l)))) {
        return gt_fail(err, GT_EHTTP, fetch_base(fetch_list_run(l)),
                       "the next page would be at %s, which is not this server",
                       url_redact(link, shown, sizeof shown));
    }
    for (const struct followed *f = w->followed; f && !*known; f = f->next) {
        *known = f->service != w->service && strcmp(f->url, link) == 0;
    }
    struct followed *f = arena_alloc(a, sizeof *f);
    if (!f || !(f->url = arena_strdup(a, link))) {
        return no_memory(err);
    }
    f->service = w->service;
    f->next = w->followed;
    w->followed = f;
    return *known ? 0 : ask(l, w, f->url, err);
}

static int no_rows(struct fetch_list *l, const struct walk *w, struct gt_error *err)
{
    const char *best = "none";
    size_t least = SIZE_MAX;
    for (size_t i = 0; azure_region_at(i); i++) {
        size_t d = text_distance(w->region, azure_region_at(i));
        if (d < least) {
            least = d;
            best = azure_region_at(i);
        }
    }
    bool exact = strcmp(best, w->region) == 0;
    return gt_fail(err, GT_ENOTFOUND, fetch_base(fetch_list_run(l)), "no row of %s in %s: %s%s",
                   services[w->service].service, w->region,
                   exact ? "the filter is no longer understood" : "no such region; nearest: ",
                   exact ? "" : best);
}

static int after(struct fetch_list *l, void *ctx, const char *body, size_t len,
                 struct gt_error *err)
{
    struct walk *w = ctx;
    const char *link = fetch_list_next(l);
    bool known = false;
    if (w->first && services[w->service].everywhere && !memmem(body, len, "\"meterId\"", 9)) {
        return no_rows(l, w, err);
    }
    w->first = false;
    int rc = *link ? follow(l, w, link, &known, err) : 0;
    if (rc != 0 || (*link && !known)) {
        return rc;
    }
    return ++w->service < SERVICES ? ask_service(l, w, err) : 0;
}

static int ask_region(struct fetch_run *run, const char *region, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    struct gt_error why = {0};
    if (azure_region_apart(region)) {
        gt_fail(&why, GT_EUSAGE, region,
                "is a region of Azure Government or of China, whose clouds are sold apart: their "
                "prices are not mixed with the public ones");
        fetch_part_failed(run, region, &why);
        return 0;
    }
    struct walk *w = arena_alloc(fetch_arena(run), sizeof *w);
    if (!w) {
        return no_memory(err);
    }
    w->region = region;
    int rc = fetch_list_begin(run, region, "azure", &l, err);
    return rc ? rc : ask_service(l, w, err);
}

int azure_retail_fetch(struct fetch_run *run, struct gt_error *err)
{
    const char *region;
    int rc = 0;
    for (size_t i = 0; rc == 0; i++) {
        region = fetch_all_regions(run) ? azure_region_at(i) : fetch_region(run, i);
        if (!region) {
            break;
        }
        rc = ask_region(run, region, err);
    }
    return rc;
}
