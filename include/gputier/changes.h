/* What changed between two instants: prices that rose, fell, appeared, vanished. Each source is
 * compared with itself; bundled facts are dated, not observed, and take no part.
 *
 * The state at an instant is what `--as-of` shows: known by then and valid then. Amounts are
 * compared in the vendor's own currency, so an exchange rate never makes a change. */
#ifndef GPUTIER_CHANGES_H
#define GPUTIER_CHANGES_H
#include "gputier/offer.h"
#include "gputier/store.h"
#include <stdint.h>

enum change_table { CHANGE_OFFER, CHANGE_STORAGE, CHANGE_TRANSFER };
enum change_kind {
    CHANGE_ROSE,
    CHANGE_FELL,
    CHANGE_REDENOMINATED, /* another currency or unit: nothing to compare */
    CHANGE_APPEARED,
    CHANGE_RESTORED, /* back, at the same price or after a time without, missing_from..missing_to */
    CHANGE_VANISHED, /* a later complete list of its source no longer has it */
    CHANGE_EXPIRED   /* the date that its vendor gave it has passed */
};
const char *change_table_name(enum change_table t); /* "offer", "storage", "transfer" */
const char *change_kind_name(enum change_kind k);   /* "rose", … */

/* Price per unit_qty of unit; an offer's is per hour with its upfront payment spread over the term
 * and a monthly package over 730 hours. */
struct change_price {
    bool known;
    money price;
    int64_t unit_qty;
    const char *currency, *unit, *sku;
    int64_t as_of;
};
/* Strings are borrowed for the call; texts without a meaning in the table are "". */
struct price_change {
    enum change_table table;
    enum change_kind kind;
    const char *vendor, *region, *zone;
    const char *item;      /* instance type, tier or destination */
    const char *component; /* storage: what of the tier is charged */
    const char *gpu;
    int gpu_num, gpu_den;
    enum purchase purchase;
    enum payment payment;
    enum offering_class offering_class;
    money from_qty; /* storage, transfer: where the bracket begins */
    struct change_price before, after;
    double change_pct;                /* NAN when nothing can be compared */
    int64_t when;                     /* when it was seen, or the vendor's date that made it so */
    int64_t missing_from, missing_to; /* GT_TIME_NONE unless it was gone in between */
    const char *source_id;
};
struct changes_options {
    int64_t since; /* GT_TIME_NONE = just before the last fetch or import */
    int64_t until; /* GT_TIME_NONE = now */
};
struct changes_result {
    int64_t since, until;  /* as used; since GT_TIME_NONE when nothing was ever fetched */
    uint64_t first_feeds;  /* parts of sources first fetched after since: nothing to compare with */
    int64_t pruned_before; /* old prices were removed up to here; GT_TIME_NONE = never */
    bool has_series; /* spot series exist: each point of one is a change, none is a row here */
    uint64_t series_points; /* how many of their points are later than since */
};
/* Rows come by table, in key order. */
int store_changes(struct store *s, const struct changes_options *o,
                  int (*row)(void *ctx, const struct price_change *c), void *ctx,
                  struct changes_result *out, struct gt_error *err) GT_CHECK;

/* The exchange rate in force on a day: units of currency for 1 USD, of the last day up to `when`
 * that has one (whenever it was fetched: a day's rate stays true). source: at most 64 bytes.
 * GT_ENOTFOUND when none is known; USD itself is 1. */
int store_fx_on(struct store *s, const char *currency, int64_t when, money *per_usd, int64_t *date,
                char source[64], struct gt_error *err) GT_CHECK;

#endif
