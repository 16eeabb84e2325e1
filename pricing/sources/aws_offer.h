/* The AWS bulk price list, all services (docs/pricing-sources.md sections 1.1 to 1.5).
 *
 * aws_offer.c recognises and dispatches; aws_json.c and aws_csv.c read the two layouts into the
 * same two things, a product (its attributes) and a term (what it costs); aws_compute.c,
 * aws_storage.c and aws_transfer.c make rows of them. */
#ifndef GPUTIER_AWS_OFFER_H
#define GPUTIER_AWS_OFFER_H
#include "gputier/arena.h"
#include "source.h"

enum aws_attr {
    A_FAMILY,
    A_SERVICE,
    A_LOCATION,
    A_REGION,
    A_INSTANCE,
    A_VCPU,
    A_MEMORY,
    A_STORAGE,
    A_NETWORK,
    A_TENANCY,
    A_OS,
    A_LICENSE,
    A_USAGE,
    A_OPERATION,
    A_CAPACITY,
    A_GPU,
    A_MARKET,
    A_SOFTWARE,
    A_VOLUME_TYPE,
    A_STORAGE_CLASS,
    A_TRANSFER_TYPE,
    A_FROM,
    A_TO,
    A_FROM_REGION,
    A_TO_REGION,
    A_ACCESS,
    A_FILE_SYSTEM,
    A_DEPLOYMENT,
    A_MEDIA,
    A_THROUGHPUT,
    A_COUNT
};
struct aws_attr_name {
    const char *json, *csv;
};
extern const struct aws_attr_name aws_attr_names[A_COUNT];

/* "" for what the list does not state. Borrowed. */
struct aws_product {
    const char *sku;
    const char *v[A_COUNT];
};
struct aws_price {
    const char *unit, *begin, *end, *price, *currency;
};
struct aws_term {
    const char *effective, *lease, *option, *offering_class; /* lease "" = on demand */
    const struct aws_price *price;
    size_t n;
};

enum aws_kind { AWS_NOT_WANTED, AWS_COMPUTE, AWS_STORAGE, AWS_TRANSFER };

/* Why products and prices are left out, for the tally. */
enum aws_out {
    OUT_SYSTEM,
    OUT_SOFTWARE,
    OUT_CAPACITY,
    OUT_LICENCE,
    OUT_TENANCY,
    OUT_OPERATION,
    OUT_PRODUCT,
    OUT_TERM,
    OUT_COUNT
};

/* Rows that only the end of the list can judge: lists in the arena. */
struct aws_held_offer;
struct aws_held_rate;
struct aws_offer {
    struct parse_context *ctx;
    struct arena *arena;
    struct bad_rows bad;
    uint64_t line; /* of the row at hand; 0 in JSON */
    char code[64]; /* offerCode */
    uint64_t out[OUT_COUNT];
    /* What the rows say of the list as a whole: one region or several. */
    char region[64];
    bool many_regions;
    bool shared_metal, io2_tiers;
    struct aws_held_offer *held_offers, *zero_offers;
    struct intern *sold; /* "region/type" of what has a price or is sold otherwise */
    struct aws_held_rate *held_rates, *seen_rates;
};

/* What a product is good for; also notes facts of the list as a whole, and counts what it leaves.
 */
enum aws_kind aws_classify(struct aws_offer *o, const struct aws_product *p);
/* Whether an instance's attribute rules it out, whatever the others say. */
bool aws_ruled_out(enum aws_attr a, const char *value);
/* The reason that such an attribute is. */
enum aws_out aws_out_of(enum aws_attr a);
/* A product that was ruled out still tells whether the list knows shared bare metal. */
void aws_saw_metal(struct aws_offer *o, const char *family, const char *tenancy);
int aws_put(struct aws_offer *o, enum aws_kind kind, const struct aws_product *p,
            const struct aws_term *t, struct gt_error *err) GT_CHECK;
int aws_put_compute(struct aws_offer *o, const struct aws_product *p, const struct aws_term *t,
                    struct gt_error *err) GT_CHECK;
int aws_put_storage(struct aws_offer *o, const struct aws_product *p, const struct aws_term *t,
                    struct gt_error *err) GT_CHECK;
int aws_put_transfer(struct aws_offer *o, const struct aws_product *p, const struct aws_term *t,
                     struct gt_error *err) GT_CHECK;
/* Whether its offers count; else *why says why not. */
bool aws_is_compute(struct aws_offer *o, const struct aws_product *p, enum aws_out *why);
bool aws_is_storage(const struct aws_offer *o, const struct aws_product *p);
bool aws_is_transfer(const struct aws_offer *o, const struct aws_product *p);
int aws_finish_compute(struct aws_offer *o, struct gt_error *err) GT_CHECK;
int aws_finish_storage(struct aws_offer *o, struct gt_error *err) GT_CHECK;

/* Shared: the region of a product (code, else by its location's name; NULL = unknown) */
const char *aws_region(const char *code, const char *location);
/* The vendor of a region: "aws" or "aws-cn". */
const char *aws_vendor(const char *region);
/* The usage type behind its region prefixes: "EU-TimedStorage-ByteHrs" -> "TimedStorage-ByteHrs".
 */
const char *aws_usage(const char *usage);
/* The region that a usage type's prefix names, NULL if unknown: only for lists that have no other
 * word for the place. */
const char *aws_region_of_usage(const char *usage);
/* What stands behind a word of the usage type: "EU-BoxUsage:t3.micro", "BoxUsage" -> "t3.micro"; ""
 * when nothing does, NULL for another word (HostBoxUsage is one). Borrowed. */
const char *aws_usage_detail(const char *usage, const char *word);
/* GPU model, count and memory of a type; count: as the list states it, "" = it does not. A model
 * that nobody knows is called by the family, "GPU of g9x", in unnamed, which r borrows. */
#define AWS_UNNAMED 48
void aws_take_gpu(const char *type, const char *count, struct offer_row *r,
                  char unnamed[AWS_UNNAMED]);
/* "No Upfront", "AllUpfront", "Partial Upfront"; GT_EPARSE for another text. */
int aws_payment(const char *option, enum payment *out) GT_CHECK;
/* The scope that a fetch would give the same list: "us-east-1/AmazonEC2". */
void aws_name_scope(struct aws_offer *o);
void aws_saw_region(struct aws_offer *o, const char *region);
int64_t aws_time(const char *text); /* GT_TIME_NONE when it is none */
/* A row that can not be read; see src_bad_row. */
int aws_bad(struct aws_offer *o, const char *what, const char *found,
            struct gt_error *err) GT_CHECK;

/* The two layouts. */
struct aws_json;
int aws_json_open(struct aws_offer *o, struct aws_json **out, struct gt_error *err) GT_CHECK;
int aws_json_feed(struct aws_json *j, const char *data, size_t len, struct gt_error *err) GT_CHECK;
int aws_json_close(struct aws_json *j, struct gt_error *err) GT_CHECK; /* not freed */
void aws_json_free(struct aws_json *j);
struct aws_csv;
int aws_csv_open(struct aws_offer *o, struct aws_csv **out, struct gt_error *err) GT_CHECK;
int aws_csv_feed(struct aws_csv *c, const char *data, size_t len, struct gt_error *err) GT_CHECK;
int aws_csv_close(struct aws_csv *c, struct gt_error *err) GT_CHECK; /* not freed */
void aws_csv_free(struct aws_csv *c);

#endif
