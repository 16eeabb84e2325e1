/* Replay of policies: the worked trace of the rules by hand, the deadline guarantee on random
 * traces, accounting identities, the optimum against enumeration of every plan, trace files that
 * must be refused, cases that must be refused. */
#include "gputier/rng.h"
#include "gputier/spot.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t below(struct rng *r, int64_t n)
{
    return (int64_t)(rng_u64(r) % (uint64_t)n);
}

/* Random availability whose runs last a few ticks. */
static void random_series(struct rng *r, int32_t *count, size_t n)
{
    bool up = below(r, 2);
    for (size_t i = 0; i < n; i++) {
        up = below(r, 4) ? up : !up;
        count[i] = up;
    }
}

static struct spot_case simple(const char *policy, const struct spot_trace *t, const double *price)
{
    return (struct spot_case){.policy = policy,
                              .traces = t,
                              .n_traces = 1,
                              .work_s = 3600,
                              .deadline_s = 9000,
                              .restart_s = 720,
                              .nodes = 1,
                              .n_slices = 8,
                              .switch_milli = 700,
                              .p_spot = price,
                              .p_od = 3};
}

/* spot-policies.md section 5. */
static void worked_trace(void **state)
{
    (void)state;
    int32_t count[20] = {1, 1, 1};
    struct spot_trace t = {.gap_s = 600, .n = 20, .count = count};
    double price = 1;
    struct spot_case c = simple("greedy", &t, &price);
    struct spot_replay r;
    assert_int_equal(spot_replay(&c, &r, NULL), 0);
    assert_true(r.finished && r.deadline_met);
    assert_int_equal(r.finish_s, 8040);
    assert_int_equal(r.spot_s, 1800);
    assert_int_equal(r.od_s, 3240);
    assert_int_equal(r.overhead_s, 1440);
    assert_int_equal(r.interruptions, 1);
    assert_int_equal(r.launches, 2);
    assert_true(fabs(r.cost - 3.2) < 1e-12);
}

/* With checkpoints every 600 s the work since the last one is lost: P falls from 1080 to 600. */
static void lost_work(void **state)
{
    (void)state;
    int32_t count[40] = {1, 1, 1};
    struct spot_trace t = {.gap_s = 600, .n = 40, .count = count};
    double price = 1;
    struct spot_case c = simple("spot_only", &t, &price);
    struct spot_replay r;
    for (int i = 10; i < 40; i++) {
        count[i] = 1;
    }
    c.ckpt_s = 600;
    assert_int_equal(spot_replay(&c, &r, NULL), 0);
    /* 1800 s before; then 720 + 3000 left from t = 6000 */
    assert_int_equal(r.finish_s, 6000 + 720 + 3000);
    assert_int_equal(r.spot_s, 1800 + 3720);
    assert_false(r.deadline_met);
    c.ckpt_s = 0;
    assert_int_equal(spot_replay(&c, &r, NULL), 0);
    assert_int_equal(r.finish_s, 6000 + 720 + 2520);
}

/* A running spot job stays in its zone; after a preemption it takes the cheapest zone that is up.
 */
static void zones(void **state)
{
    (void)state;
    int32_t a[10] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, b[10] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1},
            c3[10] = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    struct spot_trace t[3] = {{.gap_s = 600, .n = 10, .count = a},
                              {.gap_s = 600, .n = 10, .count = b},
                              {.gap_s = 600, .n = 10, .count = c3}};
    double price[3] = {2, 1, 1}; /* equal prices: the lower index */
    struct spot_case c = simple("greedy", t, price);
    struct spot_replay r;
    c.n_traces = 3;
    c.restart_s = 0;
    assert_int_equal(spot_replay(&c, &r, NULL), 0);
    assert_int_equal(r.zone_s[0], 1200);
    assert_int_equal(r.zone_s[1], 2400);
    assert_int_equal(r.zone_s[2], 0);
    assert_int_equal(r.interruptions, 1);
    assert_int_equal(r.launches, 2);
    assert_true(fabs(r.cost - (1200 * 2 + 2400) / 3600.0) < 1e-12);
}

