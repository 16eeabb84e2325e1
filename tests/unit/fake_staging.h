/* A staging that keeps its rows in memory, for the tests of parsers: defines the staging_put_*
 * functions, so the store's are not linked. Include it in one file of a test. */
#ifndef GPUTIER_FAKE_STAGING_H
#define GPUTIER_FAKE_STAGING_H
#include "gputier/fetch.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct staging {
    struct offer_row *offer;
    struct storage_rate_row *storage;
    struct transfer_rate_row *transfer;
    struct interruption_row *interruption;
    struct spot_point_row *spot;
    struct fx_row *fx;
    size_t n_offer, n_storage, n_transfer, n_interruption, n_spot, n_fx;
    char **text; /* every string kept, freed at the end */
    size_t n_text;
};

/* Room for one more of a list of n, doubled at powers of two: AddressSanitizer copies at every one.
 */
#define FAKE_ROOM(list, n)                                                                         \
    (((n) & ((n)-1)) != 0 ? (list) : realloc((list), ((n) ? 2 * (n) : 1) * sizeof *(list)))

static const char *fake_keep(struct staging *st, const char *s)
{
    st->text = FAKE_ROOM(st->text, st->n_text);
    st->text[st->n_text] = strdup(s ? s : "");
    return st->text[st->n_text++];
}

#define FAKE_ADD(list, n, row) ((list) = FAKE_ROOM(list, n), (list)[n] = *(row), &(list)[(n)++])

int staging_put_offer(struct staging *st, const struct offer_row *r, struct gt_error *err)
{
    (void)err;
    struct offer_row *o = FAKE_ADD(st->offer, st->n_offer, r);
    const char **s[] = {&o->vendor, &o->region, &o->zone, &o->instance_type,
                        &o->gpu,    &o->sku,    &o->note, &o->currency};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        *s[i] = fake_keep(st, *s[i]);
    }
    return 0;
}

int staging_put_storage(struct staging *st, const struct storage_rate_row *r, struct gt_error *err)
{
    (void)err;
    struct storage_rate_row *o = FAKE_ADD(st->storage, st->n_storage, r);
    const char **s[] = {&o->vendor,   &o->region, &o->tier, &o->component,
                        &o->currency, &o->sku,    &o->note};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        *s[i] = fake_keep(st, *s[i]);
    }
    return 0;
}

int staging_put_transfer(struct staging *st, const struct transfer_rate_row *r,
                         struct gt_error *err)
{
    (void)err;
    struct transfer_rate_row *o = FAKE_ADD(st->transfer, st->n_transfer, r);
    const char **s[] = {&o->vendor, &o->from, &o->to, &o->currency, &o->sku, &o->note};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        *s[i] = fake_keep(st, *s[i]);
    }
    return 0;
}

int staging_put_interruption(struct staging *st, const struct interruption_row *r,
                             struct gt_error *err)
{
    (void)err;
    struct interruption_row *o = FAKE_ADD(st->interruption, st->n_interruption, r);
    o->vendor = fake_keep(st, o->vendor);
    o->region = fake_keep(st, o->region);
    o->instance_type = fake_keep(st, o->instance_type);
    return 0;
}

int staging_put_spot_point(struct staging *st, const struct spot_point_row *r, struct gt_error *err)
{
    (void)err;
    struct spot_point_row *o = FAKE_ADD(st->spot, st->n_spot, r);
    o->vendor = fake_keep(st, o->vendor);
    o->region = fake_keep(st, o->region);
    o->zone = fake_keep(st, o->zone);
    o->instance_type = fake_keep(st, o->instance_type);
    o->currency = fake_keep(st, o->currency);
    return 0;
}

int staging_put_fx(struct staging *st, const struct fx_row *r, struct gt_error *err)
{
    (void)err;
    struct fx_row *o = FAKE_ADD(st->fx, st->n_fx, r);
    o->currency = fake_keep(st, o->currency);
    return 0;
}

void staging_series_complete(struct staging *st)
{
    (void)st;
}

void staging_regions_vary(struct staging *st)
{
    (void)st;
}

bool staging_sells_out(struct staging *st)
{
    (void)st;
    return false;
}

/* The rest of the store's side that imports and fetches call. What was begun last: */
static struct {
    struct staging *st; /* borrowed from the test, given to the next staging_begin */
    int begun, published, discarded;
    char scope[200], source[64], why[400], hash[80];
    uint64_t bytes;
} fake_run;

