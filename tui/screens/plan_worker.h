/* Planning beside the interface: the thread gets a scenario and gives back a plan set; a newer
 * request cancels the running one, stale results are dropped by their generation. */
#ifndef GPUTIER_PLAN_WORKER_H
#define GPUTIER_PLAN_WORKER_H
#include "gputier/catalog.h"
#include "gputier/planner.h"

struct plan_worker;
struct plan_worker *plan_worker_start(const struct catalog *c, int64_t now, const char *currency,
                                      void (*wake)(void));
/* Takes the scenario. */
void plan_worker_ask(struct plan_worker *w, struct scenario *s);
/* True when a new answer is there: *set (the caller's; may be NULL), *err and its code. */
bool plan_worker_take(struct plan_worker *w, struct plan_set **set, int *code,
                      struct gt_error *err);
bool plan_worker_busy(struct plan_worker *w);
void plan_worker_stop(struct plan_worker *w); /* cancels, joins, frees */

#endif
