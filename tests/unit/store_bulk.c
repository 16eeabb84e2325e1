/* A load larger than all that is there makes the indexes anew behind its rows: they are the same as
 * before, a repeated key is still found, and every number leads somewhere. Real SQLite files. */
#include "store_util.h"
#include <sqlite3.h>

#define ROWS 24000 /* over BULK_ROWS of merge.c */

/* One text of all that a query finds, from a connection of its own; caller frees. */
static char *ask(const struct box *b, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_open_v2(b->db, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    char *all = sqlite3_mprintf("");
    while (sqlite3_step(st) == SQLITE_ROW) {
        char *more = sqlite3_mprintf("%s%s\n", all, sqlite3_column_text(st, 0));
        sqlite3_free(all);
        all = more;
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    return all;
}

static void publish_many(struct store *s, int64_t when, int changed, int repeats,
                         struct publish_result *r)
{
    struct staging *st = must_begin(s, "aws-offer", ORIGIN_FETCHED, when, false);
    char type[32], price[32];
    for (int i = 0; i < ROWS + repeats; i++) {
        int k = i < ROWS ? i : i - ROWS;
        (void)snprintf(type, sizeof type, "type-%d", (k * 7919) % ROWS); /* in no order */
        (void)snprintf(price, sizeof price, "%d.%02d", k < changed ? 2 : 1, i < ROWS ? 50 : 25);
        struct offer_row row = offer("us-east-1", type, price);
        assert_int_equal(staging_put_offer(st, &row, NULL), 0);
    }
    struct gt_error e = {0};
    if (staging_publish(st, r, &e) != 0) {
        fail_msg("staging_publish: %s", e.text);
    }
}

static void indexes_are_as_before(void **state)
{
    (void)state;
    static const char indexes[] = "SELECT type || name || sql FROM sqlite_schema"
                                  " WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
    struct box b;
    struct publish_result r;
    box_open(&b);
    struct store *s = must_open(&b);
    char *before = ask(&b, indexes);
    publish_many(s, NOW, 0, 3, &r);
    assert_int_equal(r.added, ROWS);
    assert_int_equal(r.repeated, 3);
    char *after = ask(&b, indexes);
    assert_true(strstr(before, "offer_open") != NULL);
    assert_string_equal(before, after);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.n, ROWS);
    catalog_free(c);
    publish_many(s, NOW + DAY, 5, 0, &r); /* finds each by the index */
    assert_int_equal(r.unchanged, ROWS - 5);
    assert_int_equal(r.changed, 5);
    assert_int_equal(r.added, 0);
    assert_int_equal(r.closed, 0);
    char *sound = ask(&b, "PRAGMA integrity_check"), *refs = ask(&b, "PRAGMA foreign_key_check");
    assert_string_equal(sound, "ok\n");
    assert_string_equal(refs, "");
    sqlite3_free(sound);
    sqlite3_free(refs);
    sqlite3_free(before);
    sqlite3_free(after);
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(indexes_are_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
