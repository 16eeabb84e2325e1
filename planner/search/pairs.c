/* The pairs of offer and number of machines, with their lower bounds. Of a million pairs some
 * hundreds are worth a look, so they are neither stored nor sorted all: a histogram over the
 * leading bits of each machine's least bound gives the cheapest few thousand, and of the rest only
 * those are collected that the front found meanwhile does not cover. What is left out is what the
 * pass would skip at its turn: a front only ever covers more. */
#include "pass.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 65536
/* Machines whose pairs are sorted before anything is left out; each further look takes four times
 * as many, the one after MORE_MACHINES all. */
#define FIRST_MACHINES 64
#define MORE_MACHINES  4096

/* One number of machines of one shape. */
struct number {
    int n;
    const struct kind *k;
    double hours; /* paid for: n x the least run */
};
struct shape {
    size_t first, end; /* its numbers */
    size_t least;      /* the one with the fewest hours; end = none fits */
    double most_hours;
    const char *unfit; /* why the first of those that do not fit does not */
};
struct place_sum {
    double min_usd;
    bool at_least[2]; /* by whether it is spot */
};

struct slate {
    struct search *q;
    struct outcome *o;
    struct number *number;
    size_t n_numbers;
    struct shape *shape;
    bool *shape_used; /* by a machine that passes the filters */
    struct place_sum *region;
    double *dearest; /* of each cell: the price an hour from which on nothing is worth a look; -1 =
                      * unknown */
    double *least;   /* bound of each machine's cheapest number; NAN: none */
    uint32_t *keys;
    size_t next_key, done;
    struct pair *pair;
    size_t cap;
};

/* What is remembered between plans lives here. */
static struct arena *keep_of(const struct search *q)
{
    return q->keep != NULL ? q->keep : q->arena;
}

/* The order of bounds in 16 bits: no bound is negative, so its leading bits (exponent and five
 * more) are in its order; below 2^-24 USD all are alike. */
static unsigned key_of(double usd, bool at_least)
{
    const uint64_t lowest = (1023 - 24) << 5;
    uint64_t bits;
    usd = usd > 0 ? usd : 0;
    memcpy(&bits, &usd, sizeof bits);
    bits >>= 47;
    bits = bits > lowest ? bits - lowest : 0;
    return (unsigned)at_least << 15 | (unsigned)(bits < KEYS / 2 ? bits : KEYS / 2 - 1);
}

static bool region_at_least(const struct region *r)
{
    bool all = r->common.at_least;
    if (!all) {
        all = true;
        for (size_t i = 0; i < r->n_places; i++) {
            all = all && r->place[i].charges.at_least;
        }
    }
    return all;
}

static int by_bound(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = cost_order(x->usd, x->at_least, y->usd, y->at_least);
    if (order != 0) {
        return order;
    }
    if (x->m != y->m) {
        return x->m < y->m ? -1 : 1;
    }
    return (x->n > y->n) - (x->n < y->n);
}

static void count_range(const struct scenario *s, const struct machine *m, int *lo, int *hi)
{
    *lo = (int)fmax(1, ceil(s->gpus_min / m->gpus - 1e-9));
    *hi = (int)fmin(SEARCH_MAX_INSTANCES, floor(s->gpus_max / m->gpus + 1e-9));
    if (m->gpus < 1) { /* a slice does not gang up */
        *hi = s->gpus_min <= 1 && *lo == 1 ? 1 : 0;
    }
}

/* Numbers of machines that are considered: all up to 32, above that eight for each doubling, and
 * the least and the most that the scenario allows. */
int search_next_count(int n, int hi)
{
    int step = 1;
    while (n >= 32 * step) {
        step *= 2;
    }
    step = step > 1 ? step * 2 : 1;
    int next = (n / step + 1) * step;
    return next > hi && n < hi ? hi : next;
}

