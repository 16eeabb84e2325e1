/* The one CSV writer (csvw.h): RFC 4180 quoting, formula cells neutralised. */
#include "gputier/csvw.h"
#include "gputier/error.h"
#include "gputier/units.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

void csvw_init(struct csvw *w, struct buf *out)
{
    *w = (struct csvw){.out = out};
}

static void separator(struct csvw *w)
{
    if (w->row_started) {
        buf_addc(w->out, ',');
    }
    w->row_started = true;
}

void csvw_text(struct csvw *w, const char *s)
{
    separator(w);
    if (!s || !*s) {
        return;
    }
    /* "'=" gets one more too, so that who takes one away has what was there */
    const char first = s[strspn(s, "'")];
    bool formula = first && strchr("=+-@\t\r", first);
    if (!formula && !strpbrk(s, ",\"\n\r")) {
        buf_adds(w->out, s);
        return;
    }
    buf_addc(w->out, '"');
    if (formula) {
        buf_addc(w->out, '\'');
    }
    for (; *s; s++) {
        if (*s == '"') {
            buf_addc(w->out, '"');
        }
        buf_addc(w->out, *s);
    }
    buf_addc(w->out, '"');
}

void csvw_int(struct csvw *w, int64_t v)
{
    separator(w);
    buf_addf(w->out, "%" PRId64, v);
}

void csvw_uint(struct csvw *w, uint64_t v)
{
    separator(w);
    buf_addf(w->out, "%" PRIu64, v);
}

void csvw_double(struct csvw *w, double v)
{
    char text[40];
    separator(w);
    if (isfinite(v)) {
        buf_adds(w->out, number_format(v, text));
    }
}

void csvw_money(struct csvw *w, money m)
{
    char text[MONEY_TEXT];
    separator(w);
    buf_adds(w->out, money_format(m, text));
}

void csvw_empty(struct csvw *w)
{
    separator(w);
}

void csvw_end_row(struct csvw *w)
{
    buf_addc(w->out, '\n');
    w->row_started = false;
}

void csvw_titles(struct csvw *w, const char *const *title, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        csvw_text(w, title[i]);
    }
    csvw_end_row(w);
}

int csvw_finish(struct csvw *w)
{
    return w->out->failed ? GT_ELIMIT : 0;
}
