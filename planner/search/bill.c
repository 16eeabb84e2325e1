/* The exact bill of one candidate: each line is one price row, rate x quantity, rounded once; the
 * components and the total are integer sums of the lines (product.md section 4 and 6). */
#include "search.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LINES 160

struct bill {
    struct search *q;
    const struct candidate *c;
    struct bill_line *line;
    size_t n;
    const char *currency; /* of the plan */
};

static int fail(struct bill *b, int code, const char *text)
{
    return gt_fail(b->q->err, code, "", "%s", text);
}

static int add_line(struct bill *b, struct bill_line line, double quantity)
{
    if (b->n == MAX_LINES) {
        return fail(b, GT_ELIMIT, "more than 160 lines in one bill");
    }
    int rc = money_from_double(quantity, &line.quantity);
    money native = 0;
    if (rc == 0) {
        rc = money_mul_decimal(line.rate, line.quantity, &native);
    }
    if (rc == 0) {
        rc = catalog_convert(b->q->c, line.currency, b->currency, native, &line.amount);
    }
    if (rc != 0 || line.text == NULL || line.formula == NULL) {
        return rc != 0 ? fail(b, rc, "a bill line overflows") : fail(b, GT_ENOMEM, "out of memory");
    }
    line.currency = search_own(b->q, line.currency);
    line.source_id = search_own(b->q, line.source_id);
    line.sku = search_own(b->q, line.sku);
    b->line[b->n++] = line;
    return 0;
}

static const char *or_dash(const char *s)
{
    return s == NULL || s[0] == '\0' ? "" : s;
}

static const char *unit_text(struct bill *b, enum storage_unit u, uint32_t qty)
{
    static const char *const plain[SU_COUNT] = {[SU_GIB_MONTH] = "GiB-month",
                                                [SU_GB_MONTH] = "GB-month",
                                                [SU_GIB] = "GiB",
                                                [SU_GB] = "GB",
                                                [SU_REQUEST] = "request",
                                                [SU_OBJECT_MONTH] = "object-month",
                                                [SU_IOPS_MONTH] = "IOPS-month",
                                                [SU_MIBPS_MONTH] = "MiB/s-month",
                                                [SU_DISK_MONTH] = "disk-month",
                                                [SU_HOUR] = "hour"};
    return qty <= 1 ? plain[u] : arena_printf(b->q->arena, "%u %ss", qty, plain[u]);
}

static int charge_line(struct bill *b, const struct charge *h)
{
    const struct catalog *c = b->q->c;
    struct bill_line l = {.component = h->component, .text = h->text, .formula = h->formula};
    if (h->transfer) {
        const struct catalog_transfer *t = &c->transfer;
        l.rate = t->rate[h->row];
        l.currency = catalog_text(c, t->currency[h->row]);
        l.unit = t->gb_bytes[h->row] == 1000000000ULL ? "GB" : "GiB";
        l.source_id = catalog_text(c, t->source[h->row]);
        l.sku = or_dash(catalog_text(c, t->sku[h->row]));
        l.as_of = t->as_of[h->row];
        l.fetched_at = t->fetched_at[h->row];
        l.origin = (enum origin)t->origin[h->row];
        l.row_id = t->id[h->row];
    } else {
        const struct catalog_storage *t = &c->storage;
        l.rate = t->rate[h->row];
        l.currency = catalog_text(c, t->currency[h->row]);
        l.unit = unit_text(b, (enum storage_unit)t->unit[h->row], t->unit_qty[h->row]);
        l.source_id = catalog_text(c, t->source[h->row]);
        l.sku = or_dash(catalog_text(c, t->sku[h->row]));
        l.as_of = t->as_of[h->row];
        l.fetched_at = t->fetched_at[h->row];
        l.origin = (enum origin)t->origin[h->row];
        l.row_id = t->id[h->row];
    }
    return add_line(b, l, h->quantity * basis_count(h->basis, b->c));
}

static int charge_lines(struct bill *b, const struct charges *c)
{
    int rc = 0;
    for (size_t i = 0; i < c->n && rc == 0; i++) {
        rc = charge_line(b, &c->item[i]);
    }
    return rc;
}

