/* Offer: the price of one machine, bought one way, in one place, for a time (product.md section 7).
 * Enumerations here are the contract's names; *_name gives the text, *_from_name parses it. */
#ifndef GPUTIER_OFFER_H
#define GPUTIER_OFFER_H
#include "gputier/money.h"
#include <stdbool.h>
#include <stdint.h>

enum purchase {
    PURCHASE_ON_DEMAND,
    PURCHASE_SPOT,
    PURCHASE_LOW_PRIORITY,
    PURCHASE_MONTHLY,
    PURCHASE_RESERVED_1Y,
    PURCHASE_RESERVED_3Y,
    PURCHASE_SAVINGS_PLAN_1Y,
    PURCHASE_SAVINGS_PLAN_3Y,
    PURCHASE_COMMITTED_USE_1Y,
    PURCHASE_COMMITTED_USE_3Y,
    PURCHASE_CAPACITY_BLOCK,
    PURCHASE_DEV_TEST,
    PURCHASE_COUNT
};
enum payment { PAYMENT_NULL, PAYMENT_NONE, PAYMENT_PARTIAL, PAYMENT_ALL };
/* Of reserved instances; of savings plans: bound to one family (standard) or free to move. */
enum offering_class { OFFERING_NULL, OFFERING_STANDARD, OFFERING_CONVERTIBLE };
enum price_state { PRICE_KNOWN, PRICE_NONE, PRICE_SOLD_OTHERWISE };
enum origin { ORIGIN_BUNDLED, ORIGIN_FETCHED, ORIGIN_IMPORTED };

/* Static text ("on_demand", …). */
const char *purchase_name(enum purchase p);
const char *payment_name(enum payment p);               /* NULL for PAYMENT_NULL */
const char *offering_class_name(enum offering_class c); /* NULL for OFFERING_NULL */
const char *price_state_name(enum price_state s);
const char *origin_name(enum origin o);
/* 0 or GT_ENOTFOUND; a missing/empty payment or class parses as *_NULL. Of a purchase the case and
 * the marks between its words do not matter. */
int purchase_from_name(const char *name, enum purchase *out) GT_CHECK;
int payment_from_name(const char *name, enum payment *out) GT_CHECK;
int offering_class_from_name(const char *name, enum offering_class *out) GT_CHECK;
int price_state_from_name(const char *name, enum price_state *out) GT_CHECK;
/* True for the options that bind for a term (reserved, savings plan, committed use). */
bool purchase_is_commitment(enum purchase p);
/* Hours of a commitment's term (a year is 8,760 h), 0 for the others. */
int64_t purchase_term_hours(enum purchase p);
/* Canonical vendor id ("aliyun" -> "alibaba", case-blind) or NULL; the list of all: vendor_at(i),
 * NULL past the end. */
const char *vendor_canonical(const char *name);
const char *vendor_at(int i);
/* The known id that is spelt most like name. */
const char *vendor_nearest(const char *name);

/* One row as importers produce it and the store takes it. Strings are borrowed for the call; NULL
 * or "" = null. Numbers below 0 = null. */
struct offer_row {
    const char *vendor, *region, *zone, *instance_type;
    const char *gpu; /* canonical model of gpu-specs.csv, or the vendor's own when unknown */
    int32_t gpu_num, gpu_den; /* count as a fraction, 1/6 A10; 0/1 = no GPU */
    double gpu_memory_gib;    /* of one GPU (of the slice when a fraction) */
    double vcpus, memory_gib, local_nvme_gb, network_gbps;
    enum purchase purchase;
    enum payment payment;
    enum offering_class offering_class;
    enum price_state price_state;
    money price_per_hour; /* native currency, whole machine; recurring part of a commitment */
    money upfront;        /* once per term */
    money price_month;    /* monthly packages only: the package price; price_per_hour is then 0 */
    const char *currency;
    const char *sku;
    const char *note;             /* known defect or condition, shown to people */
    int64_t valid_from, valid_to; /* GT_TIME_NONE = open */
    int64_t as_of;                /* the date the price is true for */
};

#endif
