/* The one JSON writer. Keys and strings are escaped, invalid UTF-8 becomes U+FFFD, numbers are
 * plain (integers without a point, doubles shortest round-trip), money a decimal string. A
 * caller error (value without key in an object, unbalanced end) is an assertion. Errors are
 * kept in the buffer (buf.failed); check jsonw_finish. */
#ifndef GPUTIER_JSONW_H
#define GPUTIER_JSONW_H
#include "gputier/buf.h"
#include "gputier/money.h"
#include <stdbool.h>
#include <stdint.h>

#define JSONW_DEPTH 32
struct jsonw {
    struct buf *out;
    bool pretty;
    int depth;
    char kind[JSONW_DEPTH];  /* '{' or '[' */
    bool first[JSONW_DEPTH]; /* no element written yet */
    bool after_key;
};
void jsonw_init(struct jsonw *w, struct buf *out, bool pretty);
void jsonw_object(struct jsonw *w);
void jsonw_end_object(struct jsonw *w);
void jsonw_array(struct jsonw *w);
void jsonw_end_array(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);
void jsonw_string(struct jsonw *w, const char *s);         /* NULL -> null */
void jsonw_string_or_null(struct jsonw *w, const char *s); /* "" or NULL -> null */
void jsonw_int(struct jsonw *w, int64_t v);
void jsonw_uint(struct jsonw *w, uint64_t v);
void jsonw_double(struct jsonw *w, double v); /* NaN and infinities -> null */
void jsonw_bool(struct jsonw *w, bool v);
void jsonw_null(struct jsonw *w);
void jsonw_money(struct jsonw *w, money m);     /* "12.34" */
void jsonw_time(struct jsonw *w, int64_t when); /* GT_TIME_NONE -> null */
/* key + value in one call */
void jsonw_kstring(struct jsonw *w, const char *key, const char *s);
void jsonw_kint(struct jsonw *w, const char *key, int64_t v);
void jsonw_kdouble(struct jsonw *w, const char *key, double v);
void jsonw_kbool(struct jsonw *w, const char *key, bool v);
void jsonw_kmoney(struct jsonw *w, const char *key, money m);
void jsonw_ktime(struct jsonw *w, const char *key, int64_t when);
void jsonw_knull(struct jsonw *w, const char *key);
void jsonw_kstrings(struct jsonw *w, const char *key, const char *const *list, size_t n);
int jsonw_finish(struct jsonw *w); /* 0, or GT_ENOMEM / GT_ELIMIT; asserts balance; adds "\n" */

#endif
