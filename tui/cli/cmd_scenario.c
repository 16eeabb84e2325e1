/* scenario: starts, checks and documents scenario files. */
#include "gputier/jsonw.h"
#include "gputier/planner.h"
#include "gputier/units.h"
#include "plan_ask.h"
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES (4UL << 20)

static const struct cli_option options[] = {
    PLAN_ASK_OPTIONS,
    {"output", 'o', OPT_VALUE, "FILE", "init: writes the file (it must not exist)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static const char template[] =
    "schema: gputier/scenario/1\n"
    "name: my-job\n"
    "workload:\n"
    "  kind: training\n"
    "  model: resnet50          # `gputier scenario schema` documents every key\n"
    "  epochs: 90\n"
    "  samples: 1281167\n"
    "  batch_per_gpu: 256\n"
    "  precision: amp\n"
    "  stack: tuned             # tuned | stock: the same GPU and model differ 2.2 times by it\n"
    "  checkpoint: { size: 300MB, every: auto }\n"
    "  setup: 25min\n"
    "constraints:\n"
    "  deadline: 72h            # a duration from now, or a time: 2026-12-11T18:00\n"
    "  confidence: 0.95\n"
    "  budget: 5000 USD\n"
    "  # vendors: [aws, azure, gcp, lambda]\n"
    "  # gpus: { models: [A100, H100, V100], count: 1-16 }\n"
    "purchase: [on_demand, spot]\n"
    "data:\n"
    "  - { name: images, role: training_data, size: 150GiB, files: 1281167, lives_in: "
    "aws/us-east-1, "
    "tier: s3_standard, keep: 12mo }\n"
    "  - { name: ckpt, role: checkpoint, size: 20GiB, keep: 3mo }\n"
    "  - { name: logs, role: logs, size: 50GiB, growth: 5GiB/mo, keep: 36mo }\n";

static int init(const struct cli_args *args, struct gt_error *err)
{
    const char *file = cli_value(args, "output");
    struct buf b;
    if (file == NULL && args->n_positional > 1) {
        file = args->positional[1];
    }
    buf_init(&b, OUTPUT_BYTES);
    int rc = buf_adds(&b, template);
    if (rc == 0 && file != NULL) {
        FILE *there = fopen(file, "r");
        if (there != NULL) {
            fclose(there);
            rc = gt_fail(err, GT_EUSAGE, file, "found a file of this name; it is left as it is");
        } else {
            rc = app_write_file(file, b.data, b.len, err);
        }
    } else if (rc == 0) {
        rc = app_put(&b, err);
    }
    buf_release(&b);
    return rc;
}

static int schema_json(struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/scenario-schema/1");
    jsonw_key(&w, "keys");
    jsonw_array(&w);
    for (const struct scenario_key *k = scenario_keys(); k->path != NULL; k++) {
        jsonw_object(&w);
        jsonw_kstring(&w, "path", k->path);
        jsonw_kstring(&w, "type", k->type);
        jsonw_kstring(&w, "allowed", k->allowed);
        jsonw_kstring(&w, "default", k->fallback);
        jsonw_kstring(&w, "help", k->help);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int schema(const struct app *app, struct gt_error *err)
{
    static const char *const titles[] = {"key", "allowed", "default", "what it is", NULL};
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    int rc;
    if (app->format == OUT_JSON) {
        rc = schema_json(&b);
    } else {
        struct text_table t;
        table_init(&t, titles);
        for (const struct scenario_key *k = scenario_keys(); k->path != NULL; k++) {
            const char *cells[] = {k->path, k->allowed, k->fallback, k->help};
            table_row(&t, cells);
        }
        rc = table_write(&t, &b, app->plain);
    }
    rc = rc != 0 ? rc : app_put(&b, err);
    buf_release(&b);
    return rc;
}

static int valid_json(const struct scenario *s, const char *file, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/scenario-validate/1");
    jsonw_kstring(&w, "file", file);
    jsonw_kstring(&w, "name", s->name);
    jsonw_kbool(&w, "valid", true);
    jsonw_key(&w, "defaults");
    jsonw_array(&w);
    for (size_t i = 0; i < s->n_defaults; i++) {
        jsonw_object(&w);
        jsonw_kstring(&w, "key", s->defaults[i].key);
        jsonw_kstring(&w, "value", s->defaults[i].value);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int valid_text(const struct scenario *s, const char *file, struct buf *b)
{
    char when[32];
    int rc = buf_addf(b, "%s: valid (%s)\n", file, s->name);
    if (rc == 0 && s->deadline_at != GT_TIME_NONE) {
        rc = buf_addf(b, "deadline: %s\n", time_format(s->deadline_at, when));
    }
    for (size_t i = 0; i < s->n_defaults && rc == 0; i++) {
        rc = buf_addf(b, "assumed: %s = %s\n", s->defaults[i].key, s->defaults[i].value);
    }
    return rc;
}

static int validate(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct plan_ask ask;
    struct buf b;
    buf_init(&b, OUTPUT_BYTES);
    const char *file = args->n_positional > 1 ? args->positional[1] : NULL;
    if (file == NULL && args->n_given == 0) {
        return gt_fail(err, GT_EUSAGE, "", "scenario validate: expected a file");
    }
    const struct catalog *catalog = NULL;
    int rc = plan_ask(app, file, args, &ask, err);
    rc = rc != 0 ? rc : app_catalog(app, &catalog, err);
    rc = rc != 0 ? rc : plan_check(ask.scenario, catalog, err);
    if (rc == 0) {
        rc = app->format == OUT_JSON ? valid_json(ask.scenario, ask.origin.file, &b)
                                     : valid_text(ask.scenario, ask.origin.file, &b);
        rc = rc != 0 ? rc : app_put(&b, err);
    }
    plan_ask_release(&ask);
    buf_release(&b);
    return rc;
}

/* The first flag given that describes a job, NULL when none: init would not write it down. */
static const char *job_flag(const struct cli_args *args)
{
    for (size_t i = 0; i < args->n_given; i++) {
        for (const struct cli_option *o = options; o->name != NULL; o++) {
            if (strcmp(o->name, args->given[i].name) == 0 && strcmp(o->name, "output") != 0) {
                return o->name;
            }
        }
    }
    return NULL;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const char *what = args->n_positional > 0 ? args->positional[0] : "nothing";
    if (args->n_positional <= 2 && strcmp(what, "init") == 0) {
        const char *flag = job_flag(args);
        return flag == NULL ? init(args, err)
                            : gt_fail(err, GT_EUSAGE, "",
                                      "--%s is for validate; init writes a file to edit", flag);
    }
    if (args->n_positional <= 2 && strcmp(what, "validate") == 0) {
        return validate(app, args, err);
    }
    if (args->n_positional == 1 && strcmp(what, "schema") == 0) {
        return schema(app, err);
    }
    return gt_fail(err, GT_EUSAGE, "",
                   "scenario: found '%.40s', expected init [FILE], validate FILE or schema", what);
}

const struct command command_scenario = {
    .name = "scenario",
    .usage = "init [FILE]|validate FILE|schema",
    .summary = "starts, checks and documents scenario files",
    .options = options,
    .example = "scenario validate job.yaml",
    .run = run,
    .no_csv = true,
};
