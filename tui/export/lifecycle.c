/* s3-lifecycle, gcs-lifecycle, azure-lifecycle and efs-lifecycle: the rules that make the plan's
 * data sets cheapest over the time they are kept, from the tiering engine that `tier` uses. A data
 * set NAME is taken to lie under the prefix NAME/ of one bucket, or in a container NAME of one
 * storage account; a file system has one rule for all that is on it. */
#include "../cli/tier_input.h"
#include "export.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_MAX     1024 /* bytes of an object's key */
#define HORIZON_MONTHS 36

struct work {
    const struct export_input *in;
    enum lifecycle_kind kind;
    enum storage_product product; /* of the data sets found */
    struct tier_input sets;
    /* One a data set, NULL = not of this product; of a file system the first holds all. */
    struct tier_plan **plan;
    bool *planned;
    const char *vendor, *region;
    size_t n_rules, n_planned;
    int months; /* that a file system's policy is planned for */
    money cost, saving;
    const char *currency;
};

static const char *title(const struct work *w)
{
    static const char *const names[] = {"lifecycle", "s3-lifecycle", "efs-lifecycle",
                                        "gcs-lifecycle", "azure-lifecycle"};
    return names[w->kind];
}

static const char *store(const struct work *w)
{
    static const char *const names[] = {"no store", "S3 of AWS", "EFS of AWS", "Cloud Storage",
                                        "Azure Blob"};
    return names[w->kind];
}

/* Where the data set lives longest by the plan; as the scenario says where the plan says nothing.
 */
static const char *tier_of(const struct plan *p, const struct scenario_data *d)
{
    const char *tier = d->tier;
    int months = -1;
    for (size_t i = 0; i < p->n_placement; i++) {
        const struct plan_placement *x = &p->placement[i];
        if (strcmp(x->data_set, d->name) == 0 && x->to_month - x->from_month > months) {
            months = x->to_month - x->from_month;
            tier = x->tier;
        }
    }
    return tier;
}

static bool is_wanted(const struct work *w, const struct scenario_data *d)
{
    const struct storage_rule *r = storage_rule_find(tier_of(w->in->plan, d));
    const char *vendor = d->vendor && d->vendor[0] ? d->vendor : w->in->plan->vendor;
    const struct storage_terms *t = r ? storage_terms(r->product) : NULL;
    return t && t->lifecycle == w->kind && strncmp(vendor, t->vendor, strlen(t->vendor)) == 0;
}

/* Data that somebody reads are never sent where they must be restored first. */
static double wait_of(const struct scenario_data *d)
{
    bool used =
        d->reads_per_month > 0 || d->role == ROLE_TRAINING_DATA || d->role == ROLE_CHECKPOINT;
    return used ? 60 : (double)INFINITY;
}

/* EFS counts days since the last access: what is read every month is never idle for long. */
static bool is_idle(const struct work *w, size_t i)
{
    return w->kind != LIFECYCLE_EFS || w->sets.group[i].reads_per_month < 1;
}

/* One bucket or file system lies in one region. */
static int same_place(struct work *w, const struct scenario_data *d, struct gt_error *err)
{
    bool placed = d->vendor && d->vendor[0] && d->region && d->region[0];
    const char *vendor = placed ? d->vendor : w->in->plan->vendor;
    const char *region = placed ? d->region : w->in->plan->region;
    if (w->region && (strcmp(w->region, region) != 0 || strcmp(w->vendor, vendor) != 0)) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "%s: data sets live in %.60s and %.60s, one file serves one place; nothing "
                       "is written",
                       title(w), w->region, region);
    }
    w->vendor = vendor;
    w->region = region;
    return 0;
}

/* The data set's group as the engine takes it. */
static int take_set(struct work *w, size_t i, const struct scenario_data *d, struct gt_error *err)
{
    struct tier_group *g = &w->sets.group[i];
    size_t len = strlen(d->name);
    char *prefix =
        arena_printf(w->sets.arena, "%s%s", d->name, len && d->name[len - 1] == '/' ? "" : "/");
    int rc = same_place(w, d, err);
    if (rc) {
        return rc;
    }
    if (!prefix) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (w->kind != LIFECYCLE_EFS && (len == 0 || strlen(prefix) > PREFIX_MAX)) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "%s: the name of data set %zu is no prefix: %zu bytes, allowed 1 to %d; "
                       "nothing is written",
                       title(w), i + 1, len, PREFIX_MAX - 1);
    }
    g->name = prefix;
    g->tier = tier_of(w->in->plan, d);
    w->planned[i] = true;
    return 0;
}

