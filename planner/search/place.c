/* Where training data may lie while the job runs: for one region every placement with what it
 * costs and how fast it is. Sources of the data: where they live, or a copy in the region's object
 * store; readers: the source itself, a block volume on each machine, the machines' own NVMe. */
#include "place.h"
#include "gputier/tier.h"
#include <math.h>
#include <string.h>

#define MIB        1048576.0
#define GIB        1073741824.0
#define TIB        (1024 * GIB)
#define MAX_PLACES 48

static int no_memory(struct search *q)
{
    return gt_fail(q->err, GT_ENOMEM, "", "out of memory");
}

/* Sizes are provisioned in whole GiB. */
static double whole_gib(double bytes)
{
    return ceil(bytes / GIB) * GIB;
}

struct places {
    struct search *q;
    struct region *r;
    struct place *place;
    size_t n;
    int rc;
};

/* One source of the training data: what it costs to have it there, before any reading. */
struct source {
    const char *tier;
    const char *home_tier; /* where the set is kept */
    const char *text;      /* "" = it lives here */
    struct region home;    /* whose rates reading is charged at */
    bool far;
    struct charges charges;
};

static struct place *start_place(struct places *b, const struct source *from, enum place_mode mode,
                                 const char *tier, const char *option)
{
    if (b->rc != 0 || b->n == MAX_PLACES) {
        return NULL;
    }
    struct place *p = &b->place[b->n];
    memset(p, 0, sizeof *p);
    p->mode = mode;
    p->home_tier = from->home_tier;
    p->tier = tier;
    p->source = from->text;
    p->option = option;
    p->class = tier_class_of(tier);
    p->shared_bps = p->node_bps = (double)INFINITY;
    p->max_nodes = SEARCH_MAX_INSTANCES;
    p->stage_far = from->far;
    p->stage_class = tier_class_of(from->tier);
    b->rc = charges_append(b->q, &p->charges, &from->charges);
    b->n++;
    return b->rc == 0 ? p : NULL;
}

/* Requests and fees for reading the whole set once from an object store or a metered file tier. */
static void charge_read(struct places *b, struct place *p, const struct source *from,
                        enum basis basis)
{
    struct search *q = b->q;
    if (tier_class_of(from->tier) != TIER_OBJECT) {
        return;
    }
    double files = q->data_files > 0 ? q->data_files : ceil(q->data_bytes / (128 * MIB));
    if (b->rc == 0) {
        b->rc = charge_storage(q, &p->charges, &from->home, from->tier, "get", files, 1, basis,
                               COMP_REQUESTS, "training data: one GET per object read",
                               "objects x reads of the set");
    }
    if (b->rc == 0 &&
        storage_known(q, from->home.vendor_id, from->home.region_id, from->tier, "retrieval")) {
        b->rc = charge_storage(q, &p->charges, &from->home, from->tier, "retrieval", q->data_bytes,
                               1, basis, COMP_RETRIEVAL, "training data: retrieval fee",
                               "bytes x reads of the set");
    }
}

static void charge_far(struct places *b, struct place *p, const struct source *from,
                       enum basis basis)
{
    if (b->rc == 0 && from->far) {
        b->rc = charge_transfer(b->q, &p->charges, from->home.vendor, from->home.region,
                                b->r->vendor, b->r->region, b->q->data_bytes, basis,
                                "training data moved to the machines");
    }
}

