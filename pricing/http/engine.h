/* Inside of the fetch engine. One `engine` drives libcurl's multi interface in the caller's
 * thread; one `fetch_run` is a source; one `transfer` a request of it with its tries, redirects
 * and the body's way: raw bytes -> hash -> unpacking -> document buffer, or parser -> staging. */
#ifndef GPUTIER_ENGINE_H
#define GPUTIER_ENGINE_H
#include "../sources/inflate.h"
#include "blake3.h"
#include "curl_api.h"
#include "gputier/arena.h"
#include "gputier/buf.h"
#include "gputier/fetch.h"
#include "gputier/rng.h"
#include "http.h"
#include "sha256.h"

#define ENGINE_PARALLEL  8 /* transfers at once */
#define ENGINE_PER_RUN   4 /* of them for one source */
#define ENGINE_REDIRECTS 5
#define ENGINE_TRIES_MAX 50 /* resumed tries that made progress do not count, up to this many */
#define DOCUMENT_BYTES   (8ULL << 20)
#define REFUSAL_BYTES    4096U /* kept of the body of a refusal */

enum transfer_state { TRANSFER_WAITING, TRANSFER_ACTIVE, TRANSFER_ENDED };

/* What the header lines of the last answer said. */
struct answer {
    long status;
    char etag[256], last_modified[64], coding[32], retry_after[64];
    int64_t range_from, range_to, range_total; /* of Content-Range, -1 = none, not stated */
    unsigned char digest[32];
    bool has_digest, no_ranges, html;
};

/* The receiving end of a request: see body.c. */
struct body {
    struct buf document;
    struct unpack *unpack;
    struct staging *staging;
    struct parser *parser;
    struct parse_context parse;
    struct blake3 *hash;         /* of what is parsed as it comes; NULL for documents */
    struct sha256 sha;           /* only where the server states one: has_digest */
    uint64_t raw, decoded, best; /* bytes taken; best = most raw bytes of any try */
    uint64_t length;             /* raw bytes of all of it as first stated, 0 = not stated */
    char etag[256], last_modified[64], coding[32]; /* of the answer that is being taken */
    unsigned char digest[32];
    bool has_digest, open;
    char final; /* last decoded byte */
    char head[64];
    size_t head_len;
    bool head_seen;
};

/* A document from the cache folder, body NULL = none (cache.c). */
struct cached {
    const char *body, *condition;
    size_t len;
};

/* What came of a list so far. */
struct list_sum {
    uint64_t bytes, rows;
};

struct transfer {
    struct transfer *next;
    struct fetch_run *run;
    enum transfer_state state;
    const char *url, *alternative, *scope, *region, *vendor, *post;
    const char *first_url; /* before redirects */
    const char *const *header;
    const char *sigv4, *user, *secret;
    fetch_refusal_fn *refusal;
    void *refusal_ctx;
    char *said; /* first bytes of a refusal; NULL when nobody reads them */
    size_t said_len;
    const struct fetch_api *api;
    const char *question;
    uint64_t max_bytes;
    bool listed, optional;
    bool second;             /* first_url is the alternative */
    bool cacheable;          /* an index that no key opens */
    fetch_document_fn *done; /* NULL: rows */
    void *done_ctx;
    const char *condition; /* header line; a 304 then goes to unchanged, NULL = rows' own */
    int (*unchanged)(struct transfer *t, struct gt_error *err);
    struct cached kept;         /* what the condition stands for, of a document */
    const struct list_sum *sum; /* of the list that this page belongs to, NULL = no page */
    int64_t *shared_deadline;   /* of a list, set by its first request; NULL = its own */

    CURL *easy;
    struct curl_slist *lines;
    struct answer answer;
    struct body body;
    uint64_t skip, total; /* bytes still to drop after a resume; expected raw bytes, 0 unknown */
    bool started, restart, no_resume, conditional;
    bool busy; /* the vendor asks to come again */
    int tries, all_tries, redirects;
    uint64_t got;     /* raw bytes of the complete body */
    uint64_t ignored; /* bytes of an answer that is no price list */
    int64_t not_before_ms, deadline_ms;
    struct gt_error err; /* set by a callback: why the transfer was stopped */
    int rc;
    char reason[CURL_ERROR_SIZE];
};

