/* Storage tiering: billing rules as data, exact cheapest path per group, lifecycle files.
 * Rules: shared/docs/storage-tiers.md (R-… codes); tables in planner/storage/. */
#ifndef GPUTIER_TIER_H
#define GPUTIER_TIER_H
#include "gputier/arena.h"
#include "gputier/buf.h"
#include "gputier/catalog.h"
#include "gputier/error.h"
#include "gputier/money.h"
#include "gputier/savings.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum storage_product {
    PRODUCT_S3,
    PRODUCT_EFS,
    PRODUCT_AZURE_LRS,
    PRODUCT_AZURE_ZRS,
    PRODUCT_AZURE_GRS,
    PRODUCT_GCS,
    PRODUCT_OCI,
    PRODUCT_R2,
    PRODUCT_WASABI,
    PRODUCT_B2,
    PRODUCT_OSS,
    PRODUCT_COS,
    PRODUCT_OBS,
    PRODUCT_FIRST_VOLUME, /* from here on: bought as volumes, disks, file systems */
    PRODUCT_EBS = PRODUCT_FIRST_VOLUME,
    PRODUCT_FSX_LUSTRE,
    PRODUCT_FSX_SCRATCH,
    PRODUCT_LOCAL_NVME,
    PRODUCT_AZURE_DISK,
    PRODUCT_AZURE_FILES_LRS,
    PRODUCT_AZURE_FILES_ZRS,
    PRODUCT_AZURE_FILES_GRS,
    PRODUCT_AZURE_FILES_GZRS,
    PRODUCT_AZURE_PREMIUM_LRS,
    PRODUCT_AZURE_PREMIUM_ZRS,
    PRODUCT_GCP_DISK,
    PRODUCT_FILESTORE,
    PRODUCT_OCI_BLOCK,
    PRODUCT_OCI_FILE,
    PRODUCT_COUNT
};
/* Bytes a second that a volume or share of some size reads at (R-THR-01): base + per_gib x GiB, at
 * most `most` (0 = no end); `large` above large_gib. */
struct storage_speed {
    double base, per_gib, most, large_gib, large;
};
/* A step of an automatic tier: what nobody read for so many whole months of 30 days costs what
 * `component` of `tier` does. */
struct storage_step {
    int months;
    const char *tier, *component;
};
#define STORAGE_STEPS 3
/* What a tier's vendor rules say, whatever the price (R-… codes of storage-tiers.md). */
struct storage_rule {
    const char *tier;
    enum storage_product product;
    const char *class_name; /* the vendor's spelling in inventories and lifecycle files */
    int min_days;           /* leaving earlier pays the rest */
    uint32_t min_bytes;     /* billed at least, per object */
    uint32_t overhead_tier; /* extra bytes per object at the tier's own rate */
    uint32_t overhead_hot;  /* extra bytes per object at the hot tier's rate */
    int min_age_days;       /* objects younger than this may not enter by lifecycle */
    double latency_s;       /* to the first byte, slowest standard retrieval */
    bool archive;           /* must be restored before it can be read */
    bool single_zone;       /* less durable than the rest: never proposed as a target */
    bool automatic;         /* moves objects between steps by itself: `step` */
    uint32_t down;          /* tiers that lifecycle can move to: 1 << index in its product */
    const char *rule;
    bool from_creation;       /* min_days count from the object's creation, not from its entry */
    bool restore_fee;         /* a restore is a priced request of its own */
    bool restore_copy;        /* what was restored stands in the hot tier for some days as well */
    uint32_t later_min_bytes; /* billed at least from tier_options.min_size_month on */
    uint32_t object_step;     /* each object is billed up to the next multiple (R-EFS-02) */
    bool volume;              /* all objects are one volume: no requests, reads are free */
    /* A volume is bought in whole steps from least_bytes on; larger than most_bytes: several. */
    uint64_t step_bytes, least_bytes, most_bytes;
    uint32_t iops; /* paid for each volume at least (R-EBS-04) */
    uint32_t
        read_least; /* what is read has objects of this mean size; UINT32_MAX = is never read */
    bool unmounted; /* no volume any more: a target only where a longest wait is given */
    bool scratch;   /* lost with its machine or server: never proposed as a target */
    struct {
        const char *tier, *component;
    } price; /* where the price of its storage stands, if not at "storage" of its own */
    struct storage_speed speed;
    struct storage_step step[STORAGE_STEPS]; /* months ascending; 0 = no more */
    bool whole_bucket; /* a setting of a bucket: data are copied into one, no rule moves them out */
};
/* What holds for all tiers of one product. */
enum transition_fee {
    FEE_TRANSITION, /* its own price, of the tier moved to */
    FEE_SOURCE_PUT, /* a write at the price of the tier left (R-OSS-01) */
    FEE_TARGET_PUT, /* a write at the price of the tier moved to */
    FEE_COPY_DAY,   /* none, but old and new stand side by side for a day */
};
enum storage_month {
    MONTH_CALENDAR,  /* its own hours: a period of 30 days counts as one */
    MONTH_30_DAYS,   /* 720 hours whatever the calendar says (R-EBS-02) */
    MONTH_730_HOURS, /* priced by the hour: 30 days are 720 of 730 (R-GCS-01) */
};
enum move_up {
    UP_COPY,     /* read, write to the hot tier */
    UP_SET_TIER, /* read; the tier is set without a write (R-AZ-04) */
    UP_IN_PLACE, /* nothing but what the tier asks for reads */
};
enum lifecycle_kind { LIFECYCLE_NONE, LIFECYCLE_S3, LIFECYCLE_EFS, LIFECYCLE_GCS, LIFECYCLE_AZURE };
struct storage_terms {
    const char *name, *vendor, *region; /* as --from takes it; default region */
    const char *title;
    enum transition_fee fee;
    enum move_up up;
    enum lifecycle_kind lifecycle; /* the file that can hold a policy */
    bool early_free;               /* a move by lifecycle pays nothing for a minimum not served */
    bool one_request_price;        /* requests cost in every tier what they cost in the hot one */
    enum storage_month month;
    uint64_t min_account_bytes; /* billed at least, all objects together */
    uint64_t account_step;      /* and what is more in whole multiples of this; 0 = to the byte */
    const char *note;           /* what people should know; NULL = nothing */
};
const struct storage_terms *storage_terms(enum storage_product p);
int storage_product_find(const char *name); /* by terms.name; -1 = unknown */
/* A tier of one product by tier name or the vendor's class name (Cool, NEARLINE, case-blind). */
const struct storage_rule *storage_rule_in(enum storage_product p, const char *name);
/* As much as has to be bought: whole steps from `least` on; step 0 = to the byte. */
gt_u128 storage_whole(gt_u128 bytes, uint64_t least, uint64_t step);
/* What a volume or file system of so many bytes is bought as; of anything else the bytes. */
double storage_bought(const struct storage_rule *r, double bytes);
/* Bytes a second that so many bytes are read at; 0 = the rule has no speed. */
double storage_bps(const struct storage_rule *r, double bytes);
/* GET requests a second that one prefix of an object store answers (R-THR-01). */
#define STORAGE_GETS_PER_S 5500.0
/* Bytes a second that a tier gives so many objects at most, whatever the machine that reads them
 * (R-THR-01, R-THR-03, R-THR-04); 0 = they are not read where they lie (R-THR-06). */
