/* Whole small files in, whole files out: nothing half-written is ever seen. */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int io_error(struct gt_error *err, const char *path, const char *what)
{
    int code = errno == ENOENT ? GT_ENOTFOUND : GT_EIO;
    return gt_fail(err, code, path, "cannot %s: %s", what, strerror(errno));
}

int app_read_file(const char *path, size_t limit, char **text, size_t *len, struct gt_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct buf b;
    char chunk[65536];
    ssize_t n;
    int rc = 0;
    if (fd < 0) {
        return io_error(err, path, "open");
    }
    buf_init(&b, limit);
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR) { /* Ctrl-C while a person or a pipe is waited for */
            rc = gt_fail(err, GT_ECANCELLED, is_stdin ? "standard input" : path, "interrupted");
            break;
        }
        if (n < 0) {
            rc = io_error(err, path, "read");
            break;
        }
        if (buf_add(&b, chunk, (size_t)n)) {
            rc = gt_fail(err, GT_ELIMIT, path, "file is larger than %zu bytes", limit);
            break;
        }
    }
    if (!is_stdin) {
        close(fd);
    }
    if (!rc) {
        *text = buf_take(&b, len);
        rc = *text ? 0 : gt_fail(err, GT_ENOMEM, path, "out of memory");
    }
    buf_release(&b);
    return rc;
}

static int write_all(int fd, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int app_write_file(const char *path, const void *data, size_t len, struct gt_error *err)
{
    char tmp[4096];
    struct stat st;
    if (strcmp(path, "-") == 0) {
        if (write_all(STDOUT_FILENO, data, len) && errno != EPIPE) {
            return io_error(err, "stdout", "write");
        }
        return 0;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* /dev/null, a pipe: no rename */
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write_all(fd, data, len)) {
            int rc = io_error(err, path, "write");
            if (fd >= 0) {
                close(fd);
            }
            return rc;
        }
        close(fd);
        return 0;
    }
    if (snprintf(tmp, sizeof tmp, "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof tmp) {
        return gt_fail(err, GT_EINVALID, "", "file name is too long");
    }
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return io_error(err, path, "create");
    }
    int bad = write_all(fd, data, len) || fsync(fd);
    bad = close(fd) || bad;
    if (bad || rename(tmp, path)) {
        int rc = io_error(err, path, "write");
        unlink(tmp);
        return rc;
    }
    return 0;
}

int app_put(const struct buf *b, struct gt_error *err)
{
    if (b->failed) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return b->len ? app_write_file("-", b->data, b->len, err) : 0;
}
