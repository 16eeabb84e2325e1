/* JSON tokeniser with subtree skipping (json_read.h). Pretty-printed price lists are two thirds
 * white space and unwanted values: the first is passed by 16 bytes, the second by 64. */
#include "json_read.h"
#include "json_text.h"
#include "scan.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_START  ((size_t)64 * 1024)
#define TOKEN_MAX  ((size_t)1024 * 1024)
#define NUMBER_MAX 64

enum expect {
    WANT_VALUE,
    WANT_VALUE_OR_END,
    WANT_KEY,
    WANT_KEY_OR_END,
    WANT_COLON,
    WANT_COMMA,
    WANT_NOTHING
};

struct json_reader {
    const char *name;
    json_event_fn *event;
    void *ctx;
    char *buf;
    size_t cap, pos, end; /* [pos, end) is not yet read; SCAN_BLOCK bytes of room behind cap */
    bool last;            /* no more bytes will come */
    bool many;            /* documents may follow one another */
    enum expect expect;
    int depth;
    bool is_object[JSON_DEPTH + 1];
    bool skip_value; /* the value that comes next gives no event */
    json_copy_fn *copy;
    /* Skipping: brackets open since the target depth, string and escape state at pos. */
    uint64_t skip_open, skip_quote;
    bool skipping, skip_escape;
    int skip_depth;
    uint64_t lines;      /* newlines before buf */
    uint64_t cut_column; /* bytes of the current line before buf */
};

int json_reader_new(const char *name, json_event_fn *event, void *ctx, struct json_reader **out,
                    struct gt_error *err)
{
    struct json_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->buf = malloc(BUF_START + SCAN_BLOCK))) {
        free(r);
        return gt_fail(err, GT_ENOMEM, name, "out of memory");
    }
    r->cap = BUF_START;
    r->name = name;
    r->event = event;
    r->ctx = ctx;
    *out = r;
    return 0;
}

void json_reader_free(struct json_reader *r)
{
    if (r) {
        free(r->buf);
    }
    free(r);
}

int json_depth(const struct json_reader *r)
{
    return r->depth;
}

void json_reader_many(struct json_reader *r)
{
    r->many = true;
}

uint64_t json_line(const struct json_reader *r)
{
    size_t after = 0;
    return r->lines + scan_newlines(r->buf, r->pos, &after) + 1;
}

void json_skip_value(struct json_reader *r)
{
    r->skip_value = true;
}

void json_copy_value(struct json_reader *r, json_copy_fn *copy)
{
    r->skip_value = true;
    r->copy = copy;
}

void json_leave(struct json_reader *r, int levels)
{
    r->skipping = true;
    r->skip_depth = r->depth - levels;
    r->skip_open = (uint64_t)levels;
    r->skip_quote = 0;
    r->skip_escape = false;
}

int json_fail(struct json_reader *r, int code, struct gt_error *err, const char *fmt, ...)
{
    char where[160], text[300];
    size_t after = 0;
    uint64_t n = scan_newlines(r->buf, r->pos, &after);
    uint64_t column = r->pos - after + (n == 0 ? r->cut_column : 0) + 1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(where, sizeof where, "%.110s:%" PRIu64 ":%" PRIu64, r->name, r->lines + n + 1, column);
    return gt_fail(err, code, where, "%s", text);
}

static int unexpected(struct json_reader *r, const char *wanted, struct gt_error *err)
{
    unsigned char c = (unsigned char)r->buf[r->pos];
    return c > ' ' && c < 0x7f
               ? json_fail(r, GT_EPARSE, err, "found '%c', expected %s", c, wanted)
               : json_fail(r, GT_EPARSE, err, "found byte 0x%02x, expected %s", c, wanted);
}

/* Bits of a block that follow an unescaped backslash; *carry: bit 0 is escaped / the next is. */
static uint64_t escaped_bits(uint64_t backslash, bool *carry)
{
    uint64_t esc = *carry;
    *carry = false;
    while (backslash != 0) {
        unsigned i = scan_first(backslash);
        backslash &= backslash - 1;
        if (esc >> i & 1) {
            continue;
        }
        if (i == 63) {
            *carry = true;
        } else {
            esc |= (uint64_t)2 << i;
        }
    }
    return esc;
}

