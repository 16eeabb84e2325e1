/* Availability traces: run-length CSV to an expanded series (spot-policies.md section 1).
 *
 * "# key=value" lines (gap_s and n are needed, unknown_ticks is kept), the header
 * t_s,avail[,price], one row per change, and the end marker t_s = n * gap_s, avail = -1. A trace
 * with a hole in it (first row not at 0, a time off the grid or out of order, no end marker) is
 * refused: what the provider did there is unknown, and any guess would be an answer about something
 * else. */
#include "gputier/spot.h"
#include <stdio.h>
#include <string.h>

struct reader {
    const char *p, *end, *file;
    long line;
    int64_t gap_s, n, unknown;
    int32_t *count;
    int64_t filled; /* ticks written */
    int32_t value;
    bool header, has_price, ended;
};

static int fail(const struct reader *r, struct gt_error *err, const char *text, const char *found,
                size_t len)
{
    char where[160];
    snprintf(where, sizeof where, "%s:%ld", r->file, r->line);
    if (!found) {
        return gt_fail(err, GT_EPARSE, where, "%s", text);
    }
    int shown = len > 40 ? 40 : (int)len;
    return gt_fail(err, GT_EPARSE, where, "%s, found \"%.*s\"", text, shown, found);
}

/* Whole decimal integer within +-10^15. */
static bool integer(const char *s, size_t len, int64_t *out)
{
    bool negative = len && *s == '-';
    size_t i = negative ? 1 : 0;
    int64_t v = 0;
    if (i == len) {
        return false;
    }
    for (; i < len; i++) {
        if (s[i] < '0' || s[i] > '9' || v > 100000000000000) {
            return false;
        }
        v = v * 10 + (s[i] - '0');
    }
    *out = negative ? -v : v;
    return true;
}

/* Plain decimal number or nothing: the price column is informative, but not garbage. */
static bool price_text(const char *s, size_t len)
{
    size_t digits = 0, points = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] >= '0' && s[i] <= '9') {
            digits++;
        } else if (s[i] == '.') {
            points++;
        } else if (s[i] != '-' || i) {
            return false;
        }
    }
    return len == 0 || (digits && points <= 1);
}

static int comment(struct reader *r, const char *s, size_t len, struct gt_error *err)
{
    size_t i = 1;
    while (i < len && s[i] == ' ') {
        i++;
    }
    const char *eq = memchr(s + i, '=', len - i);
    if (!eq) {
        return 0;
    }
    size_t key = (size_t)(eq - s) - i, at = (size_t)(eq - s) + 1;
    if (key == 5 && !memcmp(s + i, "gap_s", 5)) {
        if (!integer(s + at, len - at, &r->gap_s) || r->gap_s < 1 || r->gap_s > 86400) {
            return fail(r, err, "gap_s must be a whole number of seconds from 1 to 86400", s + at,
                        len - at);
        }
    } else if (key == 1 && s[i] == 'n') {
        if (!integer(s + at, len - at, &r->n) || r->n < 1 || r->n > SPOT_MAX_TICKS) {
            return fail(r, err, "n must be a count of samples from 1 to 10000000", s + at,
                        len - at);
        }
    } else if (key == 13 && !memcmp(s + i, "unknown_ticks", 13)) {
        if (!integer(s + at, len - at, &r->unknown) || r->unknown < 0) {
            return fail(r, err, "unknown_ticks must be a count", s + at, len - at);
        }
    }
    return 0;
}

static int header(struct reader *r, const char *s, size_t len, struct arena *a,
                  struct gt_error *err)
{
    if (!r->gap_s || !r->n) {
        return fail(r, err, "a trace starts with the lines \"# gap_s=\" and \"# n=\"", s, len);
    }
    if (len == 9 && !memcmp(s, "t_s,avail", 9)) {
        r->has_price = false;
    } else if (len == 15 && !memcmp(s, "t_s,avail,price", 15)) {
        r->has_price = true;
    } else {
        return fail(r, err, "the header must be t_s,avail or t_s,avail,price", s, len);
    }
    r->count = arena_array(a, (size_t)r->n, sizeof *r->count);
    if (!r->count) {
        return gt_fail(err, GT_ENOMEM, r->file, "out of memory for %lld samples", (long long)r->n);
    }
    r->header = true;
    return 0;
}

