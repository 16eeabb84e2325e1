/* Text tables for people: columns as wide as their widest cell, numbers to the right, cells safe.
 */
#ifndef GPUTIER_TABLE_H
#define GPUTIER_TABLE_H
#include "cli.h"

#define TABLE_COLUMNS 16
struct text_table {
    size_t columns, rows, cap;
    bool right[TABLE_COLUMNS];
    char **cell; /* rows x columns, owned */
    bool failed;
};
/* titles: NULL-terminated; one that begins with '>' is a right-aligned column. */
void table_init(struct text_table *t, const char *const *titles);
/* One row; takes `columns` strings, NULL = "-". Control characters are replaced. */
void table_row(struct text_table *t, const char *const *cells);
/* Appends the table and releases it. ascii: no non-ASCII marks. */
int table_write(struct text_table *t, struct buf *out, bool ascii);

#endif
