/* serve for programs (product.md section 10) and for people. */
#include "serve_view.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static double share_missed(const struct autoscale_result *r)
{
    double offered = r->served + r->dropped;
    return offered > 0 ? r->dropped / offered : 0;
}

static void put_policy(struct jsonw *w, const char *key, const struct serve_answer *a,
                       const struct autoscale *p)
{
    jsonw_key(w, key);
    jsonw_object(w);
    jsonw_kint(w, "out_cd", p->out_cd);
    jsonw_kint(w, "in_cd", p->in_cd);
    jsonw_kint(w, "win", p->win);
    jsonw_kdouble(w, "theta", p->theta);
    jsonw_kdouble(w, "step_s", a->step_s);
    jsonw_kdouble(w, "mu", p->mu);
    jsonw_kint(w, "min", p->min);
    jsonw_kint(w, "max", p->max);
    jsonw_kint(w, "n0", p->n0);
    jsonw_kint(w, "warm", p->warm);
    jsonw_kint(w, "flap_win", p->flap_win);
    jsonw_end_object(w);
}

static void put_run(struct jsonw *w, const struct serve_answer *a, const struct autoscale_result *r)
{
    jsonw_kint(w, "node_steps", r->node_steps);
    jsonw_kint(w, "peak_nodes", r->peak_nodes);
    jsonw_kint(w, "changes", r->changes);
    jsonw_kint(w, "flaps", r->flaps);
    jsonw_kdouble(w, "served", r->served * a->step_s);
    jsonw_kdouble(w, "dropped", r->dropped * a->step_s);
    jsonw_kdouble(w, "missed_share", share_missed(r));
    jsonw_kint(w, "static_nodes", r->static_nodes);
    jsonw_kdouble(w, "saving", r->saving);
}

static void put_commitment(struct jsonw *w, const struct serve_machine *m)
{
    const struct serve_commitment *c = &m->commitment;
    jsonw_key(w, "commitment");
    if (!c->offered) {
        jsonw_null(w);
        return;
    }
    jsonw_object(w);
    jsonw_kstring(w, "purchase", purchase_name(c->purchase));
    jsonw_kstring(w, "payment", payment_name(c->payment));
    jsonw_kint(w, "nodes", c->nodes);
    jsonw_kdouble(w, "usd_per_node_hour", c->usd_per_hour);
    jsonw_kmoney(w, "cost", c->cost);
    jsonw_end_object(w);
}

static void put_machine(struct jsonw *w, const struct serve_machine *m)
{
    jsonw_object(w);
    jsonw_kstring(w, "vendor", m->vendor);
    jsonw_kstring(w, "region", m->region);
    jsonw_key(w, "zone");
    jsonw_string_or_null(w, m->zone);
    jsonw_kstring(w, "instance_type", m->instance_type);
    jsonw_kstring(w, "gpu", m->gpu);
    jsonw_kdouble(w, "gpu_count", m->gpu_count);
    jsonw_kmoney(w, "price_per_hour", m->price_per_hour);
    jsonw_kstring(w, "price_currency", m->price_currency);
    jsonw_kmoney(w, "cost", m->cost);
    jsonw_kmoney(w, "fixed_cost", m->fixed_cost);
    jsonw_kmoney(w, "clairvoyant_cost", m->clairvoyant_cost);
    jsonw_kmoney(w, "recommended_cost", m->recommended_cost);
    put_commitment(w, m);
    jsonw_kstring(w, "source_id", m->source_id);
    jsonw_key(w, "sku");
    jsonw_string_or_null(w, m->sku);
    jsonw_ktime(w, "as_of", m->as_of);
    jsonw_kstring(w, "origin", origin_name(m->origin));
    jsonw_end_object(w);
}