/* Elastic, provisioned and bursting throughput of EFS: R-EFS-04, R-EFS-05; reads count a third. */
static void read_efs(struct places *b, const struct source *from)
{
    struct search *q = b->q;
    double base = fmax(1, 50 * q->data_bytes / TIB);
    struct place *p = start_place(b, from, PLACE_IN_PLACE, from->tier, "bursting throughput");
    if (p != NULL) {
        p->shared_bps = base * 3 * MIB;
        p->burst_bps = 3 * fmax(100, 100 * q->data_bytes / TIB) * MIB;
        p->burst_bytes = 3 * fmax(2.1 * TIB, 2.1 * q->data_bytes);
        p->node_bps = 500 * MIB;
    }
    if (storage_known(q, b->r->vendor_id, b->r->region_id, from->tier, "read") &&
        (p = start_place(b, from, PLACE_IN_PLACE, from->tier, "elastic throughput")) != NULL) {
        p->shared_bps = 20 * 1024 * MIB;
        p->node_bps = 1500 * MIB;
        b->rc =
            charge_storage(q, &p->charges, b->r, from->tier, "read", q->data_bytes, 1, BASIS_EPOCH,
                           COMP_REQUESTS, "training data: elastic throughput, bytes read",
                           "bytes x epochs read from the file system");
    }
    static const double level[] = {100, 300, 1000};
    static const char *const name[] = {"100 MiB/s provisioned", "300 MiB/s provisioned",
                                       "1000 MiB/s provisioned"};
    for (size_t i = 0; i < 3; i++) {
        if (level[i] > base &&
            storage_known(q, b->r->vendor_id, b->r->region_id, from->tier, "throughput") &&
            (p = start_place(b, from, PLACE_IN_PLACE, from->tier, name[i])) != NULL) {
            p->shared_bps = level[i] * 3 * MIB;
            p->node_bps = 500 * MIB;
            b->rc = charge_storage(q, &p->charges, b->r, from->tier, "throughput", level[i] - base,
                                   1 / 730.0, BASIS_RUN_HOUR, COMP_STORAGE,
                                   "training data: provisioned throughput",
                                   "(provisioned - earned by size) MiB/s x hours / 730");
        }
    }
}

/* Bytes per second of a volume or share of this size by the tier's rule; assumptions are marked in
 * the plan's notes. */
static double speed_of(const char *tier, double bytes)
{
    const struct storage_rule *r = storage_rule_find(tier);
    double bps = r != NULL ? storage_bps(r, bytes) : 0;
    return bps > 0 ? bps : 100 * MIB;
}

static void read_in_place(struct places *b, const struct source *from)
{
    struct place *p;
    switch (tier_class_of(from->tier)) {
    case TIER_FILE:
        if (strncmp(from->tier, "efs_", 4) == 0) {
            read_efs(b, from);
        } else if ((p = start_place(b, from, PLACE_IN_PLACE, from->tier, "")) != NULL) {
            p->shared_bps = speed_of(from->tier, b->q->data_bytes);
        }
        break;
    case TIER_BLOCK:
        if ((p = start_place(b, from, PLACE_IN_PLACE, from->tier, "")) != NULL) {
            p->node_bps = speed_of(from->tier, b->q->data_bytes);
            p->max_nodes = 1;
        }
        break;
    default:
        if ((p = start_place(b, from, from->text[0] == '\0' ? PLACE_IN_PLACE : PLACE_COPIED,
                             from->tier, "")) != NULL) {
            charge_read(b, p, from, BASIS_EPOCH);
        }
    }
}

/* A volume on each machine for the time of the run, filled from the source at each launch. */
static void read_volume(struct places *b, const struct source *from)
{
    struct search *q = b->q;
    const char *tier = tier_default_block(b->r->vendor);
    if (tier == NULL || !storage_known(q, b->r->vendor_id, b->r->region_id, tier, "storage")) {
        return;
    }
    bool gp3 = strcmp(tier, "ebs_gp3") == 0 &&
               storage_known(q, b->r->vendor_id, b->r->region_id, tier, "throughput");
    static const double level[] = {125, 250, 500, 1000};
    static const char *const name[] = {"125 MiB/s", "250 MiB/s", "500 MiB/s", "1000 MiB/s"};
    double bytes = whole_gib(q->data_bytes), month = tier_month_hours(tier);
    for (size_t i = 0; i < (gp3 ? 4 : 1); i++) {
        struct place *p = start_place(b, from, PLACE_COPIED, tier, gp3 ? name[i] : "");
        if (p == NULL) {
            return;
        }
        p->node_bps = gp3 ? level[i] * MIB : speed_of(tier, bytes);
        b->rc = charge_storage(q, &p->charges, b->r, tier, "storage", bytes, 1 / month,
                               BASIS_NODE_RUN_HOUR, COMP_STORAGE,
                               "training data: a volume on each machine during the run",
                               "GiB x machines x hours / hours of the vendor's month");
        if (b->rc == 0 && i > 0) {
            b->rc = charge_storage(q, &p->charges, b->r, tier, "throughput", level[i], 1 / month,
                                   BASIS_NODE_RUN_HOUR, COMP_STORAGE,
                                   "training data: volume throughput above the included",
                                   "MiB/s x machines x hours / hours of the vendor's month");
        }
        charge_read(b, p, from, BASIS_LAUNCH);
        charge_far(b, p, from, BASIS_LAUNCH);
    }
}

