/* The selected offer in full: exact price, machine, other ways of buying it here, provenance. */
#ifndef GPUTIER_PRICE_DETAILS_H
#define GPUTIER_PRICE_DETAILS_H
#include "screen.h"

void price_details(const struct ui *ui, size_t row, int y, int height, int width);

#endif
