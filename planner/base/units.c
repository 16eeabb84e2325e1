/* Sizes, durations, instants, numbers: text <-> value (rules in units.h,
 * product.md section 2). */
#include "gputier/units.h"
#include "gputier/money.h"
#include "gputier/text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suffix {
    const char *text;
    double factor;
};

static int fail_at(struct gt_error *err, const char *text, size_t at, const char *expected)
{
    char where[40], shown[64];
    size_t n = 0;
    for (const char *p = text; *p && n < sizeof shown - 1; p++) {
        shown[n++] = (unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p;
    }
    shown[n] = '\0';
    snprintf(where, sizeof where, "character %zu", at + 1);
    return gt_fail(err, GT_EPARSE, where, "found '%s', expected %s", shown, expected);
}

/* Unsigned decimal at *p; strtod would take hex, inf and locale commas. */
static bool scan_number(const char **p, double *v)
{
    const char *s = *p, *start = s;
    bool digits = false;
    while (isdigit((unsigned char)*s)) {
        digits = true;
        s++;
    }
    if (*s == '.') {
        s++;
        while (isdigit((unsigned char)*s)) {
            digits = true;
            s++;
        }
    }
    if (!digits) {
        return false;
    }
    if ((*s == 'e' || *s == 'E') &&
        (isdigit((unsigned char)s[1]) ||
         ((s[1] == '-' || s[1] == '+') && isdigit((unsigned char)s[2])))) {
        s += 2;
        while (isdigit((unsigned char)*s)) {
            s++;
        }
    }
    if (s - start > 60) {
        return false;
    }
    char tmp[64];
    memcpy(tmp, start, (size_t)(s - start));
    tmp[s - start] = '\0';
    *v = strtod(tmp, NULL);
    *p = s;
    return isfinite(*v);
}

static const struct suffix *find_suffix(const struct suffix *table, const char *s, size_t len)
{
    for (; table->text; table++) {
        if (strlen(table->text) == len && strncasecmp(table->text, s, len) == 0) {
            return table;
        }
    }
    return NULL;
}

int size_parse(const char *text, uint64_t *bytes, struct gt_error *err)
{
    static const struct suffix table[] = {{"", 1},
                                          {"B", 1},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"PB", 1e15},
                                          {"KiB", 1024.0},
                                          {"MiB", 1048576.0},
                                          {"GiB", 1073741824.0},
                                          {"TiB", 1099511627776.0},
                                          {"PiB", 1125899906842624.0},
                                          {NULL, 0}};
    static const char *const want = "a size such as 150GiB, 12GB or 4096";
    const char *p = text;
    double v;
    if (!scan_number(&p, &v)) {
        return fail_at(err, text, (size_t)(p - text), want);
    }
    while (*p == ' ') {
        p++;
    }
    size_t len = strlen(p);
    const struct suffix *s = find_suffix(table, p, len);
    if (!s) {
        return fail_at(err, text, (size_t)(p - text),
                       "KB, MB, GB, TB, PB (powers of 1000) or KiB, MiB, GiB, TiB, "
                       "PiB (of 1024)");
    }
    /* Exact while the decimal has at most 12 places: 1.1GB is 1,100,000,000
     * bytes. */
    const char *end = p;
    while (end > text && end[-1] == ' ') {
        end--;
    }
    money m, product;
    int rc = money_parse_round(text, (size_t)(end - text), &m, err);
    if (rc) {
        return rc;
    }
    rc = money_mul_ratio(m, (gt_u128)s->factor, 1, &product);
    if (rc || product / MONEY_SCALE > (money)(INT64_MAX)) {
        return gt_fail(err, GT_ERANGE, "", "size '%.60s' is larger than 8 EiB", text);
    }
    *bytes = (uint64_t)((product + MONEY_SCALE / 2) / MONEY_SCALE);
    return 0;
}

const char *size_format(uint64_t bytes, char buf[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 999.5 && u < 6) {
        v /= 1024;
        u++;
    }
    if (u == 0) {
        snprintf(buf, 32, "%d B", (int)bytes);
    } else {
        snprintf(buf, 32, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit[u]);
    }
    return buf;
}

