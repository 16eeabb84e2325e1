/* Publishing: what a second run keeps, changes, closes; quarantine; prices known at an instant;
 * history; sources that disagree; exact decimals; repeated keys. Real SQLite files. */
#include "store_util.h"
#include <math.h>

static void keeps_changes_and_closes(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct publish_result r;
    struct offer_row rows[] = {offer("us-east-1", "p4d", "32.7726"), offer("us-east-1", "p5", "98"),
                               offer("us-east-1", "g5", "1"), offer("us-east-1", "g6", "2")};
    assert_int_equal(publish(s, "aws-offer", NOW, rows, 4, false, &r, NULL), 0);
    assert_int_equal(r.rows, 4);
    assert_int_equal(r.added, 4);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    int64_t kept = c->offers.id[find_offer(c, "us-east-1", "p4d")];
    catalog_free(c);
    struct offer_row second[] = {offer("us-east-1", "p4d", "32.7726"),
                                 offer("us-east-1", "p5", "97.5"), offer("us-east-1", "g7", "3")};
    for (int i = 0; i < 3; i++) {
        second[i].as_of = NOW + DAY;
    }
    assert_int_equal(publish(s, "aws-offer", NOW + DAY, second, 3, false, &r, NULL), 0);
    assert_int_equal(r.rows, 3);
    assert_int_equal(r.unchanged, 1);
    assert_int_equal(r.changed, 1);
    assert_int_equal(r.added, 1);
    assert_int_equal(r.closed, 2);
    c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.n, 3);
    long row = find_offer(c, "us-east-1", "p4d");
    assert_int_equal(c->offers.id[row], kept);
    assert_int_equal(c->offers.as_of[row], NOW + DAY); /* confirmed by the second run */
    assert_int_equal(c->offers.fetched_at[row], NOW + DAY);
    assert_int_equal(c->offers.origin[row], ORIGIN_FETCHED);
    assert_string_equal(catalog_text(c, c->offers.gpu[row]), "A100-80GB SXM4");
    assert_int_equal(c->offers.gpu_num[row], 8);
    assert_true(isnan(c->offers.local_nvme_gb[row]));
    assert_true(find_offer(c, "us-east-1", "g5") < 0);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void answers_what_was_known_then(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    char text[MONEY_TEXT];
    for (int day = 0; day < 3; day++) {
        char price[32];
        (void)snprintf(price, sizeof(price), "%d.5", 10 + day);
        struct offer_row row = offer("us-east-1", "p4d", price);
        row.as_of = NOW + day * DAY;
        assert_int_equal(publish(s, "aws-offer", NOW + day * DAY, &row, 1, false, NULL, NULL), 0);
    }
    assert_string_equal(price_at(s, NOW - 1, "us-east-1", "p4d", text), "");
    assert_string_equal(price_at(s, NOW, "us-east-1", "p4d", text), "10.5");
    assert_string_equal(price_at(s, NOW + DAY - 1, "us-east-1", "p4d", text), "10.5");
    assert_string_equal(price_at(s, NOW + DAY, "us-east-1", "p4d", text), "11.5");
    assert_string_equal(price_at(s, GT_TIME_NONE, "us-east-1", "p4d", text), "12.5");
    struct catalog *c = must_load(s, NOW + DAY);
    assert_int_equal(c->offers.as_of[0], NOW + DAY);
    assert_int_equal(c->offers.fetched_at[0], NOW + DAY);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void dated_prices_hold_in_their_time(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row past = offer("r", "t", "5"), present = offer("r", "t", "4"),
                     future = offer("r", "t", "3");
    past.valid_from = NOW - 20 * DAY;
    past.valid_to = NOW - 10 * DAY;
    present.valid_from = NOW - 10 * DAY;
    future.valid_from = NOW + 10 * DAY;
    struct offer_row rows[] = {future, past, present};
    assert_int_equal(publish(s, "prices-csv", NOW, rows, 3, false, NULL, NULL), 0);
    char text[MONEY_TEXT];
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "4");
    assert_string_equal(price_at(s, NOW + 11 * DAY, "r", "t", text), "3");
    store_close(s);
    box_close(&b);
}

