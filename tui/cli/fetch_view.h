/* What `fetch` shows while it runs: on a terminal one moving line a source on stderr, elsewhere
 * one line at the end of each part. */
#ifndef GPUTIER_FETCH_VIEW_H
#define GPUTIER_FETCH_VIEW_H
#include "cli.h"
#include "gputier/fetch.h"

struct fetch_part {
    char source[40], scope[120], message[600];
    uint64_t bytes, total, rows;
    int state;
    bool index; /* no prices: counts only while it comes, or when it failed */
    bool named; /* its end has been told */
};
struct fetch_view {
    struct app *app;
    struct fetch_part *part;
    size_t n, cap;
    size_t drawn; /* lines on the terminal now */
    bool terminal, failed;
    int64_t started_ms;
};
void fetch_view_init(struct fetch_view *v, struct app *app);
void fetch_view_update(void *view, const struct fetch_progress *p); /* fetch_options.progress */
/* Ends the moving lines; the parts stay readable. */
void fetch_view_end(struct fetch_view *v);
/* An index that has done its work is no part of the answer. */
bool fetch_part_past(const struct fetch_part *p);
void fetch_view_release(struct fetch_view *v);
const char *fetch_state_name(int state);

#endif
