/* Google Cloud Billing Catalog (docs/pricing-sources.md section 3): pages of SKUs, one after the
 * other, of one service. A SKU is a part: an hour of a core, of a GiB, of a GPU; gcp_machines.c
 * adds machines up. Storage and egress are put as they stand, with their brackets. Prices are
 * units (text, absent when 0) and nanos (absent when 0); each rate names its currency; a SKU may
 * hold for many regions. What a part is stands only in the description. */
#include "gcp_skus.h"
#include "../http/http.h"
#include "gcp_rates.h"
#include "gputier/text.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void rate_key(char out[200], const char *currency, const char *region, char kind,
                     const char *name, enum gcp_option o)
{
    snprintf(out, 200, "%.3s %.80s %c %.60s %d", currency, region, kind, name, (int)o);
}

struct gcp_rate *gcp_find(const struct gcp *g, const char *currency, const char *region, char kind,
                          const char *name, enum gcp_option o)
{
    char key[200];
    rate_key(key, currency, region, kind, name, o);
    uint32_t id = intern_find(g->key, key, strlen(key));
    return id == 0 || id >= g->cap ? NULL : &g->rate[id];
}

static const char *listed(struct records *r, const char **list, size_t *n, size_t max,
                          const char *name)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(list[i], name) == 0) {
            return list[i];
        }
    }
    const char *copy = *n < max ? arena_strdup(r->arena, name) : NULL;
    if (copy) {
        list[(*n)++] = copy;
    }
    return copy;
}

/* Of two SKUs of one part the one that took effect last holds. */
static int keep(struct records *r, struct gcp *g, const char *key, const struct gcp_rate *rate)
{
    uint32_t id = intern_add(g->key, key, strlen(key));
    if (id == UINT32_MAX) {
        return GT_ENOMEM;
    }
    if (id >= g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 4096;
        struct gcp_rate *grown = arena_array(r->arena, cap, sizeof *grown);
        if (!grown) {
            return GT_ENOMEM;
        }
        if (g->cap > 0) {
            memcpy(grown, g->rate, g->cap * sizeof *grown);
        }
        g->rate = grown;
        g->cap = cap;
    }
    struct gcp_rate *have = &g->rate[id];
    if (have->sku[0] == '\0' || rate->from > have->from ||
        (rate->from == have->from && strcmp(rate->sku, have->sku) < 0)) {
        *have = *rate;
    }
    return 0;
}

/* What a description says. */
struct part {
    char kind;       /* as gcp_find, 0 = none that is wanted */
    const char *why; /* it is not sold as it stands, NULL = it is */
    char name[64], plain[64];
    enum gcp_option option;
};

static bool ends_with(char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    if (n <= k || strcmp(text + n - k, end) != 0) {
        return false;
    }
    text[n - k] = '\0';
    return true;
}

static void squash(const char *name, char out[64])
{
    size_t n = 0;
    for (const char *p = name; *p != '\0' && n < 60; p++) {
        if (isalnum((unsigned char)*p)) {
            out[n++] = (char)tolower((unsigned char)*p);
        }
    }
    out[n] = '\0';
}

/* The way to buy: by the usage type, and by the text, as some spot SKUs are marked OnDemand. The
 * reason why it is none of ours, else NULL. */
static const char *option_of(const char *usage, const char *text, enum gcp_option *out)
{
    static const char *const other[][2] = {
        {"Reserved ", "reserved capacity"},
        {"DWS ", "queued capacity"},
        {"Calendar", "queued capacity"},
        {"Licensing", "licences"},
        {"Sole Tenancy", "sole tenancy"},
        {"Custom", "custom machines"},
        {"Premium", "licences"},
        {"Extended", "custom machines"},
        {"Confidential", "other machines"},
        {"Committed", "other commitments"},
        {"Upgrade", "other machines"},
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        if (strstr(text, other[i][0])) {
            return other[i][1];
        }
    }
    bool spot =
        strcmp(usage, "Preemptible") == 0 || strstr(text, "Spot ") || strstr(text, "Preemptible");
    bool year = strcmp(usage, "Commit1Yr") == 0 || strstr(text, " for 1 Year");
    bool three = strcmp(usage, "Commit3Yr") == 0 || strstr(text, " for 3 Year");
    if (!spot && !year && !three &&
        (strncmp(text, "Commitment", 10) == 0 || (*usage && strcmp(usage, "OnDemand") != 0))) {
        return "other commitments";
    }
    *out = spot ? GCP_SPOT : year ? GCP_COMMIT_1Y : three ? GCP_COMMIT_3Y : GCP_ON_DEMAND;
    return NULL;
}

/* "Commitment v1: Nvidia L4 GPU running in Iowa for 1 Year" to 'g', "L4". place: what follows the
 * " in ". */
