/* A screen is one file here with one const table of operations (ui.c lists them). Keys are mapped
 * to help by the table's own key list, so help and the bottom bar cannot fall behind. */
#ifndef GPUTIER_SCREEN_H
#define GPUTIER_SCREEN_H
#include "../cli/cli.h"
#include "../widgets/prompt.h"
#include "gputier/catalog.h"
#include <stdbool.h>
#include <stddef.h>

struct ui;
struct screen_key {
    const char *key, *text; /* "f", "filter" */
    bool bar;               /* shown in the bottom bar */
    const char *help;       /* a fuller text for the help, NULL = text */
};
struct screen_ops {
    char digit; /* '1'…: its tab's key */
    const char *name;
    const struct screen_key *keys; /* ends with key == NULL */
    /* First time the screen is shown. */
    int (*open)(struct ui *ui, void **state, struct gt_error *err);
    /* Draws rows [y, y + height) in full; row y is the sentence that answers. */
    void (*draw)(struct ui *ui, void *state, int y, int height, int width);
    /* False: the key means nothing here. */
    bool (*key)(struct ui *ui, void *state, int key, bool is_key);
    /* Work of another thread may have ended: take its result. May be NULL. */
    void (*wake)(struct ui *ui, void *state);
    void (*close)(struct ui *ui, void *state);
};
extern const struct screen_ops screen_prices, screen_plan, screen_storage, screen_bench,
    screen_sources;

/* Who gets what the bottom line asked for: each change when live (final = false), the text on Enter
 * (final), NULL when a live prompt was cancelled. */
typedef void (*prompt_done)(struct ui *ui, void *state, const char *text, bool final);
struct ui {
    struct app *app;
    const struct catalog *catalog;
    size_t current;
    void *state[8];
    bool opened[8];
    bool leave, help;
    bool abandoned; /* a thread still works with the catalog: it must stay until the process ends */
    size_t help_top;
    char prices_date[48]; /* "bundled 2026-08-20" */
    char message[512];
    bool message_is_error;
    struct prompt prompt;
    const char *prompt_label;
    prompt_done prompt_then; /* NULL = no prompt open */
    void *prompt_state;
    bool prompt_live, prompt_writes, prompt_confirmed;
    bool pasting; /* between the marks of a bracketed paste */
};
void ui_message(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ui_error(struct ui *ui, const struct gt_error *err);
void ui_ask(struct ui *ui, const char *label, const char *text, bool live, prompt_done then,
            void *state);
/* The same for the path of a file to be written: one that exists is only written after a second
 * Enter. */
void ui_ask_path(struct ui *ui, const char *label, const char *path, prompt_done then, void *state);
/* Days since as_of ("134d"), in out. */
const char *ui_age(const struct ui *ui, int64_t as_of, char out[32]);

#endif
