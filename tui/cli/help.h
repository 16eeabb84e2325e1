/* Usage texts, made from the command table. */
#ifndef GPUTIER_HELP_H
#define GPUTIER_HELP_H
#include "cli.h"

int help_overview(struct buf *out); /* all commands, one line each */
int help_command(const struct command *c, struct buf *out);

#endif
