/* Fills a report from a plan set: the answer first, then the offers side by side and the bill; the
 * rest is in annex.c. Amounts shown are rounded so that parts add up (product.md section 4). */
#include "doc.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0

/* Cut, never rounded up to what is not reached. */
static const char *chance(struct doc *d, const struct plan *p)
{
    double c = p->deadline_probability;
    return isnan(c)     ? "no deadline"
           : c > 0.9995 ? ">99.9 %"
                        : doc_printf(d, "%.1f %%", floor(c * 1000) / 10);
}

static const char *total(struct doc *d, const struct plan *p)
{
    return doc_printf(d, "%s%s", p->at_least ? "at least " : "",
                      doc_amount(d, p->total, p->currency));
}

static const char *machines(struct doc *d, const struct plan *p)
{
    return doc_printf(d, "%d x %s", p->instances, p->instance_type);
}

static const char *machines_and_gpus(struct doc *d, const struct plan *p)
{
    return doc_printf(d, "%d x %s (%g x %s)", p->instances, p->instance_type, p->gpu_count, p->gpu);
}

static const char *gpus(struct doc *d, const struct plan *p)
{
    return doc_printf(d, "%g x %s", p->gpu_count, p->gpu);
}

static const char *place(struct doc *d, const struct plan *p)
{
    return doc_printf(d, "%s/%s", p->vendor, p->region);
}

/* The row that prices the machines: the first line billed by the hour. */
static const struct bill_line *machine_line(const struct plan *p)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        if (p->line[i].component <= COMP_COMMITMENT) {
            return &p->line[i];
        }
    }
    return NULL;
}

static void key_cost(struct doc *d, const struct report_input *in, const struct plan *p,
                     struct doc_block *t)
{
    const struct scenario *s = in->scenario;
    doc_row(d, t, ROW_CHOSEN,
            (const char *const[]){p->at_least ? "Expected cost, at least" : "Expected cost",
                                  doc_amount(d, p->total, p->currency),
                                  doc_printf(d, "90 %% range %s to %s",
                                             doc_amount(d, p->p5, p->currency),
                                             doc_amount(d, p->p95, p->currency))});
    if (s && s->budget > 0) {
        bool same = strcmp(s->budget_currency, p->currency) == 0;
        double used = 100 * money_to_double(p->total) / money_to_double(s->budget);
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){"Budget", doc_amount(d, s->budget, s->budget_currency),
                                      same ? doc_printf(d, "%.1f %% of it is used", used)
                                           : "compared at the exchange rate named below"});
    }
}

static void key_figures(struct doc *d, const struct report_input *in, const struct plan *p)
{
    const struct scenario *s = in->scenario;
    struct doc_block *t = doc_facts(d);
    key_cost(d, in, p, t);
    doc_row(d, t, ROW_PLAIN,
            (const char *const[]){"Done after", doc_duration(d, p->makespan_mean_s),
                                  doc_printf(d, "on average; 95 %% of runs within %s",
                                             doc_duration(d, p->makespan_p95_s))});
    if (!isnan(p->deadline_probability)) {
        const char *asked = s && s->deadline_s > 0
                                ? doc_printf(d, "; deadline %s, %g %% asked",
                                             doc_duration(d, s->deadline_s), 100 * s->confidence)
                                : "";
        doc_row(
            d, t, ROW_PLAIN,
            (const char *const[]){"Chance to be in time", chance(d, p),
                                  doc_printf(d, "95 %% interval %.1f to %.1f %%%s",
                                             100 * p->deadline_lo, 100 * p->deadline_hi, asked)});
    }
    if (!isnan(p->epoch_s) && p->epoch_s > 0) {
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){"One epoch", doc_duration(d, p->epoch_s),
                                      doc_printf(d, "%s an epoch; bound by %s",
                                                 doc_amount(d, p->total_per_epoch, p->currency),
                                                 doc_words(d, bound_name(p->rate.bound)))});
    }
    if (p->memory.usable_bytes > 0) {
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    "Memory per GPU", doc_printf(d, "%.1f GiB", p->memory.peak_bytes / GIB),
                    doc_printf(d, "of %.1f GiB usable%s", p->memory.usable_bytes / GIB,
                               p->memory.tight ? ": tight" : "")});
    }
}

/* What the money goes to, in one sentence. */
static void main_cost(struct doc *d, const struct plan *p, const money *shown)
{
    int top = 0;
    for (int c = 1; c < COMP_COUNT; c++) {
        top = p->component[c] > p->component[top] ? c : top;
    }
    if (p->total > 0) {
        doc_text(d, DOC_PARAGRAPH, "The largest part is %s: %s, %.1f %% of the cost.",
                 doc_words(d, component_name((enum component)top)),
                 doc_amount(d, shown[top], p->currency),
                 100 * money_to_double(p->component[top]) / money_to_double(p->total));
    }
}

