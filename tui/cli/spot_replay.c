/* spot replay: policies on recorded availability traces, one start or many. */
#include "cmd_spot.h"
#include "gputier/jsonw.h"
#include "gputier/spot.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_BYTES  (64UL << 20)
#define MAX_POLICIES 16
#define MAX_STARTS   100000

struct outcome {
    const char *policy;
    struct spot_replay r; /* of the one start */
    money cost;           /* exact bill of r; the mean over the starts if there are several */
    bool has_cost;
    size_t unfinished, met;
    money p5, p50, p95;
};
struct question {
    struct arena *arena;
    struct spot_case job; /* policy and start_tick vary */
    struct spot_trace traces[SPOT_MAX_ZONES];
    const char *file[SPOT_MAX_ZONES];
    money spot_price[SPOT_MAX_ZONES], od_price;
    double spot_price_usd[SPOT_MAX_ZONES];
    int64_t starts;
    struct outcome outcome[MAX_POLICIES];
    size_t n;
};

static int load_traces(const struct app *app, const struct cli_args *args, struct question *q,
                       struct gt_error *err)
{
    size_t n = args->n_positional - 1;
    if (n < 1 || n > SPOT_MAX_ZONES) {
        return gt_fail(err, GT_EUSAGE, "", "expected 1 to %d trace files, found %zu",
                       SPOT_MAX_ZONES, n);
    }
    q->job.traces = q->traces;
    q->job.n_traces = n;
    for (size_t z = 0; z < n; z++) {
        char *text = NULL;
        size_t len = 0;
        q->file[z] = args->positional[z + 1];
        int rc = app_read_file(q->file[z], TRACE_BYTES, &text, &len, err);
        if (rc) {
            return rc == GT_ENOMEM ? rc : GT_EPARSE; /* a bad input file */
        }
        rc = spot_trace_parse(text, len, q->file[z], q->arena, &q->traces[z], err);
        free(text);
        if (rc) {
            return rc;
        }
        if (q->traces[z].unknown > 0 && !app->quiet) {
            fprintf(stderr, "%s: %lld of %zu samples were not recorded and count as unavailable\n",
                    q->file[z], (long long)q->traces[z].unknown, q->traces[z].n);
        }
    }
    return 0;
}

static int load_prices(const struct cli_args *args, struct question *q, struct gt_error *err)
{
    size_t given = 0;
    while (cli_list(args, "spot-price", given)) {
        given++;
    }
    if (given != 1 && given != q->job.n_traces) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--spot-price: expected one, or one for each of %zu "
                       "traces, found %zu",
                       q->job.n_traces, given);
    }
    for (size_t z = 0; z < q->job.n_traces; z++) {
        int rc = spot_price("spot-price", cli_list(args, "spot-price", given == 1 ? 0 : z),
                            &q->spot_price[z], err);
        if (rc) {
            return rc;
        }
        q->spot_price_usd[z] = money_to_double(q->spot_price[z]);
    }
    int rc = spot_price("od-price", cli_value(args, "od-price"), &q->od_price, err);
    q->job.p_spot = q->spot_price_usd;
    q->job.p_od = money_to_double(q->od_price);
    return rc;
}

static int whole_seconds(const struct cli_args *args, const char *name, double fallback,
                         int64_t *out, struct gt_error *err)
{
    double s = 0;
    int rc = spot_seconds(args, name, fallback, &s, err);
    if (!rc && !(s < 1e9)) {
        rc = gt_fail(err, GT_EUSAGE, "", "--%s: found %g s, expected less than 10^9", name, s);
    }
    *out = rc ? 0 : (int64_t)nearbyint(s);
    return rc;
}

static int whole_number(const struct cli_args *args, const char *name, double fallback,
                        int64_t most, int64_t *out, struct gt_error *err)
{
    double v = 0;
    int rc = spot_number(args, name, fallback, &v, err);
    if (!rc && (v < 1 || v > (double)most || floor(v) != v)) {
        rc = gt_fail(err, GT_EUSAGE, "", "--%s: found %g, expected a count from 1 to %lld", name, v,
                     (long long)most);
    }
    *out = rc ? 0 : (int64_t)v;
    return rc;
}

