/* What a person must know beside the figures of a plan: assumptions and what the figures rest on;
 * notes_spot.c says what interruptions could do, notes_model.c what the rate rests on. */
#include "notes.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTES 32

void note_add(struct notes *o, const char *text)
{
    if (text == NULL) {
        o->failed = true;
    } else if (o->n < MAX_NOTES) {
        o->text[o->n++] = text;
    }
}

static void data_notes(struct notes *o, const struct candidate *c)
{
    struct search *q = o->q;
    const struct place *p = c->place;
    char size[32];
    if (p->mode == PLACE_NONE) {
        if (q->s->gpu_hours <= 0) {
            note_add(o,
                     "no training data in the scenario: reading and keeping them is not counted");
        }
        return;
    }
    double bps =
        isfinite(c->read_bps) ? c->read_bps : place_bps(q, p, c->machine, c->n, q->data_bytes);
    if (p->mode == PLACE_IN_PLACE) {
        note_add(o, arena_printf(q->arena, "training data: read where they lie, %s%s%s, %.0f MB/s",
                                 p->tier, p->option[0] != '\0' ? ", " : "", p->option, bps / 1e6));
    } else {
        note_add(o,
                 arena_printf(q->arena,
                              "training data: %s%s%s read from %s%s%s, %.0f MB/s; filling it takes "
                              "%.0f min at each launch",
                              size_format((uint64_t)q->data_bytes, size),
                              p->source[0] != '\0' ? " copied from " : "", p->source, p->tier,
                              p->option[0] != '\0' ? ", " : "", p->option, bps / 1e6,
                              place_stage_s(q, p, c->machine, c->n) / 60));
    }
    if (c->cached) {
        note_add(
            o, arena_printf(q->arena,
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
    note_add(
        o, arena_printf(q->arena,
                        "commitment: %.2f USD up front, %.4f USD per machine-hour amortised; %s",
                        c->n * m->upfront_usd, full / term,
                        q->s->use_owned           ? "owned, so only the used hours are charged"
                        : q->s->use_horizon_s > 0 ? "charged over the declared horizon"
                                                  : "charged in full for the term, as the scenario "
                                                    "declares no use.horizon"));
    if (q->s->use_horizon_s > 0 && !q->s->use_owned) {
        note_add(o, arena_printf(
                        q->arena,
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

/* The same machine bought the same way, anywhere, with a price. */
static bool same_way(const struct catalog_offers *t, size_t row, size_t i)
{
    return t->instance_type[i] == t->instance_type[row] && t->vendor[i] == t->vendor[row] &&
           t->purchase[i] == t->purchase[row] && t->price_state[i] == PRICE_KNOWN &&
           t->usd_per_hour[i] > 0;
}

/* A price far below the same machine's elsewhere decides ranks and may be a fault of its source:
 * nobody should sign on it unseen. */
static void outlier_note(struct notes *o, const struct candidate *c)
{
    const struct catalog_offers *t = &o->q->c->offers;
    size_t row = c->machine->row, n = 0;
    double own = t->usd_per_hour[row];
    for (size_t i = 0; i < t->n; i++) {
        n += same_way(t, row, i);
    }
    double *v = arena_array(o->q->arena, n + 1, sizeof *v);
    if (v == NULL) {
        o->failed = true;
        return;
    }
    n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (same_way(t, row, i)) {
            v[n++] = t->usd_per_hour[i];
        }
    }
    qsort(v, n, sizeof *v, by_value);
    if (n >= 4 && own < v[n / 2] / 2) {
        note_add(o,
                 arena_printf(o->q->arena,
                              "WARNING: the price is %.2f of the median of this machine's %zu %s "
                              "rows (%.4f against %.4f USD/h): check it before you rely on it",
                              own / v[n / 2], n, purchase_name((enum purchase)t->purchase[row]),
                              own, v[n / 2]));
    }
}

double list_on_demand_usd(const struct search *q, size_t row)
{
    const struct catalog_offers *t = &q->c->offers;
    double best = (double)INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        if (t->purchase[i] == PURCHASE_ON_DEMAND && t->instance_type[i] == t->instance_type[row] &&
            t->vendor[i] == t->vendor[row] && t->region[i] == t->region[row] &&
            t->price_state[i] == PRICE_KNOWN && t->usd_per_hour[i] > 0) {
            best = fmin(best, t->usd_per_hour[i]);
        }
    }
    return best;
}

/* What spot saves: against the price on demand of the same machine, there. */
static void discount_note(struct notes *o, const struct candidate *c)
{
    const struct catalog_offers *t = &o->q->c->offers;
    size_t row = c->machine->row;
    if (t->purchase[row] != PURCHASE_SPOT && t->purchase[row] != PURCHASE_LOW_PRIORITY) {
        return;
    }
    double spot = t->usd_per_hour[row], demand = list_on_demand_usd(o->q, row);
    note_add(o, isinf(demand) ? "spot: no price on demand is known here to compare with"
                              : arena_printf(o->q->arena,
                                             "spot: %.4f USD/h a machine, %.0f %% %s on demand "
                                             "(%.4f)",
                                             spot, fabs(100 - 100 * spot / demand),
                                             spot <= demand ? "below" : "ABOVE", demand));
}

/* Google's discount for sustained use, in % of a month's hours of an N1 machine: each quarter of
 * the month costs a fifth less than the one before (100, 80, 60, 40 %). */
static double sustained_pct(double hours)
{
    double paid = 0, left = fmin(hours, GT_HOURS_PER_MONTH), quarter = GT_HOURS_PER_MONTH / 4.0;
    for (int i = 0; i < 4; i++) {
        double part = fmin(left, quarter);
        paid += part * (1 - 0.2 * i);
        left -= part;
    }
    return 100 - 100 * paid / fmin(hours, GT_HOURS_PER_MONTH);
}

/* It depends on the rest of the month's use, so it is told and not counted. */
static void sustained_note(struct notes *o, const struct candidate *c)
{
    const struct catalog_offers *t = &o->q->c->offers;
    size_t row = c->machine->row;
    if (t->purchase[row] != PURCHASE_ON_DEMAND ||
        strcmp(catalog_text(o->q->c, t->vendor[row]), "gcp") != 0 ||
        strncmp(catalog_text(o->q->c, t->instance_type[row]), "n1-", 3) != 0 ||
        c->billed_h <= GT_HOURS_PER_MONTH / 4.0) {
        return;
    }
    note_add(o, arena_printf(o->q->arena,
                             "sustained use: Google takes %.0f %% off for %.0f hours of one month; "
                             "not counted, so the total is rather too high",
                             sustained_pct(c->billed_h), fmin(c->billed_h, GT_HOURS_PER_MONTH)));
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
        note_add(o, arena_printf(q->arena, "the total is \"at least\": %s", why));
    } else if (r->checkpoint_unpriced) {
        note_add(o,
                 "checkpoints stay on the machine's own disk and go with it: no storage price is "
                 "known here");
    }
    if (offer[0] != '\0') {
        note_add(o, arena_printf(q->arena, "price row: %.200s", offer));
    }
    if (catalog_under_floor(q->c, c->machine->row)) {
        note_add(o,
                 arena_printf(q->arena,
                              "WARNING: less than %.2f USD a GPU-hour: likely another figure was "
                              "taken for the price; check it before you rely on it",
                              CATALOG_GPU_FLOOR_USD));
    }
    discount_note(o, c);
    sustained_note(o, c);
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
    model_notes(&o, c, out);
    spot_notes(&o, c);
    commitment_notes(&o, c);
    if (c->machine->purchase == PURCHASE_CAPACITY_BLOCK) {
        note_add(&o, block_note(q, c));
    }
    price_notes(&o, c, out);
    if (c->kind->note != NULL) {
        note_add(&o, c->kind->note);
    }
    if (c->kind->has_memory && c->kind->memory.tight) {
        note_add(&o, "memory is tight: between 90 and 105 % of what is usable");
    }
    if (c->kind->ok && c->kind->checkpoint_bytes <= 0 && c->checkpoints) {
        note_add(&o, "checkpoint size unknown: 10 s of stall each is assumed");
    }
    if (c->checkpoints && c->machine->lambda_per_h <= 0 && q->s->checkpoint_every == CKPT_AUTO) {
        note_add(&o, "checkpoints: one an hour, as nothing interrupts the run");
    }
    if (q->s->gpu_hours > 0 && c->n * c->machine->gpus > 1) {
        note_add(
            &o,
            "GPU-hours are spread evenly over the GPUs: what they lose by talking to each other is "
            "not counted");
    }
    if (c->kind->network_assumed) {
        note_add(&o, "the network between the machines is not known: 10 Gb/s is assumed");
    }
    if (c->place->class == TIER_BLOCK && isfinite(c->place->node_bps)) {
        note_add(&o,
                 "volume throughput is counted as sold: the machine's own disk limit is not known");
    }
    if (q->s->batch_per_gpu <= 0 && q->s->gpu_hours <= 0) {
        note_add(&o, arena_printf(q->arena, "batch per GPU: %g chosen", c->kind->batch));
    }
    out->note = o.text;
    out->n_notes = o.n;
    return o.failed ? gt_fail(q->err, GT_ENOMEM, "", "out of memory") : 0;
}
