/* What happens when a try has ended: done, unchanged, followed, tried again, or failed. */
#include "engine.h"
#include "retry.h"
#include "url.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TRIES          5
#define TRIES_LISTED   3          /* of a file that an index names and that is not there yet */
#define PROGRESS_BYTES (1U << 20) /* a resumed try that brought so much does not count */

static void end(struct engine *e, struct transfer *t, int state, const struct gt_error *why)
{
    request_release(e, t);
    t->state = TRANSFER_ENDED;
    run_part_ended(t->run, t, state, why);
}

void transfer_drop(struct engine *e, struct transfer *t)
{
    request_release(e, t);
    body_discard(t, NULL);
    t->state = TRANSFER_ENDED;
}

void transfer_fail(struct engine *e, struct transfer *t)
{
    struct gt_error why = t->err;
    char shown[sizeof why.where], text[sizeof why.text + sizeof why.where + 4];
    url_redact(t->url, shown, sizeof shown);
    hide_secret(why.text, t->secret);
    run_hide_key(t->run, why.text);
    run_hide_key(t->run, why.where);
    if (!why.where[0]) {
        memcpy(why.where, shown, sizeof shown);
    }
    snprintf(text, sizeof text, "%s: %s", why.where, why.text);
    body_discard(t, t->done ? NULL : text);
    if (t->done) {
        (void)t->done(t->run, t->done_ctx, NULL, 0, &why);
    }
    end(e, t, FETCH_FAILED, &why);
}

static bool may_resume(const struct transfer *t)
{
    const struct body *b = &t->body;
    bool strong = b->etag[0] && strncmp(b->etag, "W/", 2) != 0;
    return b->open && b->raw > 0 && !t->no_resume && !t->answer.no_ranges && !t->post &&
           (strong || (!b->etag[0] && b->last_modified[0]));
}

/* Puts t back into the queue, or fails it with t->err when its tries are used up. */
static void again(struct engine *e, struct transfer *t, int64_t wait_s, int max_tries)
{
    struct body *b = &t->body;
    char message[600];
    if (b->open && b->raw > b->best + PROGRESS_BYTES) {
        t->tries = 0;
    }
    b->best = b->raw > b->best ? b->raw : b->best;
    int given = e->o->tries > 0 ? e->o->tries : TRIES;
    max_tries = max_tries > 0 && max_tries < given ? max_tries : given;
    if (++t->tries >= max_tries || ++t->all_tries >= ENGINE_TRIES_MAX) {
        if (t->tries > 1) {
            size_t n = strlen(t->err.text);
            snprintf(t->err.text + n, sizeof t->err.text - n, ", after %d tries", t->tries);
        }
        transfer_fail(e, t);
        return;
    }
    int64_t ms = retry_delay_ms(t->tries, rng_unit(&e->rng), wait_s), now = engine_now_ms();
    if (wait_s > 0 && (wait_s > RETRY_AFTER_MAX || now + ms >= t->deadline_ms)) {
        size_t n = strlen(t->err.text);
        snprintf(t->err.text + n, sizeof t->err.text - n, "; the server asks to wait %lld s",
                 (long long)wait_s);
        transfer_fail(e, t);
        return;
    }
    if (!may_resume(t)) {
        body_discard(t, NULL);
    }
    t->not_before_ms = now + ms;
    request_release(e, t);
    snprintf(message, sizeof message, "%s; try %d of %d in %.1f s", t->err.text, t->tries + 1,
             max_tries, (double)ms / 1000);
    engine_report(e, t, FETCH_QUEUED, message);
}

static void restart_at(struct engine *e, struct transfer *t, const char *url)
{
    body_discard(t, NULL);
    t->url = url;
    t->not_before_ms = 0;
    request_release(e, t);
}

/* The server did not continue where the transfer broke off: the whole body is asked for, once and
 * at once (no_resume stays set); this is not a failed try. */
static void whole(struct engine *e, struct transfer *t)
{
    restart_at(e, t, t->url);
}

