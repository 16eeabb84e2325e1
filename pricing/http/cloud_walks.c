/* Walks of small clouds whose lists come in pages or in several parts. */
#include "http.h"
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct walk {
    const char *query; /* of pages */
    int page;
    uint64_t sum; /* of the page before */
    const char *header[3];
};

static struct walk *walk_new(struct fetch_run *run, struct gt_error *err)
{
    struct walk *w = arena_alloc(fetch_arena(run), sizeof *w);
    if (!w) {
        (void)gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return w;
}

static int ask_page(struct fetch_list *l, struct walk *w, struct gt_error *err);

static int after_page(struct fetch_list *l, void *ctx, const char *body, size_t len,
                      struct gt_error *err)
{
    struct walk *w = ctx;
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++) {
        sum = (sum ^ (unsigned char)body[i]) * 1099511628211u;
    }
    if (*fetch_list_next(l) == '\0') {
        return 0;
    }
    if (sum == w->sum) {
        return gt_fail(err, GT_EPARSE, fetch_base(fetch_list_run(l)),
                       "page %d is the same page as the one before, and names another", w->page);
    }
    w->sum = sum;
    return ask_page(l, ctx, err);
}

static int ask_page(struct fetch_list *l, struct walk *w, struct gt_error *err)
{
    const char *number = strstr(w->query, "%d");
    char *url =
        arena_printf(fetch_arena(fetch_list_run(l)), "%s%.*s%d%s", fetch_base(fetch_list_run(l)),
                     (int)(number - w->query), w->query, ++w->page, number + 2);
    if (!url) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct fetch_request q = {.url = url, .header = w->header};
    return fetch_list_ask(l, &q, after_page, w, err);
}

int pages_fetch(struct fetch_run *run, const char *query, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    struct walk *w = walk_new(run, err);
    if (!w) {
        return GT_ENOMEM;
    }
    w->query = query;
    int rc = key_line(run, "Authorization: Bearer ", &w->header[0], err);
    rc = rc ? rc : fetch_list_begin(run, "", NULL, &l, err);
    return rc ? rc : ask_page(l, w, err);
}

/* Vultr: plans, then bare metal; each follows its own cursor. */
static const char *const vultr_lists[] = {"/plans?type=all&per_page=500",
                                          "/plans-metal?per_page=500"};

static int vultr_ask(struct fetch_list *l, struct walk *w, const char *cursor,
                     struct gt_error *err);

static int vultr_after(struct fetch_list *l, void *ctx, const char *body, size_t len,
                       struct gt_error *err)
{
    (void)body;
    (void)len;
    struct walk *w = ctx;
    const char *cursor = fetch_list_next(l);
    if (*cursor != '\0') {
        return vultr_ask(l, w, cursor, err);
    }
    return ++w->page == 2 ? 0 : vultr_ask(l, w, "", err);
}

static int vultr_ask(struct fetch_list *l, struct walk *w, const char *cursor, struct gt_error *err)
{
    for (const char *p = cursor; *p != '\0'; p++) { /* base64 as the vendor makes it */
        if (!isalnum((unsigned char)*p) && !strchr("-_=", *p)) {
            return gt_fail(err, GT_EHTTP, fetch_base(fetch_list_run(l)),
                           "a cursor of odd characters");
        }
    }
    char *url = arena_printf(fetch_arena(fetch_list_run(l)), "%s%s%s", vultr_lists[w->page],
                             *cursor ? "&cursor=" : "", cursor);
    if (!url) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct fetch_request q = {.url = url};
    return fetch_list_ask(l, &q, vultr_after, w, err);
}

int vultr_fetch(struct fetch_run *run, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    struct walk *w = walk_new(run, err);
    int rc = w ? fetch_list_begin(run, "", NULL, &l, err) : GT_ENOMEM;
    return rc ? rc : vultr_ask(l, w, "", err);
}

/* Verda: the key "ID:SECRET" is changed into a token, which opens availability, then types. */
static int verda_types(struct fetch_list *l, void *ctx, const char *body, size_t len,
                       struct gt_error *err)
{
    const struct walk *w = ctx;
    (void)body;
    (void)len;
    struct fetch_request q = {.url = "/instance-types", .header = w->header};
    return fetch_list_ask(l, &q, NULL, NULL, err);
}

static int verda_token(struct fetch_run *run, void *ctx, const char *body, size_t len,
                       struct gt_error *err)
{
    struct walk *w = ctx;
    struct fetch_list *l = NULL;
    if (!body) {
        return 0; /* counted by itself */
    }
    cJSON *answer = cJSON_ParseWithLength(body, len);
    const char *token =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "access_token"));
    if (token && *token && strcspn(token, " \r\n") == strlen(token)) {
        w->header[0] = arena_printf(fetch_arena(run), "Authorization: Bearer %s", token);
    }
    cJSON_Delete(answer);
    if (!w->header[0]) {
        return gt_fail(err, GT_EHTTP, fetch_base(run), "the answer holds no access_token");
    }
    struct fetch_request q = {.url = "/instance-availability", .header = w->header};
    int rc = fetch_list_begin(run, "", NULL, &l, err);
    return rc ? rc : fetch_list_ask(l, &q, verda_types, w, err);
}

int verda_fetch(struct fetch_run *run, struct gt_error *err)
{
    static const char *const header[] = {"Content-Type: application/json", NULL};
    const char *part[2];
    struct walk *w = walk_new(run, err);
    int rc = w ? key_split(run, "CLIENT_ID:CLIENT_SECRET", 2, part, err) : GT_ENOMEM;
    if (rc != 0) {
        return rc;
    }
    cJSON *ask = cJSON_CreateObject();
    bool ok = ask && cJSON_AddStringToObject(ask, "grant_type", "client_credentials") &&
              cJSON_AddStringToObject(ask, "client_id", part[0]) &&
              cJSON_AddStringToObject(ask, "client_secret", part[1]);
    char *post = ok ? cJSON_PrintUnformatted(ask) : NULL;
    cJSON_Delete(ask);
    if (!post) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct fetch_request q = {.url = "/oauth2/token", .post = post, .header = header};
    rc = fetch_document(run, &q, verda_token, w, err);
    cJSON_free(post);
    return rc;
}
