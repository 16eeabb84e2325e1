/* A team of threads (gputier/team.h): each takes the next piece until none is left. */
#include "gputier/team.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct round {
    void (*f)(void *ctx, size_t i);
    void *ctx;
    size_t n, next; /* next: __atomic */
};

static void *work(void *arg)
{
    struct round *r = arg;
    for (;;) {
        size_t i = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED);
        if (i >= r->n) {
            return NULL;
        }
        r->f(r->ctx, i);
    }
}

/* A thread that cannot be had is done without. */
static void each(const struct team *t, size_t n, void (*f)(void *ctx, size_t i), void *ctx)
{
    struct round r = {.f = f, .ctx = ctx, .n = n};
    size_t wanted = t->threads < n ? t->threads : n, started = 0;
    pthread_t thread[TEAM_MOST];
    sigset_t all, old;
    sigfillset(&all); /* signals belong to the thread that asked */
    pthread_sigmask(SIG_BLOCK, &all, &old);
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, work, &r) == 0) {
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    work(&r);
    for (size_t i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
    }
}

struct team team_threads(size_t threads)
{
    if (threads == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 0 ? (size_t)cores : 1;
    }
    return (struct team){.threads = threads < TEAM_MOST ? threads : TEAM_MOST, .each = each};
}
