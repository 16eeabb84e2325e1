/* Price lists that come in several answers (pages, or lists that belong together): each answer is
 * taken whole before the parser sees it, so a page that breaks off is simply asked for again; the
 * rows are published once, when the last answer was read.
 *
 * A refresh asks for the pages of the last time with their conditions, one after the other: 304 to
 * all of them means unchanged. (A page that is the same names the same next page, so that nothing
 * is overlooked.) At the first page that differs the list is read from its beginning. Lists with a
 * POST or with a page that has no validator are always read. */
#include "engine.h"
#include "url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX   5000U
#define PAGE_BYTES  (64ULL << 20)
#define VERSION_MAX ((size_t)64 * 1024) /* longer lists of pages are not kept */
#define VERSION     "pages\n"           /* then "URL e ETAG" or "URL m LAST-MODIFIED" each */

struct known_page {
    const char *url, *condition; /* the condition is a header line */
};
struct fetch_list {
    struct fetch_list *next; /* of the run */
    struct fetch_run *run;
    const char *scope;
    struct parse_context parse;
    struct staging *staging; /* from the first answer on */
    struct parser *parser;
    struct blake3 hash; /* of the answers one behind the other */
    struct list_sum sum;
    size_t pages, pending;
    char left_out[200]; /* why the last answer that was left out was */
    bool over;          /* published or failed: what still arrives is dropped */
    struct buf version; /* of the pages taken so far */
    bool no_version;    /* a page cannot be asked for with a condition */
    struct known_page *known;
    size_t n_known, same; /* pages of the last time; of them those that answered 304 */
    struct page *first, *asked,
        *held; /* held: asked for while it is open whether anything is new */
    int64_t deadline_ms;
};
struct page {
    struct page *older, *next_held;
    struct fetch_list *list;
    struct transfer *t;
    fetch_page_fn *after;
    void *ctx;
    uint64_t key;
};

static void drop(struct fetch_list *l, const char *why)
{
    struct gt_error ignored; /* the failure being recorded matters more */
    if (l->parser) {
        l->run->def->parse_abort(l->parser);
        l->parser = NULL;
    }
    if (why && !l->staging &&
        run_staging(l->run, l->scope, l->parse.name, &l->staging, &ignored) != 0) {
        l->staging = NULL;
    }
    if (l->staging) {
        staging_discard(l->staging, why);
        l->staging = NULL;
    }
    buf_release(&l->version);
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
    struct transfer part = {.run = l->run, .scope = l->scope, .got = l->sum.bytes};
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
    char hash[BLAKE3_TEXT];
    struct publish_result r;
    struct parser *p = l->parser;
    l->parser = NULL; /* parse_close frees it, whatever it returns */
    int rc = l->run->def->parse_close(p, err);
    if (rc == 0 && l->parse.rows == 0 && !l->parse.sold_out) {
        rc = gt_fail(err, GT_EPARSE, l->parse.name,
                     "no price rows in %zu answers%s%s; an empty list never replaces prices",
                     l->pages, l->left_out[0] ? ", the last that was left out: " : "", l->left_out);
    }
    if (rc != 0) {
        return rc;
    }
    struct staging *st = l->staging;
    bool kept = !l->no_version && !l->version.failed && l->version.data;
    staging_set_raw(st, blake3_text(&l->hash, hash), l->sum.bytes, kept ? l->version.data : NULL,
                    NULL);
    l->staging = NULL; /* released by publish in every case */
    return staging_publish(st, &r, err);
}

/* Adds what the server calls this version of the page. */
static void note_version(struct fetch_list *l, const struct transfer *t)
{
    const struct body *b = &t->body;
    if (t->post || t->api || (!b->etag[0] && !b->last_modified[0])) {
        l->no_version = true;
    } else if (!l->no_version) {
        buf_addf(&l->version, "%s%s %c %s\n", l->version.len ? "" : VERSION, t->first_url,
                 b->etag[0] ? 'e' : 'm', b->etag[0] ? b->etag : b->last_modified);
    }
}

