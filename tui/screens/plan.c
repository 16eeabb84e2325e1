/* Plan: the scenario's form, the ranked plans, cost against time; every change plans anew at once.
 */
#include "../report/doc.h"
#include "../widgets/draw.h"
#include "../widgets/list.h"
#include "../widgets/term.h"
#include "gputier/units.h"
#include "plan_form.h"
#include "plan_view.h"
#include "plan_work.h"
#include "screen.h"
#include <curses.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM_WIDTH 33

static const struct screen_key keys[] = {
    {"Enter", "bill", true, "bill, reasons and notes of the selected plan"},
    {"e", "edit", true, "edit the scenario: Enter changes a field, Esc leaves"},
    {"- +", "deadline", true, "deadline 5 % shorter, longer"},
    {"[ ]", "budget", false, "budget 5 % lower, higher"},
    {"m", "axes", false, "axes: cost by time, cost by risk"},
    {"R", "rejected", true, "what was rejected, and why"},
    {"o", "open", true, "open a scenario file"},
    {"S", "save", true, "save the plan under a name"},
    {"u", "undo", true, "undo the last edit"},
    {"Ctrl-R", "redo", false, "redo it"},
    {"w", "report", true, "write the report (.html .md .csv)"},
    {NULL, NULL, false, NULL}};

struct plan_screen {
    struct plan_form form;
    struct worker *worker;
    struct plan_work_ctx work;
    struct plan_result *result; /* NULL until the first answer */
    struct list plans, fields;
    struct list why_not;
    bool editing, details, risk_axis, rejected;
};

static void replan(struct ui *ui, struct plan_screen *p)
{
    struct scenario *s;
    struct gt_error err = {0};
    if (form_copy(&p->form, ui->app, &s, &err)) {
        ui_error(ui, &err);
        return;
    }
    worker_ask(p->worker, s);
}

