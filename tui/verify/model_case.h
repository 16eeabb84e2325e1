/* Reading a worked case of the model kinds (throughput, memory fit) into a model_job. */
#ifndef VERIFY_MODEL_CASE_H
#define VERIFY_MODEL_CASE_H
#include "gputier/model.h"
#include "verify.h"

struct model_case {
    struct model_job job;
    struct model_profile own; /* the model, if only the case knows it */
    double per_unit;          /* units of the case's throughput per sample: 1 or tokens */
    double widen;             /* factor on the interval for what was guessed; 1 = nothing */
    char remark[300];         /* what was guessed; "" = nothing */
};
/* Number or decimal string; NAN when absent, null or something else. */
double case_number(const cJSON *kase, const char *key);
/* String; "" when absent or null. */
const char *case_text(const cJSON *kase, const char *key);
bool case_format(const cJSON *file, const char *prefix);
/* Reads inputs only. Unknown GPU: GT_ENOTFOUND. */
int model_case_read(const struct verify_context *ctx, const cJSON *kase, struct model_case *c,
                    struct gt_error *err) GT_CHECK;
/* A remark to a case that was computed: err->text with err->code GT_OK. */
void case_remark(struct gt_error *err, const char *text);
#endif
