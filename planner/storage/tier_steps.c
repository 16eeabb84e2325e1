/* First steps of a tier plan, in words: moves of one prefix between the same tiers are told
 * together, largest saving first; the savings that need no tier before everything (savings.c), and
 * what the rule of thumb would cost where it loses money; or that nothing pays. */
#include "gputier/units.h"
#include "tier_model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 5
#define PACKS 3

struct move {
    const char *prefix, *from, *to;
    int month, break_even;
    uint64_t objects, bytes;
    money once, saving;
};

static int by_place(const void *a, const void *b)
{
    const struct move *x = a, *y = b;
    int c = strcmp(x->prefix, y->prefix);
    c = c ? c : strcmp(x->from, y->from);
    c = c ? c : strcmp(x->to, y->to);
    return c ? c : (x->month > y->month) - (x->month < y->month);
}

static int by_saving(const void *a, const void *b)
{
    const struct move *x = a, *y = b;
    int c = (x->saving < y->saving) - (x->saving > y->saving);
    return c ? c : by_place(a, b);
}

/* First change of tier of one group; false when it stays. */
static bool first_move(const struct tier_model *m, const struct tm_group *g,
                       const struct tier_path *p, struct move *out)
{
    const char *from = m->tier[g->start].rule->tier;
    for (size_t k = 0; k < p->n_steps; k++) {
        if (strcmp(p->step[k].tier, from) == 0) {
            continue;
        }
        int to = (int)(storage_rule_find(p->step[k].tier) - m->tier[0].rule);
        int month = p->step[k].from_month, served = g->served + month;
        int even = p->break_even_month; /* counted from the move on */
        if (even >= 0 && even < month) {
            even = tier_break_even(m, g, p, month);
        }
        money fee = 0, rest = 0;
        if (cost_move(m, g, g->start, to, &fee) < 0 ||
            cost_leave(m, g, g->start, to, served, served, month, &rest) < 0) {
            return false;
        }
        *out = (struct move){.prefix = p->group->name,
                             .from = from,
                             .to = p->step[k].tier,
                             .month = month,
                             .break_even = even,
                             .objects = p->group->objects,
                             .bytes = p->group->bytes,
                             .once = fee + rest,
                             .saving = p->saving};
        return true;
    }
    return false;
}

static size_t merge(struct move *v, size_t n)
{
    size_t out = 0;
    qsort(v, n, sizeof *v, by_place);
    for (size_t i = 0; i < n; i++) {
        if (out > 0 && by_place(&v[out - 1], &v[i]) == 0) {
            struct move *o = &v[out - 1];
            o->objects += v[i].objects;
            o->bytes += v[i].bytes;
            o->once += v[i].once;
            o->saving += v[i].saving;
            o->break_even = v[i].break_even < 0 || o->break_even < 0 ? -1
                            : v[i].break_even > o->break_even        ? v[i].break_even
                                                                     : o->break_even;
        } else {
            v[out++] = v[i];
        }
    }
    qsort(v, out, sizeof *v, by_saving);
    return out;
}

static const char *tell(struct arena *a, const struct move *v, const char *currency)
{
    char size[32], once[MONEY_TEXT], saving[MONEY_TEXT], when[32], pays[64];
    int digits = money_minor_digits(currency);
    size_format(v->bytes, size);
    snprintf(when, sizeof when, "now");
    if (v->month > 0) {
        snprintf(when, sizeof when, "in month %d", v->month + 1);
    }
    snprintf(pays, sizeof pays, "not paid back within the horizon");
    if (v->break_even >= 0) {
        snprintf(pays, sizeof pays, "paid back in month %d", v->break_even + 1);
    }
    return arena_printf(a,
                        "%s: move %s from %s to %s %s (%llu objects); one-off %s %s, %s, saves "
                        "%s %s over the horizon",
                        v->prefix[0] ? v->prefix : "(top level)", size, v->from, v->to, when,
                        (unsigned long long)v->objects,
                        money_format_fixed(v->once, digits, true, once), currency, pays,
                        money_format_fixed(v->saving, digits, true, saving), currency);
}

