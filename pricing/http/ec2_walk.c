/* The ways to EC2's spot price history and capacity blocks (docs/pricing-sources.md section 1.6):
 * DescribeSpotPriceHistory and DescribeCapacityBlockOfferings of each region asked for, page by
 * page. Sent as a POST: libcurl
 * before 8.3 signs a query string as it stands, neither sorted nor encoded (curl/curl issues 9717
 * and 11794), a body it signs rightly. Frugal: the first fetch of a region asks for 90 days of spot
 * prices, as far back as the vendor remembers, a later one from an hour before the last;
 * accelerated machines only. */
#include "../sources/aws_zone.h"
#include "../sources/xml_read.h"
#include "gputier/units.h"
#include "http.h"
#include "url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API     "2016-11-15"
#define DAYS    90
#define OVERLAP 3600
/* Families with GPUs or training chips, as values of the filter instance-type ("*" encoded). */
#define FAMILIES                                                                                   \
    "&Filter.1.Name=instance-type&Filter.1.Value.1=g%2A&Filter.1.Value.2=p%2A"                     \
    "&Filter.1.Value.3=dl%2A&Filter.1.Value.4=inf%2A&Filter.1.Value.5=trn%2A"
/* Both names that Linux has; the second repeats the first where both are given. */
#define PRODUCTS                                                                                   \
    "&ProductDescription.1=Linux%2FUNIX&ProductDescription.2=Linux%2FUNIX%20%28Amazon%20VPC%29"

/* Types that are sold in blocks (EC2 user guide, Capacity Blocks for ML). */
static const char *const block_types[] = {
    "p4d.24xlarge",  "p4de.24xlarge",    "p5.4xlarge",       "p5.48xlarge",   "p5e.48xlarge",
    "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge", "trn1.32xlarge", "trn2.48xlarge"};
#define BLOCK_TYPES (sizeof block_types / sizeof *block_types)
#define BLOCK_HOURS 24 /* the shortest, to see what is free and what an hour costs */

struct account {
    bool blocks; /* capacity blocks are asked for, else spot prices */
    const char *id, *secret, *token;
    const char *header[4];
};
struct walk {
    const struct account *account;
    const char *region, *url, *sigv4;
    const char *question; /* without the token of a page */
    struct intern *seen;  /* tokens of the pages before */
};

/* --- what EC2 says when it refuses: Errors/Error/{Code, Message} --- */
struct refusal {
    char code[64], text[256];
};

static int on_refusal(void *ctx, struct xml_reader *r, enum xml_event e, const char *name,
                      const char *text, struct gt_error *err)
{
    struct refusal *f = ctx;
    (void)r;
    (void)err;
    if (e == XML_END && strcmp(name, "Code") == 0) {
        snprintf(f->code, sizeof f->code, "%s", text);
    } else if (e == XML_END && strcmp(name, "Message") == 0) {
        snprintf(f->text, sizeof f->text, "%s", text);
    }
    return 0;
}

static bool is_one_of(const char *const *list, const char *code)
{
    while (*list && strcmp(*list, code) != 0) {
        list++;
    }
    return *list != NULL;
}

static void mask(char *text, const char *secret)
{
    size_t n = secret ? strlen(secret) : 0;
    for (char *p = text; n > 0 && (p = strstr(p, secret)) != NULL;) {
        memset(p, '*', n);
    }
}

static enum fetch_refusal refused(void *ctx, const char *body, size_t len, char message[256])
{
    static const char *const passing[] = {
        "RequestLimitExceeded", "Throttling",  "RequestThrottled",   "ThrottlingException",
        "InternalError",        "Unavailable", "ServiceUnavailable", NULL};
    /* a type that this region does not sell in blocks */
    static const char *const not_sold[] = {"InvalidParameterValue", "InvalidInstanceType",
                                           "Unsupported", "UnsupportedOperation", NULL};
    const struct account *a = ctx;
    struct refusal f = {.code = ""};
    struct xml_reader *r = NULL;
    struct gt_error ignored; /* what was read before the fault is enough */
    if (xml_reader_new("", on_refusal, &f, &r, &ignored) != 0) {
        return REFUSAL_STANDS;
    }
    (void)!xml_reader_feed(r, body, len, &ignored);
    xml_reader_free(r);
    if (f.code[0]) {
        snprintf(message, 256, "%s%s%.180s", f.code, f.text[0] ? ": " : "", f.text);
    }
    mask(message,
         a->secret); /* a refused signature is answered with what should have been signed */
    mask(message, a->token);
    return is_one_of(passing, f.code)                 ? REFUSAL_PASSES
           : a->blocks && is_one_of(not_sold, f.code) ? REFUSAL_NOTHING
                                                      : REFUSAL_STANDS;
}

