/* AWS Savings Plans: the samples give the rows that can be bought; both layouts say the same; the
 * two kinds of plan stay apart; the parts of a payment add up; lists in another order or cut
 * anywhere are read or refused whole. */
#include "fake_staging.h"
#include "unit.h"

static struct staging st;
static struct gt_error err;
static struct parse_context ctx;

static uint64_t left_out(const char *reason)
{
    for (size_t i = 0; i < LEFT_OUT_REASONS && ctx.left_out[i].reason; i++) {
        if (strcmp(ctx.left_out[i].reason, reason) == 0) {
            return ctx.left_out[i].rows;
        }
    }
    return 0;
}

static int parse(const char *name, const char *text, size_t len, size_t step)
{
    fake_clear(&st);
    memset(&err, 0, sizeof err);
    memset(&ctx, 0, sizeof ctx);
    return fake_parse(source_find("aws-savings-plan"), &st, name, text, len, step, &ctx, &err);
}

static void check(money m, const char *text)
{
    char buf[MONEY_TEXT];
    assert_string_equal(money_format(m, buf), text);
}

static void sample_json(void **s)
{
    (void)s;
    size_t n = 0;
    char *t = fake_shared("samples/aws/savings-plan.eu-west-1.2020-02-20.fixture.json", &n);
    if (!t) {
        skip();
    }
    for (size_t step = 1; step < 9000; step += 1733) {
        assert_int_equal(parse("sp.json", t, n, step), 0);
        assert_int_equal(st.n_offer, 1); /* of 15 rates */
        const struct offer_row *o = st.offer;
        assert_string_equal(o->instance_type, "c1.medium");
        assert_string_equal(o->region, "eu-west-1"); /* by the usage type's EUW1- */
        assert_string_equal(o->sku, "8GU23DFTKP2N43SD.29QDFBY626457QNP");
        assert_int_equal(o->purchase, PURCHASE_SAVINGS_PLAN_1Y);
        assert_int_equal(o->payment, PAYMENT_ALL);
        assert_int_equal(o->offering_class, OFFERING_CONVERTIBLE);
        check(o->upfront, "858.48"); /* 0.098 an hour for 8,760 h */
        check(o->price_per_hour, "0");
        assert_int_equal(ctx.skipped, 14);
        assert_int_equal(ctx.as_of, 1582236180); /* the publication */
        assert_string_equal(ctx.scope, "eu-west-1/AWSComputeSavingsPlan");
        assert_int_equal(left_out("other services"), 11);
        assert_int_equal(left_out("dedicated or unused machines"), 3);
    }
    assert_true(source_recognises(source_find("aws-savings-plan"), t, n, "x"));
    assert_false(source_recognises(source_find("aws-offer"), t, n, "x"));
    free(t);
}

static void sample_csv(void **s)
{
    (void)s;
    size_t n = 0;
    char *t = fake_shared("samples/aws/savings-plan.ap-east-2.2025-09-11.excerpt.csv", &n);
    if (!t) {
        skip();
    }
    /* its four rates are of dedicated and of unused machines: nothing that counts, and said so */
    assert_int_equal(parse("sp.csv", t, n, 100), GT_EPARSE);
    assert_non_null(strstr(err.text, "dedicated or unused machines 4"));
    assert_true(source_recognises(source_find("aws-savings-plan"), t, n, "x"));
    assert_false(source_recognises(source_find("aws-offer"), t, n, "x"));
    char *box; /* the same list with the second row shared and Linux */
    while ((box = strstr(t, "DedicatedUsage:r7g.xlarge,RunInstances:1010")) != NULL) {
        char was[] = "DedicatedUsage:r7g.xlarge,RunInstances:1010", is[64];
        snprintf(is, sizeof is, "BoxUsage:r7g.xlarge,RunInstances");
        memmove(box + strlen(is), box + strlen(was), strlen(box + strlen(was)) + 1);
        memcpy(box, is, strlen(is));
    }
    assert_int_equal(parse("sp.csv", t, strlen(t), 100), 0);
    assert_int_equal(st.n_offer, 1);
    assert_string_equal(st.offer->region, "ap-east-2");
    assert_int_equal(st.offer->purchase, PURCHASE_SAVINGS_PLAN_3Y);
    assert_int_equal(st.offer->payment, PAYMENT_PARTIAL);
    assert_int_equal(st.offer->offering_class, OFFERING_STANDARD);
    check(st.offer->price_per_hour, "0.11995"); /* half of 0.2399 */
    check(st.offer->upfront, "3152.286");
    assert_int_equal(st.offer->valid_from, 1749149473);
    free(t);
}

