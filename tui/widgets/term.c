/* Terminal life cycle (term.h). ncurses restores after SIGINT and SIGTERM only (measured), so all
 * ending signals set a flag that the loop acts on, and crash signals restore by hand first. */
#include "term.h"
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static struct {
    SCREEN *screen;
    bool open, utf8;
    int colors, wake[2], saved_stderr;
    struct termios before;
    volatile sig_atomic_t ending, resized, continued;
} term = {.wake = {-1, -1}, .saved_stderr = -1};

static void write_tty(const char *s)
{
    size_t len = strlen(s);
    while (len) {
        ssize_t n = write(STDOUT_FILENO, s, len);
        if (n <= 0) {
            return;
        }
        s += n;
        len -= (size_t)n;
    }
}

static void on_end(int sig)
{
    int saved = errno;
    term.ending = sig;
    if (term.wake[1] >= 0 && write(term.wake[1], "e", 1) < 0) {
        /* the pipe is full: the loop is awake anyway */
    }
    errno = saved;
}

static void on_resize(int sig)
{
    int saved = errno;
    (void)sig;
    term.resized = 1;
    if (term.wake[1] >= 0 && write(term.wake[1], "r", 1) < 0) {
        /* as above */
    }
    errno = saved;
}

/* Only async-signal-safe calls: leave the alternate screen, show the cursor, mouse off. */
static void on_crash(int sig)
{
    static const char restore[] =
        "\033[?1049l\033[?25h\033[?1000l\033[?2004l\033[0m\r\n"
        "gputier crashed; the terminal is restored and the database is whole. "
        "Please report what you did.\r\n";
    write_tty(restore);
    tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void set_handler(int sig, void (*f)(int))
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = f;
    sigaction(sig, &sa, NULL);
}

static void signals_on(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        set_handler(ends[i], on_end);
    }
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        set_handler(crashes[i], on_crash);
    }
    set_handler(SIGWINCH, on_resize);
    signal(SIGTSTP, SIG_IGN); /* Ctrl-Z arrives as a key */
}

static int pipe_open(struct gt_error *err)
{
    if (pipe2(term.wake, O_NONBLOCK | O_CLOEXEC)) {
        return gt_fail(err, GT_EIO, "terminal", "cannot make a pipe: %s", strerror(errno));
    }
    return 0;
}

/* Whatever a library prints would land on the screen: stderr goes nowhere while it is ours. */
static void stderr_away(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        fflush(stderr);
        term.saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
}

/* Bracketed paste where the terminal's description has it. */
static void paste_marks(bool on)
{
    char *sequence = on ? tigetstr("BE") : tigetstr("BD");
    if (sequence && sequence != (char *)-1) {
        putp(sequence);
        fflush(stdout);
    }
}

/* Some terminals ignore the request for application cursor keys: both spellings are understood. */
static void define_keys(void)
{
    static const struct {
        char last;
        int code;
    } keys[] = {{'A', KEY_UP},   {'B', KEY_DOWN}, {'C', KEY_RIGHT},
                {'D', KEY_LEFT}, {'H', KEY_HOME}, {'F', KEY_END}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char normal[] = {'\033', '[', keys[i].last, '\0'};
        char application[] = {'\033', 'O', keys[i].last, '\0'};
        define_key(normal, keys[i].code);
        define_key(application, keys[i].code);
    }
    define_key("\033[200~", TERM_PASTE_BEGIN);
    define_key("\033[201~", TERM_PASTE_END);
}

int term_open(const struct term_options *o, struct gt_error *err)
{
    const char *name = getenv("TERM");
    int status = 0;
    if (!name || !*name || setupterm(name, STDOUT_FILENO, &status) != OK) {
        return gt_fail(err, GT_EUSAGE, "terminal",
                       "terminal type '%.40s' is unknown here; try TERM=xterm-256color gputier",
                       name ? name : "");
    }
    if (!cursor_address) {
        return gt_fail(
            err, GT_EUSAGE, "terminal",
            "terminal type '%.40s' cannot move its cursor; the commands work without: gputier help",
            name);
    }
    if (tcgetattr(STDIN_FILENO, &term.before) || pipe_open(err)) {
        return gt_fail(err, GT_EIO, "terminal", "cannot read the terminal's settings: %s",
                       strerror(errno));
    }
    /* A locale that is asked for and not installed: at least its encoding. */
    const char *wanted = getenv("LC_ALL");
    wanted = wanted && *wanted ? wanted : getenv("LC_CTYPE");
    wanted = wanted && *wanted ? wanted : getenv("LANG");
    if (!setlocale(LC_CTYPE, "") && wanted &&
        (strcasestr(wanted, "utf-8") || strcasestr(wanted, "utf8"))) {
        setlocale(LC_CTYPE, "C.UTF-8");
    }
    del_curterm(cur_term); /* newterm reads it anew */
    use_env(FALSE);        /* COLUMNS and LINES must not freeze the size */
    use_tioctl(TRUE);
    term.screen = newterm(NULL, stdout, stdin);
    if (!term.screen) {
        return gt_fail(err, GT_EIO, "terminal", "cannot start the screen");
    }
    set_term(term.screen);
    term.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!getenv("ESCDELAY")) {
        set_escdelay(25);
    }
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    define_keys();
    nodelay(stdscr, TRUE);
    curs_set(0);
    term.colors = 0;
    if (o->color && has_colors() && start_color() == OK) {
        use_default_colors();
        term.colors = COLORS;
    }
    signals_on();
    stderr_away();
    paste_marks(true);
    term.open = true;
    return 0;
}

