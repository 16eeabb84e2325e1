/* Azure Retail Prices: the self-check of the sample (2 on demand, 1 spot, 2 reserved, 2 savings
 * plans on any day after 1 June 2026), brackets of blob storage, the reservation whose price is
 * the term's, and exactly the generator's expected machines. */
#include "fake_staging.h"
#include "unit.h"
#include <unistd.h>

#define NOW 1796119200 /* 2026-12-01T10:00:00Z */
static struct staging st;
static struct gt_error err;
static char work[] = "/tmp/gputier-azure-XXXXXX";

static int parse(const char *name, const char *text, size_t len, size_t step)
{
    struct parse_context ctx = {.now = NOW, .as_of = NOW};
    memset(&err, 0, sizeof err);
    return fake_parse(source_find("azure-retail"), &st, name, text, len, step, &ctx, &err);
}

static bool sample(const char *name)
{
    size_t n;
    char path[200];
    snprintf(path, sizeof path, "samples/azure/%s", name);
    char *t = fake_shared(path, &n);
    if (!t) {
        return false;
    }
    static const size_t steps[] = {33, 1 << 20};
    for (size_t i = 0; i < 2; i++) {
        fake_clear(&st);
        if (parse(name, t, n, steps[i]) != 0) {
            fail_msg("%s: %s", err.where, err.text);
        }
    }
    assert_true(source_recognises(source_find("azure-retail"), t, n, name));
    free(t);
    return true;
}

static size_t count(enum purchase p)
{
    size_t n = 0;
    for (size_t i = 0; i < st.n_offer; i++) {
        n += st.offer[i].purchase == p;
    }
    return n;
}

static const struct offer_row *offer(const char *type, enum purchase p)
{
    for (size_t i = 0; i < st.n_offer; i++) {
        if (strcmp(st.offer[i].instance_type, type) == 0 && st.offer[i].purchase == p) {
            return &st.offer[i];
        }
    }
    fail_msg("no offer of %s", type);
    return NULL;
}

static void check(money m, const char *text)
{
    char buf[MONEY_TEXT];
    assert_string_equal(money_format(m, buf), text);
}

static void machines(void **s)
{
    (void)s;
    if (!sample("retail-prices.gpu.eastus.constructed.json")) {
        skip();
    }
    assert_int_equal(count(PURCHASE_ON_DEMAND), 2);
    assert_int_equal(count(PURCHASE_SPOT), 1);
    assert_int_equal(count(PURCHASE_RESERVED_1Y) + count(PURCHASE_RESERVED_3Y), 2);
    assert_int_equal(count(PURCHASE_SAVINGS_PLAN_1Y) + count(PURCHASE_SAVINGS_PLAN_3Y), 2);
    assert_int_equal(count(PURCHASE_LOW_PRIORITY), 1);
    assert_int_equal(count(PURCHASE_DEV_TEST), 1);
    const struct offer_row *o = offer("Standard_NC40ads_H100_v5", PURCHASE_ON_DEMAND);
    check(o->price_per_hour, "6.98");
    assert_string_equal(o->gpu, "H100 NVL");
    check(offer("Standard_NC40ads_H100_v5", PURCHASE_RESERVED_3Y)->upfront, "80000");
    check(offer("Standard_ND96isr_H100_v5", PURCHASE_ON_DEMAND)->price_per_hour, "98.32");

    sample("retail-prices.preview.Standard_D2als_v7.eastus.2026.json");
    o = offer("Standard_D2als_v7", PURCHASE_RESERVED_1Y); /* 416 is the year's, not an hour's */
    check(o->upfront, "416");
    check(o->price_per_hour, "0");
    assert_int_equal(o->payment, PAYMENT_ALL);
    check(offer("Standard_D2als_v7", PURCHASE_SAVINGS_PLAN_3Y)->price_per_hour, "0.035376");

    sample("retail-prices.virtual-machines.francecentral.2022.trimmed.json");
    for (size_t i = 0; i < st.n_offer; i++) {
        assert_true(st.offer[i].price_per_hour > 0 || st.offer[i].upfront > 0);
        assert_string_equal(st.offer[i].region, "francecentral");
    }
}

