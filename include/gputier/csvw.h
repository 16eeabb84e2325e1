/* The one CSV writer (RFC 4180, LF). A text cell that begins with = + - @ tab or CR gets a
 * leading apostrophe, so that no spreadsheet runs it; numbers go through csvw_number. */
#ifndef GPUTIER_CSVW_H
#define GPUTIER_CSVW_H
#include "gputier/buf.h"
#include "gputier/money.h"
#include <stdbool.h>
#include <stdint.h>

struct csvw {
    struct buf *out;
    bool row_started;
};
void csvw_init(struct csvw *w, struct buf *out);
void csvw_text(struct csvw *w, const char *s); /* NULL = empty */
void csvw_int(struct csvw *w, int64_t v);
void csvw_uint(struct csvw *w, uint64_t v);
void csvw_double(struct csvw *w, double v); /* NaN = empty */
void csvw_money(struct csvw *w, money m);
void csvw_empty(struct csvw *w);
void csvw_end_row(struct csvw *w);
void csvw_titles(struct csvw *w, const char *const *title, size_t n); /* a row of its own */
int csvw_finish(struct csvw *w);

#endif
