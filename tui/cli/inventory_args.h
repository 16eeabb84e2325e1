/* Options that reading an inventory or a listing shares: inventory, tier. */
#ifndef GPUTIER_INVENTORY_ARGS_H
#define GPUTIER_INVENTORY_ARGS_H
#include "cli.h"
#include "gputier/inventory.h"

#define INVENTORY_CLI_OPTIONS                                                                      \
    {"kind", 0, OPT_VALUE, "auto|find|s3|azure|gcs|rclone|s3api|histogram",                        \
     "format of the input (auto: by content); lists: `inventory savings` of those of volumes, "    \
     "snapshots and uploads, also from stdin"},                                                    \
        {"columns", 0, OPT_VALUE, "LIST",                                                          \
         "columns of an S3 or GCS inventory CSV without a header, as the manifest names them"},    \
        {"access", 0, OPT_LIST, "FILE",                                                            \
         "reads, repeatable: S3 access logs (files or their folder), Storage Class Analysis, CSV " \
         "key,last_access or prefix,gets (of 30 days)"},                                           \
        {"depth", 0, OPT_VALUE, "N", "directory components in a prefix (2)"},                      \
    {                                                                                              \
        "max-bad", 0, OPT_VALUE, "N", "rows that cannot be read before giving up (1000)"           \
    }

/* Reads the files into a new *inv (inventory_free). Ages count back from --as-of, else now. */
int inventory_from_args(struct app *app, const struct cli_args *args, const char *const *files,
                        size_t n, struct inventory **inv, struct gt_error *err) GT_CHECK;
/* The same, looking for duplicates besides. */
int inventory_with_duplicates(struct app *app, const struct cli_args *args,
                              const char *const *files, size_t n, struct duplicates *d,
                              struct inventory **inv, struct gt_error *err) GT_CHECK;
int inventory_depth(const struct cli_args *args, int *depth, struct gt_error *err) GT_CHECK;
/* How far it is, on a terminal that wants to see it; inventory_progress is drawn by
 * inventory_bar_draw with the bar as its context. */
struct inventory_bar {
    bool shown, drawn;
    int64_t started_ms, drawn_ms;
};
void inventory_bar_begin(const struct app *app, struct inventory_bar *bar);
void inventory_bar_draw(void *bar, const struct inventory_progress *p);
void inventory_bar_end(const struct inventory_bar *bar);
/* Lines on stderr about rows that were left out. */
void inventory_warn(struct app *app, const struct inventory *inv);

#endif
