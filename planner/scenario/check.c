/* Checks between the keys of a scenario: what must stand together, what excludes what. */
#include "check.h"
#include "gputier/units.h"
#include <stdio.h>
#include <string.h>

int check_item_key(const struct reader *r, const struct node *item, const char *key, bool is_data,
                   bool seen, const char *shown)
{
    static const char *const data_needs[] = {"name", "role", "size"};
    static const char *const discount_needs[] = {"vendor", "factor"};
    const char *const *needs = is_data ? data_needs : discount_needs;
    size_t n = is_data ? 3 : 2;
    for (size_t i = 0; i < n && !seen; i++) {
        if (strcmp(key, needs[i]) == 0) {
            char where[160];
            return gt_fail(r->err, GT_EPARSE, tree_where(item, where), "%s.%s is missing", shown,
                           key);
        }
    }
    return 0;
}

static int missing(const struct reader *r, const struct node *at, const char *what)
{
    char where[160];
    return gt_fail(r->err, GT_EPARSE, tree_where(at, where), "%s", what);
}

static int check_work(const struct reader *r, const struct node *root)
{
    const struct scenario *s = r->s;
    const struct node *at = tree_get(root, "workload");
    if (at == NULL) {
        return missing(r, root, "workload is missing");
    }
    bool by_hours = s->gpu_hours > 0 || s->gpu_hours_gpu[0] != '\0';
    if (by_hours && (s->gpu_hours <= 0 || s->gpu_hours_gpu[0] == '\0')) {
        return missing(r, at, "workload.gpu_hours needs both gpu and hours");
    }
    if (by_hours && (s->epochs > 0 || s->samples > 0 || s->tokens > 0)) {
        return missing(r, at,
                       "workload: gpu_hours and epochs, samples or tokens state the work "
                       "twice; allowed: one of them");
    }
    if (s->samples > 0 && s->tokens > 0) {
        return missing(r, at, "workload: samples and tokens state the epoch twice; allowed: one");
    }
    if (!by_hours && s->model[0] == '\0') {
        return missing(r, at,
                       "workload.model (with epochs and samples or tokens) or "
                       "workload.gpu_hours is missing");
    }
    if (!by_hours && s->epochs <= 0) {
        return missing(r, at, "workload.epochs is missing");
    }
    if (!by_hours && s->samples <= 0 && s->tokens <= 0) {
        return missing(r, at, "workload.samples (or tokens) is missing");
    }
    if (strcmp(s->model, "custom") == 0 && (s->flops_per_sample <= 0 || s->parameters <= 0)) {
        return missing(r, at, "workload.model custom needs flops_per_sample and parameters");
    }
    if (s->method != METHOD_FULL && s->lora_params <= 0) {
        return missing(r, at, "workload.method lora or qlora needs lora_params");
    }
    const struct node *measured = tree_get(at, "measured");
    if (measured != NULL && (s->measured_gpu[0] == '\0' || s->measured_samples_per_s <= 0)) {
        return missing(r, measured, "workload.measured needs gpu and samples_per_s");
    }
    return 0;
}

static int check_serving(const struct reader *r, const struct node *root)
{
    const struct scenario *s = r->s;
    const struct node *at = tree_get(root, "serving");
    if (at == NULL) {
        return missing(r, root, "serving is missing (workload.kind is serving)");
    }
    if (s->demand_file[0] == '\0' && s->demand_shape[0] == '\0') {
        return missing(r, at, "serving.demand is missing: a CSV file or a shape");
    }
    if (s->demand_shape[0] != '\0' && (s->demand_peak < s->demand_base || s->demand_peak <= 0)) {
        return missing(r, at, "serving.demand: peak must be above 0 and at least base");
    }
    if (s->requests_per_s_per_node <= 0) {
        return missing(r, at, "serving.requests_per_s_per_node is missing");
    }
    if (s->min_nodes > s->max_nodes) {
        return missing(r, at, "serving: min_nodes is above max_nodes");
    }
    return 0;
}

static int check_data(const struct reader *r, const struct node *root)
{
    const struct scenario *s = r->s;
    const struct node *list = tree_get(root, "data");
    size_t i = 0;
    for (const struct node_entry *e = list != NULL ? list->first : NULL; e != NULL;
         e = e->next, i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(s->data[i].name, s->data[j].name) == 0) {
                char where[160];
                return gt_fail(r->err, GT_EPARSE, tree_where(e->value, where),
                               "data[%zu].name: \"%s\" is the name of data[%zu] too", i,
                               s->data[i].name, j);
            }
        }
        size_t training = 0;
        for (size_t j = 0; j <= i; j++) {
            training += s->data[j].role == ROLE_CHECKPOINT;
        }
        if (training > 1) {
            return missing(r, e->value, "data: a second set with role checkpoint; one is allowed");
        }
    }
    return 0;
}

int check_scenario(const struct reader *r, const struct node *root)
{
    int rc = r->s->kind == WORKLOAD_SERVING ? check_serving(r, root) : check_work(r, root);
    return rc != 0 ? rc : check_data(r, root);
}
