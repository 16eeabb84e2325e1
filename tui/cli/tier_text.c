/* tier for people: the groups that matter most, totals, first steps, the policy. Money is shown in
 * the minor unit, rounded so that the shown rows add up to the shown total. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "table.h"
#include "tier_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 25

/* "s3_standard months 1–3, s3_glacier_ir 4–36"; nothing moves: "stays" */
void tier_path_text(const struct tier_path *p, bool plain, struct buf *b)
{
    const char *dash = plain ? "-" : "\u2013";
    for (size_t k = 0; k < p->n_steps; k++) {
        buf_addf(b, "%s%s %d%s%d", k ? ", " : "", p->step[k].tier, p->step[k].from_month + 1, dash,
                 p->step[k].to_month);
    }
}

static int by_saving(const void *a, const void *b)
{
    const struct tier_row *x = a, *y = b;
    money p = x->path->saving < 0 ? -x->path->saving : x->path->saving;
    money q = y->path->saving < 0 ? -y->path->saving : y->path->saving;
    if (p != q) {
        return p < q ? 1 : -1;
    }
    p = x->path->baseline_cost;
    q = y->path->baseline_cost;
    return p != q ? (p < q ? 1 : -1) : strcmp(x->label, y->label);
}

size_t tier_rows(const struct tier_answer *a, struct tier_row *s)
{
    size_t n = 0;
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_paths; i++) {
            const struct tier_path *p = &a->plan[b]->path[i];
            s[n++] = (struct tier_row){p, a->in->label[a->in->batch[b].first + i],
                                       p->group->objects, p->group->bytes, 1};
        }
    }
    qsort(s, n, sizeof *s, by_saving);
    return n;
}

static void add_row(struct text_table *t, bool plain, const struct tier_row *s, money cost,
                    money baseline, money saving, int digits)
{
    char size[32], count[32], text[3][MONEY_TEXT], pays[16] = "never", rest[64];
    struct buf path;
    buf_init(&path, 4096);
    snprintf(count, sizeof count, "%llu", (unsigned long long)s->objects);
    snprintf(rest, sizeof rest, "%zu more groups", s->groups);
    if (s->path) {
        tier_path_text(s->path, plain, &path);
        if (s->path->break_even_month >= 0) {
            snprintf(pays, sizeof pays, "%d", s->path->break_even_month + 1);
        }
    }
    const char *cells[] = {s->path ? s->label : rest,
                           count,
                           size_format(s->bytes, size),
                           s->path ? path.data : NULL,
                           money_format_fixed(cost, digits, true, text[0]),
                           money_format_fixed(baseline, digits, true, text[1]),
                           money_format_fixed(saving, digits, true, text[2]),
                           s->path ? pays : NULL};
    table_row(t, cells);
    buf_release(&path);
}

/* The first rows in full, the rest in one line, so that the columns add up. */
static int groups_table(struct app *app, struct tier_row *s, size_t n, int digits, struct buf *out)
{
    static const char *const titles[] = {"group", ">objects",      ">size",   "path (months)",
                                         ">cost", ">as it is now", ">saving", ">pays off in month",
                                         NULL};
    money part[3][ROWS + 1] = {{0}};
    struct tier_row rest = {0};
    size_t rows = n > ROWS ? ROWS : n, k = rows;
    for (size_t i = 0; i < n; i++) {
        size_t at = i < rows ? i : rows;
        part[0][at] += s[i].path->cost;
        part[1][at] += s[i].path->baseline_cost;
        if (i >= rows) {
            rest.objects += s[i].objects;
            rest.bytes += s[i].bytes;
            rest.groups++;
            k = rows + 1;
        }
    }
    if (money_round_parts(part[0], k, digits, part[0]) < 0 ||
        money_round_parts(part[1], k, digits, part[1]) < 0) {
        return GT_ERANGE;
    }
    struct text_table t;
    table_init(&t, titles);
    for (size_t i = 0; i < k; i++) {
        add_row(&t, app->plain, i < rows ? &s[i] : &rest, part[0][i], part[1][i],
                part[1][i] - part[0][i], digits);
    }
    return table_write(&t, out, app->plain);
}

static void totals(const struct tier_answer *a, int digits, struct buf *out)
{
    char text[4][MONEY_TEXT];
    double share =
        a->baseline > 0 ? 100 * money_to_double(a->saving) / money_to_double(a->baseline) : 0;
    buf_addf(out, "\nOver %d months: %s%s %s, as it is now %s, saving %s (%.1f %%)\n", a->horizon,
             a->at_least ? "at least " : "", money_format_fixed(a->total, digits, true, text[0]),
             a->currency, money_format_fixed(a->baseline, digits, true, text[1]),
             money_format_fixed(a->saving, digits, true, text[2]), share);
    buf_addf(out, "No plan of these tiers costs less than %s %s.\n",
             money_format_fixed(a->lower_bound, digits, true, text[3]), a->currency);
    if (a->saving <= 0) {
        buf_adds(out, "Moving data saves nothing here: leave them where they are.\n");
    }
}

static void policy(const struct tier_answer *a, int digits, struct buf *out)
{
    char cost[MONEY_TEXT], gap[MONEY_TEXT];
    if (!a->has_policy) {
        return;
    }
    buf_addf(out, "\nBest plain lifecycle policy: %s %s, %s more than the plan above\n",
             money_format_fixed(a->policy_cost, digits, true, cost), a->currency,
             money_format_fixed(a->policy_gap, digits, true, gap));
    size_t rules = 0;
    for (size_t b = 0; b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        for (size_t i = 0; p && i < p->n_rules; i++, rules++) {
            buf_adds(out, "  ");
            tier_rule_text(&p->rule[i], out);
            buf_addc(out, '\n');
        }
    }
    if (rules == 0) {
        buf_adds(out, "  no rule saves anything\n");
    }
}

static void line(struct buf *out, const char *text)
{
    buf_adds(out, "  ");
    text_safe(out, text, strlen(text), false);
    buf_addc(out, '\n');
}

int tier_text(struct app *app, const struct tier_answer *a, struct buf *out)
{
    int digits = money_minor_digits(a->currency);
    struct tier_row *s = calloc(a->in->n + 1, sizeof *s);
    if (!s) {
        return GT_ENOMEM;
    }
    size_t n = tier_rows(a, s);
    int rc = groups_table(app, s, n, digits, out);
    free(s);
    totals(a, digits, out);
    tier_bounds_text(a, digits, out);
    buf_adds(out, "\nFirst steps\n");
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_first_steps; i++) {
            line(out, a->plan[b]->first_step[i]);
        }
    }
    policy(a, digits, out);
    buf_adds(out, "\nAssumed\n");
    for (size_t i = 0; i < a->in->n_notes; i++) {
        line(out, a->in->note[i]);
    }
    bool told = false;
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; !told && a->plan[b] && i < a->plan[b]->n_notes; i++) {
            line(out, a->plan[b]->note[i]);
        }
        told = told || a->plan[b];
        if (a->why[b]) {
            line(out, a->why[b]);
        }
    }
    return rc < 0 ? rc : out->failed ? GT_ENOMEM : 0;
}
