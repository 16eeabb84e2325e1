/* From the command line to a plan set: scenario file, short flags, --set. Shared by the commands
 * that plan (plan, explain, report, export, compare). */
#ifndef GPUTIER_PLAN_ASK_H
#define GPUTIER_PLAN_ASK_H
#include "cli.h"
#include "plan_json.h"

/* A scenario with what it came from; plan_ask_release in every case. */
struct plan_ask {
    struct scenario *scenario;
    struct plan_origin origin;
    char *text;
    struct scenario_set *sets;
    char **owned;
    size_t n_owned;
};
/* file NULL = only flags. Understands the short flags of `plan` and --set in args. */
int plan_ask(struct app *app, const char *file, const struct cli_args *args, struct plan_ask *out,
             struct gt_error *err) GT_CHECK;
void plan_ask_release(struct plan_ask *a);
/* Plans it: top and seed from args (--top, --seed), NULL args = defaults. */
int plan_ask_search(struct app *app, const struct plan_ask *a, const struct cli_args *args,
                    struct plan_set **out, struct gt_error *err) GT_CHECK;
/* The table for people. */
int plan_text(const struct app *app, const struct plan_set *set, const struct scenario *s,
              struct buf *out) GT_CHECK;

/* One row for each ranked plan. */
/* The table of commitments, nothing when there is none. */
int plan_commitments(const struct app *app, const struct plan_set *set, struct buf *out) GT_CHECK;
int plan_csv(const struct plan_set *set, struct buf *out) GT_CHECK;

#define PLAN_ASK_OPTIONS                                                                           \
    {"gpu", 0, OPT_LIST, "NAME", "GPUs that may be used, e.g. A100-80GB (several times)"},         \
        {"gpus", 0, OPT_VALUE, "N|MIN-MAX", "GPUs of the whole plan"},                             \
        {"gpu-hours", 0, OPT_VALUE, "H", "the work, in GPU-hours of the first --gpu"},             \
        {"model", 0, OPT_VALUE, "NAME", "the model to train"},                                     \
        {"epochs", 0, OPT_VALUE, "N", "passes over the data"},                                     \
        {"samples", 0, OPT_VALUE, "N", "samples per epoch"},                                       \
        {"deadline", 0, OPT_VALUE, "D", "a duration from now or a time"},                          \
        {"budget", 0, OPT_VALUE, "AMOUNT", "most it may cost, e.g. 700USD"},                       \
        {"confidence", 0, OPT_VALUE, "P", "chance to finish by the deadline (0.95)"},              \
        {"checkpoint", 0, OPT_VALUE, "EVERY[,SIZE]", "e.g. 30min,12GB or auto"},                   \
        {"setup", 0, OPT_VALUE, "D", "paid at each launch, e.g. 25min"},                           \
        {"vendor", 0, OPT_LIST, "NAME", "vendors that may be used (several times)"},               \
        {"region", 0, OPT_LIST, "VENDOR/REGION", "regions that may be used (several times)"},      \
        {"purchase", 0, OPT_LIST, "OPTION", "on_demand, spot, … (several times)"},                 \
        {"data", 0, OPT_VALUE, "SIZE[,FILES][,VENDOR/REGION][,TIER]", "the training data"},        \
    {                                                                                              \
        "set", 0, OPT_LIST, "PATH=VALUE", "any key of a scenario, e.g. data.0.size=2TiB"           \
    }

#endif
