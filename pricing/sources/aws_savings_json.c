/* The JSON layout of AWS's Savings Plan lists: `products` is an array of plans, `terms.savingsPlan`
 * an array of what each plan costs, its `rates` an array again. Wanted rates are few (one in some
 * hundred) and are kept until the end, so the order of all these does not matter. */
#include "aws_savings.h"
#include "json_read.h"
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX ((uint32_t)2000000)

enum part { P_HEAD, P_PLANS, P_TERMS };
enum field { /* texts of the entry at hand, by where they stand */
             F_NONE,
             F_DATE,
             /* plan */
             F_PLAN_SKU,
             F_FAMILY,
             F_OPTION,
             /* term */
             F_TERM_SKU,
             F_EFFECTIVE,
             F_YEARS,
             F_YEARS_UNIT,
             /* rate */
             F_SKU,
             F_SERVICE,
             F_USAGE,
             F_OPERATION,
             F_REGION,
             F_TYPE,
             F_CODE,
             F_UNIT,
             F_PRICE,
             F_CURRENCY,
             F_COUNT
};
/* What is read, by part and depth; all other keys are passed over. */
static const struct key {
    enum part part;
    int depth;
    const char *name;
    enum field field; /* F_NONE: a container */
} keys[] = {
    {P_HEAD, 1, "publicationDate", F_DATE},
    {P_PLANS, 3, "sku", F_PLAN_SKU},
    {P_PLANS, 3, "productFamily", F_FAMILY},
    {P_PLANS, 3, "attributes", F_NONE},
    {P_PLANS, 4, "purchaseOption", F_OPTION},
    {P_TERMS, 2, "savingsPlan", F_NONE},
    {P_TERMS, 4, "sku", F_TERM_SKU},
    {P_TERMS, 4, "effectiveDate", F_EFFECTIVE},
    {P_TERMS, 4, "leaseContractLength", F_NONE},
    {P_TERMS, 4, "rates", F_NONE},
    {P_TERMS, 5, "duration", F_YEARS},
    {P_TERMS, 5, "unit", F_YEARS_UNIT},
    {P_TERMS, 6, "discountedSku", F_SKU},
    {P_TERMS, 6, "discountedServiceCode", F_SERVICE},
    {P_TERMS, 6, "discountedUsageType", F_USAGE},
    {P_TERMS, 6, "discountedOperation", F_OPERATION},
    {P_TERMS, 6, "discountedRegionCode", F_REGION},
    {P_TERMS, 6, "discountedInstanceType", F_TYPE},
    {P_TERMS, 6, "rateCode", F_CODE},
    {P_TERMS, 6, "unit", F_UNIT},
    {P_TERMS, 6, "discountedRate", F_NONE},
    {P_TERMS, 7, "price", F_PRICE},
    {P_TERMS, 7, "currency", F_CURRENCY},
};

#define TEXT_MAX 300

/* An entry that waits: its texts by field, and the term that it belongs to. */
struct kept {
    uint32_t text[F_COUNT], term;
};
struct list {
    struct kept *row;
    uint32_t n, cap;
};
struct sp_json {
    struct sp_list *l;
    struct json_reader *reader;
    struct intern *texts, *skus; /* skus: id - 1 = place in plans */
    struct list plans, terms, rates;
    enum part part;
    enum field field;
    bool array_next; /* the value of the key at hand must be a list */
    char now[F_COUNT][TEXT_MAX];
};

/* Keeps the texts from..to of the entry at hand; NULL when there is no room. */
static struct kept *keep(struct sp_json *j, struct list *list, enum field from, enum field to)
{
    if (list->n == list->cap) {
        uint32_t cap = list->cap ? 2 * list->cap : 256;
        struct kept *grown = cap > KEPT_MAX ? NULL : realloc(list->row, cap * sizeof *list->row);
        if (!grown) {
            return NULL;
        }
        list->row = grown;
        list->cap = cap;
    }
    struct kept *k = &list->row[list->n++];
    memset(k, 0, sizeof *k);
    for (int f = (int)from; f <= (int)to; f++) {
        k->text[f] = intern_add(j->texts, j->now[f], strlen(j->now[f]));
        if (k->text[f] == UINT32_MAX) {
            return NULL;
        }
    }
    return k;
}

