/* CSV by bit masks (scan_masks.h): all quotes are judged and all boundaries counted 64 bytes at a
 * time; where a field stands is looked up in the masks when it is asked for, and a row whose quotes
 * do more than begin and end fields is read field by field. */
#include "csv_read.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_START ((size_t)64 * 1024)
#define ROW_MAX   ((size_t)1024 * 1024)
/* Blocks between looks at what they hold: few, so that they are still at hand. */
#define GROUP ((size_t)16)

struct csv_reader {
    const char *name;
    csv_row_fn *row;
    void *ctx;
    struct csv_scan scan;
    bool started;
    /* [row_start, end) of buf is the begun row and what follows; the first n_blocks blocks are
     * read. A block's room stays free behind the end. row_end: of the row that is whole. */
    char *buf;
    struct csv_block *block;
    size_t cap, end, row_start, row_end, n_blocks;
    uint64_t lines;    /* newlines in the stream before the block at hand */
    uint64_t row_line; /* before the row */
    bool care;         /* the row has quotes to look at */
    size_t n;          /* boundaries of the row so far */
    /* Where csv_field_alone looked last: the field's number and begin, its block and of that the
     * boundaries from its end on. */
    struct {
        size_t field, from, block;
        uint64_t bits;
        bool set;
    } last;
    /* Offset in buf behind each boundary; room for a block more, see add_bounds. */
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

/* Boundaries of one block behind the first n. Four at a time, so that the loop's end is foreseen:
 * what is written too much lies behind the row. */
static size_t add_bounds(struct csv_reader *r, size_t n, size_t base, uint64_t bits)
{
    uint32_t *to = r->bound + n + 1;
    size_t count = scan_count(bits);
    for (size_t i = 0; i < count; i += 4) {
#pragma GCC unroll 4
        for (size_t k = i; k < i + 4; k++) {
            to[k] = (uint32_t)base + scan_first(bits | (uint64_t)1 << 63) + 1;
            bits &= bits - 1;
        }
    }
    return n + count;
}

/* Of the block at `at`, the boundaries within the row that begins at row_start. */
static uint64_t row_bits(const struct csv_reader *r, size_t at)
{
    uint64_t bits = r->block[at].bounds;
    return at == r->row_start / SCAN_BLOCK ? bits & ~(uint64_t)0 << r->row_start % SCAN_BLOCK
                                           : bits;
}

/* All boundaries of the whole row. */
static void find_bounds(struct csv_reader *r)
{
    size_t n = 0;
    r->bound[0] = (uint32_t)r->row_start;
    for (size_t at = r->row_start / SCAN_BLOCK; n < r->n && at * SCAN_BLOCK <= r->row_end; at++) {
        n = add_bounds(r, n, at * SCAN_BLOCK, row_bits(r, at));
    }
    r->bound[r->n] = (uint32_t)r->row_end + 1;
}

void csv_find(const struct csv_row *row)
{
    find_bounds(row->reader);
}

const char *csv_field_alone(const struct csv_row *row, int i)
{
    struct csv_reader *r = row->reader;
    if (i < 0 || (size_t)i >= row->n || row->field || row->bound[1] != 0) {
        return csv_field(row, i);
    }
    size_t k = (size_t)i, to = r->row_end;
    if (!r->last.set || k < r->last.field) {
        size_t first = r->row_start / SCAN_BLOCK;
        r->last.set = true;
        r->last.field = 0;
        r->last.from = r->row_start;
        r->last.block = first;
        r->last.bits = row_bits(r, first);
    }
    size_t at = r->last.block, skip = k - r->last.field;
    uint64_t bits = r->last.bits;
    if (skip > 0) { /* the boundary before the field is the last of those that are passed */
        for (size_t n = scan_count(bits); n < skip; n = r->block[at].n_bounds) {
            skip -= n;
            bits = r->block[++at].bounds;
        }
        while (--skip > 0) {
            bits &= bits - 1;
        }
        r->last.field = k;
        r->last.from = at * SCAN_BLOCK + scan_first(bits) + 1;
        r->last.block = at;
        r->last.bits = bits &= bits - 1;
    }
    if (k + 1 < row->n) {
        while (bits == 0) {
            bits = r->block[++at].bounds;
        }
        to = at * SCAN_BLOCK + scan_first(bits);
    }
    return csv_text(r->buf + r->last.from, r->buf + to);
}

/* All fields of a row that has quotes to look at. */
static int unquote_row(struct csv_reader *r, struct gt_error *err)
{
    int rc = 0;
    find_bounds(r);
    for (size_t i = 0; i < r->n && rc == 0; i++) {
        uint32_t len = r->bound[i + 1] - 1 - r->bound[i];
        r->field[i] = r->buf + r->bound[i];
        r->field[i][len] = '\0';
        rc = unquote(r, r->field[i], &len, r->bound[i] - r->row_start, err);
    }
    return rc;
}

/* The row [row_start, end) has come, with r->n boundaries. */
static int finish_row(struct csv_reader *r, size_t end, struct gt_error *err)
{
    if (r->n > CSV_FIELDS) {
        return fail_at(r, end - r->row_start, "more than 512 fields in a row", err);
    }
    r->row_end = end > r->row_start && r->buf[end - 1] == '\r' ? end - 1 : end;
    if (r->n == 1 && r->row_end == r->row_start) {
        return 0; /* a blank line */
    }
    r->bound[1] = 0;
    r->last.set = false;
    int rc = r->care ? unquote_row(r, err) : 0;
    struct csv_row row = {
        r->n, r->row_line + 1, r->buf, r->bound, r->care ? r->field : NULL, r,
    };
    return rc ? rc : r->row(r->ctx, &row, err);
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
        r->n += n;
        r->care = r->care || (care & row);
        int rc = finish_row(r, end, err);
        if (rc != 0) {
            return rc;
        }
        r->row_line = r->lines + scan_count(k->newlines & row);
        r->row_start = end + 1;
        r->n = 0;
        r->care = false;
        bits &= ~row;
        care &= ~row;
        count -= n;
    }
    if (r->n > CSV_FIELDS) {
        return fail_at(r, base - r->row_start, "more than 512 fields in a row", err);
    }
    r->n += count;
    r->care = r->care || care;
    r->lines += k->n_newlines;
    return 0;
}

