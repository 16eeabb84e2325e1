/* A demand trace: "t_s,requests_per_s" rows to the mean rate of each step of the simulation.
 *
 * A row's rate holds until the next row's time, the last row's for as long as the one before it (a
 * single row: one step). Times need not lie on the grid of steps: each step gets the mean over it,
 * so the number of requests is kept. A hole cannot be told from a constant rate; times that do not
 * rise are refused. */
#include "gputier/serve.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 10000000
#define MAX_RATE  1e12

struct demand {
    const char *file;
    long line;
    double step_s, start, t, rate, last_gap;
    size_t rows, steps, cap;
    double *load; /* requests of a step so far, then their mean rate */
    struct gt_error *err;
};

static int refuse(const struct demand *d, const char *expected, const char *found, size_t len)
{
    char where[160];
    snprintf(where, sizeof where, "%s:%ld", d->file, d->line);
    return gt_fail(d->err, GT_EPARSE, where, "expected %s, found \"%.*s\"", expected,
                   (int)(len > 40 ? 40 : len), found);
}

/* The steps up to index `last` exist, new ones empty. */
static int grow(struct demand *d, size_t last)
{
    if (last >= MAX_STEPS) {
        return gt_fail(d->err, GT_ELIMIT, d->file, "more than %d steps of %g s", MAX_STEPS,
                       d->step_s);
    }
    if (last >= d->cap) {
        size_t cap = last + 1 > 2 * d->cap ? last + 1 : 2 * d->cap;
        double *p = realloc(d->load, cap * sizeof *p);
        if (!p) {
            return gt_fail(d->err, GT_ENOMEM, d->file, "out of memory for %zu steps", cap);
        }
        d->load = p;
        d->cap = cap;
    }
    for (; d->steps <= last; d->steps++) {
        d->load[d->steps] = 0;
    }
    return 0;
}

/* The present rate holds from d->t to `until` (seconds since the first row). */
static int hold(struct demand *d, double until)
{
    double t = d->t - d->start, end = until - d->start;
    while (t < end - 1e-9) {
        double index = floor(t / d->step_s + 1e-9), stop = fmin(end, (index + 1) * d->step_s);
        if (!(index < MAX_STEPS)) {
            return grow(d, MAX_STEPS);
        }
        int rc = grow(d, (size_t)index);
        if (rc) {
            return rc;
        }
        d->load[(size_t)index] += d->rate * (stop - t);
        t = stop;
    }
    return 0;
}

static int field(const struct demand *d, const char *s, size_t len, const char *expected,
                 double *out)
{
    char text[64];
    if (len == 0 || len >= sizeof text || memchr(s, '\0', len)) {
        return refuse(d, expected, s, len);
    }
    memcpy(text, s, len);
    text[len] = '\0';
    return number_parse(text, out, NULL) || *out < 0 || *out > MAX_RATE
               ? refuse(d, expected, s, len)
               : 0;
}

static int row(struct demand *d, const char *s, size_t len)
{
    const char *comma = memchr(s, ',', len);
    double t = 0, rate = 0;
    if (!comma) {
        return refuse(d, "two fields: t_s,requests_per_s", s, len);
    }
    int rc = field(d, s, (size_t)(comma - s), "t_s, seconds from 0", &t);
    rc = rc ? rc
            : field(d, comma + 1, (size_t)(s + len - comma) - 1, "requests_per_s, a number from 0",
                    &rate);
    if (!rc && d->rows && t <= d->t) {
        return refuse(d, "a t_s above the row before", s, len);
    }
    if (!rc && d->rows) {
        rc = hold(d, t);
        d->last_gap = t - d->t;
    } else if (!rc) {
        d->start = t;
    }
    d->t = t;
    d->rate = rate;
    d->rows++;
    return rc;
}

static int lines(struct demand *d, const char *text, size_t len)
{
    static const char header[] = "t_s,requests_per_s";
    const char *p = text, *end = text + len;
    bool seen = false;
    int rc = 0;
    while (!rc && p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *line = p, *stop = nl ? nl : end;
        p = nl ? nl + 1 : end;
        d->line++;
        stop -= stop > line && stop[-1] == '\r';
        size_t n = (size_t)(stop - line);
        if (n == 0 || *line == '#') {
            continue;
        }
        if (!seen) {
            seen = true;
            rc = n == sizeof header - 1 && memcmp(line, header, n) == 0
                     ? 0
                     : refuse(d, "the header t_s,requests_per_s", line, n);
            continue;
        }
        rc = row(d, line, n);
    }
    if (!rc && d->rows == 0) {
        return refuse(d, "at least one row below the header t_s,requests_per_s", "", 0);
    }
    return rc;
}

int serve_demand(const char *text, size_t len, const char *file, double step_s, double **load,
                 size_t *steps, struct gt_error *err)
{
    struct demand d = {.file = file, .step_s = step_s, .last_gap = step_s, .err = err};
    int rc = lines(&d, text, len);
    rc = rc ? rc : hold(&d, d.t + d.last_gap);
    if (rc) {
        free(d.load);
        return rc;
    }
    double length = d.t + d.last_gap - d.start;
    for (size_t i = 0; i < d.steps; i++) {
        /* the last step may be a part of one */
        d.load[i] /= fmin(step_s, length - (double)i * step_s);
    }
    *load = d.load;
    *steps = d.steps;
    return 0;
}