/* spot-model.md 6.3: with D >= C0 + d every policy but spot_only meets the deadline, as long as
 * the trace lasts; and billed time = work + overhead (+ lost work when there are checkpoints). */
static void deadline_is_kept(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 7, 1);
    for (int i = 0; i < 4000; i++) {
        int32_t count[2][64];
        double price[2] = {1, 1.5};
        struct spot_trace t[2] = {{.gap_s = 300, .n = 64, .count = count[0]},
                                  {.gap_s = 300, .n = 64, .count = count[1]}};
        random_series(&r, count[0], 64);
        random_series(&r, count[1], 64);
        const char *policy = spot_policy_name((size_t)below(&r, 9));
        struct spot_case c = simple(policy, t, price);
        c.n_traces = strcmp(policy, "up_next") == 0 ? 1 : 1 + (size_t)below(&r, 2);
        c.restart_s = below(&r, 900);
        c.ckpt_s = below(&r, 2) ? 0 : 1 + below(&r, 1000);
        c.work_s = 1 + below(&r, 8000);
        c.deadline_s = c.work_s + c.restart_s + below(&r, 8000);
        c.n_slices = 1 + below(&r, 9);
        c.switch_milli = below(&r, 1100);
        struct spot_replay out;
        assert_int_equal(spot_replay(&c, &out, NULL), 0);
        if (strcmp(policy, "spot_only") != 0) {
            if (!out.deadline_met) {
                fail_msg("%s: work %lld deadline %lld restart %lld ckpt %lld", policy,
                         (long long)c.work_s, (long long)c.deadline_s, (long long)c.restart_s,
                         (long long)c.ckpt_s);
            }
        }
        int64_t billed = out.spot_s + out.od_s, sum = out.zone_s[0] + out.zone_s[1];
        assert_int_equal(sum, out.spot_s);
        if (out.finished && !c.ckpt_s) {
            assert_int_equal(billed, c.work_s + out.overhead_s);
        } else if (out.finished) {
            assert_true(billed >= c.work_s + out.overhead_s);
            assert_true(billed - c.work_s - out.overhead_s <=
                        out.interruptions * (c.ckpt_s < c.work_s ? c.ckpt_s : c.work_s));
        }
        assert_true(out.overhead_s <= out.launches * c.restart_s);
    }
}

/* Two zones that are one series at one price behave as one zone, but idle and on-demand ticks are
 * jumped over for one zone only: the jumps change nothing. */
static void jumps_change_nothing(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 17, 1);
    for (int i = 0; i < 20000; i++) {
        int32_t count[96];
        double price[2] = {1, 1};
        struct spot_trace t[2] = {{.gap_s = 300, .n = 96, .count = count},
                                  {.gap_s = 300, .n = 96, .count = count}};
        random_series(&r, count, 96);
        const char *policy = spot_policy_name((size_t)below(&r, 9));
        if (strcmp(policy, "up_next") == 0) {
            continue;
        }
        struct spot_case c = simple(policy, t, price);
        c.start_tick = below(&r, 60);
        c.restart_s = below(&r, 900);
        c.ckpt_s = below(&r, 2) ? 0 : below(&r, 1000);
        c.work_s = 1 + below(&r, 12000);
        c.deadline_s = 1 + below(&r, 24000);
        struct spot_replay one, two;
        assert_int_equal(spot_replay(&c, &one, NULL), 0);
        c.n_traces = 2;
        assert_int_equal(spot_replay(&c, &two, NULL), 0);
        assert_memory_equal(&one, &two, sizeof one);
    }
}