/* Offset behind the bracket that ends the skipping, or SCAN_BLOCK when the block does not. */
static unsigned skip_block(struct json_reader *r, const char *p, uint64_t valid)
{
    uint64_t quote = scan_eq(p, '"') & valid, back = scan_eq(p, '\\') & valid;
    if (back != 0 || r->skip_escape) {
        quote &= ~escaped_bits(back, &r->skip_escape);
    }
    uint64_t inside = scan_parity(quote) ^ r->skip_quote;
    r->skip_quote = (uint64_t)0 - (inside >> 63);
    /* '[' | 0x20 is '{', ']' | 0x20 is '}' */
    uint64_t opens = scan_eq_or(p, '{', 0x20) & valid & ~inside;
    uint64_t closes = scan_eq_or(p, '}', 0x20) & valid & ~inside;
    if (scan_count(closes) < r->skip_open) {
        r->skip_open += scan_count(opens);
        r->skip_open -= scan_count(closes);
        return SCAN_BLOCK;
    }
    for (uint64_t bits = opens | closes; bits != 0; bits &= bits - 1) {
        unsigned i = scan_first(bits);
        if (opens >> i & 1) {
            r->skip_open++;
        } else if (--r->skip_open == 0) {
            return i + 1;
        }
    }
    return SCAN_BLOCK;
}

static int copy_out(struct json_reader *r, size_t from, struct gt_error *err)
{
    return r->copy && r->pos > from ? r->copy(r->ctx, r->buf + from, r->pos - from, err) : 0;
}

static int skip(struct json_reader *r, struct gt_error *err)
{
    size_t from = r->pos;
    while (r->skipping && (r->pos + SCAN_BLOCK <= r->end || (r->last && r->pos < r->end))) {
        size_t left = r->end - r->pos;
        uint64_t valid = left >= SCAN_BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
        if (left < SCAN_BLOCK) {
            memset(r->buf + r->end, ' ', SCAN_BLOCK);
        }
        unsigned n = skip_block(r, r->buf + r->pos, valid);
        r->pos += n < left ? n : left;
        if (r->skip_open == 0) {
            r->skipping = false;
            r->depth = r->skip_depth;
            r->expect = r->depth == 0 ? WANT_NOTHING : WANT_COMMA;
        }
    }
    int rc = copy_out(r, from, err);
    if (!r->skipping) {
        r->copy = NULL;
    }
    return rc;
}

static void skip_space(struct json_reader *r)
{
    const char *b = r->buf;
    size_t p = r->pos;
#if defined(__SSE2__)
    while (p + 16 <= r->end) {
        __m128i v = scan_load(b + p);
        __m128i s = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')),
                                              _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'))),
                                 _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\t')),
                                              _mm_cmpeq_epi8(v, _mm_set1_epi8('\r'))));
        unsigned m = ~(unsigned)_mm_movemask_epi8(s) & 0xffff;
        if (m != 0) {
            r->pos = p + (size_t)__builtin_ctz(m);
            return;
        }
        p += 16;
    }
#endif
    while (p < r->end && (b[p] == ' ' || b[p] == '\n' || b[p] == '\t' || b[p] == '\r')) {
        p++;
    }
    r->pos = p;
}

/* Offset of the first quote, backslash or control character at or behind p; end if none. */
static size_t string_stop(const char *b, size_t p, size_t end)
{
#if defined(__SSE2__)
    for (; p + 16 <= end; p += 16) {
        __m128i v = scan_load(b + p);
        __m128i s = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                              _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
                                 _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v));
        unsigned m = (unsigned)_mm_movemask_epi8(s);
        if (m != 0) {
            return p + (size_t)__builtin_ctz(m);
        }
    }
#endif
    while (p < end && b[p] != '"' && b[p] != '\\' && (unsigned char)b[p] >= 0x20) {
        p++;
    }
    return p;
}

