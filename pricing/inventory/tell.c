/* Tells the format of an inventory by its first bytes, within what --kind leaves open. */
#include "inventory_priv.h"
#include <string.h>

static const struct {
    const char *name;
    enum mode mode; /* MODE_UNKNOWN: by the content */
    const struct layout *layout;
} kinds[] = {
    [INVENTORY_AUTO] = {"auto", MODE_UNKNOWN, NULL},
    [INVENTORY_FIND] = {"find", MODE_FIND, NULL},
    [INVENTORY_S3] = {"s3", MODE_COLUMNS, &layout_s3},
    [INVENTORY_AZURE] = {"azure", MODE_COLUMNS, &layout_azure},
    [INVENTORY_GCS] = {"gcs", MODE_COLUMNS, &layout_gcs},
    [INVENTORY_RCLONE] = {"rclone", MODE_JSON, NULL},
    [INVENTORY_S3API] = {"s3api", MODE_JSON, NULL},
    [INVENTORY_HISTOGRAM] = {"histogram", MODE_HISTOGRAM, NULL},
};

const char *inventory_format_name(int format)
{
    return format >= 0 && format < (int)(sizeof kinds / sizeof *kinds) ? kinds[format].name : NULL;
}

struct line { /* the first one of a file */
    const char *text;
    size_t len;
};

/* A column of that name, as a whole field. */
static bool has(const struct line *l, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = l->text, *end = p + l->len;
         (p = memmem(p, (size_t)(end - p), name, n)) != NULL; p++) {
        const char *before = p > l->text && p[-1] == '"' ? p - 1 : p;
        const char *behind = p + n < end && p[n] == '"' ? p + n + 1 : p + n;
        if ((before == l->text || memchr(",;|\t", before[-1], 4)) &&
            (behind == end || memchr(",;|\t\r", *behind, 5))) {
            return true;
        }
    }
    return false;
}

/* What most often stands between the columns of the first line. */
static char separator_of(const struct line *l)
{
    static const char candidates[] = ",;|\t";
    size_t most = 0;
    char best = ',';
    for (const char *c = candidates; *c; c++) {
        size_t n = 0;
        for (size_t i = 0; i < l->len; i++) {
            n += l->text[i] == *c;
        }
        if (n > most) {
            most = n;
            best = *c;
        }
    }
    return best;
}

/* A manifest rather than a listing: its own members come before any list of objects. */
static bool is_manifest(const char *data, size_t len)
{
    static const char *const manifest[] = {"\"fileSchema\"",
                                           "\"report_shards_file_names\"",
                                           "\"inventoryCompletionTime\"",
                                           "\"ruleDefinition\"",
                                           "\"report_config\"",
                                           "\"sourceBucket\""};
    static const char *const listing[] = {"\"Contents\"", "\"Versions\"", "\"DeleteMarkers\""};
    const char *first = data + len;
    bool yes = false;
    for (size_t i = 0; i < sizeof manifest / sizeof *manifest; i++) {
        const char *p = memmem(data, len, manifest[i], strlen(manifest[i]));
        if (p && p < first) {
            first = p;
            yes = true;
        }
    }
    for (size_t i = 0; i < sizeof listing / sizeof *listing; i++) {
        yes = yes && !memmem(data, (size_t)(first - data), listing[i], strlen(listing[i]));
    }
    return yes;
}

static int columns_told(const struct inventory_options *o, const struct layout *l, const char *name,
                        const struct line *first, struct told *out, struct gt_error *err)
{
    out->mode = MODE_COLUMNS;
    out->separator = l == &layout_s3 ? ',' : separator_of(first);
    out->columns.layout = l;
    out->columns.fields = o->file_schema;
    if (l != &layout_s3) {
        return 0; /* by the first row */
    }
    return o->file_schema ? columns_of(l, o->file_schema, &out->columns, err)
                          : gt_fail(err, GT_EUNSUPPORTED, name,
                                    "an S3 Inventory CSV has no header: give the manifest.json "
                                    "beside it, or its columns with --columns");
}

static enum inventory_format guess(const struct inventory_options *o, const struct line *l)
{
    if (has(l, "Content-Length") && (has(l, "Name") || has(l, "name"))) {
        return INVENTORY_AZURE;
    }
    if (has(l, "name") && has(l, "size") && (has(l, "timeCreated") || has(l, "updated"))) {
        return INVENTORY_GCS;
    }
    if (memmem(l->text, l->len, "prefix", 6) && memmem(l->text, l->len, "objects", 7)) {
        return INVENTORY_HISTOGRAM;
    }
    /* Only S3 Inventory quotes all its fields. */
    return o->file_schema || (l->len > 0 && l->text[0] == '"') ? INVENTORY_S3 : INVENTORY_FIND;
}

int tell(const struct inventory_options *o, const char *name, const char *head, size_t len,
         struct told *out, struct gt_error *err)
{
    enum inventory_format format = o->format;
    *out = (struct told){.separator = ','};
    if (len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        head += 3;
        len -= 3;
    }
    size_t i = 0;
    while (i < len && memchr(" \n\r\t", head[i], 4)) {
        i++;
    }
    const char *line_end = memchr(head, '\n', len);
    struct line first = {head, line_end ? (size_t)(line_end - head) : len};
    bool json = i < len && (head[i] == '{' || head[i] == '[');
    if (json && head[i] == '{' && format != INVENTORY_FIND && format != INVENTORY_HISTOGRAM &&
        is_manifest(head, len)) {
        out->mode = MODE_MANIFEST;
        return 0;
    }
    if (format == INVENTORY_AUTO && json) {
        out->mode = MODE_JSON;
        return 0;
    }
    format = format == INVENTORY_AUTO ? guess(o, &first) : format;
    out->mode = kinds[format].mode;
    return out->mode == MODE_COLUMNS ? columns_told(o, kinds[format].layout, name, &first, out, err)
                                     : 0;
}
