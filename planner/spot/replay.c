/* Replay of a policy on availability traces, exact to the second (spot-policies.md sections 3-4).
 * Every comparison is made in 64-bit integers: times are at most 10^9 s, so that no product below
 * passes 2^63. */
#include "internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_S 1000000000 /* 31 years */
/* slices and switch_milli: with MAX_S^2 = 10^18 as the largest product besides */
#define MAX_FACTOR 1000000

enum state { IDLE, SPOT, OD };

struct run {
    const struct spot_case *c;
    enum state state;
    size_t zone;
    int64_t t, tick;               /* seconds since start, index in the trace */
    int64_t done, saved, owed;     /* P, L, o */
    int64_t gap, end;              /* g, n of the shortest trace */
    bool switched;                 /* up_switch runs as `up` from here on */
    int64_t switch_t, switch_done; /* t0, P0 */
    int64_t up_until;              /* up_next: end of the up run that was measured last */
    const int32_t *change;         /* of all zones: struct changes; NULL = read tick by tick */
};
/* S' for S != SPOT outside the safety net. */
typedef enum state decide_fn(struct run *r, bool up);

static bool zone_up(const struct run *r, size_t z)
{
    return r->c->traces[z].count[r->tick] >= r->c->nodes;
}

static bool any_up(const struct run *r)
{
    for (size_t z = 0; z < r->c->n_traces; z++) {
        if (zone_up(r, z)) {
            return true;
        }
    }
    return false;
}

static size_t cheapest_up(const struct run *r)
{
    size_t best = r->c->n_traces;
    for (size_t z = 0; z < r->c->n_traces; z++) {
        if (zone_up(r, z) && (best == r->c->n_traces || r->c->p_spot[z] < r->c->p_spot[best])) {
            best = z;
        }
    }
    return best;
}

/* M: what must stay in hand so that one more try on spot cannot cost the deadline. */
static int64_t margin(const struct run *r)
{
    return 2 * r->c->restart_s + r->gap + r->c->ckpt_s;
}

static bool safety_net(const struct run *r)
{
    return r->c->deadline_s - r->t < r->c->work_s - r->done + margin(r);
}

static enum state on_demand(struct run *r, bool up)
{
    (void)r;
    (void)up;
    return OD;
}

static enum state greedy(struct run *r, bool up)
{
    (void)r;
    return up ? SPOT : IDLE;
}

static enum state eager(struct run *r, bool up)
{
    (void)r;
    return up ? SPOT : OD;
}

static enum state time_sliced(struct run *r, bool up)
{
    const struct spot_case *c = r->c;
    int64_t n = c->n_slices, d = c->deadline_s;
    int64_t slice = r->t * n / d;
    int64_t j = slice < n - 1 ? slice : n - 1;
    int64_t quota = (j + 1) * c->work_s - r->done * n;
    int64_t left = (j + 1) * d - r->t * n;
    bool late = quota > 0 && left < quota + n * margin(r);
    if (r->state == OD) {
        int64_t before = (r->t - r->gap) * n / d;
        if (before == j && quota > 0) {
            return OD;
        }
    }
    return late ? OD : up ? SPOT : IDLE;
}

/* Uniform progress: work done before `at` seconds against the straight line to the deadline. */
static bool on_line(const struct run *r, int64_t at)
{
    const struct spot_case *c = r->c;
    return (r->done - r->switch_done) * (c->deadline_s - r->switch_t) >=
           (at - r->switch_t) * (c->work_s - r->switch_done);
}

static enum state up_plain(struct run *r, bool up)
{
    if (up) {
        return SPOT;
    }
    return r->state == OD || !on_line(r, r->t) ? OD : IDLE;
}

static enum state up(struct run *r, bool is_up)
{
    if (r->state == OD) {
        return is_up && on_line(r, r->t + 2 * r->c->restart_s) ? SPOT : OD;
    }
    return up_plain(r, is_up);
}

