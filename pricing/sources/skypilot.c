/* SkyPilot's catalogue of machines: one CSV a cloud, columns by name because their order differs
 * (docs/pricing-sources.md section 4, catalog README section 1). Known faults of the layout that
 * are answered here: 11 fields under 10 headers (an unquoted "V1,V2" at the end), GCP's machines
 * and accelerators in separate rows, a spot price of 0.00 or equal to the full one (none), GPU
 * memory that is the total, one GPU's or GB in a field named MiB, CRLF line ends. */
#include "skypilot.h"
#include "gpu_names.h"
#include "vast.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory of one GPU from GpuInfo (a Python dict, JSON or a bare name); -1 if it does not say. */
static double info_memory(const char *info, int32_t count)
{
    const char *p = strstr(info, "SizeInMiB'");
    p = p ? p : strstr(info, "SizeInMiB\"");
    double mib = p ? src_figure(p + strlen("SizeInMiB'") + strspn(p + 10, ": ")) : -1;
    if (mib <= 0) {
        return -1;
    }
    double gib = mib < 1024 ? mib : mib / 1024; /* "80" is GB: RunPod */
    /* no GPU has more than 300 GB: then it is the total of all (Vast) */
    return gib > 300 && count > 1 ? gib / count : gib;
}

/* Vast states the total of the machine for each GPU. */
static double one_gpu_memory(const struct offer_row *o, const char *info)
{
    int32_t count = o->gpu_den == 1 && o->gpu_num > 0 ? o->gpu_num : 1;
    if (strcmp(o->vendor, "vast") == 0) {
        double total = info_memory(info, 1);
        return total > 0 ? total / count : total;
    }
    return info_memory(info, count);
}

/* Vast's own name of the GPU stands in the type ("4x-RTX_4060_Ti-32-65536"); the column beside it
 * has lost a part of it ("RTX4060"). "" when the type is not of that form. */
static const char *vast_gpu(struct parser *p, const char *type)
{
    char name[96];
    const char *from = strchr(type, '-');
    size_t n = from ? strcspn(from + 1, "-") : 0;
    if (n == 0 || n >= sizeof name) {
        return "";
    }
    for (size_t i = 0; i < n; i++) {
        name[i] = from[1 + i] == '_' ? ' ' : from[1 + i];
    }
    uint32_t id = intern_add(p->strings, name, n);
    return id == UINT32_MAX ? "" : intern_text(p->strings, id);
}

static int take_gpu(struct parser *p, const struct csv_row *row, struct offer_row *o,
                    struct gt_error *err)
{
    const char *name = table_text(p, row, SKY_GPU), *count = table_text(p, row, SKY_GPU_COUNT);
    const struct gpu_instance *known = gpu_of_instance(o->vendor, o->instance_type);
    if (known) {
        o->gpu = known->model;
        o->gpu_num = known->num;
        o->gpu_den = known->den;
        o->gpu_memory_gib = (double)known->memory_gib;
        return 0;
    }
    if (*name == '\0') {
        return 0;
    }
    if (!src_name_ok(name) || src_gpu_count(count, &o->gpu_num, &o->gpu_den) != 0) {
        int rc = table_bad(p, row, SKY_GPU_COUNT, err);
        return rc ? rc : GT_ENOTFOUND;
    }
    const char *own = strcmp(o->vendor, "vast") == 0 ? vast_gpu(p, o->instance_type) : "";
    double gib = one_gpu_memory(o, table_text(p, row, SKY_INFO));
    o->gpu = gpu_canonical(*own ? own : name, gib, o->vendor, o->instance_type).model;
    o->gpu_memory_gib = gpu_nominal_memory(o->gpu, gib);
    if (*own && strstr(o->gpu, "GB") && !strstr(own, "GB")) { /* one type's name for 40 and 80 GB */
        char type[256];
        int n = snprintf(type, sizeof type, "%s-%.0fGB", o->instance_type, o->gpu_memory_gib);
        uint32_t id =
            n > 0 && n < (int)sizeof type ? intern_add(p->strings, type, (size_t)n) : UINT32_MAX;
        if (id == UINT32_MAX) {
            return gt_fail(err, GT_ENOMEM, p->ctx->name, "out of memory");
        }
        o->instance_type = intern_text(p->strings, id);
    }
    return 0;
}

