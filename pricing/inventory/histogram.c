/* The histogram itself as CSV: columns of R-IM-02 by name, in any order. */
#include "inventory_priv.h"
#include <stdlib.h>
#include <string.h>

enum {
    H_PREFIX,
    H_CLASS,
    H_LATEST,
    H_SIZE,
    H_AGE,
    H_IDLE,
    H_OBJECTS,
    H_BYTES,
    H_MIN,
    H_GETS,
    H_READ
};
static const char *const column[] = {
    "prefix",  "storage_class", "is_latest",     "size_lo",  "age_lo_days",    "idle_lo_days",
    "objects", "bytes",         "bytes_min128k", "gets_30d", "bytes_read_30d",
};
enum { H_COUNT = sizeof column / sizeof *column };

static int header(struct reader *r, const struct csv_record *rec, struct histogram_columns *h,
                  struct gt_error *err)
{
    for (int i = 0; i < H_COUNT; i++) {
        h->at[i] = -1;
        for (size_t k = 0; k < rec->n && k < CSV_FIELDS; k++) {
            if (rec->len[k] == strlen(column[i]) &&
                memcmp(rec->field[k], column[i], rec->len[k]) == 0) {
                h->at[i] = (int)k;
            }
        }
    }
    h->known = true;
    static const int needed[] = {H_PREFIX, H_OBJECTS, H_BYTES};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (h->at[needed[i]] < 0) {
            return gt_fail(err, GT_EPARSE, r->name, "the header has no column '%s'",
                           column[needed[i]]);
        }
    }
    return 0;
}

static const char *text_at(const struct csv_record *rec, int at, size_t *len)
{
    *len = at >= 0 && (size_t)at < rec->n ? rec->len[at] : 0;
    return *len ? rec->field[at] : "";
}

static bool count_at(const struct csv_record *rec, int at, uint64_t fallback, uint64_t *out)
{
    size_t len;
    const char *s = text_at(rec, at, &len);
    *out = fallback;
    return len == 0 || digits_u64(s, len, out);
}

static double real_at(const struct csv_record *rec, int at)
{
    size_t len;
    char buf[40], *end;
    const char *s = text_at(rec, at, &len);
    if (len == 0 || len >= sizeof buf) {
        return -1;
    }
    memcpy(buf, s, len);
    buf[len] = '\0';
    double v = strtod(buf, &end);
    return *end == '\0' && v >= 0 && v < 1e30 ? v : -1;
}

int histogram_row(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    struct histogram_columns *h = r->state;
    if (!h->known) {
        return header(r, rec, h, err);
    }
    struct inventory_row row = {0};
    uint64_t age, idle;
    size_t prefix_len, class_len, latest_len;
    const char *prefix = text_at(rec, h->at[H_PREFIX], &prefix_len);
    const char *class_text = text_at(rec, h->at[H_CLASS], &class_len);
    const char *latest = text_at(rec, h->at[H_LATEST], &latest_len);
    char class_name[64];
    if (class_len >= sizeof class_name) {
        return bad_row(r->inv, r->name, r->line, "the storage class is too long", err);
    }
    memcpy(class_name, class_text, class_len);
    class_name[class_len] = '\0';
    if (h->at[H_OBJECTS] >= (int)rec->n || h->at[H_BYTES] >= (int)rec->n ||
        !count_at(rec, h->at[H_OBJECTS], 0, &row.objects) ||
        !count_at(rec, h->at[H_BYTES], 0, &row.bytes) ||
        !count_at(rec, h->at[H_SIZE], row.objects ? row.bytes / row.objects : 0, &row.size_lo) ||
        !count_at(rec, h->at[H_AGE], 0, &age) || !count_at(rec, h->at[H_IDLE], 0, &idle) ||
        age > 1000000 || idle > 1000000) {
        return bad_row(r->inv, r->name, r->line, "a count is no whole number", err);
    }
    uint64_t floor_bytes = 0;
    if (__builtin_mul_overflow(row.objects, (uint64_t)131072, &floor_bytes)) {
        return bad_row(r->inv, r->name, r->line, "too many objects", err);
    }
    /* Without the column: exact for buckets that do not straddle 128 KiB, else the larger sum. */
    uint64_t at_least = row.bytes > floor_bytes ? row.bytes : floor_bytes;
    if (!count_at(rec, h->at[H_MIN], at_least, &row.bytes_min128k) ||
        row.bytes_min128k < at_least) {
        return bad_row(r->inv, r->name, r->line,
                       "bytes_min128k is less than bytes or 131072 for each object", err);
    }
    size_t quotes = 0;
    while (quotes < prefix_len && prefix[quotes] == '\'') {
        quotes++;
    }
    if (quotes > 0 && quotes < prefix_len && memchr("=+-@\t\r", prefix[quotes], 6)) {
        prefix++; /* our own writer's guard against spreadsheets that run formulas */
        prefix_len--;
    }
    row.prefix = prefix;
    row.storage_class = class_name;
    row.is_latest = latest_len == 0 || latest[0] == 't' || latest[0] == 'T' || latest[0] == '1';
    row.age_lo_days = (int)age;
    row.idle_lo_days = (int)idle;
    row.gets_30d = real_at(rec, h->at[H_GETS]);
    row.bytes_read_30d = real_at(rec, h->at[H_READ]);
    r->inv->stats.rows++;
    return aggregate_row(r->inv, &row, prefix_len, err);
}
