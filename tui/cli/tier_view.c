/* tier as JSON (product.md section 10) and CSV. */
#include "tier_view.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include <stdio.h>
#include <string.h>

static void json_group(struct jsonw *w, const struct tier_input *in, size_t i,
                       const struct tier_path *p)
{
    jsonw_object(w);
    jsonw_kstring(w, "group", in->label[i]);
    jsonw_key(w, "objects");
    jsonw_uint(w, p->group->objects);
    jsonw_key(w, "bytes");
    jsonw_uint(w, p->group->bytes);
    jsonw_key(w, "path");
    jsonw_array(w);
    for (size_t k = 0; k < p->n_steps; k++) {
        jsonw_object(w);
        jsonw_kstring(w, "tier", p->step[k].tier);
        jsonw_kint(w, "from_month", p->step[k].from_month);
        jsonw_kint(w, "to_month", p->step[k].to_month);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_kmoney(w, "cost", p->cost);
    jsonw_kmoney(w, "baseline_cost", p->baseline_cost);
    jsonw_kmoney(w, "saving", p->saving);
    jsonw_key(w, "break_even_month");
    if (p->break_even_month < 0) {
        jsonw_null(w);
    } else {
        jsonw_int(w, p->break_even_month);
    }
    jsonw_kstring(w, "prefix", p->group->name);
    jsonw_kstring(w, "tier", p->group->tier);
    jsonw_kbool(w, "is_latest", !p->group->noncurrent);
    jsonw_key(w, "size_lo");
    jsonw_uint(w, p->group->size_lo);
    jsonw_kint(w, "age_lo_days", in->age_lo[i]);
    jsonw_kint(w, "idle_lo_days", in->idle_lo[i]);
    jsonw_end_object(w);
}

static void json_policy(struct jsonw *w, const struct tier_answer *a)
{
    jsonw_key(w, "policy");
    jsonw_object(w);
    jsonw_key(w, "rules");
    jsonw_array(w);
    for (size_t b = 0; b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        for (size_t i = 0; p && i < p->n_rules; i++) {
            jsonw_object(w);
            jsonw_kstring(w, "prefix", p->rule[i].prefix);
            jsonw_kstring(w, "to_tier", p->rule[i].to_tier);
            jsonw_kint(w, "days", p->rule[i].days);
            jsonw_key(w, "min_bytes");
            jsonw_uint(w, p->rule[i].min_bytes);
            jsonw_key(w, "max_bytes");
            jsonw_uint(w, p->rule[i].max_bytes);
            jsonw_kbool(w, "noncurrent", p->rule[i].noncurrent);
            jsonw_end_object(w);
        }
    }
    jsonw_end_array(w);
    if (a->has_policy) {
        jsonw_kmoney(w, "cost", a->policy_cost);
        jsonw_kmoney(w, "gap", a->policy_gap);
    } else {
        jsonw_knull(w, "cost");
        jsonw_knull(w, "gap");
    }
    jsonw_end_object(w);
}

static void json_texts(struct jsonw *w, const struct tier_answer *a)
{
    jsonw_key(w, "first_steps");
    jsonw_array(w);
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_first_steps; i++) {
            jsonw_string(w, a->plan[b]->first_step[i]);
        }
    }
    jsonw_end_array(w);
    jsonw_key(w, "notes");
    jsonw_array(w);
    for (size_t i = 0; i < a->in->n_notes; i++) {
        jsonw_string(w, a->in->note[i]);
    }
    bool told = false; /* the planner's assumptions are the same for every batch */
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; !told && a->plan[b] && i < a->plan[b]->n_notes; i++) {
            jsonw_string(w, a->plan[b]->note[i]);
        }
        told = told || a->plan[b];
        if (a->why[b]) {
            jsonw_string(w, a->why[b]);
        }
    }
    jsonw_end_array(w);
}

/* One a batch that has a class to move everything into. */
static void json_naive(struct jsonw *w, const struct tier_answer *a)
{
    jsonw_key(w, "naive");
    jsonw_array(w);
    for (size_t b = 0; b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        if (p && p->naive_tier) {
            jsonw_object(w);
            jsonw_kstring(w, "tier", p->naive_tier);
            jsonw_kmoney(w, "cost", p->naive_cost);
            jsonw_kmoney(w, "baseline", p->baseline);
            jsonw_end_object(w);
        }
    }
    jsonw_end_array(w);
}

