/* Events from the records of 64-byte blocks (json_read.h, scan_masks.h). What a record names is
 * known to be correct, so that here tokens are taken in their order and nothing is judged. */
#include "json_read.h"
#include "json_text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_START ((size_t)64 * 1024)
#define TOKEN_MAX ((size_t)1024 * 1024)

struct json_reader {
    const char *name;
    json_event_fn *event;
    void *ctx;
    struct json_scan scan;
    /* buf[0, end) is kept, of that [0, stop) is checked, [0, pos) read; cap and the start of buf
     * within the stream are multiples of SCAN_BLOCK. */
    char *buf;
    struct json_block *block;
    size_t cap, pos, stop, end;
    size_t n_blocks; /* records; the last one may be that of a block with an error */
    uint64_t base;   /* of buf in the stream */
    char *text;      /* a string without its escapes, made when first needed */
    size_t text_cap;
    int depth;
    uint64_t objects; /* bit d - 1: the container at depth d is an object */
    bool key;         /* the next string is one */
    bool skip_value;  /* the value that comes next gives no event */
    bool skipping;    /* until depth is skip_depth */
    int skip_depth;
    json_copy_fn *copy;
    uint64_t lines; /* newlines before buf */
    size_t counted; /* bytes of buf of which json_line knows the newlines */
    uint64_t counted_lines;
    uint64_t cut_column; /* bytes of the current line before buf */
};

int json_reader_new(const char *name, json_event_fn *event, void *ctx, struct json_reader **out,
                    struct gt_error *err)
{
    struct json_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->buf = malloc(BUF_START)) ||
        !(r->block = malloc(BUF_START / SCAN_BLOCK * sizeof *r->block))) {
        json_reader_free(r);
        return gt_fail(err, GT_ENOMEM, name, "out of memory");
    }
    json_scan_init(&r->scan);
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
        free(r->block);
        free(r->text);
    }
    free(r);
}

int json_depth(const struct json_reader *r)
{
    return r->depth;
}

void json_reader_many(struct json_reader *r)
{
    r->scan.many = true;
}

void json_reader_path(struct json_reader *r, enum scan_path path)
{
    r->scan.path = path;
}

/* Goes on from where it was asked last: readers of lists ask at every entry. */
uint64_t json_line(struct json_reader *r)
{
    size_t after = 0;
    if (r->counted > r->pos) {
        r->counted = 0;
        r->counted_lines = 0;
    }
    r->counted_lines += scan_newlines(r->buf + r->counted, r->pos - r->counted, &after);
    r->counted = r->pos;
    return r->lines + r->counted_lines + 1;
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

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '+' ||
           c == '-' || c == '.';
}

/* The error that the scan found, once all before it has been read. */
static int scan_error(struct json_reader *r, struct gt_error *err)
{
    const struct json_scan *s = &r->scan;
    r->pos = s->error_at > r->base ? (size_t)(s->error_at - r->base) : 0;
    if (r->pos >= r->end) { /* in what fills the last block */
        r->pos = r->end;
        return json_fail(r, GT_EPARSE, err, "the document ends before its time: a cut file");
    }
    if (s->error == JSON_ERROR_DEPTH) {
        return json_fail(r, GT_ELIMIT, err, "deeper than %d levels", JSON_DEPTH);
    }
    unsigned char c = (unsigned char)r->buf[r->pos];
    size_t n = 0;
    while (s->error == JSON_ERROR_WORD && n < 40 && r->base + r->pos + n < s->error_to &&
           in_word(r->buf[r->pos + n])) {
        n++;
    }
    if (n > 0) {
        return json_fail(r, GT_EPARSE, err, "found '%.*s', expected %s", (int)n, r->buf + r->pos,
                         s->expected);
    }
    return c > ' ' && c < 0x7f
               ? json_fail(r, GT_EPARSE, err, "found '%c', expected %s", c, s->expected)
               : json_fail(r, GT_EPARSE, err, "found byte 0x%02x, expected %s", c, s->expected);
}

/* Offset of the first token at or behind `from`; r->stop when there is none as yet. */
static inline size_t next_token(const struct json_reader *r, size_t from)
{
    size_t b = from / SCAN_BLOCK;
    if (from >= r->stop) {
        return r->stop;
    }
    uint64_t bits = r->block[b].tokens & (~(uint64_t)0 << from % SCAN_BLOCK);
    while (bits == 0) {
        if (++b >= r->n_blocks) {
            return r->stop;
        }
        bits = r->block[b].tokens;
    }
    size_t at = b * SCAN_BLOCK + scan_first(bits);
    return at < r->stop ? at : r->stop;
}

