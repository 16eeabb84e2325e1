/* plans: saved plans, listed, shown, deleted. */
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "plan_ask.h"
#include "table.h"
#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES (64UL << 20)

static const struct cli_option options[] = {{NULL, 0, OPT_FLAG, NULL, NULL}};

struct listing {
    struct text_table table;
    struct jsonw json;
    bool as_json;
    size_t n;
};

static int list_row(void *ctx, const char *name, int64_t when)
{
    struct listing *l = ctx;
    char text[32];
    l->n++;
    if (l->as_json) {
        jsonw_object(&l->json);
        jsonw_kstring(&l->json, "name", name);
        jsonw_ktime(&l->json, "saved_at", when);
        jsonw_end_object(&l->json);
    } else {
        const char *cells[] = {name, time_format(when, text)};
        table_row(&l->table, cells);
    }
    return 0;
}

static int list(struct app *app, struct gt_error *err)
{
    static const char *const titles[] = {"name", "saved", NULL};
    struct store *store = NULL;
    struct listing l = {.as_json = app->format == OUT_JSON};
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    jsonw_init(&l.json, &b, true);
    if (l.as_json) {
        jsonw_object(&l.json);
        jsonw_kstring(&l.json, "schema", "gputier/plans/1");
        jsonw_key(&l.json, "plans");
        jsonw_array(&l.json);
    }
    table_init(&l.table, titles);
    int rc = app_store(app, &store, err);
    rc = rc != 0 ? rc : store_list_plans(store, list_row, &l, err);
    if (rc == 0 && l.as_json) {
        jsonw_end_array(&l.json);
        jsonw_end_object(&l.json);
        rc = jsonw_finish(&l.json);
    }
    struct buf text;
    buf_init(&text, OUTPUT_BYTES);
    int written = table_write(&l.table, &text, app->plain); /* releases the table in any case */
    if (rc == 0) {
        rc = l.as_json ? app_put(&b, err) : written != 0 ? written : app_put(&text, err);
    }
    buf_release(&b);
    buf_release(&text);
    return rc;
}

static int show(struct app *app, const char *name, struct gt_error *err)
{
    struct store *store = NULL;
    char *json = NULL, *scenario = NULL;
    struct plan_ref ref;
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    int rc;
    if (app->format == OUT_JSON) { /* the document as it was saved */
        rc = app_store(app, &store, err);
        rc = rc != 0 ? rc : store_load_plan(store, name, &json, &scenario, err);
        rc = rc != 0 ? rc : buf_adds(&b, json);
        rc = rc != 0 ? rc : app_put(&b, err);
        free(json);
        free(scenario);
    } else {
        rc = app_plan(app, name, &ref, err);
        if (rc == 0) {
            rc = app->format == OUT_CSV ? plan_csv(ref.set, &b)
                                        : plan_text(app, ref.set, ref.scenario, &b);
            rc = rc != 0 ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
            plan_ref_release(&ref);
        }
    }
    buf_release(&b);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const char *what = args->n_positional > 0 ? args->positional[0] : "list";
    const char *name = args->n_positional > 1 ? args->positional[1] : NULL;
    struct store *store = NULL;
    if (strcmp(what, "list") == 0 && args->n_positional < 2) {
        return list(app, err);
    }
    if (strcmp(what, "show") == 0 && args->n_positional < 3) {
        return show(app, name, err);
    }
    if (strcmp(what, "delete") == 0 && args->n_positional == 2) {
        int rc = app_store(app, &store, err);
        return rc != 0 ? rc : store_delete_plan(store, name, err);
    }
    return gt_fail(err, GT_EUSAGE, "",
                   "plans: found '%.40s', expected list, show [NAME] or delete NAME", what);
}

const struct command command_plans = {
    .name = "plans",
    .usage = "[list|show [NAME]|delete NAME]",
    .summary = "saved plans",
    .options = options,
    .example = "plans show vision-team",
    .run = run,
};
