/* Vendors' inventories in CSV: S3 Inventory, Azure blob inventory, GCS inventory reports (R-IM-01
 * and the paragraphs behind it). A table says which column of a vendor means what; one function
 * reads the rows of all. Columns stand in any order, unknown ones are left out.
 *
 * S3: keys are URL-encoded, delete markers have no size and are counted apart, the archive tier of
 * Intelligent-Tiering is not read: idle time is of accesses only. Azure: early deletion counts from
 * AccessTierChangeTime, else Last-Modified (R-AZ-03), so the age does; snapshots, old versions and
 * soft-deleted blobs are billed as not the latest. GCS: a lifecycle change keeps the object's age
 * (R-GCS-06), so it counts from timeCreated; `updated` moves with metadata. */
#include "../sources/scan.h"
#include "duplicates.h"
#include "gputier/units.h"
#include "inventory_priv.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct layout layout_s3 = {
    .vendor = "S3",
    .name = {[COLUMN_KEY] = "Key",
             [COLUMN_SIZE] = "Size",
             [COLUMN_MODIFIED] = "LastModifiedDate",
             [COLUMN_CLASS] = "StorageClass",
             [COLUMN_LATEST] = "IsLatest",
             [COLUMN_MARKER] = "IsDeleteMarker",
             [COLUMN_DIGEST] = "ETag",
             [COLUMN_ENCRYPTION] = "EncryptionStatus"},
    .default_class = "STANDARD",
    .url = true,
};
const struct layout layout_azure = {
    .vendor = "Azure",
    .name = {[COLUMN_KEY] = "Name",
             [COLUMN_SIZE] = "Content-Length",
             [COLUMN_MODIFIED] = "Last-Modified",
             [COLUMN_CHANGED] = "AccessTierChangeTime",
             [COLUMN_ACCESSED] = "LastAccessTime",
             [COLUMN_CLASS] = "AccessTier",
             [COLUMN_LATEST] = "IsCurrentVersion",
             [COLUMN_VERSION] = "VersionId",
             [COLUMN_GONE] = "Snapshot",
             [COLUMN_DELETED] = "Deleted",
             [COLUMN_FOLDER] = "hdi_isfolder",
             [COLUMN_DIGEST] = "Content-MD5"},
    .default_class = "",
};
const struct layout layout_gcs = {
    .vendor = "GCS",
    .name = {[COLUMN_KEY] = "name",
             [COLUMN_SIZE] = "size",
             [COLUMN_MODIFIED] = "updated",
             [COLUMN_CREATED] = "timeCreated",
             [COLUMN_CLASS] = "storageClass",
             [COLUMN_GONE] = "timeDeleted",
             [COLUMN_DIGEST] = "md5Hash"},
    .fields = "project,bucket,name,location,size,timeCreated,timeDeleted,updated,storageClass,etag,"
              "retentionExpirationTime,crc32c,md5Hash,generation,metageneration,contentType,"
              "contentEncoding,timeStorageClassUpdated",
    .default_class = "STANDARD",
};

static void column_is(struct columns *c, int at, const char *name, size_t len)
{
    for (int i = 0; i < COLUMNS; i++) {
        const char *known = c->layout->name[i];
        if (known && strlen(known) == len && strncasecmp(known, name, len) == 0) {
            c->at[i] = at;
        }
    }
}

/* What every layout needs; `where` for the message. */
static int complete(const struct columns *c, const char *where, struct gt_error *err)
{
    const struct layout *l = c->layout;
    bool dated = c->at[COLUMN_MODIFIED] >= 0 || c->at[COLUMN_CREATED] >= 0;
    if (c->at[COLUMN_KEY] < 0 || c->at[COLUMN_SIZE] < 0 || !dated) {
        return gt_fail(err, GT_EPARSE, where, "the columns %s, %s and %s are needed",
                       l->name[COLUMN_KEY], l->name[COLUMN_SIZE], l->name[COLUMN_MODIFIED]);
    }
    return c->count <= CSV_FIELDS
               ? 0
               : gt_fail(err, GT_ELIMIT, where, "more than %d columns", CSV_FIELDS);
}

static void begin(struct columns *c, const struct layout *l)
{
    c->layout = l;
    c->count = 0;
    for (int i = 0; i < COLUMNS; i++) {
        c->at[i] = -1;
    }
}

