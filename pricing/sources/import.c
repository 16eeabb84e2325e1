/* Import of a local file: unpacked by content, told apart by content, read by the same parser
 * that a fetch feeds, published in one piece. Memory does not grow with the file. */
#include "../http/blake3.h"
#include "inflate.h"
#include "source.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES   ((size_t)256 * 1024)
#define HEAD_BYTES   ((size_t)64 * 1024) /* what recognition sees */
#define SHOWN        ((size_t)4096)
#define UNPACKED_MAX ((uint64_t)64 << 30)

struct import {
    const struct import_options *o;
    const char *path, *name; /* of the file that is read; name: without folders */
    char *shown;             /* path in messages: stays in one place, as parsers keep it */
    const struct source_def *def;
    struct staging *staging;
    struct parser *parser;
    struct parse_context ctx;
    char *head; /* until the parser is open */
    size_t head_len;
    struct blake3 raw; /* of the files as they are, packed or not */
    uint64_t bytes;
    size_t pages, pages_with_next; /* read so far; of them those that name one behind them */
    bool file_has_bytes;
};

/* The last date in a file name ("…-vms-2026-05-20.csv.gz"), else `otherwise`. */
static int64_t date_in_name(const char *name, int64_t now)
{
    int64_t found = now, when;
    char date[11] = "";
    for (size_t n = strlen(name), i = 0; i + 10 <= n; i++) {
        memcpy(date, name + i, 10);
        if (date[4] == '-' && date[7] == '-' && strspn(date, "0123456789-") == 10 &&
            time_parse(date, 0, &when, NULL) == 0 && when > 0 && when <= now) {
            found = when;
        }
    }
    return found;
}

static const struct source_def *recognise(struct import *m)
{
    for (size_t i = 0; source_at(i); i++) {
        const struct source_def *d = source_at(i);
        if (source_recognises(d, m->head, m->head_len, m->path)) {
            return d;
        }
    }
    return NULL;
}

static int unknown(struct import *m, int code, const char *what, struct gt_error *err)
{
    char kinds[300] = "";
    for (size_t i = 0, n = 0; source_at(i); i++) {
        n += (size_t)snprintf(kinds + n, sizeof kinds - n, "%s%s", i ? ", " : "", source_at(i)->id);
        if (n >= sizeof kinds) {
            break;
        }
    }
    return gt_fail(err, code, m->path, "%s; known kinds are %s", what, kinds);
}

/* Opens staging and parser once the head has been seen, and gives the head to the parser. */
static int begin(struct import *m, struct gt_error *err)
{
    m->def = strcmp(m->o->kind, "auto") == 0 ? recognise(m) : source_find(m->o->kind);
    if (!m->def) {
        return unknown(m, GT_EPARSE, "the content is of no known price list", err);
    }
    struct staging_options so = {
        .source_id = m->def->id,
        .scope = "",
        .url = m->name,
        .hash = "",
        .origin = ORIGIN_IMPORTED,
        .fetched_at = m->o->now,
        .accept_large_change = m->o->accept_large_change,
    };
    int rc = staging_begin(m->o->store, &so, &m->staging, err);
    if (rc != 0) {
        return rc;
    }
    m->ctx = (struct parse_context){
        .staging = m->staging,
        .name = m->shown,
        .region = m->o->region ? m->o->region : "",
        .vendor = m->o->vendor,
        .now = m->o->now,
        .as_of = date_in_name(m->name, m->o->now),
        .log = m->o->log,
    };
    rc = source_open(m->def, &m->ctx, &m->parser, err);
    return rc ? rc : m->def->parse_feed(m->parser, m->head, m->head_len, err);
}

/* The first bytes of a file: the mark that Windows puts before UTF-8 text is passed over. */
static void pass_mark(const char **data, size_t *len)
{
    if (*len >= 3 && memcmp(*data, "\xEF\xBB\xBF", 3) == 0) {
        *data += 3;
        *len -= 3;
    }
}

