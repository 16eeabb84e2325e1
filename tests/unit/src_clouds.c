/* GPU clouds' lists: right rows from the shared samples (counts and rows), the traps of
 * docs/pricing-sources.md section 10 by their numbers, refusals, no row from a fault. */
#include "../../pricing/sources/source.h"
#include "fake_staging.h"
#include "unit.h"
#include <math.h>

static struct staging st;
static struct gt_error err;
static struct parse_context ctx;

static int parse(const char *id, const char *text, size_t len, size_t step)
{
    fake_clear(&st);
    memset(&err, 0, sizeof err);
    memset(&ctx, 0, sizeof ctx);
    return fake_parse(source_find(id), &st, "list.json", text, len, step, &ctx, &err);
}

static int parse_text(const char *id, const char *text)
{
    return parse(id, text, strlen(text), 7);
}

/* A shared file, recognised by its content, in pieces of several sizes. */
static bool parse_shared(const char *id, const char *name)
{
    size_t n, rows = 0;
    char *t = fake_shared(name, &n);
    if (!t) {
        return false;
    }
    for (size_t i = 0; source_at(i); i++) {
        assert_int_equal(source_at(i)->recognise(t, n < 65536 ? n : 65536, name),
                         strcmp(source_at(i)->id, id) == 0);
    }
    static const size_t steps[] = {1, 61, 4099, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        if (parse(id, t, n, steps[i]) != 0) {
            fail_msg("%s: %s", err.where, err.text);
        }
        assert_true(i == 0 || st.n_offer == rows);
        rows = st.n_offer;
    }
    free(t);
    return true;
}

static const struct offer_row *find(const char *region, const char *type, enum purchase p)
{
    const struct offer_row *found = NULL;
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (strcmp(o->region, region) == 0 && strcmp(o->instance_type, type) == 0 &&
            o->purchase == p) {
            assert_null(found); /* one row a key */
            found = o;
        }
    }
    return found;
}

static void check(const struct offer_row *o, const char *price, const char *gpu, int count,
                  double memory)
{
    char buf[MONEY_TEXT];
    assert_non_null(o);
    assert_int_equal(o->price_state, PRICE_KNOWN);
    assert_string_equal(money_format(o->price_per_hour, buf), price);
    assert_string_equal(o->gpu, gpu);
    assert_int_equal(o->gpu_num, count);
    if (fabs(o->gpu_memory_gib - memory) > 1e-6) {
        fail_msg("%s: %g GiB a GPU, expected %g", o->instance_type, o->gpu_memory_gib, memory);
    }
}

