/* The histogram of R-IM-02: cells in an open-addressing table, prefixes and classes interned. */
#include "gputier/units.h"
#include "inventory_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    uint64_t objects, bytes, min128k;
    double gets, read;
    uint32_t prefix, class_id;
    uint8_t size, age, idle, latest;
    bool used;
};

static const uint64_t default_sizes[] = {0,      1,       4096,     40960,     65536,
                                         131072, 1048576, 16777216, 134217728, 1073741824};
static const int default_ages[] = {0, 30, 60, 90, 180, 365};

static int by_key(const void *a, const void *b)
{
    const struct inventory_access *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->key, y->key, n);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

int inventory_new(const struct inventory_options *o, struct inventory **out, struct gt_error *err)
{
    struct inventory *inv = calloc(1, sizeof *inv);
    if (!inv) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    inv->o = *o;
    if (o->n_size_edges == 0) {
        inv->o.size_edge = default_sizes;
        inv->o.n_size_edges = sizeof default_sizes / sizeof *default_sizes;
    }
    if (o->n_age_edges == 0) {
        inv->o.age_edge = default_ages;
        inv->o.n_age_edges = sizeof default_ages / sizeof *default_ages;
    }
    if (inv->o.n_size_edges > INVENTORY_EDGES || inv->o.n_age_edges > INVENTORY_EDGES) {
        free(inv);
        return gt_fail(err, GT_ERANGE, "edges", "at most %d edges", INVENTORY_EDGES);
    }
    inv->o.max_cells = o->max_cells ? o->max_cells : 4000000;
    inv->arena = arena_new(0);
    inv->classes = inv->arena ? intern_new(inv->arena) : NULL;
    inv->prefixes = inv->arena ? intern_new(inv->arena) : NULL;
    inv->capacity = 1024;
    inv->table = calloc(inv->capacity, sizeof *inv->table);
    inv->access = calloc(o->n_access ? o->n_access : 1, sizeof *inv->access);
    if (!inv->classes || !inv->prefixes || !inv->table || !inv->access) {
        inventory_free(inv);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (o->n_access) {
        memcpy(inv->access, o->access, o->n_access * sizeof *inv->access);
        qsort(inv->access, o->n_access, sizeof *inv->access, by_key);
    }
    inv->last_len = SIZE_MAX;
    *out = inv;
    return 0;
}

void inventory_free(struct inventory *inv)
{
    if (inv) {
        arena_free(inv->arena);
        free(inv->table);
        free(inv->access);
        free(inv->rows);
        free(inv);
    }
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return h * 0xd6e8feb86659fd93u;
}

static uint64_t hash_of(const struct cell *c)
{
    uint64_t a = (uint64_t)c->prefix << 32 | c->class_id;
    uint64_t b =
        (uint64_t)c->size << 24 | (uint64_t)c->age << 16 | (uint64_t)c->idle << 8 | c->latest;
    return mix(a ^ mix(b));
}

static bool same(const struct cell *a, const struct cell *b)
{
    return a->prefix == b->prefix && a->class_id == b->class_id && a->size == b->size &&
           a->age == b->age && a->idle == b->idle && a->latest == b->latest;
}

static int grow(struct inventory *inv)
{
    size_t n = inv->capacity * 2;
    struct cell *t = calloc(n, sizeof *t);
    if (!t) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < inv->capacity; i++) {
        if (inv->table[i].used) {
            size_t at = hash_of(&inv->table[i]) & (n - 1);
            while (t[at].used) {
                at = (at + 1) & (n - 1);
            }
            t[at] = inv->table[i];
        }
    }
    free(inv->table);
    inv->table = t;
    inv->capacity = n;
    return 0;
}

/* The cell equal to *like, made when missing. */
static int find_cell(struct inventory *inv, const struct cell *like, struct cell **out,
                     struct gt_error *err)
{
    if (inv->n_cells * 4 >= inv->capacity * 3 && grow(inv) < 0) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    size_t at = hash_of(like) & (inv->capacity - 1);
    while (inv->table[at].used && !same(&inv->table[at], like)) {
        at = (at + 1) & (inv->capacity - 1);
    }
    if (!inv->table[at].used) {
        if (inv->n_cells >= inv->o.max_cells) {
            return gt_fail(err, GT_ELIMIT, "", "more than %zu cells: use a smaller --depth",
                           inv->o.max_cells);
        }
        inv->table[at] = *like;
        inv->table[at].used = true;
        inv->table[at].gets = -1;
        inv->table[at].read = -1;
        inv->n_cells++;
    }
    *out = &inv->table[at];
    return 0;
}

static int add_u64(uint64_t *sum, uint64_t v, struct gt_error *err)
{
    if (__builtin_add_overflow(*sum, v, sum)) {
        return gt_fail(err, GT_ERANGE, "", "a sum of objects or bytes passes 2^64");
    }
    return 0;
}

