/* Properties of the throughput and memory models that hold for every GPU and model
 * (shared/docs/throughput-model.md section 10). No published figure is needed. */
#include "support/model_tables.h"
#include "unit.h"

static struct tables *tables;

/* GPUs that can train in half precision and the models of every family. */
static const char *const model_names[] = {
    "resnet50",      "efficientnet-b0", "vit-base-16", "swin-base",    "bert-large",
    "gpt2-medium",   "llama2-7b",       "llama3-8b",   "mixtral-8x7b", "mpt-30b",
    "sd2-unet-512",  "unet3d",          "t5-base",     "dlrm-mlperf",  "mask-rcnn-r50-fpn",
    "whisper-small", "wav2vec2-base"};
#define N_MODELS (sizeof model_names / sizeof *model_names)

static bool trains(const struct gpu_spec *g)
{
    return g->bandwidth_gbs > 0 && (g->fp16_tflops > 0 || g->bf16_tflops > 0);
}

static double rate(const struct model_job *j)
{
    struct model_rate r;
    struct gt_error e = {0};

    if (model_throughput(j, &r, &e) != 0) {
        fail_msg("%s on %s: %s", j->model->name, j->gpu->model, e.text);
    }
    assert_true(r.samples_per_s > 0 && isfinite(r.samples_per_s));
    assert_true(r.lo <= r.samples_per_s && r.samples_per_s <= r.hi);
    assert_true(r.next_samples_per_s >= r.samples_per_s * (1 - 1e-12));
    assert_true(r.next_bound != r.bound);
    for (int b = 0; b < BOUND_COUNT; b++) {
        assert_true(r.limit[b] >= r.samples_per_s * (1 - 1e-9));
    }
    return r.samples_per_s;
}

static double peak(const struct model_job *j)
{
    struct model_memory m;
    struct gt_error e = {0};

    if (model_memory(j, &m, &e) != 0) {
        fail_msg("%s: %s", j->model->name, e.text);
    }
    return m.peak_bytes;
}

/* Calls `check` for every model on every GPU that trains. */
static size_t each(void (*check)(struct model_job j))
{
    size_t n = 0;

    for (size_t m = 0; m < N_MODELS; m++) {
        const struct model_profile *p =
            model_find(tables->models, tables->n_models, model_names[m]);
        if (p == NULL) {
            fail_msg("%s is not in models.csv", model_names[m]);
            return 0;
        }
        for (size_t g = 0; g < tables->n_gpus; g++) {
            if (trains(&tables->gpus[g])) {
                check(plain_job(p, &tables->gpus[g]));
                n++;
            }
        }
    }
    assert_true(n > 500);
    return n;
}

static void check_peak(struct model_job j)
{
    struct gpu_spec fast = *j.gpu;
    double before = rate(&j);

    fast.fp16_tflops *= 2;
    fast.bf16_tflops *= 2;
    fast.fp32_tflops *= 2;
    fast.tf32_tflops *= 2;
    fast.fp8_tflops *= 2;
    j.gpu = &fast;
    assert_true(rate(&j) >= before);
}

static void check_bandwidth(struct model_job j)
{
    struct gpu_spec slow = *j.gpu;
    double before = rate(&j);

    slow.bandwidth_gbs /= 2;
    j.gpu = &slow;
    assert_true(rate(&j) < before);
}

static void check_gang(struct model_job j)
{
    static const enum sharding sharding[] = {SHARDING_NONE, SHARDING_ZERO1, SHARDING_ZERO2,
                                             SHARDING_ZERO3};
    struct model_rate r;

    for (size_t s = 0; s < 4; s++) {
        double one, without_optimizer;
        j.sharding = sharding[s];
        j.gpus = j.nodes = 1;
        assert_int_equal(model_throughput(&j, &r, NULL), 0);
        assert_true(r.communication_s == 0 && isinf(r.limit[BOUND_INTERCONNECT]));
        one = r.samples_per_s;
        without_optimizer = j.batch_per_gpu / (r.compute_s + r.latency_s);
        for (double n = 2; n <= 64; n *= 2) {
            double now;
            j.gpus = n;
            j.nodes = n > 8 ? n / 8 : 1;
            now = rate(&j);
            /* a sharded optimiser runs n times faster: the only gain above n */
            assert_true(now <= n * (s == 0 ? one * (1 + 1e-12) : without_optimizer));
        }
    }
}

static void check_host(struct model_job j)
{
    double last = 0;

    for (double v = 1; v <= 256; v *= 2) {
        double now;
        j.vcpus_per_node = v;
        now = rate(&j);
        assert_true(now >= last);
        last = now;
    }
    last = 0;
    for (double s = 1e6; s <= 1e12; s *= 10) {
        double now;
        j.storage_bytes_per_s = s;
        now = rate(&j);
        assert_true(now >= last);
        last = now;
    }
}

static void check_recompute(struct model_job j)
{
    double full, none, selective;

    none = rate(&j);
    j.recompute = RECOMPUTE_FULL;
    assert_true(rate(&j) < none);
    full = peak(&j);
    j.recompute = RECOMPUTE_SELECTIVE;
    assert_true(rate(&j) <= none * (1 + 1e-12));
    selective = peak(&j);
    j.recompute = RECOMPUTE_NONE;
    assert_true(full < selective && selective < peak(&j));
}

