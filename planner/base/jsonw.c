/* The one JSON writer (jsonw.h). */
#include "gputier/jsonw.h"
#include "gputier/error.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void jsonw_init(struct jsonw *w, struct buf *out, bool pretty)
{
    *w = (struct jsonw){.out = out, .pretty = pretty, .depth = 0};
    w->first[0] = true;
}

static void newline(struct jsonw *w)
{
    if (w->pretty) {
        buf_addc(w->out, '\n');
        for (int i = 0; i < w->depth; i++) {
            buf_adds(w->out, "  ");
        }
    }
}

static void before_value(struct jsonw *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    assert(w->depth == 0 || w->kind[w->depth] == '[');
    if (!w->first[w->depth]) {
        buf_addc(w->out, ',');
    }
    w->first[w->depth] = false;
    if (w->depth) {
        newline(w);
    }
}

static void open_level(struct jsonw *w, char kind)
{
    before_value(w);
    assert(w->depth + 1 < JSONW_DEPTH);
    buf_addc(w->out, kind);
    w->kind[++w->depth] = kind;
    w->first[w->depth] = true;
}

static void close_level(struct jsonw *w, char kind, char end)
{
    assert(w->depth > 0 && w->kind[w->depth] == kind && !w->after_key);
    bool empty = w->first[w->depth];
    w->depth--;
    if (!empty) {
        newline(w);
    }
    buf_addc(w->out, end);
}

void jsonw_object(struct jsonw *w)
{
    open_level(w, '{');
}
void jsonw_end_object(struct jsonw *w)
{
    close_level(w, '{', '}');
}
void jsonw_array(struct jsonw *w)
{
    open_level(w, '[');
}
void jsonw_end_array(struct jsonw *w)
{
    close_level(w, '[', ']');
}

static void put_string(struct buf *out, const char *s)
{
    size_t len = strlen(s);
    buf_addc(out, '"');
    while (len) {
        uint32_t cp;
        size_t n = utf8_decode(s, len, &cp);
        if (n == 0) {
            buf_adds(out, "\xEF\xBF\xBD");
            n = 1;
        } else if (cp == '"' || cp == '\\') {
            buf_addc(out, '\\');
            buf_addc(out, (char)cp);
        } else if (cp == '\n') {
            buf_adds(out, "\\n");
        } else if (cp == '\t') {
            buf_adds(out, "\\t");
        } else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) {
            buf_addf(out, "\\u%04x", (unsigned)cp);
        } else {
            buf_add(out, s, n);
        }
        s += n;
        len -= n;
    }
    buf_addc(out, '"');
}

void jsonw_key(struct jsonw *w, const char *key)
{
    assert(w->depth > 0 && w->kind[w->depth] == '{' && !w->after_key);
    if (!w->first[w->depth]) {
        buf_addc(w->out, ',');
    }
    w->first[w->depth] = false;
    newline(w);
    put_string(w->out, key);
    buf_adds(w->out, w->pretty ? ": " : ":");
    w->after_key = true;
}

void jsonw_string(struct jsonw *w, const char *s)
{
    before_value(w);
    if (s) {
        put_string(w->out, s);
    } else {
        buf_adds(w->out, "null");
    }
}

void jsonw_string_or_null(struct jsonw *w, const char *s)
{
    jsonw_string(w, s && *s ? s : NULL);
}

void jsonw_int(struct jsonw *w, int64_t v)
{
    before_value(w);
    buf_addf(w->out, "%" PRId64, v);
}

void jsonw_uint(struct jsonw *w, uint64_t v)
{
    before_value(w);
    buf_addf(w->out, "%" PRIu64, v);
}

void jsonw_double(struct jsonw *w, double v)
{
    char text[40];
    before_value(w);
    buf_adds(w->out, isfinite(v) ? number_format(v, text) : "null");
}

void jsonw_bool(struct jsonw *w, bool v)
{
    before_value(w);
    buf_adds(w->out, v ? "true" : "false");
}

void jsonw_null(struct jsonw *w)
{
    before_value(w);
    buf_adds(w->out, "null");
}

void jsonw_money(struct jsonw *w, money m)
{
    char text[MONEY_TEXT];
    jsonw_string(w, money_format(m, text));
}

void jsonw_time(struct jsonw *w, int64_t when)
{
    char text[32];
    jsonw_string(w, when == GT_TIME_NONE ? NULL : time_format(when, text));
}

void jsonw_kstring(struct jsonw *w, const char *key, const char *s)
{
    jsonw_key(w, key);
    jsonw_string(w, s);
}
void jsonw_kint(struct jsonw *w, const char *key, int64_t v)
{
    jsonw_key(w, key);
    jsonw_int(w, v);
}
void jsonw_kdouble(struct jsonw *w, const char *key, double v)
{
    jsonw_key(w, key);
    jsonw_double(w, v);
}
void jsonw_kbool(struct jsonw *w, const char *key, bool v)
{
    jsonw_key(w, key);
    jsonw_bool(w, v);
}
void jsonw_kmoney(struct jsonw *w, const char *key, money m)
{
    jsonw_key(w, key);
    jsonw_money(w, m);
}
void jsonw_ktime(struct jsonw *w, const char *key, int64_t when)
{
    jsonw_key(w, key);
    jsonw_time(w, when);
}
void jsonw_knull(struct jsonw *w, const char *key)
{
    jsonw_key(w, key);
    jsonw_null(w);
}

void jsonw_kstrings(struct jsonw *w, const char *key, const char *const *list, size_t n)
{
    jsonw_key(w, key);
    jsonw_array(w);
    for (size_t i = 0; i < n; i++) {
        jsonw_string(w, list[i]);
    }
    jsonw_end_array(w);
}

int jsonw_finish(struct jsonw *w)
{
    assert(w->depth == 0 && !w->after_key);
    buf_addc(w->out, '\n');
    return w->out->failed ? GT_ELIMIT : 0;
}