#define HEAD                                                                                       \
    "FormatVersion,v1.0\nDisclaimer,Prices, terms, taxes and more commas\nPublication Date,"       \
    "2026-11-01T00:00:00Z\nVersion,1\nOfferCode,AmazonComputeSavingsPlan\n"                        \
    "SKU,RateCode,Unit,EffectiveDate,DiscountedRate,Currency,DiscountedSKU,"                       \
    "DiscountedServiceCode,DiscountedUsageType,DiscountedOperation,PurchaseOption,"                \
    "LeaseContractLength,LeaseContractLengthUnit,Product Family,DiscountedRegionCode,"             \
    "DiscountedInstanceType\n"

/* One rate as a CSV row and as JSON. */
static const struct rate {
    const char *plan, *code, *price, *service, *usage, *operation, *option, *years, *family;
} rates[] = {
    {"P1", "P1.A", "13.5", "AmazonEC2", "USE1-BoxUsage:p4d.24xlarge", "RunInstances", "No Upfront",
     "1", "ComputeSavingsPlans"},
    {"P2", "P2.A", "12.25", "AmazonEC2", "USE1-BoxUsage:p4d.24xlarge", "RunInstances", "No Upfront",
     "1", "EC2InstanceSavingsPlans"},
    {"P3", "P3.A", "9.123456789013", "AmazonEC2", "USE1-BoxUsage:p4d.24xlarge", "RunInstances",
     "Partial Upfront", "3", "EC2InstanceSavingsPlans"},
    {"P4", "P4.A", "8", "AmazonEC2", "USE1-BoxUsage:p4d.24xlarge", "RunInstances", "All Upfront",
     "3", "ComputeSavingsPlans"},
    {"P1", "P1.B", "0.5", "AmazonEC2", "USE1-BoxUsage:g5.xlarge", "RunInstances:0002", "No Upfront",
     "1", "ComputeSavingsPlans"}, /* Windows */
    {"P1", "P1.C", "0.6", "AmazonEC2", "USE1-HostBoxUsage:g5", "RunInstances", "No Upfront", "1",
     "ComputeSavingsPlans"},
    {"P1", "P1.D", "0.7", "AmazonEC2", "USE1-UnusedBox:g5.xlarge", "RunInstances", "No Upfront",
     "1", "ComputeSavingsPlans"},
    {"P1", "P1.E", "0.8", "AWSLambda", "USE1-BoxUsage:g5.xlarge", "RunInstances", "No Upfront", "1",
     "ComputeSavingsPlans"},
    {"P1", "P1.F", "0.0000", "AmazonEC2", "USE1-BoxUsage:g5.xlarge", "RunInstances", "No Upfront",
     "1", "ComputeSavingsPlans"}, /* zero is no price */
};
#define RATES (sizeof rates / sizeof *rates)

static void to_csv(char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s", HEAD);
    for (size_t i = 0; i < RATES; i++) {
        const struct rate *r = &rates[i];
        n += (size_t)snprintf(out + n, size - n,
                              "%s,%s,Hrs,2026-06-01T00:00:00Z,%s,USD,ABCDEFGH12345678,%s,%s,%s,%s,"
                              "%s,year,%s,us-east-1,%s\n",
                              r->plan, r->code, r->price, r->service, r->usage, r->operation,
                              r->option, r->years, r->family,
                              strchr(r->usage, '.') ? strchr(r->usage, ':') + 1 : "");
    }
}

