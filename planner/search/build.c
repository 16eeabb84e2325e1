/* A candidate as a plan: identity, placement, time with its spread, cost with its range. */
#include "place.h"
#include <math.h>
#include <string.h>

const char *component_name(enum component c)
{
    static const char *const name[COMP_COUNT] = {
        "compute_on_demand", "compute_spot", "interruption_waste", "commitment",    "storage",
        "requests",          "retrieval",    "transitions",        "data_transfer", "other"};
    return (unsigned)c < COMP_COUNT ? name[c] : "other";
}

const char *search_own(struct search *q, const char *s)
{
    const char *copy = s != NULL ? arena_strdup(q->arena, s) : NULL;
    q->no_memory = q->no_memory || (s != NULL && copy == NULL);
    return copy;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; *s != '\0'; s++) {
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    }
    return (h ^ 0xff) * 1099511628211u;
}

/* Stable name of what the plan fixes. */
static const char *plan_id(struct search *q, const struct candidate *c)
{
    const struct machine *m = c->machine;
    const struct catalog_offers *f = &q->c->offers;
    char text[64];
    uint64_t h = 14695981039346656037u;
    h = hash_text(h, m->vendor);
    h = hash_text(h, m->region);
    h = hash_text(h, m->type);
    h = hash_text(h, purchase_name(m->purchase));
    h = hash_text(h, c->place->tier);
    h = hash_text(h, c->place->option);
    h = hash_text(h, c->place->source);
    h = hash_text(h, c->fallback ? "fallback" : c->mixed ? "greedy" : "");
    h ^= (uint64_t)c->n * 0x9e3779b97f4a7c15u;
    h ^= (uint64_t)f->payment[m->row] << 8 ^ (uint64_t)f->offering_class[m->row] << 16;
    h = hash_text(h, money_format(f->price_per_hour[m->row], text));
    return arena_printf(q->arena, "p%012llx", (unsigned long long)(h & 0xffffffffffffu));
}

static int last_month(double months)
{
    return (int)fmax(1, ceil(months - 1e-9));
}

static int set_placement(struct search *q, const struct candidate *c, struct plan *out)
{
    const struct scenario *s = q->s;
    const struct region *r = &q->region[c->machine->region_index];
    struct plan_placement *p = arena_array(q->arena, 2 * s->n_data + 1, sizeof *p);
    size_t n = 0;
    if (p == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < s->n_data; i++) {
        const struct scenario_data *d = &s->data[i];
        bool training = d->role == ROLE_TRAINING_DATA;
        bool in_place = training && c->place->mode == PLACE_IN_PLACE;
        struct region at = *r;
        if (d->vendor[0] != '\0') {
            at.vendor = d->vendor;
            at.region = d->region;
            at.vendor_id = catalog_id(q->c, d->vendor);
            at.region_id = catalog_id(q->c, d->region);
        }
        const char *home = tier_fixed(d) ? d->tier
                           : training    ? c->place->home_tier
                                         : free_tier(q, &at);
        p[n++] = (struct plan_placement){search_own(q, d->name), search_own(q, home), 0,
                                         last_month(d->keep_months)};
        if (training && !in_place && c->place->mode != PLACE_NONE) {
            p[n++] = (struct plan_placement){search_own(q, d->name), search_own(q, c->place->tier),
                                             0, last_month(c->makespan_h / 730)};
        }
    }
    out->placement = p;
    out->n_placement = n;
    return 0;
}

/* The model's answer with storage in it, and which limit comes next. */
static void set_rate(const struct search *q, const struct candidate *c, struct plan *out)
{
    out->rate = c->kind->rate;
    out->epoch_s = c->epoch_s;
    if (q->s->gpu_hours > 0) {
        return;
    }
    double limit = q->bytes_per_sample > 0 ? c->read_bps / q->bytes_per_sample : (double)INFINITY;
    out->rate.limit[BOUND_INPUT_STORAGE] = limit;
    if (c->storage_bound) {
        double slower = c->samples_per_s / out->rate.samples_per_s;
        out->rate.next_bound = out->rate.bound;
        out->rate.next_samples_per_s = out->rate.samples_per_s;
        out->rate.bound = BOUND_INPUT_STORAGE;
        out->rate.samples_per_s = c->samples_per_s;
        out->rate.lo *= slower;
        out->rate.hi *= slower;
    } else if (!c->cached && limit < out->rate.next_samples_per_s) {
        out->rate.next_bound = BOUND_INPUT_STORAGE;
        out->rate.next_samples_per_s = limit;
    }
}

