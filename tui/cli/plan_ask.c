/* Short flags and --set -> scenario (plan_ask.h). A flag is nothing but a --set with a short name.
 */
#include "plan_ask.h"
#include "gputier/planner.h"
#include "gputier/units.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO_BYTES (1 << 20)
#define MAX_SETS       256

static int keep(struct plan_ask *a, char *text, const char **out, struct gt_error *err)
{
    if (text == NULL || a->n_owned == MAX_SETS * 2) {
        free(text);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    a->owned[a->n_owned++] = text;
    *out = text;
    return 0;
}

static int add_set(struct plan_ask *a, const char *path, const char *value, struct gt_error *err)
{
    if (a->origin.n_sets == MAX_SETS) {
        return gt_fail(err, GT_EUSAGE, "", "more than %d flags and --set", MAX_SETS);
    }
    struct scenario_set *s = &a->sets[a->origin.n_sets];
    int rc = keep(a, strdup(path), &s->path, err);
    if (rc == 0) {
        rc = keep(a, strdup(value), &s->value, err);
    }
    a->origin.n_sets += rc == 0;
    return rc;
}

/* A word as YAML text in quotes, so that nothing in it is syntax. */
static int add_quoted(struct buf *b, const char *s, size_t len)
{
    int rc = buf_addc(b, '\'');
    for (size_t i = 0; i < len && rc == 0; i++) {
        rc = s[i] == '\'' ? buf_adds(b, "''") : buf_addc(b, s[i]);
    }
    return rc != 0 ? rc : buf_addc(b, '\'');
}

/* --gpu A --gpu B -> [ 'A', 'B' ]; commas separate too. */
static int add_list(struct plan_ask *a, const struct cli_args *args, const char *flag,
                    const char *path, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, 65536);
    if (cli_list(args, flag, 0) == NULL) {
        return 0;
    }
    int rc = buf_addc(&b, '[');
    for (size_t i = 0; cli_list(args, flag, i) != NULL; i++) {
        const char *p = cli_list(args, flag, i);
        for (size_t len; rc == 0; p += len + 1) {
            len = strcspn(p, ",");
            rc = b.len > 1 ? buf_addc(&b, ',') : 0;
            rc = rc != 0 ? rc : add_quoted(&b, p, len);
            if (p[len] == '\0') {
                break;
            }
        }
    }
    rc = rc != 0 ? rc : buf_addc(&b, ']');
    rc = rc != 0 ? gt_fail(err, rc, "", "--%s is too long", flag) : add_set(a, path, b.data, err);
    buf_release(&b);
    return rc;
}

static int add_value(struct plan_ask *a, const struct cli_args *args, const char *flag,
                     const char *path, bool quoted, struct gt_error *err)
{
    const char *value = cli_value(args, flag);
    if (value == NULL) {
        return 0;
    }
    if (!quoted) {
        return add_set(a, path, value, err);
    }
    struct buf b;
    buf_init(&b, 8192);
    int rc = add_quoted(&b, value, strlen(value));
    rc = rc != 0 ? gt_fail(err, rc, "", "--%s is too long", flag) : add_set(a, path, b.data, err);
    buf_release(&b);
    return rc;
}

/* "30min,12GB" -> every, size. */
static int add_checkpoint(struct plan_ask *a, const struct cli_args *args, struct gt_error *err)
{
    const char *value = cli_value(args, "checkpoint");
    if (value == NULL) {
        return 0;
    }
    const char *comma = strchr(value, ',');
    char every[64];
    snprintf(every, sizeof every, "%.*s", comma != NULL ? (int)(comma - value) : 60, value);
    int rc = add_set(a, "workload.checkpoint.every", every, err);
    return rc == 0 && comma != NULL ? add_set(a, "workload.checkpoint.size", comma + 1, err) : rc;
}

/* "150GiB,1281167,aws/us-east-1,s3_standard" in any order after the size. */
static int add_data(struct plan_ask *a, const struct cli_args *args, struct gt_error *err)
{
    const char *p = cli_value(args, "data");
    int rc = 0;
    if (p == NULL) {
        return 0;
    }
    rc = add_set(a, "data.0.name", "training", err);
    rc = rc != 0 ? rc : add_set(a, "data.0.role", "training_data", err);
    for (int i = 0; rc == 0; i++) {
        char part[96];
        size_t len = strcspn(p, ",");
        snprintf(part, sizeof part, "%.*s", len < 90 ? (int)len : 90, p);
        const char *key = i == 0                                           ? "data.0.size"
                          : strchr(part, '/') != NULL                      ? "data.0.lives_in"
                          : strspn(part, "0123456789.KMB") == strlen(part) ? "data.0.files"
                                                                           : "data.0.tier";
        rc = add_set(a, key, part, err);
        if (p[len] == '\0') {
            break;
        }
        p += len + 1;
    }
    return rc;
}

static int add_gpu_hours(struct plan_ask *a, const struct cli_args *args, struct gt_error *err)
{
    const char *hours = cli_value(args, "gpu-hours"), *gpu = cli_list(args, "gpu", 0);
    if (hours == NULL) {
        return 0;
    }
    if (gpu == NULL && a->text == NULL) {
        return gt_fail(err, GT_EUSAGE, "", "--gpu-hours needs --gpu: hours of which GPU");
    }
    int rc = add_set(a, "workload.gpu_hours.hours", hours, err);
    if (rc == 0 && gpu != NULL) {
        char first[96];
        snprintf(first, sizeof first, "%.*s",
                 (int)(strcspn(gpu, ",") < 90 ? strcspn(gpu, ",") : 90), gpu);
        rc = add_set(a, "workload.gpu_hours.gpu", first, err);
    }
    return rc;
}

