/* Scenario files: every key of product.md section 5 is read, defaults are recorded, and what is
 * not understood is refused with file:line:column, the key, what was found, what is allowed. */
#include "gputier/scenario.h"
#include "gputier/units.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW 1796169600 /* 2026-12-02T00:00:00Z */

static const char whole[] =
    "schema: gputier/scenario/1\n"
    "name: vision-team\n"
    "workload:\n"
    "  kind: training\n"
    "  model: resnet50\n"
    "  epochs: 90\n"
    "  samples: 1281167\n"
    "  batch_per_gpu: 256\n"
    "  gradient_accumulation: 2\n"
    "  precision: amp\n"
    "  optimizer: sgd\n"
    "  method: lora\n"
    "  lora_params: 4.2M\n"
    "  sharding: zero2\n"
    "  activation_checkpointing: selective\n"
    "  stack: tuned\n"
    "  measured: { gpu: RTX 3090, gpus: 1, samples_per_s: 620 }\n"
    "  input_pipeline: { samples_per_s_per_vcpu: 110, gpu_decode: true }\n"
    "  checkpoint: { size: 300MB, every: 500 steps }\n"
    "  setup: 25min\n"
    "constraints:\n"
    "  deadline: 72h\n"
    "  confidence: 0.9\n"
    "  budget: 5000.25 USD\n"
    "  regions: [aws/us-east-1, azure/eastus, gcp/us-central1]\n"
    "  vendors: [aws, azure, gcp, lambda]\n"
    "  gpus: { models: [A100, H100, V100], count: 2-16 }\n"
    "purchase: [on_demand, spot, reserved_1y]\n"
    "use: { horizon: 12mo, share: 0.4..0.7, owned: true }\n"
    "spot: { max_price_factor: 3, policy: auto, interruption: 0.1, spread: [instance_types, zones] "
    "}\n"
    "start_wait: { on_demand: 5min, spot: 1h30min }\n"
    "wait_before_fallback: 10min\n"
    "discounts: [{ vendor: azure, purchase: on_demand, factor: 0.93 }]\n"
    "data:\n"
    "  - { name: images, role: training_data, size: 150GiB, files: 1281167, lives_in: "
    "aws/us-east-1, tier: s3_standard, keep: 12mo }\n"
    "  - { name: ckpt,   role: checkpoint,    size: 20GiB,  keep: 3mo }\n"
    "  - { name: logs,   role: logs,          size: 50GiB,  growth: 5GiB/mo, reads_per_month: 0.1, "
    "keep: 36mo }\n";

static struct scenario *parse_sets(const char *text, const struct scenario_set *sets, size_t n,
                                   struct gt_error *err)
{
    struct scenario *s = NULL;
    int rc = scenario_parse(text, strlen(text), "a.yaml", sets, n, NOW, 3600, &s, err);
    assert_int_equal(rc == 0, s != NULL);
    assert_int_equal(rc, s == NULL ? err->code : 0);
    return s;
}

static struct scenario *parse(const char *text)
{
    struct gt_error err = {0};
    struct scenario *s = parse_sets(text, NULL, 0, &err);
    if (s == NULL) {
        print_error("%s: %s\n", err.where, err.text);
    }
    assert_non_null(s);
    return s;
}

