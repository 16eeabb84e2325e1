/* prices storage | transfer | interruption: the other rates of the catalog, with their brackets;
 * with an amount also what it costs. Brackets are marginal: each part of the amount at its own
 * rate. */
#include "prices_rates.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "prices_filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)256 << 20)

/* Any value of a list option is a case-blind match of text ("vendor/code" for regions). */
static bool listed(const struct cli_args *a, const char *option, const char *vendor,
                   const char *text)
{
    const char *v;
    bool any = false;
    for (size_t i = 0; (v = cli_list(a, option, i)) != NULL; i++) {
        const char *slash = vendor != NULL ? strchr(v, '/') : NULL;
        any = true;
        if (slash != NULL
                ? strlen(vendor) == (size_t)(slash - v) &&
                      strncasecmp(v, vendor, (size_t)(slash - v)) == 0 && text_ieq(slash + 1, text)
                : text_ieq(v, text)) {
            return true;
        }
    }
    return !any;
}

static bool vendor_listed(const struct cli_args *a, const char *vendor)
{
    const char *v;
    bool any = false;
    for (size_t i = 0; (v = cli_list(a, "vendor", i)) != NULL; i++) {
        const char *name = vendor_canonical(v);
        any = true;
        if (text_ieq(name != NULL ? name : v, vendor)) {
            return true;
        }
    }
    return !any;
}

/* The amount in units of `unit_bytes`, as a decimal of 12 places. */
static int amount_in(const struct rate_query *q, uint64_t unit_bytes, money *out)
{
    *out = q->amount;
    return q->as_vendor ? 0 : money_mul_ratio(MONEY_SCALE, q->bytes, unit_bytes, out);
}

/* One bracket's share of `quantity` x rate / per. */
static int share(money quantity, money from, money to, money rate, uint32_t per, money *out)
{
    money top = to >= 0 && to < quantity ? to : quantity, part = top - from;
    *out = 0;
    if (part <= 0) {
        return 0;
    }
    return money_mul_ratio(rate, (gt_u128)part, (gt_u128)MONEY_SCALE * (per > 0 ? per : 1), out);
}

struct cost {
    uint32_t vendor, region, what; /* tier or destination */
    const char *currency;
    money total;
};
struct costs {
    struct cost *item;
    size_t n;
};

static int add_cost(struct costs *k, const struct cost *x)
{
    struct cost *last = k->n > 0 ? &k->item[k->n - 1] : NULL;
    if (last != NULL && last->vendor == x->vendor && last->region == x->region &&
        last->what == x->what && strcmp(last->currency, x->currency) == 0) {
        return money_add(last->total, x->total, &last->total);
    }
    struct cost *p = realloc(k->item, (k->n + 1) * sizeof *p);
    if (p == NULL) {
        return GT_ENOMEM;
    }
    k->item = p;
    k->item[k->n++] = *x;
    return 0;
}

/* A month of the amount in this row: storage once, retrieval as often as it is read. */
static int storage_cost(const struct rate_query *q, size_t i, struct costs *k)
{
    const struct catalog_storage *s = &q->c->storage;
    const char *component = catalog_text(q->c, s->component[i]);
    bool storage = strcmp(component, "storage") == 0, back = strcmp(component, "retrieval") == 0;
    bool gib = s->unit[i] == SU_GIB_MONTH || s->unit[i] == SU_GIB;
    bool gb = s->unit[i] == SU_GB_MONTH || s->unit[i] == SU_GB;
    money quantity, part;
    struct cost x = {s->vendor[i], s->region[i], s->tier[i], catalog_text(q->c, s->currency[i]), 0};
    if (!q->has_amount || !(gib || gb) || !(storage || back)) {
        return 0;
    }
    int rc = amount_in(q, gib ? GT_GIB : GT_GB, &quantity);
    if (rc == 0 && back) {
        money reads;
        rc = money_from_double(q->reads, &reads);
        rc = rc != 0 ? rc : money_mul_decimal(quantity, reads, &quantity);
    }
    rc = rc != 0 ? rc
                 : share(quantity, s->from_qty[i], s->to_qty[i], s->rate[i], s->unit_qty[i], &part);
    x.total = part;
    return rc != 0 ? rc : add_cost(k, &x);
}

