/* What `tier` shows: one answer out of the plans of all batches. */
#ifndef GPUTIER_TIER_VIEW_H
#define GPUTIER_TIER_VIEW_H
#include "gputier/jsonw.h"
#include "tier_input.h"

struct tier_answer {
    const struct tier_input *in;
    const struct catalog *catalog;
    struct tier_plan **plan; /* one a batch; NULL = left out */
    char **why;              /* of those left out */
    int horizon;
    money total, baseline, saving, lower_bound, policy_cost, policy_gap;
    bool has_policy, at_least;
    const char *currency;
    struct tier_series series; /* where tier_options.over_time asks for it; in in->arena */
};
/* Months [from, to) of a series, as many as stand in one row. */
struct tier_months {
    int from, to;
    money cost, moves, baseline; /* moves: the part of cost that is paid once */
};
/* Plans every batch of a->in with a->catalog (both set by the caller) and sums up. In every case
 * tier_answer_release afterwards. */
int tier_answer_make(const struct tier_options *o, struct tier_answer *a,
                     struct gt_error *err) GT_CHECK;
void tier_answer_release(struct tier_answer *a);
/* Writes the policy as a lifecycle file; GT_EUNSUPPORTED when it holds no rule. */
int tier_answer_lifecycle(const struct tier_answer *a, const char *path,
                          struct gt_error *err) GT_CHECK;
/* The limits of a plan, which of them bind, what they cost (tier_bounds_view.c). */
void tier_bounds_json(struct jsonw *w, const struct tier_answer *a);
void tier_bounds_text(const struct tier_answer *a, int digits, struct buf *out);
/* One group of a table, in the order shown; path NULL = the rest, summed. */
struct tier_row {
    const struct tier_path *path;
    const char *label;
    uint64_t objects, bytes;
    size_t groups;
};
/* Largest saving or loss first; row has room for in->n. */
size_t tier_rows(const struct tier_answer *a, struct tier_row *row);
/* "s3_standard 1-3, s3_glacier_ir 4-36", with dashes of their own unless plain. */
void tier_path_text(const struct tier_path *p, bool plain, struct buf *b);
#define TIER_MONTH_ROWS 36 /* longer horizons show several months a row */
/* The series in at most `most` rows of equally many months; returns the rows. */
size_t tier_months(const struct tier_answer *a, size_t most, struct tier_months *row);
/* One row as long as nothing changes but a minor unit of money; tier_months where that are too
 * many.
 */
size_t tier_phases(const struct tier_answer *a, size_t most, struct tier_months *row);
/* Rounds n rows, at most TIER_MONTH_ROWS, so that those shown add up. */
int tier_months_round(struct tier_months *row, size_t n, int digits);
uint64_t tier_series_bytes(const struct tier_series *s, int t);
/* These need the series. */
struct jsonw;
void tier_json_over_time(struct jsonw *w, const struct tier_answer *a);
int tier_csv_over_time(const struct tier_answer *a, struct buf *out);
int tier_text_over_time(const struct app *app, const struct tier_answer *a, struct buf *out);
/* The answer as a document for people; name: of the input. False: the ending is no kind of it. */
int tier_report(const struct tier_answer *a, const char *name, int64_t now, bool html,
                struct buf *out, struct gt_error *err) GT_CHECK;
bool tier_report_kind(const char *file, bool *html);
int tier_json(struct app *app, const struct tier_answer *a, struct buf *out);
int tier_csv(const struct tier_answer *a, struct buf *out);
int tier_text(struct app *app, const struct tier_answer *a, struct buf *out);

#endif
