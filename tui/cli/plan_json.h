/* Plans as a document: schema gputier/plan/1 (product.md section 10), written and read back. The
 * scenario stands in it whole, so that a file made by `plan --format json` can be explained,
 * reported and exported without anything else. */
#ifndef GPUTIER_PLAN_JSON_H
#define GPUTIER_PLAN_JSON_H
#include "gputier/buf.h"
#include "gputier/plan.h"
#include "gputier/scenario.h"

/* What a scenario was parsed from. */
struct plan_origin {
    const char *file, *text; /* text may be "" when the sets carry everything */
    const struct scenario_set *sets;
    size_t n_sets;
    int32_t local_offset_s;
};
int plan_json_write(const struct plan_set *set, const struct scenario *s,
                    const struct plan_origin *origin, struct buf *out) GT_CHECK;
/* *set and *scenario are the caller's (plan_set_free, scenario_free). Front plans that are not
 * ranked stand in set->front only. */
int plan_json_read(const char *text, size_t len, const char *file, struct plan_set **set,
                   struct scenario **scenario, struct gt_error *err) GT_CHECK;

/* What a plan says of its training data (plan_data.c): where they wait after the run, and its other
 * placements. */
struct jsonw;
void plan_data_json(struct jsonw *w, const struct plan *p);
int plan_data_waits(const struct plan *p, struct buf *out) GT_CHECK;
int plan_data_choices(const struct plan *p, struct buf *out) GT_CHECK;

#endif
