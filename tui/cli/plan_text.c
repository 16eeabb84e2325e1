/* Plans for people: one row each, then why the first one is what it is. */
#include "gputier/csvw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "plan_ask.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REJECTED_SHOWN 8

static int add_line(struct buf *out, const char *text)
{
    int rc = text_safe(out, text, strlen(text), false);
    return rc != 0 ? rc : buf_addc(out, '\n');
}

static const char *cash(const struct plan *p, money m, char buf[MONEY_TEXT])
{
    return money_format_fixed(m, money_minor_digits(p->currency), true, buf);
}

static void chance(const struct plan *p, char buf[32])
{
    if (isnan(p->deadline_probability)) {
        buf[0] = '\0';
    } else if (p->deadline_probability > 0.9995) {
        snprintf(buf, 32, ">99.9 %%");
    } else {
        snprintf(buf, 32, "%.1f %%", floor(p->deadline_probability * 1000) / 10);
    }
}

static void epoch_text(const struct plan *p, char buf[80])
{
    char time[32];
    if (isnan(p->epoch_s)) {
        buf[0] = '\0';
    } else {
        snprintf(buf, 80, "%.31s %.24s", duration_format(p->epoch_s, time),
                 bound_name(p->rate.bound));
    }
}

static void plan_row(struct text_table *t, const struct plan *p, const char *mark)
{
    char rank[16], place[96], machine[96], gpu[80], epoch[80], p50[32], p95[32], luck[32];
    char a[MONEY_TEXT], b[MONEY_TEXT], c[MONEY_TEXT], total[96], range[160];
    snprintf(rank, sizeof rank, "%d%s", p->rank, mark);
    if (p->rank == 0) {
        snprintf(rank, sizeof rank, "%s", mark);
    }
    snprintf(place, sizeof place, "%.30s/%.60s", p->vendor, p->region);
    snprintf(machine, sizeof machine, "%d x %.80s", p->instances, p->instance_type);
    snprintf(gpu, sizeof gpu, "%g x %.60s", p->gpu_count, p->gpu);
    epoch_text(p, epoch);
    chance(p, luck);
    snprintf(total, sizeof total, "%s%s %.3s", p->at_least ? ">= " : "", cash(p, p->total, a),
             p->currency);
    snprintf(range, sizeof range, "%s-%s", cash(p, p->p5, b), cash(p, p->p95, c));
    const char *cells[] = {rank,
                           place,
                           machine,
                           gpu,
                           strcmp(p->policy, "greedy") == 0 || strcmp(p->policy, "fallback") == 0
                               ? "spot+demand"
                               : purchase_name(p->purchase),
                           epoch,
                           duration_format(p->makespan_p50_s, p50),
                           duration_format(p->makespan_p95_s, p95),
                           luck,
                           total,
                           range};
    table_row(t, cells);
}

static const char *const titles[] = {">#",       "where",           "machines",  "GPUs",
                                     "purchase", "epoch, bound by", ">time p50", ">time p95",
                                     ">chance",  ">cost",           ">5-95 %",   NULL};

static int table_of(const struct app *app, const struct plan_set *set, struct buf *out)
{
    struct text_table t;
    table_init(&t, titles);
    for (size_t i = 0; i < set->n; i++) {
        plan_row(&t, &set->plan[i], set->plan[i].on_front ? "*" : "");
    }
    return table_write(&t, out, app->plain);
}

/* Plans whose range overlaps that of the first cannot be told apart by cost. */
static int overlap(const struct plan_set *set, struct buf *out)
{
    size_t n = 1;
    while (n < set->n && set->plan[n].p5 <= set->plan[0].p95 &&
           set->plan[n].at_least == set->plan[0].at_least) {
        n++;
    }
    return n < 2 ? 0
                 : buf_addf(
                       out,
                       "The 5-95 %% ranges of plans 1 to %zu overlap: their order by cost is not "
                       "certain.\n",
                       n);
}

