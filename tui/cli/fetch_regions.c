/* The regions that per-region sources are asked for (fetch_regions.h). */
#include "fetch_regions.h"
#include "config.h"
#include "gputier/offer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
#define CODE_MAX     100

static int refuse(const char *where, const char *text, size_t len, struct gt_error *err)
{
    return gt_fail(err, GT_EUSAGE, where,
                   "found '%.*s', expected VENDOR/CODE such as aws/us-east-1",
                   len < 60 ? (int)len : 60, text);
}

/* "vendor/code" or "code"; where says which setting it is of. */
static int region_add(struct fetch_regions *l, const char *where, const char *text, size_t len,
                      struct gt_error *err)
{
    const char *slash = memchr(text, '/', len), *vendor = "", *code = slash ? slash + 1 : text;
    size_t n = len - (size_t)(code - text);
    char name[160];
    if (n == 0 || n > CODE_MAX || strspn(code, CODE_LETTERS) < n) {
        return refuse(where, text, len, err);
    }
    if (slash) {
        size_t k = (size_t)(slash - text);
        if (k == 0 || k > 40) {
            return refuse(where, text, len, err);
        }
        snprintf(name, sizeof name, "%.*s", (int)k, text);
        vendor = vendor_canonical(name);
        if (!vendor) {
            return gt_fail(err, GT_EUSAGE, where,
                           "found '%.*s': no vendor is called %s; the nearest is %s", (int)len,
                           text, name, vendor_nearest(name));
        }
    }
    snprintf(name, sizeof name, "%s%s%.*s", vendor, slash ? "/" : "", (int)n, code);
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->name[i], name) == 0) {
            return 0;
        }
    }
    if (l->n == FETCH_REGIONS_MAX) {
        return gt_fail(err, GT_EUSAGE, where, "more than %d regions; use --all-regions",
                       FETCH_REGIONS_MAX);
    }
    l->name[l->n] = strdup(name);
    return l->name[l->n++] ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

void fetch_regions_release(struct fetch_regions *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->name[i]);
    }
}

struct plan_regions {
    struct app *app;
    struct fetch_regions *list;
};

/* Regions that a saved plan's scenario names. One that is no longer readable names none. */
static int from_plan(void *ctx, const char *name, int64_t when)
{
    struct plan_regions *p = ctx;
    struct gt_error ignored;
    struct scenario *sc = NULL;
    char *json = NULL, *text = NULL;
    (void)when;
    if (store_load_plan(p->app->store, name, &json, &text, &ignored) == 0 && text &&
        scenario_parse(text, strlen(text), name, NULL, 0, p->app->now, p->app->local_offset_s, &sc,
                       &ignored) == 0) {
        for (size_t i = 0; i < sc->n_regions; i++) {
            char region[160];
            int n = snprintf(region, sizeof region, "%s/%s", sc->regions[i].vendor,
                             sc->regions[i].region);
            /* more of them than can be asked for: the first ones are */
            (void)region_add(p->list, name, region, (size_t)n < sizeof region ? (size_t)n : 0,
                             &ignored);
        }
        scenario_free(sc);
    }
    free(json);
    free(text);
    return 0;
}

/* --region, else the config's and the saved scenarios' regions, else two well-known ones. */
int fetch_regions_choose(struct app *app, const struct cli_args *args, struct fetch_regions *l,
                         struct gt_error *err)
{
    const char *v;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (v = cli_list(args, "region", i)) != NULL; i++) {
        rc = region_add(l, "--region", v, strlen(v), err);
    }
    if (rc != 0 || l->n > 0 || cli_flag(args, "all-regions")) {
        return rc;
    }
    v = config_get(app, "regions", NULL, NULL);
    for (v = v ? v : ""; rc == 0 && *v; v += strcspn(v, " ,[]")) {
        v += strspn(v, " ,[]");
        if (*v) {
            rc = region_add(l, "configuration: regions", v, strcspn(v, " ,[]"), err);
        }
    }
    struct plan_regions p = {app, l};
    rc = rc ? rc : store_list_plans(app->store, from_plan, &p, err);
    if (rc == 0 && l->n == 0) {
        rc = region_add(l, "", "aws/us-east-1", 13, err);
        rc = rc ? rc : region_add(l, "", "azure/eastus", 12, err);
    }
    return rc;
}
