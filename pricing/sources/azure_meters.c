/* What a storage or transfer meter of Azure is: told by serviceName, productName, skuName and the
 * end of meterName (docs/pricing-sources.md section 2, storage-tiers.md section 5). Meters that
 * price nothing of ours (queues, tables, page blobs, mounts, scans) are none. */
#include "azure_retail.h"
#include "gputier/text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int azure_unit(const char *text, struct azure_unit *out)
{
    static const struct {
        const char *written;
        enum azure_measure of;
        enum azure_per per;
    } forms[] = {
        {"", AZURE_COUNT, AZURE_ONCE},        {"GB", AZURE_GIB, AZURE_ONCE},
        {"GiB", AZURE_GIB, AZURE_ONCE},       {"/Month", AZURE_COUNT, AZURE_MONTH},
        {"/Hour", AZURE_COUNT, AZURE_HOUR},   {"Hour", AZURE_COUNT, AZURE_HOUR},
        {"GB/Month", AZURE_GIB, AZURE_MONTH}, {"GiB/Month", AZURE_GIB, AZURE_MONTH},
        {"Hours", AZURE_COUNT, AZURE_HOUR},   {"GiB/Hour", AZURE_GIB, AZURE_HOUR},
        {"GB/Hour", AZURE_GIB, AZURE_HOUR},
    };
    char *rest;
    if (!isdigit((unsigned char)*text)) {
        return GT_EPARSE;
    }
    unsigned long n = strtoul(text, &rest, 10), times = 1;
    if (*rest == 'K' || *rest == 'M') {
        times = *rest == 'K' ? 1000 : 1000000;
        rest++;
    }
    rest += strspn(rest, " ");
    if (n == 0 || n > 1000000000 / times) {
        return GT_EPARSE;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t k = strlen(forms[i].written);
        if (strncmp(rest, forms[i].written, k) == 0 && rest[k + strspn(rest + k, " ")] == '\0') {
            *out = (struct azure_unit){(uint32_t)(n * times), forms[i].of, forms[i].per};
            return 0;
        }
    }
    return GT_EPARSE;
}

#define ONCE(of)                                                                                   \
    {                                                                                              \
        1, of, AZURE_ONCE                                                                          \
    }
#define MONTH(of)                                                                                  \
    {                                                                                              \
        1, of, AZURE_MONTH                                                                         \
    }
#define HOUR(of)                                                                                   \
    {                                                                                              \
        1, of, AZURE_HOUR                                                                          \
    }

/* By the end of the meter's name: the longest that fits counts. also: a tier change down is a write
 * to where it goes (R-AZ-04). */
