/* tier for people who decide: HTML or Markdown with what to do first, the bytes and the money over
 * time, each group's path and the month from which it pays. Every figure that a picture shows
 * stands in a table below it. */
#include "../report/doc.h"
#include "gputier/units.h"
#include "tier_letters.h"
#include "tier_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 60
#define MONTHS TIER_MONTH_ROWS

static const char *amount(struct doc *d, const struct tier_answer *a, money m)
{
    return doc_amount(d, m, a->currency);
}

/* Of the amounts as they are shown, so that these add up. */
static money saving(const struct tier_answer *a)
{
    money part[2] = {a->baseline, a->total};
    int digits = money_minor_digits(a->currency);
    if (money_round_parts(&part[0], 1, digits, &part[0]) < 0 ||
        money_round_parts(&part[1], 1, digits, &part[1]) < 0) {
        return a->saving;
    }
    return part[0] - part[1];
}

static const char *size(struct doc *d, uint64_t bytes)
{
    char text[32];
    return doc_printf(d, "%s", size_format(bytes, text));
}

static int64_t newest(const struct tier_answer *a)
{
    int64_t when = GT_TIME_NONE;
    for (size_t b = 0; b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        for (size_t i = 0; p && i < p->n_rate_rows; i++) {
            int64_t t = a->catalog->storage.as_of[p->rate_row[i]];
            when = when == GT_TIME_NONE || t > when ? t : when;
        }
    }
    return when;
}

static void facts(struct doc *d, const struct tier_answer *a)
{
    double base = money_to_double(a->baseline), low = money_to_double(a->lower_bound);
    double gap = low > 0 ? 100 * (money_to_double(a->total) / low - 1) : 0;
    int pays = tier_series_break_even(&a->series);
    struct doc_block *t = doc_facts(d);
    doc_row(d, t, ROW_CHOSEN,
            (const char *const[]){
                a->at_least ? "Cost of the plan, at least" : "Cost of the plan",
                amount(d, a, a->total),
                a->total <= a->lower_bound
                    ? "no plan of these tiers costs less"
                    : doc_printf(d, "at most %.4f %% above the least possible", gap)});
    doc_row(d, t, ROW_PLAIN,
            (const char *const[]){"As it is now", amount(d, a, a->baseline), "nothing is moved"});
    doc_row(d, t, ROW_PLAIN,
            (const char *const[]){
                "Saving", amount(d, a, saving(a)),
                base > 0 ? doc_printf(d, "%.1f %%", 100 * money_to_double(a->saving) / base) : ""});
    doc_row(d, t, ROW_PLAIN,
            (const char *const[]){
                "Pays", pays < 0 ? "never" : doc_printf(d, "from month %d on", pays + 1),
                pays < 0 ? "leave the data where they are"
                         : "from its end on no more was spent in all than by leaving everything"});
    if (a->has_policy && a->in->n_batches == 1) {
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    "By lifecycle rules alone", amount(d, a, a->policy_cost),
                    doc_printf(d, "%s more than the plan", amount(d, a, a->policy_gap))});
    }
}

static void summary(struct doc *d, const struct tier_answer *a, const char *name, int64_t now)
{
    uint64_t bytes = 0;
    char when[32];
    for (size_t i = 0; i < a->in->n; i++) {
        bytes += a->in->group[i].bytes;
    }
    d->title = doc_printf(d, "Storage tiers: %s", doc_name(d, name));
    doc_heading(d, 1, d->title);
    if (a->saving > 0) {
        doc_text(d, DOC_LEAD, "Keep %s for %d months for %s%s instead of %s.", size(d, bytes),
                 a->horizon, a->at_least ? "at least " : "", amount(d, a, a->total),
                 amount(d, a, a->baseline));
    } else {
        doc_text(d, DOC_LEAD, "Leave the %s where they are: moving them saves nothing.",
                 size(d, bytes));
    }
    doc_text(d, DOC_SMALL,
             "Prices before tax, newest row as of %s. Made %s. Amounts in %s, over %d months of 30 "
             "days.",
             doc_date(d, newest(a)),
             now == GT_TIME_NONE ? "at an unknown time" : time_format(now, when), a->currency,
             a->horizon);
    facts(d, a);
}

static void first_steps(struct doc *d, const struct tier_answer *a)
{
    doc_heading(d, 2, "What to do first");
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_first_steps; i++) {
            doc_text(d, DOC_ITEM, "%s", a->plan[b]->first_step[i]);
        }
        if (a->why[b]) {
            doc_text(d, DOC_ITEM, "%s", a->why[b]);
        }
    }
}

