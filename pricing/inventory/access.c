/* What is known of reads: when keys were last read and how often, how often prefixes were, and what
 * Storage Class Analysis counted by class and age. Keys are kept as 128 bits of hash in 40 bytes a
 * slot, so that memory is bounded by their number alone: 3 million take 160 MiB (240 while the
 * table grows), 12.5 million, the most, 640 (960). */
#include "access.h"
#include "../sources/inflate.h"
#include "gputier/units.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_KEYS     12582912u /* 3/4 of 2^24 slots */
#define MOST_PREFIXES 1000000u
#define HEAD          4096u

struct slot {
    uint64_t h[2]; /* 0, 0 = free */
    struct access_use use;
};

int inventory_accesses_new(int64_t as_of, uint64_t max_bad, struct inventory_accesses **out,
                           struct gt_error *err)
{
    struct inventory_accesses *a = calloc(1, sizeof *a);
    struct inventory_options o = {.max_bad = max_bad, .as_of = as_of};
    int rc = a ? inventory_new(&o, &a->counts, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc < 0) {
        free(a);
        return rc;
    }
    a->as_of = as_of;
    a->stats.first = INT64_MAX;
    a->stats.last = GT_TIME_NONE;
    *out = a;
    return 0;
}

void inventory_accesses_free(struct inventory_accesses *a)
{
    if (a) {
        for (size_t i = 0; i < a->n_prefixes; i++) {
            free(a->prefix[i].text);
        }
        inventory_free(a->counts);
        free(a->prefix);
        free(a->slot);
        free(a);
    }
}

const struct inventory_access_stats *inventory_access_stats(struct inventory_accesses *a)
{
    const struct inventory_stats *s = inventory_stats(a->counts);
    a->stats.bad_rows = s->bad_rows;
    a->stats.first_bad_where = s->first_bad_where;
    a->stats.first_bad_text = s->first_bad_text;
    return &a->stats;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static void hash_key(const char *key, size_t len, uint64_t h[2])
{
    uint64_t a = 0x9ddfea08eb382d69u ^ len, b = 0xc2b2ae3d27d4eb4fu + len;
    for (size_t i = 0; i < len; i += 8) {
        uint64_t w = 0;
        memcpy(&w, key + i, len - i < 8 ? len - i : 8);
        a = fold(a ^ w, 0xa0761d6478bd642fu) + b;
        b = fold(b ^ w ^ 0x589965cc75374cc3u, 0xe7037ed1a0b428dbu) ^ a;
    }
    h[0] = fold(a ^ 0x8ebc6af09c88c6e3u, b | 1);
    h[1] = fold(b, a ^ 0x1d8e4e27c47d124fu) | 1; /* never a free slot */
}

static struct slot *place(struct slot *slot, size_t capacity, const uint64_t h[2])
{
    size_t at = h[0] & (capacity - 1);
    while (slot[at].h[1] != 0 && (slot[at].h[0] != h[0] || slot[at].h[1] != h[1])) {
        at = (at + 1) & (capacity - 1);
    }
    return &slot[at];
}

static int grow(struct inventory_accesses *a, struct gt_error *err)
{
    size_t n = a->capacity ? a->capacity * 2 : 1024;
    if (a->n_keys >= MOST_KEYS) {
        return gt_fail(err, GT_ELIMIT, "access",
                       "more than %u different keys were read: give reads by prefix instead (CSV "
                       "prefix,gets)",
                       MOST_KEYS);
    }
    struct slot *fresh = calloc(n, sizeof *fresh);
    if (!fresh) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < a->capacity; i++) {
        if (a->slot[i].h[1] != 0) {
            *place(fresh, n, a->slot[i].h) = a->slot[i];
        }
    }
    free(a->slot);
    a->slot = fresh;
    a->capacity = n;
    return 0;
}

int access_put(struct inventory_accesses *a, const char *key, size_t len,
               const struct access_use *use, struct gt_error *err)
{
    uint64_t h[2];
    int rc = a->n_keys * 4 >= a->capacity * 3 ? grow(a, err) : 0;
    if (rc < 0) {
        return rc;
    }
    hash_key(key, len, h);
    struct slot *s = place(a->slot, a->capacity, h);
    if (s->h[1] == 0) {
        *s = (struct slot){{h[0], h[1]}, *use};
        a->n_keys++;
        return 0;
    }
    s->use.last = use->last > s->use.last ? use->last : s->use.last;
    if (__builtin_add_overflow(s->use.gets, use->gets, &s->use.gets) ||
        __builtin_add_overflow(s->use.bytes, use->bytes, &s->use.bytes)) {
        return gt_fail(err, GT_ERANGE, "access", "a sum of reads passes 2^64");
    }
    return 0;
}