/* Old versions of all prefixes together; no rule for current objects touches them (R-S3-25). */
static const char *old_versions(struct arena *a, const struct tier_plan *plan)
{
    struct saving all = {
        .kind = SAVING_VERSIONS, .place = "", .priced = true, .break_even_month = 0};
    for (size_t i = 0; i < plan->n_savings; i++) {
        const struct saving *s = &plan->savings[i];
        if (s->kind == SAVING_VERSIONS) {
            all.objects += s->objects;
            all.bytes += s->bytes;
            all.month_now += s->month_now;
            all.once += s->once;
            all.horizon += s->horizon;
            all.break_even_month = s->break_even_month < 0 || all.break_even_month < 0 ? -1
                                   : s->break_even_month > all.break_even_month
                                       ? s->break_even_month
                                       : all.break_even_month;
        }
    }
    return all.objects ? saving_text(a, &all, plan->currency) : NULL;
}

/* The rule of thumb, where it costs more than doing nothing. */
static const char *naive(struct arena *a, const struct tier_plan *plan)
{
    char text[2][MONEY_TEXT];
    int digits = money_minor_digits(plan->currency);
    if (!plan->naive_tier || plan->naive_cost <= plan->baseline) {
        return NULL;
    }
    double times = plan->baseline > 0
                       ? money_to_double(plan->naive_cost) / money_to_double(plan->baseline)
                       : (double)INFINITY;
    return arena_printf(a,
                        "do not move everything to %s: that costs %s %s over the horizon, %.1f "
                        "times as much as leaving it (%s)",
                        plan->naive_tier,
                        money_format_fixed(plan->naive_cost, digits, true, text[0]), plan->currency,
                        times, money_format_fixed(plan->baseline, digits, true, text[1]));
}

/* What comes before all moves. */
static size_t first_savings(struct tier_plan *plan, const char **text, bool *failed)
{
    const char *old = old_versions(plan->arena, plan), *no = naive(plan->arena, plan);
    size_t lines = 0, packs = 0;
    if (old) {
        text[lines++] = old;
    }
    for (size_t i = 0; i < plan->n_savings && packs < PACKS && !*failed; i++) {
        const struct saving *s = &plan->savings[i];
        if (s->kind == SAVING_PACK && s->horizon > 0) {
            text[lines] = saving_text(plan->arena, s, plan->currency);
            *failed = !text[lines++];
            packs++;
        }
    }
    if (no) {
        text[lines++] = no;
    }
    return lines;
}

int tier_first_steps(const struct tier_model *m, const struct tm_group *g, struct tier_plan *plan,
                     struct gt_error *err)
{
    struct move *v = calloc(plan->n_paths ? plan->n_paths : 1, sizeof *v);
    const char **text = arena_array(plan->arena, STEPS + PACKS + 3, sizeof *text);
    size_t n = 0, lines = 0;
    bool failed = !v || !text;
    for (size_t i = 0; i < plan->n_paths && !failed; i++) {
        n += first_move(m, &g[i], &plan->path[i], &v[n]);
    }
    if (!failed) {
        n = merge(v, n);
        lines = first_savings(plan, text, &failed);
        for (size_t i = 0; i < n && i < STEPS && !failed; i++) {
            text[lines] = tell(plan->arena, &v[i], plan->currency);
            failed = !text[lines++];
        }
        if (n == 0 && plan->n_paths == 1) {
            text[lines] =
                arena_printf(plan->arena, "%s: leave it in %s: no move pays within the horizon",
                             plan->path[0].group->name, m->tier[g[0].start].rule->tier);
            failed = !text[lines++];
        } else if (n == 0) {
            text[lines++] = "leave everything where it is: no move pays within the horizon";
        }
    }
    free(v);
    plan->first_step = text;
    plan->n_first_steps = lines;
    return failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}
