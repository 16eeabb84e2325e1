/* Scatter plot as text (plot.h). */
#include "plot.h"
#include "gputier/error.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL 8 /* cells of the y axis's figures and the axis itself */

static double round_step(double span, int ticks)
{
    double raw = span / (ticks > 0 ? ticks : 1), mag = pow(10, floor(log10(raw)));
    static const double mult[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++) {
        if (mult[i] * mag >= raw * 0.9999) {
            return mult[i] * mag;
        }
    }
    return 10 * mag;
}

static void short_number(double v, char out[16])
{
    if (fabs(v) >= 1e6) {
        snprintf(out, 16, "%.3gM", v / 1e6);
    } else if (fabs(v) >= 10000) {
        snprintf(out, 16, "%.3gk", v / 1e3);
    } else {
        snprintf(out, 16, "%.4g", v);
    }
}

struct frame {
    double x_hi, y_lo, y_hi, x_step, y_step;
    int w, h; /* plot area */
};

static int column(const struct frame *f, double x)
{
    int c = (int)lround(x / f->x_hi * (f->w - 1));
    return c < 0 ? -1 : c >= f->w ? -1 : c;
}

static int row(const struct frame *f, double y)
{
    int r = f->h - 1 - (int)lround((y - f->y_lo) / (f->y_hi - f->y_lo) * (f->h - 1));
    return r < 0 || r >= f->h ? -1 : r;
}

static bool usable(const struct plot_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && p->x >= 0 && p->y >= 0;
}

static struct frame frame_of(const struct plot_point *p, size_t n, double x_limit, int width,
                             int height)
{
    struct frame f = {.w = width - LABEL, .h = height - 2};
    double y_min = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (usable(&p[i])) {
            f.x_hi = fmax(f.x_hi, p[i].x);
            f.y_hi = fmax(f.y_hi, p[i].y);
            y_min = fmin(y_min, p[i].y);
        }
    }
    if (isfinite(x_limit) && x_limit > 0) {
        f.x_hi = fmax(f.x_hi, x_limit);
    }
    f.x_hi = f.x_hi > 0 ? f.x_hi : 1;
    f.y_hi = f.y_hi > 0 ? f.y_hi : 1;
    f.x_step = round_step(f.x_hi, f.w / 10);
    /* Points in a narrow band would all fall in one row: the axis then starts below the band. */
    f.y_lo = y_min > f.y_hi / 2 && y_min < f.y_hi ? y_min : 0;
    f.y_step = round_step(f.y_hi - f.y_lo, f.h / 2);
    f.x_hi = ceil(f.x_hi / f.x_step - 1e-9) * f.x_step;
    f.y_hi = ceil(f.y_hi / f.y_step - 1e-9) * f.y_step;
    f.y_lo = fmax(0, (ceil(f.y_lo / f.y_step - 1e-9) - 1) * f.y_step);
    return f;
}

/* Letters win over dots, dots over the limit's line. */
static char cell_at(const struct frame *f, const struct plot_point *p, size_t n, double x_limit,
                    int r, int c)
{
    char found = 0;
    for (size_t i = 0; i < n; i++) {
        if (usable(&p[i]) && row(f, p[i].y) == r && column(f, p[i].x) == c) {
            if (p[i].mark) {
                return p[i].mark;
            }
            found = '.';
        }
    }
    return found ? found : isfinite(x_limit) && x_limit > 0 && column(f, x_limit) == c ? ':' : ' ';
}

static void x_axis(const struct frame *f, const char *title, bool ascii, struct buf *out)
{
    char line[512];
    memset(line, ' ', sizeof line);
    buf_addf(out, "%*s%s", LABEL - 1, "", ascii ? "+" : "└");
    for (int c = 0; c < f->w; c++) {
        buf_adds(out, ascii ? "-" : "─");
    }
    buf_addc(out, '\n');
    for (double v = 0; v <= f->x_hi * 1.0001; v += f->x_step) {
        char text[16];
        short_number(v, text);
        int at = column(f, v) + LABEL - (int)strlen(text) / 2;
        if (at >= 0 && at + (int)strlen(text) < (int)sizeof line - 1) {
            memcpy(line + at, text, strlen(text));
        }
    }
    int width = f->w + LABEL, tail = (int)strlen(title);
    if (width >= (int)sizeof line) {
        width = (int)sizeof line - 1;
    }
    if (tail + 1 < width) {
        memcpy(line + width - tail, title, (size_t)tail);
        line[width - tail - 1] = ' ';
    }
    buf_add(out, line, (size_t)width);
}

int plot_scatter(const struct plot_point *p, size_t n, double x_limit, int width, int height,
                 const char *x_title, const char *y_title, bool ascii, struct buf *out)
{
    if (width < LABEL + 8 || height < 5) {
        return buf_adds(out, "");
    }
    if (width > 500) {
        width = 500;
    }
    struct frame f = frame_of(p, n, x_limit, width, height);
    int next_tick = 0;
    for (int r = 0; r < f.h; r++) {
        char label[16] = "";
        double v = f.y_lo + (f.y_hi - f.y_lo) * (f.h - 1 - r) / (f.h - 1);
        double nearest = round(v / f.y_step) * f.y_step;
        if (row(&f, nearest) == r && r >= next_tick) {
            short_number(nearest, label);
            next_tick = r + 2;
        }
        if (r == 0) {
            snprintf(label, sizeof label, "%s", y_title);
        }
        buf_addf(out, "%*.*s%s", LABEL - 1, LABEL - 1, label, ascii ? "|" : "│");
        for (int c = 0; c < f.w; c++) {
            char mark = cell_at(&f, p, n, x_limit, r, c);
            buf_adds(out, ascii || mark != '.'
                              ? (mark == ':' && !ascii ? "╎" : (char[2]){mark, '\0'})
                              : "·");
        }
        buf_addc(out, '\n');
    }
    x_axis(&f, x_title, ascii, out);
    return out->failed ? GT_ELIMIT : 0;
}
