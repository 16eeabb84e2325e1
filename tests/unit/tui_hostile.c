/* Hostile and foreign text from an imported price list on the screen, and random keys: nothing raw
 * gets out, columns stay aligned, nothing ends the program. TUI-13, 28, 38, 43, 44. */
#include "gputier/money.h"
#include "gputier/rng.h"
#include "gputier/store.h"
#include "gputier/units.h"
#include "tui_util.h"

#define NOW       1796083200 /* 2026-12-01 */
#define LONG_NAME 500        /* the longest that the store takes; file names may be longer */

/* The importer refuses most of this; the screen must not rely on it, so the rows are put below it.
 */
static const char *const hostile_types[] = {
    "a\033]52;c;aGFja2Vk\007b",
    "bidi\xE2\x80\xAEtxet\xE2\x80\xAC",
    "c1\xC2\x9B"
    "31mred",
    "zwj\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9x",
    "=cmd|' /C calc'!A0",
    "测试机型-八卡",
    "e\xCC\x81\xCC\x81tude",
};
#define N_HOSTILE (sizeof hostile_types / sizeof *hostile_types)

static int put(struct staging *st, const char *type, int i, struct gt_error *err)
{
    money price = 0;
    int rc = money_from_double(1.5 + i * 0.1, &price);
    struct offer_row row = {.vendor = "lambda",
                            .region = "moon",
                            .instance_type = type,
                            .gpu = "H100",
                            .gpu_num = 8,
                            .gpu_den = 1,
                            .gpu_memory_gib = 80,
                            .vcpus = 8,
                            .memory_gib = 64,
                            .local_nvme_gb = -1,
                            .network_gbps = -1,
                            .price_per_hour = price,
                            .currency = "USD",
                            .sku = "s\033[2Jk",
                            .note = "note\033]0;title\007 备注",
                            .valid_from = NOW - 86400,
                            .valid_to = GT_TIME_NONE,
                            .as_of = NOW - 86400};
    return rc ? rc : staging_put_offer(st, &row, err);
}

static int setup(void **state)
{
    static char long_name[LONG_NAME + 1];
    struct gt_error err = {0};
    struct store *store = NULL;
    struct staging *st = NULL;
    struct publish_result done;
    int rc = tui_setup(state);
    if (rc) {
        return rc;
    }
    struct store_options so = {.path = tui_db, .data_dir = getenv("GPUTIER_DATA"), .now = NOW};
    struct staging_options o = {.source_id = "prices-csv",
                                .scope = "hostile\033[31m",
                                .url = "hostile.csv",
                                .origin = ORIGIN_IMPORTED,
                                .fetched_at = NOW,
                                .accept_large_change = true};
    memset(long_name, 'L', LONG_NAME);
    rc = store_open(&so, &store, &err);
    rc = rc ? rc : staging_begin(store, &o, &st, &err);
    for (size_t i = 0; i < N_HOSTILE && rc == 0; i++) {
        rc = put(st, hostile_types[i], (int)i, &err);
    }
    rc = rc ? rc : put(st, long_name, 90, &err);
    rc = rc ? rc : staging_publish(st, &done, &err);
    if (rc) {
        print_error("%s: %s\n", err.where, err.text);
        return -1;
    }
    assert_int_equal(done.rows, N_HOSTILE + 1);
    store_close(store);
    return 0;
}

static bool raw_has(const struct vt *t, const char *bytes)
{
    return memmem(t->raw, t->raw_len, bytes, strlen(bytes)) != NULL;
}

static void nothing_raw_reaches_the_screen(void **state)
{
    static const char *const never[] = {"\033]52",      "\033]0;",     "hacked", "\033[2Jk",
                                        "\xE2\x80\xAE", "\xC2\x9B",    "\xFF",   "\xC0\xAF",
                                        "\007",         "\xE2\x80\x8D"};
    struct vt t;
    (void)state;
    tui_start(&t, 50, 140);
    t.raw_len = 0; /* what the start itself writes is not of the rows */
    tui_keys(&t, "fregion=moon\r", "for  region=moon");
    assert_int_equal(strtoul(vt_row(&t, 1) + 1, NULL, 10), N_HOSTILE + 1);
    for (size_t i = 0; i <= N_HOSTILE; i++) { /* each one's details */
        vt_send(&t, "j");
        vt_settle(&t, 40, 500);
    }
    tui_keys(&t, "6", "prices-csv hostile");
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        if (raw_has(&t, never[i])) {
            fail_msg("bytes %zu of the list of those that must not get out did", i);
        }
    }
    tui_quit(&t);
}

