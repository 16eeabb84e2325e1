/* JSON document -> plan set (plan_json.h). What is missing or of another type is refused with its
 * place in the document. Above 600 lines: one small reader for each part that plan_json.c and
 * plan_data.c write. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "plan_json.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 100000

struct in {
    struct arena *a;
    const char *file;
    struct gt_error *err;
    int rc;
};

static void refuse(struct in *in, const char *key, const char *what)
{
    if (in->rc == 0) {
        in->rc = gt_fail(in->err, GT_EPARSE, in->file, "\"%.60s\": %s", key, what);
    }
}

static const cJSON *member(struct in *in, const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
    if (v == NULL) {
        refuse(in, key, "is missing");
    }
    return v;
}

static const char *own(struct in *in, const char *s)
{
    const char *copy = arena_strdup(in->a, s);
    if (copy == NULL && in->rc == 0) {
        in->rc = gt_fail(in->err, GT_ENOMEM, in->file, "out of memory");
    }
    return copy != NULL ? copy : "";
}

/* Text; null is "". */
static const char *text(struct in *in, const cJSON *o, const char *key)
{
    const cJSON *v = member(in, o, key);
    if (v == NULL || cJSON_IsNull(v)) {
        return "";
    }
    if (!cJSON_IsString(v)) {
        refuse(in, key, "found no text");
        return "";
    }
    return own(in, v->valuestring);
}

static double number(struct in *in, const cJSON *o, const char *key)
{
    const cJSON *v = member(in, o, key);
    if (v == NULL || cJSON_IsNull(v)) {
        return (double)NAN;
    }
    if (!cJSON_IsNumber(v)) {
        refuse(in, key, "found no number");
        return (double)NAN;
    }
    return v->valuedouble;
}

static int whole(struct in *in, const cJSON *o, const char *key)
{
    double v = number(in, o, key);
    if (isnan(v)) {
        return 0;
    }
    if (!(v >= -2e9 && v <= 2e9)) {
        refuse(in, key, "out of range");
        return 0;
    }
    return (int)v;
}

/* A whole number up to 2^53, which JSON carries exactly; null is 0. */
static int64_t large(struct in *in, const cJSON *o, const char *key)
{
    double v = number(in, o, key);
    if (isnan(v)) {
        return 0;
    }
    if (!(fabs(v) <= 9007199254740992.0)) {
        refuse(in, key, "out of range");
        return 0;
    }
    return (int64_t)v;
}

static bool truth(struct in *in, const cJSON *o, const char *key)
{
    const cJSON *v = member(in, o, key);
    if (v != NULL && !cJSON_IsBool(v) && !cJSON_IsNull(v)) {
        refuse(in, key, "found neither true nor false");
    }
    return cJSON_IsTrue(v);
}

static money amount(struct in *in, const cJSON *o, const char *key)
{
    const cJSON *v = member(in, o, key);
    money m = 0;
    if (v != NULL && !cJSON_IsNull(v) &&
        (!cJSON_IsString(v) ||
         money_parse(v->valuestring, strlen(v->valuestring), &m, NULL) != 0)) {
        refuse(in, key, "found no amount");
    }
    return m;
}

static int64_t when(struct in *in, const cJSON *o, const char *key)
{
    const cJSON *v = member(in, o, key);
    int64_t t = GT_TIME_NONE;
    if (v != NULL && !cJSON_IsNull(v) &&
        (!cJSON_IsString(v) || time_parse(v->valuestring, 0, &t, NULL) != 0)) {
        refuse(in, key, "found no time");
    }
    return t;
}

static const cJSON *list(struct in *in, const cJSON *o, const char *key, size_t *n)
{
    const cJSON *v = member(in, o, key);
    *n = 0;
    if (v != NULL && !cJSON_IsArray(v)) {
        refuse(in, key, "found no list");
        return NULL;
    }
    if (v != NULL) {
        *n = (size_t)cJSON_GetArraySize(v);
        if (*n > MAX_ITEMS) {
            refuse(in, key, "more than 100000 entries");
            *n = 0;
        }
    }
    return v;
}

