/* prices check: faults that show in the price table itself (product.md section 2). Each finding
 * names its rows. Known sources do contain such faults; that is what the list is for. */
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "prices.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)256 << 20)
#define ROWS_SHOWN   20 /* of one finding; the text says how many there are */
#define SAME_TYPES   50 /* types at one price look like a default */

enum severity { SEV_ERROR, SEV_WARNING, SEV_INFO };
struct finding {
    const char *kind;
    enum severity severity;
    char text[240];
    uint32_t *row;
    size_t n, cap;
};
struct check {
    const struct catalog *c;
    uint32_t *order; /* by vendor, region, zone, type, purchase */
    struct finding finding[8];
    size_t n;
    bool failed;
};

static struct finding *begin(struct check *k, const char *kind, enum severity s)
{
    struct finding *f = &k->finding[k->n++];
    *f = (struct finding){.kind = kind, .severity = s};
    return f;
}

static void add(struct check *k, struct finding *f, uint32_t row)
{
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 64;
        uint32_t *r = realloc(f->row, cap * sizeof *r);
        if (!r) {
            k->failed = true;
            return;
        }
        f->row = r;
        f->cap = cap;
    }
    f->row[f->n++] = row;
}

static double usd(const struct catalog *c, size_t i)
{
    return c->offers.price_state[i] == PRICE_KNOWN ? c->offers.usd_per_hour[i] : (double)NAN;
}

static int by_place(const void *x, const void *y, void *ctx)
{
    const struct catalog_offers *o = &((const struct catalog *)ctx)->offers;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const uint32_t *const keys[] = {o->vendor, o->region, o->instance_type, o->zone};
    for (size_t i = 0; i < 4; i++) {
        if (keys[i][a] != keys[i][b]) {
            return keys[i][a] < keys[i][b] ? -1 : 1;
        }
    }
    return o->purchase[a] != o->purchase[b] ? (int)o->purchase[a] - (int)o->purchase[b]
                                            : (a < b ? -1 : a > b);
}

static bool same_machine(const struct catalog_offers *o, size_t a, size_t b, bool zone)
{
    return o->vendor[a] == o->vendor[b] && o->region[a] == o->region[b] &&
           o->instance_type[a] == o->instance_type[b] && (!zone || o->zone[a] == o->zone[b]);
}

/* The on-demand price of the same machine and zone, else of its region; NAN if none. */
static double on_demand(const struct check *k, size_t first, size_t last, uint32_t row)
{
    const struct catalog_offers *o = &k->c->offers;
    double best = (double)NAN;
    for (size_t i = first; i < last; i++) {
        uint32_t r = k->order[i];
        if (o->purchase[r] == PURCHASE_ON_DEMAND && !isnan(usd(k->c, r))) {
            if (o->zone[r] == o->zone[row]) {
                return usd(k->c, r);
            }
            if (o->zone[r] == 0 || o->zone[row] == 0) {
                best = isnan(best) || usd(k->c, r) > best ? usd(k->c, r) : best;
            }
        }
    }
    return best;
}

/* Rows of one machine in one region: spot and commitments against on demand. */
static void check_machine(struct check *k, size_t first, size_t last, struct finding *spot_above,
                          struct finding *spot_equal, struct finding *reserved_above)
{
    const struct catalog_offers *o = &k->c->offers;
    for (size_t i = first; i < last; i++) {
        uint32_t r = k->order[i];
        double price = usd(k->c, r), full = on_demand(k, first, last, r);
        if (isnan(price) || isnan(full)) {
            continue;
        }
        if (o->purchase[r] == PURCHASE_SPOT) {
            if (price > full * (1 + 1e-9)) {
                add(k, spot_above, r);
            } else if (price >= full * (1 - 1e-9)) {
                add(k, spot_equal, r);
            }
        } else if (purchase_is_commitment((enum purchase)o->purchase[r]) &&
                   price > full * (1 + 1e-9)) {
            add(k, reserved_above, r);
        }
    }
}

/* A GPU machine at under 1 cent a GPU-hour per tera... cheaper than its CPUs alone could be: less
 * than 0.012 USD a vCPU-hour and less than 0.05 USD a GPU-hour. */
static bool cpu_price(const struct catalog_offers *o, size_t i, double price)
{
    double gpus = (double)o->gpu_num[i] / (double)(o->gpu_den[i] ? o->gpu_den[i] : 1);
    return o->purchase[i] == PURCHASE_ON_DEMAND && gpus >= 1 && price / gpus < 0.05;
}

