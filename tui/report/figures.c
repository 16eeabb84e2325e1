/* Rounding of a bill for people (figures.h). */
#include "figures.h"
#include <math.h>
#include <stdio.h>

static money unit_of(const struct plan *p)
{
    money unit = MONEY_SCALE;
    for (int d = money_minor_digits(p->currency); d > 0; d--) {
        unit /= 10;
    }
    return unit;
}

static money floor_to(money m, money unit)
{
    money rest = m % unit;
    return m - (rest < 0 ? rest + unit : rest);
}

/* Lines of component c: rounded down, then the largest remainders get one unit more each until
 * they add up to `target`, which differs from their exact sum by less than one unit. */
static void share(const struct plan *p, enum component c, money target, money unit, money *line)
{
    money sum = 0;
    for (size_t i = 0; i < p->n_lines; i++) {
        if (p->line[i].component == c) {
            line[i] = floor_to(p->line[i].amount, unit);
            sum += line[i];
        }
    }
    for (; sum < target; sum += unit) {
        size_t best = p->n_lines;
        money most = -1;
        for (size_t i = 0; i < p->n_lines; i++) {
            money rest = p->line[i].amount - line[i];
            if (p->line[i].component == c && rest > most) {
                most = rest;
                best = i;
            }
        }
        if (best == p->n_lines) {
            return;
        }
        line[best] += unit;
    }
}

int figures_bill(const struct plan *p, money component[COMP_COUNT], money *line)
{
    int rc =
        money_round_parts(p->component, COMP_COUNT, money_minor_digits(p->currency), component);
    for (int c = 0; c < COMP_COUNT && rc == 0 && line; c++) {
        share(p, (enum component)c, component[c], unit_of(p), line);
    }
    return rc;
}

const char *figures_chance(double p, char buf[32])
{
    if (isnan(p)) {
        buf[0] = '\0';
    } else if (p > 0.9995) {
        snprintf(buf, 32, ">99.9 %%");
    } else {
        snprintf(buf, 32, "%.1f %%", floor(p * 1000) / 10);
    }
    return buf;
}
