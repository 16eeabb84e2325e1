/* What no inventory shows and is billed all the same: uploads never completed, volumes attached to
 * nothing, snapshots of volumes that are gone; read from the lists that vendors' command lines
 * print. Texts are hostile and bounded by the caller. */
#ifndef GPUTIER_LEFTOVERS_H
#define GPUTIER_LEFTOVERS_H
#include "gputier/error.h"
#include "gputier/savings.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leftover {
    enum saving_kind kind; /* SAVING_MULTIPART, SAVING_VOLUMES, SAVING_SNAPSHOTS */
    const char *id;        /* "" for uploads, which are summed */
    const char *vendor, *region, *tier, *component; /* as the catalog has them; region NULL = the
                                                       list does not tell it */
    uint64_t bytes, count;                          /* count: of uploads; else 1 */
    uint64_t iops, mibps; /* provisioned and billed, all of them; 0 = none */
    bool exact;           /* bytes are what is billed, not the most that can be */
    bool unknown;         /* bytes of some are not told */
    const char *note;
};
/* Uploads that were begun within so many days may be running still. */
#define LEFTOVERS_RUNNING_DAYS 7
/* Whether a file that begins so is one of these lists. */
bool leftovers_told(const char *head, size_t len);
struct leftovers;
int leftovers_new(int64_t as_of, struct leftovers **out, struct gt_error *err) GT_CHECK;
void leftovers_free(struct leftovers *l); /* NULL is fine */
/* aws s3api list-multipart-uploads, list-parts; a Storage Lens export (CSV); aws ec2
 * describe-volumes, describe-snapshots, describe-images; az disk list, az snapshot list; gcloud
 * compute disks|snapshots list --format=json. Several documents behind one another are fine.
 * text[len] is 0. */
int leftovers_read(struct leftovers *l, const char *name, const char *text, size_t len,
                   struct gt_error *err) GT_CHECK;
/* Those that are left over; borrowed until leftovers_free. A snapshot is one when the volume it was
 * made of is in no list of volumes of the same vendor, subscription or project, and no image listed
 * uses it; where the lists cannot tell, it is none, and a note says so. */
int leftovers_found(struct leftovers *l, const struct leftover **item, size_t *n,
                    struct gt_error *err) GT_CHECK;
/* What could not be told, for people; NULL past the last. */
const char *leftovers_note(const struct leftovers *l, size_t i);

#endif
