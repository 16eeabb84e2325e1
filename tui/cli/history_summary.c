/* See history.h. Rows are changes, so a mean weighs each price by the time in which it held. */
#include "gputier/units.h"
#include "history.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool same_series(const struct point *a, const struct point *b)
{
    return a->zone == b->zone && a->source == b->source && a->sku == b->sku &&
           strcmp(a->currency, b->currency) == 0;
}

/* The next point of the series, NULL at its end. */
static const struct point *next_of(const struct series *s, const struct point *p)
{
    for (const struct point *q = p + 1; q < s->p + s->n; q++) {
        if (same_series(p, q)) {
            return q;
        }
    }
    return NULL;
}

/* When the price of p no longer held. */
static int64_t end_of(const struct series *s, const struct point *p, int64_t until)
{
    const struct point *next = next_of(s, p);
    int64_t end = next && next->when < until ? next->when : until;
    return p->ends != GT_TIME_NONE && p->ends < end ? p->ends : end;
}

void history_clip(struct series *s, int64_t since, int64_t until)
{
    size_t n = 0;
    int64_t last = until == GT_TIME_NONE ? INT64_MAX : until;
    for (size_t i = 0; i < s->n; i++) {
        struct point p = s->p[i];
        /* reads only points behind i: what was moved before it is not looked at again */
        bool over = since != GT_TIME_NONE && p.when < since && end_of(s, &s->p[i], last) <= since;
        if (over || p.when >= last) {
            continue;
        }
        p.since = since != GT_TIME_NONE && p.when < since ? since : p.when;
        s->p[n++] = p;
    }
    s->n = n;
}

static int add_up(const struct series *s, const struct point *first, int64_t until,
                  struct summary *out)
{
    money sum = 0;
    int64_t known = 0;
    *out = (struct summary){.first = first,
                            .from = first->since,
                            .until = until,
                            .min = first->price,
                            .max = first->price};
    for (const struct point *p = first; p; p = next_of(s, p)) {
        int64_t held = end_of(s, p, until) - p->since;
        money part = 0;
        if (p->when >= until) { /* announced, not yet in force */
            break;
        }
        held = held > 0 ? held : 0;
        if (__builtin_mul_overflow(p->price, (money)held, &part) ||
            money_add(sum, part, &sum) != 0) {
            return GT_ERANGE;
        }
        known += held;
        out->changes += p->since == p->when;
        out->min = p->price < out->min ? p->price : out->min;
        out->max = p->price > out->max ? p->price : out->max;
        out->last = p->price;
    }
    if (known == 0) { /* it ended as it began */
        out->mean = out->last;
        return 0;
    }
    return money_mul_ratio(sum, 1, (gt_u128)known, &out->mean);
}

int history_summary(const struct series *s, int64_t until, struct summary **out, size_t *n)
{
    struct summary *list = calloc(s->n + 1, sizeof *list);
    int rc = list ? 0 : GT_ENOMEM;
    *n = 0;
    for (size_t i = 0; rc == 0 && i < s->n; i++) {
        bool seen = s->p[i].when >= until;
        for (size_t k = 0; k < *n && !seen; k++) {
            seen = same_series(list[k].first, &s->p[i]);
        }
        if (!seen) {
            rc = add_up(s, &s->p[i], until, &list[*n]);
            *n += rc == 0;
        }
    }
    if (rc != 0) {
        free(list);
        list = NULL;
    }
    *out = list;
    return rc;
}
