/* Spot price history, exchange rates, and the tables of storage, transfer and past prices: samples
 * give their rows; catalog questions C04, C07, C08 and C12 have their answers in the rows that
 * the named files give. */
#include "fake_staging.h"
#include "unit.h"
#include <math.h>
#include <zlib.h>

static struct staging st;
static struct gt_error err;
static struct parse_context ctx;

static int parse(const char *id, const char *name, const char *text, size_t len, size_t step)
{
    fake_clear(&st);
    memset(&err, 0, sizeof err);
    memset(&ctx, 0, sizeof ctx);
    assert_true(source_recognises(source_find(id), text, len < 65536 ? len : 65536, name));
    return fake_parse(source_find(id), &st, name, text, len, step, &ctx, &err);
}

static bool parse_shared(const char *id, const char *name)
{
    size_t n;
    char *t = fake_shared(name, &n);
    if (!t) {
        return false;
    }
    if (n > 2 && t[0] == 0x1f) { /* .gz: the unpacked text is under 8 MB */
        z_stream z = {.next_in = (unsigned char *)t, .avail_in = (uInt)n};
        char *plain = malloc(8 << 20);
        assert_int_equal(inflateInit2(&z, 31), Z_OK);
        z.next_out = (unsigned char *)plain;
        z.avail_out = 8 << 20;
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        n = (8 << 20) - z.avail_out;
        inflateEnd(&z);
        free(t);
        t = plain;
    }
    if (parse(id, name, t, n, 4099) != 0) {
        fail_msg("%s: %s", err.where, err.text);
    }
    free(t);
    return true;
}

static void check(money m, const char *text)
{
    char buf[MONEY_TEXT];
    assert_string_equal(money_format(m, buf), text);
}

static void four_points(void)
{
    assert_int_equal(st.n_spot, 4);
    assert_int_equal(ctx.skipped, 3); /* Windows, Red Hat, and the VPC's name for the first */
    assert_string_equal(st.spot[0].zone, "us-east-1a");
    assert_string_equal(st.spot[0].region, "us-east-1");
    check(st.spot[0].price, "0.4134");
    assert_int_equal(st.spot[0].when, 1786343465);
    assert_int_equal(st.spot[2].when, 1786014129); /* before the others: kept at its own time */
}

static void spot_history(void **s)
{
    (void)s;
    if (!parse_shared("aws-spot-history", "samples/aws/describe-spot-price-history.cli.json")) {
        skip();
    }
    four_points();
    parse_shared("aws-spot-history", "samples/aws/describe-spot-price-history.response.xml");
    four_points();
    parse_shared("aws-spot-history", "catalog/aws-spot-history-all-2022-05-31.csv.gz");
    assert_int_equal(st.n_spot, 9281);
    for (size_t i = 0; i < st.n_spot; i++) { /* every zone id has a region */
        assert_true(strlen(st.spot[i].region) >= 9);
    }
    static const char *const bad[] = {
        "{\"SpotPriceHistory\":[{\"AvailabilityZone\":\"us-east-1a\"}",
        "{\"SpotPriceHistory\":[]}",
        "Timestamp,AvailabilityZone,InstanceType,SpotPrice\nx,us-east-1a,m,1\n",
        "<DescribeSpotPriceHistoryResponse/>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><DescribeSpotPriceHistoryResponse/>",
        "<DescribeSpotPriceHistoryResponse></x>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse("aws-spot-history", "x", bad[i], strlen(bad[i]), 5), GT_EPARSE);
    }
}

/* Any piece size gives the same rows, any cut is refused, pages follow one another. */
static void spot_history_in_pieces(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/aws/describe-spot-price-history.response.xml", &n);
    if (!t) {
        skip();
    }
    for (size_t step = 1; step < 200; step += 7) {
        assert_int_equal(parse("aws-spot-history", "x", t, n, step), 0);
        four_points();
    }
    size_t end = (size_t)(strstr(t, "</DescribeSpot") - t) + 35;
    for (size_t cut = 40; cut < end; cut++) {
        fake_clear(&st);
        memset(&ctx, 0, sizeof ctx);
        int rc = fake_parse(source_find("aws-spot-history"), &st, "x", t, cut, cut, &ctx, &err);
        assert_int_equal(rc, GT_EPARSE);
    }
    char *two = malloc(2 * n + 20);
    int len = snprintf(two, 2 * n + 20, "%s\n \n%s<!-- end -->", t, t);
    assert_int_equal(parse("aws-spot-history", "x", two, (size_t)len, 61), 0);
    assert_int_equal(st.n_spot, 8);
    free(two);
    free(t);
}

