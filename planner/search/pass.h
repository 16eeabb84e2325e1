/* Shared by pass.c (what is kept) and pairs.c (in which order, and what need not be looked at). */
#ifndef GPUTIER_SEARCH_PASS_H
#define GPUTIER_SEARCH_PASS_H
#include "search.h"

/* The bound is a sum in double precision: this much it may be off. */
#define SLACK 1e-9

struct pair {
    const struct machine *m;
    const struct kind *k;
    int n;
    bool at_least;
    double usd; /* lower bound */
};

/* -1, 0, 1: an "at least" total never stands before one that is whole. */
static inline int cost_order(double a, bool a_at_least, double b, bool b_at_least)
{
    return a_at_least != b_at_least ? (a_at_least ? 1 : -1) : (a > b) - (a < b);
}

/* Dominance is asked in steps that a person can tell apart; rounding down keeps bounds bounds. */
struct steps {
    double usd, time, risk, at_least;
};
static inline struct steps steps(double usd, bool at_least, double time_h, double risk)
{
    return (struct steps){floor(usd * 100), search_time_steps(time_h), floor(risk * 100), at_least};
}

/* Is what costs so much behind the whole ranking? */
static inline bool behind_top(const struct outcome *o, double usd, bool at_least)
{
    return o->n_top == o->want && cost_order(usd, at_least, o->top[o->want - 1].cost_usd,
                                             o->top[o->want - 1].at_least) > 0;
}

void note_reject(struct outcome *o, const struct machine *m, int kind, const char *reason,
                 double usd);

/* Left out for its cost alone: the first bound or expectation that did it. */
static inline void note_dearer(struct rejected *r, double usd, bool unpriced, bool bound)
{
    if (r->usd <= 0) {
        r->usd = usd;
        r->unpriced = unpriced;
        r->bound = bound;
    }
}

/* All pairs of one pass, handed out in the order of their bound. */
struct slate;
struct slate *slate_open(struct search *q, struct outcome *o); /* NULL = out of memory */
/* The next pairs; *n 0 = none left. With q->prune pairs are missing that could change nothing.
 * False = out of memory. */
bool slate_next(struct slate *s, const struct pair **pair, size_t *n);
/* Machines of which no pair was looked at: why. */
int slate_close(struct slate *s);

#endif
