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
/* The series in at most `most` rows of equally many months; returns the rows. */
size_t tier_months(const struct tier_answer *a, size_t most, struct tier_months *row);
uint64_t tier_series_bytes(const struct tier_series *s, int t);
/* These need the series. */
struct jsonw;
void tier_json_over_time(struct jsonw *w, const struct tier_answer *a);
int tier_csv_over_time(const struct tier_answer *a, struct buf *out);
int tier_text_over_time(const struct app *app, const struct tier_answer *a, struct buf *out);
int tier_json(struct app *app, const struct tier_answer *a, struct buf *out);
int tier_csv(const struct tier_answer *a, struct buf *out);
int tier_text(struct app *app, const struct tier_answer *a, struct buf *out);

#endif
