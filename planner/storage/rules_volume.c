/* Rules of what is bought as a whole: volumes, disks and file systems (storage-tiers.md sections 3
 * to 6). Their speeds: storage-throughput.md sections 3 and 4, in bytes a second. */
#include "gputier/units.h"
#include "rules.h"
#include <stdint.h>

#define MIB_S     1048576.0
#define TABLE(t)  .rule = (t), .n = sizeof(t) / sizeof *(t)
#define NO_READS  UINT32_MAX
#define GIB(n)    ((uint64_t)(n)*GT_GIB)
#define TIB(n)    ((uint64_t)(n)*1024 * GT_GIB)
#define HARD_DISK .read_least = GT_MIB /* for large sequential reads */

/* EBS (R-EBS-01 … R-EBS-09): a volume changes its type in place, in any direction, without a fee.
 * The least IOPS of io1 and io2 and all sizes: EC2 API reference, CreateVolume and ModifyVolume. A
 * snapshot holds what a volume held and is no volume: only what is never read may go there, and
 * only where a longest wait is given; 10 minutes are assumed until the first bytes of a volume made
 * of it. In the archive it is kept in
 * full, 90 days at least, and asks up to 72 hours and a fee to leave. */
enum { EBS_SNAPSHOT = 6, EBS_ARCHIVE, EBS_N };
#define EBS(class_, wait, least, most, rule_, ...)                                                 \
    {                                                                                              \
        .tier = "ebs_" class_, .product = PRODUCT_EBS, .class_name = class_, .latency_s = wait,    \
        .volume = true, .step_bytes = GT_GIB, .least_bytes = GIB(least), .most_bytes = TIB(most),  \
        .down = BIT(EBS_N) - 1, .rule = rule_, __VA_ARGS__                                         \
    }
static const struct storage_rule ebs[EBS_N] = {
    EBS("gp3", 0.001, 1, 64, "R-EBS-03", .speed = {.base = 125 * MIB_S}),
    EBS("gp2", 0.001, 1, 16, "R-EBS-01",
        .speed = {.base = 128 * MIB_S, .large_gib = 170, .large = 250 * MIB_S}),
    EBS("io1", 0.001, 4, 16, "R-EBS-04", .iops = 100, .speed = {.base = 125 * MIB_S}),
    EBS("io2", 0.0005, 4, 64, "R-EBS-05", .iops = 100, .speed = {.base = 125 * MIB_S}),
    EBS("st1", 0.01, 125, 16, "R-EBS-06", HARD_DISK,
        .speed = {.per_gib = 40 * MIB_S / 1024, .most = 500 * MIB_S}),
    EBS("sc1", 0.02, 125, 16, "R-EBS-07", .read_least = NO_READS,
        .speed = {.per_gib = 12 * MIB_S / 1024, .most = 192 * MIB_S}),
    [EBS_SNAPSHOT] = {.tier = "ebs_snapshot",
                      .product = PRODUCT_EBS,
                      .class_name = "snapshot",
                      .latency_s = 600,
                      .volume = true,
                      .read_least = NO_READS,
                      .unmounted = true,
                      .price = {"ebs_gp3", "snapshot"},
                      .down = BIT(EBS_N) - 1,
                      .rule = "R-EBS-08"},
    [EBS_ARCHIVE] = {.tier = "ebs_snapshot_archive",
                     .product = PRODUCT_EBS,
                     .class_name = "snapshot archive",
                     .min_days = 90,
                     .latency_s = 259200,
                     .volume = true,
                     .archive = true,
                     .read_least = NO_READS,
                     .unmounted = true,
                     .rule = "R-EBS-09"},
};

/* FSx for Lustre (R-FSX-01): one file system holds everything; it is bought as 1,200 GiB or in
 * steps of 2,400, and all of it is paid. What a scratch one holds is lost with one of its servers.
 */
#define LUSTRE(p, name_, per_tib, ...)                                                             \
    {                                                                                              \
        .tier = "fsx_lustre_" name_, .product = p, .class_name = name_, .volume = true,            \
        .latency_s = 0.001, .rule = "R-FSX-01", .speed = {.per_gib = (per_tib) / 1024},            \
        __VA_ARGS__                                                                                \
    }
