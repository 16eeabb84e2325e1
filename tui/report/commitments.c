/* Commitments of a report: what a term costs beside renting the same machine by the hour. */
#include "doc.h"
#include "gputier/units.h"
#include <math.h>
#include <string.h>

/* At the low and the high share of use; one amount when they are the same. */
static const char *span(struct doc *d, const money m[2], const char *currency)
{
    if (m[0] < 0) {
        return "not sold";
    }
    return m[0] == m[1] ? doc_amount(d, m[0], currency)
                        : doc_printf(d, "%s to %s", doc_amount(d, m[0], currency),
                                     doc_amount(d, m[1], currency));
}

static const char *share(struct doc *d, double v)
{
    return isnan(v) ? "unknown" : v > 1 ? "never" : doc_printf(d, "%.0f %%", 100 * v);
}

static const char *after(struct doc *d, const struct plan_commitment *c)
{
    double month = GT_HOURS_PER_MONTH;
    if (c->on_demand_h < 0) {
        return "unknown";
    }
    return isnan(c->pays_after_h[1])
               ? "not within the term"
               : doc_printf(d, "%.1f months%s", c->pays_after_h[1] / month,
                            isnan(c->pays_after_h[0])    ? ", at the low use never"
                            : c->share[0] == c->share[1] ? ""
                                                         : " at the high use");
}

void report_commitments(const struct report_input *in, struct doc *d)
{
    static const char *const titles[] = {
        "Where", "Machines",    "Commitment",  ">Up front",     ">Committed", ">On demand",
        ">Spot", ">Pays above", ">Pays after", ">Lost at half", NULL};
    const struct plan_set *set = in->set;
    if (set->n_commitments == 0) {
        return;
    }
    const struct plan_commitment *first = &set->commitment[0];
    doc_heading(d, 2, "Commitments");
    struct doc_block *t = doc_table(
        d,
        doc_printf(d,
                   "The same machines committed or by the hour, over %.0f months, used %.0f to "
                   "%.0f %% of the hours",
                   first->horizon_h / GT_HOURS_PER_MONTH, 100 * first->share[0],
                   100 * first->share[1]),
        titles);
    for (size_t i = 0; i < set->n_commitments; i++) {
        const struct plan_commitment *c = &set->commitment[i];
        const char *kind = doc_words(d, purchase_name(c->purchase));
        doc_row(
            d, t, ROW_PLAIN,
            (const char *const[]){
                doc_printf(d, "%s/%s", doc_name(d, c->vendor), doc_name(d, c->region)),
                doc_printf(d, "%d x %s", c->instances, doc_name(d, c->instance_type)),
                c->payment[0] != '\0' ? doc_printf(d, "%s, %s up front", kind, c->payment) : kind,
                doc_amount(d, c->upfront, set->currency), doc_amount(d, c->total, set->currency),
                span(d, c->on_demand, set->currency), span(d, c->spot, set->currency),
                share(d, c->break_even), after(d, c),
                c->on_demand_h < 0 ? "unknown" : doc_amount(d, c->lost[1], set->currency)});
    }
    doc_text(d, DOC_PARAGRAPH,
             "Committed: all terms begun, used or not. Pays above: share of the hours from which "
             "the term costs less than on demand. Lost at half: when the need ends after half a "
             "term, more than on demand would have cost at the mean use. A commitment is no "
             "reservation of capacity unless the vendor says so.");
}