static void *room(struct in *in, size_t n, size_t size)
{
    void *p = arena_array(in->a, n + 1, size);
    if (p == NULL && in->rc == 0) {
        in->rc = gt_fail(in->err, GT_ENOMEM, in->file, "out of memory");
    }
    return p;
}

static const char *const *strings(struct in *in, const cJSON *o, const char *key, size_t *n)
{
    const cJSON *v = list(in, o, key, n), *e;
    const char **out = room(in, *n, sizeof *out);
    size_t i = 0;
    if (out == NULL) {
        *n = 0;
        return NULL;
    }
    cJSON_ArrayForEach(e, v)
    {
        if (i < *n) {
            out[i++] = own(in, cJSON_IsString(e) ? e->valuestring : "");
        }
    }
    return out;
}

static enum bound bound_from(struct in *in, const cJSON *o, const char *key)
{
    const char *name = text(in, o, key);
    for (int b = 0; b < BOUND_COUNT; b++) {
        if (strcmp(bound_name((enum bound)b), name) == 0) {
            return (enum bound)b;
        }
    }
    refuse(in, key, "found no known bound");
    return BOUND_COMPUTE;
}

static enum component component_from(struct in *in, const char *name)
{
    for (int c = 0; c < COMP_COUNT; c++) {
        if (strcmp(component_name((enum component)c), name) == 0) {
            return (enum component)c;
        }
    }
    refuse(in, "component", "found no known component");
    return COMP_OTHER;
}

static void read_bill(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *v = list(in, o, "bill", &p->n_lines), *e;
    struct bill_line *line = room(in, p->n_lines, sizeof *line), *l = line;
    cJSON_ArrayForEach(e, v)
    {
        if (line == NULL || in->rc != 0) {
            return;
        }
        static const char *const origins[] = {"bundled", "fetched", "imported"};
        const char *origin = text(in, e, "origin");
        l->component = component_from(in, text(in, e, "component"));
        l->text = text(in, e, "text");
        l->rate = amount(in, e, "rate");
        l->currency = text(in, e, "currency");
        l->unit = text(in, e, "unit");
        l->quantity = amount(in, e, "quantity");
        l->amount = amount(in, e, "amount");
        l->formula = text(in, e, "formula");
        l->source_id = text(in, e, "source_id");
        l->sku = text(in, e, "sku");
        l->as_of = when(in, e, "as_of");
        l->fetched_at = when(in, e, "fetched_at");
        l->row_id = large(in, e, "row_id");
        for (int i = 0; i < 3; i++) {
            l->origin = strcmp(origins[i], origin) == 0 ? (enum origin)i : l->origin;
        }
        l++;
    }
    p->line = line;
}

static void read_cost(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *c = member(in, o, "cost"), *parts = member(in, c, "components");
    money sum = 0;
    p->currency = text(in, c, "currency");
    p->total = amount(in, c, "total");
    p->at_least = truth(in, c, "at_least");
    for (int i = 0; i < COMP_COUNT; i++) {
        p->component[i] = amount(in, parts, component_name((enum component)i));
        if (in->rc == 0 && money_add(sum, p->component[i], &sum) != 0) {
            refuse(in, "components", "out of range");
        }
    }
    if (in->rc == 0 && sum != p->total) {
        refuse(in, "cost", "the components do not add up to the total");
    }
    p->p5 = amount(in, c, "p5");
    p->p50 = amount(in, c, "p50");
    p->p95 = amount(in, c, "p95");
    p->total_per_epoch = amount(in, c, "per_epoch");
}

