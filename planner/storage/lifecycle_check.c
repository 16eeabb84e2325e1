/* Checks of an S3 lifecycle configuration (R-LC-01, codes L01 … L22) and the effect of one rule on
 * one object (R-S3-16, R-S3-21, R-S3-28). */
#include "gputier/billing.h"
#include "gputier/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Order of the waterfall table of R-S3-16; STANDARD is the row above. */
enum { CLASS_STANDARD, CLASS_IA, CLASS_IT, CLASS_ZIA, CLASS_GIR, CLASS_GFR, CLASS_GDA, CLASSES };
static const char *const class_name[CLASSES] = {
    "STANDARD",   "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA",
    "GLACIER_IR", "GLACIER",     "DEEP_ARCHIVE",
};
static const bool reachable[CLASSES][CLASSES] = {
    /* from STANDARD: */ {0, 1, 1, 1, 1, 1, 1},
    /* STANDARD_IA */ {0, 0, 1, 1, 1, 1, 1},
    /* INTELLIGENT_TIERING */ {0, 0, 0, 1, 1, 1, 1},
    /* ONEZONE_IA */ {0, 0, 0, 0, 0, 1, 1},
    /* GLACIER_IR */ {0, 0, 0, 0, 0, 1, 1},
    /* GLACIER */ {0, 0, 0, 0, 0, 0, 1},
    /* DEEP_ARCHIVE */ {0},
};
/* 48.8 TiB = 10,000 parts of 5 GiB (R-S3-24). */
#define LARGEST_OBJECT (10000.0 * 5 * 1073741824.0)