/* The kinds of each shape: thousands of machines share them. */
static bool add_number(struct slate *s, size_t *cap, const struct machine *m, int n)
{
    if (s->n_numbers == *cap) {
        *cap = *cap == 0 ? 1024 : 2 * *cap;
        struct number *grown = realloc(s->number, *cap * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        s->number = grown;
    }
    struct number *num = &s->number[s->n_numbers++];
    *num = (struct number){.n = n, .k = search_kind(s->q, m, n)};
    if (num->k != NULL) {
        num->hours = n * (num->k->work_h + s->q->s->setup_s / 3600);
    }
    return num->k != NULL;
}

static bool make_shapes(struct slate *s)
{
    struct search *q = s->q;
    size_t cap = 0;
    for (size_t i = 0; i < q->n_shapes; i++) {
        struct shape *shape = &s->shape[i];
        int lo, hi;
        *shape = (struct shape){.first = s->n_numbers};
        count_range(q->s, q->shape[i], &lo, &hi);
        for (int k = lo; k <= hi && s->shape_used[i]; k = search_next_count(k, hi)) {
            if (!add_number(s, &cap, q->shape[i], k)) {
                return false;
            }
        }
        shape->end = shape->least = s->n_numbers;
        for (size_t j = shape->first; j < shape->end; j++) {
            const struct number *num = &s->number[j];
            if (!num->k->ok) {
                shape->unfit = shape->unfit != NULL ? shape->unfit : num->k->reason;
                s->o->memory_binds = s->o->memory_binds || num->k->memory_reason;
                continue;
            }
            shape->most_hours = fmax(shape->most_hours, num->hours);
            if (shape->least == shape->end || num->hours < s->number[shape->least].hours) {
                shape->least = j;
            }
        }
    }
    return true;
}

/* The lower bound of evaluate.c; what is paid by the hour needs no call. */
static double bound_of(const struct slate *s, const struct brief *b, size_t i,
                       const struct number *num)
{
    if (b->hourly) {
        return b->usd_h * num->hours + s->region[b->region].min_usd;
    }
    double usd, time_h, risk;
    lower_bound(s->q, &s->q->machine[i], num->k, num->n, &usd, &time_h, &risk);
    return usd;
}

/* A maximum price under the price of now: no such machine starts. */
static bool capped_out(struct search *q, struct outcome *o, const struct machine *m, double usd)
{
    if (!(q->s->spot_max_price_factor > 0 && m->cap_usd < m->usd_h)) {
        return false;
    }
    double factor = q->s->spot_max_price_factor * m->usd_h / m->cap_usd;
    o->least_factor = o->least_factor > 0 ? fmin(o->least_factor, factor) : factor;
    const struct rejected *r = &o->ledger.slot[m->group];
    const char *why = r->reason != NULL || r->accepted
                          ? ""
                          : arena_printf(q->arena,
                                         "maximum price %.4f USD/h (spot.max_price_factor) is "
                                         "below the price of now, %.4f: no machine starts",
                                         m->cap_usd, m->usd_h);
    note_reject(o, m, REJECT_CAP, why, usd);
    return true;
}

static bool over_budget(const struct search *q, double usd)
{
    return q->use_budget && usd * (1 - SLACK) > q->budget_usd;
}

/* The first pair of a machine bought one way. */
static void note_first(struct slate *s, const struct pair *p)
{
    struct rejected *r = &s->o->ledger.slot[p->m->group];
    const struct pair was = {
        .m = r->first, .n = r->first_n, .usd = r->first_usd, .at_least = r->first_at_least};
    if (r->first == NULL || by_bound(p, &was) < 0) {
        r->first = p->m;
        r->first_n = p->n;
        r->first_usd = p->usd;
        r->first_at_least = p->at_least;
    }
}

/* The least bound over the budget of a machine bought one way. */
static void note_over(struct slate *s, const struct machine *m, double usd)
{
    struct rejected *r = &s->o->ledger.slot[m->group];
    if (over_budget(s->q, usd) && (r->over == NULL || usd < r->over_usd)) {
        r->over = m;
        r->over_usd = usd;
    }
}

/* The bound of a machine's cheapest number, and what the ledger has to know of the others. */
static double least_of(struct slate *s, const struct brief *b, size_t i)
{
    const struct shape *shape = &s->shape[b->shape];
    const struct machine *m = &s->q->machine[i];
    size_t best = shape->least;
    if (shape->unfit != NULL) {
        note_reject(s->o, m, REJECT_FIT, shape->unfit, 0);
    }
    if (best == shape->end) {
        return (double)NAN;
    }
    double usd = bound_of(s, b, i, &s->number[best]);
    for (size_t j = shape->first; j < shape->end && !b->hourly; j++) {
        double other = s->number[j].k->ok ? bound_of(s, b, i, &s->number[j]) : (double)INFINITY;
        if (other < usd) {
            usd = other;
            best = j;
        }
    }
    if (s->q->s->spot_max_price_factor > 0 && capped_out(s->q, s->o, m, usd)) {
        return (double)NAN;
    }
    const struct pair p = {.m = m,
                           .n = s->number[best].n,
                           .usd = usd,
                           .at_least = s->region[b->region].at_least[b->spot]};
    note_first(s, &p);
    bool over = s->q->use_budget &&
                (!b->hourly ||
                 over_budget(s->q, b->usd_h * shape->most_hours + s->region[b->region].min_usd));
    for (size_t j = shape->first; j < shape->end && over; j++) {
        if (s->number[j].k->ok) {
            note_over(s, m, bound_of(s, b, i, &s->number[j]));
        }
    }
    return usd;
}

static void slate_free(struct slate *s)
{
    if (s != NULL) {
        free(s->number);
        free(s->shape);
        free(s->shape_used);
        free(s->region);
        free(s->dearest);
        free(s->least);
        free(s->keys);
        free(s->pair);
    }
    free(s);
}

static void sum_regions(struct slate *s)
{
    const struct search *q = s->q;
    for (size_t i = 0; i < q->n_regions; i++) {
        const struct region *r = &q->region[i];
        bool all = region_at_least(r);
        s->region[i] = (struct place_sum){r->min_usd, {all, all || r->checkpoint_unpriced}};
    }
}

/* Where the hours of the best placements are remembered. */
static bool open_hours(struct search *q)
{
    if (q->least_h != NULL && q->least_for != q->s->gpus_max) { /* other numbers of machines */
        memset(q->least_h, 0, q->n_cells * sizeof(double *));
    }
    if (q->least_h == NULL) {
        q->least_h = arena_array(keep_of(q), q->n_cells + 1, sizeof(double *));
    }
    q->least_for = q->s->gpus_max;
    return q->least_h != NULL;
}

struct slate *slate_open(struct search *q, struct outcome *o)
{
    struct slate *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->q = q;
    s->o = o;
    s->shape = malloc((q->n_shapes + 1) * sizeof *s->shape);
    s->shape_used = calloc(q->n_shapes + 1, sizeof *s->shape_used);
    s->region = malloc((q->n_regions + 1) * sizeof *s->region);
    s->least = malloc((q->n_machines + 1) * sizeof *s->least);
    s->keys = calloc(KEYS, sizeof *s->keys);
    s->dearest = malloc((q->n_cells + 1) * sizeof *s->dearest);
    bool ok = s->shape != NULL && s->shape_used != NULL && s->region != NULL && s->least != NULL &&
              s->keys != NULL && s->dearest != NULL;
    for (size_t i = 0; i < q->n_machines && ok; i++) {
        if (search_selected(q, i)) {
            s->shape_used[q->brief[i].shape] = true;
            o->machines++;
        }
    }
    if (!ok || !make_shapes(s) || !open_hours(q)) {
        slate_free(s);
        return NULL;
    }
    sum_regions(s);
    for (size_t i = 0; i < q->n_machines; i++) {
        const struct brief *b = &q->brief[i];
        if (!search_selected(q, i)) {
            s->least[i] = (double)NAN;
            continue;
        }
        o->candidates +=
            q->region[b->region].n_places * (s->shape[b->shape].end - s->shape[b->shape].first);
        s->least[i] = least_of(s, b, i);
        if (!isnan(s->least[i])) {
            s->keys[key_of(s->least[i], s->region[b->region].at_least[b->spot])]++;
        }
    }
    return s;
}

/* From which cost on a plan with this least time is covered whatever its exposure. */
static double covered_cost(const struct outcome *o, double time_h, bool at_least)
{
    const struct steps v = steps(0, at_least, time_h * (1 - SLACK), 0);
    double least = (double)INFINITY;
    for (size_t i = 0; i < o->n_front; i++) {
        const struct steps *w = &o->front_steps[i];
        if (w->risk <= 0 && w->time <= v.time && w->at_least <= v.at_least && w->usd < least) {
            least = w->usd;
        }
    }
    return least;
}

/* The bound above which a pair is behind the whole ranking. */
static double top_limit(const struct outcome *o, bool at_least)
{
    if (o->n_top < o->want) {
        return (double)INFINITY;
    }
    const struct candidate *last = &o->top[o->want - 1];
    return at_least == last->at_least ? last->cost_usd : at_least ? -1 : (double)INFINITY;
}

/* Hours that the best placement of a region takes at least; remembered between plans. */
static double best_hours(const struct slate *s, const struct brief *b, size_t j)
{
    const struct search *q = s->q;
    const struct region *r = &q->region[b->region];
    const struct shape *shape = &s->shape[b->shape];
    double **cell = &q->least_h[b->cell], unkept, *known = &unkept;
    struct candidate c = {
        .machine = q->shape[b->shape], .kind = s->number[j].k, .n = s->number[j].n};
    if (*cell == NULL) {
        *cell = arena_array(keep_of(q), shape->end - shape->first, sizeof **cell);
    }
    if (*cell != NULL) {
        known = &(*cell)[j - shape->first];
        if (*known > 0) {
            return *known;
        }
    }
    *known = (double)INFINITY;
    for (size_t i = 0; i < r->n_places; i++) {
        c.place = &r->place[i];
        if (place_allows(c.place, c.machine, c.n)) {
            *known = fmin(*known, least_hours(q, &c, b->spot));
        }
    }
    if (isinf(*known)) { /* no placement holds the data: tried, that it may be said */
        *known = DBL_MIN;
    }
    return *known;
}

/* The bound, in steps, from which on a number of machines is behind the ranking and covered. */
static double useless_from(const struct slate *s, const struct brief *b, size_t j)
{
    const struct search *q = s->q;
    bool at_least = s->region[b->region].at_least[b->spot];
    double wait = b->spot ? 0 : q->s->start_wait_on_demand_s / 3600; /* some, on spot */
    double top = ceil(top_limit(s->o, at_least) * (1 + 1e-6) * 100) + 1;
    return q->cheapest_only ? top
                            : fmax(top, covered_cost(s->o, wait + best_hours(s, b, j), at_least));
}

/* The dearest price an hour of a shape in a region that is worth a look. */
static double dearest_of(struct slate *s, const struct brief *b)
{
    const struct shape *shape = &s->shape[b->shape];
    double *known = &s->dearest[b->cell];
    if (*known >= 0) {
        return *known;
    }
    *known = 0;
    for (size_t j = shape->first; j < shape->end; j++) {
        if (s->number[j].k->ok) {
            double usd = (useless_from(s, b, j) + 1) / 100 * (1 + 1e-6);
            double other = s->region[b->region].min_usd;
            *known = fmax(*known, (usd - other) / s->number[j].hours);
        }
    }
    return *known;
}

/* Could the pair change anything that is known by now? */
static bool worth_a_look(const struct slate *s, const struct brief *b, size_t j, double usd)
{
    const struct search *q = s->q;
    if (!q->prune) {
        return true;
    }
    return !over_budget(q, usd) && floor(usd * (1 - SLACK) * 100) < useless_from(s, b, j);
}

static bool keep_pair(struct slate *s, size_t n, const struct pair *p)
{
    if (n == s->cap) {
        size_t cap = s->cap == 0 ? 4096 : 2 * s->cap;
        struct pair *grown = realloc(s->pair, cap * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        s->pair = grown;
        s->cap = cap;
    }
    s->pair[n] = *p;
    return true;
}

/* The pairs whose keys lie in [from, to]. */
static bool collect(struct slate *s, unsigned from, unsigned to, size_t *n)
{
    const struct search *q = s->q;
    *n = 0;
    for (size_t i = 0; i < q->n_cells; i++) {
        s->dearest[i] = -1;
    }
    for (size_t i = 0; i < q->n_machines; i++) {
        const struct brief *b = &q->brief[i];
        const struct shape *shape = &s->shape[b->shape];
        bool at_least = s->region[b->region].at_least[b->spot];
        if (isnan(s->least[i]) || key_of(s->least[i], at_least) > to ||
            (q->prune && b->hourly && b->usd_h > dearest_of(s, b))) {
            continue;
        }
        for (size_t j = shape->first; j < shape->end; j++) {
            const struct number *num = &s->number[j];
            if (!num->k->ok) {
                continue;
            }
            double usd = bound_of(s, b, i, num);
            unsigned key = key_of(usd, at_least);
            if (key < from || key > to || !worth_a_look(s, b, j, usd)) {
                continue;
            }
            const struct pair p = {
                .m = &q->machine[i], .k = num->k, .n = num->n, .at_least = at_least, .usd = usd};
            if (!keep_pair(s, (*n)++, &p)) {
                return false;
            }
        }
    }
    if (*n > 0) { /* else there may be no array */
        qsort(s->pair, *n, sizeof *s->pair, by_bound);
    }
    return true;
}

bool slate_next(struct slate *s, const struct pair **pair, size_t *n)
{
    *n = 0;
    while (*n == 0 && s->next_key < KEYS) {
        size_t want = s->done == 0              ? FIRST_MACHINES
                      : s->done < MORE_MACHINES ? 3 * s->done
                                                : SIZE_MAX;
        size_t to = s->next_key;
        size_t got = s->keys[to];
        while (to + 1 < KEYS && got < want) {
            got += s->keys[++to];
        }
        s->done += got;
        if (!collect(s, (unsigned)s->next_key, (unsigned)to, n)) {
            return false;
        }
        s->next_key = to + 1;
    }
    *pair = s->pair;
    return true;
}

int slate_close(struct slate *s)
{
    struct search *q = s->q;
    struct outcome *o = s->o;
    int rc = 0;
    for (size_t i = 0; i < q->n_groups && q->prune; i++) {
        struct rejected *r = &o->ledger.slot[i];
        if (r->first != NULL && r->machine == NULL) {
            r->machine = r->first;
        }
        if (r->first != NULL && !over_budget(q, r->first_usd)) {
            note_dearer(r, r->first_usd, r->first_at_least, true);
        }
        if (r->over != NULL && !r->accepted && r->reason == NULL) {
            note_reject(o, r->over, REJECT_BUDGET,
                        arena_printf(q->arena, "over the budget: at least %.2f USD, %.2f allowed",
                                     r->over_usd, q->budget_usd),
                        r->over_usd);
            rc = r->reason == NULL ? GT_ENOMEM : rc;
        }
    }
    slate_free(s);
    return rc;
}
