/* Letters of tiers (tier_letters.h). */
#include "tier_letters.h"
#include <ctype.h>
#include <string.h>

/* By prefix, so that the copies of one class (lrs, zrs, grs) share a line. */
static const struct {
    const char *tier;
    char letter;
    const char *name;
} letters[] = {
    {"s3_express", 'X', "express"},
    {"s3_standard_ia", 'A', "infrequent"},
    {"s3_standard", 'H', "standard"},
    {"s3_intelligent_tiering", 'T', "intelligent"},
    {"s3_onezone_ia", 'Z', "one zone"},
    {"s3_glacier_ir", 'I', "instant"},
    {"s3_glacier_flexible", 'C', "flexible"},
    {"s3_deep_archive", 'D', "deep"},
    {"efs_standard", 'E', "EFS standard"},
    {"efs_ia", 'F', "EFS infrequent"},
    {"efs_archive", 'G', "EFS archive"},
    {"ebs_gp3", '3', "gp3"},
    {"ebs_gp2", '2', "gp2"},
    {"ebs_io1", '1', "io1"},
    {"ebs_io2", '4', "io2"},
    {"ebs_st1", 'S', "st1"},
    {"ebs_sc1", 'K', "sc1"},
    {"ebs_snapshot_archive", 'D', "snapshot archive"},
    {"ebs_snapshot", 'N', "snapshot"},
    {"fsx_lustre_persistent", 'L', "Lustre"},
    {"fsx_lustre_scratch", 'L', "Lustre scratch"},
    {"local_nvme", 'N', "local NVMe"},
    {"azure_disk_premium", 'P', "premium SSD"},
    {"azure_disk_standard_ssd", 'S', "standard SSD"},
    {"azure_disk_standard_hdd", 'K', "standard HDD"},
    {"azure_files_transaction_optimized", 'E', "files, transactions"},
    {"azure_files_hot", 'H', "files, hot"},
    {"azure_files_cool", 'A', "files, cool"},
    {"azure_files_premium", 'P', "files, premium"},
    {"gcp_pd_balanced", 'B', "pd-balanced"},
    {"gcp_pd_standard", 'K', "pd-standard"},
    {"gcp_pd_ssd", 'S', "pd-ssd"},
    {"gcp_hyperdisk_balanced", 'Y', "hyperdisk"},
    {"gcp_hyperdisk_extreme", 'X', "hyperdisk extreme"},
    {"gcp_hyperdisk_throughput", 'T', "hyperdisk throughput"},
    {"gcp_hyperdisk_ml", 'M', "hyperdisk ML"},
    {"gcp_filestore_zonal", 'Z', "Filestore zonal"},
    {"gcp_filestore_regional", 'R', "Filestore regional"},
    {"gcp_filestore_basic_ssd", 'S', "Filestore SSD"},
    {"gcp_filestore_basic_hdd", 'K', "Filestore HDD"},
    {"oci_block", 'B', "block volume"},
    {"oci_file", 'E', "file storage"},
    {"azure_blob_hot", 'H', "hot"},
    {"azure_blob_cool", 'A', "cool"},
    {"azure_blob_cold", 'I', "cold"},
    {"azure_blob_archive", 'C', "archive"},
    {"gcs_standard", 'H', "standard"},
    {"gcs_nearline", 'A', "nearline"},
    {"gcs_coldline", 'I', "coldline"},
    {"gcs_archive", 'C', "archive"},
    {"gcs_autoclass", 'T', "Autoclass"},
    {"oci_standard", 'H', "standard"},
    {"oci_ia", 'A', "infrequent"},
    {"oci_archive", 'C', "archive"},
    {"r2_standard", 'H', "standard"},
    {"r2_ia", 'A', "infrequent"},
    {"wasabi", 'H', "Wasabi"},
    {"b2", 'H', "B2"},
    {"oss_standard", 'H', "standard"},
    {"oss_ia", 'A', "infrequent"},
    {"oss_archive", 'I', "archive"},
    {"oss_cold_archive", 'C', "cold archive"},
    {"oss_deep_cold_archive", 'D', "deep cold archive"},
    {"cos_standard_ia", 'A', "infrequent"},
    {"cos_standard", 'H', "standard"},
    {"cos_archive", 'C', "archive"},
    {"cos_deep_archive", 'D', "deep archive"},
    {"obs_standard", 'H', "standard"},
    {"obs_warm", 'A', "warm"},
    {"obs_cold", 'C', "cold"},
    {"obs_deep_archive", 'D', "deep archive"},
};
#define N_LETTERS (sizeof letters / sizeof *letters)

static size_t find(const char *tier)
{
    size_t i = 0;
    while (i < N_LETTERS && strncmp(tier, letters[i].tier, strlen(letters[i].tier)) != 0) {
        i++;
    }
    return i;
}

char tier_letter(const char *tier)
{
    size_t i = find(tier);
    return i < N_LETTERS ? letters[i].letter : '?';
}

const char *tier_short_name(const char *tier)
{
    size_t i = find(tier);
    return i < N_LETTERS ? letters[i].name : tier;
}

void tier_series_letters(const struct tier_series *s, char *out)
{
    static const char spare[] = "0123456789BJLMNOPQRUVWYabcdefghijklmnopqrstuvwxyz";
    for (size_t k = 0; k < s->n_tiers; k++) {
        char c = tier_letter(s->tier[k]);
        if (c == '?' || memchr(out, c, k)) {
            c = (char)tolower((unsigned char)c);
        }
        for (size_t i = 0; (c == '?' || memchr(out, c, k)) && i < sizeof spare - 1; i++) {
            c = spare[i];
        }
        out[k] = c;
    }
}

int tier_series_bar(const struct tier_series *s, const char *letter, int month, uint64_t most,
                    int width, char *cells)
{
    double sum = 0, upto = 0;
    size_t months = (size_t)s->months, held = 0;
    for (size_t k = 0; k < s->n_tiers; k++) {
        uint64_t b = s->bytes[k * months + (size_t)month];
        sum += (double)b;
        held += b > 0;
    }
    int length = most > 0 ? (int)(sum / (double)most * width + 0.5) : 0;
    length = held > 0 && length < 1 ? 1 : length;
    length = length > width ? width : length;
    int at = 0, left = length;
    for (size_t k = 0; k < s->n_tiers; k++) {
        uint64_t b = s->bytes[k * months + (size_t)month];
        if (b == 0) {
            continue;
        }
        upto += (double)b;
        held--;
        int end = (int)(upto / sum * length + 0.5);
        int last = length - (int)held; /* a cell for each that follows */
        end = end <= at ? at + 1 : end;
        end = last > at && end > last ? last : end;
        end = end > length ? length : end;
        memset(cells + at, letter[k], (size_t)(end - at));
        left -= end - at;
        at = end;
    }
    return length - left;
}
