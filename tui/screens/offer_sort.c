/* Order of the price table (offer_filter.h): every column becomes one 64-bit key a row, sorted by
 * digits; 10^5 rows take some milliseconds, whatever the column. */
#include "gputier/arena.h"
#include "offer_filter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     (1U << DIGIT_BITS)
#define PASSES     6 /* 6 x 11 bits >= 64 */

struct keyed {
    uint64_t key;
    uint32_t row;
};

/* Order of doubles as order of integers; NaN (missing) comes last in both directions. */
static uint64_t key_of(double v, bool reverse)
{
    uint64_t bits;
    if (isnan(v)) {
        return UINT64_MAX;
    }
    memcpy(&bits, &v, sizeof bits);
    bits = bits >> 63 ? ~bits : bits | 1ULL << 63;
    return reverse ? ~bits : bits;
}

/* Stable, least digit first; digits that are the same in all rows are passed over. */
static struct keyed *sort_by_digits(struct keyed *a, struct keyed *b, size_t n)
{
    for (int pass = 0; pass < PASSES; pass++) {
        size_t count[DIGITS] = {0}, at = 0;
        int shift = pass * DIGIT_BITS;
        for (size_t i = 0; i < n; i++) {
            count[a[i].key >> shift & (DIGITS - 1)]++;
        }
        if (n && count[a[0].key >> shift & (DIGITS - 1)] == n) {
            continue;
        }
        for (size_t d = 0; d < DIGITS; d++) {
            size_t c = count[d];
            count[d] = at;
            at += c;
        }
        for (size_t i = 0; i < n; i++) {
            b[count[a[i].key >> shift & (DIGITS - 1)]++] = a[i];
        }
        struct keyed *t = a;
        a = b;
        b = t;
    }
    return a;
}

static const uint32_t *text_column(const struct catalog_offers *o, enum offer_sort s)
{
    switch (s) {
    case SORT_VENDOR:
        return o->vendor;
    case SORT_TYPE:
        return o->instance_type;
    case SORT_GPU:
        return o->gpu;
    case SORT_REGION:
        return o->region;
    default:
        return NULL;
    }
}

int offer_texts_init(struct offer_view *v)
{
    const struct catalog_offers *o = &v->catalog->offers;
    const uint32_t *const columns[] = {o->vendor, o->instance_type, o->gpu, o->region, o->zone};
    uint32_t strings = intern_count(v->catalog->strings);
    unsigned char *seen = calloc(strings + 1U, 1);
    v->text = malloc((strings + 1U) * sizeof *v->text);
    if (!seen || !v->text) {
        free(seen);
        return -1;
    }
    v->n_texts = 0;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (size_t i = 0; i < o->n; i++) {
            if (!seen[columns[c][i]]) {
                seen[columns[c][i]] = 1;
                v->text[v->n_texts++] = columns[c][i];
            }
        }
    }
    free(seen);
    return 0;
}

struct prefixed { /* the first bytes are compared without following the id */
    uint64_t prefix;
    const char *text;
    uint32_t id;
};

static int by_text(const void *a, const void *b)
{
    const struct prefixed *x = a, *y = b;
    if (x->prefix != y->prefix) {
        return x->prefix < y->prefix ? -1 : 1;
    }
    return strcmp(x->text, y->text);
}

static bool make_ranks(struct offer_view *v)
{
    struct prefixed *p = malloc((v->n_texts + 1) * sizeof *p);
    v->rank = calloc(intern_count(v->catalog->strings) + 1U, sizeof *v->rank);
    if (!p || !v->rank) {
        free(p);
        return false;
    }
    for (size_t i = 0; i < v->n_texts; i++) {
        const char *text = catalog_text(v->catalog, v->text[i]);
        p[i] = (struct prefixed){.text = text, .id = v->text[i]};
        for (int k = 0; k < 8 && text[k]; k++) {
            p[i].prefix |= (uint64_t)(unsigned char)text[k] << (56 - 8 * k);
        }
    }
    qsort(p, v->n_texts, sizeof *p, by_text);
    for (size_t i = 0; i < v->n_texts; i++) {
        v->rank[p[i].id] = (uint32_t)i;
    }
    free(p);
    return true;
}

static double value_of(const struct offer_view *v, size_t i)
{
    const struct catalog_offers *o = &v->catalog->offers;
    bool known = o->price_state[i] == PRICE_KNOWN;
    switch (v->sort) {
    case SORT_COUNT:
        return (double)o->gpu_num[i] / (o->gpu_den[i] ? o->gpu_den[i] : 1);
    case SORT_BUY:
        return o->purchase[i];
    case SORT_PER_GPU: /* machines without a GPU have no price per GPU: last */
        return known && o->gpu_num[i] ? o->usd_per_hour[i] * o->gpu_den[i] / o->gpu_num[i]
                                      : (double)NAN;
    case SORT_PER_HOUR:
        return known ? o->usd_per_hour[i] : (double)NAN;
    case SORT_AGE:
        return -(double)o->as_of[i];
    case SORT_VCPUS:
        return (double)o->vcpus[i];
    default:
        return (double)o->memory_gib[i];
    }
}

void offer_view_sort(struct offer_view *v, enum offer_sort by, bool reverse)
{
    size_t n = v->catalog->offers.n;
    struct keyed *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
    v->sort = by;
    v->reverse = reverse;
    const uint32_t *column = text_column(&v->catalog->offers, by);
    bool ranked = column && (v->rank || make_ranks(v));
    if (a && b) {
        for (size_t i = 0; i < n; i++) {
            double value = !column ? value_of(v, i) : ranked ? v->rank[column[i]] : 0;
            a[i] = (struct keyed){key_of(value, reverse), (uint32_t)i};
        }
        const struct keyed *sorted = sort_by_digits(a, b, n);
        for (size_t i = 0; i < n; i++) {
            v->order[i] = sorted[i].row;
        }
    }
    free(a);
    free(b);
    offer_view_filter(v, v->filter);
}
