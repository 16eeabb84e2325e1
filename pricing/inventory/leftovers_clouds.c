/* Lists of disks and snapshots as az and gcloud print them (leftovers.h). */
#include "gputier/units.h"
#include "leftovers_priv.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Azure's ids are the same in any case of letters. */
static const char *lower(struct leftovers *l, const char *text, size_t len)
{
    char *p = arena_strndup(l->arena, text, len);
    for (size_t i = 0; p && p[i]; i++) {
        p[i] = (char)tolower((unsigned char)p[i]);
    }
    return p;
}

/* Text from behind `mark` to the next '/'; "" when it is not there. */
static size_t between(const char *text, const char *mark, const char **from)
{
    const char *p = strcasestr(text, mark);
    *from = p ? p + strlen(mark) : "";
    return strcspn(*from, "/");
}

static const char *azure_tier(struct leftovers *l, const char *sku)
{
    static const char *const tier[][2] = {{"Premium_", "azure_disk_premium"},
                                          {"StandardSSD_", "azure_disk_standard_ssd"},
                                          {"Standard_", "azure_disk_standard_hdd"},
                                          {"UltraSSD_", "azure_disk_ultra"},
                                          {"PremiumV2_", "azure_disk_premium_v2"}};
    for (size_t i = 0; i < sizeof tier / sizeof *tier; i++) {
        size_t n = strlen(tier[i][0]);
        if (strncasecmp(sku, tier[i][0], n) == 0) {
            return strcasecmp(sku + n, "ZRS") == 0 ? arena_printf(l->arena, "%s_zrs", tier[i][1])
                                                   : tier[i][1];
        }
    }
    return "azure_disk";
}

static bool azure_snapshot(const cJSON *o)
{
    return strcasecmp(left_text(o, "type"), "Microsoft.Compute/snapshots") == 0 ||
           strcasestr(left_text(o, "id"), "/providers/Microsoft.Compute/snapshots/");
}

static int azure_entry(struct leftovers *l, const char *name, const cJSON *o, int at,
                       struct gt_error *err)
{
    const char *id = left_text(o, "id"), *sub;
    const char *source = left_text(left_get(o, "creationData"), "sourceResourceId");
    bool snapshot = azure_snapshot(o);
    uint64_t gib, bytes = 0;
    bool sized = left_whole(o, "diskSizeGB", &gib) || left_whole(o, "diskSizeGb", &gib);
    if (!id[0] || !sized || !left_gib(gib, &bytes)) {
        return left_lacks(name, "list of az", at, "id and diskSizeGB", err);
    }
    const char *key = lower(l, id, strlen(id));
    struct left_entry *e =
        key ? left_add(l, snapshot ? LEFT_SNAPSHOT : LEFT_VOLUME, LEFT_AZURE, key) : NULL;
    if (!e) {
        return left_full(name, err);
    }
    const cJSON *by = left_get(o, "managedBy"), *more = left_get(o, "managedByExtended");
    size_t n = between(id, "/subscriptions/", &sub);
    e->in_use = (cJSON_IsString(by) && by->valuestring[0]) || cJSON_GetArraySize(more) > 0;
    /* made of another snapshot or of a file: no volume to look for */
    e->source = strcasestr(source, "/disks/") ? lower(l, source, strlen(source)) : "";
    e->scope = lower(l, sub, n);
    e->item.id = arena_strdup(l->arena, id);
    e->item.region = arena_strdup(l->arena, left_text(o, "location"));
    e->item.tier = azure_tier(l, left_text(left_get(o, "sku"), "name"));
    e->item.component = snapshot ? "snapshot" : "storage";
    e->item.bytes = bytes;
    e->item.exact = !snapshot;
    if (!snapshot && strncasecmp(left_text(left_get(o, "sku"), "name"), "PremiumV2", 9) == 0) {
        (void)(left_whole(o, "diskIOPSReadWrite", &e->item.iops) ||
               left_whole(o, "diskIopsReadWrite", &e->item.iops));
        (void)(left_whole(o, "diskMBpsReadWrite", &e->item.mibps) ||
               left_whole(o, "diskMbpsReadWrite", &e->item.mibps));
    }
    return e->source && e->scope && e->item.id && e->item.region && e->item.tier
               ? 0
               : left_full(name, err);
}

