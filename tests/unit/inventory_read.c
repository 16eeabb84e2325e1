/* Listings and inventories cut into pieces at every byte, hostile names, broken rows, sums near
 * 2^64: the same rows whatever the pieces. */
#include "gputier/inventory.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct inventory *new_inventory(enum inventory_format f, const char *schema, int depth)
{
    struct inventory_options o = {
        .format = f, .depth = depth, .as_of = 1796083200, .max_bad = 3, .file_schema = schema};
    struct inventory *inv = NULL;
    assert_int_equal(inventory_new(&o, &inv, NULL), 0);
    return inv;
}

static const struct inventory_row *rows_of(struct inventory *inv, size_t *n)
{
    const struct inventory_row *r;
    assert_int_equal(inventory_rows(inv, &r, n, NULL), 0);
    return r;
}

static void read_text(struct inventory *inv, const char *text, size_t len)
{
    struct gt_error err = {0};
    if (inventory_read_text(inv, "t", text, len, &err) < 0) {
        fail_msg("%s %s", err.where, err.text);
    }
}

static void names_may_hold_anything(void **state)
{
    (void)state;
    static const char text[] =
        "10\t1796083199.5\t1796083199.5\tf\t./a/b/new\nline\0"
        "20\t1700000000.0\t1700000000.0\tf\t./a/tab\there/x\0"
        "30\t1700000000.0\t1700000000.0\t8\t./a/b/\xff\xfe\0" /* blocks instead of a type */
        "40\t1700000000.0\t1796000000.0\td\t./a/dir\0"        /* a directory */
        "50\t1700000000\t1796000000\tf\t./a/b/f\0"            /* whole seconds */
        "60\t1700000000.25\t./top\0";                         /* no access time */
    struct inventory *inv = new_inventory(INVENTORY_AUTO, NULL, 2);
    size_t n;
    read_text(inv, text, sizeof text - 1);
    const struct inventory_row *r = rows_of(inv, &n);
    const struct inventory_stats *s = inventory_stats(inv);
    assert_int_equal(s->bad_rows, 0);
    assert_int_equal(s->not_files, 1);
    assert_int_equal(s->objects, 5);
    assert_int_equal(s->bytes, 170);
    assert_int_equal(n, 5);
    assert_string_equal(r[0].prefix, "");
    assert_int_equal(r[0].idle_lo_days, 365);
    assert_string_equal(r[1].prefix, "a/b/");
    assert_int_equal(r[1].bytes, 10);
    assert_int_equal(r[1].age_lo_days, 0);
    assert_string_equal(r[4].prefix, "a/tab\there/");
    inventory_free(inv);
}

static void fields_come_in_any_known_order(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "131072 2025-01-02 /data/a b/c d\n",
        "131072\t1735776000.0\t1735776000.0\tf\t/data/a b/c d\n",
        "131072\tf\t1735776000.0\t1735776000.0\t/data/a b/c d\n",
        "131072\t1735776000.0\t1735776000.0\t256\t/data/a b/c d\n",
        "131072\t1735776000.0\t1735776000.0\t256\tf\t/data/a b/c d\n",
        "131072\t1735776000.0\t/data/a b/c d", /* the last record may lack its end */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct inventory *inv = new_inventory(INVENTORY_FIND, NULL, 2);
        size_t n;
        read_text(inv, lines[i], strlen(lines[i]));
        const struct inventory_row *r = rows_of(inv, &n);
        assert_int_equal(n, 1);
        assert_string_equal(r->prefix, "data/a b/");
        assert_int_equal(r->size_lo, 131072);
        assert_int_equal(r->age_lo_days, 365);
        assert_int_equal(r->bytes_min128k, 131072);
        inventory_free(inv);
    }
}

static void bad_rows_are_counted_then_refused(void **state)
{
    (void)state;
    struct gt_error err = {0};
    struct inventory *inv = new_inventory(INVENTORY_FIND, NULL, 1);
    static const char bad[] =
        "x\n-1\t1.0\tf\ta\n99999999999999999999999\t1.0\tf\ta\n7\t1.0\tf\ta\n";
    read_text(inv, bad, strlen(bad));
    assert_int_equal(inventory_stats(inv)->bad_rows, 3);
    assert_string_equal(inventory_stats(inv)->first_bad_where, "t:1");
    assert_int_equal(inventory_stats(inv)->objects, 1);
    assert_int_equal(inventory_read_text(inv, "u", "5\n", 2, &err), GT_EPARSE);
    assert_string_equal(err.where, "u:1");
    inventory_free(inv);
}

