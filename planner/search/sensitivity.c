/* What the answer hinges on: for each input the range within which the first plan stays the first,
 * and which plan takes its place beyond it. Each point is a whole search with one input changed, so
 * the next best is exact and no shortcut of a formula is taken; the change is looked for on a grid
 * of factors to TRIED both ways and bisected to 1 %. A change that comes and goes between two
 * points of the grid is not seen. */
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIED 10.0

enum knob {
    KNOB_PRICE,  /* of the first plan's machine */
    KNOB_SPOT,   /* all spot prices */
    KNOB_HAZARD, /* interruptions of every spot machine, each from its own rate */
    KNOB_RATE,   /* of all GPUs: the model's figure against what will be measured */
    KNOB_DECODE, /* samples/s that a vCPU decodes */
    KNOB_DATA,   /* size of the training data */
    KNOB_DEADLINE,
    KNOB_COUNT
};

struct study {
    const struct scenario *s;
    const struct catalog *c;
    struct plan_options o;
    const struct plan *best;
    struct arena *arena;
    struct scenario_data *data; /* copy that is changed */
    int64_t price_row;          /* store id of the first plan's machine price */
    size_t searches;
    struct gt_error *err;
};

struct point {
    bool same;
    const char *best; /* NULL = no plan meets the constraints */
};

static bool is_spot(const struct plan *p)
{
    return p->purchase == PURCHASE_SPOT || p->purchase == PURCHASE_LOW_PRIORITY;
}

static int64_t price_row(const struct plan *p)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        enum component k = p->line[i].component;
        if ((k == COMP_COMPUTE_SPOT || (k == COMP_COMPUTE_ON_DEMAND && !is_spot(p)) ||
             k == COMP_COMMITMENT) &&
            p->line[i].row_id != 0) {
            return p->line[i].row_id;
        }
    }
    return 0;
}

static double value_of(const struct study *y, enum knob k)
{
    const struct scenario *s = y->s;
    switch (k) {
    case KNOB_HAZARD:
        return (s->purchase_mask & (1u << PURCHASE_SPOT | 1u << PURCHASE_LOW_PRIORITY)) == 0 ? 0
               : is_spot(y->best)           ? y->best->interruption_per_h / y->best->instances
               : s->interruption_per_h >= 0 ? s->interruption_per_h
               : y->c->n_hazards > 0        ? 1 /* each has its own: a factor */
                                            : SEARCH_ASSUMED_LAMBDA;
    case KNOB_DECODE: {
        int m = s->model[0] != '\0' ? catalog_model(y->c, s->model) : -1;
        bool image = m >= 0 && isfinite(y->c->models[m].image_px);
        return s->gpu_decode            ? 0
               : s->decode_per_vcpu > 0 ? s->decode_per_vcpu
               : image                  ? MODEL_JPEG_PER_VCPU
                                        : 0;
    }
    case KNOB_DATA:
        for (size_t i = 0; i < s->n_data; i++) {
            if (s->data[i].role == ROLE_TRAINING_DATA) {
                return (double)s->data[i].size_bytes;
            }
        }
        return 0;
    case KNOB_DEADLINE:
        return s->deadline_s;
    case KNOB_PRICE:
        return y->price_row != 0 ? 1 : 0;
    case KNOB_SPOT:
        return (s->purchase_mask & 1u << PURCHASE_SPOT) != 0 ? 1 : 0;
    default:
        return 1;
    }
}

static uint64_t scaled(uint64_t n, double factor)
{
    double v = (double)n * factor;
    return v < 1 ? 1 : v > 9e18 ? (uint64_t)9e18 : (uint64_t)v;
}

static void turn(struct study *y, enum knob k, double factor, struct scenario *s,
                 struct search_tweak *t)
{
    double value = value_of(y, k);
    *s = *y->s;
    *t = (struct search_tweak){.price_row = 0, .price = 1, .spot = 1, .rate = 1, .hazard = 1};
    switch (k) {
    case KNOB_PRICE:
        t->price_row = y->price_row;
        t->price = factor;
        break;
    case KNOB_SPOT:
        t->spot = factor;
        break;
    case KNOB_HAZARD:
        t->hazard = factor;
        break;
    case KNOB_RATE:
        t->rate = factor;
        break;
    case KNOB_DECODE:
        s->decode_per_vcpu = value * factor;
        break;
    case KNOB_DATA:
        for (size_t i = 0; i < s->n_data; i++) {
            y->data[i] = y->s->data[i];
            if (y->data[i].role == ROLE_TRAINING_DATA) {
                y->data[i].size_bytes = scaled(y->data[i].size_bytes, factor);
            }
        }
        s->data = y->data;
        break;
    case KNOB_DEADLINE:
        s->deadline_s = value * factor;
        break;
    default:
        break;
    }
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
    return a->instances == b->instances && strcmp(a->vendor, b->vendor) == 0 &&
           strcmp(a->region, b->region) == 0 && strcmp(a->instance_type, b->instance_type) == 0 &&
           strcmp(a->gpu, b->gpu) == 0 && a->purchase == b->purchase &&
           strcmp(a->policy, b->policy) == 0;
}