static void read_local(struct places *b, const struct source *from)
{
    struct place *p = start_place(b, from, PLACE_LOCAL, "local_nvme", "");
    if (p == NULL) {
        return;
    }
    p->local_bytes = b->q->data_bytes * 1.05;
    charge_read(b, p, from, BASIS_LAUNCH);
    charge_far(b, p, from, BASIS_LAUNCH);
    if (b->rc == 0 && strncmp(from->tier, "efs_", 4) == 0 &&
        storage_known(b->q, from->home.vendor_id, from->home.region_id, from->tier, "read")) {
        b->rc = charge_storage(b->q, &p->charges, &from->home, from->tier, "read", b->q->data_bytes,
                               1, BASIS_LAUNCH, COMP_REQUESTS,
                               "training data: elastic throughput, bytes read", "bytes x launches");
    }
}

static void region_of(const struct search *q, const char *vendor, const char *region,
                      struct region *out)
{
    memset(out, 0, sizeof *out);
    out->vendor = vendor;
    out->region = region;
    out->vendor_id = catalog_id(q->c, vendor);
    out->region_id = catalog_id(q->c, region);
}

/* Where a data set lives: its own place, or the plan's region. */
static bool home_of(const struct search *q, const struct scenario_data *d, const struct region *r,
                    struct region *home)
{
    if (d->vendor[0] == '\0') {
        region_of(q, r->vendor, r->region, home);
        return true;
    }
    region_of(q, d->vendor, d->region, home);
    return strcmp(d->vendor, r->vendor) == 0 && strcmp(d->region, r->region) == 0;
}

/* The stored bytes as the vendor bills them, and what it bills for each object beside them. */
static int keep_bytes(struct search *q, struct charges *c, const struct region *home,
                      const char *tier, const struct scenario_data *d, double average,
                      double months, const char *text)
{
    const char *hot = tier;
    double objects = d->size_bytes > 0 ? (double)d->files * (average / (double)d->size_bytes) : 0;
    double metadata = 0, billed = tier_billed_bytes(tier, average, objects, &metadata, &hot);
    int rc = charge_storage(
        q, c, home, tier, "storage", billed, months, BASIS_PLAN, COMP_STORAGE, text,
        billed > average ? "average GiB over the time kept, with the steps, minimum sizes and "
                           "metadata that are billed, x months of the vendor"
                         : "average GiB over the time kept x months of the vendor");
    if (rc == 0 && metadata > 0) {
        const char *what =
            arena_printf(q->arena, "%s: metadata of each file, billed as %s", d->name, hot);
        rc = charge_storage(q, c, home, hot, "storage", metadata, months, BASIS_PLAN, COMP_STORAGE,
                            what, "objects x bytes of each x months of the vendor");
    }
    if (rc == 0 && strcmp(tier, "s3_intelligent_tiering") == 0 && objects > 0 &&
        average / objects >= 131072) { /* R-S3-04 */
        const char *what = arena_printf(q->arena, "%s: monitoring of each object", d->name);
        rc = charge_storage(q, c, home, tier, "monitoring", objects, months, BASIS_PLAN, COMP_OTHER,
                            what, "objects x months");
    }
    return rc;
}

