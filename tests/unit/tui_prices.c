/* The interface through a pseudo-terminal: first screen, filter, find, sort, letters in prompts,
 * Esc, help, tabs, commands, writing the view. TUI-11, 18 to 26, 52. */
#include "../../tui/screens/screen.h"
#include "tui_util.h"

/* The first row of the table below the header. */
static const char *first_offer(struct vt *t)
{
    return vt_row(t, tui_row_of(t, "INSTANCE TYPE") + 1);
}

static void first_screen_fits_80_by_24(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    static const char *const shown[] = {"gputier",  "[1 Prices]", "bundled 20", "offers",
                                        "f filter", "? help",     "q quit",     "$/GPU-H"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        vt_expect(&t, shown[i], LIMIT_MS);
    }
    assert_non_null(strstr(vt_row(&t, 23), "q quit"));
    assert_true(t.alt);
    assert_false(t.cursor_visible);
    tui_quit(&t);
}

static void filter_narrows_shows_its_words_and_clears(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 30, 100);
    char all[512];
    snprintf(all, sizeof all, "%s", vt_row(&t, 1));
    tui_keys(&t, "fh100 8 spot\r", "offers for  h100 8 spot");
    for (int r = 4; r < 10; r++) {
        assert_non_null(strstr(vt_row(&t, r), "H100"));
        assert_non_null(strstr(vt_row(&t, r), "spot"));
    }
    tui_keys(&t, "x", "f filters:");
    assert_string_equal(vt_row(&t, 1), all);
    tui_quit(&t);
}

static void filter_says_which_word_leaves_nothing(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "fh100 nosuchthing\r", "'nosuchthing' fits none");
    tui_keys(&t, "ffoo=3\r", "no key 'foo'");
    tui_quit(&t);
}

static void filter_is_live_and_esc_brings_the_old_one_back(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "fvendor=aws\r", "for  vendor=aws");
    vt_send(&t, "f");
    tui_keys(&t, "vendor=gcp", "for  vendor=gcp"); /* replaces the old text at once */
    assert_non_null(strstr(first_offer(&t), "gcp"));
    tui_keys(&t, "\033", "for  vendor=aws");
    assert_non_null(strstr(first_offer(&t), "aws"));
    tui_quit(&t);
}

static void letters_typed_in_prompts_are_text(void **state)
{
    static const char *const keys[] = {"f", "/", "w", ":"};
    static const char typed[] = "hjklqgGnNxs?16";
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    for (size_t i = 0; i < 4; i++) {
        vt_send(&t, keys[i]);
        vt_settle(&t, 50, 500);
        tui_keys(&t, typed, typed);
        assert_true(t.cursor_visible); /* the cursor stands in the field */
        vt_send(&t, "\033");
        tui_expect_gone(&t, typed);
    }
    assert_non_null(strstr(vt_row(&t, 0), "[1 Prices]"));
    tui_quit(&t);
}

static void find_moves_to_matches_and_esc_returns(void **state)
{
    struct vt t;
    char before[512];
    (void)state;
    tui_start(&t, 24, 80);
    vt_send(&t, "jj");
    vt_settle(&t, 50, 1000);
    snprintf(before, sizeof before, "%s", vt_row(&t, tui_row_of(&t, "▶")));
    tui_keys(&t, "/p5.48", "find: p5.48");
    assert_non_null(strstr(vt_row(&t, tui_row_of(&t, "▶")), "p5.48"));
    vt_send(&t, "\033");
    tui_expect_gone(&t, "find:");
    assert_string_equal(vt_row(&t, tui_row_of(&t, "▶")), before);
    tui_keys(&t, "/p5.48\r", "f filter");
    vt_send(&t, "n");
    vt_settle(&t, 50, 1000);
    assert_non_null(strstr(vt_row(&t, tui_row_of(&t, "▶")), "p5.48"));
    tui_keys(&t, "/zzzz\r", "'zzzz' is in no row");
    assert_non_null(strstr(vt_row(&t, tui_row_of(&t, "▶")), "p5.48"));
    tui_quit(&t);
}

static double price_in(const char *row)
{
    const char *last = strrchr(row, ' ');
    return last ? atof(last) : -1;
}

static void sort_is_by_value_and_reverses(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    for (int r = 5; r < 15; r++) {
        double above = price_in(vt_row(&t, r - 1));
        assert_true(above > 0 && above <= price_in(vt_row(&t, r)));
    }
    tui_keys(&t, "r", "▼");
    for (int r = 5; r < 15; r++) {
        double above = price_in(vt_row(&t, r - 1));
        assert_true(above >= price_in(vt_row(&t, r)));
    }
    tui_keys(&t, "rs", "VENDOR▲"); /* hidden columns are passed over */
    assert_non_null(strstr(first_offer(&t), "alibaba"));
    tui_keys(&t, "<", "$/GPU-H▲");
    tui_quit(&t);
}

static void moving_keys_reach_both_ends(void **state)
{
    struct vt t;
    char top[512];
    (void)state;
    tui_start(&t, 24, 80);
    snprintf(top, sizeof top, "%s", first_offer(&t));
    static const char *const down[] = {"G", "\033[F", "\033OF"}, *const up[] = {"g", "\033[H",
                                                                                "\033OH"};
    for (size_t i = 0; i < 3; i++) {
        vt_send(&t, down[i]);
        vt_settle(&t, 60, 1000);
        assert_string_not_equal(first_offer(&t), top);
        vt_send(&t, up[i]);
        vt_settle(&t, 60, 1000);
        assert_string_equal(first_offer(&t), top);
    }
    vt_send(&t, "\033[6~\033[6~");
    vt_settle(&t, 60, 1000);
    assert_string_not_equal(first_offer(&t), top);
    vt_send(&t, "\033[5~\033[5~");
    vt_settle(&t, 60, 1000);
    assert_string_equal(first_offer(&t), top);
    tui_quit(&t);
}