static void blob(void **s)
{
    (void)s;
    if (!sample("retail-prices.block-blob-v2.eastus.excerpt.json")) {
        skip();
    }
    static const char *const rates[] = {"0.0458", "0.043968", "0.042136"};
    static const int from[] = {0, 51200, 512000};
    size_t n = 0;
    for (size_t i = 0; i < st.n_storage; i++) {
        const struct storage_rate_row *r = &st.storage[i];
        if (strcmp(r->tier, "azure_blob_hot_grs") == 0 && strcmp(r->component, "storage") == 0) {
            assert_true(n < 3);
            check(r->rate, rates[n]);
            assert_true(r->from_qty == from[n] * MONEY_SCALE);
            assert_true(n == 2 ? r->to_qty < 0 : r->to_qty == from[n + 1] * MONEY_SCALE);
            n++;
        }
        if (strcmp(r->tier, "azure_blob_hot_lrs") == 0) {
            assert_true(strcmp(r->component, "put") == 0 ||
                        strcmp(r->component, "transition") == 0);
            assert_int_equal(r->unit_qty, 10000);
            check(r->rate, "0.05");
        }
        assert_true(r->rate > 0); /* zero throughout is no price */
        assert_true(r->rate < MONEY_SCALE || strstr(r->component, "_expedited"));
    }
    assert_int_equal(n, 3);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "region,size,on demand,spot" of all Linux machines, sorted. */
static char *lines(char **line, size_t n)
{
    char *all = calloc(n + 1, 200), *p = all;
    qsort(line, n, sizeof *line, by_text);
    for (size_t i = 0; i < n; i++) {
        p = stpcpy(p, line[i]);
        free(line[i]);
    }
    return all;
}

static void generated(void **s)
{
    (void)s;
    char command[600], path[300], text[400], price[MONEY_TEXT];
    char *line[4000];
    size_t n = 0, len;
    const char *shared = getenv("GPUTIER_SHARED");
    char *probe = fake_shared("tools/gen_azure_retail.py", &len);
    if (!probe) {
        skip();
    }
    free(probe);
    snprintf(command, sizeof command,
             "python3 %s/tools/gen_azure_retail.py --items 6000 --page 1000 --out %s/az >/dev/null",
             shared ? shared : "../shared", work);
    assert_int_equal(system(command), 0);
    fake_clear(&st);
    for (int page = 0; page < 6; page++) {
        snprintf(path, sizeof path, "%s/az/page-%05d.json", work, page);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        char *t = malloc(2 << 20);
        len = fread(t, 1, 2 << 20, f);
        fclose(f);
        if (parse(path, t, len, 8192) != 0) {
            fail_msg("%s: %s", err.where, err.text);
        }
        free(t);
    }
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (o->purchase == PURCHASE_ON_DEMAND || o->purchase == PURCHASE_SPOT) {
            assert_true(n < 4000);
            snprintf(text, sizeof text, "%s,%s,%s,%s\n", o->region, o->instance_type,
                     o->purchase == PURCHASE_SPOT ? "spot" : "on_demand",
                     money_format(o->price_per_hour, price));
            line[n++] = strdup(text);
        }
    }
    char *got = lines(line, n);
    snprintf(path, sizeof path, "%s/az/expected-vm.csv", work);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    n = 0;
    while (fgets(text, sizeof text, f)) {
        char *p = text, *region = strsep(&p, ","), *type = strsep(&p, ","),
             *price_od = strsep(&p, ","), *spot = strsep(&p, "\r\n");
        for (int k = 0; k < 2 && strcmp(region, "region") != 0; k++) {
            const char *v = k ? spot : price_od;
            money m;
            char out[400];
            if (v && *v) {
                assert_int_equal(money_parse(v, strlen(v), &m, NULL), 0);
                snprintf(out, sizeof out, "%.80s,%.80s,%s,%s\n", region, type,
                         k ? "spot" : "on_demand", money_format(m, price));
                line[n++] = strdup(out);
            }
        }
    }
    fclose(f);
    char *want = lines(line, n);
    /* the generator's answer is about GPU sizes (N…); ours has the others too */
    size_t ours = 0;
    const char *last = "";
    for (char *g = got, *end; (end = strchr(g, '\n')) != NULL; g = end + 1) {
        size_t k = (size_t)(end - g) + 1; /* pages may repeat a row */
        ours += strncmp(strchr(g, ',') + 1, "Standard_N", 10) == 0 && strncmp(g, last, k) != 0;
        last = g;
    }
    assert_int_equal(ours, n);
    for (char *w = want, *end; (end = strchr(w, '\n')) != NULL; w = end + 1) {
        *end = '\0';
        if (!strstr(got, w)) {
            fail_msg("missing: %s", w);
        }
    }
    assert_true(n > 200);
    free(got);
    free(want);
}

static void primary_wins(void **s)
{
    (void)s;
    static const char item[] =
        "{\"currencyCode\":\"USD\",\"retailPrice\":%s,\"armRegionName\":\"eastus\","
        "\"productName\":\"P\",\"skuName\":\"S\",\"meterName\":\"M\",\"serviceName\":"
        "\"Virtual Machines\",\"unitOfMeasure\":\"1 Hour\",\"type\":\"Consumption\","
        "\"armSkuName\":\"%s\",\"isPrimaryMeterRegion\":%s}";
    char text[2000] = "{\"Items\":[";
    size_t n = strlen(text);
    n += (size_t)snprintf(text + n, sizeof text - n, item, "5", "A", "false");
    text[n++] = ',';
    n += (size_t)snprintf(text + n, sizeof text - n, item, "4", "A", "true");
    text[n++] = ',';
    n += (size_t)snprintf(text + n, sizeof text - n, item, "3", "B", "false");
    n += (size_t)snprintf(text + n, sizeof text - n, "]}");
    fake_clear(&st);
    assert_int_equal(parse("x", text, n, 11), 0);
    assert_int_equal(st.n_offer, 2);
    check(offer("A", PURCHASE_ON_DEMAND)->price_per_hour, "4");
    check(offer("B", PURCHASE_ON_DEMAND)->price_per_hour, "3"); /* there is no primary row */
}

static void broken(void **s)
{
    (void)s;
    static const char *const cases[] = {
        "{\"Items\":[]}",
        "{\"Items\":[{\"type\":\"Consumption\"}",
        "[]",
        "",
        "{\"Items\":[{\"type\":\"a\",\"type\":\"b\"}]}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_clear(&st);
        assert_int_equal(parse("x", cases[i], strlen(cases[i]), 5), GT_EPARSE);
    }
}

int main(void)
{
    if (!mkdtemp(work)) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),     cmocka_unit_test(blob),   cmocka_unit_test(generated),
        cmocka_unit_test(primary_wins), cmocka_unit_test(broken),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", work);
    return system(command) == 0 ? rc : 1;
}
