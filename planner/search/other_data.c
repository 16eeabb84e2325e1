/* Data beside the training set: checkpoints, logs, others; and what a placement delivers. */
#include "gputier/tier.h"
#include "place.h"
#include <math.h>
#include <string.h>

#define MIB             1048576.0
#define CHECKPOINT_PART (64 * MIB)

static int checkpoint_run(struct search *q, struct region *r, const char *tier, double bytes)
{
    int rc = charge_storage(q, &r->common, r, tier, "storage", bytes, 1 / tier_month_hours(tier),
                            BASIS_RUN_HOUR, COMP_STORAGE, "checkpoints during the run",
                            "GiB x hours / hours of the vendor's month");
    return rc;
}

static int checkpoint_writes(struct search *q, struct region *r, const char *tier)
{
    if (tier_class_of(tier) != TIER_OBJECT || q->checkpoint_hint <= 0) {
        return 0;
    }
    return charge_storage(q, &r->common, r, tier, "put", ceil(q->checkpoint_hint / CHECKPOINT_PART),
                          1, BASIS_WRITE, COMP_REQUESTS, "checkpoints: one PUT per part of 64 MiB",
                          "parts x checkpoints written");
}

/* The checkpoint set of the scenario, wherever it lives, and where this region writes them. */
static int checkpoint_set(struct search *q, struct region *r, const struct scenario_data *d)
{
    struct region home = *r;
    bool here = d->vendor[0] == '\0' ||
                (strcmp(d->vendor, r->vendor) == 0 && strcmp(d->region, r->region) == 0);
    if (!here) {
        memset(&home, 0, sizeof home);
        home.vendor = d->vendor;
        home.region = d->region;
        home.vendor_id = catalog_id(q->c, d->vendor);
        home.region_id = catalog_id(q->c, d->region);
    }
    const char *tier = tier_fixed(d) ? search_own(q, d->tier) : free_tier(q, &home);
    if (tier == NULL) {
        return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
    }
    int rc = charge_keep(q, &r->common, &home, tier, d);
    if (here || rc != 0) {
        r->checkpoint_tier = tier;
        return rc != 0 ? rc : checkpoint_writes(q, r, tier);
    }
    r->checkpoint_tier = free_tier(q, r);
    rc = checkpoint_run(q, r, r->checkpoint_tier, (double)d->size_bytes);
    if (rc == 0) {
        rc = checkpoint_writes(q, r, r->checkpoint_tier);
    }
    double bytes = q->checkpoint_hint > 0 ? q->checkpoint_hint : (double)d->size_bytes;
    return rc != 0 ? rc
                   : charge_transfer(q, &r->common, r->vendor, r->region, home.vendor, home.region,
                                     bytes, BASIS_PLAN, "the last checkpoint brought home");
}

/* No set is declared: the last two are kept during the run. */
static int checkpoint_default(struct search *q, struct region *r)
{
    r->checkpoint_tier = free_tier(q, r);
    if (q->checkpoint_hint <= 0) {
        return 0;
    }
    if (!storage_known(q, r->vendor_id, r->region_id, r->checkpoint_tier, "storage")) {
        r->checkpoint_unpriced = true;
        r->checkpoint_tier = "local disk";
        return 0;
    }
    int rc = checkpoint_run(q, r, r->checkpoint_tier, 2 * q->checkpoint_hint);
    return rc != 0 ? rc : checkpoint_writes(q, r, r->checkpoint_tier);
}

int region_common(struct search *q, struct region *r)
{
    bool checkpoint = false;
    int rc = 0;
    for (size_t i = 0; i < q->s->n_data && rc == 0; i++) {
        const struct scenario_data *d = &q->s->data[i];
        if (d->role == ROLE_CHECKPOINT) {
            checkpoint = true;
            rc = checkpoint_set(q, r, d);
        } else if (d->role != ROLE_TRAINING_DATA) {
            struct region home = *r;
            if (d->vendor[0] != '\0') {
                home.vendor = d->vendor;
                home.region = d->region;
                home.vendor_id = catalog_id(q->c, d->vendor);
                home.region_id = catalog_id(q->c, d->region);
            }
            rc =
                charge_keep(q, &r->common, &home, tier_fixed(d) ? d->tier : free_tier(q, &home), d);
        }
    }
    if (rc == 0 && !checkpoint) {
        rc = checkpoint_default(q, r);
    }
    r->checkpoint_bps = tier_checkpoint_bps(r->checkpoint_tier);
    return rc;
}

