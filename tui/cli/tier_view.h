/* What `tier` shows: one answer out of the plans of all batches. */
#ifndef GPUTIER_TIER_VIEW_H
#define GPUTIER_TIER_VIEW_H
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
int tier_json(struct app *app, const struct tier_answer *a, struct buf *out);
int tier_csv(const struct tier_answer *a, struct buf *out);
int tier_text(struct app *app, const struct tier_answer *a, struct buf *out);

#endif
