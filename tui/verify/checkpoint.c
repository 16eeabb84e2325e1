/* Worked cases of checkpoint intervals and expected makespans (checkpoint-model.md). */
#include "fields.h"
#include "gputier/spot.h"
#include "verify.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MC_RUNS 2000000
#define MC_SEED 1

struct life {
    double shape, scale_h; /* shape 0: exponential */
};
typedef int kind_fn(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err);

static int nomem(struct gt_error *err)
{
    return gt_fail(err, GT_ENOMEM, "computed", "out of memory");
}

static int read_job(const cJSON *in, bool weibull, struct ckpt_job *job, struct life *life,
                    struct gt_error *err)
{
    *job = (struct ckpt_job){.restart_interruptible = true};
    *life = (struct life){0, 0};
    int rc = field_double(in, "work_h", (double)NAN, &job->work_h, err);
    rc = rc ? rc : field_double(in, "tau_h", (double)NAN, &job->tau_h, err);
    rc = rc ? rc : field_double(in, "delta_h", 0, &job->delta_h, err);
    rc = rc ? rc : field_double(in, "restart_h", 0, &job->restart_h, err);
    rc = rc ? rc : field_double(in, "wait_h", 0, &job->wait_h, err);
    rc = rc ? rc : field_bool(in, "cold_start", false, &job->cold_start, err);
    if (rc) {
        return rc;
    }
    if (weibull) {
        rc = field_double(in, "shape", (double)NAN, &life->shape, err);
        return rc ? rc : field_double(in, "scale_h", (double)NAN, &life->scale_h, err);
    }
    return field_double(in, "lambda_per_h", (double)NAN, &job->lambda_per_h, err);
}

static int put_result(const cJSON *in, const struct ckpt_result *r, cJSON *out,
                      struct gt_error *err)
{
    double price = 0;
    bool priced = cJSON_HasObjectItem(in, "price_per_h");
    int rc = priced ? field_double(in, "price_per_h", (double)NAN, &price, err) : 0;
    if (rc) {
        return rc;
    }
    bool fine = field_put(out, "makespan_h", r->makespan_h) &&
                field_put(out, "interruptions", r->interruptions) &&
                field_put(out, "billed_h", r->billed_h) &&
                (!priced || field_put(out, "cost", r->billed_h * price));
    return fine ? 0 : nomem(err);
}

static int interval(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    double delta = 0, mtbf = 0;
    struct ckpt_interval r;
    (void)kase;
    int rc = field_double(in, "delta_h", (double)NAN, &delta, err);
    rc = rc ? rc : field_double(in, "mtbf_h", (double)NAN, &mtbf, err);
    rc = rc ? rc : ckpt_interval(delta, mtbf, &r, err);
    if (rc) {
        return rc;
    }
    bool fine = field_put(out, "young_h", r.young_h) &&
                field_put(out, "daly_first_h", r.daly_first_h) &&
                field_put(out, "daly_h", r.daly_h) && field_put(out, "exact_h", r.exact_h);
    return fine ? 0 : nomem(err);
}

static int makespan(const cJSON *in, bool at_risk, cJSON *out, struct gt_error *err)
{
    struct ckpt_job job;
    struct life life;
    struct ckpt_result r;
    int rc = read_job(in, false, &job, &life, err);
    job.restart_interruptible = at_risk;
    rc = rc ? rc : ckpt_expected(&job, &r, err);
    return rc ? rc : put_result(in, &r, out, err);
}

static int makespan_a(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    (void)kase;
    return makespan(in, false, out, err);
}

static int makespan_b(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    (void)kase;
    return makespan(in, true, out, err);
}

static int makespan_weibull(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    struct ckpt_job job;
    struct life life;
    struct ckpt_result r;
    (void)kase;
    int rc = read_job(in, true, &job, &life, err);
    rc = rc ? rc : ckpt_weibull(&job, life.shape, life.scale_h, &r, err);
    return rc ? rc : put_result(in, &r, out, err);
}

static int notice_fits(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    double work = 0, restart = 0, wait = 0, lambda = 0;
    struct ckpt_result r;
    (void)kase;
    int rc = field_double(in, "work_h", (double)NAN, &work, err);
    rc = rc ? rc : field_double(in, "restart_h", 0, &restart, err);
    rc = rc ? rc : field_double(in, "wait_h", 0, &wait, err);
    rc = rc ? rc : field_double(in, "lambda_per_h", (double)NAN, &lambda, err);
    rc = rc ? rc : ckpt_notice_fits(work, restart, wait, lambda, &r, err);
    return rc ? rc : put_result(in, &r, out, err);
}

