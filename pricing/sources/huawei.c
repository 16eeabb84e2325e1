/* Huawei Cloud: ListOnDemandResourceRatings (docs/pricing-sources.md section 6). The question names
 * what is priced, the answer only its number: the question stands before it. Prices are the list's
 * (official_website_amount); amount is what the account pays. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <string.h>

enum { ASKED, RATED };
#define ASKED_MOST 512

struct asked {
    char id[40], type[72], region[48];
    char price[48];
};
struct huawei {
    struct asked asked[ASKED_MOST];
    size_t n;
    bool answered;
    struct cloud_error error;
    char currency[4], region[48], type[72];
    bool regions, types; /* more than one of them */
};

static struct huawei *state(struct records *r, struct gt_error *err)
{
    struct huawei *h = r->state ? r->state : arena_alloc(r->arena, sizeof *h);
    if (!h) {
        (void)gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    r->state = h;
    return h;
}

/* "p2s.2xlarge.8.linux" to "p2s.2xlarge.8"; an hour of one machine. */
static int take_question(struct records *r, struct huawei *h, const struct rec *e,
                         struct gt_error *err)
{
    const char *spec = rec_text(e, "resource_spec"), *dot = strrchr(spec, '.');
    if (h->answered) { /* the next question */
        h->n = 0;
        h->answered = false;
    }
    if (!dot || strcmp(dot, ".linux") != 0) {
        if (dot && strcmp(dot, ".win") == 0) {
            src_skip(r->ctx, "Windows", 1);
            return 0;
        }
        return records_bad(r, "resource_spec (expected TYPE.linux)", spec, err);
    }
    if (strcmp(rec_text(e, "usage_measure_id"), "4") != 0 ||
        strcmp(rec_text(e, "usage_value"), "1") != 0 ||
        strcmp(rec_text(e, "subscription_num"), "1") != 0) {
        return records_bad(r, "question that is not of one hour (usage_measure_id 4) of one", spec,
                           err);
    }
    if (h->n == ASKED_MOST) {
        return gt_fail(err, GT_ELIMIT, r->ctx->name, "more than %d questions", ASKED_MOST);
    }
    struct asked *q = &h->asked[h->n++];
    *q = (struct asked){.price = ""};
    src_copy(q->id, sizeof q->id, rec_text(e, "id"));
    src_copy(q->region, sizeof q->region, rec_text(e, "region"));
    if (dot - spec < (long)sizeof q->type) {
        snprintf(q->type, sizeof q->type, "%.*s", (int)(dot - spec), spec);
    }
    return 0;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    struct huawei *h = state(r, err);
    if (!h) {
        return GT_ENOMEM;
    }
    if (list == ASKED) {
        return take_question(r, h, e, err);
    }
    h->answered = true;
    const char *id = rec_text(e, "id"), *price = rec_text(e, "official_website_amount");
    price = *price != '\0' ? price : rec_text(e, "amount");
    const char *unit = rec_text(e, "measure_id");
    if (*unit != '\0' && strcmp(unit, "1") != 0) {
        return records_bad(r, "measure_id (1 = the currency's unit)", unit, err);
    }
    for (size_t i = 0; i < h->n; i++) {
        if (strcmp(h->asked[i].id, id) == 0) {
            src_copy(h->asked[i].price, sizeof h->asked[i].price, price);
            return 0;
        }
    }
    return json_fail(r->json, GT_EPARSE, err,
                     "a rating of '%.40s' without its question: put the request's body before it",
                     id);
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    struct huawei *h = state(r, err);
    if (!h) {
        return GT_ENOMEM;
    }
    if (strcmp(path, "currency") == 0) {
        src_copy(h->currency, sizeof h->currency, text);
    }
    cloud_error_field(&h->error, path, text, "error_code", "error_msg");
    return 0;
}

/* p, pi, g: GPUs; ai: Ascend. The list names none of them. */
static bool accelerated(const char *type)
{
    static const char *const head[] = {"pi", "p", "g", "ai"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
        size_t n = strlen(head[i]);
        if (strncmp(type, head[i], n) == 0 && type[n] >= '0' && type[n] <= '9') {
            return true;
        }
    }
    return false;
}

static int document(struct records *r, struct gt_error *err)
{
    struct huawei *h = r->state;
    int rc = h ? cloud_error_end(r, &h->error, err) : 0;
    for (size_t i = 0; h && h->answered && i < h->n && rc == 0; i++) {
        const struct asked *q = &h->asked[i];
        struct cloud_machine m = cloud_machine(r->ctx, "huawei");
        if (q->price[0] == '\0') {
            continue;
        }
        m.o.instance_type = q->type;
        m.o.currency = h->currency;
        m.price = q->price;
        cloud_set_gpu(&m);
        if (!m.o.gpu && accelerated(q->type)) {
            cloud_family_gpu(&m, q->type);
        }
        h->regions |= h->region[0] != '\0' && strcmp(h->region, q->region) != 0;
        h->types |= h->type[0] != '\0' && strcmp(h->type, q->type) != 0;
        src_copy(h->region, sizeof h->region, q->region);
        src_copy(h->type, sizeof h->type, q->type);
        rc = cloud_put(r, &m, q->region, err);
    }
    return rc;
}

static int end(struct records *r, struct gt_error *err)
{
    const struct huawei *h = r->state;
    (void)err;
    if (h && !h->regions && src_name_ok(h->region)) {
        snprintf(r->ctx->scope, sizeof r->ctx->scope, "%s%s%s", h->region, h->types ? "" : " ",
                 h->types ? "" : h->type);
    }
    return 0;
}

static const struct records_shape shape = {
    .list = {[ASKED] = "product_infos", [RATED] = "product_rating_results"},
    .entry = entry,
    .field = field,
    .document = document,
    .end = end};

const struct source_def source_huawei = {
    .id = "huawei",
    .vendor = "huawei",
    .default_url = "https://bss.myhuaweicloud.com",
    .needs_key = true,
    .per_region = true,
    .has_region = huawei_has_region,
    .expected_bytes = 30000,
    .help = "Huawei Cloud's GPU types by the hour",
    .known_by = {{"\"product_infos\"", "\"resource_spec\""},
                 {"\"product_rating_results\"", "\"measure_id\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = huawei_fetch,
};
