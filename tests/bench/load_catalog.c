/* CPU seconds of store_load_catalog beside a bare SELECT of the same columns over the same offers:
 * load_catalog STORE. Least of five each, in turn. */
#include "gputier/store.h"
#include "gputier/units.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static long bare(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    long n = 0;
    volatile int64_t sum = 0;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "SELECT o.id, o.feed, o.place, o.instance_type, o.purchase, o.payment,"
                           " o.offering_class, o.price_state, o.price, o.upfront, o.price_month,"
                           " o.currency, o.sku, o.note, o.valid_from, o.valid_to, o.as_of"
                           " FROM offer o NOT INDEXED WHERE o.known_to IS NULL",
                           -1, &st, NULL) != SQLITE_OK) {
        exit(1);
    }
    while (sqlite3_step(st) == SQLITE_ROW) {
        n++;
        for (int i = 0; i < 17; i++) {
            if (i >= 8 && i < 14) {
                sum += sqlite3_column_text(st, i) != NULL;
            } else {
                sum += sqlite3_column_int64(st, i);
            }
        }
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

int main(int argc, char **argv)
{
    struct store *s = NULL;
    struct store_options so = {
        .path = argv[1], .data_dir = "data", .read_only = true, .now = 1796200000};
    struct gt_error err = {0};
    double scan = 1e9, load = 1e9;
    long rows = 0;
    size_t offers = 0;
    if (argc < 2 || store_open(&so, &s, &err) != 0) {
        fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 1;
    }
    for (int i = 0; i < 5; i++) {
        double t = cpu();
        rows = bare(argv[1]);
        scan = cpu() - t < scan ? cpu() - t : scan;
        struct catalog *c = NULL;
        struct load_options lo = {.as_of = GT_TIME_NONE, .with_cpu_only = true};
        t = cpu();
        if (store_load_catalog(s, &lo, &c, &err) != 0) {
            fprintf(stderr, "%s: %s\n", err.where, err.text);
            return 1;
        }
        load = cpu() - t < load ? cpu() - t : load;
        offers = c->offers.n;
        catalog_free(c);
    }
    store_close(s);
    printf(
        "%ld rows: bare SELECT %.3f s, catalog of %zu offers %.3f s CPU, ratio %.2f (at most 2)\n",
        rows, scan, offers, load, load / scan);
    return 0;
}
