/* One plan as a tree of figures (explain.h): cost down to price rows, time down to the model's
 * limits, memory down to its parts, risk down to the interruption rate. */
#include "gputier/explain.h"
#include "gputier/units.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tree {
    struct arena *a;
    const struct plan *p;
    const struct scenario *s;
    bool failed;
};

const char *explain_kind_name(enum explain_kind k)
{
    static const char *const name[] = {"formula", "price",      "scenario",
                                       "model",   "assumption", "choice"};
    return (unsigned)k < sizeof name / sizeof name[0] ? name[k] : "formula";
}

static struct explain_node *add(struct tree *t, struct explain_node *parent, enum explain_kind kind,
                                const char *name, const char *value, const char *unit,
                                const char *formula)
{
    struct explain_node *n = arena_alloc(t->a, sizeof *n);
    if (n == NULL || name == NULL || value == NULL || formula == NULL) {
        t->failed = true;
        return NULL;
    }
    n->name = name;
    n->value = value;
    n->unit = unit;
    n->formula = formula;
    n->kind = kind;
    n->source_id = n->sku = "";
    n->as_of = GT_TIME_NONE;
    if (parent != NULL && parent->last != NULL) {
        parent->last->next = n;
    } else if (parent != NULL) {
        parent->first = n;
    }
    if (parent != NULL) {
        parent->last = n;
    }
    return n;
}

static const char *cash(struct tree *t, money m)
{
    char buf[MONEY_TEXT];
    return arena_strdup(t->a, money_format(m, buf));
}

static const char *digits(struct tree *t, double v)
{
    return isnan(v) ? "unknown" : arena_printf(t->a, "%.6g", v);
}

/* A key of the scenario: an assumption when its default was taken. */
static void key(struct tree *t, struct explain_node *parent, const char *path, const char *value,
                const char *unit)
{
    enum explain_kind kind = EXPLAIN_SCENARIO;
    for (size_t i = 0; t->s != NULL && i < t->s->n_defaults; i++) {
        if (strcmp(t->s->defaults[i].key, path) == 0) {
            kind = EXPLAIN_ASSUMPTION;
        }
    }
    add(t, parent, kind, path, value, unit, "");
}

static void key_number(struct tree *t, struct explain_node *parent, const char *path, double v,
                       const char *unit)
{
    key(t, parent, path, digits(t, v), unit);
}

/* Keys of the data set that a line speaks of; of all training sets when it names none. */
static void data_inputs(struct tree *t, struct explain_node *parent, const struct bill_line *l)
{
    for (size_t i = 0; t->s != NULL && i < t->s->n_data; i++) {
        const struct scenario_data *d = &t->s->data[i];
        size_t len = strlen(d->name);
        bool named = strncmp(l->text, d->name, len) == 0 && l->text[len] == ':';
        bool training = d->role == ROLE_TRAINING_DATA && strncmp(l->text, "training data", 13) == 0;
        if (!named && !training) {
            continue;
        }
        char size[32], path[64];
        snprintf(path, sizeof path, "data[%zu]", i);
        key(t, parent, arena_printf(t->a, "%s.size", path),
            arena_strdup(t->a, size_format(d->size_bytes, size)), "");
        if (d->files > 0) {
            key_number(t, parent, arena_printf(t->a, "%s.files", path), (double)d->files,
                       "objects");
        }
        if (named) {
            key_number(t, parent, arena_printf(t->a, "%s.keep", path), d->keep_months, "months");
            key_number(t, parent, arena_printf(t->a, "%s.growth", path), d->growth_bytes_per_month,
                       "bytes/month");
        }
    }
}

static void line_node(struct tree *t, struct explain_node *parent, const struct bill_line *l)
{
    struct explain_node *n =
        add(t, parent, EXPLAIN_FORMULA, l->text, cash(t, l->amount), t->p->currency,
            strcmp(l->currency, t->p->currency) == 0 ? "rate x quantity, rounded once"
                                                     : "rate x quantity x exchange rate");
    struct explain_node *rate = add(t, n, EXPLAIN_PRICE, "rate", cash(t, l->rate),
                                    arena_printf(t->a, "%s/%s", l->currency, l->unit), "");
    if (rate != NULL) {
        rate->source_id = l->source_id;
        rate->sku = l->sku;
        rate->as_of = l->as_of;
        rate->origin = l->origin;
        if (strcmp(l->source_id, "assumption") == 0) {
            rate->kind = EXPLAIN_ASSUMPTION;
        }
    }
    struct explain_node *q =
        add(t, n, EXPLAIN_FORMULA, "quantity", cash(t, l->quantity), l->unit, l->formula);
    bool machines = l->component == COMP_COMPUTE_ON_DEMAND || l->component == COMP_COMPUTE_SPOT ||
                    l->component == COMP_INTERRUPTION_WASTE || l->component == COMP_COMMITMENT;
    if (machines) {
        add(t, q, EXPLAIN_CHOICE, "machines", digits(t, t->p->instances), "", "");
        double hours = money_to_double(l->quantity) / t->p->instances;
        add(t, q, EXPLAIN_FORMULA, "per machine", digits(t, hours), l->unit,
            "follows from time below");
    } else {
        data_inputs(t, q, l);
        if (strstr(l->formula, "hours") != NULL) {
            add(t, q, EXPLAIN_FORMULA, "run", digits(t, t->p->makespan_mean_s / 3600), "h",
                "makespan, mean; see time below");
        }
    }
}

