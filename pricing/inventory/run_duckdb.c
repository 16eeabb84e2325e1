/* DuckDB: the command `duckdb` reads the query on its standard input and writes CSV. No shell in
 * between. */
#include "result.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE   65536
#define TOLD    1024 /* bytes kept of what the program says of an error */
#define LOOK_MS 100
#define END_MS  10
#define GRACE   200 /* looks that it gets to end by itself */

struct program {
    pid_t pid;
    int in, out, told; /* its standard streams, -1 = closed */
    const char *text;  /* what it has to read yet */
    size_t len;
    char said[TOLD + 1];
    size_t said_len;
};

static void shut(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* Streams 0-2 of the program are the ends theirs[]; signals as they are when nobody handles them;
 * a group of its own, so that all of it can be ended. */
static int spawn(struct program *p, const int theirs[3], char *const argv[])
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t all;
    int rc = posix_spawn_file_actions_init(&fa);
    if (rc) {
        return rc;
    }
    rc = posix_spawnattr_init(&attr);
    for (int i = 0; i < 3 && rc == 0; i++) {
        rc = posix_spawn_file_actions_adddup2(&fa, theirs[i], i);
    }
    if (rc == 0) {
        sigemptyset(&all);
        sigaddset(&all, SIGPIPE);
        sigaddset(&all, SIGXFSZ);
        posix_spawnattr_setsigdefault(&attr, &all);
        posix_spawnattr_setpgroup(&attr, 0);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        rc = posix_spawnp(&p->pid, argv[0], &fa, &attr, argv, environ);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

static int start(struct program *p, const char *name, char *const argv[], struct gt_error *err)
{
    int fd[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int rc = 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        rc = pipe2(fd[i], O_CLOEXEC) ? errno : 0;
    }
    if (rc == 0) {
        const int theirs[3] = {fd[0][0], fd[1][1], fd[2][1]};
        rc = spawn(p, theirs, argv);
    }
    shut(&fd[0][0]);
    shut(&fd[1][1]);
    shut(&fd[2][1]);
    p->in = fd[0][1];
    p->out = fd[1][0];
    p->told = fd[2][0];
    if (rc == 0 && fcntl(p->in, F_SETFL, O_NONBLOCK) < 0) {
        rc = errno;
    }
    return rc == 0 ? 0
                   : gt_fail(err, GT_ENOTFOUND, name, "the command '%s' cannot be started: %s%s",
                             argv[0], strerror(rc),
                             rc == ENOENT ? "; it has to be installed and in PATH" : "");
}

static void give(struct program *p)
{
    ssize_t n = write(p->in, p->text, p->len);
    if (n > 0) {
        p->text += n;
        p->len -= (size_t)n;
    }
    if (p->len == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        shut(&p->in); /* it ended early: its status says why */
    }
}

static void listen_to(struct program *p)
{
    char piece[512];
    ssize_t n = read(p->told, piece, sizeof piece);
    if (n > 0) {
        size_t room = TOLD - p->said_len, take = (size_t)n < room ? (size_t)n : room;
        memcpy(p->said + p->said_len, piece, take);
        p->said_len += take;
    } else if (n == 0 || errno != EINTR) {
        shut(&p->told);
    }
}

static int take(struct program *p, struct sql_running *g, struct gt_error *err)
{
    char piece[PIECE];
    ssize_t n = read(p->out, piece, sizeof piece);
    if (n > 0) {
        g->progress.bytes += (uint64_t)n;
        return sql_result_feed(&g->result, piece, (size_t)n, err);
    }
    if (n == 0 || errno != EINTR) {
        shut(&p->out);
    }
    return 0;
}

/* Until it has closed what it writes to. */
static int converse(struct program *p, struct sql_running *g, struct gt_error *err)
{
    int rc = 0;
    while (rc == 0 && (p->out >= 0 || p->told >= 0)) {
        struct pollfd fd[3] = {{.fd = p->in, .events = POLLOUT},
                               {.fd = p->out, .events = POLLIN},
                               {.fd = p->told, .events = POLLIN}};
        int ready = poll(fd, 3, LOOK_MS);
        rc = running_look(g, err);
        if (ready <= 0) {
            continue;
        }
        if (fd[0].revents) {
            give(p);
        }
        if (fd[2].revents) {
            listen_to(p);
        }
        if (fd[1].revents && rc == 0) {
            rc = take(p, g, err);
        }
    }
    return rc;
}

/* The status of a program that is over, or is ended now: asked first, then made to. */
static int end(struct program *p, struct sql_running *g, bool kill_it, struct gt_error *err)
{
    int status = 0, rc = 0;
    const struct timespec pause = {.tv_nsec = END_MS * 1000000L};
    if (kill_it) {
        kill(-p->pid, SIGTERM);
    }
    for (int i = 0; waitpid(p->pid, &status, WNOHANG) == 0; i++) {
        rc = rc || kill_it ? rc : running_look(g, err);
        if ((kill_it && i >= GRACE) || rc) {
            kill(-p->pid, SIGKILL);
        }
        nanosleep(&pause, NULL);
    }
    if (rc || kill_it) {
        return rc;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    p->said[p->said_len] = '\0';
    char how[40];
    snprintf(how, sizeof how, WIFEXITED(status) ? "exit status %d" : "signal %d",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return gt_fail(err, GT_EIO, g->name, "%s%s%.300s", how, p->said_len ? ": " : "", p->said);
}

int run_duckdb(struct sql_running *g, struct gt_error *err)
{
    const char *database = g->o->where;
    bool memory = strcmp(database, ":memory:") == 0;
    struct buf text;
    struct program p = {.in = -1, .out = -1, .told = -1};
    if (database[0] == '-' || database[0] == '\0') {
        return gt_fail(
            err, GT_EUSAGE, "",
            "--run: found '%.60s', expected a database file of DuckDB or :memory:", database);
    }
    /* its start-up file could change the output; a database is only read */
    const char *words[] = {"duckdb", "-batch",    "-bail",  "-csv", "-header",
                           "-init",  "/dev/null", database, NULL,   NULL};
    if (!memory) {
        words[7] = "-readonly";
        words[8] = database;
    }
    buf_init(&text, 1u << 20);
    buf_adds(&text, g->o->sql);
    buf_adds(&text, ";\n");
    if (text.failed) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    p.text = text.data;
    p.len = text.len;
    char *argv[sizeof words / sizeof *words]; /* as posix_spawn wants them; it changes none */
    memcpy(argv, words, sizeof words);
    int rc = start(&p, g->name, argv, err);
    if (rc == 0) {
        rc = converse(&p, g, err);
        shut(&p.in);
        shut(&p.out);
        int ended = end(&p, g, rc != 0, err);
        rc = rc ? rc : ended;
    }
    shut(&p.in);
    shut(&p.out);
    shut(&p.told);
    buf_release(&text);
    return rc;
}
