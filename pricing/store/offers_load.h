/* Offers while the catalog is loaded: catalog_offers.c reads rows and chooses one per key,
 * catalog_conflicts.c deals with what the sources that were not chosen say. */
#ifndef PRICING_STORE_OFFERS_LOAD_H
#define PRICING_STORE_OFFERS_LOAD_H
#include "store_impl.h"

/* Every column of struct catalog_offers. */
#define OFFER_COLUMNS(X)                                                                           \
    X(vendor)                                                                                      \
    X(region)                                                                                      \
    X(zone)                                                                                        \
    X(instance_type)                                                                               \
    X(gpu)                                                                                         \
    X(currency)                                                                                    \
    X(sku)                                                                                         \
    X(source)                                                                                      \
    X(note)                                                                                        \
    X(gpu_spec)                                                                                    \
    X(gpu_num)                                                                                     \
    X(gpu_den)                                                                                     \
    X(gpu_memory_gib)                                                                              \
    X(vcpus)                                                                                       \
    X(memory_gib)                                                                                  \
    X(local_nvme_gb)                                                                               \
    X(network_gbps)                                                                                \
    X(purchase)                                                                                    \
    X(payment)                                                                                     \
    X(offering_class)                                                                              \
    X(price_state)                                                                                 \
    X(origin)                                                                                      \
    X(price_per_hour)                                                                              \
    X(upfront)                                                                                     \
    X(price_month)                                                                                 \
    X(usd_per_hour)                                                                                \
    X(as_of)                                                                                       \
    X(fetched_at)                                                                                  \
    X(valid_from)                                                                                  \
    X(valid_to)                                                                                    \
    X(id)

enum { TEXT_CURRENCY, TEXT_SKU, TEXT_NOTE, N_TEXT };
/* Mutable view of the columns while they fill. */
struct columns {
    uint32_t *vendor, *region, *zone, *instance_type, *gpu, *currency, *sku, *source, *note;
    int16_t *gpu_spec;
    uint16_t *gpu_num, *gpu_den;
    float *gpu_memory_gib, *vcpus, *memory_gib, *local_nvme_gb, *network_gbps;
    uint8_t *purchase, *payment, *offering_class, *price_state, *origin;
    money *price_per_hour, *upfront, *price_month;
    double *usd_per_hour;
    int64_t *as_of, *fetched_at, *valid_from, *valid_to, *id;
};
#define AHEAD 8 /* rows between asking for a slot's memory and using it */
/* One row before it has its place. */
struct offer {
    uint32_t place, type, options; /* options: purchase, payment, class in one number */
    uint32_t feed, text[N_TEXT];
    uint8_t state;
    money hour, upfront, month;
    double usd;
    int64_t as_of, valid_from, valid_to, id;
};
/* A price that is not shown, beside the row that is. */
struct loser {
    struct claim claim;
    uint32_t row; /* the offer that is shown */
    uint32_t zone, source, currency, sku, note;
    uint8_t origin;
    money hour, upfront, month;
    double usd;
    int64_t as_of, fetched_at, valid_from, valid_to, id;
};
/* tag: other bits of the key's hash, so that the rows of other keys are seldom looked at. */
struct offer_slot {
    uint32_t row, tag;
};
struct pass {
    struct loader *l;
    struct columns c;
    size_t n, cap;
    struct offer_slot *slot; /* hash of keys -> row + 1 */
    uint32_t mask;
    uint32_t *place, *type, *options, *feed;
    struct loser *losers;
    size_t n_losers, losers_cap;
    struct text_cache cache[N_TEXT];
    struct offer ahead[AHEAD]; /* the last ones read; those not yet added */
    size_t n_read;
    uint32_t usd_currency; /* of usd_rate */
    double usd_rate;
};
/* Columns for n rows in the catalog's arena. */
int offers_columns(const struct loader *l, size_t n, struct columns *c,
                   struct gt_error *err) GT_CHECK;
/* The columns as the catalog shows them. */
struct catalog_offers offers_share(const struct columns *c, size_t n);
/* The slot of a key: 0 = empty, else its row + 1. */
uint32_t *offers_slot(const struct pass *p, uint32_t place, uint32_t type, uint32_t options);
/* What stands in a row, as a claim. */
struct claim offers_claim(const struct pass *p, size_t row);
/* Notes a row's content as what another source said of `shown`. */
int offers_lose(struct pass *p, size_t row, size_t shown, struct gt_error *err) GT_CHECK;
int offers_lose_new(struct pass *p, const struct offer *o, size_t shown,
                    struct gt_error *err) GT_CHECK;
/* When all rows are read: whole regions against zones, notes, the catalog's conflicts. */
int offers_conflicts(struct pass *p, struct gt_error *err) GT_CHECK;

#endif
