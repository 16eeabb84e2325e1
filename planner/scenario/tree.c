/* YAML text -> tree, by libyaml's event interface over memory. Bounded in depth and in nodes;
 * anchors may be used, but the nodes an alias stands for are counted each time, so that a few
 * lines cannot grow into millions. */
#include "tree.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define TREE_DEPTH   16
#define TREE_NODES   100000
#define TREE_ANCHORS 256
#define TREE_BYTES   (1024 * 1024)

struct builder {
    yaml_parser_t parser;
    struct arena *arena;
    const char *file;
    size_t nodes;
    struct {
        const char *name;
        struct node *node;
    } anchor[TREE_ANCHORS];
    size_t n_anchors;
    struct gt_error *err;
};

const char *tree_where(const struct node *n, char buf[160])
{
    snprintf(buf, 160, "%.120s:%zu:%zu", n->file, n->line, n->column);
    return buf;
}

static int fail_at(struct builder *b, yaml_mark_t mark, int code, const char *text)
{
    char where[160];
    snprintf(where, sizeof where, "%.120s:%zu:%zu", b->file, mark.line + 1, mark.column + 1);
    return gt_fail(b->err, code, where, "%s", text);
}

static struct node *node_new(struct arena *a, enum node_kind kind, const char *file, size_t line,
                             size_t column)
{
    struct node *n = arena_alloc(a, sizeof *n);
    if (n != NULL) {
        n->kind = kind;
        n->file = file;
        n->line = line;
        n->column = column;
        n->weight = 1;
    }
    return n;
}

struct node *tree_scalar(struct arena *a, const char *text, const char *file, size_t line,
                         size_t column)
{
    struct node *n = node_new(a, NODE_SCALAR, file, line, column);
    if (n != NULL && (n->text = arena_strdup(a, text)) == NULL) {
        return NULL;
    }
    return n;
}

struct node *tree_map(struct arena *a, const struct node *at)
{
    return node_new(a, NODE_MAP, at->file, at->line, at->column);
}

struct node *tree_get(const struct node *map, const char *key)
{
    if (map == NULL || map->kind != NODE_MAP) {
        return NULL;
    }
    for (const struct node_entry *e = map->first; e != NULL; e = e->next) {
        if (strcmp(e->key->text, key) == 0) {
            return e->value;
        }
    }
    return NULL;
}

static int append(struct arena *a, struct node *parent, struct node *key, struct node *value)
{
    struct node_entry *e = arena_alloc(a, sizeof *e);
    if (e == NULL) {
        return GT_ENOMEM;
    }
    e->key = key;
    e->value = value;
    if (parent->last != NULL) {
        parent->last->next = e;
    } else {
        parent->first = e;
    }
    parent->last = e;
    parent->n++;
    parent->weight += value->weight + (key != NULL ? 1 : 0);
    return 0;
}

static int next_event(struct builder *b, yaml_event_t *ev)
{
    if (yaml_parser_parse(&b->parser, ev)) {
        return 0;
    }
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        return gt_fail(b->err, GT_ENOMEM, b->file, "out of memory");
    }
    char text[300];
    snprintf(text, sizeof text, "not YAML: %.120s%s%.120s", p->problem ? p->problem : "bad input",
             p->context ? ", " : "", p->context ? p->context : "");
    yaml_mark_t mark = p->problem_mark;
    if (p->error == YAML_READER_ERROR) { /* no mark: count the lines before the offset */
        mark = p->mark;
    }
    return fail_at(b, mark, GT_EPARSE, text);
}

static int remember(struct builder *b, const yaml_char_t *anchor, struct node *n, yaml_mark_t mark)
{
    if (anchor == NULL) {
        return 0;
    }
    if (b->n_anchors == TREE_ANCHORS) {
        return fail_at(b, mark, GT_EPARSE, "more than 256 anchors");
    }
    const char *name = arena_strdup(b->arena, (const char *)anchor);
    if (name == NULL) {
        return gt_fail(b->err, GT_ENOMEM, b->file, "out of memory");
    }
    b->anchor[b->n_anchors].name = name;
    b->anchor[b->n_anchors].node = n;
    b->n_anchors++;
    return 0;
}

static int count_nodes(struct builder *b, size_t n, yaml_mark_t mark)
{
    b->nodes += n;
    if (b->nodes > TREE_NODES) {
        return fail_at(b, mark, GT_EPARSE,
                       "more than 100000 values once the aliases are written out");
    }
    return 0;
}

static int build_alias(struct builder *b, const yaml_event_t *ev, struct node **out)
{
    for (size_t i = b->n_anchors; i-- > 0;) {
        if (strcmp(b->anchor[i].name, (const char *)ev->data.alias.anchor) == 0) {
            if (b->anchor[i].node->open) {
                return fail_at(b, ev->start_mark, GT_EPARSE,
                               "an alias to a value that contains it");
            }
            *out = b->anchor[i].node;
            return count_nodes(b, (*out)->weight, ev->start_mark);
        }
    }
    return fail_at(b, ev->start_mark, GT_EPARSE, "an alias without its anchor");
}