/* The value held so far fills the ticks before t. */
static void fill(struct reader *r, int64_t tick)
{
    for (; r->filled < tick; r->filled++) {
        r->count[r->filled] = r->value;
    }
}

static int row(struct reader *r, const char *s, size_t len, bool first, struct gt_error *err)
{
    const char *comma = memchr(s, ',', len);
    const char *second = comma ? comma + 1 : NULL;
    const char *price = second ? memchr(second, ',', len - (size_t)(second - s)) : NULL;
    int64_t t = 0, avail = 0;
    if (r->ended) {
        return fail(r, err, "a row follows the end marker", s, len);
    }
    if (!comma || (price != NULL) != r->has_price) {
        return fail(r, err,
                    r->has_price ? "a row has three fields: t_s,avail,price"
                                 : "a row has two fields: t_s,avail",
                    s, len);
    }
    size_t second_len = (size_t)((price ? price : s + len) - second);
    if (!integer(s, (size_t)(comma - s), &t)) {
        return fail(r, err, "t_s must be a whole number of seconds", s, (size_t)(comma - s));
    }
    if (!integer(second, second_len, &avail) || avail < -1 || avail > 1000000) {
        return fail(r, err, "avail must be a count of nodes from 0 to 1000000, or -1 at the end",
                    second, second_len);
    }
    if (price && !price_text(price + 1, (size_t)(s + len - price) - 1)) {
        return fail(r, err, "price must be a decimal number or empty", price + 1,
                    (size_t)(s + len - price) - 1);
    }
    if (first && t != 0) {
        return fail(r, err, "the series has a gap: the first row must be at t_s 0", s, len);
    }
    if (t % r->gap_s) {
        return fail(r, err, "t_s is not a multiple of gap_s", s, len);
    }
    if (!first && t / r->gap_s <= r->filled) {
        return fail(r, err, "t_s must rise from row to row", s, len);
    }
    if (avail == -1) {
        if (t != r->n * r->gap_s || first) {
            return fail(r, err, "the end marker must stand at n times gap_s", s, len);
        }
        fill(r, r->n);
        r->ended = true;
        return 0;
    }
    if (t / r->gap_s >= r->n) {
        return fail(r, err, "t_s lies past the end of the trace (n times gap_s)", s, len);
    }
    /* r->filled is the tick of the row before; everything up to here holds its value. */
    fill(r, t / r->gap_s);
    r->value = (int32_t)avail;
    return 0;
}

int spot_trace_parse(const char *text, size_t len, const char *file, struct arena *a,
                     struct spot_trace *out, struct gt_error *err)
{
    struct reader r = {.p = text, .end = text + len, .file = file ? file : "trace"};
    bool first = true;
    int rc = 0;
    while (!rc && r.p < r.end) {
        const char *nl = memchr(r.p, '\n', (size_t)(r.end - r.p));
        const char *line = r.p, *stop = nl ? nl : r.end;
        r.p = nl ? nl + 1 : r.end;
        r.line++;
        if (stop > line && stop[-1] == '\r') {
            stop--;
        }
        size_t n = (size_t)(stop - line);
        if (n == 0) {
            continue;
        }
        if (*line == '#' && !r.header) {
            rc = comment(&r, line, n, err);
        } else if (!r.header) {
            rc = header(&r, line, n, a, err);
        } else {
            rc = row(&r, line, n, first, err);
            first = false;
        }
    }
    if (rc) {
        return rc;
    }
    if (!r.ended) {
        return fail(&r, err, "the trace has no end marker (t_s = n times gap_s, avail = -1)", NULL,
                    0);
    }
    *out = (struct spot_trace){
        .gap_s = r.gap_s, .n = (size_t)r.n, .count = r.count, .unknown = r.unknown};
    return 0;
}
