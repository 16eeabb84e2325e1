/* What a source's `fetch` callback sees of the fetch engine (fetch.h: struct source_def).
 *
 * The callback runs once and plans requests; nothing blocks. A document (an index) is kept in
 * memory and handed to a function that plans more; a price list is streamed into the source's
 * parser and published under its scope when it was complete. Requests of one run may carry on
 * in any order and at once. Strings given to the engine are copied. */
#ifndef GPUTIER_HTTP_H
#define GPUTIER_HTTP_H
#include "gputier/arena.h"
#include "gputier/fetch.h"

/* Reads what a server says in an answer that is none of 200, 206, 304 and a redirect: message (not
 * empty: shown) gets its words. body: at most 4 KiB, unpacked. */
enum fetch_refusal {
    REFUSAL_STANDS,
    REFUSAL_PASSES,  /* the request may be tried again although its status does not say so */
    REFUSAL_NOTHING, /* of documents and lists: the vendor has nothing there, an empty answer */
};
typedef enum fetch_refusal fetch_refusal_fn(void *ctx, const char *body, size_t len,
                                            char message[256]);

/* How an API is asked whose requests are signed and whose errors come in an envelope of its own. */
struct fetch_request;
struct fetch_run;
struct fetch_api {
    /* All header lines of one try, NULL-terminated, in the run's arena: a signature holds its
     * time, so it is made anew for each. */
    int (*sign)(struct fetch_run *run, const struct fetch_request *q, const char *const **lines,
                struct gt_error *err);
    const char *code, *message; /* where an error's stand in the answer: "Response.Error.Code" */
    const char *const *busy;    /* beginnings of codes after which the request is sent again */
    /* Beginnings of codes that are about the account; any other code means that what was asked for
     * is not to be had there, and that answer is left out of its list. NULL = every code fails. */
    const char *const *account;
};

struct fetch_request {
    const char *url;         /* absolute, or below the base when it begins with "/" */
    const char *alternative; /* asked instead when url answers 404; NULL = none */
    const char *scope;       /* the part of the source that these rows replace; "" = all of it */
    const char *region;      /* hints for the parser, NULL = none; of a list the first asked */
    const char *vendor;
    const char *post;          /* body of a POST, NULL = GET */
    const char *const *header; /* more header lines, NULL-terminated; they may hold a key: never
                                * logged, not sent to another host on a redirect */
    /* AWS's signature, by libcurl: "aws:amz:REGION:SERVICE", key id and secret. NULL = none. Like
     * the header lines not sent to another host. */
    const char *sigv4, *user, *secret;
    fetch_refusal_fn *refusal; /* NULL: the status alone is shown */
    void *refusal_ctx;
    const struct fetch_api *api; /* of documents and lists, NULL = none */
    /* Of a list: a document for the parser that says what was asked, before an answer that does
     * not say it; NULL = none. */
    const char *question;
    uint64_t max_bytes; /* after decompression, 0 = the default of the kind */
    bool listed;        /* an index names this file: a 404 is a delay and tried again */
    bool optional;      /* 404 means "not published", unless this scope was fetched before */
};

/* Streams the answer into the source's parser and publishes its rows. */
int fetch_rows(struct fetch_run *run, const struct fetch_request *q, struct gt_error *err) GT_CHECK;

/* Keeps the answer (at most 8 MiB unless max_bytes says otherwise) and calls done with it; body
 * is NUL-terminated and borrowed for the call. An error of done fails the request. When the
 * document could not be had, done is called with body NULL and err saying why, so that the walk
 * can mark the parts that it would have planned (fetch_part_failed); when the vendor has no such
 * thing (fetch_api), with an empty body and err saying so. */
typedef int fetch_document_fn(struct fetch_run *run, void *ctx, const char *body, size_t len,
                              struct gt_error *err);
int fetch_document(struct fetch_run *run, const struct fetch_request *q, fetch_document_fn *done,
                   void *ctx, struct gt_error *err) GT_CHECK;

/* A price list that comes in several answers (list.c): all go to one parser, in the order in
 * which they arrive, and are published together under the scope when none is outstanding. After
 * an answer `after` (NULL = none) may ask for more; an error fails the whole list. */
struct fetch_list;
typedef int fetch_page_fn(struct fetch_list *l, void *ctx, const char *body, size_t len,
                          struct gt_error *err);
int fetch_list_begin(struct fetch_run *run, const char *scope, const char *vendor,
                     struct fetch_list **out, struct gt_error *err) GT_CHECK;
int fetch_list_ask(struct fetch_list *l, const struct fetch_request *q, fetch_page_fn *after,
                   void *ctx, struct gt_error *err) GT_CHECK;
