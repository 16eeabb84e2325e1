/* Exact rationals (rational.h): 128-bit, reduced, overflow sticky as d == 0. */
#include "gputier/rational.h"
#include <math.h>

static const struct rat bad = {0, 0};

static gt_u128 magnitude(money v)
{
    return v < 0 ? (gt_u128)0 - (gt_u128)v : (gt_u128)v;
}

static int trailing_zeros(gt_u128 v)
{
    uint64_t low = (uint64_t)v;
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(v >> 64));
}

static gt_u128 gcd(gt_u128 a, gt_u128 b)
{
    if (a == 0 || b == 0) {
        return a | b;
    }
    int shift = trailing_zeros(a | b);
    a >>= trailing_zeros(a);
    while (b != 0) {
        b >>= trailing_zeros(b);
        if (a > b) {
            gt_u128 t = a;
            a = b;
            b = t;
        }
        b -= a;
    }
    return a << shift;
}

struct rat rat_make(money n, gt_u128 d)
{
    if (d == 0) {
        return bad;
    }
    gt_u128 g = gcd(magnitude(n), d);
    gt_u128 m = magnitude(n) / g;
    if (m >> 127) {
        return bad;
    }
    return (struct rat){n < 0 ? -(money)m : (money)m, d / g};
}

struct rat rat_int(int64_t v)
{
    return (struct rat){v, 1};
}

struct rat rat_of_money(money m)
{
    return rat_make(m, (gt_u128)MONEY_SCALE);
}

bool rat_ok(struct rat a)
{
    return a.d != 0;
}

struct rat rat_add(struct rat a, struct rat b)
{
    if (a.d == 0 || b.d == 0) {
        return bad;
    }
    gt_u128 g = gcd(a.d, b.d), left = b.d / g, right = a.d / g, d;
    money x, y, n;
    if (left >> 127 || right >> 127 || __builtin_mul_overflow(a.n, (money)left, &x) ||
        __builtin_mul_overflow(b.n, (money)right, &y) || __builtin_add_overflow(x, y, &n)) {
        return bad;
    }
    if (__builtin_mul_overflow(right, b.d, &d)) {
        return bad;
    }
    return rat_make(n, d);
}

struct rat rat_sub(struct rat a, struct rat b)
{
    b.n = -b.n;
    return rat_add(a, b);
}

struct rat rat_mul(struct rat a, struct rat b)
{
    if (a.d == 0 || b.d == 0) {
        return bad;
    }
    gt_u128 g = gcd(magnitude(a.n), b.d), h = gcd(magnitude(b.n), a.d), d;
    if (a.n == 0 || b.n == 0) {
        return rat_int(0);
    }
    money n;
    if (g >> 127 || h >> 127 || __builtin_mul_overflow(a.n / (money)g, b.n / (money)h, &n) ||
        __builtin_mul_overflow(a.d / h, b.d / g, &d)) {
        return bad;
    }
    return (struct rat){n, d};
}

struct rat rat_div(struct rat a, struct rat b)
{
    if (b.d == 0 || b.n == 0 || b.d >> 127) {
        return bad;
    }
    return rat_mul(a, (struct rat){b.n < 0 ? -(money)b.d : (money)b.d, magnitude(b.n)});
}

/* Compares a.n/a.d with b.n/b.d by continued fractions: no product, so no overflow. */
int rat_cmp(struct rat a, struct rat b)
{
    if (rat_sign(a) != rat_sign(b)) {
        return rat_sign(a) < rat_sign(b) ? -1 : 1;
    }
    int sign = rat_sign(a);
    gt_u128 p = magnitude(a.n), q = a.d, r = magnitude(b.n), s = b.d;
    if (sign == 0 || q == 0 || s == 0) {
        return 0;
    }
    for (;;) {
        gt_u128 x = p / q, y = r / s;
        if (x != y) {
            return x < y ? -sign : sign;
        }
        p -= x * q;
        r -= y * s;
        if (p == 0 || r == 0) {
            return p == r ? 0 : p == 0 ? -sign : sign;
        }
        gt_u128 t = p; /* p/q < r/s exactly when q/p > s/r: swap and turn the sign */
        p = q;
        q = t;
        t = r;
        r = s;
        s = t;
        sign = -sign;
    }
}

