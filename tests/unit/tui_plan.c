/* Planning in the interface: the form's edits change the ranked table at once, undo and redo,
 * refused edits, bill and reasons, report and saved plan; tiers: listing, horizon, files. TUI-49,
 * 52, 55. */
#include "tui_util.h"

#define SMALL                                                                                      \
    "o"                                                                                            \
    "small.yaml\r"

/* A small question, so that each answer comes at once. */
static int setup(void **state)
{
    int rc = tui_setup(state);
    FILE *f = rc ? NULL : fopen("small.yaml", "w");
    if (!f) {
        return -1;
    }
    fputs("schema: gputier/scenario/1\nname: small\n"
          "workload:\n  kind: training\n  gpu_hours: {gpu: A100-80GB, hours: 340}\n"
          "  checkpoint: {size: 12GB, every: 30min}\n  setup: 25min\n"
          "constraints:\n  deadline: 10d\n  budget: 5000 USD\n"
          "  vendors: [aws, azure]\n  gpus: {models: [A100-80GB], count: 4-8}\n"
          "purchase: [on_demand, spot]\n",
          f);
    if (fclose(f)) {
        return -1;
    }
    f = fopen("list.txt", "w");
    if (!f) {
        return -1;
    }
    for (int i = 0; i < 40; i++) { /* size, mtime, atime, type, path: old and large */
        fprintf(f, "%d000000000\t1690000000\t1690000000\tf\t./archive/%d/x\n", i + 1, i % 3);
        fprintf(f, "%d0000\t1795000000\t1796000000\tf\t./hot/%d/x\n", i + 1, i % 3);
    }
    return fclose(f);
}

static void start_small(struct vt *t, int rows, int cols)
{
    tui_start(t, rows, cols);
    tui_keys(t, "3", "[3 Plan]");
    vt_expect(t, "cheapest", LIMIT_MS * 3);
    tui_keys(t, SMALL, "small.yaml");
    vt_expect(t, "cheapest", LIMIT_MS * 3);
    tui_expect_gone(t, "~ planning");
}

static double total_shown(struct vt *t)
{
    const char *s = strstr(vt_row(t, 1), "cheapest ");
    char digits[32];
    size_t n = 0;
    assert_non_null(s);
    for (s += 9; *s && *s != 'U' && n < sizeof digits - 1; s++) {
        if ((*s >= '0' && *s <= '9') || *s == '.') {
            digits[n++] = *s;
        }
    }
    digits[n] = '\0';
    return atof(digits);
}

static void planned(struct vt *t)
{
    vt_settle(t, 30, 1000);
    tui_expect_gone(t, "~ planning");
    vt_settle(t, 60, 1000);
}

static void an_edit_changes_the_ranked_table(void **state)
{
    struct vt t;
    (void)state;
    start_small(&t, 24, 80);
    double free_choice = total_shown(&t);
    /* down to "buy", only on demand */
    tui_keys(&t, "ejjjjj\r", "buy: ");
    tui_keys(&t, "on_demand\r", "(edited)");
    planned(&t);
    assert_true(total_shown(&t) > free_choice);
    int first = tui_row_of(&t, "PLAN ") + 1;
    assert_null(strstr(vt_row(&t, first), "spot"));
    assert_non_null(strstr(vt_row(&t, first), "on demand"));
    vt_send(&t, "u"); /* and back */
    tui_expect_gone(&t, "(edited)");
    planned(&t);
    assert_true(total_shown(&t) == free_choice);
    tui_keys(&t, "\022", "(edited)");
    planned(&t);
    assert_true(total_shown(&t) > free_choice);
    tui_keys(&t, "\022", "nothing to redo");
    tui_keys(&t, "\033", "▶A");
    tui_quit(&t);
}

static void a_refused_edit_says_why_and_changes_nothing(void **state)
{
    struct vt t;
    (void)state;
    start_small(&t, 24, 100);
    double before = total_shown(&t);
    tui_keys(&t, "e\r", "deadline: ");
    tui_keys(&t, "soonish\r", "! ");
    assert_non_null(strstr(vt_row(&t, 21), "soonish"));
    assert_false(vt_has(&t, "(edited)"));
    planned(&t);
    assert_true(total_shown(&t) == before);
    tui_quit(&t);
}

static void a_deadline_nobody_meets_names_what_binds(void **state)
{
    struct vt t;
    (void)state;
    start_small(&t, 30, 120);
    tui_keys(&t, "e\r", "deadline: ");
    tui_keys(&t, "1h\r", "no plan ");
    vt_expect(&t, "rejected", LIMIT_MS);
    vt_expect(&t, "nearest", LIMIT_MS);
    tui_keys(&t, "u", "cheapest");
    tui_quit(&t);
}

static void the_bill_adds_up_and_esc_closes_it(void **state)
{
    static const char *const parts[] = {
        "compute on demand", "compute spot", "interruption waste", "commitment",    "storage",
        "requests",          "retrieval",    "transitions",        "data transfer", "other"};
    static const int sizes[][2] = {{24, 80}, {40, 120}};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct vt t;
        long cents = 0;
        start_small(&t, sizes[k][0], sizes[k][1]);
        double total = total_shown(&t);
        tui_keys(&t, "\r", "plan A: ");
        vt_expect(&t, "total ", LIMIT_MS);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            char digits[32], name[32];
            size_t n = 0;
            snprintf(name, sizeof name, "%-20s  ", parts[i]);
            const char *row = vt_row(&t, tui_row_of(&t, name));
            for (const char *s = strstr(row, name) + strlen(name); *s; s++) {
                if (*s >= '0' && *s <= '9') {
                    digits[n++] = *s;
                } else if (n && *s == ' ') {
                    break;
                }
            }
            digits[n] = '\0';
            cents += atol(digits);
        }
        assert_int_equal(cents, (long)(total * 100 + 0.5));
        vt_send(&t, "\033");
        tui_expect_gone(&t, "plan A: ");
        tui_quit(&t);
    }
}

