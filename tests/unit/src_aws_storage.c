/* Storage and transfer rates of the AWS price list: the samples, every class and fee by its usage
 * type, look-alikes left out, and lists of which two lines give one component. */
#include "aws_util.h"

/* A list of products that differ in a few attributes, each with one price. */
struct line {
    const char *usage, *family, *more, *unit, *price; /* more: further attributes as JSON */
};

static void list(char *out, size_t size, const char *code, const struct line *line, size_t n)
{
    size_t at = (size_t)snprintf(out, size, "{\"offerCode\":\"%s\",\"products\":{", code);
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(out + at, size - at,
                               "%s\"S%zu\":{\"productFamily\":\"%s\",\"attributes\":{\"usagetype\":"
                               "\"%s\",\"regionCode\":\"us-west-2\"%s%s}}",
                               i ? "," : "", i, line[i].family, line[i].usage,
                               *line[i].more ? "," : "", line[i].more);
    }
    at += (size_t)snprintf(out + at, size - at, "},\"terms\":{\"OnDemand\":{");
    for (size_t i = 0; i < n; i++) {
        at +=
            (size_t)snprintf(out + at, size - at,
                             "%s\"S%zu\":{\"S%zu.T\":{\"priceDimensions\":{\"S%zu.T.R\":{\"unit\":"
                             "\"%s\",\"beginRange\":\"0\",\"endRange\":\"Inf\",\"pricePerUnit\":{"
                             "\"USD\":\"%s\"}}}}}",
                             i ? "," : "", i, i, i, line[i].unit, line[i].price);
    }
    snprintf(out + at, size - at, "}}}");
}

static void read_list(const char *code, const struct line *line, size_t n)
{
    char text[16000];
    list(text, sizeof text, code, line, n);
    int rc = parse(code, text, strlen(text), 97);
    if (rc != 0) {
        fail_msg("%s: %s: %s", code, err.where, err.text);
    }
}

static void s3_samples(void **s)
{
    (void)s;
    if (!parse_sample("s3-offer.us-east-1.constructed.json")) {
        skip();
    }
    check(rate("s3_standard", "storage", 0)->rate, "0.023");
    check(rate("s3_standard", "storage", 51200)->rate, "0.022");
    const struct storage_rate_row *last = rate("s3_standard", "storage", 512000);
    check(last->rate, "0.021");
    assert_true(last->to_qty < 0);
    assert_int_equal(last->unit, SU_GIB_MONTH);
    check(rate("s3_standard_ia", "storage", 0)->rate, "0.0125");
    const struct storage_rate_row *get = rate("s3_standard", "get", 0);
    check(get->rate, "0.0004");
    assert_int_equal(get->unit_qty, 1000);
    check(rate("s3_standard", "put", 0)->rate, "0.005");
    check(rate("s3_standard_ia", "retrieval", 0)->rate, "0.01");
    parse_sample("s3-deep-archive-offer.us-east-1.constructed.json");
    assert_int_equal(st.n_storage, 1);
    check(rate("s3_deep_archive", "storage", 0)->rate, "0.00099");
    assert_string_equal(ctx.scope, "us-east-1/AmazonS3GlacierDeepArchive");

    parse_sample("AmazonS3.eu-west-1.2018-04-04.fixture.csv");
    check(rate("s3_standard", "storage", 0)->rate, "0.023");
    check(rate("s3_standard_ia", "storage", 0)->rate, "0.0125"); /* once: INVALID - NAME is out */
    check(rate("s3_onezone_ia", "storage", 0)->rate, "0.01");
    check(rate("s3_glacier_flexible", "storage", 0)->rate, "0.004");
    check(rate("s3_glacier_flexible", "put", 0)->rate, "0.055");
    check(rate("s3_glacier_flexible", "retrieval_bulk", 0)->rate, "0.0025");
    check(rate("s3_glacier_flexible", "retrieval_expedited", 0)->rate, "0.03");
    check(rate("s3_standard_ia", "transition", 0)->rate, "0.01");
    check(rate("s3_standard_ia", "early_delete", 0)->rate, "0.0125");
    check(rate("s3_reduced_redundancy", "storage", 5120000)->rate, "0.022");
    assert_int_equal(st.n_storage, 35); /* of 62 rows; tags, select, analytics … are out */
    assert_string_equal(st.storage[0].region, "eu-west-1");
}