/* `up` on one zone, tick by tick, without checkpoints: rules of spot-policies.md as they stand. */
static struct spot_replay up_by_ticks(const struct spot_case *c)
{
    enum { IDLE, SPOT, OD } state = IDLE;
    struct spot_replay o = {0};
    int64_t g = c->traces[0].gap_s, w = c->work_s, d = c->deadline_s, done = 0, owed = 0;
    for (int64_t k = c->start_tick; k < (int64_t)c->traces[0].n; k++) {
        int64_t t = (k - c->start_tick) * g;
        bool is_up = c->traces[0].count[k] >= c->nodes;
        if (state == SPOT && !is_up) {
            o.interruptions++;
            state = IDLE;
            owed = 0;
        }
        bool net = d - t < w - done + 2 * c->restart_s + g;
        int next = state == SPOT ? SPOT
                   : net         ? OD
                   : state == OD ? (is_up && done * d >= (t + 2 * c->restart_s) * w ? SPOT : OD)
                   : is_up       ? SPOT
                   : done * d >= t * w ? IDLE
                                       : OD;
        if (next != (int)state && next != IDLE) {
            owed = c->restart_s;
            o.launches++;
        }
        state = next;
        if (state == IDLE) {
            continue;
        }
        int64_t used = owed + w - done < g ? owed + w - done : g, over = owed < used ? owed : used;
        *(state == SPOT ? &o.spot_s : &o.od_s) += used;
        owed -= over;
        o.overhead_s += over;
        done += used - over;
        if (done >= w) {
            o.finished = true;
            o.finish_s = t + used;
            break;
        }
    }
    return o;
}

static void up_as_tick_by_tick(void **state)
{
    (void)state;
    struct rng r;
    size_t both = 0;
    rng_init(&r, 23, 1);
    for (int i = 0; i < 20000; i++) {
        int32_t count[160];
        double price = 1;
        struct spot_trace t = {.gap_s = 300, .n = 160, .count = count};
        random_series(&r, count, 160);
        struct spot_case c = simple("up", &t, &price);
        c.n_traces = 1;
        c.start_tick = below(&r, 40);
        c.restart_s = below(&r, 900);
        c.work_s = 1 + below(&r, 20000);
        c.deadline_s = 1 + below(&r, 36000);
        struct spot_replay one, own = up_by_ticks(&c);
        assert_int_equal(spot_replay(&c, &one, NULL), 0);
        assert_int_equal(one.spot_s, own.spot_s);
        assert_int_equal(one.od_s, own.od_s);
        assert_int_equal(one.launches, own.launches);
        assert_int_equal(one.interruptions, own.interruptions);
        assert_int_equal(one.overhead_s, own.overhead_s);
        assert_true(one.finished == own.finished && one.finish_s == own.finish_s);
        both += own.spot_s > 0 && own.od_s > 0;
    }
    assert_true(both > 2000);
}

/* Many starts by a team are each replay on its own, whatever the number of threads. */
static void many_is_each(void **state)
{
    (void)state;
    enum { TICKS = 700, N = 333 };
    static const size_t threads[] = {1, 2, 3, 8};
    static int32_t count[2][TICKS];
    static struct spot_replay each[N], many[N];
    double price[2] = {1, 1.2};
    int64_t start[N];
    struct rng r;
    rng_init(&r, 29, 1);
    random_series(&r, count[0], TICKS);
    random_series(&r, count[1], TICKS);
    struct spot_trace t[2] = {{.gap_s = 300, .n = TICKS, .count = count[0]},
                              {.gap_s = 300, .n = TICKS, .count = count[1]}};
    for (size_t p = 0; spot_policy_name(p); p++) {
        const char *name = spot_policy_name(p);
        for (size_t zones = 1; zones <= 2; zones++) {
            struct spot_case c = simple(name, t, price);
            if (zones == 2 && (strcmp(name, "up_next") == 0 || strcmp(name, "optimal") == 0)) {
                continue;
            }
            c.n_traces = zones;
            c.restart_s = below(&r, 900);
            c.ckpt_s = strcmp(name, "optimal") == 0 || p % 2 ? 0 : 700;
            c.work_s = 9000 + below(&r, 9000);
            c.deadline_s = c.work_s + 3000 + below(&r, 20000);
            for (size_t i = 0; i < N; i++) {
                start[i] = c.start_tick = below(&r, TICKS / 2);
                assert_int_equal(spot_replay(&c, &each[i], NULL), 0);
            }
            for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
                const struct team team = team_threads(threads[i]);
                memset(many, 0xff, sizeof many);
                assert_int_equal(spot_replay_many(&team, &c, start, N, many, NULL), 0);
                assert_memory_equal(each, many, sizeof each);
            }
            assert_int_equal(spot_replay_many(NULL, &c, start, N, many, NULL), 0);
            assert_memory_equal(each, many, sizeof each);
            struct gt_error err = {0};
            int64_t wrong = start[200];
            start[200] = TICKS;
            const struct team team = team_threads(3);
            assert_int_equal(spot_replay_many(&team, &c, start, N, many, &err), GT_ERANGE);
            assert_non_null(strstr(err.text, "700"));
            start[200] = wrong;
        }
    }
}