/* A string whose opening quote is at pos. 1 = read, 0 = cut (wait for more), < 0 = error. */
static int read_string(struct json_reader *r, char **text, size_t *len, struct gt_error *err)
{
    size_t p = r->pos + 1;
    bool escaped = false;
    for (;;) {
        p = string_stop(r->buf, p, r->end);
        if (p >= r->end || (r->buf[p] == '\\' && p + 1 >= r->end)) {
            return 0;
        }
        if (r->buf[p] == '"') {
            break;
        }
        if (r->buf[p] != '\\') {
            r->pos = p;
            return unexpected(r, "no control character inside a string", err);
        }
        escaped = true;
        p += 2;
    }
    *text = r->buf + r->pos + 1;
    *len = p - r->pos - 1;
    if (escaped) {
        size_t n = *len, after = 0;
        *len = json_unescape(*text, n);
        if (*len == SIZE_MAX) {
            return json_fail(r, GT_EPARSE, err, "a bad escape in a string");
        }
        r->lines -= scan_newlines(*text, n, &after); /* those are no lines of the document */
    }
    (*text)[*len] = '\0';
    r->pos = p + 1;
    return 1;
}

static int emit(struct json_reader *r, enum json_event e, const char *text, size_t len,
                struct gt_error *err)
{
    r->expect = r->depth == 0 ? WANT_NOTHING : WANT_COMMA;
    if (r->skip_value) {
        r->skip_value = false;
        r->copy = NULL;
        return 0;
    }
    return r->event(r->ctx, r, e, text, len, err);
}

/* Numbers and literals. 1, 0 (cut) or < 0. */
static int read_word(struct json_reader *r, struct gt_error *err)
{
    char word[NUMBER_MAX + 1];
    size_t p = r->pos;
    while (p < r->end && p - r->pos < NUMBER_MAX &&
           (strchr("+-.", r->buf[p])
                ? r->buf[p] != '\0'
                : (r->buf[p] >= '0' && r->buf[p] <= '9') ||
                      ((r->buf[p] | 0x20) >= 'a' && (r->buf[p] | 0x20) <= 'z'))) {
        p++;
    }
    if (p == r->end && !r->last) {
        return 0;
    }
    size_t n = p - r->pos;
    memcpy(word, r->buf + r->pos, n);
    word[n] = '\0';
    enum json_event e = JSON_NUMBER;
    if (strcmp(word, "true") == 0) {
        e = JSON_TRUE;
    } else if (strcmp(word, "false") == 0) {
        e = JSON_FALSE;
    } else if (strcmp(word, "null") == 0) {
        e = JSON_NULL;
    } else if (!json_number_ok(word, n)) {
        return n == 0 ? unexpected(r, "a value", err)
                      : json_fail(r, GT_EPARSE, err, "found '%.40s', expected a value", word);
    }
    r->pos = p;
    int rc = emit(r, e, e == JSON_NUMBER ? word : "", e == JSON_NUMBER ? n : 0, err);
    return rc == 0 ? 1 : rc;
}

static int open_container(struct json_reader *r, bool object, struct gt_error *err)
{
    if (r->depth >= JSON_DEPTH) {
        return json_fail(r, GT_ELIMIT, err, "deeper than %d levels", JSON_DEPTH);
    }
    if (r->skip_value) {
        r->skip_value = false;
        json_leave(r, 0);
        return 1; /* the bracket itself is counted by skip() */
    }
    r->pos++;
    r->is_object[++r->depth] = object;
    r->expect = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    int rc = r->event(r->ctx, r, object ? JSON_OBJECT : JSON_ARRAY, "", 0, err);
    return rc == 0 ? 1 : rc;
}

static int close_container(struct json_reader *r, struct gt_error *err)
{
    bool object = r->is_object[r->depth];
    r->pos++;
    r->depth--;
    int rc = emit(r, object ? JSON_END_OBJECT : JSON_END_ARRAY, "", 0, err);
    return rc == 0 ? 1 : rc;
}

static int read_value(struct json_reader *r, struct gt_error *err)
{
    char c = r->buf[r->pos], *text;
    size_t len;
    if (c == '{' || c == '[') {
        return open_container(r, c == '{', err);
    }
    if (c == ']' && r->expect == WANT_VALUE_OR_END) {
        return close_container(r, err);
    }
    if (c != '"') {
        return read_word(r, err);
    }
    int rc = read_string(r, &text, &len, err);
    if (rc == 1) {
        rc = emit(r, JSON_STRING, text, len, err);
        return rc == 0 ? 1 : rc;
    }
    return rc;
}