/* The two pictures; what leaves a tier is the last part of the money. */
static void figures(struct doc *d, const struct tier_answer *a, const char *letter)
{
    const struct tier_series *s = &a->series;
    const size_t n = s->n_tiers, months = (size_t)s->months;
    double *bytes = arena_array(d->arena, n * months + 1, sizeof *bytes);
    double *cost = arena_array(d->arena, (n + 1) * months, sizeof *cost);
    double *base = arena_array(d->arena, months, sizeof *base);
    const char **name = arena_array(d->arena, n + 1, sizeof *name);
    char *mark = arena_alloc(d->arena, n + 2);
    if (!bytes || !cost || !base || !name || !mark) {
        d->failed = true;
        return;
    }
    for (size_t k = 0; k < n; k++) {
        name[k] = s->tier[k];
        mark[k] = letter[k];
        for (size_t t = 0; t < months; t++) {
            bytes[k * months + t] = (double)s->bytes[k * months + t];
            cost[k * months + t] = money_to_double(s->rent[k * months + t]);
            cost[n * months + t] += money_to_double(s->moves[k * months + t]);
        }
    }
    for (size_t t = 0; t < months; t++) {
        base[t] = money_to_double(s->baseline[t]);
    }
    name[n] = "moves";
    mark[n] = '+';
    struct stack_figure f = {.title = "Bytes in every tier by month",
                             .n = n,
                             .months = s->months,
                             .name = name,
                             .letter = mark,
                             .value = bytes};
    doc_figure(d, "Bytes in every tier, month by month.", svg_stack(d, &f));
    f.title = "Cost by month";
    f.n = n + 1;
    f.value = cost;
    f.line = base;
    f.line_name = "as it is now";
    f.currency = a->currency;
    doc_figure(d,
               doc_printf(d,
                          "%s a month: rent and reads of every tier, one-off fees of moves; the "
                          "line is what leaving everything costs.",
                          a->currency),
               svg_stack(d, &f));
}

static int over_time(struct doc *d, const struct tier_answer *a)
{
    static const char *const titles[] = {
        "!Months", ">Stored",       "Where",   ">Rent a month",     ">Moves",
        ">Cost",   ">As it is now", ">So far", ">As it is, so far", NULL};
    const struct tier_series *s = &a->series;
    struct tier_months row[MONTHS];
    char *letter = arena_alloc(d->arena, s->n_tiers + 1);
    money spent = 0, base = 0;
    if (!letter) {
        return GT_ENOMEM;
    }
    tier_series_letters(s, letter);
    doc_heading(d, 2, "Over time");
    figures(d, a, letter);
    size_t n = tier_phases(a, MONTHS, row);
    int rc = tier_months_round(row, n, money_minor_digits(a->currency));
    struct doc_block *t = doc_table(d, "What lies where, and what it costs", titles);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *where = "";
        for (size_t k = 0; k < s->n_tiers; k++) {
            uint64_t b = s->bytes[k * (size_t)s->months + (size_t)row[i].from];
            if (b > 0) {
                where =
                    doc_printf(d, "%s%s%s %s", where, where[0] ? ", " : "", s->tier[k], size(d, b));
            }
        }
        spent += row[i].cost;
        base += row[i].baseline;
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    row[i].to - row[i].from == 1
                        ? doc_printf(d, "%d", row[i].to)
                        : doc_printf(d, "%d to %d", row[i].from + 1, row[i].to),
                    size(d, tier_series_bytes(s, row[i].from)), where,
                    amount(d, a, (row[i].cost - row[i].moves) / (row[i].to - row[i].from)),
                    amount(d, a, row[i].moves), amount(d, a, row[i].cost),
                    amount(d, a, row[i].baseline), amount(d, a, spent), amount(d, a, base)});
    }
    return rc;
}

static const char *path(struct doc *d, const struct tier_path *p)
{
    struct buf b;
    buf_init(&b, 4096);
    tier_path_text(p, false, &b);
    const char *text = doc_printf(d, "%s", b.data ? b.data : "");
    buf_release(&b);
    return text;
}

/* The part of the series that a group's data end in; n_tiers where that is told of none. */
static size_t ends_in(const struct tier_answer *a, const struct tier_path *p)
{
    size_t k = p && p->n_steps > 0 ? 0 : a->series.n_tiers;
    while (k < a->series.n_tiers && strcmp(a->series.tier[k], p->step[p->n_steps - 1].tier) != 0) {
        k++;
    }
    return k;
}

/* The rows of the table below as tiles: n with a path, then perhaps the rest. */
struct tiles {
    const struct tier_row *row;
    size_t n, all;
    uint64_t rest;            /* bytes of it */
    const money *cost, *told; /* exact, which the areas are drawn by; as the table has it */
    const char *more;
};

