/* Objects to the histogram of R-IM-02. Files are read by one inventory each, at most so many at a
 * time as the team has threads, and joined into the one that the caller holds; a child empties
 * itself into it when it grows, so that memory is of one table of cells and no more. Sums are whole
 * numbers: the result is the same for any number of threads. */
#include "access.h"
#include "duplicates.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MOST  1000000
#define TEXT_MOST   ((size_t)96 << 20) /* of prefixes and classes */
#define CHILD_CELLS 65536
#define CHILD_TEXT  ((size_t)8 << 20)

static const uint64_t default_sizes[] = {0,      1,       4096,     40960,     65536,
                                         131072, 1048576, 16777216, 134217728, 1073741824};
static const int default_ages[] = {0, 30, 60, 90, 180, 365};

/* Names and their ids, empty. */
static bool begin_text(struct inventory *inv)
{
    arena_free(inv->arena);
    inv->arena = arena_new(TEXT_MOST);
    inv->classes = inv->arena ? intern_new(inv->arena) : NULL;
    inv->prefixes = inv->arena ? intern_new(inv->arena) : NULL;
    memset(inv->seen_prefix, 0, sizeof inv->seen_prefix);
    memset(inv->seen_class, 0, sizeof inv->seen_class);
    return inv->classes && inv->prefixes;
}

static void begin_edges(struct inventory *inv)
{
    for (size_t i = 1; i < inv->o.n_size_edges; i++) {
        inv->size_from[i - 1] = inv->o.size_edge[i];
    }
    for (size_t i = 1; i < inv->o.n_age_edges; i++) {
        inv->age_from[i - 1] = (int64_t)inv->o.age_edge[i] * 86400;
    }
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
    inv->o.max_cells = o->max_cells ? o->max_cells : CELLS_MOST;
    begin_edges(inv);
    if (!begin_text(inv) || pthread_mutex_init(&inv->lock, NULL) != 0 ||
        pthread_mutex_init(&inv->show, NULL) != 0) {
        arena_free(inv->arena);
        free(inv);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *out = inv;
    return 0;
}

void inventory_free(struct inventory *inv)
{
    if (inv) {
        pthread_mutex_destroy(&inv->lock);
        pthread_mutex_destroy(&inv->show);
        arena_free(inv->arena);
        cells_free(&inv->cells);
        free(inv->rows);
        free(inv->batch);
        free(inv);
    }
}

int inventory_child(struct inventory *parent, struct inventory **out, struct gt_error *err)
{
    struct inventory_options o = parent->o;
    o.team = NULL;
    int rc = inventory_new(&o, out, err);
    if (rc == 0) {
        (*out)->parent = parent;
    }
    return rc;
}

static int text_full(struct gt_error *err)
{
    return gt_fail(err, GT_ELIMIT, "",
                   "the names of prefixes take more than %zu MiB: use a smaller --depth",
                   TEXT_MOST >> 20);
}

static int find_cell(struct inventory *inv, uint64_t key, struct cell **out, struct gt_error *err)
{
    *out = cells_get(&inv->cells, key);
    if (!*out) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return inv->cells.n <= inv->o.max_cells
               ? 0
               : gt_fail(err, GT_ELIMIT, "", "more than %zu cells: use a smaller --depth",
                         inv->o.max_cells);
}

static int add_u64(uint64_t *sum, uint64_t v, struct gt_error *err)
{
    if (__builtin_add_overflow(*sum, v, sum)) {
        return gt_fail(err, GT_ERANGE, "", "a sum of objects or bytes passes 2^64");
    }
    return 0;
}

static int add_cell(struct cell *to, uint64_t objects, uint64_t bytes, uint64_t min128k,
                    struct gt_error *err)
{
    int rc = add_u64(&to->objects, objects, err);
    rc = rc ? rc : add_u64(&to->bytes, bytes, err);
    return rc ? rc : add_u64(&to->min128k, min128k, err);
}

static int add_reads(struct inventory *inv, const struct cell *cell, double gets, double bytes,
                     struct gt_error *err)
{
    if (gets < 0 && bytes < 0) {
        return 0;
    }
    struct cell_reads *r = cells_reads(&inv->cells, cell);
    if (!r) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (gets >= 0) {
        r->gets = (r->gets < 0 ? 0 : r->gets) + gets;
    }
    if (bytes >= 0) {
        r->bytes = (r->bytes < 0 ? 0 : r->bytes) + bytes;
    }
    return 0;
}

/* Ids of the parent for those of the child, each looked up once; 0 = not yet. */
static int translate(struct intern *to, const struct intern *from, uint32_t id, uint32_t *map,
                     struct gt_error *err)
{
    if (map[id] == 0 && id != 0) {
        const char *text = intern_text(from, id);
        map[id] = intern_add(to, text, strlen(text));
    }
    return map[id] == UINT32_MAX ? text_full(err) : 0;
}

static int give_cells(struct inventory *child, struct inventory *parent, uint32_t *prefixes,
                      uint32_t *classes, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < child->cells.n; i++) {
        const struct cell *c = &child->cells.at[i];
        uint32_t prefix = cell_prefix(c->key), class_id = cell_class(c->key);
        struct cell *to;
        rc = translate(parent->prefixes, child->prefixes, prefix, prefixes, err);
        rc = rc ? rc : translate(parent->classes, child->classes, class_id, classes, err);
        if (rc == 0 && classes[class_id] > CELL_CLASSES) {
            rc = gt_fail(err, GT_ELIMIT, "", "more than %d storage classes", CELL_CLASSES);
        }
        rc = rc ? rc
                : find_cell(parent,
                            cell_key(prefixes[prefix], classes[class_id], cell_size(c->key),
                                     cell_age(c->key), cell_idle(c->key), cell_latest(c->key)),
                            &to, err);
        rc = rc ? rc : add_cell(to, c->objects, c->bytes, c->min128k, err);
        const struct cell_reads *r = child->cells.reads ? &child->cells.reads[i] : NULL;
        rc = rc || !r ? rc : add_reads(parent, to, r->gets, r->bytes, err);
    }
    return rc;
}

