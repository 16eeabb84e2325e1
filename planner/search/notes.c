/* What a person must know beside the figures of a plan: assumptions, what the figures rest on, and
 * how the plan would fare under other interruption rates. */
#include "gputier/units.h"
#include "search.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTES 24

struct notes {
    struct search *q;
    const char **text;
    size_t n;
    bool failed;
};

static void add(struct notes *o, const char *text)
{
    if (text == NULL) {
        o->failed = true;
    } else if (o->n < MAX_NOTES) {
        o->text[o->n++] = text;
    }
}

/* Expected hours and machine cost at another rate of one machine. */
static const char *at_rate(struct search *q, const struct candidate *c, double per_machine,
                           const char *what)
{
    struct ckpt_job j = c->job;
    struct ckpt_result r = {0};
    j.lambda_per_h = per_machine * c->n;
    if (j.lambda_per_h <= 0) {
        return "";
    }
    if (j.lambda_per_h * (j.tau_h + j.delta_h + j.restart_h) > 40 ||
        ckpt_expected(&j, &r, NULL) != 0 || !isfinite(r.makespan_h)) {
        return arena_printf(q->arena, "%s %.4g/h: would hardly ever end", what, per_machine);
    }
    double usd = c->cost_usd + c->n * c->machine->usd_h * (r.billed_h - c->billed_h);
    return arena_printf(q->arena, "%s %.4g/h: %.1f h, %.2f USD", what, per_machine,
                        c->wait_h + r.makespan_h, usd);
}

static void interruption_notes(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct machine *m = c->machine;
    if (m->lambda_per_h <= 0) {
        return;
    }
    if (m->hazard != NULL) {
        add(o, arena_printf(q->arena,
                            "interruptions: %.3g/h per machine counted from %s %s (95 %% %.3g to "
                            "%.3g/h); a refused launch counts as one, so it is rather too high",
                            m->lambda_per_h, m->hazard->trace ? "the trace" : "the series of",
                            catalog_text(q->c, m->hazard->basis), m->hazard->lo_per_h,
                            m->hazard->hi_per_h));
    } else if (q->s->interruption_per_h < 0) {
        add(o, arena_printf(q->arena,
                            "interruptions: %g/h per machine is assumed; no trace of this zone is "
                            "known and no series of it recorded",
                            m->lambda_per_h));
    }
    if (c->n > 1) {
        add(o, arena_printf(q->arena,
                            "interruptions: any of the %d machines stops the run, so the gang's "
                            "rate is %d x %g/h = %.3g/h (taken as independent)",
                            c->n, c->n, m->lambda_per_h, c->job.lambda_per_h));
    }
    if (c->mixed) {
        add(o, arena_printf(
                   q->arena,
                   "policy greedy: on spot while a launch that comes to nothing still leaves "
                   "time to finish on demand (%.4f USD/h a machine), then on demand to the "
                   "end; %.0f %% of the hours are on demand",
                   m->twin->usd_h, 100 * (c->demand_useful_h + c->demand_waste_h) / c->billed_h));
        return;
    }
    const char *monthly = "";
    if (!isnan(m->band_lo_pct)) {
        /* ">20 %" is open: 25 % stands for it (spot-model.md section 2). */
        double p = isnan(m->band_hi_pct) ? 25 : (m->band_lo_pct + m->band_hi_pct) / 2;
        char what[120];
        snprintf(what, sizeof what, "advisor's band %g%s%g %%%s a month read as", m->band_lo_pct,
                 isnan(m->band_hi_pct) ? "+ " : "-", isnan(m->band_hi_pct) ? 25 : m->band_hi_pct,
                 isnan(m->band_hi_pct) ? " (open, 25 % taken)" : "");
        monthly = at_rate(q, c, -log(1 - p / 100) / 720, what);
    }
    const char *low = at_rate(q, c, 0.05, "at"), *high = at_rate(q, c, 1, "at");
    if (monthly == NULL || low == NULL || high == NULL) {
        o->failed = true;
        return;
    }
    add(o, arena_printf(q->arena, "other interruption rates: %s%s%s; %s", monthly,
                        monthly[0] != '\0' ? "; " : "", low, high));
    if (!c->checkpoints) {
        double mtbi = 1 / c->job.lambda_per_h;
        add(o, arena_printf(q->arena,
                            "WARNING: checkpoints are off; %s %.1f h between interruptions, the "
                            "run needs %.1f h",
                            c->job.work_h > mtbi ? "the run is longer than the" : "expected", mtbi,
                            c->job.work_h));
    }
}

static void data_notes(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct place *p = c->place;
    char size[32];
    if (p->mode == PLACE_NONE) {
        if (q->s->gpu_hours <= 0) {
            add(o, "no training data in the scenario: reading and keeping them is not counted");
        }
        return;
    }
    double bps =
        isfinite(c->read_bps) ? c->read_bps : place_bps(q, p, c->machine, c->n, q->data_bytes);
    if (p->mode == PLACE_IN_PLACE) {
        add(o, arena_printf(q->arena, "training data: read where they lie, %s%s%s, %.0f MB/s",
                            p->tier, p->option[0] != '\0' ? ", " : "", p->option, bps / 1e6));
    } else {
        add(o, arena_printf(q->arena,
                            "training data: %s%s%s read from %s%s%s, %.0f MB/s; filling it takes "
                            "%.0f min at each launch",
                            size_format((uint64_t)q->data_bytes, size),
                            p->source[0] != '\0' ? " copied from " : "", p->source, p->tier,
                            p->option[0] != '\0' ? ", " : "", p->option, bps / 1e6,
                            place_stage_s(q, p, c->machine, c->n) / 60));
    }
    if (c->cached) {
        add(o, arena_printf(q->arena,
                            "training data fit in 80 %% of the %.0f GiB of memory: storage is read "
                            "in the first epoch only",
                            c->machine->memory_gib));
    }
}

