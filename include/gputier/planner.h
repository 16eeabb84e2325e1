/* The planner's entry: scenario + catalog -> plan set. Pure: no file, clock, environment. */
#ifndef GPUTIER_PLANNER_H
#define GPUTIER_PLANNER_H
#include "gputier/catalog.h"
#include "gputier/plan.h"
#include "gputier/scenario.h"

struct plan_options {
    size_t top; /* plans wanted; 10 */
    uint64_t seed;
    uint32_t runs; /* Monte Carlo trajectories per shown plan */
    int64_t now;
    const char *currency;       /* "" = USD */
    bool sensitivity;           /* also plan_set.hinge: some 100 searches more */
    const volatile int *cancel; /* non-zero ends the search with GT_ECANCELLED; may be NULL */
};
/* 0 with at least one plan; GT_EINFEASIBLE with *out filled too (rejected reasons; err names the
 * binding constraint and the nearest relaxation). plan_set_free in both cases. */
int plan_search(const struct scenario *s, const struct catalog *c, const struct plan_options *o,
                struct plan_set **out, struct gt_error *err) GT_CHECK;
/* What one plan leaves for the next over the same catalog: which machines pass the filters, rates,
 * placements. It changes how long an answer takes and nothing else. For one thread at a time; plan
 * sets may outlive it. */
struct plan_memory;
struct plan_memory *plan_memory_new(void); /* NULL = out of memory */
void plan_memory_free(struct plan_memory *m);
/* plan_search without sensitivity; m may be NULL. */
int plan_search_again(struct plan_memory *m, const struct scenario *s, const struct catalog *c,
                      const struct plan_options *o, struct plan_set **out,
                      struct gt_error *err) GT_CHECK;
/* Names of the scenario (GPUs, regions, model, policy) that the catalog must know: 0 or GT_EPARSE
 * with the nearest ones. plan_search asks the same. */
int plan_check(const struct scenario *s, const struct catalog *c, struct gt_error *err) GT_CHECK;
void plan_set_free(struct plan_set *p);

#endif