static void write_costs(struct jsonw *w, const struct rate_query *q, const struct costs *k,
                        const char *what)
{
    jsonw_key(w, "costs");
    if (!q->has_amount) {
        jsonw_null(w);
        return;
    }
    jsonw_array(w);
    for (size_t i = 0; i < k->n; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "vendor", catalog_text(q->c, k->item[i].vendor));
        jsonw_kstring(w, "region", catalog_text(q->c, k->item[i].region));
        jsonw_kstring(w, what, catalog_text(q->c, k->item[i].what));
        jsonw_kmoney(w, "cost", k->item[i].total);
        jsonw_kstring(w, "currency", k->item[i].currency);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static int cost_rows(const struct rate_query *q, const struct costs *k, struct buf *b)
{
    for (size_t i = 0; i < k->n; i++) {
        char text[MONEY_TEXT];
        buf_addf(b, "%s%s/%s %s: %s %s\n", i == 0 ? "\n" : "",
                 catalog_text(q->c, k->item[i].vendor), catalog_text(q->c, k->item[i].region),
                 catalog_text(q->c, k->item[i].what), money_format(k->item[i].total, text),
                 k->item[i].currency);
    }
    return b->failed ? GT_ENOMEM : 0;
}

/* The columns of a kind of rate that filters look at; `what` is the one of its own option. */
struct rate_columns {
    size_t n;
    const uint32_t *vendor, *region, *what;
};

static struct rate_columns storage_columns(const struct catalog *c)
{
    const struct catalog_storage *s = &c->storage;
    return (struct rate_columns){s->n, s->vendor, s->region, s->tier};
}

static struct rate_columns transfer_columns(const struct catalog *c)
{
    const struct catalog_transfer *x = &c->transfer;
    return (struct rate_columns){x->n, x->vendor, x->from, x->to};
}

static struct rate_columns interruption_columns(const struct catalog *c)
{
    const struct catalog_interruption *x = &c->interruption;
    return (struct rate_columns){x->n, x->vendor, x->region, x->instance_type};
}

static int transfer_cost(const struct rate_query *q, size_t i, struct costs *k)
{
    const struct catalog_transfer *x = &q->c->transfer;
    struct cost cost = {x->vendor[i], x->from[i], x->to[i], catalog_text(q->c, x->currency[i]), 0};
    money quantity;
    if (!q->has_amount) {
        return 0;
    }
    int rc = amount_in(q, x->gb_bytes[i], &quantity);
    rc = rc ? rc : share(quantity, x->from_gb[i], x->to_gb[i], x->rate[i], 1, &cost.total);
    return rc ? rc : add_cost(k, &cost);
}

static int no_cost(const struct rate_query *q, size_t i, struct costs *k)
{
    (void)q;
    (void)i;
    (void)k;
    return 0;
}

static const struct rate_kind {
    const char *name, *schema, *what, *option; /* option: of its own, beside vendor and region */
    const char *takes;                         /* further options */
    const struct rate_shape *shape;
    struct rate_columns (*columns)(const struct catalog *c);
    int (*cost)(const struct rate_query *q, size_t i, struct costs *k);
} kinds[] = {
    {"storage", "gputier/storage-rates/1", "tier", "tier", "amount reads", &rate_storage,
     storage_columns, storage_cost},
    {"transfer", "gputier/transfer-rates/1", "to", "to", "amount", &rate_transfer, transfer_columns,
     transfer_cost},
    {"interruption", "gputier/interruption/1", "type", "instance", "", &rate_interruption,
     interruption_columns, no_cost},
};

static bool option_holds(const struct rate_query *q, const struct rate_kind *kind,
                         const char *vendor, const char *what)
{
    const char *v = cli_list(q->args, kind->option, 0);
    if (strcmp(kind->option, "instance") != 0) {
        return listed(q->args, kind->option, vendor, what);
    }
    bool any = v == NULL;
    for (size_t k = 0; !any && (v = cli_list(q->args, "instance", k)) != NULL; k++) {
        any = price_filter_instance_is(v, what);
    }
    return any;
}

static bool wanted(const struct rate_query *q, const struct rate_kind *kind,
                   const struct rate_columns *x, size_t i)
{
    const char *vendor = catalog_text(q->c, x->vendor[i]);
    return vendor_listed(q->args, vendor) &&
           listed(q->args, "region", vendor, catalog_text(q->c, x->region[i])) &&
           option_holds(q, kind, vendor, catalog_text(q->c, x->what[i]));
}

/* A name that no rate of the kind has is a mistake, as it is for offers. */
static int check_names(const struct rate_query *q, const struct rate_kind *kind,
                       struct gt_error *err)
{
    struct rate_columns x = kind->columns(q->c);
    const char *const options[] = {"vendor", "region", kind->option};
    const uint32_t *const ids[] = {x.vendor, x.region, x.what};
    const char *v;
    for (size_t n = 0; n < 3; n++) {
        for (size_t k = 0; (v = cli_list(q->args, options[n], k)) != NULL; k++) {
            struct cli_given one = {options[n], v};
            struct cli_args args = {.given = &one, .n_given = 1};
            struct rate_query alone = {.c = q->c, .args = &args};
            bool found = n == 0 && vendor_canonical(v); /* it may have none */
            for (size_t i = 0; i < x.n && !found; i++) {
                found = wanted(&alone, kind, &x, i);
            }
            if (!found) {
                char option[32];
                snprintf(option, sizeof option, "--%s", options[n]);
                return price_filter_unknown(q->c, option, ids[n], x.n, "rate", v, err);
            }
        }
    }
    return 0;
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        if (strcspn(p, " ") == n && strncmp(p, word, n) == 0) {
            return true;
        }
    }
    return false;
}

