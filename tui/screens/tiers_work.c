/* Tier planning in the worker's thread (tiers_work.h): the same way from a file to an answer as the
 * command's. */
#include "tiers_work.h"
#include "../cli/inventory_args.h"
#include "../cli/options.h"
#include "../cli/tier_args.h"
#include "../cli/tier_letters.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIERS_WORDS 64

static int by_saving(const void *a, const void *b)
{
    const struct tiers_row *x = a, *y = b;
    money p = x->path->saving, q = y->path->saving;
    if (p != q) {
        return p < q ? 1 : -1;
    }
    p = x->path->baseline_cost;
    q = y->path->baseline_cost;
    return p != q ? (p < q ? 1 : -1) : strcmp(x->label, y->label);
}

static int collect(struct tiers_result *r)
{
    r->row = calloc(r->in.n + 1, sizeof *r->row);
    r->letter = calloc(r->answer.series.n_tiers + 1, 1);
    if (!r->row || !r->letter) {
        return gt_fail(&r->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t b = 0; b < r->in.n_batches; b++) {
        const struct tier_plan *p = r->answer.plan[b];
        for (size_t i = 0; p && i < p->n_paths; i++) {
            r->row[r->n++] =
                (struct tiers_row){&p->path[i], r->in.label[r->in.batch[b].first + i], b};
        }
    }
    tier_series_letters(&r->answer.series, r->letter);
    qsort(r->row, r->n, sizeof *r->row, by_saving);
    return 0;
}

static const struct cli_option options[] = {
    TIER_CLI_OPTIONS, INVENTORY_CLI_OPTIONS, {NULL, 0, OPT_FLAG, NULL, NULL}};

/* The words of the job's options and what was asked for by keys, which comes later and so wins.
 * `text` takes the words. */
static int parse(const struct tiers_job *job, char *text, struct cli_args *args,
                 struct gt_error *err)
{
    char *argv[TIERS_WORDS], *rest = NULL;
    int n = 0;
    memcpy(text, job->options, sizeof job->options);
    for (char *p = strtok_r(text, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
        if (n + 4 >= TIERS_WORDS) {
            return gt_fail(err, GT_EUSAGE, "", "more words than options have");
        }
        argv[n++] = p;
    }
    const char *const more[] = {"--horizon", job->horizon, "--max-wait", job->wait};
    for (int i = 0; i < 4; i += 2) {
        if (more[i + 1][0]) {
            argv[n++] = (char *)(uintptr_t)more[i];
            argv[n++] = (char *)(uintptr_t)more[i + 1];
        }
    }
    int rc = options_parse(options, n, argv, 0, args, err);
    for (size_t i = 0; i < args->n_given && rc == 0; i++) {
        const struct cli_option *o = options;
        while (o->name && strcmp(o->name, args->given[i].name) != 0) {
            o++;
        }
        if (!o->name) {
            rc = gt_fail(err, GT_EUSAGE, "", "--%s is none of tier's options", args->given[i].name);
        }
    }
    if (rc == 0 && args->n_positional > 0) {
        rc = gt_fail(err, GT_EUSAGE, "", "found '%.60s', expected an option such as --from gcs",
                     args->positional[0]);
    }
    return rc;
}

/* A product that has all classes which the input names, should one be none of `asked`. */
static enum storage_product product_of(const struct tier_input *in, enum storage_product asked)
{
    for (int p = (int)asked; p < PRODUCT_COUNT; p++) {
        size_t i = 0;
        while (i < in->n && (!in->group[i].tier[0] ||
                             storage_rule_in((enum storage_product)p, in->group[i].tier) ||
                             (p != PRODUCT_S3 && strcmp(in->group[i].tier, "s3_standard") == 0))) {
            i++;
        }
        if (i == in->n) {
            return (enum storage_product)p;
        }
    }
    return asked;
}

/* Whose tiers: as the options say, else as the classes of the input do. A scenario's data sets name
 * their own. */
static int read_input(struct app *app, const struct cli_args *args, struct tiers_result *r,
                      struct tier_request *ask)
{
    int rc = tier_request_read(app, args, ask, &r->err);
    rc = rc ? rc : tier_input_read(app, args, ask->product, r->asked.path, &r->in, &r->err);
    bool told = cli_value(args, "from") || cli_value(args, "vendor") || cli_value(args, "region");
    if (rc || told || r->in.n_batches != 1 || r->in.batch[0].vendor) {
        return rc;
    }
    enum storage_product p = product_of(&r->in, ask->product);
    if (p == ask->product) {
        return 0;
    }
    const struct storage_terms *t = storage_terms(p);
    struct cli_given from[TIERS_WORDS / 2 + 1];
    struct cli_args more = {.given = from, .n_given = args->n_given + 1};
    for (size_t i = 0; i < args->n_given; i++) {
        from[i] = args->given[i];
    }
    from[args->n_given] = (struct cli_given){"from", t->name};
    tier_request_release(ask);
    tier_input_release(&r->in);
    rc = tier_request_read(app, &more, ask, &r->err);
    return rc ? rc : tier_input_read(app, &more, p, r->asked.path, &r->in, &r->err);
}

static void run(struct worker *w, void *ctx, void *job)
{
    const struct tiers_work_ctx *x = ctx;
    struct app own = *x->app; /* read only, but for what cancels */
    struct cli_args args = {0};
    struct tier_request ask = {0};
    char words[sizeof((struct tiers_job *)0)->options];
    struct tiers_result *r = calloc(1, sizeof *r);
    if (!r) {
        return;
    }
    _Static_assert(sizeof(sig_atomic_t) == sizeof(int), "one flag serves both");
    own.cancel = (const volatile sig_atomic_t *)worker_cancel(w);
    own.quiet = true;
    r->asked = *(struct tiers_job *)job;
    r->code = parse(&r->asked, words, &args, &r->err);
    r->code = r->code ? r->code : read_input(&own, &args, r, &ask);
    r->answer.in = &r->in;
    r->answer.catalog = x->catalog;
    ask.o.over_time = true;
    r->code = r->code ? r->code : tier_answer_make(&ask.o, &r->answer, &r->err);
    r->code = r->code ? r->code : collect(r);
    if (r->code == 0 && r->in.n_batches == 1 && !r->in.batch[0].vendor) {
        snprintf(r->place, sizeof r->place, ", %s in %s/%s", storage_terms(ask.product)->name,
                 ask.o.vendor, ask.o.region);
    }
    tier_request_release(&ask);
    options_release(&args);
    worker_deliver(w, r, true);
}

void tiers_result_free(void *result)
{
    struct tiers_result *r = result;
    if (!r) {
        return;
    }
    tier_answer_release(&r->answer);
    if (r->in.arena) {
        tier_input_release(&r->in);
    }
    free(r->row);
    free(r->letter);
    free(r);
}

const struct worker_ops tiers_work = {
    .run = run, .free_job = free, .free_result = tiers_result_free};
