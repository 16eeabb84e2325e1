/* The lifecycle policy against brute force: the family that tier_policy.c declares is enumerated
 * here a second time (prefixes, size intervals, schedules), every schedule is played month by month
 * with the bill of storage_s3.h, and every set of disjoint rules is tried. Then: what the rules do
 * by themselves, that none could be left out, files that keep to their place, and the time. */
#include "gputier/billing.h"
#include "storage_s3.h"
#include <time.h>

enum { CASES = 1500, GROUPS = 6, NODES = 24, CLASSES = 5, PLANS = 4096, STEPS = 3, DAYS = 12 };
static const double edge[CLASSES + 1] = {1, 65536, 131072, 1048576, 16777216, 1e300};

struct plan_of {
    int n, tier[STEPS], day[STEPS];
};
struct task {
    struct prices p;
    struct tier_group g[GROUPS];
    int n;
    struct tier_options o;
    char node[NODES][16];
    int nodes;
    struct plan_of plan[PLANS];
    int plans;
    double stay[GROUPS][TIERS][4], saved[GROUPS][PLANS];
};
struct way { /* a rule: where, sizes, what it saves at best */
    int node, low, high;
    double gain;
};

static bool reaches(int from, int to)
{
    return waterfall[from][to] == '1' && to != ZIA;
}

static double size_of(const struct tier_group *g)
{
    return (double)(g->bytes / g->objects);
}

static double counted_age(const struct tier_group *g)
{
    return g->noncurrent ? 0 : g->age_days;
}

/* The bill when those transitions act; the latest one due decides where objects may go. */
static double play(const struct task *x, int i, const struct plan_of *s)
{
    const struct tier_group *g = &x->g[i];
    int k = index_of(g->tier), since = (int)floor(g->age_days / 30);
    double spent = 0;
    for (int t = 0; t < x->o.horizon_months; t++) {
        int due = -1;
        for (int a = 0; a < s->n; a++) {
            due = s->day[a] <= counted_age(g) + 30 * t ? a : due;
        }
        if (due >= 0 && reaches(k, s->tier[due])) {
            int to = s->tier[due], left = min_months[k] - since;
            if (x->o.max_wait_s < 3600 && (to == GFR || to == GDA)) {
                return (double)INFINITY;
            }
            spent += left > 0 ? left * own_bytes(g, k) / GIB * x->p.storage[k] : 0;
            spent += move(&x->p, g, k, to);
            k = to;
            since = 0;
        }
        spent += x->stay[i][k][since < 3 ? since : 3];
        since++;
    }
    int left = x->o.delete_at_end ? min_months[k] - since : 0;
    return spent + (left > 0 ? left * own_bytes(g, k) / GIB * x->p.storage[k] : 0);
}

static bool follows(const struct plan_of *s, int to, int day)
{
    int from = s->n ? s->tier[s->n - 1] : STD, last = s->n ? s->day[s->n - 1] : -1;
    bool near = from == IA && day - last < 30; /* L19 */
    return reaches(from, to) && day > last && !near && (to != IA || day >= 30);
}

/* The usual days and up to six at which the plan's own paths leave a tier. */
static int days_of(const struct tier_plan *plan, int *day)
{
    static const int usual[] = {0, 30, 60, 90, 180, 365};
    double weight[2000] = {0};
    int n = 0;
    for (size_t i = 0; i < plan->n_paths; i++) {
        const struct tier_path *p = &plan->path[i];
        for (size_t k = 1; k < p->n_steps && p->saving > 0; k++) {
            weight[(int)floor(counted_age(p->group)) + 30 * p->step[k].from_month] +=
                (double)p->saving;
        }
    }
    for (; n < 6; n++) {
        day[n] = usual[n];
        weight[usual[n]] = 0;
    }
    for (; n < DAYS; n++) {
        int best = 0;
        for (int d = 1; d < 2000; d++) {
            best = weight[d] > weight[best] ? d : best;
        }
        if (weight[best] <= 0) {
            break;
        }
        day[n] = best;
        weight[best] = 0;
    }
    return n;
}