static void check_batch(struct model_job j)
{
    double last_rate = 0, last_peak = 0;

    for (double b = 1; b <= 1024; b *= 2) {
        double r, p;
        j.batch_per_gpu = b;
        r = rate(&j);
        p = peak(&j);
        assert_true(r >= last_rate * (1 - 1e-12));
        assert_true(p > last_peak);
        last_rate = r;
        last_peak = p;
    }
}

static void check_sharding(struct model_job j)
{
    static const enum method methods[] = {METHOD_FULL, METHOD_LORA, METHOD_QLORA};

    for (size_t m = 0; m < 3; m++) {
        for (double n = 1; n <= 512; n *= 4) {
            double last = (double)INFINITY;
            j.method = methods[m];
            j.gpus = n;
            for (int s = SHARDING_NONE; s <= SHARDING_ZERO3; s++) {
                double p;
                j.sharding = (enum sharding)s;
                p = peak(&j);
                assert_true(p <= last * (1 + 1e-12));
                last = p;
            }
        }
    }
    j.sharding = SHARDING_NONE;
    j.gpus = 1;
    j.method = METHOD_FULL;
    double full = peak(&j);
    j.method = METHOD_LORA;
    double lora = peak(&j);
    j.method = METHOD_QLORA;
    assert_true(peak(&j) <= lora && lora <= full * 1.1);
}

static void check_precision(struct model_job j)
{
    double f32, tf32;

    if (!(j.gpu->fp32_tflops > 0)) {
        return;
    }
    j.precision = PRECISION_FP32;
    f32 = rate(&j);
    j.precision = PRECISION_TF32;
    tf32 = rate(&j);
    assert_true(f32 == tf32); /* FP32 is TF32 where the card has it */
    j.precision = PRECISION_AMP;
    assert_true(rate(&j) > 0.999 * f32 || strcmp(j.gpu->arch, "Pascal") == 0);
    assert_true(peak(&j) > 0);
}

#define PROPERTY(name)                                                                             \
    static void property_##name(void **state)                                                      \
    {                                                                                              \
        (void)state;                                                                               \
        each(check_##name);                                                                        \
    }
PROPERTY(peak)
PROPERTY(bandwidth)
PROPERTY(gang)
PROPERTY(host)
PROPERTY(recompute)
PROPERTY(batch)
PROPERTY(sharding)
PROPERTY(precision)

/* Volta and Turing have no BF16 units: emulation is slower than FP16 by a factor. */
static void property_emulated_bf16(void **state)
{
    struct model_job j = plain_job(model_find(tables->models, tables->n_models, "bert-large"),
                                   tables_gpu(tables, "V100-16GB SXM2"));
    double amp = rate(&j);

    (void)state;
    j.precision = PRECISION_BF16;
    assert_true(rate(&j) < 0.4 * amp);
}

/* A measured rate moves the prediction to itself on the machine it was measured on, and leaves
 * the input limits alone. */
static void property_calibration(void **state)
{
    struct model_job j = plain_job(model_find(tables->models, tables->n_models, "resnet50"),
                                   tables_gpu(tables, "A100-80GB SXM4"));
    double plain = rate(&j);

    (void)state;
    j.calibration = 0.5;
    assert_true(fabs(rate(&j) - 0.5 * plain) < 1e-9 * plain);
    j.vcpus_per_node = 2;
    j.calibration = 1e6;
    assert_true(fabs(rate(&j) - 2 * 130) < 1e-9);
}

/* The profile of a custom model: FLOPs and parameters only. */
static void property_custom(void **state)
{
    struct model_profile m = {0};
    struct model_job j = plain_job(&m, tables_gpu(tables, "T4"));
    struct model_rate r;
    struct gt_error e = {0};
    double one;

    (void)state;
    m.name = m.family = "custom";
    m.task = "custom";
    m.parameters = 1e8;
    m.flops_per_sample_fwd = 1e10;
    m.activation_elements = m.layers = m.hidden = (double)NAN;
    one = rate(&j);
    m.flops_per_sample_fwd *= 2;
    assert_true(rate(&j) < one);
    m.flops_per_sample_fwd = m.parameters = (double)NAN;
    assert_int_equal(model_throughput(&j, &r, &e), GT_EINVALID);
    assert_non_null(strstr(e.text, "custom"));
    j.gpus = 0;
    assert_int_equal(model_throughput(&j, &r, &e), GT_EINVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property_peak),          cmocka_unit_test(property_bandwidth),
        cmocka_unit_test(property_gang),          cmocka_unit_test(property_host),
        cmocka_unit_test(property_recompute),     cmocka_unit_test(property_batch),
        cmocka_unit_test(property_sharding),      cmocka_unit_test(property_precision),
        cmocka_unit_test(property_emulated_bf16), cmocka_unit_test(property_calibration),
        cmocka_unit_test(property_custom),
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
