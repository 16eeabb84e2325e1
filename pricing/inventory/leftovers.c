/* Lists of what no inventory shows (leftovers.h): the reader, and AWS's lists. Documents come whole
 * and small enough for a tree: no money is in them, and snapshots need all volumes to be told
 * orphans. */
#include "gputier/leftovers.h"
#include "gputier/units.h"
#include "inventory_priv.h"
#include "leftovers_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX 4000000

const cJSON *left_get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

const char *left_text(const cJSON *o, const char *name)
{
    const cJSON *v = left_get(o, name);
    return cJSON_IsString(v) ? v->valuestring : "";
}

bool left_whole(const cJSON *o, const char *name, uint64_t *out)
{
    const cJSON *v = left_get(o, name);
    *out = 0;
    if (cJSON_IsString(v)) {
        return digits_u64(v->valuestring, strlen(v->valuestring), out);
    }
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || v->valuedouble > 9e15 ||
        v->valuedouble != (double)(uint64_t)v->valuedouble) {
        return false;
    }
    *out = (uint64_t)v->valuedouble;
    return true;
}

bool left_gib(uint64_t gib, uint64_t *bytes)
{
    *bytes = gib <= 1u << 30 ? gib * GT_GIB : 0;
    return gib <= 1u << 30;
}

int leftovers_new(int64_t as_of, struct leftovers **out, struct gt_error *err)
{
    struct leftovers *l = calloc(1, sizeof *l);
    if (l) {
        l->as_of = as_of;
        l->arena = arena_new((size_t)512 << 20);
    }
    if (!l || !l->arena) {
        free(l);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *out = l;
    return 0;
}

void leftovers_free(struct leftovers *l)
{
    if (l) {
        arena_free(l->arena);
        free(l->entry);
        free(l->found);
        free(l);
    }
}

struct left_entry *left_add(struct leftovers *l, enum left_kind kind, enum left_vendor vendor,
                            const char *key)
{
    static const char *const names[LEFT_VENDORS] = {"aws", "azure", "gcp"};
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        struct left_entry *p = cap <= ITEMS_MAX ? realloc(l->entry, cap * sizeof *p) : NULL;
        if (!p) {
            return NULL;
        }
        l->entry = p;
        l->cap = cap;
    }
    struct left_entry *e = &l->entry[l->n];
    *e = (struct left_entry){.kind = kind,
                             .vendor = vendor,
                             .key = arena_strdup(l->arena, key),
                             .source = "",
                             .scope = "",
                             .item = {.vendor = names[vendor], .count = 1, .component = "storage"}};
    e->item.id = e->key;
    l->n += e->key != NULL;
    return e->key ? e : NULL;
}

int left_full(const char *name, struct gt_error *err)
{
    return gt_fail(err, GT_ELIMIT, name, "more entries than fit: at most %d", ITEMS_MAX);
}

int left_lacks(const char *name, const char *what, int at, const char *expected,
               struct gt_error *err)
{
    return gt_fail(err, GT_EPARSE, name, "%s, entry %d: expected %s", what, at + 1, expected);
}

const char *left_region(struct leftovers *l, const char *zone)
{
    const char *last = strrchr(zone, '/');
    last = last ? last + 1 : zone;
    size_t n = strlen(last);
    if (n > 2 && last[n - 1] >= 'a' && last[n - 1] <= 'z') {
        if (last[n - 2] == '-') { /* us-central1-a */
            n -= 2;
        } else if (last[n - 2] >= '0' && last[n - 2] <= '9') { /* us-east-1a */
            n -= 1;
        }
    }
    return n ? arena_strndup(l->arena, last, n) : NULL;
}

