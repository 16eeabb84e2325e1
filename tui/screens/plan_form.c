/* The scenario being edited (plan_form.h). */
#include "plan_form.h"
#include "../cli/plan_json.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO_MAX (1U << 20)

static void show_model(const struct scenario *s, char *out, size_t size)
{
    if (s->gpu_hours_gpu && s->gpu_hours_gpu[0]) {
        snprintf(out, size, "%g h of %s", s->gpu_hours, s->gpu_hours_gpu);
    } else {
        snprintf(out, size, "%s", s->model);
    }
}
static void show_epochs(const struct scenario *s, char *out, size_t size)
{
    snprintf(out, size, "%g", s->epochs);
}
static void show_samples(const struct scenario *s, char *out, size_t size)
{
    snprintf(out, size, "%.0f", s->samples);
}
static void show_batch(const struct scenario *s, char *out, size_t size)
{
    if (s->batch_per_gpu > 0) {
        snprintf(out, size, "%g", s->batch_per_gpu);
    } else {
        snprintf(out, size, "auto");
    }
}
static void show_precision(const struct scenario *s, char *out, size_t size)
{
    snprintf(out, size, "%s", precision_name(s->precision));
}
static void show_gpus(const struct scenario *s, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->n_gpu_models && len < size; i++) {
        len += (size_t)snprintf(out + len, size - len, "%s%s", i ? " " : "", s->gpu_models[i]);
    }
    if (!s->n_gpu_models) {
        snprintf(out, size, "any");
    }
}
static void show_count(const struct scenario *s, char *out, size_t size)
{
    snprintf(out, size, "%d-%d", s->gpus_min, s->gpus_max);
}
static void show_deadline(const struct scenario *s, char *out, size_t size)
{
    char text[32];
    if (s->deadline_s > 0) {
        snprintf(out, size, "%s", duration_format(s->deadline_s, text));
    } else {
        snprintf(out, size, "none");
    }
}
static void show_confidence(const struct scenario *s, char *out, size_t size)
{
    snprintf(out, size, "%g", s->confidence);
}
static void show_budget(const struct scenario *s, char *out, size_t size)
{
    char text[MONEY_TEXT];
    if (s->budget >= 0) {
        snprintf(out, size, "%s %s", money_format(s->budget, text), s->budget_currency);
    } else {
        snprintf(out, size, "none");
    }
}
static void show_purchase(const struct scenario *s, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (int p = 0; p < PURCHASE_COUNT && len < size; p++) {
        if (s->purchase_mask & (1U << p)) {
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? " " : "",
                                    purchase_name((enum purchase)p));
        }
    }
}
static void show_vendors(const struct scenario *s, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->n_vendors && len < size; i++) {
        len += (size_t)snprintf(out + len, size - len, "%s%s", i ? " " : "", s->vendors[i]);
    }
    if (!s->n_vendors) {
        snprintf(out, size, "all");
    }
}
static void show_regions(const struct scenario *s, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->n_regions && len < size; i++) {
        len += (size_t)snprintf(out + len, size - len, "%s%s/%s", i ? " " : "",
                                s->regions[i].vendor, s->regions[i].region);
    }
    if (!s->n_regions) {
        snprintf(out, size, "all");
    }
}
static void show_interruption(const struct scenario *s, char *out, size_t size)
{
    if (s->interruption_per_h >= 0) {
        snprintf(out, size, "%g/h", s->interruption_per_h);
    } else {
        snprintf(out, size, "auto");
    }
}
static void show_setup(const struct scenario *s, char *out, size_t size)
{
    char text[32];
    snprintf(out, size, "%s", duration_format(s->setup_s, text));
}

static const struct form_field fields[] = {
    {"deadline", "constraints.deadline", false, show_deadline},
    {"confidence", "constraints.confidence", false, show_confidence},
    {"budget", "constraints.budget", false, show_budget},
    {"GPUs", "constraints.gpus.models", true, show_gpus},
    {"GPU count", "constraints.gpus.count", false, show_count},
    {"buy", "purchase", true, show_purchase},
    {"vendors", "constraints.vendors", true, show_vendors},
    {"regions", "constraints.regions", true, show_regions},
    {"model", "workload.model", false, show_model},
    {"epochs", "workload.epochs", false, show_epochs},
    {"samples", "workload.samples", false, show_samples},
    {"batch/GPU", "workload.batch_per_gpu", false, show_batch},
    {"precision", "workload.precision", false, show_precision},
    {"setup", "workload.setup", false, show_setup},
    {"interruption", "spot.interruption", false, show_interruption},
};

