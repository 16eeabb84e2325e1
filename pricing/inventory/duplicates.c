/* Equal objects by digest and size (duplicates.h). Notes are parted by the digest's first byte;
 * those of a part that do not fit its buffer go to one temporary file in pieces. Each part is then
 * read as often as it takes to have what belongs together in memory at once. Names of prefixes and
 * classes have ids of their own here, for a child's are given up when it empties itself. */
#include "duplicates.h"
#include "../http/blake3.h"
#include "gputier/units.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTS     256
#define PIECE     512                /* notes in a buffer */
#define PASS_MOST ((size_t)2 << 20)  /* notes looked at together: 80 MiB */
#define HOLD_MOST ((size_t)3 << 20)  /* in memory at once */
#define TEXT_MOST ((size_t)96 << 20) /* of names */

struct piece {
    off_t at;
    uint32_t n;
};
struct part {
    struct dup *buffer; /* PIECE */
    size_t n;
    struct piece *piece;
    size_t n_pieces, cap;
    uint64_t noted; /* in the pieces */
};
struct duplicates {
    const char *dir;
    int fd;
    off_t end;
    pthread_mutex_t lock; /* on all of it */
    struct part part[PARTS];
    struct arena *arena;
    struct intern *prefixes, *classes;
    struct duplicates_stats stats;
    struct cells found;
    struct inventory_row *rows;
    const struct inventory *inv;
    duplicate_rank *rank;
    void *ctx;
};