/* The front's ends: what the fastest costs, what is exposed least. */
static int ends(const struct app *app, const struct plan_set *set, struct buf *out)
{
    const struct plan *fast = NULL, *safe = NULL;
    for (size_t i = 0; i < set->n_front; i++) {
        const struct plan *p = &set->front[i];
        if (fast == NULL || p->makespan_p95_s < fast->makespan_p95_s) {
            fast = p;
        }
        double a = isnan(p->deadline_probability) ? 1 : p->deadline_probability;
        double b =
            safe == NULL || isnan(safe->deadline_probability) ? 1 : safe->deadline_probability;
        if (safe == NULL || p->interruptions < safe->interruptions - 1e-9 ||
            (p->interruptions < safe->interruptions + 1e-9 && a > b + 5e-4)) {
            safe = p;
        }
    }
    if (fast == NULL) {
        return 0;
    }
    struct text_table t;
    int rc = buf_addf(
        out,
        "\nOn the Pareto front of cost, p95 of time and exposure stand %zu plans (* above); "
        "its ends:\n",
        set->n_front);
    table_init(&t, titles);
    plan_row(&t, fast, fast->rank > 0 ? " fastest" : "fastest");
    plan_row(&t, safe, safe->rank > 0 ? " safest" : "safest");
    int written = table_write(&t, out, app->plain);
    return rc != 0 ? rc : written;
}

static int components(const struct plan *p, const money shown[COMP_COUNT], struct buf *out)
{
    int digits = money_minor_digits(p->currency), rc = 0;
    for (int i = 0; i < COMP_COUNT && rc == 0; i++) {
        char a[MONEY_TEXT];
        rc = buf_addf(out, "  %-20s %14s %s\n", component_name((enum component)i),
                      money_format_fixed(shown[i], digits, true, a), p->currency);
    }
    char a[MONEY_TEXT];
    return rc != 0 ? rc
                   : buf_addf(out, "  %-20s %14s %s%s\n", "total", cash(p, p->total, a),
                              p->currency, p->at_least ? "  (at least)" : "");
}

static int bill(const struct plan *p, const money *shown, struct buf *out)
{
    int rc = buf_adds(out, "\nThe bill, line by line (rate x quantity; source, as of):\n");
    for (size_t i = 0; i < p->n_lines && rc == 0; i++) {
        const struct bill_line *l = &p->line[i];
        char rate[MONEY_TEXT], quantity[MONEY_TEXT], amount[MONEY_TEXT], date[16], text[1200];
        snprintf(text, sizeof text, "  %s: %s %s/%s x %s = %s %s  (%s%s%s, %s%s)", l->text,
                 money_format(l->rate, rate), l->currency, l->unit,
                 money_format_fixed(l->quantity, 3, true, quantity),
                 money_format_fixed(shown[i], money_minor_digits(p->currency), true, amount),
                 p->currency, l->source_id, l->sku[0] != '\0' ? " " : "", l->sku,
                 l->origin == ORIGIN_BUNDLED ? "bundled, as of " : "as of ",
                 date_format(l->as_of, date));
        rc = add_line(out, text);
    }
    return rc;
}

