/* Fills a report from a plan set: summary, plans, bill, placement, risk, assumptions, provenance,
 * what was not considered. Amounts shown are rounded so that parts add up (product.md section 4).
 */
#include "doc.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *amount(struct doc *d, money m, const char *currency)
{
    char text[MONEY_TEXT];
    return doc_printf(d, "%s %s", money_format_fixed(m, money_minor_digits(currency), true, text),
                      currency);
}

static const char *duration(struct doc *d, double s)
{
    char text[32];
    return doc_printf(d, "%s", duration_format(s, text));
}

static const char *date(struct doc *d, int64_t when)
{
    char text[16];
    return when == GT_TIME_NONE ? "unknown" : doc_printf(d, "%s", date_format(when, text));
}

static const char *chance(struct doc *d, const struct plan *p)
{
    return isnan(p->deadline_probability)
               ? "no deadline"
               : doc_printf(d, "%.1f %% (%.1f-%.1f)", 100 * p->deadline_probability,
                            100 * p->deadline_lo, 100 * p->deadline_hi);
}

static void summary(struct doc *d, const struct report_input *in, const struct plan *p)
{
    doc_heading(d, 1, d->title);
    doc_paragraph(
        d,
        "Rent %d x %s (%s, %s) in %s/%s, bought %s. Expected cost %s%s, 5-95 %%: %s to %s. One "
        "epoch takes %s, bound by %s; the whole job %s on average, %s at the 95th percentile.",
        p->instances, p->instance_type, p->gpu, doc_printf(d, "%g GPUs in all", p->gpu_count),
        p->vendor, p->region, purchase_name(p->purchase), p->at_least ? "at least " : "",
        amount(d, p->total, p->currency), amount(d, p->p5, p->currency),
        amount(d, p->p95, p->currency), duration(d, p->epoch_s), bound_name(p->rate.bound),
        duration(d, p->makespan_mean_s), duration(d, p->makespan_p95_s));
    doc_paragraph(d,
                  "Chance to finish by the deadline: %s. Prices are before tax, as known on %s; "
                  "made %s; seed %llu.",
                  chance(d, p), date(d, in->set->prices_as_of), date(d, in->set->now),
                  (unsigned long long)in->set->seed);
    doc_paragraph(d,
                  "Proved lower bound: no plan in the searched space costs less than %s (%zu "
                  "candidates, %zu evaluated in full).",
                  amount(d, in->set->lower_bound, in->set->currency), in->set->candidates,
                  in->set->evaluated);
}

static void plans(struct doc *d, const struct report_input *in)
{
    static const char *const titles[] = {">#",        "Where",   "Machines", "GPU",
                                         "Bought",    ">Epoch",  "Bound by", ">Mean time",
                                         ">p95 time", "In time", ">Cost",    NULL};
    doc_heading(d, 2, "Plans");
    struct doc_block *t =
        doc_table(d, "Ranked by expected cost among those that are sure enough", titles);
    for (size_t i = 0; i < in->set->n; i++) {
        const struct plan *p = &in->set->plan[i];
        doc_row(d, t,
                (const char *const[]){
                    doc_printf(d, "%d", p->rank), doc_printf(d, "%s/%s", p->vendor, p->region),
                    doc_printf(d, "%d x %s", p->instances, p->instance_type), p->gpu,
                    purchase_name(p->purchase), duration(d, p->epoch_s), bound_name(p->rate.bound),
                    duration(d, p->makespan_mean_s), duration(d, p->makespan_p95_s), chance(d, p),
                    doc_printf(d, "%s%s", p->at_least ? "at least " : "",
                               amount(d, p->total, p->currency))});
    }
    doc_figure(d,
               "Cost against expected time: circles are the Pareto front, squares the plans above "
               "(the recommended one marked).",
               svg_pareto(d, in->set, in->index));
}

static void bill(struct doc *d, const struct plan *p)
{
    static const char *const titles[] = {"Component", ">Amount", NULL};
    static const char *const lines[] = {"Component", "Line",    ">Quantity", "Unit",
                                        ">Rate",     ">Amount", NULL};
    money shown[COMP_COUNT];
    doc_heading(d, 2, "Cost of the recommended plan");
    if (money_round_parts(p->component, COMP_COUNT, money_minor_digits(p->currency), shown)) {
        memcpy(shown, p->component, sizeof shown);
    }
    struct doc_block *t = doc_table(d, "By component; the parts add up to the total", titles);
    for (int c = 0; c < COMP_COUNT; c++) {
        doc_row(d, t,
                (const char *const[]){component_name((enum component)c),
                                      amount(d, shown[c], p->currency)});
    }
    doc_row(d, t,
            (const char *const[]){p->at_least ? "total, at least" : "total",
                                  amount(d, p->total, p->currency)});
    const char *svg = svg_components(d, p);
    if (svg) {
        doc_figure(d, "Cost by component.", svg);
    }
    t = doc_table(d, "Lines: quantity x rate, each rounded once to 12 decimals", lines);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        char rate[MONEY_TEXT], quantity[MONEY_TEXT];
        doc_row(d, t,
                (const char *const[]){
                    component_name(l->component), l->text,
                    doc_printf(d, "%s", money_format_fixed(l->quantity, 3, true, quantity)),
                    l->unit, doc_printf(d, "%s %s", money_format(l->rate, rate), l->currency),
                    amount(d, l->amount, p->currency)});
    }
}

