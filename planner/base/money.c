/* Exact money in 10^-12 units: parsing, printing, 256-bit multiply-divide
 * (product.md section 4). */
#include "gputier/money.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FRACTION_DIGITS 12
#define MAX_PARTS       4096
#define U128_MAX        (~(gt_u128)0)
#define MONEY_MAX       ((money)(U128_MAX >> 1))

static int bad_number(struct gt_error *err, const char *text, size_t len, size_t at,
                      const char *expected)
{
    char where[40];
    snprintf(where, sizeof where, "character %zu", at + 1);
    return gt_fail(err, GT_EPARSE, where, "found '%.*s', expected %s", (int)(len > 60 ? 60 : len),
                   text, expected);
}

/* A decimal as digits x 10^exp10; at most 38 significant digits are kept,
 * `lost` tells whether a non-zero digit was dropped. */
struct decimal {
    gt_u128 digits;
    long exp10;
    bool negative, lost;
};

static int decimal_scan(const char *t, size_t len, struct decimal *d, struct gt_error *err)
{
    size_t i = 0;
    bool any = false, point = false;
    *d = (struct decimal){0};
    if (i < len && (t[i] == '-' || t[i] == '+')) {
        d->negative = t[i] == '-';
        i++;
    }
    for (; i < len; i++) {
        if (t[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (t[i] < '0' || t[i] > '9') {
            break;
        }
        unsigned v = (unsigned)(t[i] - '0');
        any = true;
        if (d->digits <= (U128_MAX - 9) / 10) {
            d->digits = d->digits * 10 + v;
            d->exp10 -= point;
        } else {
            d->lost = d->lost || v != 0;
            d->exp10 += !point;
        }
    }
    if (!any) {
        return bad_number(err, t, len, i, "a decimal number");
    }
    if (i < len && (t[i] == 'e' || t[i] == 'E')) {
        long e = 0;
        bool neg = false;
        size_t start;
        i++;
        if (i < len && (t[i] == '-' || t[i] == '+')) {
            neg = t[i++] == '-';
        }
        for (start = i; i < len && t[i] >= '0' && t[i] <= '9'; i++) {
            if (e < 100000) {
                e = e * 10 + (t[i] - '0');
            }
        }
        if (i == start) {
            return bad_number(err, t, len, i, "digits of an exponent");
        }
        d->exp10 += neg ? -e : e;
    }
    return i == len ? 0 : bad_number(err, t, len, i, "the end of a decimal number");
}

static int parse(const char *text, size_t len, bool round, money *out, struct gt_error *err)
{
    struct decimal d;
    int rc = decimal_scan(text, len, &d, err);
    if (rc) {
        return rc;
    }
    gt_u128 v = d.digits;
    long shift = d.exp10 + FRACTION_DIGITS;
    bool lost = d.lost;
    for (; shift > 0 && v != 0; shift--) {
        if (v > U128_MAX / 10) {
            return gt_fail(err, GT_ERANGE, "", "amount '%.*s' is too large", (int)len, text);
        }
        v *= 10;
    }
    unsigned last = 0; /* the digit dropped last, the first after the new end */
    for (; shift < 0 && v != 0; shift++) {
        lost = lost || last != 0;
        last = (unsigned)(v % 10);
        v /= 10;
    }
    if (shift < 0) { /* more digits dropped than there were */
        lost = lost || last != 0;
        last = 0;
    }
    if ((last || lost) && !round) {
        return gt_fail(err, GT_ERANGE, "", "amount '%.*s' has more than 12 decimals",
                       (int)(len > 60 ? 60 : len), text);
    }
    if (last > 5 || (last == 5 && (lost || (v & 1)))) {
        v++;
    }
    if (v > (gt_u128)MONEY_MAX) {
        return gt_fail(err, GT_ERANGE, "", "amount '%.*s' is too large", (int)len, text);
    }
    *out = d.negative ? -(money)v : (money)v;
    return 0;
}

int money_parse(const char *text, size_t len, money *out, struct gt_error *err)
{
    return parse(text, len, false, out, err);
}

int money_parse_round(const char *text, size_t len, money *out, struct gt_error *err)
{
    return parse(text, len, true, out, err);
}

int money_from_double(double value, money *out)
{
    char text[40];
    if (!isfinite(value)) {
        return GT_ERANGE;
    }
    int n = snprintf(text, sizeof text, "%.17g", value);
    return parse(text, (size_t)n, true, out, NULL);
}

double money_to_double(money m)
{
    /* Whole and fraction apart: each is exact in a double up to 2^53. */
    return (double)(m / MONEY_SCALE) + (double)(m % MONEY_SCALE) / 1e12;
}

static gt_u128 magnitude(money m)
{
    return m < 0 ? (gt_u128)0 - (gt_u128)m : (gt_u128)m;
}

static char *put_u128(char *end, gt_u128 v)
{
    for (; v > UINT64_MAX; v /= 10) { /* divisions of 128 bits are slow */
        *--end = (char)('0' + (int)(v % 10));
    }
    uint64_t low = (uint64_t)v;
    do {
        *--end = (char)('0' + (int)(low % 10));
        low /= 10;
    } while (low);
    return end;
}

const char *money_format(money m, char buf[MONEY_TEXT])
{
    gt_u128 v = magnitude(m);
    gt_u128 scale = (gt_u128)MONEY_SCALE;
    uint64_t frac = (uint64_t)(v % scale);
    char tmp[MONEY_TEXT];
    char *p = put_u128(tmp + 44, v / scale);
    size_t n = 0;
    if (m < 0) {
        buf[n++] = '-';
    }
    memcpy(buf + n, p, (size_t)(tmp + 44 - p));
    n += (size_t)(tmp + 44 - p);
    if (frac) {
        size_t digits = FRACTION_DIGITS;
        for (; frac % 10 == 0; frac /= 10) {
            digits--;
        }
        buf[n] = '.';
        for (size_t i = digits; i > 0; i--, frac /= 10) {
            buf[n + i] = (char)('0' + (int)(frac % 10));
        }
        n += digits + 1;
    }
    buf[n] = '\0';
    return buf;
}

static gt_u128 pow10_u128(int n)
{
    gt_u128 v = 1;
    while (n-- > 0) {
        v *= 10;
    }
    return v;
}

const char *money_format_fixed(money m, int digits, bool group, char buf[MONEY_TEXT])
{
    if (digits < 0 || digits > FRACTION_DIGITS) {
        digits = FRACTION_DIGITS;
    }
    gt_u128 unit = pow10_u128(FRACTION_DIGITS - digits);
    gt_u128 v = magnitude(m), q = v / unit, r = v % unit;
    if (r * 2 > unit || (r * 2 == unit && (q & 1))) {
        q++;
    }
    gt_u128 one = pow10_u128(digits);
    char tmp[MONEY_TEXT];
    char *end = tmp + sizeof tmp, *p = end;
    gt_u128 frac = q % one, whole = q / one;
    for (int i = 0; i < digits; i++) {
        *--p = (char)('0' + (int)(frac % 10));
        frac /= 10;
    }
    if (digits) {
        *--p = '.';
    }
    int k = 0;
    do {
        if (group && k && k % 3 == 0) {
            *--p = ',';
        }
        *--p = (char)('0' + (int)(whole % 10));
        whole /= 10;
        k++;
    } while (whole);
    if (m < 0 && q) {
        *--p = '-';
    }
    memcpy(buf, p, (size_t)(end - p));
    buf[end - p] = '\0';
    return buf;
}

/* 128 x 128 -> 256 bits, as high and low halves. */
static void mul_wide(gt_u128 a, gt_u128 b, gt_u128 *hi, gt_u128 *lo)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    gt_u128 p00 = (gt_u128)a0 * b0, p01 = (gt_u128)a0 * b1;
    gt_u128 p10 = (gt_u128)a1 * b0, p11 = (gt_u128)a1 * b1;
    gt_u128 mid = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;
    *lo = (mid << 64) | (uint64_t)p00;
    *hi = p11 + (p01 >> 64) + (p10 >> 64) + (mid >> 64);
}

/* (hi, lo) / d for hi < d, bit by bit: bills have few lines, exactness is what
 * counts. */
static gt_u128 div_wide(gt_u128 hi, gt_u128 lo, gt_u128 d, gt_u128 *rem)
{
    gt_u128 q = 0;
    if (hi == 0) {
        *rem = lo % d;
        return lo / d;
    }
    for (int i = 0; i < 128; i++) {
        gt_u128 carry = hi >> 127;
        hi = (hi << 1) | (lo >> 127);
        lo <<= 1;
        q <<= 1;
        if (carry || hi >= d) {
            hi -= d;
            q |= 1;
        }
    }
    *rem = hi;
    return q;
}

int money_mul_ratio(money rate, gt_u128 num, gt_u128 den, money *out)
{
    gt_u128 hi, lo, rem;
    if (den == 0) {
        return GT_EINVALID;
    }
    mul_wide(magnitude(rate), num, &hi, &lo);
    if (hi >= den) {
        return GT_ERANGE;
    }
    gt_u128 q = div_wide(hi, lo, den, &rem);
    gt_u128 rest = den - rem;
    if (rem > rest || (rem == rest && (q & 1))) {
        q++;
    }
    if (q > (gt_u128)MONEY_MAX) {
        return GT_ERANGE;
    }
    *out = rate < 0 ? -(money)q : (money)q;
    return 0;
}

int money_mul_decimal(money rate, money quantity, money *out)
{
    money v;
    int rc = money_mul_ratio(rate, magnitude(quantity), (gt_u128)MONEY_SCALE, &v);
    if (!rc) {
        *out = quantity < 0 ? -v : v;
    }
    return rc;
}

int money_add(money a, money b, money *out)
{
    return __builtin_add_overflow(a, b, out) ? GT_ERANGE : 0;
}

int money_minor_digits(const char *currency)
{
    static const char *const none[] = {"JPY", "KRW", "VND", "CLP", "ISK",
                                       "PYG", "UGX", "XAF", "XOF"};
    static const char *const three[] = {"BHD", "KWD", "OMR", "JOD", "TND", "IQD", "LYD"};
    for (size_t i = 0; currency && i < sizeof none / sizeof *none; i++) {
        if (strcmp(currency, none[i]) == 0) {
            return 0;
        }
    }
    for (size_t i = 0; currency && i < sizeof three / sizeof *three; i++) {
        if (strcmp(currency, three[i]) == 0) {
            return 3;
        }
    }
    return 2;
}

static money floor_unit(money v, money unit)
{
    money q = v / unit;
    return (q * unit > v ? q - 1 : q) * unit;
}

/* Largest remainder: floors first, then one unit each to the largest remainders (ties: the
 * earlier part) until the parts reach the total. */
int money_round_parts_to(const money *part, size_t n, int digits, money total, money *out)
{
    if (digits < 0 || digits > FRACTION_DIGITS || n > MAX_PARTS) {
        return GT_EINVALID;
    }
    money unit = (money)pow10_u128(FRACTION_DIGITS - digits);
    money floors = 0, rem[MAX_PARTS];
    for (size_t i = 0; i < n; i++) {
        money f = floor_unit(part[i], unit);
        rem[i] = part[i] - f;
        out[i] = f;
        floors += f;
    }
    money left = (total - floors) / unit;
    if (total % unit != 0 || left < 0 || left > (money)n) {
        return GT_EINVALID;
    }
    for (; left > 0; left--) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++) {
            if (rem[i] > rem[best]) {
                best = i;
            }
        }
        out[best] += unit;
        rem[best] = -1;
    }
    return 0;
}

int money_round_parts(const money *part, size_t n, int digits, money *out)
{
    if (digits < 0 || digits > FRACTION_DIGITS || n > MAX_PARTS) {
        return GT_EINVALID;
    }
    money unit = (money)pow10_u128(FRACTION_DIGITS - digits), total = 0;
    for (size_t i = 0; i < n; i++) {
        if (money_add(total, part[i], &total)) {
            return GT_ERANGE;
        }
    }
    money want = floor_unit(total, unit), rest = total - want;
    if (rest * 2 > unit || (rest * 2 == unit && ((want / unit) & 1))) {
        want += unit;
    }
    return money_round_parts_to(part, n, digits, want, out);
}
