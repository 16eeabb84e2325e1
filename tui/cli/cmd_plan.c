/* plan: what to rent, where, how to pay, where the data lie (product.md section 2). */
#include "cli.h"
#include "gputier/planner.h"
#include "plan_ask.h"
#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES (64UL << 20)

static const struct cli_option options[] = {
    PLAN_ASK_OPTIONS,
    {"top", 0, OPT_VALUE, "N", "plans shown (10)"},
    {"seed", 0, OPT_VALUE, "N", "of the simulated interruptions (1)"},
    {"sensitivity", 0, OPT_FLAG, NULL,
     "also what the first plan hinges on: how far each input may move (seconds more)"},
    {"save", 0, OPT_MAYBE, "[NAME]", "saves the plans under this name (the scenario's name)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static int save(struct app *app, const char *name, const struct plan_set *set,
                const struct plan_ask *ask, struct gt_error *err)
{
    struct store *store = NULL;
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    int rc = plan_json_write(set, ask->scenario, &ask->origin, &b);
    if (rc != 0) {
        gt_fail(err, rc, "", "the plan document is too large");
    }
    rc = rc != 0 ? rc : app_store(app, &store, err);
    rc = rc != 0 ? rc
                 : store_save_plan(store, name[0] != '\0' ? name : ask->scenario->name, b.data,
                                   ask->origin.text, app->now, err);
    buf_release(&b);
    return rc;
}

static int show(struct app *app, const struct plan_set *set, const struct plan_ask *ask,
                struct gt_error *err)
{
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    int rc = app->format == OUT_JSON  ? plan_json_write(set, ask->scenario, &ask->origin, &b)
             : app->format == OUT_CSV ? plan_csv(set, &b)
                                      : plan_text(app, set, ask->scenario, &b);
    if (rc != 0) {
        gt_fail(err, rc, "", "the output is too large");
    }
    rc = rc != 0 ? rc : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct plan_ask ask;
    struct plan_set *set = NULL;
    if (args->n_positional > 1) {
        return gt_fail(err, GT_EUSAGE, "", "expected at most one scenario file, found %zu",
                       args->n_positional);
    }
    if (args->n_positional == 0 && args->n_given == 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "expected a scenario file, or flags such as --model resnet50 --epochs 90 "
                       "--samples 1281167");
    }
    int rc = plan_ask(app, args->n_positional > 0 ? args->positional[0] : NULL, args, &ask, err);
    if (rc == 0) {
        rc = plan_ask_search(app, &ask, args, &set, err);
    }
    if (set != NULL && (rc == 0 || rc == GT_EINFEASIBLE)) {
        struct gt_error other = {0};
        int done = 0; /* saved first: a full disk or a closed pipe must not lose the plans */
        if (rc == 0 && cli_value(args, "save") != NULL) {
            done = save(app, cli_value(args, "save"), set, &ask, &other);
        }
        done = done != 0 ? done : show(app, set, &ask, &other);
        if (done != 0) {
            rc = done;
            *err = other;
        }
    }
    if (rc == 0 && app->strict && set->plan[0].at_least) {
        rc = gt_fail(err, GT_EINFEASIBLE, "",
                     "the first plan's total is at least what is shown (--strict)");
    }
    plan_set_free(set);
    plan_ask_release(&ask);
    return rc;
}

const struct command command_plan = {
    .name = "plan",
    .usage = "[SCENARIO.yaml]",
    .summary = "ranked plans for a job: what to rent, where, how to pay, where data lie",
    .options = options,
    .example = "plan --gpu A100-80GB --gpus 4 --gpu-hours 340 --deadline 7d --budget 2000USD "
               "--checkpoint 30min,12GB --setup 25min",
    .run = run,
};
