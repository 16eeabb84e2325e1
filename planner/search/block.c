/* Capacity blocks (AWS EC2 user guide, Capacity Blocks for ML): bought whole for 1 to 14 days, or
 * for whole weeks up to 26, from a start of their own; 30 minutes before the end the machines are
 * taken away. What the run leaves of the block is lost. */
#include "gputier/units.h"
#include "search.h"
#include <math.h>

#define DAYS_SINGLE 14
#define WEEKS_MAX   26
#define TAKEN_H     0.5

double block_hours(double run_h)
{
    double days = ceil((run_h + TAKEN_H) / 24 - 1e-9);
    if (days > DAYS_SINGLE) {
        days = 7 * ceil((run_h + TAKEN_H) / (7 * 24) - 1e-9);
    }
    return days <= WEEKS_MAX * 7 ? 24 * fmax(days, 1) : (double)INFINITY;
}

double block_wait_h(const struct search *q, const struct machine *m)
{
    int64_t start = q->c->offers.valid_from[m->row];
    return start != GT_TIME_NONE && start > q->o->now ? (double)(start - q->o->now) / 3600
                                                      : q->s->start_wait_on_demand_s / 3600;
}

const char *block_note(const struct search *q, const struct candidate *c)
{
    const struct machine *m = c->machine;
    int64_t start = q->c->offers.valid_from[m->row];
    double hours = block_hours(c->billed_h), hour = list_on_demand_usd(q, m->row);
    char when[32];
    const char *begins = start != GT_TIME_NONE && start > q->o->now
                             ? arena_printf(q->arena, "it begins %s, %.1f h from now",
                                            time_format(start, when), block_wait_h(q, m))
                             : "when the next one begins is not known";
    const char *pays =
        isinf(hour) ? "no price on demand is known here to compare with"
        : m->usd_h * hours < hour * hours
            ? arena_printf(q->arena,
                           "on demand (list price %.4f USD/h) costs as much after %.1f h of use",
                           hour, m->usd_h * hours / hour)
            : arena_printf(q->arena, "on demand costs less (list price %.4f USD/h)", hour);
    return begins == NULL || pays == NULL
               ? NULL
               : arena_printf(q->arena,
                              "capacity block: bought whole, %.0f h at %.4f USD/h, %.1f h of them "
                              "unused (machines go 30 min before its end); %s; %s; that %d can be "
                              "had together is not known",
                              hours, m->usd_h, hours - c->billed_h, begins, pays, c->n);
}
