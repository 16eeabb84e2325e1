/* List movement (list.h). */
#include "list.h"
#include <curses.h>

static void keep_in_view(struct list *l)
{
    if (l->n == 0) {
        l->at = l->top = 0;
        return;
    }
    if (l->at >= l->n) {
        l->at = l->n - 1;
    }
    if (l->at < l->top) {
        l->top = l->at;
    }
    if (l->page && l->at >= l->top + l->page) {
        l->top = l->at - l->page + 1;
    }
    size_t last_top = l->n > l->page ? l->n - l->page : 0;
    if (l->top > last_top) {
        l->top = last_top;
    }
}

void list_resize(struct list *l, size_t n, size_t page)
{
    l->n = n;
    l->page = page;
    keep_in_view(l);
}

static void go(struct list *l, long by)
{
    long to = (long)l->at + by, last = (long)l->n - 1;
    l->at = (size_t)(to < 0 ? 0 : to > last ? (last < 0 ? 0 : last) : to);
    keep_in_view(l);
}

bool list_key(struct list *l, int key, bool is_key)
{
    long page = l->page > 1 ? (long)l->page - 1 : 1;
    if ((is_key && key == KEY_DOWN) || (!is_key && key == 'j')) {
        go(l, 1);
    } else if ((is_key && key == KEY_UP) || (!is_key && key == 'k')) {
        go(l, -1);
    } else if ((is_key && key == KEY_NPAGE) || (!is_key && key == 6)) {
        go(l, page);
    } else if ((is_key && key == KEY_PPAGE) || (!is_key && key == 2)) {
        go(l, -page);
    } else if (!is_key && key == 4) {
        go(l, page / 2 + 1);
    } else if (!is_key && key == 21) {
        go(l, -(page / 2 + 1));
    } else if ((is_key && key == KEY_HOME) || (!is_key && key == 'g')) {
        go(l, -(long)l->n);
    } else if ((is_key && key == KEY_END) || (!is_key && key == 'G')) {
        go(l, (long)l->n);
    } else {
        return false;
    }
    return true;
}

bool list_scroll(struct list *l, int key, bool is_key)
{
    size_t last_top = l->n > l->page ? l->n - l->page : 0;
    struct list tops = {.n = last_top + 1, .at = l->top, .top = l->top, .page = l->page};
    if (!list_key(&tops, key, is_key)) {
        return false;
    }
    l->at = l->top = tops.at;
    return true;
}
