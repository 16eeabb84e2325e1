/* The JSON layout of the AWS price list: products.SKU.attributes, then terms.OnDemand|Reserved.
 * SKU.TERM.priceDimensions.RATE. A product is left at the first attribute that rules it out, the
 * terms of products that are not wanted are passed unread, so memory is that of the wanted
 * products. A list with its terms first is legal too: they wait in a temporary file. */
#include "aws_offer.h"
#include "json_read.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES      128 /* places for the names of attributes, more than twice as many */
#define SCRATCH    16384
#define PRICES     64
#define TEXT_MAX   64
#define STORED_MAX ((uint32_t)2000000)

enum field {
    F_NONE,
    F_CODE,
    F_DATE,
    F_ATTR,
    F_EFFECTIVE,
    F_LEASE,
    F_OPTION,
    F_CLASS,
    F_UNIT,
    F_BEGIN,
    F_END,
    F_AMOUNT
};
enum part { P_HEAD, P_PRODUCTS, P_TERMS };

struct stored {
    uint32_t v[A_COUNT];
    enum aws_kind kind;
};
struct amount {
    char unit[TEXT_MAX], begin[TEXT_MAX], end[TEXT_MAX], price[TEXT_MAX], currency[8];
};
struct aws_json {
    struct aws_offer *o;
    struct json_reader *reader;
    struct intern *skus, *strings; /* id of a SKU = its place in stored */
    struct stored *stored;
    uint32_t n_stored, cap_stored;
    enum part part;
    bool products_seen, in_price;
    bool shared;           /* tenancy of the product that is looked at ahead */
    int8_t attr_at[NAMES]; /* attribute by the hash of its name, -1 = none */
    FILE *spill;           /* terms that came before the products */
    enum field field;
    /* the product that is being read */
    enum aws_attr attr;
    uint16_t at[A_COUNT]; /* place in scratch, 0 = not stated */
    size_t used;
    char sku[TEXT_MAX];
    char scratch[SCRATCH];
    /* the term that is being read */
    struct aws_product product;
    enum aws_kind kind;
    char effective[TEXT_MAX], lease[TEXT_MAX], option[TEXT_MAX], offering_class[TEXT_MAX];
    struct amount amount[PRICES];
    size_t n_amounts;
};

/* Copies a short text; longer ones can be no unit, price or code. */
static int take(struct json_reader *r, char *to, const char *text, size_t len, struct gt_error *err)
{
    if (len >= TEXT_MAX) {
        return json_fail(r, GT_EPARSE, err, "'%.60s…' is longer than any %d-byte field", text,
                         TEXT_MAX);
    }
    memcpy(to, text, len + 1);
    return 0;
}

static int copy_terms(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    struct aws_json *j = ctx;
    return fwrite(data, 1, len, j->spill) == len
               ? 0
               : gt_fail(err, GT_EIO, j->o->ctx->name,
                         "can not keep the terms, which come before the products, in a temporary "
                         "file");
}

static int spill_terms(struct aws_json *j, struct json_reader *r, struct gt_error *err)
{
    if (j->spill) {
        return json_fail(r, GT_EPARSE, err, "a second \"terms\"");
    }
    j->spill = tmpfile();
    if (!j->spill || fputs("{\"terms\":", j->spill) < 0) {
        return gt_fail(err, GT_EIO, j->o->ctx->name, "can not make a temporary file for the terms");
    }
    json_copy_value(r, copy_terms);
    return 0;
}

static int head_key(struct aws_json *j, struct json_reader *r, const char *text,
                    struct gt_error *err)
{
    j->part = P_HEAD;
    j->field = F_NONE;
    if (strcmp(text, "products") == 0) {
        if (j->products_seen) {
            return json_fail(r, GT_EPARSE, err, "a second \"products\"");
        }
        j->products_seen = true;
        j->part = P_PRODUCTS;
    } else if (strcmp(text, "terms") == 0) {
        if (!j->products_seen) {
            return spill_terms(j, r, err);
        }
        j->part = P_TERMS;
    } else if (strcmp(text, "offerCode") == 0) {
        j->field = F_CODE;
    } else if (strcmp(text, "publicationDate") == 0) {
        j->field = F_DATE;
    } else {
        json_skip_value(r);
    }
    return 0;
}

