/* What the sources that are not shown say of an offer: one source's price for a whole region
 * against another's by zone, the notes that people read, and the catalog's list of conflicts. */
#include "gputier/units.h"
#include "offers_load.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_RATIO 0.01
#define NOTES_MAX  4 /* sources named in one row's note; the conflicts hold all */

static int add_loser(struct pass *p, const struct loser *x, struct gt_error *err)
{
    if (x->claim.state == PRICE_NONE) {
        return 0; /* that a source has no price says nothing */
    }
    if (p->n_losers == p->losers_cap) {
        size_t cap = p->losers_cap == 0 ? 256 : p->losers_cap * 2;
        struct loser *grown = realloc(p->losers, cap * sizeof(*grown));
        if (grown == NULL) {
            return load_nomem(p->l, err);
        }
        p->losers = grown;
        p->losers_cap = cap;
    }
    p->losers[p->n_losers++] = *x;
    return 0;
}

int offers_lose(struct pass *p, size_t row, size_t shown, struct gt_error *err)
{
    const struct columns *c = &p->c;
    struct loser x = {.claim = offers_claim(p, row),
                      .row = (uint32_t)shown,
                      .zone = c->zone[row],
                      .source = c->source[row],
                      .currency = c->currency[row],
                      .sku = c->sku[row],
                      .note = c->note[row],
                      .origin = c->origin[row],
                      .hour = c->price_per_hour[row],
                      .upfront = c->upfront[row],
                      .month = c->price_month[row],
                      .usd = c->usd_per_hour[row],
                      .as_of = c->as_of[row],
                      .fetched_at = c->fetched_at[row],
                      .valid_from = c->valid_from[row],
                      .valid_to = c->valid_to[row],
                      .id = c->id[row]};
    return add_loser(p, &x, err);
}

int offers_lose_new(struct pass *p, const struct offer *o, size_t shown, struct gt_error *err)
{
    const struct feed_info *f = &p->l->feeds[o->feed];
    struct loser x = {.claim = {o->feed, o->state, o->as_of},
                      .row = (uint32_t)shown,
                      .zone = p->l->places[o->place].zone,
                      .source = f->source,
                      .currency = o->text[TEXT_CURRENCY],
                      .sku = o->text[TEXT_SKU],
                      .note = o->text[TEXT_NOTE],
                      .origin = f->origin,
                      .hour = o->hour,
                      .upfront = o->upfront,
                      .month = o->month,
                      .usd = o->usd,
                      .as_of = o->as_of,
                      .fetched_at = f->fetched_at,
                      .valid_from = o->valid_from,
                      .valid_to = o->valid_to,
                      .id = o->id};
    return add_loser(p, &x, err);
}

/* A list price holds in the whole region, so a row by zone is of the same offer as one without;
 * prices of left-over capacity differ by zone. */
static bool by_zone_too(const struct pass *p, size_t row)
{
    uint8_t purchase = p->c.purchase[row];
    return purchase != PURCHASE_SPOT && purchase != PURCHASE_LOW_PRIORITY &&
           purchase != PURCHASE_CAPACITY_BLOCK && p->l->places[p->place[row]].whole_region != 0;
}

/* Row + 1 of the offer for the whole region of a row by zone, 0 if there is none. */
static uint32_t whole_region(const struct pass *p, size_t row)
{
    if (!by_zone_too(p, row)) {
        return 0;
    }
    uint32_t place = p->l->places[p->place[row]].whole_region;
    return *offers_slot(p, place, p->type[row], p->options[row]);
}

static bool better(const struct pass *p, size_t a, size_t b)
{
    struct claim x = offers_claim(p, a), y = offers_claim(p, b);
    return load_prefer(p->l, &x, &y) > 0;
}

/* Where one source prices a whole region and another its zones, the rows of the better source stay
 * alone; heir[row] of the others is one of those + 1. *heir stays NULL when there is no such
 * region. */
static int resolve_zones(struct pass *p, uint32_t **heir, struct gt_error *err)
{
    uint32_t *best = NULL; /* of a whole region's row: the best row of its offer, + 1 */
    int rc = 0;
    for (size_t i = 0; i < p->n; i++) {
        uint32_t whole = whole_region(p, i);
        if (whole == 0) {
            continue;
        }
        if (best == NULL && ((best = calloc(p->n, sizeof(*best))) == NULL ||
                             (*heir = calloc(p->n, sizeof(**heir))) == NULL)) {
            free(best);
            return load_nomem(p->l, err);
        }
        uint32_t *b = &best[whole - 1];
        *b = *b == 0 ? whole : *b;
        *b = better(p, i, *b - 1) ? (uint32_t)i + 1 : *b;
    }
    for (size_t i = 0; best != NULL && rc == 0 && i < p->n; i++) {
        uint32_t whole = whole_region(p, i);
        uint32_t top = whole != 0 ? best[whole - 1] : best[i];
        if (top != 0 && p->c.source[i] != p->c.source[top - 1]) {
            (*heir)[i] = top;
            rc = offers_lose(p, i, top - 1, err);
        }
    }
    free(best);
    return rc;
}

/* "12.5 USD/h" in the currency of who says it. */
static void say(const struct pass *p, const struct loser *x, char out[90])
{
    char a[MONEY_TEXT], b[MONEY_TEXT];
    const char *currency = intern_text(p->l->cat->strings, x->currency);
    if (x->claim.state != PRICE_KNOWN) {
        (void)snprintf(out, 90, "it is sold otherwise");
    } else if (x->month != 0) {
        (void)snprintf(out, 90, "%.40s %.3s a month", money_format(x->month, a), currency);
    } else if (x->upfront != 0) {
        (void)snprintf(out, 90, "%.30s %.3s/h and %.30s upfront", money_format(x->hour, a),
                       currency, money_format(x->upfront, b));
    } else {
        (void)snprintf(out, 90, "%.40s %.3s/h", money_format(x->hour, a), currency);
    }
}

