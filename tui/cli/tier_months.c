/* tier over time: bytes of every tier and money of every month, as JSON, CSV and bars in text. */
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "table.h"
#include "tier_letters.h"
#include "tier_view.h"
#include <stdio.h>
#include <string.h>

#define BAR  30
#define COST 20

static void json_amounts(struct jsonw *w, const char *key, const money *m, int months)
{
    jsonw_key(w, key);
    jsonw_array(w);
    for (int t = 0; t < months; t++) {
        jsonw_money(w, m[t]);
    }
    jsonw_end_array(w);
}

void tier_json_over_time(struct jsonw *w, const struct tier_answer *a)
{
    const struct tier_series *s = &a->series;
    jsonw_key(w, "over_time");
    jsonw_object(w);
    jsonw_kint(w, "months", s->months);
    jsonw_key(w, "tiers");
    jsonw_array(w);
    for (size_t k = 0; k < s->n_tiers; k++) {
        size_t at = k * (size_t)s->months;
        jsonw_object(w);
        jsonw_kstring(w, "tier", s->tier[k]);
        jsonw_key(w, "bytes");
        jsonw_array(w);
        for (int t = 0; t < s->months; t++) {
            jsonw_uint(w, s->bytes[at + (size_t)t]);
        }
        jsonw_end_array(w);
        json_amounts(w, "rent", &s->rent[at], s->months);
        json_amounts(w, "moves", &s->moves[at], s->months);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    json_amounts(w, "baseline", s->baseline, s->months);
    int pays = tier_series_break_even(s);
    jsonw_key(w, "break_even_month");
    if (pays < 0) {
        jsonw_null(w);
    } else {
        jsonw_int(w, pays);
    }
    jsonw_end_object(w);
}

int tier_csv_over_time(const struct tier_answer *a, struct buf *out)
{
    static const char *const titles[] = {"month", "tier", "bytes", "rent", "moves", "currency"};
    const struct tier_series *s = &a->series;
    struct csvw w;
    csvw_init(&w, out);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (int t = 0; t < s->months; t++) {
        for (size_t k = 0; k < s->n_tiers; k++) {
            size_t at = k * (size_t)s->months + (size_t)t;
            char bytes[24];
            snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)s->bytes[at]);
            csvw_int(&w, t);
            csvw_text(&w, s->tier[k]);
            csvw_text(&w, bytes);
            csvw_money(&w, s->rent[at]);
            csvw_money(&w, s->moves[at]);
            csvw_text(&w, a->currency);
            csvw_end_row(&w);
        }
    }
    return csvw_finish(&w);
}

uint64_t tier_series_bytes(const struct tier_series *s, int t)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < s->n_tiers; k++) {
        sum += s->bytes[k * (size_t)s->months + (size_t)t];
    }
    return sum;
}

static void add_month(const struct tier_series *s, int t, struct tier_months *row)
{
    for (size_t k = 0; k < s->n_tiers; k++) {
        row->moves += s->moves[k * (size_t)s->months + (size_t)t];
    }
    row->to = t + 1;
    row->cost += tier_series_month(s, t);
    row->baseline += s->baseline[t];
}

size_t tier_months(const struct tier_answer *a, size_t most, struct tier_months *row)
{
    const struct tier_series *s = &a->series;
    int per = (int)(((size_t)s->months + most - 1) / most);
    size_t n = 0;
    for (int t = 0; t < s->months; t += per, n++) {
        row[n] = (struct tier_months){.from = t};
        for (int u = t; u < t + per && u < s->months; u++) {
            add_month(s, u, &row[n]);
        }
    }
    return n;
}

static bool begins(const struct tier_series *s, int first, int t, money unit)
{
    money moves[2] = {0, 0};
    for (size_t k = 0; k < s->n_tiers; k++) {
        size_t row = k * (size_t)s->months;
        if (s->bytes[row + (size_t)t] != s->bytes[row + (size_t)first]) {
            return true;
        }
        moves[0] += s->moves[row + (size_t)first];
        moves[1] += s->moves[row + (size_t)t];
    }
    money more = tier_series_month(s, t) - tier_series_month(s, first) + moves[0];
    money base = s->baseline[t] - s->baseline[first];
    return moves[1] != 0 || more > unit || more < -unit || base > unit || base < -unit;
}

size_t tier_phases(const struct tier_answer *a, size_t most, struct tier_months *row)
{
    const struct tier_series *s = &a->series;
    money unit = MONEY_SCALE;
    for (int i = money_minor_digits(a->currency); i > 0; i--) {
        unit /= 10;
    }
    size_t n = 0;
    for (int t = 0; t < s->months; t++) {
        if (t == 0 || begins(s, row[n - 1].from, t, unit)) {
            if (n == most) {
                return tier_months(a, most, row);
            }
            row[n++] = (struct tier_months){.from = t};
        }
        add_month(s, t, &row[n - 1]);
    }
    return n;
}

