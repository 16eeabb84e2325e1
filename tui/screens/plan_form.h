/* The scenario being edited: its file's text plus a list of edits ("path = value"), each one
 * undoable. */
#ifndef GPUTIER_PLAN_FORM_H
#define GPUTIER_PLAN_FORM_H
#include "../cli/cli.h"
#include <stddef.h>

#define FORM_EDITS 256
struct form_field {
    const char *label, *path;
    bool list; /* several words: written as a YAML list */
    void (*show)(const struct scenario *s, char *out, size_t size);
};
const struct form_field *form_field_at(size_t i); /* NULL past the end */

struct plan_form {
    char *text, *file;
    size_t len;
    struct form_edit {
        char path[96], value[256];
    } edit[FORM_EDITS];
    size_t n, n_done;          /* edits in force; those after n, up to n_done, can be redone */
    struct scenario *scenario; /* parsed from text and edits */
};
/* Reads a scenario file; NULL = the bundled example. The old one stays on error. */
int form_load(struct plan_form *f, struct app *app, const char *path,
              struct gt_error *err) GT_CHECK;
/* Adds an edit and parses anew; a refused edit leaves everything as it was. */
int form_set(struct plan_form *f, struct app *app, const char *path, const char *value, bool list,
             struct gt_error *err) GT_CHECK;
int form_undo(struct plan_form *f, struct app *app, int by,
              struct gt_error *err) GT_CHECK; /* -1 undo, 1 redo */
/* A scenario of its own for a worker: the caller frees it. */
int form_copy(const struct plan_form *f, struct app *app, struct scenario **out,
              struct gt_error *err) GT_CHECK;
/* The plan document of these plans with the scenario and its edits. */
int form_plan_json(const struct plan_form *f, const struct app *app, const struct plan_set *set,
                   struct buf *out) GT_CHECK;
void form_release(struct plan_form *f);

#endif
