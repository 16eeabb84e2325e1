/* The AWS price list: samples give the rows that their README states; generated lists give exactly
 * the generator's expected rows in JSON and CSV, terms first, compact and in CNY; broken lists are
 * refused. */
#include "aws_util.h"
#include <unistd.h>

static char work[] = "/tmp/gputier-aws-XXXXXX";

static void gpu_sample(void **s)
{
    (void)s;
    if (!parse_sample("AmazonEC2.us-east-1.gpu.constructed.csv")) {
        skip();
    }
    static const struct {
        const char *region, *type, *price, *gpu;
        int num, den;
    } want[] = {
        {"us-east-1", "p5.48xlarge", "55.04", "H100 SXM", 8, 1},
        {"us-east-1", "p4d.24xlarge", "21.957642", "A100-40GB SXM4", 8, 1},
        {"us-east-1", "g5.xlarge", "1.006", "A10G", 1, 1},
        {"us-west-2-lax-1", "g5.xlarge", "1.207", "A10G", 1, 1},
        {"us-east-1", "g6f.large", "0.202", "L4", 1, 8},
        {"us-east-1", "p5en.48xlarge", "63.296", "H200 SXM", 8, 1},
        {"us-east-1", "g4dn.metal", "7.824", "T4", 8, 1},
    };
    size_t on_demand = 0, blocks = 0;
    for (size_t i = 0; i < st.n_offer; i++) {
        on_demand += st.offer[i].purchase == PURCHASE_ON_DEMAND;
        blocks += st.offer[i].purchase == PURCHASE_CAPACITY_BLOCK;
        assert_true(st.offer[i].purchase != PURCHASE_CAPACITY_BLOCK ||
                    st.offer[i].price_state == PRICE_SOLD_OTHERWISE);
    }
    assert_int_equal(on_demand, 7);
    assert_int_equal(blocks, 1);
    for (size_t i = 0; i < 7; i++) {
        const struct offer_row *o =
            offer(want[i].region, want[i].type, PURCHASE_ON_DEMAND, PAYMENT_NULL);
        check(o->price_per_hour, want[i].price);
        assert_string_equal(o->gpu, want[i].gpu);
        assert_int_equal(o->gpu_num, want[i].num);
        assert_int_equal(o->gpu_den, want[i].den);
    }
    const struct offer_row *r =
        offer("us-east-1", "p5.48xlarge", PURCHASE_RESERVED_3Y, PAYMENT_ALL);
    check(r->upfront, "600000");
    check(r->price_per_hour, "0");
    r = offer("us-east-1", "p5.48xlarge", PURCHASE_RESERVED_3Y,
              PAYMENT_NONE); /* "3 yr", NoUpfront */
    check(r->price_per_hour, "30");
    assert_int_equal(r->offering_class, OFFERING_CONVERTIBLE);
    check(rate("ebs_io2", "provisioned_iops", 32000)->rate, "0.046");
    check(rate("ebs_gp3", "storage", 0)->rate, "0.08");
    assert_int_equal(ctx.as_of, 1784505600);     /* the publication date */
    assert_string_equal(ctx.scope, "AmazonEC2"); /* us-west-2-lax-1 is not us-east-1's */
}

