/* Hyperstack's price book (docs/pricing-sources.md section 5): a bare list of names and prices an
 * hour, as text. GPUs are told from the rest (vCPU, memory, storage, addresses) by the number that
 * every GPU has in its name. Names are GPUs, not flavours: vCPUs and memory are not in the list,
 * nor regions. */
#include "../http/http.h"
#include "cloud.h"
#include <string.h>

static const struct cloud_map map = {
    .vendor = "hyperstack", .type = "name", .gpu = "name", .price = "value"};

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    struct cloud_machine m;
    const char *name = rec_text(e, "name");
    if (!strpbrk(name, "0123456789")) {
        src_skip(r->ctx, "no GPU", 1);
        return 0;
    }
    int rc = cloud_read(r, &map, e, &m, err);
    if (rc != 0) {
        return rc == GT_ENOTFOUND ? 0 : rc;
    }
    if (rec_true(e, "discount_applied")) {
        m.o.note = "after the discount of the account whose key was used";
    }
    return cloud_put(r, &m, CLOUD_ANY_REGION, err);
}

static const struct records_shape shape = {.list = {""}, .entry = entry};

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    return key_fetch(run, "api_key: ", NULL, err);
}

const struct source_def source_hyperstack = {
    .id = "hyperstack",
    .vendor = "hyperstack",
    .default_url = "https://infrahub-api.nexgencloud.com/v1/pricebook",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 20000,
    .help = "Hyperstack's price book: GPUs by the hour",
    .known_by = {{"\"original_value\"", "\"discount_applied\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = fetch,
};
