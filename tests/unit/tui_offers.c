/* The view of the price table without a terminal: orders of every column against the plain reading
 * of the rows, filters against a row by row check. */
#include "unit.h"
/* clang-format off */
#include "../../tui/screens/offer_filter.h"
#include "gputier/store.h"
#include "gputier/units.h"
/* clang-format on */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static struct catalog *catalog;
static char path[512];

static int setup(void **state)
{
    const char *tmp = getenv("TMPDIR"), *data = getenv("GPUTIER_DATA");
    struct gt_error err = {0};
    struct store *s = NULL;
    (void)state;
    snprintf(path, sizeof path, "%.400s/offersXXXXXX", tmp ? tmp : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) || unlink(path)) {
        return -1;
    }
    struct store_options o = {.path = path, .data_dir = data ? data : "data", .now = 1796083200};
    struct load_options all = {.as_of = GT_TIME_NONE, .with_cpu_only = true};
    int rc = store_open(&o, &s, &err);
    rc = rc ? rc : store_load_catalog(s, &all, &catalog, &err);
    if (rc) {
        print_error("%s: %s\n", err.where, err.text);
        return -1;
    }
    store_close(s);
    return 0;
}

static int teardown(void **state)
{
    char command[2048];
    (void)state;
    catalog_free(catalog);
    snprintf(command, sizeof command, "rm -f '%s' '%s-wal' '%s-shm'", path, path, path);
    return system(command);
}

static const char *text_of(size_t row, enum offer_sort by)
{
    const struct catalog_offers *o = &catalog->offers;
    const uint32_t *column = by == SORT_VENDOR ? o->vendor
                             : by == SORT_TYPE ? o->instance_type
                             : by == SORT_GPU  ? o->gpu
                                               : o->region;
    return catalog_text(catalog, column[row]);
}

static double number_of(size_t row, enum offer_sort by)
{
    const struct catalog_offers *o = &catalog->offers;
    double price = o->price_state[row] == PRICE_KNOWN ? o->usd_per_hour[row] : (double)NAN;
    double count = (double)o->gpu_num[row] / (o->gpu_den[row] ? o->gpu_den[row] : 1);
    switch (by) {
    case SORT_COUNT:
        return count;
    case SORT_BUY:
        return o->purchase[row];
    case SORT_PER_GPU:
        return count > 0 ? price / count : (double)NAN;
    case SORT_PER_HOUR:
        return price;
    case SORT_AGE:
        return -(double)o->as_of[row];
    case SORT_VCPUS:
        return (double)o->vcpus[row];
    default:
        return (double)o->memory_gib[row];
    }
}

/* < 0: a may stand before b only; missing values are last in both directions. */
static int order_of(size_t a, size_t b, enum offer_sort by, bool reverse)
{
    if (by == SORT_VENDOR || by == SORT_TYPE || by == SORT_GPU || by == SORT_REGION) {
        int d = strcmp(text_of(a, by), text_of(b, by));
        return reverse ? -d : d;
    }
    double x = number_of(a, by), y = number_of(b, by);
    if (isnan(x) || isnan(y)) {
        return isnan(x) - isnan(y);
    }
    if (fabs(x - y) <= 1e-12 * fabs(x)) {
        return 0;
    }
    return (x > y) == reverse ? -1 : 1;
}

static void every_column_orders_by_value(void **state)
{
    struct offer_view v;
    size_t n = catalog->offers.n;
    unsigned char *seen = calloc(n, 1);
    (void)state;
    assert_non_null(seen);
    assert_true(n > 3000);
    assert_int_equal(offer_view_init(&v, catalog), 0);
    for (int by = SORT_VENDOR; by <= SORT_MEMORY; by++) {
        for (int reverse = 0; reverse < 2; reverse++) {
            offer_view_sort(&v, (enum offer_sort)by, reverse);
            assert_int_equal(v.n, n);
            memset(seen, 0, n);
            for (size_t i = 0; i < n; i++) {
                assert_false(seen[v.row[i]]); /* each row once */
                seen[v.row[i]] = 1;
                if (i > 0 && order_of(v.row[i - 1], v.row[i], (enum offer_sort)by, reverse) > 0) {
                    fail_msg("column %d, reverse %d: rows %zu and %zu", by, reverse, i - 1, i);
                }
            }
        }
    }
    free(seen);
    offer_view_release(&v);
}

static void equal_rows_keep_their_order(void **state)
{
    struct offer_view v;
    (void)state;
    assert_int_equal(offer_view_init(&v, catalog), 0);
    offer_view_sort(&v, SORT_VENDOR, false);
    for (size_t i = 1; i < v.n; i++) {
        if (strcmp(text_of(v.row[i - 1], SORT_VENDOR), text_of(v.row[i], SORT_VENDOR)) == 0) {
            assert_true(v.row[i - 1] < v.row[i]);
        }
    }
    offer_view_release(&v);
}

static bool is_gpu(const struct catalog_offers *o, size_t i, const char *name)
{
    const char *gpu = catalog_text(catalog, o->gpu[i]);
    return strncasecmp(gpu, name, strlen(name)) == 0;
}

static void filters_pass_what_they_say(void **state)
{
    static const char *const filters[] = {
        "vendor=aws gpu=H100 gpus=8", "gpus=4-8 buy=spot", "max=2.5 vendor=gcp",
        "gpu=A100 buy=spot",          "vendor=lambda",     "region=us-east"};
    const struct catalog_offers *o = &catalog->offers;
    struct offer_view v;
    (void)state;
    assert_int_equal(offer_view_init(&v, catalog), 0);
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        size_t expected = 0;
        for (size_t i = 0; i < o->n; i++) {
            const char *vendor = catalog_text(catalog, o->vendor[i]);
            double count = (double)o->gpu_num[i] / (o->gpu_den[i] ? o->gpu_den[i] : 1);
            double per_gpu = number_of(i, SORT_PER_GPU);
            bool ok[] = {
                strncmp(vendor, "aws", 3) == 0 && is_gpu(o, i, "H100") && count >= 8 && count <= 8,
                count >= 4 && count <= 8 && o->purchase[i] == PURCHASE_SPOT,
                per_gpu <= 2.5 && strcmp(vendor, "gcp") == 0,
                is_gpu(o, i, "A100") && o->purchase[i] == PURCHASE_SPOT,
                strcmp(vendor, "lambda") == 0,
                strstr(catalog_text(catalog, o->region[i]), "us-east") != NULL,
            };
            expected += ok[f];
        }
        offer_view_filter(&v, filters[f]);
        if (v.n != expected) {
            fail_msg("'%s': %zu rows, expected %zu", filters[f], v.n, expected);
        }
        assert_true(expected > 0);
    }
    offer_view_filter(&v, "gpus=many");
    assert_int_equal(v.n, 0);
    assert_true(v.problem[0] != '\0');
    offer_view_filter(&v, "");
    assert_int_equal(v.n, o->n);
    assert_true(v.problem[0] == '\0');
    offer_view_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_orders_by_value),
        cmocka_unit_test(equal_rows_keep_their_order),
        cmocka_unit_test(filters_pass_what_they_say),
    };
    return cmocka_run_group_tests_name("tui offers", tests, setup, teardown);
}