struct fetch_run {
    struct engine *engine;
    const struct source_def *def;
    struct arena *arena;
    const char *base, *key;
    struct log_sink log; /* the user's, without the key */
    const char **region;
    size_t n_regions;
    struct transfer *first, *last;
    struct fetch_list *lists;
    size_t active, open; /* transfers in curl's hands; transfers not ended */
    size_t done, unchanged, failed, quarantined, absent;
    uint64_t bytes, rows;
    struct gt_error err; /* the first error of the run */
};

struct engine {
    const struct fetch_options *o;
    struct curl_api curl;
    CURLM *multi;
    struct fetch_run *run;
    size_t n_runs, active;
    struct rng rng;
    struct arena *arena;
    int64_t shown_ms; /* last progress report */
};

int64_t engine_now_ms(void);
bool engine_cancelled(const struct engine *e);
void engine_report(struct engine *e, const struct transfer *t, int state, const char *message);

/* run.c */
/* Whether a region is asked for that the source's vendor may have. */
bool run_has_region(const struct fetch_options *o, const struct source_def *d);
int run_init(struct fetch_run *run, struct engine *e, const struct source_def *def,
             struct gt_error *err) GT_CHECK;
int run_plan(struct fetch_run *run, struct gt_error *err) GT_CHECK;
/* Blots a secret (NULL = none), the run's key out of a message: a vendor may send it back. */
void hide_secret(char *text, const char *secret);
void run_hide_key(const struct fetch_run *run, char *text);
/* Adds a failed, finished … part to the run and tells the progress callback. */
void run_part_ended(struct fetch_run *run, const struct transfer *t, int state,
                    const struct gt_error *why);

/* A request that is not in the queue yet; run_append puts it there. done NULL = rows. */
int run_request(struct fetch_run *run, const struct fetch_request *q, fetch_document_fn *done,
                void *ctx, struct transfer **out, struct gt_error *err) GT_CHECK;
void run_append(struct transfer *t);
int run_staging(struct fetch_run *run, const char *scope, const char *url, struct staging **out,
                struct gt_error *err) GT_CHECK;

/* list.c: drops the lists that are not complete (interrupted). */
void list_release(struct fetch_run *run);

/* cache.c: documents that anyone may see, kept with what the server calls their version. */
struct cached cache_get(struct fetch_run *run, const char *url);
void cache_put(const struct transfer *t, const char *body, size_t len);

/* request.c */
int transfer_start(struct engine *e, struct transfer *t, struct gt_error *err) GT_CHECK;
int request_begin_empty(struct transfer *t) GT_CHECK; /* a 200 without any byte */
void request_release(struct engine *e, struct transfer *t);

/* transfer.c */
/* libcurl is through with t: retries, follows, publishes or fails. */
void transfer_finish(struct engine *e, struct transfer *t, CURLcode code);
/* Ends t without a result (cancel, clean-up). */
void transfer_drop(struct engine *e, struct transfer *t);
/* Ends t as failed with t->err. */
void transfer_fail(struct engine *e, struct transfer *t);

/* refusal.c */
void refusal_take(struct transfer *t, const char *data, size_t len);
/* Appends the server's words to t->err; true: the fault passes. */
enum fetch_refusal refusal_read(struct transfer *t);

/* envelope.c: what a complete answer of t->api says. 0, GT_ENOTFOUND (there is no such thing) or
 * GT_EHTTP; t->busy is set when it is to be asked again. */
int envelope_judge(struct transfer *t, const char *body, size_t len, struct gt_error *err) GT_CHECK;

/* answer.c */
void answer_reset(struct answer *a);
void answer_line(struct answer *a, const char *line, size_t len);

/* body.c */
int body_open(struct transfer *t, struct gt_error *err) GT_CHECK;
int body_take(struct transfer *t, const char *data, size_t len, struct gt_error *err) GT_CHECK;
/* Body complete: document handed on, or rows published. */
int body_close(struct transfer *t, struct gt_error *err) GT_CHECK;
void body_discard(struct transfer *t, const char *why); /* why != NULL: a failed run is recorded */

#endif
