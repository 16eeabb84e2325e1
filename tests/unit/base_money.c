/* money: parsing, printing, exact products, largest-remainder rounding. */
#include "gputier/money.h"
#include "gputier/rng.h"
#include "unit.h"
#include <string.h>

static money parse(const char *t)
{
    money m = 0;
    struct gt_error e;
    if (money_parse(t, strlen(t), &m, &e)) {
        fail_msg("%s: %s %s", t, e.where, e.text);
    }
    return m;
}

static void prints_what_it_parsed(void **state)
{
    static const char *const same[] = {
        "0", "0.0000004", "-3.5", "98.32", "0.000000000001", "123456789012345678901234", "-0.1"};
    char buf[MONEY_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_string_equal(money_format(parse(same[i]), buf), same[i]);
    }
    assert_string_equal(money_format(parse("0.0000004000"), buf), "0.0000004");
    assert_string_equal(money_format(parse("1e-7"), buf), "0.0000001");
    assert_string_equal(money_format(parse("+2.50E2"), buf), "250");
    assert_string_equal(money_format(parse(".5"), buf), "0.5");
}

static void refuses_what_is_no_decimal(void **state)
{
    static const char *const bad[] = {"",     "abc", "1.2.3", "1e",  "--1",
                                      "0x10", "nan", "inf",   "1,5", "1 "};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        money m;
        struct gt_error e = {0};
        assert_int_equal(money_parse(bad[i], strlen(bad[i]), &m, &e), GT_EPARSE);
        assert_int_equal(e.code, GT_EPARSE);
        assert_true(strstr(e.where, "character") != NULL);
    }
    money m;
    assert_int_equal(money_parse("0.0000000000001", 15, &m, NULL), GT_ERANGE);
    assert_int_equal(money_parse("1e30", 4, &m, NULL), GT_ERANGE);
    assert_int_equal(money_parse("1e-400", 6, &m, NULL), GT_ERANGE);
    assert_int_equal(money_parse("0e-400", 6, &m, NULL), 0);
    assert_true(m == 0);
}

static void rounding_is_half_even(void **state)
{
    static const struct {
        const char *in, *out;
    } c[] = {{"0.0000000000005", "0"},
             {"0.0000000000015", "0.000000000002"},
             {"0.0000000000025", "0.000000000002"},
             {"0.00000000000250000000000000000000000000001", "0.000000000003"},
             {"0.9999999999996", "1"}};
    char buf[MONEY_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        money m;
        assert_int_equal(money_parse_round(c[i].in, strlen(c[i].in), &m, NULL), 0);
        assert_string_equal(money_format(m, buf), c[i].out);
    }
    assert_string_equal(money_format_fixed(parse("1234567.885"), 2, true, buf), "1,234,567.88");
    assert_string_equal(money_format_fixed(parse("-0.001"), 2, false, buf), "0.00");
    assert_string_equal(money_format_fixed(parse("-1.5"), 0, false, buf), "-2");
}

/* rate x num / den against a second method: repeated exact additions. */
static void product_is_exact(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, 7, 0);
    for (int i = 0; i < 2000; i++) {
        money rate = (money)(rng_u64(&r) >> 20), got, sum = 0;
        unsigned n = (unsigned)(rng_u64(&r) % 50);
        for (unsigned k = 0; k < n; k++) {
            sum += rate;
        }
        assert_int_equal(money_mul_ratio(rate, n, 1, &got), 0);
        assert_true(got == sum);
        /* (rate x n x d) / d comes back for wide d: exercises the 256-bit path */
        gt_u128 d = ((gt_u128)rng_u64(&r) << 30) | 1;
        assert_int_equal(money_mul_ratio(rate, (gt_u128)n * d, d, &got), 0);
        assert_true(got == sum);
    }
    money m;
    /* 5,306,220 transitions at 0.05 per 1,000: situations.md P4 */
    assert_int_equal(money_mul_ratio(parse("0.05"), 5306220, 1000, &m), 0);
    char buf[MONEY_TEXT];
    assert_string_equal(money_format(m, buf), "265.311");
    assert_int_equal(money_mul_ratio(parse("1"), ~(gt_u128)0, 1, &m), GT_ERANGE);
    assert_int_equal(money_mul_ratio(1, 1, 0, &m), GT_EINVALID);
    assert_int_equal(money_mul_ratio(-1, 1, 2, &m), 0);
    assert_true(m == 0);
    assert_int_equal(money_mul_ratio(-3, 1, 2, &m), 0);
    assert_true(m == -2);
}

static void shown_parts_add_up(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, 11, 0);
    for (int round = 0; round < 500; round++) {
        money part[12], out[12], total = 0, shown = 0, rounded;
        for (int i = 0; i < 12; i++) {
            part[i] = (money)(rng_u64(&r) % 50000000000000ULL);
            total += part[i];
        }
        assert_int_equal(money_round_parts(part, 12, 2, out), 0);
        for (int i = 0; i < 12; i++) {
            money d = out[i] - part[i];
            assert_true(d > -10000000000LL && d < 10000000000LL); /* less than one cent away */
            shown += out[i];
        }
        char a[MONEY_TEXT], b[MONEY_TEXT];
        money_format_fixed(total, 2, false, a);
        money_format_fixed(shown, 2, false, b);
        assert_string_equal(a, b);
        rounded = shown % 10000000000LL;
        assert_true(rounded == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_what_it_parsed), cmocka_unit_test(refuses_what_is_no_decimal),
        cmocka_unit_test(rounding_is_half_even), cmocka_unit_test(product_is_exact),
        cmocka_unit_test(shown_parts_add_up),
    };
    return cmocka_run_group_tests_name("money", tests, NULL, NULL);
}
