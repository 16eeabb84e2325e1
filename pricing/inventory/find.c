/* Listings of `find -printf`. Records end in NUL when the file holds one, else in a newline; the
 * fields are told apart: size, mtime[, atime][, blocks][, one-letter type], path, separated by tabs
 * or (size, date, path) by spaces. Only regular files count. The path is the rest of the record, so
 * it may hold tabs, and with NUL ends newlines. */
#include "gputier/units.h"
#include "inventory_priv.h"
#include <stdlib.h>
#include <string.h>

enum { ENDS_UNKNOWN, ENDS_NUL, ENDS_LINE };

/* Next field up to `sep`; false when there is no separator left. */
static bool field(const char **p, const char *end, char sep, const char **s, size_t *len)
{
    const char *q = memchr(*p, sep, (size_t)(end - *p));
    if (!q) {
        return false;
    }
    *s = *p;
    *len = (size_t)(q - *p);
    *p = q + 1;
    return true;
}

static bool is_type(const char *s, size_t len)
{
    return len == 1 && memchr("fdlbcpsD", s[0], 8) != NULL;
}

static bool all_digits(const char *s, size_t len)
{
    uint64_t v;
    return digits_u64(s, len, &v);
}

/* Size, times, blocks and type in any of the known orders; what is left is the path. */
static const char *parse(const char *p, const char *end, struct object *ob, char *type)
{
    const char *s;
    size_t len;
    const char *first = p;
    while (first < end && *first >= '0' && *first <= '9') {
        first++;
    }
    char sep = first < end && *first == ' ' ? ' ' : '\t';
    if (!field(&p, end, sep, &s, &len) || !digits_u64(s, len, &ob->size)) {
        return "the first field is no size in bytes";
    }
    if (!field(&p, end, sep, &s, &len)) {
        return "too few fields";
    }
    if (is_type(s, len)) {
        *type = s[0];
        if (!field(&p, end, sep, &s, &len)) {
            return "too few fields";
        }
    }
    if (!instant(s, len, &ob->modified)) {
        return "the modification time is neither epoch seconds nor a date";
    }
    const char *rest = p;
    bool blocks = false;
    while (field(&p, end, sep, &s, &len)) {
        if (is_type(s, len) && *type == 0) {
            *type = s[0];
        } else if (ob->accessed == GT_TIME_NONE && sep == '\t' && memchr(s, '.', len) &&
                   instant(s, len, &ob->accessed)) {
            ;
        } else if (!blocks && sep == '\t' && all_digits(s, len)) {
            if (ob->accessed == GT_TIME_NONE && rest == s) {
                if (!instant(s, len, &ob->accessed)) {
                    return "the access time is no number";
                }
            } else {
                blocks = true;
            }
        } else {
            break;
        }
        rest = p;
    }
    ob->key = rest;
    ob->key_len = (size_t)(end - rest);
    return ob->key_len ? NULL : "no path";
}

static int find_record(struct reader *r, const char *p, size_t len, struct gt_error *err)
{
    r->line++;
    if (len == 0) {
        return 0;
    }
    struct object ob = {
        .storage_class = "", .accessed = GT_TIME_NONE, .aged = GT_TIME_NONE, .is_latest = true};
    char type = 0;
    const char *why = parse(p, p + len, &ob, &type);
    if (why) {
        return bad_row(r->inv, r->name, r->line, why, err);
    }
    r->inv->stats.rows++;
    if (type && type != 'f') {
        r->inv->stats.not_files++;
        return 0;
    }
    return aggregate_object(r->inv, &ob, err);
}

/* Keeps an incomplete record until the next piece. */
static int hold(struct reader *r, const char *p, size_t len, struct gt_error *err)
{
    return r->held + len > RECORD_MAX
               ? gt_fail(err, GT_EPARSE, r->name, "a record is longer than %u bytes", RECORD_MAX)
               : reader_hold(r, p, len, err);
}

int split_feed(struct reader *r, char end_byte, const char *data, size_t len, bool end,
               record_fn *record, struct gt_error *err)
{
    int rc = 0;
    const char *p = data, *stop = data + len;
    while (rc == 0 && p < stop) {
        const char *q = memchr(p, end_byte, (size_t)(stop - p));
        if (!q) {
            rc = hold(r, p, (size_t)(stop - p), err);
            break;
        }
        if (r->held) {
            rc = hold(r, p, (size_t)(q - p), err);
            rc = rc < 0 ? rc : record(r, r->hold, r->held, err);
            r->held = 0;
        } else {
            rc = record(r, p, (size_t)(q - p), err);
        }
        p = q + 1;
    }
    if (rc == 0 && end && r->held) {
        rc = record(r, r->hold, r->held, err);
        r->held = 0;
    }
    return rc;
}

int find_feed(struct reader *r, const char *data, size_t len, bool end, struct gt_error *err)
{
    if (r->mode == ENDS_UNKNOWN && len > 0) {
        r->mode = memchr(data, 0, len) ? ENDS_NUL : ENDS_LINE;
    }
    return split_feed(r, r->mode == ENDS_NUL ? '\0' : '\n', data, len, end, find_record, err);
}
