/* Nothing meets the constraints: which one binds, and the smallest step that would help. */
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The earliest finish at the asked confidence among what the constraints left let through. */
static double earliest(const struct search *q, const struct outcome *o)
{
    double best = (double)INFINITY;
    for (size_t i = 0; i < o->n_front; i++) {
        struct risk_result r;
        if (risk_runs(q, &o->front[i], &r) == 0) {
            best = fmin(best, r.confident_h);
        }
    }
    return best;
}

static void describe(const struct candidate *c, char *buf, size_t size)
{
    snprintf(buf, size, "%d x %.40s %s in %.12s/%.24s", c->n, c->machine->type,
             purchase_name(c->machine->purchase), c->machine->vendor, c->machine->region);
}

enum filter {
    FILTER_COUNT,
    FILTER_PURCHASE,
    FILTER_MODELS,
    FILTER_REGIONS,
    FILTER_VENDORS,
    FILTERS
};

static void without(struct scenario *s, enum filter f)
{
    switch (f) {
    case FILTER_PURCHASE:
        s->purchase_mask = UINT32_MAX;
        break;
    case FILTER_MODELS:
        s->n_gpu_models = 0;
        break;
    case FILTER_COUNT:
        s->gpus_min = 1;
        s->gpus_max = 4096;
        break;
    case FILTER_VENDORS:
        s->n_vendors = 0;
        s->n_regions = 0;
        break;
    default:
        s->n_regions = 0;
    }
}

/* What an offer has that the filter would have to allow. */
static const char *allows(const struct search *q, enum filter f, size_t row, char buf[160])
{
    const struct catalog_offers *o = &q->c->offers;
    switch (f) {
    case FILTER_PURCHASE:
        return purchase_name((enum purchase)o->purchase[row]);
    case FILTER_MODELS:
        return catalog_text(q->c, o->gpu[row]);
    case FILTER_COUNT:
        snprintf(buf, 160, "%g", ceil((double)o->gpu_num[row] / o->gpu_den[row]));
        return buf;
    case FILTER_VENDORS:
        return catalog_text(q->c, o->vendor[row]);
    default:
        snprintf(buf, 160, "%.60s/%.80s", catalog_text(q->c, o->vendor[row]),
                 catalog_text(q->c, o->region[row]));
        return buf;
    }
}

/* The filter that alone stands in the way, with what the cheapest offers would need; "" = none. */
static void binding_filter(struct search *q, char *out, size_t size)
{
    static const char *const name[FILTERS] = {"constraints.gpus.count", "purchase",
                                              "constraints.gpus.models", "constraints.regions",
                                              "constraints.vendors"};
    const struct catalog_offers *o = &q->c->offers;
    out[0] = '\0';
    for (enum filter f = 0; f < FILTERS && out[0] == '\0'; f++) {
        struct scenario s = *q->s;
        size_t best = SIZE_MAX;
        without(&s, f);
        for (size_t i = 0; i < o->n; i++) {
            if (o->price_state[i] == PRICE_KNOWN && o->usd_per_hour[i] > 0 &&
                search_row_passes(q, &s, i) &&
                (best == SIZE_MAX || o->usd_per_hour[i] < o->usd_per_hour[best])) {
                best = i;
            }
        }
        if (best != SIZE_MAX) {
            char buf[160];
            snprintf(out, size,
                     "%s binds: the other filters leave offers, none of them passes it; nearest: "
                     "%s (%.30s/%.60s %.60s)",
                     name[f], allows(q, f, best, buf), catalog_text(q->c, o->vendor[best]),
                     catalog_text(q->c, o->region[best]),
                     catalog_text(q->c, o->instance_type[best]));
        }
    }
}

/* Set-up does not shrink with the work: a little less than the share that fits. */
static int work_binds(struct search *q, double least_h)
{
    const struct scenario *s = q->s;
    double share = 0.99 * SEARCH_MAX_HOURS / least_h;
    const char *key = s->gpu_hours > 0 ? "gpu_hours.hours" : s->tokens > 0 ? "tokens" : "epochs";
    double amount = s->gpu_hours > 0 ? s->gpu_hours : s->tokens > 0 ? s->tokens : s->epochs;
    double unit = pow(10, floor(log10(amount * share)) - 2); /* three digits, not rounded up */
    return gt_fail(q->err, GT_EINFEASIBLE, "",
                   "no plan meets the constraints: the amount of work binds: the quickest plan "
                   "may take %.4g years, none of more than 10 is made; nearest: workload.%s "
                   "%.15g",
                   least_h / (SEARCH_MAX_HOURS / 10), key, floor(amount * share / unit) * unit);
}

