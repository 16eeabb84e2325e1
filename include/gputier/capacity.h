/* Capacity: how many nodes to commit to for an hourly demand, and what autoscaling does with a
 * load. Rules: shared/docs/spot-policies.md section 6. */
#ifndef GPUTIER_CAPACITY_H
#define GPUTIER_CAPACITY_H
#include "gputier/error.h"
#include <stddef.h>
#include <stdint.h>

/* Nodes wanted in each hour; must_run[t] <= demand[t] of them may not run on spot, spot_cap[t] is
 * the most spot nodes obtainable. Prices per node-hour; the commitment is paid in every hour. */
struct capacity_mix {
    const int64_t *demand, *must_run, *spot_cap;
    size_t hours;
    double p_commit, p_spot_eff, p_od;
};
struct capacity_mix_result {
    int64_t reserved, od_hours, spot_hours;
    double cost;
};
/* The commitment for `reserved` nodes: its node-hours and bill. */
int capacity_mix_at(const struct capacity_mix *m, int64_t reserved, struct capacity_mix_result *out,
                    struct gt_error *err) GT_CHECK;
/* The smallest commitment of least cost. */
int capacity_mix_best(const struct capacity_mix *m, struct capacity_mix_result *out,
                      struct gt_error *err) GT_CHECK;
/* The smallest commitment of least cost when there is no spot, in one pass: the next node is
 * committed while the hours in which it is used, bought on demand, would cost more than the
 * commitment over all hours (spot-model.md section 8, newsvendor form). The same `reserved` as
 * capacity_mix_best. */
int capacity_base(const int64_t *demand, size_t hours, double p_commit, double p_od,
                  int64_t *reserved, struct gt_error *err) GT_CHECK;

struct autoscale {
    const double *load; /* requests/s in each step */
    size_t steps;
    double mu, theta;                           /* requests/s of a ready node, target utilisation */
    int64_t min, max, n0;                       /* nodes */
    int64_t win, out_cd, in_cd, warm, flap_win; /* steps */
    int64_t *nodes;                             /* out: nodes paid in each step; may be NULL */
};
struct autoscale_result {
    int64_t node_steps, peak_nodes, changes, flaps, static_nodes;
    double served, dropped, saving; /* saving against static_nodes kept throughout */
};
int autoscale_run(const struct autoscale *a, struct autoscale_result *out,
                  struct gt_error *err) GT_CHECK;

#endif
