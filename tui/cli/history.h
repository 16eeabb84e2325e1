/* What cmd_history.c and history_summary.c share: the points of one question, and what they sum up
 * to within a window of time. */
#ifndef GPUTIER_HISTORY_H
#define GPUTIER_HISTORY_H
#include "gputier/arena.h"
#include "gputier/money.h"
#include <stddef.h>
#include <stdint.h>

struct point {
    int64_t when,
        since;    /* when the price began; the same, or the window's start if that is later */
    int64_t ends; /* when its source no longer had it; GT_TIME_NONE = not known to end */
    money price;
    char currency[8];
    const char *zone, *source, *sku; /* interned: equal texts are one pointer */
    double change_pct;               /* NAN: nothing comparable before it */
};
struct series {
    struct point *p; /* oldest first */
    size_t n, cap;
    struct arena *arena;
    struct intern *strings;
};
/* One series: the points of one zone, source, SKU and currency. A price holds until the next one,
 * until its source no longer has it, or until the window ends. */
struct summary {
    const struct point *first; /* names the series */
    size_t changes;            /* prices that began within the window */
    int64_t from, until;       /* from the window's start, or the first price if that is later */
    money min, max, last;
    money mean; /* of the time in which a price is known, rounded half to even to 10^-12 */
};
/* Keeps what the window [since, until) shows; GT_TIME_NONE = open. The price in force at its start
 * stands at its start: neither dropped nor drawn before it. */
void history_clip(struct series *s, int64_t since, int64_t until);
/* Caller frees *out. GT_ENOMEM or GT_ERANGE. */
int history_summary(const struct series *s, int64_t until, struct summary **out,
                    size_t *n) GT_CHECK;

#endif