static void open_prices_of_one_key_follow_each_other(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row rows[] = {offer("r", "t", "4"), offer("r", "t", "5"), offer("r", "t", "5"),
                               offer("r", "u", "1")};
    rows[0].valid_from = NOW - DAY;
    rows[1].valid_from = NOW - 9 * DAY;
    rows[2].valid_from = NOW - 9 * DAY; /* repeats the one before */
    struct publish_result r;
    assert_int_equal(publish(s, "prices-csv", NOW, rows, 4, false, &r, NULL), 0);
    assert_int_equal(r.rows, 3);
    assert_int_equal(r.added, 3);
    char text[MONEY_TEXT];
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "4");
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "u", text), "1");
    /* The same list again changes nothing. */
    assert_int_equal(publish(s, "prices-csv", NOW + 1, rows, 4, false, &r, NULL), 0);
    assert_int_equal(r.unchanged, 3);
    assert_int_equal(r.added + r.changed + r.closed, 0);
    store_close(s);
    box_close(&b);
}

static void of_two_prices_for_one_key_the_dearer_stays(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct box b;
        box_open(&b);
        struct store *s = must_open(&b);
        struct offer_row rows[] = {offer("r", "t", order ? "4" : "5"),
                                   offer("r", "t", order ? "5" : "4")};
        struct publish_result r;
        assert_int_equal(publish(s, "azure-retail", NOW, rows, 2, false, &r, NULL), 0);
        assert_int_equal(r.rows, 1);
        char text[MONEY_TEXT];
        assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "5");
        store_close(s);
        box_close(&b);
    }
}

/* Publishes n offers at `price`, then expects the second list's verdict. */
static void expect_quarantine(const struct offer_row *second, size_t n, int code, const char *says)
{
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row first[40];
    char name[40][16], text[MONEY_TEXT];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(name[i], sizeof(name[i]), "t%d", i);
        first[i] = offer(i < 10 ? "small" : "big", name[i], "10");
    }
    assert_int_equal(publish(s, "aws-offer", NOW, first, 40, false, NULL, NULL), 0);
    struct gt_error e = {0};
    assert_int_equal(publish(s, "aws-offer", NOW + 1, second, n, false, NULL, &e), code);
    if (code == GT_EQUARANTINE) {
        assert_non_null(strstr(e.text, says));
        assert_string_equal(price_at(s, GT_TIME_NONE, "big", "t39", text), "10");
        struct catalog *c = must_load(s, GT_TIME_NONE);
        assert_int_equal(c->offers.n, 40);
        catalog_free(c);
        assert_int_equal(publish(s, "aws-offer", NOW + 2, second, n, true, NULL, &e), 0);
    }
    store_close(s);
    box_close(&b);
}

static void large_changes_are_quarantined(void **state)
{
    (void)state;
    struct offer_row rows[40];
    char name[40][16];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(name[i], sizeof(name[i]), "t%d", i);
        rows[i] = offer(i < 10 ? "small" : "big", name[i], "10");
    }
    /* Exactly half of a region may go; one more may not. */
    expect_quarantine(rows + 5, 35, 0, "");
    expect_quarantine(rows + 6, 34, GT_EQUARANTINE, "aws/small shrinks from 10 to 4 rows");
    expect_quarantine(rows + 10, 30, GT_EQUARANTINE, "aws/small shrinks from 10 to 0 rows");
    /* 2 of 40 prices are 5 %, 3 are more; a factor of exactly 3 is not above 3. */
    rows[0].price_per_hour = rows[1].price_per_hour = amount("30.01");
    expect_quarantine(rows, 40, 0, "");
    rows[2].price_per_hour = amount("30");
    expect_quarantine(rows, 40, 0, "");
    rows[2].price_per_hour = amount("3.33");
    expect_quarantine(rows, 40, GT_EQUARANTINE, "3 of 40 prices move by a factor above 3");
    rows[0] = rows[1] = rows[2] = offer("small", "t0", "10");
    for (int i = 0; i < 3; i++) {
        rows[i].instance_type = name[i];
    }
    rows[7].currency = "CNY";
    expect_quarantine(rows, 40, GT_EQUARANTINE, "1 of 40 prices change currency (USD to CNY)");
}

