/* The parts of the SkyPilot importer: skypilot.c reads rows, skypilot_gcp.c adds up what the
 * catalogue keeps apart for GCP. */
#ifndef GPUTIER_SKYPILOT_H
#define GPUTIER_SKYPILOT_H
#include "../http/http.h"
#include "table.h"

enum {
    SKY_TYPE,
    SKY_PRICE,
    SKY_SPOT,
    SKY_REGION,
    SKY_ZONE,
    SKY_GPU,
    SKY_GPU_COUNT,
    SKY_VCPUS,
    SKY_MEMORY,
    SKY_INFO,
    SKY_VENDOR
};

/* Puts the on-demand and, where there is one, the spot offer. GT_EPARSE (err not filled) for a
 * price that is none. */
int sky_put(struct parser *p, struct offer_row *o, const char *price, const char *spot,
            struct gt_error *err) GT_CHECK;
int sky_gcp_row(struct parser *p, const struct csv_row *row, struct offer_row *o,
                struct gt_error *err) GT_CHECK;
int sky_gcp_end(struct parser *p, struct gt_error *err) GT_CHECK;

#endif
