/* Tier planning in the worker's thread (tiers_work.h): the same way from a file to an answer as the
 * command's. */
#include "tiers_work.h"
#include <stdlib.h>
#include <string.h>

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
    if (!r->row) {
        return gt_fail(&r->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t b = 0; b < r->in.n_batches; b++) {
        const struct tier_plan *p = r->answer.plan[b];
        for (size_t i = 0; p && i < p->n_paths; i++) {
            r->row[r->n++] =
                (struct tiers_row){&p->path[i], r->in.label[r->in.batch[b].first + i], b};
        }
    }
    qsort(r->row, r->n, sizeof *r->row, by_saving);
    return 0;
}

static void run(struct worker *w, void *ctx, void *job)
{
    const struct tiers_work_ctx *x = ctx;
    struct app own = *x->app; /* read only, but for what cancels */
    struct cli_args none = {0};
    struct tiers_result *r = calloc(1, sizeof *r);
    if (!r) {
        return;
    }
    _Static_assert(sizeof(sig_atomic_t) == sizeof(int), "one flag serves both");
    own.cancel = (const volatile sig_atomic_t *)worker_cancel(w);
    own.quiet = true;
    r->asked = *(struct tiers_job *)job;
    struct tier_options o = {.vendor = "aws",
                             .region = "us-east-1",
                             .horizon_months = r->asked.horizon_months,
                             .max_wait_s = r->asked.max_wait_s,
                             .from_tier = "s3_standard",
                             .max_rules = 10,
                             .search_policy = true,
                             .find_savings = true};
    r->code = tier_input_read(&own, &none, PRODUCT_S3, r->asked.path, &r->in, &r->err);
    r->answer.in = &r->in;
    r->answer.catalog = x->catalog;
    r->code = r->code ? r->code : tier_answer_make(&o, &r->answer, &r->err);
    r->code = r->code ? r->code : collect(r);
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
    free(r);
}

const struct worker_ops tiers_work = {
    .run = run, .free_job = free, .free_result = tiers_result_free};
