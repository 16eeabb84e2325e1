/* What to do before tiering: what is stored and billed for nothing, and small objects that cost
 * more apart than packed together. Found in the groups of a tier plan (planner/storage/savings.c)
 * or in lists of what a bucket does not show (pricing/inventory). */
#ifndef GPUTIER_SAVINGS_H
#define GPUTIER_SAVINGS_H
#include "gputier/arena.h"
#include "gputier/money.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum saving_kind {
    SAVING_VERSIONS,   /* noncurrent, billed in full (R-S3-25) */
    SAVING_MARKERS,    /* of deletions that hide nothing */
    SAVING_MULTIPART,  /* uploads never completed (R-S3-24) */
    SAVING_DUPLICATES, /* all but one of each */
    SAVING_PACK,       /* small objects into packs */
    SAVING_VOLUMES,    /* attached to nothing (R-EBS-01) */
    SAVING_SNAPSHOTS,  /* of volumes that are gone (R-EBS-08) */
    SAVING_KINDS
};
const char *saving_kind_name(enum saving_kind k); /* old_versions, … */

struct saving {
    enum saving_kind kind;
    const char *place;           /* prefix, bucket or id; "" = all */
    const char *tier;            /* whose price it is; NULL = several or none */
    const char *vendor, *region; /* whose and where, when a list tells it; else NULL */
    uint64_t objects, bytes;
    uint64_t packs;       /* SAVING_PACK: objects that are left */
    money month_now;      /* what it costs a month today */
    money month_then;     /* and afterwards */
    money once;           /* to do it */
    money horizon;        /* saved over the horizon, the one-off taken off */
    int break_even_month; /* from 0; -1 = never */
    bool priced;          /* the catalog has every price that it takes */
    bool upper_bound;     /* it saves at most this */
    const char *note;     /* NULL = nothing more to say */
};
/* What is deleted at once: a month's cost and a one-off to what is saved. GT_ERANGE. */
int saving_ends(struct saving *s, int horizon_months) GT_CHECK;
/* How it is done, for people. */
const char *saving_how(enum saving_kind k);
/* One line: what, how much, what it saves and how. NULL without memory. */
const char *saving_text(struct arena *a, const struct saving *s, const char *currency);

#endif