void left_class(struct leftovers *l, const char *storage_class, struct leftover *item)
{
    static const char *const tier[][3] = {
        {"", "s3_standard", "storage"},
        {"STANDARD", "s3_standard", "storage"},
        {"GLACIER", "s3_standard", "storage"},
        {"DEEP_ARCHIVE", "s3_standard", "storage"},
        {"STANDARD_IA", "s3_standard_ia", "storage"},
        {"ONEZONE_IA", "s3_onezone_ia", "storage"},
        {"GLACIER_IR", "s3_glacier_ir", "storage"},
        {"INTELLIGENT_TIERING", "s3_intelligent_tiering", "storage_frequent"},
        {"EXPRESS_ONEZONE", "s3_express", "storage"}};
    item->component = "storage";
    item->tier = NULL;
    for (size_t i = 0; i < sizeof tier / sizeof *tier; i++) {
        if (strcmp(storage_class, tier[i][0]) == 0) {
            item->tier = tier[i][1];
            item->component = tier[i][2];
        }
    }
    item->tier = item->tier ? item->tier : arena_strdup(l->arena, storage_class);
}

static int uploads(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    const cJSON *u;
    int at = 0;
    cJSON_ArrayForEach(u, left_get(doc, "Uploads"))
    {
        int64_t begun;
        const char *when = left_text(u, "Initiated"), *id = left_text(u, "UploadId");
        if (!id[0] || !instant(when, strlen(when), &begun)) {
            return left_lacks(name, "Uploads", at, "UploadId and Initiated, an ISO 8601 time", err);
        }
        struct left_entry *e = left_add(l, LEFT_UPLOAD, LEFT_AWS, id);
        if (!e) {
            return left_full(name, err);
        }
        e->running = l->as_of - begun < (int64_t)LEFTOVERS_RUNNING_DAYS * 86400;
        left_class(l, left_text(u, "StorageClass"), &e->item);
        at++;
    }
    return 0;
}

/* Parts of one upload. The command line's own pages leave out which: without UploadId they are
 * those of some upload that is listed. */
static int parts(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    const cJSON *p;
    int at = 0;
    struct left_entry *e = left_add(l, LEFT_PARTS, LEFT_AWS, left_text(doc, "UploadId"));
    if (!e) {
        return left_full(name, err);
    }
    left_class(l, left_text(doc, "StorageClass"), &e->item);
    cJSON_ArrayForEach(p, left_get(doc, "Parts"))
    {
        uint64_t size;
        int64_t made;
        const char *when = left_text(p, "LastModified");
        if (!left_whole(p, "Size", &size) ||
            __builtin_add_overflow(e->item.bytes, size, &e->item.bytes)) {
            return left_lacks(name, "Parts", at, "Size, a number of bytes", err);
        }
        e->running = e->running || (instant(when, strlen(when), &made) &&
                                    l->as_of - made < (int64_t)LEFTOVERS_RUNNING_DAYS * 86400);
        at++;
    }
    return 0;
}

static int volumes(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    const cJSON *v;
    int at = 0;
    cJSON_ArrayForEach(v, left_get(doc, "Volumes"))
    {
        uint64_t gib, bytes;
        const char *type = left_text(v, "VolumeType"), *id = left_text(v, "VolumeId");
        if (!id[0] || !left_whole(v, "Size", &gib) || !left_gib(gib, &bytes)) {
            return left_lacks(name, "Volumes", at, "VolumeId and Size in GiB", err);
        }
        struct left_entry *e = left_add(l, LEFT_VOLUME, LEFT_AWS, id);
        if (!e) {
            return left_full(name, err);
        }
        e->in_use = strcmp(left_text(v, "State"), "available") != 0 ||
                    cJSON_GetArraySize(left_get(v, "Attachments")) > 0;
        e->item.region = left_region(l, left_text(v, "AvailabilityZone"));
        e->item.tier = arena_printf(l->arena, "ebs_%s", type[0] ? type : "standard");
        e->item.bytes = bytes;
        e->item.exact = true;
        if (strncmp(type, "io", 2) == 0 || strcmp(type, "gp3") == 0) { /* else included */
            (void)left_whole(v, "Iops", &e->item.iops);
            (void)left_whole(v, "Throughput", &e->item.mibps);
        }
        at++;
    }
    l->cut[LEFT_AWS] = left_text(doc, "NextToken")[0] != '\0';
    return 0;
}

