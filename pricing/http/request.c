/* One try of a transfer: libcurl's options, and the callbacks that take the answer. */
#include "engine.h"
#include "url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS    20000L
#define BUFFER_BYTES  262144L
#define LOW_SPEED     64L    /* bytes a second that count as a stall */
#define IGNORED_BYTES 65536U /* of an error page; the rest is not read */
#define MAX_TIME_S    7200
#define STALL_S       60

static int stop(struct transfer *t, int rc)
{
    t->rc = rc;
    return 0; /* fewer bytes than offered: libcurl ends the transfer */
}

/* Whether an answer is of the same version as what came before: by the ETag, else by the date,
 * which a partial answer may leave out (RFC 9110 section 15.3.7). */
static bool same_version(const struct answer *a, const struct body *b)
{
    return strcmp(a->coding, b->coding) == 0 && strcmp(a->etag, b->etag) == 0 &&
           (b->etag[0] || !a->last_modified[0] || strcmp(a->last_modified, b->last_modified) == 0);
}

/* The answer's first bytes are here (or it has none): is it what was asked for, does it begin a
 * body or continue one? 0, or an error; t->restart asks for the whole body once more. length: of
 * the answer, 0 = not stated. */
static int begin(struct transfer *t, uint64_t length)
{
    struct body *b = &t->body;
    const struct answer *a = &t->answer;
    t->started = true;
    t->skip = 0;
    bool same = same_version(a, b);
    if (a->status == 206 && !b->open) {
        return gt_fail(&t->err, GT_EHTTP, "", "HTTP 206: a part came, though all was asked for");
    }
    if (a->status == 206) {
        if (a->range_from == (int64_t)b->raw && same &&
            (a->range_total < 0 || !b->length || (uint64_t)a->range_total == b->length)) {
            return 0;
        }
        t->restart = t->no_resume = true;
        return GT_ENET;
    }
    if (b->open && same && a->etag[0]) {
        t->skip = b->raw; /* the server ignored the range; what is known is passed over */
        return 0;
    }
    if (b->open) {
        body_discard(t, NULL); /* another version: from the beginning */
    }
    int rc = body_open(t, &t->err);
    b->length = length;
    return rc;
}

int request_begin_empty(struct transfer *t)
{
    return begin(t, 0);
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    size_t len = size * n;
    struct engine *e = t->run->engine;
    if (engine_cancelled(e)) {
        return (size_t)stop(t, GT_ECANCELLED);
    }
    bool envelope = t->api && t->answer.status >= 400 && !t->answer.html;
    if (t->answer.status != 200 && t->answer.status != 206 && !envelope) {
        t->ignored += len;
        refusal_take(t, data, len);
        return t->ignored <= IGNORED_BYTES ? len : 0;
    }
    if (!t->started) {
        curl_off_t cl = -1;
        e->curl.easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &cl);
        int rc = begin(t, cl > 0 ? (uint64_t)cl : 0);
        if (rc != 0) {
            return (size_t)stop(t, rc);
        }
        t->total = cl > 0 ? (uint64_t)cl + (t->answer.status == 206 ? t->body.raw : 0) : 0;
    }
    size_t drop = t->skip < len ? (size_t)t->skip : len;
    t->skip -= drop;
    if (len > drop) {
        int rc = body_take(t, data + drop, len - drop, &t->err);
        if (rc != 0) {
            return (size_t)stop(t, rc);
        }
        t->run->bytes += len - drop;
    }
    return len;
}

static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    answer_line(&t->answer, data, size * n);
    return engine_cancelled(t->run->engine) ? 0 : size * n;
}

static int add_line(struct engine *e, struct transfer *t, const char *line, struct gt_error *err)
{
    struct curl_slist *l = e->curl.slist_append(t->lines, line);
    if (!l) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    t->lines = l;
    return 0;
}

/* If-None-Match and its like from the last fetch of this scope. */
static int add_conditions(struct engine *e, struct transfer *t, struct gt_error *err)
{
    char *etag = NULL, *modified = NULL, line[400];
    int rc = store_http_state(e->o->store, t->run->def->id, t->scope, &etag, &modified, err);
    if (rc == 0 && etag && *etag && !strchr(etag, '\n')) { /* with one: that of a list's pages */
        snprintf(line, sizeof line, "If-None-Match: %s", etag);
        rc = add_line(e, t, line, err);
        t->conditional = true;
    } else if (rc == 0 && modified && *modified) {
        snprintf(line, sizeof line, "If-Modified-Since: %s", modified);
        rc = add_line(e, t, line, err);
        t->conditional = true;
    }
    free(etag);
    free(modified);
    return rc;
}

/* The walk's own lines, signed where the vendor asks for it. */
static int add_own_lines(struct engine *e, struct transfer *t, struct gt_error *err)
{
    const char *const *line = t->header;
    int rc = 0;
    if (t->api) {
        struct fetch_request q = {.url = t->url, .post = t->post, .header = t->header};
        rc = t->api->sign(t->run, &q, &line, err);
    }
    for (; rc == 0 && line && *line; line++) {
        rc = add_line(e, t, *line, err);
    }
    return rc;
}

