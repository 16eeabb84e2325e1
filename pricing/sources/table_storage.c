/* Tables of storage rates as people collect them: vendor, region, product, tier, component, unit,
 * from_qty, to_qty, usd, source, date. Names follow the vendors' pages; they become the tiers and
 * components of product.md section 7. Rows of products without such a tier are left out. */
#include "tables.h"
#include <stdio.h>
#include <string.h>

enum { VENDOR, REGION, PRODUCT, TIER, COMPONENT, UNIT, FROM, TO, USD, SOURCE, DATE };

static const struct {
    const char *vendor, *product, *tier, *name;
} tiers[] = {
    {"aws", "EBS", "gp2", "ebs_gp2"},
    {"aws", "EBS", "gp3", "ebs_gp3"},
    {"aws", "EBS", "io1", "ebs_io1"},
    {"aws", "EBS", "io2", "ebs_io2"},
    {"aws", "EBS", "st1", "ebs_st1"},
    {"aws", "EBS", "sc1", "ebs_sc1"},
    {"aws", "EBS", "standard", "ebs_standard"},
    {"aws", "EFS", "Standard", "efs_standard"},
    {"aws", "EFS", "Standard-IA", "efs_ia"},
    {"aws", "EFS", "Archive", "efs_archive"},
    {"aws", "FSx Lustre", "Persistent SSD 125 MB/s/TiB", "fsx_lustre_persistent"},
    {"aws", "FSx Lustre", "Scratch 2 SSD", "fsx_lustre_scratch"},
    {"aws", "S3", "Standard", "s3_standard"},
    {"aws", "S3", "Standard-IA", "s3_standard_ia"},
    {"aws", "S3", "One Zone-IA", "s3_onezone_ia"},
    {"aws", "S3", "Intelligent-Tiering", "s3_intelligent_tiering"},
    {"aws", "S3", "Glacier Instant Retrieval", "s3_glacier_ir"},
    {"aws", "S3", "Glacier Flexible Retrieval", "s3_glacier_flexible"},
    {"aws", "S3", "Glacier Deep Archive", "s3_deep_archive"},
    {"aws", "S3", "Express One Zone", "s3_express"},
    {"azure", "Blob", "Hot LRS", "azure_blob_hot_lrs"},
    {"azure", "Blob", "Hot ZRS", "azure_blob_hot_zrs"},
    {"azure", "Blob", "Hot GRS", "azure_blob_hot_grs"},
    {"azure", "Blob", "Cool LRS", "azure_blob_cool_lrs"},
    {"azure", "Blob", "Cool ZRS", "azure_blob_cool_zrs"},
    {"azure", "Blob", "Cool GRS", "azure_blob_cool_grs"},
    {"azure", "Blob", "Cold ZRS", "azure_blob_cold_zrs"},
    {"azure", "Blob", "Archive LRS", "azure_blob_archive_lrs"},
    {"azure", "Managed Disks", "Premium SSD P", "azure_disk_premium"},
    {"azure", "Managed Disks", "Standard SSD E", "azure_disk_standard_ssd"},
    {"azure", "Managed Disks", "Standard HDD S", "azure_disk_standard_hdd"},
    {"azure", "Files", "Hot LRS", "azure_files_hot_lrs"},
    {"azure", "Files", "Hot ZRS", "azure_files_hot_zrs"},
    {"azure", "Files", "Hot GRS", "azure_files_hot_grs"},
    {"azure", "Files", "Cool LRS", "azure_files_cool_lrs"},
    {"azure", "Files", "Cool ZRS", "azure_files_cool_zrs"},
    {"azure", "Files", "Cool GRS", "azure_files_cool_grs"},
    {"azure", "Files", "Premium LRS", "azure_files_premium_lrs"},
    {"azure", "Files", "Premium ZRS", "azure_files_premium_zrs"},
    {"gcp", "GCS", "Standard", "gcs_standard"},
    {"gcp", "GCS", "Nearline", "gcs_nearline"},
    {"gcp", "GCS", "Coldline", "gcs_coldline"},
    {"gcp", "GCS", "Archive", "gcs_archive"},
    {"gcp", "GCS multi-region", "Standard", "gcs_standard"},
    {"gcp", "GCS multi-region", "Nearline", "gcs_nearline"},
    {"gcp", "GCS multi-region", "Coldline", "gcs_coldline"},
    {"gcp", "GCS multi-region", "Archive", "gcs_archive"},
    {"gcp", "PersistentDisk", "pd-standard", "gcp_pd_standard"},
    {"gcp", "PersistentDisk", "pd-balanced", "gcp_pd_balanced"},
    {"gcp", "PersistentDisk", "pd-ssd", "gcp_pd_ssd"},
    {"gcp", "hyperdisk-extreme", "hyperdisk-extreme", "gcp_hyperdisk_extreme"},
    {"cloudflare", "R2", "Standard", "r2_standard"},
    {"cloudflare", "R2", "Infrequent Access", "r2_ia"},
    {"oci", "Object Storage", "Standard", "oci_standard"},
    {"oci", "Object Storage", "Infrequent Access", "oci_ia"},
    {"oci", "Object Storage", "Archive", "oci_archive"},
    {"oci", "Block Volume", "all", "oci_block"},
    {"oci", "File Storage", "Standard", "oci_file"},
};

