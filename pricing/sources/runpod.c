/* RunPod: GPU types priced by the GPU, in the secure cloud and in the community cloud, on demand
 * and spot; sold by one to maxGpuCount (docs/pricing-sources.md section 5 and 5.1). A price where
 * the cloud's flag is false is stale: a B200 at 0.5. vCPUs and memory are not in the list. Whether
 * one GPU is in stock is kept as a series. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS 3 /* index of the list of what went wrong, in an answer of status 200 */

static const struct {
    const char *region, *sold, *price, *spot, *stock;
} clouds[] = {
    {"secure", "secureCloud", "securePrice", "secureSpotPrice", "secureStock"},
    {"community", "communityCloud", "communityPrice", "communitySpotPrice", "communityStock"},
};

/* lowestPrice(…) { stockStatus }: a word such as "High", null when there is none. */
static int put_stock(struct records *r, const struct rec *e, const struct cloud_machine *m,
                     const char *region, const char *key, struct gt_error *err)
{
    const struct rec *stock = rec_get(e, key);
    if (!stock || stock->kind != JSON_OBJECT) {
        return 0;
    }
    if (!r->state && !(r->state = arena_alloc(r->arena, 1))) { /* the answer speaks of stock */
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    return cloud_put_capacity(r, m, region, -1, *rec_text(stock, "stockStatus") != '\0', err);
}

/* n GPUs in one cloud. */
static int put_count(struct records *r, const struct rec *e, int n, struct gt_error *err)
{
    char type[260];
    const char *name = rec_text(e, "displayName");
    struct cloud_machine m = cloud_machine(r->ctx, "runpod");
    snprintf(type, sizeof type, "%dx %.200s", n, rec_text(e, "id"));
    m.o.instance_type = type;
    m.o.sku = rec_text(e, "id");
    m.gpu = rec_text(e, "id"); /* says the form where the shown name does not */
    m.gpu_memory = src_figure(rec_text(e, "memoryInGb"));
    m.o.gpu_num = n;
    m.times = n;
    cloud_set_gpu(&m);
    if (m.o.gpu == m.gpu && *name) { /* not in the table: by the name that people know */
        m.o.gpu = name;
    }
    int rc = 0;
    for (size_t i = 0; i < sizeof clouds / sizeof *clouds && rc == 0; i++) {
        m.price = rec_text(e, clouds[i].price);
        m.spot = rec_text(e, clouds[i].spot);
        if (rec_true(e, clouds[i].sold)) {
            rc = cloud_put(r, &m, clouds[i].region, err);
            if (rc == 0 && n == 1) {
                rc = put_stock(r, e, &m, clouds[i].region, clouds[i].stock, err);
            }
        } else if (n == 1) {
            src_skip(r->ctx, "not in this cloud", 1);
        }
    }
    return rc;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    if (list == ERRORS) {
        return gt_fail(err, GT_EHTTP, r->ctx->name, "the vendor answers: %.200s",
                       rec_text(e, "message"));
    }
    const char *id = rec_text(e, "id"), *max = rec_text(e, "maxGpuCount");
    double memory = src_figure(rec_text(e, "memoryInGb"));
    int32_t n = 1, den = 1;
    if (strcmp(id, "unknown") == 0 || memory == 0) { /* the vendor's placeholder */
        src_skip(r->ctx, "placeholders", 1);
        return 0;
    }
    if (!src_name_ok(id)) {
        return records_bad(r, "GPU id", id, err);
    }
    if (*max && (src_gpu_count(max, &n, &den) != 0 || den != 1 || n > 64)) {
        return records_bad(r, "maxGpuCount", max, err);
    }
    int rc = 0;
    for (int i = 1; i <= n && rc == 0; i++) {
        rc = put_count(r, e, i, err);
    }
    return rc;
}

static int end(struct records *r, struct gt_error *err)
{
    (void)err;
    if (r->state) {
        staging_series_complete(r->ctx->staging);
    }
    return 0;
}

static const struct records_shape shape = {
    .list = {"", "data.gpuTypes", "gpuTypes", [ERRORS] = "errors"}, .entry = entry, .end = end};

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    static const char query[] =
        "{\"query\":\"{gpuTypes{id displayName memoryInGb maxGpuCount secureCloud communityCloud "
        "securePrice communityPrice secureSpotPrice communitySpotPrice "
        "secureStock:lowestPrice(input:{gpuCount:1,secureCloud:true}){stockStatus} "
        "communityStock:lowestPrice(input:{gpuCount:1,secureCloud:false}){stockStatus}}}\"}";
    return key_fetch(run, "Authorization: Bearer ", query, err);
}

const struct source_def source_runpod = {
    .id = "runpod",
    .vendor = "runpod",
    .default_url = "https://api.runpod.io/graphql",
    .default_on = true,
    .expected_bytes = 20000,
    .help = "RunPod's GPU types, secure and community cloud, on demand and spot",
    .known_by = {{"\"securePrice\"", "\"communityPrice\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = fetch,
};