static int read_job(const struct cli_args *args, struct question *q, struct gt_error *err)
{
    struct spot_case *c = &q->job;
    int64_t start = 0;
    double turn = 0;
    int rc = whole_seconds(args, "work", -1, &c->work_s, err);
    rc = rc ? rc : whole_seconds(args, "deadline", -1, &c->deadline_s, err);
    rc = rc ? rc : whole_seconds(args, "restart", 720, &c->restart_s, err);
    rc = rc ? rc : whole_seconds(args, "ckpt", 0, &c->ckpt_s, err);
    rc = rc ? rc : whole_seconds(args, "start", 0, &start, err);
    rc = rc ? rc : whole_number(args, "nodes", 1, 1000000, &c->nodes, err);
    rc = rc ? rc : whole_number(args, "starts", 1, MAX_STARTS, &q->starts, err);
    rc = rc ? rc : whole_number(args, "slices", 8, 1000000, &c->n_slices, err);
    rc = rc ? rc : spot_number(args, "switch", 0.7, &turn, err);
    if (!rc && turn > 1000) {
        rc = gt_fail(err, GT_EUSAGE, "", "--switch: found %g, expected a share such as 0.7", turn);
    }
    if (rc) {
        return rc;
    }
    c->switch_milli = (int64_t)nearbyint(turn * 1000);
    c->start_tick = start / q->traces[0].gap_s;
    if (q->starts > 1 && cli_value(args, "start")) {
        return gt_fail(err, GT_EUSAGE, "", "--start and --starts exclude each other");
    }
    return 0;
}

/* Policies asked for; without --policy all that are defined for these traces. */
static int choose_policies(const struct cli_args *args, struct question *q, struct gt_error *err)
{
    const char *name;
    bool asked = cli_list(args, "policy", 0) != NULL;
    for (size_t i = 0; (name = asked ? cli_list(args, "policy", i) : spot_policy_name(i)); i++) {
        bool one_zone = strcmp(name, "up_next") == 0 || strcmp(name, "optimal") == 0;
        bool no_ckpt = strcmp(name, "optimal") == 0;
        if (!spot_policy_known(name)) {
            return gt_fail(err, GT_EUSAGE, "", "--policy: found '%.40s', see 'gputier help spot'",
                           name);
        }
        if (!asked && ((one_zone && q->job.n_traces > 1) || (no_ckpt && q->job.ckpt_s) ||
                       (no_ckpt && q->starts > 1))) {
            continue;
        }
        if (q->n == MAX_POLICIES) {
            return gt_fail(err, GT_EUSAGE, "", "--policy: more than %d are asked for",
                           MAX_POLICIES);
        }
        q->outcome[q->n++].policy = name;
    }
    return 0;
}

/* The bill of one replay: a line for each zone and one on demand. */
static int bill(const struct question *q, const struct spot_replay *r, money *out,
                struct gt_error *err)
{
    money line = 0, sum = 0;
    int rc = spot_line(q->od_price, q->job.nodes, r->od_s, &sum, err);
    for (size_t z = 0; z < q->job.n_traces && !rc; z++) {
        rc = spot_line(q->spot_price[z], q->job.nodes, r->zone_s[z], &line, err);
        if (!rc && money_add(sum, line, &sum)) {
            rc = gt_fail(err, GT_ERANGE, "", "the cost is out of range");
        }
    }
    *out = sum;
    return rc;
}

static int by_money(const void *a, const void *b)
{
    const money *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Starts whose replays are held at once: enough that starting the threads does not count. */
#define CHUNK 16384

static int add_outcome(struct question *q, struct outcome *o, const struct spot_replay *r,
                       money *costs, size_t *n, money *sum, struct gt_error *err)
{
    int rc = 0;
    o->r = *r;
    o->unfinished += !r->finished;
    o->met += r->deadline_met;
    if (!isnan(r->cost)) {
        rc = bill(q, r, &costs[*n], err);
        *sum += rc ? 0 : costs[(*n)++];
    }
    return rc;
}

static int replay_policy(struct question *q, struct outcome *o, const int64_t *ticks, money *costs,
                         struct gt_error *err)
{
    const struct team team = team_threads(0);
    struct spot_case c = q->job;
    size_t n = 0, all = (size_t)q->starts;
    money sum = 0;
    struct spot_replay *r = calloc(all < CHUNK ? all : CHUNK, sizeof *r);
    int rc = r ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    c.policy = o->policy;
    for (size_t i = 0; i < all && !rc; i += CHUNK) {
        size_t some = all - i < CHUNK ? all - i : CHUNK;
        rc = spot_replay_many(&team, &c, ticks + i, some, r, err);
        for (size_t k = 0; k < some && !rc; k++) {
            rc = add_outcome(q, o, &r[k], costs, &n, &sum, err);
        }
    }
    free(r);
    o->has_cost = n > 0;
    if (n && !rc) {
        qsort(costs, n, sizeof *costs, by_money);
        o->cost = sum / (money)n;
        o->p5 = costs[n / 20];
        o->p50 = costs[n / 2];
        o->p95 = costs[n - 1 - n / 20];
    }
    return rc;
}

/* Several starts are spread evenly over the part of the trace that leaves room for the deadline. */
static int replay_all(struct question *q, struct gt_error *err)
{
    int64_t *ticks = arena_array(q->arena, (size_t)q->starts, sizeof *ticks);
    money *costs = arena_array(q->arena, (size_t)q->starts, sizeof *costs);
    if (!ticks || !costs) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory for %lld starts", (long long)q->starts);
    }
    int64_t need = q->job.deadline_s / q->traces[0].gap_s + 1;
    int64_t room = (int64_t)q->traces[0].n - need;
    ticks[0] = q->job.start_tick;
    if (q->starts > 1 && room < q->starts - 1) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--starts: the trace has %zu samples, room for %lld starts with this "
                       "deadline",
                       q->traces[0].n, (long long)(room < 0 ? 0 : room + 1));
    }
    for (int64_t i = 1; i < q->starts; i++) {
        ticks[i] = room * i / (q->starts - 1);
    }
    int rc = 0;
    for (size_t i = 0; i < q->n && !rc; i++) {
        rc = replay_policy(q, &q->outcome[i], ticks, costs, err);
    }
    if (rc == GT_EINVALID) {
        return GT_EPARSE; /* traces that do not belong together: bad input files */
    }
    return rc == GT_ERANGE || rc == GT_EUNSUPPORTED || rc == GT_ELIMIT ? GT_EUSAGE : rc;
}