static void list_plans(struct task *x, const struct tier_plan *plan)
{
    int day[DAYS], days = days_of(plan, day);
    int from = 0, end = 1;
    x->plan[0] = (struct plan_of){.n = 0};
    x->plans = 1;
    for (int step = 0; step < STEPS; step++) {
        for (int i = from; i < end; i++) {
            for (int d = 0; d < days; d++) {
                for (int k = 0; k < TIERS; k++) {
                    if (follows(&x->plan[i], k, day[d])) {
                        assert_true(x->plans < PLANS);
                        struct plan_of *s = &x->plan[x->plans++];
                        *s = x->plan[i];
                        s->tier[s->n] = k;
                        s->day[s->n++] = day[d];
                    }
                }
            }
        }
        from = end;
        end = x->plans;
    }
}

static void put_node(struct task *x, const char *text, size_t len)
{
    for (int i = 0; i < x->nodes; i++) {
        if (strlen(x->node[i]) == len && memcmp(x->node[i], text, len) == 0) {
            return;
        }
    }
    assert_true(x->nodes < NODES && len < sizeof x->node[0]);
    snprintf(x->node[x->nodes++], sizeof x->node[0], "%.*s", (int)len, text);
}

/* The bucket, every prefix listed, every folder that two of them share. */
static void list_nodes(struct task *x)
{
    put_node(x, "", 0);
    for (int i = 0; i < x->n; i++) {
        put_node(x, x->g[i].name, strlen(x->g[i].name));
        for (int k = 0; k < i; k++) {
            const char *a = x->g[i].name, *b = x->g[k].name;
            size_t folder = 0;
            for (size_t c = 0; a[c] && a[c] == b[c]; c++) {
                folder = a[c] == '/' ? c + 1 : folder;
            }
            if (strcmp(a, b) != 0) {
                put_node(x, a, folder);
            }
        }
    }
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static double gain_of(const struct task *x, const char *prefix, double lo, double hi)
{
    static double sum[2][PLANS];
    double gain = 0;
    for (int kind = 0; kind < 2; kind++) {
        double best = 0;
        memset(sum[kind], 0, sizeof sum[kind]);
        for (int i = 0; i < x->n; i++) {
            double size = size_of(&x->g[i]);
            if (x->g[i].noncurrent == (kind == 1) && begins(x->g[i].name, prefix) && size >= lo &&
                size < hi) {
                for (int s = 0; s < x->plans; s++) {
                    sum[kind][s] += x->saved[i][s];
                }
            }
        }
        for (int s = 1; s < x->plans; s++) {
            bool allowed = kind == 0 || x->plan[s].day[0] > 0;
            best = allowed && sum[kind][s] > best ? sum[kind][s] : best;
        }
        gain += best;
    }
    return gain;
}

static int by_gain(const void *a, const void *b)
{
    const struct way *x = a, *y = b;
    return (x->gain < y->gain) - (x->gain > y->gain);
}

static double best_set(const struct task *x, const struct way *way, int n, int from, int rules,
                       const struct way **taken, int k, double sum, double best)
{
    best = sum > best ? sum : best;
    for (int i = from; i < n && rules > 0 && sum + rules * way[i].gain > best; i++) {
        bool clash = false;
        for (int c = 0; c < k; c++) {
            const char *a = x->node[way[i].node], *b = x->node[taken[c]->node];
            clash = clash || ((begins(a, b) || begins(b, a)) && way[i].low <= taken[c]->high &&
                              taken[c]->low <= way[i].high);
        }
        if (!clash) {
            taken[k] = &way[i];
            best = best_set(x, way, n, i + 1, rules - 1, taken, k + 1, sum + way[i].gain, best);
        }
    }
    return best;
}

static void random_task(struct rng *r, struct task *x, char name[GROUPS][16])
{
    static const char *const pool[] = {"a/", "a/b/",    "a/b/c/",   "a/d/", "b/",     "ab/",
                                       "a",  "a/b/c/x", "a/b/e/y/", "c/f/", "c/g/h/", "c/g/i"};
    static const int starts[] = {STD, STD, STD, STD, STD, IA, IT, GLI, GFR, XP};
    random_prices(r, &x->p);
    x->n = 1 + (int)(rng_u64(r) % GROUPS);
    x->nodes = 0;
    x->o = (struct tier_options){.vendor = "aws",
                                 .region = "us-east-1",
                                 .horizon_months = 2 + (int)(rng_u64(r) % 13),
                                 .max_wait_s = rng_u64(r) % 4 ? (double)INFINITY : 60,
                                 .from_tier = "s3_standard",
                                 .max_rules = 1 + (int)(rng_u64(r) % 4),
                                 .delete_at_end = rng_u64(r) % 2,
                                 .search_policy = true};
    for (int i = 0; i < x->n; i++) {
        struct tier_group *g = &x->g[i];
        *g = random_group(r, name[i], sizeof name[i]);
        snprintf(name[i], sizeof name[i], "%s", pool[rng_u64(r) % 12]);
        int start = starts[rng_u64(r) % 10];
        g->tier = names[start == GFR && x->o.max_wait_s < 3600 ? STD : start];
        g->noncurrent = rng_u64(r) % 4 == 0;
        double each = exp(log(20000) + rng_unit(r) * log(3000));
        g->bytes = g->objects * (uint64_t)each; /* objects of one size */
        for (int k = 0; k < TIERS; k++) {
            for (int since = 0; since < 4; since++) {
                x->stay[i][k][since] = month(&x->p, g, k, since);
            }
        }
    }
}

/* What one group does under the rules written. */
static double under(const struct task *x, int i, const struct tier_rule *rule, size_t n, size_t but)
{
    struct plan_of s = {.n = 0};
    const struct tier_group *g = &x->g[i];
    for (size_t k = 0; k < n; k++) {
        const struct tier_rule *r = &rule[k];
        double size = size_of(g);
        bool fits = size >= (double)r->min_bytes && (!r->max_bytes || size < (double)r->max_bytes);
        if (k != but && fits && r->noncurrent == g->noncurrent && begins(g->name, r->prefix)) {
            assert_true(s.n < STEPS);
            s.tier[s.n] = index_of(r->to_tier);
            s.day[s.n++] = r->days;
        }
    }
    return play(x, i, &s);
}

static bool one_rule(const struct tier_rule *a, const struct tier_rule *b)
{
    return strcmp(a->prefix, b->prefix) == 0 && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes;
}

/* Disjoint, as many as said, none without effect, and worth what was said. */
static void rules_hold(const struct task *x, const struct tier_plan *plan, int number, int *used)
{
    double sum = 0;
    *used = 0;
    for (size_t k = 0; k < plan->n_rules; k++) {
        const struct tier_rule *a = &plan->rule[k];
        *used += k == 0 || !one_rule(a, a - 1);
        for (size_t b = 0; b < k; b++) {
            const struct tier_rule *y = &plan->rule[b];
            bool apart = (a->max_bytes && a->max_bytes <= y->min_bytes) ||
                         (y->max_bytes && y->max_bytes <= a->min_bytes);
            if (!one_rule(a, y) && !apart &&
                (begins(a->prefix, y->prefix) || begins(y->prefix, a->prefix))) {
                fail_msg("case %d: the rules of '%s' [%llu, %llu) and '%s' [%llu, %llu) meet",
                         number, a->prefix, (unsigned long long)a->min_bytes,
                         (unsigned long long)a->max_bytes, y->prefix,
                         (unsigned long long)y->min_bytes, (unsigned long long)y->max_bytes);
            }
        }
        double lost = 0;
        for (int i = 0; i < x->n; i++) {
            lost += under(x, i, plan->rule, plan->n_rules, k) -
                    under(x, i, plan->rule, plan->n_rules, SIZE_MAX);
        }
        if (!(lost > 0)) {
            fail_msg("case %d: without the move of '%s' to %s nothing is lost", number, a->prefix,
                     a->to_tier);
        }
    }
    for (int i = 0; i < x->n; i++) {
        sum += under(x, i, plan->rule, plan->n_rules, SIZE_MAX);
    }
    double said = money_to_double(plan->policy_cost);
    if (fabs(sum - said) > 1e-9 * fmax(sum, 1e-3)) {
        fail_msg("case %d: the rules cost %.12g, said %.12g", number, sum, said);
    }
    assert_true(*used <= x->o.max_rules);
}

static void check(struct task *x, int number)
{
    static struct way way[NODES * 15];
    const struct way *taken[8];
    struct catalog *c = catalog_of(&x->p);
    struct tier_plan *plan = NULL;
    struct gt_error err = {0};
    if (tier_optimise(x->g, (size_t)x->n, c, &x->o, &plan, &err) < 0) {
        fail_msg("case %d: %s %s", number, err.where, err.text);
    }
    list_nodes(x);
    list_plans(x, plan);
    double base = 0;
    for (int i = 0; i < x->n; i++) {
        double stay = play(x, i, &x->plan[0]);
        base += stay;
        for (int s = 0; s < x->plans; s++) {
            x->saved[i][s] = stay - play(x, i, &x->plan[s]);
        }
    }
    int n = 0;
    for (int v = 0; v < x->nodes; v++) {
        for (int low = 0; low < CLASSES; low++) {
            for (int high = low; high < CLASSES; high++) {
                double gain = gain_of(x, x->node[v], edge[low], edge[high + 1]);
                if (gain > 0) {
                    way[n++] = (struct way){v, low, high, gain};
                }
            }
        }
    }
    qsort(way, (size_t)n, sizeof *way, by_gain);
    double want = base - best_set(x, way, n, 0, x->o.max_rules, taken, 0, 0, 0);
    double got = money_to_double(plan->policy_cost);
    if (fabs(want - got) > 1e-9 * fmax(want, 1e-3)) {
        fail_msg("case %d: brute force %.12g, policy %.12g of %d groups, %d rules", number, want,
                 got, x->n, x->o.max_rules);
    }
    int used;
    rules_hold(x, plan, number, &used);
    if (used > 0) {
        double fewer = base - best_set(x, way, n, 0, used - 1, taken, 0, 0, 0);
        assert_true(fewer > want);
    }
    tier_plan_free(plan);
    catalog_free(c);
}

static void no_policy_of_the_family_is_cheaper(void **state)
{
    (void)state;
    static struct task x;
    static char name[GROUPS][16];
    struct rng r;
    rng_init(&r, 11, 5);
    for (int i = 0; i < CASES; i++) {
        random_task(&r, &x, name);
        check(&x, i);
    }
}

/* EFS: one rule for all files, by days since their last access (R-LC-06). */
enum { E_STD, E_IA, E_ARCHIVE, E_TIERS };
static const char *const efs_tier[E_TIERS] = {"efs_standard", "efs_ia", "efs_archive"};
struct efs {
    double storage[E_TIERS], retrieval[E_TIERS], transition[E_TIERS];
};

static double play_efs(const struct efs *p, const struct tier_group *g, int horizon, int ia,
                       int archive)
{
    double gib = (double)g->bytes / GIB, rate = g->reads_per_month, spent = 0;
    double read = round(rate * (double)g->bytes) / GIB;
    double gap = rate > 0 ? 30 / rate : (double)INFINITY; /* between two reads of a file */
    int k = E_STD;
    for (int t = 0; t < horizon; t++) {
        int to = k;
        to = ia && ia <= g->idle_days + 30 * t && ia < gap && E_IA > to ? E_IA : to;
        to = archive && archive <= g->idle_days + 30 * t && archive < gap ? E_ARCHIVE : to;
        spent += to != k ? gib * p->transition[to] : 0;
        k = to;
        spent += gib * p->storage[k] + read * p->retrieval[k] +
                 (double)g->objects * 2048 / GIB * p->storage[E_STD];
    }
    return spent;
}

static struct catalog *efs_catalog(struct rng *r, struct efs *p)
{
    struct test_rate row[TEST_ROWS];
    size_t n = 0;
    for (int k = 0; k < E_TIERS; k++) {
        static const double level[] = {0.3, 0.016, 0.008};
        p->storage[k] = price(r, level[k] / 2, level[k] * 2);
        p->retrieval[k] = k ? price(r, 0, 0.05) : 0;
        p->transition[k] = k ? price(r, 0, 0.05) : 0;
        row[n++] = (struct test_rate){efs_tier[k], "storage", SU_GIB_MONTH,        1,
                                      0,           -1,        micro(p->storage[k])};
        if (k) {
            row[n++] = (struct test_rate){efs_tier[k], "retrieval",           SU_GIB, 1, 0,
                                          -1,          micro(p->retrieval[k])};
            row[n++] = (struct test_rate){efs_tier[k], "transition",           SU_GIB, 1, 0,
                                          -1,          micro(p->transition[k])};
        }
    }
    qsort(row, n, sizeof *row, row_order);
    return test_catalog(row, n);
}

static void no_policy_of_efs_is_cheaper(void **state)
{
    (void)state;
    static const int days[] = {0, 1, 7, 14, 30, 60, 90, 180, 270, 365}; /* 0: no rule */
    struct rng r;
    rng_init(&r, 3, 9);
    int archived = 0;
    for (int i = 0; i < 400; i++) {
        struct efs p;
        struct catalog *c = efs_catalog(&r, &p);
        struct tier_group g[4] = {{.name = ""}};
        int n = 1 + (int)(rng_u64(&r) % 4), horizon = 1 + (int)(rng_u64(&r) % 20);
        for (int k = 0; k < n; k++) {
            static const double rate[] = {0, 0, 0.01, 0.1, 0.4, 1.5, 5};
            g[k] = (struct tier_group){.name = "f/", .tier = "efs_standard", .read_fraction = -1};
            g[k].objects = 1 + rng_u64(&r) % 100000;
            g[k].bytes = g[k].objects * 4096 * (32 + rng_u64(&r) % 2400);
            g[k].idle_days = g[k].age_days = (double)(rng_u64(&r) % 400);
            g[k].reads_per_month = rate[rng_u64(&r) % 7];
        }
        struct tier_options o = {.vendor = "aws",
                                 .region = "us-east-1",
                                 .horizon_months = horizon,
                                 .max_wait_s = (double)INFINITY,
                                 .from_tier = "efs_standard",
                                 .search_policy = true};
        struct tier_plan *plan;
        assert_int_equal(tier_optimise(g, (size_t)n, c, &o, &plan, NULL), 0);
        double want = (double)INFINITY, got = money_to_double(plan->policy_cost);
        for (int a = 0; a < 10; a++) {
            for (int b = 0; b < 10; b++) {
                if (b == 0 || (a > 0 && days[b] > days[a])) {
                    double sum = 0;
                    for (int k = 0; k < n; k++) {
                        sum += play_efs(&p, &g[k], horizon, days[a], days[b]);
                    }
                    want = sum < want ? sum : want;
                }
            }
        }
        if (fabs(want - got) > 1e-9 * fmax(want, 1e-3)) {
            fail_msg("case %d: brute force %.12g, policy %.12g", i, want, got);
        }
        archived += plan->n_rules == 2;
        assert_true(plan->n_rules <= 2);
        tier_plan_free(plan);
        catalog_free(c);
    }
    assert_true(archived > 20);
}

/* Old versions have transitions of their own, in the same rule where sizes and place are the same.
 */
static void old_versions_are_written_apart(void **state)
{
    (void)state;
    struct catalog *c = list_prices();
    struct tier_group g[3] = {
        {.name = "logs/old stuff/"}, {.name = "logs/old stuff/"}, {.name = "hot/"}};
    for (int i = 0; i < 3; i++) {
        g[i].tier = "s3_standard";
        g[i].objects = 5000;
        g[i].bytes = 5000ULL << 30;
        g[i].size_lo = 16777216;
        g[i].age_days = 400;
        g[i].read_fraction = -1;
        g[i].reads_per_month = i == 2 ? 3 : 0;
    }
    g[1].noncurrent = true;
    struct tier_options o = {.vendor = "aws",
                             .region = "us-east-1",
                             .horizon_months = 24,
                             .max_wait_s = (double)INFINITY,
                             .from_tier = "s3_standard",
                             .search_policy = true};
    struct tier_plan *plan;
    struct buf b;
    buf_init(&b, 1 << 20);
    for (int both = 1; both >= 0; both--) { /* then old versions alone */
        assert_int_equal(tier_optimise(both ? g : g + 1, both ? 3 : 2, c, &o, &plan, NULL), 0);
        assert_int_equal(plan->n_rules, both ? 2 : 1);
        assert_true(plan->rule[both].noncurrent && plan->rule[both].days > 0);
        assert_int_equal(tier_write_s3_lifecycle(plan, &b, NULL), 0);
        assert_non_null(strstr(b.data, "\"NoncurrentVersionTransitions\""));
        assert_non_null(strstr(b.data, "\"NoncurrentDays\": 30"));
        assert_non_null(strstr(b.data, "\"ID\": \"gputier-1-logs-old-stuff\""));
        assert_true((strstr(b.data, "\"Transitions\"") != NULL) == both);
        buf_clear(&b);
        tier_rule_text(&plan->rule[both], &b);
        assert_non_null(strstr(b.data, "logs/old stuff/ old versions"));
        assert_non_null(strstr(b.data, " 30 days after they were replaced"));
        buf_clear(&b);
        tier_plan_free(plan);
    }
    buf_release(&b);
    catalog_free(c);
}

static void a_hundred_thousand_groups(void **state)
{
    (void)state;
    enum { N = 100000 };
    static struct tier_group g[N];
    static char name[N][24];
    struct rng r;
    rng_init(&r, 5, 2);
    struct catalog *c = list_prices();
    for (int i = 0; i < N; i++) { /* 20,000 prefixes, three levels */
        g[i] = random_group(&r, name[i], sizeof name[i]);
        g[i].noncurrent = rng_u64(&r) % 8 == 0;
        g[i].age_days = 30 * floor(g[i].age_days / 30);
        int p = i / 5;
        snprintf(name[i], sizeof name[i], "t%d/u%d/v%d/", p % 20, p / 20 % 50, p / 1000);
    }
    double second[2];
    for (int search = 0; search < 2; search++) {
        struct tier_options o = {.vendor = "aws",
                                 .region = "us-east-1",
                                 .horizon_months = 36,
                                 .max_wait_s = (double)INFINITY,
                                 .from_tier = "s3_standard",
                                 .max_rules = 100,
                                 .search_policy = search};
        struct tier_plan *plan;
        struct timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        assert_int_equal(tier_optimise(g, N, c, &o, &plan, NULL), 0);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        second[search] = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
        assert_true(!search || (plan->n_rules > 0 && plan->policy_cost < plan->baseline));
        tier_plan_free(plan);
    }
    print_message("policy of 100 rules for 100,000 groups: %.3f CPU s (without it %.3f)\n",
                  second[1], second[0]);
    assert_true(second[1] < 60); /* a generous stop for sanitizers; the figure is printed */
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_policy_of_the_family_is_cheaper),
        cmocka_unit_test(no_policy_of_efs_is_cheaper),
        cmocka_unit_test(old_versions_are_written_apart),
        cmocka_unit_test(a_hundred_thousand_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
