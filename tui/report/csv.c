/* CSV: every bill line of every shown plan, in full precision, with its price row. */
#include "doc.h"
#include "gputier/csvw.h"
#include "gputier/units.h"

int report_csv(const struct report_input *in, struct buf *out)
{
    static const char *const titles[] = {"rank",          "plan",      "vendor",   "region",
                                         "instance_type", "instances", "purchase", "component",
                                         "line",          "quantity",  "unit",     "rate",
                                         "rate_currency", "amount",    "currency", "source_id",
                                         "sku",           "as_of",     "origin",   "formula"};
    struct csvw w;
    char date[16];
    csvw_init(&w, out);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < in->set->n; i++) {
        const struct plan *p = &in->set->plan[i];
        for (size_t k = 0; k < p->n_lines; k++) {
            const struct bill_line *l = &p->line[k];
            csvw_int(&w, p->rank);
            csvw_text(&w, p->id);
            csvw_text(&w, p->vendor);
            csvw_text(&w, p->region);
            csvw_text(&w, p->instance_type);
            csvw_int(&w, p->instances);
            csvw_text(&w, purchase_name(p->purchase));
            csvw_text(&w, component_name(l->component));
            csvw_text(&w, l->text);
            csvw_money(&w, l->quantity);
            csvw_text(&w, l->unit);
            csvw_money(&w, l->rate);
            csvw_text(&w, l->currency);
            csvw_money(&w, l->amount);
            csvw_text(&w, p->currency);
            csvw_text(&w, l->source_id);
            csvw_text(&w, l->sku);
            csvw_text(&w, l->as_of == GT_TIME_NONE ? "" : date_format(l->as_of, date));
            csvw_text(&w, origin_name(l->origin));
            csvw_text(&w, l->formula);
            csvw_end_row(&w);
        }
    }
    return csvw_finish(&w);
}