/* Names in a listing are any bytes: this is where invalid UTF-8 comes in. */
static void a_listing_of_hostile_names_is_shown_safely(void **state)
{
    static const char listing[] =
        "9000000000\t1690000000\t1690000000\tf\t./ev\033]52;c;aGFja2Vk\007il/\xFF\xC0\xAF/x\n"
        "9000000000\t1690000000\t1690000000\tf\t./bidi\xE2\x80\xAE/\xC2\x9B"
        "31m/x\n"
        "9000000000\t1690000000\t1690000000\tf\t./数据/训练/x\n";
    static const char *const never[] = {"\033]52",  "\007", "\xE2\x80\xAE",
                                        "\xC2\x9B", "\xFF", "\xC0\xAF"};
    struct vt t;
    FILE *f = fopen("hostile.txt", "w");
    (void)state;
    assert_non_null(f);
    assert_true(fputs(listing, f) >= 0);
    fputs("9000000000\t1690000000\t1690000000\tf\t./", f);
    for (int i = 0; i < 10000; i++) {
        fputc('L', f);
    }
    assert_true(fputs("/x\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    tui_start(&t, 30, 100);
    tui_keys(&t, "4", "vision-team.yaml");
    t.raw_len = 0;
    tui_keys(&t, "ohostile.txt\r", "hostile.txt, 36");
    vt_expect(&t, "数据", LIMIT_MS);
    vt_expect(&t, "il/", LIMIT_MS);
    vt_expect(&t, "LLLLLLLL", LIMIT_MS);
    vt_send(&t, "jjj\r");
    vt_expect(&t, "First steps", LIMIT_MS);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        assert_false(raw_has(&t, never[i]));
    }
    tui_quit(&t);
}

/* What `y` copies is pasted elsewhere later. */
static void copied_rows_hold_no_control_characters(void **state)
{
    static const char *const env[] = {"GPUTIER_CLIP=clip.txt", NULL};
    struct vt t;
    char line[4096];
    (void)state;
    tui_launch(&t, 30, 100, env);
    vt_expect(&t, "VENDOR", LIMIT_MS);
    tui_keys(&t, "fregion=moon\r", "for  region=moon");
    for (size_t k = 0; k <= N_HOSTILE; k++) {
        tui_keys(&t, "y", "copied to clip.txt");
        FILE *f = fopen("clip.txt", "r");
        assert_non_null(f);
        size_t n = fread(line, 1, sizeof line, f);
        fclose(f);
        assert_true(n > 10);
        assert_memory_equal(line, "lambda\t", 7);
        for (size_t i = 0; i < n; i++) {
            assert_true((unsigned char)line[i] >= 32 || line[i] == '\t');
            assert_true(line[i] != 127);
        }
        assert_int_equal(unlink("clip.txt"), 0);
        vt_send(&t, "j");
        tui_expect_gone(&t, "copied to");
    }
    tui_quit(&t);
}

static void long_names_end_in_an_ellipsis(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "fregion=moon LLLL\r", "…");
    assert_int_equal(strtoul(vt_row(&t, 1) + 1, NULL, 10), 1);
    assert_non_null(strstr(vt_row(&t, 4), "LLLL"));
    assert_non_null(strstr(vt_row(&t, 4), "H100"));
    tui_quit(&t);
}

static int column_of(struct vt *t, int row, const char *ascii)
{
    for (int c = 0; c < t->cols; c++) {
        int k = 0;
        while (ascii[k] && c + k < t->cols &&
               tui_cell(t, row, c + k) == (uint32_t)(unsigned char)ascii[k]) {
            k++;
        }
        if (!ascii[k]) {
            return c;
        }
    }
    return -1;
}

/* Whatever the name's width in cells, the columns after it stand where the header says. */
static void wide_and_combining_names_keep_columns(void **state)
{
    struct vt t;
    (void)state;
    for (int width = 80; width <= 140; width += 20) {
        tui_start(&t, 24, width);
        tui_keys(&t, "fregion=moon\r", "for  region=moon");
        int head = tui_row_of(&t, "INSTANCE TYPE"), gpu = column_of(&t, head, "GPU");
        int rows = (int)strtoul(vt_row(&t, 1) + 1, NULL, 10), seen = 0;
        for (int r = head + 1; r <= head + rows && r < 16; r++) {
            assert_int_equal(column_of(&t, r, "H100"), gpu);
            seen += strstr(vt_row(&t, r), "测试机型") != NULL;
        }
        assert_int_equal(seen, 1);
        tui_quit(&t);
    }
}

