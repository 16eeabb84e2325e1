/* Names that a scenario gives and the catalog must know: GPUs, regions, the model. A name that
 * matches nothing is an error with the nearest ones, never an empty answer. */
#include "gputier/text.h"
#include "search.h"
#include <string.h>

struct nearest {
    const char *name[3];
    size_t distance[3];
    size_t n;
};

static void offer_name(struct nearest *near, const char *wanted, const char *name)
{
    size_t d = text_distance(wanted, name), at = near->n;
    for (size_t i = 0; i < near->n; i++) {
        if (strcmp(near->name[i], name) == 0) {
            return;
        }
    }
    while (at > 0 && near->distance[at - 1] > d) {
        at--;
    }
    if (at >= 3) {
        return;
    }
    for (size_t i = near->n < 3 ? near->n : 2; i > at; i--) {
        near->name[i] = near->name[i - 1];
        near->distance[i] = near->distance[i - 1];
    }
    near->name[at] = name;
    near->distance[at] = d;
    near->n += near->n < 3;
}

static int unknown(const struct search *q, const char *key, const char *wanted,
                   const struct nearest *near)
{
    return gt_fail(q->err, GT_EPARSE, q->s->file,
                   "%s: nothing known matches \"%.60s\"; nearest: %s%s%s%s%s", key, wanted,
                   near->n > 0 ? near->name[0] : "none", near->n > 1 ? ", " : "",
                   near->n > 1 ? near->name[1] : "", near->n > 2 ? ", " : "",
                   near->n > 2 ? near->name[2] : "");
}

static int check_gpu(const struct search *q, const char *key, const char *pattern)
{
    const struct catalog *c = q->c;
    struct nearest near = {0};
    for (size_t i = 0; i < c->n_gpus; i++) {
        if (text_leading_parts(pattern, c->gpus[i].model)) {
            return 0;
        }
        offer_name(&near, pattern, c->gpus[i].model);
    }
    uint32_t last = 0;
    for (size_t i = 0; i < c->offers.n; i++) {
        if (c->offers.gpu[i] != last && c->offers.gpu_spec[i] < 0) {
            last = c->offers.gpu[i];
            if (text_leading_parts(pattern, catalog_text(c, last))) {
                return 0;
            }
        }
    }
    return unknown(q, key, pattern, &near);
}

static int check_region(const struct search *q, const struct scenario_region *r)
{
    const struct catalog *c = q->c;
    struct nearest near = {0};
    uint32_t vendor = catalog_id(c, r->vendor), region = catalog_id(c, r->region), last = 0;
    for (size_t i = 0; i < c->offers.n; i++) {
        if (c->offers.vendor[i] != vendor || c->offers.region[i] == last) {
            continue;
        }
        last = c->offers.region[i];
        if (last == region && region != 0) {
            return 0;
        }
        offer_name(&near, r->region, catalog_text(c, last));
    }
    return unknown(q, "constraints.regions", r->region, &near);
}

static int check_model(const struct search *q, const char *name)
{
    struct nearest near = {0};
    for (size_t i = 0; i < q->c->n_models; i++) {
        if (text_ieq(q->c->models[i].name, name)) {
            return 0;
        }
        offer_name(&near, name, q->c->models[i].name);
    }
    return unknown(q, "workload.model", name, &near);
}

/* "fast" would be computed as stock, which may be half of it: worked cases are told so, a scenario
 * is refused. */
static int check_stack(const struct search *q, const char *name)
{
    struct nearest near = {0};
    if (name[0] == '\0' || model_stack_known(name)) {
        return 0;
    }
    for (size_t i = 2; model_stack_name(i) != NULL; i++) { /* the first two stand in any answer */
        offer_name(&near, name, model_stack_name(i));
    }
    return gt_fail(
        q->err, GT_EPARSE, q->s->file,
        "workload.stack: no software stack \"%.60s\" is known; allowed: tuned, stock or a "
        "name such as %s, %s, %s",
        name, near.name[0], near.name[1], near.name[2]);
}

