/* Streaming CSV reader (RFC 4180): rows of named columns out of bytes that arrive in pieces.
 *
 * Fields are NUL-terminated, unquoted, and borrowed for the call of the row function; what is not
 * asked for costs nothing beyond its boundary. LF and CRLF ends, a byte-order mark, blank lines and
 * spaces before an opening quote are taken; a quote that stands where none may stand, a quote that
 * never closes, rows over 1 MiB and over 512 fields are errors with line and column. */
#ifndef GPUTIER_CSV_READ_H
#define GPUTIER_CSV_READ_H
#include "gputier/error.h"
#include "scan_masks.h"
#include <stddef.h>
#include <stdint.h>

#define CSV_FIELDS 512
struct csv_reader;
struct csv_row {
    size_t n;
    uint64_t line; /* where the row begins, from 1 */
    /* for csv_field: */
    char *text;            /* the begin of the row */
    const uint32_t *bound; /* offset of field i; bound[i + 1] - 1 is its end; see csv_find */
    char *const *field;    /* unquoted already; NULL: quotes are only at the edges of fields */
    struct csv_reader *reader;
};
typedef int csv_row_fn(void *ctx, const struct csv_row *row, struct gt_error *err);
/* name: for messages, borrowed. separator: ',' or tab. */
int csv_reader_new(const char *name, char separator, csv_row_fn *row, void *ctx,
                   struct csv_reader **out, struct gt_error *err) GT_CHECK;
int csv_reader_feed(struct csv_reader *r, const char *data, size_t len,
                    struct gt_error *err) GT_CHECK;
int csv_reader_end(struct csv_reader *r, struct gt_error *err) GT_CHECK;
void csv_reader_free(struct csv_reader *r); /* NULL is fine */
/* Before the first byte, for tests: one of the ways that give the same rows. */
void csv_reader_path(struct csv_reader *r, enum scan_path path);

/* A field as a C string: without its quotes, if it has them at its edges. */
static inline const char *csv_text(char *from, char *to)
{
    bool quoted = to > from && *from == '"';
    to[quoted ? -1 : 0] = '\0'; /* a closing quote, or what stands behind the field */
    return from + quoted;
}
/* Finds all fields of the row; until then bound[1] is 0. */
void csv_find(const struct csv_row *row);
/* Field i, "" past the end of a short row. */
static inline const char *csv_field(const struct csv_row *row, int i)
{
    if (i < 0 || (size_t)i >= row->n) {
        return "";
    }
    if (row->field) {
        return row->field[i];
    }
    if (row->bound[1] == 0) {
        csv_find(row);
    }
    return csv_text(row->text + row->bound[i], row->text + row->bound[i + 1] - 1);
}
/* The same without finding the others: for a few fields, best in their order, of a row that is left
 * after them. */
const char *csv_field_alone(const struct csv_row *row, int i);
/* Error at a field of a row: "name:line:field 3" style position is left to the caller's text. */
int csv_fail(struct gt_error *err, int code, const char *name, const struct csv_row *row,
             const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Index of a column in a header row by exact name, -1 if none. */
int csv_column(const struct csv_row *header, const char *name);

#endif
