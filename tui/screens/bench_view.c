/* Table of a run beside the sheet and earlier runs, stored devices side by side, history
 * (bench_view.h). */
#include "bench_view.h"
#include "../widgets/draw.h"
#include "gputier/model.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_LEAST 6

static const char *class_text(const char *backend, bool is_gpu, char out[48])
{
    snprintf(out, 48, "%s, %s", backend, is_gpu ? "GPU" : "CPU, not a GPU");
    return out;
}

/* The sheet of a measured device; a CPU has none here. */
static const struct gpu_spec *sheet_of(const struct bench_shown *s, const char *name, bool is_gpu)
{
    return is_gpu ? model_bench_spec(s->catalog, name) : NULL;
}

/* Median of a metric over stored runs of the device shown, but for the run shown itself. 0: none.
 */
static double before(const struct bench_shown *s, const char *metric)
{
    const struct bench_runs *l = s->runs;
    for (size_t i = 0; l && s->device && i < l->n; i++) {
        const struct bench_report *r = &l->run[i].report;
        if (r->origin || strcmp(r->device.name, s->device->name) != 0 ||
            strcmp(r->device.backend, s->device->backend) != 0) {
            continue;
        }
        const struct bench_result *m = bench_find(r, metric);
        struct bench_drift d;
        if (!m) {
            return 0;
        }
        if (!s->run || !s->run->report) { /* it is not stored yet: the newest one is an earlier */
            return m->median;
        }
        (void)bench_drifted(l, i, m, &d);
        return d.before;
    }
    return 0;
}

static void draw_bar(int y, int x, int width, double share)
{
    char text[512];
    int full = (int)lround(fmax(0, fmin(1, share)) * width), n = 0;
    const char *on = glyph("█", "#"), *off = glyph("·", ".");
    for (int i = 0; i < width && n < (int)sizeof text - 8; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s", i < full ? on : off);
    }
    draw_text(y, x, width, 0, EL_FRONT, text);
}

struct columns { /* -1: no room */
    int measured, unit, sheet, of_sheet, before, spread, bar;
};

static struct columns columns_of(int width)
{
    struct columns c = {.measured = 23, .unit = -1, .sheet = -1, .of_sheet = -1, .before = -1};
    int x = 33;
    c.spread = -1;
    if (width >= 48) {
        c.unit = x;
        x += 8;
    }
    if (width >= 64) {
        c.sheet = x;
        c.of_sheet = x + 9;
        x += 15;
    }
    if (width >= 72) {
        c.spread = x;
        x += 7;
    }
    if (width >= 96) {
        c.before = x;
        x += 10;
    }
    c.bar = width - x - 1 >= BAR_LEAST ? x + 1 : -1;
    return c;
}

static void draw_header(const struct columns *c, bool sheet, int y)
{
    draw_text(y, 3, 19, -1, EL_HEADER, "TEST");
    draw_text(y, c->measured, 9, 1, EL_HEADER, "MEASURED");
    if (c->sheet >= 0) {
        draw_text(y, c->sheet, 8, 1, EL_HEADER, "SHEET");
        draw_text(y, c->of_sheet, 5, 1, EL_HEADER, "OF IT");
    }
    if (c->spread >= 0) {
        draw_text(y, c->spread, 6, 1, EL_HEADER, "SPREAD");
    }
    if (c->before >= 0) {
        draw_text(y, c->before, 9, 1, EL_HEADER, "BEFORE");
    }
    if (c->bar >= 0) {
        draw_text(y, c->bar, 12, 0, EL_HEADER, sheet ? "OF THE SHEET" : "OF BEFORE");
    }
}