const struct access_use *access_find(const struct inventory_accesses *a, const char *key,
                                     size_t len)
{
    uint64_t h[2];
    if (a->n_keys == 0) {
        return NULL;
    }
    hash_key(key, len, h);
    const struct slot *s = place(a->slot, a->capacity, h);
    return s->h[1] ? &s->use : NULL;
}

int inventory_access_put(struct inventory_accesses *a, const char *key, size_t len, int64_t when,
                         struct gt_error *err)
{
    struct access_use use = {.last = when};
    return access_put(a, key, len, &use, err);
}

static int put_prefix(struct inventory_accesses *a, const char *text, size_t len, uint64_t gets,
                      struct gt_error *err)
{
    while (len > 0 && text[len - 1] == '/') {
        len--;
    }
    if (a->n_prefixes == MOST_PREFIXES) {
        return gt_fail(err, GT_ELIMIT, "access", "more than %u prefixes", MOST_PREFIXES);
    }
    if ((a->n_prefixes & (a->n_prefixes - 1)) == 0) { /* a power of two: full */
        size_t n = a->n_prefixes ? a->n_prefixes * 2 : 1;
        struct access_prefix *p = realloc(a->prefix, n * sizeof *p);
        if (!p) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        a->prefix = p;
    }
    char *copy = malloc(len + 1);
    if (!copy) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    a->prefix[a->n_prefixes++] = (struct access_prefix){copy, (double)gets};
    return 0;
}

/* One file of accesses on its way in. */
struct load {
    struct inventory_accesses *a;
    struct reader r;
    enum { FILE_UNKNOWN, FILE_LOG, FILE_CSV, FILE_ANALYSIS } kind;
    char head[HEAD];
    size_t head_len;
    const volatile int *cancel;
    int key, value; /* columns of a CSV */
    bool by_prefix, known;
    struct analysis_columns analysis;
};

static int header(struct reader *r, struct load *l, const struct csv_record *rec,
                  struct gt_error *err)
{
    l->key = l->value = -1;
    for (size_t i = 0; i < rec->n && i < CSV_FIELDS; i++) {
        if (csv_named(rec, i, "key") || csv_named(rec, i, "prefix")) {
            l->key = (int)i;
            l->by_prefix = csv_named(rec, i, "prefix");
        } else if (csv_named(rec, i, "last_access") || csv_named(rec, i, "gets") ||
                   csv_named(rec, i, "gets_30d")) {
            l->value = (int)i;
        }
    }
    l->known = true;
    return l->key >= 0 && l->value >= 0
               ? 0
               : gt_fail(err, GT_EPARSE, r->name,
                         "neither lines of an S3 access log, nor Storage Class Analysis, nor a "
                         "header key,last_access or prefix,gets");
}

/* key,last_access or prefix,gets: made by people, so no bad row is passed over. */
static int csv_access(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    struct load *l = r->state;
    char where[160];
    uint64_t gets;
    int64_t when;
    if (!l->known) {
        return header(r, l, rec, err);
    }
    snprintf(where, sizeof where, "%.120s:%llu", r->name, (unsigned long long)r->line);
    if (rec->n <= (size_t)l->key || rec->n <= (size_t)l->value) {
        return gt_fail(err, GT_EPARSE, where, "fewer fields than the header has");
    }
    const char *key = rec->field[l->key], *value = rec->field[l->value];
    size_t key_len = rec->len[l->key], value_len = rec->len[l->value];
    l->a->stats.rows++;
    if (l->by_prefix) {
        return digits_u64(value, value_len, &gets)
                   ? put_prefix(l->a, key, key_len, gets, err)
                   : gt_fail(err, GT_EPARSE, where, "gets is no whole number");
    }
    return instant(value, value_len, &when)
               ? inventory_access_put(l->a, key, key_len, when, err)
               : gt_fail(err, GT_EPARSE, where,
                         "last_access is neither ISO 8601 nor epoch seconds");
}

static int log_access(struct reader *r, const char *p, size_t len, struct gt_error *err)
{
    struct load *l = r->state;
    return access_log_line(l->a, r, p, len, err);
}

static int analysis_access(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    struct load *l = r->state;
    return access_analysis_row(l->a, &l->analysis, r, rec, err);
}

static int feed_as(struct load *l, const char *data, size_t len, bool last, struct gt_error *err)
{
    switch (l->kind) {
    case FILE_LOG:
        return split_feed(&l->r, '\n', data, len, last, log_access, err);
    case FILE_ANALYSIS:
        return csv_feed(&l->r, data, len, last, analysis_access, err);
    case FILE_CSV:
    case FILE_UNKNOWN:
        break;
    }
    return csv_feed(&l->r, data, len, last, csv_access, err);
}

static int flush_head(struct load *l, bool last, struct gt_error *err)
{
    const char *end = memchr(l->head, '\n', l->head_len);
    size_t len = end ? (size_t)(end - l->head) : l->head_len;
    l->kind = access_log_looks(l->head, len)                ? FILE_LOG
              : memmem(l->head, len, "GetRequestCount", 15) ? FILE_ANALYSIS
                                                            : FILE_CSV;
    bool mark = l->head_len >= 3 && memcmp(l->head, "\xef\xbb\xbf", 3) == 0;
    return feed_as(l, l->head + 3 * mark, l->head_len - 3 * mark, last, err);
}