static void one_row(struct text_table *t, const struct tier_answer *a, const char *letter,
                    const struct tier_months *r, uint64_t most, double dearest, bool plain,
                    int digits)
{
    const struct tier_series *s = &a->series;
    char size[32], text[3][MONEY_TEXT], months[32], bar[BAR + 1] = "", cost[COST + 1] = "";
    struct buf where;
    buf_init(&where, 4096);
    if (plain) {
        for (size_t k = 0; k < s->n_tiers; k++) {
            uint64_t b = s->bytes[k * (size_t)s->months + (size_t)r->from];
            if (b > 0) {
                buf_addf(&where, "%s%s %s", where.len ? ", " : "", s->tier[k],
                         size_format(b, size));
            }
        }
    } else {
        bar[tier_series_bar(s, letter, r->from, most, BAR, bar)] = '\0';
        int cells = dearest > 0 ? (int)(money_to_double(r->cost) / dearest * COST + 0.5) : 0;
        int fees = dearest > 0 ? (int)(money_to_double(r->moves) / dearest * COST + 0.5) : 0;
        cells = cells < 1 ? r->cost > 0 : cells > COST ? COST : cells;
        fees = fees < 0 ? 0 : fees > cells ? cells : fees;
        memset(cost, '#', (size_t)cells);
        memset(cost + cells - fees, '+', (size_t)fees);
    }
    snprintf(months, sizeof months, r->to - r->from == 1 ? "%d" : "%d-%d", r->from + 1, r->to);
    const char *cells[] = {months,
                           size_format(tier_series_bytes(s, r->from), size),
                           plain ? where.data : bar,
                           money_format_fixed(r->cost, digits, true, text[0]),
                           money_format_fixed(r->moves, digits, true, text[1]),
                           money_format_fixed(r->baseline, digits, true, text[2]),
                           plain ? NULL : cost,
                           NULL};
    table_row(t, cells);
    buf_release(&where);
}

int tier_months_round(struct tier_months *r, size_t n, int digits)
{
    money part[3][TIER_MONTH_ROWS];
    for (size_t i = 0; i < n; i++) {
        part[0][i] = r[i].cost;
        part[1][i] = r[i].moves;
        part[2][i] = r[i].baseline;
    }
    for (int k = 0; k < 3; k++) {
        int rc = money_round_parts(part[k], n, digits, part[k]);
        if (rc < 0) {
            return rc;
        }
    }
    for (size_t i = 0; i < n; i++) {
        r[i].cost = part[0][i];
        r[i].moves = part[1][i];
        r[i].baseline = part[2][i];
    }
    return 0;
}

int tier_text_over_time(const struct app *app, const struct tier_answer *a, struct buf *out)
{
    static const char *const bars[] = {">month", ">stored",       "tier of the bytes", ">cost",
                                       ">moves", ">as it is now", "cost (+ = moves)",  NULL};
    static const char *const words[] = {">month", ">stored",       "where", ">cost",
                                        ">moves", ">as it is now", NULL};
    const struct tier_series *s = &a->series;
    int digits = money_minor_digits(a->currency);
    char *letter = arena_array(a->in->arena, s->n_tiers + 1, 1);
    struct tier_months row[TIER_MONTH_ROWS];
    struct text_table t;
    uint64_t most = 0;
    double dearest = 0;
    if (!letter) {
        return GT_ENOMEM;
    }
    tier_series_letters(s, letter);
    size_t n = tier_months(a, TIER_MONTH_ROWS, row);
    int rc = tier_months_round(row, n, digits);
    for (size_t i = 0; i < n; i++) {
        uint64_t b = tier_series_bytes(s, row[i].from);
        double c = money_to_double(row[i].cost);
        most = b > most ? b : most;
        dearest = c > dearest ? c : dearest;
    }
    buf_addf(out, "\nOver time (%s%s)\n", a->currency, n < (size_t)s->months ? "" : " a month");
    table_init(&t, app->plain ? words : bars);
    for (size_t i = 0; i < n && rc == 0; i++) {
        one_row(&t, a, letter, &row[i], most, dearest, app->plain, digits);
    }
    int put = table_write(&t, out, app->plain);
    for (size_t k = 0; k < s->n_tiers && !app->plain; k++) {
        buf_addf(out, "%s%c %s", k ? ", " : "  ", letter[k], s->tier[k]);
    }
    buf_adds(out, app->plain ? "" : "\n");
    int pays = tier_series_break_even(s);
    if (pays >= 0) {
        buf_addf(out, "From the end of month %d on, no more was spent than by leaving all.\n",
                 pays + 1);
    }
    return rc ? rc : put;
}
