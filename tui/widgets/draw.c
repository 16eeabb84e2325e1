/* Drawing (draw.h): one table element -> attributes per colour depth. */
#include "draw.h"
#include "gputier/text.h"
#include "term.h"
#include <curses.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Colours of the 8-colour set only, on the terminal's own background: readable on light and dark;
 * a bold or reverse cue stands beside each (nothing is said by colour alone). */
static const struct style {
    short fg;
    attr_t attr;
} styles[EL_COUNT] = {
    [EL_TEXT] = {-1, A_NORMAL},
    [EL_DIM] = {-1, A_DIM},
    [EL_TITLE] = {-1, A_BOLD},
    [EL_TAB] = {-1, A_NORMAL},
    [EL_TAB_ACTIVE] = {-1, A_REVERSE},
    [EL_HEADER] = {COLOR_CYAN, A_BOLD},
    [EL_SELECTED] = {-1, A_REVERSE},
    [EL_BEST] = {COLOR_GREEN, A_BOLD},
    [EL_WARN] = {COLOR_YELLOW, A_BOLD},
    [EL_RULE] = {-1, A_DIM},
    [EL_KEY] = {COLOR_CYAN, A_NORMAL},
    [EL_INPUT] = {-1, A_UNDERLINE},
    [EL_FRONT] = {COLOR_CYAN, A_BOLD},
    [EL_PART] = {COLOR_RED, A_REVERSE},
    [EL_PART + 1] = {COLOR_YELLOW, A_NORMAL},
    [EL_PART + 2] = {COLOR_GREEN, A_REVERSE},
    [EL_PART + 3] = {COLOR_CYAN, A_NORMAL},
    [EL_PART + 4] = {COLOR_BLUE, A_REVERSE},
    [EL_PART_LAST] = {COLOR_MAGENTA, A_NORMAL},
};

void draw_theme(void)
{
    if (term_colors() < 8) {
        return;
    }
    for (short i = 0; i < EL_COUNT; i++) {
        if (styles[i].fg >= 0) {
            init_pair((short)(i + 1), styles[i].fg, -1);
        }
    }
}

static void style_on(enum element e)
{
    short pair = term_colors() >= 8 && styles[e].fg >= 0 ? (short)(e + 1) : 0;
    attr_set(styles[e].attr, pair, NULL);
}

const char *glyph(const char *utf8, const char *ascii)
{
    return term_utf8() ? utf8 : ascii;
}

int draw_text(int y, int x, int width, int align, enum element e, const char *s)
{
    struct buf safe, fit;
    int room = COLS - x;
    if (y < 0 || y >= LINES || x < 0 || room <= 0 || width <= 0) {
        return 0;
    }
    width = width < room ? width : room;
    buf_init(&safe, 1 << 16);
    buf_init(&fit, 1 << 16);
    text_safe(&safe, s, strnlen(s, 8192), !term_utf8());
    if (text_fit(&fit, safe.data ? safe.data : "", (size_t)width, align, !term_utf8()) == 0 &&
        fit.data) {
        style_on(e);
        mvaddnstr(y, x, fit.data, (int)fit.len);
        attr_set(A_NORMAL, 0, NULL);
    }
    int used = fit.data ? (int)text_width(fit.data, fit.len) : 0;
    buf_release(&safe);
    buf_release(&fit);
    return used;
}

int draw_format(int y, int x, int width, int align, enum element e, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return draw_text(y, x, width, align, e, text);
}

size_t draw_line_bytes(const char *s, size_t width)
{
    size_t len = strlen(s), at = 0, cells = 0, blank = 0;
    while (at < len) {
        uint32_t cp;
        size_t n = utf8_decode(s + at, len - at, &cp);
        n = n ? n : 1;
        cells += text_width(s + at, n);
        if (cells > width) {
            return blank ? blank : at ? at : n;
        }
        if (s[at] == ' ') {
            blank = at + 1;
        }
        at += n;
    }
    return len;
}

int draw_wrapped(int y, int x, int height, int width, enum element e, const char *s)
{
    int used = 0;
    char line[1024];
    while (*s && used < height && width > 0) {
        size_t n = draw_line_bytes(s, (size_t)width);
        bool last = used == height - 1; /* what does not fit ends in an ellipsis */
        snprintf(line, sizeof line, "%.*s", last ? (int)sizeof line - 1 : (int)n, s);
        draw_text(y + used++, x, width, 0, e, line);
        s += n;
    }
    return used;
}

void draw_lines(int y, int x, int height, int width, enum element e, const char *s)
{
    char line[2048];
    for (int r = 0; r < height && *s; r++) {
        size_t len = strcspn(s, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : sizeof line - 1), s);
        draw_text(y + r, x, width, 0, e, line);
        s += len + (s[len] == '\n');
    }
}

void draw_fill(int y, int x, int width, enum element e)
{
    draw_text(y, x, width, -1, e, "");
}

void draw_rule(int y, int x, int width)
{
    style_on(EL_RULE);
    for (int i = 0; i < width && x + i < COLS; i++) {
        mvaddstr(y, x + i, glyph("─", "-"));
    }
    attr_set(A_NORMAL, 0, NULL);
}

void draw_vertical(int y, int x, int height)
{
    style_on(EL_RULE);
    for (int i = 0; i < height && y + i < LINES && x < COLS; i++) {
        mvaddstr(y + i, x, glyph("│", "|"));
    }
    attr_set(A_NORMAL, 0, NULL);
}
