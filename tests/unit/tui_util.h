/* The real binary in a real pseudo-terminal, for the interface's tests: one database a test
 * program, made from the bundled snapshot in a folder of its own, a fixed clock, no settings of the
 * user. */
#ifndef GPUTIER_TUI_UTIL_H
#define GPUTIER_TUI_UTIL_H
/* clang-format off */
#include "unit.h"
#include "vt.h"
/* clang-format on */
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LIMIT_MS                                                                                   \
    20000 /* a loaded machine or a sanitizer build is slow; a right screen comes at once */
static char tui_dir[PATH_MAX], tui_binary[PATH_MAX], tui_db[PATH_MAX + 16];

/* Ends in a folder of its own: whatever the program writes lands there. */
static VT_UNUSED int tui_setup(void **state)
{
    const char *binary = getenv("GPUTIER"), *tmp = getenv("TMPDIR"), *data = getenv("GPUTIER_DATA");
    char shipped[PATH_MAX];
    struct rlimit no_core = {0, 0};
    (void)state;
    if (!realpath(binary ? binary : "./gputier", tui_binary) ||
        !realpath(data ? data : "data", shipped)) {
        print_error("the binary or its data are missing: run from the repository's root\n");
        return -1;
    }
    snprintf(tui_dir, sizeof tui_dir, "%.3000s/tuiXXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(tui_dir) || chdir(tui_dir)) {
        return -1;
    }
    snprintf(tui_db, sizeof tui_db, "%s/a.db", tui_dir);
    setenv("GPUTIER_DATA", shipped, 1);
    setenv("GPUTIER_NOW", "2026-12-01T00:00:00Z", 1);
    setenv("XDG_CONFIG_HOME", tui_dir, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    setrlimit(RLIMIT_CORE, &no_core);
    return 0;
}

static VT_UNUSED int tui_teardown(void **state)
{
    char command[PATH_MAX + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", tui_dir);
    return chdir("/") || system(command);
}

static VT_UNUSED void tui_launch(struct vt *t, int rows, int cols, const char *const *env)
{
    const char *argv[] = {tui_binary, "--db", tui_db, NULL};
    vt_start(t, argv, rows, cols, env);
}

/* The usual start: the price table is there. */
static VT_UNUSED void tui_start(struct vt *t, int rows, int cols)
{
    tui_launch(t, rows, cols, NULL);
    vt_expect(t, "VENDOR", LIMIT_MS);
}

/* Sends keys and waits until the screen shows text. */
static VT_UNUSED void tui_keys(struct vt *t, const char *keys, const char *expect)
{
    vt_send(t, keys);
    vt_expect(t, expect, LIMIT_MS);
}

static VT_UNUSED void tui_expect_gone(struct vt *t, const char *text)
{
    for (int spent = 0; vt_has(t, text); spent += 20) {
        if (spent > LIMIT_MS) {
            vt_print(t);
            fail_msg("'%s' is still on the screen", text);
        }
        vt_settle(t, 20, 40);
    }
}

/* Leaves by q and checks that the terminal is as it was. */
static VT_UNUSED void tui_quit(struct vt *t)
{
    vt_send(t, "q");
    assert_int_equal(vt_wait(t, LIMIT_MS), 0);
    assert_true(vt_restored(t));
    vt_end(t);
}

/* The row that holds text, -1 if none does. */
static VT_UNUSED int tui_row_of(struct vt *t, const char *text)
{
    for (int r = 0; r < t->rows; r++) {
        if (strstr(vt_row(t, r), text)) {
            return r;
        }
    }
    return -1;
}

/* First code point of a cell. */
static VT_UNUSED uint32_t tui_cell(struct vt *t, int row, int col)
{
    VTermScreenCell cell;
    VTermPos pos = {.row = row, .col = col};
    assert_true(vterm_screen_get_cell(t->screen, pos, &cell));
    return cell.chars[0];
}

/* Parameters of "select graphic rendition" that set a colour, anywhere in what was written. */
static VT_UNUSED int tui_colours_in(const char *raw, size_t len)
{
    int found = 0;
    for (size_t i = 0; i + 2 < len; i++) {
        if (raw[i] != '\033' || raw[i + 1] != '[') {
            continue;
        }
        size_t j = i + 2;
        while (j < len && ((raw[j] >= '0' && raw[j] <= '9') || raw[j] == ';')) {
            j++;
        }
        for (size_t k = i + 2; raw[j] == 'm' && k < j;) {
            char *end;
            long v = strtol(raw + k, &end, 10);
            found += (v >= 30 && v <= 49) || (v >= 90 && v <= 107);
            k = (size_t)(end - raw) + 1;
        }
    }
    return found;
}

#endif
