/* Listings in JSON, streamed: `rclone lsjson` (a list of entries), `aws s3api list-objects-v2` and
 * `list-object-versions` (lists under Contents, Versions, DeleteMarkers; also the bare list of
 * `--query Contents`), pages behind one another. Memory: one entry, whatever the file's size. An
 * entry that lacks something is a bad row; what is no JSON ends the file. */
#include "../sources/json_read.h"
#include "duplicates.h"
#include "gputier/units.h"
#include "inventory_priv.h"
#include <stdlib.h>
#include <string.h>

enum member {
    MEMBER_NONE,
    MEMBER_KEY,
    MEMBER_SIZE,
    MEMBER_MODIFIED,
    MEMBER_CLASS,
    MEMBER_LATEST,
    MEMBER_FOLDER,
    MEMBER_DIGEST
};
static const struct {
    const char *name;
    enum member member;
} members[] = {
    {"Key", MEMBER_KEY},          {"Path", MEMBER_KEY},
    {"Size", MEMBER_SIZE},        {"LastModified", MEMBER_MODIFIED},
    {"ModTime", MEMBER_MODIFIED}, {"StorageClass", MEMBER_CLASS},
    {"Tier", MEMBER_CLASS},       {"IsLatest", MEMBER_LATEST},
    {"IsDir", MEMBER_FOLDER},     {"ETag", MEMBER_DIGEST},
};
enum list { LIST_NONE, LIST_OBJECTS, LIST_MARKERS };

struct json_list {
    struct reader *r;
    struct json_reader *json;
    bool known;     /* something of a listing was there */
    enum list list; /* the one that is open */
    int depth;      /* of its entries' members */
    enum member member;
    struct json_entry {
        char *key;
        size_t key_len, key_cap;
        char size[24], modified[48], storage_class[64], digest[48];
        size_t size_len, modified_len, class_len, digest_len;
        uint64_t line;
        bool has_key, too_long, not_latest, folder;
    } e;
};

static void begin(struct json_list *j)
{
    char *key = j->e.key;
    size_t cap = j->e.key_cap;
    j->e = (struct json_entry){.key = key, .key_cap = cap, .line = json_line(j->json)};
}

static int keep_key(struct json_entry *e, const char *text, size_t len, struct gt_error *err)
{
    if (len >= e->key_cap) {
        char *p = realloc(e->key, len + 256);
        if (!p) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        e->key = p;
        e->key_cap = len + 256;
    }
    memcpy(e->key, text, len);
    e->key_len = len;
    e->has_key = true;
    return 0;
}

static void keep(struct json_entry *e, char *to, size_t room, size_t *to_len, const char *text,
                 size_t len)
{
    if (len > room) {
        e->too_long = true;
        return;
    }
    memcpy(to, text, len);
    *to_len = len;
}

static int value(struct json_list *j, enum json_event event, const char *text, size_t len,
                 struct gt_error *err)
{
    struct json_entry *e = &j->e;
    bool written = event == JSON_STRING || event == JSON_NUMBER;
    switch (j->member) {
    case MEMBER_KEY:
        return event == JSON_STRING ? keep_key(e, text, len, err) : 0;
    case MEMBER_SIZE:
        if (written) {
            keep(e, e->size, sizeof e->size, &e->size_len, text, len);
        }
        break;
    case MEMBER_MODIFIED:
        if (written) {
            keep(e, e->modified, sizeof e->modified, &e->modified_len, text, len);
        }
        break;
    case MEMBER_CLASS:
        if (event == JSON_STRING) {
            keep(e, e->storage_class, sizeof e->storage_class, &e->class_len, text, len);
        }
        break;
    case MEMBER_LATEST:
        e->not_latest = event == JSON_FALSE;
        break;
    case MEMBER_FOLDER:
        e->folder = event == JSON_TRUE;
        break;
    case MEMBER_DIGEST: /* a longer one is none of MD5 */
        if (event == JSON_STRING && len <= sizeof e->digest) {
            keep(e, e->digest, sizeof e->digest, &e->digest_len, text, len);
        }
        break;
    case MEMBER_NONE:
        break;
    }
    return 0;
}

