/* Reads that are known of prefixes, or of classes and ages, over the rows of a histogram. */
#include "access.h"
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    const struct access_prefix *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static double gets_of(const struct inventory_accesses *a, const struct access_prefix *sorted,
                      const char *prefix, bool *met)
{
    char text[2048];
    size_t len = strlen(prefix);
    len -= len > 0 && prefix[len - 1] == '/';
    if (len >= sizeof text) {
        return 0;
    }
    memcpy(text, prefix, len);
    text[len] = '\0';
    struct access_prefix want = {.text = text};
    const struct access_prefix *p = bsearch(&want, sorted, a->n_prefixes, sizeof want, by_text);
    *met = *met || p;
    return p ? p->gets : 0;
}

/* Over a prefix's current objects; rows are sorted, so a prefix's lie together. A prefix without
 * an entry was not read. */
static bool share(const struct inventory_accesses *a, const struct access_prefix *sorted,
                  struct inventory_row *rows, size_t n)
{
    bool met = false;
    for (size_t i = 0, end; i < n; i = end) {
        const char *prefix = rows[i].prefix;
        double gets = gets_of(a, sorted, prefix, &met), objects = 0;
        for (end = i; end < n && strcmp(rows[end].prefix, prefix) == 0; end++) {
            objects += rows[end].is_latest ? (double)rows[end].objects : 0;
        }
        for (size_t k = i; k < end; k++) {
            rows[k].gets_30d =
                rows[k].is_latest && objects > 0 ? gets * (double)rows[k].objects / objects : 0;
        }
    }
    return met;
}

int access_share(const struct inventory *inv, struct inventory_row *rows, size_t n,
                 struct gt_error *err)
{
    const struct inventory_accesses *a = inv->o.access;
    if (!a) {
        return 0;
    }
    if (a->n_classes > 0) {
        access_analysis_share(a, rows, n);
    }
    if (a->n_prefixes == 0) {
        return 0;
    }
    struct access_prefix *sorted = malloc(a->n_prefixes * sizeof *sorted);
    if (!sorted) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    memcpy(sorted, a->prefix, a->n_prefixes * sizeof *sorted);
    qsort(sorted, a->n_prefixes, sizeof *sorted, by_text);
    bool met = share(a, sorted, rows, n);
    free(sorted);
    return met || n == 0
               ? 0
               : gt_fail(err, GT_EPARSE, "access",
                         "none of its prefixes occurs; at this depth they look like '%.100s'",
                         rows[n - 1].prefix);
}
