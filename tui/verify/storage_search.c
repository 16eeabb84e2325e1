/* Storage cases with a search: path-optimum, joint-optimum, savings-target. */
#include "storage_in.h"
#include <stdio.h>
#include <string.h>

static int add_text(cJSON *o, const char *key, const char *text, struct gt_error *err)
{
    return cJSON_AddStringToObject(o, key, text) ? 0
                                                 : gt_fail(err, GT_ENOMEM, key, "out of memory");
}

static int count_out(cJSON *o, const char *key, int64_t v, struct gt_error *err)
{
    return out_rat(o, key, rat_int(v), err);
}

/* Names of an object's members in file order. */
static const char **names_of(struct storage_in *in, const cJSON *o, int *n)
{
    const cJSON *item;
    *n = o ? cJSON_GetArraySize(o) : 0;
    const char **name = in_alloc(in, (size_t)*n, sizeof *name);
    int i = 0;
    cJSON_ArrayForEach(item, o)
    {
        if (name && i < *n) {
            name[i++] = item->string ? item->string : "";
        }
    }
    return name;
}

static int index_of(struct storage_in *in, const char *const *names, int n, const char *name,
                    const char *where)
{
    for (int i = 0; i < n && name; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    if (in->rc == 0) {
        in->rc = gt_fail(in->err, GT_ENOTFOUND, where, "no tier '%.60s'", name ? name : "");
    }
    return 0;
}

/* Scalar, null or one per period; not-a-number stands for "no limit". */
static struct rat *limits_of(struct storage_in *in, const cJSON *o, const char *key, int periods,
                             bool *given)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    struct rat *r = in_alloc(in, (size_t)periods, sizeof *r);
    *given = item && !cJSON_IsNull(item);
    if (*given && cJSON_IsArray(item) && cJSON_GetArraySize(item) != periods) {
        in_fail(in, GT_EPARSE, key, "one value per period is needed");
    }
    for (int t = 0; t < periods && r && in->rc == 0; t++) {
        const cJSON *v = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, t) : item;
        r[t] = (struct rat){0, 0};
        if (v && !cJSON_IsNull(v)) {
            r[t] = in_value(in, v, key);
        }
    }
    return r;
}

static void read_moves(struct storage_in *in, const cJSON *o, struct path_problem *p)
{
    const cJSON *list = in_array(in, o, "moves", true, &p->n_moves), *row;
    struct path_move *m = in_alloc(in, p->n_moves, sizeof *m);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        if (in->rc < 0) {
            return;
        }
        m[i++] = (struct path_move){
            .from = index_of(in, p->name, p->n_tiers, in_text(in, row, "from", NULL), "moves"),
            .to = index_of(in, p->name, p->n_tiers, in_text(in, row, "to", NULL), "moves"),
            .fee_1000 = in_rat(in, row, "fee_per_1000", "0"),
            .per_gb = in_rat(in, row, "per_gb", "0"),
        };
    }
    p->move = m;
}

static void read_path(struct storage_in *in, const cJSON *o, struct path_problem *p)
{
    p->periods = (int)in_int(in, o, "periods", 0, 1, 4096);
    const cJSON *g = in_object(in, o, "group"), *tiers = in_object(in, o, "tiers"), *row;
    if (in->rc < 0) {
        return;
    }
    p->name = names_of(in, tiers, &p->n_tiers);
    struct tier_price *t = in_alloc(in, (size_t)p->n_tiers, sizeof *t);
    int k = 0;
    cJSON_ArrayForEach(row, tiers)
    {
        if (in->rc == 0) {
            t[k++] = in_tier(in, row);
        }
    }
    p->tier = t;
    read_moves(in, o, p);
    p->start_tier =
        index_of(in, p->name, p->n_tiers, in_text(in, o, "start_tier", NULL), "start_tier");
    p->start_served = (int)in_int(in, o, "start_time_in_tier", 0, 0, 100000);
    p->initial_age = (int)in_int(in, g, "initial_age_periods", 0, 0, 100000);
    p->objects = in_rat(in, g, "objects", NULL);
    p->size = in_rat(in, g, "size_bytes", NULL);
    p->hot_price = in_rat(in, o, "hot_price_per_gb_month", "0");
    p->terminal_delete = strcmp(in_text(in, o, "terminal", "keep"), "delete") == 0;
    p->read_gb = in_rats(in, g, "read_gb", (size_t)p->periods);
    p->read_requests = in_rats(in, g, "read_requests", (size_t)p->periods);
    bool given;
    p->latency_limit = limits_of(in, g, "latency_limit_s", p->periods, &given);
    const struct rat *need = limits_of(in, g, "throughput_need", p->periods, &given);
    p->throughput_need = given ? need : NULL;
}