static void placement(struct doc *d, const struct plan *p)
{
    static const char *const titles[] = {"Data set", "Tier", ">Months", NULL};
    doc_heading(d, 2, "Where the data live");
    struct doc_block *t = doc_table(d, "Tier of each data set", titles);
    for (size_t i = 0; i < p->n_placement; i++) {
        const struct plan_placement *x = &p->placement[i];
        doc_row(d, t,
                (const char *const[]){x->data_set, x->tier,
                                      doc_printf(d, "%d-%d", x->from_month + 1, x->to_month)});
    }
    doc_paragraph(d, "Checkpoints: %s, every %s.", p->checkpoint_tier ? p->checkpoint_tier : "none",
                  p->checkpoint_interval_s > 0 ? duration(d, p->checkpoint_interval_s) : "never");
}

static void risk(struct doc *d, const struct report_input *in, const struct plan *p)
{
    doc_heading(d, 2, "Risk and assumptions");
    if (p->purchase == PURCHASE_SPOT) {
        doc_item(
            d,
            "Interruptions: %.4g per hour for the whole gang (%s), %.2f expected during the job.",
            p->interruption_per_h, p->interruption_basis ? p->interruption_basis : "",
            p->interruptions);
    }
    doc_item(d,
             "Throughput %.4g samples/s, 90 %% interval %.4g to %.4g; lifting the bound (%s) would "
             "give %.4g, then bound by %s.",
             p->rate.samples_per_s, p->rate.lo, p->rate.hi, bound_name(p->rate.bound),
             p->rate.next_samples_per_s, bound_name(p->rate.next_bound));
    doc_item(d, "Memory: %.1f GiB of %.1f GiB per GPU%s.", p->memory.peak_bytes / 1073741824.0,
             p->memory.usable_bytes / 1073741824.0, p->memory.tight ? ", tight" : "");
    for (size_t i = 0; i < p->n_notes; i++) {
        doc_item(d, "%s", p->note[i]);
    }
    for (size_t i = 0; i < in->set->n_warnings; i++) {
        doc_item(d, "%s", in->set->warning[i]);
    }
    for (size_t i = 0; in->scenario && i < in->scenario->n_defaults; i++) {
        doc_item(d, "Assumed: %s = %s.", in->scenario->defaults[i].key,
                 in->scenario->defaults[i].value);
    }
}

static void provenance(struct doc *d, const struct report_input *in, const struct plan *p)
{
    static const char *const titles[] = {"Used for", ">Rate", "Unit",   "Source",
                                         "SKU",      "As of", "Origin", NULL};
    static const char *const audit[] = {"Line", "Formula", ">Quantity", ">Rate",   ">Amount",
                                        "SKU",  "Source",  "As of",     "Fetched", NULL};
    doc_heading(d, 2, "Where each price comes from");
    struct doc_block *t = doc_table(d, "Price rows", titles);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        char rate[MONEY_TEXT];
        doc_row(d, t,
                (const char *const[]){
                    l->text, doc_printf(d, "%s %s", money_format(l->rate, rate), l->currency),
                    l->unit, l->source_id, l->sku, date(d, l->as_of), origin_name(l->origin)});
    }
    if (in->audit) {
        t = doc_table(d, "Audit: every line in full", audit);
        for (size_t i = 0; i < p->n_lines; i++) {
            const struct bill_line *l = &p->line[i];
            char q[MONEY_TEXT], r[MONEY_TEXT], a[MONEY_TEXT];
            doc_row(d, t,
                    (const char *const[]){l->text, l->formula,
                                          doc_printf(d, "%s", money_format(l->quantity, q)),
                                          doc_printf(d, "%s", money_format(l->rate, r)),
                                          doc_printf(d, "%s", money_format(l->amount, a)), l->sku,
                                          l->source_id, date(d, l->as_of), date(d, l->fetched_at)});
        }
    }
}

static void left_out(struct doc *d, const struct report_input *in)
{
    static const char *const titles[] = {"Where", "Machine", "Bought", "Why not", NULL};
    doc_heading(d, 2, "Why not something else");
    struct doc_block *t = doc_table(d, "Rejected, with the reason", titles);
    for (size_t i = 0; i < in->set->n_rejected && i < 40; i++) {
        const struct plan_rejected *r = &in->set->rejected[i];
        doc_row(d, t,
                (const char *const[]){doc_printf(d, "%s/%s", r->vendor, r->region),
                                      r->instance_type, r->purchase, r->reason});
    }
    doc_paragraph(d, "Not considered: taxes, support plans, private discounts that the scenario "
                     "does not state, people's time, quota limits.");
}

int report_build(const struct report_input *in, struct doc *d, struct gt_error *err)
{
    if (in->index >= in->set->n) {
        return gt_fail(err, GT_ENOTFOUND, "", "there is no plan to report");
    }
    const struct plan *p = &in->set->plan[in->index];
    d->title = doc_printf(d, "Recommendation: %s", in->scenario ? in->scenario->name : p->id);
    summary(d, in, p);
    plans(d, in);
    bill(d, p);
    placement(d, p);
    risk(d, in, p);
    provenance(d, in, p);
    left_out(d, in);
    return d->failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}

int report_document(const struct report_input *in, const char *format, struct buf *out,
                    struct gt_error *err)
{
    int rc;
    if (strcmp(format, "csv") == 0) {
        rc = report_csv(in, out);
    } else if (strcmp(format, "md") != 0 && strcmp(format, "html") != 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "no report format '%.20s'; html, md, csv and json are there", format);
    } else {
        struct doc d = {.arena = arena_new(0)};
        struct gt_error why = {0};
        rc = d.arena ? report_build(in, &d, &why) : GT_ENOMEM;
        rc = rc ? rc : strcmp(format, "md") == 0 ? report_md(&d, out) : report_html(&d, out);
        arena_free(d.arena);
        if (why.code) {
            return gt_fail(err, why.code, why.where, "%s", why.text);
        }
    }
    return rc ? gt_fail(err, rc, "", "the report does not fit in memory") : 0;
}
