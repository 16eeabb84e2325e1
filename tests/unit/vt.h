/* A real pseudo-terminal with a terminal emulator (libvterm) around the program under test. */
#ifndef GPUTIER_VT_H
#define GPUTIER_VT_H
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

#define VT_UNUSED __attribute__((unused))
struct vt {
    int master, rows, cols;
    pid_t pid;
    VTerm *vterm;
    VTermScreen *screen;
    bool gone, alt, cursor_visible;
    size_t bytes; /* written by the program so far */
    char raw[1 << 16];
    size_t raw_len;
};

static int vt_prop(VTermProp prop, VTermValue *val, void *user)
{
    struct vt *t = user;
    if (prop == VTERM_PROP_ALTSCREEN) {
        t->alt = val->boolean;
    } else if (prop == VTERM_PROP_CURSORVISIBLE) {
        t->cursor_visible = val->boolean;
    }
    return 1;
}

/* env: NULL-terminated NAME=VALUE list, set in the child beside ours. */
static VT_UNUSED void vt_start(struct vt *t, const char *const *argv, int rows, int cols,
                               const char *const *env)
{
    static VTermScreenCallbacks callbacks;
    struct winsize w = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    memset(t, 0, sizeof *t);
    t->rows = rows;
    t->cols = cols;
    t->cursor_visible = true;
    t->pid = forkpty(&t->master, NULL, NULL, &w);
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        for (; env && *env; env++) {
            putenv((char *)(uintptr_t)*env);
        }
        execv(argv[0], (char **)(uintptr_t)argv);
        _exit(127);
    }
    fcntl(t->master, F_SETFL, fcntl(t->master, F_GETFL) | O_NONBLOCK);
    t->vterm = vterm_new(rows, cols);
    vterm_set_utf8(t->vterm, 1);
    t->screen = vterm_obtain_screen(t->vterm);
    vterm_screen_enable_altscreen(t->screen, 1);
    callbacks.settermprop = vt_prop;
    vterm_screen_set_callbacks(t->screen, &callbacks, t);
    vterm_screen_reset(t->screen, 1);
}

/* Whether the program's main thread has something to do: on a loaded machine silence alone does not
 * say that the keys sent were dealt with. */
static VT_UNUSED bool vt_busy(const struct vt *t)
{
    char path[64], text[512], *state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)t->pid);
    FILE *f = t->pid > 0 ? fopen(path, "re") : NULL;
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) {
        fclose(f);
    }
    text[n] = '\0';
    state = strrchr(text, ')');
    return state && (state[2] == 'R' || state[2] == 'D');
}

/* Takes output until none came for quiet_ms, about limit_ms at most. With 20 ms and more of quiet a
 * program still at work is waited for, however long its machine takes. */
static VT_UNUSED void vt_settle(struct vt *t, int quiet_ms, int limit_ms)
{
    enum { STUCK_MS = 20000 };
    const bool patient = quiet_ms >= 20;
    bool at_work = false;
    struct timespec start, now;
    char chunk[65536];
    clock_gettime(CLOCK_MONOTONIC, &start);
    while (!t->gone) {
        struct pollfd p = {.fd = t->master, .events = POLLIN};
        clock_gettime(CLOCK_MONOTONIC, &now);
        long spent = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
        bool late = spent > limit_ms && !at_work;
        int ready = poll(&p, 1, late ? 0 : quiet_ms);
        at_work = patient && spent < STUCK_MS && vt_busy(t);
        if (!at_work && (!ready || (late && !patient))) {
            return;
        }
        if (!ready) {
            continue;
        }
        ssize_t n = read(t->master, chunk, sizeof chunk);
        if (n <= 0 && errno != EAGAIN && errno != EINTR) {
            t->gone = true;
        }
        if (n > 0) {
            size_t room = sizeof t->raw - t->raw_len, keep = (size_t)n < room ? (size_t)n : room;
            memcpy(t->raw + t->raw_len, chunk, keep);
            t->raw_len += keep;
            t->bytes += (size_t)n;
            vterm_input_write(t->vterm, chunk, (size_t)n);
        }
    }
}

static VT_UNUSED void vt_send(struct vt *t, const char *keys)
{
    size_t len = strlen(keys);
    while (len && !t->gone) {
        ssize_t n = write(t->master, keys, len);
        if (n > 0) {
            keys += n;
            len -= (size_t)n;
        } else {
            vt_settle(t, 5, 50);
        }
    }
}

/* One row as UTF-8, trailing blanks cut. */
static VT_UNUSED const char *vt_row(struct vt *t, int row)
{
    static char text[4096];
    VTermRect rect = {.start_row = row, .end_row = row + 1, .start_col = 0, .end_col = t->cols};
    size_t n = vterm_screen_get_text(t->screen, text, sizeof text - 1, rect);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\n')) {
        n--;
    }
    text[n] = '\0';
    return text;
}

static VT_UNUSED bool vt_has(struct vt *t, const char *text)
{
    for (int r = 0; r < t->rows; r++) {
        if (strstr(vt_row(t, r), text)) {
            return true;
        }
    }
    return false;
}

static VT_UNUSED void vt_print(struct vt *t)
{
    for (int r = 0; r < t->rows; r++) {
        print_message("|%s\n", vt_row(t, r));
    }
}

/* Waits up to limit_ms for text to be on the screen; prints the screen and fails otherwise. */
static VT_UNUSED void vt_expect(struct vt *t, const char *text, int limit_ms)
{
    for (int spent = 0; spent <= limit_ms; spent += 20) {
        vt_settle(t, 20, 40);
        if (vt_has(t, text)) {
            return;
        }
    }
    vt_print(t);
    fail_msg("'%s' is not on the screen", text);
}

static VT_UNUSED void vt_resize(struct vt *t, int rows, int cols)
{
    struct winsize w = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    t->rows = rows;
    t->cols = cols;
    vterm_set_size(t->vterm, rows, cols);
    ioctl(t->master, TIOCSWINSZ, &w);
}

/* Waits for the program to end; -1 when it does not within limit_ms. Exit status, or 128 + signal.
 */
static VT_UNUSED int vt_wait(struct vt *t, int limit_ms)
{
    int status;
    for (int spent = 0; spent < limit_ms; spent += 10) {
        vt_settle(t, 10, 20);
        if (waitpid(t->pid, &status, WNOHANG) == t->pid) {
            t->pid = 0;
            vt_settle(t, 10, 50);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (t->gone) {
            usleep(10000);
        }
    }
    return -1;
}

/* The terminal as a shell would want it back: echo on, primary screen, cursor shown. */
static VT_UNUSED bool vt_restored(struct vt *t)
{
    return !t->alt && t->cursor_visible;
}

static VT_UNUSED void vt_end(struct vt *t)
{
    if (t->pid > 0) {
        kill(t->pid, SIGKILL);
        waitpid(t->pid, NULL, 0);
    }
    close(t->master);
    vterm_free(t->vterm);
}

#endif