/* order 0: as the vendor has it; 1: terms before products, a term's rates before its sku */
static void to_json(char *out, size_t size, int order)
{
    char plans[2000] = "", terms[6000] = "";
    size_t np = 0, nt = 0;
    for (size_t i = 0; i < RATES; i++) {
        const struct rate *r = &rates[i];
        if (i < 4) {
            np += (size_t)snprintf(plans + np, sizeof plans - np,
                                   "%s{\"sku\":\"%s\",\"productFamily\":\"%s\",\"attributes\":{"
                                   "\"granularity\":\"hourly\",\"purchaseOption\":\"%s\"}}",
                                   i ? "," : "", r->plan, r->family, r->option);
        }
        char of[300];
        snprintf(of, sizeof of,
                 "\"sku\":\"%s\",\"effectiveDate\":\"2026-06-01T00:00:00Z\","
                 "\"leaseContractLength\":{\"duration\":%s,\"unit\":\"year\"}",
                 r->plan, r->years);
        nt += (size_t)snprintf(
            terms + nt, sizeof terms - nt,
            "%s{%s%s\"rates\":[{\"discountedSku\":\"ABCDEFGH12345678\",\"discountedUsageType\":"
            "\"%s\",\"discountedOperation\":\"%s\",\"discountedServiceCode\":\"%s\",\"rateCode\":"
            "\"%s\",\"unit\":\"Hrs\",\"discountedRate\":{\"price\":\"%s\",\"currency\":\"USD\"},"
            "\"discountedRegionCode\":\"us-east-1\",\"other\":[{\"price\":\"1\"}]}]%s%s}",
            i ? "," : "", order ? "" : of, order ? "" : ",", r->usage, r->operation, r->service,
            r->code, r->price, order ? "," : "", order ? of : "");
    }
    snprintf(out, size,
             order ? "{\"terms\":{\"savingsPlan\":[%s]},\"publicationDate\":\"2026-11-01\","
                     "\"products\":[%s]}"
                   : "{\"publicationDate\":\"2026-11-01\",\"terms\":{\"savingsPlan\":[%s]},"
                     "\"regionCode\":\"us-east-1\",\"products\":[%s]}",
             terms, plans);
}

/* The decision of aws_savings.h: four plans of one machine are four offers, none takes the place
 * of another, in both layouts and in any order. */
static void both_kinds_of_plan_stay_apart(void **s)
{
    (void)s;
    char text[12000];
    for (int layout = 0; layout < 3; layout++) {
        if (layout == 0) {
            to_csv(text, sizeof text);
        } else {
            to_json(text, sizeof text, layout - 1);
        }
        for (size_t step = 7; step < 200000; step *= 11) {
            int rc = parse("x", text, strlen(text), step);
            if (rc != 0) {
                fail_msg("layout %d: %s: %s", layout, err.where, err.text);
            }
            assert_int_equal(st.n_offer, 4);
            for (size_t i = 0; i < 4; i++) {
                const struct offer_row *o = &st.offer[i];
                assert_string_equal(o->sku, rates[i].code);
                assert_string_equal(o->instance_type, "p4d.24xlarge");
                assert_string_equal(o->gpu, "A100-40GB SXM4");
                assert_int_equal(o->valid_from, 1780272000);
                assert_int_equal(o->offering_class,
                                 i % 3 == 0 ? OFFERING_CONVERTIBLE : OFFERING_STANDARD);
            }
            check(st.offer[0].price_per_hour, "13.5");
            check(st.offer[0].upfront, "0");
            assert_string_equal(st.offer[0].note, "Compute Savings Plan");
            check(st.offer[1].price_per_hour, "12.25");
            /* partial: the two parts are the rate again, to the last digit */
            money total, want, rate;
            assert_int_equal(money_mul_ratio(st.offer[2].price_per_hour, 26280, 1, &total), 0);
            assert_int_equal(money_parse("9.123456789013", 14, &rate, NULL), 0);
            assert_int_equal(money_mul_ratio(rate, 26280, 1, &want), 0);
            assert_true(total + st.offer[2].upfront == want && st.offer[2].upfront > 0);
            check(st.offer[3].price_per_hour, "0");
            check(st.offer[3].upfront, "210240");
            assert_int_equal(ctx.skipped, 5);
            assert_int_equal(left_out("other services"), 1);
            assert_int_equal(left_out("dedicated or unused machines"), 2);
            assert_int_equal(left_out("other systems than Linux"), 1);
            assert_int_equal(left_out("SKU does not resolve"), 0);
            assert_int_equal(left_out("price 0"), 1);
            assert_string_equal(ctx.scope, "us-east-1/AWSComputeSavingsPlan");
        }
        assert_true(source_recognises(source_find("aws-savings-plan"), text, strlen(text), "x"));
        for (size_t n = 1; layout > 0 && n < strlen(text); n += 13) { /* a cut file is none */
            assert_int_equal(parse("x", text, n, 64), GT_EPARSE);
        }
    }
}