static const char schema[] = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, "
                             "LastModifiedDate, StorageClass";

static void csv_pieces_do_not_matter(void **state)
{
    (void)state;
    static const char text[] =
        "\"b\",\"a/"
        "x+y%2Fz.bin\",\"v\",\"true\",\"false\",\"200000\",\"2026-11-30T23:59:59.001Z\","
        "\"STANDARD\"\r\n"
        "\"b\",\"a/"
        "\"\"quoted\"\".bin\",\"v\",\"false\",\"false\",\"5\",\"2020-02-29T00:00:00.000Z\","
        "\"GLACIER\"\n"
        "\"b\",\"gone\",\"v\",\"true\",\"true\",\"\",\"2026-01-01T00:00:00.000Z\",\"\"\n";
    char path[] = "/tmp/gputier-inventory-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "wb");
    /* longer than any piece, so that records straddle every kind of boundary */
    for (int i = 0; i < 5000; i++) {
        fwrite(text, 1, sizeof text - 1, f);
    }
    fclose(f);
    struct inventory *inv = new_inventory(INVENTORY_S3, schema, 1);
    struct gt_error err = {0};
    size_t n;
    assert_int_equal(inventory_read(inv, path, &err), 0);
    const struct inventory_row *r = rows_of(inv, &n);
    assert_int_equal(n, 2);
    assert_string_equal(r[0].storage_class, "GLACIER");
    assert_false(r[0].is_latest);
    assert_int_equal(r[0].objects, 5000);
    assert_int_equal(r[0].bytes_min128k, 5000ULL * 131072);
    assert_string_equal(r[1].prefix, "a/");
    assert_int_equal(r[1].bytes, 5000ULL * 200000);
    assert_int_equal(inventory_stats(inv)->delete_markers, 5000);
    inventory_free(inv);
    remove(path);
    for (size_t cut = 1; cut < sizeof text - 1; cut++) { /* what is cut off is one bad row */
        inv = new_inventory(INVENTORY_S3, schema, 1);
        read_text(inv, text, cut);
        assert_true(inventory_stats(inv)->objects <= 2);
        inventory_free(inv);
    }
}

static void sums_beyond_2_64_are_refused(void **state)
{
    (void)state;
    static const char text[] = "prefix,objects,bytes\n\"a/\",1,18446744073709551615\n\"a/\",1,1\n";
    struct inventory *inv = new_inventory(INVENTORY_AUTO, NULL, 1);
    assert_int_equal(inventory_read_text(inv, "t", text, strlen(text), NULL), GT_ERANGE);
    inventory_free(inv);
    static const char many[] = "prefix,objects,bytes\nlogs/,1560000000000,1560000000000000\n";
    inv = new_inventory(INVENTORY_AUTO, NULL, 1);
    read_text(inv, many, strlen(many));
    assert_true(inventory_stats(inv)->objects == 1560000000000ULL);
    inventory_free(inv);
}

static void access_keeps_every_version_warm(void **state)
{
    (void)state;
    static const char text[] =
        "\"b\",\"k+1\",\"v\",\"true\",\"false\",\"9\",\"2020-01-01T00:00:00.000Z\",\"STANDARD\"\n"
        "\"b\",\"k+1\",\"w\",\"false\",\"false\",\"9\",\"2020-01-01T00:00:00.000Z\",\"STANDARD\"\n";
    struct inventory_accesses *seen = NULL;
    assert_int_equal(inventory_accesses_new(1796083200, 0, &seen, NULL), 0);
    assert_int_equal(inventory_access_put(seen, "k 1", 3, 1796083200 - 40 * 86400, NULL), 0);
    struct inventory_options o = {
        .format = INVENTORY_S3, .as_of = 1796083200, .file_schema = schema, .access = seen};
    struct inventory *inv;
    size_t n;
    assert_int_equal(inventory_new(&o, &inv, NULL), 0);
    read_text(inv, text, strlen(text));
    const struct inventory_row *r = rows_of(inv, &n);
    assert_int_equal(n, 2);
    assert_int_equal(r[0].idle_lo_days, 30);
    assert_int_equal(r[1].idle_lo_days, 30);
    assert_int_equal(r[1].age_lo_days, 365);
    inventory_free(inv);
    inventory_accesses_free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_may_hold_anything),
        cmocka_unit_test(fields_come_in_any_known_order),
        cmocka_unit_test(bad_rows_are_counted_then_refused),
        cmocka_unit_test(csv_pieces_do_not_matter),
        cmocka_unit_test(sums_beyond_2_64_are_refused),
        cmocka_unit_test(access_keeps_every_version_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
