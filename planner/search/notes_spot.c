/* What interruptions could do to a plan: other rates (shared/docs/spot-model.md section 2), the
 * vendor's notice and the every-N-steps rule (section 3), price caps (section 6.8). None of it
 * changes the plan's own figures. */
#include "notes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What vendors promise and allow. notice_s 0 = none is documented; capped: a maximum price may be
 * set (EC2 user guide, spot-interruptions and SpotMarketOptions; Azure spot-vms; GKE spot VMs). */
static const struct vendor_spot {
    const char *vendor;
    double notice_s;
    bool capped;
} vendors[] = {
    {"aws", 120, true}, {"aws-cn", 120, true}, {"azure", 30, true},
    {"gcp", 30, false}, {"alibaba", 0, true},  {"tencent", 0, true},
};
/* Share of the notice that may be used, and how late it is seen when it is polled. */
#define NOTICE_MARGIN 0.8
#define NOTICE_SEEN_S 5.0
/* Placement scores up to this are a warning. */
#define LOW_SCORE 3
/* A cap this near to the price of now is crossed by its usual movement. */
#define CAP_NEAR 1.2

static const struct vendor_spot *vendor_spot(const char *vendor)
{
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++) {
        if (strcmp(vendors[i].vendor, vendor) == 0) {
            return &vendors[i];
        }
    }
    return NULL;
}

/* The candidate's bill if its run went as `r` says. */
static double usd_with(const struct search *q, const struct candidate *c,
                       const struct ckpt_result *r)
{
    struct candidate k = *c;
    k.billed_h = r->billed_h;
    k.makespan_h = c->wait_h + r->makespan_h;
    k.writes = r->writes;
    k.interruptions = r->interruptions;
    if (c->cached) {
        k.epochs_read = fmin(1, q->epochs) * (1 + r->interruptions);
    }
    return machine_usd(q, c->machine, c->n, k.billed_h, k.makespan_h) + shared_usd(q, &k);
}

static bool expected(const struct ckpt_job *j, struct ckpt_result *r)
{
    return j->lambda_per_h * (j->tau_h + j->delta_h + j->restart_h) <= 40 &&
           ckpt_expected(j, r, NULL) == 0 && isfinite(r->makespan_h);
}

/* Expected hours and cost at another rate of one machine, the interval as planned. */
static const char *at_rate(struct search *q, const struct candidate *c, double per_machine,
                           const char *what)
{
    struct ckpt_job j = c->job;
    struct ckpt_result r = {0};
    j.lambda_per_h = per_machine * c->n;
    if (j.lambda_per_h <= 0) {
        return "";
    }
    if (!expected(&j, &r)) {
        return arena_printf(q->arena, "%s %.4g/h: would hardly ever end", what, per_machine);
    }
    return arena_printf(q->arena, "%s %.4g/h: %.1f h, %.2f USD", what, per_machine,
                        c->wait_h + r.makespan_h, usd_with(q, c, &r));
}

static void rate_basis(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct machine *m = c->machine;
    if (m->hazard != NULL) {
        const struct catalog_hazard *h = m->hazard;
        note_add(o,
                 arena_printf(q->arena,
                              "interruptions: %.3g/h per machine counted from %s %s (95 %% %.3g to "
                              "%.3g/h); a refused launch counts as one, so it is rather too high",
                              m->lambda_per_h, h->trace ? "the trace" : "the series of",
                              catalog_text(q->c, h->basis), h->lo_per_h, h->hi_per_h));
    } else if (q->s->interruption_per_h < 0) {
        note_add(
            o, arena_printf(q->arena,
                            "interruptions: %g/h per machine is assumed; no trace of this zone is "
                            "known and no series of it recorded",
                            m->lambda_per_h));
    }
    if (c->n > 1) {
        note_add(o,
                 arena_printf(q->arena,
                              "interruptions: any of the %d machines stops the run, so the gang's "
                              "rate is %d x %g/h = %.3g/h (taken as independent)",
                              c->n, c->n, m->lambda_per_h, c->job.lambda_per_h));
    }
}

/* The advisor's band read as monthly, the counted interval's ends, and what scarce GPUs show. */
static void other_rates(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct machine *m = c->machine;
    const char *text[5];
    size_t n = 0;
    if (!isnan(m->band_lo_pct)) {
        /* ">20 %" is open: 25 % stands for it. */
        double p = isnan(m->band_hi_pct) ? 25 : (m->band_lo_pct + m->band_hi_pct) / 2;
        char what[120];
        snprintf(what, sizeof what, "advisor's band %g%s%g %%%s a month read as", m->band_lo_pct,
                 isnan(m->band_hi_pct) ? "+ " : "-", isnan(m->band_hi_pct) ? 25 : m->band_hi_pct,
                 isnan(m->band_hi_pct) ? " (open, 25 % taken)" : "");
        text[n++] = at_rate(q, c, -log(1 - p / 100) / 720, what);
    }
    if (m->hazard != NULL) {
        text[n++] = at_rate(q, c, m->hazard->lo_per_h, "at the low end");
        text[n++] = at_rate(q, c, m->hazard->hi_per_h, "at the high end");
    }
    text[n++] = at_rate(q, c, 0.05, "at");
    text[n++] = at_rate(q, c, 1, "at");
    const char *all = "other interruption rates: ";
    for (size_t i = 0; i < n && all != NULL; i++) {
        all = text[i] == NULL ? NULL
                              : arena_printf(q->arena, "%s%s%s", all, i > 0 ? "; " : "", text[i]);
    }
    note_add(o, all);
}