const struct form_field *form_field_at(size_t i)
{
    return i < sizeof fields / sizeof *fields ? &fields[i] : NULL;
}

int form_copy(const struct plan_form *f, struct app *app, struct scenario **out,
              struct gt_error *err)
{
    struct scenario_set sets[FORM_EDITS];
    for (size_t i = 0; i < f->n; i++) {
        sets[i] = (struct scenario_set){f->edit[i].path, f->edit[i].value};
    }
    return scenario_parse(f->text, f->len, f->file, sets, f->n, app->now, app->local_offset_s, out,
                          err);
}

int form_plan_json(const struct plan_form *f, const struct app *app, const struct plan_set *set,
                   struct buf *out)
{
    struct scenario_set sets[FORM_EDITS];
    for (size_t i = 0; i < f->n; i++) {
        sets[i] = (struct scenario_set){f->edit[i].path, f->edit[i].value};
    }
    struct plan_origin origin = {.file = f->file,
                                 .text = f->text,
                                 .sets = sets,
                                 .n_sets = f->n,
                                 .local_offset_s = app->local_offset_s};
    return plan_json_write(set, f->scenario, &origin, out);
}

static int reparse(struct plan_form *f, struct app *app, struct gt_error *err)
{
    struct scenario *s;
    int rc = form_copy(f, app, &s, err);
    if (!rc) {
        scenario_free(f->scenario);
        f->scenario = s;
    }
    return rc;
}

int form_load(struct plan_form *f, struct app *app, const char *path, struct gt_error *err)
{
    struct plan_form fresh = {0};
    char bundled[4096];
    if (!path) {
        snprintf(bundled, sizeof bundled, "%s/examples/vision-team.yaml", app->data_dir);
        path = bundled;
    }
    int rc = app_read_file(path, SCENARIO_MAX, &fresh.text, &fresh.len, err);
    if (rc) {
        return rc;
    }
    fresh.file = strdup(path);
    rc = fresh.file ? reparse(&fresh, app, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc) {
        form_release(&fresh);
        return rc;
    }
    form_release(f);
    *f = fresh;
    return 0;
}

/* "aws, gcp" or "aws gcp" -> "[aws, gcp]"; "any" and "all" -> "[]". */
static void as_list(const char *value, char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, "[");
    bool first = true;
    for (const char *s = value; *s && len < size - 3;) {
        s += strspn(s, " ,[]");
        size_t n = strcspn(s, " ,[]");
        if (n && !(strncmp(s, "any", n) == 0 || strncmp(s, "all", n) == 0)) {
            len += (size_t)snprintf(out + len, size - len, "%s%.*s", first ? "" : ", ", (int)n, s);
            first = false;
        }
        s += n;
    }
    if (len < size - 1) {
        snprintf(out + len, size - len, "]");
    }
}

int form_set(struct plan_form *f, struct app *app, const char *path, const char *value, bool list,
             struct gt_error *err)
{
    size_t before = f->n_done;
    if (f->n == FORM_EDITS) {
        return gt_fail(err, GT_ELIMIT, "", "more than %d edits; save the scenario and open it anew",
                       FORM_EDITS);
    }
    struct form_edit *e = &f->edit[f->n];
    struct form_edit old = *e;
    snprintf(e->path, sizeof e->path, "%s", path);
    if (list) {
        as_list(value, e->value, sizeof e->value);
    } else {
        snprintf(e->value, sizeof e->value, "%s", value);
    }
    f->n_done = ++f->n;
    int rc = reparse(f, app, err);
    if (rc) {
        f->n--;
        f->n_done = before;
        *e = old;
    }
    return rc;
}

int form_undo(struct plan_form *f, struct app *app, int by, struct gt_error *err)
{
    if ((by < 0 && f->n == 0) || (by > 0 && f->n == f->n_done)) {
        return gt_fail(err, GT_ENOTFOUND, "", by < 0 ? "nothing to undo" : "nothing to redo");
    }
    f->n = by < 0 ? f->n - 1 : f->n + 1;
    return reparse(f, app, err);
}

void form_release(struct plan_form *f)
{
    scenario_free(f->scenario);
    free(f->text);
    free(f->file);
    memset(f, 0, sizeof *f);
}