static bool has_control(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char ch = (unsigned char)s[i];
        if ((ch < 0x20 && ch != '\t' && ch != '\n') || ch == 0x7f) {
            return true;
        }
    }
    return false;
}

static int build_scalar(struct builder *b, const yaml_event_t *ev, struct node **out)
{
    const char *text = (const char *)ev->data.scalar.value;
    size_t len = ev->data.scalar.length;
    if (has_control(text, len)) {
        return fail_at(b, ev->start_mark, GT_EPARSE, "a control character in a text");
    }
    struct node *n = node_new(b->arena, NODE_SCALAR, b->file, ev->start_mark.line + 1,
                              ev->start_mark.column + 1);
    if (n == NULL || (n->text = arena_strndup(b->arena, text, len)) == NULL) {
        return gt_fail(b->err, GT_ENOMEM, b->file, "out of memory");
    }
    n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    *out = n;
    return 0;
}

static int build(struct builder *b, yaml_event_t *ev, int depth, struct node **out);

/* One value after its event `ev` was read; releases ev. */
static int build_release(struct builder *b, yaml_event_t *ev, int depth, struct node **out)
{
    int rc = build(b, ev, depth, out);
    yaml_event_delete(ev);
    return rc;
}

static int build_list(struct builder *b, struct node *list, int depth)
{
    for (;;) {
        yaml_event_t ev;
        int rc = next_event(b, &ev);
        if (rc != 0) {
            return rc;
        }
        if (ev.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&ev);
            return 0;
        }
        struct node *item = NULL;
        rc = build_release(b, &ev, depth + 1, &item);
        if (rc != 0) {
            return rc;
        }
        if (append(b->arena, list, NULL, item) != 0) {
            return gt_fail(b->err, GT_ENOMEM, b->file, "out of memory");
        }
    }
}

static int build_map(struct builder *b, struct node *map, int depth)
{
    for (;;) {
        yaml_event_t ev;
        int rc = next_event(b, &ev);
        if (rc != 0) {
            return rc;
        }
        if (ev.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&ev);
            return 0;
        }
        yaml_mark_t mark = ev.start_mark;
        struct node *key = NULL, *value = NULL;
        rc = build_release(b, &ev, depth + 1, &key);
        if (rc != 0) {
            return rc;
        }
        if (key->kind != NODE_SCALAR) {
            return fail_at(b, mark, GT_EPARSE, "a key must be a word");
        }
        if (tree_get(map, key->text) != NULL) {
            char text[200];
            snprintf(text, sizeof text, "key \"%.60s\" stands twice in this map", key->text);
            return fail_at(b, mark, GT_EPARSE, text);
        }
        rc = next_event(b, &ev);
        if (rc == 0) {
            rc = build_release(b, &ev, depth + 1, &value);
        }
        if (rc != 0) {
            return rc;
        }
        if (append(b->arena, map, key, value) != 0) {
            return gt_fail(b->err, GT_ENOMEM, b->file, "out of memory");
        }
    }
}

static int build_collection(struct builder *b, yaml_event_t *ev, bool is_map, int depth,
                            struct node **out)
{
    struct node *n = node_new(b->arena, is_map ? NODE_MAP : NODE_LIST, b->file,
                              ev->start_mark.line + 1, ev->start_mark.column + 1);
    if (n == NULL) {
        return gt_fail(b->err, GT_ENOMEM, b->file, "out of memory");
    }
    n->open = true;
    int rc = remember(b, is_map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor, n,
                      ev->start_mark);
    if (rc == 0) {
        rc = is_map ? build_map(b, n, depth) : build_list(b, n, depth);
    }
    n->open = false;
    *out = n;
    return rc;
}

static int build(struct builder *b, yaml_event_t *ev, int depth, struct node **out)
{
    if (depth > TREE_DEPTH) {
        return fail_at(b, ev->start_mark, GT_EPARSE, "nested more than 16 deep");
    }
    if (ev->type == YAML_ALIAS_EVENT) {
        return build_alias(b, ev, out);
    }
    int rc = count_nodes(b, 1, ev->start_mark);
    if (rc != 0) {
        return rc;
    }
    const yaml_char_t *tag = ev->type == YAML_SCALAR_EVENT           ? ev->data.scalar.tag
                             : ev->type == YAML_SEQUENCE_START_EVENT ? ev->data.sequence_start.tag
                             : ev->type == YAML_MAPPING_START_EVENT  ? ev->data.mapping_start.tag
                                                                     : NULL;
    if (tag != NULL) {
        return fail_at(b, ev->start_mark, GT_EPARSE, "tags (!…) are not used in this file");
    }
    if (ev->type == YAML_SCALAR_EVENT) {
        rc = build_scalar(b, ev, out);
        return rc != 0 ? rc : remember(b, ev->data.scalar.anchor, *out, ev->start_mark);
    }
    if (ev->type == YAML_SEQUENCE_START_EVENT || ev->type == YAML_MAPPING_START_EVENT) {
        return build_collection(b, ev, ev->type == YAML_MAPPING_START_EVENT, depth, out);
    }
    return fail_at(b, ev->start_mark, GT_EPARSE, "a value is missing here");
}