static int read_key(struct json_reader *r, struct gt_error *err)
{
    char c = r->buf[r->pos], *text;
    size_t len;
    if (c == '}' && r->expect == WANT_KEY_OR_END) {
        return close_container(r, err);
    }
    if (c != '"') {
        return unexpected(r, "a key in quotes", err);
    }
    int rc = read_string(r, &text, &len, err);
    if (rc != 1) {
        return rc;
    }
    r->expect = WANT_COLON;
    rc = r->event(r->ctx, r, JSON_KEY, text, len, err);
    return rc == 0 ? 1 : rc;
}

/* One token at pos. 1 = read, 0 = cut, < 0 = error. */
static int token(struct json_reader *r, struct gt_error *err)
{
    char c = r->buf[r->pos];
    switch (r->expect) {
    case WANT_KEY:
    case WANT_KEY_OR_END:
        return read_key(r, err);
    case WANT_COLON:
        if (c != ':') {
            return unexpected(r, "':'", err);
        }
        r->pos++;
        r->expect = WANT_VALUE;
        return 1;
    case WANT_COMMA:
        if (c == (r->is_object[r->depth] ? '}' : ']')) {
            return close_container(r, err);
        }
        if (c != ',') {
            return unexpected(r, r->is_object[r->depth] ? "',' or '}'" : "',' or ']'", err);
        }
        r->pos++;
        r->expect = r->is_object[r->depth] ? WANT_KEY : WANT_VALUE;
        return 1;
    case WANT_NOTHING:
        if (!r->many) {
            return unexpected(r, "nothing behind the document", err);
        }
        break;
    case WANT_VALUE:
    case WANT_VALUE_OR_END:
        break;
    }
    return read_value(r, err);
}

static int run(struct json_reader *r, struct gt_error *err)
{
    for (;;) {
        if (r->skipping) {
            int rc = skip(r, err);
            if (rc != 0 || r->skipping) {
                return rc;
            }
        }
        if (r->pos < r->end && (unsigned char)r->buf[r->pos] <= ' ') {
            skip_space(r);
        }
        if (r->pos >= r->end) {
            return 0;
        }
        int rc = token(r, err);
        if (rc <= 0) {
            return rc;
        }
    }
}

/* Drops what was read; doubles the buffer when one token fills it. */
static int make_room(struct json_reader *r, struct gt_error *err)
{
    if (r->pos > 0) {
        size_t after = 0;
        uint64_t n = scan_newlines(r->buf, r->pos, &after);
        r->lines += n;
        r->cut_column = r->pos - after + (n == 0 ? r->cut_column : 0);
        memmove(r->buf, r->buf + r->pos, r->end - r->pos);
        r->end -= r->pos;
        r->pos = 0;
        return 0;
    }
    if (r->cap >= TOKEN_MAX) {
        return json_fail(r, GT_ELIMIT, err, "a string over 1 MiB");
    }
    char *b = realloc(r->buf, 2 * r->cap + SCAN_BLOCK);
    if (!b) {
        return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
    }
    r->buf = b;
    r->cap *= 2;
    return 0;
}

int json_reader_feed(struct json_reader *r, const char *data, size_t len, struct gt_error *err)
{
    while (len > 0) {
        size_t room = r->cap - r->end, n = len < room ? len : room;
        memcpy(r->buf + r->end, data, n);
        r->end += n;
        data += n;
        len -= n;
        int rc = run(r, err);
        rc = rc == 0 && r->end == r->cap ? make_room(r, err) : rc;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int json_reader_end(struct json_reader *r, struct gt_error *err)
{
    r->last = true;
    int rc = run(r, err);
    if (rc != 0) {
        return rc;
    }
    if (r->expect != WANT_NOTHING || r->skipping || r->pos < r->end) {
        bool empty = r->depth == 0 && r->expect == WANT_VALUE && r->pos >= r->end;
        r->pos = r->end;
        return json_fail(r, GT_EPARSE, err,
                         empty ? "an empty document"
                               : "the document ends before its time: a cut file");
    }
    return 0;
}
