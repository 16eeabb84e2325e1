/* JarvisLabs (docs/pricing-sources.md section 5): GPUs by the hour in a region and a kind of
 * workload, sold by one to num_gpus (text); vCPUs and memory go with each GPU. The vendor says how
 * many are free. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put_count(struct records *r, const struct rec *e, int n, struct gt_error *err)
{
    char type[300];
    const char *kind = rec_text(e, "workload_type"), *region = rec_text(e, "region");
    struct cloud_machine m = cloud_machine(r->ctx, "jarvislabs");
    snprintf(type, sizeof type, "%dx %.200s%s%.60s", n, rec_text(e, "gpu_type"), *kind ? " " : "",
             kind);
    m.o.instance_type = type;
    m.gpu = rec_text(e, "gpu_type");
    m.gpu_memory = src_figure(rec_text(e, "vram"));
    m.o.gpu_num = m.times = n;
    double cpus = src_figure(rec_text(e, "cpus_per_gpu"));
    double ram = src_figure(rec_text(e, "ram_per_gpu"));
    m.o.vcpus = cpus < 0 ? -1 : cpus * n;
    m.o.memory_gib = ram < 0 ? -1 : ram * n;
    m.price = rec_text(e, "price_per_hour");
    m.spot = rec_text(e, "spot_price");
    cloud_set_gpu(&m);
    int rc = cloud_put(r, &m, region, err);
    double spare = src_figure(rec_text(e, "spot_num_free_devices"));
    money spot;
    if (rc == 0 && spare >= 0 && spare < 1e6 && *m.spot && src_price(m.spot, &spot) == 0 &&
        spot > 0) {
        rc = cloud_put_capacity(r, &m, region, spot * n, (int32_t)spare / n, err);
    }
    return rc;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    const char *max = rec_text(e, "num_gpus");
    int32_t n = 1, den = 1;
    if (!src_name_ok(rec_text(e, "gpu_type"))) {
        return records_bad(r, "gpu_type", rec_text(e, "gpu_type"), err);
    }
    if (*max && (src_gpu_count(max, &n, &den) != 0 || den != 1 || n > 64)) {
        return records_bad(r, "num_gpus", max, err);
    }
    int rc = 0;
    for (int i = 1; i <= n && rc == 0; i++) {
        rc = put_count(r, e, i, err);
    }
    return rc;
}

static const struct records_shape shape = {.list = {"server_meta"}, .entry = entry};

const struct source_def source_jarvislabs = {
    .id = "jarvislabs",
    .vendor = "jarvislabs",
    .default_url = "https://backendn.jarvislabs.net/misc/server_meta",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 30000,
    .help = "JarvisLabs' GPUs by region, on demand and spot",
    .known_by = {{"\"server_meta\"", "\"gpu_type\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = bearer_fetch,
};
