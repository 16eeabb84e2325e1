/* prices check: faults that show in the price table itself (product.md section 2). Known sources do
 * contain such faults; that is what the list is for. This file drives the rules and writes the
 * findings; prices_check.h names the files of the rules. */
#include "prices_check.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "table.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)256 << 20)
#define KEEP_TEXT    20 /* findings of one rule, without --limit */
#define KEEP_FILE    1000
#define ROWS_TEXT    3 /* of one finding */

/* What each rule says, with its figures. */
static const struct {
    const char *kind, *means;
} rules[RULE_COUNT] = {
    [RULE_COMMITMENT_ABOVE] = {"commitment_above_on_demand",
                               "a commitment or monthly package costs more an hour than on demand, "
                               "upfront parts spread over the term (a warning where the two were "
                               "recorded over 90 days apart)"},
    [RULE_GPU_AT_CPU_PRICE] =
        {"gpu_at_cpu_price",
         "under 0.05 USD an hour of a data-centre GPU, or no dearer than a machine of the same "
         "region with as many CPUs and as much memory and no GPU"},
    [RULE_ONE_PRICE] = {"many_types_at_one_price",
                        "50 instance types or more of one region at one price"},
    [RULE_ZERO_PRICE] = {"zero_price", "a price of 0"},
    [RULE_IMPOSSIBLE_MEMORY] = {"impossible_memory",
                                "GPU memory over 8 % away from the model's (30 % for a slice), or "
                                "memory outside 0.2 to 64 GiB a vCPU"},
    [RULE_CURRENCY] = {"currency_mismatch",
                       "a figure that is off by an exchange rate (within 10 %), or one in ten rows "
                       "or fewer of a list in another currency than the rest"},
    [RULE_DATE_AHEAD] = {"date_ahead", "a price of a day that is yet to come"},
    [RULE_NOT_SCALING] = {"price_not_scaling_with_count",
                          "twice the GPUs of one model in one region for less than 1.2 times the "
                          "price, or a GPU-hour over 4 times the cheapest"},
    [RULE_OUTLIER] = {"price_outlier",
                      "over 3 times (spot: 10 times) the median over the regions of "
                      "the same type and purchase, or under a third (a tenth)"},
    [RULE_SPOT_ABOVE] = {"spot_above_on_demand", "spot costs more than on demand"},
    [RULE_SPOT_EQUAL] = {"spot_equals_on_demand", "spot costs what on demand costs"},
    [RULE_STATE_CONFLICT] = {"price_state_conflict",
                             "one source has a price, another says that it is sold otherwise"},
    [RULE_DISAGREE] =
        {"sources_disagree",
         "two sources price one offer over 1 % apart (information where they are over "
         "180 days apart)"},
    [RULE_STALE] = {"stale_price", "prices older than 180 days, spot prices older than 30"},
    [RULE_UNKNOWN_GPU] = {"unknown_gpu", "GPUs that the table of models does not have"},
};
static const char *const severities[] = {"error", "warning", "info"};

bool check_wants(const struct check *k, size_t row)
{
    return price_filter_wants(k->c, k->filter, row);
}

bool check_add(struct check *k, enum check_rule rule, enum check_severity s, size_t row,
               const char *fmt, ...)
{
    char text[700];
    if (k->failed || !check_wants(k, row)) {
        return false;
    }
    k->errors += s == CHECK_ERROR;
    if (++k->found[rule] > k->keep) {
        return false;
    }
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (k->n == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 64;
        struct finding *f = realloc(k->finding, cap * sizeof *f);
        k->failed = f == NULL;
        k->finding = f ? f : k->finding;
        k->cap = f ? cap : k->cap;
    }
    const char *kept = k->failed ? NULL : arena_strdup(k->arena, text);
    if (!kept) {
        k->failed = true;
        return false;
    }
    k->finding[k->n++] = (struct finding){(uint8_t)rule, (uint8_t)s, kept, k->n_rows, 0, 0};
    return true;
}

void check_row(struct check *k, size_t row)
{
    struct finding *f = &k->finding[k->n - 1];
    if (f->count++ >= CHECK_ROWS) {
        return;
    }
    if (k->n_rows == k->rows_cap) {
        size_t cap = k->rows_cap ? 2 * k->rows_cap : 256;
        uint32_t *r = realloc(k->row, cap * sizeof *r);
        if (!r) {
            k->failed = true;
            return;
        }
        k->row = r;
        k->rows_cap = cap;
    }
    k->row[k->n_rows++] = (uint32_t)row;
    f->n++;
}

const struct catalog *check_catalog(const struct check *k, uint32_t row, struct catalog *side,
                                    size_t *at)
{
    *at = row;
    if (row < k->c->offers.n) {
        return k->c;
    }
    *side = *k->c;
    side->offers = k->c->others;
    *at = row - k->c->offers.n;
    return side;
}