struct plan {
    const struct spot_case *c;
    int64_t ticks;
    double best;
};

/* All plans over ticks k.. : each tick IDLE, SPOT (if up) or OD. */
static void enumerate(struct plan *p, int64_t k, int state, int64_t starts, int64_t active,
                      double bill)
{
    const struct spot_case *c = p->c;
    int64_t g = c->traces[0].gap_s, need = c->work_s + starts * c->restart_s;
    if (starts && active * g >= need) {
        return; /* a plan that went on after its end */
    }
    if (k == p->ticks) {
        return;
    }
    enumerate(p, k + 1, 0, starts, active, bill);
    for (int next = 1; next <= 2; next++) {
        if (next == 1 && c->traces[0].count[c->start_tick + k] < c->nodes) {
            continue;
        }
        int64_t s = starts + (state != next), all = c->work_s + s * c->restart_s;
        int64_t left = all - active * g;
        double price = next == 1 ? c->p_spot[0] : c->p_od;
        if (left <= g) {
            double total = (bill + (double)left * price) * (double)c->nodes / 3600;
            p->best = isnan(p->best) || total < p->best ? total : p->best;
        } else {
            enumerate(p, k + 1, next, s, active + 1, bill + (double)g * price);
        }
    }
}

static void optimum_is_the_best_of_all_plans(void **state)
{
    (void)state;
    struct rng r;
    int none = 0, found = 0;
    rng_init(&r, 11, 1);
    for (int i = 0; i < 1500; i++) {
        int32_t count[16];
        struct spot_trace t = {.gap_s = 100, .n = 16, .count = count};
        random_series(&r, count, 16);
        double price = below(&r, 5) ? 1 : 4;
        struct spot_case c = simple("optimal", &t, &price);
        c.start_tick = below(&r, 4);
        c.restart_s = below(&r, 3) ? below(&r, 130) : 0;
        c.work_s = 1 + below(&r, 700);
        c.deadline_s = 1 + below(&r, 999);
        c.nodes = 1;
        struct plan p = {&c, c.deadline_s / 100, (double)NAN};
        enumerate(&p, 0, 0, 0, 0, 0);
        /* the rules bound the number of starts by floor((D - C0) / d) */
        bool allowed = c.deadline_s >= c.work_s + c.restart_s;
        struct spot_replay out;
        assert_int_equal(spot_replay(&c, &out, NULL), 0);
        if (!allowed || isnan(p.best)) {
            assert_true(isnan(out.cost));
            assert_false(out.finished);
            none++;
            continue;
        }
        found++;
        if (!(fabs(out.cost - p.best) < 1e-9)) {
            fail_msg("case %d: %.12g, enumeration %.12g", i, out.cost, p.best);
        }
        assert_true(out.finish_s <= c.deadline_s);
        assert_int_equal(out.spot_s + out.od_s, c.work_s + out.overhead_s);
        double again = ((double)out.spot_s * price + (double)out.od_s * c.p_od) / 3600;
        assert_true(fabs(again - out.cost) < 1e-9);
    }
    assert_true(none > 100 && found > 300);
}

