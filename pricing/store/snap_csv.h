/* Reader for the snapshot's CSV files (RFC 4180, header by name), whole file in memory. Messages
 * carry file:line. Cells are borrowed until the next row. */
#ifndef PRICING_STORE_SNAP_CSV_H
#define PRICING_STORE_SNAP_CSV_H
#include "gputier/error.h"
#include "gputier/money.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAP_CSV_COLUMNS 64

struct snap_csv {
    char *path;
    char *data, *p, *end; /* cells are cut in place */
    size_t len;
    size_t line, row_line; /* of the reader, of the present row */
    size_t n_columns;
    char *header[SNAP_CSV_COLUMNS], *cell[SNAP_CSV_COLUMNS];
};
/* GT_ENOTFOUND when there is no such file (err untouched). */
int snap_csv_load(struct snap_csv *f, const char *path, struct gt_error *err) GT_CHECK;
void snap_csv_release(struct snap_csv *f);
int snap_csv_header(struct snap_csv *f, struct gt_error *err) GT_CHECK;
/* *row false at the end. Every row has as many cells as the header. */
int snap_csv_next(struct snap_csv *f, bool *row, struct gt_error *err) GT_CHECK;
/* Column of a name; *out -1 when optional and absent. */
int snap_csv_column(struct snap_csv *f, const char *name, bool needed, int *out,
                    struct gt_error *err) GT_CHECK;
const char *snap_csv_text(const struct snap_csv *f, int column); /* "" for column -1 */
/* Empty = the null value: NAN, GT_TIME_NONE, `none` for money. */
int snap_csv_real(const struct snap_csv *f, int column, double *out, struct gt_error *err) GT_CHECK;
int snap_csv_time(const struct snap_csv *f, int column, int64_t *out,
                  struct gt_error *err) GT_CHECK;
int snap_csv_money(const struct snap_csv *f, int column, money none, money *out,
                   struct gt_error *err) GT_CHECK;
int snap_csv_int(const struct snap_csv *f, int column, int64_t none, int64_t *out,
                 struct gt_error *err) GT_CHECK;
/* "file:line: column: " + text as an error of the present row. */
int snap_csv_fail(const struct snap_csv *f, int column, struct gt_error *err, int code,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
