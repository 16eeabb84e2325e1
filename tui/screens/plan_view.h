/* Drawing of plans: the ranked table, one plan's bill and reasons, why there is none. */
#ifndef GPUTIER_PLAN_VIEW_H
#define GPUTIER_PLAN_VIEW_H
#include "../widgets/list.h"
#include "gputier/plan.h"

void plan_view_table(const struct plan_set *set, const struct list *l, bool focused, int y,
                     int rows, int width);
void plan_view_details(const struct plan_set *set, size_t at, int y, int x, int height, int width);
void plan_view_rejected(const struct plan_set *set, int y, int rows, int width);

#endif
