/* Rules of `prices check` that look at the ways to buy one machine in one region, and at what the
 * sources that are not shown say of it. */
#include "gputier/units.h"
#include "prices_check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The on-demand row that a row is measured by: of its zone, else (one of the two without a zone)
 * the dearest; SIZE_MAX if there is none. */
static size_t on_demand(const struct check *k, const struct keyed *v, size_t first, size_t last,
                        size_t row)
{
    const struct catalog_offers *o = &k->c->offers;
    size_t best = SIZE_MAX;
    for (size_t i = first; i < last; i++) {
        size_t r = v[i].row;
        if (o->purchase[r] != PURCHASE_ON_DEMAND || isnan(check_usd(k->c, r))) {
            continue;
        }
        if (o->zone[r] == o->zone[row]) {
            return r;
        }
        if ((o->zone[r] == 0 || o->zone[row] == 0) &&
            (best == SIZE_MAX || check_usd(k->c, r) > check_usd(k->c, best))) {
            best = r;
        }
    }
    return best;
}

static int64_t days_apart(const struct catalog *c, size_t a, size_t b)
{
    int64_t x = c->offers.as_of[a], y = c->offers.as_of[b];
    return x == GT_TIME_NONE || y == GT_TIME_NONE ? 0 : (x > y ? x - y : y - x) / CHECK_DAY;
}

static void add_pair(struct check *k, size_t a, size_t b)
{
    check_row(k, a);
    check_row(k, b);
}

static void commitment(struct check *k, size_t row, size_t full)
{
    char name[CHECK_NAME], price[64], against[64], apart[48] = "";
    int64_t days = days_apart(k->c, row, full);
    if (days > APART_DAYS) {
        (void)snprintf(apart, sizeof apart, "; recorded %lld days apart", (long long)days);
    }
    if (check_add(k, RULE_COMMITMENT_ABOVE, days > APART_DAYS ? CHECK_WARNING : CHECK_ERROR, row,
                  "%s costs %s an hour, upfront parts and packages spread over the term; on demand "
                  "%s%s",
                  check_name(k->c, row, name), check_price(k->c, row, price),
                  check_price(k->c, full, against), apart)) {
        add_pair(k, row, full);
    }
}

static void spot(struct check *k, size_t row, size_t full, bool above)
{
    char name[CHECK_NAME], price[64], against[64];
    bool add = above ? check_add(k, RULE_SPOT_ABOVE, CHECK_WARNING, row,
                                 "%s costs %s an hour, on demand %s", check_name(k->c, row, name),
                                 check_price(k->c, row, price), check_price(k->c, full, against))
                     : check_add(k, RULE_SPOT_EQUAL, CHECK_INFO, row,
                                 "%s costs %s an hour as on demand does: no sign of a spot market",
                                 check_name(k->c, row, name), check_price(k->c, row, price));
    if (add) {
        add_pair(k, row, full);
    }
}

static void one_machine(struct check *k, const struct keyed *v, size_t first, size_t last)
{
    const struct catalog_offers *o = &k->c->offers;
    for (size_t i = first; i < last; i++) {
        size_t r = v[i].row;
        enum purchase p = (enum purchase)o->purchase[r];
        bool market = p == PURCHASE_SPOT || p == PURCHASE_LOW_PRIORITY;
        double price = check_usd(k->c, r);
        if (isnan(price) || (!market && !purchase_is_commitment(p) && p != PURCHASE_MONTHLY)) {
            continue;
        }
        size_t full = on_demand(k, v, first, last, r);
        double limit = full == SIZE_MAX ? (double)NAN : check_usd(k->c, full);
        if (market && price >= limit * (1 - 1e-9)) {
            spot(k, r, full, price > limit * (1 + 1e-9));
        } else if (!market && price > limit * (1 + 1e-9)) {
            commitment(k, r, full);
        }
    }
}

/* A row and what another source says of the same offer. */
static void other_source(struct check *k, size_t i)
{
    const struct catalog_offers *o = &k->c->offers, *x = &k->c->others;
    size_t shown = k->c->others_of[i], row = o->n + i, at;
    struct catalog side;
    char name[CHECK_NAME], price[64], against[64], day[2][16];
    const struct catalog *other = check_catalog(k, (uint32_t)row, &side, &at);
    check_name(k->c, shown, name);
    bool add;
    if (x->price_state[i] != o->price_state[shown]) {
        add = check_add(k, RULE_STATE_CONFLICT, CHECK_WARNING, shown, "%s: %s says %s, %s says %s",
                        name, catalog_text(k->c, o->source[shown]),
                        price_state_name((enum price_state)o->price_state[shown]),
                        catalog_text(k->c, x->source[i]),
                        price_state_name((enum price_state)x->price_state[i]));
    } else {
        int64_t apart = x->as_of[i] == GT_TIME_NONE || o->as_of[shown] == GT_TIME_NONE
                            ? 0
                            : llabs((long long)(x->as_of[i] - o->as_of[shown])) / CHECK_DAY;
        double part = 100 * (x->usd_per_hour[i] / o->usd_per_hour[shown] - 1);
        add = check_add(k, RULE_DISAGREE, apart > STALE_DAYS ? CHECK_INFO : CHECK_WARNING, shown,
                        "%s: %s an hour by %s of %s, which is used; %s (%+.0f %%) by %s of %s",
                        name, check_price(k->c, shown, price), catalog_text(k->c, o->source[shown]),
                        date_format(o->as_of[shown], day[0]), check_price(other, at, against), part,
                        catalog_text(k->c, x->source[i]), date_format(x->as_of[i], day[1]));
    }
    if (add) {
        add_pair(k, shown, row);
    }
}

void check_machines(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    struct keyed *v = check_keys(k);
    for (size_t i = 0; v && i < o->n; i++) {
        v[i] = (struct keyed){.hi = key_pair(o->vendor[i], o->region[i]),
                              .lo = key_pair(o->instance_type[i], o->zone[i]),
                              .row = (uint32_t)i};
    }
    if (v) {
        check_sort(v, o->n);
    }
    for (size_t i = 0, end; v && i < o->n; i = end) {
        for (end = i + 1; end < o->n && v[end].hi == v[i].hi && v[end].lo >> 32 == v[i].lo >> 32;
             end++) {
        }
        one_machine(k, v, i, end);
    }
    free(v);
    for (size_t i = 0; i < k->c->others.n; i++) {
        other_source(k, i);
    }
}
