/* Commitments beside renting by the hour (shared/docs/spot-model.md sections 7 and 8): break-even
 * use, what it costs over the horizon at the declared use, after how long it pays, what is lost
 * when the need ends early, and how many machines to commit to for an hourly demand. */
#include "gputier/capacity.h"
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One of each vendor, machine, kind and payment is kept, and this many of them are shown. */
#define MAX_SHOWN  12
#define MAX_KINDS  512
#define FREE_NODES 1000000 /* no limit is known on the spot machines that can be had */

struct sold {
    const struct machine *m;
    int n;
    double usd_gpu_h; /* of a term that is used all the time */
};

static bool same_place(const struct search *q, const struct machine *a, const struct machine *b)
{
    const struct catalog_offers *f = &q->c->offers;
    return a->region_index == b->region_index && a->gpus == b->gpus &&
           f->instance_type[a->row] == f->instance_type[b->row] && f->gpu[a->row] == f->gpu[b->row];
}

static bool same_kind(const struct search *q, const struct machine *a, const struct machine *b)
{
    const struct catalog_offers *f = &q->c->offers;
    return a->purchase == b->purchase && f->vendor[a->row] == f->vendor[b->row] &&
           f->instance_type[a->row] == f->instance_type[b->row] &&
           f->gpu[a->row] == f->gpu[b->row] && f->payment[a->row] == f->payment[b->row];
}

static int by_price(const void *a, const void *b)
{
    const struct sold *x = a, *y = b;
    if (x->usd_gpu_h != y->usd_gpu_h) {
        return x->usd_gpu_h < y->usd_gpu_h ? -1 : 1;
    }
    return (x->m->row > y->m->row) - (x->m->row < y->m->row);
}

/* The same machine bought another way, the cheapest; NULL = not sold. */
static const struct machine *other_way(const struct search *q, const struct machine *m,
                                       enum purchase p)
{
    const struct machine *best = NULL;
    for (size_t i = 0; i < q->n_machines; i++) {
        const struct machine *x = &q->machine[i];
        if (search_selected(q, i) && x->purchase == p && same_place(q, x, m) &&
            (best == NULL || x->usd_h < best->usd_h)) {
            best = x;
        }
    }
    return best;
}

/* rate of one machine x n, discount applied, in the plan's currency. */
static int rate_of(struct search *q, const struct machine *m, money native, double times,
                   const char *currency, money *out)
{
    money factor = 0;
    int rc = money_from_double(m->factor * times, &factor);
    rc = rc != 0 ? rc : money_mul_decimal(native, factor, out);
    return rc != 0 ? rc
                   : catalog_convert(q->c, catalog_text(q->c, q->c->offers.currency[m->row]),
                                     currency, *out, out);
}

static int times(money rate, double hours, money *out)
{
    money h = 0;
    int rc = money_from_double(hours, &h);
    return rc != 0 ? rc : money_mul_decimal(rate, h, out);
}

/* Hours billed for one hour of work: what interruptions waste at the best interval. */
static double waste_factor(struct search *q, const struct machine *spot, int n)
{
    const struct region *r = &q->region[spot->region_index];
    struct candidate c = {.machine = spot, .n = n, .place = r->n_places > 0 ? &r->place[0] : NULL};
    c.kind = search_kind(q, spot, n);
    if (c.kind == NULL || !c.kind->ok || c.place == NULL || evaluate(q, &c) != 0 ||
        (c.reject != REJECT_NONE && c.reject != REJECT_BUDGET) || !(c.work_h > 0)) {
        return (double)NAN;
    }
    return c.billed_h / c.work_h;
}

