/* AWS Savings Plan lists (docs/pricing-sources.md section 1.1): aws_savings.c recognises, reads the
 * CSV layout and makes offers; aws_savings_json.c reads the JSON layout.
 *
 * Two kinds of plan price one machine, term and payment differently, so the kind is part of the
 * offer: class "standard" is an EC2 Instance Savings Plan (one family in one region), class
 * "convertible" a Compute Savings Plan (any family and region), as with reserved instances. */
#ifndef GPUTIER_AWS_SAVINGS_H
#define GPUTIER_AWS_SAVINGS_H
#include "aws_offer.h"

struct sp_list {
    struct aws_offer o; /* for its context, arena, scope and bad rows */
};
struct sp_plan { /* "" for what the list does not state */
    const char *family, *option, *years, *unit, *effective;
};
struct sp_rate {
    const char *service, *sku, *usage, *operation, *region, *type;
    const char *code, *unit, *price, *currency;
};
/* Whether the rate is one of a Linux machine of shared tenancy; counts the others. */
bool sp_wanted(struct sp_list *l, const struct sp_rate *r);
/* Puts the offer of a wanted rate. */
int sp_put(struct sp_list *l, const struct sp_plan *p, const struct sp_rate *r,
           struct gt_error *err) GT_CHECK;

struct sp_json;
int sp_json_open(struct sp_list *l, struct sp_json **out, struct gt_error *err) GT_CHECK;
int sp_json_feed(struct sp_json *j, const char *data, size_t len, struct gt_error *err) GT_CHECK;
int sp_json_close(struct sp_json *j, struct gt_error *err) GT_CHECK; /* not freed */
void sp_json_free(struct sp_json *j);

#endif
