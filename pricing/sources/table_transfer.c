/* Tables of transfer rates as people collect them: vendor, from, to, tier_from_gb, tier_to_gb,
 * usd_per_gb, source, date. GB is 2^30 bytes as in the bundled rates. */
#include "tables.h"
#include <string.h>

enum { VENDOR, FROM, TO, FROM_GB, TO_GB, USD, SOURCE, DATE };

static const struct {
    const char *written, *to;
} classes[] = {
    {"internet", "internet"},
    {"internet (worldwide)", "internet"},
    {"other-az", "other_az"},
    {"other-az (per direction)", "other_az"},
    {"other-az (per direction; both directions billed)", "other_az"},
    {"other-az same region", "other_az"},
    {"other-region", "other_region"},
    {"other-region (most)", "other_region"},
    {"other region same continent", "other_region_same_continent"},
    {"other continent", "other_continent"},
    {"same zone", "same_region"},
};

/* A class, or a region's code (letters, digits and dashes with a digit); NULL for neither. */
static const char *destination(const char *to)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(classes[i].written, to) == 0) {
            return classes[i].to;
        }
    }
    bool code = to[strspn(to, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0' &&
                strpbrk(to, "0123456789") != NULL;
    return code ? to : NULL;
}

static int transfer_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    char vendor[48];
    struct transfer_rate_row r = {.currency = "USD", .gb_bytes = GT_GIB, .valid_to = GT_TIME_NONE};
    r.vendor = src_vendor(table_text(p, row, VENDOR), vendor);
    r.from = table_text(p, row, FROM);
    r.to = destination(table_text(p, row, TO));
    if (!r.vendor) {
        return table_refuse(p, row, VENDOR, "expected a vendor's name", err);
    }
    if (!src_name_ok(r.from)) {
        return table_refuse(p, row, FROM, "expected a region's code", err);
    }
    if (src_price(table_text(p, row, USD), &r.rate) != 0) {
        return table_refuse(p, row, USD, "expected a decimal number from 0 to 10^9", err);
    }
    const char *from = table_text(p, row, FROM_GB);
    if ((*from != '\0' && src_bracket(from, &r.from_gb) != 0) || r.from_gb < 0 ||
        src_bracket(table_text(p, row, TO_GB), &r.to_gb) != 0 ||
        (r.to_gb >= 0 && r.to_gb <= r.from_gb)) {
        return table_refuse(p, row, FROM_GB, "expected a bracket that begins before it ends", err);
    }
    r.valid_from = src_loose_date(table_text(p, row, DATE));
    r.as_of = r.valid_from != GT_TIME_NONE ? r.valid_from : p->ctx->as_of;
    if (!r.to) { /* "internet (china)", "us-east pair": destinations that no plan has */
        src_skip(p->ctx, "destinations that no plan has", 1);
        return 0;
    }
    if (strcmp(r.to, "other_az") == 0 && strcmp(r.vendor, "aws") == 0) {
        r.note = "charged on both sides";
    }
    int rc = staging_put_transfer(p->ctx->staging, &r, err);
    p->ctx->rows += rc == 0;
    return rc;
}

const struct table_shape table_transfer = {
    .met_elsewhere = true,
    .column = {"*vendor", "*from", "*to", "*tier_from_gb", "*tier_to_gb", "*usd_per_gb", "source",
               "date", NULL},
    .row = transfer_row,
};