struct fetch_run *fetch_list_run(const struct fetch_list *l);
/* What the parser said of the page that follows (parse_context.next), "" = nothing. */
const char *fetch_list_next(const struct fetch_list *l);

const struct source_def *fetch_source(const struct fetch_run *run);
const char *fetch_base(const struct fetch_run *run); /* without a trailing "/" */
const char *fetch_key(const struct fetch_run *run);  /* NULL = none */
int64_t fetch_now(const struct fetch_run *run);      /* the clock of the run */
/* When a part of this source was last published from the network; GT_TIME_NONE: never. */
int fetch_last(const struct fetch_run *run, const char *scope, int64_t *when,
               struct gt_error *err) GT_CHECK;
uint64_t fetch_nonce(struct fetch_run *run); /* another number each time */
/* Codes of the regions asked of this source's vendor; NULL past the end. A code given as
 * "vendor/code" to another vendor is left out. */
const char *fetch_region(const struct fetch_run *run, size_t i);
bool fetch_all_regions(const struct fetch_run *run);
/* Lives until the run ends. */
struct arena *fetch_arena(struct fetch_run *run);
/* Marks one part as failed without a request of its own (a region that the index lacks), in the
 * database too. */
void fetch_part_failed(struct fetch_run *run, const char *scope, const struct gt_error *why);
void fetch_log(struct fetch_run *run, enum log_level level, const char *text);

/* The walks of this folder, named by the records in pricing/sources/. */
int aws_offer_fetch(struct fetch_run *run, struct gt_error *err);          /* aws_walk.c */
int aws_savings_plan_fetch(struct fetch_run *run, struct gt_error *err);   /* aws_walk.c */
int skypilot_fetch(struct fetch_run *run, struct gt_error *err);           /* skypilot_walk.c */
int nebius_fetch(struct fetch_run *run, struct gt_error *err);             /* skypilot_walk.c */
int gcp_skus_fetch(struct fetch_run *run, struct gt_error *err);           /* gcp_walk.c */
int aws_spot_history_fetch(struct fetch_run *run, struct gt_error *err);   /* ec2_walk.c */
int aws_capacity_block_fetch(struct fetch_run *run, struct gt_error *err); /* ec2_walk.c */
int azure_retail_fetch(struct fetch_run *run, struct gt_error *err);       /* azure_walk.c */
int alibaba_fetch(struct fetch_run *run, struct gt_error *err);            /* alibaba_walk.c */
int tencent_fetch(struct fetch_run *run, struct gt_error *err);            /* tencent_walk.c */
int huawei_fetch(struct fetch_run *run, struct gt_error *err);             /* huawei_walk.c */
int vultr_fetch(struct fetch_run *run, struct gt_error *err);              /* cloud_walks.c */
int verda_fetch(struct fetch_run *run, struct gt_error *err);              /* cloud_walks.c */
/* Numbered pages of the base, opened by a bearer key, while the parser says that more follow;
 * query holds the place of the number ("?page=%d"). (cloud_walks.c) */
int pages_fetch(struct fetch_run *run, const char *query, struct gt_error *err) GT_CHECK;
/* One answer from the base, with `line` and the source's key as a header line (key_walk.c). */
int key_fetch(struct fetch_run *run, const char *line, const char *post,
              struct gt_error *err) GT_CHECK;
/* `line` and the key; NULL when there is no key. */
int key_line(struct fetch_run *run, const char *line, const char **out,
             struct gt_error *err) GT_CHECK;
/* A key of n parts with ":" between them, the last with all that follows; form shows them in the
 * message. */
int key_split(struct fetch_run *run, const char *form, size_t n, const char **part,
              struct gt_error *err) GT_CHECK;
/* Calls ask for each region that is asked for, of `all` (NULL-terminated) with --all-regions, after
 * a look at the key (key_split). (key_walk.c) */
int regions_fetch(struct fetch_run *run, const char *form, size_t n, const char *const *all,
                  int (*ask)(struct fetch_run *run, const char *region, struct gt_error *err),
                  struct gt_error *err) GT_CHECK;
/* Whether a list as of regions_fetch has the code. (key_walk.c) */
bool regions_have(const char *const *all, const char *code);
bool alibaba_has_region(const char *code);                     /* alibaba_walk.c */
bool tencent_has_region(const char *code);                     /* tencent_walk.c */
bool huawei_has_region(const char *code);                      /* huawei_walk.c */
int bearer_fetch(struct fetch_run *run, struct gt_error *err); /* "Authorization: Bearer KEY" */

#endif