/* Machines of one GPU model, vendor and region whose price per GPU differs more than fourfold. */
struct scale {
    uint32_t row;
    double per_gpu;
};

static int by_gpu(const void *x, const void *y, void *ctx)
{
    const struct catalog_offers *o = &((const struct catalog *)ctx)->offers;
    uint32_t a = ((const struct scale *)x)->row, b = ((const struct scale *)y)->row;
    const uint32_t *const keys[] = {o->vendor, o->region, o->gpu};
    for (size_t i = 0; i < 3; i++) {
        if (keys[i][a] != keys[i][b]) {
            return keys[i][a] < keys[i][b] ? -1 : 1;
        }
    }
    return o->currency[a] != o->currency[b] ? (o->currency[a] < o->currency[b] ? -1 : 1) : 0;
}

static void check_scaling(struct check *k, struct finding *f)
{
    const struct catalog_offers *o = &k->c->offers;
    struct scale *s = malloc((o->n + 1) * sizeof *s);
    size_t n = 0;
    k->failed = k->failed || !s;
    for (size_t i = 0; s && i < o->n; i++) {
        if (o->purchase[i] == PURCHASE_ON_DEMAND && o->gpu_num[i] > 0 && o->gpu_den[i] == 1 &&
            !isnan(usd(k->c, i))) {
            s[n++] = (struct scale){(uint32_t)i, usd(k->c, i) / (double)o->gpu_num[i]};
        }
    }
    if (n > 0) {
        qsort_r(s, n, sizeof *s, by_gpu, (void *)(size_t)k->c);
    }
    for (size_t i = 0, end; i < n; i = end) {
        double lo = s[i].per_gpu;
        for (end = i + 1; end < n && by_gpu(&s[i], &s[end], (void *)(size_t)k->c) == 0; end++) {
            lo = s[end].per_gpu < lo ? s[end].per_gpu : lo;
        }
        for (size_t j = i; j < end; j++) {
            uint32_t r = s[j].row;
            /* many vCPUs per GPU may cost; a big machine at a multiple per GPU is a fault */
            if (s[j].per_gpu > 4 * lo && o->gpu_num[r] > 1) {
                add(k, f, r);
            }
        }
    }
    free(s);
}

static int by_price(const void *x, const void *y, void *ctx)
{
    const struct catalog *c = ctx;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct catalog_offers *o = &c->offers;
    if (o->vendor[a] != o->vendor[b]) {
        return o->vendor[a] < o->vendor[b] ? -1 : 1;
    }
    if (o->region[a] != o->region[b]) {
        return o->region[a] < o->region[b] ? -1 : 1;
    }
    double p = usd(c, a), q = usd(c, b);
    return p < q ? -1 : p > q ? 1 : o->instance_type[a] < o->instance_type[b] ? -1 : 1;
}

/* Fifty types of one region at one on-demand price. */
static void check_same_price(struct check *k, struct finding *f)
{
    const struct catalog_offers *o = &k->c->offers;
    uint32_t *row = malloc((o->n + 1) * sizeof *row);
    size_t n = 0;
    k->failed = k->failed || !row;
    for (size_t i = 0; row && i < o->n; i++) {
        if (o->purchase[i] == PURCHASE_ON_DEMAND && !isnan(usd(k->c, i))) {
            row[n++] = (uint32_t)i;
        }
    }
    if (n > 0) {
        qsort_r(row, n, sizeof *row, by_price, (void *)(size_t)k->c);
    }
    for (size_t i = 0, end; i < n; i = end) {
        size_t types = 1;
        for (end = i + 1;
             end < n && o->vendor[row[end]] == o->vendor[row[i]] &&
             o->region[row[end]] == o->region[row[i]] && usd(k->c, row[end]) <= usd(k->c, row[i]);
             end++) {
            types += o->instance_type[row[end]] != o->instance_type[row[end - 1]];
        }
        for (size_t j = i; types >= SAME_TYPES && j < end; j++) {
            add(k, f, row[j]);
        }
    }
    free(row);
}

