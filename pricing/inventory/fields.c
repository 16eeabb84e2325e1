/* Fields of listings: counts, instants, URL escapes. Written for speed: a listing has 10^8 rows. */
#include "gputier/units.h"
#include "inventory_priv.h"

bool digits_u64(const char *s, size_t len, uint64_t *out)
{
    uint64_t v = 0;
    if (len == 0 || len > 20) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned d = (unsigned)(s[i] - '0');
        if (d > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v)) {
            return false;
        }
    }
    *out = v;
    return true;
}

/* Days since 1970-01-01 of a proleptic Gregorian date. */
static int64_t civil_days(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int64_t number(const char *s, size_t n)
{
    uint64_t v;
    return digits_u64(s, n, &v) ? (int64_t)v : -1;
}

/* Any digit other than zero after the point: the instant lies after the whole second. */
static bool fraction(const char *s, size_t len, bool *up)
{
    *up = false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return false;
        }
        *up = *up || s[i] != '0';
    }
    return true;
}

static bool iso(const char *s, size_t len, int64_t *out)
{
    int64_t y = number(s, 4), m = number(s + 5, 2), d = number(s + 8, 2);
    if (s[7] != '-' || y < 0 || m < 1 || m > 12 || d < 1 || d > 31) {
        return false;
    }
    *out = civil_days(y, m, d) * 86400;
    if (len == 10) {
        return true;
    }
    if (len < 19 || (s[10] != 'T' && s[10] != ' ') || s[13] != ':' || s[16] != ':') {
        return false;
    }
    int64_t h = number(s + 11, 2), min = number(s + 14, 2), sec = number(s + 17, 2);
    if (h < 0 || h > 23 || min < 0 || min > 59 || sec < 0 || sec > 60) {
        return false;
    }
    *out += h * 3600 + min * 60 + sec;
    size_t end = len;
    if (s[len - 1] == 'Z') {
        end--;
    }
    bool up = false;
    if (end > 19 && (s[19] != '.' || !fraction(s + 20, end - 20, &up))) {
        return false;
    }
    *out += up;
    return true;
}

bool instant(const char *s, size_t len, int64_t *out)
{
    if (len >= 10 && s[4] == '-') {
        return iso(s, len, out);
    }
    bool negative = len > 0 && s[0] == '-', up = false;
    s += negative;
    len -= negative;
    size_t point = 0;
    while (point < len && s[point] != '.') {
        point++;
    }
    uint64_t v;
    if (point > 17 || !digits_u64(s, point, &v) ||
        (point < len && !fraction(s + point + 1, len - point - 1, &up))) {
        return false;
    }
    *out = negative ? -(int64_t)v : (int64_t)v + up;
    return true;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

size_t url_decode(char *s, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int hi = i + 2 < len ? hex(s[i + 1]) : -1, lo = i + 2 < len ? hex(s[i + 2]) : -1;
            if (hi < 0 || lo < 0 || hi * 16 + lo == 0) {
                return SIZE_MAX;
            }
            c = (char)(hi * 16 + lo);
            i += 2;
        }
        s[out++] = c;
    }
    return out;
}
