/* Alibaba, Tencent and Huawei Cloud: rows of the shared samples, questions and answers, what the
 * lists do not say, error envelopes. */
#include "cloud_rows.h"

static int parse_json(const char *id, const char *text)
{
    int rc = parse(id, text, strlen(text), strlen(text));
    size_t rows = st.n_offer + st.n_spot;
    for (size_t step = 1; step < 50; step += 9) {
        assert_int_equal(parse(id, text, strlen(text), step), rc);
        assert_int_equal(st.n_offer + st.n_spot, rows);
    }
    return rc;
}

/* Two documents, one behind the other. */
static int parse_pair(const char *id, const char *question, const char *name)
{
    size_t n = 0;
    char *answer = fake_shared(name, &n);
    if (!answer) {
        skip();
    }
    char *both = malloc(n + strlen(question) + 1);
    memcpy(both, question, strlen(question));
    memcpy(both + strlen(question), answer, n);
    int rc = parse(id, both, n + strlen(question), 33);
    free(both);
    free(answer);
    return rc;
}

static void alibaba_price_and_history(void **s)
{
    (void)s;
    char buf[MONEY_TEXT];
    static const char sample[] = "samples/alibaba/describe-price.response.json";
    assert_int_equal(
        parse_pair("alibaba",
                   "{\"RegionId\":\"cn-hangzhou\",\"InstanceType\":\"ecs.gn7i-c8g1.2xlarge\"}",
                   sample),
        0);
    assert_int_equal(st.n_offer, 1);
    const struct offer_row *o = find("cn-hangzhou", "ecs.gn7i-c8g1.2xlarge", PURCHASE_ON_DEMAND);
    check(o, "1.944", "A10", 1, 24);
    assert_string_equal(o->currency, "USD");
    assert_string_equal(ctx.scope, "cn-hangzhou ecs.gn7i-c8g1.2xlarge on_demand");
    assert_int_equal(
        parse_pair("alibaba",
                   "{\"RegionId\":\"cn-hangzhou\",\"InstanceType\":\"ecs.gn7i-c8g1.2xlarge\","
                   "\"PriceUnit\":\"Month\"}",
                   sample),
        0);
    o = find("cn-hangzhou", "ecs.gn7i-c8g1.2xlarge", PURCHASE_MONTHLY);
    assert_true(o && o->price_per_hour == 0 && o->price_state == PRICE_KNOWN);
    assert_string_equal(money_format(o->price_month, buf), "1.944"); /* a package, not 730 hours */
    /* without the question nobody knows of what the price is */
    assert_int_equal(parse_pair("alibaba", "", sample), GT_EPARSE);
    assert_non_null(strstr(err.text, "RegionId"));
    assert_int_equal(st.n_offer, 0);
    parse_shared("alibaba", "samples/alibaba/describe-spot-price-history.response.json");
    assert_int_equal(st.n_offer, 1);
    o = find("cn-hangzhou", "ecs.gn7i-c8g1.2xlarge", PURCHASE_SPOT);
    check(o, "0.583", "A10", 1, 24);
    assert_string_equal(o->zone, "cn-hangzhou-i");
    assert_int_equal(st.n_spot, 1);
    assert_int_equal(st.spot[0].when, 1786341600);
    assert_string_equal(money_format(st.spot[0].price, buf), "0.583");
}

