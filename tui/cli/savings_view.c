/* `inventory savings` as text, JSON and CSV. */
#include "savings_view.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "table.h"
#include <stdio.h>
#include <string.h>

#define ROWS 40

static bool loses(const struct saving *s)
{
    return s->kind == SAVING_PACK && s->priced && s->horizon <= 0;
}

static void row(struct text_table *t, const struct saving *s, int digits)
{
    char size[32], count[32], text[4][MONEY_TEXT], most[MONEY_TEXT + 12], pays[16] = "never",
                                                                          tier[96] = "";
    snprintf(count, sizeof count, "%llu", (unsigned long long)s->objects);
    snprintf(most, sizeof most, "%s%s", s->upper_bound ? "at most " : "",
             money_format_fixed(s->horizon, digits, true, text[3]));
    snprintf(tier, sizeof tier, "%s%s%s", s->region ? s->region : "", s->region ? "/" : "",
             s->tier ? s->tier : "");
    if (s->break_even_month >= 0) {
        snprintf(pays, sizeof pays, "%d", s->break_even_month + 1);
    }
    const char *cells[] = {
        loses(s) ? "leave unpacked" : saving_kind_name(s->kind),
        s->place[0] ? s->place : "(all)",
        tier[0] ? tier : NULL,
        count,
        size_format(s->bytes, size),
        s->priced ? money_format_fixed(s->month_now, digits, true, text[0]) : "no price",
        s->priced ? money_format_fixed(s->month_then, digits, true, text[1]) : NULL,
        s->priced ? money_format_fixed(s->once, digits, true, text[2]) : NULL,
        s->priced ? most : NULL,
        s->priced ? pays : NULL};
    table_row(t, cells);
}

static void line(struct buf *out, const char *before, const char *text)
{
    buf_adds(out, "  ");
    buf_adds(out, before);
    text_safe(out, text, strlen(text), false);
    buf_addc(out, '\n');
}

static void totals(const struct savings_answer *a, int digits, struct buf *out)
{
    char text[2][MONEY_TEXT];
    size_t unpriced = 0, more = a->n > ROWS ? a->n - ROWS : 0;
    for (size_t i = 0; i < a->n; i++) {
        unpriced += !a->item[i].priced;
    }
    if (more) {
        buf_addf(out, "and %zu more: --format csv lists all\n", more);
    }
    if (a->n == 0) {
        buf_adds(out, "Nothing is left over.\n");
    } else if (a->currency) {
        buf_addf(out, "\nWhat pays: %s%s %s a month, %s over %d months\n",
                 a->at_most ? "at most " : "", money_format_fixed(a->month, digits, true, text[0]),
                 a->currency, money_format_fixed(a->horizon_saving, digits, true, text[1]),
                 a->horizon);
    }
    if (unpriced) {
        buf_addf(out, "%zu of them have no price in the catalog: not in the sum\n", unpriced);
    }
}

static void how(const struct savings_answer *a, struct buf *out)
{
    bool told[SAVING_KINDS] = {false};
    char before[48];
    if (a->n) {
        buf_adds(out, "\nHow\n");
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct saving *s = &a->item[i];
        char size[32];
        if (!told[s->kind] && !loses(s)) {
            snprintf(before, sizeof before, "%s%s%s: ", saving_kind_name(s->kind),
                     s->kind == SAVING_PACK ? " to " : "",
                     s->kind == SAVING_PACK ? size_format(a->pack_bytes, size) : "");
            line(out, before, saving_how(s->kind));
            told[s->kind] = true;
        }
    }
}

int savings_text_out(struct app *app, const struct savings_answer *a, struct buf *out)
{
    char over[48];
    int digits = money_minor_digits(a->currency ? a->currency : "USD"), rc = 0;
    snprintf(over, sizeof over, ">saved in %d months", a->horizon);
    const char *const titles[] = {"what",  "where",          "tier",  ">objects",
                                  ">size", ">a month",       ">then", ">one-off",
                                  over,    ">pays in month", NULL};
    if (a->n) {
        struct text_table t;
        table_init(&t, titles);
        for (size_t i = 0; i < a->n && i < ROWS; i++) {
            row(&t, &a->item[i], digits);
        }
        rc = table_write(&t, out, app->plain);
    }
    totals(a, digits, out);
    how(a, out);
    if (a->n_notes) {
        buf_adds(out, "\nNotes\n");
    }
    for (size_t i = 0; i < a->n_notes; i++) {
        line(out, "", a->note[i]);
    }
    for (size_t i = 0; i < a->n && i < ROWS; i++) {
        if (a->item[i].note) {
            buf_adds(out, "  ");
            text_safe(out, a->item[i].place, strlen(a->item[i].place), false);
            line(out, ": ", a->item[i].note);
        }
    }
    return rc < 0 ? rc : out->failed ? GT_ENOMEM : 0;
}