/* Length of the first `depth` directory components with their slash; a leading "./" or "/" is not
 * part of a name. */
static const char *prefix_of(const char *key, size_t len, int depth, size_t *out)
{
    const char *end = key + len;
    while (end - key >= 2 && key[0] == '.' && key[1] == '/') {
        key += 2;
    }
    while (key < end && *key == '/') {
        key++;
    }
    const char *p = key;
    for (int d = 0; d < depth; d++) {
        const char *slash = memchr(p, '/', (size_t)(end - p));
        if (!slash) {
            break;
        }
        p = slash + 1;
    }
    *out = (size_t)(p - key);
    return key;
}

static uint8_t bucket_u64(const uint64_t *edge, size_t n, uint64_t v)
{
    size_t i = n;
    while (i > 1 && edge[i - 1] > v) {
        i--;
    }
    return (uint8_t)(i - 1);
}

static uint8_t bucket_days(const struct inventory *inv, int64_t when)
{
    int64_t days = inv->o.as_of > when ? (inv->o.as_of - when) / 86400 : 0;
    size_t i = inv->o.n_age_edges;
    while (i > 1 && inv->o.age_edge[i - 1] > days) {
        i--;
    }
    return (uint8_t)(i - 1);
}

static int64_t access_of(const struct inventory *inv, const struct object *ob)
{
    int64_t idle = ob->modified;
    if (ob->accessed != GT_TIME_NONE && ob->accessed > idle) {
        idle = ob->accessed;
    }
    if (inv->o.n_access) {
        struct inventory_access want = {.key = ob->key, .len = ob->key_len};
        const struct inventory_access *a =
            bsearch(&want, inv->access, inv->o.n_access, sizeof want, by_key);
        if (a && a->when != GT_TIME_NONE && a->when > idle) {
            idle = a->when;
        }
    }
    return idle;
}

static uint32_t prefix_id(struct inventory *inv, const char *prefix, size_t len)
{
    if (len == inv->last_len && memcmp(inv->last_prefix, prefix, len) == 0) {
        return inv->last_id;
    }
    uint32_t id = intern_add(inv->prefixes, prefix, len);
    if (len <= sizeof inv->last_prefix) {
        memcpy(inv->last_prefix, prefix, len);
        inv->last_len = len;
        inv->last_id = id;
    }
    return id;
}

int aggregate_object(struct inventory *inv, const struct object *ob, struct gt_error *err)
{
    size_t len;
    const char *prefix = prefix_of(ob->key, ob->key_len, inv->o.depth, &len);
    struct cell like = {
        .prefix = prefix_id(inv, prefix, len),
        .class_id = intern_add(inv->classes, ob->storage_class, ob->class_len),
        .size = bucket_u64(inv->o.size_edge, inv->o.n_size_edges, ob->size),
        .age = bucket_days(inv, ob->aged == GT_TIME_NONE ? ob->modified : ob->aged),
        .idle = bucket_days(inv, access_of(inv, ob)),
        .latest = ob->is_latest,
    };
    if (like.prefix == UINT32_MAX || like.class_id == UINT32_MAX) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct cell *c;
    int rc = find_cell(inv, &like, &c, err);
    if (rc == 0) {
        c->objects++;
        inv->stats.objects++;
        rc = add_u64(&c->bytes, ob->size, err);
        rc = rc < 0 ? rc : add_u64(&c->min128k, ob->size > 131072 ? ob->size : 131072, err);
        rc = rc < 0 ? rc : add_u64(&inv->stats.bytes, ob->size, err);
    }
    return rc;
}

int aggregate_row(struct inventory *inv, const struct inventory_row *r, size_t prefix_len,
                  struct gt_error *err)
{
    struct cell like = {
        .prefix = intern_add(inv->prefixes, r->prefix, prefix_len),
        .class_id = intern_add(inv->classes, r->storage_class, strlen(r->storage_class)),
        .size = bucket_u64(inv->o.size_edge, inv->o.n_size_edges, r->size_lo),
        .latest = r->is_latest,
    };
    like.age = bucket_days(inv, inv->o.as_of - (int64_t)r->age_lo_days * 86400);
    like.idle = bucket_days(inv, inv->o.as_of - (int64_t)r->idle_lo_days * 86400);
    if (like.prefix == UINT32_MAX || like.class_id == UINT32_MAX) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct cell *c;
    int rc = find_cell(inv, &like, &c, err);
    rc = rc < 0 ? rc : add_u64(&c->objects, r->objects, err);
    rc = rc < 0 ? rc : add_u64(&c->bytes, r->bytes, err);
    rc = rc < 0 ? rc : add_u64(&c->min128k, r->bytes_min128k, err);
    rc = rc < 0 ? rc : add_u64(&inv->stats.objects, r->objects, err);
    rc = rc < 0 ? rc : add_u64(&inv->stats.bytes, r->bytes, err);
    if (rc == 0 && r->gets_30d >= 0) {
        c->gets = (c->gets < 0 ? 0 : c->gets) + r->gets_30d;
    }
    if (rc == 0 && r->bytes_read_30d >= 0) {
        c->read = (c->read < 0 ? 0 : c->read) + r->bytes_read_30d;
    }
    return rc;
}