static void redirect(struct engine *e, struct transfer *t)
{
    char *target = NULL, from[160], to[160];
    e->curl.easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &target);
    url_redact(t->url, from, sizeof from);
    char *copy = target && *target ? arena_strdup(t->run->arena, target) : NULL;
    if (!copy) {
        gt_fail(&t->err, GT_EHTTP, from, "HTTP %ld names no address to go to", t->answer.status);
    } else if (++t->redirects > ENGINE_REDIRECTS) {
        gt_fail(&t->err, GT_EHTTP, from, "more than %d redirects", ENGINE_REDIRECTS);
    } else if (url_check(copy, &t->err) != 0) {
        char text[sizeof t->err.text];
        memcpy(text, t->err.text, sizeof text);
        gt_fail(&t->err, GT_EHTTP, from, "redirect to %.150s refused: %.200s",
                url_redact(copy, to, sizeof to), text);
    } else if (url_is_https(t->url) && !url_is_https(copy)) {
        gt_fail(&t->err, GT_EHTTP, from, "redirect from https to http (%.150s) refused",
                url_redact(copy, to, sizeof to));
    } else if (t->post && (t->answer.status == 307 || t->answer.status == 308) &&
               !url_same_origin(copy, t->url)) { /* what is posted may hold a secret */
        gt_fail(&t->err, GT_EHTTP, from, "redirect of a POST to another host (%.150s) refused",
                url_redact(copy, to, sizeof to));
    } else {
        if (t->post && t->answer.status != 307 && t->answer.status != 308) {
            t->post = NULL;
        }
        restart_at(e, t, copy);
        return;
    }
    transfer_fail(e, t);
}

/* A complete answer of 200 or 206. */
static void complete(struct engine *e, struct transfer *t)
{
    if (!t->started) {
        t->rc = request_begin_empty(t);
    }
    if (t->restart) {
        whole(e, t);
        return;
    }
    int rc = t->rc;
    const struct answer *a = &t->answer;
    if (rc == 0 && a->status == 206 && a->range_total > a->range_to + 1) { /* it may send less */
        gt_fail(&t->err, GT_ENET, "", "only bytes up to %lld of %lld came", (long long)a->range_to,
                (long long)a->range_total);
        again(e, t, 0, 0);
        return;
    }
    if (rc == 0 && t->skip > 0) {
        rc = gt_fail(&t->err, GT_ENET, "", "the answer is shorter than its first part was");
    }
    rc = rc ? rc : body_close(t, &t->err);
    t->run->rows += t->body.parse.rows;
    t->got = t->body.raw;
    if (rc != 0 && t->busy) {
        again(e, t, retry_after(t->answer.retry_after, (int64_t)time(NULL)), 0);
        return;
    }
    if (rc == 0) {
        body_discard(t, NULL);
        end(e, t, FETCH_DONE, NULL);
    } else if (rc == GT_EQUARANTINE) {
        body_discard(t, NULL);
        end(e, t, FETCH_QUARANTINED, &t->err);
    } else {
        t->err.code = rc;
        transfer_fail(e, t);
    }
}

static void not_modified(struct engine *e, struct transfer *t)
{
    if (!t->conditional) {
        gt_fail(&t->err, GT_EHTTP, "", "HTTP 304 to a request without conditions");
        transfer_fail(e, t);
        return;
    }
    if (t->done) { /* what was kept of it stands for the answer */
        body_discard(t, NULL);
        int rc = t->unchanged(t, &t->err);
        if (rc == 0) {
            end(e, t, FETCH_UNCHANGED, NULL);
        } else {
            t->err.code = rc;
            transfer_fail(e, t);
        }
        return;
    }
    if (store_touch_source(e->o->store, t->run->def->id, t->scope, e->o->now, &t->err) != 0) {
        transfer_fail(e, t);
        return;
    }
    end(e, t, FETCH_UNCHANGED, NULL);
}

/* The alternative and what was asked change places. */
static void other_address(struct transfer *t)
{
    const char *url = t->alternative;
    t->alternative = t->first_url;
    t->first_url = t->url = url;
}

static void missing(struct engine *e, struct transfer *t)
{
    if (t->alternative && !t->second) {
        t->second = true;
        other_address(t);
        restart_at(e, t, t->first_url);
        return;
    }
    gt_fail(&t->err, GT_EHTTP, "", "HTTP 404, no such file");
    if (t->optional && !t->conditional) {
        t->run->absent++;
        request_release(e, t);
        body_discard(t, NULL);
        t->state = TRANSFER_ENDED;
        t->run->open--;
        engine_report(e, t, FETCH_DONE, "not published");
        return;
    }
    if (t->listed) {
        if (t->second) { /* both are asked again */
            t->second = false;
            other_address(t);
        }
        again(e, t, 0, TRIES_LISTED);
        return;
    }
    transfer_fail(e, t);
}