static int nothing_at_all(struct search *q, const struct outcome *o)
{
    if (o->machines == 0) {
        char binds[500];
        binding_filter(q, binds, sizeof binds);
        return binds[0] != '\0'
                   ? gt_fail(q->err, GT_EINFEASIBLE, "", "no plan meets the constraints: %s", binds)
                   : gt_fail(q->err, GT_EINFEASIBLE, "",
                             "no plan meets the constraints: no offer matches vendors, regions, "
                             "gpus and "
                             "purchase; nearest: leave one of "
                             "them out");
    }
    if (o->least_long_h > 0) {
        return work_binds(q, o->least_long_h);
    }
    if (o->rejected_by[REJECT_CAP] > 0) {
        return gt_fail(q->err, GT_EINFEASIBLE, "",
                       "no plan meets the constraints: spot.max_price_factor binds: what could run "
                       "costs more now than %.4g x on demand; nearest: spot.max_price_factor %.3f",
                       q->s->spot_max_price_factor, ceil(o->least_factor * 1000) / 1000);
    }
    /* What ran into interruptions fitted: memory is not what stands in its way. */
    if (o->rejected_by[REJECT_RISK] > 0) {
        return gt_fail(q->err, GT_EINFEASIBLE, "",
                       "no plan meets the constraints: interruptions bind: every plan would lose "
                       "more than it does; nearest: "
                       "checkpoints (workload.checkpoint.every) or purchase on_demand");
    }
    if (o->memory_binds) {
        return gt_fail(q->err, GT_EINFEASIBLE, "",
                       "no plan meets the constraints: memory binds: the job fits on no GPU that "
                       "is allowed; nearest: a smaller "
                       "batch_per_gpu, activation_checkpointing: full, sharding: zero3, or GPUs "
                       "with more memory");
    }
    return gt_fail(q->err, GT_EINFEASIBLE, "",
                   "no plan meets the constraints: no offer of the allowed ones can run this job; "
                   "the rejected list says why");
}

int search_relax(struct search *q)
{
    bool budget = q->use_budget, deadline = q->use_deadline;
    struct outcome dearer = {0}, later = {0}, both = {0};
    char more[200] = "", longer[200] = "", who[120];
    const struct scenario *s = q->s;
    int rc = 0;
    if (budget) {
        q->use_budget = false;
        rc = search_pass(q, 1, &dearer);
        q->use_budget = true;
    }
    if (rc == 0 && deadline) {
        q->use_deadline = false;
        rc = search_pass(q, 1, &later);
    }
    if (rc == 0) {
        q->use_budget = q->use_deadline = false;
        rc = search_pass(q, 1, &both);
    }
    q->use_budget = budget;
    q->use_deadline = deadline;
    if (rc != 0) {
        return rc;
    }
    if (both.n_top == 0) {
        return nothing_at_all(q, &both);
    }
    if (dearer.n_top > 0) {
        describe(&dearer.top[0], who, sizeof who);
        snprintf(more, sizeof more, "budget %.2f USD (%s)",
                 ceil(dearer.top[0].cost_usd * 100) / 100, who);
    }
    if (later.n_top > 0) {
        snprintf(longer, sizeof longer, "deadline %.1f h at confidence %g",
                 ceil(earliest(q, &later) * 10) / 10, s->confidence);
    }
    if (more[0] == '\0' && longer[0] == '\0') {
        struct risk_result r; /* of the cheapest: the pair of figures must hold for one plan */
        describe(&both.top[0], who, sizeof who);
        rc = risk_runs(q, &both.top[0], &r);
        snprintf(more, sizeof more, "budget %.2f USD with deadline %.1f h (%s)",
                 ceil(both.top[0].cost_usd * 100) / 100,
                 rc == 0 ? ceil(r.confident_h * 10) / 10 : (double)INFINITY, who);
    }
    const char *binds = budget && !deadline                    ? "the budget binds"
                        : deadline && !budget                  ? "the deadline binds"
                        : dearer.n_top > 0 && later.n_top == 0 ? "the budget binds"
                        : later.n_top > 0 && dearer.n_top == 0
                            ? "the deadline binds"
                            : "budget and deadline bind together";
    return gt_fail(q->err, GT_EINFEASIBLE, "", "no plan meets the constraints: %s; nearest: %s%s%s",
                   binds, more, more[0] != '\0' && longer[0] != '\0' ? ", or " : "", longer);
}
