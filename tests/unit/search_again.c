/* Planning again after a change gives byte for byte the answer of a plan from nothing: over random
 * catalogs and chains of changes, of every key that a scenario has for plans, with the numbers of
 * runs that the screen asks with; plan sets outlive the memory, the scenario and each other. */
#include "../../tui/cli/plan_json.h"
#include "gputier/planner.h"
#include "support/random_search.h"

#define CHAINS  30
#define CHANGES 40

/* One key and values for it; the last value of each puts it back near where it was. */
static const struct change {
    const char *path, *value[5];
} changes[] = {
    {"name", {"one", "two"}},
    {"workload.epochs", {"3", "5", "29"}},
    {"workload.samples", {"30000", "90000", "400000"}},
    {"workload.batch_per_gpu", {"32", "64", "auto"}},
    {"workload.gradient_accumulation", {"2", "1"}},
    {"workload.precision", {"fp32", "bf16", "amp"}},
    {"workload.optimizer", {"sgd", "lamb", "adamw"}},
    {"workload.sharding", {"zero3", "none"}},
    {"workload.activation_checkpointing", {"full", "none"}},
    {"workload.stack", {"tuned", "stock"}},
    {"workload.measured", {"{gpu: T4, gpus: 1, samples_per_s: 300}"}},
    {"workload.input_pipeline.samples_per_s_per_vcpu", {"40", "400"}},
    {"workload.input_pipeline.gpu_decode", {"true", "false"}},
    {"workload.bytes_per_sample", {"90KB", "400KB"}},
    {"workload.checkpoint.size", {"80MB", "3GB"}},
    {"workload.checkpoint.every", {"10min", "off", "300 steps", "auto"}},
    {"workload.setup", {"1min", "70min", "10min"}},
    {"constraints.deadline", {"2h", "6h", "11.5h", "30h"}},
    {"constraints.confidence", {"0.6", "0.9", "0.99"}},
    {"constraints.budget", {"9 USD", "55 USD", "300 USD"}},
    {"constraints.vendors", {"[aws]", "[gcp, lambda]", "[aws, gcp, lambda]"}},
    {"constraints.regions", {"[aws/us-east-1]", "[aws/us-east-1, gcp/us-east-1]"}},
    {"constraints.gpus.models", {"[T4]", "[A100, H100]", "[A100, H100, T4]"}},
    {"constraints.gpus.count", {"1", "4-8", "1-64", "1-16"}},
    {"purchase",
     {"[on_demand]", "[spot]", "[capacity_block]", "[on_demand, spot, capacity_block]",
      "[on_demand, spot]"}},
    {"use", {"{horizon: 12mo, share: 0.4..0.7}", "{horizon: 3mo, owned: true}"}},
    {"spot.max_price_factor", {"0.4", "2"}},
    {"spot.policy", {"spot_only", "greedy", "auto"}},
    {"spot.interruption", {"0.3", "0.01", "auto"}},
    {"spot.spread", {"[zones]", "[instance_types, zones]"}},
    {"spot.placement_scores", {"[aws/us-east-1=7]", "[aws/us-east-1=3]"}},
    {"start_wait.on_demand", {"20min", "0min"}},
    {"start_wait.spot", {"40min", "5min"}},
    {"wait_before_fallback", {"5min", "90min", "auto"}},
    {"discounts", {"[{vendor: aws, factor: 0.7}]", "[{vendor: gcp, purchase: spot, factor: 1.5}]"}},
    {"data",
     {"[{name: d, role: training_data, size: 20GiB, files: 9000, keep: 1mo}]",
      "[{name: d, role: training_data, size: 90GiB, files: 50, keep: 3mo, "
      "lives_in: aws/us-east-1, tier: s3_standard}]",
      "[{name: d, role: training_data, size: 90GiB, keep: 3mo, lives_in: gcp/us-east-1}, "
      "{name: c, role: checkpoint, size: 3GB, lives_in: aws/us-east-1, tier: s3_standard}]",
      "[{name: d, role: training_data, size: 9GiB, growth: 2GiB/mo, reads_per_month: 3}, "
      "{name: l, role: logs, size: 2GiB, keep: 2mo}]"}},
};
#define N_CHANGES (sizeof changes / sizeof *changes)

/* What an answer says, error included. */
static void answer(struct plan_memory *m, const char *text, const struct scenario_set *sets,
                   size_t n, const struct catalog *c, uint32_t runs, struct plan_set **set,
                   struct buf *out)
{
    struct plan_options o = {.top = 6, .seed = 5, .runs = runs, .now = NOW, .currency = "USD"};
    struct gt_error err = {0};
    struct scenario *s = NULL;
    const struct plan_origin origin = {.file = "random", .text = text, .sets = sets, .n_sets = n};
    assert_int_equal(scenario_parse(text, strlen(text), "random", sets, n, NOW, 0, &s, &err), 0);
    int rc = plan_search_again(m, s, c, &o, set, &err);
    buf_init(out, 64U << 20);
    assert_int_equal(buf_addf(out, "%d %s %s\n", rc, err.where, err.text), 0);
    if (*set != NULL) {
        struct buf json;
        buf_init(&json, 64U << 20);
        assert_int_equal(plan_json_write(*set, s, &origin, &json), 0);
        assert_int_equal(buf_add(out, json.data, json.len), 0);
        buf_release(&json);
        for (size_t i = 0; i < (*set)->n_rejected; i++) {
            const struct plan_rejected *r = &(*set)->rejected[i];
            assert_int_equal(buf_addf(out, "%s %s %s %s %s\n", r->vendor, r->region,
                                      r->instance_type, r->purchase, r->reason),
                             0);
        }
    }
    scenario_free(s);
}

