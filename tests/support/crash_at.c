/* Preloaded into gputier by tests/cli/fetch_kill.py: counts the calls that change files and ends
 * the process, or the disk, at a chosen one. CRASH_COUNT=FILE writes how many there were;
 * CRASH_AT=N kills at call N with SIGKILL, half of a write done; FULL_AT=N fails call N and every
 * later write with ENOSPC. Calls on the standard streams do not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long calls, crash_at = -1, full_at = -1;

static long number(const char *name)
{
    const char *v = getenv(name);
    return v ? atol(v) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    crash_at = number("CRASH_AT");
    full_at = number("FULL_AT");
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("CRASH_COUNT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", calls);
        fclose(f);
    }
}

/* 1: this call is the one at which the process ends. */
static int ends(void)
{
    return ++calls == crash_at;
}

static int full(void)
{
    return full_at > 0 && calls >= full_at;
}

static void die(void)
{
    raise(SIGKILL);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (ends()) {
        (void)!real(fd, p, n / 2, at);
        die();
    }
    if (full()) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (fd > 2 && ends()) {
        (void)!real(fd, p, n / 2);
        die();
    }
    if (fd > 2 && full()) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, p, n);
}

#define ONE(type, name, params, args)                                                              \
    type name params                                                                               \
    {                                                                                              \
        type(*real) params = dlsym(RTLD_NEXT, #name);                                              \
        if (ends()) {                                                                              \
            die();                                                                                 \
        }                                                                                          \
        return real args;                                                                          \
    }
ONE(int, fsync, (int fd), (fd))
ONE(int, fdatasync, (int fd), (fd))
ONE(int, ftruncate64, (int fd, off64_t n), (fd, n))
ONE(int, unlink, (const char *path), (path))
ONE(int, rename, (const char *a, const char *b), (a, b))
