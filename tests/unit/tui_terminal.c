/* The interface and its terminal: sizes, resizing, signals, suspending, a vanished terminal, types
 * of terminals, colour, locale, silence. TUI-03, 04, 06, 07, 10 to 17, 32, 41, 45, 47. */
#include "tui_util.h"

static void needs_room_and_comes_back(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    static const int small[][2] = {{5, 20}, {1, 1}, {9, 200}, {60, 39}, {2, 3}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        char text[64];
        vt_resize(&t, small[i][0], small[i][1]);
        snprintf(text, sizeof text, "needs 40x10, is %dx%d", small[i][1], small[i][0]);
        if (small[i][1] >= (int)strlen(text)) {
            vt_expect(&t, text, LIMIT_MS);
        }
        vt_settle(&t, 50, 1000);
        vt_send(&t, "jfx\033"); /* nothing is seen, nothing happens */
        vt_settle(&t, 50, 1000);
        assert_false(t.gone);
    }
    vt_resize(&t, 30, 100);
    vt_expect(&t, "[1 Prices]", LIMIT_MS);
    vt_expect(&t, "f filters", LIMIT_MS);
    vt_resize(&t, 1, 1);
    vt_settle(&t, 50, 1000);
    tui_quit(&t);
}

static void resize_keeps_selection_and_typed_text(void **state)
{
    struct vt t;
    char selected[64];
    (void)state;
    tui_start(&t, 40, 100);
    vt_send(&t, "jjjjjjjjjjjjjjj");
    vt_settle(&t, 60, 1000);
    snprintf(selected, sizeof selected, "%.24s", vt_row(&t, tui_row_of(&t, "▶")));
    tui_keys(&t, "/abc", "find: abc");
    vt_send(&t, "\033/p4d.24"); /* back, then a search with a match */
    vt_expect(&t, "find: p4d.24", LIMIT_MS);
    vt_resize(&t, 16, 90);
    vt_expect(&t, "find: p4d.24", LIMIT_MS);
    assert_non_null(strstr(vt_row(&t, tui_row_of(&t, "▶")), "p4d.24"));
    vt_send(&t, "\033");
    tui_expect_gone(&t, "find:");
    assert_memory_equal(vt_row(&t, tui_row_of(&t, "▶")), selected, strlen(selected));
    tui_quit(&t);
}

static void resize_storm_on_every_screen(void **state)
{
    static const char *const screens[] = {"1", "3", "4", "6", "?", "f"};
    struct vt t;
    unsigned seed = 7;
    (void)state;
    tui_start(&t, 24, 80);
    for (size_t s = 0; s < sizeof screens / sizeof *screens; s++) {
        vt_send(&t, screens[s]);
        for (int i = 0; i < 60; i++) {
            seed = seed * 1103515245U + 12345U;
            vt_resize(&t, 1 + (int)(seed >> 8) % 150, 1 + (int)(seed >> 16) % 400);
            vt_settle(&t, i % 10 ? 1 : 20, 100);
            assert_false(t.gone);
        }
        vt_send(&t, "\033");
    }
    vt_resize(&t, 24, 80);
    vt_expect(&t, "q quit", LIMIT_MS);
    tui_quit(&t);
}

static void environment_does_not_freeze_the_size(void **state)
{
    static const char *const env[] = {"COLUMNS=50", "LINES=12", NULL};
    struct vt t;
    (void)state;
    tui_launch(&t, 30, 100, env);
    vt_expect(&t, "AGE", LIMIT_MS); /* a column of wide screens only */
    assert_non_null(strstr(vt_row(&t, 29), "q quit"));
    tui_quit(&t);
}

static void ending_signals_restore_the_terminal(void **state)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGINT};
    struct termios before, after;
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct vt t;
        tui_start(&t, 24, 80);
        assert_int_equal(tcgetattr(t.master, &before), 0);
        assert_false(before.c_lflag & ECHO);
        kill(t.pid, signals[i]);
        int master = fcntl(t.master, F_DUPFD_CLOEXEC, 3);
        assert_int_equal(vt_wait(&t, LIMIT_MS), 128 + signals[i]);
        assert_true(vt_restored(&t));
        assert_int_equal(tcgetattr(master, &after), 0);
        assert_true(after.c_lflag & ECHO);
        assert_true(after.c_lflag & ICANON);
        close(master);
        vt_end(&t);
    }
}

