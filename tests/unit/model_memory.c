/* Memory of a job against sums done by hand, usable memory of cards, checkpoints; and bounds of
 * the rate that the host sets. */
#include "support/model_tables.h"
#include "unit.h"

static struct tables *tables;

static struct model_job job(const char *model, const char *gpu)
{
    const struct model_profile *m = model_find(tables->models, tables->n_models, model);
    const struct gpu_spec *g = tables_gpu(tables, gpu);

    assert_non_null(m);
    assert_non_null(g);
    return plain_job(m, g);
}

static struct model_memory memory(const struct model_job *j)
{
    struct model_memory m;
    struct gt_error e = {0};

    if (model_memory(j, &m, &e) != 0) {
        fail_msg("%s", e.text);
    }
    return m;
}

static void close_to(double got, double want, double relative)
{
    if (!(fabs(got / want - 1) <= relative)) {
        fail_msg("got %.6g, want %.6g", got, want);
    }
}

static void states(void **state)
{
    struct model_job j = job("llama2-7b", "A100-80GB SXM4");
    const double n = 6738415616.0;
    struct model_memory m;

    (void)state;
    j.batch_per_gpu = 1;
    m = memory(&j); /* 2 weights, 4 gradients, 4 + 8 optimiser */
    close_to(m.weights + m.gradients + m.optimizer, 18 * n, 1e-9);
    assert_false(m.fits);
    j.precision = PRECISION_FP32;
    m = memory(&j);
    close_to(m.weights + m.gradients + m.optimizer, 16 * n, 1e-9);
    j.precision = PRECISION_AMP;
    j.optimizer = OPTIMIZER_SGD;
    m = memory(&j);
    close_to(m.weights + m.gradients + m.optimizer, 14 * n, 1e-9);
    j.optimizer = OPTIMIZER_ADAMW;
    j.gpus = 8;
    j.sharding = SHARDING_ZERO3; /* an eighth, and two of 32 layers gathered */
    m = memory(&j);
    close_to(m.weights + m.gradients + m.optimizer, 16 * n / 8 + 2 * n * 2 / 32, 1e-9);
    j.sharding = SHARDING_NONE;
    j.gpus = 1;
    j.method = METHOD_LORA;
    j.lora_params = 4194304;
    m = memory(&j);
    close_to(m.weights, 2 * n, 1e-9);
    close_to(m.gradients + m.optimizer, 16 * 4194304.0, 1e-9);
    assert_true(m.fits);
    j.method = METHOD_QLORA; /* embeddings and head stay in half precision */
    m = memory(&j);
    close_to(m.weights, 0.6 * (n - 2 * 32000 * 4096.0) + 2 * 2 * 32000 * 4096.0, 1e-9);
}

static void activations(void **state)
{
    struct model_job j = job("mpt-7b", "A100-80GB SXM4");
    const double tokens = 2 * 2048.0, layer = 32 * 4096.0; /* bytes per token and layer */
    struct model_memory m;

    (void)state;
    j.batch_per_gpu = 2;
    j.seq_len = 2048;
    m = memory(&j);
    close_to(m.activations, tokens * 32 * layer, 1e-6);
    close_to(m.logits, tokens * 50368 * 11, 1e-6);
    j.recompute = RECOMPUTE_FULL; /* one border per layer and one layer in full */
    m = memory(&j);
    close_to(m.activations, tokens * (32 * 2 * 4096.0 + layer), 1e-6);
    j.gradient_accumulation = 16;
    close_to(memory(&j).peak_bytes, m.peak_bytes, 1e-12);
}

static void usable(void **state)
{
    static const struct {
        const char *gpu;
        double gib;
    } cards[] = {{"A100-80GB SXM4", 79.2}, {"A100-40GB PCIe", 39.6},
                 {"A10G", 22.1},           {"T4", 14.6},
                 {"V100-32GB SXM2", 31.7}, {"L40S", 44.7}};
    struct model_job j;

    (void)state;
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        j = job("resnet50", cards[i].gpu);
        close_to(memory(&j).usable_bytes / (1024.0 * 1024 * 1024), cards[i].gib, 0.015);
    }
    j = job("resnet50", "A100-80GB SXM4");
    j.gpus = 1.0 / 7; /* a slice has its part of the memory */
    close_to(memory(&j).usable_bytes * 7 / (1024.0 * 1024 * 1024), 79.2, 1e-9);
}

