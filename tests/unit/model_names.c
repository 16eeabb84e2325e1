/* Names of models and bounds, and the counts that work.c derives from dimensions. */
#include "../../planner/model/model_internal.h"
#include "support/model_tables.h"
#include "unit.h"
#include <cjson/cJSON.h>

static struct tables *tables;

static const struct model_profile *find(const char *name)
{
    return model_find(tables->models, tables->n_models, name);
}

static void aliases(void **state)
{
    static const struct {
        const char *other, *name;
    } cases[] = {
        {"bert-large", "bert-large"},
        {"BERT_Large", "bert-large"},
        {"google-bert/bert-large-uncased", "bert-large"},
        {"Llama-2-7B", "llama2-7b"},
        {"meta-llama/Llama-3.1-8B", "llama3.1-8b"},
        {"ResNet-50", "resnet50"},
        {"vit-base-patch16-224", "vit-base-16"},
        {"gpt2-xl", "gpt2-xl-1.5b"},
        {"wide_resnet50_2", "wide_resnet50_2"},
        {"SDXL", "sdxl-unet-1024"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct model_profile *m = find(cases[i].other);
        if (m == NULL) {
            fail_msg("%s is not found", cases[i].other);
            return;
        }
        assert_string_equal(m->name, cases[i].name);
    }
    assert_null(find("llama"));
    assert_null(find(""));
    assert_null(find(NULL));
    assert_string_equal(model_alias(NULL), "");
    /* every model of the table is found by its own name */
    for (size_t i = 0; i < tables->n_models; i++) {
        assert_ptr_equal(find(tables->models[i].name), &tables->models[i]);
    }
}

/* Every name in the oracles resolves. */
static void oracle_names(void **state)
{
    static const char *const files[] = {"oracles/throughput.json", "oracles/throughput-2.json",
                                        "oracles/memory-fit.json"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[512];
        char *text = read_whole(shared_path(files[f], path, sizeof path));
        cJSON *file = text != NULL ? cJSON_Parse(text) : NULL;
        const cJSON *k;
        if (file == NULL) {
            print_message("%s is missing: skipped\n", path);
            free(text);
            continue;
        }
        cJSON_ArrayForEach(k, cJSON_GetObjectItemCaseSensitive(file, "cases"))
        {
            const char *name = cJSON_GetObjectItemCaseSensitive(k, "model")->valuestring;
            if (find(name) == NULL) {
                fail_msg("%s: %s", files[f], name);
            }
        }
        cJSON_Delete(file);
        free(text);
    }
}

static double train_flops(const char *name, double s, bool per_token)
{
    struct work w;

    assert_int_equal(model_work(find(name), s, &w, NULL), 0);
    return 3 * (w.linear_flops + w.attention_flops) / (per_token ? w.samples_len : 1);
}

/* Figures of shared/docs/throughput-model.md section 2, within their rounding. */
static void flops(void **state)
{
    static const struct {
        const char *name;
        double s;
        bool per_token;
        double want;
    } cases[] = {
        {"resnet50", 0, false, 24.66e9},
        {"vit-base-16", 0, false, 105.5e9},
        {"efficientnet-b0", 0, false, 2.4e9},
        {"bert-large", 128, false, 237e9},
        {"bert-large", 384, false, 739e9},
        {"bert-large", 512, false, 1005e9},
        {"mpt-7b", 2048, true, 6 * 6.6589e9 + 12.0 * 32 * 4096 * 2048},
        {"mixtral-8x7b", 4096, true, 6 * 12.88e9 + 12.0 * 32 * 4096 * 4096},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = train_flops(cases[i].name, cases[i].s, cases[i].per_token);
        if (fabs(got / cases[i].want - 1) > 0.005) {
            fail_msg("%s: %g, documented %g", cases[i].name, got, cases[i].want);
        }
    }
}

/* Bytes kept per token over all layers, as shared/docs/models.csv states them in MB. */
static void kept_values(void **state)
{
    size_t n = 0;

    (void)state;
    for (size_t r = 1; r < tables->model_table.rows; r++) {
        const char *note = table_get(&tables->model_table, r, "activation_bytes_note");
        const struct model_profile *m = &tables->models[r - 1];
        double megabytes;
        bool gated, parallel;

        if (strstr(note, "MB/token over") == NULL || sscanf(note, "%lf", &megabytes) != 1) {
            continue;
        }
        parallel = strstr("phi gptj gpt-neox falcon stablelm-alpha", m->family) != NULL;
        double got = m->layers * model_layer_elements(m, &gated) * 2 / 1e6;
        if (!parallel && fabs(got / megabytes - 1) > 0.02) {
            fail_msg("%s: %.3f MB per token, stated %.3f", m->name, got, megabytes);
        }
        assert_true(got <= megabytes * 1.02);
        n++;
    }
    assert_true(n > 60);
}

static void bounds(void **state)
{
    (void)state;
    assert_string_equal(bound_name(BOUND_COMPUTE), "compute");
    assert_string_equal(bound_name(BOUND_MEMORY_BANDWIDTH), "memory_bandwidth");
    assert_string_equal(bound_name(BOUND_INPUT_CPU), "input_cpu");
    assert_string_equal(bound_name(BOUND_INPUT_STORAGE), "input_storage");
    assert_string_equal(bound_name(BOUND_INTERCONNECT), "interconnect");
    assert_string_equal(bound_name(BOUND_LATENCY), "latency");
    assert_string_equal(bound_name(BOUND_COUNT), "unknown");
}

static void parameters(void **state)
{
    size_t n;
    const struct model_parameter *p = model_parameters(&n);

    (void)state;
    assert_true(n <= 12);
    for (size_t i = 0; i < n; i++) {
        assert_true(p[i].value > 0 && p[i].meaning[0] != '\0' && p[i].unit[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aliases),     cmocka_unit_test(oracle_names), cmocka_unit_test(flops),
        cmocka_unit_test(kept_values), cmocka_unit_test(bounds),       cmocka_unit_test(parameters),
    };
    int rc;

    tables = tables_load();
    if (tables == NULL) {
        return 77;
    }
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    tables_free(tables);
    return rc;
}
