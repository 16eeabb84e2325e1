/* Opens an inventory, tells its format by its content and streams it through the parser. Packed
 * files are unpacked on the way. */
#include "../sources/inflate.h"
#include "inventory_priv.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE        (1u << 18)
#define MANIFEST_MAX (8u << 20)

#define HEAD 65536u /* looked at before the format is told */

struct stream {
    struct reader r;
    struct told told;
    char *head;
    size_t head_len;
    struct histogram_columns histogram;
    struct json_list *json;
};

static int collect(struct reader *r, const char *data, size_t len, struct gt_error *err)
{
    if (r->held + len > MANIFEST_MAX) {
        return gt_fail(err, GT_ELIMIT, r->name, "the manifest is larger than 8 MiB");
    }
    char *q = realloc(r->hold, r->held + len + 1);
    if (!q) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    r->hold = q;
    memcpy(q + r->held, data, len);
    r->held += len;
    return 0;
}

static int feed_as(struct stream *s, const char *data, size_t len, bool last, struct gt_error *err)
{
    struct reader *r = &s->r;
    int rc = 0;
    switch (s->told.mode) {
    case MODE_FIND:
        return find_feed(r, data, len, last, err);
    case MODE_COLUMNS:
        r->state = &s->told.columns;
        r->separator = s->told.separator;
        return csv_feed(r, data, len, last, object_row, err);
    case MODE_HISTOGRAM:
        r->state = &s->histogram;
        return csv_feed(r, data, len, last, histogram_row, err);
    case MODE_JSON:
        rc = s->json ? 0 : json_list_new(r, &s->json, err);
        return rc < 0 ? rc : json_list_feed(s->json, data, len, last, err);
    case MODE_MANIFEST:
        rc = len ? collect(r, data, len, err) : 0;
        return rc < 0 || !last ? rc : read_manifest(r->inv, r->name, r->hold, r->held, err);
    case MODE_UNKNOWN:
        break;
    }
    return 0;
}

/* Pieces may be of any size: the format is told by the first HEAD bytes together, because a listing
 * says only somewhere in them whether its records end in NUL. */
static int feed(struct stream *s, const char *data, size_t len, bool last, struct gt_error *err)
{
    if (s->r.inv->o.cancel && *s->r.inv->o.cancel) {
        return gt_fail(err, GT_ECANCELLED, s->r.name, "interrupted");
    }
    if (s->head_len < HEAD && !s->head) {
        s->head = malloc(HEAD);
        if (!s->head) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
    }
    if (s->head_len < HEAD) {
        size_t n = HEAD - s->head_len < len ? HEAD - s->head_len : len;
        memcpy(s->head + s->head_len, data, n);
        s->head_len += n;
        data += n;
        len -= n;
        if (s->head_len < HEAD && !last) {
            return 0;
        }
        size_t head = s->head_len;
        s->head_len = HEAD; /* told, from here on bytes go straight through */
        int rc = head == 0 || s->told.mode != MODE_UNKNOWN
                     ? 0
                     : tell(&s->r.inv->o, s->r.name, s->head, head, &s->told, err);
        bool mark =
            head >= 3 && s->told.mode != MODE_FIND && memcmp(s->head, "\xef\xbb\xbf", 3) == 0;
        rc = rc < 0 || head == 0
                 ? rc
                 : feed_as(s, s->head + 3 * mark, head - 3 * mark, last && len == 0, err);
        if (rc < 0 || len == 0) {
            return rc;
        }
    }
    return s->told.mode == MODE_UNKNOWN ? 0 : feed_as(s, data, len, last, err);
}

static int sink(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    return len ? feed(ctx, data, len, false, err) : 0;
}

static struct inventory *root_of(struct inventory *inv)
{
    while (inv->parent) {
        inv = inv->parent;
    }
    return inv;
}

void progress_total(struct inventory *inv, const char *path)
{
    struct stat st;
    struct inventory *root = root_of(inv);
    if (root->o.progress && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        __atomic_add_fetch(&root->total, (uint64_t)st.st_size, __ATOMIC_RELAXED);
    }
}

/* Shown by whichever thread comes when nobody is showing. */
static void progress_add(struct inventory *inv, uint64_t bytes, uint64_t rows)
{
    struct inventory *root = root_of(inv);
    struct inventory_progress p = {
        .bytes = __atomic_add_fetch(&root->done, bytes, __ATOMIC_RELAXED),
        .rows = __atomic_add_fetch(&root->rows_done, rows, __ATOMIC_RELAXED),
        .total_bytes = __atomic_load_n(&root->total, __ATOMIC_RELAXED),
    };
    if (root->o.progress && pthread_mutex_trylock(&root->show) == 0) {
        root->o.progress(root->o.progress_ctx, &p);
        pthread_mutex_unlock(&root->show);
    }
}

static int pump(FILE *f, struct stream *s, struct gt_error *err)
{
    struct unpack *u = NULL;
    char *piece = malloc(PIECE);
    int rc = piece ? unpack_new(s->r.name, 0, sink, s, &u, err)
                   : gt_fail(err, GT_ENOMEM, "", "out of memory");
    size_t n;
    while (rc == 0 && (n = fread(piece, 1, PIECE, f)) > 0) {
        uint64_t rows = s->r.inv->stats.rows;
        rc = unpack_feed(u, piece, n, err);
        progress_add(s->r.inv, n, s->r.inv->stats.rows - rows);
    }
    if (rc == 0 && ferror(f)) {
        rc = errno == EINTR ? gt_fail(err, GT_ECANCELLED, s->r.name, "interrupted")
                            : gt_fail(err, GT_EIO, s->r.name, "%s", strerror(errno));
    }
    rc = rc < 0 ? rc : unpack_end(u, err);
    rc = rc < 0 ? rc : feed(s, "", 0, true, err);
    unpack_free(u);
    free(piece);
    return rc;
}

static void release(struct stream *s)
{
    json_list_free(s->json);
    free(s->r.hold);
    free(s->r.fields.at);
    free(s->r.key.at);
    free(s->head);
}

int read_file_as(struct inventory *inv, const char *path, const struct told *told,
                 struct gt_error *err)
{
    struct stream s = {.r = {.inv = inv, .name = path}};
    bool standard = strcmp(path, "-") == 0;
    if (told) {
        s.told = *told;
    }
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (!f) {
        return gt_fail(err, errno == ENOENT ? GT_ENOTFOUND : GT_EIO, path, "%s", strerror(errno));
    }
    int rc = pump(f, &s, err);
    if (!standard) {
        fclose(f);
    }
    release(&s);
    return rc;
}

int inventory_read_text(struct inventory *inv, const char *name, const char *text, size_t len,
                        struct gt_error *err)
{
    struct stream s = {.r = {.inv = inv, .name = name}};
    int rc = len ? feed(&s, text, len, false, err) : 0;
    rc = rc < 0 ? rc : feed(&s, "", 0, true, err);
    release(&s);
    return rc;
}