static const char *google_tier(struct leftovers *l, const cJSON *o)
{
    const char *type = strrchr(left_text(o, "type"), '/');
    type = type ? type + 1 : left_text(o, "type");
    /* in two zones at once: at twice the price, which is a row of its own */
    bool twice = cJSON_GetArraySize(left_get(o, "replicaZones")) > 0;
    char *tier = arena_printf(l->arena, "gcp_%s%s", twice ? "regional_" : "", type);
    for (char *p = tier; p && *p; p++) {
        *p = *p == '-' ? '_' : *p;
    }
    return tier;
}

/* Where a snapshot lies, else where its disk was. */
static const char *google_region(struct leftovers *l, const cJSON *o, bool snapshot)
{
    const cJSON *where = cJSON_GetArrayItem(left_get(o, "storageLocations"), 0);
    if (snapshot && cJSON_IsString(where)) {
        return arena_strdup(l->arena, where->valuestring);
    }
    const char *region = left_text(o, "region"), *of = left_text(o, "sourceDisk"), *zone;
    if (!snapshot && region[0]) {
        return left_region(l, region);
    }
    char text[64];
    size_t n = between(snapshot ? of : left_text(o, "zone"), "/zones/", &zone);
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : 0), zone);
    return left_region(l, n ? text : snapshot ? "" : left_text(o, "zone"));
}

static int google_entry(struct leftovers *l, const char *name, const cJSON *o, int at,
                        struct gt_error *err)
{
    bool snapshot = strcmp(left_text(o, "kind"), "compute#snapshot") == 0;
    const char *link = left_text(o, "selfLink"), *of = left_text(o, "sourceDisk"), *project;
    uint64_t gib, bytes = 0, stored;
    if (!link[0] || !left_whole(o, snapshot ? "diskSizeGb" : "sizeGb", &gib) ||
        !left_gib(gib, &bytes)) {
        return left_lacks(name, "list of gcloud", at, "selfLink and the size in GB", err);
    }
    /* hosts and versions of the interface differ: compare from the project on */
    const char *key = strstr(link, "/projects/"), *source = strstr(of, "/projects/");
    struct left_entry *e =
        left_add(l, snapshot ? LEFT_SNAPSHOT : LEFT_VOLUME, LEFT_GCP, key ? key : link);
    if (!e) {
        return left_full(name, err);
    }
    size_t n = between(link, "/projects/", &project);
    bool archive = strcmp(left_text(o, "snapshotType"), "ARCHIVE") == 0;
    e->in_use = cJSON_GetArraySize(left_get(o, "users")) > 0;
    e->source = arena_strdup(l->arena, source ? source : of);
    e->scope = arena_strndup(l->arena, project, n);
    e->item.region = google_region(l, o, snapshot);
    e->item.tier =
        snapshot ? archive ? "gcp_snapshot_archive" : "gcp_pd_standard" : google_tier(l, o);
    e->item.component = snapshot ? "snapshot" : "storage";
    if (!snapshot && strstr(left_text(o, "type"), "hyperdisk")) {
        (void)left_whole(o, "provisionedIops", &e->item.iops);
        (void)left_whole(o, "provisionedThroughput", &e->item.mibps);
    }
    /* what is deleted may still be needed by the next one, which then keeps it */
    e->item.exact = !snapshot;
    e->item.bytes = snapshot && left_whole(o, "storageBytes", &stored) ? stored : bytes;
    return e->source && e->scope && e->item.tier ? 0 : left_full(name, err);
}

int left_clouds(struct leftovers *l, const char *name, const cJSON *doc, struct gt_error *err)
{
    const cJSON *o;
    int at = 0, rc = 0;
    cJSON_ArrayForEach(o, doc)
    {
        bool google = strncmp(left_text(o, "kind"), "compute#", 8) == 0;
        rc = google ? google_entry(l, name, o, at, err) : azure_entry(l, name, o, at, err);
        if (rc) {
            break;
        }
        at++;
    }
    return rc;
}
