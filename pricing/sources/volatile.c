/* What is worth watching, and how often at most. The figures are courtesy: a list that says "now"
 * may be asked again soon, one of 12 MB or one that changes by the day not. No vendor states a
 * limit below them. */
#include "gputier/fetch.h"
#include <string.h>

static const struct {
    const char *id;
    int64_t least_s;
} sources[] = {
    {"aws-spot-price", 300},    /* the spot page's feed, no key */
    {"aws-spot-history", 600},  /* the EC2 API: only what came since the last look */
    {"aws-spot-advisor", 3600}, /* bands of the last month */
    {"lambda", 60},             /* regions with capacity */
    {"verda", 60},              /* types free by location */
    {"jarvislabs", 300},        /* spare machines */
    {"runpod", 300},            /* stock of one GPU */
    {"vast", 600},              /* every host that is free */
};

int64_t fetch_watch_interval(const char *source_id)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i].id, source_id) == 0) {
            return sources[i].least_s;
        }
    }
    return 0;
}
