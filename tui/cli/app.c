/* The process-wide context: environment, global flags, lazy store and catalog, dispatch, errors. */
#include "app.h"
#include "config.h"
#include "gputier/fetch.h"
#include "gputier/inventory_sql.h"
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/ui.h"
#include "gputier/units.h"
#include "help.h"
#include "options.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef GPUTIER_PREFIX
#define GPUTIER_PREFIX "/usr/local"
#endif
#define GPUTIER_VERSION "0.1.0"

static char *printf_new(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *printf_new(const char *fmt, ...)
{
    char *p = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&p, fmt, ap) < 0) {
        p = NULL;
    }
    va_end(ap);
    return p;
}

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

/* $XDG_x/gputier/leaf, or below the home folder. */
static char *xdg_path(const char *variable, const char *fallback, const char *leaf)
{
    const char *base = env(variable), *home = env("HOME");
    if (base && base[0] == '/') {
        return printf_new("%s/gputier/%s", base, leaf);
    }
    const struct passwd *me = home ? NULL : getpwuid(getuid());
    home = home ? home : me && me->pw_dir && me->pw_dir[0] == '/' ? me->pw_dir : NULL;
    return home ? printf_new("%s/%s/gputier/%s", home, fallback, leaf) : NULL;
}

static char *own_path(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) {
        return strdup("gputier");
    }
    path[n] = '\0';
    return strdup(path);
}

/* $GPUTIER_DATA, else data/ beside the binary (or its parent: build/gputier), else the share folder
 * of the prefix it stands in, wherever that was installed or moved. */
static char *data_path(const char *self)
{
    if (env("GPUTIER_DATA")) {
        return strdup(env("GPUTIER_DATA"));
    }
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", self);
    char *at = dirname(dir);
    static const char *const below[] = {"data", "../data", "../share/gputier"};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        struct stat st;
        char *p = printf_new("%s/%s", at, below[i]);
        char *probe = p ? printf_new("%s/snapshot", p) : NULL;
        bool found = probe && stat(probe, &st) == 0 && S_ISDIR(st.st_mode);
        free(probe);
        if (found) {
            return p;
        }
        free(p);
    }
    return strdup(GPUTIER_PREFIX "/share/gputier");
}

static void log_to_stderr(void *ctx, enum log_level level, const char *module, const char *text)
{
    static const char *const name[] = {"error", "warning", "info", "debug"};
    (void)ctx;
    fprintf(stderr, "gputier: %s: %s: %s\n", name[level], module, text);
}

int32_t app_local_offset(int64_t when)
{
    time_t t = (time_t)when;
    struct tm tm;
    return localtime_r(&t, &tm) ? (int32_t)tm.tm_gmtoff : 0;
}

static int set_now(struct app *app, struct gt_error *err)
{
    app->now = (int64_t)time(NULL);
    if (env("GPUTIER_NOW") && time_parse(env("GPUTIER_NOW"), 0, &app->now, err)) {
        snprintf(err->where, sizeof err->where, "GPUTIER_NOW");
        return gt_fail(NULL, GT_EUSAGE, "", "time");
    }
    app->local_offset_s = app_local_offset(app->now);
    return 0;
}

