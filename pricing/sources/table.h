/* Price tables with a header line: the columns of a shape are found by name, its rows go to one
 * function. prices_csv.c and its like list their shapes, skypilot.c has one. */
#ifndef GPUTIER_TABLE_H
#define GPUTIER_TABLE_H
#include "gputier/arena.h"
#include "source.h"

#define TABLE_COLUMNS 24
struct parser;
struct table_shape {
    const char *scope; /* the part of the source that such a table is; "" = the parser says */
    /* Columns in the order of the shape's enumeration; a leading '*' marks a needed one. */
    const char *column[TABLE_COLUMNS + 1];
    int (*row)(struct parser *p, const struct csv_row *row, struct gt_error *err);
    int (*end)(struct parser *p, struct gt_error *err); /* behind the last row; NULL = none */
    bool met_elsewhere;   /* not the user's own prices: SCOPE_TABLE (fetch.h) */
    bool only_these;      /* a column of another name, or one twice, is refused */
    bool extra_fields_ok; /* rows longer than the header are read from the left */
};
struct parser {
    struct parse_context *ctx;
    const struct table_shape *const *shapes; /* NULL-terminated */
    const struct table_shape *shape;         /* NULL before the header */
    struct csv_reader *csv;
    struct arena *arena; /* for what a shape must remember */
    struct intern *strings;
    void *state; /* the shape's own, in arena */
    int column[TABLE_COLUMNS];
    size_t header_fields;
    struct bad_rows bad;
    char vendor[48]; /* from the hint or the name; "" = not known */
};
int table_open(struct parse_context *ctx, const struct table_shape *const *shapes, char separator,
               struct parser **out, struct gt_error *err) GT_CHECK;
int table_feed(struct parser *p, const char *data, size_t len, struct gt_error *err) GT_CHECK;
int table_close(struct parser *p, struct gt_error *err) GT_CHECK;
void table_abort(struct parser *p);
/* Whether the first line of head has all needed columns of one of the shapes. */
bool table_recognise(const struct table_shape *const *shapes, const char *head, size_t len);

/* The field of the shape's column c, "" when the table has no such column. */
static inline const char *table_text(const struct parser *p, const struct csv_row *row, int c)
{
    return csv_field(row, p->column[c]);
}
/* "file:line" refusal of a field: what is allowed goes into text. */
int table_refuse(struct parser *p, const struct csv_row *row, int c, const char *allowed,
                 struct gt_error *err);
/* An instant (date or date-time) of column c; empty = GT_TIME_NONE. */
int table_time(struct parser *p, const struct csv_row *row, int c, int64_t *out,
               struct gt_error *err) GT_CHECK;
/* A vendor's file: counts and logs a row that can not be read; see src_bad_row. */
int table_bad(struct parser *p, const struct csv_row *row, int c, struct gt_error *err) GT_CHECK;

#endif