static int build_stream(struct builder *b, struct node **out)
{
    bool done = false;
    int documents = 0;
    while (!done) {
        yaml_event_t ev;
        int rc = next_event(b, &ev);
        if (rc != 0) {
            return rc;
        }
        switch (ev.type) {
        case YAML_STREAM_END_EVENT:
            done = true;
            break;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (++documents > 1) {
                rc = fail_at(b, ev.start_mark, GT_EPARSE, "a second document; one is allowed");
            }
            break;
        default:
            rc = build(b, &ev, 0, out);
        }
        yaml_event_delete(&ev);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int tree_parse(const char *text, size_t len, const char *file, struct arena *a, struct node **out,
               struct gt_error *err)
{
    *out = NULL;
    if (len > TREE_BYTES) {
        return gt_fail(err, GT_ELIMIT, file, "%zu bytes; at most 1 MiB is read", len);
    }
    struct builder *b = arena_alloc(a, sizeof *b);
    if (b == NULL || !yaml_parser_initialize(&b->parser)) {
        return gt_fail(err, GT_ENOMEM, file, "out of memory");
    }
    b->arena = a;
    b->file = file;
    b->err = err;
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, len);
    int rc = build_stream(b, out);
    yaml_parser_delete(&b->parser);
    return rc;
}

/* The entry of `step` below *n: a map's key or a list's index; NULL when there is none. */
static struct node_entry *step_into(struct node *n, const char *step)
{
    size_t index = 0, i = 0;
    for (struct node_entry *e = n->first; e != NULL; e = e->next, i++) {
        if (n->kind == NODE_MAP) {
            if (strcmp(e->key->text, step) == 0) {
                return e;
            }
        } else if (sscanf(step, "%zu", &index) == 1 && index == i) {
            return e;
        }
    }
    return NULL;
}

static bool is_index(const char *s)
{
    return *s != '\0' && strspn(s, "0123456789") == strlen(s) && strlen(s) <= 4;
}

static int set_step(struct arena *a, struct node *n, const char *step, bool next_is_index,
                    struct node *value, struct node **down, struct gt_error *err)
{
    if (n->kind == NODE_SCALAR) {
        return gt_fail(err, GT_EPARSE, value->file, "\"%s\" stands below a single value", step);
    }
    if (n->kind == NODE_LIST) {
        size_t index = 0;
        if (!is_index(step) || sscanf(step, "%zu", &index) != 1 || index > n->n) {
            return gt_fail(err, GT_EPARSE, value->file,
                           "\"%s\": a list position from 0 to %zu is allowed here", step, n->n);
        }
    }
    struct node_entry *e = step_into(n, step);
    struct node *child = value;
    if (down != NULL) {
        child = e != NULL && e->value->kind != NODE_SCALAR
                    ? e->value
                    : node_new(a, next_is_index ? NODE_LIST : NODE_MAP, value->file, value->line,
                               value->column);
        if (child == NULL) {
            return gt_fail(err, GT_ENOMEM, value->file, "out of memory");
        }
        *down = child;
    }
    if (e != NULL) {
        e->value = child;
        return 0;
    }
    struct node *key = tree_scalar(a, step, value->file, value->line, value->column);
    if (key == NULL || append(a, n, n->kind == NODE_MAP ? key : NULL, child) != 0) {
        return gt_fail(err, GT_ENOMEM, value->file, "out of memory");
    }
    return 0;
}

int tree_set(struct arena *a, struct node *root, const char *path, struct node *value,
             struct gt_error *err)
{
    struct node *at = root;
    for (int depth = 0; depth <= TREE_DEPTH; depth++) {
        const char *dot = strchr(path, '.');
        size_t len = dot != NULL ? (size_t)(dot - path) : strlen(path);
        char *step = arena_strndup(a, path, len);
        if (step == NULL) {
            return gt_fail(err, GT_ENOMEM, value->file, "out of memory");
        }
        if (len == 0) {
            return gt_fail(err, GT_EPARSE, value->file, "an empty step in the path");
        }
        char next[8] = "";
        if (dot != NULL) {
            snprintf(next, sizeof next, "%.*s",
                     (int)(strcspn(dot + 1, ".") > 6 ? 6 : strcspn(dot + 1, ".")), dot + 1);
        }
        int rc = set_step(a, at, step, is_index(next), value, dot != NULL ? &at : NULL, err);
        if (rc != 0 || dot == NULL) {
            return rc;
        }
        path = dot + 1;
    }
    return gt_fail(err, GT_EPARSE, value->file, "a path of more than 16 steps");
}
