/* Names of the offer's enumerations and of the vendors (product.md section 7). */
#include "gputier/offer.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const purchase_names[PURCHASE_COUNT] = {
    [PURCHASE_ON_DEMAND] = "on_demand",
    [PURCHASE_SPOT] = "spot",
    [PURCHASE_LOW_PRIORITY] = "low_priority",
    [PURCHASE_MONTHLY] = "monthly",
    [PURCHASE_RESERVED_1Y] = "reserved_1y",
    [PURCHASE_RESERVED_3Y] = "reserved_3y",
    [PURCHASE_SAVINGS_PLAN_1Y] = "savings_plan_1y",
    [PURCHASE_SAVINGS_PLAN_3Y] = "savings_plan_3y",
    [PURCHASE_COMMITTED_USE_1Y] = "committed_use_1y",
    [PURCHASE_COMMITTED_USE_3Y] = "committed_use_3y",
    [PURCHASE_CAPACITY_BLOCK] = "capacity_block",
    [PURCHASE_DEV_TEST] = "dev_test",
};
/* Index 0 of the next two stands for "null": it has no text of its own. */
static const char *const payment_names[] = {NULL, "none", "partial", "all"};
static const char *const class_names[] = {NULL, "standard", "convertible"};
static const char *const state_names[] = {"known", "none", "sold_otherwise"};
static const char *const origin_names[] = {"bundled", "fetched", "imported"};

static const char *const vendors[] = {
    "aws",        "aws-cn",     "azure",      "gcp",          "oci",     "lambda",  "runpod",
    "vast",       "nebius",     "coreweave",  "digitalocean", "vultr",   "verda",   "cudo",
    "fluidstack", "hyperstack", "jarvislabs", "hyperbolic",   "alibaba", "tencent", "huawei",
};
static const struct {
    const char *alias, *vendor;
} vendor_aliases[] = {{"aliyun", "alibaba"}};

/* Index of name in names[0..n), -1 if none. */
static int find(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; name != NULL && i < n; i++) {
        if (names[i] != NULL && strcmp(names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *purchase_name(enum purchase p)
{
    return (size_t)p < COUNT(purchase_names) ? purchase_names[p] : "?";
}

const char *payment_name(enum payment p)
{
    return (size_t)p < COUNT(payment_names) ? payment_names[p] : NULL;
}

const char *offering_class_name(enum offering_class c)
{
    return (size_t)c < COUNT(class_names) ? class_names[c] : NULL;
}

const char *price_state_name(enum price_state s)
{
    return (size_t)s < COUNT(state_names) ? state_names[s] : "?";
}

const char *origin_name(enum origin o)
{
    return (size_t)o < COUNT(origin_names) ? origin_names[o] : "?";
}

/* "SPOT", "On-Demand" and "on demand" say what "spot" and "on_demand" say. */
static bool same_words(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "-_ ");
        b += strspn(b, "-_ ");
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
        if (x != *b || x == '\0') {
            return x == *b;
        }
    }
}

int purchase_from_name(const char *name, enum purchase *out)
{
    for (size_t i = 0; name != NULL && i < COUNT(purchase_names); i++) {
        if (same_words(name, purchase_names[i])) {
            *out = (enum purchase)i;
            return 0;
        }
    }
    return GT_ENOTFOUND;
}

int payment_from_name(const char *name, enum payment *out)
{
    if (name == NULL || name[0] == '\0' || strcmp(name, "null") == 0) {
        *out = PAYMENT_NULL;
        return 0;
    }
    int i = find(payment_names, COUNT(payment_names), name);
    if (i < 0) {
        return GT_ENOTFOUND;
    }
    *out = (enum payment)i;
    return 0;
}

int offering_class_from_name(const char *name, enum offering_class *out)
{
    if (name == NULL || name[0] == '\0' || strcmp(name, "null") == 0) {
        *out = OFFERING_NULL;
        return 0;
    }
    int i = find(class_names, COUNT(class_names), name);
    if (i < 0) {
        return GT_ENOTFOUND;
    }
    *out = (enum offering_class)i;
    return 0;
}

int price_state_from_name(const char *name, enum price_state *out)
{
    int i = find(state_names, COUNT(state_names), name);
    if (i < 0) {
        return GT_ENOTFOUND;
    }
    *out = (enum price_state)i;
    return 0;
}

bool purchase_is_commitment(enum purchase p)
{
    switch (p) {
    case PURCHASE_RESERVED_1Y:
    case PURCHASE_RESERVED_3Y:
    case PURCHASE_SAVINGS_PLAN_1Y:
    case PURCHASE_SAVINGS_PLAN_3Y:
    case PURCHASE_COMMITTED_USE_1Y:
    case PURCHASE_COMMITTED_USE_3Y:
        return true;
    case PURCHASE_ON_DEMAND:
    case PURCHASE_SPOT:
    case PURCHASE_LOW_PRIORITY:
    case PURCHASE_MONTHLY:
    case PURCHASE_CAPACITY_BLOCK:
    case PURCHASE_DEV_TEST:
    case PURCHASE_COUNT:
        return false;
    }
    return false;
}

const char *vendor_canonical(const char *name)
{
    if (name == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < COUNT(vendors); i++) {
        if (text_ieq(vendors[i], name)) {
            return vendors[i];
        }
    }
    for (size_t i = 0; i < COUNT(vendor_aliases); i++) {
        if (text_ieq(vendor_aliases[i].alias, name)) {
            return vendor_aliases[i].vendor;
        }
    }
    return NULL;
}

const char *vendor_at(int i)
{
    return i >= 0 && (size_t)i < COUNT(vendors) ? vendors[i] : NULL;
}

const char *vendor_nearest(const char *name)
{
    const char *best = "aws";
    size_t least = SIZE_MAX;
    for (int i = 0; vendor_at(i) != NULL; i++) {
        size_t d = text_distance(name, vendor_at(i));
        if (d < least) {
            least = d;
            best = vendor_at(i);
        }
    }
    return best;
}

int64_t purchase_term_hours(enum purchase p)
{
    switch (p) {
    case PURCHASE_RESERVED_1Y:
    case PURCHASE_SAVINGS_PLAN_1Y:
    case PURCHASE_COMMITTED_USE_1Y:
        return GT_HOURS_PER_YEAR;
    case PURCHASE_RESERVED_3Y:
    case PURCHASE_SAVINGS_PLAN_3Y:
    case PURCHASE_COMMITTED_USE_3Y:
        return 3 * GT_HOURS_PER_YEAR;
    default:
        return 0;
    }
}