static void read_part(const char *text, const char *usage, struct part *p, char place[64])
{
    char head[120];
    *p = (struct part){0};
    place[0] = '\0';
    if ((p->why = option_of(usage, text, &p->option)) != NULL) {
        return;
    }
    text += strncmp(text, "Commitment v1: ", 15) == 0 ? 15 : 0;
    text += strncmp(text, "Spot Preemptible ", 17) == 0 ? 17 : 0;
    const char *in = strstr(text, " running in "), *behind = in ? in + 12 : NULL;
    if (!in && (in = strstr(text, " in ")) != NULL) {
        behind = in + 4;
    }
    size_t n = in ? (size_t)(in - text) : strlen(text);
    snprintf(head, sizeof head, "%.*s", (int)(n < 119 ? n : 119), text);
    if (behind) {
        const char *term = strstr(behind, " for ");
        size_t k = term ? (size_t)(term - behind) : strlen(behind);
        snprintf(place, 64, "%.*s", (int)(k < 63 ? k : 63), behind);
    }
    char *attached = strstr(head, " attached to");
    if (attached) {
        *attached = '\0';
    }
    if (ends_with(head, " Instance Core") || ends_with(head, " Cpu")) {
        p->kind = 'c';
    } else if (ends_with(head, " Instance Ram") || ends_with(head, " Ram")) {
        p->kind = 'm';
    } else if (strcmp(head, "SSD backed Local Storage") == 0) {
        p->kind = 's';
        head[0] = '\0';
    } else if (ends_with(head, " GPU") || strstr(head, "gpu slice")) {
        p->kind = 'g';
    }
    size_t maker = strncasecmp(head, "Nvidia ", 7) == 0 ? 7 : 0;
    snprintf(p->name, sizeof p->name, "%.63s", head + maker);
    squash(p->name, p->plain);
    if (p->plain[0] == '\0' && p->kind != 's') { /* "Nvidia  GPU": a part of nothing */
        p->kind = 0;
    }
}

int gcp_money(const struct rec *price, money *out)
{
    const char *units = rec_text(price, "units"), *nanos = rec_text(price, "nanos");
    money whole = 0, rest = 0;
    if ((*units && src_price(units, &whole) != 0) || (*nanos && src_price(nanos, &rest) != 0)) {
        return GT_EPARSE;
    }
    if (whole % MONEY_SCALE != 0 || rest % MONEY_SCALE != 0 || rest >= MONEY_SCALE * 1000000000) {
        return GT_EPARSE;
    }
    *out = whole + rest / 1000000000;
    return 0;
}

static int add_gpu(struct records *r, struct gcp *g, const struct part *p, const char *region,
                   const char *currency)
{
    for (const struct gcp_gpu *have = g->gpu; have; have = have->next) {
        if (have->region == region && have->currency == currency &&
            strcmp(have->plain, p->plain) == 0) {
            return 0;
        }
    }
    struct gcp_gpu *gpu = arena_alloc(r->arena, sizeof *gpu);
    if (!gpu || !(gpu->name = arena_strdup(r->arena, p->name)) ||
        !(gpu->plain = arena_strdup(r->arena, p->plain))) {
        return GT_ENOMEM;
    }
    gpu->region = region;
    gpu->currency = currency;
    gpu->next = g->gpu;
    g->gpu = gpu;
    return 0;
}

static int keep_in(struct records *r, struct gcp *g, const struct part *p,
                   const struct gcp_rate *rate, const char *currency, const char *place,
                   struct gt_error *err)
{
    char key[200];
    const char *region = listed(r, g->region, &g->n_regions, GCP_REGIONS, place);
    if (!src_name_ok(place)) {
        return records_bad(r, "region", place, err);
    }
    if (!region) {
        return gt_fail(err, GT_ELIMIT, r->ctx->name, "more than %d regions", GCP_REGIONS);
    }
    rate_key(key, currency, region, p->kind, p->plain, p->option);
    if (keep(r, g, key, rate) != 0 || (p->kind == 'g' && add_gpu(r, g, p, region, currency) != 0)) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    return 0;
}

