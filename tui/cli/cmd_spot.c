/* spot replay|simulate|trace: what a policy costs on a recorded availability trace, what
 * checkpoints and interruptions do to one job (spot-policies.md, checkpoint-model.md), and a
 * recorded series as such a trace. */
#include "cmd_spot.h"
#include "gputier/units.h"
#include <string.h>

static const struct cli_option options[] = {
    {"work", 0, OPT_VALUE, "DURATION", "productive time needed, e.g. 48h"},
    {"deadline", 0, OPT_VALUE, "DURATION", "time until it must be done (simulate: optional)"},
    {"restart", 0, OPT_VALUE, "DURATION", "launch, set-up and reload at each launch (12min)"},
    {"policy", 0, OPT_LIST, "NAME",
     "replay: on_demand, spot_only, eager, greedy, time_sliced, up_plain, up, up_next, up_switch, "
     "optimal; default all that the traces allow"},
    {"ckpt", 0, OPT_VALUE, "DURATION",
     "replay: productive time between checkpoints; 0 = none is lost (0)"},
    {"nodes", 0, OPT_VALUE, "N", "replay: nodes that must be up together (1)"},
    {"spot-price", 0, OPT_LIST, "PRICE", "replay: per node-hour, one for all traces or one each"},
    {"od-price", 0, OPT_VALUE, "PRICE", "replay: on demand, per node-hour"},
    {"start", 0, OPT_VALUE, "DURATION", "replay: where in the trace the job starts (0)"},
    {"starts", 0, OPT_VALUE, "N", "replay: N starts spread over the trace instead of one"},
    {"slices", 0, OPT_VALUE, "N", "replay: slices of time_sliced (8)"},
    {"switch", 0, OPT_VALUE, "SHARE",
     "replay: work left / time left at which up_switch turns (0.7)"},
    {"lambda", 0, OPT_VALUE, "RATE", "simulate: interruptions per hour"},
    {"interval", 0, OPT_VALUE, "DURATION|auto", "simulate: work between checkpoints (auto)"},
    {"delta", 0, OPT_VALUE, "DURATION", "simulate: stall of one checkpoint (0)"},
    {"wait", 0, OPT_VALUE, "DURATION", "simulate: wait for capacity, not billed (0)"},
    {"price", 0, OPT_VALUE, "PRICE", "simulate: per hour of all nodes"},
    {"runs", 0, OPT_VALUE, "N", "simulate: trajectories (100000)"},
    {"seed", 0, OPT_VALUE, "N", "simulate: seed of the random numbers (1)"},
    {"cold-start", 0, OPT_FLAG, NULL, "simulate: the first launch pays the restart too"},
    {"safe-restart", 0, OPT_FLAG, NULL, "simulate: no interruption during a restart"},
    {"instance", 'i', OPT_VALUE, "NAME", "trace: instance type"},
    {"region", 'r', OPT_VALUE, "VENDOR/CODE", "trace: region"},
    {"vendor", 0, OPT_VALUE, "NAME", "trace: vendor, when --region does not name it"},
    {"zone", 0, OPT_VALUE, "CODE", "trace: the series of this zone (default: of the region)"},
    {"source", 0, OPT_VALUE, "SOURCE", "trace: whose series, when there are several"},
    {"value", 0, OPT_VALUE, "avail|price", "trace: how many could be had, or the spot price"},
    {"step", 0, OPT_VALUE, "DURATION", "trace: time between two samples (10min)"},
    {"since", 0, OPT_VALUE, "DATE", "trace: from this instant"},
    {"until", 0, OPT_VALUE, "DATE", "trace: up to this instant"},
    {"gaps", 0, OPT_VALUE, "longest|unavailable|refuse",
     "trace: where nobody looked: the longest stretch without a gap; all of it, 0 in the gaps; "
     "none"},
    {"output", 'o', OPT_VALUE, "FILE", "trace: file to write (- = standard output)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

int spot_seconds(const struct cli_args *args, const char *name, double fallback, double *out,
                 struct gt_error *err)
{
    const char *text = cli_value(args, name);
    struct gt_error e = {.code = GT_OK};
    *out = fallback;
    if (!text && fallback < 0) {
        return gt_fail(err, GT_EUSAGE, "", "--%s is needed, a duration such as 48h", name);
    }
    if (text && strcmp(text, "0") == 0) {
        *out = 0;
    } else if (text && duration_parse(text, false, out, &e)) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: %s", name, e.text);
    }
    return 0;
}

int spot_number(const struct cli_args *args, const char *name, double fallback, double *out,
                struct gt_error *err)
{
    const char *text = cli_value(args, name);
    *out = fallback;
    if (!text && fallback < 0) {
        return gt_fail(err, GT_EUSAGE, "", "--%s is needed, a number", name);
    }
    if (text && (number_parse(text, out, NULL) || *out < 0)) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected a number from 0", name,
                       text);
    }
    return 0;
}

int spot_price(const char *name, const char *text, money *out, struct gt_error *err)
{
    if (!text) {
        return gt_fail(err, GT_EUSAGE, "", "--%s is needed, a price per hour such as 3.06", name);
    }
    if (money_parse(text, strlen(text), out, NULL) || *out < 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--%s: found '%.40s', expected a price per hour such as 3.06", name, text);
    }
    return 0;
}

int spot_line(money rate, int64_t units, int64_t seconds, money *out, struct gt_error *err)
{
    if (money_mul_ratio(rate, (gt_u128)units * (gt_u128)seconds, 3600, out)) {
        return gt_fail(err, GT_ERANGE, "", "the cost is out of range");
    }
    return 0;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const char *what = args->n_positional ? args->positional[0] : "";
    if (strcmp(what, "replay") == 0) {
        return spot_replay_run(app, args, err);
    }
    if (strcmp(what, "simulate") == 0) {
        return spot_simulate_run(app, args, err);
    }
    if (strcmp(what, "trace") == 0) {
        return spot_trace_run(app, args, err);
    }
    return gt_fail(err, GT_EUSAGE, "", "found '%.40s', expected replay, simulate or trace", what);
}

const struct command command_spot = {
    .name = "spot",
    .usage = "replay TRACE… | simulate | trace",
    .summary = "replay a purchase policy on availability traces, simulate a job, or write a "
               "recorded trace",
    .options = options,
    .example = "gputier spot replay us-east-1f.csv --work 48h --deadline 60h --spot-price 0.92 "
               "--od-price 3.06",
    .run = run,
};
