/* spot simulate: one job with checkpoints under exponential interruptions: the usual intervals,
 * the exact expectation, and the distribution by Monte Carlo. */
#include "cmd_spot.h"
#include "gputier/jsonw.h"
#include "gputier/spot.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct question {
    struct ckpt_job job;
    double deadline_h; /* NAN: none */
    bool priced;
    money price;
    uint32_t runs;
    uint64_t seed;
};
struct answer {
    struct ckpt_interval interval;
    struct ckpt_result expected;
    struct ckpt_quantiles q;
};

static int read_job(const struct cli_args *args, struct ckpt_job *job, struct gt_error *err)
{
    double work = 0, restart = 0, delta = 0, wait = 0;
    int rc = spot_seconds(args, "work", -1, &work, err);
    rc = rc ? rc : spot_seconds(args, "restart", 720, &restart, err);
    rc = rc ? rc : spot_seconds(args, "delta", 0, &delta, err);
    rc = rc ? rc : spot_seconds(args, "wait", 0, &wait, err);
    rc = rc ? rc : spot_number(args, "lambda", -1, &job->lambda_per_h, err);
    job->work_h = work / 3600;
    job->restart_h = restart / 3600;
    job->delta_h = delta / 3600;
    job->wait_h = wait / 3600;
    job->cold_start = cli_flag(args, "cold-start");
    job->restart_interruptible = !cli_flag(args, "safe-restart");
    const char *interval = cli_value(args, "interval");
    if (!rc && interval && strcmp(interval, "auto") != 0) {
        double tau = 0;
        rc = spot_seconds(args, "interval", -1, &tau, err);
        job->tau_h = tau / 3600;
        return rc;
    }
    if (!rc && delta <= 0 && job->lambda_per_h > 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--interval auto needs --delta above 0, the stall of one checkpoint: where "
                       "one costs nothing, ever more of them are best");
    }
    return rc ? rc : ckpt_best_tau(job, &job->tau_h, err);
}

static int read_question(const struct cli_args *args, struct question *q, struct gt_error *err)
{
    double runs = 0, seed = 0, deadline = 0;
    int rc = read_job(args, &q->job, err);
    rc = rc ? rc : spot_number(args, "runs", 100000, &runs, err);
    rc = rc ? rc : spot_number(args, "seed", 1, &seed, err);
    rc = rc ? rc : spot_seconds(args, "deadline", 0, &deadline, err);
    q->priced = cli_value(args, "price") != NULL;
    if (!rc && q->priced) {
        rc = spot_price("price", cli_value(args, "price"), &q->price, err);
    }
    if (rc) {
        return rc;
    }
    if (runs < 1 || runs > 50000000 || floor(runs) != runs) {
        return gt_fail(err, GT_EUSAGE, "", "--runs: found %g, expected a count from 1 to 50000000",
                       runs);
    }
    if (seed > 9007199254740992.0 || floor(seed) != seed) {
        return gt_fail(err, GT_EUSAGE, "", "--seed: found %g, expected a whole number to 2^53",
                       seed);
    }
    q->runs = (uint32_t)runs;
    q->seed = (uint64_t)seed;
    q->deadline_h = cli_value(args, "deadline") ? deadline / 3600 : (double)NAN;
    return 0;
}

