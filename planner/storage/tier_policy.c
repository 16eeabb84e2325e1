/* The best plain lifecycle policy of S3, Cloud Storage, Azure or EFS with at most N rules.
 *
 * The family. A rule holds for everything below one prefix (the whole bucket, a prefix of the
 * listing, or a folder in which listed prefixes part) and, in S3 alone, for an interval of sizes
 * with ends at 1, 64 KiB, 128 KiB, 1 MiB and 16 MiB. It has one to three transitions for current
 * objects, and others or none for old versions, in the order and at the distances that the checks
 * of section 11 allow; on days 0, 30, 60, 90, 180, 365 and the up to six days at which the groups'
 * own cheapest paths leave a tier, those with the largest savings. Rules are disjoint: no object
 * falls under two, so that nothing rests on how conflicts are decided (R-S3-23); a rule for the
 * bucket with exceptions below is therefore not in the family, rules by disjoint sizes are. EFS has
 * one rule for the file system: the days to IA and, later, to Archive, of those that it knows;
 * files that are read where the rule sends them are priced to stay there. S3 and Azure count a rule
 * with all its transitions as one, Cloud Storage each action (R-LC-05).
 *
 * The proof that no policy of the family saves more is in policy_tree.c. The plan's own optimum is
 * a lower bound on every policy, which gives the gap. Small objects in S3: an explicit size filter
 * overrides the default of 128 KiB (R-S3-21), so every rule has one. */
#include "policy.h"
#include <stdlib.h>
#include <string.h>

#define S3_RULES    1000 /* L01 */
#define OTHER_RULES 100  /* R-LC-04, R-LC-05 */

static int most_rules(const struct tier_model *m, const struct tier_options *o)
{
    int asked = o->max_rules > 0 ? o->max_rules : 10;
    int most = m->terms->lifecycle == LIFECYCLE_S3    ? S3_RULES
               : m->terms->lifecycle == LIFECYCLE_EFS ? 1
                                                      : OTHER_RULES;
    return asked < most ? asked : most;
}

static int write_rules(const struct policy_search *s, const struct policy_choice *list, size_t n,
                       struct tier_plan *plan)
{
    struct tier_rule *rule = arena_array(plan->arena, n * 2 * POLICY_STEPS + 1, sizeof *rule);
    if (!rule) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        char *prefix = arena_alloc(plan->arena, list[i].len + 1);
        if (!prefix) {
            return GT_ENOMEM;
        }
        memcpy(prefix, list[i].prefix, list[i].len);
        prefix[list[i].len] = '\0';
        for (int kind = 0; kind < 2; kind++) {
            const struct schedule *x =
                list[i].schedule[kind] < 0 ? NULL : &s->schedule[list[i].schedule[kind]];
            for (int k = 0; x && k < x->n; k++) {
                rule[plan->n_rules++] =
                    (struct tier_rule){.prefix = prefix,
                                       .to_tier = s->m->tier[x->tier[k]].rule->tier,
                                       .days = x->days[k],
                                       .min_bytes = policy_edge(s->m, list[i].low),
                                       .max_bytes = policy_edge(s->m, list[i].high + 1),
                                       .noncurrent = kind == 1};
            }
        }
    }
    plan->rule = rule;
    return 0;
}

int tier_policy(const struct tier_model *m, const struct tier_group *group,
                const struct tm_group *g, size_t n, const struct tier_options *o,
                struct tier_plan *plan, struct gt_error *err)
{
    struct policy_search *s = calloc(1, sizeof *s);
    struct policy_choice *list = NULL;
    size_t chosen = 0;
    int rc = GT_ENOMEM;
    if (s) {
        s->m = m;
        s->horizon = o->horizon_months;
        rc = policy_make_cells(s, group, g, n, plan);
        if (rc == 0) {
            policy_make_schedules(s, plan);
            rc = policy_find(s, most_rules(m, o), &list, &chosen);
        }
        rc = rc < 0 ? rc : write_rules(s, list, chosen, plan);
        free(s->cell);
        free(s);
    }
    free(list);
    return rc < 0 ? gt_fail(err, rc, "", "out of memory") : 0;
}

static bool covers(const struct tier_model *m, const struct tier_rule *r,
                   const struct tier_group *g, int size_class)
{
    uint64_t edge = policy_edge(m, size_class);
    return r->noncurrent == (g->noncurrent && m->terms->lifecycle != LIFECYCLE_EFS) &&
           strncmp(g->name, r->prefix, strlen(r->prefix)) == 0 && edge >= r->min_bytes &&
           (r->max_bytes == 0 || edge < r->max_bytes);
}

size_t policy_path(const struct tier_model *m, const struct tier_rule *rule, size_t n_rules,
                   const struct tier_group *group, const struct tm_group *g, int horizon,
                   struct tm_segment *out)
{
    struct schedule s = {.n = 0};
    int size_class = policy_class(m, group);
    for (size_t i = 0; i < n_rules && s.n < POLICY_STEPS && size_class >= 0; i++) {
        if (covers(m, &rule[i], group, size_class)) {
            s.tier[s.n] = (int)(storage_rule_find(rule[i].to_tier) - m->tier[0].rule);
            s.days[s.n++] = rule[i].days;
        }
    }
    int tier[POLICY_STEPS], month[POLICY_STEPS];
    int k = policy_acting(m, &s, g, policy_age(m, group), horizon, tier, month);
    size_t n = 0;
    int at = g->start, from = 0;
    for (int i = 0; i < k; i++) {
        if (month[i] > from) {
            out[n++] = (struct tm_segment){at, from, month[i]};
        }
        at = tier[i];
        from = month[i];
    }
    out[n++] = (struct tm_segment){at, from, horizon};
    return n;
}
