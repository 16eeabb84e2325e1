/* DigitalOcean's sizes (docs/pricing-sources.md section 5): whole machines by the hour in the
 * regions that a size lists; none means that it can not be had. GPU memory is the total of the
 * machine; memory is in MB of 2^20. Pages are numbered. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <string.h>

static int adjust(struct records *r, const struct rec *e, struct cloud_machine *m,
                  struct gt_error *err)
{
    (void)r;
    (void)err;
    const struct rec *disks = rec_get(e, "disk_info");
    for (const struct rec *d = disks ? disks->child : NULL; d; d = d->next) {
        if (strcmp(rec_text(d, "type"), "scratch") == 0 &&
            strcmp(rec_text(d, "size.unit"), "gib") == 0) {
            double gib = src_figure(rec_text(d, "size.amount"));
            m->o.local_nvme_gb = gib > 0 ? gib * 1.073741824 : -1;
        }
    }
    return 0;
}

static const struct cloud_map map = {
    .vendor = "digitalocean",
    .type = "slug",
    .gpu = "gpu_info.model",
    .gpu_count = "gpu_info.count",
    .gpu_memory = "gpu_info.vram.amount",
    .gpu_memory_total = true,
    .vcpus = "vcpus",
    .memory = "memory",
    .memory_per_gib = 1024,
    .price = "price_hourly",
    .regions = "regions",
    .adjust = adjust,
};

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    return cloud_entry(r, &map, e, err);
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    (void)err;
    if (strcmp(path, "links.pages.next") == 0) { /* only whether there is one counts */
        snprintf(r->ctx->next, sizeof r->ctx->next, "%s", *text ? "more" : "");
    }
    return 0;
}

/* "links.pages.none" only makes the way to the address of the page that follows. */
static const struct records_shape shape = {.list = {"sizes", "links.pages.none"},
                                           .entry = entry,
                                           .field = field,
                                           .regions_vary = true,
                                           .pages = true};

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    return pages_fetch(run, "?per_page=200&page=%d", err);
}

const struct source_def source_digitalocean = {
    .id = "digitalocean",
    .vendor = "digitalocean",
    .default_url = "https://api.digitalocean.com/v2/sizes",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 200000,
    .help = "DigitalOcean's sizes, machines with GPUs and without",
    .known_by = {{"\"slug\"", "\"price_hourly\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = fetch,
};