int columns_of(const struct layout *l, const char *list, struct columns *c, struct gt_error *err)
{
    begin(c, l);
    for (const char *p = list; *p;) {
        p += strspn(p, ", \t");
        size_t n = strcspn(p, ", \t");
        if (n > 0) {
            column_is(c, c->count++, p, n);
        }
        p += n;
    }
    return complete(c, l == &layout_s3 ? "fileSchema" : "columns", err);
}

/* The first row of a file whose columns are not known: its header, or, where the vendor may leave
 * that out, a row already. *row: read on. */
static int first_row(struct reader *r, const struct csv_record *rec, bool *row,
                     struct gt_error *err)
{
    struct columns *c = r->state;
    const struct layout *l = c->layout;
    const char *fields = c->fields ? c->fields : l->fields;
    begin(c, l);
    c->count = rec->n > 1000000 ? 1000000 : (int)rec->n;
    for (size_t i = 0; i < rec->n && i < CSV_FIELDS; i++) {
        column_is(c, (int)i, rec->field[i], rec->len[i]);
    }
    *row = c->at[COLUMN_KEY] < 0 && c->at[COLUMN_SIZE] < 0 && fields;
    int rc = *row ? columns_of(l, fields, c, err) : complete(c, r->name, err);
    if (rc == 0 && *row && (size_t)c->count != rec->n) {
        return gt_fail(err, GT_EPARSE, r->name,
                       "%zu columns and no header: name them with --columns, in their order",
                       rec->n);
    }
    return rc;
}

/* Counts a row whose field is not what its column holds, in words that name both. */
static int bad_field(struct reader *r, const struct csv_record *rec, enum column column,
                     const char *expected, struct gt_error *err)
{
    const struct columns *c = r->state;
    int at = c->at[column];
    char value[44], text[160];
    size_t n = rec->len[at] < 40 ? rec->len[at] : 40;
    for (size_t i = 0; i < n; i++) {
        unsigned char b = (unsigned char)rec->field[at][i];
        value[i] = b < ' ' || b >= 0x7f ? '?' : (char)b;
    }
    snprintf(value + n, 4, "%s", rec->len[at] > n ? "..." : "");
    snprintf(text, sizeof text, "column %d (%s) is '%s', expected %s", at + 1,
             c->layout->name[column], value, expected);
    return bad_row(r->inv, r->name, r->line, text, err);
}

static bool filled(const struct columns *c, const struct csv_record *rec, enum column column)
{
    return c->at[column] >= 0 && rec->len[c->at[column]] > 0;
}

static bool is_true(const struct columns *c, const struct csv_record *rec, enum column column)
{
    int at = c->at[column];
    return at >= 0 && rec->len[at] == 4 && strncasecmp(rec->field[at], "true", 4) == 0;
}

static bool is_latest(const struct columns *c, const struct csv_record *rec)
{
    if (filled(c, rec, COLUMN_GONE) || is_true(c, rec, COLUMN_DELETED)) {
        return false;
    }
    if (c->at[COLUMN_LATEST] < 0) {
        return true;
    }
    /* Azure leaves it empty where versions are off */
    return is_true(c, rec, COLUMN_LATEST) ||
           (c->layout->name[COLUMN_VERSION] && !filled(c, rec, COLUMN_LATEST) &&
            !filled(c, rec, COLUMN_VERSION));
}

/* All times of a row; the column that holds none in *bad. */
static bool times(const struct columns *c, const struct csv_record *rec, struct object *ob,
                  enum column *bad)
{
    enum column when = c->at[COLUMN_CREATED] >= 0 ? COLUMN_CREATED : COLUMN_MODIFIED;
    const struct {
        enum column column;
        int64_t *to;
    } each[] = {
        {when, &ob->modified}, {COLUMN_CHANGED, &ob->aged}, {COLUMN_ACCESSED, &ob->accessed}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        int at = c->at[each[i].column];
        if (at < 0 || (i > 0 && rec->len[at] == 0)) {
            continue;
        }
        if (!instant(rec->field[at], rec->len[at], each[i].to)) {
            *bad = each[i].column;
            return false;
        }
    }
    return true;
}

/* A '%', '+' or NUL, 16 bytes at a time. */
static bool has_escape(const char *s, size_t len)
{
    size_t i = 0;
    uint64_t bits = 0;
    for (; i + 16 <= len; i += 16) {
        scan_bytes v = scan_load(s + i);
        bits |= scan_bits((scan_bytes)((v == '%') | (v == '+') | (v == 0)));
    }
    for (; i < len; i++) {
        bits |= s[i] == '%' || s[i] == '+' || s[i] == '\0';
    }
    return bits != 0;
}

