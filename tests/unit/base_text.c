/* units, text, buffers, arena, JSON and CSV writers, RNG. */
#include "gputier/arena.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/rng.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

static void sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"150GiB", 150ULL << 30},     {"12GB", 12000000000ULL},
                {"1.1GB", 1100000000ULL},     {"4096", 4096},
                {"300 MB", 300000000ULL},     {"0.5KiB", 512},
                {"1.56TiB", 1715238139331ULL}};
    static const char *const bad[] = {"",        "GiB",   "12 Gb/s", "-1GB",
                                      "1e400GB", "12GBx", "nan",     "99999999PiB"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t b;
        assert_int_equal(size_parse(good[i].text, &b, NULL), 0);
        assert_int_equal(b, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t b;
        struct gt_error e = {0};
        if (size_parse(bad[i], &b, &e) == 0) {
            fail_msg("'%s' was taken as %llu bytes", bad[i], (unsigned long long)b);
        }
        assert_true(e.text[0] != '\0');
    }
    char buf[32];
    assert_string_equal(size_format(150ULL << 30, buf), "150 GiB");
    assert_string_equal(size_format(1023, buf), "1.00 KiB");
    assert_string_equal(size_format(512, buf), "512 B");
}

static void durations(void **state)
{
    static const struct {
        const char *text;
        double s;
    } good[] = {{"72h", 259200},   {"30min", 1800},          {"30m", 1800},
                {"1h30min", 5400}, {"12mo", 12 * 2628000.0}, {"1.5 d", 129600},
                {"2w", 1209600},   {"1y", 31536000},         {"0s", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double s;
        assert_int_equal(duration_parse(good[i].text, false, &s, NULL), 0);
        assert_true(s == good[i].s);
    }
    double s;
    struct gt_error e;
    assert_int_equal(duration_parse("36m", true, &s, &e), GT_EPARSE);
    assert_non_null(strstr(e.text, "mo"));
    assert_int_equal(duration_parse("36", false, &s, &e), GT_EPARSE);
    assert_int_equal(duration_parse("-1h", false, &s, &e), GT_EPARSE);
    assert_int_equal(duration_parse("1h x", false, &s, &e), GT_EPARSE);
    assert_int_equal(duration_parse("", false, &s, &e), GT_EPARSE);
    char buf[32];
    assert_string_equal(duration_format(259200, buf), "3 d");
    assert_string_equal(duration_format(5400, buf), "1 h 30 min");
}

static void instants(void **state)
{
    int64_t t;
    char buf[32];
    (void)state;
    assert_int_equal(time_parse("2026-12-02T02:35:00Z", 0, &t, NULL), 0);
    assert_int_equal(t, 1796178900);
    assert_string_equal(time_format(t, buf), "2026-12-02T02:35:00Z");
    assert_int_equal(time_parse("2026-04-02T11:17:42-05:00", 0, &t, NULL), 0);
    assert_string_equal(time_format(t, buf), "2026-04-02T16:17:42Z");
    assert_int_equal(time_parse("2026-12-11T18:00", 3600, &t, NULL), 0);
    assert_string_equal(time_format(t, buf), "2026-12-11T17:00:00Z");
    assert_int_equal(time_parse("1969-12-31", 0, &t, NULL), 0);
    assert_int_equal(t, -86400);
    static const char *const bad[] = {
        "2026-02-29",       "2026-13-01",           "2026-1-1", "yesterday",
        "2026-12-02T25:00", "2026-12-02T10:00:00X", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(time_parse(bad[i], 0, &t, NULL), GT_EPARSE);
    }
    /* every day of 400 years comes back */
    for (int64_t d = -146097; d < 146097; d += 13) {
        assert_int_equal(time_parse(time_format(d * 86400, buf), 0, &t, NULL), 0);
        assert_int_equal(t, d * 86400);
    }
}

static void ranges_and_counts(void **state)
{
    double lo, hi;
    uint64_t n;
    (void)state;
    assert_int_equal(range_parse("0.4..0.7", &lo, &hi, NULL), 0);
    assert_true(lo == 0.4 && hi == 0.7);
    assert_int_equal(range_parse("1..16", &lo, &hi, NULL), 0);
    assert_true(lo == 1 && hi == 16);
    assert_int_equal(range_parse("1-16", &lo, &hi, NULL), 0);
    assert_true(lo == 1 && hi == 16);
    assert_int_equal(range_parse("8", &lo, &hi, NULL), 0);
    assert_true(lo == 8 && hi == 8);
    assert_int_equal(range_parse("16-1", &lo, &hi, NULL), GT_EPARSE);
    assert_int_equal(range_parse("a", &lo, &hi, NULL), GT_EPARSE);
    assert_int_equal(count_parse("4.2M", &n, NULL), 0);
    assert_int_equal(n, 4200000);
    assert_int_equal(count_parse("1.5", &n, NULL), GT_EPARSE);
}

static void hostile_text_is_made_safe(void **state)
{
    struct buf b;
    (void)state;
    buf_init(&b, 1000);
    const char evil[] = "a\x1b[31m\x07\xc2\x9b\xff\xe2\x80\xae"
                        "b\xc3\x28";
    assert_int_equal(text_safe(&b, evil, sizeof evil - 1, false), 0);
    for (size_t i = 0; i < b.len; i++) {
        assert_true((unsigned char)b.data[i] >= 0x20 && (unsigned char)b.data[i] != 0x7f);
    }
    assert_true(utf8_valid(b.data, b.len));
    assert_null(strstr(b.data, "\xe2\x80\xae"));
    assert_int_equal(text_width("\xe5\x8c\x97\xe4\xba\xac", 6), 4);
    assert_int_equal(text_width("e\xcc\x81", 3), 1);
    buf_clear(&b);
    assert_int_equal(text_fit(&b, "\xe5\x8c\x97\xe4\xba\xac-A100", 5, -1, false), 0);
    assert_int_equal(text_width(b.data, b.len), 5);
    static const char *const invalid[] = {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                          "\xe2\x82", "\x80"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        assert_false(utf8_valid(invalid[i], strlen(invalid[i])));
    }
    buf_release(&b);
}

static void names_match_by_leading_parts(void **state)
{
    (void)state;
    assert_true(text_leading_parts("A100", "A100-80GB SXM4"));
    assert_true(text_leading_parts("a100-80gb", "A100-80GB SXM4"));
    assert_true(text_leading_parts("H100-SXM", "H100 SXM"));
    assert_false(text_leading_parts("A10", "A100-80GB SXM4"));
    assert_false(text_leading_parts("A100-80GB SXM4 X", "A100-80GB SXM4"));
    assert_int_equal(text_distance("kitten", "sitting"), 3);
}

static void buffer_keeps_its_maximum(void **state)
{
    struct buf b;
    (void)state;
    buf_init(&b, 10);
    assert_int_equal(buf_adds(&b, "0123456789"), 0);
    assert_int_equal(buf_addc(&b, 'x'), GT_ELIMIT);
    assert_true(b.failed && b.data == NULL);
    assert_int_equal(buf_adds(&b, "a"), GT_ELIMIT);
    buf_release(&b);
}

/* Room that is made ahead holds what it was made for, and changes no string. */
static void reserved_room_is_enough(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    struct intern *t = intern_new(a);
    char text[16];
    assert_int_equal(intern_add(t, "before", 6), 1);
    char *room = arena_reserve(a, intern_room(t, 3000, 15));
    assert_non_null(room);
    size_t used = arena_used(a);
    assert_int_equal(intern_reserve(t, 3000), 0);
    for (uint32_t i = 0; i < 3000; i++) {
        int n = snprintf(text, sizeof text, "string-%08u", i);
        assert_int_equal(intern_add(t, text, (size_t)n), i + 2);
        assert_true(intern_text(t, i + 2) > room);
    }
    assert_int_equal(arena_used(a), used);
    assert_int_equal(intern_find(t, "before", 6), 1);
    assert_int_equal(intern_find(t, "string-00002999", 15), 3001);
    assert_int_equal(intern_reserve(t, UINT32_MAX / 2), -1); /* more than ids can number */
    assert_string_equal(intern_text(t, 3001), "string-00002999");
    arena_free(a);
    struct arena *small = arena_new(10000);
    assert_null(arena_reserve(small, 20000));
    assert_non_null(arena_alloc(small, 100));
    arena_free(small);
}

static void interning_gives_equal_ids(void **state)
{
    struct arena *a = arena_new(0);
    struct intern *t = intern_new(a);
    char name[32];
    (void)state;
    assert_int_equal(intern_add(t, "", 0), 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            int n = snprintf(name, sizeof name, "instance-%u", i);
            assert_int_equal(intern_add(t, name, (size_t)n), i + 1);
        }
    }
    assert_int_equal(intern_find(t, "instance-4999", 13), 5000);
    assert_int_equal(intern_find(t, "missing", 7), 0);
    assert_string_equal(intern_text(t, 43), "instance-42");
    arena_free(a);
    a = arena_new(1 << 16);
    assert_null(arena_alloc(a, 1 << 17));
    assert_null(arena_array(a, SIZE_MAX / 4, 16));
    arena_free(a);
}

