/* Machines that may be a serving node, with their bills, and the commitment that pays for the base
 * of the fleet (serve.h; spot-model.md sections 8 and 9). */
#include "gputier/serve.h"
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTES 8

struct fleet_search {
    struct search q;
    struct scenario wanted; /* the caller's, with the purchase options that are looked at here */
    struct serve_answer *a;
    const int64_t *nodes; /* paid in each step, by the asked policy */
    const char *note[MAX_NOTES];
    struct gt_error *err;
};

static bool is_node(const struct fleet_search *f, const struct machine *m)
{
    return m->purchase == PURCHASE_ON_DEMAND && m->gpus >= f->wanted.gpus_min - 1e-9 &&
           m->usd_h > 0;
}

static int by_price(const void *x, const void *y)
{
    const struct machine *a = *(const struct machine *const *)x;
    const struct machine *b = *(const struct machine *const *)y;
    if (a->usd_h != b->usd_h) {
        return a->usd_h < b->usd_h ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

/* rate x node-steps x step: node-hours are exact in milliseconds. */
static int bill(const struct fleet_search *f, const struct serve_machine *m, int64_t node_steps,
                money *out)
{
    gt_u128 ms = (gt_u128)llround(f->a->step_s * 1000);
    money native = 0;
    int rc = money_mul_ratio(m->price_per_hour, (gt_u128)node_steps * ms, 3600000, &native);
    rc = rc ? rc : catalog_convert(f->q.c, m->price_currency, f->a->currency, native, out);
    return rc ? gt_fail(f->err, rc, "", "the cost cannot be given in %.10s", f->a->currency) : 0;
}

static double with_base(const struct fleet_search *f, int64_t base, double commit, double demand)
{
    double over = 0, hours = f->a->step_s / 3600;
    for (size_t t = 0; t < f->a->policy.steps; t++) {
        over += f->nodes[t] > base ? (double)(f->nodes[t] - base) : 0;
    }
    return (commit * (double)base * (double)f->a->policy.steps + demand * over) * hours;
}

static double commitment_usd_h(const struct machine *c)
{
    int64_t hours = purchase_term_hours(c->purchase);
    return hours > 0 ? c->usd_h + c->upfront_usd / (double)hours : (double)NAN;
}

static int commitments(struct fleet_search *f, const struct machine *node, struct serve_machine *m)
{
    struct serve_commitment *best = &m->commitment;
    for (size_t i = 0; i < f->q.n_machines; i++) {
        const struct machine *c = &f->q.machine[i];
        if (!purchase_is_commitment(c->purchase) || c->region_index != node->region_index ||
            strcmp(c->type, node->type) != 0 || strcmp(c->gpu, node->gpu) != 0) {
            continue;
        }
        double rate = commitment_usd_h(c);
        int64_t base = 0;
        int rc = capacity_base(f->nodes, f->a->policy.steps, rate, node->usd_h, &base, f->err);
        if (rc) {
            return rc;
        }
        double usd = with_base(f, base, rate, node->usd_h);
        if (!best->offered || usd < best->usd) {
            *best =
                (struct serve_commitment){.offered = true,
                                          .purchase = c->purchase,
                                          .payment = (enum payment)f->q.c->offers.payment[c->row],
                                          .nodes = base,
                                          .usd_per_hour = rate,
                                          .usd = usd};
        }
    }
    money usd = 0;
    int rc = best->offered ? money_from_double(best->usd, &usd) : 0;
    rc = rc || !best->offered ? rc
                              : catalog_convert(f->q.c, "USD", f->a->currency, usd, &best->cost);
    return rc ? gt_fail(f->err, rc, "", "the cost cannot be given in %.10s", f->a->currency) : 0;
}

static int fill(struct fleet_search *f, const struct machine *node, struct serve_machine *m)
{
    const struct catalog_offers *o = &f->q.c->offers;
    const struct serve_answer *a = f->a;
    *m = (struct serve_machine){
        .vendor = search_own(&f->q, node->vendor),
        .region = search_own(&f->q, node->region),
        .zone = search_own(&f->q, catalog_text(f->q.c, o->zone[node->row])),
        .instance_type = search_own(&f->q, node->type),
        .gpu = search_own(&f->q, node->gpu),
        .gpu_count = node->gpus,
        .price_currency = search_own(&f->q, catalog_text(f->q.c, o->currency[node->row])),
        .source_id = search_own(&f->q, catalog_text(f->q.c, o->source[node->row])),
        .sku = search_own(&f->q, catalog_text(f->q.c, o->sku[node->row])),
        .price_per_hour = o->price_per_hour[node->row],
        .as_of = o->as_of[node->row],
        .row_id = o->id[node->row],
        .origin = (enum origin)o->origin[node->row],
        .usd_per_hour = node->usd_h};
    if (node->factor != 1) {
        money factor = 0;
        if (money_from_double(node->factor, &factor) ||
            money_mul_decimal(m->price_per_hour, factor, &m->price_per_hour)) {
            return gt_fail(f->err, GT_ERANGE, "", "the discounted price is out of range");
        }
    }
    int64_t fixed = a->run.static_nodes * (int64_t)a->policy.steps;
    int rc = bill(f, m, a->run.node_steps, &m->cost);
    rc = rc ? rc : bill(f, m, fixed, &m->fixed_cost);
    rc = rc ? rc : bill(f, m, a->clairvoyant_steps, &m->clairvoyant_cost);
    rc = rc ? rc : bill(f, m, a->best.run.node_steps, &m->recommended_cost);
    return rc ? rc : commitments(f, node, m);
}

static int machines(struct fleet_search *f, size_t top)
{
    struct search *q = &f->q;
    const struct machine **node = arena_array(q->arena, q->n_machines + 1, sizeof *node);
    if (!node) {
        return gt_fail(f->err, GT_ENOMEM, "", "out of memory");
    }
    size_t n = 0;
    for (size_t i = 0; i < q->n_machines; i++) {
        if (is_node(f, &q->machine[i])) {
            node[n++] = &q->machine[i];
        }
    }
    if (n == 0) {
        return gt_fail(f->err, GT_EINFEASIBLE, q->s->file,
                       "no machine with an on-demand price passes constraints.vendors, regions and "
                       "gpus (of one node: %d to %d GPUs)",
                       q->s->gpus_min, q->s->gpus_max);
    }
    qsort(node, n, sizeof *node, by_price);
    f->a->candidates = n;
    n = n < top ? n : top;
    struct serve_machine *m = arena_array(q->arena, n, sizeof *m);
    if (!m) {
        return gt_fail(f->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        int rc = fill(f, node[i], &m[i]);
        if (rc) {
            return rc;
        }
    }
    f->a->machine = m;
    f->a->n = n;
    return 0;
}

static void add_note(struct fleet_search *f, const char *text)
{
    if (f->a->n_notes < MAX_NOTES && text) {
        f->note[f->a->n_notes++] = text;
    }
}

static void notes(struct fleet_search *f)
{
    struct serve_answer *a = f->a;
    bool mixed = false, bundled = false;
    for (size_t i = 0; i < a->n; i++) {
        mixed = mixed || strcmp(a->machine[i].gpu, a->machine[0].gpu) != 0;
        bundled = bundled || a->machine[i].origin == ORIGIN_BUNDLED;
    }
    if (mixed) {
        add_note(f,
                 "serving.requests_per_s_per_node is taken for every machine listed, also of other "
                 "GPUs: name the one it was measured on (constraints.gpus)");
    }
    if (a->step_s < 60) {
        add_note(
            f,
            "billed by the second; vendors that bill at least a minute for each launch cost more");
    }
    if ((1 - a->policy.theta) * (double)a->run.peak_nodes < 1) {
        add_note(f, "the headroom of target_utilisation is less than one node: expect misses while "
                    "nodes warm up");
    }
    add_note(f, "the demand is taken to repeat over the term of a commitment");
    add_note(f, "spot is not used: a reclaimed node drops its requests");
    if (bundled) {
        add_note(f, "prices: bundled; `gputier fetch` gets newer ones");
    }
    const char **own = arena_array(f->q.arena, a->n_notes + 1, sizeof *own);
    for (size_t i = 0; own && i < a->n_notes; i++) {
        own[i] = f->note[i];
    }
    a->note = own;
    a->n_notes = own ? a->n_notes : 0;
}

/* The asked policy, its trace of nodes, and what it is compared with. */
static int policies(struct fleet_search *f, const double *load, size_t steps,
                    const struct serve_options *o, int64_t *nodes)
{
    struct serve_answer *a = f->a;
    double top = 0, low = INFINITY, sum = 0;
    for (size_t t = 0; t < steps; t++) {
        top = fmax(top, load[t]);
        low = fmin(low, load[t]);
        sum += load[t];
    }
    a->offered = sum * a->step_s;
    a->mean_over_peak = top > 0 ? sum / (double)steps / top : (double)NAN;
    a->peak_over_trough = low > 0 ? top / low : (double)NAN;
    serve_policy(f->q.s, load, steps, &a->policy);
    a->policy.nodes = nodes;
    f->nodes = nodes;
    int rc = autoscale_run(&a->policy, &a->run, f->err);
    a->policy.nodes = NULL;
    rc = rc ? rc : serve_clairvoyant(&a->policy, &a->clairvoyant_steps, f->err);
    return rc ? rc
              : serve_recommend(&a->policy, a->step_s, o->max_miss, &a->best, o->cancel, f->err);
}

static int search_fleet(struct fleet_search *f, const struct scenario *s, const double *load,
                        size_t steps, const struct serve_options *o)
{
    f->wanted = *s;
    f->wanted.purchase_mask = 1u << PURCHASE_ON_DEMAND;
    for (int p = 0; p < PURCHASE_COUNT; p++) {
        f->wanted.purchase_mask |= purchase_is_commitment((enum purchase)p) ? 1u << p : 0;
    }
    f->wanted.deadline_s = 0;
    f->q.s = &f->wanted;
    if (s->kind != WORKLOAD_SERVING) {
        return gt_fail(f->err, GT_EUNSUPPORTED, s->file,
                       "workload.kind is training: `plan` plans it, `serve` is for serving");
    }
    int64_t *nodes = malloc((steps + 1) * sizeof *nodes);
    if (!nodes) {
        return gt_fail(f->err, GT_ENOMEM, "", "out of memory for %zu steps", steps);
    }
    int rc = search_names(&f->q);
    rc = rc ? rc : search_machines(&f->q);
    rc = rc ? rc : policies(f, load, steps, o, nodes);
    rc = rc ? rc : machines(f, o->top);
    free(nodes);
    return rc;
}

int serve_search(const struct scenario *s, const struct catalog *c, const double *load,
                 size_t steps, const struct serve_options *o, struct serve_answer **out,
                 struct gt_error *err)
{
    *out = NULL;
    struct plan_options po = {.now = o->now};
    struct arena *arena = arena_new(0);
    struct fleet_search *f = arena ? arena_alloc(arena, sizeof *f) : NULL;
    struct serve_answer *a = arena ? arena_alloc(arena, sizeof *a) : NULL;
    if (!f || !a) {
        arena_free(arena);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    a->arena = arena;
    a->step_s = s->step_s;
    a->max_miss = o->max_miss;
    a->currency = arena_printf(arena, "%s", o->currency && o->currency[0] ? o->currency : "USD");
    f->a = a;
    f->err = err;
    f->q.c = c;
    f->q.o = &po;
    f->q.arena = arena;
    f->q.err = err;
    int rc = search_fleet(f, s, load, steps, o);
    if (rc) {
        arena_free(arena);
        return rc;
    }
    notes(f);
    *out = a;
    return 0;
}

void serve_free(struct serve_answer *a)
{
    if (a) {
        arena_free(a->arena);
    }
}
