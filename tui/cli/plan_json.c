/* Plan set -> JSON document (plan_json.h). Reading it back: plan_json_read.c. */
#include "plan_json.h"
#include "gputier/jsonw.h"
#include <math.h>
#include <string.h>

static void write_placement(struct jsonw *w, const struct plan *p)
{
    jsonw_key(w, "placement");
    jsonw_array(w);
    for (size_t i = 0; i < p->n_placement; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "data_set", p->placement[i].data_set);
        jsonw_kstring(w, "tier", p->placement[i].tier);
        jsonw_kint(w, "from_month", p->placement[i].from_month);
        jsonw_kint(w, "to_month", p->placement[i].to_month);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_time(struct jsonw *w, const struct plan *p)
{
    jsonw_key(w, "time");
    jsonw_object(w);
    jsonw_kdouble(w, "epoch_s", p->epoch_s);
    jsonw_kstring(w, "bound", bound_name(p->rate.bound));
    jsonw_kstring(w, "next_bound", bound_name(p->rate.next_bound));
    jsonw_kdouble(w, "samples_per_s", p->rate.samples_per_s);
    jsonw_kdouble(w, "samples_per_s_lo", p->rate.samples_per_s > 0 ? p->rate.lo : (double)NAN);
    jsonw_kdouble(w, "samples_per_s_hi", p->rate.samples_per_s > 0 ? p->rate.hi : (double)NAN);
    jsonw_kdouble(w, "next_samples_per_s",
                  p->rate.samples_per_s > 0 ? p->rate.next_samples_per_s : (double)NAN);
    jsonw_key(w, "makespan_s");
    jsonw_object(w);
    jsonw_kdouble(w, "mean", p->makespan_mean_s);
    jsonw_kdouble(w, "p5", p->makespan_p5_s);
    jsonw_kdouble(w, "p50", p->makespan_p50_s);
    jsonw_kdouble(w, "p95", p->makespan_p95_s);
    jsonw_end_object(w);
    jsonw_kdouble(w, "deadline_probability", p->deadline_probability);
    jsonw_key(w, "deadline_probability_ci");
    if (isnan(p->deadline_probability)) {
        jsonw_null(w);
    } else {
        jsonw_array(w);
        jsonw_double(w, p->deadline_lo);
        jsonw_double(w, p->deadline_hi);
        jsonw_end_array(w);
    }
    jsonw_end_object(w);
}

static void write_cost(struct jsonw *w, const struct plan *p)
{
    jsonw_key(w, "cost");
    jsonw_object(w);
    jsonw_kstring(w, "currency", p->currency);
    jsonw_kmoney(w, "total", p->total);
    jsonw_kbool(w, "at_least", p->at_least);
    jsonw_key(w, "components");
    jsonw_object(w);
    for (int i = 0; i < COMP_COUNT; i++) {
        jsonw_kmoney(w, component_name((enum component)i), p->component[i]);
    }
    jsonw_end_object(w);
    jsonw_kmoney(w, "p5", p->p5);
    jsonw_kmoney(w, "p50", p->p50);
    jsonw_kmoney(w, "p95", p->p95);
    jsonw_kmoney(w, "per_epoch", p->total_per_epoch);
    jsonw_end_object(w);
}

static void write_bill(struct jsonw *w, const struct plan *p)
{
    jsonw_key(w, "bill");
    jsonw_array(w);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        jsonw_object(w);
        jsonw_kstring(w, "component", component_name(l->component));
        jsonw_kstring(w, "text", l->text);
        jsonw_kmoney(w, "rate", l->rate);
        jsonw_kstring(w, "currency", l->currency);
        jsonw_kstring(w, "unit", l->unit);
        jsonw_kmoney(w, "quantity", l->quantity);
        jsonw_kmoney(w, "amount", l->amount);
        jsonw_kstring(w, "formula", l->formula);
        jsonw_kstring(w, "source_id", l->source_id);
        jsonw_key(w, "sku");
        jsonw_string_or_null(w, l->sku);
        jsonw_ktime(w, "as_of", l->as_of);
        jsonw_ktime(w, "fetched_at", l->fetched_at);
        jsonw_kstring(w, "origin", origin_name(l->origin));
        jsonw_kint(w, "row_id", l->row_id);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_key(w, "provenance");
    jsonw_array(w);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        jsonw_object(w);
        jsonw_kstring(w, "source_id", l->source_id);
        jsonw_key(w, "sku");
        jsonw_string_or_null(w, l->sku);
        jsonw_ktime(w, "as_of", l->as_of);
        jsonw_kmoney(w, "rate", l->rate);
        jsonw_kstring(w, "unit", l->unit);
        jsonw_kstring(w, "used_for", l->text);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_purchase(struct jsonw *w, const struct plan *p)
{
    jsonw_key(w, "purchase");
    jsonw_object(w);
    jsonw_kstring(w, "policy", p->policy);
    jsonw_kdouble(w, "on_demand_share", p->on_demand_share);
    jsonw_kdouble(w, "spot_share", p->spot_share);
    bool committed = purchase_is_commitment(p->purchase) || p->purchase == PURCHASE_MONTHLY;
    jsonw_kstring(w, "committed", committed ? purchase_name(p->purchase) : NULL);
    jsonw_kstring(w, "option", purchase_name(p->purchase));
    jsonw_end_object(w);
    jsonw_key(w, "checkpoint");
    jsonw_object(w);
    jsonw_kdouble(w, "interval_s", p->checkpoint_interval_s);
    jsonw_kstring(w, "tier", p->checkpoint_tier);
    jsonw_end_object(w);
}

static void write_memory(struct jsonw *w, const struct plan *p)
{
    const struct model_memory *m = &p->memory;
    bool known = m->usable_bytes > 0;
    jsonw_key(w, "memory");
    jsonw_object(w);
    jsonw_key(w, "fits");
    if (known) {
        jsonw_bool(w, m->fits);
    } else {
        jsonw_null(w);
    }
    double gib = 1073741824.0, nan = (double)NAN;
    jsonw_kdouble(w, "peak_gib_per_gpu", known ? m->peak_bytes / gib : nan);
    jsonw_kdouble(w, "usable_gib_per_gpu", known ? m->usable_bytes / gib : nan);
    jsonw_kbool(w, "tight", m->tight);
    jsonw_kdouble(w, "weights_gib", known ? m->weights / gib : nan);
    jsonw_kdouble(w, "gradients_gib", known ? m->gradients / gib : nan);
    jsonw_kdouble(w, "optimizer_gib", known ? m->optimizer / gib : nan);
    jsonw_kdouble(w, "activations_gib", known ? m->activations / gib : nan);
    jsonw_kdouble(w, "logits_gib", known ? m->logits / gib : nan);
    jsonw_kdouble(w, "workspace_gib", known ? m->workspace / gib : nan);
    jsonw_end_object(w);
}

static void write_plan(struct jsonw *w, const struct plan *p)
{
    jsonw_object(w);
    jsonw_kstring(w, "id", p->id);
    jsonw_key(w, "rank");
    if (p->rank > 0) {
        jsonw_int(w, p->rank);
    } else {
        jsonw_null(w);
    }
    jsonw_kstring(w, "vendor", p->vendor);
    jsonw_kstring(w, "region", p->region);
    jsonw_kstrings(w, "zones", p->zones, p->n_zones);
    jsonw_kstring(w, "instance_type", p->instance_type);
    jsonw_kint(w, "instances", p->instances);
    jsonw_kstring(w, "gpu", p->gpu);
    jsonw_kdouble(w, "gpu_count", p->gpu_count);
    write_purchase(w, p);
    write_placement(w, p);
    write_time(w, p);
    jsonw_key(w, "interruption");
    jsonw_object(w);
    jsonw_kdouble(w, "per_hour", p->interruption_per_h);
    jsonw_kstring(w, "basis", p->interruption_basis);
    jsonw_kdouble(w, "expected", p->interruptions);
    jsonw_end_object(w);
    write_memory(w, p);
    write_cost(w, p);
    write_bill(w, p);
    plan_data_json(w, p);
    jsonw_kstrings(w, "notes", p->note, p->n_notes);
    jsonw_end_object(w);
}

static void write_scenario(struct jsonw *w, const struct scenario *s, const struct plan_origin *o)
{
    jsonw_key(w, "scenario");
    jsonw_object(w);
    jsonw_kstring(w, "name", s->name);
    jsonw_kstring(w, "file", o->file);
    jsonw_kstring(w, "text", o->text);
    jsonw_key(w, "sets");
    jsonw_array(w);
    for (size_t i = 0; i < o->n_sets; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "path", o->sets[i].path);
        jsonw_kstring(w, "value", o->sets[i].value);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_kint(w, "local_offset_s", o->local_offset_s);
    jsonw_kdouble(w, "deadline_s", s->deadline_s > 0 ? s->deadline_s : (double)NAN);
    jsonw_ktime(w, "deadline_at", s->deadline_at);
    jsonw_kdouble(w, "confidence", s->confidence);
    jsonw_key(w, "defaults");
    jsonw_array(w);
    for (size_t i = 0; i < s->n_defaults; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "key", s->defaults[i].key);
        jsonw_kstring(w, "value", s->defaults[i].value);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_end_object(w);
}

/* null when it was not asked for */
static void write_hinges(struct jsonw *w, const struct plan_set *set)
{
    jsonw_key(w, "sensitivity");
    if (set->n_hinges == 0) {
        jsonw_null(w);
        return;
    }
    jsonw_array(w);
    for (size_t i = 0; i < set->n_hinges; i++) {
        const struct plan_hinge *h = &set->hinge[i];
        jsonw_object(w);
        jsonw_kstring(w, "input", h->input);
        jsonw_kstring(w, "unit", h->unit);
        jsonw_kdouble(w, "value", h->value);
        jsonw_kdouble(w, "from", h->lo);
        jsonw_kdouble(w, "to", h->hi);
        jsonw_kbool(w, "from_found", h->lo_found);
        jsonw_kbool(w, "to_found", h->hi_found);
        jsonw_kstring(w, "first_below", h->below);
        jsonw_kstring(w, "first_above", h->above);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void money_or_null(struct jsonw *w, const char *key, money m, bool known)
{
    jsonw_key(w, key);
    if (known) {
        jsonw_money(w, m);
    } else {
        jsonw_null(w);
    }
}

static void money_list(struct jsonw *w, const char *key, const money *m, size_t n, bool known)
{
    jsonw_key(w, key);
    if (!known) {
        jsonw_null(w);
        return;
    }
    jsonw_array(w);
    for (size_t i = 0; i < n; i++) {
        jsonw_money(w, m[i]);
    }
    jsonw_end_array(w);
}

static void number_pair(struct jsonw *w, const char *key, const double v[2])
{
    jsonw_key(w, key);
    jsonw_array(w);
    jsonw_double(w, v[0]);
    jsonw_double(w, v[1]);
    jsonw_end_array(w);
}

static void write_commitment(struct jsonw *w, const struct plan_commitment *c)
{
    bool demand = c->on_demand_h >= 0, spot = c->spot_h >= 0;
    jsonw_object(w);
    jsonw_kstring(w, "vendor", c->vendor);
    jsonw_kstring(w, "region", c->region);
    jsonw_kstring(w, "instance_type", c->instance_type);
    jsonw_kstring(w, "gpu", c->gpu);
    jsonw_kint(w, "instances", c->instances);
    jsonw_kdouble(w, "gpu_count", c->gpu_count);
    jsonw_kstring(w, "purchase", purchase_name(c->purchase));
    jsonw_kstring(w, "payment", c->payment[0] != '\0' ? c->payment : NULL);
    jsonw_kdouble(w, "horizon_h", c->horizon_h);
    jsonw_kint(w, "term_h", c->term_h);
    jsonw_kint(w, "terms", c->terms);
    money_or_null(w, "upfront", c->upfront, true);
    money_or_null(w, "term_cost", c->term, true);
    money_or_null(w, "cost", c->total, true);
    money_or_null(w, "on_demand_per_hour", c->on_demand_h, demand);
    money_or_null(w, "spot_per_hour", c->spot_h, spot);
    jsonw_kdouble(w, "break_even_share", c->break_even);
    jsonw_kdouble(w, "break_even_share_spot", c->break_even_spot);
    number_pair(w, "share", c->share);
    money_list(w, "on_demand", c->on_demand, 2, demand);
    money_list(w, "spot", c->spot, 2, spot);
    number_pair(w, "pays_after_h", c->pays_after_h);
    money_list(w, "lost_if_ended", c->lost, 3, demand);
    jsonw_key(w, "hourly");
    if (c->mix_nodes < 0) {
        jsonw_null(w);
    } else {
        jsonw_object(w);
        jsonw_kint(w, "committed", c->mix_nodes);
        jsonw_kdouble(w, "on_demand_h", c->mix_on_demand_h);
        jsonw_kdouble(w, "spot_h", c->mix_spot_h);
        money_or_null(w, "cost", c->mix, true);
        jsonw_end_object(w);
    }
    jsonw_end_object(w);
}

static void write_commitments(struct jsonw *w, const struct plan_set *set)
{
    jsonw_key(w, "commitments");
    jsonw_object(w);
    jsonw_kint(w, "found", (int64_t)set->commitments_found);
    jsonw_key(w, "shown");
    jsonw_array(w);
    for (size_t i = 0; i < set->n_commitments; i++) {
        write_commitment(w, &set->commitment[i]);
    }
    jsonw_end_array(w);
    jsonw_end_object(w);
}

int plan_json_write(const struct plan_set *set, const struct scenario *s,
                    const struct plan_origin *origin, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/plan/1");
    write_scenario(&w, s, origin);
    jsonw_ktime(&w, "now", set->now);
    jsonw_ktime(&w, "prices_as_of", set->prices_as_of);
    jsonw_key(&w, "seed");
    jsonw_uint(&w, set->seed);
    jsonw_kstring(&w, "currency", set->currency);
    jsonw_key(&w, "lower_bound");
    if (set->n > 0) {
        jsonw_money(&w, set->lower_bound);
    } else {
        jsonw_null(&w);
    }
    jsonw_key(&w, "plans");
    jsonw_array(&w);
    for (size_t i = 0; i < set->n; i++) {
        write_plan(&w, &set->plan[i]);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "pareto");
    jsonw_array(&w);
    for (size_t i = 0; i < set->n_front; i++) {
        jsonw_string(&w, set->front[i].id);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "front"); /* plans of the front that are not ranked above */
    jsonw_array(&w);
    for (size_t i = 0; i < set->n_front; i++) {
        if (set->front[i].rank == 0) {
            write_plan(&w, &set->front[i]);
        }
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "rejected");
    jsonw_array(&w);
    for (size_t i = 0; i < set->n_rejected; i++) {
        jsonw_object(&w);
        jsonw_kstring(&w, "vendor", set->rejected[i].vendor);
        jsonw_kstring(&w, "region", set->rejected[i].region);
        jsonw_kstring(&w, "instance_type", set->rejected[i].instance_type);
        jsonw_kstring(&w, "purchase", set->rejected[i].purchase);
        jsonw_kstring(&w, "reason", set->rejected[i].reason);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "search");
    jsonw_object(&w);
    jsonw_kint(&w, "candidates", (int64_t)set->candidates);
    jsonw_kint(&w, "evaluated", (int64_t)set->evaluated);
    jsonw_kint(&w, "pruned", (int64_t)set->pruned);
    jsonw_end_object(&w);
    write_commitments(&w, set);
    write_hinges(&w, set);
    jsonw_kstrings(&w, "warnings", set->warning, set->n_warnings);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}
