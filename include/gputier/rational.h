/* Exact rational numbers for bills: 128-bit numerator over 128-bit denominator, always reduced.
 *
 * Overflow is sticky: the result becomes "not a number" (d == 0) and stays so through every later
 * operation, so that a calculation is checked once, at its end (rat_ok). Nothing is ever rounded
 * before rat_money. */
#ifndef GPUTIER_RATIONAL_H
#define GPUTIER_RATIONAL_H
#include "gputier/error.h"
#include "gputier/money.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rat {
    money n;   /* plain 128-bit integer here, no scale */
    gt_u128 d; /* > 0; 0 = overflow or division by zero */
};
struct rat rat_int(int64_t v);
struct rat rat_make(money n, gt_u128 d); /* reduced */
struct rat rat_of_money(money m);        /* m / 10^12 */
/* Decimal, integer, exponent form or a fraction of two such ("360/744"). */
int rat_parse(const char *text, size_t len, struct rat *out, struct gt_error *err) GT_CHECK;
bool rat_ok(struct rat a);
struct rat rat_add(struct rat a, struct rat b);
struct rat rat_sub(struct rat a, struct rat b);
struct rat rat_mul(struct rat a, struct rat b);
struct rat rat_div(struct rat a, struct rat b);
int rat_cmp(struct rat a, struct rat b); /* both must be ok; exact */
int rat_sign(struct rat a);
struct rat rat_max(struct rat a, struct rat b);
struct rat rat_min(struct rat a, struct rat b);
struct rat rat_pos(struct rat a); /* max(a, 0) */
struct rat rat_ceil(struct rat a);
/* Rounded once, half to even, to 10^-12; GT_ERANGE when a is not ok or too large. */
int rat_money(struct rat a, money *out) GT_CHECK;
double rat_double(struct rat a); /* NAN when not ok */

#endif
