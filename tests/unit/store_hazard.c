/* Interruption rates counted from recorded series and shipped traces: what counts as evidence, up
 * to which instant, and which of two is taken. */
#include "../../pricing/store/store_impl.h"
#include "store_util.h"

#define T0 (NOW - 10 * DAY)

static void sql(struct store *s, const char *text)
{
    char *why = NULL;
    if (sqlite3_exec(s->db.h, text, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s", why);
    }
}

/* A spot offer of p4d in us-east-1 and its series: up but for two hours every day, looked at for
 * ten days with a gap of a day in the middle. */
static struct store *recorded(const struct box *b)
{
    struct store *s = must_open(b);
    struct offer_row o = offer("us-east-1", "p4d", "10");
    o.purchase = PURCHASE_SPOT;
    assert_int_equal(publish(s, "lambda", T0, &o, 1, false, NULL, NULL), 0);
    char text[400];
    (void)snprintf(text, sizeof text,
                   "INSERT INTO pool SELECT instance_type, place, feed FROM offer;"
                   "INSERT INTO observed VALUES(1, %d, %d, 600, 9), (1, %d, %d, 600, 9)",
                   T0, T0 + 5 * DAY - 600, T0 + 6 * DAY, T0 + 10 * DAY - 600);
    sql(s, text);
    for (int day = 0; day < 10; day++) {
        (void)snprintf(text, sizeof text,
                       "INSERT INTO spot_point SELECT instance_type, place, 1, %d, %d, NULL, NULL,"
                       " 1 FROM offer UNION ALL SELECT instance_type, place, 1, %d, %d, NULL, NULL,"
                       " 0 FROM offer",
                       T0 + day * DAY, T0 + day * DAY, T0 + day * DAY + 22 * 3600,
                       T0 + day * DAY + 22 * 3600);
        sql(s, text);
    }
    return s;
}

static void a_series_is_counted_where_somebody_looked(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = recorded(&b);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->n_hazards, 1);
    const struct catalog_hazard *h = &c->hazards[0];
    assert_string_equal(catalog_text(c, h->basis), "lambda");
    assert_string_equal(catalog_text(c, h->instance_type), "p4d");
    assert_int_equal(h->drops, 9); /* the day that nobody looked at counts for nothing */
    assert_true(h->up_h == 9 * 22 && h->looked_h == 9 * 24);
    assert_true(h->rate_per_h > 0.0479 && h->rate_per_h < 0.0481); /* 9.5 / 198 */
    /* gamma(9.5) from 2.5 to 97.5 %: 4.45 to 16.43 */
    assert_true(h->lo_per_h > 4.40 / 198 && h->lo_per_h < 4.50 / 198);
    assert_true(h->hi_per_h > 16.3 / 198 && h->hi_per_h < 16.6 / 198);
    assert_true(h->since == T0 && h->trace == 0);
    catalog_free(c);
    c = must_load(s, T0 + 4 * DAY);
    assert_int_equal(c->n_hazards, 1);
    assert_int_equal(c->hazards[0].drops, 4);
    catalog_free(c);
    c = must_load(s, T0 + 2 * DAY); /* two days are too little */
    assert_int_equal(c->n_hazards, 0);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void looks_by_hand_are_no_series(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = recorded(&b);
    sql(s, "UPDATE observed SET step = 0");
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->n_hazards, 0);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void a_trace_comes_before_a_series(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = recorded(&b);
    sql(s, "UPDATE place SET zone = 'us-east-1a';"
           "INSERT INTO trace VALUES('old', 'aws', 'us-east-1', 'us-east-1a', 'p4d', 3600, 1,"
           " 'old.csv'), ('lost', 'aws', 'us-east-1', 'us-east-1a', 'p4d', 3600, 1, 'lost.csv'),"
           " ('other', 'aws', 'us-east-1', 'us-east-1b', 'p4d', 3600, 1, 'old.csv')");
    assert_int_equal(mkdir(b.data, 0700), 0);
    write_file(b.data, "old.csv",
               "# gap_s=3600\n# n=200\nt_s,avail\n0,1\n180000,0\n360000,1\n720000,-1\n");
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->n_hazards, 1);
    assert_string_equal(catalog_text(c, c->hazards[0].basis), "old");
    assert_int_equal(c->hazards[0].drops, 1);
    assert_true(c->hazards[0].up_h == 150 && c->hazards[0].looked_h == 200);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_is_counted_where_somebody_looked),
        cmocka_unit_test(looks_by_hand_are_no_series),
        cmocka_unit_test(a_trace_comes_before_a_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