static int compute(const struct question *q, struct answer *a, struct gt_error *err)
{
    double lambda = q->job.lambda_per_h;
    a->interval = (struct ckpt_interval){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    int rc = lambda > 0 ? ckpt_interval(q->job.delta_h, 1 / lambda, &a->interval, err) : 0;
    rc = rc ? rc : ckpt_expected(&q->job, &a->expected, err);
    const struct team team = team_threads(0);
    return rc ? rc : ckpt_simulate_by(&team, &q->job, q->deadline_h, q->seed, q->runs, &a->q, err);
}

/* price x hours; the hours are a model's figure, so the money is rounded to 10^-12 once. */
static int cost_of(const struct question *q, double hours, money *out, struct gt_error *err)
{
    money quantity = 0;
    int rc = money_from_double(hours, &quantity);
    rc = rc ? rc : money_mul_decimal(q->price, quantity, out);
    return rc ? gt_fail(err, GT_ERANGE, "", "the cost is out of range") : 0;
}

static int put_cost(struct jsonw *w, const char *key, const struct question *q, double hours,
                    struct gt_error *err)
{
    money m = 0;
    if (!q->priced) {
        jsonw_knull(w, key);
        return 0;
    }
    int rc = cost_of(q, hours, &m, err);
    if (!rc) {
        jsonw_kmoney(w, key, m);
    }
    return rc;
}

static void put_spread(struct jsonw *w, const char *key, double mean, double p5, double p50,
                       double p95)
{
    jsonw_key(w, key);
    jsonw_object(w);
    jsonw_kdouble(w, "mean", mean * 3600);
    jsonw_kdouble(w, "p5", p5 * 3600);
    jsonw_kdouble(w, "p50", p50 * 3600);
    jsonw_kdouble(w, "p95", p95 * 3600);
    jsonw_end_object(w);
}

static void put_question(struct jsonw *w, const struct question *q, const struct ckpt_interval *i)
{
    jsonw_key(w, "job");
    jsonw_object(w);
    jsonw_kdouble(w, "work_s", q->job.work_h * 3600);
    jsonw_kdouble(w, "interval_s", q->job.tau_h * 3600);
    jsonw_kdouble(w, "delta_s", q->job.delta_h * 3600);
    jsonw_kdouble(w, "restart_s", q->job.restart_h * 3600);
    jsonw_kdouble(w, "wait_s", q->job.wait_h * 3600);
    jsonw_kdouble(w, "lambda_per_h", q->job.lambda_per_h);
    jsonw_kdouble(w, "deadline_s", q->deadline_h * 3600);
    jsonw_kbool(w, "cold_start", q->job.cold_start);
    jsonw_kbool(w, "restart_interruptible", q->job.restart_interruptible);
    jsonw_end_object(w);
    jsonw_key(w, "intervals_s");
    jsonw_object(w);
    jsonw_kdouble(w, "young", i->young_h * 3600);
    jsonw_kdouble(w, "daly_first", i->daly_first_h * 3600);
    jsonw_kdouble(w, "daly", i->daly_h * 3600);
    jsonw_kdouble(w, "exact", i->exact_h * 3600);
    jsonw_end_object(w);
}

static int put_simulated(struct jsonw *w, const struct question *q, const struct ckpt_quantiles *r,
                         struct gt_error *err)
{
    jsonw_key(w, "simulated");
    jsonw_object(w);
    jsonw_kint(w, "runs", q->runs);
    jsonw_kint(w, "seed", (int64_t)q->seed);
    put_spread(w, "makespan_s", r->mean_h, r->p5_h, r->p50_h, r->p95_h);
    put_spread(w, "billed_s", r->billed_mean_h, r->billed_p5_h, r->billed_p50_h, r->billed_p95_h);
    jsonw_key(w, "cost");
    jsonw_object(w);
    int rc = put_cost(w, "mean", q, r->billed_mean_h, err);
    rc = rc ? rc : put_cost(w, "p5", q, r->billed_p5_h, err);
    rc = rc ? rc : put_cost(w, "p50", q, r->billed_p50_h, err);
    rc = rc ? rc : put_cost(w, "p95", q, r->billed_p95_h, err);
    jsonw_end_object(w);
    if (isnan(q->deadline_h)) {
        jsonw_knull(w, "deadline_probability");
        jsonw_knull(w, "deadline_probability_ci");
    } else {
        jsonw_kdouble(w, "deadline_probability", r->p_deadline);
        jsonw_key(w, "deadline_probability_ci");
        jsonw_array(w);
        jsonw_double(w, r->p_lo);
        jsonw_double(w, r->p_hi);
        jsonw_end_array(w);
    }
    jsonw_end_object(w);
    return rc;
}

static int write_json(const struct app *app, const struct question *q, const struct answer *a,
                      struct buf *out, struct gt_error *err)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/spot/1");
    jsonw_kstring(&w, "mode", "simulate");
    jsonw_kstring(&w, "currency", q->priced ? app->currency : NULL);
    put_question(&w, q, &a->interval);
    jsonw_key(&w, "expected");
    jsonw_object(&w);
    jsonw_kdouble(&w, "makespan_s", a->expected.makespan_h * 3600);
    jsonw_kdouble(&w, "billed_s", a->expected.billed_h * 3600);
    jsonw_kdouble(&w, "interruptions", a->expected.interruptions);
    jsonw_kdouble(&w, "checkpoints", a->expected.writes);
    int rc = put_cost(&w, "cost", q, a->expected.billed_h, err);
    jsonw_end_object(&w);
    rc = rc ? rc : put_simulated(&w, q, &a->q, err);
    if (rc) {
        return rc;
    }
    jsonw_end_object(&w);
    rc = jsonw_finish(&w);
    return rc ? gt_fail(err, rc, "", "%s", gt_strerror(rc)) : 0;
}