static void read_time(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *t = member(in, o, "time"), *m = member(in, t, "makespan_s");
    p->epoch_s = number(in, t, "epoch_s");
    p->rate.bound = bound_from(in, t, "bound");
    p->rate.next_bound = bound_from(in, t, "next_bound");
    p->rate.samples_per_s = number(in, t, "samples_per_s");
    p->rate.lo = number(in, t, "samples_per_s_lo");
    p->rate.hi = number(in, t, "samples_per_s_hi");
    p->rate.next_samples_per_s = number(in, t, "next_samples_per_s");
    p->makespan_mean_s = number(in, m, "mean");
    p->makespan_p5_s = number(in, m, "p5");
    p->makespan_p50_s = number(in, m, "p50");
    p->makespan_p95_s = number(in, m, "p95");
    p->deadline_probability = p->deadline_lo = p->deadline_hi =
        number(in, t, "deadline_probability");
    const cJSON *ci = member(in, t, "deadline_probability_ci");
    if (cJSON_IsArray(ci) && cJSON_GetArraySize(ci) == 2) {
        p->deadline_lo = cJSON_GetArrayItem(ci, 0)->valuedouble;
        p->deadline_hi = cJSON_GetArrayItem(ci, 1)->valuedouble;
    }
}

static void read_memory(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *m = member(in, o, "memory");
    double gib = 1073741824.0;
    const struct {
        const char *key;
        double *to;
    } part[] = {{"peak_gib_per_gpu", &p->memory.peak_bytes},
                {"usable_gib_per_gpu", &p->memory.usable_bytes},
                {"weights_gib", &p->memory.weights},
                {"gradients_gib", &p->memory.gradients},
                {"optimizer_gib", &p->memory.optimizer},
                {"activations_gib", &p->memory.activations},
                {"logits_gib", &p->memory.logits},
                {"workspace_gib", &p->memory.workspace}};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        double v = number(in, m, part[i].key);
        *part[i].to = isnan(v) ? 0 : v * gib;
    }
    p->memory.fits = truth(in, m, "fits");
    p->memory.tight = truth(in, m, "tight");
}

/* Months on tiers; data_set: of those that do not say it themselves. */
static const struct plan_placement *read_months(struct in *in, const cJSON *o, const char *key,
                                                const char *data_set, size_t *n)
{
    const cJSON *v = list(in, o, key, n), *e;
    struct plan_placement *place = room(in, *n, sizeof *place), *at = place;
    cJSON_ArrayForEach(e, v)
    {
        if (place == NULL || in->rc != 0) {
            return NULL;
        }
        at->data_set = data_set ? data_set : text(in, e, "data_set");
        at->tier = text(in, e, "tier");
        at->from_month = whole(in, e, "from_month");
        at->to_month = whole(in, e, "to_month");
        at++;
    }
    return place;
}

static void read_choices(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *v = list(in, o, "choices", &p->n_choices), *e;
    struct plan_data_choice *first = room(in, p->n_choices, sizeof *first), *c = first;
    cJSON_ArrayForEach(e, v)
    {
        if (first == NULL || in->rc != 0) {
            return;
        }
        c->kept = text(in, e, "kept");
        c->read = text(in, e, "read");
        c->how = text(in, e, "how");
        c->option = text(in, e, "option");
        c->source = text(in, e, "source");
        c->read_bps = number(in, e, "read_bytes_per_s");
        c->stage_s = number(in, e, "stage_s");
        c->first_epoch_s = number(in, e, "first_epoch_s");
        c->epoch_s = number(in, e, "epoch_s");
        c->first_bound = bound_from(in, e, "first_bound");
        c->bound = bound_from(in, e, "bound");
        c->makespan_s = number(in, e, "makespan_s");
        c->total = amount(in, e, "total");
        c->at_least = truth(in, e, "at_least");
        c->chosen = truth(in, e, "chosen");
        c->reason = text(in, e, "reason");
        c++;
    }
    p->choice = first;
}

static void read_waits(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *v = list(in, o, "after_run", &p->n_waits), *e;
    struct plan_wait *first = room(in, p->n_waits, sizeof *first), *w = first;
    cJSON_ArrayForEach(e, v)
    {
        if (first == NULL || in->rc != 0) {
            return;
        }
        w->data_set = text(in, e, "data_set");
        w->step = read_months(in, e, "path", w->data_set, &w->n_steps);
        w->cost = amount(in, e, "cost");
        w->stay = amount(in, e, "stay_cost");
        w->saving = amount(in, e, "saving");
        w->currency = text(in, e, "currency");
        w->at_least = truth(in, e, "at_least");
        w->wait_s = number(in, e, "wait_s");
        w++;
    }
    p->wait = first;
}

