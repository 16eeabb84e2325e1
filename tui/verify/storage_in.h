/* Reading storage cases: JSON numbers and decimal strings into exact rationals, lists into arrays
 * of the caller's scratch arena. Errors are sticky in struct storage_in, so that a reader fills a
 * whole struct and checks once. */
#ifndef GPUTIER_VERIFY_STORAGE_IN_H
#define GPUTIER_VERIFY_STORAGE_IN_H
#include "gputier/arena.h"
#include "gputier/billing.h"
#include "gputier/error.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct storage_in {
    struct arena *arena;
    struct gt_error *err;
    int rc; /* first error, 0 while all is well */
};
/* Decimal or fraction under key; absent or null: `fallback`, or an error when that is NULL. */
struct rat in_rat(struct storage_in *in, const cJSON *o, const char *key, const char *fallback);
struct rat in_value(struct storage_in *in, const cJSON *item, const char *what);
int64_t in_int(struct storage_in *in, const cJSON *o, const char *key, int64_t fallback, int64_t lo,
               int64_t hi);
bool in_bool(const cJSON *o, const char *key);
const char *in_text(struct storage_in *in, const cJSON *o, const char *key, const char *fallback);
const cJSON *in_object(struct storage_in *in, const cJSON *o, const char *key);
/* Array under key, its length in *n; absent: NULL and 0, or an error when `required`. */
const cJSON *in_array(struct storage_in *in, const cJSON *o, const char *key, bool required,
                      size_t *n);
/* Zeroed array of n elements in the scratch arena, NULL with rc set when memory ends. */
void *in_alloc(struct storage_in *in, size_t n, size_t size);
const struct rat_pair *in_pairs(struct storage_in *in, const cJSON *o, const char *key, size_t *n);
struct bracket_list in_brackets(struct storage_in *in, const cJSON *o, const char *key);
struct rat *in_rats(struct storage_in *in, const cJSON *o, const char *key, size_t want);
struct tier_price in_tier(struct storage_in *in, const cJSON *o);
void in_fail(struct storage_in *in, int code, const char *where, const char *text);

/* Decimal string with at most 12 places into `computed`. */
int out_rat(cJSON *o, const char *key, struct rat r, struct gt_error *err);
/* Items of a bill as "components" + "total", or as "values". */
int out_bill(cJSON *computed, const struct bill *b, struct gt_error *err);
int out_values(cJSON *computed, const struct bill *b, struct gt_error *err);

/* Families; each reads `inputs`, fills `computed`. */
typedef int storage_family(struct storage_in *in, const cJSON *inputs, cJSON *computed);
storage_family storage_objects, storage_volume, storage_retrieval, storage_auto, storage_block,
    storage_snapshot_archive, storage_managed_disk, storage_file, storage_azure, storage_gcs,
    storage_r2, storage_oss, storage_wasabi, storage_load_time, storage_break_even, storage_online,
    storage_path, storage_joint, storage_savings, storage_lifecycle_validate,
    storage_lifecycle_effect, storage_import;

#endif
