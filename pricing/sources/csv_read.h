/* Streaming CSV reader (RFC 4180): rows of named columns out of bytes that arrive in pieces.
 *
 * Fields are NUL-terminated, unquoted, and borrowed for the call of the row function. LF and CRLF
 * ends, a byte-order mark and blank lines are taken; a quote that stands where none may stand, a
 * quote that never closes, rows over 1 MiB and over 512 fields are errors with line and column. */
#ifndef GPUTIER_CSV_READ_H
#define GPUTIER_CSV_READ_H
#include "gputier/error.h"
#include <stddef.h>
#include <stdint.h>

#define CSV_FIELDS 512
struct csv_row {
    const char *const *field;
    const uint32_t *len;
    size_t n;
    uint64_t line; /* where the row begins, from 1 */
};
typedef int csv_row_fn(void *ctx, const struct csv_row *row, struct gt_error *err);
struct csv_reader;
/* name: for messages, borrowed. separator: ',' or tab. */
int csv_reader_new(const char *name, char separator, csv_row_fn *row, void *ctx,
                   struct csv_reader **out, struct gt_error *err) GT_CHECK;
int csv_reader_feed(struct csv_reader *r, const char *data, size_t len,
                    struct gt_error *err) GT_CHECK;
int csv_reader_end(struct csv_reader *r, struct gt_error *err) GT_CHECK;
void csv_reader_free(struct csv_reader *r); /* NULL is fine */

/* Field i, "" past the end of a short row. */
static inline const char *csv_field(const struct csv_row *row, int i)
{
    return i >= 0 && (size_t)i < row->n ? row->field[i] : "";
}
/* Error at a field of a row: "name:line:field 3" style position is left to the caller's text. */
int csv_fail(struct gt_error *err, int code, const char *name, const struct csv_row *row,
             const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Index of a column in a header row by exact name, -1 if none. */
int csv_column(const struct csv_row *header, const char *name);

#endif
