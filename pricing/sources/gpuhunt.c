/* gpuhunt's catalogue: one CSV a cloud (docs/pricing-sources.md section 4), columns instance_name,
 * location, price, cpu, memory, gpu_count, gpu_name, gpu_memory, spot … by name. The file does
 * not say whose prices it holds: its name does ("nebius.csv"), or --vendor. Lambda's GiB were
 * multiplied by 1.074 there; that is taken back. The vendor publishes the files in a zip, which
 * is to be unpacked first. */
#include "cloud.h"
#include "gpu_names.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME, LOCATION, PRICE, SPOT, CPU, MEMORY, GPU, COUNT, GPU_MEMORY };

static int set_gpu(struct parser *p, const struct csv_row *row, struct cloud_machine *m)
{
    const char *count = table_text(p, row, COUNT);
    m->gpu = table_text(p, row, GPU);
    m->gpu_memory = src_figure(table_text(p, row, GPU_MEMORY));
    if (*count == '\0' || strcmp(count, "0") == 0 || *m->gpu == '\0') {
        return 0;
    }
    int rc = src_gpu_count(count, &m->o.gpu_num, &m->o.gpu_den);
    cloud_set_gpu(m);
    return rc || !src_name_ok(m->gpu) ? GT_EPARSE : 0;
}

static int gpuhunt_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    struct cloud_machine m = cloud_machine(p->ctx, "");
    char vendor[48];
    struct offer_row *o = &m.o;
    const char *spot = table_text(p, row, SPOT);
    o->vendor = src_vendor(p->vendor, vendor);
    if (!o->vendor) {
        return csv_fail(err, GT_EINVALID, p->ctx->name, row,
                        "the file does not say whose prices these are; name the vendor "
                        "(--vendor nebius)");
    }
    o->instance_type = table_text(p, row, NAME);
    o->region = table_text(p, row, LOCATION);
    o->vcpus = src_figure(table_text(p, row, CPU));
    o->memory_gib = src_figure(table_text(p, row, MEMORY));
    if (strcmp(o->vendor, "lambda") == 0 && o->memory_gib > 0) {
        o->memory_gib = round(o->memory_gib / 1.074);
    }
    if (!src_name_ok(o->instance_type) || !src_name_ok(o->region)) {
        return table_bad(p, row, src_name_ok(o->region) ? NAME : LOCATION, err);
    }
    if (set_gpu(p, row, &m) != 0) {
        return table_bad(p, row, COUNT, err);
    }
    if (strcmp(spot, "True") != 0 && strcmp(spot, "False") != 0) {
        return table_bad(p, row, SPOT, err);
    }
    o->purchase = spot[0] == 'T' ? PURCHASE_SPOT : PURCHASE_ON_DEMAND;
    const char *price = table_text(p, row, PRICE);
    if (*price != '\0' && src_price(price, &o->price_per_hour) != 0) {
        return table_bad(p, row, PRICE, err);
    }
    o->price_state = o->price_per_hour > 0 ? PRICE_KNOWN : PRICE_NONE;
    int rc = staging_put_offer(p->ctx->staging, o, err);
    p->ctx->rows += rc == 0;
    return rc;
}

static int gpuhunt_end(struct parser *p, struct gt_error *err)
{
    (void)err;
    snprintf(p->ctx->scope, sizeof p->ctx->scope, "%s", p->vendor);
    return 0;
}

static const struct table_shape gpuhunt_table = {
    .scope = "",
    .column = {"*instance_name", "*location", "*price", "*spot", "*cpu", "*memory", "*gpu_name",
               "*gpu_count", "*gpu_memory", NULL},
    .row = gpuhunt_row,
    .end = gpuhunt_end,
};
static const struct table_shape *const shapes[] = {&gpuhunt_table, NULL};

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    return table_recognise(shapes, head, len);
}

static int open_list(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    return table_open(ctx, shapes, ',', out, err);
}

const struct source_def source_gpuhunt = {
    .id = "gpuhunt",
    .kind = SOURCE_CATALOG,
    .vendor = "",
    .help = "gpuhunt's catalogue, an unpacked file a cloud",
    .recognise = recognise,
    .parse_open = open_list,
    .parse_feed = table_feed,
    .parse_close = table_close,
    .parse_abort = table_abort,
};