static void forget(struct sp_json *j, enum field from, enum field to)
{
    for (int f = (int)from; f <= (int)to; f++) {
        j->now[f][0] = '\0';
    }
}

static int on_key(struct sp_json *j, struct json_reader *r, const char *name, struct gt_error *err)
{
    int depth = json_depth(r);
    j->field = F_NONE;
    if (depth == 1) {
        j->part = strcmp(name, "products") == 0 ? P_PLANS
                  : strcmp(name, "terms") == 0  ? P_TERMS
                                                : P_HEAD;
        if (j->part != P_HEAD) {
            j->array_next = j->part == P_PLANS;
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].part == j->part && keys[i].depth == depth && strcmp(keys[i].name, name) == 0) {
            j->field = keys[i].field;
            j->array_next = strcmp(name, "savingsPlan") == 0 || strcmp(name, "rates") == 0;
            return j->field != F_NONE && j->now[j->field][0] != '\0'
                       ? json_fail(r, GT_EPARSE, err, "\"%s\" twice in one entry", name)
                       : 0;
        }
    }
    json_skip_value(r);
    return 0;
}

static int on_text(struct sp_json *j, struct json_reader *r, const char *value, size_t len,
                   struct gt_error *err)
{
    enum field f = j->field;
    j->field = F_NONE;
    if (f == F_NONE) {
        return 0;
    }
    if (f == F_DATE) {
        int64_t when = aws_time(value);
        j->l->o.ctx->as_of = when != GT_TIME_NONE ? when : j->l->o.ctx->as_of;
        return 0;
    }
    if (len >= TEXT_MAX) {
        return json_fail(r, GT_EPARSE, err, "'%.60s…' is longer than any field of a plan", value);
    }
    memcpy(j->now[f], value, len + 1);
    return 0;
}

static int no_room(struct json_reader *r, struct gt_error *err)
{
    return json_fail(r, GT_ENOMEM, err, "out of memory, or more than %u entries that count",
                     KEPT_MAX);
}

static int end_plan(struct sp_json *j, struct json_reader *r, struct gt_error *err)
{
    const char *sku = j->now[F_PLAN_SKU];
    size_t n = strlen(sku);
    if (n == 0 || intern_find(j->skus, sku, n) != 0) {
        return json_fail(r, GT_EPARSE, err, "plan '%.40s' %s", sku, n ? "twice" : "without a sku");
    }
    if (intern_add(j->skus, sku, n) == UINT32_MAX || !keep(j, &j->plans, F_FAMILY, F_OPTION)) {
        return no_room(r, err);
    }
    forget(j, F_PLAN_SKU, F_OPTION);
    return 0;
}

static int end_rate(struct sp_json *j, struct json_reader *r, struct gt_error *err)
{
    struct sp_rate rate = {j->now[F_SERVICE],   j->now[F_SKU],    j->now[F_USAGE],
                           j->now[F_OPERATION], j->now[F_REGION], j->now[F_TYPE],
                           j->now[F_CODE],      j->now[F_UNIT],   j->now[F_PRICE],
                           j->now[F_CURRENCY]};
    if (sp_wanted(j->l, &rate)) {
        struct kept *k = keep(j, &j->rates, F_SKU, F_CURRENCY);
        if (!k) {
            return no_room(r, err);
        }
        k->term = j->terms.n;
    }
    forget(j, F_SKU, F_CURRENCY);
    return 0;
}

static int end_term(struct sp_json *j, struct json_reader *r, struct gt_error *err)
{
    if (!keep(j, &j->terms, F_TERM_SKU, F_YEARS_UNIT)) {
        return no_room(r, err);
    }
    forget(j, F_TERM_SKU, F_YEARS_UNIT);
    return 0;
}