static void alibaba_last_change_is_the_price(void **s)
{
    (void)s;
    static const char text[] =
        "{\"SpotPrices\":{\"SpotPriceType\":["
        "{\"ZoneId\":\"us-east-1a\",\"InstanceType\":\"ecs.gn99x.large\",\"NetworkType\":\"vpc\","
        "\"SpotPrice\":0.5,\"Timestamp\":\"2026-08-02T00:00:00Z\"},"
        "{\"ZoneId\":\"us-east-1a\",\"InstanceType\":\"ecs.gn99x.large\",\"NetworkType\":\"vpc\","
        "\"SpotPrice\":\"0.7\",\"Timestamp\":\"2026-08-03T00:00:00Z\"},"
        "{\"ZoneId\":\"us-east-1a\",\"InstanceType\":\"ecs.gn99x.large\",\"NetworkType\":"
        "\"classic\",\"SpotPrice\":9,\"Timestamp\":\"2026-08-04T00:00:00Z\"},"
        "{\"ZoneId\":\"us-east-1a\",\"InstanceType\":\"ecs.gn99x.large\",\"NetworkType\":\"vpc\","
        "\"SpotPrice\":0,\"Timestamp\":\"2026-08-05T00:00:00Z\"}]},"
        "\"NextOffset\":1000,\"Currency\":\"USD\"}"; /* the currency comes last */
    assert_int_equal(parse_json("alibaba", text), 0);
    assert_int_equal(st.n_spot, 2);
    assert_int_equal(st.n_offer, 1);
    const struct offer_row *o = find("us-east-1", "ecs.gn99x.large", PURCHASE_SPOT);
    check(o, "0.7", "gn99x.large", 0, -1); /* an unknown GPU is kept, its number is not guessed */
    assert_non_null(strstr(o->note, "does not say"));
    assert_string_equal(ctx.next, "1000");
}

