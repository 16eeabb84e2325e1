/* Fuzz: amounts, sizes, durations, instants, ranges and safe text take any bytes. */
#include "gputier/units.h"
#include "gputier/money.h"
#include "gputier/text.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *s = malloc(size + 1), buf[MONEY_TEXT], fixed[MONEY_TEXT];
    money m, again;
    double a, b;
    int64_t t;
    uint64_t n;
    if (!s) {
        return 0;
    }
    if (size) {
        memcpy(s, data, size);
    }
    s[size] = '\0';
    if (money_parse((const char *)data, size, &m, NULL) == 0) {
        money_format(m, buf);
        if (money_parse(buf, strlen(buf), &again, NULL) != 0 || again != m) {
            abort();
        }
        money_format_fixed(m, 2, true, fixed);
    }
    if (money_parse_round((const char *)data, size, &m, NULL) == 0) {
        money_format(m, buf);
    }
    if (duration_parse(s, false, &a, NULL) == 0 && !(a >= 0)) {
        abort();
    }
    if (range_parse(s, &a, &b, NULL) == 0 && !(a <= b)) {
        abort();
    }
    char shown[32];
    if (time_parse(s, 0, &t, NULL) == 0) {
        time_format(t, shown);
    }
    if (size_parse(s, &n, NULL) == 0) {
        size_format(n, shown);
    }
    (void)!count_parse(s, &n, NULL);
    (void)!number_parse(s, &a, NULL);
    struct buf out;
    buf_init(&out, 1 << 20);
    if (text_safe(&out, (const char *)data, size, false) == 0 && out.len) {
        if (!utf8_valid(out.data, out.len)) {
            abort();
        }
        size_t width = text_width(out.data, out.len);
        struct buf fit;
        buf_init(&fit, 1 << 20);
        if (text_fit(&fit, out.data, 20, -1, false) == 0 && width > 0 &&
            text_width(fit.data, fit.len) != 20) {
            abort();
        }
        buf_release(&fit);
    }
    buf_release(&out);
    free(s);
    return 0;
}
