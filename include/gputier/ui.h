/* The terminal interface. struct app is the command layer's context (tui/cli/cli.h). */
#ifndef GPUTIER_UI_H
#define GPUTIER_UI_H
#include "gputier/error.h"

struct app;
/* Runs until the user leaves; the terminal is restored in every case. */
int ui_run(struct app *app, struct gt_error *err) GT_CHECK;

#endif
