/* CSV by bit masks: 64 bytes give the masks of quotes, separators and newlines; the parity of the
 * quotes says which of the others count. Every field boundary is found, only rows that hold an
 * inner quote take the slow path. Measured beside libcsv by tests/bench/import_offer.sh. */
#include "csv_read.h"
#include "scan.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_START ((size_t)256 * 1024)
#define ROW_MAX   ((size_t)1024 * 1024)

struct csv_reader {
    const char *name;
    csv_row_fn *row;
    void *ctx;
    char separator;
    bool started;
    char *buf; /* [row, end) is the begun row; SCAN_BLOCK bytes of room behind cap */
    size_t cap, end, scan, row_start;
    uint64_t quote_carry;   /* all ones inside a quoted field at `scan` */
    uint64_t quotes, lines; /* counted up to `scan` since the start of the file */
    uint64_t row_quotes, row_line;
    size_t n;
    uint32_t bound[CSV_FIELDS + 1]; /* offset behind each separator of the row, from row_start */
    uint32_t len[CSV_FIELDS];
    char *field[CSV_FIELDS];
};

int csv_reader_new(const char *name, char separator, csv_row_fn *row, void *ctx,
                   struct csv_reader **out, struct gt_error *err)
{
    struct csv_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->buf = malloc(BUF_START + SCAN_BLOCK))) {
        free(r);
        return gt_fail(err, GT_ENOMEM, name, "out of memory");
    }
    r->cap = BUF_START;
    r->name = name;
    r->separator = separator;
    r->row = row;
    r->ctx = ctx;
    *out = r;
    return 0;
}

void csv_reader_free(struct csv_reader *r)
{
    if (r) {
        free(r->buf);
    }
    free(r);
}

int csv_fail(struct gt_error *err, int code, const char *name, const struct csv_row *row,
             const char *fmt, ...)
{
    char where[160], text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(where, sizeof where, "%.130s:%" PRIu64, name, row->line);
    return gt_fail(err, code, where, "%s", text);
}