/* Attributes are most of what is read of a list: found by length and two letters. */
static unsigned attr_hash(const char *text, size_t len)
{
    return ((unsigned char)text[0] * 3u + (unsigned char)text[len / 2] * 5u + (unsigned)len) %
           NAMES;
}

static void index_attrs(struct aws_json *j)
{
    memset(j->attr_at, -1, sizeof j->attr_at);
    for (int a = 0; a < A_COUNT; a++) {
        const char *name = aws_attr_names[a].json;
        if (name) {
            unsigned h = attr_hash(name, strlen(name));
            while (j->attr_at[h] >= 0) {
                h = (h + 1) % NAMES;
            }
            j->attr_at[h] = (int8_t)a;
        }
    }
}

static int find_attr(const struct aws_json *j, const char *text, size_t len)
{
    for (unsigned h = attr_hash(text, len); j->attr_at[h] >= 0; h = (h + 1) % NAMES) {
        if (strcmp(aws_attr_names[j->attr_at[h]].json, text) == 0) {
            return j->attr_at[h];
        }
    }
    return -1;
}

static int product_key(struct aws_json *j, struct json_reader *r, const char *text, size_t len,
                       struct gt_error *err)
{
    int depth = json_depth(r), a = -1;
    j->field = F_NONE;
    if (depth == 2) {
        memset(j->at, 0, sizeof j->at);
        j->used = 1;
        return take(r, j->sku, text, len, err);
    }
    if (depth == 3) {
        if (strcmp(text, "attributes") == 0) {
            return 0;
        }
        a = strcmp(text, "productFamily") == 0 ? A_FAMILY : -1;
    } else if (depth == 4) {
        a = find_attr(j, text, len);
    }
    if (a < 0) {
        json_skip_value(r);
    } else if (j->at[a] != 0) {
        return json_fail(r, GT_EPARSE, err, "\"%s\" twice in product %s", text, j->sku);
    } else {
        j->attr = (enum aws_attr)a;
        j->field = F_ATTR;
    }
    return 0;
}

static const char *value(const struct aws_json *j, enum aws_attr a)
{
    return j->scratch + j->at[a];
}

/* The attribute that an instance's name of this length may decide by, A_COUNT for most lengths. */
static enum aws_attr deciding(const char *key, size_t len)
{
    switch (len) {
    case sizeof "tenancy" - 1:
        return A_TENANCY;
    case sizeof "licenseModel" - 1:
        return A_LICENSE;
    case sizeof "capacitystatus" - 1: /* "preInstalledSw" is as long */
        return *key == 'c' ? A_CAPACITY : A_SOFTWARE;
    case sizeof "operatingSystem" - 1:
        return A_OS;
    default:
        return A_COUNT;
    }
}

/* One attribute ahead: true when it rules the product out. */
static bool looks_out(void *ctx, const char *key, size_t key_len, const char *text, size_t len)
{
    struct aws_json *j = ctx;
    enum aws_attr a = deciding(key, key_len);
    if (a == A_COUNT || len >= TEXT_MAX || memcmp(key, aws_attr_names[a].json, key_len) != 0) {
        return false;
    }
    char value[TEXT_MAX];
    memcpy(value, text, len);
    value[len] = '\0';
    if (a == A_TENANCY) {
        j->shared = strcmp(value, "Shared") == 0;
    }
    return aws_ruled_out(a, value);
}

/* Leaves a product at its attributes when one of them rules it out: what is read in full is a
 * small part of a list. */
