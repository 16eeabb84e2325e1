/* S3 Inventory (R-IM-01): CSV rows by the columns of fileSchema, and the manifest that names the
 * data files. Keys are URL-encoded, delete markers have no size and are counted apart. */
#include "gputier/units.h"
#include "inventory_priv.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int s3_schema(const char *schema, struct s3_columns *c, struct gt_error *err)
{
    *c = (struct s3_columns){-1, -1, -1, -1, -1, -1, 0};
    const char *p = schema;
    while (*p) {
        p += strspn(p, ", \t");
        size_t n = strcspn(p, ", \t");
        static const char *const names[] = {"Key",          "Size",     "LastModifiedDate",
                                            "StorageClass", "IsLatest", "IsDeleteMarker"};
        int *const at[] = {&c->key,           &c->size,      &c->modified,
                           &c->storage_class, &c->is_latest, &c->delete_marker};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (n == strlen(names[i]) && memcmp(p, names[i], n) == 0) {
                *at[i] = c->count;
            }
        }
        c->count += n > 0;
        p += n;
    }
    if (c->key < 0 || c->size < 0 || c->modified < 0) {
        return gt_fail(err, GT_EPARSE, "fileSchema", "Key, Size and LastModifiedDate are needed");
    }
    return c->count <= CSV_FIELDS ? 0 : gt_fail(err, GT_ELIMIT, "fileSchema", "too many columns");
}

static bool is_true(const struct csv_record *rec, int at)
{
    return rec->len[at] == 4 &&
           (memcmp(rec->field[at], "true", 4) == 0 || memcmp(rec->field[at], "TRUE", 4) == 0);
}

/* Counts a row whose field `at` is not what its column holds, in words that name both. */
static int bad_field(struct reader *r, const struct csv_record *rec, int at, const char *column,
                     const char *expected, struct gt_error *err)
{
    char value[44], text[160];
    size_t n = rec->len[at] < 40 ? rec->len[at] : 40;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)rec->field[at][i];
        value[i] = c < ' ' || c >= 0x7f ? '?' : (char)c;
    }
    snprintf(value + n, 4, "%s", rec->len[at] > n ? "..." : "");
    snprintf(text, sizeof text, "column %d (%s) is '%s', expected %s", at + 1, column, value,
             expected);
    return bad_row(r->inv, r->name, r->line, text, err);
}

int s3_row(struct reader *r, struct csv_record *rec, struct gt_error *err)
{
    const struct s3_columns *c = r->state;
    struct object ob = {
        .storage_class = "STANDARD", .class_len = 8, .accessed = GT_TIME_NONE, .is_latest = true};
    if (rec->n < (size_t)c->count) {
        return bad_row(r->inv, r->name, r->line, "fewer fields than fileSchema has", err);
    }
    if (c->delete_marker >= 0 && is_true(rec, c->delete_marker)) {
        r->inv->stats.delete_markers++;
        return 0;
    }
    size_t len = url_decode(rec->field[c->key], rec->len[c->key]);
    if (len == SIZE_MAX) {
        return bad_field(r, rec, c->key, "Key", "a URL-encoded key", err);
    }
    ob.key = rec->field[c->key];
    ob.key_len = len;
    if (!digits_u64(rec->field[c->size], rec->len[c->size], &ob.size)) {
        return bad_field(r, rec, c->size, "Size", "a number of bytes", err);
    }
    if (!instant(rec->field[c->modified], rec->len[c->modified], &ob.modified)) {
        return bad_field(r, rec, c->modified, "LastModifiedDate", "an ISO 8601 date", err);
    }
    if (c->storage_class >= 0 && rec->len[c->storage_class] > 0) {
        ob.storage_class = rec->field[c->storage_class];
        ob.class_len = rec->len[c->storage_class];
    }
    if (c->is_latest >= 0) {
        ob.is_latest = is_true(rec, c->is_latest);
    }
    r->inv->stats.rows++;
    return aggregate_object(r->inv, &ob, err);
}

/* Where a data file lies: its whole key beside the manifest, or its last two parts beside it or in
 * the parent folder. False when none is there. */
static bool locate(const char *manifest, const char *key, char *out, size_t size)
{
    const char *slash = strrchr(manifest, '/');
    int dir = slash ? (int)(slash - manifest + 1) : 0;
    const char *two = key;
    for (const char *p = key, *a = NULL; (p = strchr(p, '/')) != NULL; p++) {
        two = a ? a + 1 : key;
        a = p;
    }
    for (int i = 0; i < 3; i++) {
        int n =
            snprintf(out, size, "%.*s%s%s", dir, manifest, i == 2 ? "../" : "", i == 0 ? key : two);
        FILE *f = n > 0 && (size_t)n < size ? fopen(out, "rb") : NULL;
        if (f) {
            fclose(f);
            return true;
        }
    }
    return false;
}

static int manifest_files(struct inventory *inv, const char *path, const cJSON *doc,
                          const struct s3_columns *columns, struct gt_error *err)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(doc, "files"), *file;
    int rc = 0;
    cJSON_ArrayForEach(file, files)
    {
        const cJSON *key = cJSON_GetObjectItemCaseSensitive(file, "key");
        char name[4096];
        if (rc < 0) {
            break;
        }
        if (!cJSON_IsString(key) || strstr(key->valuestring, "..")) {
            return gt_fail(err, GT_EPARSE, path, "a file without a plain key");
        }
        if (!locate(path, key->valuestring, name, sizeof name)) {
            return gt_fail(err, GT_ENOTFOUND, path, "data file '%.200s' is not there",
                           key->valuestring);
        }
        rc = read_file_as(inv, name, MODE_S3, columns, err);
    }
    return rc;
}

int read_manifest(struct inventory *inv, const char *path, const char *text, size_t len,
                  struct gt_error *err)
{
    cJSON *doc = cJSON_ParseWithLength(text, len);
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(doc, "fileFormat");
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(doc, "fileSchema");
    int rc;
    struct s3_columns columns;
    if (!cJSON_IsString(format) || !cJSON_IsString(schema)) {
        rc = gt_fail(err, GT_EPARSE, path, "no S3 Inventory manifest: fileFormat and fileSchema");
    } else if (strcmp(format->valuestring, "CSV") != 0) {
        rc = gt_fail(err, GT_EUNSUPPORTED, path, "fileFormat is %.20s, only CSV is read",
                     format->valuestring);
    } else {
        rc = s3_schema(schema->valuestring, &columns, err);
        rc = rc < 0 ? rc : manifest_files(inv, path, doc, &columns, err);
    }
    cJSON_Delete(doc);
    return rc;
}
