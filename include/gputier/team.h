/* Work divided among threads. The planner has none of its own: whoever calls it may lend a team,
 * and every result is the same whatever the team, also none (NULL). */
#ifndef GPUTIER_TEAM_H
#define GPUTIER_TEAM_H
#include <stddef.h>

struct team {
    size_t threads; /* at most so many at once */
    /* Calls f(ctx, i) once for each i below n, in any order; returns when all are done. */
    void (*each)(const struct team *t, size_t n, void (*f)(void *ctx, size_t i), void *ctx);
};
static inline void team_each(const struct team *t, size_t n, void (*f)(void *ctx, size_t i),
                             void *ctx)
{
    if (t != NULL) {
        t->each(t, n, f, ctx);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        f(ctx, i);
    }
}

/* A team of threads (tui/cli/threads.c); 0 = one for each core, at most TEAM_MOST. */
#define TEAM_MOST 64
struct team team_threads(size_t threads);

#endif