static void begin_attributes(struct aws_json *j, struct json_reader *r)
{
    j->shared = false;
    if (json_look_ahead(r, looks_out, j)) {
        aws_saw_metal(j->o, value(j, A_FAMILY), j->shared ? "Shared" : "");
        json_leave(r, json_depth(r) - 2);
    }
}

static int product_value(struct aws_json *j, struct json_reader *r, const char *text, size_t len,
                         struct gt_error *err)
{
    if (aws_ruled_out(j->attr, text)) {
        aws_saw_metal(j->o, value(j, A_FAMILY), value(j, A_TENANCY));
        j->o->out[aws_out_of(j->attr)]++;
        json_leave(r, json_depth(r) - 2);
        return 0;
    }
    if (len == 0) {
        return 0;
    }
    if (j->used + len + 1 > SCRATCH) {
        return json_fail(r, GT_ELIMIT, err, "more than %d bytes of attributes", SCRATCH);
    }
    j->at[j->attr] = (uint16_t)j->used;
    memcpy(j->scratch + j->used, text, len + 1);
    j->used += len + 1;
    return 0;
}

static int store_product(struct aws_json *j, const struct aws_product *p, enum aws_kind kind,
                         struct json_reader *r, struct gt_error *err)
{
    uint32_t id = intern_add(j->skus, p->sku, strlen(p->sku));
    if (id != UINT32_MAX && id < j->n_stored) {
        return json_fail(r, GT_EPARSE, err, "product %s twice", p->sku);
    }
    if (j->n_stored >= j->cap_stored) {
        uint32_t cap = j->cap_stored ? 2 * j->cap_stored : 1024;
        struct stored *s = cap > STORED_MAX ? NULL : realloc(j->stored, cap * sizeof *s);
        if (!s) {
            return json_fail(r, GT_ENOMEM, err, "out of memory");
        }
        j->stored = s;
        j->cap_stored = cap;
    }
    struct stored *s = &j->stored[j->n_stored++];
    s->kind = kind;
    for (int a = 0; a < A_COUNT; a++) {
        s->v[a] = intern_add(j->strings, p->v[a], strlen(p->v[a]));
        if (s->v[a] == UINT32_MAX || id == UINT32_MAX) {
            return json_fail(r, GT_ENOMEM, err, "out of memory");
        }
    }
    return 0;
}

static int end_product(struct aws_json *j, struct json_reader *r, struct gt_error *err)
{
    struct aws_product p = {.sku = j->sku};
    for (int a = 0; a < A_COUNT; a++) {
        p.v[a] = value(j, (enum aws_attr)a);
    }
    enum aws_kind kind = aws_classify(j->o, &p);
    if (kind == AWS_NOT_WANTED || p.sku[0] == '\0') {
        return 0;
    }
    return store_product(j, &p, kind, r, err);
}

/* Terms of a SKU: read them only when the product is wanted. */
static void begin_sku(struct aws_json *j, struct json_reader *r, const char *text, size_t len)
{
    uint32_t id = intern_find(j->skus, text, len);
    if (id == 0) {
        json_skip_value(r);
        return;
    }
    const struct stored *s = &j->stored[id];
    j->kind = s->kind;
    j->product.sku = intern_text(j->skus, id);
    for (int a = 0; a < A_COUNT; a++) {
        j->product.v[a] = intern_text(j->strings, s->v[a]);
    }
}

static enum field named(const char *text, const char *const *names, const enum field *fields,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, names[i]) == 0) {
            return fields[i];
        }
    }
    return F_NONE;
}

static int begin_amount(struct aws_json *j, struct json_reader *r, struct gt_error *err)
{
    if (j->n_amounts == PRICES) {
        return json_fail(r, GT_ELIMIT, err, "more than %d prices in a term", PRICES);
    }
    j->amount[j->n_amounts++] = (struct amount){.unit = ""};
    return 0;
}