int charge_keep(struct search *q, struct charges *c, const struct region *home, const char *tier,
                const struct scenario_data *d)
{
    double months = d->keep_months * 730 / tier_month_hours(tier);
    double average = (double)d->size_bytes + d->growth_bytes_per_month * d->keep_months / 2;
    const char *text = arena_printf(q->arena, "%s: kept %g month%s on %s", d->name, d->keep_months,
                                    d->keep_months == 1 ? "" : "s", tier);
    if (text == NULL) {
        return no_memory(q);
    }
    if (tier_class_of(tier) == TIER_BLOCK) {
        average = whole_gib(average);
    }
    int rc = keep_bytes(q, c, home, tier, d, average, months, text);
    double reads = d->reads_per_month * d->keep_months;
    if (rc != 0 || reads <= 0 || tier_class_of(tier) != TIER_OBJECT) {
        return rc;
    }
    double files = d->files > 0 ? (double)d->files : ceil(average / (128 * MIB));
    rc = charge_storage(q, c, home, tier, "get", files, reads, BASIS_PLAN, COMP_REQUESTS,
                        "reads beside the training: one GET per object", "objects x reads");
    if (rc == 0 && storage_known(q, home->vendor_id, home->region_id, tier, "retrieval")) {
        rc = charge_storage(q, c, home, tier, "retrieval", average, reads, BASIS_PLAN,
                            COMP_RETRIEVAL, "reads beside the training: retrieval fee",
                            "average GiB x reads");
    }
    return rc;
}

bool tier_fixed(const struct scenario_data *d)
{
    return d->tier[0] != '\0' && tier_class_of(d->tier) != TIER_LOCAL;
}

const char *free_tier(const struct search *q, const struct region *home)
{
    const char *object = tier_default_object(home->vendor);
    const char *block = tier_default_block(home->vendor);
    if (block != NULL &&
        (object == NULL ||
         !storage_known(q, home->vendor_id, home->region_id, object, "storage")) &&
        storage_known(q, home->vendor_id, home->region_id, block, "storage")) {
        return block;
    }
    return object != NULL ? object : "object_store";
}

/* Keeping all training sets where they live. */
static int keep_training(struct places *b, struct charges *c, const char *tier)
{
    int rc = 0;
    for (size_t i = 0; i < b->q->s->n_data && rc == 0; i++) {
        const struct scenario_data *d = &b->q->s->data[i];
        struct region home;
        if (d->role == ROLE_TRAINING_DATA) {
            bool here = home_of(b->q, d, b->r, &home);
            const char *t = tier_fixed(d)             ? d->tier
                            : here && tier[0] != '\0' ? tier
                                                      : free_tier(b->q, &home);
            rc = charge_keep(b->q, c, &home, t, d);
        }
    }
    return rc;
}

/* local_only: the scenario asks for the machines' own NVMe. */
static void readers(struct places *b, const struct source *from, bool local_only)
{
    if (!from->far && !local_only) {
        read_in_place(b, from);
        read_volume(b, from);
    }
    read_local(b, from);
}

/* The data live in this region: on their tier, or on each that may be chosen. */
static void sources_here(struct places *b, const struct scenario_data *d)
{
    struct search *q = b->q;
    const char *choice[3];
    size_t n = 0;
    bool local_only = tier_class_of(d->tier) == TIER_LOCAL;
    if (tier_fixed(d)) {
        choice[n++] = search_own(q, d->tier); /* placements may outlive the scenario */
    } else {
        const char *object = tier_default_object(b->r->vendor);
        const char *block = tier_default_block(b->r->vendor);
        choice[n++] = object != NULL ? object : "object_store";
        if (storage_known(q, b->r->vendor_id, b->r->region_id, "efs_standard", "storage")) {
            choice[n++] = "efs_standard";
        }
        if (block != NULL && storage_known(q, b->r->vendor_id, b->r->region_id, block, "storage")) {
            choice[n++] = block;
        }
    }
    b->rc = choice[0] == NULL ? no_memory(q) : b->rc;
    for (size_t i = 0; i < n && b->rc == 0; i++) {
        struct source from = {.tier = choice[i], .home_tier = choice[i], .text = ""};
        from.home = *b->r;
        b->rc = keep_training(b, &from.charges, choice[i]);
        readers(b, &from, local_only);
    }
}

