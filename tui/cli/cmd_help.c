/* help [COMMAND]: texts made from the command table, so they cannot fall behind it. */
#include "gputier/text.h"
#include "help.h"
#include "options.h"

int help_overview(struct buf *out)
{
    const struct command *c;
    buf_adds(out, "usage: gputier [COMMAND] [OPTIONS]\n"
                  "Which cloud GPUs to rent, where, how to pay, and where each byte should live.\n"
                  "Without a command, on a terminal: the interface.\n\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        buf_adds(out, "  ");
        text_fit(out, c->name, 12, -1, true);
        buf_addf(out, " %s\n", c->summary);
    }
    buf_adds(out, "\nglobal options (before or after the command):\n");
    for (const struct cli_option *o = cli_globals; o->name; o++) {
        struct buf left;
        buf_init(&left, 200);
        buf_addf(&left, "  --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        text_fit(out, left.data ? left.data : "", 30, -1, true);
        buf_addf(out, " %s\n", o->help);
        buf_release(&left);
    }
    return buf_adds(out, "\n'gputier help COMMAND' explains one command.\n");
}

int help_command(const struct command *c, struct buf *out)
{
    buf_addf(out, "usage: gputier %s%s%s\n%s\n", c->name, c->usage[0] ? " " : "", c->usage,
             c->summary);
    for (const struct cli_option *o = c->options; o && o->name; o++) {
        struct buf left;
        if (o == c->options) {
            buf_adds(out, "\noptions:\n");
        }
        buf_init(&left, 200);
        buf_addf(&left, "  --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        if (o->letter) {
            buf_addf(&left, ", -%c", o->letter);
        }
        text_fit(out, left.data ? left.data : "", 30, -1, true);
        buf_addf(out, " %s\n", o->help);
        buf_release(&left);
    }
    if (c->example) {
        buf_addf(out, "\nexample:\n  %s\n", c->example);
    }
    return out->failed ? GT_ELIMIT : 0;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct buf b;
    int rc;
    (void)app;
    buf_init(&b, 1 << 20);
    if (args->n_positional) {
        const struct command *c = command_find(args->positional[0]);
        if (!c) {
            return gt_fail(err, GT_EUSAGE, "", "no command '%.60s'; 'gputier help' lists them",
                           args->positional[0]);
        }
        rc = help_command(c, &b);
    } else {
        rc = help_overview(&b);
    }
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

const struct command command_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "explains a command, or lists all",
    .example = "gputier help plan",
    .run = run,
    .no_csv = true,
};
