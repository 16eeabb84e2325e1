/* Parts of the interface that need no terminal: list movement, plots, filters of the price table.
 */
#include "../../tui/cli/tier_letters.h"
#include "../../tui/widgets/list.h"
#include "../../tui/widgets/plot.h"
#include "gputier/rng.h"
#include "gputier/text.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every size, every number of rows, random keys: the selection stays inside and in view. */
static void selection_is_always_in_view(void **state)
{
    static const int keys[] = {'j', 'k', 'g', 'G', 4, 21, 2, 6};
    struct rng r;
    (void)state;
    rng_init(&r, 3, 0);
    for (int round = 0; round < 20000; round++) {
        static struct list l;
        if (round % 10 == 0) {
            list_resize(&l, rng_u64(&r) % 50, rng_u64(&r) % 12);
        }
        list_key(&l, keys[rng_u64(&r) % 8], false);
        assert_true(l.n == 0 ? l.at == 0 : l.at < l.n);
        if (l.page && l.n) {
            assert_true(l.at >= l.top && l.at < l.top + l.page);
        }
    }
}

static void plot_fits_any_size(void **state)
{
    struct plot_point p[8] = {{1, 2, 'A'},   {3, 4, 0}, {NAN, 1, 'B'},    {INFINITY, 1, 'C'},
                              {-1, -1, 'D'}, {0, 0, 0}, {1e12, 5e9, 'E'}, {5, 5, 0}};
    (void)state;
    for (int w = -3; w < 150; w += 3) {
        for (int h = -2; h < 60; h += 3) {
            for (size_t n = 0; n <= 8; n++) {
                struct buf b;
                buf_init(&b, 1 << 20);
                assert_int_equal(plot_scatter(p, n, n % 2 ? 3 : (double)NAN, w, h, "hours", "USD",
                                              n % 3 == 0, &b),
                                 0);
                int lines = 0;
                for (const char *s = b.data ? b.data : ""; *s;) {
                    size_t len = strcspn(s, "\n");
                    assert_true(text_width(s, len) <= (size_t)(w > 0 ? w : 0));
                    s += len + (s[len] == '\n');
                    lines++;
                }
                assert_true(lines <= (h > 0 ? h : 0));
                buf_release(&b);
            }
        }
    }
}

static void plot_shows_the_marked_point(void **state)
{
    struct plot_point p[] = {{10, 100, 'A'}, {50, 20, 0}};
    struct buf b;
    (void)state;
    buf_init(&b, 1 << 16);
    assert_int_equal(plot_scatter(p, 2, 60, 50, 10, "hours", "USD", true, &b), 0);
    assert_non_null(strchr(b.data, 'A'));
    assert_non_null(strchr(b.data, '.'));
    assert_non_null(strstr(b.data, "hours"));
    assert_true(strcspn(b.data, "A") < strcspn(b.data, ".")); /* dearer is higher */
    buf_release(&b);
}

/* Every tier has a letter that no other of its product has, and a name for people. */
static void tiers_have_letters(void **state)
{
    const struct storage_rule *r;
    size_t tiers = 0;
    (void)state;
    for (int p = 0; p < PRODUCT_COUNT; p++) {
        char seen[64] = "";
        for (int i = 0; (r = storage_rule_at((enum storage_product)p, i)) != NULL; i++, tiers++) {
            char c = tier_letter(r->tier);
            assert_int_not_equal(c, '?');
            assert_null(memchr(seen, c, (size_t)i));
            assert_string_not_equal(tier_short_name(r->tier), r->tier);
            seen[i] = c;
        }
    }
    assert_true(tiers > 40);
    assert_int_equal(tier_letter("no_such_tier"), '?');
}

/* Any shares in any width: letters in the tiers' order, each that holds something has a cell where
 * there are enough, the length is the share of the largest month. */
static void bars_of_tiers_hold_their_shares(void **state)
{
    const char *tier[5] = {"s3_standard", "s3_express", "gcs_standard", "s3_deep_archive", "odd"};
    uint64_t bytes[5];
    char letter[5], cells[80];
    struct rng r;
    (void)state;
    rng_init(&r, 5, 0);
    struct tier_series s = {.months = 1, .n_tiers = 5, .tier = tier, .bytes = bytes};
    tier_series_letters(&s, letter);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(letter[i], letter[k]);
        }
    }
    for (int round = 0; round < 20000; round++) {
        uint64_t sum = 0;
        int holding = 0, width = (int)(rng_u64(&r) % 80), at = 0;
        for (int k = 0; k < 5; k++) {
            bytes[k] = rng_u64(&r) % 3 ? rng_u64(&r) % (1ULL << (rng_u64(&r) % 55)) : 0;
            sum += bytes[k];
            holding += bytes[k] > 0;
        }
        uint64_t most = sum + rng_u64(&r) % (sum + 1);
        int n = tier_series_bar(&s, letter, 0, most, width, cells);
        assert_true(n >= 0 && n <= width);
        assert_true(most == 0 || fabs(n - (double)sum / (double)most * width) <= 0.51 ||
                    (n == 1 && sum > 0));
        for (int k = 0; k < 5; k++) {
            int begin = at;
            while (at < n && cells[at] == letter[k]) {
                at++;
            }
            assert_true(bytes[k] > 0 || at == begin);
            assert_true(bytes[k] == 0 || at > begin || n < holding);
            double is = sum ? (double)bytes[k] / (double)sum * n : 0;
            assert_true(n < holding || fabs(at - begin - is) <= holding);
        }
        assert_int_equal(at, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_is_always_in_view),     cmocka_unit_test(tiers_have_letters),
        cmocka_unit_test(bars_of_tiers_hold_their_shares), cmocka_unit_test(plot_fits_any_size),
        cmocka_unit_test(plot_shows_the_marked_point),
    };
    return cmocka_run_group_tests_name("tui widgets", tests, NULL, NULL);
}
