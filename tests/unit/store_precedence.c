/* Of several sources that price one offer, which is shown: each line of the rule in
 * pricing/store/precedence.c, in both orders of import; what the others say is kept. */
#include "store_util.h"
#include <math.h>

/* One source's word on one offer. */
struct word {
    const char *source, *scope, *zone, *price;
    enum origin origin;
    int age; /* days */
    enum price_state state;
    int purchase;
};

static void import(struct store *s, const struct word *w)
{
    struct staging_options o = {.source_id = w->source,
                                .scope = w->scope ? w->scope : "",
                                .url = "file",
                                .origin = w->origin,
                                .fetched_at = NOW};
    struct staging *st = NULL;
    struct gt_error e = {0};
    struct offer_row row = offer("r", "t", w->price ? w->price : "0");
    row.zone = w->zone;
    row.as_of = NOW - w->age * DAY;
    row.price_state = w->state;
    row.purchase = (enum purchase)w->purchase;
    if (staging_begin(s, &o, &st, &e) != 0 || staging_put_offer(st, &row, &e) != 0 ||
        staging_publish(st, NULL, &e) != 0) {
        fail_msg("%s: %s", e.where, e.text);
    }
}

/* n words, the expected rows "zone price source;" in order of zone, and the conflicts "price
 * source;": the same in the order given and in the reverse one. */
static void expect(const struct word *w, size_t n, const char *rows, const char *conflicts)
{
    for (int reverse = 0; reverse < 2; reverse++) {
        struct box b;
        box_open(&b);
        struct store *s = must_open(&b);
        for (size_t i = 0; i < n; i++) {
            import(s, &w[reverse ? n - 1 - i : i]);
        }
        struct catalog *c = must_load(s, GT_TIME_NONE);
        char got[600] = "", said[600] = "", a[MONEY_TEXT];
        static const char *const zones[] = {"", "r-a", "r-b"};
        for (size_t z = 0; z < 3; z++) {
            for (size_t i = 0; i < c->offers.n; i++) {
                if (strcmp(catalog_text(c, c->offers.zone[i]), zones[z]) == 0) {
                    (void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %s %s;",
                                   zones[z], money_format(c->offers.price_per_hour[i], a),
                                   catalog_text(c, c->offers.source[i]));
                }
            }
        }
        for (size_t i = 0; i < c->others.n; i++) {
            (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s %s;",
                           money_format(c->others.price_per_hour[i], a),
                           catalog_text(c, c->others.source[i]));
        }
        assert_string_equal(got, rows);
        assert_string_equal(said, conflicts);
        catalog_free(c);
        store_close(s);
        box_close(&b);
    }
}
#define FETCHED  .origin = ORIGIN_FETCHED
#define IMPORTED .origin = ORIGIN_IMPORTED

static void a_price_before_none(void **state)
{
    (void)state;
    struct word w[] = {{"gcp-skus", FETCHED, .state = PRICE_NONE},
                       {"skypilot", FETCHED, .price = "43.07", .age = 400}};
    expect(w, 2, " 43.07 skypilot;", "");
    w[0].state = PRICE_SOLD_OTHERWISE; /* that is a word about the offer */
    expect(w, 2, " 0 gcp-skus;", "43.07 skypilot;");
}

static void own_list_before_all(void **state)
{
    (void)state;
    struct word w[] = {{"prices-csv", "contract.csv", .price = "7", IMPORTED, .age = 700},
                       {"gcp-skus", FETCHED, .price = "9"}};
    expect(w, 2, " 7 prices-csv;", "9 gcp-skus;");
    w[0].scope = "table: history.csv"; /* a table of past prices is nobody's contract */
    expect(w, 2, " 9 gcp-skus;", "7 prices-csv;");
}

/* The recordings of a GCP machine at 88.49 and 43.07 an hour. */
static void trap_32_vendors_list_before_a_younger_copy(void **state)
{
    (void)state;
    struct word w[] = {{"gcp-skus", FETCHED, .price = "88.49", .age = 90},
                       {"skypilot", FETCHED, .price = "43.07"}};
    expect(w, 2, " 88.49 gcp-skus;", "43.07 skypilot;"); /* equal: then the order of sources */
    w[0].age = 91;
    expect(w, 2, " 43.07 skypilot;", "88.49 gcp-skus;");
    w[0].source = "gpuhunt"; /* of two copies the younger */
    w[0].age = 1;
    expect(w, 2, " 43.07 skypilot;", "88.49 gpuhunt;");
}

static void fetched_before_imported_then_by_source(void **state)
{
    (void)state;
    struct word w[] = {{"skypilot", FETCHED, .price = "2"}, {"gpuhunt", IMPORTED, .price = "1"}};
    expect(w, 2, " 2 skypilot;", "1 gpuhunt;");
    w[0].origin = ORIGIN_IMPORTED;
    expect(w, 2, " 1 gpuhunt;", "2 skypilot;");
    struct word own[] = {{"prices-csv", "b.csv", .price = "2", IMPORTED},
                         {"prices-csv", "a.csv", .price = "1", IMPORTED}};
    expect(own, 2, " 1 prices-csv;", "2 prices-csv;");
}

static void three_sources_are_named_in_their_order(void **state)
{
    (void)state;
    struct word w[] = {{"gpuhunt", FETCHED, .price = "1", .age = 3},
                       {"skypilot", FETCHED, .price = "2", .age = 2},
                       {"gcp-skus", FETCHED, .price = "3", .age = 9},
                       {"vast", FETCHED, .price = "3.02", .age = 99}}; /* less than 1 % away */
    expect(w, 4, " 3 gcp-skus;", "2 skypilot;1 gpuhunt;");
}

static void a_region_and_its_zones_are_one_offer(void **state)
{
    (void)state;
    struct word w[] = {{"gcp-skus", FETCHED, .price = "88.49", .age = 9},
                       {"skypilot", .zone = "r-a", .price = "43.07", FETCHED},
                       {"gpuhunt", .zone = "r-b", .price = "60", FETCHED, .age = 1}};
    expect(w, 3, " 88.49 gcp-skus;", "43.07 skypilot;60 gpuhunt;");
    w[0].age = 200; /* now the younger copy stays alone */
    expect(w, 3, "r-a 43.07 skypilot;", "60 gpuhunt;88.49 gcp-skus;");
    for (int i = 0; i < 3; i++) { /* left-over capacity has a price in each zone */
        w[i].purchase = PURCHASE_SPOT;
    }
    expect(w, 3, " 88.49 gcp-skus;r-a 43.07 skypilot;r-b 60 gpuhunt;", "");
}

static void one_source_may_list_both_region_and_zone(void **state)
{
    (void)state;
    const struct word w[] = {{"skypilot", "a", .price = "5", FETCHED},
                             {"skypilot", "b", "r-a", "6", FETCHED}};
    expect(w, 2, " 5 skypilot;r-a 6 skypilot;", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_before_none),
        cmocka_unit_test(own_list_before_all),
        cmocka_unit_test(trap_32_vendors_list_before_a_younger_copy),
        cmocka_unit_test(fetched_before_imported_then_by_source),
        cmocka_unit_test(three_sources_are_named_in_their_order),
        cmocka_unit_test(a_region_and_its_zones_are_one_offer),
        cmocka_unit_test(one_source_may_list_both_region_and_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