double storage_read_bps(const struct storage_rule *r, uint64_t objects, uint64_t bytes);
/* i-th tier of a product, NULL past the end; hot tier first. */
const struct storage_rule *storage_rule_at(enum storage_product p, int i);
/* By tier name or the vendor's class name (STANDARD_IA), NULL if unknown. */
const struct storage_rule *storage_rule_find(const char *name);

/* One group of alike objects: a row of the histogram R-IM-02. */
struct tier_group {
    const char *name; /* prefix */
    const char *tier; /* where it lives now; NULL or "" = tier_options.from_tier */
    uint64_t objects, bytes;
    uint64_t bytes_min128k; /* sum of max(size, 131072); 0 = from the mean size */
    uint64_t size_lo;       /* no object is smaller; sizes below 128 KiB are kept apart by it */
    bool noncurrent;        /* old versions: lifecycle rules for current objects pass them by */
    double idle_days;       /* mean days since last access (or modification) */
    double age_days;        /* mean days since creation: minimum durations count from it */
    double reads_per_month; /* object reads per object and month */
    double read_fraction;   /* bytes read per month / bytes; < 0 = reads_per_month */
};
/* Constraints that bind all groups together; a plan keeps them all or there is none. */
struct tier_capacity {
    const char *tier;
    uint64_t bytes; /* in the tier in any month at most */
};
struct tier_limits {
    bool has_month, has_total;
    money month, total; /* no month's bill above it; the whole horizon's bill */
    const struct tier_capacity *capacity;
    size_t n_capacities;
    double
        reads; /* > 0: were reads so many times the forecast, the plan would still cost at most */
    double within;        /* 1 + this times the cheapest plan for such reads */
    const char *currency; /* of month and total; NULL = that of the prices */
};
/* What a prefix needs besides tier_options.max_wait_s. */
struct tier_need {
    const char *prefix; /* of a group's name */
    double max_wait_s;  /* INFINITY = any */
    double min_bps;     /* bytes a second that a group must be read at; 0 = any */
};
struct tier_options {
    const struct tier_limits *limits; /* NULL = none */
    const struct tier_need *need;
    size_t n_needs;
    const char *vendor, *region;
    int horizon_months;
    double max_wait_s;      /* longest acceptable retrieval latency; INFINITY = any */
    const char *from_tier;  /* baseline tier when the input names none */
    int max_rules;          /* lifecycle policy size, 0 = 10 */
    bool delete_at_end;     /* data are deleted at the horizon: unserved minimum time is paid */
    bool search_policy;     /* look for the best plain lifecycle policy too */
    bool find_savings;      /* look for what to do before tiering, too */
    uint64_t pack_bytes;    /* size of the packs proposed, 0 = 128 MiB */
    bool over_time;         /* make tier_plan.series */
    const double *forecast; /* reads of month t against those of now, horizon_months of them; NULL =
                               the same every month */
    int min_size_from;      /* 1 + the first month with later_min_bytes (R-AZ-11); 0 = never */
};
struct tier_step {
    const char *tier;
    int from_month, to_month;
};
struct tier_path {
    const struct tier_group *group;
    const struct tier_step *step;
    size_t n_steps;
    money cost, baseline_cost, saving;
    int break_even_month; /* -1 = never */
};
enum tier_limit { LIMIT_MONTH, LIMIT_TOTAL, LIMIT_CAPACITY, LIMIT_READS };
struct tier_limit_use {
    enum tier_limit kind;
    const char *tier;  /* of LIMIT_CAPACITY */
    money limit, most; /* money, or bytes of LIMIT_CAPACITY; most: in any month */
    int month;         /* of `most`, -1 = the whole horizon */
    money worth; /* what a unit more (1 of the currency; 1 GiB) in every month would save, by the
                    prices of the bound; 0 = it does not bind */
};
struct tier_rule {
    const char *prefix, *to_tier;
    int days;
    uint64_t min_bytes, max_bytes; /* of sizes in [min, max); 0 = no such limit */
    bool noncurrent;               /* of old versions */
};
/* A plan month by month; rent + moves of all tiers and months are its total, to the last digit. */
struct tier_series {
    int months;
    size_t n_tiers;
    const char **tier;   /* those that data lie in at some time; hot tier of a product first */
    uint64_t *bytes;     /* [tier * months + month] */
    money *rent, *moves; /* of the same: storage and reads; fees to enter it, with what the tiers
                            left still ask for their minimum (and of data deleted at the end) */
    money *baseline;     /* [month]: everything as it is */
};
struct tier_plan {
    struct arena *arena;
    const struct tier_path *path;
    size_t n_paths;
    money total, baseline, saving, lower_bound;
    const struct tier_rule *rule;
    size_t n_rules;
    money policy_cost, policy_gap;
    bool read_there;        /* something that the rules move is read where it then lies */
    const char *naive_tier; /* where a rule of thumb moves everything; NULL = none */
    money naive_cost;
    const struct saving *savings; /* largest first */
    size_t n_savings;
    const char *const *first_step;
    size_t n_first_steps;
    const char *const *note;
    size_t n_notes;
    const char *currency;
    bool at_least;
    enum storage_product product;
    /* With tier_options.limits: */
    const struct tier_limit_use *limit;
    size_t n_limits;
    money unlimited;                  /* the cheapest plan without them */
    bool proven;                      /* total is the least possible, not only near lower_bound */
    const struct tier_series *series; /* NULL = not asked for */
    const size_t *rate_row;           /* rows of catalog.storage that the bill rests on */
    size_t n_rate_rows;
};
int tier_optimise(const struct tier_group *group, size_t n, const struct catalog *c,
                  const struct tier_options *o, struct tier_plan **out,
                  struct gt_error *err) GT_CHECK;