static const struct rate_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

bool prices_rates_kind(const char *name)
{
    return kind_of(name) != NULL;
}

int prices_options_fit(const char *name, const struct cli_option *own, const struct cli_args *args,
                       struct gt_error *err)
{
    const struct rate_kind *kind = kind_of(name);
    for (size_t i = 0; i < args->n_given; i++) {
        const char *o = args->given[i].name;
        const struct cli_option *p = own;
        while (p->name && strcmp(p->name, o) != 0) {
            p++;
        }
        bool fits = !p->name /* one of all commands */
                    || (kind ? has_word("vendor region limit", o) || has_word(kind->takes, o) ||
                                   strcmp(kind->option, o) == 0
                             : !has_word("tier to amount reads", o));
        if (!fits) {
            return gt_fail(err, GT_EUSAGE, "prices", "--%s says nothing to %s", o,
                           *name ? name : "offers");
        }
    }
    return 0;
}

static int read_query(struct rate_query *q, struct gt_error *err)
{
    const char *amount = cli_value(q->args, "amount"), *reads = cli_value(q->args, "reads");
    const char *limit = cli_value(q->args, "limit");
    int rc = 0;
    if (limit && count_parse(limit, &q->limit, NULL) != 0) {
        return gt_fail(err, GT_EUSAGE, "--limit", "found '%.40s', expected a number of rows",
                       limit);
    }
    if (amount != NULL) {
        q->has_amount = true;
        q->as_vendor = amount[strspn(amount, "0123456789.")] == '\0';
        rc = q->as_vendor ? money_parse(amount, strlen(amount), &q->amount, err)
                          : size_parse(amount, &q->bytes, err);
    }
    if (rc != 0) {
        return gt_fail(err, GT_EUSAGE, "--amount",
                       "found '%.40s', expected a size such as 61440GiB (without a suffix: the "
                       "vendor's own GB)",
                       amount);
    }
    if (reads != NULL &&
        (number_parse(reads, &q->reads, NULL) != 0 || q->reads < 0 || q->reads > 1e9)) {
        return gt_fail(err, GT_EUSAGE, "--reads", "found '%.40s', expected a number from 0 to 1e9",
                       reads);
    }
    return 0;
}

