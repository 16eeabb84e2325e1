/* Bench: how fast this machine's device really is, beside its sheet, its past and other devices. */
#include "../widgets/draw.h"
#include "../widgets/term.h"
#include "bench_view.h"
#include "screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct screen_key keys[] = {
    {"s", "start", true, "measure the chosen device; stores the result"},
    {"Esc", "stop", true, "stop the measurement; what was measured stays on the screen, unstored"},
    {"d", "device", true,
     "choose the next back end's first device, which is the one that is measured"},
    {"t", "thorough", true, "quick (at most 15 s) or full"},
    {"c", "compare", true, "the selected test on every stored device, on and off"},
    {"H", "history", true, "stored runs and what drifted, on and off"},
    {"D", "look again", false, "look for devices again"},
    {NULL, NULL, false, NULL}};

struct bench {
    struct worker *worker;
    struct bench_work_ctx ctx;
    struct bench_news *known; /* devices; NULL = still looking */
    struct bench_news *run;   /* the run shown, NULL before the first */
    const struct bench_runs *runs;
    struct bench_news *keeps_runs; /* owner of runs: known, run or one kept for them alone */
    struct bench_choice measured;  /* what run is of */
    size_t chosen;
    bool thorough, running;
    struct list list, lines;
    enum { PANE_DEVICES, PANE_COMPARE, PANE_HISTORY } pane;
};

static void ask(struct ui *ui, struct bench *b, int kind)
{
    struct bench_ask *job = calloc(1, sizeof *job);
    if (!job) {
        ui_message(ui, "out of memory");
        return;
    }
    job->kind = kind;
    job->quick = !b->thorough;
    if (kind == BENCH_ASK_RUN) {
        snprintf(job->backend, sizeof job->backend, "%s", b->measured.backend);
    }
    worker_ask(b->worker, job);
}

static int open_screen(struct ui *ui, void **state, struct gt_error *err)
{
    struct bench *b = calloc(1, sizeof *b);
    if (b) {
        b->ctx.app = ui->app;
        b->worker = worker_start(&bench_work, &b->ctx, term_wake);
    }
    if (!b || !b->worker) {
        free(b);
        return gt_fail(err, GT_ENOMEM, "", "cannot start the measuring thread");
    }
    ask(ui, b, BENCH_ASK_DEVICES);
    *state = b;
    return 0;
}

/* Frees a piece of news unless something shown still lies in it. */
static void drop(const struct bench *b, struct bench_news *n)
{
    if (n != b->known && n != b->run && n != b->keeps_runs) {
        bench_news_free(n);
    }
}

static void close_screen(struct ui *ui, void *state)
{
    struct bench *b = state;
    if (!worker_stop(b->worker)) {
        ui->abandoned = true;
        return;
    }
    struct bench_news *own[] = {b->known, b->run, b->keeps_runs};
    b->known = b->run = b->keeps_runs = NULL;
    for (int i = 0; i < 3; i++) {
        if ((i < 1 || own[i] != own[0]) && (i < 2 || own[i] != own[1])) {
            bench_news_free(own[i]);
        }
    }
    free(b);
}

static void keep_runs(struct bench *b, struct bench_news *n)
{
    struct bench_news *old = b->keeps_runs;
    b->keeps_runs = n;
    b->runs = &n->runs;
    drop(b, old);
}

static void take_devices(struct bench *b, struct bench_news *n)
{
    struct bench_news *old = b->known;
    b->known = n;
    b->chosen = 0; /* GPUs come first, but a CPU behind OpenCL says less than the fallback itself */
    for (size_t i = 0; i < n->n_devices && !n->device[0].is_gpu; i++) {
        if (n->device[i].is_gpu) {
            b->chosen = i;
            break;
        }
        b->chosen = strcmp(n->device[i].backend, "cpu") == 0 ? i : b->chosen;
    }
    keep_runs(b, n);
    drop(b, old);
}

static void wake(struct ui *ui, void *state)
{
    struct bench *b = state;
    struct bench_news *n = worker_take(b->worker), *old = b->run;
    if (!n) {
        return;
    }
    switch (n->state) {
    case BENCH_DEVICES:
        take_devices(b, n);
        return;
    case BENCH_STOPPED:
        bench_news_free(n);
        return;
    case BENCH_RUNNING:
    case BENCH_DONE:
    case BENCH_FAILED:
        break;
    }
    if (n->state == BENCH_FAILED) {
        ui_error(ui, &n->err);
    }
    if (!b->known) { /* stored runs cannot be read: the devices are known all the same */
        take_devices(b, n);
        return;
    }
    if (!b->running && n->state != BENCH_DONE) { /* of a run that was stopped */
        bench_news_free(n);
        return;
    }
    b->running = n->state == BENCH_RUNNING;
    b->run = n;
    if (n->state == BENCH_DONE) {
        keep_runs(b, n);
        ui_message(ui, "measured in %.1f s and stored", n->seconds);
    }
    drop(b, old);
}

static struct bench_shown shown(const struct ui *ui, const struct bench *b)
{
    const struct bench_choice *chosen =
        b->known && b->known->n_devices ? &b->known->device[b->chosen] : NULL;
    return (struct bench_shown){.catalog = ui->catalog,
                                .run = b->run,
                                .device = b->run ? &b->measured : chosen,
                                .runs = b->runs,
                                .running = b->running};
}