static const char *object_of(const struct json_entry *e, struct object *ob)
{
    *ob = (struct object){.key = e->key,
                          .key_len = e->key_len,
                          .storage_class = e->storage_class,
                          .class_len = e->class_len,
                          .accessed = GT_TIME_NONE,
                          .aged = GT_TIME_NONE,
                          .is_latest = !e->not_latest,
                          .digest = e->digest,
                          .digest_len = e->digest_len,
                          .encryption_untold = true};
    return e->too_long   ? "Size, StorageClass, Tier or a time is too long"
           : !e->has_key ? "an entry without Key or Path"
           : !digits_u64(e->size, e->size_len, &ob->size)
               ? "Size is missing or unknown, expected a number of bytes"
           : !e->modified_len
               ? "the entry has no LastModified or ModTime (rclone lists it without --no-modtime)"
           : !instant(e->modified, e->modified_len, &ob->modified)
               ? "LastModified or ModTime is no ISO 8601 time"
               : NULL;
}

static int entry(struct json_list *j, struct gt_error *err)
{
    struct inventory *inv = j->r->inv;
    struct object ob;
    if (j->list == LIST_MARKERS) {
        inv->stats.delete_markers++;
        return inv->o.duplicates && j->e.has_key
                   ? dup_marker(inv, j->e.key, j->e.key_len, !j->e.not_latest, err)
                   : 0;
    }
    if (j->e.folder) {
        inv->stats.not_files++;
        return 0;
    }
    const char *why = object_of(&j->e, &ob);
    if (why) {
        return bad_row(inv, j->r->name, j->e.line, why, err);
    }
    inv->stats.rows++;
    return aggregate_object(inv, &ob, err);
}

/* A key of the document itself, outside entries. */
static void outer_key(struct json_list *j, const char *text)
{
    static const char *const known[] = {"Contents",    "Versions",       "DeleteMarkers",
                                        "IsTruncated", "RequestCharged", "KeyCount",
                                        "Prefix",      "CommonPrefixes", "Name"};
    j->list = strcmp(text, "DeleteMarkers") == 0                               ? LIST_MARKERS
              : strcmp(text, "Contents") == 0 || strcmp(text, "Versions") == 0 ? LIST_OBJECTS
                                                                               : LIST_NONE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        j->known = j->known || strcmp(text, known[i]) == 0;
    }
    if (j->list == LIST_NONE) {
        json_skip_value(j->json);
    }
}

static int event(void *ctx, struct json_reader *json, enum json_event e, const char *text,
                 size_t len, struct gt_error *err)
{
    struct json_list *j = ctx;
    int depth = json_depth(json);
    if (e == JSON_KEY) {
        if (depth == 1 && j->depth != 2) {
            outer_key(j, text);
            return 0;
        }
        j->member = MEMBER_NONE;
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
            if (strcmp(text, members[i].name) == 0) {
                j->member = members[i].member;
            }
        }
        if (j->member == MEMBER_NONE) {
            json_skip_value(json);
        }
        return 0;
    }
    if (e == JSON_ARRAY && (depth == 1 || (depth == 2 && j->list != LIST_NONE && !j->depth))) {
        j->depth = depth + 1; /* entries are one deeper than their list */
        j->list = depth == 1 ? LIST_OBJECTS : j->list;
        j->known = true;
    } else if (e == JSON_END_ARRAY && depth == j->depth - 2) {
        j->depth = 0;
        j->list = LIST_NONE;
    } else if (e == JSON_OBJECT && j->depth && depth == j->depth) {
        begin(j);
    } else if (e == JSON_END_OBJECT && j->depth && depth == j->depth - 1) {
        return entry(j, err);
    } else if (j->depth && depth == j->depth) {
        return value(j, e, text, len, err);
    }
    return 0;
}

int json_list_new(struct reader *r, struct json_list **out, struct gt_error *err)
{
    struct json_list *j = calloc(1, sizeof *j);
    if (!j) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    j->r = r;
    int rc = json_reader_new(r->name, event, j, &j->json, err);
    if (rc < 0) {
        free(j);
        return rc;
    }
    json_reader_many(j->json);
    *out = j;
    return 0;
}

int json_list_feed(struct json_list *j, const char *data, size_t len, bool end,
                   struct gt_error *err)
{
    int rc = len ? json_reader_feed(j->json, data, len, err) : 0;
    rc = rc < 0 || !end ? rc : json_reader_end(j->json, err);
    return rc == 0 && end && !j->known
               ? gt_fail(err, GT_EPARSE, j->r->name,
                         "neither a manifest nor a listing: no Contents, Versions or list of "
                         "entries in it")
               : rc;
}

void json_list_free(struct json_list *j)
{
    if (j) {
        json_reader_free(j->json);
        free(j->e.key);
        free(j);
    }
}
