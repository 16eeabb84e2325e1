/* Progress of `fetch` (fetch_view.h). */
#include "fetch_view.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

const char *fetch_state_name(int state)
{
    static const char *const names[] = {"waiting",   "running", "done",
                                        "unchanged", "failed",  "quarantined"};
    return names[state];
}

void fetch_view_init(struct fetch_view *v, struct app *app)
{
    *v = (struct fetch_view){.app = app, .started_ms = now_ms()};
    v->terminal = isatty(STDERR_FILENO) && !app->plain && !app->quiet && app->format == OUT_TABLE;
}

void fetch_view_release(struct fetch_view *v)
{
    free(v->part);
    *v = (struct fetch_view){0};
}

static struct fetch_part *find_part(struct fetch_view *v, const struct fetch_progress *p)
{
    for (size_t i = 0; i < v->n; i++) {
        if (strcmp(v->part[i].source, p->source_id) == 0 &&
            strcmp(v->part[i].scope, p->scope) == 0 && v->part[i].index == p->index) {
            return &v->part[i];
        }
    }
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 16;
        struct fetch_part *grown = realloc(v->part, cap * sizeof *grown);
        if (!grown) {
            v->failed = true;
            return NULL;
        }
        v->part = grown;
        v->cap = cap;
    }
    struct fetch_part *part = &v->part[v->n++];
    *part = (struct fetch_part){.state = FETCH_QUEUED, .index = p->index};
    snprintf(part->source, sizeof part->source, "%s", p->source_id);
    snprintf(part->scope, sizeof part->scope, "%s", p->scope);
    return part;
}

static void print_safe(const char *text)
{
    struct buf b;
    buf_init(&b, 8192);
    if (text_safe(&b, text, strlen(text), false) == 0 && b.data) {
        fputs(b.data, stderr);
    }
    buf_release(&b);
}

/* One line at the end of a part, for logs and pipes. */
static void tell_end(const struct fetch_view *v, struct fetch_part *p)
{
    char size[32], line[1024];
    double s = (double)(now_ms() - v->started_ms) / 1000;
    const char *slash = p->scope[0] ? " " : "";
    bool absent = p->state == FETCH_DONE && p->message[0];
    if (p->named || v->app->quiet || (absent && v->app->verbose == 0)) {
        return;
    }
    if (absent) {
        snprintf(line, sizeof line, "%s%s%s: %s", p->source, slash, p->scope, p->message);
    } else if (p->state == FETCH_DONE) {
        snprintf(line, sizeof line, "%s%s%s: %llu rows, %s in %.1f s", p->source, slash, p->scope,
                 (unsigned long long)p->rows, size_format(p->bytes, size), s);
    } else if (p->state == FETCH_UNCHANGED) {
        snprintf(line, sizeof line, "%s%s%s: unchanged", p->source, slash, p->scope);
    } else {
        snprintf(line, sizeof line, "%s%s%s: %s: %s", p->source, slash, p->scope,
                 fetch_state_name(p->state), p->message);
    }
    print_safe(line);
    fputc('\n', stderr);
    p->named = true;
}

bool fetch_part_past(const struct fetch_part *p)
{
    return p->index && p->state >= FETCH_DONE && p->state != FETCH_FAILED;
}

struct source_line {
    uint64_t bytes, total, rows;
    size_t parts, ended, failed, unchanged, quarantined;
    const char *message;
    bool total_known;
};

static void add_up(const struct fetch_view *v, const char *source, struct source_line *l)
{
    *l = (struct source_line){.total_known = true};
    for (size_t i = 0; i < v->n; i++) {
        const struct fetch_part *p = &v->part[i];
        if (strcmp(p->source, source) != 0 || fetch_part_past(p)) {
            continue;
        }
        l->parts++;
        l->bytes += p->bytes;
        l->total += p->total;
        l->rows += p->rows;
        l->ended += p->state >= FETCH_DONE;
        l->failed += p->state == FETCH_FAILED;
        l->unchanged += p->state == FETCH_UNCHANGED;
        l->quarantined += p->state == FETCH_QUARANTINED;
        l->total_known = l->total_known && (p->total > 0 || p->state >= FETCH_DONE);
        if (p->message[0] && p->state != FETCH_DONE && (!l->message || p->state >= FETCH_FAILED)) {
            l->message = p->message;
        }
    }
}

