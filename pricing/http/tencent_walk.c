/* Tencent Cloud (docs/pricing-sources.md section 6): one answer a region names every instance type
 * of every zone, by the hour, spot and by the month. Requests are signed with TC3-HMAC-SHA256; the
 * key is SECRET_ID:SECRET_KEY. */
#include "gputier/units.h"
#include "http.h"
#include "sign.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KEY_FORM "SECRET_ID:SECRET_KEY"
#define SERVICE  "cvm"

static int sign(struct fetch_run *run, const struct fetch_request *q, const char *const **lines,
                struct gt_error *err)
{
    const char *key[2];
    char digest[65], names[256], text[256], date[16], mac[65], secret[264];
    unsigned char day[32], service[32], signing[32];
    int64_t now = (int64_t)time(NULL);
    struct sign *s = arena_alloc(fetch_arena(run), sizeof *s);
    int rc =
        s ? key_split(run, KEY_FORM, 2, key, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc != 0) {
        return rc;
    }
    sign_begin(s, fetch_arena(run), q->url, q->post);
    sign_line(s, true, "Content-Type: application/json; charset=utf-8");
    sign_line(s, false, "X-TC-Timestamp: %lld", (long long)now);
    for (size_t i = 0; q->header[i]; i++) {
        sign_line(s, false, "%s", q->header[i]);
    }
    sign_digest(s, digest, names);
    date_format(now, date);
    snprintf(text, sizeof text, "TC3-HMAC-SHA256\n%lld\n%s/" SERVICE "/tc3_request\n%s",
             (long long)now, date, digest);
    snprintf(secret, sizeof secret, "TC3%.256s", key[1]);
    hmac_sha256(secret, strlen(secret), date, day);
    hmac_sha256(day, sizeof day, SERVICE, service);
    hmac_sha256(service, sizeof service, "tc3_request", signing);
    sign_line(s, false,
              "Authorization: TC3-HMAC-SHA256 Credential=%s/%s/" SERVICE
              "/tc3_request, SignedHeaders=%s, Signature=%s",
              key[0], date, names, hmac_hex(signing, sizeof signing, text, mac));
    return sign_end(s, lines, err);
}

static const char *const busy[] = {"RequestLimitExceeded", "InternalError", "ResourceUnavailable",
                                   NULL};
static const struct fetch_api api = {
    .sign = sign, .code = "Response.Error.Code", .message = "Response.Error.Message", .busy = busy};

static int ask_region(struct fetch_run *run, const char *region, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    const char *header[] = {"X-TC-Action: DescribeZoneInstanceConfigInfos",
                            "X-TC-Version: 2017-03-12",
                            arena_printf(fetch_arena(run), "X-TC-Region: %s", region), NULL};
    struct fetch_request q = {.url = "/", .post = "{}", .header = header, .api = &api};
    int rc = header[2] ? fetch_list_begin(run, region, "tencent", &l, err)
                       : gt_fail(err, GT_ENOMEM, "", "out of memory");
    return rc ? rc : fetch_list_ask(l, &q, NULL, NULL, err);
}

static const char *const regions[] = {
    "ap-guangzhou", "ap-shanghai",      "ap-beijing",   "ap-nanjing",  "ap-chengdu", "ap-chongqing",
    "ap-hongkong",  "ap-singapore",     "ap-tokyo",     "ap-seoul",    "ap-bangkok", "ap-jakarta",
    "na-ashburn",   "na-siliconvalley", "eu-frankfurt", "sa-saopaulo", NULL};

int tencent_fetch(struct fetch_run *run, struct gt_error *err)
{
    return regions_fetch(run, KEY_FORM, 2, regions, ask_region, err);
}

bool tencent_has_region(const char *code)
{
    return regions_have(regions, code);
}
