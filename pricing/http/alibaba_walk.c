/* Alibaba Cloud (docs/pricing-sources.md section 6): DescribePrice tells one price an answer, so it
 * is asked for each GPU type of the own table, by the hour and by the month, and
 * DescribeSpotPriceHistory for the spot prices of 30 days. Requests are signed with
 * ACS3-HMAC-SHA256; the key is ACCESS_KEY_ID:ACCESS_KEY_SECRET. */
#include "../sources/gpu_names.h"
#include "gputier/units.h"
#include "http.h"
#include "sign.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KEY_FORM     "ACCESS_KEY_ID:ACCESS_KEY_SECRET"
#define HISTORY_DAYS 30 /* the most that is told */

static int sign(struct fetch_run *run, const struct fetch_request *q, const char *const **lines,
                struct gt_error *err)
{
    const char *key[2];
    char digest[65], body[65], names[256], text[128], date[32], mac[65];
    struct sign *s = arena_alloc(fetch_arena(run), sizeof *s);
    int rc =
        s ? key_split(run, KEY_FORM, 2, key, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc != 0) {
        return rc;
    }
    sign_begin(s, fetch_arena(run), q->url, q->post);
    for (size_t i = 0; q->header[i]; i++) {
        sign_line(s, true, "%s", q->header[i]);
    }
    sign_line(s, true, "x-acs-content-sha256: %s", text_sha256_hex(s->body, body));
    sign_line(s, true, "x-acs-date: %s", time_format((int64_t)time(NULL), date));
    sign_line(s, true, "x-acs-signature-nonce: %016llx%016llx",
              (unsigned long long)fetch_nonce(run), (unsigned long long)fetch_nonce(run));
    sign_digest(s, digest, names);
    snprintf(text, sizeof text, "ACS3-HMAC-SHA256\n%s", digest);
    sign_line(s, false,
              "Authorization: ACS3-HMAC-SHA256 Credential=%s,SignedHeaders=%s,Signature=%s", key[0],
              names, hmac_hex(key[1], strlen(key[1]), text, mac));
    return sign_end(s, lines, err);
}

static const char *const busy[] = {"Throttling", "ServiceUnavailable", "InternalError",
                                   "SignatureNonceUsed", NULL};
static const char *const account[] = {"InvalidAccessKeyId",  "SignatureDoesNotMatch",
                                      "IncompleteSignature", "InvalidSecurityToken",
                                      "InvalidTimeStamp",    "Forbidden",
                                      "NoPermission",        "InvalidRegionId",
                                      "InvalidAction",       "InvalidVersion",
                                      "InvalidAccount",      "Missing",
                                      "UnsupportedHTTP",     NULL};
static const struct fetch_api api = {
    .sign = sign, .code = "Code", .message = "Message", .busy = busy, .account = account};

struct question {
    const char *region, *type;
};

/* query: sorted, as the signature wants it. */
static int ask(struct fetch_list *l, const char *action, const char *region, const char *query,
               const char *question, fetch_page_fn *after, void *ctx, struct gt_error *err)
{
    struct fetch_run *run = fetch_list_run(l);
    struct arena *a = fetch_arena(run);
    const char *header[] = {arena_printf(a, "x-acs-action: %s", action),
                            "x-acs-version: 2014-05-26", NULL};
    const char *base = fetch_base(run);
    char *host = strcmp(base, fetch_source(run)->default_url) == 0
                     ? arena_printf(a, "https://ecs.%s.aliyuncs.com", region)
                     : arena_strdup(a, base);
    char *url = host && query ? arena_printf(a, "%s/?%s", host, query) : NULL;
    if (!header[0] || !url) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct fetch_request q = {.url = url, .header = header, .api = &api, .question = question};
    return fetch_list_ask(l, &q, after, ctx, err);
}

static int ask_price(struct fetch_list *l, const struct question *q, const char *unit,
                     struct gt_error *err)
{
    struct arena *a = fetch_arena(fetch_list_run(l));
    /* some types have no price without a kind of disk */
    char *query = arena_printf(a,
                               "InstanceType=%s&PriceUnit=%s&RegionId=%s&ResourceType=instance"
                               "&SystemDisk.Category=cloud_essd",
                               q->type, unit, q->region);
    char *question =
        arena_printf(a, "{\"RegionId\":\"%s\",\"InstanceType\":\"%s\",\"PriceUnit\":\"%s\"}",
                     q->region, q->type, unit);
    return question ? ask(l, "DescribePrice", q->region, query, question, NULL, NULL, err)
                    : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int ask_history(struct fetch_list *l, struct question *q, const char *offset,
                       struct gt_error *err);

static int after_history(struct fetch_list *l, void *ctx, const char *body, size_t len,
                         struct gt_error *err)
{
    (void)body;
    const char *next = fetch_list_next(l);
    return len == 0 || *next == '\0' ? 0 : ask_history(l, ctx, next, err);
}

static int ask_history(struct fetch_list *l, struct question *q, const char *offset,
                       struct gt_error *err)
{
    struct fetch_run *run = fetch_list_run(l);
    char from[32];
    time_format(fetch_now(run) - (int64_t)HISTORY_DAYS * 86400 + 3600, from);
    char *query = arena_printf(fetch_arena(run),
                               "InstanceType=%s&NetworkType=vpc&OSType=linux&Offset=%s"
                               "&RegionId=%s&StartTime=%.13s%%3A%.2s%%3A%.3s",
                               q->type, offset, q->region, from, from + 14, from + 17);
    return ask(l, "DescribeSpotPriceHistory", q->region, query, NULL, after_history, q, err);
}

static int ask_region(struct fetch_run *run, const char *region, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    const struct gpu_instance *g;
    int rc = fetch_list_begin(run, region, "alibaba", &l, err);
    for (size_t i = 0; rc == 0 && (g = gpu_instance_at("alibaba", i)) != NULL; i++) {
        struct question *q = arena_alloc(fetch_arena(run), sizeof *q);
        if (!q) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        *q = (struct question){region, g->instance_type};
        rc = ask_price(l, q, "Hour", err);
        rc = rc ? rc : ask_price(l, q, "Month", err);
        rc = rc ? rc : ask_history(l, q, "0", err);
    }
    return rc;
}

/* Where Alibaba rents GPUs; what is not sold in one of them is left out there. */
static const char *const regions[] = {"cn-hangzhou",
                                      "cn-shanghai",
                                      "cn-beijing",
                                      "cn-shenzhen",
                                      "cn-guangzhou",
                                      "cn-heyuan",
                                      "cn-chengdu",
                                      "cn-wulanchabu",
                                      "cn-zhangjiakou",
                                      "cn-hongkong",
                                      "ap-southeast-1",
                                      "ap-southeast-3",
                                      "ap-southeast-5",
                                      "ap-northeast-1",
                                      "us-east-1",
                                      "us-west-1",
                                      "eu-central-1",
                                      "eu-west-1",
                                      NULL};

int alibaba_fetch(struct fetch_run *run, struct gt_error *err)
{
    return regions_fetch(run, KEY_FORM, 2, regions, ask_region, err);
}

bool alibaba_has_region(const char *code)
{
    return regions_have(regions, code);
}