static int on_container(struct sp_json *j, struct json_reader *r, bool array, struct gt_error *err)
{
    int depth = json_depth(r);
    /* entries of a list are objects; all else is what its key says */
    bool entry =
        (j->part == P_PLANS && depth == 3) || (j->part == P_TERMS && (depth == 4 || depth == 6));
    bool wanted = !entry && j->array_next;
    j->array_next = false;
    if (j->field == F_NONE && array == wanted) {
        return 0;
    }
    return json_fail(r, GT_EPARSE, err, "found %s where savings plans have %s",
                     array ? "a list" : "an object",
                     j->field != F_NONE ? "a text"
                     : wanted           ? "a list"
                                        : "an object");
}

static int on_event(void *ctx, struct json_reader *r, enum json_event e, const char *value,
                    size_t len, struct gt_error *err)
{
    struct sp_json *j = ctx;
    switch (e) {
    case JSON_KEY:
        return on_key(j, r, value, err);
    case JSON_STRING:
    case JSON_NUMBER:
        return on_text(j, r, value, len, err);
    case JSON_OBJECT:
    case JSON_ARRAY:
        return on_container(j, r, e == JSON_ARRAY, err);
    case JSON_END_OBJECT: {
        int depth = json_depth(r);
        return j->part == P_PLANS && depth == 2   ? end_plan(j, r, err)
               : j->part == P_TERMS && depth == 5 ? end_rate(j, r, err)
               : j->part == P_TERMS && depth == 3 ? end_term(j, r, err)
                                                  : 0;
    }
    default:
        j->field = F_NONE;
        return 0;
    }
}

int sp_json_open(struct sp_list *l, struct sp_json **out, struct gt_error *err)
{
    struct sp_json *j = calloc(1, sizeof *j);
    int rc = j ? json_reader_new(l->o.ctx->name, on_event, j, &j->reader, err) : GT_ENOMEM;
    if (rc != 0 || !(j->texts = intern_new(l->o.arena)) || !(j->skus = intern_new(l->o.arena))) {
        sp_json_free(j);
        return gt_fail(err, GT_ENOMEM, l->o.ctx->name, "out of memory");
    }
    j->l = l;
    *out = j;
    return 0;
}

int sp_json_feed(struct sp_json *j, const char *data, size_t len, struct gt_error *err)
{
    return json_reader_feed(j->reader, data, len, err);
}

static const char *of(const struct sp_json *j, const struct kept *k, enum field f)
{
    return intern_text(j->texts, k->text[f]);
}

int sp_json_close(struct sp_json *j, struct gt_error *err)
{
    int rc = json_reader_end(j->reader, err);
    for (uint32_t i = 0; rc == 0 && i < j->rates.n; i++) {
        const struct kept *k = &j->rates.row[i], *t = &j->terms.row[k->term];
        const char *sku = of(j, t, F_TERM_SKU);
        uint32_t id = intern_find(j->skus, sku, strlen(sku));
        if (id == 0) {
            rc = aws_bad(&j->l->o, "rate of a plan that the list does not have", sku, err);
            continue;
        }
        const struct kept *p = &j->plans.row[id - 1];
        struct sp_plan plan = {of(j, p, F_FAMILY), of(j, p, F_OPTION), of(j, t, F_YEARS),
                               of(j, t, F_YEARS_UNIT), of(j, t, F_EFFECTIVE)};
        struct sp_rate rate = {of(j, k, F_SERVICE),   of(j, k, F_SKU),    of(j, k, F_USAGE),
                               of(j, k, F_OPERATION), of(j, k, F_REGION), of(j, k, F_TYPE),
                               of(j, k, F_CODE),      of(j, k, F_UNIT),   of(j, k, F_PRICE),
                               of(j, k, F_CURRENCY)};
        rc = sp_put(j->l, &plan, &rate, err);
    }
    return rc;
}

void sp_json_free(struct sp_json *j)
{
    if (j) {
        json_reader_free(j->reader);
        free(j->plans.row);
        free(j->terms.row);
        free(j->rates.row);
    }
    free(j);
}
