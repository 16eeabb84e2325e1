/* What goes wrong around a database: another version, damage, no right to write, a full disk at
 * every stage, a kill at any moment. Each leaves the prices that were there. */
#include "../../pricing/store/store_impl.h"
#include "store_util.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s", why);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void files_are_the_users_alone(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    mode_t old = umask(0);
    struct store *s = must_open(&b);
    (void)umask(old);
    struct stat info;
    assert_int_equal(stat(b.db, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/sub", b.dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    (void)snprintf(path, sizeof(path), "%s-wal", b.db);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    struct staging *st = must_begin(s, "oci", ORIGIN_FETCHED, NOW, false);
    assert_int_equal(stat(st->file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    staging_discard(st, NULL);
    store_close(s);
    box_close(&b);
}

/* A database as version 1 left it, with a price in it. */
static void make_version_1(const struct box *b)
{
    char dir[200];
    (void)snprintf(dir, sizeof(dir), "%s/sub", b->dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    struct db d = {0};
    assert_int_equal(db_open(&d, b->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), 0);
    assert_int_equal(schema_migrate(&d, 1, NULL), 0);
    assert_int_equal(
        db_exec(&d,
                "INSERT INTO source(id, name) VALUES(1, 'oci');"
                "INSERT INTO feed VALUES(1, 1, '', 0);"
                "INSERT INTO fetch_run(feed, origin, state, sha256, started, ended)"
                " VALUES(1, 1, 'published', '0af1', 5, 5), (1, 1, 'failed', '', 6, 6),"
                " (1, 1, 'unchanged', NULL, 7, 7);"
                "INSERT INTO place VALUES(1, 'oci', 'r', '');"
                "INSERT INTO instance_type(id, vendor, name, gpu, gpu_num) VALUES(1, 'oci', 't',"
                " 'A10', 1);"
                "INSERT INTO offer(feed, place, instance_type, purchase, payment, offering_class,"
                " period, price_state, price, sort_price, currency, known_from)"
                " VALUES(1, 1, 1, 0, 0, 0, 0, 0, '1.5', 1.5, 'USD', 5)",
                NULL),
        0);
    db_close(&d);
}

/* Of version 1 it is known that the hash was SHA-256; where there was none, none is named. */
static int sees_old_hash(void *ctx, const struct source_file *f)
{
    assert_string_equal(f->hash, "sha256:0af1");
    ++*(int *)ctx;
    return 0;
}

static void version_1_is_brought_up(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    make_version_1(&b);
    struct store_options o = {.path = b.db, .read_only = true, .now = NOW};
    struct store *s = NULL;
    struct gt_error e = {0};
    assert_int_equal(store_open(&o, &s, &e), GT_EDB); /* read-only cannot migrate */
    s = must_open(&b);
    assert_int_equal(store_version(s), SCHEMA_VERSION);
    char text[MONEY_TEXT];
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "1.5");
    int files = 0;
    assert_int_equal(store_source_files(s, "oci", sees_old_hash, &files, NULL), 0);
    assert_int_equal(files, 1);
    run_sql(b.db, "CREATE TEMP TABLE t(hash TEXT CHECK(hash IS NULL OR hash = ''));"
                  "INSERT INTO t SELECT hash FROM fetch_run WHERE state <> 'published'");
    assert_int_equal(store_save_plan(s, "x", "{}", NULL, NOW, NULL), 0); /* table of version 2 */
    struct buf report;
    buf_init(&report, 10000);
    assert_int_equal(store_check(s, &report, NULL), 0);
    buf_release(&report);
    store_close(s);
    s = NULL;
    assert_int_equal(store_open(&o, &s, NULL), 0);
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "t", text), "1.5");
    assert_int_equal(store_save_plan(s, "y", "{}", NULL, NOW, &e), GT_EIO);
    store_close(s);
    box_close(&b);
}

static void a_newer_version_is_left_alone(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    store_close(must_open(&b));
    run_sql(b.db, "PRAGMA user_version = 99");
    struct stat before, after;
    assert_int_equal(stat(b.db, &before), 0);
    struct store_options o = {.path = b.db, .now = NOW};
    struct store *s = NULL;
    struct gt_error e = {0};
    assert_int_equal(store_open(&o, &s, &e), GT_ENEWER);
    assert_non_null(strstr(e.text, "version 99"));
    char upto[32];
    (void)snprintf(upto, sizeof upto, "up to %d", SCHEMA_VERSION);
    assert_non_null(strstr(e.text, upto));
    assert_null(s);
    assert_int_equal(stat(b.db, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    box_close(&b);
}

static void other_files_are_not_taken_over(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    char dir[200];
    (void)snprintf(dir, sizeof(dir), "%s/sub", b.dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    struct store_options o = {.path = b.db, .now = NOW};
    struct store *s = NULL;
    struct gt_error e = {0};
    write_file(dir, "gputier.db", "this is a letter, and a long one at that, to somebody else");
    assert_int_equal(store_open(&o, &s, &e), GT_EDB);
    assert_non_null(strstr(e.text, "not a database"));
    assert_string_equal(e.where, b.db);
    assert_int_equal(unlink(b.db), 0);
    run_sql(b.db, "CREATE TABLE bookmarks(url)");
    assert_int_equal(store_open(&o, &s, &e), GT_EDB);
    assert_non_null(strstr(e.text, "another program"));
    box_close(&b);
}

static void damage_is_reported(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row rows[200];
    char name[200][16];
    for (int i = 0; i < 200; i++) {
        (void)snprintf(name[i], sizeof(name[i]), "t%d", i);
        rows[i] = offer("r", name[i], "1");
    }
    assert_int_equal(publish(s, "oci", NOW, rows, 200, false, NULL, NULL), 0);
    store_close(s);
    FILE *f = fopen(b.db, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    for (long at = ftell(f) - 4096; at > 8192; at -= 4096) { /* all but schema and root pages */
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        assert_int_equal(fwrite("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 1, 12, f), 12);
    }
    assert_int_equal(fclose(f), 0);
    struct store_options o = {.path = b.db, .now = NOW};
    struct gt_error e = {0};
    struct catalog *c = NULL;
    struct load_options l = {.as_of = GT_TIME_NONE};
    s = NULL;
    int rc = store_open(&o, &s, &e);
    if (rc == 0) {
        rc = store_load_catalog(s, &l, &c, &e);
        struct buf report;
        buf_init(&report, 100000);
        assert_int_equal(store_check(s, &report, NULL), GT_EDB);
        buf_release(&report);
        store_close(s);
    }
    assert_int_equal(rc, GT_EDB);
    assert_non_null(strstr(e.text, "damaged"));
    box_close(&b);
}

/* Runs check in a child that is nobody when this process is root, for whom no mode is a bar. */
static void as_nobody(void (*check)(const struct box *b), const struct box *b)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(2);
        }
        check(b);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define NEED(x)                                                                                    \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            (void)fprintf(stderr, "line %d: %s\n", __LINE__, #x);                                  \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void read_only_child(const struct box *b)
{
    struct store_options o = {.path = b->db, .now = NOW};
    struct store *s = NULL;
    struct gt_error e = {0};
    char text[MONEY_TEXT];
    if (store_open(&o, &s, &e) != 0) { /* reading is possible */
        (void)fprintf(stderr, "%s: %s\n", e.where, e.text);
        _exit(1);
    }
    NEED(strcmp(price_at(s, GT_TIME_NONE, "r", "t", text), "1") == 0);
    struct staging_options so = {.source_id = "oci", .fetched_at = NOW};
    struct staging *st = NULL;
    NEED(staging_begin(s, &so, &st, &e) == GT_EIO);
    NEED(strstr(e.text, "read-only") != NULL);
    NEED(store_save_plan(s, "x", "{}", NULL, NOW, &e) == GT_EIO);
    store_close(s);
    char other[300];
    (void)snprintf(other, sizeof(other), "%s/sub/new.db", b->dir);
    o.path = other;
    NEED(store_open(&o, &s, &e) == GT_EIO);
    NEED(strstr(e.text, "cannot create") != NULL);
    (void)snprintf(other, sizeof(other), "%s/sub/deeper/new.db", b->dir);
    NEED(store_open(&o, &s, &e) == GT_EIO);
    NEED(strstr(e.text, "cannot create the folder") != NULL);
}

static void read_only_files_and_folders(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row row = offer("r", "t", "1");
    assert_int_equal(publish(s, "oci", NOW, &row, 1, false, NULL, NULL), 0);
    store_close(s);
    char dir[200];
    (void)snprintf(dir, sizeof(dir), "%s/sub", b.dir);
    assert_int_equal(chmod(b.dir, 0755), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    assert_int_equal(chmod(b.db, 0444), 0);
    as_nobody(read_only_child, &b);
    assert_int_equal(chmod(dir, 0755), 0);
    box_close(&b);
}

static void a_missing_file_is_not_made_for_reading(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store_options o = {.path = b.db, .read_only = true, .now = NOW};
    struct store *s = NULL;
    struct gt_error e = {0};
    assert_int_equal(store_open(&o, &s, &e), GT_ENOTFOUND);
    assert_int_not_equal(access(b.db, F_OK), 0);
    box_close(&b);
}

#define N_ROWS 400
static void fill(struct offer_row *rows, char (*name)[24], const char *price)
{
    for (int i = 0; i < N_ROWS; i++) {
        (void)snprintf(name[i], sizeof(name[i]), "type-%d", i);
        rows[i] = offer("r", name[i], price);
    }
}

static void a_full_disk_keeps_the_old_prices(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row rows[N_ROWS];
    char name[N_ROWS][24], text[MONEY_TEXT], sql[80];
    fill(rows, name, "1");
    assert_int_equal(publish(s, "oci", NOW, rows, N_ROWS, false, NULL, NULL), 0);
    fill(rows, name, "2");
    int64_t pages = 0, failures = 0;
    assert_int_equal(db_int(&s->db, "PRAGMA page_count", &pages, NULL), 0);
    int rc = -1;
    for (int64_t more = 0; rc != 0; more++) { /* the publish meets the end at every page */
        assert_true(more < 1000);
        (void)snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %lld", (long long)(pages + more));
        assert_int_equal(db_exec(&s->db, sql, NULL), 0);
        struct gt_error e = {0};
        rc = publish(s, "oci", NOW + 1, rows, N_ROWS, false, NULL, &e);
        if (rc != 0) {
            failures++;
            assert_int_equal(rc, GT_EIO);
            assert_non_null(strstr(e.text, "disk is full"));
            assert_string_equal(price_at(s, GT_TIME_NONE, "r", "type-0", text), "1");
            assert_string_equal(price_at(s, GT_TIME_NONE, "r", "type-399", text), "1");
        }
        assert_int_equal(db_int(&s->db, "PRAGMA freelist_count", &pages, NULL), 0);
        assert_int_equal(pages, 0);
        assert_int_equal(db_int(&s->db, "PRAGMA page_count", &pages, NULL), 0);
    }
    assert_true(failures > 5);
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "type-0", text), "2");
    /* And in the staging file. */
    struct gt_error e = {0};
    struct staging *st = must_begin(s, "oci", ORIGIN_FETCHED, NOW + 2, false);
    assert_int_equal(db_exec(&st->db, "PRAGMA max_page_count = 14", NULL), 0);
    for (rc = 0; rc == 0;) {
        for (int i = 0; rc == 0 && i < N_ROWS; i++) {
            rc = staging_put_offer(st, &rows[i], &e);
        }
    }
    assert_int_equal(rc, GT_EIO);
    assert_non_null(strstr(e.text, "disk is full"));
    staging_discard(st, e.text);
    assert_string_equal(price_at(s, GT_TIME_NONE, "r", "type-0", text), "2");
    struct buf report;
    buf_init(&report, 100000);
    assert_int_equal(store_check(s, &report, NULL), 0);
    buf_release(&report);
    store_close(s);
    box_close(&b);
}

static int count_stagings(const struct box *b)
{
    char dir[200];
    (void)snprintf(dir, sizeof(dir), "%s/sub", b->dir);
    DIR *d = opendir(dir);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += strstr(e->d_name, ".staging-") != NULL;
    }
    assert_int_equal(closedir(d), 0);
    return n;
}

static void publish_for_ever(const struct box *b, int ready)
{
    struct store_options o = {.path = b->db, .now = NOW};
    struct store *s = NULL;
    static struct offer_row rows[N_ROWS];
    static char name[N_ROWS][24];
    NEED(store_open(&o, &s, NULL) == 0);
    for (int i = 2;; i++) {
        char price[16];
        (void)snprintf(price, sizeof(price), "%d", 2 + i % 2);
        fill(rows, name, price);
        struct staging_options so = {.source_id = "oci",
                                     .origin = ORIGIN_FETCHED,
                                     .fetched_at = NOW + i,
                                     .accept_large_change = true};
        struct staging *st = NULL;
        NEED(staging_begin(s, &so, &st, NULL) == 0);
        for (int k = 0; k < N_ROWS; k++) {
            NEED(staging_put_offer(st, &rows[k], NULL) == 0);
        }
        if (i == 2) {
            NEED(write(ready, "x", 1) == 1);
        }
        NEED(staging_publish(st, NULL, NULL) == 0);
    }
}

static void a_kill_leaves_whole_prices(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row rows[N_ROWS];
    char name[N_ROWS][24];
    fill(rows, name, "1");
    assert_int_equal(publish(s, "oci", NOW, rows, N_ROWS, false, NULL, NULL), 0);
    store_close(s);
    int seen[4] = {0};
    for (int round = 0; round < 24; round++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            publish_for_ever(&b, ready[1]);
        }
        char x;
        assert_int_equal(close(ready[1]), 0);
        assert_int_equal(read(ready[0], &x, 1), 1);
        assert_int_equal(close(ready[0]), 0);
        (void)usleep((useconds_t)(round * 700)); /* staging, merging, committing, syncing */
        assert_int_equal(kill(child, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        s = must_open(&b); /* cleans up what the dead left */
        assert_int_equal(count_stagings(&b), 0);
        struct catalog *c = must_load(s, GT_TIME_NONE);
        assert_int_equal(c->offers.n, N_ROWS);
        for (size_t i = 1; i < c->offers.n; i++) { /* one run's prices, never a mixture */
            assert_true(c->offers.price_per_hour[i] == c->offers.price_per_hour[0]);
        }
        seen[(int)(c->offers.price_per_hour[0] / MONEY_SCALE)]++;
        catalog_free(c);
        store_close(s);
    }
    assert_true(seen[1] + seen[2] + seen[3] == 24);
    s = must_open(&b);
    struct buf report;
    buf_init(&report, 100000);
    assert_int_equal(store_check(s, &report, NULL), 0);
    buf_release(&report);
    store_close(s);
    box_close(&b);
}

static void a_living_staging_is_not_cleaned(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    struct store *s = must_open(&b);
    struct offer_row row = offer("r", "t", "1");
    struct staging *st = must_begin(s, "oci", ORIGIN_FETCHED, NOW, false);
    assert_int_equal(staging_put_offer(st, &row, NULL), 0);
    struct store *other = must_open(&b);
    assert_int_equal(count_stagings(&b), 1);
    assert_int_equal(staging_publish(st, NULL, NULL), 0);
    assert_int_equal(count_stagings(&b), 0);
    char text[MONEY_TEXT];
    assert_string_equal(price_at(other, GT_TIME_NONE, "r", "t", text), "1");
    store_close(other);
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_the_users_alone),
        cmocka_unit_test(version_1_is_brought_up),
        cmocka_unit_test(a_newer_version_is_left_alone),
        cmocka_unit_test(other_files_are_not_taken_over),
        cmocka_unit_test(damage_is_reported),
        cmocka_unit_test(read_only_files_and_folders),
        cmocka_unit_test(a_missing_file_is_not_made_for_reading),
        cmocka_unit_test(a_full_disk_keeps_the_old_prices),
        cmocka_unit_test(a_kill_leaves_whole_prices),
        cmocka_unit_test(a_living_staging_is_not_cleaned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
