/* Where a body's bytes go: hash, unpacking, then the document's buffer or the source's parser and
 * its staging; at the end the rows are published in one go. */
#include "engine.h"
#include "url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A captive portal's or proxy's page: called HTML, or plainly one whatever it is called. */
static bool is_page(const struct transfer *t, const char *data, size_t len)
{
    size_t i = 0;
    while (i < len && strchr(" \r\n\t\xef\xbb\xbf", data[i]) && data[i] != '\0') {
        i++;
    }
    const char *p = data + i;
    return len > i && *p == '<' &&
           (t->answer.html || (len - i >= 9 && strncasecmp(p, "<!doctype", 9) == 0) ||
            (len - i >= 5 && strncasecmp(p, "<html", 5) == 0));
}

static int deliver(struct transfer *t, const char *data, size_t len, struct gt_error *err)
{
    struct body *b = &t->body;
    if (t->done) {
        return buf_add(&b->document, data, len) == 0 ? 0
                                                     : gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return t->run->def->parse_feed(b->parser, data, len, err);
}

/* The first bytes are held until they can be told from a page's, or the body has ended. */
static int deliver_head(struct transfer *t, struct gt_error *err)
{
    struct body *b = &t->body;
    if (is_page(t, b->head, b->head_len)) {
        return gt_fail(err, GT_EPARSE, "",
                       "an HTML page came instead of a price list (a sign-in page, a proxy's?)");
    }
    b->head_seen = true;
    return b->head_len > 0 ? deliver(t, b->head, b->head_len, err) : 0;
}

static int sink(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    struct transfer *t = ctx;
    struct body *b = &t->body;
    b->decoded += len;
    b->final = len > 0 ? data[len - 1] : b->final;
    if (!b->head_seen) {
        size_t room = sizeof b->head - b->head_len, n = len < room ? len : room;
        memcpy(b->head + b->head_len, data, n);
        b->head_len += n;
        data += n;
        len -= n;
        int rc = b->head_len == sizeof b->head ? deliver_head(t, err) : 0;
        if (rc != 0 || len == 0) {
            return rc;
        }
    }
    return deliver(t, data, len, err);
}

static int open_staging(struct transfer *t, struct gt_error *err)
{
    char shown[512];
    url_redact(t->first_url, shown, sizeof shown);
    t->body.parse.name = arena_strdup(t->run->arena, shown);
    if (!t->body.parse.name) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return run_staging(t->run, t->scope, t->body.parse.name, &t->body.staging, err);
}

/* Where lengths lie, a cut CSV still looks complete; every vendor asked here ends its last line. */
static int check_end(const struct transfer *t, struct gt_error *err)
{
    size_t n = strcspn(t->first_url, "?#");
    if (n < 4 || strncmp(t->first_url + n - 4, ".csv", 4) != 0 || t->body.final == '\n') {
        return 0;
    }
    return gt_fail(err, GT_EPARSE, "",
                   "the list ends in the middle of a line: the answer was cut after %llu bytes",
                   (unsigned long long)t->body.decoded);
}

static bool is_gzip(const char *coding)
{
    return strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "x-gzip") == 0;
}

static int check_coding(const char *coding, struct gt_error *err)
{
    if (coding[0] && strcasecmp(coding, "identity") != 0 && !is_gzip(coding)) {
        return gt_fail(err, GT_EUNSUPPORTED, "", "content coding \"%s\"; gzip was asked for",
                       coding);
    }
    return 0;
}

/* End of the packed stream; a body that only claims to be packed is refused. */
static int end_unpack(struct body *b, struct gt_error *err)
{
    int rc = unpack_end(b->unpack, err);
    const char *kind = unpack_kind(b->unpack);
    if (rc == 0 && is_gzip(b->coding) && (!kind || strcmp(kind, "gzip") != 0)) {
        rc = gt_fail(err, GT_EPARSE, "", "the server calls the body gzip, but it is not");
    }
    return rc;
}

