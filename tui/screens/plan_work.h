/* Planning beside the interface: a job is a struct scenario, a result a struct plan_result. */
#ifndef GPUTIER_PLAN_WORK_H
#define GPUTIER_PLAN_WORK_H
#include "gputier/planner.h"
#include "worker.h"

struct plan_result {
    struct plan_set *set; /* may be NULL */
    int code;
    struct gt_error err;
};
struct plan_work_ctx { /* as long as the worker lives */
    const struct catalog *catalog;
    int64_t now;
    const char *currency;
    struct plan_memory *memory; /* the worker's; NULL at first, freed when it has stopped */
};
extern const struct worker_ops plan_work;
void plan_result_free(void *result);

#endif