static void cost_tree(struct tree *t, struct explain_node *root)
{
    const struct plan *p = t->p;
    struct explain_node *total =
        add(t, root, EXPLAIN_FORMULA, "total", cash(t, p->total), p->currency,
            p->at_least ? "sum of the components; at least, as a price is missing"
                        : "sum of the components");
    for (int c = 0; c < COMP_COUNT; c++) {
        struct explain_node *part =
            add(t, total, EXPLAIN_FORMULA, component_name((enum component)c),
                cash(t, p->component[c]), p->currency, "sum of its lines");
        for (size_t i = 0; i < p->n_lines; i++) {
            if ((int)p->line[i].component == c) {
                line_node(t, part, &p->line[i]);
            }
        }
        if (part != NULL && part->first == NULL) {
            part->formula = "no line: nothing is charged";
        }
    }
    struct explain_node *range =
        add(t, root, EXPLAIN_FORMULA, "cost range",
            arena_printf(t->a, "%s to %s", cash(t, p->p5), cash(t, p->p95)), p->currency,
            "the bill at the 5 % and the 95 % run");
    add(t, range, EXPLAIN_FORMULA, "median", cash(t, p->p50), p->currency,
        "the bill at the median run");
    if (!isnan(p->epoch_s)) {
        add(t, root, EXPLAIN_FORMULA, "cost per epoch", cash(t, p->total_per_epoch), p->currency,
            "total / workload.epochs");
    }
}

static void rate_tree(struct tree *t, struct explain_node *parent)
{
    const struct plan *p = t->p;
    struct explain_node *rate =
        add(t, parent, EXPLAIN_MODEL, "rate", digits(t, p->rate.samples_per_s), "samples/s",
            arena_printf(t->a, "least of the limits; %s binds, next %s at %.6g samples/s",
                         bound_name(p->rate.bound), bound_name(p->rate.next_bound),
                         p->rate.next_samples_per_s));
    add(t, rate, EXPLAIN_MODEL, "90 % interval",
        arena_printf(t->a, "%.6g to %.6g", p->rate.lo, p->rate.hi), "samples/s", "");
    add(t, rate, EXPLAIN_CHOICE, "GPUs", arena_printf(t->a, "%g x %s", p->gpu_count, p->gpu), "",
        "");
    if (t->s != NULL) {
        key(t, rate, "workload.model", t->s->model, "");
        key_number(t, rate, "workload.batch_per_gpu", t->s->batch_per_gpu, "samples, 0 = auto");
        key(t, rate, "workload.precision", precision_name(t->s->precision), "");
        key(t, rate, "workload.stack", t->s->stack, "");
    }
}