static const struct storage_rule lustre[] = {
    LUSTRE(PRODUCT_FSX_LUSTRE, "persistent", 125e6, .down = 0)};
static const struct storage_rule lustre_scratch[] = {
    LUSTRE(PRODUCT_FSX_SCRATCH, "scratch", 200e6, .scratch = true)};

/* R-SCR-01: paid with the machine, gone with it. 1 GB/s per 600 GB of drive. */
static const struct storage_rule nvme[] = {{.tier = "local_nvme",
                                            .product = PRODUCT_LOCAL_NVME,
                                            .class_name = "nvme",
                                            .latency_s = 0.0001,
                                            .volume = true,
                                            .scratch = true,
                                            .rule = "R-SCR-01"}};

/* Azure managed disks (R-AZ-10): billed by the next size of the list, which the prices hold. The
 * kind of a disk is changed in place. */
#define DISK(name_, wait, least, ...)                                                              \
    {                                                                                              \
        .tier = "azure_disk_" name_, .product = PRODUCT_AZURE_DISK, .class_name = name_,           \
        .volume = true, .latency_s = wait, .least_bytes = GIB(least), .step_bytes = GT_GIB,        \
        .down = BIT(0) | BIT(1) | BIT(2), .rule = "R-AZ-10", .speed = {.base = 125 * MIB_S},       \
        __VA_ARGS__                                                                                \
    }
static const struct storage_rule azure_disk[] = {
    DISK("premium", 0.001, 4, .most_bytes = TIB(32)),
    DISK("standard_ssd", 0.005, 4, .most_bytes = TIB(32)),
    DISK("standard_hdd", 0.01, 32, HARD_DISK),
};

/* Azure Files (R-AZ-14): the three pay-as-you-go tiers of a share are changed in place at the price
 * of one write a file. A premium share is an account of its own, bought in GiB, 100 at least
 * (storage-files-planning, "provisioned shares"): a product of one tier. */
#define SHARE(p, red, name_, down_, wait, ...)                                                     \
    {                                                                                              \
        .tier = "azure_files_" name_ "_" red, .product = p, .class_name = name_,                   \
        .latency_s = wait, .down = down_, .rule = "R-AZ-14", .speed = {.base = 100 * MIB_S},       \
        __VA_ARGS__                                                                                \
    }
#define SHARES(p, red)                                                                             \
    SHARE(p, red, "transaction_optimized", BIT(1) | BIT(2), 0.01, .min_days = 0),                  \
        SHARE(p, red, "hot", BIT(0) | BIT(2), 0.01, .min_days = 0),                                \
        SHARE(p, red, "cool", BIT(0) | BIT(1), 0.01, .min_days = 0)
#define PREMIUM_SHARE(p, red) SHARE(p, red, "premium", 0, 0.003, .volume = true)
static const struct storage_rule files_lrs[] = {SHARES(PRODUCT_AZURE_FILES_LRS, "lrs")};
static const struct storage_rule files_zrs[] = {SHARES(PRODUCT_AZURE_FILES_ZRS, "zrs")};
static const struct storage_rule files_grs[] = {SHARES(PRODUCT_AZURE_FILES_GRS, "grs")};
static const struct storage_rule files_gzrs[] = {SHARES(PRODUCT_AZURE_FILES_GZRS, "gzrs")};
static const struct storage_rule premium_lrs[] = {PREMIUM_SHARE(PRODUCT_AZURE_PREMIUM_LRS, "lrs")};
static const struct storage_rule premium_zrs[] = {PREMIUM_SHARE(PRODUCT_AZURE_PREMIUM_ZRS, "zrs")};

/* Google's disks (storage-tiers.md section 6): the kind of one is changed by a snapshot and a new
 * disk, which stand beside the old one; a day of both is assumed. Least sizes of Hyperdisk and the
 * IOPS that an Extreme one has at least: cloud.google.com/compute/docs/disks/hd-types; those of
 * Persistent Disk and all speeds are the planner's assumptions. Hyperdisk ML is read-only for the
 * machines that share it: no home for data that change. */
enum { PD_BALANCED, PD_STANDARD, PD_SSD, HD_BALANCED, HD_EXTREME, HD_THROUGHPUT, HD_ML };
#define PD_ANY                                                                                     \
    (BIT(PD_BALANCED) | BIT(PD_STANDARD) | BIT(PD_SSD) | BIT(HD_BALANCED) | BIT(HD_EXTREME) |      \
     BIT(HD_THROUGHPUT))
