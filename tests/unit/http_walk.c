/* The walks over indexes: AWS's offer index -> region index -> file with mirrors, missing parts,
 * hostile addresses, China and all regions; the savings plans' array index; SkyPilot's folders of
 * which some are not there. Real loopback HTTP by ../shared/tools/fake_vendor_server.py. */
#include "http_score.h"

static const struct source_def sources[] = {
    {.id = "aws-offer",
     .vendor = "aws",
     .default_url = "http://127.0.0.1:1",
     .per_region = true,
     .fetch = aws_offer_fetch,
     PARSE},
    {.id = "aws-savings-plan",
     .vendor = "aws",
     .default_url = "http://127.0.0.1:1",
     .per_region = true,
     .fetch = aws_savings_plan_fetch,
     PARSE},
    {.id = "skypilot", .vendor = "", .default_url = "http://h", .fetch = skypilot_fetch, PARSE},
};

const struct source_def *source_at(size_t i)
{
    return i < sizeof sources / sizeof *sources ? &sources[i] : NULL;
}

/* Writes a file and the folders above it. */
static void put(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", work, name);
    for (char *p = path + strlen(work) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    write_text(name, text, strlen(text));
}

#define OFFER(root, code)                                                                          \
    "\"" code "\":{\"offerCode\":\"" code "\",\"currentRegionIndexUrl\":\"/offers/v1.0/" root      \
    "/" code "/current/region_index.json\"}"
#define REGION(code, region)                                                                       \
    "\"" region "\":{\"regionCode\":\"" region "\",\"currentVersionUrl\":\"/offers/v1.0/aws/" code \
    "/1/" region "/index.json\"}"

static void lay_out(void)
{
    put("good/offers/v1.0/aws/index.json",
        "{\"offers\":{" OFFER("aws", "AmazonEC2") "," OFFER("aws", "AmazonS3") "," OFFER(
            "aws", "AmazonEFS") "," OFFER("aws", "AWSDataTransfer") "}}");
    put("good/offers/v1.0/aws/AmazonEC2/current/region_index.json",
        "{\"regions\":{" REGION("AmazonEC2", "us-east-1") "," REGION(
            "AmazonEC2",
            "eu-west-1") ","
                         "\"cn-north-1-pkx-1\":{\"currentVersionUrl\":\"/none.json\"}}}");
    put("good/offers/v1.0/aws/AmazonS3/current/region_index.json",
        "{\"regions\":{" REGION("AmazonS3", "us-east-1") "}}");
    put("good/offers/v1.0/aws/AmazonEFS/current/region_index.json",
        "{\"regions\":{" REGION("AmazonEFS", "us-east-1") "}}");
    put("good/offers/v1.0/aws/AWSDataTransfer/current/region_index.json", "{\"regions\":{}}");
    put("good/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.csv", "ec2,csv\n");
    put("good/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.json", "{\"never\":\"asked\"}");
    put("good/offers/v1.0/aws/AmazonEC2/1/eu-west-1/index.csv", "ec2,csv,2\n");
    put("good/offers/v1.0/aws/AmazonS3/1/us-east-1/index.json", "{\"only\":\"json\"}\n");
    put("good/offers/v1.0/cn/index.json",
        "{\"offers\":{\"AmazonEC2\":{\"currentRegionIndexUrl\":"
        "\"/offers/v1.0/cn/AmazonEC2/current/region_index.json\",\"currentSavingsPlanIndexUrl\":"
        "\"/cn/plans.json\"}}}");
    put("good/offers/v1.0/cn/AmazonEC2/current/region_index.json",
        "{\"regions\":{\"cn-north-1\":{\"currentVersionUrl\":\"/cn/ec2.json\"},"
        "\"aws-cn-other\":{\"currentVersionUrl\":\"/none.json\"}}}");
    put("good/cn/ec2.csv", "cny\n");
    put("good/cn/plans.json",
        "{\"regions\":[{\"regionCode\":\"cn-north-1\",\"versionUrl\":\"/cn/sp.json\"}]}");
    put("good/cn/sp.json", "{\"plans\":1}\n");
    put("good/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json",
        "{\"regions\":[{\"regionCode\":\"eu-west-1\",\"versionUrl\":\"/x.json\"},"
        "{\"regionCode\":\"us-east-1\",\"versionUrl\":\"/sp.json\"}]}");
    put("good/sp.csv", "plan\n");
    put("good/v8/lambda/vms.csv", "gpu\n");
    put("good/v8/do/vms.csv", "gpu\ngpu\n");
    put("cut/offers/v1.0/aws/index.json", "{\"offers\":{");
    put("none/offers/v1.0/aws/index.json", "{\"offers\":{}}");
    put("list/offers/v1.0/aws/index.json", "[1,2]");
    put("odd/offers/v1.0/aws/index.json", "{\"offers\":{" OFFER("aws", "AmazonEC2") "}}");
    put("odd/offers/v1.0/aws/AmazonEC2/current/region_index.json",
        "{\"regions\":{\"us-east-1\":{\"currentVersionUrl\":\"file:///etc/passwd\"},"
        "\"us-east-2\":{\"currentVersionUrl\":7},\"us-west-1\":{\"currentVersionUrl\":"
        "\"//evil.example/x.json\"},\"us-west-2\":null}}");
    put("shape/offers/v1.0/aws/index.json", "{\"offers\":{" OFFER("aws", "AmazonEC2") "}}");
    put("shape/offers/v1.0/aws/AmazonEC2/current/region_index.json", "{\"regions\":\"us-east-1\"}");
}

static int start_servers(void **state)
{
    (void)state;
    char line[1024];
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    assert_non_null(mkdtemp(work));
    lay_out();
    snprintf(fake_log, sizeof fake_log, "%s/fake.log", work);
    snprintf(line, sizeof line,
             "python3 '%s' --root %s --port-file %s/port --max-seconds 100 --log %s", shared_tool(),
             work, work, fake_log);
    start(fake_base, "http", "port", line);
    return 0;
}

static int walk(struct store *s, const char *source, const char *mirror, const char *region)
{
    const char *const regions[] = {region};
    struct fetch_options o = {.regions = regions, .n_regions = region ? 1 : 0, .tries = 3};
    o.all_regions = region && strcmp(region, "*") == 0;
    o.n_regions = o.all_regions ? 0 : o.n_regions;
    return fetch_with(s, &o, source, fake_base, mirror);
}

static void the_whole_way(void **state)
{
    (void)state;
    struct store s = {0};
    /* EFS's file is named and not there: that part fails, the others are published. */
    assert_int_equal(walk(&s, "aws-offer", "/good", "aws/us-east-1"), GT_EHTTP);
    assert_int_equal(s.published, 2);
    assert_non_null(strstr(s.published_scopes, " us-east-1/AmazonEC2"));
    assert_non_null(strstr(s.published_scopes, " us-east-1/AmazonS3"));
    assert_string_equal(s.failed_scopes, " us-east-1/AmazonEFS");
    assert_non_null(strstr(error.text, "HTTP 404"));
    char *log = read_text(fake_log);
    assert_non_null(strstr(log, "AmazonEC2/1/us-east-1/index.csv"));
    assert_null(strstr(log, "AmazonEC2/1/us-east-1/index.json")); /* CSV suffices */
    assert_non_null(strstr(log, "AmazonS3/1/us-east-1/index.json"));
    free(log);
}

static void regions(void **state)
{
    (void)state;
    struct store s = {0};
    assert_int_equal(walk(&s, "aws-offer", "/good", "eu-west-1"), 0);
    assert_string_equal(s.published_scopes, " eu-west-1/AmazonEC2");
    struct store t = {0};
    assert_int_equal(walk(&t, "aws-offer", "/good", "eu-wst-1"), GT_ENOTFOUND);
    assert_non_null(strstr(error.text, "nearest: eu-west-1"));
    assert_string_equal(t.failed_scopes, " eu-wst-1/AmazonEC2");
    struct store cn = {0};
    assert_int_equal(walk(&cn, "aws-offer", "/good", "aws-cn/cn-north-1"), 0);
    assert_string_equal(cn.published_scopes, " cn-north-1/AmazonEC2");
    struct store all = {0};
    assert_int_equal(walk(&all, "aws-offer", "/good", "*"), GT_EHTTP); /* EFS as above */
    assert_int_equal(all.published, 4);
    assert_non_null(strstr(all.published_scopes, " eu-west-1/AmazonEC2"));
    /* listed, but no regions: what their addresses lead to is never asked */
    char *log = read_text(fake_log);
    assert_null(strstr(log, "/none."));
    free(log);
    assert_int_equal(all.failed_scopes[0] ? strcmp(all.failed_scopes, " us-east-1/AmazonEFS") : -1,
                     0);
    struct store azure = {0};
    assert_int_equal(walk(&azure, "aws-offer", "/good", "azure/eastus"), GT_EUSAGE);
}

static void broken_indexes(void **state)
{
    static const struct {
        const char *mirror, *region, *says;
        int code;
    } c[] = {
        {"/cut", "us-east-1", "no JSON object", GT_EPARSE},
        {"/list", "us-east-1", "no JSON object", GT_EPARSE},
        {"/none", "us-east-1", "no region index for AmazonEC2", GT_EPARSE},
        {"/shape", "us-east-1", "no \"regions\"", GT_EPARSE},
        {"/absent", "us-east-1", "HTTP 404", GT_EHTTP},
        {"/odd", "us-east-1", "only http", GT_EHTTP},
        {"/odd", "us-east-2", "no address", GT_EPARSE},
        {"/odd", "us-west-1", "only http", GT_EHTTP},
        {"/odd", "us-west-2", "no address", GT_EPARSE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct store s = {0};
        char part[64];
        int rc = walk(&s, "aws-offer", c[i].mirror, c[i].region);
        if (rc != c[i].code || !strstr(error.text, c[i].says)) {
            print_error("%s %s: %d %s: %s\n", c[i].mirror, c[i].region, rc, error.where,
                        error.text);
        }
        assert_int_equal(rc, c[i].code);
        assert_non_null(strstr(error.text, c[i].says));
        assert_int_equal(s.published, 0);
        snprintf(part, sizeof part, " %s/AmazonEC2", c[i].region);
        assert_string_equal(s.failed_scopes, part); /* `sources` shows the part that is missing */
    }
}

/* The savings plans' index has its regions in a list, the offers' index in an object. */
static void trap_15_region_index_is_an_array(void **state)
{
    (void)state;
    struct store s = {0};
    assert_int_equal(walk(&s, "aws-savings-plan", "/good", "us-east-1"), 0);
    assert_string_equal(s.published_scopes, " us-east-1/AWSComputeSavingsPlan");
    struct store cn = {0}; /* China's is found through its index of offers */
    assert_int_equal(walk(&cn, "aws-savings-plan", "/good", "aws-cn/cn-north-1"), 0);
    assert_string_equal(cn.published_scopes, " cn-north-1/AWSComputeSavingsPlan");
    struct store t = {0};
    assert_int_equal(walk(&t, "aws-savings-plan", "/good", "us-est-1"), GT_ENOTFOUND);
    assert_non_null(strstr(error.text, "nearest: us-east-1"));
    assert_string_equal(t.failed_scopes, " us-est-1/AWSComputeSavingsPlan");
    struct store u = {0};
    assert_int_equal(walk(&u, "aws-savings-plan", "/none", "us-east-1"), GT_EHTTP);
    assert_string_equal(u.failed_scopes, " us-east-1/AWSComputeSavingsPlan");
}

static void other_walks(void **state)
{
    (void)state;
    struct store sky = {0};
    assert_int_equal(walk(&sky, "skypilot", "/good", NULL), 0);
    assert_int_equal(sky.published, 2);
    assert_non_null(strstr(sky.published_scopes, " lambda"));
    assert_non_null(strstr(sky.published_scopes, " digitalocean"));
    assert_int_equal(sky.recorded, 0);
    /* A file that was there before and is gone is a failure. */
    struct store gone = {.state_etag = "\"x\""};
    assert_int_equal(walk(&gone, "skypilot", "/good", NULL), GT_EHTTP);
    assert_int_equal(gone.published, 2);
    assert_true(gone.recorded > 5);
    struct store none = {0};
    assert_int_equal(walk(&none, "skypilot", "/none", NULL), GT_EHTTP);
    assert_non_null(strstr(error.text, "is there"));
    assert_int_equal(sum.failed, 1);
}

int main(void)
{
    if (access(shared_tool(), R_OK) != 0) {
        fprintf(stderr, "SKIPPED: %s is missing, the walks were not tested\n", shared_tool());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_way),  cmocka_unit_test(regions),
        cmocka_unit_test(broken_indexes), cmocka_unit_test(trap_15_region_index_is_an_array),
        cmocka_unit_test(other_walks),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