static void source_text(const struct fetch_view *v, const char *source, char *line, size_t size)
{
    struct source_line l;
    char got[32], all[32], rate[32], left[48] = "";
    add_up(v, source, &l);
    double s = (double)(now_ms() - v->started_ms) / 1000;
    double per_s = s > 0.5 ? (double)l.bytes / s : 0;
    if (l.ended < l.parts && l.total_known && l.total > l.bytes && per_s > 0) {
        char d[32];
        snprintf(left, sizeof left, ", %s left",
                 duration_format(ceil((double)(l.total - l.bytes) / per_s), d));
    }
    const char *state = l.ended < l.parts        ? "       "
                        : l.failed               ? "failed "
                        : l.quarantined          ? "held   "
                        : l.unchanged == l.parts ? "same   "
                                                 : "done   ";
    snprintf(line, size, "%-16s %s %3zu/%zu files  %s%s%s  %llu rows  %s/s%s  %s", source, state,
             l.ended, l.parts, size_format(l.bytes, got), l.total_known && l.total ? " of " : "",
             l.total_known && l.total ? size_format(l.total, all) : "", (unsigned long long)l.rows,
             size_format((uint64_t)per_s, rate), left, l.message ? l.message : "");
}

static bool first_of_source(const struct fetch_view *v, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(v->part[k].source, v->part[i].source) == 0) {
            return false;
        }
    }
    return true;
}

static void draw(struct fetch_view *v)
{
    struct winsize ws = {0};
    struct buf out;
    size_t lines = 0;
    ioctl(STDERR_FILENO, TIOCGWINSZ, &ws);
    size_t width = ws.ws_col > 20 ? ws.ws_col - 1U : 79;
    buf_init(&out, 1 << 20);
    for (; v->drawn > 0; v->drawn--) {
        buf_adds(&out, "\033[A");
    }
    buf_adds(&out, "\r");
    for (size_t i = 0; i < v->n; i++) {
        if (first_of_source(v, i) && lines + 2 < (ws.ws_row ? ws.ws_row : 24U)) {
            char line[1024];
            struct buf safe;
            source_text(v, v->part[i].source, line, sizeof line);
            buf_init(&safe, 8192);
            text_safe(&safe, line, strlen(line), false);
            text_fit(&out, safe.data ? safe.data : "", width, -1, false);
            buf_adds(&out, "\033[K\n");
            buf_release(&safe);
            lines++;
        }
    }
    if (!out.failed && out.data) {
        fwrite(out.data, 1, out.len, stderr);
        fflush(stderr);
        v->drawn = lines;
    }
    buf_release(&out);
}

void fetch_view_update(void *view, const struct fetch_progress *p)
{
    struct fetch_view *v = view;
    struct fetch_part *part = find_part(v, p);
    if (!part) {
        return;
    }
    part->bytes = p->bytes > 0 ? p->bytes : part->bytes;
    part->total = p->total > 0 ? p->total : part->total;
    part->rows = p->rows > 0 ? p->rows : part->rows;
    part->state = (int)p->state;
    snprintf(part->message, sizeof part->message, "%s", p->message ? p->message : "");
    if (v->terminal) {
        draw(v);
    } else if (part->state >= FETCH_DONE && !fetch_part_past(part)) {
        tell_end(v, part);
    }
}

void fetch_view_end(struct fetch_view *v)
{
    if (v->terminal) {
        draw(v);
    }
    for (size_t i = 0; i < v->n; i++) {
        if (v->terminal && v->part[i].state >= FETCH_FAILED) {
            tell_end(v, &v->part[i]); /* the moving line had no room for the reason */
        }
    }
}
