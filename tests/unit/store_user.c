/* Saved plans, bench results, check, prune, backup. */
#include "../../pricing/store/store_impl.h"
#include "store_util.h"

static int add_name(void *ctx, const char *name, int64_t when)
{
    char *out = ctx;
    (void)snprintf(out + strlen(out), 200 - strlen(out), "%s@%lld;", name, (long long)(when - NOW));
    return 0;
}

static void plans_are_kept_by_name(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    char *json = NULL, *scenario = NULL, text[200] = "";
    struct gt_error e = {0};
    assert_int_equal(store_load_plan(s, NULL, &json, &scenario, &e), GT_ENOTFOUND);
    assert_int_equal(store_save_plan(s, "a", "{\"n\":1}", "schema: x\n", NOW, NULL), 0);
    assert_int_equal(store_save_plan(s, "b'; --", "{\"n\":2}", NULL, NOW, NULL), 0);
    assert_int_equal(store_save_plan(s, "a#1", "{}", NULL, NOW, &e), GT_EINVALID);
    assert_int_equal(store_load_plan(s, NULL, &json, &scenario, NULL), 0);
    assert_string_equal(json, "{\"n\":2}");
    assert_string_equal(scenario, "");
    free(json);
    free(scenario);
    assert_int_equal(store_save_plan(s, "a", "{\"n\":3}", "schema: y\n", NOW + 5, NULL), 0);
    assert_int_equal(store_load_plan(s, NULL, &json, &scenario, NULL), 0); /* saved last again */
    assert_string_equal(json, "{\"n\":3}");
    assert_string_equal(scenario, "schema: y\n");
    free(json);
    free(scenario);
    assert_int_equal(store_list_plans(s, add_name, text, NULL), 0);
    assert_string_equal(text, "a@5;b'; --@0;");
    assert_int_equal(store_delete_plan(s, "b'; --", NULL), 0);
    assert_int_equal(store_delete_plan(s, "b'; --", &e), GT_ENOTFOUND);
    text[0] = '\0';
    assert_int_equal(store_list_plans(s, add_name, text, NULL), 0);
    assert_string_equal(text, "a@5;");
    store_close(s);
    box_close(&b);
}

struct nested {
    struct store *s;
    size_t plans;
    int rc;
};

static int ask_again(void *ctx, const char *name, int64_t when)
{
    struct nested *n = ctx;
    char *json = NULL, *scenario = NULL;
    (void)when;
    n->rc = n->rc ? n->rc : store_load_plan(n->s, name, &json, &scenario, NULL);
    n->plans++;
    free(json);
    free(scenario);
    return 0;
}

static int list_again(void *ctx, const struct source_state *st)
{
    struct nested *n = ctx;
    (void)st;
    n->rc = n->rc ? n->rc : store_list_plans(n->s, ask_again, n, NULL);
    return 1;
}

/* Whoever is handed rows may ask the store for more: `fetch` reads the regions of saved plans so.
 */
static void a_row_callback_may_call_the_store(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct nested n = {.s = s};
    assert_int_equal(store_save_plan(s, "a", "{}", "schema: x\n", NOW, NULL), 0);
    assert_int_equal(store_save_plan(s, "b", "{}", "schema: x\n", NOW, NULL), 0);
    (void)alarm(30); /* a deadlock ends the test */
    assert_int_equal(store_list_plans(s, ask_again, &n, NULL), 0);
    assert_int_equal(n.plans, 2);
    assert_int_equal(store_sources(s, list_again, &n, NULL), 0);
    (void)alarm(0);
    assert_int_equal(n.rc, 0);
    store_close(s);
    box_close(&b);
}