/* A copy's volume is of no meaning: it is vol-ffffffff. */
static int snapshots(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    const cJSON *s;
    int at = 0;
    cJSON_ArrayForEach(s, left_get(doc, "Snapshots"))
    {
        uint64_t gib, bytes, kept;
        const char *id = left_text(s, "SnapshotId"), *volume = left_text(s, "VolumeId");
        if (!id[0] || !left_whole(s, "VolumeSize", &gib) || !left_gib(gib, &bytes)) {
            return left_lacks(name, "Snapshots", at, "SnapshotId and VolumeSize in GiB", err);
        }
        struct left_entry *e = left_add(l, LEFT_SNAPSHOT, LEFT_AWS, id);
        if (!e) {
            return left_full(name, err);
        }
        bool archive = strcmp(left_text(s, "StorageTier"), "archive") == 0;
        bool written = left_whole(s, "FullSnapshotSizeInBytes", &kept) && kept > 0;
        e->source = arena_strdup(l->arena, strcmp(volume, "vol-ffffffff") ? volume : "");
        e->scope = arena_strdup(l->arena, left_text(s, "OwnerId"));
        e->item.tier = archive ? "ebs_snapshot_archive" : "ebs_gp3";
        e->item.component = archive ? "storage" : "snapshot";
        e->item.bytes = written ? kept : bytes; /* blocks never written are not stored */
        e->item.exact = archive && written;     /* an archived one is a full copy (R-EBS-09) */
        if (!e->source || !e->scope) {
            return left_full(name, err);
        }
        at++;
    }
    return 0;
}

static int images(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    const cJSON *image, *map;
    cJSON_ArrayForEach(image, left_get(doc, "Images"))
    {
        cJSON_ArrayForEach(map, left_get(image, "BlockDeviceMappings"))
        {
            const char *id = left_text(left_get(map, "Ebs"), "SnapshotId");
            if (id[0] && !left_add(l, LEFT_USED, LEFT_AWS, id)) {
                return left_full(name, err);
            }
        }
    }
    l->images = true;
    return 0;
}

static int document(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    static const struct {
        const char *key;
        int (*read)(struct leftovers *, const char *, const cJSON *, struct gt_error *);
    } kind[] = {{"Uploads", uploads},
                {"Parts", parts},
                {"Volumes", volumes},
                {"Snapshots", snapshots},
                {"Images", images}};
    if (cJSON_IsArray(doc)) {
        return left_clouds(l, name, doc, err);
    }
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        if (cJSON_IsArray(left_get(doc, kind[i].key))) {
            l->cut_other = l->cut_other || left_text(doc, "NextToken")[0] != '\0' ||
                           cJSON_IsTrue(left_get(doc, "IsTruncated"));
            return kind[i].read(l, name, doc, err);
        }
    }
    return gt_fail(err, GT_EPARSE, name,
                   "expected a list under Uploads, Parts, Volumes, Snapshots or Images, or one of "
                   "disks or snapshots");
}

static int not_json(const char *name, const char *text, const char *stop, struct gt_error *err)
{
    unsigned long line = 1;
    char where[160];
    for (const char *p = text; p < stop; p++) {
        line += *p == '\n';
    }
    snprintf(where, sizeof where, "%.130s:%lu", name, line);
    return gt_fail(err, GT_EPARSE, where, "no JSON from here on");
}

int leftovers_read(struct leftovers *l, const char *name, const char *text, size_t len,
                   struct gt_error *err)
{
    const char *at = text, *end = text + len;
    int rc = 0;
    bool any = false;
    if (len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) {
        at += 3;
    }
    while (rc == 0) {
        at += strspn(at, " \t\r\n");
        if (at >= end) {
            break;
        }
        if (!any && *at != '{' && *at != '[') {
            return left_lens(l, name, at, err);
        }
        any = true;
        const char *stop = NULL;
        cJSON *doc = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &stop, false);
        if (!doc) {
            return not_json(name, text, stop ? stop : at, err);
        }
        rc = document(l, name, doc, err);
        cJSON_Delete(doc);
        at = stop;
    }
    return rc < 0 || any ? rc : gt_fail(err, GT_EPARSE, name, "empty: expected a list");
}