static void json_samples(void **s)
{
    (void)s;
    if (!parse_sample("ec2-offer-us-east-1.capacity-block-zero-price.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 2);
    check(offer("us-east-1", "p4d.24xlarge", PURCHASE_ON_DEMAND, PAYMENT_NULL)->price_per_hour,
          "32.7726");
    assert_int_equal(
        offer("us-east-1", "p4d.24xlarge", PURCHASE_CAPACITY_BLOCK, PAYMENT_NULL)->price_state,
        PRICE_SOLD_OTHERWISE);
    assert_string_equal(ctx.scope, "us-east-1/AmazonEC2");

    parse_sample("ec2-offer-us-east-2.reserved-and-ebs.json");
    assert_int_equal(st.n_offer, 1); /* the Windows row does not count */
    const struct offer_row *o = offer("us-east-2", "m5.large", PURCHASE_RESERVED_3Y, PAYMENT_ALL);
    check(o->upfront, "1161");
    assert_int_equal(o->offering_class, OFFERING_CONVERTIBLE);
    check(rate("ebs_gp3", "storage", 0)->rate, "0.08");

    parse_sample("ec2-offer-cn-northwest-1.cny.json");
    assert_string_equal(rate("ebs_gp3", "storage", 0)->currency, "CNY");
    assert_string_equal(st.storage[0].vendor, "aws-cn");
    check(st.storage[0].rate, "0.5312");
}

static void ebs_samples(void **s)
{
    (void)s;
    if (!parse_sample("AmazonEC2_eu-west-3.ebs.csv")) {
        skip();
    }
    check(rate("ebs_st1", "storage", 0)->rate, "0.053");
    check(rate("ebs_io1", "storage", 0)->rate, "0.145");
    check(rate("ebs_io1", "provisioned_iops", 0)->rate, "0.076");
    check(rate("ebs_gp2", "storage", 0)->rate, "0.116");
    assert_int_equal(st.n_storage, 4);
    assert_string_equal(st.storage[0].region, "eu-west-3"); /* by the location's name */

    parse_sample("AmazonEC2.eu-west-1.awkward-rows.fixture.csv");
    const struct storage_rate_row *t = rate("ebs_gp3", "throughput", 0);
    check(t->rate, "0.044"); /* 45.056 per GiBps */
    assert_int_equal(t->unit, SU_MIBPS_MONTH);
    assert_int_equal(t->unit_qty, 1);
    check(rate("ebs_io2", "snapshot", 0)->rate, "0.05");
    const struct offer_row *o = offer("eu-west-1", "c1.medium", PURCHASE_RESERVED_3Y, PAYMENT_ALL);
    check(o->upfront, "1680"); /* "All Upfront" and "AllUpfront" of one term */
    check(offer("eu-west-1", "c3.2xlarge", PURCHASE_ON_DEMAND, PAYMENT_NULL)->price_per_hour,
          "0.478");
    for (size_t i = 0; i < st.n_offer; i++) {
        assert_string_equal(st.offer[i].region, "eu-west-1");
        assert_true(st.offer[i].price_per_hour > 0 || st.offer[i].upfront > 0);
    }

    size_t n; /* one reserved SKU, but Windows and dedicated: nothing counts */
    char *t2 = fake_shared("samples/aws/ec2-global-offer.2025-09-12.reserved.excerpt.csv", &n);
    assert_int_equal(parse("x", t2, n, 100), GT_EPARSE);
    assert_non_null(strstr(err.text, "without a price that counts"));
    free(t2);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The offers as the generator prints them, sorted. */
static char *offer_lines(void)
{
    char **line = malloc((st.n_offer + 1) * sizeof *line);
    size_t n = 0, bytes = 1;
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (o->purchase == PURCHASE_ON_DEMAND) {
            char price[MONEY_TEXT], buf[400];
            int len = snprintf(buf, sizeof buf, "%s,%s,%g,%g,%s,%s,%s\n", o->region,
                               o->instance_type, o->vcpus, o->memory_gib,
                               money_format_fixed(o->price_per_hour, 10, false, price), o->currency,
                               o->sku);
            bytes += (size_t)len;
            line[n++] = strdup(buf);
        }
    }
    qsort(line, n, sizeof *line, by_text);
    char *all = calloc(1, bytes), *p = all;
    for (size_t i = 0; i < n; i++) {
        p = stpcpy(p, line[i]);
        free(line[i]);
    }
    free(line);
    return all;
}

static char *slurp(const char *suffix, size_t *len)
{
    char path[300];
    snprintf(path, sizeof path, "%s/g%s", work, suffix);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *t = malloc(*len + 1);
    assert_int_equal(fread(t, 1, *len, f), *len);
    t[*len] = '\0';
    fclose(f);
    return t;
}

/* The expected file without the columns that a row does not carry (kind of place, GPU count). */
static char *expected_lines(void)
{
    size_t len, n = 0;
    char *t = slurp(".expected-all.csv", &len), **line = malloc(len * sizeof *line);
    char *all = calloc(1, len + 1), *p = all, *save = NULL;
    for (char *l = strtok_r(t, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        char f[9][100] = {{0}}, buf[800];
        int k = 0, at = 0;
        for (char *c = l; *c; c++) {
            if (*c == ',') {
                k++;
                at = 0;
            } else {
                f[k][at++] = *c;
            }
        }
        snprintf(buf, sizeof buf, "%s,%s,%s,%s,%s,%s,%s\n", f[0], f[2], f[3], f[4], f[6], f[7],
                 f[8]);
        if (strcmp(f[0], "region") != 0) {
            line[n++] = strdup(buf);
        }
    }
    qsort(line, n, sizeof *line, by_text);
    for (size_t i = 0; i < n; i++) {
        p = stpcpy(p, line[i]);
        free(line[i]);
    }
    free(line);
    free(t);
    return all;
}

static void check_ebs(void)
{
    size_t len, rows = 0, put = 0;
    char *t = slurp(".expected-ebs.csv", &len), *save = NULL;
    for (char *l = strtok_r(t, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        char *comma = strrchr(l, ','), *f[11];
        const char *sku = comma + 1;
        int k = 0;
        bool seen = false;
        for (char *c = l; k < 11; k++) {
            f[k] = strsep(&c, ",");
        }
        if (strcmp(f[0], "region") == 0) {
            continue;
        }
        rows++;
        for (size_t i = 0; i < st.n_storage; i++) {
            const struct storage_rate_row *s = &st.storage[i];
            if (strcmp(s->sku, sku) == 0) {
                money want, times = strcmp(f[5], "GiBps-mo") == 0 && s->unit_qty == 1 ? 1024 : 1;
                assert_int_equal(money_parse(f[8], strlen(f[8]), &want, NULL), 0);
                assert_true(s->rate * times == want);
                assert_string_equal(s->region, f[0]);
                assert_string_equal(s->currency, f[9]);
                seen = true;
            }
        }
        assert_true(seen);
    }
    for (size_t i = 0; i < st.n_storage; i++) {
        put += strcmp(st.storage[i].component, "snapshot") != 0 ||
               strcmp(st.storage[i].tier, "ebs_gp3") == 0;
    }
    assert_int_equal(put, rows);
    free(t);
}

static void generate(const char *options)
{
    char command[600];
    const char *shared = getenv("GPUTIER_SHARED");
    snprintf(command, sizeof command,
             "python3 %s/tools/gen_aws_offer.py %s --format both --expected-all --out %s/g",
             shared ? shared : "../shared", options, work);
    assert_int_equal(system(command), 0);
}

static void generated(void **s)
{
    (void)s;
    static const char *const options[] = {
        "--size 6M",
        "--size 3M --terms-first --compact --seed 5",
        "--size 2M --currency CNY --comma-memory",
        "--size 1M --regions us-east-1 --reserved-pct 100 --terms-first --seed 3",
    };
    size_t n;
    char *probe = fake_shared("tools/gen_aws_offer.py", &n);
    if (!probe) {
        skip();
    }
    free(probe);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        generate(options[i]);
        char *want = expected_lines(), *got[2];
        size_t reserved[2];
        for (int csv = 0; csv < 2; csv++) {
            char *t = slurp(csv ? ".csv" : ".json", &n);
            int rc = parse("g", t, n, csv ? 7001 : 10007);
            if (rc != 0) {
                fail_msg("%s: %s: %s", options[i], err.where, err.text);
            }
            got[csv] = offer_lines();
            assert_string_equal(got[csv], want);
            check_ebs();
            reserved[csv] = 0;
            for (size_t k = 0; k < st.n_offer; k++) {
                const struct offer_row *o = &st.offer[k];
                reserved[csv] += purchase_is_commitment(o->purchase);
                assert_true(o->payment != PAYMENT_PARTIAL ||
                            (o->upfront > 0 && o->price_per_hour > 0));
                assert_true(o->payment != PAYMENT_ALL || o->price_per_hour == 0);
            }
            if (i == 3) {
                assert_string_equal(ctx.scope, "us-east-1/AmazonEC2");
                assert_true(reserved[csv] > 0 && reserved[csv] % 12 == 0);
            }
            free(t);
            free(got[csv]);
        }
        assert_int_equal(reserved[0], reserved[1]); /* both layouts say the same */
        free(want);
    }
}

static void broken(void **s)
{
    (void)s;
    static const struct {
        const char *text, *says;
        int code;
    } cases[] = {
        {"{\"offerCode\":\"AmazonEC2\",\"products\":{", "cut file", GT_EPARSE},
        {"{\"offerCode\":\"AmazonEC2\",\"products\":{},\"terms\":{}}", "without a price",
         GT_EPARSE},
        {"{\"offerCode\":\"AmazonEC2\",\"products\":[]}", "found a list", GT_EPARSE},
        {"{\"products\":{\"A\":{\"attributes\":{\"vcpu\":\"1\",\"vcpu\":\"2\"}}}}",
         "\"vcpu\" twice", GT_EPARSE},
        {"{\"offerCode\":\"AmazonS3\",\"products\":{\"A\":{\"attributes\":{\"usagetype\":"
         "\"Requests-Tier1\"}},\"A\":{\"attributes\":{\"usagetype\":\"Requests-Tier1\"}}}}",
         "product A twice", GT_EPARSE},
        {"{\"a\":1}", "without a price", GT_EPARSE},
        {"", "empty", GT_EPARSE},
        {"SKU,OfferTermCode,RateCode,TermType\n", "no column 'Unit'", GT_EPARSE},
        {"hello\nworld\n", "no header line", GT_EPARSE},
        {"{\"terms\":{\"OnDemand\":{\"A\":{\"A.B\":{\"priceDimensions\":{}}}}}", "cut file",
         GT_EPARSE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t step = 1; step < 200; step += 66) {
            assert_int_equal(parse("x", cases[i].text, strlen(cases[i].text), step), cases[i].code);
            if (!strstr(err.text, cases[i].says)) {
                fail_msg("case %zu says: %s", i, err.text);
            }
        }
    }
}

/* Every cut of a small list is refused, every odd price is left out. */
static void hostile(void **s)
{
    (void)s;
    static const char list[] =
        "{\"offerCode\":\"AmazonS3\",\"products\":{\"A\":{\"productFamily\":\"API Request\","
        "\"attributes\":{\"usagetype\":\"Requests-Tier2\",\"regionCode\":\"us-east-1\"}}},"
        "\"terms\":{\"OnDemand\":{\"A\":{\"A.B\":{\"priceDimensions\":{\"A.B.C\":{\"unit\":"
        "\"Requests\",\"beginRange\":\"0\",\"endRange\":\"Inf\",\"pricePerUnit\":{\"USD\":"
        "\"%s\"}}},\"termAttributes\":{}}}}}}";
    char text[800];
    snprintf(text, sizeof text, list, "0.0000004");
    assert_int_equal(parse("x", text, strlen(text), 9), 0);
    assert_int_equal(st.n_storage, 1);
    for (size_t n = 1; n < strlen(text); n++) {
        assert_int_equal(parse("x", text, n, 9), GT_EPARSE);
    }
    static const char *const prices[] = {"-1", "NaN", "1e30", "", "0x10", "1,5", "inf"};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        snprintf(text, sizeof text, list, prices[i]);
        assert_int_equal(parse("x", text, strlen(text), 9), GT_EPARSE); /* no price is left */
        assert_int_equal(st.n_storage, 0);
    }
}

/* An object where a text belongs: its keys must not be read as those of a price. */
static void misplaced_objects(void **s)
{
    (void)s;
    static const char products[] =
        "\"products\":{\"A\":{\"productFamily\":\"API Request\",\"attributes\":{\"usagetype\":"
        "\"Requests-Tier2\",\"regionCode\":\"us-east-1\"}}}";
    static const char *const terms[] = {
        "\"termAttributes\":{\"LeaseContractLength\":{\"unit\":\"Requests\"}}",
        "\"termAttributes\":{\"PurchaseOption\":{\"pricePerUnit\":{\"USD\":\"1\"}}}",
        "\"termAttributes\":{\"OfferingClass\":{\"endRange\":\"Inf\"}}",
        "\"effectiveDate\":{\"PurchaseOption\":{\"beginRange\":\"0\"}}",
        "\"priceDimensions\":{\"A.B.C\":{\"unit\":{\"USD\":\"1\"}}}",
    };
    char text[800];
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        snprintf(text, sizeof text,
                 "{\"offerCode\":\"AmazonS3\",%s,\"terms\":{\"OnDemand\":{\"A\":{\"A.B\":{%s}}}}}",
                 products, terms[i]);
        assert_int_equal(parse("x", text, strlen(text), 9), GT_EPARSE);
        assert_non_null(strstr(err.text, "found an object where a text belongs"));
        snprintf(text, sizeof text,
                 "{\"offerCode\":\"AmazonS3\",\"terms\":{\"OnDemand\":{\"A\":{\"A.B\":{%s}}}},%s}",
                 terms[i], products);
        assert_int_equal(parse("x", text, strlen(text), 9), GT_EPARSE);
        assert_non_null(strstr(err.text, "found an object where a text belongs"));
    }
    /* A null or the head at the end leaves nothing behind for the terms, which are read last. */
    static const char last[] =
        "{\"terms\":{\"OnDemand\":{\"A\":{\"A.B\":{\"priceDimensions\":{\"A.B.C\":{\"unit\":"
        "\"Requests\",\"beginRange\":\"0\",\"endRange\":\"Inf\",\"pricePerUnit\":{\"USD\":"
        "\"0.0000004\"}}}}}}},\"offerCode\":\"AmazonS3\",%s,\"offerCode\":%s}";
    static const char *const ends[] = {"null", "\"AmazonS3\""};
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, last, products, ends[i]);
        assert_int_equal(parse("x", text, strlen(text), 9), 0);
        assert_int_equal(st.n_storage, 1);
    }
    static const char code[] = "{\"offerCode\":{\"a\":\"b\"}}";
    assert_int_equal(parse("x", code, strlen(code), 9), GT_EPARSE);
    assert_non_null(strstr(err.text, "found an object where a text belongs"));
}

int main(void)
{
    if (!mkdtemp(work)) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpu_sample),
        cmocka_unit_test(json_samples),
        cmocka_unit_test(ebs_samples),
        cmocka_unit_test(generated),
        cmocka_unit_test(broken),
        cmocka_unit_test(hostile),
        cmocka_unit_test(misplaced_objects),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", work);
    return system(command) == 0 ? rc : 1;
}