static void time_tree(struct tree *t, struct explain_node *root)
{
    const struct plan *p = t->p;
    struct explain_node *time =
        add(t, root, EXPLAIN_FORMULA, "makespan, mean", digits(t, p->makespan_mean_s), "s",
            p->interruption_per_h > 0
                ? "wait + exact expectation of set-up, work, checkpoints, lost work and restarts "
                  "(spot-model.md section 3)"
                : "wait + set-up and loading + work + checkpoint writes");
    if (!isnan(p->epoch_s)) {
        struct explain_node *epoch = add(t, time, EXPLAIN_FORMULA, "epoch", digits(t, p->epoch_s),
                                         "s", "samples per epoch / rate");
        if (t->s != NULL) {
            key_number(t, epoch, "workload.samples", t->s->samples, "samples");
            key_number(t, epoch, "workload.epochs", t->s->epochs, "epochs");
        }
        rate_tree(t, epoch);
    } else if (t->s != NULL) {
        struct explain_node *work =
            add(t, time, EXPLAIN_FORMULA, "work", "", "", "GPU-hours / (GPUs x relative speed)");
        key_number(t, work, "workload.gpu_hours.hours", t->s->gpu_hours, "h");
        key(t, work, "workload.gpu_hours.gpu", t->s->gpu_hours_gpu, "");
        add(t, work, EXPLAIN_CHOICE, "GPUs", arena_printf(t->a, "%g x %s", p->gpu_count, p->gpu),
            "", "");
    }
    if (p->block_wait_s > 0) {
        add(t, time, EXPLAIN_FORMULA, "until the block begins", digits(t, p->block_wait_s), "s",
            "its start, as the price row says it - now");
    }
    if (t->s != NULL) {
        key_number(t, time, "workload.setup", t->s->setup_s, "s");
        key_number(t, time, "start_wait.on_demand", t->s->start_wait_on_demand_s, "s");
        key_number(t, time, "start_wait.spot", t->s->start_wait_spot_s, "s");
    }
    struct explain_node *every = add(
        t, time, EXPLAIN_FORMULA, "checkpoint interval", digits(t, p->checkpoint_interval_s), "s",
        p->interruption_per_h > 0 ? "least expected run time for this rate and stall, unless "
                                    "the scenario fixes it"
                                  : "as the scenario says; one an hour when it leaves it free");
    add(t, every, EXPLAIN_CHOICE, "written to", p->checkpoint_tier, "", "");
    struct explain_node *cut =
        add(t, time, EXPLAIN_FORMULA, "interruptions expected", digits(t, p->interruptions), "",
            "rate of the gang x hours at risk, exact expectation");
    add(t, cut,
        t->s != NULL && t->s->interruption_per_h < 0 && p->interruption_per_h > 0
            ? EXPLAIN_ASSUMPTION
            : EXPLAIN_SCENARIO,
        "rate of the gang", digits(t, p->interruption_per_h),
        arena_printf(t->a, "per hour (%s)", p->interruption_basis), "");
    add(t, time, EXPLAIN_FORMULA, "5 %, 50 %, 95 %",
        arena_printf(t->a, "%.6g, %.6g, %.6g", p->makespan_p5_s, p->makespan_p50_s,
                     p->makespan_p95_s),
        "s", "spread of the model's rate and of the interruptions");
    if (!isnan(p->deadline_probability)) {
        struct explain_node *luck = add(
            t, time, EXPLAIN_FORMULA, "chance of the deadline", digits(t, p->deadline_probability),
            arena_printf(t->a, "(95 %%: %.4g to %.4g)", p->deadline_lo, p->deadline_hi),
            "share of runs that end by it");
        if (t->s != NULL) {
            key_number(t, luck, "constraints.deadline", t->s->deadline_s, "s from now");
            key_number(t, luck, "constraints.confidence", t->s->confidence, "");
        }
    }
}

static void memory_tree(struct tree *t, struct explain_node *root)
{
    const struct model_memory *m = &t->p->memory;
    if (m->usable_bytes <= 0) {
        return;
    }
    const struct {
        const char *name;
        double bytes;
    } part[] = {{"weights", m->weights},     {"gradients", m->gradients},
                {"optimizer", m->optimizer}, {"activations", m->activations},
                {"logits", m->logits},       {"workspace", m->workspace}};
    struct explain_node *n =
        add(t, root, EXPLAIN_FORMULA, "memory per GPU", digits(t, m->peak_bytes / 1073741824.0),
            "GiB", "sum of the parts; fits when at most the usable memory");
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        add(t, n, EXPLAIN_MODEL, part[i].name, digits(t, part[i].bytes / 1073741824.0), "GiB", "");
    }
    add(t, n, EXPLAIN_MODEL, "usable", digits(t, m->usable_bytes / 1073741824.0), "GiB", "");
}

static void choice_tree(struct tree *t, struct explain_node *root)
{
    const struct plan *p = t->p;
    struct explain_node *n = add(t, root, EXPLAIN_CHOICE, "what the plan fixes", "", "", "");
    add(t, n, EXPLAIN_CHOICE, "machines",
        arena_printf(t->a, "%d x %s in %s/%s", p->instances, p->instance_type, p->vendor,
                     p->region),
        "", "");
    add(t, n, EXPLAIN_CHOICE, "purchase", purchase_name(p->purchase), "", "");
    add(t, n, EXPLAIN_CHOICE, "policy", p->policy, "", "");
    for (size_t i = 0; i < p->n_placement; i++) {
        const struct plan_placement *d = &p->placement[i];
        add(t, n, EXPLAIN_CHOICE, d->data_set,
            arena_printf(t->a, "%s, months %d-%d", d->tier, d->from_month + 1, d->to_month), "",
            "");
    }
    for (size_t i = 0; i < p->n_notes; i++) {
        add(t, n, EXPLAIN_ASSUMPTION, "note", p->note[i], "", "");
    }
}

int explain_plan(const struct plan *p, const struct scenario *s, struct arena *a,
                 struct explain_node **root, struct gt_error *err)
{
    struct tree t = {a, p, s, false};
    *root = add(&t, NULL, EXPLAIN_CHOICE, "plan", p->id, "", "");
    if (*root != NULL) {
        choice_tree(&t, *root);
        cost_tree(&t, *root);
        time_tree(&t, *root);
        memory_tree(&t, *root);
    }
    return t.failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}
