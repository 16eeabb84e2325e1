/* Explanation: one plan as a tree of figures. Each figure has its formula and its inputs; each leaf
 * is a price row (source, SKU, as of), a key of the scenario, a figure of the model, or an
 * assumption. Pure; everything in the arena. */
#ifndef GPUTIER_EXPLAIN_H
#define GPUTIER_EXPLAIN_H
#include "gputier/plan.h"
#include "gputier/scenario.h"

enum explain_kind {
    EXPLAIN_FORMULA,    /* follows from its inputs */
    EXPLAIN_PRICE,      /* a price row */
    EXPLAIN_SCENARIO,   /* stands in the scenario */
    EXPLAIN_MODEL,      /* an answer of the throughput, memory or interruption model */
    EXPLAIN_ASSUMPTION, /* nobody said so */
    EXPLAIN_CHOICE      /* what the plan fixes */
};
const char *explain_kind_name(enum explain_kind k);

struct explain_node {
    const char *name, *value, *unit; /* value is text in full digits, "" = a heading */
    const char *formula;             /* "" for leaves */
    enum explain_kind kind;
    const char *source_id, *sku; /* price rows; else "" */
    int64_t as_of;
    enum origin origin;
    struct explain_node *first, *last, *next;
};
/* The whole tree; s may be NULL (then keys of the scenario are not told from defaults). */
int explain_plan(const struct plan *p, const struct scenario *s, struct arena *a,
                 struct explain_node **root, struct gt_error *err) GT_CHECK;

#endif