static void checkpoints(void **state)
{
    struct model_job j = job("resnet50", "A100-80GB SXM4");

    (void)state;
    close_to(model_checkpoint_bytes(&j), 12 * 25.56e6, 1e-9);
    j.optimizer = OPTIMIZER_SGD;
    close_to(model_checkpoint_bytes(&j), 8 * 25.56e6, 1e-9);
    j = job("llama2-70b", "A100-80GB SXM4");
    j.method = METHOD_QLORA;
    j.lora_params = 1e8;
    close_to(model_checkpoint_bytes(&j), 12 * 1e8, 1e-9);
}

static struct model_rate rate(const struct model_job *j)
{
    struct model_rate r;
    struct gt_error e = {0};

    if (model_throughput(j, &r, &e) != 0) {
        fail_msg("%s", e.text);
    }
    return r;
}

/* The host's limits, their names, and what is reached once they are lifted. */
static void host_bounds(void **state)
{
    struct model_job j = job("resnet50", "A100-80GB SXM4");
    struct model_rate free_rate, r;

    (void)state;
    j.gpus = 8;
    j.batch_per_gpu = 256;
    free_rate = rate(&j);
    assert_true(free_rate.bound == BOUND_COMPUTE || free_rate.bound == BOUND_MEMORY_BANDWIDTH);
    assert_true(isinf(free_rate.limit[BOUND_INPUT_CPU]));
    j.vcpus_per_node = 96;
    j.decode_per_vcpu = 65; /* Pillow starves every A100 box: input-pipeline.md section 3 */
    r = rate(&j);
    assert_int_equal(r.bound, BOUND_INPUT_CPU);
    close_to(r.samples_per_s, 96 * 65, 1e-12);
    close_to(r.next_samples_per_s, free_rate.samples_per_s, 1e-9);
    j.gpu_decode = true;
    assert_int_equal(rate(&j).bound, free_rate.bound);
    close_to(rate(&j).limit[BOUND_INPUT_CPU], 8 * 5000, 1e-12);
    j.storage_bytes_per_s = 612e6; /* remote disks of an 8-GPU Azure VM */
    j.bytes_per_sample = 114660;
    r = rate(&j);
    assert_int_equal(r.bound, BOUND_INPUT_STORAGE);
    close_to(r.samples_per_s, 612e6 / 114660, 1e-12);
    assert_int_equal(r.next_bound, free_rate.bound);
    assert_true(r.hi <= 1.2 * r.samples_per_s + 1e-9);
    j.nodes = 2; /* decode capacity doubles with the nodes, the shared volume does not */
    j.gpu_decode = false;
    j.gpus = 16;
    close_to(rate(&j).limit[BOUND_INPUT_CPU], 2 * 96 * 65, 1e-12);
    close_to(rate(&j).limit[BOUND_INPUT_STORAGE], 612e6 / 114660, 1e-12);
    /* text needs no decoding worth a limit */
    j = job("llama2-7b", "A100-80GB SXM4");
    j.vcpus_per_node = 1;
    assert_true(isinf(rate(&j).limit[BOUND_INPUT_CPU]));
}

/* Slow links: a large model in data parallel over PCIe without peer access is bound by them. */
static void interconnect(void **state)
{
    struct model_job j = job("bert-large", "RTX 4090");
    struct model_rate one, two;

    (void)state;
    j.seq_len = 384;
    j.batch_per_gpu = 1;
    j.stack = "stock";
    one = rate(&j);
    j.gpus = 8;
    two = rate(&j);
    assert_int_equal(two.bound, BOUND_INTERCONNECT);
    assert_true(two.samples_per_s < 8 * one.samples_per_s);
    j.network_gbps = 10;
    j.gpus = 16;
    j.nodes = 2;
    assert_true(rate(&j).communication_s > two.communication_s);
    /* an unknown stack is computed as stock with a wider interval */
    one = rate(&j);
    j.stack = "written last night";
    two = rate(&j);
    close_to(two.samples_per_s, one.samples_per_s, 1e-12);
    assert_true(two.lo < one.lo && two.hi > one.hi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),      cmocka_unit_test(activations),
        cmocka_unit_test(usable),      cmocka_unit_test(checkpoints),
        cmocka_unit_test(host_bounds), cmocka_unit_test(interconnect),
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