static int count_source(void *ctx, const struct source_state *st)
{
    char *out = ctx;
    (void)snprintf(out + strlen(out), 400 - strlen(out), "%s/%s:%s:%llu;", st->source_id, st->scope,
                   st->state, (unsigned long long)st->rows);
    return 0;
}

static void sources_show_their_last_run(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open_at(&b, NOW + 2);
    struct offer_row rows[] = {offer("r", "t", "5"), offer("r", "u", "5"), offer("r", "v", "5")};
    char text[400] = "";
    char *etag = NULL, *modified = NULL;
    struct staging *st = must_begin(s, "aws-offer", ORIGIN_FETCHED, NOW, false);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(staging_put_offer(st, &rows[i], NULL), 0);
    }
    staging_set_raw(st, "ab12", 1234, "\"tag\"", "Mon");
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    assert_int_equal(store_http_state(s, "aws-offer", "", &etag, &modified, NULL), 0);
    assert_string_equal(etag, "\"tag\"");
    assert_string_equal(modified, "Mon");
    free(etag);
    free(modified);
    assert_int_equal(store_sources(s, count_source, text, NULL), 0);
    assert_string_equal(text, "aws-offer/:fresh:3;");
    struct gt_error e = {0};
    assert_int_equal(publish(s, "aws-offer", NOW + 1, rows, 1, false, NULL, &e), GT_EQUARANTINE);
    text[0] = '\0';
    assert_int_equal(store_sources(s, count_source, text, NULL), 0);
    assert_string_equal(text, "aws-offer/:quarantined:3;");
    st = must_begin(s, "oci", ORIGIN_FETCHED, NOW, false);
    staging_discard(st, "the server answered 500");
    text[0] = '\0';
    assert_int_equal(store_sources(s, count_source, text, NULL), 0);
    assert_string_equal(text, "aws-offer/:quarantined:3;oci/:failed:0;");
    /* A 304 moves only the fetch time. */
    assert_int_equal(store_touch_source(s, "aws-offer", "", NOW + 9 * DAY, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.fetched_at[0], NOW + 9 * DAY);
    assert_int_equal(c->offers.as_of[0], NOW);
    catalog_free(c);
    assert_int_equal(store_touch_source(s, "lambda", "", NOW, NULL), GT_ENOTFOUND);
    assert_int_equal(store_http_state(s, "oci", "", &etag, &modified, NULL), 0);
    assert_null(etag);
    store_close(s);
    s = must_open_at(&b, NOW + 30 * DAY);
    text[0] = '\0';
    assert_int_equal(store_sources(s, count_source, text, NULL), 0);
    assert_string_equal(text, "aws-offer/:stale:3;oci/:failed:0;");
    store_close(s);
    box_close(&b);
}

static void an_empty_list_is_refused(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row row = offer("r", "t", "5");
    struct gt_error e = {0};
    assert_int_equal(publish(s, "oci", NOW, &row, 1, false, NULL, NULL), 0);
    assert_int_equal(publish(s, "oci", NOW, &row, 0, true, NULL, &e), GT_EPARSE);
    assert_non_null(strstr(e.text, "no rows"));
    char text[MONEY_TEXT];
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "5");
    store_close(s);
    box_close(&b);
}