static int add_sets(struct plan_ask *a, const struct cli_args *args, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && cli_list(args, "set", i) != NULL; i++) {
        const char *text = cli_list(args, "set", i), *equal = strchr(text, '=');
        char path[200];
        if (equal == NULL || equal == text || (size_t)(equal - text) >= sizeof path) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--set: found '%.60s', expected PATH=VALUE such as data.0.size=2TiB",
                           text);
        }
        snprintf(path, sizeof path, "%.*s", (int)(equal - text), text);
        rc = add_set(a, path, equal + 1, err);
    }
    return rc;
}

static int read_flags(struct plan_ask *a, const struct cli_args *args, struct gt_error *err)
{
    int rc = add_gpu_hours(a, args, err);
    rc = rc ? rc : add_list(a, args, "gpu", "constraints.gpus.models", err);
    rc = rc ? rc : add_value(a, args, "gpus", "constraints.gpus.count", false, err);
    rc = rc ? rc : add_value(a, args, "model", "workload.model", true, err);
    rc = rc ? rc : add_value(a, args, "epochs", "workload.epochs", false, err);
    rc = rc ? rc : add_value(a, args, "samples", "workload.samples", false, err);
    rc = rc ? rc : add_value(a, args, "deadline", "constraints.deadline", true, err);
    rc = rc ? rc : add_value(a, args, "budget", "constraints.budget", true, err);
    rc = rc ? rc : add_value(a, args, "confidence", "constraints.confidence", false, err);
    rc = rc ? rc : add_checkpoint(a, args, err);
    rc = rc ? rc : add_value(a, args, "setup", "workload.setup", true, err);
    rc = rc ? rc : add_list(a, args, "vendor", "constraints.vendors", err);
    rc = rc ? rc : add_list(a, args, "region", "constraints.regions", err);
    rc = rc ? rc : add_list(a, args, "purchase", "purchase", err);
    rc = rc ? rc : add_data(a, args, err);
    return rc ? rc : add_sets(a, args, err);
}

/* A deadline without a zone is local time of its own day: summer time may begin or end before. */
static int parse_local(const struct app *app, size_t len, struct plan_ask *a, struct gt_error *err)
{
    int32_t offset = app->local_offset_s;
    for (int pass = 0;; pass++) {
        int rc = scenario_parse(a->origin.text, len, a->origin.file, a->sets, a->origin.n_sets,
                                app->now, offset, &a->scenario, err);
        a->origin.local_offset_s = offset;
        if (rc != 0 || pass > 0 || a->scenario->deadline_at == GT_TIME_NONE ||
            app_local_offset(a->scenario->deadline_at) == offset) {
            return rc;
        }
        offset = app_local_offset(a->scenario->deadline_at);
        scenario_free(a->scenario);
        a->scenario = NULL;
    }
}

int plan_ask(struct app *app, const char *file, const struct cli_args *args, struct plan_ask *out,
             struct gt_error *err)
{
    size_t len = 0;
    int rc = 0;
    memset(out, 0, sizeof *out);
    out->sets = calloc(MAX_SETS, sizeof *out->sets);
    out->owned = calloc(MAX_SETS * 2, sizeof *out->owned);
    if (out->sets == NULL || out->owned == NULL) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (file != NULL) {
        rc = app_read_file(file, SCENARIO_BYTES, &out->text, &len, err);
        rc = rc == GT_EIO || rc == GT_ENOTFOUND || rc == GT_ELIMIT ? GT_EPARSE : rc;
    }
    if (rc == 0 && args != NULL) {
        rc = read_flags(out, args, err);
    }
    out->origin.file = file != NULL ? file : "command line";
    out->origin.text = out->text != NULL ? out->text : "";
    out->origin.sets = out->sets;
    return rc != 0 ? rc : parse_local(app, len, out, err);
}

void plan_ask_release(struct plan_ask *a)
{
    for (size_t i = 0; i < a->n_owned; i++) {
        free(a->owned[i]);
    }
    free(a->owned);
    free(a->sets);
    free(a->text);
    scenario_free(a->scenario);
    memset(a, 0, sizeof *a);
}

static int whole_number(const struct cli_args *args, const char *name, uint64_t lo, uint64_t hi,
                        uint64_t *out, struct gt_error *err)
{
    const char *text = args != NULL ? cli_value(args, name) : NULL;
    char *end = NULL;
    if (text == NULL) {
        return 0;
    }
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0' || v < lo || v > hi) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected a whole number from %llu",
                       name, text, (unsigned long long)lo);
    }
    *out = v;
    return 0;
}

int plan_ask_search(struct app *app, const struct plan_ask *a, const struct cli_args *args,
                    struct plan_set **out, struct gt_error *err)
{
    const struct catalog *catalog = NULL;
    uint64_t top = 10, seed = 1;
    *out = NULL;
    int rc = whole_number(args, "top", 1, 1000, &top, err);
    rc = rc ? rc : whole_number(args, "seed", 0, 1ULL << 53, &seed, err) /* as JSON carries it */;
    rc = rc ? rc : app_catalog(app, &catalog, err);
    if (rc != 0) {
        return rc;
    }
    struct plan_options o = {.top = (size_t)top,
                             .seed = seed,
                             .runs = 2000,
                             .now = app->now,
                             .currency = app->currency,
                             .sensitivity = args != NULL && cli_flag(args, "sensitivity"),
                             .cancel = (const volatile int *)app->cancel};
    return plan_search(a->scenario, catalog, &o, out, err);
}
