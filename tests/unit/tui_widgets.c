/* Parts of the interface that need no terminal: list movement, plots, filters of the price table.
 */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_is_always_in_view),
        cmocka_unit_test(plot_fits_any_size),
        cmocka_unit_test(plot_shows_the_marked_point),
    };
    return cmocka_run_group_tests_name("tui widgets", tests, NULL, NULL);
}
