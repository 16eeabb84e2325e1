/* Regions for `fetch` and `watch`: --region, else the config's and the saved scenarios'. */
#ifndef GPUTIER_FETCH_REGIONS_H
#define GPUTIER_FETCH_REGIONS_H
#include "cli.h"

#define FETCH_REGIONS_MAX 64
struct fetch_regions {
    char *name[FETCH_REGIONS_MAX];
    size_t n;
};
/* Needs app->store. None with --all-regions. fetch_regions_release in every case. */
int fetch_regions_choose(struct app *app, const struct cli_args *args, struct fetch_regions *l,
                         struct gt_error *err) GT_CHECK;
void fetch_regions_release(struct fetch_regions *l);

#endif
