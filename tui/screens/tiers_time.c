/* The plan over time (tiers_view.h): bytes of every tier and money, a column a month. A column is a
 * stack of the tiers' letters, so that it reads without colours and in every locale. */
#include "../cli/tier_letters.h"
#include "../widgets/draw.h"
#include "gputier/units.h"
#include "tiers_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXIS     10 /* cells of the figures at the left */
#define COLUMNS  400
#define ROWS     64
#define WIDE     72 /* from here on both charts stand side by side */
#define NONE     ' '
#define RENT     'r'
#define MOVES    'm'
#define BASELINE 'b'

struct chart {
    int y, x, height, width; /* of the cells, without axes and titles */
    int cell, n;             /* cells a column, columns */
    char mark[ROWS][COLUMNS];
};

static struct chart *chart_new(size_t n, int y, int x, int height, int width)
{
    struct chart *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    memset(c->mark, NONE, sizeof c->mark);
    c->y = y;
    c->x = x + AXIS;
    c->height = height < ROWS ? height : ROWS;
    c->width = width - AXIS;
    c->n = (int)n;
    c->cell = c->n > 0 ? c->width / c->n : 1;
    c->cell = c->cell < 1 ? 1 : c->cell > 4 ? 4 : c->cell;
    return c;
}

static void cell(const struct tiers_result *r, char mark, int y, int x, int width)
{
    char text[4 * COLUMNS + 1] = "";
    size_t k = 0, len = 0;
    enum element e = EL_TEXT;
    const char *sign = mark == RENT       ? glyph("█", "#")
                       : mark == MOVES    ? glyph("▒", "+")
                       : mark == BASELINE ? glyph("─", "-")
                                          : NULL;
    char letter[2] = {mark, '\0'};
    if (!sign) {
        while (k < r->answer.series.n_tiers && r->letter[k] != mark) {
            k++;
        }
        e = (enum element)(EL_PART + (int)(k % (EL_PART_LAST - EL_PART + 1)));
        sign = letter;
    }
    for (int i = 0; i < width && len + 5 < sizeof text; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", sign);
    }
    draw_text(y, x, width, 0, mark == BASELINE ? EL_DIM : e, text);
}

/* Runs of one mark in one go: a full screen of single cells would be slow to draw. */
static void chart_draw(const struct tiers_result *r, const struct chart *c)
{
    for (int y = 0; y < c->height; y++) {
        const char *row = c->mark[c->height - 1 - y];
        for (int t = 0; t < c->n;) {
            int end = t + 1;
            while (end < c->n && row[end] == row[t]) {
                end++;
            }
            if (row[t] != NONE) {
                cell(r, row[t], c->y + y, c->x + t * c->cell, (end - t) * c->cell);
            }
            t = end;
        }
    }
}

static void axis(const struct chart *c, const struct tier_months *m, size_t at, const char *title,
                 const char *most)
{
    char last[16];
    draw_text(c->y - 1, c->x - AXIS + 1, c->width + AXIS - 1, -1, EL_TITLE, title);
    draw_text(c->y, c->x - AXIS, AXIS - 1, 1, EL_DIM, most);
    if (c->height > 1) {
        draw_text(c->y + c->height - 1, c->x - AXIS, AXIS - 1, 1, EL_DIM, "0");
    }
    draw_vertical(c->y, c->x - 1, c->height);
    int under = c->y + c->height;
    draw_text(under, c->x, 2, 0, EL_DIM, "1");
    snprintf(last, sizeof last, "%d", m[c->n - 1].to);
    int end = c->x + c->n * c->cell - (int)strlen(last);
    if (end > c->x + 2) {
        draw_text(under, end, (int)strlen(last), 0, EL_DIM, last);
    }
    draw_text(under, c->x + (int)at * c->cell, 1, 0, EL_TITLE, glyph("▲", "^"));
}

static void bytes_chart(const struct tiers_result *r, const struct tier_months *m, size_t n,
                        size_t at, int y, int x, int height, int width)
{
    const struct tier_series *s = &r->answer.series;
    struct chart *c = chart_new(n, y + 1, x, height - 2, width);
    uint64_t most = 0;
    char size[32];
    if (!c) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t b = tier_series_bytes(s, m[i].from);
        most = b > most ? b : most;
    }
    for (int t = 0; t < c->n; t++) {
        char cells[ROWS];
        int h = tier_series_bar(s, r->letter, m[t].from, most, c->height, cells);
        for (int i = 0; i < h; i++) {
            c->mark[i][t] = cells[i];
        }
    }
    chart_draw(r, c);
    axis(c, m, at, "Bytes in every tier", size_format(most, size));
    free(c);
}