static int check_all(struct check *k)
{
    const struct catalog_offers *o = &k->c->offers;
    struct finding *spot_above = begin(k, "spot_above_on_demand", SEV_WARNING);
    struct finding *spot_equal = begin(k, "spot_equals_on_demand", SEV_INFO);
    struct finding *reserved = begin(k, "commitment_above_on_demand", SEV_ERROR);
    struct finding *cheap = begin(k, "gpu_at_cpu_price", SEV_ERROR);
    struct finding *scaling = begin(k, "price_not_scaling_with_count", SEV_WARNING);
    struct finding *same = begin(k, "many_types_at_one_price", SEV_ERROR);
    k->order = malloc((o->n + 1) * sizeof *k->order);
    if (!k->order) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < o->n; i++) {
        k->order[i] = (uint32_t)i;
        if (cpu_price(o, i, usd(k->c, i))) {
            add(k, cheap, (uint32_t)i);
        }
    }
    qsort_r(k->order, o->n, sizeof *k->order, by_place, (void *)(size_t)k->c);
    for (size_t i = 0, end; i < o->n; i = end) {
        for (end = i + 1; end < o->n && same_machine(o, k->order[i], k->order[end], false); end++) {
        }
        check_machine(k, i, end, spot_above, spot_equal, reserved);
    }
    check_scaling(k, scaling);
    check_same_price(k, same);
    return k->failed ? GT_ENOMEM : 0;
}

static const char *const severities[] = {"error", "warning", "info"};

static void say(struct finding *f)
{
    static const struct {
        const char *kind, *text;
    } texts[] = {
        {"spot_above_on_demand", "spot costs more than on demand"},
        {"spot_equals_on_demand", "spot costs what on demand costs: no sign of a spot market"},
        {"commitment_above_on_demand", "an hour of the commitment costs more than on demand"},
        {"gpu_at_cpu_price", "a GPU machine under 0.05 USD a GPU-hour on demand"},
        {"price_not_scaling_with_count",
         "a GPU-hour costs over 4 times that of the cheapest machine with the same GPU there"},
        {"many_types_at_one_price", "50 instance types or more of one region at one price"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].kind, f->kind) == 0) {
            snprintf(f->text, sizeof f->text, "%zu row%s: %s%s", f->n, f->n == 1 ? "" : "s",
                     texts[i].text, f->n > ROWS_SHOWN ? " (the first 20 are listed)" : "");
        }
    }
}

static int write_json(const struct price_view *v, const struct check *k, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/prices-check/1");
    jsonw_key(&w, "findings");
    jsonw_array(&w);
    for (size_t i = 0; i < k->n; i++) {
        const struct finding *f = &k->finding[i];
        if (f->n == 0) {
            continue;
        }
        jsonw_object(&w);
        jsonw_kstring(&w, "kind", f->kind);
        jsonw_kstring(&w, "severity", severities[f->severity]);
        jsonw_kstring(&w, "text", f->text);
        jsonw_kint(&w, "count", (int64_t)f->n);
        jsonw_key(&w, "rows");
        jsonw_array(&w);
        for (size_t r = 0; r < f->n && r < ROWS_SHOWN; r++) {
            prices_json_row(&w, k->c, f->row[r], v->currency);
        }
        jsonw_end_array(&w);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int write_text(const struct price_view *v, const struct check *k, struct buf *b)
{
    int rc = 0;
    size_t found = 0;
    for (size_t i = 0; rc == 0 && i < k->n; i++) {
        const struct finding *f = &k->finding[i];
        if (f->n > 0) {
            buf_addf(b, "%s%s: %s\n", found++ ? "\n" : "", severities[f->severity], f->text);
            rc = prices_write(v, k->c, f->row, f->n < ROWS_SHOWN ? f->n : ROWS_SHOWN, b);
        }
    }
    if (found == 0) {
        buf_adds(b, "nothing found\n");
    }
    return rc ? rc : b->failed ? GT_ENOMEM : 0;
}

int prices_check(const struct price_view *v, const struct catalog *c, struct gt_error *err)
{
    struct check k = {.c = c};
    struct buf b;
    size_t errors = 0;
    buf_init(&b, DOCUMENT_MAX);
    int rc = check_all(&k);
    for (size_t i = 0; i < k.n; i++) {
        say(&k.finding[i]);
        errors += k.finding[i].severity == SEV_ERROR ? k.finding[i].n : 0;
    }
    rc = rc ? rc : v->format == OUT_JSON ? write_json(v, &k, &b) : write_text(v, &k, &b);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    if (rc == 0 && errors > 0) {
        rc = gt_fail(err, GT_EINFEASIBLE, "prices check", "%zu rows with an error", errors);
    }
    for (size_t i = 0; i < k.n; i++) {
        free(k.finding[i].row);
    }
    free(k.order);
    buf_release(&b);
    return rc;
}