static int why(const struct plan *p, struct buf *out)
{
    char text[400], a[32], m[MONEY_TEXT];
    money shown[COMP_COUNT];
    money *line = calloc(p->n_lines + 1, sizeof *line);
    int rc = line == NULL ? GT_ENOMEM : plan_shown(p, shown, line);
    rc = rc != 0 ? rc : buf_addf(out, "\nWhy plan %d\n", p->rank);
    rc = rc != 0 ? rc : components(p, shown, out);
    if (rc == 0 && !isnan(p->epoch_s)) {
        snprintf(
            text, sizeof text,
            "  %s an epoch at %.0f samples/s (90 %%: %.0f-%.0f), bound by %s, next %s; %s %s an "
            "epoch",
            duration_format(p->epoch_s, a), p->rate.samples_per_s, p->rate.lo, p->rate.hi,
            bound_name(p->rate.bound), bound_name(p->rate.next_bound),
            cash(p, p->total_per_epoch, m), p->currency);
        rc = add_line(out, text);
    }
    if (rc == 0 && p->memory.usable_bytes > 0) {
        snprintf(text, sizeof text, "  memory: %.1f GiB per GPU of %.1f usable%s",
                 p->memory.peak_bytes / 1073741824.0, p->memory.usable_bytes / 1073741824.0,
                 p->memory.tight ? " (tight)" : "");
        rc = add_line(out, text);
    }
    if (rc == 0 && !isnan(p->checkpoint_interval_s)) {
        snprintf(text, sizeof text, "  checkpoint every %s to %s; interruptions: %s, %.2g expected",
                 duration_format(p->checkpoint_interval_s, a), p->checkpoint_tier,
                 p->interruption_basis, p->interruptions);
        rc = add_line(out, text);
    }
    for (size_t i = 0; i < p->n_placement && rc == 0; i++) {
        const struct plan_placement *d = &p->placement[i];
        snprintf(text, sizeof text, "  %s: %s, months %d-%d", d->data_set, d->tier,
                 d->from_month + 1, d->to_month);
        rc = add_line(out, text);
    }
    rc = rc != 0 ? rc : plan_data_waits(p, out);
    for (size_t i = 0; i < p->n_notes && rc == 0; i++) {
        rc = buf_adds(out, "  - ");
        rc = rc != 0 ? rc : add_line(out, p->note[i]);
    }
    rc = rc != 0 ? rc : plan_data_choices(p, out);
    rc = rc != 0 ? rc : bill(p, line, out);
    free(line);
    return rc;
}

static int rejected(const struct plan_set *set, struct buf *out)
{
    size_t n = set->n_rejected < MAX_REJECTED_SHOWN ? set->n_rejected : MAX_REJECTED_SHOWN;
    int rc = n > 0 ? buf_adds(out, "\nNot taken (all in --format json):\n") : 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct plan_rejected *r = &set->rejected[i];
        char text[600];
        snprintf(text, sizeof text, "  %s/%s %s %s: %s", r->vendor, r->region, r->instance_type,
                 r->purchase, r->reason);
        rc = add_line(out, text);
    }
    return rc;
}

static int assumed(const struct scenario *s, struct buf *out)
{
    int rc = s->n_defaults > 0 ? buf_adds(out, "\nAssumed, as the scenario does not say: ") : 0;
    for (size_t i = 0; i < s->n_defaults && rc == 0; i++) {
        char text[300];
        snprintf(text, sizeof text, "%s%s = %s", i > 0 ? ", " : "", s->defaults[i].key,
                 s->defaults[i].value);
        rc = text_safe(out, text, strlen(text), false);
    }
    return rc != 0 || s->n_defaults == 0 ? rc : buf_addc(out, '\n');
}

/* A hinge's figure as people write it. */
static const char *figure(const struct plan_hinge *h, double v, char buf[48])
{
    char text[32];
    if (isnan(v)) {
        return "any";
    }
    if (strcmp(h->unit, "s") == 0) {
        snprintf(buf, 48, "%s", duration_format(v, text));
    } else if (strcmp(h->unit, "bytes") == 0) {
        snprintf(buf, 48, "%s", size_format((uint64_t)v, text));
    } else if (strcmp(h->unit, "factor") == 0) {
        snprintf(buf, 48, "x %.3g", v);
    } else {
        snprintf(buf, 48, "%.3g %.20s", v, h->unit);
    }
    return buf;
}

static int hinges(const struct app *app, const struct plan_set *set, struct buf *out)
{
    struct text_table t;
    if (set->n_hinges == 0) {
        return 0;
    }
    int rc = buf_adds(out, "\nWhat plan 1 hinges on: it stays the first from ... to ...\n");
    table_init(
        &t, (const char *[]){"input", ">now", ">from", ">to", "first below", "first above", NULL});
    for (size_t i = 0; i < set->n_hinges; i++) {
        const struct plan_hinge *h = &set->hinge[i];
        char now[48], lo[48], hi[48];
        const char *none = "no plan meets the constraints";
        table_row(&t, (const char *[]){h->input, figure(h, h->value, now), figure(h, h->lo, lo),
                                       figure(h, h->hi, hi),
                                       !h->lo_found       ? ""
                                       : h->below != NULL ? h->below
                                                          : none,
                                       !h->hi_found       ? ""
                                       : h->above != NULL ? h->above
                                                          : none});
    }
    rc = rc != 0 ? rc : table_write(&t, out, app->plain);
    return rc != 0
               ? rc
               : buf_adds(out, "(\"any\": nothing changes within a factor of 10; edges to 1 %)\n");
}

