/* config.yaml through libyaml: a flat list of "a.b.c" = value, three levels deep at most. */
#include "config.h"
#include "gputier/buf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define CONFIG_MAX   (256 * 1024)
#define CONFIG_DEPTH 4

enum { CONFIG_NO_MEMORY = -1, CONFIG_NO_WORD = -2 };

struct config {
    struct config_entry {
        char *path, *value;
    } * entry;
    size_t n;
};

static int add_entry(struct config *c, const char *path, const char *value)
{
    void *p = realloc(c->entry, (c->n + 1) * sizeof *c->entry);
    if (!p) {
        return CONFIG_NO_MEMORY;
    }
    c->entry = p;
    c->entry[c->n].path = strdup(path);
    c->entry[c->n].value = strdup(value);
    c->n++;
    return c->entry[c->n - 1].path && c->entry[c->n - 1].value ? 0 : CONFIG_NO_MEMORY;
}

/* A list of words is its words with a comma between them; one of anything else is refused. */
static int add_list(struct config *c, yaml_document_t *doc, const yaml_node_t *list,
                    const char *path)
{
    struct buf b;
    int rc = 0;
    buf_init(&b, CONFIG_MAX);
    for (yaml_node_item_t *p = list->data.sequence.items.start; p < list->data.sequence.items.top;
         p++) {
        const yaml_node_t *item = yaml_document_get_node(doc, *p);
        if (!item || item->type != YAML_SCALAR_NODE) {
            buf_release(&b);
            return CONFIG_NO_WORD;
        }
        (void)buf_addf(&b, "%s%s", b.len > 0 ? "," : "", (const char *)item->data.scalar.value);
    }
    rc = b.failed ? CONFIG_NO_MEMORY : add_entry(c, path, b.data ? b.data : "");
    buf_release(&b);
    return rc;
}

static int walk(struct config *c, yaml_document_t *doc, const yaml_node_t *node, const char *path,
                int depth)
{
    if (node && node->type == YAML_SEQUENCE_NODE) {
        return add_list(c, doc, node, path);
    }
    if (!node || depth > CONFIG_DEPTH) {
        return 0;
    }
    if (node->type == YAML_SCALAR_NODE) {
        return add_entry(c, path, (const char *)node->data.scalar.value);
    }
    if (node->type != YAML_MAPPING_NODE) {
        return 0;
    }
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *key = yaml_document_get_node(doc, p->key);
        char below[512];
        if (!key || key->type != YAML_SCALAR_NODE) {
            continue;
        }
        int n = snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "",
                         (const char *)key->data.scalar.value);
        if (n < 0 || n >= (int)sizeof below) {
            continue;
        }
        int rc = walk(c, doc, yaml_document_get_node(doc, p->value), below, depth + 1);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int parse(struct config *c, const char *path, const char *text, size_t len,
                 struct gt_error *err)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    int rc = 0;
    if (!yaml_parser_initialize(&parser)) {
        return gt_fail(err, GT_ENOMEM, path, "out of memory");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    if (yaml_parser_load(&parser, &doc)) {
        const yaml_node_t *root = yaml_document_get_root_node(&doc);
        if (root && root->type != YAML_MAPPING_NODE) {
            rc = gt_fail(err, GT_EPARSE, path,
                         "found no map, expected keys such as sources, regions");
        } else {
            rc = walk(c, &doc, root, "", 0);
            rc = rc == CONFIG_NO_WORD
                     ? gt_fail(err, GT_EPARSE, path,
                               "a list holds a map or a list, expected words, as in "
                               "regions: [aws/us-east-1, azure/eastus]")
                 : rc != 0 ? gt_fail(err, GT_ENOMEM, path, "out of memory")
                           : 0;
        }
        yaml_document_delete(&doc);
    } else {
        char where[160];
        snprintf(where, sizeof where, "%.120s:%zu:%zu", path, parser.problem_mark.line + 1,
                 parser.problem_mark.column + 1);
        rc = gt_fail(err, GT_EPARSE, where, "not YAML: %s",
                     parser.problem ? parser.problem : "malformed");
    }
    yaml_parser_delete(&parser);
    return rc;
}

int config_open(struct app *app, bool needed, struct gt_error *err)
{
    struct gt_error why = {0};
    char *text = NULL;
    size_t len = 0;
    app->config = calloc(1, sizeof *app->config);
    if (!app->config) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = app_read_file(app->config_path, CONFIG_MAX, &text, &len, &why);
    if (rc == GT_ENOTFOUND && !needed) {
        return 0;
    }
    if (rc) {
        return gt_fail(err, rc == GT_ENOMEM ? rc : GT_EPARSE, why.where, "%s", why.text);
    }
    rc = parse(app->config, app->config_path, text, len, err);
    free(text);
    return rc;
}

const char *config_get(struct app *app, const char *section, const char *name, const char *key)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s%s%s%s", section, name ? "." : "", name ? name : "",
             key ? "." : "", key ? key : "");
    for (size_t i = 0; app->config && i < app->config->n; i++) {
        if (strcmp(app->config->entry[i].path, path) == 0) {
            return app->config->entry[i].value;
        }
    }
    return NULL;
}

void config_release(struct app *app)
{
    for (size_t i = 0; app->config && i < app->config->n; i++) {
        free(app->config->entry[i].path);
        free(app->config->entry[i].value);
    }
    if (app->config) {
        free(app->config->entry);
    }
    free(app->config);
    app->config = NULL;
}