static void trap_25_names_and_ids_are_not_joined(void **s)
{
    (void)s;
    if (!parse_shared("aws-spot-history", "samples/aws/spot-history.azid.2023.excerpt.tsv")) {
        skip();
    }
    assert_int_equal(st.n_spot, 5);
    assert_string_equal(st.spot[0].zone, "euc1-az2"); /* an id stays an id, in its region */
    assert_string_equal(st.spot[0].region, "eu-central-1");
    static const char both[] =
        "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet><item><instanceType>g5.xlarge"
        "</instanceType><productDescription>Linux/UNIX</productDescription><spotPrice>0.5</"
        "spotPrice>"
        "<timestamp>2026-08-10T06:31:05.000Z</timestamp><availabilityZone>us-east-1a"
        "</availabilityZone><availabilityZoneId>use1-az4</availabilityZoneId></item>"
        "</spotPriceHistorySet></DescribeSpotPriceHistoryResponse>";
    assert_int_equal(parse("aws-spot-history", "x", both, sizeof both - 1, 9), 0);
    assert_string_equal(st.spot[0].zone, "us-east-1a");
}

static void trap_26_local_zones(void **s)
{
    static const char *const zone[][2] = {
        {"us-west-2-lax-1a", "us-west-2-lax-1"}, {"usw2-lax1-az1", "us-west-2-lax-1"},
        {"us-gov-west-1b", "us-gov-west-1"},     {"usgw1-az2", "us-gov-west-1"},
        {"cn-north-1a", "cn-north-1"},           {"cnnw1-az3", "cn-northwest-1"},
        {"ap-southeast-2c", "ap-southeast-2"},   {"apse2-az1", "ap-southeast-2"},
    };
    (void)s;
    for (size_t i = 0; i < sizeof zone / sizeof *zone; i++) {
        char text[300];
        int n = snprintf(text, sizeof text,
                         "Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice\n"
                         "2026-08-10T06:31:05+00:00,%s,g5.xlarge,Linux/UNIX,0.5\n",
                         zone[i][0]);
        assert_int_equal(parse("aws-spot-history", "x", text, (size_t)n, 64), 0);
        assert_string_equal(st.spot[0].region, zone[i][1]);
        assert_string_equal(st.spot[0].zone, zone[i][0]);
        bool china = strncmp(zone[i][1], "cn-", 3) == 0;
        assert_string_equal(st.spot[0].vendor, china ? "aws-cn" : "aws");
        assert_string_equal(st.spot[0].currency, china ? "CNY" : "USD");
    }
}

/* "Linux/UNIX (Amazon VPC)" counts where it is the only name that a pool has. */
static void spot_history_of_a_vpc(void **s)
{
    static const char text[] =
        "Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice\n"
        "2026-08-10,us-east-1a,g5.xlarge,Linux/UNIX (Amazon VPC),0.5\n"
        "2026-08-10,us-east-1b,g5.xlarge,Linux/UNIX (Amazon VPC),0.6\n"
        "2026-08-09,us-east-1a,g5.xlarge,Linux/UNIX,0.4\n";
    (void)s;
    assert_int_equal(parse("aws-spot-history", "x", text, sizeof text - 1, 11), 0);
    assert_int_equal(st.n_spot, 2);
    check(st.spot[0].price, "0.4");
    assert_string_equal(st.spot[1].zone, "us-east-1b");
    assert_int_equal(ctx.skipped, 1);
}

static const struct offer_row *spot_offer(const char *region, const char *type)
{
    for (size_t i = 0; i < st.n_offer; i++) {
        if (strcmp(st.offer[i].region, region) == 0 &&
            strcmp(st.offer[i].instance_type, type) == 0) {
            return &st.offer[i];
        }
    }
    return NULL;
}

#define SPOT_HEAD                                                                                  \
    "{\"config\":{\"rate\":\"perhr\",\"valueColumns\":[\"linux\",\"mswin\"],\"regions\":["
#define SPOT_REGION(code, sizes)                                                                   \
    "{\"region\":\"" code "\",\"instanceTypes\":[{\"type\":\"x\",\"sizes\":[" sizes "]}]}"
#define SPOT_SIZE(type, price)                                                                     \
    "{\"size\":\"" type "\",\"valueColumns\":[{\"name\":\"linux\",\"prices\":{\"USD\":\"" price    \
    "\"}},{\"name\":\"mswin\",\"prices\":{\"USD\":\"9\"}}]}"

