/* Objects of an inventory that hold the same bytes, by digest (MD5: S3's ETag, Azure's Content-MD5,
 * GCS's md5Hash) and size. Exact for any number of objects in bounded memory: what is noted of each
 * goes to a temporary file by its digest (40 bytes an object; nothing for small inventories) and is
 * looked through part by part. */
#ifndef GPUTIER_DUPLICATES_H
#define GPUTIER_DUPLICATES_H
#include "gputier/inventory.h"

struct duplicates;
/* dir: of the temporary file. To be handed to inventory_new, and freed after inventory_free. */
int duplicates_new(const char *dir, struct duplicates **out, struct gt_error *err) GT_CHECK;
void duplicates_free(struct duplicates *d); /* NULL is fine */

struct duplicates_stats {
    uint64_t compared;  /* current objects with a digest */
    uint64_t multipart; /* of these: the digest depends on the size of the parts */
    uint64_t opaque;    /* current objects whose digest says nothing of their bytes (KMS, SSE-C) */
    uint64_t without;   /* current objects that have none */
    uint64_t lone_markers; /* of deletions, the only version of their key: they hide nothing */
    bool untold;           /* some file does not say how objects are encrypted */
};
/* Where a copy is kept rather than in another class: the lowest rank. */
typedef int duplicate_rank(void *ctx, const char *storage_class);
/* All but one of each set of equal current objects, as a histogram; borrowed until
 * duplicates_free. Once, after the last file was read. */
int inventory_duplicates(struct inventory *inv, duplicate_rank *rank, void *ctx,
                         const struct inventory_row **rows, size_t *n,
                         struct duplicates_stats *stats, struct gt_error *err) GT_CHECK;

#endif