/* --- one region --- */
static int ask(struct fetch_list *l, struct walk *w, const char *token, struct gt_error *err);

static int after(struct fetch_list *l, void *ctx, const char *body, size_t len,
                 struct gt_error *err)
{
    struct walk *w = ctx;
    (void)body;
    (void)len;
    const char *token = fetch_list_next(l);
    if (*token == '\0') {
        return 0;
    }
    if (intern_find(w->seen, token, strlen(token)) != 0) {
        return gt_fail(err, GT_EHTTP, w->url, "a page names a page before it as the next one");
    }
    if (intern_add(w->seen, token, strlen(token)) == UINT32_MAX) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return ask(l, w, token, err);
}

static int ask(struct fetch_list *l, struct walk *w, const char *token, struct gt_error *err)
{
    struct arena *a = fetch_arena(fetch_list_run(l));
    char *next = url_escape(a, token);
    char *post =
        next ? arena_printf(a, "%s%s%s", w->question, *next ? "&NextToken=" : "", next) : NULL;
    if (!post) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    const struct account *c = w->account;
    struct fetch_request q = {.url = w->url,
                              .post = post,
                              .header = c->header,
                              .sigv4 = w->sigv4,
                              .user = c->id,
                              .secret = c->secret,
                              .refusal = refused,
                              .refusal_ctx = (void *)(uintptr_t)c};
    return fetch_list_ask(l, &q, after, w, err);
}

/* The base with the region in place of the word REGION; China has a domain of its own. */
static char *endpoint(struct fetch_run *run, const char *region)
{
    const char *base = fetch_base(run), *at = strstr(base, "REGION");
    const char *own = fetch_source(run)->default_url;
    bool china = strncmp(region, "cn-", 3) == 0 && own && strncmp(base, own, strlen(base)) == 0;
    return at ? arena_printf(fetch_arena(run), "%.*s%s%s%s/", (int)(at - base), base, region,
                             at + strlen("REGION"), china ? ".cn" : "")
              : arena_printf(fetch_arena(run), "%s/", base);
}

