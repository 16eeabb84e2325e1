/* Transfer rates of the AWSDataTransfer list (docs/pricing-sources.md section 1.5). The EC2 list
 * repeats such products; they are read from their own list only, so that no bracket counts twice.
 * Left out: accelerated and multi-region access points, rows from "Global" or "Any". */
#include "aws_offer.h"
#include "gputier/text.h"
#include <string.h>

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

/* The destination: a region's code or a class of destinations; NULL = not of interest. */
static const char *destination(const struct aws_product *p)
{
    const char *type = p->v[A_TRANSFER_TYPE], *usage = p->v[A_USAGE];
    if (strcmp(type, "AWS Outbound") == 0) {
        return strcmp(p->v[A_TO], "External") == 0 && ends(usage, "DataTransfer-Out-Bytes")
                   ? "internet"
                   : NULL;
    }
    if (strcmp(type, "IntraRegion") == 0) {
        return ends(usage, "DataTransfer-Regional-Bytes") ? "other_az" : NULL;
    }
    if (strcmp(type, "InterRegion Outbound") == 0 && ends(usage, "-AWS-Out-Bytes")) {
        return aws_region(p->v[A_TO_REGION], p->v[A_TO]);
    }
    return NULL;
}

bool aws_is_transfer(const struct aws_offer *o, const struct aws_product *p)
{
    return strcmp(o->code, "AWSDataTransfer") == 0 && strstr(p->v[A_OPERATION], "MRAP") == NULL &&
           destination(p) != NULL && aws_region(p->v[A_FROM_REGION], p->v[A_FROM]) != NULL;
}

int aws_put_transfer(struct aws_offer *o, const struct aws_product *p, const struct aws_term *t,
                     struct gt_error *err)
{
    struct transfer_rate_row r = {
        .from = aws_region(p->v[A_FROM_REGION], p->v[A_FROM]),
        .to = destination(p),
        .gb_bytes = GT_GIB,
        .sku = p->sku,
        .valid_from = aws_time(t->effective),
        .valid_to = GT_TIME_NONE,
        .as_of = o->ctx->as_of,
    };
    r.vendor = aws_vendor(r.from);
    if (strcmp(r.to, "other_az") == 0) {
        r.note = "charged on both sides";
    }
    aws_saw_region(o, r.from);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->n; i++) {
        const struct aws_price *price = &t->price[i];
        r.currency = price->currency;
        r.from_gb = 0;
        if (src_price(price->price, &r.rate) != 0) {
            rc = aws_bad(o, "price", price->price, err);
        } else if (!text_ieq(price->unit, "GB") || strlen(r.currency) != 3) {
            rc = aws_bad(o, "unit", price->unit, err);
        } else if ((*price->begin != '\0' && src_bracket(price->begin, &r.from_gb) != 0) ||
                   r.from_gb < 0 || src_bracket(price->end, &r.to_gb) != 0) {
            rc = aws_bad(o, "bracket", price->end, err);
        } else {
            rc = staging_put_transfer(o->ctx->staging, &r, err);
            o->ctx->rows += rc == 0;
        }
    }
    return rc;
}
