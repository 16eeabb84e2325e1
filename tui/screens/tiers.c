/* Tiers: where every group of data should live over the years, and what that saves. */
#include "../widgets/draw.h"
#include "../widgets/term.h"
#include "gputier/units.h"
#include "screen.h"
#include "tiers_view.h"
#include <curses.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_ROWS 8
#define TEXT_MAX   (256UL << 20)

static const struct screen_key keys[] = {
    {"Enter", "steps, rules", true, "first steps, lifecycle rules and assumptions, on and off"},
    {"t", "over time", true, "bytes of every tier and money month by month, on and off"},
    {"Left Right", "month", false, "the month that is told in figures"},
    {"o", "open", true, "open a listing, an inventory, a histogram or a scenario"},
    {"H", "horizon", true, "how long the data are kept"},
    {"W", "longest wait", false, "longest acceptable wait for the first byte"},
    {"P", "product, limits", true, "options of tier: --from gcs, --robust 10"},
    {"L", "lifecycle file", true, "write the plain policy as a lifecycle file"},
    {"w", "write", true, "write the answer (.html .md .csv .json .txt)"},
    {"u", "undo", false, "undo the last file, horizon, wait or options"},
    {"Ctrl-R", "redo", false, "redo it"},
    {NULL, NULL, false, NULL}};

#define UNDO_MAX 32
struct tiers {
    struct worker *worker;
    struct tiers_work_ctx ctx;
    struct tiers_job undo[UNDO_MAX]; /* undo[at] is in force, up to n can be redone */
    size_t at, n;
    struct tiers_result *result; /* the last answer, NULL before the first */
    struct list list, lines;
    enum { PANE_GROUP, PANE_TEXTS, PANE_TIME } pane;
    size_t month, months_a_column; /* of PANE_TIME */
};

static const struct tiers_job *asked(const struct tiers *t)
{
    return &t->undo[t->at];
}

static void plan(struct ui *ui, struct tiers *t)
{
    struct tiers_job *job = malloc(sizeof *job);
    if (!job) {
        ui_message(ui, "out of memory");
        return;
    }
    *job = *asked(t);
    worker_ask(t->worker, job);
}

/* A changed question becomes the one in force; the oldest is forgotten when there is no room. */
static void change(struct ui *ui, struct tiers *t, const struct tiers_job *job)
{
    if (t->at + 1 == UNDO_MAX) {
        memmove(t->undo, t->undo + 1, (UNDO_MAX - 1) * sizeof *t->undo);
        t->at--;
    }
    t->undo[++t->at] = *job;
    t->n = t->at;
    plan(ui, t);
}

static int open_screen(struct ui *ui, void **state, struct gt_error *err)
{
    struct tiers *t = calloc(1, sizeof *t);
    if (t) {
        t->ctx = (struct tiers_work_ctx){ui->app, ui->catalog};
        t->worker = worker_start(&tiers_work, &t->ctx, term_wake);
    }
    if (!t || !t->worker) {
        free(t);
        return gt_fail(err, GT_ENOMEM, "", "cannot start the planning thread");
    }
    snprintf(t->undo[0].path, sizeof t->undo[0].path, "%s/examples/vision-team.yaml",
             ui->app->data_dir);
    plan(ui, t);
    *state = t;
    return 0;
}

static void close_screen(struct ui *ui, void *state)
{
    struct tiers *t = state;
    if (!worker_stop(t->worker)) {
        ui->abandoned = true;
        return;
    }
    tiers_result_free(t->result);
    free(t);
}

