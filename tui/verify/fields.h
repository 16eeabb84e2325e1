/* Inputs of a worked case, with errors that name the field. `where` of an error is the field. */
#ifndef GPUTIER_VERIFY_FIELDS_H
#define GPUTIER_VERIFY_FIELDS_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A JSON number or a decimal string; false for anything else (and for NaN and infinities). */
bool field_number(const cJSON *item, double *out);
/* The field `name` of `object`; an absent one takes `fallback` unless it is NAN. */
int field_double(const cJSON *object, const char *name, double fallback, double *out,
                 struct gt_error *err) GT_CHECK;
/* As field_double; `fallback` FIELD_NEEDED: must be there. Fractions are refused. */
#define FIELD_NEEDED INT64_MIN
int field_int(const cJSON *object, const char *name, int64_t fallback, int64_t *out,
              struct gt_error *err) GT_CHECK;
int field_bool(const cJSON *object, const char *name, bool fallback, bool *out,
               struct gt_error *err) GT_CHECK;
const char *field_text(const cJSON *object, const char *name); /* NULL if absent or no string */
int field_doubles(const cJSON *object, const char *name, struct arena *a, double **out, size_t *n,
                  struct gt_error *err) GT_CHECK;
int field_ints(const cJSON *object, const char *name, struct arena *a, int64_t **out, size_t *n,
               struct gt_error *err) GT_CHECK;
/* Adds a number (NAN becomes null); false when out of memory. */
bool field_put(cJSON *object, const char *name, double v);

#endif
