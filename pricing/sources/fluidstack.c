/* FluidStack (docs/pricing-sources.md section 5): configurations priced by the GPU, sold in the
 * numbers that are listed; a list of regions that is empty means that none has it now. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <string.h>

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    const struct rec *counts = rec_get(e, "gpu_counts");
    int rc = 0;
    for (const struct rec *c = counts ? counts->child : NULL; c && rc == 0; c = c->next) {
        char type[300];
        struct cloud_machine m = cloud_machine(r->ctx, "fluidstack");
        if (src_gpu_count(c->text, &m.o.gpu_num, &m.o.gpu_den) != 0 || m.o.gpu_den != 1) {
            return records_bad(r, "gpu_counts", c->text, err);
        }
        snprintf(type, sizeof type, "%dx %.200s", m.o.gpu_num, rec_text(e, "gpu_type"));
        m.o.instance_type = type;
        m.gpu = rec_text(e, "gpu_type");
        m.times = m.o.gpu_num;
        m.price = rec_text(e, "price_per_gpu_hr");
        cloud_set_gpu(&m);
        rc = cloud_put_regions(r, &m, rec_get(e, "regions"), err);
    }
    return rc;
}

static const struct records_shape shape = {.list = {""}, .entry = entry, .regions_vary = true};

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    return key_fetch(run, "api-key: ", NULL, err);
}

const struct source_def source_fluidstack = {
    .id = "fluidstack",
    .vendor = "fluidstack",
    .default_url = "https://platform.fluidstack.io/list_available_configurations",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 30000,
    .help = "FluidStack's configurations by the GPU",
    .known_by = {{"\"price_per_gpu_hr\"", "\"gpu_type\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = fetch,
};