struct part {
    const char *end, *component, *also;
    enum storage_unit unit;
    struct azure_unit sold;
};
static const struct part blob_parts[] = {
    {"Data Stored", "storage", NULL, SU_GIB_MONTH, MONTH(AZURE_GIB)},
    {"Write Operations", "put", "transition", SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Read Operations", "get", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Priority Read Operations", "retrieval_request_expedited", NULL, SU_REQUEST,
     ONCE(AZURE_COUNT)},
    {"List and Create Container Operations", "list", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"All Other Operations", "other", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Data Write", "upload", NULL, SU_GIB, ONCE(AZURE_GIB)},
    {"Data Retrieval", "retrieval", NULL, SU_GIB, ONCE(AZURE_GIB)},
    {"Priority Data Retrieval", "retrieval_expedited", NULL, SU_GIB, ONCE(AZURE_GIB)},
    {"Early Delete", "early_delete", NULL, SU_GIB_MONTH, ONCE(AZURE_GIB)},
    {"Index Tags", "tags", NULL, SU_OBJECT_MONTH, MONTH(AZURE_COUNT)},
};
static const struct part file_parts[] = {
    {"Data Stored", "storage", NULL, SU_GIB_MONTH, MONTH(AZURE_GIB)},
    {"Write Operations", "put", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Read Operations", "get", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"List Operations", "list", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Other Operations", "other", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Protocol Operations", "other", NULL, SU_REQUEST, ONCE(AZURE_COUNT)},
    {"Data Retrieval", "retrieval", NULL, SU_GIB, ONCE(AZURE_GIB)},
    {"Early Delete", "early_delete", NULL, SU_GIB_MONTH, ONCE(AZURE_GIB)},
};
static const struct part premium_file_parts[] = {
    {"Provisioned", "storage", NULL, SU_GIB_MONTH, MONTH(AZURE_GIB)},
    {"Snapshots", "snapshot", NULL, SU_GIB_MONTH, MONTH(AZURE_GIB)},
};
/* What is bought by the hour in parts: capacity, IOPS, throughput. */
static const struct part provisioned_parts[] = {
    {"Provisioned Capacity", "storage", NULL, SU_GIB_MONTH, HOUR(AZURE_GIB)},
    {"Provisioned Storage", "storage", NULL, SU_GIB_MONTH, HOUR(AZURE_GIB)},
    {"Provisioned IOPS", "provisioned_iops", NULL, SU_IOPS_MONTH, HOUR(AZURE_COUNT)},
    {"Provisioned Throughput (MBps)", "throughput", NULL, SU_MIBPS_MONTH, HOUR(AZURE_COUNT)},
    {"Provisioned Throughput MiBPS", "throughput", NULL, SU_MIBPS_MONTH, HOUR(AZURE_COUNT)},
};
static const struct part snapshot_parts[] = {
    {"Snapshots", "snapshot", NULL, SU_GIB_MONTH, MONTH(AZURE_GIB)},
};

/* Whole words at the end of the meter's name, and what is left of it is the sku's own words (a
 * class, a redundancy), so that "Hot LRS Blob Inventory Data Stored" is not storage. */
static bool own_words(const char *head, size_t n)
{
    static const char *const words[] = {"Hot",     "Cool",    "Cold",  "Archive", "Standard",
                                        "Premium", "LRS",     "ZRS",   "GRS",     "GZRS",
                                        "RA-GRS",  "RA-GZRS", "Ultra", "SSD",     "HDD"};
    while (n > 0) {
        size_t k = 0;
        bool known = false;
        while (k < n && head[k] != ' ') {
            k++;
        }
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            known |= strlen(words[i]) == k && strncmp(words[i], head, k) == 0;
        }
        if (!known) {
            return false;
        }
        k += k < n;
        head += k;
        n -= k;
    }
    return true;
}

static bool take_part(const struct part *parts, size_t n, const char *meter, struct azure_meter *m)
{
    for (size_t i = 0; i < n; i++) {
        size_t all = strlen(meter), k = strlen(parts[i].end);
        if (azure_ends(meter, parts[i].end) && (all == k || meter[all - k - 1] == ' ') &&
            own_words(meter, all == k ? 0 : all - k - 1)) {
            m->component = parts[i].component;
            m->also = parts[i].also;
            m->unit = parts[i].unit;
            m->sold = parts[i].sold;
            return true;
        }
    }
    return false;
}
#define TAKE(parts, meter, m) take_part(parts, sizeof(parts) / sizeof *(parts), meter, m)

/* "Cool ZRS" to "cool_zrs" behind a prefix, when the last word is one of the redundancies. */
static bool name_tier(struct azure_meter *m, const char *prefix, const char *class_name,
                      const char *redundancy, const char *const *redundancies)
{
    for (; *redundancies; redundancies++) {
        if (strcmp(*redundancies, redundancy) == 0) {
            snprintf(m->name, sizeof m->name, "%s%s_%s", prefix, class_name, redundancy);
            for (char *p = m->name; *p; p++) {
                *p = (char)tolower((unsigned char)*p);
            }
            m->tier = m->name;
            return true;
        }
    }
    return false;
}

static bool blob_meter(const struct azure_item *item, const char *redundancy, struct azure_meter *m)
{
    static const char *const classes[] = {"Hot ", "Cool ", "Cold ", "Archive "};
    static const char *const redundancies[] = {"LRS", "ZRS", "GRS", NULL};
    const char *sku = item->f[Z_SKU];
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t n = strlen(classes[i]);
        if (strncmp(sku, classes[i], n) == 0 && redundancy == sku + n) {
            char class_name[16];
            snprintf(class_name, sizeof class_name, "%.*s", (int)n - 1, classes[i]);
            /* some meters of the older kind of account exist only there */
            m->rank = strcmp(item->f[Z_PRODUCT], "Blob Storage") == 0;
            return name_tier(m, "azure_blob_", class_name, redundancy, redundancies) &&
                   TAKE(blob_parts, item->f[Z_METER], m);
        }
    }
    return false;
}

