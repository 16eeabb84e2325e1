/* Drawing of plans: the ranked table, the bill with its reasons, cost against time, what was
 * rejected. */
#ifndef GPUTIER_PLAN_VIEW_H
#define GPUTIER_PLAN_VIEW_H
#include "../widgets/list.h"
#include "gputier/plan.h"

void plan_view_table(const struct plan_set *set, const struct list *l, bool focused, int y,
                     int rows, int width);
void plan_view_details(const struct plan_set *set, size_t at, int y, int x, int height, int width);
/* Letters are the table's rows, dots the rest of the front; deadline_s 0 = no line. */
void plan_view_plot(const struct plan_set *set, bool risk_axis, double deadline_s, int y, int x,
                    int height, int width);
void plan_view_rejected(const struct plan_set *set, size_t top, int y, int x, int rows, int width);

#endif
