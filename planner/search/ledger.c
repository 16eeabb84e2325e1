/* Why not X? One entry for each machine bought one way: the first reason met in the order of cost,
 * or that it is only dearer than what is shown. */
#include "search.h"
#include <stdlib.h>
#include <string.h>

#define MAX_FAILED 80
#define MAX_DEARER 20

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

/* Keeps the first `max` in their order. */
static void keep(const struct rejected **list, size_t *n, size_t max, const struct rejected *e)
{
    if (*n == max && by_cost(&e, &list[max - 1]) >= 0) {
        return;
    }
    size_t i = *n < max ? (*n)++ : max - 1;
    for (; i > 0 && by_cost(&e, &list[i - 1]) < 0; i--) {
        list[i] = list[i - 1];
    }
    list[i] = e;
}

/* Why what meets the constraints is not among the plans shown. */
static const char *behind(struct search *q, const struct rejected *e, bool whole)
{
    if (e->unpriced && whole) {
        return arena_printf(
            q->arena, "a price is missing, so it stands behind the plans shown: at least %.2f USD",
            e->usd);
    }
    return arena_printf(q->arena, "dearer than the plans shown: %s%.2f USD%s",
                        e->bound || e->unpriced ? "no less than " : "", e->usd,
                        e->bound || e->unpriced ? "" : " expected");
}

int ledger_write(struct search *q, const struct ledger *l, bool whole, struct plan_set *out)
{
    const struct rejected *list[MAX_FAILED + MAX_DEARER], **dear = list + MAX_FAILED;
    struct plan_rejected *r = arena_array(q->arena, MAX_FAILED + MAX_DEARER, sizeof *r);
    size_t failed = 0, dearer = 0;
    if (r == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct rejected *e = &l->slot[i];
        if (e->machine == NULL || e->shown || (e->accepted && e->reason != NULL)) {
            continue;
        }
        if (e->reason != NULL) {
            keep(list, &failed, MAX_FAILED, e);
        } else {
            keep(dear, &dearer, MAX_DEARER, e);
        }
    }
    for (size_t i = 0; i < failed + dearer; i++) {
        const struct rejected *e = i < failed ? list[i] : dear[i - failed];
        const char *reason = e->reason != NULL ? e->reason : behind(q, e, whole);
        if (reason == NULL) {
            return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
        }
        r[i] = (struct plan_rejected){
            search_own(q, e->machine->vendor), search_own(q, e->machine->region),
            search_own(q, e->machine->type), purchase_name(e->machine->purchase), reason};
    }
    out->rejected = r;
    out->n_rejected = failed + dearer;
    return 0;
}