static int write_path(struct storage_in *in, const struct path_problem *p,
                      const struct path_result *r, cJSON *computed)
{
    cJSON *v = cJSON_AddObjectToObject(computed, "values");
    if (!r->feasible) {
        return count_out(v, "infeasible", 1, in->err);
    }
    int rc = out_rat(v, "optimal_total", r->total, in->err);
    rc = rc < 0 ? rc : count_out(v, "moves", r->moves, in->err);
    for (int k = 0; k < p->n_tiers && rc == 0; k++) {
        char key[96];
        snprintf(key, sizeof key, "static_%.80s", p->name[k]);
        if (rat_ok(r->static_cost[k])) {
            rc = out_rat(v, key, r->static_cost[k], in->err);
        }
    }
    struct rat start = r->static_cost[p->start_tier];
    if (rc == 0 && rat_ok(start) && rat_sign(start) > 0) {
        struct rat share = rat_sub(rat_int(1), rat_div(r->total, start));
        rc = out_rat(v, "saving_vs_start_percent", rat_mul(rat_int(100), share), in->err);
    }
    cJSON *path = cJSON_AddArrayToObject(computed, "path");
    for (int t = 0; t < p->periods && rc == 0;) {
        int n = 1;
        while (t + n < p->periods && r->tier_at[t + n] == r->tier_at[t]) {
            n++;
        }
        cJSON *run = cJSON_CreateArray();
        cJSON_AddItemToArray(run, cJSON_CreateString(p->name[r->tier_at[t]]));
        cJSON_AddItemToArray(run, cJSON_CreateNumber(n));
        cJSON_AddItemToArray(path, run);
        t += n;
    }
    cJSON_AddBoolToObject(computed, "unique", r->unique);
    return rc;
}

int storage_path(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct path_problem p = {0};
    struct path_result r = {0};
    read_path(in, o, &p);
    r.tier_at = in_alloc(in, (size_t)p.periods, sizeof *r.tier_at);
    r.static_cost = in_alloc(in, (size_t)p.n_tiers, sizeof *r.static_cost);
    if (in->rc == 0) {
        in->rc = path_optimum(&p, &r, in->err);
    }
    return in->rc < 0 ? in->rc : write_path(in, &p, &r, computed);
}

static void read_joint_tier(struct storage_in *in, const cJSON *row, struct joint_tier *t)
{
    *t = (struct joint_tier){
        .capacity_gb = in_rat(in, row, "capacity_gb", "0"),
        .included = in_rat(in, row, "throughput_included", "0"),
        .per_gb = in_rat(in, row, "throughput_per_gb", "0"),
        .unit = in_rat(in, row, "throughput_unit", "0"),
        .unit_price = in_rat(in, row, "throughput_unit_price", "0"),
        .max_units = in_rat(in, row, "throughput_max_units", "0"),
        .has_capacity = cJSON_HasObjectItem(row, "capacity_gb"),
        .has_unit = cJSON_HasObjectItem(row, "throughput_unit"),
        .has_max = cJSON_HasObjectItem(row, "throughput_max_units"),
    };
    t->has_throughput = t->has_unit || cJSON_HasObjectItem(row, "throughput_included") ||
                        cJSON_HasObjectItem(row, "throughput_per_gb");
}

static void read_joint(struct storage_in *in, const cJSON *o, struct joint_problem *p,
                       const char ***groups, const char ***tiers)
{
    const cJSON *gs = in_object(in, o, "groups"), *ts = in_object(in, o, "tiers"), *row, *cost;
    if (in->rc < 0) {
        return;
    }
    *groups = names_of(in, gs, &p->n_groups);
    *tiers = names_of(in, ts, &p->n_tiers);
    struct joint_tier *t = in_alloc(in, (size_t)p->n_tiers, sizeof *t);
    struct joint_group *g = in_alloc(in, (size_t)p->n_groups, sizeof *g);
    if (p->n_tiers > JOINT_TIERS) {
        in_fail(in, GT_ERANGE, "tiers", "too many tiers");
    }
    int i = 0;
    cJSON_ArrayForEach(row, ts)
    {
        if (in->rc == 0) {
            read_joint_tier(in, row, &t[i++]);
        }
    }
    i = 0;
    cJSON_ArrayForEach(row, gs)
    {
        if (in->rc < 0) {
            return;
        }
        g[i].gb = in_rat(in, row, "gb", NULL);
        g[i].throughput = in_rat(in, row, "throughput", "0");
        cJSON_ArrayForEach(cost, in_object(in, row, "cost"))
        {
            int k = index_of(in, *tiers, p->n_tiers, cost->string, "cost");
            g[i].allowed[k] = true;
            g[i].cost[k] = in_value(in, cost, "cost");
        }
        i++;
    }
    p->group = g;
    p->tier = t;
    p->has_budget = cJSON_HasObjectItem(o, "budget");
    p->budget = in_rat(in, o, "budget", "0");
}

