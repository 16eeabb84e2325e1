/* Planning beside the interface (plan_worker.h). */
#include "plan_worker.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct plan_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct catalog *catalog;
    int64_t now;
    const char *currency;
    void (*wake)(void);
    struct scenario *asked; /* waiting */
    volatile int cancel;
    bool quit, busy, ready;
    struct plan_set *set;
    int code;
    struct gt_error err;
};

/* Figures of the shown plans are simulated: a small number of runs answers at once, the number
 * that the commands use follows. */
static const uint32_t stages[] = {100, 2000};
#define N_STAGES (sizeof stages / sizeof *stages)

/* False: the question is stale, a newer one waits. */
static bool deliver(struct plan_worker *w, struct plan_set *set, int code,
                    const struct gt_error *err, bool last)
{
    pthread_mutex_lock(&w->lock);
    bool stale = code == GT_ECANCELLED || w->asked || w->quit;
    if (stale) {
        plan_set_free(set);
    } else {
        plan_set_free(w->set);
        w->set = set;
        w->code = code;
        w->err = *err;
        w->ready = true;
    }
    w->busy = w->asked != NULL || (!last && !stale);
    pthread_mutex_unlock(&w->lock);
    w->wake();
    return !stale;
}

static void answer(struct plan_worker *w, struct scenario *s)
{
    for (size_t i = 0; i < N_STAGES; i++) {
        struct plan_set *set = NULL;
        struct gt_error err = {0};
        struct plan_options o = {.top = 20,
                                 .seed = 1,
                                 .runs = stages[i],
                                 .now = w->now,
                                 .currency = w->currency,
                                 .cancel = &w->cancel};
        int code = plan_search(s, w->catalog, &o, &set, &err);
        if (!deliver(w, set, code, &err, i + 1 == N_STAGES)) {
            break;
        }
    }
    scenario_free(s);
}

static void *work(void *arg)
{
    struct plan_worker *w = arg;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (!w->asked && !w->quit) {
            pthread_cond_wait(&w->changed, &w->lock);
        }
        struct scenario *s = w->asked;
        w->asked = NULL;
        w->cancel = 0;
        bool quit = w->quit;
        pthread_mutex_unlock(&w->lock);
        if (quit) {
            scenario_free(s);
            return NULL;
        }
        answer(w, s);
    }
}

struct plan_worker *plan_worker_start(const struct catalog *c, int64_t now, const char *currency,
                                      void (*wake)(void))
{
    struct plan_worker *w = calloc(1, sizeof *w);
    sigset_t all, old;
    if (!w) {
        return NULL;
    }
    w->catalog = c;
    w->now = now;
    w->currency = currency;
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

void plan_worker_ask(struct plan_worker *w, struct scenario *s)
{
    pthread_mutex_lock(&w->lock);
    scenario_free(w->asked);
    w->asked = s;
    w->cancel = 1;
    w->busy = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool plan_worker_take(struct plan_worker *w, struct plan_set **set, int *code, struct gt_error *err)
{
    pthread_mutex_lock(&w->lock);
    bool ready = w->ready;
    if (ready) {
        *set = w->set;
        *code = w->code;
        *err = w->err;
        w->set = NULL;
        w->ready = false;
    }
    pthread_mutex_unlock(&w->lock);
    return ready;
}

bool plan_worker_busy(struct plan_worker *w)
{
    pthread_mutex_lock(&w->lock);
    bool busy = w->busy;
    pthread_mutex_unlock(&w->lock);
    return busy;
}

void plan_worker_stop(struct plan_worker *w)
{
    if (!w) {
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    w->cancel = 1;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    scenario_free(w->asked);
    plan_set_free(w->set);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w);
}
