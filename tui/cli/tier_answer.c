/* Plans of all batches of an input, summed up: what `tier` and the storage screen show. */
#include "tier_view.h"
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX (1UL << 30)

/* One batch; a data set that cannot be planned is told apart, it does not stop the others. */
static int plan_batch(const struct tier_input *in, size_t b, const struct tier_options *base,
                      struct tier_answer *a, struct gt_error *err)
{
    const struct tier_batch *batch = &in->batch[b];
    struct tier_options o = *base;
    const struct storage_rule *r = storage_rule_find(in->group[batch->first].tier);
    const struct storage_terms *terms = r ? storage_terms(r->product) : NULL;
    if (terms && strncmp(o.vendor, terms->vendor, strlen(terms->vendor)) != 0) {
        o.vendor = terms->vendor; /* a data set of another vendor than asked for */
        o.region = terms->region;
    }
    o.vendor = batch->vendor ? batch->vendor : o.vendor;
    o.region = batch->region ? batch->region : o.region;
    if (batch->horizon > 0 && batch->horizon <= o.horizon_months) {
        o.horizon_months = batch->horizon;
        o.delete_at_end = true;
    }
    int rc = tier_optimise(&in->group[batch->first], batch->n, a->catalog, &o, &a->plan[b], err);
    if ((rc == GT_EUNSUPPORTED || rc == GT_ENOTFOUND) && in->n_batches > 1) {
        struct buf why;
        buf_init(&why, 4096);
        buf_addf(&why, "%s is left out: %s", in->label[batch->first],
                 err ? err->text : "no prices");
        a->why[b] = buf_take(&why, NULL);
        return 0;
    }
    return rc;
}

static int sum_up(struct tier_answer *a, struct gt_error *err)
{
    int rc = 0;
    for (size_t b = 0; b < a->in->n_batches && rc == 0; b++) {
        const struct tier_plan *p = a->plan[b];
        if (!p) {
            continue;
        }
        if (a->currency && strcmp(a->currency, p->currency) != 0) {
            return gt_fail(err, GT_EUNSUPPORTED, "", "data sets priced in %s and %s", a->currency,
                           p->currency);
        }
        enum lifecycle_kind file = storage_terms(p->product)->lifecycle;
        bool rules = file != LIFECYCLE_NONE;
        a->currency = p->currency;
        a->at_least = a->at_least || p->at_least;
        a->has_policy = a->has_policy || rules;
        rc = money_add(a->total, p->total, &a->total);
        rc = rc ? rc : money_add(a->baseline, p->baseline, &a->baseline);
        rc = rc ? rc : money_add(a->lower_bound, p->lower_bound, &a->lower_bound);
        rc = rc ? rc : money_add(a->policy_cost, rules ? p->policy_cost : 0, &a->policy_cost);
        rc = rc ? rc : money_add(a->policy_gap, rules ? p->policy_gap : 0, &a->policy_gap);
    }
    a->saving = a->baseline - a->total;
    if (rc == 0 && !a->currency) {
        return gt_fail(err, GT_EUNSUPPORTED, "", "nothing could be planned: %s",
                       a->why[0] ? a->why[0] : "no data");
    }
    return rc ? gt_fail(err, rc, "", "a sum passes the range of money") : 0;
}

int tier_answer_make(const struct tier_options *o, struct tier_answer *a, struct gt_error *err)
{
    int rc = 0;
    a->horizon = o->horizon_months;
    if (o->limits && a->in->n_batches > 1) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--budget, --capacity and --robust need data of one price list and horizon: "
                       "an inventory, a histogram, or a scenario with one data set");
    }
    a->plan = calloc(a->in->n_batches + 1, sizeof(struct tier_plan *));
    a->why = calloc(a->in->n_batches + 1, sizeof(char *));
    if (!a->plan || !a->why) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t b = 0; b < a->in->n_batches && rc == 0; b++) {
        rc = plan_batch(a->in, b, o, a, err);
    }
    rc = rc ? rc : sum_up(a, err);
    if (rc == 0 && o->over_time) {
        rc = tier_series_sum(a->plan, a->in->n_batches, a->horizon, a->in->arena, &a->series);
        rc = rc ? gt_fail(err, rc, "", "the bytes or the cost of a month cannot be summed") : 0;
    }
    return rc;
}

void tier_answer_release(struct tier_answer *a)
{
    for (size_t b = 0; b < a->in->n_batches; b++) {
        tier_plan_free(a->plan ? a->plan[b] : NULL);
        free(a->why ? a->why[b] : NULL);
    }
    free(a->plan);
    free(a->why);
    a->plan = NULL;
    a->why = NULL;
}

/* The rules of one product's batches in one document: a PUT replaces the whole configuration. The
 * product is that of the first batch with rules; file systems come last, as each has a document of
 * its own: here the first one's. */
static int lifecycle_text(const struct tier_answer *a, struct buf *out, struct gt_error *err)
{
    struct tier_plan all = {.product = PRODUCT_S3};
    const struct tier_plan *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < a->in->n_batches; i++) {
        const struct tier_plan *p = a->plan[i];
        bool better = p && p->n_rules > 0 && (!first || first->product == PRODUCT_EFS);
        first = better && (!first || p->product != PRODUCT_EFS) ? p : first;
        n += p ? p->n_rules : 0;
    }
    all.product = first ? first->product : a->plan[0] ? a->plan[0]->product : PRODUCT_S3;
    if (first && first->product == PRODUCT_EFS) {
        return tier_write_lifecycle(first, out, err);
    }
    struct tier_rule *rule = calloc(n + 1, sizeof *rule);
    if (!rule) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < a->in->n_batches; i++) {
        const struct tier_plan *p = a->plan[i];
        for (size_t k = 0; p && p->product == all.product && k < p->n_rules; k++) {
            rule[all.n_rules++] = p->rule[k];
        }
    }
    all.rule = rule;
    int rc = tier_write_lifecycle(&all, out, err);
    free(rule);
    return rc;
}

int tier_answer_lifecycle(const struct tier_answer *a, const char *path, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, DOCUMENT_MAX);
    int rc = lifecycle_text(a, &b, err);
    rc = rc ? rc : app_write_file(path, b.data, b.len, err);
    buf_release(&b);
    return rc;
}
