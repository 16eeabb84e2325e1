/* CSV reading for the snapshot (snap_csv.h). */
#include "snap_csv.h"
#include "gputier/units.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((off_t)256 * 1024 * 1024)

static int read_whole(int fd, char *data, size_t len)
{
    size_t have = 0;
    while (have < len) {
        ssize_t n = read(fd, data + have, len - have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return -1;
        }
        have += (size_t)n;
    }
    return 0;
}

int snap_csv_load(struct snap_csv *f, const char *path, struct gt_error *err)
{
    memset(f, 0, sizeof(*f));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? GT_ENOTFOUND
                   : gt_fail(err, GT_EIO, path, "cannot open: %s", strerror(errno));
    }
    struct stat info;
    int rc = 0;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > FILE_MAX) {
        rc = gt_fail(err, GT_EIO, path, "not a regular file below 256 MiB");
    }
    if (rc == 0) {
        f->len = (size_t)info.st_size;
        f->path = strdup(path);
        f->data = malloc(f->len + 1);
        rc =
            f->path == NULL || f->data == NULL ? gt_fail(err, GT_ENOMEM, path, "out of memory") : 0;
    }
    if (rc == 0 && read_whole(fd, f->data, f->len) != 0) {
        rc = gt_fail(err, GT_EIO, path, "cannot read");
    }
    (void)close(fd);
    if (rc != 0) {
        snap_csv_release(f);
        return rc;
    }
    f->data[f->len] = '\0';
    f->p = f->data;
    f->end = f->data + f->len;
    f->line = f->row_line = 1;
    return 0;
}

void snap_csv_release(struct snap_csv *f)
{
    free(f->path);
    free(f->data);
    memset(f, 0, sizeof(*f));
}

int snap_csv_fail(const struct snap_csv *f, int column, struct gt_error *err, int code,
                  const char *fmt, ...)
{
    char where[150], text[300];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    (void)snprintf(where, sizeof(where), "%s:%zu", f->path, f->row_line);
    if (column >= 0) {
        return gt_fail(err, code, where, "%.60s: %s", f->header[column], text);
    }
    return gt_fail(err, code, where, "%s", text);
}

/* A quoted cell at f->p (after the quote): undoubles quotes in place. */
static int quoted(struct snap_csv *f, char **cell, struct gt_error *err)
{
    char *out = f->p;
    *cell = out;
    while (f->p < f->end) {
        if (*f->p == '"') {
            if (f->p + 1 >= f->end || f->p[1] != '"') {
                f->p++;
                *out = '\0';
                /* The terminator may overwrite nothing that is still to be read: out < f->p. */
                return 0;
            }
            f->p++;
        }
        f->line += *f->p == '\n';
        *out++ = *f->p++;
    }
    return snap_csv_fail(f, -1, err, GT_EPARSE, "a quoted cell never ends");
}

/* One cell; *last when the row ends with it. */
static int next_cell(struct snap_csv *f, char **cell, bool *last, struct gt_error *err)
{
    char *end;
    if (f->p < f->end && *f->p == '"') {
        f->p++;
        int rc = quoted(f, cell, err);
        if (rc != 0) {
            return rc;
        }
        end = NULL;
    } else {
        *cell = f->p;
        while (f->p < f->end && *f->p != ',' && *f->p != '\n' && *f->p != '"') {
            f->p++;
        }
        if (f->p < f->end && *f->p == '"') {
            return snap_csv_fail(f, -1, err, GT_EPARSE, "a quote stands inside an unquoted cell");
        }
        end = f->p;
        if (end > *cell && end[-1] == '\r') {
            end--;
        }
    }
    if (end == NULL && f->p < f->end && *f->p == '\r') {
        f->p++;
    }
    if (f->p < f->end && *f->p != ',' && *f->p != '\n') {
        return snap_csv_fail(f, -1, err, GT_EPARSE, "text follows a closing quote");
    }
    *last = f->p >= f->end || *f->p == '\n';
    if (f->p < f->end) {
        f->line += *f->p == '\n';
        f->p++;
    }
    if (end != NULL) {
        *end = '\0';
    }
    return 0;
}