static int open_screen(struct ui *ui, void **state, struct gt_error *err)
{
    struct plan_screen *p = calloc(1, sizeof *p);
    int rc =
        p ? form_load(&p->form, ui->app, NULL, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (!rc) {
        p->work = (struct plan_work_ctx){ui->catalog, ui->app->now, ui->app->currency, NULL};
        p->worker = worker_start(&plan_work, &p->work, term_wake);
        rc = p->worker ? 0 : gt_fail(err, GT_ENOMEM, "", "cannot start the planning thread");
    }
    if (rc) {
        if (p) {
            form_release(&p->form);
        }
        free(p);
        return rc;
    }
    replan(ui, p);
    *state = p;
    return 0;
}

static void close_screen(struct ui *ui, void *state)
{
    struct plan_screen *p = state;
    if (!worker_stop(p->worker)) {
        ui->abandoned = true;
        return;
    }
    plan_result_free(p->result);
    plan_memory_free(p->work.memory);
    form_release(&p->form);
    free(p);
}

static void wake(struct ui *ui, void *state)
{
    struct plan_screen *p = state;
    struct plan_result *r = worker_take(p->worker);
    (void)ui;
    if (r) {
        plan_result_free(p->result);
        p->result = r;
    }
}

static const struct plan_set *plans_of(const struct plan_screen *p)
{
    return p->result ? p->result->set : NULL;
}

static void draw_answer(struct plan_screen *p, int y, int width)
{
    const char *busy = worker_busy(p->worker) ? "~ planning ... " : "";
    if (!plans_of(p)) {
        draw_format(y, 1, width - 2, -1, p->result ? EL_WARN : EL_TITLE, "%s%s", busy,
                    p->result ? p->result->err.text : "");
        return;
    }
    if (plans_of(p)->n == 0) {
        draw_format(y, 1, width - 2, -1, EL_WARN, "%s%s", busy, p->result->err.text);
        return;
    }
    char bound[MONEY_TEXT], cost[MONEY_TEXT], proof[MONEY_TEXT + 48];
    const struct plan *best = &plans_of(p)->plan[0];
    money_format_fixed(plans_of(p)->lower_bound, 2, true, bound);
    money_format_fixed(best->total, 2, true, cost);
    if (strcmp(bound, cost) == 0) {
        snprintf(proof, sizeof proof, "proved cheapest");
    } else {
        snprintf(proof, sizeof proof, "proved: nothing costs less than %s", bound);
    }
    draw_format(y, 1, width - 2, -1, EL_TITLE, "%scheapest %s%s %s of %zu candidates; %s", busy,
                best->at_least ? "at least " : "", cost, best->currency, plans_of(p)->candidates,
                proof);
}

static void draw_form(struct plan_screen *p, int y, int height, int width)
{
    size_t n = 0;
    while (form_field_at(n)) {
        n++;
    }
    list_resize(&p->fields, n, (size_t)(height - 1));
    const char *slash = strrchr(p->form.file, '/');
    draw_format(y, 1, width - 1, -1, EL_HEADER, "%s%s", slash ? slash + 1 : p->form.file,
                p->form.n ? " (edited)" : "");
    for (int r = 0; r < height - 1; r++) {
        size_t i = p->fields.top + (size_t)r;
        const struct form_field *f = form_field_at(i);
        char value[256];
        if (!f) {
            break;
        }
        bool selected = p->editing && i == p->fields.at;
        f->show(p->form.scenario, value, sizeof value);
        draw_text(y + 1 + r, 0, 1, 0, EL_TEXT, selected ? glyph("▶", ">") : " ");
        draw_text(y + 1 + r, 1, 12, -1, selected ? EL_SELECTED : EL_DIM, f->label);
        draw_text(y + 1 + r, 14, width - 15, -1, selected ? EL_SELECTED : EL_TEXT, value);
    }
}

/* The pane beside or instead of the form: bill and reasons, what was rejected, or the front. */
static void draw_pane(struct plan_screen *p, int y, int x, int height, int width)
{
    if (!plans_of(p)) {
        return;
    }
    if (p->rejected || plans_of(p)->n == 0) {
        draw_format(y, x, width, -1, EL_TITLE, "%zu rejected%s", plans_of(p)->n_rejected,
                    p->rejected ? ", R closes" : "");
        list_resize(&p->why_not, plans_of(p)->n_rejected, height > 1 ? (size_t)height - 1 : 1);
        plan_view_rejected(plans_of(p), p->why_not.top, y + 1, x, height - 1, width);
    } else if (p->details && p->plans.at < plans_of(p)->n) {
        plan_view_details(plans_of(p), p->plans.at, y, x, height, width);
    } else {
        plan_view_plot(plans_of(p), p->risk_axis, p->form.scenario->deadline_s, y, x, height,
                       width);
    }
}

static void draw(struct ui *ui, void *state, int y, int height, int width)
{
    struct plan_screen *p = state;
    (void)ui;
    bool pane_only = !p->editing && (p->details || p->rejected) && width < 110;
    int below = height >= 30 ? (height - 3) / 2 : p->details && !p->editing ? 5 : 8;
    int top = height - 3 - below;
    if (height < 14) { /* one thing at a time */
        top = p->editing || p->details || p->rejected ? height - 3 : -1;
    }
    int form = pane_only ? 0 : width >= 78 ? FORM_WIDTH : p->editing ? width : 0;
    draw_answer(p, y, width);
    draw_rule(y + 1, 0, width);
    if (form && top > 0) {
        draw_form(p, y + 2, top, form);
    }
    if (form < width && top > 0) {
        if (form) {
            draw_vertical(y + 2, form, top);
        }
        int x = form ? form + 2 : 1;
        draw_pane(p, y + 2, x, top, width - x);
    }
    if (top >= 0) {
        draw_rule(y + 2 + top, 0, width);
    }
    int rows = height - 3 - top;
    list_resize(&p->plans, plans_of(p) ? plans_of(p)->n : 0, rows > 1 ? (size_t)rows - 1 : 1);
    if (p->result && plans_of(p) && !plans_of(p)->n) { /* which constraint, what would do */
        draw_wrapped(y + 3 + top, 1, rows, width - 2, EL_WARN, p->result->err.text);
        return;
    }
    plan_view_table(plans_of(p), &p->plans, !p->editing, y + 3 + top, rows, width);
}

static void set_field(struct ui *ui, struct plan_screen *p, const char *path, const char *value,
                      bool list)
{
    struct gt_error err = {0};
    if (form_set(&p->form, ui->app, path, value, list, &err)) {
        ui_error(ui, &err);
    } else {
        replan(ui, p);
    }
}

static void field_done(struct ui *ui, void *state, const char *text, bool final)
{
    struct plan_screen *p = state;
    const struct form_field *f = form_field_at(p->fields.at);
    if (final && text && f) {
        set_field(ui, p, f->path, text, f->list);
    }
}

static void open_done(struct ui *ui, void *state, const char *text, bool final)
{
    struct plan_screen *p = state;
    struct gt_error err = {0};
    if (!final || !text || !text[0]) {
        return;
    }
    if (form_load(&p->form, ui->app, text, &err)) {
        ui_error(ui, &err);
    } else {
        replan(ui, p);
    }
}

static void report_done(struct ui *ui, void *state, const char *path, bool final)
{
    struct plan_screen *p = state;
    struct gt_error err = {0};
    if (!final || !path || !path[0] || !plans_of(p) || !plans_of(p)->n) {
        return;
    }
    struct report_input in = {
        .set = plans_of(p), .scenario = p->form.scenario, .index = p->plans.at, .audit = true};
    struct buf out;
    buf_init(&out, 64U << 20);
    const char *dot = strrchr(path, '.');
    int rc = report_document(&in, dot ? dot + 1 : "md", &out, &err);
    rc = rc ? rc : app_write_file(path, out.data, out.len, &err);
    buf_release(&out);
    if (rc) {
        ui_error(ui, &err);
    } else {
        ui_message(ui, "wrote the report to %s", path);
    }
}

static void save_done(struct ui *ui, void *state, const char *name, bool final)
{
    struct plan_screen *p = state;
    struct gt_error err = {0};
    struct store *store = NULL;
    if (!final || !name || !name[0]) {
        return;
    }
    if (!plans_of(p) || !plans_of(p)->n || worker_busy(p->worker)) {
        ui_message(ui, "nothing saved: %s",
                   plans_of(p) && !plans_of(p)->n ? "there is no plan"
                                                  : "still planning; press S again");
        return;
    }
    struct buf b;
    buf_init(&b, 64U << 20);
    int rc = form_plan_json(&p->form, ui->app, plans_of(p), &b);
    if (rc) {
        gt_fail(&err, rc, "", "the plan document is too large");
    }
    rc = rc ? rc : app_store(ui->app, &store, &err);
    rc = rc ? rc : store_save_plan(store, name, b.data, p->form.text, ui->app->now, &err);
    buf_release(&b);
    if (rc) {
        ui_error(ui, &err);
    } else {
        ui_message(ui, "saved as %s; gputier report %s writes it for people", name, name);
    }
}

/* The deadline or the budget 5 % up or down. */
static void nudge(struct ui *ui, struct plan_screen *p, bool deadline, double factor)
{
    char value[64], number[MONEY_TEXT];
    const struct scenario *s = p->form.scenario;
    if (deadline && s->deadline_s > 0) {
        snprintf(value, sizeof value, "%.0fs", round(s->deadline_s * factor / 60) * 60);
        set_field(ui, p, "constraints.deadline", value, false);
    } else if (!deadline && s->budget >= 0) {
        money m;
        if (money_from_double(round(money_to_double(s->budget) * factor), &m) == 0) {
            snprintf(value, sizeof value, "%.40s %.3s", money_format(m, number),
                     s->budget_currency);
            set_field(ui, p, "constraints.budget", value, false);
        }
    } else {
        ui_message(ui, "the scenario has no %s; e edits it", deadline ? "deadline" : "budget");
    }
}

static void undo(struct ui *ui, struct plan_screen *p, int by)
{
    struct gt_error err = {0};
    if (form_undo(&p->form, ui->app, by, &err)) {
        ui_message(ui, "%s", err.text);
    } else {
        replan(ui, p);
    }
}

static bool form_key(struct ui *ui, struct plan_screen *p, int k, bool is_key)
{
    if (list_key(&p->fields, k, is_key)) {
        return true;
    }
    if (!is_key && (k == '\r' || k == '\n')) {
        const struct form_field *f = form_field_at(p->fields.at);
        char value[256];
        static char label[64];
        f->show(p->form.scenario, value, sizeof value);
        snprintf(label, sizeof label, "%s: ", f->label);
        ui_ask(ui, label, value, false, field_done, p);
        return true;
    }
    if (!is_key && (k == 27 || k == 'e')) {
        p->editing = false;
        return true;
    }
    return false;
}

static bool key(struct ui *ui, void *state, int k, bool is_key)
{
    struct plan_screen *p = state;
    if (p->editing    ? form_key(ui, p, k, is_key)
        : p->rejected ? list_scroll(&p->why_not, k, is_key)
                      : list_key(&p->plans, k, is_key)) {
        return true;
    }
    if (is_key) {
        return false;
    }
    switch (k) {
    case '\r':
    case '\n':
        p->details = !p->details;
        return true;
    case 27:
        p->details = p->rejected = false;
        return true;
    case 'R':
        p->rejected = !p->rejected;
        return true;
    case 'S':
        ui_ask(ui, "save as: ", p->form.scenario->name, false, save_done, p);
        return true;
    case 'e':
        p->editing = true;
        return true;
    case '-':
    case '+':
        nudge(ui, p, true, k == '+' ? 1.05 : 0.95);
        return true;
    case '[':
    case ']':
        nudge(ui, p, false, k == ']' ? 1.05 : 0.95);
        return true;
    case 'm':
        p->risk_axis = !p->risk_axis;
        return true;
    case 'o':
        ui_ask(ui, "open scenario: ", p->form.file, false, open_done, p);
        return true;
    case 'u':
        undo(ui, p, -1);
        return true;
    case 18: /* Ctrl-R */
        undo(ui, p, 1);
        return true;
    case 'w':
        ui_ask_path(ui, "write report to (.html .md .csv): ", "report.html", report_done, p);
        return true;
    default:
        return false;
    }
}

const struct screen_ops screen_plan = {.digit = '3',
                                       .name = "Plan",
                                       .keys = keys,
                                       .open = open_screen,
                                       .draw = draw,
                                       .key = key,
                                       .wake = wake,
                                       .close = close_screen};
