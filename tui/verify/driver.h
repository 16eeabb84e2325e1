/* The driver of worked cases: documents, their lists, the verdict on each case, the summary. */
#ifndef GPUTIER_VERIFY_DRIVER_H
#define GPUTIER_VERIFY_DRIVER_H
#include "gputier/buf.h"
#include "verify.h"
#include <signal.h>

enum verify_status { VERIFY_OK, VERIFY_FAILED, VERIFY_NOT_COMPUTED, VERIFY_NO_EXPECTED };

struct verify_row {
    char id[80];
    const struct verify_kind *kind; /* NULL: of no known kind */
    cJSON *computed;                /* NULL unless computed */
    const cJSON *expected;          /* NULL = none; borrowed from the document or from owned */
    cJSON *owned;
    enum verify_status status;
    bool scored;      /* counts in the summary */
    double error;     /* |predicted / published - 1|, NAN if there is nothing to compare */
    char reason[480]; /* why not ok, or a remark of the engine */
};
struct verify_counts {
    size_t cases, ok, failed, not_computed, without_expected, unscored;
    size_t n; /* scored cases with an error */
    double median_error, p90_error;
    size_t n_calibrated; /* those of n that were predicted from a measured case */
    double calibrated_median, calibrated_p90;
};
struct verify_list {
    char name[80];
    const cJSON *items; /* the list, or the one case; part of the document */
    struct verify_row *rows;
    size_t n;
    struct verify_counts counts;
    bool statistics, memory; /* judged as a list: by its errors, or by the share that agrees */
};
struct verify_file {
    const char *path; /* borrowed */
    cJSON *doc;
    struct verify_list *lists;
    size_t n;
};
struct verify_options {
    const char *traces_dir; /* NULL = beside the cases file or in its sibling folder */
    const char *calibrate;  /* NULL, "same-gpu", "other-gpu" */
    double max_median, max_p90;
    const volatile sig_atomic_t *cancel; /* may be NULL */
    /* Called once a case needs GPU specs and model profiles. */
    int (*catalog)(void *ctx, const struct catalog **out, struct gt_error *err);
    void *catalog_ctx;
};

/* Parses one document and finds its lists; nothing is computed. GT_EPARSE with file:line:column. */
int verify_file_parse(struct verify_file *f, const char *path, const char *text, size_t len,
                      struct gt_error *err) GT_CHECK;
int verify_file_run(struct verify_file *f, const struct verify_options *o,
                    struct gt_error *err) GT_CHECK;
void verify_file_release(struct verify_file *f);
/* What is wanted of this list is met (product.md section 9): every case, or its statistics. */
bool verify_list_passes(const struct verify_list *l, const struct verify_options *o);
/* Over all lists of all files. */
int verify_total(const struct verify_file *files, size_t n, struct verify_counts *out,
                 struct gt_error *err) GT_CHECK;

int verify_write_json(const struct verify_file *files, size_t n, const struct verify_options *o,
                      struct buf *out, struct gt_error *err) GT_CHECK;
int verify_write_csv(const struct verify_file *files, size_t n, struct buf *out,
                     struct gt_error *err) GT_CHECK;
int verify_write_text(const struct verify_file *files, size_t n, const struct verify_options *o,
                      bool ascii, struct buf *out, struct gt_error *err) GT_CHECK;

#endif
