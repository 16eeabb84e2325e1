/* Option records -> parsed arguments. */
#ifndef GPUTIER_OPTIONS_H
#define GPUTIER_OPTIONS_H
#include "cli.h"

extern const struct cli_option cli_globals[]; /* ends with name == NULL */
/* Parses argv[first..argc): options of `table` and the global ones; everything else positional.
 * Values are borrowed from argv. options_release in every case. */
int options_parse(const struct cli_option *table, int argc, char **argv, int first,
                  struct cli_args *out, struct gt_error *err) GT_CHECK;
void options_release(struct cli_args *a);

#endif