/* "Oregon, US, NA", ", CA, NA": the country is the second part, behind it stands the continent. */
static const char *vast_place(const char *place, char out[64])
{
    char cut[96];
    const char *first = strchr(place, ','), *last = strrchr(place, ',');
    size_t n = first && last != first ? (size_t)(last - place) : strlen(place);
    snprintf(cut, sizeof cut, "%.*s", (int)(n < sizeof cut ? n : sizeof cut - 1), place);
    return vast_region(cut, out);
}

/* The catalogue fills an unknown spot price with the full one, rounded to four or five digits. */
static bool same_price(const struct offer_row *o, money spot)
{
    money off = o->price_per_hour > spot ? o->price_per_hour - spot : spot - o->price_per_hour;
    return o->price_state == PRICE_KNOWN && off <= o->price_per_hour / 10000;
}

int sky_put(struct parser *p, struct offer_row *o, const char *price, const char *spot,
            struct gt_error *err)
{
    money spot_price = 0;
    int rc;
    o->purchase = PURCHASE_ON_DEMAND;
    o->price_state = *price == '\0' ? PRICE_NONE : PRICE_KNOWN;
    o->price_per_hour = 0;
    if (*price != '\0' && src_price(price, &o->price_per_hour) != 0) {
        return GT_EPARSE;
    }
    if (*spot != '\0' && src_price(spot, &spot_price) != 0) {
        return GT_EPARSE;
    }
    if (o->price_state == PRICE_KNOWN && o->price_per_hour == 0) { /* zero is not a price */
        o->price_state = PRICE_NONE;
    }
    rc = staging_put_offer(p->ctx->staging, o, err);
    p->ctx->rows += rc == 0;
    /* an equal one is no signal of a spot market; a higher one stays for `prices check` */
    if (rc != 0 || spot_price == 0 || same_price(o, spot_price)) {
        return rc;
    }
    if (o->price_state == PRICE_KNOWN && spot_price > o->price_per_hour && !o->note) {
        o->note = "spot above on demand in the source";
    }
    o->purchase = PURCHASE_SPOT;
    o->price_state = PRICE_KNOWN;
    o->price_per_hour = spot_price;
    rc = staging_put_offer(p->ctx->staging, o, err);
    p->ctx->rows += rc == 0;
    return rc;
}

/* AWS's Local Zones are regions of their own, at their own prices; the catalogue repeats the
 * parent's price for them, so those rows are left out. */
static bool local_zone(const char *zone)
{
    size_t first = strcspn(zone, "-"), dashes = 0;
    for (const char *p = zone; *p != '\0'; p++) {
        dashes += *p == '-';
    }
    /* ids: use1-az1, usw2-lax1-az1; names: us-gov-west-1a, us-west-2-lax-1a */
    bool id = first > 0 && zone[first - 1] >= '0' && zone[first - 1] <= '9';
    return id ? dashes == 2 : dashes >= 4;
}