int staging_begin(struct store *s, const struct staging_options *o, struct staging **out,
                  struct gt_error *err)
{
    (void)s;
    (void)err;
    fake_run.begun++;
    snprintf(fake_run.source, sizeof fake_run.source, "%s", o->source_id);
    snprintf(fake_run.scope, sizeof fake_run.scope, "%s", o->scope);
    *out = fake_run.st;
    return 0;
}

int staging_set_scope(struct staging *st, const char *scope, struct gt_error *err)
{
    (void)st;
    (void)err;
    snprintf(fake_run.scope, sizeof fake_run.scope, "%s", scope);
    return 0;
}

void staging_set_raw(struct staging *st, const char *hash, uint64_t bytes, const char *etag,
                     const char *last_modified)
{
    (void)st;
    (void)etag;
    (void)last_modified;
    snprintf(fake_run.hash, sizeof fake_run.hash, "%s", hash);
    fake_run.bytes = bytes;
}

int staging_publish(struct staging *st, struct publish_result *out, struct gt_error *err)
{
    (void)err;
    fake_run.published++;
    *out = (struct publish_result){.rows = st->n_offer + st->n_storage + st->n_transfer +
                                           st->n_interruption + st->n_spot + st->n_fx};
    return 0;
}

void staging_discard(struct staging *st, const char *why)
{
    (void)st;
    fake_run.discarded++;
    snprintf(fake_run.why, sizeof fake_run.why, "%s", why ? why : "");
}

int store_http_state(struct store *s, const char *source_id, const char *scope, char **etag,
                     char **last_modified, struct gt_error *err)
{
    (void)s;
    (void)source_id;
    (void)scope;
    (void)err;
    *etag = *last_modified = NULL;
    return 0;
}

int store_last_fetch(struct store *s, const char *source_id, const char *scope, int64_t *when,
                     struct gt_error *err)
{
    (void)s;
    (void)source_id;
    (void)scope;
    (void)err;
    *when = INT64_MIN;
    return 0;
}

int store_touch_source(struct store *s, const char *source_id, const char *scope, int64_t when,
                       struct gt_error *err)
{
    (void)s;
    (void)source_id;
    (void)scope;
    (void)when;
    (void)err;
    return 0;
}

static inline void fake_clear(struct staging *st)
{
    for (size_t i = 0; i < st->n_text; i++) {
        free(st->text[i]);
    }
    free(st->text);
    free(st->offer);
    free(st->storage);
    free(st->transfer);
    free(st->interruption);
    free(st->spot);
    free(st->fx);
    *st = (struct staging){0};
}

/* Parses text in steps of `step` bytes; the code of the first error, err filled. */
static inline int fake_parse(const struct source_def *d, struct staging *st, const char *name,
                             const char *text, size_t len, size_t step, struct parse_context *ctx,
                             struct gt_error *err)
{
    struct parser *p;
    ctx->staging = st;
    ctx->name = name;
    ctx->region = ctx->region ? ctx->region : "";
    ctx->now = ctx->now ? ctx->now : 1790000000;
    ctx->as_of = ctx->as_of ? ctx->as_of : 1790000000;
    int rc = source_open(d, ctx, &p, err);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < len && rc == 0; i += step) {
        rc = d->parse_feed(p, text + i, len - i < step ? len - i : step, err);
    }
    if (rc == 0) {
        return d->parse_close(p, err);
    }
    d->parse_abort(p);
    return rc;
}

/* A file below GPUTIER_SHARED (../shared); NULL when it is not there. Caller frees. */
static inline char *fake_shared(const char *name, size_t *len)
{
    char path[512];
    const char *base = getenv("GPUTIER_SHARED");
    snprintf(path, sizeof path, "%s/%s", base ? base : "../shared", name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "SKIPPED: %s is missing\n", path);
        return NULL;
    }
    size_t cap = 1 << 20;
    char *text = malloc(cap + 1);
    *len = 0;
    for (size_t n; (n = fread(text + *len, 1, cap - *len, f)) > 0;) {
        *len += n;
        if (*len == cap) {
            text = realloc(text, (cap *= 2) + 1);
        }
    }
    text[*len] = '\0';
    fclose(f);
    return text;
}

#endif