static void keys_work_while_it_plans(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "3", "[3 Plan]");
    for (int i = 0; i < 20; i++) {
        vt_send(&t, i % 2 ? "+" : "-");
        vt_settle(&t, 1, 5);
    }
    tui_keys(&t, "1", "[1 Prices]");
    tui_keys(&t, "3", "[3 Plan]");
    vt_send(&t, "q"); /* and leaving does not wait for the answer */
    assert_int_equal(vt_wait(&t, LIMIT_MS), 0);
    assert_true(vt_restored(&t));
    vt_end(&t);
}

static long file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : (long)st.st_size;
}

static int run_command(const char *args, const char *out)
{
    char line[4 * PATH_MAX];
    snprintf(line, sizeof line, "'%.3000s' --db '%.3000s' %s >'%s' 2>/dev/null", tui_binary, tui_db,
             args, out);
    return system(line);
}

static bool file_has(const char *path, const char *text)
{
    static char content[1 << 20];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(content, 1, sizeof content - 1, f) : 0;
    content[n] = '\0';
    return f && fclose(f) == 0 && strstr(content, text);
}

static void reports_and_saved_plans_leave_the_screen(void **state)
{
    struct vt t;
    (void)state;
    start_small(&t, 24, 80);
    tui_keys(&t, "wr.html\r", "wrote the report to r.html");
    assert_true(file_size("r.html") > 1000);
    assert_true(file_has("r.html", "<svg"));
    tui_keys(&t, "wr.md\r", "wrote the report to r.md");
    assert_true(file_size("r.md") > 200);
    tui_keys(&t, "wr.doc\r", "no report format 'doc'");
    tui_keys(&t, "e\r9d\r", "(edited)"); /* the edit is saved with it */
    planned(&t);
    char total[64];
    snprintf(total, sizeof total, "%.2f", total_shown(&t));
    tui_keys(&t, "\033Smine\r", "saved as mine");
    tui_quit(&t);
    assert_int_equal(run_command("plans list", "plans.txt"), 0);
    assert_true(file_has("plans.txt", "mine"));
    assert_int_equal(run_command("report mine --format md", "saved.md"), 0);
    assert_true(file_has("saved.md", total));
    assert_int_equal(run_command("explain mine", "explain.txt"), 0);
    assert_true(file_size("explain.txt") > 200);
}

static void tiers_of_a_listing(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 30, 100);
    tui_keys(&t, "4", "vision-team.yaml, 36 mo");
    tui_keys(&t, "olist.txt\r", "list.txt, 36 mo");
    vt_expect(&t, "archive/", LIMIT_MS);
    vt_expect(&t, "DDDDDDDD", LIMIT_MS);
    vt_expect(&t, "D deep 0.00099", LIMIT_MS);
    vt_expect(&t, "pays off in month", LIMIT_MS);
    tui_keys(&t, "H1mo\r", "list.txt, 1 mo");
    tui_keys(&t, "H5m\r", "mo"); /* minutes are refused */
    vt_expect(&t, "! ", LIMIT_MS);
    tui_keys(&t, "u", "list.txt, 36 mo");
    tui_keys(&t, "\022", "list.txt, 1 mo");
    tui_keys(&t, "u", "list.txt, 36 mo");
    tui_keys(&t, "W1min\r", "I instant"); /* nobody waits for hours: no archive */
    tui_expect_gone(&t, "DDDDDDDD");
    tui_keys(&t, "u", "DDDDDDDD");
    tui_keys(&t, "\r", "First steps");
    tui_keys(&t, "onosuch.txt\r", "! nosuch.txt");
    vt_expect(&t, "list.txt, 36 mo", LIMIT_MS); /* the last answer stays */
    tui_quit(&t);
}

static void tiers_write_what_the_command_writes(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 30, 100);
    tui_keys(&t, "4olist.txt\r", "list.txt, 36 mo");
    tui_keys(&t, "wtiers.json\r", "wrote ");
    tui_keys(&t, "wtiers.csv\r", "to tiers.csv");
    tui_keys(&t, "Llife.json\r", "wrote the lifecycle policy to life.json");
    assert_true(file_has("life.json", "\"Rules\""));
    tui_quit(&t);
    assert_int_equal(run_command("--format json tier list.txt", "cli.json"), 0);
    assert_int_equal(run_command("--format csv tier list.txt", "cli.csv"), 0);
    assert_int_equal(system("cmp -s tiers.json cli.json"), 0);
    assert_int_equal(system("cmp -s tiers.csv cli.csv"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_changes_the_ranked_table),
        cmocka_unit_test(a_refused_edit_says_why_and_changes_nothing),
        cmocka_unit_test(a_deadline_nobody_meets_names_what_binds),
        cmocka_unit_test(the_bill_adds_up_and_esc_closes_it),
        cmocka_unit_test(keys_work_while_it_plans),
        cmocka_unit_test(reports_and_saved_plans_leave_the_screen),
        cmocka_unit_test(tiers_of_a_listing),
        cmocka_unit_test(tiers_write_what_the_command_writes),
    };
    return cmocka_run_group_tests_name("tui plan", tests, setup, tui_teardown);
}
