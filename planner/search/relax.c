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

static int nothing_at_all(struct search *q, const struct outcome *o)
{
    if (q->n_machines == 0) {
        return gt_fail(q->err, GT_EINFEASIBLE, "",
                       "no plan meets the constraints: no offer matches vendors, regions, gpus and "
                       "purchase; nearest: leave one of "
                       "them out");
    }
    bool memory = false;
    for (size_t i = 0; i < sizeof q->kinds / sizeof q->kinds[0]; i++) {
        for (const struct kind *k = q->kinds[i]; k != NULL; k = k->next) {
            memory = memory || k->memory_reason;
        }
    }
    if (memory) {
        return gt_fail(q->err, GT_EINFEASIBLE, "",
                       "no plan meets the constraints: memory binds: the job fits on no GPU that "
                       "is allowed; nearest: a smaller "
                       "batch_per_gpu, activation_checkpointing: full, sharding: zero3, or GPUs "
                       "with more memory");
    }
    if (o->rejected_by[REJECT_RISK] > 0) {
        return gt_fail(q->err, GT_EINFEASIBLE, "",
                       "no plan meets the constraints: interruptions bind: every plan would lose "
                       "more than it does; nearest: "
                       "checkpoints (workload.checkpoint.every) or purchase on_demand");
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
        describe(&both.top[0], who, sizeof who);
        snprintf(more, sizeof more, "budget %.2f USD with deadline %.1f h (%s)",
                 ceil(both.top[0].cost_usd * 100) / 100, ceil(earliest(q, &both) * 10) / 10, who);
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