static void kmoney(struct jsonw *w, const char *key, bool known, money m)
{
    if (known) {
        jsonw_kmoney(w, key, m);
    } else {
        jsonw_knull(w, key);
    }
}

static void json_saving(struct jsonw *w, const struct saving *s)
{
    jsonw_object(w);
    jsonw_kstring(w, "kind", saving_kind_name(s->kind));
    jsonw_kstring(w, "place", s->place);
    jsonw_kstring(w, "vendor", s->vendor);
    jsonw_kstring(w, "region", s->region);
    jsonw_kstring(w, "tier", s->tier);
    jsonw_key(w, "objects");
    jsonw_uint(w, s->objects);
    jsonw_key(w, "bytes");
    jsonw_uint(w, s->bytes);
    if (s->kind == SAVING_PACK) {
        jsonw_key(w, "packs");
        jsonw_uint(w, s->packs);
    }
    kmoney(w, "month_now", s->priced, s->month_now);
    kmoney(w, "month_then", s->priced, s->month_then);
    kmoney(w, "one_off", s->priced, s->once);
    kmoney(w, "saving", s->priced, s->horizon);
    jsonw_key(w, "break_even_month");
    if (s->break_even_month < 0) {
        jsonw_null(w);
    } else {
        jsonw_int(w, s->break_even_month);
    }
    jsonw_kbool(w, "upper_bound", s->upper_bound);
    jsonw_kbool(w, "do_it", s->priced && s->horizon > 0);
    jsonw_kstring(w, "how", saving_how(s->kind));
    jsonw_kstring(w, "note", s->note);
    jsonw_end_object(w);
}

int savings_json(const struct savings_answer *a, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/savings/1");
    jsonw_ktime(&w, "as_of", a->as_of);
    jsonw_kstring(&w, "currency", a->currency);
    jsonw_kint(&w, "horizon_months", a->horizon);
    if (a->pack_bytes) {
        jsonw_key(&w, "pack_bytes");
        jsonw_uint(&w, a->pack_bytes);
    }
    jsonw_key(&w, "savings");
    jsonw_array(&w);
    for (size_t i = 0; i < a->n; i++) {
        json_saving(&w, &a->item[i]);
    }
    jsonw_end_array(&w);
    kmoney(&w, "month", a->currency != NULL, a->month);
    kmoney(&w, "saving", a->currency != NULL, a->horizon_saving);
    jsonw_kbool(&w, "at_least", a->at_least);
    jsonw_kbool(&w, "at_most", a->at_most);
    jsonw_kstrings(&w, "notes", a->note, a->n_notes);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static void csv_money(struct csvw *w, bool known, money m)
{
    if (known) {
        csvw_money(w, m);
    } else {
        csvw_empty(w);
    }
}

int savings_csv(const struct savings_answer *a, struct buf *out)
{
    static const char *const titles[] = {"kind",
                                         "place",
                                         "vendor",
                                         "region",
                                         "tier",
                                         "objects",
                                         "bytes",
                                         "packs",
                                         "month_now",
                                         "month_then",
                                         "one_off",
                                         "saving",
                                         "break_even_month",
                                         "upper_bound",
                                         "currency"};
    struct csvw w;
    csvw_init(&w, out);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < a->n; i++) {
        const struct saving *s = &a->item[i];
        const char *const texts[] = {saving_kind_name(s->kind), s->place, s->vendor, s->region,
                                     s->tier};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            csvw_text(&w, texts[k]);
        }
        csvw_uint(&w, s->objects);
        csvw_uint(&w, s->bytes);
        if (s->kind == SAVING_PACK) {
            csvw_uint(&w, s->packs);
        } else {
            csvw_empty(&w);
        }
        csv_money(&w, s->priced, s->month_now);
        csv_money(&w, s->priced, s->month_then);
        csv_money(&w, s->priced, s->once);
        csv_money(&w, s->priced, s->horizon);
        if (s->break_even_month >= 0) {
            csvw_int(&w, s->break_even_month);
        } else {
            csvw_empty(&w);
        }
        csvw_text(&w, s->upper_bound ? "true" : "false");
        csvw_text(&w, s->priced ? a->currency : NULL);
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}
