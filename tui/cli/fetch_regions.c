/* The regions that per-region sources are asked for (fetch_regions.h). */
#include "fetch_regions.h"
#include "config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void region_add(struct fetch_regions *l, const char *vendor, const char *code, size_t len)
{
    char text[160];
    snprintf(text, sizeof text, "%s%s%.*s", vendor, *vendor ? "/" : "", (int)len, code);
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->name[i], text) == 0) {
            return;
        }
    }
    if (l->n < FETCH_REGIONS_MAX && (l->name[l->n] = strdup(text)) != NULL) {
        l->n++;
    }
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
            region_add(p->list, sc->regions[i].vendor, sc->regions[i].region,
                       strlen(sc->regions[i].region));
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
    for (size_t i = 0; (v = cli_list(args, "region", i)) != NULL; i++) {
        if (i >= FETCH_REGIONS_MAX) {
            return gt_fail(err, GT_EUSAGE, "--region", "more than %d regions; use --all-regions",
                           FETCH_REGIONS_MAX);
        }
        if (!*v || v[strcspn(v, " \t,?#%")] || strlen(v) > 100) {
            return gt_fail(err, GT_EUSAGE, "--region",
                           "found '%.60s', expected VENDOR/CODE such as aws/us-east-1", v);
        }
        region_add(l, "", v, strlen(v));
    }
    if (l->n > 0 || cli_flag(args, "all-regions")) {
        return 0;
    }
    v = config_get(app, "regions", NULL, NULL);
    for (v = v ? v : ""; *v; v += strcspn(v, " ,[]")) {
        v += strspn(v, " ,[]");
        if (*v) {
            region_add(l, "", v, strcspn(v, " ,[]"));
        }
    }
    struct plan_regions p = {app, l};
    int rc = store_list_plans(app->store, from_plan, &p, err);
    if (rc == 0 && l->n == 0) {
        region_add(l, "aws", "us-east-1", 9);
        region_add(l, "azure", "eastus", 6);
    }
    return rc;
}
