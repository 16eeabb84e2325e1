/* Catalog: everything known about prices at one instant, read-only, columnar, in memory.
 * The store builds it (store_load_catalog); the planner and screens only read it. Strings are
 * ids into `text` (catalog_text); 0 is "". One arena owns all of it. Money columns are exact in
 * the row's own currency; `usd_per_hour` is for search and ordering only (NAN when unknown).
 *
 * usd_per_hour of a commitment = recurring + upfront / term hours; of a monthly package =
 * package / 730 (for ordering; bills use price_month). */
#ifndef GPUTIER_CATALOG_H
#define GPUTIER_CATALOG_H
#include "gputier/arena.h"
#include "gputier/gpu.h"
#include "gputier/offer.h"
#include "gputier/storage.h"
#include <stddef.h>
#include <stdint.h>

struct catalog_offers {
    size_t n;
    const uint32_t *vendor, *region, *zone, *instance_type, *gpu, *currency, *sku, *source, *note;
    const int16_t *gpu_spec; /* index into gpus, -1 = not in the table */
    const uint16_t *gpu_num, *gpu_den;
    const float *gpu_memory_gib, *vcpus, *memory_gib, *local_nvme_gb,
        *network_gbps; /* NAN = null */
    const uint8_t *purchase, *payment, *offering_class, *price_state, *origin;
    const money *price_per_hour, *upfront, *price_month;
    const double *usd_per_hour;
    const int64_t *as_of, *fetched_at, *valid_from, *valid_to;
    const int64_t *id; /* the store's row id, stable across loads; cited by saved plans */
};
struct catalog_storage {
    size_t n; /* sorted by vendor, region, tier, component text, from_qty */
    const uint32_t *vendor, *region, *tier, *component, *currency, *sku, *source, *note;
    const uint8_t *unit, *origin;
    const uint32_t *unit_qty;
    const money *from_qty, *to_qty, *rate;
    const int64_t *as_of, *fetched_at, *id;
};
struct catalog_transfer {
    size_t n; /* sorted by vendor, from, to, from_gb */
    const uint32_t *vendor, *from, *to, *currency, *sku, *source, *note;
    const money *from_gb, *to_gb, *rate;
    const uint64_t *gb_bytes;
    const uint8_t *origin;
    const int64_t *as_of, *fetched_at, *id;
};
struct catalog_interruption {
    size_t n;
    const uint32_t *vendor, *region, *instance_type, *source;
    const float *band_lo_pct, *band_hi_pct, *savings_pct; /* hi < 0 = open, savings < 0 = null */
    const int64_t *as_of;
};
struct catalog_fx {
    size_t n;
    const uint32_t *currency, *source;
    const money *per_usd;
    const int64_t *date;
};
/* How often a machine was taken away while it was up, in one place: counted, not stated by a
 * vendor. A refused launch counts as an interruption: rather too high. */
struct catalog_hazard {
    uint32_t vendor, region, zone, instance_type;
    uint32_t basis; /* name of the trace, or the source of a recorded series */
    uint8_t trace;  /* 1 = a shipped trace, 0 = a series recorded here */
    int64_t drops;  /* times it went away */
    double up_h, looked_h;
    double rate_per_h, lo_per_h, hi_per_h; /* > 0, with its 95 % interval */
    int64_t since;                         /* of a series: the first look */
};
/* A measured device: effective rates from `gputier bench` (bench.h explains the metrics). */
struct catalog_bench {
    size_t n;
    const uint32_t *device, *metric, *unit, *backend;
    const uint8_t *is_gpu; /* 0 = CPU fallback: never used for a GPU */
    const double *median;
    const int64_t *when;
};

struct catalog {
    struct arena *arena;
    struct intern *strings;
    int64_t as_of;       /* prices known at this instant */
    uint64_t generation; /* store's data version */
    struct catalog_offers offers;
    /* What other sources say of an offer, where it differs from the row that is shown (by more
     * than 1 % or in its state; pricing/store/precedence.c chooses): the same columns.
     * others_of[i] is the offer that is shown, ascending; of one offer the better source first. */
    struct catalog_offers others;
    const uint32_t *others_of;
    struct catalog_storage storage;
    struct catalog_transfer transfer;
    struct catalog_interruption interruption;
    struct catalog_fx fx;
    struct catalog_bench bench;
    const struct catalog_hazard *hazards; /* at most one a place and type */
    size_t n_hazards;
    const struct gpu_spec *gpus;
    size_t n_gpus;
    const struct model_profile *models;
    size_t n_models;
};

const char *catalog_text(const struct catalog *c, uint32_t id);
/* Id of a string, 0 if it occurs nowhere. */
uint32_t catalog_id(const struct catalog *c, const char *text);
void catalog_free(struct catalog *c); /* frees the arena and c */
/* Index of a GPU / model by exact name, -1 if none. */
int catalog_gpu(const struct catalog *c, const char *model);
int catalog_model(const struct catalog *c, const char *name);
/* What other sources say of an offer: [*first, *first + n) of c->others. */
size_t catalog_others(const struct catalog *c, size_t offer, size_t *first);
/* Rows [*first, *first + n) of one component's brackets, 0 when none is known. Falls back to no
 * other region: a missing price is missing. */
size_t catalog_storage_rates(const struct catalog *c, uint32_t vendor, uint32_t region,
                             uint32_t tier, const char *component, size_t *first);
/* Rows for moving bytes from -> to, after the exact pair the class of the destination
 * ("other_region", …); 0 when none. */
size_t catalog_transfer_rates(const struct catalog *c, uint32_t vendor, uint32_t from,
                              const char *to, size_t *first);
/* Units of `currency` for one USD in money scale, 0 if unknown (USD itself: MONEY_SCALE). */
money catalog_fx_rate(const struct catalog *c, const char *currency, int64_t *date);
/* Puts one rate in place of all that are known of a currency (--fx). Only while the catalog is not
 * yet shared; GT_EINVALID for USD or a rate that is not above 0. */
int catalog_set_fx(struct catalog *c, const char *currency, const char *source, money per_usd,
                   int64_t date) GT_CHECK;
/* Whole data-centre GPUs that cost less an hour than their power does: some other figure was taken
 * for the price (a bid floor, cents). Spot is left out: old ones did go for less. */
#define CATALOG_GPU_FLOOR_USD 0.05
bool catalog_under_floor(const struct catalog *c, size_t offer);
/* amount in `from` -> USD, rounded once; GT_ENOTFOUND without a rate. */
int catalog_to_usd(const struct catalog *c, const char *from, money amount, money *usd) GT_CHECK;
/* amount in `from` -> `to`, by way of USD when they differ (two roundings); GT_ENOTFOUND without a
 * rate. out may be &amount's place. */
int catalog_convert(const struct catalog *c, const char *from, const char *to, money amount,
                    money *out) GT_CHECK;

#endif