static char *question(struct fetch_run *run, const char *region, struct gt_error *err)
{
    char from[32], to[32];
    int64_t now = fetch_now(run), last = GT_TIME_NONE, start = now - (int64_t)DAYS * 86400;
    if (fetch_last(run, region, &last, err) != 0) {
        return NULL;
    }
    if (last != GT_TIME_NONE && last - OVERLAP > start && last <= now) {
        start = last - OVERLAP;
    }
    char *f = url_escape(fetch_arena(run), time_format(start, from));
    char *t = url_escape(fetch_arena(run), time_format(now, to));
    char *q = f && t ? arena_printf(fetch_arena(run),
                                    "Action=DescribeSpotPriceHistory&Version=%s&MaxResults=1000"
                                    "&StartTime=%s&EndTime=%s%s",
                                    API, f, t, PRODUCTS FAMILIES)
                     : NULL;
    if (!q) {
        (void)gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return q;
}

/* For a block the type, the number and the length have to be said. */
static char *block_question(struct fetch_run *run, size_t type, struct gt_error *err)
{
    char *q = arena_printf(fetch_arena(run),
                           "Action=DescribeCapacityBlockOfferings&Version=%s&InstanceType=%s"
                           "&InstanceCount=1&CapacityDurationHours=%d",
                           API, block_types[type], BLOCK_HOURS);
    if (!q) {
        (void)gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return q;
}

static int plan_region(struct fetch_run *run, const struct account *c, const char *region,
                       struct gt_error *err)
{
    struct arena *a = fetch_arena(run);
    struct fetch_list *l = NULL;
    size_t questions = c->blocks ? BLOCK_TYPES : 1;
    struct walk *w = arena_array(a, questions, sizeof *w);
    struct walk first = {.account = c, .region = region};
    if (!w || !(first.url = endpoint(run, region)) ||
        !(first.sigv4 = arena_printf(a, "aws:amz:%s:ec2", region))) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = 0;
    for (size_t i = 0; i < questions && rc == 0; i++) {
        w[i] = first;
        w[i].question = c->blocks ? block_question(run, i, err) : question(run, region, err);
        w[i].seen = intern_new(a);
        rc = !w[i].question ? GT_EDB
             : !w[i].seen   ? gt_fail(err, GT_ENOMEM, "", "out of memory")
                            : 0;
    }
    rc = rc ? rc : fetch_list_begin(run, region, "aws", &l, err);
    for (size_t i = 0; i < questions && rc == 0; i++) {
        rc = ask(l, &w[i], "", err);
    }
    return rc;
}

/* "us-east-1", "us-gov-west-1": it becomes part of a host name. */
static bool is_region(const char *s)
{
    size_t n = strlen(s);
    return n > 5 && n < 40 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n &&
           strchr(s, '-') != NULL && s[n - 1] >= '0' && s[n - 1] <= '9' && s[n - 2] == '-';
}

static int plan_one(struct fetch_run *run, const struct account *c, const char *code,
                    struct intern *planned, struct gt_error *err)
{
    struct gt_error why = {0};
    size_t n = aws_parent_length(code);
    char *region = arena_strndup(fetch_arena(run), code, n);
    if (!region) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (intern_find(planned, region, n) != 0) { /* a Local Zone stands in its region's history */
        return 0;
    }
    int rc = intern_add(planned, region, n) == UINT32_MAX ? GT_ENOMEM
             : is_region(region)
                 ? plan_region(run, c, region, &why)
                 : gt_fail(&why, GT_ENOTFOUND, region, "no region of AWS, such as us-east-1");
    if (rc != 0) {
        fetch_part_failed(run, code, &why);
    }
    return rc == GT_ENOMEM ? rc : 0;
}

/* --- all regions --- */
struct regions {
    struct fetch_run *run;
    const struct account *account;
    struct intern *planned;
};

static int on_region(void *ctx, struct xml_reader *r, enum xml_event e, const char *name,
                     const char *text, struct gt_error *err)
{
    const struct regions *g = ctx;
    (void)r;
    return e == XML_END && strcmp(name, "regionName") == 0
               ? plan_one(g->run, g->account, text, g->planned, err)
               : 0;
}

static int on_regions(struct fetch_run *run, void *ctx, const char *body, size_t len,
                      struct gt_error *err)
{
    struct xml_reader *r = NULL;
    (void)run;
    if (!body) {
        return 0; /* counted by itself */
    }
    int rc = xml_reader_new("DescribeRegions", on_region, ctx, &r, err);
    rc = rc ? rc : xml_reader_feed(r, body, len, err);
    rc = rc ? rc : xml_reader_end(r, err);
    xml_reader_free(r);
    return rc;
}

static int plan_all(struct fetch_run *run, const struct account *c, struct intern *planned,
                    struct gt_error *err)
{
    struct regions *g = arena_alloc(fetch_arena(run), sizeof *g);
    char *url = endpoint(run, "us-east-1");
    if (!g || !url) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *g = (struct regions){run, c, planned};
    struct fetch_request q = {.url = url,
                              .post = "Action=DescribeRegions&Version=" API,
                              .header = c->header,
                              .sigv4 = "aws:amz:us-east-1:ec2",
                              .user = c->id,
                              .secret = c->secret,
                              .refusal = refused,
                              .refusal_ctx = (void *)(uintptr_t)c};
    return fetch_document(run, &q, on_regions, g, err);
}

static int fetch_regions(struct fetch_run *run, bool blocks, struct gt_error *err)
{
    struct arena *a = fetch_arena(run);
    struct account *c = arena_alloc(a, sizeof *c);
    struct intern *planned = intern_new(a);
    const char *region;
    if (!c || !planned) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    c->blocks = blocks;
    c->id = fetch_key(run);
    c->secret = getenv("AWS_SECRET_ACCESS_KEY");
    c->token = getenv("AWS_SESSION_TOKEN");
    if (!c->secret || !*c->secret) {
        return gt_fail(err, GT_EUSAGE, "",
                       "%s needs a key: set AWS_SECRET_ACCESS_KEY beside "
                       "AWS_ACCESS_KEY_ID",
                       fetch_source(run)->id);
    }
    c->header[0] = "Content-Type: application/x-www-form-urlencoded; charset=utf-8";
    if (c->token && *c->token) {
        if (strcspn(c->token, "\r\n") != strlen(c->token)) {
            return gt_fail(err, GT_EUSAGE, "AWS_SESSION_TOKEN", "holds a line break");
        }
        c->header[1] = arena_printf(a, "X-Amz-Security-Token: %s", c->token);
        if (!c->header[1]) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
    }
    if (fetch_all_regions(run)) {
        return plan_all(run, c, planned, err);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && (region = fetch_region(run, i)) != NULL; i++) {
        rc = plan_one(run, c, region, planned, err);
    }
    return rc;
}

int aws_spot_history_fetch(struct fetch_run *run, struct gt_error *err)
{
    return fetch_regions(run, false, err);
}

int aws_capacity_block_fetch(struct fetch_run *run, struct gt_error *err)
{
    return fetch_regions(run, true, err);
}