/* Documents made before there was such a part have none. */
static void read_training_data(struct in *in, const cJSON *o, struct plan *p)
{
    const cJSON *v =
        cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, "training_data") : NULL;
    if (v != NULL) {
        read_choices(in, v, p);
        read_waits(in, v, p);
    }
}

static void read_plan(struct in *in, const cJSON *o, struct plan *p)
{
    p->id = text(in, o, "id");
    p->rank = whole(in, o, "rank");
    p->vendor = text(in, o, "vendor");
    p->region = text(in, o, "region");
    p->zones = strings(in, o, "zones", &p->n_zones);
    p->instance_type = text(in, o, "instance_type");
    p->instances = whole(in, o, "instances");
    p->gpu = text(in, o, "gpu");
    p->gpu_count = number(in, o, "gpu_count");
    const cJSON *buy = member(in, o, "purchase"), *save = member(in, o, "checkpoint");
    p->policy = text(in, buy, "policy");
    p->on_demand_share = number(in, buy, "on_demand_share");
    p->spot_share = number(in, buy, "spot_share");
    if (in->rc == 0 && purchase_from_name(text(in, buy, "option"), &p->purchase) != 0) {
        refuse(in, "purchase", "found no known option");
    }
    p->checkpoint_interval_s = number(in, save, "interval_s");
    p->checkpoint_tier = text(in, save, "tier");
    const cJSON *cut = member(in, o, "interruption");
    p->interruption_per_h = number(in, cut, "per_hour");
    p->interruption_basis = text(in, cut, "basis");
    p->interruptions = number(in, cut, "expected");
    p->note = strings(in, o, "notes", &p->n_notes);
    p->placement = read_months(in, o, "placement", NULL, &p->n_placement);
    read_training_data(in, o, p);
    read_time(in, o, p);
    read_memory(in, o, p);
    read_cost(in, o, p);
    read_bill(in, o, p);
}

static struct plan *read_plans(struct in *in, const cJSON *doc, const char *key, size_t *n)
{
    const cJSON *v = list(in, doc, key, n), *e;
    struct plan *plan = room(in, *n, sizeof *plan), *p = plan;
    cJSON_ArrayForEach(e, v)
    {
        if (plan == NULL || in->rc != 0) {
            break;
        }
        read_plan(in, e, p++);
    }
    return plan;
}

/* The front in its order: ranked plans and those that stand in `front` alone. */
static void read_front(struct in *in, const cJSON *doc, struct plan_set *set)
{
    size_t n_more = 0, n = 0;
    struct plan *more = read_plans(in, doc, "front", &n_more);
    const char *const *id = strings(in, doc, "pareto", &n);
    struct plan *front = room(in, n, sizeof *front);
    struct plan *ranked = (struct plan *)(uintptr_t)set->plan;
    for (size_t i = 0; i < n && front != NULL && more != NULL && in->rc == 0; i++) {
        const struct plan *found = NULL;
        for (size_t j = 0; j < set->n; j++) {
            if (strcmp(ranked[j].id, id[i]) == 0) {
                ranked[j].on_front = true;
                found = &ranked[j];
            }
        }
        for (size_t j = 0; j < n_more && found == NULL; j++) {
            more[j].on_front = true;
            found = strcmp(more[j].id, id[i]) == 0 ? &more[j] : NULL;
        }
        if (found == NULL) {
            refuse(in, "pareto", "names a plan that does not stand in the document");
            return;
        }
        front[i] = *found;
    }
    set->front = front;
    set->n_front = n;
}

