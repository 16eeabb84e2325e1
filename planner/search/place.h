/* Shared by place.c (training data) and other_data.c (checkpoints, logs, other data). */
#ifndef GPUTIER_SEARCH_PLACE_H
#define GPUTIER_SEARCH_PLACE_H
#include "search.h"

/* Placements of a region's training data; its common charges must be there already. */
int region_places(struct search *q, struct region *r);
/* Checkpoints, logs and other data of plans in this region. */
int region_common(struct search *q, struct region *r);
/* Keeping one data set on a tier for its time, with the reads beside the training. */
int charge_keep(struct search *q, struct charges *c, const struct region *home, const char *tier,
                const struct scenario_data *d);
/* The scenario names a tier that keeps data: local NVMe is where they are read, not where they lie.
 */
bool tier_fixed(const struct scenario_data *d);
/* The tier that is taken where the scenario leaves it free. */
const char *free_tier(const struct search *q, const struct region *home);
/* The plan's other placements of its training data, and where they wait after the run
 * (data_tiers.c). */
int data_tiers(struct search *q, const struct candidate *c, struct plan *out);

#endif