static int plan_groups(struct work *w, const struct tier_group *g, size_t n,
                       const struct scenario_data *d, double keep_months, struct tier_plan **plan,
                       struct gt_error *err)
{
    struct tier_options o = {.horizon_months = HORIZON_MONTHS,
                             .max_wait_s = wait_of(d),
                             .from_tier = g->tier,
                             .max_rules = 10,
                             .search_policy = true,
                             .vendor = w->vendor,
                             .region = w->region};
    if (keep_months > 0) {
        o.horizon_months = (int)fmin(1200, ceil(keep_months));
        o.delete_at_end = true;
    }
    int rc = tier_optimise(g, n, w->in->catalog, &o, plan, err);
    return rc == GT_EUNSUPPORTED || rc == GT_ENOTFOUND
               ? gt_fail(err, GT_EINFEASIBLE, "",
                         "%s: %.60s: no prices or rules for its tier; "
                         "nothing is written",
                         title(w), d->name)
               : rc;
}

/* What the exported rules cost, not the ideal path. */
static int sum_up(struct work *w, const struct tier_plan *p, struct gt_error *err)
{
    int rc = money_add(w->cost, p->policy_cost, &w->cost);
    rc = rc ? rc : money_add(w->saving, p->baseline - p->policy_cost, &w->saving);
    w->n_rules += p->n_rules;
    w->product = p->product;
    w->currency = p->currency;
    return rc ? gt_fail(err, rc, "", "a sum passes the range of money") : 0;
}

/* A file system has one rule for all that is on it, so all is planned at once, over the time that
 * the first to go is kept. */
static int plan_file_system(struct work *w, struct gt_error *err)
{
    const struct scenario *s = w->in->ref->scenario;
    struct tier_group *all = arena_array(w->sets.arena, w->sets.n + 1, sizeof *all);
    double keep = 0;
    size_t n = 0, first = 0;
    for (size_t i = 0; all && i < s->n_data; i++) {
        if (w->planned[i]) {
            double months = s->data[i].keep_months;
            keep = months > 0 && (keep <= 0 || months < keep) ? months : keep;
            first = n == 0 ? i : first;
            all[n++] = w->sets.group[i];
        }
    }
    if (!all) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    w->months = keep > 0 ? (int)fmin(1200, ceil(keep)) : HORIZON_MONTHS;
    return plan_groups(w, all, n, &s->data[first], keep, &w->plan[first], err);
}

static int plan_all(struct work *w, struct gt_error *err)
{
    const struct scenario *s = w->in->ref->scenario;
    int rc = 0;
    size_t busy = 0;
    for (size_t i = 0; i < s->n_data && rc == 0; i++) {
        if (is_wanted(w, &s->data[i])) {
            busy += !is_idle(w, i);
            w->n_planned++;
            rc = take_set(w, i, &s->data[i], err);
        }
    }
    if (rc == 0 && w->n_planned == 0) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "%s: no data set of the plan lives in %s; nothing is written", title(w),
                       store(w));
    }
    if (rc == 0 && w->n_planned == busy) {
        return gt_fail(
            err, GT_EINFEASIBLE, "",
            "%s: what lives in EFS is read every month, no rule by last access moves it; "
            "nothing is written",
            title(w));
    }
    if (rc == 0 && w->kind == LIFECYCLE_EFS) {
        rc = plan_file_system(w, err);
    }
    for (size_t i = 0; i < s->n_data && rc == 0; i++) {
        if (w->planned[i] && w->kind != LIFECYCLE_EFS) {
            rc = plan_groups(w, &w->sets.group[i], 1, &s->data[i], s->data[i].keep_months,
                             &w->plan[i], err);
        }
        rc = rc || !w->plan[i] ? rc : sum_up(w, w->plan[i], err);
    }
    return rc;
}

/* The rules of all data sets in one plan, which the engine's writer takes. In a bucket each data
 * set was planned alone, where a rule for the whole bucket costs the same: its rules keep to its
 * prefix. */
static int join(const struct work *w, struct tier_plan *all, struct gt_error *err)
{
    struct tier_rule *rule = arena_array(w->sets.arena, w->n_rules + 1, sizeof *rule);
    if (!rule) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *all = (struct tier_plan){.product = w->product, .rule = rule};
    for (size_t i = 0; i < w->sets.n; i++) {
        const struct tier_plan *p = w->plan[i];
        all->read_there = all->read_there || (p && p->read_there);
        for (size_t k = 0; p && k < p->n_rules; k++) {
            rule[all->n_rules] = p->rule[k];
            rule[all->n_rules++].prefix = w->kind == LIFECYCLE_EFS ? "" : w->sets.group[i].name;
        }
    }
    return 0;
}

