/* Look-ups in a catalog made by hand, names of enumerations, the numbers stored for them. */
#include "gputier/catalog.h"
#include "unit.h"
#include <math.h>
#include <string.h>

struct world {
    struct catalog c;
    uint32_t vendor[8], region[8], tier[8], component[8];
    uint32_t from[8], to[8];
    money amount[8];
    int64_t date[8];
};

static uint32_t word(struct world *w, const char *text)
{
    return intern_add(w->c.strings, text, strlen(text));
}

static void make_world(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->c.arena = arena_new(0);
    w->c.strings = intern_new(w->c.arena);
    assert_non_null(w->c.strings);
}

static void storage_rows_are_found_by_text_order(void **state)
{
    (void)state;
    struct world w;
    make_world(&w);
    static const char *const rows[][4] = {
        {"aws", "eu-west-1", "s3_standard", "get"},
        {"aws", "us-east-1", "s3_glacier_ir", "put"},
        {"aws", "us-east-1", "s3_standard", "storage"},
        {"aws", "us-east-1", "s3_standard", "storage"},
        {"gcp", "us-east-1", "s3_standard", "storage"},
    };
    (void)word(&w, "gcp"); /* ids are not in text order */
    for (int i = 0; i < 5; i++) {
        w.vendor[i] = word(&w, rows[i][0]);
        w.region[i] = word(&w, rows[i][1]);
        w.tier[i] = word(&w, rows[i][2]);
        w.component[i] = word(&w, rows[i][3]);
    }
    w.c.storage.n = 5;
    w.c.storage.vendor = w.vendor;
    w.c.storage.region = w.region;
    w.c.storage.tier = w.tier;
    w.c.storage.component = w.component;
    uint32_t aws = catalog_id(&w.c, "aws"), east = catalog_id(&w.c, "us-east-1"),
             standard = catalog_id(&w.c, "s3_standard");
    size_t first = 99;
    assert_int_equal(catalog_storage_rates(&w.c, aws, east, standard, "storage", &first), 2);
    assert_int_equal(first, 2);
    assert_int_equal(catalog_storage_rates(&w.c, aws, east, standard, "get", &first), 0);
    assert_int_equal(
        catalog_storage_rates(&w.c, aws, catalog_id(&w.c, "eu-west-1"), standard, "get", &first),
        1);
    assert_int_equal(first, 0);
    assert_int_equal(
        catalog_storage_rates(&w.c, catalog_id(&w.c, "gcp"), east, standard, "storage", &first), 1);
    assert_int_equal(first, 4);
    assert_int_equal(catalog_id(&w.c, "nothing"), 0);
    assert_int_equal(catalog_storage_rates(&w.c, 0, 0, 0, "", &first), 0);
    arena_free(w.c.arena);
}

static size_t transfer(struct world *w, const char *vendor, const char *from, const char *to)
{
    size_t first = 99;
    size_t n = catalog_transfer_rates(&w->c, catalog_id(&w->c, vendor), catalog_id(&w->c, from), to,
                                      &first);
    return n == 0 ? 99 : first;
}

static void transfers_fall_back_to_the_destinations_class(void **state)
{
    (void)state;
    struct world w;
    make_world(&w);
    static const char *const rows[][3] = {
        {"aws", "us-east-1", "eu-west-1"},
        {"aws", "us-east-1", "internet"},
        {"aws", "us-east-1", "other_region"},
        {"aws", "us-east-1", "same_region"},
        {"gcp", "europe-west4", "other_continent"},
        {"gcp", "europe-west4", "other_region_same_continent"},
        {"oci", "us-ashburn-1", "internet"},
    };
    for (int i = 0; i < 7; i++) {
        w.vendor[i] = word(&w, rows[i][0]);
        w.from[i] = word(&w, rows[i][1]);
        w.to[i] = word(&w, rows[i][2]);
    }
    w.c.transfer.n = 7;
    w.c.transfer.vendor = w.vendor;
    w.c.transfer.from = w.from;
    w.c.transfer.to = w.to;
    assert_int_equal(transfer(&w, "aws", "us-east-1", "eu-west-1"), 0);
    assert_int_equal(transfer(&w, "aws", "us-east-1", "internet"), 1);
    assert_int_equal(transfer(&w, "aws", "us-east-1", "ap-south-1"), 2);
    assert_int_equal(transfer(&w, "aws", "us-east-1", "us-east-1"), 3);
    assert_int_equal(transfer(&w, "aws", "us-east-1", "other_az"), 99); /* a class has no class */
    assert_int_equal(transfer(&w, "gcp", "europe-west4", "europe-north1"), 5);
    assert_int_equal(transfer(&w, "gcp", "europe-west4", "us-central1"), 4);
    assert_int_equal(transfer(&w, "gcp", "europe-west4", "europe-west4"), 99);
    assert_int_equal(transfer(&w, "oci", "us-ashburn-1", "us-phoenix-1"),
                     99); /* missing stays so */
    arena_free(w.c.arena);
}