static void tencent_options_by_zone(void **s)
{
    (void)s;
    char buf[MONEY_TEXT];
    if (!parse_shared("tencent",
                      "samples/tencent/describe-zone-instance-config-infos.response.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 3);
    const struct offer_row *o = find("ap-guangzhou", "GN10Xp.2XLARGE40", PURCHASE_ON_DEMAND);
    check(o, "2.91", "V100-32GB SXM2", 1, 32);
    assert_true(o->vcpus == 10 && o->memory_gib == 40);
    assert_string_equal(o->zone, "ap-guangzhou-6");
    assert_string_equal(o->currency, "CNY");
    o = find("ap-guangzhou", "GN10Xp.2XLARGE40", PURCHASE_MONTHLY);
    assert_string_equal(money_format(o->price_month, buf), "1290");
    /* a quarter of a T4; what the spot discount of 20 % leaves; sold out, and still priced */
    o = find("ap-guangzhou", "GN7.LARGE20", PURCHASE_SPOT);
    check(o, "0.056", "T4", 1, 4);
    assert_int_equal(o->gpu_den, 4);
    assert_int_equal(st.n_spot, 1);
    assert_int_equal(st.spot[0].available, 0);
    assert_string_equal(st.spot[0].zone, "ap-guangzhou-6");
    assert_string_equal(ctx.scope, "ap-guangzhou");
}

#define TYPE(type, charge, gpus, price)                                                            \
    "{\"Zone\":\"eu-frankfurt-1\",\"InstanceType\":\"" type "\",\"InstanceFamily\":\"GNX9\","      \
    "\"InstanceChargeType\":\"" charge "\",\"Cpu\":4,\"Memory\":8," gpus ",\"Price\":{" price "}}"

static void tencent_odd_types(void **s)
{
    (void)s;
    /* clang-format off */
    static const char text[] = "{\"InstanceTypeQuotaSet\":["
        TYPE("GNX9.A", "POSTPAID_BY_HOUR", "\"Gpu\":1,\"GpuCount\":0.5",
             "\"UnitPrice\":2,\"UnitPriceSecondStep\":1.5,\"UnitPriceThirdStep\":1") ","
        TYPE("S5.SMALL1", "POSTPAID_BY_HOUR", "\"Gpu\":0",
             "\"UnitPrice\":0.15,\"Discount\":\"100.0\"") ","
        TYPE("S5.SMALL1", "CDHPAID", "\"Gpu\":0", "\"UnitPrice\":1") "]}";
    /* clang-format on */
    assert_int_equal(parse_json("tencent", text), 0);
    assert_int_equal(st.n_offer, 2);
    const struct offer_row *o = find("eu-frankfurt", "GNX9.A", PURCHASE_ON_DEMAND);
    check(o, "2", "GNX9", 1, -1); /* the list names the family, not the GPU */
    assert_int_equal(o->gpu_den, 2);
    assert_non_null(strstr(o->note, "96 h"));
    check(find("eu-frankfurt", "S5.SMALL1", PURCHASE_ON_DEMAND), "0.15", "", 0, -1);
    memset(&ctx, 0, sizeof ctx);
    fake_clear(&st);
    /* the international site's prices are dollars */
    assert_int_equal(fake_parse(source_find("tencent"), &st, "https://cvm.intl.tencentcloudapi.com",
                                text, sizeof text - 1, 40, &ctx, &err),
                     0);
    assert_string_equal(st.offer[0].currency, "USD");
}

static void huawei_question_and_answer(void **s)
{
    (void)s;
    size_t n = 0;
    char *question = fake_shared("samples/huawei/list-on-demand-resource-ratings.request.json", &n);
    if (!question) {
        skip();
    }
    char *text = strndup(question, n);
    free(question);
    static const char sample[] = "samples/huawei/list-on-demand-resource-ratings.response.json";
    assert_int_equal(parse_pair("huawei", text, sample), 0);
    free(text);
    assert_int_equal(st.n_offer, 1);
    const struct offer_row *o = find("cn-north-4", "c6.large.2", PURCHASE_ON_DEMAND);
    check(o, "0.33", "", 0, -1);
    assert_string_equal(o->currency, "CNY");
    assert_int_equal(parse_pair("huawei", "", sample), GT_EPARSE);
    assert_non_null(strstr(err.text, "question"));
#define ASK(id, spec, hours)                                                                       \
    "{\"id\":\"" id "\",\"resource_spec\":\"" spec "\",\"region\":\"r-1\",\"usage_value\":" hours  \
    ",\"usage_measure_id\":4,\"subscription_num\":1}"
    /* clang-format off */
    static const char pair[] = "{\"product_infos\":["
        ASK("a", "p9z.large.8.linux", "1") "," ASK("b", "pi2.2xlarge.4.linux", "1") ","
        ASK("c", "pi2.2xlarge.4.win", "1") "," ASK("d", "x.y.linux", "2") "]}\n"
        "{\"product_rating_results\":["
        "{\"id\":\"b\",\"amount\":1,\"official_website_amount\":\"2.5\"},"
        "{\"id\":\"a\",\"amount\":3}],\"currency\":\"CNY\"}";
    /* clang-format on */
    assert_int_equal(parse_json("huawei", pair), 0);
    assert_int_equal(st.n_offer, 2);
    check(find("r-1", "pi2.2xlarge.4", PURCHASE_ON_DEMAND), "2.5", "T4", 1, 16);
    check(find("r-1", "p9z.large.8", PURCHASE_ON_DEMAND), "3", "p9z.large.8", 0, -1);
}

static void f093_error_codes_change(void **s)
{
    (void)s;
    static const char *const cases[][2] = {
        {"alibaba", "{\"RequestId\":\"x\",\"Message\":\"NEW words\",\"Code\":\"Brand.New\"}"},
        {"tencent", "{\"Response\":{\"Error\":{\"Code\":\"Brand.New\",\"Message\":\"NEW words\"},"
                    "\"RequestId\":\"x\"}}"},
        {"huawei", "{\"error_msg\":\"NEW words\",\"error_code\":\"Brand.New\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse_json(cases[i][0], cases[i][1]), GT_EHTTP);
        assert_non_null(strstr(err.text, "Brand.New: NEW words"));
        assert_int_equal(st.n_offer, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alibaba_price_and_history),
        cmocka_unit_test(alibaba_last_change_is_the_price),
        cmocka_unit_test(tencent_options_by_zone),
        cmocka_unit_test(tencent_odd_types),
        cmocka_unit_test(huawei_question_and_answer),
        cmocka_unit_test(f093_error_codes_change),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
