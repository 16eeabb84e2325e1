/* Filters and order of `prices`, from its options (prices_filter.c). */
#ifndef GPUTIER_PRICES_FILTER_H
#define GPUTIER_PRICES_FILTER_H
#include "prices.h"

#define SORT_KEYS 8

enum sort_by {
    BY_PRICE,
    BY_VENDOR,
    BY_REGION,
    BY_ZONE,
    BY_INSTANCE,
    BY_GPU,
    BY_GPUS,
    BY_GPU_MEM,
    BY_VCPUS,
    BY_MEM,
    BY_PURCHASE,
    BY_AS_OF
};
struct range {
    bool set;
    double lo, hi;
};
struct price_filter {
    const struct cli_args *args;
    struct range gpus, gpu_mem, vcpus, mem;
    uint32_t purchases; /* bit set, 0 = all */
    double max_price;   /* USD, NAN = none */
    enum price_per per;
    unsigned month_h; /* hours that PER_MONTH stands for: 730, or as asked */
    size_t limit;
    struct {
        enum sort_by by;
        bool down;
    } key[SORT_KEYS];
    size_t n_keys;
};
/* Reads the options; GT_EUSAGE names the one that is wrong. f borrows args. */
int price_filter_take(struct app *app, const struct catalog *c, const struct cli_args *args,
                      struct price_filter *f, struct gt_error *err) GT_CHECK;
/* A name that no offer has is GT_EUSAGE with the nearest ones. */
int price_filter_names(const struct catalog *c, const struct price_filter *f,
                       struct gt_error *err) GT_CHECK;
/* The three names nearest to one that no offer or rate ("what") has: ids are the n rows' names. */
int price_filter_unknown(const struct catalog *c, const char *option, const uint32_t *ids, size_t n,
                         const char *what, const char *asked, struct gt_error *err) GT_CHECK;
/* us-east-1 (of any vendor), aws/us-east-1 */
bool price_filter_region_is(const char *asked, const char *vendor, const char *region);
/* p5.48xlarge, p5 (all sizes), g?.*large */
bool price_filter_instance_is(const char *asked, const char *type);
bool price_filter_wants(const struct catalog *c, const struct price_filter *f, size_t row);
/* The price that --per speaks of, in USD; NAN when there is none. */
double price_filter_price(const struct catalog *c, const struct price_filter *f, size_t row);
/* GPUs of a machine, a fraction is possible; NAN when it has some and nobody states how many. */
double price_filter_gpus(const struct catalog_offers *o, size_t row);

#endif
