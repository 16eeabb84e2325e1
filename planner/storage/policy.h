/* Inside planner/storage: what the search for a lifecycle policy is made of. policy_cells.c prices
 * what a schedule of transitions does with alike objects, policy_tree.c finds the rules,
 * tier_policy.c states the family and writes the answer. */
#ifndef GPUTIER_POLICY_H
#define GPUTIER_POLICY_H
#include "tier_model.h"

#define POLICY_STEPS     3 /* transitions of one rule */
#define POLICY_SCHEDULES 4096
#define POLICY_CLASSES   5 /* of sizes that a filter can tell apart */
#define POLICY_DAYS      12

struct schedule {
    int tier[POLICY_STEPS], days[POLICY_STEPS], n;
};
/* Groups that every rule of the family treats alike, summed. */
struct cell {
    const char *prefix;
    double age; /* days that the vendor's rule counts from; the idle days in EFS */
    int size_class;
    bool noncurrent;
    struct tm_group q;
    double possible; /* what the unrestricted plan saves here */
};
struct policy_search {
    const struct tier_model *m;
    int horizon;
    struct cell *cell; /* sorted by prefix */
    size_t n_cells;
    struct schedule schedule[POLICY_SCHEDULES];
    size_t n_schedules;
};
/* One rule chosen: what it does with current objects and with old versions, -1 = nothing. */
struct policy_choice {
    const char *prefix;
    size_t len;
    int low, high; /* size classes, both inclusive */
    int schedule[2];
};

/* -1: no rule can cover these sizes. */
int policy_class(const struct tier_model *m, const struct tier_group *g);
/* Least size of a class; of the one past the last 0 = no end. */
uint64_t policy_edge(const struct tier_model *m, int size_class);
int policy_classes(const struct tier_model *m);
/* Days that the vendor's rule counts of this group's age. */
double policy_age(const struct tier_model *m, const struct tier_group *g);
/* Transitions that act on objects of that start and age, in months; their number. */
int policy_acting(const struct tier_model *m, const struct schedule *s, const struct tm_group *g,
                  double age, int horizon, int *tier, int *month);
int policy_make_cells(struct policy_search *s, const struct tier_group *group,
                      const struct tm_group *g, size_t n, const struct tier_plan *plan);
void policy_make_schedules(struct policy_search *s, const struct tier_plan *plan);

/* What each schedule saves in one cell, added to sum[schedule]; false: out of memory. */
struct policy_pricer;
struct policy_pricer *policy_pricer_new(const struct policy_search *s);
void policy_pricer_free(struct policy_pricer *p);
bool policy_add_savings(struct policy_pricer *p, const struct cell *c, double *sum);

/* At most max_rules rules that save most; the list is malloc'ed. GT_ENOMEM. */
int policy_find(const struct policy_search *s, int max_rules, struct policy_choice **list,
                size_t *n);

#endif