static void reads_every_key(void **state)
{
    (void)state;
    struct scenario *s = parse(whole);
    assert_string_equal(s->name, "vision-team");
    assert_string_equal(s->model, "resnet50");
    assert_true(s->epochs == 90 && s->samples == 1281167 && s->batch_per_gpu == 256);
    assert_true(s->gradient_accumulation == 2 && s->lora_params == 4.2e6);
    assert_int_equal(s->optimizer, OPTIMIZER_SGD);
    assert_int_equal(s->method, METHOD_LORA);
    assert_int_equal(s->sharding, SHARDING_ZERO2);
    assert_int_equal(s->recompute, RECOMPUTE_SELECTIVE);
    assert_string_equal(s->measured_gpu, "RTX 3090");
    assert_true(s->measured_samples_per_s == 620 && s->measured_gpus == 1);
    assert_true(s->decode_per_vcpu == 110 && s->gpu_decode);
    assert_int_equal(s->checkpoint_bytes, 300000000);
    assert_int_equal(s->checkpoint_every, CKPT_STEPS);
    assert_true(s->checkpoint_value == 500 && s->setup_s == 1500);
    assert_true(s->deadline_s == 72 * 3600.0 && s->deadline_at == GT_TIME_NONE);
    assert_true(s->confidence == 0.9);
    assert_true(s->budget == 5000 * MONEY_SCALE + MONEY_SCALE / 4);
    assert_int_equal(s->n_vendors, 4);
    assert_int_equal(s->n_regions, 3);
    assert_string_equal(s->regions[1].vendor, "azure");
    assert_string_equal(s->regions[1].region, "eastus");
    assert_int_equal(s->n_gpu_models, 3);
    assert_true(s->gpus_min == 2 && s->gpus_max == 16);
    assert_int_equal(s->purchase_mask,
                     1u << PURCHASE_ON_DEMAND | 1u << PURCHASE_SPOT | 1u << PURCHASE_RESERVED_1Y);
    assert_true(s->use_horizon_s == 8760 * 3600.0 && s->use_share_lo == 0.4 && s->use_owned);
    assert_true(s->interruption_per_h == 0.1 && s->spread_types && s->spread_zones);
    assert_true(s->start_wait_spot_s == 5400 && s->wait_before_fallback_s == 600);
    assert_int_equal(s->n_discounts, 1);
    assert_string_equal(s->discounts[0].vendor, "azure");
    assert_int_equal(s->n_data, 3);
    assert_int_equal(s->data[0].size_bytes, 150 * GT_GIB);
    assert_string_equal(s->data[0].vendor, "aws");
    assert_string_equal(s->data[0].tier, "s3_standard");
    assert_string_equal(s->data[1].tier, "");
    assert_true(s->data[0].keep_months == 12);
    assert_true(s->data[2].growth_bytes_per_month == 5.0 * (double)GT_GIB);
    assert_true(s->data[2].reads_per_month == 0.1);
    scenario_free(s);
}

static void records_defaults(void **state)
{
    (void)state;
    struct scenario *s = parse("workload: {gpu_hours: {gpu: A100-80GB, hours: 340}}");
    assert_true(s->gpu_hours == 340);
    assert_int_equal(s->purchase_mask, 1u << PURCHASE_ON_DEMAND | 1u << PURCHASE_SPOT);
    assert_true(s->confidence == 0.95 && s->interruption_per_h < 0 && s->batch_per_gpu == 0);
    bool found = false, measured = false;
    for (size_t i = 0; i < s->n_defaults; i++) {
        found = found || (strcmp(s->defaults[i].key, "constraints.confidence") == 0 &&
                          strcmp(s->defaults[i].value, "0.95") == 0);
        measured = measured || strncmp(s->defaults[i].key, "workload.measured", 17) == 0;
    }
    assert_true(found);
    assert_false(measured);
    scenario_free(s);
}

static void takes_json_and_sets(void **state)
{
    (void)state;
    struct scenario_set sets[] = {{"data.0.size", "2TiB"}, {"constraints.gpus.count", "4"},
                                  {"purchase", "[spot]"},  {"data.1.name", "x"},
                                  {"data.1.role", "logs"}, {"data.1.size", "1GB"}};
    struct gt_error err = {0};
    struct scenario *s = parse_sets("{\"workload\": {\"model\": \"resnet50\", \"epochs\": 1, "
                                    "\"samples\": 10}, \"data\": [{\"name\": \"a\", \"role\": "
                                    "\"training_data\", \"size\": \"1GB\"}]}",
                                    sets, 6, &err);
    assert_non_null(s);
    assert_int_equal(s->data[0].size_bytes, 2 * GT_TIB);
    assert_int_equal(s->n_data, 2);
    assert_true(s->gpus_min == 4 && s->gpus_max == 4);
    assert_int_equal(s->purchase_mask, 1u << PURCHASE_SPOT);
    scenario_free(s);
    struct scenario_set alone[] = {{"workload.gpu_hours.gpu", "A100"},
                                   {"workload.gpu_hours.hours", "12"}};
    s = parse_sets("", alone, 2, &err);
    assert_non_null(s);
    assert_true(s->gpu_hours == 12);
    scenario_free(s);
}

static void reads_deadlines(void **state)
{
    (void)state;
#define JOB "workload: {gpu_hours: {gpu: A100, hours: 1}}\nconstraints: {deadline: "
    struct scenario *s = parse(JOB "\"2026-12-03T01:00\"}"); /* local time, one hour ahead of UTC */
    assert_int_equal(s->deadline_at, NOW + 86400);
    assert_true(s->deadline_s == 86400);
    scenario_free(s);
    s = parse(JOB "2026-12-03T00:00:00Z}");
    assert_true(s->deadline_s == 86400);
    scenario_free(s);
}

