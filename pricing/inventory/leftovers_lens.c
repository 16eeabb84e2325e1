/* What a file of lists is told by, and the rows of Storage Lens exports (leftovers.h). */
#include "inventory_priv.h"
#include "leftovers_priv.h"
#include <stdio.h>
#include <string.h>

#define LENS_FIELDS 16
#define FIELD       96

bool leftovers_told(const char *head, size_t len)
{
    static const char *const keys[] = {
        "\"Uploads\"",    "\"Parts\"",      "\"Volumes\"",      "\"Snapshots\"",       "\"Images\"",
        "\"diskSizeGB\"", "\"diskSizeGb\"", "\"compute#disk\"", "\"compute#snapshot\""};
    size_t skip = 0;
    while (skip < len && memchr(" \t\r\n\xef\xbb\xbf", head[skip], 7)) {
        skip++;
    }
    const char *line = memchr(head, '\n', len);
    size_t first = line ? (size_t)(line - head) : len;
    if (skip == len || (head[skip] != '{' && head[skip] != '[')) {
        return memmem(head, first, "metric_name", 11) && memmem(head, first, "metric_value", 12);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at = memmem(head, len, keys[i], strlen(keys[i]));
        if (!at) {
            continue;
        }
        const char *p = at + strlen(keys[i]);
        while (p < head + len && memchr(" \t\r\n", *p, 4)) {
            p++;
        }
        /* a member, not a value that reads alike; kinds of Google's are values */
        if (keys[i][1] == 'c' || (p < head + len && *p == ':')) {
            return true;
        }
    }
    return false;
}

/* One line's fields, cut to FIELD; its end. */
static const char *fields(const char *p, char out[LENS_FIELDS][FIELD], size_t *n)
{
    for (*n = 0;; p++) {
        size_t len = 0;
        bool quoted = *p == '"';
        p += quoted;
        for (; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
            if (quoted && *p == '"' && *++p != '"') {
                break;
            }
            if (*n < LENS_FIELDS && len + 1 < FIELD && *p != '\r') {
                out[*n][len++] = *p;
            }
        }
        if (*n < LENS_FIELDS) {
            out[(*n)++][len] = '\0';
        }
        if (*p != ',') {
            p += strcspn(p, "\n");
            return *p ? p + 1 : p;
        }
    }
}

enum lens { DATE, RECORD, NAME, VALUE, REGION, CLASS, BUCKET, LENS_COLUMNS };
static const char *const names[LENS_COLUMNS] = {"report_date",  "record_type", "metric_name",
                                                "metric_value", "aws_region",  "storage_class",
                                                "bucket_name"};

static int header(const char *name, char field[LENS_FIELDS][FIELD], size_t n,
                  size_t at[LENS_COLUMNS], struct gt_error *err)
{
    for (size_t k = 0; k < LENS_COLUMNS; k++) {
        at[k] = LENS_FIELDS;
        for (size_t i = 0; i < n; i++) {
            at[k] = strcmp(field[i], names[k]) == 0 ? i : at[k];
        }
        if (at[k] == LENS_FIELDS) {
            return gt_fail(err, GT_EPARSE, name, "no column %s: expected a Storage Lens export",
                           names[k]);
        }
    }
    return 0;
}

/* One figure of a bucket: what is incomplete, or (told apart) has been for more than 7 days. */
static int figure(struct leftovers *l, const char *name, const char *const f[LENS_COLUMNS],
                  uint64_t v, struct gt_error *err)
{
    bool older = strcmp(f[NAME], "IncompleteMPUStorageBytesOlderThan7Days") == 0 ||
                 strcmp(f[NAME], "IncompleteMPUObjectCountOlderThan7Days") == 0;
    bool bytes = strstr(f[NAME], "StorageBytes") != NULL;
    char key[LENS_COLUMNS * FIELD];
    snprintf(key, sizeof key, "%s,%s,%s,%s,%s", f[DATE], f[REGION], f[CLASS], f[BUCKET], f[NAME]);
    struct left_entry *e = left_add(l, LEFT_LENS, LEFT_AWS, key);
    if (!e) {
        return left_full(name, err);
    }
    e->older = older;
    e->item.region = left_region(l, f[REGION]);
    e->item.bytes = bytes ? v : 0;
    e->item.count = bytes ? 0 : v;
    left_class(l, f[CLASS], &e->item);
    e->scope = arena_strdup(l->arena, f[DATE]);
    if (strcmp(f[DATE], l->lens_date) > 0) {
        snprintf(l->lens_date, sizeof l->lens_date, "%.15s", f[DATE]);
    }
    return e->scope ? 0 : left_full(name, err);
}

int left_lens(struct leftovers *l, const char *name, const char *text, struct gt_error *err)
{
    char field[LENS_FIELDS][FIELD];
    size_t n, at[LENS_COLUMNS];
    unsigned long line = 1;
    const char *p = fields(text, field, &n);
    int rc = header(name, field, n, at, err);
    while (rc == 0 && *p) {
        const char *f[LENS_COLUMNS];
        uint64_t v;
        bool whole = true;
        p = fields(p, field, &n);
        line++;
        for (size_t k = 0; k < LENS_COLUMNS; k++) {
            whole = whole && at[k] < n;
            f[k] = field[at[k]];
        }
        /* accounts and prefixes tell the same bytes again */
        if (!whole || strcmp(f[RECORD], "BUCKET") != 0 ||
            (strncmp(f[NAME], "IncompleteMultipartUpload", 25) != 0 &&
             strncmp(f[NAME], "IncompleteMPU", 13) != 0)) {
            continue;
        }
        if (!digits_u64(f[VALUE], strlen(f[VALUE]), &v)) {
            char where[160];
            snprintf(where, sizeof where, "%.130s:%lu", name, line);
            return gt_fail(err, GT_EPARSE, where, "metric_value: expected a whole number");
        }
        rc = figure(l, name, f, v, err);
    }
    return rc;
}