static void ctrl_c_leaves_at_once_from_a_prompt_too(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "fabc", "filter: abc");
    vt_send(&t, "\003");
    tui_expect_gone(&t, "filter:");
    vt_send(&t, "\003");
    assert_true(vt_wait(&t, LIMIT_MS) >= 0);
    assert_true(vt_restored(&t));
    vt_end(&t);
}

/* A shell with job control: Ctrl-Z gives its screen back, fg draws anew at the size of then. */
static void ctrl_z_and_fg(void **state)
{
    static const char *const argv[] = {"/bin/bash", "--norc", "--noprofile", "-i", NULL};
    static const char *const env[] = {"PS1=shell> ", NULL};
    struct vt t;
    char line[3 * PATH_MAX];
    (void)state;
    vt_start(&t, argv, 24, 80, env);
    vt_expect(&t, "shell>", LIMIT_MS);
    snprintf(line, sizeof line, "%.3000s --db %.3000s\r", tui_binary, tui_db);
    tui_keys(&t, line, "[1 Prices]");
    tui_keys(&t, "\032", "Stopped");
    assert_true(vt_restored(&t));
    tui_keys(&t, "echo fine-$((40+2))\r", "fine-42");
    vt_resize(&t, 30, 120);
    tui_keys(&t, "fg\r", "[1 Prices]");
    vt_expect(&t, "AGE", LIMIT_MS);
    assert_non_null(strstr(vt_row(&t, 29), "q quit"));
    tui_keys(&t, "fh100\r", "for  h100"); /* keys are still read one by one */
    vt_send(&t, "q");
    vt_expect(&t, "shell>", LIMIT_MS);
    assert_true(vt_restored(&t));
    vt_send(&t, "exit 7\r");
    assert_int_equal(vt_wait(&t, LIMIT_MS), 7);
    vt_end(&t);
}

static void a_closed_window_ends_the_process(void **state)
{
    struct vt t;
    struct rusage used;
    int status = 0, spent = 0;
    (void)state;
    tui_start(&t, 24, 80);
    close(t.master);
    while (wait4(t.pid, &status, WNOHANG, &used) != t.pid && spent < 5000) {
        usleep(10000);
        spent += 10;
    }
    assert_true(spent <= 1000);
    assert_true(used.ru_utime.tv_sec + used.ru_stime.tv_sec < 2); /* did not spin */
    t.pid = 0;
    t.master = open("/dev/null", O_RDWR);
    vt_end(&t);
}

static void refuses_terminals_that_it_cannot_use(void **state)
{
    static const char *const type[] = {"TERM=nosuchterminal", "TERM", "TERM=", "TERM=dumb"};
    (void)state;
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        const char *const env[] = {type[i], NULL};
        struct vt t;
        tui_launch(&t, 24, 200, env);
        assert_int_equal(vt_wait(&t, LIMIT_MS), 2);
        assert_true(vt_has(&t, i == 3 ? "gputier help" : "TERM=xterm-256color"));
        assert_null(memchr(t.raw, '\033', t.raw_len));
        vt_end(&t);
    }
}

static void other_terminal_types_work(void **state)
{
    static const char *const type[] = {"TERM=linux", "TERM=screen", "TERM=tmux-256color",
                                       "TERM=vt100"};
    (void)state;
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        const char *const env[] = {type[i], NULL};
        struct vt t;
        tui_launch(&t, 24, 80, env);
        vt_expect(&t, "[1 Prices]", LIMIT_MS);
        vt_expect(&t, "q quit", LIMIT_MS);
        vt_send(&t, "q");
        assert_int_equal(vt_wait(&t, LIMIT_MS), 0);
        vt_end(&t);
    }
}

static void no_color_writes_no_colour(void **state)
{
    static const char *const env[] = {"NO_COLOR=1", NULL}, *const empty[] = {"NO_COLOR=", NULL};
    struct vt t;
    (void)state;
    tui_launch(&t, 24, 80, env);
    vt_expect(&t, "VENDOR", LIMIT_MS);
    tui_keys(&t, "4", "[4 Tiers]");
    tui_keys(&t, "5", "[5 Bench]");
    tui_keys(&t, "6", "[6 Sources]");
    assert_int_equal(tui_colours_in(t.raw, t.raw_len), 0);
    tui_quit(&t);
    tui_launch(&t, 24, 80, empty); /* empty does not count */
    vt_expect(&t, "VENDOR", LIMIT_MS);
    assert_true(tui_colours_in(t.raw, t.raw_len) > 0);
    tui_quit(&t);
}