int plan_text(const struct app *app, const struct plan_set *set, const struct scenario *s,
              struct buf *out)
{
    char m[MONEY_TEXT], when[32];
    int rc = 0;
    if (s->deadline_at != GT_TIME_NONE) {
        char local[32];
        int32_t off = app->local_offset_s;
        time_format(s->deadline_at + off, local);
        local[16] = '\0'; /* to the minute, then the zone */
        rc = buf_addf(out, "Deadline %s%+03d:%02d (%s), chance asked %g\n", local, off / 3600,
                      abs(off) / 60 % 60, time_format(s->deadline_at, when), s->confidence);
    }
    if (set->n > 0) {
        rc = rc != 0 ? rc : table_of(app, set, out);
        rc = rc != 0 ? rc : overlap(set, out);
        rc = rc != 0 ? rc : ends(app, set, out);
        rc = rc != 0 ? rc : why(&set->plan[0], out);
        rc = rc != 0
                 ? rc
                 : buf_addf(
                       out,
                       "\nLower bound: of the %zu plans in the search space none whose prices are "
                       "all "
                       "known costs less than %s %s (%zu evaluated, %zu ruled out by bounds).\n",
                       set->candidates, money_format_fixed(set->lower_bound, 2, true, m),
                       set->currency, set->evaluated, set->pruned);
    }
    rc = rc != 0 ? rc : plan_commitments(app, set, out);
    rc = rc != 0 ? rc : hinges(app, set, out);
    rc = rc != 0 ? rc : rejected(set, out);
    rc = rc != 0 ? rc : assumed(s, out);
    for (size_t i = 0; i < set->n_warnings && rc == 0; i++) {
        rc = add_line(out, set->warning[i]);
    }
    return rc;
}

int plan_csv(const struct plan_set *set, struct buf *out)
{
    struct csvw w;
    csvw_init(&w, out);
    static const char *const head[] = {"rank",           "vendor",          "region",
                                       "instance_type",  "instances",       "gpu",
                                       "gpu_count",      "purchase",        "epoch_s",
                                       "bound",          "makespan_mean_s", "makespan_p5_s",
                                       "makespan_p50_s", "makespan_p95_s",  "deadline_probability",
                                       "currency",       "total",           "at_least"};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        csvw_text(&w, head[i]);
    }
    for (int c = 0; c < COMP_COUNT; c++) {
        csvw_text(&w, component_name((enum component)c));
    }
    csvw_end_row(&w);
    for (size_t i = 0; i < set->n; i++) {
        const struct plan *p = &set->plan[i];
        csvw_int(&w, p->rank);
        csvw_text(&w, p->vendor);
        csvw_text(&w, p->region);
        csvw_text(&w, p->instance_type);
        csvw_int(&w, p->instances);
        csvw_text(&w, p->gpu);
        csvw_double(&w, p->gpu_count);
        csvw_text(&w, purchase_name(p->purchase));
        csvw_double(&w, p->epoch_s);
        csvw_text(&w, bound_name(p->rate.bound));
        csvw_double(&w, p->makespan_mean_s);
        csvw_double(&w, p->makespan_p5_s);
        csvw_double(&w, p->makespan_p50_s);
        csvw_double(&w, p->makespan_p95_s);
        csvw_double(&w, p->deadline_probability);
        csvw_text(&w, p->currency);
        csvw_money(&w, p->total);
        csvw_text(&w, p->at_least ? "true" : "false");
        for (int c = 0; c < COMP_COUNT; c++) {
            csvw_money(&w, p->component[c]);
        }
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}