/* Each: text, expected where, words that the message must hold. */
static const struct {
    const char *text, *where, *word, *word2;
} refused[] = {
    {"workload:\n  epochz: 90\n", "a.yaml:2:3", "workload.epochz", "workload.epochs"},
    {"epochs: 90\n", "a.yaml:1:1", "epochs", "workload.epochs"},
    {"workload:\n  epochs: ten\n", "a.yaml:2:11", "\"ten\"", "a number above 0"},
    {"workload: {epochs: 0}\n", "a.yaml:1:20", "\"0\"", "above 0"},
    {"workload: {epochs: -3}\n", "a.yaml:1:20", "\"-3\"", "above 0"},
    {"workload: {epochs: .nan}\n", "a.yaml:1:20", "workload.epochs", "number"},
    {"workload: {epochs: .inf}\n", "a.yaml:1:20", "workload.epochs", "number"},
    {"workload: {epochs: inf}\n", "a.yaml:1:20", "workload.epochs", "number"},
    {"workload: {epochs: 1e999}\n", "a.yaml:1:20", "workload.epochs", "number"},
    {"workload: {epochs: \"90\"}\n", "a.yaml:1:20", "workload.epochs", "number"},
    {"workload: {epochs: [1]}\n", "a.yaml:1:20", "a list", "number"},
    {"workload: {epochs: }\n", "a.yaml:1:20", "nothing", "number"},
    {"workload: 7\n", "a.yaml:1:11", "workload", "map"},
    {"workload: {precision: fp17}\n", "a.yaml:1:23", "fp17", "bf16"},
    {"workload: {epochs: 1, epochs: 2}\n", "a.yaml:1:23", "epochs", "twice"},
    {"constraints: {confidence: 1.5}\n", "a.yaml:1:27", "1.5", "0.9999"},
    {"constraints: {deadline: 2020-01-01}\n", "a.yaml:1:25", "passed", "72h"},
    {"constraints: {deadline: soon}\n", "a.yaml:1:25", "soon", "72h"},
    {"constraints: {budget: lots}\n", "a.yaml:1:23", "lots", "USD"},
    {"constraints: {budget: -5 USD}\n", "a.yaml:1:23", "-5", "USD"},
    {"constraints: {vendors: [awz]}\n", "a.yaml:1:25", "awz", "aws"},
    {"constraints: {vendors: []}\n", "a.yaml:1:24", "vendors", "list"},
    {"constraints: {vendors: [gcp], regions: [aws/us-east-1]}\n", "a.yaml:1:41", "us-east-1",
     "constraints.vendors"},
    {"constraints: {regions: [us-east-1]}\n", "a.yaml:1:25", "us-east-1", "vendor/region"},
    {"constraints: {gpus: {count: 8-4}}\n", "a.yaml:1:29", "8-4", "range"},
    {"constraints: {gpus: {count: 0}}\n", "a.yaml:1:29", "0", "4096"},
    {"constraints: {gpus: {count: 1.5}}\n", "a.yaml:1:29", "1.5", "whole"},
    {"purchase: [cheap]\n", "a.yaml:1:12", "cheap", "on_demand"},
    {"data: [{name: a, role: training_data, size: 5 apples}]\n", "a.yaml:1:45", "apples", "size"},
    {"data: [{name: a, role: training_data, size: 1GB, keep: 3m}]\n", "a.yaml:1:56", "data[0].keep",
     "mo"},
    {"data: [{name: a, role: training_data, size: 1GB, tier: s3_standart}]\n", "a.yaml:1:56",
     "s3_standart", "s3_standard"},
    {"data: [{name: a, size: 1GB}]\n", "a.yaml:1:8", "data[0].role", "missing"},
    {"schema: gputier/scenario/9\n", "a.yaml:1:9", "scenario/9", "gputier/scenario/1"},
    {"workload: {model: resnet50, epochs: 1}\n", "a.yaml:1:11", "samples", "missing"},
    {"name: x\n", "a.yaml:1:1", "workload", "missing"},
    {"workload: {gpu_hours: {gpu: A100, hours: 2}, epochs: 3}\n", "a.yaml:1:11", "twice", "one"},
    {"a: [b\n", "a.yaml:2:1", "not YAML", ""},
    {"a: *b\n", "a.yaml:1:4", "alias", ""},
    {"a: &x [*x]\n", "a.yaml:1:8", "alias", ""},
    {"a: !!python/object:os.system x\n", "a.yaml:1:4", "tags", ""},
    {"a: 1\n---\nb: 2\n", "a.yaml:2:1", "second document", ""},
    {"name: \"a\\0b\"\n", "a.yaml:1:7", "control", ""},
    {"- 1\n", "a.yaml:1:1", "a list", "map"},
    {"? [a]\n: 1\n", "a.yaml:1:3", "key", ""},
};