static int bucket_lambda(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    double p = 0, hours = 0, lambda = 0;
    (void)kase;
    int rc = field_double(in, "p_month", (double)NAN, &p, err);
    rc = rc ? rc : field_double(in, "hours", (double)NAN, &hours, err);
    rc = rc ? rc : ckpt_bucket_lambda(p, hours, &lambda, err);
    if (rc) {
        return rc;
    }
    bool fine = field_put(out, "lambda_per_h", lambda) && field_put(out, "mtbf_h", 1 / lambda);
    return fine ? 0 : nomem(err);
}

static int put_sample(double *v, size_t n, cJSON *out, struct gt_error *err)
{
    static const struct {
        const char *name;
        double q;
    } wanted[] = {{"p10_h", 0.10}, {"p50_h", 0.50}, {"p90_h", 0.90}, {"p99_h", 0.99}};
    double mean = 0, m2 = 0; /* Welford */
    for (size_t i = 0; i < n; i++) {
        double d = v[i] - mean;
        mean += d / (double)(i + 1);
        m2 += d * (v[i] - mean);
    }
    bool fine = field_put(out, "mean_h", mean) &&
                field_put(out, "sd_h", n > 1 ? sqrt(m2 / (double)(n - 1)) : 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        fine = fine && field_put(out, wanted[i].name, ckpt_quantile(v, n, wanted[i].q));
    }
    return fine ? 0 : nomem(err);
}

static int quantiles_mc(const cJSON *kase, const cJSON *in, cJSON *out, struct gt_error *err)
{
    struct ckpt_job job;
    struct life life;
    int64_t samples = 0;
    int rc = read_job(in, cJSON_HasObjectItem(in, "shape"), &job, &life, err);
    rc = rc ? rc : field_int(kase, "samples", MC_RUNS, &samples, err);
    if (rc) {
        return rc;
    }
    samples = samples > MC_RUNS ? MC_RUNS : samples < 1000 ? 1000 : samples;
    double *v = malloc((size_t)samples * sizeof *v);
    if (!v) {
        return nomem(err);
    }
    rc = ckpt_sample(&job, life.shape, life.scale_h, MC_SEED, (uint32_t)samples, v, NULL, err);
    rc = rc ? rc : put_sample(v, (size_t)samples, out, err);
    free(v);
    return rc;
}

static const struct {
    const char *name;
    kind_fn *compute;
} kinds[] = {
    {"interval", interval},         {"makespan_A", makespan_a},
    {"makespan_B", makespan_b},     {"makespan_weibull", makespan_weibull},
    {"notice_fits", notice_fits},   {"bucket_lambda", bucket_lambda},
    {"quantiles_mc", quantiles_mc},
};

static kind_fn *kind_of(const cJSON *kase)
{
    const char *name = field_text(kase, "kind");
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcmp(kinds[i].name, name)) {
            return kinds[i].compute;
        }
    }
    return NULL;
}

static bool matches(const cJSON *file, const cJSON *kase)
{
    const char *format = field_text(file, "format"), *kind = field_text(kase, "kind");
    /* a file may hold lists of several kinds under one format */
    bool other = kind && (!strcmp(kind, "mix") || !strcmp(kind, "autoscale"));
    return kind_of(kase) || (format && !strncmp(format, "checkpoint-model/", 17) && !other);
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    kind_fn *kind = kind_of(kase);
    const cJSON *in = cJSON_GetObjectItemCaseSensitive(kase, "input");
    (void)ctx;
    if (!kind) {
        const char *name = field_text(kase, "kind");
        return gt_fail(err, GT_EUNSUPPORTED, "kind", "unknown kind of checkpoint case \"%.40s\"",
                       name ? name : "");
    }
    if (!cJSON_IsObject(in)) {
        return gt_fail(err, GT_EPARSE, "input", "an object is needed");
    }
    return kind(kase, in, computed, err);
}

const struct verify_kind verify_checkpoint = {
    .name = "checkpoint", .matches = matches, .compute = compute};