/* Every price row that the bill rests on. */
static void json_provenance(struct jsonw *w, const struct tier_answer *a)
{
    const struct catalog_storage *s = &a->catalog->storage;
    jsonw_key(w, "provenance");
    jsonw_array(w);
    bool told = false;
    for (size_t b = 0; b < a->in->n_batches; b++) {
        const struct tier_plan *p = a->plan[b];
        for (size_t i = 0; !told && p && i < p->n_rate_rows; i++) {
            size_t row = p->rate_row[i];
            char used[96];
            snprintf(used, sizeof used, "%s %s", catalog_text(a->catalog, s->tier[row]),
                     catalog_text(a->catalog, s->component[row]));
            jsonw_object(w);
            jsonw_kstring(w, "source_id", catalog_text(a->catalog, s->source[row]));
            jsonw_key(w, "sku");
            jsonw_string_or_null(w, catalog_text(a->catalog, s->sku[row]));
            jsonw_ktime(w, "as_of", s->as_of[row]);
            jsonw_kmoney(w, "rate", s->rate[row]);
            jsonw_kint(w, "unit_qty", s->unit_qty[row]);
            jsonw_kstring(w, "unit", storage_unit_name((enum storage_unit)s->unit[row]));
            jsonw_kstring(w, "used_for", used);
            jsonw_end_object(w);
        }
        told = told || (p && a->in->n_batches > 8); /* many data sets share their rows */
    }
    jsonw_end_array(w);
}

int tier_json(struct app *app, const struct tier_answer *a, struct buf *out)
{
    struct jsonw w;
    (void)app;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/tier/1");
    jsonw_kstring(&w, "currency", a->currency);
    jsonw_kint(&w, "horizon_months", a->horizon);
    jsonw_key(&w, "groups");
    jsonw_array(&w);
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_paths; i++) {
            json_group(&w, a->in, a->in->batch[b].first + i, &a->plan[b]->path[i]);
        }
    }
    jsonw_end_array(&w);
    jsonw_kmoney(&w, "total", a->total);
    jsonw_kmoney(&w, "baseline", a->baseline);
    jsonw_kmoney(&w, "saving", a->saving);
    jsonw_kmoney(&w, "lower_bound", a->lower_bound);
    jsonw_kbool(&w, "at_least", a->at_least);
    tier_bounds_json(&w, a);
    if (a->series.months > 0) {
        tier_json_over_time(&w, a);
    }
    json_policy(&w, a);
    json_naive(&w, a);
    json_texts(&w, a);
    json_provenance(&w, a);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static void csv_path(struct csvw *w, const struct tier_path *p)
{
    struct buf b;
    buf_init(&b, 4096);
    for (size_t k = 0; k < p->n_steps; k++) {
        buf_addf(&b, "%s%s:%d-%d", k ? " " : "", p->step[k].tier, p->step[k].from_month,
                 p->step[k].to_month);
    }
    csvw_text(w, b.data);
    buf_release(&b);
}

int tier_csv(const struct tier_answer *a, struct buf *out)
{
    static const char *const titles[] = {
        "group", "prefix",        "tier",   "objects",          "bytes",   "path",
        "cost",  "baseline_cost", "saving", "break_even_month", "currency"};
    struct csvw w;
    csvw_init(&w, out);
    csvw_titles(&w, titles, sizeof titles / sizeof *titles);
    for (size_t b = 0; b < a->in->n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_paths; i++) {
            const struct tier_path *p = &a->plan[b]->path[i];
            char bytes[24];
            snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)p->group->bytes);
            csvw_text(&w, a->in->label[a->in->batch[b].first + i]);
            csvw_text(&w, p->group->name);
            csvw_text(&w, p->group->tier);
            csvw_int(&w, (int64_t)p->group->objects);
            csvw_text(&w, bytes);
            csv_path(&w, p);
            csvw_money(&w, p->cost);
            csvw_money(&w, p->baseline_cost);
            csvw_money(&w, p->saving);
            if (p->break_even_month < 0) {
                csvw_empty(&w);
            } else {
                csvw_int(&w, p->break_even_month);
            }
            csvw_text(&w, a->currency);
            csvw_end_row(&w);
        }
    }
    return csvw_finish(&w);
}