static int look(struct study *y, enum knob k, double factor, struct point *out)
{
    struct scenario s;
    struct search_tweak t;
    struct plan_set *set = NULL;
    turn(y, k, factor, &s, &t);
    y->searches++;
    int rc = search_with(&s, y->c, &y->o, &t, &set, y->err);
    *out = (struct point){.same = false, .best = NULL};
    if (rc == 0) {
        const struct plan *p = &set->plan[0];
        out->same = same_plan(p, y->best);
        out->best =
            arena_printf(y->arena, "%d x %s %s in %s/%s", p->instances, p->instance_type,
                         strcmp(p->policy, "greedy") == 0 || strcmp(p->policy, "fallback") == 0
                             ? "spot, then on demand"
                             : purchase_name(p->purchase),
                         p->vendor, p->region);
        rc = out->best == NULL ? gt_fail(y->err, GT_ENOMEM, "", "out of memory") : 0;
    } else if (rc == GT_EINFEASIBLE) {
        rc = 0;
    }
    plan_set_free(set);
    return rc;
}

/* The nearest factor beyond 1 (up or down) at which another plan is the first; 0 = none found. */
static int edge(struct study *y, enum knob k, bool up, double *factor, const char **best)
{
    static const double grid[] = {1.05, 1.1, 1.25, 1.5, 2, 3, 5, TRIED};
    double in = 1, beyond = 0;
    struct point p = {.same = true};
    int rc = 0;
    *factor = 0;
    *best = NULL;
    for (size_t i = 0; i < sizeof grid / sizeof grid[0] && rc == 0 && beyond == 0; i++) {
        double at = up ? grid[i] : 1 / grid[i];
        rc = look(y, k, at, &p);
        beyond = rc == 0 && !p.same ? at : 0;
        in = p.same ? at : in;
        *best = p.same ? NULL : p.best;
    }
    while (rc == 0 && beyond != 0 && fabs(log(beyond / in)) > 0.01) {
        double middle = sqrt(in * beyond);
        rc = look(y, k, middle, &p);
        if (p.same) {
            in = middle;
        } else {
            beyond = middle;
            *best = p.best;
        }
    }
    *factor = beyond != 0 ? in : 0;
    return rc;
}

static const char *name_of(struct study *y, enum knob k, const char **unit)
{
    static const char *const names[KNOB_COUNT] = {[KNOB_SPOT] = "all spot prices",
                                                  [KNOB_HAZARD] = "interruptions of a spot machine",
                                                  [KNOB_RATE] = "rate (MFU) of all GPUs",
                                                  [KNOB_DECODE] = "decoding by one vCPU",
                                                  [KNOB_DATA] = "size of the training data",
                                                  [KNOB_DEADLINE] = "deadline"};
    static const char *const units[KNOB_COUNT] = {
        [KNOB_PRICE] = "factor", [KNOB_SPOT] = "factor",      [KNOB_HAZARD] = "1/h",
        [KNOB_RATE] = "factor",  [KNOB_DECODE] = "samples/s", [KNOB_DATA] = "bytes",
        [KNOB_DEADLINE] = "s"};
    bool own = is_spot(y->best) || y->s->interruption_per_h >= 0 || y->c->n_hazards == 0;
    *unit = k == KNOB_HAZARD && !own ? "factor" : units[k];
    if (k == KNOB_PRICE) {
        return arena_printf(y->arena, "price of %s %s in %s/%s", y->best->instance_type,
                            purchase_name(y->best->purchase), y->best->vendor, y->best->region);
    }
    return names[k];
}

static int study(struct study *y, struct plan_set *set)
{
    struct plan_hinge *h = arena_array(y->arena, KNOB_COUNT, sizeof *h);
    y->data = arena_array(y->arena, y->s->n_data + 1, sizeof *y->data);
    if (h == NULL || y->data == NULL) {
        return gt_fail(y->err, GT_ENOMEM, "", "out of memory");
    }
    size_t n = 0;
    for (enum knob k = 0; k < KNOB_COUNT; k++) {
        double value = value_of(y, k);
        if (!(value > 0)) {
            continue;
        }
        struct plan_hinge *at = &h[n++];
        *at = (struct plan_hinge){.value = value};
        at->input = name_of(y, k, &at->unit);
        bool cheaper = k == KNOB_PRICE; /* a lower price of the first plan never unseats it */
        int rc = cheaper ? 0 : edge(y, k, false, &at->lo, &at->below);
        rc = rc != 0 ? rc : edge(y, k, true, &at->hi, &at->above);
        if (rc != 0) {
            return rc;
        }
        at->hi_found = at->hi > 0;
        at->lo_found = at->lo > 0;
        at->hi = at->hi_found ? at->hi * value : (double)NAN;
        at->lo = at->lo_found ? at->lo * value : (double)NAN;
    }
    set->hinge = h;
    set->n_hinges = n;
    return 0;
}

int search_sensitivity(const struct scenario *s, const struct catalog *c,
                       const struct plan_options *o, struct plan_set *set, struct gt_error *err)
{
    struct study y = {.s = s,
                      .c = c,
                      .o = *o,
                      .best = &set->plan[0],
                      .arena = set->arena,
                      .price_row = price_row(&set->plan[0]),
                      .err = err};
    y.o.top = 1;
    y.o.sensitivity = false;
    return study(&y, set);
}
