/* RFC 4180 records while they stream: quoted fields, doubled quotes, line breaks inside quotes.
 * Records are read where they lie in the piece; only one that a piece cuts is copied. The readers
 * of price lists (pricing/sources/csv_read.h) end at the first fault; here it costs one row. */
#include "../sources/scan.h"
#include "inventory_priv.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum outcome { RECORD_DONE, RECORD_CUT, RECORD_BAD };

/* One quoted field at p (after its quote); *next = first byte after the closing quote. */
static enum outcome quoted(const char *p, const char *end, const char **next, bool *doubled)
{
    for (;;) {
        const char *q = memchr(p, '"', (size_t)(end - p));
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

/* The plain case of a record: every field quoted, none with quotes in it, not near the end of the
 * piece. Quotes are looked for 64 bytes at a time. NULL: it is another case. */
static const char *plain_record(const char *p, const char *end, char separator,
                                struct csv_record *rec)
{
    if (end - p < SCAN_BLOCK || *p != '"') {
        return NULL;
    }
    const char *block = p, *open = p;
    uint64_t quotes = scan_eq(block, '"');
    size_t n = 0;
    for (;;) {
        while (quotes == 0) {
            block += SCAN_BLOCK;
            if (end - block < SCAN_BLOCK) {
                return NULL;
            }
            quotes = scan_eq(block, '"');
        }
        const char *q = block + scan_first(quotes);
        quotes &= quotes - 1;
        if (q == open) {
            continue;
        }
        if (n == CSV_FIELDS || end - q < 3) {
            return NULL;
        }
        rec->field[n] = open + 1;
        rec->len[n++] = (size_t)(q - open - 1);
        if (q[1] == '\n') {
            rec->n = n;
            rec->doubled = 0;
            return q + 2;
        }
        if (q[1] != separator || q[2] != '"') {
            return NULL;
        }
        open = q + 2;
    }
}

/* Parses one record at p; *next = start of the following one. `last`: no more bytes will come. */
static enum outcome record(const char *p, const char *end, bool last, char separator,
                           struct csv_record *rec, const char **next)
{
    *next = plain_record(p, end, separator, rec);
    if (*next) {
        return RECORD_DONE;
    }
    rec->n = 0;
    rec->doubled = 0;
    for (;;) {
        const char *start = p, *stop;
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
            rec->field[rec->n] = start;
            rec->len[rec->n] = (size_t)(stop - start);
            rec->doubled |= (uint64_t)doubled << rec->n;
        }
        rec->n++;
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
        return RECORD_DONE;
    }
}

/* Doubled quotes are one; the fields that hold any move to r->fields. */
static int undouble(struct reader *r, struct csv_record *rec, size_t size, struct gt_error *err)
{
    int rc = spare_room(&r->fields, size, err);
    char *to = r->fields.at;
    for (size_t i = 0; rc == 0 && i < rec->n && i < CSV_FIELDS; i++) {
        if (rec->doubled >> i & 1) {
            const char *s = rec->field[i];
            char *start = to;
            for (size_t k = 0; k < rec->len[i]; k++) {
                *to++ = s[k];
                k += s[k] == '"';
            }
            rec->field[i] = start;
            rec->len[i] = (size_t)(to - start);
        }
    }
    return rc;
}

bool csv_named(const struct csv_record *rec, size_t i, const char *name)
{
    return rec->len[i] == strlen(name) && strncasecmp(rec->field[i], name, rec->len[i]) == 0;
}

int spare_room(struct spare *s, size_t size, struct gt_error *err)
{
    if (size > s->cap) {
        free(s->at);
        s->cap = 0;
        s->at = malloc(size);
        if (!s->at) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        s->cap = size;
    }
    return 0;
}

int reader_hold(struct reader *r, const char *data, size_t len, struct gt_error *err)
{
    if (r->held + len > r->cap) {
        size_t cap = r->cap * 2 > r->held + len ? r->cap * 2 : r->held + len;
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

/* Behind the next line break: one stray quote costs one row. */
static const char *skip_line(struct reader *r, const char *p, const char *end)
{
    const char *q = memchr(p, '\n', (size_t)(end - p));
    r->skipping = !q;
    return q ? q + 1 : end;
}

/* The records from p on; *rest = the one that is cut, or end. */
static int records(struct reader *r, const char *p, const char *end, bool last, csv_row *row,
                   const char **rest, struct gt_error *err)
{
    int rc = 0;
    if (r->skipping) {
        p = skip_line(r, p, end);
    }
    while (rc == 0 && p < end) {
        struct csv_record rec;
        const char *next = p;
        enum outcome o = record(p, end, last, r->separator ? r->separator : ',', &rec, &next);
        bool long_one = (size_t)((o == RECORD_DONE ? next : end) - p) > RECORD_MAX;
        if (o == RECORD_CUT && !long_one) {
            break;
        }
        r->line++;
        if (o == RECORD_BAD || long_one) {
            next = skip_line(r, p, end);
            rc = bad_row(r->inv, r->name, r->line,
                         o == RECORD_BAD ? "broken quoting" : "longer than 1 MiB", err);
        } else if (rec.n > 1 || rec.len[0] > 0) {
            uint64_t more = next - p > 2 ? lines_in(p, next - 1) : 0;
            rc = rec.doubled ? undouble(r, &rec, (size_t)(next - p), err) : 0;
            rc = rc ? rc : row(r, &rec, err);
            r->line += more;
        }
        p = next;
    }
    *rest = p;
    return rc;
}

/* Ends the record that the piece before cut: takes bytes of this piece, twice as many each time,
 * until it is whole. *used of data are done. */
static int join(struct reader *r, const char *data, size_t len, bool last, csv_row *row,
                size_t *used, struct gt_error *err)
{
    size_t taken = 0, step = 4096;
    while (r->held > 0) {
        size_t n = len - taken < step ? len - taken : step;
        int rc = reader_hold(r, data + taken, n, err);
        taken += n;
        step *= 2;
        bool all = taken == len;
        const char *rest = r->hold;
        rc = rc ? rc : records(r, r->hold, r->hold + r->held, last && all, row, &rest, err);
        size_t done = (size_t)(rest - r->hold), over = r->held - done;
        if (rc) {
            return rc;
        }
        if (done > 0 && over <= taken) { /* what is left lies in the piece itself */
            r->held = 0;
            taken -= over;
        } else if (done > 0) {
            r->held = over;
            memmove(r->hold, rest, over);
        } else if (all) {
            break;
        }
    }
    *used = taken;
    return 0;
}

int csv_feed(struct reader *r, const char *data, size_t len, bool last, csv_row *row,
             struct gt_error *err)
{
    size_t used = 0;
    int rc = r->held ? join(r, data, len, last, row, &used, err) : 0;
    if (rc || r->held) {
        return rc;
    }
    const char *rest = data + used;
    rc = records(r, data + used, data + len, last, row, &rest, err);
    return rc ? rc : reader_hold(r, rest, (size_t)(data + len - rest), err);
}