#define PD(name_, least, ...)                                                                      \
    {                                                                                              \
        .tier = "gcp_" name_, .product = PRODUCT_GCP_DISK, .class_name = name_, .volume = true,    \
        .latency_s = 0.001, .least_bytes = GIB(least), .step_bytes = GT_GIB,                       \
        .most_bytes = TIB(64), .down = PD_ANY, .rule = "storage-tiers.md section 6", __VA_ARGS__   \
    }
static const struct storage_rule gcp_disk[] = {
    [PD_BALANCED] = PD("pd_balanced", 10, .speed = {140 * MIB_S, 0.28 * MIB_S, 1200 * MIB_S, 0, 0}),
    [PD_STANDARD] =
        PD("pd_standard", 10, HARD_DISK, .speed = {0, 0.12 * MIB_S, 1200 * MIB_S, 0, 0}),
    [PD_SSD] = PD("pd_ssd", 10, .speed = {240 * MIB_S, 0.48 * MIB_S, 1200 * MIB_S, 0, 0}),
    [HD_BALANCED] = PD("hyperdisk_balanced", 4, .speed = {.base = 140 * MIB_S}),
    [HD_EXTREME] = PD("hyperdisk_extreme", 64, .iops = 128, .speed = {.base = 125 * MIB_S}),
    [HD_THROUGHPUT] = PD("hyperdisk_throughput", 2048, HARD_DISK, .speed = {.base = 125 * MIB_S}),
    [HD_ML] = PD("hyperdisk_ml", 4, .speed = {.base = 400 * MIB_S}),
};

/* Filestore: instances have a least size and grow in steps (cloud.google.com/filestore/docs,
 * service-tiers-zonal, -regional, basic tiers); 260 MiB/s of reads a TiB when zonal. Contents are
 * moved by a copy, a day of both is assumed. */
#define FILESTORE(name_, least, step, ...)                                                         \
    {                                                                                              \
        .tier = "gcp_filestore_" name_, .product = PRODUCT_FILESTORE, .class_name = name_,         \
        .volume = true, .latency_s = 0.002, .least_bytes = GIB(least), .step_bytes = GIB(step),    \
        .down = BIT(0) | BIT(1) | BIT(2) | BIT(3), .rule = "storage-throughput.md section 3",      \
        __VA_ARGS__                                                                                \
    }
static const struct storage_rule filestore[] = {
    FILESTORE("zonal", 1024, 256, .speed = {.per_gib = 260 * MIB_S / 1024}),
    FILESTORE("regional", 100, 1, .speed = {.per_gib = 260 * MIB_S / 1024}),
    FILESTORE("basic_ssd", 2560, 1, .speed = {.base = 100 * MIB_S}),
    FILESTORE("basic_hdd", 1024, 1, HARD_DISK, .speed = {.base = 100 * MIB_S}),
};

static const struct storage_rule oci_block[] = {{.tier = "oci_block",
                                                 .product = PRODUCT_OCI_BLOCK,
                                                 .class_name = "block",
                                                 .latency_s = 0.001,
                                                 .volume = true,
                                                 .least_bytes = GIB(50),
                                                 .step_bytes = GT_GIB,
                                                 .most_bytes = TIB(32),
                                                 .rule = "docs.oracle.com core_volume: sizes",
                                                 .speed = {.per_gib = 480e3, .most = 480e6}}};
static const struct storage_rule oci_file[] = {{.tier = "oci_file",
                                                .product = PRODUCT_OCI_FILE,
                                                .class_name = "file",
                                                .latency_s = 0.002,
                                                .volume = true,
                                                .rule = "docs.oracle.com file storage, metering",
                                                .speed = {.base = 100 * MIB_S}}};

#define WHOLE                                                                                      \
    "each group is a volume of its own, bought in whole steps; what it is given beyond that "      \
    "(IOPS, throughput) is not counted"
#define AT(p) [(p)-PRODUCT_FIRST_VOLUME]
#define TERMS(name_, vendor_, region_, title_, ...)                                                \
    .terms = {.name = name_,                                                                       \
              .vendor = vendor_,                                                                   \
              .region = region_,                                                                   \
              .title = title_,                                                                     \
              .up = UP_IN_PLACE,                                                                   \
              __VA_ARGS__}
