/* Constraints that bind groups together (tier_options.limits) against brute force over every plan,
 * whose bills are reckoned by the rules of storage_s3.h, and against GLPK and CBC, which get the
 * same paths as columns of an integer programme. Then what is enough where a limit cannot be kept,
 * the same answer to the same question, and the time and gap of 100,000 groups. */
#include "storage_s3.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__ /* for its time; the plain build compares all */
enum { CASES = 100, PEER_CASES = 30 };
#else
enum { CASES = 400, PEER_CASES = 110 };
#endif

enum { GROUPS = 3, MONTHS = 4, PATHS = 1500 };
struct one { /* a path: its tier in each month, what it costs and uses */
    int tier[MONTHS];
    double month[MONTHS], cost, often;
};
struct question {
    struct prices p;
    struct tier_group g[GROUPS];
    char name[GROUPS][16];
    struct one *path[GROUPS];
    int n_paths[GROUPS], n, months;
    bool deleted;
    double factor, capacity[TIERS], budget, often;
};
struct walk { /* of one group: what the months before t cost */
    struct one now;
    double end;
};

static void paths_of(struct question *q, int i, int t, int k, int since, struct walk w)
{
    const struct tier_group *g = &q->g[i];
    struct tier_group often = *g;
    often.reads_per_month *= q->factor;
    often.read_fraction *= g->read_fraction > 0 ? q->factor : 1;
    if (t == q->months) {
        int left = q->deleted ? min_months[k] - since : 0;
        double end = left > 0 ? left * own_bytes(g, k) / GIB * q->p.storage[k] : 0;
        w.now.month[t - 1] += end;
        w.now.cost += end;
        w.now.often += end;
        assert_true(q->n_paths[i] < PATHS);
        q->path[i][q->n_paths[i]++] = w.now;
        return;
    }
    for (int to = 0; to < TIERS; to++) {
        struct walk then = w;
        double fee = 0;
        int now = since;
        if (to != k) {
            int left = min_months[k] - since;
            fee = move(&q->p, g, k, to) +
                  (left > 0 ? left * own_bytes(g, k) / GIB * q->p.storage[k] : 0);
            now = 0;
        }
        if (isinf(fee) || (to != k && (to == IA || to == ZIA) && g->age_days + 30 * t < 30)) {
            continue;
        }
        then.now.tier[t] = to;
        then.now.month[t] = fee + month(&q->p, g, to, now);
        then.now.cost += then.now.month[t];
        then.now.often += fee + month(&q->p, &often, to, now);
        paths_of(q, i, t + 1, to, now + 1, then);
    }
}

/* What a plan's path i uses is added to month bills and bytes. */
struct uses {
    double month[MONTHS], bytes[TIERS][MONTHS], often;
};

static void use(const struct question *q, int i, const struct one *p, struct uses *u)
{
    for (int t = 0; t < q->months; t++) {
        u->month[t] += p->month[t];
        u->bytes[p->tier[t]][t] += (double)q->g[i].bytes;
    }
    u->often += p->often;
}

static bool within(const struct question *q, const struct uses *u)
{
    const double room = 1 + 1e-12;
    for (int t = 0; t < q->months; t++) {
        if (u->month[t] > q->budget * room) {
            return false;
        }
        for (int k = 0; k < TIERS; k++) {
            if (u->bytes[k][t] > q->capacity[k]) {
                return false;
            }
        }
    }
    return u->often <= q->often * room;
}

