/* Entries of JSON lists as small trees (records.h), built from json_read's events in two blocks
 * of memory that every entry uses anew. */
#include "records.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES    8192
#define TEXT     ((size_t)512 * 1024)
#define PATH     200
#define LEVELS   8 /* containers above the entries */
#define NOT_LIST (-1)

struct level {
    size_t path_len; /* of the container, in path */
    int list;        /* index in the shape, NOT_LIST = only on the way to one */
    bool object;
};
struct records_tree {
    struct rec node[NODES];
    char text[TEXT];
    size_t n, used;
    struct rec *open[JSON_DEPTH + 1], *last[JSON_DEPTH + 1];
    int depth;       /* containers of the entry that are open; 0 = outside of entries */
    const char *key; /* of the value that comes next in the entry */
    char entry_key[PATH];
    struct level level[LEVELS + 1];
    int levels;
    char path[PATH]; /* of the value that comes next outside of entries */
};

static const char *keep(struct records_tree *t, const char *text, size_t len)
{
    if (len + 1 > TEXT - t->used) {
        return NULL;
    }
    char *at = t->text + t->used;
    memcpy(at, text, len);
    at[len] = '\0';
    t->used += len + 1;
    return at;
}

static int too_large(struct records *r, struct gt_error *err)
{
    return json_fail(r->json, GT_ELIMIT, err, "an entry of more than %d values or %zu KiB of text",
                     NODES, TEXT / 1024);
}

static struct rec *add(struct records_tree *t, enum json_event kind, const char *text, size_t len)
{
    const char *kept = keep(t, text, len);
    if (t->n == NODES || !kept) {
        return NULL;
    }
    struct rec *n = &t->node[t->n++];
    *n = (struct rec){.key = t->key, .text = kept, .kind = kind};
    if (t->depth > 0) {
        if (t->last[t->depth]) {
            t->last[t->depth]->next = n;
        } else {
            t->open[t->depth]->child = n;
        }
        t->last[t->depth] = n;
    }
    t->key = "";
    return n;
}

static int handle_entry(struct records *r, struct gt_error *err)
{
    struct records_tree *t = r->tree;
    r->entries++;
    r->bad.seen++;
    return r->shape->entry(r, t->level[t->levels].list, &t->node[0], err);
}

/* An event within an entry. */
static int in_entry(struct records *r, enum json_event e, const char *text, size_t len,
                    struct gt_error *err)
{
    struct records_tree *t = r->tree;
    static const char *const word[] = {[JSON_TRUE] = "true", [JSON_FALSE] = "false"};
    struct rec *n = NULL;
    switch (e) {
    case JSON_KEY:
        t->key = keep(t, text, len);
        return t->key ? 0 : too_large(r, err);
    case JSON_END_OBJECT:
    case JSON_END_ARRAY:
        return --t->depth == 0 ? handle_entry(r, err) : 0;
    case JSON_OBJECT:
    case JSON_ARRAY:
        n = add(t, e, "", 0);
        if (n) {
            t->depth++;
            t->open[t->depth] = n;
            t->last[t->depth] = NULL;
        }
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        n = add(t, e, word[e], strlen(word[e]));
        break;
    default:
        n = add(t, e, text, len);
        break;
    }
    return n ? 0 : too_large(r, err);
}

/* Index of the list at path; NOT_LIST when it is on the way to one (*way) or nothing. */
static int list_at(const struct records_shape *s, const char *path, bool *way)
{
    size_t n = strlen(path);
    *way = false;
    for (int i = 0; s->list[i]; i++) {
        if (strcmp(s->list[i], path) == 0) {
            return i;
        }
        *way |= n == 0 || (strncmp(s->list[i], path, n) == 0 && s->list[i][n] == '.');
    }
    return NOT_LIST;
}

static void set_path(struct records_tree *t, const char *key, size_t len)
{
    size_t at = t->levels > 0 ? t->level[t->levels].path_len : 0;
    size_t room = PATH - 2 - at;
    if (at > 0) {
        t->path[at++] = '.';
        room--;
    }
    len = len < room ? len : room;
    memcpy(t->path + at, key, len);
    t->path[at + len] = '\0';
}

static void begin_entry(struct records_tree *t, enum json_event e, const char *key)
{
    t->n = t->used = 0;
    t->key = keep(t, key, strlen(key));
    t->open[1] = add(t, e, "", 0);
    t->last[1] = NULL;
    t->depth = 1;
}

/* A container outside of entries: a list, the way to one, or nothing that is wanted. */
static void open_level(struct records *r, enum json_event e)
{
    struct records_tree *t = r->tree;
    bool way;
    if (t->levels == 0 || !t->level[t->levels].object) {
        t->path[t->levels ? t->level[t->levels].path_len : 0] = '\0';
    }
    int list = list_at(r->shape, t->path, &way);
    if ((list == NOT_LIST && !way) || t->levels == LEVELS) {
        json_leave(r->json, 1);
        return;
    }
    /* the whole document is a list if it is an array, or can be nothing else */
    r->listed |= list != NOT_LIST && (e == JSON_ARRAY || t->levels > 0 || !r->shape->list[1]);
    t->levels++;
    t->level[t->levels] = (struct level){strlen(t->path), list, e == JSON_OBJECT};
}

static int end_document(struct records *r, struct gt_error *err)
{
    bool listed = r->listed;
    r->listed = false;
    r->documents++;
    int rc = r->shape->document ? r->shape->document(r, err) : 0;
    if (rc == 0 && r->shape->pages && !listed) {
        rc = json_fail(r->json, GT_EPARSE, err, "a page without \"%s\": no part of the list",
                       r->shape->list[0]);
    }
    return rc;
}

