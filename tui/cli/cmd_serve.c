/* serve: how many nodes an inference service needs over time, what autoscaling costs and misses,
 * and what it could be (product.md section 2; planner/search/serve.c). */
#include "gputier/units.h"
#include "plan_ask.h"
#include "serve_view.h"
#include <stdlib.h>
#include <string.h>

#define DEMAND_BYTES (256UL << 20)
#define OUTPUT_BYTES (4UL << 20)
/* Share of the requests that may be missed when nothing else is said: "three nines". */
#define MAX_MISS 0.001

static const struct cli_option options[] = {
    {"top", 0, OPT_VALUE, "N", "machines shown (5)"},
    {"max-miss", 0, OPT_VALUE, "SHARE",
     "requests that the recommended policy may miss (0.001); given and not reachable: exit 3"},
    {"gpu", 0, OPT_LIST, "NAME", "GPUs that may be used, e.g. L4 (several times)"},
    {"vendor", 0, OPT_LIST, "NAME", "vendors that may be used (several times)"},
    {"region", 0, OPT_LIST, "VENDOR/REGION", "regions that may be used (several times)"},
    {"set", 0, OPT_LIST, "PATH=VALUE", "any key of a scenario, e.g. serving.warmup=120s"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static int read_options(const struct cli_args *args, struct serve_options *o, struct gt_error *err)
{
    const char *top = cli_value(args, "top"), *miss = cli_value(args, "max-miss");
    uint64_t n = 5;
    if (top && (count_parse(top, &n, NULL) || n < 1 || n > 1000)) {
        return gt_fail(err, GT_EUSAGE, "", "--top: found '%.40s', expected 1 to 1000", top);
    }
    o->top = (size_t)n;
    o->max_miss = MAX_MISS;
    if (miss && (number_parse(miss, &o->max_miss, NULL) || o->max_miss < 0 || o->max_miss > 1)) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--max-miss: found '%.40s', expected a share from 0 to 1", miss);
    }
    return 0;
}

/* A demand file stands beside the scenario that names it, unless its path is absolute. */
static int demand_path(const char *scenario, const char *file, char **out, struct gt_error *err)
{
    const char *slash = strrchr(scenario, '/');
    size_t dir = slash && file[0] != '/' ? (size_t)(slash - scenario) + 1 : 0, n = strlen(file);
    *out = malloc(dir + n + 1);
    if (!*out) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    memcpy(*out, scenario, dir);
    memcpy(*out + dir, file, n + 1);
    return 0;
}

static int demand(const struct scenario *s, const char *scenario_file, double **load, size_t *steps,
                  struct gt_error *err)
{
    if (s->demand_file[0] == '\0') {
        return serve_shape(s, load, steps, err);
    }
    char *path = NULL, *text = NULL;
    size_t len = 0;
    int rc = demand_path(scenario_file, s->demand_file, &path, err);
    rc = rc ? rc : app_read_file(path, DEMAND_BYTES, &text, &len, err);
    rc = rc ? rc : serve_demand(text, len, path, s->step_s, load, steps, err);
    free(text);
    free(path);
    return rc;
}

static int show(struct app *app, const struct serve_answer *a, const struct scenario *s,
                struct gt_error *err)
{
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    int rc = app->format == OUT_JSON  ? serve_json(a, s, &b)
             : app->format == OUT_CSV ? serve_csv(a, &b)
                                      : serve_text(app, a, s, &b);
    rc = rc ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int answer(struct app *app, const struct plan_ask *ask, const char *file,
                  const struct serve_options *o, bool asked_limit, struct gt_error *err)
{
    const struct catalog *catalog = NULL;
    struct serve_answer *a = NULL;
    double *load = NULL;
    size_t steps = 0;
    if (ask->scenario->kind != WORKLOAD_SERVING) {
        return gt_fail(err, GT_EUNSUPPORTED, file,
                       "workload.kind is training: `plan` plans it, `serve` is for serving");
    }
    int rc = demand(ask->scenario, file, &load, &steps, err);
    rc = rc ? rc : app_catalog(app, &catalog, err);
    rc = rc ? rc : serve_search(ask->scenario, catalog, load, steps, o, &a, err);
    rc = rc ? rc : show(app, a, ask->scenario, err);
    if (!rc && !a->best.met && asked_limit) {
        rc = gt_fail(
            err, GT_EINFEASIBLE, "",
            "no policy tried misses at most %g of the requests: allow more with --max-miss, "
            "or raise serving.min_nodes or max_nodes",
            o->max_miss);
    }
    serve_free(a);
    free(load);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct serve_options o = {.now = app->now, .currency = app->currency, .cancel = app->cancel};
    struct plan_ask ask;
    if (args->n_positional != 1) {
        return gt_fail(err, GT_EUSAGE, "", "expected one scenario file, found %zu",
                       args->n_positional);
    }
    int rc = read_options(args, &o, err);
    if (rc) {
        return rc;
    }
    rc = plan_ask(app, args->positional[0], args, &ask, err);
    rc = rc ? rc
            : answer(app, &ask, args->positional[0], &o, cli_value(args, "max-miss") != NULL, err);
    plan_ask_release(&ask);
    return rc;
}

const struct command command_serve = {
    .name = "serve",
    .usage = "SCENARIO.yaml",
    .summary = "inference capacity: autoscaling over a demand, its cost and what it misses",
    .options = options,
    .example = "serve data/examples/serving.yaml",
    .run = run,
};