static int open_list(struct fetch_list *l, struct gt_error *err)
{
    int rc = run_staging(l->run, l->scope, l->parse.name, &l->staging, err);
    l->parse.staging = l->staging;
    return rc ? rc : source_open(l->run->def, &l->parse, &l->parser, err);
}

/* Answers are documents of their own: no token may reach from one into the next. */
static int feed_document(struct fetch_list *l, const char *text, size_t len, struct gt_error *err)
{
    const struct source_def *d = l->run->def;
    int rc = d->parse_feed(l->parser, text, len, err);
    return rc              ? rc
           : d->parse_next ? d->parse_next(l->parser, err)
                           : d->parse_feed(l->parser, "\n", 1, err);
}

static int take(struct page *page, const char *body, size_t len, struct gt_error *err)
{
    struct fetch_list *l = page->list;
    int rc = l->parser ? 0 : open_list(l, err);
    if (rc != 0) {
        return rc;
    }
    l->parse.next[0] = '\0';
    blake3_add(&l->hash, body, len);
    l->sum.bytes += len;
    note_version(l, page->t);
    if (len == 0 && err && err->code == GT_ENOTFOUND) { /* nothing that goes to the parser */
        snprintf(l->left_out, sizeof l->left_out, "%.199s", err->text);
    } else {
        const char *question = page->t->question;
        rc = question ? feed_document(l, question, strlen(question), err) : 0;
        rc = rc ? rc : feed_document(l, body, len, err);
    }
    l->sum.rows = l->parse.rows;
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
                       struct gt_error *err);
static int on_same(struct transfer *t, struct gt_error *err);

static int make_page(struct fetch_list *l, const struct fetch_request *q, fetch_page_fn *after,
                     void *ctx, struct page **out, struct gt_error *err)
{
    struct page *page = *out = arena_alloc(l->run->arena, sizeof *page);
    struct fetch_request r = *q;
    if (!page) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *page = (struct page){.list = l, .after = after, .ctx = ctx};
    r.scope = l->scope;
    r.max_bytes = r.max_bytes ? r.max_bytes : PAGE_BYTES;
    int rc = run_request(l->run, &r, on_document, page, &page->t, err);
    if (rc == 0) {
        page->t->sum = &l->sum;
        page->t->shared_deadline = &l->deadline_ms;
    }
    return rc;
}

/* Once more a page that was asked for before: page i with its condition, or the first without. */
static int ask_known(struct fetch_list *l, size_t i, bool condition, struct gt_error *err)
{
    struct page *page = NULL;
    const struct transfer *t = l->first->t;
    const char *url = l->known[i].url;
    struct fetch_request q = {
        .url = url,
        .max_bytes = t->max_bytes,
        .header = url_same_origin(url, l->known[0].url) ? t->header : NULL, /* it may hold a key */
    };
    int rc = make_page(l, &q, l->first->after, l->first->ctx, &page, err);
    if (rc == 0 && condition) {
        page->t->condition = l->known[i].condition;
        page->t->unchanged = on_same;
    }
    if (rc == 0) {
        run_append(page->t);
    }
    return rc;
}

/* 304 to one page. */
static int on_same(struct transfer *t, struct gt_error *err)
{
    struct fetch_list *l = ((struct page *)t->done_ctx)->list;
    const struct engine *e = l->run->engine;
    if (++l->same < l->n_known) {
        return ask_known(l, l->same, true, err);
    }
    int rc = store_touch_source(e->o->store, l->run->def->id, l->scope, e->o->now, err);
    if (rc == 0) {
        ended(l, FETCH_UNCHANGED, NULL);
    }
    return rc;
}