/* What no list is written in, by its first bytes; NULL else. */
static const char *other_form(const char *data, size_t len)
{
    static const struct {
        const char *begin, *text;
    } forms[] = {{"\xFF\xFE", "UTF-16 text, expected UTF-8"},
                 {"\xFE\xFF", "UTF-16 text, expected UTF-8"},
                 {"PK\x03\x04", "a zip archive or a workbook; unpack it, or save it as CSV"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].begin);
        if (len >= n && memcmp(data, forms[i].begin, n) == 0) {
            return forms[i].text;
        }
    }
    return NULL;
}

static int on_bytes(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    struct import *m = ctx;
    if (!m->file_has_bytes) {
        const char *form = other_form(data, len);
        if (form) {
            return gt_fail(err, GT_EPARSE, m->path, "%s", form);
        }
        m->file_has_bytes = len > 0;
        pass_mark(&data, &len);
    }
    if (m->parser) {
        return m->def->parse_feed(m->parser, data, len, err);
    }
    size_t n = HEAD_BYTES - m->head_len;
    n = n < len ? n : len;
    memcpy(m->head + m->head_len, data, n);
    m->head_len += n;
    if (m->head_len < HEAD_BYTES) {
        return 0;
    }
    int rc = begin(m, err);
    return rc == 0 && len > n ? m->def->parse_feed(m->parser, data + n, len - n, err) : rc;
}

static int open_input(const char *path, int *fd, struct gt_error *err)
{
    struct stat st;
    *fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) {
        return gt_fail(err, GT_EPARSE, path, "cannot open: %s", strerror(errno));
    }
    if (fstat(*fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(*fd);
        return gt_fail(err, GT_EPARSE, path, "is a folder, expected a file");
    }
#ifdef POSIX_FADV_SEQUENTIAL
    (void)!posix_fadvise(*fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return 0;
}

static int read_all(struct import *m, int fd, struct unpack *u, char *chunk, struct gt_error *err)
{
    for (;;) {
        if (m->o->cancel && *m->o->cancel) {
            return gt_fail(err, GT_ECANCELLED, m->path, "interrupted, nothing was published");
        }
        ssize_t n = read(fd, chunk, READ_BYTES);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return gt_fail(err, GT_EIO, m->path, "%s", strerror(errno));
        }
        if (n == 0) {
            return unpack_end(u, err);
        }
        m->bytes += (uint64_t)n;
        blake3_add(&m->raw, chunk, (size_t)n);
        int rc = unpack_feed(u, chunk, (size_t)n, err);
        if (rc != 0) {
            return rc;
        }
        if (m->o->progress) {
            m->o->progress(m->o->ctx, m->bytes, m->ctx.rows);
        }
    }
}

/* After a page. A chain of pages has one that names no other: where every page names one, the list
 * goes on. (A page that is missing in the middle is not seen: a link tells no name of a file.) */
static void end_page(struct import *m)
{
    m->pages++;
    m->pages_with_next += m->ctx.next[0] != '\0';
    m->ctx.next[0] = '\0';
}

static int finish(struct import *m, struct import_result *out, struct gt_error *err)
{
    char hash[BLAKE3_TEXT];
    int rc = m->parser ? 0 : begin(m, err);
    if (rc != 0) {
        return rc;
    }
    rc = m->def->parse_close(m->parser, err);
    m->parser = NULL;
    if (rc != 0) {
        return rc;
    }
    end_page(m);
    if (m->pages_with_next == m->pages) {
        staging_goes_on(m->staging);
        log_line(m->o->log, LOG_WARNING, "import",
                 "%s: the list goes on behind this page; import all of its pages together",
                 m->path);
    }
    /* A list that no address stands for is a person's file: each replaces the one of its name. */
    bool by_name = !m->def->default_url || m->def->files_are_parts;
    const char *scope = m->ctx.scope[0] || !by_name ? m->ctx.scope : m->name;
    rc = *scope ? staging_set_scope(m->staging, scope, err) : 0;
    if (rc != 0) {
        return rc;
    }
    staging_set_raw(m->staging, blake3_text(&m->raw, hash), m->bytes, NULL, NULL);
    out->source_id = m->def->id;
    out->bytes = m->bytes;
    out->skipped = m->ctx.skipped;
    memcpy(out->left_out, m->ctx.left_out, sizeof out->left_out);
    rc = staging_publish(m->staging, &out->published, err);
    m->staging = NULL; /* released in every case */
    return rc;
}

