/* The price table checks itself: what the rules of `prices check` share. prices_check.c drives and
 * writes; prices_check_rows.c looks at one row, prices_check_machines.c at the ways to buy one
 * machine, prices_check_groups.c at machines and regions beside each other. */
#ifndef GPUTIER_PRICES_CHECK_H
#define GPUTIER_PRICES_CHECK_H
#include "prices_filter.h"

enum check_rule {
    RULE_COMMITMENT_ABOVE,
    RULE_GPU_AT_CPU_PRICE,
    RULE_ONE_PRICE,
    RULE_ZERO_PRICE,
    RULE_IMPOSSIBLE_MEMORY,
    RULE_CURRENCY,
    RULE_DATE_AHEAD,
    RULE_NOT_SCALING,
    RULE_OUTLIER,
    RULE_SPOT_ABOVE,
    RULE_SPOT_EQUAL,
    RULE_STATE_CONFLICT,
    RULE_DISAGREE,
    RULE_STALE,
    RULE_UNKNOWN_GPU,
    RULE_COUNT
};
enum check_severity { CHECK_ERROR, CHECK_WARNING, CHECK_INFO };

/* The figures of the rules; the texts of prices_check.c state them. */
#define SAME_PRICE_TYPES 50
#define MEMORY_SLACK     0.08 /* usable against nominal: L4 22.35 of 24 GiB */
#define SLICE_SLACK      0.30 /* MIG and vGPU profiles round their share */
#define GIB_PER_VCPU_MIN 0.2  /* t3.nano has 0.25 */
#define GIB_PER_VCPU_MAX 64   /* u-24tb1 has 55 */
#define MACHINE_GIB_MAX  65536
#define TWICE_COSTS      1.2 /* twice the GPUs at least this factor */
#define PER_GPU_FACTOR   4   /* a GPU-hour of a larger machine at most this factor */
#define OUTLIER_REGIONS  4   /* regions needed for a median */
#define OUTLIER_LIST     3.0
#define OUTLIER_SPOT     10.0
#define FX_SLACK         0.10
#define CHECK_SLACK      1e-6 /* a figure just at a limit: rows hold floats and binary prices */
#define CHECK_DAY        ((int64_t)86400) /* s */
#define STALE_DAYS       180
#define STALE_SPOT_DAYS  30
#define APART_DAYS       90 /* prices of one time */

struct finding {
    uint8_t rule, severity;
    const char *text; /* in the check's arena */
    size_t first, n;  /* of the check's rows */
    size_t count;     /* rows concerned; those past CHECK_ROWS are not listed */
};
#define CHECK_ROWS 20

struct check {
    const struct catalog *c;
    const struct price_filter *filter;
    struct arena *arena;
    size_t keep;              /* findings of one rule that are kept */
    size_t found[RULE_COUNT]; /* all of them */
    size_t errors;
    struct finding *finding;
    size_t n, cap;
    uint32_t *row; /* below offers.n an offer, from there on one of the others */
    size_t n_rows, rows_cap;
    bool failed; /* out of memory */
};
/* Whether the filters let an offer through. */
bool check_wants(const struct check *k, size_t row);
/* Begins a finding whose offending row is `row`; false when the filters leave it out or enough are
 * kept: then add no rows. */
bool check_add(struct check *k, enum check_rule rule, enum check_severity s, size_t row,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Adds a row to the finding begun last. */
void check_row(struct check *k, size_t row);
/* The catalog and the row in it of a finding's row; side is scratch. */
const struct catalog *check_catalog(const struct check *k, uint32_t row, struct catalog *side,
                                    size_t *at);

/* "aws/us-east-1 p4d.24xlarge reserved_1y" and "21.957642 USD"; bufs of these sizes. */
#define CHECK_NAME 320
const char *check_name(const struct catalog *c, size_t row, char buf[CHECK_NAME]);
const char *check_price(const struct catalog *c, size_t row, char buf[64]);
/* USD an hour with upfront parts and packages spread; NAN when no price is known. */
double check_usd(const struct catalog *c, size_t row);

/* Rows by a key of 160 bits. */
struct keyed {
    uint64_t hi, lo;
    uint32_t sub, row;
};
static inline uint64_t key_pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}
void check_sort(struct keyed *v, size_t n);
/* An array for one key per offer; NULL sets failed. Caller frees. */
struct keyed *check_keys(struct check *k);

void check_rows(struct check *k);
void check_machines(struct check *k);
void check_groups(struct check *k);

#endif