/* Nothing that keeps the deadline on whole ticks is cheaper than the optimum. */
static void optimum_bounds_every_policy(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 12, 1);
    for (int i = 0; i < 300; i++) {
        int32_t count[80];
        struct spot_trace t = {.gap_s = 600, .n = 80, .count = count};
        random_series(&r, count, 80);
        double price = 1;
        struct spot_case c = simple("optimal", &t, &price);
        c.work_s = 600 * (1 + below(&r, 30));
        c.deadline_s = c.work_s + 600 * (3 + below(&r, 30));
        struct spot_replay best, out;
        assert_int_equal(spot_replay(&c, &best, NULL), 0);
        for (size_t p = 0; p < 9; p++) {
            c.policy = spot_policy_name(p);
            assert_int_equal(spot_replay(&c, &out, NULL), 0);
            if (out.deadline_met) {
                assert_true(best.cost <= out.cost + 1e-9);
            }
        }
    }
}

static void parses_a_trace(void **state)
{
    (void)state;
    static const char text[] = "# source=x\r\n# gap_s=30\n# n=5\n# nodes_probed=4\n"
                               "t_s,avail,price\n0,4,1.25\n60,0,\n90,2,0.5\n150,-1,\n";
    struct arena *a = arena_new(0);
    struct spot_trace t;
    assert_int_equal(spot_trace_parse(text, strlen(text), "x.csv", a, &t, NULL), 0);
    assert_int_equal(t.gap_s, 30);
    assert_int_equal(t.n, 5);
    static const int32_t want[5] = {4, 4, 0, 2, 2};
    assert_memory_equal(t.count, want, sizeof want);
    arena_free(a);
}

