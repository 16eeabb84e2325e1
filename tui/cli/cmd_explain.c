/* explain: every figure of one plan as a tree down to price rows and assumptions. */
#include "cli.h"
#include "gputier/explain.h"
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <stdio.h>
#include <string.h>

#define OUTPUT_BYTES (32UL << 20)

static const struct cli_option options[] = {{NULL, 0, OPT_FLAG, NULL, NULL}};

static int node_text(const struct explain_node *n, int depth, bool plain, struct buf *out)
{
    char line[1400], date[16];
    int len =
        snprintf(line, sizeof line, "%*s%s%s%s%s%s", depth * 2, "", n->name,
                 n->value[0] != '\0' ? ": " : "", n->value, n->unit[0] != '\0' ? " " : "", n->unit);
    len = len < 0 ? 0 : len > 1000 ? 1000 : len;
    if (n->source_id[0] != '\0') {
        snprintf(line + len, sizeof line - (size_t)len, "  [%s%s%s, %s%s]", n->source_id,
                 n->sku[0] != '\0' ? " " : "", n->sku,
                 n->origin == ORIGIN_BUNDLED ? "bundled, as of " : "as of ",
                 date_format(n->as_of, date));
    } else if (n->formula[0] != '\0') {
        snprintf(line + len, sizeof line - (size_t)len, "  = %s", n->formula);
    } else if (n->first == NULL) {
        snprintf(line + len, sizeof line - (size_t)len, "  [%s]", explain_kind_name(n->kind));
    }
    int rc = text_safe(out, line, strlen(line), plain);
    rc = rc != 0 ? rc : buf_addc(out, '\n');
    for (const struct explain_node *c = n->first; c != NULL && rc == 0; c = c->next) {
        rc = node_text(c, depth + 1, plain, out);
    }
    return rc;
}

static void node_json(struct jsonw *w, const struct explain_node *n)
{
    jsonw_object(w);
    jsonw_kstring(w, "name", n->name);
    jsonw_key(w, "value");
    jsonw_string_or_null(w, n->value);
    jsonw_key(w, "unit");
    jsonw_string_or_null(w, n->unit);
    jsonw_kstring(w, "kind", explain_kind_name(n->kind));
    jsonw_key(w, "formula");
    jsonw_string_or_null(w, n->formula);
    jsonw_key(w, "source_id");
    jsonw_string_or_null(w, n->source_id);
    jsonw_key(w, "sku");
    jsonw_string_or_null(w, n->sku);
    jsonw_ktime(w, "as_of", n->as_of);
    jsonw_key(w, "inputs");
    jsonw_array(w);
    for (const struct explain_node *c = n->first; c != NULL; c = c->next) {
        node_json(w, c);
    }
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static int write_json(const struct plan *p, const struct explain_node *root, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/explain/1");
    jsonw_kstring(&w, "plan", p->id);
    jsonw_kint(&w, "rank", p->rank);
    jsonw_key(&w, "tree");
    node_json(&w, root);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct plan_ref ref;
    struct explain_node *root = NULL;
    struct buf b;
    if (args->n_positional > 1) {
        return gt_fail(err, GT_EUSAGE, "", "explain: expected one plan, found %zu",
                       args->n_positional);
    }
    int rc = app_plan(app, args->n_positional > 0 ? args->positional[0] : NULL, &ref, err);
    if (rc != 0) {
        return rc;
    }
    const struct plan *p = &ref.set->plan[ref.index];
    buf_init(&b, OUTPUT_BYTES);
    rc = explain_plan(p, ref.scenario, ref.set->arena, &root, err);
    if (rc == 0) {
        rc = app->format == OUT_JSON ? write_json(p, root, &b) : node_text(root, 0, app->plain, &b);
        rc = rc != 0 ? gt_fail(err, rc, "", "the output is too large") : app_put(&b, err);
    }
    buf_release(&b);
    plan_ref_release(&ref);
    return rc;
}

const struct command command_explain = {
    .name = "explain",
    .usage = "[PLAN]",
    .summary = "every figure of one plan as a tree down to price rows and assumptions",
    .options = options,
    .example = "explain vision-team#2",
    .run = run,
    .no_csv = true,
};