static const char *hours(double h, char buf[32])
{
    /* people compare these with each other: one unit, and its fractions */
    if (isnan(h)) {
        return "-";
    }
    if (h < 1) {
        snprintf(buf, 32, "%.2f min", 60 * h);
    } else {
        snprintf(buf, 32, "%.2f h", h);
    }
    return buf;
}

static int text_cost(const struct app *app, const struct question *q, double h, const char *label,
                     struct buf *out, struct gt_error *err)
{
    char text[MONEY_TEXT];
    money m = 0;
    int rc = cost_of(q, h, &m, err);
    if (!rc) {
        money_format_fixed(m, money_minor_digits(app->currency), true, text);
        buf_addf(out, "  %s %s", label, text);
    }
    return rc;
}

static int write_text(const struct app *app, const struct question *q, const struct answer *a,
                      struct buf *out, struct gt_error *err)
{
    char b[5][32];
    int rc = 0;
    buf_addf(out, "checkpoint every %s", hours(q->job.tau_h, b[0]));
    buf_addf(out, " (Young %s, Daly %s, exact %s)\n", hours(a->interval.young_h, b[0]),
             hours(a->interval.daly_h, b[1]), hours(a->interval.exact_h, b[2]));
    buf_addf(out, "expected    makespan %s, billed %s, %.2f interruptions, %.0f checkpoints\n",
             hours(a->expected.makespan_h, b[0]), hours(a->expected.billed_h, b[1]),
             a->expected.interruptions, a->expected.writes);
    buf_addf(out, "%u runs, seed %llu\n", q->runs, (unsigned long long)q->seed);
    buf_addf(out, "  makespan  mean %s  p5 %s  p50 %s  p95 %s\n", hours(a->q.mean_h, b[0]),
             hours(a->q.p5_h, b[1]), hours(a->q.p50_h, b[2]), hours(a->q.p95_h, b[3]));
    buf_addf(out, "  billed    mean %s  p5 %s  p50 %s  p95 %s\n", hours(a->q.billed_mean_h, b[0]),
             hours(a->q.billed_p5_h, b[1]), hours(a->q.billed_p50_h, b[2]),
             hours(a->q.billed_p95_h, b[3]));
    if (q->priced) {
        buf_addf(out, "  cost %s", app->currency);
        rc = text_cost(app, q, a->q.billed_mean_h, "mean", out, err);
        rc = rc ? rc : text_cost(app, q, a->q.billed_p5_h, "p5", out, err);
        rc = rc ? rc : text_cost(app, q, a->q.billed_p50_h, "p50", out, err);
        rc = rc ? rc : text_cost(app, q, a->q.billed_p95_h, "p95", out, err);
        buf_addc(out, '\n');
    }
    if (!isnan(q->deadline_h)) {
        buf_addf(out, "  done within %s: %.2f %% (95 %% interval %.2f to %.2f %%)\n",
                 hours(q->deadline_h, b[0]), 100 * a->q.p_deadline, 100 * a->q.p_lo,
                 100 * a->q.p_hi);
    }
    return rc;
}

int spot_simulate_run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct question q = {.runs = 0};
    struct answer a;
    struct buf b;
    if (args->n_positional > 1) {
        return gt_fail(err, GT_EUSAGE, "", "found '%.40s', simulate takes options only",
                       args->positional[1]);
    }
    if (app->format == OUT_CSV) {
        return gt_fail(err, GT_EUSAGE, "", "--format: found 'csv', simulate writes table or json");
    }
    int rc = read_question(args, &q, err);
    rc = rc ? rc : compute(&q, &a, err);
    if (rc) {
        return rc == GT_ERANGE || rc == GT_ELIMIT ? GT_EUSAGE : rc;
    }
    buf_init(&b, 1 << 20);
    rc = app->format == OUT_JSON ? write_json(app, &q, &a, &b, err)
                                 : write_text(app, &q, &a, &b, err);
    rc = rc ? rc : app_put(&b, err);
    buf_release(&b);
    return rc;
}
