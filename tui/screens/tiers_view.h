/* Drawing of tier answers: table with paths as letters, legend, one group in full, texts. */
#ifndef GPUTIER_TIERS_VIEW_H
#define GPUTIER_TIERS_VIEW_H
#include "../widgets/list.h"
#include "tiers_work.h"

void tiers_view_table(const struct tiers_result *r, const struct list *l, int y, int rows,
                      int width);
/* Letters that occur, with their price; at most `rows` rows. */
void tiers_view_legend(const struct tiers_result *r, int y, int rows, int width);
void tiers_view_group(const struct tiers_result *r, size_t at, int y, int height, int width);
/* Charts of bytes and money over time with `month` marked and told in figures; returns how many
 * months a column stands for. */
size_t tiers_view_time(const struct tiers_result *r, size_t month, int y, int height, int width);
/* First steps, lifecycle rules, assumptions: lines from `top` on; returns the lines there are. */
size_t tiers_view_texts(const struct tiers_result *r, size_t top, int y, int height, int width);

#endif
