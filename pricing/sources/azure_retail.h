/* Azure Retail Prices (docs/pricing-sources.md section 2). azure_retail.c reads the pages,
 * azure_vm.c makes offers of virtual machines, azure_meters.c tells what a storage or transfer
 * meter is, azure_rates.c puts those as brackets, azure_region.c knows the regions. */
#ifndef GPUTIER_AZURE_RETAIL_H
#define GPUTIER_AZURE_RETAIL_H
#include "gputier/arena.h"
#include "source.h"

enum azure_field {
    Z_CURRENCY,
    Z_TIER_MIN,
    Z_PRICE,
    Z_REGION,
    Z_LOCATION,
    Z_START,
    Z_END,
    Z_METER,
    Z_PRODUCT,
    Z_SKU,
    Z_SERVICE,
    Z_UNIT,
    Z_TYPE,
    Z_ARM_SKU,
    Z_TERM,
    Z_METER_ID,
    Z_FIELDS
};
#define AZURE_TEXT 200
/* One row of a page, as all its readers take it: texts without the blanks that some carry. */
struct azure_item {
    char f[Z_FIELDS][AZURE_TEXT];
    const char *region; /* canonical */
    money price;
    int64_t from; /* when it took effect, GT_TIME_NONE = not stated */
    bool primary; /* of the region's primary meter: breaks ties, nothing else (trap 34) */
};
bool azure_ends(const char *s, const char *tail);

/* Codes of the public regions, NULL past the end. */
const char *azure_region_at(size_t i);
/* The public region of a row: its armRegionName, or its location where that is empty; NULL when it
 * is none, which is never guessed. */
const char *azure_region_of(const char *arm, const char *location);
/* A region of Azure Government, of China or of another cloud that is sold apart. */
bool azure_region_apart(const char *arm);
/* Either of both. */
bool azure_has_region(const char *code);

/* "10K", "100 GB/Month", "1/Hour" to a number and what is counted. GT_EPARSE when it is none of
 * the forms known. */
enum azure_measure { AZURE_COUNT, AZURE_GIB };
enum azure_per { AZURE_ONCE, AZURE_HOUR, AZURE_MONTH };
struct azure_unit {
    uint32_t qty;
    enum azure_measure of;
    enum azure_per per;
};
int azure_unit(const char *text, struct azure_unit *out) GT_CHECK;

/* What a meter is. tier NULL: data transfer, and component is where to. */
struct azure_meter {
    const char *tier, *component, *also, *note; /* also: another component of the same rate */
    enum storage_unit unit;
    struct azure_unit sold;   /* how the vendor has to sell it */
    money from_gib, step_gib; /* of a disk's step */
    int rank;                 /* of products that price the same thing the lowest counts */
    char name[64];            /* room for tier */
};
/* False when the row is no such meter. */
bool azure_meter(const struct azure_item *item, struct azure_meter *out);

struct azure_rate;
struct azure_rates { /* rows wait for the end: a bracket ends where the next begins */
    struct arena *arena;
    struct azure_rate *row;
    size_t n, cap;
};
int azure_rates_add(struct azure_rates *r, const struct azure_item *item,
                    const struct azure_meter *m, struct gt_error *err) GT_CHECK;
int azure_rates_end(struct azure_rates *r, struct parse_context *ctx,
                    struct gt_error *err) GT_CHECK;

struct azure_vm;
struct azure_vms { /* rows wait for the end: of those of one purchase one is chosen */
    struct arena *arena;
    struct intern *names;
    struct azure_vm *row;
    size_t n, cap;
    uint32_t hours; /* that the prices of the last item are for */
    size_t base;    /* the on-demand row that was added last, SIZE_MAX: the last is none */
};
/* A Linux machine by the hour that anybody may rent. */
bool azure_is_vm(const struct azure_item *item);
/* 0, or GT_ENOTFOUND for a way to buy that is none of ours. */
int azure_vm_add(struct azure_vms *v, const struct azure_item *item, struct gt_error *err) GT_CHECK;
/* One entry of the savingsPlan list of the row that was added last. GT_ENOTFOUND: no plan of ours,
 * or of a row that is not on demand. */
int azure_vm_plan(struct azure_vms *v, const char *term, money price,
                  struct gt_error *err) GT_CHECK;
int azure_vms_end(struct azure_vms *v, struct parse_context *ctx, struct gt_error *err) GT_CHECK;

/* An array in an arena, doubled when it is full; NULL when out of memory or over a million. */
void *azure_grown(struct arena *a, void *row, size_t n, size_t *cap, size_t size);

#endif
