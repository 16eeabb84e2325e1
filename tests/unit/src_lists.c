/* People's lists, SkyPilot's catalogue and the spot advisor: right rows from the shared samples
 * (counts and rows as their README says), refusals with the line, no row from a fault. */
#include "../../pricing/sources/gpu_names.h"
#include "../../pricing/sources/source.h"
#include "fake_staging.h"
#include "unit.h"
#include <math.h>

static struct staging st;
static struct gt_error err;
static struct parse_context ctx;

static int parse(const char *id, const char *name, const char *text, size_t len, size_t step,
                 const char *vendor)
{
    fake_clear(&st);
    memset(&err, 0, sizeof err);
    memset(&ctx, 0, sizeof ctx);
    ctx.vendor = vendor;
    return fake_parse(source_find(id), &st, name, text, len, step, &ctx, &err);
}

static const struct offer_row *find(const char *region, const char *zone, const char *type,
                                    enum purchase p)
{
    const struct offer_row *found = NULL;
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (strcmp(o->region, region) == 0 && strcmp(o->zone, zone) == 0 &&
            strcmp(o->instance_type, type) == 0 && o->purchase == p) {
            assert_null(found);
            found = o;
        }
    }
    return found;
}

static void check_price(const struct offer_row *o, const char *price)
{
    char buf[MONEY_TEXT];
    assert_non_null(o);
    assert_int_equal(o->price_state, PRICE_KNOWN);
    assert_string_equal(money_format(o->price_per_hour, buf), price);
}

static void own_list(void **s)
{
    (void)s;
    static const char text[] =
        "price_per_hour,currency,vendor,region,instance_type,purchase,gpu,gpu_count,upfront,"
        "payment,valid_from\n"
        "2.50,USD,aliyun,cn-beijing,big.1,on_demand,A100-80GB SXM4,8,,,2026-01-02\n"
        ",CNY,lambda,us-east-1,\"gpu,1\",spot,A10,1/6,,,\n"
        "0.5,USD,aws,us-east-1,p4d.24xlarge,reserved_1y,A100-40GB SXM4,8,1000.25,partial,\n";
    for (size_t step = 1; step < 300; step += 37) {
        assert_int_equal(parse("prices-csv", "my.csv", text, sizeof text - 1, step, NULL), 0);
        assert_int_equal(st.n_offer, 3);
        assert_string_equal(st.offer[0].vendor, "alibaba");
        check_price(&st.offer[0], "2.5");
        assert_string_equal(st.offer[0].gpu, "A100-80GB SXM4");
        assert_int_equal(st.offer[0].gpu_num, 8);
        assert_true(st.offer[0].gpu_memory_gib > 79);
        assert_int_equal(st.offer[0].valid_from, 1767312000);
        assert_int_equal(st.offer[1].price_state, PRICE_NONE);
        assert_string_equal(st.offer[1].instance_type, "gpu,1");
        assert_int_equal(st.offer[1].gpu_den, 6);
        assert_int_equal(st.offer[2].purchase, PURCHASE_RESERVED_1Y);
        assert_int_equal(st.offer[2].payment, PAYMENT_PARTIAL);
        assert_true(st.offer[2].upfront == (money)100025 * (MONEY_SCALE / 100));
    }
}

