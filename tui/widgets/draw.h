/* Drawing on the screen: theme elements instead of colours, text always safe and cut by cells. */
#ifndef GPUTIER_DRAW_H
#define GPUTIER_DRAW_H
#include <stdbool.h>
#include <stddef.h>

enum element {
    EL_TEXT,
    EL_DIM,
    EL_TITLE,
    EL_TAB,
    EL_TAB_ACTIVE,
    EL_HEADER,
    EL_SELECTED,
    EL_BEST,
    EL_WARN,
    EL_RULE,
    EL_KEY,
    EL_INPUT,
    EL_FRONT,
    EL_PART, /* and the five that follow: parts of a whole, filled and plain by turns */
    EL_PART_LAST = EL_PART + 5,
    EL_COUNT
};
void draw_theme(void); /* once after term_open */
/* Draws s in exactly `width` cells from (y, x): align < 0 left, > 0 right, 0 no padding. What lies
 * outside the screen is cut. Returns the cells used. */
int draw_text(int y, int x, int width, int align, enum element e, const char *s);
int draw_format(int y, int x, int width, int align, enum element e, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Bytes of s that fill at most `width` cells, ending between words where one ends in time. */
size_t draw_line_bytes(const char *s, size_t width);
/* Words of s over up to `height` rows of `width` cells; returns the rows used. */
int draw_wrapped(int y, int x, int height, int width, enum element e, const char *s);
/* Text of several lines, cut to height x width. */
void draw_lines(int y, int x, int height, int width, enum element e, const char *s);
void draw_fill(int y, int x, int width, enum element e);
void draw_rule(int y, int x, int width);
void draw_vertical(int y, int x, int height);
/* ASCII stand-ins where the locale is not UTF-8. */
const char *glyph(const char *utf8, const char *ascii);

#endif