int body_open(struct transfer *t, struct gt_error *err)
{
    struct body *b = &t->body;
    const struct fetch_options *o = t->run->engine->o;
    b->raw = b->decoded = 0;
    b->head_seen = false;
    b->head_len = 0;
    sha256_init(&b->sha);
    memcpy(b->etag, t->answer.etag, sizeof b->etag);
    memcpy(b->last_modified, t->answer.last_modified, sizeof b->last_modified);
    memcpy(b->coding, t->answer.coding, sizeof b->coding);
    memcpy(b->digest, t->answer.digest, sizeof b->digest);
    b->has_digest = t->answer.has_digest;
    int rc = check_coding(b->coding, err);
    rc = rc ? rc : unpack_new("", t->max_bytes, sink, t, &b->unpack, err);
    if (rc != 0) {
        return rc;
    }
    b->open = true;
    if (t->done) {
        buf_init(&b->document, t->max_bytes + 1);
        return 0;
    }
    b->hash = b->hash ? b->hash : arena_alloc(t->run->arena, sizeof *b->hash);
    if (!b->hash) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    blake3_init(b->hash);
    b->parse.region = t->region ? t->region : "";
    b->parse.vendor = t->vendor ? t->vendor : "";
    b->parse.now = b->parse.as_of = o->now;
    b->parse.rows = b->parse.skipped = 0;
    memset(b->parse.left_out, 0, sizeof b->parse.left_out);
    b->parse.log = &t->run->log;
    rc = open_staging(t, err);
    if (rc != 0) {
        return rc;
    }
    b->parse.staging = b->staging;
    return source_open(t->run->def, &b->parse, &b->parser, err);
}

int body_take(struct transfer *t, const char *data, size_t len, struct gt_error *err)
{
    struct body *b = &t->body;
    if (b->has_digest) {
        sha256_add(&b->sha, data, len);
    }
    if (b->hash) {
        blake3_add(b->hash, data, len);
    }
    b->raw += len;
    return unpack_feed(b->unpack, data, len, err);
}

static int check_digest(struct body *b, struct gt_error *err)
{
    unsigned char digest[32];
    char hex[65], stated[65];
    if (!b->has_digest) {
        return 0;
    }
    sha256_end(&b->sha, digest);
    return memcmp(digest, b->digest, sizeof digest) == 0
               ? 0
               : gt_fail(err, GT_EPARSE, "",
                         "wrong checksum: the server states SHA-256 %s, the bytes have %s",
                         sha256_hex(b->digest, stated), sha256_hex(digest, hex));
}

static int publish(struct transfer *t, struct gt_error *err)
{
    struct body *b = &t->body;
    struct parser *p = b->parser;
    b->parser = NULL; /* parse_close frees it, whatever it returns */
    int rc = t->run->def->parse_close(p, err);
    if (rc != 0) {
        return rc;
    }
    if (b->parse.rows == 0) {
        char why[1024];
        return gt_fail(err, GT_EPARSE, "",
                       "no price rows in the answer (%llu bytes, %s); an empty list never replaces "
                       "prices",
                       (unsigned long long)b->decoded,
                       left_out_text(b->parse.left_out, b->parse.skipped, why));
    }
    struct publish_result r;
    struct staging *st = b->staging;
    char hash[BLAKE3_TEXT];
    staging_set_raw(st, blake3_text(b->hash, hash), b->raw, b->etag[0] ? b->etag : NULL,
                    b->last_modified[0] ? b->last_modified : NULL);
    b->staging = NULL; /* released by publish in every case */
    return staging_publish(st, &r, err);
}

int body_close(struct transfer *t, struct gt_error *err)
{
    struct body *b = &t->body;
    int rc = end_unpack(b, err);
    rc = rc || b->head_seen ? rc : deliver_head(t, err);
    rc = rc ? rc : check_digest(b, err);
    /* of many pages one without a byte would end the list, or leave a hole in it */
    rc = rc || b->decoded > 0 ? rc : gt_fail(err, GT_EPARSE, "", "an empty answer came, 0 bytes");
    rc = rc || t->done ? rc : check_end(t, err);
    if (rc != 0) {
        return rc;
    }
    if (!t->done) {
        return publish(t, err);
    }
    const char *text = b->document.data ? b->document.data : "";
    size_t len = b->document.len;
    rc = t->api ? envelope_judge(t, text, len, err) : 0;
    if (rc == GT_ENOTFOUND) {
        text = "";
        len = 0;
        rc = 0;
    }
    rc = rc ? rc : t->done(t->run, t->done_ctx, text, len, err);
    if (rc == 0 && t->cacheable) {
        cache_put(t, text, len);
    }
    return rc;
}

void body_discard(struct transfer *t, const char *why)
{
    struct body *b = &t->body;
    if (b->parser) {
        t->run->def->parse_abort(b->parser);
        b->parser = NULL;
    }
    if (why && !b->staging) {
        struct gt_error ignored; /* the failure being recorded matters more */
        if (open_staging(t, &ignored) != 0) {
            b->staging = NULL;
        }
    }
    if (b->staging) {
        staging_discard(b->staging, why);
        b->staging = NULL;
    }
    unpack_free(b->unpack);
    b->unpack = NULL;
    if (t->done) {
        buf_release(&b->document);
    }
    b->best = b->raw > b->best ? b->raw : b->best;
    b->open = false;
    b->raw = b->decoded = 0;
}
