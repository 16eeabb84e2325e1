/* The interface's loop: one key, at most one frame; tabs, message, prompt, help. */
#include "gputier/ui.h"
#include "../widgets/draw.h"
#include "../widgets/term.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "screen.h"
#include <curses.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MIN_COLS 40
#define MIN_ROWS 10

static const struct screen_ops *const screens[] = {&screen_prices, &screen_plan, &screen_storage,
                                                   &screen_bench, &screen_sources};
#define N_SCREENS (sizeof screens / sizeof *screens)

static const struct screen_key common_keys[] = {
    {"1 3 4 5 6, Tab", "go to a screen", false, NULL},
    {"arrows, h j k l", "move", false, NULL},
    {"PgUp PgDn, Ctrl-D Ctrl-U", "move by pages", false, NULL},
    {"g G, Home End", "first, last", false, NULL},
    {":", "type a command: a screen's name, help, quit", false, NULL},
    {"Ctrl-L", "draw the screen anew", false, NULL},
    {"Ctrl-Z", "suspend", false, NULL},
    {"?", "help", true, NULL},
    {"q", "quit", true, NULL},
    {NULL, NULL, false, NULL}};

void ui_message(struct ui *ui, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ui->message, sizeof ui->message, fmt, ap);
    va_end(ap);
    ui->message_is_error = false;
}

void ui_error(struct ui *ui, const struct gt_error *err)
{
    snprintf(ui->message, sizeof ui->message, "%.110s%s%s", err->where, err->where[0] ? ": " : "",
             err->text);
    ui->message_is_error = true;
}

void ui_ask(struct ui *ui, const char *label, const char *text, bool live, prompt_done then,
            void *state)
{
    prompt_set(&ui->prompt, text);
    ui->prompt_label = label;
    ui->prompt_then = then;
    ui->prompt_state = state;
    ui->prompt_live = live;
    ui->prompt_writes = ui->prompt_confirmed = false;
}

void ui_ask_path(struct ui *ui, const char *label, const char *path, prompt_done then, void *state)
{
    ui_ask(ui, label, path, false, then, state);
    ui->prompt_writes = true;
}

const char *ui_age(const struct ui *ui, int64_t as_of, char out[32])
{
    if (as_of == GT_TIME_NONE) {
        return "?";
    }
    int64_t days = (ui->app->now - as_of) / 86400;
    snprintf(out, 32, "%lldd", (long long)(days < 0 ? 0 : days));
    return out;
}

static void draw_tabs(struct ui *ui)
{
    int x = draw_text(0, 0, COLS, 0, EL_TITLE, " gputier "), need = x;
    for (size_t i = 0; i < N_SCREENS; i++) {
        need += (int)strlen(screens[i]->name) + 5;
    }
    bool short_names = need - 1 > COLS; /* the others' keys are enough then */
    for (size_t i = 0; i < N_SCREENS; i++) {
        const char *open = i == ui->current ? "[" : " ", *close = i == ui->current ? "]" : " ";
        bool named = i == ui->current || !short_names;
        x += draw_format(0, x, COLS - x, 0, i == ui->current ? EL_TAB_ACTIVE : EL_TAB, "%s%c%s%s%s",
                         open, screens[i]->digit, named ? " " : "", named ? screens[i]->name : "",
                         close);
        x++;
    }
    int width = (int)strlen(ui->prices_date) + 1;
    if (COLS - x >= width) {
        draw_text(0, COLS - width, width, 0, EL_DIM, ui->prices_date);
    }
}

/* The catalog never changes while the interface runs: its age is computed once. */
static void note_age(struct ui *ui)
{
    const struct catalog_offers *o = &ui->catalog->offers;
    int64_t newest = GT_TIME_NONE;
    bool own = false;
    char date[16];
    for (size_t i = 0; i < o->n; i++) {
        newest = newest == GT_TIME_NONE || o->as_of[i] > newest ? o->as_of[i] : newest;
        own = own || o->origin[i] != ORIGIN_BUNDLED;
    }
    if (newest == GT_TIME_NONE) {
        snprintf(ui->prices_date, sizeof ui->prices_date, "no prices");
    } else {
        snprintf(ui->prices_date, sizeof ui->prices_date, "%s %s", own ? "prices" : "bundled",
                 date_format(newest, date));
    }
}

static int bar_width(const struct screen_key *keys)
{
    int width = 0;
    for (const struct screen_key *k = keys; k->key; k++) {
        width += k->bar ? (int)(strlen(k->key) + strlen(k->text)) + 3 : 0;
    }
    return width;
}

static int draw_bar_keys(const struct screen_key *keys, int x, int end)
{
    for (const struct screen_key *k = keys; k->key; k++) {
        int need = (int)(strlen(k->key) + strlen(k->text)) + 1;
        if (!k->bar || x + need > end) {
            continue;
        }
        x += draw_text(LINES - 1, x, end - x, 0, EL_KEY, k->key) + 1;
        x += draw_text(LINES - 1, x, end - x, 0, EL_TEXT, k->text) + 2;
    }
    return x;
}

