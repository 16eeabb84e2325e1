/* The parts of `spot`, and what they share. */
#ifndef GPUTIER_CMD_SPOT_H
#define GPUTIER_CMD_SPOT_H
#include "cli.h"
#include "gputier/money.h"

int spot_replay_run(struct app *app, const struct cli_args *args, struct gt_error *err);
int spot_trace_run(struct app *app, const struct cli_args *args, struct gt_error *err);
int spot_simulate_run(struct app *app, const struct cli_args *args, struct gt_error *err);

/* Seconds of the duration option `name`; without it `fallback`, or a usage error if that is < 0. */
int spot_seconds(const struct cli_args *args, const char *name, double fallback, double *out,
                 struct gt_error *err) GT_CHECK;
int spot_number(const struct cli_args *args, const char *name, double fallback, double *out,
                struct gt_error *err) GT_CHECK;
/* A price per node-hour in the exact digits given. */
int spot_price(const char *name, const char *text, money *out, struct gt_error *err) GT_CHECK;
/* rate per hour x units x seconds, rounded once. */
int spot_line(money rate, int64_t units, int64_t seconds, money *out,
              struct gt_error *err) GT_CHECK;

#endif