static void wake(struct ui *ui, void *state)
{
    struct tiers *t = state;
    struct tiers_result *r = worker_take(t->worker);
    if (!r) {
        return;
    }
    if (r->code) { /* the last answer stays on the screen, the question goes back to it */
        ui_error(ui, &r->err);
        if (t->result && t->at > 0) {
            t->at--;
            t->n = t->at;
        }
        if (t->result) {
            tiers_result_free(r);
            return;
        }
    }
    tiers_result_free(t->result);
    t->result = r;
    if (!r->code && t->month >= (size_t)r->answer.series.months) {
        t->month = 0;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void draw_answer(const struct tiers *t, int y, int width)
{
    const struct tiers_result *r = t->result;
    const char *busy = worker_busy(t->worker) ? "~ planning ... " : "";
    if (!r || r->code) {
        draw_format(y, 1, width - 2, -1, r ? EL_WARN : EL_TITLE, "%s%s", busy,
                    r ? "nothing to show; o opens a listing, an inventory or a scenario" : "");
        return;
    }
    const struct tier_answer *a = &r->answer;
    char now[MONEY_TEXT], best[MONEY_TEXT], saves[MONEY_TEXT], proof[48] = "exact";
    double share =
        a->baseline > 0 ? 100 * money_to_double(a->saving) / money_to_double(a->baseline) : 0;
    if (a->total > a->lower_bound) {
        double gap = 100 * (money_to_double(a->total) / money_to_double(a->lower_bound) - 1);
        snprintf(proof, sizeof proof, gap < 0.1 ? "within 0.1 %%" : "within %.1f %%", gap);
    }
    draw_format(y, 1, width - 2, -1, EL_TITLE,
                "%s%s, %d mo%s: as it is %s %s best %s%s %s, saves %s (%.0f %%), %s", busy,
                base_name(r->asked.path), a->horizon, width < 100 ? "" : r->place,
                money_format_fixed(a->baseline, 0, true, now), glyph("→", "->"),
                a->at_least ? "at least " : "", money_format_fixed(a->total, 0, true, best),
                a->currency, money_format_fixed(a->saving, 0, true, saves), share, proof);
}

static void draw(struct ui *ui, void *state, int y, int height, int width)
{
    struct tiers *t = state;
    const struct tiers_result *r = t->result;
    (void)ui;
    draw_answer(t, y, width);
    draw_rule(y + 1, 0, width);
    if (!r || r->code) {
        return;
    }
    int legend = 1 + (width < 100), pane = t->pane != PANE_GROUP ? (height - 3) * 2 / 3 : 8;
    pane = height < 16 ? 0 : pane;
    if (height < 16 && t->pane == PANE_TIME) { /* no room for a table beside it */
        t->months_a_column = tiers_view_time(r, t->month, y + 2, height - 2, width);
        return;
    }
    int rows = height - 2 - legend - (pane ? pane + 1 : 0);
    if (rows > (int)r->n + 1) { /* few groups: the pane takes what is left */
        pane += pane ? rows - (int)r->n - 1 : 0;
        rows = (int)r->n + 1;
    }
    list_resize(&t->list, r->n, rows > 1 ? (size_t)rows - 1 : 1);
    tiers_view_table(r, &t->list, y + 2, rows, width);
    tiers_view_legend(r, y + 2 + rows, legend, width);
    if (!pane || !r->n) {
        return;
    }
    int top = y + height - pane;
    draw_rule(top - 1, 0, width);
    if (t->pane == PANE_TIME) {
        t->months_a_column = tiers_view_time(r, t->month, top, pane, width);
    } else if (t->pane == PANE_TEXTS) {
        size_t n = tiers_view_texts(r, t->lines.top, top, pane, width);
        list_resize(&t->lines, n, (size_t)pane);
    } else if (pane < GROUP_ROWS + 5) {
        tiers_view_group(r, t->list.at, top, pane, width);
    } else { /* room for both */
        tiers_view_group(r, t->list.at, top, GROUP_ROWS, width);
        draw_rule(top + GROUP_ROWS, 0, width);
        tiers_view_texts(r, 0, top + GROUP_ROWS + 1, pane - GROUP_ROWS - 1, width);
    }
}

static void open_done(struct ui *ui, void *state, const char *path, bool final)
{
    struct tiers *t = state;
    struct tiers_job job = *asked(t);
    if (!final || !path || !path[0]) {
        return;
    }
    snprintf(job.path, sizeof job.path, "%s", path);
    change(ui, t, &job);
    t->list.at = t->list.top = 0;
}

static void horizon_done(struct ui *ui, void *state, const char *text, bool final)
{
    struct tiers *t = state;
    struct tiers_job job = *asked(t);
    struct gt_error err = {0};
    double s = 0;
    if (!final || !text || !text[0]) {
        return;
    }
    if (duration_parse(text, true, &s, &err)) {
        ui_error(ui, &err);
        return;
    }
    double months = floor(s / (GT_HOURS_PER_MONTH * 3600.0) + 0.5);
    if (months < 1 || months > 1200) {
        gt_fail(&err, GT_ERANGE, "", "found '%.40s', expected 1mo to 100y", text);
        ui_error(ui, &err);
        return;
    }
    snprintf(job.horizon, sizeof job.horizon, "%dmo", (int)months);
    change(ui, t, &job);
}

static void wait_done(struct ui *ui, void *state, const char *text, bool final)
{
    struct tiers *t = state;
    struct tiers_job job = *asked(t);
    struct gt_error err = {0};
    if (!final || !text || !text[0]) {
        return;
    }
    double s = 0;
    bool any = strcmp(text, "any") == 0;
    int rc = any ? 0 : duration_parse(text, false, &s, &err);
    if (rc == 0 && strlen(text) >= sizeof job.wait) {
        rc = gt_fail(&err, GT_ERANGE, "", "a duration of at most %zu signs", sizeof job.wait - 1);
    }
    if (rc) {
        ui_error(ui, &err);
        return;
    }
    snprintf(job.wait, sizeof job.wait, "%s", any ? "" : text);
    change(ui, t, &job);
}

static void options_done(struct ui *ui, void *state, const char *text, bool final)
{
    struct tiers *t = state;
    struct tiers_job job = *asked(t);
    if (!final || !text) {
        return;
    }
    if (strlen(text) >= sizeof job.options) {
        ui_message(ui, "longer than options may be");
        return;
    }
    snprintf(job.options, sizeof job.options, "%s", text);
    change(ui, t, &job);
}

static void lifecycle_done(struct ui *ui, void *state, const char *path, bool final)
{
    struct tiers *t = state;
    struct gt_error err = {0};
    if (!final || !path || !path[0] || !t->result || t->result->code) {
        return;
    }
    if (tier_answer_lifecycle(&t->result->answer, path, &err)) {
        ui_error(ui, &err);
    } else {
        ui_message(ui, "wrote the lifecycle policy to %s", path);
    }
}

static bool ends(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n > k && strcmp(path + n - k, suffix) == 0;
}

/* Releases b. */
static void put_file(struct ui *ui, const struct tiers *t, const char *path, int rc, struct buf *b,
                     struct gt_error *err)
{
    rc = rc ? rc : app_write_file(path, b->data, b->len, err);
    buf_release(b);
    if (rc) {
        ui_error(ui, err);
    } else {
        ui_message(ui, "wrote %zu groups to %s", t->result->n, path);
    }
}

static void write_done(struct ui *ui, void *state, const char *path, bool final)
{
    struct tiers *t = state;
    struct gt_error err = {0};
    struct buf b;
    if (!final || !path || !path[0] || !t->result || t->result->code) {
        return;
    }
    const struct tier_answer *a = &t->result->answer;
    buf_init(&b, TEXT_MAX);
    bool html;
    if (tier_report_kind(path, &html)) {
        int why = tier_report(a, base_name(t->result->asked.path), ui->app->now, html, &b, &err);
        put_file(ui, t, path, why, &b, &err);
        return;
    }
    int rc = ends(path, ".json")  ? tier_json(ui->app, a, &b)
             : ends(path, ".csv") ? tier_csv(a, &b)
                                  : tier_text(ui->app, a, &b);
    rc = rc ? gt_fail(&err, rc, "", "the output is too large") : 0;
    put_file(ui, t, path, rc, &b, &err);
}

static void undo(struct ui *ui, struct tiers *t, int by)
{
    if ((by < 0 && t->at == 0) || (by > 0 && t->at == t->n)) {
        ui_message(ui, by < 0 ? "nothing to undo" : "nothing to redo");
        return;
    }
    t->at = by < 0 ? t->at - 1 : t->at + 1;
    plan(ui, t);
}

/* Left and right: one column of the charts. */
static bool step_month(struct tiers *t, int k, bool is_key)
{
    size_t months = t->result ? (size_t)t->result->answer.series.months : 0;
    size_t by = t->months_a_column ? t->months_a_column : 1;
    bool left = is_key ? k == KEY_LEFT : k == 'h', right = is_key ? k == KEY_RIGHT : k == 'l';
    if (left) {
        t->month = t->month > by ? t->month - by : 0;
    } else if (right) {
        t->month = t->month + by < months ? t->month + by : t->month;
    }
    return left || right;
}

static bool key(struct ui *ui, void *state, int k, bool is_key)
{
    struct tiers *t = state;
    char text[64];
    if (t->pane == PANE_TIME && step_month(t, k, is_key)) {
        return true;
    }
    if (t->pane == PANE_TEXTS ? list_scroll(&t->lines, k, is_key) : list_key(&t->list, k, is_key)) {
        return true;
    }
    if (is_key) {
        return false;
    }
    switch (k) {
    case '\r':
    case '\n':
        t->pane = t->pane == PANE_TEXTS ? PANE_GROUP : PANE_TEXTS;
        return true;
    case 't':
        t->pane = t->pane == PANE_TIME ? PANE_GROUP : PANE_TIME;
        return true;
    case 27:
        t->pane = PANE_GROUP;
        return true;
    case 'o':
        ui_ask(ui, "open listing, inventory, histogram or scenario: ", asked(t)->path, false,
               open_done, t);
        return true;
    case 'H':
        snprintf(text, sizeof text, "%s", asked(t)->horizon[0] ? asked(t)->horizon : "36mo");
        ui_ask(ui, "keep for (36mo, 5y): ", text, false, horizon_done, t);
        return true;
    case 'W':
        ui_ask(ui, "longest wait for the first byte (12h, any): ", "any", false, wait_done, t);
        return true;
    case 'P':
        ui_ask(ui, "options of tier (--from gcs --robust 10): ", asked(t)->options, false,
               options_done, t);
        return true;
    case 'L':
        ui_ask_path(ui, "write the lifecycle policy to: ", "lifecycle.json", lifecycle_done, t);
        return true;
    case 'w':
        ui_ask_path(ui, "write to (.html .md .csv .json .txt): ", "tiers.csv", write_done, t);
        return true;
    case 'u':
        undo(ui, t, -1);
        return true;
    case 18: /* Ctrl-R */
        undo(ui, t, 1);
        return true;
    default:
        return false;
    }
}

const struct screen_ops screen_storage = {.digit = '4',
                                          .name = "Tiers",
                                          .keys = keys,
                                          .open = open_screen,
                                          .draw = draw,
                                          .key = key,
                                          .wake = wake,
                                          .close = close_screen};
