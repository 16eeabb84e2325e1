/* Exact rationals: parsing, arithmetic, comparison without overflow, one rounding at the end. */
#include "gputier/rational.h"
#include "gputier/rng.h"
#include "unit.h"
#include <math.h>
#include <string.h>

static struct rat parse(const char *t)
{
    struct rat r = rat_int(0);
    assert_int_equal(rat_parse(t, strlen(t), &r, NULL), 0);
    return r;
}

static const char *shown(struct rat r, char buf[MONEY_TEXT])
{
    money m;
    assert_int_equal(rat_money(r, &m), 0);
    return money_format(m, buf);
}

static void parses_decimals_and_fractions(void **state)
{
    (void)state;
    char b[MONEY_TEXT];
    assert_string_equal(shown(parse("360/744"), b), "0.483870967742");
    assert_string_equal(shown(parse("-2.5e-3"), b), "-0.0025");
    assert_string_equal(shown(parse("1e3"), b), "1000");
    assert_string_equal(shown(parse(".5"), b), "0.5");
    static const char *const bad[] = {"", "x", "1/", "1/0", "1.2.3", "1e", "--1", "1 ", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rat r;
        assert_true(rat_parse(bad[i], strlen(bad[i]), &r, NULL) < 0);
    }
}

static void rounds_once_half_to_even(void **state)
{
    (void)state;
    char b[MONEY_TEXT];
    struct rat tiny = rat_div(rat_int(1), rat_of_money(MONEY_SCALE * MONEY_SCALE));
    assert_string_equal(shown(rat_div(tiny, rat_int(2)), b), "0");
    assert_string_equal(shown(rat_div(rat_mul(tiny, rat_int(3)), rat_int(2)), b), "0.000000000002");
    assert_string_equal(shown(rat_div(rat_mul(tiny, rat_int(5)), rat_int(2)), b), "0.000000000002");
    struct rat third = rat_div(rat_int(1), rat_int(3));
    assert_string_equal(shown(rat_add(third, rat_add(third, third)), b), "1");
}

static void random_sums_and_products_match_doubles(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 5, 5);
    for (int i = 0; i < 100000; i++) {
        struct rat a = rat_make((money)(rng_u64(&r) >> 30) - (1LL << 33), (rng_u64(&r) >> 34) + 1);
        struct rat b = rat_make((money)(rng_u64(&r) >> 30) - (1LL << 33), (rng_u64(&r) >> 34) + 1);
        double x = rat_double(a), y = rat_double(b);
        assert_true(fabs(rat_double(rat_add(a, b)) - (x + y)) <= 1e-9 * (fabs(x) + fabs(y)));
        assert_true(fabs(rat_double(rat_mul(a, b)) - x * y) <= 1e-9 * fabs(x * y));
        assert_int_equal(rat_cmp(a, b), rat_sign(rat_sub(a, b)));
        assert_int_equal(rat_cmp(a, a), 0);
        struct rat c = rat_ceil(a);
        assert_true(rat_cmp(c, a) >= 0 && rat_cmp(rat_sub(c, rat_int(1)), a) < 0);
    }
}

static void overflow_is_told_and_stays(void **state)
{
    (void)state;
    struct rat big = rat_int(INT64_MAX);
    big = rat_mul(rat_mul(big, big), big);
    assert_false(rat_ok(big));
    assert_false(rat_ok(rat_add(big, rat_int(1))));
    assert_false(rat_ok(rat_max(big, rat_int(1))));
    money m;
    assert_int_equal(rat_money(big, &m), GT_ERANGE);
    assert_false(rat_ok(rat_div(rat_int(1), rat_int(0))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_decimals_and_fractions),
        cmocka_unit_test(rounds_once_half_to_even),
        cmocka_unit_test(random_sums_and_products_match_doubles),
        cmocka_unit_test(overflow_is_told_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