int serve_json(const struct serve_answer *a, const struct scenario *s, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/serve/1");
    jsonw_key(&w, "scenario");
    jsonw_string_or_null(&w, s->name);
    put_policy(&w, "policy", a, &a->policy);
    put_run(&w, a, &a->run);
    jsonw_kint(&w, "steps", (int64_t)a->policy.steps);
    jsonw_kdouble(&w, "mean_over_peak", a->mean_over_peak);
    jsonw_kdouble(&w, "peak_over_trough", a->peak_over_trough);
    jsonw_kint(&w, "clairvoyant_node_steps", a->clairvoyant_steps);
    jsonw_kstring(&w, "currency", a->currency);
    jsonw_kmoney(&w, "cost", a->machine[0].cost);
    jsonw_kmoney(&w, "fixed_cost", a->machine[0].fixed_cost);
    jsonw_kmoney(&w, "clairvoyant_cost", a->machine[0].clairvoyant_cost);
    jsonw_kdouble(&w, "max_miss", a->max_miss);
    jsonw_kbool(&w, "max_miss_met", a->best.met);
    put_policy(&w, "recommended", a, &a->best.policy);
    jsonw_key(&w, "recommended_run");
    jsonw_object(&w);
    put_run(&w, a, &a->best.run);
    jsonw_end_object(&w);
    jsonw_key(&w, "recommended_noisy_run");
    jsonw_object(&w);
    put_run(&w, a, &a->best.noisy);
    jsonw_end_object(&w);
    jsonw_key(&w, "machines");
    jsonw_array(&w);
    for (size_t i = 0; i < a->n; i++) {
        put_machine(&w, &a->machine[i]);
    }
    jsonw_end_array(&w);
    jsonw_kint(&w, "candidates", (int64_t)a->candidates);
    jsonw_kstrings(&w, "notes", a->note, a->n_notes);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

int serve_csv(const struct serve_answer *a, struct buf *out)
{
    static const char *const titles[] = {"vendor",
                                         "region",
                                         "zone",
                                         "instance_type",
                                         "gpu",
                                         "gpu_count",
                                         "price_per_hour",
                                         "price_currency",
                                         "currency",
                                         "cost",
                                         "fixed_cost",
                                         "clairvoyant_cost",
                                         "recommended_cost",
                                         "source_id",
                                         "sku",
                                         "as_of"};
    struct csvw w;
    char when[32];
    csvw_init(&w, out);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < a->n; i++) {
        const struct serve_machine *m = &a->machine[i];
        csvw_text(&w, m->vendor);
        csvw_text(&w, m->region);
        csvw_text(&w, m->zone);
        csvw_text(&w, m->instance_type);
        csvw_text(&w, m->gpu);
        csvw_double(&w, m->gpu_count);
        csvw_money(&w, m->price_per_hour);
        csvw_text(&w, m->price_currency);
        csvw_text(&w, a->currency);
        csvw_money(&w, m->cost);
        csvw_money(&w, m->fixed_cost);
        csvw_money(&w, m->clairvoyant_cost);
        csvw_money(&w, m->recommended_cost);
        csvw_text(&w, m->source_id);
        csvw_text(&w, m->sku);
        csvw_text(&w, m->as_of == GT_TIME_NONE ? NULL : time_format(m->as_of, when));
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}

static const char *share(double v, char buf[32])
{
    snprintf(buf, 32, v > 0 && v < 0.00005 ? "<0.01 %%" : "%.2f %%", 100 * v);
    return buf;
}

/* One way to run the fleet: nodes, misses, flaps, money. */
static void way(struct text_table *t, const struct serve_answer *a, const char *name,
                const struct autoscale_result *r, int64_t node_steps, money cost)
{
    char hours[32], peak[32] = "", miss[32] = "", changes[32] = "", flaps[32] = "", save[32];
    char money_text[MONEY_TEXT];
    double fixed = (double)a->run.static_nodes * (double)a->policy.steps;
    snprintf(hours, sizeof hours, "%.1f", (double)node_steps * a->step_s / 3600);
    if (r) {
        snprintf(peak, sizeof peak, "%lld", (long long)r->peak_nodes);
        snprintf(changes, sizeof changes, "%lld", (long long)r->changes);
        snprintf(flaps, sizeof flaps, "%lld", (long long)r->flaps);
        share(share_missed(r), miss);
    }
    snprintf(save, sizeof save, "%.1f %%", fixed > 0 ? 100 * (1 - (double)node_steps / fixed) : 0);
    money_format_fixed(cost, money_minor_digits(a->currency), true, money_text);
    table_row(t, (const char *[]){name, peak, hours, miss, changes, flaps, save, money_text});
}

static int ways(const struct app *app, const struct serve_answer *a, struct buf *out)
{
    const struct serve_machine *m = &a->machine[0];
    /* a fixed fleet of so many nodes serves what they can: what is over is missed either way */
    struct autoscale_result fixed = {.peak_nodes = a->run.static_nodes};
    double capacity = (double)a->run.static_nodes * a->policy.mu;
    for (size_t t = 0; t < a->policy.steps; t++) {
        double served = fmin(a->policy.load[t], capacity);
        fixed.served += served;
        fixed.dropped += a->policy.load[t] - served;
    }
    struct text_table t;
    table_init(&t, (const char *[]){"fleet", ">peak nodes", ">node-hours", ">missed", ">changes",
                                    ">flaps", ">saves", ">cost", NULL});
    way(&t, a, "fixed, for the peak", &fixed, a->run.static_nodes * (int64_t)a->policy.steps,
        m->fixed_cost);
    way(&t, a, "autoscaled as asked", &a->run, a->run.node_steps, m->cost);
    way(&t, a, a->best.met ? "recommended policy" : "policy that misses least", &a->best.run,
        a->best.run.node_steps, m->recommended_cost);
    way(&t, a, "with hindsight, at full load", NULL, a->clairvoyant_steps, m->clairvoyant_cost);
    return table_write(&t, out, app->plain);
}

static void policy_line(const struct serve_answer *a, const char *name, const struct autoscale *p,
                        struct buf *out)
{
    char in[32], wait[32], win[32];
    buf_addf(out, "%-12s target %g, cooldown out %s, in %s, window %s\n", name, p->theta,
             duration_format((double)p->out_cd * a->step_s, wait),
             duration_format((double)p->in_cd * a->step_s, in),
             duration_format((double)p->win * a->step_s, win));
}

static void commitment_text(const struct serve_answer *a, const struct serve_machine *m,
                            char buf[160])
{
    const struct serve_commitment *c = &m->commitment;
    char cost[MONEY_TEXT];
    if (!c->offered) {
        snprintf(buf, 160, "none sold");
    } else if (c->nodes == 0) {
        snprintf(buf, 160, "%s does not pay", purchase_name(c->purchase));
    } else {
        snprintf(buf, 160, "%lld x %s: %s", (long long)c->nodes, purchase_name(c->purchase),
                 money_format_fixed(c->cost, money_minor_digits(a->currency), true, cost));
    }
}

static int machines(const struct app *app, const struct serve_answer *a, struct buf *out)
{
    struct text_table t;
    table_init(&t, (const char *[]){"where", "machine", "GPUs", ">per hour", ">autoscaled",
                                    ">recommended", "base committed, asked policy", NULL});
    for (size_t i = 0; i < a->n; i++) {
        const struct serve_machine *m = &a->machine[i];
        char where[160], gpu[96], rate[MONEY_TEXT + 8], text[MONEY_TEXT], cost[MONEY_TEXT];
        char best[MONEY_TEXT], base[160];
        int digits = money_minor_digits(a->currency);
        snprintf(where, sizeof where, "%.30s/%.60s", m->vendor, m->region);
        snprintf(gpu, sizeof gpu, "%g x %.60s", m->gpu_count, m->gpu);
        snprintf(rate, sizeof rate, "%s %.3s", money_format(m->price_per_hour, text),
                 m->price_currency);
        commitment_text(a, m, base);
        table_row(&t, (const char *[]){where, m->instance_type, gpu, rate,
                                       money_format_fixed(m->cost, digits, true, cost),
                                       money_format_fixed(m->recommended_cost, digits, true, best),
                                       base});
    }
    return table_write(&t, out, app->plain);
}

int serve_text(const struct app *app, const struct serve_answer *a, const struct scenario *s,
               struct buf *out)
{
    char length[32], step[32], miss[32], noisy[32];
    if (s->name[0] != '\0') {
        text_safe(out, s->name, strlen(s->name), app->plain);
        buf_addc(out, '\n');
    }
    buf_addf(out, "demand       %.6g requests in %s, steps of %s; mean/peak %.2f", a->offered,
             duration_format((double)a->policy.steps * a->step_s, length),
             duration_format(a->step_s, step), a->mean_over_peak);
    if (isfinite(a->peak_over_trough)) {
        buf_addf(out, ", peak/trough %.2f", a->peak_over_trough);
    }
    buf_addc(out, '\n');
    policy_line(a, "asked", &a->policy, out);
    policy_line(a, "recommended", &a->best.policy, out);
    buf_addf(out,
             "             (%s at most %s, also with 10 %% noise on every step: "
             "%s missed and %lld flaps then)\n\n",
             a->best.met ? "the cheapest tried that misses" : "misses least; none tried misses",
             share(a->max_miss, miss), share(share_missed(&a->best.noisy), noisy),
             (long long)a->best.noisy.flaps);
    int rc = ways(app, a, out);
    buf_addf(out, "cost in %.3s of %zu machines, the cheapest; without storage and transfer\n\n",
             a->currency, a->candidates);
    rc = rc ? rc : machines(app, a, out);
    for (size_t i = 0; i < a->n_notes && !rc; i++) {
        rc = buf_addf(out, "note: %s\n", a->note[i]);
    }
    return rc;
}
