/* Reader for the snapshot's CSV files (RFC 4180, header by name), whole file in memory. Messages
 * carry file:line. Cells are borrowed until the next row. */
#ifndef PRICING_STORE_CSV_READ_H
#define PRICING_STORE_CSV_READ_H
#include "gputier/error.h"
#include "gputier/money.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_MAX_COLUMNS 64

struct csv_file {
    char *path;
    char *data, *p, *end; /* cells are cut in place */
    size_t len;
    size_t line, row_line; /* of the reader, of the present row */
    size_t n_columns;
    char *header[CSV_MAX_COLUMNS], *cell[CSV_MAX_COLUMNS];
};
/* GT_ENOTFOUND when there is no such file (err untouched). */
int csv_load(struct csv_file *f, const char *path, struct gt_error *err) GT_CHECK;
void csv_release(struct csv_file *f);
int csv_header(struct csv_file *f, struct gt_error *err) GT_CHECK;
/* *row false at the end. Every row has as many cells as the header. */
int csv_next(struct csv_file *f, bool *row, struct gt_error *err) GT_CHECK;
/* Column of a name; *out -1 when optional and absent. */
int csv_column(struct csv_file *f, const char *name, bool needed, int *out,
               struct gt_error *err) GT_CHECK;
const char *csv_text(const struct csv_file *f, int column); /* "" for column -1 */
/* Empty = the null value: NAN, GT_TIME_NONE, `none` for money. */
int csv_real(const struct csv_file *f, int column, double *out, struct gt_error *err) GT_CHECK;
int csv_time(const struct csv_file *f, int column, int64_t *out, struct gt_error *err) GT_CHECK;
int csv_money(const struct csv_file *f, int column, money none, money *out,
              struct gt_error *err) GT_CHECK;
int csv_int(const struct csv_file *f, int column, int64_t none, int64_t *out,
            struct gt_error *err) GT_CHECK;
/* "file:line: column: " + text as an error of the present row. */
int csv_fail(const struct csv_file *f, int column, struct gt_error *err, int code, const char *fmt,
             ...) __attribute__((format(printf, 5, 6)));

#endif