static void trap_20_exponent_and_na(void **s)
{
    (void)s;
    if (!parse_shared("aws-spot-price",
                      "samples/aws/website-spot.af-south-1.2026-08-10.excerpt.json")) {
        skip();
    }
    assert_int_equal(st.n_offer, 17); /* no Windows price, and no Windows "N/A*" either */
    const struct offer_row *o = spot_offer("af-south-1", "t3.nano");
    check(o->price_per_hour, "0.0009"); /* "9.0E-4" */
    assert_int_equal(o->purchase, PURCHASE_SPOT);
    assert_string_equal(o->zone, "");
    assert_int_equal(o->as_of, 1790000000); /* of the fetch: the page has no date */
    static const char na[] = SPOT_HEAD SPOT_REGION(
        "eu-west-1", SPOT_SIZE("g5.xlarge", "N/A*") "," SPOT_SIZE("p4d.24xlarge", "11.5")) "]}}";
    assert_int_equal(parse("aws-spot-price", "x", na, sizeof na - 1, 13), 0);
    assert_int_equal(st.n_offer, 1);
    assert_int_equal(ctx.skipped, 1);
    assert_string_equal(st.offer[0].gpu, "A100-40GB SXM4");
    assert_int_equal(st.offer[0].gpu_num, 8);
}

/* The flat table that people keep of the feed. */
static void region_price_table(void **s)
{
    (void)s;
    if (!parse_shared("aws-spot-price", "catalog/aws-spot-region-price-linux-2021-04-06.csv.gz")) {
        skip();
    }
    assert_int_equal(st.n_offer, 1697);
    assert_int_equal(ctx.skipped, 248);                                          /* "N/A*" */
    check(spot_offer("ap-southeast-2", "a1.2xlarge")->price_per_hour, "0.0714"); /* apac-syd */
    assert_null(spot_offer("apac-syd", "a1.2xlarge"));
}

static void trap_21_jsonp(void **s)
{
    (void)s;
    size_t n;
    char *t = fake_shared("samples/aws/website-spot.jsonp.fixture.js", &n);
    if (!t) {
        skip();
    }
    for (size_t step = 1; step < 100; step += 9) {
        assert_int_equal(parse("aws-spot-price", "x.js", t, n, step), 0);
        assert_int_equal(st.n_offer, 4);
    }
    check(spot_offer("eu-west-1", "c1.medium")->price_per_hour, "0.0284");
    size_t end = (size_t)(strrchr(t, '}') - t);
    for (size_t cut = 1; cut <= end; cut += 11) {
        fake_clear(&st);
        memset(&ctx, 0, sizeof ctx);
        int rc = fake_parse(source_find("aws-spot-price"), &st, "x", t, cut, cut, &ctx, &err);
        assert_int_equal(rc, GT_EPARSE);
    }
    free(t);
    static const char *const bad[] = {
        "/* \"perhr\" \"mswin\" \"valueColumns\" */ callback(7);",
        "callback(" SPOT_HEAD SPOT_REGION("us-east", SPOT_SIZE("a", "1")) "]}}); alert(1)",
        "\"perhr\" \"mswin\" \"valueColumns\""};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(parse("aws-spot-price", "x", bad[i], strlen(bad[i]), 5), GT_EPARSE);
    }
}

static void trap_22_old_region_codes(void **s)
{
    static const char *const codes[][2] = {
        {"us-east", "us-east-1"},        {"us-west", "us-west-1"},
        {"eu-ireland", "eu-west-1"},     {"apac-sin", "ap-southeast-1"},
        {"apac-syd", "ap-southeast-2"},  {"apac-tokyo", "ap-northeast-1"},
        {"eu-central-1", "eu-central-1"}};
    (void)s;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char text[400];
        int n = snprintf(text, sizeof text,
                         SPOT_HEAD SPOT_REGION("%s", SPOT_SIZE("m", "0.1")) "]}}", codes[i][0]);
        assert_int_equal(parse("aws-spot-price", "x", text, (size_t)n, 50), 0);
        assert_string_equal(st.offer[0].region, codes[i][1]);
    }
}

