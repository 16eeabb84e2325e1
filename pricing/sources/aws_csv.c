/* The CSV layout of the AWS price list: a few lines of preamble, a header whose first column is
 * SKU, then one row per price with the product's attributes repeated. The two rows of a reserved
 * term (by the hour, and up front) are joined here; those of one product stand together, so few
 * wait at a time. Junk lines before the header and rows that are too short are tolerated. */
#include "aws_offer.h"
#include "gputier/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREAMBLE_LINES 20
#define WAITING_MAX    200000 /* reserved terms whose second price has not come */
#define BUCKETS        4096

enum column {
    C_SKU,
    C_TERM,
    C_TYPE,
    C_EFFECTIVE,
    C_START,
    C_END,
    C_UNIT,
    C_PRICE,
    C_CURRENCY,
    C_LEASE,
    C_OPTION,
    C_CLASS,
    C_COUNT
};
static const char *const columns[C_COUNT] = {
    "SKU",  "OfferTermCode", "TermType", "EffectiveDate",       "StartingRange",  "EndingRange",
    "Unit", "PricePerUnit",  "Currency", "LeaseContractLength", "PurchaseOption", "OfferingClass",
};
static const enum column needed[] = {C_SKU, C_TYPE, C_UNIT, C_PRICE, C_CURRENCY};

struct waiting { /* one price of a reserved term */
    struct waiting *next;
    bool upfront;
    struct aws_product product; /* into text */
    struct aws_term term;
    struct aws_price price;
    char term_code[32];
    char text[]; /* copies of all strings */
};
struct aws_csv {
    struct aws_offer *o;
    struct csv_reader *reader;
    bool header;
    int column[C_COUNT], attr[A_COUNT];
    struct waiting *bucket[BUCKETS];
    size_t n_waiting;
};

static int take_preamble(struct aws_csv *c, const struct csv_row *row, struct gt_error *err)
{
    if (strcmp(csv_field(row, 0), "OfferCode") == 0) {
        snprintf(c->o->code, sizeof c->o->code, "%s", csv_field(row, 1));
    } else if (strcmp(csv_field(row, 0), "Publication Date") == 0) {
        int64_t when = aws_time(csv_field(row, 1));
        c->o->ctx->as_of = when != GT_TIME_NONE ? when : c->o->ctx->as_of;
    }
    if (row->line > PREAMBLE_LINES) {
        return csv_fail(err, GT_EPARSE, c->o->ctx->name, row,
                        "no header line among the first %d; expected one that begins with SKU",
                        PREAMBLE_LINES);
    }
    return 0;
}

static int take_header(struct aws_csv *c, const struct csv_row *row, struct gt_error *err)
{
    for (int i = 0; i < C_COUNT; i++) {
        c->column[i] = csv_column(row, columns[i]);
    }
    for (int a = 0; a < A_COUNT; a++) {
        c->attr[a] = aws_attr_names[a].csv ? csv_column(row, aws_attr_names[a].csv) : -1;
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (c->column[needed[i]] < 0) {
            return csv_fail(err, GT_EPARSE, c->o->ctx->name, row, "the header has no column '%s'",
                            columns[needed[i]]);
        }
    }
    if (c->attr[A_FAMILY] < 0 || c->attr[A_USAGE] < 0) {
        return csv_fail(err, GT_EPARSE, c->o->ctx->name, row, "the header has no column '%s'",
                        c->attr[A_USAGE] < 0 ? "usageType" : "Product Family");
    }
    c->header = true;
    if (c->o->code[0] == '\0' && c->attr[A_INSTANCE] >= 0) { /* a list that lost its preamble */
        snprintf(c->o->code, sizeof c->o->code, "AmazonEC2");
    }
    return 0;
}

static unsigned bucket_of(const char *sku, const char *term)
{
    unsigned h = 2166136261u;
    for (const char *s = sku; *s != '\0'; s++) {
        h = (h ^ (unsigned char)*s) * 16777619u;
    }
    for (const char *s = term; *s != '\0'; s++) {
        h = (h ^ (unsigned char)*s) * 16777619u;
    }
    return h % BUCKETS;
}

