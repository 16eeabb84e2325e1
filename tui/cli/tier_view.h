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
int tier_json(struct app *app, const struct tier_answer *a, struct buf *out);
int tier_csv(const struct tier_answer *a, struct buf *out);
int tier_text(struct app *app, const struct tier_answer *a, struct buf *out);

#endif
