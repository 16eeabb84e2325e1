/* Start: signals, environment, global flags, dispatch; the only place that exits. */
#include "cli/app.h"
#include "cli/cli.h"
#include "gputier/bench.h"
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t cancelled;

/* First Ctrl-C asks the running work to stop; a second one ends at once (nothing half-applied is
 * ever committed, so that is safe). */
static void on_signal(int sig)
{
    if (cancelled) {
        _exit(128 + sig);
    }
    cancelled = sig;
}

static void install_signals(void)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sa.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &sa, NULL);
    sigaction(SIGXFSZ, &sa, NULL); /* a write beyond `ulimit -f` fails and is reported */
}

/* Descriptors 0-2 must exist: a file opened as 1 or 2 would take our output. */
static int have_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (write(fd, "", 0) < 0 && errno == EBADF && lseek(fd, 0, SEEK_CUR) < 0 &&
            errno == EBADF) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct app app;
    struct gt_error err = {0};
    if (!have_standard_streams()) {
        static const char text[] = "gputier: standard input, output and error must be open; use "
                                   "</dev/null or >/dev/null\n";
        ssize_t said = write(2, text, sizeof text - 1); /* where 2 is closed nobody can be told */
        (void)said;
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "--bench-child") == 0) {
        return bench_child(argc - 1, argv + 1);
    }
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    install_signals();
    int rc = app_init(&app, argc, argv, &cancelled, &err);
    if (!rc) {
        rc = app_run(&app, argc, argv, &err);
    }
    if (!rc && (fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
        rc = gt_fail(&err, GT_EIO, "stdout", "cannot write: %s", strerror(errno));
    }
    if (rc) {
        app_report(&app, rc, &err);
    }
    app_release(&app);
    if (rc && cancelled == SIGTERM) {
        signal(SIGTERM, SIG_DFL);
        raise(SIGTERM);
    }
    return gt_exit_status(rc);
}