int storage_joint(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct joint_problem p = {0};
    struct joint_result r = {0};
    const char **groups = NULL, **tiers = NULL;
    read_joint(in, o, &p, &groups, &tiers);
    r.tier_of = in_alloc(in, (size_t)p.n_groups, sizeof *r.tier_of);
    if (in->rc == 0) {
        in->rc = joint_optimum(&p, &r, in->err);
    }
    if (in->rc < 0) {
        return in->rc;
    }
    cJSON *v = cJSON_AddObjectToObject(computed, "values");
    if (!r.feasible) {
        return count_out(v, "infeasible", 1, in->err);
    }
    int rc = out_rat(v, "optimal_total", r.total, in->err);
    rc = rc < 0 ? rc : out_rat(v, "unconstrained_lower_bound", r.lower_bound, in->err);
    cJSON *a = cJSON_AddObjectToObject(computed, "assignment");
    for (int g = 0; g < p.n_groups && rc == 0; g++) {
        rc = add_text(a, groups[g], tiers[r.tier_of[g]], in->err);
    }
    return rc;
}

static const char **read_savings_groups(struct storage_in *in, const cJSON *o,
                                        struct savings_problem *p, const char *const *tiers)
{
    const cJSON *list = in_array(in, o, "groups", true, &p->n_groups), *row, *no;
    struct savings_group *g = in_alloc(in, p->n_groups, sizeof *g);
    const char **name = in_alloc(in, p->n_groups, sizeof *name);
    size_t i = 0;
    cJSON_ArrayForEach(row, list)
    {
        if (in->rc < 0) {
            break;
        }
        name[i] = in_text(in, row, "name", NULL);
        g[i].objects = in_rat(in, row, "objects", NULL);
        g[i].size = in_rat(in, row, "size_bytes", NULL);
        g[i].read_gb = in_rat(in, row, "read_gb_per_month", "0");
        g[i].reads = in_rat(in, row, "reads_per_month", "0");
        size_t n;
        const cJSON *forbidden = in_array(in, row, "forbidden", false, &n);
        cJSON_ArrayForEach(no, forbidden)
        {
            /* Tiers that the case does not offer may be forbidden too. */
            for (int k = 0; cJSON_IsString(no) && k < p->n_tiers; k++) {
                if (strcmp(tiers[k], no->valuestring) == 0) {
                    g[i].forbidden |= (uint64_t)1 << k;
                }
            }
        }
        i++;
    }
    p->group = g;
    return name;
}

int storage_savings(struct storage_in *in, const cJSON *o, cJSON *computed)
{
    struct savings_problem p = {.months = in_rat(in, o, "months", NULL),
                                .hot_price = in_rat(in, o, "hot_price_per_gb_month", "0"),
                                .target_percent = in_rat(in, o, "target_percent", "0")};
    const cJSON *tiers = in_object(in, o, "tiers"), *row;
    const char **tier = names_of(in, tiers, &p.n_tiers);
    if (p.n_tiers > 64) {
        in_fail(in, GT_ERANGE, "tiers", "more than 64 tiers");
    }
    struct tier_price *t = in_alloc(in, (size_t)p.n_tiers, sizeof *t);
    int k = 0;
    cJSON_ArrayForEach(row, tiers)
    {
        if (in->rc == 0) {
            t[k++] = in_tier(in, row);
        }
    }
    p.tier = t;
    p.hot_tier = index_of(in, tier, p.n_tiers, in_text(in, o, "hot_tier", NULL), "hot_tier");
    const char **name = read_savings_groups(in, o, &p, tier);
    struct savings_result r = {.pick = in_alloc(in, p.n_groups, sizeof *r.pick),
                               .cost = in_alloc(in, p.n_groups, sizeof *r.cost)};
    if (in->rc == 0) {
        in->rc = savings_target(&p, &r, in->err);
    }
    if (in->rc < 0) {
        return in->rc;
    }
    cJSON *v = cJSON_AddObjectToObject(computed, "values");
    cJSON *picks = cJSON_AddObjectToObject(computed, "picks");
    int rc = out_rat(v, "all_hot", r.all_hot, in->err);
    rc = rc < 0 ? rc : out_rat(v, "best", r.best, in->err);
    rc = rc < 0 ? rc : out_rat(v, "saving_percent", r.percent, in->err);
    rc = rc < 0 ? rc : count_out(v, "target_reached", r.reached, in->err);
    for (size_t i = 0; i < p.n_groups && rc == 0; i++) {
        char key[96];
        snprintf(key, sizeof key, "cost_%.80s", name[i]);
        rc = out_rat(v, key, r.cost[i], in->err);
        rc = rc < 0 ? rc : add_text(picks, name[i], tier[r.pick[i]], in->err);
    }
    return rc;
}