/* Knows how long the spot life that begins now will be; leaves or starts only if that pays. */
static enum state up_next(struct run *r, bool is_up)
{
    const struct spot_case *c = r->c;
    double gain = 0;
    if (is_up) {
        if (r->up_until <= r->tick) {
            for (r->up_until = r->tick;
                 r->up_until < r->end && c->traces[0].count[r->up_until] >= c->nodes;) {
                r->up_until++;
            }
        }
        gain = (double)(r->gap * (r->up_until - r->tick)) * (c->p_od - c->p_spot[0]);
    }
    double restart = (double)c->restart_s * c->p_od;
    if (r->state == OD) {
        return is_up && gain > 2 * restart ? SPOT : OD;
    }
    if (is_up && gain > restart) {
        return SPOT;
    }
    return on_line(r, r->t) ? IDLE : OD;
}

static enum state up_switch(struct run *r, bool is_up)
{
    const struct spot_case *c = r->c;
    if (!r->switched && (c->work_s - r->done) * 1000 >= c->switch_milli * (c->deadline_s - r->t)) {
        r->switched = true;
        r->switch_t = r->t;
        r->switch_done = r->done;
    }
    return r->switched ? up(r, is_up) : greedy(r, is_up);
}

/* What an idle or on-demand state does while no zone is up, for the jumps of the replay. */
enum idle { IDLE_ANY, IDLE_WAITS, IDLE_ON_LINE };

static const struct policy {
    const char *name;
    decide_fn *decide;  /* NULL: optimal */
    bool unconditional; /* neither exploitation rule nor safety net */
    bool one_zone;
    enum idle idle; /* idles until spot is up; or as long as it is on the line */
    bool keeps_od;  /* stays on demand while spot is not up */
} policies[] = {
    {"on_demand", on_demand, true, false, IDLE_ANY, true},
    {"spot_only", greedy, true, false, IDLE_WAITS, false},
    {"eager", eager, false, false, IDLE_ANY, true},
    {"greedy", greedy, false, false, IDLE_WAITS, false},
    {"time_sliced", time_sliced, false, false, IDLE_ANY, false},
    {"up_plain", up_plain, false, false, IDLE_ON_LINE, true},
    {"up", up, false, false, IDLE_ON_LINE, true},
    {"up_next", up_next, false, true, IDLE_ON_LINE, true},
    {"up_switch", up_switch, false, false, IDLE_ANY, false},
    {"optimal", NULL, false, true, IDLE_ANY, false},
};

static const struct policy *policy_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof policies / sizeof *policies; i++) {
        if (!strcmp(policies[i].name, name)) {
            return &policies[i];
        }
    }
    return NULL;
}

bool spot_policy_known(const char *name)
{
    return policy_find(name) != NULL;
}

const char *spot_policy_name(size_t i)
{
    return i < sizeof policies / sizeof *policies ? policies[i].name : NULL;
}

static int check_seconds(const char *name, int64_t v, int64_t least, struct gt_error *err)
{
    if (v < least || v > MAX_S) {
        return gt_fail(err, GT_ERANGE, name, "%lld is not a number of seconds from %lld to %d",
                       (long long)v, (long long)least, MAX_S);
    }
    return 0;
}

static int check_start(const struct spot_case *c, struct gt_error *err)
{
    if (c->start_tick < 0 || (uint64_t)c->start_tick >= c->traces[0].n) {
        return gt_fail(err, GT_ERANGE, "start_tick", "%lld is outside the trace's %zu samples",
                       (long long)c->start_tick, c->traces[0].n);
    }
    return 0;
}

