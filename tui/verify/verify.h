/* Worked cases (product.md section 9): each kind is one file here with one const record in the
 * table of verify.c. A kind computes from the inputs only (never looks at the expected values) and
 * writes `computed` with the keys, nesting and units of the expected object. */
#ifndef GPUTIER_VERIFY_H
#define GPUTIER_VERIFY_H
#include "gputier/catalog.h"
#include "gputier/error.h"
#include <cjson/cJSON.h>
#include <stdbool.h>

struct verify_context {
    const struct catalog *catalog; /* GPU specs and model profiles */
    const char *cases_dir, *traces_dir;
    const cJSON *file, *list; /* the document and the list the case stands in */
    const char *calibrate;    /* NULL, "same-gpu", "other-gpu" */
};
struct verify_kind {
    const char *name;
    /* Recognised by `format` or by shape; never by expected values. */
    bool (*matches)(const cJSON *file, const cJSON *kase);
    /* GT_EUNSUPPORTED with a reason when this case's kind is not computed. */
    int (*compute)(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err);
    /* The expected object of a case (borrowed or into *owned, freed by the driver), NULL = none. */
    const cJSON *(*expected)(const cJSON *kase, cJSON **owned);
    /* NULL = the driver's numeric comparison with tolerances. */
    bool (*agrees)(const struct verify_context *ctx, const cJSON *kase, const cJSON *expected,
                   const cJSON *computed, char *reason, size_t reason_size);
    bool needs_catalog; /* reads ctx->catalog, which is NULL otherwise */
    bool statistics;    /* adds n, median_error, p90_error of `throughput` to the summary */
};
/* The driver's comparison, for an agrees() that judges one part itself and leaves the rest to it:
 * numbers (or decimal strings) within the tolerance of case or file, `note` never, `rows` in any
 * order, `errors` by their L-code, zero `components` may be absent. reason names the first
 * difference. */
bool verify_values_agree(const struct verify_context *ctx, const cJSON *kase, const cJSON *expected,
                         const cJSON *computed, char *reason, size_t reason_size);

extern const struct verify_kind verify_storage, verify_spot, verify_checkpoint, verify_capacity,
    verify_throughput, verify_memory_fit, verify_input_pipeline;
#endif
