/* Recorded series: files of a history in any order, complete lists, times of looking, rounds that
 * changed nothing, pruning, and a database of version 2. */
#include "../../pricing/store/store_impl.h"
#include "gputier/record.h"
#include "gputier/rng.h"
#include "store_util.h"

#define T0 (NOW - 100 * DAY)

/* Rows of a query as text, "a|b;". */
static const char *rows(struct store *s, const char *sql, char out[4096])
{
    sqlite3_stmt *st = NULL;
    size_t n = 0;
    out[0] = '\0';
    assert_int_equal(sqlite3_prepare_v2(s->db.h, sql, -1, &st, NULL), SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(st) && n < 4000; i++) {
            n += (size_t)snprintf(out + n, 4096 - n, "%s%s", i ? "|" : "", column_str(st, i));
        }
        n += (size_t)snprintf(out + n, 4096 - n, ";");
    }
    assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
    return out;
}

static void put(struct staging *st, const char *zone, int64_t when, const char *price,
                int available)
{
    struct spot_point_row r = {.vendor = "aws",
                               .region = "us-east-1",
                               .zone = zone,
                               .instance_type = "p4d",
                               .when = when,
                               .price = *price ? amount(price) : -1,
                               .currency = "USD",
                               .available = available};
    assert_int_equal(staging_put_spot_point(st, &r, NULL), 0);
}

/* The truth: a price per hour of a hundred hours, changing now and then. */
static int price_of_hour(int hour)
{
    struct rng r;
    int price = 1;
    for (int h = 0; h <= hour; h += 1) {
        rng_init(&r, 7, (uint64_t)h);
        price = rng_unit(&r) < 0.2 ? 1 + (int)(3 * rng_unit(&r)) : price;
    }
    return price;
}

/* A file holds the changes of its window; equal points may be repeated in it. */
static void put_window(struct store *s, int from, int to, int repeat)
{
    struct staging *st = must_begin(s, "aws-spot-history", ORIGIN_IMPORTED, NOW, false);
    int last = -1;
    for (int h = from; h < to; h++) {
        char price[16];
        int p = price_of_hour(h);
        if (p != last || (h - from) % repeat == 0) {
            (void)snprintf(price, sizeof price, "%d", p);
            put(st, "us-east-1a", T0 + h * 3600, price, -1);
        }
        last = p;
    }
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
}

static void f171_load_order_of_histories(void **state)
{
    (void)state;
    static const struct {
        int from, to, repeat;
    } window[] = {{0, 20, 3}, {10, 30, 7}, {45, 60, 2}, {70, 71, 1}, {75, 76, 1}, {58, 73, 9}};
    char first[4096] = "", now[4096], seen[4096];
    for (int order = 0; order < 24; order++) {
        struct box b;
        struct rng r;
        int at[] = {0, 1, 2, 3, 4, 5};
        box_open(&b);
        struct store *s = must_open(&b);
        rng_init(&r, 1, (uint64_t)order);
        for (int i = 5; i > 0 && order > 0; i--) {
            int k = (int)(rng_u64(&r) % (uint64_t)(i + 1)), t = at[i];
            at[i] = at[k];
            at[k] = t;
        }
        for (int i = 0; i < 6; i++) {
            put_window(s, window[at[i]].from, window[at[i]].to, window[at[i]].repeat);
        }
        rows(s, "SELECT time, until, price FROM spot_point ORDER BY time", now);
        rows(s, "SELECT first, last FROM observed ORDER BY first", seen);
        (void)snprintf(now + strlen(now), sizeof now - strlen(now), " %.500s", seen);
        if (order == 0) {
            memcpy(first, now, sizeof first);
        }
        assert_string_equal(now, first);
        store_close(s);
        box_close(&b);
    }
}