static void maps(struct doc *d, const struct tier_answer *a, const struct tiles *t)
{
    struct tree_figure f = {.title = "Bytes and money of each group",
                            .n_parts = a->series.n_tiers,
                            .part = a->series.tier,
                            .n = t->all};
    const char **name = arena_array(d->arena, t->all + 1, sizeof *name);
    const char **text = arena_array(d->arena, 2 * t->all + 1, sizeof *text);
    double *value = arena_array(d->arena, 2 * t->all + 1, sizeof *value);
    size_t *of = arena_array(d->arena, t->all + 1, sizeof *of);
    char *letter = arena_alloc(d->arena, a->series.n_tiers + 1);
    if (!name || !text || !value || !of || !letter) {
        d->failed = true;
        return;
    }
    tier_series_letters(&a->series, letter);
    for (size_t i = 0; i < t->all; i++) {
        uint64_t bytes = i < t->n ? t->row[i].bytes : t->rest;
        name[i] = i < t->n ? doc_name(d, t->row[i].label) : t->more;
        of[i] = ends_in(a, i < t->n ? t->row[i].path : NULL);
        value[i] = (double)bytes;
        value[t->all + i] = money_to_double(t->cost[i]);
        text[i] = size(d, bytes);
        text[t->all + i] = amount(d, a, t->told[i]);
    }
    f.letter = letter;
    f.name = name;
    f.of = of;
    f.map[0].title = "Bytes at the start";
    f.map[0].value = value;
    f.map[0].text = text;
    f.map[1].title = doc_printf(d, "%s over %d months", a->currency, a->horizon);
    f.map[1].value = value + t->all;
    f.map[1].text = text + t->all;
    doc_figure(d,
               "The larger a tile, the more bytes (left) or money (right); colour and letter are "
               "those of the tier where the group's path ends.",
               svg_tree(d, &f));
}

/* The groups that matter most; the rest in one row, so that the columns add up. */
static int groups(struct doc *d, const struct tier_answer *a)
{
    static const char *const titles[] = {"Data",          ">Size",   "Path (months)",  ">Cost",
                                         ">As it is now", ">Saving", ">Pays in month", NULL};
    struct tier_row *row = calloc(a->in->n + 1, sizeof *row);
    money cost[GROUPS + 1] = {0}, base[GROUPS + 1] = {0}, exact[GROUPS + 1];
    uint64_t rest = 0;
    if (!row) {
        return GT_ENOMEM;
    }
    size_t n = tier_rows(a, row), shown = n < GROUPS ? n : GROUPS;
    for (size_t i = 0; i < n; i++) {
        size_t at = i < shown ? i : shown;
        cost[at] += row[i].path->cost;
        base[at] += row[i].path->baseline_cost;
        rest += i < shown ? 0 : row[i].bytes;
    }
    int digits = money_minor_digits(a->currency);
    memcpy(exact, cost, sizeof exact);
    int rc = money_round_parts(cost, shown + 1, digits, cost);
    rc = rc < 0 ? rc : money_round_parts(base, shown + 1, digits, base);
    const char *more = doc_printf(d, "%zu more groups", n - shown);
    doc_heading(d, 2, "Where each group goes");
    if (rc == 0 && n > 0) {
        maps(d, a, &(struct tiles){row, shown, shown + (n > shown), rest, exact, cost, more});
    }
    struct doc_block *t = doc_table(d, "Largest saving first", titles);
    for (size_t i = 0; i < shown + (n > shown) && rc == 0; i++) {
        const struct tier_path *p = i < shown ? row[i].path : NULL;
        doc_row(d, t, ROW_PLAIN,
                (const char *const[]){
                    p ? doc_name(d, row[i].label) : more, size(d, p ? row[i].bytes : rest),
                    p ? path(d, p) : "", amount(d, a, cost[i]), amount(d, a, base[i]),
                    amount(d, a, base[i] - cost[i]),
                    !p || p->saving <= 0      ? ""
                    : p->break_even_month < 0 ? "never"
                                              : doc_printf(d, "%d", p->break_even_month + 1)});
    }
    doc_row(d, t, ROW_TOTAL,
            (const char *const[]){a->at_least ? "total, at least" : "total", "", "",
                                  amount(d, a, a->total), amount(d, a, a->baseline),
                                  amount(d, a, saving(a)), ""});
    free(row);
    return rc;
}