static int by_cost(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* What the groups from i on use at least: without room for that the search can end. */
struct tail {
    double cost;
    struct uses use;
};

static void least_uses(const struct question *q, struct tail *tail)
{
    memset(&tail[q->n], 0, sizeof *tail);
    for (int i = q->n - 1; i >= 0; i--) {
        struct uses least;
        double *l = (double *)&least, *sum = (double *)&tail[i].use;
        for (int a = 0; a < q->n_paths[i]; a++) {
            struct uses u = {0};
            use(q, i, &q->path[i][a], &u);
            const double *v = (const double *)&u;
            for (size_t k = 0; k < sizeof u / sizeof *v; k++) {
                l[k] = a == 0 || v[k] < l[k] ? v[k] : l[k];
            }
        }
        tail[i] = tail[i + 1];
        tail[i].cost += q->path[i][0].cost;
        for (size_t k = 0; k < sizeof least / sizeof *l; k++) {
            sum[k] += l[k];
        }
    }
}

static bool room_after(const struct question *q, const struct uses *u, const struct uses *least)
{
    struct uses sum = *u;
    double *s = (double *)&sum;
    const double *l = (const double *)least;
    for (size_t k = 0; k < sizeof sum / sizeof *s; k++) {
        s[k] += l[k] * (1 - 1e-12);
    }
    return within(q, &sum);
}

static double best_of(const struct question *q, int i, const struct uses *u, double cost,
                      const struct tail *tail, double best)
{
    if (i == q->n) {
        return cost < best ? cost : best;
    }
    for (int a = 0; a < q->n_paths[i] && cost + q->path[i][a].cost + tail[i + 1].cost < best; a++) {
        struct uses then = *u;
        use(q, i, &q->path[i][a], &then);
        if (room_after(q, &then, &tail[i + 1].use)) {
            best = best_of(q, i + 1, &then, cost + q->path[i][a].cost, tail, best);
        }
    }
    return best;
}

static double brute_force(const struct question *q)
{
    struct tail tail[GROUPS + 1];
    struct uses none = {0};
    least_uses(q, tail);
    return best_of(q, 0, &none, 0, tail, (double)INFINITY);
}

/* Uses of the plan without limits: limits are drawn somewhat below them. */
static struct uses of_cheapest(const struct question *q)
{
    struct uses u = {0};
    for (int i = 0; i < q->n; i++) {
        use(q, i, &q->path[i][0], &u);
    }
    return u;
}

static double least_often(const struct question *q)
{
    double sum = 0;
    for (int i = 0; i < q->n; i++) {
        double least = (double)INFINITY;
        for (int a = 0; a < q->n_paths[i]; a++) {
            least = fmin(least, q->path[i][a].often);
        }
        sum += least;
    }
    return sum;
}

struct limits { /* what q->… are in the planner's words */
    struct tier_limits l;
    struct tier_capacity c[TIERS];
};

static void draw_limits(struct rng *r, struct question *q, struct limits *out)
{
    struct uses u = of_cheapest(q);
    double most = 0;
    *out = (struct limits){0};
    for (int k = 0; k < TIERS; k++) {
        double bytes = 0;
        q->capacity[k] = (double)INFINITY;
        for (int t = 0; t < q->months; t++) {
            bytes = fmax(bytes, u.bytes[k][t]);
            most = fmax(most, u.month[t]);
        }
        if (bytes > 0 && rng_u64(r) % 3) {
            uint64_t room = (uint64_t)(bytes * (0.2 + 0.8 * rng_unit(r)));
            q->capacity[k] = (double)room;
            out->c[out->l.n_capacities++] = (struct tier_capacity){names[k], room};
        }
    }
    out->l.capacity = out->c;
    q->budget = q->often = (double)INFINITY;
    if (rng_u64(r) % 2) {
        out->l.has_month = true;
        out->l.month = micro(most * (0.6 + 0.5 * rng_unit(r)) + 1e-6);
        q->budget = money_to_double(out->l.month);
    }
    if (rng_u64(r) % 3 == 0 && out->l.n_capacities == 0) {
        out->l.reads = q->factor;
        out->l.within = 0.02 + 0.2 * rng_unit(r);
        q->often = least_often(q) * (1 + out->l.within);
    }
}

static void draw(struct rng *r, struct question *q)
{
    random_prices(r, &q->p);
    q->n = 2 + (int)(rng_u64(r) % (GROUPS - 1));
    q->months = 2 + (int)(rng_u64(r) % (MONTHS - 1));
    q->deleted = rng_u64(r) % 2;
    q->factor = 2 + (double)(rng_u64(r) % 9);
    for (int i = 0; i < q->n; i++) {
        q->g[i] = random_group(r, q->name[i], sizeof q->name[i]);
        q->n_paths[i] = 0;
        int start = index_of(q->g[i].tier);
        paths_of(q, i, 0, start, (int)floor(q->g[i].age_days / 30), (struct walk){0});
        qsort(q->path[i], (size_t)q->n_paths[i], sizeof *q->path[i], by_cost);
    }
}

static void room_for(struct question *q)
{
    for (int i = 0; i < GROUPS; i++) {
        q->path[i] = calloc(PATHS, sizeof *q->path[i]);
        assert_non_null(q->path[i]);
    }
}

static void give_room_back(struct question *q)
{
    for (int i = 0; i < GROUPS; i++) {
        free(q->path[i]);
    }
}

static int ask(const struct question *q, const struct limits *l, struct tier_plan **plan,
               struct gt_error *err)
{
    struct catalog *c = catalog_of(&q->p);
    struct tier_options o = {.vendor = "aws",
                             .region = "us-east-1",
                             .horizon_months = q->months,
                             .max_wait_s = (double)INFINITY,
                             .from_tier = "s3_standard",
                             .delete_at_end = q->deleted,
                             .limits = &l->l};
    int rc = tier_optimise(q->g, (size_t)q->n, c, &o, plan, err);
    catalog_free(c);
    return rc;
}

static void no_plan_within_limits_is_cheaper(void **state)
{
    (void)state;
    struct rng r;
    struct question q;
    int none = 0, bound = 0, unproven = 0;
    rng_init(&r, 11, 1);
    room_for(&q);
    for (int i = 0; i < CASES; i++) {
        struct limits l;
        struct gt_error err = {0};
        struct tier_plan *plan = NULL;
        draw(&r, &q);
        draw_limits(&r, &q, &l);
        double want = brute_force(&q), free_cost = 0;
        for (int g = 0; g < q.n; g++) {
            free_cost += q.path[g][0].cost;
        }
        int rc = ask(&q, &l, &plan, &err);
        if ((rc == GT_EINFEASIBLE) != isinf(want) || (rc != 0 && rc != GT_EINFEASIBLE)) {
            fail_msg("case %d: brute force %.12g, the planner %d: %s", i, want, rc, err.text);
        }
        none += rc != 0;
        if (rc != 0) {
            continue;
        }
        double got = money_to_double(plan->total);
        bound += got > free_cost * (1 + 1e-9);
        unproven += !plan->proven;
        if (fabs(got - want) > 1e-9 * fmax(want, 1e-3)) {
            fail_msg("case %d: brute force %.12g, plan %.12g, bound %.12g, %s", i, want, got,
                     money_to_double(plan->lower_bound), plan->proven ? "proven" : "not proven");
        }
        assert_true(plan->lower_bound <= plan->total && plan->unlimited <= plan->total);
        assert_true(!plan->proven || plan->lower_bound == plan->total);
        tier_plan_free(plan);
    }
    print_message("%d impossible, %d where a limit costs something, %d not proven\n", none, bound,
                  unproven);
    assert_true(none > CASES / 8 && bound > CASES * 3 / 8 && unproven == 0);
    give_room_back(&q);
}

/* One row: what every path uses, as a share of the limit. */
static void lp_row(FILE *f, const struct question *q, const char *name, int kind, int at, int t,
                   double limit)
{
    bool any = false;
    for (int i = 0; i < q->n && isfinite(limit); i++) {
        for (int a = 0; a < q->n_paths[i]; a++) {
            const struct one *p = &q->path[i][a];
            double v = kind == 0   ? p->month[t]
                       : kind == 1 ? (p->tier[t] == at ? (double)q->g[i].bytes : 0)
                                   : p->often;
            if (v > 0) {
                fprintf(f, "%s + %.15g x_%d_%d\n", any ? "" : name, v / limit, i, a);
                any = true;
            }
        }
    }
    fputs(any ? " <= 1\n" : "", f);
}

static void write_lp(const struct question *q, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("Minimize\n cost:\n", f);
    for (int i = 0; i < q->n; i++) {
        for (int a = 0; a < q->n_paths[i]; a++) {
            fprintf(f, " + %.15g x_%d_%d\n", q->path[i][a].cost, i, a);
        }
    }
    fputs("Subject To\n", f);
    for (int i = 0; i < q->n; i++) {
        fprintf(f, " g%d:", i);
        for (int a = 0; a < q->n_paths[i]; a++) {
            fprintf(f, " + x_%d_%d\n", i, a);
        }
        fputs(" = 1\n", f);
    }
    for (int t = 0; t < q->months; t++) {
        char name[24];
        snprintf(name, sizeof name, " m%d:", t);
        lp_row(f, q, name, 0, 0, t, q->budget);
        for (int k = 0; k < TIERS; k++) {
            snprintf(name, sizeof name, " c%d_%d:", k, t);
            lp_row(f, q, name, 1, k, t, q->capacity[k]);
        }
    }
    lp_row(f, q, " often:", 2, 0, 0, q->often);
    fputs("Binary\n", f);
    for (int i = 0; i < q->n; i++) {
        for (int a = 0; a < q->n_paths[i]; a++) {
            fprintf(f, " x_%d_%d\n", i, a);
        }
    }
    fputs("End\n", f);
    fclose(f);
}

/* Cost of the paths that a solver took, reckoned here; infinite when it found no plan. */
static double taken(const struct question *q, const char *path, bool glpk)
{
    FILE *f = fopen(path, "r");
    char line[256];
    double cost = 0, value;
    int found = 0, j, i, a;
    while (f && fgets(line, sizeof line, f)) {
        if (glpk && sscanf(line, "j %d %lf", &j, &value) == 2 && value > 0.5) {
            for (i = 0, a = j - 1; a >= q->n_paths[i]; i++) {
                a -= q->n_paths[i];
            }
        } else if (glpk || sscanf(line, "%d x_%d_%d %lf", &j, &i, &a, &value) != 4 || value < 0.5) {
            continue;
        }
        cost += q->path[i][a].cost;
        found++;
    }
    if (f) {
        fclose(f);
    }
    return found == q->n ? cost : (double)INFINITY;
}

static double by_solver(const struct question *q, const char *dir, bool glpk)
{
    char lp[64], out[64], command[300];
    snprintf(lp, sizeof lp, "%s/p.lp", dir);
    snprintf(out, sizeof out, "%s/out", dir);
    remove(out);
    snprintf(command, sizeof command,
             glpk ? "glpsol --lp %s -w %s >/dev/null 2>&1"
                  : "cbc %s ratioGap 0 allowableGap 0 solve solution %s >/dev/null 2>&1",
             lp, out);
    assert_int_equal(system(command), 0);
    double cost = taken(q, out, glpk);
    remove(out);
    return cost;
}

static void glpk_and_cbc_find_no_cheaper_plan(void **state)
{
    (void)state;
    struct rng r;
    struct question q;
    int same = 0;
    char dir[] = "/tmp/limits-XXXXXX", lp[64];
    if (system("command -v glpsol >/dev/null && command -v cbc >/dev/null") != 0) {
        skip();
    }
    assert_non_null(mkdtemp(dir));
    snprintf(lp, sizeof lp, "%s/p.lp", dir);
    rng_init(&r, 12, 1);
    room_for(&q);
    while (same < PEER_CASES) {
        struct limits l;
        struct gt_error err = {0};
        struct tier_plan *plan = NULL;
        draw(&r, &q);
        draw_limits(&r, &q, &l);
        if (q.months > 3 || ask(&q, &l, &plan, &err) != 0) {
            tier_plan_free(plan);
            continue;
        }
        if (plan->unlimited < plan->total) { /* some limit matters */
            write_lp(&q, lp);
            double got = money_to_double(plan->total), glpk = by_solver(&q, dir, true),
                   cbc = by_solver(&q, dir, false), room = 1e-9 * fmax(got, 1e-3);
            if (fabs(glpk - got) > room || fabs(cbc - got) > room) {
                fail_msg("case %d: plan %.12g, GLPK %.12g, CBC %.12g", same, got, glpk, cbc);
            }
            same++;
        }
        tier_plan_free(plan);
    }
    remove(lp);
    rmdir(dir);
    give_room_back(&q);
}

/* "… 12.34 USD are enough for one, less than 12.33 USD for none" is true of both. */
static void what_is_enough_is_enough(void **state)
{
    (void)state;
    struct rng r;
    struct question q;
    int checked = 0;
    rng_init(&r, 13, 1);
    room_for(&q);
    while (checked < 40) {
        struct limits l = {{0}, {{0}}};
        struct gt_error err = {0};
        struct tier_plan *plan = NULL;
        draw(&r, &q);
        for (int k = 0; k < TIERS; k++) {
            q.capacity[k] = (double)INFINITY;
        }
        q.often = (double)INFINITY;
        struct uses u = of_cheapest(&q);
        q.budget = floor(u.month[0] * 30) / 100;
        l.l.has_month = true;
        l.l.month = micro(q.budget);
        if (q.budget <= 0.05 || ask(&q, &l, &plan, &err) != GT_EINFEASIBLE) {
            tier_plan_free(plan);
            continue;
        }
        double enough = 0, none = 0;
        const char *text = strstr(err.text, ": "), *less = strstr(err.text, "less than ");
        assert_true(text && less && sscanf(text + 2, "%lf", &enough) == 1 &&
                    sscanf(less + 10, "%lf", &none) == 1);
        l.l.month = micro(enough);
        if (ask(&q, &l, &plan, &err) != 0) {
            fail_msg("%g was said to be enough: %s", enough, err.text);
        }
        tier_plan_free(plan);
        q.budget = none - 1e-9;
        assert_true(none <= enough && isinf(brute_force(&q)));
        checked++;
    }
    give_room_back(&q);
}

static void a_hundred_thousand_groups_within_limits(void **state)
{
    (void)state;
    enum { N = 100000 };
    static struct tier_group g[N];
    static char name[N][16];
    struct tier_capacity room[] = {{"s3_glacier_ir", 0}, {"s3_deep_archive", 0}};
    struct tier_limits l = {.capacity = room, .n_capacities = 2};
    struct rng r;
    rng_init(&r, 3, 3);
    struct catalog *c = list_prices();
    uint64_t bytes = 0;
    for (int i = 0; i < N; i++) {
        g[i] = random_group(&r, name[i], sizeof name[i]);
        g[i].tier = i % 2 ? "s3_standard" : "s3_standard_ia";
        bytes += g[i].bytes;
    }
    room[0].bytes = bytes / 50;
    room[1].bytes = bytes / 10;
    struct tier_options o = {.vendor = "aws",
                             .region = "us-east-1",
                             .horizon_months = 36,
                             .max_wait_s = (double)INFINITY,
                             .from_tier = "s3_standard"};
    money total = 0;
    for (int round = 0; round < 3; round++) { /* without limits, with, and again */
        struct tier_plan *plan = NULL;
        struct timespec a, b;
        o.limits = round ? &l : NULL;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        assert_int_equal(tier_optimise(g, N, c, &o, &plan, NULL), 0);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
        double gap =
            money_to_double(plan->total - plan->lower_bound) / money_to_double(plan->lower_bound);
        print_message("100,000 groups x 36 months x 8 tiers%s: %.3f CPU s, gap %.5f %%\n",
                      round ? ", 2 capacities" : "", s, 100 * gap);
        assert_true(gap >= 0 && gap < 1e-3 && s < 60);
        assert_true(round < 2 || plan->total == total);
        total = plan->total;
        tier_plan_free(plan);
    }
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_within_limits_is_cheaper),
        cmocka_unit_test(glpk_and_cbc_find_no_cheaper_plan),
        cmocka_unit_test(what_is_enough_is_enough),
        cmocka_unit_test(a_hundred_thousand_groups_within_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