/* A page that is new came: the list is read from the beginning, by its walk again. */
static int read_anew(struct page *page, const char *body, size_t len, struct gt_error *err)
{
    struct fetch_list *l = page->list;
    bool from_first = l->same == 0;
    l->n_known = 0;
    int rc = from_first ? take(page, body, len, err) : ask_known(l, 0, false, err);
    for (struct page *p = l->held; rc == 0 && p; p = p->next_held) {
        run_append(p->t);
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
    return page->list->n_known ? read_anew(page, body, len, err) : take(page, body, len, err);
}

/* Reads what take kept of the pages; anything odd means that nothing is known. */
static void read_version(struct fetch_list *l, char *text)
{
    size_t lines = 0;
    for (const char *p = text; *p; p++) {
        lines += *p == '\n';
    }
    struct known_page *known = arena_array(l->run->arena, lines + 1, sizeof *known);
    size_t n = 0;
    char *at = text + strlen(VERSION);
    for (char *nl; known && (nl = strchr(at, '\n')) != NULL; at = nl + 1) {
        *nl = '\0';
        char *kind = strchr(at, ' ');
        if (!kind || (kind[1] != 'e' && kind[1] != 'm') || kind[2] != ' ' || !kind[3]) {
            return;
        }
        *kind = '\0';
        known[n].url = arena_strdup(l->run->arena, at);
        known[n].condition =
            arena_printf(l->run->arena, "%s: %s",
                         kind[1] == 'e' ? "If-None-Match" : "If-Modified-Since", kind + 3);
        if (!known[n].url || !known[n].condition) {
            return;
        }
        n++;
    }
    l->known = known;
    l->n_known = known ? n : 0;
}

static int load_version(struct fetch_list *l, struct gt_error *err)
{
    const struct fetch_options *o = l->run->engine->o;
    char *version = NULL, *modified = NULL;
    if (o->accept_large_change) {
        return 0;
    }
    int rc = store_http_state(o->store, l->run->def->id, l->scope, &version, &modified, err);
    if (rc == 0 && version && strncmp(version, VERSION, strlen(VERSION)) == 0) {
        read_version(l, version);
    }
    free(version);
    free(modified);
    return rc;
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
    l->parse.log = &run->log;
    blake3_init(&l->hash);
    buf_init(&l->version, VERSION_MAX);
    l->next = run->lists;
    run->lists = l;
    *out = l;
    return load_version(l, err);
}

static uint64_t key_of(const struct transfer *t)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (const char *p = t->first_url; *p; p++) {
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    }
    for (const char *p = t->post ? t->post : ""; *p; p++) {
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    }
    return h;
}

static bool asked_before(const struct fetch_list *l, const struct page *page)
{
    const struct transfer *t = page->t;
    for (const struct page *p = l->asked; p; p = p->older) {
        if (p->key == page->key && strcmp(p->t->first_url, t->first_url) == 0 &&
            (t->post ? p->t->post && strcmp(p->t->post, t->post) == 0 : !p->t->post)) {
            return true;
        }
    }
    return false;
}

int fetch_list_ask(struct fetch_list *l, const struct fetch_request *q, fetch_page_fn *after,
                   void *ctx, struct gt_error *err)
{
    struct page *page = NULL;
    if (++l->pages > PAGES_MAX) {
        return gt_fail(err, GT_ELIMIT, l->parse.name, "the list has more than %u pages", PAGES_MAX);
    }
    int rc = make_page(l, q, after, ctx, &page, err);
    if (rc != 0) {
        return rc;
    }
    if (!l->first && page->t->region) {
        l->parse.region = page->t->region;
    }
    page->key = key_of(page->t);
    if (asked_before(l, page)) {
        return gt_fail(err, GT_EPARSE, l->parse.name,
                       "page %zu names a next page that was read before: the pages run in a circle",
                       l->pages - 1);
    }
    page->older = l->asked;
    l->asked = page;
    l->pending++;
    if (l->first && l->n_known) {
        page->next_held = l->held;
        l->held = page;
        return 0;
    }
    if (!l->first) {
        l->first = page;
        if (l->n_known && (page->t->post || strcmp(page->t->url, l->known[0].url) != 0)) {
            l->n_known = 0;
        } else if (l->n_known) {
            page->t->condition = l->known[0].condition;
            page->t->unchanged = on_same;
        }
    }
    run_append(page->t);
    return 0;
}

struct fetch_run *fetch_list_run(const struct fetch_list *l)
{
    return l->run;
}

const char *fetch_list_next(const struct fetch_list *l)
{
    return l->parse.next;
}
