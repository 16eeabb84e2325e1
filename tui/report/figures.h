/* Digits for people, the same on every screen and in every report (product.md section 4). */
#ifndef GPUTIER_FIGURES_H
#define GPUTIER_FIGURES_H
#include "gputier/plan.h"

/* Amounts of a plan's bill rounded to the minor unit of its currency by largest remainder: the
 * shown components add up to the shown total, the shown lines of a component to that component.
 * line has room for p->n_lines and may be NULL. */
int figures_bill(const struct plan *p, money component[COMP_COUNT], money *line) GT_CHECK;
/* ">99.9 %" or "97.3 %" (cut, never rounded up to what is not reached); "" without a deadline. */
const char *figures_chance(double p, char buf[32]);

#endif