/* What a price of a vendor's part of the catalogue does not say. */
static const char *vendor_note(const char *vendor)
{
    static const char *const notes[][2] = {
        {"lambda", "every type is listed in every region (no real availability)"},
        {"oci", "OCI lists one price for all regions; says nothing about availability there"},
        {"vast", "marketplace asking price"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (strcmp(notes[i][0], vendor) == 0) {
            return notes[i][1];
        }
    }
    return NULL;
}

static int sky_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    struct offer_row o = src_offer(p->ctx);
    char vendor[48], country[64];
    const char *v = table_text(p, row, SKY_VENDOR);
    o.vendor = src_vendor(*v ? v : p->vendor, vendor);
    if (!o.vendor) {
        return csv_fail(err, GT_EINVALID, p->ctx->name, row,
                        "the file does not say whose prices these are; name the vendor "
                        "(--vendor aws)");
    }
    o.note = vendor_note(o.vendor);
    o.instance_type = table_text(p, row, SKY_TYPE);
    o.region = table_text(p, row, SKY_REGION);
    if (strcmp(o.vendor, "vast") == 0) {
        o.region = vast_place(o.region, country);
    }
    o.zone = table_text(p, row, SKY_ZONE);
    if (!src_name_ok(o.region) || (*o.zone && !src_name_ok(o.zone))) {
        return table_bad(p, row, SKY_REGION, err);
    }
    if (strcmp(o.vendor, "aws") == 0 && local_zone(o.zone)) {
        src_skip(p->ctx, "Local Zones at the parent's price", 1);
        return 0;
    }
    o.vcpus = src_figure(table_text(p, row, SKY_VCPUS));
    o.memory_gib = src_figure(table_text(p, row, SKY_MEMORY));
    if (strcmp(o.vendor, "gcp") == 0) {
        return sky_gcp_row(p, row, &o, err);
    }
    if (!src_name_ok(o.instance_type)) {
        return table_bad(p, row, SKY_TYPE, err);
    }
    int rc = take_gpu(p, row, &o, err);
    if (rc != 0) {
        return rc == GT_ENOTFOUND ? 0 : rc;
    }
    rc = sky_put(p, &o, table_text(p, row, SKY_PRICE), table_text(p, row, SKY_SPOT), err);
    return rc == GT_EPARSE ? table_bad(p, row, SKY_PRICE, err) : rc;
}

static int sky_end(struct parser *p, struct gt_error *err)
{
    snprintf(p->ctx->scope, sizeof p->ctx->scope, "%s", p->vendor);
    return sky_gcp_end(p, err);
}

static const struct table_shape sky_table = {
    .scope = "",
    .column = {"*InstanceType", "*Price", "*SpotPrice", "*Region", "AvailabilityZone",
               "*AcceleratorName", "*AcceleratorCount", "vCPUs", "MemoryGiB", "GpuInfo", "vendor",
               NULL},
    .row = sky_row,
    .end = sky_end,
    .extra_fields_ok = true, /* the unquoted V1,V2 stands behind every column that is read */
};
static const struct table_shape *const shapes[] = {&sky_table, NULL};

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)name;
    return table_recognise(shapes, head, len);
}

static int open_list(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    return table_open(ctx, shapes, ',', out, err);
}

const struct source_def source_skypilot = {
    .id = "skypilot",
    .kind = SOURCE_CATALOG,
    .vendor = "",
    .default_url =
        "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs",
    .default_on = true,
    .expected_bytes = 12000000,
    .help = "SkyPilot's catalogue: machines of a dozen clouds, on demand and spot",
    .recognise = recognise,
    .parse_open = open_list,
    .parse_feed = table_feed,
    .parse_close = table_close,
    .parse_abort = table_abort,
    .fetch = skypilot_fetch,
};

/* Nebius tells its prices to its own accounts only (a gRPC calculator); the catalogue has them. */
static bool never(const char *head, size_t len, const char *name)
{
    (void)head;
    (void)len;
    (void)name;
    return false; /* such a file is SkyPilot's */
}

static int open_nebius(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    ctx->vendor = "nebius";
    return open_list(ctx, out, err);
}

const struct source_def source_nebius = {
    .id = "nebius",
    .kind = SOURCE_CATALOG,
    .vendor = "nebius",
    .default_url = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs"
                   "/v8/nebius/vms.csv",
    .expected_bytes = 20000,
    .help = "Nebius as SkyPilot's catalogue has it: Nebius publishes no list of its own",
    .recognise = never,
    .parse_open = open_nebius,
    .parse_feed = table_feed,
    .parse_close = table_close,
    .parse_abort = table_abort,
    .fetch = nebius_fetch,
};
