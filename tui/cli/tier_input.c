/* Groups for `tier` (tier_input.h). Reads are measured where the histogram has gets_30d, else
 * assumed and said so: what was used within 30 days once a month, the rest never. */
#include "tier_input.h"
#include "gputier/units.h"
#include "inventory_args.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO_MAX (1UL << 20)

static void note(struct tier_input *in, const char *text)
{
    if (text && in->n_notes < sizeof in->note / sizeof *in->note) {
        in->note[in->n_notes++] = text;
    }
}

static int make(struct tier_input *in, size_t n, struct gt_error *err)
{
    in->n = n;
    in->group = arena_array(in->arena, n + 1, sizeof *in->group);
    in->label = arena_array(in->arena, n + 1, sizeof *in->label);
    in->age_lo = arena_array(in->arena, n + 1, sizeof *in->age_lo);
    in->idle_lo = arena_array(in->arena, n + 1, sizeof *in->idle_lo);
    in->batch = arena_array(in->arena, n + 1, sizeof *in->batch);
    bool ok = in->group && in->label && in->age_lo && in->idle_lo && in->batch;
    return ok ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

/* Tier of an inventory's storage class; the retired reduced-redundancy class bills as Standard. */
static const char *tier_of(enum storage_product product, const char *class_name)
{
    const struct storage_rule *r = storage_rule_in(product, class_name);
    r = r ? r : storage_rule_find(class_name);
    if (strcmp(class_name, "REDUCED_REDUNDANCY") == 0) {
        return "s3_standard";
    }
    return r ? r->tier : class_name;
}

static const char *label_of(struct arena *a, const struct inventory_row *r)
{
    char size[32];
    return arena_printf(a, "%s from %s, age %d d+, idle %d d+%s",
                        r->prefix[0] ? r->prefix : "(top level)", size_format(r->size_lo, size),
                        r->age_lo_days, r->idle_lo_days, r->is_latest ? "" : ", old versions");
}

static int from_rows(struct tier_input *in, enum storage_product product,
                     const struct inventory_row *row, size_t n, struct gt_error *err)
{
    bool assumed = false;
    int rc = make(in, n, err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct inventory_row *r = &row[i];
        struct tier_group *g = &in->group[i];
        double objects = (double)r->objects;
        *g =
            (struct tier_group){.name = arena_strdup(in->arena, r->prefix),
                                .tier = arena_strdup(in->arena, tier_of(product, r->storage_class)),
                                .objects = r->objects,
                                .bytes = r->bytes,
                                .bytes_min128k = r->bytes_min128k,
                                .size_lo = r->size_lo,
                                .noncurrent = !r->is_latest,
                                .age_days = r->age_lo_days,
                                .idle_days = r->idle_lo_days,
                                .read_fraction = -1};
        if (r->gets_30d >= 0 && r->objects > 0) {
            g->reads_per_month = r->gets_30d / objects;
            if (r->bytes_read_30d >= 0 && r->bytes > 0) {
                g->read_fraction = r->bytes_read_30d / (double)r->bytes;
            }
        } else {
            assumed = true;
            g->reads_per_month = r->idle_lo_days < 30 && r->is_latest ? 1 : 0;
        }
        in->label[i] = label_of(in->arena, r);
        in->age_lo[i] = r->age_lo_days;
        in->idle_lo[i] = r->idle_lo_days;
        if (!g->name || !g->tier || !in->label[i]) {
            rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
    }
    in->batch[0] = (struct tier_batch){.first = 0, .n = n};
    in->n_batches = 1;
    if (assumed) {
        note(in, "no record of reads: what was used within 30 days is assumed to be read once a "
                 "month, everything else and old versions never");
    }
    return rc;
}

static int from_inventory(struct app *app, const struct cli_args *args,
                          enum storage_product product, const char *path, struct tier_input *in,
                          struct gt_error *err)
{
    struct inventory *inv;
    const struct inventory_row *row;
    size_t n;
    int rc = inventory_from_args(app, args, &path, 1, &inv, err);
    if (rc) {
        return rc;
    }
    inventory_warn(app, inv);
    rc = inventory_rows(inv, &row, &n, err);
    rc = rc ? rc : from_rows(in, product, row, n, err);
    if (rc == 0 && n == 0) {
        rc = gt_fail(err, GT_EPARSE, path, "no object in it");
    }
    inventory_free(inv);
    return rc;
}

static void data_set(struct tier_input *in, const struct scenario_data *d, size_t i)
{
    double reads = d->reads_per_month;
    if (d->role == ROLE_TRAINING_DATA && reads < 1) {
        reads = 1;
        note(in, arena_printf(in->arena, "%s: training data, assumed to be read once a month",
                              d->name));
    }
    if (d->growth_bytes_per_month > 0) {
        note(in, arena_printf(in->arena, "%s grows: planned for the size it has today", d->name));
    }
    in->group[i] = (struct tier_group){.name = arena_printf(in->arena, "%s/", d->name),
                                       .tier = arena_strdup(in->arena, d->tier),
                                       .objects = d->files ? d->files : 1,
                                       .bytes = d->size_bytes,
                                       .reads_per_month = reads,
                                       .read_fraction = -1};
    in->label[i] = arena_strdup(in->arena, d->name);
    bool placed = d->vendor && d->vendor[0];
    in->batch[i] = (struct tier_batch){
        .first = i,
        .n = 1,
        .vendor = placed ? arena_strdup(in->arena, d->vendor) : NULL,
        .region = placed && d->region ? arena_strdup(in->arena, d->region) : NULL,
        .horizon = d->keep_months > 0 ? (int)ceil(d->keep_months) : 0,
    };
}

int tier_input_scenario(const struct scenario *s, struct tier_input *in, struct gt_error *err)
{
    *in = (struct tier_input){.arena = arena_new(0)};
    int rc = in->arena ? make(in, s->n_data, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    for (size_t i = 0; i < s->n_data && rc == 0; i++) {
        data_set(in, &s->data[i], i);
        rc = in->group[i].name && in->group[i].tier && in->label[i]
                 ? 0
                 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    in->n_batches = s->n_data;
    if (rc == 0 && s->n_data == 0) {
        rc = gt_fail(err, GT_EPARSE, s->file, "the scenario has no data sets");
    }
    if (rc) {
        tier_input_release(in);
    }
    return rc;
}

static int from_scenario(struct app *app, const char *path, const char *text, size_t len,
                         struct tier_input *in, struct gt_error *err)
{
    struct scenario *s;
    int rc = scenario_parse(text, len, path, NULL, 0, app->now, app->local_offset_s, &s, err);
    if (rc) {
        return rc;
    }
    arena_free(in->arena);
    rc = tier_input_scenario(s, in, err);
    scenario_free(s);
    return rc;
}

static bool ends(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n > k && strcmp(path + n - k, suffix) == 0;
}

int tier_input_read(struct app *app, const struct cli_args *args, enum storage_product product,
                    const char *path, struct tier_input *in, struct gt_error *err)
{
    *in = (struct tier_input){.arena = arena_new(0)};
    if (!in->arena) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc;
    if (ends(path, ".yaml") || ends(path, ".yml")) {
        char *text = NULL;
        size_t len;
        rc = app_read_file(path, SCENARIO_MAX, &text, &len, err);
        rc = rc == GT_ENOTFOUND ? GT_EPARSE : rc;
        rc = rc ? rc : from_scenario(app, path, text, len, in, err);
        free(text);
    } else {
        rc = from_inventory(app, args, product, path, in, err);
    }
    if (rc) {
        tier_input_release(in);
    }
    return rc;
}

int tier_input_rows(enum storage_product product, const struct inventory_row *row, size_t n,
                    struct tier_input *in, struct gt_error *err)
{
    *in = (struct tier_input){.arena = arena_new(0)};
    int rc = in->arena ? from_rows(in, product, row, n, err)
                       : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc) {
        tier_input_release(in);
    }
    return rc;
}

void tier_input_release(struct tier_input *in)
{
    arena_free(in->arena);
    in->arena = NULL;
}
