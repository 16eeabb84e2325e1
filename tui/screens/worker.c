/* Work beside the interface (worker.h). */
#include "worker.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define STOP_MS 200 /* leaving the interface never takes longer for it */

struct worker {
    const struct worker_ops *ops;
    void *ctx;
    void (*wake)(void);
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *asked, *result; /* waiting job, result not yet taken */
    volatile int cancel;  /* read by the work without the lock: __atomic */
    bool quit, busy;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (!w->asked && !w->quit) {
            pthread_cond_wait(&w->changed, &w->lock);
        }
        void *job = w->asked;
        bool quit = w->quit;
        w->asked = NULL;
        __atomic_store_n(&w->cancel, quit, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&w->lock);
        if (!quit) {
            w->ops->run(w, w->ctx, job);
        }
        if (job) {
            w->ops->free_job(job);
        }
        if (quit) {
            return NULL;
        }
    }
}

bool worker_deliver(struct worker *w, void *result, bool last)
{
    pthread_mutex_lock(&w->lock);
    bool stale = w->asked || w->quit;
    void *drop = stale ? result : w->result;
    if (!stale) {
        w->result = result;
        w->busy = !last;
    }
    pthread_mutex_unlock(&w->lock);
    if (drop) {
        w->ops->free_result(drop);
    }
    w->wake();
    return !stale;
}

struct worker *worker_start(const struct worker_ops *ops, void *ctx, void (*wake)(void))
{
    struct worker *w = calloc(1, sizeof *w);
    sigset_t all, old;
    if (!w) {
        return NULL;
    }
    w->ops = ops;
    w->ctx = ctx;
    w->wake = wake;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    sigfillset(&all); /* signals belong to the interface's thread */
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int rc = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc) {
        free(w);
        return NULL;
    }
    return w;
}

void worker_ask(struct worker *w, void *job)
{
    pthread_mutex_lock(&w->lock);
    void *old = w->asked;
    w->asked = job;
    __atomic_store_n(&w->cancel, 1, __ATOMIC_RELAXED);
    w->busy = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (old) {
        w->ops->free_job(old);
    }
}

void *worker_take(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    void *result = w->result;
    w->result = NULL;
    pthread_mutex_unlock(&w->lock);
    return result;
}

bool worker_busy(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    bool busy = w->busy;
    pthread_mutex_unlock(&w->lock);
    return busy;
}

const volatile int *worker_cancel(const struct worker *w)
{
    return &w->cancel;
}

bool worker_stop(struct worker *w)
{
    struct timespec until;
    if (!w) {
        return true;
    }
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    __atomic_store_n(&w->cancel, 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STOP_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    if (pthread_timedjoin_np(w->thread, NULL, &until)) {
        pthread_detach(w->thread);
        return false;
    }
    if (w->result) {
        w->ops->free_result(w->result);
    }
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w);
    return true;
}
