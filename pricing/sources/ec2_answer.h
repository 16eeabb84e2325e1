/* Lists that the EC2 API answers with: XML from the API itself, or JSON as the command line prints
 * it. Each item is a set of texts; pages and lists may follow one another. */
#ifndef GPUTIER_EC2_ANSWER_H
#define GPUTIER_EC2_ANSWER_H
#include "source.h"

#define EC2_FIELDS 12 /* at most, of one item */
#define EC2_TEXT   100

struct ec2_shape {
    const char *json_list;    /* "SpotPriceHistory" */
    const char *xml_response; /* "DescribeSpotPriceHistoryResponse" */
    const char *const *json_keys, *const *xml_names;
    int n; /* of both */
};
/* field: shape.n texts, "" where the item has none. line: 0 in JSON. */
typedef int ec2_item_fn(void *ctx, const char *const *field, uint64_t line, struct gt_error *err);

struct ec2_answer;
bool ec2_recognise(const struct ec2_shape *shape, const char *head, size_t len);
/* Where the list goes on is left in ctx->next. */
int ec2_answer_new(const struct ec2_shape *shape, struct parse_context *ctx, bool xml,
                   ec2_item_fn *item, void *item_ctx, struct ec2_answer **out,
                   struct gt_error *err) GT_CHECK;
int ec2_answer_feed(struct ec2_answer *a, const char *data, size_t len,
                    struct gt_error *err) GT_CHECK;
int ec2_answer_end(struct ec2_answer *a, struct gt_error *err) GT_CHECK;
void ec2_answer_free(struct ec2_answer *a); /* NULL is fine */

#endif