static void summary(struct doc *d, const struct report_input *in, const struct plan *p,
                    const money *shown)
{
    const struct plan_set *set = in->set;
    char now[32];
    doc_heading(d, 1, d->title);
    doc_text(d, DOC_LEAD, "Rent %s (%s) from %s in %s, bought as %s.", machines(d, p), gpus(d, p),
             p->vendor, p->region, doc_words(d, purchase_name(p->purchase)));
    doc_text(d, DOC_SMALL,
             "Prices before tax, newest row as of %s. Made %s, plan %s, rank %d, seed %llu. "
             "Amounts in %s.",
             doc_date(d, set->prices_as_of),
             set->now == GT_TIME_NONE ? "at an unknown time" : time_format(set->now, now), p->id,
             p->rank, (unsigned long long)set->seed, p->currency);
    key_figures(d, in, p);
    main_cost(d, p, shown);
    if (p->at_least) {
        doc_text(d, DOC_PARAGRAPH,
                 "The total is \"at least\": it rests on a price that nobody "
                 "publishes; ask the vendor before you sign.");
    }
    for (size_t i = 0; i < p->n_notes; i++) { /* what may change the decision stands at the top */
        if (strncmp(p->note[i], "WARNING", 7) == 0) {
            doc_text(d, DOC_ITEM, "%s", p->note[i]);
        }
    }
    for (size_t i = 0; i < set->n_warnings; i++) {
        doc_text(d, DOC_ITEM, "%s", set->warning[i]);
    }
}

static void offer_row(struct doc *d, struct doc_block *t, const char *role, const struct plan *p,
                      enum doc_mark mark)
{
    const struct bill_line *l = machine_line(p);
    const char *price =
        l ? doc_printf(d, "%s (%s%s%s, %s)", doc_rate(d, l), l->source_id,
                       l->sku && l->sku[0] ? " " : "", l->sku ? l->sku : "", doc_as_of(d, l))
          : "";
    doc_row(d, t, mark,
            (const char *const[]){role, place(d, p), machines_and_gpus(d, p),
                                  doc_words(d, purchase_name(p->purchase)), price,
                                  doc_duration(d, p->makespan_mean_s), chance(d, p), total(d, p)});
}

struct offers {
    size_t n;
    const struct plan *plan[3];
    const char *role[3];
};

static void add_offer(struct doc *d, struct offers *o, const struct plan *p, const char *role)
{
    for (size_t i = 0; p && i < o->n; i++) {
        if (strcmp(o->plan[i]->id, p->id) == 0) {
            o->role[i] = doc_printf(d, "%s, %s", o->role[i], role);
            return;
        }
    }
    if (p) {
        o->plan[o->n] = p;
        o->role[o->n++] = role;
    }
}

/* The same need three ways: what is recommended, what is done first, what is exposed least; one
 * plan may be more than one of these. */
static struct offers choose_offers(struct doc *d, const struct report_input *in,
                                   const struct plan *p)
{
    const struct plan *fast = NULL, *safe = NULL;
    struct offers o = {0};
    for (size_t i = 0; i < in->set->n_front; i++) {
        const struct plan *q = &in->set->front[i];
        fast = !fast || q->makespan_p95_s < fast->makespan_p95_s ? q : fast;
        double a = isnan(q->deadline_probability) ? 1 : q->deadline_probability;
        double b = !safe || isnan(safe->deadline_probability) ? 1 : safe->deadline_probability;
        if (!safe || q->interruptions < safe->interruptions - 1e-9 ||
            (q->interruptions < safe->interruptions + 1e-9 && a > b + 5e-4)) {
            safe = q;
        }
    }
    add_offer(d, &o, p, "recommended");
    add_offer(d, &o, fast, "fastest");
    add_offer(d, &o, safe, "least exposed");
    return o;
}

/* What each offer's cost is made of; the parts of each add up to its total. */
static int offer_parts(struct doc *d, const struct offers *o)
{
    const char *titles[5] = {"Component"}, *totals[4] = {"total"};
    money shown[3][COMP_COUNT];
    for (size_t k = 0; k < o->n; k++) {
        int rc = plan_shown(o->plan[k], shown[k], NULL);
        if (rc) {
            return rc;
        }
        titles[k + 1] = doc_printf(d, ">%s", o->role[k]);
        totals[k + 1] = total(d, o->plan[k]);
    }
    struct doc_block *t = doc_table(d, "What their costs are made of", titles);
    for (int c = 0; c < COMP_COUNT; c++) {
        const char *cell[4] = {doc_words(d, component_name((enum component)c))};
        bool any = false;
        for (size_t k = 0; k < o->n; k++) {
            any = any || o->plan[k]->component[c] != 0;
            cell[k + 1] = doc_amount(d, shown[k][c], o->plan[k]->currency);
        }
        if (any) {
            doc_row(d, t, ROW_PLAIN, cell);
        }
    }
    doc_row(d, t, ROW_TOTAL, totals);
    return 0;
}