int search_places(struct search *q, const bool *region_ok)
{
    int rc = 0;
    for (size_t i = 0; i < q->n_regions && rc == 0; i++) {
        struct region *r = &q->region[i];
        if (region_ok[i] && !r->placed) {
            rc = region_common(q, r);
            rc = rc != 0 ? rc : region_places(q, r);
            r->placed = rc == 0;
        }
    }
    return rc;
}

bool place_allows(const struct place *p, const struct machine *m, int n)
{
    return n <= p->max_nodes && p->local_bytes <= m->nvme_bytes;
}

/* Object store as one machine sees it: R-THR-04 with 8 reads in flight per vCPU. */
static double object_bps(const struct search *q, const struct machine *m)
{
    double object = q->data_files > 0 ? q->data_bytes / q->data_files : 128 * MIB;
    double streams = isnan(m->vcpus) ? 64 : fmin(256, fmax(16, 8 * m->vcpus));
    return fmin(streams * object / (0.1 + object / 90e6), STORAGE_GETS_PER_S * object);
}

static double nic_bps(const struct machine *m)
{
    return isnan(m->network_gbps) || m->network_gbps <= 0 ? (double)INFINITY
                                                          : m->network_gbps * 1e9 / 8 * 0.85;
}

/* 1 GB/s per 600 GB of drive, at least one drive's 0.7 GB/s: storage-throughput.md section 5. */
static double nvme_bps(const struct machine *m)
{
    return fmin(16e9, fmax(0.7e9, m->nvme_bytes / 600));
}

/* EFS earns 50 MiB/s per TiB and starts with 2.1 TiB of credits, which reads use by a third of
 * their size: until then it is as fast as its burst rate (R-EFS-04, R-EFS-05, R-THR-03). */
static double shared_bps(const struct place *p, double bytes)
{
    if (p->burst_bps <= p->shared_bps) {
        return p->shared_bps;
    }
    if (bytes <= p->burst_bytes) {
        return p->burst_bps;
    }
    return bytes / (p->burst_bytes / p->burst_bps + (bytes - p->burst_bytes) / p->shared_bps);
}

double place_bps(const struct search *q, const struct place *p, const struct machine *m, int n,
                 double bytes)
{
    if (p->mode == PLACE_NONE) {
        return (double)INFINITY;
    }
    if (p->class == TIER_LOCAL) {
        return n * nvme_bps(m);
    }
    double node = fmin(p->node_bps, nic_bps(m));
    if (p->class == TIER_OBJECT || p->class == TIER_UNKNOWN) {
        node = fmin(node, object_bps(q, m));
        double object = q->data_files > 0 ? q->data_bytes / q->data_files : 128 * MIB;
        return fmin(n * node, STORAGE_GETS_PER_S * object); /* of one prefix, for all machines */
    }
    return fmin(shared_bps(p, bytes), n * node);
}

double place_stage_s(const struct search *q, const struct place *p, const struct machine *m, int n)
{
    bool volume = p->mode == PLACE_COPIED && p->class == TIER_BLOCK;
    if (p->class != TIER_LOCAL && !volume) {
        return 0;
    }
    /* Across regions one machine gets 5 Gb/s: storage-throughput.md section 6. */
    double from = p->stage_far ? fmin(nic_bps(m), 5e9 / 8) : nic_bps(m);
    /* All machines fill at once: a file system is shared by them, an object store is not. */
    from = fmin(from, p->stage_class == TIER_OBJECT  ? object_bps(q, m)
                      : p->stage_class == TIER_BLOCK ? 125 * MIB
                                                     : 300 * MIB / n);
    double to = volume ? p->node_bps : nvme_bps(m);
    return q->data_bytes / fmin(from, to);
}