/* Steps between checkpoints, beside the rule "every 500 to 1000 steps" and, where the scenario
 * fixes the interval, beside the best one. */
static void steps_note(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct ckpt_job *j = &c->job;
    struct ckpt_job often = *j, seldom = *j, best = *j;
    struct ckpt_result a = {0}, b = {0}, now = {0}, least = {0};
    double slower = c->kind->rate.samples_per_s / c->samples_per_s;
    double step_h = c->kind->rate.step_s * slower / 3600;
    if (!(step_h > 0) || !c->checkpoints || !expected(j, &now)) {
        return;
    }
    often.tau_h = fmin(500 * step_h, j->work_h);
    seldom.tau_h = fmin(1000 * step_h, j->work_h);
    if (!expected(&often, &a) || !expected(&seldom, &b)) {
        note_add(o, arena_printf(q->arena,
                                 "checkpoint every %.0f steps of %.3g s; every 500 to 1000 steps "
                                 "the run would hardly ever end",
                                 round(j->tau_h / step_h), step_h * 3600));
        return;
    }
    double usd = usd_with(q, c, &now);
    note_add(o, arena_printf(q->arena,
                             "checkpoint every %.0f steps of %.3g s; the rule of every 500 to "
                             "1000 steps is %.1f to %.1f min here: %+.2f to %+.2f h and %+.2f to "
                             "%+.2f USD",
                             round(j->tau_h / step_h), step_h * 3600, often.tau_h * 60,
                             seldom.tau_h * 60, a.makespan_h - now.makespan_h,
                             b.makespan_h - now.makespan_h, usd_with(q, c, &a) - usd,
                             usd_with(q, c, &b) - usd));
    if (q->s->checkpoint_every != CKPT_AUTO && ckpt_best_tau(j, &best.tau_h, NULL) == 0 &&
        expected(&best, &least)) {
        note_add(o, arena_printf(q->arena,
                                 "checkpoint: the best interval against these interruptions is "
                                 "%.1f min (%.0f steps): %+.2f h, %+.2f USD",
                                 best.tau_h * 60, round(best.tau_h / step_h),
                                 least.makespan_h - now.makespan_h, usd_with(q, c, &least) - usd));
    }
}

/* Does a checkpoint fit into the notice, and what would be saved if it always did? */
static void notice_note(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct vendor_spot *v = vendor_spot(c->machine->vendor);
    double write = c->job.delta_h * 3600, room = v != NULL ? NOTICE_MARGIN * v->notice_s : 0;
    struct ckpt_result r = {0};
    if (v == NULL || v->notice_s <= 0 || !c->checkpoints || c->kind->checkpoint_bytes <= 0) {
        return;
    }
    const char *says = arena_printf(
        q->arena,
        "notice: %s gives %.0f s, best effort; writing a checkpoint takes %.1f s and %.0f s "
        "pass before it is seen, %.0f s may be used:",
        v->vendor, v->notice_s, write, NOTICE_SEEN_S, room);
    if (write + NOTICE_SEEN_S > room) {
        note_add(o, says == NULL ? NULL
                                 : arena_printf(q->arena,
                                                "%s it does not fit, only checkpoints written "
                                                "before the notice count",
                                                says));
        return;
    }
    const struct ckpt_job *j = &c->job;
    if (ckpt_notice_fits(j->work_h, j->restart_h, j->wait_h, j->lambda_per_h, &r, NULL) == 0) {
        double cold =
            expm1(j->lambda_per_h * j->restart_h); /* interruptions before the first work */
        r.writes = r.interruptions;
        r.makespan_h += cold * (1 / j->lambda_per_h + j->wait_h);
        r.billed_h += cold / j->lambda_per_h;
        r.interruptions += cold;
        note_add(o, says == NULL
                        ? NULL
                        : arena_printf(q->arena,
                                       "%s it fits; were every notice caught and nothing "
                                       "else written: %.1f h, %.2f USD",
                                       says, c->wait_h + r.makespan_h, usd_with(q, c, &r)));
    }
}

/* The price paid is the market's whatever the cap; a cap only ends machines when the price passes
 * it, and the price does not pass on demand. */
