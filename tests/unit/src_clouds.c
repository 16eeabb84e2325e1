/* GPU clouds' lists: right rows from the shared samples (counts and rows), the traps of
 * docs/pricing-sources.md section 10 by their numbers, refusals, no row from a fault. */
#include "cloud_rows.h"

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
    assert_true(fabs(o->local_nvme_gb - 4096 * 1.073741824) < 1e-6); /* storage_gib */
    assert_int_equal(st.n_spot, 0); /* the sample holds no lists of regions */
}

#define LAMBDA_TYPE(name, gpu, cents, regions)                                                     \
    "\"" name "\":{\"instance_type\":{\"name\":\"" name "\",\"gpu_description\":\"" gpu            \
    "\",\"price_cents_per_hour\":" cents ",\"specs\":{\"gpus\":1,\"vcpus\":30,\"memory_gib\":200}" \
    "},\"regions_with_capacity_available\":" regions "}"

static void lambda_capacity(void **s)
{
    (void)s;
    /* clang-format off */
    static const char text[] = "{\"data\":{"
        LAMBDA_TYPE("a", "A10 (24 GB PCIe)", "75",
                    "[{\"name\":\"us-east-1\",\"description\":\"x\"},{\"name\":\"us-west-1\"}]") ","
        LAMBDA_TYPE("b", "Z9000 (333 GB)", "150", "[]") ","
        LAMBDA_TYPE("c", "A10 (24 GB PCIe)", "0", "[{\"name\":\"us-west-1\"}]") "}}";
    /* clang-format on */
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
        "1.79", "RTX PRO 6000 WS", 1, 96);
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