static int offer_line(struct bill *b, const struct machine *m, enum component comp, money rate,
                      const char *unit, double quantity, const char *text, const char *formula)
{
    const struct catalog_offers *f = &b->q->c->offers;
    size_t row = m->row;
    struct bill_line l = {
        .component = comp,
        .text = text,
        .formula = formula,
        .rate = rate,
        .unit = unit,
        .currency = catalog_text(b->q->c, f->currency[row]),
        .source_id = catalog_text(b->q->c, f->source[row]),
        .sku = or_dash(catalog_text(b->q->c, f->sku[row])),
        .as_of = f->as_of[row],
        .fetched_at = f->fetched_at[row],
        .origin = (enum origin)f->origin[row],
        .row_id = f->id[row],
    };
    if (m->factor != 1) {
        money factor = 0;
        int rc = money_from_double(m->factor, &factor);
        if (rc == 0) {
            rc = money_mul_decimal(rate, factor, &l.rate);
        }
        if (rc != 0) {
            return fail(b, rc, "a discounted rate overflows");
        }
        l.formula =
            arena_printf(b->q->arena, "%s; rate = list price x discount %g", formula, m->factor);
    }
    return add_line(b, l, quantity);
}

static int machine_line(struct bill *b, enum component comp, money rate, const char *unit,
                        double quantity, const char *text, const char *formula)
{
    return offer_line(b, b->c->machine, comp, rate, unit, quantity, text, formula);
}

/* Spot first, on demand as the safety net: mean hours of the trajectories. */
static int mixed_lines(struct bill *b)
{
    const struct candidate *c = b->c;
    const struct machine *spot = c->machine, *demand = spot->twin;
    struct arena *a = b->q->arena;
    const struct {
        const struct machine *m;
        enum component component;
        double hours;
        const char *what;
    } part[] = {
        {spot, COMP_COMPUTE_SPOT, c->spot_useful_h, "useful"},
        {spot, COMP_INTERRUPTION_WASTE, c->spot_waste_h, "lost work and restarts"},
        {demand, COMP_COMPUTE_ON_DEMAND, c->demand_useful_h,
         c->fallback ? "useful, once spot was waited for too long"
                     : "useful, once the deadline asks for it"},
        {demand, COMP_INTERRUPTION_WASTE, c->demand_waste_h, "set-up after the change"},
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof part / sizeof part[0] && rc == 0; i++) {
        if (part[i].hours > 0) {
            rc = offer_line(
                b, part[i].m, part[i].component, b->q->c->offers.price_per_hour[part[i].m->row],
                "hour", c->n * part[i].hours,
                arena_printf(a, "%d x %s %s, %.2f h %s", c->n, spot->type,
                             purchase_name(part[i].m->purchase), part[i].hours, part[i].what),
                c->fallback ? "machines x expected hours (exact for exponential lives and waits)"
                            : "machines x mean hours of the simulated runs at the model's central "
                              "rate");
        }
    }
    return rc;
}

static int commitment_lines(struct bill *b)
{
    struct search *q = b->q;
    const struct candidate *c = b->c;
    const struct machine *m = c->machine;
    const struct catalog_offers *f = &q->c->offers;
    double term = (double)purchase_term_hours(m->purchase),
           terms = commitment_terms(q, m->purchase);
    const char *name = purchase_name(m->purchase);
    double up = c->n * terms, hours = c->n * terms * term;
    const char *formula = "machines x terms x hours of the term: charged in full";
    if (q->s->use_owned) {
        up = c->n * c->billed_h / term;
        hours = c->n * c->billed_h;
        formula = "machines x hours used: owned, amortised per used hour";
    }
    int rc = 0;
    if (f->upfront[m->row] != 0) {
        rc = machine_line(b, COMP_COMMITMENT, f->upfront[m->row], "term", up,
                          arena_printf(q->arena, "%d x %s %s, up-front part", c->n, m->type, name),
                          q->s->use_owned ? "machines x hours used / hours of the term"
                                          : "machines x terms");
    }
    if (rc == 0 && f->price_per_hour[m->row] != 0) {
        rc = machine_line(b, COMP_COMMITMENT, f->price_per_hour[m->row], "hour", hours,
                          arena_printf(q->arena, "%d x %s %s, hourly part", c->n, m->type, name),
                          formula);
    }
    return rc;
}

