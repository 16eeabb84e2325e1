/* The digits of a plan that people see (plan.h). */
#include "gputier/plan.h"

#define MAX_LINES 1024

static int lines_of(const struct plan *p, enum component c, int digits, money total, money *line)
{
    money part[MAX_LINES] = {0}, shown[MAX_LINES];
    size_t at[MAX_LINES], n = 0;
    for (size_t i = 0; i < p->n_lines && i < MAX_LINES; i++) {
        if (p->line[i].component == c) {
            at[n] = i;
            part[n++] = p->line[i].amount;
        }
    }
    int rc = money_round_parts_to(part, n, digits, total, shown);
    for (size_t i = 0; i < n && rc == 0; i++) {
        line[at[i]] = shown[i];
    }
    return rc;
}

int plan_shown(const struct plan *p, money component[COMP_COUNT], money *line)
{
    int digits = money_minor_digits(p->currency);
    int rc = p->n_lines > MAX_LINES ? GT_ELIMIT : 0;
    rc = rc != 0 ? rc : money_round_parts(p->component, COMP_COUNT, digits, component);
    for (int c = 0; c < COMP_COUNT && line != NULL && rc == 0; c++) {
        rc = lines_of(p, (enum component)c, digits, component[c], line);
    }
    return rc;
}