/* Keys that the plan of a rate model does not use are said, not passed over. */
static int check_spot(struct search *q)
{
    const struct scenario *s = q->s;
    if (strcmp(s->spot_policy, "auto") != 0 && !spot_policy_known(s->spot_policy)) {
        return gt_fail(q->err, GT_EPARSE, s->file,
                       "spot.policy: unknown policy \"%.40s\"; `gputier spot` lists them",
                       s->spot_policy);
    }
    const char *unused[4];
    size_t n = 0;
    if (strcmp(s->spot_policy, "auto") != 0 && strcmp(s->spot_policy, "spot_only") != 0 &&
        strcmp(s->spot_policy, "greedy") != 0) {
        unused[n++] =
            "spot.policy is for traces (`gputier spot replay`): plans here are spot only, "
            "greedy (on demand as the safety net) or on demand only";
    }
    if ((s->spread_types || s->spread_zones) && s->start_wait_spot_s <= 0) {
        unused[n++] = "spot.spread changes no figure: start_wait.spot is 0, capacity is there at "
                      "once";
    }
    if (s->wait_before_fallback_s >= 0 && s->start_wait_spot_s <= 0) {
        unused[n++] = "wait_before_fallback changes no figure: start_wait.spot is 0, spot is there "
                      "at once";
    }
    for (size_t i = 0; i < n && q->n_warnings < 24; i++) {
        q->warning[q->n_warnings++] = unused[i];
    }
    return 0;
}

/* Is anything known of the region? Regions that are not are told with the nearest ones. */
static bool known_place(const struct search *q, const struct scenario_data *d, struct nearest *near)
{
    const struct catalog_storage *t = &q->c->storage;
    const struct catalog_offers *o = &q->c->offers;
    uint32_t vendor = catalog_id(q->c, d->vendor), region = catalog_id(q->c, d->region), last = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->vendor[i] == vendor && t->region[i] != last) {
            last = t->region[i];
            if (last == region && region != 0) {
                return true;
            }
            offer_name(near, d->region, catalog_text(q->c, last));
        }
    }
    for (size_t i = 0; i < o->n && region != 0; i++) {
        if (o->vendor[i] == vendor && o->region[i] == region) {
            return true;
        }
    }
    return false;
}

/* Data may lie where no price is known, but rather the name is misspelt. */
static void check_homes(struct search *q)
{
    const struct scenario *s = q->s;
    for (size_t i = 0; i < s->n_data && q->n_warnings < 24; i++) {
        const struct scenario_data *d = &s->data[i];
        struct nearest near = {0};
        if (d->vendor[0] != '\0' && d->region[0] != '\0' && !known_place(q, d, &near)) {
            q->warning[q->n_warnings++] = arena_printf(
                q->arena,
                "WARNING: data[%zu].lives_in: nothing is known of %s/%s, so what keeping and "
                "moving %s costs there is missing; nearest: %s%s%s",
                i, d->vendor, d->region, d->name, near.n > 0 ? near.name[0] : "none",
                near.n > 1 ? ", " : "", near.n > 1 ? near.name[1] : "");
        }
    }
}

int search_filter_names(const struct search *q)
{
    const struct scenario *s = q->s;
    int rc = 0;
    for (size_t i = 0; i < s->n_gpu_models && rc == 0; i++) {
        rc = check_gpu(q, "constraints.gpus.models", s->gpu_models[i]);
    }
    for (size_t i = 0; i < s->n_regions && rc == 0; i++) {
        rc = check_region(q, &s->regions[i]);
    }
    return rc;
}

int search_names(struct search *q)
{
    const struct scenario *s = q->s;
    int rc = check_spot(q);
    rc = rc != 0 ? rc : search_filter_names(q);
    if (rc == 0) {
        check_homes(q);
    }
    rc = rc != 0 ? rc : check_stack(q, s->stack);
    if (rc == 0 && s->gpu_hours > 0) {
        rc = check_gpu(q, "workload.gpu_hours.gpu", s->gpu_hours_gpu);
    }
    if (rc == 0 && s->measured_gpu[0] != '\0') {
        rc = check_gpu(q, "workload.measured.gpu", s->measured_gpu);
    }
    if (rc == 0 && s->model[0] != '\0' && strcmp(s->model, "custom") != 0) {
        rc = check_model(q, s->model);
    }
    return rc;
}