static void efs_and_transfer_samples(void **s)
{
    (void)s;
    if (!parse_sample("efs-offer.us-east-1.constructed.json")) {
        skip();
    }
    check(rate("efs_standard", "storage", 0)->rate, "0.3");
    check(rate("efs_ia", "storage", 0)->rate, "0.016");
    check(rate("efs_archive", "storage", 0)->rate, "0.008");
    check(rate("efs_ia", "retrieval", 0)->rate, "0.01");
    parse_sample("AmazonEFS.2017-07-21.fixture.csv");
    size_t oregon = 0, ohio = 0, throughput = 0;
    for (size_t i = 0; i < st.n_storage; i++) {
        oregon += strcmp(st.storage[i].region, "us-west-2") == 0;
        ohio += strcmp(st.storage[i].region, "us-east-2") == 0;
        throughput += strcmp(st.storage[i].component, "throughput") == 0;
    }
    assert_int_equal(oregon, 2);
    assert_int_equal(ohio, 1);
    assert_int_equal(throughput, 1);

    parse_sample("data-transfer-offer.eu-west-1.constructed.json");
    assert_int_equal(st.n_transfer, 5); /* four brackets and the zones */
    static const char *const rates[] = {"0.09", "0.085", "0.07", "0.05"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(st.transfer[i].to, "internet");
        check(st.transfer[i].rate, rates[i]);
    }
    assert_true(st.transfer[1].from_gb == 10240 * MONEY_SCALE);
    assert_true(st.transfer[3].to_gb < 0);
    assert_string_equal(st.transfer[4].to, "other_az");
}

/* FSx for Lustre: scratch, and persistent by the throughput that a TiB brings. */
static void lustre(void **s)
{
    (void)s;
    static const struct line lines[] = {
        {"USW2-Storage.Lustre", "Storage",
         "\"fileSystemType\":\"Lustre\",\"deploymentOption\":\"Scratch\",\"storageType\":\"SSD\","
         "\"throughputCapacity\":\"200\"",
         "GB-Mo", "0.14"},
        {"USW2-Storage.A", "Storage",
         "\"fileSystemType\":\"Lustre\",\"deploymentOption\":\"Persistent\",\"storageType\":"
         "\"SSD\","
         "\"throughputCapacity\":\"125\"",
         "GB-Mo", "0.145"},
        {"USW2-Storage.B", "Storage",
         "\"fileSystemType\":\"Lustre\",\"deploymentOption\":\"Persistent\",\"storageType\":"
         "\"SSD\","
         "\"throughputCapacity\":\"1000\"",
         "GB-Mo", "0.6"},
        {"USW2-BackupUsage", "Storage", "\"fileSystemType\":\"Lustre\"", "GB-Mo", "0.05"},
        {"USW2-BackupUsage", "Storage", "\"fileSystemType\":\"Windows\"", "GB-Mo", "0.051"},
        {"USW2-Storage.C", "Storage",
         "\"fileSystemType\":\"Lustre\",\"deploymentOption\":\"Persistent\",\"storageType\":"
         "\"HDD\","
         "\"throughputCapacity\":\"12\"",
         "GB-Mo", "0.025"},
        {"USW2-Storage.MultiAZ:SSD", "Storage",
         "\"fileSystemType\":\"Windows\",\"deploymentOption\":\"Multi-AZ\",\"storageType\":\"SSD\"",
         "GB-Mo", "0.23"},
        {"USW2-ThroughputCapacity", "Provisioned Throughput", "\"fileSystemType\":\"Windows\"",
         "MiBps-Mo", "2.2"},
    };
    read_list("AmazonFSx", lines, sizeof lines / sizeof *lines);
    assert_int_equal(st.n_storage, 4);
    check(rate("fsx_lustre_scratch", "storage", 0)->rate, "0.14");
    check(rate("fsx_lustre_persistent", "storage", 0)->rate, "0.145");
    check(rate("fsx_lustre_persistent", "storage_1000", 0)->rate, "0.6");
    check(rate("fsx_lustre_persistent", "snapshot", 0)->rate, "0.05");
    assert_string_equal(ctx.scope, "us-west-2/AmazonFSx");
}

