/* Option records -> parsed arguments: global flags anywhere, "--name=value", "--name value", "-x".
 */
#include "options.h"
#include "gputier/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_globals[] = {
    {"db", 0, OPT_VALUE, "FILE", "database file"},
    {"config", 0, OPT_VALUE, "FILE", "configuration file"},
    {"offline", 0, OPT_FLAG, NULL, "never use the network"},
    {"format", 0, OPT_VALUE, "table|json|csv", "output format"},
    {"lang", 0, OPT_VALUE, "CODE", "language of texts for people"},
    {"color", 0, OPT_VALUE, "auto|always|never", "colours"},
    {"currency", 0, OPT_VALUE, "CODE", "show amounts in this currency"},
    {"fx", 0, OPT_LIST, "CODE=RATE@DATE", "exchange rate: CODE for 1 USD; one each currency"},
    {"as-of", 0, OPT_VALUE, "DATE", "prices known then"},
    {"strict", 0, OPT_FLAG, NULL, "a total that is \"at least\" is exit status 3"},
    {"plain", 0, OPT_FLAG, NULL, "linear text for screen readers"},
    {"quiet", 'q', OPT_FLAG, NULL, "less on stderr"},
    {"verbose", 'v', OPT_FLAG, NULL, "more on stderr"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static const struct cli_option *find_long(const struct cli_option *t, const char *name, size_t len)
{
    for (; t && t->name; t++) {
        if (strlen(t->name) == len && memcmp(t->name, name, len) == 0) {
            return t;
        }
    }
    return NULL;
}

static const struct cli_option *find_letter(const struct cli_option *t, char c)
{
    for (; t && t->name; t++) {
        if (t->letter && t->letter == c) {
            return t;
        }
    }
    return NULL;
}

static int unknown(const struct cli_option *table, const char *arg, struct gt_error *err)
{
    const struct cli_option *const tables[] = {table, cli_globals};
    const char *best = NULL;
    size_t best_d = 4;
    for (int i = 0; i < 2; i++) {
        for (const struct cli_option *t = tables[i]; t && t->name; t++) {
            size_t d = text_distance(arg + (arg[1] == '-' ? 2 : 1), t->name);
            if (d < best_d) {
                best_d = d;
                best = t->name;
            }
        }
    }
    if (best) {
        return gt_fail(err, GT_EUSAGE, "", "unknown option '%.80s'; did you mean --%s", arg, best);
    }
    return gt_fail(err, GT_EUSAGE, "", "unknown option '%.80s'; --help lists the options", arg);
}

static int add(struct cli_args *a, const struct cli_option *o, const char *value)
{
    void *p = realloc(a->given, (a->n_given + 1) * sizeof *a->given);
    if (!p) {
        return GT_ENOMEM;
    }
    a->given = p;
    a->given[a->n_given++] = (struct cli_given){o->name, value};
    return 0;
}

/* Takes the value of option o from "=value" or the next argument. */
static int take(struct cli_args *a, const struct cli_option *o, const char *attached, int argc,
                char **argv, int *i, struct gt_error *err)
{
    if (o->kind == OPT_FLAG) {
        return attached ? gt_fail(err, GT_EUSAGE, "", "option --%s takes no value", o->name)
                        : add(a, o, "");
    }
    if (!attached && o->kind == OPT_MAYBE) {
        bool name = *i + 1 < argc && argv[*i + 1][0] != '-' && !strpbrk(argv[*i + 1], "./");
        attached = name ? argv[++*i] : "";
    }
    if (!attached) {
        /* "--limit --format json": the value was forgotten; "-1" and "-" may be values */
        if (*i + 1 >= argc || (strncmp(argv[*i + 1], "--", 2) == 0 && argv[*i + 1][2] != '\0')) {
            return gt_fail(err, GT_EUSAGE, "", "option --%s needs a value: %s", o->name, o->arg);
        }
        attached = argv[++*i];
    }
    return add(a, o, attached);
}

int options_parse(const struct cli_option *table, int argc, char **argv, int first,
                  struct cli_args *out, struct gt_error *err)
{
    bool only_positional = false;
    out->positional = calloc((size_t)argc + 1, sizeof *out->positional);
    if (!out->positional) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (int i = first; i < argc; i++) {
        const char *arg = argv[i];
        const struct cli_option *o;
        int rc = 0;
        if (only_positional || arg[0] != '-' || arg[1] == '\0') {
            out->positional[out->n_positional++] = arg;
        } else if (strcmp(arg, "--") == 0) {
            only_positional = true;
        } else if (arg[1] == '-') {
            const char *eq = strchr(arg, '=');
            size_t len = eq ? (size_t)(eq - arg - 2) : strlen(arg + 2);
            o = find_long(table, arg + 2, len);
            o = o ? o : find_long(cli_globals, arg + 2, len);
            rc = o ? take(out, o, eq ? eq + 1 : NULL, argc, argv, &i, err)
                   : unknown(table, arg, err);
        } else {
            for (const char *p = arg + 1; *p && !rc; p++) {
                o = find_letter(table, *p);
                o = o ? o : find_letter(cli_globals, *p);
                if (!o) {
                    rc = unknown(table, arg, err);
                } else if (o->kind == OPT_FLAG) {
                    rc = add(out, o, "");
                } else {
                    rc = take(out, o, p[1] ? p + 1 : NULL, argc, argv, &i, err);
                    break;
                }
            }
        }
        if (rc) {
            return rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory") : rc;
        }
    }
    return 0;
}

void options_release(struct cli_args *a)
{
    free(a->positional);
    free(a->given);
    memset(a, 0, sizeof *a);
}

const char *cli_value(const struct cli_args *a, const char *name)
{
    for (size_t i = a->n_given; i > 0; i--) {
        if (strcmp(a->given[i - 1].name, name) == 0) {
            return a->given[i - 1].value;
        }
    }
    return NULL;
}

bool cli_flag(const struct cli_args *a, const char *name)
{
    return cli_value(a, name) != NULL;
}

const char *cli_list(const struct cli_args *a, const char *name, size_t i)
{
    for (size_t k = 0; k < a->n_given; k++) {
        if (strcmp(a->given[k].name, name) == 0 && i-- == 0) {
            return a->given[k].value;
        }
    }
    return NULL;
}