int duration_parse(const char *text, bool long_only, double *seconds, struct gt_error *err)
{
    static const struct suffix table[] = {{"s", 1},
                                          {"min", 60},
                                          {"m", 60},
                                          {"h", 3600},
                                          {"d", 86400},
                                          {"w", 604800},
                                          {"mo", 730 * 3600.0},
                                          {"y", 8760 * 3600.0},
                                          {NULL, 0}};
    const char *p = text;
    double total = 0;
    bool any = false;
    while (*p) {
        double v;
        while (*p == ' ') {
            p++;
        }
        const char *start = p;
        if (!scan_number(&p, &v)) {
            break;
        }
        while (*p == ' ') {
            p++;
        }
        const char *u = p;
        while (isalpha((unsigned char)*p)) {
            p++;
        }
        const struct suffix *s = find_suffix(table, u, (size_t)(p - u));
        if (!s) {
            return fail_at(err, text, (size_t)(u - text),
                           "a unit: s, min (or m), h, d, w, mo (months) or y");
        }
        if (long_only && (s->factor < 86400)) {
            return fail_at(err, text, (size_t)(u - text),
                           "d, w, mo (months) or y here; m would be minutes: write "
                           "mo for months");
        }
        total += v * s->factor;
        any = true;
        if (p == start) {
            break;
        }
    }
    if (!any || *p || !isfinite(total) || total > 1e12) {
        return fail_at(err, text, (size_t)(p - text),
                       "a duration such as 72h, 30min, 1h30min or 12mo");
    }
    *seconds = total;
    return 0;
}

const char *duration_format(double s, char buf[32])
{
    if (!isfinite(s) || s < 0) {
        snprintf(buf, 32, "never");
    } else if (s < 1) {
        snprintf(buf, 32, "%.3g s", s);
    } else if (s < 59.5) {
        snprintf(buf, 32, "%.0f s", s);
    } else if (s < 3570) {
        snprintf(buf, 32, "%.0f min", s / 60);
    } else if (s < 86400) {
        long m = lround(s / 60);
        if (m % 60) {
            snprintf(buf, 32, "%ld h %ld min", m / 60, m % 60);
        } else {
            snprintf(buf, 32, "%ld h", m / 60);
        }
    } else {
        long h = lround(s / 3600);
        if (h % 24) {
            snprintf(buf, 32, "%ld d %ld h", h / 24, h % 24);
        } else {
            snprintf(buf, 32, "%ld d", h / 24);
        }
    }
    return buf;
}

/* Days since 1970-01-01 of a proleptic Gregorian date. */
static int64_t days_from_civil(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static void civil_from_days(int64_t z, int64_t *y, int *m, int *d)
{
    z += 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = yoe + era * 400 + (*m <= 2);
}

static bool two_digits(const char **p, int *v)
{
    if (!isdigit((unsigned char)(*p)[0]) || !isdigit((unsigned char)(*p)[1])) {
        return false;
    }
    *v = ((*p)[0] - '0') * 10 + ((*p)[1] - '0');
    *p += 2;
    return true;
}

static bool scan_zone(const char **p, int32_t local, int32_t *offset)
{
    *offset = local;
    if (**p == 'Z' || **p == 'z') {
        *offset = 0;
        (*p)++;
    } else if (**p == '+' || **p == '-') {
        int sign = **p == '-' ? -1 : 1, h, m = 0;
        (*p)++;
        if (!two_digits(p, &h)) {
            return false;
        }
        if (**p == ':') {
            (*p)++;
        }
        if (**p && !two_digits(p, &m)) {
            return false;
        }
        if (h > 18 || m > 59) {
            return false;
        }
        *offset = sign * (h * 3600 + m * 60);
    }
    return true;
}

int time_parse(const char *text, int32_t local_offset_s, int64_t *when, struct gt_error *err)
{
    static const char *const want = "a date or time such as 2026-12-11 or 2026-12-11T18:00:00Z";
    static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char *p = text;
    int cent, yy, mon, day, h = 0, m = 0, s = 0;
    int32_t offset = local_offset_s;
    if (!two_digits(&p, &cent) || !two_digits(&p, &yy) || *p++ != '-' || !two_digits(&p, &mon) ||
        *p++ != '-' || !two_digits(&p, &day)) {
        return fail_at(err, text, 0, want);
    }
    int year = cent * 100 + yy;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (mon < 1 || mon > 12 || day < 1 || day > month_days[mon - 1] ||
        (mon == 2 && day == 29 && !leap)) {
        return fail_at(err, text, 5, "a day that exists");
    }
    if (*p == 'T' || *p == 't' || *p == ' ') {
        p++;
        if (!two_digits(&p, &h) || *p++ != ':' || !two_digits(&p, &m)) {
            return fail_at(err, text, 11, "hh:mm after the date");
        }
        if (*p == ':') {
            p++;
            if (!two_digits(&p, &s)) {
                return fail_at(err, text, (size_t)(p - text), "seconds");
            }
            if (*p == '.' || *p == ',') { /* fractions of a second are dropped */
                p++;
                while (isdigit((unsigned char)*p)) {
                    p++;
                }
            }
        }
        if (h > 24 || m > 59 || s > 60 || (h == 24 && (m || s))) {
            return fail_at(err, text, 11, "a time of day");
        }
    }
    if (!scan_zone(&p, local_offset_s, &offset) || *p) {
        return fail_at(err, text, (size_t)(p - text), "Z, +hh:mm or the end");
    }
    *when = days_from_civil(year, mon, day) * 86400 + h * 3600 + m * 60 + s - offset;
    return 0;
}

const char *time_format(int64_t when, char buf[32])
{
    int64_t days = when / 86400, rest = when % 86400, y;
    int m, d;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    civil_from_days(days, &y, &m, &d);
    snprintf(buf, 32, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)(y % 100000), m, d, (int)(rest / 3600),
             (int)(rest / 60 % 60), (int)(rest % 60));
    return buf;
}