/* machine: USD of the machines in mixed runs, else they follow from the billed hours. */
static int quantile_cost(struct search *q, const struct candidate *c, double makespan,
                         double billed, double machine, const struct plan *p, money *out)
{
    struct candidate k = *c;
    k.makespan_h = makespan;
    k.billed_h = billed;
    double usd = (c->mixed ? machine : machine_usd(q, c->machine, c->n, billed, makespan)) +
                 shared_usd(q, &k);
    double per_usd = money_to_double(catalog_fx_rate(q->c, p->currency, NULL));
    return money_from_double(round(usd * per_usd * 1e6) / 1e6, out);
}

static int set_time(struct search *q, const struct candidate *c, struct plan *out)
{
    struct risk_result r;
    int rc = risk_runs(q, c, &r);
    if (rc != 0) {
        return rc;
    }
    out->makespan_mean_s = c->makespan_h * 3600;
    out->block_wait_s =
        c->machine->purchase == PURCHASE_CAPACITY_BLOCK ? 3600 * block_wait_h(q, c->machine) : 0;
    out->makespan_p5_s = r.p5_h * 3600;
    out->makespan_p50_s = r.p50_h * 3600;
    out->makespan_p95_s = r.p95_h * 3600;
    out->deadline_probability = r.p;
    out->deadline_lo = r.lo;
    out->deadline_hi = r.hi;
    rc = quantile_cost(q, c, r.p5_h, r.billed_p5_h, r.machine_p5_usd, out, &out->p5);
    if (rc == 0) {
        rc = quantile_cost(q, c, r.p50_h, r.billed_p50_h, r.machine_p50_usd, out, &out->p50);
    }
    return rc != 0
               ? rc
               : quantile_cost(q, c, r.p95_h, r.billed_p95_h, r.machine_p95_usd, out, &out->p95);
}

static const char *interruption_basis(struct search *q, const struct machine *m)
{
    if (m->lambda_per_h <= 0) {
        return "on demand: not interrupted";
    }
    const struct catalog_hazard *h = m->hazard;
    if (h != NULL) {
        return arena_printf(
            q->arena, "%.3g/h per machine, %s %s: %lld drops in %.0f h up, 95 %% %.3g-%.3g",
            h->rate_per_h, h->trace ? "trace" : "recorded series of", catalog_text(q->c, h->basis),
            (long long)h->drops, h->up_h, h->lo_per_h, h->hi_per_h);
    }
    return q->s->interruption_per_h >= 0
               ? arena_printf(q->arena, "%g/h per machine, from the scenario", m->lambda_per_h)
               : arena_printf(q->arena, "%g/h per machine, assumed", m->lambda_per_h);
}

int build_plan(struct search *q, const struct candidate *c, int rank, struct plan *out)
{
    const struct machine *m = c->machine;
    *out = (struct plan){.rank = rank};
    out->id = plan_id(q, c);
    out->vendor = search_own(q, m->vendor);
    out->region = search_own(q, m->region);
    out->instance_type = search_own(q, m->type);
    out->gpu = search_own(q, m->gpu);
    out->zones = spread_zones(q, m, &out->n_zones);
    bool spot = m->lambda_per_h > 0 || m->purchase == PURCHASE_SPOT;
    out->instances = c->n;
    out->gpu_count = c->n * m->gpus;
    out->purchase = m->purchase;
    out->policy = c->fallback ? "fallback" : c->mixed ? "greedy" : spot ? "spot_only" : "on_demand";
    out->on_demand_share = spot ? 0 : 1;
    if (c->mixed) {
        out->on_demand_share = (c->demand_useful_h + c->demand_waste_h) / c->billed_h;
    }
    out->spot_share = 1 - out->on_demand_share;
    out->checkpoint_interval_s = c->checkpoints ? c->job.tau_h * 3600 : (double)NAN;
    out->checkpoint_tier = search_own(q, q->region[m->region_index].checkpoint_tier);
    out->interruption_per_h = c->job.lambda_per_h;
    out->interruption_basis = interruption_basis(q, m);
    out->interruptions = c->interruptions;
    out->memory = c->kind->memory;
    out->at_least = c->at_least;
    set_rate(q, c, out);
    int rc = out->id == NULL || out->interruption_basis == NULL || q->no_memory
                 ? gt_fail(q->err, GT_ENOMEM, "", "out of memory")
                 : set_placement(q, c, out);
    if (rc == 0) {
        rc = build_bill(q, c, out);
    }
    if (rc == 0) {
        rc = set_time(q, c, out);
    }
    if (rc == 0 && q->epochs > 0) {
        rc = money_mul_ratio(out->total, 1000000, (gt_u128)llround(q->epochs * 1000000),
                             &out->total_per_epoch);
    }
    if (rc == 0 && q->no_memory) {
        rc = gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    return rc != 0 ? rc : build_notes(q, c, out);
}
