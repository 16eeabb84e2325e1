/* Plots as cells: series -> grid of characters. Pure: a test compares the text. */
#ifndef GPUTIER_PLOT_H
#define GPUTIER_PLOT_H
#include "gputier/buf.h"
#include <stdbool.h>
#include <stddef.h>

struct plot_point {
    double x, y;
    char mark; /* letter drawn at the point; 0 = a dot */
};
/* A scatter plot in width x height cells: axes with round ticks and units; points outside a finite
 * range are left out. One line of text per row, joined by '\n'. */
int plot_scatter(const struct plot_point *p, size_t n, double x_limit, int width, int height,
                 const char *x_title, const char *y_title, bool ascii, struct buf *out);

#endif