/* A round in which `names` of the zones a, b, c have a machine. */
static void round_at(struct store *s, int64_t when, const char *names)
{
    struct staging *st = must_begin(s, "lambda", ORIGIN_FETCHED, when, false);
    struct offer_row o = offer("us-east-1", "p4d", "32");
    assert_int_equal(staging_put_offer(st, &o, NULL), 0);
    for (const char *p = names; *p; p++) {
        put(st, (char[]){*p, '\0'}, when, "", 1);
    }
    staging_set_raw(st, "aa", 10, "\"tag\"", NULL);
    staging_series_complete(st);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
}

static void a_complete_list_empties_what_it_lacks(void **state)
{
    (void)state;
    struct box b;
    char text[4096];
    box_open(&b);
    struct store *s = must_open_at(&b, T0 + DAY);
    round_at(s, T0, "ab");
    round_at(s, T0 + 600, "b");
    round_at(s, T0 + 1200, "");
    round_at(s, T0 + 1800, "bc");
    assert_string_equal(rows(s,
                             "SELECT p.zone, x.time - 1755993600, x.available FROM spot_point x"
                             " JOIN place p ON p.id = x.place ORDER BY 1, 2",
                             text),
                        "a|0|1;a|600|0;b|0|1;b|1200|0;b|1800|1;c|1800|1;");
    store_close(s);
    box_close(&b);
}

static int add_time(void *ctx, const struct observed_time *o)
{
    char *text = ctx;
    size_t n = strlen(text);
    (void)snprintf(text + n, 400 - n, "%lld-%lld/%lld;", (long long)(o->first - T0),
                   (long long)(o->last - T0), (long long)o->step_s);
    return 0;
}

static void times_of_looking(void **state)
{
    (void)state;
    struct box b;
    char text[400] = "";
    int64_t last = 0;
    box_open(&b);
    struct store *s = must_open_at(&b, T0 + DAY);
    assert_int_equal(store_last_run(s, "lambda", &last, NULL), 0);
    assert_true(last == GT_TIME_NONE);
    round_at(s, T0 - 5000, "a"); /* a fetch by hand: one look */
    assert_int_equal(store_record(s, "lambda", 600, NULL), 0);
    round_at(s, T0, "a");
    assert_int_equal(store_touch_source(s, "lambda", "", T0 + 650, NULL), 0);
    round_at(s, T0 + 1400, "a"); /* late, not missing */
    round_at(s, T0 + 2600, "a"); /* one round is missing before it */
    assert_int_equal(store_touch_source(s, "lambda", "", T0 + 3200, NULL), 0);
    assert_int_equal(store_observed(s, "aws", "us-east-1", "a", "p4d", NULL, add_time, text, NULL),
                     0);
    assert_string_equal(text, "-5000--5000/0;0-1400/600;2600-3200/600;");
    assert_int_equal(store_last_run(s, "lambda", &last, NULL), 0);
    assert_true(last == T0 + 3200);
    store_close(s);
    box_close(&b);
}

static void rounds_without_news_are_kept_once(void **state)
{
    (void)state;
    struct box b;
    char text[4096], *etag = NULL, *modified = NULL;
    box_open(&b);
    struct store *s = must_open_at(&b, T0 + DAY);
    assert_int_equal(store_record(s, "lambda", 600, NULL), 0);
    round_at(s, T0, "a");
    for (int i = 1; i < 52; i++) {
        int64_t when = T0 + i * 600;
        if (i % 3 == 0) {
            struct staging *st = must_begin(s, "lambda", ORIGIN_FETCHED, when, false);
            staging_discard(st, "no network");
        } else if (i % 3 == 1) {
            round_at(s, when, "a");
        } else {
            assert_int_equal(store_touch_source(s, "lambda", "", when, NULL), 0);
        }
    }
    assert_string_equal(rows(s, "SELECT count(*), sum(state = 'failed') FROM fetch_run", text),
                        "4|1;"); /* the first, and the newest of each kind */
    assert_int_equal(store_http_state(s, "lambda", "", &etag, &modified, NULL), 0);
    assert_string_equal(etag, "\"tag\"");
    free(etag);
    free(modified);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.fetched_at[0], T0 + 50 * 600);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void prune_keeps_the_value_in_force(void **state)
{
    (void)state;
    struct box b;
    char text[4096];
    uint64_t removed = 0;
    box_open(&b);
    struct store *s = must_open_at(&b, T0 + DAY);
    round_at(s, T0, "ab");
    round_at(s, T0 + 600, "a");
    round_at(s, T0 + 1200, "ab");
    assert_int_equal(store_prune(s, T0 + 1000, &removed, NULL), 0);
    assert_string_equal(rows(s,
                             "SELECT p.zone, x.time - 1755993600, x.available FROM spot_point x"
                             " JOIN place p ON p.id = x.place ORDER BY 1, 2",
                             text),
                        "a|0|1;b|600|0;b|1200|1;");
    assert_string_equal(rows(s, "SELECT count(*) FROM instance_type", text), "1;");
    store_close(s);
    box_close(&b);
}