/* Reads one file, the first or one that goes on with the list. */
static int read_file(struct import *m, const char *path, char *chunk, struct gt_error *err)
{
    struct unpack *u = NULL;
    int fd = -1;
    if (m->parser || m->head_len > 0) { /* a file shorter than the head has not been parsed yet */
        int rc = m->parser ? 0 : begin(m, err);
        rc = rc ? rc : m->def->parse_next(m->parser, err);
        if (rc != 0) {
            return rc;
        }
        end_page(m);
    }
    m->path = strcmp(path, "-") == 0 ? "standard input" : path;
    snprintf(m->shown, SHOWN, "%s", m->path);
    const char *slash = strrchr(m->path, '/');
    m->name = m->name ? m->name : slash ? slash + 1 : m->path;
    m->file_has_bytes = false;
    int rc = open_input(path, &fd, err);
    rc = rc ? rc : unpack_new(m->path, UNPACKED_MAX, on_bytes, m, &u, err);
    rc = rc ? rc : read_all(m, fd, u, chunk, err);
    rc = rc || m->file_has_bytes
             ? rc
             : gt_fail(err, GT_EPARSE, m->path, "an empty file, expected a price list");
    if (fd > STDIN_FILENO) {
        close(fd);
    }
    unpack_free(u);
    return rc;
}

int import_files(const struct import_options *o, const char *const *path, size_t n,
                 struct import_result *out, struct gt_error *err)
{
    struct gt_error own = {0};
    struct import m = {.o = o, .path = path[0]};
    err = err ? err : &own;
    *out = (struct import_result){0};
    blake3_init(&m.raw);
    char *chunk = malloc(READ_BYTES);
    m.head = malloc(HEAD_BYTES);
    m.shown = calloc(1, SHOWN);
    int rc = chunk && m.head && m.shown ? 0 : gt_fail(err, GT_ENOMEM, m.path, "out of memory");
    if (rc == 0 && strcmp(o->kind, "auto") != 0 && !source_find(o->kind)) {
        rc = unknown(&m, GT_EUSAGE, "no such kind of price list", err);
    }
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = read_file(&m, path[i], chunk, err);
    }
    rc = rc ? rc : finish(&m, out, err);
    if (m.parser) {
        m.def->parse_abort(m.parser);
    }
    if (m.staging) {
        staging_discard(m.staging, err->text[0] ? err->text : gt_strerror(rc));
    }
    free(m.shown);
    free(m.head);
    free(chunk);
    return rc;
}

int import_file(const struct import_options *o, const char *path, struct import_result *out,
                struct gt_error *err)
{
    return import_files(o, &path, 1, out, err);
}

static int keep_head(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    struct import *m = ctx;
    if (m->head_len == 0) {
        pass_mark(&data, &len);
    }
    size_t n = HEAD_BYTES - m->head_len;
    n = n < len ? n : len;
    memcpy(m->head + m->head_len, data, n);
    m->head_len += n;
    return m->head_len < HEAD_BYTES ? 0 : gt_fail(err, GT_ELIMIT, "", "enough");
}

const struct source_def *import_recognise(const char *path)
{
    struct import m = {.path = path};
    struct unpack *u = NULL;
    int fd = -1;
    char *chunk = malloc(READ_BYTES);
    m.head = malloc(HEAD_BYTES);
    if (chunk && m.head && strcmp(path, "-") != 0 && open_input(path, &fd, NULL) == 0 &&
        unpack_new(path, UNPACKED_MAX, keep_head, &m, &u, NULL) == 0) {
        ssize_t n;
        while ((n = read(fd, chunk, READ_BYTES)) > 0 &&
               unpack_feed(u, chunk, (size_t)n, NULL) == 0) {
        }
    }
    const struct source_def *d = m.head_len > 0 ? recognise(&m) : NULL;
    if (fd > STDIN_FILENO) {
        close(fd);
    }
    unpack_free(u);
    free(m.head);
    free(chunk);
    return d;
}
