/* Huawei Cloud (docs/pricing-sources.md section 6): ListOnDemandResourceRatings prices what it is
 * asked for, so each GPU type of the own table is asked for by itself: one that is not sold in the
 * region spoils no other. Requests are signed with SDK-HMAC-SHA256; the key is
 * ACCESS_KEY:SECRET_KEY:PROJECT_ID. */
#include "../sources/gpu_names.h"
#include "gputier/units.h"
#include "http.h"
#include "sign.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KEY_FORM "ACCESS_KEY:SECRET_KEY:PROJECT_ID"
#define PATH     "/v2/bills/ratings/on-demand-resources"

static int sign(struct fetch_run *run, const struct fetch_request *q, const char *const **lines,
                struct gt_error *err)
{
    const char *key[3];
    char digest[65], names[256], text[128], when[32], date[24], mac[65];
    struct sign *s = arena_alloc(fetch_arena(run), sizeof *s);
    int rc =
        s ? key_split(run, KEY_FORM, 3, key, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc != 0) {
        return rc;
    }
    time_format((int64_t)time(NULL), when); /* 2026-12-02T10:00:00Z to 20261202T100000Z */
    snprintf(date, sizeof date, "%.4s%.2s%.5s%.2s%.3s", when, when + 5, when + 8, when + 14,
             when + 17);
    sign_begin(s, fetch_arena(run), q->url, q->post);
    size_t n = strlen(s->path);
    if (s->path[n - 1] != '/') { /* signed as if it ended so */
        s->path = arena_printf(s->a, "%s/", s->path);
        s->path = s->path ? s->path : "/";
    }
    sign_line(s, true, "Content-Type: application/json");
    sign_line(s, true, "X-Sdk-Date: %s", date);
    sign_digest(s, digest, names);
    snprintf(text, sizeof text, "SDK-HMAC-SHA256\n%s\n%s", date, digest);
    sign_line(s, false, "Authorization: SDK-HMAC-SHA256 Access=%s, SignedHeaders=%s, Signature=%s",
              key[0], names, hmac_hex(key[1], strlen(key[1]), text, mac));
    return sign_end(s, lines, err);
}

static const char *const busy[] = {"APIGW.0308" /* over the rate */, "CBC.0999" /* system error */,
                                   NULL};
static const char *const account[] = {"APIGW", "IAM", "CBC.0150" /* no permission */, "CBC.0151",
                                      NULL};
static const struct fetch_api api = {
    .sign = sign, .code = "error_code", .message = "error_msg", .busy = busy, .account = account};

static int ask_region(struct fetch_run *run, const char *region, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    const struct gpu_instance *g;
    const char *key[3];
    int rc = key_split(run, KEY_FORM, 3, key, err);
    if (rc == 0 && strspn(key[2], "0123456789abcdefABCDEF-") != strlen(key[2])) {
        return gt_fail(err, GT_EUSAGE, "huawei", "the project id is to be hexadecimal digits");
    }
    rc = rc ? rc : fetch_list_begin(run, region, "huawei", &l, err);
    for (size_t i = 0; rc == 0 && (g = gpu_instance_at("huawei", i)) != NULL; i++) {
        char *post = arena_printf(
            fetch_arena(run),
            "{\"project_id\":\"%s\",\"inquiry_precision\":1,\"product_infos\":[{\"id\":\"1\","
            "\"cloud_service_type\":\"hws.service.type.ec2\",\"resource_type\":"
            "\"hws.resource.type.vm\",\"resource_spec\":\"%s.linux\",\"region\":\"%s\","
            "\"usage_factor\":\"Duration\",\"usage_value\":1,\"usage_measure_id\":4,"
            "\"subscription_num\":1}]}",
            key[2], g->instance_type, region);
        struct fetch_request q = {.url = PATH, .post = post, .question = post, .api = &api};
        rc = post ? fetch_list_ask(l, &q, NULL, NULL, err)
                  : gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return rc;
}

static const char *const regions[] = {
    "cn-north-4",     "cn-north-9",     "cn-east-3",      "cn-south-1", "cn-southwest-2",
    "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "af-south-1", "la-south-2",
    "sa-brazil-1",    "na-mexico-1",    "la-north-2",     "tr-west-1",  NULL};

int huawei_fetch(struct fetch_run *run, struct gt_error *err)
{
    return regions_fetch(run, KEY_FORM, 3, regions, ask_region, err);
}

bool huawei_has_region(const char *code)
{
    return regions_have(regions, code);
}
