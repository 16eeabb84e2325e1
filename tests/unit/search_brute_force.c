/* The planner against brute force: on random small catalogs the pass that leaves out what its
 * bounds rule out gives the same ranking and the same front as the one that evaluates everything,
 * and no evaluated candidate costs less than the first plan or than its own lower bound. */
#include "../../planner/search/search.h"
#include "support/random_search.h"

#define CATALOGS 300

static bool same(const struct candidate *a, const struct candidate *b)
{
    return a->machine->row == b->machine->row && a->n == b->n && a->cost_usd == b->cost_usd &&
           a->makespan_h == b->makespan_h && a->risk == b->risk &&
           strcmp(a->place->tier, b->place->tier) == 0 &&
           strcmp(a->place->option, b->place->option) == 0;
}

/* Does a plan of the front do as well in all three, to the cent, the 0.01 h and the percent? */
static bool on_or_behind(const struct outcome *o, const struct candidate *c)
{
    for (size_t i = 0; i < o->n_front; i++) {
        const struct candidate *f = &o->front[i];
        if (f->at_least <= c->at_least && floor(f->cost_usd * 100) <= floor(c->cost_usd * 100) &&
            floor(f->p95_h * 100) <= floor(c->p95_h * 100) &&
            floor(f->risk * 100) <= floor(c->risk * 100)) {
            return true;
        }
    }
    return false;
}

/* Every candidate on its own: its bound lies below it, and below no first plan stands another. */
static void check_each(struct search *q, const struct outcome *o)
{
    for (size_t i = 0; i < q->n_machines; i++) {
        const struct machine *m = &q->machine[i];
        for (int n = 1; n * m->gpus <= q->s->gpus_max; n++) {
            const struct kind *k = search_kind(q, m, n);
            const struct region *r = &q->region[m->region_index];
            double usd, hours, risk;
            if (!k->ok || n * m->gpus < q->s->gpus_min) {
                continue;
            }
            lower_bound(q, m, k, n, &usd, &hours, &risk);
            for (size_t p = 0; p < r->n_places; p++) {
                struct candidate c = {.machine = m, .kind = k, .n = n, .place = &r->place[p]};
                if (!place_allows(c.place, m, n) || evaluate(q, &c) != 0) {
                    continue;
                }
                if (c.reject == REJECT_NONE && evaluate_deadline(q, &c) != 0) {
                    continue;
                }
                if (c.makespan_h > 0 && c.cost_usd > 0) {
                    assert_int_equal(evaluate_p95(q, &c, (double)INFINITY), 0);
                    assert_true(usd <= c.cost_usd * (1 + 1e-9));
                    assert_true(hours <= least_p95(&c) * (1 + 1e-9));
                    assert_true(least_p95(&c) <= c.p95_h * (1 + 1e-9));
                    assert_true(risk <= c.risk + 1e-12);
                }
                if (c.reject == REJECT_NONE) {
                    assert_true(o->n_top > 0);
                    assert_true(on_or_behind(o, &c));
                    assert_true(c.at_least >= o->top[0].at_least);
                    assert_true(c.at_least != o->top[0].at_least ||
                                c.cost_usd >= o->top[0].cost_usd);
                }
            }
        }
    }
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    size_t feasible = 0, pruned = 0, all = 0, mixed = 0, fallback = 0, blocks = 0;
    for (uint64_t i = 0; i < CATALOGS; i++) {
        struct rng r;
        rng_init(&r, 20261202, i);
        struct catalog *c = random_catalog(&r);
        struct scenario *s = random_scenario(&r);
        struct plan_options options = {
            .top = 4, .seed = 7, .runs = 200, .now = NOW, .currency = ""};
        struct gt_error err = {0};
        struct search q = {.s = s, .c = c, .o = &options, .arena = arena_new(0), .err = &err};
        struct outcome fast, slow;
        assert_int_equal(search_open(&q), 0);
        assert_int_equal(search_pass(&q, 4, &fast), 0);
        q.prune = false;
        assert_int_equal(search_pass(&q, 4, &slow), 0);
        assert_int_equal(fast.n_top, slow.n_top);
        for (size_t j = 0; j < fast.n_top; j++) {
            assert_true(same(&fast.top[j], &slow.top[j]));
        }
        assert_int_equal(fast.n_front, slow.n_front);
        for (size_t j = 0; j < fast.n_front; j++) {
            bool found = false;
            for (size_t k = 0; k < slow.n_front; k++) {
                found = found || (same(&fast.front[j], &slow.front[k]) &&
                                  fast.front[j].p95_h == slow.front[k].p95_h);
            }
            assert_true(found);
        }
        check_each(&q, &slow);
        for (size_t j = 0; j < slow.n_top; j++) {
            const struct candidate *k = &slow.top[j];
            double usd, hours, risk;
            struct candidate timed = *k;
            assert_int_equal(evaluate_p95(&q, &timed, (double)INFINITY), 0);
            lower_bound(&q, k->machine, k->kind, k->n, &usd, &hours, &risk);
            assert_true(usd <= k->cost_usd * (1 + 1e-9) && risk <= k->risk + 1e-12);
            assert_true(hours <= timed.p95_h * (1 + 1e-9));
            mixed += k->mixed && !k->fallback;
            fallback += k->fallback;
            blocks += k->machine->purchase == PURCHASE_CAPACITY_BLOCK;
        }
        for (size_t j = 0; j < slow.n_front; j++) {
            mixed += slow.front[j].mixed && !slow.front[j].fallback;
        }
        feasible += slow.n_top > 0;
        pruned += fast.evaluated < slow.evaluated;
        all += slow.evaluated;
        arena_free(q.arena);
        scenario_free(s);
        catalog_free(c);
    }
    print_message(
        "%zu of %d catalogs have a plan; %zu candidates; the bounds left some out in %zu\n",
        feasible, CATALOGS, all, pruned);
    assert_true(feasible > CATALOGS / 2 && feasible < CATALOGS);
    assert_true(pruned > CATALOGS / 4);
    print_message("%zu plans have a safety net, %zu fall back, %zu are blocks\n", mixed, fallback,
                  blocks);
    assert_true(mixed > 0 && fallback > 20 && blocks > 10);
}