static int sink(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    struct load *l = ctx;
    if (l->cancel && *l->cancel) {
        return gt_fail(err, GT_ECANCELLED, l->r.name, "interrupted");
    }
    if (l->kind == FILE_UNKNOWN) {
        size_t n = HEAD - l->head_len < len ? HEAD - l->head_len : len;
        memcpy(l->head + l->head_len, data, n);
        l->head_len += n;
        data += n;
        len -= n;
        int rc = l->head_len == HEAD ? flush_head(l, false, err) : 0;
        if (rc < 0 || len == 0) {
            return rc;
        }
    }
    return feed_as(l, data, len, false, err);
}

static int finish(struct load *l, struct gt_error *err)
{
    return l->kind == FILE_UNKNOWN ? flush_head(l, true, err) : feed_as(l, "", 0, true, err);
}

static void release(struct load *l)
{
    if (l) {
        free(l->r.hold);
        free(l->r.fields.at);
        free(l->r.key.at);
    }
    free(l);
}

static int pump(FILE *f, struct load *l, struct gt_error *err)
{
    static const size_t piece = 65536;
    struct unpack *u = NULL;
    char *data = malloc(piece);
    int rc = data ? unpack_new(l->r.name, 0, sink, l, &u, err)
                  : gt_fail(err, GT_ENOMEM, "", "out of memory");
    size_t n;
    while (rc == 0 && (n = fread(data, 1, piece, f)) > 0) {
        rc = unpack_feed(u, data, n, err);
    }
    if (rc == 0 && ferror(f)) {
        rc = errno == EINTR ? gt_fail(err, GT_ECANCELLED, l->r.name, "interrupted")
                            : gt_fail(err, GT_EIO, l->r.name, "%s", strerror(errno));
    }
    rc = rc < 0 ? rc : unpack_end(u, err);
    rc = rc < 0 ? rc : finish(l, err);
    unpack_free(u);
    free(data);
    return rc;
}

static int read_one(struct inventory_accesses *a, const char *path, const volatile int *cancel,
                    struct gt_error *err)
{
    struct load *l = calloc(1, sizeof *l);
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    uint64_t before = a->stats.rows;
    int rc = l ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    rc = rc < 0 || f ? rc : gt_fail(err, GT_ENOTFOUND, path, "%s", strerror(errno));
    if (rc == 0) {
        *l = (struct load){
            .a = a, .r = {.inv = a->counts, .name = path, .state = l}, .cancel = cancel};
        rc = pump(f, l, err);
    }
    if (rc == 0 && a->stats.rows == before && l->kind != FILE_LOG) {
        rc = gt_fail(err, GT_EPARSE, path, "no row in it");
    } else if (rc == 0 && l->kind == FILE_ANALYSIS && !a->stats.analysed) {
        rc = gt_fail(err, GT_EPARSE, path,
                     "no day within the %d before the day asked for (--as-of)", ACCESS_DAYS);
    }
    if (f && !standard) {
        fclose(f);
    }
    release(l);
    return rc;
}

int inventory_access_read_text(struct inventory_accesses *a, const char *name, const char *text,
                               size_t len, struct gt_error *err)
{
    struct load *l = calloc(1, sizeof *l);
    if (!l) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *l = (struct load){.a = a, .r = {.inv = a->counts, .name = name, .state = l}};
    int rc = sink(l, text, len, err);
    rc = rc < 0 ? rc : finish(l, err);
    release(l);
    return rc;
}

static int is_file(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* The vendor writes logs as many small files into one folder. */
static int read_folder(struct inventory_accesses *a, const char *path, const volatile int *cancel,
                       struct gt_error *err)
{
    struct dirent **list;
    int n = scandir(path, &list, is_file, alphasort), rc = 0, read = 0;
    if (n < 0) {
        return gt_fail(err, GT_EIO, path, "%s", strerror(errno));
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        struct stat st;
        int len = snprintf(name, sizeof name, "%s/%s", path, list[i]->d_name);
        free(list[i]);
        if (rc == 0 && len > 0 && (size_t)len < sizeof name && stat(name, &st) == 0 &&
            S_ISREG(st.st_mode) && st.st_size > 0) {
            rc = read_one(a, name, cancel, err);
            read++;
        }
    }
    free(list);
    return rc == 0 && read == 0 ? gt_fail(err, GT_EPARSE, path, "no file in this folder") : rc;
}

int inventory_access_read(struct inventory_accesses *a, const char *path,
                          const volatile int *cancel, struct gt_error *err)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode)
               ? read_folder(a, path, cancel, err)
               : read_one(a, path, cancel, err);
}
