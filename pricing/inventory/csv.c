/* RFC 4180 records while they stream: quoted fields, doubled quotes, line breaks inside quotes.
 * A record is parsed in one pass over the held bytes; fields point into them. */
#include "inventory_priv.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum outcome { RECORD_DONE, RECORD_CUT, RECORD_BAD };

/* Collapses doubled quotes of one field in place. */
static size_t unquote(char *s, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++) {
        s[out++] = s[i];
        i += s[i] == '"' && i + 1 < len && s[i + 1] == '"';
    }
    return out;
}

/* One quoted field at p (after its quote); *next = first byte after the closing quote. */
static enum outcome quoted(char *p, char *end, char **next, bool *doubled)
{
    *doubled = false;
    for (;;) {
        char *q = memchr(p, '"', (size_t)(end - p));
        if (!q || q + 1 == end) {
            *next = q ? q + 1 : end;
            return q ? RECORD_DONE : RECORD_CUT;
        }
        if (q[1] != '"') {
            *next = q + 1;
            return RECORD_DONE;
        }
        *doubled = true;
        p = q + 2;
    }
}

bool csv_named(const struct csv_record *rec, size_t i, const char *name)
{
    return rec->len[i] == strlen(name) && strncasecmp(rec->field[i], name, rec->len[i]) == 0;
}

static void put(struct csv_record *rec, char *s, size_t len)
{
    if (rec->n < CSV_FIELDS) {
        rec->field[rec->n] = s;
        rec->len[rec->n] = len;
    }
    rec->n++;
}

/* Parses one record at p; *next = start of the following one. `last`: no more bytes will come. */
static enum outcome record(char *p, char *end, bool last, char separator, struct csv_record *rec,
                           char **next)
{
    bool twice[CSV_FIELDS];
    rec->n = 0;
    for (;;) {
        char *start = p, *stop;
        bool doubled = false;
        if (p < end && *p == '"') {
            enum outcome o = quoted(p + 1, end, &p, &doubled);
            if (o != RECORD_DONE || (p == end && !last)) {
                return last ? RECORD_BAD : RECORD_CUT;
            }
            start++;
            stop = p - 1;
            if (p < end && *p != separator && *p != '\n' && *p != '\r') {
                return RECORD_BAD;
            }
        } else {
            while (p < end && *p != separator && *p != '\n') {
                p++;
            }
            if (p == end && !last) {
                return RECORD_CUT;
            }
            stop = p;
            if ((p == end || *p == '\n') && stop > start && stop[-1] == '\r') {
                stop--;
            }
        }
        if (rec->n < CSV_FIELDS) {
            twice[rec->n] = doubled;
        }
        put(rec, start, (size_t)(stop - start));
        if (p < end && *p == separator) {
            p++;
            continue;
        }
        if (p < end && *p == '\r') {
            if (p + 1 == end && !last) {
                return RECORD_CUT;
            }
            p++;
        }
        *next = p < end ? p + (*p == '\n') : p;
        break;
    }
    for (size_t i = 0; i < rec->n && i < CSV_FIELDS; i++) {
        if (twice[i]) {
            rec->len[i] = unquote(rec->field[i], rec->len[i]);
        }
    }
    return RECORD_DONE;
}

static int append(struct reader *r, const char *data, size_t len, struct gt_error *err)
{
    if (r->held + len > r->cap) {
        size_t cap = r->held + len + 65536;
        char *q = realloc(r->hold, cap);
        if (!q) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        r->hold = q;
        r->cap = cap;
    }
    if (len) {
        memcpy(r->hold + r->held, data, len);
    }
    r->held += len;
    return 0;
}

static uint64_t lines_in(const char *p, const char *end)
{
    uint64_t n = 0;
    while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        n++;
        p++;
    }
    return n;
}

int csv_feed(struct reader *r, const char *data, size_t len, bool last, csv_row *row,
             struct gt_error *err)
{
    int rc = append(r, data, len, err);
    if (rc < 0 || r->held == 0) {
        return rc;
    }
    char *p = r->hold, *end = p + r->held;
    while (rc == 0 && p < end) {
        struct csv_record rec;
        char *next = p;
        enum outcome o = record(p, end, last, r->separator ? r->separator : ',', &rec, &next);
        if (o == RECORD_CUT && (size_t)(end - p) <= RECORD_MAX) {
            break;
        }
        r->line++;
        if (o != RECORD_DONE) {
            /* Go on after the next line break: one stray quote costs one row. */
            char *q = memchr(p, '\n', (size_t)(end - p));
            next = q ? q + 1 : end;
            rc = bad_row(r->inv, r->name, r->line, "broken quoting", err);
        } else if (rec.n > 1 || rec.len[0] > 0) {
            uint64_t more = next - p > 2 ? lines_in(p, next - 1) : 0;
            rc = row(r, &rec, err);
            r->line += more;
        }
        p = next;
    }
    if (rc == 0) {
        r->held = (size_t)(end - p);
        memmove(r->hold, p, r->held);
    }
    return rc;
}