int duplicates_new(const char *dir, struct duplicates **out, struct gt_error *err)
{
    struct duplicates *d = calloc(1, sizeof *d);
    if (d) {
        d->arena = arena_new(TEXT_MOST);
        d->prefixes = d->arena ? intern_new(d->arena) : NULL;
        d->classes = d->arena ? intern_new(d->arena) : NULL;
        d->dir = d->arena ? arena_strdup(d->arena, dir) : NULL;
        d->fd = -1;
    }
    if (!d || !d->prefixes || !d->classes || !d->dir || pthread_mutex_init(&d->lock, NULL) != 0) {
        if (d) {
            arena_free(d->arena);
        }
        free(d);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *out = d;
    return 0;
}

void duplicates_free(struct duplicates *d)
{
    if (!d) {
        return;
    }
    if (d->fd >= 0) {
        close(d->fd);
    }
    for (size_t i = 0; i < PARTS; i++) {
        free(d->part[i].buffer);
        free(d->part[i].piece);
    }
    pthread_mutex_destroy(&d->lock);
    arena_free(d->arena);
    cells_free(&d->found);
    free(d->rows);
    free(d);
}

static int by_dup(const void *a, const void *b)
{
    const struct dup *x = a, *y = b;
    int c = memcmp(x->digest, y->digest, sizeof x->digest);
    c = c ? c : (x->size > y->size) - (x->size < y->size);
    c = c ? c : (int)x->parts - (int)y->parts;
    return c ? c : (x->cell > y->cell) - (x->cell < y->cell);
}

/* Same object in the same cell: one note; how many are left. Sorted afterwards. */
static size_t combine(struct dup *at, size_t n)
{
    size_t k = 0;
    if (n) {
        qsort(at, n, sizeof *at, by_dup);
    }
    for (size_t i = 0; i < n; i++) {
        if (k > 0 && by_dup(&at[k - 1], &at[i]) == 0 &&
            at[i].count <= UINT32_MAX - at[k - 1].count) {
            at[k - 1].count += at[i].count;
        } else {
            at[k++] = at[i];
        }
    }
    return k;
}

static int io_failed(const struct duplicates *d, const char *what, struct gt_error *err)
{
    return gt_fail(err, GT_EDEVICE, d->dir, "cannot %s the temporary file of duplicates: %s", what,
                   strerror(errno));
}

/* Without a name: it is gone with the process. */
static int open_file(struct duplicates *d, struct gt_error *err)
{
    d->fd = open(d->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (d->fd < 0) { /* a file system that has no such files */
        char path[4096];
        if (snprintf(path, sizeof path, "%s/gputier.XXXXXX", d->dir) < (int)sizeof path) {
            d->fd = mkostemp(path, O_CLOEXEC);
        }
        if (d->fd >= 0) {
            unlink(path);
        }
    }
    return d->fd < 0 ? io_failed(d, "create", err) : 0;
}

static int transfer(const struct duplicates *d, bool write, struct dup *at, size_t n, off_t from,
                    struct gt_error *err)
{
    char *p = (char *)at;
    size_t left = n * sizeof *at;
    while (left) {
        ssize_t got = write ? pwrite(d->fd, p, left, from) : pread(d->fd, p, left, from);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return io_failed(d, write ? "write" : "read", err);
        }
        p += got;
        from += got;
        left -= (size_t)got;
    }
    return 0;
}

/* A full buffer: alike notes become one; when that is not enough, to the file. */
static int spill(struct duplicates *d, struct part *p, struct gt_error *err)
{
    p->n = combine(p->buffer, p->n);
    if (p->n <= PIECE / 2) {
        return 0;
    }
    if (p->n_pieces == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        struct piece *more = realloc(p->piece, cap * sizeof *more);
        if (!more) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        p->piece = more;
        p->cap = cap;
    }
    int rc = d->fd >= 0 ? 0 : open_file(d, err);
    rc = rc ? rc : transfer(d, true, p->buffer, p->n, d->end, err);
    if (rc == 0) {
        p->piece[p->n_pieces++] = (struct piece){d->end, (uint32_t)p->n};
        p->noted += p->n;
        d->end += (off_t)(p->n * sizeof *p->buffer);
        p->n = 0;
    }
    return rc;
}

static int put(struct duplicates *d, const struct dup *note, struct gt_error *err)
{
    struct part *p = &d->part[note->digest[0]];
    if (!p->buffer) {
        p->buffer = malloc(PIECE * sizeof *p->buffer);
        if (!p->buffer) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
    }
    p->buffer[p->n++] = *note;
    return p->n < PIECE ? 0 : spill(d, p, err);
}

static uint32_t own_id(struct intern *to, const struct intern *from, uint32_t id)
{
    const char *text = intern_text(from, id);
    return intern_add(to, text, strlen(text));
}

int dup_flush(struct inventory *inv, struct gt_error *err)
{
    struct dup_batch *b = inv->batch;
    struct duplicates *d = inv->o.duplicates;
    if (!b) {
        return 0;
    }
    int rc = 0;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < b->n && rc == 0; i++) {
        uint64_t c = b->at[i].cell;
        if (b->at[i].parts == DUP_KEY) {
            rc = put(d, &b->at[i], err);
            continue;
        }
        uint32_t prefix = own_id(d->prefixes, inv->prefixes, cell_prefix(c));
        uint32_t class_id = own_id(d->classes, inv->classes, cell_class(c));
        if (prefix == UINT32_MAX || class_id > CELL_CLASSES) {
            rc = gt_fail(err, GT_ELIMIT, "",
                         "more names of prefixes than fit: use a smaller "
                         "--depth");
            break;
        }
        b->at[i].cell = cell_key(prefix, class_id, cell_size(c), cell_age(c), cell_idle(c), true);
        rc = put(d, &b->at[i], err);
    }
    d->stats.compared += b->stats.compared;
    d->stats.multipart += b->stats.multipart;
    d->stats.opaque += b->stats.opaque;
    d->stats.without += b->stats.without;
    d->stats.untold = d->stats.untold || b->stats.untold;
    pthread_mutex_unlock(&d->lock);
    b->n = 0;
    b->stats = (struct duplicates_stats){0};
    return rc;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int base64(char c)
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(all, c) : NULL;
    return p ? (int)(p - all) : -1;
}

/* "d41d8…", "d41d8…-17" (of so many parts), or base64, in quotes or not. */
static bool digest_of(const char *s, size_t len, struct dup *out)
{
    if (len >= 2 && s[0] == '"' && s[len - 1] == '"') {
        s++;
        len -= 2;
    }
    if (len == 24 && s[22] == '=' && s[23] == '=') {
        uint32_t bits = 0;
        size_t k = 0;
        for (size_t i = 0, have = 0; i < 22; i++) {
            int v = base64(s[i]);
            if (v < 0) {
                return false;
            }
            bits = bits << 6 | (uint32_t)v;
            have += 6;
            if (have >= 8 && k < sizeof out->digest) {
                have -= 8;
                out->digest[k++] = (uint8_t)(bits >> have);
            }
        }
        return true;
    }
    for (size_t i = 0; i < 16; i++) {
        if (len < 32 || hex(s[2 * i]) < 0 || hex(s[2 * i + 1]) < 0) {
            return false;
        }
        out->digest[i] = (uint8_t)(hex(s[2 * i]) << 4 | hex(s[2 * i + 1]));
    }
    uint64_t parts = 0;
    bool many = len > 33 && s[32] == '-' && digits_u64(s + 33, len - 33, &parts) && parts > 0 &&
                parts <= 10000;
    out->parts = (uint16_t)parts;
    return len == 32 || many;
}

