/* Subcommands: one file each (cmd_NAME.c), one const record in the table of cli.c. The table makes
 * `help`, usage errors, completions and the man page. Data goes to stdout, all else to stderr. */
#ifndef GPUTIER_CLI_H
#define GPUTIER_CLI_H
#include "gputier/buf.h"
#include "gputier/catalog.h"
#include "gputier/error.h"
#include "gputier/log.h"
#include "gputier/plan.h"
#include "gputier/scenario.h"
#include "gputier/store.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum out_format { OUT_TABLE, OUT_JSON, OUT_CSV };
/* LIST may be given several times; MAYBE takes the next argument only when it is a plain name: no
 * option, and without '.' and '/', which names of files have. */
enum opt_kind { OPT_FLAG, OPT_VALUE, OPT_LIST, OPT_MAYBE };
struct cli_option {
    const char *name; /* without "--"; NULL ends the table */
    char letter;      /* 0 = none */
    enum opt_kind kind;
    const char *arg; /* "FILE", NULL for flags */
    const char *help;
};
/* What the user gave: options by name, positional arguments in order. */
struct cli_args {
    const char **positional;
    size_t n_positional;
    struct cli_given {
        const char *name, *value;
    } * given;
    size_t n_given;
};
const char *cli_value(const struct cli_args *a, const char *name); /* last one, NULL if absent */
bool cli_flag(const struct cli_args *a, const char *name);
/* i-th value of a LIST option, NULL past the end. */
const char *cli_list(const struct cli_args *a, const char *name, size_t i);

#define APP_FX_MAX 8
/* Process-wide context, made by main.c and passed down. */
struct app {
    const char *db_path, *data_dir, *config_path, *self;
    enum out_format format;
    const char *currency, *lang;
    struct app_fx { /* --fx CODE=RATE@DATE: units of code for 1 USD, in place of the known rate */
        char code[4];
        money rate;
        int64_t date;
    } fx[APP_FX_MAX];
    size_t n_fx;
    bool offline, strict, plain, quiet, color;
    int verbose;
    int64_t now; /* GPUTIER_NOW or the clock */
    int32_t local_offset_s;
    int64_t as_of;                       /* --as-of or GT_TIME_NONE */
    const volatile sig_atomic_t *cancel; /* set by SIGINT/SIGTERM */
    struct log_sink log;
    struct config *config; /* config.h */
    char *db_owned, *data_owned, *config_owned, *self_owned, *cache_dir;
    struct store *store;     /* opened by app_store on first use */
    struct catalog *catalog; /* loaded by app_catalog on first use */
};
int app_store(struct app *app, struct store **out, struct gt_error *err) GT_CHECK;
int app_catalog(struct app *app, const struct catalog **out, struct gt_error *err) GT_CHECK;
/* Reads --fx values into app->fx (fx.c). */
int app_read_fx(struct app *app, const struct cli_args *args, struct gt_error *err) GT_CHECK;
/* Puts app->fx into a catalog just loaded; refuses an app->currency without any rate. */
int app_apply_fx(const struct app *app, struct catalog *c, struct gt_error *err) GT_CHECK;
/* Seconds that local time is ahead of UTC at an instant: summer time changes it. */
int32_t app_local_offset(int64_t when);
/* Configured base URL of a source: GPUTIER_URL_ID, then the config file, else NULL. */
const char *app_source_url(void *app, const char *source_id);
const char *app_source_key(void *app, const char *source_id);
/* Reads a whole small file (limit in bytes); caller frees *text. "-" = stdin. */
int app_read_file(const char *path, size_t limit, char **text, size_t *len,
                  struct gt_error *err) GT_CHECK;
/* Writes whole or not at all (temporary file + rename); "-" = stdout. Mode 0600. */
int app_write_file(const char *path, const void *data, size_t len, struct gt_error *err) GT_CHECK;
int app_put(const struct buf *b, struct gt_error *err) GT_CHECK; /* to stdout; EPIPE is quiet */

/* Resolves the PLAN argument of product.md section 2 (NAME, NAME#RANK, plan JSON file, scenario
 * file, NULL = saved last). For a scenario: plans it. *set is the caller's (plan_set_free). */
struct plan_ref {
    struct plan_set *set;
    struct scenario *scenario;
    size_t index;
    char *json; /* the plan document (plan_json.h): as it was saved, or as it would be */
};
int app_plan(struct app *app, const char *ref, struct plan_ref *out, struct gt_error *err) GT_CHECK;
void plan_ref_release(struct plan_ref *r);

struct command {
    const char *name, *usage, *summary; /* usage: what follows the name */
    const struct cli_option *options;
    const char *example;
    /* Returns 0 or a GT_E* code with err filled; GT_EINFEASIBLE after output = exit 3. */
    int (*run)(struct app *app, const struct cli_args *args, struct gt_error *err);
    bool no_csv; /* has no table to write as CSV: --format csv is refused */
};
const struct command *command_at(size_t i);
const struct command *command_find(const char *name);

#endif
