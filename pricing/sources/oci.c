/* Oracle Cloud (docs/pricing-sources.md section 5): the cost estimator's shapes say which parts a
 * machine has, the products list says what a part costs; both are read, shapes first. The list
 * has no regions: its price holds in all of them, and not every shape stands in each. GPU parts
 * are priced per GPU and hour. An OCPU is 2 vCPUs, on ARM 1. Preemptible machines cost half. */
#include "oci.h"
#include "../http/http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shapes whose parts are known without the estimator's file, for a products list alone: in each
 * the price is the GPU part alone, times the GPUs (SkyPilot's catalogue v8 oci/vms.csv). */
static const struct {
    const char *shape, *part;
    int gpus;
    bool preemptible;
} gpu_shapes[] = {
    {"VM.GPU2.1", "B88518", 1, true},     {"BM.GPU2.2", "B88517", 2, false},
    {"VM.GPU3.1", "B89734", 1, true},     {"VM.GPU3.2", "B89734", 2, true},
    {"VM.GPU3.4", "B89734", 4, true},     {"BM.GPU3.8", "B89734", 8, false},
    {"BM.GPU4.8", "B92740", 8, false},    {"BM.GPU.A100-v2.8", "B95907", 8, false},
    {"VM.GPU.A10.1", "B95909", 1, false}, {"VM.GPU.A10.2", "B95909", 2, false},
    {"BM.GPU.A10.4", "B95909", 4, false}, {"BM.GPU.H100.8", "B98415", 8, false},
};

static int add_part(struct records *r, struct oci_shape *s, const struct rec *e)
{
    struct oci_part p = {.number = arena_strdup(r->arena, rec_text(e, "partNumber"))};
    const char *kind = rec_text(e, "type.value");
    if (!p.number || s->n_parts == OCI_PARTS || src_price(rec_text(e, "qty"), &p.quantity) != 0) {
        return GT_EPARSE;
    }
    if (strcmp(kind, "ocpu") == 0) {
        s->ocpus = src_figure(rec_text(e, "qty"));
    } else if (strcmp(kind, "disk") == 0) {
        s->nvme_tb = src_figure(rec_text(e, "qty"));
    }
    s->part[s->n_parts++] = p;
    return 0;
}

static int take_shape(struct records *r, struct oci *o, const struct rec *e, struct gt_error *err)
{
    const char *name = rec_text(e, "name"), *status = rec_text(e, "status");
    if (rec_true(e, "hidden") || (*status && strcmp(status, "ACTIVE") != 0)) {
        src_skip(r->ctx, "hidden or retired shapes", 1);
        return 0;
    }
    struct oci_shape *s = arena_alloc(r->arena, sizeof *s);
    if (!s || !(s->name = arena_strdup(r->arena, name))) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    s->arm = strcmp(rec_text(e, "processorType.value"), "arm") == 0 &&
             !strstr(name, ".GPU"); /* A10 and A100 are flagged ARM by mistake */
    s->preemptible = rec_true(e, "allowPreemptible");
    s->gpus = src_figure(rec_text(e, "gpuQty"));
    s->gpu_memory = src_figure(rec_text(e, "gpuMemoryQty"));
    s->memory_gib = src_figure(rec_text(e, "bundleMemoryQty"));
    s->ocpus = s->nvme_tb = -1;
    const struct rec *parts = rec_get(e, "products");
    for (const struct rec *p = parts ? parts->child : NULL; p; p = p->next) {
        if (add_part(r, s, p) != 0) {
            return records_bad(r, "parts of shape", name, err);
        }
    }
    if (!src_name_ok(name) || s->n_parts == 0) { /* flexible shapes are put together by people */
        src_skip(r->ctx, "shapes without parts", 1);
        return 0;
    }
    s->next = o->shape;
    o->shape = s;
    return 0;
}

/* Rates of one part in the list's currency: brackets in the order of the list. */
static int take_product(struct records *r, struct oci *o, const struct rec *e, struct gt_error *err)
{
    struct oci_product *p = arena_alloc(r->arena, sizeof *p);
    const struct rec *local = rec_get(e, "currencyCodeLocalizations");
    if (!p || !(p->number = arena_strdup(r->arena, rec_text(e, "partNumber"))) ||
        !(p->name = arena_strdup(r->arena, rec_text(e, "displayName")))) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    local = local ? local->child : NULL;
    snprintf(p->currency, sizeof p->currency, "%.3s", rec_text(local, "currencyCode"));
    if (!src_name_ok(p->number) || strspn(p->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
        return records_bad(r, "part", p->number, err);
    }
    const struct rec *rates = rec_get(local, "prices");
    for (const struct rec *q = rates ? rates->child : NULL; q; q = q->next) {
        struct oci_rate *t = &p->rate[p->n_rates];
        if (strcmp(rec_text(q, "model"), "PAY_AS_YOU_GO") != 0) {
            continue;
        }
        const char *from = rec_text(q, "rangeMin");
        if (p->n_rates == OCI_RATES || src_price(rec_text(q, "value"), &t->rate) != 0 ||
            src_bracket(*from ? from : "0", &t->from) != 0 ||
            src_bracket(rec_text(q, "rangeMax"), &t->to) != 0 || t->from < 0 ||
            (t->to >= 0 && t->to <= t->from)) {
            return records_bad(r, "price of part", p->number, err);
        }
        p->n_rates++;
    }
    p->next = o->product;
    o->product = p;
    o->n_products++;
    return 0;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    struct oci *o = r->state ? r->state : arena_alloc(r->arena, sizeof *o);
    if (!o) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    r->state = o;
    return rec_get(e, "partNumber") ? take_product(r, o, e, err) : take_shape(r, o, e, err);
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    int64_t when;
    (void)err;
    if (strcmp(path, "lastUpdated") == 0 && time_parse(text, 0, &when, NULL) == 0 &&
        when <= r->ctx->now) {
        r->ctx->as_of = when;
    }
    return 0;
}

const struct oci_product *oci_product(const struct oci *o, const char *number)
{
    struct oci_product *p = o->product;
    while (p && strcmp(p->number, number) != 0) {
        p = p->next;
    }
    if (p) {
        p->used = true;
    }
    return p;
}

static int put_everywhere(struct records *r, const struct cloud_machine *m, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && oci_region(i); i++) {
        rc = cloud_put(r, m, oci_region(i), err);
    }
    return rc;
}

/* What one more unit costs when a team already uses the cloud: the bracket that has no end. */
static bool marginal(const struct oci_product *p, money *rate)
{
    for (size_t i = 0; i < p->n_rates; i++) {
        if (p->rate[i].to < 0) {
            *rate = p->rate[i].rate;
            return true;
        }
    }
    return false;
}

static int put_shape(struct records *r, const struct oci *o, const struct oci_shape *s,
                     struct gt_error *err)
{
    char price[MONEY_TEXT] = "", spot[MONEY_TEXT] = "";
    struct cloud_machine m = cloud_machine(r->ctx, "oci");
    money sum = 0, rate = 0, part = 0, half = 0;
    for (size_t i = 0; i < s->n_parts; i++) {
        const struct oci_product *p = oci_product(o, s->part[i].number);
        if (!p || !marginal(p, &rate) || (i > 0 && strcmp(p->currency, m.o.currency) != 0)) {
            src_skip(r->ctx, "shapes with a part without a price", 1);
            return 0;
        }
        m.o.currency = p->currency;
        if (money_mul_decimal(rate, s->part[i].quantity, &part) != 0 ||
            money_add(sum, part, &sum) != 0) {
            return records_bad(r, "price of shape", s->name, err);
        }
    }
    m.o.instance_type = s->name;
    m.o.sku = s->part[0].number;
    m.o.vcpus = s->ocpus < 0 ? -1 : s->arm ? s->ocpus : s->ocpus * 2;
    m.o.memory_gib = s->memory_gib;
    m.o.local_nvme_gb = s->nvme_tb < 0 ? -1 : s->nvme_tb * 1000;
    m.o.gpu_num = s->gpus > 0 && s->gpus <= 1024 ? (int32_t)s->gpus : 0;
    const char *gpu = strstr(s->name, ".GPU.");
    char name[64] = "";
    if (gpu) { /* "BM.GPU.A100-v2.8" */
        snprintf(name, sizeof name, "%.*s", (int)strcspn(gpu + 5, ".-"), gpu + 5);
        m.gpu = name;
    }
    m.gpu_memory = m.o.gpu_num > 0 && s->gpu_memory > 0 ? s->gpu_memory / m.o.gpu_num : -1;
    cloud_set_gpu(&m);
    m.o.note = "one list price for all regions; not every region has the shape";
    m.price = money_format(sum, price);
    if (s->preemptible && money_mul_ratio(sum, 1, 2, &half) == 0) {
        m.spot = money_format(half, spot);
    }
    return put_everywhere(r, &m, err);
}

static bool has_shape(const struct oci *o, const char *name)
{
    for (const struct oci_shape *s = o->shape; s; s = s->next) {
        if (strcmp(s->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static int end(struct records *r, struct gt_error *err)
{
    struct oci *o = r->state;
    int rc = 0;
    if (!o || !o->product) {
        return 0; /* shapes without prices: no rows, which is refused */
    }
    for (const struct oci_shape *s = o->shape; s && rc == 0; s = s->next) {
        rc = put_shape(r, o, s, err);
    }
    for (size_t i = 0; rc == 0 && i < sizeof gpu_shapes / sizeof *gpu_shapes; i++) {
        struct oci_shape s = {.name = gpu_shapes[i].shape,
                              .gpus = gpu_shapes[i].gpus,
                              .preemptible = gpu_shapes[i].preemptible,
                              .gpu_memory = -1,
                              .memory_gib = -1,
                              .ocpus = -1,
                              .nvme_tb = -1,
                              .n_parts = 1};
        s.part[0] = (struct oci_part){gpu_shapes[i].part, gpu_shapes[i].gpus * MONEY_SCALE};
        if (!has_shape(o, s.name) && oci_product(o, gpu_shapes[i].part)) {
            rc = put_shape(r, o, &s, err);
        }
    }
    rc = rc ? rc : oci_put_rates(r, o, err);
    for (const struct oci_product *p = o->product; p; p = p->next) {
        src_skip(r->ctx, "other services", !p->used);
    }
    return rc;
}

static const struct records_shape shape = {
    .list = {"items"}, .entry = entry, .field = field, .end = end, .pages = true};

static int after_shapes(struct fetch_list *l, void *ctx, const char *body, size_t len,
                        struct gt_error *err)
{
    (void)ctx;
    (void)body;
    (void)len;
    struct fetch_request q = {.url = "/products/?currencyCode=USD"};
    return fetch_list_ask(l, &q, NULL, NULL, err);
}

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    static const char own[] = "https://apexapps.oracle.com/pls/apex/cetools/api/v1";
    struct fetch_list *l = NULL;
    /* the shapes stand on another host; a mirror holds both */
    struct fetch_request q = {
        .url = strcmp(fetch_base(run), own) == 0
                   ? "https://www.oracle.com/a/ocom/docs/cloudestimator2/data/shapes.json"
                   : "/shapes.json"};
    int rc = fetch_list_begin(run, "", NULL, &l, err);
    return rc ? rc : fetch_list_ask(l, &q, after_shapes, NULL, err);
}

static bool has_region(const char *code)
{
    const char *own;
    for (size_t i = 0; (own = oci_region(i)) != NULL; i++) {
        if (strcmp(own, code) == 0) {
            return true;
        }
    }
    return false;
}

const struct source_def source_oci = {
    .id = "oci",
    .vendor = "oci",
    .default_url = "https://apexapps.oracle.com/pls/apex/cetools/api/v1",
    .default_on = true,
    .has_region = has_region,
    .expected_bytes = 400000,
    .help = "Oracle's list: machines, object, block and file storage, egress",
    .known_by = {{"\"currencyCodeLocalizations\"", "\"partNumber\""},
                 {"\"bundleMemoryQty\"", "\"partNumber\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = fetch,
};