static void bench_results_reach_the_catalog(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct bench_row rows[] = {{"copy", "GB/s", 20, 19, 21, 0.1, true},
                               {"fma_fp32", "GFLOP/s", 500, 490, 510, 0.1, true}};
    assert_int_equal(store_save_bench(s, "H200", "cuda", true, "{}", rows, 2, NOW, NULL), 0);
    rows[0].median = 22;
    assert_int_equal(store_save_bench(s, "H200", "cuda", true, "{}", rows, 1, NOW + 1, NULL), 0);
    assert_int_equal(store_save_bench(s, "EPYC", "cpu", false, "{}", rows, 1, NOW, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->bench.n, 2); /* the last run of each device */
    assert_string_equal(catalog_text(c, c->bench.device[0]), "H200");
    assert_true(c->bench.median[0] == 22);
    assert_int_equal(c->bench.when[0], NOW + 1);
    assert_int_equal(c->bench.is_gpu[0], 1);
    assert_int_equal(c->bench.is_gpu[1], 0);
    catalog_free(c);
    /* A metric twice is refused as a whole. */
    rows[1] = rows[0];
    assert_int_not_equal(store_save_bench(s, "X", "cpu", false, "{}", rows, 2, NOW, NULL), 0);
    c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->bench.n, 2);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void check_finds_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *finding;
    } harm[] = {
        {"UPDATE offer SET price = '1.50'", "amount: offer 1 has price \"1.50\""},
        {"UPDATE offer SET price = 'much'", "amount: offer 1 has price \"much\""},
        {"PRAGMA foreign_keys = OFF; UPDATE offer SET place = 77", "reference: offer row 1"},
        {"UPDATE offer SET known_to = known_from - 1", "interval: offer 1"},
        {"UPDATE offer SET price_state = 1", "state: offer 1"},
        {"UPDATE offer SET price = '0'", "zero: offer 1"},
        {"UPDATE instance_type SET gpu = NULL", "gpu: instance type aws/t"},
        {"UPDATE purchase_option SET name = 'hire' WHERE id = 3", "option: 3 is \"hire\""},
        {"PRAGMA foreign_keys = OFF; DELETE FROM fetch_run", "run: feed 1"},
        {"UPDATE place SET vendor = 'gcp'", "vendor: offer 1"},
    };
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        struct box b;
        box_open(&b);
        struct store *s = must_open(&b);
        struct offer_row row = offer("r", "t", "1.5");
        assert_int_equal(publish(s, "oci", NOW, &row, 1, false, NULL, NULL), 0);
        struct buf report;
        buf_init(&report, 100000);
        assert_int_equal(store_check(s, &report, NULL), 0);
        assert_int_equal(report.len, 0);
        assert_int_equal(db_exec(&s->db, harm[i].sql, NULL), 0);
        struct gt_error e = {0};
        assert_int_equal(store_check(s, &report, &e), GT_EDB);
        if (strstr(report.data, harm[i].finding) == NULL) {
            fail_msg("%s: %s", harm[i].sql, report.data);
        }
        buf_release(&report);
        store_close(s);
        box_close(&b);
    }
}

static void prune_keeps_what_plans_cite(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    char text[MONEY_TEXT];
    for (int day = 0; day < 6; day++) { /* t changes daily with a SKU a day; u once */
        char price[16], sku[16];
        (void)snprintf(price, sizeof(price), "%d", 10 + day);
        (void)snprintf(sku, sizeof(sku), "S%d", day);
        struct offer_row rows[] = {offer("r", "t", price), offer("r", "u", "5")};
        rows[0].sku = sku;
        assert_int_equal(publish(s, "oci", NOW + day * DAY, rows, 2, false, NULL, NULL), 0);
    }
    assert_int_equal(store_save_plan(s, "then", "{}", NULL, NOW + 2 * DAY + 5, NULL), 0);
    assert_int_equal(store_save_plan(s, "cites",
                                     "{\"plans\":[{\"provenance\":[{\"source_id\":\"oci\","
                                     "\"sku\":\"S1\"},{\"source_id\":\"aws\",\"sku\":\"S0\"}]}]}",
                                     NULL, NOW + 90 * DAY, NULL),
                     0);
    uint64_t removed = 0;
    assert_int_equal(store_prune(s, NOW + 5 * DAY, &removed, NULL), 0);
    assert_int_equal(removed, 2); /* days 0 and 3; day 4 is closed at the limit, not before it */
    assert_string_equal(price_at(s, NOW, "r", "t", text), "");
    assert_string_equal(price_at(s, NOW + DAY, "r", "t", text), "11");
    assert_string_equal(price_at(s, NOW + 2 * DAY, "r", "t", text), "12");
    assert_string_equal(price_at(s, NOW + 3 * DAY, "r", "t", text), "");
    assert_string_equal(price_at(s, NOW + 4 * DAY, "r", "t", text), "14");
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "15");
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "u", text), "5");
    assert_int_equal(store_prune(s, NOW + 5 * DAY, &removed, NULL), 0);
    assert_int_equal(removed, 0);
    store_close(s);
    box_close(&b);
}

static void a_backup_is_a_whole_database(void **state)
{
    (void)state;
    struct box b, copy;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row row = offer("r", "t", "1.5");
    assert_int_equal(publish(s, "oci", NOW, &row, 1, false, NULL, NULL), 0);
    copy = b;
    (void)snprintf(copy.db, sizeof(copy.db), "%s/copy.db", b.dir);
    struct gt_error e = {0};
    assert_int_equal(store_backup(s, b.db, &e), GT_EINVALID);
    assert_int_equal(store_backup(s, copy.db, &e), 0);
    assert_int_equal(store_backup(s, copy.db, &e), 0); /* replaces */
    assert_int_equal(store_backup(s, "/nowhere/copy.db", &e), GT_EIO);
    struct stat info;
    assert_int_equal(stat(copy.db, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    row.price_per_hour = amount("2");
    assert_int_equal(publish(s, "oci", NOW + 1, &row, 1, false, NULL, NULL), 0);
    store_close(s);
    s = must_open(&copy);
    char text[MONEY_TEXT];
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "1.5");
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_callback_may_call_the_store),
        cmocka_unit_test(plans_are_kept_by_name),
        cmocka_unit_test(bench_results_reach_the_catalog),
        cmocka_unit_test(check_finds_what_is_wrong),
        cmocka_unit_test(prune_keeps_what_plans_cite),
        cmocka_unit_test(a_backup_is_a_whole_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