/* A part by the hour: its last bracket, in all its regions. */
static int take_part(struct records *r, struct gcp *g, const struct part *p, const struct rec *e,
                     const struct rec *expression, const char *place, struct gt_error *err)
{
    struct gcp_rate rate = {.from = 0};
    const struct rec *tiers = rec_get(expression, "tieredRates"), *t = tiers ? tiers->child : NULL;
    while (t && t->next) {
        t = t->next;
    }
    const struct rec *price = rec_get(t, "unitPrice");
    const char *code = rec_text(price, "currencyCode");
    if (!price || gcp_money(price, &rate.rate) != 0 || strlen(code) != 3 ||
        strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
        return records_bad(r, "price of SKU", rec_text(e, "description"), err);
    }
    const char *currency = listed(r, g->currency, &g->n_currencies, GCP_CURRENCIES, code);
    if (rate.rate == 0 || !currency || !src_name_ok(p->name[0] ? p->name : "-")) {
        src_skip(r->ctx, "price 0", 1); /* zero is no price */
        return 0;
    }
    snprintf(rate.sku, sizeof rate.sku, "%.19s", rec_text(e, "skuId"));
    if (!src_name_ok(rate.sku)) {
        return records_bad(r, "SKU", rate.sku, err);
    }
    if (time_parse(rec_text(gcp_pricing(e), "effectiveTime"), 0, &rate.from, NULL) != 0) {
        rate.from = 0;
    }
    if (rate.from > r->ctx->now) { /* not yet */
        src_skip(r->ctx, "not yet in force", 1);
        return 0;
    }
    const struct rec *regions = rec_get(e, "serviceRegions");
    int rc = 0;
    if (!regions || !regions->child) { /* a trimmed recording: the place of the text */
        return *place ? keep_in(r, g, p, &rate, currency, place, err)
                      : records_bad(r, "SKU without a region", rec_text(e, "description"), err);
    }
    for (const struct rec *q = regions->child; q && rc == 0; q = q->next) {
        rc = keep_in(r, g, p, &rate, currency, q->text, err);
    }
    return rc;
}

static bool unit_fits(char kind, const char *unit)
{
    return strcmp(unit, kind == 'm' ? "GiBy.h" : kind == 's' ? "GiBy.mo" : "h") == 0;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    struct gcp *g = r->state ? r->state : arena_alloc(r->arena, sizeof *g);
    if (!g || (!g->key && !(g->key = intern_new(r->arena)))) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    r->state = g;
    const char *name = rec_text(e, "name"), *text = rec_text(e, "description");
    if (g->service[0] == '\0' && strncmp(name, "services/", 9) == 0) {
        snprintf(g->service, sizeof g->service, "%.*s", (int)strcspn(name + 9, "/"), name + 9);
    }
    const struct rec *expression = rec_get(gcp_pricing(e), "pricingExpression");
    const char *unit = rec_text(expression, "usageUnit");
    struct part p;
    char place[64];
    read_part(text, rec_text(e, "category.usageType"), &p, place);
    if (p.kind == 0 || !expression) {
        if (expression) {
            return gcp_put_rates(r, e, expression, p.why, err);
        }
        src_skip(r->ctx, "without a price", 1);
        return 0;
    }
    if (!unit_fits(p.kind, unit)) {
        return records_bad(r, "unit of SKU", unit, err);
    }
    int rc = take_part(r, g, &p, e, expression, place, err);
    return rc == 0 && p.kind == 's' && p.option == GCP_ON_DEMAND
               ? gcp_put_rates(r, e, expression, NULL, err)
               : rc;
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    if (strcmp(path, "nextPageToken") == 0) {
        r->listed = true; /* the vendor's JSON leaves empty lists out */
        if (strlen(text) >= sizeof r->ctx->next) {
            return json_fail(r->json, GT_ELIMIT, err, "a page token of %zu bytes", strlen(text));
        }
        snprintf(r->ctx->next, sizeof r->ctx->next, "%s", text);
    } else if (strcmp(path, "error.message") == 0) {
        return gt_fail(err, GT_EHTTP, r->ctx->name, "the vendor answers: %.200s", text);
    }
    return 0;
}

static int end(struct records *r, struct gt_error *err)
{
    struct gcp *g = r->state;
    if (!g) {
        return 0;
    }
    if (src_name_ok(g->service)) {
        snprintf(r->ctx->scope, sizeof r->ctx->scope, "%s", g->service);
    }
    return gcp_put_machines(r, g, err);
}

/* "error.none" only makes the way to the vendor's message. */
static const struct records_shape shape = {
    .list = {"skus", "", "error.none"}, .entry = entry, .field = field, .end = end, .pages = true};

/* "us-central1", "northamerica-northeast2" */
static bool has_region(const char *code)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    size_t area = strspn(code, letters), name = area + 1;
    size_t n = code[area] == '-' ? strspn(code + name, letters) : 0;
    return area > 1 && n > 3 && strspn(code + name + n, "123456789") == 1 &&
           code[name + n + 1] == '\0';
}

const struct source_def source_gcp_skus = {
    .id = "gcp-skus",
    .vendor = "gcp",
    .default_url = "https://cloudbilling.googleapis.com/v1",
    .needs_key = true,
    .default_on = true,
    .has_region = has_region,
    .expected_bytes = 60000000,
    .help = "Google Cloud's catalogue of SKUs: GPU machines, disks, storage, egress",
    .known_by = {{"\"skuId\"", "\"pricingExpression\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = gcp_skus_fetch,
};