static int cells_of(money m, money most, int height)
{
    double share = most > 0 ? money_to_double(m) / money_to_double(most) : 0;
    int n = (int)(share * height + 0.5);
    return n < 0 ? 0 : n > height ? height : n;
}

static void money_chart(const struct tiers_result *r, const struct tier_months *m, size_t n,
                        size_t at, int y, int x, int height, int width)
{
    struct chart *c = chart_new(n, y + 1, x, height - 2, width);
    money most = 0;
    char text[MONEY_TEXT], title[96];
    if (!c) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        money more = m[i].cost > m[i].baseline ? m[i].cost : m[i].baseline;
        most = more > most ? more : most;
    }
    for (int t = 0; t < c->n; t++) {
        int h = cells_of(m[t].cost, most, c->height);
        int fees = cells_of(m[t].moves, most, c->height);
        int base = cells_of(m[t].baseline, most, c->height);
        h = h < 1 && m[t].cost > 0 ? 1 : h;
        for (int i = 0; i < h; i++) {
            c->mark[i][t] = i >= h - fees ? MOVES : RENT;
        }
        if (base > h) {
            c->mark[base - 1][t] = BASELINE;
        }
    }
    chart_draw(r, c);
    int per = m[0].to - m[0].from;
    int len = per > 1 ? snprintf(title, sizeof title, "%s/%d mo", r->answer.currency, per)
                      : snprintf(title, sizeof title, "%s/mo", r->answer.currency);
    snprintf(title + len, sizeof title - (size_t)len, ": %s rent %s moves %s as it is",
             glyph("█", "#"), glyph("▒", "+"), glyph("─", "-"));
    axis(c, m, at, title, money_format_fixed(most, 2, true, text));
    free(c);
}

/* The marked months in figures: where the bytes are, what they cost, what was spent until then. */
static void figures(const struct tiers_result *r, const struct tier_months *m, int y, int height,
                    int width)
{
    const struct tier_series *s = &r->answer.series;
    int digits = money_minor_digits(r->answer.currency);
    char size[32], text[4][MONEY_TEXT];
    money spent = 0, base = 0;
    struct buf b;
    buf_init(&b, 4096);
    for (int t = 0; t < m->to; t++) {
        spent += tier_series_month(s, t);
        base += s->baseline[t];
    }
    buf_addf(&b, m->to - m->from == 1 ? "Month %d: " : "Months %d-%d: ", m->from + 1, m->to);
    for (size_t k = 0; k < s->n_tiers; k++) {
        uint64_t n = s->bytes[k * (size_t)s->months + (size_t)m->from];
        if (n > 0) {
            buf_addf(&b, "%c %s, ", r->letter[k], size_format(n, size));
        }
    }
    buf_addf(&b, "%s %s", money_format_fixed(m->cost, digits, true, text[0]), r->answer.currency);
    money_format_fixed(m->moves, digits, true, text[1]);
    if (strpbrk(text[1], "123456789")) {
        buf_addf(&b, ", of it %s for moves", text[1]);
    }
    buf_addf(&b, "; so far %s, as it is now %s", money_format_fixed(spent, digits, true, text[2]),
             money_format_fixed(base, digits, true, text[3]));
    int pays = tier_series_break_even(s);
    if (pays >= 0) {
        buf_addf(&b, "; pays from month %d on", pays + 1);
    }
    draw_wrapped(y, 1, height, width - 2, EL_TEXT, b.data ? b.data : "");
    buf_release(&b);
}

size_t tiers_view_time(const struct tiers_result *r, size_t month, int y, int height, int width)
{
    struct tier_months row[COLUMNS];
    bool both = width >= WIDE, below = !both && height >= 14;
    int chart = both ? width / 2 : width, text = height > 8 ? 2 : 1;
    int room = chart - 1 - AXIS, rows = height - text;
    if (room < 4 || rows < 4) {
        return 1;
    }
    size_t n = tier_months(&r->answer, (size_t)(room < COLUMNS ? room : COLUMNS), row);
    size_t per = (size_t)(row[0].to - row[0].from), at = month / per;
    at = at < n ? at : n - 1;
    int h = below ? rows / 2 : rows;
    bytes_chart(r, row, n, at, y, 0, h, chart - 1);
    if (both || below) {
        money_chart(r, row, n, at, below ? y + h : y, both ? chart : 0, h, chart - 1);
    }
    figures(r, &row[at], y + rows, text, width);
    return per;
}