static const struct {
    const char *written, *component;
} components[] = {
    {"storage", "storage"},
    {"provisioned_storage", "storage"},
    {"storage_frequent", "storage_frequent"},
    {"storage_infrequent", "storage_infrequent"},
    {"storage_archive_access", "storage_archive_access"},
    {"storage_deep_archive_access", "storage_deep_archive_access"},
    {"get", "get"},
    {"put", "put"},
    {"list", "list"},
    {"delete", "delete"},
    {"requests", "put"},
    {"requests", "get"},
    {"requests", "list"},
    {"transition", "transition"},
    {"retrieval", "retrieval"},
    {"retrieval_standard", "retrieval"},
    {"retrieval_bulk", "retrieval_bulk"},
    {"retrieval_expedited", "retrieval_expedited"},
    {"retrieval_request_standard", "retrieval_request"},
    {"retrieval_request_bulk", "retrieval_request_bulk"},
    {"retrieval_request_expedited", "retrieval_request_expedited"},
    {"monitoring", "monitoring"},
    {"upload", "upload"},
    {"read", "read"},
    {"write", "write"},
    {"provisioned_iops", "provisioned_iops"},
    {"throughput", "throughput"},
    {"early_delete", "early_delete"},
};

static const struct {
    const char *written;
    enum storage_unit unit;
    uint32_t qty;
} units[] = {
    {"GiB-month", SU_GIB_MONTH, 1},        {"GiB", SU_GIB, 1},
    {"1k requests", SU_REQUEST, 1000},     {"10k requests", SU_REQUEST, 10000},
    {"1M requests", SU_REQUEST, 1000000},  {"10k operations", SU_REQUEST, 10000},
    {"1k objects", SU_OBJECT_MONTH, 1000}, {"IOPS-month", SU_IOPS_MONTH, 1},
    {"MiBps-month", SU_MIBPS_MONTH, 1},    {"disk-month", SU_DISK_MONTH, 1},
};

static const char *tier_of(const char *vendor, const char *product, const char *tier)
{
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        bool step = strcmp(product, "Managed Disks") == 0;
        if (strcmp(tiers[i].vendor, vendor) == 0 && strcmp(tiers[i].product, product) == 0 &&
            (step ? strncmp(tier, tiers[i].tier, strlen(tiers[i].tier)) == 0 &&
                        strchr(tier, '(') != NULL
                  : strcmp(tiers[i].tier, tier) == 0)) {
            return tiers[i].name;
        }
    }
    return NULL;
}

/* "GB" is 2^30 bytes at the big clouds, 10^9 at OCI and Cloudflare. "above N" begins the bracket
 * that a column left at 0. False for a unit that no component is sold by. */
static bool take_unit(const char *written, const char *vendor, struct storage_rate_row *s)
{
    char unit[64];
    const char *above = strstr(written, " above ");
    bool decimal = strcmp(vendor, "oci") == 0 || strcmp(vendor, "cloudflare") == 0;
    snprintf(unit, sizeof unit, "%.*s", above ? (int)(above - written) : (int)strnlen(written, 60),
             written);
    s->unit_qty = 1;
    if (strcmp(unit, "GB-month") == 0) {
        s->unit = decimal ? SU_GB_MONTH : SU_GIB_MONTH;
        return true;
    }
    if (strcmp(unit, "GB") == 0) {
        s->unit = decimal ? SU_GB : SU_GIB;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].written, unit) == 0) {
            s->unit = units[i].unit;
            s->unit_qty = units[i].qty;
            /* brackets are written in the vendor's units, "5" of 10k requests */
            s->from_qty *= s->unit_qty;
            s->to_qty = s->to_qty < 0 ? -1 : s->to_qty * s->unit_qty;
            if (above && s->from_qty == 0) {
                return src_bracket(above + 7, &s->from_qty) == 0;
            }
            return true;
        }
    }
    return false;
}