static void draw_row(const struct bench_shown *s, const struct columns *c, const struct gpu_spec *g,
                     const struct bench_live *m, enum element e, int y, int width)
{
    double most = g ? model_bench_sheet(g, m->metric) : 0, was = before(s, m->metric);
    double against = most > 0 ? most : g ? 0 : was;
    draw_text(y, 1, 1, 0, e == EL_SELECTED ? e : EL_BEST, glyph("✓", "+"));
    draw_text(y, 3, 19, -1, e, m->metric);
    draw_format(y, c->measured, 9, 1, e, "%.4g", m->median);
    if (c->unit >= 0) {
        draw_text(y, c->unit, 7, -1, e, m->unit);
    }
    if (c->sheet >= 0) {
        draw_format(y, c->sheet, 8, 1, e, most > 0 ? "%.5g" : "-", most);
        draw_format(y, c->of_sheet, 5, 1, e, most > 0 ? "%.0f %%" : "-", 100 * m->median / most);
    }
    if (c->spread >= 0) {
        draw_format(y, c->spread, 6, 1, m->spread > 0.05 && e == EL_TEXT ? EL_WARN : e, "%.1f %%",
                    100 * m->spread);
    }
    if (c->before >= 0) {
        draw_format(y, c->before, 9, 1, e, was > 0 ? "%.4g" : "-", was);
    }
    if (c->bar >= 0 && against > 0) {
        draw_bar(y, c->bar, width - c->bar - 1, m->median / against);
    }
}

void bench_view_table(const struct bench_shown *s, const struct list *l, int y, int rows, int width)
{
    struct columns c = columns_of(width);
    const struct gpu_spec *g = s->device ? sheet_of(s, s->device->name, s->device->is_gpu) : NULL;
    size_t n = s->run ? s->run->n : 0;
    draw_header(&c, g != NULL, y);
    for (int i = 0; i < rows - 1; i++) {
        size_t at = l->top + (size_t)i;
        int line = y + 1 + i;
        if (at < n) {
            enum element e = at == l->at ? EL_SELECTED : EL_TEXT;
            draw_fill(line, 0, width, e);
            draw_row(s, &c, g, &s->run->row[at], e, line, width);
        } else if (at == n && s->running && s->run->now[0]) {
            draw_text(line, 1, 1, 0, EL_KEY, glyph("▶", ">"));
            draw_text(line, 3, 19, -1, EL_TEXT, s->run->now);
        }
    }
}

void bench_view_progress(const struct bench_shown *s, int y, int width)
{
    const struct bench_news *r = s->run;
    double share = r->total > 0 ? (double)r->done / r->total : 0;
    char left[48] = "";
    if (r->done > 0 && r->total > r->done) {
        snprintf(left, sizeof left, "about %.0f s left",
                 ceil(r->seconds / r->done * (r->total - r->done)));
    }
    int tail = width >= 60 ? 30 : 8, bar = width - tail - 3;
    draw_bar(y, 1, bar, share);
    draw_format(y, bar + 2, tail, -1, EL_TEXT, "%3.0f %%  %s", 100 * share, left);
}

void bench_view_devices(const struct bench_choice *d, size_t n, size_t chosen, int y, int rows,
                        int width)
{
    draw_text(y, 1, width - 2, -1, EL_HEADER, "DEVICES OF THIS MACHINE");
    for (int i = 0; i < rows - 1 && (size_t)i < n; i++) {
        char cls[48];
        bool on = (size_t)i == chosen;
        enum element e = on ? EL_BEST : EL_TEXT;
        draw_text(y + 1 + i, 1, 1, 0, e, on ? glyph("▶", ">") : " ");
        draw_format(y + 1 + i, 3, width - 4, -1, e, "%s (%s) %.1f GiB, driver %s", d[i].name,
                    class_text(d[i].backend, d[i].is_gpu, cls), d[i].memory_gib, d[i].driver);
    }
}

