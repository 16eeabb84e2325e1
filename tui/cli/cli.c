/* The table of subcommands. A new command is one file and one line here. */
#include "cli.h"
#include <string.h>

extern const struct command command_bench, command_calibrate, command_changes, command_db,
    command_explain, command_export, command_fetch, command_help, command_history, command_import,
    command_inventory, command_plan, command_plans, command_prices, command_report,
    command_scenario, command_sources, command_spot, command_tier, command_verify;

static const struct command *const commands[] = {
    &command_bench,     &command_calibrate, &command_changes, &command_db,      &command_explain,
    &command_export,    &command_fetch,     &command_help,    &command_history, &command_import,
    &command_inventory, &command_plan,      &command_plans,   &command_prices,  &command_report,
    &command_scenario,  &command_sources,   &command_spot,    &command_tier,    &command_verify,
};

const struct command *command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}