void tier_plan_free(struct tier_plan *p);
/* Series of several plans (NULL = none of one) as one over `months`, which none of them exceeds. */
int tier_series_sum(struct tier_plan *const *plan, size_t n, int months, struct arena *a,
                    struct tier_series *out) GT_CHECK;
/* All money of month t; and the month from which on, to the end, no more was spent in all than with
 * everything as it is: -1 = never, or nothing is moved. */
money tier_series_month(const struct tier_series *s, int t);
int tier_series_break_even(const struct tier_series *s);
/* Writes a lifecycle document of the plan's rules; GT_EUNSUPPORTED when it would hold none. */
int tier_write_s3_lifecycle(const struct tier_plan *p, struct buf *out,
                            struct gt_error *err) GT_CHECK;
int tier_write_efs_lifecycle(const struct tier_plan *p, struct buf *out,
                             struct gt_error *err) GT_CHECK;
/* The one of the plan's product, also of Cloud Storage and Azure; GT_EUNSUPPORTED when there is
 * none. */
int tier_write_lifecycle(const struct tier_plan *p, struct buf *out, struct gt_error *err) GT_CHECK;
/* "logs/ objects from 1 MiB: to s3_glacier_ir 90 days after creation" */
void tier_rule_text(const struct tier_rule *r, struct buf *out);

#endif