static const char *copy(char **to, const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = memcpy(*to, s, n);
    *to += n;
    return p;
}

static int wait_for_other(struct aws_csv *c, const struct aws_product *p, const struct aws_term *t,
                          const char *code, bool upfront, struct gt_error *err)
{
    const struct aws_price *price = t->price;
    const char *const extra[] = {p->sku,       t->effective,      t->lease,
                                 t->option,    t->offering_class, price->unit,
                                 price->price, price->currency};
    size_t n = 0;
    for (int a = 0; a < A_COUNT; a++) {
        n += strlen(p->v[a]) + 1;
    }
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        n += strlen(extra[i]) + 1;
    }
    struct waiting *w = c->n_waiting < WAITING_MAX ? malloc(sizeof *w + n) : NULL;
    if (!w) {
        return gt_fail(err, GT_ELIMIT, c->o->ctx->name,
                       "more than %d reserved terms wait for their second price", WAITING_MAX);
    }
    char *to = w->text;
    for (int a = 0; a < A_COUNT; a++) {
        w->product.v[a] = copy(&to, p->v[a]);
    }
    w->product.sku = copy(&to, extra[0]);
    w->term.effective = copy(&to, extra[1]);
    w->term.lease = copy(&to, extra[2]);
    w->term.option = copy(&to, extra[3]);
    w->term.offering_class = copy(&to, extra[4]);
    w->price =
        (struct aws_price){copy(&to, extra[5]), "", "", copy(&to, extra[6]), copy(&to, extra[7])};
    w->upfront = upfront;
    snprintf(w->term_code, sizeof w->term_code, "%s", code);
    struct waiting **head = &c->bucket[bucket_of(p->sku, w->term_code)];
    w->next = *head;
    *head = w;
    c->n_waiting++;
    return 0;
}

/* Takes the other price of this term out of those that wait; NULL if it has not come. */
static struct waiting *find_other(struct aws_csv *c, const char *sku, const char *code,
                                  bool upfront)
{
    char key[32];
    snprintf(key, sizeof key, "%s", code);
    for (struct waiting **w = &c->bucket[bucket_of(sku, key)]; *w; w = &(*w)->next) {
        if ((*w)->upfront != upfront && strcmp((*w)->product.sku, sku) == 0 &&
            strcmp((*w)->term_code, key) == 0) {
            struct waiting *found = *w;
            *w = found->next;
            c->n_waiting--;
            return found;
        }
    }
    return NULL;
}

static int put_reserved(struct aws_csv *c, enum aws_kind kind, const struct aws_product *p,
                        struct aws_term *t, const char *code, struct gt_error *err)
{
    bool upfront = text_ieq(t->price->unit, "Quantity");
    if (t->option[0] == 'N' && !upfront) { /* no upfront: the hourly price is all */
        return aws_put(c->o, kind, p, t, err);
    }
    struct waiting *other = find_other(c, p->sku, code, upfront);
    if (!other) {
        return wait_for_other(c, p, t, code, upfront, err);
    }
    struct aws_price both[2] = {*t->price, other->price};
    t->price = both;
    t->n = 2;
    int rc = aws_put(c->o, kind, p, t, err);
    free(other);
    return rc;
}

static const char *cell(const struct aws_csv *c, const struct csv_row *row, enum column i)
{
    return csv_field(row, c->column[i]);
}

/* Most rows are of instances that one attribute rules out: told without looking at the others. */
static bool passed_over(struct aws_csv *c, const struct csv_row *row)
{
    static const enum aws_attr ruling[] = {A_OS, A_SOFTWARE, A_CAPACITY, A_LICENSE};
    const char *family = csv_field_alone(row, c->attr[A_FAMILY]);
    if (strncmp(family, "Compute Instance", 16) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof ruling / sizeof *ruling; i++) {
        if (aws_ruled_out(ruling[i], csv_field_alone(row, c->attr[ruling[i]]))) {
            if (family[16] != '\0') { /* bare metal perhaps */
                aws_saw_metal(c->o, family, csv_field_alone(row, c->attr[A_TENANCY]));
            }
            c->o->out[aws_out_of(ruling[i])]++;
            return true;
        }
    }
    return false;
}

