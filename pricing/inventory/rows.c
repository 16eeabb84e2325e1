/* The histogram's rows in their order. */
#include "access.h"
#include <stdlib.h>
#include <string.h>

static int by_row(const void *a, const void *b)
{
    const struct inventory_row *x = a, *y = b;
    int c = strcmp(x->prefix, y->prefix);
    c = c ? c : strcmp(x->storage_class, y->storage_class);
    c = c ? c : x->is_latest - y->is_latest;
    c = c ? c : (x->size_lo > y->size_lo) - (x->size_lo < y->size_lo);
    c = c ? c : x->age_lo_days - y->age_lo_days;
    return c ? c : x->idle_lo_days - y->idle_lo_days;
}

int inventory_rows(struct inventory *inv, const struct inventory_row **rows, size_t *n,
                   struct gt_error *err)
{
    if (inv->rows && inv->made_at == inv->stats.objects) {
        *rows = inv->rows; /* nothing came in since: the accesses need not live longer */
        *n = inv->cells.n;
        return 0;
    }
    free(inv->rows);
    inv->rows = calloc(inv->cells.n ? inv->cells.n : 1, sizeof *inv->rows);
    if (!inv->rows) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    size_t at = inv->cells.n;
    double unread = inv->o.access && inv->o.access->stats.log ? 0 : -1; /* logs name all reads */
    for (size_t i = 0; i < at; i++) {
        const struct cell *c = &inv->cells.at[i];
        const struct cell_reads *r = inv->cells.reads ? &inv->cells.reads[i] : NULL;
        inv->rows[i] = (struct inventory_row){
            .prefix = intern_text(inv->prefixes, cell_prefix(c->key)),
            .storage_class = intern_text(inv->classes, cell_class(c->key)),
            .is_latest = cell_latest(c->key),
            .size_lo = inv->o.size_edge[cell_size(c->key)],
            .age_lo_days = inv->o.age_edge[cell_age(c->key)],
            .idle_lo_days = inv->o.age_edge[cell_idle(c->key)],
            .objects = c->objects,
            .bytes = c->bytes,
            .bytes_min128k = c->min128k,
            .gets_30d = r && r->gets >= 0 ? r->gets : unread,
            .bytes_read_30d = r && r->bytes >= 0 ? r->bytes : unread,
        };
    }
    qsort(inv->rows, at, sizeof *inv->rows, by_row);
    int rc = access_share(inv, inv->rows, at, err);
    if (rc < 0) {
        free(inv->rows);
        inv->rows = NULL;
        return rc;
    }
    inv->made_at = inv->stats.objects;
    *rows = inv->rows;
    *n = at;
    return 0;
}