#define FILES_TERMS(red)                                                                           \
    TERMS("azure_files_" red, "azure", "eastus", "Azure Files (" red ")", .fee = FEE_TARGET_PUT)
#define ONE_SYSTEM "one file system holds all groups; what it is bought in is shared by their bytes"
#define PREMIUM_TERMS(red)                                                                         \
    TERMS("azure_files_premium_" red, "azure", "eastus", "Azure Files premium (" red ")",          \
          .min_account_bytes = GIB(100), .account_step = GT_GIB, .note = ONE_SYSTEM)
static const struct product_rules products[PRODUCT_COUNT - PRODUCT_FIRST_VOLUME] = {
    AT(PRODUCT_EBS) = {TABLE(ebs),
                       TERMS("ebs", "aws", "us-east-1", "EBS", .month = MONTH_30_DAYS,
                             .note = WHOLE "; a snapshot is counted in full and must be made a "
                                           "volume again before anything can be read")},
    AT(PRODUCT_FSX_LUSTRE) = {TABLE(lustre), TERMS("fsx_lustre", "aws", "us-east-1",
                                                   "FSx for Lustre", .min_account_bytes = GIB(1200),
                                                   .account_step = GIB(2400), .note = ONE_SYSTEM)},
    AT(PRODUCT_FSX_SCRATCH) = {TABLE(lustre_scratch),
                               TERMS("fsx_scratch", "aws", "us-east-1", "FSx for Lustre, scratch",
                                     .min_account_bytes = GIB(1200), .account_step = GIB(2400))},
    AT(PRODUCT_LOCAL_NVME) = {TABLE(nvme),
                              TERMS("local_nvme", "aws", "us-east-1", "local NVMe", .note = NULL)},
    AT(PRODUCT_AZURE_DISK) = {TABLE(azure_disk),
                              TERMS("azure_disk", "azure", "northeurope", "Azure managed disks",
                                    .month = MONTH_730_HOURS,
                                    .note = WHOLE "; sizes that the catalog has no price of are "
                                                  "passed over")},
    AT(PRODUCT_AZURE_FILES_LRS) = {TABLE(files_lrs), FILES_TERMS("lrs")},
    AT(PRODUCT_AZURE_FILES_ZRS) = {TABLE(files_zrs), FILES_TERMS("zrs")},
    AT(PRODUCT_AZURE_FILES_GRS) = {TABLE(files_grs), FILES_TERMS("grs")},
    AT(PRODUCT_AZURE_FILES_GZRS) = {TABLE(files_gzrs), FILES_TERMS("gzrs")},
    AT(PRODUCT_AZURE_PREMIUM_LRS) = {TABLE(premium_lrs), PREMIUM_TERMS("lrs")},
    AT(PRODUCT_AZURE_PREMIUM_ZRS) = {TABLE(premium_zrs), PREMIUM_TERMS("zrs")},
    AT(PRODUCT_GCP_DISK) = {TABLE(gcp_disk),
                            TERMS("gcp_disk", "gcp", "us-central1", "Persistent Disk and Hyperdisk",
                                  .fee = FEE_COPY_DAY, .month = MONTH_730_HOURS,
                                  .note = WHOLE "; a new kind is a new disk beside the old one for "
                                                "a day (assumed)")},
    AT(PRODUCT_FILESTORE) = {TABLE(filestore),
                             TERMS("gcp_filestore", "gcp", "us-central1", "Filestore",
                                   .fee = FEE_COPY_DAY, .month = MONTH_730_HOURS,
                                   .note = WHOLE "; another kind is a copy beside the old one for "
                                                 "a day (assumed)")},
    AT(PRODUCT_OCI_BLOCK) = {TABLE(oci_block), TERMS("oci_block", "oci", "us-ashburn-1",
                                                     "OCI block volumes", .note = WHOLE)},
    AT(PRODUCT_OCI_FILE) = {TABLE(oci_file), TERMS("oci_file", "oci", "us-ashburn-1",
                                                   "OCI File Storage", .note = NULL)},
};

const struct product_rules *volume_product(enum storage_product p)
{
    return &products[p - PRODUCT_FIRST_VOLUME];
}
