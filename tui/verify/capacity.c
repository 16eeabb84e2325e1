/* Worked cases of commitment mixes and autoscaling (spot-policies.md section 6). */
#include "gputier/capacity.h"
#include "fields.h"
#include "verify.h"
#include <math.h>
#include <string.h>

static int nomem(struct gt_error *err)
{
    return gt_fail(err, GT_ENOMEM, "computed", "out of memory");
}

static int read_mix(const cJSON *in, struct arena *a, struct capacity_mix *m, struct gt_error *err)
{
    int64_t *demand = NULL, *must_run = NULL, *spot_cap = NULL;
    size_t hours = 0, n_must = 0, n_cap = 0;
    int rc = field_ints(in, "demand", a, &demand, &hours, err);
    rc = rc ? rc : field_ints(in, "must_run", a, &must_run, &n_must, err);
    rc = rc ? rc : field_ints(in, "spot_cap", a, &spot_cap, &n_cap, err);
    rc = rc ? rc : field_double(in, "p_commit", (double)NAN, &m->p_commit, err);
    rc = rc ? rc : field_double(in, "p_spot_eff", (double)NAN, &m->p_spot_eff, err);
    rc = rc ? rc : field_double(in, "p_od", (double)NAN, &m->p_od, err);
    if (rc) {
        return rc;
    }
    if (n_must != hours || n_cap != hours) {
        return gt_fail(err, GT_EPARSE, "demand",
                       "demand has %zu hours, must_run %zu, spot_cap %zu; they must be equal",
                       hours, n_must, n_cap);
    }
    m->demand = demand;
    m->must_run = must_run;
    m->spot_cap = spot_cap;
    m->hours = hours;
    return 0;
}

static int mix(const cJSON *in, struct arena *a, cJSON *out, struct gt_error *err)
{
    struct capacity_mix m;
    struct capacity_mix_result r;
    int rc = read_mix(in, a, &m, err);
    rc = rc ? rc : capacity_mix_best(&m, &r, err);
    if (rc) {
        return rc;
    }
    bool fine = field_put(out, "cost", r.cost) && field_put(out, "reserved", (double)r.reserved) &&
                field_put(out, "od_hours", (double)r.od_hours) &&
                field_put(out, "spot_hours", (double)r.spot_hours);
    return fine ? 0 : nomem(err);
}

static int read_autoscale(const cJSON *in, struct arena *a, struct autoscale *s,
                          struct gt_error *err)
{
    double *load = NULL;
    int rc = field_doubles(in, "load", a, &load, &s->steps, err);
    s->load = load;
    rc = rc ? rc : field_double(in, "mu", (double)NAN, &s->mu, err);
    rc = rc ? rc : field_double(in, "theta", (double)NAN, &s->theta, err);
    rc = rc ? rc : field_int(in, "min", FIELD_NEEDED, &s->min, err);
    rc = rc ? rc : field_int(in, "max", FIELD_NEEDED, &s->max, err);
    rc = rc ? rc : field_int(in, "n0", FIELD_NEEDED, &s->n0, err);
    rc = rc ? rc : field_int(in, "win", FIELD_NEEDED, &s->win, err);
    rc = rc ? rc : field_int(in, "out_cd", FIELD_NEEDED, &s->out_cd, err);
    rc = rc ? rc : field_int(in, "in_cd", FIELD_NEEDED, &s->in_cd, err);
    rc = rc ? rc : field_int(in, "warm", FIELD_NEEDED, &s->warm, err);
    return rc ? rc : field_int(in, "flap_win", FIELD_NEEDED, &s->flap_win, err);
}

static int autoscale(const cJSON *in, struct arena *a, cJSON *out, struct gt_error *err)
{
    struct autoscale s = {.nodes = NULL};
    struct autoscale_result r;
    int rc = read_autoscale(in, a, &s, err);
    rc = rc ? rc : autoscale_run(&s, &r, err);
    if (rc) {
        return rc;
    }
    bool fine = field_put(out, "node_steps", (double)r.node_steps) &&
                field_put(out, "peak_nodes", (double)r.peak_nodes) &&
                field_put(out, "changes", (double)r.changes) &&
                field_put(out, "flaps", (double)r.flaps) && field_put(out, "served", r.served) &&
                field_put(out, "dropped", r.dropped) &&
                field_put(out, "static_nodes", (double)r.static_nodes) &&
                field_put(out, "saving", r.saving);
    return fine ? 0 : nomem(err);
}

static bool is_kind(const cJSON *kase, const char *kind)
{
    const char *name = field_text(kase, "kind");
    return name && !strcmp(name, kind);
}

static bool matches(const cJSON *file, const cJSON *kase)
{
    const char *format = field_text(file, "format");
    return is_kind(kase, "mix") || is_kind(kase, "autoscale") ||
           (format && !strncmp(format, "capacity-mix/", 13));
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    const cJSON *in = cJSON_GetObjectItemCaseSensitive(kase, "input");
    bool is_mix = is_kind(kase, "mix");
    (void)ctx;
    if (!is_mix && !is_kind(kase, "autoscale")) {
        const char *name = field_text(kase, "kind");
        return gt_fail(err, GT_EUNSUPPORTED, "kind", "unknown kind of capacity case \"%.40s\"",
                       name ? name : "");
    }
    if (!cJSON_IsObject(in)) {
        return gt_fail(err, GT_EPARSE, "input", "an object is needed");
    }
    struct arena *a = arena_new(0);
    if (!a) {
        return nomem(err);
    }
    int rc = is_mix ? mix(in, a, computed, err) : autoscale(in, a, computed, err);
    arena_free(a);
    return rc;
}

const struct verify_kind verify_capacity = {
    .name = "capacity", .matches = matches, .compute = compute};