/* A currency, unit or place that is not what it must be leaves the row out. */
static void odd_rates(void **s)
{
    (void)s;
    static const char *const odd[] = {
        "P,P.A,Hrs,,-1,USD,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "ComputeSavingsPlans,us-east-1,g5.xlarge\n",
        "P,P.A,Quantity,,1,USD,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "ComputeSavingsPlans,us-east-1,g5.xlarge\n",
        "P,P.A,Hrs,,1,US,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "ComputeSavingsPlans,us-east-1,g5.xlarge\n",
        "P,P.A,Hrs,,1,USD,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,2,year,"
        "ComputeSavingsPlans,us-east-1,g5.xlarge\n",
        "P,P.A,Hrs,,1,USD,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,Some Upfront,1,year,"
        "ComputeSavingsPlans,us-east-1,g5.xlarge\n",
        "P,P.A,Hrs,,1,USD,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "DatabaseSavingsPlans,us-east-1,g5.xlarge\n",
        "P,P.A,Hrs,,1,USD,A,AmazonEC2,QQQ9-BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "ComputeSavingsPlans,,g5.xlarge\n", /* an unknown place is never the next one */
        "P,P.A,Hrs,,1,USD,A,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "ComputeSavingsPlans,us-east-1,g5.2xlarge\n", /* two words for the type */
        "P,P.A,Hrs,,1,USD,_not_found_,AmazonEC2,BoxUsage:g5.xlarge,RunInstances,No Upfront,1,year,"
        "ComputeSavingsPlans,us-east-1,g5.xlarge\n",
    };
    char text[2000];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        snprintf(text, sizeof text, "%s%s", HEAD, odd[i]);
        assert_int_equal(parse("x", text, strlen(text), 50), GT_EPARSE);
        assert_int_equal(st.n_offer, 0);
    }
    assert_non_null(strstr(err.text, "SKU does not resolve 1"));
    snprintf(text, sizeof text, "%s%s", HEAD,
             "P,P.A,Hrs,,7.5,CNY,A,AmazonEC2,CNN1-BoxUsage:g5.xlarge,RunInstances,NoUpfront,1,"
             "year,EC2InstanceSavingsPlans,,\n");
    assert_int_equal(parse("x", text, strlen(text), 50), 0);
    assert_string_equal(st.offer->vendor, "aws-cn");
    assert_string_equal(st.offer->region, "cn-north-1");
    assert_string_equal(st.offer->currency, "CNY");
}

static void broken(void **s)
{
    (void)s;
    static const struct {
        const char *text, *says;
    } c[] = {
        {"", "empty"},
        {"x,y\n", "no header line"},
        {"SKU,RateCode\n", "no column 'Unit'"},
        {"{\"products\":{}}", "found an object where savings plans have a list"},
        {"{\"terms\":{\"savingsPlan\":{}}}", "found an object where savings plans have a list"},
        {"{\"terms\":{\"savingsPlan\":[{\"rates\":{}}]}}", "have a list"},
        {"{\"terms\":{\"savingsPlan\":[{\"sku\":{}}]}}", "have a text"},
        {"{\"terms\":{\"savingsPlan\":[[]]}}", "have an object"},
        {"{\"terms\":{\"savingsPlan\":[{\"sku\":\"a\",\"sku\":\"b\"}]}}", "\"sku\" twice"},
        {"{\"products\":[{\"sku\":\"A\"},{\"sku\":\"A\"}]}", "plan 'A' twice"},
        {"{\"products\":[{}]}", "without a sku"},
        {"{}", "without a rate that counts"},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        assert_int_equal(parse("x", c[i].text, strlen(c[i].text), 3), GT_EPARSE);
        if (!strstr(err.text, c[i].says)) {
            fail_msg("case %zu says: %s", i, err.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_json),
        cmocka_unit_test(sample_csv),
        cmocka_unit_test(both_kinds_of_plan_stay_apart),
        cmocka_unit_test(odd_rates),
        cmocka_unit_test(broken),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