static bool file_meter(const struct azure_item *item, const char *redundancy, struct azure_meter *m)
{
    static const struct {
        const char *sku, *class_name;
        const struct part *parts;
        size_t n;
    } kinds[] = {
        {"Hot ", "hot", file_parts, sizeof file_parts / sizeof *file_parts},
        {"Cool ", "cool", file_parts, sizeof file_parts / sizeof *file_parts},
        {"Standard ", "transaction_optimized", file_parts, sizeof file_parts / sizeof *file_parts},
        {"Premium ", "premium", premium_file_parts,
         sizeof premium_file_parts / sizeof *premium_file_parts},
        {"SSD ", "provisioned_ssd", provisioned_parts,
         sizeof provisioned_parts / sizeof *provisioned_parts},
        {"HDD ", "provisioned_hdd", provisioned_parts,
         sizeof provisioned_parts / sizeof *provisioned_parts},
    };
    static const char *const redundancies[] = {"LRS", "ZRS", "GRS", "GZRS", NULL};
    const char *sku = item->f[Z_SKU];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].sku);
        if (strncmp(sku, kinds[i].sku, n) == 0 && redundancy == sku + n) {
            return name_tier(m, "azure_files_", kinds[i].class_name, redundancy, redundancies) &&
                   take_part(kinds[i].parts, kinds[i].n, item->f[Z_METER], m);
        }
    }
    return false;
}

/* Disks are sold by step: a disk is billed as the next size that holds it (R-AZ-10). Hard disks
 * begin with step 4. */
static const struct {
    int number, gib;
} steps[] = {{1, 4},    {2, 8},     {3, 16},    {4, 32},    {6, 64},    {10, 128},   {15, 256},
             {20, 512}, {30, 1024}, {40, 2048}, {50, 4096}, {60, 8192}, {70, 16384}, {80, 32767}};

/* "P10 LRS Disk" and the older "P10 Disks". */
static bool disk_step(const char *meter, char letter, const char *redundancy, struct azure_meter *m)
{
    char *rest;
    if (meter[0] != letter || !isdigit((unsigned char)meter[1])) {
        return false;
    }
    long number = strtol(meter + 1, &rest, 10);
    char wanted[24];
    snprintf(wanted, sizeof wanted, " %.4s Disk", redundancy);
    if (strcmp(rest, wanted) != 0 && strcmp(rest, " Disks") != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].number == number) {
            bool first = i == 0 || (letter == 'S' && steps[i].number == 4);
            m->from_gib = first ? 0 : (money)steps[i - 1].gib * MONEY_SCALE;
            m->step_gib = (money)steps[i].gib * MONEY_SCALE;
            m->component = "storage";
            m->unit = SU_DISK_MONTH;
            m->sold = (struct azure_unit)MONTH(AZURE_COUNT);
            return true;
        }
    }
    return false;
}