/* Writes the rows that are wanted, at most the limit of them, and adds all of them up. */
static int put_rows(const struct rate_query *q, const struct rate_kind *kind, struct rate_out *o,
                    struct costs *k, uint64_t *found)
{
    struct rate_columns x = kind->columns(q->c);
    int rc = 0;
    for (size_t i = 0; i < x.n && rc == 0; i++) {
        if (wanted(q, kind, &x, i)) {
            rc = *found < q->limit ? kind->shape->put(o, i) : 0;
            rc = rc ? rc : kind->cost(q, i, k);
            *found += 1;
        }
    }
    for (size_t i = 0; i < k->n && rc == 0; i++) { /* exact sums first, then one conversion */
        rc = rate_shown(q, k->item[i].total, &k->item[i].currency, &k->item[i].total);
    }
    return rc;
}

static int write_json(const struct rate_query *q, const struct rate_kind *kind, struct costs *k,
                      struct buf *b, uint64_t *found)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", kind->schema);
    jsonw_key(&w, "rates");
    jsonw_array(&w);
    int rc = put_rows(q, kind, &(struct rate_out){.q = q, .json = &w}, k, found);
    jsonw_end_array(&w);
    write_costs(&w, q, k, kind->what);
    jsonw_end_object(&w);
    return rc ? rc : jsonw_finish(&w);
}

/* The costs of an amount are no rows of this table: the caller tells them apart. */
static int write_csv(const struct rate_query *q, const struct rate_kind *kind, struct costs *k,
                     struct buf *b, uint64_t *found)
{
    struct csvw w;
    csvw_init(&w, b);
    for (size_t i = 0; kind->shape->columns[i]; i++) {
        csvw_text(&w, kind->shape->columns[i]);
    }
    csvw_end_row(&w);
    int rc = put_rows(q, kind, &(struct rate_out){.q = q, .csv = &w}, k, found);
    return rc ? rc : csvw_finish(&w);
}

static int write_table(const struct rate_query *q, const struct rate_kind *kind, struct costs *k,
                       struct buf *b, uint64_t *found, bool ascii)
{
    struct text_table t;
    table_init(&t, kind->shape->titles);
    int rc = put_rows(q, kind, &(struct rate_out){.q = q, .table = &t}, k, found);
    int written = table_write(&t, b, ascii);
    rc = rc ? rc : written;
    return rc ? rc : cost_rows(q, k, b);
}

int prices_rates(const struct app *app, const char *name, const struct catalog *c,
                 const struct cli_args *args, struct gt_error *err)
{
    struct rate_query q = {.c = c, .args = args, .limit = UINT64_MAX};
    const struct rate_kind *kind = kind_of(name);
    struct costs k = {0};
    struct buf b, aside;
    uint64_t found = 0;
    q.currency = cli_value(args, "currency");
    int rc = read_query(&q, err);
    rc = rc ? rc : check_names(&q, kind, err);
    if (rc != 0) {
        return rc;
    }
    buf_init(&b, DOCUMENT_MAX);
    buf_init(&aside, DOCUMENT_MAX);
    if (app->format == OUT_JSON) {
        rc = write_json(&q, kind, &k, &b, &found);
    } else if (app->format == OUT_CSV) {
        rc = write_csv(&q, kind, &k, &b, &found);
        rc = rc ? rc : cost_rows(&q, &k, &aside);
    } else {
        rc = write_table(&q, kind, &k, &b, &found, app->plain);
    }
    rc = rc != 0 ? gt_fail(err, rc, "", "the answer is out of range or memory") : app_put(&b, err);
    if (rc == 0 && !app->quiet) {
        prices_say_found(found, q.limit, "rate");
        fputs(aside.data ? aside.data : "", stderr);
    }
    free(k.item);
    buf_release(&b);
    buf_release(&aside);
    return rc;
}