void term_close(void)
{
    if (!term.open) {
        return;
    }
    curs_set(1);
    paste_marks(false);
    endwin();
    delscreen(term.screen);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
    if (term.saved_stderr >= 0) {
        dup2(term.saved_stderr, STDERR_FILENO);
        close(term.saved_stderr);
        term.saved_stderr = -1;
    }
    close(term.wake[0]);
    close(term.wake[1]);
    term.wake[0] = term.wake[1] = -1;
    term.open = false;
    set_handler(SIGSEGV, SIG_DFL);
    set_handler(SIGABRT, SIG_DFL);
    set_handler(SIGWINCH, SIG_DFL);
}

bool term_utf8(void)
{
    return term.utf8;
}
int term_colors(void)
{
    return term.colors;
}
int term_signal(void)
{
    return term.ending;
}

void term_wake(void)
{
    if (term.wake[1] >= 0 && write(term.wake[1], "w", 1) < 0) {
        /* full: awake already */
    }
}

static void take_resize(void)
{
    struct winsize w;
    term.resized = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col) {
        resizeterm(w.ws_row, w.ws_col);
    }
}

static int read_key(int *key, bool *is_key)
{
    wint_t c;
    int rc = get_wch(&c);
    if (rc == ERR) {
        return 0;
    }
    *key = (int)c;
    *is_key = rc == KEY_CODE_YES;
    if (*is_key && *key == KEY_RESIZE) {
        return 1;
    }
    return 1;
}

int term_key(int timeout_ms, int *key, bool *is_key)
{
    char drain[64];
    if (term.ending) {
        return -1;
    }
    if (!term.resized && read_key(key, is_key)) {
        return 1;
    }
    if (!term.resized) {
        struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = term.wake[0], .events = POLLIN}};
        int n = poll(p, 2, timeout_ms);
        if (n > 0 && (p[1].revents & POLLIN)) {
            while (read(term.wake[0], drain, sizeof drain) > 0) {
            }
        }
        if (n > 0 && (p[0].revents & (POLLHUP | POLLERR | POLLNVAL)) && !(p[0].revents & POLLIN)) {
            term.ending = term.ending ? term.ending : SIGHUP;
        }
        if (n > 0 && (p[0].revents & POLLIN) && !term.resized && !term.ending) {
            int waiting = 0;
            if (read_key(key, is_key)) {
                return 1;
            }
            /* Readable and nothing there: the terminal is gone (an unfinished sequence waits). */
            if (ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0) {
                struct pollfd again = {.fd = STDIN_FILENO, .events = POLLIN};
                if (poll(&again, 1, 30) > 0 && !read_key(key, is_key)) {
                    term.ending = SIGHUP;
                }
            }
        }
    }
    if (term.ending) {
        return -1;
    }
    if (term.resized) {
        take_resize();
        *key = KEY_RESIZE;
        *is_key = true;
        return 1;
    }
    return 0;
}

bool term_pending(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLIN);
}

void term_suspend(void)
{
    struct termios ours;
    tcgetattr(STDIN_FILENO, &ours);
    curs_set(1);
    paste_marks(false);
    endwin();
    tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
    signal(SIGTSTP, SIG_DFL);
    kill(0, SIGTSTP); /* the whole group, as the terminal's own Ctrl-Z would */
    /* fg: continue here, at whatever size the window has now */
    signal(SIGTSTP, SIG_IGN);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &ours);
    take_resize();
    paste_marks(true);
    clearok(curscr, TRUE);
    refresh();
    curs_set(0);
}

bool term_copy(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[8192];
    size_t len = strlen(text), n = 0;
    if (len > 5000) {
        return false;
    }
    for (size_t i = 0; i < len; i += 3) {
        unsigned v = (unsigned)(unsigned char)text[i] << 16;
        v |= i + 1 < len ? (unsigned)(unsigned char)text[i + 1] << 8 : 0;
        v |= i + 2 < len ? (unsigned)(unsigned char)text[i + 2] : 0;
        out[n++] = digits[v >> 18];
        out[n++] = digits[v >> 12 & 63];
        out[n++] = i + 1 < len ? digits[v >> 6 & 63] : '=';
        out[n++] = i + 2 < len ? digits[v & 63] : '=';
    }
    out[n] = '\0';
    write_tty("\033]52;c;");
    write_tty(out);
    write_tty("\a");
    return true;
}