static void draw_answer(const struct bench_shown *s, const struct bench *b, int y, int width)
{
    const struct bench_choice *d = s->device;
    if (!d) {
        draw_text(y, 1, width - 2, -1, EL_TITLE,
                  !b->known ? "~ looking for devices ..."
                            : "no device: not even the CPU could be asked; D looks again");
        return;
    }
    const char *how = b->running       ? "measuring"
                      : !s->run        ? "not measured yet, s starts"
                      : s->run->report ? "measured"
                                       : "not finished, not stored";
    draw_format(y, 1, width - 2, -1, EL_TITLE, "%s%s (%s): %s, %s", b->running ? "~ " : "", d->name,
                d->is_gpu ? d->backend : "CPU, not a GPU", how, b->thorough ? "full" : "quick");
}

static void draw(struct ui *ui, void *state, int y, int height, int width)
{
    struct bench *b = state;
    struct bench_shown s = shown(ui, b);
    draw_answer(&s, b, y, width);
    draw_rule(y + 1, 0, width);
    if (!s.device) {
        return;
    }
    int bar = b->running ? 1 : 0;
    int pane = height >= 14 ? (height - 4) / 3 + 2 : b->pane != PANE_DEVICES ? height - 4 : 0;
    int rows = height - 2 - bar - (pane ? pane + 1 : 0), n = s.run ? (int)s.run->n : 0;
    if (height >= 14 && rows > n + 2) { /* few tests: the pane takes what is left */
        pane += rows - n - 2;
        rows = n + 2;
    }
    list_resize(&b->list, (size_t)n, rows > 1 ? (size_t)rows - 1 : 1);
    if (rows > 1) {
        bench_view_table(&s, &b->list, y + 2, rows, width);
    }
    if (bar) {
        bench_view_progress(&s, y + 2 + rows, width);
    }
    if (pane < 2) {
        return;
    }
    int top = y + height - pane;
    draw_rule(top - 1, 0, width);
    if (b->pane == PANE_COMPARE) {
        bench_view_compare(&s, b->list.at, top, pane, width);
    } else if (b->pane == PANE_HISTORY) {
        list_resize(&b->lines, b->runs ? b->runs->n : 0, (size_t)pane - 1);
        bench_view_history(&s, b->lines.top, top, pane, width);
    } else {
        int used = b->known ? (int)b->known->n_devices + 1 : 0;
        bench_view_devices(b->known->device, b->known->n_devices, b->chosen, top, pane, width);
        if (pane > used) {
            bench_view_notes(&s, top + used, pane - used, width);
        }
    }
}

static void start(struct ui *ui, struct bench *b)
{
    if (!b->known || !b->known->n_devices) {
        ui_message(ui, b->known ? "no device to measure" : "still looking for devices");
        return;
    }
    if (b->running) {
        ui_message(ui, "a measurement is running; Esc stops it");
        return;
    }
    struct bench_news *first = calloc(1, sizeof *first), *old = b->run;
    if (!first) {
        ui_message(ui, "out of memory");
        return;
    }
    first->state = BENCH_RUNNING;
    b->run = first;
    b->measured = b->known->device[b->chosen];
    b->running = true;
    drop(b, old);
    ask(ui, b, BENCH_ASK_RUN);
}

static void stop(struct ui *ui, struct bench *b)
{
    b->running = false;
    ask(ui, b, BENCH_ASK_STOP);
    ui_message(ui, "stopped; a run that is not finished is not stored");
}

/* A back end measures its first device (bench.h): the others are shown, not chosen. */
static void next_device(struct bench *b)
{
    const struct bench_choice *d = b->known->device;
    for (size_t i = 0; i < b->known->n_devices; i++) {
        b->chosen = (b->chosen + 1) % b->known->n_devices;
        if (b->chosen == 0 || strcmp(d[b->chosen].backend, d[b->chosen - 1].backend) != 0) {
            return;
        }
    }
}

static bool key(struct ui *ui, void *state, int k, bool is_key)
{
    struct bench *b = state;
    if (b->pane == PANE_HISTORY ? list_scroll(&b->lines, k, is_key)
                                : list_key(&b->list, k, is_key)) {
        return true;
    }
    if (is_key) {
        return false;
    }
    switch (k) {
    case 's':
        start(ui, b);
        return true;
    case 27:
        if (b->running) {
            stop(ui, b);
        } else {
            b->pane = PANE_DEVICES;
        }
        return true;
    case 'd':
        if (b->known && b->known->n_devices && !b->running) {
            next_device(b);
            b->pane = PANE_DEVICES;
        }
        return true;
    case 't':
        b->thorough = !b->thorough;
        return true;
    case 'c':
        b->pane = b->pane == PANE_COMPARE ? PANE_DEVICES : PANE_COMPARE;
        return true;
    case 'H':
        b->pane = b->pane == PANE_HISTORY ? PANE_DEVICES : PANE_HISTORY;
        return true;
    case 'D':
        if (!b->running) {
            ask(ui, b, BENCH_ASK_DEVICES);
            ui_message(ui, "looking for devices");
        }
        return true;
    default:
        return false;
    }
}

const struct screen_ops screen_bench = {.digit = '5',
                                        .name = "Bench",
                                        .keys = keys,
                                        .open = open_screen,
                                        .draw = draw,
                                        .key = key,
                                        .wake = wake,
                                        .close = close_screen};