const char *check_name(const struct catalog *c, size_t row, char buf[CHECK_NAME])
{
    const struct catalog_offers *o = &c->offers;
    const char *payment = payment_name((enum payment)o->payment[row]);
    (void)snprintf(
        buf, CHECK_NAME, "%.40s/%.60s%s%.60s %.90s %s%s%s%s", catalog_text(c, o->vendor[row]),
        catalog_text(c, o->region[row]), o->zone[row] ? "/" : "", catalog_text(c, o->zone[row]),
        catalog_text(c, o->instance_type[row]), purchase_name((enum purchase)o->purchase[row]),
        payment ? " (upfront: " : "", payment ? payment : "", payment ? ")" : "");
    return buf;
}

const char *check_price(const struct catalog *c, size_t row, char buf[64])
{
    struct shown_price s = price_shown(c, row, NULL);
    char m[MONEY_TEXT];
    (void)snprintf(buf, 64, "%.48s %.8s", s.known ? money_format(s.hour, m) : "no price",
                   s.known ? s.currency : "");
    return buf;
}

double check_usd(const struct catalog *c, size_t row)
{
    return c->offers.price_state[row] == PRICE_KNOWN ? c->offers.usd_per_hour[row] : (double)NAN;
}

static int by_key(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;
    return a->hi != b->hi     ? (a->hi < b->hi ? -1 : 1)
           : a->lo != b->lo   ? (a->lo < b->lo ? -1 : 1)
           : a->sub != b->sub ? (a->sub < b->sub ? -1 : 1)
                              : (a->row > b->row) - (a->row < b->row);
}

void check_sort(struct keyed *v, size_t n)
{
    if (n > 0) {
        qsort(v, n, sizeof *v, by_key);
    }
}

struct keyed *check_keys(struct check *k)
{
    struct keyed *v = malloc((k->c->offers.n + 1) * sizeof *v);
    k->failed = k->failed || !v;
    return v;
}

/* By rule, the worse first; then as people look things up, not as the rows happen to stand. */
static int by_rule(const void *x, const void *y, void *ctx)
{
    const struct finding *a = x, *b = y;
    (void)ctx;
    if (a->rule != b->rule) {
        return a->rule - b->rule;
    }
    return a->severity != b->severity ? a->severity - b->severity : strcmp(a->text, b->text);
}

static void write_row_csv(struct csvw *w, const struct check *k, const struct finding *f,
                          uint32_t row)
{
    struct catalog side;
    size_t i;
    const struct catalog *c = check_catalog(k, row, &side, &i);
    const struct catalog_offers *o = &c->offers;
    struct shown_price s = price_shown(c, i, NULL);
    char when[32];
    csvw_text(w, rules[f->rule].kind);
    csvw_text(w, severities[f->severity]);
    csvw_text(w, f->text);
    const uint32_t text[] = {o->vendor[i], o->region[i], o->zone[i], o->instance_type[i]};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        csvw_text(w, catalog_text(c, text[t]));
    }
    csvw_text(w, purchase_name((enum purchase)o->purchase[i]));
    if (s.known) {
        csvw_money(w, s.hour);
    } else {
        csvw_empty(w);
    }
    csvw_text(w, s.currency);
    csvw_text(w, catalog_text(c, o->source[i]));
    csvw_text(w, catalog_text(c, o->sku[i]));
    csvw_text(w, o->as_of[i] == GT_TIME_NONE ? NULL : time_format(o->as_of[i], when));
    csvw_end_row(w);
}

static int write_csv(const struct check *k, struct buf *b)
{
    static const char *const titles[] = {
        "kind",     "severity",       "text",     "vendor",    "region", "zone", "instance_type",
        "purchase", "price_per_hour", "currency", "source_id", "sku",    "as_of"};
    struct csvw w;
    csvw_init(&w, b);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < k->n; i++) {
        for (size_t r = 0; r < k->finding[i].n; r++) {
            write_row_csv(&w, k, &k->finding[i], k->row[k->finding[i].first + r]);
        }
    }
    return csvw_finish(&w);
}