/* Fields of a price lie only below the key that began it. */
static struct amount *last_amount(struct aws_json *j)
{
    assert(j->in_price && j->n_amounts > 0);
    return &j->amount[j->n_amounts - 1];
}

static int term_key(struct aws_json *j, struct json_reader *r, const char *text, size_t len,
                    struct gt_error *err)
{
    static const char *const lease_names[] = {"LeaseContractLength", "PurchaseOption",
                                              "OfferingClass"};
    static const enum field lease_fields[] = {F_LEASE, F_OPTION, F_CLASS};
    static const char *const price_names[] = {"unit", "beginRange", "endRange"};
    static const enum field price_fields[] = {F_UNIT, F_BEGIN, F_END};
    j->field = F_NONE;
    switch (json_depth(r)) {
    case 2:
        if (strcmp(text, "OnDemand") != 0 && strcmp(text, "Reserved") != 0) {
            json_skip_value(r);
        }
        return 0;
    case 3:
        begin_sku(j, r, text, len);
        return 0;
    case 4:
        j->n_amounts = 0;
        j->effective[0] = j->lease[0] = j->option[0] = j->offering_class[0] = '\0';
        return 0;
    case 5:
        j->in_price = strcmp(text, "priceDimensions") == 0;
        if (strcmp(text, "effectiveDate") == 0) {
            j->field = F_EFFECTIVE;
        } else if (!j->in_price && strcmp(text, "termAttributes") != 0) {
            json_skip_value(r);
        }
        return 0;
    case 6:
        if (j->in_price) {
            return begin_amount(j, r, err);
        }
        j->field = named(text, lease_names, lease_fields, 3);
        break;
    case 7:
        if (strcmp(text, "pricePerUnit") == 0) {
            return 0;
        }
        j->field = named(text, price_names, price_fields, 3);
        break;
    case 8: {
        struct amount *a = last_amount(j);
        if (a->currency[0] != '\0') {
            return json_fail(r, GT_EPARSE, err, "a second currency '%.20s' of one price", text);
        }
        snprintf(a->currency, sizeof a->currency, "%s", text);
        j->field = F_AMOUNT;
        break;
    }
    default:
        break;
    }
    if (j->field == F_NONE) {
        json_skip_value(r);
    }
    return 0;
}

static int end_term(struct aws_json *j, struct gt_error *err)
{
    struct aws_price price[PRICES];
    for (size_t i = 0; i < j->n_amounts; i++) {
        const struct amount *a = &j->amount[i];
        price[i] = (struct aws_price){a->unit, a->begin, a->end, a->price, a->currency};
    }
    struct aws_term t = {j->effective, j->lease, j->option, j->offering_class, price, j->n_amounts};
    return j->n_amounts > 0 ? aws_put(j->o, j->kind, &j->product, &t, err) : 0;
}

static int head_date(struct aws_json *j, struct json_reader *r, const char *text, size_t len,
                     struct gt_error *err)
{
    char date[TEXT_MAX];
    int rc = take(r, date, text, len, err);
    int64_t when = rc == 0 ? aws_time(date) : GT_TIME_NONE;
    if (when != GT_TIME_NONE) {
        j->o->ctx->as_of = when;
    }
    return rc;
}

static int scalar(struct aws_json *j, struct json_reader *r, const char *text, size_t len,
                  struct gt_error *err)
{
    enum field f = j->field;
    j->field = F_NONE;
    switch (f) {
    case F_NONE:
        return 0;
    case F_CODE:
        return take(r, j->o->code, text, len, err);
    case F_DATE:
        return head_date(j, r, text, len, err);
    case F_ATTR:
        return product_value(j, r, text, len, err);
    case F_EFFECTIVE:
        return take(r, j->effective, text, len, err);
    case F_LEASE:
        return take(r, j->lease, text, len, err);
    case F_OPTION:
        return take(r, j->option, text, len, err);
    case F_CLASS:
        return take(r, j->offering_class, text, len, err);
    case F_UNIT:
        return take(r, last_amount(j)->unit, text, len, err);
    case F_BEGIN:
        return take(r, last_amount(j)->begin, text, len, err);
    case F_END:
        return take(r, last_amount(j)->end, text, len, err);
    case F_AMOUNT:
        return take(r, last_amount(j)->price, text, len, err);
    }
    return 0;
}

