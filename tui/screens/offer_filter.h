/* The view of the price table: which offers pass the filter, in which order. No terminal here. */
#ifndef GPUTIER_OFFER_FILTER_H
#define GPUTIER_OFFER_FILTER_H
#include "gputier/catalog.h"
#include "gputier/csvw.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum offer_sort {
    SORT_VENDOR,
    SORT_TYPE,
    SORT_GPU,
    SORT_COUNT,
    SORT_REGION,
    SORT_BUY,
    SORT_PER_GPU,
    SORT_PER_HOUR,
    SORT_AGE,
    SORT_VCPUS,
    SORT_MEMORY
};
struct offer_view {
    const struct catalog *catalog;
    uint32_t *order;      /* all rows in sort order */
    uint32_t *row;        /* those that pass, in order */
    unsigned char *match; /* per string id, while filtering */
    uint32_t *text;       /* ids of the texts in the columns that people see */
    size_t n_texts;
    uint32_t *rank; /* per string id: its place among those texts; made when first needed */
    size_t n;
    enum offer_sort sort;
    bool reverse;
    char filter[512];
    char problem[160]; /* when nothing passes: which word left nothing */
};
int offer_view_init(struct offer_view *v, const struct catalog *c);
void offer_view_release(struct offer_view *v);
/* Words are joined by "and": a bare word is searched in vendor, type, GPU, region, purchase (a bare
 * number is the GPU count); key=value: vendor gpu gpus region zone type buy max (USD per GPU-hour).
 */
void offer_view_filter(struct offer_view *v, const char *filter);
/* Missing values last in both directions; ties keep the catalog's order, so that it is stable. */
void offer_view_sort(struct offer_view *v, enum offer_sort by, bool reverse);
int offer_texts_init(struct offer_view *v); /* for offer_view_init */
void offer_view_csv(const struct offer_view *v, struct csvw *w);

#endif