struct trace_facts {
    double availability, drops_per_up_hour;
};

static struct trace_facts facts(const struct spot_trace *t, int64_t nodes)
{
    int64_t up = 0, drops = 0;
    for (size_t k = 0; k < t->n; k++) {
        bool is_up = t->count[k] >= nodes;
        up += is_up;
        drops += k && !is_up && t->count[k - 1] >= nodes;
    }
    double up_h = (double)up * (double)t->gap_s / 3600;
    return (struct trace_facts){(double)up / (double)t->n, up ? (double)drops / up_h : (double)NAN};
}

static void put_traces(struct jsonw *w, const struct question *q)
{
    jsonw_key(w, "traces");
    jsonw_array(w);
    for (size_t z = 0; z < q->job.n_traces; z++) {
        struct trace_facts f = facts(&q->traces[z], q->job.nodes);
        jsonw_object(w);
        jsonw_kstring(w, "file", q->file[z]);
        jsonw_kint(w, "gap_s", q->traces[z].gap_s);
        jsonw_kint(w, "samples", (int64_t)q->traces[z].n);
        jsonw_kdouble(w, "availability", f.availability);
        jsonw_kdouble(w, "drops_per_up_hour", f.drops_per_up_hour);
        jsonw_kmoney(w, "spot_price_per_hour", q->spot_price[z]);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void kint_or_null(struct jsonw *w, const char *key, bool known, int64_t v)
{
    if (known) {
        jsonw_kint(w, key, v);
    } else {
        jsonw_knull(w, key);
    }
}

static void put_outcome(struct jsonw *w, const struct question *q, const struct outcome *o)
{
    bool one = q->starts == 1;
    bool optimal = strcmp(o->policy, "optimal") == 0;
    const struct spot_replay *r = &o->r;
    jsonw_object(w);
    jsonw_kstring(w, "policy", o->policy);
    jsonw_key(w, "cost");
    if (o->has_cost) {
        jsonw_money(w, o->cost);
    } else {
        jsonw_null(w);
    }
    if (one) {
        kint_or_null(w, "finish_s", r->finished, r->finish_s);
        kint_or_null(w, "spot_s", o->has_cost, r->spot_s);
        kint_or_null(w, "od_s", o->has_cost, r->od_s);
        kint_or_null(w, "overhead_s", o->has_cost, r->overhead_s);
        /* the optimum does not say which of its stops were forced */
        kint_or_null(w, "interruptions", !optimal, r->interruptions);
        kint_or_null(w, "launches", o->has_cost, r->launches);
        jsonw_kbool(w, "deadline_met", r->deadline_met);
    } else {
        jsonw_kint(w, "starts", q->starts);
        jsonw_kint(w, "deadlines_met", (int64_t)o->met);
        jsonw_kint(w, "unfinished", (int64_t)o->unfinished);
        jsonw_kmoney(w, "cost_p5", o->p5);
        jsonw_kmoney(w, "cost_p50", o->p50);
        jsonw_kmoney(w, "cost_p95", o->p95);
    }
    jsonw_end_object(w);
}

static int write_json(const struct app *app, const struct question *q, struct buf *out,
                      struct gt_error *err)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/spot/1");
    jsonw_kstring(&w, "mode", "replay");
    jsonw_kstring(&w, "currency", app->currency);
    jsonw_key(&w, "job");
    jsonw_object(&w);
    jsonw_kint(&w, "work_s", q->job.work_s);
    jsonw_kint(&w, "deadline_s", q->job.deadline_s);
    jsonw_kint(&w, "restart_s", q->job.restart_s);
    jsonw_kint(&w, "ckpt_s", q->job.ckpt_s);
    jsonw_kint(&w, "nodes", q->job.nodes);
    kint_or_null(&w, "start_tick", q->starts == 1, q->job.start_tick);
    jsonw_kmoney(&w, "od_price_per_hour", q->od_price);
    jsonw_end_object(&w);
    put_traces(&w, q);
    jsonw_key(&w, "policies");
    jsonw_array(&w);
    for (size_t i = 0; i < q->n; i++) {
        put_outcome(&w, q, &q->outcome[i]);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    int rc = jsonw_finish(&w);
    return rc ? gt_fail(err, rc, "", "%s", gt_strerror(rc)) : 0;
}

static const char *amount(const struct app *app, bool known, money m, char text[MONEY_TEXT])
{
    return known ? money_format_fixed(m, money_minor_digits(app->currency), true, text) : NULL;
}

static const char *hours(bool known, int64_t seconds, char text[32])
{
    snprintf(text, 32, "%.2f", (double)seconds / 3600);
    return known ? text : NULL;
}

static void one_row(struct text_table *t, const struct app *app, const struct outcome *o)
{
    char cost[MONEY_TEXT], finish[32], spot[32], od[32], count[2][24];
    const struct spot_replay *r = &o->r;
    bool optimal = strcmp(o->policy, "optimal") == 0;
    snprintf(count[0], sizeof count[0], "%lld", (long long)r->interruptions);
    snprintf(count[1], sizeof count[1], "%lld", (long long)r->launches);
    table_row(t, (const char *const[]){
                     o->policy, amount(app, o->has_cost, o->cost, cost),
                     hours(r->finished, r->finish_s, finish), hours(o->has_cost, r->spot_s, spot),
                     hours(o->has_cost, r->od_s, od), optimal ? NULL : count[0],
                     o->has_cost ? count[1] : NULL, r->deadline_met ? "met" : "missed"});
}

static void many_row(struct text_table *t, const struct app *app, const struct question *q,
                     const struct outcome *o)
{
    char text[4][MONEY_TEXT], met[48];
    snprintf(met, sizeof met, "%zu of %lld", o->met, (long long)q->starts);
    table_row(t, (const char *const[]){o->policy, amount(app, o->has_cost, o->cost, text[0]),
                                       amount(app, o->has_cost, o->p5, text[1]),
                                       amount(app, o->has_cost, o->p50, text[2]),
                                       amount(app, o->has_cost, o->p95, text[3]), met});
}

static int write_text(const struct app *app, const struct question *q, struct buf *out,
                      struct gt_error *err)
{
    char cost[32];
    snprintf(cost, sizeof cost, ">%s%s", q->starts == 1 ? "" : "mean ", app->currency);
    const char *const one[] = {"policy",    cost,           ">done after h",
                               ">spot h",   ">on demand h", ">interruptions",
                               ">launches", "deadline",     NULL};
    const char *const many[] = {"policy", cost, ">p5", ">p50", ">p95", "deadline met", NULL};
    struct text_table t;
    table_init(&t, q->starts == 1 ? one : many);
    for (size_t i = 0; i < q->n; i++) {
        if (q->starts == 1) {
            one_row(&t, app, &q->outcome[i]);
        } else {
            many_row(&t, app, q, &q->outcome[i]);
        }
    }
    int rc = table_write(&t, out, app->plain);
    return rc ? gt_fail(err, rc, "", "out of memory") : 0;
}

static int answer(struct app *app, const struct cli_args *args, struct question *q,
                  struct gt_error *err)
{
    struct buf b;
    int rc = load_traces(app, args, q, err);
    rc = rc ? rc : load_prices(args, q, err);
    rc = rc ? rc : read_job(args, q, err);
    rc = rc ? rc : choose_policies(args, q, err);
    rc = rc ? rc : replay_all(q, err);
    if (rc) {
        return rc;
    }
    buf_init(&b, 1 << 20);
    rc = app->format == OUT_JSON ? write_json(app, q, &b, err) : write_text(app, q, &b, err);
    rc = rc ? rc : app_put(&b, err);
    buf_release(&b);
    return rc;
}

int spot_replay_run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    if (app->format == OUT_CSV) {
        return gt_fail(err, GT_EUSAGE, "", "--format: found 'csv', replay writes table or json");
    }
    struct question *q = calloc(1, sizeof *q);
    int rc = 0;
    if (q) {
        q->arena = arena_new(0);
    }
    rc = q && q->arena ? answer(app, args, q, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (q) {
        arena_free(q->arena);
    }
    free(q);
    return rc;
}
