/* Opens an inventory, tells its format by its content and streams it through the parser. Packed
 * files are unpacked on the way. */
#include "../sources/inflate.h"
#include "inventory_priv.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE        (1u << 18)
#define MANIFEST_MAX (8u << 20)

#define HEAD 65536u /* looked at before the format is told */

struct stream {
    struct reader r;
    int mode;
    char *head;
    size_t head_len;
    struct s3_columns s3;
    struct histogram_columns histogram;
};

/* A manifest is JSON; a histogram begins with its header line; the rest is a find listing. */
static int guess(struct stream *s, const char *data, size_t len, struct gt_error *err)
{
    const struct inventory_options *o = &s->r.inv->o;
    switch (o->format) {
    case INVENTORY_FIND:
        s->mode = MODE_FIND;
        return 0;
    case INVENTORY_HISTOGRAM:
        s->mode = MODE_HISTOGRAM;
        return 0;
    case INVENTORY_S3:
    case INVENTORY_AUTO:
        break;
    }
    size_t i = 0;
    while (i < len && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t')) {
        i++;
    }
    const char *line_end = memchr(data, '\n', len);
    size_t line = line_end ? (size_t)(line_end - data) : len;
    if (i < len && data[i] == '{') {
        s->mode = MODE_MANIFEST;
    } else if (o->file_schema) {
        s->mode = MODE_S3;
        return s3_schema(o->file_schema, &s->s3, err);
    } else if (o->format == INVENTORY_S3 ||
               (i < len && data[i] == '"' && len > 1 && !memmem(data, line, "prefix", 6))) {
        return gt_fail(err, GT_EUNSUPPORTED, s->r.name,
                       "an S3 Inventory CSV has no header: give the manifest.json beside it");
    } else {
        s->mode = memmem(data, line, "prefix", 6) && memmem(data, line, "objects", 7)
                      ? MODE_HISTOGRAM
                      : MODE_FIND;
    }
    return 0;
}

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
    switch (s->mode) {
    case MODE_FIND:
        return find_feed(r, data, len, last, err);
    case MODE_S3:
        r->state = &s->s3;
        return csv_feed(r, data, len, last, s3_row, err);
    case MODE_HISTOGRAM:
        r->state = &s->histogram;
        return csv_feed(r, data, len, last, histogram_row, err);
    default: {
        int rc = len ? collect(r, data, len, err) : 0;
        return rc < 0 || !last ? rc : read_manifest(r->inv, r->name, r->hold, r->held, err);
    }
    }
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
        int rc = head == 0 ? 0 : s->mode == MODE_UNKNOWN ? guess(s, s->head, head, err) : 0;
        rc = rc < 0 || head == 0 ? rc : feed_as(s, s->head, head, last && len == 0, err);
        if (rc < 0 || len == 0) {
            return rc;
        }
    }
    return s->mode == MODE_UNKNOWN ? 0 : feed_as(s, data, len, last, err);
}

static int sink(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    return len ? feed(ctx, data, len, false, err) : 0;
}

static int pump(FILE *f, struct stream *s, struct gt_error *err)
{
    struct unpack *u = NULL;
    char *piece = malloc(PIECE);
    int rc = piece ? unpack_new(s->r.name, 0, sink, s, &u, err)
                   : gt_fail(err, GT_ENOMEM, "", "out of memory");
    size_t n;
    while (rc == 0 && (n = fread(piece, 1, PIECE, f)) > 0) {
        rc = unpack_feed(u, piece, n, err);
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

int read_file_as(struct inventory *inv, const char *path, int mode, const void *state,
                 struct gt_error *err)
{
    struct stream s = {.r = {.inv = inv, .name = path}, .mode = mode};
    bool standard = strcmp(path, "-") == 0;
    if (mode == MODE_S3) {
        s.s3 = *(const struct s3_columns *)state;
    }
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (!f) {
        return gt_fail(err, errno == ENOENT ? GT_ENOTFOUND : GT_EIO, path, "%s", strerror(errno));
    }
    int rc = pump(f, &s, err);
    if (!standard) {
        fclose(f);
    }
    free(s.r.hold);
    free(s.head);
    return rc;
}

int inventory_read(struct inventory *inv, const char *path, struct gt_error *err)
{
    return read_file_as(inv, path, MODE_UNKNOWN, NULL, err);
}

int inventory_read_text(struct inventory *inv, const char *name, const char *text, size_t len,
                        struct gt_error *err)
{
    struct stream s = {.r = {.inv = inv, .name = name}};
    int rc = len ? feed(&s, text, len, false, err) : 0;
    rc = rc < 0 ? rc : feed(&s, "", 0, true, err);
    free(s.r.hold);
    free(s.head);
    return rc;
}