void bench_view_compare(const struct bench_shown *s, size_t at, int y, int rows, int width)
{
    if (!s->run || at >= s->run->n || !s->runs) {
        draw_text(y, 1, width - 2, -1, EL_TEXT, "measure or import a run first");
        return;
    }
    const struct bench_live *m = &s->run->row[at];
    int name = width >= 96 ? 44 : width >= 64 ? 30 : 18, line = y + 1;
    draw_format(y, 1, width - 2, -1, EL_HEADER, "%s, %s: THE LATEST RUN OF EVERY STORED DEVICE",
                m->metric, m->unit);
    for (size_t i = 0; i < s->runs->n && line < y + rows; i++) {
        const struct bench_report *r = &s->runs->run[i].report;
        const struct bench_result *v = bench_find(r, m->metric);
        if (!v || !bench_latest(s->runs, i) || strcmp(v->unit, m->unit) != 0) {
            continue;
        }
        char cls[48], of[32] = "";
        const struct gpu_spec *g = sheet_of(s, r->device.name, r->device.is_gpu);
        double most = g ? model_bench_sheet(g, m->metric) : 0;
        if (most > 0) {
            snprintf(of, sizeof of, ", %.0f %% of its sheet", 100 * v->median / most);
        }
        draw_text(line, 1, name, -1, EL_TEXT, r->device.name);
        draw_format(line, name + 2, 9, 1, EL_TEXT, "%.4g", v->median);
        draw_format(line, name + 12, width - name - 13, -1, EL_TEXT, "x%.2f%s; %s, from %s",
                    v->median / m->median, of, class_text(r->device.backend, r->device.is_gpu, cls),
                    r->origin ? r->origin : "here");
        line++;
    }
}

/* What drifted of run `at`, as text; "" nothing. */
static void drift_text(const struct bench_runs *l, size_t at, char *out, size_t size)
{
    const struct bench_report *r = &l->run[at].report;
    out[0] = '\0';
    for (size_t i = 0; bench_latest(l, at) && i < r->n; i++) {
        struct bench_drift d;
        size_t n = strlen(out);
        if (bench_drifted(l, at, &r->result[i], &d) && n + 1 < size) {
            snprintf(out + n, size - n, "%s%s %+.0f %%", n ? ", " : "drift: ", d.metric,
                     100 * d.change);
        }
    }
}

void bench_view_history(const struct bench_shown *s, size_t top, int y, int rows, int width)
{
    const struct bench_runs *l = s->runs;
    int name = width >= 96 ? 34 : 20;
    draw_format(y, 1, width - 2, -1, EL_HEADER, "%zu STORED RUNS, NEWEST FIRST", l ? l->n : 0);
    for (int i = 0; l && i < rows - 1 && top + (size_t)i < l->n; i++) {
        const struct bench_kept *k = &l->run[top + (size_t)i];
        const struct bench_result *triad = bench_find(&k->report, "triad");
        char when[32], drift[200], rate[48] = "";
        time_format(k->report.measured_at, when);
        drift_text(l, top + (size_t)i, drift, sizeof drift);
        if (triad) {
            snprintf(rate, sizeof rate, "triad %.4g GB/s ", triad->median);
        }
        draw_format(y + 1 + i, 1, 16, -1, EL_TEXT, "%lld %.10s", (long long)k->id, when);
        draw_text(y + 1 + i, 18, name, -1, EL_TEXT, k->report.device.name);
        draw_format(y + 1 + i, 19 + name, width - name - 20, -1, drift[0] ? EL_WARN : EL_TEXT,
                    "%s%s%s%s", k->report.device.is_gpu ? "" : "CPU, not a GPU ", rate,
                    k->report.origin ? "imported " : "", drift);
    }
}

void bench_view_notes(const struct bench_shown *s, int y, int rows, int width)
{
    const struct bench_report *r = s->run ? s->run->report : NULL;
    for (size_t i = 0; r && i < r->n_notes && rows > 0; i++) {
        int used = draw_wrapped(y, 1, rows, width - 2, EL_DIM, r->note[i]);
        y += used;
        rows -= used;
    }
}