/* Moves pos behind the bracket that ends the skipping, or to the end of what is checked. */
static void skip(struct json_reader *r)
{
    size_t b = r->pos / SCAN_BLOCK, from = r->pos % SCAN_BLOCK;
    int depth = r->depth;
    for (; b < r->n_blocks && r->pos < r->stop; b++, from = 0) {
        const struct json_block *k = &r->block[b];
        if (from == 0) {
            depth = k->depth;
        }
        if (k->low > r->skip_depth) {
            continue;
        }
        for (uint64_t bits = (k->open | k->close) & (~(uint64_t)0 << from); bits != 0;
             bits &= bits - 1) {
            unsigned i = scan_first(bits);
            depth += k->open >> i & 1 ? 1 : -1;
            if (depth == r->skip_depth && (k->close >> i & 1)) {
                r->depth = depth;
                r->pos = b * SCAN_BLOCK + i + 1;
                r->skipping = false;
                r->key = true;
                return;
            }
        }
    }
    r->depth = r->scan.depth;
    r->pos = r->stop;
}

static int copy_out(struct json_reader *r, size_t from, struct gt_error *err)
{
    return r->copy && r->pos > from ? r->copy(r->ctx, r->buf + from, r->pos - from, err) : 0;
}

static int skip_on(struct json_reader *r, struct gt_error *err)
{
    size_t from = r->pos;
    skip(r);
    int rc = copy_out(r, from, err);
    if (!r->skipping) {
        r->copy = NULL;
    }
    return rc;
}

/* buf[from, to) without its escapes. */
static int unescaped(struct json_reader *r, size_t from, size_t to, char **text, size_t *len,
                     struct gt_error *err)
{
    *len = to - from;
    if (*len >= r->text_cap) {
        free(r->text);
        r->text_cap = 0;
        if (!(r->text = malloc(*len + 1))) {
            return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
        }
        r->text_cap = *len + 1;
    }
    memcpy(r->text, r->buf + from, *len);
    *len = json_unescape(r->text, *len);
    r->text[*len] = '\0';
    *text = r->text;
    return 0;
}

static bool has_escape(const struct json_reader *r, size_t from, size_t to)
{
    bool back = false;
    for (size_t b = from / SCAN_BLOCK; b <= to / SCAN_BLOCK; b++) {
        back = back || r->block[b].back;
    }
    return back && memchr(r->buf + from, '\\', to - from);
}

/* A value, or what ends one, is behind pos: no event for it when it is to be skipped. */
static int emit(struct json_reader *r, enum json_event e, const char *text, size_t len,
                struct gt_error *err)
{
    r->key = true;
    if (r->skip_value) {
        r->skip_value = false;
        r->copy = NULL;
        return 0;
    }
    return r->event(r->ctx, r, e, text, len, err);
}

/* The text buf[from, to) as a C string for one event; the buffer is as before afterwards. */
static int emit_text(struct json_reader *r, enum json_event e, size_t from, size_t to,
                     struct gt_error *err)
{
    char *text = r->buf + from, was = r->buf[to];
    size_t len = to - from;
    if (len > TOKEN_MAX) {
        return json_fail(r, GT_ELIMIT, err, "a string over %zu bytes", TOKEN_MAX);
    }
    if (e != JSON_NUMBER && has_escape(r, from, to)) {
        int rc = unescaped(r, from, to, &text, &len, err);
        return rc              ? rc
               : e == JSON_KEY ? r->event(r->ctx, r, e, text, len, err)
                               : emit(r, e, text, len, err);
    }
    r->buf[to] = '\0';
    int rc = e == JSON_KEY ? r->event(r->ctx, r, e, text, len, err) : emit(r, e, text, len, err);
    r->buf[to] = was;
    return rc;
}

/* The value behind a key, if it is a string, to be skipped, and there as a whole. */
static void skip_string(struct json_reader *r)
{
    size_t at = next_token(r, r->pos), end = next_token(r, at + 1);
    if (end < r->stop && r->buf[at] == '"' && end - at <= TOKEN_MAX) {
        r->pos = end + 1;
        r->skip_value = false;
        r->copy = NULL;
        r->key = true;
    }
}