static int by_row(const void *a, const void *b)
{
    const struct inventory_row *x = a, *y = b;
    int c = strcmp(x->prefix, y->prefix);
    c = c ? c : strcmp(x->storage_class, y->storage_class);
    c = c ? c : x->is_latest - y->is_latest;
    c = c ? c : (x->size_lo > y->size_lo) - (x->size_lo < y->size_lo);
    c = c ? c : x->age_lo_days - y->age_lo_days;
    return c ? c : x->idle_lo_days - y->idle_lo_days;
}

/* Reads of prefixes over their current objects; rows are sorted, so a prefix's rows lie together.
 * A prefix without an entry was not read. */
static int share_gets(struct inventory *inv, size_t n, struct gt_error *err)
{
    bool any = false, met = false;
    for (size_t i = 0; i < inv->o.n_access; i++) {
        any = any || inv->access[i].when == GT_TIME_NONE;
    }
    for (size_t i = 0, end; any && i < n; i = end) {
        const char *prefix = inv->rows[i].prefix;
        struct inventory_access want = {.key = prefix, .len = strlen(prefix)};
        want.len -= want.len > 0 && prefix[want.len - 1] == '/';
        const struct inventory_access *a =
            bsearch(&want, inv->access, inv->o.n_access, sizeof want, by_key);
        met = met || a;
        double objects = 0;
        for (end = i; end < n && strcmp(inv->rows[end].prefix, prefix) == 0; end++) {
            objects += inv->rows[end].is_latest ? (double)inv->rows[end].objects : 0;
        }
        for (size_t k = i; k < end; k++) {
            struct inventory_row *r = &inv->rows[k];
            bool read = a && r->is_latest && objects > 0;
            r->gets_30d = read ? a->gets * (double)r->objects / objects : 0;
        }
    }
    return any && !met && n > 0
               ? gt_fail(err, GT_EPARSE, "access",
                         "none of its prefixes occurs; at this depth they look like '%.100s'",
                         inv->rows[n - 1].prefix)
               : 0;
}

int inventory_rows(struct inventory *inv, const struct inventory_row **rows, size_t *n,
                   struct gt_error *err)
{
    if (inv->rows && inv->made_at == inv->stats.objects) {
        *rows = inv->rows; /* nothing came in since: the accesses need not live longer */
        *n = inv->n_cells;
        return 0;
    }
    free(inv->rows);
    inv->rows = calloc(inv->n_cells ? inv->n_cells : 1, sizeof *inv->rows);
    if (!inv->rows) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    size_t at = 0;
    for (size_t i = 0; i < inv->capacity; i++) {
        const struct cell *c = &inv->table[i];
        if (c->used) {
            inv->rows[at++] = (struct inventory_row){
                .prefix = intern_text(inv->prefixes, c->prefix),
                .storage_class = intern_text(inv->classes, c->class_id),
                .is_latest = c->latest,
                .size_lo = inv->o.size_edge[c->size],
                .age_lo_days = inv->o.age_edge[c->age],
                .idle_lo_days = inv->o.age_edge[c->idle],
                .objects = c->objects,
                .bytes = c->bytes,
                .bytes_min128k = c->min128k,
                .gets_30d = c->gets,
                .bytes_read_30d = c->read,
            };
        }
    }
    qsort(inv->rows, at, sizeof *inv->rows, by_row);
    int rc = share_gets(inv, at, err);
    if (rc < 0) {
        free(inv->rows);
        inv->rows = NULL;
        return rc;
    }
    inv->made_at = inv->stats.objects;
    *rows = inv->rows;
    *n = at;
    return 0;
}

const struct inventory_stats *inventory_stats(const struct inventory *inv)
{
    return &inv->stats;
}

int bad_row(struct inventory *inv, const char *file, uint64_t line, const char *text,
            struct gt_error *err)
{
    struct inventory_stats *s = &inv->stats;
    if (s->bad_rows++ == 0) {
        snprintf(s->first_bad_where, sizeof s->first_bad_where, "%s:%llu", file,
                 (unsigned long long)line);
        snprintf(s->first_bad_text, sizeof s->first_bad_text, "%s", text);
    }
    if (s->bad_rows > inv->o.max_bad) {
        char where[160];
        snprintf(where, sizeof where, "%s:%llu", file, (unsigned long long)line);
        return gt_fail(err, GT_EPARSE, where, "%s; more than %llu bad rows (first: %s)", text,
                       (unsigned long long)inv->o.max_bad, s->first_bad_where);
    }
    return 0;
}