static int offers(struct doc *d, const struct report_input *in, const struct plan *p)
{
    static const char *const titles[] = {
        "Offer",      "!Where",   "Machines", "!Bought", "Price of a machine-hour",
        ">Mean time", ">In time", ">Cost",    NULL};
    struct offers o = choose_offers(d, in, p);
    doc_heading(d, 2, "Offers for the same need");
    struct doc_block *t =
        doc_table(d,
                  "The recommendation beside the fastest plan and the one least exposed to "
                  "interruptions",
                  titles);
    for (size_t k = 0; k < o.n; k++) {
        offer_row(d, t, o.role[k], o.plan[k], k ? ROW_PLAIN : ROW_CHOSEN);
    }
    doc_figure(d,
               "Expected cost against the time that 95 % of the runs keep within. Circles: the "
               "Pareto front (cost, time and "
               "risk); squares: ranked plans; diamond: the recommendation. The line joins the "
               "cheapest plans for each time.",
               svg_pareto(d, in->set, in->index));
    return o.n > 1 ? offer_parts(d, &o) : 0;
}

static void plans(struct doc *d, const struct report_input *in)
{
    static const char *const titles[] = {">#",       "!Where",   "Machines", "GPUs",
                                         "!Bought",  ">Epoch",   "Bound by", ">Half done by",
                                         ">95 % by", ">In time", ">Cost",    NULL};
    doc_heading(d, 2, "Ranked plans");
    struct doc_block *t =
        doc_table(d, "Ranked by expected cost among the plans that are sure enough", titles);
    for (size_t i = 0; i < in->set->n; i++) {
        const struct plan *p = &in->set->plan[i];
        doc_row(
            d, t, i == in->index ? ROW_CHOSEN : ROW_PLAIN,
            (const char *const[]){doc_printf(d, "%d", p->rank), place(d, p), machines(d, p),
                                  gpus(d, p), doc_words(d, purchase_name(p->purchase)),
                                  isnan(p->epoch_s) ? "" : doc_duration(d, p->epoch_s),
                                  isnan(p->epoch_s) ? "" : doc_words(d, bound_name(p->rate.bound)),
                                  doc_duration(d, p->makespan_p50_s),
                                  doc_duration(d, p->makespan_p95_s), chance(d, p), total(d, p)});
    }
    doc_text(d, DOC_PARAGRAPH,
             "Proved lower bound: no plan of the %zu in the searched space costs less than %s "
             "(%zu evaluated in full, %zu ruled out by bounds).",
             in->set->candidates, doc_amount(d, in->set->lower_bound, in->set->currency),
             in->set->evaluated, in->set->pruned);
}

static void bill_lines(struct doc *d, const struct plan *p, const money *line)
{
    static const char *const titles[] = {"Component", "Line",    ">Quantity", "Unit",
                                         ">Rate",     ">Amount", NULL};
    struct doc_block *t = doc_table(d, "Line by line: quantity x rate, rounded once", titles);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        char quantity[MONEY_TEXT];
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    doc_words(d, component_name(l->component)), doc_name(d, l->text),
                    doc_printf(d, "%s", money_format_fixed(l->quantity, 3, true, quantity)),
                    l->unit, doc_rate(d, l), doc_amount(d, line[i], p->currency)});
    }
    doc_row(d, t, ROW_TOTAL,
            (const char *const[]){p->at_least ? "total, at least" : "total", "", "", "", "",
                                  doc_amount(d, p->total, p->currency)});
}

static void bill(struct doc *d, const struct plan *p, const money *shown, const money *line)
{
    static const char *const titles[] = {"Component", ">Amount", ">Share", NULL};
    doc_heading(d, 2, "Cost of the recommended plan");
    doc_figure(d, "Cost by component; components without cost are in the table only.",
               svg_components(d, p));
    struct doc_block *t =
        doc_table(d, "By component, before tax; the parts add up to the total", titles);
    for (int c = 0; c < COMP_COUNT; c++) {
        double share =
            p->total > 0 ? 100 * money_to_double(p->component[c]) / money_to_double(p->total) : 0;
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){doc_words(d, component_name((enum component)c)),
                                      doc_amount(d, shown[c], p->currency),
                                      p->component[c] ? doc_printf(d, "%.1f %%", share) : ""});
    }
    doc_row(d, t, ROW_TOTAL,
            (const char *const[]){p->at_least ? "total, at least" : "total",
                                  doc_amount(d, p->total, p->currency), ""});
    bill_lines(d, p, line);
}

int report_build(const struct report_input *in, struct doc *d, struct gt_error *err)
{
    money shown[COMP_COUNT];
    if (in->index >= in->set->n) {
        return gt_fail(err, GT_ENOTFOUND, "", "there is no plan to report");
    }
    const struct plan *p = &in->set->plan[in->index];
    money *line = arena_array(d->arena, p->n_lines + 1, sizeof *line);
    if (!line) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = plan_shown(p, shown, line);
    if (rc) {
        return gt_fail(err, rc, "", "the bill is out of the range of money");
    }
    d->title =
        doc_printf(d, "Recommendation: %s",
                   in->scenario && in->scenario->name[0] ? doc_name(d, in->scenario->name) : p->id);
    summary(d, in, p, shown);
    if (offers(d, in, p)) {
        return gt_fail(err, GT_ERANGE, "", "a bill is out of the range of money");
    }
    bill(d, p, shown, line);
    plans(d, in);
    report_commitments(in, d);
    report_annex(in, d);
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
