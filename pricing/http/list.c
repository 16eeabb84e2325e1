/* Price lists that come in several answers (pages, or lists that belong together): each answer is
 * taken whole before the parser sees it, so a page that breaks off is simply asked for again; the
 * rows are published once, when the last answer was read. */
#include "engine.h"
#include "url.h"
#include <stdio.h>
#include <string.h>

#define PAGES_MAX  5000U
#define PAGE_BYTES (64ULL << 20)

struct fetch_list {
    struct fetch_list *next; /* of the run */
    struct fetch_run *run;
    const char *scope;
    struct parse_context parse;
    struct staging *staging;
    struct parser *parser;
    struct sha256 sha;
    uint64_t bytes;
    size_t pages, pending;
    bool over; /* published or failed: what still arrives is dropped */
};
struct page {
    struct fetch_list *list;
    fetch_page_fn *after;
    void *ctx;
};

static void drop(struct fetch_list *l, const char *why)
{
    if (l->parser) {
        l->run->def->parse_abort(l->parser);
        l->parser = NULL;
    }
    if (l->staging) {
        staging_discard(l->staging, why);
        l->staging = NULL;
    }
    l->over = true;
}

void list_release(struct fetch_run *run)
{
    for (struct fetch_list *l = run->lists; l; l = l->next) {
        drop(l, NULL);
    }
}

static void ended(struct fetch_list *l, int state, const struct gt_error *why)
{
    struct transfer part = {.run = l->run, .scope = l->scope, .got = l->bytes};
    part.body.parse.rows = l->parse.rows;
    l->over = true;
    l->run->rows += l->parse.rows;
    l->run->open++; /* which run_part_ended takes back */
    run_part_ended(l->run, &part, state, why);
}

static void fail(struct fetch_list *l, const struct gt_error *why)
{
    char text[sizeof why->text + sizeof why->where + 4];
    snprintf(text, sizeof text, "%s%s%s", why->where, why->where[0] ? ": " : "", why->text);
    drop(l, text); /* the request that failed is counted and shown by itself */
}

static int publish(struct fetch_list *l, struct gt_error *err)
{
    unsigned char digest[32];
    char hex[65];
    struct publish_result r;
    struct parser *p = l->parser;
    l->parser = NULL; /* parse_close frees it, whatever it returns */
    int rc = l->run->def->parse_close(p, err);
    if (rc == 0 && l->parse.rows == 0) {
        rc = gt_fail(err, GT_EPARSE, l->parse.name,
                     "no price rows in %zu answers; an empty list never replaces prices", l->pages);
    }
    if (rc != 0) {
        return rc;
    }
    sha256_end(&l->sha, digest);
    struct staging *st = l->staging;
    staging_set_raw(st, sha256_hex(digest, hex), l->bytes, NULL, NULL);
    l->staging = NULL; /* released by publish in every case */
    return staging_publish(st, &r, err);
}

static int take(struct page *page, const char *body, size_t len, struct gt_error *err)
{
    struct fetch_list *l = page->list;
    l->parse.next[0] = '\0';
    sha256_add(&l->sha, body, len);
    l->bytes += len;
    int rc = l->run->def->parse_feed(l->parser, body, len, err);
    /* pages are documents of their own: no token may reach from one into the next */
    rc = rc ? rc : l->run->def->parse_feed(l->parser, "\n", 1, err);
    rc = rc || !page->after ? rc : page->after(l, page->ctx, body, len, err);
    if (rc != 0 || --l->pending > 0) {
        return rc;
    }
    rc = publish(l, err);
    if (rc == 0) {
        ended(l, FETCH_DONE, NULL);
    } else if (rc == GT_EQUARANTINE) {
        ended(l, FETCH_QUARANTINED, err);
        rc = 0;
    }
    return rc;
}

static int on_document(struct fetch_run *run, void *ctx, const char *body, size_t len,
                       struct gt_error *err)
{
    struct page *page = ctx;
    (void)run;
    if (page->list->over) {
        return 0;
    }
    if (!body) {
        fail(page->list, err);
        return 0;
    }
    return take(page, body, len, err);
}

int fetch_list_begin(struct fetch_run *run, const char *scope, const char *vendor,
                     struct fetch_list **out, struct gt_error *err)
{
    char shown[256];
    struct fetch_list *l = arena_alloc(run->arena, sizeof *l);
    if (!l || !(l->scope = arena_strdup(run->arena, scope)) ||
        !(l->parse.vendor = arena_strdup(run->arena, vendor ? vendor : "")) ||
        !(l->parse.name = arena_strdup(run->arena, url_redact(run->base, shown, sizeof shown)))) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    l->run = run;
    l->parse.region = "";
    l->parse.now = l->parse.as_of = run->engine->o->now;
    l->parse.log = run->engine->o->log;
    sha256_init(&l->sha);
    int rc = run_staging(run, l->scope, l->parse.name, &l->staging, err);
    if (rc != 0) {
        return rc;
    }
    l->next = run->lists;
    run->lists = l;
    l->parse.staging = l->staging;
    *out = l;
    return run->def->parse_open(&l->parse, &l->parser, err);
}

int fetch_list_ask(struct fetch_list *l, const struct fetch_request *q, fetch_page_fn *after,
                   void *ctx, struct gt_error *err)
{
    struct page *page = arena_alloc(l->run->arena, sizeof *page);
    struct fetch_request r = *q;
    if (!page) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (++l->pages > PAGES_MAX) {
        return gt_fail(err, GT_ELIMIT, l->parse.name, "the list has more than %u pages", PAGES_MAX);
    }
    *page = (struct page){l, after, ctx};
    r.scope = l->scope;
    r.max_bytes = r.max_bytes ? r.max_bytes : PAGE_BYTES;
    int rc = fetch_document(l->run, &r, on_document, page, err);
    l->pending += rc == 0;
    return rc;
}

struct fetch_run *fetch_list_run(const struct fetch_list *l)
{
    return l->run;
}

const char *fetch_list_next(const struct fetch_list *l)
{
    return l->parse.next;
}