static void trap_23_missing_is_not_zero(void **s)
{
    static const char some[] = SPOT_HEAD SPOT_REGION("us-east-1", "") "," SPOT_REGION(
        "us-west-2", SPOT_SIZE("g5.xlarge", "0.4")) "]}}";
    static const char none[] = SPOT_HEAD SPOT_REGION("us-east-1", "") "]}}";
    static const char unit[] = "{\"config\":{\"rate\":\"permonth\",\"x\":[\"perhr\",\"mswin\","
                               "\"valueColumns\"]}}";
    (void)s;
    assert_int_equal(parse("aws-spot-price", "x", some, sizeof some - 1, 9), 0);
    assert_int_equal(st.n_offer, 1);
    assert_int_equal(parse("aws-spot-price", "x", none, sizeof none - 1, 9), GT_EPARSE);
    assert_non_null(strstr(err.text, "no Linux spot price"));
    static const char zero[] =
        SPOT_HEAD SPOT_REGION("us-east-1", SPOT_SIZE("a", "0") "," SPOT_SIZE("b", "1")) "]}}";
    assert_int_equal(parse("aws-spot-price", "x", zero, sizeof zero - 1, 9), 0);
    assert_int_equal(st.n_offer, 1); /* zero is no price */
    assert_int_equal(parse("aws-spot-price", "x", unit, sizeof unit - 1, 9), GT_EPARSE);
    assert_non_null(strstr(err.text, "permonth")); /* F165: an unknown unit is reported */
}

static money fx_of(const char *currency, const char *day)
{
    int64_t date;
    assert_int_equal(time_parse(day, 0, &date, NULL), 0);
    for (size_t i = 0; i < st.n_fx; i++) {
        if (st.fx[i].date == date && strcmp(st.fx[i].currency, currency) == 0) {
            return st.fx[i].per_usd;
        }
    }
    return 0;
}

#define CUBE_HEAD "<g:Envelope xmlns:g=\"gesmes\" xmlns=\"eurofxref\"><Cube>"
#define CUBE_END  "</Cube></g:Envelope>"

/* Both quotes, days newest first over a weekend and a holiday: each day at its own rates. */
static void trap_60_days_and_both_quotes(void **s)
{
    static const char days[] = CUBE_HEAD
        "<Cube time=\"2026-05-04\"><Cube rate=\"2\" currency=\"USD\"/><Cube currency='SEK' "
        "rate='10'/>"
        "</Cube><Cube time='2026-04-30'><Cube currency='USD' rate='4'/><Cube currency='SEK' "
        "rate='10'/><Cube currency='TRY' rate='80'/></Cube>" CUBE_END;
    (void)s;
    assert_int_equal(parse("ecb-fx", "x", days, sizeof days - 1, 7), 0);
    assert_int_equal(st.n_fx, 5); /* SEK and EUR of two days, TRY of one */
    check(fx_of("SEK", "2026-05-04"), "5");
    check(fx_of("SEK", "2026-04-30"), "2.5");
    check(fx_of("EUR", "2026-04-30"), "0.25");
    assert_true(fx_of("TRY", "2026-05-04") == 0); /* not quoted that day: none */
    assert_true(fx_of("SEK", "2026-05-01") == 0); /* the holiday has no rate of its own */
    char when[16];
    assert_string_equal(date_format(ctx.as_of, when), "2026-05-04");
    for (size_t cut = 60; cut < sizeof days - 1; cut += 3) {
        assert_int_equal(parse("ecb-fx", "x", days, cut, 50), GT_EPARSE);
    }
}

static void exchange_rates(void **s)
{
    (void)s;
    if (!parse_shared("ecb-fx", "samples/fx/eurofxref-daily.2026-07-09.excerpt.xml")) {
        skip();
    }
    assert_int_equal(st.n_fx, 5); /* JPY, CZK, GBP, CHF and the euro; USD is the measure */
    assert_string_equal(st.fx[4].currency, "EUR");
    check(st.fx[4].per_usd, "0.8745080892");     /* 1 / 1.1435 = 0.87450808919982… */
    check(st.fx[0].per_usd, "162.413642326192"); /* 185.72 / 1.1435 = …19154 */
    assert_int_equal(st.fx[0].date, 1783555200);
    static const char *const bad[] = {
        CUBE_HEAD "<Cube time='2026-07-09'><Cube currency='USD' rate='0'/></Cube>" CUBE_END,
        CUBE_HEAD "<Cube time='2026-07-09'><Cube currency='SEK' rate='1'/></Cube>" CUBE_END,
        CUBE_HEAD "<Cube time='9 Juli'><Cube currency='USD' rate='1'/></Cube>" CUBE_END,
        CUBE_HEAD "<Cube currency='USD' rate='1'/>" CUBE_END,
        CUBE_HEAD "<Cube time='2026-07-09'><Cube currency='USD' rate='1'/><Cube currency='USD' "
                  "rate='2'/></Cube>" CUBE_END,
        CUBE_HEAD CUBE_END};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse("ecb-fx", "x", bad[i], strlen(bad[i]), 7), GT_EPARSE);
    }
}

