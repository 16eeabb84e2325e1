/* Notes of a plan while they are gathered. */
#ifndef GPUTIER_SEARCH_NOTES_H
#define GPUTIER_SEARCH_NOTES_H
#include "search.h"

struct notes {
    struct search *q;
    const char **text;
    size_t n;
    bool failed;
};
/* NULL = out of memory. */
void note_add(struct notes *o, const char *text);
/* How the plan fares under other interruption rates, what the vendor's notice, a price cap and
 * other intervals between checkpoints would do (notes_spot.c). */
void spot_notes(struct notes *o, const struct candidate *c);
/* How far more GPUs help, what software does to the rate (notes_model.c). */
void model_notes(struct notes *o, const struct candidate *c, const struct plan *p);

#endif
