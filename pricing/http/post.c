/* One POST (post.h). */
#include "post.h"
#include "curl_api.h"
#include "engine.h"
#include "url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS    20000L
#define LOOK_MS       100
#define IGNORED_BYTES 65536u /* of an error page; the rest is not read */

struct asked {
    const struct http_post *q;
    struct http_said *said;
    struct curl_api curl;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *lines;
    char where[128];
    size_t said_len, ignored;
    bool chunked;
    int rc; /* of a callback */
    struct gt_error *err;
    char reason[CURL_ERROR_SIZE];
};

static long status_of(struct asked *a)
{
    long status = 0;
    a->curl.easy_getinfo(a->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct asked *a = ctx;
    size_t len = size * n;
    if (status_of(a) == 200) {
        a->rc = a->q->sink ? a->q->sink(a->q->ctx, data, len, a->err) : 0;
        return a->rc ? 0 : len;
    }
    size_t room = sizeof a->said->text - 1 - a->said_len, take = len < room ? len : room;
    memcpy(a->said->text + a->said_len, data, take);
    a->said_len += take;
    a->ignored += len;
    return a->ignored <= IGNORED_BYTES ? len : 0;
}

static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
    struct asked *a = ctx;
    char line[512];
    snprintf(line, sizeof line, "%.*s", (int)(size * n < 500 ? size * n : 500), data);
    if (strncasecmp(line, "transfer-encoding:", 18) == 0) {
        a->chunked = strcasestr(line, "chunked") != NULL;
    }
    if (a->q->line) {
        a->q->line(a->q->ctx, line);
    }
    return size * n;
}

static int prepare(struct asked *a)
{
    const struct http_post *q = a->q;
    a->multi = a->curl.multi_init();
    a->easy = a->curl.easy_init();
    bool ok = a->multi && a->easy;
    for (const char *const *h = q->header; ok && h && *h; h++) {
        struct curl_slist *l = a->curl.slist_append(a->lines, *h);
        ok = l != NULL;
        a->lines = l ? l : a->lines;
    }
    if (!ok) {
        return gt_fail(a->err, GT_ENOMEM, "", "out of memory");
    }
    CURLcode (*set)(CURL *, CURLoption, ...) = a->curl.easy_setopt;
    curl_transport(&a->curl, a->easy);
    set(a->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    set(a->easy, CURLOPT_TCP_KEEPALIVE, 1L); /* a query may be silent for long */
    set(a->easy, CURLOPT_URL, q->url);
    set(a->easy, CURLOPT_ERRORBUFFER, a->reason);
    set(a->easy, CURLOPT_WRITEFUNCTION, on_body);
    set(a->easy, CURLOPT_WRITEDATA, (void *)a);
    set(a->easy, CURLOPT_HEADERFUNCTION, on_header);
    set(a->easy, CURLOPT_HEADERDATA, (void *)a);
    set(a->easy, CURLOPT_HTTPHEADER, a->lines);
    set(a->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->len);
    set(a->easy, CURLOPT_POSTFIELDS, q->body);
    CURLMcode mc = a->curl.multi_add_handle(a->multi, a->easy);
    return mc == CURLM_OK
               ? 0
               : gt_fail(a->err, GT_ENET, a->where, "libcurl: %s", a->curl.multi_strerror(mc));
}

/* Until libcurl is done with it; *code: how. */
static int perform(struct asked *a, CURLcode *code)
{
    for (int running = 1, rc = 0; rc == 0;) {
        CURLMcode mc = a->curl.multi_perform(a->multi, &running);
        if (mc == CURLM_OK && running) {
            mc = a->curl.multi_poll(a->multi, NULL, 0, LOOK_MS, NULL);
        }
        if (mc != CURLM_OK) {
            return gt_fail(a->err, GT_ENET, a->where, "libcurl: %s", a->curl.multi_strerror(mc));
        }
        if (!running) {
            int left;
            CURLMsg *m = a->curl.multi_info_read(a->multi, &left);
            *code = m ? m->data.result : CURLE_RECV_ERROR;
            return 0;
        }
        rc = a->q->look ? a->q->look(a->q->ctx, a->err) : 0;
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* Whether the answer says where it ends: a connection that is closed could have been cut. */
static bool has_end(struct asked *a)
{
    curl_off_t length = -1;
    long version = 0;
    a->curl.easy_getinfo(a->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    a->curl.easy_getinfo(a->easy, CURLINFO_HTTP_VERSION, &version);
    return length >= 0 || a->chunked || version >= CURL_HTTP_VERSION_2_0;
}

static int judge(struct asked *a, CURLcode code)
{
    long status = status_of(a);
    a->said->status = status;
    a->said->text[a->said_len] = '\0';
    a->said->text[strcspn(a->said->text, "\r\n")] = '\0'; /* the rest is a stack or a page */
    if (a->rc) {
        return a->rc;
    }
    if (status != 200 && status != 0 && (code == CURLE_OK || a->said_len > 0)) {
        return gt_fail(a->err, GT_EHTTP, a->where, "HTTP %ld%s%.300s", status,
                       a->said_len ? ": " : "", a->said->text);
    }
    if (code != CURLE_OK) {
        return gt_fail(a->err, GT_ENET, a->where, "%s",
                       a->reason[0] ? a->reason : a->curl.easy_strerror(code));
    }
    return has_end(a) ? 0
                      : gt_fail(a->err, GT_ENET, a->where,
                                "the answer does not say where it ends: it may have been cut");
}

int http_post(const struct http_post *q, struct http_said *said, struct gt_error *err)
{
    struct asked a = {.q = q, .said = said, .err = err};
    CURLcode code = CURLE_OK;
    *said = (struct http_said){0};
    url_redact(q->url, a.where, sizeof a.where);
    int rc = curl_api_load(&a.curl, err);
    if (rc == 0) {
        rc = prepare(&a);
        rc = rc ? rc : perform(&a, &code);
        rc = rc ? rc : judge(&a, code);
        if (a.easy && a.multi) {
            a.curl.multi_remove_handle(a.multi, a.easy);
        }
        if (a.easy) {
            a.curl.easy_cleanup(a.easy);
        }
        if (a.multi) {
            a.curl.multi_cleanup(a.multi);
        }
        a.curl.slist_free_all(a.lines);
    }
    curl_api_unload(&a.curl);
    hide_secret(said->text, q->secret); /* a server may send it back, in rows too */
    if (rc && err) {
        hide_secret(err->text, q->secret);
    }
    return rc;
}
