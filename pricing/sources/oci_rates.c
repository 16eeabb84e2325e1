/* Oracle Cloud's storage and egress by part number, in every region: the list has one price for
 * all, egress one for each group of continents. Regions: oracle/oci-python-sdk
 * src/oci/regions_definitions.py, realm oc1 (commit 006daa09), and
 * af-casablanca-1 of SkyPilot's catalogue v8. */
#include "oci.h"
#include <string.h>

enum egress { WEST, EAST, SOUTH }; /* as the egress products name their groups */
static const struct {
    const char *code;
    enum egress egress;
} regions[] = {
    {"af-casablanca-1", SOUTH}, {"af-johannesburg-1", SOUTH}, {"ap-chuncheon-1", EAST},
    {"ap-hyderabad-1", EAST},   {"ap-melbourne-1", EAST},     {"ap-mumbai-1", EAST},
    {"ap-osaka-1", EAST},       {"ap-seoul-1", EAST},         {"ap-singapore-1", EAST},
    {"ap-singapore-2", EAST},   {"ap-sydney-1", EAST},        {"ap-tokyo-1", EAST},
    {"ca-montreal-1", WEST},    {"ca-toronto-1", WEST},       {"eu-amsterdam-1", WEST},
    {"eu-frankfurt-1", WEST},   {"eu-madrid-1", WEST},        {"eu-marseille-1", WEST},
    {"eu-milan-1", WEST},       {"eu-paris-1", WEST},         {"eu-stockholm-1", WEST},
    {"eu-zurich-1", WEST},      {"il-jerusalem-1", SOUTH},    {"me-abudhabi-1", SOUTH},
    {"me-dubai-1", SOUTH},      {"me-jeddah-1", SOUTH},       {"me-riyadh-1", SOUTH},
    {"mx-monterrey-1", WEST},   {"mx-queretaro-1", WEST},     {"sa-bogota-1", EAST},
    {"sa-santiago-1", EAST},    {"sa-saopaulo-1", EAST},      {"sa-valparaiso-1", EAST},
    {"sa-vinhedo-1", EAST},     {"uk-cardiff-1", WEST},       {"uk-london-1", WEST},
    {"us-ashburn-1", WEST},     {"us-chicago-1", WEST},       {"us-phoenix-1", WEST},
    {"us-saltlake-2", WEST},    {"us-sanjose-1", WEST},
};
static const char *const egress_part[] = {[WEST] = "B88327", [EAST] = "B93455", [SOUTH] = "B93456"};

static const struct {
    const char *part, *tier, *component;
    enum storage_unit unit;
    uint32_t unit_qty;
    const char *note;
} storage[] = {
    {"B91628", "oci_standard", "storage", SU_GB_MONTH, 1, NULL},
    {"B91627", "oci_standard", "put", SU_REQUEST, 10000, NULL},
    {"B91627", "oci_standard", "get", SU_REQUEST, 10000, NULL},
    {"B91627", "oci_standard", "list", SU_REQUEST, 10000, NULL},
    {"B93000", "oci_ia", "storage", SU_GB_MONTH, 1, NULL},
    {"B93001", "oci_ia", "retrieval", SU_GB, 1, NULL},
    {"B91633", "oci_archive", "storage", SU_GB_MONTH, 1, NULL},
    {"B91961", "oci_block", "storage", SU_GB_MONTH, 1,
     "without performance units, which are charged apart"},
    {"B89057", "oci_file", "storage", SU_GB_MONTH, 1, NULL},
};

const char *oci_region(size_t i)
{
    return i < sizeof regions / sizeof *regions ? regions[i].code : NULL;
}

static int put_storage(struct records *r, const struct oci_product *p, size_t row,
                       const char *region, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < p->n_rates && rc == 0; i++) {
        money qty = (money)storage[row].unit_qty;
        struct storage_rate_row s = {
            .vendor = "oci",
            .region = region,
            .tier = storage[row].tier,
            .component = storage[row].component,
            .unit = storage[row].unit,
            .unit_qty = storage[row].unit_qty,
            .from_qty = p->rate[i].from * qty, /* bracket ends are in thousands of requests too */
            .to_qty = p->rate[i].to < 0 ? -1 : p->rate[i].to * qty,
            .rate = p->rate[i].rate,
            .currency = p->currency,
            .sku = p->number,
            .note = storage[row].note,
            .valid_from = GT_TIME_NONE,
            .valid_to = GT_TIME_NONE,
            .as_of = r->ctx->as_of,
        };
        rc = staging_put_storage(r->ctx->staging, &s, err);
        r->ctx->rows += rc == 0;
    }
    return rc;
}

static int put_egress(struct records *r, const struct oci_product *p, const char *region,
                      struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < p->n_rates && rc == 0; i++) {
        struct transfer_rate_row t = {
            .vendor = "oci",
            .from = region,
            .to = "internet",
            .from_gb = p->rate[i].from,
            .to_gb = p->rate[i].to,
            .gb_bytes = (uint64_t)1 << 30,
            .rate = p->rate[i].rate,
            .currency = p->currency,
            .sku = p->number,
            .valid_from = GT_TIME_NONE,
            .valid_to = GT_TIME_NONE,
            .as_of = r->ctx->as_of,
        };
        rc = staging_put_transfer(r->ctx->staging, &t, err);
        r->ctx->rows += rc == 0;
    }
    return rc;
}

int oci_put_rates(struct records *r, const struct oci *o, struct gt_error *err)
{
    int rc = 0;
    for (size_t row = 0; row < sizeof storage / sizeof *storage; row++) {
        const struct oci_product *p = oci_product(o, storage[row].part);
        for (size_t i = 0; p && rc == 0 && oci_region(i); i++) {
            rc = put_storage(r, p, row, regions[i].code, err);
        }
    }
    for (size_t i = 0; rc == 0 && oci_region(i); i++) {
        const struct oci_product *p = oci_product(o, egress_part[regions[i].egress]);
        rc = p ? put_egress(r, p, regions[i].code, err) : 0;
    }
    return rc;
}
