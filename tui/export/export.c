/* export KIND [PLAN]: files that carry the answer to other tools. */
#include "export.h"
#include "gputier/text.h"
#include <stdio.h>
#include <string.h>

static const struct export_kind *const kinds[] = {&export_aws_run_instances,
                                                  &export_azure_lifecycle, &export_efs_lifecycle,
                                                  &export_gcs_lifecycle, &export_s3_lifecycle};

const struct export_kind *export_kind_at(size_t i)
{
    return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL;
}

static const struct cli_option options[] = {
    {"output", 'o', OPT_VALUE, "FILE", "where to write it; - or nothing: standard output"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static int list_kinds(const char *found, struct gt_error *err)
{
    char names[256] = "";
    const struct export_kind *k;
    for (size_t i = 0; (k = export_kind_at(i)) != NULL; i++) {
        size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", k->name);
    }
    return gt_fail(err, GT_EUSAGE, "", "KIND: found %s%.40s%s, expected %s", found ? "'" : "",
                   found ? found : "nothing", found ? "'" : "", names);
}

static void tell(const struct app *app, const struct buf *say)
{
    struct buf safe;
    buf_init(&safe, 1 << 16);
    for (const char *p = say->len ? say->data : ""; *p; p += *p == '\n') {
        size_t len = strcspn(p, "\n");
        buf_adds(&safe, "gputier: ");
        text_safe(&safe, p, len, false);
        buf_addc(&safe, '\n');
        p += len;
    }
    if (!app->quiet && safe.len) {
        fputs(safe.data, stderr);
    }
    buf_release(&safe);
}

static int make(struct app *app, const struct export_kind *kind, const struct plan_ref *ref,
                const char *path, struct gt_error *err)
{
    struct buf out, say;
    struct export_input in = {
        .app = app, .ref = ref, .plan = &ref->set->plan[ref->index], .say = &say};
    buf_init(&out, 16U << 20);
    buf_init(&say, 1 << 16);
    int rc = app_catalog(app, &in.catalog, err);
    rc = rc ? rc : kind->write(&in, &out, err);
    if (!rc && (out.failed || !out.len)) {
        rc = gt_fail(err, GT_ENOMEM, "", "the file does not fit in memory");
    }
    rc = rc ? rc : app_write_file(path, out.data, out.len, err);
    if (!rc) {
        tell(app, &say);
    }
    buf_release(&out);
    buf_release(&say);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const struct export_kind *kind = NULL, *k;
    const char *path = cli_value(args, "output");
    struct plan_ref ref = {0};
    for (size_t i = 0; args->n_positional && (k = export_kind_at(i)) != NULL; i++) {
        kind = strcmp(k->name, args->positional[0]) == 0 ? k : kind;
    }
    if (!kind) {
        return list_kinds(args->n_positional ? args->positional[0] : NULL, err);
    }
    if (args->n_positional > 2) {
        return gt_fail(err, GT_EUSAGE, "", "one plan at most, found '%.40s' too",
                       args->positional[2]);
    }
    int rc = app_plan(app, args->n_positional > 1 ? args->positional[1] : NULL, &ref, err);
    rc = rc ? rc : make(app, kind, &ref, path ? path : "-", err);
    plan_ref_release(&ref);
    return rc;
}

const struct command command_export = {
    .name = "export",
    .usage = "KIND [PLAN] [-o FILE]",
    .summary = "writes launch and lifecycle files: aws-run-instances, s3-lifecycle, "
               "efs-lifecycle, gcs-lifecycle, azure-lifecycle",
    .options = options,
    .example = "gputier export aws-run-instances demo -o run.json",
    .run = run,
};
