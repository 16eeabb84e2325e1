/* The parts of the Google Cloud importer: gcp_skus.c reads the catalogue's SKUs and puts storage
 * and egress, gcp_machines.c adds machines up from their parts. */
#ifndef GPUTIER_GCP_SKUS_H
#define GPUTIER_GCP_SKUS_H
#include "records.h"

enum gcp_option { GCP_ON_DEMAND, GCP_SPOT, GCP_COMMIT_1Y, GCP_COMMIT_3Y, GCP_OPTIONS };

/* An hourly price of one part: core, GiB of memory, GPU, GiB-month of local SSD. */
struct gcp_rate {
    money rate;
    int64_t from; /* when it took effect */
    char sku[20];
    bool used; /* in the sum of a machine */
};
/* A GPU as its SKU names it, in one region. */
struct gcp_gpu {
    struct gcp_gpu *next;
    const char *name, *plain, *region, *currency; /* plain: as rates are found by */
};
#define GCP_REGIONS    200
#define GCP_CURRENCIES 8
struct gcp {
    struct intern *key; /* of a rate: currency, region, kind, name and option */
    struct gcp_rate *rate;
    size_t cap;
    const char *region[GCP_REGIONS], *currency[GCP_CURRENCIES];
    size_t n_regions, n_currencies;
    struct gcp_gpu *gpu;
    char service[32];
};
/* kind: 'c' core, 'm' memory, 'g' GPU, 's' local SSD; name: lower case letters and digits. NULL
 * when there is no such rate. */
struct gcp_rate *gcp_find(const struct gcp *g, const char *currency, const char *region, char kind,
                          const char *name, enum gcp_option o);
int gcp_put_machines(struct records *r, const struct gcp *g, struct gt_error *err) GT_CHECK;

#endif
