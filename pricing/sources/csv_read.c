/* CSV by bit masks (scan_masks.h): the boundaries of all fields are found and all quotes judged 64
 * bytes at a time; a row whose quotes do more than begin and end fields is read field by field. */
#include "csv_read.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_START ((size_t)64 * 1024)
#define ROW_MAX   ((size_t)1024 * 1024)

struct csv_reader {
    const char *name;
    csv_row_fn *row;
    void *ctx;
    struct csv_scan scan;
    struct sha256 *sha;
    bool started;
    /* [row_start, end) of buf is the begun row and what follows; the first n_blocks blocks are
     * read. A block's room stays free behind the end. */
    char *buf;
    struct csv_block *block;
    size_t cap, end, row_start, n_blocks;
    uint64_t lines;    /* newlines in the stream before the block at hand */
    uint64_t row_line; /* before the row */
    bool care;         /* the row has quotes to look at */
    size_t n;
    /* Offset in buf behind each boundary of the row; room for a block more, see add_bounds. */
    uint32_t bound[CSV_FIELDS + SCAN_BLOCK + 4];
    char *field[CSV_FIELDS];
};

int csv_reader_new(const char *name, char separator, csv_row_fn *row, void *ctx,
                   struct csv_reader **out, struct gt_error *err)
{
    struct csv_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->buf = malloc(BUF_START)) ||
        !(r->block = malloc(BUF_START / SCAN_BLOCK * sizeof *r->block))) {
        csv_reader_free(r);
        return gt_fail(err, GT_ENOMEM, name, "out of memory");
    }
    csv_scan_init(&r->scan, separator);
    r->cap = BUF_START;
    r->name = name;
    r->row = row;
    r->ctx = ctx;
    *out = r;
    return 0;
}

void csv_reader_free(struct csv_reader *r)
{
    if (r) {
        free(r->buf);
        free(r->block);
    }
    free(r);
}

void csv_reader_hash(struct csv_reader *r, struct sha256 *sha)
{
    r->sha = sha;
}