/* Lists give the transition into each class a row of its own; old ones have one row for all. */
static void transitions(void **s)
{
    (void)s;
    static const struct line new_list[] = {
        {"Requests-Tier3", "API Request", "", "Requests", "0.00005"},
        {"Requests-Tier3", "API Request", "\"operation\":\"S3-GlacierTransition\"", "Requests",
         "0.00003"},
        {"Requests-Tier3", "API Request", "\"operation\":\"S3-GDATransition\"", "Requests",
         "0.00006"},
        {"Requests-Tier4", "API Request", "\"operation\":\"S3-SIATransition\"", "Requests",
         "0.00001"},
        {"Requests-Tier4", "API Request", "\"operation\":\"S3-ZIATransition\"", "Requests",
         "0.000011"},
        {"Requests-Tier4", "API Request", "\"operation\":\"S3-INTTransition\"", "Requests",
         "0.000012"},
        {"Requests-Tier4", "API Request", "\"operation\":\"S3-GIRTransition\"", "Requests",
         "0.00002"},
        {"Requests-GDA-Tier3", "API Request", "", "Requests", "0.0001"},
        {"Requests-GDA-Tier5", "API Request", "", "Requests", "0.000025"},
        {"USW2-Requests-XZ-Tier1", "API Request", "", "Requests", "0.00000113"},
        {"USW2-Upload-XZ", "Fee", "", "GB", "0.0032"},
        {"USW2-Retrieval-XZ", "Fee", "", "GB", "0.0006"},
        {"USW2-TimedStorage-XZ-ByteHrs", "Storage", "\"volumeType\":\"Express One Zone\"", "GB-Mo",
         "0.11"},
        {"USW2-TimedStorage-GIR-SmObjects", "Fee", "", "GB-Mo", "0.004"},
        {"USW2-Monitoring-Automation-INT", "Fee", "", "Objects", "0.0000025"},
        {"USW2-TimedStorage-INT-AIA-ByteHrs", "Storage", "", "GB-Mo", "0.004"},
        {"USW2-TimedStorage-INT-DAA-ByteHrs", "Storage", "", "GB-Mo", "0.00099"},
    };
    read_list("AmazonS3", new_list, sizeof new_list / sizeof *new_list);
    check(rate("s3_glacier_flexible", "transition", 0)->rate, "0.03");
    check(rate("s3_glacier_flexible", "retrieval_request", 0)->rate, "0.05");
    check(rate("s3_deep_archive", "transition", 0)->rate, "0.06");
    check(rate("s3_standard_ia", "transition", 0)->rate, "0.01");
    check(rate("s3_onezone_ia", "transition", 0)->rate, "0.011");
    check(rate("s3_intelligent_tiering", "transition", 0)->rate, "0.012");
    check(rate("s3_glacier_ir", "transition", 0)->rate, "0.02");
    check(rate("s3_deep_archive", "retrieval_request", 0)->rate, "0.1");
    check(rate("s3_deep_archive", "retrieval_request_bulk", 0)->rate, "0.025");
    check(rate("s3_express", "put", 0)->rate, "0.00113");
    check(rate("s3_express", "upload", 0)->rate, "0.0032");
    check(rate("s3_express", "retrieval", 0)->rate, "0.0006");
    check(rate("s3_express", "storage", 0)->rate, "0.11");
    const struct storage_rate_row *m = rate("s3_intelligent_tiering", "monitoring", 0);
    check(m->rate, "0.0025"); /* for 1,000 objects */
    assert_int_equal(m->unit, SU_OBJECT_MONTH);
    assert_int_equal(m->unit_qty, 1000);
    check(rate("s3_intelligent_tiering", "storage_archive_instant", 0)->rate, "0.004");
    check(rate("s3_intelligent_tiering", "storage_deep_archive_access", 0)->rate, "0.00099");
    assert_int_equal(st.n_storage, 17); /* put of Glacier too; small objects are out */

    static const struct line old_list[] = {
        {"Requests-Tier3", "API Request", "", "Requests", "0.000055"},
        {"Requests-Tier4", "API Request", "", "Requests", "0.00001"},
    };
    read_list("AmazonS3", old_list, 2);
    check(rate("s3_glacier_flexible", "transition", 0)->rate, "0.055");
    check(rate("s3_standard_ia", "transition", 0)->rate, "0.01");
    check(rate("s3_intelligent_tiering", "transition", 0)->rate, "0.01");
    assert_int_equal(st.n_storage, 6);
}

/* With elastic throughput EFS stores Infrequent Access for less: where a list has that rate it is
 * the tier's, whichever stands first; one zone is another product. */
static void efs_elastic(void **s)
{
    (void)s;
    static const struct line lines[] = {
        {"USW2-IATimedStorage-ByteHrs", "Storage", "\"storageClass\":\"Infrequent Access\"",
         "GB-Mo", "0.025"},
        {"USW2-IATimedStorage-ET-ByteHrs", "Storage", "\"storageClass\":\"Infrequent Access-ET\"",
         "GB-Mo", "0.016"},
        {"USW2-IATimedStorage-Z-ByteHrs", "Storage",
         "\"storageClass\":\"One Zone-Infrequent Access\"", "GB-Mo", "0.0133"},
        {"USW2-ArchiveTimedStorage-ByteHrs", "Storage", "\"storageClass\":\"Archive\"", "GB-Mo",
         "0.008"},
        {"USW2-ArchiveTimedStorage-SmallFiles", "Storage", "\"storageClass\":\"Archive\"", "GB-Mo",
         "0.009"},
        {"USW2-ETDataAccess-Bytes", "Storage", "\"accessType\":\"Read\"", "GB", "0.03"},
        {"USW2-ETDataAccess-Bytes", "Storage", "\"accessType\":\"Write\"", "GB", "0.06"},
        {"USW2-IADataAccess-Bytes", "Storage", "\"accessType\":\"Read\"", "GB", "0.01"},
        {"USW2-ProvisionedTP-MiBpsHrs", "Provisioned Throughput", "", "MiBps-Mo", "6"},
    };
    for (int from = 0; from < 2; from++) {
        struct line some[9];
        memcpy(some, lines, sizeof some);
        some[0] = lines[from];
        some[1] = lines[1 - from];
        read_list("AmazonEFS", some, 9);
        check(rate("efs_ia", "storage", 0)->rate, "0.016");
        check(rate("efs_archive", "storage", 0)->rate, "0.008");
        check(rate("efs_standard", "read", 0)->rate, "0.03");
        check(rate("efs_standard", "write", 0)->rate, "0.06");
        check(rate("efs_standard", "throughput", 0)->rate, "6");
        check(rate("efs_onezone_ia", "storage", 0)->rate, "0.0133");
        assert_int_equal(st.n_storage, 7);
    }
}