/* The key, decoded where there is something to decode; of length SIZE_MAX when it is broken. */
static int key_of(struct reader *r, const struct csv_record *rec, struct object *ob,
                  struct gt_error *err)
{
    const struct columns *c = r->state;
    ob->key = rec->field[c->at[COLUMN_KEY]];
    ob->key_len = rec->len[c->at[COLUMN_KEY]];
    if (!c->layout->url) {
        ob->key_len = memchr(ob->key, 0, ob->key_len) ? SIZE_MAX : ob->key_len;
        return 0;
    }
    if (!has_escape(ob->key, ob->key_len)) {
        return 0;
    }
    int rc = spare_room(&r->key, ob->key_len, err);
    if (rc == 0) {
        ob->key_len = url_decode(ob->key, ob->key_len, r->key.at);
        ob->key = r->key.at;
    }
    return rc;
}

/* The ETag is MD5 but for objects encrypted with keys of KMS or the customer's, and for those of
 * directory buckets. */
static void digest(const struct columns *c, const struct csv_record *rec, struct object *ob)
{
    int at = c->at[COLUMN_ENCRYPTION];
    if (filled(c, rec, COLUMN_DIGEST)) {
        ob->digest = rec->field[c->at[COLUMN_DIGEST]];
        ob->digest_len = rec->len[c->at[COLUMN_DIGEST]];
    }
    ob->encryption_untold = at < 0 && c->layout->name[COLUMN_ENCRYPTION];
    ob->opaque = (at >= 0 && !(rec->len[at] == 0 ||
                               (rec->len[at] == 6 && memcmp(rec->field[at], "SSE-S3", 6) == 0) ||
                               (rec->len[at] == 7 && memcmp(rec->field[at], "NOT-SSE", 7) == 0))) ||
                 (ob->class_len == 15 && memcmp(ob->storage_class, "EXPRESS_ONEZONE", 15) == 0);
}

static int read_row(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    const struct columns *c = r->state;
    const int *at = c->at;
    struct object ob = {.storage_class = c->layout->default_class,
                        .class_len = strlen(c->layout->default_class),
                        .accessed = GT_TIME_NONE,
                        .aged = GT_TIME_NONE};
    enum column bad;
    if (rec->n < (size_t)c->count) {
        return bad_row(r->inv, r->name, r->line,
                       c->layout == &layout_s3 ? "fewer fields than fileSchema has"
                                               : "fewer fields than there are columns",
                       err);
    }
    bool marker = is_true(c, rec, COLUMN_MARKER);
    if (marker) {
        r->inv->stats.delete_markers++;
        if (!r->inv->o.duplicates) {
            return 0;
        }
    }
    if (is_true(c, rec, COLUMN_FOLDER)) {
        r->inv->stats.not_files++;
        return 0;
    }
    int rc = key_of(r, rec, &ob, err);
    if (rc || (marker && ob.key_len == SIZE_MAX)) {
        return rc;
    }
    if (marker) {
        return dup_marker(r->inv, ob.key, ob.key_len, is_latest(c, rec), err);
    }
    if (ob.key_len == SIZE_MAX) {
        return bad_field(r, rec, COLUMN_KEY, c->layout->url ? "a URL-encoded key" : "a name", err);
    }
    if (!digits_u64(rec->field[at[COLUMN_SIZE]], rec->len[at[COLUMN_SIZE]], &ob.size)) {
        return bad_field(r, rec, COLUMN_SIZE, "a number of bytes", err);
    }
    if (!times(c, rec, &ob, &bad)) {
        return bad_field(r, rec, bad, "an ISO 8601 date", err);
    }
    if (filled(c, rec, COLUMN_CLASS)) {
        ob.storage_class = rec->field[at[COLUMN_CLASS]];
        ob.class_len = rec->len[at[COLUMN_CLASS]];
    }
    ob.is_latest = is_latest(c, rec);
    if (r->inv->o.duplicates) {
        digest(c, rec, &ob);
    }
    r->inv->stats.rows++;
    return aggregate_object(r->inv, &ob, err);
}

int object_row(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    const struct columns *c = r->state;
    bool row = true;
    int rc = c->count == 0 ? first_row(r, rec, &row, err) : 0;
    return rc < 0 || !row ? rc : read_row(r, rec, err);
}