static void refuses_bad_traces(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *says;
    } bad[] = {
        {"", "x.csv:0", "end marker"},
        {"t_s,avail\n0,1\n", "x.csv:1", "gap_s="},
        {"# gap_s=0\n", "x.csv:1", "gap_s must"},
        {"# gap_s=ten\n", "x.csv:1", "\"ten\""},
        {"# n=99999999999\n", "x.csv:1", "n must"},
        {"# gap_s=30\n# n=3\nt_s,price\n", "x.csv:3", "header"},
        {"# gap_s=30\n# n=3\nt_s,avail\n30,1\n90,-1\n", "x.csv:4", "gap"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n45,0\n90,-1\n", "x.csv:5", "multiple"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n60,0\n30,1\n90,-1\n", "x.csv:6", "rise"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n0,0\n90,-1\n", "x.csv:5", "rise"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n60,0\n", "x.csv:5", "end marker"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n60,-1\n", "x.csv:5", "end marker"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,-1\n", "x.csv:4", "end marker"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n90,1\n", "x.csv:5", "past the end"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1\n90,-1\n120,1\n", "x.csv:6", "follows"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,-2\n90,-1\n", "x.csv:4", "avail"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1.5\n90,-1\n", "x.csv:4", "avail"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0\n90,-1\n", "x.csv:4", "two fields"},
        {"# gap_s=30\n# n=3\nt_s,avail\n0,1,2\n90,-1\n", "x.csv:4", "two fields"},
        {"# gap_s=30\n# n=3\nt_s,avail,price\n0,1,cheap\n90,-1,\n", "x.csv:4", "price"},
        {"# gap_s=30\n# n=3\nt_s,avail\n-30,1\n90,-1\n", "x.csv:4", "gap"},
        {"# gap_s=30\n# n=3\nt_s,avail\n99999999999999999999,1\n", "x.csv:4", "whole number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena *a = arena_new(0);
        struct spot_trace t;
        struct gt_error e = {0};
        int rc = spot_trace_parse(bad[i].text, strlen(bad[i].text), "x.csv", a, &t, &e);
        if (rc != GT_EPARSE || strcmp(e.where, bad[i].where) || !strstr(e.text, bad[i].says)) {
            fail_msg("%zu: rc %d, %s: %s", i, rc, e.where, e.text);
        }
        arena_free(a);
    }
}

static void refuses_bad_cases(void **state)
{
    (void)state;
    int32_t count[4] = {1, 1, 1, 1};
    struct spot_trace t[2] = {{.gap_s = 600, .n = 4, .count = count},
                              {.gap_s = 300, .n = 4, .count = count}};
    double price[2] = {1, 1}, nan_price = (double)NAN;
    struct spot_replay r;
    struct spot_case ok = simple("up", t, price), c;
#define REFUSED(change, code)                                                                      \
    c = ok;                                                                                        \
    change;                                                                                        \
    assert_int_equal(spot_replay(&c, &r, NULL), code)
    assert_int_equal(spot_replay(&ok, &r, NULL), 0);
    REFUSED(c.policy = "up_and_down", GT_EUNSUPPORTED);
    REFUSED(c.policy = NULL, GT_EUNSUPPORTED);
    REFUSED(c.work_s = 0, GT_ERANGE);
    REFUSED(c.work_s = INT64_MAX, GT_ERANGE);
    REFUSED(c.deadline_s = -1, GT_ERANGE);
    REFUSED(c.restart_s = -1, GT_ERANGE);
    REFUSED(c.ckpt_s = -1, GT_ERANGE);
    REFUSED(c.nodes = 0, GT_ERANGE);
    REFUSED(c.start_tick = 4, GT_ERANGE);
    REFUSED(c.start_tick = -1, GT_ERANGE);
    REFUSED(c.p_od = HUGE_VAL, GT_ERANGE);
    REFUSED(c.p_spot = &nan_price, GT_ERANGE);
    REFUSED(c.n_traces = 0, GT_ERANGE);
    REFUSED(c.n_traces = 2, GT_EINVALID);
    t[1] = t[0];
    REFUSED((c.n_traces = 2, c.policy = "up_next"), GT_EUNSUPPORTED);
    REFUSED((c.n_traces = 2, c.policy = "optimal"), GT_EUNSUPPORTED);
    REFUSED((c.ckpt_s = 5, c.policy = "optimal"), GT_EUNSUPPORTED);
    REFUSED((c.n_slices = 0, c.policy = "time_sliced"), GT_ERANGE);
    REFUSED((c.switch_milli = -1, c.policy = "up_switch"), GT_ERANGE);
}

/* The largest numbers that are accepted stay inside 64 bits (the sanitizer build proves it). */
static void extremes(void **state)
{
    (void)state;
    int32_t count[8] = {1, 0, 1, 0, 1, 0, 1, 1};
    struct spot_trace t = {.gap_s = 86400, .n = 8, .count = count};
    double price = 1;
    struct spot_replay r;
    for (size_t p = 0; p < 9; p++) {
        struct spot_case c = simple(spot_policy_name(p), &t, &price);
        c.work_s = c.deadline_s = c.restart_s = c.ckpt_s = 1000000000;
        c.n_slices = c.switch_milli = c.nodes = 1000000;
        assert_int_equal(spot_replay(&c, &r, NULL), 0);
        assert_false(r.finished);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_trace),
        cmocka_unit_test(lost_work),
        cmocka_unit_test(zones),
        cmocka_unit_test(deadline_is_kept),
        cmocka_unit_test(jumps_change_nothing),
        cmocka_unit_test(up_as_tick_by_tick),
        cmocka_unit_test(many_is_each),
        cmocka_unit_test(optimum_is_the_best_of_all_plans),
        cmocka_unit_test(optimum_bounds_every_policy),
        cmocka_unit_test(parses_a_trace),
        cmocka_unit_test(refuses_bad_traces),
        cmocka_unit_test(refuses_bad_cases),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests_name("spot_replay", tests, NULL, NULL);
}