static int check_traces(const struct spot_case *c, struct gt_error *err)
{
    if (c->n_traces < 1 || c->n_traces > SPOT_MAX_ZONES) {
        return gt_fail(err, GT_ERANGE, "traces", "%zu traces, 1 to %d are allowed", c->n_traces,
                       SPOT_MAX_ZONES);
    }
    for (size_t z = 0; z < c->n_traces; z++) {
        const struct spot_trace *t = &c->traces[z];
        if (t->gap_s != c->traces[0].gap_s || t->n != c->traces[0].n) {
            return gt_fail(err, GT_EINVALID, "traces",
                           "trace %zu has %zu samples each %lld s, the first %zu each %lld s; "
                           "zones must be sampled alike",
                           z + 1, t->n, (long long)t->gap_s, c->traces[0].n,
                           (long long)c->traces[0].gap_s);
        }
        if (!(c->p_spot[z] >= 0) || !isfinite(c->p_spot[z])) {
            return gt_fail(err, GT_ERANGE, "p_spot", "a price must be 0 or more, found %g",
                           c->p_spot[z]);
        }
    }
    if (!(c->p_od >= 0) || !isfinite(c->p_od)) {
        return gt_fail(err, GT_ERANGE, "p_od", "a price must be 0 or more, found %g", c->p_od);
    }
    return check_start(c, err);
}

static int check_case(const struct spot_case *c, const struct policy *p, struct gt_error *err)
{
    if (!p) {
        return gt_fail(err, GT_EUNSUPPORTED, "policy", "unknown policy \"%.40s\"",
                       c->policy ? c->policy : "");
    }
    int rc = check_seconds("work_s", c->work_s, 1, err);
    rc = rc ? rc : check_seconds("deadline_s", c->deadline_s, 1, err);
    rc = rc ? rc : check_seconds("restart_s", c->restart_s, 0, err);
    rc = rc ? rc : check_seconds("ckpt_s", c->ckpt_s, 0, err);
    rc = rc ? rc : check_traces(c, err);
    if (rc) {
        return rc;
    }
    if (p->one_zone && c->n_traces != 1) {
        return gt_fail(err, GT_EUNSUPPORTED, "traces", "policy %s is defined for one zone",
                       p->name);
    }
    if (c->nodes < 1 || c->nodes > 1000000) {
        return gt_fail(err, GT_ERANGE, "nodes", "%lld is not a count from 1 to 1000000",
                       (long long)c->nodes);
    }
    if (p->decide == time_sliced && (c->n_slices < 1 || c->n_slices > MAX_FACTOR)) {
        return gt_fail(err, GT_ERANGE, "n_slices", "%lld is not a count from 1 to %d",
                       (long long)c->n_slices, MAX_FACTOR);
    }
    if (p->decide == up_switch && (c->switch_milli < 0 || c->switch_milli > MAX_FACTOR)) {
        return gt_fail(err, GT_ERANGE, "switch_milli", "%lld is not from 0 to %d",
                       (long long)c->switch_milli, MAX_FACTOR);
    }
    return 0;
}

static enum state decide(struct run *r, const struct policy *p)
{
    bool is_up = any_up(r);
    if (!p->unconditional) {
        if (r->state == SPOT) {
            return SPOT;
        }
        if (safety_net(r)) {
            return OD;
        }
    }
    return p->decide(r, is_up);
}

static void preempt(struct run *r, struct spot_replay *out)
{
    if (r->state == SPOT && !zone_up(r, r->zone)) {
        out->interruptions++;
        r->state = IDLE;
        r->owed = 0;
        if (r->c->ckpt_s > 0) {
            r->done = r->saved;
        }
    }
}

static void apply(struct run *r, enum state next, struct spot_replay *out)
{
    if (next == r->state) {
        return;
    }
    if (next == SPOT) {
        r->zone = cheapest_up(r);
    }
    if (next != IDLE) {
        r->owed = r->c->restart_s;
        out->launches++;
    }
    if (r->state == OD && r->c->ckpt_s > 0) {
        r->saved = r->done;
    }
    r->state = next;
}

/* Ticks from here on, at least `n` and at most `most`, before zone z is `up` or not up. */
static int64_t until_from(const struct run *r, size_t z, bool up, int64_t n, int64_t most)
{
    const int32_t *count = r->c->traces[z].count + r->tick;
    if (r->change != NULL) {
        if (n < most && (count[n] >= r->c->nodes) != up) {
            n = r->change[(int64_t)z * r->end + r->tick + n] - r->tick;
        }
        return n < most ? n : most;
    }
    while (n < most && (count[n] >= r->c->nodes) != up) {
        n++;
    }
    return n;
}