static void sources_that_disagree_are_noted(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row old = offer("r", "t", "88.49"), fresh = offer("r", "t", "43.07"),
                     close = offer("r", "u", "10"), close2 = offer("r", "u", "10.09");
    old.as_of = close.as_of = NOW - 30 * DAY;
    struct offer_row first[] = {old, close}, second[] = {fresh, close2};
    assert_int_equal(publish(s, "gcp-skus", NOW, second, 2, false, NULL, NULL), 0);
    assert_int_equal(publish(s, "skypilot", NOW, first, 2, false, NULL, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.n, 2);
    long row = find_offer(c, "r", "t");
    assert_true(c->offers.price_per_hour[row] == amount("43.07"));
    assert_string_equal(catalog_text(c, c->offers.source[row]), "gcp-skus");
    assert_string_equal(catalog_text(c, c->offers.note[row]),
                        "skypilot says 88.49 USD/h as of 2025-11-02");
    row = find_offer(c, "r", "u"); /* less than 1 % apart: nothing to say */
    assert_true(c->offers.price_per_hour[row] == amount("10.09"));
    assert_int_equal(c->offers.note[row], 0);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void decimals_survive_the_round_trip(void **state)
{
    (void)state;
    static const char *const price[] = {
        "0.0000004", "0.000000000001", "12345678901234567.89", "98.320000000001", "1", "0.1"};
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row rows[6];
    char name[6][16], text[MONEY_TEXT];
    for (int i = 0; i < 6; i++) {
        (void)snprintf(name[i], sizeof(name[i]), "t%d", i);
        rows[i] = offer("r", name[i], price[i]);
    }
    rows[5].purchase = PURCHASE_RESERVED_1Y;
    rows[5].payment = PAYMENT_PARTIAL;
    rows[5].offering_class = OFFERING_CONVERTIBLE;
    rows[5].upfront = amount("8760.000000000001");
    assert_int_equal(publish(s, "aws-offer", NOW, rows, 6, false, NULL, NULL), 0);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(price_at(s, GT_TIME_NONE, "r", name[i], text), price[i]);
    }
    struct catalog *c = must_load(s, GT_TIME_NONE);
    long row = find_offer(c, "r", "t5");
    assert_string_equal(money_format(c->offers.upfront[row], text), "8760.000000000001");
    assert_true(fabs(c->offers.usd_per_hour[row] - 1.1) < 1e-9);
    assert_int_equal(c->offers.payment[row], PAYMENT_PARTIAL);
    assert_int_equal(c->offers.offering_class[row], OFFERING_CONVERTIBLE);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void currencies_need_a_rate(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row rows[] = {offer("r", "t", "71"), offer("r", "u", "71")};
    rows[0].currency = "CNY";
    rows[1].currency = "XAF";
    rows[1].purchase = PURCHASE_MONTHLY;
    rows[1].price_per_hour = 0;
    rows[1].price_month = amount("7300");
    assert_int_equal(publish(s, "prices-csv", NOW, rows, 2, false, NULL, NULL), 0);
    struct staging *st = must_begin(s, "ecb-fx", ORIGIN_FETCHED, NOW, false);
    struct fx_row rate[] = {{"CNY", amount("7.1"), NOW - DAY}, {"CNY", amount("8"), NOW - 2 * DAY}};
    assert_int_equal(staging_put_fx(st, &rate[0], NULL), 0);
    assert_int_equal(staging_put_fx(st, &rate[1], NULL), 0);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_true(fabs(c->offers.usd_per_hour[find_offer(c, "r", "t")] - 10) < 1e-9);
    assert_true(isnan(c->offers.usd_per_hour[find_offer(c, "r", "u")]));
    money usd = 0;
    assert_int_equal(catalog_to_usd(c, "CNY", amount("71"), &usd), 0);
    assert_true(usd == amount("10"));
    assert_int_equal(catalog_to_usd(c, "XAF", amount("71"), &usd), GT_ENOTFOUND);
    catalog_free(c);
    /* A later day's rate closes nothing: the old day stays true. */
    st = must_begin(s, "ecb-fx", ORIGIN_FETCHED, NOW + DAY, false);
    rate[0] = (struct fx_row){"CNY", amount("7.2"), NOW + DAY};
    assert_int_equal(staging_put_fx(st, &rate[0], NULL), 0);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    c = must_load(s, NOW + DAY);
    assert_true(catalog_fx_rate(c, "CNY", NULL) == amount("7.2"));
    catalog_free(c);
    c = must_load(s, NOW + DAY - 1);
    int64_t date = 0;
    assert_true(catalog_fx_rate(c, "CNY", &date) == amount("7.1"));
    assert_int_equal(date, NOW - DAY);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

struct seen {
    char text[500];
};
static int add_point(void *ctx, const struct price_point *pt)
{
    struct seen *x = ctx;
    char m[MONEY_TEXT];
    size_t n = strlen(x->text);
    (void)snprintf(x->text + n, sizeof(x->text) - n, "%lld=%s %s;",
                   (long long)((pt->when - NOW) / DAY), money_format(pt->price, m), pt->currency);
    return 0;
}

static int add_series(void *ctx, const struct spot_series_point *pt)
{
    struct seen *x = ctx;
    char m[MONEY_TEXT];
    size_t n = strlen(x->text);
    (void)snprintf(x->text + n, sizeof(x->text) - n, "%lld=%s/%d;",
                   (long long)((pt->when - NOW) / DAY), money_format(pt->price, m), pt->available);
    return 0;
}

static void put_spot(struct store *s, const int *day, const char *const *price, size_t n)
{
    struct staging *st = must_begin(s, "aws-spot-history", ORIGIN_FETCHED, NOW, false);
    for (size_t i = 0; i < n; i++) {
        struct spot_point_row r = {.vendor = "aws",
                                   .region = "us-east-1",
                                   .zone = "us-east-1a",
                                   .instance_type = "p4d",
                                   .when = NOW + day[i] * DAY,
                                   .price = amount(price[i]),
                                   .currency = "USD",
                                   .available = -1};
        assert_int_equal(staging_put_spot_point(st, &r, NULL), 0);
    }
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
}

static void series_keep_changes_only(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    put_spot(s, (int[]){3, 1, 2, 5}, (const char *[]){"2", "1", "1", "2"}, 4);
    struct seen x = {""};
    assert_int_equal(
        store_spot_series(s, "aws", "us-east-1", "us-east-1a", "p4d", add_series, &x, NULL), 0);
    assert_string_equal(x.text, "1=1/-1;3=2/-1;");
    /* An earlier point with the same price makes the later one redundant. */
    put_spot(s, (int[]){2, 0}, (const char *[]){"2", "1"}, 2);
    x.text[0] = '\0';
    assert_int_equal(store_spot_series(s, "aws", "us-east-1", NULL, NULL, add_series, &x, NULL), 0);
    assert_string_equal(x.text, "0=1/-1;2=2/-1;");
    x.text[0] = '\0';
    assert_int_equal(store_history(s, "aws", "us-east-1", "us-east-1a", "p4d", PURCHASE_SPOT,
                                   add_point, &x, NULL),
                     0);
    assert_string_equal(x.text, "0=1 USD;2=2 USD;");
    store_close(s);
    box_close(&b);
}

static void spot_points_leave_the_price_rows_alone(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    for (int day = 0; day < 2; day++) { /* the second run only confirms */
        struct offer_row row = offer("us-east-1", "p4d", "32");
        row.as_of = NOW + day * DAY;
        assert_int_equal(
            publish(s, "aws-spot-history", NOW + day * DAY, &row, 1, false, NULL, NULL), 0);
    }
    put_spot(s, (int[]){0}, (const char *[]){"9"}, 1);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.n, 1);
    assert_int_equal(c->offers.as_of[0], NOW + DAY);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void history_is_oldest_first(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    for (int day = 0; day < 4; day++) {
        char price[32];
        (void)snprintf(price, sizeof(price), "%d", day == 2 ? 11 : 10 + day); /* 10 11 11 13 */
        struct offer_row row = offer("r", "t", price);
        assert_int_equal(publish(s, "aws-offer", NOW + day * DAY, &row, 1, false, NULL, NULL), 0);
    }
    struct seen x = {""};
    assert_int_equal(
        store_history(s, "aws", "r", NULL, "t", PURCHASE_ON_DEMAND, add_point, &x, NULL), 0);
    assert_string_equal(x.text, "0=10 USD;1=11 USD;3=13 USD;");
    x.text[0] = '\0';
    assert_int_equal(store_history(s, "aws", "r", NULL, "t", PURCHASE_SPOT, add_point, &x, NULL),
                     0);
    assert_string_equal(x.text, "");
    store_close(s);
    box_close(&b);
}

static void bad_rows_are_refused(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct staging *st = must_begin(s, "oci", ORIGIN_FETCHED, NOW, false);
    struct offer_row good = offer("r", "t", "5"), r;
    struct gt_error e = {0};
    r = good;
    r.currency = "usd";
    assert_int_equal(staging_put_offer(st, &r, &e), GT_EPARSE);
    r = good;
    r.price_per_hour = 0; /* none is never 0 */
    assert_int_equal(staging_put_offer(st, &r, &e), GT_ERANGE);
    r = good;
    r.price_per_hour = amount("-1");
    assert_int_equal(staging_put_offer(st, &r, &e), GT_ERANGE);
    r = good;
    r.instance_type = "";
    assert_int_equal(staging_put_offer(st, &r, &e), GT_EPARSE);
    r = good;
    r.sku = "\xff\xfe";
    assert_int_equal(staging_put_offer(st, &r, &e), GT_EPARSE);
    r = good;
    r.valid_from = NOW;
    r.valid_to = NOW;
    assert_int_equal(staging_put_offer(st, &r, &e), GT_ERANGE);
    r = good;
    r.vendor = "AliYun"; /* an alias is fine */
    assert_int_equal(staging_put_offer(st, &r, &e), 0);
    r = good;
    r.instance_type = "none";
    r.price_state = PRICE_NONE;
    r.price_per_hour = 0;
    assert_int_equal(staging_put_offer(st, &r, &e), 0);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_string_equal(catalog_text(c, c->offers.vendor[find_offer(c, "r", "t")]), "alibaba");
    long row = find_offer(c, "r", "none");
    assert_int_equal(c->offers.price_state[row], PRICE_NONE);
    assert_true(isnan(c->offers.usd_per_hour[row]));
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static struct storage_rate_row rate_row(const char *component, const char *from, const char *to,
                                        const char *rate)
{
    return (struct storage_rate_row){.vendor = "aws",
                                     .region = "us-east-1",
                                     .tier = "s3_standard",
                                     .component = component,
                                     .unit = SU_GIB_MONTH,
                                     .unit_qty = 1,
                                     .from_qty = amount(from),
                                     .to_qty = to != NULL ? amount(to) : -1,
                                     .rate = amount(rate),
                                     .currency = "USD",
                                     .valid_from = GT_TIME_NONE,
                                     .valid_to = GT_TIME_NONE,
                                     .as_of = NOW};
}

static void rates_come_from_one_source_in_order(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct storage_rate_row rows[] = {rate_row("storage", "512000", NULL, "0.021"),
                                      rate_row("storage", "0", "51200", "0.023"),
                                      rate_row("storage", "51200", "512000", "0.022"),
                                      rate_row("put", "0", NULL, "0.0000000025")};
    struct staging *st = must_begin(s, "aws-offer", ORIGIN_FETCHED, NOW, false);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(staging_put_storage(st, &rows[i], NULL), 0);
    }
    struct transfer_rate_row move = {.vendor = "aws",
                                     .from = "us-east-1",
                                     .to = "internet",
                                     .to_gb = -1,
                                     .gb_bytes = GT_GIB,
                                     .rate = amount("0.09"),
                                     .currency = "USD",
                                     .valid_from = GT_TIME_NONE,
                                     .valid_to = GT_TIME_NONE,
                                     .as_of = NOW};
    assert_int_equal(staging_put_transfer(st, &move, NULL), 0);
    move.to = "other_region";
    move.rate = amount("0.02");
    assert_int_equal(staging_put_transfer(st, &move, NULL), 0);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    /* Another source with one flat, older rate. */
    struct storage_rate_row flat = rate_row("storage", "0", NULL, "0.03");
    flat.as_of = NOW - DAY;
    st = must_begin(s, "skypilot", ORIGIN_IMPORTED, NOW, false);
    assert_int_equal(staging_put_storage(st, &flat, NULL), 0);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    uint32_t aws = catalog_id(c, "aws"), region = catalog_id(c, "us-east-1");
    size_t first = 0;
    assert_int_equal(
        catalog_storage_rates(c, aws, region, catalog_id(c, "s3_standard"), "storage", &first), 3);
    assert_true(c->storage.from_qty[first] == 0);
    assert_true(c->storage.rate[first] == amount("0.023"));
    assert_true(c->storage.to_qty[first + 2] < 0);
    assert_string_equal(catalog_text(c, c->storage.note[first]),
                        "skypilot says 0.03 USD as of 2025-12-01");
    assert_int_equal(c->storage.note[first + 1], 0);
    assert_int_equal(
        catalog_storage_rates(c, aws, region, catalog_id(c, "s3_standard"), "put", &first), 1);
    assert_true(c->storage.rate[first] == amount("0.0000000025"));
    assert_int_equal(catalog_transfer_rates(c, aws, region, "eu-west-1", &first), 1);
    assert_true(c->transfer.rate[first] == amount("0.02"));
    assert_int_equal(catalog_transfer_rates(c, aws, region, "internet", &first), 1);
    assert_true(c->transfer.rate[first] == amount("0.09"));
    assert_int_equal(catalog_transfer_rates(c, aws, region, "us-east-1", &first), 0);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void bands_take_the_newest(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    for (int i = 0; i < 2; i++) {
        struct interruption_row r = {.vendor = "aws",
                                     .region = "us-east-1",
                                     .instance_type = "p4d",
                                     .band_lo_pct = i ? 20 : 5,
                                     .band_hi_pct = i ? -1 : 10,
                                     .savings_pct = -1,
                                     .as_of = NOW + i * DAY};
        struct staging *st =
            must_begin(s, i ? "aws-spot-advisor" : "other", ORIGIN_FETCHED, NOW, false);
        assert_int_equal(staging_put_interruption(st, &r, NULL), 0);
        assert_int_equal(staging_publish(st, NULL, NULL), 0);
    }
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->interruption.n, 1);
    assert_true(c->interruption.band_lo_pct[0] == 20);
    assert_true(c->interruption.band_hi_pct[0] < 0); /* open */
    assert_true(c->interruption.savings_pct[0] < 0); /* null */
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_changes_and_closes),
        cmocka_unit_test(answers_what_was_known_then),
        cmocka_unit_test(dated_prices_hold_in_their_time),
        cmocka_unit_test(open_prices_of_one_key_follow_each_other),
        cmocka_unit_test(of_two_prices_for_one_key_the_dearer_stays),
        cmocka_unit_test(large_changes_are_quarantined),
        cmocka_unit_test(sources_show_their_last_run),
        cmocka_unit_test(an_empty_list_is_refused),
        cmocka_unit_test(sources_that_disagree_are_noted),
        cmocka_unit_test(decimals_survive_the_round_trip),
        cmocka_unit_test(currencies_need_a_rate),
        cmocka_unit_test(series_keep_changes_only),
        cmocka_unit_test(spot_points_leave_the_price_rows_alone),
        cmocka_unit_test(history_is_oldest_first),
        cmocka_unit_test(bad_rows_are_refused),
        cmocka_unit_test(rates_come_from_one_source_in_order),
        cmocka_unit_test(bands_take_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