/* The data live elsewhere: copied once into the region's object store, or straight to NVMe. */
static void sources_far(struct places *b, const struct scenario_data *d, const struct region *home)
{
    struct search *q = b->q;
    bool local_only = tier_class_of(d->tier) == TIER_LOCAL;
    const char *tier = tier_fixed(d) ? search_own(q, d->tier) : free_tier(q, home);
    const char *text = arena_printf(q->arena, "%s/%s %s", home->vendor, home->region, tier);
    if (text == NULL || tier == NULL) {
        b->rc = no_memory(q);
        return;
    }
    struct source far = {.tier = tier, .home_tier = tier, .text = text, .home = *home, .far = true};
    b->rc = keep_training(b, &far.charges, "");
    readers(b, &far, local_only);
    const char *object = tier_default_object(b->r->vendor);
    struct source copy = {
        .tier = object != NULL ? object : "object_store", .home_tier = tier, .text = text};
    copy.home = *b->r;
    if (b->rc == 0) {
        b->rc = keep_training(b, &copy.charges, "");
    }
    if (b->rc == 0) {
        b->rc = charge_transfer(q, &copy.charges, home->vendor, home->region, b->r->vendor,
                                b->r->region, q->data_bytes, BASIS_PLAN,
                                "training data copied once to the region");
    }
    double files = q->data_files > 0 ? q->data_files : ceil(q->data_bytes / (128 * MIB));
    if (b->rc == 0 && tier_class_of(tier) == TIER_OBJECT) {
        b->rc =
            charge_storage(q, &copy.charges, home, tier, "get", files, 1, BASIS_PLAN, COMP_REQUESTS,
                           "training data: one GET per object for the copy", "objects");
    }
    if (b->rc == 0) {
        b->rc = charge_storage(q, &copy.charges, b->r, copy.tier, "put", files, 1, BASIS_PLAN,
                               COMP_REQUESTS, "training data: one PUT per object for the copy",
                               "objects");
    }
    if (b->rc == 0) {
        b->rc = charge_storage(q, &copy.charges, b->r, copy.tier, "storage", q->data_bytes,
                               1 / 730.0, BASIS_RUN_HOUR, COMP_STORAGE,
                               "training data: the copy during the run", "GiB x hours / 730");
    }
    readers(b, &copy, local_only);
}

static double floor_usd(const struct place *p)
{
    return p->charges.usd[BASIS_PLAN];
}

int region_places(struct search *q, struct region *r)
{
    struct places b = {.q = q, .r = r};
    const struct scenario_data *d = NULL;
    for (size_t i = 0; i < q->s->n_data && d == NULL; i++) {
        d = q->s->data[i].role == ROLE_TRAINING_DATA ? &q->s->data[i] : NULL;
    }
    b.place = arena_array(q->arena, MAX_PLACES, sizeof *b.place);
    if (b.place == NULL) {
        return no_memory(q);
    }
    struct region home;
    if (d == NULL || q->data_bytes <= 0) {
        struct source none = {.tier = "", .home_tier = "", .text = ""};
        start_place(&b, &none, PLACE_NONE, "", "");
    } else if (home_of(q, d, r, &home)) {
        sources_here(&b, d);
    } else {
        sources_far(&b, d, &home);
    }
    r->place = b.place;
    r->n_places = b.n;
    r->min_usd = (double)INFINITY;
    for (size_t i = 0; i < b.n; i++) {
        r->min_usd = fmin(r->min_usd, floor_usd(&b.place[i]));
    }
    r->min_usd += r->common.usd[BASIS_PLAN];
    return b.rc;
}