static int write_json(const struct price_view *v, const struct check *k, struct buf *b)
{
    struct jsonw w;
    struct catalog side;
    size_t at;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/prices-check/1");
    jsonw_ktime(&w, "as_of", k->c->as_of);
    jsonw_key(&w, "findings");
    jsonw_array(&w);
    for (size_t i = 0; i < k->n; i++) {
        const struct finding *f = &k->finding[i];
        jsonw_object(&w);
        jsonw_kstring(&w, "kind", rules[f->rule].kind);
        jsonw_kstring(&w, "severity", severities[f->severity]);
        jsonw_kstring(&w, "text", f->text);
        jsonw_kint(&w, "count", (int64_t)f->count);
        jsonw_key(&w, "rows");
        jsonw_array(&w);
        for (size_t r = 0; r < f->n; r++) {
            const struct catalog *c = check_catalog(k, k->row[f->first + r], &side, &at);
            prices_json_row(&w, c, at, v->currency);
        }
        jsonw_end_array(&w);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "kinds"); /* how many there are, listed or not */
    jsonw_array(&w);
    for (size_t r = 0; r < RULE_COUNT; r++) {
        jsonw_object(&w);
        jsonw_kstring(&w, "kind", rules[r].kind);
        jsonw_kstring(&w, "means", rules[r].means);
        jsonw_kint(&w, "found", (int64_t)k->found[r]);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static void table_offer(struct text_table *t, const struct check *k, uint32_t row)
{
    struct catalog side;
    size_t i;
    const struct catalog *c = check_catalog(k, row, &side, &i);
    const struct catalog_offers *o = &c->offers;
    char place[160], count[24], price[64], day[16] = "";
    (void)snprintf(place, sizeof place, "%s/%s", catalog_text(c, o->vendor[i]),
                   catalog_text(c, o->region[i]));
    if (o->as_of[i] != GT_TIME_NONE) {
        date_format(o->as_of[i], day);
    }
    table_row(t, (const char *const[]){
                     place, catalog_text(c, o->zone[i]), catalog_text(c, o->instance_type[i]),
                     catalog_text(c, o->gpu[i]), gpu_count_text(c, i, count),
                     purchase_name((enum purchase)o->purchase[i]), check_price(c, i, price), day,
                     catalog_text(c, o->source[i]), catalog_text(c, o->sku[i])});
}

/* One rule: its findings in words, then all of their rows. */
static int write_rule(const struct price_view *v, const struct check *k, size_t first, size_t end,
                      struct buf *b)
{
    static const char *const titles[] = {"  vendor/region", "zone",     "instance",  "GPU",
                                         ">GPUs",           "purchase", ">per hour", "as of",
                                         "source",          "SKU",      NULL};
    const struct finding *f = &k->finding[first];
    struct text_table t;
    size_t found = k->found[f->rule];
    buf_addf(b, "%s: %s: %zu found\n%s.\n", severities[f->severity], rules[f->rule].kind, found,
             rules[f->rule].means);
    table_init(&t, titles);
    for (size_t i = first; i < end; i++) {
        const struct finding *x = &k->finding[i];
        buf_addf(b, "- %s%s%s\n", x->text, x->count > ROWS_TEXT ? " (the first rows follow)" : "",
                 x->severity != f->severity ? x->severity == CHECK_INFO ? " [info]" : " [warning]"
                                            : "");
        for (size_t r = 0; r < x->n && r < ROWS_TEXT; r++) {
            table_offer(&t, k, k->row[x->first + r]);
        }
    }
    if (found > end - first) {
        buf_addf(b, "- and %zu more (--limit %zu)\n", found - (end - first), found);
    }
    return table_write(&t, b, v->plain);
}

static int write_text(const struct price_view *v, const struct check *k, struct buf *b)
{
    int rc = 0;
    for (size_t i = 0, end; rc == 0 && i < k->n; i = end) {
        for (end = i + 1; end < k->n && k->finding[end].rule == k->finding[i].rule; end++) {
        }
        if (i > 0) {
            buf_adds(b, "\n");
        }
        rc = write_rule(v, k, i, end, b);
    }
    if (k->n == 0) {
        buf_adds(b, "nothing found\n");
    }
    return rc ? rc : b->failed ? GT_ENOMEM : 0;
}

int prices_check(const struct price_view *v, const struct catalog *c,
                 const struct price_filter *filter, struct gt_error *err)
{
    struct check k = {.c = c, .filter = filter, .arena = arena_new(0)};
    struct buf b;
    k.keep = filter->limit != SIZE_MAX ? filter->limit
             : v->format == OUT_TABLE  ? KEEP_TEXT
                                       : KEEP_FILE;
    k.failed = k.arena == NULL;
    buf_init(&b, DOCUMENT_MAX);
    check_rows(&k);
    check_machines(&k);
    check_groups(&k);
    if (k.n > 0) {
        qsort_r(k.finding, k.n, sizeof *k.finding, by_rule, &k);
    }
    int rc = k.failed                ? GT_ENOMEM
             : v->format == OUT_JSON ? write_json(v, &k, &b)
             : v->format == OUT_CSV  ? write_csv(&k, &b)
                                     : write_text(v, &k, &b);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    if (rc == 0 && k.errors > 0) {
        rc = gt_fail(err, GT_EINFEASIBLE, "prices check", "%zu error%s", k.errors,
                     k.errors == 1 ? "" : "s");
    }
    arena_free(k.arena);
    free(k.finding);
    free(k.row);
    buf_release(&b);
    return rc;
}