/* The keys that work now; help and quit always have their room. */
static void draw_bar(struct ui *ui)
{
    static const struct screen_key typing[] = {{"Enter", "ok", true, NULL},
                                               {"Esc", "cancel", true, NULL},
                                               {"Ctrl-U", "clear", true, NULL},
                                               {"Ctrl-W", "erase a word", true, NULL},
                                               {NULL, NULL, false, NULL}};
    draw_rule(LINES - 2, 0, COLS);
    if (ui->prompt_then) {
        draw_bar_keys(typing, 1, COLS);
        return;
    }
    int x = draw_bar_keys(screens[ui->current]->keys, 1, COLS - bar_width(common_keys));
    draw_bar_keys(common_keys, x, COLS);
}

static void draw_help(struct ui *ui)
{
    const struct screen_key *lists[] = {screens[ui->current]->keys, common_keys};
    int y = 2;
    size_t line = 0;
    draw_format(0, 0, COLS, -1, EL_TAB_ACTIVE, " Help: %s ", screens[ui->current]->name);
    for (int l = 0; l < 2; l++) {
        for (const struct screen_key *k = lists[l]; k->key; k++, line++) {
            if (line < ui->help_top || y >= LINES - 2) {
                continue;
            }
            draw_text(y, 2, 26, -1, EL_KEY, k->key);
            draw_text(y++, 29, COLS - 30, 0, EL_TEXT, k->help ? k->help : k->text);
        }
    }
    draw_rule(LINES - 2, 0, COLS);
    draw_text(LINES - 1, 1, COLS - 2, 0, EL_TEXT, "any key closes the help; arrows scroll");
}

static void draw(struct ui *ui)
{
    erase();
    curs_set(0);
    if (COLS < MIN_COLS || LINES < MIN_ROWS) {
        char text[64];
        snprintf(text, sizeof text, "needs %dx%d, is %dx%d", MIN_COLS, MIN_ROWS, COLS, LINES);
        int w = (int)strlen(text);
        draw_text(LINES / 2, COLS > w ? (COLS - w) / 2 : 0, COLS, 0, EL_TEXT, text);
    } else if (ui->help) {
        draw_help(ui);
    } else {
        bool message = ui->message[0] || ui->prompt_then;
        draw_tabs(ui);
        screens[ui->current]->draw(ui, ui->state[ui->current], 1, LINES - 3 - (message ? 1 : 0),
                                   COLS);
        draw_bar(ui);
        if (ui->prompt_then) {
            prompt_draw(&ui->prompt, LINES - 3, 1, COLS - 2, ui->prompt_label);
        } else if (message) {
            draw_format(LINES - 3, 1, COLS - 2, -1, ui->message_is_error ? EL_WARN : EL_TEXT,
                        "%s%s", ui->message_is_error ? "! " : "", ui->message);
        }
    }
    refresh();
}

static void go_to(struct ui *ui, size_t i)
{
    struct gt_error err = {0};
    if (!ui->opened[i]) {
        if (screens[i]->open(ui, &ui->state[i], &err)) {
            ui_error(ui, &err);
            return;
        }
        ui->opened[i] = true;
    }
    ui->current = i;
    ui->message[0] = '\0';
}

static void command(struct ui *ui, void *state, const char *text, bool final)
{
    (void)state;
    if (!final || !text[0]) {
        return;
    }
    if (strcmp(text, "q") == 0 || strcmp(text, "quit") == 0) {
        ui->leave = true;
        return;
    }
    if (strcmp(text, "help") == 0) {
        ui->help = true;
        ui->help_top = 0;
        return;
    }
    for (size_t i = 0; i < N_SCREENS; i++) {
        if (strncasecmp(text, screens[i]->name, strlen(text)) == 0) {
            go_to(ui, i);
            return;
        }
    }
    char names[128] = "";
    for (size_t i = 0; i < N_SCREENS; i++) {
        size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s ", screens[i]->name);
    }
    ui_message(ui, "no command '%.40s'; %shelp quit", text, names);
    ui->message_is_error = true;
}

static void prompt_input(struct ui *ui, int key, bool is_key)
{
    enum prompt_result r = prompt_key(&ui->prompt, key, is_key);
    prompt_done then = ui->prompt_then;
    if (r == PROMPT_CHANGED) {
        ui->prompt_confirmed = false;
    }
    if (r == PROMPT_DONE && ui->prompt_writes && !ui->prompt_confirmed &&
        access(ui->prompt.text, F_OK) == 0) {
        ui->prompt_confirmed = true;
        ui->prompt_label = "exists; Enter overwrites it, Esc does not: ";
        return;
    }
    if (r == PROMPT_CHANGED && ui->prompt_live) {
        then(ui, ui->prompt_state, ui->prompt.text, false);
    } else if (r == PROMPT_DONE) {
        ui->prompt_then = NULL;
        then(ui, ui->prompt_state, ui->prompt.text, true);
    } else if (r == PROMPT_CANCELLED) {
        ui->prompt_then = NULL;
        if (ui->prompt_live) {
            then(ui, ui->prompt_state, NULL, true);
        }
    }
}