static int have_batch(struct inventory *inv, struct gt_error *err)
{
    inv->batch = inv->batch ? inv->batch : calloc(1, sizeof *inv->batch);
    return inv->batch ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

int dup_marker(struct inventory *inv, const char *key, size_t len, bool latest,
               struct gt_error *err)
{
    struct blake3 h;
    unsigned char hash[32];
    struct dup note = {.cell = latest, .count = 1, .parts = DUP_KEY};
    int rc = have_batch(inv, err);
    if (rc) {
        return rc;
    }
    blake3_init(&h);
    blake3_add(&h, key, len);
    blake3_end(&h, hash);
    memcpy(note.digest, hash, sizeof note.digest);
    inv->batch->at[inv->batch->n++] = note;
    return inv->batch->n < DUP_BATCH ? 0 : dup_flush(inv, err);
}

int dup_note(struct inventory *inv, const struct object *ob, uint64_t cell, struct gt_error *err)
{
    if (!ob->is_latest) { /* a saving of its own; a delete marker may hide it */
        return dup_marker(inv, ob->key, ob->key_len, false, err);
    }
    int rc = ob->size ? have_batch(inv, err) : 0;
    if (rc || ob->size == 0) {
        return rc;
    }
    struct dup_batch *b = inv->batch;
    struct dup note = {.size = ob->size, .cell = cell, .count = 1};
    b->stats.untold = b->stats.untold || ob->encryption_untold;
    if (ob->opaque) {
        b->stats.opaque++;
    } else if (!digest_of(ob->digest, ob->digest_len, &note)) {
        b->stats.without++;
    } else {
        b->stats.compared++;
        b->stats.multipart += note.parts > 0;
        b->at[b->n++] = note;
    }
    return b->n < DUP_BATCH ? 0 : dup_flush(inv, err);
}

/* Which copy of a set stays: the same for any order of reading. */
static bool rather(const struct duplicates *d, uint64_t x, uint64_t y)
{
    int c = d->rank(d->ctx, intern_text(d->classes, cell_class(x))) -
            d->rank(d->ctx, intern_text(d->classes, cell_class(y)));
    c = c ? c
          : strcmp(intern_text(d->classes, cell_class(x)), intern_text(d->classes, cell_class(y)));
    c = c ? c
          : strcmp(intern_text(d->prefixes, cell_prefix(x)),
                   intern_text(d->prefixes, cell_prefix(y)));
    return c ? c < 0 : (x & 0xffff) < (y & 0xffff);
}

static int add_set(struct duplicates *d, const struct dup *at, size_t n, struct gt_error *err)
{
    uint64_t all = 0, size = at->size;
    size_t stays = 0;
    if (at->parts == DUP_KEY) {
        d->stats.lone_markers += n == 1 && at->count == 1 && at->cell == 1;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        all += at[i].count;
        stays = i > 0 && rather(d, at[i].cell, at[stays].cell) ? i : stays;
    }
    for (size_t i = 0; all > 1 && i < n; i++) {
        uint64_t more = at[i].count - (i == stays), bytes, least;
        if (more == 0) {
            continue;
        }
        struct cell *c = cells_get(&d->found, at[i].cell);
        if (!c) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        if (__builtin_mul_overflow(size, more, &bytes) ||
            __builtin_mul_overflow(size > 131072 ? size : 131072, more, &least) ||
            __builtin_add_overflow(c->bytes, bytes, &c->bytes) ||
            __builtin_add_overflow(c->min128k, least, &c->min128k)) {
            return gt_fail(err, GT_ERANGE, "", "a sum of bytes passes 2^64");
        }
        c->objects += more;
    }
    return 0;
}

/* Notes of one pass, taken from a piece; alike ones become one when room ends. */
static int take(struct dup *hold, size_t *held, const struct dup *at, size_t n, uint32_t passes,
                uint32_t pass, struct gt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t w;
        memcpy(&w, at[i].digest + 1, sizeof w);
        if (w % passes != pass) {
            continue;
        }
        if (*held == HOLD_MOST) {
            *held = combine(hold, *held);
            if (*held > HOLD_MOST / 4 * 3) {
                return gt_fail(err, GT_ELIMIT, "",
                               "too many equal objects in too many prefixes: use a smaller "
                               "--depth");
            }
        }
        hold[(*held)++] = at[i];
    }
    return 0;
}