static int spot_lines(struct bill *b, money rate)
{
    const struct candidate *c = b->c;
    struct arena *a = b->q->arena;
    double useful = c->job.work_h + c->writes * c->job.delta_h + c->job.restart_h;
    double waste = fmax(0, c->billed_h - useful);
    int rc = machine_line(
        b, COMP_COMPUTE_SPOT, rate, "hour", c->n * useful,
        arena_printf(a, "%d x %s %s, %.2f h useful", c->n, c->machine->type,
                     purchase_name(c->machine->purchase), useful),
        arena_printf(a,
                     "machines x (work %.4f h + %.0f checkpoints x %.1f s + first set-up and "
                     "loading %.3f h)",
                     c->job.work_h, c->writes, c->job.delta_h * 3600, c->job.restart_h));
    if (rc == 0 && waste > 0) {
        rc = machine_line(b, COMP_INTERRUPTION_WASTE, rate, "hour", c->n * waste,
                          arena_printf(a, "%d x %s, lost work and restarts, %.2f h", c->n,
                                       c->machine->type, waste),
                          arena_printf(a,
                                       "machines x (expected billed hours %.4f - useful hours), "
                                       "%.3g interruptions expected",
                                       c->billed_h, c->interruptions));
    }
    return rc;
}

static int machine_lines(struct bill *b)
{
    struct search *q = b->q;
    const struct candidate *c = b->c;
    const struct machine *m = c->machine;
    const struct catalog_offers *f = &q->c->offers;
    money rate = f->price_per_hour[m->row];
    if (c->mixed) {
        return mixed_lines(b);
    }
    if (m->purchase == PURCHASE_MONTHLY) {
        double packages = fmax(1, ceil(c->makespan_h / 730.0 - 1e-9));
        return machine_line(b, COMP_COMMITMENT, f->price_month[m->row], "month", c->n * packages,
                            arena_printf(q->arena, "%d x %s monthly package", c->n, m->type),
                            "machines x months begun");
    }
    if (m->purchase == PURCHASE_CAPACITY_BLOCK) {
        double hours = block_hours(c->billed_h);
        return machine_line(
            b, COMP_COMMITMENT, rate, "hour", c->n * hours,
            arena_printf(q->arena, "%d x %s capacity block, %.0f h", c->n, m->type, hours),
            arena_printf(q->arena,
                         "machines x (run %.4f h + 0.5 h, in whole days; above 14 "
                         "days whole weeks)",
                         c->billed_h));
    }
    if (purchase_term_hours(m->purchase) > 0) {
        return commitment_lines(b);
    }
    if (m->lambda_per_h > 0 || m->purchase == PURCHASE_SPOT) {
        return spot_lines(b, rate);
    }
    return machine_line(b, COMP_COMPUTE_ON_DEMAND, rate, "hour", c->n * c->billed_h,
                        arena_printf(q->arena, "%d x %s %s, %.2f h", c->n, m->type,
                                     purchase_name(m->purchase), c->billed_h),
                        arena_printf(q->arena,
                                     "machines x (work %.4f h + %.0f checkpoints x %.1f s + set-up "
                                     "and loading %.3f h)",
                                     c->job.work_h, c->writes, c->job.delta_h * 3600,
                                     c->job.restart_h));
}

int build_bill(struct search *q, const struct candidate *c, struct plan *out)
{
    struct bill b = {.q = q, .c = c};
    b.currency = q->o->currency != NULL && q->o->currency[0] != '\0' ? q->o->currency : "USD";
    b.line = arena_array(q->arena, MAX_LINES, sizeof *b.line);
    if (b.line == NULL) {
        return fail(&b, GT_ENOMEM, "out of memory");
    }
    if (catalog_fx_rate(q->c, b.currency, NULL) <= 0) {
        return gt_fail(q->err, GT_ENOTFOUND, "", "no exchange rate is known for %.10s", b.currency);
    }
    int rc = machine_lines(&b);
    if (rc == 0) {
        rc = charge_lines(&b, &c->place->charges);
    }
    if (rc == 0) {
        rc = charge_lines(&b, &q->region[c->machine->region_index].common);
    }
    for (size_t i = 0; i < b.n && rc == 0; i++) {
        money *sum = &out->component[b.line[i].component];
        rc = money_add(*sum, b.line[i].amount, sum);
        if (rc == 0) {
            rc = money_add(out->total, b.line[i].amount, &out->total);
        }
    }
    out->line = b.line;
    out->n_lines = b.n;
    out->currency = search_own(q, b.currency);
    return rc;
}