static int64_t until(const struct run *r, size_t z, bool up, int64_t most)
{
    return until_from(r, z, up, 1, most);
}

/* Ticks before `up` on demand could be on its line at the earliest, at least 1: each tick puts done
 * forward by g at most, and the line too. */
static int64_t off_line(const struct run *r, int64_t most)
{
    const struct spot_case *c = r->c;
    int64_t run = c->deadline_s - r->switch_t, rise = c->work_s - r->switch_done;
    int64_t at = r->t + 2 * c->restart_s - r->switch_t;
    int64_t behind = at * rise - (r->done - r->switch_done) * run;
    if (behind <= 0) {
        return 1;
    }
    if (run <= rise) {
        return most;
    }
    int64_t nearer = r->gap * (run - rise); /* by each tick */
    int64_t ticks = (behind - 1) / nearer + 1;
    return ticks < most ? ticks : most;
}

static int64_t idle_holds(const struct run *r, const struct policy *p, int64_t most)
{
    const struct spot_case *c = r->c;
    if (p->idle == IDLE_ANY || c->n_traces != 1) {
        return 1;
    }
    /* idle was decided at t, and is at t + k g as long as k g <= slack */
    int64_t slack = c->deadline_s - (c->work_s - r->done) - margin(r) - r->t;
    if (p->idle == IDLE_ON_LINE) {
        int64_t line = r->done * c->deadline_s / c->work_s - r->t;
        slack = line < slack ? line : slack;
    }
    if (!p->unconditional) {
        int64_t caught = slack < 0 ? 1 : slack / r->gap + 1;
        most = caught < most ? caught : most;
    }
    return until(r, 0, true, most);
}

/* Ticks from here on (at least 1) for which the present state is certain to be decided again, so
 * that the replay jumps over them: spot while its zone is up; on demand once the safety net has
 * caught (each tick takes g from the time left and at most g from the work left) or until spot is
 * up, for `up` not before its line is reached; idling until spot is up, the net catches or the job
 * falls behind the line. */
static int64_t holds(const struct run *r, const struct policy *p)
{
    const struct spot_case *c = r->c;
    int64_t last = r->end - r->tick;
    if (r->state == IDLE) {
        return idle_holds(r, p, last);
    }
    int64_t need = r->owed + c->work_s - r->done, most = (need + r->gap - 1) / r->gap;
    most = most < last ? most : last;
    if (r->state == SPOT) {
        return until(r, r->zone, false, most);
    }
    if (p->decide == on_demand || safety_net(r)) {
        return most;
    }
    int64_t least = p->decide == up ? off_line(r, most) : 1;
    return p->keeps_od && c->n_traces == 1 ? until_from(r, 0, true, least, most) : least;
}

/* `span` seconds of running; true when the work is done (finish_s set). */
static bool advance(struct run *r, int64_t span, struct spot_replay *out)
{
    const struct spot_case *c = r->c;
    int64_t need = r->owed + c->work_s - r->done;
    int64_t used = need < span ? need : span;
    int64_t over = r->owed < used ? r->owed : used;
    if (r->state == SPOT) {
        out->spot_s += used;
        out->zone_s[r->zone] += used;
    } else {
        out->od_s += used;
    }
    r->owed -= over;
    out->overhead_s += over;
    r->done += used - over;
    if (c->ckpt_s > 0) {
        r->saved += (r->done - r->saved) / c->ckpt_s * c->ckpt_s;
    }
    if (r->done < c->work_s) {
        return false;
    }
    out->finished = true;
    out->finish_s = r->t + used;
    return true;
}