static int on_event(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    struct aws_json *j = ctx;
    int depth = json_depth(r);
    switch (e) {
    case JSON_KEY:
        if (depth == 1) {
            return head_key(j, r, text, err);
        }
        return j->part == P_PRODUCTS ? product_key(j, r, text, len, err)
               : j->part == P_TERMS  ? term_key(j, r, text, len, err)
                                     : 0;
    case JSON_STRING:
    case JSON_NUMBER:
        return scalar(j, r, text, len, err);
    case JSON_ARRAY:
        return json_fail(r, GT_EPARSE, err, "found a list where a price list has an object");
    case JSON_OBJECT: /* its keys would be read as those of a price, at a depth that has none */
        if (j->field != F_NONE) {
            return json_fail(r, GT_EPARSE, err, "found an object where a text belongs");
        }
        if (depth == 4 && j->part == P_PRODUCTS) {
            begin_attributes(j, r);
        }
        return 0;
    case JSON_END_OBJECT:
        if (depth == 2 && j->part == P_PRODUCTS) {
            return end_product(j, r, err);
        }
        return depth == 4 && j->part == P_TERMS ? end_term(j, err) : 0;
    default: /* null is no text: what comes next belongs to no field */
        j->field = F_NONE;
        return 0;
    }
}

int aws_json_open(struct aws_offer *o, struct aws_json **out, struct gt_error *err)
{
    struct aws_json *j = calloc(1, sizeof *j);
    int rc = j ? json_reader_new(o->ctx->name, on_event, j, &j->reader, err) : GT_ENOMEM;
    if (rc == 0 && (!(j->skus = intern_new(o->arena)) || !(j->strings = intern_new(o->arena)))) {
        rc = GT_ENOMEM;
    }
    if (rc != 0) {
        aws_json_free(j);
        return gt_fail(err, GT_ENOMEM, o->ctx->name, "out of memory");
    }
    j->o = o;
    index_attrs(j);
    j->n_stored = 1; /* interned ids begin at 1 */
    j->cap_stored = 0;
    *out = j;
    return 0;
}

int aws_json_feed(struct aws_json *j, const char *data, size_t len, struct gt_error *err)
{
    return json_reader_feed(j->reader, data, len, err);
}

/* The terms that waited for the products. */
static int read_spill(struct aws_json *j, struct gt_error *err)
{
    char chunk[65536];
    json_reader_free(j->reader);
    j->reader = NULL;
    int rc = json_reader_new(j->o->ctx->name, on_event, j, &j->reader, err);
    if (rc == 0 && (fputc('}', j->spill) == EOF || fseek(j->spill, 0, SEEK_SET) != 0)) {
        rc = gt_fail(err, GT_EIO, j->o->ctx->name, "can not read back the temporary file");
    }
    for (size_t n = 1; rc == 0 && n > 0;) {
        n = fread(chunk, 1, sizeof chunk, j->spill);
        rc = json_reader_feed(j->reader, chunk, n, err);
    }
    return rc ? rc : json_reader_end(j->reader, err);
}

int aws_json_close(struct aws_json *j, struct gt_error *err)
{
    int rc = json_reader_end(j->reader, err);
    return rc == 0 && j->spill ? read_spill(j, err) : rc;
}

void aws_json_free(struct aws_json *j)
{
    if (j) {
        json_reader_free(j->reader);
        free(j->stored);
        if (j->spill) {
            fclose(j->spill);
        }
    }
    free(j);
}