static int choose(const char *option, const char *value, const char *const *allowed, int *out,
                  struct gt_error *err)
{
    for (int i = 0; allowed[i]; i++) {
        if (strcmp(value, allowed[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected %s, %s%s%s", option, value,
                   allowed[0], allowed[1], allowed[2] ? " or " : "", allowed[2] ? allowed[2] : "");
}

/* A command with a --format of its own (report) keeps its meaning. */
static bool own_format(const struct command *c)
{
    for (const struct cli_option *o = c ? c->options : NULL; o && o->name; o++) {
        if (strcmp(o->name, "format") == 0) {
            return true;
        }
    }
    return false;
}

static int apply_globals(struct app *app, const struct command *c, const struct cli_args *a,
                         struct gt_error *err)
{
    static const char *const formats[] = {"table", "json", "csv", NULL};
    static const char *const colors[] = {"auto", "always", "never", NULL};
    const char *v;
    int which = 0;
    if (!own_format(c) && (v = cli_value(a, "format")) != NULL) {
        if (choose("format", v, formats, &which, err)) {
            return GT_EUSAGE;
        }
        app->format = (enum out_format)which;
        if (app->format == OUT_CSV && c && c->no_csv) {
            return gt_fail(err, GT_EUSAGE, "", "--format: found 'csv', %s writes table or json",
                           c->name);
        }
    }
    which = 0;
    if ((v = cli_value(a, "color")) != NULL && choose("color", v, colors, &which, err)) {
        return GT_EUSAGE;
    }
    app->color = which == 1 || (which == 0 && isatty(STDOUT_FILENO) && !env("NO_COLOR") &&
                                env("TERM") && strcmp(env("TERM"), "dumb") != 0);
    if ((v = cli_value(a, "db")) != NULL) {
        free(app->db_owned);
        app->db_path = app->db_owned = strdup(v);
    }
    if ((v = cli_value(a, "config")) != NULL) {
        free(app->config_owned);
        app->config_path = app->config_owned = strdup(v);
    }
    if ((v = cli_value(a, "as-of")) != NULL && time_parse(v, 0, &app->as_of, err)) {
        return gt_fail(err, GT_EUSAGE, "--as-of",
                       "found '%.40s', expected a date such as 2026-05-20", v);
    }
    if ((v = cli_value(a, "currency")) != NULL) {
        if (strlen(v) != 3 || strspn(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--currency: found '%.20s', expected a code such as USD", v);
        }
        app->currency = v;
    }
    int rc = app_read_fx(app, a, err);
    app->lang = cli_value(a, "lang");
    app->offline = cli_flag(a, "offline");
    app->strict = cli_flag(a, "strict");
    app->plain = cli_flag(a, "plain");
    app->quiet = cli_flag(a, "quiet");
    for (size_t i = 0; cli_list(a, "verbose", i); i++) {
        app->verbose++;
    }
    app->log.level = app->quiet
                         ? LOG_ERROR
                         : (enum log_level)(LOG_WARNING + (app->verbose > 2 ? 2 : app->verbose));
    return rc;
}

int app_init(struct app *app, int argc, char **argv, const volatile sig_atomic_t *cancel,
             struct gt_error *err)
{
    (void)argc;
    (void)argv;
    memset(app, 0, sizeof *app);
    app->cancel = cancel;
    app->as_of = GT_TIME_NONE;
    app->currency = "USD";
    app->log = (struct log_sink){.level = LOG_WARNING, .write = log_to_stderr};
    app->self = app->self_owned = own_path();
    app->data_dir = app->data_owned = app->self ? data_path(app->self) : NULL;
    app->db_path = app->db_owned = env("GPUTIER_DB")
                                       ? strdup(env("GPUTIER_DB"))
                                       : xdg_path("XDG_DATA_HOME", ".local/share", "gputier.db");
    app->config_path = app->config_owned = xdg_path("XDG_CONFIG_HOME", ".config", "config.yaml");
    app->cache_dir = xdg_path("XDG_CACHE_HOME", ".cache", "");
    if (!app->self || !app->data_dir || !app->db_path || !app->config_path) {
        return gt_fail(err, GT_ENOTFOUND, "HOME",
                       "no home folder is known: set HOME, or XDG_DATA_HOME and XDG_CONFIG_HOME");
    }
    return set_now(app, err) ? GT_EUSAGE : 0;
}

/* The first argument that is no option, skipping values of global options. */
static int command_index(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (a[0] != '-' || a[1] == '\0') {
            return i;
        }
        if (strcmp(a, "--") == 0) {
            return argc;
        }
        if (a[1] == '-' && !strchr(a, '=')) {
            for (const struct cli_option *o = cli_globals; o->name; o++) {
                if (o->kind != OPT_FLAG && strcmp(o->name, a + 2) == 0) {
                    i++;
                    break;
                }
            }
        }
    }
    return argc;
}

static int wants(int argc, char **argv, const char *name, char letter)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if ((argv[i][0] == '-' && argv[i][1] == '-' && strcmp(argv[i] + 2, name) == 0) ||
            (letter && argv[i][0] == '-' && argv[i][1] == letter && argv[i][2] == '\0')) {
            return 1;
        }
    }
    return 0;
}

static int print_help(const struct command *c, FILE *to, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    int rc = c ? help_command(c, &b) : help_overview(&b);
    if (!rc && b.data) {
        fputs(b.data, to);
    }
    buf_release(&b);
    return rc ? gt_fail(err, rc, "", "out of memory") : 0;
}

static int no_command(const char *name, struct gt_error *err)
{
    const struct command *c;
    const char *best = NULL;
    size_t best_d = 4;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        size_t d = text_distance(name, c->name);
        if (d < best_d) {
            best_d = d;
            best = c->name;
        }
    }
    return gt_fail(err, GT_EUSAGE, "", "no command '%.60s'%s%s; 'gputier help' lists them", name,
                   best ? "; did you mean " : "", best ? best : "");
}

static int run_command(struct app *app, int argc, char **argv, int at, struct gt_error *err)
{
    const struct command *c = at < argc ? command_find(argv[at]) : NULL;
    struct cli_args args = {0};
    int rc;
    if (at < argc && !c) {
        return no_command(argv[at], err);
    }
    if (wants(argc, argv, "help", 'h')) {
        return print_help(c, stdout, err);
    }
    if (c) {
        /* The command's word itself is taken out; global flags may stand on both sides. */
        for (int i = at; i > 1; i--) {
            argv[i] = argv[i - 1];
        }
        rc = options_parse(c->options, argc, argv, 2, &args, err);
    } else {
        rc = options_parse(NULL, argc, argv, 1, &args, err);
    }
    rc = rc ? rc : apply_globals(app, c, &args, err);
    if (!rc && (!c || strcmp(c->name, "help") != 0)) {
        rc = config_open(app, cli_value(&args, "config") != NULL, err);
    }
    if (!rc && c) {
        rc = c->run(app, &args, err);
    } else if (!rc && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        rc = ui_run(app, err);
    } else if (!rc) {
        print_help(NULL, stderr, err);
        rc = gt_fail(err, GT_EUSAGE, "", "no command, and no terminal for the interface");
    }
    options_release(&args);
    return rc;
}