int rat_sign(struct rat a)
{
    return a.n > 0 ? 1 : a.n < 0 ? -1 : 0;
}

struct rat rat_max(struct rat a, struct rat b)
{
    if (a.d == 0 || b.d == 0) {
        return bad;
    }
    return rat_cmp(a, b) >= 0 ? a : b;
}

struct rat rat_min(struct rat a, struct rat b)
{
    if (a.d == 0 || b.d == 0) {
        return bad;
    }
    return rat_cmp(a, b) <= 0 ? a : b;
}

struct rat rat_pos(struct rat a)
{
    return rat_max(a, rat_int(0));
}

struct rat rat_ceil(struct rat a)
{
    if (a.d == 0 || a.d >> 127) {
        return bad;
    }
    money d = (money)a.d, q = a.n / d;
    if (a.n % d > 0) {
        q++;
    }
    return (struct rat){q, 1};
}

int rat_money(struct rat a, money *out)
{
    if (a.d == 0) {
        return GT_ERANGE;
    }
    money m;
    if (money_mul_ratio(MONEY_SCALE, magnitude(a.n), a.d, &m) < 0) {
        return GT_ERANGE;
    }
    *out = a.n < 0 ? -m : m;
    return 0;
}

double rat_double(struct rat a)
{
    return a.d == 0 ? (double)NAN : (double)a.n / (double)a.d;
}

/* One decimal at text[*i..len): digits, point, exponent. */
static int parse_decimal(const char *text, size_t len, size_t *i, struct rat *out)
{
    bool negative = *i < len && text[*i] == '-';
    if (*i < len && (text[*i] == '-' || text[*i] == '+')) {
        (*i)++;
    }
    money n = 0;
    int digits = 0, exponent = 0;
    bool point = false;
    for (; *i < len; (*i)++) {
        char c = text[*i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') {
            break;
        }
        digits++;
        exponent -= point;
        if (__builtin_mul_overflow(n, (money)10, &n) ||
            __builtin_add_overflow(n, (money)(c - '0'), &n)) {
            return GT_ERANGE;
        }
    }
    if (digits == 0) {
        return GT_EPARSE;
    }
    if (*i < len && (text[*i] == 'e' || text[*i] == 'E')) {
        int sign = 1, e = 0, seen = 0;
        (*i)++;
        if (*i < len && (text[*i] == '-' || text[*i] == '+')) {
            sign = text[(*i)++] == '-' ? -1 : 1;
        }
        for (; *i < len && text[*i] >= '0' && text[*i] <= '9' && e < 1000; (*i)++, seen++) {
            e = e * 10 + (text[*i] - '0');
        }
        if (seen == 0) {
            return GT_EPARSE;
        }
        exponent += sign * e;
    }
    if (exponent > 38 || exponent < -60) {
        return GT_ERANGE;
    }
    struct rat r = rat_make(negative ? -n : n, 1);
    for (; exponent > 0; exponent--) {
        r = rat_mul(r, rat_int(10));
    }
    for (; exponent < 0; exponent++) {
        r = rat_div(r, rat_int(10));
    }
    *out = r;
    return rat_ok(r) ? 0 : GT_ERANGE;
}

int rat_parse(const char *text, size_t len, struct rat *out, struct gt_error *err)
{
    size_t i = 0;
    struct rat a;
    int rc = parse_decimal(text, len, &i, &a);
    if (rc == 0 && i < len && text[i] == '/') {
        struct rat b;
        i++;
        rc = parse_decimal(text, len, &i, &b);
        if (rc == 0) {
            a = rat_div(a, b);
            rc = rat_ok(a) ? 0 : GT_ERANGE;
        }
    }
    if (rc == 0 && i != len) {
        rc = GT_EPARSE;
    }
    if (rc == 0) {
        *out = a;
        return 0;
    }
    int shown = len > 60 ? 60 : (int)len;
    return gt_fail(err, rc, "",
                   rc == GT_ERANGE ? "'%.*s' does not fit exact arithmetic"
                                   : "'%.*s' is not a decimal or a fraction",
                   shown, text);
}
