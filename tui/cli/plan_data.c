/* What a plan says of its training data: the same machines with other placements, and where the
 * sets wait after the run; as text and JSON. */
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "plan_ask.h"
#include "plan_json.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *how_text(const struct plan_data_choice *c)
{
    return strcmp(c->how, "in_place") == 0 ? "read where kept"
           : strcmp(c->how, "copied") == 0 ? "copied"
                                           : "staged at each launch";
}

static const char *time_text(double s, char out[32])
{
    return isnan(s) ? "" : duration_format(s, out);
}

static void choice_row(struct text_table *t, const struct plan *p, const struct plan_data_choice *c)
{
    char a[32], read[160], speed[32] = "", fill[32] = "", epoch[120], first[32] = "", run[32];
    char cost[MONEY_TEXT + 16] = "", amount[MONEY_TEXT];
    snprintf(read, sizeof read, "%s%.60s%s%.60s", c->chosen ? "* " : "  ", c->read,
             c->option[0] ? ", " : "", c->option);
    if (isfinite(c->read_bps)) { /* NAN once it was read back from a document */
        snprintf(speed, sizeof speed, "%.0f", c->read_bps / 1e6);
    }
    if (c->stage_s > 0) {
        snprintf(fill, sizeof fill, "%s", time_text(c->stage_s, a));
    }
    if (c->first_epoch_s != c->epoch_s) { /* the others come from memory */
        snprintf(first, sizeof first, "%s", time_text(c->first_epoch_s, a));
    }
    snprintf(epoch, sizeof epoch, "%.31s %.60s", time_text(c->epoch_s, a), bound_name(c->bound));
    snprintf(run, sizeof run, "%s", time_text(c->makespan_s, a));
    if (!c->reason[0]) {
        snprintf(cost, sizeof cost, "%s%s", c->at_least ? ">= " : "",
                 money_format_fixed(c->total, money_minor_digits(p->currency), true, amount));
    }
    const char *cells[] = {read,        c->source[0] ? c->source : c->kept,
                           how_text(c), speed,
                           fill,        first,
                           epoch,       run,
                           cost,        c->reason};
    table_row(t, cells);
}

static int wait_text(const struct plan_wait *w, struct buf *out)
{
    char text[MONEY_TEXT], wait[32];
    const struct plan_placement *s = w->step;
    int rc = buf_adds(out, "  ");
    rc = rc ? rc : text_safe(out, w->data_set, strlen(w->data_set), false);
    buf_addf(out, ", after the run: ");
    for (size_t i = 0; i < w->n_steps; i++) {
        buf_addf(out, "%s%s months %d-%d", i ? ", " : "", s[i].tier, s[i].from_month + 1,
                 s[i].to_month);
    }
    buf_addf(out, "; ");
    if (w->saving > 0) {
        buf_addf(out, "saves %s %s against staying",
                 money_format_fixed(w->saving, money_minor_digits(w->currency), true, text),
                 w->currency);
    } else {
        buf_addf(out, "no move pays");
    }
    if (w->wait_s >= 1) {
        buf_addf(out, "; the next run waits %s for them", duration_format(w->wait_s, wait));
    }
    return rc ? rc : buf_addc(out, '\n');
}

int plan_data_waits(const struct plan *p, struct buf *out)
{
    int rc = 0;
    for (size_t i = 0; i < p->n_waits && rc == 0; i++) {
        rc = wait_text(&p->wait[i], out);
    }
    return rc;
}

int plan_data_choices(const struct plan *p, struct buf *out)
{
    static const char *const titles[] = {
        "  read by the machines", "kept on", "how",   ">MB/s",   ">filling", ">first epoch",
        "epoch, bound by",        ">time",   ">cost", "why not", NULL};
    if (p->n_choices < 2) {
        return 0;
    }
    struct text_table t;
    buf_addf(out, "\nThe training data elsewhere, on the same machines (* as planned; %s):\n",
             p->currency);
    table_init(&t, titles);
    for (size_t i = 0; i < p->n_choices; i++) {
        choice_row(&t, p, &p->choice[i]);
    }
    return table_write(&t, out, false);
}

static void json_wait(struct jsonw *w, const struct plan_wait *x)
{
    jsonw_object(w);
    jsonw_kstring(w, "data_set", x->data_set);
    jsonw_key(w, "path");
    jsonw_array(w);
    for (size_t i = 0; i < x->n_steps; i++) {
        jsonw_object(w);
        jsonw_kstring(w, "tier", x->step[i].tier);
        jsonw_kint(w, "from_month", x->step[i].from_month);
        jsonw_kint(w, "to_month", x->step[i].to_month);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_kmoney(w, "cost", x->cost);
    jsonw_kmoney(w, "stay_cost", x->stay);
    jsonw_kmoney(w, "saving", x->saving);
    jsonw_kstring(w, "currency", x->currency);
    jsonw_kbool(w, "at_least", x->at_least);
    jsonw_kdouble(w, "wait_s", x->wait_s);
    jsonw_end_object(w);
}

static void json_choice(struct jsonw *w, const struct plan_data_choice *c)
{
    jsonw_object(w);
    jsonw_kstring(w, "kept", c->kept);
    jsonw_kstring(w, "read", c->read);
    jsonw_kstring(w, "how", c->how);
    jsonw_kstring(w, "option", c->option);
    jsonw_kstring(w, "source", c->source);
    jsonw_kdouble(w, "read_bytes_per_s", isfinite(c->read_bps) ? c->read_bps : (double)NAN);
    jsonw_kdouble(w, "stage_s", c->stage_s);
    jsonw_kdouble(w, "first_epoch_s", c->first_epoch_s);
    jsonw_kstring(w, "first_bound", bound_name(c->first_bound));
    jsonw_kdouble(w, "epoch_s", c->epoch_s);
    jsonw_kstring(w, "bound", bound_name(c->bound));
    jsonw_kdouble(w, "makespan_s", c->makespan_s);
    jsonw_key(w, "total");
    if (c->reason[0]) {
        jsonw_null(w);
    } else {
        jsonw_money(w, c->total);
    }
    jsonw_kbool(w, "at_least", c->at_least);
    jsonw_kbool(w, "chosen", c->chosen);
    jsonw_key(w, "reason");
    jsonw_string_or_null(w, c->reason[0] ? c->reason : NULL);
    jsonw_end_object(w);
}

void plan_data_json(struct jsonw *w, const struct plan *p)
{
    if (p->n_choices == 0 && p->n_waits == 0) {
        return;
    }
    jsonw_key(w, "training_data");
    jsonw_object(w);
    jsonw_key(w, "choices");
    jsonw_array(w);
    for (size_t i = 0; i < p->n_choices; i++) {
        json_choice(w, &p->choice[i]);
    }
    jsonw_end_array(w);
    jsonw_key(w, "after_run");
    jsonw_array(w);
    for (size_t i = 0; i < p->n_waits; i++) {
        json_wait(w, &p->wait[i]);
    }
    jsonw_end_array(w);
    jsonw_end_object(w);
}
