/* Exports: one file each here with one const record in the table of export.c. A kind that does not
 * apply to the plan writes nothing and returns GT_EINFEASIBLE with the reason (exit status 3). */
#ifndef GPUTIER_EXPORT_H
#define GPUTIER_EXPORT_H
#include "../cli/cli.h"

struct export_input {
    struct app *app;
    const struct plan_ref *ref;
    const struct plan *plan; /* ref->set->plan[ref->index] */
    const struct catalog *catalog;
    struct buf *say; /* what the user should know about the file, one line each: to stderr */
};
struct export_kind {
    const char *name, *help;
    int (*write)(const struct export_input *in, struct buf *out, struct gt_error *err);
};
const struct export_kind *export_kind_at(size_t i); /* NULL past the end */
extern const struct export_kind export_aws_run_instances, export_s3_lifecycle, export_efs_lifecycle,
    export_gcs_lifecycle, export_azure_lifecycle;

#endif