static void remarks(const struct work *w, bool read_there)
{
    struct buf *say = w->in->say;
    char cost[MONEY_TEXT], saving[MONEY_TEXT], kept[48] = "while they are kept";
    int digits = money_minor_digits(w->currency);
    if (w->kind == LIFECYCLE_EFS) {
        snprintf(kept, sizeof kept, "over %d months", w->months);
    }
    buf_addf(say, "with these rules the data sets cost %s %s %s, %s %s less than staying\n",
             money_format_fixed(w->cost, digits, true, cost), w->currency, kept,
             money_format_fixed(w->saving, digits, true, saving), w->currency);
    if (w->kind == LIFECYCLE_AZURE) {
        buf_adds(say, "each rule takes data set NAME to lie in a container NAME of one storage "
                      "account; a write replaces the account's whole policy, so merge it with "
                      "rules that are there\n");
    } else if (w->kind != LIFECYCLE_EFS) {
        buf_adds(say, "each rule takes data set NAME to lie under the prefix NAME/ of one bucket; "
                      "a put replaces the bucket's whole configuration, so merge it with rules "
                      "that are there\n");
    } else {
        buf_addf(say,
                 "the rule holds for the whole file system and counts days since the last "
                 "access; a file %s; Archive needs Elastic throughput\n",
                 read_there ? "that was moved stays there when it is read"
                            : "comes back at its first read");
    }
    buf_adds(say,
             "data that are read stay readable at once; what nobody reads may need a restore\n");
    const struct scenario *s = w->in->ref->scenario;
    for (size_t i = 0; i < s->n_data; i++) {
        if (w->planned[i] && s->data[i].files == 0) {
            buf_addf(say, "%s: no number of files is given, taken as one large object\n",
                     s->data[i].name);
        }
        if (w->planned[i] && s->data[i].growth_bytes_per_month > 0) {
            buf_addf(say, "%s grows: planned for the size it has today\n", s->data[i].name);
        }
    }
}

static int write_kind(const struct export_input *in, enum lifecycle_kind kind, struct buf *out,
                      struct gt_error *err)
{
    struct work w = {.in = in, .kind = kind};
    struct tier_plan all;
    if (!in->ref->scenario || in->ref->scenario->n_data == 0) {
        return gt_fail(err, GT_EINFEASIBLE, "", "%s: the plan has no data sets; nothing is written",
                       title(&w));
    }
    int rc = tier_input_scenario(in->ref->scenario, &w.sets, err);
    if (rc) {
        return rc;
    }
    w.plan = calloc(w.sets.n + 1, sizeof(struct tier_plan *));
    w.planned = calloc(w.sets.n + 1, sizeof *w.planned);
    rc = w.plan && w.planned ? plan_all(&w, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    rc = rc ? rc : join(&w, &all, err);
    if (rc == 0) {
        struct gt_error why = {0};
        rc = tier_write_lifecycle(&all, out, &why);
        if (rc) {
            rc = gt_fail(err, rc == GT_EUNSUPPORTED ? GT_EINFEASIBLE : rc, "", "%s: %s", title(&w),
                         why.text[0] ? why.text : "the file does not fit in memory");
        } else {
            remarks(&w, all.read_there);
        }
    }
    for (size_t i = 0; w.plan && i < w.sets.n; i++) {
        tier_plan_free(w.plan[i]);
    }
    free(w.plan);
    free(w.planned);
    tier_input_release(&w.sets);
    return rc;
}

static int write_s3(const struct export_input *in, struct buf *out, struct gt_error *err)
{
    return write_kind(in, LIFECYCLE_S3, out, err);
}

static int write_efs(const struct export_input *in, struct buf *out, struct gt_error *err)
{
    return write_kind(in, LIFECYCLE_EFS, out, err);
}

static int write_gcs(const struct export_input *in, struct buf *out, struct gt_error *err)
{
    return write_kind(in, LIFECYCLE_GCS, out, err);
}

static int write_azure(const struct export_input *in, struct buf *out, struct gt_error *err)
{
    return write_kind(in, LIFECYCLE_AZURE, out, err);
}

const struct export_kind export_s3_lifecycle = {
    "s3-lifecycle", "input of aws s3api put-bucket-lifecycle-configuration", write_s3};
const struct export_kind export_efs_lifecycle = {
    "efs-lifecycle", "input of aws efs put-lifecycle-configuration --lifecycle-policies",
    write_efs};
const struct export_kind export_gcs_lifecycle = {
    "gcs-lifecycle", "input of gcloud storage buckets update --lifecycle-file", write_gcs};
const struct export_kind export_azure_lifecycle = {
    "azure-lifecycle", "input of az storage account management-policy create --policy",
    write_azure};