static int read_row(struct snap_csv *f, char **cell, size_t *n, struct gt_error *err)
{
    bool last = false;
    *n = 0;
    f->row_line = f->line;
    while (!last) {
        char *text = NULL;
        int rc = next_cell(f, &text, &last, err);
        if (rc != 0) {
            return rc;
        }
        if (*n == SNAP_CSV_COLUMNS) {
            return snap_csv_fail(f, -1, err, GT_EPARSE, "more than %d cells", SNAP_CSV_COLUMNS);
        }
        cell[(*n)++] = text;
    }
    return 0;
}

int snap_csv_header(struct snap_csv *f, struct gt_error *err)
{
    if (memchr(f->data, '\0', f->len) != NULL) {
        return snap_csv_fail(f, -1, err, GT_EPARSE, "the file holds a NUL byte");
    }
    if (f->len >= 3 && memcmp(f->data, "\xef\xbb\xbf", 3) == 0) {
        f->p += 3;
    }
    return read_row(f, f->header, &f->n_columns, err);
}

int snap_csv_next(struct snap_csv *f, bool *row, struct gt_error *err)
{
    while (f->p < f->end &&
           (*f->p == '\n' || (*f->p == '\r' && f->p + 1 < f->end && f->p[1] == '\n'))) {
        f->line += *f->p == '\n'; /* blank line */
        f->p++;
    }
    *row = f->p < f->end;
    if (!*row) {
        return 0;
    }
    size_t n = 0;
    int rc = read_row(f, f->cell, &n, err);
    if (rc == 0 && n != f->n_columns) {
        rc = snap_csv_fail(f, -1, err, GT_EPARSE, "%zu cells, the header has %zu", n, f->n_columns);
    }
    return rc;
}

int snap_csv_column(struct snap_csv *f, const char *name, bool needed, int *out,
                    struct gt_error *err)
{
    *out = -1;
    for (size_t i = 0; i < f->n_columns; i++) {
        if (strcmp(f->header[i], name) == 0) {
            *out = (int)i;
            return 0;
        }
    }
    f->row_line = 1;
    return needed ? snap_csv_fail(f, -1, err, GT_EPARSE, "column %s is missing", name) : 0;
}

const char *snap_csv_text(const struct snap_csv *f, int column)
{
    return column >= 0 ? f->cell[column] : "";
}

int snap_csv_real(const struct snap_csv *f, int column, double *out, struct gt_error *err)
{
    const char *s = snap_csv_text(f, column);
    struct gt_error why;
    *out = (double)NAN;
    if (s[0] != '\0' && number_parse(s, out, &why) != 0) {
        return snap_csv_fail(f, column, err, GT_EPARSE, "%s", why.text);
    }
    return 0;
}

int snap_csv_time(const struct snap_csv *f, int column, int64_t *out, struct gt_error *err)
{
    const char *s = snap_csv_text(f, column);
    struct gt_error why;
    *out = GT_TIME_NONE;
    if (s[0] != '\0' && time_parse(s, 0, out, &why) != 0) {
        return snap_csv_fail(f, column, err, GT_EPARSE, "%s", why.text);
    }
    return 0;
}

int snap_csv_money(const struct snap_csv *f, int column, money none, money *out,
                   struct gt_error *err)
{
    const char *s = snap_csv_text(f, column);
    struct gt_error why;
    *out = none;
    if (s[0] != '\0' && money_parse(s, strlen(s), out, &why) != 0) {
        return snap_csv_fail(f, column, err, GT_EPARSE, "%s", why.text);
    }
    return 0;
}

int snap_csv_int(const struct snap_csv *f, int column, int64_t none, int64_t *out,
                 struct gt_error *err)
{
    const char *s = snap_csv_text(f, column);
    *out = none;
    if (s[0] == '\0') {
        return 0;
    }
    char *end = NULL;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno != 0 || end == s || *end != '\0') {
        return snap_csv_fail(f, column, err, GT_EPARSE, "\"%.40s\" is not a whole number", s);
    }
    *out = v;
    return 0;
}