static void cap_note(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct machine *m = c->machine;
    double factor = q->s->spot_max_price_factor, cap = m->cap_usd;
    if (!(factor > 0)) {
        return;
    }
    if (isnan(cap)) {
        const struct vendor_spot *v = vendor_spot(m->vendor);
        note_add(o, arena_printf(q->arena, "spot.max_price_factor does nothing here: %s",
                                 v != NULL && v->capped ? "no on-demand price is known"
                                                        : "this vendor takes no maximum price"));
    } else if (factor >= 1) {
        note_add(o, arena_printf(
                        q->arena,
                        "maximum price %g x on demand = %.4f USD/h: the same as none. The default "
                        "cap is the on-demand price, which spot prices do not pass; since the end "
                        "of 2017 there is no bidding, so advice such as three times on demand "
                        "changes neither what is paid nor when capacity is taken back",
                        factor, cap));
    } else {
        bool near = cap < CAP_NEAR * m->usd_h;
        note_add(
            o, arena_printf(
                   q->arena,
                   "%smaximum price %g x on demand = %.4f USD/h: the market's price is paid "
                   "all the same (%.4f now); the machine is taken when that passes the cap, "
                   "beside the interruptions counted here%s",
                   near ? "WARNING: " : "", factor, cap, m->usd_h,
                   near ? ": it is less than 1.2 times the price of now, leave the cap out" : ""));
    }
}

/* The on-demand price of the same machine, discounts aside, times the factor. */
void spot_set_cap(const struct search *q, struct machine *m)
{
    const struct catalog_offers *f = &q->c->offers;
    const struct vendor_spot *v = vendor_spot(m->vendor);
    size_t row = m->row, first, end;
    m->cap_usd = (double)NAN;
    search_region_rows(q, row, &first, &end);
    for (size_t i = first; i < end && v != NULL && v->capped && m->lambda_per_h > 0; i++) {
        if (f->purchase[i] == PURCHASE_ON_DEMAND && f->price_state[i] == PRICE_KNOWN &&
            f->instance_type[i] == f->instance_type[row] && f->region[i] == f->region[row] &&
            f->vendor[i] == f->vendor[row] && f->gpu[i] == f->gpu[row]) {
            m->cap_usd = q->s->spot_max_price_factor * f->usd_per_hour[i];
            return;
        }
    }
}

/* What the vendor itself says of the chance to get such machines now. */
static void score_note(struct notes *o, const struct machine *m)
{
    const struct scenario *s = o->q->s;
    for (size_t i = 0; i < s->n_scores; i++) {
        if (strcmp(s->scores[i].vendor, m->vendor) == 0 &&
            strcmp(s->scores[i].region, m->region) == 0) {
            note_add(o, arena_printf(
                            o->q->arena,
                            "%splacement score %d of 10: how likely a request of this size is "
                            "filled now%s. It is no measure of interruptions, changes no figure "
                            "here, and is low whenever fewer than three types were asked for",
                            s->scores[i].score <= LOW_SCORE ? "WARNING: " : "", s->scores[i].score,
                            s->scores[i].score <= LOW_SCORE ? ", which is unlikely" : ""));
        }
    }
}

void spot_notes(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct machine *m = c->machine;
    if (m->lambda_per_h <= 0) {
        return;
    }
    rate_basis(o, c);
    score_note(o, m);
    cap_note(o, c);
    if ((q->s->spread_zones || q->s->spread_types) && q->s->start_wait_spot_s > 0) {
        note_add(o, m->pools > 1 ? spread_note(q, m)
                                 : "spread: no other pool costs as little; plans of the Pareto "
                                   "front at a dearer row have more pools and wait less");
    }
    if (q->s->wait_before_fallback_s >= 0 && q->s->start_wait_spot_s > 0 && twin_of(q, m) == NULL) {
        note_add(o, "wait_before_fallback does nothing here: the same machine has no on-demand "
                    "price among the ways to pay that are allowed, or a lower one");
    }
    if (c->fallback) {
        double w = c->job.wait_h, patience = q->s->wait_before_fallback_s / 3600;
        note_add(o, arena_printf(
                        q->arena,
                        "policy fallback: spot that takes longer than %.0f min to come is given up "
                        "for on demand (%.4f USD/h a machine) to the end; at %.0f min on average "
                        "(exponential) that happens in %.1f %% of the waits; %.0f %% of the hours "
                        "are on demand",
                        patience * 60, m->twin->usd_h, w * 60, 100 * exp(-patience / w),
                        100 * (c->demand_useful_h + c->demand_waste_h) / c->billed_h));
        return;
    }
    if (c->mixed) {
        note_add(o,
                 arena_printf(
                     q->arena,
                     "policy greedy: on spot while a launch that comes to nothing still leaves "
                     "time to finish on demand (%.4f USD/h a machine), then on demand to the "
                     "end; %.0f %% of the hours are on demand",
                     m->twin->usd_h, 100 * (c->demand_useful_h + c->demand_waste_h) / c->billed_h));
        return;
    }
    other_rates(o, c);
    steps_note(o, c);
    notice_note(o, c);
    if (!c->checkpoints) {
        double mtbi = 1 / c->job.lambda_per_h;
        note_add(o,
                 arena_printf(q->arena,
                              "WARNING: checkpoints are off; %s %.1f h between interruptions, the "
                              "run needs %.1f h",
                              c->job.work_h > mtbi ? "the run is longer than the" : "expected",
                              mtbi, c->job.work_h));
    }
}
