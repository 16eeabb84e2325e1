/* Scenario text -> validated scenario: tree, --set, keys by the table of keys.def, defaults, then
 * the checks between keys (check.c). Source: product.md section 5. */
#include "check.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "keys.h"
#include "tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 4096

struct walk {
    struct reader r;
    struct scenario_default *defaults;
    size_t n_defaults, cap_defaults;
};

static int no_memory(struct walk *w)
{
    return gt_fail(w->r.err, GT_ENOMEM, w->r.s->file, "out of memory");
}

/* The key's last step when `path` stands directly below `prefix`, else NULL. */
static const char *below(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(path, prefix, len) != 0) {
        return NULL;
    }
    const char *rest = path + len;
    if (len > 0) {
        if (*rest != '.') {
            return NULL;
        }
        rest++;
    }
    return *rest == '\0' || strchr(rest, '.') != NULL ? NULL : rest;
}

static size_t find_key(const char *prefix, const char *key)
{
    for (size_t i = 0; i < n_key_specs; i++) {
        const char *last = below(key_doc(&key_specs[i])->path, prefix);
        if (last != NULL && strcmp(last, key) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Refuses a key that the table does not have, with the nearest one. */
static int unknown_key(struct walk *w, const struct node *key, const char *prefix,
                       const char *shown)
{
    const char *best = NULL;
    size_t best_d = strlen(key->text) / 3 + 2;
    for (size_t i = 0; i < n_key_specs; i++) {
        const char *path = key_doc(&key_specs[i])->path;
        const char *here = below(path, prefix), *dot = strrchr(path, '.');
        size_t d = text_distance(key->text, here != NULL ? here : dot != NULL ? dot + 1 : path);
        if (here == NULL) {
            d += 1; /* a key elsewhere only when it is closer than those here */
        }
        if (d < best_d) {
            best_d = d;
            best = path;
        }
    }
    char where[160], allowed[240] = "";
    if (best != NULL) {
        return gt_fail(w->r.err, GT_EPARSE, tree_where(key, where),
                       "unknown key \"%s%s%.60s\"; did you mean %s?", shown,
                       shown[0] != '\0' ? "." : "", key->text, best);
    }
    size_t len = 0;
    for (size_t i = 0; i < n_key_specs && len < sizeof allowed - 40; i++) {
        const char *here = below(key_doc(&key_specs[i])->path, prefix);
        if (here != NULL) {
            len += (size_t)snprintf(allowed + len, sizeof allowed - len, "%s%.38s",
                                    len > 0 ? ", " : "", here);
        }
    }
    return gt_fail(w->r.err, GT_EPARSE, tree_where(key, where),
                   "unknown key \"%s%s%.60s\", allowed: %s", shown, shown[0] != '\0' ? "." : "",
                   key->text, allowed);
}

static void *field_of(const struct key_spec *k, void *base)
{
    return k->offset == KEY_NOWHERE ? base : (char *)base + k->offset;
}

static int record_default(struct walk *w, const char *path, const char *value)
{
    if (w->n_defaults == w->cap_defaults) {
        return 0; /* bounded: the list is for people */
    }
    w->defaults[w->n_defaults].key = arena_strdup(w->r.arena, path);
    w->defaults[w->n_defaults].value = value;
    return w->defaults[w->n_defaults++].key == NULL ? no_memory(w) : 0;
}

/* Reads the fallback of key i as if it stood in the file. */
static int apply_default(struct walk *w, size_t i, const char *shown, void *base)
{
    const struct key_spec *k = &key_specs[i];
    const struct scenario_key *doc = key_doc(k);
    struct node *n = NULL;
    int rc = 0;
    if (doc->fallback[0] == '[') {
        rc = tree_parse(doc->fallback, strlen(doc->fallback), "default", w->r.arena, &n, w->r.err);
    } else {
        n = tree_scalar(w->r.arena, doc->fallback, "default", 1, 1);
    }
    if (rc != 0) {
        return rc;
    }
    if (n == NULL) {
        return no_memory(w);
    }
    rc = k->read(&w->r, n, k, doc->path, field_of(k, base));
    return rc != 0 ? rc : record_default(w, shown, doc->fallback);
}

static int read_map(struct walk *w, const struct node *map, const char *prefix, const char *shown,
                    void *base, bool *seen);

/* Defaults of the keys of one list item. */
static int item_defaults(struct walk *w, const char *prefix, const char *shown, void *base,
                         const bool *seen)
{
    for (size_t i = 0; i < n_key_specs; i++) {
        const char *last = below(key_doc(&key_specs[i])->path, prefix);
        if (last != NULL && !seen[i] && key_doc(&key_specs[i])->fallback != NULL) {
            char path[200];
            snprintf(path, sizeof path, "%.100s.%.90s", shown, last);
            int rc = apply_default(w, i, path, base);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int read_items(struct walk *w, const struct node *n, const struct key_spec *k,
                      const char *path)
{
    struct scenario *s = w->r.s;
    bool is_data = strcmp(path, "data") == 0;
    size_t size = is_data ? sizeof *s->data : sizeof *s->discounts;
    if (n->kind != NODE_LIST || n->n > MAX_ITEMS) {
        return key_refuse(&w->r, n, k, path);
    }
    char *items = arena_array(w->r.arena, n->n + 1, size);
    bool *seen = calloc(n_key_specs, sizeof *seen);
    if (items == NULL || seen == NULL) {
        free(seen);
        return no_memory(w);
    }
    size_t i = 0;
    int rc = 0;
    char prefix[64], shown[200];
    snprintf(prefix, sizeof prefix, "%.40s[]", path);
    for (const struct node_entry *e = n->first; e != NULL && rc == 0; e = e->next, i++) {
        memset(seen, 0, n_key_specs * sizeof *seen);
        snprintf(shown, sizeof shown, "%.40s[%zu]", path, i);
        void *base = items + i * size;
        if (is_data) {
            struct scenario_data *d = base;
            d->name = d->vendor = d->region = d->tier = "";
        }
        rc = read_map(w, e->value, prefix, shown, base, seen);
        if (rc == 0) {
            rc = item_defaults(w, prefix, shown, base, seen);
        }
        for (size_t j = 0; j < n_key_specs && rc == 0; j++) {
            const char *last = below(key_doc(&key_specs[j])->path, prefix);
            rc = last != NULL ? check_item_key(&w->r, e->value, last, is_data, seen[j], shown) : 0;
        }
    }
    free(seen);
    if (is_data) {
        s->data = (const void *)items;
        s->n_data = i;
    } else {
        s->discounts = (const void *)items;
        s->n_discounts = i;
    }
    return rc;
}

static int read_key(struct walk *w, size_t i, const struct node *value, const char *shown,
                    void *base, bool *seen)
{
    const struct key_spec *k = &key_specs[i];
    if (k->shape == SHAPE_ITEMS) {
        return read_items(w, value, k, shown);
    }
    if (k->shape == SHAPE_MAP || (k->shape == SHAPE_VALUE_OR_MAP && value->kind == NODE_MAP)) {
        if (value->kind != NODE_MAP) {
            return key_refuse(&w->r, value, k, shown);
        }
        return read_map(w, value, key_doc(k)->path, shown, base, seen);
    }
    return k->read(&w->r, value, k, shown, field_of(k, base));
}

static int read_map(struct walk *w, const struct node *map, const char *prefix, const char *shown,
                    void *base, bool *seen)
{
    if (map->kind != NODE_MAP) {
        char where[160];
        return gt_fail(w->r.err, GT_EPARSE, tree_where(map, where),
                       "%s: found %s, allowed: a map of keys",
                       shown[0] != '\0' ? shown : "scenario",
                       map->kind == NODE_LIST ? "a list" : "a single value");
    }
    /* Vendors before regions: a region outside of the vendors is refused where it stands. */
    for (int pass = 0; pass < 2; pass++) {
        for (const struct node_entry *e = map->first; e != NULL; e = e->next) {
            size_t i = find_key(prefix, e->key->text);
            if (i == SIZE_MAX) {
                return unknown_key(w, e->key, prefix, shown);
            }
            if ((strcmp(e->key->text, "regions") == 0) != (pass == 1)) {
                continue;
            }
            char path[200];
            snprintf(path, sizeof path, "%.100s%s%.90s", shown, shown[0] != '\0' ? "." : "",
                     e->key->text);
            seen[i] = true;
            int rc = read_key(w, i, e->value, path, base, seen);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int apply_sets(struct walk *w, struct node **root, const struct scenario_set *sets, size_t n)
{
    struct arena *a = w->r.arena;
    for (size_t i = 0; i < n; i++) {
        char *file = arena_printf(a, "--set %.100s", sets[i].path);
        struct node *value = NULL;
        if (file == NULL) {
            return no_memory(w);
        }
        int rc = tree_parse(sets[i].value, strlen(sets[i].value), file, a, &value, w->r.err);
        if (rc != 0) {
            return rc;
        }
        if (value == NULL && (value = tree_scalar(a, "", file, 1, 1)) == NULL) {
            return no_memory(w);
        }
        if (*root == NULL) {
            struct node at = {.file = w->r.s->file, .line = 1, .column = 1};
            *root = tree_map(a, &at);
        }
        if (*root == NULL) {
            return no_memory(w);
        }
        rc = tree_set(a, *root, sets[i].path, value, w->r.err);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int top_defaults(struct walk *w, const bool *seen)
{
    struct scenario *s = w->r.s;
    size_t measured = find_key("workload.measured", "samples_per_s");
    for (size_t i = 0; i < n_key_specs; i++) {
        const struct scenario_key *doc = key_doc(&key_specs[i]);
        if (seen[i] || doc->fallback == NULL || strstr(doc->path, "[]") != NULL) {
            continue;
        }
        bool wanted = strncmp(doc->path, "serving.", 8) == 0 ? s->kind == WORKLOAD_SERVING
                      : strncmp(doc->path, "workload.measured.", 18) == 0 ? seen[measured]
                                                                          : true;
        int rc = wanted ? apply_default(w, i, doc->path, s) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static void empty_scenario(struct scenario *s)
{
    s->gpu_hours_gpu = s->model = s->measured_gpu = s->demand_file = s->demand_shape = "";
    s->budget = -1;
    s->budget_currency = "USD";
    s->deadline_at = GT_TIME_NONE;
    s->name = s->stack = s->spot_policy = "";
}

static int parse_into(struct walk *w, const char *text, size_t len, const struct scenario_set *sets,
                      size_t n_sets)
{
    struct scenario *s = w->r.s;
    struct node *root = NULL;
    bool *seen = arena_array(w->r.arena, n_key_specs, sizeof *seen);
    w->cap_defaults = 512;
    w->defaults = arena_array(w->r.arena, w->cap_defaults, sizeof *w->defaults);
    if (seen == NULL || w->defaults == NULL) {
        return no_memory(w);
    }
    int rc = tree_parse(text, len, s->file, w->r.arena, &root, w->r.err);
    if (rc == 0) {
        rc = apply_sets(w, &root, sets, n_sets);
    }
    if (rc != 0) {
        return rc;
    }
    if (root == NULL) {
        return gt_fail(w->r.err, GT_EPARSE, s->file,
                       "an empty scenario; at least workload is needed");
    }
    rc = read_map(w, root, "", "", s, seen);
    if (rc == 0) {
        rc = top_defaults(w, seen);
    }
    s->defaults = w->defaults;
    s->n_defaults = w->n_defaults;
    return rc != 0 ? rc : check_scenario(&w->r, root);
}

int scenario_parse(const char *text, size_t len, const char *file, const struct scenario_set *sets,
                   size_t n_sets, int64_t now, int32_t local_offset_s, struct scenario **out,
                   struct gt_error *err)
{
    *out = NULL;
    struct arena *a = arena_new(64 * 1024 * 1024);
    struct scenario *s = a != NULL ? arena_alloc(a, sizeof *s) : NULL;
    if (s == NULL) {
        arena_free(a);
        return gt_fail(err, GT_ENOMEM, file, "out of memory");
    }
    s->arena = a;
    s->file = arena_strdup(a, file);
    empty_scenario(s);
    struct walk w = {.r = {a, s, now, local_offset_s, err}};
    int rc = s->file == NULL ? no_memory(&w) : parse_into(&w, text, len, sets, n_sets);
    if (rc != 0) {
        arena_free(a);
        return rc;
    }
    *out = s;
    return 0;
}

void scenario_free(struct scenario *s)
{
    if (s != NULL) {
        arena_free(s->arena);
    }
}
