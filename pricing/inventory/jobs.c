/* Several files at once: each is read by a child inventory, and what it found is taken over in the
 * order of the files, so that counters, sums and errors are the same for any number of threads. */
#include "inventory_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    int rc;
    struct gt_error err;
    struct inventory_stats stats;
    struct inventory *kept; /* what must be given in order */
};
struct round {
    struct inventory *inv;
    const char *const *paths;
    const struct told *told;
    struct job *job;
    size_t failed; /* the first that did; __atomic */
};

static void run(void *ctx, size_t i)
{
    struct round *r = ctx;
    struct job *j = &r->job[i];
    if (__atomic_load_n(&r->failed, __ATOMIC_RELAXED) < i) {
        return; /* its answer would not be looked at */
    }
    struct inventory *child = NULL;
    j->rc = inventory_child(r->inv, &child, &j->err);
    j->rc = j->rc ? j->rc : read_file_as(child, r->paths[i], r->told, &j->err);
    if (j->rc == 0 && !child->ordered) {
        j->rc = inventory_give(child, &j->err);
    }
    if (child) {
        j->stats = child->stats;
    }
    if (j->rc == 0 && child->ordered) {
        j->kept = child;
    } else {
        inventory_free(child);
    }
    size_t first = __atomic_load_n(&r->failed, __ATOMIC_RELAXED);
    while (j->rc && i < first &&
           !__atomic_compare_exchange_n(&r->failed, &first, i, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

static int add_stats(struct inventory *inv, const struct job *j, const char *path,
                     struct gt_error *err)
{
    struct inventory_stats *to = &inv->stats;
    const struct inventory_stats *s = &j->stats;
    if (to->bad_rows == 0) {
        memcpy(to->first_bad_where, s->first_bad_where, sizeof to->first_bad_where);
        memcpy(to->first_bad_text, s->first_bad_text, sizeof to->first_bad_text);
    }
    to->rows += s->rows;
    to->bad_rows += s->bad_rows;
    to->not_files += s->not_files;
    to->delete_markers += s->delete_markers;
    if (__builtin_add_overflow(to->objects, s->objects, &to->objects) ||
        __builtin_add_overflow(to->bytes, s->bytes, &to->bytes)) {
        return gt_fail(err, GT_ERANGE, path, "a sum of objects or bytes passes 2^64");
    }
    if (to->bad_rows > inv->o.max_bad) {
        return gt_fail(err, GT_EPARSE, s->first_bad_where,
                       "%s; more than %llu bad rows (first: %s)", s->first_bad_text,
                       (unsigned long long)inv->o.max_bad, to->first_bad_where);
    }
    return 0;
}

int read_files(struct inventory *inv, const char *const *paths, size_t n, const struct told *told,
               struct gt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        progress_total(inv, paths[i]);
    }
    if (n < 2) {
        return n ? read_file_as(inv, paths[0], told, err) : 0;
    }
    struct round r = {.inv = inv, .paths = paths, .told = told, .failed = n};
    r.job = calloc(n, sizeof *r.job);
    if (!r.job) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    team_each(inv->o.team, n, run, &r);
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        struct job *j = &r.job[i];
        if (rc == 0 && j->rc) {
            rc = j->rc;
            if (err) {
                *err = j->err;
            }
        }
        rc = rc ? rc : add_stats(inv, j, paths[i], err);
        rc = rc || !j->kept ? rc : inventory_give(j->kept, err);
        inventory_free(j->kept);
    }
    free(r.job);
    return rc;
}

int inventory_read_files(struct inventory *inv, const char *const *paths, size_t n,
                         struct gt_error *err)
{
    return read_files(inv, paths, n, NULL, err);
}

int inventory_read(struct inventory *inv, const char *path, struct gt_error *err)
{
    return read_files(inv, &path, 1, NULL, err);
}
