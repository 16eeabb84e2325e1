/* What limits a plan of `tier` keeps, which of them bind and what they cost. */
#include "gputier/units.h"
#include "tier_view.h"

static const char *const kinds[] = {[LIMIT_MONTH] = "budget_month",
                                    [LIMIT_TOTAL] = "budget",
                                    [LIMIT_CAPACITY] = "capacity",
                                    [LIMIT_READS] = "reads"};

/* Limits are for data of one list of prices (tier_answer.c): there is one plan then. */
static const struct tier_plan *limited(const struct tier_answer *a)
{
    return a->in->n_batches == 1 && a->plan[0] && a->plan[0]->n_limits > 0 ? a->plan[0] : NULL;
}

/* R-OPT-04: (plan - bound) / bound. */
static double gap_of(const struct tier_plan *p)
{
    return p->lower_bound > 0
               ? money_to_double(p->total - p->lower_bound) / money_to_double(p->lower_bound)
               : 0;
}

static void json_limit(struct jsonw *w, const struct tier_limit_use *u)
{
    jsonw_object(w);
    jsonw_kstring(w, "kind", kinds[u->kind]);
    jsonw_key(w, "tier");
    jsonw_string_or_null(w, u->tier);
    bool bytes = u->kind == LIMIT_CAPACITY;
    jsonw_key(w, "limit_bytes");
    if (bytes) {
        jsonw_uint(w, (uint64_t)u->limit);
        jsonw_key(w, "most_bytes");
        jsonw_uint(w, (uint64_t)u->most);
        jsonw_knull(w, "limit");
        jsonw_knull(w, "most");
    } else {
        jsonw_null(w);
        jsonw_knull(w, "most_bytes");
        jsonw_kmoney(w, "limit", u->limit);
        jsonw_kmoney(w, "most", u->most);
    }
    jsonw_key(w, "month");
    if (u->month < 0) {
        jsonw_null(w);
    } else {
        jsonw_int(w, u->month);
    }
    jsonw_kbool(w, "binds", u->worth > 0);
    jsonw_kmoney(w, "worth", u->worth);
    jsonw_end_object(w);
}

void tier_bounds_json(struct jsonw *w, const struct tier_answer *a)
{
    const struct tier_plan *p = limited(a);
    jsonw_key(w, "limits");
    jsonw_array(w);
    for (size_t i = 0; p && i < p->n_limits; i++) {
        json_limit(w, &p->limit[i]);
    }
    jsonw_end_array(w);
    if (p) {
        jsonw_kmoney(w, "unlimited_total", p->unlimited);
        jsonw_kbool(w, "proven", p->proven);
        jsonw_kdouble(w, "gap", p->proven ? 0 : gap_of(p));
    } else {
        jsonw_knull(w, "unlimited_total");
        jsonw_knull(w, "proven");
        jsonw_knull(w, "gap");
    }
}

static void text_limit(const struct tier_answer *a, const struct tier_limit_use *u, int digits,
                       struct buf *out)
{
    char limit[MONEY_TEXT], most[MONEY_TEXT], worth[MONEY_TEXT], size[2][32];
    const char *c = a->currency;
    money_format_fixed(u->limit, digits, true, limit);
    money_format_fixed(u->most, digits, true, most);
    if (u->kind == LIMIT_CAPACITY) {
        buf_addf(out, "  %s: at most %s, the most is %s", u->tier,
                 size_format((uint64_t)u->limit, size[0]), size_format((uint64_t)u->most, size[1]));
    } else if (u->kind == LIMIT_READS) {
        buf_addf(out, "  with the reads of --robust this plan costs %s %s, at most %s are allowed",
                 most, c, limit);
    } else {
        buf_addf(out, "  %s at most %s %s, the most is %s",
                 u->kind == LIMIT_MONTH ? "every month's bill" : "the whole horizon", limit, c,
                 most);
    }
    if (u->month >= 0) {
        buf_addf(out, " in month %d", u->month + 1);
    }
    if (u->worth > 0) {
        buf_addf(out, "; it binds: %s more would save %s %s",
                 u->kind == LIMIT_CAPACITY ? "1 GiB" : "1",
                 money_format_fixed(u->worth, digits + 2, true, worth), c);
    }
    buf_addc(out, '\n');
}

void tier_bounds_text(const struct tier_answer *a, int digits, struct buf *out)
{
    const struct tier_plan *p = limited(a);
    char text[2][MONEY_TEXT];
    if (!p) {
        return;
    }
    buf_addf(out, "\nLimits cost %s %s: without them %s.",
             money_format_fixed(p->total - p->unlimited, digits, true, text[0]), a->currency,
             money_format_fixed(p->unlimited, digits, true, text[1]));
    if (p->proven) {
        buf_adds(out, " No plan within them is cheaper.\n");
    } else {
        buf_addf(out, " A cheaper plan within them would save %.4f %% at most.\n", 100 * gap_of(p));
    }
    for (size_t i = 0; i < p->n_limits; i++) {
        text_limit(a, &p->limit[i], digits, out);
    }
    if (p->n_rules > 0) {
        buf_adds(out, "  the lifecycle policy below is sought without these limits\n");
    }
}