static bool disk_meter(const struct azure_item *item, const char *redundancy, struct azure_meter *m)
{
    static const struct {
        char letter;
        const char *product, *lrs, *zrs;
    } kinds[] = {
        {'P', "Premium SSD Managed Disks", "azure_disk_premium", "azure_disk_premium_zrs"},
        {'E', "Standard SSD Managed Disks", "azure_disk_standard_ssd",
         "azure_disk_standard_ssd_zrs"},
        {'S', "Standard HDD Managed Disks", "azure_disk_standard_hdd", NULL},
    };
    bool zrs = strcmp(redundancy, "ZRS") == 0;
    const char *meter = item->f[Z_METER];
    for (size_t i = 0; (zrs || strcmp(redundancy, "LRS") == 0) && i < 3; i++) {
        m->tier = zrs ? kinds[i].zrs : kinds[i].lrs;
        if (!m->tier) {
            continue;
        }
        if (disk_step(meter, kinds[i].letter, redundancy, m) ||
            (strcmp(item->f[Z_PRODUCT], kinds[i].product) == 0 && TAKE(snapshot_parts, meter, m))) {
            return true;
        }
    }
    return false;
}

static bool transfer_meter(const struct azure_item *item, struct azure_meter *m)
{
    static const struct {
        const char *end, *to, *note;
    } ways[] = {
        {"Inter-Availability Zone Data Transfer Out", "other_az",
         "the list states it; the vendor withdrew this charge in May 2024"},
        {"Inter-Region Data Transfer", "other_region", NULL},
        {"Inter-Region Data Transfer Out", "other_region", NULL},
        {"Intra Continent Data Transfer Out", "other_region_same_continent", NULL},
        {"Data Transfer Out", "internet", NULL},
    };
    const char *meter = item->f[Z_METER], *product = item->f[Z_PRODUCT];
    /* traffic that takes the internet providers' way is chosen by the customer, and cheaper */
    bool isp = strcmp(product, "Bandwidth - Routing Preference: Internet") == 0;
    m->unit = SU_GIB;
    m->sold = (struct azure_unit)ONCE(AZURE_GIB);
    m->rank = strcmp(product, "Rtn Preference: MGN") != 0;
    if (strncmp(meter, "Inter Continent Data Transfer Out", 33) == 0 ||
        strncmp(meter, "Inter-Continent Data Transfer Out", 33) == 0) {
        m->component = "other_continent";
        return !isp;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t all = strlen(meter), k = strlen(ways[i].end);
        if (azure_ends(meter, ways[i].end) &&
            (all == k || (strncmp(meter, "Standard ", 9) == 0 && all == k + 9))) {
            m->component = isp ? "internet by its providers" : ways[i].to;
            m->note = ways[i].note;
            return !isp || strcmp(ways[i].to, "internet") == 0;
        }
    }
    return false;
}

bool azure_meter(const struct azure_item *item, struct azure_meter *out)
{
    static const struct {
        const char *product;
        bool (*read)(const struct azure_item *item, const char *redundancy, struct azure_meter *m);
    } products[] = {
        {"General Block Blob v2", blob_meter},
        {"Blob Storage", blob_meter},
        {"Files v2", file_meter},
        {"Premium Files", file_meter},
        {"Azure Files Provisioned v2", file_meter},
        {"Premium SSD Managed Disks", disk_meter},
        {"Standard SSD Managed Disks", disk_meter},
        {"Standard HDD Managed Disks", disk_meter},
    };
    const char *service = item->f[Z_SERVICE], *product = item->f[Z_PRODUCT];
    const char *last = strrchr(item->f[Z_SKU], ' ');
    *out = (struct azure_meter){.tier = NULL};
    if (strcmp(service, "Bandwidth") == 0) {
        return transfer_meter(item, out);
    }
    if (strcmp(service, "Storage") != 0 || !last) {
        return false;
    }
    bool v2 = strcmp(product, "Azure Premium SSD v2") == 0;
    if (v2 || strcmp(product, "Ultra Disks") == 0) {
        out->tier = v2 ? "azure_disk_premium_v2" : "azure_disk_ultra";
        return strcmp(last + 1, "LRS") == 0 && TAKE(provisioned_parts, item->f[Z_METER], out);
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (strcmp(product, products[i].product) == 0) {
            return products[i].read(item, last + 1, out);
        }
    }
    return false;
}
