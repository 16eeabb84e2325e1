/* Storage rates: one price component of one tier in one place (tier names: product.md section 7).
 */
#ifndef GPUTIER_STORAGE_H
#define GPUTIER_STORAGE_H
#include "gputier/money.h"
#include <stdint.h>

/* The vendor's unit; the rate is per unit_qty of it (1,000 requests: SU_REQUEST, unit_qty 1000). */
enum storage_unit {
    SU_GIB_MONTH, /* 2^30 bytes for a month, as most vendors' "GB" */
    SU_GB_MONTH,  /* 10^9 bytes for a month */
    SU_GIB,       /* 2^30 bytes moved (retrieval, reads) */
    SU_GB,        /* 10^9 bytes moved */
    SU_REQUEST,
    SU_OBJECT_MONTH,
    SU_IOPS_MONTH,
    SU_MIBPS_MONTH,
    SU_DISK_MONTH,
    SU_HOUR,
    SU_COUNT
};
/* Components, by these names in the store, snapshot and JSON:
 * storage storage_frequent storage_infrequent storage_archive_instant storage_archive_access
 * storage_deep_archive_access put get list delete transition retrieval retrieval_bulk
 * retrieval_expedited retrieval_request retrieval_request_bulk retrieval_request_expedited
 * monitoring upload read write provisioned_iops throughput snapshot early_delete.
 * fsx_lustre_persistent: "storage" includes 125 MB/s per TiB, "storage_250" 250 and so on.
 * Volumes sold by step (azure_disk_*): unit SU_DISK_MONTH and `step_gib` in from_qty..to_qty. */
const char *storage_unit_name(enum storage_unit u); /* "gib_month", … */
int storage_unit_from_name(const char *name, enum storage_unit *out) GT_CHECK;

/* One row as importers produce it. from_qty/to_qty: marginal brackets in the unit itself, decimals
 * in units of 10^-12 like money; to_qty < 0 = no end. */
struct storage_rate_row {
    const char *vendor, *region, *tier, *component;
    enum storage_unit unit;
    uint32_t unit_qty;
    money from_qty, to_qty;
    money rate;
    const char *currency, *sku, *note;
    int64_t valid_from, valid_to, as_of;
};

/* Transfer: moving bytes out. from/to regions are the vendor's codes; `to` may be "internet",
 * "other_region", "other_region_same_continent", "other_continent", "other_az", "same_region".
 * Brackets in GB of `gb_bytes` bytes (2^30 or 10^9), marginal, per account and month. */
struct transfer_rate_row {
    const char *vendor, *from, *to;
    money from_gb, to_gb; /* to_gb < 0 = no end */
    uint64_t gb_bytes;
    money rate;
    const char *currency, *sku, *note;
    int64_t valid_from, valid_to, as_of;
};

/* Interruption band of the vendor's advisor, percent of instances per month. */
struct interruption_row {
    const char *vendor, *region, *instance_type;
    double band_lo_pct, band_hi_pct; /* hi < 0 = open */
    double savings_pct;              /* rounded by the vendor, not a price; < 0 = null */
    int64_t as_of;
};

/* One change of a spot pool's price (or availability: count >= 0). */
struct spot_point_row {
    const char *vendor, *region, *zone, *instance_type;
    int64_t when;
    money price; /* < 0 = unknown */
    const char *currency;
    int32_t available; /* nodes obtainable; -1 = not recorded */
};

struct fx_row {
    const char *currency;
    money per_usd; /* units of currency for 1 USD */
    int64_t date;
};

#endif