static int class_of(const char *name)
{
    for (int i = 0; name && i < CLASSES; i++) {
        if (strcmp(name, class_name[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool is_ia(int c)
{
    return c == CLASS_IA || c == CLASS_ZIA;
}

static void mark(bool v[LIFECYCLE_CODES], int code)
{
    v[code - 1] = true;
}

static void check_filter(const struct lifecycle_rule *r, bool v[LIFECYCLE_CODES])
{
    if (r->id && strlen(r->id) > 255) {
        mark(v, 4);
    }
    if (!r->status || (strcmp(r->status, "Enabled") != 0 && strcmp(r->status, "Disabled") != 0)) {
        mark(v, 5);
    }
    if (r->has_filter && r->has_prefix) {
        mark(v, 6);
    }
    if (!r->has_filter && !r->has_prefix) {
        mark(v, 7);
    }
    if (r->criteria_outside_and > 1 || (r->has_and && r->criteria_outside_and > 0)) {
        mark(v, 8);
    }
    bool low = r->has_greater && !(r->greater >= 0 && r->greater <= LARGEST_OBJECT);
    bool high = r->has_less && !(r->less >= 0 && r->less <= LARGEST_OBJECT);
    if (low || high || (r->has_greater && r->has_less && r->greater >= r->less)) {
        mark(v, 9);
    }
    if (r->tag && (r->abort_mpu || r->expired_marker)) {
        mark(v, 10);
    }
}

static void check_actions(const struct lifecycle_rule *r, bool v[LIFECYCLE_CODES])
{
    bool days = false, dates = false;
    for (size_t i = 0; i < r->n_transitions; i++) {
        const struct lifecycle_when *w = &r->transition[i].when;
        if (w->has_days == w->has_date) {
            mark(v, 12);
        }
        days = days || w->has_days;
        dates = dates || w->has_date;
    }
    if (r->expiration) {
        const struct lifecycle_when *w = &r->expire;
        if (w->has_days + w->has_date + r->expired_marker != 1) {
            mark(v, 22);
        }
        if (w->has_days && !(w->days >= 1)) {
            mark(v, 20);
        }
        days = days || w->has_days;
        dates = dates || w->has_date;
    }
    if (days && dates) {
        mark(v, 15);
    }
    if (r->n_transitions == 0 && r->n_noncurrent == 0 && !r->expiration &&
        !r->noncurrent_expiration && !r->abort_mpu) {
        mark(v, 11);
    }
}

static double at_of(const struct lifecycle_when *w)
{
    if (w->has_days) {
        return w->days;
    }
    return w->has_date && w->date != GT_TIME_NONE ? (double)w->date / 86400.0 : (double)NAN;
}

static int by_time(const void *a, const void *b)
{
    const struct lifecycle_transition *const *x = a, *const *y = b;
    double p = at_of(&(*x)->when), q = at_of(&(*y)->when);
    return (p > q) - (p < q);
}

/* L13 … L19 over one list of transitions in time order. */
static void check_order(const struct lifecycle_transition *const *t, size_t n, bool current,
                        bool v[LIFECYCLE_CODES])
{
    int from = CLASS_STANDARD;
    for (size_t i = 0; i < n; i++) {
        int c = class_of(t[i]->storage_class);
        bool by_days = t[i]->when.has_days;
        if (c <= CLASS_STANDARD) {
            mark(v, 13);
        }
        if (by_days && is_ia(c) && t[i]->when.days < 30) {
            mark(v, 14);
        }
        for (size_t k = 0; k < i; k++) {
            if (t[i]->storage_class && t[k]->storage_class &&
                strcmp(t[i]->storage_class, t[k]->storage_class) == 0) {
                mark(v, 16);
            }
            if (current && t[k]->when.has_days == by_days &&
                at_of(&t[k]->when) == at_of(&t[i]->when)) {
                mark(v, 17);
            }
        }
        if (c >= 0 && !reachable[from][c]) {
            mark(v, 18);
        }
        if (i > 0 && is_ia(class_of(t[i - 1]->storage_class)) &&
            t[i - 1]->when.has_days == by_days &&
            at_of(&t[i]->when) - at_of(&t[i - 1]->when) < 30) {
            mark(v, 19);
        }
        from = c >= 0 ? c : from;
    }
}

static void check_transitions(const struct lifecycle_transition *list, size_t n, bool current,
                              bool v[LIFECYCLE_CODES])
{
    const struct lifecycle_transition *t[64];
    n = n < 64 ? n : 64;
    for (size_t i = 0; i < n; i++) {
        t[i] = &list[i];
    }
    qsort(t, n, sizeof *t, by_time);
    check_order(t, n, current, v);
}

static void check_rule(const struct lifecycle_rule *r, bool v[LIFECYCLE_CODES])
{
    check_filter(r, v);
    check_actions(r, v);
    check_transitions(r->transition, r->n_transitions, true, v);
    check_transitions(r->noncurrent, r->n_noncurrent, false, v);
    double last = -1;
    for (size_t i = 0; i < r->n_transitions; i++) {
        const struct lifecycle_when *w = &r->transition[i].when;
        if (w->has_days == r->expire.has_days && at_of(w) > last) {
            last = at_of(w);
        }
    }
    bool timed = r->expire.has_days || r->expire.has_date;
    if (r->expiration && timed && last >= 0 && at_of(&r->expire) <= last) {
        mark(v, 21);
    }
}

void lifecycle_check(const struct lifecycle_rule *rule, size_t n, double rule_count,
                     bool violated[LIFECYCLE_CODES])
{
    memset(violated, 0, LIFECYCLE_CODES * sizeof *violated);
    if (rule_count > 1000) {
        mark(violated, 1);
    }
    if (rule_count < 1) {
        mark(violated, 2);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i && rule[i].id; k++) {
            if (rule[k].id && strcmp(rule[i].id, rule[k].id) == 0) {
                mark(violated, 3);
            }
        }
        check_rule(&rule[i], violated);
    }
}

const char *lifecycle_code_text(int code)
{
    static const char *const text[LIFECYCLE_CODES] = {
        "L01-more-than-1000-rules",
        "L02-no-rule",
        "L03-duplicate-id",
        "L04-id-longer-than-255",
        "L05-status-not-enabled-or-disabled",
        "L06-filter-and-prefix",
        "L07-neither-filter-nor-prefix",
        "L08-more-than-one-criterion-without-And",
        "L09-size-limits",
        "L10-tag-filter-with-mpu-or-marker",
        "L11-no-action",
        "L12-not-exactly-one-of-days-and-date",
        "L13-unknown-or-standard-class",
        "L14-ia-before-30-days",
        "L15-mixed-days-and-dates",
        "L16-class-twice",
        "L17-two-transitions-on-one-day",
        "L18-not-in-waterfall",
        "L19-less-than-30-days-after-ia",
        "L20-expiration-before-day-1",
        "L21-expiration-not-after-last-transition",
        "L22-expiration-not-exactly-one-of-days-date-marker",
    };
    return code >= 1 && code <= LIFECYCLE_CODES ? text[code - 1] : "";
}

int64_t lifecycle_instant(int64_t created, int days)
{
    int64_t t = created + (int64_t)days * 86400, rest = t % 86400;
    if (rest < 0) {
        rest += 86400;
    }
    return rest == 0 ? t : t - rest + 86400;
}

bool lifecycle_moves(const struct lifecycle_effect *e)
{
    if (e->has_greater || e->has_less) { /* a rule's own size filter decides alone (strict) */
        return (!e->has_greater || e->size > e->greater) && (!e->has_less || e->size < e->less);
    }
    if (e->size >= 131072) {
        return true;
    }
    int c = class_of(e->storage_class);
    return e->legacy_default && (c == CLASS_GFR || c == CLASS_GDA);
}