static void rates_of_exchange(void **state)
{
    (void)state;
    struct world w;
    make_world(&w);
    w.c.as_of = 500;
    w.from[0] = w.from[1] = word(&w, "CNY");
    w.amount[0] = 8 * MONEY_SCALE;
    w.amount[1] = MONEY_SCALE / 10 * 71;
    w.date[0] = 100;
    w.date[1] = 200;
    w.c.fx.n = 2;
    w.c.fx.currency = w.from;
    w.c.fx.per_usd = w.amount;
    w.c.fx.date = w.date;
    int64_t date = 0;
    money usd = 0;
    assert_true(catalog_fx_rate(&w.c, "CNY", &date) == MONEY_SCALE / 10 * 71);
    assert_int_equal(date, 200);
    assert_true(catalog_fx_rate(&w.c, "USD", &date) == MONEY_SCALE);
    assert_int_equal(date, 500);
    assert_true(catalog_fx_rate(&w.c, "EUR", NULL) == 0);
    assert_int_equal(catalog_to_usd(&w.c, "CNY", 71 * MONEY_SCALE, &usd), 0);
    assert_true(usd == 10 * MONEY_SCALE);
    assert_int_equal(catalog_to_usd(&w.c, "CNY", 1, &usd), 0); /* 10^-12 / 7.1 rounds to 0 */
    assert_true(usd == 0);
    assert_int_equal(catalog_to_usd(&w.c, "EUR", 1, &usd), GT_ENOTFOUND);
    arena_free(w.c.arena);
}

/* --fx: one rate takes the place of all of its currency, whatever their dates, and the dollars that
 * order offers follow it; other currencies keep theirs. */
static void a_given_rate_replaces_the_known_ones(void **state)
{
    (void)state;
    struct world w;
    make_world(&w);
    uint32_t cny = word(&w, "CNY"), eur = word(&w, "EUR"), usd_id = word(&w, "USD");
    uint32_t currency[3] = {cny, cny, eur}, source[3] = {0},
             offer_currency[4] = {cny, usd_id, eur, cny};
    money rate[3] = {8 * MONEY_SCALE, 7 * MONEY_SCALE, MONEY_SCALE / 2};
    int64_t date[3] = {100, 900, 100};
    double usd[4] = {10, 10, 10, (double)NAN};
    uint8_t state_of[4] = {PRICE_KNOWN, PRICE_KNOWN, PRICE_KNOWN, PRICE_NONE};
    money zero[4] = {0};
    w.c.fx = (struct catalog_fx){3, currency, source, rate, date};
    w.c.offers.n = 4;
    w.c.offers.currency = offer_currency;
    w.c.offers.usd_per_hour = usd;
    w.c.offers.price_state = state_of;
    w.c.offers.upfront = w.c.offers.price_month = w.c.offers.price_per_hour = zero;
    int64_t when = 0;
    assert_int_equal(catalog_set_fx(&w.c, "CNY", "--fx", 14 * MONEY_SCALE, 50), 0);
    assert_true(catalog_fx_rate(&w.c, "CNY", &when) == 14 * MONEY_SCALE);
    assert_int_equal(when, 50);
    assert_true(catalog_fx_rate(&w.c, "EUR", NULL) == MONEY_SCALE / 2);
    assert_int_equal(w.c.fx.n, 2);
    assert_true(w.c.offers.usd_per_hour[0] == 5.0 && w.c.offers.usd_per_hour[1] == 10.0);
    assert_true(w.c.offers.usd_per_hour[2] == 10.0 && isnan(w.c.offers.usd_per_hour[3]));
    assert_int_equal(catalog_set_fx(&w.c, "JPY", "--fx", 150 * MONEY_SCALE, 50), 0);
    assert_true(catalog_fx_rate(&w.c, "JPY", NULL) == 150 * MONEY_SCALE);
    assert_int_equal(catalog_set_fx(&w.c, "USD", "--fx", 2 * MONEY_SCALE, 50), GT_EINVALID);
    assert_int_equal(catalog_set_fx(&w.c, "CNY", "--fx", 0, 50), GT_EINVALID);
    arena_free(w.c.arena);
}