static void a_narrow_column_never_halves_a_wide_character(void **state)
{
    struct vt t;
    VTermScreenCell cell;
    (void)state;
    for (int width = 40; width < 62; width++) {
        tui_start(&t, 24, width);
        tui_keys(&t, "f测试机型\r", "1 of ");
        for (int c = 0; c < width; c++) {
            VTermPos pos = {.row = 4, .col = c};
            assert_true(vterm_screen_get_cell(t.screen, pos, &cell));
            if (cell.width == 2) {
                assert_true(c + 1 < width);
            }
        }
        tui_quit(&t);
    }
}

/* ":quit" may come about: then it must have left in order, and starts anew. */
static bool restarted(struct vt *t)
{
    int status, rc;
    if (t->gone) {
        rc = vt_wait(t, LIMIT_MS);
    } else if (waitpid(t->pid, &status, WNOHANG) == t->pid) {
        rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        t->pid = 0;
    } else {
        return false;
    }
    if (rc) {
        vt_print(t);
        fail_msg("ended with status %d", rc);
    }
    vt_end(t);
    tui_start(t, 24, 80);
    return true;
}

/* Random keys, bursts of them, sequences cut in half, resizes: it neither ends nor hangs. A slash
 * is only sent as a search, so that no random path leaves the test's folder. */
static void random_keys_do_no_harm(void **state)
{
    static const char *const words[] = {
        "\033[A",   "\033[B",    "\033[5~",      "\033[6~",  "\033[H",   "\033OF", "\033[",
        "\033O",    "\033[200~", "\033[<0;5;5M", "\033[1;5", "\033\033", "\t",     "\033[Z",
        "\r",       "\033",      "\x7f",         "\x15",     "\x17",     "\x01",   "\xE6\xB5\x8B",
        "\xFF\xFE", "\033/p5",   "\x0c",         "1",        "3",        "4",      "6"};
    static const char letters[] = "hjklgGnNfxsrbywemouRSHLWvp?<>-+[]= ,0123456789abcdtz:";
    const char *wanted = getenv("MONKEY_KEYS");
    size_t keys = wanted ? strtoul(wanted, NULL, 10) : 20000;
    struct vt t;
    struct rng r;
    int restarts = 0;
    time_t end = time(NULL) + (wanted ? 3600 : 25);
    (void)state;
    rng_init(&r, getenv("MONKEY_SEED") ? strtoul(getenv("MONKEY_SEED"), NULL, 10) : 11, 0);
    tui_start(&t, 24, 80);
    for (size_t sent = 0; sent < keys && time(NULL) < end;) {
        char burst[2048] = "";
        size_t n = 20 + rng_u64(&r) % 80;
        for (size_t i = 0; i < n; i++) {
            char one[2] = {letters[rng_u64(&r) % (sizeof letters - 1)], '\0'};
            strcat(burst,
                   rng_u64(&r) % 5 ? one : words[rng_u64(&r) % (sizeof words / sizeof *words)]);
        }
        vt_send(&t, burst);
        sent += n;
        if (rng_u64(&r) % 20 == 0) {
            vt_resize(&t, 1 + (int)(rng_u64(&r) % 60), 1 + (int)(rng_u64(&r) % 200));
        }
        vt_settle(&t, 1, 40);
        restarts += restarted(&t);
    }
    vt_settle(&t, 300, LIMIT_MS); /* what is still queued */
    restarted(&t);
    assert_true(restarts < 50);
    vt_resize(&t, 24, 80);
    vt_settle(&t, 100, 2000);
    vt_send(&t, "\033\033\033");
    vt_settle(&t, 100, 2000);
    vt_send(&t, "\033");
    tui_keys(&t, "1", "[1 Prices]");
    tui_quit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_raw_reaches_the_screen),
        cmocka_unit_test(a_listing_of_hostile_names_is_shown_safely),
        cmocka_unit_test(copied_rows_hold_no_control_characters),
        cmocka_unit_test(long_names_end_in_an_ellipsis),
        cmocka_unit_test(wide_and_combining_names_keep_columns),
        cmocka_unit_test(a_narrow_column_never_halves_a_wide_character),
        cmocka_unit_test(random_keys_do_no_harm),
    };
    return cmocka_run_group_tests_name("tui hostile", tests, setup, tui_teardown);
}