static int by_row(const void *x, const void *y, void *ctx)
{
    const struct pass *p = ctx;
    const struct loser *a = x, *b = y;
    if (a->row != b->row) {
        return a->row < b->row ? -1 : 1;
    }
    int rank = load_prefer(p->l, &b->claim, &a->claim);
    if (rank != 0) {
        return rank;
    }
    int by_zone =
        strcmp(intern_text(p->l->cat->strings, a->zone), intern_text(p->l->cat->strings, b->zone));
    return by_zone != 0 ? by_zone : (a->id > b->id) - (a->id < b->id);
}

/* Nothing can be said when a currency has no rate. */
static bool differs(const struct pass *p, const struct loser *x)
{
    const struct columns *c = &p->c;
    if (x->claim.feed == p->feed[x->row]) {
        return false; /* one list with several periods */
    }
    if (x->claim.state != c->price_state[x->row]) {
        return true;
    }
    double shown = c->usd_per_hour[x->row];
    return x->claim.state == PRICE_KNOWN && fabs(x->usd - shown) > NOTE_RATIO * shown;
}

/* The same word of one source about many zones is kept once. */
static bool repeats(const struct loser *a, const struct loser *b)
{
    return a->row == b->row && a->claim.feed == b->claim.feed && a->claim.state == b->claim.state &&
           a->hour == b->hour && a->upfront == b->upfront && a->month == b->month &&
           a->currency == b->currency;
}

/* A row of the catalog's others: the machine of the offer that is shown, the price of the loser. */
static void write_other(const struct pass *p, const struct loser *x, struct columns *c, size_t i)
{
#define COPY(name) c->name[i] = p->c.name[x->row];
    OFFER_COLUMNS(COPY)
#undef COPY
    c->zone[i] = x->zone;
    c->source[i] = x->source;
    c->currency[i] = x->currency;
    c->sku[i] = x->sku;
    c->note[i] = x->note;
    c->origin[i] = x->origin;
    c->price_state[i] = x->claim.state;
    c->price_per_hour[i] = x->hour;
    c->upfront[i] = x->upfront;
    c->price_month[i] = x->month;
    c->usd_per_hour[i] = x->usd;
    c->as_of[i] = x->as_of;
    c->fetched_at[i] = x->fetched_at;
    c->valid_from[i] = x->valid_from;
    c->valid_to[i] = x->valid_to;
    c->id[i] = x->id;
}

/* Keeps the losers that have something to say, in the order in which they are shown. */
static void choose_losers(struct pass *p)
{
    size_t kept = 0;
    if (p->n_losers > 0) {
        qsort_r(p->losers, p->n_losers, sizeof(*p->losers), by_row, p);
    }
    for (size_t i = 0; i < p->n_losers; i++) {
        const struct loser *x = &p->losers[i];
        if (differs(p, x) && (kept == 0 || !repeats(&p->losers[kept - 1], x))) {
            p->losers[kept++] = *x;
        }
    }
    p->n_losers = kept;
}

static int note_losers(struct pass *p, struct gt_error *err)
{
    struct columns c;
    choose_losers(p);
    uint32_t *of = arena_array(p->l->cat->arena, p->n_losers + 1, sizeof(*of));
    int rc = of == NULL ? load_nomem(p->l, err) : offers_columns(p->l, p->n_losers, &c, err);
    size_t notes = 0;
    for (size_t i = 0; rc == 0 && i < p->n_losers; i++) {
        const struct loser *x = &p->losers[i];
        write_other(p, x, &c, i);
        of[i] = x->row;
        notes = i > 0 && of[i - 1] == x->row ? notes + 1 : 1;
        if (notes <= NOTES_MAX) {
            char text[90];
            say(p, x, text);
            rc = load_conflict(p->l, &p->c.note[x->row], x->source, text, x->as_of, err);
        }
    }
    if (rc == 0) {
        p->l->cat->others = offers_share(&c, p->n_losers);
        p->l->cat->others_of = of;
    }
    return rc;
}

/* Closes the gaps of rows that have an heir, which also takes on what lost against them. */
static int close_up(struct pass *p, const uint32_t *heir, struct gt_error *err)
{
    uint32_t *at = malloc((p->n + 1) * sizeof(*at));
    size_t n = 0;
    if (at == NULL) {
        return load_nomem(p->l, err);
    }
    for (size_t i = 0; i < p->n; i++) {
        at[i] = (uint32_t)n;
        if (heir[i] == 0) {
#define MOVE(name) p->c.name[n] = p->c.name[i];
            OFFER_COLUMNS(MOVE)
#undef MOVE
            p->feed[n] = p->feed[i];
            n++;
        }
    }
    for (size_t i = 0; i < p->n_losers; i++) {
        uint32_t *row = &p->losers[i].row;
        *row = at[heir[*row] != 0 ? heir[*row] - 1 : *row];
    }
    p->n = n;
    free(at);
    return 0;
}

int offers_conflicts(struct pass *p, struct gt_error *err)
{
    uint32_t *heir = NULL;
    int rc = resolve_zones(p, &heir, err);
    if (rc == 0 && heir != NULL) {
        rc = close_up(p, heir, err);
    }
    free(heir);
    return rc == 0 ? note_losers(p, err) : rc;
}
