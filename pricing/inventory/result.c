/* The rows that an engine answers (result.h). */
#include "result.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BYTES 131072u /* bytes_min128k counts an object as this many at least */

enum { C_PREFIX, C_CLASS, C_LATEST, C_SIZE, C_AGE, C_IDLE, C_OBJECTS, C_BYTES, C_MIN, C_COUNT };
static const char *const column[C_COUNT] = {
    "prefix",       "storage_class", "is_latest", "size_lo",       "age_lo_days",
    "idle_lo_days", "objects",       "bytes",     "bytes_min128k",
};

/* Says what was found: an engine's own words may stand where a row should. */
static int unexpected(const struct reader *r, const struct csv_record *rec, const char *expected,
                      struct gt_error *err)
{
    char where[200];
    size_t last = (rec->n < CSV_FIELDS ? rec->n : CSV_FIELDS) - 1, len = rec->len[0];
    if (rec->doubled == 0) { /* the fields lie in a row */
        len = (size_t)(rec->field[last] - rec->field[0]) + rec->len[last];
    }
    snprintf(where, sizeof where, "%s:%llu", r->name, (unsigned long long)r->line);
    return gt_fail(err, GT_EPARSE, where, "found '%.*s', expected %s", (int)(len < 240 ? len : 240),
                   rec->field[0], expected);
}

static bool is_text(const struct csv_record *rec, int at, const char *text)
{
    return rec->len[at] == strlen(text) && memcmp(rec->field[at], text, rec->len[at]) == 0;
}

static int header(struct sql_result *s, const struct csv_record *rec, struct gt_error *err)
{
    for (int i = 0; i < C_COUNT; i++) {
        if (rec->n != C_COUNT || !is_text(rec, i, column[i])) {
            return unexpected(&s->r, rec,
                              "the header prefix,storage_class,is_latest,size_lo,age_lo_days,"
                              "idle_lo_days,objects,bytes,bytes_min128k",
                              err);
        }
    }
    s->header = true;
    return 0;
}

/* So many whole directory components, each with its slash. */
static bool is_prefix(const char *p, size_t len, int depth)
{
    int slashes = 0;
    for (size_t i = 0; i < len; i++) {
        slashes += p[i] == '/';
    }
    return (len == 0 || p[len - 1] == '/') && slashes <= depth && !memchr(p, '\0', len);
}

static bool age_edge(const struct inventory *inv, uint64_t v)
{
    for (size_t i = 0; i < inv->o.n_age_edges; i++) {
        if ((uint64_t)inv->o.age_edge[i] == v) {
            return true;
        }
    }
    return false;
}

/* Sums that objects of this size can have. */
static bool sums_fit(const struct inventory *inv, const struct inventory_row *row)
{
    size_t i = 0, n = inv->o.n_size_edges;
    while (i < n && inv->o.size_edge[i] != row->size_lo) {
        i++;
    }
    uint64_t least, most = UINT64_MAX, small;
    if (i == n || row->objects == 0 || __builtin_mul_overflow(row->objects, row->size_lo, &least) ||
        __builtin_mul_overflow(row->objects, (uint64_t)MIN_BYTES, &small)) {
        return false;
    }
    if (i + 1 < n && __builtin_mul_overflow(row->objects, inv->o.size_edge[i + 1] - 1, &most)) {
        most = UINT64_MAX;
    }
    uint64_t with_small;
    return row->bytes >= least && row->bytes <= most && row->bytes_min128k >= row->bytes &&
           row->bytes_min128k >= small &&
           (__builtin_add_overflow(row->bytes, small, &with_small) ||
            row->bytes_min128k <= with_small);
}

static bool read_row(const struct inventory *inv, const struct csv_record *rec,
                     struct inventory_row *row, char class_name[64])
{
    uint64_t age, idle;
    if (rec->n != C_COUNT || rec->len[C_CLASS] == 0 || rec->len[C_CLASS] >= 64 ||
        memchr(rec->field[C_CLASS], '\0', rec->len[C_CLASS]) ||
        !is_prefix(rec->field[C_PREFIX], rec->len[C_PREFIX], inv->o.depth) ||
        !digits_u64(rec->field[C_SIZE], rec->len[C_SIZE], &row->size_lo) ||
        !digits_u64(rec->field[C_AGE], rec->len[C_AGE], &age) ||
        !digits_u64(rec->field[C_IDLE], rec->len[C_IDLE], &idle) ||
        !digits_u64(rec->field[C_OBJECTS], rec->len[C_OBJECTS], &row->objects) ||
        !digits_u64(rec->field[C_BYTES], rec->len[C_BYTES], &row->bytes) ||
        !digits_u64(rec->field[C_MIN], rec->len[C_MIN], &row->bytes_min128k)) {
        return false;
    }
    row->is_latest = is_text(rec, C_LATEST, "true");
    memcpy(class_name, rec->field[C_CLASS], rec->len[C_CLASS]);
    class_name[rec->len[C_CLASS]] = '\0';
    row->prefix = rec->field[C_PREFIX];
    row->storage_class = class_name;
    row->gets_30d = row->bytes_read_30d = -1;
    if (!(row->is_latest || is_text(rec, C_LATEST, "false")) || idle > age || !age_edge(inv, age) ||
        !age_edge(inv, idle)) {
        return false;
    }
    row->age_lo_days = (int)age;
    row->idle_lo_days = (int)idle;
    return sums_fit(inv, row);
}

static int result_row(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    struct sql_result *s = r->state;
    struct inventory_row row = {0};
    char class_name[64];
    if (!s->header) {
        return header(s, rec, err);
    }
    if (!read_row(r->inv, rec, &row, class_name)) {
        return unexpected(r, rec, "a row of the histogram", err);
    }
    size_t cells = r->inv->cells.n;
    int rc = aggregate_row(r->inv, &row, rec->len[C_PREFIX], err);
    if (rc == 0 && r->inv->cells.n == cells) {
        return unexpected(r, rec, "each cell once", err);
    }
    r->inv->stats.rows++;
    return rc;
}

void sql_result_init(struct sql_result *s, struct inventory *inv, const char *name)
{
    *s = (struct sql_result){.r = {.inv = inv, .name = name}};
    s->r.state = s;
}

int sql_result_feed(struct sql_result *s, const char *data, size_t len, struct gt_error *err)
{
    return len ? csv_feed(&s->r, data, len, false, result_row, err) : 0;
}

int sql_result_end(struct sql_result *s, struct gt_error *err)
{
    int rc = csv_feed(&s->r, "", 0, true, result_row, err);
    return rc || s->header ? rc : gt_fail(err, GT_EPARSE, s->r.name, "the engine answered nothing");
}

void sql_result_release(struct sql_result *s)
{
    free(s->r.hold);
    free(s->r.fields.at);
}
