/* What is kept between plans (again.c). */
#ifndef GPUTIER_SEARCH_AGAIN_H
#define GPUTIER_SEARCH_AGAIN_H
#include "gputier/buf.h"
#include "search.h"

/* The parts of a search that are kept, each a superset of the one before. */
enum again_part {
    AGAIN_MACHINES, /* offers that any filter may ask for: search_machines */
    AGAIN_OPENED,   /* rates, luck, placements: the rest of search_open */
};
/* Adds everything that this part of a search may depend on. */
void again_key(struct buf *b, const struct search *q, enum again_part part);

/* NULL is fine. */
void kept_release(struct plan_kept *k);

#endif
