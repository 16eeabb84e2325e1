/* Recording: series of prices and availability that grow by looking again and again, and the
 * times in which somebody looked. A value holds from its point to the next one, but is known only
 * within the observed times: what happened in between is unknown, not "as before". */
#ifndef GPUTIER_RECORD_H
#define GPUTIER_RECORD_H
#include "gputier/store.h"
#include <stdint.h>

/* A round may come so much later than planned before one counts as missing (in percent of the
 * step): jitter of 10 % on both sides, and a slow answer. */
#define RECORD_LATE_PCT 150

/* From now on this store's runs of the source are rounds, step_s apart (0 = no longer): rounds
 * that follow one another are joined to one observed time, and a run that changed nothing is kept
 * once, not once a round. */
int store_record(struct store *s, const char *source_id, int64_t step_s,
                 struct gt_error *err) GT_CHECK;
/* When a source was last tried, failures included; GT_TIME_NONE = never. */
int store_last_run(struct store *s, const char *source_id, int64_t *when,
                   struct gt_error *err) GT_CHECK;

/* Rows that the runs begun at `when` added, changed or closed. */
int store_round(struct store *s, int64_t when, uint64_t *changed, struct gt_error *err) GT_CHECK;

/* The observed times of a pool, merged over the feeds that speak of it, oldest first. step_s: the
 * largest of them. zone NULL = the region as a whole; source_id NULL = every source. */
struct observed_time {
    int64_t first, last, step_s;
};
int store_observed(struct store *s, const char *vendor, const char *region, const char *zone,
                   const char *instance_type, const char *source_id,
                   int (*row)(void *ctx, const struct observed_time *o), void *ctx,
                   struct gt_error *err) GT_CHECK;

#endif