/* Every key of every screen's table is in the help, with its text, and the help closes. */
static void help_lists_every_key(void **state)
{
    static const struct screen_ops *const screens[] = {&screen_prices, &screen_plan,
                                                       &screen_storage, &screen_sources};
    struct vt t;
    (void)state;
    tui_start(&t, 50, 100);
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        char digit[2] = {screens[i]->digit, '\0'}, title[64];
        snprintf(title, sizeof title, "[%c %s]", screens[i]->digit, screens[i]->name);
        tui_keys(&t, digit, title);
        snprintf(title, sizeof title, "Help: %s", screens[i]->name);
        tui_keys(&t, "?", title);
        for (const struct screen_key *k = screens[i]->keys; k->key; k++) {
            assert_true(vt_has(&t, k->key));
            assert_true(vt_has(&t, k->help ? k->help : k->text));
        }
        vt_send(&t, "?");
        tui_expect_gone(&t, title);
    }
    tui_quit(&t);
}

static void commands_and_tab_reach_every_screen(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 30, 100);
    static const char *const names[] = {"[3 Plan]", "[4 Tiers]", "[5 Bench]", "[6 Sources]",
                                        "[1 Prices]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tui_keys(&t, "\t", names[i]);
    }
    tui_keys(&t, "\033[Z", "[6 Sources]");
    tui_keys(&t, ":plan\r", "[3 Plan]");
    tui_keys(&t, ":nonsense\r", "no command 'nonsense'");
    vt_send(&t, ":quit\r");
    assert_int_equal(vt_wait(&t, LIMIT_MS), 0);
    assert_true(vt_restored(&t));
    vt_end(&t);
}

static void the_view_is_written_as_filtered_and_sorted(void **state)
{
    struct vt t;
    char line[1024];
    size_t rows = 0;
    double last = 0;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "fvendor=aws h100 8 on-demand\r", "for  vendor=aws h100");
    size_t shown = (size_t)strtoul(vt_row(&t, 1) + 1, NULL, 10);
    tui_keys(&t, "wview.csv\r", "wrote ");
    FILE *f = fopen("view.csv", "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_memory_equal(line, "vendor,region,zone,instance_type,gpu,", 37);
    while (fgets(line, sizeof line, f)) {
        char *field = line;
        assert_memory_equal(line, "aws,", 4);
        for (int i = 0; i < 7; i++) {
            field = strchr(field, ',') + 1;
        }
        assert_true(atof(field) >= last);
        last = atof(field);
        rows++;
    }
    fclose(f);
    assert_true(rows > 0);
    assert_int_equal(rows, shown);
    tui_keys(&t, "w/nosuchfolder/x.csv\r", "cannot");
    tui_quit(&t);
}

/* Pasted text is text: a newline or a q in it does nothing but stand there. */
static void pasted_text_is_no_command(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    vt_send(&t, "\033[200~q\nfx:quit\n6\033[201~");
    vt_settle(&t, 100, 1000);
    assert_false(t.gone);
    tui_keys(&t, "f\033[200~h100\n8\tspot\033[201~", "filter: h100 8 spot");
    tui_keys(&t, "\r", "offers for  h100 8 spot");
    vt_send(&t, "\033[200~unended\003"); /* a lost end mark does not lock the keyboard */
    vt_settle(&t, 100, 1000);
    if (t.gone) {
        assert_int_equal(vt_wait(&t, LIMIT_MS), 0);
        vt_end(&t);
        return;
    }
    tui_quit(&t);
}

static void a_file_is_overwritten_only_after_a_second_enter(void **state)
{
    struct vt t;
    struct stat st;
    FILE *f = fopen("there.csv", "w");
    (void)state;
    assert_non_null(f);
    fputs("mine", f);
    assert_int_equal(fclose(f), 0);
    tui_start(&t, 24, 80);
    tui_keys(&t, "wthere.csv\r", "exists; Enter overwrites it");
    vt_send(&t, "\033");
    tui_expect_gone(&t, "exists;");
    assert_int_equal(stat("there.csv", &st), 0);
    assert_int_equal(st.st_size, 4);
    tui_keys(&t, "wthere.csv\r", "exists; Enter overwrites it");
    tui_keys(&t, "\r", "wrote ");
    assert_int_equal(stat("there.csv", &st), 0);
    assert_true(st.st_size > 1000);
    tui_quit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_screen_fits_80_by_24),
        cmocka_unit_test(filter_narrows_shows_its_words_and_clears),
        cmocka_unit_test(filter_says_which_word_leaves_nothing),
        cmocka_unit_test(filter_is_live_and_esc_brings_the_old_one_back),
        cmocka_unit_test(letters_typed_in_prompts_are_text),
        cmocka_unit_test(find_moves_to_matches_and_esc_returns),
        cmocka_unit_test(sort_is_by_value_and_reverses),
        cmocka_unit_test(moving_keys_reach_both_ends),
        cmocka_unit_test(help_lists_every_key),
        cmocka_unit_test(commands_and_tab_reach_every_screen),
        cmocka_unit_test(the_view_is_written_as_filtered_and_sorted),
        cmocka_unit_test(pasted_text_is_no_command),
        cmocka_unit_test(a_file_is_overwritten_only_after_a_second_enter),
    };
    return cmocka_run_group_tests_name("tui prices", tests, tui_setup, tui_teardown);
}