const char *date_format(int64_t when, char buf[16])
{
    char full[32];
    snprintf(buf, 16, "%.10s", time_format(when, full));
    return buf;
}

int number_parse(const char *text, double *value, struct gt_error *err)
{
    const char *p = text;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') {
        p++;
    }
    if (!scan_number(&p, value) || *p) {
        return fail_at(err, text, (size_t)(p - text), "a number");
    }
    if (negative) {
        *value = -*value;
    }
    return 0;
}

const char *number_format(double v, char buf[40])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 40, "%.*g", digits, v);
        if (strtod(buf, NULL) == v) {
            break;
        }
    }
    return buf;
}

int count_parse(const char *text, uint64_t *value, struct gt_error *err)
{
    static const struct suffix table[] = {{"", 1},    {"K", 1e3},  {"M", 1e6}, {"B", 1e9},
                                          {"G", 1e9}, {"T", 1e12}, {NULL, 0}};
    const char *p = text;
    double v;
    if (!scan_number(&p, &v)) {
        return fail_at(err, text, (size_t)(p - text), "a count such as 1281167 or 4.2M");
    }
    const struct suffix *s = find_suffix(table, p, strlen(p));
    if (!s) {
        return fail_at(err, text, (size_t)(p - text), "K, M, B or T after a count");
    }
    v *= s->factor;
    if (v > 9e18 || fabs(v - nearbyint(v)) > 1e-6 * fmax(1, v)) {
        return fail_at(err, text, 0, "a whole number below 9e18");
    }
    *value = (uint64_t)nearbyint(v);
    return 0;
}

int range_parse(const char *text, double *lo, double *hi, struct gt_error *err)
{
    const char *p = text;
    static const char *const want = "a number or a range such as 1-16 or 0.4..0.7";
    if (!scan_number(&p, lo)) {
        /* "0.4..0.7": the scanner stops in front of the second point only if the
         * first belongs to the number, so "1..2" is split by hand. */
        return fail_at(err, text, 0, want);
    }
    *hi = *lo;
    if (!*p) {
        return 0;
    }
    if (p > text && p[-1] == '.' && *p == '.') {
        p++; /* "1..2": "1." was read as the number */
    } else if (p[0] == '.' && p[1] == '.') {
        p += 2;
    } else if (*p == '-') {
        p++;
    } else {
        return fail_at(err, text, (size_t)(p - text), want);
    }
    if (!scan_number(&p, hi) || *p) {
        return fail_at(err, text, (size_t)(p - text), want);
    }
    if (*hi < *lo) {
        return fail_at(err, text, 0, "the smaller end of the range first");
    }
    return 0;
}
