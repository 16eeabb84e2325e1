/* The annex of a report: where the data lie, risk, assumptions, price rows, what was left out. */
#include "doc.h"
#include "gputier/units.h"
#include <math.h>
#include <string.h>

#define REJECTED_SHOWN 40

/* The same machines with their training data elsewhere. */
static void choices(struct doc *d, const struct plan *p)
{
    static const char *const titles[] = {"Read by the machines",
                                         "Kept on",
                                         ">MB/s",
                                         ">Filling",
                                         ">Epoch",
                                         "Bound by",
                                         ">Time",
                                         ">Cost",
                                         "Why not",
                                         NULL};
    if (p->n_choices < 2) {
        return;
    }
    struct doc_block *t = doc_table(d, "The training data elsewhere, on the same machines", titles);
    for (size_t i = 0; i < p->n_choices; i++) {
        const struct plan_data_choice *c = &p->choice[i];
        doc_row(d, t, c->chosen ? ROW_CHOSEN : ROW_PLAIN,
                (const char *const[]){
                    doc_printf(d, "%s%s%s", doc_name(d, c->read), c->option[0] ? ", " : "",
                               doc_name(d, c->option)),
                    doc_name(d, c->source[0] ? c->source : c->kept),
                    isfinite(c->read_bps) ? doc_printf(d, "%.0f", c->read_bps / 1e6) : "",
                    c->stage_s > 0 ? doc_duration(d, c->stage_s) : "",
                    c->first_epoch_s == c->epoch_s
                        ? doc_duration(d, c->epoch_s)
                        : doc_printf(d, "%s (first %s)", doc_duration(d, c->epoch_s),
                                     doc_duration(d, c->first_epoch_s)),
                    doc_words(d, bound_name(c->bound)), doc_duration(d, c->makespan_s),
                    c->reason[0] ? ""
                                 : doc_printf(d, "%s%s", c->at_least ? "at least " : "",
                                              doc_amount(d, c->total, p->currency)),
                    doc_name(d, c->reason)});
    }
}

static void after_run(struct doc *d, const struct plan *p)
{
    for (size_t i = 0; i < p->n_waits; i++) {
        const struct plan_wait *w = &p->wait[i];
        const char *path = "";
        for (size_t k = 0; k < w->n_steps; k++) {
            path = doc_printf(d, "%s%s%s months %d to %d", path, k ? ", " : "",
                              doc_name(d, w->step[k].tier), w->step[k].from_month + 1,
                              w->step[k].to_month);
        }
        doc_text(d, DOC_PARAGRAPH, "%s, after the run: %s; %s%s.", doc_name(d, w->data_set), path,
                 w->saving > 0 ? doc_printf(d, "saves %s against staying",
                                            doc_amount(d, w->saving, w->currency))
                               : "no move pays",
                 w->wait_s >= 1
                     ? doc_printf(d, "; the next run waits %s for them", doc_duration(d, w->wait_s))
                     : "");
    }
}

static void placement(struct doc *d, const struct plan *p)
{
    static const char *const titles[] = {"Data set", "Tier", "Months", NULL};
    doc_heading(d, 2, "Where the data live");
    if (p->n_placement > 0) {
        struct doc_block *t = doc_table(d, "Storage tier of each data set", titles);
        for (size_t i = 0; i < p->n_placement; i++) {
            const struct plan_placement *x = &p->placement[i];
            const char *months = x->to_month > x->from_month + 1
                                     ? doc_printf(d, "%d to %d", x->from_month + 1, x->to_month)
                                     : doc_printf(d, "%d", x->from_month + 1);
            doc_row(d, t, ROW_PLAIN,
                    (const char *const[]){doc_name(d, x->data_set), x->tier, months});
        }
    } else {
        doc_text(d, DOC_PARAGRAPH, "The scenario names no data sets.");
    }
    after_run(d, p);
    choices(d, p);
    if (p->checkpoint_interval_s > 0) {
        doc_text(d, DOC_PARAGRAPH, "A checkpoint every %s to %s.",
                 doc_duration(d, p->checkpoint_interval_s),
                 p->checkpoint_tier && p->checkpoint_tier[0] ? p->checkpoint_tier : "no tier");
    } else {
        doc_text(d, DOC_PARAGRAPH, "No checkpoints.");
    }
}

static void risk(struct doc *d, const struct plan *p)
{
    doc_heading(d, 2, "Risk");
    if (p->spot_share > 0) {
        doc_text(d, DOC_ITEM, "Interruptions: %s; %.2g expected during the job.",
                 p->interruption_basis ? p->interruption_basis : "no basis known",
                 p->interruptions);
    }
    if (p->rate.samples_per_s > 0) {
        doc_text(d, DOC_ITEM,
                 "Throughput %.0f samples/s, 90 %% interval %.0f to %.0f, bound by %s; the next "
                 "bound is %s at %.0f samples/s.",
                 p->rate.samples_per_s, p->rate.lo, p->rate.hi,
                 doc_words(d, bound_name(p->rate.bound)),
                 doc_words(d, bound_name(p->rate.next_bound)), p->rate.next_samples_per_s);
    }
    for (size_t i = 0; i < p->n_notes; i++) {
        doc_text(d, DOC_ITEM, "%s", p->note[i]);
    }
}

static void assumptions(struct doc *d, const struct scenario *s)
{
    static const char *const titles[] = {"Key", "Value", NULL};
    if (!s || s->n_defaults == 0) {
        return;
    }
    doc_heading(d, 2, "Assumptions");
    struct doc_block *t = doc_table(d, "What the scenario does not say and was assumed", titles);
    for (size_t i = 0; i < s->n_defaults; i++) {
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){doc_name(d, s->defaults[i].key),
                                      doc_name(d, s->defaults[i].value)});
    }
}