void csv_reader_path(struct csv_reader *r, enum scan_path path)
{
    r->scan.path = path;
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
        if (strcmp(csv_field(header, (int)i), name) == 0) {
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

/* All fields of a row that has quotes to look at. */
static int unquote_row(struct csv_reader *r, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < r->n && rc == 0; i++) {
        uint32_t len = r->bound[i + 1] - 1 - r->bound[i];
        r->field[i] = r->buf + r->bound[i];
        r->field[i][len] = '\0';
        rc = unquote(r, r->field[i], &len, r->bound[i] - r->row_start, err);
    }
    return rc;
}

/* The row [row_start, end) has all its boundaries. */
static int finish_row(struct csv_reader *r, size_t end, struct gt_error *err)
{
    if (r->n > CSV_FIELDS) {
        return fail_at(r, end - r->row_start, "more than 512 fields in a row", err);
    }
    if (end > r->bound[r->n - 1] && r->buf[end - 1] == '\r') {
        r->bound[r->n]--;
    }
    if (r->n == 1 && r->bound[1] - 1 == r->bound[0]) {
        return 0; /* a blank line */
    }
    int rc = r->care ? unquote_row(r, err) : 0;
    struct csv_row row = {r->n, r->row_line + 1, r->buf, r->bound, r->care ? r->field : NULL};
    return rc ? rc : r->row(r->ctx, &row, err);
}

static void begin_row(struct csv_reader *r, size_t at)
{
    r->row_start = at;
    r->bound[0] = (uint32_t)at;
    r->n = 0;
    r->care = false;
}

/* Boundaries of one block, `count` of them. Four at a time, so that the loop's end is foreseen:
 * what is written too much lies behind the row. */
static void add_bounds(struct csv_reader *r, size_t base, uint64_t bits, unsigned count)
{
    uint32_t *to = r->bound + r->n + 1;
    for (unsigned i = 0; i < count; i += 4) {
#pragma GCC unroll 4
        for (unsigned k = i; k < i + 4; k++) {
            to[k] = (uint32_t)base + scan_first(bits | (uint64_t)1 << 63) + 1;
            bits &= bits - 1;
        }
    }
    r->n += count;
}

static int take_block(struct csv_reader *r, size_t at, struct gt_error *err)
{
    const struct csv_block *k = &r->block[at];
    uint64_t bits = k->bounds, care = k->care;
    size_t base = at * SCAN_BLOCK;
    unsigned count = k->n_bounds;
    for (uint64_t ends = k->ends; ends != 0; ends &= ends - 1) {
        uint64_t row = ends ^ (ends - 1); /* up to its newline */
        unsigned n = scan_count(bits & row);
        size_t end = base + scan_first(ends);
        add_bounds(r, base, bits & row, n);
        r->care = r->care || (care & row);
        int rc = finish_row(r, end, err);
        if (rc != 0) {
            return rc;
        }
        r->row_line = r->lines + scan_count(k->newlines & row);
        begin_row(r, end + 1);
        bits &= ~row;
        care &= ~row;
        count -= n;
    }
    if (r->n > CSV_FIELDS) {
        return fail_at(r, base - r->row_start, "more than 512 fields in a row", err);
    }
    add_bounds(r, base, bits, count);
    r->care = r->care || care;
    r->lines += k->n_newlines;
    return 0;
}

/* Reads whole blocks up to `end`. */
static int advance(struct csv_reader *r, struct sha256 *sha, size_t end, struct gt_error *err)
{
    size_t n = end / SCAN_BLOCK;
    int rc = 0;
    csv_scan_blocks(&r->scan, r->buf + r->n_blocks * SCAN_BLOCK, n - r->n_blocks,
                    r->block + r->n_blocks, sha);
    for (; r->n_blocks < n && rc == 0; r->n_blocks++) {
        rc = take_block(r, r->n_blocks, err);
    }
    return rc;
}

/* Drops the rows that were read; doubles the buffer when one row fills it. */
static int make_room(struct csv_reader *r, struct gt_error *err)
{
    size_t blocks = r->row_start / SCAN_BLOCK, gone = blocks * SCAN_BLOCK;
    memmove(r->buf, r->buf + gone, r->end - gone);
    r->n_blocks -= blocks; /* their records are not needed any more */
    r->row_start -= gone;
    r->end -= gone;
    for (size_t i = 0; i <= r->n; i++) {
        r->bound[i] -= (uint32_t)gone;
    }
    if (r->end + SCAN_BLOCK < r->cap) {
        return 0;
    }
    if (r->cap >= ROW_MAX) {
        return fail_at(r, 0,
                       r->scan.inside ? "a row over 1 MiB: a quote opened in it is not closed"
                                      : "a row over 1 MiB",
                       err);
    }
    char *buf = realloc(r->buf, 2 * r->cap);
    r->buf = buf ? buf : r->buf;
    struct csv_block *block =
        buf ? realloc(r->block, 2 * r->cap / SCAN_BLOCK * sizeof *block) : NULL;
    r->block = block ? block : r->block;
    if (!block) {
        return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
    }
    r->cap *= 2;
    return 0;
}

/* The begin of the file: a byte-order mark is no part of it, but of what is hashed. */
static void start(struct csv_reader *r)
{
    r->started = true;
    if (r->end >= 3 && memcmp(r->buf, "\xef\xbb\xbf", 3) == 0) {
        if (r->sha) {
            sha256_add(r->sha, r->buf, 3);
        }
        r->end -= 3;
        memmove(r->buf, r->buf + 3, r->end);
    }
}

int csv_reader_feed(struct csv_reader *r, const char *data, size_t len, struct gt_error *err)
{
    int rc = 0;
    while (len > 0 && rc == 0) {
        size_t room = r->cap - SCAN_BLOCK - r->end, n = len < room ? len : room;
        memcpy(r->buf + r->end, data, n);
        r->end += n;
        data += n;
        len -= n;
        if (!r->started && r->end >= 3) {
            start(r);
        }
        if (r->started && r->end / SCAN_BLOCK > r->n_blocks) {
            rc = advance(r, r->sha, r->end, err);
            rc = rc ? rc : make_room(r, err);
        }
    }
    return rc;
}

int csv_reader_end(struct csv_reader *r, struct gt_error *err)
{
    if (!r->started) {
        start(r);
    }
    size_t tail = r->end % SCAN_BLOCK;
    if (r->sha && tail > 0) {
        sha256_add(r->sha, r->buf + r->end - tail, tail);
    }
    memset(r->buf + r->end, 'x', SCAN_BLOCK - tail); /* no boundary, no quote */
    int rc = advance(r, NULL, r->end - tail + SCAN_BLOCK, err);
    if (rc == 0 && r->row_start < r->end) { /* the last line has no newline */
        if (r->scan.inside) {
            return fail_at(r, 0, "a quote in this row is never closed", err);
        }
        r->bound[++r->n] = (uint32_t)r->end + 1;
        rc = finish_row(r, r->end, err);
    }
    return rc;
}