static int by_the_hour(struct search *q, const struct sold *s, struct plan_commitment *out,
                       const char *currency)
{
    const struct catalog_offers *f = &q->c->offers;
    const struct machine *demand = other_way(q, s->m, PURCHASE_ON_DEMAND);
    const struct machine *spot = other_way(q, s->m, PURCHASE_SPOT);
    double waste = spot != NULL ? waste_factor(q, spot, s->n) : (double)NAN;
    int rc = 0;
    out->on_demand_h = out->spot_h = -1;
    if (demand != NULL) {
        rc = rate_of(q, demand, f->price_per_hour[demand->row], s->n, currency, &out->on_demand_h);
    }
    if (rc == 0 && isfinite(waste)) {
        rc = rate_of(q, spot, f->price_per_hour[spot->row], s->n * waste, currency, &out->spot_h);
    }
    return rc;
}

/* Share of the hours at which renting by the hour costs as much as the term. */
static double break_even(const struct plan_commitment *c, money hour)
{
    return hour > 0 ? money_to_double(c->term) / (money_to_double(hour) * c->term_h) : (double)NAN;
}

static int against_use(struct plan_commitment *c)
{
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        double hours = c->horizon_h * c->share[i];
        c->on_demand[i] = c->spot[i] = -1;
        c->pays_after_h[i] = (double)NAN;
        if (c->on_demand_h >= 0) {
            rc = times(c->on_demand_h, hours, &c->on_demand[i]);
            double after = break_even(c, c->on_demand_h) * c->term_h / c->share[i];
            c->pays_after_h[i] = after <= c->term_h ? after : (double)NAN;
        }
        if (rc == 0 && c->spot_h >= 0) {
            rc = times(c->spot_h, hours, &c->spot[i]);
        }
    }
    for (int i = 0; i < 3 && rc == 0; i++) {
        money used = 0;
        double mean = (c->share[0] + c->share[1]) / 2;
        if (c->on_demand_h >= 0) {
            rc = times(c->on_demand_h, c->term_h * (i + 1) / 4.0 * mean, &used);
        }
        c->lost[i] = c->term - used;
    }
    return rc;
}

/* How many machines to commit to when the demand is given by the hour; spot for any of the rest
 * where the scenario allows spot. */
