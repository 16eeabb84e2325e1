/* A YAML document as a tree whose every node knows its place (file:line:column). */
#ifndef GPUTIER_SCENARIO_TREE_H
#define GPUTIER_SCENARIO_TREE_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };
struct node {
    enum node_kind kind;
    const char *text; /* scalars: the text, NUL-terminated, no control characters */
    bool quoted;      /* scalars: written in quotes, so a text whatever it looks like */
    bool open;        /* being built: an alias to it would be a loop */
    size_t weight;    /* nodes below and including this one, aliases counted in full */
    const char *file; /* where it stands */
    size_t line, column;
    struct node_entry *first, *last; /* lists and maps, in file order */
    size_t n;
};
struct node_entry {
    struct node *key; /* maps only */
    struct node *value;
    struct node_entry *next;
};

/* Parses one document; *out is NULL for an empty text. Refuses a second document, explicit tags,
 * duplicate keys, depth above 16 and more than 100,000 nodes (aliases counted in full). */
int tree_parse(const char *text, size_t len, const char *file, struct arena *a, struct node **out,
               struct gt_error *err) GT_CHECK;
struct node *tree_scalar(struct arena *a, const char *text, const char *file, size_t line,
                         size_t column);
struct node *tree_map(struct arena *a, const struct node *at);
struct node *tree_get(const struct node *map, const char *key);
/* Sets `path` (a.b.0.c) to value below root, making maps on the way. */
int tree_set(struct arena *a, struct node *root, const char *path, struct node *value,
             struct gt_error *err) GT_CHECK;
/* "file:line:column" of a node into buf. */
const char *tree_where(const struct node *n, char buf[160]);

#endif
