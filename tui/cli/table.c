/* Text tables for people (table.h). */
#include "table.h"
#include "gputier/text.h"
#include <stdlib.h>
#include <string.h>

static char *safe_copy(const char *s)
{
    struct buf b;
    buf_init(&b, 4096);
    text_safe(&b, s, strnlen(s, 1000), false);
    char *p = buf_take(&b, NULL);
    buf_release(&b);
    return p;
}

void table_row(struct text_table *t, const char *const *cells)
{
    if (t->failed) {
        return;
    }
    if (t->rows == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 32;
        char **p = realloc(t->cell, cap * t->columns * sizeof *p);
        if (!p) {
            t->failed = true;
            return;
        }
        t->cell = p;
        t->cap = cap;
    }
    for (size_t i = 0; i < t->columns; i++) {
        char *copy = safe_copy(cells[i] && cells[i][0] ? cells[i] : "-");
        t->failed = t->failed || !copy;
        t->cell[t->rows * t->columns + i] = copy;
    }
    t->rows++;
}

void table_init(struct text_table *t, const char *const *titles)
{
    const char *name[TABLE_COLUMNS];
    memset(t, 0, sizeof *t);
    for (; titles[t->columns] && t->columns < TABLE_COLUMNS; t->columns++) {
        const char *s = titles[t->columns];
        t->right[t->columns] = s[0] == '>';
        name[t->columns] = s[0] == '>' ? s + 1 : s;
    }
    table_row(t, name);
}

int table_write(struct text_table *t, struct buf *out, bool ascii)
{
    size_t width[TABLE_COLUMNS] = {0};
    int rc = t->failed ? GT_ENOMEM : 0;
    for (size_t r = 0; r < t->rows && !rc; r++) {
        for (size_t i = 0; i < t->columns; i++) {
            const char *s = t->cell[r * t->columns + i];
            size_t w = text_width(s, strlen(s));
            width[i] = w > width[i] ? w : width[i];
        }
    }
    for (size_t r = 0; r < t->rows && !rc; r++) {
        for (size_t i = 0; i < t->columns; i++) {
            bool last = i + 1 == t->columns;
            const char *s = t->cell[r * t->columns + i];
            rc = rc ? rc : text_fit(out, s, width[i], t->right[i] ? 1 : last ? 0 : -1, ascii);
            rc = rc ? rc : buf_adds(out, last ? "\n" : "  ");
        }
    }
    for (size_t i = 0; i < t->rows * t->columns; i++) {
        free(t->cell[i]);
    }
    free(t->cell);
    memset(t, 0, sizeof *t);
    return rc;
}