int inventory_give(struct inventory *child, struct gt_error *err)
{
    struct inventory *parent = child->parent;
    uint32_t *prefixes = calloc(intern_count(child->prefixes), sizeof *prefixes);
    uint32_t *classes = calloc(intern_count(child->classes), sizeof *classes);
    int rc = prefixes && classes ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    rc = rc ? rc : dup_flush(child, err);
    if (rc == 0) {
        pthread_mutex_lock(&parent->lock);
        rc = give_cells(child, parent, prefixes, classes, err);
        pthread_mutex_unlock(&parent->lock);
    }
    free(prefixes);
    free(classes);
    cells_clear(&child->cells);
    return rc ? rc : begin_text(child) ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
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

/* Edges that v has reached, all compared: sizes and times come in no order that a processor could
 * learn. */
static unsigned size_bucket(const struct inventory *inv, uint64_t v)
{
    unsigned n = 0;
    for (size_t i = 0; i < inv->o.n_size_edges - 1; i++) {
        n += v >= inv->size_from[i];
    }
    return n;
}

static unsigned age_bucket(const struct inventory *inv, int64_t when)
{
    int64_t age = inv->o.as_of - when; /* whole days are reached when their seconds are */
    unsigned n = 0;
    for (size_t i = 0; i < inv->o.n_age_edges - 1; i++) {
        n += age >= inv->age_from[i];
    }
    return n;
}

static int64_t last_use(const struct object *ob, const struct access_use *use)
{
    int64_t last = ob->modified;
    if (ob->accessed != GT_TIME_NONE && ob->accessed > last) {
        last = ob->accessed;
    }
    return use && use->last != GT_TIME_NONE && use->last > last ? use->last : last;
}

/* Ids of what was seen lately are remembered: neighbours have prefixes and classes in common. */
static uint32_t seen_id(struct intern *t, struct seen *s, const char *text, size_t len)
{
    if (s->len != len || !s->text || memcmp(s->text, text, len) != 0) {
        uint32_t id = intern_add(t, text, len);
        if (id == UINT32_MAX) {
            return id;
        }
        *s = (struct seen){intern_text(t, id), len, id};
    }
    return s->id;
}

static uint32_t prefix_id(struct inventory *inv, const char *prefix, size_t len)
{
    uint64_t w = len;
    memcpy(&w, prefix + (len < 9 ? 0 : len - 9), len < 8 ? len : 8); /* what stands before '/' */
    w = (w + len) * 0x9e3779b97f4a7c15u;
    return seen_id(inv->prefixes, &inv->seen_prefix[w >> (64 - SEEN_BITS)], prefix, len);
}

static int ids(uint32_t prefix, uint32_t class_id, struct gt_error *err)
{
    if (prefix == UINT32_MAX || class_id == UINT32_MAX) {
        return text_full(err);
    }
    return class_id <= CELL_CLASSES
               ? 0
               : gt_fail(err, GT_ELIMIT, "", "more than %d storage classes", CELL_CLASSES);
}

int aggregate_object(struct inventory *inv, const struct object *ob, struct gt_error *err)
{
    size_t len;
    const char *prefix = prefix_of(ob->key, ob->key_len, inv->o.depth, &len);
    if (inv->parent && !inv->ordered &&
        (inv->cells.n >= CHILD_CELLS || arena_used(inv->arena) >= CHILD_TEXT)) {
        int rc = inventory_give(inv, err);
        if (rc) {
            return rc;
        }
    }
    uint32_t id = prefix_id(inv, prefix, len);
    uint32_t class_id = seen_id(inv->classes, &inv->seen_class[ob->class_len % SEEN_CLASSES],
                                ob->storage_class, ob->class_len);
    int rc = ids(id, class_id, err);
    if (rc) {
        return rc;
    }
    const struct access_use *use =
        inv->o.access ? access_find(inv->o.access, ob->key, ob->key_len) : NULL;
    int64_t used = last_use(ob, use);
    unsigned age = age_bucket(inv, ob->aged == GT_TIME_NONE ? ob->modified : ob->aged);
    unsigned idle = used == ob->modified && ob->aged == GT_TIME_NONE ? age : age_bucket(inv, used);
    struct cell *c;
    uint64_t key = cell_key(id, class_id, size_bucket(inv, ob->size), age, idle, ob->is_latest);
    rc = find_cell(inv, key, &c, err);
    if (rc == 0 && inv->o.duplicates) {
        rc = dup_note(inv, ob, key, err);
    }
    inv->stats.objects++;
    rc = rc ? rc : add_cell(c, 1, ob->size, ob->size > 131072 ? ob->size : 131072, err);
    if (rc == 0 && use && ob->is_latest && inv->o.access->stats.log) {
        rc = add_reads(inv, c, (double)use->gets, (double)use->bytes, err);
    }
    return rc ? rc : add_u64(&inv->stats.bytes, ob->size, err);
}

int aggregate_row(struct inventory *inv, const struct inventory_row *r, size_t prefix_len,
                  struct gt_error *err)
{
    uint32_t prefix = intern_add(inv->prefixes, r->prefix, prefix_len);
    uint32_t class_id = intern_add(inv->classes, r->storage_class, strlen(r->storage_class));
    struct cell *c;
    int rc = ids(prefix, class_id, err);
    uint64_t key =
        cell_key(prefix, class_id, size_bucket(inv, r->size_lo),
                 age_bucket(inv, inv->o.as_of - (int64_t)r->age_lo_days * 86400),
                 age_bucket(inv, inv->o.as_of - (int64_t)r->idle_lo_days * 86400), r->is_latest);
    rc = rc ? rc : find_cell(inv, key, &c, err);
    rc = rc ? rc : add_cell(c, r->objects, r->bytes, r->bytes_min128k, err);
    rc = rc ? rc : add_u64(&inv->stats.objects, r->objects, err);
    rc = rc ? rc : add_u64(&inv->stats.bytes, r->bytes, err);
    if (rc == 0 && (r->gets_30d >= 0 || r->bytes_read_30d >= 0)) {
        inv->ordered = true; /* sums of fractions are made in the order of the files */
        rc = add_reads(inv, c, r->gets_30d, r->bytes_read_30d, err);
    }
    return rc;
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
