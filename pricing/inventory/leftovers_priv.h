/* Inside pricing/inventory: entries of lists before it is told which are left over. */
#ifndef GPUTIER_LEFTOVERS_PRIV_H
#define GPUTIER_LEFTOVERS_PRIV_H
#include "gputier/arena.h"
#include "gputier/leftovers.h"
#include <cjson/cJSON.h>

enum left_kind { LEFT_UPLOAD, LEFT_PARTS, LEFT_LENS, LEFT_VOLUME, LEFT_SNAPSHOT, LEFT_USED };
enum left_vendor { LEFT_AWS, LEFT_AZURE, LEFT_GCP, LEFT_VENDORS };
struct left_entry {
    enum left_kind kind;
    enum left_vendor vendor;
    const char *key;    /* ids compare by it */
    const char *source; /* of a snapshot: key of its volume; "" = none that could be looked up */
    const char *scope;  /* whose list it is of: subscription, project, owner; "" = not told */
    bool in_use;
    bool running; /* of an upload: begun lately */
    bool older;   /* of Storage Lens: counts those of more than 7 days only */
    struct leftover item;
};
#define LEFT_NOTES 16
struct leftovers {
    int64_t as_of;
    struct arena *arena;
    struct left_entry *entry;
    size_t n, cap;
    bool images;            /* a list of them was read */
    bool cut[LEFT_VENDORS]; /* the last list of volumes goes on */
    bool cut_other;         /* another list does */
    char lens_date[16];     /* the last one */
    struct leftover *found;
    size_t n_found;
    const char *note[LEFT_NOTES];
    size_t n_notes;
};
/* NULL: no memory, or too many (left_full says so). */
struct left_entry *left_add(struct leftovers *l, enum left_kind kind, enum left_vendor vendor,
                            const char *key);
int left_full(const char *name, struct gt_error *err);
const cJSON *left_get(const cJSON *o, const char *name);
const char *left_text(const cJSON *o, const char *name); /* "" when it is none */
/* A whole number, written as one or as a string (Google's). */
bool left_whole(const cJSON *o, const char *name, uint64_t *out);
/* GiB of a list to bytes; false above 2^30 of them. */
bool left_gib(uint64_t gib, uint64_t *bytes);
int left_lacks(const char *name, const char *what, int at, const char *expected,
               struct gt_error *err);
/* "us-east-1a" and ".../us-central1-a" to the region; NULL for "" or without memory. */
const char *left_region(struct leftovers *l, const char *zone);
/* A list of az or gcloud: an array (leftovers_clouds.c). */
int left_clouds(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err);
/* Where parts of uploads to a class are billed: those of archives in Standard until they are
 * complete (R-S3-24). */
void left_class(struct leftovers *l, const char *storage_class, struct leftover *item);
/* Rows of a Storage Lens export (leftovers_lens.c). */
int left_lens(struct leftovers *l, const char *name, const char *text, struct gt_error *err);

#endif