int csv_column(const struct csv_row *header, const char *name)
{
    for (size_t i = 0; i < header->n; i++) {
        if (strcmp(header->field[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int fail_at(struct csv_reader *r, size_t column, const char *text, struct gt_error *err)
{
    char where[160];
    snprintf(where, sizeof where, "%.120s:%" PRIu64 ":%zu", r->name, r->row_line + 1, column + 1);
    return gt_fail(err, GT_EPARSE, where, "%s", text);
}

/* Unquotes one field of a row that holds quotes inside; in place. */
static int unquote(struct csv_reader *r, char *text, uint32_t *len, size_t column,
                   struct gt_error *err)
{
    size_t n = *len, out = 0, lead = strspn(text, " ");
    /* spaces before an opening quote occur in the wild and can mean nothing else */
    size_t open = lead < n && text[lead] == '"' ? lead : 0;
    if (n == 0 || text[open] != '"') {
        return n > 0 && memchr(text, '"', n)
                   ? fail_at(r, column,
                             "a quote inside a field that is not quoted; quote the "
                             "field and double the quote",
                             err)
                   : 0;
    }
    for (size_t i = open + 1; i < n; i++) {
        if (text[i] == '"') {
            if (i + 1 == n) {
                text[out] = '\0';
                *len = (uint32_t)out;
                return 0;
            }
            if (text[++i] != '"') {
                return fail_at(r, column + i, "text after a closing quote; expected a separator",
                               err);
            }
        }
        text[out++] = text[i];
    }
    return fail_at(r, column, "a quoted field that does not end with a quote", err);
}

/* The row's text is buf[row_start .. row_start + bound[n] - 1). */
static int finish_row(struct csv_reader *r, uint64_t quotes, struct gt_error *err)
{
    char *base = r->buf + r->row_start;
    size_t start = 0, quoted = 0;
    for (size_t i = 0; i < r->n; i++) {
        char *f = base + start;
        size_t n = r->bound[i + 1] - 1 - start;
        if (i + 1 == r->n && n > 0 && f[n - 1] == '\r') {
            n--;
        }
        f[n] = '\0';
        if (n >= 2 && f[0] == '"' && f[n - 1] == '"') {
            quoted += 2;
        }
        r->field[i] = f;
        r->len[i] = (uint32_t)n;
        start = r->bound[i + 1];
    }
    if (r->n == 1 && r->len[0] == 0) {
        return 0; /* a blank line */
    }
    bool plain = quoted == quotes; /* each quote opens or closes a whole field */
    for (size_t i = 0; i < r->n && quotes > 0; i++) {
        char *f = r->field[i];
        if (plain && f[0] == '"') {
            r->len[i] -= 2;
            r->field[i] = f + 1;
            f[1 + r->len[i]] = '\0';
        } else if (!plain) {
            int rc = unquote(r, f, &r->len[i], (size_t)(f - base), err);
            if (rc != 0) {
                return rc;
            }
        }
    }
    struct csv_row row = {(const char *const *)r->field, r->len, r->n, r->row_line + 1};
    return r->row(r->ctx, &row, err);
}

static int boundary(struct csv_reader *r, size_t at, struct gt_error *err)
{
    if (r->n >= CSV_FIELDS) {
        return fail_at(r, at - r->row_start, "more than 512 fields in a row", err);
    }
    r->bound[++r->n] = (uint32_t)(at + 1 - r->row_start);
    return 0;
}

/* One block at r->scan; bits beyond `valid` are no data. */
static int block(struct csv_reader *r, uint64_t valid, struct gt_error *err)
{
    const char *p = r->buf + r->scan;
    uint64_t q = scan_eq(p, '"') & valid, nl = scan_eq(p, '\n') & valid;
    uint64_t inside = scan_parity(q) ^ r->quote_carry;
    uint64_t bits = (nl | (scan_eq(p, r->separator) & valid)) & ~inside;
    while (bits != 0) {
        unsigned i = scan_first(bits);
        uint64_t below = ((uint64_t)1 << i) - 1;
        bits &= bits - 1;
        int rc = boundary(r, r->scan + i, err);
        if (rc == 0 && (nl >> i & 1)) {
            uint64_t seen = r->quotes + scan_count(q & below);
            rc = finish_row(r, seen - r->row_quotes, err);
            r->row_quotes = seen;
            r->row_line = r->lines + scan_count(nl & below) + 1;
            r->row_start = r->scan + i + 1;
            r->n = 0;
        }
        if (rc != 0) {
            return rc;
        }
    }
    r->quotes += scan_count(q);
    r->lines += scan_count(nl);
    r->quote_carry = (uint64_t)0 - (inside >> 63);
    return 0;
}

/* Moves the begun row to the front of the buffer; doubles the buffer when it is full. */
static int make_room(struct csv_reader *r, struct gt_error *err)
{
    memmove(r->buf, r->buf + r->row_start, r->end - r->row_start);
    r->scan -= r->row_start;
    r->end -= r->row_start;
    r->row_start = 0;
    if (r->end < r->cap) {
        return 0;
    }
    if (r->cap >= ROW_MAX) {
        return fail_at(r, 0,
                       r->quote_carry ? "a row over 1 MiB: a quote opened in it is not closed"
                                      : "a row over 1 MiB",
                       err);
    }
    char *b = realloc(r->buf, 2 * r->cap + SCAN_BLOCK);
    if (!b) {
        return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
    }
    r->buf = b;
    r->cap *= 2;
    return 0;
}

int csv_reader_feed(struct csv_reader *r, const char *data, size_t len, struct gt_error *err)
{
    while (len > 0) {
        size_t room = r->cap - r->end, n = len < room ? len : room;
        memcpy(r->buf + r->end, data, n);
        r->end += n;
        data += n;
        len -= n;
        if (!r->started && r->end >= 3) {
            r->started = true;
            if (memcmp(r->buf, "\xef\xbb\xbf", 3) == 0) {
                r->row_start = r->scan = 3;
            }
        }
        int rc = 0;
        while (r->started && rc == 0 && r->scan + SCAN_BLOCK <= r->end) {
            rc = block(r, ~(uint64_t)0, err);
            r->scan += SCAN_BLOCK;
        }
        rc = rc == 0 && r->end == r->cap ? make_room(r, err) : rc;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int csv_reader_end(struct csv_reader *r, struct gt_error *err)
{
    int rc = 0;
    r->started = true;
    while (rc == 0 && r->scan < r->end) {
        size_t left = r->end - r->scan;
        uint64_t valid = left >= SCAN_BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
        if (left < SCAN_BLOCK) {
            memset(r->buf + r->end, 0, SCAN_BLOCK);
        }
        rc = block(r, valid, err);
        r->scan += left < SCAN_BLOCK ? left : SCAN_BLOCK;
    }
    if (rc == 0 && r->row_start < r->end) { /* the last line has no newline */
        if (r->quotes & 1) {
            return fail_at(r, 0, "a quote in this row is never closed", err);
        }
        rc = boundary(r, r->end, err);
        rc = rc ? rc : finish_row(r, r->quotes - r->row_quotes, err);
    }
    return rc;
}
