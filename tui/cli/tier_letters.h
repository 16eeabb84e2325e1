/* A letter and a short name for every tier, for bars and paths on the screen and in text. */
#ifndef GPUTIER_TIER_LETTERS_H
#define GPUTIER_TIER_LETTERS_H
#include "gputier/tier.h"

/* Hot to cold; unique within one product. */
char tier_letter(const char *tier);
const char *tier_short_name(const char *tier);
/* One letter for each tier of a series, no two alike: those met twice become small, then digits.
 * `out` has room for s->n_tiers. */
void tier_series_letters(const struct tier_series *s, char *out);
/* Fills `cells` with the letters' shares of the bytes of one month: the bar of `most` bytes would
 * be `width` cells long; every tier that holds something has a cell, if the bar has so many.
 * Returns the bar's length. */
int tier_series_bar(const struct tier_series *s, const char *letter, int month, uint64_t most,
                    int width, char *cells);

#endif
