/* Which of several sources' prices for one thing is shown. The whole rule, for offers, rates and
 * interruption bands alike; the first line that tells two rows apart decides:
 *
 *  1. a price, or the word that it is sold otherwise, before none ("nobody publishes it");
 *  2. the user's own list (prices-csv): it is what they pay;
 *  3. the later date, where a list that came from the vendor itself counts OWN_LIST_LEAD newer than
 *     it is. Catalogs of third parties and the shipped snapshot are copies of such lists, and
 *     copies go wrong (a commitment's price taken for on demand: 43.07 for 88.49 USD an hour);
 *  4. fetched before imported before bundled;
 *  5. the source that stands first in the table of sources, then by name, then by part;
 *  6. within one part of one source: the price that began last (catalog_offers.c).
 *
 * It is a total order over what the rows say, never over where they stand, so the order of imports
 * and of rows does not matter. The rows that lose stay in the database; where they differ, the
 * catalog has them beside the one that is shown (catalog.h, others). */
#include "gputier/fetch.h"
#include "gputier/units.h"
#include "store_impl.h"
#include <stdlib.h>
#include <string.h>

#define OWN_LIST_LEAD ((int64_t)90 * 86400) /* s */

enum { STANDING_COPY, STANDING_VENDOR, STANDING_USER };

static uint8_t standing(const struct source_def *def, const char *scope, bool bundled)
{
    if (def == NULL || bundled || def->kind == SOURCE_CATALOG) {
        return STANDING_COPY;
    }
    if (def->kind == SOURCE_VENDOR) {
        return STANDING_VENDOR;
    }
    return strncmp(scope, SCOPE_TABLE, strlen(SCOPE_TABLE)) == 0 ? STANDING_COPY : STANDING_USER;
}

struct entry {
    size_t feed, table; /* table: place in the table of sources */
    const char *source, *scope;
    bool bundled;
};

static int by_source(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->table != b->table) {
        return a->table < b->table ? -1 : 1;
    }
    int by_name = strcmp(a->source, b->source), by_scope = strcmp(a->scope, b->scope);
    return by_name != 0 ? by_name : by_scope != 0 ? by_scope : a->bundled - b->bundled;
}

int load_precedence(struct loader *l, struct gt_error *err)
{
    struct entry *e = calloc(l->n_feeds + 1, sizeof(*e));
    if (e == NULL) {
        return load_nomem(l, err);
    }
    for (size_t i = 0; i < l->n_feeds; i++) {
        const struct feed_info *f = &l->feeds[i];
        e[i] = (struct entry){i, 0, intern_text(l->cat->strings, f->source),
                              intern_text(l->cat->strings, f->scope), f->origin == ORIGIN_BUNDLED};
        while (source_at(e[i].table) != NULL &&
               strcmp(source_at(e[i].table)->id, e[i].source) != 0) {
            e[i].table++;
        }
        l->feeds[i].standing = standing(source_at(e[i].table), e[i].scope, e[i].bundled);
    }
    qsort(e, l->n_feeds, sizeof(*e), by_source);
    for (size_t i = 0; i < l->n_feeds; i++) {
        l->feeds[e[i].feed].order = (uint32_t)i;
    }
    free(e);
    return 0;
}

int load_prefer(const struct loader *l, const struct claim *a, const struct claim *b)
{
    static const int first[] = {[ORIGIN_BUNDLED] = 0, [ORIGIN_IMPORTED] = 1, [ORIGIN_FETCHED] = 2};
    const struct feed_info *f = &l->feeds[a->feed], *g = &l->feeds[b->feed];
    if ((a->state == PRICE_NONE) != (b->state == PRICE_NONE)) {
        return a->state == PRICE_NONE ? -1 : 1;
    }
    if ((f->standing == STANDING_USER) != (g->standing == STANDING_USER)) {
        return f->standing == STANDING_USER ? 1 : -1;
    }
    int64_t x = a->date, y = b->date;
    x += x != GT_TIME_NONE && f->standing == STANDING_VENDOR ? OWN_LIST_LEAD : 0;
    y += y != GT_TIME_NONE && g->standing == STANDING_VENDOR ? OWN_LIST_LEAD : 0;
    if (x != y) {
        return x > y ? 1 : -1;
    }
    if (f->origin != g->origin) {
        return first[f->origin] - first[g->origin];
    }
    return f->order != g->order ? (f->order < g->order ? 1 : -1) : 0;
}
