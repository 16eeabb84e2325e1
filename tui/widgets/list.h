/* A scrolling list: which row is selected, which rows are visible. Pure: a test needs no terminal.
 */
#ifndef GPUTIER_LIST_H
#define GPUTIER_LIST_H
#include <stdbool.h>
#include <stddef.h>

struct list {
    size_t n, at, top; /* rows, selected row, first visible row */
    size_t page;       /* visible rows */
};
void list_resize(struct list *l, size_t n, size_t page); /* keeps the selection in view */
/* The moving keys that every list understands: arrows, hjkl, PgUp/PgDn, g/G, Home/End, Ctrl-D/U. */
bool list_key(struct list *l, int key, bool is_key);
/* The same keys for text without a selected row: the first visible one moves. */
bool list_scroll(struct list *l, int key, bool is_key);

#endif
