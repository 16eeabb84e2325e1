/* Planning beside the interface (plan_work.h). Figures of the shown plans are simulated: a small
 * number of runs answers at once, the number that the commands use follows. What does not depend on
 * the last change is kept from plan to plan. */
#include "plan_work.h"
#include <stdlib.h>

static const uint32_t stages[] = {100, 2000};
#define N_STAGES (sizeof stages / sizeof *stages)

static void run(struct worker *w, void *ctx, void *job)
{
    struct plan_work_ctx *x = ctx;
    bool wanted = true;
    if (!x->memory) {
        x->memory = plan_memory_new(); /* without it each plan starts from nothing */
    }
    for (size_t i = 0; i < N_STAGES && wanted; i++) {
        struct plan_options o = {.top = 20,
                                 .seed = 1,
                                 .runs = stages[i],
                                 .now = x->now,
                                 .currency = x->currency,
                                 .cancel = worker_cancel(w)};
        struct plan_result *r = calloc(1, sizeof *r);
        if (!r) {
            return;
        }
        r->code = plan_search_again(x->memory, job, x->catalog, &o, &r->set, &r->err);
        wanted = worker_deliver(w, r, i + 1 == N_STAGES);
    }
}

static void free_scenario(void *job)
{
    scenario_free(job);
}

void plan_result_free(void *result)
{
    struct plan_result *r = result;
    if (r) {
        plan_set_free(r->set);
    }
    free(r);
}

const struct worker_ops plan_work = {
    .run = run, .free_job = free_scenario, .free_result = plan_result_free};