static int price_row(struct aws_csv *c, const struct csv_row *row, struct gt_error *err)
{
    if (row->n < 10) { /* junk: a list has dozens of columns */
        src_skip(c->o->ctx, "no price", 1);
        return 0;
    }
    if (c->o->code[0] == '\0') {
        snprintf(c->o->code, sizeof c->o->code, "%s", csv_field(row, c->attr[A_SERVICE]));
    }
    if (passed_over(c, row)) {
        return 0;
    }
    struct aws_product p = {.sku = cell(c, row, C_SKU)};
    for (int a = 0; a < A_COUNT; a++) {
        p.v[a] = csv_field(row, c->attr[a]);
    }
    enum aws_kind kind = aws_classify(c->o, &p);
    if (kind == AWS_NOT_WANTED) {
        return 0;
    }
    struct aws_price price = {cell(c, row, C_UNIT), cell(c, row, C_START), cell(c, row, C_END),
                              cell(c, row, C_PRICE), cell(c, row, C_CURRENCY)};
    bool reserved = strcmp(cell(c, row, C_TYPE), "Reserved") == 0;
    struct aws_term t = {cell(c, row, C_EFFECTIVE),
                         reserved ? cell(c, row, C_LEASE) : "",
                         cell(c, row, C_OPTION),
                         cell(c, row, C_CLASS),
                         &price,
                         1};
    if (!reserved && strcmp(cell(c, row, C_TYPE), "OnDemand") != 0) {
        c->o->out[OUT_TERM]++;
        return 0;
    }
    if (!reserved) {
        return aws_put(c->o, kind, &p, &t, err);
    }
    if (*t.lease == '\0') {
        return aws_bad(c->o, "length of a reserved term", "", err);
    }
    return put_reserved(c, kind, &p, &t, cell(c, row, C_TERM), err);
}

static int on_row(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    struct aws_csv *c = ctx;
    if (!c->header) {
        return strcmp(csv_field(row, 0), "SKU") == 0 ? take_header(c, row, err)
                                                     : take_preamble(c, row, err);
    }
    c->o->line = row->line;
    c->o->bad.seen++;
    return price_row(c, row, err);
}

int aws_csv_open(struct aws_offer *o, struct aws_csv **out, struct gt_error *err)
{
    struct aws_csv *c = calloc(1, sizeof *c);
    if (!c) {
        return gt_fail(err, GT_ENOMEM, o->ctx->name, "out of memory");
    }
    c->o = o;
    int rc = csv_reader_new(o->ctx->name, ',', on_row, c, &c->reader, err);
    if (rc != 0) {
        free(c);
        return rc;
    }
    *out = c;
    return 0;
}

int aws_csv_feed(struct aws_csv *c, const char *data, size_t len, struct gt_error *err)
{
    return csv_reader_feed(c->reader, data, len, err);
}

int aws_csv_close(struct aws_csv *c, struct gt_error *err)
{
    int rc = csv_reader_end(c->reader, err);
    if (rc == 0 && !c->header) {
        return gt_fail(err, GT_EPARSE, c->o->ctx->name,
                       "no header line; expected one that begins with SKU");
    }
    /* all upfront may come without an hourly row; partial upfront may not */
    for (size_t i = 0; rc == 0 && i < BUCKETS; i++) {
        for (struct waiting *w = c->bucket[i]; rc == 0 && w; w = w->next) {
            w->term.price = &w->price;
            w->term.n = 1;
            if (w->term.option[0] == 'A' && w->upfront) {
                rc = aws_put(c->o, aws_classify(c->o, &w->product), &w->product, &w->term, err);
            } else {
                rc = aws_bad(c->o, "reserved term without its other price", w->product.sku, err);
            }
        }
    }
    return rc;
}

void aws_csv_free(struct aws_csv *c)
{
    for (size_t i = 0; c && i < BUCKETS; i++) {
        while (c->bucket[i]) {
            struct waiting *w = c->bucket[i];
            c->bucket[i] = w->next;
            free(w);
        }
    }
    if (c) {
        csv_reader_free(c->reader);
    }
    free(c);
}
