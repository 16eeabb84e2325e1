/* Fields of listings: counts, instants, URL escapes. Written for speed: a listing has 10^8 rows. */
#include "../sources/scan.h"
#include "gputier/units.h"
#include "inventory_priv.h"
#include <string.h>

bool digits_u64(const char *s, size_t len, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    if (len == 0 || len > 20) {
        return false;
    }
    for (; i < len && i < 19; i++) { /* too few to overflow */
        unsigned d = (unsigned)(s[i] - '0');
        if (d > 9) {
            return false;
        }
        v = v * 10 + d;
    }
    for (; i < len; i++) {
        unsigned d = (unsigned)(s[i] - '0');
        if (d > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v)) {
            return false;
        }
    }
    *out = v;
    return true;
}

/* Days since 1970-01-01 of a proleptic Gregorian date; years from 0 to 9999. */
static int64_t civil_days(int y, int m, int d)
{
    y += m > 2 ? 0 : -1; /* years from March: a leap day is the last of its year */
    int day_of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    unsigned from_400_bc = (unsigned)(y + 400);
    unsigned days = from_400_bc * 365 + from_400_bc / 4 - from_400_bc / 100 + from_400_bc / 400;
    return (int64_t)days + day_of_year - 146097 - 719468;
}

/* Two digits; negative when they are none. */
static int two(const char *s)
{
    unsigned a = (unsigned)(s[0] - '0'), b = (unsigned)(s[1] - '0');
    return a <= 9 && b <= 9 ? (int)(a * 10 + b) : -10000;
}

static int four(const char *s)
{
    return two(s) * 100 + two(s + 2);
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

/* "Z", " UTC", "+01:00", "+0100" or nothing, behind the time; *east = seconds ahead of UTC. */
static bool zone(const char *s, size_t len, int64_t *east)
{
    *east = 0;
    if (len == 0 || (len == 1 && (s[0] == 'Z' || s[0] == 'z')) ||
        (len == 4 && memcmp(s, " UTC", 4) == 0)) {
        return true;
    }
    bool colon = len == 6 && s[3] == ':';
    if ((s[0] != '+' && s[0] != '-') || (len != 5 && !colon)) {
        return false;
    }
    int64_t h = two(s + 1), m = two(s + 3 + colon);
    *east = (s[0] == '-' ? -1 : 1) * (h * 3600 + m * 60);
    return h >= 0 && h <= 23 && m >= 0 && m <= 59;
}

static bool clock_of(const char *s, int64_t *out)
{
    int64_t h = two(s), min = two(s + 3), sec = two(s + 6);
    *out = h * 3600 + min * 60 + sec;
    return s[2] == ':' && s[5] == ':' && h >= 0 && h <= 23 && min >= 0 && min <= 59 && sec >= 0 &&
           sec <= 60;
}

/* What S3 Inventory writes, "2026-11-30T23:59:59.000Z", its first 16 bytes judged at once; false:
 * another form, or a fraction. */
static bool iso_of_inventory(const char *s, size_t len, int64_t *out)
{
    static const scan_bytes least = {'0', '0', '0', '0', '-', '0', '0', '-',
                                     '0', '0', 'T', '0', '0', ':', '0', '0'};
    static const scan_bytes most = {9, 9, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9};
    if (len != 24 || s[16] != ':' || memcmp(s + 19, ".000Z", 5) != 0) {
        return false;
    }
    scan_bytes v = scan_load(s) - least;
    uint8_t d[16];
    memcpy(d, &v, sizeof d);
    int m = d[5] * 10 + d[6], day = d[8] * 10 + d[9], h = d[11] * 10 + d[12];
    int min = d[14] * 10 + d[15], sec = two(s + 17);
    if (scan_bits((scan_bytes)(v > most)) || m < 1 || m > 12 || day < 1 || day > 31 || h > 23 ||
        min > 59 || sec < 0 || sec > 60) {
        return false;
    }
    int y = d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3];
    *out = civil_days(y, m, day) * 86400 + h * 3600 + min * 60 + sec;
    return true;
}

static bool iso(const char *s, size_t len, int64_t *out)
{
    int y = four(s), m = two(s + 5), d = two(s + 8);
    int64_t clock, east;
    if (s[7] != '-' || y < 0 || m < 1 || m > 12 || d < 1 || d > 31) {
        return false;
    }
    *out = civil_days(y, m, d) * 86400;
    if (len == 10) {
        return true;
    }
    if (len < 19 || (s[10] != 'T' && s[10] != ' ') || !clock_of(s + 11, &clock)) {
        return false;
    }
    size_t end = 19;
    bool up = false;
    if (end < len && s[end] == '.') {
        while (++end < len && s[end] >= '0' && s[end] <= '9') {
            up = up || s[end] != '0';
        }
    }
    if (!zone(s + end, len - end, &east)) {
        return false;
    }
    *out += clock - east + up;
    return true;
}

static int month_of(const char *s)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int m = 0; m < 12; m++) {
        if (memcmp(s, names + 3 * m, 3) == 0) {
            return m + 1;
        }
    }
    return -1;
}

/* Day, month name, year, each with one byte between. */
static bool named_day(const char *s, int64_t *days)
{
    int d = two(s), m = month_of(s + 3), y = four(s + 7);
    *days = m > 0 ? civil_days(y, m, d) : 0;
    return d >= 1 && d <= 31 && m > 0 && y >= 0;
}

bool log_instant(const char *s, size_t len, int64_t *out)
{
    int64_t days, clock, east;
    if (len != 26 || s[2] != '/' || s[6] != '/' || s[11] != ':' || s[20] != ' ' ||
        !named_day(s, &days) || !clock_of(s + 12, &clock) || !zone(s + 21, 5, &east)) {
        return false;
    }
    *out = days * 86400 + clock - east;
    return true;
}

/* "Tue, 10 Feb 2026 07:28:12 GMT" */
static bool rfc1123(const char *s, int64_t *out)
{
    int64_t days, clock;
    if (s[4] != ' ' || s[16] != ' ' || memcmp(s + 25, " GMT", 4) != 0 || !named_day(s + 5, &days) ||
        !clock_of(s + 17, &clock)) {
        return false;
    }
    *out = days * 86400 + clock;
    return true;
}

bool instant(const char *s, size_t len, int64_t *out)
{
    if (len >= 10 && s[4] == '-') {
        return iso_of_inventory(s, len, out) || iso(s, len, out);
    }
    if (len == 29 && s[3] == ',') {
        return rfc1123(s, out);
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

size_t url_decode(const char *s, size_t len, char *to)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        if (c == '\0') {
            return SIZE_MAX;
        }
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
        to[out++] = c;
    }
    return out;
}
