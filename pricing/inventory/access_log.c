/* S3 server access logs: fields between single spaces, the time in brackets, the request quoted;
 * new fields are only ever appended and are not looked at. A read is REST.GET.OBJECT with status
 * 200 or 206 (storage-tiers.md, section 12). Keys are URL-encoded; whether once or twice differs in
 * practice, so that one which still holds escapes counts for both names. */
#include "access.h"
#include "gputier/units.h"
#include <stdio.h>
#include <string.h>

#define KEY_MAX 8192 /* 1,024 bytes, escaped twice */

struct field {
    const char *at;
    size_t len;
};

/* The next field, up to a space; false at the end. */
static bool next(const char **p, const char *end, struct field *f)
{
    const char *space = *p < end ? memchr(*p, ' ', (size_t)(end - *p)) : NULL;
    const char *stop = space ? space : end;
    if (*p >= end) {
        return false;
    }
    *f = (struct field){*p, (size_t)(stop - *p)};
    *p = space ? space + 1 : end;
    return f->len > 0;
}

static bool is(const struct field *f, const char *text)
{
    return f->len == strlen(text) && memcmp(f->at, text, f->len) == 0;
}

/* "[10/Feb/2026:07:28:12 +0000]" */
static bool bracketed(const char **p, const char *end, int64_t *when)
{
    if (end - *p < 29 || (*p)[0] != '[' || (*p)[27] != ']' || (*p)[28] != ' ' ||
        !log_instant(*p + 1, 26, when)) {
        return false;
    }
    *p += 29;
    return true;
}

/* Over the quoted request: it may hold quotes and spaces itself, so that its end is a quote before
 * a status. */
static bool over_request(const char **p, const char *end)
{
    if (end - *p >= 2 && memcmp(*p, "- ", 2) == 0) {
        *p += 2;
        return true;
    }
    if (*p >= end || **p != '"') {
        return false;
    }
    for (const char *q = *p + 1; (q = memchr(q, '"', (size_t)(end - q))) != NULL; q++) {
        bool digits = end - q >= 6 && q[1] == ' ' && q[2] >= '1' && q[2] <= '5' && q[3] >= '0' &&
                      q[3] <= '9' && q[4] >= '0' && q[4] <= '9' && q[5] == ' ';
        if (digits || (end - q >= 4 && memcmp(q, "\" - ", 4) == 0)) {
            *p = q + 2;
            return true;
        }
    }
    return false;
}

bool access_log_looks(const char *line, size_t len)
{
    const char *p = line, *end = line + len;
    struct field owner, bucket;
    int64_t when;
    return next(&p, end, &owner) && next(&p, end, &bucket) && bracketed(&p, end, &when);
}

static int put_key(struct inventory_accesses *a, struct reader *r, const struct field *key,
                   const struct access_use *use, struct gt_error *err)
{
    char once[KEY_MAX], twice[KEY_MAX];
    size_t len = key->len > sizeof once ? SIZE_MAX : url_decode(key->at, key->len, once);
    if (len == SIZE_MAX) {
        return bad_row(r->inv, r->name, r->line, "the key is not URL-encoded, or too long", err);
    }
    int rc = access_put(a, once, len, use, err);
    if (rc == 0 && memchr(once, '%', len)) {
        len = url_decode(once, len, twice);
        rc = len == SIZE_MAX ? 0 : access_put(a, twice, len, use, err);
    }
    return rc;
}

/* Logs of several buckets mean nothing to one bucket's list: the same key may be in each. */
static int same_bucket(struct inventory_accesses *a, const struct reader *r,
                       const struct field *bucket, struct gt_error *err)
{
    char where[160];
    if (a->bucket[0] == '\0' && bucket->len < sizeof a->bucket) {
        memcpy(a->bucket, bucket->at, bucket->len);
        a->bucket[bucket->len] = '\0';
    }
    if (is(bucket, a->bucket)) {
        return 0;
    }
    snprintf(where, sizeof where, "%.130s:%llu", r->name, (unsigned long long)r->line);
    return gt_fail(err, GT_EPARSE, where,
                   "a log of the bucket '%.*s' behind one of '%.80s': give those of one bucket",
                   (int)(bucket->len < 80 ? bucket->len : 80), bucket->at, a->bucket);
}

int access_log_line(struct inventory_accesses *a, struct reader *r, const char *p, size_t len,
                    struct gt_error *err)
{
    const char *end = p + len;
    struct field owner, bucket, address, who, id, operation, key, status, error, sent;
    int64_t when;
    r->line++;
    if (len > 0 && end[-1] == '\r') {
        end--;
    }
    if (p == end) {
        return 0;
    }
    if (!next(&p, end, &owner) || !next(&p, end, &bucket) || !bracketed(&p, end, &when) ||
        !next(&p, end, &address) || !next(&p, end, &who) || !next(&p, end, &id) ||
        !next(&p, end, &operation) || !next(&p, end, &key) || !over_request(&p, end) ||
        !next(&p, end, &status) || !next(&p, end, &error) || !next(&p, end, &sent)) {
        return bad_row(r->inv, r->name, r->line, "no line of an S3 access log", err);
    }
    int rc = same_bucket(a, r, &bucket, err);
    if (rc < 0 || when > a->as_of) {
        return rc;
    }
    struct inventory_access_stats *s = &a->stats;
    s->rows++;
    s->log = true;
    s->first = when < s->first ? when : s->first;
    s->last = when > s->last ? when : s->last;
    if (!is(&operation, "REST.GET.OBJECT") || !(is(&status, "200") || is(&status, "206")) ||
        is(&key, "-")) {
        return 0;
    }
    struct access_use use = {.last = when};
    if (when > a->as_of - ACCESS_DAYS * 86400) {
        use.gets = 1;
        if (!is(&sent, "-") && !digits_u64(sent.at, sent.len, &use.bytes)) {
            return bad_row(r->inv, r->name, r->line, "the bytes sent are no number", err);
        }
    }
    s->reads++;
    return put_key(a, r, &key, &use, err);
}