static void exchange_rates_as_csv(void **s)
{
    (void)s;
    if (!parse_shared("ecb-fx", "samples/fx/eurofxref.layout.csv")) {
        skip();
    }
    assert_int_equal(st.n_fx, 4);
    check(fx_of("EUR", "2026-07-09"), "0.875273522976"); /* 1 / 1.1425 = 0.8752735229759… */
    check(fx_of("CNY", "2026-07-09"), "6.794135667396"); /* 7.7623 / 1.1425 = 6.79413566739606… */
    static const char history[] = "Date,USD,RUB,CNY,\n2026-07-09,1.25,N/A,7.5,\n"
                                  "2022-03-01,1.25,125,7.5,\n";
    assert_int_equal(parse("ecb-fx", "x", history, sizeof history - 1, 9), 0);
    assert_int_equal(st.n_fx, 5);
    assert_true(fx_of("RUB", "2026-07-09") == 0); /* quoted until 2022 */
    check(fx_of("RUB", "2022-03-01"), "100");
    static const char portal[] =
        "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS\n"
        "EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-07-09,1.25,A\n"
        "EXR.D.CNY.EUR.SP00.A,D,CNY,EUR,SP00,A,2026-07-09,7.5,A\n"
        "EXR.D.CNY.EUR.SP00.A,D,CNY,EUR,SP00,A,2026-07-11,NaN,H\n"
        "EXR.M.CNY.EUR.SP00.A,M,CNY,EUR,SP00,A,2026-07,7.4,A\n";
    assert_int_equal(parse("ecb-fx", "x", portal, sizeof portal - 1, 11), 0);
    assert_int_equal(st.n_fx, 2);
    assert_int_equal(ctx.skipped, 2);
    check(fx_of("CNY", "2026-07-09"), "6");
    static const char *const bad[] = {"Date, USD, CNY, \n31 June 2026, 1.1, 7, \n",
                                      "Date, USD, CNY, \n09 July 2026, 1.1, 7;5, \n",
                                      "Date, USD, CNY, \n09 July 2026, , 7.5, \n",
                                      "Date, USD, yuan, \n09 July 2026, 1.1, 7, \n",
                                      "Date, USD, CNY, \n",
                                      "Date, USD, CNY, \n09 July 2026, 1.1, 7, 8\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse("ecb-fx", "x", bad[i], strlen(bad[i]), 5), GT_EPARSE);
    }
}

static money rate(const char *vendor, const char *region, const char *tier, const char *component)
{
    const struct storage_rate_row *best = NULL;
    for (size_t i = 0; i < st.n_storage; i++) {
        const struct storage_rate_row *r = &st.storage[i];
        if (strcmp(r->vendor, vendor) == 0 && strcmp(r->region, region) == 0 &&
            strcmp(r->tier, tier) == 0 && strcmp(r->component, component) == 0 &&
            r->from_qty == 0 && (!best || r->valid_from > best->valid_from)) {
            best = r;
        }
    }
    assert_non_null(best);
    return best->rate;
}

static void storage_table(void **s)
{
    (void)s;
    if (!parse_shared("prices-csv", "catalog/storage-prices.csv")) {
        skip();
    }
    /* C07: 10,240 GB, read completely twice a month */
    double standard = 10240 * money_to_double(rate("aws", "us-east-1", "s3_standard", "storage"));
    double ia = money_to_double(rate("aws", "us-east-1", "s3_standard_ia", "storage"));
    double read = money_to_double(rate("aws", "us-east-1", "s3_standard_ia", "retrieval"));
    assert_true(fabs(standard - 235.52) < 1e-9);
    assert_true(fabs(10240 * ia + 2 * 10240 * read - 332.80) < 1e-9);
    assert_true(fabs((standard / 10240 - ia) / read - 1.05) < 1e-9);
    /* C12 b: rates of R2 Infrequent Access, per the units that are rounded up */
    check(rate("cloudflare", "*", "r2_ia", "storage"), "0.01");
    check(rate("cloudflare", "*", "r2_ia", "get"), "0.9");
    check(rate("cloudflare", "*", "r2_ia", "put"), "9");
    check(rate("cloudflare", "*", "r2_ia", "retrieval"), "0.01");
    for (size_t i = 0; i < st.n_storage; i++) {
        const struct storage_rate_row *r = &st.storage[i];
        assert_true(r->rate >= 0 && r->unit_qty >= 1);
        assert_true(r->to_qty < 0 || r->to_qty > r->from_qty);
        if (strcmp(r->vendor, "cloudflare") == 0 && strcmp(r->tier, "r2_standard") == 0 &&
            strcmp(r->component, "put") == 0 && r->from_qty > 0) {
            assert_true(r->from_qty == 1000000 * MONEY_SCALE); /* "1" of 1M requests */
            assert_int_equal(r->unit_qty, 1000000);
        }
        if (strcmp(r->tier, "ebs_gp3") == 0 && strcmp(r->component, "provisioned_iops") == 0) {
            assert_true(r->from_qty == 3000 * MONEY_SCALE); /* "above 3000" */
        }
    }
}

