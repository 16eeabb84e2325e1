/* The process-wide context: what main.c does with it. */
#ifndef GPUTIER_APP_H
#define GPUTIER_APP_H
#include "cli.h"

/* Reads the environment and the global flags wherever they stand on the command line. */
int app_init(struct app *app, int argc, char **argv, const volatile sig_atomic_t *cancel,
             struct gt_error *err) GT_CHECK;
/* Finds the command and runs it; without one opens the interface or prints usage. */
int app_run(struct app *app, int argc, char **argv, struct gt_error *err) GT_CHECK;
/* The error, for people or as JSON, on stderr. */
void app_report(const struct app *app, int code, const struct gt_error *err);
void app_release(struct app *app);

#endif