/* "Premium SSD P10 (128 GiB)": the step is for disks over half of it up to it. */
static bool take_step(const char *tier, struct storage_rate_row *s)
{
    const char *open = strchr(tier, '(');
    double gib = open ? src_figure(open + 1) : -1;
    if (s->unit != SU_DISK_MONTH) {
        return true;
    }
    if (gib < 1) {
        return false;
    }
    s->to_qty = (money)gib * MONEY_SCALE;
    s->from_qty = gib > 4 ? s->to_qty / 2 : 0;
    return true;
}

static int put(struct parser *p, const struct csv_row *row, struct storage_rate_row *s,
               struct gt_error *err)
{
    static const char *const volumes[] = {"ebs_gp2", "ebs_gp3", "ebs_io1",
                                          "ebs_io2", "ebs_st1", "ebs_sc1"};
    bool snapshot = strcmp(table_text(p, row, PRODUCT), "EBS") == 0 &&
                    strcmp(table_text(p, row, TIER), "snapshot") == 0 &&
                    strcmp(table_text(p, row, COMPONENT), "storage") == 0;
    uint64_t before = p->ctx->rows;
    int rc = 0;
    for (size_t i = 0; rc == 0 && snapshot && i < sizeof volumes / sizeof *volumes; i++) {
        s->tier = volumes[i];
        s->component = "snapshot";
        rc = staging_put_storage(p->ctx->staging, s, err);
        p->ctx->rows += rc == 0;
    }
    s->tier = tier_of(s->vendor, table_text(p, row, PRODUCT), table_text(p, row, TIER));
    for (size_t i = 0; rc == 0 && s->tier && i < sizeof components / sizeof *components; i++) {
        if (strcmp(components[i].written, table_text(p, row, COMPONENT)) == 0) {
            s->component = components[i].component;
            rc = staging_put_storage(p->ctx->staging, s, err);
            p->ctx->rows += rc == 0;
        }
    }
    src_skip(p->ctx, "tiers or parts that no bill has", p->ctx->rows == before);
    return rc;
}

/* Whether the row would be a rate if its unit were known. */
static bool priced(const struct parser *p, const struct csv_row *row, const char *vendor)
{
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        if (strcmp(components[i].written, table_text(p, row, COMPONENT)) == 0) {
            return tier_of(vendor, table_text(p, row, PRODUCT), table_text(p, row, TIER)) != NULL;
        }
    }
    return false;
}

static int storage_row(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    char vendor[48];
    struct storage_rate_row s = {.currency = "USD", .valid_to = GT_TIME_NONE};
    s.vendor = src_vendor(table_text(p, row, VENDOR), vendor);
    s.region = table_text(p, row, REGION);
    if (!s.vendor) {
        return table_refuse(p, row, VENDOR, "expected a vendor's name", err);
    }
    if (!src_name_ok(s.region)) {
        return table_refuse(p, row, REGION, "expected a region's code", err);
    }
    if (src_price(table_text(p, row, USD), &s.rate) != 0) {
        return table_refuse(p, row, USD, "expected a decimal number from 0 to 10^9", err);
    }
    const char *from = table_text(p, row, FROM);
    if ((*from != '\0' && src_bracket(from, &s.from_qty) != 0) || s.from_qty < 0 ||
        src_bracket(table_text(p, row, TO), &s.to_qty) != 0 ||
        (s.to_qty >= 0 && s.to_qty <= s.from_qty)) {
        return table_refuse(p, row, FROM, "expected a bracket that begins before it ends", err);
    }
    s.valid_from = src_loose_date(table_text(p, row, DATE));
    s.as_of = s.valid_from != GT_TIME_NONE ? s.valid_from : p->ctx->as_of;
    if (!take_unit(table_text(p, row, UNIT), s.vendor, &s)) {
        if (priced(p, row, s.vendor)) {
            return table_bad(p, row, UNIT, err); /* told, not guessed */
        }
        src_skip(p->ctx, "rules, no prices", 1); /* days, KB and the like */
        return 0;
    }
    if (!take_step(table_text(p, row, TIER), &s)) {
        src_skip(p->ctx, "rules, no prices", 1);
        return 0;
    }
    return put(p, row, &s, err);
}

const struct table_shape table_storage_prices = {
    .met_elsewhere = true,
    .column = {"*vendor", "*region", "*product", "*tier", "*component", "*unit", "from_qty",
               "to_qty", "*usd", "source", "date", NULL},
    .row = storage_row,
};