static void prune_removes_types_without_a_price(void **state)
{
    (void)state;
    struct box b;
    char text[4096];
    uint64_t removed = 0;
    box_open(&b);
    struct store *s = must_open_at(&b, T0 + DAY);
    for (int i = 0; i < 3; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "host%d", i);
        struct offer_row o = offer("r", name, "1");
        assert_int_equal(publish(s, "vast", T0 + i * 600, &o, 1, true, NULL, NULL), 0);
    }
    assert_int_equal(store_prune(s, T0 + 700, &removed, NULL), 0);
    assert_string_equal(rows(s, "SELECT name FROM instance_type ORDER BY 1", text), "host1;host2;");
    assert_string_equal(rows(s, "SELECT value FROM meta WHERE key = 'pruned_before'", text),
                        "1755994300;");
    store_close(s);
    box_close(&b);
}

static void version_2_keeps_its_series(void **state)
{
    (void)state;
    struct box b;
    char dir[200], text[4096];
    struct db d = {0};
    box_open(&b);
    (void)snprintf(dir, sizeof(dir), "%s/sub", b.dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(db_open(&d, b.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), 0);
    assert_int_equal(schema_migrate(&d, 2, NULL), 0);
    assert_int_equal(
        db_exec(&d,
                "INSERT INTO source(id, name) VALUES(1, 'aws-spot-history'), (2, 'lambda');"
                "INSERT INTO feed VALUES(1, 1, '', 0), (2, 2, '', 0);"
                "INSERT INTO fetch_run(feed, origin, state, started, ended)"
                " VALUES(1, 2, 'published', 5, 5), (2, 1, 'published', 5, 5);"
                "INSERT INTO place VALUES(1, 'aws', 'r', 'z');"
                "INSERT INTO instance_type(id, vendor, name) VALUES(1, 'aws', 't');"
                "INSERT INTO spot_point VALUES(1, 1, 3, '1', 'USD', NULL, 1),"
                " (1, 1, 9, '2', 'USD', NULL, 1), (1, 1, 12, NULL, NULL, 1, 2)",
                NULL),
        0);
    db_close(&d);
    struct store *s = must_open(&b);
    assert_int_equal(store_version(s), SCHEMA_VERSION);
    rows(s, "SELECT source, time, until, price, available FROM spot_point ORDER BY 1, 2", text);
    assert_string_equal(text, "1|3|3|1|;1|9|9|2|;2|12|12||1;");
    assert_string_equal(rows(s, "SELECT feed FROM pool ORDER BY 1", text), "1;2;");
    assert_string_equal(rows(s, "SELECT feed, first, last FROM observed", text), "1|3|9;");
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f171_load_order_of_histories),
        cmocka_unit_test(a_complete_list_empties_what_it_lacks),
        cmocka_unit_test(times_of_looking),
        cmocka_unit_test(rounds_without_news_are_kept_once),
        cmocka_unit_test(prune_keeps_the_value_in_force),
        cmocka_unit_test(prune_removes_types_without_a_price),
        cmocka_unit_test(version_2_keeps_its_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
