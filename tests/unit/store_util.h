/* For the store's tests: a folder of its own per test, rows with defaults, one-line publishing. */
#ifndef TESTS_UNIT_STORE_UTIL_H
#define TESTS_UNIT_STORE_UTIL_H
#include "gputier/store.h"
#include "gputier/units.h"
#include "unit.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW 1764633600 /* 2025-12-02T00:00:00Z */
#define DAY 86400

struct box {
    char dir[64], db[128], data[128];
};

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *at)
{
    (void)info, (void)flag, (void)at;
    return remove(path);
}

__attribute__((unused)) static void box_open(struct box *b)
{
    (void)snprintf(b->dir, sizeof(b->dir), "/tmp/gputier-test-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    (void)snprintf(b->db, sizeof(b->db), "%s/sub/gputier.db", b->dir);
    (void)snprintf(b->data, sizeof(b->data), "%s/data", b->dir);
}

__attribute__((unused)) static void box_close(struct box *b)
{
    assert_int_equal(nftw(b->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

__attribute__((unused)) static struct store *must_open_at(const struct box *b, int64_t now)
{
    struct store_options o = {.path = b->db, .data_dir = b->data, .now = now};
    struct store *s = NULL;
    struct gt_error e = {0};
    if (store_open(&o, &s, &e) != 0) {
        fail_msg("store_open: %s: %s", e.where, e.text);
    }
    return s;
}

__attribute__((unused)) static struct store *must_open(const struct box *b)
{
    return must_open_at(b, NOW);
}

__attribute__((unused)) static money amount(const char *text)
{
    money m = 0;
    assert_int_equal(money_parse(text, strlen(text), &m, NULL), 0);
    return m;
}

__attribute__((unused)) static struct offer_row offer(const char *region, const char *type,
                                                      const char *price)
{
    return (struct offer_row){.vendor = "aws",
                              .region = region,
                              .instance_type = type,
                              .gpu = "A100-80GB SXM4",
                              .gpu_num = 8,
                              .gpu_den = 1,
                              .gpu_memory_gib = 80,
                              .vcpus = 96,
                              .memory_gib = 1152,
                              .local_nvme_gb = -1,
                              .network_gbps = 400,
                              .price_per_hour = amount(price),
                              .currency = "USD",
                              .sku = "SKU1",
                              .valid_from = GT_TIME_NONE,
                              .valid_to = GT_TIME_NONE,
                              .as_of = NOW};
}

__attribute__((unused)) static struct staging *
must_begin(struct store *s, const char *source, enum origin origin, int64_t when, bool accept)
{
    struct staging_options o = {.source_id = source,
                                .scope = "",
                                .url = "https://example.test/prices",
                                .origin = origin,
                                .fetched_at = when,
                                .accept_large_change = accept};
    struct staging *st = NULL;
    struct gt_error e = {0};
    if (staging_begin(s, &o, &st, &e) != 0) {
        fail_msg("staging_begin: %s: %s", e.where, e.text);
    }
    return st;
}

/* Publishes rows[0..n) as one run; returns the code. */
__attribute__((unused)) static int publish(struct store *s, const char *source, int64_t when,
                                           const struct offer_row *rows, size_t n, bool accept,
                                           struct publish_result *res, struct gt_error *e)
{
    struct staging *st = must_begin(s, source, ORIGIN_FETCHED, when, accept);
    for (size_t i = 0; i < n; i++) {
        struct gt_error why = {0};
        if (staging_put_offer(st, &rows[i], &why) != 0) {
            fail_msg("staging_put_offer: %s", why.text);
        }
    }
    return staging_publish(st, res, e);
}

__attribute__((unused)) static struct catalog *must_load(struct store *s, int64_t as_of)
{
    struct load_options o = {.as_of = as_of};
    struct catalog *c = NULL;
    struct gt_error e = {0};
    if (store_load_catalog(s, &o, &c, &e) != 0) {
        fail_msg("store_load_catalog: %s: %s", e.where, e.text);
    }
    return c;
}

/* Row of an instance type in a region, -1 if none. */
__attribute__((unused)) static long find_offer(const struct catalog *c, const char *region,
                                               const char *type)
{
    for (size_t i = 0; i < c->offers.n; i++) {
        if (strcmp(catalog_text(c, c->offers.region[i]), region) == 0 &&
            strcmp(catalog_text(c, c->offers.instance_type[i]), type) == 0) {
            return (long)i;
        }
    }
    return -1;
}

/* Price text of an offer believed at as_of; "" when there is none. */
__attribute__((unused)) static const char *
price_at(struct store *s, int64_t as_of, const char *region, const char *type, char out[MONEY_TEXT])
{
    struct catalog *c = must_load(s, as_of);
    long row = find_offer(c, region, type);
    out[0] = '\0';
    if (row >= 0) {
        (void)money_format(c->offers.price_per_hour[row], out);
    }
    catalog_free(c);
    return out;
}

__attribute__((unused)) static void write_file(const char *dir, const char *name, const char *text)
{
    char path[300];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

#endif