/* Absent in plans of before it existed, null when it was not asked for. */
static void read_hinges(struct in *in, const cJSON *doc, struct plan_set *set)
{
    const cJSON *e, *v = cJSON_GetObjectItemCaseSensitive(doc, "sensitivity");
    if (v == NULL || cJSON_IsNull(v)) {
        return;
    }
    v = list(in, doc, "sensitivity", &set->n_hinges);
    struct plan_hinge *h = room(in, set->n_hinges, sizeof *h), *at = h;
    cJSON_ArrayForEach(e, v)
    {
        if (h == NULL || in->rc != 0) {
            return;
        }
        *at = (struct plan_hinge){.input = text(in, e, "input"),
                                  .unit = text(in, e, "unit"),
                                  .value = number(in, e, "value"),
                                  .lo = number(in, e, "from"),
                                  .hi = number(in, e, "to"),
                                  .lo_found = truth(in, e, "from_found"),
                                  .hi_found = truth(in, e, "to_found"),
                                  .below = text(in, e, "first_below"),
                                  .above = text(in, e, "first_above")};
        at->below = at->below[0] != '\0' ? at->below : NULL;
        at->above = at->above[0] != '\0' ? at->above : NULL;
        at++;
    }
    set->hinge = h;
}

static money amount_or_none(struct in *in, const cJSON *o, const char *key)
{
    return cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, key)) ? -1 : amount(in, o, key);
}

static void amounts(struct in *in, const cJSON *o, const char *key, money *out, size_t n,
                    money none)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    for (size_t i = 0; i < n; i++) {
        const cJSON *m = cJSON_GetArrayItem(v, (int)i);
        out[i] = none;
        if (!cJSON_IsNull(v) &&
            (!cJSON_IsString(m) ||
             money_parse(m->valuestring, strlen(m->valuestring), &out[i], NULL) != 0)) {
            refuse(in, key, "found no amount");
        }
    }
}

static void pair(const cJSON *o, const char *key, double out[2])
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    for (int i = 0; i < 2; i++) {
        const cJSON *m = cJSON_GetArrayItem(v, i);
        out[i] = cJSON_IsNumber(m) ? m->valuedouble : (double)NAN;
    }
}

static void read_commitment(struct in *in, const cJSON *e, struct plan_commitment *c)
{
    *c = (struct plan_commitment){.vendor = text(in, e, "vendor"),
                                  .region = text(in, e, "region"),
                                  .instance_type = text(in, e, "instance_type"),
                                  .gpu = text(in, e, "gpu"),
                                  .payment = text(in, e, "payment"),
                                  .instances = whole(in, e, "instances"),
                                  .gpu_count = number(in, e, "gpu_count"),
                                  .horizon_h = number(in, e, "horizon_h"),
                                  .term_h = whole(in, e, "term_h"),
                                  .terms = whole(in, e, "terms"),
                                  .upfront = amount(in, e, "upfront"),
                                  .term = amount(in, e, "term_cost"),
                                  .total = amount(in, e, "cost"),
                                  .on_demand_h = amount_or_none(in, e, "on_demand_per_hour"),
                                  .spot_h = amount_or_none(in, e, "spot_per_hour"),
                                  .break_even = number(in, e, "break_even_share"),
                                  .break_even_spot = number(in, e, "break_even_share_spot"),
                                  .mix_nodes = -1};
    if (purchase_from_name(text(in, e, "purchase"), &c->purchase) != 0) {
        refuse(in, "purchase", "not a way to pay");
    }
    pair(e, "share", c->share);
    pair(e, "pays_after_h", c->pays_after_h);
    amounts(in, e, "on_demand", c->on_demand, 2, -1);
    amounts(in, e, "spot", c->spot, 2, -1);
    amounts(in, e, "lost_if_ended", c->lost, 3, c->term);
    const cJSON *h = cJSON_GetObjectItemCaseSensitive(e, "hourly");
    if (cJSON_IsObject(h)) {
        c->mix_nodes = whole(in, h, "committed");
        c->mix_on_demand_h = number(in, h, "on_demand_h");
        c->mix_spot_h = number(in, h, "spot_h");
        c->mix = amount(in, h, "cost");
    }
}