static bool common_key(struct ui *ui, int key, bool is_key)
{
    if (is_key) {
        if (key == KEY_F(1)) {
            ui->help = true;
            return true;
        }
        if (key == KEY_BTAB) {
            go_to(ui, (ui->current + N_SCREENS - 1) % N_SCREENS);
            return true;
        }
        return false;
    }
    for (size_t i = 0; i < N_SCREENS; i++) {
        if (key == screens[i]->digit) {
            go_to(ui, i);
            return true;
        }
    }
    switch (key) {
    case '\t':
        go_to(ui, (ui->current + 1) % N_SCREENS);
        return true;
    case 'q':
    case 3: /* Ctrl-C */
        ui->leave = true;
        return true;
    case '?':
        ui->help = true;
        ui->help_top = 0;
        return true;
    case ':':
        ui_ask(ui, ": ", "", false, command, NULL);
        return true;
    case 12: /* Ctrl-L */
        clearok(curscr, TRUE);
        return true;
    case 26: /* Ctrl-Z */
        term_suspend();
        return true;
    default:
        return false;
    }
}

static void help_key(struct ui *ui, int key, bool is_key)
{
    if ((is_key && key == KEY_DOWN) || (!is_key && key == 'j')) {
        ui->help_top++;
    } else if ((is_key && key == KEY_UP) || (!is_key && key == 'k')) {
        ui->help_top -= ui->help_top > 0;
    } else {
        ui->help = false;
    }
}

/* Pasted text goes into an open prompt, as one line, and is no command anywhere else. */
static bool paste_key(struct ui *ui, int key, bool is_key)
{
    if (is_key && (key == TERM_PASTE_BEGIN || key == TERM_PASTE_END)) {
        ui->pasting = key == TERM_PASTE_BEGIN;
        return true;
    }
    if (!ui->pasting) {
        return false;
    }
    if (!is_key && (key == 27 || key == 3)) { /* the end mark was lost */
        ui->pasting = false;
        return false;
    }
    if (ui->prompt_then && !is_key) {
        key = key == '\t' || key == '\r' || key == '\n' ? ' ' : key;
        if (key >= 32 && key != 127) {
            prompt_input(ui, key, false);
        }
    }
    return true;
}

static void take_key(struct ui *ui, int key, bool is_key)
{
    if (is_key && key == KEY_RESIZE) {
        return;
    }
    if (paste_key(ui, key, is_key)) {
        return;
    }
    if (COLS < MIN_COLS || LINES < MIN_ROWS) { /* nothing can be seen: only leaving works */
        ui->leave = ui->leave || (!is_key && (key == 'q' || key == 3));
        return;
    }
    if (ui->help) {
        help_key(ui, key, is_key);
        return;
    }
    if (ui->prompt_then) {
        prompt_input(ui, key, is_key);
        return;
    }
    ui->message[0] = '\0';
    if (!common_key(ui, key, is_key)) {
        screens[ui->current]->key(ui, ui->state[ui->current], key, is_key);
    }
}

static void loop(struct ui *ui)
{
    draw(ui);
    while (!ui->leave) {
        int key, rc;
        bool is_key;
        rc = term_key(-1, &key, &is_key);
        if (rc < 0) {
            return;
        }
        if (rc > 0) {
            take_key(ui, key, is_key);
        }
        for (size_t i = 0; i < N_SCREENS; i++) {
            if (ui->opened[i] && screens[i]->wake) {
                screens[i]->wake(ui, ui->state[i]);
            }
        }
        if (!term_pending() || ui->leave) {
            draw(ui);
        }
    }
}

int ui_run(struct app *app, struct gt_error *err)
{
    struct ui *ui = calloc(1, sizeof *ui);
    struct term_options o = {.color = app->color};
    int rc;
    if (!ui) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    ui->app = app;
    rc = app_catalog(app, &ui->catalog, err);
    rc = rc ? rc : term_open(&o, err);
    if (!rc) {
        note_age(ui);
        draw_theme();
        rc = screens[0]->open(ui, &ui->state[0], err);
        ui->opened[0] = rc == 0;
        if (!rc) {
            loop(ui);
        }
        for (size_t i = 0; i < N_SCREENS; i++) {
            if (ui->opened[i]) {
                screens[i]->close(ui, ui->state[i]);
            }
        }
        if (ui->abandoned) {
            app->catalog = NULL;
        }
        term_close();
    }
    free(ui);
    int sig = term_signal();
    if (!rc && sig && sig != SIGINT) {
        signal(sig, SIG_DFL);
        raise(sig);
    }
    return rc ? rc : sig == SIGINT ? gt_fail(err, GT_ECANCELLED, "", "interrupted") : 0;
}
