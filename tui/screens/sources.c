/* Sources: where the prices come from, how old they are, what failed and why. */
#include "../widgets/draw.h"
#include "../widgets/list.h"
#include "gputier/units.h"
#include "screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 4096
static const struct screen_key keys[] = {{"R", "read again", true, NULL},
                                         {NULL, NULL, false, NULL}};

struct source_row {
    char id[64], scope[96], state[24], why[200], date[16];
    unsigned long long rows;
};
struct sources {
    struct list list;
    struct source_row *row;
    size_t n;
};

static int take(void *ctx, const struct source_state *st)
{
    struct sources *s = ctx;
    if (s->n == MAX_ROWS) {
        return 0;
    }
    struct source_row *p = realloc(s->row, (s->n + 1) * sizeof *p);
    if (!p) {
        return GT_ENOMEM;
    }
    s->row = p;
    p = &s->row[s->n++];
    snprintf(p->id, sizeof p->id, "%s", st->source_id);
    snprintf(p->scope, sizeof p->scope, "%s", st->scope ? st->scope : "");
    snprintf(p->state, sizeof p->state, "%s", st->state ? st->state : "");
    snprintf(p->why, sizeof p->why, "%s", st->why ? st->why : "");
    p->rows = st->rows;
    snprintf(p->date, sizeof p->date, "-");
    if (st->as_of != GT_TIME_NONE) {
        date_format(st->as_of, p->date);
    }
    return 0;
}

static int reload(struct ui *ui, struct sources *s, struct gt_error *err)
{
    struct store *store;
    s->n = 0;
    int rc = app_store(ui->app, &store, err);
    return rc ? rc : store_sources(store, take, s, err);
}

static int open_screen(struct ui *ui, void **state, struct gt_error *err)
{
    struct sources *s = calloc(1, sizeof *s);
    int rc = s ? reload(ui, s, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc) {
        if (s) {
            free(s->row);
        }
        free(s);
        return rc;
    }
    *state = s;
    return 0;
}

static void close_screen(struct ui *ui, void *state)
{
    struct sources *s = state;
    (void)ui;
    free(s->row);
    free(s);
}

static void draw(struct ui *ui, void *state, int y, int height, int width)
{
    struct sources *s = state;
    (void)ui;
    int detail = height >= 14 && s->n ? 4 : 0, rows = height - 3 - detail,
        name = width >= 100 ? 40 : 30;
    draw_format(y, 1, width - 2, -1, EL_TITLE, "%zu sources; gputier fetch brings them up to date",
                s->n);
    draw_rule(y + 1, 0, width);
    draw_text(y + 2, 2, name, -1, EL_HEADER, "SOURCE");
    draw_text(y + 2, name + 3, 9, 1, EL_HEADER, "ROWS");
    draw_text(y + 2, name + 13, 10, -1, EL_HEADER, "AS OF");
    draw_text(y + 2, name + 24, width - name - 25, -1, EL_HEADER, "STATE");
    list_resize(&s->list, s->n, rows > 0 ? (size_t)rows : 1);
    for (int r = 0; r < rows; r++) {
        size_t i = s->list.top + (size_t)r;
        if (i >= s->n) {
            break;
        }
        const struct source_row *x = &s->row[i];
        enum element e = i == s->list.at ? EL_SELECTED : EL_TEXT;
        draw_fill(y + 3 + r, 0, width, e);
        draw_format(y + 3 + r, 2, name, -1, e, "%s %s", x->id, x->scope);
        draw_format(y + 3 + r, name + 3, 9, 1, e, "%llu", x->rows);
        draw_text(y + 3 + r, name + 13, 10, -1, e, x->date);
        draw_format(y + 3 + r, name + 24, width - name - 25, -1, e, "%s%s%s", x->state,
                    x->why[0] ? ": " : "", x->why);
    }
    if (detail) {
        const struct source_row *x = &s->row[s->list.at];
        char text[512];
        snprintf(text, sizeof text, "%s%s%s: %llu rows, prices as of %s, %s%s%s", x->id,
                 x->scope[0] ? " " : "", x->scope, x->rows, x->date, x->state,
                 x->why[0] ? ": " : "", x->why);
        draw_rule(y + height - detail, 0, width);
        draw_wrapped(y + height - detail + 1, 1, detail - 1, width - 2, EL_TEXT, text);
    }
}

static bool key(struct ui *ui, void *state, int k, bool is_key)
{
    struct sources *s = state;
    struct gt_error err = {0};
    if (!is_key && k == 'R') {
        if (reload(ui, s, &err)) {
            ui_error(ui, &err);
        }
        return true;
    }
    return list_key(&s->list, k, is_key);
}

const struct screen_ops screen_sources = {.digit = '6',
                                          .name = "Sources",
                                          .keys = keys,
                                          .open = open_screen,
                                          .draw = draw,
                                          .key = key,
                                          .close = close_screen};