static bool is_filter(const struct change *k)
{
    return strncmp(k->path, "constraints.vendors", 19) == 0 ||
           strncmp(k->path, "constraints.regions", 19) == 0 ||
           strncmp(k->path, "constraints.gpus", 16) == 0 || strcmp(k->path, "purchase") == 0;
}

/* Adds, replaces or takes back one setting at random; false when the scenario would not be
 * accepted. */
static bool change(struct rng *r, bool filter, const char *text, struct scenario_set *sets,
                   size_t *n)
{
    const struct change *k;
    do {
        k = &changes[rng_u64(r) % N_CHANGES];
    } while (filter && !is_filter(k));
    size_t values = 0, at = 0;
    while (values < 5 && k->value[values] != NULL) {
        values++;
    }
    struct scenario_set was[N_CHANGES];
    size_t n_was = *n;
    memcpy(was, sets, sizeof was);
    while (at < *n && strcmp(sets[at].path, k->path) != 0) {
        at++;
    }
    if (at < *n && rng_u64(r) % 3 == 0) {
        sets[at] = sets[--*n];
    } else {
        sets[at] = (struct scenario_set){k->path, k->value[rng_u64(r) % values]};
        *n += at == *n;
    }
    struct scenario *s = NULL;
    struct gt_error err = {0};
    if (scenario_parse(text, strlen(text), "random", sets, *n, NOW, 0, &s, &err) != 0) {
        memcpy(sets, was, sizeof was);
        *n = n_was;
        return false;
    }
    scenario_free(s);
    return true;
}

/* With one kind of accelerator that is no GPU: taken only when it is named. */
static struct catalog *catalog_of(struct rng *r)
{
    struct catalog *c = random_catalog(r);
    if (rng_u64(r) % 2) {
        static struct gpu_spec other[3];
        memcpy(other, gpus, sizeof other);
        other[rng_u64(r) % 3].maker = "AWS";
        c->gpus = other;
    }
    return c;
}

/* filters: nine of ten changes are of a filter, else all keys alike. */
static void chains(bool filters)
{
    static const uint32_t runs[] = {50, 300};
    size_t asked = 0, plans = 0, none = 0;
    for (uint64_t i = 0; i < CHAINS; i++) {
        struct rng r;
        rng_init(&r, filters ? 43 : 41, i);
        struct catalog *c = catalog_of(&r);
        struct plan_memory *m = plan_memory_new();
        struct plan_set *held = NULL; /* of the step before: it stays whole */
        struct scenario_set sets[N_CHANGES];
        char text[1500];
        size_t n = 0;
        memset(sets, 0, sizeof sets);
        random_scenario_text(&r, text, sizeof text);
        for (int k = 0; k < CHANGES; k++) {
            if (k > 0 && !change(&r, filters && rng_u64(&r) % 10 != 0, text, sets, &n)) {
                continue;
            }
            struct plan_set *fresh = NULL, *again = NULL;
            struct buf a, b;
            uint32_t few = runs[rng_u64(&r) % 2];
            answer(NULL, text, sets, n, c, few, &fresh, &a);
            answer(m, text, sets, n, c, few, &again, &b);
            if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0) {
                fail_msg("chain %u step %d, last change %s=%s\n%s\nset:\n%.3000s\nagainst\n%.3000s",
                         (unsigned)i, k, n > 0 ? sets[n - 1].path : "",
                         n > 0 ? sets[n - 1].value : "", text, a.data, b.data);
            }
            asked++;
            plans += fresh != NULL ? fresh->n : 0;
            none += fresh != NULL && fresh->n == 0;
            buf_release(&a);
            buf_release(&b);
            plan_set_free(fresh);
            plan_set_free(held);
            held = again;
        }
        plan_memory_free(m);
        for (size_t j = 0; held != NULL && j < held->n_rejected; j++) {
            assert_true(strlen(held->rejected[j].reason) > 0);
        }
        plan_set_free(held);
        catalog_free(c);
    }
    print_message("%zu answers, %zu plans, %zu without any\n", asked, plans, none);
    assert_true(asked > CHAINS * CHANGES / 2 && plans > asked && none > asked / 50);
}

static void again_is_the_same_as_anew(void **state)
{
    (void)state;
    chains(false);
}

static void so_are_changed_filters(void **state)
{
    (void)state;
    chains(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(again_is_the_same_as_anew),
        cmocka_unit_test(so_are_changed_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
