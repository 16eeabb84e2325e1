/* Reading an input and planning its tiers beside the interface. */
#ifndef GPUTIER_TIERS_WORK_H
#define GPUTIER_TIERS_WORK_H
#include "../cli/tier_view.h"
#include "worker.h"

struct tiers_job { /* calloc; the worker frees it */
    char path[4096];
    char horizon[32], wait[32]; /* "" = as the options say */
    char options[512];          /* as on the command line of `tier` */
};
struct tiers_row { /* one group, in the order shown */
    const struct tier_path *path;
    const char *label;
    size_t batch;
};
struct tiers_result {
    struct tiers_job asked;
    struct tier_input in;
    struct tier_answer answer; /* filled when code == 0 */
    struct tiers_row *row;     /* by saving, largest first */
    size_t n;
    char *letter;    /* of answer.series' tiers */
    char place[160]; /* product and region of an inventory; "" = a scenario's sets have their own */
    int code;
    struct gt_error err;
};
struct tiers_work_ctx { /* as long as the worker lives */
    const struct app *app;
    const struct catalog *catalog;
};
extern const struct worker_ops tiers_work;
void tiers_result_free(void *result);

#endif