static void own_list_refuses(void **s)
{
    (void)s;
    static const struct {
        const char *text, *where, *says;
    } cases[] = {
        {"", "x.csv", "empty file"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\n", "x.csv",
         "without a price"},
        {"vendor,region,purchase,price_per_hour,currency\naws,a,spot,1,USD\n", "x.csv:1",
         "'instance_type'"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,b,spot,-1,USD\n",
         "x.csv:2", "'-1'"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,b,spot,nan,USD\n",
         "x.csv:2", "'nan'"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,b,spot,1e300,USD\n",
         "x.csv:2", "'1e300'"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,b,spot,0,USD\n",
         "x.csv:2", "nothing is free"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,b,hire,1,USD\n",
         "x.csv:2", "'hire'"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,b,spot,1,usd\n",
         "x.csv:2", "ISO 4217"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,\x1b[31mb,spot,1,"
         "USD\n",
         "x.csv:2", "control"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\n\naws,a,b,spot,1,USD,9\n",
         "x.csv:3", "7 fields under a header of 6"},
        {"vendor,region,instance_type,purchase,price_per_hour,currency\naws,a,\"b,spot,1,USD\n",
         "x.csv:2:1", "never closed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = parse("prices-csv", "x.csv", cases[i].text, strlen(cases[i].text), 4096, NULL);
        assert_int_equal(rc, GT_EPARSE);
        assert_string_equal(err.where, cases[i].where);
        if (!strstr(err.text, cases[i].says)) {
            fail_msg("case %zu says: %s", i, err.text);
        }
    }
}

static void sky_azure(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/skypilot-layout/azure-vms.gpu.trimmed.csv", &n);
    if (!t) {
        skip();
    }
    assert_int_equal(parse("skypilot", "azure-vms.gpu.trimmed.csv", t, n, 1000, NULL), 0);
    size_t machines = 0;
    for (size_t i = 0; i < st.n_offer; i++) {
        machines += st.offer[i].purchase == PURCHASE_ON_DEMAND;
        assert_string_equal(st.offer[i].vendor, "azure");
        assert_non_null(st.offer[i].gpu);
    }
    assert_int_equal(machines, 139);
    const struct offer_row *o = find("eastus", "", "Standard_NC12s_v3", PURCHASE_ON_DEMAND);
    check_price(o, "6.12"); /* a row of 11 fields under 10 headers */
    assert_string_equal(o->gpu, "V100-16GB PCIe");
    assert_int_equal(o->gpu_num, 2);
    check_price(find("eastus", "", "Standard_NC12s_v3", PURCHASE_SPOT), "1.130976");
    free(t);
}

static void sky_gcp(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/skypilot-layout/gcp-vms.gpu.trimmed.csv", &n);
    if (!t) {
        skip();
    }
    assert_int_equal(parse("skypilot", "…/gcp/vms.csv", t, n, 777, NULL), 0);
    const struct offer_row *o =
        find("us-central1", "us-central1-a", "a2-highgpu-1g", PURCHASE_ON_DEMAND);
    check_price(o, "3.67339"); /* question C01: machine and accelerator added */
    assert_string_equal(o->gpu, "A100-40GB SXM4");
    assert_int_equal(o->gpu_num, 1);
    check_price(find("us-central1", "us-central1-a", "a2-highgpu-1g", PURCHASE_SPOT), "1.80385");
    for (size_t i = 0; i < st.n_offer; i++) { /* no GPU machine without its GPU's price */
        assert_true(strncmp(st.offer[i].instance_type, "a2-", 3) != 0 || st.offer[i].gpu_num > 0);
        assert_true(st.offer[i].price_state != PRICE_KNOWN || st.offer[i].price_per_hour > 0);
    }
    free(t);
}

static void sky_small_clouds(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/skypilot-layout/lambda-vms.csv", &n);
    if (!t) {
        skip();
    }
    assert_int_equal(parse("skypilot", "lambda-vms.csv", t, n, 64, NULL), 0);
    assert_int_equal(st.n_offer, 425); /* no spot; CRLF ends */
    const struct offer_row *o = find("us-east-1", "", "gpu_8x_a100_80gb_sxm4", PURCHASE_ON_DEMAND);
    assert_non_null(o);
    assert_string_equal(o->gpu, "A100-80GB SXM4");
    assert_true(fabs(o->gpu_memory_gib - 80) < 1);
    assert_non_null(strstr(o->note, "no real availability")); /* fanned out over all regions */
    free(t);
    t = fake_shared("samples/skypilot-layout/vast-vms.csv", &n);
    assert_int_equal(parse("skypilot", "vast-vms.csv", t, n, 64, NULL), 0);
    assert_int_equal(st.n_offer, 64);              /* SpotPrice 0.00 is none */
    assert_string_equal(st.offer[0].region, "dk"); /* "Denmark, DK, EU" */
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *v = &st.offer[i];
        static const struct {
            const char *type, *gpu;
            double gib;
        } memory[] = {
            {"4x-H200-", "H200 SXM", 141},          {"8x-H200-", "H200 SXM", 141},
            {"8x-H100_SXM-", "H100 SXM", 80},       {"2x-A100_PCIE-", "A100-40GB PCIe", 40},
            {"4x-RTX_4060_Ti-", "RTX 4060 Ti", 16}, {"2x-Tesla_V100-", "V100-16GB", 16}};
        for (size_t k = 0; k < sizeof memory / sizeof *memory; k++) {
            if (strncmp(v->instance_type, memory[k].type, strlen(memory[k].type)) == 0) {
                assert_string_equal(v->gpu, memory[k].gpu);
                assert_true(fabs(v->gpu_memory_gib - memory[k].gib) < 0.02);
            }
        }
        assert_int_equal(strlen(v->region), 2); /* also of ", CA, NA": as the vendor's own list */
        if (strstr(st.offer[i].instance_type, "H100_NVL")) {
            assert_string_equal(st.offer[i].gpu, "H100 NVL");
        }
    }
    free(t);
    t = fake_shared("samples/skypilot-layout/runpod-vms.excerpt.csv", &n);
    assert_int_equal(parse("skypilot", "x.csv", t, n, 64, "runpod"), 0);
    assert_int_equal(st.n_offer, 1); /* spot equal to the price is no spot */
    assert_true(fabs(st.offer[0].gpu_memory_gib - 80) < 0.1); /* "80" MiB means GB */
    assert_string_equal(st.offer[0].zone, "AP-IN-1");
    assert_int_equal(parse("skypilot", "x.csv", t, n, 64, NULL), GT_EINVALID);
    assert_non_null(strstr(err.text, "--vendor"));
    free(t);
}

static void sky_faults(void **s)
{
    (void)s;
    static const char head[] = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,"
                               "Price,SpotPrice,Region,AvailabilityZone\n";
    char text[4000];
    snprintf(text, sizeof text,
             "%sg5.xlarge,A10G,1,4,16,1.006,0.4,us-east-1,use1-az1\n"
             "g5.xlarge,A10G,1,4,16,-3,0.4,us-east-1,use1-az2\n"
             "g5.xlarge,A10G,x,4,16,1,0.4,us-east-1,use1-az3\n"
             "p99.new,NewGPU,4,4,16,1,,us-east-1,use1-az3\n"
             "g5.xlarge,A10G,1,4,16,1,0.4,us-west-2,usw2-lax1-az1\n"
             "m5.large,,,2,8,,,us-east-1,us-east-1a\n",
             head);
    assert_int_equal(parse("skypilot", "aws/vms.csv", text, strlen(text), 50, NULL), 0);
    assert_int_equal(st.n_offer, 6); /* az3: the type is known, its count is not read */
    assert_non_null(find("us-east-1", "us-east-1a", "m5.large", PURCHASE_ON_DEMAND));
    const struct offer_row *o = find("us-east-1", "use1-az3", "p99.new", PURCHASE_ON_DEMAND);
    assert_string_equal(o->gpu, "NewGPU"); /* unknown GPUs keep the vendor's name */
    assert_int_equal(ctx.skipped, 2);      /* the Local Zone; the price of -3 */
    assert_int_equal(parse("skypilot", "aws/vms.csv", head, strlen(head), 50, NULL), GT_EPARSE);
}

/* TPU slices count cores or chips; a spot price that is the full one, rounded, is none. */
static void sky_tpus_and_filled_spot(void **s)
{
    (void)s;
    static const char text[] =
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,"
        "AvailabilityZone\n"
        ",tpu-v3-8,1,,,8.8,2.64,us-central1,us-central1-a\n"
        ",tpu-v5litepod-16,1,,,19.2,9.6,us-central1,us-central1-a\n"
        ",tpu-v6e-4,1,,,10.8,10.8004,us-central1,us-central1-a\n"
        ",tpu-v9-4,1,,,10.8,20,us-central1,us-central1-a\n";
    static const struct {
        const char *type, *gpu;
        int chips;
        double gib;
    } want[] = {{"tpu-v3-8", "TPU v3", 4, 32},
                {"tpu-v5litepod-16", "TPU v5e", 16, 16},
                {"tpu-v6e-4", "TPU v6e", 4, 32},
                {"tpu-v9-4", "tpu-v9-4", 1, -1}};
    assert_int_equal(parse("skypilot", "gcp/vms.csv", text, sizeof text - 1, 50, NULL), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct offer_row *o =
            find("us-central1", "us-central1-a", want[i].type, PURCHASE_ON_DEMAND);
        assert_string_equal(o->gpu, want[i].gpu);
        assert_int_equal(o->gpu_num, want[i].chips);
        assert_true(fabs(o->gpu_memory_gib - want[i].gib) < 0.01);
        o = find("us-central1", "us-central1-a", want[i].type, PURCHASE_SPOT);
        assert_true((o != NULL) == (i != 2));
    }
    const struct offer_row *above = find("us-central1", "us-central1-a", "tpu-v9-4", PURCHASE_SPOT);
    assert_non_null(strstr(above->note, "above on demand"));
}

static void advisor(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/aws/spot-advisor-data.trimmed.json", &n);
    if (!t) {
        skip();
    }
    for (size_t step = 1; step < 5000; step = step * 5 + 3) {
        assert_int_equal(parse("aws-spot-advisor", "a.json", t, n, step, NULL), 0);
        assert_true(st.n_interruption > 100);
        bool seen = false;
        for (size_t i = 0; i < st.n_interruption; i++) {
            const struct interruption_row *r = &st.interruption[i];
            assert_true(r->savings_pct >= 0 && r->savings_pct <= 100);
            if (strcmp(r->region, "us-east-1") == 0 &&
                strcmp(r->instance_type, "p5.48xlarge") == 0) {
                seen = true;
                assert_true(r->band_lo_pct >= 0);
            }
        }
        assert_true(seen);
    }
    size_t rows = st.n_interruption;
    /* the same rows from a second reader: each entry of Linux has one "r" */
    size_t linux_entries = 0;
    for (char *p = t; (p = strstr(p, "\"Linux\": {")) != NULL; p++) {
        int depth = 0;
        for (char *q = p + 9;; q++) {
            depth += *q == '{';
            linux_entries += *q == '{' && depth == 2;
            depth -= *q == '}';
            if (depth == 0) {
                break;
            }
        }
    }
    assert_int_equal(rows, linux_entries);
    assert_int_equal(parse("aws-spot-advisor", "a.json", t, n - 30, 100, NULL), GT_EPARSE);
    free(t);
    /* partitions, and systems that are not Linux */
    static const char parts[] =
        "{\"ranges\":[{\"index\":1,\"label\":\"5-10%\"}],\"spot_advisor\":{\"us-gov-west-1\":{"
        "\"Windows\":{\"g4dn.xlarge\":{\"s\":1,\"r\":1}},\"Linux\":{\"g4dn.xlarge\":{\"s\":70,"
        "\"r\":0}}"
        "},\"cn-north-1\":{\"Linux\":{\"p3.2xlarge\":{\"r\":4,\"s\":0}},\"SUSE\":{\"x\":{\"s\":5,"
        "\"r\":1}}"
        "}}}";
    assert_int_equal(parse("aws-spot-advisor", "a.json", parts, sizeof parts - 1, 9, NULL), 0);
    assert_int_equal(st.n_interruption, 2);
    assert_string_equal(st.interruption[0].vendor, "aws");
    assert_string_equal(st.interruption[0].region, "us-gov-west-1");
    assert_true(st.interruption[0].savings_pct == 70);
    assert_string_equal(st.interruption[1].vendor, "aws-cn");
    assert_true(st.interruption[1].band_lo_pct == 20 && st.interruption[1].savings_pct == 0);
    static const char other[] =
        "{\"ranges\":[{\"index\":1,\"label\":\"5-7%\"}],\"spot_advisor\":{}}";
    assert_int_equal(parse("aws-spot-advisor", "a.json", other, sizeof other - 1, 9, NULL),
                     GT_EPARSE);
    assert_non_null(strstr(err.text, "5-7%")); /* bands that changed are not read as the old ones */
    static const char flat[] = "region,instance_type,savings_pct,interruption_range_index\n"
                               "us-east-1,p5.48xlarge,52,4\nus-east-1,p4d.24xlarge,67,2\n";
    assert_int_equal(parse("aws-spot-advisor", "a.csv", flat, sizeof flat - 1, 7, NULL), 0);
    assert_int_equal(st.n_interruption, 2); /* question C12 c */
    assert_true(st.interruption[0].band_lo_pct == 20 && st.interruption[0].band_hi_pct < 0);
    assert_true(st.interruption[1].band_lo_pct == 10 && st.interruption[1].band_hi_pct == 15);
    static const char bad[] =
        "region,instance_type,savings_pct,interruption_range_index\na,b,5,7\n";
    assert_int_equal(parse("aws-spot-advisor", "a.csv", bad, sizeof bad - 1, 7, NULL), GT_EPARSE);
    assert_string_equal(err.where, "a.csv:2");
}

static void names(void **s)
{
    (void)s;
    static const struct {
        const char *name, *vendor, *type, *model;
        double gib;
    } cases[] = {
        {"A100", "gcp", "a2-highgpu-1g", "A100-40GB SXM4", -1},
        {"A100", "vast", "1x-A100_SXM4-32", "A100-80GB SXM4", 80},
        {"NVIDIA A100 80GB PCIe", "x", "", "A100-80GB PCIe", -1},
        {"T4g", "aws", "g5g.new", "T4G", -1},
        {"RTX4090", "vast", "", "RTX 4090", 24},
        {"RTXA6000", "vast", "", "RTX A6000", 48},
        {"NVIDIA_H100", "digitalocean", "gpu-h100x8-640gb", "H100", 80}, /* PCIe or SXM: open */
        {"Tesla V100", "vast", "1x-Tesla_V100-32", "V100-16GB", 16},
        {"A100-80GB", "jarvislabs", "", "A100-80GB", -1},
        {"A100", "x", "", "A100", -1},
        {"A100-80GB", "azure", "Standard_NC24ads_A100_v4", "A100-80GB PCIe", -1},
        {"V100", "gcp", "n1-standard-64+8xV100", "V100-16GB SXM2", -1},
        {"rtx pro 6000", "x", "", "RTX PRO 6000", -1},
        {"Tesla V100-SXM2-16GB", "x", "", "V100-16GB SXM2", -1},
        {"Quantum9000", "x", "", "Quantum9000", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(
            gpu_canonical(cases[i].name, cases[i].gib, cases[i].vendor, cases[i].type).model,
            cases[i].model);
    }
    const struct gpu_instance *g = gpu_of_instance("aws", "g6f.large");
    assert_true(g && g->num == 1 && g->den == 8);
    assert_non_null(gpu_of_instance("oci", "VM.GPU3.4"));
    assert_non_null(gpu_of_instance("aws", "dl1.24xlarge") ? "" : gpu_of_aws_family("p5.9xlarge"));
    assert_null(gpu_of_instance("aws", "m5.large"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_list),
        cmocka_unit_test(own_list_refuses),
        cmocka_unit_test(sky_azure),
        cmocka_unit_test(sky_gcp),
        cmocka_unit_test(sky_faults),
        cmocka_unit_test(sky_small_clouds),
        cmocka_unit_test(sky_tpus_and_filled_spot),
        cmocka_unit_test(advisor),
        cmocka_unit_test(names),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