static int add_lines(struct engine *e, struct transfer *t, struct gt_error *err)
{
    char line[400];
    int rc = add_line(e, t, "Accept-Encoding: gzip", err);
    if (rc == 0 && url_same_origin(t->url, t->first_url)) {
        rc = add_own_lines(e, t, err);
    }
    t->conditional = false;
    if (rc == 0 && t->body.open) {
        const char *v = t->body.etag[0] ? t->body.etag : t->body.last_modified;
        snprintf(line, sizeof line, "If-Range: %s", v);
        rc = add_line(e, t, line, err);
    } else if (rc == 0 && t->condition) {
        rc = add_line(e, t, t->condition, err);
        t->conditional = true;
    } else if (rc == 0 && !t->done && !t->post && !e->o->accept_large_change) {
        rc = add_conditions(e, t, err);
    }
    return rc;
}

static void set_transport(struct engine *e, struct transfer *t)
{
    CURL *h = t->easy;
    CURLcode (*set)(CURL *, CURLoption, ...) = e->curl.easy_setopt;
    curl_transport(&e->curl, h); /* redirects are followed by hand: transfer.c */
    set(h, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
    set(h, CURLOPT_CONNECTTIMEOUT_MS, e->o->connect_s > 0 ? 1000L * e->o->connect_s : CONNECT_MS);
    if (e->o->ip_version) {
        set(h, CURLOPT_IPRESOLVE,
            e->o->ip_version == 4 ? (long)CURL_IPRESOLVE_V4 : (long)CURL_IPRESOLVE_V6);
    }
    set(h, CURLOPT_LOW_SPEED_LIMIT, LOW_SPEED);
    set(h, CURLOPT_LOW_SPEED_TIME, (long)(e->o->stall_s > 0 ? e->o->stall_s : STALL_S));
    int64_t left = t->deadline_ms - engine_now_ms();
    set(h, CURLOPT_TIMEOUT_MS, (long)(left > 1 ? left : 1));
    set(h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->max_bytes);
}

/* Of the whole transfer with all its tries; the requests of a list have one together. */
static void set_deadline(const struct engine *e, struct transfer *t)
{
    int64_t own = engine_now_ms() + 1000LL * (e->o->max_time_s > 0 ? e->o->max_time_s : MAX_TIME_S);
    int64_t *shared = t->shared_deadline;
    if (shared && *shared == 0) {
        *shared = own;
    }
    if (t->deadline_ms == 0) {
        t->deadline_ms = shared ? *shared : own;
    }
}

int transfer_start(struct engine *e, struct transfer *t, struct gt_error *err)
{
    char range[32];
    t->easy = e->curl.easy_init();
    if (!t->easy) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    set_deadline(e, t);
    answer_reset(&t->answer);
    t->started = t->restart = t->busy = false;
    t->ignored = 0;
    t->said_len = 0;
    t->rc = 0;
    t->reason[0] = '\0';
    set_transport(e, t);
    CURLcode (*set)(CURL *, CURLoption, ...) = e->curl.easy_setopt;
    set(t->easy, CURLOPT_URL, t->url);
    set(t->easy, CURLOPT_PRIVATE, (void *)t);
    set(t->easy, CURLOPT_ERRORBUFFER, t->reason);
    set(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    set(t->easy, CURLOPT_WRITEDATA, (void *)t);
    set(t->easy, CURLOPT_HEADERFUNCTION, on_header);
    set(t->easy, CURLOPT_HEADERDATA, (void *)t);
    if (t->post) {
        set(t->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(t->post));
        set(t->easy, CURLOPT_POSTFIELDS, t->post);
    }
    if (t->sigv4 && url_same_origin(t->url, t->first_url)) {
        set(t->easy, CURLOPT_AWS_SIGV4, t->sigv4);
        set(t->easy, CURLOPT_USERNAME, t->user);
        set(t->easy, CURLOPT_PASSWORD, t->secret);
    }
    int rc = add_lines(e, t, err);
    if (rc != 0) {
        return rc;
    }
    set(t->easy, CURLOPT_HTTPHEADER, t->lines);
    if (t->body.open) {
        snprintf(range, sizeof range, "%llu-", (unsigned long long)t->body.raw);
        set(t->easy, CURLOPT_RANGE, range);
    }
    CURLMcode mc = e->curl.multi_add_handle(e->multi, t->easy);
    if (mc != CURLM_OK) {
        return gt_fail(err, GT_ENET, "", "libcurl: %s", e->curl.multi_strerror(mc));
    }
    t->state = TRANSFER_ACTIVE;
    t->run->active++;
    e->active++;
    return 0;
}

void request_release(struct engine *e, struct transfer *t)
{
    if (t->easy) {
        if (t->state == TRANSFER_ACTIVE) {
            e->curl.multi_remove_handle(e->multi, t->easy);
            t->run->active--;
            e->active--;
        }
        e->curl.easy_cleanup(t->easy);
        t->easy = NULL;
    }
    e->curl.slist_free_all(t->lines);
    t->lines = NULL;
    t->state = TRANSFER_WAITING;
}
