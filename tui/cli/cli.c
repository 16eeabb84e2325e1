/* The table of subcommands. A new command is one file and one line here. */
#include "cli.h"
#include <string.h>

/* clang-format off */
#define COMMANDS(X) \
    X(bench) \
    X(calibrate) \
    X(changes) \
    X(db) \
    X(explain) \
    X(export) \
    X(fetch) \
    X(help) \
    X(history) \
    X(import) \
    X(inventory) \
    X(plan) \
    X(plans) \
    X(prices) \
    X(report) \
    X(scenario) \
    X(serve) \
    X(sources) \
    X(spot) \
    X(tier) \
    X(verify) \
    X(watch)

#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

static const struct command *const commands[] = {
#define X(name) &command_##name,
    COMMANDS(X)
#undef X
};
/* clang-format on */

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