static void refuses_with_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct gt_error err = {0};
        struct scenario *s = parse_sets(refused[i].text, NULL, 0, &err);
        if (s != NULL || strcmp(err.where, refused[i].where) != 0 ||
            strstr(err.text, refused[i].word) == NULL ||
            strstr(err.text, refused[i].word2) == NULL) {
            print_error("case %zu \"%s\": %s %s\n", i, refused[i].text, err.where, err.text);
        }
        assert_null(s);
        assert_int_equal(err.code, GT_EPARSE);
        assert_string_equal(err.where, refused[i].where);
        assert_non_null(strstr(err.text, refused[i].word));
        assert_non_null(strstr(err.text, refused[i].word2));
    }
}

static void bounds_aliases_and_depth(void **state)
{
    (void)state;
    char text[4096] = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
    size_t len = strlen(text);
    for (char c = 'b'; c <= 'i'; c++) { /* each line is ten times the one before */
        len += (size_t)snprintf(text + len, sizeof text - len, "%c: &%c [", c, c);
        for (int i = 0; i < 10; i++) {
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s*%c", i > 0 ? "," : "", c - 1);
        }
        len += (size_t)snprintf(text + len, sizeof text - len, "]\n");
    }
    struct gt_error err = {0};
    assert_null(parse_sets(text, NULL, 0, &err));
    assert_non_null(strstr(err.text, "100000"));
    memset(text, '[', 2000);
    text[2000] = '\0';
    assert_null(parse_sets(text, NULL, 0, &err));
    assert_non_null(strstr(err.text, "16 deep"));
}

/* An anchor may be used for what it is there for. */
static void allows_anchors(void **state)
{
    (void)state;
    struct scenario *s = parse("workload: {gpu_hours: {gpu: &g A100, hours: 1}}\n"
                               "constraints: {gpus: {models: [*g]}}\n");
    assert_string_equal(s->gpu_models[0], "A100");
    scenario_free(s);
}

static void set_errors_name_the_set(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct scenario_set set = {"constraints.budgett", "5 USD"};
    assert_null(parse_sets(whole, &set, 1, &err));
    assert_non_null(strstr(err.where, "--set constraints.budgett"));
    assert_non_null(strstr(err.text, "constraints.budget?"));
    struct scenario_set deep = {"data.9.size", "1GB"};
    assert_null(parse_sets(whole, &deep, 1, &err));
    assert_non_null(strstr(err.text, "from 0 to 3"));
    struct scenario_set empty = {"workload..epochs", "1"};
    assert_null(parse_sets(whole, &empty, 1, &err));
}

/* Cutting the text anywhere gives a scenario or an error with a place, never a crash. */
static void survives_any_cut(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof whole; len += 3) {
        struct scenario *s = NULL;
        struct gt_error err = {0};
        if (scenario_parse(whole, len, "a.yaml", NULL, 0, NOW, 0, &s, &err) == 0) {
            scenario_free(s);
        } else {
            assert_true(err.code == GT_EPARSE && err.text[0] != '\0');
        }
    }
}

/* The documented defaults are themselves allowed values, and each key has its help. */
static void key_table_is_whole(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct scenario_key *k = scenario_keys(); k->path != NULL; k++, n++) {
        assert_true(k->type != NULL && k->allowed != NULL && k->help != NULL);
        for (const struct scenario_key *o = scenario_keys(); o != k; o++) {
            assert_string_not_equal(o->path, k->path);
        }
    }
    assert_true(n > 80);
    struct scenario *s =
        parse("workload: {kind: serving}\nserving: {demand: {shape: sine, base: 1, "
              "peak: 2}, requests_per_s_per_node: 4}\n");
    assert_true(s->demand_period_s == 86400 && s->cooldown_in_s == 300);
    scenario_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_key),     cmocka_unit_test(records_defaults),
        cmocka_unit_test(takes_json_and_sets), cmocka_unit_test(reads_deadlines),
        cmocka_unit_test(refuses_with_place),  cmocka_unit_test(bounds_aliases_and_depth),
        cmocka_unit_test(allows_anchors),      cmocka_unit_test(set_errors_name_the_set),
        cmocka_unit_test(survives_any_cut),    cmocka_unit_test(key_table_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