/* The end of a file. */
static int end_file(struct records *r, struct gt_error *err)
{
    bool none = r->shape->pages && r->fed && r->documents == 0;
    r->documents = 0;
    r->fed = false;
    return none ? gt_fail(err, GT_EPARSE, r->ctx->name, "an empty page") : 0;
}

static int on_event(void *ctx, struct json_reader *json, enum json_event e, const char *text,
                    size_t len, struct gt_error *err)
{
    struct records *r = ctx;
    struct records_tree *t = r->tree;
    (void)json;
    if (t->depth > 0) {
        return in_entry(r, e, text, len, err);
    }
    struct level *l = &t->level[t->levels];
    bool in_list = t->levels > 0 && l->list != NOT_LIST, way;
    switch (e) {
    case JSON_KEY:
        set_path(t, text, len);
        snprintf(t->entry_key, sizeof t->entry_key, "%s", text);
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
        /* a container that a longer path names is no entry of the shorter one */
        if (in_list && (!l->object || (list_at(r->shape, t->path, &way) == NOT_LIST && !way))) {
            begin_entry(t, e, l->object ? t->entry_key : "");
        } else {
            open_level(r, e);
        }
        break;
    case JSON_END_OBJECT:
    case JSON_END_ARRAY:
        t->levels--;
        return t->levels == 0 ? end_document(r, err) : 0;
    default:
        if (t->levels == 0) {
            return end_document(r, err);
        }
        if (r->shape->field && l->object) {
            return r->shape->field(r, t->path, text, err);
        }
        break;
    }
    return 0;
}

int records_open(struct parse_context *ctx, const struct records_shape *shape, struct parser **out,
                 struct gt_error *err)
{
    struct records *r = calloc(1, sizeof *r);
    if (r) {
        r->ctx = ctx;
        r->shape = shape;
        r->tree = malloc(sizeof *r->tree);
        r->arena = arena_new((size_t)256 << 20);
    }
    if (!r || !r->tree || !r->arena) {
        records_abort((struct parser *)(void *)r);
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    r->tree->depth = r->tree->levels = 0;
    r->tree->key = "";
    r->tree->n = r->tree->used = 0;
    int rc = json_reader_new(ctx->name, on_event, r, &r->json, err);
    if (rc != 0) {
        records_abort((struct parser *)(void *)r);
        return rc;
    }
    json_reader_many(r->json);
    if (shape->regions_vary) {
        staging_regions_vary(ctx->staging);
    }
    *out = (struct parser *)(void *)r;
    return 0;
}

int records_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    struct records *r = (struct records *)(void *)p;
    r->fed = true;
    return json_reader_feed(r->json, data, len, err);
}

int records_next(struct parser *p, struct gt_error *err)
{
    struct records *r = (struct records *)(void *)p;
    int rc = json_reader_next(r->json, err);
    return rc ? rc : end_file(r, err);
}

int records_close(struct parser *p, struct gt_error *err)
{
    struct records *r = (struct records *)(void *)p;
    int rc = json_reader_end(r->json, err);
    rc = rc ? rc : end_file(r, err);
    if (rc == 0 && r->shape->end) {
        rc = r->shape->end(r, err);
    }
    if (rc == 0 && r->ctx->rows == 0) {
        rc = gt_fail(err, GT_EPARSE, r->ctx->name,
                     "no prices among %llu entries; an empty list never replaces prices",
                     (unsigned long long)r->entries);
    }
    records_abort(p);
    return rc;
}

void records_abort(struct parser *p)
{
    struct records *r = (struct records *)(void *)p;
    if (r) {
        json_reader_free(r->json);
        arena_free(r->arena);
        free(r->tree);
    }
    free(r);
}

int records_bad(struct records *r, const char *what, const char *found, struct gt_error *err)
{
    return src_bad_row(&r->bad, r->ctx, json_line(r->json), what, found, err);
}

const struct rec *rec_get(const struct rec *e, const char *path)
{
    while (e && *path != '\0') {
        size_t n = strcspn(path, ".");
        const struct rec *c = e->child;
        while (c && (strncmp(c->key, path, n) != 0 || c->key[n] != '\0')) {
            c = c->next;
        }
        e = c;
        path += n + (path[n] == '.');
    }
    return e && e->kind != JSON_NULL ? e : NULL;
}

const char *rec_text(const struct rec *e, const char *path)
{
    const struct rec *v = rec_get(e, path);
    return v ? v->text : "";
}

bool rec_true(const struct rec *e, const char *path)
{
    const struct rec *v = rec_get(e, path);
    return v && v->kind == JSON_TRUE;
}

static bool recognise(const char *head, size_t len, const char *const words[2])
{
    size_t i = 0;
    while (i < len && (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n')) {
        i++;
    }
    if (i == len || (head[i] != '{' && head[i] != '[')) {
        return false;
    }
    return memmem(head, len, words[0], strlen(words[0])) &&
           memmem(head, len, words[1], strlen(words[1]));
}

bool source_recognises(const struct source_def *d, const char *head, size_t len, const char *name)
{
    for (size_t i = 0; i < 2 && d->known_by[i][0]; i++) {
        if (recognise(head, len, d->known_by[i])) {
            return true;
        }
    }
    return d->recognise && d->recognise(head, len, name);
}

int source_open(const struct source_def *d, struct parse_context *ctx, struct parser **out,
                struct gt_error *err)
{
    return d->records ? records_open(ctx, d->records, out, err) : d->parse_open(ctx, out, err);
}