/* The following return 1 = read, 0 = its end has not come, < 0 = error. */

static int read_string(struct json_reader *r, size_t at, struct gt_error *err)
{
    size_t end = next_token(r, at + 1);
    if (end >= r->stop) {
        return 0;
    }
    bool key = r->key && r->depth > 0 && (r->objects >> (r->depth - 1) & 1);
    r->pos = end + 1;
    r->key = false;
    int rc = emit_text(r, key ? JSON_KEY : JSON_STRING, at + 1, end, err);
    if (rc == 0 && r->skip_value && key) { /* the common case on the short way */
        skip_string(r);
    }
    return rc == 0 ? 1 : rc;
}

static int read_word(struct json_reader *r, size_t at, struct gt_error *err)
{
    size_t end = at;
    while (end < r->stop && in_word(r->buf[end])) {
        end++;
    }
    if (end >= r->stop) {
        return 0;
    }
    char c = r->buf[at];
    r->pos = end;
    int rc = c == 't'   ? emit(r, JSON_TRUE, "", 0, err)
             : c == 'f' ? emit(r, JSON_FALSE, "", 0, err)
             : c == 'n' ? emit(r, JSON_NULL, "", 0, err)
                        : emit_text(r, JSON_NUMBER, at, end, err);
    return rc == 0 ? 1 : rc;
}

static int open_container(struct json_reader *r, size_t at, struct gt_error *err)
{
    bool object = r->buf[at] == '{';
    if (r->skip_value) {
        r->skip_value = false;
        r->pos = at;
        json_leave(r, 0);
        return 1; /* the bracket itself is counted by skip() */
    }
    uint64_t bit = (uint64_t)1 << r->depth++;
    r->objects = object ? r->objects | bit : r->objects & ~bit;
    r->pos = at + 1;
    r->key = true;
    int rc = r->event(r->ctx, r, object ? JSON_OBJECT : JSON_ARRAY, "", 0, err);
    return rc == 0 ? 1 : rc;
}

static int close_container(struct json_reader *r, size_t at, struct gt_error *err)
{
    r->pos = at + 1;
    r->depth--;
    int rc = emit(r, r->buf[at] == '}' ? JSON_END_OBJECT : JSON_END_ARRAY, "", 0, err);
    return rc == 0 ? 1 : rc;
}

/* The tokens behind r->pos, one after the other. */
struct tokens {
    const struct json_reader *r;
    size_t block;
    uint64_t bits;
};

static inline size_t following(struct tokens *t)
{
    while (t->bits == 0) {
        if (++t->block >= t->r->n_blocks) {
            return t->r->stop;
        }
        t->bits = t->r->block[t->block].tokens;
    }
    size_t at = t->block * SCAN_BLOCK + scan_first(t->bits);
    t->bits &= t->bits - 1;
    return at;
}

bool json_look_ahead(const struct json_reader *r, json_show_fn *show, void *ctx)
{
    struct tokens t = {.r = r, .block = r->pos / SCAN_BLOCK};
    if (r->pos >= r->stop) {
        return false;
    }
    t.bits = r->block[t.block].tokens & (~(uint64_t)0 << r->pos % SCAN_BLOCK);
    for (;;) {
        size_t b = t.block, key = following(&t), key_end = following(&t);
        size_t text = following(&t), end = following(&t);
        if (end >= r->stop || r->buf[key] != '"' || r->buf[text] != '"') {
            return false;
        }
        for (; b <= t.block; b++) {
            if (r->block[b].back) {
                return false;
            }
        }
        if (show(ctx, r->buf + key + 1, key_end - key - 1, r->buf + text + 1, end - text - 1)) {
            return true;
        }
    }
}

static int token(struct json_reader *r, size_t at, struct gt_error *err)
{
    switch (r->buf[at]) {
    case '"':
        return read_string(r, at, err);
    case '{':
    case '[':
        return open_container(r, at, err);
    case '}':
    case ']':
        return close_container(r, at, err);
    default:
        return read_word(r, at, err);
    }
}

/* All events that the checked bytes allow. */
static int run(struct json_reader *r, struct gt_error *err)
{
    int rc = 1;
    while (rc > 0) {
        if (r->skipping) {
            rc = skip_on(r, err);
            if (rc != 0 || r->skipping) {
                break;
            }
            rc = 1;
        }
        size_t at = next_token(r, r->pos);
        if (at >= r->stop) {
            r->pos = at;
            return 0;
        }
        rc = token(r, at, err);
        if (rc == 0) {
            r->pos = at; /* again from here when there is more */
        }
    }
    return rc;
}