static void trap_54_vast(void **s)
{
    (void)s;
    if (!parse_shared("vast", "samples/vast/search-offers.raw.2024-08.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 2);
    /* dph_base, not dph_total; digits behind 10^-12 are rounded half to even */
    const struct offer_row *o = find("cn", "11684738", PURCHASE_ON_DEMAND);
    check(o, "0.246666666667", "RTX 4090", 1, 24);
    check(find("cn", "11684738", PURCHASE_SPOT), "0.2", "RTX 4090", 1, 24);
    assert_true(fabs(o->memory_gib - 64393.0 / 1024 / 4) < 1e-9); /* 24 of 96 cores */
    assert_true(o->vcpus == 24);
    assert_int_equal(o->valid_from, 1722348655);
    assert_int_equal(o->valid_to, 1735707781);
    assert_string_equal(o->sku, "11684738");
}

static void vast_odd_offers(void **s)
{
    (void)s;
    static const char text[] =
        "{\"offers\":[{\"id\":1,\"num_gpus\":2,\"gpu_name\":\"A100 SXM4\",\"gpu_ram\":81920,"
        "\"dph_base\":2,\"min_bid\":null,\"geolocation\":\", CA\",\"cpu_cores_effective\":null,"
        "\"cpu_ram\":1000,\"cpu_cores\":null},"
        "{\"id\":2,\"num_gpus\":1,\"gpu_name\":\"A100 SXM4\",\"gpu_ram\":40960,\"dph_base\":1,"
        "\"min_bid\":0.5,\"geolocation\":null},"
        "{\"id\":3,\"num_gpus\":1,\"gpu_name\":\"B200\",\"gpu_ram\":183359,\"dph_base\":3,"
        "\"geolocation\":\"Texas, US\"},"
        "{\"id\":4,\"num_gpus\":1,\"gpu_name\":\"B200\",\"gpu_ram\":183359,\"dph_base\":3,"
        "\"rented\":true},"
        "{\"id\":5,\"num_gpus\":1,\"gpu_name\":\"B200\",\"gpu_ram\":1,\"dph_base\":3,"
        "\"start_date\":9,\"end_date\":3}]}";
    assert_int_equal(parse_text("vast", text), 0);
    assert_int_equal(st.n_offer, 4);
    check(find("ca", "1", PURCHASE_ON_DEMAND), "2", "A100-80GB SXM4", 2, 80);
    assert_true(find("ca", "1", PURCHASE_ON_DEMAND)->memory_gib < 0);
    check(find("any", "2", PURCHASE_SPOT), "0.5", "A100-40GB SXM4", 1, 40);
    check(find("us", "3", PURCHASE_ON_DEMAND), "3", "B200", 1, 180); /* 183,359 MB of 180 GB */
    assert_int_equal(ctx.skipped, 2);
}

static money storage_rate(const char *tier, const char *component, int64_t from, money *to)
{
    for (size_t i = 0; i < st.n_storage; i++) {
        const struct storage_rate_row *r = &st.storage[i];
        if (strcmp(r->region, "us-ashburn-1") == 0 && strcmp(r->tier, tier) == 0 &&
            strcmp(r->component, component) == 0 && r->from_qty == from * MONEY_SCALE) {
            *to = r->to_qty;
            return r->rate;
        }
    }
    fail_msg("no rate of %s %s from %lld", tier, component, (long long)from);
    return -1;
}

static void trap_58_oci(void **s)
{
    (void)s;
    char buf[MONEY_TEXT];
    money to;
    if (!parse_shared("oci", "samples/oci/cetools-products.usd.trimmed.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 41 * 16);   /* 12 shapes, 4 of them preemptible, 41 regions */
    assert_int_equal(st.n_storage, 41 * 16); /* 9 rates, 7 of them behind a free bracket */
    assert_int_equal(st.n_transfer, 41 * 2);
    check(find("ap-tokyo-1", "BM.GPU.A100-v2.8", PURCHASE_ON_DEMAND), "32", "A100-80GB SXM4", 8,
          80);
    check(find("us-ashburn-1", "VM.GPU3.4", PURCHASE_SPOT), "5.9", "V100-16GB SXM2", 4, 16);
    assert_string_equal(money_format(storage_rate("oci_standard", "storage", 10, &to), buf),
                        "0.0255");
    assert_true(to < 0); /* trap 18: 999999999 is no end */
    assert_true(storage_rate("oci_standard", "storage", 0, &to) == 0);
    assert_true(to == 10 * MONEY_SCALE);
    assert_string_equal(money_format(storage_rate("oci_standard", "put", 50000, &to), buf),
                        "0.0034");
    for (size_t i = 0; i < st.n_transfer; i++) {
        const struct transfer_rate_row *t = &st.transfer[i];
        if (strcmp(t->from, "me-jeddah-1") == 0 && t->from_gb > 0) {
            assert_string_equal(money_format(t->rate, buf), "0.05");
            assert_true(t->from_gb == 10240 * MONEY_SCALE && t->to_gb < 0);
        }
    }
}

/* Shapes and products in one stream; a free first bracket is no price of a machine. */
static void oci_shapes(void **s)
{
    (void)s;
    size_t n[2];
    char *shapes = fake_shared("samples/oci/cloudestimator-shapes.excerpt.json", &n[0]);
    char *products = fake_shared("samples/oci/cetools-products.usd.trimmed.json", &n[1]);
    if (!shapes || !products) {
        skip();
    }
    char *both = malloc(n[0] + n[1]);
    memcpy(both, shapes, n[0]);
    memcpy(both + n[0], products, n[1]);
    assert_int_equal(parse("oci", both, n[0] + n[1], 4096), 0);
    const struct offer_row *o = find("uk-london-1", "BM.DenseIO.E5.128", PURCHASE_ON_DEMAND);
    check(o, "11.90592", "", 0, -1); /* 128 x 0.03 + 1536 x 0.002 + 81.6 x 0.0612 */
    assert_true(o->vcpus == 256 && o->memory_gib == 1536 && o->local_nvme_gb == 81600);
    check(find("uk-london-1", "BM.Standard.E4.128", PURCHASE_ON_DEMAND), "6.272", "", 0, -1);
    assert_int_equal(parse("oci", shapes, n[0], 4096), GT_EPARSE); /* no prices */
    free(both);
    free(shapes);
    free(products);
    static const char arm[] =
        "{\"items\":[{\"name\":\"BM.Standard.A1.160\",\"allowPreemptible\":true,"
        "\"processorType\":{\"value\":\"arm\"},\"products\":[{\"partNumber\":\"B1\",\"qty\":160,"
        "\"type\":{\"value\":\"ocpu\"}}]},"
        "{\"name\":\"BM.GPU.A10.9\",\"processorType\":{\"value\":\"arm\"},\"gpuQty\":2,"
        "\"gpuMemoryQty\":48,\"products\":[{\"partNumber\":\"B2\",\"qty\":2,\"type\":{\"value\":"
        "\"gpu\"}},{\"partNumber\":\"B1\",\"qty\":0.5,\"type\":{\"value\":\"ocpu\"}}]}]}"
        "{\"items\":[{\"partNumber\":\"B1\",\"displayName\":\"A1\",\"currencyCodeLocalizations\":"
        "[{\"currencyCode\":\"USD\",\"prices\":[{\"model\":\"PAY_AS_YOU_GO\",\"value\":0,"
        "\"rangeMin\":0,\"rangeMax\":3000},{\"model\":\"PAY_AS_YOU_GO\",\"value\":0.01,"
        "\"rangeMin\":3000,\"rangeMax\":999999999999999}]}]},{\"partNumber\":\"B2\","
        "\"currencyCodeLocalizations\":[{\"currencyCode\":\"USD\",\"prices\":[{\"model\":"
        "\"PAY_AS_YOU_GO\",\"value\":2.5}]}]}],\"lastUpdated\":\"2026-09-01T00:00:00Z\"}";
    assert_int_equal(parse_text("oci", arm), 0);
    o = find("us-ashburn-1", "BM.Standard.A1.160", PURCHASE_ON_DEMAND);
    check(o, "1.6", "", 0, -1);
    assert_true(o->vcpus == 160);
    check(find("us-ashburn-1", "BM.Standard.A1.160", PURCHASE_SPOT), "0.8", "", 0, -1);
    o = find("us-ashburn-1", "BM.GPU.A10.9", PURCHASE_ON_DEMAND);
    check(o, "5.005", "A10", 2, 24);
    assert_true(o->vcpus == 1); /* flagged ARM by mistake */
    assert_int_equal(o->as_of, 1788220800);
}

#define SKU(id, text, usage, regions, unit, money)                                                 \
    "{\"skuId\":\"" id "\",\"description\":\"" text "\",\"category\":{\"usageType\":\"" usage      \
    "\"},\"serviceRegions\":[" regions                                                             \
    "],\"pricingInfo\":[{\"pricingExpression\":{\"usageUnit\":\"" unit                             \
    "\",\"tieredRates\":[{\"startUsageAmount\":0,\"unitPrice\":{" money "}}]}}]}"
#define IOWA      "\"us-central1\""
#define USD(rest) "\"currencyCode\":\"USD\"" rest

static void trap_42_45_gcp_sample(void **s)
{
    (void)s;
    if (!parse_shared("gcp-skus", "samples/gcp/skus.compute-engine.a2-usd-and-idr.json")) {
        skip();
    }
    /* 12 x 0.031611 + 85 x 0.004237 + 2.933908; the cores in IDR belong to other machines */
    assert_int_equal(st.n_offer, 3 * 5);
    check(find("us-central1", "a2-highgpu-1g", PURCHASE_ON_DEMAND), "3.673385", "A100-40GB SXM4", 1,
          40);
    check(find("us-west1", "a2-megagpu-16g", PURCHASE_ON_DEMAND), "55.739504", "A100-40GB SXM4", 16,
          40);
    assert_string_equal(find("us-east1", "a2-highgpu-8g", PURCHASE_ON_DEMAND)->currency, "USD");
    assert_non_null(
        strstr(find("us-east1", "a2-highgpu-8g", PURCHASE_ON_DEMAND)->note, "added up"));
}

/* A recording of GPU SKUs alone: every price is kept, none passes for a machine's. */
static void trap_43_gcp_gpus_alone(void **s)
{
    (void)s;
    char buf[MONEY_TEXT];
    if (!parse_shared("gcp-skus", "samples/gcp/skus.gpu.2025-06.trimmed.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 53);
    for (size_t i = 0; i < st.n_offer; i++) {
        assert_int_equal(st.offer[i].price_state, PRICE_SOLD_OTHERWISE);
        assert_true(st.offer[i].price_per_hour > 0);
    }
    const struct offer_row *o = find("Americas", "Tesla T4", PURCHASE_SPOT);
    assert_string_equal(money_format(o->price_per_hour, buf), "0.14");
    assert_string_equal(o->gpu, "T4");
    o = find("Americas", "H200 141GB", PURCHASE_ON_DEMAND);
    assert_string_equal(money_format(o->price_per_hour, buf), "9.31174");
    assert_string_equal(o->gpu, "H200 SXM");
    o = find("Americas", "Tesla A100", PURCHASE_COMMITTED_USE_3Y);
    assert_string_equal(money_format(o->price_per_hour, buf), "1.0268678");
    assert_null(find("Milan", "Tesla A100", PURCHASE_ON_DEMAND)); /* reserved, and at zero */
}

static void trap_41_44_46_64_gcp(void **s)
{
    (void)s;
    /* units as text or absent, nanos absent; a spot SKU marked OnDemand; another unit; zero */
    /* clang-format off */
    static const char text[] = "{\"skus\":["
        SKU("1", "G2 Instance Core running in Iowa", "OnDemand", IOWA, "h", USD(",\"units\":\"1\"")) ","
        SKU("2", "G2 Instance Ram running in Iowa", "OnDemand", IOWA, "GiBy.h", USD(",\"nanos\":500000000"))
        "],\"nextPageToken\":\"a/b=\"}\n{\"skus\":["
        SKU("3", "Nvidia L4 GPU running in Iowa", "OnDemand", IOWA ",\"us-east1\"", "h",
            USD(",\"units\":\"2\",\"nanos\":1")) ","
        SKU("4", "Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa", "OnDemand", IOWA, "h",
            USD(",\"units\":\"0\",\"nanos\":7")) ","
        SKU("5", "Spot Preemptible G2 Instance Core running in Iowa", "Preemptible", IOWA, "h",
            USD(",\"nanos\":1")) ","
        SKU("6", "Spot Preemptible G2 Instance Ram running in Iowa", "Preemptible", IOWA, "MiBy.h",
            USD(",\"nanos\":1")) ","
        SKU("7", "Nvidia L9 GPU running in Iowa", "OnDemand", IOWA, "h", USD("")) ","
        SKU("8", "Nvidia L8 GPU running in Iowa", "OnDemand", IOWA, "h", USD(",\"units\":\"3\"")) "]}";
    /* clang-format on */
    for (size_t step = 1; step < 999; step += 77) {
        assert_int_equal(parse("gcp-skus", text, sizeof text - 1, step), 0);
    }
    check(find("us-central1", "g2-standard-4", PURCHASE_ON_DEMAND), "14.000000001", "L4", 1, 24);
    assert_null(find("us-central1", "g2-standard-4", PURCHASE_SPOT)); /* its memory has no price */
    assert_null(find("us-east1", "g2-standard-4", PURCHASE_ON_DEMAND));
    const struct offer_row *o = find("us-central1", "L8", PURCHASE_ON_DEMAND);
    assert_int_equal(o->price_state, PRICE_SOLD_OTHERWISE);
    assert_string_equal(o->gpu, "L8"); /* unknown models are kept */
    assert_null(find("us-central1", "L9", PURCHASE_ON_DEMAND));
    o = find("us-central1", "L4", PURCHASE_SPOT);
    assert_true(o->price_per_hour == 7000);
    assert_string_equal(ctx.next, "a/b="); /* of the last page that names one */
    assert_int_equal(ctx.skipped, 2);
    /* 46: a wrong service id answers an empty list */
    assert_int_equal(parse_text("gcp-skus", "{\"skus\":[],\"nextPageToken\":\"\"}"), GT_EPARSE);
    assert_int_equal(parse_text("gcp-skus", "{\"error\":{\"code\":400,\"message\":\"API key\"}}"),
                     GT_EHTTP);
}

static void gcp_tiers(void **s)
{
    (void)s;
    char buf[MONEY_TEXT];
    if (!parse_shared("gcp-skus", "samples/gcp/skus.tiered-egress.json")) {
        skip();
    }
    static const char *const rate[] = {"0.12", "0.11", "0.08"};
    static const int64_t from[] = {0, 1024, 10240};
    assert_int_equal(st.n_transfer, 9); /* three brackets in three regions */
    for (size_t i = 0; i < 9; i++) {
        const struct transfer_rate_row *t = &st.transfer[i];
        assert_string_equal(money_format(t->rate, buf), rate[i / 3]);
        assert_true(t->from_gb == from[i / 3] * MONEY_SCALE);
        assert_true(i / 3 == 2 ? t->to_gb < 0 : t->to_gb == from[i / 3 + 1] * MONEY_SCALE);
        assert_string_equal(t->to, "vpn to Africa");
        assert_true(t->gb_bytes == 1ULL << 30);
    }
    static const char storage[] =
        "{\"skus\":[{\"skuId\":\"S\",\"description\":\"Coldline Storage Iowa\",\"category\":{"
        "\"resourceGroup\":\"ColdlineStorage\"},\"serviceRegions\":[\"us-central1\"],"
        "\"pricingInfo\":[{\"pricingExpression\":{\"usageUnit\":\"GiBy.mo\",\"tieredRates\":[{"
        "\"startUsageAmount\":0,\"unitPrice\":{" USD(
            ",\"nanos\":4000000") "}}]}}]},"
                                  "{\"skuId\":\"E\",\"description\":\"Coldline Storage Iowa (Early "
                                  "Delete)\",\"category\":{"
                                  "\"resourceGroup\":\"ColdlineStorage\"},\"serviceRegions\":[\"us-"
                                  "central1\"],"
                                  "\"pricingInfo\":[{\"pricingExpression\":{\"usageUnit\":\"GiBy."
                                  "mo\",\"tieredRates\":[{"
                                  "\"startUsageAmount\":0,\"unitPrice\":{" USD(
                                      ",\"nanos\":9") "}}]}}]},"
                                                      "{\"skuId\":\"A\",\"description\":\"Coldline "
                                                      "Class A Operations\",\"category\":{"
                                                      "\"resourceGroup\":\"ColdlineOps\"},"
                                                      "\"serviceRegions\":[\"us-central1\"],"
                                                      "\"pricingInfo\":[{\"pricingExpression\":{"
                                                      "\"usageUnit\":\"count\",\"tieredRates\":[{"
                                                      "\"startUsageAmount\":0,\"unitPrice\":{" USD(
                                                          ",\"nanos\":0") "}},{"
                                                                          "\"startUsageAmount\":"
                                                                          "5000,\"unitPrice\":"
                                                                          "{" USD(",\"nanos\":"
                                                                                  "20000") "}}]}}]}"
                                                                                           "]}";
    assert_int_equal(parse_text("gcp-skus", storage), 0);
    assert_int_equal(st.n_storage, 5);
    assert_string_equal(st.storage[0].tier, "gcs_coldline");
    assert_string_equal(money_format(st.storage[0].rate, buf), "0.004");
    assert_string_equal(st.storage[2].component, "put");
    assert_true(st.storage[2].from_qty == 5000 * MONEY_SCALE && st.storage[1].rate == 0);
    assert_string_equal(money_format(st.storage[2].rate, buf), "0.00002");
    assert_string_equal(st.storage[4].component, "list");
}

#define SKU_OF(text, unit)                                                                         \
    "{\"skuId\":\"S\",\"description\":\"" text "\",\"category\":{\"usageType\":\"OnDemand\"},"     \
    "\"serviceRegions\":[\"us-central1\"],\"pricingInfo\":[{\"pricingExpression\":{\"usageUnit\":" \
    "\"" unit                                                                                      \
    "\",\"tieredRates\":[{\"unitPrice\":{\"currencyCode\":\"USD\",\"nanos\":160000000}}]"          \
    "}}]}"

static void gcp_filestore_and_hyperdisk(void **s)
{
    (void)s;
    char buf[MONEY_TEXT];
    /* clang-format off */
    static const char text[] = "{\"skus\":["
        SKU_OF("Filestore Capacity Basic HDD (Standard) Iowa", "GiBy.mo") ","
        SKU_OF("Filestore Capacity Zonal Iowa", "GiBy.mo") ","
        SKU_OF("Filestore Capacity Zonalish Iowa", "GiBy.mo") ","
        SKU_OF("Hyperdisk ML Capacity in Iowa", "GiBy.mo") ","
        SKU_OF("Nvidia  GPU running in Iowa", "h") "]}"; /* a GPU without a name */
    /* clang-format on */
    assert_int_equal(parse_text("gcp-skus", text), 0);
    static const char *const tiers[] = {"gcp_filestore_basic_hdd", "gcp_filestore_zonal",
                                        "gcp_hyperdisk_ml"};
    assert_int_equal(st.n_storage, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(st.storage[i].tier, tiers[i]);
        assert_string_equal(money_format(st.storage[i].rate, buf), "0.16");
    }
    assert_int_equal(st.n_offer, 0);
}

static void trap_56_total_memory(void **s)
{
    (void)s;
    if (!parse_shared("digitalocean", "samples/digitalocean/sizes.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 10);
    const struct offer_row *o = find("nyc1", "gpu-mi300x8-1536gb", PURCHASE_ON_DEMAND);
    check(o, "15.92", "MI300X", 8, 192);
    assert_true(o->vcpus == 160 && o->memory_gib == 1920);
    assert_true(fabs(o->local_nvme_gb - 43980.46511104) < 1e-6);
    o = find("nyc1", "gpu-h100x8-640gb", PURCHASE_ON_DEMAND);
    check(o, "23.92", "H100", 8, 80); /* PCIe or SXM is not said: the word stays open */
    check(find("fra1", "s-1vcpu-512mb-10gb", PURCHASE_ON_DEMAND), "0.00595", "", 0, -1);
    static const char none[] = "{\"sizes\":[{\"slug\":\"a\",\"memory\":1024,\"vcpus\":1,"
                               "\"price_hourly\":0.5,\"regions\":[]}],\"links\":{\"pages\":{"
                               "\"next\":\"https://x/?page=2\"}}}";
    assert_int_equal(parse_text("digitalocean", none), 0);
    assert_non_null(strstr(find("any", "a", PURCHASE_ON_DEMAND)->note, "no region"));
    assert_string_equal(ctx.next, "more");
}

static void vultr(void **s)
{
    (void)s;
    if (!parse_shared("vultr", "samples/vultr/plans.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 3);
    const struct offer_row *o = find("ewr", "vcg-a100-1c-6g-4vram", PURCHASE_ON_DEMAND);
    check(o, "0.123", "A100-80GB", 1, 4); /* a slice, with the memory of the slice */
    assert_int_equal(o->gpu_den, 20);
    o = find("ewr", "vcg-a100-6c-60g-40vram", PURCHASE_ON_DEMAND);
    assert_true(o->gpu_num == 1 && o->gpu_den == 2 && o->vcpus == 12);
    o = find("ewr", "vcg-a100-12c-120g-80vram", PURCHASE_ON_DEMAND);
    check(o, "2.397", "A100-80GB", 1, 80);
    assert_int_equal(o->gpu_den, 1);
    parse_shared("vultr", "samples/vultr/plans-metal.json");
    assert_int_equal(st.n_offer, 4);
    o = find("ord", "vbm-256c-2048gb-8-mi300x-gpu", PURCHASE_ON_DEMAND);
    check(o, "17.52", "MI300X", 8, 192);
    assert_true(o->vcpus == 256);
    check(find("sea", "vbm-112c-2048gb-8-h100-gpu", PURCHASE_SPOT), "18.4", "H100", 8, -1);
    static const char pair[] = "{\"plans\":[{\"id\":\"p\",\"ram\":1024,\"hourly_cost\":1,"
                               "\"locations\":[\"x\"],\"gpu_vram_gb\":96,\"gpu_type\":"
                               "\"NVIDIA_L40S\"}],\"meta\":{\"links\":{\"next\":\"bmV4dA==\"}}}";
    assert_int_equal(parse_text("vultr", pair), 0);
    check(find("x", "p", PURCHASE_ON_DEMAND), "1", "L40S", 2, 48);
    assert_string_equal(ctx.next, "bmV4dA==");
}

static void trap_57_verda(void **s)
{
    (void)s;
    size_t n[2];
    if (!parse_shared("verda", "samples/verda/instance-types.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 8);
    check(find("any", "1H100.80S.30V", PURCHASE_SPOT), "1.7", "H100 SXM", 1, 80);
    check(find("any", "2A6000.20V", PURCHASE_ON_DEMAND), "1.98", "RTX A6000", 2, 48);
    check(find("any", "CPU.120V.480G", PURCHASE_ON_DEMAND), "3", "", 0, -1);
    char *places = fake_shared("samples/verda/instance-availability.json", &n[0]);
    char *types = fake_shared("samples/verda/instance-types.json", &n[1]);
    char *both = malloc(n[0] + n[1]);
    memcpy(both, places, n[0]);
    memcpy(both + n[0], types, n[1]);
    assert_int_equal(parse("verda", both, n[0] + n[1], 100), 0);
    assert_int_equal(st.n_offer, 8);
    check(find("FIN-01", "1V100.6V", PURCHASE_ON_DEMAND), "0.89", "V100-16GB", 1, 16);
    check(find("ICE-01", "CPU.120V.480G", PURCHASE_SPOT), "1.5", "", 0, -1);
    assert_null(find("FIN-01", "CPU.120V.480G", PURCHASE_SPOT));
    assert_non_null(strstr(find("any", "1H100.80S.30V", PURCHASE_SPOT)->note, "no region"));
    assert_int_equal(st.n_spot, 8); /* four types in two places */
    size_t free_places = 0;
    for (size_t i = 0; i < st.n_spot; i++) {
        free_places += st.spot[i].available == 1;
    }
    assert_int_equal(free_places, 3);
    free(both);
    free(places);
    free(types);
}

static void trap_67_jarvislabs(void **s)
{
    (void)s;
    if (!parse_shared("jarvislabs", "samples/jarvislabs/server-meta.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 16 + 16 + 8 + 16 + 8 + 1 + 1);
    check(find("india-noida-01", "4x A100-80GB vm", PURCHASE_SPOT), "3.56", "A100-80GB", 4, 80);
    check(find("india-chennai-01", "2x RTX-PRO6000 vm", PURCHASE_ON_DEMAND), "3.78", "RTX PRO 6000",
          2, 96);
    check(find("india-noida-01", "1x RTX PRO 6000 vm", PURCHASE_ON_DEMAND), "1.89", "RTX PRO 6000",
          1, 96);
    assert_null(find("india-noida-01", "1x RTX PRO 6000 vm", PURCHASE_SPOT));
    const struct offer_row *o = find("india-noida-01", "3x L4 container", PURCHASE_ON_DEMAND);
    check(o, "1.32", "L4", 3, 24);
    assert_true(o->vcpus == 84 && o->memory_gib == 372);
    assert_non_null(find("unknown-region", "1x H100 vm", PURCHASE_ON_DEMAND)); /* kept */
    for (size_t i = 0; i < st.n_spot; i++) { /* 2 spare L4: one pair, no three */
        if (strncmp(st.spot[i].instance_type, "2x L4", 5) == 0) {
            assert_int_equal(st.spot[i].available, 1);
        } else if (strncmp(st.spot[i].instance_type, "3x L4", 5) == 0) {
            assert_int_equal(st.spot[i].available, 0);
        }
    }
}

static void price_books(void **s)
{
    (void)s;
    if (!parse_shared("fluidstack",
                      "samples/fluidstack/list-available-configurations.response.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 9);
    check(find("canada_1_ca", "8x H100_PCIE_80GB", PURCHASE_ON_DEMAND), "23.12", "H100 PCIe", 8,
          80);
    check(find("any", "1x RTX_A4000_16GB", PURCHASE_ON_DEMAND), "0.4", "RTX A4000", 1, 16);
    parse_shared("hyperstack", "samples/hyperstack/pricebook.response.json");
    assert_int_equal(st.n_offer, 2);
    check(find("any", "H100-80G-SXM5", PURCHASE_ON_DEMAND), "3.2", "H100 SXM", 1, 80);
    check(find("any", "RTX-A4000", PURCHASE_ON_DEMAND), "0.58", "RTX A4000", 1, 16);
    assert_int_equal(ctx.skipped, 1); /* vCPU at 0 */
    parse_shared("cudo", "samples/cudo/machine-types.response.json");
    assert_int_equal(st.n_offer, 5);
    /* 0.25 + 8 x 0.0020 + 32 x 0.0038, for each GPU */
    const struct offer_row *o =
        find("gb-bournemouth-1", "intel-broadwell-gpu 2x16vcpu-64gib", PURCHASE_ON_DEMAND);
    check(o, "0.7752", "RTX A4000", 2, 16);
    assert_true(o->vcpus == 16 && o->memory_gib == 64);
}

static void gpuhunt(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/gpuhunt-layout/lambdalabs.v2-layout.csv", &n);
    if (!t) {
        skip();
    }
    fake_clear(&st);
    memset(&ctx, 0, sizeof ctx);
    assert_true(source_recognises(source_find("gpuhunt"), t, n, "x"));
    assert_int_equal(
        fake_parse(source_find("gpuhunt"), &st, "x/lambdalabs.v2-layout.csv", t, n, 11, &ctx, &err),
        0);
    free(t);
    assert_int_equal(st.n_offer, 4);
    const struct offer_row *o = find("us-west-1", "gpu_8x_h100_sxm5", PURCHASE_ON_DEMAND);
    check(o, "23.92", "H100 SXM", 8, 80);
    assert_true(o->memory_gib == 1800 && o->vcpus == 208); /* 1933 there: GiB x 1.074 */
    check(find("us-east-1", "gpu_1x_a10", PURCHASE_SPOT), "0.75", "A10", 1, 24);
    check(find("us-east-1", "cpu_4x_general", PURCHASE_ON_DEMAND), "0.05", "", 0, -1);
    assert_string_equal(ctx.scope, "lambda");
    assert_string_equal(o->vendor, "lambda");
}

/* Cut anywhere, emptied, or of another vendor: refused, never an empty list. */
static void cut_lists(void **s)
{
    (void)s;
    static const char *const files[][2] = {
        {"lambda", "samples/lambda/instance-types.json"},
        {"runpod", "samples/runpod/gpuTypes.data.json"},
        {"vast", "samples/vast/search-offers.raw.2024-08.json"},
        {"oci", "samples/oci/cetools-products.usd.trimmed.json"},
        {"digitalocean", "samples/digitalocean/sizes.json"},
        {"vultr", "samples/vultr/plans.json"},
        {"verda", "samples/verda/instance-types.json"},
        {"jarvislabs", "samples/jarvislabs/server-meta.json"},
        {"fluidstack", "samples/fluidstack/list-available-configurations.response.json"},
        {"hyperstack", "samples/hyperstack/pricebook.response.json"},
        {"cudo", "samples/cudo/machine-types.response.json"},
        {"gcp-skus", "samples/gcp/skus.compute-engine.a2-usd-and-idr.json"},
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
        cmocka_unit_test(trap_55_lambda),
        cmocka_unit_test(lambda_capacity),
        cmocka_unit_test(trap_52_runpod),
        cmocka_unit_test(trap_51_spot_of_no_use),
        cmocka_unit_test(trap_54_vast),
        cmocka_unit_test(vast_odd_offers),
        cmocka_unit_test(trap_58_oci),
        cmocka_unit_test(oci_shapes),
        cmocka_unit_test(trap_42_45_gcp_sample),
        cmocka_unit_test(trap_43_gcp_gpus_alone),
        cmocka_unit_test(trap_41_44_46_64_gcp),
        cmocka_unit_test(gcp_tiers),
        cmocka_unit_test(gcp_filestore_and_hyperdisk),
        cmocka_unit_test(trap_56_total_memory),
        cmocka_unit_test(vultr),
        cmocka_unit_test(trap_57_verda),
        cmocka_unit_test(trap_67_jarvislabs),
        cmocka_unit_test(price_books),
        cmocka_unit_test(gpuhunt),
        cmocka_unit_test(cut_lists),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
