/* What the Bench screen shows of a run. */
#ifndef GPUTIER_BENCH_VIEW_H
#define GPUTIER_BENCH_VIEW_H
#include "../widgets/list.h"
#include "bench_work.h"
#include "gputier/catalog.h"

struct bench_shown { /* what the panes are drawn from */
    const struct catalog *catalog;
    const struct bench_news *run;      /* the run shown, NULL = none yet */
    const struct bench_choice *device; /* that was or would be measured, NULL = not known yet */
    const struct bench_runs *runs;     /* stored ones; NULL = not read yet */
    bool running;
};
void bench_view_table(const struct bench_shown *s, const struct list *l, int y, int rows,
                      int width);
/* One bar: share done and time left. */
void bench_view_progress(const struct bench_shown *s, int y, int width);
void bench_view_devices(const struct bench_choice *d, size_t n, size_t chosen, int y, int rows,
                        int width);
/* The selected metric on every stored device. */
void bench_view_compare(const struct bench_shown *s, size_t at, int y, int rows, int width);
/* Stored runs and what drifted; rows from `top` on. */
void bench_view_history(const struct bench_shown *s, size_t top, int y, int rows, int width);
void bench_view_notes(const struct bench_shown *s, int y, int rows, int width);

#endif