static void policy(struct doc *d, const struct tier_answer *a)
{
    size_t rules = 0;
    if (!a->has_policy) {
        return;
    }
    for (size_t b = 0; b < a->in->n_batches; b++) {
        rules += a->plan[b] ? a->plan[b]->n_rules : 0;
    }
    doc_heading(d, 2, "Best plain lifecycle policy");
    doc_text(d, DOC_PARAGRAPH, "%s costs %s, %s more than the plan.",
             rules ? "What follows" : "No rule saves anything: none", amount(d, a, a->policy_cost),
             amount(d, a, a->policy_gap));
    for (size_t b = 0; b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        for (size_t i = 0; p && i < p->n_rules; i++) {
            struct buf text;
            buf_init(&text, 1 << 16);
            tier_rule_text(&p->rule[i], &text);
            doc_text(d, DOC_ITEM, "%s", text.data ? text.data : "");
            d->failed = d->failed || text.failed;
            buf_release(&text);
        }
    }
}

/* Lines of the same text that the command prints. */
static void limits(struct doc *d, const struct tier_answer *a)
{
    struct buf b;
    char *rest = NULL;
    buf_init(&b, 1 << 20);
    tier_bounds_text(a, money_minor_digits(a->currency), &b);
    if (b.len > 0 && !b.failed) {
        doc_heading(d, 2, "Limits");
        for (char *p = strtok_r(b.data, "\n", &rest); p; p = strtok_r(NULL, "\n", &rest)) {
            doc_text(d, DOC_ITEM, "%s", doc_name(d, p + strspn(p, " ")));
        }
    }
    d->failed = d->failed || b.failed;
    buf_release(&b);
}

static void assumptions(struct doc *d, const struct tier_answer *a)
{
    const struct tier_plan *first = NULL; /* the same for every batch */
    doc_heading(d, 2, "Assumptions");
    for (size_t i = 0; i < a->in->n_notes; i++) {
        doc_text(d, DOC_ITEM, "%s", doc_name(d, a->in->note[i]));
    }
    for (size_t b = 0; b < a->in->n_batches; b++) {
        first = first ? first : a->plan[b];
    }
    for (size_t i = 0; first && i < first->n_notes; i++) {
        doc_text(d, DOC_ITEM, "%s", first->note[i]);
    }
}

static void price_rows(struct doc *d, const struct tier_answer *a)
{
    static const char *const titles[] = {"Used for", ">Rate", "Unit", "Source",
                                         "SKU",      "As of", NULL};
    const struct catalog_storage *s = &a->catalog->storage;
    char rate[MONEY_TEXT];
    unsigned char *told = calloc(s->n + 1, 1); /* data sets share rows */
    doc_heading(d, 2, "Where each price comes from");
    struct doc_block *t = doc_table(d, "Price rows that the plan rests on", titles);
    for (size_t b = 0; told && b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        for (size_t i = 0; p && i < p->n_rate_rows; i++) {
            size_t row = p->rate_row[i];
            const char *sku = catalog_text(a->catalog, s->sku[row]);
            if (told[row]++) {
                continue;
            }
            doc_row(d, t, ROW_PLAIN,
                    (const char *const[]){
                        doc_printf(d, "%s/%s, %s: %s", catalog_text(a->catalog, s->vendor[row]),
                                   catalog_text(a->catalog, s->region[row]),
                                   catalog_text(a->catalog, s->tier[row]),
                                   doc_words(d, catalog_text(a->catalog, s->component[row]))),
                        doc_printf(d, "%s %s", money_format(s->rate[row], rate),
                                   catalog_text(a->catalog, s->currency[row])),
                        doc_printf(d, "%u %s", s->unit_qty[row],
                                   storage_unit_name((enum storage_unit)s->unit[row])),
                        catalog_text(a->catalog, s->source[row]),
                        sku && sku[0] ? doc_name(d, sku) : "none given",
                        doc_printf(d, "%s, as of %s", origin_name((enum origin)s->origin[row]),
                                   doc_date(d, s->as_of[row]))});
            told[row] = 1;
        }
    }
    d->failed = d->failed || !told;
    free(told);
}

int tier_report(const struct tier_answer *a, const char *name, int64_t now, bool html,
                struct buf *out, struct gt_error *err)
{
    struct doc d = {.arena = arena_new(0)};
    int rc = d.arena ? 0 : GT_ENOMEM;
    if (rc == 0) {
        summary(&d, a, name, now);
        first_steps(&d, a);
        rc = over_time(&d, a);
        rc = rc ? rc : groups(&d, a);
        limits(&d, a);
        policy(&d, a);
        assumptions(&d, a);
        price_rows(&d, a);
        rc = rc ? rc : html ? report_html(&d, out) : report_md(&d, out);
    }
    arena_free(d.arena);
    return rc ? gt_fail(err, rc, "", "the report does not fit in memory") : 0;
}

bool tier_report_kind(const char *file, bool *html)
{
    const char *dot = strrchr(file, '.');
    *html = dot && strcmp(dot, ".html") == 0;
    return *html || (dot && strcmp(dot, ".md") == 0);
}