/* Absent in plans of before it existed. */
static void read_commitments(struct in *in, const cJSON *doc, struct plan_set *set)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(doc, "commitments"), *e;
    if (o == NULL) {
        return;
    }
    const cJSON *v = list(in, o, "shown", &set->n_commitments);
    struct plan_commitment *c = room(in, set->n_commitments, sizeof *c), *at = c;
    set->commitments_found = (size_t)large(in, o, "found");
    cJSON_ArrayForEach(e, v)
    {
        if (c == NULL || in->rc != 0) {
            return;
        }
        read_commitment(in, e, at++);
    }
    set->commitment = c;
}

static void read_set(struct in *in, const cJSON *doc, struct plan_set *set)
{
    if (strcmp(text(in, doc, "schema"), "gputier/plan/1") != 0) {
        refuse(in, "schema", "allowed: gputier/plan/1");
        return;
    }
    set->now = when(in, doc, "now");
    set->prices_as_of = when(in, doc, "prices_as_of");
    set->seed = (uint64_t)large(in, doc, "seed");
    set->currency = text(in, doc, "currency");
    set->lower_bound = amount(in, doc, "lower_bound");
    set->plan = read_plans(in, doc, "plans", &set->n);
    read_front(in, doc, set);
    const cJSON *v = list(in, doc, "rejected", &set->n_rejected), *e;
    struct plan_rejected *r = room(in, set->n_rejected, sizeof *r), *at = r;
    cJSON_ArrayForEach(e, v)
    {
        if (r == NULL || in->rc != 0) {
            return;
        }
        *at++ = (struct plan_rejected){text(in, e, "vendor"), text(in, e, "region"),
                                       text(in, e, "instance_type"), text(in, e, "purchase"),
                                       text(in, e, "reason")};
    }
    set->rejected = r;
    const cJSON *found = member(in, doc, "search");
    set->candidates = (size_t)large(in, found, "candidates");
    set->evaluated = (size_t)large(in, found, "evaluated");
    set->pruned = (size_t)large(in, found, "pruned");
    read_commitments(in, doc, set);
    read_hinges(in, doc, set);
    set->warning = strings(in, doc, "warnings", &set->n_warnings);
}

/* The scenario is parsed again from its own text, with the clock of then. */
static void read_scenario(struct in *in, const cJSON *doc, int64_t now, struct scenario **out)
{
    const cJSON *o = member(in, doc, "scenario"), *e;
    const char *source = text(in, o, "text"), *file = text(in, o, "file");
    size_t n = 0, i = 0;
    const cJSON *v = list(in, o, "sets", &n);
    struct scenario_set *set = room(in, n, sizeof *set);
    int32_t offset = whole(in, o, "local_offset_s");
    cJSON_ArrayForEach(e, v)
    {
        if (set == NULL || in->rc != 0) {
            return;
        }
        set[i++] = (struct scenario_set){text(in, e, "path"), text(in, e, "value")};
    }
    if (in->rc == 0) {
        in->rc = scenario_parse(source, strlen(source), file, set, n, now, offset, out, in->err);
    }
}

int plan_json_read(const char *json, size_t len, const char *file, struct plan_set **set,
                   struct scenario **scenario, struct gt_error *err)
{
    *set = NULL;
    *scenario = NULL;
    struct in in = {.a = arena_new(0), .file = file, .err = err};
    struct plan_set *s = in.a != NULL ? arena_alloc(in.a, sizeof *s) : NULL;
    cJSON *doc = s != NULL ? cJSON_ParseWithLength(json, len) : NULL;
    if (s == NULL) {
        arena_free(in.a);
        return gt_fail(err, GT_ENOMEM, file, "out of memory");
    }
    s->arena = in.a;
    if (doc == NULL) {
        in.rc = gt_fail(err, GT_EPARSE, file, "not a JSON document");
    } else {
        read_set(&in, doc, s);
    }
    if (in.rc == 0) {
        read_scenario(&in, doc, s->now, scenario);
    }
    cJSON_Delete(doc);
    if (in.rc != 0) {
        scenario_free(*scenario);
        *scenario = NULL;
        arena_free(in.a);
        return in.rc;
    }
    *set = s;
    return 0;
}