/* Reads whole blocks up to `end`. */
static int advance(struct csv_reader *r, size_t end, struct gt_error *err)
{
    size_t n = end / SCAN_BLOCK;
    int rc = 0;
    while (r->n_blocks < n && rc == 0) {
        size_t k = n - r->n_blocks < GROUP ? n - r->n_blocks : GROUP;
        csv_scan_blocks(&r->scan, r->buf + r->n_blocks * SCAN_BLOCK, k, r->block + r->n_blocks);
        for (; k > 0 && rc == 0; k--) {
            rc = take_block(r, r->n_blocks++, err);
        }
    }
    return rc;
}

/* Drops the rows that were read; doubles the buffer when one row fills it. */
static int make_room(struct csv_reader *r, struct gt_error *err)
{
    size_t blocks = r->row_start / SCAN_BLOCK, gone = blocks * SCAN_BLOCK;
    memmove(r->buf, r->buf + gone, r->end - gone);
    r->n_blocks -= blocks;
    memmove(r->block, r->block + blocks, r->n_blocks * sizeof *r->block);
    r->row_start -= gone;
    r->end -= gone;
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

/* The begin of the file: a byte-order mark is no part of it. */
static void start(struct csv_reader *r)
{
    r->started = true;
    if (r->end >= 3 && memcmp(r->buf, "\xef\xbb\xbf", 3) == 0) {
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
            rc = advance(r, r->end, err);
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
    memset(r->buf + r->end, 'x', SCAN_BLOCK - tail); /* no boundary, no quote */
    int rc = advance(r, r->end - tail + SCAN_BLOCK, err);
    if (rc == 0 && r->row_start < r->end) { /* the last line has no newline */
        if (r->scan.inside) {
            return fail_at(r, 0, "a quote in this row is never closed", err);
        }
        r->n++;
        rc = finish_row(r, r->end, err);
    }
    return rc;
}