static int mix_of(struct search *q, struct plan_commitment *c)
{
    size_t hours = q->s->n_use_hourly;
    int64_t *must = calloc(2 * hours + 1, sizeof *must), *cap = must + hours;
    struct capacity_mix_result r = {0};
    if (must == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    bool spot = c->spot_h >= 0 && c->spot_h < c->on_demand_h;
    for (size_t t = 0; t < hours; t++) {
        must[t] = spot ? 0 : q->s->use_hourly[t];
        cap[t] = FREE_NODES;
    }
    struct capacity_mix m = {.demand = q->s->use_hourly,
                             .must_run = must,
                             .spot_cap = cap,
                             .hours = hours,
                             .p_commit = money_to_double(c->total) / c->instances / c->horizon_h,
                             .p_spot_eff = spot ? money_to_double(c->spot_h) / c->instances : 0,
                             .p_od = money_to_double(c->on_demand_h) / c->instances};
    int rc = capacity_mix_best(&m, &r, q->err);
    free(must);
    double repeats = c->horizon_h / (double)hours, each = 1.0 / c->instances;
    money base = 0, demand = 0, rest = 0;
    c->mix_nodes = (int)r.reserved;
    c->mix_on_demand_h = (double)r.od_hours * repeats;
    c->mix_spot_h = (double)r.spot_hours * repeats;
    rc =
        rc != 0 ? rc : money_mul_ratio(c->total, (gt_u128)r.reserved, (gt_u128)c->instances, &base);
    rc = rc != 0 ? rc : times(c->on_demand_h, c->mix_on_demand_h * each, &demand);
    rc = rc != 0 || c->spot_h < 0 ? rc : times(c->spot_h, c->mix_spot_h * each, &rest);
    rc = rc != 0 ? rc : money_add(base, demand, &c->mix);
    return rc != 0 ? rc : money_add(c->mix, rest, &c->mix);
}

static int fill(struct search *q, const struct sold *s, const char *currency,
                struct plan_commitment *out)
{
    const struct catalog_offers *f = &q->c->offers;
    const struct machine *m = s->m;
    const char *payment = payment_name((enum payment)f->payment[m->row]);
    int term = (int)purchase_term_hours(m->purchase);
    *out = (struct plan_commitment){
        .vendor = search_own(q, m->vendor),
        .region = search_own(q, m->region),
        .instance_type = search_own(q, m->type),
        .gpu = search_own(q, m->gpu),
        .payment = search_own(q, payment != NULL ? payment : ""),
        .purchase = m->purchase,
        .instances = s->n,
        .gpu_count = s->n * m->gpus,
        .term_h = term,
        .horizon_h = q->s->use_horizon_s > 0 ? q->s->use_horizon_s / 3600 : (double)term,
        .terms = (int)commitment_terms(q, m->purchase),
        .share = {q->s->use_share_lo, q->s->use_share_hi},
        .mix_nodes = -1};
    money hourly = 0;
    int rc = rate_of(q, m, f->upfront[m->row], s->n, currency, &out->upfront);
    rc = rc != 0 ? rc
                 : rate_of(q, m, f->price_per_hour[m->row], (double)s->n * term, currency, &hourly);
    rc = rc != 0 ? rc : money_add(out->upfront, hourly, &out->term);
    rc = rc != 0 ? rc : money_mul_ratio(out->term, (gt_u128)out->terms, 1, &out->total);
    rc = rc != 0 ? rc : by_the_hour(q, s, out, currency);
    out->break_even = break_even(out, out->on_demand_h);
    out->break_even_spot = break_even(out, out->spot_h);
    rc = rc != 0 ? rc : against_use(out);
    if (rc == 0 && q->s->n_use_hourly > 0 && out->on_demand_h > 0) {
        rc = mix_of(q, out);
    }
    return rc != 0 || q->no_memory
               ? gt_fail(q->err, rc != 0 ? rc : GT_ENOMEM, "", "a commitment cannot be priced")
               : 0;
}

/* The commitments that pass, the cheapest place of each kind; at most MAX_KINDS. */
static size_t sold_of(const struct search *q, struct sold *sold, size_t *found)
{
    size_t n = 0;
    *found = 0;
    for (size_t i = 0; i < q->n_machines; i++) {
        if (q->brief[i].hourly || !search_selected(q, i)) {
            continue;
        }
        const struct machine *m = &q->machine[i];
        double term = (double)purchase_term_hours(m->purchase);
        if (!purchase_is_commitment(m->purchase) || !(term > 0) || m->gpus <= 0) {
            continue;
        }
        struct sold s = {.m = m, .n = (int)fmax(1, ceil(q->s->gpus_min / m->gpus - 1e-9))};
        if (s.n * m->gpus > q->s->gpus_max + 1e-9 || s.n > SEARCH_MAX_INSTANCES) {
            continue;
        }
        s.usd_gpu_h = (m->usd_h + m->upfront_usd / term) / m->gpus;
        ++*found;
        size_t at = 0;
        while (at < n && !same_kind(q, sold[at].m, m)) {
            at++;
        }
        if (at < n && by_price(&sold[at], &s) <= 0) {
            continue;
        }
        if (at < MAX_KINDS) {
            sold[at] = s;
            n = at == n ? n + 1 : n;
        }
    }
    qsort(sold, n, sizeof *sold, by_price);
    return n;
}

int search_commitments(struct search *q, struct plan_set *set)
{
    struct sold *sold = calloc(MAX_KINDS, sizeof *sold);
    struct plan_commitment *c = arena_array(q->arena, MAX_SHOWN, sizeof *c);
    if (sold == NULL || c == NULL) {
        free(sold);
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    size_t n = sold_of(q, sold, &set->commitments_found);
    int rc = 0;
    n = n < MAX_SHOWN ? n : MAX_SHOWN;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = fill(q, &sold[i], set->currency, &c[i]);
    }
    free(sold);
    set->commitment = c;
    set->n_commitments = rc == 0 ? n : 0;
    return rc;
}