static void json_is_escaped(void **state)
{
    struct buf b;
    struct jsonw w;
    (void)state;
    buf_init(&b, 10000);
    jsonw_init(&w, &b, false);
    jsonw_object(&w);
    jsonw_kstring(&w, "k\"ey", "a\\b\n\x01\xff");
    jsonw_kdouble(&w, "d", 0.1);
    jsonw_kdouble(&w, "nan", 0.0 / 0.0);
    jsonw_kmoney(&w, "m", 400000);
    jsonw_key(&w, "list");
    jsonw_array(&w);
    jsonw_int(&w, -1);
    jsonw_bool(&w, true);
    jsonw_null(&w);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    assert_int_equal(jsonw_finish(&w), 0);
    assert_string_equal(b.data,
                        "{\"k\\\"ey\":\"a\\\\b\\n\\u0001\xef\xbf\xbd\",\"d\":0.1,\"nan\":null,"
                        "\"m\":\"0.0000004\",\"list\":[-1,true,null]}\n");
    buf_release(&b);
}

static void csv_never_runs_a_formula(void **state)
{
    static const char *const evil[] = {"=1+1", "+1", "-1", "@x", "\tx", "\rx"};
    struct buf b;
    struct csvw w;
    (void)state;
    buf_init(&b, 10000);
    csvw_init(&w, &b);
    for (size_t i = 0; i < 6; i++) {
        csvw_text(&w, evil[i]);
        csvw_end_row(&w);
    }
    csvw_text(&w, "a,\"b\"");
    csvw_money(&w, -(MONEY_SCALE / 2));
    csvw_end_row(&w);
    assert_int_equal(csvw_finish(&w), 0);
    assert_int_equal(strncmp(b.data, "\"'=1+1\"\n", 8), 0);
    assert_non_null(strstr(b.data, "\"a,\"\"b\"\"\",-0.5\n"));
    buf_release(&b);
}

static void random_streams_are_reproducible(void **state)
{
    struct rng a, b, c;
    double sum = 0;
    int same = 0;
    (void)state;
    rng_init(&a, 42, 0);
    rng_init(&b, 42, 0);
    rng_init(&c, 42, 1);
    for (int i = 0; i < 100000; i++) {
        uint64_t v = rng_u64(&a);
        assert_true(v == rng_u64(&b));
        same += v == rng_u64(&c);
        sum += rng_exponential(&a, 2.0);
        rng_exponential(&b, 2.0);
    }
    assert_int_equal(same, 0);
    assert_true(sum / 100000 > 0.49 && sum / 100000 < 0.51); /* 6 standard errors */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(durations),
        cmocka_unit_test(instants),
        cmocka_unit_test(ranges_and_counts),
        cmocka_unit_test(hostile_text_is_made_safe),
        cmocka_unit_test(names_match_by_leading_parts),
        cmocka_unit_test(buffer_keeps_its_maximum),
        cmocka_unit_test(interning_gives_equal_ids),
        cmocka_unit_test(reserved_room_is_enough),
        cmocka_unit_test(json_is_escaped),
        cmocka_unit_test(csv_never_runs_a_formula),
        cmocka_unit_test(random_streams_are_reproducible),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
