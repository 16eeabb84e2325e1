/* Exact money: a 128-bit integer count of 10^-12 currency units (product.md section 4).
 *
 * A rate is money per one vendor unit, never divided before it is multiplied. A bill line is
 * rate x quantity, rounded once, half to even, to 10^-12; sums of lines are integer sums, so
 * order never matters. Every operation reports overflow as GT_ERANGE. */
#ifndef GPUTIER_MONEY_H
#define GPUTIER_MONEY_H
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>

__extension__ typedef __int128 money;
__extension__ typedef unsigned __int128 gt_u128;

#define MONEY_SCALE ((money)1000000000000LL) /* units of 10^-12 in one currency unit */
#define MONEY_TEXT  64                       /* bytes that hold any formatted amount */

/* Parses a plain or exponent decimal ("0.0000004000", "1e-7", "-3.50"). Digits beyond 10^-12 are
 * refused (GT_ERANGE) unless they are zeros. The whole of text[0..len) must be used. */
int money_parse(const char *text, size_t len, money *out, struct gt_error *err) GT_CHECK;
/* As money_parse, but digits beyond 10^-12 are rounded half to even: for feeds that print
 * binary doubles (azure 0.1234567890123456). */
int money_parse_round(const char *text, size_t len, money *out, struct gt_error *err) GT_CHECK;
/* Nearest amount of a double (exact decimal expansion of 17 significant digits); GT_ERANGE for
 * NaN, infinities and overflow. For search and quantities, never for a vendor's price. */
int money_from_double(double value, money *out) GT_CHECK;
double money_to_double(money m);
/* Full value: plain decimal, no exponent, no trailing zeros ("0.0000004"). Returns buf. */
const char *money_format(money m, char buf[MONEY_TEXT]);
/* Rounded half to even to `digits` (0..12) decimals, always that many shown; `group` puts a
 * comma between thousands. Returns buf. */
const char *money_format_fixed(money m, int digits, bool group, char buf[MONEY_TEXT]);
/* rate x num / den, rounded once half to even; den > 0. The product has 256 bits inside. */
int money_mul_ratio(money rate, gt_u128 num, gt_u128 den, money *out) GT_CHECK;
/* rate x quantity where quantity is itself a decimal with 12 places (1.5 = 1.5 x MONEY_SCALE). */
int money_mul_decimal(money rate, money quantity, money *out) GT_CHECK;
int money_add(money a, money b, money *out) GT_CHECK;
/* Digits of the minor unit of an ISO 4217 code (USD 2, JPY 0); 2 if unknown. */
int money_minor_digits(const char *currency);
/* Largest-remainder rounding (product.md section 4): writes part[i] rounded to `digits` decimals
 * so that the shown parts add up to the rounded total. out may be part. */
int money_round_parts(const money *part, size_t n, int digits, money *out) GT_CHECK;
/* The same towards a total that is already rounded: a component's shown amount, split over its
 * lines. GT_EINVALID when the parts cannot reach it. */
int money_round_parts_to(const money *part, size_t n, int digits, money total, money *out) GT_CHECK;

#endif