static void price_rows(struct doc *d, const struct plan *p)
{
    static const char *const titles[] = {"Used for", ">Rate", "Unit", "Source",
                                         "SKU",      "As of", NULL};
    doc_heading(d, 2, "Where each price comes from");
    struct doc_block *t = doc_table(d, "Price rows of the recommended plan", titles);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){doc_name(d, l->text), doc_rate(d, l), l->unit, l->source_id,
                                      l->sku && l->sku[0] ? l->sku : "none given",
                                      doc_as_of(d, l)});
    }
}

/* "aws-offer, SKU ABC, as of 2026-05-20, fetched 2026-05-20T10:00:00Z, row 17" */
static const char *price_row(struct doc *d, const struct bill_line *l)
{
    char when[32];
    const char *fetched = l->fetched_at == GT_TIME_NONE
                              ? ""
                              : doc_printf(d, ", fetched %s", time_format(l->fetched_at, when));
    const char *row = l->row_id ? doc_printf(d, ", row %lld", (long long)l->row_id) : "";
    return doc_printf(d, "%s, %s%s, %s%s%s", l->source_id,
                      l->sku && l->sku[0] ? "SKU " : "no SKU given", l->sku ? l->sku : "",
                      doc_as_of(d, l), fetched, row);
}

/* Per line everything that an audit asks for, in full precision. */
static void audit(struct doc *d, const struct plan *p)
{
    static const char *const titles[] = {
        "Line", "How the quantity comes about", ">Quantity", ">Rate", ">Amount", "Price row", NULL};
    char q[MONEY_TEXT], a[MONEY_TEXT];
    doc_heading(d, 2, "Audit");
    struct doc_block *t = doc_table(d,
                                    "Every line in full: amount = quantity x rate, rounded half "
                                    "to even at 12 decimals; sums are exact",
                                    titles);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    doc_name(d, l->text), l->formula ? l->formula : "",
                    doc_printf(d, "%s %s", money_format(l->quantity, q), l->unit), doc_rate(d, l),
                    doc_printf(d, "%s %s", money_format(l->amount, a), p->currency),
                    price_row(d, l)});
    }
    doc_row(d, t, ROW_TOTAL,
            (const char *const[]){p->at_least ? "total, at least" : "total", "", "", "",
                                  doc_printf(d, "%s %s", money_format(p->total, a), p->currency),
                                  ""});
}

/* The files behind the price rows, so that an auditor finds and compares them. */
static void sources(struct doc *d, const struct report_input *in)
{
    static const char *const titles[] = {"Source",  "What",  "Part",    "Address",
                                         "Licence", "As of", "Fetched", "Hash of the raw file",
                                         NULL};
    struct doc_block *t = doc_table(d, "Files that the price rows come from", titles);
    for (size_t i = 0; i < in->n_sources; i++) {
        const struct report_source *s = &in->source[i];
        char when[32];
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    s->source_id, doc_name(d, s->title), s->scope[0] ? s->scope : "all",
                    s->url[0] ? s->url : "not recorded",
                    s->licence[0] ? s->licence : "not recorded", doc_date(d, s->as_of),
                    s->fetched_at == GT_TIME_NONE
                        ? "bundled"
                        : doc_printf(d, "%s", time_format(s->fetched_at, when)),
                    s->hash[0] ? s->hash : "none: facts taken over into the snapshot"});
    }
}

static void left_out(struct doc *d, const struct report_input *in)
{
    static const char *const titles[] = {"!Where", "Machine", "!Bought", "Why not", NULL};
    const struct plan_set *set = in->set;
    doc_heading(d, 2, "What is left out");
    doc_text(d, DOC_ITEM, "Taxes, and customs or bank fees.");
    doc_text(d, DOC_ITEM, "Support plans, and private discounts that the scenario does not state.");
    doc_text(d, DOC_ITEM, "Quotas and capacity: a price is no promise that machines are free.");
    doc_text(d, DOC_ITEM, "People's time, and machines left running after the job.");
    if (in->set->plan[in->index].component[COMP_DATA_TRANSFER] == 0) {
        doc_text(d, DOC_ITEM, "Taking results out to the internet: no transfer is in the bill.");
    }
    if (set->n_rejected == 0) {
        return;
    }
    size_t n = set->n_rejected < REJECTED_SHOWN ? set->n_rejected : REJECTED_SHOWN;
    doc_heading(d, 2, "Why not something else");
    struct doc_block *t = doc_table(
        d, doc_printf(d, "Rejected, with the reason: %zu of %zu kept aside", n, set->n_rejected),
        titles);
    for (size_t i = 0; i < n; i++) {
        const struct plan_rejected *r = &set->rejected[i];
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){doc_printf(d, "%s/%s", r->vendor, r->region),
                                      r->instance_type, doc_words(d, r->purchase), r->reason});
    }
}

void report_annex(const struct report_input *in, struct doc *d)
{
    const struct plan *p = &in->set->plan[in->index];
    placement(d, p);
    risk(d, p);
    assumptions(d, in->scenario);
    price_rows(d, p);
    left_out(d, in);
    if (in->audit) {
        audit(d, p);
        if (in->n_sources > 0) {
            sources(d, in);
        } else if (in->source) {
            doc_text(d, DOC_PARAGRAPH, "This database does not know the sources of the plan.");
        }
    }
}