static void names_lead_back_to_their_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < PURCHASE_COUNT; i++) {
        enum purchase p = PURCHASE_COUNT;
        assert_int_equal(purchase_from_name(purchase_name((enum purchase)i), &p), 0);
        assert_int_equal(p, i);
    }
    for (int i = 0; i < SU_COUNT; i++) {
        enum storage_unit u = SU_COUNT;
        assert_int_equal(storage_unit_from_name(storage_unit_name((enum storage_unit)i), &u), 0);
        assert_int_equal(u, i);
    }
    enum purchase p;
    static const char *const spelled[] = {"On_Demand", "on-demand", "ON DEMAND", "OnDemand"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(purchase_from_name(spelled[i], &p), 0);
        assert_int_equal(p, PURCHASE_ON_DEMAND);
    }
    static const char *const wrong[] = {"",      "-",          "_",         "on",
                                        "spots", "on_demand_", "on/demand", "reserved"};
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(purchase_from_name(wrong[i], &p), i == 5 ? 0 : GT_ENOTFOUND);
    }
    assert_int_equal(purchase_from_name(NULL, &p), GT_ENOTFOUND);
    enum payment pay;
    assert_int_equal(payment_from_name("", &pay), 0);
    assert_int_equal(pay, PAYMENT_NULL);
    assert_int_equal(payment_from_name("partial", &pay), 0);
    assert_int_equal(pay, PAYMENT_PARTIAL);
    assert_int_equal(payment_from_name("half", &pay), GT_ENOTFOUND);
    assert_null(payment_name(PAYMENT_NULL));
    assert_string_equal(payment_name(PAYMENT_NONE), "none");
    enum offering_class class;
    assert_int_equal(offering_class_from_name(NULL, &class), 0);
    assert_int_equal(class, OFFERING_NULL);
    assert_int_equal(offering_class_from_name("convertible", &class), 0);
    assert_int_equal(class, OFFERING_CONVERTIBLE);
    enum price_state known;
    assert_int_equal(price_state_from_name("sold_otherwise", &known), 0);
    assert_int_equal(known, PRICE_SOLD_OTHERWISE);
    assert_int_equal(price_state_from_name("", &known), GT_ENOTFOUND);
    assert_true(purchase_is_commitment(PURCHASE_COMMITTED_USE_3Y));
    assert_false(purchase_is_commitment(PURCHASE_MONTHLY));
    assert_false(purchase_is_commitment(PURCHASE_CAPACITY_BLOCK));
    assert_string_equal(origin_name(ORIGIN_IMPORTED), "imported");
}

static void vendors_have_one_name(void **state)
{
    (void)state;
    assert_string_equal(vendor_canonical("AliYun"), "alibaba");
    assert_string_equal(vendor_canonical("AWS"), "aws");
    assert_string_equal(vendor_canonical("aws-cn"), "aws-cn");
    assert_null(vendor_canonical("amazon"));
    assert_null(vendor_canonical(NULL));
    int n = 0;
    for (; vendor_at(n) != NULL; n++) {
        assert_string_equal(vendor_canonical(vendor_at(n)), vendor_at(n));
    }
    assert_int_equal(n, 21);
    assert_null(vendor_at(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_rows_are_found_by_text_order),
        cmocka_unit_test(transfers_fall_back_to_the_destinations_class),
        cmocka_unit_test(rates_of_exchange),
        cmocka_unit_test(a_given_rate_replaces_the_known_ones),
        cmocka_unit_test(names_lead_back_to_their_numbers),
        cmocka_unit_test(vendors_have_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
