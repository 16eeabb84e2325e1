/* Rounding of a bill for people: on random bills the shown lines add up to the shown components and
 * these to the shown total, no figure is off by a whole minor unit. */
#include "gputier/plan.h"
#include "gputier/rng.h"
#include "unit.h"
#include <string.h>

#define BILLS 3000
#define LINES 24

static money unit_of(const char *currency)
{
    money u = MONEY_SCALE;
    for (int d = money_minor_digits(currency); d > 0; d--) {
        u /= 10;
    }
    return u;
}

static void make_bill(struct rng *r, struct plan *p, struct bill_line line[LINES])
{
    p->n_lines = rng_u64(r) % (LINES + 1);
    p->line = line;
    for (size_t i = 0; i < p->n_lines; i++) {
        uint64_t kind = rng_u64(r) % 8;
        money m = (money)(rng_u64(r) % 1000000) * (money)(rng_u64(r) % 1000000000);
        m = kind == 0   ? 0
            : kind == 1 ? (money)(rng_u64(r) % 100) * (MONEY_SCALE / 100)
            : kind == 2 ? (money)(rng_u64(r) % 1000)
            : kind == 3 ? -m
                        : m;
        line[i] =
            (struct bill_line){.component = (enum component)(rng_u64(r) % COMP_COUNT), .amount = m};
        p->component[line[i].component] += m;
        p->total += m;
    }
}

static void shown_parts_add_up(void **state)
{
    (void)state;
    static const char *const currencies[] = {"USD", "JPY", "CNY"};
    struct rng r;
    rng_init(&r, 7, 0);
    for (int n = 0; n < BILLS; n++) {
        struct bill_line line[LINES];
        struct plan p = {.currency = currencies[n % 3]};
        money part[COMP_COUNT], shown[LINES], total = 0, unit = unit_of(p.currency);
        char a[MONEY_TEXT], b[MONEY_TEXT];
        make_bill(&r, &p, line);
        assert_int_equal(plan_shown(&p, part, shown), 0);
        for (int c = 0; c < COMP_COUNT; c++) {
            money sum = 0, off = part[c] - p.component[c];
            bool any = false;
            for (size_t i = 0; i < p.n_lines; i++) {
                if (line[i].component == (enum component)c) {
                    money d = shown[i] - line[i].amount;
                    any = true;
                    sum += shown[i];
                    assert_true(d > -unit && d < unit);
                    assert_true(shown[i] % unit == 0);
                }
            }
            assert_true(off > -unit && off < unit);
            assert_true(any ? sum == part[c] : part[c] == 0);
            total += part[c];
        }
        int digits = money_minor_digits(p.currency);
        assert_string_equal(money_format_fixed(p.total, digits, true, a),
                            money_format_fixed(total, digits, true, b));
    }
}

static void lines_are_optional(void **state)
{
    (void)state;
    struct plan p = {.currency = "USD"};
    money part[COMP_COUNT];
    p.component[COMP_STORAGE] = 5 * MONEY_SCALE / 1000; /* half a cent, alone: to even */
    p.component[COMP_OTHER] = 26 * MONEY_SCALE / 1000;
    assert_int_equal(plan_shown(&p, part, NULL), 0);
    assert_true(part[COMP_STORAGE] == 0);
    assert_true(part[COMP_OTHER] == 3 * MONEY_SCALE / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_parts_add_up),
        cmocka_unit_test(lines_are_optional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