static void commitment_notes(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct machine *m = c->machine;
    double term = (double)purchase_term_hours(m->purchase);
    if (term <= 0) {
        return;
    }
    double full = m->upfront_usd + m->usd_h * term;
    add(o, arena_printf(q->arena,
                        "commitment: %.2f USD up front, %.4f USD per machine-hour amortised; %s",
                        c->n * m->upfront_usd, full / term,
                        q->s->use_owned           ? "owned, so only the used hours are charged"
                        : q->s->use_horizon_s > 0 ? "charged over the declared horizon"
                                                  : "charged in full for the term, as the scenario "
                                                    "declares no use.horizon"));
    if (q->s->use_horizon_s > 0 && !q->s->use_owned) {
        add(o,
            arena_printf(q->arena,
                         "commitment: %.4f to %.4f USD per used machine-hour at the declared use "
                         "of %g to %g",
                         full / term / q->s->use_share_hi, full / term / q->s->use_share_lo,
                         q->s->use_share_lo, q->s->use_share_hi));
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A price far below the same machine's elsewhere decides ranks and may be a fault of its source:
 * nobody should sign on it unseen. */
static void outlier_note(struct notes *o, const struct candidate *c)
{
    const struct catalog_offers *t = &o->q->c->offers;
    size_t row = c->machine->row, n = 0;
    double *v = arena_array(o->q->arena, t->n, sizeof *v), own = t->usd_per_hour[row];
    if (v == NULL) {
        o->failed = true;
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->vendor[i] == t->vendor[row] && t->instance_type[i] == t->instance_type[row] &&
            t->purchase[i] == t->purchase[row] && t->price_state[i] == PRICE_KNOWN &&
            t->usd_per_hour[i] > 0) {
            v[n++] = t->usd_per_hour[i];
        }
    }
    qsort(v, n, sizeof *v, by_value);
    if (n >= 4 && own < v[n / 2] / 2) {
        add(o, arena_printf(o->q->arena,
                            "WARNING: the price is %.2f of the median of this machine's %zu %s "
                            "rows (%.4f against %.4f USD/h): check it before you rely on it",
                            own / v[n / 2], n, purchase_name((enum purchase)t->purchase[row]), own,
                            v[n / 2]));
    }
}

static void price_notes(struct notes *o, const struct candidate *c, const struct plan *p)
{
    struct search *q = o->q;
    const struct region *r = &q->region[c->machine->region_index];
    const char *offer = catalog_text(q->c, q->c->offers.note[c->machine->row]);
    if (p->at_least) {
        const char *why = c->place->charges.missing != NULL ? c->place->charges.missing
                          : r->common.missing != NULL       ? r->common.missing
                                                      : "no price known for keeping checkpoints";
        add(o, arena_printf(q->arena, "the total is \"at least\": %s", why));
    } else if (r->checkpoint_unpriced) {
        add(o, "checkpoints stay on the machine's own disk and go with it: no storage price is "
               "known here");
    }
    if (offer[0] != '\0') {
        add(o, arena_printf(q->arena, "price row: %.200s", offer));
    }
    outlier_note(o, c);
}

int build_notes(struct search *q, const struct candidate *c, struct plan *out)
{
    struct notes o = {.q = q};
    o.text = arena_array(q->arena, MAX_NOTES, sizeof *o.text);
    if (o.text == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    data_notes(&o, c);
    interruption_notes(&o, c);
    commitment_notes(&o, c);
    price_notes(&o, c, out);
    if (c->kind->note != NULL) {
        add(&o, c->kind->note);
    }
    if (c->kind->has_memory && c->kind->memory.tight) {
        add(&o, "memory is tight: between 90 and 105 % of what is usable");
    }
    if (c->kind->ok && c->kind->checkpoint_bytes <= 0 && c->checkpoints) {
        add(&o, "checkpoint size unknown: 10 s of stall each is assumed");
    }
    if (c->checkpoints && c->machine->lambda_per_h <= 0 && q->s->checkpoint_every == CKPT_AUTO) {
        add(&o, "checkpoints: one an hour, as nothing interrupts the run");
    }
    if (q->s->gpu_hours > 0 && c->n * c->machine->gpus > 1) {
        add(&o,
            "GPU-hours are spread evenly over the GPUs: what they lose by talking to each other is "
            "not counted");
    }
    if (c->kind->network_assumed) {
        add(&o, "the network between the machines is not known: 10 Gb/s is assumed");
    }
    if (c->place->class == TIER_BLOCK && isfinite(c->place->node_bps)) {
        add(&o, "volume throughput is counted as sold: the machine's own disk limit is not known");
    }
    if (q->s->batch_per_gpu <= 0 && q->s->gpu_hours <= 0) {
        add(&o, arena_printf(q->arena, "batch per GPU: %g chosen", c->kind->batch));
    }
    out->note = o.text;
    out->n_notes = o.n;
    return o.failed ? gt_fail(q->err, GT_ENOMEM, "", "out of memory") : 0;
}
