/* Manifests of inventories, which name the data files and what stands in them: S3 Inventory
 * (R-IM-01), Azure blob inventory, GCS inventory reports. Data files are read where they lie after
 * a copy: never a path out of the manifest's own folder and the one above it. */
#include "inventory_priv.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Where a data file lies: its whole key beside the manifest, its last two parts beside it or in
 * the parent folder, or its bare name beside it. False when none is there. */
static bool locate(const char *manifest, const char *key, char *out, size_t size)
{
    const char *slash = strrchr(manifest, '/'), *name = strrchr(key, '/');
    int dir = slash ? (int)(slash - manifest + 1) : 0;
    const char *two = key;
    for (const char *p = key, *a = NULL; (p = strchr(p, '/')) != NULL; p++) {
        two = a ? a + 1 : key;
        a = p;
    }
    const struct {
        const char *up, *key;
    } places[] = {{"", key}, {"", two}, {"../", two}, {"", name ? name + 1 : key}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(out, size, "%.*s%s%s", dir, manifest, places[i].up, places[i].key);
        FILE *f = n > 0 && (size_t)n < size ? fopen(out, "rb") : NULL;
        if (f) {
            fclose(f);
            return true;
        }
    }
    return false;
}

static const cJSON *get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

/* The same member in the spelling of the REST API or of the manifest. */
static const cJSON *either(const cJSON *o, const char *camel, const char *snake)
{
    const cJSON *v = get(o, camel);
    return v ? v : get(o, snake);
}

static int refuse_format(const char *path, const char *format, struct gt_error *err)
{
    return gt_fail(err, GT_EUNSUPPORTED, path,
                   "fileFormat is %.20s, only CSV is read; `inventory sql` prints the query for an "
                   "engine that reads it",
                   format);
}

/* A list of names joined by commas; false when one is no plain name or all are too long. */
static bool join(const cJSON *list, char *out, size_t size)
{
    size_t len = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        int n = cJSON_IsString(item)
                    ? snprintf(out + len, size - len, "%s%s", len ? "," : "", item->valuestring)
                    : -1;
        if (n < 0 || (size_t)n >= size - len) {
            return false;
        }
        len += (size_t)n;
    }
    return len > 0;
}

static int told_s3(const cJSON *doc, const char *path, struct told *t, struct gt_error *err)
{
    const cJSON *format = get(doc, "fileFormat"), *schema = get(doc, "fileSchema");
    if (!cJSON_IsString(format) || !cJSON_IsString(schema)) {
        return gt_fail(err, GT_EPARSE, path, "no S3 Inventory manifest: fileFormat and fileSchema");
    }
    return strcmp(format->valuestring, "CSV") != 0
               ? refuse_format(path, format->valuestring, err)
               : columns_of(&layout_s3, schema->valuestring, &t->columns, err);
}

static int told_azure(const cJSON *doc, const char *path, struct told *t, struct gt_error *err)
{
    const cJSON *rule = get(doc, "ruleDefinition"), *format = get(rule, "format"),
                *type = get(rule, "objectType"), *status = get(doc, "status");
    t->columns.layout = &layout_azure; /* every file has a header */
    if (cJSON_IsString(status) && strcmp(status->valuestring, "Succeeded") != 0) {
        return gt_fail(err, GT_EPARSE, path, "the inventory's status is '%.40s', not Succeeded",
                       status->valuestring);
    }
    if (cJSON_IsString(type) && strcmp(type->valuestring, "blob") != 0) {
        return gt_fail(err, GT_EUNSUPPORTED, path, "an inventory of %.20ss, expected one of blobs",
                       type->valuestring);
    }
    return cJSON_IsString(format) && strcasecmp(format->valuestring, "csv") != 0
               ? refuse_format(path, format->valuestring, err)
               : 0;
}

/* fields: room for the names of the report's columns, kept as long as t. */
static int told_gcs(const cJSON *doc, const char *path, char *fields, size_t size, struct told *t,
                    struct gt_error *err)
{
    const cJSON *config = get(doc, "report_config");
    const cJSON *csv = either(config, "csvOptions", "csv_options");
    const cJSON *what =
        either(config, "objectMetadataReportOptions", "object_metadata_report_options");
    const cJSON *names = either(what, "metadataFields", "metadata_fields");
    const cJSON *delimiter = get(csv, "delimiter");
    t->columns.layout = &layout_gcs;
    if (either(config, "parquetOptions", "parquet_options")) {
        return refuse_format(path, "Parquet", err);
    }
    if (cJSON_IsString(delimiter) && strlen(delimiter->valuestring) == 1) {
        t->separator = delimiter->valuestring[0];
    }
    if (names) {
        if (!join(names, fields, size)) {
            return gt_fail(err, GT_EPARSE, path, "metadataFields is no list of names");
        }
        t->columns.fields = fields;
    }
    return 0;
}

/* The file that an entry of the list names, in arena. */
static int data_file(const char *path, const cJSON *file, const char *member, struct arena *arena,
                     const char **out, struct gt_error *err)
{
    const cJSON *key = member ? get(file, member) : file;
    char name[4096];
    if (!cJSON_IsString(key) || strstr(key->valuestring, "..")) {
        return gt_fail(err, GT_EPARSE, path, "a file without a plain key");
    }
    if (!locate(path, key->valuestring, name, sizeof name)) {
        return gt_fail(err, GT_ENOTFOUND, path, "data file '%.200s' is not there",
                       key->valuestring);
    }
    const cJSON *size = member ? get(file, "size") : NULL;
    struct stat st;
    if (cJSON_IsNumber(size) && stat(name, &st) == 0 && (double)st.st_size != size->valuedouble) {
        return gt_fail(
            err, GT_EPARSE, path,
            "data file '%.200s' has %lld bytes, the manifest says %.0f: not copied whole", name,
            (long long)st.st_size, size->valuedouble);
    }
    *out = arena_strdup(arena, name);
    return *out ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int data_files(struct inventory *inv, const char *path, const cJSON *files,
                      const char *member, const struct told *told, struct gt_error *err)
{
    size_t n = 0;
    const cJSON *file;
    cJSON_ArrayForEach(file, files)
    {
        n++;
    }
    struct arena *arena = arena_new(0);
    const char **names = arena ? arena_array(arena, n + 1, sizeof *names) : NULL;
    int rc = names ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    n = 0;
    cJSON_ArrayForEach(file, files)
    {
        rc = rc ? rc : data_file(path, file, member, arena, &names[n++], err);
    }
    rc = rc ? rc : read_files(inv, names, n, told, err);
    arena_free(arena);
    return rc;
}

int read_manifest(struct inventory *inv, const char *path, const char *text, size_t len,
                  struct gt_error *err)
{
    cJSON *doc = cJSON_ParseWithLength(text, len);
    struct told told = {.mode = MODE_COLUMNS, .separator = ','};
    const cJSON *files = get(doc, "files"), *shards = get(doc, "report_shards_file_names");
    const char *member = "key";
    char fields[2048];
    int rc;
    if (shards) {
        files = shards;
        member = NULL;
        rc = told_gcs(doc, path, fields, sizeof fields, &told, err);
    } else if (get(doc, "ruleDefinition") || get(doc, "inventoryCompletionTime")) {
        member = "blob";
        rc = told_azure(doc, path, &told, err);
    } else {
        rc = told_s3(doc, path, &told, err);
    }
    rc = rc < 0 ? rc : data_files(inv, path, files, member, &told, err);
    cJSON_Delete(doc);
    return rc;
}