static void the_background_is_the_terminals_own(void **state)
{
    struct vt t;
    VTermScreenCell cell;
    (void)state;
    tui_start(&t, 24, 80);
    for (int r = 0; r < 24; r++) {
        for (int c = 0; c < 80; c++) {
            VTermPos pos = {.row = r, .col = c};
            assert_true(vterm_screen_get_cell(t.screen, pos, &cell));
            assert_true(VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
        }
    }
    tui_quit(&t);
}

static void the_c_locale_gets_ascii_only(void **state)
{
    static const char *const env[] = {"LC_ALL=C", NULL}, *const missing[] = {"LC_ALL=xx_YY", NULL};
    const char *const *both[] = {env, missing};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct vt t;
        tui_launch(&t, 30, 100, both[k]);
        vt_expect(&t, "VENDOR", LIMIT_MS);
        tui_keys(&t, "3", "[3 Plan]");
        vt_expect(&t, "cheapest", LIMIT_MS * 3);
        tui_keys(&t, "4", "[4 Tiers]");
        vt_expect(&t, "as it is", LIMIT_MS);
        tui_keys(&t, "6", "[6 Sources]");
        for (size_t i = 0; i < t.raw_len; i++) {
            assert_true((unsigned char)t.raw[i] < 0x80);
        }
        tui_quit(&t);
    }
}

static void idle_is_silent(void **state)
{
    static const char *const shown[] = {"1", "3", "4", "6"};
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    for (size_t i = 0; i < 4; i++) {
        vt_send(&t, shown[i]);
        if (i == 1) {
            vt_expect(&t, "cheapest", LIMIT_MS * 3);
            tui_expect_gone(&t, "~ planning");
        } else if (i == 2) {
            vt_expect(&t, "as it is", LIMIT_MS);
        }
        vt_settle(&t, 300, 5000);
        size_t before = t.bytes;
        vt_settle(&t, 1000, 1100);
        assert_int_equal(t.bytes, before);
    }
    tui_quit(&t);
}

/* A key that changes one row writes little, and nothing clears the whole screen. */
static void frames_are_small_and_never_clear(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 60, 200);
    vt_settle(&t, 200, 2000);
    size_t raw = t.raw_len, before = t.bytes;
    vt_send(&t, "j");
    vt_settle(&t, 60, 1000);
    assert_in_range(t.bytes - before, 1, 2000);
    vt_send(&t, "\033[6~");
    vt_settle(&t, 60, 1000);
    before = t.bytes;
    for (int i = 0; i < 30; i++) {
        vt_send(&t, "j");
    }
    vt_settle(&t, 60, 1000);
    assert_true(t.bytes - before < 30 * 2000);
    for (size_t i = raw; i + 3 < t.raw_len; i++) {
        assert_false(memcmp(t.raw + i, "\033[2J", 4) == 0);
    }
    tui_quit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_room_and_comes_back),
        cmocka_unit_test(resize_keeps_selection_and_typed_text),
        cmocka_unit_test(resize_storm_on_every_screen),
        cmocka_unit_test(environment_does_not_freeze_the_size),
        cmocka_unit_test(ending_signals_restore_the_terminal),
        cmocka_unit_test(ctrl_c_leaves_at_once_from_a_prompt_too),
        cmocka_unit_test(ctrl_z_and_fg),
        cmocka_unit_test(a_closed_window_ends_the_process),
        cmocka_unit_test(refuses_terminals_that_it_cannot_use),
        cmocka_unit_test(other_terminal_types_work),
        cmocka_unit_test(no_color_writes_no_colour),
        cmocka_unit_test(the_background_is_the_terminals_own),
        cmocka_unit_test(the_c_locale_gets_ascii_only),
        cmocka_unit_test(idle_is_silent),
        cmocka_unit_test(frames_are_small_and_never_clear),
    };
    return cmocka_run_group_tests_name("tui terminal", tests, tui_setup, tui_teardown);
}