static void trap_55_lambda(void **s)
{
    (void)s;
    if (!parse_shared("lambda", "samples/lambda/instance-types.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 22);
    check(find("any", "gpu_1x_a10", PURCHASE_ON_DEMAND), "1.29", "A10", 1, 24);
    check(find("any", "gpu_8x_b200_sxm6", PURCHASE_ON_DEMAND), "53.52", "B200", 8, 180);
    check(find("any", "gpu_8x_a100_80gb_sxm4", PURCHASE_ON_DEMAND), "22.32", "A100-80GB SXM4", 8,
          80);
    check(find("any", "gpu_1x_rtx6000", PURCHASE_ON_DEMAND), "0.69", "Quadro RTX 6000", 1, 24);
    const struct offer_row *o = find("any", "gpu_1x_gh200", PURCHASE_ON_DEMAND);
    check(o, "2.29", "GH200", 1, 96);
    assert_true(o->vcpus == 64 && o->memory_gib == 432);
    assert_int_equal(st.n_spot, 0); /* the sample holds no lists of regions */
}

#define LAMBDA_TYPE(name, gpu, cents, regions)                                                     \
    "\"" name "\":{\"instance_type\":{\"name\":\"" name "\",\"gpu_description\":\"" gpu            \
    "\",\"price_cents_per_hour\":" cents ",\"specs\":{\"gpus\":1,\"vcpus\":30,\"memory_gib\":200}" \
    "},\"regions_with_capacity_available\":" regions "}"

static void lambda_capacity(void **s)
{
    (void)s;
    static const char text[] = "{\"data\":{" LAMBDA_TYPE(
        "a", "A10 (24 GB PCIe)", "75",
        "[{\"name\":\"us-east-1\",\"description\":\"x\"},{\"name\":"
        "\"us-west-1\"}]") "," LAMBDA_TYPE("b", "Z9000 (333 GB)", "150",
                                           "[]") "," LAMBDA_TYPE("c", "A10 (24 GB PCIe)", "0",
                                                                 "[{\"name\":\"us-west-1\"}]") "}}";
    for (size_t step = 1; step < 600; step += 41) {
        assert_int_equal(parse("lambda", text, sizeof text - 1, step), 0);
    }
    assert_int_equal(st.n_offer, 4);
    check(find("us-east-1", "a", PURCHASE_ON_DEMAND), "0.75", "A10", 1, 24);
    check(find("us-west-1", "a", PURCHASE_ON_DEMAND), "0.75", "A10", 1, 24);
    const struct offer_row *o = find("any", "b", PURCHASE_ON_DEMAND); /* sold out, price valid */
    check(o, "1.5", "Z9000 (333 GB)", 1, 333); /* an unknown GPU keeps its name */
    assert_non_null(strstr(o->note, "no region"));
    assert_int_equal(find("us-west-1", "c", PURCHASE_ON_DEMAND)->price_state, PRICE_NONE);
    static const int32_t free[] = {1, 1, 0, 0, 0, 1};
    assert_int_equal(st.n_spot, 6); /* three types in two regions */
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(st.spot[i].available, free[i]);
        assert_true(st.spot[i].price < 0);
        assert_string_equal(st.spot[i].region, i % 2 ? "us-west-1" : "us-east-1");
    }
}

static void trap_52_runpod(void **s)
{
    (void)s;
    if (!parse_shared("runpod", "samples/runpod/gpuTypes.data.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 778);
    check(find("secure", "8x NVIDIA A100-SXM4-80GB", PURCHASE_ON_DEMAND), "13.92", "A100-80GB SXM4",
          8, 80);
    check(find("secure", "8x NVIDIA A100-SXM4-80GB", PURCHASE_SPOT), "7.6", "A100-80GB SXM4", 8,
          80);
    check(find("community", "1x NVIDIA H100 NVL", PURCHASE_SPOT), "1.4", "H100 NVL", 1, 94);
    check(find("secure", "3x AMD Instinct MI300X OAM", PURCHASE_ON_DEMAND), "7.47", "MI300X", 3,
          192);
    check(find("community", "1x Tesla V100-SXM2-16GB", PURCHASE_ON_DEMAND), "0.23",
          "V100-16GB SXM2", 1, 16);
    check(
        find("secure", "1x NVIDIA RTX PRO 6000 Blackwell Workstation Edition", PURCHASE_ON_DEMAND),
        "1.79", "RTX PRO 6000", 1, 96);
    /* 52: prices of a cloud whose flag is false are stale */
    assert_null(find("community", "1x NVIDIA B200", PURCHASE_ON_DEMAND));
    assert_null(find("secure", "1x NVIDIA A30", PURCHASE_ON_DEMAND));
    assert_null(find("secure", "1x NVIDIA A30", PURCHASE_SPOT));
    for (size_t i = 0; i < st.n_offer; i++) {
        assert_null(strstr(st.offer[i].instance_type, "unknown"));
    }
    assert_null(find("secure", "5x NVIDIA A30", PURCHASE_ON_DEMAND));
}

static void trap_51_spot_of_no_use(void **s)
{
    (void)s;
    static const char form[] =
        "{\"data\":{\"gpuTypes\":[{\"id\":\"X1\",\"displayName\":\"X1\",\"memoryInGb\":10,"
        "\"maxGpuCount\":1,\"secureCloud\":true,\"communityCloud\":false,\"securePrice\":%s,"
        "\"secureSpotPrice\":%s}]}}";
    static const struct {
        const char *price, *spot;
        size_t rows;
    } cases[] = {{"1.5", "0.5", 2},  {"1.5", "1.5", 1}, {"1.5", "2", 1},  {"1.5", "0", 1},
                 {"1.5", "null", 1}, {"0", "0.5", 2},   {"-1", "0.5", 0}, {"1", "\"x\"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, form, cases[i].price, cases[i].spot);
        assert_int_equal(parse_text("runpod", text), cases[i].rows > 0 ? 0 : GT_EPARSE);
        assert_int_equal(st.n_offer, cases[i].rows);
    }
    assert_int_equal(parse_text("runpod", "{\"errors\":[{\"message\":\"no access\"}]}"), GT_EHTTP);
    assert_non_null(strstr(err.text, "no access"));
}

/* Cut anywhere, emptied, or of another vendor: refused, never an empty list. */
static void cut_lists(void **s)
{
    (void)s;
    static const char *const files[][2] = {
        {"lambda", "samples/lambda/instance-types.json"},
        {"runpod", "samples/runpod/gpuTypes.data.json"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t n;
        char *t = fake_shared(files[i][1], &n);
        if (!t) {
            skip();
        }
        while (n > 0 && (t[n - 1] == '\n' || t[n - 1] == ' ')) {
            n--;
        }
        for (size_t cut = 0; cut < n; cut += n / 50 + 1) {
            assert_int_equal(parse(files[i][0], t, cut, 997), GT_EPARSE);
        }
        assert_int_equal(parse(files[i][0], t, n - 1, 997), GT_EPARSE);
        free(t);
        static const char *const empty[] = {"",     "[]", "{}",     "{\"data\":{}}",
                                            "null", "7",  "{\"a\":"};
        for (size_t k = 0; k < sizeof empty / sizeof *empty; k++) {
            assert_int_equal(parse_text(files[i][0], empty[k]), GT_EPARSE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_55_lambda), cmocka_unit_test(lambda_capacity),
        cmocka_unit_test(trap_52_runpod), cmocka_unit_test(trap_51_spot_of_no_use),
        cmocka_unit_test(cut_lists),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