/* The bill for moving gb out, by the rows of one date. */
static double transfer(const char *vendor, const char *from, double gb, int64_t date)
{
    double sum = 0;
    for (size_t i = 0; i < st.n_transfer; i++) {
        const struct transfer_rate_row *r = &st.transfer[i];
        if (strcmp(r->vendor, vendor) == 0 && strcmp(r->from, from) == 0 &&
            strcmp(r->to, "internet") == 0 && r->valid_from == date) {
            double lo = money_to_double(r->from_gb);
            double hi = r->to_gb < 0 ? gb : money_to_double(r->to_gb);
            sum += (fmax(0, fmin(gb, hi) - lo)) * money_to_double(r->rate);
        }
    }
    return sum;
}

static void transfer_table(void **s)
{
    (void)s;
    if (!parse_shared("prices-csv", "catalog/transfer.csv")) {
        skip();
    }
    int64_t date;
    assert_int_equal(time_parse("2024-09-25", 0, &date, NULL), 0);
    assert_true(fabs(transfer("aws", "us-east-1", 61440, date) - 5120) < 1e-6); /* C08 */
    assert_true(fabs(transfer("aws", "us-east-1", 10241, date) - 921.685) < 1e-6);
    assert_int_equal(time_parse("2024-01-19", 0, &date, NULL), 0);
    assert_true(fabs(transfer("oci", "oci na/eu/uk", 12288, date) - 17.408) < 1e-6); /* C12 a */
}

static void price_history(void **s)
{
    (void)s;
    if (!parse_shared("prices-csv", "catalog/aws-ondemand-history-us-east-1.csv.gz")) {
        skip();
    }
    const struct offer_row *p5[3] = {NULL};
    size_t n = 0;
    assert_int_equal(st.n_offer, 1381);
    for (size_t i = 0; i < st.n_offer; i++) {
        if (strcmp(st.offer[i].instance_type, "p5.48xlarge") == 0) {
            assert_true(n < 2);
            p5[n++] = &st.offer[i];
        }
    }
    assert_int_equal(n, 2); /* C04 */
    char when[32];
    check(p5[0]->price_per_hour, "98.32");
    assert_string_equal(time_format(p5[0]->valid_from, when), "2023-08-08T13:58:38Z");
    check(p5[1]->price_per_hour, "55.04");
    assert_string_equal(time_format(p5[1]->valid_from, when), "2025-06-23T13:18:30Z");
    assert_true(p5[0]->valid_to == p5[1]->valid_from && p5[1]->valid_to == GT_TIME_NONE);
    assert_string_equal(p5[1]->gpu, "H100 SXM");
    assert_string_equal(p5[1]->vendor, "aws"); /* by the file's name */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spot_history),
        cmocka_unit_test(spot_history_in_pieces),
        cmocka_unit_test(trap_25_names_and_ids_are_not_joined),
        cmocka_unit_test(trap_26_local_zones),
        cmocka_unit_test(spot_history_of_a_vpc),
        cmocka_unit_test(trap_20_exponent_and_na),
        cmocka_unit_test(region_price_table),
        cmocka_unit_test(trap_21_jsonp),
        cmocka_unit_test(trap_22_old_region_codes),
        cmocka_unit_test(trap_23_missing_is_not_zero),
        cmocka_unit_test(trap_60_days_and_both_quotes),
        cmocka_unit_test(exchange_rates),
        cmocka_unit_test(exchange_rates_as_csv),
        cmocka_unit_test(storage_table),
        cmocka_unit_test(transfer_table),
        cmocka_unit_test(price_history),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
