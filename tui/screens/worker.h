/* Work beside the interface: one thread takes the newest job and gives back results. A newer job
 * cancels the running one, and what a stale job still delivers is dropped. */
#ifndef GPUTIER_WORKER_H
#define GPUTIER_WORKER_H
#include <stdbool.h>

struct worker;
struct worker_ops {
    /* In the thread: works and calls worker_deliver at least once unless told to stop. */
    void (*run)(struct worker *w, void *ctx, void *job);
    void (*free_job)(void *job);
    void (*free_result)(void *result);
};
/* wake: called from the thread after each delivery. NULL = out of memory. */
struct worker *worker_start(const struct worker_ops *ops, void *ctx, void (*wake)(void));
void worker_ask(struct worker *w, void *job); /* takes the job */
/* The newest result (the caller's) or NULL. */
void *worker_take(struct worker *w);
bool worker_busy(struct worker *w);
/* Cancels and frees; NULL is fine. False: the work did not heed the cancel in time; the thread
 * was left to end with the process, and what it uses must stay. */
bool worker_stop(struct worker *w);

/* For run: takes the result; false when the job is stale and should end. */
bool worker_deliver(struct worker *w, void *result, bool last);
/* Non-zero: the job is stale. */
const volatile int *worker_cancel(const struct worker *w);

#endif
