/* The parts of `watch`: cmd_watch.c chooses sources, holds the lock and waits, watch_round.c does
 * one round and tells what it brought. Two clocks: the wall's stamps what is recorded; the time
 * since boot, which also runs while the machine sleeps and never jumps, decides what is due. */
#ifndef GPUTIER_WATCH_H
#define GPUTIER_WATCH_H
#include "cli.h"
#include "fetch_regions.h"
#include "gputier/fetch.h"
#include "gputier/rng.h"

#define WATCH_SOURCES 64
struct watched {
    const struct source_def *def;
    int64_t least_s; /* its vendor is not asked more often */
    int64_t step_s;  /* seconds between its rounds as planned: a multiple of `every` */
    int64_t last_s;  /* when it was last tried, by the clock since boot */
    bool tried;      /* ever, as far as the database knows */
    bool due, failed;
    unsigned failures; /* rounds in a row in which it failed and others did not */
    char why[240];     /* of its failure in this round */
};
struct watch {
    struct app *app;
    struct store *store;
    struct fetch_regions regions;
    struct watched source[WATCH_SOURCES];
    size_t n;
    int64_t every_s, for_s; /* for_s 0 = without end */
    bool once, fixed_clock; /* fixed_clock: GPUTIER_NOW was the time at the start */
    int64_t started_s;      /* since boot */
    struct rng rng;
};

int64_t watch_boot_s(void); /* seconds since boot, sleep included */
int64_t watch_wall_s(const struct watch *w);
/* Seconds until the source may be asked again by its plan; 0 = it is due. */
int64_t watch_wait_s(const struct watch *w, const struct watched *s, int64_t now_s);
/* Fetches what is due and writes the round's line; next_s: seconds until the next round, < 0 =
 * none follows. GT_ECANCELLED when interrupted; failures of sources are told, not returned, but
 * counted in *ok (sources that were read). */
int watch_round(struct watch *w, int64_t next_s, size_t *ok, struct gt_error *err) GT_CHECK;

#endif
