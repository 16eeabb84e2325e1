/* Why not X? One entry for each machine bought one way: the first reason met in the order of cost,
 * or that it is only dearer than what is shown. */
#include "search.h"
#include <stdlib.h>
#include <string.h>

#define LEDGER_CAP 8192 /* entries; more kinds than that are not explained */
#define MAX_FAILED 80
#define MAX_DEARER 20

struct rejected *ledger_find(struct search *q, struct ledger *l, const struct machine *m)
{
    const struct catalog_offers *f = &q->c->offers;
    if (l->slot == NULL) {
        l->slot = arena_array(q->arena, LEDGER_CAP, sizeof *l->slot);
        l->cap = l->slot != NULL ? LEDGER_CAP : 0;
    }
    if (l->cap == 0) {
        return NULL;
    }
    size_t h = (size_t)f->vendor[m->row] * 2654435761u + (size_t)f->instance_type[m->row] * 40503u +
               (size_t)m->purchase * 97u;
    for (size_t i = 0; i < l->cap; i++) {
        struct rejected *r = &l->slot[(h + i) % l->cap];
        if (r->machine == NULL) {
            if (l->n >= l->cap / 2) {
                return NULL;
            }
            l->n++;
            r->machine = m;
            return r;
        }
        if (r->machine->purchase == m->purchase && strcmp(r->machine->type, m->type) == 0 &&
            strcmp(r->machine->vendor, m->vendor) == 0) {
            return r;
        }
    }
    return NULL;
}

static int by_cost(const void *a, const void *b)
{
    const struct rejected *x = *(const struct rejected *const *)a;
    const struct rejected *y = *(const struct rejected *const *)b;
    if ((x->reason == NULL) != (y->reason == NULL)) {
        return x->reason == NULL ? 1 : -1; /* failed constraints first */
    }
    if ((x->kind == REJECT_FIT) != (y->kind == REJECT_FIT)) {
        return x->kind == REJECT_FIT ? 1 : -1; /* what could run is nearer than what could not */
    }
    if (x->usd != y->usd) {
        return x->usd < y->usd ? -1 : 1;
    }
    int d = strcmp(x->machine->vendor, y->machine->vendor);
    d = d != 0 ? d : strcmp(x->machine->type, y->machine->type);
    return d != 0 ? d : (int)x->machine->purchase - (int)y->machine->purchase;
}

int ledger_write(struct search *q, const struct ledger *l, struct plan_set *out)
{
    const struct rejected **list = arena_array(q->arena, l->n + 1, sizeof *list);
    struct plan_rejected *r = arena_array(q->arena, MAX_FAILED + MAX_DEARER, sizeof *r);
    size_t n = 0, failed = 0, dearer = 0;
    if (list == NULL || r == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < l->cap; i++) {
        const struct rejected *e = &l->slot[i];
        if (e->machine != NULL && !e->shown && !(e->accepted && e->reason != NULL)) {
            list[n++] = e;
        }
    }
    qsort(list, n, sizeof *list, by_cost);
    for (size_t i = 0; i < n; i++) {
        const struct rejected *e = list[i];
        size_t *count = e->reason != NULL ? &failed : &dearer;
        if (*count == (e->reason != NULL ? MAX_FAILED : MAX_DEARER)) {
            continue;
        }
        ++*count;
        const char *reason =
            e->reason != NULL ? e->reason
                              : arena_printf(q->arena, "dearer than the plans shown: %s %.2f USD",
                                             e->accepted ? "expected" : "at least", e->usd);
        if (reason == NULL) {
            return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
        }
        r[failed + dearer - 1] = (struct plan_rejected){
            search_own(q, e->machine->vendor), search_own(q, e->machine->region),
            search_own(q, e->machine->type), purchase_name(e->machine->purchase), reason};
    }
    out->rejected = r;
    out->n_rejected = failed + dearer;
    return 0;
}