/* A case that has been checked, from one start. */
static int replay_one(const struct spot_case *c, const struct policy *p, const int32_t *change,
                      struct spot_replay *out, struct gt_error *err)
{
    *out = (struct spot_replay){.finished = false};
    if (!p->decide) {
        return spot_optimal(c, out, err);
    }
    struct run r = {.c = c,
                    .gap = c->traces[0].gap_s,
                    .end = (int64_t)c->traces[0].n,
                    .tick = c->start_tick,
                    .change = change};
    for (int64_t ticks; r.tick < r.end; r.tick += ticks, r.t += ticks * r.gap) {
        preempt(&r, out);
        apply(&r, decide(&r, p), out);
        ticks = holds(&r, p);
        if (r.state != IDLE && advance(&r, ticks * r.gap, out)) {
            break;
        }
    }
    double bill = (double)out->od_s * c->p_od;
    for (size_t z = 0; z < c->n_traces; z++) {
        bill += (double)out->zone_s[z] * c->p_spot[z];
    }
    out->cost = (double)c->nodes * bill / 3600;
    out->deadline_met = out->finished && out->finish_s <= c->deadline_s;
    return 0;
}

int spot_replay(const struct spot_case *c, struct spot_replay *out, struct gt_error *err)
{
    const struct policy *p = policy_find(c->policy);
    int rc = check_case(c, p, err);
    return rc ? rc : replay_one(c, p, NULL, out, err);
}

/* For every tick of every zone the first later one at which the zone comes or goes; n where none
 * does. NULL = out of memory or too many ticks: they are read one by one then. */
static int32_t *find_changes(const struct spot_case *c)
{
    size_t n = c->traces[0].n;
    int32_t *change = n <= SPOT_MAX_TICKS ? malloc(c->n_traces * n * sizeof *change) : NULL;
    for (size_t z = 0; z < c->n_traces && change; z++) {
        const int32_t *count = c->traces[z].count;
        int32_t next = (int32_t)n;
        for (size_t i = n; i-- > 0;) {
            if (i + 1 < n && (count[i] >= c->nodes) != (count[i + 1] >= c->nodes)) {
                next = (int32_t)i + 1;
            }
            change[z * n + i] = next;
        }
    }
    return change;
}

/* Starts that one thread takes at once. */
#define STARTS 64

struct many {
    const struct spot_case *c;
    const struct policy *p;
    const int32_t *change;
    const int64_t *start_tick;
    size_t n;
    struct spot_replay *out;
    int *rc;
    struct gt_error *err; /* of each block */
};

static void replay_block(void *ctx, size_t block)
{
    const struct many *m = ctx;
    struct spot_case c = *m->c;
    size_t end = (block + 1) * STARTS < m->n ? (block + 1) * STARTS : m->n;
    int rc = 0; /* the blocks' own lie side by side, where another thread writes too */
    for (size_t i = block * STARTS; i < end && !rc; i++) {
        c.start_tick = m->start_tick[i];
        rc = check_start(&c, &m->err[block]);
        rc = rc ? rc : replay_one(&c, m->p, m->change, &m->out[i], &m->err[block]);
    }
    m->rc[block] = rc;
}

int spot_replay_many(const struct team *team, const struct spot_case *c, const int64_t *start_tick,
                     size_t n, struct spot_replay *out, struct gt_error *err)
{
    struct many m = {.c = c, .start_tick = start_tick, .n = n, .out = out};
    struct spot_case first = *c;
    first.start_tick = 0;
    m.p = policy_find(c->policy);
    int rc = check_case(&first, m.p, err);
    if (rc || !n) {
        return rc;
    }
    size_t blocks = (n - 1) / STARTS + 1;
    m.rc = calloc(blocks, sizeof *m.rc);
    m.err = calloc(blocks, sizeof *m.err);
    if (!m.rc || !m.err) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory for %zu starts", n);
    } else {
        int32_t *change = find_changes(c);
        m.change = change;
        team_each(team, blocks, replay_block, &m);
        free(change);
        for (size_t i = 0; i < blocks && !rc; i++) {
            rc = m.rc[i];
            if (rc && err) {
                *err = m.err[i];
            }
        }
    }
    free(m.rc);
    free(m.err);
    return rc;
}