/* One run of a candidate by a program of its own: another generator, hour by hour of what is
 * planned, nothing but the scenario's model. */
static double own_run(const struct candidate *c, unsigned short seed[3])
{
    double z = 0, t = c->wait_h, left = 0, rate = c->job.lambda_per_h;
    for (int i = 0; i < 12; i++) {
        z += erand48(seed);
    }
    left = c->job.work_h * exp(c->kind->sigma * (z - 6)); /* a sum of twelve: nearly normal */
    for (int launch = 0; launch < 10000; launch++) {
        double life = rate > 0 ? -log(1 - erand48(seed)) / rate : (double)INFINITY,
               age = c->job.restart_h;
        while (age <= life) {
            double piece = fmin(left, c->job.tau_h);
            double write = piece < left ? c->job.delta_h : 0;
            if (age + piece + write > life) {
                break;
            }
            age += piece + write;
            left -= piece;
            if (left <= 1e-12) {
                return t + age;
            }
        }
        t += life + c->job.wait_h;
    }
    return (double)INFINITY;
}

/* The cheapest plan that reaches the asked confidence: what is first does reach it, and nothing
 * cheaper does, by many runs of that other program. */
static void the_confident_is_the_cheapest(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    size_t asked = 0, cheaper = 0;
    for (uint64_t i = 0; asked < 90 && i < 400; i++) {
        struct rng r;
        rng_init(&r, 77, i);
        struct catalog *c = random_catalog(&r);
        struct scenario *s = random_scenario(&r);
        struct plan_options options = {
            .top = 1, .seed = 7, .runs = RUNS, .now = NOW, .currency = ""};
        struct gt_error err = {0};
        struct search q = {.s = s, .c = c, .o = &options, .arena = arena_new(0), .err = &err};
        struct outcome o;
        s->spot_policy = "spot_only"; /* plans without a net, whose runs are written out above */
        s->wait_before_fallback_s = -1;
        assert_int_equal(search_open(&q), 0);
        assert_int_equal(search_pass(&q, 1, &o), 0);
        if (s->deadline_s <= 0 || o.n_top == 0) {
            goto next;
        }
        asked++;
        for (size_t j = 0; j < q.n_machines; j++) {
            const struct machine *m = &q.machine[j];
            for (int n = 1; n * m->gpus <= s->gpus_max; n++) {
                const struct kind *k = search_kind(&q, m, n);
                const struct region *at = &q.region[m->region_index];
                for (size_t p = 0; p < at->n_places && k->ok && n * m->gpus >= s->gpus_min; p++) {
                    struct candidate one = {
                        .machine = m, .kind = k, .n = n, .place = &at->place[p]};
                    bool first =
                        m == o.top[0].machine && n == o.top[0].n && one.place == o.top[0].place;
                    if (!place_allows(one.place, m, n) || evaluate(&q, &one) != 0 ||
                        one.reject != REJECT_NONE || one.at_least != o.top[0].at_least ||
                        (!first && one.cost_usd >= o.top[0].cost_usd)) {
                        continue;
                    }
                    unsigned short seed[3] = {(unsigned short)i, (unsigned short)j, 99};
                    double met = 0;
                    for (int run = 0; run < RUNS; run++) {
                        met += own_run(&one, seed) <= s->deadline_s / 3600;
                    }
                    /* five deviations of both samples, and the sum of twelve's own error */
                    double slack = 0.01 + 5 * sqrt(2 * s->confidence * (1 - s->confidence) / RUNS);
                    cheaper += !first;
                    assert_true(first ? met / RUNS >= s->confidence - slack
                                      : met / RUNS <= s->confidence + slack);
                }
            }
        }
    next:
        arena_free(q.arena);
        scenario_free(s);
        catalog_free(c);
    }
    print_message("%zu deadlines, %zu cheaper plans are too late\n", asked, cheaper);
    assert_true(asked == 90 && cheaper > 25);
}

