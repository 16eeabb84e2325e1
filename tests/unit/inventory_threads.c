/* Many files read by any number of threads: rows, counters, sums of fractions and errors are those
 * of one thread. A child that empties itself half way changes nothing. */
#include "gputier/inventory.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 9
#define AS_OF 1796083200

static char folder[] = "/tmp/gputier-inventory-XXXXXX", names[FILES][80];
static const char *paths[FILES];
static const char schema[] = "Key, Size, LastModifiedDate, StorageClass";

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu", folder, i);
        paths[i] = names[i];
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        remove(names[i]);
    }
    return rmdir(folder);
}

/* Rows of a file: prefixes that others have too and some of its own, bad rows where asked. */
static void write_csv(size_t file, size_t rows, size_t prefixes, size_t bad)
{
    FILE *f = fopen(names[file], "wb");
    assert_non_null(f);
    for (size_t i = 0; i < rows; i++) {
        size_t k = i * 2654435761u;
        fprintf(f, "\"p%zu/q%zu/%zu+x\",\"%zu\",\"%d-%02zu-03T04:05:06.000Z\",\"%s\"\n",
                k % prefixes, (k + file) % 3, i, k % 300000, 2020 + (int)(k / 7 % 7),
                k / 11 % 12 + 1, k % 5 ? "STANDARD" : "GLACIER");
    }
    for (size_t i = 0; i < bad; i++) {
        fprintf(f, "\"p/%zu\",\"-\",\"2020-01-01\",\"STANDARD\"\n", file);
    }
    assert_int_equal(fclose(f), 0);
}

struct answer {
    int rc;
    struct gt_error err;
    struct inventory *inv;
    const struct inventory_row *row;
    size_t n;
};

static struct answer answer_of(size_t threads, const char *columns, uint64_t max_bad)
{
    struct answer a = {0};
    const struct team team = team_threads(threads);
    struct inventory_options o = {.depth = 2,
                                  .as_of = AS_OF,
                                  .max_bad = max_bad,
                                  .file_schema = columns,
                                  .team = threads ? &team : NULL};
    assert_int_equal(inventory_new(&o, &a.inv, NULL), 0);
    a.rc = inventory_read_files(a.inv, paths, FILES, &a.err);
    a.rc = a.rc ? a.rc : inventory_rows(a.inv, &a.row, &a.n, &a.err);
    return a;
}

static void same(const struct answer *a, const struct answer *b)
{
    assert_int_equal(a->rc, b->rc);
    assert_string_equal(a->err.where, b->err.where);
    assert_string_equal(a->err.text, b->err.text);
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct inventory_row *x = &a->row[i], *y = &b->row[i];
        assert_string_equal(x->prefix, y->prefix);
        assert_string_equal(x->storage_class, y->storage_class);
        assert_int_equal(x->size_lo, y->size_lo);
        assert_int_equal(x->age_lo_days, y->age_lo_days);
        assert_int_equal(x->objects, y->objects);
        assert_int_equal(x->bytes, y->bytes);
        assert_int_equal(x->bytes_min128k, y->bytes_min128k);
        assert_memory_equal(&x->gets_30d, &y->gets_30d, sizeof x->gets_30d);
    }
    if (a->rc == 0) {
        const struct inventory_stats *s = inventory_stats(a->inv), *t = inventory_stats(b->inv);
        assert_memory_equal(s, t, sizeof *s);
    }
}

static void compare_all(const char *columns, uint64_t max_bad, int rc)
{
    struct answer one = answer_of(0, columns, max_bad);
    assert_int_equal(one.rc, rc);
    for (size_t threads = 1; threads <= 5; threads++) {
        struct answer many = answer_of(threads, columns, max_bad);
        same(&one, &many);
        inventory_free(many.inv);
    }
    inventory_free(one.inv);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    uint64_t rows = 0;
    for (size_t i = 0; i < FILES; i++) {
        size_t n = i == 4 ? 0 : 3000 + i * 100; /* one is empty */
        write_csv(i, n, 40, 0);
        rows += n;
    }
    struct answer a = answer_of(3, schema, 0);
    assert_int_equal(a.rc, 0);
    assert_int_equal(inventory_stats(a.inv)->objects, rows);
    uint64_t objects = 0;
    for (size_t i = 0; i < a.n; i++) {
        objects += a.row[i].objects;
    }
    assert_int_equal(objects, rows);
    inventory_free(a.inv);
    compare_all(schema, 0, 0);
}

/* More cells in a file than a child keeps. */
static void children_empty_themselves(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        write_csv(i, i % 4 ? 100 : 90000, i % 4 ? 10 : 50000, 0);
    }
    compare_all(schema, 0, 0);
}

static void bad_rows_are_told_by_the_first_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        write_csv(i, 500, 10, i == 3 || i == 6 ? 4 : 0);
    }
    compare_all(schema, 8, 0);
    compare_all(schema, 7, GT_EPARSE); /* only both together are too many */
    compare_all(schema, 3, GT_EPARSE); /* each is */
    struct answer a = answer_of(4, schema, 3);
    char where[96];
    snprintf(where, sizeof where, "%s:504", names[3]);
    assert_string_equal(a.err.where, where);
    inventory_free(a.inv);
    remove(names[5]);
    compare_all(schema, 100, GT_ENOTFOUND);
}

static void fractions_are_summed_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        FILE *f = fopen(names[i], "wb");
        assert_non_null(f);
        fprintf(f, "prefix,objects,bytes,gets_30d\na/,1,1,0.%zu\na/,1,1,1e%zu\n", i + 1, 2 * i);
        assert_int_equal(fclose(f), 0);
    }
    compare_all(NULL, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(children_empty_themselves),
        cmocka_unit_test(bad_rows_are_told_by_the_first_file),
        cmocka_unit_test(fractions_are_summed_in_order),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
