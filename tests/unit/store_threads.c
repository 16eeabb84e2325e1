/* Several sources publish from threads of their own while catalogs are loaded: each run is whole,
 * readers never fail, and another process reads on during a publish. */
#include "store_util.h"
#include <pthread.h>
#include <sys/wait.h>

#define THREADS 4
#define ROUNDS  6
#define ROWS    60

struct worker {
    struct store *store;
    int number, failures;
};

static void *publish_rounds(void *arg)
{
    struct worker *w = arg;
    char source[32], region[32], price[32], name[ROWS][24];
    (void)snprintf(source, sizeof(source), "source-%d", w->number);
    (void)snprintf(region, sizeof(region), "region-%d", w->number);
    for (int round = 1; round <= ROUNDS; round++) {
        struct staging_options o = {.source_id = source,
                                    .origin = ORIGIN_FETCHED,
                                    .fetched_at = NOW + round,
                                    .accept_large_change = true};
        struct staging *st = NULL;
        if (staging_begin(w->store, &o, &st, NULL) != 0) {
            w->failures++;
            continue;
        }
        (void)snprintf(price, sizeof(price), "%d", round);
        for (int i = 0; i < ROWS; i++) {
            (void)snprintf(name[i], sizeof(name[i]), "type-%d", i);
            struct offer_row r = {.vendor = "oci",
                                  .region = region,
                                  .instance_type = name[i],
                                  .gpu = "A10",
                                  .gpu_num = 1,
                                  .gpu_den = 1,
                                  .gpu_memory_gib = 24,
                                  .vcpus = -1,
                                  .memory_gib = -1,
                                  .local_nvme_gb = -1,
                                  .network_gbps = -1,
                                  .price_per_hour = round * MONEY_SCALE,
                                  .currency = "USD",
                                  .valid_from = GT_TIME_NONE,
                                  .valid_to = GT_TIME_NONE,
                                  .as_of = NOW + round};
            w->failures += staging_put_offer(st, &r, NULL) != 0;
        }
        w->failures += staging_publish(st, NULL, NULL) != 0;
    }
    return NULL;
}

/* Every region's rows are of one round; returns how many regions have the last one. */
static int whole_regions(const struct catalog *c)
{
    int done = 0;
    for (int k = 0; k < THREADS; k++) {
        char region[32];
        (void)snprintf(region, sizeof(region), "region-%d", k);
        uint32_t id = catalog_id(c, region);
        money price = -1;
        size_t n = 0;
        for (size_t i = 0; id != 0 && i < c->offers.n; i++) {
            if (c->offers.region[i] == id) {
                assert_true(price == -1 || price == c->offers.price_per_hour[i]);
                price = c->offers.price_per_hour[i];
                n++;
            }
        }
        assert_true(n == 0 || n == ROWS);
        done += price == ROUNDS * MONEY_SCALE;
    }
    return done;
}

static void sources_publish_side_by_side(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b), *other = must_open(&b);
    pthread_t thread[THREADS];
    struct worker worker[THREADS];
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){s, i, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, publish_rounds, &worker[i]), 0);
    }
    int done = 0;
    for (int i = 0; i < 40; i++) {
        struct catalog *c = must_load(i % 2 ? s : other, GT_TIME_NONE);
        done = whole_regions(c);
        catalog_free(c);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(worker[i].failures, 0);
    }
    struct catalog *c = must_load(other, GT_TIME_NONE);
    done = whole_regions(c);
    assert_int_equal(done, THREADS);
    assert_int_equal(c->offers.n, THREADS * ROWS);
    catalog_free(c);
    struct buf report;
    buf_init(&report, 10000);
    assert_int_equal(store_check(s, &report, NULL), 0);
    buf_release(&report);
    store_close(other);
    store_close(s);
    box_close(&b);
}

static void many_processes_may_open_first(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct box b;
        box_open(&b);
        int gate[2];
        assert_int_equal(pipe(gate), 0);
        pid_t child[6];
        for (int i = 0; i < 6; i++) {
            child[i] = fork();
            assert_true(child[i] >= 0);
            if (child[i] == 0) { /* all run off when the gate closes */
                char x;
                (void)close(gate[1]);
                (void)!read(gate[0], &x, 1);
                struct store_options o = {.path = b.db, .data_dir = "data", .now = NOW + DAY};
                struct store *s = NULL;
                struct gt_error e = {0};
                int rc = store_open(&o, &s, &e);
                if (rc != 0) {
                    (void)fprintf(stderr, "%s: %s\n", e.where, e.text);
                }
                store_close(s);
                _exit(rc == 0 ? 0 : 1);
            }
        }
        assert_int_equal(close(gate[0]), 0);
        assert_int_equal(close(gate[1]), 0);
        for (int i = 0; i < 6; i++) {
            int status = 0;
            assert_int_equal(waitpid(child[i], &status, 0), child[i]);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        struct store *s = must_open(&b);
        struct buf report;
        buf_init(&report, 10000);
        assert_int_equal(store_check(s, &report, NULL), 0);
        buf_release(&report);
        store_close(s);
        box_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_publish_side_by_side),
        cmocka_unit_test(many_processes_may_open_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