/* The numbers of machines that are considered, as keys.def says. */
static void counts_are_as_documented(void **state)
{
    (void)state;
    for (int n = 1; n < 32; n++) {
        assert_int_equal(search_next_count(n, 1000), n + 1);
    }
    for (int lo = 32; lo <= 256; lo *= 2) {
        int seen = 0;
        for (int n = lo; n < 2 * lo; n = search_next_count(n, 100000)) {
            seen++;
        }
        assert_int_equal(seen, 8);
    }
    assert_int_equal(search_next_count(40, 43), 43); /* the most allowed is tried too */
    assert_true(search_next_count(43, 43) > 43);
    assert_int_equal(search_next_count(33, 100), 36);
}

/* The public entry: bills add up exactly, the same input gives the same plans, infeasible says
 * what binds. */
static void bills_add_up(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        struct rng r;
        rng_init(&r, 11, i);
        struct catalog *c = random_catalog(&r);
        struct scenario *s = random_scenario(&r);
        struct plan_options o = {.top = 5, .seed = 3, .runs = 300, .now = NOW, .currency = "USD"};
        struct plan_set *a = NULL, *b = NULL;
        struct gt_error err = {0};
        int rc = plan_search(s, c, &o, &a, &err);
        assert_int_equal(plan_search(s, c, &o, &b, &err), rc);
        assert_true(rc == 0 || rc == GT_EINFEASIBLE);
        assert_true(rc == 0 || strstr(err.text, "nearest") != NULL || err.text[0] != '\0');
        assert_int_equal(a->n, b->n);
        for (size_t k = 0; k < a->n; k++) {
            const struct plan *p = &a->plan[k];
            money lines = 0, parts = 0;
            for (size_t l = 0; l < p->n_lines; l++) {
                lines += p->line[l].amount;
            }
            for (int l = 0; l < COMP_COUNT; l++) {
                parts += p->component[l];
            }
            assert_true(lines == p->total && parts == p->total);
            assert_string_equal(p->id, b->plan[k].id);
            assert_true(p->total == b->plan[k].total);
            assert_true(p->makespan_p95_s == b->plan[k].makespan_p95_s);
            assert_true(p->at_least != a->plan[0].at_least || p->total >= a->lower_bound);
            assert_true(p->makespan_p5_s <= p->makespan_p50_s &&
                        p->makespan_p50_s <= p->makespan_p95_s);
            assert_true(k == 0 || p->at_least != a->plan[k - 1].at_least ||
                        p->total >= a->plan[k - 1].total);
        }
        plan_set_free(a);
        plan_set_free(b);
        scenario_free(s);
        catalog_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_brute_force), cmocka_unit_test(the_confident_is_the_cheapest),
        cmocka_unit_test(counts_are_as_documented), cmocka_unit_test(bills_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