/* A refusal that says that there is nothing: as an empty answer, with the words as its reason. */
static void nothing_there(struct engine *e, struct transfer *t)
{
    t->err.code = GT_ENOTFOUND;
    log_line(&t->run->log, LOG_INFO, t->run->def->id, "%s: left out: %s", t->scope, t->err.text);
    int rc = t->done(t->run, t->done_ctx, "", 0, &t->err);
    if (rc != 0) {
        t->err.code = rc;
        transfer_fail(e, t);
        return;
    }
    body_discard(t, NULL);
    end(e, t, FETCH_DONE, NULL);
}

static void answered(struct engine *e, struct transfer *t)
{
    long s = t->answer.status;
    if (t->api && t->started) { /* whatever the status: the envelope says what is */
        complete(e, t);
        return;
    }
    switch (s) {
    case 200:
    case 206:
        complete(e, t);
        return;
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
        redirect(e, t);
        return;
    case 304:
        not_modified(e, t);
        return;
    case 404:
        missing(e, t);
        return;
    case 416:
        t->no_resume = true;
        gt_fail(&t->err, GT_EHTTP, "", "HTTP 416: the server does not have the rest of the body");
        again(e, t, 0, 0);
        return;
    default:
        break;
    }
    gt_fail(&t->err, GT_EHTTP, "", "HTTP %ld%s", s,
            s == 401 || s == 403 ? ", the server refuses access"
            : s == 429           ? ", too many requests"
                                 : "");
    enum fetch_refusal r = refusal_read(t);
    if (r == REFUSAL_NOTHING && t->done) {
        nothing_there(e, t);
        return;
    }
    if (r == REFUSAL_PASSES || retry_status(s, false)) {
        again(e, t, retry_after(t->answer.retry_after, (int64_t)time(NULL)), 0);
        return;
    }
    transfer_fail(e, t);
}

/* libcurl counts the same time from an instant of its own, so that its end may come a little
 * before ours; a try that would have less than this left is not worth making either. */
#define CLOCK_SLACK_MS 50

/* libcurl could not carry the try out. */
static void broken(struct engine *e, struct transfer *t, CURLcode code)
{
    const char *why = t->reason[0] ? t->reason : e->curl.easy_strerror(code);
    bool late = engine_now_ms() + CLOCK_SLACK_MS >= t->deadline_ms;
    if (code == CURLE_FILESIZE_EXCEEDED) {
        gt_fail(&t->err, GT_ELIMIT, "", "the answer is larger than the limit of %llu bytes",
                (unsigned long long)t->max_bytes);
    } else if (code == CURLE_OUT_OF_MEMORY) { /* which is how libcurl calls such a line */
        gt_fail(&t->err, GT_ENET, "", "a header line over 100 KiB, or out of memory");
    } else if (code == CURLE_PEER_FAILED_VERIFICATION) {
        gt_fail(&t->err, GT_ENET, "",
                "the server's certificate is not trusted: %s (a CA of your own: SSL_CERT_FILE or "
                "CURL_CA_BUNDLE names its file)",
                why);
    } else if (code == CURLE_OPERATION_TIMEDOUT && late) {
        gt_fail(&t->err, GT_ENET, "", "not complete in the time allowed (%llu bytes came)",
                (unsigned long long)t->body.raw);
    } else {
        gt_fail(&t->err, GT_ENET, "", "%s", why);
    }
    if (retry_curl((int)code) && !late) {
        again(e, t, 0, 0);
        return;
    }
    transfer_fail(e, t);
}

void transfer_finish(struct engine *e, struct transfer *t, CURLcode code)
{
    if (engine_cancelled(e)) {
        transfer_drop(e, t);
        return;
    }
    if (t->restart) {
        whole(e, t);
    } else if (t->rc != 0) {
        t->err.code = t->rc;
        transfer_fail(e, t);
    } else if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && t->ignored > 0)) {
        answered(e, t);
    } else {
        broken(e, t, code);
    }
}