/* The staging of Deep Archive looks like it and costs 21 times as much. */
static void trap_16_deep_archive_staging(void **s)
{
    (void)s;
    if (!parse_sample("s3-offer.us-east-1.constructed.json")) {
        skip();
    }
    for (size_t i = 0; i < st.n_storage; i++) {
        assert_string_not_equal(st.storage[i].tier, "s3_deep_archive");
    }
    assert_int_equal(st.n_storage, 8); /* Tier1 is put and list */
    parse_sample("s3-deep-archive-offer.us-east-1.constructed.json");
    check(rate("s3_deep_archive", "storage", 0)->rate, "0.00099");
}

/* Multi-region access points and "Global" stand among the transfer products. */
static void trap_17_transfer_decoys(void **s)
{
    (void)s;
    if (!parse_sample("data-transfer-offer.eu-west-1.constructed.json")) {
        skip();
    }
    assert_int_equal(st.n_transfer, 5);
    for (size_t i = 0; i < st.n_transfer; i++) {
        assert_string_equal(st.transfer[i].from, "eu-west-1");
        assert_true(st.transfer[i].rate >= MONEY_SCALE / 100); /* not 0, not 0.0033 */
        assert_int_equal(st.transfer[i].gb_bytes, GT_GIB);
    }
}

/* The last bracket ends with Inf, nothing, a sentinel or no word at all. */
static void trap_18_ends_of_brackets(void **s)
{
    (void)s;
    static const char *const ends[] = {"\"endRange\":\"Inf\",", "\"endRange\":\"\",",
                                       "\"endRange\":\"999999999\",", ""};
    static const char form[] =
        "{\"offerCode\":\"AmazonS3\",\"products\":{\"A\":{\"productFamily\":\"Storage\","
        "\"attributes\":{\"usagetype\":\"TimedStorage-SIA-ByteHrs\",\"volumeType\":"
        "\"Standard - Infrequent Access\",\"regionCode\":\"us-east-1\"}}},\"terms\":{\"OnDemand\":{"
        "\"A\":{\"A.B\":{\"priceDimensions\":{\"A.B.C\":{\"unit\":\"GB-Mo\",\"beginRange\":\"0\","
        "%s\"pricePerUnit\":{\"USD\":\"0.0125\"}}}}}}}}";
    for (size_t i = 0; i < 4; i++) {
        char text[800];
        snprintf(text, sizeof text, form, ends[i]);
        assert_int_equal(parse("x", text, strlen(text), 40), 0);
        assert_true(rate("s3_standard_ia", "storage", 0)->to_qty < 0);
    }
}

/* Nine decimals are not enough for the price of one object. */
static void trap_19_prices_below_a_billionth(void **s)
{
    (void)s;
    static const struct line lines[] = {
        {"Requests-Tier2", "API Request", "", "Requests", "0.0000000025"},
        {"Monitoring-Automation-INT", "Fee", "", "Objects", "0.000000000001"},
    };
    read_list("AmazonS3", lines, 2);
    check(rate("s3_standard", "get", 0)->rate, "0.0000025"); /* for 1,000 */
    check(rate("s3_intelligent_tiering", "monitoring", 0)->rate, "0.000000001");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(s3_samples),
        cmocka_unit_test(efs_and_transfer_samples),
        cmocka_unit_test(lustre),
        cmocka_unit_test(transitions),
        cmocka_unit_test(efs_elastic),
        cmocka_unit_test(trap_16_deep_archive_staging),
        cmocka_unit_test(trap_17_transfer_decoys),
        cmocka_unit_test(trap_18_ends_of_brackets),
        cmocka_unit_test(trap_19_prices_below_a_billionth),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