/* Checks the whole blocks that have come, and reads. */
static int advance(struct json_reader *r, size_t end, struct gt_error *err)
{
    size_t done = r->n_blocks, n = end / SCAN_BLOCK - done;
    size_t k = json_scan_blocks(&r->scan, r->buf + done * SCAN_BLOCK, n, r->block + done);
    r->n_blocks += k;
    r->stop = r->n_blocks * SCAN_BLOCK;
    if (k == n) {
        return run(r, err);
    }
    r->stop = r->scan.error_at > r->base ? (size_t)(r->scan.error_at - r->base) : 0;
    r->n_blocks++; /* its record holds what is before the error */
    int rc = r->pos < r->stop ? run(r, err) : 0;
    return rc ? rc : scan_error(r, err);
}

/* Drops what was read; doubles the buffer when one token fills it. */
static int make_room(struct json_reader *r, struct gt_error *err)
{
    size_t keep = r->pos, newlines = 0;
    uint64_t word = r->scan.word_at - r->base;
    if (r->scan.state == JSON_IN_WORD && word < keep && r->end - word < BUF_START / 2) {
        keep = word; /* one that is passed over, but may turn out to be wrong */
    }
    size_t b = keep / SCAN_BLOCK, gone = b * SCAN_BLOCK;
    for (size_t i = 0; i < b; i++) {
        newlines += r->block[i].newlines;
    }
    r->cut_column += gone;
    if (newlines > 0) {
        r->cut_column = gone - 1 - (size_t)((char *)memrchr(r->buf, '\n', gone) - r->buf);
    }
    r->lines += newlines;
    r->counted = 0;
    r->counted_lines = 0;
    memmove(r->buf, r->buf + gone, r->end - gone);
    memmove(r->block, r->block + b, (r->n_blocks - b) * sizeof *r->block);
    r->base += gone;
    r->n_blocks -= b;
    r->pos -= gone;
    r->stop -= gone;
    r->end -= gone;
    if (r->end < r->cap) {
        return 0;
    }
    if (r->cap > TOKEN_MAX) {
        return json_fail(r, GT_ELIMIT, err, "a string over %zu bytes", TOKEN_MAX);
    }
    char *buf = realloc(r->buf, 2 * r->cap);
    r->buf = buf ? buf : r->buf;
    struct json_block *block =
        buf ? realloc(r->block, 2 * r->cap / SCAN_BLOCK * sizeof *block) : NULL;
    r->block = block ? block : r->block;
    if (!block) {
        return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
    }
    r->cap *= 2;
    return 0;
}

int json_reader_feed(struct json_reader *r, const char *data, size_t len, struct gt_error *err)
{
    int rc = 0;
    while (len > 0 && rc == 0) {
        size_t room = r->cap - r->end, n = len < room ? len : room;
        memcpy(r->buf + r->end, data, n);
        r->end += n;
        data += n;
        len -= n;
        if (r->end / SCAN_BLOCK > r->n_blocks) {
            rc = advance(r, r->end, err);
            rc = rc ? rc : make_room(r, err);
        }
    }
    return rc;
}

int json_reader_end(struct json_reader *r, struct gt_error *err)
{
    size_t tail = r->end % SCAN_BLOCK;
    memset(r->buf + r->end, ' ', SCAN_BLOCK - tail);
    int rc = advance(r, r->end - tail + SCAN_BLOCK, err);
    if (rc != 0) {
        return rc;
    }
    bool empty = r->scan.state == JSON_AT_VALUE && r->depth == 0;
    if (r->scan.state != JSON_AT_END) {
        r->pos = r->end;
        return json_fail(r, GT_EPARSE, err,
                         empty ? "an empty document"
                               : "the document ends before its time: a cut file");
    }
    return 0;
}

int json_reader_next(struct json_reader *r, struct gt_error *err)
{
    int rc = json_reader_end(r, err);
    r->base = r->scan.offset;
    r->pos = r->stop = r->end = r->n_blocks = 0;
    r->lines = r->cut_column = r->counted_lines = 0;
    r->counted = 0;
    return rc;
}