/* The form of errors is known before the options are understood: they may be what is wrong. */
static void error_format(struct app *app, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *v = strncmp(argv[i], "--format=", 9) == 0              ? argv[i] + 9
                        : strcmp(argv[i], "--format") == 0 && i + 1 < argc ? argv[i + 1]
                                                                           : NULL;
        if (v) {
            app->format = strcmp(v, "json") == 0 ? OUT_JSON : OUT_TABLE;
        }
    }
}

int app_run(struct app *app, int argc, char **argv, struct gt_error *err)
{
    error_format(app, argc, argv);
    int at = command_index(argc, argv);
    if (at == argc && wants(argc, argv, "version", 'V')) {
        printf("gputier %s\nPostgreSQL for `inventory sql --run`: %s\n", GPUTIER_VERSION,
               inventory_sql_libpq() ? "by libpq" : "no, built without libpq");
        return 0;
    }
    return run_command(app, argc, argv, at, err);
}

void app_report(const struct app *app, int code, const struct gt_error *err)
{
    struct gt_error e = *err;
    struct buf b;
    if (e.code == 0 || !e.text[0]) {
        gt_fail(&e, code, e.where, "%s", gt_strerror(code));
    }
    buf_init(&b, 16384);
    if (app->format == OUT_JSON) {
        struct jsonw w;
        char name[32];
        snprintf(name, sizeof name, "%s", gt_code_name(code));
        for (char *p = name; *p; p++) {
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        }
        jsonw_init(&w, &b, false);
        jsonw_object(&w);
        jsonw_kstring(&w, "schema", "gputier/error/1");
        jsonw_key(&w, "error");
        jsonw_object(&w);
        jsonw_kstring(&w, "code", name);
        jsonw_kstring(&w, "message", e.text);
        jsonw_key(&w, "where");
        jsonw_string_or_null(&w, e.where);
        jsonw_end_object(&w);
        jsonw_end_object(&w);
        jsonw_finish(&w);
    } else {
        buf_adds(&b, "gputier: ");
        if (e.where[0]) {
            text_safe(&b, e.where, strlen(e.where), false);
            buf_adds(&b, ": ");
        }
        text_safe(&b, e.text, strlen(e.text), false);
        buf_addc(&b, '\n');
    }
    if (b.data) {
        fputs(b.data, stderr);
    }
    buf_release(&b);
}

int app_store(struct app *app, struct store **out, struct gt_error *err)
{
    if (!app->store) {
        struct store_options o = {.path = app->db_path, .data_dir = app->data_dir, .now = app->now};
        int rc = store_open(&o, &app->store, err);
        if (rc) {
            return rc;
        }
    }
    *out = app->store;
    return 0;
}

/* Without its shipped data the program knows no model, GPU or bundled price. */
static void warn_without_data(const struct app *app)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/snapshot", app->data_dir);
    if (access(path, R_OK) != 0) {
        log_line(&app->log, LOG_WARNING, "data",
                 "%s: no shipped data there: only what was imported is known; GPUTIER_DATA names "
                 "their folder",
                 app->data_dir);
    }
}

int app_catalog(struct app *app, const struct catalog **out, struct gt_error *err)
{
    if (!app->catalog) {
        struct store *s;
        struct load_options o = {.as_of = app->as_of, .with_cpu_only = true};
        int rc = app_store(app, &s, err);
        rc = rc ? rc : store_load_catalog(s, &o, &app->catalog, err);
        rc = rc ? rc : app_apply_fx(app, app->catalog, err);
        if (rc) {
            catalog_free(app->catalog);
            app->catalog = NULL;
            return rc;
        }
        warn_without_data(app);
    }
    *out = app->catalog;
    return 0;
}

/* GPUTIER_URL_AWS_OFFER for aws-offer. */
static const char *source_env(const char *prefix, const char *source_id)
{
    char name[96];
    int n = snprintf(name, sizeof name, "%s%s", prefix, source_id);
    if (n < 0 || n >= (int)sizeof name) {
        return NULL;
    }
    for (char *p = name; *p; p++) {
        *p = (char)(*p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
    }
    return env(name);
}

const char *app_source_url(void *ctx, const char *source_id)
{
    struct app *app = ctx;
    const char *v = source_env("GPUTIER_URL_", source_id);
    return v ? v : config_get(app, "sources", source_id, "url");
}

const char *app_source_key(void *ctx, const char *source_id)
{
    char variable[64];
    (void)ctx;
    return env(fetch_key_variable(source_id, variable));
}

void app_release(struct app *app)
{
    catalog_free(app->catalog);
    if (app->store) {
        store_close(app->store);
    }
    config_release(app);
    free(app->db_owned);
    free(app->config_owned);
    free(app->cache_dir);
    free(app->data_owned);
    free(app->self_owned);
    memset(app, 0, sizeof *app);
}