static int look_through(struct duplicates *d, struct part *p, struct dup *hold,
                        struct gt_error *err)
{
    struct dup piece[PIECE];
    uint32_t passes = (uint32_t)((p->noted + p->n) / PASS_MOST + 1);
    int rc = 0;
    for (uint32_t pass = 0; pass < passes && rc == 0; pass++) {
        size_t held = 0;
        for (size_t i = 0; i < p->n_pieces && rc == 0; i++) {
            rc = transfer(d, false, piece, p->piece[i].n, p->piece[i].at, err);
            rc = rc ? rc : take(hold, &held, piece, p->piece[i].n, passes, pass, err);
        }
        rc = rc || !p->n ? rc : take(hold, &held, p->buffer, p->n, passes, pass, err);
        held = combine(hold, held);
        for (size_t from = 0, to; from < held && rc == 0; from = to) {
            for (to = from + 1; to < held; to++) {
                if (memcmp(hold[from].digest, hold[to].digest, 16) != 0 ||
                    hold[from].size != hold[to].size || hold[from].parts != hold[to].parts) {
                    break;
                }
            }
            rc = add_set(d, hold + from, to - from, err);
        }
        if (rc == 0 && d->inv->o.cancel && *d->inv->o.cancel) {
            rc = gt_fail(err, GT_ECANCELLED, "", "interrupted");
        }
    }
    return rc;
}

static int by_row(const void *a, const void *b)
{
    const struct inventory_row *x = a, *y = b;
    int c = strcmp(x->prefix, y->prefix);
    c = c ? c : strcmp(x->storage_class, y->storage_class);
    c = c ? c : (x->size_lo > y->size_lo) - (x->size_lo < y->size_lo);
    c = c ? c : x->age_lo_days - y->age_lo_days;
    return c ? c : x->idle_lo_days - y->idle_lo_days;
}

static int make_rows(struct duplicates *d, struct gt_error *err)
{
    d->rows = calloc(d->found.n + 1, sizeof *d->rows);
    if (!d->rows) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < d->found.n; i++) {
        const struct cell *c = &d->found.at[i];
        d->rows[i] = (struct inventory_row){
            .prefix = intern_text(d->prefixes, cell_prefix(c->key)),
            .storage_class = intern_text(d->classes, cell_class(c->key)),
            .is_latest = true,
            .size_lo = d->inv->o.size_edge[cell_size(c->key)],
            .age_lo_days = d->inv->o.age_edge[cell_age(c->key)],
            .idle_lo_days = d->inv->o.age_edge[cell_idle(c->key)],
            .objects = c->objects,
            .bytes = c->bytes,
            .bytes_min128k = c->min128k,
            .gets_30d = -1,
            .bytes_read_30d = -1,
        };
    }
    qsort(d->rows, d->found.n, sizeof *d->rows, by_row);
    return 0;
}

int inventory_duplicates(struct inventory *inv, duplicate_rank *rank, void *ctx,
                         const struct inventory_row **rows, size_t *n,
                         struct duplicates_stats *stats, struct gt_error *err)
{
    struct duplicates *d = inv->o.duplicates;
    int rc = dup_flush(inv, err);
    struct dup *hold = rc ? NULL : malloc(HOLD_MOST * sizeof *hold);
    d->inv = inv;
    d->rank = rank;
    d->ctx = ctx;
    if (rc == 0 && !hold) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < PARTS && rc == 0; i++) {
        rc = look_through(d, &d->part[i], hold, err);
    }
    free(hold);
    rc = rc ? rc : make_rows(d, err);
    *rows = d->rows;
    *n = d->found.n;
    *stats = d->stats;
    return rc;
}
