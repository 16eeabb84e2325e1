/* Lambda: instance types with their price in whole cents and the regions that have some free now
 * (docs/pricing-sources.md section 5). GPU memory stands only in the description; an empty list
 * of regions means sold out, at a price that still holds. Which regions have capacity is kept as
 * a series: in a region that the list names for some type, a type that it does not name there has
 * none, and neither has a region that was named once and is not any more. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <string.h>

#define REGIONS 128
#define TYPES   512
struct lambda {
    const char *region[REGIONS]; /* every one that the list names */
    size_t n_regions, n_types;
    struct type {
        const char *name;
        bool free[REGIONS];
    } type[TYPES];
};

/* The disk in the machine, local NVMe that ends with it, in GiB. */
static int take_disk(struct records *r, const struct rec *e, struct cloud_machine *m,
                     struct gt_error *err)
{
    (void)r, (void)err;
    double gib = src_figure(rec_text(e, "instance_type.specs.storage_gib"));
    m->o.local_nvme_gb = gib > 0 ? gib * 1.073741824 : -1;
    return 0;
}

static const struct cloud_map map = {
    .vendor = "lambda",
    .gpu = "instance_type.gpu_description",
    .gpu_count = "instance_type.specs.gpus",
    .gpu_memory = "instance_type.gpu_description",
    .vcpus = "instance_type.specs.vcpus",
    .memory = "instance_type.specs.memory_gib",
    .price = "instance_type.price_cents_per_hour",
    .cents = 2,
    .regions = "regions_with_capacity_available",
    .adjust = take_disk,
};

static int note_capacity(struct records *r, const char *name, const struct rec *regions)
{
    struct lambda *l = r->state ? r->state : arena_alloc(r->arena, sizeof *l);
    if (!l) {
        return GT_ENOMEM;
    }
    r->state = l;
    if (!regions || l->n_types == TYPES) {
        return 0;
    }
    struct type *t = &l->type[l->n_types++];
    t->name = arena_strdup(r->arena, name);
    for (const struct rec *e = regions->child; e; e = e->next) {
        const char *region = rec_text(e, "name");
        size_t i = 0;
        while (i < l->n_regions && strcmp(l->region[i], region) != 0) {
            i++;
        }
        if (i < l->n_regions || (i < REGIONS && src_name_ok(region))) {
            t->free[i] = true;
        }
        if (i == l->n_regions && i < REGIONS && src_name_ok(region) &&
            !(l->region[l->n_regions++] = arena_strdup(r->arena, region))) {
            return GT_ENOMEM;
        }
    }
    return t->name ? 0 : GT_ENOMEM;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    if (!rec_get(e, "instance_type")) {
        src_skip(r->ctx, "no machine", 1);
        return 0;
    }
    if (note_capacity(r, e->key, rec_get(e, map.regions)) != 0) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    return cloud_entry(r, &map, e, err);
}

static int end(struct records *r, struct gt_error *err)
{
    const struct lambda *l = r->state;
    int rc = 0;
    staging_series_complete(r->ctx->staging);
    for (size_t i = 0; l && i < l->n_types; i++) {
        struct cloud_machine m = cloud_machine(r->ctx, "lambda");
        m.o.instance_type = l->type[i].name;
        for (size_t k = 0; rc == 0 && k < l->n_regions; k++) {
            rc = cloud_put_capacity(r, &m, l->region[k], -1, l->type[i].free[k], err);
        }
    }
    return rc;
}

static const struct records_shape shape = {
    .list = {"", "data"}, .entry = entry, .end = end, .regions_vary = true};

const struct source_def source_lambda = {
    .id = "lambda",
    .vendor = "lambda",
    .default_url = "https://cloud.lambdalabs.com/api/v1/instance-types",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 50000,
    .help = "Lambda's instance types: prices, and the regions with capacity now",
    .known_by = {{"\"instance_type\"", "\"price_cents_per_hour\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = bearer_fetch,
};
